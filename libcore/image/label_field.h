/* The field whose hills are grains: distance to the void, smoothed, by slabs (image/label.h).
 *
 * A slab needs planes beyond it: as many as the deepest distance in it plus the reach of the
 * smoothing. Their number is found during the work: a distance is right when no void beyond the
 * planes read could be nearer, and while one is not, more planes are read. So the values are those
 * of the whole stack, bit for bit. Unit of lengths: the edge of the cube that has a voxel's volume.
 */
#ifndef TL_IMAGE_LABEL_FIELD_H
#define TL_IMAGE_LABEL_FIELD_H

#include "base/status.h"
#include "image/label.h"
#include "image/label_dip.h"

#include <stdint.h>

typedef struct TlLabelField {
  int64_t nx, ny, nz;
  double edge[3];       /* of a voxel, in that unit: 1, 1, 1 for cubes */
  double sigma[3];      /* of the smoothing, voxels */
  int64_t reach;        /* of the smoothing, planes */
  int64_t halo;         /* planes read on either side; grows */
  int64_t most_planes;  /* read at once; 0: no bound */
  const TlLayers *mask; /* borrowed, as is roi */
  const TlRoi *roi;
  TlDips dips; /* of the grey stack; dips.grey NULL: none */
} TlLabelField;

/* head: of the mask; voxel_m 0 is unknown (cubes). mask and roi may be set later. */
void tl_label_field_init(TlLabelField *f, const TlVolume *head, double sigma);
/* field: new array of the planes [begin - 1, end + 1) cut to the stack, TL_RELIEF_VOID in the void;
 * owner: the caller. clue: with a grey stack a new array of the same planes (image/label_dip.h),
 * else NULL; the field is lowered by the dips then. TL_ELIMIT when more planes than most_planes
 * would be needed; TL_EINPUT when there is no void. Memory at once: TL_FIELD_BYTES a voxel of the
 * planes read, and of those given TL_FIELD_GREY_BYTES with grey. */
TlStatus tl_label_field(TlLabelField *f, int64_t begin, int64_t end, float **field, TlClue **clue);
#define TL_FIELD_BYTES ((int64_t)(sizeof(float) + sizeof(uint8_t)))
#define TL_FIELD_GREY_BYTES ((int64_t)(sizeof(TlClue) + sizeof(float)))
/* Planes on either side that are read at first, those of the smoothing among them. */
int64_t tl_label_field_margin(const TlLabelField *f);

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

/* inside, out: nx*ny*nz, z, y, x with x fastest; inside 0 is void. edge: of a voxel along x, y, z,
 * in the unit of the result. out: squared distance, 0 in the void, INFINITY where the block has no
 * void at all. Nothing is known beyond the block: what lies there does not count as void. */
TlStatus tl_distance_squared(const uint8_t *inside, int64_t nx, int64_t ny, int64_t nz,
                             const double edge[3], float *out);

#endif
