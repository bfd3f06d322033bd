/* One step of the penalty method (Tan 2022 ch. 3): forces of all contacts at the poses of the
 * moment, then a leap of velocities and momenta and a move with the new ones.
 *
 *   v' = ((1 - xi dt/2) v + dt (F/m + g))/(1 + xi dt/2), L' likewise with the torque,
 *   x' = x + dt v', rotation by the spin at mid-step, iterated (motion.h: centred).
 *
 * v and L of the state are those of half a step before x; at the very first step they are of the
 * same moment, and the kick is half as long. Sums run over the contacts in order of ids, whoever
 * owns the bodies: the same bits for any number of threads and ranks. Bonds and pressure of nets
 * (membrane.h) act in the same kick.
 */
#include "solve/joints.h"
#include "solve/motion.h"
#include "solve/solver_setup.h"
#include "solve/step_report.h"

#include "base/log.h"
#include "base/par.h"
#include "num/exact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 };               /* bodies */
static const double KICK_NS = 180; /* work on a body, about */

/* Of one thread; on lines of its own. */
typedef struct Share {
  _Alignas(64) TlStepSums sums;
  double stable_step_s, speed_max_m_s;
  int64_t moving, guided, outside, embedded;
} Share;

typedef struct Forces {
  TlStep *step;
  TlBodies *bodies;
  TlForceStep contacts;
  TlNetLoad net;
  double *net_omega2; /* of each net's own springs, at most */
  Share *share;       /* one a thread */
  bool first;         /* step: half a kick */
  double kick_s;
  int edged; /* boundaries to ask who is beyond their edge; 0 where none of them ends */
} Forces;

/* ---- one body ---- */

/* Of the springs that hold a net's sphere, beside its contacts. */
static double net_omega2(const Forces *f, int64_t i) {
  const TlModel *m = f->step->model;
  return f->net_omega2[tl_net_of(m->nets, m->net_count, f->bodies->id[i]) - m->nets];
}

/* Stable while dt < 2/omega, omega^2 <= 2 sum k (1/m + r^2/I) over the body's own points (half of a
 * pair's motion may be the other's: the factor 2; Correction 17). */
static void note_stiffness(const Forces *f, int64_t i, const double stiffness[2], Share *share) {
  const TlBodies *b = f->bodies;
  TlVec3 inverse = b->inverse_inertia[i];
  double most = tl_max(inverse.x, tl_max(inverse.y, inverse.z));
  double omega2 = 2 * (stiffness[0] * b->inverse_mass[i] + stiffness[1] * most);
  if (b->flags[i] & TL_BODY_NET) omega2 += net_omega2(f, i);
  if (omega2 > 4 / (share->stable_step_s * share->stable_step_s))
    share->stable_step_s = 2 / sqrt(omega2);
}

/* Velocity and momentum after the kick. */
typedef struct Kicked {
  TlVec3 v, l;
} Kicked;

static Kicked kicked(const Forces *f, int64_t i, TlVec3 force, TlVec3 torque) {
  const TlBodies *b = f->bodies;
  double dt = f->kick_s, half = 0.5 * f->step->controls->damping_per_s * dt, keep = 1 / (1 + half);
  return (Kicked){
      tl_scale(keep, tl_axpy(tl_scale(1 - half, b->velocity[i]), dt * b->inverse_mass[i], force)),
      tl_scale(keep, tl_axpy(tl_scale(1 - half, b->momentum[i]), dt, torque))};
}

/* As its joint lets it move; what the joint adds to the kick of the free body is its force. */
static Kicked guided(const Forces *f, int64_t i, const TlJoint *joint, Kicked free) {
  const TlBodies *b = f->bodies;
  double half = 0.5 * f->step->controls->damping_per_s * f->kick_s;
  TlVec3 spin = f->contacts.body[b->first[i]].w;
  TlVec3 w = tl_sym_vec(tl_bodies_rotated(b, i, b->inverse_inertia[i]), free.l);
  TlTwist t = joint->kind->twist(joint->row, &joint->control, (TlTwist){.v = free.v, .w = w},
                                 f->kick_s * b->inverse_mass[i] / (1 + half));
  TlVec3 turn = tl_sym_vec(tl_bodies_rotated(b, i, b->inertia[i]), tl_sub(t.w, spin));
  Kicked k = {t.v, tl_add(b->momentum[i], turn)};

  double per_s = (1 + half) / f->kick_s;
  TlVec3 arm = tl_quat_rotate(b->rotation[i], joint->kind->anchor(joint->row));
  TlVec3 force = tl_scale(per_s * b->mass[i], tl_sub(k.v, free.v));
  TlVec3 torque = tl_scale(per_s, tl_sub(k.l, free.l)); /* about the centre */
  f->step->work->joint_row[joint->place] =
      (TlConstraintRow){.kind = joint->control.kind,
                        .key = *(const TlPairKey *)joint->row,
                        .point_m = tl_add(b->position[i], arm),
                        .force_N = force,
                        .moment_N_m = tl_sub(torque, tl_cross(arm, force))};
  return k;
}

/* At x's moment: means of the half steps before and after; at the first step of that moment. */
typedef struct Motion {
  TlVec3 v, l, w;
} Motion;

static inline Motion still(const Forces *f, int64_t i) {
  const TlBodies *b = f->bodies;
  return (Motion){b->velocity[i], b->momentum[i], f->contacts.body[b->first[i]].w};
}

static inline Motion motion(const Forces *f, int64_t i, const Kicked *k) {
  const TlBodies *b = f->bodies;
  Motion m = still(f, i);
  if (f->first) return m;
  m.v = tl_scale(0.5, tl_add(m.v, k->v));
  m.l = tl_scale(0.5, tl_add(m.l, k->l));
  m.w = tl_bodies_round(b, i) ? tl_scale(b->inverse_inertia[i].x, m.l)
                              : tl_sym_vec(tl_bodies_rotated(b, i, b->inverse_inertia[i]), m.l);
  return m;
}

/* What a kick changes kinetic energy by, to the last digit, is force times mean velocity. */
static double work(const Forces *f, TlVec3 force, TlVec3 torque, const Motion *m) {
  return f->step->model->step_s * (tl_dot(force, m->v) + tl_dot(torque, m->w));
}

static void add(TlExact *sum, double term) {
  if (term != 0) tl_exact_add(sum, term);
}

/* What its contacts' dashpots and its bonds' dampers take of a body. */
static void book_dampers(const Forces *f, int64_t i, const TlForceSum *sum, const Motion *m,
                         TlStepSums *sums) {
  if (sum->contacts) add(&sums->viscous_J, -work(f, sum->viscous, sum->viscous_torque, m));
  if (f->bodies->flags[i] & TL_BODY_NET)
    add(&sums->net_damping_J, -work(f, f->net.drag[i], f->net.drag_torque[i], m));
}

/* A row that is carried is its holder's to hold against what pulls at it; what the pressure does on
 * it, the holder takes. */
static void book_held(const Forces *f, int64_t i, TlVec3 force, const Motion *m, TlStepSums *sums) {
  const TlVec3 none = {0, 0, 0};
  add(&sums->net_held_J, -work(f, tl_sub(force, f->net.pressure_force[i]), none, m));
}

static void note_motion(const Forces *f, int64_t i, const Motion *m, Share *share) {
  const TlBodies *b = f->bodies;
  tl_exact_add(&share->sums.kinetic_J, 0.5 * (b->mass[i] * tl_norm2(m->v) + tl_dot(m->w, m->l)));
  if (b->flags[i] & TL_BODY_NET)
    add(&share->sums.net_pressure_J, work(f, f->net.pressure_force[i], (TlVec3){0, 0, 0}, m));
}

static TlStatus check_finite(const Forces *f, int64_t i, const Kicked *k) {
  if (isfinite(k->v.x + k->v.y + k->v.z + k->l.x + k->l.y + k->l.z)) return TL_OK;
  return tl_fail(TL_ELIMIT,
                 "grain %lld: its velocity is not finite in step %lld; look at its shape, its "
                 "neighbours and the time step",
                 (long long)f->bodies->id[i], (long long)f->step->state->steps);
}

/* Of the contacts in which the body has the lower id. */
static void note_contacts(const TlForceSum *low, TlStepSums *sums) {
  if (low->elastic_J == 0) return; /* none */
  add(&sums->boundary_N, low->boundary_N);
  add(&sums->elastic_J, low->elastic_J);
  add(&sums->contact_N, low->contact_N);
  add(&sums->slip_J, low->slip_J);
  add(&sums->viscous_J, low->wall_viscous_J);
  add(&sums->wall_work_J, low->wall_J);
}

/* Kick and move. */
static TlStatus move_body(const Forces *f, int64_t i, const TlForceSum *sum, Share *share) {
  const TlModel *model = f->step->model;
  TlBodies *b = f->bodies;
  double dt = model->step_s;
  TlVec3 force = tl_axpy(sum->force, b->mass[i], model->gravity_m_s2);
  Kicked k = kicked(f, i, force, sum->torque);
  TlJoint joint = {.kind = NULL};
  bool driven = false;
  if (f->step->work->joint_rows > 0) joint = tl_joint_of(&b->pairs, f->step->controls, b->id[i]);
  if (joint.kind) {
    driven = joint.control.driven;
    k = guided(f, i, &joint, k);
    tl_exact_add(&share->sums.wall_work_J, /* a drive bears the weight, too */
                 joint.kind->work(joint.row, &joint.control, driven ? force : sum->force,
                                  b->velocity[i], k.v, dt));
    tl_exact_add(&share->sums.guide_N, joint.kind->borne_N(joint.row, sum->force));
  }
  TL_TRY(check_finite(f, i, &k));
  Motion m = motion(f, i, &k);
  book_dampers(f, i, sum, &m, &share->sums);
  if (!driven) note_motion(f, i, &m, share); /* a drive keeps its speed, whatever that takes */
  tl_exact_add(&share->sums.potential_J, -b->mass[i] * tl_dot(model->gravity_m_s2, b->position[i]));
  if (!joint.kind) {
    tl_exact_add(&share->sums.resultant_N, tl_norm(force));
    share->moving++;
  } else {
    share->guided++;
  }
  if (!driven) note_stiffness(f, i, sum->stiffness, share);
  b->velocity[i] = k.v;
  b->momentum[i] = k.l;
  b->position[i] = tl_axpy(b->position[i], dt, k.v);
  tl_motion_turn(b, i, dt);
  return TL_OK;
}

/* A carried row moves, and what is damped against it is damped. */
static void book_frozen(const Forces *f, int64_t i, const TlForceSum *sum, TlStepSums *sums) {
  Motion m = still(f, i);
  book_dampers(f, i, sum, &m, sums);
  if (f->bodies->flags[i] & TL_BODY_NET) book_held(f, i, sum->force, &m, sums);
}

/* As it continues; nets that follow change only what is frozen. */
static void note_body(const TlBodies *b, int64_t i, Share *share) {
  share->embedded += b->flags[i] & TL_BODY_EMBEDDED ? 1 : 0;
  share->outside += b->flags[i] & TL_BODY_OUTSIDE ? 1 : 0;
  if (b->flags[i] & TL_BODY_FROZEN) return;
  double speed = tl_bodies_round(b, i)
                     ? tl_norm(b->velocity[i]) +
                           tl_norm(b->momentum[i]) * b->inverse_inertia[i].x * b->radius[i]
                     : tl_step_speed(b, i);
  share->speed_max_m_s = tl_max(share->speed_max_m_s, speed);
}

static TlStatus move_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Forces *f = context;
  TlBodies *b = f->bodies;
  (void)block;
  for (int64_t i = begin; i < end; i++) {
    TlForceSum sum = tl_contact_forces_of_body(&f->contacts, i);
    if (i >= b->owned) continue;
    Share *share = &f->share[thread];
    bool frozen = b->flags[i] & TL_BODY_FROZEN;
    note_contacts(&sum, &share->sums);
    if (b->flags[i] & TL_BODY_NET) {
      sum.force = tl_add(sum.force, f->net.force[i]);
      sum.torque = tl_add(sum.torque, f->net.torque[i]);
    }
    if (frozen)
      book_frozen(f, i, &sum, &share->sums);
    else
      TL_TRY(move_body(f, i, &sum, share));
    tl_motion_flag_outside(b, i, f->step->work->boundary, f->edged);
    note_body(b, i, share);
  }
  return TL_OK;
}

/* ---- all of them ---- */

static TlStatus contact_forces(Forces *f) {
  const TlModel *m = f->step->model;
  TlWorkspace *w = f->step->work;
  size_t threads = (size_t)tl_par_threads();
  int64_t step = f->step->state->steps + 1;
  TL_TRY(tl_step_reserve_points(w));
  TL_TRY(tl_motion_check_poses(f->bodies, step));
  f->share = tl_arena_push(&w->arena, threads, sizeof *f->share);
  if (!f->share) return TL_ENOMEM;
  memset(f->share, 0, threads * sizeof *f->share);
  for (size_t t = 0; t < threads; t++) f->share[t].stable_step_s = INFINITY;
  f->contacts = (TlForceStep){.penalty = &m->penalty,
                              .search = &m->search,
                              .step_s = m->step_s,
                              .boundary = w->boundary,
                              .boundary_count = m->boundary_count,
                              .materials = f->step->materials,
                              .near = &w->near,
                              .places = m->search.edges == TL_EDGES_PLACES ? &w->places : NULL,
                              .points = w->points,
                              .arena = &w->arena,
                              .work = &w->forces,
                              .bodies = f->bodies,
                              .half_lookups = w->half_lookups};
  return tl_context(tl_contact_forces(&f->contacts), "step %lld", (long long)step);
}

/* Where the joints note their forces. */
static TlStatus reserve_joints(const Forces *f) {
  TlWorkspace *w = f->step->work;
  size_t count = tl_joints_count(&f->bodies->pairs);
  if (count == 0) return TL_OK;
  w->joint_row = tl_arena_push(&w->arena, count, sizeof *w->joint_row);
  if (!w->joint_row) return TL_ENOMEM;
  memset(w->joint_row, 0, count * sizeof *w->joint_row);
  w->joint_rows = count;
  return TL_OK;
}

/* Forces of the nets beside those of contacts. */
static TlStatus load_nets(Forces *f) {
  const TlModel *m = f->step->model;
  TlWorkspace *w = f->step->work;
  const TlMembranes membranes = tl_step_membranes(f->step);
  TL_TRY(tl_membrane_load(&membranes, &f->net));
  f->share[0].sums.net_elastic_J = f->net.elastic;
  f->net_omega2 = tl_arena_push(&w->arena, (size_t)m->net_count + 1, sizeof *f->net_omega2);
  if (!f->net_omega2) return TL_ENOMEM;
  for (int k = 0; k < m->net_count; k++) {
    double stable = tl_net_stable_step(&m->nets[k]);
    f->net_omega2[k] = 4 / (stable * stable);
  }
  return TL_OK;
}

/* Nets ask where their spheres were. */
static TlStatus advance(Forces *f, TlStepReport *r) {
  TlStep *s = f->step;
  const TlModel *m = s->model;
  TlBodies *b = f->bodies;
  TlVec3 *start = NULL;
  TlStatus status = TL_OK;
  if (m->net_count && b->total) {
    start = tl_arena_push(&s->work->arena, (size_t)b->total, sizeof *start);
    if (start)
      memcpy(start, b->position, (size_t)b->total * sizeof *start);
    else
      status = TL_ENOMEM;
  }
  f->first = s->state->steps == 0;
  f->kick_s = f->first ? 0.5 * m->step_s : m->step_s;
  for (int k = 0; k < m->boundary_count; k++)
    if (m->boundary[k].kind->has_outside) f->edged = m->boundary_count;
  tl_step_count(s);
  if (status == TL_OK) status = tl_par_loop(b->total, BLOCK, KICK_NS, move_block, f);
  TL_TRY(tl_step_together(s->sync, status));
  return tl_step_nets(s, start, tl_membrane_follow, r);
}

/* ---- the report ---- */

static void report_tally(const TlForceTally *t, TlStepReport *r) {
  r->overlap_m = tl_max(r->overlap_m, t->overlap_m);
  r->overlap_share = tl_max(r->overlap_share, t->overlap_share);
  r->boundary_overlap_m = tl_max(r->boundary_overlap_m, t->boundary_overlap_m);
  r->boundary_overlap_share = tl_max(r->boundary_overlap_share, t->boundary_overlap_share);
  r->contacts += t->contacts;
  r->touching += t->touching;
  r->sliding += t->sliding;
  r->capped += t->capped;
}

static void add_all(TlStepSums *to, const TlStepSums *from) {
  int64_t *limb = (int64_t *)to;
  const int64_t *part = (const int64_t *)from;
  for (size_t k = 0; k < sizeof *to / sizeof *limb; k++) limb[k] += part[k];
}

static TlStatus report(const Forces *f, TlStepReport *r) {
  TlStep *s = f->step;
  const TlWorkspace *w = s->work;
  r->step = s->state->steps;
  r->stable_step_s = INFINITY;
  for (int t = 0; t < tl_par_threads(); t++) {
    const Share *share = &f->share[t];
    r->stable_step_s = tl_min(r->stable_step_s, share->stable_step_s);
    r->speed_max_m_s = tl_max(r->speed_max_m_s, share->speed_max_m_s);
    r->moving += share->moving;
    r->guided += share->guided;
    r->outside += share->outside;
    r->embedded += share->embedded;
    r->pairs += w->points[t].pairs;
    r->lookups += w->points[t].lookups;
    r->node_tests += w->points[t].node_tests;
    r->node_lists += w->points[t].lists;
    report_tally(&w->forces.tally[t], r);
  }
  for (int t = 0; t < tl_par_threads(); t++) add_all(&s->sums, &f->share[t].sums);
  TL_TRY(tl_step_report_audited(s, r));
  /* global damping takes 2 xi dt of what moves */
  r->drag_J = 2 * s->controls->damping_per_s * f->kick_s * r->kinetic_J;
  return TL_OK;
}

/* ---- the step's length ---- */

/* Does it bear over its surface, and not at points? A closed form only as a polyhedron, by its faces. */
static bool bears_surface(const TlModel *m, const TlShape *shape) {
  if (m->penalty.spread != TL_SPREAD_TRACTION) return false;
  return shape->avatar || (m->search.surface && shape->place->part);
}

/* Stiffness of one point of a collider's contacts (of all its surface, with traction). */
static double point_stiffness(const TlModel *c, const TlStiffness *k, const TlColliders *b,
                              int64_t i) {
  const TlShape *shape = b->shape[i];
  double scale = b->scale[i], depth = 0.01 * b->radius[i];
  TlLawPoint point = {.stiffness = k, .radius_m = b->radius[i]};
  if (bears_surface(c, shape))
    point.area_m2 = scale * scale * shape->node_count * shape->node_spacing * shape->node_spacing;
  return tl_law_at(tl_law(c->penalty.law), &point, depth).slope;
}

/* 0.1 sqrt(m/k) of a point is safe to some 60 touching ones (Correction 17; Tan 2024 Eq. 50 is
 * upside down). With traction k is that of the whole surface: where a fifth of it touches, 0.4
 * keeps as far away. At a depth of 1% of the radius. */
static double stable_step(const TlModel *c, const TlBodies *b, int64_t i) {
  const TlColliders *x = &b->colliders;
  double fraction = c->penalty.touching_share > 0 ? c->penalty.touching_share : 0.2;
  double least = INFINITY;
  for (int64_t p = b->first[i]; p < b->first[i] + tl_bodies_parts(b, i); p++) {
    const TlPairLaw *law = &c->materials.law[tl_pair_law(&c->materials, x->material[p], 0)];
    double most = 0;
    for (int32_t other = 0; other < c->materials.count; other++)
      most = tl_max(most, point_stiffness(c, &law[other].stiffness, x, p));
    least = tl_min(least, (bears_surface(c, x->shape[p]) ? 0.4 * sqrt(0.2 / fraction) : 0.1) *
                              sqrt(b->mass[i] / most));
  }
  return least;
}

static bool has_step(const TlBodies *b, int64_t i) {
  return !(b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED));
}

/* The shortest of the steps that are safe for each of the owned bodies; *body: whose that is. */
static double shortest_step(const TlModel *m, const TlBodies *b, int64_t *body) {
  double least = INFINITY;
  for (int64_t i = 0; i < b->owned; i++) {
    double stable = has_step(b, i) ? stable_step(m, b, i) : INFINITY;
    if (stable < least) *body = i;
    least = tl_min(least, stable);
  }
  return least;
}

static double safe_step(const TlModel *m, const TlBodies *b) {
  int64_t body;
  return shortest_step(m, b, &body);
}

static TlStatus check_joint(const TlBodies *b, int64_t i) {
  TlJoint joint = tl_joint_of(&b->pairs, NULL, b->id[i]);
  if (joint.kind) return joint.kind->check(joint.row);
  return tl_fail(TL_EUSAGE,
                 "body %lld is on a joint, as its flags say, and the state has none of it; a "
                 "checkpoint of an older version cannot be resumed: start the run anew",
                 (long long)b->id[i]);
}

/* Do polyhedra bear over their surfaces on all that they meet? On planes and on each other by their faces, on grids
 * and walls where shapes have elements; on terrain and other closed forms at points. */
static bool only_surfaces_meet(const TlModel *m, const TlBodies *b) {
  for (int k = 0; k < m->boundary_count; k++) {
    const TlBoundaryKind *kind = m->boundary[k].kind;
    if (kind != &tl_boundary_plane && (kind->relief || !m->shapes->elements)) return false;
  }
  for (int64_t p = 0; p < b->colliders.total; p++) {
    const TlShape *shape = b->colliders.shape[p];
    if (!shape->avatar && !(shape->place && shape->place->part)) return false;
  }
  return true;
}

static TlStatus check_bodies(const TlModel *m, const TlBodies *b) {
  bool surfaces = m->search.surface && only_surfaces_meet(m, b);
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & TL_BODY_GUIDED) TL_TRY(check_joint(b, i));
    if (!has_step(b, i)) continue;
    bool points = m->penalty.spread != TL_SPREAD_TRACTION;
    for (int64_t p = b->first[i]; p < b->first[i] + tl_bodies_parts(b, i); p++)
      points = points || !(b->colliders.shape[p]->avatar || surfaces);
    const TlLawNeed *need = &tl_law(m->penalty.law)->point;
    if (points && !(tl_law_value(need, &m->materials.law[0].stiffness) > 0))
      return tl_fail(
          TL_EUSAGE,
          "penalty.%s: is needed, too: grain %lld is solved in closed form, and bears at points "
          "on terrain, or on another closed form that is curved; give the stiffness of a point in "
          "the study or by --set penalty.%s=VALUE",
          need->key, (long long)b->id[i], need->key);
  }
  int64_t i = 0;
  double safe = shortest_step(m, b, &i);
  if (m->step_s <= safe) return TL_OK;
  return tl_fail(TL_EUSAGE,
                 "penalty.dt_s: a time step of %g s is above the %.4g s that are safe for all "
                 "grains, of which grain %lld (mass %g kg) has the shortest: give a shorter "
                 "penalty.dt_s, a softer contact, or more mass",
                 m->step_s, safe, (long long)b->id[i], b->mass[i]);
}

static TlStatus step_by_springs(TlStep *s, TlStepReport *r) {
  Forces f = {.step = s, .bodies = &s->state->bodies};
  double start = tl_clock_s(), cpu = tl_clock_process_cpu_s();
  TlStatus status = tl_step_begin(s);
  if (status == TL_OK) status = reserve_joints(&f);
  if (status == TL_OK) status = contact_forces(&f);
  if (status == TL_OK) status = load_nets(&f);
  TL_TRY(tl_step_together(s->sync, status));
  r->detect_s = tl_clock_s() - start;
  r->detect_cpu_s = tl_clock_process_cpu_s() - cpu;
  tl_audit_enter(s->work->audit, TL_AUDIT_MOVE);
  TL_TRY(advance(&f, r));
  TL_TRY(report(&f, r));
  r->other_s = tl_clock_s() - start - r->detect_s;
  return TL_OK;
}

/* ---- the method ---- */

static TlStatus check_stiffness(const TlModel *c, int32_t one, int32_t two) {
  const TlStiffness *k = &c->materials.law[tl_pair_law(&c->materials, one, two)].stiffness;
  const TlNormalLaw *law = tl_law(c->penalty.law);
  const TlLawNeed *need = c->penalty.spread == TL_SPREAD_TRACTION ? &law->surface : &law->point;
  char name[TL_PAIR_TEXT + 40], pair[TL_PAIR_TEXT];
  snprintf(name, sizeof name, "%s of %s", need->key, tl_pair_text(pair, &c->materials, one, two));
  TL_TRY(tl_solver_check_value(name, tl_law_value(need, k), 1e-30, 1e30));
  return tl_stiffness_check(&c->materials, one, two);
}

static TlStatus check_penalty(const TlModel *c) {
  const TlPenalty *p = &c->penalty;
  const TlMaterials *m = &c->materials;
  TL_TRY(tl_solver_check_value("law", p->law, 0, tl_law_count() - 1));
  TL_TRY(tl_solver_check_value("spread", (int)p->spread, 0, TL_SPREAD_DEEPEST));
  if (!tl_law(p->law)->surface.key && p->spread != TL_SPREAD_DEEPEST)
    return tl_fail(TL_EUSAGE, "law %s is of one point a contact: spread must be deepest",
                   tl_law(p->law)->name);
  if (p->spread == TL_SPREAD_NODES && c->search.sides != TL_SIDES_LOWER)
    return tl_fail(TL_EUSAGE, "spread nodes with nodes of both sides would be twice as stiff: "
                              "sides must be lower");
  if (c->search.edges == TL_EDGES_REFINE && p->spread == TL_SPREAD_NODES)
    return tl_fail(TL_EUSAGE,
                   "edges refine looks between the nodes, where spread nodes has nothing "
                   "that bears: with the penalty method spread must be traction or deepest");
  TL_TRY(tl_solver_check_value("cap", p->most_share, 0, 10));
  for (int32_t i = 0; i < m->count; i++)
    for (int32_t j = 0; j <= i; j++) {
      const TlPairLaw *law = &m->law[tl_pair_law(m, i, j)];
      if (law->tangential_restitution > 0)
        return tl_fail(TL_EUSAGE, "tangential restitution is of impulses: the penalty method has a "
                                  "tangential stiffness in its place");
      if (law->slip_friction > law->friction || law->drag_per_s > 0 || law->scar_modulus_Pa > 0 ||
          law->restitution_half_m_s > 0)
        return tl_fail(TL_EUSAGE,
                       "friction that rises with the distance slid, drag and scars of the "
                       "ground, and restitution that falls with the speed are of the "
                       "methods by impulses: another solver.method");
      TL_TRY(check_stiffness(c, i, j));
    }
  return TL_OK;
}

static TlStatus contact_rows(const TlModel *m, const TlBodies *b, const TlWorkspace *w,
                             TlContactRow **rows, int64_t *count) {
  return tl_contact_forces_rows(&w->forces, &b->colliders, m->step_s, rows, count);
}

/* A place alone stands for no surface: what bears at every node looks at nodes. */
static TlSearchOptions penalty_search(const TlModel *m) {
  TlSearchOptions search = m->search;
  if (search.edges == TL_EDGES_PLACES && m->penalty.spread == TL_SPREAD_NODES)
    search.edges = TL_EDGES_NODES;
  if (m->penalty.spread == TL_SPREAD_TRACTION && search.edges != TL_EDGES_NODES) {
    search.edges = TL_EDGES_PLACES;
    search.surface = search.elements = true;
  }
  return search;
}

/* With traction a place without a surface of its own (a ball's) bears as a point. */
static TlStiffness reads(const TlModel *m) {
  const TlNormalLaw *law = tl_law(m->penalty.law);
  if (!law->surface.key) return (TlStiffness){.young_Pa = 1, .poisson = 1};
  return (TlStiffness){.normal_N_m = 1,
                       .normal_Pa_m = m->penalty.spread == TL_SPREAD_TRACTION,
                       .tangential_ratio = 1};
}

const TlMethodKind tl_method_penalty = {.bears_force = true,
                                        .memory = TL_SPRINGS,
                                        .solves = TL_KIND_BIT(TL_BONDS),
                                        .solves_on_world = TL_JOINT_KINDS,
                                        .check_section = tl_penalty_check_section,
                                        .choose = tl_penalty_choose,
                                        .configure = tl_penalty_configure,
                                        .search = penalty_search,
                                        .check = check_penalty,
                                        .reads = reads,
                                        .safe_step = safe_step,
                                        .check_bodies = check_bodies,
                                        .step = step_by_springs,
                                        .contact_rows = contact_rows};
