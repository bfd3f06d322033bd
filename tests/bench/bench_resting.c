/* What resting grains cost, awake and asleep, and what a fast grain far away makes of that.
 *
 * 216 grains of the peers' drop scene (judge/lsdrop.h) come to rest in their box; then steps are
 * timed. A stone that flies off at 30 m/s, metres above it, must not make them dearer: what is compared is
 * look-ups a step, which no other work on the machine changes. Then sleep is allowed, and the heap
 * falls asleep. One thread.
 *
 * Smooth grains that lie on two contacts rock on, and keep their whole heap awake. What a heap at rest costs is
 * measured, not how it comes to rest: global damping acts from the end of the drop on, and the heap is the first of some
 * draws that sleeps.
 */
#include "judge/calibrate.h"
#include "judge/judge.h"
#include "judge/lsdrop.h"

#include "base/par.h"

enum { SIDE = 6, HEAP = SIDE * SIDE * SIDE, DRAWS = 12, AWAKE_STEPS = 200, ASLEEP_STEPS = 20000 };
static const double STEP_S = 2e-3, SETTLED_S = 3, DAMPED_S = 3, ASLEEP_S = 0.6, DAMPING_PER_S = 10;

typedef struct Cost { /* a step */
  double cpu_s, lookups, detect_s, etm_s, rest_s, wall_s;
} Cost;

static Cost measure(JudgeScene *scene, int steps) {
  Cost c = {0};
  double start = judge_thread_cpu_s(), wall = judge_wall_s();
  for (int i = 0; i < steps; i++) {
    judge_scene_steps(scene, 1);
    c.lookups += (double)scene->report.lookups / steps;
    c.detect_s += scene->report.detect_s;
    c.etm_s += scene->report.etm_s;
    c.rest_s += scene->report.rest_s;
  }
  c.wall_s = judge_wall_s() - wall;
  c.cpu_s = (judge_thread_cpu_s() - start) / steps;
  return c;
}

static void tell(const char *what, const Cost *c) {
  judge_note(
      "%s: %.3f us CPU a grain and step (of the wall time search %.0f%%, impacts %.0f%%, rest "
      "%.0f%%), %.1f look-ups a grain.",
      what, 1e6 * c->cpu_s / HEAP, 100 * c->detect_s / c->wall_s, 100 * c->etm_s / c->wall_s,
      100 * c->rest_s / c->wall_s, c->lookups / HEAP);
}

enum { STONE = 99 };

/* Another solver takes over; contact memory lies with the bodies and stays. */
static void restart(JudgeScene *scene, double sleep_speed) {
  scene->config.impulses.sleep_speed = sleep_speed;
  stepper_free(scene->solver);
  judge_scene_start(scene);
  JUDGE_OK(stepper_add_sphere(scene->solver, STONE, 0.008));
}

int main(int argc, char **argv) {
  LsDrop d;
  JudgeScene *scene = &d.scene;
  Cost alone;
  int draws = 0;
  judge_open("resting", argc, argv);
  tl_par_set_threads(1);
  for (;; lsdrop_close(&d)) {
    lsdrop_open(&d, SIDE, (LsMethod){.step_s = STEP_S, .turn = draws++});
    lsdrop_run(&d, SETTLED_S);
    scene->config.damping_per_s = DAMPING_PER_S;
    restart(scene, 0);
    lsdrop_run(&d, DAMPED_S);
    alone = measure(scene, AWAKE_STEPS);
    restart(scene, 1e-4);
    lsdrop_run(&d, ASLEEP_S);
    if (scene->report.asleep == HEAP || draws == DRAWS) break;
  }
  judge_note("The heap is that of draw %d.", draws);
  tell("Awake", &alone);
  judge_at_least(JUDGE_CORRECT, "resting_asleep", (double)scene->report.asleep, "grains", HEAP);
  Cost asleep = measure(scene, ASLEEP_STEPS);
  tell("Asleep", &asleep);
  judge_at_most(JUDGE_GOAL, "resting_heap_us", 1e6 * asleep.cpu_s / HEAP / judge_machine_factor(),
                "us a grain and step", 0.05);
  restart(scene, 0);
  judge_scene_steps(scene, 5);
  alone = measure(scene, AWAKE_STEPS);
  tell("Awake again", &alone);
  judge_scene_put(scene, STONE, 1, tl_vec3(0.07, 0.07, 5), (TlQuat){1, 0, 0, 0}, tl_vec3(0, 0, 30));
  Cost stone = measure(scene, AWAKE_STEPS);
  tell("Awake, a stone of 30 m/s five metres above", &stone);
  judge_at_most(JUDGE_GOAL, "resting_far_stone", stone.lookups / alone.lookups,
                "look-ups over those without it", 1.02);
  restart(scene, 1e-4);
  lsdrop_run(&d, ASLEEP_S);
  Cost beside = measure(scene, AWAKE_STEPS);
  tell("Asleep, the stone far above", &beside);
  lsdrop_close(&d);
  return judge_close();
}
