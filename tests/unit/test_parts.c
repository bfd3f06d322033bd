/* Bodies of several colliders against closed forms, by impulses and by penalty: mass, moments of
 * inertia, drop, slide, spin, collision; their records; contact memory that outlives a change of
 * body. */
#include "support/placed.h"
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "run/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const double G = 9.81;

/* Parts of cubes 2 x 2 x 2, each with edge 0.02 m; `at`: one body, or the cube of twice the edge. */
#define SHAPES                                                                                     \
  "shapes:\n"                                                                                      \
  "- {name: cube, kind: box, size_m: [0.02, 0.02, 0.02]}\n"                                        \
  "- {name: whole, kind: box, size_m: [0.04, 0.04, 0.04]}\n"                                       \
  "- {name: half, kind: box, size_m: [0.03, 0.04, 0.02]}\n"                                        \
  "- {name: slab, kind: box, size_m: [0.06, 0.04, 0.02]}\n"                                        \
  "- {name: ball, diameter_m: 0.02}\n"
#define EIGHT                                                                                      \
  "parts: ["                                                                                       \
  "{shape: cube, position_m: [-0.01, -0.01, -0.01]}, {shape: cube, position_m: [0.01, -0.01, "     \
  "-0.01]}, {shape: cube, position_m: [-0.01, 0.01, -0.01]}, {shape: cube, position_m: [0.01, "    \
  "0.01, -0.01]}, {shape: cube, position_m: [-0.01, -0.01, 0.01]}, {shape: cube, position_m: "     \
  "[0.01, -0.01, 0.01]}, {shape: cube, position_m: [-0.01, 0.01, 0.01]}, {shape: cube, "           \
  "position_m: [0.01, 0.01, 0.01]}]"
#define HALVES                                                                                     \
  "parts: [{shape: half, position_m: [-0.015, 0, 0]}, {shape: half, position_m: [0.015, 0, 0]}]"
/* Two balls 0.06 m apart. */
#define DUMBBELL                                                                                   \
  "parts: [{shape: ball, position_m: [0.03, 0, 0]}, {shape: ball, position_m: [-0.03, 0, 0]}]"
#define IMPULSES "solver: {method: etm}\n"
#define PENALTY(stiffness)                                                                         \
  "solver: {method: penalty}\n"                                                                    \
  "penalty: {law: linear, spread: deepest, normal_N_m: " stiffness                                 \
  ", boundary_normal_N_m: " stiffness "}\n"

static TlStatus open_study(TlRun *run, const char *text) {
  char *path = tl_path_join(tl_test_folder(), "parts.yaml");
  CK_OK(tl_file_write(path, text, strlen(text), true));
  TlRunOptions options = {.study = path, .no_output = true};
  tl_par_set_threads(1);
  TlStatus status = tl_run_open(run, NULL, &options);
  tl_free(path);
  return status;
}

static void run_study(TlRun *run, const char *format, ...) {
  char text[4000];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ck_assert(length > 0 && length < (int)sizeof text);
  CK_OK(open_study(run, text));
  CK_OK(tl_run_go(run));
}

/* ---- mass and moments of inertia ---- */

START_TEST(eight_cubes_have_the_mass_and_inertia_of_the_cube_of_twice_the_edge) {
  TlRun run;
  run_study(&run, "time: {dt_s: 1.0e-4, steps: 1}\n"
                  "gravity_m_s2: [0, 0, 0]\n"
                  "grains: {density_kg_m3: 2000}\n" SHAPES "bodies:\n"
                  "- {position_m: [1, 2, 3], turn_deg: [20, 50, -10], " EIGHT "}\n"
                  "- {position_m: [2, 2, 3], shape: whole, turn_deg: [20, 50, -10]}\n");
  const TlBodies *b = &run.state->dem.bodies;
  ck_assert(b->owned == 2 && b->colliders.owned == 9 && b->parts[0] == 8 && b->parts[1] == 0);
  double edge = 0.04, m = 2000 * edge * edge * edge, i = m * edge * edge / 6;
  for (int k = 0; k < 2; k++) {
    CK_NEAR(b->mass[k] / m, 1, 1e-13);
    CK_NEAR(b->inertia[k].x / i, 1, 1e-12);
    CK_NEAR(b->inertia[k].y / i, 1, 1e-12);
    CK_NEAR(b->inertia[k].z / i, 1, 1e-12);
    CK_NEAR(b->radius[k] / (sqrt(3) * edge / 2), 1, 1e-12);
  }
  CK_NEAR(tl_norm(tl_sub(b->position[0], tl_vec3(1, 2, 3))), 0, 1e-15);
  tl_run_close(&run);
}
END_TEST

/* The same by cubes of 2 mm, summed in the world; a cube's own moment of inertia makes that sum
 * exact. */
typedef struct Box {
  TlVec3 centre, size;
  TlQuat turn;
  double density;
} Box;

static void add_cells(const Box *box, double *mass, TlVec3 *moment, TlSym3 *second) {
  const double h = 0.002;
  int n[3] = {(int)lround(box->size.x / h), (int)lround(box->size.y / h),
              (int)lround(box->size.z / h)};
  double m = box->density * h * h * h;
  for (int i = 0; i < n[0]; i++)
    for (int j = 0; j < n[1]; j++)
      for (int k = 0; k < n[2]; k++) {
        TlVec3 q = tl_vec3((i + 0.5) * h - 0.5 * box->size.x, (j + 0.5) * h - 0.5 * box->size.y,
                           (k + 0.5) * h - 0.5 * box->size.z);
        TlVec3 x = tl_add(box->centre, tl_quat_rotate(box->turn, q));
        *mass += m;
        *moment = tl_axpy(*moment, m, x);
        double own = m * h * h / 6;
        second->xx += m * (x.y * x.y + x.z * x.z) + own;
        second->yy += m * (x.x * x.x + x.z * x.z) + own;
        second->zz += m * (x.x * x.x + x.y * x.y) + own;
        second->xy -= m * x.x * x.y;
        second->xz -= m * x.x * x.z;
        second->yz -= m * x.y * x.z;
      }
}

START_TEST(a_crooked_body_has_the_centre_and_inertia_that_its_cells_have) {
  TlRun run;
  run_study(&run, "time: {dt_s: 1.0e-4, steps: 1}\n"
                  "gravity_m_s2: [0, 0, 0]\n"
                  "grains: {density_kg_m3: 2000}\n"
                  "materials: [{name: steel, density_kg_m3: 8000}]\n" SHAPES "bodies:\n"
                  "- position_m: [0.1, 0.2, 0.3]\n"
                  "  turn_deg: [10, -40, 70]\n"
                  "  velocity_m_s: [1, 2, 3]\n"
                  "  spin_rad_s: [3, -2, 1]\n"
                  "  parts:\n"
                  "  - {shape: slab, position_m: [0.03, 0, 0]}\n"
                  "  - {shape: half, position_m: [0, 0.02, 0.03], turn_deg: [30, 20, 0], material: "
                  "steel}\n"
                  "  - {shape: cube, position_m: [-0.02, -0.03, 0.01], turn_deg: [0, 0, 25]}\n");
  const double deg = M_PI / 180;
  TlQuat turn = tl_quat_from_rotation(tl_scale(deg, tl_vec3(10, -40, 70)));
  Box box[3] = {{{0.03, 0, 0}, {0.06, 0.04, 0.02}, {1, 0, 0, 0}, 2000},
                {{0, 0.02, 0.03},
                 {0.03, 0.04, 0.02},
                 tl_quat_from_rotation(tl_scale(deg, tl_vec3(30, 20, 0))),
                 8000},
                {{-0.02, -0.03, 0.01},
                 {0.02, 0.02, 0.02},
                 tl_quat_from_rotation(tl_scale(deg, tl_vec3(0, 0, 25))),
                 2000}};
  double mass = 0;
  TlVec3 moment = {0, 0, 0};
  TlSym3 second = {0};
  for (int k = 0; k < 3; k++) { /* into the world */
    box[k].centre = tl_add(tl_vec3(0.1, 0.2, 0.3), tl_quat_rotate(turn, box[k].centre));
    box[k].turn = tl_quat_mul(turn, box[k].turn);
    add_cells(&box[k], &mass, &moment, &second);
  }
  TlVec3 c = tl_scale(1 / mass, moment);
  second.xx -= mass * (c.y * c.y + c.z * c.z);
  second.yy -= mass * (c.x * c.x + c.z * c.z);
  second.zz -= mass * (c.x * c.x + c.y * c.y);
  second.xy += mass * c.x * c.y;
  second.xz += mass * c.x * c.z;
  second.yz += mass * c.y * c.z;
  const TlBodies *b = &run.state->dem.bodies;
  CK_NEAR(b->mass[0] / mass, 1, 1e-11);
  /* it has moved one step since */
  TlVec3 start = tl_axpy(b->position[0], -1e-4, tl_vec3(1, 2, 3));
  CK_NEAR(tl_norm(tl_sub(start, c)), 0, 1e-12);
  /* angular momentum at the start, which stays */
  TlVec3 spin = tl_vec3(3, -2, 1), l = tl_sym_vec(second, spin);
  CK_NEAR(tl_norm(tl_sub(b->momentum[0], l)) / tl_norm(l), 0, 1e-10);
  TlVec3 i = b->inertia[0];
  double trace = second.xx + second.yy + second.zz;
  CK_NEAR((i.x + i.y + i.z) / trace, 1, 1e-10);
  double squares = second.xx * second.xx + second.yy * second.yy + second.zz * second.zz +
                   2 * (second.xy * second.xy + second.xz * second.xz + second.yz * second.yz);
  CK_NEAR((i.x * i.x + i.y * i.y + i.z * i.z) / squares, 1, 1e-10);
  tl_run_close(&run);
}
END_TEST

/* ---- motion ---- */

/* Free flight of a symmetric top: the angular momentum stays and the axis goes about it at L/I. */
START_TEST(a_dumbbell_in_free_flight_keeps_its_momenta_and_precesses) {
  static const char *const method[] = {IMPULSES, PENALTY("1.0e5")};
  for (int k = 0; k < 2; k++) {
    TlRun run;
    double time = 0.2, dt = 2e-5;
    run_study(&run,
              "time: {dt_s: %.1e, duration_s: %g}\n"
              "gravity_m_s2: [0, 0, 0]\n"
              "grains: {density_kg_m3: 2000}\n%s" SHAPES
              "bodies: [{position_m: [0, 0, 0], velocity_m_s: [0.3, 0.2, -0.1], spin_rad_s: [30, "
              "20, 0], " DUMBBELL "}]\n",
              dt, time, method[k]);
    const TlBodies *b = &run.state->dem.bodies;
    double m = 2000 * 4.0 / 3 * M_PI * 1e-6, along = 2 * 0.4 * m * 1e-4,
           across = along + 2 * m * 0.03 * 0.03;
    CK_NEAR(b->mass[0] / (2 * m), 1, 1e-12);
    TlVec3 l = tl_vec3(30 * along, 20 * across, 0),
           x = tl_quat_rotate(tl_quat_from_rotation(tl_scale(time / across, l)), tl_vec3(1, 0, 0));
    CK_NEAR(tl_norm(tl_sub(b->velocity[0], tl_vec3(0.3, 0.2, -0.1))), 0, 1e-15);
    CK_NEAR(tl_norm(tl_sub(b->momentum[0], l)) / tl_norm(l), 0, 1e-12);
    TlVec3 axis = tl_scale(1 / 0.06, tl_sub(b->colliders.position[0], b->colliders.position[1]));
    CK_NEAR(tl_norm(axis), 1, 1e-12);
    /* the scheme is of second order: the phase is off by about (w dt)^2 w t, by penalty also by half
     * a step */
    CK_NEAR(tl_norm(tl_sub(axis, x)), 0, k == 0 ? 1e-5 : 1e-3);
    double energy = 0.5 * tl_dot(b->momentum[0], tl_bodies_spin(b, 0));
    CK_NEAR(energy / (0.5 * (along * 900 + across * 400)), 1, 1e-6);
    tl_run_close(&run);
  }
}
END_TEST

/* A ball comes down on one end of a dumbbell at rest: J = (1 + e) u/(1/m + 1/M + d^2/I). */
START_TEST(a_blow_off_the_centre_gives_the_impulse_of_rigid_bodies) {
  static const char *const method[] = {IMPULSES, PENALTY("1.0e7")};
  static const double dt[] = {1e-4, 2e-7}, tolerance[] = {1e-9, 2e-3};
  for (int k = 0; k < 2; k++) {
    TlRun run;
    double e = k == 0 ? 0.6 : 1, u = 0.5, m = 2000 * 4.0 / 3 * M_PI * 1e-6, d = 0.03;
    double along = 2 * 0.4 * m * 1e-4, across = along + 2 * m * d * d;
    run_study(&run,
              "time: {dt_s: %.1e, duration_s: 0.004}\n"
              "gravity_m_s2: [0, 0, 0]\n"
              "grains: {density_kg_m3: 2000}\n"
              "contact: {friction: 0, restitution: %g, impact_threshold_m_s: 0}\n%s" SHAPES
              "bodies:\n"
              "- {position_m: [0, 0, 0], " DUMBBELL "}\n"
              "- {shape: ball, position_m: [0.03, 0, 0.0205], velocity_m_s: [0, 0, -0.5]}\n",
              dt[k], e, method[k]);
    const TlBodies *b = &run.state->dem.bodies;
    double impulse = (1 + e) * u / (1 / m + 1 / (2 * m) + d * d / across);
    CK_NEAR(b->velocity[1].z / (-u + impulse / m), 1, tolerance[k] / 0.1);
    CK_NEAR(b->velocity[0].z / (-impulse / (2 * m)), 1, tolerance[k]);
    CK_NEAR(tl_bodies_spin(b, 0).y / (d * impulse / across), 1, tolerance[k]);
    double momentum = m * b->velocity[1].z + 2 * m * b->velocity[0].z;
    CK_NEAR(momentum / (-m * u), 1, 1e-11);
    tl_run_close(&run);
  }
}
END_TEST

/* ---- on the ground ---- */

/* A flat fall: what comes back is e of what came. Corners meet the plane one after the other within a
 * step, which leaves either body a spin of less than 1% of the speed. */
START_TEST(eight_cubes_bounce_as_one) {
  for (int k = 0; k < 2; k++) {
    TlRun run;
    double h = 0.05, e = 0.5, fall = sqrt(2 * h / G);
    run_study(&run,
              "time: {dt_s: 1.0e-4, duration_s: %g}\n"
              "contact: {boundary_friction: 0.3, boundary_restitution: %g}\n"
              "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n" SHAPES
              "bodies: [{position_m: [0, 0, 0.07], %s}]\n",
              fall + 0.01, e, k == 0 ? EIGHT : "shape: whole");
    const TlBodies *b = &run.state->dem.bodies;
    /* it strikes within a step of its fall, and then flies for 0.01 s */
    double speed = G * fall;
    CK_NEAR(b->velocity[0].z, e * speed - 0.01 * G, 0.01 * speed);
    CK_NEAR(0.02 * tl_norm(tl_bodies_spin(b, 0)), 0, 0.01 * speed);
    CK_NEAR(tl_norm(tl_vec3(b->velocity[0].x, b->velocity[0].y, 0)), 0, 0.01 * speed);
    tl_run_close(&run);
  }
}
END_TEST

/* v^2 = 2 g s (sin a - mu cos a), without turning over. */
START_TEST(eight_cubes_slide_down_a_slope_as_one) {
  static const char *const method[] = {IMPULSES, PENALTY("1.0e5")};
  static const double dt[] = {1e-3, 5e-5};
  for (int k = 0; k < 4; k++) {
    TlRun run;
    double angle = 0.6, mu = 0.3;
    TlVec3 n = {sin(angle), 0, cos(angle)}, x = tl_scale(0.02, n);
    run_study(&run,
              "time: {dt_s: %.1e, duration_s: 0.4}\n"
              "contact: {boundary_friction: %g, boundary_restitution: 0}\n%s"
              "planes: [{point_m: [0, 0, 0], normal: [%.17g, 0, %.17g]}]\n" SHAPES
              "bodies: [{position_m: [%.17g, 0, %.17g], turn_deg: [0, %.17g, 0], %s}]\n",
              dt[k / 2], mu, method[k / 2], n.x, n.z, x.x, x.z, angle * 180 / M_PI,
              k % 2 ? "shape: whole" : EIGHT);
    const TlBodies *b = &run.state->dem.bodies;
    double s = tl_norm(tl_sub(b->position[0], x)), v2 = tl_norm2(b->velocity[0]);
    ck_assert_msg(s > 0.2, "slid %g m", s);
    CK_NEAR(v2 / (2 * G * s * (sin(angle) - mu * cos(angle))), 1, 0.015);
    CK_NEAR(tl_norm(tl_bodies_spin(b, 0)), 0, k / 2 ? 0.1 : 1e-2);
    tl_run_close(&run);
  }
}
END_TEST

/* Thrown along the floor both come to rest after v^2/(2 mu g), where the whole box does. */
START_TEST(two_half_boxes_stop_where_the_whole_box_does) {
  static const char *const method[] = {IMPULSES, PENALTY("1.0e5")};
  static const double dt[] = {5e-4, 5e-5};
  for (int k = 0; k < 2; k++) {
    double end[2], v = 0.8, mu = 0.4;
    for (int whole = 0; whole < 2; whole++) {
      TlRun run;
      run_study(&run,
                "time: {dt_s: %.1e, duration_s: 0.4}\n"
                "contact: {boundary_friction: %g, boundary_restitution: 0}\n%s"
                "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n" SHAPES
                "bodies: [{position_m: [0, 0, 0.01], velocity_m_s: [%g, 0, 0], %s}]\n",
                dt[k], mu, method[k], v, whole ? "shape: slab" : HALVES);
      const TlBodies *b = &run.state->dem.bodies;
      end[whole] = b->position[0].x;
      CK_NEAR(tl_norm(b->velocity[0]), 0, 2e-3);
      CK_NEAR(end[whole] / (v * v / (2 * mu * G)), 1, 0.02);
      tl_run_close(&run);
    }
    CK_NEAR(end[0] / end[1], 1, 0.01);
  }
}
END_TEST

/* ---- what a study may say ---- */

START_TEST(a_body_is_a_shape_or_parts) {
  static const char *const wrong[][2] = {
      {"bodies: [{position_m: [0, 0, 0], shape: ball, parts: [{shape: ball}]}]\n",
       "parts.yaml:10:34: bodies.0.shape: a body wants either a shape, a grain"},
      {"bodies: [{position_m: [0, 0, 0], parts: []}]\n", "bodies.0.shape: a body wants either"},
      {"bodies: [{position_m: [0, 0, 0], parts: [{shape: ball}, {shape: bowl}]}]\n",
       "parts.yaml:10:58: bodies.0.parts.1.shape: there is no 'bowl' in the list of shapes"},
      {"bodies: [{position_m: [0, 0, 0], parts: [{shape: ball, material: tin}]}]\n",
       "bodies.0.parts.0.material: "},
      {"bodies: [{position_m: [0, 0, 0], parts: [{shape: ball, place_m: [0, 0, 0]}]}]\n",
       "parts.yaml:10:56: bodies.0.parts.0.place_m: "},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    TlRun run;
    char text[2000];
    snprintf(text, sizeof text,
             "time: {dt_s: 1.0e-3, steps: 1}\ngravity_m_s2: [0, 0, 0]\ngrains: {density_kg_m3: "
             "2000}\n" SHAPES "%s",
             wrong[k][0]);
    CK_FAILS(open_study(&run, text), TL_EINPUT, wrong[k][1]);
    tl_run_close(&run);
  }
}
END_TEST

/* ---- records and memory ---- */

static void add_pair(TlBodies *b, int64_t id, TlVec3 x) {
  int64_t i;
  CK_OK(tl_bodies_add(b, id, 2, &i));
  b->position[i] = x;
  b->rotation[i] = tl_quat_from_rotation(tl_vec3(0, 0, 1));
  for (int64_t k = b->first[i]; k < b->first[i] + 2; k++) {
    TlVec3 offset = {k == b->first[i] ? 0.5 : -0.5, 0, 0};
    b->colliders.avatar_id[k] = 1;
    b->colliders.offset[k] = offset;
    b->colliders.turn[k] = tl_quat_from_rotation(tl_scale(3, offset));
  }
  CK_OK(tl_bodies_check(b, i));
}

static void touch(TlBodies *b, TlPairKind kind, int64_t low, int64_t high) {
  if (kind == TL_IMPULSES)
    CK_OK(tl_pair_state_add(&b->pairs, kind,
                            &(TlImpulse){.low = low, .high = high, .number = 3, .impulse = {1}}));
  else
    CK_OK(tl_pair_state_add(&b->pairs, kind, &(TlHinge){.low = low, .high = high, .number = 3}));
}

START_TEST(grains_share_their_arrays_with_their_colliders) {
  TlBodies b = {0};
  for (int i = 0; i < 100; i++)
    tl_test_put(&b, 1, tl_vec3(i, 0, 0), (TlQuat){1, 0, 0, 0}, tl_vec3(0, 0, 0));
  ck_assert(!b.colliders.posed && b.colliders.position == b.position &&
            b.colliders.rotation == b.rotation && b.colliders.id == b.id &&
            b.colliders.radius == b.radius && !b.colliders.offset);
  add_pair(&b, 100, tl_vec3(0, 5, 0));
  ck_assert(b.colliders.posed && b.colliders.position != b.position && b.owned == 101 &&
            b.colliders.owned == 102 && b.first[100] == 100 && b.colliders.body[101] == 100);
  for (int i = 0; i < 100; i++) {
    ck_assert(b.colliders.id[i] == i && b.colliders.position[i].x == i);
    b.position[i].y = i;
  }
  tl_bodies_place_colliders(&b);
  for (int i = 0; i < 100; i++) ck_assert(b.colliders.position[i].y == i);
  CK_NEAR(b.colliders.position[100].x, 0.5 * cos(1), 1e-15);
  CK_NEAR(b.colliders.position[101].y, 5 - 0.5 * sin(1), 1e-15);
  tl_bodies_free(&b);
}
END_TEST

START_TEST(a_packed_body_brings_its_colliders_and_their_memory) {
  TlBodies a = {0}, b = {0};
  add_pair(&a, 4, tl_vec3(1, 2, 3));
  tl_test_put(&a, 7, tl_vec3(0, 0, 0), (TlQuat){1, 0, 0, 0}, tl_vec3(1, 0, 0)); /* id 1 */
  touch(&a, TL_IMPULSES, 5, 9);
  touch(&a, TL_IMPULSES, 1, 4);
  touch(&a, TL_IMPULSES, 1, 9);
  touch(&a, TL_IMPULSES, 3, 9); /* of neither body */
  touch(&a, TL_HINGES, 4, 9);
  touch(&a, TL_HINGES, 5, 9); /* of another body: 5 is a collider here */
  tl_pair_state_sort(&a.pairs);
  for (int i = 0; i < 2; i++) {
    size_t size, used;
    unsigned char *bytes = tl_test_pack(&a, i, &size);
    ck_assert_ptr_nonnull(bytes);
    CK_OK(tl_bodies_unpack(&b, bytes, size, &used));
    ck_assert(used == size);
    TlBodies none = {0};
    for (size_t cut = 1; cut < size; cut += 7)
      CK_FAILS(tl_bodies_unpack(&none, bytes, size - cut, &used), TL_EINPUT, "cut short");
    tl_bodies_free(&none);
    tl_free(bytes);
  }
  tl_pair_state_sort(&b.pairs);
  ck_assert(b.owned == 2 && b.colliders.owned == 3 && b.parts[0] == 2 && b.parts[1] == 0);
  CK_NEAR(b.colliders.position[0].x, 1 + 0.5 * cos(1), 1e-15);
  CK_NEAR(b.colliders.position[1].y, 2 - 0.5 * sin(1), 1e-15);
  for (int k = 0; k < 3; k++) {
    ck_assert(b.colliders.id[k] == a.colliders.id[k]);
    ck_assert(tl_record_hash(&tl_collider_record, &a.colliders, k, 1) ==
              tl_record_hash(&tl_collider_record, &b.colliders, k, 1));
  }
  ck_assert_uint_eq(b.pairs.of[TL_IMPULSES].count, 3);
  ck_assert_uint_eq(b.pairs.of[TL_HINGES].count, 1);
  uint64_t one, two;
  unsigned char keep[2] = {1, 1};
  CK_OK(tl_bodies_keep(&a, keep)); /* drops what belongs to neither */
  CK_OK(tl_bodies_hash(&a, &one));
  CK_OK(tl_bodies_hash(&b, &two));
  ck_assert(one == two);
  tl_bodies_free(&a);
  tl_bodies_free(&b);
}
END_TEST

/* Two grains that lie on a third become one body; the third, and what it remembers of either, sees
 * no change: no key is written anew. Then the body falls apart again. */
START_TEST(contact_memory_stays_when_colliders_change_their_body) {
  TlBodies b = {0};
  for (int i = 0; i < 3; i++)
    tl_test_put(&b, 1, tl_vec3(i, 0, i == 1 ? 0 : 1), (TlQuat){1, 0, 0, 0}, tl_vec3(0, 0, 0));
  touch(&b, TL_IMPULSES, 0, 1);
  touch(&b, TL_IMPULSES, 1, 2);
  touch(&b, TL_IMPULSES, 2, -1);
  tl_pair_state_sort(&b.pairs);
  TlImpulse before[3], after[3];
  memcpy(before, tl_impulses(&b.pairs), sizeof before);
  int64_t merged;
  CK_OK(tl_bodies_add(&b, 0, 2, &merged));
  b.position[merged] = tl_vec3(1, 0, 1);
  for (int64_t k = 0; k < 2; k++) {
    int64_t at = b.first[merged] + k;
    b.colliders.id[at] = 2 * k;
    b.colliders.avatar_id[at] = 1;
    b.colliders.offset[at] = tl_vec3(k == 0 ? -1 : 1, 0, 0);
  }
  CK_OK(tl_bodies_keep(&b, (const unsigned char[]){0, 1, 0, 1}));
  ck_assert(b.owned == 2 && b.colliders.owned == 3 && b.pairs.of[TL_IMPULSES].count == 3);
  memcpy(after, tl_impulses(&b.pairs), sizeof after);
  ck_assert(memcmp(before, after, sizeof after) == 0);
  tl_bodies_place_colliders(&b);
  /* they are where they were */
  for (int64_t k = 0; k < 3; k++) {
    int64_t id = b.colliders.id[k];
    ck_assert(b.colliders.position[k].x == (double)id &&
              b.colliders.position[k].z == (id == 1 ? 0 : 1));
  }
  for (int k = 0; k < 2; k++)
    CK_OK(tl_test_add(&b, &(TlGrainState){.id = 2 * k,
                                          .avatar_id = 1,
                                          .scale = 1,
                                          .position = {k == 0 ? 0 : 2, 0, 1},
                                          .rotation = {1, 0, 0, 0}}));
  CK_OK(tl_bodies_keep(&b, (const unsigned char[]){1, 0, 1, 1}));
  ck_assert(b.owned == 3 && b.colliders.owned == 3);
  memcpy(after, tl_impulses(&b.pairs), sizeof after);
  ck_assert(memcmp(before, after, sizeof after) == 0);
  tl_bodies_free(&b);
}
END_TEST

TL_TEST_MAIN("parts", eight_cubes_have_the_mass_and_inertia_of_the_cube_of_twice_the_edge,
             a_crooked_body_has_the_centre_and_inertia_that_its_cells_have,
             a_dumbbell_in_free_flight_keeps_its_momenta_and_precesses,
             a_blow_off_the_centre_gives_the_impulse_of_rigid_bodies, eight_cubes_bounce_as_one,
             eight_cubes_slide_down_a_slope_as_one, two_half_boxes_stop_where_the_whole_box_does,
             a_body_is_a_shape_or_parts, grains_share_their_arrays_with_their_colliders,
             a_packed_body_brings_its_colliders_and_their_memory,
             contact_memory_stays_when_colliders_change_their_body)
