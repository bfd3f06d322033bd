#include "image/levels.h"

#include "base/mem.h"
#include "image/filters.h"

#include <math.h>

enum { MOST_BANDS = 12, HALO = 4, SLOPES = 1024, LEAST_VOXELS = 300 };
#define SMOOTHED 0.5 /* voxels */
#define HALF_BIN 0.05

/* Slopes of 0 to 1 gap a voxel, by u: 0.1 to 0.9, and 1. */
typedef struct Counts {
  int64_t slope[TL_PROFILE + 1][SLOPES], voxels[TL_PROFILE + 1];
} Counts;

/* phi(Phi^-1(u)) at u = 0.1 to 0.9. */
static const double edge_slope[TL_PROFILE] = {0.17550, 0.27996, 0.34769, 0.38634, 0.39894,
                                              0.38634, 0.34769, 0.27996, 0.17550};

/* The band's own slices of the smoothed greys; voxels at the stack's faces are left out. */
static void count_band(const TlVolume *v, const TlRoi *roi, const TlSlab *s, int64_t nz,
                       const double level[2], Counts *c) {
  double gap = level[1] - level[0];
  int64_t row = v->nx, plane = v->nx * v->ny;
  for (int64_t z = s->begin > 0 ? s->begin : 1; z < s->end && z + 1 < nz; z++)
    for (int64_t y = 1; y + 1 < v->ny; y++)
      for (int64_t x = 1; x + 1 < v->nx; x++) {
        const float *g = v->f32 + tl_volume_at(v, x, y, z - s->low);
        double u = ((double)*g - level[0]) / gap;
        int64_t bin = (int64_t)floor((u + HALF_BIN) * 10) - 1;
        if (bin < 0 || bin > TL_PROFILE || !tl_roi_inside(roi, x, y, z) ||
            tl_roi_beside_outside(roi, x, y, z))
          continue;
        double dx = 0.5 * (double)(g[1] - g[-1]), dy = 0.5 * (double)(g[row] - g[-row]),
               dz = 0.5 * (double)(g[plane] - g[-plane]);
        double slope = sqrt(dx * dx + dy * dy + dz * dz) / gap * SLOPES;
        c->slope[bin][slope < SLOPES - 1 ? (int64_t)slope : SLOPES - 1]++;
        c->voxels[bin]++;
      }
}

static TlStatus read_band(const TlSource *grey, const TlRoi *roi, const TlSlab *s,
                          TlVolume *smooth) {
  TlVolume part;
  TlRoi own;
  TL_TRY(tl_volume_new(&part, TL_F32, grey->nx, grey->ny, s->high - s->low));
  TlStatus status = tl_roi_part(roi, s->low, s->high - s->low, &own);
  if (status == TL_OK) status = tl_source_read(grey, s->low, s->high - s->low, part.f32);
  if (status == TL_OK) status = tl_gaussian(&part, &own, SMOOTHED, smooth);
  tl_volume_free(&part);
  tl_roi_free(&own);
  return status;
}

/* Between the bins by linear interpolation, gaps a voxel. */
static double median_slope(const int64_t *count, int64_t voxels) {
  double below = 0, half = 0.5 * (double)voxels;
  if (voxels == 0) return 0;
  for (int k = 0; k < SLOPES; k++) {
    double here = (double)count[k];
    if (below + here >= half) return ((double)k + (half - below) / here) / SLOPES;
    below += here;
  }
  return 1;
}

static void judge(const Counts *c, TlThirdPhase *t) {
  double most = 0, ends = 0, middle = INFINITY;
  for (int k = 0; k < TL_PROFILE; k++) {
    if (c->voxels[k] < LEAST_VOXELS) return;
    t->profile[k] = median_slope(c->slope[k], c->voxels[k]) / edge_slope[k];
    most = fmax(most, t->profile[k]);
  }
  for (int k = 0; k < TL_PROFILE - 1; k++) {
    if (k < 2 || k > 5) ends = fmax(ends, t->profile[k]);
    if (k < 2 || k > 5 || t->profile[k] >= middle) continue;
    middle = t->profile[k];
    t->place = 0.1 * (k + 1);
  }
  t->noise = median_slope(c->slope[TL_PROFILE], c->voxels[TL_PROFILE]);
  if (!(ends > 0) || t->noise > TL_PROFILE_NOISE) return;
  for (int k = 0; k < TL_PROFILE; k++) t->profile[k] /= most;
  t->width = 1 / most;
  t->looked = true;
  t->least = middle / ends;
  t->found = t->least < TL_THIRD_PHASE;
}

TlStatus tl_third_phase(const TlSource *grey, const TlRoi *roi, const double level[2],
                        TlThirdPhase *t) {
  Counts *c;
  int64_t slabs = tl_slab_count(grey->nz, TL_SLAB_STEP);
  int64_t bands = slabs < MOST_BANDS ? slabs : MOST_BANDS;
  *t = (TlThirdPhase){0};
  if (!(level[1] > level[0])) return TL_OK;
  TL_TRY(TL_NEW(c, 1));
  TlStatus status = TL_OK;
  for (int64_t k = 0; k < bands && status == TL_OK; k++) {
    TlSlab s = tl_slab(grey->nz, TL_SLAB_STEP, HALO, (2 * k + 1) * slabs / (2 * bands));
    TlVolume smooth;
    status = read_band(grey, roi, &s, &smooth);
    if (status != TL_OK) break;
    count_band(&smooth, roi, &s, grey->nz, level, c);
    tl_volume_free(&smooth);
  }
  if (status == TL_OK) judge(c, t);
  if (!t->looked) *t = (TlThirdPhase){.noise = t->noise};
  tl_free(c);
  return status;
}
