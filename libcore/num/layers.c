#include "num/layers.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void tl_layers_close(TlLayers *layers) {
  if (layers->close) layers->close(layers->self);
  tl_volume_free(&layers->head);
  *layers = (TlLayers){0};
}

static TlStatus copy_layers(void *self, int64_t z, int64_t count, void *voxels) {
  const TlVolume *v = self;
  size_t layer = (size_t)(v->nx * v->ny) * tl_voxel_size(v->type);
  memcpy(voxels, v->u8 + (size_t)z * layer, (size_t)count * layer);
  return TL_OK;
}

void tl_layers_of(const TlVolume *volume, TlLayers *layers) {
  *layers = (TlLayers){
      .head = tl_volume_head(volume), .self = (void *)(uintptr_t)volume, .read = copy_layers};
}

TlStatus tl_layers_grey(const TlLayers *layers, int64_t z, int64_t count, TlVolume *grey) {
  TlVolume raw;
  const TlVolume *head = &layers->head;
  TL_TRY(tl_volume_new(&raw, head->type, head->nx, head->ny, count));
  TlStatus status = tl_layers_read(layers, z, count, raw.data);
  if (status == TL_OK) status = tl_volume_part_to_f32(&raw, z, grey);
  tl_volume_free(&raw);
  return status;
}

/* ---- labels ---- */

static TlStatus whole_numbers(const TlVolume *raw, int64_t z, uint32_t *out) {
  int64_t count = tl_volume_count(raw);
  for (int64_t i = 0; i < count; i++) {
    double value = tl_volume_value(raw, i);
    if (!(value >= 0 && value <= UINT32_MAX && value == floor(value)))
      return tl_fail(TL_EINPUT,
                     "%g at voxel (%lld, %lld, %lld) is not a label; whole numbers from 0 wanted",
                     value, (long long)(i % raw->nx), (long long)(i / raw->nx % raw->ny),
                     (long long)(z + i / raw->nx / raw->ny));
    out[i] = (uint32_t)value;
  }
  return TL_OK;
}

static TlStatus read_labels(void *self, int64_t z, int64_t count, void *voxels) {
  const TlLayers *inner = self;
  TlVolume raw;
  TL_TRY(tl_volume_new(&raw, inner->head.type, inner->head.nx, inner->head.ny, count));
  TlStatus status = tl_layers_read(inner, z, count, raw.data);
  if (status == TL_OK) status = whole_numbers(&raw, z, voxels);
  tl_volume_free(&raw);
  return status;
}

static void close_labels(void *self) {
  tl_layers_close(self);
  tl_free(self);
}

TlStatus tl_layers_labels(TlLayers *layers) {
  TlLayers *inner;
  if (layers->head.type == TL_U32) return TL_OK;
  TL_TRY(TL_NEW(inner, 1));
  *inner = *layers;
  *layers = (TlLayers){tl_volume_head(&inner->head), inner, read_labels, close_labels};
  layers->head.type = TL_U32;
  layers->head.history = inner->head.history; /* handed over */
  inner->head.history = NULL;
  return TL_OK;
}

/* ---- sinks ---- */

static TlStatus append_to_volume(void *self, int64_t count, const void *voxels) {
  TlVolumeSink *s = self;
  const TlVolume *v = s->volume;
  size_t layer = (size_t)(v->nx * v->ny) * tl_voxel_size(v->type);
  assert(s->done + count <= v->nz);
  memcpy(v->u8 + (size_t)s->done * layer, voxels, (size_t)count * layer);
  s->done += count;
  return TL_OK;
}

static TlStatus finish_volume(void *self) {
  const TlVolumeSink *s = self;
  if (s->done == s->volume->nz) return TL_OK;
  return tl_fail(TL_EINPUT, "%lld of %lld layers came", (long long)s->done,
                 (long long)s->volume->nz);
}

static void drop_volume(void *self) {
  (void)self;
}

TlLayerSink tl_sink_of(TlVolumeSink *into) {
  return (TlLayerSink){
      .self = into, .append = append_to_volume, .finish = finish_volume, .drop = drop_volume};
}

TlStatus tl_sink_end(TlLayerSink *sink, TlStatus status) {
  if (!sink->self) return status;
  if (status == TL_OK)
    status = sink->finish(sink->self);
  else
    sink->drop(sink->self);
  *sink = (TlLayerSink){0};
  return status;
}
