/* Grain or void: a mask from a grey stack by one of four methods, with the figures of the decision.
 *
 * Thresholds are found on greys cut at grain mean + 0.6 gap of a first Otsu split, because a few
 * per cent of very bright minerals pull a threshold up. Before any automatic method the stack is
 * checked for two phases, by the greys smoothed by 1 voxel. A void, noisy or
 * denoised, is one population: Gaussian within 0.01 (Kolmogorov's distance), or within 0.05 with
 * symmetric heavy tails (denoising works less well near borders). A hard real scan (sandy soil of
 * three phases, blurred) lies at 0.03 with light tails, clear ones above 0.1. One population, or a
 * spread below half the step of the grey levels, is refused as all void (or all grain). Otsu's own
 * separability does not tell them apart: 0.65 for a void, 0.67 for that soil.
 *
 * More than two phases (water, roots, unresolved fines between void and mineral): a mixture of 3 or
 * 4 Gaussians (image/histogram.h) is fitted first, to the smoothed greys where they are flat (edges
 * have every grey between two phases), and its borders printed; `solid_from` says from
 * which phase on voxels are grain. The random field then separates grain from the rest, at half
 * level between the grain and whatever is local beside it, void or other.
 *
 * All work is done slab by slab; the bits are the same for any slab thickness and thread count.
 */
#ifndef TL_IMAGE_BINARIZE_H
#define TL_IMAGE_BINARIZE_H

#include "image/histogram.h"
#include "image/hmrf.h"
#include "image/levels.h"

#include <stdbool.h>

enum { TL_BINARIZE_SLAB = 64 };

typedef enum TlBinarizeMethod {
  TL_BINARIZE_HMRF_EM = 0,
  TL_BINARIZE_OTSU,
  TL_BINARIZE_KMEANS,
  TL_BINARIZE_THRESHOLD
} TlBinarizeMethod;

typedef struct TlBinarizeOptions {
  TlBinarizeMethod method;
  double threshold;   /* TL_BINARIZE_THRESHOLD: grain is above */
  bool start_kmeans;  /* HMRF-EM starts from k-means instead of Otsu */
  int phases;         /* 2 to 4 Gaussians; 0 counts as 2 */
  int solid_from;     /* the first phase (1 is void) that is grain; 0: 2 */
  bool invert;        /* grains are dark */
  int64_t min_island; /* grain specks and void specks of fewer voxels change sides; 0: kept */
  TlHmrfOptions hmrf;
  int64_t slab; /* slices worked on at a time, a multiple of TL_SLAB_STEP; 0: TL_BINARIZE_SLAB */
} TlBinarizeOptions;

typedef struct TlBinarizeResult {
  TlSplit split;     /* threshold in greys of the input, class 0 void; means, sds and fractions */
  TlMixture mixture; /* classes 0 when two phases were asked for; greys of the input, negated with
                        invert */
  double border; /* the mask's start, grey of the input: Otsu, k-means or the mixture's border */
  TlHmrfResult hmrf;        /* means in greys of the input; rounds 0 when another method ran */
  double gaussian_distance; /* of the smoothed greys; 0 with a threshold by hand */
  /* Does what was taken for void hold two populations, and the grains little of the region? Then a
   * few very bright ones (opaque minerals) may hide all others; a warning says so. */
  bool hides_grains;
  /* Of two phases: is there one between them that is counted to either? It widens the porosity's
   * range: void up to 0.05 of the gap above half-way between it and grain. */
  TlThirdPhase third;
  double third_grey; /* about, of the input; 0 when there is none */
  double porosity;   /* void voxels over voxels of the region, of the final mask */
  /* How far another threshold would move the porosity: the least and greatest of those of Otsu, of
   * k-means, half-way between the levels (HMRF-EM) and given by hand, and the porosity plus the
   * fraction of the voxels between them and the one used; with a third phase it reaches as far as
   * above. Of two phases; else both are the porosity. */
  double threshold_range[2], porosity_range[2];
  int64_t region_voxels, grain_voxels;
  int64_t islands_removed, holes_filled; /* specks, counted as components */
} TlBinarizeResult;

/* grey, a volume of any type -> mask, a new U8 volume (1 grain, 0 void or outside the region).
 * TL_EINPUT for a constant stack, one phase only, or a threshold that leaves one phase empty. */
TlStatus tl_binarize(const TlVolume *grey, const TlRoi *roi, const TlBinarizeOptions *options,
                     TlVolume *mask, TlBinarizeResult *result);
/* The same from slices on demand; options->invert turns grey->negated on. */
TlStatus tl_binarize_source(const TlSource *grey, const TlRoi *roi,
                            const TlBinarizeOptions *options, TlVolume *mask,
                            TlBinarizeResult *result);
/* Memory of a run beside what the source holds, bytes: the mask and the work on a slab or within
 * options->hmrf.most_bytes (at least, when that is too little); for a denoised stack (sweeps
 * TL_HMRF_QUIET_SWEEPS) or a very noisy one (TL_HMRF_LOUD_SWEEPS). */
int64_t tl_binarize_bytes(int64_t nx, int64_t ny, int64_t nz, const TlBinarizeOptions *options,
                          int sweeps);
/* Slabs and work memory for `bytes` in all: sets options->slab and options->hmrf.most_bytes.
 * TL_EUSAGE when the thinnest slabs of a denoised stack need more. */
TlStatus tl_binarize_plan(int64_t nx, int64_t ny, int64_t nz, int64_t bytes,
                          TlBinarizeOptions *options);

/* Give 6-connected components of grain with fewer than min_voxels to void, then such components of
 * void to grain. Components that touch the stack's or the region's border stay: they are cut, not
 * small. */
TlStatus tl_islands_remove(TlVolume *mask, const TlRoi *roi, int64_t min_voxels, int64_t *removed,
                           int64_t *filled);

#endif
