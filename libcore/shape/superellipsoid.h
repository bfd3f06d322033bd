/* Avatars of analytic bodies: superellipsoid (and with it ellipsoid and sphere) and box.
 *
 * Superellipsoid (|x/a|^(2/ee) + |y/b|^(2/ee))^(ee/en) + |z/c|^(2/en) = 1, YADE's convention:
 * ee = en = 1 an ellipsoid, towards 0 a box, 2 an octahedron. Mass properties in closed form
 * (Jaklic, Leonardis, Solina 2000, section 2.3), area by quadrature over the sphere; they belong to
 * the analytic body. phi is the true distance on the grid, nodes lie on its trilinear zero set.
 * Body axes go with ascending moments, so the given axes may be permuted: scan_rotation takes body
 * axes to the given ones (x: a, y: b, z: c) and is the identity when a >= b >= c and ee = en.
 * scan_centroid_m is 0. SI units; label 0, border false. TL_EUSAGE for sizes that make no sense.
 */
#ifndef TL_SHAPE_SUPERELLIPSOID_H
#define TL_SHAPE_SUPERELLIPSOID_H

#include "shape/avatar.h"

/* Half axes a, b, c; exponents 0.1 <= ee, en <= 2; spacing_m of the grid (the least half axis must
 * span two cells); node_count nodes (>= 4, 0: spaced a tenth of the diameter). */
TlStatus tl_avatar_superellipsoid(double a, double b, double c, double eps_e, double eps_n,
                                  double spacing_m, int32_t node_count, TlAvatar *out);
TlStatus tl_avatar_sphere(double radius, double spacing_m, int32_t node_count, TlAvatar *out);

/* Half edges hx, hy, hz. The nodes form lattices on the faces and always hold the edges and the
 * eight corners; their count is the nearest the lattice allows to node_count. When 2h is a multiple
 * of spacing_m on all axes, edges and corners of the trilinear zero set are exact; else they are
 * rounded within a cell and the nodes there lie up to 0.2 cells inside the box. */
TlStatus tl_avatar_box(double hx, double hy, double hz, double spacing_m, int32_t node_count,
                       TlAvatar *out);

#endif
