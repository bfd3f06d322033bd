/* 1600 grains of about 2560 nodes in a container, and out of it (Tan 2024, section 6.2, Table 2).
 *
 * Tan's grains come from scans that are not public; ours are 16 irregular shapes of all four kinds,
 * each copied a hundred times into memory of its own, so that 1600 grids are held and walked as if
 * all grains differed; a grain scale gives the mass ratio of 30. His lengths are pixels and his
 * gravity is not told: the step is 0.01 sqrt(d50/g), about what lets 800 pixels of height flow out
 * and settle in his 8 s (4000 steps of 2e-3 s). R_n, mu, damping as in Table 1.
 *
 * The packing in the container is data/outflow_1600.csv; `bench_outflow --full` pours it afresh,
 * with grains of few nodes, and leaves poured.csv in its folder.
 */
#include "judge/calibrate.h"
#include "support/materials.h"
#include "judge/judge.h"
#include "judge/scene.h"

#include "base/mem.h"
#include "base/par.h"

enum { GRAINS = 1600, SHAPES = 16, PLACES = 100, POUR = 100 };
static const double D50 = 0.01, BOX = 0.145, MASS_RATIO = 30, G = 9.81;
static const double STEP = 0.01, LONG_STEP = 0.04; /* in sqrt(d50/g) */
static const double RESTITUTION = 0.65;

typedef struct Cost { /* means a step over a phase */
  double cpu_s, detect_s, etm_s, rest_s, contacts, pairs, overlap;
} Cost;

static double unit_time(void) {
  return sqrt(D50 / G);
}

/* Grains of like volume in the mean: masses spread evenly in their logarithm over the ratio. */
static double scale_of(int i) {
  double u = tl_random_uniform(5, 1, (uint64_t)i) - 0.5;
  return pow(MASS_RATIO, u / 3);
}

typedef struct Grade { /* a resolution of the same shapes */
  double cells;
  int32_t nodes;
  TlAvatar shape[SHAPES];
} Grade;

static TlStatus make_some(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  (void)block;
  (void)thread;
  Grade *grade = context;
  for (int64_t i = begin; i < end; i++)
    judge_grain((TlGrainKind)(i % 4), D50, grade->cells, grade->nodes, 100 + (uint64_t)i,
                &grade->shape[i]);
  return TL_OK;
}

/* Height at which a sphere of radius r at (x, y) rests on those that lie below it. */
static double resting_height(const TlBodies *bodies, const double *reach, double x, double y,
                             double r) {
  double z = r;
  for (int64_t i = 0; i < bodies->owned; i++) {
    double dx = bodies->position[i].x - x, dy = bodies->position[i].y - y, sum = reach[i] + r;
    double left = sum * sum - dx * dx - dy * dy;
    if (left > 0) z = fmax(z, bodies->position[i].z + sqrt(left));
  }
  return z;
}

/* Bounding spheres rained into the box: each at the lowest of some random places. */
static void put_grains(JudgeScene *scene) {
  static double reach[GRAINS];
  TlRandom random = {7, 2, 0};
  for (int i = 0; i < GRAINS; i++) {
    double scale = scale_of(i), r = 1.01 * scale * scene->avatar[i % SHAPES]->radius_m,
           free = BOX - 2 * r;
    TlVec3 best = {0, 0, INFINITY};
    for (int trial = 0; trial < PLACES; trial++) {
      double x = r + free * tl_random_next(&random), y = r + free * tl_random_next(&random);
      double z = resting_height(&scene->bodies, reach, x, y, r);
      if (z < best.z) best = tl_vec3(x, y, z);
    }
    reach[i] = r;
    judge_scene_put(scene, i % SHAPES + 1, scale, best, judge_turned(&random), tl_vec3(0, 0, 0));
  }
}

static Cost measure(JudgeScene *scene, int steps) {
  Cost c = {0};
  double start = judge_cpu_s();
  for (int i = 0; i < steps; i++) {
    judge_scene_steps(scene, 1);
    const TlStepReport *r = &scene->report;
    c.detect_s += r->detect_s / steps;
    c.etm_s += r->etm_s / steps;
    c.rest_s += r->rest_s / steps;
    c.contacts += (double)r->contacts / steps;
    c.pairs += (double)r->pairs / steps;
    c.overlap = fmax(c.overlap, fmax(r->overlap_share, r->boundary_overlap_share));
  }
  c.cpu_s = (judge_cpu_s() - start) / steps;
  return c;
}

/* A solver of another step or restitution; contact memory lies with the bodies and stays. */
static void restart(JudgeScene *scene, double step, double restitution, double damping) {
  TlSolverConfig *c = &scene->config;
  c->step_s = step * unit_time();
  c->damping_per_s = damping / unit_time();
  TL_TEST_SET(c, TL_TEST_BOTH, friction, 0.55);
  TL_TEST_SET(c, TL_TEST_BOTH, restitution, restitution);
  stepper_free(scene->solver);
  judge_scene_start(scene);
  JUDGE_OK(stepper_refresh(scene->solver, &scene->bodies));
}

static void write_poses(const TlBodies *bodies) {
  FILE *file = judge_data("poured.csv");
  for (int i = 0; i < GRAINS; i++) {
    TlVec3 x = bodies->position[i];
    TlQuat q = bodies->rotation[i];
    fprintf(file, "%.7g %.7g %.7g %.7g %.7g %.7g %.7g\n", x.x, x.y, x.z, q.w, q.x, q.y, q.z);
  }
  if (fclose(file)) judge_ok(tl_fail(TL_EIO, "cannot write poured.csv"), "pour");
}

/* A packing from coarse grains without rebound, from a rain of their bounding spheres. */
static void pour(const Grade *coarse) {
  JudgeScene scene;
  TlAvatar copy;
  judge_scene_open(&scene);
  for (int i = 0; i < SHAPES; i++) {
    judge_avatar_copy(&coarse->shape[i], &copy);
    judge_scene_avatar(&scene, &copy);
  }
  judge_scene_box(&scene, BOX, BOX);
  put_grains(&scene);
  restart(&scene, LONG_STEP, 0, 0);
  for (int i = 0; i < POUR; i += 20) {
    Cost c = measure(&scene, 20);
    fprintf(stderr, "step %d of %d, kinetic energy %g J, overlap %g, %g s CPU a step\n", i + 20,
            POUR, scene.report.kinetic_J, c.overlap, c.cpu_s);
    write_poses(&scene.bodies);
  }
  judge_scene_close(&scene);
}

static void read_poses(const char *path, TlVec3 x[GRAINS], TlQuat q[GRAINS]) {
  FILE *file = fopen(path, "r");
  int n = 0;
  while (file && n < GRAINS &&
         fscanf(file, "%lf %lf %lf %lf %lf %lf %lf", &x[n].x, &x[n].y, &x[n].z, &q[n].w, &q[n].x,
                &q[n].y, &q[n].z) == 7)
    n++;
  if (file) fclose(file);
  judge_ok(n == GRAINS ? TL_OK : tl_fail(TL_EIO, "%s: %d poses", path, n), "the packing");
}

/* 1600 fine avatars, each with memory of its own, where the coarse ones were poured; notes the
 * grains' memory: what is allocated for the copies and for what the solver makes of them. */
static void load(JudgeScene *scene, const char *path, const Grade *coarse, const Grade *fine) {
  static TlVec3 x[GRAINS];
  static TlQuat q[GRAINS];
  TlAvatar copy;
  read_poses(path, x, q);
  double before = (double)judge_held_bytes(), phi = 0;
  judge_scene_box(scene, BOX, BOX);
  for (int i = 0; i < GRAINS; i++) {
    judge_avatar_copy(&fine->shape[i % SHAPES], &copy);
    phi += 4.0 * copy.nx * copy.ny * copy.nz;
    int64_t id = judge_scene_avatar(scene, &copy);
    judge_same_pose(&coarse->shape[i % SHAPES], &fine->shape[i % SHAPES], scale_of(i), &x[i],
                    &q[i]);
    judge_scene_put(scene, id, scale_of(i), x[i], q[i], tl_vec3(0, 0, 0));
  }
  restart(scene, STEP, RESTITUTION, 0.5);
  double grown = (double)judge_held_bytes() - before;
  judge_at_most(JUDGE_GOAL, "outflow_memory", grown * 1e-9, "GB", 0.9);
  judge_paper("outflow_memory", grown * 1e-9, 3.36, "GB", "Tan 2024, 6.2");
  judge_note(
      "A grain takes %.0f kB, of which its distances %.0f kB (float32, %.0f cells across, %d "
      "nodes). The paper's 2.1 MB a grain are about 63 x 63 x 63 doubles.",
      grown * 1e-3 / GRAINS, phi * 1e-3 / GRAINS, fine->cells, fine->nodes);
}

static void tell(const char *phase, Cost c) {
  judge_note("%s: %.1f ms CPU a step on one thread (wall: search %.1f, impacts %.1f, rest %.1f), "
             "%.0f pairs, %.0f contacts, deepest overlap %.2f%% of the radius.",
             phase, 1e3 * c.cpu_s, 1e3 * c.detect_s, 1e3 * c.etm_s, 1e3 * c.rest_s, c.pairs,
             c.contacts, 100 * c.overlap);
}

static void walls_away(JudgeScene *scene) {
  for (int i = 1; i <= 4; i++) scene->plane[i].point = tl_scale(-1e3, scene->plane[i].normal);
}

int main(int argc, char **argv) {
  judge_open("outflow", argc, argv);
  static Grade coarse = {.cells = 16, .nodes = 300}, fine = {.cells = 40, .nodes = 2560};
  JUDGE_OK(tl_par_blocks(SHAPES, 1, make_some, &coarse));
  JUDGE_OK(tl_par_blocks(SHAPES, 1, make_some, &fine));
  if (judge_full()) pour(&coarse);
  JudgeScene scene;
  judge_scene_open(&scene);
  load(&scene, judge_full() ? judge_path("poured.csv") : "data/outflow_1600.csv", &coarse, &fine);
  tl_par_set_threads(1);
  judge_scene_steps(&scene, 10);
  tell("In the container", measure(&scene, 10));
  walls_away(&scene);
  tell("Walls just gone", measure(&scene, 20));
  judge_scene_steps(&scene, 80);
  Cost flow = measure(&scene, 20);
  tell("Flowing out, 1 sqrt(d50/g) later", flow);
  judge_at_most(JUDGE_GOAL, "outflow_cpu_a_step", flow.cpu_s / judge_machine_factor(), "s", 0.03);
  judge_paper("outflow_cpu_a_step", flow.cpu_s, 0.63, "s",
              "Tan 2024, Table 2: 42 min for 4000 steps");
  judge_scene_close(&scene);
  return judge_close();
}
