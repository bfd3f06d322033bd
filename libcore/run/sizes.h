/* How many grains of which size: the list release.sizes made into single grains.
 *
 * A row of the list is a range of volume-equivalent diameters with a number of grains, or with its
 * share of the mass of release.count grains (so a grading is such a list). Grains come from those
 * of the selection that fall in the range, or, with release.resize, from all of them, made to a
 * diameter drawn evenly from the range. Without a list: release.count grains as they are.
 */
#ifndef TL_RUN_SIZES_H
#define TL_RUN_SIZES_H

#include "run/assembly.h"

typedef struct TlDrawnGrain {
  int64_t avatar_id;
  double scale, radius_m; /* bounding radius at that scale */
  int64_t order;          /* in which it was drawn */
  int32_t material;
} TlDrawnGrain;

/* Fresh memory, the largest first. Draws are a function of seed and number. Reads the whole
 * selection: for one rank. Errors at the study's key: a range without grains, no number. */
TlStatus tl_sizes_draw(const TlPlace *place, TlDrawnGrain **grains, int64_t *count);

#endif
