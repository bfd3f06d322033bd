#include "contact/broad.h"

#include "base/par.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 48 };

typedef struct Cell {
  int64_t x, y, z;
  int32_t level;
} Cell;

typedef struct Grid {
  const TlColliders *colliders;
  const TlBroadBody *body;
  double least_m; /* cell edge of level 0 */
  int32_t *head;  /* [buckets] first body, -1 */
  int32_t *next;  /* [bodies] */
  Cell *cell;     /* [bodies] */
  uint64_t mask;
  uint64_t levels; /* bit a level in use */
} Grid;

static double edge_of(const Grid *g, int32_t level) {
  return ldexp(g->least_m, level);
}

/* Cells that follow each other along x, as a search visits them, have buckets that do. */
static uint64_t bucket_of(const Grid *g, Cell c) {
  uint64_t h = tl_random_mix((uint64_t)c.y * 0xc2b2ae3d27d4eb4fu + (uint64_t)c.level);
  return (tl_random_mix(h ^ ((uint64_t)c.z * 0x165667b19e3779f9u)) + (uint64_t)c.x) & g->mask;
}

static int64_t cell_at(double x, double edge) {
  return (int64_t)floor(x / edge);
}

static Cell cell_of(TlVec3 x, double edge, int32_t level) {
  return (Cell){cell_at(x.x, edge), cell_at(x.y, edge), cell_at(x.z, edge), level};
}

/* The level whose cells hold the reach sphere: edge >= 2 reach. */
static int32_t level_of(const Grid *g, double reach) {
  int32_t level = 0;
  while (edge_of(g, level) < 2 * reach && level < MOST_LEVELS - 1) level++;
  return level;
}

static TlStatus make_grid(Grid *g, const TlColliders *b, const TlBroadBody *body,
                          TlArena *scratch) {
  uint64_t buckets = 16;
  while (buckets < 2 * (uint64_t)b->total) buckets *= 2;
  *g = (Grid){.colliders = b, .body = body, .least_m = INFINITY, .mask = buckets - 1};
  g->head = tl_arena_push(scratch, buckets, sizeof *g->head);
  g->next = tl_arena_push(scratch, (size_t)b->total, sizeof *g->next);
  g->cell = tl_arena_push(scratch, (size_t)b->total, sizeof *g->cell);
  if (!g->head || !g->next || !g->cell) return TL_ENOMEM;
  for (uint64_t i = 0; i < buckets; i++) g->head[i] = -1;
  for (int64_t i = 0; i < b->total; i++) g->least_m = fmin(g->least_m, 2 * body[i].reach);
  for (int64_t i = 0; i < b->total; i++) {
    int32_t level = level_of(g, body[i].reach);
    g->cell[i] = cell_of(body[i].position, edge_of(g, level), level);
    uint64_t at = bucket_of(g, g->cell[i]);
    g->next[i] = g->head[at];
    g->head[at] = (int32_t)i;
    g->levels |= (uint64_t)1 << level;
  }
  return TL_OK;
}

static bool wanted(const Grid *g, int64_t i, int64_t j) {
  const TlBroadBody *a = &g->body[i], *b = &g->body[j];
  int64_t owned = g->colliders->owned;
  if ((i >= owned && j >= owned) || (a->frozen && b->frozen)) return false;
  double reach = a->reach + b->reach;
  return tl_norm2(tl_sub(a->position, b->position)) < reach * reach && a->body != b->body;
}

/* Pairs of i with the bodies of one cell; on its own level each pair is met from both sides and
 * taken once. */
static TlStatus pairs_in_cell(const Grid *g, int64_t i, Cell c, TlBodyPairs *pairs) {
  const int64_t *id = g->colliders->id;
  for (int32_t j = g->head[bucket_of(g, c)]; j >= 0; j = g->next[j]) {
    Cell o = g->cell[j];
    if (o.x != c.x || o.y != c.y || o.z != c.z || o.level != c.level) continue;
    if (j == i || (c.level == g->cell[i].level && j < i) || !wanted(g, i, j)) continue;
    TL_TRY(TL_RESERVE(pairs->pair, pairs->capacity, pairs->count + 1));
    bool swap = id[j] < id[i];
    pairs->pair[pairs->count++] = swap ? (TlBodyPair){j, (int32_t)i} : (TlBodyPair){(int32_t)i, j};
  }
  return TL_OK;
}

static TlStatus pairs_on_level(const Grid *g, int64_t i, int32_t level, TlBodyPairs *pairs) {
  double edge = edge_of(g, level), far = g->body[i].reach + 0.5 * edge;
  TlVec3 x = g->body[i].position, side = tl_vec3(far, far, far);
  Cell low = cell_of(tl_sub(x, side), edge, level), high = cell_of(tl_add(x, side), edge, level);
  Cell c = {.level = level};
  for (c.z = low.z; c.z <= high.z; c.z++)
    for (c.y = low.y; c.y <= high.y; c.y++)
      for (c.x = low.x; c.x <= high.x; c.x++) TL_TRY(pairs_in_cell(g, i, c, pairs));
  return TL_OK;
}

typedef struct Search {
  const Grid *grid;
  TlBodyPairs *found; /* one a thread */
} Search;

static TlStatus search(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Search *s = context;
  const Grid *g = s->grid;
  (void)block;
  for (int64_t i = begin; i < end; i++)
    for (int32_t level = g->cell[i].level; level < MOST_LEVELS; level++)
      if (g->levels >> level & 1) TL_TRY(pairs_on_level(g, i, level, &s->found[thread]));
  return TL_OK;
}

/* ---- order ---- */

typedef struct IdAt {
  int64_t id;
  int32_t at;
} IdAt;

static int compare_id(const void *a, const void *b) {
  const IdAt *x = a, *y = b;
  return x->id < y->id ? -1 : x->id > y->id;
}

static TlStatus rank_ids(const TlColliders *b, TlArena *scratch, int32_t *rank) {
  IdAt *list = tl_arena_push(scratch, (size_t)b->total, sizeof *list);
  if (!list) return TL_ENOMEM;
  bool sorted = true;
  for (int64_t i = 0; i < b->total; i++) {
    list[i] = (IdAt){b->id[i], (int32_t)i};
    sorted = sorted && (i == 0 || b->id[i - 1] < b->id[i]);
  }
  if (!sorted) qsort(list, (size_t)b->total, sizeof *list, compare_id);
  for (int64_t i = 0; i < b->total; i++) rank[list[i].at] = (int32_t)i;
  return TL_OK;
}

/* A stable pass of counting sort by the rank of one end. */
static void sort_by(const TlBodyPair *from, size_t count, bool by_low, const int32_t *rank,
                    int64_t bodies, size_t *start, TlBodyPair *to) {
  memset(start, 0, ((size_t)bodies + 1) * sizeof *start);
  for (size_t i = 0; i < count; i++) start[rank[by_low ? from[i].a : from[i].b] + 1]++;
  for (int64_t i = 0; i < bodies; i++) start[i + 1] += start[i];
  for (size_t i = 0; i < count; i++) to[start[rank[by_low ? from[i].a : from[i].b]]++] = from[i];
}

/* Gather what the threads found, by (low id, high id): so it does not matter who found what. */
static TlStatus collect(const TlBodyPairs *found, int lists, const int32_t *rank, int64_t bodies,
                        TlArena *scratch, TlBodyPairs *pairs) {
  size_t count = 0, at = 0;
  for (int t = 0; t < lists; t++) count += found[t].count;
  TlBodyPair *all = tl_arena_push(scratch, count, sizeof *all),
             *half = tl_arena_push(scratch, count, sizeof *half);
  size_t *start = tl_arena_push(scratch, (size_t)bodies + 1, sizeof *start);
  if (!all || !half || !start) return TL_ENOMEM;
  TL_TRY(TL_RESERVE(pairs->pair, pairs->capacity, count));
  for (int t = 0; t < lists; t++) {
    if (found[t].count) memcpy(all + at, found[t].pair, found[t].count * sizeof *all);
    at += found[t].count;
  }
  sort_by(all, count, false, rank, bodies, start, half);
  sort_by(half, count, true, rank, bodies, start, pairs->pair);
  pairs->count = count;
  return TL_OK;
}

/* ---- the kept list ---- */

void tl_broad_free(TlBroad *broad) {
  for (int t = 0; t < broad->found_count; t++) tl_free(broad->found[t].pair);
  tl_free(broad->found);
  tl_free(broad->pairs.pair);
  tl_free(broad->body);
  tl_free(broad->rank);
  *broad = (TlBroad){0};
}

static TlStatus reserve(TlBroad *k, int64_t total) {
  size_t had = k->capacity, same = k->capacity;
  TL_TRY(TL_RESERVE(k->body, k->capacity, (size_t)total));
  if (!k->rank || k->capacity > had) {
    int32_t *rank = tl_realloc(k->rank, same, k->capacity, sizeof *rank);
    if (!rank) return TL_ENOMEM;
    k->rank = rank;
  }
  int threads = tl_par_threads();
  if (threads > k->found_count) {
    TlBodyPairs *found =
        tl_realloc(k->found, (size_t)k->found_count, (size_t)threads, sizeof *found);
    if (!found) return TL_ENOMEM;
    memset(found + k->found_count, 0, (size_t)(threads - k->found_count) * sizeof *found);
    k->found = found;
    k->found_count = threads;
  }
  return TL_OK;
}

/* Pairs of the bodies as they stand, with reaches larger by `more` of what a body may need. */
static TlStatus build(TlBroad *k, const TlBodies *b, double step_s, bool exact, TlArena *scratch) {
  const TlColliders *c = &b->colliders;
  TL_TRY(reserve(k, c->total));
  k->owned = c->owned;
  k->total = c->total;
  k->pairs.count = 0;
  k->builds++;
  if (c->total == 0) return TL_OK;
  for (int64_t i = 0; i < c->total; i++) {
    int32_t body = c->body[i];
    double travel = 10 * tl_norm(b->velocity[body]) * step_s, r = c->radius[i];
    double skin =
        exact ? 0 : fmin(fmax(travel, 0.06 * r), 0.4 * r); /* measured: flat about there */
    k->body[i] = (TlBroadBody){.id = c->id[i],
                               .position = c->position[i],
                               .reach = c->reach[i] + skin,
                               .body = body,
                               .frozen = (b->flags[body] & TL_BODY_FROZEN) != 0};
  }
  Grid g;
  TL_TRY(make_grid(&g, c, k->body, scratch));
  for (int t = 0; t < k->found_count; t++) k->found[t].count = 0;
  Search s = {&g, k->found};
  TL_TRY(tl_par_blocks(c->total, 256, search, &s));
  TL_TRY(rank_ids(c, scratch, k->rank));
  return collect(k->found, k->found_count, k->rank, c->total, scratch, &k->pairs);
}

/* What went d has all its partners within reach_i + d + reach_j of where it was. */
static bool holds(const TlBroad *k, const TlBodies *b) {
  const TlColliders *c = &b->colliders;
  if (k->owned != c->owned || k->total != c->total || !k->body) return false;
  for (int64_t i = 0; i < c->total; i++) {
    const TlBroadBody *was = &k->body[i];
    double more = was->reach - c->reach[i];
    int32_t body = c->body[i];
    bool frozen = (b->flags[body] & TL_BODY_FROZEN) != 0;
    if (was->id != c->id[i] || was->body != body || was->frozen != frozen || !(more >= 0) ||
        !(tl_norm2(tl_sub(c->position[i], was->position)) <= more * more * (1 - 1e-9)))
      return false;
  }
  return true;
}

TlStatus tl_broad_update(TlBroad *broad, const TlBodies *bodies, double step_s, TlArena *scratch,
                         bool *built) {
  *built = !holds(broad, bodies);
  return *built ? build(broad, bodies, step_s, false, scratch) : TL_OK;
}

TlStatus tl_broad_pairs(const TlBodies *bodies, TlArena *scratch, TlBodyPairs *pairs) {
  TlBroad once = {.pairs = *pairs};
  TlStatus status = build(&once, bodies, 0, true, scratch);
  *pairs = once.pairs;
  once.pairs = (TlBodyPairs){0};
  tl_broad_free(&once);
  return status;
}
