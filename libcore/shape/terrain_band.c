#include "shape/terrain_band.h"

#include "base/mem.h"
#include "base/par.h"
#include "shape/fastmarch.h"
#include "shape/heightfield.h"

#include <inttypes.h>
#include <math.h>

/* Lengths here are in band spacings h; x and y count from the first sample, z from z0. */
typedef struct Band {
  TlHeightfield field; /* lengths in cells */
  int refine;
  double limit;  /* half width in spacings */
  int64_t reach; /* patches on either side that can come nearer than the half width */
  TlColumns grid;
  float *low, *high; /* of each patch, in cells; +-infinity where missing */
  int64_t pnx, pny;  /* patches with a frame of `reach` missing ones */
  uint8_t *outline;  /* columns within the half width of a missing patch */
  float *phi;
  uint8_t *state;
  int64_t count;
} Band;

static void free_band(Band *b) {
  tl_free(b->grid.column);
  tl_free(b->low);
  tl_free(b->high);
  tl_free(b->outline);
  tl_free(b->phi);
  tl_free(b->state);
}

/* ---- extents of the columns ---- */

static TlStatus patch_extents(Band *b) {
  b->pnx = b->field.nx - 1 + 2 * b->reach;
  b->pny = b->field.ny - 1 + 2 * b->reach;
  TL_TRY(TL_NEW(b->low, (size_t)(b->pnx * b->pny)));
  TL_TRY(TL_NEW(b->high, (size_t)(b->pnx * b->pny)));
#pragma omp parallel for schedule(static)
  for (int64_t q = 0; q < b->pny; q++)
    for (int64_t p = 0; p < b->pnx; p++) {
      TlPatch t;
      float *low = &b->low[q * b->pnx + p], *high = &b->high[q * b->pnx + p];
      *low = INFINITY;
      *high = -INFINITY;
      if (!tl_heightfield_patch(&b->field, p - b->reach, q - b->reach, &t)) continue;
      double z10 = t.a + t.b, z01 = t.a + t.c, z11 = z10 + t.c + t.d;
      *low = (float)fmin(fmin(t.a, z10), fmin(z01, z11));
      *high = (float)fmax(fmax(t.a, z10), fmax(z01, z11));
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
static void dilate(const Band *b, int64_t J, int px, int64_t cells, float *low, float *high,
                   float *missing) {
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
      const float *l = b->low + (j + q + b->reach) * b->pnx + p + b->reach;
      const float *h = b->high + (j + q + b->reach) * b->pnx + p + b->reach;
      for (int64_t c = 0; c < cells; c++) {
        low[c] = l[c] - up < low[c] ? l[c] - up : low[c];
        high[c] = h[c] + up > high[c] ? h[c] + up : high[c];
        missing[c] = h[c] < missing[c] ? h[c] : missing[c];
      }
    }
}

static bool column_height(const Band *b, int64_t I, int64_t J, double *z) {
  TlPatch t;
  double u, v;
  if (!tl_heightfield_locate(&b->field, (double)I / b->refine, (double)J / b->refine, &t, &u, &v))
    return false;
  *z = (t.a + t.b * u + t.c * v + t.d * u * v) * b->refine;
  return true;
}

static void row_extents(const Band *b, int64_t J, float *scratch) {
  for (int px = 0; px < b->refine; px++) {
    int64_t cells = (b->grid.nx - px + b->refine - 1) / b->refine;
    float *low = scratch, *high = low + cells, *missing = high + cells;
    dilate(b, J, px, cells, low, high, missing);
    for (int64_t c = 0; c < cells; c++) {
      int64_t I = c * b->refine + px, at = J * b->grid.nx + I;
      double z;
      b->outline[at] = missing[c] == -INFINITY;
      if (!column_height(b, I, J, &z)) continue;
      double k_low = floor((double)low[c] * b->refine), k_high = ceil((double)high[c] * b->refine);
      b->grid.column[at] =
          (TlColumn){0, (int32_t)k_low, (int32_t)(k_high - k_low) + 1, (int32_t)ceil(z)};
    }
  }
}

static TlStatus extents_block(void *context, int64_t begin, int64_t end, int64_t block,
                              int thread) {
  (void)block, (void)thread;
  Band *b = context;
  float *scratch;
  TL_TRY(TL_NEW(scratch, 3 * (size_t)b->grid.nx));
  for (int64_t J = begin; J < end; J++) row_extents(b, J, scratch);
  tl_free(scratch);
  return TL_OK;
}

static TlStatus lay_out(Band *b) {
  int64_t columns = b->grid.nx * b->grid.ny;
  TL_TRY(TL_NEW(b->grid.column, (size_t)columns));
  TL_TRY(TL_NEW(b->outline, (size_t)columns));
  TL_TRY(tl_par_blocks(b->grid.ny, 16, extents_block, b));
  for (int64_t c = 0; c < columns; c++) {
    b->grid.column[c].start = b->count;
    b->count += b->grid.column[c].k_count;
  }
  if (b->count == 0)
    return tl_fail(TL_EINPUT, "no four neighbouring samples have data: there is no ground");
  TL_TRY(TL_NEW(b->phi, (size_t)b->count));
  return TL_NEW(b->state, (size_t)b->count);
}

/* ---- exact distances ---- */

/* Sets one point; true when it lies within `within` spacings. */
static bool set_exact(const Band *b, int64_t I, int64_t J, const TlColumn *column, int32_t k,
                      double within) {
  if (k < column->k_low || k >= column->k_low + column->k_count) return false;
  double r = b->refine;
  TlVec3 p = tl_vec3((double)I / r, (double)J / r, k / r);
  double d = r * tl_heightfield_distance(&b->field, p, (within + 1) / r * (1 + 1e-6));
  if (!isfinite(d)) return false;
  int64_t at = column->start + k - column->k_low;
  b->phi[at] = (float)(k >= column->k_zero ? d : -d);
  b->state[at] = TL_MARCH_GIVEN;
  return d <= within;
}

/* Along a column phi grows with z (the normal of a heightfield points up), so walking away from the
 * surface until a point is too far finds all of them, except beside the outline, where the nearest
 * point can be on a rim higher up: there every point is tried. */
static void exact_column(const Band *b, int64_t I, int64_t J) {
  const TlColumn *column = &b->grid.column[J * b->grid.nx + I];
  if (column->k_count == 0) return;
  if (b->outline[J * b->grid.nx + I]) {
    for (int32_t n = 0; n < column->k_count; n++)
      set_exact(b, I, J, column, column->k_low + n, b->limit);
    return;
  }
  const double near = 1 + 1e-6; /* a point beside the surface is at most one spacing from it */
  int32_t k = column->k_zero;
  while (set_exact(b, I, J, column, k, near)) k++;
  k = column->k_zero - 1;
  while (set_exact(b, I, J, column, k, near)) k--;
}

static void exact_band(const Band *b) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int64_t J = 0; J < b->grid.ny; J++)
    for (int64_t I = 0; I < b->grid.nx; I++) exact_column(b, I, J);
}

/* ---- into the terrain ---- */

/* The run of points around the surface with known |phi| <= limit. */
static void trim(const Band *b, TlColumn *column) {
  double limit = b->limit * (1 + 1e-5);
  const float *phi = b->phi + column->start;
  const uint8_t *state = b->state + column->start;
  int32_t zero = column->k_zero - column->k_low, end = zero, begin = zero;
  while (end < column->k_count && state[end] != TL_MARCH_FAR && fabsf(phi[end]) <= limit) end++;
  while (begin > 0 && state[begin - 1] != TL_MARCH_FAR && fabsf(phi[begin - 1]) <= limit) begin--;
  column->start += begin;
  column->k_low += begin;
  column->k_count = end - begin;
}

static TlStatus hand_over(Band *b, TlTerrain *t) {
  size_t columns = (size_t)(b->grid.nx * b->grid.ny);
  TL_TRY(TL_NEW(t->k_low, columns));
  TL_TRY(TL_NEW(t->k_count, columns));
  TL_TRY(TL_NEW(t->start, columns));
  t->band_count = 0;
  for (size_t c = 0; c < columns; c++) {
    TlColumn *column = &b->grid.column[c];
    if (column->k_count > 0) trim(b, column);
    t->k_low[c] = column->k_low;
    t->k_count[c] = column->k_count;
    t->start[c] = t->band_count;
    t->band_count += column->k_count;
  }
  TL_TRY(TL_NEW(t->band_phi, (size_t)t->band_count));
#pragma omp parallel for schedule(static)
  for (size_t c = 0; c < columns; c++)
    for (int32_t n = 0; n < t->k_count[c]; n++)
      t->band_phi[t->start[c] + n] =
          (float)(t->band_spacing_m * b->phi[b->grid.column[c].start + n]);
  return TL_OK;
}

static TlStatus make_band(Band *b, TlTerrain *t) {
  TL_TRY(patch_extents(b));
  TL_TRY(lay_out(b));
  exact_band(b);
  TL_TRY(tl_fastmarch(&b->grid, b->phi, b->state, b->limit * (1 + 1e-5)));
  return hand_over(b, t);
}

TlStatus tl_terrain_band(TlTerrain *t, double band_cells, int refine) {
  t->band_m = band_cells * t->cell_m;
  t->band_spacing_m = t->cell_m / refine;
  t->z0_m = 0;
  t->bnx = (t->nx - 1) * refine + 1;
  t->bny = (t->ny - 1) * refine + 1;
  Band b = {.field = {t->nx, t->ny, t->height_m, 1 / t->cell_m},
            .refine = refine,
            .limit = band_cells * refine,
            .reach = (int64_t)ceil(band_cells) + 1,
            .grid = {t->bnx, t->bny, NULL}};
  TlStatus status = make_band(&b, t);
  free_band(&b);
  return status;
}
