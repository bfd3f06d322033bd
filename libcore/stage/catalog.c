/* Look into a catalog, check it, take grains out and bring grains in. */
#include "stage/grains.h"

#include "base/claims.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/csv.h"
#include "post/export_catalog.h"
#include "post/export_levelset.h"
#include "post/export_morphology.h"
#include "post/gnuplot.h"
#include "post/measure_grading.h"
#include "store/catalog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Open for reading, work, close. */
static TlStatus with_catalog(const TlStageCall *call, TlCatalogMode mode,
                             TlStatus (*work)(const TlStageCall *call, const void *options,
                                              TlCatalog *catalog),
                             const void *options) {
  TlCatalog *catalog;
  TL_TRY(tl_catalog_open(&catalog, call->input[0], mode));
  TlStatus status = work(call, options, catalog);
  tl_catalog_close(catalog);
  return status;
}

/* ---- list ---- */

typedef struct Listing {
  TlReport *report;
  int64_t samples, grains, border, terrains;
} Listing;

static TlStatus list_item(TlReport *report, char *name, char *text) {
  TlStatus status = name && text ? tl_report_text(report, name, text) : TL_ENOMEM;
  tl_free(name);
  tl_free(text);
  return status;
}

static TlStatus list_sample(void *context, const TlSampleRow *row) {
  Listing *l = context;
  l->samples++;
  l->grains += row->grains;
  l->border += row->border_grains;
  return list_item(l->report, tl_format("sample_%lld", (long long)row->id),
                   tl_format("%s: %lld grains, %lld of them cut by the border, voxel %.6g x %.6g x "
                             "%.6g um",
                             row->name, (long long)row->grains, (long long)row->border_grains,
                             1e6 * row->voxel_m[0], 1e6 * row->voxel_m[1], 1e6 * row->voxel_m[2]));
}

/* "452000 to 452120 east, 5204000 to 5204200 north (local x 0.5 to 119.5 m, ...)" */
static char *extent_of(const TlTerrainRow *t, bool local) {
  double x = t->x0_m + (local ? 0 : t->origin[0]), y = t->y0_m + (local ? 0 : t->origin[1]);
  return tl_format("%s %.10g to %.10g, %s %.10g to %.10g m", local ? "x" : "east", x,
                   x + (double)(t->nx - 1) * t->cell_m, local ? "y" : "north", y,
                   y + (double)(t->ny - 1) * t->cell_m);
}

static TlStatus list_terrain(void *context, const TlTerrainRow *row) {
  Listing *l = context;
  char *crs = tl_crs_name(row->crs), *extent = extent_of(row, true);
  l->terrains++;
  TlStatus status =
      !crs || !extent
          ? TL_ENOMEM
          : list_item(l->report, tl_format("terrain_%lld", (long long)row->id),
                      tl_format("%s: %lld x %lld samples every %.6g m, local %s, local origin at "
                                "east %.10g, north %.10g, height %.10g m, CRS %s, band +-%.6g m at "
                                "%.6g m",
                                row->name, (long long)row->nx, (long long)row->ny, row->cell_m,
                                extent, row->origin[0], row->origin[1], row->origin[2], crs,
                                row->band_m, row->band_spacing_m));
  tl_free(crs);
  tl_free(extent);
  return status;
}

static TlStatus do_list(const TlStageCall *call, const void *none, TlCatalog *catalog) {
  Listing l = {.report = call->report};
  (void)none;
  TL_TRY(tl_catalog_walk_samples(catalog, list_sample, &l));
  TL_TRY(tl_catalog_walk_terrains(catalog, list_terrain, &l));
  TL_TRY(tl_report_int(l.report, "samples", l.samples, ""));
  TL_TRY(tl_report_int(l.report, "grains", l.grains, ""));
  TL_TRY(tl_report_int(l.report, "border_grains", l.border, ""));
  return tl_report_int(l.report, "terrains", l.terrains, "");
}

TlStatus tl_stage_catalog_list(const TlStageCall *call) {
  return with_catalog(call, TL_CATALOG_READ, do_list, NULL);
}

/* ---- show ---- */

static const TlParam show_params[] = {
    {"grain", TL_P_INT, offsetof(TlShowStage, grain), "", "0", 0, 9e15, NULL,
     "the grain's number in the catalog (its id)", "N"},
    {"terrain", TL_P_TEXT, offsetof(TlShowStage, terrain), "", "", 0, 0, NULL,
     "a terrain in place of a grain: its extent, origin, cell and CRS; without both options the "
     "terrain of a catalog that has one",
     "NAME"},
};

const TlParamTable tl_catalog_show_table = TL_PARAM_TABLE(show_params, TlShowStage);

static TlStatus show_run(void *context, const TlRunRow *run) {
  TlReport *r = context;
  const struct {
    const char *name, *value;
  } item[] = {{"command", run->command}, {"version", run->version},      {"commit", run->commit},
              {"host", run->host},       {"start", run->start_utc},      {"end", run->end_utc},
              {"inputs", run->inputs},   {"parameters", run->parameters}};
  for (size_t i = 0; i < sizeof item / sizeof *item; i++) {
    if (!item[i].value[0]) continue;
    TL_TRY(list_item(r, tl_format("run_%lld_%s", (long long)run->step + 1, item[i].name),
                     tl_strdup(item[i].value)));
  }
  return TL_OK;
}

static TlStatus show_shape(TlReport *r, const TlGrainRow *g) {
  double um = 1e6;
  TL_TRY(tl_report_int(r, "grain", g->id, ""));
  TL_TRY(tl_report_int(r, "label", g->label, ""));
  TL_TRY(tl_report_text(r, "cut_by_the_border", g->border ? "yes" : "no"));
  TL_TRY(tl_report_real(r, "diameter", um * tl_grain_diameter_m(g), "um"));
  TL_TRY(tl_report_real(r, "volume", um * um * um * g->volume_m3, "um3"));
  TL_TRY(tl_report_real(r, "area", um * um * g->area_m2, "um2"));
  TL_TRY(tl_report_real(r, "sphericity", tl_grain_sphericity(g), ""));
  TL_TRY(tl_report_real(r, "axis_a", um * g->axes_m[0], "um"));
  TL_TRY(tl_report_real(r, "axis_b", um * g->axes_m[1], "um"));
  TL_TRY(tl_report_real(r, "axis_c", um * g->axes_m[2], "um"));
  TL_TRY(tl_report_real(r, "inertia_1", g->inertia_m5.x, "m5"));
  TL_TRY(tl_report_real(r, "inertia_2", g->inertia_m5.y, "m5"));
  TL_TRY(tl_report_real(r, "inertia_3", g->inertia_m5.z, "m5"));
  TL_TRY(tl_report_real(r, "scan_x", um * g->scan_centroid_m.x, "um"));
  TL_TRY(tl_report_real(r, "scan_y", um * g->scan_centroid_m.y, "um"));
  TL_TRY(tl_report_real(r, "scan_z", um * g->scan_centroid_m.z, "um"));
  TL_TRY(tl_report_int(r, "nodes", g->node_count, ""));
  return tl_report_real(r, "grid_spacing", um * g->spacing_m, "um");
}

static TlStatus show_residual(TlReport *r, const char *name, double value, const char *unit) {
  return isnan(value) ? TL_OK : tl_report_real(r, name, value, unit);
}

static TlStatus show_check(TlReport *r, TlCatalog *catalog, int64_t id) {
  TlQuality q;
  TlDescriptors d;
  bool there;
  TL_TRY(tl_catalog_get_check(catalog, id, &q, &d, &there));
  if (!there) return TL_OK;
  TL_TRY(tl_report_text(r, "verdict", tl_verdict_name(q.verdict)));
  if (q.reason[0]) TL_TRY(tl_report_text(r, "reason", q.reason));
  TL_TRY(show_residual(r, "slope_of_phi_off_by", 100 * q.gradient, "percent"));
  TL_TRY(show_residual(r, "node_off_the_surface", q.node, "cells"));
  TL_TRY(show_residual(r, "two_volumes_differ_by", 100 * q.volume, "percent"));
  TL_TRY(show_residual(r, "deepest_overlap", q.overlap_depth, "cells"));
  TL_TRY(show_residual(r, "volume_in_common", 100 * q.overlap_share, "percent"));
  TL_TRY(show_residual(r, "agreement_with_label", 100 * q.agreement, "percent"));
  TL_TRY(show_residual(r, "widest_contact_over_cross_section", q.contact, ""));
  TL_TRY(tl_report_real(r, "elongation_b_a", d.elongation, ""));
  TL_TRY(tl_report_real(r, "flatness_c_b", d.flatness, ""));
  TL_TRY(tl_report_real(r, "krumbein_sphericity", d.krumbein, ""));
  TL_TRY(tl_report_real(r, "convexity", d.convexity, ""));
  TL_TRY(tl_report_real(r, "roundness", d.roundness, ""));
  return tl_report_real(r, "inscribed_over_diameter", d.inscribed, "");
}

typedef struct ShownTerrain {
  TlReport *report;
  const char *name;
  bool found;
} ShownTerrain;

/* "WGS 84 / UTM zone 32N (EPSG:32632)"; the code is the last element of the WKT, if it has one. */
static char *crs_with_code(const char *wkt) {
  char authority[16], code[16];
  const char *id = NULL;
  int end = 0;
  for (const char *at = wkt; (at = strstr(at, "ID[")); at++) id = at;
  char *name = tl_crs_name(wkt);
  if (!name || !id || sscanf(id, "ID[\"%15[^\"]\",%15[0-9]]]%n", authority, code, &end) != 2 ||
      end == 0 || id[end])
    return name;
  char *both = tl_format("%s (%s:%s)", name, authority, code);
  tl_free(name);
  return both;
}

static TlStatus show_terrain(void *context, const TlTerrainRow *t) {
  ShownTerrain *s = context;
  TlReport *r = s->report;
  if (strcmp(t->name, s->name) != 0) return TL_OK;
  s->found = true;
  TL_TRY(tl_report_text(r, "terrain", t->name));
  TL_TRY(list_item(r, tl_strdup("crs"), crs_with_code(t->crs)));
  TL_TRY(tl_report_int(r, "columns", t->nx, ""));
  TL_TRY(tl_report_int(r, "rows", t->ny, ""));
  TL_TRY(tl_report_real(r, "cell", t->cell_m, "m"));
  /* in whole digits: a coordinate has more than a real of a report shows */
  TL_TRY(list_item(r, tl_strdup("origin"),
                   tl_format("east %.10g, north %.10g, height %.10g m", t->origin[0], t->origin[1],
                             t->origin[2])));
  TL_TRY(list_item(r, tl_strdup("extent_of_samples"), extent_of(t, false)));
  TL_TRY(list_item(r, tl_strdup("local_extent"), extent_of(t, true)));
  TL_TRY(tl_report_int(r, "holes_filled", t->holes_filled, ""));
  TL_TRY(tl_report_real(r, "band_half_width", t->band_m, "m"));
  TL_TRY(tl_report_real(r, "band_spacing", t->band_spacing_m, "m"));
  return t->crs[0] ? list_item(r, tl_strdup("crs_wkt"), tl_strdup(t->crs)) : TL_OK;
}

/* The names of a catalog's terrains, "a, b, c". */
typedef struct TerrainNames {
  TlGrowingText text;
  int64_t count;
} TerrainNames;

static TlStatus take_name(void *context, const TlTerrainRow *t) {
  TerrainNames *names = context;
  names->count++;
  return tl_text_add(&names->text, ", ", t->name);
}

static TlStatus show_only_terrain(const TlStageCall *call, TlCatalog *catalog) {
  TerrainNames names = {0};
  TlStatus status = tl_catalog_walk_terrains(catalog, take_name, &names);
  ShownTerrain s = {.report = call->report, .name = names.text.text};
  if (status == TL_OK && names.count == 1)
    status = tl_catalog_walk_terrains(catalog, show_terrain, &s);
  else if (status == TL_OK && names.count > 1)
    status = tl_fail(TL_EUSAGE, "%s has %lld terrains: name one by --terrain=NAME, of %s",
                     call->input[0], (long long)names.count, names.text.text);
  else if (status == TL_OK)
    status = tl_fail(TL_EUSAGE,
                     "--grain=N or --terrain=NAME wanted, and %s has no terrain; talus-catalog "
                     "export --format=csv lists the grains",
                     call->input[0]);
  tl_free(names.text.text);
  return status;
}

static TlStatus do_show(const TlStageCall *call, const void *values, TlCatalog *catalog) {
  const TlShowStage *options = values;
  TlGrainRow row;
  bool terrain = options->terrain && options->terrain[0];
  if (terrain && options->grain > 0)
    return tl_fail(TL_EUSAGE, "--grain and --terrain exclude each other");
  if (terrain) {
    ShownTerrain s = {.report = call->report, .name = options->terrain};
    TL_TRY(tl_catalog_walk_terrains(catalog, show_terrain, &s));
    if (s.found) return TL_OK;
    return tl_fail(TL_EINPUT, "%s: there is no terrain '%s'; talus-catalog list shows which are",
                   call->input[0], s.name);
  }
  if (options->grain < 1) return show_only_terrain(call, catalog);
  TL_TRY(tl_catalog_grain(catalog, options->grain, &row));
  TL_TRY(show_shape(call->report, &row));
  TL_TRY(show_check(call->report, catalog, options->grain));
  return tl_catalog_walk_provenance(catalog, options->grain, show_run, call->report);
}

TlStatus tl_stage_catalog_show(const TlStageCall *call, const TlShowStage *options) {
  return with_catalog(call, TL_CATALOG_READ, do_show, options);
}

/* ---- verify ---- */

static TlStatus do_verify(const TlStageCall *call, const void *none, TlCatalog *catalog) {
  int64_t grains, terrains;
  (void)none;
  TL_TRY(tl_catalog_verify(catalog, &grains, &terrains));
  TL_TRY(tl_report_int(call->report, "grains_checked", grains, ""));
  TL_TRY(tl_report_int(call->report, "terrains_checked", terrains, ""));
  return tl_report_text(call->report, "verdict", "whole");
}

TlStatus tl_stage_catalog_verify(const TlStageCall *call) {
  return with_catalog(call, TL_CATALOG_READ, do_verify, NULL);
}

/* ---- which grains: shared by grading and export ---- */

#define WHICH_PARAMS(type)                                                                         \
  {"sample", TL_P_TEXT, offsetof(type, which.sample),     "",    "", 0,                            \
   0,        NULL,      "only the grains of this sample", "NAME"},                                 \
  {                                                                                                \
    "with-border", TL_P_FLAG, offsetof(type, which.with_border), "", "false", 0, 0, NULL,          \
        "also grains cut by the scan's border", NULL                                               \
  }

static TlGrainQuery query_of(const TlWhichGrains *which) {
  return (TlGrainQuery){.sample = which->sample && which->sample[0] ? which->sample : NULL,
                        .with_border = which->with_border};
}

/* ---- grading ---- */

static const TlParam grading_params[] = {
    WHICH_PARAMS(TlGradingStage),
    {"plot", TL_P_TEXT, offsetof(TlGradingStage, plot), "", "", 0, 0, NULL,
     "draw the curves into this PNG (needs gnuplot)", "FILE", TL_ROLE_REPLACES},
};

const TlParamTable tl_catalog_grading_table = TL_PARAM_TABLE(grading_params, TlGradingStage);

typedef struct Curves {
  TlGrading volume, sieve; /* by equal-volume diameter, by intermediate axis */
} Curves;

static TlStatus make_curves(const TlGrainRow *row, int64_t count, Curves *curves) {
  double *size = NULL, *volume = NULL;
  *curves = (Curves){0};
  TlStatus status = TL_NEW(size, (size_t)count);
  if (status == TL_OK) status = TL_NEW(volume, (size_t)count);
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    size[i] = tl_grain_diameter_m(&row[i]);
    volume[i] = row[i].volume_m3;
  }
  if (status == TL_OK) status = tl_grading_make(size, volume, count, &curves->volume);
  for (int64_t i = 0; status == TL_OK && i < count; i++) size[i] = row[i].axes_m[1];
  if (status == TL_OK) status = tl_grading_make(size, volume, count, &curves->sieve);
  tl_free(size);
  tl_free(volume);
  return status;
}

static TlStatus write_curves(const Curves *c, const char *path, bool overwrite) {
  TlCsv csv;
  TL_TRY(tl_csv_begin(&csv, path, overwrite,
                      "diameter_mm,finer_percent,intermediate_axis_mm,"
                      "intermediate_axis_finer_percent"));
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < c->volume.count && status == TL_OK; i++)
    status = tl_csv_row(&csv,
                        (double[]){1e3 * c->volume.size_m[i], 100 * c->volume.finer[i],
                                   1e3 * c->sieve.size_m[i], 100 * c->sieve.finer[i]},
                        4);
  if (status == TL_OK) return tl_csv_commit(&csv);
  tl_csv_abort(&csv);
  return status;
}

static void put_curve(TlPlot *plot, const TlGrading *g) {
  tl_plot(plot, "%.9g 0\n", 1e3 * g->size_m[0]);
  for (int64_t i = 0; i < g->count; i++)
    tl_plot(plot, "%.9g %.9g\n", 1e3 * g->size_m[i], 100 * g->finer[i]);
}

static void put_curves(TlPlot *plot, const void *context) {
  const Curves *c = context;
  tl_plot_page(plot, 900, 600, 12);
  tl_plot(plot, "$volume << EOD\n");
  put_curve(plot, &c->volume);
  tl_plot(plot, "EOD\n$sieve << EOD\n");
  put_curve(plot, &c->sieve);
  tl_plot(plot,
          "EOD\nset logscale x\nset grid xtics mxtics ytics\nset yrange [0:100]\n"
          "set xlabel 'grain size (mm)'\nset ylabel 'finer by volume (%%)'\n"
          "set title 'Grading of %lld grains'\nset key left top\n"
          "plot $volume with linespoints pt 7 ps 0.5 title 'equal-volume diameter', "
          "$sieve with linespoints pt 7 ps 0.5 title 'intermediate axis (sieve)'\n",
          (long long)c->volume.count);
}

static TlStatus report_grading(TlReport *r, const TlGrading *g, const char *prefix) {
  static const struct {
    const char *name;
    double fraction;
  } point[] = {{"d10", 0.1}, {"d30", 0.3}, {"d50", 0.5}, {"d60", 0.6}, {"d90", 0.9}};
  double size[5];
  char name[40];
  for (int i = 0; i < 5; i++) {
    size[i] = tl_grading_size(g, point[i].fraction);
    snprintf(name, sizeof name, "%s%s", prefix, point[i].name);
    TL_TRY(tl_report_real(r, name, 1e3 * size[i], "mm"));
  }
  snprintf(name, sizeof name, "%suniformity_cu", prefix);
  TL_TRY(tl_report_real(r, name, size[3] / size[0], ""));
  snprintf(name, sizeof name, "%scurvature_cc", prefix);
  return tl_report_real(r, name, size[1] * size[1] / (size[0] * size[3]), "");
}

static TlStatus put_grading(const TlStageCall *call, const TlGradingStage *options,
                            const Curves *curves) {
  if (call->output) TL_TRY(write_curves(curves, call->output, call->overwrite));
  if (options->plot && options->plot[0])
    TL_TRY(tl_gnuplot(put_curves, curves, "the grading", options->plot, call->overwrite));
  TL_TRY(tl_report_int(call->report, "grains", curves->volume.count, ""));
  TL_TRY(report_grading(call->report, &curves->volume, ""));
  return report_grading(call->report, &curves->sieve, "sieve_");
}

static TlStatus do_grading(const TlStageCall *call, const void *values, TlCatalog *catalog) {
  const TlGradingStage *options = values;
  TlGrainQuery query = query_of(&options->which);
  TlGrainRow *row;
  int64_t count;
  Curves curves;
  TL_TRY(tl_export_ids(catalog, &query, &row, &count));
  TlStatus status = make_curves(row, count, &curves);
  if (status == TL_OK) status = put_grading(call, options, &curves);
  tl_grading_free(&curves.volume);
  tl_grading_free(&curves.sieve);
  tl_free(row);
  return status;
}

TlStatus tl_stage_catalog_grading(const TlStageCall *call, const TlGradingStage *options) {
  return with_catalog(call, TL_CATALOG_READ, do_grading, options);
}

/* ---- export ---- */

enum { UNIT_M, UNIT_MM, UNIT_UM };
static const char *const unit_name[] = {"m", "mm", "um"};
static const double unit_per_metre[] = {1, 1e3, 1e6};

static const TlParam export_params[] = {
    {"format", TL_P_CHOICE, offsetof(TlExportStage, format), "", "csv", 0, 0,
     "csv|stl|vtp|vti|morphology|ply|lammps|yade",
     "csv: table of measures; stl, ply, vtp: surface; vti: level set; morphology: text for LS-DEM "
     "codes; lammps: level-set grid; yade: NumPy arrays with a loader (a folder)",
     NULL},
    {"grain", TL_P_INT, offsetof(TlExportStage, grain), "", "0", 0, 9e15, NULL,
     "only this grain, to the file given by -o; 0: all, into the folder given by -o", "N"},
    WHICH_PARAMS(TlExportStage),
    {"unit", TL_P_CHOICE, offsetof(TlExportStage, unit), "", "mm", 0, 0, "m|mm|um",
     "length unit of STL, PLY and LAMMPS files (they hold none; VTK files and NumPy arrays are in "
     "metres)",
     NULL},
    {"scan-frame", TL_P_FLAG, offsetof(TlExportStage, scan_frame), "", "false", 0, 0, NULL,
     "stl, vtp: where the grain lay in the scan, not in its body frame", NULL},
    {"cells", TL_P_INT, offsetof(TlExportStage, cells), "", "0", 0, 512, NULL,
     "stl, vtp: cells along the longest axis for a coarser surface; 0: as fine as the grid", NULL},
};

const TlParamTable tl_catalog_export_table = TL_PARAM_TABLE(export_params, TlExportStage);

static TlStatus do_export(const TlStageCall *call, const void *values, TlCatalog *catalog) {
  const TlExportStage *o = values;
  const TlGrainExport how = {.format = (TlGrainFormat)o->format,
                             .per_metre = unit_per_metre[o->unit],
                             .unit = unit_name[o->unit],
                             .scan_frame = o->scan_frame,
                             .cells = (int32_t)o->cells,
                             .overwrite = call->overwrite};
  TlGrainQuery query = query_of(&o->which);
  int64_t count = 1;
  if (o->grain && how.format == TL_GRAIN_CSV)
    return tl_fail(TL_EUSAGE, "--format=csv is a table of all grains; for one: talus-catalog show");
  if (o->grain && how.format == TL_GRAIN_YADE)
    return tl_fail(TL_EUSAGE,
                   "--format=yade is a folder of arrays with a loader; leave --grain out");
  TlStatus status = how.format == TL_GRAIN_CSV
                        ? tl_export_table(catalog, &query, call->output, call->overwrite, &count)
                    : o->grain ? tl_export_one(catalog, o->grain, &how, call->output)
                               : tl_export_many(catalog, &query, &how, call->output, &count);
  TL_TRY(status);
  TL_TRY(tl_report_int(call->report, "grains", count, ""));
  return tl_report_text(call->report, "output", call->output);
}

TlStatus tl_stage_catalog_export(const TlStageCall *call, const TlExportStage *options) {
  return with_catalog(call, TL_CATALOG_READ, do_export, options);
}

/* ---- import ---- */

static const TlParam import_params[] = {
    {"sample", TL_P_TEXT, offsetof(TlImportStage, sample), "", "", 0, 0, NULL,
     "name of the new sample (wanted)", "NAME"},
    {"format", TL_P_CHOICE, offsetof(TlImportStage, format), "", "morphology", 0, 0,
     "morphology|lammps", "eight lines of LS-DEM text, or LAMMPS' level-set grid", NULL},
    {"spacing-um", TL_P_REAL, offsetof(TlImportStage, spacing_um), "um", "0", 0, 1e9, NULL,
     "morphology: what one unit of length of the files is: their grid spacing (wanted)", NULL},
    {"poses", TL_P_FLAG, offsetof(TlImportStage, poses), "", "true", 0, 0, NULL,
     "morphology: take positions.txt, rotations.txt and labels.txt that stand beside the first "
     "file; --no-poses leaves them",
     NULL},
    {"unit", TL_P_CHOICE, offsetof(TlImportStage, unit), "", "mm", 0, 0, "m|mm|um",
     "lammps: length unit of the files", NULL},
    {"nodes", TL_P_INT, offsetof(TlImportStage, nodes), "", "0", 0, 1000000, NULL,
     "lammps: nodes on each grain; 0: spaced a tenth of its diameter", NULL},
    {"density", TL_P_REAL, offsetof(TlImportStage, density), "mass per cubic unit", "1", 1e-12,
     1e12, NULL, "density that the files' mass and moments were made with", NULL},
    {"replace", TL_P_FLAG, offsetof(TlImportStage, replace), "", "false", 0, 0, NULL,
     "replace a sample of this name", NULL},
};

const TlParamTable tl_catalog_import_table = TL_PARAM_TABLE(import_params, TlImportStage);

static TlStatus read_grain(const TlImportStage *o, const char *path, TlAvatar *avatar) {
  if (o->format == 1)
    return tl_lammps_read(path, unit_per_metre[o->unit], (int32_t)o->nodes, avatar);
  return tl_morphology_read(path, 1e-6 * o->spacing_um, o->density, avatar);
}

static void set_beside(const TlMorphologyBeside *b, int64_t i, TlAvatar *a) {
  a->label = (uint32_t)i + 1;
  if (b->label) a->label = b->label[i];
  if (b->border) a->border = b->border[i];
  if (b->position_m) a->scan_centroid_m = b->position_m[i];
  if (b->rotation) a->scan_rotation = b->rotation[i];
}

static TlStatus import_file(TlCatalog *catalog, const TlImportStage *o, int64_t sample,
                            const char *path, const TlMorphologyBeside *beside, int64_t i) {
  TlAvatar avatar;
  int64_t id;
  TL_TRY(read_grain(o, path, &avatar));
  set_beside(beside, i, &avatar);
  TlStatus status = tl_catalog_add_avatar(catalog, sample, &avatar, &id);
  tl_avatar_free(&avatar);
  return tl_context(status, "%s", path);
}

static TlStatus read_beside(const TlStageCall *call, const TlImportStage *o,
                            TlMorphologyBeside *beside) {
  *beside = (TlMorphologyBeside){0};
  if (!o->poses || o->format == 1) return TL_OK;
  char *folder = tl_strdup(call->input[1]);
  if (!folder) return TL_ENOMEM;
  char *slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  TlStatus status =
      tl_morphology_beside(slash ? folder : ".", call->inputs - 1, 1e-6 * o->spacing_um, beside);
  tl_free(folder);
  return status;
}

static TlStatus do_import(const TlStageCall *call, const void *values, TlCatalog *catalog) {
  const TlImportStage *o = values;
  int64_t sample;
  double spacing_m = 1e-6 * o->spacing_um;
  TlMorphologyBeside beside;
  TL_TRY(tl_catalog_begin(catalog, call->provenance, NULL));
  TL_TRY(tl_catalog_sample(catalog, o->sample, o->replace,
                           (double[]){spacing_m, spacing_m, spacing_m}, &sample));
  TL_TRY(read_beside(call, o, &beside));
  TlProgress progress = tl_progress_start("import", call->inputs - 1);
  TlStatus status = TL_OK;
  for (int64_t i = 1; i < call->inputs && status == TL_OK; i++) {
    status = import_file(catalog, o, sample, call->input[i], &beside, i - 1);
    tl_progress(&progress, i);
  }
  tl_progress_end(&progress);
  tl_morphology_beside_free(&beside);
  TL_TRY(status);
  TL_TRY(tl_catalog_commit(catalog));
  return tl_report_int(call->report, "grains", call->inputs - 1, "");
}

TlStatus tl_stage_catalog_import(const TlStageCall *call, const TlImportStage *o) {
  if (!o->sample || !o->sample[0])
    return tl_fail(TL_EUSAGE, "--sample=NAME wanted: what to call these grains");
  if (o->format == 0 && !(o->spacing_um > 0))
    return tl_fail(TL_EUSAGE,
                   "--spacing-um=X wanted: the grid spacing, which the format leaves out");
  TL_TRY(tl_claim_write(call->input[0], "CATALOG"));
  for (int64_t i = 1; i < call->inputs; i++)
    TL_TRY(tl_provenance_input(call->provenance, call->input[i]));
  return with_catalog(call, TL_CATALOG_CREATE, do_import, o);
}

/* ---- remove-sample ---- */

static TlStatus do_remove(const TlStageCall *call, const void *none, TlCatalog *catalog) {
  int64_t grains;
  (void)none;
  TL_TRY(tl_catalog_begin(catalog, call->provenance, NULL));
  TL_TRY(tl_catalog_remove_sample(catalog, call->input[1], &grains));
  TL_TRY(tl_catalog_commit(catalog));
  return tl_report_int(call->report, "grains_removed", grains, "");
}

TlStatus tl_stage_catalog_remove(const TlStageCall *call) {
  return with_catalog(call, TL_CATALOG_WRITE, do_remove, NULL);
}
