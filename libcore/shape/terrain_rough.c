#include "shape/terrain_rough.h"

#include "base/mem.h"
#include "base/random.h"
#include "shape/terrain_build.h"

#include <math.h>

enum { STREAM = 0x726f7567 };                                          /* of this use of the seed */
static const double MOST_SAMPLES = 2e8, LEAST_BAND = 3, MOST_BAND = 8; /* the last two in cells */

/* Bilinear at sample (i, j) of the finer grid; NaN beside no data. */
static double height_at(const TlTerrain *t, int64_t n, int64_t i, int64_t j) {
  int64_t i0 = i / n, j0 = j / n, i1 = i0 + (i % n > 0), j1 = j0 + (j % n > 0);
  double u = (double)(i % n) / (double)n, v = (double)(j % n) / (double)n;
  double south = (1 - u) * t->height_m[j0 * t->nx + i0] + u * t->height_m[j0 * t->nx + i1];
  double north = (1 - u) * t->height_m[j1 * t->nx + i0] + u * t->height_m[j1 * t->nx + i1];
  return (1 - v) * south + v * north;
}

static int32_t class_at(const TlTerrain *t, int64_t n, int64_t i, int64_t j) {
  return t->class_id[(2 * j + n) / (2 * n) * t->nx + (2 * i + n) / (2 * n)];
}

/* As height_at: filled where a sample that its height hangs on was. */
static uint8_t filled_at(const TlTerrain *t, int64_t n, int64_t i, int64_t j) {
  int64_t i0 = i / n, j0 = j / n, i1 = i0 + (i % n > 0), j1 = j0 + (j % n > 0);
  const uint8_t *south = t->filled + j0 * t->nx, *north = t->filled + j1 * t->nx;
  return south[i0] || south[i1] || north[i0] || north[i1];
}

TlStatus tl_terrain_roughen(TlTerrain *t, double height_m, double spacing_m, uint64_t seed) {
  int64_t n = (int64_t)fmax(1, ceil(t->cell_m / spacing_m * (1 - 1e-12)));
  int64_t nx = (t->nx - 1) * n + 1, ny = (t->ny - 1) * n + 1;
  if ((double)nx * (double)ny > MOST_SAMPLES)
    return tl_fail(TL_EINPUT,
                   "%lld x %lld samples, every %g m, would be too many; a smaller part of the "
                   "terrain (talus-topo --crop), or a larger roughness_spacing_m",
                   (long long)nx, (long long)ny, t->cell_m / (double)n);
  float *height = NULL;
  int32_t *class_id = NULL;
  uint8_t *filled = NULL;
  TlStatus status = TL_NEW(height, (size_t)(nx * ny));
  if (status == TL_OK && t->class_id) status = TL_NEW(class_id, (size_t)(nx * ny));
  if (status == TL_OK && t->filled) status = TL_NEW(filled, (size_t)(nx * ny));
  for (int64_t k = 0; status == TL_OK && k < nx * ny; k++) {
    double up = height_m * tl_random_normal(seed, STREAM, (uint64_t)k);
    height[k] = (float)(height_at(t, n, k % nx, k / nx) + up);
    if (class_id) class_id[k] = class_at(t, n, k % nx, k / nx);
    if (filled) filled[k] = filled_at(t, n, k % nx, k / nx);
  }
  if (status != TL_OK) {
    tl_free(height);
    tl_free(class_id);
    tl_free(filled);
    return status;
  }
  double band_m = t->band_m;
  TlTerrain rough = {.id = t->id,
                     .name = t->name,
                     .crs = t->crs,
                     .origin = {t->origin[0], t->origin[1], t->origin[2]},
                     .nx = nx,
                     .ny = ny,
                     .cell_m = t->cell_m / (double)n,
                     .x0_m = t->x0_m,
                     .y0_m = t->y0_m,
                     .height_m = height,
                     .holes_filled = t->holes_filled,
                     .refined = n,
                     .class_id = class_id,
                     .filled = filled};
  t->name = t->crs = NULL;
  tl_terrain_free(t);
  *t = rough;
  return tl_terrain_band(t, fmin(fmax(band_m / rough.cell_m, LEAST_BAND), MOST_BAND), 1);
}
