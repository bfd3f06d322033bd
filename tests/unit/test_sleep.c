/* Islands at rest that sleep (solve/sleep.h): when they fall asleep, what wakes them, and what is kept. */
#include "support/stepper.h"
#include "support/materials.h"
#include "support/placed.h"
#include "support/tltest.h"

#include "base/file.h"
#include "base/par.h"
#include "run/departures.h"
#include "run/run.h"
#include "shape/superellipsoid.h"
#include "solve/sleep.h"

#include <stdio.h>

enum { BOX = 1, SLAB = 2, PEBBLE = 3, MOST_WALLS = 2, STEPS_TO_SLEEP = 900 };
static const double G = 9.81, SIDE = 0.02, SPEED = 1e-4;
static const TlQuat UPRIGHT = {1, 0, 0, 0};
static const TlVec3 NONE = {0, 0, 0};

typedef struct Lab {
  TlSolverConfig config;
  TlBoundaryPlane plane;
  TlBoundary wall[MOST_WALLS];
  int walls;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report;
  double slept_J;
  TlAvatar pebble;
} Lab;

static const TlAvatar *get_avatar(void *context, int64_t id) {
  Lab *lab = context;
  return id == PEBBLE ? &lab->pebble : NULL;
}

static void lab_open(Lab *lab, double sleep_speed) {
  memset(lab, 0, sizeof *lab);
  tl_par_set_threads(1);
  lab->config = tl_test_config();
  lab->config.impulses.sleep_speed = sleep_speed;
  lab->plane = (TlBoundaryPlane){NONE, tl_vec3(0, 0, 1)};
  lab->wall[lab->walls++] = (TlBoundary){.kind = &tl_boundary_plane, .data = &lab->plane};
}

/* A solver of another configuration takes over from the one before. */
static void lab_start(Lab *lab) {
  const double box[3] = {SIDE, SIDE, SIDE}, slab[3] = {SIDE, SIDE, 5 * SIDE};
  int64_t key = lab->solver ? lab->solver->sleep_key : 0;
  int64_t steps = lab->solver ? lab->solver->steps : 0;
  stepper_free(lab->solver);
  CK_OK(stepper_new(&lab->solver, &lab->config, (TlAvatarSource){lab, get_avatar}, lab->wall,
                    lab->walls, NULL));
  CK_OK(stepper_add_closed(lab->solver, BOX, &tl_closed_box, box));
  CK_OK(stepper_add_closed(lab->solver, SLAB, &tl_closed_box, slab));
  lab->solver->sleep_key = key;
  lab->solver->steps = steps;
}

static void lab_close(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
  tl_avatar_free(&lab->pebble);
}

static void run(Lab *lab, int steps) {
  for (int i = 0; i < steps; i++) {
    CK_OK(stepper_step(lab->solver, &lab->bodies, &lab->report));
    lab->slept_J += lab->report.sleep_J;
  }
}

static void put_stack(Lab *lab, double x, int boxes) {
  for (int k = 0; k < boxes; k++)
    tl_test_put(&lab->bodies, BOX, tl_vec3(x, 0, (k + 0.5) * SIDE), UPRIGHT, NONE);
}

static int asleep(const Lab *lab) {
  int n = 0;
  for (int64_t i = 0; i < lab->bodies.owned; i++) n += lab->bodies.asleep[i] != 0;
  ck_assert_int_eq(n, (int)lab->report.asleep);
  return n;
}

static TlVec3 momentum(const Lab *lab, double *mass) {
  TlVec3 sum = NONE;
  *mass = 0;
  for (int64_t i = 0; i < lab->bodies.owned; i++) {
    sum = tl_axpy(sum, lab->bodies.mass[i], lab->bodies.velocity[i]);
    *mass += lab->bodies.mass[i];
  }
  return sum;
}

/* On grains, by boundaries. */
static TlVec3 force_of_boundaries(const Lab *lab) {
  TlVec3 sum = NONE;
  TlContactRow *rows;
  int64_t count;
  CK_OK(stepper_contacts(lab->solver, &lab->bodies, &rows, &count));
  for (int64_t i = 0; i < count; i++)
    if (rows[i].second < 0) sum = tl_add(sum, rows[i].force_N);
  tl_free(rows);
  return sum;
}

START_TEST(a_stack_at_rest_falls_asleep_and_keeps_its_forces) {
  Lab lab, twin; /* the same without sleep */
  lab_open(&lab, SPEED);
  lab_open(&twin, 0);
  lab_start(&lab);
  lab_start(&twin);
  put_stack(&lab, 0, 3);
  put_stack(&twin, 0, 3);
  run(&lab, 1);
  run(&twin, 1);
  int64_t contacts = lab.report.contacts, steps = 1;
  double kinetic = 0, fall = sqrt(lab.bodies.radius[0] / G);
  for (; asleep(&lab) == 0; steps++) {
    ck_assert(steps < STEPS_TO_SLEEP);
    run(&lab, 1);
    run(&twin, 1);
    kinetic = twin.report.kinetic_J;
  }
  ck_assert_int_eq(asleep(&lab), 3);
  ck_assert((double)steps * 1e-3 >= 10 * fall); /* as long as sleep_after says */
  ck_assert(kinetic > 0);
  ck_assert(lab.slept_J == kinetic); /* to the bit: until now nothing was different */
  ck_assert(lab.report.kinetic_J == 0);
  for (int64_t i = 0; i < 3; i++)
    ck_assert(tl_norm(lab.bodies.velocity[i]) + tl_norm(lab.bodies.momentum[i]) == 0);
  run(&lab, 1000);
  ck_assert_int_eq(asleep(&lab), 3);
  ck_assert_int_eq(lab.report.lookups + lab.report.node_tests + lab.report.pairs, 0);
  ck_assert_int_eq(lab.report.contacts, contacts);
  ck_assert(lab.bodies.colliders.contacts[0] > lab.bodies.colliders.contacts[2]);
  double mass;
  momentum(&lab, &mass);
  TlVec3 borne = force_of_boundaries(&lab);
  CK_NEAR(borne.z / (mass * G), 1, 1e-3); /* rest_tolerance */
  /* no more than the speed of rest times the time has the other one gone since */
  run(&twin, 1000);
  for (int64_t i = 0; i < 3; i++)
    CK_NEAR(tl_norm(tl_sub(lab.bodies.position[i], twin.bodies.position[i])), 0, SPEED * G * 1e-3);
  lab_close(&lab);
  lab_close(&twin);
}
END_TEST

/* The momentum of all changes by what boundaries and gravity give, asleep or not. */
START_TEST(a_grain_that_falls_on_a_stack_wakes_it_and_no_other) {
  Lab lab;
  double mass;
  lab_open(&lab, SPEED);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, restitution, 0.3);
  lab_start(&lab);
  put_stack(&lab, 0, 3);
  put_stack(&lab, 1, 2);
  run(&lab, STEPS_TO_SLEEP);
  ck_assert_int_eq(asleep(&lab), 5);
  ck_assert(lab.bodies.asleep[0] != lab.bodies.asleep[3]);
  tl_test_put(&lab.bodies, BOX, tl_vec3(0, 0, 4.5 * SIDE), UPRIGHT, NONE);
  bool woken = false;
  double fastest = 0;
  for (int i = 0; i < 400; i++) {
    TlVec3 before = momentum(&lab, &mass);
    run(&lab, 1);
    TlVec3 after = momentum(&lab, &mass), borne = force_of_boundaries(&lab);
    double given = 1e-3 * (borne.z - mass * G);
    CK_NEAR((after.z - before.z - given) / (mass * G * 1e-3), 0, 1e-2);
    if (lab.bodies.asleep[0] == 0 && !woken) { /* all three, before anything came to overlap */
      woken = true;
      ck_assert_int_eq(asleep(&lab), 2);
      ck_assert(lab.bodies.velocity[5].z < -0.3);
    }
    ck_assert(lab.bodies.asleep[3] != 0 && lab.bodies.asleep[4] != 0);
    ck_assert(lab.report.overlap_share < 5e-3);
    for (int64_t k = 0; k < 3; k++) fastest = fmax(fastest, tl_norm(lab.bodies.velocity[k]));
  }
  ck_assert(woken);
  ck_assert(fastest > 1e-2); /* it was hit */
  run(&lab, 4 * STEPS_TO_SLEEP);
  ck_assert_int_eq(asleep(&lab), 6);
  ck_assert(lab.bodies.asleep[5] == lab.bodies.asleep[0]);
  lab_close(&lab);
}
END_TEST

START_TEST(a_velocity_that_somebody_gives_wakes_the_island) {
  Lab lab;
  lab_open(&lab, SPEED);
  lab_start(&lab);
  put_stack(&lab, 0, 3);
  put_stack(&lab, 1, 1);
  run(&lab, STEPS_TO_SLEEP);
  ck_assert_int_eq(asleep(&lab), 4);
  lab.bodies.velocity[2] = tl_vec3(0.2, 0, 0);
  run(&lab, 1);
  ck_assert_int_eq(asleep(&lab), 1);
  run(&lab, 20);
  ck_assert(lab.bodies.position[2].x > 1e-3);
  lab_close(&lab);
}
END_TEST

/* What the search by places knew of a pair goes to sleep and comes back. */
START_TEST(places_of_a_pair_sleep_with_it) {
  Lab lab;
  const TlRecord *place = &tl_pair_record[TL_PLACES], *search = &tl_pair_record[TL_PLACE_SEARCHES];
  lab_open(&lab, 1); /* they rock on each other for long */
  lab.config.damping_per_s = 50;
  CK_OK(tl_avatar_superellipsoid(0.009, 0.008, 0.004, 0.6, 0.8, 0.0006, 400, &lab.pebble));
  lab_start(&lab);
  for (int k = 0; k < 2; k++)
    tl_test_put(&lab.bodies, PEBBLE, tl_vec3(0, 0, 0.004 + 0.008 * k), lab.pebble.scan_rotation,
                NONE);
  const TlPairState *pairs = &lab.bodies.pairs;
  for (int i = 0; lab.report.asleep == 0; i++) {
    ck_assert(i < 3000);
    run(&lab, 1);
    if (lab.report.asleep > 0) break;
    ck_assert(i < 1 || pairs->of[TL_PLACES].count > 0);
  }
  ck_assert_uint_eq(pairs->of[TL_PLACES].count + pairs->of[TL_PLACE_SEARCHES].count, 0);
  ck_assert_uint_eq(pairs->of[TL_SLEEPING_SEARCHES].count, 1);
  size_t places = pairs->of[TL_SLEEPING_PLACES].count, contacts = pairs->of[TL_SLEEPING].count;
  ck_assert(places > 0 && contacts > 1);
  uint64_t place_hash = tl_record_hash(place, pairs->of[TL_SLEEPING_PLACES].row, 0, 0);
  uint64_t search_hash = tl_record_hash(search, pairs->of[TL_SLEEPING_SEARCHES].row, 0, 0);
  run(&lab, 5);
  CK_OK(tl_sleep_wake_all(&lab.bodies));
  ck_assert_uint_eq(pairs->of[TL_IMPULSES].count, contacts);
  ck_assert_uint_eq(pairs->of[TL_PLACES].count, places);
  ck_assert_uint_eq(tl_record_hash(place, pairs->of[TL_PLACES].row, 0, 0), place_hash);
  ck_assert_uint_eq(tl_record_hash(search, pairs->of[TL_PLACE_SEARCHES].row, 0, 0), search_hash);
  for (int k = TL_SLEEPING; k <= TL_SLEEPING_SEARCHES; k++)
    ck_assert_uint_eq(pairs->of[k].count, 0);
  run(&lab, 1); /* it begins from these: as slow as before */
  ck_assert(lab.report.speed_max_m_s < G * 1e-3);
  lab_close(&lab);
}
END_TEST

/* A floor that sinks after a while: what lies on it is woken at once and goes along. */
START_TEST(a_wall_that_moves_wakes_what_it_touches) {
  const double times[3] = {0, 1, 2};
  const TlVec3 places[3] = {NONE, NONE, tl_vec3(0, 0, -0.01)};
  TlDrive drive = {.rows = 3, .time_s = times, .displacement_m = places};
  Lab lab;
  lab_open(&lab, SPEED);
  lab.wall[0].drive = &drive;
  lab_start(&lab);
  put_stack(&lab, 0, 2);
  run(&lab, 999);
  ck_assert_int_eq(asleep(&lab), 2);
  run(&lab, 3);
  ck_assert_int_eq(asleep(&lab), 0);
  run(&lab, 900);
  ck_assert_int_eq(asleep(&lab), 0);
  CK_NEAR(lab.bodies.position[0].z, 0.5 * SIDE - 0.01 * 0.901, 1e-4);
  lab_close(&lab);
}
END_TEST

/* A lid that comes down from above reaches the stack after a while; it is awake by then. */
START_TEST(a_wall_that_comes_wakes_what_it_reaches) {
  TlBoundaryPlane lid = {tl_vec3(0, 0, 4 * SIDE), tl_vec3(0, 0, -1)};
  TlDrive drive = {.velocity_m_s = tl_vec3(0, 0, -0.04)};
  Lab lab;
  lab_open(&lab, SPEED);
  lab.wall[lab.walls++] = (TlBoundary){.kind = &tl_boundary_plane, .data = &lid, .drive = &drive};
  lab_start(&lab);
  put_stack(&lab, 0, 2);
  run(&lab, STEPS_TO_SLEEP); /* the lid at 2.2 sides, the top of the stack at 2 */
  ck_assert_int_eq(asleep(&lab), 2);
  run(&lab, 99);
  ck_assert_int_eq(asleep(&lab), 0);
  lab_close(&lab);
}
END_TEST

START_TEST(what_bodies_rely_on_wakes_all_when_it_changes) {
  Lab lab;
  lab_open(&lab, SPEED);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0.3);
  lab_start(&lab);
  put_stack(&lab, 0, 1);
  put_stack(&lab, 1, 1);
  run(&lab, STEPS_TO_SLEEP);
  ck_assert_int_eq(asleep(&lab), 2);
  lab_start(&lab); /* another solver, the same model: nothing wakes */
  run(&lab, 2);
  ck_assert_int_eq(asleep(&lab), 2);
  lab.config.gravity_m_s2 = tl_vec3(G * sin(0.6), 0, -G * cos(0.6)); /* tan 0.6 = 0.68 */
  lab_start(&lab);
  run(&lab, 100);
  ck_assert_int_eq(asleep(&lab), 0);
  double distance = 0.5 * 0.1 * 0.1 * G * (sin(0.6) - 0.3 * cos(0.6));
  CK_NEAR(lab.bodies.position[0].x / distance, 1, 0.02);
  CK_NEAR((lab.bodies.position[1].x - 1) / distance, 1, 0.02);
  lab_close(&lab);
  /* a friction that controls ask for */
  lab_open(&lab, SPEED);
  TL_TEST_SET(&lab.config, TL_TEST_BOTH, friction, 0.9);
  lab.config.gravity_m_s2 = tl_vec3(G * sin(0.6), 0, -G * cos(0.6));
  lab_start(&lab);
  put_stack(&lab, 0, 1);
  run(&lab, STEPS_TO_SLEEP);
  ck_assert_int_eq(asleep(&lab), 1);
  TlFrictionControl slippery = {TL_MATERIAL_GRAIN, TL_MATERIAL_BOUNDARY, 0.2};
  lab.solver->controls.friction = &slippery;
  lab.solver->controls.friction_count = 1;
  run(&lab, 20);
  ck_assert_int_eq(asleep(&lab), 0);
  ck_assert(lab.bodies.velocity[0].x > 0.05);
  lab.solver->controls.friction = NULL;
  lab.solver->controls.friction_count = 0;
  lab_close(&lab);
  /* sleep that is no longer allowed, and a method that knows none */
  for (int k = 0; k < 2; k++) {
    lab_open(&lab, SPEED);
    lab_start(&lab);
    put_stack(&lab, 0, 2);
    run(&lab, STEPS_TO_SLEEP);
    ck_assert_int_eq(asleep(&lab), 2);
    if (k == 0) {
      lab.config.impulses.sleep_speed = 0;
    } else {
      lab.config = tl_test_nonsmooth();
      TL_TEST_SET(&lab.config, TL_TEST_BOTH, stiffness.young_Pa, 1e7);
    }
    lab_start(&lab);
    run(&lab, 1);
    for (int64_t i = 0; i < 2; i++) ck_assert(lab.bodies.asleep[i] == 0);
    ck_assert_uint_eq(lab.bodies.pairs.of[TL_SLEEPING].count, 0);
    lab_close(&lab);
  }
}
END_TEST

/* A slab on an edge of its foot, out of balance by so little that for a long time it is slower than a
 * body at rest may be: it tips over. */
START_TEST(what_tips_over_slowly_does_not_fall_asleep) {
  Lab lab;
  lab_open(&lab, SPEED);
  lab_start(&lab);
  double balance = atan(1.0 / 5), lean = balance + 2e-7;
  TlVec3 centre = {2.5 * SIDE * sin(lean) - 0.5 * SIDE * cos(lean), 0,
                   2.5 * SIDE * cos(lean) + 0.5 * SIDE * sin(lean)};
  tl_test_put(&lab.bodies, SLAB, centre, tl_quat_from_rotation(tl_vec3(0, lean, 0)), NONE);
  double most = SPEED * G * 1e-3;
  int slow = 0, steps = 0;
  for (; lab.bodies.position[0].z > SIDE && steps < 5000; steps++) {
    run(&lab, 1);
    slow += tl_step_speed(&lab.bodies, 0) <= most;
    if (lab.bodies.position[0].z > 2 * SIDE) ck_assert_int_eq(asleep(&lab), 0);
  }
  ck_assert(slow > 20); /* it did begin that slowly */
  ck_assert(lab.bodies.position[0].z < SIDE);
  lab_close(&lab);
}
END_TEST

/* ---- runs ---- */

static const char heap_study[] =
    "time: {dt_s: 1.0e-3, steps: %d, frame_every_s: 0.05, history_every_s: 0.01}\n"
    "shapes:\n"
    "- {name: brick, kind: box, size_m: [2.0e-3, 1.5e-3, 1.2e-3]}\n"
    "bodies:\n"
    "- {shape: brick, position_m: [0, 0, 6.0e-4], count: 3, step_m: [0, 0, 1.2e-3]}\n"
    "- {shape: brick, position_m: [0.01, 0, 6.0e-4], count: 2, step_m: [0, 0, 1.2e-3]}\n"
    "- {shape: brick, position_m: [0, 0, 0.4], velocity_m_s: [0, 0, -0.1]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "frames: {contacts: yes}\n"
    "solver: {sleep_speed: 2.0e-3}\n"
    "checkpoint: {every_steps: 50}\n";

static void write_study(char path[512], int steps) {
  char text[2048];
  snprintf(path, 512, "%s/sleep.yaml", tl_test_folder());
  int size = snprintf(text, sizeof text, heap_study, steps);
  CK_OK(tl_file_write(path, text, (size_t)size, true));
}

START_TEST(who_takes_a_grain_out_wakes_what_lay_on_it) {
  char study[512];
  TlRun r;
  write_study(study, 200);
  TlRunOptions options = {.study = study, .no_output = true};
  CK_OK(tl_run_open(&r, NULL, &options));
  CK_OK(tl_run_begin(&r));
  for (int i = 0; i < 200; i++) CK_OK(tl_run_step(&r));
  TlBodies *b = &r.state->dem.bodies;
  ck_assert_int_eq(r.state->totals.last.asleep, 5);
  ck_assert(r.state->totals.sleep_J > 0);
  double z = b->position[2].z;
  unsigned char leaves[6] = {TL_EMBEDDED_OUT};
  CK_OK(tl_departures_take(&r, leaves, true, 200));
  ck_assert_int_eq(b->owned, 5);
  for (int i = 0; i < 10; i++) CK_OK(tl_run_step(&r));
  CK_NEAR((b->position[1].z - z) / (0.5 * G * 1e-4), -1, 0.2); /* the top one falls, number 1 now */
  tl_run_close(&r);
}
END_TEST

typedef struct Ended {
  uint64_t hash;
  double slept_J;
  int64_t asleep;
} Ended;

static int stop_at(void *context) {
  return --*(int *)context == 0;
}

static Ended go(const char *study, const char *name, bool resume, int stop_after, int threads) {
  char output[512];
  TlRun r;
  Ended end;
  snprintf(output, sizeof output, "%s/%s.run", tl_test_folder(), name);
  TlRunOptions options = {.study = study,
                          .output = output,
                          .resume = resume,
                          .overwrite = !resume,
                          .stop = stop_after ? stop_at : NULL,
                          .stop_context = &stop_after};
  tl_par_set_threads(threads);
  CK_OK(tl_run_open(&r, NULL, &options));
  TlStatus status = tl_run_go(&r);
  ck_assert(status == TL_OK || status == TL_ELIMIT);
  CK_OK(tl_run_hash(&r, &end.hash));
  end.slept_J = r.state->totals.sleep_J;
  end.asleep = r.state->totals.last.asleep;
  tl_run_close(&r);
  tl_par_set_threads(1);
  return end;
}

/* Stopped while grains sleep, and gone on past the blow that wakes some of them. */
START_TEST(a_run_that_resumes_has_the_same_bits) {
  char study[512];
  write_study(study, 800);
  Ended whole = go(study, "whole", false, 0, 1);
  Ended part = go(study, "part", false, 230, 1);
  ck_assert_int_eq(part.asleep, 5);
  Ended resumed = go(study, "part", true, 0, 1);
  Ended threads = go(study, "threads", false, 0, 2);
  ck_assert_uint_eq(resumed.hash, whole.hash);
  ck_assert(resumed.slept_J == whole.slept_J && resumed.asleep == whole.asleep);
  ck_assert_uint_eq(threads.hash, whole.hash);
  ck_assert_int_eq(whole.asleep, 6);
}
END_TEST

TL_TEST_MAIN("sleep", a_stack_at_rest_falls_asleep_and_keeps_its_forces,
             a_grain_that_falls_on_a_stack_wakes_it_and_no_other,
             a_velocity_that_somebody_gives_wakes_the_island, places_of_a_pair_sleep_with_it,
             a_wall_that_moves_wakes_what_it_touches, a_wall_that_comes_wakes_what_it_reaches,
             what_bodies_rely_on_wakes_all_when_it_changes,
             what_tips_over_slowly_does_not_fall_asleep, who_takes_a_grain_out_wakes_what_lay_on_it,
             a_run_that_resumes_has_the_same_bits)
