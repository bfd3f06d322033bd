/* A stack by layers (slices of one z), for stacks larger than memory.
 *
 * The readers and writers of files (io/stack.h) give a TlLayers to read from and a TlLayerSink to
 * write to; the image processing knows only these. A filter that works slab by slab asks for a
 * number of layers and a halo, and appends the finished layers in order. */
#ifndef TL_NUM_LAYERS_H
#define TL_NUM_LAYERS_H

#include "num/volume.h"

typedef struct TlLayers {
  TlVolume head; /* size, type, voxel_m, history; data is NULL. Owned */
  void *self;
  /* Layers z to z + count - 1, which must be there, into voxels (nx*ny*count of head.type). In any
   * order of calls; one thread at a time. TL_EIO, TL_EINPUT: the file is damaged, said by name. */
  TlStatus (*read)(void *self, int64_t z, int64_t count, void *voxels);
  void (*close)(void *self);
} TlLayers;

static inline TlStatus tl_layers_read(const TlLayers *layers, int64_t z, int64_t count,
                                      void *voxels) {
  return layers->read(layers->self, z, count, voxels);
}
/* The same as floats: grey is a new F32 volume of count layers. TL_EINPUT as well when a voxel is
 * not finite, naming it by its place in the stack. */
TlStatus tl_layers_grey(const TlLayers *layers, int64_t z, int64_t count, TlVolume *grey);
/* A stack of labels as U32, whatever its type: takes *layers over, and is in its place then.
 * Reading gives TL_EINPUT naming the first voxel that is no whole number from 0. */
TlStatus tl_layers_labels(TlLayers *layers);
void tl_layers_close(TlLayers *layers); /* zeroed and closed ones are fine */
/* A volume in memory as layers; borrowed until close. */
void tl_layers_of(const TlVolume *volume, TlLayers *layers);

/* The layers of a new stack one after the other, from z = 0. finish: TL_OK only when all of them
 * are in place; drop: nothing is left behind. One of the two ends it. */
typedef struct TlLayerSink {
  void *self;
  TlStatus (*append)(void *self, int64_t count, const void *voxels);
  TlStatus (*finish)(void *self);
  void (*drop)(void *self);
} TlLayerSink;

static inline TlStatus tl_sink_append(const TlLayerSink *sink, int64_t count, const void *voxels) {
  return sink->append(sink->self, count, voxels);
}
/* Into a volume in memory, borrowed, which has the size and type of what comes. To finish with
 * fewer layers than it has is TL_EINPUT; drop leaves it as it is. */
typedef struct TlVolumeSink {
  TlVolume *volume;
  int64_t done; /* layers so far, 0 at first */
} TlVolumeSink;
TlLayerSink tl_sink_of(TlVolumeSink *into);
/* finish when status is TL_OK, else drop; the status of the whole. */
TlStatus tl_sink_end(TlLayerSink *sink, TlStatus status);

#endif
