#include "image/superres_planes.h"

#include "base/lanes.h"
#include "image/filters.h"

#include <string.h>

enum { LANES = 8, NOW = 4 };

typedef float Lanes __attribute__((vector_size(LANES * sizeof(float))));

TlPlane tl_plane_of(const TlVolume *v, int axis) {
  int64_t layer = v->nx * v->ny;
  if (axis == 0) return (TlPlane){0, v->nx, v->ny, v->nz, 1, v->nx, layer};
  if (axis == 1) return (TlPlane){1, v->ny, v->nx, v->nz, v->nx, 1, layer};
  return (TlPlane){2, v->nz, v->nx, v->ny, layer, 1, v->nx};
}

void tl_plane_read(const TlPlane *p, const float *voxels, int64_t k, int64_t low, int64_t high,
                   float *padded) {
  int64_t row = tl_plane_row(p);
  voxels += k * p->stride;
  for (int64_t b = low - TL_PLANE_MARGIN; b < high + TL_PLANE_MARGIN; b++) {
    const float *from = voxels + tl_mirrored(b, p->nb) * p->stride_b;
    float *to = padded + (b + TL_PLANE_MARGIN) * row + TL_PLANE_MARGIN;
    for (int64_t a = 0; a < p->na; a++) to[a] = from[a * p->stride_a];
    for (int64_t a = 1; a <= TL_PLANE_MARGIN; a++) {
      to[-a] = to[tl_mirrored(-a, p->na)];
      to[p->na - 1 + a] = to[tl_mirrored(p->na - 1 + a, p->na)];
    }
  }
}

void tl_windows_table(const float *analysis, int dims, float *table) {
  memset(table, 0, TL_WINDOW_VOXELS * TL_DICTIONARY_DIMS * sizeof *table);
  for (int w = 0; w < TL_WINDOW_VOXELS; w++)
    for (int k = 0; k < dims; k++)
      table[w * TL_DICTIONARY_DIMS + k] = analysis[k * TL_WINDOW_VOXELS + w];
}

/* Sixteen features of four windows: eight sums in registers. table: of the first of them. */
TL_LANES_CLONES static void analyse(const float *table, const float *const at[NOW], int64_t row,
                                    Lanes sum[NOW][2]) {
  Lanes a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0}, c0 = {0}, c1 = {0}, d0 = {0}, d1 = {0};
  for (int j = 0; j < TL_WINDOW; j++) {
    const float *a = at[0] + j * row, *b = at[1] + j * row;
    const float *c = at[2] + j * row, *d = at[3] + j * row;
    for (int i = 0; i < TL_WINDOW; i++, table += TL_DICTIONARY_DIMS) {
      const Lanes *w = (const Lanes *)(const void *)table;
      Lanes w0 = w[0], w1 = w[1];
      a0 += w0 * a[i], a1 += w1 * a[i];
      b0 += w0 * b[i], b1 += w1 * b[i];
      c0 += w0 * c[i], c1 += w1 * c[i];
      d0 += w0 * d[i], d1 += w1 * d[i];
    }
  }
  sum[0][0] = a0, sum[0][1] = a1;
  sum[1][0] = b0, sum[1][1] = b1;
  sum[2][0] = c0, sum[2][1] = c1;
  sum[3][0] = d0, sum[3][1] = d1;
}

void tl_windows_analyse(const float *table, int dims, const float *const *at, int64_t count,
                        int64_t row, float *y) {
  for (int64_t i = 0; i < count; i += NOW) {
    const float *four[NOW];
    Lanes sum[NOW][2];
    for (int p = 0; p < NOW; p++) four[p] = at[i + p < count ? i + p : count - 1];
    for (int first = 0; first < dims; first += 2 * LANES) {
      int some = dims - first < 2 * LANES ? dims - first : 2 * LANES;
      analyse(table + first, four, row, sum);
      for (int p = 0; p < NOW && i + p < count; p++)
        memcpy(y + (i + p) * dims + first, sum[p], (size_t)some * sizeof *y);
    }
  }
}

void tl_window_features(const float *window, int64_t row, double features[TL_WINDOW_FEATURES]) {
  const int64_t step[2] = {1, row};
  for (int j = 0; j < TL_PATCH; j++)
    for (int i = 0; i < TL_PATCH; i++) {
      const float *at = window + (j + TL_PATCH_RIM) * row + i + TL_PATCH_RIM;
      for (int k = 0; k < 2; k++) {
        int64_t s = step[k];
        double *f = features + 2 * k * TL_PATCH_VOXELS + j * TL_PATCH + i;
        f[0] = (double)at[s] - (double)at[-s];
        f[TL_PATCH_VOXELS] = 0.5 * ((double)at[2 * s] + (double)at[-2 * s]) - (double)at[0];
      }
    }
}
