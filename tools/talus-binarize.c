/* talus-binarize: grain or void, voxel by voxel. */
#include "imaging.h"

#include "base/mem.h"
#include "image/binarize.h"

typedef struct Values {
  ImagingInput input;
  int method, start;
  char *threshold; /* text, because 0 is a threshold too */
  double beta, void_weight, sd_floor;
  int64_t rounds, min_island;
  bool invert;
} Values;

static const TlParam params[] = {
    IMAGING_INPUT_PARAMS(Values),
    IMAGING_PREVIEW_PARAM(Values),
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Method", NULL},
    {"method", TL_P_CHOICE, offsetof(Values, method), "", "hmrf-em", 0, 0,
     "hmrf-em|otsu|kmeans|threshold", "how grain is told from void", NULL},
    {"threshold", TL_P_TEXT, offsetof(Values, threshold), "grey", "", 0, 0, NULL,
     "method threshold: voxels above are grain (below with --invert)", "X"},
    {"invert", TL_P_FLAG, offsetof(Values, invert), "", "false", 0, 0, NULL,
     "grains are darker than the void", NULL},
    {"min-island", TL_P_INT, offsetof(Values, min_island), "voxels", "0", 0, 1e9, NULL,
     "specks of grain in void and of void in grain with fewer voxels change sides", NULL},
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "HMRF-EM", NULL},
    {"start", TL_P_CHOICE, offsetof(Values, start), "", "otsu", 0, 0, "otsu|kmeans",
     "labels to begin with", NULL},
    {"beta", TL_P_REAL, offsetof(Values, beta), "", "0.5", 0.001, 100, NULL,
     "cost of two unequal neighbours; raise it for noisy stacks", NULL},
    {"void-weight", TL_P_REAL, offsetof(Values, void_weight), "", "1", 0.01, 100, NULL,
     "weight of the void class (Tan 2022 Eqs. 2.29-2.35); above 1 void grows", NULL},
    {"sd-floor", TL_P_REAL, offsetof(Values, sd_floor), "", "0.075", 0.001, 1, NULL,
     "least class standard deviation over the grey gap between grain and void", NULL},
    {"rounds", TL_P_INT, offsetof(Values, rounds), "", "10", 1, TL_HMRF_MOST_ROUNDS, NULL,
     "most EM rounds", NULL},
};

static TlStatus threshold_of(const Values *v, double *threshold) {
  bool given = v->threshold && v->threshold[0];
  *threshold = 0;
  if (given != (v->method == TL_BINARIZE_THRESHOLD))
    return tl_fail(TL_EUSAGE, "--method=threshold and --threshold=X go together");
  if (!given || tl_parse_real(v->threshold, threshold) == TL_OK) return TL_OK;
  return tl_fail(TL_EUSAGE, "--threshold: %s", tl_message());
}

static TlBinarizeOptions options_of(const Values *v, double threshold) {
  return (TlBinarizeOptions){.method = (TlBinarizeMethod)v->method,
                             .threshold = threshold,
                             .start_kmeans = v->start == 1,
                             .invert = v->invert,
                             .min_island = v->min_island,
                             .hmrf = {.beta = v->beta,
                                      .void_weight = v->void_weight,
                                      .sd_floor = v->sd_floor,
                                      .most_rounds = (int)v->rounds}};
}

static TlStatus report_hmrf(TlReport *report, const TlHmrfResult *r) {
  TL_TRY(tl_report_real(report, "void_mean", r->mean[0], "grey"));
  TL_TRY(tl_report_real(report, "grain_mean", r->mean[1], "grey"));
  TL_TRY(tl_report_real(report, "half_level", 0.5 * (r->mean[0] + r->mean[1]), "grey"));
  TL_TRY(tl_report_real(report, "class_sd", r->sd, "grey"));
  TL_TRY(tl_report_int(report, "core_erosion", r->core_erosion, "voxels"));
  TL_TRY(tl_report_int(report, "rounds", r->rounds, ""));
  TL_TRY(tl_report_real(report, "energy_start", r->energy[0], ""));
  TL_TRY(tl_report_real(report, "energy_end", r->energy[r->rounds], ""));
  return tl_report_int(report, "moved", r->moved, "voxels");
}

static TlStatus report_split(TlReport *report, const Values *v, const TlBinarizeResult *r) {
  TL_TRY(tl_report_real(report, "threshold", r->split.threshold, "grey"));
  TL_TRY(tl_report_real(report, "below_mean", r->split.mean[v->invert ? 1 : 0], "grey"));
  TL_TRY(tl_report_real(report, "above_mean", r->split.mean[v->invert ? 0 : 1], "grey"));
  TL_TRY(tl_report_real(report, "below_sd", r->split.sd[v->invert ? 1 : 0], "grey"));
  TL_TRY(tl_report_real(report, "above_sd", r->split.sd[v->invert ? 0 : 1], "grey"));
  TL_TRY(tl_report_real(report, "separability", r->split.separability, ""));
  if (r->gaussian_distance > 0)
    TL_TRY(tl_report_real(report, "gaussian_distance", r->gaussian_distance, ""));
  if (r->hmrf.rounds > 0) TL_TRY(report_hmrf(report, &r->hmrf));
  if (v->min_island > 0) {
    TL_TRY(tl_report_int(report, "islands_removed", r->islands_removed, ""));
    TL_TRY(tl_report_int(report, "holes_filled", r->holes_filled, ""));
  }
  TL_TRY(tl_report_int(report, "grain_voxels", r->grain_voxels, ""));
  return tl_report_real(report, "porosity", r->porosity, "");
}

static TlStatus binarize_and_write(const TlCall *call, const TlVolume *grey, const TlRoi *roi,
                                   TlReport *report) {
  const Values *v = call->values;
  double threshold;
  TL_TRY(threshold_of(v, &threshold));
  TlBinarizeOptions options = options_of(v, threshold);
  TlBinarizeResult result;
  TlVolume mask;
  TL_TRY(tl_context(tl_binarize(grey, roi, &options, &mask, &result), "%s", call->argv[0]));
  TlStatus status = report_split(report, v, &result);
  if (status == TL_OK && grey->history && !(mask.history = tl_strdup(grey->history)))
    status = TL_ENOMEM;
  if (status == TL_OK)
    status = tl_stack_write(call->output, &mask, call->provenance, call->overwrite);
  tl_volume_free(&mask);
  TL_TRY(status);
  return tl_report_text(report, "output", call->output);
}

static TlStatus work(const TlCall *call, const TlVolume *stack, const TlRoi *roi,
                     TlReport *report) {
  int64_t voxel = (int64_t)tl_voxel_size(stack->type);
  TL_TRY(imaging_report_input(report, stack, roi));
  if (call->dry_run) /* greys, mask, labels, two fields of means, weights, cores */
    return imaging_report_memory(report, tl_volume_count(stack) * (voxel + 4 + 1 + 1 + 12 + 2));
  TlVolume grey;
  TL_TRY(tl_context(tl_volume_to_f32(stack, &grey), "%s", call->argv[0]));
  TlStatus status = binarize_and_write(call, &grey, roi, report);
  tl_volume_free(&grey);
  return status;
}

static TlStatus run(const TlCall *call) {
  const Values *v = call->values;
  double threshold;
  TL_TRY(threshold_of(v, &threshold)); /* wrong usage shows before the stack is read */
  return imaging_run(call, &v->input, work);
}

static const TlTool tool = {
    .name = "talus-binarize",
    .purpose = "Tell grain from void in a denoised CT stack",
    .arguments = "STACK",
    .description =
        "Writes a mask stack: 1 grain, 0 void or outside the region. The default is a hidden\n"
        "Markov random field fitted by EM (Tan 2022 2.4) that starts from Otsu's threshold and\n"
        "decides at the local half level between grain and void. A stack with one grey\n"
        "population only (all void) is refused.",
    .example = "  talus-binarize denoised.h5 -o mask.h5\n"
               "  talus-binarize scan.tif -o mask.h5 --method=threshold --threshold=118",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .values_size = sizeof(Values),
    .run = run};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
