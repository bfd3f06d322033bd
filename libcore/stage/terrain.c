/* An elevation raster becomes a terrain of the catalog. */
#include "stage/grains.h"

#include "base/log.h"
#include "base/mem.h"
#include "io/raster.h"
#include "shape/terrain_build.h"
#include "stage/input.h"
#include "stage/terrain_classes.h"
#include "store/catalog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OPTION(member) offsetof(TlTerrainStage, member)
static const TlParam params[] = {
    TL_INPUT_CATALOG_PARAM(TlTerrainStage),
    {"name", TL_P_TEXT, OPTION(name), "", "", 0, 0, NULL,
     "the terrain's name in the catalog; the raster's own name when not given", "NAME"},
    {"band-cells", TL_P_REAL, OPTION(band_cells), "raster cells", "3", 2, 100, NULL,
     "half width of the band that holds distances", NULL},
    {"refine", TL_P_INT, OPTION(refine), "", "1", 1, 16, NULL,
     "band grid points a raster cell and axis", NULL},
    {"fill-holes", TL_P_FLAG, OPTION(fill_holes), "", "false", 0, 0, NULL,
     "fill no-data enclosed by data, smoothly from the rim, and count it", NULL},
    {"crop", TL_P_TEXT, OPTION(crop), "CRS metres", "", 0, 0, NULL,
     "keep the samples whose centres lie inside", "XMIN,YMIN,XMAX,YMAX"},
    {"crs", TL_P_TEXT, OPTION(crs), "", "", 0, 0, NULL,
     "the true CRS where the file names a wrong one or none", "EPSG:CODE"},
    {"classes", TL_P_TEXT, OPTION(classes), "", "", 0, 0, NULL,
     "a raster of whole numbers that covers the terrain: classes of the ground, which studies give "
     "friction and restitution",
     "RASTER"},
    {"class-polygons", TL_P_TEXT, OPTION(class_polygons), "", "", 0, 0, NULL,
     "polygons with the class of the ground, of a GIS file in any CRS; they hold before --classes, "
     "and of "
     "those that overlap the one that stands last in the file",
     "FILE"},
    {"class-field", TL_P_TEXT, OPTION(class_field), "", "class", 0, 0, NULL,
     "field of the polygons that holds their class, a whole number", "NAME"},
    {"class-default", TL_P_INT, OPTION(class_default), "", "-1", -1, 1e9, NULL,
     "class of ground where the class raster has no data and no polygon lies; negative: refused",
     NULL},
    {"metres", TL_P_FLAG, OPTION(metres), "", "false", 0, 0, NULL,
     "coordinates without CRS are metres even if they look like degrees", NULL},
    {"overwrite", TL_P_FLAG, OPTION(overwrite), "", "false", 0, 0, NULL,
     "replace a terrain of this name", NULL},
};

const TlParamTable tl_terrain_table = TL_PARAM_TABLE(params, TlTerrainStage);

static TlStatus parse_crop(const char *text, TlRasterOptions *raster) {
  char rest;
  if (!text || !text[0]) return TL_OK;
  raster->crop = true;
  if (sscanf(text, "%lf,%lf,%lf,%lf%c", &raster->xmin, &raster->ymin, &raster->xmax, &raster->ymax,
             &rest) != 4 ||
      !(raster->xmin < raster->xmax && raster->ymin < raster->ymax))
    return tl_fail(TL_EUSAGE,
                   "--crop: '%s' is not XMIN,YMIN,XMAX,YMAX with XMIN < XMAX and YMIN < YMAX",
                   text);
  return TL_OK;
}

static TlStatus report_raster(TlReport *report, const TlRaster *raster) {
  TL_TRY(tl_report_int(report, "columns", raster->nx, ""));
  TL_TRY(tl_report_int(report, "rows", raster->ny, ""));
  TL_TRY(tl_report_real(report, "cell", raster->cell_m, "m"));
  TL_TRY(tl_report_int(report, "no_data", raster->no_data, ""));
  char *crs = tl_crs_name(raster->crs);
  TlStatus status = crs ? tl_report_text(report, "crs", crs) : TL_ENOMEM;
  tl_free(crs);
  return status;
}

/* Heights of another unit than metres, and faults of the raster. */
static void warn_of_heights(const TlTerrainSurvey *s) {
  static const double STEEP_DEG = 45; /* steeper on the mean than the sides of alpine valleys */
  if (s->slope_mean_deg > STEEP_DEG)
    tl_log_warn("the ground is %.3g degrees steep on the mean: are the heights in metres (not in "
                "feet, or tenths "
                "of a metre)?",
                s->slope_mean_deg);
  if (s->spikes > 0)
    tl_log_warn(
        "%lld sample%s more than 100 m above or below all around them, the first at east "
        "%.10g, "
        "north %.10g m with a height of %.6g m: faults of the raster, which blocks would hit",
        (long long)s->spikes, s->spikes == 1 ? " stands" : "s stand", s->spike_east_m,
        s->spike_north_m, s->spike_m);
}

static TlStatus report_terrain(TlReport *report, const TlTerrain *t, double seconds) {
  TlTerrainSurvey s;
  tl_terrain_survey(t, &s);
  warn_of_heights(&s);
  TL_TRY(tl_report_int(report, "data", s.data, ""));
  TL_TRY(tl_report_int(report, "holes_filled", t->holes_filled, ""));
  TL_TRY(tl_report_int(report, "origin_east", (int64_t)t->origin[0], "m"));
  TL_TRY(tl_report_int(report, "origin_north", (int64_t)t->origin[1], "m"));
  TL_TRY(tl_report_int(report, "origin_height", (int64_t)t->origin[2], "m"));
  TL_TRY(tl_report_real(report, "height_min", s.z_min_m, "m"));
  TL_TRY(tl_report_real(report, "height_max", s.z_max_m, "m"));
  TL_TRY(tl_report_real(report, "area", s.area_m2, "m2"));
  TL_TRY(tl_report_real(report, "slope_mean", s.slope_mean_deg, "deg"));
  TL_TRY(tl_report_real(report, "slope_p05", s.slope_quantile[0], "deg"));
  TL_TRY(tl_report_real(report, "slope_p50", s.slope_quantile[1], "deg"));
  TL_TRY(tl_report_real(report, "slope_p95", s.slope_quantile[2], "deg"));
  TL_TRY(tl_report_real(report, "slope_max", s.slope_max_deg, "deg"));
  TL_TRY(tl_report_real(report, "band_half_width", t->band_m, "m"));
  TL_TRY(tl_report_real(report, "band_spacing", t->band_spacing_m, "m"));
  TL_TRY(tl_report_int(report, "band_points", t->band_count, ""));
  TL_TRY(tl_report_int(report, "memory", s.memory_bytes, "bytes"));
  return tl_report_real(report, "time", seconds, "s");
}

/* Of a band of three cells (shape/terrain_build.h). */
#define SECONDS_A_COLUMN 1e-6

/* What would be made: the band of level ground, which slopes make larger by 1/cos. */
static TlStatus report_plan(TlReport *report, const TlRaster *raster, const TlTerrainStage *o) {
  double columns = (double)((raster->nx - 1) * o->refine + 1) *
                   (double)((raster->ny - 1) * o->refine + 1) *
                   (1 - (double)raster->no_data / (double)(raster->nx * raster->ny));
  double points = columns * (2 * o->band_cells * (double)o->refine + 1);
  TL_TRY(tl_report_real(report, "band_points_at_least", points, ""));
  TL_TRY(tl_report_real(report, "time_one_core_about", SECONDS_A_COLUMN * columns, "s"));
  return tl_report_real(report, "memory_at_least", 16 * columns + 4 * points, "bytes");
}

static TlStatus make(const TlStageCall *call, const TlTerrainStage *o, const char *name,
                     const TlRaster *raster, TlTerrain *terrain) {
  TlTerrainSource source = {name,           raster->crs,    raster->nx,      raster->ny,
                            raster->cell_m, raster->east_m, raster->north_m, raster->height_m};
  TlTerrainOptions options = {o->band_cells, (int)o->refine, o->fill_holes};
  double start = tl_clock_s();
  TL_TRY(tl_context(tl_terrain_build(terrain, &source, &options), "%s", call->input[0]));
  double seconds = tl_clock_s() - start;
  TL_TRY(tl_terrain_classes(call, o, terrain));
  if (terrain->holes_filled > 0)
    tl_log_warn("%s: %lld samples in holes were filled", call->input[0],
                (long long)terrain->holes_filled);
  TL_TRY(report_terrain(call->report, terrain, seconds));
  TlCatalog *catalog = NULL;
  TL_TRY(tl_catalog_open(&catalog, o->catalog, TL_CATALOG_CREATE));
  TlStatus status = tl_catalog_begin(catalog, call->provenance, NULL);
  if (status == TL_OK)
    status = tl_catalog_add_terrain(catalog, terrain, o->overwrite, &terrain->id);
  if (status == TL_OK) status = tl_catalog_commit(catalog);
  tl_catalog_close(catalog);
  return status;
}

/* Heights of exactly 0 far below all others: gdalwarp and GIS programs write 0 where they have no data, and do
 * not always say so. No ground falls by so much from one sample to the next without one in between. */
static TlStatus refuse_zeros(const char *path, const TlRaster *r) {
  const double far_m = 100;
  int64_t zeros = 0, first = -1;
  double least = INFINITY;
  for (int64_t k = 0; k < r->nx * r->ny; k++) {
    if (isnan(r->height_m[k])) continue;
    if (r->height_m[k] != 0) {
      least = fmin(least, r->height_m[k]);
      continue;
    }
    if (zeros++ == 0) first = k;
  }
  if (zeros == 0 || !(least > far_m) || isinf(least)) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "%s: %lld samples have a height of exactly 0, the first at (%.10g, %.10g), and "
                 "all others are "
                 "above %.0f m: these are no ground, but places without data; declare them: "
                 "gdal_translate -a_nodata 0 %s OUT.tif",
                 path, (long long)zeros, r->east_m + r->cell_m * (double)(first % r->nx),
                 r->north_m + r->cell_m * (double)(first / r->nx), floor(least), path);
}

TlStatus tl_stage_terrain(const TlStageCall *call, const TlTerrainStage *o) {
  TlRasterOptions options = {.metres = o->metres, .crs = o->crs};
  TlRaster raster = {0};
  TlTerrain terrain = {0};
  if (!o->catalog || !o->catalog[0])
    return tl_fail(TL_EUSAGE, "--catalog=FILE wanted: the catalog that takes the terrain");
  TL_TRY(parse_crop(o->crop, &options));
  TL_TRY(tl_raster_read(&raster, call->input[0], &options));
  TlStatus status = refuse_zeros(call->input[0], &raster);
  if (status == TL_OK) status = tl_provenance_input(call->provenance, call->input[0]);
  /* without a name of its own that of the file, without folders and extension */
  const char *base = strrchr(call->input[0], '/');
  base = base ? base + 1 : call->input[0];
  const char *dot = strrchr(base, '.');
  char *name =
      o->name && o->name[0]
          ? tl_strdup(o->name)
          : tl_format("%.*s", (int)(dot && dot != base ? (size_t)(dot - base) : strlen(base)),
                      base);
  if (status == TL_OK && !name) status = TL_ENOMEM;
  if (status == TL_OK) status = tl_report_text(call->report, "terrain", name);
  if (status == TL_OK) status = tl_report_text(call->report, "catalog", o->catalog);
  if (status == TL_OK) status = report_raster(call->report, &raster);
  if (status == TL_OK)
    status = call->dry_run ? report_plan(call->report, &raster, o)
                           : make(call, o, name, &raster, &terrain);
  tl_terrain_free(&terrain);
  tl_raster_free(&raster);
  tl_free(name);
  return status;
}
