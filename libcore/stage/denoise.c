/* Noise out of a grey stack, edges kept. */
#include "stage/imaging.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "image/filters.h"
#include "image/nlm.h"
#include "image/noise.h"
#include "image/slabs.h"
#include "stage/input.h"

#include <math.h>
#include <stdio.h>

enum { NLM, GAUSSIAN, MEDIAN, BILATERAL, DIFFUSION };

static const TlParam params[] = {
    TL_INPUT_INPUT_PARAMS(TlDenoiseStage),
    TL_INPUT_PREVIEW_PARAM(TlDenoiseStage),
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Filter", NULL},
    {"method", TL_P_CHOICE, offsetof(TlDenoiseStage, method), "", "nlm", 0, 0,
     "nlm|gaussian|median|bilateral|diffusion",
     "non-local means, Gaussian, median or bilateral filter, anisotropic diffusion", NULL},
    {"sigma-noise", TL_P_REAL, offsetof(TlDenoiseStage, sigma_noise), "grey", "0", 0, 1e9, NULL,
     "standard deviation of the noise; 0: estimated", NULL},
    {"h-factor", TL_P_REAL, offsetof(TlDenoiseStage, h_factor), "", "0", 0, 10, NULL,
     "nlm: filter strength h over the noise's standard deviation; 0: this and --reach chosen by "
     "Stein's risk estimate",
     NULL},
    {"reach", TL_P_REAL, offsetof(TlDenoiseStage, reach), "voxels", "0", 0, 1000, NULL,
     "nlm: with --h-factor, width over which weights fall with the distance, 1 or more; 0: they do "
     "not fall",
     NULL},
    {"patch", TL_P_INT, offsetof(TlDenoiseStage, patch), "voxels", "5", 1, 15, NULL,
     "nlm: width of the patches compared, odd", NULL},
    {"search", TL_P_INT, offsetof(TlDenoiseStage, search), "voxels", "11", 3, 41, NULL,
     "nlm: width of the window searched, odd", NULL},
    {"sigma-voxels", TL_P_REAL, offsetof(TlDenoiseStage, sigma_voxels), "voxels", "1", 0.1, 1000,
     NULL, "gaussian, bilateral: standard deviation of the kernel", NULL},
    {"radius", TL_P_INT, offsetof(TlDenoiseStage, radius), "voxels", "1", 1, 10, NULL,
     "median: half width of the cubic window", NULL},
    {"sigma-grey", TL_P_REAL, offsetof(TlDenoiseStage, sigma_grey), "grey", "0", 0, 1e9, NULL,
     "bilateral: standard deviation over the greys; 0: 3 times the noise's", NULL},
    {"kappa", TL_P_REAL, offsetof(TlDenoiseStage, kappa), "grey/voxel", "0", 0, 1e9, NULL,
     "diffusion: slope over which little flows; 0: the noise's standard deviation", NULL},
    {"rounds", TL_P_INT, offsetof(TlDenoiseStage, rounds), "", "10", 1, 1000, NULL,
     "diffusion: steps", NULL},
    {"step", TL_P_REAL, offsetof(TlDenoiseStage, step), "", "0.125", 0.001, 0.166, NULL,
     "diffusion: length of a step; stable below 1/6", NULL},
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Running", NULL},
    TL_INPUT_MEMORY_PARAM(TlDenoiseStage, "0", TL_INPUT_SLABS_HELP),
};

const TlParamTable tl_denoise_table = TL_PARAM_TABLE(params, TlDenoiseStage);

/* One run, its settings complete. */
typedef struct Job {
  const TlStageCall *call;
  const TlDenoiseStage *values;
  TlLayers stack;
  TlRoi roi;
  TlSlabPlan plan;
  TlNlmOptions nlm;
  double sigma_grey, kappa;
  double removed, voxels; /* sum of the squared change over the region's voxels */
} Job;

static TlStatus check(const TlDenoiseStage *v) {
  if (v->patch % 2 == 0) return tl_fail(TL_EUSAGE, "--patch must be odd, not %d", (int)v->patch);
  if (v->search % 2 == 0) return tl_fail(TL_EUSAGE, "--search must be odd, not %d", (int)v->search);
  if (v->reach > 0 && v->reach < 1) return tl_fail(TL_EUSAGE, "--reach must be 0, or 1 or more");
  return TL_OK;
}

/* ---- filters ---- */

static TlStatus filter(const void *context, const TlVolume *grey, const TlRoi *roi, TlVolume *out) {
  const Job *job = context;
  const TlDenoiseStage *v = job->values;
  switch (v->method) {
  case GAUSSIAN:
    return tl_gaussian(grey, roi, v->sigma_voxels, out);
  case MEDIAN:
    return tl_median(grey, roi, (int)v->radius, out);
  case BILATERAL:
    return tl_bilateral(grey, roi, v->sigma_voxels, job->sigma_grey, out);
  case DIFFUSION:
    return tl_diffusion(grey, roi, job->kappa, v->step, (int)v->rounds, out);
  default:
    return tl_nlm(grey, roi, &job->nlm, out);
  }
}

/* Layers on both sides that a layer's result depends on. */
static int64_t halo_of(const TlDenoiseStage *v) {
  switch (v->method) {
  case GAUSSIAN:
    return (int64_t)ceil(4 * v->sigma_voxels);
  case MEDIAN:
    return v->radius;
  case BILATERAL:
    return tl_bilateral_reach(v->sigma_voxels);
  case DIFFUSION:
    return v->rounds;
  default:
    return v->patch / 2 + v->search / 2;
  }
}

static TlStatus make_plan(Job *job) {
  const TlDenoiseStage *v = job->values;
  const TlVolume *head = &job->stack.head;
  TlNlmOptions nlm = {.sigma = 1, .h_factor = 1, .patch = (int)v->patch, .search = (int)v->search};
  double own = v->method == GAUSSIAN && job->roi.kind != TL_ROI_ALL ? 4 : 0;
  int64_t fixed = 32 * 1000 * 1000; /* the program, its libraries, buffers of files */
  if (v->method == DIFFUSION) own = 4;
  if (v->method == NLM) fixed += tl_nlm_scratch_bytes(head, &nlm, tl_par_threads());
  TL_TRY(tl_context(
      tl_slabs_plan(head, halo_of(v), own, fixed, tl_input_bytes(v->memory_mb), &job->plan),
      "--memory"));
  if (v->memory_mb <= 0 || v->method == GAUSSIAN || v->method == MEDIAN) return TL_OK;
  int64_t band = 20 * head->nx * head->ny * (4 + (int64_t)tl_voxel_size(head->type)) + fixed +
                 tl_noise_sample_bytes();
  if (band > tl_input_bytes(v->memory_mb) && !(v->sigma_noise > 0))
    return tl_fail(TL_EUSAGE,
                   "--memory: to estimate the noise takes %.0f MB; give --sigma-noise, or more",
                   (double)band / TL_INPUT_MB);
  job->plan.bytes = band > job->plan.bytes && !(v->sigma_noise > 0) ? band : job->plan.bytes;
  return TL_OK;
}

/* ---- the noise and what follows from it ---- */

static TlStatus report_noise(TlReport *report, const TlNoise *n) {
  TL_TRY(tl_report_real(report, "sigma_noise", n->sigma, "grey"));
  TL_TRY(tl_report_real(report, "sigma_noise_darkest", n->darkest, "grey"));
  TL_TRY(tl_report_real(report, "sigma_noise_brightest", n->brightest, "grey"));
  char text[120];
  snprintf(text, sizeof text, "%s (neighbours along x, y, z: %.2f, %.2f, %.2f)",
           n->correlated ? "yes" : "no", n->rho[0], n->rho[1], n->rho[2]);
  TL_TRY(tl_report_text(report, "noise_correlated", text));
  if (n->correlated)
    tl_log_warn("the noise is correlated between neighbours (a smoothed or resampled scan?): "
                "filters that compare patches take part of it for structure; sigma %.4g grey "
                "allows for that, neighbours alone would say %.4g",
                n->sigma, n->narrow);
  return TL_OK;
}

static TlStatus report_rings(const Job *job, double sigma, TlReport *report) {
  TlRings rings;
  char text[160];
  TL_TRY(tl_noise_rings(&job->stack, &job->roi, sigma, &rings));
  snprintf(text, sizeof text, "%s (score %.1f, said above %.0f)", rings.found ? "yes" : "no",
           rings.score, TL_RINGS_SCORE);
  TL_TRY(tl_report_text(report, "rings", text));
  if (!rings.found) return TL_OK;
  tl_log_warn("ring artefacts about the axis x %.1f y %.1f, rms %.3g grey: they are the same in "
              "every layer, no filter here takes them out; correct the scan's flat field",
              rings.x, rings.y, rings.amplitude);
  return tl_report_real(report, "rings_rms", rings.amplitude, "grey");
}

static TlStatus noise_of(const Job *job, TlReport *report, double *sigma) {
  TlNoise noise;
  *sigma = job->values->sigma_noise;
  if (*sigma > 0) {
    TL_TRY(tl_report_real(report, "sigma_noise_given", *sigma, "grey"));
  } else {
    TL_TRY(tl_noise_estimate_layers(&job->stack, &job->roi, &noise));
    *sigma = noise.sigma;
    TL_TRY(report_noise(report, &noise));
    if (!(*sigma > 0))
      return tl_fail(TL_EINPUT, "no noise is found in the stack; give --sigma-noise, or leave this "
                                "stage out");
  }
  return report_rings(job, *sigma, report);
}

static TlStatus settle(Job *job, TlReport *report) {
  const TlDenoiseStage *v = job->values;
  double sigma;
  if (v->method == GAUSSIAN)
    return tl_report_real(report, "sigma_kernel", v->sigma_voxels, "voxels");
  if (v->method == MEDIAN) return tl_report_int(report, "radius", v->radius, "voxels");
  TL_TRY(noise_of(job, report, &sigma));
  if (v->method == BILATERAL) {
    job->sigma_grey = v->sigma_grey > 0 ? v->sigma_grey : 3 * sigma;
    return tl_report_real(report, "sigma_grey", job->sigma_grey, "grey");
  }
  if (v->method == DIFFUSION) {
    job->kappa = v->kappa > 0 ? v->kappa : sigma;
    return tl_report_real(report, "kappa", job->kappa, "grey/voxel");
  }
  job->nlm = (TlNlmOptions){.sigma = sigma,
                            .h_factor = v->h_factor,
                            .reach = v->reach,
                            .patch = (int)v->patch,
                            .search = (int)v->search,
                            .quiet = job->plan.slabs > 1};
  if (!(v->h_factor > 0)) TL_TRY(tl_nlm_choose_strength_layers(&job->stack, &job->roi, &job->nlm));
  TL_TRY(tl_report_real(report, "h_factor", job->nlm.h_factor, ""));
  TL_TRY(tl_report_real(report, "reach", job->nlm.reach, "voxels"));
  tl_log_info("noise sigma %.4g grey, h %.4g grey", sigma, sigma * job->nlm.h_factor);
  return TL_OK;
}

/* ---- plan ---- */

/* Seconds that the filter takes for the plan's voxels, from a cube of noise filtered now. */
static TlStatus guess_seconds(Job *job, double *seconds) {
  TlVolume cube, out;
  TlRoi whole = {.kind = TL_ROI_ALL};
  TL_TRY(tl_volume_new(&cube, TL_F32, 64, 48, 48));
  for (int64_t i = 0; i < tl_volume_count(&cube); i++)
    cube.f32[i] = (float)tl_random_normal(1, 1, (uint64_t)i);
  job->nlm = (TlNlmOptions){.sigma = 1,
                            .h_factor = 0.5,
                            .patch = (int)job->values->patch,
                            .search = (int)job->values->search,
                            .quiet = true};
  job->sigma_grey = 3;
  job->kappa = 1;
  double start = tl_clock_s();
  TlStatus status = filter(job, &cube, &whole, &out);
  double voxels =
      (double)job->plan.filtered * (double)job->stack.head.nx * (double)job->stack.head.ny;
  *seconds = (tl_clock_s() - start) * voxels / (double)tl_volume_count(&cube);
  tl_volume_free(&cube);
  if (status == TL_OK) tl_volume_free(&out);
  return status;
}

static TlStatus report_plan(Job *job, TlReport *report) {
  const TlSlabPlan *p = &job->plan;
  double seconds;
  TL_TRY(tl_report_int(report, "slabs", p->slabs, ""));
  TL_TRY(tl_report_int(report, "layers_each", p->layers, ""));
  TL_TRY(tl_report_int(report, "halo", p->halo, "layers"));
  TL_TRY(tl_input_report_bytes(report, "memory", p->bytes));
  if (!job->call->dry_run) return TL_OK;
  TL_TRY(guess_seconds(job, &seconds));
  TL_TRY(tl_report_real(report, "time_about", seconds, "s"));
  return job->call->output ? tl_report_text(report, "output", job->call->output) : TL_OK;
}

/* ---- run ---- */

/* How much is taken away inside the region. */
static void see(void *context, int64_t z, const float *before, const float *after) {
  Job *job = context;
  const TlVolume *head = &job->stack.head;
  double sum = 0, count = 0;
  for (int64_t i = 0; i < head->nx * head->ny; i++) {
    if (!tl_roi_inside(&job->roi, i % head->nx, i / head->nx, z)) continue;
    double d = (double)before[i] - (double)after[i];
    sum += d * d;
    count++;
  }
  job->removed += sum;
  job->voxels += count;
}

static TlStatus run_slabs(Job *job) {
  const TlStageCall *call = job->call;
  TlVolume head = job->stack.head;
  TlLayerSink sink = {0};
  TlSlabRun run = {filter, job, head.type, see, job};
  bool small =
      head.type == TL_U8 || head.type == TL_I8 || head.type == TL_U16 || head.type == TL_I16;
  if (!small) head.type = run.type = TL_F32;
  tl_input_keep_region(&head, &job->roi);
  TL_TRY(tl_stack_begin(call->output, &head, call->provenance, call->overwrite, &sink));
  return tl_sink_end(&sink, tl_slabs_run(&job->plan, &run, &job->stack, &job->roi, &sink));
}

static TlStatus filter_and_write(Job *job, TlReport *report) {
  TL_TRY(tl_context(settle(job, report), "%s", job->call->input[0]));
  double start = tl_clock_s();
  TL_TRY(tl_context(run_slabs(job), "%s", job->call->input[0]));
  double seconds = tl_clock_s() - start;
  double rms = job->voxels > 0 ? sqrt(job->removed / job->voxels) : 0;
  TL_TRY(tl_report_real(report, "removed_rms", rms, "grey"));
  TL_TRY(tl_report_real(report, "seconds", seconds, "s"));
  TL_TRY(tl_input_report_bytes(report, "peak_memory", tl_mem_peak_bytes()));
  TL_TRY(tl_report_text(report, "output", job->call->output));
  return tl_input_preview(job->call, &job->values->input, &job->stack);
}

static TlStatus work(Job *job, TlReport *report) {
  TL_TRY(tl_input_report(report, &job->stack.head, &job->roi));
  TL_TRY(make_plan(job));
  TL_TRY(report_plan(job, report));
  return job->call->dry_run ? TL_OK : filter_and_write(job, report);
}

TlStatus tl_stage_denoise(const TlStageCall *call, const TlDenoiseStage *options) {
  Job job = {.call = call, .values = options};
  TL_TRY(check(options));
  TL_TRY(tl_input_open(call, &options->input, &job.stack, &job.roi));
  TlStatus status = work(&job, call->report);
  tl_layers_close(&job.stack);
  tl_roi_free(&job.roi);
  return status;
}
