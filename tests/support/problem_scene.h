/* Scenes whose next steps are problems for the solvers of the nonsmooth method: spheres of two sizes or boxes in a box,
 * without friction or with friction and rolling resistance. */
#ifndef TL_TESTS_PROBLEM_SCENE_H
#define TL_TESTS_PROBLEM_SCENE_H

#include "base/par.h"
#include "base/random.h"
#include "support/grain_state.h"
#include "support/materials.h"
#include "support/stepper.h"

#include <string.h>

enum { PROBLEM_SPHERE = 1, PROBLEM_BOX = 2, PROBLEM_SMALL = 3 };
static const double PROBLEM_R = 0.01, PROBLEM_G = 9.81;

typedef struct ProblemScene {
  TlSolverConfig config;
  TlBoundaryPlane plane[5];
  TlBoundary boundary[5];
  int planes;
  Stepper *solver;
  TlBodies bodies;
} ProblemScene;

static inline void problem_scene_plane(ProblemScene *scene, TlVec3 point, TlVec3 normal) {
  int i = scene->planes++;
  scene->plane[i] = (TlBoundaryPlane){point, normal};
  scene->boundary[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &scene->plane[i]};
}

/* `count` bodies that fell into a box, `wide` by `wide` a layer, after some steps: some still move, some rest. */
static inline TlStatus problem_scene_make(ProblemScene *scene, bool boxes, double friction,
                                          uint64_t seed, int wide, int count, int steps) {
  static const double box[3] = {0.016, 0.014, 0.012};
  double side = 0.5 * (2.4 * wide + 0.2) * PROBLEM_R;
  memset(scene, 0, sizeof *scene);
  tl_par_set_threads(1);
  scene->config = tl_test_nonsmooth();
  scene->config.step_s = 1e-3;
  scene->config.gravity_m_s2 = tl_vec3(0, 0, -PROBLEM_G);
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, friction, friction);
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, restitution, 0);
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, rolling, friction > 0 ? 0.1 : 0);
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, stiffness.young_Pa, 1e7);
  problem_scene_plane(scene, (TlVec3){0, 0, 0}, tl_vec3(0, 0, 1));
  problem_scene_plane(scene, tl_vec3(-side, 0, 0), tl_vec3(1, 0, 0));
  problem_scene_plane(scene, tl_vec3(side, 0, 0), tl_vec3(-1, 0, 0));
  problem_scene_plane(scene, tl_vec3(0, -side, 0), tl_vec3(0, 1, 0));
  problem_scene_plane(scene, tl_vec3(0, side, 0), tl_vec3(0, -1, 0));
  TL_TRY(stepper_new(&scene->solver, &scene->config, (TlAvatarSource){0}, scene->boundary,
                     scene->planes, NULL));
  TL_TRY(stepper_add_sphere(scene->solver, PROBLEM_SPHERE, PROBLEM_R));
  TL_TRY(stepper_add_sphere(scene->solver, PROBLEM_SMALL, 0.6 * PROBLEM_R));
  TL_TRY(stepper_add_closed(scene->solver, PROBLEM_BOX, &tl_closed_box, box));
  for (int k = 0; k < count; k++) {
    uint64_t at = 4 * (uint64_t)k;
    double x = tl_random_uniform(seed, 1, at), y = tl_random_uniform(seed, 1, at + 1);
    TlVec3 turn = tl_vec3(0.3 * tl_random_uniform(seed, 1, at + 2),
                          0.2 * tl_random_uniform(seed, 1, at + 3), x);
    TL_TRY(tl_test_add(
        &scene->bodies,
        &(TlGrainState){
            .id = k,
            .avatar_id = boxes   ? PROBLEM_BOX
                         : k % 3 ? PROBLEM_SPHERE
                                 : PROBLEM_SMALL,
            .scale = 1,
            .position = {PROBLEM_R * (2.4 * (k % wide - 0.5 * (wide - 1)) + 0.2 * x),
                         PROBLEM_R * (2.4 * (k / wide % wide - 0.5 * (wide - 1)) + 0.2 * y),
                         PROBLEM_R * (1.1 + 2.3 * (k / (wide * wide)))},
            .rotation = boxes ? tl_quat_from_rotation(turn) : (TlQuat){1, 0, 0, 0}}));
  }
  for (int k = 0; k < steps; k++) TL_TRY(stepper_step(scene->solver, &scene->bodies, NULL));
  return TL_OK;
}

static inline void problem_scene_free(ProblemScene *scene) {
  stepper_free(scene->solver);
  tl_bodies_free(&scene->bodies);
}

/* Scene number `seed` (0 to 7) of a kind of the 32 that are solved slowly, too. */
static inline TlStatus problem_scene_small(ProblemScene *scene, bool boxes, double friction,
                                           uint64_t seed) {
  return problem_scene_make(scene, boxes, friction, seed, 2, boxes ? 8 : 10 + (int)(seed % 4),
                            40 + 20 * (int)seed);
}

#endif
