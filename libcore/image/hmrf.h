/* Binarization by a hidden Markov random field fitted by expectation-maximisation (Tan 2022 2.4,
 * Eqs. 2.25-2.41), with the partial-volume classes that keep it from failing on denoised input.
 *
 * The textbook's two labels give each edge voxel to the class whose Gaussian is wider: after strong
 * denoising that is grain, and the mask becomes worse than its own start. Here the classes between
 * void (0) and grain (1) are there too, as many as one likes: the label of a voxel is its solid
 * fraction f in [0, 1], its mean grey m = v + (K f) (g - v) with the scan's blur K, and over the
 * region's voxels
 *   U = sum_i (y_i - m_i)^2 / (2 S) + beta sum_(i,j) w_ij H(f_i - f_j)             (2.39-2.41)
 * with pairs (i,j) of 6 or 26 neighbours weighted by 1 / physical distance (sum of weights 6 inside
 * the stack) and H(d) = |d| - delta/2, or d^2 / (2 delta) below delta: what an unequal pair costs
 * in 2.41, for whole labels, and little for the steps inside a blurred edge. U is convex, so one
 * start is as good as another and there is no local minimum to be caught in; with delta -> 0 the
 * voxels with f > 1/2 are the exact least-energy labels of the two-class field (the graph cut).
 *   E step: f by iterated conditional minima (each voxel to the minimum of a parabola that touches
 *     U from above; with blur the data term's parabolas are renewed before each sweep, De Pierro
 *     1995) in the order of 2 (8) colours of which no two neighbours share one: U never rises, and
 *     the result does not depend on threads.
 *   M step: v and g from the classes' cores (image/levels.h), medians with their slow drift; g is
 *     local: core greys smoothed by sigma 2 voxels, for minerals differ in brightness; so is v when
 *     there are more than two phases. S, in greys, is the noise: what 95% of the core voxels differ
 *     by from the mean of their neighbours, but not below sd_floor times the gap; set once.
 * Levels that would raise U are not taken and end the rounds. Greys beyond a level by over 3 sd
 * count as 3 sd: opaque minerals are grain, however bright. A voxel is grain when f > 1/2. Weight
 * of void (2.29-2.35): by 2.35 a weight w multiplies the void's variance, by 2.39 that variance is
 * used as it is: f is cut where both weighted Gaussians meet, f^2 / w + (S / gap^2) ln w = (1 -
 * f)^2: w > 1 gives void more voxels. Blur: the half level of a blurred picture lies inside convex
 * bodies and fills the gaps at contacts, where the void's own level is never reached; so K is part
 * of the model: a Gaussian by the weights c, 1 - 2 c, c along each axis, 2 c its variance. c is
 * estimated from the edges' steepness where noise is below 0.04 of the gap, else taken as 0.25
 * (blur of 0.7 voxel), which is also the most: a wider blur is undone in part only. */
#ifndef TL_IMAGE_HMRF_H
#define TL_IMAGE_HMRF_H

#include "image/levels.h"

enum {
  TL_HMRF_MOST_ROUNDS = 50,
  TL_HMRF_MOST_SWEEPS = 400,
  TL_HMRF_LEAST_SLICES = 4,
  TL_HMRF_QUIET_SWEEPS = 3, /* enough for noise of 0.05 of the gap with the options below */
  TL_HMRF_LOUD_SWEEPS = 10  /* the most that are chosen */
};

typedef struct TlHmrfOptions {
  double beta;        /* cost of a void voxel beside a grain voxel; 0: 0.2 gap / sd */
  double delta;       /* steps below cost less, 0.001 to 1 */
  double void_weight; /* w, > 0; 1: none */
  double sd_floor;    /* least class sd over the gap of the levels, e.g. 0.02 */
  double deblur;      /* c in voxel^2, at most 0.25; below 0: as above */
  int neighbours;     /* 6 or 26 */
  int most_rounds;    /* 1 to TL_HMRF_MOST_ROUNDS */
  int sweeps;         /* over all colours, a round; 0: until a step is below 1e-3, by beta and S */
  int64_t most_bytes; /* of work memory: fewer slices at a time where that needs; 0: no limit */
  bool local_void;    /* void level local too (more than two phases) */
} TlHmrfOptions;

#define TL_HMRF_DEFAULTS                                                                           \
  {                                                                                                \
    .delta = 0.3, .void_weight = 1, .sd_floor = 0.02, .deblur = -1, .neighbours = 6,               \
    .most_rounds = 10                                                                              \
  }

typedef struct TlHmrfResult {
  double mean[2]; /* levels: void; grain (medians of their cores) */
  double sd;      /* of both classes, greys, before the void weight */
  double beta;
  double noise;        /* measured sd of the cores, greys, before the floor */
  double cut;          /* f above is grain */
  double edge;         /* blur of the edges with the voxel's own, sd in voxels; 0: not measured */
  double deblur;       /* c of the model */
  double drift_z;      /* void level, top third less bottom third, greys */
  double drift_radial; /* void level, outer third less inner third */
  int core_erosion;    /* 2, or less when grains or pores are too thin for a core of that depth */
  int rounds, sweeps;
  double energy[TL_HMRF_MOST_ROUNDS + 1]; /* f straight from the greys, then after each round */
  int64_t moved;                          /* voxels whose label differs from the start */
} TlHmrfResult;

/* mask: U8 start labels in, result out (0 / 1; 0 outside the region). bins: histogram of the same
 * greys. The same bits for any slab thickness (a multiple of TL_SLAB_STEP, 0: whole), memory and
 * thread count. TL_EINPUT when one class is empty or grain is not brighter. Cost: a round is two
 * passes over the greys and `sweeps` over the field, whose sweeps follow each other through the
 * stack (a window of 5 slices a sweep, each slice loaded and swept once); memory tl_hmrf_bytes
 * beside the mask. */
TlStatus tl_hmrf(const TlSource *grey, const TlRoi *roi, const TlHmrfOptions *options, int64_t slab,
                 const TlHistogram *bins, TlVolume *mask, TlHmrfResult *result);
/* Work memory of a run that takes so many slices in at a time, bytes. */
int64_t tl_hmrf_bytes(int64_t nx, int64_t ny, int64_t nz, int64_t slices, int sweeps);
/* The most slices at a time, at most `most`, within so many bytes; 0 when fewer than
 * TL_HMRF_LEAST_SLICES (or the stack's) go. */
int64_t tl_hmrf_slices(int64_t nx, int64_t ny, int64_t nz, int64_t most, int sweeps, int64_t bytes);

#endif
