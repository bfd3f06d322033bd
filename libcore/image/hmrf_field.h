/* The field of solid fractions and its energy, for image/hmrf.c, where the model is described. The
 * field holds a window of the stack's slices that is moved on from the stack's first to its last;
 * slices are named by their z of the stack. Arrays are z, y, x; the field itself has one more row,
 * slice and column on each side that holds -1, as every voxel outside the region does: no
 * neighbour there. */
#ifndef TL_IMAGE_HMRF_FIELD_H
#define TL_IMAGE_HMRF_FIELD_H

#include "base/status.h"

#include <stdint.h>

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
  int64_t nx, ny, nz; /* the stack */
  int64_t low, high;  /* slices that are here */
  int64_t row, plane; /* strides of f */
  float *f;           /* owned, padded */
  float *u;           /* owned: greys on the scale void 0, grain 1, cut */
  float *data;        /* owned: 1 / variance of u */
  float *aim;         /* owned: vertices of the sweep's parabolas; unused without blur */
  float *work[2];     /* borrowed: 4 slices more than any call is given, or the stack's */
} TlField;

/* How far a sweep is: slices below are done. */
typedef struct TlReach {
  int64_t aim;   /* have their parabolas */
  int64_t half;  /* the first half of the colours has moved */
  int64_t whole; /* and the second */
} TlReach;

/* What a reach must stay behind the whole reach of the sweep before: each part of a sweep sees its
 * neighbours as the whole stack's sweep would. */
enum { TL_FIELD_LAG_AIM = 2, TL_FIELD_LAG_HALF = 4, TL_FIELD_LAG = 5 };

/* Geometric mean of the voxel's edges, metres; 0 when the size is not known. */
double tl_field_unit(const double voxel_m[3]);
/* blur: c, half the variance of the scan's blur in square voxels (edges of the mean length); along
 * an axis at most a quarter, the kernel 1 2 1. */
void tl_stencil_make(TlStencil *stencil, const double voxel_m[3], int neighbours, double beta,
                     double delta, double blur);
/* Allocates a window of `deep` slices of a stack of nz; it is empty before slice 0. */
TlStatus tl_field_new(TlField *field, int64_t nx, int64_t ny, int64_t nz, int64_t deep);
void tl_field_free(TlField *field);
int64_t tl_field_bytes(int64_t nx, int64_t ny, int64_t nz, int64_t deep);

/* Row y of slice z of f, without its padding. */
static inline float *tl_field_row(const TlField *field, int64_t y, int64_t z) {
  return field->f + (z - field->low + 1) * field->plane + (y + 1) * field->row + 1;
}

/* Slices below `from` are no longer wanted. */
void tl_field_forget(TlField *field, int64_t from);
/* The next `count` slices, with levels for each voxel: f (-1 outside the region) is u cut to [0,
 * 1]. */
void tl_field_add(TlField *field, int64_t count, const float *grey, const float *low,
                  const float *high, const uint8_t *classes, double sd);
/* With blur: f of slices [begin, end) is u sharpened by it to first order, cut. Of slices that have
 * not been swept; u of one more at each end must be here. */
void tl_field_sharpen(TlField *field, const TlStencil *stencil, int64_t begin, int64_t end);
/* One sweep carried on: new parabolas for the data term, then all colours once: U does not rise.
 * from all 0 to all nz in one call is the plain sweep of a whole stack; in pieces, with the lags
 * above, several sweeps follow each other through the stack and have the same bits. */
void tl_field_sweep(TlField *field, const TlStencil *stencil, const TlReach *from,
                    const TlReach *to);
/* U of slices [begin, end) into by_slice[z]; a pair counts half in each of its voxels. One more
 * slice at each end must be here. */
void tl_field_energy(TlField *field, const TlStencil *stencil, int64_t begin, int64_t end,
                     double *by_slice);

#endif
