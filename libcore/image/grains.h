/* From hills to grains: which peaks of a relief are grains of their own, and what floods from them.
 *
 * Persistence (Edelsbrunner 2002): going down through the passes, where two hills meet the lower
 * peak ends; what it rose above that pass is its persistence. It is a marker when that is enough by
 * the rule of image/label.h. Then hills without a marker join, at their highest pass, one that has
 * (the spanning forest of passes, which is what flooding from the markers gives).
 */
#ifndef TL_IMAGE_GRAINS_H
#define TL_IMAGE_GRAINS_H

#include "image/relief.h"

#include <stdbool.h>

/* A peak's life: heights of the peak and of the pass where it ends (0 for one that ends nowhere).
 */
typedef struct TlPeak {
  float peak, saddle;
  uint32_t id;
} TlPeak;

typedef struct TlGrains {
  uint32_t *number; /* by hill of the relief (tl_relief_id): 1..count in order of first voxel, 0
                       none; owned */
  int64_t *voxels;  /* by number, count + 1; owned */
  int64_t *first;   /* by number: least index of a voxel; owned */
  uint32_t count;
  uint32_t dropped; /* too small */
  int64_t dropped_voxels, unreached;
} TlGrains;

/* When two hills are one grain (image/label.h). */
typedef struct TlGrainRule {
  double h_voxels, h_relative;
  double neck;
  double edge[3]; /* of a voxel */
  bool grey;      /* hills and passes come with clues of the grey: they have a say, too */
} TlGrainRule;

#define TL_NECK_LEAST_RISE 0.25
#define TL_NECK_A_RISE 0.5

/* What the grey must show for two grains, with the contact's width (image/label.h). */
#define TL_GREY_DIP 0.2 /* least dips */
#define TL_GREY_DIP_A_WIDTH 0.4
#define TL_GREY_STEP 0.02 /* of the contrast */
#define TL_GREY_STEP_A_WIDTH 0.05
#define TL_GREY_ONE_WIDTH 0.3
enum { TL_GREY_LEAST_SEEN = 8 }; /* inner faces, core voxels */

/* Lives of all peaks, ended first to last; *count of them. Sorts the relief's passes. Owner of
 * *peaks: the caller. */
TlStatus tl_grains_peaks(TlRelief *relief, TlPeak **peaks, size_t *count);

/* The rise integral of image/label.h: */
double tl_grains_rise(const TlGrainRule *rule, double peak, double saddle);
/* What a marker must rise at least. */
double tl_grains_least_rise(const TlGrainRule *rule);

/* marked: by id, 1 for basins that are markers. Grains of fewer than min_voxels are dropped. With a
 * rule, grains without a neck between them are joined before that; NULL: none is. */
TlStatus tl_grains_flood(TlRelief *relief, const uint8_t *marked, const TlGrainRule *rule,
                         int64_t min_voxels, TlGrains *grains);
void tl_grains_free(TlGrains *grains);

#endif
