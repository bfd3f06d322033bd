#include "dem/step_impl.h"

#include <math.h>

static void add_etm(TlEtmCount *sum, const TlEtmCount *one) {
  sum->impulses += one->impulses;
  if (one->rounds > sum->rounds) sum->rounds = one->rounds;
  sum->zero_finishes += one->zero_finishes;
  sum->unfinished += one->unfinished;
  sum->stored_J += one->stored_J;
  sum->released_J += one->released_J;
}

static void add_rest(TlRestCount *sum, const TlRestCount *one) {
  if (one->sweeps > sum->sweeps) sum->sweeps = one->sweeps;
  sum->unfinished += one->unfinished;
  sum->residual_m_s = fmax(sum->residual_m_s, one->residual_m_s);
}

/* ---- report ---- */

static void report_contacts(const TlFound *found, const TlBodies *b, TlStepReport *r) {
  for (int32_t i = 0; i < found->pairs; i++) {
    const TlPair *p = &found->pair[i];
    if (p->a >= b->owned) continue; /* the owner of the lower id counts it */
    for (int32_t k = 0; k < p->count; k++) {
      const TlContact *c = &found->contact[p->first + k];
      double *depth = p->b < 0 ? &r->boundary_overlap_m : &r->overlap_m,
             *share = p->b < 0 ? &r->boundary_overlap_share : &r->overlap_share;
      *depth = fmax(*depth, -c->gap);
      *share = fmax(*share, -c->gap / c->size);
    }
    r->contacts += p->count;
  }
}

/* Of driven boundaries, by the impulses of the step and by its end's correction: exact, so that it
 * does not matter which rank adds which part. */
static TlStatus report_wall_work(const TlSolver *s, const TlBodies *b, TlStepReport *r) {
  TlExact sum = s->push_work;
  bool driven = false;
  for (int k = 0; k < s->boundary_count; k++) driven |= s->boundary[k].drive != NULL;
  if (!driven) return TL_OK;
  for (int32_t i = 0; i < s->found.contacts; i++) {
    const TlContact *c = &s->found.contact[i];
    double work = c->b < 0 && c->a < b->owned ? tl_dot(c->wall, tl_step_impulse(c)) : 0;
    if (work != 0) tl_exact_add(&sum, work);
  }
  TL_TRY(tl_sync_sum_int(s->sync, sum.limb, TL_EXACT_LIMBS));
  r->wall_work_J = tl_exact_value(&sum);
  return TL_OK;
}

void tl_step_report_motion(const TlBodies *b, TlStepReport *r) {
  for (int64_t i = 0; i < b->owned; i++) {
    r->poor += b->flags[i] & TL_BODY_POOR ? 1 : 0;
    r->outside += b->flags[i] & TL_BODY_OUTSIDE ? 1 : 0;
    if (b->flags[i] & TL_BODY_FROZEN) continue;
    TlVec3 w = tl_bodies_spin(b, i);
    r->kinetic_J += 0.5 * b->mass[i] * tl_norm2(b->velocity[i]) + 0.5 * tl_dot(w, b->momentum[i]);
    r->speed_max_m_s = fmax(r->speed_max_m_s, tl_step_speed(b, i));
  }
}

TlStatus tl_step_report_ranks(const TlSync *sync, TlStepReport *r) {
  int64_t *counts[] = {&r->pairs,         &r->contacts,   &r->islands,         &r->impulses,
                       &r->zero_finishes, &r->unfinished, &r->rest_unfinished, &r->outside,
                       &r->node_tests,    &r->lookups,    &r->net_bonds,       &r->net_broken,
                       &r->node_lists,    &r->poor,       &r->jammed,          &r->touching,
                       &r->sliding,       &r->capped,     &r->moving};
  enum { COUNTS = sizeof counts / sizeof *counts };
  enum { REALS = 4 };
  double sums[COUNTS + REALS] = {r->kinetic_J, r->work_stored_J, r->work_released_J,
                                 r->net_elastic_J};
  for (int i = 0; i < COUNTS; i++) sums[REALS + i] = (double)*counts[i];
  TL_TRY(tl_sync_sum(sync, sums, COUNTS + REALS));
  for (int i = 0; i < COUNTS; i++) *counts[i] = (int64_t)sums[REALS + i];
  r->net_elastic_J = sums[3];
  r->kinetic_J = sums[0];
  r->work_stored_J = sums[1];
  r->work_released_J = sums[2];
  double most[] = {-r->overlap_m,
                   -r->overlap_share,
                   -r->boundary_overlap_m,
                   -r->boundary_overlap_share,
                   -r->speed_max_m_s,
                   -r->rest_residual_m_s,
                   -(double)r->rounds,
                   -(double)r->rest_sweeps,
                   -(double)r->largest_island,
                   r->stable_step_s > 0 ? r->stable_step_s : 1e30};
  TL_TRY(tl_sync_least(sync, most, sizeof most / sizeof *most));
  r->overlap_m = -most[0];
  r->overlap_share = -most[1];
  r->boundary_overlap_m = -most[2];
  r->boundary_overlap_share = -most[3];
  r->speed_max_m_s = -most[4];
  r->rest_residual_m_s = -most[5];
  r->rounds = (int64_t)-most[6];
  r->rest_sweeps = (int64_t)-most[7];
  r->largest_island = (int64_t)-most[8];
  r->stable_step_s = most[9];
  return TL_OK;
}

TlStatus tl_step_report(const TlSolver *s, const TlBodies *b, const TlGroups *groups,
                        const TlStageCounts *counts, TlStepReport *r) {
  TlEtmCount etm = {0};
  TlRestCount rest = {0};
  for (int32_t i = 0; i < groups->count; i++) {
    add_etm(&etm, &counts[i].etm);
    add_rest(&rest, &counts[i].rest);
  }
  r->step = s->steps;
  r->pairs = s->found.tested;
  r->lookups = s->found.lookups;
  r->node_tests = s->found.node_tests;
  r->node_lists = s->found.lists;
  r->islands = groups->islands;
  r->largest_island = groups->largest;
  r->impulses = etm.impulses;
  r->rounds = etm.rounds;
  r->zero_finishes = etm.zero_finishes;
  r->unfinished = etm.unfinished;
  r->work_stored_J = etm.stored_J;
  r->work_released_J = etm.released_J;
  r->rest_sweeps = rest.sweeps;
  r->rest_unfinished = rest.unfinished;
  r->rest_residual_m_s = rest.residual_m_s;
  report_contacts(&s->found, b, r);
  tl_step_report_motion(b, r);
  TL_TRY(report_wall_work(s, b, r));
  return tl_step_report_ranks(s->sync, r);
}
