#include "solve/step_report.h"

#include "solve/sleep.h"

#include <math.h>
#include <string.h>

static void add_etm(TlEtmCount *sum, const TlEtmCount *one, TlStepSums *sums) {
  sum->impulses += one->impulses;
  if (one->rounds > sum->rounds) sum->rounds = one->rounds;
  sum->zero_finishes += one->zero_finishes;
  sum->unfinished += one->unfinished;
  tl_exact_add(&sums->work_stored_J, one->stored_J);
  tl_exact_add(&sums->work_released_J, one->released_J);
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
      if (tl_sleep_contact(b, c)) continue; /* tl_sleep_report has it */
      r->contacts++;
      double *depth = p->b < 0 ? &r->boundary_overlap_m : &r->overlap_m,
             *most_of_radius = p->b < 0 ? &r->boundary_overlap_share : &r->overlap_share;
      *depth = fmax(*depth, -c->gap);
      *most_of_radius = fmax(*most_of_radius, -c->gap / c->size);
    }
  }
}

/* Of driven boundaries, by the impulses of the step; its end's correction has added its part. */
static void add_wall_work(TlStep *s) {
  const TlModel *m = s->model;
  const TlBodies *b = &s->state->bodies;
  const TlFound *found = &s->work->found;
  bool driven = false;
  for (int k = 0; k < m->boundary_count; k++) driven |= m->boundary[k].drive != NULL;
  for (int32_t i = 0; driven && i < found->contacts; i++) {
    const TlContact *c = &found->contact[i];
    double work = c->b < 0 && c->a < b->owned ? tl_dot(c->wall, tl_step_impulse(c)) : 0;
    if (work != 0) tl_exact_add(&s->sums.wall_work_J, work);
  }
}

static void report_motion(TlStep *s, bool kinetic, TlStepReport *r) {
  const TlBodies *b = &s->state->bodies;
  for (int64_t i = 0; i < b->owned; i++) {
    r->embedded += b->flags[i] & TL_BODY_EMBEDDED ? 1 : 0;
    r->outside += b->flags[i] & TL_BODY_OUTSIDE ? 1 : 0;
    if (b->flags[i] & TL_BODY_FROZEN || b->asleep[i]) continue;
    if (kinetic) {
      TlVec3 w = tl_bodies_spin(b, i);
      tl_exact_add(&s->sums.kinetic_J,
                   0.5 * b->mass[i] * tl_norm2(b->velocity[i]) + 0.5 * tl_dot(w, b->momentum[i]));
    }
    r->speed_max_m_s = fmax(r->speed_max_m_s, tl_step_speed(b, i));
  }
}

/* ---- over the ranks ---- */

#define F(...) TL_FIELD(TlStepReport, __VA_ARGS__)
static const TlRecordField fields[] = {TL_STEP_REPORT_LIST(F, F)};
#undef F
enum { FIELDS = sizeof fields / sizeof *fields };
const TlRecord tl_step_report_record =
    TL_RECORD("step report", "What a step tells, over all ranks; the attribute says how.",
              TlStepReport, fields);

static const double NO_STEP_S = 1e30; /* of a rank where no body sets the longest stable step */

enum { SUMS = sizeof(TlStepSums) / sizeof(TlExact) };

static bool is_empty(const TlExact *sum) {
  for (int k = 0; k < TL_EXACT_LIMBS; k++)
    if (sum->limb[k]) return false;
  return true;
}

/* Two exchanges. The first one, of reals, has largest and least values, the largest as the least of
 * their negatives, and says which exact sums are empty on all ranks: most are, in most methods. The
 * second one, of integers, has counts and the sums that are not. */
TlStatus tl_step_report_ranks(const TlSync *sync, const TlStepSums *rank, TlStepReport *r) {
  double least[FIELDS];
  int64_t whole[FIELDS + SUMS * TL_EXACT_LIMBS];
  const TlExact *sum = (const TlExact *)rank;
  int reals = 0, integers = 0, sums = 0;
  if (!(r->stable_step_s > 0 && r->stable_step_s < NO_STEP_S)) r->stable_step_s = NO_STEP_S;
  for (int k = 0; k < FIELDS; k++) {
    const TlRecordField *f = &fields[k];
    const void *at = (const unsigned char *)r + f->offset;
    double value = f->kind == TL_FIELD_I64 ? (double)*(const int64_t *)at : *(const double *)at;
    if (f->attributes & TL_SUM) whole[integers++] = *(const int64_t *)at;
    if (f->attributes & TL_MOST) least[reals++] = -value;
    if (f->attributes & TL_LEAST) least[reals++] = value;
    if (f->attributes & TL_EXACT_SUM) least[reals++] = is_empty(&sum[sums++]) ? 0 : -1;
  }
  TL_TRY(tl_sync_least(sync, least, reals));
  reals = sums = 0;
  for (int k = 0; k < FIELDS; k++) {
    const TlRecordField *f = &fields[k];
    void *at = (unsigned char *)r + f->offset;
    if (!(f->attributes & (TL_MOST | TL_LEAST | TL_EXACT_SUM))) continue;
    double value = f->attributes & TL_MOST ? -least[reals] : least[reals];
    reals++;
    if (f->attributes & TL_EXACT_SUM) {
      *(double *)at = value; /* < 0: to be summed */
      if (value < 0) {
        memcpy(&whole[integers], &sum[sums], sizeof *sum);
        integers += TL_EXACT_LIMBS;
      }
      sums++;
    } else if (f->kind == TL_FIELD_I64) {
      *(int64_t *)at = (int64_t)value;
    } else {
      *(double *)at = value;
    }
  }
  TL_TRY(tl_sync_sum_int(sync, whole, integers));
  integers = 0;
  for (int k = 0; k < FIELDS; k++)
    if (fields[k].attributes & TL_SUM)
      *(int64_t *)((unsigned char *)r + fields[k].offset) = whole[integers++];
  for (int k = 0; k < FIELDS; k++) {
    double *at = (double *)((unsigned char *)r + fields[k].offset);
    if (!(fields[k].attributes & TL_EXACT_SUM) || !(*at < 0)) continue;
    TlExact all;
    memcpy(&all, &whole[integers], sizeof all);
    *at = tl_exact_value(&all);
    integers += TL_EXACT_LIMBS;
  }
  return TL_OK;
}

TlStatus tl_step_report_audited(TlStep *s, TlStepReport *r) {
  TlAudit *audit = s->work->audit;
  tl_audit_work(audit, TL_AUDIT_SEARCH, r->lookups);
  tl_audit_work(audit, TL_AUDIT_MOVE, s->state->bodies.owned);
  tl_audit_work(audit, TL_AUDIT_GHOSTS, s->state->bodies.total - s->state->bodies.owned);
  tl_audit_enter(audit, TL_AUDIT_SUMS);
  return tl_step_report_ranks(s->sync, &s->sums, r);
}

TlStatus tl_step_report_found(TlStep *s, bool kinetic, TlStepReport *r) {
  const TlFound *found = &s->work->found;
  r->step = s->state->steps;
  r->pairs = found->tested;
  r->lookups = found->lookups;
  r->node_tests = found->node_tests;
  r->node_lists = found->lists;
  report_contacts(found, &s->state->bodies, r);
  tl_sleep_report(s, r);
  report_motion(s, kinetic, r);
  return tl_step_report_audited(s, r);
}

TlStatus tl_step_report_impulses(TlStep *s, const TlGroups *groups, const TlStageCounts *counts,
                                 TlStepReport *r) {
  TlEtmCount etm = {0};
  TlRestCount rest = {0};
  TlAudit *audit = s->work->audit;
  for (int32_t i = 0; i < groups->count; i++) {
    tl_audit_work(audit, TL_AUDIT_ISLANDS, groups->group[i].pairs);
    tl_audit_work(audit, TL_AUDIT_COLLISIONS, counts[i].etm.impulses);
    tl_audit_work(audit, TL_AUDIT_RESTING, groups->group[i].pairs * counts[i].rest.sweeps);
    add_etm(&etm, &counts[i].etm, &s->sums);
    add_rest(&rest, &counts[i].rest);
  }
  r->islands = groups->islands;
  r->largest_island = groups->largest;
  r->impulses = etm.impulses;
  r->rounds = etm.rounds;
  r->zero_finishes = etm.zero_finishes;
  r->unfinished = etm.unfinished;
  r->rest_sweeps = rest.sweeps;
  r->rest_unfinished = rest.unfinished;
  r->rest_residual_m_s = rest.residual_m_s;
  add_wall_work(s);
  return tl_step_report_found(s, true, r);
}
