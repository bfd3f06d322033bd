/* talus-label: one label a grain. */
#include "imaging.h"

#include "base/mem.h"
#include "image/label.h"

#include <math.h>

typedef struct Values {
  ImagingInput input;
  double sigma, h_voxels, h_relative, neck;
  int64_t min_voxels;
} Values;

static const TlParam params[] = {
    IMAGING_INPUT_PARAMS(Values),
    IMAGING_PREVIEW_PARAM(Values),
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Splitting", NULL},
    {"sigma-voxels", TL_P_REAL, offsetof(Values, sigma), "voxels", "0.7", 0, 20, NULL,
     "smoothing of the distance map", NULL},
    {"h-voxels", TL_P_REAL, offsetof(Values, h_voxels), "voxels", "0.15", 0.001, 100, NULL,
     "a peak of the distance map must rise by this much to be a grain of its own", NULL},
    {"h-relative", TL_P_REAL, offsetof(Values, h_relative), "", "0.04", 0, 1, NULL,
     "... and by this part of the distance itself", NULL},
    {"neck", TL_P_REAL, offsetof(Values, neck), "", "0.65", 0, 10, NULL,
     "neighbours that meet over more than this part of a cross-section (plus half of how clearly "
     "the peak rises) are one grain; 0: the rise alone decides",
     NULL},
    {"min-voxels", TL_P_INT, offsetof(Values, min_voxels), "voxels", "100", 1, 1e9, NULL,
     "smaller grains are dropped, counted and said", NULL},
};

static TlStatus report_labels(TlReport *report, const TlVolume *labels, const TlLabelResult *r) {
  TL_TRY(tl_report_int(report, "grains", r->grains, ""));
  TL_TRY(tl_report_int(report, "border_grains", r->border, ""));
  TL_TRY(tl_report_int(report, "dropped_grains", r->dropped, ""));
  TL_TRY(tl_report_int(report, "dropped_voxels", r->dropped_voxels, ""));
  if (r->unreached > 0) TL_TRY(tl_report_int(report, "unreached_voxels", r->unreached, ""));
  TL_TRY(tl_report_int(report, "grain_voxels", r->grain_voxels, ""));
  TL_TRY(tl_report_real(report, "median_diameter", r->median_diameter, "voxels"));
  double voxel_m3 = labels->voxel_m[0] * labels->voxel_m[1] * labels->voxel_m[2];
  if (!(voxel_m3 > 0)) return TL_OK;
  return tl_report_real(report, "median_diameter", 1e6 * cbrt(voxel_m3) * r->median_diameter, "um");
}

static TlStatus label_and_write(const TlCall *call, const TlVolume *mask, const TlRoi *roi,
                                TlReport *report) {
  const Values *v = call->values;
  TlLabelOptions options = {v->sigma, v->h_voxels, v->h_relative, v->neck, v->min_voxels};
  TlLabelResult result;
  TlVolume labels;
  TL_TRY(tl_context(tl_label(mask, roi, &options, &labels, &result), "%s", call->argv[0]));
  if (result.dropped > 0)
    tl_log_info("%u grains under %lld voxels dropped (%lld voxels in all)", result.dropped,
                (long long)v->min_voxels, (long long)result.dropped_voxels);
  TlStatus status = report_labels(report, &labels, &result);
  if (status == TL_OK && mask->history && !(labels.history = tl_strdup(mask->history)))
    status = TL_ENOMEM;
  if (status == TL_OK)
    status = tl_stack_write(call->output, &labels, call->provenance, call->overwrite);
  tl_volume_free(&labels);
  TL_TRY(status);
  return tl_report_text(report, "output", call->output);
}

static TlStatus work(const TlCall *call, const TlVolume *mask, const TlRoi *roi, TlReport *report) {
  TL_TRY(imaging_report_input(report, mask, roi));
  if (call->dry_run) /* mask twice, field, markers, labels, and as much again inside the flooding */
    return imaging_report_memory(report, tl_volume_count(mask) *
                                             ((int64_t)tl_voxel_size(mask->type) + 1 + 12 + 24));
  return label_and_write(call, mask, roi, report);
}

static TlStatus run(const TlCall *call) {
  const Values *v = call->values;
  return imaging_run(call, &v->input, work);
}

static const TlTool tool = {
    .name = "talus-label",
    .purpose = "Give each grain of a mask stack a label of its own",
    .arguments = "MASK",
    .description =
        "MASK is a stack whose voxels above 0 are grain (talus-binarize writes one). Touching\n"
        "grains are split where the distance to the void has a neck: distance map, markers,\n"
        "watershed. Labels are uint32, 0 is void, numbered by first voxel in z, y, x order.\n"
        "Grains that touch the stack's or the region's border are cut and counted apart.",
    .example = "  talus-label mask.h5 -o labels.h5 --min-voxels=200",
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
