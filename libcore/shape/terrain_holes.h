/* Holes of a heightfield: no-data samples not connected (8 neighbours) to the raster's border. */
#ifndef TL_SHAPE_TERRAIN_HOLES_H
#define TL_SHAPE_TERRAIN_HOLES_H

#include "base/status.h"

#include <stdint.h>

typedef struct TlHoles {
  int64_t holes, samples; /* how many, and their samples together */
  int64_t first;          /* j*nx + i of the first one's first sample */
  int64_t *index;         /* the samples, ascending, owned (tl_free) */
} TlHoles;

/* 8 neighbours, since two voids that touch at a corner share a missing patch. One pass, O(nx ny).
 */
TlStatus tl_holes_find(TlHoles *holes, const float *height, int64_t nx, int64_t ny);

/* Gives every hole sample the discrete harmonic function of its rim (mean of its 4 neighbours: no
 * new highs or lows), by conjugate gradients to 1e-6 of the largest residual; TL_ELIMIT when that
 * is not met. */
TlStatus tl_holes_fill(const TlHoles *holes, float *height, int64_t nx, int64_t ny);

#endif
