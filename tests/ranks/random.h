/* Studies made up from a seed, for tests that compare ranks: grains of scene.h's catalog and of
 * shapes by formula, with every method, on terrain, planes, walls that move, nets, beside fixed
 * bodies. */
#ifndef TL_TESTS_RANKS_RANDOM_H
#define TL_TESTS_RANKS_RANDOM_H

#include "base/random.h"
#include "ranks/scene.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Text {
  char text[16384];
  size_t size;
  TlRandom random;
} Text;

__attribute__((format(printf, 2, 3))) static void say(Text *t, const char *format, ...) {
  va_list list;
  va_start(list, format);
  t->size += (size_t)vsnprintf(t->text + t->size, sizeof t->text - t->size, format, list);
  va_end(list);
  if (t->size >= sizeof t->text) abort();
}

static double between(Text *t, double low, double high) {
  return low + (high - low) * tl_random_next(&t->random);
}
static bool chance(Text *t, double p) {
  return tl_random_next(&t->random) < p;
}
static int one_of(Text *t, int n) {
  int k = (int)(n * tl_random_next(&t->random));
  return k < n ? k : n - 1;
}

/* Impulse methods. */
static void say_impulses(Text *t) {
  static const char *const methods[] = {"etm-level", "etm-level", "etm-level", "sqm", "smm"};
  say(t, "solver: {method: %s", methods[one_of(t, 5)]);
  if (chance(t, 0.5)) say(t, ", rest: %s", chance(t, 0.5) ? "etm" : "extrapolated");
  if (chance(t, 0.3)) say(t, ", order: plain");
  if (chance(t, 0.3)) say(t, ", sides: lower");
  if (chance(t, 0.2)) say(t, ", edges: refine");
  if (chance(t, 0.4)) say(t, ", increments: %d", 1 + one_of(t, 30));
  if (chance(t, 0.5)) say(t, ", max_rounds: %d", 1 + one_of(t, 12));
  if (chance(t, 0.3)) say(t, ", rest_sweeps: %d", 1 + one_of(t, 40));
  if (chance(t, 0.3)) say(t, ", position_sweeps: %d", one_of(t, 30));
  if (chance(t, 0.3)) say(t, ", tolerance: %g", between(t, 0.001, 0.3));
  say(t, "}\n");
}

static void say_penalty(Text *t) {
  const char *spread[] = {"traction", "nodes", "deepest"};
  int s = one_of(t, 3);
  say(t, "solver: {method: penalty%s%s}\n", chance(t, 0.3) ? ", sides: lower" : "",
      s != 1 && chance(t, 0.3) ? ", edges: refine" : "");
  if (s == 2 && chance(t, 0.5))
    say(t, "penalty: {law: hertz, spread: deepest, young_Pa: 5.0e+5");
  else
    say(t, "penalty: {spread: %s, normal_N_m: %g, normal_Pa_m: 3.0e+7", spread[s],
        s == 1 ? 5.0 : 50.0);
  if (chance(t, 0.3)) say(t, ", most_share: 0.05");
  if (chance(t, 0.2)) say(t, ", nodes_every: 2");
  say(t, "}\n");
}

static void say_nonsmooth(Text *t, bool gradients) {
  say(t, "solver: {method: nonsmooth}\nnonsmooth: {young_Pa: 1.0e+6, overlap_share: %g",
      between(t, 0.01, 0.05));
  if (chance(t, 0.5)) say(t, ", iterations: %d", 1 + one_of(t, 60));
  if (chance(t, 0.3)) say(t, ", impact_iterations: %d", 1 + one_of(t, 60));
  if (chance(t, 0.5)) say(t, ", tolerance: %g", between(t, 1e-4, 0.1));
  if (chance(t, 0.3)) say(t, ", warm: no");
  if (chance(t, 0.3)) say(t, ", rolling_of: all");
  if (gradients) say(t, ", solver: nncg");
  say(t, "}\n");
}

static void say_ground(Text *t, int kind, bool penalty) {
  (void)penalty;
  switch (kind) {
  case 0: /* slope of the catalog */
    say(t, "terrain: {name: slope}\n");
    break;
  case 1: /* a box */
    say(t, "planes:\n- {point_m: [0, 0, 0], normal: [0, 0, 1]}\n");
    if (chance(t, 0.7))
      say(t, "- {point_m: [0, 0, 0], normal: [1, 0, 0]}\n- {point_m: [0.014, 0, 0], normal: "
             "[-1, 0, 0]}\n- {point_m: [0, 0, 0], normal: [0, 1, 0]}\n"
             "- {point_m: [0, 0.012, 0], normal: [0, -1, 0]}\n");
    if (chance(t, 0.4))
      say(t,
          "walls:\n- {kind: box, size_m: [0.03, 0.03, 0.001], point_m: [0.007, 0.006, %g], "
          "velocity_m_s: [0, 0, %g], spin_rad_s: [0, 0, %g], from_s: 0.005, until_s: %g}\n",
          between(t, 0.022, 0.03), -between(t, 0.05, 0.4), between(t, 0, 10),
          between(t, 0.02, 0.05));
    break;
  case 2: /* a drum */
    say(t,
        "walls:\n- {kind: cylinder, grains: inside, axis: [0, 1, 0], radius_m: 0.011, length_m: "
        "0.014, point_m: [0.007, 0.006, 0.009], spin_rad_s: [0, %g, 0]}\n",
        between(t, -30, 30));
    break;
  default: /* a container that moves, and a plane below it */
    say(t,
        "walls:\n- {kind: box, grains: inside, size_m: [0.014, 0.012, 0.03], point_m: [0.007, "
        "0.006, 0.015], open: [+z%s], velocity_m_s: [%g, 0, 0], until_s: %g}\n"
        "- {kind: plane, point_m: [0, 0, 0], normal: [0, 0, 1]}\n",
        chance(t, 0.5) ? ", +x" : "", between(t, -0.1, 0.1), between(t, 0.02, 0.2));
  }
}

static void say_net(Text *t, double z) {
  static const char *const clamps[] = {"all", "first-row, last-row", "none",
                                       "first-column, last-row"};
  say(t,
      "nets:\n- {corner_m: [0, 0, %g], along_m: [0.014, 0, 0], across_m: [0, 0.012, %g], "
      "spacing_m: %g, radius_m: 3.0e-4, mass_kg: 1.0e-6, stiffness_N_m: %g, "
      "tangential_stiffness_N_m: %g, damping: %g, strength_N: %g, stretch_most: 20, layers: %d, "
      "friction: 0.4, clamped: [%s]%s}\n",
      z, between(t, -0.002, 0.002), between(t, 1.2e-3, 2e-3), between(t, 0.1, 0.3),
      between(t, 0.02, 0.05), between(t, 0, 0.2), chance(t, 0.5) ? 0 : between(t, 1e-4, 1e-3),
      1 + one_of(t, 2), clamps[one_of(t, 4)], chance(t, 0.3) ? ", pressure_Pa: 0.5" : "");
}

static void say_release(Text *t, int kind, bool on_slope, bool with_sand, double z, int grains) {
  double x = on_slope ? 0.03 : 0.0005, y = on_slope ? 0.03 : 0.0005;
  double dx = on_slope ? 0.025 : 0.013, dy = on_slope ? 0.02 : 0.011;
  static const char *const mixes[] = {"ball",
                                      "ball, small",
                                      "egg",
                                      "egg, jack",
                                      "brick, ball",
                                      "rod, small",
                                      "grid-ball, egg",
                                      "brick, rod, jack, egg, ball",
                                      "jack",
                                      "egg, small",
                                      "grid-ball",
                                      "brick"};
  say(t, "grains: {");
  if (with_sand) say(t, "sample: sand, ");
  say(t, "shapes: [%s]}\n", mixes[one_of(t, 12)]);
  say(t, "release:\n  velocity_m_s: [%g, %g, %g]\n", between(t, -0.3, 0.3), between(t, -0.3, 0.3),
      between(t, -0.5, 0));
  if (kind == 0)
    say(t, "  assembly: lattice\n  spacing: %g\n", between(t, 1.02, 1.3));
  else if (kind == 1)
    say(t, "  assembly: drawn\n  count: %d\n", grains);
  else
    say(t, "  assembly: poured\n  count: %d\n  rate_per_s: %g\n", grains,
        chance(t, 0.5) ? 0 : between(t, 500, 3000));
  if (on_slope)
    say(t, "  low_m: [%g, %g, 0]\n  high_m: [%g, %g, %g]\n  clearance_m: 5.0e-4\n", x, y, x + dx,
        y + dy, kind == 0 ? 0 : 0.02);
  else
    say(t, "  low_m: [%g, %g, %g]\n  high_m: [%g, %g, %g]\n", x, y, z, x + dx, y + dy,
        z + (kind == 2 ? 0.006 : 0.035));
  if (on_slope && kind == 1) say(t, "  depth_m: 0.012\n");
  if (on_slope && kind == 0) say(t, "  layers: %d\n", 2 + one_of(t, 2));
}

/* Any method, ground, release and mixture of grains; a study that the run refuses is possible. */
static void random_study(Text *t, uint64_t seed, int64_t steps) {
  *t = (Text){.random = {seed, 7, 0}};
  bool penalty = chance(t, 0.25);
  int ground = one_of(t, 4), release = one_of(t, 3), grains = 100 + one_of(t, 60);
  bool slope = ground == 0, net = !slope && ground != 2 && chance(t, 0.4);
  bool nonsmooth = !penalty && tl_random_uniform(seed, 8, 0) < 0.3;
  double dt = penalty ? 1e-5 : between(t, 2e-4, 1e-3);
  if (net && dt > 2e-4) dt = 2e-4;
  if (slope && release == 2) release = one_of(t, 2);
  say(t, "catalog: c.sqlite\nseed: %d\ntime: {dt_s: %g, steps: %lld}\n", 1 + one_of(t, 1000), dt,
      (long long)steps);
  say(t, "%s", RANKS_SHAPES);
  say_release(t, release, slope, chance(t, 0.5),
              net           ? 0.008
              : ground == 2 ? 0.004
                            : 0.0015,
              grains);
  if (!slope && chance(t, 0.4)) /* posts that never move, and some that do */
    say(t,
        "bodies:\n- {shape: post, position_m: [0.003, 0.003, 0], fixed: yes, count: 4, step_m: "
        "[0.0035, %g, 0]}\n- {shape: ball, position_m: [0.001, 0.006, 0.045], count: 5, step_m: "
        "[0.0025, 0, 0], velocity_m_s: [0, 0, -1]}\n",
        between(t, 0, 0.003));
  say_ground(t, ground, penalty);
  if (net) say_net(t, 0.005);
  say(t, "contact: {friction: %g, restitution: %g, boundary_friction: %g, boundary_restitution: %g",
      chance(t, 0.2) ? 0 : between(t, 0, 1), chance(t, 0.2) ? 0 : between(t, 0, 0.9),
      between(t, 0, 1), between(t, 0, 0.9));
  if (nonsmooth && chance(t, 0.5))
    say(t, ", rolling: 0.1, twisting: 0.05, adhesion_N: 1.0e-6, adhesive_overlap_m: 2.0e-6");
  if (!penalty && !nonsmooth && chance(t, 0.2))
    say(t, ", tangential_restitution: %g, boundary_tangential_restitution: %g", between(t, 0, 1),
        between(t, 0, 1));
  if (chance(t, 0.3)) say(t, ", damping_per_s: %g", between(t, 0, 5));
  say(t, "}\n");
  if (penalty)
    say_penalty(t);
  else if (nonsmooth)
    say_nonsmooth(t, tl_random_uniform(seed, 9, 0) < 0.4);
  else
    say_impulses(t);
  static const char *const actions[] = {"freeze", "drop"};
  say(t, "unresolved: {embedded: %s, collisions: %s, steps: %d, overlap_share: %g}\n",
      actions[one_of(t, 2)], chance(t, 0.5) ? "warn" : actions[one_of(t, 2)], 2 + one_of(t, 40),
      between(t, 0.05, 0.3));
  if (slope && chance(t, 0.3)) say(t, "outside: stop\n");
  say(t, "parallel: {balance_every_steps: %d, imbalance: 1}\n", 1 + one_of(t, 40));
}

#endif
