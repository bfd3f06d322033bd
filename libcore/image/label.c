#include "image/label.h"

#include "base/log.h"
#include "base/mem.h"
#include "image/gaussian.h"
#include "image/select.h"
#include "itk/itk.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

/* ---- numbering ---- */

static uint32_t greatest_label(const TlVolume *labels) {
  uint32_t most = 0;
  for (int64_t i = 0; i < tl_volume_count(labels); i++)
    most = labels->u32[i] > most ? labels->u32[i] : most;
  return most;
}

TlStatus tl_label_canonical(TlVolume *labels, int64_t min_voxels, uint32_t *count,
                            uint32_t *dropped, int64_t *dropped_voxels) {
  assert(labels->type == TL_U32);
  int64_t n = tl_volume_count(labels), *size, lost_voxels = 0;
  uint32_t most = greatest_label(labels), next = 0, lost = 0, *number = NULL;
  TL_TRY(TL_NEW(size, (size_t)most + 1));
  TlStatus status = TL_NEW(number, (size_t)most + 1);
  for (int64_t i = 0; status == TL_OK && i < n; i++) size[labels->u32[i]]++;
  for (int64_t i = 0; status == TL_OK && i < n; i++) {
    uint32_t old = labels->u32[i];
    if (old == 0) continue;
    if (size[old] < min_voxels) {
      lost += size[old] > 0 && number[old] == 0;
      number[old] = UINT32_MAX; /* seen, dropped */
      lost_voxels++;
      labels->u32[i] = 0;
      continue;
    }
    if (number[old] == 0) number[old] = ++next;
    labels->u32[i] = number[old];
  }
  *count = next;
  if (dropped) *dropped = lost;
  if (dropped_voxels) *dropped_voxels = lost_voxels;
  tl_free(size);
  tl_free(number);
  return status;
}

static bool cut_here(const TlVolume *v, const TlRoi *roi, int64_t x, int64_t y, int64_t z) {
  if (x == 0 || y == 0 || z == 0 || x == v->nx - 1 || y == v->ny - 1 || z == v->nz - 1) return true;
  if (roi->kind == TL_ROI_ALL) return false;
  return !(tl_roi_inside(roi, x - 1, y, z) && tl_roi_inside(roi, x + 1, y, z) &&
           tl_roi_inside(roi, x, y - 1, z) && tl_roi_inside(roi, x, y + 1, z) &&
           tl_roi_inside(roi, x, y, z - 1) && tl_roi_inside(roi, x, y, z + 1));
}

TlStatus tl_label_border(const TlVolume *labels, const TlRoi *roi, uint8_t **flags,
                         uint32_t count) {
  assert(labels->type == TL_U32);
  uint8_t *flag;
  TL_TRY(TL_NEW(flag, (size_t)count + 1));
  for (int64_t z = 0; z < labels->nz; z++)
    for (int64_t y = 0; y < labels->ny; y++)
      for (int64_t x = 0; x < labels->nx; x++) {
        uint32_t label = labels->u32[tl_volume_at(labels, x, y, z)];
        if (label > 0 && label <= count && !flag[label] && cut_here(labels, roi, x, y, z))
          flag[label] = 1;
      }
  *flags = flag;
  return TL_OK;
}

/* ---- distance, markers, watershed ---- */

static TlStatus clean_mask(const TlVolume *mask, const TlRoi *roi, TlVolume *clean) {
  int64_t grain = 0, other = 0;
  TL_TRY(tl_volume_like(clean, mask, TL_U8));
  for (int64_t z = 0; z < mask->nz; z++)
    for (int64_t y = 0; y < mask->ny; y++)
      for (int64_t x = 0; x < mask->nx; x++) {
        if (!tl_roi_inside(roi, x, y, z)) continue;
        int64_t i = tl_volume_at(mask, x, y, z);
        clean->u8[i] = tl_volume_value(mask, i) > 0;
        grain += clean->u8[i];
        other += !clean->u8[i];
      }
  if (grain > 0 && other > 0) return TL_OK;
  tl_volume_free(clean);
  return tl_fail(TL_EINPUT, "the mask is all %s: there are no grains to tell apart",
                 grain ? "grain" : "void");
}

/* Distance -> smoothed -> f(d) of label.h, in place; 0 outside the mask. */
static TlStatus shape_field(TlVolume *field, const TlVolume *mask, const TlLabelOptions *o) {
  const double sigma[3] = {o->sigma, o->sigma, o->sigma};
  TL_TRY(tl_gaussian_floats(field->f32, field->nx, field->ny, field->nz, sigma, TL_GAUSSIAN_AUTO));
#pragma omp parallel for
  for (int64_t i = 0; i < tl_volume_count(field); i++) {
    double d = fmax((double)field->f32[i], 1e-3);
    double f = o->h_relative > 0 ? log1p(o->h_relative * d / o->h_voxels) / o->h_relative
                                 : d / o->h_voxels;
    field->f32[i] = mask->u8[i] ? (float)f : 0;
  }
  return TL_OK;
}

static TlStatus flood(const TlVolume *mask, const TlLabelOptions *o, TlVolume *labels) {
  TlVolume field = {0}, markers = {0};
  uint32_t count;
  TlProgress progress = tl_progress_start("labelling", 4);
  TlStatus status = tl_itk_distance(mask, &field);
  tl_progress(&progress, 1);
  if (status == TL_OK) status = shape_field(&field, mask, o);
  tl_progress(&progress, 2);
  if (status == TL_OK) status = tl_itk_markers(&field, 1, &markers, &count);
  tl_progress(&progress, 3);
  if (status == TL_OK) status = tl_itk_watershed(&field, &markers, mask, labels);
  tl_progress_end(&progress);
  tl_volume_free(&field);
  tl_volume_free(&markers);
  return status;
}

/* ---- summary ---- */

static double diameter(int64_t voxels) {
  return cbrt(6 * (double)voxels / M_PI);
}

/* Median over whole grains, over all when every grain is cut. */
static TlStatus summarise(const TlVolume *labels, const TlRoi *roi, TlLabelResult *r) {
  uint8_t *border;
  int64_t *size = NULL, n = 0;
  float *d = NULL;
  TL_TRY(tl_label_border(labels, roi, &border, r->grains));
  TlStatus status = TL_NEW(size, (size_t)r->grains + 1);
  if (status == TL_OK) status = TL_NEW(d, (size_t)r->grains + 1);
  if (status == TL_OK) {
    for (int64_t i = 0; i < tl_volume_count(labels); i++) size[labels->u32[i]]++;
    for (uint32_t g = 1; g <= r->grains; g++) r->border += border[g];
    for (uint32_t g = 1; g <= r->grains; g++) {
      r->grain_voxels += size[g];
      if (!border[g] || r->border == r->grains) d[n++] = (float)diameter(size[g]);
    }
    r->median_diameter = (double)tl_select(d, n, n / 2);
  }
  tl_free(border);
  tl_free(size);
  tl_free(d);
  return status;
}

static int64_t count_unreached(const TlVolume *mask, const TlVolume *labels) {
  int64_t n = 0;
  for (int64_t i = 0; i < tl_volume_count(mask); i++) n += mask->u8[i] && !labels->u32[i];
  return n;
}

static TlStatus number_and_check(const TlVolume *mask, const TlRoi *roi, const TlLabelOptions *o,
                                 TlVolume *labels, TlLabelResult *r) {
  r->unreached = count_unreached(mask, labels);
  TL_TRY(tl_label_canonical(labels, o->min_voxels, &r->grains, &r->dropped, &r->dropped_voxels));
  if (r->grains == 0)
    return tl_fail(TL_EINPUT,
                   "no grain has %lld voxels or more (%u smaller ones were found); lower "
                   "--min-voxels",
                   (long long)o->min_voxels, r->dropped);
  return summarise(labels, roi, r);
}

TlStatus tl_label(const TlVolume *mask, const TlRoi *roi, const TlLabelOptions *options,
                  TlVolume *labels, TlLabelResult *result) {
  assert(options->h_voxels > 0 && options->h_relative >= 0);
  TlVolume clean;
  *labels = (TlVolume){0};
  *result = (TlLabelResult){0};
  TL_TRY(clean_mask(mask, roi, &clean));
  TlStatus status = flood(&clean, options, labels);
  if (status == TL_OK) status = number_and_check(&clean, roi, options, labels, result);
  for (int k = 0; k < 3; k++) labels->voxel_m[k] = mask->voxel_m[k];
  tl_volume_free(&clean);
  if (status != TL_OK) tl_volume_free(labels);
  return status;
}
