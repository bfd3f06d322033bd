#include "judge/lsdrop.h"

#include "base/mem.h"
#include "base/random.h"
#include "judge/judge.h"
#include "shape/superellipsoid.h"

#include <math.h>
#include <string.h>

static const double PITCH = 0.0245, GRAVITY = 9.81;

void lsdrop_open(LsDrop *d, int side, double step_s) {
  TlAvatar grain;
  memset(d, 0, sizeof *d);
  judge_scene_open(&d->scene);
  d->scene.config.step_s = step_s;
  d->scene.config.friction = d->scene.config.boundary_friction = 0.5;
  d->scene.config.restitution = d->scene.config.boundary_restitution = 0.2;
  JUDGE_OK(tl_avatar_superellipsoid(0.010, 0.008, 0.007, 0.6, 0.8, 0.0007, 800, &grain));
  int64_t id = judge_scene_avatar(&d->scene, &grain);
  judge_scene_box(&d->scene, side * PITCH, side * PITCH);
  judge_scene_start(&d->scene);
  TlRandom random = {21, 0, 0};
  for (int i = 0; i < side * side * side; i++) {
    TlVec3 at = {(i % side + 0.5) * PITCH, (i / side % side + 0.5) * PITCH,
                 (i / (side * side) + 0.5) * PITCH};
    judge_scene_put(&d->scene, id, 1, at, judge_turned(&random), tl_vec3(0, 0, 0));
  }
  JUDGE_OK(tl_solver_refresh(d->scene.solver, &d->scene.bodies));
  const TlBodies *b = &d->scene.bodies;
  for (int64_t i = 0; i < b->owned; i++) d->drop_J += b->mass[i] * GRAVITY * b->position[i].z;
}

void lsdrop_run(LsDrop *d, double seconds) {
  double cpu = judge_cpu_s();
  int64_t steps = (int64_t)lround(seconds / d->scene.config.step_s);
  for (int64_t i = 0; i < steps; i++) {
    const TlStepReport *r = &d->scene.report;
    judge_scene_steps(&d->scene, 1);
    d->deepest = fmax(d->deepest, fmax(r->overlap_share, r->boundary_overlap_share));
    d->deepest_m = fmax(d->deepest_m, fmax(r->overlap_m, r->boundary_overlap_m));
  }
  d->cpu_s += judge_cpu_s() - cpu;
  d->time_s += (double)steps * d->scene.config.step_s;
}

double lsdrop_mean_height(const LsDrop *d) {
  const TlBodies *b = &d->scene.bodies;
  double sum = 0;
  for (int64_t i = 0; i < b->owned; i++) sum += b->position[i].z;
  return sum / (double)b->owned;
}

double lsdrop_carried(const LsDrop *d) {
  const TlBodies *b = &d->scene.bodies;
  TlContactRow *rows;
  int64_t count;
  double weight = 0, carried = 0;
  JUDGE_OK(tl_solver_contacts(d->scene.solver, b, &rows, &count));
  for (int64_t i = 0; i < count; i++)
    if (rows[i].high < 0) carried += rows[i].impulse_N_s.z;
  for (int64_t i = 0; i < b->owned; i++) weight += b->mass[i] * GRAVITY * d->scene.config.step_s;
  tl_free(rows);
  return carried / weight;
}

void lsdrop_close(LsDrop *d) {
  judge_scene_close(&d->scene);
}
