/* One label a grain: distance map, markers, watershed (Tan 2022 2.4.6 uses the same chain).
 *
 *   d = distance of each grain voxel to the void (voxels), smoothed by a Gaussian of `sigma`;
 *   a peak of d rises over the pass to any higher peak by
 *       rise = integral from pass to peak of dd / (h_voxels + h_relative d).
 * So small grains are kept apart by an absolute rise (mask steps make false peaks of a fraction of
 * a voxel) and large ones by a relative rise (a 5 times larger grain has 5 times larger false
 * peaks): sizes of 1:5 need both. It is the h-maxima transform of
 *   f(d) = ln(1 + h_relative d / h_voxels) / h_relative.
 * With `neck` = 0 a rise of more than 1 makes a grain. But the rise only knows the narrowest place
 * of a contact, and noise fills contacts of small grains first. So with neck > 0 every peak that
 * rises by more than 0.25 is a marker, and then two neighbours are joined again, weakest rise
 * first, while
 *       contact area / cross-section > neck + 0.5 rise,
 * the cross-section that of a ball of the smaller one's volume: two halves of a long or angular
 * grain meet over about a whole cross-section, two grains over a patch. (Contact by the voxel faces
 * that the two share, sqrt(Ax^2 + Ay^2 + Az^2), which is right for a plane patch.)
 * With the denoised stack (grey) the grey level has a say, too: a contact's blurred gap leaves a
 * dip (image/label_dip.h, in units of `dip` times the contrast between grain and void), and two
 * grains mostly have not the same grey. d is lowered by 0.2 voxel a dip, so that flat contacts
 * without a neck get a pass of their own; and of two hills that meet over the width w (contact area
 * / cross-section), peak and rise aside,
 *       mean dip > 0.2 + 0.4 w, or difference of mean greys > (0.02 + 0.05 w) contrast
 * makes two grains, else one where w > 0.3. Dips are taken over the contact's inner faces and greys
 * over core voxels (2 voxels from the void, whose blur darkens all); under 8 of them the grey says
 * nothing, and the shape's rule decides. With neck = 0 only the lowered d is left of this.
 * Noise makes dips, too: where that of the grey stack itself is above half a dip, or where it
 * cannot be known (image/label_dip.h), the grey is left out and the mask alone decides. Markers
 * then grow over the mask by watershed of -d (image/relief.h says in which order). Instead the
 * user's own markers can be given.
 *
 * Lengths are physical: with anisotropic voxels (voxel_m) d is the distance in space, in units of
 * the edge of the cube that has a voxel's volume, which is what 'voxel' means for sigma, h and
 * diameters then. Unknown sizes are taken as cubes.
 * Labels are canonical: a grain's number is the order of its first voxel in z, y, x order, from 1.
 * The result depends neither on the thread count nor on the slabs that the stack is cut into.
 * Volumes: num/volume.h.
 */
#ifndef TL_IMAGE_LABEL_H
#define TL_IMAGE_LABEL_H

#include "image/roi.h"
#include "num/layers.h"
#include "num/volume.h"

#include <stdbool.h>

typedef struct TlLabelOptions {
  double sigma;            /* smoothing of the distance map, voxels; 0: none */
  double h_voxels;         /* > 0 */
  double h_relative;       /* >= 0 */
  double neck;             /* >= 0; 0: the rise alone decides */
  int64_t min_voxels;      /* smaller grains are dropped (become void) */
  const TlLayers *markers; /* whole numbers, > 0 marks a grain; NULL: by the rule above. Borrowed */
  const TlLayers *grey;    /* denoised stack of the same size, grains bright; NULL: the mask alone.
                              Borrowed */
  double dip;              /* parts of the contrast, with grey; 0: TL_DIP_LEAST, if noise allows */
  const double *sweep_h;   /* values of h_voxels to count grains for as well, or NULL */
  int sweep_count;
  uint32_t *sweep_grains; /* out, sweep_count */
} TlLabelOptions;

typedef struct TlLabelResult {
  uint32_t grains;  /* labels 1..grains in the product */
  uint32_t dropped; /* grains under min_voxels */
  int64_t dropped_voxels;
  int64_t grain_voxels;   /* labelled voxels */
  int64_t unreached;      /* mask voxels in specks too thin for a marker, or without the user's */
  uint32_t border;        /* grains that touch the stack's or the region's border */
  double median_diameter; /* of the volume-equivalent spheres, voxels; whole grains only where
                             there are any */
  bool grey_used;         /* did the grey have a say? With a grey stack: */
  double dip, noise;      /* the unit of dips and the noise (image/label_dip.h), of the contrast */
  int64_t cores;          /* voxels that the noise was taken from */
  uint32_t mask_grains;   /* grains that the mask alone gives; with the user's markers 0 */
} TlLabelResult;

/* How a stack is cut so that labelling stays within `bytes` (0: no bound). */
typedef struct TlLabelPlan {
  int64_t slab_planes;
  int64_t most_planes;   /* held at once with those beside the slab; 0: no bound */
  int64_t bytes;         /* of memory, with hills and passes estimated */
  int64_t scratch_bytes; /* on disk: runs of ids, at most about that; 0: one slab, nothing */
} TlLabelPlan;

/* head: of the mask. TL_ELIMIT naming the least when that is not enough. */
TlStatus tl_label_plan(const TlVolume *head, const TlLabelOptions *options, int64_t bytes,
                       TlLabelPlan *plan);

/* mask: any type, > 0 is grain; its layers are read more than once. labels: U32 layers (0 void),
 * appended in order; the caller ends the sink. scratch: a folder for a file without a name, used
 * when the plan has more than one slab. TL_EINPUT when the region holds no grain voxel, or no voxel
 * else, or when every grain is dropped; TL_ELIMIT when grains are deeper than the plan's planes
 * allow. */
TlStatus tl_label_layers(const TlLayers *mask, const TlRoi *roi, const TlLabelOptions *options,
                         const TlLabelPlan *plan, const char *scratch, const TlLayerSink *labels,
                         TlLabelResult *result);

/* The same in memory: labels is a new volume. Memory: 9 bytes a voxel beside mask and labels, 19
 * with grey. */
TlStatus tl_label(const TlVolume *mask, const TlRoi *roi, const TlLabelOptions *options,
                  TlVolume *labels, TlLabelResult *result);

/* flags: new array of count + 1; flags[g] = 1 when grain g has a voxel on a face of the stack or
 * next to a voxel outside the region: it is cut there and its shape is not whole. Owner: caller. */
TlStatus tl_label_border(const TlVolume *labels, const TlRoi *roi, uint8_t **flags, uint32_t count);

/* The same for planes [begin, end) of a stack of this shape, added to flags. */
void tl_label_flag_planes(const TlVolume *shape, const TlRoi *roi, int64_t begin, int64_t end,
                          const uint32_t *labels, uint8_t *flags);

#endif
