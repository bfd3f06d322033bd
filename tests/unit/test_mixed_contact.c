/* A box on a smooth grain that touch between the grain's nodes, by penalty: the overlap that the force is
 * reckoned from against dense samples of the grain's surface in the box, and of the box's in the grain. */
#include "support/tltest.h"

#include "base/random.h"
#include "judge/scene.h"
#include "model/shapes.h"
#include "shape/superellipsoid.h"
#include "support/materials.h"

#include <math.h>

enum { BOX = 100, COARSE = 200, DENSE = 6000, POSES = 120, ACROSS = 60 };
static const double half[3] = {0.012, 0.009, 0.008}, R = 0.01;

typedef struct Pair {
  JudgeScene scene;
  TlAvatar dense;
} Pair;

static void make_grain(int32_t nodes, TlAvatar *grain) {
  CK_OK(tl_avatar_superellipsoid(0.012, 0.010, 0.008, 0.7, 0.6, 0.0006, nodes, grain));
}

static void open_pair(Pair *p, TlSpread spread) {
  static const double sides[3] = {2 * half[0], 2 * half[1], 2 * half[2]};
  TlAvatar coarse;
  judge_scene_open(&p->scene);
  TlSolverConfig *c = &p->scene.config;
  c->method = TL_PENALTY;
  c->step_s = 1e-7;
  c->gravity_m_s2 = tl_vec3(0, 0, 0);
  c->penalty.spread = spread;
  TL_TEST_SET(c, TL_TEST_BOTH, stiffness.normal_N_m, 1e5);
  make_grain(COARSE, &coarse);
  make_grain(DENSE, &p->dense);
  judge_scene_avatar(&p->scene, &coarse);
  judge_scene_plane(&p->scene, tl_vec3(0, 0, -1), tl_vec3(0, 0, 1));
  judge_scene_start(&p->scene);
  CK_OK(stepper_add_closed(p->scene.solver, BOX, &tl_closed_box, sides));
  judge_scene_put(&p->scene, BOX, 1, tl_vec3(0, 0, 0), (TlQuat){1, 0, 0, 0}, tl_vec3(0, 0, 0));
  judge_scene_put(&p->scene, 1, 1, tl_vec3(1, 0, 0), (TlQuat){1, 0, 0, 0}, tl_vec3(0, 0, 0));
}

/* How deep a point lies in the box, in its frame. */
static double in_box(TlVec3 x) {
  return fmin(half[0] - fabs(x.x), fmin(half[1] - fabs(x.y), half[2] - fabs(x.z)));
}

/* The deepest sample of either surface in the other, the grain's centre x away from the box's. */
static double sampled(const Pair *p, TlQuat box, TlQuat grain, TlVec3 x) {
  TlMat3 to_box = tl_quat_matrix(tl_quat_conj(box)), turn = tl_quat_matrix(grain);
  double deepest = 0;
  for (int32_t i = 0; i < p->dense.node_count; i++) {
    const float *n = p->dense.node_m + 3 * (size_t)i;
    TlVec3 at = tl_add(x, tl_mat_vec(turn, tl_vec3(n[0], n[1], n[2])));
    deepest = fmax(deepest, in_box(tl_mat_vec(to_box, at)));
  }
  for (int axis = 0; axis < 3; axis++)
    for (int k = 0; k < 2 * ACROSS * ACROSS; k++) {
      double u = (double)(k % ACROSS) / (ACROSS - 1) * 2 - 1,
             v = (double)(k / ACROSS % ACROSS) / (ACROSS - 1) * 2 - 1, c[3];
      c[axis] = k / (ACROSS * ACROSS) ? half[axis] : -half[axis];
      c[(axis + 1) % 3] = u * half[(axis + 1) % 3];
      c[(axis + 2) % 3] = v * half[(axis + 2) % 3];
      TlVec3 at = tl_mat_tvec(to_box, tl_vec3(c[0], c[1], c[2]));
      deepest = fmax(deepest, -tl_avatar_phi(&p->dense, tl_mat_tvec(turn, tl_sub(at, x)), NULL));
    }
  return deepest;
}

/* Along a line from the box's centre to where the samples say that much. */
static TlVec3 place_of(const Pair *p, TlQuat box, TlQuat grain, TlVec3 direction, double depth) {
  double low = 0, high = 0.05;
  for (int i = 0; i < 18; i++) {
    double middle = 0.5 * (low + high);
    *(sampled(p, box, grain, tl_scale(middle, direction)) > depth ? &low : &high) = middle;
  }
  return tl_scale(low, direction);
}

/* With a band of 0, as penalty has it, such contacts were found only where a node had gone in, too: up to
 * 4.6% of the radius deep in an avalanche of boxes and boulders. */
static void judge(TlSpread spread, double depth) {
  Pair p;
  TlRandom random = {11, (uint64_t)spread, 0};
  open_pair(&p, spread);
  for (int i = 0; i < POSES; i++) {
    TlBodies *b = &p.scene.bodies;
    TlQuat box = judge_turned(&random), grain = judge_turned(&random);
    TlVec3 direction =
        tl_unit(tl_vec3(tl_random_next_normal(&random), tl_random_next_normal(&random),
                        tl_random_next_normal(&random)));
    b->rotation[0] = box, b->rotation[1] = grain;
    b->position[0] = tl_vec3(0, 0, 0);
    b->position[1] = place_of(&p, box, grain, direction, depth);
    for (int k = 0; k < 2; k++) b->velocity[k] = b->momentum[k] = tl_vec3(0, 0, 0);
    double deep = sampled(&p, box, grain, b->position[1]);
    CK_OK(stepper_refresh(p.scene.solver, b));
    judge_scene_steps(&p.scene, 1);
    double booked = p.scene.report.overlap_m;
    ck_assert_msg(booked > 0.9 * deep - 2e-4 * R, "pose %d: %g deep, booked %g", i, deep, booked);
  }
  tl_avatar_free(&p.dense);
  judge_scene_close(&p.scene);
}

START_TEST(no_overlap_between_nodes_is_passed_over) {
  judge(TL_SPREAD_DEEPEST, 0.002 * R);
  judge(TL_SPREAD_DEEPEST, 0.03 * R);
}
END_TEST

TL_TEST_MAIN("mixed_contact", no_overlap_between_nodes_is_passed_over)
