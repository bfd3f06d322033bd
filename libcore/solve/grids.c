#include "solve/grids.h"

#include "base/random.h"

#include <math.h>
#include <stdbool.h>

static const double SHIFT[TL_GRIDS] = {0, 0.5, 0.25, 0.75};
static const double SLACK = 1e-6; /* outweighs the rounding of coordinates over L */
static const double FEW = 0.0625; /* fraction of contacts that may be longer than a level */
static const double NEXT = 4;     /* a level's distances over those of the one before */
enum { WORTH_CLASSES = 2 /* L falls by two at least, else one level is enough */ };

static int32_t exponent(double length) {
  int e;
  frexp(length, &e);
  return e;
}

/* To a higher top: its classes move down, the last ones into one. */
static void raise_top(TlLengths *l, int32_t top) {
  int32_t up = top - l->top;
  if (up <= 0) return;
  for (int k = TL_LENGTH_CLASSES - 1; k >= 0; k--) {
    int32_t count = l->class[k], to = up < TL_LENGTH_CLASSES ? k + up : TL_LENGTH_CLASSES - 1;
    l->class[k] = 0;
    l->class[to < TL_LENGTH_CLASSES ? to : TL_LENGTH_CLASSES - 1] += count;
  }
  l->top = top;
}

static void make_space(TlLengths *l, int32_t top) {
  if (l->longest == 0)
    l->top = top;
  else
    raise_top(l, top);
}

void tl_lengths_add(TlLengths *l, double length) {
  if (!(length > 0)) length = 1e-300; /* two centres in one place */
  int32_t e = exponent(length), under;
  make_space(l, e);
  under = l->top - e;
  l->class[under < TL_LENGTH_CLASSES ? under : TL_LENGTH_CLASSES - 1]++;
  l->longest = fmax(l->longest, length);
}

void tl_lengths_merge(TlLengths *l, const TlLengths *other) {
  if (other->longest == 0) return;
  TlLengths theirs = *other;
  make_space(l, other->top);
  raise_top(&theirs, l->top);
  for (int k = 0; k < TL_LENGTH_CLASSES; k++) l->class[k] += theirs.class[k];
  l->longest = fmax(l->longest, other->longest);
}

/* Powers of two between the longest contact and the first level's. */
static int classes_above(const TlLengths *l) {
  int64_t all = 0, above = 0;
  for (int k = 0; k < TL_LENGTH_CLASSES; k++) all += l->class[k];
  int k = 0;
  while (k < TL_LENGTH_CLASSES - 1 && (double)(above + l->class[k]) <= FEW * (double)all)
    above += l->class[k++];
  return k >= WORTH_CLASSES ? k : 0;
}

TlGrids tl_grids(const TlLengths *l) {
  TlGrids g = {0};
  int above = classes_above(l);
  double length = above ? ldexp(1, l->top - above) : l->longest;
  for (; g.levels < TL_GRID_LEVELS; length *= NEXT) {
    bool last = length >= l->longest || g.levels == TL_GRID_LEVELS - 1;
    if (last) length = l->longest;
    g.length[g.levels] = length;
    g.side[g.levels++] = length > 0 ? TL_GRIDS * length * (1 + SLACK) : 1;
    if (last) break;
  }
  return g;
}

typedef struct Place {
  int64_t x, y, z;
} Place;

static Place place_of(TlVec3 p, double side, double shift) {
  return (Place){(int64_t)floor(p.x / side + shift), (int64_t)floor(p.y / side + shift),
                 (int64_t)floor(p.z / side + shift)};
}

static bool same_place(const Place *a, const Place *b) {
  return a->x == b->x && a->y == b->y && a->z == b->z;
}

static TlCell cell_at(const TlGrids *g, int level, int grid, const Place *p) {
  double side = g->side[level], shift = SHIFT[grid];
  uint64_t h = tl_random_mix((uint64_t)p->x + 0x9e3779b97f4a7c15u);
  h = tl_random_mix(h ^ ((uint64_t)p->y * 0xc2b2ae3d27d4eb4fu));
  h = tl_random_mix(h ^ ((uint64_t)p->z * 0xc2b2ae3d27d4eb4fu));
  return (TlCell){.phase = TL_GRIDS * level + grid,
                  .key = h,
                  .centre = {((double)p->x + 0.5 - shift) * side,
                             ((double)p->y + 0.5 - shift) * side,
                             ((double)p->z + 0.5 - shift) * side}};
}

TlCell tl_grids_cell(const TlGrids *g, TlVec3 a, TlVec3 b) {
  double length = tl_norm(tl_sub(a, b));
  int level = 0, grid = 0;
  while (level < g->levels - 1 && length > g->length[level]) level++;
  Place at = {0}, other;
  for (; grid < TL_GRIDS; grid++) {
    at = place_of(a, g->side[level], SHIFT[grid]);
    other = place_of(b, g->side[level], SHIFT[grid]);
    if (same_place(&at, &other)) break;
  }
  return cell_at(g, level, grid < TL_GRIDS ? grid : TL_GRIDS - 1, &at);
}
