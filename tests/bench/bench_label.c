/* Labelling: 256^3 in one thread, time and memory; the same labels from two threads; ITK's distance
 * map, h-maxima and watershed beside it on a smaller stack of the same kind.
 *
 * The mask is the true one of a phantom of 128^3 (seed 11, median grain 28 voxels), mirrored to
 * twice its edge: grains of the same sizes, and those at the mirror's planes larger. */
#include "base/mem.h"
#include "base/par.h"
#include "image/filters.h"
#include "image/label.h"
#include "judge/calibrate.h"
#include "judge/judge.h"
#include "oracle/itk_oracles.h"
#include "phantom/phantom.h"

#include <math.h>
#include <string.h>

enum { EDGE = 128, REPEATS = 3 };
/* The defaults of talus-label. */
static const TlLabelOptions usual = {
    .sigma = 0.7, .h_voxels = 0.15, .h_relative = 0.04, .neck = 0.65, .min_voxels = 100};
static const TlRoi whole = {.kind = TL_ROI_ALL};

static void make_masks(TlVolume *small, TlVolume *large) {
  TlPhantomOptions o = tl_phantom_defaults();
  TlPhantom p;
  o.seed = 11;
  o.noise_sd = o.blur_sigma = 0;
  JUDGE_OK(tl_phantom_make(&o, &p));
  JUDGE_OK(tl_volume_like(small, &p.labels, TL_U8));
  for (int64_t i = 0; i < tl_volume_count(small); i++) small->u8[i] = p.labels.u32[i] > 0;
  tl_phantom_free(&p);
  JUDGE_OK(tl_volume_new(large, TL_U8, 2 * EDGE, 2 * EDGE, 2 * EDGE));
  for (int64_t i = 0; i < tl_volume_count(large); i++) {
    int64_t x = i % large->nx, y = i / large->nx % large->ny, z = i / large->nx / large->ny;
    x = x < EDGE ? x : 2 * EDGE - 1 - x;
    y = y < EDGE ? y : 2 * EDGE - 1 - y;
    z = z < EDGE ? z : 2 * EDGE - 1 - z;
    large->u8[i] = small->u8[tl_volume_at(small, x, y, z)];
  }
}

typedef struct Times {
  double cpu_s, wall_s;
  uint32_t grains;
} Times;

static Times ours(const TlVolume *mask, int threads, int repeats, TlVolume *labels) {
  Times t = {.cpu_s = INFINITY, .wall_s = INFINITY};
  tl_par_set_threads(threads);
  for (int i = 0; i < repeats; i++) {
    TlLabelResult r;
    if (i > 0) tl_volume_free(labels);
    double cpu = judge_cpu_s(), wall = judge_wall_s();
    JUDGE_OK(tl_label(mask, &whole, &usual, labels, &r));
    t.cpu_s = fmin(t.cpu_s, judge_cpu_s() - cpu);
    t.wall_s = fmin(t.wall_s, judge_wall_s() - wall);
    t.grains = r.grains;
  }
  return t;
}

static Times itks(const TlVolume *mask) {
  TlVolume field, markers, labels;
  Times t;
  const double sigma[3] = {usual.sigma, usual.sigma, usual.sigma};
  tl_par_set_threads(1);
  double cpu = judge_cpu_s();
  JUDGE_OK(tl_itk_distance(mask, &field));
  JUDGE_OK(tl_gaussian_floats(field.f32, EDGE, EDGE, EDGE, sigma, TL_GAUSSIAN_AUTO));
  for (int64_t i = 0; i < tl_volume_count(mask); i++) {
    double d = fmax((double)field.f32[i], 1e-3);
    field.f32[i] =
        mask->u8[i] ? (float)(log1p(usual.h_relative * d / usual.h_voxels) / usual.h_relative) : 0;
  }
  JUDGE_OK(tl_itk_markers(&field, 1, &markers, &t.grains));
  JUDGE_OK(tl_itk_watershed(&field, &markers, mask, &labels));
  t.cpu_s = judge_cpu_s() - cpu;
  tl_volume_free(&field);
  tl_volume_free(&markers);
  tl_volume_free(&labels);
  return t;
}

static void beside_itk(const TlVolume *small) {
  double ratio = INFINITY;
  Times mine, peer;
  for (int i = 0; i < 2; i++) { /* in turn; the worst counts */
    TlVolume labels;
    mine = ours(small, 1, 1, &labels);
    peer = itks(small);
    ratio = fmin(ratio, peer.cpu_s / mine.cpu_s);
    tl_volume_free(&labels);
  }
  judge_at_least(JUDGE_GOAL, "label_itk_cpu_ratio_128", ratio, "1", 7.8);
  judge_note(
      "128^3, one thread: %.2f CPU-s (%u grains) beside %.2f CPU-s of ITK's distance map, "
      "h-maxima and watershed (%u markers). Goal of the ratio: ITK's 39 s of 256^3 over 5 s.",
      mine.cpu_s, mine.grains, peer.cpu_s, peer.grains);
}

int main(int argc, char **argv) {
  judge_open("label", argc, argv);
  TlVolume small, large, one, two;
  make_masks(&small, &large);
  Times t = ours(&large, 1, REPEATS, &one);
  int64_t peak = tl_mem_peak_bytes();
  judge_at_most(JUDGE_GOAL, "label_256_cpu_s", t.cpu_s / judge_machine_factor(), "s", 5);
  judge_at_most(JUDGE_GOAL, "label_256_memory", (double)peak / 1e9, "GB", 0.6);
  judge_note("256^3, one thread, the best of %d: %.2f CPU-s as measured, %u grains; seconds are "
             "divided by the factor of tests/judge/calibrate.h. Recorded peers: scikit-image 34 s "
             "and 1.9 GB, ITK 39 s and 1.3 GB. Memory is the peak of the whole program.",
             REPEATS, t.cpu_s, t.grains);
  Times both = ours(&large, 2, REPEATS, &two);
  judge_at_most(JUDGE_CORRECT, "label_thread_differences",
                memcmp(one.u32, two.u32, (size_t)tl_volume_count(&one) * 4) != 0, "1", 0);
  judge_note("Two threads: %.2f s of the wall after %.2f s with one; the walk up the hills and the "
             "search for passes are serial.",
             both.wall_s, t.wall_s);
  beside_itk(&small);
  tl_volume_free(&one);
  tl_volume_free(&two);
  tl_volume_free(&small);
  tl_volume_free(&large);
  return judge_close();
}
