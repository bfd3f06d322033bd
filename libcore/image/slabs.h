/* A filter over a stack that may be larger than memory: slab by slab, each read with the
 * further layers on both sides that the filter needs (halo).
 *
 * A filter whose voxels depend on nothing beyond the halo, and not on where its volume begins,
 * gives the same bits as on the whole stack at once; borders of the stack stay borders.
 */
#ifndef TL_IMAGE_SLABS_H
#define TL_IMAGE_SLABS_H

#include "image/roi.h"
#include "num/layers.h"
#include "num/volume.h"

/* grey F32, finite -> out, a new F32 volume of its size. */
typedef TlStatus (*TlSlabFilter)(const void *context, const TlVolume *grey, const TlRoi *roi,
                                 TlVolume *out);

typedef struct TlSlabPlan {
  int64_t slabs, layers; /* layers of a slab without halo; the last may have fewer */
  int64_t halo;
  int64_t bytes;    /* at most, of all that is held at once */
  int64_t filtered; /* layers filtered in all, halos and all */
} TlSlabPlan;

/* head: of the stack. bytes_per_voxel: what the filter takes beside grey and out; fixed_bytes:
 * whatever the slab. memory: bytes allowed, 0 for no limit (one slab). TL_EUSAGE saying how much is
 * needed when not even one layer with its halo fits. */
TlStatus tl_slabs_plan(const TlVolume *head, int64_t halo, double bytes_per_voxel,
                       int64_t fixed_bytes, int64_t memory, TlSlabPlan *plan);

/* Sees each finished layer in order: before and after, nx ny floats, z of the stack. */
typedef void (*TlLayerSeen)(void *context, int64_t z, const float *before, const float *after);

typedef struct TlSlabRun {
  TlSlabFilter filter;
  const void *context;
  TlVoxelType type; /* what is appended (tl_grey_store) */
  TlLayerSeen seen; /* may be NULL */
  void *seen_context;
} TlSlabRun;

/* The stack through the filter into the sink (which the caller ends). */
TlStatus tl_slabs_run(const TlSlabPlan *plan, const TlSlabRun *run, const TlLayers *stack,
                      const TlRoi *roi, const TlLayerSink *sink);

/* Grey levels between the float that the filters work in and the type that is stored. */

/* grey F32 -> out, a new volume of type (U8, I8, U16, I16: rounded to nearest, ties to even, and
 * cut to the type's range; any other type gives F32). Size, voxel_m and history go along. */
TlStatus tl_grey_store(const TlVolume *grey, TlVoxelType type, TlVolume *out);

#endif
