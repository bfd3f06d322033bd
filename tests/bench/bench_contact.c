/* The contact search on settled heaps of 64, 216 and 512 superellipsoids of 800 nodes
 * (data/README.md): CPU a grain and step beside YADE's step (99% contact, recorded), and field
 * lookups beside testing every node in the same binary.
 *
 * Steps of 8e-5 s (YADE's) and of 1e-3 s (the impulse method's own) from the recorded poses. The
 * medians leave out the first step, which makes all lists. CPU of the search alone, one thread.
 */
#include "judge/calibrate.h"
#include "judge/judge.h"
#include "judge/scene.h"

#include "base/par.h"
#include "num/sort.h"
#include "shape/superellipsoid.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 512, STEPS = 40 };
static const double PITCH = 0.0245;

typedef struct Cost {
  double cpu_us, lookups, pairs, contacts, lists; /* a grain and step */
  uint64_t hash;
} Cost;

static Cost run(int side, double step_s, TlSearch search, int steps) {
  JudgeScene scene;
  TlAvatar grain;
  Cost c = {0};
  double cpu[STEPS];
  int count = side * side * side;
  JUDGE_OK(tl_avatar_superellipsoid(0.010, 0.008, 0.007, 0.6, 0.8, 0.0007, 800, &grain));
  TlQuat axes = grain.scan_rotation; /* body axes go with ascending moments */
  judge_scene_open(&scene);
  scene.config.step_s = step_s;
  scene.config.search.how = search;
  int64_t id = judge_scene_avatar(&scene, &grain);
  judge_scene_box(&scene, side * PITCH, side * PITCH);
  judge_scene_start(&scene);
  judge_scene_heap(&scene, id, axes, count, tl_vec3(0, 0, 0));
  for (int i = 0; i < steps; i++) {
    judge_scene_steps(&scene, 1);
    const TlStepReport *r = &scene.report;
    cpu[i] = 1e6 * r->detect_cpu_s / count;
    c.lookups += (double)r->lookups / steps / count;
    c.pairs += (double)r->pairs / steps / count;
    c.contacts += (double)r->contacts / steps / count;
    c.lists += (double)r->node_lists / steps / count;
  }
  qsort(cpu + 1, (size_t)steps - 1, sizeof *cpu, tl_by_real);
  c.cpu_us = cpu[1 + (steps - 1) / 2];
  c.hash = judge_scene_hash(&scene);
  judge_scene_close(&scene);
  return c;
}

/* YADE's time is of its own step, so the ratio is judged at that one; at the impulse method's own
 * it is told. */
static void heap(int side, double step_s, const char *tag, bool like_for_like, double yade_us) {
  int count = side * side * side;
  char name[80];
  Cost near = run(side, step_s, TL_SEARCH_NEAR, STEPS),
       all = run(side, step_s, TL_SEARCH_ALL, STEPS);
  double ratio = yade_us * judge_machine_factor() / near.cpu_us;
  snprintf(name, sizeof name, "contact_yade_ratio_%d", count);
  if (like_for_like) judge_at_least(JUDGE_GOAL, name, ratio, "1", 30);
  snprintf(name, sizeof name, "contact_fewer_lookups_%d_%s", count, tag);
  judge_at_least(JUDGE_GOAL, name, all.lookups / near.lookups, "1", 15);
  snprintf(name, sizeof name, "contact_same_bits_%d_%s", count, tag);
  judge_at_least(JUDGE_CORRECT, name, near.hash == all.hash, "1", 1);
  judge_note("%d grains, %s: %.2f us CPU a grain and step (every node: %.0f; YADE %.1f, recorded: "
             "%.1f times as much%s), "
             "%.0f lookups a grain (every node: %.0f), %.1f pairs, %.1f contact points, %.2f lists "
             "made anew.",
             count, tag, near.cpu_us, all.cpu_us, yade_us, ratio,
             like_for_like ? "" : ", for a shorter step", near.lookups, all.lookups, near.pairs,
             near.contacts, near.lists);
}

int main(int argc, char **argv) {
  judge_open("contact", argc, argv);
  tl_par_set_threads(1);
  static const struct {
    int side;
    double yade_us;
  } heaps[] = {{4, 89.5}, {6, 156}, {8, 170}};
  for (int i = 0; i < 3; i++) {
    heap(heaps[i].side, 8e-5, "80us", true, heaps[i].yade_us);
    heap(heaps[i].side, 1e-3, "1ms", false, heaps[i].yade_us);
  }
  judge_note("YADE 2023.02a: 89.5, 156, 170 us a grain and step of 8e-5 s, recorded; times the "
             "machine's factor %.2f. It finds one point a pair, here up to eight.",
             judge_machine_factor());
  return judge_close();
}
