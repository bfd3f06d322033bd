#include "solve/etm_tail.h"

#include "base/mem.h"
#include "base/par.h"
#include "num/sort.h"
#include "solve/push.h"
#include "solve/share.h"

#include <math.h>
#include <stdlib.h>

enum { SWEEPS = 32, AHEAD = 4, BLOCK = 32, LINE = 64, COPY_NS = 300 };
static const double FALL = 0.7;

struct TlTailBody {
  _Alignas(LINE) TlVec3 v, w;
  double hit;
};
struct TlTailInertia {
  _Alignas(LINE) TlSym3 inverse;
  double inverse_mass;
};
struct TlTailLook {
  _Alignas(LINE) TlVec3 n, ra, rb, wall;
  double weight, start; /* start: of the round, as a contact's */
  double enters;        /* takes part when u_n lies under it; 0: takes part */
  int32_t a, b;         /* numbers in the tail */
};
struct TlTailPush {
  _Alignas(LINE) TlSym3 k_inverse, k;
  double knn, friction, work;
  double step; /* of its last impulse here; 0: none */
  TlVec3 impulse;
};

/* ---- copies ---- */

static int32_t number_of(const TlTail *t, int32_t body) {
  if (t->group->share) return body < 0 ? t->bodies - 1 : body;
  const int32_t *at = bsearch(&body, t->body, (size_t)t->bodies, sizeof body, tl_by_int32);
  return at ? (int32_t)(at - t->body) : 0;
}

/* The bodies of the group, ascending, with -1 first; with share all local ones and guests, so that
 * their velocities can travel, and -1 last. */
static TlStatus list_bodies(TlTail *t) {
  const TlGroup *g = t->group;
  int32_t pairs = g->pairs, n = 0;
  int64_t all = g->share ? tl_share_bodies(g->share) : 0;
  TL_TRY(TL_NEW(t->body, g->share ? (size_t)all + 1 : 2 * (size_t)pairs + 1));
  if (g->share) {
    for (int64_t i = 0; i < all; i++) t->body[n++] = (int32_t)i;
    t->body[n++] = -1;
  } else {
    t->body[n++] = -1;
    for (int32_t i = 0; i < pairs; i++) {
      t->body[n++] = g->pair[i].a;
      t->body[n++] = g->pair[i].b;
    }
    qsort(t->body, (size_t)n, sizeof *t->body, tl_by_int32);
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++)
      if (i == 0 || t->body[i] != t->body[i - 1]) t->body[kept++] = t->body[i];
    n = kept;
  }
  t->bodies = n;
  return TL_OK;
}

static void copy_inertia(TlTail *t) {
  for (int32_t i = 0; i < t->bodies; i++)
    if (t->body[i] >= 0)
      t->inertia[i] = (TlTailInertia){t->dynamics->inverse_inertia[t->body[i]],
                                      t->dynamics->inverse_mass[t->body[i]]};
}

static bool lifted_as_ordinary(const TlTail *t, const TlPair *pair) {
  bool some = false;
  for (int32_t k = 0; k < pair->count; k++) {
    const TlContact *c = &t->group->contact[pair->first + k];
    some |= c->law->tangential_restitution > 0 || (pair->count > 1 && c->law->friction == 0);
  }
  return some;
}

static void copy_point(TlTail *t, TlContact *c, const TlGlance *glance, int32_t at) {
  t->look[at] = (TlTailLook){.n = c->n,
                             .ra = c->ra,
                             .rb = c->b < 0 ? (TlVec3){0, 0, 0} : c->rb,
                             .wall = c->b < 0 ? c->wall : (TlVec3){0, 0, 0},
                             .weight = c->weight,
                             .a = glance->a,
                             .b = c->b < 0 ? number_of(t, -1) : glance->b};
  t->push[at] = (TlTailPush){.knn = c->knn, .friction = c->law->friction};
  t->contact[at] = c;
}

static void copy_pair(TlTail *t, int32_t i) {
  const TlGroup *g = t->group;
  const TlPair *pair = &g->pair[i];
  TlGlance *glance = &t->glance[i];
  glance->a = number_of(t, pair->a);
  glance->b = pair->b < 0 ? glance->a : number_of(t, pair->b);
  for (int32_t k = 0; k < pair->count; k++)
    copy_point(t, &g->contact[pair->first + k], glance, t->pair[i].first + k);
}

static void copy_pairs(TlTail *t) {
  const TlGroup *g = t->group;
  int32_t pairs = g->pairs;
  for (int32_t i = 0, at = 0; i < pairs; i++) {
    const TlPair *pair = &g->pair[i];
    t->pair[i] =
        (TlTailPair){at, pair->count, pair->island, .ordinary = lifted_as_ordinary(t, pair)};
    at += pair->count;
  }
#pragma omp parallel for schedule(static) if (tl_par_pays(pairs, COPY_NS))
  for (int32_t i = 0; i < pairs; i++) copy_pair(t, i);
}

TlStatus tl_tail_make(TlTail *t) {
  const TlGroup *g = t->group;
  int32_t pairs = g->pairs;
  for (int32_t i = 0; i < pairs; i++) t->points += g->pair[i].count;
  TL_TRY(list_bodies(t));
  TL_TRY(TL_NEW(t->moving, (size_t)t->bodies));
  TL_TRY(TL_NEW(t->inertia, (size_t)t->bodies));
  TL_TRY(TL_NEW(t->hits, (size_t)t->bodies));
  TL_TRY(TL_NEW(t->look, (size_t)t->points + 1));
  TL_TRY(TL_NEW(t->push, (size_t)t->points + 1));
  TL_TRY(TL_NEW(t->contact, (size_t)t->points + 1));
  TL_TRY(TL_NEW(t->glance, (size_t)pairs + 1));
  TL_TRY(TL_NEW(t->pair, (size_t)pairs + 1));
  copy_inertia(t);
  copy_pairs(t);
  t->fraction[0] = 1.0 / t->law->increments;
  for (int k = 1; k <= TL_TAIL_STEPS; k++) t->fraction[k] = FALL * t->fraction[k - 1];
  t->fraction[TL_TAIL_STEPS + 1] = 0;
  return TL_OK;
}

void tl_tail_free(TlTail *t) {
  tl_free(t->body);
  tl_free(t->moving);
  tl_free(t->inertia);
  tl_free(t->hits);
  tl_free(t->look);
  tl_free(t->push);
  tl_free(t->contact);
  tl_free(t->glance);
  tl_free(t->pair);
}

/* ---- from the levels and back ---- */

static void fetch_bodies(TlTail *t) {
  for (int32_t i = 0; i < t->bodies; i++) {
    if (t->body[i] < 0) continue;
    const TlTwist *twist = &t->dynamics->twist[t->body[i]];
    t->moving[i] = (TlTailBody){.v = twist->v, .w = twist->w, .hit = twist->hit};
    t->hits[i] = (uint32_t)twist->hit;
  }
}

static uint32_t hits_of(const TlTail *t, const TlGlance *glance) {
  return t->hits[glance->a] + t->hits[glance->b];
}

/* Rounded down: a pair looked at too early stays as it is. */
static void leave(TlGlance *glance, uint32_t seen, double least) {
  glance->seen = seen;
  glance->least = (float)(least * (1 + 1e-6));
}

static void fetch_pair(TlTail *t, int32_t at) {
  const TlGroup *g = t->group;
  const TlPair *pair = &g->pair[at];
  TlGlance *glance = &t->glance[at];
  bool same = tl_memo_unchanged(&g->memo[at], pair, t->dynamics->twist);
  leave(glance, hits_of(t, glance) - !same, g->memo[at].least);
  for (int32_t k = 0; k < pair->count; k++) {
    const TlContact *c = &g->contact[pair->first + k];
    TlTailLook *look = &t->look[t->pair[at].first + k];
    TlTailPush *push = &t->push[t->pair[at].first + k];
    look->start = c->start;
    look->enters = c->in ? 0 : -c->allowed_speed - t->law->tolerance_m_s;
    push->work = c->work;
    push->impulse = c->impulse;
    push->step = 0;
  }
}

static void to_twist(const TlTail *t, int32_t body) {
  if (t->inertia[body].inverse_mass == 0) return; /* shared with others: never write */
  const TlTailBody *b = &t->moving[body];
  t->dynamics->twist[t->body[body]] = (TlTwist){.v = b->v, .w = b->w, .hit = b->hit};
}

static void from_twist(const TlTail *t, int32_t body) {
  if (t->inertia[body].inverse_mass == 0) return;
  const TlTwist *twist = &t->dynamics->twist[t->body[body]];
  t->moving[body] = (TlTailBody){.v = twist->v, .w = twist->w, .hit = twist->hit};
}

/* Has the island anything to do in this round? One that is done or quiet keeps its state to the
 * last bit while others of a shared group need further rounds: alone it would not be here. */
static bool is_open(const TlTail *t, int32_t island) {
  return island >= 0 && t->least[island] < 0;
}

/* With share the copies hold bodies of other islands and groups too. */
static void give_back_bodies(const TlTail *t) {
  const TlGroup *g = t->group;
  for (int32_t i = 0; i < t->bodies; i++)
    if (t->body[i] >= 0 && (!g->share || is_open(t, g->body_island[t->body[i]]))) to_twist(t, i);
}

static void give_back_pair(const TlTail *t, int32_t at) {
  const TlGroup *g = t->group;
  const TlPair *pair = &g->pair[at];
  if (t->pair[at].ordinary) return;
  for (int32_t k = 0; k < pair->count; k++) {
    TlContact *c = &g->contact[pair->first + k];
    const TlTailLook *look = &t->look[t->pair[at].first + k];
    const TlTailPush *push = &t->push[t->pair[at].first + k];
    c->in |= look->enters == 0;
    if (push->step == 0) continue;
    c->touched = true;
    c->start = look->start;
    c->step = push->step;
    c->work = push->work;
    c->impulse = push->impulse;
  }
}

static void give_back(const TlTail *t) {
  int32_t pairs = t->group->pairs;
  give_back_bodies(t);
#pragma omp parallel for schedule(static) if (tl_par_pays(pairs, TL_LOOK_NS))
  for (int32_t i = 0; i < pairs; i++) give_back_pair(t, i);
}

/* ---- a pair ---- */

static TlVec3 velocity(const TlTailLook *c, const TlTailBody *a, const TlTailBody *b) {
  TlVec3 u = tl_sub(tl_add(a->v, tl_cross(a->w, c->ra)), tl_add(b->v, tl_cross(b->w, c->rb)));
  return tl_sub(u, c->wall);
}

static void kick(TlTailBody *body, const TlTailInertia *inertia, TlVec3 r, TlVec3 p) {
  if (inertia->inverse_mass == 0) return; /* cells of one phase may share it: never write */
  body->v = tl_axpy(body->v, inertia->inverse_mass, p);
  body->w = tl_add(body->w, tl_sym_vec(inertia->inverse, tl_cross(r, p)));
  body->hit += 1;
}

/* As tl_etm_compress, without a tangential aim. */
static void compress(const TlTail *t, TlTailLook *c, TlTailPush *push, TlVec3 u, double un) {
  TlPushPoint point = {.n = c->n,
                       .k = &push->k,
                       .k_inverse = &push->k_inverse,
                       .knn = push->knn,
                       .friction = push->friction,
                       .along_trial = t->law->friction_along_trial};
  TlPushTask task = {.lag = tl_axpy(u, -un, c->n),
                     .un = un,
                     .du = tl_min(push->step, -un), /* Tang 2014 Eq. 63 */
                     .work = INFINITY};
  TlPush given = tl_push(&point, &task);
  kick(&t->moving[c->a], &t->inertia[c->a], c->ra, given.p);
  kick(&t->moving[c->b], &t->inertia[c->b], c->rb, tl_scale(-1, given.p));
  push->impulse = tl_add(push->impulse, given.p);
  push->work -= 0.5 * (2 * un + given.du) * given.pn; /* Tang 2014 Eq. 64 */
}

/* To somebody who watches, as if there were no copies. */
static void show(const TlTail *t) {
  give_back(t);
  tl_etm_trace(t->law, TL_TRACE_COMPRESS, t->group, t->dynamics);
}

/* Most contacts never have an impulse: K waits for the first one. */
static void want_matrix(const TlTail *t, int32_t at) {
  TlContact *c = t->contact[at];
  tl_contact_want_matrix(c, t->dynamics);
  t->push[at].k_inverse = c->k_inverse;
  t->push[at].k = c->k;
}

/* One increment. Returns true when that took the contact to u_n = 0. */
static bool step_up(const TlTail *t, int32_t at, TlVec3 u, double un, double island_least) {
  TlTailLook *c = &t->look[at];
  TlTailPush *push = &t->push[at];
  if (push->friction > 0 && push->k_inverse.xx == 0) want_matrix(t, at);
  c->enters = 0;
  if (un < c->start) c->start = un;
  push->step = tl_max(-c->start, -island_least / c->weight) / t->law->increments;
  compress(t, c, push, u, un);
  if (tl_etm_watched(t->law)) show(t);
  return push->step >= -un;
}

/* Does it take part and lie under the level? *key: of one that takes part, else 0. */
static inline bool is_under(const TlTail *t, int32_t at, bool hit, double level, TlVec3 *u,
                            double *un, double *key) {
  const TlTailLook *c = &t->look[at];
  *u = velocity(c, &t->moving[c->a], &t->moving[c->b]);
  *un = tl_dot(c->n, *u);
  *key = 0;
  if (*un >= -t->law->tolerance_m_s || !(*un < c->enters) || (c->enters < 0 && !hit)) return false;
  *key = c->weight * *un;
  return *key < level;
}

static int64_t most_impulses(const TlTail *t, int32_t points) {
  return 16 * (int64_t)t->law->increments * points;
}

/* A pair with one point: the most frequent by far. *left: least key above the level; -infinity: a
 * unresolved pair continues next sweep. */
static int64_t lift_point(const TlTail *t, int32_t at, bool hit, double level, double island_least,
                          double *left) {
  TlVec3 u;
  double un;
  for (int64_t impulses = 0; impulses < most_impulses(t, 1); impulses++) {
    if (!is_under(t, at, hit, level, &u, &un, left)) return impulses;
    *left = 0;
    if (step_up(t, at, u, un, island_least)) return impulses + 1;
    hit = true;
  }
  *left = -INFINITY;
  return most_impulses(t, 1);
}

/* As the levels lift a pair (etm_level.c): the points take turns, the worst one first. */
static int64_t lift_points(const TlTail *t, const TlTailPair *pair, bool hit, double level,
                           double island_least, double *left) {
  int64_t impulses = 0, most = most_impulses(t, pair->count);
  for (; impulses < most; impulses++, hit = true) {
    int32_t worst = -1;
    double worst_un = 0, least = level;
    TlVec3 worst_u = {0, 0, 0};
    *left = 0;
    for (int32_t i = pair->first; i < pair->first + pair->count; i++) {
      TlVec3 u;
      double un, key;
      if (!is_under(t, i, hit, level, &u, &un, &key) && key < *left) *left = key;
      if (key >= least) continue;
      least = key;
      worst = i;
      worst_u = u;
      worst_un = un;
    }
    if (worst < 0) return impulses;
    step_up(t, worst, worst_u, worst_un, island_least);
  }
  *left = -INFINITY;
  return impulses;
}

static int64_t lift_ordinary(const TlTail *t, int32_t at, double level, double *left) {
  const TlGlance *glance = &t->glance[at];
  if (tl_etm_watched(t->law)) give_back(t);
  to_twist(t, glance->a);
  to_twist(t, glance->b);
  int64_t impulses = t->lift(t->walk, at, level, left);
  from_twist(t, glance->a);
  from_twist(t, glance->b);
  return impulses;
}

static int64_t visit_pair(const TlTail *t, int32_t at, double fraction) {
  TlTailPair *pair = &t->pair[at];
  TlGlance *glance = &t->glance[at];
  double least = t->least[pair->island], left;
  if (pair->cut_visits == TL_TAIL_CUT_VISITS) return leave(glance, hits_of(t, glance), 0), 0;
  bool hit = hits_of(t, glance) > 0;
  int64_t impulses = pair->ordinary ? lift_ordinary(t, at, fraction * least, &left)
                     : pair->count == 1
                         ? lift_point(t, pair->first, hit, fraction * least, least, &left)
                         : lift_points(t, pair, hit, fraction * least, least, &left);
  if (impulses > 0) {
    t->hits[glance->a] = (uint32_t)t->moving[glance->a].hit;
    t->hits[glance->b] = (uint32_t)t->moving[glance->b].hit;
  }
  pair->cut_visits += left == -INFINITY;
  leave(glance, hits_of(t, glance), left);
  return impulses;
}

/* ---- sweeps ---- */

/* Has any pair of the round been left, on any rank? */
static TlStatus any_left(const TlTail *t, int *left) {
  for (int32_t i = 0; i < t->group->pairs; i++)
    *left |= t->pair[i].cut_visits == TL_TAIL_CUT_VISITS && is_open(t, t->pair[i].island);
  return tl_group_any(t->group, left);
}

/* Pairs of [from, to) with something to do. */
static int32_t find_due(const TlTail *t, double fraction, int32_t from, int32_t to, int32_t *due) {
  int32_t n = 0;
  const TlGlance *glance = t->glance;
  const uint32_t *hits = t->hits;
  float level = (float)(fraction * t->least[0]); /* a group of this rank alone is one island */
  bool one = t->group->islands == 1;
  for (int32_t at = from; at < to; at++) {
    const TlGlance *g = &glance[at];
    if (!one) level = (float)(fraction * t->least[t->pair[at].island]);
    due[n] = at;
    n += (g->seen != hits[g->a] + hits[g->b]) | (g->least < level);
  }
  return n;
}

/* A sweep of a large island waits for memory most of its time. */
static void fetch(const TlTail *t, int32_t at) {
  const char *look = (const char *)&t->look[t->pair[at].first];
  const char *push = (const char *)&t->push[t->pair[at].first];
  __builtin_prefetch(look);
  __builtin_prefetch(look + LINE);
  __builtin_prefetch(push);
  __builtin_prefetch(push + LINE);
  __builtin_prefetch(push + 2 * LINE);
  __builtin_prefetch(&t->moving[t->glance[at].a]);
  __builtin_prefetch(&t->moving[t->glance[at].b]);
}

/* Is the pair due now? As find_due, of one. */
static bool is_due(const TlTail *t, int32_t at, double fraction) {
  const TlGlance *g = &t->glance[at];
  float level = (float)(fraction * t->least[t->pair[at].island]);
  return g->seen != t->hits[g->a] + t->hits[g->b] || g->least < level;
}

/* Block by block: most have nothing to do. In one that has, an impulse may make due what was not. */
static TlTally visit(const void *walk, int k, int32_t from, int32_t to) {
  const TlTail *t = walk;
  double fraction = t->fraction[k];
  TlTally tally = {0};
  int32_t due[BLOCK + 1];
  for (int32_t end; from < to; from = end) {
    end = from + BLOCK < to ? from + BLOCK : to;
    int32_t n = find_due(t, fraction, from, end, due), next = 0;
    for (int32_t at = n ? due[0] : end; at < end; at++) {
      if (!is_due(t, at, fraction)) continue;
      while (next < n && due[next] <= at) next++;
      if (next + AHEAD < n) fetch(t, due[next + AHEAD]);
      int64_t impulses = visit_pair(t, at, fraction);
      tally.open |= impulses > 0;
      tally.impulses += impulses;
      tl_group_count_impulses(t->group, at, impulses);
    }
  }
  return tally;
}

/* A velocity came from another rank. */
static void arrived(const void *walk, int32_t body) {
  const TlTail *t = walk;
  t->hits[body] = (uint32_t)t->moving[body].hit;
}

TlStatus tl_tail_run(TlTail *t, int64_t *impulses, int *open) {
  int32_t pairs = t->group->pairs;
  TlSweeps sweeps = {t->group, t->moving, sizeof *t->moving, arrived, visit, t, TL_VISIT_NS};
  TlTally tally = {0};
  fetch_bodies(t);
#pragma omp parallel for schedule(static) if (tl_par_pays(pairs, TL_LOOK_NS))
  for (int32_t i = 0; i < pairs; i++) fetch_pair(t, i);
  int most = t->law->single_sweeps && t->group->share ? 1 : SWEEPS;
  TL_TRY(tl_sweeps_run(&sweeps, 1, TL_TAIL_STEPS, most, &tally));
  TL_TRY(
      tl_sweeps_run(&sweeps, TL_TAIL_STEPS + 1, TL_TAIL_STEPS + 1, t->law->final_sweeps, &tally));
  give_back(t);
  *impulses += tally.impulses;
  *open = tally.open;
  return any_left(t, open);
}
