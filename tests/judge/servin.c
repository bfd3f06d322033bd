#include "judge/servin.h"

#include "judge/judge.h"
#include "judge/scene.h"
#include "support/grain_state.h"
#include "support/materials.h"
#include "support/stepper.h"

#include "base/par.h"
#include "base/random.h"
#include "run/energy_balance.h"

#include <math.h>
#include <string.h>

enum { LARGE = 1, SMALL = 2, CUBE = 3, GRAIN = 4, GRAINS = 4, COLUMNS = 64 };
static const double D = 0.013, SMALL_D = 0.01, G = 9.81;

/* Lengths in diameters of the larger sphere, but for the belt's grains of 10 mm: how far along the belt the rain goes;
 * the box; the drum's diameter and width. Reduction is on from begin_s to end_s, and the angle is the mean over the last
 * mean_s, or of the last instant. least: columns of the belt's pile that are lower than this fraction of the highest do
 * not count for its flanks; grains that lie on the belt never do, and they are all that the paper leaves out. */
typedef struct Size {
  int count;
  double length, width;
  double begin_s, end_s, mean_s;
  double least;
} Size;

static const Size sizes[][2] = {
    [SERVIN_CONVEYOR] = {{800, 0, 0, 0, 2.7, 0, 0.2}, {5000, 50, 0, 0, 5.5, 0, 0}},
    [SERVIN_COLLAPSE] = {{700, 9, 9, 0.9, 2, 0, 0}, {4000, 15, 15, 1.4, 3.4, 0, 0}},
    [SERVIN_DRUM] = {{640, 15, 5.2, 2.5, 5, 1.5, 0}, {4864, 40, 7, 6, 12, 4, 0}},
    [SERVIN_SHAPES] = {{240, 7, 7, 1.5, 2.6, 0, 0}, {240, 7, 7, 1.5, 2.6, 0, 0}},
};

typedef struct Scene {
  ServinTest test;
  Size size;
  TlSolverConfig config;
  TlBoundaryPlane plane[6];
  TlBoundaryTube tube;
  TlBoundary boundary[6];
  TlSurface smooth;
  TlDrive drive;
  int boundaries;
  Stepper *solver;
  TlBodies bodies;
  TlEnergyBalance energy;
  TlStepReport report;
  TlRandom random;
  TlAvatar grain[GRAINS]; /* of shapes */
} Scene;

static double time_of(const Scene *s) {
  return (double)s->solver->steps * s->config.step_s;
}

/* What the drum lifts grains to. */
static TlSensor lifted(const Scene *s) {
  double top = -INFINITY, far = s->size.length * D;
  for (int64_t i = 0; i < s->bodies.total; i++) top = fmax(top, s->bodies.position[i].z);
  return (TlSensor){{-far, -far, top - 6 * D}, {far, far, far}};
}

static void reduce(Scene *s, const ServinVariant *variant) {
  TlReductionSetup setup;
  JUDGE_OK(tl_params_defaults(tl_reduction_params, TL_REDUCTION_PARAMS, &setup));
  setup.sensors.count = 0;
  setup.split = (int)variant->split;
  setup.trial_velocity = variant->velocity;
  if (s->test == SERVIN_DRUM) setup.trial_force = 0.15; /* no column loses its support there */
  setup.from_s = s->size.begin_s;
  setup.boundaries = s->test == SERVIN_CONVEYOR;
  s->config.nonsmooth.reduction = tl_reduction_of(&setup);
  if (variant->sensor) {
    s->config.nonsmooth.reduction.sensors = 1;
    s->config.nonsmooth.reduction.sensor[0] = lifted(s);
  }
  s->config.nonsmooth.iterations = variant->iterations ? variant->iterations : 150;
}

static void configure(Scene *s, bool double_radius) {
  TlSolverConfig c = tl_test_nonsmooth();
  c.step_s = s->test == SERVIN_SHAPES ? 2e-3 : 5e-3;
  c.gravity_m_s2 = tl_vec3(0, 0, -G);
  c.density_kg_m3 = 3700;
  c.nonsmooth.law = TL_MAP_LINEAR;
  c.nonsmooth.iterations = c.nonsmooth.impact_iterations = 150;
  c.nonsmooth.tolerance = 0;
  c.nonsmooth.contact_damping = 2;
  TL_TEST_SET(&c, TL_TEST_BOTH, restitution, 0.18);
  TL_TEST_SET(&c, TL_TEST_BOTH, friction, s->test == SERVIN_SHAPES ? 0.5 : 0.91);
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.normal_N_m, 3e3);
  TL_TEST_SET(&c, TL_TEST_GRAIN, rolling, double_radius ? 0.64 : 0.32);
  TL_TEST_SET(&c, TL_TEST_GRAIN, twisting, double_radius ? 0.64 : 0.32);
  TL_TEST_SET(&c, TL_TEST_BOUNDARY, rolling, 0.32);
  TL_TEST_SET(&c, TL_TEST_BOUNDARY, twisting, 0.32);
  c.materials = tl_test_materials(&c, 0, 0.18);
  s->config = c;
  s->smooth.material = TL_TEST_MATERIAL;
}

static void add_plane(Scene *s, TlVec3 point, TlVec3 normal, bool rough) {
  int i = s->boundaries++;
  s->plane[i] = (TlBoundaryPlane){point, normal};
  s->boundary[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &s->plane[i]};
  if (!rough) s->boundary[i].surface = &s->smooth;
}

static void add_tube(Scene *s, double radius) {
  int i = s->boundaries++;
  s->tube = (TlBoundaryTube){{0, 0, 0}, {0, 1, 0}, radius};
  s->drive = (TlDrive){.spin_rad_s = {0, 0.5, 0}};
  s->boundary[i] = (TlBoundary){.kind = &tl_boundary_tube, .data = &s->tube, .drive = &s->drive};
}

static double drawn(Scene *s) {
  return tl_random_next(&s->random);
}

static void add_grain(Scene *s, int shape, TlVec3 x, TlVec3 v) {
  TlGrainState state = {.id = s->bodies.total,
                        .avatar_id = shape,
                        .scale = 1,
                        .position = x,
                        .velocity = v,
                        .rotation = {1, 0, 0, 0}};
  if (s->test == SERVIN_SHAPES) state.rotation = judge_turned(&s->random);
  JUDGE_OK(tl_test_add(&s->bodies, &state));
}

static int any_shape(Scene *s) {
  double one = drawn(s);
  if (s->test != SERVIN_SHAPES) return one < 0.5 ? LARGE : SMALL;
  return one < 0.5 ? CUBE : GRAIN + (int)(2 * GRAINS * (one - 0.5));
}

/* All shapes on a grid `pitch` diameters wide, moved about as far as that leaves them free, with a
 * velocity at random; clear_of_axis > 0: only so far from the axis of y. */
static void fill(Scene *s, int count, TlVec3 low, TlVec3 high, double pitch, double clear_of_axis) {
  double play = (pitch - 1) * D, grid = pitch * D;
  int wide = (int)((high.x - low.x) / grid), deep = (int)((high.y - low.y) / grid);
  for (int k = 0; s->bodies.total < count; k++) {
    TlVec3 x = {low.x + grid * (0.5 + k % wide), low.y + grid * (0.5 + k / wide % deep),
                low.z + grid * (0.5 + k / wide / deep)};
    TlVec3 off = {drawn(s) - 0.5, drawn(s) - 0.5, drawn(s) - 0.5};
    if (clear_of_axis > 0 && hypot(x.x, x.z) > clear_of_axis) continue;
    add_grain(s, any_shape(s), tl_axpy(x, play, off), tl_scale(0.5, off));
  }
}

static void rain(Scene *s) {
  int count = s->size.count;
  double passed = s->size.length * SMALL_D * (double)s->bodies.total / count;
  for (int k = 0; k < 5 && s->bodies.total < count; k++) { /* 1,000/s */
    TlVec3 x;
    bool free = false;
    for (int attempt = 0; attempt < 200 && !free; attempt++) {
      x = tl_vec3(passed + SMALL_D * (0.5 + 14 * drawn(s)), SMALL_D * (-1.5 + 3 * drawn(s)), 0.1);
      free = true;
      for (int64_t i = s->bodies.total - 1; i >= 0; i--)
        free &= tl_norm(tl_sub(s->bodies.position[i], x)) > 1.001 * SMALL_D;
    }
    if (free) add_grain(s, SMALL, x, tl_vec3(-0.1, 0, -0.5)); /* as the belt sees it */
  }
}

/* ---- angle ---- */

/* Where the flanks of a pile on the belt are measured. */
static bool is_behind_rain(const Scene *s, double x) {
  return s->size.length == 0 || (x > 15 * SMALL_D && x < s->size.length * SMALL_D);
}

/* Slope of the surface along x, or y, from `from` to `to`: least squares over columns one diameter wide of
 * the mean height of the topmost spheres in squares of that size. low: of the highest column, below
 * which columns are left out. */
static double slope_of(const Scene *s, bool along_y, double from, double to, double low) {
  double top[COLUMNS][COLUMNS], height[COLUMNS], most = 0, d = s->test ? D : SMALL_D;
  int columns = (int)((to - from) / d);
  for (int i = 0; i < COLUMNS; i++)
    for (int j = 0; j < COLUMNS; j++) top[i][j] = -INFINITY;
  for (int64_t i = 0; i < s->bodies.total; i++) {
    TlVec3 x = s->bodies.position[i];
    int u = (int)floor(((along_y ? x.y : x.x) - from) / d);
    int v = COLUMNS / 2 + (int)floor(along_y ? x.x / d - s->size.length / 2 : x.y / d);
    if (along_y && !is_behind_rain(s, x.x)) continue;
    if (u < 0 || u >= columns || u >= COLUMNS || v < 0 || v >= COLUMNS) continue;
    top[u][v] = fmax(top[u][v], x.z);
  }
  double floor_z = s->test == SERVIN_DRUM ? -INFINITY : 0.75 * d; /* that lie on it do not count */
  for (int u = 0; u < columns; u++) {
    double sum = 0;
    int count = 0;
    for (int v = 0; v < COLUMNS; v++)
      if (top[u][v] > floor_z) {
        sum += top[u][v];
        count++;
      }
    height[u] = count > 0 ? sum / count : NAN;
    if (count > 0) most = fmax(most, height[u]);
  }
  double n = 0, sx = 0, sz = 0, sxx = 0, sxz = 0;
  for (int u = 0; u < columns; u++) {
    if (isnan(height[u]) || (s->test != SERVIN_DRUM && height[u] < low * most)) continue;
    double x = from + d * (u + 0.5);
    n++;
    sx += x;
    sz += height[u];
    sxx += x * x;
    sxz += x * height[u];
  }
  return atan((n * sxz - sx * sz) / (n * sxx - sx * sx)) * 180 / M_PI;
}

static double angle_of(const Scene *s) {
  switch (s->test) {
  case SERVIN_CONVEYOR:
    return 0.5 * (slope_of(s, true, -20 * SMALL_D, -1 * SMALL_D, s->size.least) -
                  slope_of(s, true, 1 * SMALL_D, 20 * SMALL_D, s->size.least));
  case SERVIN_COLLAPSE:
  case SERVIN_SHAPES:
    return -slope_of(s, false, 0, 40 * D, 0.2);
  default: /* it turns about +y: the side of -x rises */
    return fabs(slope_of(s, false, -0.25 * s->size.length * D, 0.25 * s->size.length * D, 0));
  }
}

/* How far the front has come along x: all but a twentieth of the grains lie behind it. */
static double front_of(const Scene *s) {
  int64_t n = s->bodies.total, ahead_most = n / 20;
  double best = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t ahead = 0;
    for (int64_t k = 0; k < n; k++) ahead += s->bodies.position[k].x > s->bodies.position[i].x;
    if (ahead <= ahead_most && (best == 0 || s->bodies.position[i].x < best))
      best = s->bodies.position[i].x;
  }
  return best;
}

static double potential_of(const Scene *s) {
  double sum = 0;
  for (int64_t i = 0; i < s->bodies.total; i++)
    sum += s->bodies.mass[i] * G * s->bodies.position[i].z;
  return sum;
}

/* ---- runs ---- */

static const TlAvatar *get_avatar(void *ctx, int64_t id) {
  Scene *s = ctx;
  return &s->grain[id - GRAIN];
}

/* Half as large as the cubes' corners reach, angular or with hollows. */
static void make_grains(Scene *s) {
  for (int i = 0; i < GRAINS; i++)
    judge_grain(i % 2 ? TL_GRAIN_CONCAVE : TL_GRAIN_ANGULAR, D, 20, 400, 10 + (uint64_t)i,
                &s->grain[i]);
}

static void make_solver(Scene *s) {
  static const double cube[3] = {0.011, 0.011, 0.011};
  JUDGE_OK(stepper_new(&s->solver, &s->config, (TlAvatarSource){s, get_avatar}, s->boundary,
                       s->boundaries, NULL));
  JUDGE_OK(stepper_add_closed(s->solver, CUBE, &tl_closed_box, cube));
  JUDGE_OK(stepper_add_sphere(s->solver, LARGE, 0.5 * D));
  JUDGE_OK(stepper_add_sphere(s->solver, SMALL, 0.5 * SMALL_D));
}

static void step(Scene *s) {
  JUDGE_OK(stepper_step(s->solver, &s->bodies, &s->report));
  tl_energy_balance_add(&s->energy, &s->report);
}

static double losses(const TlEnergyBalance *e) {
  return e->friction_J + e->viscous_J + e->impact_J + e->merge_J;
}

static void start_belt(Scene *s) {
  double end = (s->size.length + 15) * SMALL_D;
  add_plane(s, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1), true);
  add_plane(s, tl_vec3(0, 0, 0), tl_vec3(1, 0, 0), false);
  add_plane(s, tl_vec3(end, 0, 0), tl_vec3(-1, 0, 0), false);
  make_solver(s);
}

static void start_collapse(Scene *s) {
  TlVec3 up = {0, 0, 1}, x = {1, 0, 0}, y = {0, 1, 0};
  double side = s->size.length * D;
  add_plane(s, tl_vec3(0, 0, 0), up, true);
  add_plane(s, tl_vec3(0, 0, 0), x, false);
  add_plane(s, tl_vec3(0, -side / 2, 0), y, false);
  add_plane(s, tl_vec3(0, side / 2, 0), tl_scale(-1, y), false);
  add_plane(s, tl_vec3(side, 0, 0), tl_scale(-1, x), false);
  s->drive = (TlDrive){.until_s = s->size.begin_s + 0.1};
  s->boundary[4].drive = &s->drive;
  if (s->test == SERVIN_SHAPES) make_grains(s);
  make_solver(s);
  fill(s, s->size.count, tl_vec3(0, -side / 2, 0), tl_vec3(side, side / 2, 0),
       s->test == SERVIN_SHAPES ? 1.7 : 1.28, 0);
}

static void start_drum(Scene *s) {
  double radius = s->size.length / 2 * D, half = s->size.width / 2 * D;
  add_tube(s, radius);
  add_plane(s, tl_vec3(0, -half, 0), tl_vec3(0, 1, 0), false);
  add_plane(s, tl_vec3(0, half, 0), tl_vec3(0, -1, 0), false);
  make_solver(s);
  fill(s, s->size.count, tl_vec3(-radius, -half, -radius), tl_vec3(radius, half, 0), 1.02,
       radius - 0.55 * D);
}

static void start(Scene *s) {
  switch (s->test) {
  case SERVIN_CONVEYOR:
    start_belt(s);
    break;
  case SERVIN_DRUM:
    start_drum(s);
    break;
  default:
    start_collapse(s);
  }
  while (time_of(s) < s->size.begin_s - 1e-9) step(s);
}

/* From begin_s to end_s. */
static ServinResult watch(Scene *s, FILE *series) {
  double h = s->config.step_s;
  ServinResult r = {.front_m = front_of(s), .fall_J = potential_of(s)};
  double angles = 0, levels = 0, start_J = s->energy.error_J, taken_J = losses(&s->energy);
  int64_t angle_count = 0;
  for (int64_t k = llround(s->size.begin_s / h); (double)k * h < s->size.end_s; k++) {
    if (s->test == SERVIN_CONVEYOR) rain(s);
    double cpu = judge_thread_cpu_s();
    step(s);
    r.cpu_s += judge_thread_cpu_s() - cpu;
    r.reduction_s += s->report.reduction_s;
    r.merges += s->report.merges;
    r.splits += s->report.splits;
    r.overlap_share = fmax(r.overlap_share, s->report.overlap_share);
    double level =
        s->report.merged > 0 ? 1 - (double)s->report.units / (double)s->report.moving : 0;
    levels += level;
    if (series && k % 4 == 0) {
      double angle = angle_of(s);
      fprintf(series, isfinite(angle) ? "%g %g %g\n" : "%g %g ?\n", time_of(s), level, angle);
    }
    if (time_of(s) < s->drive.until_s) r.settled_level = level;
    r.steps++;
    if (s->size.mean_s > 0 && (double)k * h >= s->size.end_s - s->size.mean_s) {
      angles += angle_of(s);
      angle_count++;
    }
  }
  r.grains = (int)s->bodies.total;
  r.level = levels / (double)r.steps;
  r.angle_deg = angle_count > 0 ? angles / (double)angle_count : angle_of(s);
  r.front_m = front_of(s) - r.front_m;
  r.fall_J -= potential_of(s);
  r.merge_J = s->energy.merge_J;
  r.error_J = s->energy.error_J - start_J;
  r.losses_J = losses(&s->energy) - taken_J;
  return r;
}

static ServinResult run_variant(const Scene *settled, const ServinVariant *variant, FILE *series) {
  Scene s = *settled;
  memset(&s.bodies, 0, sizeof s.bodies);
  JUDGE_OK(tl_bodies_copy(&s.bodies, &settled->bodies));
  reduce(&s, variant);
  make_solver(&s);
  s.solver->steps = settled->solver->steps;
  ServinResult result = watch(&s, series);
  if (series) fprintf(series, "\n\n");
  stepper_free(s.solver);
  tl_bodies_free(&s.bodies);
  return result;
}

void servin_run(const ServinScene *scene, const ServinVariant *variant, int variants, FILE *series,
                ServinResult *result) {
  Scene s;
  memset(&s, 0, sizeof s);
  s.test = scene->test;
  s.size = sizes[scene->test][scene->large];
  tl_par_set_threads(1);
  s.random = (TlRandom){.seed = scene->seed, .stream = (uint64_t)scene->test};
  configure(&s, scene->double_radius);
  reduce(&s, &variant[variants - 1]); /* from begin_s on, as a study has it */
  start(&s);
  for (int k = 0; k < variants; k++) result[k] = run_variant(&s, &variant[k], series);
  stepper_free(s.solver);
  tl_bodies_free(&s.bodies);
  for (int i = 0; i < GRAINS; i++) tl_avatar_free(&s.grain[i]);
}
