/* The overlap of the deepest step of a judged run (judge/overlap.h), against spheres whose overlap is known. */
#include "support/tltest.h"

#include "judge/overlap.h"
#include "shape/superellipsoid.h"

static const double R = 0.01;

/* Two spheres so deep in each other, over the radius. */
static void lay(JudgeScene *scene, double fraction) {
  scene->bodies.position[1].x = scene->bodies.position[0].x + (2 - fraction) * R;
  CK_OK(stepper_refresh(scene->solver, &scene->bodies));
}

static void open_spheres(JudgeScene *scene) {
  TlAvatar sphere;
  judge_scene_open(scene);
  CK_OK(tl_avatar_sphere(R, R / 10, 600, &sphere));
  int64_t id = judge_scene_avatar(scene, &sphere);
  judge_scene_plane(scene, tl_vec3(0, 0, -2 * R), tl_vec3(0, 0, 1));
  judge_scene_start(scene);
  for (int i = 0; i < 2; i++)
    judge_scene_put(scene, id, 1, tl_vec3(3 * R * i, 0, 0), (TlQuat){1, 0, 0, 0}, tl_vec3(0, 0, 0));
}

/* A step reports what it found where it began: the poses of the look before. */
START_TEST(the_poses_are_those_at_which_the_deepest_step_began) {
  JudgeScene scene;
  JudgeDeepest deepest = {0};
  static const double lies[] = {0.01, 0.05, 0.03, 0.002}, seen[] = {0.002, 0.01, 0.049, 0.03};
  open_spheres(&scene);
  for (int i = 0; i < 4; i++) {
    lay(&scene, lies[i]);
    judge_deepest_look(&deepest, &scene.bodies, i, seen[i]);
  }
  CK_NEAR(deepest.fraction, 0.049, 0);
  lay(&scene, 0.4);
  JudgeOverlap worst = judge_deepest_of_scene(&deepest, &scene);
  CK_NEAR(worst.largest_fraction, 0.05, 1e-3);
  CK_NEAR(worst.largest_m, 0.05 * R, 1e-3 * R);
  ck_assert_ptr_null(deepest.poses.row);
  judge_scene_close(&scene);
}
END_TEST

START_TEST(without_a_look_it_is_of_the_poses_now) {
  JudgeScene scene;
  JudgeDeepest deepest = {0};
  open_spheres(&scene);
  lay(&scene, 0.02);
  CK_NEAR(judge_deepest_of_scene(&deepest, &scene).largest_fraction, 0.02, 1e-3);
  judge_scene_close(&scene);
}
END_TEST

TL_TEST_MAIN("judge_overlap", the_poses_are_those_at_which_the_deepest_step_began,
             without_a_look_it_is_of_the_poses_now)
