/* Greys, classes and local levels of some slices of a stack, the input of the random field
 * (image/hmrf.h). For image/hmrf.c. Arrays are z, y, x. */
#ifndef TL_IMAGE_HMRF_SLAB_H
#define TL_IMAGE_HMRF_SLAB_H

#include "image/levels.h"

/* The model as it stands: all borrowed. */
typedef struct TlHmrfModel {
  const TlSource *grey;
  const TlRoi *roi;
  const TlVolume *mask; /* U8, bit 0: grain */
  TlLevels levels;
  bool local_void; /* both levels follow the cores near by; else the void's only drifts */
} TlHmrfModel;

typedef struct TlHmrfSlab {
  TlSlab at; /* own slices, and those with the halo that grey, classes and core have */
  float *grey;
  uint8_t *classes, *core, *scratch;
  float *low, *high; /* levels of the own slices alone */
  float *work[2];    /* as many slices as grey; free for others' use after a load */
} TlHmrfSlab;

/* Allocates `slices` of its own; call tl_hmrf_slab_free also after a failure. */
TlStatus tl_hmrf_slab_new(TlHmrfSlab *slab, int64_t nx, int64_t ny, int64_t nz, int64_t slices);
void tl_hmrf_slab_free(TlHmrfSlab *slab);
int64_t tl_hmrf_slab_bytes(int64_t nx, int64_t ny, int64_t nz, int64_t slices);
/* Slices [begin, end); the same bits however the stack is cut. */
TlStatus tl_hmrf_slab_load(TlHmrfSlab *slab, const TlHmrfModel *model, int64_t begin, int64_t end);

#endif
