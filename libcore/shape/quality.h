/* The quality of an avatar: residuals, and a verdict by the thresholds of one table.
 *
 *   gradient     rms of | |grad phi| - 1 | over the grid points within 1.5 cells of the surface
 *                (central differences; sharp edges have a kink there and cost some per cent)
 *   node         largest |phi| at a node, cells
 *   volume       |V_n/V - 1|, V_n = 1/3 sum over the nodes of area x.n (divergence theorem, n from
 *                phi), V from the smoothed Heaviside (mass.h): nodes, areas, normals and mass agree
 *   overlap      deepest node inside a neighbour, cells, and the volume in common over V, by
 *                1/2 sum over both grains' nodes of area times depth
 *   agreement    Dice with the label it was seeded by
 *   contact      the widest face it shares with a neighbour, as part of the cross-section of the
 *                smaller one of the two as a ball (image/label_quality.h): labels that cut a grain
 * in two leave such a face, 1.6 through its middle NaN: not known (no neighbours looked at, no
 * label); no threshold applies then.
 */
#ifndef TL_SHAPE_QUALITY_H
#define TL_SHAPE_QUALITY_H

#include "shape/apart.h"

typedef enum TlVerdict { TL_GOOD = 0, TL_DOUBTFUL, TL_REJECTED } TlVerdict;
const char *tl_verdict_name(TlVerdict verdict);

typedef struct TlQuality {
  double gradient, node, volume, overlap_depth, overlap_share, agreement, contact;
  TlVerdict verdict;
  char reason[120]; /* of the worst residuals; "" for good */
} TlQuality;

/* The residuals of the avatar alone; overlap 0 and contact NaN so far. agreement: NaN without a
 * label. */
void tl_quality_measure(const TlAvatar *avatar, double agreement, TlQuality *quality);

/* Common volume (m3) and deepest node (m) of two placed avatars. */
typedef struct TlOverlap {
  double depth_m, volume_m3;
} TlOverlap;
TlOverlap tl_placed_overlap(const TlPlaced *a, const TlPlaced *b);
/* Where a grain lay in its scan. */
TlPlaced tl_placed_in_scan(const TlAvatar *avatar);
/* Takes the overlap with one more neighbour in. */
void tl_quality_add_overlap(TlQuality *quality, const TlAvatar *avatar, TlOverlap overlap);

/* Sets verdict and reason from the residuals. */
void tl_quality_judge(TlQuality *quality);

#endif
