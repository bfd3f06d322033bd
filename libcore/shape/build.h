/* From a level set of one grain in the scan to an avatar (docs/theory/shapes.md).
 *
 * Steps: phi becomes a true distance (reinit.h); volume, centroid and inertia by the corrected
 * smoothed sums (mass.h); the body frame is put on the principal axes and its grid filled with the
 * distance to the same tricubic surface (nothing is lost by resampling distances of distances);
 * nodes (nodes.h); measured errors. The in-situ pose is kept: scan point = scan_centroid_m +
 * R(scan_rotation) body point.
 */
#ifndef TL_SHAPE_BUILD_H
#define TL_SHAPE_BUILD_H

#include "shape/avatar.h"
#include "shape/nodes.h"
#include "shape/reinit.h"

typedef struct TlBuildOptions {
  TlNodeOptions nodes;
  double grid_cells; /* body grid spacing in scan voxels; 0: 1 */
} TlBuildOptions;

/* grid: phi in voxels (roughly a distance near its zero set), one grain in one piece, the surface
 * at least 2 voxels from the box's faces; it is made a true distance in place. corner: grid
 * point (0,0,0) lies at corner * voxel_m in the scan (may be negative), voxel_m: edge of the cells.
 * label and border are noted in *out. Only out->id stays 0. Errors: TL_EINPUT with what is wrong
 * with the grain. About 0.15 s for 28 voxels across. Serial; same bits every time. */
TlStatus tl_avatar_build_from_phi(TlPhiGrid *grid, const int64_t corner[3], double voxel_m,
                                  uint32_t label, bool border, const TlBuildOptions *options,
                                  TlAvatar *out);

/* The last steps alone, for shapes made otherwise: a grid, mass properties and area are there;
 * places the nodes and measures gradient_max and phi_error_m against the surface f = 0, given in
 * units of spacing about the body's origin (f may be NULL: phi_error_m is left as it is). */
TlStatus tl_avatar_finish(TlAvatar *avatar, const TlNodeOptions *nodes, TlImplicit f,
                          const void *context);
/* Those measurements. gradient_max: the largest |grad| of the trilinear phi over the cells that
 * reach phi >= 0 (at a corner of a cell, since each component is affine along each axis). Cells
 * wholly inside do not count: at the medial axis a true distance reaches sqrt 3 there, and a walk
 * that starts outside meets the surface before it meets them. */
double tl_avatar_measure_gradient(const TlAvatar *avatar);
double tl_avatar_measure_error(const TlAvatar *avatar, TlImplicit f, const void *context);

#endif
