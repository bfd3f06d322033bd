/* The stages that fill a catalog and look into it, each a function (stage/stage.h): level-set
 * avatars of labelled grains, of meshes and of formulas; terrain from an elevation raster; listing,
 * checking, grading, export and import. Lengths in the options have the unit of their name (voxels,
 * um, m); what the catalog holds is in SI units. A change of a catalog is one transaction: all of
 * it or nothing. A member that is a choice is the index into the choices of its row; unit, default,
 * range and meaning of each member stand in the row of the table. TL_EUSAGE: an option is wrong;
 * TL_EINPUT: the input is unfit. */
#ifndef TL_STAGE_GRAINS_H
#define TL_STAGE_GRAINS_H

#include "stage/imaging.h"

/* Grains without a scan. */
typedef struct TlSolidStage {
  bool mesh;
  char *unit;
  TlTexts superellipsoid_um;
  double scale, spacing_um, sharp_deg;
} TlSolidStage;

typedef struct TlAvatarsStage {
  TlStackInput input;
  char *grey, *raw, *catalog, *sample, *nu, *surface_sigma;
  double node_spacing;
  int method;
  int64_t nodes, min_voxels, every, edge_steps, region_steps, curvature_steps;
  double memory_mb;
  double mu, lambda, dt, epsilon, raw_weight, blur;
  bool with_border, overwrite;
  TlSolidStage solid;
} TlAvatarsStage;
extern const TlParamTable tl_avatars_table;
/* Makes a level-set avatar of each label of the input stack and stores it in options->catalog. With
 * solid.mesh the inputs are closed meshes, one grain each; with solid.superellipsoid_um there is no
 * input. A grain that cannot be made is named in a warning and left out; TL_EINPUT when none can.
 */
TlStatus tl_stage_avatars(const TlStageCall *call, const TlAvatarsStage *options);

typedef struct TlTerrainStage {
  char *catalog, *name, *crs, *crop, *classes, *class_polygons, *class_field;
  int64_t class_default;
  double band_cells;
  int64_t refine;
  bool fill_holes, metres, overwrite;
} TlTerrainStage;
extern const TlParamTable tl_terrain_table;
/* Turns the input raster into a terrain of options->catalog. */
TlStatus tl_stage_terrain(const TlStageCall *call, const TlTerrainStage *options);

/* ---- the catalog, which is the first input of each of these ---- */

typedef struct TlShowStage {
  int64_t grain;
  char *terrain;
} TlShowStage;
typedef struct TlWhichGrains {
  char *sample;
  bool with_border;
} TlWhichGrains;
typedef struct TlGradingStage {
  TlWhichGrains which;
  char *plot;
} TlGradingStage;
typedef struct TlExportStage {
  TlWhichGrains which;
  int64_t grain, cells;
  int format, unit;
  bool scan_frame;
} TlExportStage;
typedef struct TlImportStage {
  char *sample;
  int format, unit;
  int64_t nodes;
  double spacing_um, density;
  bool replace, poses;
} TlImportStage;
extern const TlParamTable tl_catalog_show_table, tl_catalog_grading_table, tl_catalog_export_table,
    tl_catalog_import_table;

/* Reports the samples and terrains. */
TlStatus tl_stage_catalog_list(const TlStageCall *call);
/* Reports a grain's measures and the runs behind it, or a terrain; with neither named the terrain of
 * a catalog that has one. */
TlStatus tl_stage_catalog_show(const TlStageCall *call, const TlShowStage *options);
/* Checks the file, every checksum and every grain; the failure names the first that is wrong. */
TlStatus tl_stage_catalog_verify(const TlStageCall *call);
/* Reports the grading; the product, if any, is the curves as CSV. */
TlStatus tl_stage_catalog_grading(const TlStageCall *call, const TlGradingStage *options);
/* Writes grains as a table, surfaces, level sets or text for other codes. */
TlStatus tl_stage_catalog_export(const TlStageCall *call, const TlExportStage *options);
/* Stores the grains of the files that follow the catalog in the inputs. */
TlStatus tl_stage_catalog_import(const TlStageCall *call, const TlImportStage *options);
/* Removes the sample that the second input names. */
TlStatus tl_stage_catalog_remove(const TlStageCall *call);

#endif
