#include "solve/nonsmooth_rows.h"

#include "model/shapes.h"
#include "solve/nonsmooth_bonds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AGREE = 0.9;         /* cosine: normals of one patch, as in manifold.c */
static const double GAP_SHARE = 1e-5;    /* s of Correction 27a over the diameter */
static const double NEAR_SHARE = 1e-3;   /* of the radius: points as deep as the deepest, about */
static const double LEAST_DEPTH = 1e-12; /* of the radius: a row without overlap has no stiffness */

double tl_nonsmooth_stiffness(TlMapping law, const TlStiffness *k, double radius) {
  if (law == TL_MAP_LINEAR) return k->normal_N_m;
  return 2.0 / 3 * k->young_Pa / (1 - k->poisson * k->poisson) * sqrt(radius);
}

double tl_nonsmooth_energy(TlMapping law, double k, double depth) {
  if (!(depth > 0)) return 0;
  return law == TL_MAP_LINEAR ? 0.5 * k * depth * depth : 0.4 * k * depth * depth * sqrt(depth);
}

/* ---- patches ---- */

/* A run of the contacts of a pair. */
typedef struct Cut {
  int32_t first, count; /* contacts; the first is the deepest */
  int32_t root;         /* of its island */
  double height;        /* along gravity, upwards */
  int64_t low, high, key;
} Cut;

static int in_order(const void *one, const void *two) {
  const Cut *a = one, *b = two;
  if (a->root != b->root) return a->root < b->root ? -1 : 1;
  if (a->height != b->height) return a->height < b->height ? -1 : 1;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return a->key < b->key ? -1 : a->key > b->key;
}

static int32_t unit_of(const TlNsRows *r, int32_t body) {
  return r->units && body >= 0 ? r->units->unit[body] : body;
}

static const TlDynamics *dynamics_of(const TlNsRows *r) {
  return r->units ? &r->units->dynamics : r->dynamics;
}

static bool moves(const TlNsRows *r, int32_t body) {
  return body >= 0 && dynamics_of(r)->inverse_mass[unit_of(r, body)] > 0;
}

/* Of a contact, from the centres of what moves. */
static TlVec3 arm_a(const TlNsRows *r, const TlContact *c) {
  return r->units ? tl_add(r->units->lever[c->a], c->ra) : c->ra;
}
static TlVec3 arm_b(const TlNsRows *r, const TlContact *c) {
  return r->units && c->b >= 0 ? tl_add(r->units->lever[c->b], c->rb) : c->rb;
}

static int32_t root_of(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void join(int32_t *parent, int32_t a, int32_t b) {
  int32_t x = root_of(parent, a), y = root_of(parent, b);
  if (x < y) parent[y] = x;
  if (y < x) parent[x] = y;
}

static bool one_patch(const TlContact *a, const TlContact *b) {
  return a->part_a == b->part_a && a->part_b == b->part_b && a->boundary == b->boundary &&
         tl_dot(a->n, b->n) >= AGREE;
}

/* Bodies of one joint do not touch each other, but for the ends of a distance. */
static bool joined(const TlNsRows *r, int32_t a, int32_t b) {
  for (int32_t i = 0; b >= 0 && i < r->problem.joints; i++) {
    const TlNsJoint *j = &r->problem.joint[i];
    if (r->origin[i].kind == TL_DISTANCES) continue;
    if ((j->a == a && j->b == b) || (j->a == b && j->b == a)) return true;
  }
  return false;
}

/* Runs of contacts; those between bodies of which none moves, or that a joint holds, are left out. */
static int32_t cut_patches(const TlNsRows *r, TlVec3 up, Cut *cut) {
  const TlColliders *x = &r->bodies->colliders;
  int32_t cuts = 0;
  for (int32_t i = 0; i < r->found->pairs; i++) {
    const TlPair *pair = &r->found->pair[i];
    if ((!moves(r, pair->a) && !moves(r, pair->b)) || joined(r, pair->a, pair->b)) continue;
    if (pair->b >= 0 && unit_of(r, pair->a) == unit_of(r, pair->b)) continue;
    for (int32_t k = pair->first; k < pair->first + pair->count;) {
      const TlContact *c = &r->found->contact[k];
      Cut *one = &cut[cuts++];
      *one = (Cut){.first = k,
                   .height = tl_dot(up, c->point),
                   .low = x->id[c->part_a],
                   .high = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary,
                   .key = c->key};
      while (k < pair->first + pair->count && one_patch(c, &r->found->contact[k])) {
        one->count++;
        k++;
      }
    }
  }
  return cuts;
}

/* ---- geometry ---- */

/* Weight of a point in the centre of force: its force in the last step, else how deep it lies. */
static double bearing(const TlContact *c, bool loaded, double deepest) {
  return loaded ? c->rest.x : 1 / (1 + (c->gap - deepest) / (NEAR_SHARE * c->size));
}

/* Impulse of the last step on a, world frame. */
static TlVec3 remembered(const TlContact *c) {
  return tl_axpy(tl_axpy(tl_scale(c->rest.x, c->n), c->rest.y, c->t1), c->rest.z, c->t2);
}

/* What points beyond the face carried goes to those of the face. */
static int32_t keep_face(const Cut *cut, TlContact *c) {
  int32_t count = cut->count < TL_NS_POINTS ? cut->count : TL_NS_POINTS;
  double normal = 0;
  TlVec3 lost = {0, 0, 0};
  for (int32_t k = count; k < cut->count; k++) {
    normal += c[k].rest.x;
    lost = tl_add(lost, tl_sub(remembered(&c[k]), tl_scale(c[k].rest.x, c[k].n)));
    c[k].rest = (TlVec3){0, 0, 0};
  }
  if (!(normal > 0)) return count;
  for (int32_t k = 0; k < count; k++) {
    c[k].rest.x += normal / count;
    if (tl_norm2(c[k].t1) > 0) {
      c[k].rest.y += tl_dot(lost, c[k].t1) / count;
      c[k].rest.z += tl_dot(lost, c[k].t2) / count;
    }
  }
  return count;
}

static TlVec3 any_across(TlVec3 n) {
  TlVec3 axis = fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z) ? tl_vec3(1, 0, 0)
                : fabs(n.y) <= fabs(n.z)                         ? tl_vec3(0, 1, 0)
                                                                 : tl_vec3(0, 0, 1);
  return tl_unit(tl_cross(n, axis));
}

static bool is_ball(const TlColliders *x, int32_t collider) {
  return x->shape[collider]->closed == &tl_closed_sphere;
}

static void add_resist(TlNsRows *r, TlNsPatch *p, const TlContact *c) {
  const TlColliders *x = &r->bodies->colliders;
  bool balls = is_ball(x, c->part_a) && (c->b < 0 || is_ball(x, c->part_b));
  bool asked = balls || r->model->nonsmooth.rolling_of_all;
  double radius = tl_reduced_radius(x->radius[c->part_a], c->b < 0 ? 0 : x->radius[c->part_b]);
  TlNsResist one = {.rolling = asked ? c->law->rolling * radius : 0,
                    .twisting = asked ? c->law->twisting * radius : 0,
                    .spread = p->count > 1 && p->friction > 0 ? 1 : 0};
  if (!(one.rolling > 0 || one.twisting > 0 || one.spread > 0)) return;
  if (c->b < 0 && r->boundary[c->boundary].drive && !r->boundary[c->boundary].place.absent) {
    TlVec3 w = r->boundary[c->boundary].place.w;
    one.wall[0] = tl_dot(w, p->n);
    one.wall[1] = tl_dot(w, p->t1);
    one.wall[2] = tl_dot(w, p->t2);
  }
  p->resist = r->problem.resists++;
  r->problem.resist[p->resist] = one;
}

/* Geometry of a patch at the next places of the problem. */
static void add_patch(TlNsRows *r, const Cut *cut, int32_t island) {
  TlNsProblem *q = &r->problem;
  TlContact *c = &r->found->contact[cut->first];
  int32_t fixed = q->bodies - 1, count = keep_face(cut, c);
  TlNsPatch *p = &q->patch[q->patches++];
  *p = (TlNsPatch){.a = unit_of(r, c->a),
                   .b = c->b >= 0 ? unit_of(r, c->b) : fixed,
                   .first = q->points,
                   .count = count,
                   .resist = -1,
                   .island = island,
                   .friction = c->law->friction};
  double loaded = 0, deepest = INFINITY, sum = 0;
  int touching = 0;
  for (int32_t k = 0; k < count; k++) {
    loaded += c[k].rest.x;
    deepest = tl_min(deepest, c[k].gap);
    touching += c[k].gap < 0;
  }
  TlVec3 n = {0, 0, 0}, ra = {0, 0, 0}, rb = {0, 0, 0}, wall = {0, 0, 0};
  for (int32_t k = 0; k < count; k++) {
    double w = bearing(&c[k], loaded > 0, deepest);
    n = tl_axpy(n, w, c[k].n);
    ra = tl_axpy(ra, w, arm_a(r, &c[k]));
    rb = tl_axpy(rb, w, arm_b(r, &c[k]));
    wall = tl_axpy(wall, w, c[k].wall);
    sum += w;
  }
  p->n = count == 1 ? c->n : tl_unit(n);
  p->t1 = any_across(p->n);
  p->t2 = tl_cross(p->n, p->t1);
  p->ra = count == 1 ? arm_a(r, c) : tl_scale(1 / sum, ra);
  p->rb = count == 1 ? arm_b(r, c) : tl_scale(1 / sum, rb);
  wall = count == 1 ? c->wall : tl_scale(1 / sum, wall);
  p->wall[0] = tl_dot(wall, p->n);
  p->wall[1] = tl_dot(wall, p->t1);
  p->wall[2] = tl_dot(wall, p->t2);
  for (int32_t k = 0; k < count; k++) {
    TlVec3 ka = arm_a(r, &c[k]), kb = arm_b(r, &c[k]), arm = tl_sub(ka, p->ra);
    q->point[q->points] = (TlNsPoint){.contact = cut->first + k,
                                      .arm = tl_norm(tl_axpy(arm, -tl_dot(arm, p->n), p->n)),
                                      .weight = touching > 1 && c[k].gap < 0 ? 1.0 / touching : 1};
    q->arm[q->points] =
        (TlNsArm){.n = c[k].n, .ran = c[k].ran, .rbn = c[k].rbn, .wall_n = c[k].wall_n};
    if (r->units) {
      q->arm[q->points].ran = tl_cross(ka, c[k].n);
      q->arm[q->points].rbn = tl_cross(kb, c[k].n);
    }
    q->points++;
  }
  add_resist(r, p, c);
}

/* ---- islands ---- */

/* The rule for iterations, N = 0.1 n/eps, with n the bodies of the island on end along gravity, or along
 * its longest side where there is none. */
static int iterations_by_rule(const TlNsRows *r, const TlNsIsland *is, TlVec3 up) {
  TlVec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  double bottom = INFINITY, top = -INFINITY, diameters = 0;
  int64_t points = 0;
  for (int32_t i = is->range.first; i < is->range.last; i++) {
    const TlNsPatch *p = &r->problem.patch[i];
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      const TlContact *c = &r->found->contact[r->problem.point[k].contact];
      TlVec3 x = c->point;
      low = tl_vec3(tl_min(low.x, x.x), tl_min(low.y, x.y), tl_min(low.z, x.z));
      high = tl_vec3(tl_max(high.x, x.x), tl_max(high.y, x.y), tl_max(high.z, x.z));
      bottom = tl_min(bottom, tl_dot(up, x));
      top = tl_max(top, tl_dot(up, x));
      diameters += 2 * c->size;
      points++;
    }
  }
  /* a chain of joints takes an iteration a joint and back, some tens of times; a sheet of n bonds is
   * sqrt(n/3) spheres wide */
  double chain = is->range.last_joint - is->range.first_joint,
         sheet = sqrt((is->range.last_bond - is->range.first_bond) / 3.0);
  int joints = (int)(50 * chain + 200 * sheet);
  if (points == 0) return joints;
  double extent = top - bottom;
  if (tl_norm2(up) == 0) extent = tl_max(high.x - low.x, tl_max(high.y - low.y, high.z - low.z));
  double on_end = 1 + extent * (double)points / diameters;
  double rule = ceil(0.1 * on_end / r->model->nonsmooth.overlap_share);
  return (int)tl_min(1e6, tl_max(rule, joints));
}

static bool reserve_impulses(const TlNsRows *r, size_t contacts, TlNsImpulses *x) {
  x->point = tl_arena_push(r->arena, contacts, sizeof *x->point);
  x->patch = tl_arena_push(r->arena, contacts, sizeof *x->patch);
  x->resist = tl_arena_push(r->arena, contacts, sizeof *x->resist);
  x->bond = tl_arena_push(r->arena, (size_t)r->bonds + 1, sizeof *x->bond);
  x->joint = tl_arena_push(r->arena, tl_ns_joints_most(r->bodies) + 1, sizeof *x->joint);
  return x->point && x->patch && x->resist && x->bond && x->joint;
}

static TlStatus reserve(TlNsRows *r, Cut **cut, int32_t **parent) {
  TlNsProblem *q = &r->problem;
  size_t n = (size_t)r->bodies->total, contacts = (size_t)r->found->contacts + 1;
  q->bodies = (int32_t)n + 1;
  q->body = tl_arena_push(r->arena, n + 1, sizeof *q->body);
  q->patch = tl_arena_push(r->arena, contacts, sizeof *q->patch);
  q->point = tl_arena_push(r->arena, contacts, sizeof *q->point);
  q->arm = tl_arena_push(r->arena, contacts, sizeof *q->arm);
  q->resist = tl_arena_push(r->arena, contacts, sizeof *q->resist);
  r->impact = tl_arena_push(r->arena, (TL_NS_IMPACTS + 1) * contacts, sizeof *r->impact);
  size_t islands = contacts + tl_ns_joints_most(r->bodies) + (size_t)r->bonds;
  q->bond = tl_arena_push(r->arena, (size_t)r->bonds + 1, sizeof *q->bond);
  r->bonded = tl_arena_push(r->arena, (size_t)r->bonds + 1, sizeof *r->bonded);
  r->island = tl_arena_push(r->arena, islands, sizeof *r->island);
  *cut = tl_arena_push(r->arena, contacts, sizeof **cut);
  *parent = tl_arena_push(r->arena, n + 1, sizeof **parent);
  bool room =
      r->model->nonsmooth.solver == TL_NS_SWEEPS ||
      (reserve_impulses(r, contacts, &q->before) && reserve_impulses(r, contacts, &q->direction));
  bool all = room && q->bond && r->bonded && q->body && q->patch && q->point && q->arm &&
             q->resist && r->impact && r->island && *cut && *parent;
  return all ? TL_OK : TL_ENOMEM;
}

/* The row of a net that a holder carries is fixed here, and moves as the holder did last. */
static void take_bodies(TlNsRows *r) {
  const TlBodies *b = r->bodies;
  TlNsProblem *q = &r->problem;
  for (int32_t i = 0; i < q->bodies - 1; i++) {
    const TlDynamics *d = dynamics_of(r);
    q->body[i] = (TlNsBody){.v = d->twist[i].v,
                            .w = d->twist[i].w,
                            .inverse_mass = d->inverse_mass[i],
                            .inverse_inertia = d->inverse_inertia[i]};
    if (b->flags[i] & TL_BODY_NET && b->flags[i] & TL_BODY_FROZEN) q->body[i].v = b->velocity[i];
  }
  q->body[q->bodies - 1] = (TlNsBody){.inverse_mass = 0};
}

/* A bond of the nets and, in the end, its island. */
typedef struct Rooted {
  int32_t root;
  const TlNetBond *from;
} Rooted;

/* Joints by islands, those of one in the order that they had. */
static TlStatus sort_joints(TlNsRows *r) {
  size_t n = (size_t)r->problem.joints;
  TlNsJoint *joint = tl_arena_push(r->arena, n, sizeof *joint);
  TlNsOrigin *origin = tl_arena_push(r->arena, n, sizeof *origin);
  if (!joint || !origin) return TL_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    size_t at = i;
    while (at > 0 && origin[at - 1].root > r->origin[i].root) {
      origin[at] = origin[at - 1];
      joint[at] = joint[at - 1];
      at--;
    }
    origin[at] = r->origin[i];
    joint[at] = r->problem.joint[i];
  }
  r->origin = origin;
  r->problem.joint = joint;
  return TL_OK;
}

/* By islands; those of one in the order of their keys. */
static int bond_order(const void *one, const void *two) {
  const Rooted *a = one, *b = two;
  if (a->root != b->root) return a->root < b->root ? -1 : 1;
  return a->from < b->from ? -1 : a->from > b->from;
}

/* Bonds of which an end moves, without right-hand sides. */
static TlStatus add_bonds(TlNsRows *r, int32_t *parent, Rooted **rooted) {
  TlNsProblem *q = &r->problem;
  Rooted *all = tl_arena_push(r->arena, (size_t)r->bonds + 1, sizeof *all);
  *rooted = all;
  if (!all) return TL_ENOMEM;
  for (int32_t i = 0; i < r->bonds; i++)
    if (moves(r, r->listed[i].a) && moves(r, r->listed[i].b))
      join(parent, r->listed[i].a, r->listed[i].b);
  for (int32_t i = 0; i < r->bonds; i++) {
    const TlNetBond *from = &r->listed[i];
    if (moves(r, from->a) || moves(r, from->b))
      all[q->bonds++] = (Rooted){moves(r, from->a) ? from->a : from->b, from};
  }
  return TL_OK;
}

static void sort_bonds(TlNsRows *r, int32_t *parent, Rooted *all) {
  TlNsProblem *q = &r->problem;
  for (int32_t i = 0; i < q->bonds; i++) all[i].root = root_of(parent, all[i].root);
  if (q->bonds > 1) qsort(all, (size_t)q->bonds, sizeof *all, bond_order);
  for (int32_t i = 0; i < q->bonds; i++) {
    const TlNetBond *from = r->bonded[i] = all[i].from;
    q->bond[i] = (TlNsBond){.a = from->a, .b = from->b, .n = from->n, .half = 0.5 * from->length};
  }
}

TlStatus tl_nonsmooth_rows(TlNsRows *r) {
  Cut *cut;
  int32_t *parent;
  Rooted *bond;
  TlNsProblem *q = &r->problem;
  *q = (TlNsProblem){0};
  TL_TRY(reserve(r, &cut, &parent));
  take_bodies(r);
  int32_t bodies = q->bodies;
  TL_TRY(tl_ns_joints_find(r->bodies, r->controls, bodies - 1, r->arena, q, &r->origin));
  TlVec3 up = tl_scale(-1, tl_unit(r->model->gravity_m_s2));
  int32_t cuts = cut_patches(r, up, cut);
  for (int32_t i = 0; i < bodies; i++) parent[i] = i;
  for (int32_t i = 0; i < cuts; i++) {
    const TlContact *c = &r->found->contact[cut[i].first];
    if (moves(r, c->a) && moves(r, c->b)) join(parent, unit_of(r, c->a), unit_of(r, c->b));
  }
  for (int32_t i = 0; i < q->joints; i++) {
    const TlNsJoint *j = &q->joint[i];
    if (q->body[j->a].inverse_mass > 0 && q->body[j->b].inverse_mass > 0) join(parent, j->a, j->b);
  }
  TL_TRY(add_bonds(r, parent, &bond));
  for (int32_t i = 0; i < cuts; i++) {
    const TlContact *c = &r->found->contact[cut[i].first];
    cut[i].root = root_of(parent, unit_of(r, moves(r, c->a) ? c->a : c->b));
  }
  for (int32_t i = 0; i < q->joints; i++) {
    const TlNsJoint *j = &q->joint[i];
    r->origin[i].root = root_of(parent, q->body[j->a].inverse_mass > 0 ? j->a : j->b);
  }
  if (cuts > 1) qsort(cut, (size_t)cuts, sizeof *cut, in_order);
  TL_TRY(sort_joints(r));
  sort_bonds(r, parent, bond);
  r->islands = 0;
  for (int32_t i = 0, k = 0, n = 0; i < cuts || k < q->joints || n < q->bonds;) {
    int32_t root = INT32_MAX;
    if (i < cuts) root = cut[i].root;
    if (k < q->joints && r->origin[k].root < root) root = r->origin[k].root;
    if (n < q->bonds && bond[n].root < root) root = bond[n].root;
    TlNsIsland *is = &r->island[r->islands++];
    *is = (TlNsIsland){.range = {.first = q->patches, .first_joint = k, .first_bond = n}};
    while (k < q->joints && r->origin[k].root == root) k++;
    while (n < q->bonds && bond[n].root == root) n++;
    for (; i < cuts && cut[i].root == root; i++) add_patch(r, &cut[i], r->islands - 1);
    is->range.last = q->patches;
    is->range.last_joint = k;
    is->range.last_bond = n;
    is->iterations = iterations_by_rule(r, is, up);
  }
  memset(r->impact, 0,
         (TL_NS_IMPACTS * (size_t)q->patches + (size_t)q->points) * sizeof *r->impact);
  int32_t *size = tl_arena_push(r->arena, (size_t)bodies, sizeof *size);
  if (!size) return TL_ENOMEM;
  memset(size, 0, (size_t)bodies * sizeof *size);
  r->largest = 0;
  for (int32_t i = 0; i < bodies - 1; i++) {
    int32_t root = root_of(parent, unit_of(r, i));
    if (++size[root] > r->largest && r->islands > 0) r->largest = size[root];
  }
  return TL_OK;
}

/* ---- right-hand sides ---- */

static TlVec3 velocity_at(const TlNsBody *b, TlVec3 arm) {
  return tl_add(b->v, tl_cross(b->w, arm));
}

static double approach(const TlNsRows *r, const TlNsPatch *p, const TlContact *c) {
  const TlNsBody *b = r->problem.body;
  return tl_dot(c->n,
                tl_sub(velocity_at(&b[p->a], arm_a(r, c)), velocity_at(&b[p->b], arm_b(r, c)))) -
         c->wall_n;
}

/* min(eps d/h, 2 a h): a the acceleration of free fall, or what the force of the last step would give
 * (Correction 9). */
static double impact_threshold(const TlNsRows *r, const TlContact *c, double fall_m_s) {
  const TlNonsmooth *o = &r->model->nonsmooth;
  if (o->impact_threshold_m_s >= 0) return o->impact_threshold_m_s;
  double force_m_s = tl_max(fall_m_s, c->rest.x * c->knn);
  return tl_min(2 * o->overlap_share * c->size / r->model->step_s, 2 * force_m_s);
}

bool tl_nonsmooth_impact_rows(const TlNsRows *r, TlNsIsland *is) {
  const TlNsProblem *q = &r->problem;
  double h = r->model->step_s;
  TlVec3 kick = tl_scale(h, r->model->gravity_m_s2);
  double fall = tl_norm(kick);
  is->impacts = false;
  is->force_m_s = 0;
  for (int32_t i = is->range.first; i < is->range.last; i++) {
    TlNsPatch *p = &q->patch[i];
    p->impacts = false;
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      TlNsPoint *x = &q->point[k];
      const TlContact *c = &r->found->contact[x->contact];
      double un = approach(r, p, c), gap = tl_max(c->gap, 0);
      double falls =
          (q->body[p->a].inverse_mass > 0 ? 1 : 0) - (q->body[p->b].inverse_mass > 0 ? 1 : 0);
      bool closes = un + falls * tl_dot(kick, c->n) < -gap / h;
      bool impacts = closes && un < -impact_threshold(r, c, fall);
      x->rhs = impacts ? -c->law->restitution * un : -gap / h;
      x->sigma = x->lambda = x->least = 0;
      if (!impacts) continue;
      is->impacts = p->impacts = true;
      is->force_m_s = tl_max(is->force_m_s, -un);
    }
  }
  for (int32_t i = is->range.first; is->impacts && i < is->range.last; i++) {
    TlNsPatch *p = &q->patch[i];
    p->lambda[0] = p->lambda[1] = 0;
    if (p->resist >= 0) memset(q->resist[p->resist].lambda, 0, sizeof q->resist->lambda);
    tl_nonsmooth_prepare(q, p);
  }
  for (int32_t i = is->range.first_joint; is->impacts && i < is->range.last_joint; i++)
    tl_ns_joint_rows(q, r->bodies, &r->origin[i], &q->joint[i], h,
                     r->model->nonsmooth.joint_damping, true, false);
  return is->impacts;
}

void tl_nonsmooth_note_impact(const TlNsRows *r, const TlNsIsland *is) {
  const TlNsProblem *q = &r->problem;
  double *of_point = r->impact + TL_NS_IMPACTS * (size_t)q->patches;
  for (int32_t i = is->range.first; i < is->range.last; i++) {
    const TlNsPatch *p = &q->patch[i];
    r->impact[TL_NS_IMPACTS * i] = p->lambda[0];
    r->impact[TL_NS_IMPACTS * i + 1] = p->lambda[1];
    for (int k = 0; p->resist >= 0 && k < 3; k++)
      r->impact[TL_NS_IMPACTS * i + 2 + k] = q->resist[p->resist].lambda[k];
    for (int32_t k = p->first; k < p->first + p->count; k++) of_point[k] = q->point[k].lambda;
  }
  for (int32_t i = is->range.first_joint; i < is->range.last_joint; i++)
    tl_ns_joint_note_impact(&r->origin[i], &q->joint[i], r->model->step_s);
}

/* Corrections 22, 23, 27a and 27b, scaled by G so that lambda is an impulse along n. */
static void force_row(const TlNsRows *r, const TlNsPatch *p, const TlContact *c, TlNsPoint *x) {
  const TlNonsmooth *o = &r->model->nonsmooth;
  const TlColliders *of = &r->bodies->colliders;
  double h = r->model->step_s, depth = -c->gap;
  x->least = 0;
  if (!(depth > 0)) { /* to come */
    x->sigma = 0;
    x->rhs = -(c->gap + 2 * GAP_SHARE * c->size) / h;
    return;
  }
  double radius = tl_reduced_radius(of->radius[c->part_a], c->b < 0 ? 0 : of->radius[c->part_b]);
  double k = x->weight * tl_nonsmooth_stiffness(o->law, &c->law->stiffness, radius);
  double exponent = o->law == TL_MAP_LINEAR ? 1 : 1.25, upsilon = 1 / (1 + 4 * o->contact_damping);
  if (c->law->adhesion_N > 0) {
    depth -= c->law->adhesive_overlap_m;
    x->least = -x->weight * c->law->adhesion_N * h;
  }
  double size = tl_max(fabs(depth), LEAST_DEPTH * c->size);
  double slope = o->law == TL_MAP_LINEAR ? k : exponent * k * sqrt(size);
  x->sigma = 4 * upsilon / (h * h * slope);
  x->rhs = upsilon * (4 * depth / (h * exponent) + approach(r, p, c));
}

/* A contact that pulls: the search knows pushes only. */
static double remembered_pull(const TlNsRows *r, const TlContact *c) {
  const TlColliders *x = &r->bodies->colliders;
  size_t count;
  const TlContactForce *f =
      tl_pair_rows_find(&r->bodies->pairs.of[TL_FORCES], TL_FORCES, x->id[c->part_a],
                        c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary, &count);
  for (size_t k = 0; k < count; k++)
    if (f[k].number == c->key) return r->model->step_s * tl_dot(f[k].force, c->n);
  return 0;
}

static void warm_resist(const TlNsRows *r, const TlNsPatch *p, TlNsResist *one) {
  const TlColliders *x = &r->bodies->colliders;
  const TlContact *c = &r->found->contact[r->problem.point[p->first].contact];
  size_t count;
  const TlContactForce *f =
      tl_pair_rows_find(&r->bodies->pairs.of[TL_FORCES], TL_FORCES, x->id[c->part_a],
                        c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary, &count);
  TlVec3 moment = {0, 0, 0};
  for (size_t k = 0; k < count; k++)
    for (int32_t i = p->first; i < p->first + p->count; i++)
      if (f[k].number == r->found->contact[r->problem.point[i].contact].key)
        moment = tl_axpy(moment, r->model->step_s, f[k].moment);
  one->lambda[0] = one->twisting > 0 || one->spread > 0 ? tl_dot(moment, p->n) : 0;
  one->lambda[1] = one->rolling > 0 ? tl_dot(moment, p->t1) : 0;
  one->lambda[2] = one->rolling > 0 ? tl_dot(moment, p->t2) : 0;
}

/* What the search recalled of the patch, in the disc. */
static void warm_patch(const TlNsRows *r, TlNsPatch *p) {
  const TlNsProblem *q = &r->problem;
  TlVec3 shear = {0, 0, 0};
  double borne = 0;
  for (int32_t k = p->first; k < p->first + p->count; k++) {
    TlNsPoint *x = &q->point[k];
    const TlContact *c = &r->found->contact[x->contact];
    x->lambda = c->rest.x;
    if (x->least < 0) x->lambda = tl_max(x->least, remembered_pull(r, c));
    borne += x->lambda - x->least;
    if (c->rest.y != 0 || c->rest.z != 0)
      shear = tl_add(shear, tl_axpy(tl_scale(c->rest.y, c->t1), c->rest.z, c->t2));
  }
  double l1 = tl_dot(shear, p->t1), l2 = tl_dot(shear, p->t2), size = sqrt(l1 * l1 + l2 * l2),
         most = p->friction * borne, keep = size > most ? most / size : 1;
  p->lambda[0] = keep * l1;
  p->lambda[1] = keep * l2;
  if (p->resist >= 0) warm_resist(r, p, &q->resist[p->resist]);
}

void tl_nonsmooth_force_rows(const TlNsRows *r, TlNsIsland *is, bool warm) {
  const TlNsProblem *q = &r->problem;
  double fall = tl_norm(r->model->gravity_m_s2) * r->model->step_s, sum = 0;
  int64_t loaded = 0;
  for (int32_t i = is->range.first; i < is->range.last; i++) {
    TlNsPatch *p = &q->patch[i];
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      TlNsPoint *x = &q->point[k];
      const TlContact *c = &r->found->contact[x->contact];
      x->lambda = 0;
      force_row(r, p, c, x);
      if (!(c->rest.x > 0)) continue;
      sum += c->rest.x * c->knn;
      loaded++;
    }
    p->lambda[0] = p->lambda[1] = 0;
    if (p->resist >= 0) memset(q->resist[p->resist].lambda, 0, sizeof q->resist->lambda);
    if (warm && !p->impacts) warm_patch(r, p);
    tl_nonsmooth_prepare(q, p);
  }
  for (int32_t i = is->range.first_joint; i < is->range.last_joint; i++)
    tl_ns_joint_rows(q, r->bodies, &r->origin[i], &q->joint[i], r->model->step_s,
                     r->model->nonsmooth.joint_damping, false, warm);
  bool hangs = fall == 0 && loaded == 0; /* bonds alone are at work */
  for (int32_t i = is->range.first_bond; i < is->range.last_bond; i++) {
    TlNsBond *bond = &q->bond[i];
    tl_ns_bond_rows(q, r->bonded[i], r->model->step_s, bond);
    if (!hangs) continue;
    sum += tl_norm(bond->lambda) * (q->body[bond->a].inverse_mass + q->body[bond->b].inverse_mass);
    loaded++;
  }
  is->force_m_s = tl_max(fall, loaded ? sum / (double)loaded : 0);
}

double tl_nonsmooth_kick(const TlNsRows *r) {
  const TlNsProblem *q = &r->problem;
  const TlBodies *bodies = r->bodies;
  TlVec3 gravity = r->model->gravity_m_s2;
  double h = r->model->step_s, keep = r->controls ? 1 - r->controls->damping_per_s * h : 1,
         drag = 0;
  for (int32_t i = 0; i < q->bodies - 1; i++) {
    TlNsBody *b = &q->body[i];
    if (!(b->inverse_mass > 0)) continue;
    /* of what moved before: at rest nothing is damped, and forces bear in full */
    if (keep != 1) {
      double mass = r->units ? r->units->mass[i] : bodies->mass[i];
      TlSym3 inertia =
          r->units ? r->units->inertia[i] : tl_bodies_rotated(bodies, i, bodies->inertia[i]);
      drag += 0.5 * (1 - keep * keep) *
              (mass * tl_norm2(b->v) + tl_dot(b->w, tl_sym_vec(inertia, b->w)));
      b->v = tl_scale(keep, b->v);
      b->w = tl_scale(keep, b->w);
    }
    b->v = tl_axpy(b->v, h, gravity);
    if (r->net && bodies->flags[i] & TL_BODY_NET)
      b->v = tl_axpy(b->v, h * b->inverse_mass, r->net->press[i]);
  }
  for (int32_t i = 0; i < q->joints; i++) { /* joints are on their axes already */
    const TlNsOrigin *o = &r->origin[i];
    double push = h * o->control.load;
    if (o->kind != TL_SLIDERS || o->control.driven || push == 0) continue;
    TlNsBody *a = &q->body[q->joint[i].a], *b = &q->body[q->joint[i].b];
    a->v = tl_axpy(a->v, push * a->inverse_mass, o->axis);
    if (b->inverse_mass > 0) b->v = tl_axpy(b->v, -push * b->inverse_mass, o->axis);
  }
  return drag;
}

/* ---- results ---- */

TlNsPush tl_nonsmooth_push(const TlNsRows *r, int32_t patch, bool impact) {
  const TlNsProblem *q = &r->problem;
  const TlNsPatch *p = &q->patch[patch];
  const double *of_point = r->impact + TL_NS_IMPACTS * (size_t)q->patches;
  const double *l = impact ? &r->impact[TL_NS_IMPACTS * patch] : p->lambda;
  TlVec3 shear = tl_axpy(tl_scale(l[0], p->t1), l[1], p->t2), turn = {0, 0, 0};
  if (p->resist >= 0) {
    const double *m = impact ? l + 2 : q->resist[p->resist].lambda;
    turn = tl_axpy(tl_axpy(tl_scale(m[0], p->n), m[1], p->t1), m[2], p->t2);
  }
  TlNsPush push = {shear, tl_add(turn, tl_cross(p->ra, shear)),
                   tl_add(turn, tl_cross(p->rb, shear))};
  for (int32_t k = p->first; k < p->first + p->count; k++) {
    double normal = impact ? of_point[k] : q->point[k].lambda;
    push.impulse = tl_axpy(push.impulse, normal, q->arm[k].n);
    push.moment_a = tl_axpy(push.moment_a, normal, q->arm[k].ran);
    push.moment_b = tl_axpy(push.moment_b, normal, q->arm[k].rbn);
  }
  return push;
}

static bool inner(const TlNsRows *r, const TlContact *c) {
  return r->units && tl_units_inner(r->units, c);
}

void tl_nonsmooth_write_back(const TlNsRows *r) {
  const TlNsProblem *q = &r->problem;
  const double *of_point = r->impact + TL_NS_IMPACTS * (size_t)q->patches;
  for (int32_t i = 0; i < r->found->contacts; i++) {
    TlContact *c = &r->found->contact[i];
    c->impulse = (TlVec3){0, 0, 0};
    c->touched = inner(r, c) && c->rest.x > 0; /* what was last known of it */
    if (!c->touched) c->rest = (TlVec3){0, 0, 0};
  }
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    TlVec3 shear = tl_axpy(tl_scale(p->lambda[0], p->t1), p->lambda[1], p->t2);
    TlVec3 blow = tl_axpy(tl_scale(r->impact[TL_NS_IMPACTS * i], p->t1),
                          r->impact[TL_NS_IMPACTS * i + 1], p->t2);
    double borne = 0, blown = 0;
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      borne += q->point[k].lambda - q->point[k].least;
      blown += of_point[k];
    }
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      const TlNsPoint *x = &q->point[k];
      TlContact *c = &r->found->contact[x->contact];
      double part = borne > 0 ? (x->lambda - x->least) / borne : 0;
      tl_contact_want_tangents(c, r->dynamics);
      c->rest = tl_vec3(x->lambda, part * tl_dot(shear, c->t1), part * tl_dot(shear, c->t2));
      c->impulse = tl_scale(of_point[k], c->n);
      if (of_point[k] > 0) c->impulse = tl_axpy(c->impulse, of_point[k] / blown, blow);
      c->touched = x->lambda != 0 || part > 0 || of_point[k] != 0;
    }
  }
}

TlStatus tl_nonsmooth_remember(const TlNsRows *r, const TlVec3 *inner_moment, TlBodies *b) {
  const TlNsProblem *q = &r->problem;
  double per_s = 1 / r->model->step_s;
  TlPairRows *rows = &b->pairs.of[TL_FORCES];
  TlColliders *x = &b->colliders;
  size_t most = (size_t)(r->units ? r->found->contacts : q->points);
  TL_TRY(tl_pair_rows_reserve(rows, TL_FORCES, most));
  TlContactForce *force = rows->row;
  rows->count = 0;
  for (int64_t i = 0; i < x->total; i++) x->contacts[i] = 0;
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    const double *l = p->resist >= 0 ? q->resist[p->resist].lambda : NULL;
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      const TlContact *c = &r->found->contact[q->point[k].contact];
      if (!c->touched) continue;
      x->contacts[c->part_a]++;
      if (c->b >= 0) x->contacts[c->part_b]++;
      if (c->rest.x == 0 && c->rest.y == 0 && c->rest.z == 0) continue;
      TlVec3 moment = {0, 0, 0};
      if (l) moment = tl_axpy(tl_axpy(tl_scale(l[0], p->n), l[1], p->t1), l[2], p->t2);
      l = NULL;
      force[rows->count++] =
          (TlContactForce){.low = x->id[c->part_a],
                           .high = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary,
                           .number = c->key,
                           .force = tl_scale(per_s, remembered(c)),
                           .moment = tl_scale(per_s, moment)};
    }
  }
  for (int32_t i = 0; inner_moment && i < r->found->contacts; i++) {
    const TlContact *c = &r->found->contact[i];
    if (!c->touched || !inner(r, c)) continue;
    x->contacts[c->part_a]++;
    if (c->b >= 0) x->contacts[c->part_b]++;
    force[rows->count++] = (TlContactForce){.low = x->id[c->part_a],
                                            .high = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary,
                                            .number = c->key,
                                            .force = tl_scale(per_s, remembered(c)),
                                            .moment = tl_scale(per_s, inner_moment[i])};
  }
  tl_pair_rows_sort(rows, TL_FORCES);
  return TL_OK;
}

TlStatus tl_nonsmooth_recall(const TlBodies *b, double step_s, TlArena *arena, TlPairRows *to) {
  const TlPairRows *rows = &b->pairs.of[TL_FORCES];
  const TlContactForce *f = rows->row;
  TlImpulse *impulse = tl_arena_push(arena, rows->count + 1, sizeof *impulse);
  if (!impulse) return TL_ENOMEM;
  for (size_t i = 0; i < rows->count; i++)
    impulse[i] = (TlImpulse){.low = f[i].low,
                             .high = f[i].high,
                             .number = f[i].number,
                             .impulse = tl_scale(step_s, f[i].force)};
  *to = (TlPairRows){.row = impulse, .count = rows->count};
  return TL_OK;
}
