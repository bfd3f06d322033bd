#include "image/label.h"

#include "base/mem.h"
#include "base/par.h"
#include "image/label_impl.h"
#include "num/quantile.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- grains cut at a border ---- */

static uint32_t greatest_label(const TlVolume *labels) {
  uint32_t most = 0;
  for (int64_t i = 0; i < tl_volume_count(labels); i++)
    most = labels->u32[i] > most ? labels->u32[i] : most;
  return most;
}

void tl_label_flag_planes(const TlVolume *shape, const TlRoi *roi, int64_t begin, int64_t end,
                          const uint32_t *labels, uint8_t *flags) {
  for (int64_t z = begin; z < end; z++)
    for (int64_t y = 0; y < shape->ny; y++)
      for (int64_t x = 0; x < shape->nx; x++, labels++)
        if (*labels > 0 && !flags[*labels] && tl_roi_cuts(roi, shape, x, y, z)) flags[*labels] = 1;
}

TlStatus tl_label_border(const TlVolume *labels, const TlRoi *roi, uint8_t **flags,
                         uint32_t count) {
  assert(labels->type == TL_U32);
  assert(greatest_label(labels) <= count);
  uint8_t *flag;
  TL_TRY(TL_NEW(flag, (size_t)count + 1));
  tl_label_flag_planes(labels, roi, 0, labels->nz, labels->u32, flag);
  *flags = flag;
  return TL_OK;
}

/* ---- relief to labels ---- */

/* Which basins are markers, by the rule or (NULL) by the user. */
static void mark(const TlRelief *relief, const TlPeak *peaks, size_t count, const TlGrainRule *rule,
                 uint8_t *marked) {
  for (size_t i = 0; rule && i < count; i++)
    marked[peaks[i].id] = tl_grains_rise(rule, (double)peaks[i].peak, (double)peaks[i].saddle) >
                          tl_grains_least_rise(rule);
  for (size_t id = TL_RELIEF_FIRST_ID; !rule && id < relief->ids; id++)
    marked[id] = relief->basin[id].marker > 0;
}

static TlStatus sweep(TlRelief *relief, const TlPeak *peaks, size_t count, const TlLabelOptions *o,
                      TlGrainRule rule, uint8_t *marked) {
  for (int i = 0; i < o->sweep_count; i++) {
    TlGrains grains;
    rule.h_voxels = o->sweep_h[i];
    mark(relief, peaks, count, &rule, marked);
    TL_TRY(tl_grains_flood(relief, marked, &rule, o->min_voxels, &grains));
    o->sweep_grains[i] = grains.count;
    tl_grains_free(&grains);
  }
  return TL_OK;
}

TlStatus tl_label_check_grains(const TlLabelOptions *o, const TlGrains *grains) {
  if (grains->count > 0) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "no grain has %lld voxels or more (%u smaller ones were found); lower "
                 "--min-voxels",
                 (long long)o->min_voxels, grains->dropped);
}

TlStatus tl_label_find_grains(TlRelief *relief, const TlLabelOptions *o, const double edge[3],
                              bool users, TlGrains *grains) {
  TlPeak *peaks = NULL;
  uint8_t *marked = NULL;
  size_t count = 0;
  TlGrainRule rule = {.h_voxels = o->h_voxels,
                      .h_relative = o->h_relative,
                      .neck = o->neck,
                      .grey = o->grey != NULL,
                      .edge = {edge[0], edge[1], edge[2]}};
  TL_TRY(tl_relief_close(relief));
  TlStatus status = tl_grains_peaks(relief, &peaks, &count);
  if (status == TL_OK) status = TL_NEW(marked, relief->ids);
  if (status == TL_OK) status = sweep(relief, peaks, count, o, rule, marked);
  if (status == TL_OK) {
    mark(relief, peaks, count, users ? NULL : &rule, marked);
    status = tl_grains_flood(relief, marked, users ? NULL : &rule, o->min_voxels, grains);
  }
  tl_free(peaks);
  tl_free(marked);
  return status;
}

/* ---- summary ---- */

static double diameter(int64_t voxels) {
  return cbrt(6 * (double)voxels / M_PI);
}

/* Median over whole grains, over all when every grain is cut. */
TlStatus tl_label_summarise(const TlGrains *grains, const uint8_t *border, TlLabelResult *r) {
  float *d;
  int64_t n = 0;
  *r = (TlLabelResult){.grains = grains->count,
                       .dropped = grains->dropped,
                       .dropped_voxels = grains->dropped_voxels,
                       .unreached = grains->unreached};
  TL_TRY(TL_NEW(d, (size_t)r->grains + 1));
  for (uint32_t g = 1; g <= r->grains; g++) r->border += border[g];
  for (uint32_t g = 1; g <= r->grains; g++) {
    r->grain_voxels += grains->voxels[g];
    if (!border[g] || r->border == r->grains) d[n++] = (float)diameter(grains->voxels[g]);
  }
  r->median_diameter = (double)tl_select(d, n, n / 2);
  tl_free(d);
  return TL_OK;
}

typedef struct TlRenumber {
  const TlRelief *relief;
  const uint32_t *number;
  uint32_t *ids;
} TlRenumber;

static TlStatus put_numbers(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const TlRenumber *r = context;
  (void)block, (void)thread;
  for (int64_t i = begin; i < end; i++) r->ids[i] = r->number[tl_relief_id(r->relief, r->ids[i])];
  return TL_OK;
}

TlStatus tl_label_renumber(const TlRelief *relief, const uint32_t *number, uint32_t *ids,
                           int64_t count) {
  return tl_par_blocks(count, 1 << 18, put_numbers,
                       &(TlRenumber){.relief = relief, .number = number, .ids = ids});
}

/* ---- a stack in memory ---- */

TlStatus tl_label(const TlVolume *mask, const TlRoi *roi, const TlLabelOptions *o, TlVolume *labels,
                  TlLabelResult *result) {
  TlLabelPlan plan;
  TlLayers layers;
  TlVolumeSink into = {.volume = labels};
  TlLayerSink sink = tl_sink_of(&into);
  *result = (TlLabelResult){0};
  TL_TRY(tl_label_plan(mask, o, 0, &plan));
  TL_TRY(tl_volume_like(labels, mask, TL_U32));
  tl_layers_of(mask, &layers);
  TlStatus status =
      tl_sink_end(&sink, tl_label_layers(&layers, roi, o, &plan, NULL, &sink, result));
  tl_layers_close(&layers);
  if (status != TL_OK) tl_volume_free(labels);
  return status;
}
