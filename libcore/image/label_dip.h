/* Contacts in the grey stack: where a grain touches another, the blurred gap leaves a dip.
 *
 * The dip of a voxel is how much darker it is than both of two places opposite to each other, 3
 * voxels away, in that of 13 directions where it is most:
 *   dip(x) = max over u of min(g(x + 3u), g(x - 3u)) - g(x),
 * g the grey level smoothed by 1.2 voxels. A plane gap gives a dip along its normal; a surface to
 * the void, a step between a bright and a dark mineral and a slow drift give none. Between grains
 * of different grey the darkest place lies on the darker one's side: of a gap of depth A phi(x/b)
 * on a step S Phi(x/b), with b the width of all the blur, at x = -b S/A. So g(x) above is read that
 * much towards the darker side (linearly between x and its neighbour, one voxel at most). It is
 * in units of `least`, as fractions of the contrast: mean grey of the mask's grain voxels less
 * that of its void. Rejected: the largest eigenvalue of the grey's Hessian, which takes the dark
 * side of every step for a gap. Lengths are physical as in image/label.h. The same bits for any
 * thread count and slab.
 *
 * Noise that denoising left makes dips, too. It is measured where there are no contacts: in cores
 * deeper than 5 voxels under the mask's surface, `noise` being the 90% quantile of their dips over
 * the contrast. White noise and that of a reconstruction leave 0.002 to 0.007, noise that
 * neighbours share up to 0.09. Above half a unit dips of noise part grains, more than contacts gain
 * by the grey; and a larger unit is no help, for contacts count for too little then: the mask alone
 * makes the better labels (docs/notebook/imaging.md has the numbers). Contrast and noise are taken
 * from bands of 16 planes spread over the stack, as many as give 20,000 core voxels (some 260
 * independent dips), three at least.
 */
#ifndef TL_IMAGE_LABEL_DIP_H
#define TL_IMAGE_LABEL_DIP_H

#include "image/roi.h"
#include "num/layers.h"

#include <stdbool.h>

/* As stored: a dip of `least`; larger ones count as at most that many of it; the contrast, from
 * the void's mean grey on and up to 4 times that. */
#define TL_DIP_ONE 4096
#define TL_DIP_MOST 8
#define TL_GREY_ONE 16384

typedef struct TlClue { /* of a voxel */
  uint16_t dip, grey;
  bool core; /* deep enough that the void's blur does not reach it */
} TlClue;

#define TL_DIP_LEAST 0.02 /* of the contrast: the unit of dips where none is given */
#define TL_DIP_NOISE 0.01 /* of the contrast: with more noise than this the mask alone decides */
enum { TL_DIP_LEAST_CORES = 2000 };

typedef struct TlDips {
  const TlLayers *grey; /* borrowed; NULL: no grey, no dips */
  const TlRoi *roi;
  double void_grey, contrast, least; /* grey levels; least: dip */
  double noise;                      /* of the contrast */
  int64_t cores;                     /* voxels that the noise was taken from */
  bool usable;     /* the unit was given, or there are cores enough and their noise is below it */
  double sigma[3]; /* voxels */
  int64_t step[13][3];
  float shift[13]; /* along each step, as a fraction of the distance to the neighbour */
  int64_t reach;   /* planes on either side that a dip depends on */
} TlDips;

/* TL_EINPUT unless a stack that belongs to the mask has its size; what: "the grey stack is". */
TlStatus tl_label_one_stack(const char *what, const TlVolume *one, const TlVolume *mask);

/* Reads bands of both stacks for contrast and noise; least: in parts of the contrast; 0:
 * TL_DIP_LEAST. edge: of a voxel (unit of image/label_field.h). TL_EINPUT when the stacks differ in
 * size, when the mask is all grain or all void, or when its grains are not brighter. Memory: 12
 * bytes a voxel of 48 planes. */
TlStatus tl_dips_open(const TlLayers *grey, const TlLayers *mask, const TlRoi *roi,
                      const double edge[3], double least, TlDips *dips);
/* clue: out, planes [low, high) of nx*ny; core is left as it is. */
TlStatus tl_dips_planes(const TlDips *dips, int64_t low, int64_t high, TlClue *clue);

#endif
