/* Each label of a stack becomes a level-set avatar in the catalog. */
#include "stage/grains.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/label.h"
#include "image/label_quality.h"
#include "num/sort.h"
#include "shape/build.h"
#include "shape/descriptors.h"
#include "shape/drlse.h"
#include "shape/grain_stack.h"
#include "shape/quality.h"
#include "stage/input.h"
#include "store/catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  BATCH = 64,       /* grains made at a time */
  AT_ONCE = 16,     /* layers read at a time: a chunk of our files is unpacked once */
  MASK_LABELS = 10, /* one of as many has not most of the volume, if each is a grain */
  LEAST_FITTED = 3  /* grains that say together whether the grey is theirs */
};
/* Bytes a voxel of a grain's cut, measured with a margin: of the fields while it is made, of the
 * finished avatar; and of what does not go with its size (nodes). */
static const int64_t work_a_voxel = 60, kept_a_voxel = 4, kept_bytes = 300000;
static const int64_t cuts_without_limit = 1000000000;

#define AT(member) offsetof(TlAvatarsStage, member)
static const TlParam params[] = {
    TL_INPUT_CATALOG_PARAM(TlAvatarsStage),
    {"sample", TL_P_TEXT, AT(sample), "", "", 0, 0, NULL,
     "name of this set of grains in the catalog", "NAME"},
    {"grey", TL_P_TEXT, AT(grey), "", "", 0, 0, NULL,
     "grey stack the labels were made from, best denoised; needed but for --method=distance",
     "STACK"},
    {"raw", TL_P_TEXT, AT(raw), "", "", 0, 0, NULL,
     "the same stack before denoising; mixed with --grey it takes half of what denoising moved the "
     "surfaces off again",
     "STACK"},
    {"raw-weight", TL_P_REAL, AT(raw_weight), "", "0.6", 0, 1, NULL, "fraction of --raw in the mix",
     NULL},
    {"overwrite", TL_P_FLAG, AT(overwrite), "", "false", 0, 0, NULL,
     "replace the sample when the catalog has one of this name", NULL},
    TL_INPUT_STACK_PARAMS(TlAvatarsStage),
    {"", TL_P_HEADING, 0, "", "", 0, 0, NULL, "Which grains", NULL},
    {"min-voxels", TL_P_INT, AT(min_voxels), "", "100", 1, 1e12, NULL,
     "leave out labels with fewer voxels", NULL},
    {"with-border", TL_P_FLAG, AT(with_border), "", "true", 0, 0, NULL,
     "also store grains cut by the border of stack or region, flagged; --no-with-border leaves "
     "them out",
     NULL},
    {"every", TL_P_INT, AT(every), "", "1", 1, 1e9, NULL,
     "of the labels to be made only each N-th, for a look at a large stack", NULL},
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
    TL_SOLID_PARAMS(TlAvatarsStage),
    {"", TL_P_HEADING, 0, "", "", 0, 0, NULL, "Large stacks", NULL},
    TL_INPUT_MEMORY_PARAM(TlAvatarsStage, "0",
                          "stacks are read by layers and grains made so many at a time as fit into "
                          "this; the same bytes of every avatar. 0: the stacks at once"),
};

const TlParamTable tl_avatars_table = TL_PARAM_TABLE(params, TlAvatarsStage);

/* ---- one grain ---- */

typedef struct Grain {
  uint32_t label;
  bool border, good;
  double contact; /* the widest, image/label_quality.h */
  TlAvatar avatar;
  TlDrlseReport drlse;
  TlQuality quality;
  TlDescriptors descriptors;
  char message[240];
} Grain;

typedef struct Work {
  TlGrainStack stack;
  const TlRoi *roi;
  TlLabelBox *boxes;
  TlGreyLevels levels;
  TlDrlseOptions drlse;
  TlBuildOptions build;
  int64_t cut_bytes; /* most of the cuts held at a time; a single larger one is held alone */
  Grain *grains;     /* of this batch */
  TlGrainCut *cuts;
} Work;

static TlStatus make_avatar(const Work *w, Grain *g, const TlGrainCut *cut) {
  TlPhiGrid grid;
  int64_t corner[3];
  TlGrainPart part = tl_grain_cut_part(&w->stack, cut);
  TL_TRY(
      tl_drlse_grain(&part, g->label, w->boxes, &w->levels, &w->drlse, &grid, corner, &g->drlse));
  TlStatus status = tl_avatar_build_from_phi(&grid, corner, tl_grain_cell_m(&w->stack.labels->head),
                                             g->label, g->border, &w->build, &g->avatar);
  tl_free(grid.phi);
  if (status == TL_OK) status = tl_avatar_check(&g->avatar);
  if (status == TL_OK) status = tl_descriptors(&g->avatar, &g->descriptors);
  if (status == TL_OK) tl_quality_measure(&g->avatar, g->drlse.agreement, &g->quality);
  g->quality.contact = g->contact;
  if (status != TL_OK) tl_avatar_free(&g->avatar);
  return status;
}

/* A grain that cannot be made is no reason to stop; memory and wrong options are. */
static TlStatus one_grain(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  Work *w = context;
  (void)end, (void)block, (void)thread;
  Grain *g = &w->grains[begin];
  TlStatus status = make_avatar(w, g, &w->cuts[begin]);
  g->good = status == TL_OK;
  if (g->good) return TL_OK;
  snprintf(g->message, sizeof g->message, "%s", tl_message());
  return status == TL_EINPUT || status == TL_ELIMIT ? TL_OK : status;
}

/* ---- all grains ---- */

typedef struct Totals {
  int64_t wanted, grains, border, too_small, left_out, rejected, dropped, filled, global_level;
  double *diameter_um, *moved, *nodes, *curvature;
  bool like_mask; /* and was warned of */
  TlJudged judged;
} Totals;

/* Labels to do, in order; the others are counted. */
static TlStatus choose(const TlAvatarsStage *v, const Work *w, const uint8_t *cut,
                       const double *contact, uint32_t most, Totals *t, Grain **grains,
                       int64_t *count) {
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
    else if (t->wanted++ % v->every == 0)
      (*grains)[(*count)++] = (Grain){.label = label, .border = border, .contact = contact[label]};
  }
  return TL_OK;
}

static TlStatus make_batch(Work *w, Grain *grains, TlGrainCut *cuts, int64_t count,
                           TlCatalog *catalog, int64_t sample, Totals *t) {
  w->grains = grains;
  w->cuts = cuts;
  TL_TRY(tl_par_blocks(count, 1, one_grain, w));
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

/* How many of the grains, from the first on, have cuts that fit together. */
static int64_t group_of(const Work *w, const Grain *grains, int64_t count) {
  int64_t bytes = 0, n = 0;
  for (; n < count; n++) {
    TlGrainCut cut = tl_grain_cut_place(&w->stack, &w->boxes[grains[n].label]);
    bytes += tl_grain_cut_bytes(&w->stack, &cut);
    if (n > 0 && bytes > w->cut_bytes) break;
  }
  return n;
}

/* Grains are numbered by their first voxel, so those of a group lie in neighbouring layers. */
static TlStatus make_group(Work *w, Grain *grains, TlGrainCut *cuts, int64_t count,
                           TlCatalog *catalog, int64_t sample, Totals *t, TlProgress *progress) {
  for (int64_t i = 0; i < count; i++)
    cuts[i] = tl_grain_cut_place(&w->stack, &w->boxes[grains[i].label]);
  TL_TRY(tl_grain_cut_read(&w->stack, cuts, count));
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < count; i += BATCH) {
    int64_t n = i + BATCH < count ? BATCH : count - i;
    if (status == TL_OK) status = make_batch(w, grains + i, cuts + i, n, catalog, sample, t);
    for (int64_t k = i; k < i + n; k++) {
      tl_avatar_free(&grains[k].avatar);
      tl_grain_cut_free(&cuts[k]);
    }
    tl_progress(progress, t->grains + t->rejected);
  }
  return status;
}

static TlStatus make_all(Work *w, Grain *grains, int64_t count, TlCatalog *catalog, int64_t sample,
                         Totals *t) {
  TlGrainCut *cuts;
  TL_TRY(TL_NEW(cuts, (size_t)count));
  TlProgress progress = tl_progress_start("avatars", count);
  TlStatus status = TL_OK;
  for (int64_t begin = 0, n; status == TL_OK && begin < count; begin += n) {
    n = group_of(w, grains + begin, count - begin);
    status = make_group(w, grains + begin, cuts, n, catalog, sample, t, &progress);
  }
  tl_progress_end(&progress);
  tl_free(cuts);
  return status;
}

static double median(double *values, int64_t n) {
  qsort(values, (size_t)n, sizeof *values, tl_by_real);
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static void warn_of_mask(const char *path, const char *what) {
  tl_log_warn("%s: %s: this looks like a mask, in which grains that touch are one; talus-label "
              "makes labels of a mask, one a grain",
              path, what);
}

/* What the grains together say of the input. */
static void warn_of_input(const char *path, const TlAvatarsStage *v, const Work *w,
                          const Totals *t) {
  const TlJudged *j = &t->judged;
  int64_t tried = t->grains + t->rejected;
  if (t->wanted + t->too_small + t->left_out == 1 && t->dropped > 0 && !t->like_mask)
    warn_of_mask(path, "its only label is in several pieces");
  if (w->stack.grey && tried >= LEAST_FITTED && j->count[TL_GOOD] == 0 &&
      2 * (j->count[TL_REJECTED] + t->rejected) > tried)
    tl_log_warn("no grain is good: %s fits none of the %lld labels of %s, so it may be of another "
                "scan, or not in the place of the labels; give the stack that they were made from",
                v->grey, (long long)tried, path);
}

static TlStatus report(const TlStageCall *call, const TlAvatarsStage *v, const Work *w, Totals *t) {
  TlReport *r = call->report;
  const TlVolume *labels = &w->stack.labels->head;
  const TlJudged *j = &t->judged;
  int64_t n = t->grains;
  warn_of_input(call->input[0], v, w, t);
  TL_TRY(tl_report_text(r, "sample", v->sample));
  TL_TRY(tl_input_report(r, labels, w->roi));
  TL_TRY(tl_input_repeat_warnings(call->input[0], labels, r));
  TL_TRY(tl_report_int(r, "grains", n, ""));
  TL_TRY(tl_report_int(r, "grains_cut_by_border", t->border, ""));
  TL_TRY(tl_report_int(r, "rejected", t->rejected, ""));
  TL_TRY(tl_report_int(r, "too_small", t->too_small, ""));
  TL_TRY(tl_report_int(r, "border_left_out", t->left_out, ""));
  if (w->stack.grey) {
    TL_TRY(tl_report_real(r, "void_level", w->levels.void_level, ""));
    TL_TRY(tl_report_real(r, "grain_level", w->levels.grain_level, ""));
    TL_TRY(tl_report_int(r, "grains_on_global_level", t->global_level, ""));
  }
  TL_TRY(tl_report_real(r, "median_diameter", median(t->diameter_um, n), "um"));
  TL_TRY(tl_report_real(r, "median_volume_change", 100 * median(t->moved, n), "percent"));
  if (v->curvature_steps > 0)
    TL_TRY(tl_report_real(r, "median_curvature_loss_restored", 100 * median(t->curvature, n),
                          "percent"));
  TL_TRY(tl_report_real(r, "median_nodes", median(t->nodes, n), ""));
  TL_TRY(tl_report_int(r, "verdict_good", j->count[TL_GOOD], ""));
  TL_TRY(tl_report_int(r, "verdict_doubtful", j->count[TL_DOUBTFUL], ""));
  TL_TRY(tl_report_int(r, "verdict_rejected", j->count[TL_REJECTED], ""));
  TL_TRY(tl_report_real(r, "deepest_overlap", j->deepest_cells, "voxels"));
  TL_TRY(tl_report_real(r, "volume_in_two_grains", 100 * j->common_m3 / j->volume_m3, "percent"));
  TL_TRY(tl_report_int(r, "loose_pieces_dropped", t->dropped, ""));
  return tl_report_int(r, "closed_pores_filled", t->filled, "");
}

static TlStatus write_catalog(const TlStageCall *call, const TlAvatarsStage *v, Work *w,
                              Grain *grains, int64_t count, Totals *t) {
  TlCatalog *catalog = NULL;
  int64_t sample;
  char *history; /* grains come from two stacks: the runs behind both */
  const TlVolume *labels = &w->stack.labels->head;
  TL_TRY(tl_provenance_join(w->stack.grey ? w->stack.grey->head.history : NULL, labels->history,
                            &history));
  TlStatus s = tl_catalog_open(&catalog, v->catalog, TL_CATALOG_CREATE);
  if (s == TL_OK) s = tl_catalog_begin(catalog, call->provenance, history);
  tl_free(history);
  if (s == TL_OK) s = tl_catalog_sample(catalog, v->sample, v->overwrite, labels->voxel_m, &sample);
  if (s == TL_OK) s = make_all(w, grains, count, catalog, sample, t);
  if (s == TL_OK && t->grains == 0)
    s = tl_fail(TL_EINPUT, "%s: none of %lld grains could be made (the reasons stand above)",
                call->input[0], (long long)count);
  if (s == TL_OK) s = tl_catalog_judge(catalog, v->sample, &t->judged);
  if (s == TL_OK) s = tl_catalog_commit(catalog);
  tl_catalog_close(catalog);
  return s;
}

/* ---- plan ---- */

/* Beside the cuts: the layers that are read, or, when that is over, the largest grain in the making
 * on each thread and a batch of finished ones. */
static TlStatus plan_cuts(const TlAvatarsStage *v, Work *w, const Grain *grains, int64_t count,
                          int64_t *bytes) {
  int64_t largest = 0, batch = count < BATCH ? count : BATCH;
  for (int64_t i = 0; i < count; i++) {
    TlGrainCut cut = tl_grain_cut_place(&w->stack, &w->boxes[grains[i].label]);
    int64_t voxels = cut.size[0] * cut.size[1] * cut.size[2];
    largest = voxels > largest ? voxels : largest;
  }
  int64_t beside =
      largest * (tl_par_threads() * work_a_voxel + batch * kept_a_voxel) + batch * kept_bytes;
  int64_t reading = tl_grain_stack_bytes(&w->stack), own = largest * (w->stack.grey ? 8 : 4);
  if (reading > beside) beside = reading;
  w->cut_bytes = v->memory_mb > 0 ? tl_input_bytes(v->memory_mb) - beside : cuts_without_limit;
  *bytes = beside + w->cut_bytes;
  if (v->memory_mb <= 0 || w->cut_bytes >= own) return TL_OK;
  return tl_fail(TL_EUSAGE,
                 "--memory: the largest grain and %lld layers need %.0f MB; %.0f are given",
                 (long long)w->stack.at_once, (double)(beside + own) / TL_INPUT_MB, v->memory_mb);
}

/* Labels that are hardly a grain each; border: those that the border cuts. True after a warning. */
static bool looks_like_mask(const char *path, const TlLabelBox *boxes, const uint8_t *border,
                            uint32_t most) {
  int64_t labels = 0, all = 0;
  uint32_t largest = 0;
  for (uint32_t label = 1; label <= most; label++) {
    labels += boxes[label].voxels > 0;
    all += boxes[label].voxels;
    if (largest == 0 || boxes[label].voxels > boxes[largest].voxels) largest = label;
  }
  bool only = labels == 1 && border[largest];
  bool much = labels >= MASK_LABELS && boxes[largest].voxels > all / 2;
  if (only) warn_of_mask(path, "its only label is cut by the border of the stack or region");
  if (much) warn_of_mask(path, "one of its labels has more than half of the volume of all");
  return only || much;
}

static TlStatus prepare(const TlStageCall *call, const TlAvatarsStage *v, Work *w, Totals *t,
                        Grain **grains, int64_t *count) {
  uint32_t most;
  TL_TRY(tl_context(tl_grain_stack_boxes(&w->stack, &w->boxes, &most), "%s", call->input[0]));
  uint8_t *cut;
  double *contact;
  TL_TRY(tl_label_contacts(w->stack.labels, w->roi, most, w->stack.at_once, &cut, &contact));
  t->like_mask = looks_like_mask(call->input[0], w->boxes, cut, most);
  TlStatus status = choose(v, w, cut, contact, most, t, grains, count);
  tl_free(cut);
  tl_free(contact);
  TL_TRY(status);
  if (*count == 0)
    return tl_fail(TL_EINPUT, "%s: no label has %lld voxels or more (see --min-voxels)",
                   call->input[0], (long long)v->min_voxels);
  if (w->stack.grey && !call->dry_run)
    TL_TRY(tl_context(tl_grain_stack_levels(&w->stack, &w->levels), "%s", call->input[0]));
  TL_TRY(TL_NEW(t->diameter_um, (size_t)*count));
  TL_TRY(TL_NEW(t->moved, (size_t)*count));
  TL_TRY(TL_NEW(t->curvature, (size_t)*count));
  return TL_NEW(t->nodes, (size_t)*count);
}

/* A core does about 1.3e5 cells of the grains' grids a second (55 and 10 voxels across alike). */
static double making_seconds(const Work *w, const Grain *grains, int64_t count) {
  double cells = 0;
  for (int64_t i = 0; i < count; i++) {
    const TlLabelBox *b = &w->boxes[grains[i].label];
    double own = 1;
    for (int a = 0; a < 3; a++) own *= (double)(b->high[a] - b->low[a] + 17);
    cells += own;
  }
  return cells / 1.3e5;
}

static TlStatus report_plan(const TlAvatarsStage *v, const Work *w, const Grain *grains,
                            int64_t count, const Totals *t, int64_t bytes, TlReport *report) {
  int64_t groups = 0;
  for (int64_t begin = 0; begin < count; groups++)
    begin += group_of(w, grains + begin, count - begin);
  tl_log_info("%lld grains would be made (%lld too small, %lld at the border left out), sample "
              "'%s' of %s",
              (long long)count, (long long)t->too_small, (long long)t->left_out, v->sample,
              v->catalog);
  double seconds = making_seconds(w, grains, count);
  tl_log_info("grains read in %lld groups; at most %.0f MB%s; about %.0f s on one core",
              (long long)groups, (double)bytes / TL_INPUT_MB,
              v->memory_mb > 0 ? "" : " beside the stacks", seconds);
  TL_TRY(tl_report_int(report, "grains", count, ""));
  TL_TRY(tl_report_real(report, "time_one_core_about", seconds, "s"));
  return tl_input_report_bytes(report, "memory", bytes);
}

static TlStatus work(const TlStageCall *call, const TlAvatarsStage *v, Work *w) {
  Totals t = {0};
  Grain *grains = NULL;
  int64_t count = 0, bytes = 0;
  TlStatus status = prepare(call, v, w, &t, &grains, &count);
  if (status == TL_OK) status = plan_cuts(v, w, grains, count, &bytes);
  if (status == TL_OK && call->dry_run)
    status = report_plan(v, w, grains, count, &t, bytes, call->report);
  if (status == TL_OK && !call->dry_run) status = write_catalog(call, v, w, grains, count, &t);
  if (status == TL_OK && !call->dry_run) status = report(call, v, w, &t);
  tl_free(grains);
  tl_free(w->boxes);
  tl_free(t.diameter_um);
  tl_free(t.moved);
  tl_free(t.curvature);
  tl_free(t.nodes);
  return status;
}

/* ---- input ---- */

static TlStatus read_options(const TlAvatarsStage *v, Work *w) {
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

/* The stacks, by layers of a file or of what was read of it at once. */
typedef struct Input {
  TlLayers layers;
  TlVolume whole;
} Input;

static TlStatus open_input(const TlStageCall *call, const TlAvatarsStage *v, const char *path,
                           Input *in) {
  TlStackOptions options;
  TL_TRY(tl_input_options(&v->input, &options));
  if (v->memory_mb > 0 || call->dry_run)
    return tl_stack_open(path, &options, call->provenance, &in->layers);
  TL_TRY(tl_stack_read(path, &options, call->provenance, &in->whole));
  tl_layers_of(&in->whole, &in->layers);
  in->layers.head.history = in->whole.history; /* handed over */
  in->whole.history = NULL;
  return TL_OK;
}

static TlStatus open_grey(const TlStageCall *call, const TlAvatarsStage *v, const char *path,
                          const TlVolume *labels, Input *in) {
  TL_TRY(open_input(call, v, path, in));
  const TlVolume *grey = &in->layers.head;
  if (grey->nx == labels->nx && grey->ny == labels->ny && grey->nz == labels->nz)
    return tl_input_same_voxels(path, grey, call->input[0], labels);
  return tl_fail(TL_EINPUT,
                 "%s: %lld x %lld x %lld voxels, the labels have %lld x %lld x %lld: give the "
                 "stack the labels were made from",
                 path, (long long)grey->nx, (long long)grey->ny, (long long)grey->nz,
                 (long long)labels->nx, (long long)labels->ny, (long long)labels->nz);
}

enum { LABELS, GREY, NOISY, INPUTS };

/* Denoising pulls surfaces towards where their patches are alike: the stack before it is unbiased
 * there, and what it adds in noise the level set evens out along the surface. */
static TlStatus open_inputs(const TlStageCall *call, const TlAvatarsStage *v, Work *w,
                            Input in[INPUTS]) {
  TlGrainStack *s = &w->stack;
  TL_TRY(open_input(call, v, call->input[0], &in[LABELS]));
  s->labels = &in[LABELS].layers;
  TL_TRY(tl_layers_labels(s->labels));
  TL_TRY(tl_stack_need_voxel_size(call->input[0], &s->labels->head));
  if (w->drlse.method == TL_DRLSE_DISTANCE) return TL_OK;
  TL_TRY(open_grey(call, v, v->grey, &s->labels->head, &in[GREY]));
  s->grey = &in[GREY].layers;
  if (!v->raw || !v->raw[0]) return TL_OK;
  TL_TRY(open_grey(call, v, v->raw, &s->labels->head, &in[NOISY]));
  s->noisy = &in[NOISY].layers;
  s->noisy_part = v->raw_weight;
  return TL_OK;
}

static TlStatus from_labels(const TlStageCall *call, const TlAvatarsStage *v) {
  Work w = {.build = {.nodes = {.count = (int32_t)v->nodes}}};
  Input in[INPUTS] = {0};
  TlRoi roi = {0};
  TL_TRY(read_options(v, &w));
  TlStatus status = open_inputs(call, v, &w, in);
  if (status == TL_OK)
    status = tl_input_roi(v->input.roi, w.stack.grey ? w.stack.grey : w.stack.labels,
                          call->provenance, &roi);
  if (status == TL_OK) {
    w.roi = &roi;
    w.build.nodes.spacing_m = v->node_spacing * tl_grain_cell_m(&w.stack.labels->head);
    w.stack.at_once = AT_ONCE; /* fewer when so many take half of the memory */
    while (v->memory_mb > 0 && w.stack.at_once > 1 &&
           tl_grain_stack_bytes(&w.stack) > tl_input_bytes(v->memory_mb) / 2)
      w.stack.at_once /= 2;
    status = work(call, v, &w);
  }
  tl_roi_free(&roi);
  for (int i = 0; i < INPUTS; i++) {
    tl_layers_close(&in[i].layers);
    tl_volume_free(&in[i].whole);
  }
  return status;
}

TlStatus tl_stage_avatars(const TlStageCall *call, const TlAvatarsStage *v) {
  if (!v->catalog || !v->catalog[0]) return tl_fail(TL_EUSAGE, "--catalog=FILE wanted");
  if (!v->sample || !v->sample[0])
    return tl_fail(TL_EUSAGE, "--sample=NAME wanted: what to call this set of grains");
  if (v->solid.mesh || v->solid.superellipsoid_um.count > 0) return tl_stage_solids(call, v);
  if (call->inputs != 1)
    return tl_fail(TL_EUSAGE, "one stack of labels wanted (or --mesh FILE...)");
  return from_labels(call, v);
}
