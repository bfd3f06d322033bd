/* One label a grain. */
#include "stage/imaging.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/label.h"
#include "image/label_dip.h"
#include "image/label_quality.h"
#include "io/csv.h"
#include "post/gnuplot.h"
#include "stage/input.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SWEEP = 41 }; /* values of h, evenly in its logarithm, over SWEEP_RANGE to either side */
#define SWEEP_RANGE 10.0

static const TlParam params[] = {
    TL_INPUT_INPUT_PARAMS(TlLabelStage),
    TL_INPUT_PREVIEW_PARAM(TlLabelStage),
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Splitting", NULL},
    {"sigma-voxels", TL_P_REAL, offsetof(TlLabelStage, sigma), "voxels", "0.7", 0, 20, NULL,
     "smoothing of the distance map", NULL},
    {"h-voxels", TL_P_REAL, offsetof(TlLabelStage, h_voxels), "voxels", "0.15", 0.001, 100, NULL,
     "a peak of the distance map must rise by this much to be a grain of its own", NULL},
    {"h-relative", TL_P_REAL, offsetof(TlLabelStage, h_relative), "", "0.04", 0, 1, NULL,
     "... and by this part of the distance itself", NULL},
    {"neck", TL_P_REAL, offsetof(TlLabelStage, neck), "", "0.65", 0, 10, NULL,
     "neighbours that meet over more than this part of a cross-section (plus half of how clearly "
     "the peak rises) are one grain; 0: the rise alone decides",
     NULL},
    {"grey", TL_P_TEXT, offsetof(TlLabelStage, grey), "", "", 0, 0, NULL,
     "the denoised stack of the mask, grains brighter than void: contacts that leave a dip in the "
     "grey, or part two greys, are contacts, and those that do neither are none",
     "FILE"},
    {"dip", TL_P_REAL, offsetof(TlLabelStage, dip), "", "0", 0, 1, NULL,
     "the unit of such dips, as part of the contrast between grain and void; 0: 0.02, and the mask "
     "alone where noise left in the grey makes dips of half as much",
     NULL},
    {"min-voxels", TL_P_INT, offsetof(TlLabelStage, min_voxels), "voxels", "100", 1, 1e9, NULL,
     "smaller grains are dropped, counted and said", NULL},
    {"markers", TL_P_TEXT, offsetof(TlLabelStage, markers), "", "", 0, 0, NULL,
     "one grain for each number above 0 in this stack, instead of the rule above", "FILE"},
    {"sweep-h", TL_P_TEXT, offsetof(TlLabelStage, sweep), "", "", 0, 0, NULL,
     "count the grains for values of h-voxels from a tenth to ten times the one above: a table, "
     "and "
     "a plot beside it; a choice on a plateau is a safe one",
     "FILE.csv", TL_ROLE_REPLACES},
    {"grains", TL_P_TEXT, offsetof(TlLabelStage, grains), "", "", 0, 0, NULL,
     "write size and signs of over- and under-segmentation of each grain here", "FILE.csv",
     TL_ROLE_REPLACES},
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Large stacks", NULL},
    TL_INPUT_MEMORY_PARAM(TlLabelStage, "0", TL_INPUT_SLABS_HELP),
};

const TlParamTable tl_label_table = TL_PARAM_TABLE(params, TlLabelStage);

/* Of a stack at once; by slabs what lies beside them is done again (docs/notebook/imaging.md). */
#define VOXELS_A_SECOND 6e6
#define VOXELS_A_SECOND_GREY 3e6
#define TIMES_BY_SLABS 1.5
#define GREY_CHANGES_MUCH 0.1
enum { GIVE_BACK = 1 << 20 };

static bool given(const char *text) {
  return text && text[0];
}

static TlStatus report_labels(TlReport *report, const TlVolume *head, const TlLabelResult *r) {
  TL_TRY(tl_report_int(report, "grains", r->grains, ""));
  TL_TRY(tl_report_int(report, "border_grains", r->border, ""));
  TL_TRY(tl_report_int(report, "dropped_grains", r->dropped, ""));
  TL_TRY(tl_report_int(report, "dropped_voxels", r->dropped_voxels, ""));
  if (r->unreached > 0) TL_TRY(tl_report_int(report, "unreached_voxels", r->unreached, ""));
  TL_TRY(tl_report_int(report, "grain_voxels", r->grain_voxels, ""));
  TL_TRY(tl_report_real(report, "median_diameter", r->median_diameter, "voxels"));
  double voxel_m3 = head->voxel_m[0] * head->voxel_m[1] * head->voxel_m[2];
  if (!(voxel_m3 > 0)) return TL_OK;
  return tl_report_real(report, "median_diameter", 1e6 * cbrt(voxel_m3) * r->median_diameter, "um");
}

/* What the grey did; why not where it was left out. */
static TlStatus report_grey(TlReport *report, const TlLabelResult *r) {
  char reason[200] = "";
  if (!r->grey_used && r->cores < TL_DIP_LEAST_CORES)
    snprintf(reason, sizeof reason,
             "only %lld voxels lie deeper than 5 voxels in grains, too few to know its noise",
             (long long)r->cores);
  else if (!r->grey_used)
    snprintf(reason, sizeof reason,
             "its noise makes dips of %.3f of the contrast inside grains, above %.3f it parts them",
             r->noise, TL_DIP_NOISE);
  if (!r->grey_used)
    tl_log_warn(
        "the grey is not used, grains are told apart by the mask alone: %s; --dip=X uses it "
        "all the same",
        reason);
  else if (r->mask_grains > 0)
    tl_log_info("%u grains with the grey, %u by the mask alone", r->grains, r->mask_grains);
  double more = (double)r->grains / (double)(r->mask_grains ? r->mask_grains : r->grains) - 1;
  if (r->grey_used && fabs(more) > GREY_CHANGES_MUCH)
    tl_log_warn(
        "with the grey there are %u grains, by the mask alone %u: look at where they differ "
        "(--preview), noise or rings may be taken for contacts",
        r->grains, r->mask_grains);
  TL_TRY(tl_report_text(report, "grey", r->grey_used ? "used" : reason));
  TL_TRY(tl_report_real(report, "grey_noise", r->noise, ""));
  TL_TRY(tl_report_real(report, "grey_dip", r->dip, ""));
  TL_TRY(tl_report_int(report, "grey_noise_voxels", r->cores, ""));
  if (r->mask_grains == 0) return TL_OK;
  return tl_report_int(report, "grains_by_mask_alone", r->mask_grains, "");
}

/* ---- how many grains for which h ---- */

/* TlLabelStage of h with the same number of grains as the one chosen, in a row: the plateau. */
static void say_plateau(const double *h, const uint32_t *grains) {
  int low = SWEEP / 2, high = SWEEP / 2;
  while (low > 0 && grains[low - 1] == grains[SWEEP / 2]) low--;
  while (high < SWEEP - 1 && grains[high + 1] == grains[SWEEP / 2]) high++;
  tl_log_info("%u grains for h from %.3g to %.3g voxels; %u at %.3g, %u at %.3g", grains[SWEEP / 2],
              h[low], h[high], grains[0], h[0], grains[SWEEP - 1], h[SWEEP - 1]);
}

/* Beside the table. */
static char *sweep_picture(const TlLabelStage *v) {
  return tl_format("%.*s.png", (int)(strlen(v->sweep) - strlen(".csv")), v->sweep);
}

typedef struct Sweep {
  const char *table;
  double chosen;
} Sweep;

static void put_sweep(TlPlot *plot, const void *context) {
  const Sweep *s = context;
  tl_plot_page(plot, 900, 500, 11);
  tl_plot(plot, "set datafile separator ','\nset logscale xy\nset key bottom left\nset grid lc rgb "
                "'#dddddd'\nset border 3\nset tics nomirror out\nset xlabel 'h [voxels]'\n"
                "set ylabel 'grains'\nset yrange [1:*]\n");
  tl_plot(plot, "set arrow from %g, graph 0 to %g, graph 1 nohead lc rgb '#c04000' dt 2\nplot ",
          s->chosen, s->chosen);
  tl_plot_table(plot, s->table);
  tl_plot(plot, " every ::1 using 1:2 with linespoints pt 7 ps 0.6 lw 2 lc rgb '#2060a0' title "
                "'grains found (dashed: h chosen)'\n");
}

static TlStatus write_sweep(const TlStageCall *call, const TlLabelStage *v, const double *h,
                            const uint32_t *grains) {
  TlCsv csv;
  TlStatus status = tl_csv_begin(&csv, v->sweep, call->overwrite, "h_voxels,grains");
  for (int i = 0; i < SWEEP && status == TL_OK; i++)
    status = tl_csv_row(&csv, (double[]){h[i], grains[i]}, 2);
  if (status == TL_OK) status = tl_csv_commit(&csv);
  tl_csv_abort(&csv);
  TL_TRY(status);
  char *picture = sweep_picture(v);
  if (!picture) return TL_ENOMEM;
  Sweep sweep = {v->sweep, v->h_voxels};
  status = tl_gnuplot(put_sweep, &sweep, v->sweep, picture, call->overwrite);
  tl_free(picture);
  return status;
}

/* ---- signs of wrong splits ---- */

static TlStatus write_grains(const TlStageCall *call, const TlLabelStage *v, const TlRoi *roi,
                             uint32_t count) {
  TlLayers labels;
  TlLabelQuality *quality = NULL;
  TlCsv csv = {0};
  TL_TRY(tl_stack_open(call->output, NULL, NULL, &labels));
  TlStatus status = tl_label_quality(&labels, roi, count, &quality);
  tl_layers_close(&labels);
  TL_TRY(status);
  status = tl_csv_begin(&csv, v->grains, call->overwrite,
                        "label,voxels,diameter_voxels,border,neighbours,widest_neighbour,"
                        "contact_over_diameter,convex_over_volume");
  for (uint32_t g = 1; g <= count && status == TL_OK; g++) {
    const TlLabelQuality *q = &quality[g];
    status = tl_csv_row(&csv,
                        (double[]){g, (double)q->voxels, q->diameter, q->border, q->neighbours,
                                   q->neighbour, q->over, q->under},
                        8);
  }
  if (status == TL_OK) status = tl_csv_commit(&csv);
  tl_csv_abort(&csv);
  tl_free(quality);
  return status;
}

/* ---- the work ---- */

static TlStatus write_labels(const TlStageCall *call, const TlLayers *mask, const TlRoi *roi,
                             const TlLabelOptions *options, const TlLabelPlan *plan,
                             TlLabelResult *result) {
  TlVolume head = tl_volume_head(&mask->head);
  TlLayerSink sink;
  head.type = TL_U32;
  head.history = mask->head.history; /* borrowed */
  char *folder = tl_path_directory(call->output);
  if (!folder) return TL_ENOMEM;
  TlStatus status = tl_stack_begin(call->output, &head, call->provenance, call->overwrite, &sink);
  if (status == TL_OK)
    status = tl_sink_end(
        &sink, tl_context(tl_label_layers(mask, roi, options, plan, folder, &sink, result), "%s",
                          call->input[0]));
  tl_free(folder);
  return status;
}

static TlStatus label(const TlStageCall *call, const TlLabelStage *v, const TlLayers *mask,
                      const TlRoi *roi, TlLabelOptions *options, const TlLabelPlan *plan) {
  TlReport *report = call->report;
  double h[SWEEP];
  uint32_t grains[SWEEP];
  TlLabelResult result;
  for (int i = 0; i < SWEEP; i++) h[i] = v->h_voxels * pow(SWEEP_RANGE, 2.0 * i / (SWEEP - 1) - 1);
  h[SWEEP / 2] = v->h_voxels;
  if (given(v->sweep)) {
    options->sweep_h = h;
    options->sweep_count = SWEEP;
    options->sweep_grains = grains;
  }
  TL_TRY(write_labels(call, mask, roi, options, plan, &result));
  if (result.dropped > 0)
    tl_log_info("%u grains under %lld voxels dropped (%lld voxels in all)", result.dropped,
                (long long)v->min_voxels, (long long)result.dropped_voxels);
  TL_TRY(report_labels(report, &mask->head, &result));
  if (options->grey) TL_TRY(report_grey(report, &result));
  if (given(v->sweep)) {
    say_plateau(h, grains);
    TL_TRY(write_sweep(call, v, h, grains));
    TL_TRY(tl_report_text(report, "sweep", v->sweep));
  }
  if (given(v->grains)) {
    TL_TRY(write_grains(call, v, roi, result.grains));
    TL_TRY(tl_report_text(report, "grain_table", v->grains));
  }
  return tl_report_text(report, "output", call->output);
}

static TlStatus report_plan(TlReport *report, const TlVolume *head, bool grey,
                            const TlLabelPlan *plan) {
  int64_t slabs = (head->nz + plan->slab_planes - 1) / plan->slab_planes;
  TL_TRY(tl_report_int(report, "slabs", slabs, ""));
  TL_TRY(tl_report_int(report, "slab_planes", plan->slab_planes, ""));
  TL_TRY(tl_input_report_bytes(report, "scratch_at_most", plan->scratch_bytes));
  double rate = grey ? VOXELS_A_SECOND_GREY : VOXELS_A_SECOND;
  double seconds = (double)(head->nx * head->ny * head->nz) / rate;
  TL_TRY(tl_report_real(report, "time_one_core_about", seconds * (slabs > 1 ? TIMES_BY_SLABS : 1),
                        "s"));
  return tl_input_report_bytes(report, "memory", plan->bytes);
}

static TlStatus plan_and_label(const TlStageCall *call, const TlLabelStage *v, const TlLayers *mask,
                               const TlRoi *roi, const TlLayers *grey, const TlLayers *markers) {
  TlReport *report = call->report;
  TlLabelPlan plan;
  TlLabelOptions options = {.sigma = v->sigma,
                            .h_voxels = v->h_voxels,
                            .h_relative = v->h_relative,
                            .neck = v->neck,
                            .min_voxels = v->min_voxels,
                            .grey = grey,
                            .dip = v->dip,
                            .markers = markers};
  TL_TRY(tl_context(tl_label_plan(&mask->head, &options, tl_input_bytes(v->memory_mb), &plan),
                    "--memory=%g", v->memory_mb));
  TL_TRY(tl_input_report(report, &mask->head, roi));
  TL_TRY(tl_input_repeat_warnings(call->input[0], &mask->head, report));
  if (v->memory_mb > 0) tl_mem_give_back(GIVE_BACK);
  if (call->dry_run) return report_plan(report, &mask->head, grey != NULL, &plan);
  return label(call, v, mask, roi, &options, &plan);
}

/* The grey stack tells where the specimen is when the mask does not: the void of a mask looks like
 * padding. */
static TlStatus with_others(const TlStageCall *call, const TlLabelStage *v, const TlLayers *mask) {
  TlLayers markers = {0}, grey = {0};
  TlStackOptions size = {0};
  TlRoi roi = {0};
  TlStatus status = TL_OK;
  bool own = given(v->markers), seen = given(v->grey);
  if (own) status = tl_stack_open(v->markers, NULL, call->provenance, &markers);
  if (seen && status == TL_OK) status = tl_input_options(&v->input, &size);
  size.raw = NULL; /* of the mask alone */
  if (seen && status == TL_OK) status = tl_stack_open(v->grey, &size, call->provenance, &grey);
  if (seen && status == TL_OK)
    status = tl_label_one_stack("the grey stack is", &grey.head, &mask->head);
  if (seen && status == TL_OK)
    status = tl_input_same_voxels(v->grey, &grey.head, call->input[0], &mask->head);
  if (status == TL_OK)
    status = tl_input_roi(v->input.roi, seen && !(mask->head.cylinder[2] > 0) ? &grey : mask,
                          call->provenance, &roi);
  if (status == TL_OK)
    status = plan_and_label(call, v, mask, &roi, seen ? &grey : NULL, own ? &markers : NULL);
  tl_roi_free(&roi);
  tl_layers_close(&markers);
  tl_layers_close(&grey);
  if (status == TL_OK && !call->dry_run) status = tl_input_preview(call, &v->input, mask);
  return status;
}

static TlStatus check(const TlStageCall *call, const TlLabelStage *v) {
  char extension[16] = "csv";
  if (!given(v->sweep)) return TL_OK;
  tl_path_extension(v->sweep, extension);
  if (strcmp(extension, "csv") != 0)
    return tl_fail(TL_EUSAGE, "--sweep-h: %s must end in .csv (the plot has its name and .png)",
                   v->sweep);
  if (given(v->markers))
    return tl_fail(TL_EUSAGE, "--sweep-h has nothing to vary with --markers: give one of them");
  char *picture = sweep_picture(v);
  if (!picture) return TL_ENOMEM;
  TlStatus status =
      tl_claim_output(picture, "the plot of --sweep-h", call->overwrite || call->dry_run);
  tl_free(picture);
  return status;
}

TlStatus tl_stage_label(const TlStageCall *call, const TlLabelStage *options) {
  TlLayers mask;
  TlStackOptions stack;
  TL_TRY(check(call, options));
  TL_TRY(tl_input_options(&options->input, &stack));
  TL_TRY(tl_stack_open(call->input[0], &stack, call->provenance, &mask));
  TlStatus status = with_others(call, options, &mask);
  tl_layers_close(&mask);
  return status;
}
