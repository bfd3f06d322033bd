/* talus-denoise: noise out of a grey stack, edges kept. */
#include "imaging.h"

#include "base/mem.h"
#include "base/par.h"
#include "image/gaussian.h"
#include "image/grey.h"
#include "image/median.h"
#include "image/nlm.h"
#include "image/noise.h"

#include <math.h>

enum { NLM, GAUSSIAN, MEDIAN };

typedef struct Values {
  ImagingInput input;
  int method;
  double sigma_noise, h_factor, sigma_voxels;
  int64_t patch, search, radius;
} Values;

static const TlParam params[] = {
    IMAGING_INPUT_PARAMS(Values),
    IMAGING_PREVIEW_PARAM(Values),
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Filter", NULL},
    {"method", TL_P_CHOICE, offsetof(Values, method), "", "nlm", 0, 0, "nlm|gaussian|median",
     "non-local means, Gaussian or median filter", NULL},
    {"sigma-noise", TL_P_REAL, offsetof(Values, sigma_noise), "grey", "0", 0, 1e9, NULL,
     "nlm: standard deviation of the noise; 0: estimated", NULL},
    {"h-factor", TL_P_REAL, offsetof(Values, h_factor), "", "0", 0, 10, NULL,
     "nlm: filter strength h over the noise's standard deviation; 0: chosen by Stein's risk "
     "estimate",
     NULL},
    {"patch", TL_P_INT, offsetof(Values, patch), "voxels", "5", 1, 15, NULL,
     "nlm: width of the patches compared, odd", NULL},
    {"search", TL_P_INT, offsetof(Values, search), "voxels", "11", 3, 41, NULL,
     "nlm: width of the window searched, odd", NULL},
    {"sigma-voxels", TL_P_REAL, offsetof(Values, sigma_voxels), "voxels", "1", 0.1, 1000, NULL,
     "gaussian: standard deviation of the kernel", NULL},
    {"radius", TL_P_INT, offsetof(Values, radius), "voxels", "1", 1, 10, NULL,
     "median: half width of the cubic window", NULL},
};

static TlStatus check(const Values *v) {
  if (v->patch % 2 == 0) return tl_fail(TL_EUSAGE, "--patch must be odd, not %d", (int)v->patch);
  if (v->search % 2 == 0) return tl_fail(TL_EUSAGE, "--search must be odd, not %d", (int)v->search);
  return TL_OK;
}

static int64_t memory_bytes(const Values *v, const TlVolume *stack, const TlNlmOptions *nlm) {
  int64_t count = tl_volume_count(stack), voxel = (int64_t)tl_voxel_size(stack->type);
  int64_t bytes = count * (2 * voxel + 8);
  if (v->method == NLM) bytes += tl_nlm_scratch_bytes(stack, nlm, tl_par_threads());
  if (v->method == GAUSSIAN) bytes += 4 * count; /* weights of the normalised convolution */
  return bytes;
}

static TlStatus noise_of(const Values *v, const TlVolume *grey, const TlRoi *roi, TlReport *report,
                         double *sigma) {
  TlNoise noise;
  *sigma = v->sigma_noise;
  if (*sigma > 0) return tl_report_real(report, "sigma_noise_given", *sigma, "grey");
  TL_TRY(tl_noise_estimate(grey, roi, &noise));
  *sigma = noise.sigma;
  TL_TRY(tl_report_real(report, "sigma_noise", noise.sigma, "grey"));
  TL_TRY(tl_report_real(report, "sigma_noise_darkest", noise.darkest, "grey"));
  TL_TRY(tl_report_real(report, "sigma_noise_brightest", noise.brightest, "grey"));
  if (*sigma > 0) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "no noise is found in the stack; give --sigma-noise, or leave this stage out");
}

static TlStatus filter(const Values *v, const TlVolume *grey, const TlRoi *roi, TlReport *report,
                       TlVolume *out) {
  TlNlmOptions nlm = {.h_factor = v->h_factor, .patch = (int)v->patch, .search = (int)v->search};
  switch (v->method) {
  case GAUSSIAN:
    TL_TRY(tl_report_real(report, "sigma_kernel", v->sigma_voxels, "voxels"));
    return tl_gaussian(grey, roi, v->sigma_voxels, out);
  case MEDIAN:
    TL_TRY(tl_report_int(report, "radius", v->radius, "voxels"));
    return tl_median(grey, roi, (int)v->radius, out);
  default:
    TL_TRY(noise_of(v, grey, roi, report, &nlm.sigma));
    if (!(nlm.h_factor > 0)) TL_TRY(tl_nlm_choose_strength(grey, roi, &nlm, &nlm.h_factor));
    TL_TRY(tl_report_real(report, "h_factor", nlm.h_factor, ""));
    tl_log_info("noise sigma %.4g grey, h %.4g grey", nlm.sigma, nlm.sigma * nlm.h_factor);
    return tl_nlm(grey, roi, &nlm, out);
  }
}

/* How much was taken away: rms difference inside the region. */
static double removed_rms(const TlVolume *before, const TlVolume *after, const TlRoi *roi) {
  double sum = 0, count = 0;
  for (int64_t i = 0; i < tl_volume_count(before); i++) {
    int64_t x = i % before->nx, y = i / before->nx % before->ny, z = i / before->nx / before->ny;
    if (!tl_roi_inside(roi, x, y, z)) continue;
    double d = (double)before->f32[i] - (double)after->f32[i];
    sum += d * d;
    count++;
  }
  return count > 0 ? sqrt(sum / count) : 0;
}

static TlStatus filter_and_write(const TlCall *call, const TlVolume *grey, TlVoxelType type,
                                 const TlRoi *roi, TlReport *report) {
  TlVolume out, stored;
  double start = tl_clock_s();
  TL_TRY(tl_context(filter(call->values, grey, roi, report, &out), "%s", call->argv[0]));
  double seconds = tl_clock_s() - start;
  TlStatus status = tl_report_real(report, "removed_rms", removed_rms(grey, &out, roi), "grey");
  if (status == TL_OK && grey->history && !(out.history = tl_strdup(grey->history)))
    status = TL_ENOMEM;
  if (status == TL_OK) status = tl_grey_store(&out, type, &stored);
  tl_volume_free(&out);
  if (status != TL_OK) return status;
  status = tl_stack_write(call->output, &stored, call->provenance, call->overwrite);
  tl_volume_free(&stored);
  TL_TRY(status);
  TL_TRY(tl_report_real(report, "seconds", seconds, "s"));
  return tl_report_text(report, "output", call->output);
}

static TlStatus work(const TlCall *call, const TlVolume *stack, const TlRoi *roi,
                     TlReport *report) {
  const Values *v = call->values;
  TlNlmOptions nlm = {.sigma = 1, .h_factor = 1, .patch = (int)v->patch, .search = (int)v->search};
  TL_TRY(imaging_report_input(report, stack, roi));
  if (call->dry_run) return imaging_report_memory(report, memory_bytes(v, stack, &nlm));
  TlVolume grey;
  TL_TRY(tl_context(tl_volume_to_f32(stack, &grey), "%s", call->argv[0]));
  TlStatus status = filter_and_write(call, &grey, stack->type, roi, report);
  tl_volume_free(&grey);
  return status;
}

static TlStatus run(const TlCall *call) {
  const Values *v = call->values;
  TL_TRY(check(v));
  return imaging_run(call, &v->input, work);
}

static const TlTool tool = {
    .name = "talus-denoise",
    .purpose = "Take noise out of a grey CT stack and keep the edges",
    .arguments = "STACK",
    .description =
        "STACK is a multi-page TIFF, a folder or glob of slices, HDF5, MetaImage or NRRD.\n"
        "Non-local means (Tan 2022 2.2.5) averages voxels whose surroundings look alike; its\n"
        "strength follows the noise, which is measured in flat places when not given.\n"
        "8- and 16-bit stacks keep their type, others become float. Voxels outside the region\n"
        "become 0.",
    .example = "  talus-denoise scan.tif -o denoised.h5 --voxel-size-um=12.5",
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
