/* talus-avatars: each label of a stack becomes a level-set avatar in the catalog. */
#include "avatars_solid.h"
#include "imaging.h"

#include "base/mem.h"
#include "base/par.h"
#include "image/label.h"
#include "shape/build.h"
#include "shape/descriptors.h"
#include "shape/drlse.h"
#include "shape/quality.h"
#include "store/catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 }; /* grains in memory at a time */

typedef struct Values {
  ImagingInput input;
  char *grey, *raw, *catalog, *sample, *nu, *surface_sigma;
  double node_spacing;
  int method;
  int64_t nodes, min_voxels, edge_steps, region_steps, curvature_steps;
  double mu, lambda, dt, epsilon, raw_weight, blur;
  bool with_border, overwrite;
  SolidValues solid;
} Values;

#define AT(member) offsetof(Values, member)
static const TlParam params[] = {
    {"catalog", TL_P_TEXT, AT(catalog), "", "", 0, 0, NULL,
     "catalog to write to; made when it is not there", "FILE"},
    {"sample", TL_P_TEXT, AT(sample), "", "", 0, 0, NULL,
     "name of this set of grains in the catalog", "NAME"},
    {"grey", TL_P_TEXT, AT(grey), "", "", 0, 0, NULL,
     "grey stack the labels were made from, best denoised; needed but for --method=distance",
     "STACK"},
    {"raw", TL_P_TEXT, AT(raw), "", "", 0, 0, NULL,
     "the same stack before denoising; mixed with --grey it takes half of what denoising moved the "
     "surfaces off again",
     "STACK"},
    {"raw-weight", TL_P_REAL, AT(raw_weight), "", "0.6", 0, 1, NULL, "share of --raw in the mix",
     NULL},
    {"overwrite", TL_P_FLAG, AT(overwrite), "", "false", 0, 0, NULL,
     "replace the sample when the catalog has one of this name", NULL},
    IMAGING_INPUT_PARAMS(Values),
    {"", TL_P_HEADING, 0, "", "", 0, 0, NULL, "Which grains", NULL},
    {"min-voxels", TL_P_INT, AT(min_voxels), "", "100", 1, 1e12, NULL,
     "leave out labels with fewer voxels", NULL},
    {"with-border", TL_P_FLAG, AT(with_border), "", "true", 0, 0, NULL,
     "also store grains cut by the border of stack or region, flagged; --no-with-border leaves "
     "them out",
     NULL},
    {"", TL_P_HEADING, 0, "", "", 0, 0, NULL, "Surface", NULL},
    {"method", TL_P_CHOICE, AT(method), "", "two-stage", 0, 0, "two-stage|edge|distance",
     "DRLSE with edge term then region term at the local half level; edge term only (Tan 2022 "
     "2.5); or the label's smoothed distance, no grey level",
     NULL},
    {"mu", TL_P_REAL, AT(mu), "", "0.1", 0, 10, NULL,
     "weight of the distance regulariser; dt mu must stay below 1/6", NULL},
    {"lambda", TL_P_REAL, AT(lambda), "", "0.5", 0, 100, NULL, "weight of the edge term", NULL},
    {"nu", TL_P_TEXT, AT(nu), "", "auto", 0, 0, NULL,
     "weight of the area term, > 0 shrinks; auto: -2 lambda/R, which balances curvature", "X"},
    {"dt", TL_P_REAL, AT(dt), "", "1", 0, 100, NULL, "step of the evolution", NULL},
    {"epsilon", TL_P_REAL, AT(epsilon), "voxels", "1.5", 0.5, 3, NULL,
     "half width of the smoothed delta", NULL},
    {"edge-steps", TL_P_INT, AT(edge_steps), "", "60", 0, 100000, NULL, "steps with the edge term",
     NULL},
    {"region-steps", TL_P_INT, AT(region_steps), "", "40", 0, 100000, NULL,
     "steps with the region term (two-stage)", NULL},
    {"blur-voxels", TL_P_REAL, AT(blur), "voxels", "0.8", 0.1, 2, NULL,
     "Gaussian blur of the scan's edges, the voxel's own width included", NULL},
    {"surface-sigma", TL_P_TEXT, AT(surface_sigma), "voxels", "auto", 0, 0, NULL,
     "low pass of the surface against noise (two-stage); auto: by the noise, 1.5 at most", "X"},
    {"curvature-steps", TL_P_INT, AT(curvature_steps), "", "0", 0, 10000, NULL,
     "clean-up by curvature flow, steps of 0.1 voxel^2; the volume is restored", NULL},
    {"", TL_P_HEADING, 0, "", "", 0, 0, NULL, "Surface nodes", NULL},
    {"nodes", TL_P_INT, AT(nodes), "", "0", 0, 1000000, NULL, "nodes on each grain; 0: by spacing",
     NULL},
    {"node-spacing-voxels", TL_P_REAL, AT(node_spacing), "voxels", "0", 0, 1000, NULL,
     "mean distance of neighbouring nodes; 0: a tenth of the grain's diameter (about 360 "
     "nodes), but no less than a voxel",
     NULL},
    SOLID_PARAMS(Values),
};

/* ---- one grain ---- */

typedef struct Grain {
  uint32_t label;
  bool border, good;
  TlAvatar avatar;
  TlDrlseReport drlse;
  TlQuality quality;
  TlDescriptors descriptors;
  char message[240];
} Grain;

typedef struct Work {
  const TlVolume *grey, *labels;
  const TlRoi *roi;
  const TlLabelBox *boxes;
  TlGreyLevels levels;
  TlDrlseOptions drlse;
  TlBuildOptions build;
  Grain *grains; /* of this batch */
} Work;

static TlStatus make_avatar(const Work *w, Grain *g) {
  TlPhiGrid grid;
  int64_t corner[3];
  TL_TRY(tl_drlse_grain(w->grey, w->labels, g->label, w->boxes, &w->levels, &w->drlse, &grid,
                        corner, &g->drlse));
  TlStatus status = tl_avatar_build_from_phi(&grid, corner, tl_grain_cell_m(w->labels), g->label,
                                             g->border, &w->build, &g->avatar);
  tl_free(grid.phi);
  if (status == TL_OK) status = tl_avatar_check(&g->avatar);
  if (status == TL_OK) status = tl_descriptors(&g->avatar, &g->descriptors);
  if (status == TL_OK) tl_quality_measure(&g->avatar, g->drlse.agreement, &g->quality);
  if (status != TL_OK) tl_avatar_free(&g->avatar);
  return status;
}

/* A grain that cannot be made is no reason to stop; memory and wrong options are. */
static TlStatus one_grain(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  Work *w = context;
  (void)end, (void)block, (void)thread;
  Grain *g = &w->grains[begin];
  TlStatus status = make_avatar(w, g);
  g->good = status == TL_OK;
  if (g->good) return TL_OK;
  snprintf(g->message, sizeof g->message, "%s", tl_message());
  return status == TL_EINPUT || status == TL_ELIMIT ? TL_OK : status;
}

/* ---- all grains ---- */

typedef struct Totals {
  int64_t grains, border, too_small, left_out, rejected, dropped, filled, global_level;
  double *diameter_um, *moved, *nodes, *curvature;
  TlJudged judged;
} Totals;

static TlStatus store_batch(TlCatalog *catalog, int64_t sample, Grain *grains, int64_t count,
                            Totals *t) {
  for (int64_t i = 0; i < count; i++) {
    Grain *g = &grains[i];
    if (!g->good) {
      t->rejected++;
      tl_log_warn("grain %u is left out: %s", g->label, g->message);
      continue;
    }
    int64_t id;
    TL_TRY(
        tl_context(tl_catalog_add_avatar(catalog, sample, &g->avatar, &id), "grain %u", g->label));
    TL_TRY(tl_catalog_put_check(catalog, id, &g->quality, &g->descriptors));
    t->diameter_um[t->grains] = tl_avatar_diameter_m(&g->avatar) * 1e6;
    t->moved[t->grains] = fabs(g->drlse.moved);
    t->curvature[t->grains] = g->drlse.curvature_volume;
    t->nodes[t->grains++] = g->avatar.node_count;
    t->border += g->border;
    t->dropped += g->drlse.dropped;
    t->filled += g->drlse.filled;
    t->global_level += !g->drlse.own_level;
  }
  return TL_OK;
}

/* Labels to do, in order; the others are counted. */
static TlStatus choose(const Values *v, const Work *w, const uint8_t *cut, uint32_t most, Totals *t,
                       Grain **grains, int64_t *count) {
  *count = 0;
  TL_TRY(TL_NEW(*grains, (size_t)most + 1));
  for (uint32_t label = 1; label <= most; label++) {
    const TlLabelBox *box = &w->boxes[label];
    if (box->voxels == 0) continue;
    bool border = cut[label];
    if (box->voxels < v->min_voxels)
      t->too_small++;
    else if (border && !v->with_border)
      t->left_out++;
    else
      (*grains)[(*count)++] = (Grain){.label = label, .border = border};
  }
  return TL_OK;
}

static TlStatus make_all(Work *w, Grain *grains, int64_t count, TlCatalog *catalog, int64_t sample,
                         Totals *t) {
  TlProgress progress = tl_progress_start("avatars", count);
  TlStatus status = TL_OK;
  for (int64_t begin = 0; status == TL_OK && begin < count; begin += BATCH) {
    int64_t n = begin + BATCH < count ? BATCH : count - begin;
    w->grains = grains + begin;
    status = tl_par_blocks(n, 1, one_grain, w);
    if (status == TL_OK) status = store_batch(catalog, sample, w->grains, n, t);
    for (int64_t i = 0; i < n; i++) tl_avatar_free(&w->grains[i].avatar);
    tl_progress(&progress, begin + n);
  }
  tl_progress_end(&progress);
  return status;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int64_t n) {
  qsort(values, (size_t)n, sizeof *values, by_value);
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static TlStatus report_verdicts(TlReport *r, const TlJudged *j) {
  TL_TRY(tl_report_int(r, "verdict_good", j->count[TL_GOOD], ""));
  TL_TRY(tl_report_int(r, "verdict_doubtful", j->count[TL_DOUBTFUL], ""));
  TL_TRY(tl_report_int(r, "verdict_rejected", j->count[TL_REJECTED], ""));
  TL_TRY(tl_report_real(r, "deepest_overlap", j->deepest_cells, "voxels"));
  return tl_report_real(r, "volume_in_two_grains", 100 * j->common_m3 / j->volume_m3, "percent");
}

static TlStatus report(const TlCall *call, const Work *w, Totals *t) {
  const Values *v = call->values;
  TlReport r = {0};
  int64_t n = t->grains;
  TlStatus s = tl_report_text(&r, "sample", v->sample);
  if (s == TL_OK) s = imaging_report_input(&r, w->labels, w->roi);
  if (s == TL_OK) s = tl_report_int(&r, "grains", n, "");
  if (s == TL_OK) s = tl_report_int(&r, "grains_cut_by_border", t->border, "");
  if (s == TL_OK) s = tl_report_int(&r, "rejected", t->rejected, "");
  if (s == TL_OK) s = tl_report_int(&r, "too_small", t->too_small, "");
  if (s == TL_OK) s = tl_report_int(&r, "border_left_out", t->left_out, "");
  if (s == TL_OK && w->grey) {
    s = tl_report_real(&r, "void_level", w->levels.void_level, "");
    if (s == TL_OK) s = tl_report_real(&r, "grain_level", w->levels.grain_level, "");
    if (s == TL_OK) s = tl_report_int(&r, "grains_on_global_level", t->global_level, "");
  }
  if (s == TL_OK) s = tl_report_real(&r, "median_diameter", median(t->diameter_um, n), "um");
  if (s == TL_OK)
    s = tl_report_real(&r, "median_volume_change", 100 * median(t->moved, n), "percent");
  if (s == TL_OK && v->curvature_steps > 0)
    s = tl_report_real(&r, "median_curvature_loss_restored", 100 * median(t->curvature, n),
                       "percent");
  if (s == TL_OK) s = tl_report_real(&r, "median_nodes", median(t->nodes, n), "");
  if (s == TL_OK) s = report_verdicts(&r, &t->judged);
  if (s == TL_OK) s = tl_report_int(&r, "loose_pieces_dropped", t->dropped, "");
  if (s == TL_OK) s = tl_report_int(&r, "closed_pores_filled", t->filled, "");
  if (s == TL_OK) s = tl_report_print(&r, call->json);
  tl_report_free(&r);
  return s;
}

static TlStatus write_catalog(const TlCall *call, Work *w, Grain *grains, int64_t count,
                              Totals *t) {
  const Values *v = call->values;
  TlCatalog *catalog = NULL;
  int64_t sample;
  bool fresh = !tl_file_exists(v->catalog);
  char *history; /* grains come from two stacks: the runs behind both */
  TL_TRY(tl_provenance_join(w->grey ? w->grey->history : NULL, w->labels->history, &history));
  TlStatus s = tl_catalog_open(&catalog, v->catalog, TL_CATALOG_CREATE);
  if (s == TL_OK) s = tl_catalog_begin(catalog, call->provenance, history);
  tl_free(history);
  if (s == TL_OK)
    s = tl_catalog_sample(catalog, v->sample, v->overwrite, w->labels->voxel_m, &sample);
  if (s == TL_OK) s = make_all(w, grains, count, catalog, sample, t);
  if (s == TL_OK && t->grains == 0)
    s = tl_fail(TL_EINPUT, "%s: none of %lld grains could be made (the reasons stand above)",
                call->argv[0], (long long)count);
  if (s == TL_OK) s = tl_catalog_judge(catalog, v->sample, &t->judged);
  if (s == TL_OK) s = tl_catalog_commit(catalog);
  tl_catalog_close(catalog);
  if (s != TL_OK && fresh) remove(v->catalog); /* an empty catalog is no product */
  return s;
}

static TlStatus prepare(const TlCall *call, Work *w, Totals *t, Grain **grains, int64_t *count,
                        TlLabelBox **boxes) {
  uint32_t most;
  TL_TRY(tl_label_boxes(w->labels, boxes, &most));
  w->boxes = *boxes;
  if (w->grey)
    TL_TRY(tl_context(tl_grey_levels(w->grey, w->labels, &w->levels), "%s", call->argv[0]));
  uint8_t *cut;
  TL_TRY(tl_label_border(w->labels, w->roi, &cut, most));
  TlStatus status = choose(call->values, w, cut, most, t, grains, count);
  tl_free(cut);
  TL_TRY(status);
  if (*count == 0)
    return tl_fail(TL_EINPUT, "%s: no label has %lld voxels or more (see --min-voxels)",
                   call->argv[0], (long long)((const Values *)call->values)->min_voxels);
  TL_TRY(TL_NEW(t->diameter_um, (size_t)*count));
  TL_TRY(TL_NEW(t->moved, (size_t)*count));
  TL_TRY(TL_NEW(t->curvature, (size_t)*count));
  return TL_NEW(t->nodes, (size_t)*count);
}

static TlStatus work(const TlCall *call, Work *w) {
  Totals t = {0};
  Grain *grains = NULL;
  TlLabelBox *boxes = NULL;
  int64_t count = 0;
  TlStatus status = prepare(call, w, &t, &grains, &count, &boxes);
  if (status == TL_OK && call->dry_run)
    tl_log_info("%lld grains would be made (%lld too small, %lld at the border left out), sample "
                "'%s' of %s",
                (long long)count, (long long)t.too_small, (long long)t.left_out,
                ((const Values *)call->values)->sample, ((const Values *)call->values)->catalog);
  if (status == TL_OK && !call->dry_run) status = write_catalog(call, w, grains, count, &t);
  if (status == TL_OK && !call->dry_run) status = report(call, w, &t);
  tl_free(grains);
  tl_free(boxes);
  tl_free(t.diameter_um);
  tl_free(t.moved);
  tl_free(t.curvature);
  tl_free(t.nodes);
  return status;
}

/* ---- input ---- */

static TlStatus read_options(const Values *v, Work *w) {
  w->drlse = tl_drlse_defaults();
  w->drlse.method = (TlDrlseMethod)v->method;
  w->drlse.mu = v->mu;
  w->drlse.lambda = v->lambda;
  w->drlse.dt = v->dt;
  w->drlse.epsilon = v->epsilon;
  w->drlse.edge_steps = (int32_t)v->edge_steps;
  w->drlse.region_steps = (int32_t)v->region_steps;
  w->drlse.curvature_steps = (int32_t)v->curvature_steps;
  if (strcmp(v->nu, "auto") != 0) {
    w->drlse.nu_balance = false;
    if (tl_parse_real(v->nu, &w->drlse.nu) != TL_OK)
      return tl_fail(TL_EUSAGE, "--nu=%s: a number or auto wanted", v->nu);
  }
  w->drlse.blur_sigma = v->blur;
  if (strcmp(v->surface_sigma, "auto") != 0 &&
      (tl_parse_real(v->surface_sigma, &w->drlse.surface_sigma) != TL_OK ||
       w->drlse.surface_sigma < 0))
    return tl_fail(TL_EUSAGE, "--surface-sigma=%s: a number from 0 or auto wanted",
                   v->surface_sigma);
  if (w->drlse.method != TL_DRLSE_DISTANCE && (!v->grey || !v->grey[0]))
    return tl_fail(TL_EUSAGE, "--grey=STACK wanted: the grey stack of these labels (or "
                              "--method=distance, which does without)");
  return tl_drlse_check(&w->drlse);
}

static TlStatus stack_options(const Values *v, TlStackOptions *options) {
  *options = (TlStackOptions){.allow_gaps = v->input.allow_gaps, .raw = v->input.raw};
  if (!v->input.voxel_size_um || !v->input.voxel_size_um[0]) return TL_OK;
  if (tl_stack_parse_voxel_um(v->input.voxel_size_um, options->voxel_um) == TL_OK) return TL_OK;
  return tl_fail(TL_EUSAGE, "--voxel-size-um: %s", tl_message());
}

static TlStatus read_labels(const TlCall *call, TlVolume *labels) {
  const Values *v = call->values;
  TlStackOptions options;
  TL_TRY(stack_options(v, &options));
  TL_TRY(tl_stack_read(call->argv[0], &options, call->provenance, labels));
  if (labels->type != TL_U32) {
    TlVolume wide;
    TL_TRY(tl_volume_like(&wide, labels, TL_U32));
    wide.history = labels->history;
    labels->history = NULL;
    int64_t count = tl_volume_count(labels);
    TlStatus status = TL_OK;
    for (int64_t i = 0; status == TL_OK && i < count; i++) {
      double value = tl_volume_value(labels, i);
      if (!(value >= 0 && value <= UINT32_MAX && value == floor(value)))
        status = tl_fail(TL_EINPUT, "%s: %g is not a label; whole numbers from 0 wanted",
                         call->argv[0], value);
      else
        wide.u32[i] = (uint32_t)value;
    }
    tl_volume_free(labels);
    *labels = wide;
    TL_TRY(status);
  }
  return tl_stack_need_voxel_size(call->argv[0], labels);
}

static TlStatus read_grey(const TlCall *call, const char *path, const TlVolume *labels,
                          TlVolume *grey) {
  const Values *v = call->values;
  TlStackOptions options;
  TlVolume raw = {0};
  TL_TRY(stack_options(v, &options));
  TlStatus status = tl_stack_read(path, &options, call->provenance, &raw);
  if (status == TL_OK) status = tl_context(tl_volume_to_f32(&raw, grey), "%s", path);
  tl_volume_free(&raw);
  TL_TRY(status);
  if (grey->nx != labels->nx || grey->ny != labels->ny || grey->nz != labels->nz)
    return tl_fail(TL_EINPUT,
                   "%s: %lld x %lld x %lld voxels, the labels have %lld x %lld x %lld: give the "
                   "stack the labels were made from",
                   path, (long long)grey->nx, (long long)grey->ny, (long long)grey->nz,
                   (long long)labels->nx, (long long)labels->ny, (long long)labels->nz);
  return TL_OK;
}

/* Denoising pulls surfaces towards where their patches are alike: the stack before it is unbiased
 * there, and what it adds in noise the level set evens out along the surface. */
static TlStatus read_greys(const TlCall *call, const TlVolume *labels, TlVolume *grey) {
  const Values *v = call->values;
  TlVolume raw = {0};
  TL_TRY(read_grey(call, v->grey, labels, grey));
  if (!v->raw || !v->raw[0]) return TL_OK;
  TlStatus status = read_grey(call, v->raw, labels, &raw);
  int64_t count = tl_volume_count(grey);
  for (int64_t i = 0; status == TL_OK && i < count; i++)
    grey->f32[i] = (float)((1 - v->raw_weight) * grey->f32[i] + v->raw_weight * raw.f32[i]);
  tl_volume_free(&raw);
  return status;
}

static TlStatus run_labels(const TlCall *call) {
  const Values *v = call->values;
  Work w = {.build = {.nodes = {.count = (int32_t)v->nodes}}};
  TlVolume labels = {0}, grey = {0};
  TlRoi roi = {0};
  TL_TRY(read_options(v, &w));
  TlStatus status = read_labels(call, &labels);
  if (status == TL_OK && w.drlse.method != TL_DRLSE_DISTANCE) {
    status = read_greys(call, &labels, &grey);
    w.grey = &grey;
  }
  w.labels = &labels;
  w.build.nodes.spacing_m = v->node_spacing * tl_grain_cell_m(&labels);
  if (status == TL_OK)
    status = imaging_roi_of(&v->input, w.grey ? &grey : &labels, call->provenance, &roi);
  w.roi = &roi;
  if (status == TL_OK) status = work(call, &w);
  tl_roi_free(&roi);
  tl_volume_free(&labels);
  tl_volume_free(&grey);
  return status;
}

static TlStatus run(const TlCall *call) {
  const Values *v = call->values;
  if (!v->catalog || !v->catalog[0]) return tl_fail(TL_EUSAGE, "--catalog=FILE wanted");
  if (!v->sample || !v->sample[0])
    return tl_fail(TL_EUSAGE, "--sample=NAME wanted: what to call this set of grains");
  if (solid_wanted(&v->solid))
    return solid_run(
        &(SolidJob){call, &v->solid, v->catalog, v->sample, v->overwrite, (int32_t)v->nodes});
  if (call->argc != 1) return tl_fail(TL_EUSAGE, "one stack of labels wanted (or --mesh FILE...)");
  return run_labels(call);
}

static const TlTool tool = {
    .name = "talus-avatars",
    .purpose = "Make a level-set avatar of each labelled grain and store it in a catalog",
    .arguments = "LABELS | --mesh FILE...",
    .description =
        "Each grain's surface is found in the grey stack by distance-regularised\n"
        "level set evolution in its label's box, kept clear of its neighbours and\n"
        "made a true signed distance. Volume, centroid and inertia are measured, the\n"
        "grid is turned to the principal axes (the pose in the scan is kept), and\n"
        "nodes with areas are spread evenly over the surface. Each gets residuals, a\n"
        "verdict (good, doubtful, rejected: talus-catalog show) and descriptors; studies\n"
        "leave rejected ones out. Grains that cannot be\n"
        "made are named with the reason and left out; the tool fails when none can.\n"
        "Voxels that are no cubes are resampled around each grain to cubes of their\n"
        "least edge. The same input gives the same bytes of every avatar\n"
        "for any number of threads.\n"
        "Grains without a scan come from closed meshes (--mesh FILE... --unit=mm) and\n"
        "from formulas (--superellipsoid-um); a mesh that is open, passes through\n"
        "itself, holds several shells or does not agree which side is out is refused.",
    .example = "  talus-avatars labels.h5 --grey=denoised.h5 --catalog=sand.tals --sample=hostun\n"
               "  talus-avatars --mesh stone.stl --unit=m --spacing-um=2000 --nodes=800 "
               "--sample=stones --catalog=rock.tals\n"
               "  talus-avatars --superellipsoid-um=500,400,300,0.4,0.4 --sample=formula "
               "--catalog=rock.tals",
    .least_arguments = 0,
    .most_arguments = -1,
    .takes = TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .values_size = sizeof(Values),
    .run = run};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
