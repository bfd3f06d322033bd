/* Planes of a fine volume, cut into overlapping patches, for training and for applying.
 *
 * A plane normal to axis 0 (x) has coordinates (y, z), to axis 1 (x, z), to axis 2 (x, y): a, b.
 * Patches begin at multiples of the factor, so each lies alike to the coarse voxels; with factor 2
 * those of 5 x 5 overlap by 3. Those at the border extend beyond it by up to 4 voxels, where the
 * volume is mirrored.
 */
#ifndef TL_IMAGE_SUPERRES_PLANES_H
#define TL_IMAGE_SUPERRES_PLANES_H

#include "num/dictionary.h"
#include "num/volume.h"

enum { TL_PLANE_MARGIN = 8 }; /* >= TL_PATCH - 1 + TL_PATCH_RIM */

typedef struct TlPlane {
  int axis;
  int64_t planes, na, nb;             /* how many there are; size of one */
  int64_t stride, stride_a, stride_b; /* between planes, along a and along b; voxels */
} TlPlane;

TlPlane tl_plane_of(const TlVolume *volume, int axis);
static inline int64_t tl_plane_row(const TlPlane *p) {
  return p->na + 2 * TL_PLANE_MARGIN;
}
static inline int64_t tl_plane_padded(const TlPlane *p) {
  return tl_plane_row(p) * (p->nb + 2 * TL_PLANE_MARGIN);
}
/* Rows b of [low - margin, high + margin) of plane k with a mirrored margin, into padded. */
void tl_plane_read(const TlPlane *p, const float *voxels, int64_t k, int64_t low, int64_t high,
                   float *padded);

/* The analysis of windows: y = W w. table: TL_WINDOW_VOXELS rows of TL_DICTIONARY_DIMS, zeros
 * behind dims. at: the windows' first voxels in a plane whose rows are `row` apart. y: count x
 * dims. The same bits whatever other windows there are. */
void tl_windows_analyse(const float *table, int dims, const float *const *at, int64_t count,
                        int64_t row, float *y);
/* analysis (dims x TL_WINDOW_VOXELS) -> table, 64-byte aligned. */
void tl_windows_table(const float *analysis, int dims, float *table);

/* The features of Tan 2022 2.3.4 of one window: first and second differences along a and b at each
 * voxel of the patch, [-1 0 1] and [1 0 -2 0 1] / 2: 4 x TL_PATCH_VOXELS. */
enum { TL_WINDOW_FEATURES = 4 * TL_PATCH_VOXELS };
void tl_window_features(const float *window, int64_t row, double features[TL_WINDOW_FEATURES]);

#endif
