#include "solve/rest.h"
#include "solve/asking.h"
#include "solve/beyond.h"
#include "solve/sweep.h"

#include <math.h>

static const double PAIR_NS = 300;            /* a visit to a pair, about */
static const double CALM = 0.1;               /* of the tolerance */
static const double POSITION_TOLERANCE = 0.1; /* slops */
/* Tolerances: an island whose sweeps change less makes no steps beyond them. Near the end they bring the change of a
 * sweep down faster than the error, and a stack at rest moved four times as fast. Nor does one in its first sweeps: of
 * a large one the change of the first alone is known then, and that is large in heaps at rest, too. */
static const double REST_FAR = 100, POSITION_FAR = 10;
enum { FIRST_SWEEPS = 4 };

/* What a sweep reads of a contact. The contact itself also holds what impacts, the search and
 * reports need, four times as much, and a sweep of a large island waits for memory most of its
 * time: so the sweeps work on a copy, kept while a solve lasts. */
typedef struct RestPoint {
  TlVec3 n, t1, ra;
  TlVec3 rb; /* the velocity of the boundary where there is no body b */
  TlVec3 impulse;
  double knn, t11, t12, t22, slide, friction, allowed_speed;
} RestPoint;
_Static_assert(sizeof(RestPoint) <= TL_SWEEP_BYTES,
               "a contact fits into the scratch of the sweeps");

/* The same of the position rule. */
typedef struct PushPoint {
  TlVec3 n, ran, rbn;
  double knn, push, owed;
  double slops; /* 1/(slop/dt): from velocities to slops a step */
} PushPoint;
_Static_assert(sizeof(PushPoint) <= TL_SWEEP_BYTES,
               "a contact fits into the scratch of the sweeps");

/* A body while one pair is visited: its points all push the same two, so these are read and
 * written once. hits: impulses that reached it. */
typedef struct Mover {
  TlVec3 v, w;
  double inverse_mass, hits;
  TlSym3 inverse_inertia;
} Mover;

typedef struct Couple {
  Mover a, b; /* b at rest and fixed where the pair has no body b */
  bool at_boundary;
} Couple;

/* What steps beyond sweeps know of a contact: its impulse before the sweep at hand, and what that changed it by. */
typedef struct RestChange {
  TlVec3 before, by;
} RestChange;
_Static_assert(sizeof(RestChange) <= TL_COMPARE_BYTES,
               "a contact fits into the scratch of comparisons");
typedef struct PushChange {
  double before, by;
} PushChange;
_Static_assert(sizeof(PushChange) <= TL_COMPARE_BYTES,
               "a contact fits into the scratch of comparisons");

typedef struct Walk Walk;
/* Largest change over the pair's points. */
typedef double (*Visit)(const Walk *walk, const TlPair *pair, Couple *couple);

/* What a visit changed, an energy: its square, and its product with what the one compared before changed. */
typedef struct Compared {
  double square, with_last;
} Compared;

/* Of one of the two solves: a visit of a sweep, what is noted before it where it is compared, and then compared; a
 * visit of a step beyond sweeps. */
typedef struct Law {
  Visit visit;
  void (*note)(const Walk *walk, const TlPair *pair);
  Compared (*compare)(const Walk *walk, const TlPair *pair);
  Visit further;
} Law;

struct Walk {
  const TlGroup *group;
  const TlDynamics *dynamics;
  const TlPositionLaw *position;
  RestPoint *rest; /* by contact, either of them */
  PushPoint *push;
  RestChange *rest_change; /* likewise */
  PushChange *push_change;
  double *open; /* [islands] minus the largest change of the sweep; 0: done, left alone */
  double calm;  /* m/s: a pair that changed less stirs no neighbour */
  const Law *law;
  TlBeyond beyond;
  /* of the sweep at hand */
  Visit visit;
  const double *active; /* [islands] to visit: not 0; NULL: all */
  bool changes_nothing; /* no velocity */
  bool compares;        /* it is one of those that tell how to move on */
};

static Mover mover(const TlDynamics *d, int32_t body) {
  if (body < 0) return (Mover){.v = {0, 0, 0}};
  return (Mover){.v = d->twist[body].v,
                 .w = d->twist[body].w,
                 .inverse_mass = d->inverse_mass[body],
                 .inverse_inertia = d->inverse_inertia[body]};
}

/* Cells of one phase may share a fixed body: never write it. */
static void settle(const TlDynamics *d, int32_t body, const Mover *m, bool stirs) {
  if (body < 0 || m->hits == 0 || m->inverse_mass == 0) return;
  d->twist[body].v = m->v;
  d->twist[body].w = m->w;
  if (stirs) d->twist[body].hit += m->hits;
}

static void kick(Mover *m, double sign, TlVec3 r, TlVec3 impulse) {
  m->v = tl_axpy(m->v, sign * m->inverse_mass, impulse);
  m->w = tl_axpy(m->w, sign, tl_sym_vec(m->inverse_inertia, tl_cross(r, impulse)));
  m->hits += 1;
}

/* ---- rest ---- */

static TlVec3 rest_velocity(const RestPoint *p, const Couple *c) {
  TlVec3 u = tl_add(c->a.v, tl_cross(c->a.w, p->ra));
  return tl_sub(u, c->at_boundary ? p->rb : tl_add(c->b.v, tl_cross(c->b.w, p->rb)));
}

static void rest_push(const RestPoint *p, Couple *c, TlVec3 impulse) {
  kick(&c->a, 1, p->ra, impulse);
  if (!c->at_boundary) kick(&c->b, -1, p->rb, impulse);
}

static double relax_normal(RestPoint *p, Couple *c) {
  double un = tl_dot(p->n, rest_velocity(p, c));
  double next = tl_max(0, p->impulse.x - (un + p->allowed_speed) / p->knn);
  double change = next - p->impulse.x;
  if (change == 0) return 0;
  rest_push(p, c, tl_scale(change, p->n));
  p->impulse.x = next;
  return fabs(change) * p->knn;
}

/* Stick when the impulse that stops the tangential velocity lies in the disc. Else slide by the
 * projected step l <- P(l - u/k) with one scalar k: its fixed point is opposite to u. Projecting
 * the exact 2x2 solution instead turns friction off the direction of sliding wherever K is not the
 * same in all directions: a block on an incline keeps 2.5% of mu N too little. */
static double relax_tangent(RestPoint *p, Couple *c) {
  TlVec3 *l = &p->impulse;
  if (l->x == 0 && l->y == 0 && l->z == 0) return 0;
  TlVec3 u = rest_velocity(p, c), t2 = tl_cross(p->n, p->t1);
  double u1 = tl_dot(u, p->t1), u2 = tl_dot(u, t2), most = p->friction * l->x;
  double l1 = l->y - (p->t11 * u1 + p->t12 * u2), l2 = l->z - (p->t12 * u1 + p->t22 * u2);
  if (l1 * l1 + l2 * l2 > most * most) {
    l1 = l->y - p->slide * u1;
    l2 = l->z - p->slide * u2;
    double size = sqrt(l1 * l1 + l2 * l2), keep = size > most ? most / size : 1;
    l1 *= keep;
    l2 *= keep;
  }
  double d1 = l1 - l->y, d2 = l2 - l->z;
  if (d1 == 0 && d2 == 0) return 0;
  rest_push(p, c, tl_axpy(tl_scale(d1, p->t1), d2, t2));
  l->y = l1;
  l->z = l2;
  return sqrt(d1 * d1 + d2 * d2) / p->slide;
}

/* Most points never carry load: tangents are made when one first does. */
static void take_tangents(const Walk *w, int32_t k) {
  TlContact *c = &w->group->contact[k];
  RestPoint *p = &w->rest[k];
  tl_contact_want_tangents(c, w->dynamics);
  p->t1 = c->t1;
  p->t11 = c->t11;
  p->t12 = c->t12;
  p->t22 = c->t22;
  p->slide = c->slide;
}

static double visit_rest(const Walk *w, const TlPair *pair, Couple *c) {
  double change = 0;
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    change = tl_max(change, relax_normal(&w->rest[k], c));
    if (w->rest[k].slide == 0 && w->rest[k].impulse.x != 0) take_tangents(w, k);
    change = tl_max(change, relax_tangent(&w->rest[k], c));
  }
  return change;
}

static RestPoint rest_point(const TlContact *c) {
  RestPoint p = {.n = c->n,
                 .t1 = c->t1,
                 .ra = c->ra,
                 .rb = c->b < 0 ? c->wall : c->rb,
                 .impulse = c->rest,
                 .knn = c->knn,
                 .t11 = c->t11,
                 .t12 = c->t12,
                 .t22 = c->t22,
                 .slide = c->slide,
                 .friction = c->law->friction,
                 .allowed_speed = c->allowed_speed};
  if (c->touched) p.impulse = (TlVec3){0, 0, 0}; /* a new impact: last step's force says nothing */
  return p;
}

/* Also makes the copy. */
static double visit_warm(const Walk *w, const TlPair *pair, Couple *c) {
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    RestPoint *p = &w->rest[k];
    *p = rest_point(&w->group->contact[k]);
    TlVec3 l = p->impulse, t2 = tl_cross(p->n, p->t1);
    if (l.x > 0) rest_push(p, c, tl_axpy(tl_axpy(tl_scale(l.x, p->n), l.y, p->t1), l.z, t2));
  }
  return 0;
}

static void note_rest(const Walk *w, const TlPair *pair) {
  for (int32_t k = pair->first; k < pair->first + pair->count; k++)
    w->rest_change[k].before = w->rest[k].impulse;
}

static Compared compare_rest(const Walk *w, const TlPair *pair) {
  Compared sum = {0, 0};
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    const RestPoint *p = &w->rest[k];
    RestChange *c = &w->rest_change[k];
    TlVec3 by = tl_sub(p->impulse, c->before);
    double stiff = p->slide > 0 ? 1 / p->slide : 0;
    sum.square += p->knn * by.x * by.x + stiff * (by.y * by.y + by.z * by.z);
    sum.with_last += p->knn * by.x * c->by.x + stiff * (by.y * c->by.y + by.z * c->by.z);
    c->by = by;
  }
  return sum;
}

/* Contacts that bear nothing stay so; friction keeps within its disc. */
static double rest_further(const Walk *w, const TlPair *pair, Couple *c) {
  double beta = w->beyond.beta[pair->island];
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    RestPoint *p = &w->rest[k];
    if (p->impulse.x == 0 && p->impulse.y == 0 && p->impulse.z == 0) continue;
    TlVec3 next = tl_axpy(p->impulse, beta, w->rest_change[k].by);
    next.x = tl_max(0, next.x);
    double most = p->friction * next.x, size = sqrt(next.y * next.y + next.z * next.z);
    if (size > most) {
      next.y *= most / size;
      next.z *= most / size;
    }
    TlVec3 by = tl_sub(next, p->impulse), t2 = tl_cross(p->n, p->t1);
    if (by.x == 0 && by.y == 0 && by.z == 0) continue;
    rest_push(p, c, tl_axpy(tl_axpy(tl_scale(by.x, p->n), by.y, p->t1), by.z, t2));
    p->impulse = next;
  }
  return 0;
}

static const Law rest_law = {visit_rest, note_rest, compare_rest, rest_further};

/* ---- pairs left alone ----
 *
 * A pair is visited again when an impulse reached one of its bodies since, or when its own last
 * visit changed more than `calm`; smaller changes do not count as impulses. One rocking grain then
 * costs a sweep over its neighbours, not over the heap it lies on. */

static double visit_pair(const Walk *w, const TlPair *pair, TlPairMemo *memo) {
  const TlTwist *twist = w->dynamics->twist;
  if (w->calm > 0 && tl_memo_unchanged(memo, pair, twist)) return 0;
  double a = tl_memo_hits(twist, pair->a), b = tl_memo_hits(twist, pair->b);
  Couple couple = {mover(w->dynamics, pair->a), mover(w->dynamics, pair->b), pair->b < 0};
  double change = w->visit(w, pair, &couple);
  bool stirs = !(change < w->calm);
  settle(w->dynamics, pair->a, &couple.a, stirs);
  settle(w->dynamics, pair->b, &couple.b, stirs);
  if (!stirs) {
    memo->hits_a = a;
    memo->hits_b = b;
  }
  return change;
}

/* Notes what the visit changes, too, in the sweeps that tell how to move on. */
static double visit_open(const Walk *w, int32_t at) {
  const TlGroup *g = w->group;
  const TlPair *pair = &g->pair[at];
  if (w->active && w->active[pair->island] == 0) return 0;
  if (!w->compares) return visit_pair(w, pair, &g->memo[at]);
  w->law->note(w, pair);
  double change = visit_pair(w, pair, &g->memo[at]);
  Compared c = w->law->compare(w, pair);
  tl_beyond_compared(&g->product[TL_PRODUCTS * at], c.square, c.with_last);
  return change;
}

static TlTally visit_pairs(const void *walk, int k, int32_t from, int32_t to) {
  const Walk *w = walk;
  TlTally tally = {0};
  (void)k;
  for (int32_t at = from; at < to; at++) {
    double change = visit_open(w, at);
    if (w->group->islands > 1) w->group->memo[at].least = -change;
    tally.most = tl_max(tally.most, change);
  }
  return tally;
}

static void forget(const TlGroup *g) {
  for (int32_t i = 0; i < g->pairs; i++) g->memo[i].hits_a = -1;
}

/* active: islands to visit (NULL: all). Changes go, negative, to result[island]. A group of this
 * rank alone is one island; where there are more, the pairs keep theirs until the sweep is over. */
static TlStatus sweep(Walk *w, Visit visit, const double *active, double *result) {
  const TlGroup *g = w->group;
  void *twists = w->changes_nothing ? NULL : w->dynamics->twist;
  TlSweeps sweeps = {g, twists, sizeof *w->dynamics->twist, NULL, visit_pairs, w, PAIR_NS};
  TlTally tally = {0};
  w->visit = visit;
  w->active = active;
  TL_TRY(tl_sweeps_run(&sweeps, 0, 0, 1, &tally));
  if (g->islands == 1) {
    result[0] = fmin(result[0], -tally.most);
    return TL_OK;
  }
  for (int32_t at = 0; at < g->pairs; at++) {
    double *least = &result[g->pair[at].island];
    *least = fmin(*least, g->memo[at].least);
  }
  return TL_OK;
}

/* Sweep k, from 1. */
static TlStatus sweep_open(Walk *w, int k, double *result) {
  w->compares = w->beyond.beta && k > FIRST_SWEEPS && tl_beyond_compares(&w->beyond, k);
  TlStatus status = sweep(w, w->law->visit, w->open, result);
  w->compares = false;
  return status;
}

static bool is_far(const Walk *w, int32_t island, const double *change, double far) {
  return w->open[island] != 0 && change[island] < -far;
}

/* After sweep k of at most `most`: the impulses of islands move on whose last known change, negative and the same on
 * all ranks, was more than `far`. */
static TlStatus move_on(Walk *w, int k, int most, const double *change, double far) {
  const TlGroup *g = w->group;
  TlBeyond *b = &w->beyond;
  double calm = w->calm;
  bool any = false;
  if (!b->beta || k <= FIRST_SWEEPS || !tl_beyond_moves_on(b, k) || tl_beyond_settles(k, most))
    return TL_OK;
  for (int32_t i = 0; i < g->islands; i++) any |= is_far(w, i, change, far);
  if (!any) return TL_OK;
  tl_beyond_clear(b);
  for (int32_t at = 0; at < g->pairs; at++)
    if (w->open[g->pair[at].island] != 0)
      tl_beyond_add(b, g->pair[at].island, &g->product[TL_PRODUCTS * at]);
  TL_TRY(tl_beyond_choose(b, k));
  for (int32_t i = 0; i < g->islands; i++)
    if (!is_far(w, i, change, far)) b->beta[i] = 0;
  w->calm = 0; /* no pair is passed over, and each that moves stirs its neighbours */
  TlStatus status = sweep(w, w->law->further, b->beta, b->sum);
  w->calm = calm;
  return status;
}

static double least_of(const double *value, int32_t count) {
  double least = 0;
  for (int32_t i = 0; i < count; i++) least = fmin(least, value[i]);
  return least;
}

/* ---- when to stop: an island is left alone when a sweep changed nothing by more than the tolerance ---- */

/* open: what is left of the islands whose values lie under -least; false: none. */
static bool still_open(double *open, const double *value, int32_t islands, double least) {
  bool going = false;
  for (int32_t i = 0; i < islands; i++) {
    open[i] = value[i] < -least ? value[i] : 0;
    going |= open[i] < 0;
  }
  return going;
}

TlStatus tl_rest_solve(const TlRestLaw *law, const TlGroup *g, const TlDynamics *dynamics,
                       TlRestCount *count) {
  double *open = g->scratch, *change = g->scratch + g->islands;
  Walk w = {.group = g,
            .dynamics = dynamics,
            .open = open,
            .law = &rest_law,
            .rest = g->sweep_scratch,
            .rest_change = g->compare_scratch};
  if (law->extrapolates) w.beyond = tl_beyond_start(g, false);
  TlAsking asking = {.group = g, .values = change + g->islands, .most = law->sweeps, .asked = -1};
  for (int32_t i = 0; i < g->islands; i++) change[i] = asking.values[i] = 0;
  TL_TRY(sweep(&w, visit_warm, NULL, change));
  for (int32_t i = 0; i < g->islands; i++) open[i] = -1;
  forget(g);
  w.calm = CALM * law->tolerance_m_s;
  int sweeps = 0;
  bool going = law->sweeps > 0, answered;
  while (going && sweeps < law->sweeps) {
    for (int32_t i = 0; i < g->islands; i++)
      if (open[i] < 0) change[i] = 0;
    TL_TRY(sweep_open(&w, ++sweeps, change));
    TL_TRY(tl_asking_ask(&asking, sweeps, change, &answered));
    if (answered) going = still_open(open, asking.values, g->islands, law->tolerance_m_s);
    if (going)
      TL_TRY(move_on(&w, sweeps, law->sweeps, asking.values, REST_FAR * law->tolerance_m_s));
  }
  for (int32_t i = 0; i < g->pairs; i++) {
    const TlPair *pair = &g->pair[i];
    for (int32_t k = pair->first; k < pair->first + pair->count; k++)
      g->contact[k].rest = w.rest[k].impulse;
  }
  if (sweeps > count->sweeps) count->sweeps = sweeps;
  count->unfinished += tl_group_count(g, open);
  count->residual_m_s = fmax(count->residual_m_s, -least_of(asking.values, g->islands));
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

/* An impulse along n, with r x n known. */
static void push_mover(Mover *m, double impulse, TlVec3 n, TlVec3 rn) {
  m->v = tl_axpy(m->v, impulse * m->inverse_mass, n);
  m->w = tl_axpy(m->w, impulse, tl_sym_vec(m->inverse_inertia, rn));
  m->hits += 1;
}

/* In slops. Also makes the copy. */
static double visit_owed(const Walk *w, const TlPair *pair, Couple *couple) {
  double most = 0;
  (void)couple;
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    const TlContact *c = &w->group->contact[k];
    PushPoint *p = &w->push[k];
    *p = (PushPoint){.n = c->n,
                     .ran = c->ran,
                     .rbn = c->rbn,
                     .knn = c->knn,
                     .owed = owed_speed(w, c),
                     .slops = w->position->step_s / (w->position->slop * c->size)};
    most = tl_max(most, p->owed * p->slops);
  }
  return most;
}

/* Boundaries have no pseudo-velocity. */
static double visit_position(const Walk *w, const TlPair *pair, Couple *c) {
  double most = 0;
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    PushPoint *p = &w->push[k];
    double un =
        tl_dot(p->n, tl_sub(c->a.v, c->b.v)) + tl_dot(p->ran, c->a.w) - tl_dot(p->rbn, c->b.w);
    double next = tl_max(0, p->push + (p->owed - un) / p->knn), change = next - p->push;
    if (change == 0) continue;
    p->push = next;
    push_mover(&c->a, change, p->n, p->ran);
    push_mover(&c->b, -change, p->n, p->rbn);
    most = tl_max(most, fabs(change) * p->knn * p->slops);
  }
  return most;
}

static void note_push(const Walk *w, const TlPair *pair) {
  for (int32_t k = pair->first; k < pair->first + pair->count; k++)
    w->push_change[k].before = w->push[k].push;
}

static Compared compare_push(const Walk *w, const TlPair *pair) {
  Compared sum = {0, 0};
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    const PushPoint *p = &w->push[k];
    PushChange *c = &w->push_change[k];
    double by = p->push - c->before;
    sum.square += p->knn * by * by;
    sum.with_last += p->knn * by * c->by;
    c->by = by;
  }
  return sum;
}

static double push_further(const Walk *w, const TlPair *pair, Couple *c) {
  double beta = w->beyond.beta[pair->island];
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    PushPoint *p = &w->push[k];
    double next = p->push > 0 ? tl_max(0, p->push + beta * w->push_change[k].by) : 0;
    double change = next - p->push;
    if (change == 0) continue;
    p->push = next;
    push_mover(&c->a, change, p->n, p->ran);
    push_mover(&c->b, -change, p->n, p->rbn);
  }
  return 0;
}

static const Law position_law = {visit_position, note_push, compare_push, push_further};

TlStatus tl_position_solve(const TlPositionLaw *law, const TlGroup *g, const TlDynamics *pseudo) {
  double *open = g->scratch, *change = g->scratch + g->islands;
  Walk w = {.group = g,
            .dynamics = pseudo,
            .open = open,
            .law = &position_law,
            .position = law,
            .push = g->sweep_scratch,
            .push_change = g->compare_scratch};
  if (law->extrapolates) w.beyond = tl_beyond_start(g, false);
  TlAsking asking = {.group = g, .values = change + g->islands, .most = -1, .asked = -1};
  for (int32_t i = 0; i < g->islands; i++) change[i] = 0;
  w.changes_nothing = true;
  TL_TRY(sweep(&w, visit_owed, NULL, change));
  w.changes_nothing = false;
  double least = fmax(law->opens_at, POSITION_TOLERANCE);
  for (int sweeps = 0;; sweeps++) {
    bool answered;
    if (sweeps == law->sweeps) return tl_asking_drop(&asking);
    TL_TRY(tl_asking_ask(&asking, sweeps, change, &answered));
    if (answered &&
        !still_open(open, asking.values, g->islands, sweeps ? POSITION_TOLERANCE : least))
      return TL_OK;
    TL_TRY(move_on(&w, sweeps, law->sweeps, asking.values, POSITION_FAR * POSITION_TOLERANCE));
    for (int32_t i = 0; i < g->islands; i++) change[i] = 0;
    TL_TRY(sweep_open(&w, sweeps + 1, change)); /* closed islands stay at 0, closed */
  }
}
