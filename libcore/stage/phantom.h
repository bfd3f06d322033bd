/* The stage that makes an instrument (stage/stage.h): a synthetic CT stack of touching grains with
 * known truth, or a valley as an elevation raster. There is no input; call->seed draws the grains,
 * and the same seed gives the same files. Lengths are in voxels or in the unit of their name. A
 * member that is a choice is the index into the choices of its row; unit, default, range and
 * meaning of each member stand in the row of the table. */
#ifndef TL_STAGE_PHANTOM_H
#define TL_STAGE_PHANTOM_H

#include "phantom/phantom.h"
#include "stage/stage.h"

typedef struct TlPhantomStage {
  double size[3], tiles[3], d50_voxels, solid_fraction, noise, voxel_size_um;
  double size_ratio, roughness_voxels, roughness_length_voxels, blur_voxels, grain_grey_sd;
  double opaque_fraction, specks_fraction, noise_low, noise_high;
  TlPhantomFaults faults;
  double water_saturation, water_grey;
  int shapes, water, noise_filter;
  bool disc, folder;
  char *labels, *truth, *clean;
  bool terrain, nodata_outline;
  int64_t columns, rows;
  double cell_m, west_m, south_m, foot_m;
} TlPhantomStage;
extern const TlParamTable tl_phantom_table;
/* call->output is a stack, with options->folder a folder, with options->terrain a raster. */
TlStatus tl_stage_phantom(const TlStageCall *call, const TlPhantomStage *options);

#endif
