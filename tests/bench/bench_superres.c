/* Speed of super-resolution on one thread: training, and refining. */
#include "judge/calibrate.h"
#include "judge/judge.h"

#include "base/mem.h"
#include "base/par.h"
#include "image/superres.h"
#include "image/superres_base.h"

#include <math.h>

enum { EDGE = 128, RUNS = 3 };

static const TlRoi whole = {.kind = TL_ROI_ALL};

/* Balls of 28 voxels that all but touch, greys 160 on 90, edges as a blur of 0.7 voxel leaves them;
 * each its own place and size, so that edges cut the voxels in all ways. More patches are
 * not flat than in sand (the note tells how many). */
static void make_stack(TlVolume *v) {
  JUDGE_OK(tl_volume_new(v, TL_F32, EDGE, EDGE, EDGE));
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    const int64_t at[3] = {i % EDGE, i / EDGE % EDGE, i / EDGE / EDGE};
    double d2 = 0;
    for (int k = 0; k < 3; k++) {
      double x = fmod((double)at[k], 26) - 13 + 0.31 * (double)(at[(k + 1) % 3] / 26);
      d2 += x * x;
    }
    v->f32[i] = (float)(125 - 35 * tanh((sqrt(d2) - 13) / 0.9));
  }
}

static double train(const TlVolume *fine, TlDictionary *d, TlTrained *result) {
  TlTraining t = {.factor = 2,
                  .atoms = 512,
                  .pairs = 10000,
                  .codes = 3,
                  .rounds = 10,
                  .tolerance = 0.1,
                  .seed = 1};
  double start = judge_cpu_s();
  JUDGE_OK(tl_superres_train(fine, &whole, &t, d, result));
  return judge_cpu_s() - start;
}

/* CPU seconds of refining, the least of the runs. */
static double refine(const TlDictionary *d, const TlSuperresOptions *options,
                     const TlVolume *coarse, int runs) {
  double best = INFINITY;
  for (int k = 0; k < runs; k++) {
    TlVolume fine;
    double start = judge_cpu_s();
    JUDGE_OK(tl_superres(d, options, coarse, &fine));
    best = fmin(best, judge_cpu_s() - start);
    tl_volume_free(&fine);
  }
  return best;
}

static TlStatus nothing(void *self, int64_t count, const void *voxels) {
  (void)self, (void)count, (void)voxels;
  return TL_OK;
}

/* Fraction of the patches that are not flat, %. */
static double fraction_coded(const TlDictionary *d, const TlVolume *coarse) {
  TlLayers stack;
  TlSuperresResult result;
  TlSuperresPlan plan;
  TlSuperresOptions options = {.quiet = true};
  TlLayerSink sink = {.append = nothing};
  tl_layers_of(coarse, &stack);
  JUDGE_OK(tl_superres_plan(coarse, d, false, 0, &plan));
  JUDGE_OK(tl_superres_run(d, &options, &plan, &stack, &whole, TL_F32, &sink, &result));
  tl_layers_close(&stack);
  return 100 * result.coded;
}

int main(int argc, char **argv) {
  TlVolume fine, coarse;
  TlDictionary d;
  TlTrained result;
  judge_open("superres", argc, argv);
  tl_par_set_threads(1);
  make_stack(&fine);
  JUDGE_OK(tl_box_means(&fine, 2, &coarse));
  double factor = judge_machine_factor(), voxels = 1e-6 * (double)tl_volume_count(&fine);
  double learnt = train(&fine, &d, &result);
  judge_at_most(JUDGE_GOAL, "superres_train", learnt / factor / 60, "min", 10);
  double plain = refine(&d, &(TlSuperresOptions){.quiet = true}, &coarse, RUNS);
  judge_at_least(JUDGE_GOAL, "superres_apply_rate", voxels / plain * factor, "Mvoxel/s", 0.5);
  TlSuperresOptions noisy = {
      .sigma = 1.5,
      .nlm = {.sigma = 6, .h_factor = 0.9, .reach = 2.6, .patch = 5, .search = 11, .quiet = true},
      .quiet = true};
  double denoised = refine(&d, &noisy, &coarse, 1);
  judge_at_least(JUDGE_GOAL, "superres_apply_denoised_rate", voxels / denoised * factor, "Mvoxel/s",
                 0.5);
  judge_note("Fine voxels made a CPU second, one thread, 64^3 to 128^3, 512 atoms, all three "
             "directions, %.0f%% of the patches not flat: %.2f Mvoxel/s here, with non-local means "
             "before %.2f; training on 128^3 with the tool's defaults %.1f s. The calibration loop "
             "takes %.2f of its time on the reference machine; the rows are scaled by it.",
             fraction_coded(&d, &coarse), voxels / plain, voxels / denoised, learnt, factor);
  tl_dictionary_free(&d);
  tl_volume_free(&fine);
  tl_volume_free(&coarse);
  return judge_close();
}
