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
#include "shape/triangle_tree.h"

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

/* Surface nodes of a mesh: sharp vertices and edges kept, the rest spread evenly (from_mesh.h). */

/* Needs grid, volume_m3 and area_m2 of the avatar, tree of the mesh in its body frame; sets
 * node_count, node_m, node_area_m2 (summing to area_m2), radius_m, axes_m. */
TlStatus tl_mesh_nodes_place(const TlTriangleTree *tree, int32_t count, double sharp_deg,
                             TlAvatar *avatar);

/* Fewer nodes: every N-th of an avatar (Tan 2022 4.5.1).
 *
 * Nodes 0, N, 2N, ... stay, each with the areas of all nodes that it is the nearest of those to, so
 * the areas still sum to the surface's. Grid, mass and bounds stay as they are. A contact search
 * costs in proportion to the nodes; what lies between them is missed, so corners sink in deeper,
 * and a law of a force a node (not of a surface) becomes N times as soft.
 */

/* out: a fresh avatar, for tl_avatar_free. TL_EINPUT when fewer than 4 nodes would be left. */
TlStatus tl_avatar_thin(const TlAvatar *avatar, int64_t every, TlAvatar *out);

#endif
