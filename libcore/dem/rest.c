#include "dem/rest.h"

#include <math.h>

enum { PARALLEL_FROM = 192 };
static const double CALM = 0.1;               /* of the tolerance */
static const double POSITION_TOLERANCE = 0.1; /* slops */

static void rest_apply(const TlContact *c, const TlDynamics *d, double n, double t1, double t2) {
  tl_contact_apply(c, d, tl_axpy(tl_axpy(tl_scale(n, c->n), t1, c->t1), t2, c->t2));
}

static double relax_normal(TlContact *c, const TlDynamics *d) {
  double un = tl_contact_un(c, d->twist);
  double next = fmax(0, c->rest.x - (un + c->allowed_speed) / c->knn), change = next - c->rest.x;
  if (change == 0) return 0;
  rest_apply(c, d, change, 0, 0);
  c->rest.x = next;
  return fabs(change) * c->knn;
}

/* Stick when the impulse that stops the tangential velocity lies in the disc. Else slide by the
 * projected step l <- P(l - u/k) with one scalar k: its fixed point is opposite to u. Projecting
 * the exact 2x2 solution instead turns friction off the direction of sliding wherever K is not the
 * same in all directions: a block on an incline keeps 2.5% of mu N too little. */
static double relax_tangent(TlContact *c, const TlDynamics *d) {
  if (c->rest.x == 0 && c->rest.y == 0 && c->rest.z == 0) return 0;
  tl_contact_want_tangents(c, d);
  TlVec3 u = tl_contact_velocity(c, d->twist);
  double u1 = tl_dot(u, c->t1), u2 = tl_dot(u, c->t2), most = c->friction * c->rest.x;
  double l1 = c->rest.y - (c->t11 * u1 + c->t12 * u2), l2 = c->rest.z - (c->t12 * u1 + c->t22 * u2);
  if (l1 * l1 + l2 * l2 > most * most) {
    l1 = c->rest.y - c->slide * u1;
    l2 = c->rest.z - c->slide * u2;
    double size = sqrt(l1 * l1 + l2 * l2), keep = size > most ? most / size : 1;
    l1 *= keep;
    l2 *= keep;
  }
  double d1 = l1 - c->rest.y, d2 = l2 - c->rest.z;
  if (d1 == 0 && d2 == 0) return 0;
  rest_apply(c, d, 0, d1, d2);
  c->rest.y = l1;
  c->rest.z = l2;
  return sqrt(d1 * d1 + d2 * d2) / c->slide;
}

typedef struct Walk {
  const TlGroup *group;
  const TlDynamics *dynamics;
  double *open; /* [islands] minus the largest change of the sweep; 0: done, left alone */
  const TlPositionLaw *position;
  double calm; /* m/s: a pair that changed less stirs no neighbour */
} Walk;

typedef double (*Visit)(const Walk *walk, TlContact *contact);

static double visit_rest(const Walk *w, TlContact *c) {
  double normal = relax_normal(c, w->dynamics);
  return fmax(normal, relax_tangent(c, w->dynamics));
}

static double visit_warm(const Walk *w, TlContact *c) {
  if (c->touched) c->rest = (TlVec3){0, 0, 0}; /* a new impact: last step's force says nothing */
  if (c->rest.x > 0) rest_apply(c, w->dynamics, c->rest.x, c->rest.y, c->rest.z);
  return 0;
}

/* Largest change over the pair's points. */
static double visit_pair(const Walk *w, const TlPair *pair, Visit visit) {
  double change = 0;
  for (int32_t k = 0; k < pair->count; k++)
    change = fmax(change, visit(w, &w->group->contact[pair->first + k]));
  return change;
}

/* ---- pairs left alone ----
 *
 * A pair is visited again when an impulse reached one of its bodies since, or when its own last
 * visit changed more than `calm`; smaller changes do not count as impulses. One rocking grain then
 * costs a sweep over its neighbours, not over the heap it lies on. */

static double hits_of(const Walk *w, int32_t body) {
  return body >= 0 ? w->dynamics->twist[body].hit : 0;
}

static bool unchanged(const Walk *w, const TlPair *pair, const TlPairMemo *memo) {
  return memo->hits_a == hits_of(w, pair->a) && memo->hits_b == hits_of(w, pair->b);
}

static void unhit(const Walk *w, int32_t body, double hits) {
  if (body >= 0 && w->dynamics->inverse_mass[body] > 0) w->dynamics->twist[body].hit = hits;
}

static double visit_stirred(const Walk *w, const TlPair *pair, TlPairMemo *memo, Visit visit) {
  if (unchanged(w, pair, memo)) return 0;
  double a = hits_of(w, pair->a), b = hits_of(w, pair->b);
  double change = visit_pair(w, pair, visit);
  if (change < w->calm) {
    unhit(w, pair->a, a);
    unhit(w, pair->b, b);
    memo->hits_a = a;
    memo->hits_b = b;
  }
  return change;
}

static void forget(const TlGroup *g) {
  for (int32_t i = 0; i < g->colour_start[g->colours]; i++) g->memo[i].hits_a = -1;
}

/* active: islands to visit (NULL: all). Changes go, negative, to result[island]. */
static TlStatus sweep(const Walk *w, Visit visit, const double *active, double *result) {
  const TlGroup *g = w->group;
  for (int32_t colour = 0; colour < g->colours; colour++) {
    int32_t from = g->colour_start[colour], to = g->colour_start[colour + 1];
    double least = 0; /* a local group is one island: its result needs no array */
#pragma omp parallel for schedule(static) reduction(min : least) if (to - from >= PARALLEL_FROM)
    for (int32_t i = from; i < to; i++) {
      const TlPair *pair = &g->pair[g->order[i]];
      if (active && active[pair->island] == 0) continue;
      double change =
          w->calm > 0 ? -visit_stirred(w, pair, &g->memo[i], visit) : -visit_pair(w, pair, visit);
      least = fmin(least, change);
      if (g->islands > 1 && change < 0) {
#pragma omp critical(tl_rest_island)
        result[pair->island] = fmin(result[pair->island], change);
      }
    }
    if (g->islands == 1) result[0] = fmin(result[0], least);
    TL_TRY(tl_sync_forward(g->sync, w->dynamics->twist, sizeof *w->dynamics->twist));
  }
  return TL_OK;
}

static double least_of(const double *value, int32_t count) {
  double least = 0;
  for (int32_t i = 0; i < count; i++) least = fmin(least, value[i]);
  return least;
}

TlStatus tl_rest_solve(const TlRestLaw *law, const TlGroup *g, const TlDynamics *dynamics,
                       TlRestCount *count) {
  double *open = g->scratch, *change = g->scratch + g->islands;
  Walk w = {.group = g, .dynamics = dynamics, .open = open};
  for (int32_t i = 0; i < g->islands; i++) change[i] = 0;
  TL_TRY(sweep(&w, visit_warm, NULL, change));
  for (int32_t i = 0; i < g->islands; i++) open[i] = -1;
  forget(g);
  w.calm = CALM * law->tolerance_m_s;
  int sweeps = 0, going = law->sweeps > 0;
  while (going && sweeps < law->sweeps) {
    for (int32_t i = 0; i < g->islands; i++) change[i] = 0;
    TL_TRY(sweep(&w, visit_rest, open, change));
    TL_TRY(tl_group_least(g, change));
    sweeps++;
    going = 0;
    for (int32_t i = 0; i < g->islands; i++) {
      open[i] = change[i] < -law->tolerance_m_s ? change[i] : 0;
      going |= open[i] < 0;
    }
    TL_TRY(tl_sync_any(g->sync, &going));
  }
  if (sweeps > count->sweeps) count->sweeps = sweeps;
  for (int32_t i = 0; i < g->islands; i++) count->unfinished += open[i] < 0;
  count->residual_m_s = fmax(count->residual_m_s, -least_of(change, g->islands));
  return TL_OK;
}

/* ---- position rule ---- */

/* Speed that the pseudo-velocities owe along n so that the step ends where it should: overlap
 * beyond the slop less by `rate`, and none deeper than the slop where there was none. The real
 * velocities count: what they leave undone (a solve that stopped early, a wall that pushed) is
 * owed here. */
static double owed_speed(const Walk *w, const TlContact *c) {
  const TlPositionLaw *law = w->position;
  double slop = law->slop * c->size, wanted = -(c->gap + slop);
  if (wanted > 0) wanted = fmin(law->rate * wanted, 0.1 * c->size);
  return wanted / law->step_s - (law->real ? tl_contact_un(c, law->real->twist) : 0);
}

/* In slops. */
static double visit_owed(const Walk *w, TlContact *c) {
  c->push = 0;
  c->owed = owed_speed(w, c);
  return fmax(0, c->owed * w->position->step_s / (w->position->slop * c->size));
}

static double visit_position(const Walk *w, TlContact *c) {
  double next = fmax(0, c->push + (c->owed - tl_contact_pseudo_un(c, w->dynamics->twist)) / c->knn);
  double change = next - c->push;
  c->push = next;
  if (change == 0) return 0;
  tl_contact_apply(c, w->dynamics, tl_scale(change, c->n));
  return fabs(change) * c->knn * w->position->step_s / (w->position->slop * c->size);
}

static int still_open(double *open, const double *change, int32_t islands, double least) {
  int going = 0;
  for (int32_t i = 0; i < islands; i++) {
    open[i] = change[i] < -least ? change[i] : 0;
    going |= open[i] < 0;
  }
  return going;
}

TlStatus tl_position_solve(const TlPositionLaw *law, const TlGroup *g, const TlDynamics *pseudo) {
  double *open = g->scratch, *change = g->scratch + g->islands;
  Walk w = {.group = g, .dynamics = pseudo, .open = open, .position = law};
  for (int32_t i = 0; i < g->islands; i++) change[i] = 0;
  TL_TRY(sweep(&w, visit_owed, NULL, change));
  double least = fmax(law->opens_at, POSITION_TOLERANCE);
  for (int sweeps = 0;; sweeps++) {
    TL_TRY(tl_group_least(g, change));
    int going = still_open(open, change, g->islands, sweeps ? POSITION_TOLERANCE : least);
    TL_TRY(tl_sync_any(g->sync, &going));
    if (!going || sweeps == law->sweeps) return TL_OK;
    for (int32_t i = 0; i < g->islands; i++) change[i] = 0;
    TL_TRY(sweep(&w, visit_position, open, change)); /* closed islands stay at 0, closed */
  }
}
