/* HMRF-EM: Mvoxel/s of one core and memory. No peer has a figure of its own in the issue
 * (scikit-image and dipy are not installed everywhere), so rates are those of the reference machine
 * (judge/calibrate.h) and the goals our own, set before the scan's blur was part of the model.
 *
 * A phantom of 96^3, noise 20, as made and smoothed by one voxel; CPU time. Memory: balls worked
 * out slice by slice, 160 and 320 layers of them. */
#include "judge/calibrate.h"
#include "judge/judge.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "image/binarize.h"
#include "image/filters.h"
#include "phantom/phantom.h"

enum { SIDE = 96, TURNS = 3, WIDE = 160, LAYERS = 160 };

static const TlRoi whole = {.kind = TL_ROI_ALL};
static const TlBinarizeOptions usual = {
    .method = TL_BINARIZE_HMRF_EM, .hmrf = TL_HMRF_DEFAULTS, .slab = TL_SLAB_STEP};

/* Mvoxel/s of CPU time on the reference machine, the fastest of a few turns. */
static double rate(const TlVolume *grey, TlBinarizeResult *r) {
  double best = 1e300;
  TlBinarizeOptions o = usual;
  o.slab = 0;
  for (int k = 0; k < TURNS; k++) {
    TlVolume mask;
    double start = judge_cpu_s();
    JUDGE_OK(tl_binarize(grey, &whole, &o, &mask, r));
    double took = judge_cpu_s() - start;
    best = took < best ? took : best;
    tl_volume_free(&mask);
  }
  return 1e-6 * (double)tl_volume_count(grey) / best * judge_machine_factor();
}

/* Balls of radius 6 on a grid of 16, little noise: no stack in memory. */
static TlStatus balls(const void *context, int64_t z, int64_t n, float *grey) {
  (void)context;
  for (int64_t i = 0; i < n * WIDE * WIDE; i++) {
    int64_t at[3] = {i % WIDE, i / WIDE % WIDE, z + i / WIDE / WIDE}, square = 0;
    for (int a = 0; a < 3; a++) square += (at[a] % 16 - 8) * (at[a] % 16 - 8);
    uint64_t voxel = (uint64_t)(z * WIDE * WIDE + i);
    grey[i] = (float)((square < 36 ? 160 : 90) + 1.5 * tl_random_normal(7, 1, voxel));
  }
  return TL_OK;
}

/* The program's peak after a run over so many layers, bytes. */
static double peak_of(int64_t layers) {
  TlSource source = {.nx = WIDE, .ny = WIDE, .nz = layers, .read = balls};
  TlBinarizeResult r;
  TlVolume mask;
  JUDGE_OK(tl_binarize_source(&source, &whole, &usual, &mask, &r));
  tl_volume_free(&mask);
  return (double)tl_mem_peak_bytes();
}

/* First of all: the peak is the whole program's. */
static void memory(void) {
  double plane = WIDE * WIDE, voxels = LAYERS * plane, before = (double)tl_mem_peak_bytes();
  double once = peak_of(LAYERS), twice = peak_of(2 * LAYERS);
  double told = (double)tl_binarize_bytes(WIDE, WIDE, LAYERS, &usual, TL_HMRF_QUIET_SWEEPS);
  judge_at_most(JUDGE_GOAL, "binarize_memory_a_layer", (twice - once) / voxels, "byte/voxel", 1.1);
  judge_at_most(JUDGE_GOAL, "binarize_memory_over_plan", (once - before) / told, "1", 1.1);
  judge_note("Memory: %d and %d layers of %d x %d in slabs of %d; %.1f MB and %.1f MB at the peak, "
             "%.1f MB of them before the stage. The mask takes 1 byte a voxel, all else is a "
             "slab's. The plan is what `--dry-run` says.",
             (int)LAYERS, 2 * LAYERS, (int)WIDE, (int)WIDE, (int)TL_SLAB_STEP, 1e-6 * once,
             1e-6 * twice, 1e-6 * before);
}

int main(int argc, char **argv) {
  TlPhantomOptions o = tl_phantom_defaults();
  TlPhantom phantom;
  TlVolume grey, quiet;
  TlBinarizeResult r;
  judge_open("binarize", argc, argv);
  tl_log_set("binarize", TL_LOG_ERROR);
  tl_progress_mode(TL_PROGRESS_OFF);
  tl_par_set_threads(1);
  memory();
  o.nx = o.ny = o.nz = SIDE;
  o.noise_sd = 20;
  JUDGE_OK(tl_phantom_make(&o, &phantom));
  JUDGE_OK(tl_volume_to_f32(&phantom.stack, &grey));
  tl_phantom_free(&phantom);
  JUDGE_OK(tl_gaussian(&grey, &whole, 1, &quiet));
  judge_at_least(JUDGE_GOAL, "binarize_rate_smoothed", rate(&quiet, &r), "Mvoxel/s", 0.5);
  judge_note("Smoothed: %d rounds of %d sweeps.", r.hmrf.rounds, r.hmrf.sweeps);
  judge_at_least(JUDGE_GOAL, "binarize_rate_noisy", rate(&grey, &r), "Mvoxel/s", 0.3);
  judge_note("Noisy: %d rounds of %d sweeps. One core; Otsu's start and the check for two phases "
             "are part of it. Rates are multiplied by the calibration loop's factor; the goals are "
             "our own.",
             r.hmrf.rounds, r.hmrf.sweeps);
  tl_volume_free(&grey);
  tl_volume_free(&quiet);
  return judge_close();
}
