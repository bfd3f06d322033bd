/* Speed of the filters of talus-denoise on one thread, beside the peers' recorded figures. */
#include "judge/calibrate.h"
#include "judge/judge.h"
#include "oracle/itk_oracles.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "image/filters.h"
#include "image/nlm.h"
#include "image/noise.h"

#include <math.h>
#include <string.h>

enum { EDGE = 128, RUNS = 3 };

/* Balls of grey 160 on 90, noise of sd 10: what is in it changes the time of no filter but the
 * median's. */
static void make_stack(TlVolume *v) {
  JUDGE_OK(tl_volume_new(v, TL_F32, EDGE, EDGE, EDGE));
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    double x = fmod((double)(i % EDGE), 28) - 14, y = fmod((double)(i / EDGE % EDGE), 28) - 14;
    double z = fmod((double)(i / EDGE / EDGE), 28) - 14;
    double grey = x * x + y * y + z * z < 140 ? 160 : 90;
    v->f32[i] = (float)(grey + 10 * tl_random_normal(1, 1, (uint64_t)i));
  }
}

typedef TlStatus (*Filter)(const TlVolume *v, TlVolume *out);

static const TlRoi whole = {.kind = TL_ROI_ALL};

static TlStatus nlm(const TlVolume *v, TlVolume *out) {
  TlNlmOptions o = {
      .sigma = 10, .h_factor = 0.6, .reach = 3, .patch = 5, .search = 11, .quiet = true};
  return tl_nlm(v, &whole, &o, out);
}
static TlStatus gaussian(const TlVolume *v, TlVolume *out) {
  return tl_gaussian(v, &whole, 1, out);
}
static TlStatus itk_gaussian(const TlVolume *v, TlVolume *out) {
  return tl_itk_gaussian(v, 1, out);
}
static TlStatus median(const TlVolume *v, TlVolume *out) {
  return tl_median(v, &whole, 1, out);
}
static TlStatus itk_median(const TlVolume *v, TlVolume *out) {
  return tl_itk_median(v, 1, out);
}

/* CPU seconds of the process, the least of the runs. */
static double cpu_of(Filter filter, const TlVolume *v, int runs) {
  double best = INFINITY;
  for (int k = 0; k < runs; k++) {
    TlVolume out;
    double start = judge_cpu_s();
    JUDGE_OK(filter(v, &out));
    best = fmin(best, judge_cpu_s() - start);
    tl_volume_free(&out);
  }
  return best;
}

int main(int argc, char **argv) {
  TlVolume v;
  judge_open("denoise", argc, argv);
  tl_par_set_threads(1);
  make_stack(&v);
  double voxels = 1e-6 * (double)tl_volume_count(&v), factor = judge_machine_factor();
  double rate = voxels / cpu_of(nlm, &v, RUNS);
  TlNlmOptions o = {.sigma = 10, .h_factor = 0.6, .patch = 5, .search = 11};
  judge_at_least(JUDGE_GOAL, "denoise_nlm_rate", rate * factor, "Mvoxel/s", 2.5);
  judge_at_most(JUDGE_GOAL, "denoise_nlm_memory", 1e-6 * (double)tl_nlm_scratch_bytes(&v, &o, 1),
                "MB", 20);
  judge_note("Non-local means in 3-D, patch 5, search 11, 128^3 voxels, one thread: %.2f Mvoxel a "
             "CPU second here, where the calibration loop takes %.2f of its time on the reference "
             "machine; the row is their product. Recorded there: scikit-image (fast mode) 0.10, "
             "G'MIC 0.027 Mvoxel/s, a plain tiled C kernel 1.6: %.0f, %.0f and %.1f times as slow.",
             rate, factor, rate * factor / 0.10, rate * factor / 0.027, rate * factor / 1.6);
  double ours = cpu_of(gaussian, &v, RUNS), itk = cpu_of(itk_gaussian, &v, 1);
  judge_at_least(JUDGE_GOAL, "denoise_gaussian_ratio_itk", itk / ours, "1", 1);
  judge_note("Gaussian of sigma 1: %.1f Mvoxel/s, ITK %.1f.", voxels / ours, voxels / itk);
  ours = cpu_of(median, &v, 1), itk = cpu_of(itk_median, &v, 1);
  judge_at_least(JUDGE_GOAL, "denoise_median_ratio_itk", itk / ours, "1", 1);
  judge_note("Median of 3^3: %.1f Mvoxel/s, ITK %.1f.", voxels / ours, voxels / itk);
  tl_volume_free(&v);
  return judge_close();
}
