/* Surface nodes of a mesh: sharp vertices and edges kept, the rest spread evenly (from_mesh.h). */
#ifndef TL_SHAPE_MESH_NODES_H
#define TL_SHAPE_MESH_NODES_H

#include "shape/avatar.h"
#include "shape/triangle_tree.h"

/* Needs grid, volume_m3 and area_m2 of the avatar, tree of the mesh in its body frame; sets
 * node_count, node_m, node_area_m2 (summing to area_m2), radius_m, axes_m. */
TlStatus tl_mesh_nodes_place(const TlTriangleTree *tree, int32_t count, double sharp_deg,
                             TlAvatar *avatar);

#endif
