/* Exact Euclidean distance of a mask's voxels to the nearest void voxel (centre to centre).
 *
 * Separable: the squared distance along x by two sweeps, then along y and z by
 *   out(q) = min over k of in(q + k) + (k edge)^2,
 * tried outwards from k = 0 until (k edge)^2 alone is no smaller than the largest value left in a
 * strip of neighbouring lines, so that many lines go side by side through the vector unit.
 * Rejected: lower envelopes of parabolas (Felzenszwalb and Huttenlocher 2012; Maurer 2003), linear
 * for any distance but one line at a time, and with a division that decides near-ties: with other
 * data beyond the nearest void (a block's other cut) they may give other last bits. Here each value
 * is the least of the same sums whatever lies farther off, so blocks agree with the whole bit for
 * bit. Cost: 2 R operations a voxel for grains of R voxels, in vectors of 4 to 16; memory beside
 * out: a plane. With edges of 1 all values are whole and exact up to 4096 voxels; else within 4e-7.
 * The same bits for any thread count.
 */
#ifndef TL_IMAGE_DISTANCE_H
#define TL_IMAGE_DISTANCE_H

#include "base/status.h"

#include <stdint.h>

/* inside, out: nx*ny*nz, z, y, x with x fastest; inside 0 is void. edge: of a voxel along x, y, z,
 * in the unit of the result. out: squared distance, 0 in the void, INFINITY where the block has no
 * void at all. Nothing is known beyond the block: what lies there does not count as void. */
TlStatus tl_distance_squared(const uint8_t *inside, int64_t nx, int64_t ny, int64_t nz,
                             const double edge[3], float *out);

#endif
