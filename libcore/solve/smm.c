/* Simultaneous impulses (the method SMM that Tang 2014 compares with): all contacts of an island
 * collide at once. Those that approach at the start, u_n0 < 0, are a system of equations; the others
 * shall not approach in the end:
 *
 *   u_n = -e u_n0                                          of those that approach at the start
 *   P_n >= 0,  u_n >= 0,  P_n u_n = 0                      of the others (u_n less where a gap is left)
 *   |P_t| <= mu P_n, and u_t = -e_t u_t0 where it sticks, else P_t against u_t + e_t u_t0
 *
 * As equations hold with either sign of P_n, contacts may pull: that is what leaves a cube that
 * lands on the edge of another without spin (Tang 2014, Fig. 7). Where the equations have no
 * solution (contacts of different e that no rigid motion can obey all at once) the island is solved
 * with u_n >= -e u_n0 and P_n >= 0 in place of them. What has no end there either (a grain between
 * walls that close; friction in a dense pack, for whose laws Gauss-Seidel need not converge) is
 * finished by sequential impulses with e = 0, until none approaches, and counted.
 *
 * Solved by projected Gauss-Seidel over the impulses accumulated so far, from 0: a contact takes
 * the impulse that makes its lines true if that sticks, else u_n goes to its aim first and then
 * P_t by a projected step (rest.c says why). It is left alone while its own impulse would change
 * its velocity by less than FINE of the tolerance for approach, and the solve ends when all are;
 * after SWEEPS sweeps a round allowed the tolerance itself is enough.
 *
 * Newton's restitution, all at once: without friction the velocities are unique, whatever the order
 * of the contacts, and symmetric where the problem is; but no impulse travels through an island. A
 * contact that separates at first and is held at 0 adds energy, 1/2 P_n u_n0, and friction with e >
 * 0 may, too. Sliding friction opposes the velocity that the collision ends with.
 */
#include "solve/etm.h"

#include "model/ground_law.h"
#include "solve/step_impulses.h"
#include "solve/sweep.h"

#include <math.h>

enum { SWEEPS = 25 };
static const double FINE = 1e-6;

typedef struct Walk {
  const TlEtmLaw *law;
  const TlGroup *group;
  const TlDynamics *dynamics;
  double calm;        /* m/s: smaller changes are not made */
  bool sequential;    /* the finish */
  const double *open; /* [islands] those to solve: < 0; NULL: all */
} Walk;

/* ---- aims ---- */

/* c->aim is the whole velocity that the contact is to end with, c->start that before along n. */
static void aim(const TlEtmLaw *law, TlContact *c, const TlTwist *twist) {
  TlVec3 u = tl_contact_velocity(c, twist);
  double un = tl_contact_un(c, twist);
  c->start = un;
  c->aim = tl_scale(-c->allowed_speed, c->n);
  c->pulls = false;
  tl_etm_enters(c, law, twist, un);
  if (!(un < -c->allowed_speed - law->tolerance_m_s)) return;
  double e = -un < law->threshold_m_s ? 0 : tl_restitution_at(c->law, -un);
  c->pulls = c->in;
  c->aim = tl_axpy(tl_scale(-e * un, c->n), -c->law->tangential_restitution, tl_axpy(u, -un, c->n));
}

static void aim_all(const Walk *w) {
  const TlGroup *g = w->group;
  tl_etm_reset(g);
  for (int32_t i = 0; i < g->pairs; i++) {
    const TlPair *pair = &g->pair[i];
    for (int32_t k = 0; k < pair->count; k++)
      aim(w->law, &g->contact[pair->first + k], w->dynamics->twist);
  }
}

/* ---- one contact ---- */

/* The impulse that the contact should have by its own equations, while the others keep theirs. */
static TlVec3 wanted(TlContact *c, const TlDynamics *d) {
  TlVec3 p = c->impulse, n = c->n;
  double un = tl_contact_un(c, d->twist) - tl_dot(n, c->aim), mu = c->law->friction;
  double before = tl_dot(n, p), pn = before - un / c->knn;
  if (pn < 0 && !c->pulls) pn = 0;
  if (mu == 0 || (pn == 0 && tl_norm2(p) == 0)) return tl_scale(pn, n);
  tl_contact_want_matrix(c, d);
  TlVec3 miss = tl_sub(tl_contact_velocity(c, d->twist), c->aim);
  TlVec3 stick = tl_sub(p, tl_sym_vec(c->k_inverse, miss));
  double most = mu * tl_dot(n, stick);
  if (most > 0 && tl_norm2(tl_axpy(stick, -most / mu, n)) <= most * most) return stick;
  if (pn <= 0) return tl_scale(pn, n);
  tl_contact_want_tangents(c, d);
  miss = tl_axpy(miss, pn - before, tl_sym_vec(c->k, n)); /* as the normal part leaves it */
  TlVec3 pt = tl_axpy(tl_axpy(p, -before, n), -c->slide, tl_axpy(miss, -tl_dot(miss, n), n));
  double size = tl_norm(pt), keep = size > mu * pn ? mu * pn / size : 1;
  return tl_axpy(tl_scale(pn, n), keep, pt);
}

/* How much the contact's own impulse would change its velocity, m/s. */
static double change_of(const TlContact *c, TlVec3 change) {
  if (tl_norm2(change) == 0) return 0; /* K may not be made yet */
  return c->law->friction == 0 ? fabs(tl_dot(c->n, change)) * c->knn
                               : tl_norm(tl_sym_vec(c->k, change));
}

static bool finish(const Walk *w, TlContact *c) {
  double un = tl_contact_un(c, w->dynamics->twist);
  if (!(un < -c->allowed_speed - w->calm)) return false;
  tl_etm_compress(w->law, c, w->dynamics, -un);
  return true;
}

static bool resolve(const void *walk, const TlPair *pair, TlContact *c, TlPairMemo *memo) {
  const Walk *w = walk;
  (void)memo;
  if (w->open && w->open[pair->island] == 0) return false;
  const TlDynamics *d = w->dynamics;
  if (!tl_etm_enters(c, w->law, d->twist, tl_contact_un(c, d->twist))) return false;
  if (w->sequential) return finish(w, c);
  TlVec3 next = wanted(c, d), change = tl_sub(next, c->impulse);
  if (!(change_of(c, change) > w->calm)) return false;
  tl_contact_apply(c, d, change);
  c->impulse = next;
  c->touched = true;
  return true;
}

/* ---- sweeps ---- */

static TlTally visit(const void *walk, int k, int32_t from, int32_t to) {
  const Walk *w = walk;
  (void)k;
  return tl_visit_contacts(w->group, w->dynamics->twist, resolve, w, from, to);
}

/* ---- what has not come to its end ---- */

static bool contact_open(const Walk *w, TlContact *c) {
  double most = w->law->tolerance_m_s;
  if (!c->in) return false;
  if (w->sequential) return tl_contact_un(c, w->dynamics->twist) < -c->allowed_speed - most;
  return change_of(c, tl_sub(wanted(c, w->dynamics), c->impulse)) > most;
}

static bool pair_open(const Walk *w, const TlPair *pair) {
  for (int32_t i = 0; i < pair->count; i++)
    if (contact_open(w, &w->group->contact[pair->first + i])) return true;
  return false;
}

/* Of the islands that were to be solved those in which a contact is off by more than the tolerance,
 * on any rank, stay open. *going: there is one; *count: those that are this rank's to count. */
static TlStatus look(Walk *w, int *going, int64_t *count) {
  const TlGroup *g = w->group;
  double *open = g->scratch, *still = open + g->islands;
  TL_TRY(tl_group_share(g, w->dynamics->twist));
  for (int32_t i = 0; i < g->islands; i++) still[i] = 0;
  for (int32_t i = 0; i < g->pairs; i++) {
    const TlPair *pair = &g->pair[i];
    if (w->open && open[pair->island] == 0) continue;
    if (still[pair->island] == 0 && pair_open(w, pair)) still[pair->island] = -1;
  }
  TL_TRY(tl_group_least(g, still));
  *going = 0;
  for (int32_t i = 0; i < g->islands; i++) {
    open[i] = still[i];
    *going |= open[i] < 0;
  }
  w->open = open;
  *count = tl_group_count(g, open);
  return TL_OK;
}

/* The pairs of the open islands are looked at again, and their contacts no longer pull. */
static void take_up(const Walk *w) {
  const TlGroup *g = w->group;
  for (int32_t i = 0; i < g->pairs; i++) {
    const TlPair *pair = &g->pair[i];
    g->memo[i].hits_a = -1;
    for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
      TlContact *c = &g->contact[k];
      if (w->open[pair->island] == 0) continue;
      c->pulls = false;
      if (w->sequential) c->aim = (TlVec3){0, 0, 0};
    }
  }
}

/* ---- all ---- */

/* The normal impulse's work is 1/2 P_n (u_n0 + u_n): what was stored until u_n = 0 less what was
 * released from there on. A contact that separated at first stores nothing. */
static void book(const TlContact *c, TlEtmCount *count) {
  double pn = tl_dot(c->n, c->impulse), un = tl_dot(c->n, c->aim);
  if (pn == 0) return;
  if (c->start < 0 && un >= 0) {
    double stored = 0.5 * pn * c->start * c->start / (un - c->start), e = un / c->start;
    count->stored_J += stored;
    count->released_J += e * e * stored;
  } else {
    count->released_J += 0.5 * pn * (c->start + un);
  }
}

/* Equations, inequalities in place of them, the finish. */
enum { STAGES = 3 };

TlStatus tl_smm(const TlEtmLaw *law, const TlGroup *g, const TlDynamics *dynamics,
                TlEtmCount *count) {
  Walk w = {.law = law, .group = g, .dynamics = dynamics, .calm = FINE * law->tolerance_m_s};
  TlSweeps sweeps = {g, dynamics->twist, sizeof *dynamics->twist, NULL, visit, &w, TL_VISIT_NS};
  TlTally tally = {0};
  int stage = 0;
  aim_all(&w);
  for (int going = 1; going && stage < STAGES; stage++) {
    int64_t open;
    TL_TRY(tl_sweeps_run(&sweeps, 1, 1, SWEEPS * law->max_rounds, &tally));
    if (!(going = tally.open)) continue;
    TL_TRY(look(&w, &going, &open));
    if (w.sequential) count->unfinished += open;
    if (stage == STAGES - 2) {
      count->zero_finishes += open;
      tl_etm_mark_stuck(law, g, dynamics->twist, w.open);
      w.sequential = true;
      w.calm = law->tolerance_m_s;
    }
    take_up(&w);
  }
  if (tally.impulses > 0 && count->rounds < stage) count->rounds = stage;
  count->impulses += tally.impulses;
  for (int32_t i = 0; i < g->pairs; i++) {
    const TlPair *pair = &g->pair[i];
    for (int32_t k = 0; k < pair->count; k++) book(&g->contact[pair->first + k], count);
  }
  return TL_OK;
}

const TlMethodKind tl_method_smm = {TL_BY_IMPULSES(tl_smm)};
