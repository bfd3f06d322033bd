/* Avatars: grains of 30 voxels a second on one core, from the grey stack and labels in memory:
 * level set, true distance, mass, body grid, nodes, residuals and descriptors, as talus-avatars
 * makes each; no files. No issue names a goal: it is our own, set to hold what was measured. The
 * phantom: 96^3, all grains 30 voxels, noise 6, its true labels (for time only); grains of which
 * the box leaves nine tenths. */
#include "base/mem.h"
#include "judge/calibrate.h"
#include "judge/judge.h"
#include "shape/build.h"
#include "shape/descriptors.h"
#include "shape/grain_stack.h"
#include "phantom/phantom.h"
#include "shape/quality.h"

#include <math.h>

enum { EDGE = 96, REPEATS = 2 };
static const double diameter = 30;

typedef struct Stack {
  TlPhantom phantom;
  TlVolume grey;
  TlLabelBox *boxes;
  uint32_t most;
  TlGreyLevels levels;
} Stack;

static void make_stack(Stack *s) {
  TlPhantomOptions o = tl_phantom_defaults();
  o.nx = o.ny = o.nz = EDGE;
  o.d50_voxels = diameter;
  o.size_ratio = 1;
  o.shapes = TL_SHAPES_ROUNDED;
  o.seed = 7;
  JUDGE_OK(tl_phantom_make(&o, &s->phantom));
  JUDGE_OK(tl_volume_to_f32(&s->phantom.stack, &s->grey));
  TlLayers labels, grey;
  tl_layers_of(&s->phantom.labels, &labels);
  tl_layers_of(&s->grey, &grey);
  const TlGrainStack from = {.labels = &labels, .grey = &grey, .at_once = 16};
  JUDGE_OK(tl_grain_stack_boxes(&from, &s->boxes, &s->most));
  JUDGE_OK(tl_grain_stack_levels(&from, &s->levels));
}

static void make_grain(const Stack *s, uint32_t label) {
  const TlDrlseOptions options = tl_drlse_defaults();
  const TlBuildOptions build = {0};
  const TlGrainPart part = {&s->grey, &s->phantom.labels, {0}, {EDGE, EDGE, EDGE}};
  TlPhiGrid grid;
  int64_t corner[3];
  TlDrlseReport report;
  TlAvatar avatar;
  TlQuality quality;
  TlDescriptors descriptors;
  JUDGE_OK(tl_drlse_grain(&part, label, s->boxes, &s->levels, &options, &grid, corner, &report));
  JUDGE_OK(tl_avatar_build_from_phi(&grid, corner, 1e-5, label, false, &build, &avatar));
  tl_free(grid.phi);
  JUDGE_OK(tl_avatar_check(&avatar));
  JUDGE_OK(tl_descriptors(&avatar, &descriptors));
  tl_quality_measure(&avatar, report.agreement, &quality);
  tl_avatar_free(&avatar);
}

int main(int argc, char **argv) {
  judge_open("avatars", argc, argv);
  Stack s = {0};
  make_stack(&s);
  int64_t grains = 0, before = tl_mem_peak_bytes();
  double least = 0.9 * 3.14159265358979323846 / 6 * diameter * diameter * diameter;
  double best = INFINITY;
  for (int i = 0; i < REPEATS; i++) {
    double cpu = judge_cpu_s();
    grains = 0;
    for (uint32_t label = 1; label <= s.most; label++)
      if ((double)s.boxes[label].voxels > least) make_grain(&s, label), grains++;
    best = fmin(best, judge_cpu_s() - cpu);
  }
  double rate = (double)grains / best;
  judge_at_least(JUDGE_GOAL, "avatars_grains_rate", rate * judge_machine_factor(), "1/s", 2.5);
  judge_note("%lld grains of %.0f voxels, one thread, the best of %d: %.3f CPU-s each as measured, "
             "%.0f MB of memory beyond the stack's; the rate is multiplied by the factor of "
             "tests/judge/calibrate.h. The goal is our own.",
             (long long)grains, diameter, REPEATS, best / (double)grains,
             (double)(tl_mem_peak_bytes() - before) / 1e6);
  tl_free(s.boxes);
  tl_volume_free(&s.grey);
  tl_phantom_free(&s.phantom);
  return judge_close();
}
