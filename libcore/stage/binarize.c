/* Grain or void, voxel by voxel. */
#include "stage/imaging.h"

#include "base/log.h"
#include "base/mem.h"
#include "image/binarize.h"
#include "stage/input.h"

#include <stdio.h>
#include <string.h>

static const TlParam params[] = {
    TL_INPUT_INPUT_PARAMS(TlBinarizeStage),
    TL_INPUT_PREVIEW_PARAM(TlBinarizeStage),
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Method", NULL},
    {"method", TL_P_CHOICE, offsetof(TlBinarizeStage, method), "", "hmrf-em", 0, 0,
     "hmrf-em|otsu|kmeans|threshold", "how grain is told from void", NULL},
    {"threshold", TL_P_TEXT, offsetof(TlBinarizeStage, threshold), "grey", "", 0, 0, NULL,
     "method threshold: voxels above are grain (below with --invert)", "X"},
    {"invert", TL_P_FLAG, offsetof(TlBinarizeStage, invert), "", "false", 0, 0, NULL,
     "grains are darker than the void", NULL},
    {"min-island", TL_P_INT, offsetof(TlBinarizeStage, min_island), "voxels", "0", 0, 1e9, NULL,
     "specks of grain in void and of void in grain with fewer voxels change sides", NULL},
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "HMRF-EM", NULL},
    {"start", TL_P_CHOICE, offsetof(TlBinarizeStage, start), "", "otsu", 0, 0, "otsu|kmeans",
     "labels to begin with", NULL},
    {"phases", TL_P_INT, offsetof(TlBinarizeStage, phases), "", "2", 2, TL_MIXTURE_MOST, NULL,
     "grey phases: 2 is void and grain; 3 or 4 Gaussians are fitted and told first", NULL},
    {"solid-from", TL_P_INT, offsetof(TlBinarizeStage, solid_from), "", "2", 2, TL_MIXTURE_MOST,
     NULL, "the first phase, void being 1, that counts as grain", NULL},
    {"beta", TL_P_REAL, offsetof(TlBinarizeStage, beta), "", "0", 0, 1000, NULL,
     "cost of two unequal neighbours; 0: 0.2 times the grey gap over the noise", NULL},
    {"delta", TL_P_REAL, offsetof(TlBinarizeStage, delta), "", "0.3", 0.001, 1, NULL,
     "steps of solid fraction below this cost less: edges may be blurred", NULL},
    {"neighbours", TL_P_CHOICE, offsetof(TlBinarizeStage, neighbours), "", "6", 0, 0, "6|26",
     "neighbours of a voxel, weighted by 1 / physical distance", NULL},
    {"void-weight", TL_P_REAL, offsetof(TlBinarizeStage, void_weight), "", "1", 0.01, 100, NULL,
     "weight of the void class (Tan 2022 Eqs. 2.29-2.35); above 1 void grows", NULL},
    {"sd-floor", TL_P_REAL, offsetof(TlBinarizeStage, sd_floor), "", "0.02", 0.001, 1, NULL,
     "least class standard deviation over the grey gap between grain and void", NULL},
    {"deblur", TL_P_TEXT, offsetof(TlBinarizeStage, deblur), "voxels^2", "auto", 0, 0, NULL,
     "the scan's blur: half its variance, 0 to 0.25; auto: by the edges, 0.25 in noise", "auto|C"},
    {"rounds", TL_P_INT, offsetof(TlBinarizeStage, rounds), "", "10", 1, TL_HMRF_MOST_ROUNDS, NULL,
     "most EM rounds", NULL},
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Memory", NULL},
    TL_INPUT_MEMORY_PARAM(
        TlBinarizeStage, "0",
        "most memory beside the stack itself: sets the slabs' thickness; 0: slabs "
        "of 64 slices; the mask is the same whatever the slabs"),
};

const TlParamTable tl_binarize_table = TL_PARAM_TABLE(params, TlBinarizeStage);

static TlStatus threshold_of(const TlBinarizeStage *v, double *threshold) {
  bool given = v->threshold && v->threshold[0];
  *threshold = 0;
  if (given != (v->method == TL_BINARIZE_THRESHOLD))
    return tl_fail(TL_EUSAGE, "--method=threshold and --threshold=X go together");
  if (!given || tl_parse_real(v->threshold, threshold) == TL_OK) return TL_OK;
  return tl_fail(TL_EUSAGE, "--threshold: %s", tl_message());
}

static TlStatus deblur_of(const TlBinarizeStage *v, double *deblur) {
  *deblur = -1;
  if (!v->deblur || !v->deblur[0] || strcmp(v->deblur, "auto") == 0) return TL_OK;
  if (tl_parse_real(v->deblur, deblur) != TL_OK)
    return tl_fail(TL_EUSAGE, "--deblur: %s", tl_message());
  if (*deblur >= 0 && *deblur <= 0.25) return TL_OK;
  return tl_fail(TL_EUSAGE, "--deblur: %s is not auto or 0 to 0.25", v->deblur);
}

static TlStatus options_of(const TlBinarizeStage *v, TlBinarizeOptions *o) {
  TlHmrfOptions hmrf = TL_HMRF_DEFAULTS;
  *o = (TlBinarizeOptions){.method = (TlBinarizeMethod)v->method,
                           .start_kmeans = v->start == 1,
                           .phases = (int)v->phases,
                           .solid_from = (int)v->solid_from,
                           .invert = v->invert,
                           .min_island = v->min_island,
                           .hmrf = hmrf};
  TL_TRY(threshold_of(v, &o->threshold));
  TL_TRY(deblur_of(v, &o->hmrf.deblur));
  if (v->solid_from > v->phases)
    return tl_fail(TL_EUSAGE, "--solid-from=%lld needs --phases=%lld or more",
                   (long long)v->solid_from, (long long)v->solid_from);
  o->hmrf.beta = v->beta;
  o->hmrf.delta = v->delta;
  o->hmrf.neighbours = v->neighbours == 1 ? 26 : 6;
  o->hmrf.void_weight = v->void_weight;
  o->hmrf.sd_floor = v->sd_floor;
  o->hmrf.most_rounds = (int)v->rounds;
  return TL_OK;
}

static TlStatus report_hmrf(TlReport *report, const TlHmrfResult *r) {
  TL_TRY(tl_report_real(report, "void_mean", r->mean[0], "grey"));
  TL_TRY(tl_report_real(report, "grain_mean", r->mean[1], "grey"));
  TL_TRY(tl_report_real(report, "half_level", 0.5 * (r->mean[0] + r->mean[1]), "grey"));
  TL_TRY(tl_report_real(report, "class_sd", r->sd, "grey"));
  TL_TRY(tl_report_real(report, "noise", r->noise, "grey"));
  TL_TRY(tl_report_real(report, "beta", r->beta, ""));
  if (r->edge > 0) TL_TRY(tl_report_real(report, "edge_blur", r->edge, "voxels"));
  TL_TRY(tl_report_real(report, "deblur", r->deblur, "voxels^2"));
  TL_TRY(tl_report_real(report, "drift_along_z", r->drift_z, "grey"));
  TL_TRY(tl_report_real(report, "drift_outwards", r->drift_radial, "grey"));
  TL_TRY(tl_report_int(report, "core_erosion", r->core_erosion, "voxels"));
  TL_TRY(tl_report_int(report, "rounds", r->rounds, ""));
  TL_TRY(tl_report_real(report, "energy_start", r->energy[0], ""));
  TL_TRY(tl_report_real(report, "energy_end", r->energy[r->rounds], ""));
  return tl_report_int(report, "moved", r->moved, "voxels");
}

/* Phases in order of grey, void first; greys of the input. */
static TlStatus report_mixture(TlReport *report, const TlMixture *m) {
  char key[40], text[120];
  for (int l = 0; l < m->classes; l++) {
    snprintf(key, sizeof key, "phase_%d", l + 1);
    snprintf(text, sizeof text, "mean %.4g sd %.3g share %.4f", m->mean[l], m->sd[l],
             m->fraction[l]);
    TL_TRY(tl_report_text(report, key, text));
  }
  for (int l = 0; l + 1 < m->classes; l++) {
    snprintf(key, sizeof key, "border_%d_%d", l + 1, l + 2);
    TL_TRY(tl_report_real(report, key, m->border[l], "grey"));
  }
  TL_TRY(tl_report_int(report, "mixture_rounds", m->rounds, ""));
  return tl_report_real(report, "mixture_energy", m->energy[m->rounds], "a voxel");
}

/* What hangs on the threshold: a void ratio without it says more than is known. */
static TlStatus report_range(TlReport *report, const TlBinarizeResult *r) {
  const double *t = r->threshold_range, *p = r->porosity_range;
  char text[80];
  snprintf(text, sizeof text, "%.6g to %.6g", t[0], t[1]);
  TL_TRY(tl_report_text(report, "thresholds", text));
  snprintf(text, sizeof text, "%.4f to %.4f", p[0], p[1]);
  TL_TRY(tl_report_text(report, "porosity_range", text));
  snprintf(text, sizeof text, "%.4f to %.4f", p[0] / (1 - p[0]), p[1] / (1 - p[1]));
  return tl_report_text(report, "void_ratio_range", text);
}

static TlStatus report_split(TlReport *report, const TlBinarizeStage *v,
                             const TlBinarizeResult *r) {
  TL_TRY(tl_report_real(report, "threshold", r->split.threshold, "grey"));
  TL_TRY(tl_report_real(report, "below_mean", r->split.mean[v->invert ? 1 : 0], "grey"));
  TL_TRY(tl_report_real(report, "above_mean", r->split.mean[v->invert ? 0 : 1], "grey"));
  TL_TRY(tl_report_real(report, "below_sd", r->split.sd[v->invert ? 1 : 0], "grey"));
  TL_TRY(tl_report_real(report, "above_sd", r->split.sd[v->invert ? 0 : 1], "grey"));
  TL_TRY(tl_report_real(report, "separability", r->split.separability, ""));
  if (r->gaussian_distance > 0)
    TL_TRY(tl_report_real(report, "gaussian_distance", r->gaussian_distance, ""));
  if (r->mixture.classes > 0) TL_TRY(report_mixture(report, &r->mixture));
  if (r->hmrf.rounds > 0) TL_TRY(report_hmrf(report, &r->hmrf));
  if (v->min_island > 0) {
    TL_TRY(tl_report_int(report, "islands_removed", r->islands_removed, ""));
    TL_TRY(tl_report_int(report, "holes_filled", r->holes_filled, ""));
  }
  TL_TRY(tl_report_int(report, "grain_voxels", r->grain_voxels, ""));
  TL_TRY(tl_report_real(report, "porosity", r->porosity, ""));
  TL_TRY(tl_report_real(report, "void_ratio", r->porosity / (1 - r->porosity), ""));
  if (v->phases > 2) return TL_OK;
  return report_range(report, r);
}

/* The warning goes into the report, the log and the product's history, from which later stages
 * repeat it. */
static TlStatus report_third(const TlStageCall *call, TlReport *report, const TlBinarizeResult *r) {
  const TlThirdPhase *t = &r->third;
  if (!t->looked)
    return tl_report_text(report, "third_phase",
                          t->noise > TL_PROFILE_NOISE
                              ? "not looked for: too much noise, denoise first"
                              : "not looked for: too few voxels between");
  TL_TRY(tl_report_text(report, "third_phase", t->found ? "found" : "none"));
  char profile[8 * TL_PROFILE] = "";
  for (int k = 0; k < TL_PROFILE; k++)
    snprintf(profile + strlen(profile), sizeof profile - strlen(profile), "%s%.3f", k ? " " : "",
             t->profile[k]);
  TL_TRY(tl_report_text(report, "edge_profile", profile));
  TL_TRY(tl_report_real(report, "edge_width", t->width, "voxels"));
  TL_TRY(tl_report_real(report, "edge_profile_least", t->least, ""));
  if (!t->found) return TL_OK;
  char text[400];
  snprintf(
      text, sizeof text,
      "there is a third phase between void and grain, of a grey of about %.4g (water, coats on "
      "the grains, fines or pores that the scan does not resolve?), which two phases count to "
      "either: the porosity lies between %.3f and %.3f. If it has a peak of its own, "
      "--phases=3 --solid-from=3 (bright minerals: --phases=4) keeps it out of the grains; else "
      "give --method=threshold and a level half-way between it and the grains",
      r->third_grey, r->porosity_range[0], r->porosity_range[1]);
  tl_log_warn("%s", text);
  TL_TRY(tl_report_real(report, "third_phase_grey", r->third_grey, "grey"));
  TL_TRY(tl_report_text(report, "warning", text));
  return tl_provenance_parameter(call->provenance, TL_INPUT_WARNING, text);
}

static TlStatus choose_slab(const TlBinarizeStage *v, const TlVolume *grey /* its head */,
                            TlBinarizeOptions *o) {
  if (v->memory_mb <= 0) return TL_OK;
  return tl_context(tl_binarize_plan(grey->nx, grey->ny, grey->nz, tl_input_bytes(v->memory_mb), o),
                    "--memory");
}

static TlStatus binarize_and_write(const TlStageCall *call, const TlBinarizeStage *v,
                                   const TlLayers *stack, const TlRoi *roi) {
  TlReport *report = call->report;
  TlBinarizeOptions options;
  TL_TRY(options_of(v, &options));
  TL_TRY(choose_slab(v, &stack->head, &options));
  TlBinarizeResult result;
  TlVolume mask;
  TlSource grey = tl_source_layers(stack);
  TL_TRY(
      tl_context(tl_binarize_source(&grey, roi, &options, &mask, &result), "%s", call->input[0]));
  TlStatus status = report_split(report, v, &result);
  if (status == TL_OK && v->phases <= 2) status = report_third(call, report, &result);
  if (status == TL_OK) tl_input_keep_region(&mask, roi);
  if (status == TL_OK && stack->head.history && !(mask.history = tl_strdup(stack->head.history)))
    status = TL_ENOMEM;
  if (status == TL_OK)
    status = tl_stack_write(call->output, &mask, call->provenance, call->overwrite);
  tl_volume_free(&mask);
  TL_TRY(status);
  TL_TRY(tl_report_text(report, "output", call->output));
  return tl_input_preview(call, &v->input, stack);
}

/* By HMRF-EM, of the real scan in docs/guide/scans.md; a threshold alone is faster. */
#define VOXELS_A_SECOND 0.8e6

static TlStatus report_plan(const TlBinarizeStage *v, const TlVolume *stack, TlReport *report) {
  TlBinarizeOptions o;
  TL_TRY(options_of(v, &o));
  TL_TRY(choose_slab(v, stack, &o));
  int64_t slab = o.slab > 0 ? o.slab : TL_BINARIZE_SLAB;
  TL_TRY(tl_report_int(report, "slab", slab < stack->nz ? slab : stack->nz, "slices"));
  TL_TRY(tl_report_int(report, "slabs", tl_slab_count(stack->nz, slab), ""));
  int64_t quiet = tl_binarize_bytes(stack->nx, stack->ny, stack->nz, &o, TL_HMRF_QUIET_SWEEPS);
  int64_t loud = tl_binarize_bytes(stack->nx, stack->ny, stack->nz, &o, TL_HMRF_LOUD_SWEEPS);
  TL_TRY(tl_report_real(report, "time_one_core_about",
                        (double)(stack->nx * stack->ny * stack->nz) / VOXELS_A_SECOND, "s"));
  TL_TRY(tl_input_report_bytes(report, "work_memory", quiet));
  TL_TRY(tl_input_report_bytes(report, "work_memory_if_noisy", loud));
  return tl_input_report_bytes(
      report, "memory", quiet + 16 * stack->nx * stack->ny * (int64_t)tl_voxel_size(stack->type));
}

/* The stack is read by layers, again in each pass: only the mask is in memory whole. */
TlStatus tl_stage_binarize(const TlStageCall *call, const TlBinarizeStage *options) {
  TlBinarizeOptions unused;
  TlLayers stack;
  TlRoi roi;
  TL_TRY(options_of(options, &unused)); /* wrong usage shows before the stack is opened */
  TL_TRY(tl_input_open(call, &options->input, &stack, &roi));
  TlStatus status = tl_input_report(call->report, &stack.head, &roi);
  if (status == TL_OK)
    status = call->dry_run ? report_plan(options, &stack.head, call->report)
                           : binarize_and_write(call, options, &stack, &roi);
  tl_roi_free(&roi);
  tl_layers_close(&stack);
  return status;
}
