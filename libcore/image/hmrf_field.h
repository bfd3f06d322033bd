/* The field of solid fractions of one slab and its energy: tools of image/hmrf.c, which says the
 * model. Slices are z, y, x; the field itself has one more row, slice and column on each side that
 * holds -1, as every voxel outside the region does: no neighbour there. */
#ifndef TL_IMAGE_HMRF_FIELD_H
#define TL_IMAGE_HMRF_FIELD_H

#include "image/source.h"

#include <stdbool.h>

typedef struct TlStencil {
  int count; /* 6 or 26 */
  int dx[26], dy[26], dz[26];
  float weight[26]; /* beta times the pair's weight */
  float delta;
  float blur[3];  /* of a slope along x, y, z: the weights of a voxel's neighbours are blur, 1 - 2
                     blur, blur */
  double step[3]; /* voxel edges over their geometric mean; 1 where the size is not known */
} TlStencil;

typedef struct TlField {
  int64_t nx, ny, nz; /* nz: of the slab in hand */
  int64_t row, plane; /* strides of f */
  float *f;           /* owned, padded */
  float *grey;        /* owned; the field's own blurred greys once it is begun */
  float *u;           /* borrowed: greys on the scale void 0, grain 1, cut */
  float *data;        /* borrowed: 1 / variance of u */
  float *aim;         /* borrowed: vertices of the sweep's parabolas, u where there is no blur */
} TlField;

/* Geometric mean of the voxel's edges, metres; 0 when the size is not known. */
double tl_field_unit(const double voxel_m[3]);
/* blur: c, half the variance of the scan's blur in square voxels (edges of the mean length); along
 * an axis at most a quarter, the kernel 1 2 1. */
void tl_stencil_make(TlStencil *stencil, const double voxel_m[3], int neighbours, double beta,
                     double delta, double blur);
TlStatus tl_field_new(TlField *field, int64_t nx, int64_t ny, int64_t most_nz);
void tl_field_free(TlField *field);

/* Row y of slice z of f, without its padding. */
static inline float *tl_field_row(const TlField *field, int64_t y, int64_t z) {
  return field->f + (z + 1) * field->plane + (y + 1) * field->row + 1;
}

/* grey is filled: u, data and f from the levels of each voxel: f (-1 outside) is u, with a known
 * blur sharpened by it to first order (sharp), cut to [0, 1]. data
 * takes the place of high, u that of scratch (as many floats), aim that of low; the field borrows
 * them. */
void tl_field_begin(TlField *field, const TlStencil *stencil, int64_t nz, float *low, float *high,
                    float *scratch, const uint8_t *classes, double sd, bool sharp);
/* New parabolas for the data term, then all colours once: U does not rise. Slices that are right
 * become fewer by 2 at each end, with blur by 4. first: the stack's slice that is this slab's first
 * (colours are the stack's). */
void tl_field_sweep(TlField *field, const TlStencil *stencil, int64_t first);
/* U of each of the slab's own slices into by_slice[z] (z of the stack); a pair counts half in each
 * of its voxels. Needs one slice of halo. */
void tl_field_energy(TlField *field, const TlStencil *stencil, const TlSlab *slab,
                     double *by_slice);

#endif
