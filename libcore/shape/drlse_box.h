/* The box of one grain cut out of the stack, on which its evolution works (private to
 * drlse*.c and grain_stack.c). */
#ifndef TL_SHAPE_DRLSE_BOX_H
#define TL_SHAPE_DRLSE_BOX_H

#include "shape/drlse.h"

#include <assert.h>

/* Where voxel (x, y, z) of the stack lies in the part, which holds it. */
static inline int64_t tl_grain_part_at(const TlGrainPart *p, int64_t x, int64_t y, int64_t z) {
  x -= p->origin[0], y -= p->origin[1], z -= p->origin[2];
  assert(x >= 0 && y >= 0 && z >= 0 && x < p->labels->nx && y < p->labels->ny && z < p->labels->nz);
  return tl_volume_at(p->labels, x, y, z);
}
/* Does the whole ball of this radius about voxel (x, y, z) of the stack lie in the stack and carry the
 * voxel's label? */
enum { TL_GRAIN_CORE = 2 };
bool tl_grain_part_core(const TlGrainPart *part, int64_t x, int64_t y, int64_t z);

typedef struct TlGrainSource {
  const TlGrainPart *part;
  const TlLabelBox *boxes; /* by label */
  uint32_t label;
} TlGrainSource;

typedef struct TlGrainField {
  int32_t nx, ny, nz;
  int64_t corner[3];
  double step[3]; /* voxels of the stack a grid cell: 1, less along axes of longer voxels */
  double radius;  /* of the sphere of the label's volume, cells */
  float *u;       /* grey, 0 void, 1 grain; NULL for method distance */
  float *edge;    /* g; NULL unless evolved */
  float *start;   /* smoothed distance to the label */
  float *shade;   /* what the neighbours' blurred labels add to u */
  float *middle;  /* < 0 on the grain's side of the mid-surface to its neighbours */
  double label_volume;
} TlGrainField;

/* Cut out, smooth, set up; fills grain_level, own_level, noise, dropped, filled of the report. */
TlStatus tl_grain_field_make(const TlGrainSource *source, const TlGreyLevels *levels,
                             const TlDrlseOptions *options, TlGrainField *field,
                             TlDrlseReport *report);
void tl_grain_field_free(TlGrainField *field);

/* Gaussian smoothing of a field of n[0] x n[1] x n[2] points, edges repeated; sigma up to 2. */
TlStatus tl_box_smooth(float *field, const int32_t n[3], double sigma);

#endif
