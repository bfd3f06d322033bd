/* Nets of bonded spheres against closed forms. */
#include "support/placed.h"
#include "support/net_rig.h"
#include "support/materials.h"
#include "support/tltest.h"

#include "base/par.h"
#include "base/random.h"
#include "solve/membrane.h"
#include "solve/step.h"
#include "validation/membrane_oracle.h"

enum { BALL = 1 };

static NetRig rig_of(int rows, int columns, int layers) {
  return net_rig(tl_test_config(), rows, columns, layers);
}

/* Each neighbour has this sphere for one, ascending, at its rest length; how many there are. */
static int check_neighbours(const TlNet *net, int64_t i) {
  int64_t mine[TL_NET_NEIGHBOURS], others[TL_NET_NEIGHBOURS];
  int count = tl_net_neighbours(net, i, mine);
  for (int k = 0; k < count; k++) {
    int back = tl_net_neighbours(net, mine[k], others), found = 0;
    for (int m = 0; m < back; m++) found += others[m] == i;
    ck_assert_int_eq(found, 1);
    ck_assert(k == 0 || mine[k] > mine[k - 1]);
    TlVec3 d = tl_sub(tl_net_point(net, i), tl_net_point(net, mine[k]));
    CK_NEAR(tl_norm(d), tl_net_rest_length(net, i, mine[k]), 2e-15);
  }
  return count;
}

START_TEST(neighbours_know_each_other_at_their_rest_length) {
  for (int layers = 1; layers <= 2; layers++) {
    NetRig rig = rig_of(5, 6, layers);
    int64_t n = tl_net_spheres(&rig.net), bonds = 0;
    for (int64_t i = 0; i < n; i++) bonds += check_neighbours(&rig.net, i);
    /* a layer: 5 rows of 5 bonds, 4 gaps of 11; between layers 30 + 25 and the third ones: rows
     * 0-3, where column + odd exists: 6 + 5 + 6 + 5 */
    ck_assert_int_eq(bonds, layers == 1 ? 2 * 69 : 2 * (2 * 69 + 30 + 25 + 22));
    CK_OK(tl_net_add(&rig.net, &rig.bodies, 0, n));
    ck_assert_int_eq((int64_t)rig.bodies.pairs.of[TL_BONDS].count, bonds / 2);
    const TlBond *bond = tl_bonds(&rig.bodies.pairs);
    for (int64_t i = 0; i < bonds / 2; i++) /* ids: none twice */
      for (int64_t j = 0; j < i; j++) ck_assert(bond[i].number != bond[j].number);
    net_rig_close(&rig);
  }
}
END_TEST

/* One free sphere among six clamped ones: in the plane K = 3 (k_n + k_t), across it 6 k_t; the
 * torques of opposite bonds cancel. Symplectic Euler's own recurrence is followed to the square of
 * the amplitude over the length (the springs' geometry). */
static void oscillate(TlVec3 direction, double stiffness) {
  NetRig rig = rig_of(3, 3, 1);
  rig.net.clamped = TL_NET_ALL_SIDES;
  net_rig_start(&rig);
  double a = 1e-7 * rig.net.spacing_m, x = a, v = 0, dt = rig.config.step_s;
  int64_t middle = 4;
  ck_assert(!(rig.bodies.flags[middle] & TL_BODY_FROZEN));
  /* a step with the speed a/dt puts it there and stretches the springs at once */
  v = a / dt;
  x = 0;
  rig.bodies.velocity[middle] = tl_scale(v, direction);
  TlVec3 start = rig.bodies.position[middle];
  for (int i = 0; i < 400; i++) {
    net_rig_run(&rig, 1);
    x += dt * v;
    v -= dt * stiffness / rig.net.mass_kg * x;
    TlVec3 moved = tl_sub(rig.bodies.position[middle], start);
    CK_NEAR(tl_dot(moved, direction), x, 1e-4 * a);
    CK_NEAR(tl_norm(moved), fabs(x), 1e-4 * a);
  }
  double energy = 0.5 * stiffness * x * x;
  CK_NEAR(rig.report.net_elastic_J, energy, 1e-3 * energy + 1e-10 * stiffness * a * a);
  ck_assert_int_eq(rig.report.net_bonds, 2 * 3 + 2 * 5);
  net_rig_close(&rig);
}

START_TEST(a_sphere_among_clamped_ones_swings_at_the_frequency_of_its_six_bonds) {
  oscillate(tl_vec3(1, 0, 0), 3 * (50 + 20));
  oscillate(tl_unit(tl_vec3(0.3, -0.7, 0)), 3 * (50 + 20));
  oscillate(tl_vec3(0, 0, 1), 6 * 20);
}
END_TEST

static void totals(const TlBodies *b, TlVec3 *momentum, TlVec3 *angular) {
  *momentum = *angular = (TlVec3){0, 0, 0};
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 p = tl_scale(b->mass[i], b->velocity[i]);
    *momentum = tl_add(*momentum, p);
    *angular = tl_add(*angular, tl_add(tl_cross(b->position[i], p), b->momentum[i]));
  }
}

START_TEST(a_free_net_keeps_momentum_angular_momentum_and_energy) {
  NetRig rig = rig_of(6, 6, 2);
  net_rig_start(&rig);
  net_rig_shake(&rig, 0.05, 1);
  TlVec3 p0, l0, p1, l1;
  totals(&rig.bodies, &p0, &l0);
  net_rig_run(&rig, 1);
  double mean[3] = {0, 0, 0}, most = 0, least = 1e9;
  for (int i = 0; i < 3000; i++) {
    net_rig_run(&rig, 1);
    double energy = rig.report.kinetic_J + rig.report.net_elastic_J;
    most = fmax(most, energy);
    least = fmin(least, energy);
    mean[i / 1000] += energy / 1000;
  }
  totals(&rig.bodies, &p1, &l1);
  /* 72 spheres, 3000 steps of rounding; the positions of velocity and force differ by dt v, along v
   */
  CK_NEAR(tl_norm(tl_sub(p1, p0)), 0, 1e-15);
  CK_NEAR(tl_norm(tl_sub(l1, l0)), 0, 1e-15);
  /* symplectic Euler swings by omega dt/2 about its energy, 6% for the fastest mode here, and does
   * not drift: the swings' own mean over 1000 steps is good to a few of their 0.1% */
  ck_assert_msg(most < 1.06 * mean[0] && least > 0.94 * mean[0], "%g to %g", least, most);
  CK_NEAR(mean[2], mean[0], 3e-3 * mean[0]);
  net_rig_close(&rig);
}
END_TEST

/* The net is carried through a turn of 3 rad about a crooked axis while its bonds hold a given s:
 * s must come out turned, and nothing else. Each step leaves theta^3 l/12. */
START_TEST(the_tangential_spring_turns_with_its_bond) {
  NetRig rig = rig_of(2, 2, 1);
  net_rig_start(&rig);
  TlBodies *b = &rig.bodies;
  TlVec3 axis = tl_unit(tl_vec3(0.4, -0.3, 0.8)), s0[8];
  enum { STEPS = 600 };
  double angle = 3.0 / STEPS, dt = rig.config.step_s, length = rig.net.spacing_m;
  TlBond *bond = tl_bonds(&b->pairs);
  size_t bonds = b->pairs.of[TL_BONDS].count;
  ck_assert_int_eq((int64_t)bonds, 5);
  for (size_t k = 0; k < bonds; k++) {
    TlVec3 n = tl_unit(tl_sub(b->position[bond[k].low - 100], b->position[bond[k].high - 100]));
    bond[k].displacement = s0[k] = tl_scale(0.1 * length, tl_cross(n, tl_vec3(0.1, 0.2, 1)));
  }
  TlArena arena = {0};
  TlNetMemo *memo;
  CK_OK(tl_net_memo_new(&memo));
  TlNetCount count;
  TlQuat q = tl_quat_from_rotation(tl_scale(angle, axis));
  for (int step = 0; step < STEPS; step++) {
    TlVec3 start[4];
    for (int i = 0; i < 4; i++) {
      start[i] = b->position[i];
      b->position[i] = tl_quat_rotate(q, b->position[i]);
      b->velocity[i] = (TlVec3){0, 0, 0};
      tl_bodies_set_spin(b, i, tl_scale(angle / dt, axis));
    }
    const TlMembranes one = {.nets = &rig.net,
                             .pressure_Pa = &rig.net.pressure_Pa,
                             .count = 1,
                             .bodies = b,
                             .memo = memo,
                             .arena = &arena};
    CK_OK(tl_membrane_correct(&one, start, dt, NULL, &count));
    tl_arena_reset(&arena);
  }
  TlQuat whole = tl_quat_from_rotation(tl_scale(3, axis));
  for (size_t k = 0; k < bonds; k++) {
    TlVec3 off = tl_sub(bond[k].displacement, tl_quat_rotate(whole, s0[k]));
    CK_NEAR(tl_norm(off), 0, STEPS * angle * angle * angle * length);
  }
  tl_net_memo_free(memo);
  tl_arena_free(&arena);
  net_rig_close(&rig);
}
END_TEST

START_TEST(pressure_pushes_each_sphere_by_a_third_of_its_triangles) {
  NetRig rig = rig_of(4, 4, 1);
  rig.net.pressure_Pa = 12;
  net_rig_start(&rig);
  net_rig_run(&rig, 1);
  double triangle = sqrt(3) / 4 * 0.04 * 0.04, dt = rig.config.step_s, sum = 0;
  for (int64_t i = 0; i < 16; i++) {
    TlVec3 f = tl_scale(rig.net.mass_kg / dt, rig.bodies.velocity[i]);
    int inner = i == 5 || i == 6 || i == 9 || i == 10;
    if (inner) CK_NEAR(f.z, -12 * 6 * triangle / 3, 1e-12);
    sum += f.z;
  }
  CK_NEAR(sum, -12 * 18 * triangle, 1e-12); /* 3 gaps of 6 triangles */
  net_rig_close(&rig);
}
END_TEST

START_TEST(a_bond_breaks_above_its_strength_and_is_counted) {
  NetRig rig = rig_of(2, 2, 1);
  rig.net.strength_N = 0.5; /* at 0.01 m */
  net_rig_start(&rig);
  rig.bodies.velocity[1] = tl_vec3(10, 0, 0);
  int64_t broken = 0;
  for (int i = 0; i < 100; i++) {
    net_rig_run(&rig, 1);
    broken += rig.report.net_broken;
  }
  /* sphere 1 hangs on 0, 2 and 3 and goes */
  ck_assert_int_eq(broken, 5 - rig.report.net_bonds);
  ck_assert_int_ge(broken, 2);
  ck_assert(!tl_net_bonded(&rig.bodies.pairs, 100, 101));
  ck_assert(tl_net_bonded(&rig.bodies.pairs, 102, 100));
  net_rig_close(&rig);
}
END_TEST

static void swap_bodies(TlBodies *b, int64_t i, int64_t j) {
  TlGrainState one = tl_test_grain_state(b, i), two = tl_test_grain_state(b, j);
  tl_test_set_grain(b, i, &two);
  tl_test_set_grain(b, j, &one);
}

/* A net under pressure of which bonds break now and then. */
static uint64_t torn(bool forgets, int64_t *broken) {
  uint64_t hash;
  TlRandom x = {6, 0, 0};
  NetRig rig = rig_of(7, 6, 2);
  rig.net.strength_N = 0.6;
  rig.net.pressure_Pa = 2;
  rig.net.damping = 0.1;
  net_rig_start(&rig);
  net_rig_shake(&rig, 2.5, 5);
  *broken = 0;
  for (int i = 0; i < 300; i++) {
    int64_t one = (int64_t)(84 * tl_random_next(&x)), two = (int64_t)(84 * tl_random_next(&x));
    if (forgets) swap_bodies(&rig.bodies, one, two); /* other bodies: all is looked up again */
    net_rig_run(&rig, 1);
    *broken += rig.report.net_broken;
  }
  CK_OK(tl_bodies_hash(&rig.bodies, &hash));
  net_rig_close(&rig);
  return hash;
}

START_TEST(what_is_kept_of_a_net_never_shows) {
  int64_t broken, again;
  ck_assert(torn(false, &broken) == torn(true, &again));
  ck_assert_int_eq(broken, again);
  ck_assert_msg(broken > 5 && broken < 200, "%lld broken", (long long)broken);
}
END_TEST

START_TEST(a_bond_longer_than_allowed_ends_the_run_with_its_spheres) {
  NetRig rig = rig_of(2, 2, 1);
  net_rig_start(&rig);
  rig.bodies.velocity[1] = tl_vec3(500, 0, 0);
  CK_FAILS(stepper_step(rig.solver, &rig.bodies, NULL), TL_ELIMIT, "100 and 101");
  net_rig_close(&rig);
}
END_TEST

static double shaken_energy(double fraction) {
  NetRig rig = rig_of(8, 8, 2);
  rig.net.damping = 0;
  rig.config.step_s = fraction * tl_net_stable_step(&rig.net);
  net_rig_start(&rig);
  net_rig_shake(&rig, 1e-3, 0.1);
  net_rig_run(&rig, 1);
  double start = rig.report.kinetic_J + rig.report.net_elastic_J, most = 0;
  for (int i = 0; i < 1500; i++) {
    net_rig_run(&rig, 1);
    most = fmax(most, rig.report.kinetic_J + rig.report.net_elastic_J);
  }
  net_rig_close(&rig);
  return most / start;
}

START_TEST(a_step_just_below_the_stable_one_is_stable_and_above_it_refused) {
  double growth = shaken_energy(0.99);
  ck_assert_msg(growth < 4, "energy grew %g times", growth);
  NetRig rig = rig_of(4, 4, 1);
  rig.config.step_s = 1.01 * tl_net_stable_step(&rig.net);
  CK_OK(stepper_new(&rig.solver, &rig.config, (TlAvatarSource){0}, NULL, 0, NULL));
  CK_FAILS(stepper_set_nets(rig.solver, &rig.net, 1), TL_EUSAGE, "stable");
  net_rig_close(&rig);
  /* damping takes its share: zeta = 1 leaves sqrt(2) - 1 */
  rig = rig_of(4, 4, 1);
  double free = tl_net_stable_step(&rig.net);
  rig.net.damping = 0.5;
  ck_assert(tl_net_stable_step(&rig.net) < 0.8 * free);
}
END_TEST

/* ---- with grains ---- */

static void add_ball(NetRig *rig, double radius, TlVec3 x, TlVec3 v) {
  static int64_t id = 0;
  CK_OK(tl_test_add(&rig->bodies, &(TlGrainState){.id = id++ % 100,
                                                  .avatar_id = BALL,
                                                  .scale = radius,
                                                  .position = x,
                                                  .rotation = {1, 0, 0, 0},
                                                  .velocity = v}));
}

/* Grains first: tl_bodies_add wants no order. */
static void start_with_balls(NetRig *rig) {
  rig->config.gravity_m_s2 = (TlVec3){0, 0, -9.81};
  rig->net.material = TL_TEST_MATERIAL;
  rig->config.materials = tl_test_materials(&rig->config, 0.3, 0);
  rig->net.normal_N_m = 2000;
  rig->net.tangential_N_m = 500;
  net_rig_start(rig);
  CK_OK(stepper_add_sphere(rig->solver, BALL, 1));
}

static TlVec3 over_triangle(const NetRig *rig) {
  TlVec3 a = rig->bodies.position[3 * 7 + 3], b = rig->bodies.position[3 * 7 + 4],
         c = rig->bodies.position[4 * 7 + 4];
  return tl_scale(1.0 / 3, tl_add(a, tl_add(b, c)));
}

/* Opening of the pattern: a ball on the axis of a triangle passes when its radius and a sphere's
 * leave room to the corners, d/sqrt(3) = 23.1 mm: here at 13.1 mm. */
START_TEST(a_small_ball_slips_through_and_a_large_one_is_held) {
  for (int large = 0; large < 2; large++) {
    NetRig rig = rig_of(7, 7, 1);
    rig.net.clamped = TL_NET_ALL_SIDES;
    rig.net.damping = 0.05;
    start_with_balls(&rig);
    add_ball(&rig, large ? 0.018 : 0.012, tl_add(over_triangle(&rig), tl_vec3(0, 0, 0.04)),
             (TlVec3){0, 0, 0});
    CK_OK(stepper_refresh(rig.solver, &rig.bodies));
    net_rig_run(&rig, 4000);
    double z = rig.bodies.position[rig.bodies.owned - 1].z;
    if (large)
      ck_assert_msg(z > -0.06 && fabs(rig.bodies.velocity[rig.bodies.owned - 1].z) < 0.5, "z %g",
                    z);
    else
      CK_NEAR(z, 0.04 - 0.5 * 9.81 * 0.16, 0.05); /* a fall of 0.4 s */
    net_rig_close(&rig);
  }
}
END_TEST

START_TEST(bonded_spheres_that_touch_make_no_contact) {
  NetRig rig = rig_of(6, 6, 1);
  rig.net.radius_m = 0.021; /* overlapping, as a blanket's do */
  net_rig_start(&rig);
  net_rig_run(&rig, 5);
  ck_assert_int_eq(rig.report.contacts, 0);
  CK_NEAR(rig.report.kinetic_J, 0, 1e-30);
  net_rig_close(&rig);
}
END_TEST

/* Two balls far apart on one net: the bonds between must not make one island of them. */
START_TEST(balls_on_one_net_are_islands_of_their_own) {
  NetRig rig = rig_of(5, 14, 1);
  rig.net.clamped = TL_NET_ALL_SIDES;
  rig.net.damping = 0.1;
  start_with_balls(&rig);
  TlVec3 a = rig.bodies.position[2 * 14 + 3], b = rig.bodies.position[2 * 14 + 10];
  add_ball(&rig, 0.02, tl_add(a, tl_vec3(0, 0, 0.031)), (TlVec3){0, 0, 0});
  add_ball(&rig, 0.02, tl_add(b, tl_vec3(0, 0, 0.031)), (TlVec3){0, 0, 0});
  CK_OK(stepper_refresh(rig.solver, &rig.bodies));
  net_rig_run(&rig, 800);
  ck_assert_int_eq(rig.report.islands, 2);
  ck_assert_int_lt(rig.report.largest_island, 12);
  net_rig_close(&rig);
}
END_TEST

/* A ball at rest on its net. Velocities of the spheres below it are seen between the springs' pull
 * and the next step's contact impulse, so that rest is judged by the ball and by places. */
START_TEST(a_ball_comes_to_rest_on_a_net_that_carries_its_weight) {
  NetRig rig = rig_of(7, 7, 1);
  rig.config.damping_per_s = 10; /* a trampoline: the bonds damp short waves only */
  rig.net.clamped = TL_NET_ALL_SIDES;
  rig.net.damping = 0.1;
  start_with_balls(&rig);
  add_ball(&rig, 0.03, tl_add(over_triangle(&rig), tl_vec3(0, 0, 0.0345)), (TlVec3){0, 0, 0});
  CK_OK(stepper_refresh(rig.solver, &rig.bodies));
  int64_t ball = rig.bodies.owned - 1;
  double z[50];
  net_rig_run(&rig, 16000);
  for (int64_t i = 0; i <= ball; i++) z[i] = rig.bodies.position[i].z;
  net_rig_run(&rig, 500);
  for (int64_t i = 0; i <= ball; i++) CK_NEAR(rig.bodies.position[i].z, z[i], 3e-5);
  CK_NEAR(tl_norm(rig.bodies.velocity[ball]), 0, 5e-4);
  ck_assert_msg(rig.report.overlap_share < 0.02, "overlap %g", rig.report.overlap_share);
  net_rig_close(&rig);
}
END_TEST

/* The reference of val_net: a strip eight times as long as wide sags in the middle as an endless
 * one. Its formula leaves out (w/a)^2, the mesh 1e-5, the ends e^-6. */
/* ---- closed to a tube ---- */

static NetRig tube_of(int rows, int columns, int layers) {
  NetRig rig = rig_of(rows, columns, layers);
  rig.net.tube_radius_m = 0.3;
  rig.net.spacing_m = tl_net_tube_spacing(0.3, columns);
  rig.net.corner = tl_vec3(1, 2, 3);
  rig.net.along = tl_unit(tl_vec3(1, -1, 0));
  rig.net.across = tl_unit(tl_vec3(1, 1, 2));
  return rig;
}

START_TEST(a_tube_s_spheres_have_six_neighbours_over_the_seam_too) {
  for (int layers = 1; layers <= 2; layers++) {
    NetRig rig = tube_of(6, 9, layers);
    int64_t n = tl_net_spheres(&rig.net), bonds = 0;
    CK_OK(tl_net_check(&rig.net));
    for (int64_t i = 0; i < n; i++) {
      TlVec3 d = tl_sub(tl_net_point(&rig.net, i), rig.net.corner);
      double out = tl_norm(tl_axpy(d, -tl_dot(d, rig.net.across), rig.net.across));
      CK_NEAR(out, i < 54 ? 0.3 : 0.3 + rig.net.layer_gap_m, 1e-12);
      bonds += check_neighbours(&rig.net, i);
    }
    /* a layer: 6 rings of 9 bonds, 5 gaps of 18; between layers two thirds in the ring below, the
     * third one only where there is a row above */
    int64_t layer = 6 * 9 + 5 * 18, between = 6 * 18 + 5 * 9;
    ck_assert_int_eq(bonds, 2 * (layers * layer + (layers - 1) * between));
    net_rig_close(&rig);
  }
}
END_TEST

static double tube_volume(const NetRig *rig) {
  static TlNetVolume share;
  TlArena arena = {0};
  memset(&share, 0, sizeof share);
  CK_OK(tl_net_volume_add(&rig->net, &rig->bodies, &arena, &share));
  tl_arena_free(&arena);
  return tl_net_volume(&rig->net, &share);
}

/* Between two rings half a column apart lies an antiprism: from end to end of it the section goes
 * over from one polygon to the turned one. Its volume by the prismatoid's formula: h/6 (A + 4 M +
 * A), M the polygon of 2 n corners amid, with corners at R cos(pi/(2 n)). */
START_TEST(a_tube_s_volume_is_that_of_its_antiprisms) {
  for (int n = 5; n < 40; n += 17) {
    NetRig rig = tube_of(7, n, 2);
    net_rig_start(&rig);
    double r = 0.3, middle = r * cos(M_PI / (2 * n)), h = rig.net.spacing_m * sqrt(0.75);
    double end = 0.5 * n * r * r * sin(2 * M_PI / n);
    double amid = n * middle * middle * sin(M_PI / n);
    CK_NEAR(tube_volume(&rig) / (6 * h / 6 * (2 * end + 4 * amid)), 1, 1e-12);
    /* a shift and a turn of all change nothing; a stretch along the axis does */
    double before = tube_volume(&rig);
    TlQuat turn = tl_quat_from_rotation(tl_vec3(0.3, -0.2, 0.5));
    for (int64_t i = 0; i < rig.bodies.owned; i++)
      rig.bodies.position[i] =
          tl_add(tl_quat_rotate(turn, rig.bodies.position[i]), (TlVec3){9, 8, 7});
    CK_NEAR(tube_volume(&rig) / before, 1, 1e-11);
    net_rig_close(&rig);
  }
}
END_TEST

static double radius_at(const NetRig *rig, int64_t i) {
  TlVec3 d = tl_sub(rig->bodies.position[i], rig->net.corner);
  return tl_norm(tl_axpy(d, -tl_dot(d, rig->net.across), rig->net.across));
}

static double angle_of(const NetRig *rig, int64_t i) {
  TlVec3 d = tl_sub(rig->bodies.position[i], rig->net.corner);
  return atan2(tl_dot(d, tl_cross(rig->net.across, rig->net.along)), tl_dot(d, rig->net.along));
}

/* What the bonds pull across the half plane at this angle, at right angles to it. */
static double hoop_force(const NetRig *rig, double angle) {
  TlVec3 side = tl_cross(rig->net.across, rig->net.along);
  TlVec3 hoop = tl_axpy(tl_scale(-sin(angle), rig->net.along), cos(angle), side);
  double sum = 0;
  for (int64_t i = 0; i < tl_net_spheres(&rig->net); i++) {
    int64_t others[TL_NET_NEIGHBOURS];
    int count = tl_net_neighbours(&rig->net, i, others);
    for (int k = 0; k < count; k++) {
      double a = angle_of(rig, i) - angle, b = angle_of(rig, others[k]) - angle;
      if (!(a < 0 && b > 0 && b - a < 1)) continue;
      TlVec3 d = tl_sub(rig->bodies.position[others[k]], rig->bodies.position[i]);
      double stretch = tl_norm(d) - tl_net_rest_length(&rig->net, i, others[k]);
      sum += rig->net.normal_N_m * stretch * tl_dot(tl_unit(d), hoop);
    }
  }
  return sum;
}

/* Blown up from inside, its ends free: hoop tension p R a length and nothing along the axis, so a
 * cut along the tube bears p R L. A triangular lattice of springs k has E t = 2 k / sqrt(3) (area
 * modulus sqrt(3)/2 k, shear modulus sqrt(3)/4 k), so R grows by p R^2 / (E t). */
START_TEST(a_tube_under_pressure_is_in_hoop_equilibrium) {
  NetRig rig = tube_of(7, 24, 1);
  double grown = 0.01, radius = 0, speed = 0;
  double pressure = grown * 2 / sqrt(3) * rig.net.normal_N_m / 0.3;
  rig.net.tangential_N_m = 0;
  rig.net.pressure_Pa = -pressure;
  rig.config.damping_per_s = 3;
  rig.config.step_s = 2e-3;
  net_rig_start(&rig);
  net_rig_run(&rig, 9000);
  for (int64_t j = 0; j < 24; j++) {
    radius += radius_at(&rig, 3 * 24 + j) / 24;
    speed = fmax(speed, tl_norm(rig.bodies.velocity[3 * 24 + j]));
  }
  TlVec3 ends = tl_sub(rig.bodies.position[6 * 24], rig.bodies.position[0]);
  ck_assert_double_lt(speed, 1e-7);
  CK_NEAR(hoop_force(&rig, 0.04) / (pressure * radius * tl_dot(ends, rig.net.across)), 1, 0.01);
  CK_NEAR((radius / 0.3 - 1) / grown, 1, 0.02);
  net_rig_close(&rig);
}
END_TEST

/* Length at rest and law are the bond's: one that is a tenth shorter pulls its ends together, and one
 * of a law that is not there is refused. */
START_TEST(a_bond_has_its_length_and_names_its_law) {
  NetRig rig = rig_of(2, 2, 1);
  net_rig_start(&rig);
  TlBodies *b = &rig.bodies;
  TlBond *bond = tl_bonds(&b->pairs);
  int64_t low = bond->low - 100, high = bond->high - 100;
  TlVec3 n = tl_unit(tl_sub(b->position[low], b->position[high]));
  bond->length *= 0.9;
  net_rig_run(&rig, 1);
  double stretch = 0.1 * rig.net.spacing_m;
  double speed = rig.config.step_s * rig.net.normal_N_m * stretch / rig.net.mass_kg;
  for (int64_t i = 0; i < 4; i++) {
    double want = i == low ? -speed : i == high ? speed : 0;
    CK_NEAR(tl_norm(tl_axpy(b->velocity[i], -want, n)), 0, 1e-12 * speed);
  }
  tl_bonds(&b->pairs)->law = 1;
  stepper_free(rig.solver); /* what it keeps of bonds is of those that were there */
  CK_OK(stepper_new(&rig.solver, &rig.config, (TlAvatarSource){0}, NULL, 0, NULL));
  CK_OK(stepper_set_nets(rig.solver, &rig.net, 1));
  CK_FAILS(stepper_step(rig.solver, b, &rig.report), TL_EINPUT, "has law 1, and there are 1");
  stepper_free(rig.solver);
  CK_OK(stepper_new(&rig.solver, &rig.config, (TlAvatarSource){0}, NULL, 0, NULL));
  rig.net.bond_law = 3;
  CK_FAILS(tl_model_set_nets(rig.solver->model, &rig.net, 1), TL_EUSAGE, "name law 3");
  net_rig_close(&rig);
}
END_TEST

START_TEST(the_oracle_of_the_sag_gives_that_of_a_strip) {
  for (double pressure = 0.01; pressure < 2; pressure *= 10) {
    Sheet strip = {1, 8, 5000, 0.3, pressure};
    double error, formula = membrane_strip_sag(&strip),
                  sag = membrane_oracle_sag(&strip, 8, 32, &error);
    CK_NEAR(sag / formula, 1, 1e-4 + 4 * formula * formula);
    ck_assert_msg(error < 0.01 * sag, "mesh error %g of %g", error, sag); /* half of (1/8)^2 */
  }
}
END_TEST

/* ---- forces of bonds ---- */

/* Of four spheres only the first two are bonded, and the first is clamped. */
static NetRig pair_of(TlMethod method) {
  NetRig rig = rig_of(2, 2, 1);
  rig.config.method = method;
  TL_TEST_SET(&rig.config, TL_TEST_BOTH, stiffness.normal_N_m, 1e3);
  rig.config.search.sides = TL_SIDES_LOWER;
  rig.config.penalty.spread = TL_SPREAD_DEEPEST;
  rig.net.clamped = TL_NET_FIRST_COLUMN;
  return rig;
}

static void pair_start(NetRig *rig) {
  net_rig_start(rig);
  rig->bodies.pairs.of[TL_BONDS].count = 1;
}

/* From the clamped sphere to the other. */
static TlVec3 along_bond(const TlNet *net) {
  return tl_unit(tl_sub(tl_net_point(net, 1), tl_net_point(net, 0)));
}

static TlConstraintRow bond_of(const NetRig *rig) {
  TlConstraintRow *rows;
  int64_t count;
  CK_OK(tl_step_constraints(rig->solver->work, &rows, &count));
  ck_assert_int_eq(count, 1);
  TlConstraintRow row = rows[0];
  tl_free(rows);
  ck_assert_int_eq(row.kind, TL_BONDS);
  ck_assert_int_eq(row.key.low, 100);
  ck_assert_int_eq(row.key.high, 101);
  return row;
}

/* The grain below hangs on the bond: it pulls the clamped one by its weight, without a moment. Bonds
 * are noted on request only. */
START_TEST(a_bond_carries_the_grain_that_hangs_on_it) {
  const TlMethod methods[] = {TL_ETM_PRIORITY, TL_PENALTY};
  for (int k = 0; k < 2; k++) {
    NetRig rig = pair_of(methods[k]);
    TlConstraintRow *rows;
    int64_t count;
    TlVec3 down = along_bond(&rig.net);
    rig.config.gravity_m_s2 = tl_scale(9.81, down);
    rig.config.damping_per_s = 100;
    pair_start(&rig);
    net_rig_run(&rig, 1);
    CK_OK(tl_step_constraints(rig.solver->work, &rows, &count));
    ck_assert_int_eq(count, 0);
    tl_free(rows);
    tl_workspace_keep_bonds(rig.solver->work, true);
    net_rig_run(&rig, 20000);
    TlVec3 before =
        rig.bodies.position[1]; /* by impulses velocities are those before gravity's kick */
    net_rig_run(&rig, 1);
    CK_NEAR(tl_norm(tl_sub(rig.bodies.position[1], before)), 0, 1e-12);
    double weight = rig.bodies.mass[1] * 9.81;
    TlConstraintRow row = bond_of(&rig);
    CK_NEAR(weight, rig.net.mass_kg * 9.81, 1e-12);
    CK_NEAR(tl_norm(tl_axpy(row.force_N, -weight, down)), 0, 1e-6 * weight);
    CK_NEAR(tl_norm(row.moment_N_m), 0, 1e-6 * weight * rig.net.spacing_m);
    CK_NEAR(tl_norm(tl_sub(row.point_m, rig.bodies.position[0])), 0, 1e-15);
    net_rig_close(&rig);
  }
}
END_TEST

/* A bond sheared by s at rest: force -k_t s on the lower sphere at the middle of the two, so its
 * moment about the lower sphere's centre is half the length times that force. */
START_TEST(a_sheared_bond_has_a_moment) {
  NetRig rig = pair_of(TL_PENALTY);
  pair_start(&rig);
  tl_workspace_keep_bonds(rig.solver->work, true);
  TlVec3 n = along_bond(&rig.net), shear = tl_scale(1e-3, tl_cross(n, tl_vec3(0.6, 0, 0.8)));
  tl_bonds(&rig.bodies.pairs)->displacement = shear;
  net_rig_run(&rig, 1);
  TlConstraintRow row = bond_of(&rig);
  TlVec3 force = tl_scale(-rig.net.tangential_N_m, shear);
  TlVec3 moment = tl_cross(tl_scale(0.5 * rig.net.spacing_m, n), force);
  CK_NEAR(tl_norm(tl_sub(row.force_N, force)), 0, 1e-15);
  CK_NEAR(tl_norm(tl_sub(row.moment_N_m, moment)), 0, 1e-16);
  ck_assert_double_gt(tl_norm(moment), 1e-4);
  net_rig_close(&rig);
}
END_TEST

/* A free sphere at rest among six clamped ones, under pressure: its six bonds together balance a third of
 * the pressure on its six triangles. The triangles' vector area is that of the level ring around them
 * however far the sphere has given way. */
START_TEST(six_bonds_balance_the_pressure_on_their_sphere) {
  NetRig rig = rig_of(3, 3, 1);
  rig.net.clamped = TL_NET_ALL_SIDES;
  rig.net.pressure_Pa = 12;
  rig.config.damping_per_s = 100;
  net_rig_start(&rig);
  tl_workspace_keep_bonds(rig.solver->work, true);
  net_rig_run(&rig, 10000);
  TlConstraintRow *rows;
  int64_t count, middle = rig.net.first_id + 4, bonds = 0;
  CK_OK(tl_step_constraints(rig.solver->work, &rows, &count));
  TlVec3 sum = {0, 0, 0};
  for (int64_t k = 0; k < count; k++) {
    if (rows[k].key.low != middle && rows[k].key.high != middle) continue;
    sum = tl_axpy(sum, rows[k].key.low == middle ? 1 : -1, rows[k].force_N);
    bonds++;
  }
  tl_free(rows);
  double area = sqrt(3) / 2 * rig.net.spacing_m * rig.net.spacing_m;
  ck_assert_int_eq(bonds, 6);
  ck_assert_double_gt(fabs(rig.bodies.position[4].z - rig.bodies.position[0].z), 1e-4);
  CK_NEAR(sum.z, 12 * area, 1e-9 * 12 * area);
  CK_NEAR(hypot(sum.x, sum.y), 0, 1e-9 * 12 * area);
  net_rig_close(&rig);
}
END_TEST

TL_TEST_MAIN("membrane", six_bonds_balance_the_pressure_on_their_sphere,
             a_bond_carries_the_grain_that_hangs_on_it, a_sheared_bond_has_a_moment,
             a_bond_has_its_length_and_names_its_law, the_oracle_of_the_sag_gives_that_of_a_strip,
             neighbours_know_each_other_at_their_rest_length,
             a_sphere_among_clamped_ones_swings_at_the_frequency_of_its_six_bonds,
             a_free_net_keeps_momentum_angular_momentum_and_energy,
             the_tangential_spring_turns_with_its_bond,
             pressure_pushes_each_sphere_by_a_third_of_its_triangles,
             a_bond_breaks_above_its_strength_and_is_counted, what_is_kept_of_a_net_never_shows,
             a_bond_longer_than_allowed_ends_the_run_with_its_spheres,
             a_step_just_below_the_stable_one_is_stable_and_above_it_refused,
             a_small_ball_slips_through_and_a_large_one_is_held,
             bonded_spheres_that_touch_make_no_contact, balls_on_one_net_are_islands_of_their_own,
             a_ball_comes_to_rest_on_a_net_that_carries_its_weight,
             a_tube_s_spheres_have_six_neighbours_over_the_seam_too,
             a_tube_s_volume_is_that_of_its_antiprisms,
             a_tube_under_pressure_is_in_hoop_equilibrium)
