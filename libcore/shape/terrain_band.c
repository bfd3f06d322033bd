#include "shape/terrain_build.h"

#include "base/mem.h"
#include "base/par.h"
#include "shape/heightfield.h"

#include <math.h>
#include <string.h>

/* Every band point goes down to its closest point by itself, from where the point before it in the
 * column ended: next to each other they nearly agree. Points that sit in a wrong basin (creases,
 * gullies) are found by their neighbours, whose closest points are tried on them. Rejected: fast
 * marching from exact values beside the ground, which was 57% of 3.5 CPU seconds at 1000 x 1000 and
 * less exact at creases. Worked on in tiles of samples with a halo as wide as the band, whose
 * scratch stays in the cache; tiles are fixed, so threads do not change a bit. */
enum { TILE_COLUMNS = 128 };

typedef struct Band {
  TlHeightfield field; /* lengths in cells */
  int refine;
  double limit;          /* half width in band spacings */
  int64_t reach;         /* patches on either side that can come nearer than the half width */
  int64_t tile, halo;    /* samples */
  int64_t across, up;    /* tiles */
  TlTerrain *terrain;    /* takes k_low and k_count */
  struct Product *tiles; /* [up][across] */
} Band;

/* What a tile leaves: the phi of its own columns, row by row. */
typedef struct Product {
  float *phi;
  int64_t count;
} Product;

/* The run of band points over one place of the plane. */
typedef struct Column {
  int64_t start;
  int32_t k_low, k_count, k_zero; /* points k >= k_zero lie above the ground */
} Column;

/* phi in spacings; the closest point in cells, relative to the tile; NaN: not to be handed on. */
typedef struct Point {
  float phi, x, y, z;
} Point;

/* The points of a column on one side of the ground, from there on. */
typedef struct Walk {
  Point *point;
  size_t count, capacity;
} Walk;

/* Columns walked side by side. */
enum { LANES = TL_HEIGHTFIELD_LANES };
typedef struct Group {
  int64_t I[LANES], J;
  int count;
} Group;

/* Scratch of one tile. Columns (I, J) count from the halo's first sample. */
typedef struct Tile {
  const Band *band;
  int64_t i0, j0; /* the halo's first sample */
  int64_t nx, ny; /* columns with halo */
  Column *column;
  bool broken;       /* some patch within the half width of some column is missing; then: */
  float *low, *high; /* of each patch, in cells; +-infinity where missing */
  int64_t pnx, pny;  /* patches with a frame of `reach` */
  float *row;        /* of columns: what the band can reach, and is the outline near */
  Point *point;
  size_t count, capacity;
  Walk down[LANES], up[LANES]; /* of the columns at hand, from the ground on */
} Tile;

static void free_tile(Tile *t) {
  tl_free(t->column);
  tl_free(t->low);
  tl_free(t->high);
  tl_free(t->row);
  tl_free(t->point);
  for (int l = 0; l < LANES; l++) {
    tl_free(t->down[l].point);
    tl_free(t->up[l].point);
  }
}

/* ---- extents of the columns ---- */

static TlStatus patch_extents(Tile *t) {
  const Band *b = t->band;
  t->pnx = (t->nx - 1) / b->refine + 2 * b->reach;
  t->pny = (t->ny - 1) / b->refine + 2 * b->reach;
  TL_TRY(TL_NEW(t->low, (size_t)(t->pnx * t->pny)));
  TL_TRY(TL_NEW(t->high, (size_t)(t->pnx * t->pny)));
  for (int64_t q = 0; q < t->pny; q++)
    for (int64_t p = 0; p < t->pnx; p++) {
      TlPatch m;
      float *low = &t->low[q * t->pnx + p], *high = &t->high[q * t->pnx + p];
      *low = INFINITY;
      *high = -INFINITY;
      if (!tl_heightfield_patch(&b->field, t->i0 + p - b->reach, t->j0 + q - b->reach, &m)) {
        t->broken = true;
        continue;
      }
      double z10 = m.a + m.b, z01 = m.a + m.c, z11 = z10 + m.c + m.d;
      *low = (float)fmin(fmin(m.a, z10), fmin(z01, z11));
      *high = (float)fmax(fmax(m.a, z10), fmax(z01, z11));
    }
  return TL_OK;
}

/* A patch at offset (p, q) from the column's cell can touch the band of a column at (fx, fy) in
 * that cell at heights up to its own plus this; negative: not at all. */
static double lift_of(const Band *b, int64_t p, int64_t q, double fx, double fy) {
  double dx = fmax(fmax((double)p - fx, fx - (double)p - 1), 0);
  double dy = fmax(fmax((double)q - fy, fy - (double)q - 1), 0);
  double half = b->limit / b->refine, square = half * half - dx * dx - dy * dy;
  return square >= 0 ? sqrt(square) : -1;
}

/* Columns of one row that share the phase px: lowest and highest z (cells) that the band can reach
 * there, by dilating the patches' extents with a ball, and whether a missing patch is that near. */
static void dilate(const Tile *t, int64_t J, int px, int64_t cells, float *low, float *high,
                   float *missing) {
  const Band *b = t->band;
  int64_t j = J / b->refine;
  double fx = (double)px / b->refine, fy = (double)(J % b->refine) / b->refine;
  for (int64_t c = 0; c < cells; c++) {
    low[c] = INFINITY;
    high[c] = -INFINITY;
    missing[c] = 0;
  }
  for (int64_t q = -b->reach; q < b->reach; q++)
    for (int64_t p = -b->reach; p < b->reach; p++) {
      double lift = lift_of(b, p, q, fx, fy);
      if (lift < 0) continue;
      float up = (float)(lift * (1 + 1e-6) + 1e-6);
      const float *l = t->low + (j + q + b->reach) * t->pnx + p + b->reach;
      const float *h = t->high + (j + q + b->reach) * t->pnx + p + b->reach;
      for (int64_t c = 0; c < cells; c++) {
        low[c] = l[c] - up < low[c] ? l[c] - up : low[c];
        high[c] = h[c] + up > high[c] ? h[c] + up : high[c];
        missing[c] = h[c] < missing[c] ? h[c] : missing[c];
      }
    }
}

/* row: for each column of row J the lowest and highest z (cells) the band can reach there, and
 * whether the outline is that near; three runs of nx floats. */
static void row_extents(Tile *t, int64_t J) {
  int r = t->band->refine;
  float *low = t->row, *high = low + t->nx, *near = high + t->nx, *dense = near + t->nx;
  for (int px = 0; px < r; px++) {
    int64_t cells = (t->nx - px + r - 1) / r;
    dilate(t, J, px, cells, dense, dense + cells, dense + 2 * cells);
    for (int64_t c = 0; c < cells; c++) {
      low[c * r + px] = dense[c];
      high[c * r + px] = dense[cells + c];
      near[c * r + px] = dense[2 * cells + c];
    }
  }
}

/* ---- the points of a column ---- */

static TlVec3 place_of(const Tile *t, int64_t I, int64_t J, int32_t k) {
  double r = t->band->refine;
  return tl_vec3((double)t->i0 + (double)I / r, (double)t->j0 + (double)J / r, k / r);
}

static Point point_at(const Tile *t, double phi, TlVec3 p, double x, double y, double d) {
  double rest = d * d - (x - p.x) * (x - p.x) - (y - p.y) * (y - p.y);
  double z = p.z - copysign(rest > 0 ? sqrt(rest) : 0, phi);
  return (Point){(float)phi, (float)(x - (double)t->i0), (float)(y - (double)t->j0), (float)z};
}

/* Of a descent that came down to distance d at (x, y); the slow search where that met the outline.
 */
static Point found_point(const Tile *t, TlVec3 p, bool above, double x, double y, double d) {
  double r = t->band->refine;
  if (d < INFINITY) return point_at(t, above ? r * d : -r * d, p, x, y, d);
  d = r * tl_heightfield_distance(&t->band->field, p, (double)t->band->reach);
  return (Point){(float)(above ? d : -d), NAN, NAN, NAN};
}

/* Points of a group's columns upwards or downwards, each until one is too far; that one is kept
 * too, since a neighbour may know better. A descent starts where the last two points lead. Lanes
 * that have ended go over their last point again. */
static TlStatus walk(const Tile *t, const Group *g, int step, Walk walks[LANES]) {
  double p[3][LANES], x[LANES], y[LANES], last_x[LANES], last_y[LANES], d[LANES];
  int32_t k[LANES];
  bool going[LANES] = {false};
  for (int l = 0; l < LANES; l++) {
    const Column *column = &t->column[g->J * t->nx + g->I[l]];
    k[l] = step > 0 ? column->k_zero : column->k_zero - 1;
    TlVec3 place = place_of(t, g->I[l], g->J, k[l]);
    p[0][l] = x[l] = last_x[l] = place.x;
    p[1][l] = y[l] = last_y[l] = place.y;
    walks[l].count = 0;
    going[l] = l < g->count;
  }
  for (bool some = true; some;) {
    for (int l = 0; l < LANES; l++) {
      double from_x = 2 * x[l] - last_x[l], from_y = 2 * y[l] - last_y[l];
      p[2][l] = k[l] / (double)t->band->refine;
      if (!going[l]) continue;
      last_x[l] = x[l];
      last_y[l] = y[l];
      x[l] = from_x;
      y[l] = from_y;
    }
    tl_heightfield_descend_lanes(&t->band->field, p, x, y, d);
    some = false;
    for (int l = 0; l < LANES; l++) {
      if (!going[l]) continue;
      Walk *w = &walks[l];
      TlVec3 place = tl_vec3(p[0][l], p[1][l], p[2][l]);
      Point found = found_point(t, place, step > 0, x[l], y[l], d[l]);
      TL_TRY(TL_RESERVE(w->point, w->capacity, w->count + 1));
      w->point[w->count++] = found;
      going[l] = fabsf(found.phi) <= t->band->limit;
      if (going[l]) k[l] += step;
      some |= going[l];
    }
  }
  return TL_OK;
}

/* The columns of a group, which is empty then; the last ones' lanes are filled up with the first.
 */
static TlStatus walk_group(Tile *t, Group *g) {
  int count = g->count;
  for (int l = count; l < LANES; l++) g->I[l] = g->I[0];
  g->count = 0;
  if (count == 0) return TL_OK;
  Group full = *g;
  full.count = count;
  TL_TRY(walk(t, &full, -1, t->down));
  TL_TRY(walk(t, &full, 1, t->up));
  for (int l = 0; l < count; l++) {
    Column *column = &t->column[g->J * t->nx + g->I[l]];
    size_t below = t->down[l].count, above = t->up[l].count;
    TL_TRY(TL_RESERVE(t->point, t->capacity, t->count + below + above));
    column->start = (int64_t)t->count;
    column->k_low = column->k_zero - (int32_t)below;
    column->k_count = (int32_t)(below + above);
    for (size_t n = below; n-- > 0;) t->point[t->count++] = t->down[l].point[n];
    memcpy(t->point + t->count, t->up[l].point, above * sizeof *t->point);
    t->count += above;
  }
  return TL_OK;
}

/* Beside the outline the nearest point can be on a rim higher up: every point that the band can
 * reach is looked for among all patches. */
static TlStatus exact_column(Tile *t, int64_t I, int64_t J, double low, double high,
                             Column *column) {
  const Band *b = t->band;
  double r = b->refine;
  column->start = (int64_t)t->count;
  column->k_low = (int32_t)floor(low * r);
  column->k_count = (int32_t)ceil(high * r) - column->k_low + 1;
  TL_TRY(TL_RESERVE(t->point, t->capacity, t->count + (size_t)column->k_count));
  for (int32_t k = column->k_low; k < column->k_low + column->k_count; k++) {
    double d = r * tl_heightfield_distance(&b->field, place_of(t, I, J, k),
                                           (b->limit + 1) / r * (1 + 1e-6));
    t->point[t->count++] = (Point){(float)(k >= column->k_zero ? d : -d), NAN, NAN, NAN};
  }
  return TL_OK;
}

static bool column_height(const Tile *t, int64_t I, int64_t J, double *z) {
  TlVec3 p = place_of(t, I, J, 0);
  TlPatch m;
  double u, v;
  if (!tl_heightfield_locate(&t->band->field, p.x, p.y, &m, &u, &v)) return false;
  *z = (m.a + m.b * u + m.c * v + m.d * u * v) * t->band->refine;
  return true;
}

static TlStatus fill_columns(Tile *t) {
  TL_TRY(TL_NEW(t->column, (size_t)(t->nx * t->ny)));
  if (t->broken) TL_TRY(TL_NEW(t->row, 6 * (size_t)t->nx + 3));
  for (int64_t J = 0; J < t->ny; J++) {
    Group group = {.J = J};
    if (t->broken) row_extents(t, J);
    for (int64_t I = 0; I < t->nx; I++) {
      Column *column = &t->column[J * t->nx + I];
      double z;
      if (!column_height(t, I, J, &z)) continue;
      column->k_zero = (int32_t)ceil(z);
      if (t->broken && t->row[2 * t->nx + I] == -INFINITY) { /* a rim is near */
        TL_TRY(exact_column(t, I, J, t->row[I], t->row[t->nx + I], column));
        continue;
      }
      group.I[group.count++] = I;
      if (group.count == LANES) TL_TRY(walk_group(t, &group));
    }
    TL_TRY(walk_group(t, &group));
  }
  return TL_OK;
}

/* ---- neighbours ---- */

/* Try the closest points that the column at `other` found, on the points of the same height here.
 * 1e-3 spacings: less is not worth a search. */
static void learn_from(Tile *t, int64_t I, int64_t J, int64_t other) {
  const Column *mine = &t->column[J * t->nx + I], *column = &t->column[other];
  int32_t low = mine->k_low > column->k_low ? mine->k_low : column->k_low;
  int32_t end = mine->k_low + mine->k_count, other_end = column->k_low + column->k_count;
  if (other_end < end) end = other_end;
  float r = (float)t->band->refine, px = (float)I / r, py = (float)J / r;
  Point *point = t->point + mine->start - mine->k_low;
  const Point *theirs = t->point + column->start - column->k_low;
  for (int32_t k = low; k < end; k++) {
    float dx = px - theirs[k].x, dy = py - theirs[k].y, dz = (float)k / r - theirs[k].z;
    float near = fabsf(point[k].phi) / r - 1e-3f;
    if (near <= 0 || !(dx * dx + dy * dy + dz * dz < near * near)) continue;
    double x = (double)t->i0 + theirs[k].x, y = (double)t->j0 + theirs[k].y;
    TlVec3 p = place_of(t, I, J, k);
    double d = tl_heightfield_descend(&t->band->field, p, &x, &y);
    Point found = found_point(t, p, k >= mine->k_zero, x, y, d);
    if (fabsf(found.phi) < fabsf(point[k].phi)) point[k] = found;
  }
}

/* Forth and back over the tile: a better closest point travels any way. */
static void learn(Tile *t) {
  for (int64_t J = 0; J < t->ny; J++)
    for (int64_t I = 0; I < t->nx; I++) {
      int64_t c = J * t->nx + I;
      if (I > 0) learn_from(t, I, J, c - 1);
      if (J > 0) learn_from(t, I, J, c - t->nx);
    }
  for (int64_t J = t->ny - 1; J >= 0; J--)
    for (int64_t I = t->nx - 1; I >= 0; I--) {
      int64_t c = J * t->nx + I;
      if (I + 1 < t->nx) learn_from(t, I, J, c + 1);
      if (J + 1 < t->ny) learn_from(t, I, J, c + t->nx);
    }
}

/* ---- into the terrain ---- */

/* The run of points around the surface with |phi| <= limit. */
static void trim(const Tile *t, Column *column, double limit) {
  const Point *point = t->point + column->start;
  int32_t zero = column->k_zero - column->k_low, end = zero, begin = zero;
  while (end < column->k_count && fabsf(point[end].phi) <= limit) end++;
  while (begin > 0 && fabsf(point[begin - 1].phi) <= limit) begin--;
  column->start += begin;
  column->k_low += begin;
  column->k_count = end - begin;
}

/* The tile's own columns, in the terrain's: first, and one past the last. */
static void own_columns(const Band *b, int64_t tile, int64_t bn, int64_t *first, int64_t *end) {
  *first = tile * b->tile * b->refine;
  *end = (tile + 1) * b->tile * b->refine;
  if (*end > bn) *end = bn;
}

static TlStatus keep(Tile *t, int64_t a, int64_t c, Product *product) {
  const Band *b = t->band;
  TlTerrain *terrain = b->terrain;
  double limit = b->limit * (1 + 1e-5), h = terrain->band_spacing_m;
  int64_t I0, I1, J0, J1, n = 0;
  own_columns(b, a, terrain->bnx, &I0, &I1);
  own_columns(b, c, terrain->bny, &J0, &J1);
  for (int64_t J = J0; J < J1; J++)
    for (int64_t I = I0; I < I1; I++) {
      Column *column = &t->column[(J - t->j0 * b->refine) * t->nx + I - t->i0 * b->refine];
      if (column->k_count > 0) trim(t, column, limit);
      terrain->k_low[J * terrain->bnx + I] = column->k_low;
      terrain->k_count[J * terrain->bnx + I] = column->k_count;
      product->count += column->k_count;
    }
  TL_TRY(TL_NEW(product->phi, (size_t)product->count));
  for (int64_t J = J0; J < J1; J++)
    for (int64_t I = I0; I < I1; I++) {
      const Column *column = &t->column[(J - t->j0 * b->refine) * t->nx + I - t->i0 * b->refine];
      for (int32_t k = 0; k < column->k_count; k++)
        product->phi[n++] = (float)(h * t->point[column->start + k].phi);
    }
  return TL_OK;
}

static TlStatus make_tile(Tile *t, int64_t a, int64_t c, Product *product) {
  TL_TRY(patch_extents(t));
  TL_TRY(fill_columns(t));
  learn(t);
  return keep(t, a, c, product);
}

/* Columns from the first sample of the halo to its last. */
static int64_t halo_range(const Band *b, int64_t tile, int64_t samples, int64_t *first) {
  int64_t from = tile * b->tile - b->halo, to = (tile + 1) * b->tile + b->halo;
  *first = from > 0 ? from : 0;
  return ((to < samples ? to : samples) - 1 - *first) * b->refine + 1;
}

static TlStatus tile_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  (void)end, (void)block, (void)thread;
  const Band *b = context;
  int64_t a = begin % b->across, c = begin / b->across;
  Tile t = {.band = b};
  t.nx = halo_range(b, a, b->field.nx, &t.i0);
  t.ny = halo_range(b, c, b->field.ny, &t.j0);
  TlStatus status = make_tile(&t, a, c, &b->tiles[begin]);
  free_tile(&t);
  return status;
}

/* Runs in order of the columns, out of the tiles' pieces. */
static TlStatus gather(Band *b, TlTerrain *t) {
  t->band_count = 0;
  for (int64_t c = 0; c < t->bnx * t->bny; c++) {
    t->start[c] = t->band_count;
    t->band_count += t->k_count[c];
  }
  if (t->band_count == 0)
    return tl_fail(TL_EINPUT, "no four neighbouring samples have data: there is no ground");
  TL_TRY(TL_NEW(t->band_phi, (size_t)t->band_count));
  for (int64_t tile = 0; tile < b->across * b->up; tile++) {
    int64_t I0, I1, J0, J1, n = 0;
    own_columns(b, tile % b->across, t->bnx, &I0, &I1);
    own_columns(b, tile / b->across, t->bny, &J0, &J1);
    for (int64_t J = J0; J < J1; J++)
      for (int64_t c = J * t->bnx + I0; c < J * t->bnx + I1; c++)
        for (int32_t k = 0; k < t->k_count[c]; k++)
          t->band_phi[t->start[c] + k] = b->tiles[tile].phi[n++];
    tl_free(b->tiles[tile].phi); /* not all pieces and the whole band at once */
    b->tiles[tile].phi = NULL;
  }
  return TL_OK;
}

static TlStatus make_band(Band *b, TlTerrain *t) {
  size_t columns = (size_t)(t->bnx * t->bny);
  TL_TRY(TL_NEW(t->k_low, columns));
  TL_TRY(TL_NEW(t->k_count, columns));
  TL_TRY(TL_NEW(t->start, columns));
  TL_TRY(TL_NEW(b->tiles, (size_t)(b->across * b->up)));
  TL_TRY(tl_par_blocks(b->across * b->up, 1, tile_block, b));
  return gather(b, t);
}

TlStatus tl_terrain_band(TlTerrain *t, double band_cells, int refine) {
  t->band_m = band_cells * t->cell_m;
  t->band_spacing_m = t->cell_m / refine;
  t->z0_m = 0;
  t->bnx = (t->nx - 1) * refine + 1;
  t->bny = (t->ny - 1) * refine + 1;
  int64_t reach = (int64_t)ceil(band_cells) + 1;
  Band b = {.field = {t->nx, t->ny, t->height_m, 1 / t->cell_m},
            .refine = refine,
            .limit = band_cells * refine,
            .reach = reach,
            .tile = TILE_COLUMNS / refine,
            .halo = reach + 1,
            .terrain = t};
  b.across = (t->nx + b.tile - 1) / b.tile;
  b.up = (t->ny + b.tile - 1) / b.tile;
  TlStatus status = make_band(&b, t);
  for (int64_t tile = 0; b.tiles && tile < b.across * b.up; tile++) tl_free(b.tiles[tile].phi);
  tl_free(b.tiles);
  return status;
}
