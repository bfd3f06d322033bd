/* Surface nodes of an avatar: evenly spread points on phi = 0 of the stored grid, with areas.
 *
 * The surface is cut into many small samples (triangles of mesh.h, their middles brought onto the
 * trilinear phi = 0 by Newton along grad phi), nodes are chosen by farthest-point thinning, evened
 * out by a few rounds of Lloyd's relaxation along the surface, and each gets the area of the
 * samples nearest to it (those facing away do not count as near, so thin plates keep two sides).
 * No ray is cast: any topology and concavity. Repeatable bit for bit.
 */
#ifndef TL_SHAPE_NODES_H
#define TL_SHAPE_NODES_H

#include "shape/avatar.h"

typedef struct TlNodeOptions {
  int32_t count;    /* > 0: so many nodes; wins over spacing_m */
  double spacing_m; /* > 0: mean distance of neighbours; both 0: a tenth of the
                     * diameter, but no less than a cell */
} TlNodeOptions;

/* Needs grid, volume_m3 and area_m2 (areas are scaled to sum to it); sets node_count, node_m,
 * node_area_m2, radius_m, axes_m. TL_EINPUT when that
 * asks for fewer than 4 nodes, or for more than a quarter of the samples. */
TlStatus tl_nodes_place(TlAvatar *avatar, const TlNodeOptions *options);

/* Bring p onto the stored trilinear phi = 0 (to 1e-4 spacing); false when none is within reach. */
bool tl_nodes_project(const TlAvatar *avatar, TlVec3 *p);

/* radius_m and axes_m from nodes and surface (called by tl_nodes_place). */
TlStatus tl_nodes_extents(TlAvatar *avatar);

#endif
