#include "solve/nonsmooth_rows.h"

#include "model/ground_law.h"
#include "model/shapes.h"
#include "num/sort.h"
#include "solve/share.h"

#include "base/par.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AGREE = 0.9;          /* cosine: normals of one patch, as in manifold.c */
static const double GAP_FRACTION = 1e-5;  /* s of Correction 27a over the diameter */
static const double NEAR_FRACTION = 1e-3; /* of the radius: points as deep as the deepest, about */
static const double FAR_FALLS = 4;        /* of the distance fallen from rest in a step */
static const double LEAST_DEPTH = 1e-12; /* of the radius: a row without overlap has no stiffness */

double tl_nonsmooth_stiffness(TlMapping law, const TlStiffness *k, double radius) {
  if (law == TL_MAP_LINEAR) return k->normal_N_m;
  return 2.0 / 3 * k->young_Pa / (1 - k->poisson * k->poisson) * sqrt(radius);
}

static double stored(TlMapping law, double k, double x) {
  return law == TL_MAP_LINEAR ? 0.5 * k * x * x : 0.4 * k * x * x * sqrt(x);
}

double tl_nonsmooth_energy(TlMapping law, double k, double depth, double pull_N, double reach) {
  if (!(depth > 0)) return 0;
  if (!(pull_N > 0)) return stored(law, k, depth);
  /* below an overlap of `even` the springs would pull harder than the contact does */
  double root = cbrt(pull_N / k), most = law == TL_MAP_LINEAR ? pull_N / k : root * root;
  double even = tl_max(0, reach - most);
  if (depth <= even) return -pull_N * depth;
  return -pull_N * even + stored(law, k, fabs(depth - reach)) - stored(law, k, reach - even);
}

/* ---- patches ---- */

/* A row of rows on its way into its cell: a joint, a bond, or a patch, which is a run of the contacts of
 * a pair. */
typedef struct Item {
  int32_t island;       /* within its group */
  int32_t kind;         /* joints in the order of their kinds, BOND, PATCH */
  int32_t first, count; /* contacts; the first is the deepest. Of a link its pair */
  double height;        /* along gravity, upwards; of patches only */
  int64_t low, high, key;
} Item;
enum { BOND = TL_PAIR_KINDS, PATCH };

static int in_order(const void *one, const void *two) {
  const Item *a = one, *b = two;
  if (a->island != b->island) return a->island < b->island ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->height != b->height) return a->height < b->height ? -1 : 1;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->first < b->first ? -1 : a->first > b->first;
}

static int32_t unit_of(const TlNsRows *r, int32_t body) {
  return r->units && body >= 0 ? r->units->unit[body] : body;
}

static const TlDynamics *dynamics_of(const TlNsRows *r) {
  return r->units ? &r->units->dynamics : r->dynamics;
}

static bool moves(const TlNsRows *r, int32_t body) {
  return dynamics_of(r)->inverse_mass[unit_of(r, body)] > 0;
}

static bool one_patch(const TlContact *a, const TlContact *b) {
  return a->part_a == b->part_a && a->part_b == b->part_b && a->boundary == b->boundary &&
         tl_dot(a->n, b->n) >= AGREE;
}

int32_t tl_nonsmooth_patch_end(const TlContact *contact, int32_t first, int32_t end) {
  int32_t k = first + 1;
  while (k < end && one_patch(&contact[first], &contact[k])) k++;
  return k;
}

/* Runs of the contacts of a pair. */
static int32_t cut_pair(const TlNsRows *r, const TlPair *pair, TlVec3 up, Item *item) {
  int32_t items = 0, end = pair->first + pair->count, next;
  for (int32_t k = pair->first; k < end; k = next) {
    const TlContact *c = &r->contact[k];
    next = tl_nonsmooth_patch_end(r->contact, k, end);
    item[items++] = (Item){.island = pair->island,
                           .kind = PATCH,
                           .first = k,
                           .count = next - k,
                           .height = tl_dot(up, c->point),
                           .low = pair->low,
                           .high = c->b >= 0 ? pair->high : -1 - c->boundary,
                           .key = c->key};
  }
  return items;
}

/* ---- what the ranks that found a contact know of it ---- */

static bool is_ball(const TlColliders *x, int32_t collider) {
  return x->shape[collider]->closed == &tl_closed_sphere;
}

_Static_assert(sizeof(TlTrialForce) == sizeof(TlContactForce), "the same fields");

/* Of contacts of the same two surfaces: what they bore in the last step beyond the search's memory of
 * pushes. */
static void recall_more(const TlNsRows *r, TlContact *c, int32_t count, size_t at[2]) {
  const TlColliders *x = &r->bodies->colliders;
  const TlPairState *pairs = &r->bodies->pairs;
  int64_t low = x->id[c->part_a], high = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary;
  size_t rows = 0;
  const TlContactForce *f = NULL;
  if (r->tried) f = tl_pair_rows_next(&pairs->of[TL_TRIALS], TL_TRIALS, low, high, &at[0], &rows);
  if (!f) f = tl_pair_rows_next(&pairs->of[TL_FORCES], TL_FORCES, low, high, &at[1], &rows);
  for (size_t i = 0; i < rows; i++)
    for (int32_t k = 0; k < count; k++) {
      if (f[i].number != c[k].key) continue;
      c[k].moment = tl_axpy(c[k].moment, r->model->step_s, f[i].moment);
      c[k].pull = r->model->step_s * tl_dot(f[i].force, c[k].n);
    }
}

static TlVec3 spin_of(const TlNsRows *r, int32_t boundary) {
  const TlBoundary *b = boundary >= 0 ? &r->boundary[boundary] : NULL;
  return b && b->drive && !b->place.absent ? b->place.w : (TlVec3){0, 0, 0};
}

static TlStatus tell_contacts(void *context, int64_t begin, int64_t end, int64_t block,
                              int thread) {
  const TlNsRows *r = context;
  const TlColliders *x = &r->bodies->colliders;
  size_t at[2] = {0, 0};
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++) {
    const TlPair *pair = &r->found->pair[i];
    for (int32_t k = pair->first, last; k < pair->first + pair->count; k = last) {
      TlContact *c = &r->found->contact[k];
      bool balls = is_ball(x, c->part_a) && (c->b < 0 || is_ball(x, c->part_b));
      bool bears = false;
      double radius = tl_reduced_radius(x->radius[c->part_a], c->b < 0 ? 0 : x->radius[c->part_b]);
      for (last = k; last < pair->first + pair->count; last++) {
        TlContact *other = &r->found->contact[last];
        if (other->part_a != c->part_a || other->part_b != c->part_b ||
            other->boundary != c->boundary)
          break;
        other->reduced_radius = radius;
        other->resists = balls || r->model->nonsmooth.rolling_of_all;
        /* An aggregate keeps the overlaps with which its bodies merged, still in motion. Forces that follow from these
         * overlaps would not balance, however long it rests. */
        other->keeps_force = r->tried && tl_units_inner(r->tried, other);
        other->moment = (TlVec3){0, 0, 0};
        other->wall_w = spin_of(r, c->boundary);
        other->pull = 0;
        bears |= other->law->rolling > 0 || other->law->twisting > 0 ||
                 other->law->adhesion_N > 0 || (last > k && other->law->friction > 0);
      }
      if (bears) recall_more(r, c, last - k, at);
    }
  }
  return TL_OK;
}

/* ---- geometry ---- */

/* Weight of a point in the centre of force: its force in the last step, else how deep it lies. */
static double bearing(const TlContact *c, bool loaded, double deepest) {
  return loaded ? c->rest.x : 1 / (1 + (c->gap - deepest) / (NEAR_FRACTION * c->size));
}

/* What points beyond the face carried goes to those of the face. */
static int32_t keep_face(const TlNsRows *r, const Item *item, TlContact *c) {
  int32_t count = item->count < TL_NS_POINTS ? item->count : TL_NS_POINTS;
  double normal = 0;
  TlVec3 lost = {0, 0, 0};
  for (int32_t k = count; k < item->count; k++) {
    normal += c[k].rest.x;
    lost = tl_add(lost, tl_sub(tl_contact_rest(&c[k]), tl_scale(c[k].rest.x, c[k].n)));
    c[k].rest = (TlVec3){0, 0, 0};
  }
  if (!(normal > 0)) return count;
  for (int32_t k = 0; k < count; k++) {
    tl_contact_want_tangents(&c[k], r->dynamics_all);
    c[k].rest.x += normal / count;
    c[k].rest.y += tl_dot(lost, c[k].t1) / count;
    c[k].rest.z += tl_dot(lost, c[k].t2) / count;
  }
  return count;
}

static void add_resist(TlNsRows *r, TlNsPatch *p, const TlContact *c) {
  double rolling = c->resists ? c->law->rolling : 0, twisting = c->resists ? c->law->twisting : 0;
  TlNsResist one = {.rolling = rolling * c->reduced_radius,
                    .twisting = twisting * c->reduced_radius,
                    .spread = p->count > 1 && p->friction > 0 ? 1 : 0};
  if (!(one.rolling > 0 || one.twisting > 0 || one.spread > 0)) return;
  if (tl_norm2(c->wall_w) > 0) {
    one.wall[0] = tl_dot(c->wall_w, p->n);
    one.wall[1] = tl_dot(c->wall_w, p->t1);
    one.wall[2] = tl_dot(c->wall_w, p->t2);
  }
  p->resist = r->problem.resists++;
  r->problem.resist[p->resist] = one;
}

/* Geometry of a patch at the next places of the problem. */
static void add_patch(TlNsRows *r, const Item *item) {
  TlNsProblem *q = &r->problem;
  TlContact *c = &r->contact[item->first];
  int32_t fixed = q->bodies - 1, count = keep_face(r, item, c);
  TlNsPatch *p = &q->patch[q->patches++];
  *p = (TlNsPatch){.a = c->a,
                   .b = c->b >= 0 ? c->b : fixed,
                   .first = q->points,
                   .count = count,
                   .resist = -1,
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
    ra = tl_axpy(ra, w, c[k].ra);
    rb = tl_axpy(rb, w, c[k].rb);
    wall = tl_axpy(wall, w, c[k].wall);
    sum += w;
  }
  p->n = count == 1 ? c->n : tl_unit(n);
  p->t1 = tl_across(p->n);
  p->t2 = tl_cross(p->n, p->t1);
  p->ra = count == 1 ? c->ra : tl_scale(1 / sum, ra);
  p->rb = count == 1 ? c->rb : tl_scale(1 / sum, rb);
  wall = count == 1 ? c->wall : tl_scale(1 / sum, wall);
  p->wall[0] = tl_dot(wall, p->n);
  p->wall[1] = tl_dot(wall, p->t1);
  p->wall[2] = tl_dot(wall, p->t2);
  for (int32_t k = 0; k < count; k++) {
    TlVec3 arm = tl_sub(c[k].ra, p->ra);
    q->point[q->points] = (TlNsPoint){.contact = item->first + k,
                                      .arm = tl_norm(tl_axpy(arm, -tl_dot(arm, p->n), p->n)),
                                      .weight = touching > 1 && c[k].gap < 0 ? 1.0 / touching : 1};
    q->arm[q->points] =
        (TlNsArm){.n = c[k].n, .ran = c[k].ran, .rbn = c[k].rbn, .wall_n = c[k].wall_n};
    q->points++;
  }
  add_resist(r, p, c);
}

/* ---- sums over islands ---- */

/* Add what each range has, `width` values, over the islands: the same sums for any number of ranks. */
static TlStatus sum_islands(const TlNsRows *r, int width, const double *of_range,
                            double *of_island) {
  memset(of_island, 0, (size_t)width * (size_t)r->islands * sizeof *of_island);
  for (int32_t g = 0; g < r->groups.count; g++) {
    const TlGroup *group = &r->groups.group[g];
    int32_t first = width * r->first_island[g];
    int32_t from = r->group_range[g], to = r->group_range[g + 1];
    if (!group->large) {
      for (int32_t i = from; i < to; i++)
        for (int k = 0; k < width; k++) of_island[first + k] += of_range[width * i + k];
      continue;
    }
    size_t n = (size_t)width * (size_t)group->islands;
    TlExact *sum = tl_arena_push(r->arena, n, sizeof *sum);
    if (!sum) return TL_ENOMEM;
    memset(sum, 0, n * sizeof *sum);
    for (int32_t i = from; i < to; i++)
      for (int k = 0; k < width; k++)
        tl_exact_add(&sum[width * r->range[i].island - first + k], of_range[width * i + k]);
    if (group->share) TL_TRY(tl_sync_sum_int(r->sync, sum->limb, (int)n * TL_EXACT_LIMBS));
    for (size_t k = 0; k < n; k++) of_island[(size_t)first + k] = tl_exact_value(&sum[k]);
  }
  return TL_OK;
}

/* The least of what each range has, likewise. */
static TlStatus least_islands(const TlNsRows *r, int width, const double *of_range,
                              double *of_island) {
  for (int32_t i = 0; i < width * r->islands; i++) of_island[i] = INFINITY;
  for (int32_t i = 0; i < r->ranges; i++)
    for (int k = 0; k < width; k++) {
      double *least = &of_island[width * r->range[i].island + k];
      *least = tl_min(*least, of_range[width * i + k]);
    }
  if (!r->groups.shared) return TL_OK; /* else group 0, the first islands, is that of all ranks */
  return tl_sync_least(r->sync, of_island, width * r->groups.group[0].islands);
}

/* ---- iterations ---- */

enum { LOW_X, LOW_Y, LOW_Z, HIGH_X, HIGH_Y, HIGH_Z, BOTTOM, TOP, BOUNDS };
enum { DIAMETERS, POINTS, JOINTS, BONDS, COUNTS };

static void measure_range(const TlNsRows *r, const TlNsRange *range, TlVec3 up, double *bound,
                          double *count) {
  for (int k = 0; k < BOUNDS; k++) bound[k] = INFINITY;
  for (int k = 0; k < COUNTS; k++) count[k] = 0;
  for (int32_t i = range->first; i < range->last; i++) {
    const TlNsPatch *p = &r->problem.patch[i];
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      const TlContact *c = &r->contact[r->problem.point[k].contact];
      double height = tl_dot(up, c->point);
      const double at[BOUNDS] = {c->point.x,  c->point.y,  c->point.z, -c->point.x,
                                 -c->point.y, -c->point.z, height,     -height};
      for (int j = 0; j < BOUNDS; j++) bound[j] = tl_min(bound[j], at[j]);
      count[DIAMETERS] += 2 * c->size;
    }
    count[POINTS] += p->count;
  }
  count[JOINTS] = range->last_joint - range->first_joint;
  count[BONDS] = range->last_bond - range->first_bond;
}

/* The rule for iterations, N = 0.1 n/eps, with n the bodies of the island on end along gravity, or along
 * its longest side where there is none. */
static int by_rule(const TlNsRows *r, bool falls, const double *bound, const double *count) {
  /* a chain of joints takes an iteration a joint and back, some tens of times; a sheet of n bonds is
   * sqrt(n/3) spheres wide */
  int joints = (int)(50 * count[JOINTS] + 200 * sqrt(count[BONDS] / 3.0));
  if (count[POINTS] == 0) return joints;
  double extent = -bound[TOP] - bound[BOTTOM];
  if (!falls)
    extent = tl_max(-bound[HIGH_X] - bound[LOW_X],
                    tl_max(-bound[HIGH_Y] - bound[LOW_Y], -bound[HIGH_Z] - bound[LOW_Z]));
  double on_end = 1 + extent * count[POINTS] / count[DIAMETERS];
  double rule = ceil(0.1 * on_end / r->model->nonsmooth.overlap_share);
  return (int)tl_min(1e6, tl_max(rule, joints));
}

static TlStatus find_iterations(TlNsRows *r, TlVec3 up) {
  const TlNonsmooth *o = &r->model->nonsmooth;
  size_t ranges = (size_t)r->ranges + 1, islands = (size_t)r->islands + 1;
  for (int32_t i = 0; i < r->islands; i++) r->island[i] = (TlNsIsland){.iterations = 0};
  if (o->iterations > 0 && o->impact_iterations > 0) return TL_OK; /* nobody asks */
  double *bound = tl_arena_push(r->arena, BOUNDS * (ranges + islands), sizeof *bound);
  double *count = tl_arena_push(r->arena, COUNTS * (ranges + islands), sizeof *count);
  if (!bound || !count) return TL_ENOMEM;
  double *bounds = bound + BOUNDS * ranges, *counts = count + COUNTS * ranges;
  for (int32_t i = 0; i < r->ranges; i++)
    measure_range(r, &r->range[i], up, &bound[BOUNDS * i], &count[COUNTS * i]);
  TL_TRY(least_islands(r, BOUNDS, bound, bounds));
  TL_TRY(sum_islands(r, COUNTS, count, counts));
  for (int32_t i = 0; i < r->islands; i++)
    r->island[i].iterations =
        by_rule(r, tl_norm2(up) > 0, &bounds[BOUNDS * i], &counts[COUNTS * i]);
  return TL_OK;
}

/* ---- rows ---- */

/* Tells the links of one pair of bodies apart (TlPair). */
static int64_t tag_of(TlPairKind kind, int64_t number) {
  return 1 + (int64_t)kind + TL_PAIR_KINDS * number;
}
static TlPairKind kind_of(int64_t tag) {
  return (TlPairKind)((tag - 1) % TL_PAIR_KINDS);
}

TlStatus tl_nonsmooth_links(TlNsRows *r) {
  size_t bonds = (size_t)r->bonds;
  TL_TRY(tl_ns_joints_find(r->bodies, r->dynamics->inverse_mass, r->controls, r->arena, &r->joint,
                           &r->joints));
  r->links = r->joints + r->bonds;
  r->link = tl_arena_push(r->arena, (size_t)r->links + 1, sizeof *r->link);
  r->sheet = tl_arena_push(r->arena, bonds + 1, sizeof *r->sheet);
  r->sheet_lambda = tl_arena_push(r->arena, bonds + 1, sizeof *r->sheet_lambda);
  if (!r->link || !r->sheet || !r->sheet_lambda) return TL_ENOMEM;
  for (int32_t i = 0; i < r->joints; i++)
    r->link[i] = (TlLink){&r->joint[i].origin, &r->joint[i].reaction, sizeof(TlNsOrigin),
                          sizeof(TlNsReaction)};
  for (int32_t i = 0; i < r->bonds; i++) {
    r->sheet[i] = (TlNsSheetBond){r->listed[i], *r->listed[i].law};
    r->sheet_lambda[i] = (TlVec3){0, 0, 0};
    r->link[r->joints + i] =
        (TlLink){&r->sheet[i], &r->sheet_lambda[i], sizeof(TlNsSheetBond), sizeof(TlVec3)};
  }
  return TL_OK;
}

/* Of two bodies, whichever is named first. */
static int64_t couple_of(int32_t a, int32_t b) {
  return a < b ? (int64_t)a << 32 | b : (int64_t)b << 32 | a;
}

/* Bodies of one joint do not touch each other, but for the ends of a distance: rising, in the arena. */
static TlStatus list_joined(const TlNsRows *r, int64_t **couple, size_t *count) {
  *count = 0;
  *couple = tl_arena_push(r->arena, (size_t)r->joints + 1, sizeof **couple);
  if (!*couple) return TL_ENOMEM;
  for (int32_t i = 0; i < r->joints; i++) {
    const TlNsFoundJoint *j = &r->joint[i];
    if (j->b >= 0 && j->origin.kind != TL_DISTANCES) (*couple)[(*count)++] = couple_of(j->a, j->b);
  }
  if (*count > 0) qsort(*couple, *count, sizeof **couple, tl_by_int);
  return TL_OK;
}

static bool joined(const int64_t *couple, size_t count, const TlPair *pair) {
  if (pair->b < 0 || count == 0) return false;
  int64_t both = couple_of(pair->a, pair->b);
  return bsearch(&both, couple, count, sizeof both, tl_by_int) != NULL;
}

/* Of a trial: what closes it within the step has velocities far beyond those that split its bodies. */
static bool far_within(const TlNsRows *r, const TlPair *pair) {
  double h = r->model->step_s, fall = FAR_FALLS * h * h * tl_norm(r->model->gravity_m_s2);
  if (!r->tried || !tl_units_inner(r->tried, &r->found->contact[pair->first])) return false;
  for (int32_t k = pair->first; k < pair->first + pair->count; k++)
    if (r->found->contact[k].gap <= fall) return false;
  return true;
}

/* Contacts that were found, but for those that a joint or an aggregate holds, joints and bonds: pairs of
 * what moves. */
static TlStatus list_pairs(const TlNsRows *r, TlPair **pairs, int32_t *count) {
  const TlBodies *b = r->bodies;
  TlPair *to = *pairs =
      tl_arena_push(r->arena, (size_t)(r->found->pairs + r->links) + 1, sizeof *to);
  int64_t *couple;
  size_t couples;
  if (!to) return TL_ENOMEM;
  TL_TRY(list_joined(r, &couple, &couples));
  for (int32_t i = 0; i < r->found->pairs; i++) {
    TlPair pair = r->found->pair[i];
    if (joined(couple, couples, &pair)) continue;
    pair.island = pair.link = 0;
    pair.a = unit_of(r, pair.a);
    if (pair.b >= 0) pair.b = unit_of(r, pair.b);
    if (pair.a != pair.b && !far_within(r, &pair)) *to++ = pair;
  }
  for (int32_t i = 0; i < r->joints; i++) {
    const TlNsFoundJoint *j = &r->joint[i];
    *to++ = (TlPair){.low = b->id[j->a],
                     .high = j->b >= 0 ? b->id[j->b] : -1,
                     .a = unit_of(r, j->a),
                     .b = unit_of(r, j->b),
                     .elsewhere = j->a >= b->owned,
                     .link = 1 + i,
                     .tag = tag_of(j->origin.kind, j->origin.row.key.number)};
  }
  for (int32_t i = 0; i < r->bonds; i++) {
    const TlNetBond *bond = &r->listed[i];
    if (moves(r, bond->a) || moves(r, bond->b))
      *to++ = (TlPair){.low = b->id[bond->a],
                       .high = b->id[bond->b],
                       .a = bond->a,
                       .b = bond->b,
                       .elsewhere = bond->a >= b->owned,
                       .link = 1 + r->joints + i,
                       .tag = tag_of(TL_BONDS, bond->key.number)};
  }
  *count = (int32_t)(to - *pairs);
  return TL_OK;
}

static bool reserve_impulses(const TlNsRows *r, size_t contacts, size_t joints, size_t bonds,
                             TlNsImpulses *x) {
  x->point = tl_arena_push(r->arena, contacts, sizeof *x->point);
  x->patch = tl_arena_push(r->arena, contacts, sizeof *x->patch);
  x->resist = tl_arena_push(r->arena, contacts, sizeof *x->resist);
  x->bond = tl_arena_push(r->arena, bonds, sizeof *x->bond);
  x->joint = tl_arena_push(r->arena, joints, sizeof *x->joint);
  return x->point && x->patch && x->resist && x->bond && x->joint;
}

static TlStatus reserve(TlNsRows *r, Item **item) {
  TlNsProblem *q = &r->problem;
  size_t pairs = 0, contacts = 1, islands = 0, joints = 1, bonds = 1;
  r->first_island = tl_arena_push(r->arena, (size_t)r->groups.count + 1, sizeof *r->first_island);
  r->group_range = tl_arena_push(r->arena, (size_t)r->groups.count + 1, sizeof *r->group_range);
  if (!r->first_island || !r->group_range) return TL_ENOMEM;
  for (int32_t g = 0; g < r->groups.count; g++) {
    const TlGroup *group = &r->groups.group[g];
    r->first_island[g] = (int32_t)islands;
    islands += (size_t)group->islands;
    pairs += (size_t)group->pairs;
    for (int32_t i = 0; i < group->pairs; i++) {
      int64_t tag = group->pair[i].tag;
      contacts += (size_t)group->pair[i].count;
      joints += tag > 0 && kind_of(tag) != TL_BONDS;
      bonds += tag > 0 && kind_of(tag) == TL_BONDS;
    }
  }
  r->first_island[r->groups.count] = r->islands = (int32_t)islands;
  size_t rows = pairs + contacts;
  q->body = tl_arena_push(r->arena, (size_t)q->bodies, sizeof *q->body);
  q->patch = tl_arena_push(r->arena, contacts, sizeof *q->patch);
  q->point = tl_arena_push(r->arena, contacts, sizeof *q->point);
  q->arm = tl_arena_push(r->arena, contacts, sizeof *q->arm);
  q->resist = tl_arena_push(r->arena, contacts, sizeof *q->resist);
  q->joint = tl_arena_push(r->arena, joints, sizeof *q->joint);
  r->origin = tl_arena_push(r->arena, joints, sizeof *r->origin);
  r->reaction = tl_arena_push(r->arena, joints, sizeof *r->reaction);
  q->bond = tl_arena_push(r->arena, bonds, sizeof *q->bond);
  r->bonded = tl_arena_push(r->arena, bonds, sizeof *r->bonded);
  r->bond_lambda = tl_arena_push(r->arena, bonds, sizeof *r->bond_lambda);
  r->impact = tl_arena_push(r->arena, (TL_NS_IMPACTS + 1) * contacts, sizeof *r->impact);
  r->island = tl_arena_push(r->arena, islands + 1, sizeof *r->island);
  r->range = tl_arena_push(r->arena, rows, sizeof *r->range);
  r->range_at = tl_arena_push(r->arena, pairs + 1, sizeof *r->range_at);
  *item = tl_arena_push(r->arena, rows, sizeof **item);
  TlNsSolver solver = r->model->nonsmooth.solver;
  bool impulses =
      solver == TL_NS_SWEEPS || (reserve_impulses(r, contacts, joints, bonds, &q->before) &&
                                 reserve_impulses(r, contacts, joints, bonds, &q->last));
  if (solver == TL_NS_GRADIENTS)
    impulses = impulses && reserve_impulses(r, contacts, joints, bonds, &q->more);
  bool all = impulses && q->body && q->patch && q->point && q->arm && q->resist && q->joint &&
             r->origin && r->reaction && q->bond && r->bonded && r->bond_lambda && r->impact &&
             r->island && r->range && r->range_at && *item;
  return all ? TL_OK : TL_ENOMEM;
}

static bool is_carried(const TlBodies *b, int64_t body) {
  return b->flags[body] & TL_BODY_NET && b->flags[body] & TL_BODY_FROZEN;
}

/* Velocities of the rows of nets that holders carry. */
static TlStatus note_carried(const TlNsRows *r, TlMovers *movers) {
  const TlBodies *b = r->bodies;
  if (!r->net || !r->sync) return TL_OK;
  TlVec3 *carried = tl_arena_push(r->arena, (size_t)b->total + 1, sizeof *carried);
  if (!carried) return TL_ENOMEM;
  for (int64_t i = 0; i < b->total; i++)
    carried[i] = is_carried(b, i) ? b->velocity[i] : (TlVec3){0, 0, 0};
  movers->carried = carried;
  return TL_OK;
}

/* The row of a net that a holder carries is fixed here, and moves as the holder did last. Guests' motion
 * comes from their owners. */
static void take_bodies(TlNsRows *r) {
  const TlBodies *b = r->bodies;
  TlNsProblem *q = &r->problem;
  const TlDynamics *d = r->dynamics_all;
  for (int32_t i = 0; i < q->bodies - 1; i++) {
    q->body[i] =
        (TlNsBody){.inverse_mass = d->inverse_mass[i], .inverse_inertia = d->inverse_inertia[i]};
    if (i >= b->total) {
      if (!(d->inverse_mass[i] > 0)) q->body[i].v = tl_share_carried(r->groups.share)[i];
      continue;
    }
    if (r->units && r->units->anchor[i] != TL_ANCHOR_NONE) continue; /* its contacts have a wall */
    const TlTwist *t = &dynamics_of(r)->twist[i];
    q->body[i].v = t->v;
    q->body[i].w = t->w;
    if (is_carried(b, i)) q->body[i].v = b->velocity[i];
  }
  q->body[q->bodies - 1] = (TlNsBody){.inverse_mass = 0};
}

static void add_link(TlNsRows *r, const TlPair *pair) {
  TlNsProblem *q = &r->problem;
  TlLink link = r->groups.link[pair->link - 1];
  int32_t world = q->bodies - 1, b = pair->b >= 0 ? pair->b : world;
  if (kind_of(pair->tag) != TL_BONDS) {
    r->origin[q->joints] = link.load;
    r->reaction[q->joints] = link.result;
    q->joint[q->joints++] = (TlNsJoint){.a = pair->a, .b = b};
    return;
  }
  const TlNsSheetBond *from = link.load;
  r->bonded[q->bonds] = from;
  r->bond_lambda[q->bonds] = link.result;
  q->bond[q->bonds++] =
      (TlNsBond){.a = pair->a, .b = b, .n = from->bond.n, .half = 0.5 * from->bond.length};
}

static Item link_item(const TlPair *pair, int32_t at) {
  TlPairKind kind = kind_of(pair->tag);
  return (Item){.island = pair->island,
                .kind = kind == TL_BONDS ? BOND : (int32_t)kind,
                .first = at,
                .low = pair->low,
                .high = pair->high,
                .key = pair->tag};
}

/* The rows of a cell of a group: islands one after the other; of each joints by kinds and keys, bonds in the
 * order of their keys, and patches from below. */
static void add_cell(TlNsRows *r, int32_t group, const TlPair *pair, int32_t pairs, TlVec3 up,
                     Item *item) {
  TlNsProblem *q = &r->problem;
  int32_t items = 0;
  for (int32_t i = 0; i < pairs; i++) {
    if (pair[i].tag > 0)
      item[items++] = link_item(&pair[i], i);
    else
      items += cut_pair(r, &pair[i], up, &item[items]);
  }
  if (items > 1) qsort(item, (size_t)items, sizeof *item, in_order);
  for (int32_t i = 0; i < items; i++) {
    if (i == 0 || item[i].island != item[i - 1].island)
      r->range[r->ranges++] = (TlNsRange){.first = q->patches,
                                          .first_joint = q->joints,
                                          .first_bond = q->bonds,
                                          .island = r->first_island[group] + item[i].island};
    if (item[i].kind != PATCH)
      add_link(r, &pair[item[i].first]);
    else
      add_patch(r, &item[i]);
    TlNsRange *range = &r->range[r->ranges - 1];
    range->last = q->patches;
    range->last_joint = q->joints;
    range->last_bond = q->bonds;
  }
}

static void add_rows(TlNsRows *r, TlVec3 up, Item *item) {
  r->ranges = 0;
  int32_t at = 0;
  for (int32_t g = 0; g < r->groups.count; g++) {
    const TlGroup *group = &r->groups.group[g];
    int32_t cells = group->phase_start[group->phases];
    r->group_range[g] = r->ranges;
    for (int32_t c = 0; c < cells; c++) {
      int32_t from = group->cell_start[c], to = group->cell_start[c + 1];
      r->range_at[at + from] = r->ranges;
      add_cell(r, g, &group->pair[from], to - from, up, item);
    }
    at += group->pairs;
    r->range_at[at] = r->ranges;
  }
  r->range_at[at] = r->group_range[r->groups.count] = r->ranges;
}

/* Contacts between what moves: arms from the centres of units; one that is anchored is a wall to the
 * other. */
static TlStatus take_units(TlNsRows *r) {
  const TlUnits *u = r->units;
  size_t n = (size_t)r->found->contacts;
  r->between = tl_arena_push(r->arena, n + 1, sizeof *r->between);
  if (!r->between) return TL_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    TlContact *c = &r->between[i];
    if (tl_units_inner(u, &r->found->contact[i])) continue; /* nobody solves it */
    *c = r->found->contact[i];
    for (int side = 0; side < (c->b < 0 ? 1 : 2); side++) {
      int32_t *body = side ? &c->b : &c->a, unit = u->unit[*body], anchor = u->anchor[unit];
      TlVec3 *arm = side ? &c->rb : &c->ra;
      *arm = tl_add(u->lever[*body], *arm);
      *body = unit;
      if (anchor == TL_ANCHOR_NONE) continue;
      TlTwist t = tl_anchor_motion(u, anchor, c->point);
      c->wall = tl_axpy(c->wall, side ? 1 : -1, t.v);
      c->wall_w = tl_axpy(c->wall_w, side ? 1 : -1, t.w);
    }
    tl_contact_prepare(c, &u->dynamics);
  }
  return TL_OK;
}

/* Joints act on units. */
static void centre_joints(const TlNsRows *r) {
  for (int32_t i = 0; i < r->joints; i++) {
    TlNsFoundJoint *j = &r->joint[i];
    for (int side = 0; side < 2; side++) {
      int32_t body = side ? j->b : j->a;
      j->origin.centre[side] =
          r->units && body >= 0 ? r->units->centre[unit_of(r, body)] : j->origin.x[side];
    }
  }
}

TlStatus tl_nonsmooth_rows(TlNsRows *r) {
  const TlBodies *b = r->bodies;
  TlNsProblem *q = &r->problem;
  Item *item;
  *q = (TlNsProblem){0};
  TlMovers movers = tl_movers(b, dynamics_of(r));
  movers.last = r->last;
  TL_TRY(tl_par_loop(r->found->pairs, 64, 200, tell_contacts, r));
  r->between = r->found->contact;
  if (r->units) {
    movers.position = r->units->centre;
    movers.id = r->units->id;
    movers.unit = r->units->unit;
    TL_TRY(take_units(r));
  }
  centre_joints(r);
  TL_TRY(note_carried(r, &movers));
  TlPairList found = {.contact = r->between, .link = r->link, .links = r->links};
  TL_TRY(list_pairs(r, &found.pair, &found.count));
  TL_TRY(tl_groups_list(&movers, &found, r->sync, r->arena, &r->groups));
  r->contact = r->groups.contact;
  r->dynamics_all = r->groups.share ? tl_share_dynamics(r->groups.share) : movers.dynamics;
  q->bodies = 1 + (int32_t)(r->groups.share ? tl_share_bodies(r->groups.share) : b->total);
  TL_TRY(reserve(r, &item));
  take_bodies(r);
  TlVec3 up = tl_scale(-1, tl_unit(r->model->gravity_m_s2));
  add_rows(r, up, item);
  size_t ranges = (size_t)r->ranges + 1;
  r->change = tl_arena_push(r->arena, ranges, sizeof *r->change);
  if (!r->change) return TL_ENOMEM;
  if (r->model->nonsmooth.solver != TL_NS_SWEEPS) {
    r->product = tl_arena_push(r->arena, 3 * ranges, sizeof *r->product);
    if (!r->product) return TL_ENOMEM;
  }
  memset(r->impact, 0,
         (TL_NS_IMPACTS * (size_t)q->patches + (size_t)q->points) * sizeof *r->impact);
  return find_iterations(r, up);
}

TlStatus tl_nonsmooth_scatter(const TlNsRows *r) {
  if (!r->groups.share) return TL_OK;
  return tl_share_scatter(r->groups.share, r->problem.body, sizeof *r->problem.body);
}

TlStatus tl_nonsmooth_collect(const TlNsRows *r) {
  if (!r->groups.share) return TL_OK;
  return tl_share_collect(r->groups.share, r->problem.body, sizeof *r->problem.body);
}

/* ---- right-hand sides ---- */

static TlVec3 velocity_at(const TlNsBody *b, TlVec3 arm) {
  return tl_add(b->v, tl_cross(b->w, arm));
}

static double approach(const TlNsRows *r, const TlNsPatch *p, const TlContact *c) {
  const TlNsBody *b = r->problem.body;
  return tl_dot(c->n, tl_sub(velocity_at(&b[p->a], c->ra), velocity_at(&b[p->b], c->rb))) -
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

/* What a loop over ranges asks for and gives. */
typedef struct Pass {
  const TlNsRows *r;
  double *value; /* [ranges], or more of each */
  bool warm;
} Pass;

static const double RANGE_PATCH_NS = 300; /* rows of a patch, about */

static TlStatus over_ranges(Pass *pass, TlParBody body) {
  const TlNsRows *r = pass->r;
  return tl_par_loop(r->ranges, 1, RANGE_PATCH_NS * r->problem.patches / (r->ranges + 1), body,
                     pass);
}

static TlStatus open_pass(const TlNsRows *r, int width, Pass *pass) {
  size_t n = (size_t)width * ((size_t)r->ranges + 1);
  *pass = (Pass){.r = r, .value = tl_arena_push(r->arena, n, sizeof *pass->value)};
  return pass->value ? TL_OK : TL_ENOMEM;
}

/* A patch without impulses. */
static void empty_patch(const TlNsProblem *q, TlNsPatch *p) {
  p->lambda[0] = p->lambda[1] = 0;
  if (p->resist >= 0) memset(q->resist[p->resist].lambda, 0, sizeof q->resist->lambda);
}

static void make_joints(const TlNsRows *r, const TlNsRange *range, bool impact, bool warm) {
  for (int32_t i = range->first_joint; i < range->last_joint; i++)
    tl_ns_joint_rows(&r->problem, r->origin[i], &r->problem.joint[i], r->model->step_s,
                     r->model->nonsmooth.joint_damping, impact, warm);
}

enum { APPROACH, THRESHOLD, BLOWS };

/* value: of the contacts that impact minus the fastest approach, and the lowest threshold. */
static TlStatus find_impacts(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Pass *pass = context;
  const TlNsRows *r = pass->r;
  const TlNsProblem *q = &r->problem;
  double h = r->model->step_s;
  TlVec3 kick = tl_scale(h, r->model->gravity_m_s2);
  double fall = tl_norm(kick);
  (void)block;
  (void)thread;
  for (int64_t at = begin; at < end; at++) {
    double fastest = 0, lowest = INFINITY;
    /* With aggregates slow contacts are held, too: contact splits go by the blows that this spreads. */
    bool held = r->units != NULL;
    for (int32_t i = r->range[at].first; i < r->range[at].last; i++) {
      TlNsPatch *p = &q->patch[i];
      p->impacts = false;
      for (int32_t k = p->first; k < p->first + p->count; k++) {
        TlNsPoint *x = &q->point[k];
        const TlContact *c = &r->contact[x->contact];
        double un = approach(r, p, c), gap = tl_max(c->gap, 0);
        double falls =
            (q->body[p->a].inverse_mass > 0 ? 1 : 0) - (q->body[p->b].inverse_mass > 0 ? 1 : 0);
        bool closes = un + falls * tl_dot(kick, c->n) < -gap / h;
        double threshold = closes ? impact_threshold(r, c, fall) : 0;
        bool impacts = closes && un < -threshold;
        /* what overlaps and closes more slowly goes on so: compliance takes it */
        double slow = c->gap < 0 && !held ? tl_min(un, 0) : -gap / h;
        x->rhs = impacts ? -tl_restitution_at(c->law, -un) * un : slow;
        x->sigma = x->lambda = x->least = 0;
        if (!impacts) continue;
        p->impacts = true;
        fastest = tl_max(fastest, -un);
        lowest = tl_min(lowest, threshold);
      }
    }
    pass->value[BLOWS * at + APPROACH] = -fastest;
    pass->value[BLOWS * at + THRESHOLD] = lowest;
  }
  return TL_OK;
}

static TlStatus make_impact_rows(void *context, int64_t begin, int64_t end, int64_t block,
                                 int thread) {
  const Pass *pass = context;
  const TlNsRows *r = pass->r;
  const TlNsProblem *q = &r->problem;
  (void)block;
  (void)thread;
  for (int64_t at = begin; at < end; at++) {
    const TlNsRange *range = &r->range[at];
    if (!r->island[range->island].impacts) continue;
    for (int32_t i = range->first; i < range->last; i++) {
      empty_patch(q, &q->patch[i]);
      tl_nonsmooth_prepare(q, &q->patch[i]);
    }
    make_joints(r, range, true, false);
  }
  return TL_OK;
}

TlStatus tl_nonsmooth_impact_rows(const TlNsRows *r, bool *any) {
  Pass pass;
  TL_TRY(open_pass(r, BLOWS, &pass));
  double *least = tl_arena_push(r->arena, BLOWS * ((size_t)r->islands + 1), sizeof *least);
  if (!least) return TL_ENOMEM;
  TL_TRY(over_ranges(&pass, find_impacts));
  TL_TRY(least_islands(r, BLOWS, pass.value, least));
  int hit = 0;
  for (int32_t i = 0; i < r->islands; i++) {
    const double *blow = &least[BLOWS * i];
    TlNsIsland *island = &r->island[i];
    island->impacts = blow[APPROACH] < 0;
    island->force_m_s = tl_max(0, -blow[APPROACH]);
    island->threshold_m_s = island->impacts ? blow[THRESHOLD] : 0;
    hit |= island->impacts;
  }
  TL_TRY(tl_sync_any(r->sync, &hit));
  *any = hit != 0;
  return hit ? over_ranges(&pass, make_impact_rows) : TL_OK;
}

static TlStatus note_range(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Pass *pass = context;
  const TlNsRows *r = pass->r;
  const TlNsProblem *q = &r->problem;
  double *of_point = r->impact + TL_NS_IMPACTS * (size_t)q->patches;
  (void)block;
  (void)thread;
  for (int64_t at = begin; at < end; at++) {
    const TlNsRange *range = &r->range[at];
    if (!r->island[range->island].impacts) continue;
    for (int32_t i = range->first; i < range->last; i++) {
      const TlNsPatch *p = &q->patch[i];
      r->impact[TL_NS_IMPACTS * i] = p->lambda[0];
      r->impact[TL_NS_IMPACTS * i + 1] = p->lambda[1];
      for (int k = 0; p->resist >= 0 && k < 3; k++)
        r->impact[TL_NS_IMPACTS * i + 2 + k] = q->resist[p->resist].lambda[k];
      for (int32_t k = p->first; k < p->first + p->count; k++) of_point[k] = q->point[k].lambda;
    }
    for (int32_t i = range->first_joint; i < range->last_joint; i++)
      tl_ns_joint_note_impact(r->origin[i], &q->joint[i], r->model->step_s);
  }
  return TL_OK;
}

TlStatus tl_nonsmooth_note_impact(const TlNsRows *r) {
  Pass pass;
  TL_TRY(open_pass(r, 1, &pass));
  return over_ranges(&pass, note_range);
}

/* Corrections 22, 23, 27a and 27b, scaled by G so that lambda is an impulse along n. */
static void force_row(const TlNsRows *r, const TlNsPatch *p, const TlContact *c, TlNsPoint *x) {
  const TlNonsmooth *o = &r->model->nonsmooth;
  double h = r->model->step_s, depth = -c->gap;
  x->least = 0;
  if (!(depth > 0)) { /* to come */
    x->sigma = 0;
    x->rhs = -(c->gap + 2 * GAP_FRACTION * c->size) / h;
    return;
  }
  double k = x->weight * tl_nonsmooth_stiffness(o->law, &c->law->stiffness, c->reduced_radius);
  double exponent = o->law == TL_MAP_LINEAR ? 1 : 1.25, upsilon = 1 / (1 + 4 * o->contact_damping);
  if (c->law->adhesion_N > 0) {
    depth -= c->law->adhesive_overlap_m;
    x->least = -x->weight * c->law->adhesion_N * h;
  }
  double size = tl_max(fabs(depth), LEAST_DEPTH * c->size);
  double slope = o->law == TL_MAP_LINEAR ? k : exponent * k * sqrt(size);
  x->sigma = 4 * upsilon / (h * h * slope);
  x->rhs = c->keeps_force && c->rest.x > 0
               ? x->sigma * c->rest.x
               : upsilon * (4 * depth / (h * exponent) + approach(r, p, c));
}

static void warm_resist(const TlNsRows *r, const TlNsPatch *p, TlNsResist *one) {
  TlVec3 moment = {0, 0, 0};
  for (int32_t i = p->first; i < p->first + p->count; i++)
    moment = tl_add(moment, r->contact[r->problem.point[i].contact].moment);
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
    const TlContact *c = &r->contact[x->contact];
    x->lambda = c->rest.x;
    if (x->least < 0) x->lambda = tl_max(x->least, c->pull); /* the search knows pushes only */
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

enum { CONTACT_SUM, CONTACTS, BOND_SUM, BOND_COUNT, FORCES };

/* value: what the last step's forces give the bodies, of contacts and of bonds, and how many. */
static TlStatus make_force_rows(void *context, int64_t begin, int64_t end, int64_t block,
                                int thread) {
  const Pass *pass = context;
  const TlNsRows *r = pass->r;
  const TlNsProblem *q = &r->problem;
  (void)block;
  (void)thread;
  for (int64_t at = begin; at < end; at++) {
    const TlNsRange *range = &r->range[at];
    double *value = &pass->value[FORCES * at];
    for (int k = 0; k < FORCES; k++) value[k] = 0;
    for (int32_t i = range->first; i < range->last; i++) {
      TlNsPatch *p = &q->patch[i];
      for (int32_t k = p->first; k < p->first + p->count; k++) {
        TlNsPoint *x = &q->point[k];
        const TlContact *c = &r->contact[x->contact];
        x->lambda = 0;
        force_row(r, p, c, x);
        if (!(c->rest.x > 0)) continue;
        value[CONTACT_SUM] += c->rest.x * c->knn;
        value[CONTACTS]++;
      }
      empty_patch(q, p);
      if (pass->warm && !p->impacts) warm_patch(r, p);
      tl_nonsmooth_prepare(q, p);
    }
    make_joints(r, range, false, pass->warm);
    for (int32_t i = range->first_bond; i < range->last_bond; i++) {
      TlNsBond *bond = &q->bond[i];
      tl_ns_bond_rows(q, r->bonded[i], r->model->step_s, bond);
      value[BOND_SUM] +=
          tl_norm(bond->lambda) * (q->body[bond->a].inverse_mass + q->body[bond->b].inverse_mass);
      value[BOND_COUNT]++;
    }
  }
  return TL_OK;
}

TlStatus tl_nonsmooth_force_rows(const TlNsRows *r, bool warm) {
  Pass pass;
  double fall = tl_norm(r->model->gravity_m_s2) * r->model->step_s;
  TL_TRY(open_pass(r, FORCES, &pass));
  pass.warm = warm;
  double *sum = tl_arena_push(r->arena, FORCES * ((size_t)r->islands + 1), sizeof *sum);
  if (!sum) return TL_ENOMEM;
  TL_TRY(over_ranges(&pass, make_force_rows));
  TL_TRY(sum_islands(r, FORCES, pass.value, sum));
  for (int32_t i = 0; i < r->islands; i++) {
    const double *s = &sum[FORCES * i];
    bool hangs = fall == 0 && s[CONTACTS] == 0; /* bonds alone are at work */
    double all = hangs ? s[BOND_SUM] : s[CONTACT_SUM], count = hangs ? s[BOND_COUNT] : s[CONTACTS];
    r->island[i].force_m_s = tl_max(fall, count > 0 ? all / count : 0);
  }
  return TL_OK;
}

/* An impulse along an axis on a body, at its centre; its unit takes it. */
static void push_body(const TlNsRows *r, int32_t i, double push, TlVec3 axis) {
  if (i < 0 || i >= r->bodies->owned) return;
  TlNsBody *body = &r->problem.body[unit_of(r, i)];
  body->v = tl_axpy(body->v, push * body->inverse_mass, axis);
  if (!r->units || !tl_unit_carries(r->units, i)) return;
  TlVec3 moment = tl_scale(push, tl_cross(r->units->lever[i], axis));
  body->w = tl_add(body->w, tl_sym_vec(body->inverse_inertia, moment));
}

/* The owner of a body kicks it by loads on its joints and by pressure on its net. */
static void kick_own(const TlNsRows *r) {
  TlNsBody *body = r->problem.body;
  const TlBodies *bodies = r->bodies;
  double h = r->model->step_s;
  for (int64_t i = 0; r->net && i < bodies->owned; i++)
    if (bodies->flags[i] & TL_BODY_NET && body[i].inverse_mass > 0)
      body[i].v = tl_axpy(body[i].v, h * body[i].inverse_mass, r->net->pressure_force[i]);
  for (int32_t i = 0; i < r->joints; i++) {
    const TlNsFoundJoint *j = &r->joint[i];
    double push = h * j->origin.control.load;
    if (j->origin.kind != TL_SLIDERS || j->origin.control.driven || push == 0) continue;
    TlVec3 axis = tl_ns_slider_axis(&j->origin);
    push_body(r, j->a, push, axis);
    push_body(r, j->b, -push, axis);
  }
}

/* All ranks say the same. */
static bool are_loaded(const TlNsRows *r) {
  const TlControls *c = r->controls;
  for (size_t k = 0; c && k < c->joint_count; k++)
    if (c->joint[k].kind == TL_SLIDERS && !c->joint[k].driven && c->joint[k].load != 0) return true;
  for (int k = 0; c && r->net && k < c->net_count; k++)
    if (c->pressure_Pa[k] != 0) return true;
  return false;
}

TlStatus tl_nonsmooth_kick(const TlNsRows *r) {
  const TlNsProblem *q = &r->problem;
  TlVec3 gravity = r->model->gravity_m_s2;
  double h = r->model->step_s, keep = r->controls ? 1 - r->controls->damping_per_s * h : 1;
  for (int32_t i = 0; i < q->bodies - 1; i++) {
    TlNsBody *b = &q->body[i];
    if (!(b->inverse_mass > 0)) continue;
    /* of what moved before: at rest nothing is damped, and forces bear in full */
    if (keep != 1) {
      b->v = tl_scale(keep, b->v);
      b->w = tl_scale(keep, b->w);
    }
    b->v = tl_axpy(b->v, h, gravity);
  }
  if (!are_loaded(r)) return TL_OK;
  kick_own(r);
  return tl_nonsmooth_scatter(r);
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

/* Impulses of a patch into its contacts. */
static void write_patch(const TlNsRows *r, int32_t patch) {
  const TlNsProblem *q = &r->problem;
  const TlNsPatch *p = &q->patch[patch];
  const double *of_point = r->impact + TL_NS_IMPACTS * (size_t)q->patches;
  const double *l = p->resist >= 0 ? q->resist[p->resist].lambda : NULL;
  TlVec3 shear = tl_axpy(tl_scale(p->lambda[0], p->t1), p->lambda[1], p->t2);
  TlVec3 blow = tl_axpy(tl_scale(r->impact[TL_NS_IMPACTS * patch], p->t1),
                        r->impact[TL_NS_IMPACTS * patch + 1], p->t2);
  double borne = 0, blown = 0;
  for (int32_t k = p->first; k < p->first + p->count; k++) {
    borne += q->point[k].lambda - q->point[k].least;
    blown += of_point[k];
  }
  for (int32_t k = p->first; k < p->first + p->count; k++) {
    const TlNsPoint *x = &q->point[k];
    TlContact *c = &r->contact[x->contact];
    double part = borne > 0 ? (x->lambda - x->least) / borne : 0;
    tl_contact_want_tangents(c, r->dynamics_all);
    c->rest = tl_vec3(x->lambda, part * tl_dot(shear, c->t1), part * tl_dot(shear, c->t2));
    c->impulse = tl_scale(of_point[k], c->n);
    if (of_point[k] > 0) c->impulse = tl_axpy(c->impulse, of_point[k] / blown, blow);
    c->touched = x->lambda != 0 || part > 0 || of_point[k] != 0;
    if (!l || !c->touched || tl_norm2(c->rest) == 0) continue;
    c->moment = tl_axpy(tl_axpy(tl_scale(l[0], p->n), l[1], p->t1), l[2], p->t2);
    l = NULL; /* the first one bears it for all */
  }
}

static void clear(TlContact *c) {
  c->impulse = c->moment = c->rest = (TlVec3){0, 0, 0};
  c->touched = false;
}

TlStatus tl_nonsmooth_write_back(const TlNsRows *r) {
  for (int32_t i = 0; i < r->found->contacts; i++) clear(&r->between[i]);
  for (int32_t i = 0; r->groups.share && i < r->groups.contacts; i++) clear(&r->contact[i]);
  for (int32_t i = 0; i < r->problem.patches; i++) write_patch(r, i);
  for (int32_t i = 0; i < r->problem.joints; i++)
    *r->reaction[i] = tl_ns_joint_note(r->origin[i], &r->problem.joint[i], r->model->step_s);
  for (int32_t i = 0; i < r->problem.bonds; i++) *r->bond_lambda[i] = r->problem.bond[i].lambda;
  TL_TRY(tl_groups_home(&r->groups, dynamics_of(r)));
  for (int32_t i = 0; r->units && i < r->found->contacts; i++) {
    TlContact *c = &r->found->contact[i];
    const TlContact *from = &r->between[i];
    if (inner(r, c) && c->rest.x > 0) { /* what was last known of it */
      c->impulse = c->moment = (TlVec3){0, 0, 0};
      c->touched = true;
      continue;
    }
    c->rest = from->rest;
    c->t1 = from->t1;
    c->t2 = from->t2;
    c->impulse = from->impulse;
    c->moment = from->moment;
    c->touched = from->touched;
  }
  return TL_OK;
}

TlStatus tl_nonsmooth_remember(const TlNsRows *r, const TlVec3 *inner_moment, TlBodies *b) {
  double per_s = 1 / r->model->step_s;
  TlPairRows *rows = &b->pairs.of[TL_FORCES];
  TlColliders *x = &b->colliders;
  TL_TRY(tl_pair_rows_reserve(rows, TL_FORCES, (size_t)r->found->contacts));
  TlContactForce *force = rows->row;
  rows->count = 0;
  for (int64_t i = 0; i < x->total; i++) x->contacts[i] = 0;
  for (int32_t i = 0; i < r->found->contacts; i++) {
    const TlContact *c = &r->found->contact[i];
    if (!c->touched) continue;
    x->contacts[c->part_a]++;
    if (c->b >= 0) x->contacts[c->part_b]++;
    if (tl_norm2(c->rest) == 0) continue;
    TlVec3 moment = inner_moment && inner(r, c) ? inner_moment[i] : c->moment;
    force[rows->count++] = (TlContactForce){.low = x->id[c->part_a],
                                            .high = c->b >= 0 ? x->id[c->part_b] : -1 - c->boundary,
                                            .number = c->key,
                                            .force = tl_scale(per_s, tl_contact_rest(c)),
                                            .moment = tl_scale(per_s, moment)};
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
