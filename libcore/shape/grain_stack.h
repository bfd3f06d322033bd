/* The scan as the making of avatars reads it, by layers (num/layers.h), so that labels and greys
 * may be larger than memory: the box of each label, the grey levels of the phases, and each grain's
 * surroundings cut out. Every voxel is seen as in the whole stack: the same bits either way.
 */
#ifndef TL_SHAPE_GRAIN_STACK_H
#define TL_SHAPE_GRAIN_STACK_H

#include "num/layers.h"
#include "shape/drlse.h"

typedef struct TlGrainStack {
  TlLayers *labels;  /* U32, 0 void. Borrowed, as the others */
  TlLayers *grey;    /* of the same size; NULL: none (TL_DRLSE_DISTANCE) */
  TlLayers *noisy;   /* the grey before denoising, or NULL */
  double noisy_part; /* the grey used is (1 - noisy_part) grey + noisy_part noisy */
  int64_t at_once;   /* layers read at a time; files by blocks of 16 (io/h5_stack) want 16 */
} TlGrainStack;

/* Bytes that reading takes. */
int64_t tl_grain_stack_bytes(const TlGrainStack *stack);

/* Boxes of labels 0..most in fresh memory ((*boxes)[label], owner: caller). */
TlStatus tl_grain_stack_boxes(const TlGrainStack *stack, TlLabelBox **boxes, uint32_t *most);
/* Grey levels as drlse.h says: of about 4e6 voxels evenly over the stack. */
TlStatus tl_grain_stack_levels(const TlGrainStack *stack, TlGreyLevels *levels);

/* A grain's label box and TL_GRAIN_REACH voxels about it, cut to the stack. */
typedef struct TlGrainCut {
  int64_t low[3], size[3];
  TlVolume labels, grey; /* owned; grey without data when the stack has none */
} TlGrainCut;

/* Where; without voxels yet. */
TlGrainCut tl_grain_cut_place(const TlGrainStack *stack, const TlLabelBox *box);
int64_t tl_grain_cut_bytes(const TlGrainStack *stack, const TlGrainCut *cut);
/* The voxels of count placed cuts, in one go over the layers that hold them. */
TlStatus tl_grain_cut_read(const TlGrainStack *stack, TlGrainCut *cuts, int64_t count);
void tl_grain_cut_free(TlGrainCut *cut);
/* As tl_drlse_grain wants it. */
TlGrainPart tl_grain_cut_part(const TlGrainStack *stack, const TlGrainCut *cut);

#endif
