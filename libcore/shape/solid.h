/* Functions for avatars of solids with an exact distance: the grid about them, phi on it, nodes.
 *
 * A solid hands in its signed distance f(p) (exact, metres, < 0 inside, body frame); phi is that
 * distance on the grid, and phi_error_m is measured against it. Nodes are handed in on the surface
 * of the solid and are brought onto the trilinear zero set, which rounds edges within a cell.
 * Solids are star-shaped about the origin, their centre of mass.
 */
#ifndef TL_SHAPE_SOLID_H
#define TL_SHAPE_SOLID_H

#include "shape/avatar.h"

typedef double (*TlSolidDistance)(const void *solid, TlVec3 p);

/* TL_EUSAGE unless the least and most half extents fit the spacing: 2 to 1000 cells. */
TlStatus tl_solid_check(double least, double most, double spacing_m, int32_t node_count);

/* A grid three cells wider than the box [low, high]; the body's lower faces lie on grid planes, the
 * upper ones too when the spacing divides the extent. Allocates phi. */
TlStatus tl_solid_grid(TlVec3 low, TlVec3 high, double spacing_m, TlAvatar *out);

/* phi, gradient_max and phi_error_m by f, which is called from several threads. */
TlStatus tl_solid_fill(TlSolidDistance f, const void *solid, TlAvatar *out);

/* Surface point with the area it stands for; memory for `capacity` nodes must be there. */
TlStatus tl_solid_node(TlAvatar *out, TlVec3 p, double area_m2);
TlStatus tl_solid_reserve_nodes(TlAvatar *out, int64_t capacity);
/* Edge of the cells that spread so many nodes over the surface (0: a tenth of the diameter). */
double tl_solid_node_step(const TlAvatar *out, int32_t node_count);

#endif
