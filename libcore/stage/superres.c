/* Finer voxels for a coarse stack, learnt from a fine one. */
#include "stage/imaging.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/superres.h"
#include "image/superres_base.h"
#include "io/h5_dictionary.h"
#include "stage/input.h"

#include <stdio.h>

/* ---- train ---- */

static const TlParam train_params[] = {
    TL_INPUT_INPUT_PARAMS(TlTrainStage),
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Dictionary", NULL},
    {"factor", TL_P_INT, offsetof(TlTrainStage, factor), "voxels", "2", 2, 4, NULL,
     "fine voxels along the edge of a coarse one", NULL},
    {"noise", TL_P_REAL, offsetof(TlTrainStage, noise_grey), "grey", "0", 0, 1e9, NULL,
     "for stacks that were denoised: standard deviation of the noise they had; the coarse copy "
     "gets "
     "as much and loses it by non-local means before pairs are cut",
     "SD"},
    {"atoms", TL_P_INT, offsetof(TlTrainStage, atoms), "", "512", 16, 4096, NULL,
     "atoms of the dictionaries, a multiple of 16", NULL},
    {"pairs", TL_P_INT, offsetof(TlTrainStage, pairs), "", "10000", 100, 1000000, NULL,
     "pairs of patches that the joint dictionary is learnt from; coupling takes 6 times as many",
     NULL},
    {"codes", TL_P_INT, offsetof(TlTrainStage, codes), "", "3", 1, 8, NULL,
     "atoms a patch is coded with, at most", NULL},
    {"rounds", TL_P_INT, offsetof(TlTrainStage, rounds), "", "10", 1, 1000, NULL,
     "alternations of codes and dictionary", NULL},
    {"tolerance", TL_P_REAL, offsetof(TlTrainStage, tolerance), "", "0.1", 0, 10, NULL,
     "residual at which coding stops, over the rms of the pairs' features", NULL},
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Running", NULL},
    TL_INPUT_MEMORY_PARAM(TlTrainStage, "2000",
                          "of a larger stack the middle layers that fit into this are trained on; "
                          "0: all"),
};

const TlParamTable tl_train_table = TL_PARAM_TABLE(train_params, TlTrainStage);

typedef struct TrainJob {
  const TlStageCall *call;
  const TlTrainStage *values;
  TlLayers stack;
  TlRoi roi;
  int64_t first, layers; /* trained on */
} TrainJob;

/* Stack as read and as float, its whole cubes, interpolation with its passes: bytes a voxel. */
static double bytes_a_voxel(const TrainJob *job) {
  return (double)tl_voxel_size(job->stack.head.type) + 4 + 4 + 4 + 4;
}

static double fixed_bytes(const TlTrainStage *v) {
  double pairs = (double)(v->pairs * TL_TRAINING_MORE) * (81 + 25 + 32 + 200) * 4;
  return 32e6 + pairs + 7 * 8 * (double)(v->atoms * v->atoms);
}

static TlStatus choose_layers(TrainJob *job) {
  const TlVolume *head = &job->stack.head;
  double layer = (double)head->nx * (double)head->ny * bytes_a_voxel(job);
  double available = job->values->memory_mb * TL_INPUT_MB - fixed_bytes(job->values);
  job->layers = head->nz;
  if (job->values->memory_mb > 0 && layer * (double)head->nz > available)
    job->layers = available > 0 ? (int64_t)(available / layer) : 0;
  if (job->layers < 24 && job->layers < head->nz)
    return tl_fail(TL_EUSAGE,
                   "--memory: %.0f MB hold %lld layers; 24 are the least to train on and take %.0f",
                   job->values->memory_mb, (long long)job->layers,
                   (24 * layer + fixed_bytes(job->values)) / TL_INPUT_MB + 1);
  job->first = (head->nz - job->layers) / 2;
  job->roi.first_z += job->first;
  return TL_OK;
}

static TlStatus report_trained(TlReport *report, const TlTrained *t, const TlDictionary *d) {
  TL_TRY(tl_report_int(report, "pairs", t->pairs, ""));
  TL_TRY(tl_report_int(report, "pairs_of_coupling", t->coupling_pairs, ""));
  TL_TRY(tl_report_int(report, "atoms", d->atoms, ""));
  TL_TRY(tl_report_int(report, "atoms_renewed", t->renewed, ""));
  TL_TRY(tl_report_int(report, "features_kept", t->dims, ""));
  TL_TRY(tl_report_real(report, "residual_first", t->first, ""));
  TL_TRY(tl_report_real(report, "residual_last", t->last, ""));
  TL_TRY(tl_report_real(report, "tolerance", d->tolerance, "grey"));
  TL_TRY(tl_report_real(report, "missed_by_interpolation", t->fresh_missed, "grey"));
  TL_TRY(tl_report_real(report, "missed_after", t->fresh_left, "grey"));
  if (t->fresh_left > t->fresh_missed)
    tl_log_warn("on pairs that were not trained on the dictionary predicts nothing: more --pairs, "
                "or a stack with less noise");
  return TL_OK;
}

static TlStatus train_and_write(TrainJob *job, TlReport *report) {
  const TlTrainStage *v = job->values;
  const TlStageCall *call = job->call;
  TlTraining t = {.factor = (int)v->factor,
                  .atoms = v->atoms,
                  .pairs = v->pairs,
                  .codes = (int)v->codes,
                  .rounds = (int)v->rounds,
                  .noise_grey = v->noise_grey,
                  .tolerance = v->tolerance,
                  .seed = call->seed};
  TlVolume fine;
  TlDictionary d;
  TlTrained result;
  double start = tl_clock_s();
  TL_TRY(tl_layers_grey(&job->stack, job->first, job->layers, &fine));
  for (int k = 0; k < 3; k++) fine.voxel_m[k] = job->stack.head.voxel_m[k];
  TlStatus status = tl_superres_train(&fine, &job->roi, &t, &d, &result);
  tl_volume_free(&fine);
  TL_TRY(tl_context(status, "%s", call->input[0]));
  if (job->stack.head.history) {
    d.history = tl_strdup(job->stack.head.history);
    if (!d.history) status = TL_ENOMEM; /* tl_strdup said so */
  }
  if (status == TL_OK)
    status = tl_dictionary_write(call->output, &d, call->provenance, call->overwrite);
  if (status == TL_OK) status = report_trained(report, &result, &d);
  tl_dictionary_free(&d);
  TL_TRY(status);
  TL_TRY(tl_report_real(report, "seconds", tl_clock_s() - start, "s"));
  TL_TRY(tl_input_report_bytes(report, "peak_memory", tl_mem_peak_bytes()));
  return tl_report_text(report, "output", call->output);
}

static TlStatus train_work(TrainJob *job, TlReport *report) {
  TL_TRY(tl_input_report(report, &job->stack.head, &job->roi));
  TL_TRY(choose_layers(job));
  TL_TRY(tl_report_int(report, "layers_trained_on", job->layers, ""));
  TL_TRY(tl_report_int(report, "first_layer", job->first, ""));
  double layer = (double)job->stack.head.nx * (double)job->stack.head.ny * bytes_a_voxel(job);
  double bytes = layer * (double)job->layers + fixed_bytes(job->values);
  TL_TRY(tl_input_report_bytes(report, "memory", (int64_t)bytes));
  if (!job->call->dry_run) return train_and_write(job, report);
  return tl_report_text(report, "output", job->call->output);
}

TlStatus tl_stage_superres_train(const TlStageCall *call, const TlTrainStage *options) {
  TrainJob job = {.call = call, .values = options};
  if (options->atoms % 16)
    return tl_fail(TL_EUSAGE, "--atoms must be a multiple of 16, not %lld",
                   (long long)options->atoms);
  TL_TRY(tl_input_open(call, &options->input, &job.stack, &job.roi));
  TlStatus status = train_work(&job, call->report);
  tl_layers_close(&job.stack);
  tl_roi_free(&job.roi);
  return status;
}

/* ---- apply ---- */

enum { DENOISE_AUTO, DENOISE_YES, DENOISE_NO };

static const TlParam apply_params[] = {
    TL_INPUT_INPUT_PARAMS(TlApplyStage),
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Refining", NULL},
    {"dictionary", TL_P_TEXT, offsetof(TlApplyStage, dictionary), "", "", 0, 0, NULL,
     "what 'talus-superres train' made", "FILE.h5"},
    {"sigma-noise", TL_P_REAL, offsetof(TlApplyStage, sigma_noise), "grey", "-1", -1, 1e9, NULL,
     "standard deviation of the noise; -1: estimated", NULL},
    {"denoise", TL_P_CHOICE, offsetof(TlApplyStage, denoise), "", "auto", 0, 0, "auto|yes|no",
     "non-local means before refining; auto: when the noise's part in a feature is above a "
     "fifth of the dictionary's tolerance",
     NULL},
    {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Running", NULL},
    TL_INPUT_MEMORY_PARAM(TlApplyStage, "0", TL_INPUT_SLABS_HELP),
    TL_INPUT_PREVIEW_PARAM(TlApplyStage),
};

const TlParamTable tl_apply_table = TL_PARAM_TABLE(apply_params, TlApplyStage);

typedef struct ApplyJob {
  const TlStageCall *call;
  const TlApplyStage *values;
  TlLayers stack;
  TlRoi roi;
  TlDictionary dictionary;
  TlSuperresPlan plan;
  TlSuperresOptions options;
  bool denoise; /* may be: the plan leaves room for it */
} ApplyJob;

/* The noise, what is done about it, and that it is said. */
static TlStatus settle_noise(ApplyJob *job, TlReport *report) {
  const TlApplyStage *v = job->values;
  TlSuperresOptions *o = &job->options;
  double sigma = v->sigma_noise;
  if (sigma < 0) TL_TRY(tl_superres_noise(&job->stack, &job->roi, &sigma));
  TL_TRY(tl_report_real(report, v->sigma_noise < 0 ? "sigma_noise" : "sigma_noise_given", sigma,
                        "grey"));
  bool denoise = job->denoise && sigma > 0;
  if (v->denoise == DENOISE_AUTO) denoise = tl_superres_noisy(&job->dictionary, sigma);
  TL_TRY(tl_superres_settle(&job->stack, &job->roi, sigma, denoise, o));
  TL_TRY(tl_report_text(report, "denoised", denoise ? "yes, by non-local means" : "no"));
  if (!denoise) return TL_OK;
  TL_TRY(tl_report_real(report, "strength", o->nlm.h_factor, "sigma_noise"));
  return tl_report_real(report, "reach", o->nlm.reach, "voxels");
}

static TlStatus report_result(TlReport *report, const TlSuperresResult *t) {
  TL_TRY(tl_report_real(report, "mean_coarse", t->coarse_mean, "grey"));
  TL_TRY(tl_report_real(report, "mean", t->mean, "grey"));
  TL_TRY(tl_report_real(report, "min_coarse", t->coarse_min, "grey"));
  TL_TRY(tl_report_real(report, "min", t->min, "grey"));
  TL_TRY(tl_report_real(report, "max_coarse", t->coarse_max, "grey"));
  TL_TRY(tl_report_real(report, "max", t->max, "grey"));
  TL_TRY(tl_report_real(report, "patches_coded", 100 * t->coded, "%"));
  return tl_report_real(report, "change_rms", t->change_rms, "grey");
}

static TlStatus refine(ApplyJob *job, TlSuperresResult *result) {
  const TlStageCall *call = job->call;
  TlVolume head = tl_upsample_head(&job->stack.head, job->dictionary.factor);
  TlLayerSink sink = {0};
  char *history = NULL;
  if (head.type != TL_U8 && head.type != TL_I8 && head.type != TL_U16 && head.type != TL_I16)
    head.type = TL_F32;
  TL_TRY(tl_provenance_join(job->stack.head.history, job->dictionary.history, &history));
  head.history = history;
  TlStatus status = tl_stack_begin(call->output, &head, call->provenance, call->overwrite, &sink);
  if (status == TL_OK)
    status = tl_sink_end(&sink, tl_superres_run(&job->dictionary, &job->options, &job->plan,
                                                &job->stack, &job->roi, head.type, &sink, result));
  tl_free(history);
  return status;
}

/* The interpolated stack is what changed: the coarse one has other voxels. */
static TlStatus draw_preview(const ApplyJob *job) {
  TlUpsampler up;
  TlLayers before;
  tl_upsampler(job->dictionary.factor, &up);
  TL_TRY(tl_upsample_layers(&up, &job->stack, job->plan.layers, &before));
  TlStatus status = tl_input_preview(job->call, &job->values->input, &before);
  tl_layers_close(&before);
  return status;
}

static TlStatus report_plan(const ApplyJob *job, TlReport *report) {
  int64_t f = job->dictionary.factor;
  char text[100];
  snprintf(text, sizeof text, "%lld x %lld x %lld", (long long)(f * job->stack.head.nx),
           (long long)(f * job->stack.head.ny), (long long)(f * job->stack.head.nz));
  TL_TRY(tl_report_text(report, "refined_to", text));
  TL_TRY(tl_report_int(report, "atoms", job->dictionary.atoms, ""));
  TL_TRY(tl_report_int(report, "slabs", job->plan.slabs, ""));
  TL_TRY(tl_report_int(report, "layers_each", job->plan.layers, ""));
  TL_TRY(tl_report_int(report, "halo", job->plan.halo, "layers"));
  return tl_input_report_bytes(report, "memory", job->plan.bytes);
}

static TlStatus refine_and_report(ApplyJob *job, TlReport *report) {
  TlSuperresResult result;
  TL_TRY(tl_context(settle_noise(job, report), "%s", job->call->input[0]));
  double start = tl_clock_s();
  TL_TRY(tl_context(refine(job, &result), "%s", job->call->input[0]));
  double seconds = tl_clock_s() - start;
  TL_TRY(report_result(report, &result));
  TL_TRY(tl_report_real(report, "seconds", seconds, "s"));
  TL_TRY(tl_input_report_bytes(report, "peak_memory", tl_mem_peak_bytes()));
  TL_TRY(tl_report_text(report, "output", job->call->output));
  const char *preview = job->values->input.preview;
  return preview && preview[0] ? draw_preview(job) : TL_OK;
}

static TlStatus apply_work(ApplyJob *job, TlReport *report) {
  TL_TRY(
      tl_context(tl_superres_fits(&job->stack.head, &job->dictionary), "%s", job->call->input[0]));
  TL_TRY(tl_input_report(report, &job->stack.head, &job->roi));
  job->denoise = job->values->denoise != DENOISE_NO && job->values->sigma_noise != 0;
  TL_TRY(tl_context(tl_superres_plan(&job->stack.head, &job->dictionary, job->denoise,
                                     tl_input_bytes(job->values->memory_mb), &job->plan),
                    "--memory"));
  TL_TRY(report_plan(job, report));
  if (!job->call->dry_run) return refine_and_report(job, report);
  return tl_report_text(report, "output", job->call->output);
}

TlStatus tl_stage_superres_apply(const TlStageCall *call, const TlApplyStage *options) {
  ApplyJob job = {.call = call, .values = options};
  if (!options->dictionary || !options->dictionary[0])
    return tl_fail(TL_EUSAGE, "give --dictionary=FILE.h5, made by 'talus-superres train'");
  if (options->sigma_noise < 0 && options->sigma_noise != -1)
    return tl_fail(TL_EUSAGE, "--sigma-noise must be 0 or more, or -1");
  TL_TRY(tl_input_open(call, &options->input, &job.stack, &job.roi));
  TlStatus status = tl_dictionary_read(options->dictionary, call->provenance, &job.dictionary);
  if (status == TL_OK && job.stack.head.type == TL_U32)
    status = tl_fail(TL_EINPUT, "%s: u32 voxels are labels, no greys", call->input[0]);
  if (status == TL_OK) status = apply_work(&job, call->report);
  tl_dictionary_free(&job.dictionary);
  tl_layers_close(&job.stack);
  tl_roi_free(&job.roi);
  return status;
}
