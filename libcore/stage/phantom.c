/* A synthetic CT stack with known truth, or a valley as an elevation raster. */
#include "stage/phantom.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/raster.h"
#include "io/stack.h"
#include "phantom/valley.h"

#include <math.h>
#include <stdio.h>

#define P(key, type, member, unit, def, min, max, help, arg)                                       \
  { key, type, offsetof(TlPhantomStage, member), unit, def, min, max, NULL, help, arg }
#define OUTPUT(key, member, help)                                                                  \
  {                                                                                                \
    key, TL_P_TEXT, offsetof(TlPhantomStage, member), "", "", 0, 0, NULL, help, "FILE",            \
        TL_ROLE_REPLACES                                                                           \
  }

static const TlParam params[] = {
    {NULL, TL_P_HEADING, 0, "", NULL, 0, 0, NULL, "The stack", NULL},
    P("size", TL_P_VEC3, size, "voxels", "128,128,128", 4, 20000, "voxels along x, y and z",
      "NX,NY,NZ"),
    P("tiles", TL_P_VEC3, tiles, "", "1,1,1", 1, 1000,
      "a stack larger than memory: so many copies of the (periodic) packing of --size side by "
      "side, "
      "with noise of their own",
      "NX,NY,NZ"),
    P("d50-voxels", TL_P_REAL, d50_voxels, "voxels", "28", 4, 4000, "median grain diameter by mass",
      NULL),
    P("size-ratio", TL_P_REAL, size_ratio, "", "5", 1, 5,
      "diameter of the coarsest grain over that of the finest (lognormal by mass, cut at 2 sd)",
      NULL),
    {"shapes", TL_P_CHOICE, offsetof(TlPhantomStage, shapes), "", "mixed", 0, 0,
     "rounded|angular|elongated|concave|faceted|mixed",
     "grains of one kind (faceted: flat faces, sharp edges), or a mixture of the first four", NULL},
    P("roughness-voxels", TL_P_REAL, roughness_voxels, "voxels", "0", 0, 1,
      "rms height of waves on the grains' surfaces", NULL),
    P("roughness-length-voxels", TL_P_REAL, roughness_length_voxels, "voxels", "6", 4, 1000,
      "length of those waves; at least 9 times their height", NULL),
    P("solid-fraction", TL_P_REAL, solid_fraction, "", "0.6", 0.3, 0.68, "solid volume over volume",
      NULL),
    P("noise", TL_P_REAL, noise, "grey levels", "6", 0, 60,
      "standard deviation of the noise at the grain level (void 90, grains 160)", "SD"),
    P("blur-voxels", TL_P_REAL, blur_voxels, "voxels", "0.7", 0, 16, "sigma of the Gaussian blur",
      NULL),
    P("grain-grey-sd", TL_P_REAL, grain_grey_sd, "grey levels", "6", 0, 60,
      "standard deviation of the grains' own grey levels", NULL),
    P("opaque-fraction", TL_P_REAL, opaque_fraction, "", "0.03", 0, 1,
      "part of the grains that are opaque (grey level 225)", NULL),
    P("specks-fraction", TL_P_REAL, specks_fraction, "", "0", 0, 0.2,
      "part of the solid volume that is opaque specks inside grains, 3 voxels across", NULL),
    {"water", TL_P_CHOICE, offsetof(TlPhantomStage, water), "", "none", 0, 0,
     "none|menisci|films|level",
     "water in the pores: bridges between grains, as capillary forces hold it, coats of one "
     "thickness on the grains, or the lower layers filled",
     NULL},
    P("water-saturation", TL_P_REAL, water_saturation, "", "0.5", 0.01, 1,
      "part of the pores that the water takes", NULL),
    P("water-grey", TL_P_REAL, water_grey, "grey levels", "122", 0, 327, "grey level of the water",
      NULL),
    P("noise-correlation-voxels", TL_P_REAL, faults.noise_correlation_voxels, "voxels", "0", 0, 4,
      "sigma of the Gaussian that smooths the noise; its standard deviation is kept", NULL),
    {"noise-filter", TL_P_CHOICE, offsetof(TlPhantomStage, noise_filter), "", "none", 0, 0,
     "none|hann|shepp-logan",
     "the noise of a reconstruction: white noise of the projections, filtered by the ramp with "
     "this "
     "window and back-projected slice by slice; its standard deviation is kept",
     NULL},
    P("rings-grey", TL_P_REAL, faults.rings_grey, "grey levels", "0", 0, 60,
      "standard deviation of rings about the middle axis", NULL),
    P("cupping-grey", TL_P_REAL, faults.cupping_grey, "grey levels", "0", -60, 60,
      "how much darker the middle axis is than the rim", NULL),
    P("bias-z-grey", TL_P_REAL, faults.bias_z_grey, "grey levels", "0", -60, 60,
      "how much brighter the last slice is than the first", NULL),
    P("voxel-size-um", TL_P_REAL, voxel_size_um, "um", "10", 1e-3, 1e6,
      "voxel size written into the stack", NULL),
    P("disc", TL_P_FLAG, disc, "", "false", 0, 0,
      "grains in a cylinder with a container wall, 0 outside the scan's circle", NULL),
    OUTPUT("labels", labels, "write the true labels here"),
    OUTPUT("truth", truth, "write the true volumes, centroids and inertia here, as CSV"),
    OUTPUT("clean", clean, "write the stack without noise here"),
    P("folder", TL_P_FLAG, folder, "", "false", 0, 0,
      "-o is a folder: write the clean stack, two noisy ones, the labels, the grains (CSV) and the "
      "surface (float32) into it, names beginning with phantom_",
      NULL),
    P("noise-low", TL_P_REAL, noise_low, "grey levels", "6", 0, 60,
      "noise of the folder's stack `low`", "SD"),
    P("noise-high", TL_P_REAL, noise_high, "grey levels", "20", 0, 60,
      "noise of the folder's stack `high`", "SD"),
    {NULL, TL_P_HEADING, 0, "", NULL, 0, 0, NULL, "The terrain", NULL},
    P("terrain", TL_P_FLAG, terrain, "", "false", 0, 0,
      "write a valley as an elevation raster (.asc or .tif) instead of a stack", NULL),
    P("columns", TL_P_INT, columns, "cells", "120", 16, 100000, "cells west to east", NULL),
    P("rows", TL_P_INT, rows, "cells", "200", 16, 100000, "cells north to south", NULL),
    P("cell-m", TL_P_REAL, cell_m, "m", "1", 1e-6, 1e4, "cell size", NULL),
    P("west-m", TL_P_REAL, west_m, "m", "452000", -1e8, 1e8, "east coordinate of the west edge",
      NULL),
    P("south-m", TL_P_REAL, south_m, "m", "5204000", -1e8, 1e8,
      "north coordinate of the south edge", NULL),
    P("foot-m", TL_P_REAL, foot_m, "m", "1100", -1e4, 1e5, "height of the valley's lower end",
      NULL),
    P("nodata-outline", TL_P_FLAG, nodata_outline, "", "false", 0, 0,
      "no data outside an irregular outline", NULL),
};

const TlParamTable tl_phantom_table = TL_PARAM_TABLE(params, TlPhantomStage);

/* ---- stack ---- */

static bool tiled(const TlPhantomStage *v) {
  return v->tiles[0] * v->tiles[1] * v->tiles[2] > 1;
}

static TlStatus phantom_options(const TlStageCall *call, const TlPhantomStage *v,
                                TlPhantomOptions *o) {
  *o = tl_phantom_defaults();
  int64_t *n[3] = {&o->nx, &o->ny, &o->nz};
  for (int k = 0; k < 3; k++) {
    if (v->size[k] != floor(v->size[k]))
      return tl_fail(TL_EUSAGE, "--size: %g voxels; give whole numbers", v->size[k]);
    if (v->tiles[k] != floor(v->tiles[k]))
      return tl_fail(TL_EUSAGE, "--tiles: %g copies; give whole numbers", v->tiles[k]);
    *n[k] = (int64_t)v->size[k];
  }
  o->periodic = tiled(v);
  o->d50_voxels = v->d50_voxels;
  o->solid_fraction = v->solid_fraction;
  o->size_ratio = v->size_ratio;
  o->shapes = (TlPhantomShapes)v->shapes;
  o->roughness_voxels = v->roughness_voxels;
  o->roughness_length_voxels = v->roughness_length_voxels;
  o->blur_sigma = v->blur_voxels;
  o->grey_sd = v->grain_grey_sd;
  o->opaque = v->opaque_fraction;
  o->specks = v->specks_fraction;
  o->water = (TlPhantomWater)v->water;
  o->water_saturation = v->water_saturation;
  o->water_grey = v->water_grey;
  o->faults = v->faults;
  o->faults.noise_filter = (TlPhantomFilter)v->noise_filter;
  if (tiled(v) && (v->folder || v->labels || v->truth || v->clean))
    return tl_fail(TL_EUSAGE, "--tiles makes the stack alone: no folder, labels, truth or clean");
  o->noise_sd = v->folder ? v->noise_low : v->noise;
  o->voxel_m = v->voxel_size_um * 1e-6;
  o->disc = v->disc;
  o->keep_clean = v->folder || v->clean != NULL;
  o->keep_surface = v->folder;
  o->seed = call->seed;
  return TL_OK;
}

/* ---- a folder: everything a judge of the imaging needs ---- */

enum { CLEAN, LOW, HIGH, LABELS, GRAINS, SURFACE, PRODUCTS };

static TlStatus product_path(const TlStageCall *call, const TlPhantomStage *v, int which,
                             char path[1200]) {
  static const char *const endings[] = {"clean_u16.tif",  "low_u16.tif", "high_u16.tif",
                                        "labels_u16.tif", "grains.csv",  "surface_f32.raw"};
  const double *n = v->size;
  char size[64];
  snprintf(size, sizeof size, "%.0fx%.0fx%.0f", n[0], n[1], n[2]);
  if (n[0] == n[1] && n[1] == n[2]) snprintf(size, sizeof size, "%.0f", n[0]);
  if (snprintf(path, 1200, "%s/phantom_%s_%s", call->output, size, endings[which]) < 1200)
    return TL_OK;
  return tl_fail(TL_EUSAGE, "%s: the name is too long", call->output);
}

static TlStatus claim_folder(const TlStageCall *call, const TlPhantomStage *v) {
  char path[1200];
  for (int k = 0; k < PRODUCTS; k++) {
    TL_TRY(product_path(call, v, k, path));
    TL_TRY(tl_claim_output(path, "-o", call->overwrite || call->dry_run));
  }
  return tl_dir_make(call->output);
}

static TlStatus labels_u16(const TlPhantom *p, TlVolume *out) {
  if (p->grain_count > 65535)
    return tl_fail(
        TL_EINPUT,
        "%lld grains do not fit into the folder's 16-bit labels; make a smaller stack or "
        "larger grains",
        (long long)p->grain_count);
  TL_TRY(tl_volume_like(out, &p->labels, TL_U16));
  for (int64_t i = 0; i < tl_volume_count(out); i++) out->u16[i] = (uint16_t)p->labels.u32[i];
  return TL_OK;
}

static TlStatus write_product(const TlStageCall *call, const TlPhantomStage *v, int which,
                              const TlVolume *stack) {
  char path[1200];
  TL_TRY(product_path(call, v, which, path));
  return tl_stack_write(path, stack, call->provenance, call->overwrite);
}

static TlStatus write_folder(const TlStageCall *call, const TlPhantomStage *v,
                             const TlPhantomOptions *o, const TlPhantom *p) {
  char path[1200];
  TlVolume high, labels;
  TL_TRY(labels_u16(p, &labels));
  TlStatus status = write_product(call, v, LABELS, &labels);
  tl_volume_free(&labels);
  TL_TRY(status);
  TL_TRY(product_path(call, v, GRAINS, path));
  TL_TRY(tl_phantom_write_truth(p, path, call->overwrite));
  TL_TRY(product_path(call, v, SURFACE, path));
  TL_TRY(tl_phantom_write_surface(p, path, call->overwrite));
  TL_TRY(write_product(call, v, CLEAN, &p->clean));
  TL_TRY(write_product(call, v, LOW, &p->stack));
  TL_TRY(tl_phantom_scan(p, o, v->noise_high, 1, &high));
  status = write_product(call, v, HIGH, &high);
  tl_volume_free(&high);
  return status;
}

/* ---- a stack larger than memory ---- */

static TlStatus append_tiled(const TlPhantom *p, const TlPhantomOptions *o, const int64_t tiles[3],
                             const TlVolume *head, const TlLayerSink *sink) {
  enum { AT_ONCE = 16 };
  uint16_t *layers;
  TL_TRY(TL_NEW(layers, (size_t)(head->nx * head->ny * AT_ONCE)));
  TlProgress progress = tl_progress_start("noise and writing", head->nz);
  TlStatus status = TL_OK;
  for (int64_t z = 0; z < head->nz && status == TL_OK; z += AT_ONCE) {
    int64_t count = head->nz - z < AT_ONCE ? head->nz - z : AT_ONCE;
    tl_phantom_tile(p, o, tiles, z, count, layers);
    status = tl_sink_append(sink, count, layers);
    tl_progress(&progress, z + count);
  }
  tl_progress_end(&progress);
  tl_free(layers);
  return status;
}

static void whole_tiles(const TlPhantomStage *v, int64_t tiles[3]) {
  for (int a = 0; a < 3; a++) tiles[a] = (int64_t)v->tiles[a];
}

static TlStatus write_tiled(const TlStageCall *call, const TlPhantomStage *v,
                            const TlPhantomOptions *o, const TlPhantom *p) {
  const TlVolume *tile = &p->ideal;
  int64_t tiles[3];
  whole_tiles(v, tiles);
  TlVolume head = {.type = TL_U16,
                   .nx = tile->nx * tiles[0],
                   .ny = tile->ny * tiles[1],
                   .nz = tile->nz * tiles[2],
                   .voxel_m = {o->voxel_m, o->voxel_m, o->voxel_m}};
  TlLayerSink sink;
  TL_TRY(tl_stack_begin(call->output, &head, call->provenance, call->overwrite, &sink));
  return tl_sink_end(&sink, append_tiled(p, o, tiles, &head, &sink));
}

static TlStatus write_stack(const TlStageCall *call, const TlPhantomStage *v,
                            const TlPhantomOptions *o, const TlPhantom *p) {
  if (v->folder) return write_folder(call, v, o, p);
  if (tiled(v)) return write_tiled(call, v, o, p);
  TL_TRY(tl_stack_write(call->output, &p->stack, call->provenance, call->overwrite));
  if (v->labels) TL_TRY(tl_stack_write(v->labels, &p->labels, call->provenance, call->overwrite));
  if (v->clean) TL_TRY(tl_stack_write(v->clean, &p->clean, call->provenance, call->overwrite));
  return v->truth ? tl_phantom_write_truth(p, v->truth, call->overwrite) : TL_OK;
}

static TlStatus report_stack(TlReport *r, const TlPhantomStage *v, const TlPhantom *p) {
  int64_t whole = 0;
  for (int64_t i = 0; i < p->grain_count; i++) whole += !p->grains[i].border;
  int64_t tiles[3], grains;
  whole_tiles(v, tiles);
  TL_TRY(tl_phantom_tile_grains(p, tiles, &grains));
  TL_TRY(tl_report_int(r, "grains", grains, ""));
  if (tiled(v)) return tl_report_int(r, "grains_a_copy", p->grain_count, "");
  TL_TRY(tl_report_int(r, "grains_not_cut_by_the_border", whole, ""));
  TL_TRY(tl_report_int(r, "contacts", p->contacts, ""));
  TL_TRY(tl_report_real(r, "solid_fraction", p->solid_fraction, ""));
  TL_TRY(tl_report_real(r, "surface_offset", p->offset, "voxels"));
  TL_TRY(tl_report_real(r, "deepest_overlap_cut", p->deepest_cut, "voxels"));
  if (p->water_saturation > 0)
    TL_TRY(tl_report_real(r, "water_saturation", p->water_saturation, ""));
  if (!(p->cylinder_radius > 0)) return TL_OK;
  return tl_report_real(r, "cylinder_radius", p->cylinder_radius, "voxels");
}

static TlStatus make_stack(const TlStageCall *call, const TlPhantomStage *v) {
  TlPhantomOptions o;
  TL_TRY(phantom_options(call, v, &o));
  double bytes = 18.0 * (double)o.nx * (double)o.ny * (double)o.nz;
  if (call->dry_run) {
    tl_log_info("would make %.0f x %.0f x %.0f voxels in about %.0f MB of memory and write %s",
                (double)o.nx * v->tiles[0], (double)o.ny * v->tiles[1], (double)o.nz * v->tiles[2],
                bytes / 1e6, call->output);
    return TL_OK;
  }
  if (v->folder) TL_TRY(claim_folder(call, v));
  TlPhantom phantom;
  TL_TRY(tl_phantom_make(&o, &phantom));
  TlStatus status = write_stack(call, v, &o, &phantom);
  if (status == TL_OK) status = report_stack(call->report, v, &phantom);
  tl_phantom_free(&phantom);
  return status;
}

/* ---- terrain ---- */

static TlStatus write_valley(const TlStageCall *call, const TlValley *valley) {
  TlReport *r = call->report;
  char none[1] = "";
  TlRaster raster = {valley->nx,      valley->ny,       valley->cell_m, valley->east_m,
                     valley->north_m, valley->height_m, none,           0};
  for (int64_t i = 0; i < valley->nx * valley->ny; i++)
    raster.no_data += isnan(valley->height_m[i]);
  TL_TRY(tl_raster_write(&raster, call->output, call->overwrite));
  TL_TRY(tl_report_int(r, "columns", valley->nx, "cells"));
  TL_TRY(tl_report_int(r, "rows", valley->ny, "cells"));
  TL_TRY(tl_report_int(r, "no_data", raster.no_data, "cells"));
  TL_TRY(tl_report_real(r, "drop", valley->drop_m, "m"));
  return tl_report_real(r, "steepest_slope", valley->steepest_deg, "deg");
}

static TlStatus make_terrain(const TlStageCall *call, const TlPhantomStage *v) {
  TlValleyOptions o = tl_valley_defaults();
  o.nx = v->columns;
  o.ny = v->rows;
  o.cell_m = v->cell_m;
  o.west_m = v->west_m;
  o.south_m = v->south_m;
  o.foot_m = v->foot_m;
  o.outline = v->nodata_outline;
  o.seed = call->seed;
  if (call->dry_run) {
    tl_log_info("would write a valley of %lld x %lld cells to %s", (long long)o.nx, (long long)o.ny,
                call->output);
    return TL_OK;
  }
  TlValley valley;
  TlStatus status = tl_valley_make(&o, &valley);
  if (status == TL_OK) status = write_valley(call, &valley);
  tl_valley_free(&valley);
  return status;
}

TlStatus tl_stage_phantom(const TlStageCall *call, const TlPhantomStage *v) {
  if (v->terrain && (v->labels || v->truth || v->clean || v->disc || v->folder))
    return tl_fail(TL_EUSAGE,
                   "--terrain writes a raster: it has no labels, truth, clean, folder or disc");
  if (v->folder && (v->labels || v->truth || v->clean))
    return tl_fail(TL_EUSAGE, "--folder writes labels, truth and clean by itself; leave those out");
  if (!v->folder) TL_TRY(tl_claim_output(call->output, "-o", call->overwrite || call->dry_run));
  return v->terrain ? make_terrain(call, v) : make_stack(call, v);
}
