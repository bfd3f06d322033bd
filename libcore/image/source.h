/* Grey slices on demand, as floats: the input of filters that work slab by slab, a volume in memory
 * or a file (num/layers.h). Slices are z, y, x with x fastest. Slabs begin at multiples of
 * TL_SLAB_STEP, so that sums over blocks of that size never cross two slabs and have the same bits
 * for any slab thickness. */
#ifndef TL_IMAGE_SOURCE_H
#define TL_IMAGE_SOURCE_H

#include "image/roi.h"
#include "num/volume.h"

#include <stdbool.h>

enum { TL_SLAB_STEP = 16 };

typedef struct TlSource {
  int64_t nx, ny, nz;
  double voxel_m[3];
  /* Slices [z, z + n) into grey (n*ny*nx floats); may be called for any z in any order. */
  TlStatus (*read)(const void *context, int64_t z, int64_t n, float *grey);
  const void *context; /* borrowed */
  bool negated;        /* greys are handed out with their sign turned (dark grains) */
} TlSource;

/* A volume of any type in memory, a stack by layers; borrowed. */
TlSource tl_source_volume(const TlVolume *volume);
TlSource tl_source_layers(const TlLayers *layers);
/* Slices [z, z + n), negated if asked. TL_EINPUT naming the first voxel that is not finite. */
TlStatus tl_source_read(const TlSource *source, int64_t z, int64_t n, float *grey);

/* The region as slices [z, z + n) see it, a new one (tl_roi_free). */
TlStatus tl_roi_part(const TlRoi *roi, int64_t z, int64_t n, TlRoi *part);

/* Slab k of a stack cut every `thick` slices (0: whole), with a halo that the stack's ends cut. */
typedef struct TlSlab {
  int64_t begin, end; /* its own slices */
  int64_t low, high;  /* with the halo */
} TlSlab;
TlSlab tl_slab(int64_t nz, int64_t thick, int64_t halo, int64_t k);
int64_t tl_slab_count(int64_t nz, int64_t thick);

#endif
