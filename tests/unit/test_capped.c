/* Keys of the penalty method that specimens start with: the force cap, fewer nodes, more mass. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "run/run.h"
#include "run/plan.h"
#include "shape/superellipsoid.h"
#include "shape/nodes.h"

enum { SPHERE = 1 };
static const double R = 0.01, RHO = 2600, K = 1e5;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

typedef struct Lab {
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
  TlBoundaryPlane plane[6];
  TlBoundary boundary[6];
} Lab;

static double mass(void) {
  return 4.0 / 3 * M_PI * R * R * R * RHO;
}

static TlSolverConfig springs(double most_share) {
  TlSolverConfig c = tl_test_config();
  tl_par_set_threads(1);
  c.method = TL_PENALTY;
  c.gravity_m_s2 = NONE;
  c.density_kg_m3 = RHO;
  TL_TEST_SET(&c, TL_TEST_BOTH, friction, 0);
  TL_TEST_SET(&c, TL_TEST_BOTH, restitution, 1);
  c.step_s = 0.02 * sqrt(mass() / K);
  c.penalty.spread = TL_SPREAD_DEEPEST;
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.normal_N_m, K);
  TL_TEST_SET(&c, TL_TEST_BOTH, stiffness.tangential_ratio, 2.0 / 7);
  c.penalty.most_share = most_share;
  return c;
}

/* In a box of this half side about the origin; 0: in the open. */
static void start(Lab *lab, const TlSolverConfig *config, double half) {
  int walls = half > 0 ? 6 : 0;
  for (int i = 0; i < walls; i++) {
    double side = i % 2 ? -1 : 1;
    TlVec3 n = tl_vec3(i / 2 == 0 ? side : 0, i / 2 == 1 ? side : 0, i / 2 == 2 ? side : 0);
    lab->plane[i] = (TlBoundaryPlane){tl_scale(-half, n), n};
    lab->boundary[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &lab->plane[i]};
  }
  CK_OK(stepper_new(&lab->solver, config, (TlAvatarSource){0}, lab->boundary, walls, NULL));
  CK_OK(stepper_add_sphere(lab->solver, SPHERE, R));
}

static void step(Lab *lab) {
  CK_OK(stepper_step(lab->solver, &lab->bodies, &lab->report));
}

static void finish(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
}

static double kinetic(const Lab *lab) {
  double sum = 0;
  for (int64_t i = 0; i < lab->bodies.owned; i++)
    sum += 0.5 * mass() * tl_norm2(lab->bodies.velocity[i]);
  return sum;
}

/* ---- two spheres ---- */

/* What the capped spring can give from this depth: force times displacement up to the cap, then the spring.
 */
static double stored(double depth, double cap) {
  double spring = fmin(depth, cap);
  return 0.5 * K * spring * spring + K * spring * (depth - spring);
}

START_TEST(two_spheres_deep_in_each_other_are_parted_by_the_capped_spring) {
  for (int k = 0; k < 3; k++) {
    double fraction = k == 2 ? 0 : 0.05 + 0.1 * k, depth = 0.8 * R,
           cap = fraction > 0 ? fraction * R : INFINITY;
    TlSolverConfig config = springs(fraction);
    Lab lab = {0};
    int deep = 0;
    start(&lab, &config, 0);
    tl_test_put(&lab.bodies, SPHERE, NONE, UPRIGHT, NONE);
    tl_test_put(&lab.bodies, SPHERE, tl_vec3(2 * R - depth, 0, 0), UPRIGHT, NONE);
    double energy = stored(depth, cap), most = 0;
    for (int i = 0; i < 100000; i++) {
      double now = 2 * R - fabs(lab.bodies.position[1].x - lab.bodies.position[0].x);
      step(&lab);
      if (now <= 0) break;
      CK_NEAR(lab.report.contact_N, K * fmin(now, cap), 1e-9 * K * R);
      ck_assert_int_eq(lab.report.capped, now > cap);
      CK_NEAR((lab.report.kinetic_J + lab.report.elastic_J) / energy, 1, 2e-3);
      deep += (int)lab.report.capped;
      most = fmax(most, kinetic(&lab));
    }
    ck_assert_int_eq(lab.report.touching, 0);
    CK_NEAR(lab.bodies.velocity[0].x + lab.bodies.velocity[1].x, 0, 1e-12);
    ck_assert_msg(most <= energy * (1 + 2e-3), "%g of %g J", most,
                  energy); /* of the step's order */
    CK_NEAR(kinetic(&lab) / energy, 1, 2e-3);
    ck_assert(fraction > 0 ? deep > 100 : deep == 0);
    finish(&lab);
  }
}
END_TEST

/* ---- a packing ---- */

enum { SIDE = 4, ALL = SIDE * SIDE * SIDE };

/* Spheres 1.5 R apart but for a random displacement: each lies deep in several. */
static void put_packing(Lab *lab) {
  double cell = 1.5 * R;
  for (int i = 0; i < ALL; i++) {
    double x[3];
    for (int a = 0; a < 3; a++)
      x[a] = 0.5 * R * (tl_random_uniform(7, 1, (uint64_t)(3 * i + a)) - 0.5);
    TlVec3 p = tl_vec3(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
    p = tl_scale(cell, tl_sub(p, tl_scale(0.5 * (SIDE - 1), tl_vec3(1, 1, 1))));
    tl_test_put(&lab->bodies, SPHERE, tl_add(p, tl_vec3(x[0], x[1], x[2])), UPRIGHT, NONE);
  }
}

typedef struct Relaxed {
  double most_speed, last_speed, fraction, deepest;
  int64_t capped_first, capped_last;
} Relaxed;

static Relaxed relax(double most_share, int steps) {
  double half = 5 * R;
  TlSolverConfig config = springs(most_share);
  Lab lab = {0};
  Relaxed r = {0};
  TL_TEST_SET(&config, TL_TEST_BOTH, friction, 0.3);
  TL_TEST_SET(&config, TL_TEST_BOTH, restitution, 0.2);
  config.damping_per_s = 100;
  start(&lab, &config, half);
  put_packing(&lab);
  for (int i = 0; i < steps; i++) {
    step(&lab);
    if (i == 0) r.capped_first = lab.report.capped;
    if (i == 0) r.deepest = lab.report.overlap_share;
    r.last_speed = 0;
    for (int k = 0; k < ALL; k++) {
      double v = tl_norm(lab.bodies.velocity[k]);
      r.last_speed = fmax(r.last_speed, v);
      TlVec3 p = lab.bodies.position[k];
      ck_assert(fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) < half);
    }
    r.most_speed = fmax(r.most_speed, r.last_speed);
  }
  r.capped_last = lab.report.capped;
  r.fraction = lab.report.overlap_share;
  finish(&lab);
  return r;
}

/* No sphere is pushed by more than 12 others at the cap's force over a distance of its diameter:
 * 1/2 m v^2 <= 12 K fraction R 2 R bounds its speed whatever the packing; the springs alone pass it.
 */
START_TEST(a_packing_drawn_with_overlaps_relaxes) {
  double fraction = 0.02, bound = sqrt(2 * 12 * K * fraction * R * 2 * R / mass());
  Relaxed r = relax(fraction, 12000), free = relax(0, 400);
  ck_assert_msg(r.deepest > 0.3, "%g", r.deepest);
  ck_assert_int_gt(r.capped_first, ALL);
  ck_assert_int_eq(free.capped_first, 0);
  ck_assert_msg(r.most_speed < bound, "%g m/s of %g", r.most_speed, bound);
  ck_assert_msg(r.most_speed < 0.5 * free.most_speed, "%g of %g m/s", r.most_speed,
                free.most_speed);
  ck_assert_int_eq(r.capped_last, 0);
  ck_assert_msg(r.fraction < fraction && r.fraction >= 0, "%g", r.fraction);
  ck_assert_msg(r.last_speed < 0.01 * r.most_speed, "%g of %g m/s", r.last_speed, r.most_speed);
}
END_TEST

/* ---- fewer nodes ---- */

START_TEST(kept_nodes_carry_the_whole_surface) {
  TlAvatar a, b;
  CK_OK(tl_avatar_superellipsoid(1.2e-3, 1e-3, 8e-4, 0.7, 0.7, 1e-4, 301, &a));
  for (int every = 1; every <= 7; every += 3) {
    a.borrowed = every % 2 == 0; /* as shapes that ranks share are: what is thinned is not */
    CK_OK(tl_avatar_thin(&a, every, &b));
    ck_assert(!b.borrowed);
    a.borrowed = false;
    ck_assert_int_eq(b.node_count, (a.node_count + every - 1) / every);
    double sum = 0, least = INFINITY, most = 0;
    for (int32_t i = 0; i < b.node_count; i++) {
      for (int k = 0; k < 3; k++) ck_assert(b.node_m[3 * i + k] == a.node_m[3 * every * i + k]);
      sum += b.node_area_m2[i];
      least = fmin(least, b.node_area_m2[i]);
      most = fmax(most, b.node_area_m2[i]);
      if (every == 1) ck_assert(b.node_area_m2[i] == a.node_area_m2[i]);
    }
    CK_NEAR(sum / a.area_m2, 1, 1e-5);
    double mean = sum / b.node_count; /* each is at least its own old area, here a seventh */
    ck_assert_msg(least > 0.05 * mean && most < 4 * mean, "%g to %g of %g", least, most, mean);
    ck_assert(b.volume_m3 == a.volume_m3 && b.radius_m == a.radius_m && b.nx == a.nx);
    ck_assert(memcmp(a.phi, b.phi, (size_t)a.nx * (size_t)a.ny * (size_t)a.nz * sizeof *a.phi) ==
              0);
    tl_avatar_free(&b);
  }
  CK_FAILS(tl_avatar_thin(&a, 200, &b), TL_EINPUT, "fewer than 4");
  tl_avatar_free(&a);
}
END_TEST

/* ---- studies ---- */

static void open_run(TlRun *run, const char *text) {
  char *path = tl_path_join(tl_test_folder(), "s.yaml");
  TlRunOptions options = {.study = path, .no_output = true};
  tl_log_set("test", TL_LOG_WARN);
  tl_par_set_threads(1);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  CK_OK(tl_run_open(run, NULL, &options));
  tl_free(path);
}

#define STONE                                                                                      \
  "shapes:\n- {name: stone, kind: box, gridded: yes, size_m: [6e-3, 5e-3, 4e-3], spacing_m: "      \
  "5e-4, nodes: 240}\n- {name: ball, diameter_m: 4e-3}\n"                                          \
  "bodies:\n- {shape: stone, position_m: [0, 0, 0.00199], spin_rad_s: [0, 0, 2]}\n"                \
  "- {shape: ball, position_m: [0.02, 0, 0.00199]}\n"                                              \
  "- {shape: ball, position_m: [0.04, 0, 0.1]}\n"                                                  \
  "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"                                            \
  "nets: [{along_m: [0.02, 0, 0], across_m: [0, 0.02, 0], corner_m: [0.1, 0, 0.1], spacing_m: "    \
  "5e-3, radius_m: 1e-3, stiffness_N_m: 10, density_kg_m3: 2000}]\n"
#define PENALTY "solver: {method: penalty}\n"

static const TlShape *shape_of(TlRun *run, int64_t i) {
  CK_OK(tl_run_refresh(run));
  return run->state->dem.bodies.colliders.shape[i];
}

/* On its flat face it sinks to the depth that bears its weight; half the nodes stand for the same
 * face. By impulses the key says nothing. */
START_TEST(thinned_grains_rest_at_the_same_depth) {
  double deep[2];
  int32_t nodes[2];
  for (int k = 0; k < 2; k++) {
    TlRun run;
    char *text = tl_format("time: {dt_s: 2e-5, steps: 4000}\ncontact: {restitution: 0.1, "
                           "boundary_restitution: 0.1, damping_per_s: 20}\n" STONE PENALTY
                           "penalty: {normal_Pa_m: 1e8, normal_N_m: 1000, nodes_every: %d}\n",
                           k == 0 ? 1 : 2);
    open_run(&run, text);
    nodes[k] = shape_of(&run, 0)->avatar->node_count;
    CK_OK(tl_run_go(&run));
    deep[k] = run.state->totals.last.boundary_overlap_m;
    tl_run_close(&run);
    tl_free(text);
  }
  ck_assert_int_eq(nodes[1], (nodes[0] + 1) / 2);
  double want = 2650 * 9.81 * 4e-3 / 1e8; /* weight over stiffness of the face */
  ck_assert_msg(fabs(deep[0] / want - 1) < 0.3 && fabs(deep[1] / deep[0] - 1) < 0.25,
                "%g and %g of %g m", deep[0], deep[1], want);
  TlRun run;
  open_run(&run,
           "time: {dt_s: 1e-4, steps: 1}\n" STONE "penalty: {nodes_every: 2, mass_scale: 9}\n");
  ck_assert_int_eq(shape_of(&run, 0)->avatar->node_count, nodes[0]);
  CK_NEAR(run.state->dem.bodies.mass[1] / (2650 * 4 * M_PI / 3 * 8e-9), 1, 1e-12);
  tl_run_close(&run);
}
END_TEST

static void open_stones(TlRun *run, double mass_scale) {
  char *text = tl_format("time: {dt_s: 5e-6, steps: 2000}\ncontact: {restitution: 0.1, "
                         "boundary_restitution: 0.1, damping_per_s: 20}\n" STONE PENALTY
                         "penalty: {normal_Pa_m: 1e8, normal_N_m: 1000, mass_scale: %g}\n",
                         mass_scale);
  open_run(run, text);
  tl_free(text);
}

START_TEST(scaled_masses_weigh_what_they_did) {
  TlRun one, many;
  double safe[2];
  open_stones(&one, 1);
  open_stones(&many, 16);
  CK_OK(tl_safe_step(&one, &safe[0]));
  CK_OK(tl_safe_step(&many, &safe[1]));
  CK_NEAR(safe[1] / safe[0], 4, 1e-12);
  CK_NEAR(safe[0], 0.1 * sqrt(one.state->dem.bodies.mass[1] / 1000),
          1e-15); /* the ball's, a point's */
  TlSolverConfig a = tl_setup_solver(&one.model->setup), b = tl_setup_solver(&many.model->setup);
  CK_NEAR(b.density_kg_m3 * b.gravity_m_s2.z, a.density_kg_m3 * a.gravity_m_s2.z, 1e-9);
  for (int64_t i = 0; i < one.state->dem.bodies.owned; i++) { /* net and bodies */
    CK_NEAR(many.state->dem.bodies.mass[i] / one.state->dem.bodies.mass[i], 16, 1e-12);
    CK_NEAR(many.state->dem.bodies.inertia[i].x / one.state->dem.bodies.inertia[i].x, 16, 1e-12);
  }
  CK_NEAR(tl_bodies_spin(&many.state->dem.bodies, 0).z, 2, 1e-12);
  CK_OK(tl_run_go(&one));
  double fall = one.state->dem.bodies.position[2].z;
  CK_OK(tl_run_go(&many));
  /* the ball in the air falls in 4 times the time as far as without */
  CK_NEAR((0.1 - many.state->dem.bodies.position[2].z) / (0.1 - fall), 1.0 / 16, 1e-3);
  CK_NEAR(many.state->totals.potential_start_J / one.state->totals.potential_start_J, 1, 1e-12);
  tl_run_close(&one);
  tl_run_close(&many);
}
END_TEST

TL_TEST_MAIN("capped", two_spheres_deep_in_each_other_are_parted_by_the_capped_spring,
             a_packing_drawn_with_overlaps_relaxes, kept_nodes_carry_the_whole_surface,
             thinned_grains_rest_at_the_same_depth, scaled_masses_weigh_what_they_did)
