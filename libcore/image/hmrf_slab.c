#include "image/hmrf_slab.h"

#include "base/mem.h"
#include "image/filters.h"
#include "image/hmrf_field.h"

#include <math.h>

enum { LOCAL_REACH = 8, HALO = LOCAL_REACH + TL_CORE_EROSION };

static const double LOCAL_SIGMA = 2;     /* voxels, of the local levels; 4 sigma = LOCAL_REACH */
static const double DARKEST_GRAIN = 0.2; /* of the gap, below the global grain level */

static int64_t deepest(int64_t nz, int64_t slices) {
  return slices + 2 * HALO < nz ? slices + 2 * HALO : nz;
}

int64_t tl_hmrf_slab_bytes(int64_t nx, int64_t ny, int64_t nz, int64_t slices) {
  int64_t own = slices < nz ? slices : nz;
  return nx * ny * (deepest(nz, slices) * 15 + own * 8);
}

TlStatus tl_hmrf_slab_new(TlHmrfSlab *s, int64_t nx, int64_t ny, int64_t nz, int64_t slices) {
  size_t own = (size_t)((slices < nz ? slices : nz) * ny * nx);
  size_t n = (size_t)(deepest(nz, slices) * ny * nx);
  *s = (TlHmrfSlab){0};
  TL_TRY(TL_NEW(s->grey, n));
  TL_TRY(TL_NEW(s->classes, n));
  TL_TRY(TL_NEW(s->core, n));
  TL_TRY(TL_NEW(s->scratch, n));
  TL_TRY(TL_NEW(s->low, own));
  TL_TRY(TL_NEW(s->high, own));
  TL_TRY(TL_NEW(s->work[0], n));
  return TL_NEW(s->work[1], n);
}

void tl_hmrf_slab_free(TlHmrfSlab *s) {
  tl_free(s->grey);
  tl_free(s->classes);
  tl_free(s->core);
  tl_free(s->scratch);
  tl_free(s->low);
  tl_free(s->high);
  tl_free(s->work[0]);
  tl_free(s->work[1]);
  *s = (TlHmrfSlab){0};
}

/* The own slices' levels with their drift. */
static void drift_levels(const TlHmrfSlab *s, const TlHmrfModel *m, int which, float *level) {
  int64_t nx = m->grey->nx, ny = m->grey->ny;
#pragma omp parallel for
  for (int64_t k = 0; k < (s->at.end - s->at.begin) * ny; k++)
    tl_levels_row(&m->levels, which, nx, k % ny, s->at.begin + k / ny, level + k * nx);
}

/* Core greys less the drift's level into work[0], cores into work[1]. */
static void core_greys(const TlHmrfSlab *s, const TlHmrfModel *m, int which) {
  int64_t nx = m->grey->nx, ny = m->grey->ny, depth = s->at.high - s->at.low;
  tl_core_find(s->classes, nx, ny, depth, (uint8_t)which, m->levels.erosion[which], s->core,
               s->scratch);
#pragma omp parallel for
  for (int64_t k = 0; k < depth * ny; k++) {
    const float *grey = s->grey + k * nx;
    const uint8_t *core = s->core + k * nx;
    float *sum = s->work[0] + k * nx, *weight = s->work[1] + k * nx;
    tl_levels_row(&m->levels, which, nx, k % ny, s->at.low + k / ny, sum);
    for (int64_t x = 0; x < nx; x++) {
      weight[x] = core[x];
      sum[x] = core[x] ? grey[x] - sum[x] : 0;
    }
  }
}

/* level (the drift's in): core greys less level, smoothed, with a hundredth of nothing mixed in so
 * that places far from any core keep the drift's level. */
static TlStatus local_level(TlHmrfSlab *s, const TlHmrfModel *m, int which, float *level) {
  int64_t nx = m->grey->nx, ny = m->grey->ny, depth = s->at.high - s->at.low;
  double sigma[3], unit = tl_field_unit(m->grey->voxel_m);
  for (int a = 0; a < 3; a++)
    sigma[a] = unit > 0 ? fmin(LOCAL_SIGMA * unit / m->grey->voxel_m[a], LOCAL_SIGMA) : LOCAL_SIGMA;
  core_greys(s, m, which);
  for (int k = 0; k < 2; k++)
    TL_TRY(tl_gaussian_floats(s->work[k], nx, ny, depth, sigma, TL_GAUSSIAN_DIRECT));
  int64_t n = (s->at.end - s->at.begin) * ny * nx, first = (s->at.begin - s->at.low) * ny * nx;
  const float *sum = s->work[0] + first, *weight = s->work[1] + first;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) level[i] += sum[i] / (weight[i] + 0.01F);
  return TL_OK;
}

/* Grain stays brighter than void wherever the levels went. */
static void keep_apart(TlHmrfSlab *s, const TlHmrfModel *m) {
  int64_t n = (s->at.end - s->at.begin) * m->grey->ny * m->grey->nx;
  double gap = m->levels.level[1] - m->levels.level[0];
  float least = (float)((1 - DARKEST_GRAIN) * gap) * (m->local_void ? 0.5F : 1);
  float void_most = (float)(m->levels.level[0] + 0.5 * gap);
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    if (s->low[i] > void_most) s->low[i] = void_most;
    if (s->high[i] < s->low[i] + least) s->high[i] = s->low[i] + least;
  }
}

TlStatus tl_hmrf_slab_load(TlHmrfSlab *s, const TlHmrfModel *m, int64_t begin, int64_t end) {
  int64_t nz = m->grey->nz;
  s->at = (TlSlab){.begin = begin, .end = end};
  s->at.low = begin > HALO ? begin - HALO : 0;
  s->at.high = end + HALO < nz ? end + HALO : nz;
  TL_TRY(tl_source_read(m->grey, s->at.low, s->at.high - s->at.low, s->grey));
  tl_classes_of(m->mask, m->roi, s->at.low, s->at.high, s->classes);
  drift_levels(s, m, 0, s->low);
  drift_levels(s, m, 1, s->high);
  if (m->local_void) TL_TRY(local_level(s, m, 0, s->low));
  TL_TRY(local_level(s, m, 1, s->high));
  keep_apart(s, m);
  return TL_OK;
}
