/* Synthetic sand for the imaging tests: blobs of a smooth random-looking field, blurred edges,
 * Poisson-Gaussian noise. Grey = void or grain level; the truth is the field's sign. */
#ifndef TL_TESTS_SUPPORT_SAND_H
#define TL_TESTS_SUPPORT_SAND_H

#include "base/random.h"
#include "num/volume.h"

#include <math.h>

/* Signed field, > 0 in grain; slope about 0.35 a voxel at the surface, grains about 9 voxels. */
static inline double sand_field(int64_t x, int64_t y, int64_t z) {
  double u = 0.35 * (double)x, v = 0.35 * (double)y, w = 0.35 * (double)z;
  return sin(u + 1.3 * sin(0.7 * v)) + sin(1.1 * v + 1.7 * sin(0.6 * w)) +
         sin(0.9 * w + 1.5 * sin(0.8 * u));
}

/* Clean grey: 90 in void, 160 in grain with a texture of +-3 that changes over 6 voxels, and an
 * edge about 2 voxels wide. */
static inline double sand_grey(int64_t x, int64_t y, int64_t z) {
  double part = 0.5 + 0.5 * tanh(2.5 * sand_field(x, y, z));
  double texture = 3 * sin((double)x) * sin(1.1 * (double)y) * sin(0.9 * (double)z);
  return 90 + part * (70 + texture);
}

/* One sample of Poisson-Gaussian noise about grey: sd sigma at the grain level 160, a quarter of
 * that variance electronic and the rest in proportion to the grey. */
static inline double sand_noise(double grey, double sigma, uint64_t seed, int64_t index) {
  double sd = sigma * sqrt(0.25 + 0.75 * grey / 160);
  return sd * tl_random_normal(seed, 7, (uint64_t)index);
}

#endif
