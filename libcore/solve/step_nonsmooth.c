/* One step of the nonsmooth method (SPOOK; AGX 35, Servin 2015 appendix A; docs/theory/nonsmooth.md):
 *
 *   1. contacts at the poses of the step's start, those to come among them;
 *   2. impact stage: islands in which a contact closes faster than the threshold are solved for
 *      0 <= u_n + e u_n(before) perp l_n >= 0, without compliance; others that overlap go on closing;
 *   3. v += h f/m;
 *   4. continuous stage: contacts with compliance and damping;
 *   5. x += h v.
 *
 * Islands are solved in parallel, and large ones cell by cell (nonsmooth_solve.h): the same bits for any
 * number of threads and ranks.
 */
#include "solve/step_impulses.h"
#include "solve/joints.h"
#include "solve/nonsmooth_solve.h"
#include "solve/reduction.h"
#include "solve/solver_setup.h"
#include "solve/step_report.h"

#include "base/mem.h"
#include "base/log.h"
#include "base/par.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of one stage; count: [islands]. */
static TlStatus run_stage(TlNsRows *r, const TlNsStage *stage, TlNsCount **count) {
  *count = tl_arena_push(r->arena, (size_t)r->islands + 1, sizeof **count);
  if (!*count) return TL_ENOMEM;
  memset(*count, 0, ((size_t)r->islands + 1) * sizeof **count);
  return tl_nonsmooth_solve_all(r, stage, *count);
}

/* What both stages leave goes to the owners of the bodies, and from there to all that use them. */
static TlStatus settle(const TlNsRows *r) {
  TL_TRY(tl_nonsmooth_collect(r));
  return tl_nonsmooth_scatter(r);
}

/* ---- energy ---- */

/* Poses stand where steps meet, velocities in the middle between two poses. So the potential energy of the balance is
 * that of half a step earlier, at x - v h/2, and what is left of a change is, to the last digit, the work of an impulse:
 * impulse times the mean of the velocities before and after (docs/theory/nonsmooth.md, energy). */

/* Impacts come half way through the fall of a step: with all of it added before them the mean has half. */
static void fall(const TlNsRows *r, TlNsBody *before) {
  for (int32_t i = 0; i < r->problem.bodies; i++)
    if (before[i].inverse_mass > 0)
      before[i].v = tl_axpy(before[i].v, r->model->step_s, r->model->gravity_m_s2);
}

/* Of the impulses of one stage, with the velocities before and after: what the normal rows and the
 * others take, and what moving boundaries give. */
typedef struct Work {
  TlExact *normal, *slip, *wall;
} Work;

static void take(TlExact *sum, double term) {
  if (term != 0) tl_exact_add(sum, term);
}

static TlVec3 mean(TlVec3 a, TlVec3 b) {
  return tl_scale(0.5, tl_add(a, b));
}

static void add_work(const TlNsRows *r, const TlNsBody *before, bool impact, const Work *work) {
  const TlNsProblem *q = &r->problem;
  const double *of_point = r->impact + TL_NS_IMPACTS * (size_t)q->patches;
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    const TlNsBody *a = &before[p->a], *b = &before[p->b], *a1 = &q->body[p->a],
                   *b1 = &q->body[p->b];
    TlVec3 va = mean(a->v, a1->v), wa = mean(a->w, a1->w), vb = mean(b->v, b1->v),
           wb = mean(b->w, b1->w);
    const double *l = impact ? &r->impact[TL_NS_IMPACTS * i] : p->lambda;
    TlVec3 u = tl_sub(tl_add(va, tl_cross(wa, p->ra)), tl_add(vb, tl_cross(wb, p->rb)));
    double slip =
        -(l[0] * (tl_dot(u, p->t1) - p->wall[1]) + l[1] * (tl_dot(u, p->t2) - p->wall[2]));
    double wall = l[0] * p->wall[1] + l[1] * p->wall[2], normal = 0;
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      const TlNsArm *m = &q->arm[k];
      double one = impact ? of_point[k] : q->point[k].lambda;
      double un = tl_dot(m->n, tl_sub(va, vb)) + tl_dot(m->ran, wa) - tl_dot(m->rbn, wb);
      normal -= one * (un - m->wall_n);
      wall += one * m->wall_n;
    }
    if (p->resist >= 0) {
      const TlNsResist *x = &q->resist[p->resist];
      const double *m = impact ? l + 2 : x->lambda;
      TlVec3 w = tl_sub(wa, wb);
      slip -= m[0] * (tl_dot(w, p->n) - x->wall[0]) + m[1] * (tl_dot(w, p->t1) - x->wall[1]) +
              m[2] * (tl_dot(w, p->t2) - x->wall[2]);
      wall += m[0] * x->wall[0] + m[1] * x->wall[1] + m[2] * x->wall[2];
    }
    take(work->normal, normal);
    take(work->slip, slip);
    take(work->wall, wall);
  }
}

/* Mean velocity of the centre of a joint's body. */
static TlVec3 mean_at(const TlNsOrigin *o, int side, const TlNsBody *before,
                      const TlNsBody *after) {
  TlVec3 arm = tl_sub(o->x[side], o->centre[side]);
  return tl_add(mean(before->v, after->v), tl_cross(mean(before->w, after->w), arm));
}

/* Motors, drives and loads give what they do; what holds a joint together takes. */
static void add_joint_work(const TlNsRows *r, const TlNsBody *before, bool impact,
                           TlStepSums *sums) {
  const TlNsProblem *q = &r->problem;
  for (int32_t i = 0; i < q->joints; i++) {
    const TlNsJoint *j = &q->joint[i];
    const TlNsOrigin *o = r->origin[i];
    const TlNsBody *a = &q->body[j->a], *b = &q->body[j->b];
    TlVec3 u = tl_sub(mean_at(o, 0, &before[j->a], a), mean_at(o, 1, &before[j->b], b));
    if (!impact && o->kind == TL_SLIDERS && !o->control.driven)
      take(&sums->wall_work_J, r->model->step_s * o->control.load * tl_dot(o->axis, u));
    for (int k = 0; k < j->rows; k++) {
      const TlNsRow *row = &j->row[k];
      double work = 0.5 * row->lambda *
                    (tl_nonsmooth_row_velocity(row, &before[j->a], &before[j->b]) +
                     tl_nonsmooth_row_velocity(row, a, b));
      bool drives = k == o->motor_row || (o->control.driven && k == j->equal - 1);
      if (drives)
        take(&sums->wall_work_J, work);
      else
        take(impact ? &sums->impact_J : &sums->viscous_J, -work);
    }
  }
}

/* ---- nets ---- */

/* What the bonds took, those that they store included. */
static void add_bond_work(const TlNsRows *r, const TlNsBody *before, TlStepSums *sums) {
  const TlNsProblem *q = &r->problem;
  for (int32_t i = 0; i < q->bonds; i++) {
    const TlNsBond *b = &q->bond[i];
    TlVec3 u = tl_nonsmooth_bond_velocity(b, &before[b->a], &before[b->b]);
    TlVec3 after = tl_nonsmooth_bond_velocity(b, &q->body[b->a], &q->body[b->b]);
    take(&sums->net_damping_J, -tl_dot(b->lambda, mean(u, after)));
  }
}

/* The fixed row of a net goes with its holder, who does the work of what pulls at it; what is fixed else stands
 * still. */
static void add_held_work(const TlNsRows *r, bool impact, TlStepSums *sums) {
  const TlNsProblem *q = &r->problem;
  for (int32_t i = 0; r->net && i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    bool a = tl_nonsmooth_fixed(r, p->a), b = tl_nonsmooth_fixed(r, p->b);
    if (!a && !b) continue;
    TlVec3 impulse = tl_nonsmooth_push(r, i, impact).impulse;
    if (a) take(&sums->net_held_J, -tl_dot(impulse, q->body[p->a].v));
    if (b) take(&sums->net_held_J, tl_dot(impulse, q->body[p->b].v));
  }
  for (int32_t i = 0; !impact && i < q->bonds; i++) {
    const TlNsBond *b = &q->bond[i];
    if (tl_nonsmooth_fixed(r, b->a)) take(&sums->net_held_J, -tl_dot(b->lambda, q->body[b->a].v));
    if (tl_nonsmooth_fixed(r, b->b)) take(&sums->net_held_J, tl_dot(b->lambda, q->body[b->b].v));
  }
}

/* What global damping took from the velocities before the kick acts over the mean of those before and after, as all
 * forces do. */
static void add_drag_work(const TlNsRows *r, const TlNsBody *before, TlStepSums *sums) {
  double taken = r->controls ? r->controls->damping_per_s * r->model->step_s : 0;
  for (int64_t i = 0; taken != 0 && i < r->bodies->owned; i++) {
    const TlNsBody *b = &before[i], *after = &r->problem.body[i];
    if (!(b->inverse_mass > 0)) continue;
    double mass = r->units ? r->units->mass[i] : r->bodies->mass[i];
    TlSym3 inertia =
        r->units ? r->units->inertia[i] : tl_bodies_rotated(r->bodies, i, r->bodies->inertia[i]);
    take(&sums->drag_J, taken * (mass * tl_dot(b->v, mean(b->v, after->v)) +
                                 tl_dot(b->w, tl_sym_vec(inertia, mean(b->w, after->w)))));
  }
}

/* Pressure acts as gravity does: over the mean of the velocities before and after. */
static void add_pressure_work(const TlNsRows *r, const TlNsBody *before, TlStepSums *sums) {
  const TlNsProblem *q = &r->problem;
  for (int64_t i = 0; r->net && i < r->bodies->owned; i++) {
    if (!(r->bodies->flags[i] & TL_BODY_NET) || r->bodies->flags[i] & TL_BODY_FROZEN) continue;
    TlVec3 v = mean(before[i].v, q->body[i].v);
    take(&sums->net_pressure_J, r->model->step_s * tl_dot(r->net->pressure_force[i], v));
  }
}

/* Bonds follow the move and break; what the springs do not hold of what was taken is damped. */
static TlStatus finish_nets(TlStep *s, const TlNsRows *r, const TlVec3 *start,
                            TlStepReport *report) {
  TL_TRY(tl_step_nets(s, start, tl_membrane_follow, report));
  if (!r->net) return TL_OK;
  s->sums.net_elastic_J = r->net->elastic;
  tl_exact_add_sum(&s->sums.net_damping_J, 1, &r->net->elastic);
  tl_exact_add_sum(&s->sums.net_damping_J, -1, &s->sums.net_elastic_end_J);
  return TL_OK;
}

/* ---- what measures ask for ---- */

/* Forces of the joints into their records; those of joints and bonds as rows for measures, on the rank of the
 * lower id. */
static TlStatus note_joints(TlStep *s, const TlNsRows *r) {
  TlWorkspace *w = s->work;
  const TlBodies *b = r->bodies;
  size_t joints = (size_t)r->joints;
  size_t bonds = tl_net_memo_keeps_rows(w->net_memo) ? (size_t)r->bonds : 0;
  w->joint_row =
      tl_arena_push(&w->arena, TL_NS_JOINT_ROWS * joints + bonds + 1, sizeof *w->joint_row);
  if (!w->joint_row) return TL_ENOMEM;
  w->joint_rows = 0;
  for (size_t i = 0; i < joints; i++) {
    const TlNsFoundJoint *joint = &r->joint[i];
    tl_ns_joint_remember(joint);
    for (int k = 0; joint->a < b->owned && k < TL_NS_JOINT_ROWS; k++)
      if (joint->reaction.row[k].kind) w->joint_row[w->joint_rows++] = joint->reaction.row[k];
  }
  for (size_t i = 0; i < bonds; i++) {
    const TlNetBond *bond = &r->listed[i];
    bool moves = r->dynamics->inverse_mass[bond->a] > 0 || r->dynamics->inverse_mass[bond->b] > 0;
    if (moves && bond->a < b->owned)
      w->joint_row[w->joint_rows++] =
          tl_ns_bond_note(bond, r->sheet_lambda[i], b->position[bond->a], s->model->step_s);
  }
  return TL_OK;
}

static TlStatus copy_bodies(const TlNsRows *r, TlNsBody **copy) {
  size_t n = (size_t)r->problem.bodies;
  *copy = tl_arena_push(r->arena, n, sizeof **copy);
  if (!*copy) return TL_ENOMEM;
  memcpy(*copy, r->problem.body, n * sizeof **copy);
  return TL_OK;
}

/* Elastic energy of a contact that bears this part of its patch. */
static double elastic_energy(TlMapping law, const TlContact *c, double stiffness, double part) {
  return tl_nonsmooth_energy(law, stiffness, -c->gap, part * c->law->adhesion_N,
                             c->law->adhesive_overlap_m);
}

/* At the start of the step: elastic energy of the contacts. */
static void add_elastic(TlStep *s, const TlNsRows *r) {
  const TlNsProblem *q = &r->problem;
  TlMapping law = r->model->nonsmooth.law;
  for (int32_t k = 0; k < q->points; k++) {
    const TlContact *c = &r->contact[q->point[k].contact];
    double stiff =
        q->point[k].weight * tl_nonsmooth_stiffness(law, &c->law->stiffness, c->reduced_radius);
    take(&s->sums.elastic_J, elastic_energy(law, c, stiff, q->point[k].weight));
  }
  for (int32_t i = 0; r->units && i < r->found->pairs; i++) { /* within aggregates it stays */
    const TlPair *pair = &r->found->pair[i];
    int32_t end = pair->elsewhere ? pair->first : pair->first + pair->count, next;
    for (int32_t first = pair->first; first < end; first = next) {
      next = tl_nonsmooth_patch_end(r->found->contact, first, end);
      if (!tl_units_inner(r->units, &r->found->contact[first])) continue;
      int32_t last = next - first < TL_NS_POINTS ? next : first + TL_NS_POINTS, touching = 0;
      for (int32_t k = first; k < last; k++) touching += r->found->contact[k].gap < 0;
      for (int32_t k = first; k < last; k++) {
        const TlContact *c = &r->found->contact[k];
        if (!(c->gap < 0)) continue;
        double stiff =
            tl_nonsmooth_stiffness(law, &c->law->stiffness, c->reduced_radius) / touching;
        take(&s->sums.elastic_J, elastic_energy(law, c, stiff, 1.0 / touching));
      }
    }
  }
}

/* Energies of the step's start, and what measures of forces ask for. after: of the bodies. */
static void add_state(TlStep *s, const TlNsRows *r, const TlTwist *after, TlStepReport *report) {
  const TlBodies *b = r->bodies;
  double h = s->model->step_s;
  add_elastic(s, r);
  report->whole = TL_LOSSES_WHOLE;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & TL_BODY_FROZEN) continue;
    const TlTwist *t = &r->dynamics->twist[i];
    take(&s->sums.potential_J, -b->mass[i] * tl_dot(s->model->gravity_m_s2, b->position[i]));
    take(&s->sums.half_step_J, 0.5 * h * b->mass[i] * tl_dot(s->model->gravity_m_s2, t->v));
    take(&s->sums.kinetic_J, 0.5 * (b->mass[i] * tl_norm2(t->v) + tl_dot(t->w, b->momentum[i])));
    if (b->flags[i] & TL_BODY_GUIDED) {
      report->guided++;
      continue;
    }
    TlVec3 change = tl_sub(after[i].v, t->v);
    take(&s->sums.resultant_N, b->mass[i] * tl_norm(change) / h);
    report->moving++;
  }
}

/* Forces of the contacts; call when they are written back. */
static void add_forces(TlStep *s, const TlNsRows *r, TlStepReport *report) {
  const TlBodies *b = r->bodies;
  const TlFound *found = r->found;
  double per_s = 1 / s->model->step_s;
  for (int32_t i = 0; i < found->contacts; i++) {
    const TlContact *c = &found->contact[i];
    if (!c->touched) continue;
    TlVec3 force = tl_scale(per_s, tl_step_impulse(c));
    if (c->a < b->owned) { /* the owner of the lower id counts it */
      take(&s->sums.contact_N, tl_norm(force));
      if (c->b < 0) take(&s->sums.boundary_N, tl_dot(force, c->n));
      report->touching++;
    }
    for (int side = 0; side < 2; side++) { /* a body's owner knows its joints */
      int32_t body = side ? c->b : c->a;
      if (body < 0 || body >= b->owned || !(b->flags[body] & TL_BODY_GUIDED)) continue;
      TlJoint joint = tl_joint_of(&b->pairs, s->controls, b->id[body]);
      if (joint.kind)
        take(&s->sums.guide_N, joint.kind->borne_N(joint.row, tl_scale(side ? -1 : 1, force)));
    }
  }
}

/* ---- the step ---- */

/* Does the step move aggregates? Before reduction.from_s a step is the one without reduction, in every bit. */
static bool reduces_now(const TlStep *s) {
  const TlReduction *o = &s->model->nonsmooth.reduction;
  return o->split != TL_SPLIT_OFF && (double)s->state->steps * s->model->step_s >= o->from_s;
}

static TlStatus detect(const TlStep *s, const TlMotion *motion, TlPairRows *memory, TlDetect *d) {
  const TlModel *m = s->model;
  TlWorkspace *w = s->work;
  TlBodies *b = &s->state->bodies;
  int64_t step = s->state->steps + 1;
  const int32_t *held = NULL;
  bool reduces = reduces_now(s);
  TL_TRY(tl_step_reserve_points(w));
  TL_TRY(tl_nonsmooth_recall(b, m->step_s, &w->arena, memory));
  if (reduces && b->pairs.of[TL_INNER].count > 0) TL_TRY(tl_units_held(b, &w->arena, &held));
  *d = tl_step_detect(s);
  d->memory = memory;
  d->notes_clear = reduces;
  d->held = held;
  TL_TRY(tl_motion_check_poses(b, step));
  TL_TRY(tl_context(tl_detect(d, b, &motion->real, &w->found), "step %lld", (long long)step));
  return d->places ? tl_place_commit(d->places, &b->pairs) : TL_OK;
}

/* Contacts times iterations. */
static int64_t visits_of(const TlNsRows *r, const TlNsCount *count) {
  int64_t visits = 0;
  for (int32_t i = 0; i < r->ranges; i++)
    visits += (r->range[i].last - r->range[i].first) * count[r->range[i].island].iterations;
  return visits;
}

/* What ranks are balanced by: the sweeps over a pair. */
static void price_pairs(const TlNsRows *r, const TlNsCount *impact, const TlNsCount *rest,
                        TlSolveCost *cost) {
  for (int32_t g = 0; g < r->groups.count; g++) {
    const TlGroup *group = &r->groups.group[g];
    for (int32_t k = 0; k < group->pairs; k++) {
      int32_t at = r->first_island[g] + group->pair[k].island;
      int64_t sweeps = rest[at].iterations + (impact ? impact[at].iterations : 0);
      int64_t ns = TL_WORK_NS_ISLANDS + sweeps * TL_WORK_NS_RESTING;
      group->impulses[k] = ns < INT32_MAX ? (int32_t)ns : INT32_MAX;
      cost->resting_ns += ns; /* impacts, too: their sweeps visit all pairs */
    }
  }
}

static void report_unconverged(const TlNsCount *one, bool counts, TlStepReport *report) {
  if (!one->unfinished) return;
  report->unconverged += counts;
  report->unconverged_m_s = tl_max(report->unconverged_m_s, one->residual_m_s);
  report->unconverged_fraction = tl_max(report->unconverged_fraction, one->fraction);
}

static void report_stages(const TlNsRows *r, const TlNsCount *impact, const TlNsCount *rest,
                          TlStepReport *report) {
  for (int32_t g = 0; g < r->groups.count; g++) {
    const TlGroup *group = &r->groups.group[g];
    for (int32_t i = 0; i < group->islands; i++) {
      int32_t at = r->first_island[g] + i;
      bool counts = !group->share || group->counts_here[i];
      report->rest_unfinished += counts && rest[at].unfinished;
      report_unconverged(&rest[at], counts, report);
      if (impact) report_unconverged(&impact[at], counts, report);
      report->rest_residual_m_s = tl_max(report->rest_residual_m_s, rest[at].residual_m_s);
      if (rest[at].iterations > report->rest_sweeps) report->rest_sweeps = rest[at].iterations;
      if (impact && impact[at].iterations > report->impact_sweeps)
        report->impact_sweeps = impact[at].iterations;
    }
  }
  report->visits += visits_of(r, rest) + (impact ? visits_of(r, impact) : 0);
}

static TlStatus solve(TlStep *s, TlNsRows *r, TlStepReport *report) {
  const TlNonsmooth *o = &r->model->nonsmooth;
  TlNsCount *impact = NULL, *rest;
  TlNsBody *before;
  bool hit;
  TlAudit *audit = s->work->audit;
  double start = tl_clock_s();
  tl_audit_enter(audit, TL_AUDIT_ISLANDS);
  TL_TRY(tl_step_together(s->sync, tl_nonsmooth_rows(r)));
  TL_TRY(tl_nonsmooth_scatter(r));
  tl_audit_enter(audit, TL_AUDIT_COLLISIONS);
  TL_TRY(tl_nonsmooth_impact_rows(r, &hit));
  if (hit) {
    TlNsStage stage = {true, o->impact_iterations, o->tolerance};
    TL_TRY(copy_bodies(r, &before));
    TL_TRY(run_stage(r, &stage, &impact));
    TL_TRY(tl_nonsmooth_note_impact(r));
    TL_TRY(settle(r));
    fall(r, before);
    add_work(r, before, true, &(Work){&s->sums.impact_J, &s->sums.slip_J, &s->sums.wall_work_J});
    add_joint_work(r, before, true, &s->sums);
    add_held_work(r, true, &s->sums);
  }
  double middle = tl_clock_s();
  report->etm_s = middle - start;
  tl_audit_enter(audit, TL_AUDIT_RESTING);
  /* right-hand sides ask for the velocities before forces act, so they come before the kick */
  TL_TRY(tl_nonsmooth_force_rows(r, o->warm));
  TL_TRY(copy_bodies(r, &before)); /* forces and impulses act at once: before the kick */
  TL_TRY(tl_nonsmooth_kick(r));
  const TlProblemSink *sink = &s->work->problems;
  if (sink->take) TL_TRY(tl_step_together(s->sync, sink->take(sink->context, &r->problem)));
  TlNsStage stage = {false, o->iterations, o->tolerance};
  TL_TRY(run_stage(r, &stage, &rest));
  TL_TRY(settle(r));
  add_work(r, before, false, &(Work){&s->sums.viscous_J, &s->sums.slip_J, &s->sums.wall_work_J});
  add_joint_work(r, before, false, &s->sums);
  add_held_work(r, false, &s->sums);
  add_bond_work(r, before, &s->sums);
  add_pressure_work(r, before, &s->sums);
  add_drag_work(r, before, &s->sums);
  tl_audit_enter(audit, TL_AUDIT_MOVE);
  tl_audit_work(audit, TL_AUDIT_ISLANDS, r->problem.patches);
  tl_audit_work(audit, TL_AUDIT_COLLISIONS, impact ? visits_of(r, impact) : 0);
  tl_audit_work(audit, TL_AUDIT_RESTING, visits_of(r, rest));
  report_stages(r, impact, rest, report);
  if (s->sync) price_pairs(r, impact, rest, &s->work->solve_cost);
  report->rest_s = tl_clock_s() - middle;
  return TL_OK;
}

/* ---- model reduction ---- */

/* Of the velocity that gravity gives in a step: what a contact of the trial may change velocities by and be passed
 * over. A dozen of them leave a tenth of the imbalance that splits. */
static const double TRIAL_SLACK = 1e-3;

/* A solve of all bodies, each for itself, in the background, from the forces of the last step on. */
static TlStatus try_out(const TlNsRows *whole, TlReduce *d, TlStepReport *report) {
  TlNsCount *count;
  TlNsRows trial = *whole;
  const TlNonsmooth *o = &trial.model->nonsmooth;
  size_t n = (size_t)trial.found->contacts;
  TlVec3 *known = tl_arena_push(trial.arena, n + 1, sizeof *known);
  if (!known) return TL_ENOMEM;
  for (size_t i = 0; i < n; i++) known[i] = trial.found->contact[i].rest;
  trial.tried = &d->units;
  trial.last = NULL; /* its cells are others, and would be cut in turn with those of the step */
  tl_reduce_recall_trial(d, trial.dynamics);
  TL_TRY(tl_nonsmooth_rows(&trial));
  TL_TRY(tl_nonsmooth_scatter(&trial));
  trial.problem.before.point = NULL; /* plain sweeps: passing over is worth more */
  trial.problem.slack_m_s = TRIAL_SLACK * trial.model->step_s * tl_norm(trial.model->gravity_m_s2);
  TL_TRY(tl_nonsmooth_force_rows(&trial, o->warm));
  TL_TRY(tl_nonsmooth_kick(&trial));
  TlNsStage stage = {false, o->reduction.trial_iterations, 0};
  TL_TRY(run_stage(&trial, &stage, &count));
  TL_TRY(tl_nonsmooth_collect(&trial));
  report->trial_visits += visits_of(&trial, count);
  return tl_reduce_by_trial(d, &trial, known);
}

/* Pairs that moved as one and do so no more. */
static TlStatus search_parted(const TlStep *s, TlReduce *d, const TlDetect *search,
                              const TlDynamics *dynamics) {
  bool *parted, any;
  int32_t *from;
  TL_TRY(tl_reduce_parted(d, &parted, &any));
  if (!any) return TL_OK;
  TL_TRY(tl_context(tl_detect_again(search, d->bodies, dynamics, parted, &s->work->found, &from),
                    "step %lld", (long long)s->state->steps + 1));
  return from ? tl_reduce_found_again(d, from) : TL_OK;
}

/* The units of this step. */
static TlStatus reduce_start(TlStep *s, TlReduce *d, const TlDetect *search, TlNsRows *rows,
                             TlStepReport *report) {
  const TlReduction *o = &s->model->nonsmooth.reduction;
  const TlBoundary *boundary = s->work->boundary;
  TL_TRY(tl_reduce_open(d, boundary, rows->dynamics->twist));
  tl_reduce_by_sensors(d);
  tl_reduce_by_anchors(d);
  if (o->split == TL_SPLIT_CONTACT || o->split == TL_SPLIT_BOTH) tl_reduce_by_contacts(d);
  if (o->split == TL_SPLIT_TRIAL || o->split == TL_SPLIT_BOTH) {
    int any = d->units.merged > 0;
    TL_TRY(tl_sync_any(s->sync, &any));
    if (any) TL_TRY(try_out(rows, d, report));
  } else {
    d->bodies->pairs.of[TL_TRIALS].count = d->bodies->pairs.of[TL_STANDING].count = 0;
  }
  TL_TRY(tl_reduce_split(d, boundary));
  TL_TRY(tl_step_together(s->sync, search_parted(s, d, search, rows->dynamics)));
  rows->units = &d->units;
  return TL_OK;
}

/* Units that moved together merge, and all of more than one body move. */
static TlStatus reduce_end(TlStep *s, TlReduce *d, TlMotion *motion, TlStepReport *report) {
  TlBodies *b = &s->state->bodies;
  bool *carried = tl_arena_push(&s->work->arena, (size_t)b->total + 1, sizeof *carried);
  if (!carried) return TL_ENOMEM;
  TL_TRY(tl_reduce_merge(d, motion->real.twist));
  for (int64_t i = 0; i < b->total; i++) carried[i] = tl_unit_carries(&d->units, (int32_t)i);
  TL_TRY(tl_motion_check_twists(b, motion, s->state->steps + 1));
  TL_TRY(tl_reduce_keep_contacts(d, &s->work->near.broad.pairs));
  TL_TRY(tl_units_move(&d->units, b, &s->work->arena, s->model->step_s, s->model->gravity_m_s2,
                       &d->held));
  motion->carried = carried;
  report->aggregates = d->units.aggregates;
  report->merged = d->units.merged;
  report->merges = d->merges;
  report->splits = d->splits;
  for (int64_t i = 0; i < b->owned; i++)
    report->units += d->units.id[d->units.unit[i]] == b->id[i] &&
                     d->units.dynamics.inverse_mass[d->units.unit[i]] > 0 &&
                     !d->units.guided[d->units.unit[i]];
  return TL_OK;
}

static TlStatus step_by_constraints(TlStep *s, TlStepReport *report) {
  TlWorkspace *w = s->work;
  TlBodies *b = &s->state->bodies;
  TlMotion motion;
  TlPairRows memory;
  TlDetect search;
  double start = tl_clock_s(), cpu = tl_clock_process_cpu_s();
  TlStatus status = tl_step_begin(s);
  if (status == TL_OK) status = tl_motion_start(b, &w->arena, &motion);
  if (status == TL_OK) status = detect(s, &motion, &memory, &search);
  if (status == TL_OK) status = tl_step_embedded(s);
  report->detect_s = tl_clock_s() - start;
  report->detect_cpu_s = tl_clock_process_cpu_s() - cpu;
  TlNsRows rows = {.model = s->model,
                   .materials = s->materials,
                   .bodies = b,
                   .boundary = w->boundary,
                   .found = &w->found,
                   .dynamics = &motion.real,
                   .controls = s->controls,
                   .sync = s->sync,
                   .last = &w->solve_mean,
                   .arena = &w->arena};
  TlNetLoad load;
  TlNetBond *bond;
  TlVec3 *began = NULL;
  if (status == TL_OK && s->model->net_count) {
    began = tl_arena_push(&w->arena, (size_t)b->total + 1, sizeof *began);
    status = began ? TL_OK : TL_ENOMEM;
    if (began) memcpy(began, b->position, (size_t)b->total * sizeof *began);
    const TlMembranes membranes = tl_step_membranes(s);
    if (began) status = tl_membrane_bonds(&membranes, &load, &bond, &rows.bonds);
    rows.net = &load;
    rows.listed = bond;
  }
  if (status == TL_OK) status = tl_nonsmooth_links(&rows);
  TL_TRY(tl_step_together(s->sync, status));
  bool reduces = reduces_now(s);
  TlReduce reduce = {.model = s->model,
                     .bodies = b,
                     .found = &w->found,
                     .sync = s->sync,
                     .arena = &w->arena,
                     .held = {&s->sums.anchor_x_N_s, &s->sums.anchor_y_N_s, &s->sums.anchor_z_N_s,
                              &s->sums.wall_work_J, &s->sums.merge_J, &s->sums.viscous_J},
                     .damping_per_s = s->controls->damping_per_s};
  double reducing = tl_clock_s();
  if (reduces) TL_TRY(reduce_start(s, &reduce, &search, &rows, report));
  if (!reduces) tl_reduce_forget(b);
  report->reduction_s = reduces ? tl_clock_s() - reducing : 0;
  TL_TRY(solve(s, &rows, report));
  TlTwist *after = tl_arena_push(&w->arena, (size_t)b->total + 1, sizeof *after);
  if (!after) return TL_ENOMEM;
  if (reduces) tl_reduce_spread(&reduce, &rows, after);
  for (int64_t i = 0; i < b->total && !reduces; i++)
    after[i] = (TlTwist){.v = rows.problem.body[i].v, .w = rows.problem.body[i].w};
  add_state(s, &rows, after, report);
  for (int64_t i = 0; i < b->total; i++) {
    motion.real.twist[i].v = after[i].v;
    motion.real.twist[i].w = after[i].w;
  }
  TL_TRY(tl_sync_forward(s->sync, motion.real.twist, sizeof *motion.real.twist));
  TL_TRY(tl_nonsmooth_write_back(&rows));
  if (reduces) tl_reduce_hold(&reduce);
  if (s->sync) tl_step_charge(s, &rows.groups);
  add_forces(s, &rows, report);
  TL_TRY(tl_nonsmooth_remember(&rows, reduces ? reduce.inner_moment : NULL, b));
  TL_TRY(note_joints(s, &rows));
  reducing = tl_clock_s();
  if (reduces) TL_TRY(reduce_end(s, &reduce, &motion, report));
  report->reduction_s += reduces ? tl_clock_s() - reducing : 0;
  tl_step_count(s);
  TL_TRY(tl_step_together(
      s->sync, tl_motion_finish(b, &motion, w->boundary, s->model->boundary_count,
                                s->model->gravity_m_s2, s->model->step_s, s->state->steps)));
  TL_TRY(finish_nets(s, &rows, began, report));
  report->islands = rows.groups.islands;
  report->largest_island = rows.groups.largest;
  TL_TRY(tl_step_report_found(s, false, report));
  report->other_s = tl_clock_s() - start - report->detect_s - report->etm_s - report->rest_s;
  return TL_OK;
}

/* ---- the method ---- */

static TlStatus check_law(const TlModel *m, int32_t one, int32_t two) {
  const TlPairLaw *law = &m->materials.law[tl_pair_law(&m->materials, one, two)];
  char name[TL_PAIR_TEXT + 40], pair[TL_PAIR_TEXT];
  tl_pair_text(pair, &m->materials, one, two);
  bool hertz = m->nonsmooth.law == TL_MAP_HERTZ;
  if (law->tangential_restitution > 0)
    return tl_fail(TL_EUSAGE,
                   "tangential restitution is of impulses: the nonsmooth method has none");
  if (law->slip_friction > law->friction || law->drag_per_s > 0 || law->scar_modulus_Pa > 0)
    return tl_fail(TL_EUSAGE,
                   "friction that rises with the distance slid, and drag and scars of the ground, "
                   "are of the methods by impulses: another solver.method");
  if (law->adhesion_N > 0 && !(law->adhesive_overlap_m > 0))
    return tl_fail(TL_EUSAGE,
                   "adhesion_N of %s: wants an adhesive_overlap_m above 0, too: within it the "
                   "contact pulls",
                   pair);
  snprintf(name, sizeof name, "%s of %s", hertz ? "young_Pa" : "normal_N_m", pair);
  const TlStiffness *k = &law->stiffness;
  TL_TRY(tl_solver_check_value(name, hertz ? k->young_Pa : k->normal_N_m, 1e-30, 1e30));
  return tl_stiffness_check(&m->materials, one, two);
}

static TlStatus check(const TlModel *m) {
  const TlNonsmooth *o = &m->nonsmooth;
  TL_TRY(tl_solver_check_value("nonsmooth.law", (int)o->law, TL_MAP_HERTZ, TL_MAP_LINEAR));
  TL_TRY(tl_solver_check_value("nonsmooth.iterations", o->iterations, 0, 1e6));
  TL_TRY(tl_solver_check_value("nonsmooth.impact_iterations", o->impact_iterations, 0, 1e6));
  TL_TRY(tl_solver_check_value("nonsmooth.tolerance", o->tolerance, 0, 1));
  TL_TRY(tl_solver_check_value("nonsmooth.overlap_share", o->overlap_share, 1e-9, 1));
  TL_TRY(tl_solver_check_value("nonsmooth.contact_damping", o->contact_damping, 0, 1e6));
  TL_TRY(tl_solver_check_value("nonsmooth.joint_damping", o->joint_damping, 0.01, 1e6));
  if (m->net_count && o->reduction.split != TL_SPLIT_OFF)
    return tl_fail(TL_EUSAGE, "reduction.split: no scene with nets or a membrane can be reduced; "
                              "set it to off");
  for (int32_t i = 0; i < m->materials.count; i++)
    for (int32_t j = 0; j <= i; j++) TL_TRY(check_law(m, i, j));
  return TL_OK;
}

static TlStiffness reads(const TlModel *m) {
  return m->nonsmooth.law == TL_MAP_HERTZ ? (TlStiffness){.young_Pa = 1, .poisson = 1}
                                          : (TlStiffness){.normal_N_m = 1};
}

/* A contact cannot pull harder than its stiffness lets it at no overlap (Correction 27b). */
static TlStatus check_adhesion(const TlModel *m, const TlColliders *x, int64_t i) {
  char pair[TL_PAIR_TEXT];
  for (int32_t other = 0; other < m->materials.count; other++) {
    const TlPairLaw *law = &m->materials.law[tl_pair_law(&m->materials, x->material[i], other)];
    if (!(law->adhesion_N > 0)) continue;
    double radius = 0.5 * x->radius[i], d = law->adhesive_overlap_m;
    double k = tl_nonsmooth_stiffness(m->nonsmooth.law, &law->stiffness, radius);
    double most = m->nonsmooth.law == TL_MAP_LINEAR ? k * d : k * d * sqrt(d);
    if (d > x->radius[i])
      return tl_fail(
          TL_EUSAGE,
          "adhesive_overlap_m of %s: %g m is more than the radius of grain %lld, %.4g m: "
          "give a small part of it",
          tl_pair_text(pair, &m->materials, x->material[i], other), d, (long long)x->id[i],
          x->radius[i]);
    if (most < law->adhesion_N)
      return tl_fail(TL_EUSAGE,
                     "adhesive_overlap_m of %s: an overlap of %g m holds grain %lld by %.4g N at "
                     "most, and not by the adhesion_N of %g: a larger overlap, or stiffer grains",
                     tl_pair_text(pair, &m->materials, x->material[i], other), d,
                     (long long)x->id[i], most, law->adhesion_N);
  }
  return TL_OK;
}

static TlStatus check_bodies(const TlModel *m, const TlBodies *b) {
  for (int64_t i = 0; i < b->colliders.owned; i++) TL_TRY(check_adhesion(m, &b->colliders, i));
  return tl_ns_joints_check(b);
}

/* dt <= min(eps d/v, sqrt(2 eps d/a)), N = 0.1 n/eps (AGX 35.7). */
static TlMethodAdvice advise(const TlModel *m, const TlMethodScene *scene) {
  double eps = m->nonsmooth.overlap_share, a = tl_norm(m->gravity_m_s2), d = scene->least_m;
  TlMethodAdvice rule = {.step_s = INFINITY, .on_end = 1, .fixed = m->nonsmooth.iterations};
  if (!isfinite(d)) return rule;
  if (scene->speed_m_s > 0) rule.step_s = eps * d / scene->speed_m_s;
  if (a > 0) rule.step_s = tl_min(rule.step_s, sqrt(2 * eps * d / a));
  if (scene->count > 0)
    rule.on_end = tl_max(1, scene->height_m * (double)scene->count / scene->diameters_m);
  rule.iterations = (int64_t)ceil(0.1 * rule.on_end / eps * (1 - 1e-12));
  return rule;
}

/* Friction at the points of a face resists its twisting. It is solved as one moment about the normal, M; contacts show
 * it as the forces that the points have in it, across their arms d from the centre of force and by their loads w,
 * w M n x d/(sum of w d^2): no force in the sum, and the moment M. Points far out have up to 2 mu w so. Where the load lies at one point, M has no arm: it is left out beyond that. */
static void spread_twist(const TlContact *c, int32_t count, TlVec3 *beside) {
  TlVec3 n = {0, 0, 0}, centre = {0, 0, 0}, moment = {0, 0, 0};
  double load = 0, inertia = 0, reach = 0;
  for (int32_t k = 0; k < count; k++) {
    double w = tl_max(0, c[k].rest.x);
    n = tl_axpy(n, w, c[k].n);
    centre = tl_axpy(centre, w, c[k].point);
    moment = tl_add(moment, c[k].moment);
    load += w;
  }
  if (!(load > 0) || !(tl_norm2(moment) > 0)) return;
  n = tl_unit(n);
  centre = tl_scale(1 / load, centre);
  for (int32_t k = 0; k < count; k++) {
    beside[k] = tl_cross(n, tl_sub(c[k].point, centre));
    if (!(c[k].rest.x > 0)) continue;
    inertia += c[k].rest.x * tl_norm2(beside[k]);
    reach = tl_max(reach, tl_norm(beside[k]));
  }
  double most = reach > 0 ? 2 * c->law->friction / reach : 0,
         turn = inertia > 0 ? tl_dot(moment, n) / inertia : 0;
  turn = tl_max(-most, tl_min(most, turn));
  for (int32_t k = 0; k < count; k++)
    beside[k] = tl_scale(turn * tl_max(0, c[k].rest.x), beside[k]);
}

static TlStatus contact_rows(const TlModel *model, const TlBodies *b, const TlWorkspace *s,
                             TlContactRow **rows, int64_t *count) {
  const TlContact *c = s->found.contact;
  int32_t contacts = s->found.contacts;
  TlVec3 *beside;
  TL_TRY(TL_NEW(beside, (size_t)contacts));
  for (int32_t k = 0, end; k < contacts; k = end) {
    end = tl_nonsmooth_patch_end(c, k, contacts);
    spread_twist(&c[k], end - k, &beside[k]);
  }
  TlStatus status = tl_step_rows_with(model, b, s, beside, rows, count);
  tl_free(beside);
  return status;
}

const TlMethodKind tl_method_nonsmooth = {.bears_force = true,
                                          .embeds = true,
                                          .resists = true,
                                          .reduces = true,
                                          .converges = true,
                                          .memory = TL_FORCES,
                                          .solves = TL_NS_KINDS | TL_KIND_BIT(TL_BONDS),
                                          .implicit_bonds = true,
                                          .check_section = tl_nonsmooth_check_section,
                                          .choose = tl_nonsmooth_choose,
                                          .configure = tl_nonsmooth_configure,
                                          .check = check,
                                          .reads = reads,
                                          .reach = tl_step_impulse_reach,
                                          .advise = advise,
                                          .check_bodies = check_bodies,
                                          .step = step_by_constraints,
                                          .contact_rows = contact_rows};
