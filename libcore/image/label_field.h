/* The field whose hills are grains: distance to the void, smoothed, by slabs (image/label.h).
 *
 * A slab needs planes beyond it: as many as the deepest distance in it plus the reach of the
 * smoothing. Their number is found during the work: a distance is right when no void beyond the planes read
 * could be nearer, and while one is not, more planes are read. So the values are those of the whole
 * stack, bit for bit. Unit of lengths: the edge of the cube that has a voxel's volume.
 */
#ifndef TL_IMAGE_LABEL_FIELD_H
#define TL_IMAGE_LABEL_FIELD_H

#include "image/label.h"
#include "image/label_dip.h"

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

#endif
