/* Free grains that collide, with friction, no gravity, no walls: momentum, the mass centre's path
 * and angular momentum over all that a step does (impulses, resting contacts, position rule, second
 * look). Impulses act at one point on both grains, so they keep all three to rounding. Positions
 * that are corrected by s keep the mass centre, and change the sum of x x m v by exactly that of
 * m s x v: that part is taken off for the row that holds to rounding, and printed. By impulses and
 * by penalty, which corrects no positions: with places half a step behind, x x m v is kept by the
 * step as it stands. */
#include "base/mem.h"
#include "support/materials.h"
#include "judge/judge.h"
#include "judge/overlap.h"
#include "judge/scene.h"

#include <math.h>

enum { SIDE = 4, SHAPES = 4 };
static const double STEP = 1e-3;

typedef struct Sums {
  TlVec3 momentum, angular, centre; /* centre: sum of m x */
  double momentum_size, angular_size, mass;
} Sums;

static Sums sums_of(const TlBodies *b) {
  Sums s = {0};
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 p = tl_scale(b->mass[i], b->velocity[i]);
    TlVec3 l = tl_add(tl_cross(b->position[i], p), b->momentum[i]);
    s.momentum = tl_add(s.momentum, p);
    s.angular = tl_add(s.angular, l);
    s.centre = tl_axpy(s.centre, b->mass[i], b->position[i]);
    s.momentum_size += tl_norm(p);
    s.angular_size += tl_norm(l);
    s.mass += b->mass[i];
  }
  return s;
}

/* Grains of a cube, thrown at its middle, spinning. */
static void open_scene(JudgeScene *scene, TlMethod method) {
  double reach = 0;
  TlRandom random = {5, 0, 0};
  judge_scene_open(scene);
  scene->config.gravity_m_s2 = tl_vec3(0, 0, 0);
  scene->config.step_s = STEP;
  scene->config.method = method;
  if (method == TL_PENALTY) {
    scene->config.step_s = STEP / 520;
    scene->config.search.sides = TL_SIDES_BOTH;
    scene->config.penalty.spread = TL_SPREAD_TRACTION;
    TL_TEST_SET(&scene->config, TL_TEST_BOTH, stiffness.normal_Pa_m, 1e11);
  }
  for (int i = 0; i < SHAPES; i++) {
    TlAvatar grain;
    judge_grain((TlGrainKind)i, 0.012, 24, 600, (uint64_t)i + 1, &grain);
    reach = fmax(reach, grain.radius_m);
    judge_scene_avatar(scene, &grain);
  }
  judge_scene_start(scene);
  for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
    TlVec3 from = {i % SIDE - 1.5, i / SIDE % SIDE - 1.5, i / (SIDE * SIDE) - 1.5};
    int64_t at = judge_scene_put(scene, i % SHAPES + 1, 1, tl_scale(2.05 * reach, from),
                                 judge_turned(&random), tl_scale(-0.4, from));
    JUDGE_OK(stepper_refresh(scene->solver, &scene->bodies));
    TlVec3 spin = tl_vec3(tl_random_next_normal(&random), tl_random_next_normal(&random),
                          tl_random_next_normal(&random));
    double inertia = scene->bodies.inertia[at].x;
    scene->bodies.momentum[at] = tl_scale(20 * inertia, spin);
  }
}

/* What positions moved beyond v dt add to the sum of x x m v. */
static TlVec3 moved_by_hand(const TlBodies *b, const TlVec3 *start, double step_s) {
  TlVec3 sum = {0, 0, 0};
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 residual = tl_sub(b->position[i], tl_axpy(start[i], step_s, b->velocity[i]));
    sum = tl_add(sum, tl_scale(b->mass[i], tl_cross(residual, b->velocity[i])));
  }
  return sum;
}

static void judge(const char *mark, const char *what, double value, const char *unit, double goal) {
  char figure[48];
  snprintf(figure, sizeof figure, "momentum_%s%s", mark, what);
  judge_at_most(JUDGE_CORRECT, figure, value, unit, goal);
}

typedef struct Worst {
  double momentum, centre, angular;
  JudgeDeepest deepest;
  int64_t contacts, passes;
  TlVec3 carried;
} Worst;

static void watch_step(JudgeScene *scene, TlVec3 *start, Worst *w) {
  const TlBodies *b = &scene->bodies;
  Sums old = sums_of(b);
  for (int64_t i = 0; i < b->owned; i++) start[i] = b->position[i];
  judge_scene_steps(scene, 1);
  Sums now = sums_of(b);
  TlVec3 carried = moved_by_hand(b, start, scene->config.step_s),
         change = tl_sub(now.angular, old.angular);
  TlVec3 residual = tl_sub(tl_axpy(old.centre, scene->config.step_s, now.momentum), now.centre);
  double reach = 0;
  for (int64_t i = 0; i < b->owned; i++) reach = fmax(reach, tl_norm(b->position[i]));
  w->momentum = fmax(w->momentum, tl_norm(tl_sub(now.momentum, old.momentum)) / now.momentum_size);
  w->centre = fmax(w->centre, tl_norm(residual) / (now.mass * reach));
  w->angular = fmax(w->angular, tl_norm(tl_sub(change, carried)) / (now.momentum_size * reach));
  w->carried = tl_add(w->carried, carried);
  judge_deepest_look(&w->deepest, b, 0, scene->report.overlap_share);
  w->contacts += scene->report.contacts;
  w->passes += scene->report.rechecks;
}

static void cloud(TlMethod method, int steps, const char *mark) {
  JudgeScene scene;
  Worst w = {0};
  TlVec3 *start;
  open_scene(&scene, method);
  Sums first = sums_of(&scene.bodies);
  JUDGE_OK(TL_NEW(start, (size_t)scene.bodies.owned));
  for (int i = 0; i < steps; i++) watch_step(&scene, start, &w);
  Sums last = sums_of(&scene.bodies);
  judge(mark, "linear", w.momentum, "of sum |m v|", 1e-14);
  judge(mark, "centre", w.centre, "of the reach", 1e-14);
  judge(mark, "angular", w.angular, "of sum |m v| reach", 1e-14);
  judge(mark, "worst_overlap", judge_deepest_of_scene(&w.deepest, &scene).largest_fraction,
        "of the radius", 0.02);
  judge_note("%s: %d irregular grains, %d steps, %lld contacts and %lld corrections at end poses, "
             "errors of the worst step. Corrected positions carry %.1e of the angular momentum of "
             "the start (sum of its sizes) with them; all in all it drifts by %.1e.",
             *mark ? "Penalty" : "Impulses", SIDE * SIDE * SIDE, steps, (long long)w.contacts,
             (long long)w.passes, tl_norm(w.carried) / first.angular_size,
             tl_norm(tl_sub(last.angular, first.angular)) / first.angular_size);
  tl_free(start);
  judge_scene_close(&scene);
}

int main(int argc, char **argv) {
  judge_open("momentum", argc, argv);
  cloud(TL_ETM_LEVEL, 500, "");
  cloud(TL_PENALTY, 52000, "penalty_");
  return judge_close();
}
