#include "judge/squeeze.h"

#include "base/mem.h"
#include "judge/judge.h"
#include "support/materials.h"

#include <math.h>

enum { LOOK_STEPS = 100 };
static const double AT_REST = 1e-3; /* mean resultant over mean contact force */

static void to_list(TlVec3 v, double to[3]) {
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
}

static void add_moment(double sum[3][3], TlVec3 force, TlVec3 place) {
  double f[3], x[3];
  to_list(force, f);
  to_list(place, x);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum[i][j] += f[i] * x[j];
}

/* Where the point is on the wall's face. */
static TlVec3 on_face(TlVec3 point, TlVec3 normal, double half_m) {
  return tl_axpy(point, -half_m - tl_dot(point, normal), normal);
}

typedef struct Balance {
  TlVec3 force, torque;
  double arms;
} Balance;

static void on_body(Balance *b, TlVec3 force, TlVec3 arm) {
  b->force = tl_add(b->force, force);
  b->torque = tl_add(b->torque, tl_cross(arm, force));
  b->arms += tl_norm(arm) * tl_norm(force);
}

void squeeze_stress(const JudgeScene *scene, TlVec3 middle, double half_m, SqueezeStress *stress) {
  const TlBodies *b = &scene->bodies;
  TlContactRow *row;
  Balance *balance;
  int64_t count;
  double forces = 0, arms = 0;
  *stress = (SqueezeStress){.unbalanced = 0};
  JUDGE_OK(stepper_contacts(scene->solver, b, &row, &count));
  JUDGE_OK(TL_NEW(balance, (size_t)b->owned));
  for (int64_t i = 0; i < count; i++) {
    TlVec3 f = row[i].force_N, x = row[i].point_m, a = b->position[row[i].first];
    bool wall = row[i].second < 0;
    TlVec3 from = tl_sub(x, middle), other = wall ? on_face(from, row[i].normal, half_m) : from;
    forces += tl_norm(f);
    on_body(&balance[row[i].first], f, tl_sub(x, a));
    if (!wall) {
      TlVec3 c = b->position[row[i].second];
      on_body(&balance[row[i].second], tl_scale(-1, f), tl_sub(x, c));
      add_moment(stress->love, f, tl_sub(c, a));
      continue;
    }
    add_moment(stress->love, f, tl_sub(x, a));
    add_moment(stress->walls, f, other);
    double n[3], on[3];
    to_list(row[i].normal, n);
    to_list(f, on);
    for (int k = 0; k < 3; k++) stress->pressed[k] -= half_m * fabs(n[k]) * fabs(on[k]);
  }
  for (int64_t i = 0; i < b->owned; i++) {
    stress->twist += tl_norm(balance[i].torque);
    stress->unbalanced += tl_norm(balance[i].force);
    arms += balance[i].arms;
    add_moment(stress->moving, balance[i].force, tl_sub(b->position[i], middle));
  }
  stress->twist /= fmax(arms, 1e-300);
  stress->unbalanced *= (double)count / fmax(forces * (double)b->owned, 1e-300);
  tl_free(balance);
  tl_free(row);
}

static double pressure(const SqueezeStress *s) {
  return fabs(s->walls[0][0] + s->walls[1][1] + s->walls[2][2]) / 3;
}

/* Largest component of love - walls, with so much of what moves. */
static double apart(const SqueezeStress *s, double moving) {
  double most = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      most = fmax(most, fabs(s->love[i][j] + moving * s->moving[i][j] - s->walls[i][j]));
  return most / pressure(s);
}

double squeeze_error(const SqueezeStress *s) {
  return apart(s, 1);
}

double squeeze_still_error(const SqueezeStress *s) {
  return apart(s, 0);
}

double squeeze_asymmetry(const SqueezeStress *s) {
  double most = 0;
  for (int i = 0; i < 3; i++)
    most = fmax(most, fabs(s->love[i][(i + 1) % 3] - s->love[(i + 1) % 3][i]));
  return most / pressure(s);
}

static void place_walls(JudgeScene *scene, double half_m) {
  for (int k = 0; k < 6; k++) {
    TlBoundaryPlane *wall = &scene->plane[k];
    wall->point = tl_scale(-half_m, wall->normal);
  }
}

void squeeze_walls(JudgeScene *scene, const Squeeze *q) {
  TL_TEST_SET(&scene->config, TL_TEST_GRAIN, friction, q->friction);
  TL_TEST_SET(&scene->config, TL_TEST_BOUNDARY, friction, q->wall_friction);
  scene->config.gravity_m_s2 = tl_vec3(0, 0, 0);
  for (int k = 0; k < 6; k++) {
    double n[3] = {0, 0, 0};
    n[k / 2] = k % 2 ? -1 : 1;
    judge_scene_plane(scene, tl_vec3(0, 0, 0), tl_vec3(n[0], n[1], n[2]));
  }
  place_walls(scene, 0.5 * q->wide * q->pitch_m);
}

void squeeze_run(JudgeScene *scene, int64_t avatar, const Squeeze *q, SqueezeStress *stress) {
  TlRandom random = {.seed = 21};
  double half_m = 0.5 * q->wide * q->pitch_m, corner = 0.5 * q->pitch_m - half_m;
  for (int k = 0; k < q->wide * q->wide * q->wide; k++) {
    TlVec3 x = {corner + q->pitch_m * (k % q->wide), corner + q->pitch_m * (k / q->wide % q->wide),
                corner + q->pitch_m * (k / q->wide / q->wide)};
    judge_scene_put(scene, avatar, 1, x, judge_turned(&random), tl_vec3(0, 0, 0));
  }
  for (int k = 0; k < q->close_steps; k++) {
    double volume = 8 * half_m * half_m * half_m, left = 1 - (double)k / q->close_steps;
    squeeze_stress(scene, tl_vec3(0, 0, 0), half_m, stress);
    half_m -= q->speed_m_s * (left * left + 0.01) * scene->config.step_s *
              fmax(-0.2, 1 - pressure(stress) / (q->pressure_Pa * volume));
    place_walls(scene, half_m);
    judge_scene_steps(scene, 1);
  }
  for (int k = 0; k < q->hold_steps; k += LOOK_STEPS) {
    judge_scene_steps(scene, LOOK_STEPS);
    squeeze_stress(scene, tl_vec3(0, 0, 0), half_m, stress);
    if (stress->unbalanced < AT_REST) break;
  }
}
