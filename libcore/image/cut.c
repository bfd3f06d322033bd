#include "image/cut.h"

#include "base/log.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 16 };

/* ---- crop ---- */

TlStatus tl_cut_crop_head(const TlVolume *head, const int64_t low[3], const int64_t size[3],
                          TlVolume *cut) {
  const int64_t n[3] = {head->nx, head->ny, head->nz};
  for (int k = 0; k < 3; k++)
    if (low[k] < 0 || size[k] < 1 || size[k] > n[k] || low[k] > n[k] - size[k])
      return tl_fail(
          TL_EUSAGE, "%lld voxels from voxel %lld along %c: the stack has %lld (0 to %lld) there",
          (long long)size[k], (long long)low[k], "xyz"[k], (long long)n[k], (long long)n[k] - 1);
  *cut = tl_volume_head(head);
  cut->nx = size[0];
  cut->ny = size[1];
  cut->nz = size[2];
  for (int k = 0; k < 2; k++) cut->cylinder[k] -= (double)low[k];
  return TL_OK;
}

static TlStatus crop_layer(const TlLayers *stack, const int64_t low[3], int64_t z,
                           const TlVolume *cut, uint8_t *layer, uint8_t *part) {
  size_t size = tl_voxel_size(stack->head.type), row = (size_t)cut->nx * size;
  TL_TRY(tl_layers_read(stack, low[2] + z, 1, layer));
  for (int64_t y = 0; y < cut->ny; y++)
    memcpy(part + (size_t)y * row, layer + (size_t)((low[1] + y) * stack->head.nx + low[0]) * size,
           row);
  return TL_OK;
}

TlStatus tl_cut_crop(const TlLayers *stack, const int64_t low[3], const TlVolume *cut,
                     const TlLayerSink *sink) {
  size_t size = tl_voxel_size(stack->head.type);
  uint8_t *layer, *part = NULL;
  TL_TRY(TL_NEW(layer, (size_t)(stack->head.nx * stack->head.ny) * size));
  TlStatus status = TL_NEW(part, (size_t)(cut->nx * cut->ny) * size);
  TlProgress progress = tl_progress_start("cropping", cut->nz);
  for (int64_t z = 0; z < cut->nz && status == TL_OK; z++) {
    status = crop_layer(stack, low, z, cut, layer, part);
    if (status == TL_OK) status = tl_sink_append(sink, 1, part);
    tl_progress(&progress, z + 1);
  }
  tl_progress_end(&progress);
  tl_free(layer);
  tl_free(part);
  return status;
}

/* ---- what is outside ---- */

TlVolume tl_cut_mask_head(const TlVolume *head, const TlRoi *roi) {
  TlVolume masked = tl_volume_head(head);
  if (roi->kind != TL_ROI_CYLINDER) return masked;
  masked.cylinder[0] = roi->x;
  masked.cylinder[1] = roi->y;
  masked.cylinder[2] = roi->r;
  return masked;
}

static int64_t blank_outside(const TlVolume *head, const TlRoi *roi, int64_t z, uint8_t *layer) {
  size_t size = tl_voxel_size(head->type);
  int64_t outside = 0;
  for (int64_t y = 0; y < head->ny; y++)
    for (int64_t x = 0; x < head->nx; x++) {
      if (tl_roi_inside(roi, x, y, z)) continue;
      memset(layer + (size_t)(y * head->nx + x) * size, 0, size);
      outside++;
    }
  return outside;
}

TlStatus tl_cut_mask(const TlLayers *stack, const TlRoi *roi, const TlLayerSink *sink,
                     int64_t *outside) {
  const TlVolume *head = &stack->head;
  uint8_t *layer;
  *outside = 0;
  TL_TRY(TL_NEW(layer, (size_t)(head->nx * head->ny) * tl_voxel_size(head->type)));
  TlStatus status = TL_OK;
  TlProgress progress = tl_progress_start("masking", head->nz);
  for (int64_t z = 0; z < head->nz && status == TL_OK; z++) {
    status = tl_layers_read(stack, z, 1, layer);
    if (status != TL_OK) break;
    *outside += blank_outside(head, roi, z, layer);
    status = tl_sink_append(sink, 1, layer);
    tl_progress(&progress, z + 1);
  }
  tl_progress_end(&progress);
  tl_free(layer);
  return status;
}

/* ---- coarser ---- */

TlStatus tl_cut_coarse_head(const TlVolume *head, int factor, TlVolume *coarse) {
  if (head->type == TL_U32)
    return tl_fail(TL_EUSAGE, "u32 voxels are labels: a mean of two grains' numbers is a third's");
  if (factor < 1 || head->nx < factor || head->ny < factor || head->nz < factor)
    return tl_fail(TL_EUSAGE, "%lld x %lld x %lld voxels cannot be made coarser %d times",
                   (long long)head->nx, (long long)head->ny, (long long)head->nz, factor);
  *coarse = tl_volume_head(head);
  coarse->nx /= factor;
  coarse->ny /= factor;
  coarse->nz /= factor;
  for (int k = 0; k < 3; k++) coarse->voxel_m[k] *= factor;
  for (int k = 0; k < 2; k++) /* the first cube's centre is the new origin */
    coarse->cylinder[k] = (coarse->cylinder[k] - 0.5 * (factor - 1)) / factor;
  coarse->cylinder[2] /= factor;
  return TL_OK;
}

static void put(TlVolume *v, int64_t i, double value) {
  double whole = floor(value + 0.5);
  switch (v->type) {
  case TL_U8:
    v->u8[i] = (uint8_t)whole;
    break;
  case TL_I8:
    v->i8[i] = (int8_t)whole;
    break;
  case TL_U16:
    v->u16[i] = (uint16_t)whole;
    break;
  case TL_I16:
    v->i16[i] = (int16_t)whole;
    break;
  case TL_U32:
    v->u32[i] = (uint32_t)whole;
    break;
  case TL_I32:
    v->i32[i] = (int32_t)whole;
    break;
  case TL_F32:
    v->f32[i] = (float)value;
    break;
  }
}

double tl_cut_cube_mean(const TlVolume *fine, int factor, int64_t x, int64_t y, int64_t z) {
  double sum = 0;
  for (int64_t k = 0; k < factor; k++)
    for (int64_t j = 0; j < factor; j++) {
      int64_t row = tl_volume_at(fine, x * factor, y * factor + j, z * factor + k);
      for (int64_t i = 0; i < factor; i++) sum += tl_volume_value(fine, row + i);
    }
  return sum / (factor * factor * factor);
}

static void average(const TlVolume *fine, int factor, TlVolume *coarse) {
#pragma omp parallel for schedule(static)
  for (int64_t y = 0; y < coarse->ny; y++)
    for (int64_t x = 0; x < coarse->nx; x++)
      put(coarse, y * coarse->nx + x, tl_cut_cube_mean(fine, factor, x, y, 0));
}

TlStatus tl_cut_coarse(const TlLayers *stack, int factor, const TlVolume *coarse,
                       const TlLayerSink *sink) {
  const TlVolume *head = &stack->head;
  TlVolume fine, layer = {0};
  TL_TRY(tl_volume_new(&fine, head->type, head->nx, head->ny, factor));
  TlStatus status = tl_volume_new(&layer, head->type, coarse->nx, coarse->ny, 1);
  TlProgress progress = tl_progress_start("averaging", coarse->nz);
  for (int64_t z = 0; z < coarse->nz && status == TL_OK; z++) {
    status = tl_layers_read(stack, z * factor, factor, fine.data);
    if (status != TL_OK) break;
    average(&fine, factor, &layer);
    status = tl_sink_append(sink, 1, layer.data);
    tl_progress(&progress, z + 1);
  }
  tl_progress_end(&progress);
  tl_volume_free(&fine);
  tl_volume_free(&layer);
  return status;
}

/* ---- grey levels ---- */

typedef void (*Visit)(TlCutLevels *levels, double value);

static TlStatus each_voxel(const TlLayers *stack, const TlRoi *roi, Visit visit,
                           TlCutLevels *levels) {
  const TlVolume *head = &stack->head;
  TlVolume part;
  TlStatus status = TL_OK;
  TL_TRY(tl_volume_new(&part, head->type, head->nx, head->ny, AT_ONCE));
  for (int64_t z = 0; z < head->nz && status == TL_OK; z += AT_ONCE) {
    part.nz = head->nz - z < AT_ONCE ? head->nz - z : AT_ONCE;
    status = tl_layers_read(stack, z, part.nz, part.data);
    for (int64_t i = 0; status == TL_OK && i < tl_volume_count(&part); i++) {
      int64_t x = i % part.nx, y = i / part.nx % part.ny, k = i / part.nx / part.ny;
      if (tl_roi_inside(roi, x, y, z + k)) visit(levels, tl_volume_value(&part, i));
    }
  }
  tl_volume_free(&part);
  return status;
}

static void range(TlCutLevels *l, double value) {
  if (!isfinite(value)) {
    l->not_finite++;
    return;
  }
  l->voxels++;
  l->min = fmin(l->min, value);
  l->max = fmax(l->max, value);
}

static void take(TlCutLevels *l, double value) {
  if (!isfinite(value)) return;
  int64_t bin = (int64_t)((value - l->low) / l->width);
  l->count[bin < l->bins ? bin : l->bins - 1]++;
}

/* Level of the voxel at a fraction of all. */
static int64_t quantile(const TlCutLevels *l, double fraction) {
  int64_t sum = 0, bin = 0;
  while (bin + 1 < l->bins && (double)(sum += l->count[bin]) < fraction * (double)l->voxels) bin++;
  return bin;
}

static void sum_up(TlCutLevels *l, bool integers) {
  int64_t first = quantile(l, 0.01), last = quantile(l, 0.99), empty = 0;
  for (int64_t i = 0; i < l->bins; i++) l->used += l->count[i] > 0;
  for (int64_t i = first; i <= last; i++) empty += l->count[i] == 0;
  if (!integers) return;
  l->comb = (double)empty / (double)(last - first + 1);
  for (double most = l->max; l->min >= 0 && most >= 1; most = floor(most / 2)) l->bits++;
  l->at_ends = l->count[0] + l->count[l->bins - 1];
}

static TlStatus choose_bins(const TlLayers *stack, TlCutLevels *l, bool *integers) {
  size_t size = tl_voxel_size(stack->head.type);
  TlVoxelType type = stack->head.type;
  *integers = size <= 2;
  if (l->voxels == 0) return tl_fail(TL_EINPUT, "the region holds no voxel with a finite value");
  if (*integers) {
    l->bins = size == 1 ? 256 : 65536;
    l->low = type == TL_I8 || type == TL_I16 ? -0.5 * (double)l->bins : 0;
    l->width = 1;
  } else {
    l->bins = 4096;
    l->low = l->min;
    l->width = l->max > l->min ? (l->max - l->min) / (double)l->bins : 1;
  }
  return TL_NEW(l->count, (size_t)l->bins);
}

TlStatus tl_cut_levels(const TlLayers *stack, const TlRoi *roi, TlCutLevels *levels) {
  bool integers;
  *levels = (TlCutLevels){.min = INFINITY, .max = -INFINITY};
  TL_TRY(each_voxel(stack, roi, range, levels));
  TL_TRY(choose_bins(stack, levels, &integers));
  TlStatus status = each_voxel(stack, roi, take, levels);
  if (status == TL_OK) sum_up(levels, integers);
  if (status != TL_OK) tl_cut_levels_free(levels);
  return status;
}

void tl_cut_levels_free(TlCutLevels *levels) {
  tl_free(levels->count);
  *levels = (TlCutLevels){0};
}
