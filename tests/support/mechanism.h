/* Mechanisms of joints whose motion is known: a ball that swings from a hinge, and a slider-crank. */
#ifndef TL_TESTS_MECHANISM_H
#define TL_TESTS_MECHANISM_H

#include "support/grain_state.h"
#include "support/stepper.h"

#include <math.h>

static const double CRANK_M = 0.1, ROD_M = 0.3;

static inline TlStatus mechanism_add(TlBodies *b, TlPairKind kind, const void *row) {
  TL_TRY(tl_pair_state_add(&b->pairs, kind, row));
  tl_pair_state_sort(&b->pairs);
  return TL_OK;
}

/* A ball at the end of an arm of length l, which hangs from the origin and turns about y. */
static inline TlStatus mechanism_hang(TlBodies *b, int64_t ball, double l, double angle) {
  TlQuat q = tl_quat_from_rotation(tl_vec3(0, angle, 0));
  TL_TRY(tl_test_add(b, &(TlGrainState){.id = b->total,
                                        .avatar_id = ball,
                                        .scale = 1,
                                        .position = tl_quat_rotate(q, tl_vec3(0, 0, -l)),
                                        .rotation = q}));
  return mechanism_add(b, TL_HINGES,
                       &(TlHinge){.low = 0,
                                  .high = -1,
                                  .number = 7,
                                  .anchor_low = {0, 0, l},
                                  .axis_low = {0, 1, 0},
                                  .axis_high = {0, 1, 0}});
}

static inline double mechanism_angle(const TlBodies *b) {
  TlVec3 x = b->position[0];
  return atan2(-x.x, -x.z);
}

/* How far the end of the arm has come from the hinge. */
static inline double mechanism_drift(const TlBodies *b, double l) {
  return tl_norm(tl_add(b->position[0], tl_quat_rotate(b->rotation[0], tl_vec3(0, 0, l))));
}

/* Of a small swing of a ball of radius r: 2 pi sqrt((l^2 + 2/5 r^2)/(g l)), and with an amplitude of a: 1 + a^2/16
 * more. */
static inline double mechanism_period(double l, double r, double g, double a) {
  return 2 * M_PI * sqrt((l * l + 0.4 * r * r) / (g * l)) * (1 + a * a / 16);
}

/* Period of the pendulum in so many steps, from where it swings through its rest the same way; NAN: fewer than two. */
static inline TlStatus mechanism_time(Stepper *solver, TlBodies *b, double h, int steps,
                                      double *period) {
  double first = 0, last = 0, since = 0, before = mechanism_angle(b);
  int crossings = 0;
  for (int k = 0; k < steps; k++) {
    TL_TRY(stepper_step(solver, b, NULL));
    double now = mechanism_angle(b);
    since += h;
    if (before < 0 && now >= 0) {
      last = since - h * now / (now - before);
      if (crossings++ == 0) first = last;
    }
    before = now;
  }
  *period = crossings > 1 ? (last - first) / (crossings - 1) : NAN;
  return TL_OK;
}

/* A crank that a motor turns about z, a rod, and what slides along x. Shapes: boxes CRANK_M and ROD_M long, any body. */
static inline TlStatus mechanism_crank(TlBodies *b, int64_t crank, int64_t rod, int64_t slide,
                                       double spin) {
  const int64_t shape[] = {crank, rod, slide};
  const double x[] = {0.5 * CRANK_M, CRANK_M + 0.5 * ROD_M, CRANK_M + ROD_M};
  for (int k = 0; k < 3; k++)
    TL_TRY(tl_test_add(b, &(TlGrainState){.id = b->total,
                                          .avatar_id = shape[k],
                                          .scale = 1,
                                          .position = {x[k], 0, 0},
                                          .rotation = {1, 0, 0, 0}}));
  for (int k = 0; k < 3; k++) /* body axes may lie otherwise than those of the shape */
    b->rotation[k] = (TlQuat){1, 0, 0, 0};
  TL_TRY(mechanism_add(b, TL_HINGES,
                       &(TlHinge){.low = 0,
                                  .high = -1,
                                  .number = 1,
                                  .anchor_low = {-0.5 * CRANK_M, 0, 0},
                                  .axis_low = {0, 0, 1},
                                  .axis_high = {0, 0, 1}}));
  TL_TRY(mechanism_add(b, TL_HINGES,
                       &(TlHinge){.low = 0,
                                  .high = 1,
                                  .number = 2,
                                  .anchor_low = {0.5 * CRANK_M, 0, 0},
                                  .anchor_high = {-0.5 * ROD_M, 0, 0},
                                  .axis_low = {0, 0, 1},
                                  .axis_high = {0, 0, 1}}));
  TL_TRY(mechanism_add(b, TL_HINGES,
                       &(TlHinge){.low = 1,
                                  .high = 2,
                                  .number = 3,
                                  .anchor_low = {0.5 * ROD_M, 0, 0},
                                  .axis_low = {0, 0, 1},
                                  .axis_high = {0, 0, 1}}));
  TL_TRY(mechanism_add(b, TL_SLIDERS,
                       &(TlSlider){.low = 2,
                                   .high = -1,
                                   .number = 4,
                                   .anchor_high = {CRANK_M + ROD_M, 0, 0},
                                   .axis_high = {1, 0, 0},
                                   .turn = {1, 0, 0, 0}}));
  return mechanism_add(
      b, TL_MOTORS,
      &(TlMotor){
          .low = 0, .high = -1, .number = 5, .joint = 1, .turns = 1, .speed = spin, .most = 1e6});
}

/* Angle of the crank, and its slide's place over a cos + sqrt(l^2 - a^2 sin^2) less 1. */
static inline double mechanism_crank_error(const TlBodies *b, double *angle) {
  TlVec3 pin = tl_quat_rotate(b->rotation[0], tl_vec3(1, 0, 0));
  *angle = atan2(pin.y, pin.x);
  double s = CRANK_M * sin(*angle);
  return b->position[2].x / (CRANK_M * cos(*angle) + sqrt(ROD_M * ROD_M - s * s)) - 1;
}

#endif
