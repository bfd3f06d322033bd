#include "dem/broad.h"

#include "base/random.h"

#include <math.h>
#include <stdbool.h>

enum { MOST_LEVELS = 48 };

typedef struct Cell {
  int64_t x, y, z;
  int32_t level;
} Cell;

typedef struct Grid {
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

static uint64_t bucket_of(const Grid *g, Cell c) {
  uint64_t h = tl_random_mix((uint64_t)c.x * 0x9e3779b97f4a7c15u + (uint64_t)c.level);
  h = tl_random_mix(h ^ ((uint64_t)c.y * 0xc2b2ae3d27d4eb4fu));
  return tl_random_mix(h ^ ((uint64_t)c.z * 0x165667b19e3779f9u)) & g->mask;
}

static int64_t cell_at(double x, double edge) {
  return (int64_t)floor(x / edge);
}

/* The level whose cells hold the reach sphere: edge >= 2 reach. */
static int32_t level_of(const Grid *g, double reach) {
  int32_t level = 0;
  while (edge_of(g, level) < 2 * reach && level < MOST_LEVELS - 1) level++;
  return level;
}

static TlStatus make_grid(Grid *g, const TlBodies *b, TlArena *scratch) {
  uint64_t buckets = 16;
  while (buckets < 2 * (uint64_t)b->total) buckets *= 2;
  g->mask = buckets - 1;
  g->head = tl_arena_push(scratch, buckets, sizeof *g->head);
  g->next = tl_arena_push(scratch, (size_t)b->total, sizeof *g->next);
  g->cell = tl_arena_push(scratch, (size_t)b->total, sizeof *g->cell);
  if (!g->head || !g->next || !g->cell) return TL_ENOMEM;
  for (uint64_t i = 0; i < buckets; i++) g->head[i] = -1;
  double least = INFINITY;
  for (int64_t i = 0; i < b->total; i++) least = fmin(least, b->reach[i]);
  g->least_m = 2 * least;
  for (int64_t i = 0; i < b->total; i++) {
    int32_t level = level_of(g, b->reach[i]);
    double edge = edge_of(g, level);
    TlVec3 x = b->position[i];
    g->cell[i] = (Cell){cell_at(x.x, edge), cell_at(x.y, edge), cell_at(x.z, edge), level};
    uint64_t at = bucket_of(g, g->cell[i]);
    g->next[i] = g->head[at];
    g->head[at] = (int32_t)i;
    g->levels |= (uint64_t)1 << level;
  }
  return TL_OK;
}

static bool wanted(const TlBodies *b, int64_t i, int64_t j) {
  if (i >= b->owned && j >= b->owned) return false;
  if ((b->flags[i] & b->flags[j]) & TL_BODY_FROZEN) return false;
  double reach = b->reach[i] + b->reach[j];
  return tl_norm2(tl_sub(b->position[i], b->position[j])) < reach * reach;
}

/* Pairs of i with the bodies of one cell; on its own level each pair is met from both sides and
 * taken once. */
static TlStatus pairs_in_cell(const Grid *g, const TlBodies *b, int64_t i, Cell c,
                              TlBodyPairs *pairs) {
  for (int32_t j = g->head[bucket_of(g, c)]; j >= 0; j = g->next[j]) {
    Cell o = g->cell[j];
    if (o.x != c.x || o.y != c.y || o.z != c.z || o.level != c.level) continue;
    if (j == i || (c.level == g->cell[i].level && j < i) || !wanted(b, i, j)) continue;
    TL_TRY(TL_RESERVE(pairs->pair, pairs->capacity, pairs->count + 1));
    bool swap = b->id[j] < b->id[i];
    pairs->pair[pairs->count++] = swap ? (TlBodyPair){j, (int32_t)i} : (TlBodyPair){(int32_t)i, j};
  }
  return TL_OK;
}

static TlStatus pairs_on_level(const Grid *g, const TlBodies *b, int64_t i, int32_t level,
                               TlBodyPairs *pairs) {
  double edge = edge_of(g, level), far = b->reach[i] + 0.5 * edge;
  TlVec3 x = b->position[i];
  Cell c = {.level = level};
  for (c.z = cell_at(x.z - far, edge); c.z <= cell_at(x.z + far, edge); c.z++)
    for (c.y = cell_at(x.y - far, edge); c.y <= cell_at(x.y + far, edge); c.y++)
      for (c.x = cell_at(x.x - far, edge); c.x <= cell_at(x.x + far, edge); c.x++)
        TL_TRY(pairs_in_cell(g, b, i, c, pairs));
  return TL_OK;
}

TlStatus tl_broad_pairs(const TlBodies *bodies, TlArena *scratch, TlBodyPairs *pairs) {
  pairs->count = 0;
  if (bodies->total == 0) return TL_OK;
  Grid g = {0};
  TL_TRY(make_grid(&g, bodies, scratch));
  for (int64_t i = 0; i < bodies->total; i++)
    for (int32_t level = g.cell[i].level; level < MOST_LEVELS; level++)
      if (g.levels >> level & 1) TL_TRY(pairs_on_level(&g, bodies, i, level, pairs));
  return TL_OK;
}
