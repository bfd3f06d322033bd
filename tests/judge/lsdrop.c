#include "judge/lsdrop.h"
#include "support/materials.h"

#include "base/mem.h"
#include "base/random.h"
#include "judge/judge.h"
#include "shape/superellipsoid.h"

#include <math.h>
#include <string.h>

static const double PITCH = 0.0245, GRAVITY = 9.81;

static void begin(LsDrop *d, LsMethod method) {
  memset(d, 0, sizeof *d);
  judge_scene_open(&d->scene);
  TlSolverConfig *c = &d->scene.config;
  if (method.young_Pa > 0) *c = tl_test_nonsmooth();
  c->step_s = method.step_s;
  TL_TEST_SET(c, TL_TEST_BOTH, friction, 0.5);
  TL_TEST_SET(c, TL_TEST_BOTH, restitution, 0.2);
  if (method.young_Pa > 0) {
    c->gravity_m_s2 = tl_vec3(0, 0, -GRAVITY);
    c->nonsmooth.iterations = c->nonsmooth.impact_iterations = method.iterations;
    TL_TEST_SET(c, TL_TEST_BOTH, restitution, 0);
    TL_TEST_SET(c, TL_TEST_BOTH, stiffness.young_Pa, method.young_Pa);
  }
  if (method.normal_Pa_m == 0) return;
  c->method = TL_PENALTY;
  c->search.sides = TL_SIDES_BOTH;
  c->penalty.spread = TL_SPREAD_TRACTION;
  c->penalty.touching_share = method.touching_share > 0 ? method.touching_share : 0.02;
  TL_TEST_SET(c, TL_TEST_BOTH, stiffness.normal_Pa_m, method.normal_Pa_m);
}

/* Grain i at its place of the lattice, in a random pose. */
static void put(LsDrop *d, int64_t avatar, double scale, int side, double pitch, int i,
                TlRandom *random) {
  TlVec3 at = {(i % side + 0.5) * pitch, (i / side % side + 0.5) * pitch,
               (i / (side * side) + 0.5) * pitch};
  judge_scene_put(&d->scene, avatar, scale, at, judge_turned(random), tl_vec3(0, 0, 0));
}

static void weigh(LsDrop *d) {
  JUDGE_OK(stepper_refresh(d->scene.solver, &d->scene.bodies));
  const TlBodies *b = &d->scene.bodies;
  for (int64_t i = 0; i < b->owned; i++) d->drop_J += b->mass[i] * GRAVITY * b->position[i].z;
}

/* The peers' grain in the peers' box. axes: how its body axes lie in the peers' frame. */
static int64_t begin_equal(LsDrop *d, int side, LsMethod method, TlQuat *axes) {
  TlAvatar grain;
  begin(d, method);
  JUDGE_OK(tl_avatar_superellipsoid(0.010, 0.008, 0.007, 0.6, 0.8, 0.0007, 800, &grain));
  *axes = grain.scan_rotation;
  int64_t id = judge_scene_avatar(&d->scene, &grain);
  judge_scene_box(&d->scene, side * PITCH, side * PITCH);
  judge_scene_start(&d->scene);
  return id;
}

void lsdrop_open(LsDrop *d, int side, LsMethod method) {
  TlQuat axes;
  int64_t id = begin_equal(d, side, method, &axes);
  TlRandom random = {21, (uint64_t)method.turn, 0};
  for (int i = 0; i < side * side * side; i++) put(d, id, 1, side, PITCH, i, &random);
  weigh(d);
}

void lsdrop_open_settled(LsDrop *d, int side, LsMethod method) {
  TlQuat axes;
  int64_t id = begin_equal(d, side, method, &axes);
  judge_scene_heap(&d->scene, id, axes, side * side * side, tl_vec3(0, 0, 0));
  JUDGE_OK(stepper_refresh(d->scene.solver, &d->scene.bodies));
  const TlBodies *b = &d->scene.bodies;
  for (int64_t i = 0; i < b->owned; i++)
    d->drop_J += b->mass[i] * GRAVITY * ((double)(i / (side * side)) + 0.5) * PITCH;
}

void lsdrop_open_scanned(LsDrop *d, int side, int count, LsMethod method) {
  enum { SHAPES = 8, NODES = 800 };
  double reach = 0;
  begin(d, method);
  for (int i = 0; i < SHAPES; i++) {
    TlAvatar grain;
    judge_grain((TlGrainKind)(i / 2), 0.012, 24, NODES, (uint64_t)i + 1, &grain);
    reach = fmax(reach, grain.radius_m);
    judge_scene_avatar(&d->scene, &grain);
  }
  double most = 14.0 / 12, pitch = 2.02 * reach * most;
  judge_scene_box(&d->scene, side * pitch, side * pitch);
  judge_scene_start(&d->scene);
  TlRandom random = {22, 0, 0};
  for (int i = 0; i < count; i++) {
    double scale = (10 + 4 * tl_random_next(&random)) / 12;
    put(d, i % SHAPES + 1, scale, side, pitch, i, &random);
  }
  weigh(d);
}

LsRest lsdrop_watch(LsDrop *d, double seconds) {
  double cpu = judge_cpu_s(), start = lsdrop_mean_height(d);
  int64_t steps = (int64_t)lround(seconds / d->scene.config.step_s);
  LsRest rest = {0, 0};
  for (int64_t i = 0; i < steps; i++) {
    const TlStepReport *r = &d->scene.report;
    judge_scene_steps(&d->scene, 1);
    rest.kinetic = fmax(rest.kinetic, r->kinetic_J / d->drop_J);
    rest.creep = fmax(rest.creep, fabs(lsdrop_mean_height(d) / start - 1));
    judge_deepest_look(&d->worst, &d->scene.bodies, i,
                       fmax(r->overlap_share, r->boundary_overlap_share));
    d->deepest_m = fmax(d->deepest_m, fmax(r->overlap_m, r->boundary_overlap_m));
  }
  d->cpu_s += judge_cpu_s() - cpu;
  d->time_s += (double)steps * d->scene.config.step_s;
  return rest;
}

void lsdrop_run(LsDrop *d, double seconds) {
  lsdrop_watch(d, seconds);
}

bool lsdrop_settle(LsDrop *d, LsRest bound, double most_s) {
  LsRest rest = {INFINITY, INFINITY};
  while (!(rest.kinetic <= bound.kinetic && rest.creep <= bound.creep)) {
    if (d->time_s + 0.5 > most_s) return false;
    rest = lsdrop_watch(d, 1);
  }
  return true;
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
  JUDGE_OK(stepper_contacts(d->scene.solver, b, &rows, &count));
  for (int64_t i = 0; i < count; i++)
    if (rows[i].second < 0) carried += rows[i].force_N.z;
  for (int64_t i = 0; i < b->owned; i++) weight += b->mass[i] * GRAVITY;
  tl_free(rows);
  return carried / weight;
}

void lsdrop_close(LsDrop *d) {
  judge_deepest_free(&d->worst);
  judge_scene_close(&d->scene);
}
