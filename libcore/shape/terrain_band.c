#include "shape/terrain_band.h"

#include "base/mem.h"
#include "base/par.h"
#include "shape/fastmarch.h"
#include "shape/heightfield.h"

#include <math.h>

/* The ground is cut into tiles of samples, each marched with a halo that is wider than the band, so
 * that what its border columns lack never reaches the tile. Marching the whole ground at once
 * visits columns in order of distance, all over memory: measured 7 times slower at 1000 x 1000 than
 * at 300 x 300, and with all scratch alive at once. Tiles are fixed, so threads do not change a
 * bit. */
enum { TILE_COLUMNS = 128, FRAME = 2 };

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

/* Scratch of one tile. Columns (I, J) count from the halo's first sample. */
typedef struct Tile {
  const Band *band;
  int64_t i0, j0;    /* the halo's first sample */
  int64_t nx, ny;    /* columns with halo */
  TlColumns grid;    /* those with the march's frame of empty ones */
  float *low, *high; /* of each patch, in cells; +-infinity where missing */
  int64_t pnx, pny;  /* patches with a frame of `reach` */
  uint8_t *outline;  /* columns within the half width of a missing patch */
  float *phi;        /* in spacings */
  uint8_t *state;
  int64_t count;
} Tile;

static void free_tile(Tile *t) {
  tl_free(t->grid.column);
  tl_free(t->low);
  tl_free(t->high);
  tl_free(t->outline);
  tl_free(t->phi);
  tl_free(t->state);
}

static inline TlColumn *column_of(const Tile *t, int64_t I, int64_t J) {
  return &t->grid.column[(J + FRAME) * t->grid.nx + I + FRAME];
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
      if (!tl_heightfield_patch(&b->field, t->i0 + p - b->reach, t->j0 + q - b->reach, &m))
        continue;
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

static bool column_height(const Tile *t, int64_t I, int64_t J, double *z) {
  const Band *b = t->band;
  TlPatch m;
  double u, v, x = (double)t->i0 + (double)I / b->refine, y = (double)t->j0 + (double)J / b->refine;
  if (!tl_heightfield_locate(&b->field, x, y, &m, &u, &v)) return false;
  *z = (m.a + m.b * u + m.c * v + m.d * u * v) * b->refine;
  return true;
}

static void row_extents(Tile *t, int64_t J, float *scratch) {
  int r = t->band->refine;
  for (int px = 0; px < r; px++) {
    int64_t cells = (t->nx - px + r - 1) / r;
    float *low = scratch, *high = low + cells, *missing = high + cells;
    dilate(t, J, px, cells, low, high, missing);
    for (int64_t c = 0; c < cells; c++) {
      int64_t I = c * r + px;
      double z;
      t->outline[J * t->nx + I] = missing[c] == -INFINITY;
      if (!column_height(t, I, J, &z)) continue;
      double k_low = floor((double)low[c] * r), k_high = ceil((double)high[c] * r);
      *column_of(t, I, J) =
          (TlColumn){0, (int32_t)k_low, (int32_t)(k_high - k_low) + 1, (int32_t)ceil(z)};
    }
  }
}

static TlStatus lay_out(Tile *t) {
  size_t columns = (size_t)(t->grid.nx * t->grid.ny);
  float *scratch;
  TL_TRY(TL_NEW(t->grid.column, columns));
  TL_TRY(TL_NEW(t->outline, columns));
  TL_TRY(TL_NEW(scratch, 3 * (size_t)t->nx));
  for (int64_t J = 0; J < t->ny; J++) row_extents(t, J, scratch);
  tl_free(scratch);
  for (size_t c = 0; c < columns; c++) {
    t->grid.column[c].start = t->count;
    t->count += t->grid.column[c].k_count;
  }
  TL_TRY(TL_NEW(t->phi, (size_t)t->count));
  return TL_NEW(t->state, (size_t)t->count);
}

/* ---- exact distances ---- */

/* Sets one point; true when it lies within `within` spacings. */
static bool set_exact(Tile *t, int64_t I, int64_t J, const TlColumn *column, int32_t k,
                      double within) {
  if (k < column->k_low || k >= column->k_low + column->k_count) return false;
  double r = t->band->refine;
  TlVec3 p = tl_vec3((double)t->i0 + (double)I / r, (double)t->j0 + (double)J / r, k / r);
  double d = r * tl_heightfield_distance(&t->band->field, p, (within + 1) / r * (1 + 1e-6));
  if (!isfinite(d)) return false;
  int64_t at = column->start + k - column->k_low;
  t->phi[at] = (float)(k >= column->k_zero ? d : -d);
  t->state[at] = TL_MARCH_GIVEN;
  return d <= within;
}

/* Along a column phi grows with z (the normal of a heightfield points up), so walking away from the
 * surface until a point is too far finds all of them, except beside the outline, where the nearest
 * point can be on a rim higher up: there every point is tried. */
static void exact_column(Tile *t, int64_t I, int64_t J) {
  const TlColumn *column = column_of(t, I, J);
  if (column->k_count == 0) return;
  if (t->outline[J * t->nx + I]) {
    for (int32_t n = 0; n < column->k_count; n++)
      set_exact(t, I, J, column, column->k_low + n, t->band->limit);
    return;
  }
  const double near = 1 + 1e-6; /* a point beside the surface is at most one spacing from it */
  int32_t k = column->k_zero;
  while (set_exact(t, I, J, column, k, near)) k++;
  k = column->k_zero - 1;
  while (set_exact(t, I, J, column, k, near)) k--;
}

/* ---- into the terrain ---- */

/* The run of points around the surface with |phi| <= limit (points the march never reached hold
 * infinity). */
static void trim(const Tile *t, TlColumn *column, double limit) {
  const float *phi = t->phi + column->start;
  int32_t zero = column->k_zero - column->k_low, end = zero, begin = zero;
  while (end < column->k_count && fabsf(phi[end]) <= limit) end++;
  while (begin > 0 && fabsf(phi[begin - 1]) <= limit) begin--;
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
      TlColumn *column = column_of(t, I - t->i0 * b->refine, J - t->j0 * b->refine);
      if (column->k_count > 0) trim(t, column, limit);
      terrain->k_low[J * terrain->bnx + I] = column->k_low;
      terrain->k_count[J * terrain->bnx + I] = column->k_count;
      product->count += column->k_count;
    }
  TL_TRY(TL_NEW(product->phi, (size_t)product->count));
  for (int64_t J = J0; J < J1; J++)
    for (int64_t I = I0; I < I1; I++) {
      const TlColumn *column = column_of(t, I - t->i0 * b->refine, J - t->j0 * b->refine);
      for (int32_t k = 0; k < column->k_count; k++)
        product->phi[n++] = (float)(h * t->phi[column->start + k]);
    }
  return TL_OK;
}

static TlStatus march_tile(Tile *t, int64_t a, int64_t c, Product *product) {
  TL_TRY(patch_extents(t));
  TL_TRY(lay_out(t));
  for (int64_t J = 0; J < t->ny; J++)
    for (int64_t I = 0; I < t->nx; I++) exact_column(t, I, J);
  TL_TRY(tl_fastmarch(&t->grid, t->phi, t->state, t->band->limit * (1 + 1e-5)));
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
  t.grid.nx = t.nx + 2 * FRAME;
  t.grid.ny = t.ny + 2 * FRAME;
  TlStatus status = march_tile(&t, a, c, &b->tiles[begin]);
  free_tile(&t);
  return status;
}

/* Runs in order of the columns, out of the tiles' pieces. */
static TlStatus gather(const Band *b, TlTerrain *t) {
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
