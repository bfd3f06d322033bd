#include "num/layers.h"

#include "base/mem.h"

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

TlStatus tl_sink_end(TlLayerSink *sink, TlStatus status) {
  if (!sink->self) return status;
  if (status == TL_OK)
    status = sink->finish(sink->self);
  else
    sink->drop(sink->self);
  *sink = (TlLayerSink){0};
  return status;
}
