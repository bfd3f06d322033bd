#include "image/superres_pairs.h"

#include "base/mem.h"
#include "base/random.h"

#include <stdbool.h>

enum { DRAWS_A_PAIR = 40, SAMPLE = 4000 };

/* A place: a plane, and a patch's first voxel in it. */
typedef struct Place {
  TlPlane plane;
  int64_t k, a, b;
} Place;

static int64_t pick(uint64_t seed, uint64_t stream, uint64_t index, int64_t n) {
  return (int64_t)(tl_random_uniform(seed, stream, index) * (double)n);
}

/* Patches whose windows lie in the volume, at multiples of the factor. */
static Place place_of(const TlVolume *base, int factor, uint64_t seed, uint64_t stream,
                      uint64_t draw) {
  Place at = {.plane = tl_plane_of(base, (int)pick(seed, stream, 4 * draw, 3))};
  int64_t first = (TL_PATCH_RIM + factor - 1) / factor;
  int64_t na = (at.plane.na - TL_PATCH - TL_PATCH_RIM) / factor - first + 1;
  int64_t nb = (at.plane.nb - TL_PATCH - TL_PATCH_RIM) / factor - first + 1;
  at.k = pick(seed, stream, 4 * draw + 1, at.plane.planes);
  at.a = factor * (first + pick(seed, stream, 4 * draw + 2, na));
  at.b = factor * (first + pick(seed, stream, 4 * draw + 3, nb));
  return at;
}

static int64_t voxel_of(const Place *at, int64_t i, int64_t j) {
  const TlPlane *p = &at->plane;
  return at->k * p->stride + (at->a + i) * p->stride_a + (at->b + j) * p->stride_b;
}

static bool all_inside(const Place *at, const TlVolume *v, const TlRoi *roi) {
  for (int c = 0; c < 4; c++) {
    int64_t i = c & 1 ? TL_PATCH + 1 : -TL_PATCH_RIM, j = c & 2 ? TL_PATCH + 1 : -TL_PATCH_RIM;
    int64_t voxel = voxel_of(at, i, j), layer = v->nx * v->ny;
    if (!tl_roi_inside(roi, voxel % v->nx, voxel / v->nx % v->ny, voxel / layer)) return false;
  }
  return true;
}

static void read_window(const Place *at, const TlVolume *base, float *window) {
  for (int j = 0; j < TL_WINDOW; j++)
    for (int i = 0; i < TL_WINDOW; i++)
      window[j * TL_WINDOW + i] = base->f32[voxel_of(at, i - TL_PATCH_RIM, j - TL_PATCH_RIM)];
}

static void read_high(const Place *at, const TlVolume *fine, const TlVolume *base, float *high) {
  for (int j = 0; j < TL_PATCH; j++)
    for (int i = 0; i < TL_PATCH; i++) {
      int64_t voxel = voxel_of(at, i, j);
      high[j * TL_PATCH + i] = fine->f32[voxel] - base->f32[voxel];
    }
}

static double energy_of(const float *window) {
  double features[TL_WINDOW_FEATURES], sum = 0;
  tl_window_features(window, TL_WINDOW, features);
  for (int i = 0; i < TL_WINDOW_FEATURES; i++) sum += features[i] * features[i];
  return sum;
}

/* Mean energy of a sample of places; their draws are not used again. */
static double mean_energy(const TlVolume *base, const TlRoi *roi, int factor, uint64_t seed) {
  double sum = 0, count = 0;
  float window[TL_WINDOW_VOXELS];
  for (uint64_t draw = 0; draw < SAMPLE; draw++) {
    Place at = place_of(base, factor, seed, 0, draw);
    if (!all_inside(&at, base, roi)) continue;
    read_window(&at, base, window);
    sum += energy_of(window);
    count++;
  }
  return count > 0 ? sum / count : 0;
}

TlStatus tl_pairs_draw(const TlVolume *fine, const TlVolume *base, const TlRoi *roi, int factor,
                       int64_t wanted, uint64_t seed, uint64_t stream, TlPairs *pairs) {
  *pairs = (TlPairs){0};
  TL_TRY(TL_NEW(pairs->window, (size_t)wanted * TL_WINDOW_VOXELS));
  TlStatus status = TL_NEW(pairs->high, (size_t)wanted * TL_PATCH_VOXELS);
  double least = 0.1 * mean_energy(base, roi, factor, seed);
  for (int64_t draw = 0; status == TL_OK && draw < DRAWS_A_PAIR * wanted && pairs->count < wanted;
       draw++) {
    Place at = place_of(base, factor, seed, stream, (uint64_t)draw);
    float *window = pairs->window + pairs->count * TL_WINDOW_VOXELS;
    if (!all_inside(&at, base, roi)) continue;
    read_window(&at, base, window);
    if (!(energy_of(window) > least)) continue;
    read_high(&at, fine, base, pairs->high + pairs->count++ * TL_PATCH_VOXELS);
  }
  if (status != TL_OK) tl_pairs_free(pairs);
  return status;
}

void tl_pairs_free(TlPairs *pairs) {
  tl_free(pairs->window);
  tl_free(pairs->high);
  *pairs = (TlPairs){0};
}

TlStatus tl_pairs_features(const TlPairs *pairs, double **features) {
  TL_TRY(TL_NEW(*features, (size_t)pairs->count * TL_WINDOW_FEATURES));
  for (int64_t i = 0; i < pairs->count; i++)
    tl_window_features(pairs->window + i * TL_WINDOW_VOXELS, TL_WINDOW,
                       *features + i * TL_WINDOW_FEATURES);
  return TL_OK;
}
