/* Avatars of a regular tetrahedron, a cross and a cylinder: exact distance on the grid, mass
 * properties in closed form, nodes on faces, edges and vertices.
 *
 * Body axes are principal axes: the given ones where all moments are equal (tetrahedron, cross);
 * a cylinder's axis is z where it is flat and x where it is long, and scan_rotation takes body
 * axes to the given ones (cylinder along z). scan_centroid_m is 0. SI units; label 0, border false.
 * node_count 0: spaced a tenth of the diameter; else the nearest the lattice allows. TL_EUSAGE for
 * sizes that make no sense: the least half extent must span two cells of spacing_m.
 */
#ifndef TL_SHAPE_SOLIDS_H
#define TL_SHAPE_SOLIDS_H

#include "shape/avatar.h"

/* Vertices at (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1) times edge / sqrt 8. */
TlStatus tl_avatar_tetrahedron(double edge_m, double spacing_m, int32_t node_count, TlAvatar *out);

/* Three square bars along x, y, z through the origin, tip to tip length_m, width_m thick: the cross
 * of Tang 2014 Fig. 10. Sharp where spacing_m divides length_m and width_m evenly. */
TlStatus tl_avatar_cross(double length_m, double width_m, double spacing_m, int32_t node_count,
                         TlAvatar *out);

/* The exact signed distance to that cross, with its gradient (may be NULL): inside and on edges that of
 * the nearest face, of tied ones the first. */
double tl_cross_phi(double length_m, double width_m, TlVec3 p, TlVec3 *gradient);
/* Points of its surface, corners and edges among them, spaced by about step_m; out NULL: their number. */
int32_t tl_cross_nodes(double length_m, double width_m, double step_m, TlVec3 *out);

/* Flat ends at z = -length/2 and length/2. */
TlStatus tl_avatar_cylinder(double radius_m, double length_m, double spacing_m, int32_t node_count,
                            TlAvatar *out);

#endif
