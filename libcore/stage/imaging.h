/* The stages from a scan to labelled grains, each a function (stage/stage.h): denoise, binarize,
 * label, super-resolution, and small changes of a stack. The first input is the stack; the product
 * is a stack (.h5, .tif) whose history names the runs behind it. Lengths are in voxels unless the
 * name says otherwise, greys are those of the stack. A member that is a choice is the index into
 * the choices of its row; unit, default, range and meaning of each member stand in the row of the
 * table. TL_EUSAGE: an option is wrong; TL_EINPUT: the stack is unfit for the stage. */
#ifndef TL_STAGE_IMAGING_H
#define TL_STAGE_IMAGING_H

#include "stage/stage.h"

/* The stack that a stage begins with, and the region of the specimen in it. */
typedef struct TlStackInput {
  char *roi, *voxel_size_um, *raw, *preview;
  bool allow_gaps;
} TlStackInput;

typedef struct TlDenoiseStage {
  TlStackInput input;
  int method;
  double sigma_noise, h_factor, reach, sigma_voxels, sigma_grey, kappa, step, memory_mb;
  int64_t patch, search, radius, rounds;
} TlDenoiseStage;
extern const TlParamTable tl_denoise_table;
/* Takes noise out of a grey stack and keeps the edges. */
TlStatus tl_stage_denoise(const TlStageCall *call, const TlDenoiseStage *options);

typedef struct TlBinarizeStage {
  TlStackInput input;
  int method, start;
  char *threshold; /* text, because 0 is a threshold too */
  double beta, delta, void_weight, sd_floor;
  char *deblur; /* text, because "auto" is one */
  int64_t rounds, min_island, phases, solid_from;
  double memory_mb;
  int neighbours;
  bool invert;
} TlBinarizeStage;
extern const TlParamTable tl_binarize_table;
/* Tells grain from void: the product is a mask, 1 grain, 0 void or outside the region. */
TlStatus tl_stage_binarize(const TlStageCall *call, const TlBinarizeStage *options);

typedef struct TlLabelStage {
  TlStackInput input;
  double sigma, h_voxels, h_relative, neck, dip, memory_mb;
  int64_t min_voxels;
  char *grey, *markers, *sweep, *grains;
} TlLabelStage;
extern const TlParamTable tl_label_table;
/* Gives each grain of a mask a label of its own (uint32, 0 is void). */
TlStatus tl_stage_label(const TlStageCall *call, const TlLabelStage *options);

typedef struct TlTrainStage {
  TlStackInput input;
  int64_t factor, atoms, pairs, codes, rounds;
  double noise_grey, tolerance, memory_mb;
} TlTrainStage;
extern const TlParamTable tl_train_table;
/* Learns from a fine stack what a coarse one of the same kind misses; the product is a dictionary.
 */
TlStatus tl_stage_superres_train(const TlStageCall *call, const TlTrainStage *options);

typedef struct TlApplyStage {
  TlStackInput input;
  char *dictionary;
  double sigma_noise, memory_mb;
  int denoise;
} TlApplyStage;
extern const TlParamTable tl_apply_table;
/* Refines a coarse stack with such a dictionary. */
TlStatus tl_stage_superres_apply(const TlStageCall *call, const TlApplyStage *options);

/* ---- small changes of a stack ---- */

typedef struct TlVolumeStage {
  char *voxel_um, *raw;
  bool allow_gaps;
} TlVolumeStage;
typedef struct TlCropStage {
  TlVolumeStage stack; /* first in each of these: the rows of the stack are the same */
  char *low, *size;
} TlCropStage;
typedef struct TlCoarseStage {
  TlVolumeStage stack;
  int64_t factor;
} TlCoarseStage;
typedef struct TlRegionStage {
  TlVolumeStage stack;
  char *roi;
} TlRegionStage;
typedef struct TlSliceStage {
  TlVolumeStage stack;
  int64_t z, zoom;
  double low, high;
} TlSliceStage;
extern const TlParamTable tl_volume_table, tl_crop_table, tl_coarse_table, tl_region_table,
    tl_slice_table;

/* Reports size, type, voxel size and range of values; there is no product. */
TlStatus tl_stage_volume_info(const TlStageCall *call, const TlVolumeStage *options);
/* Writes the same values in the format of the output's name. */
TlStatus tl_stage_volume_convert(const TlStageCall *call, const TlVolumeStage *options);
/* Writes a box of the stack. */
TlStatus tl_stage_volume_crop(const TlStageCall *call, const TlCropStage *options);
/* Writes the stack with larger voxels, each the mean of a cube. */
TlStatus tl_stage_volume_downsample(const TlStageCall *call, const TlCoarseStage *options);
/* Sets the voxels outside the specimen's cylinder to 0 and records the cylinder. */
TlStatus tl_stage_volume_mask(const TlStageCall *call, const TlRegionStage *options);
/* Counts the grey levels inside the region; the product, if any, is a CSV file. */
TlStatus tl_stage_volume_histogram(const TlStageCall *call, const TlRegionStage *options);
/* Draws one slice as PNG; nothing is reported. */
TlStatus tl_stage_volume_slice(const TlStageCall *call, const TlSliceStage *options);

#endif
