/* Bodies on joints of every kind, as a study of the nonsmooth method, for tests of ranks and of stops. */
#ifndef TL_TESTS_RANKS_MACHINES_H
#define TL_TESTS_RANKS_MACHINES_H

#include "ranks/scene.h"

/* Bodies on joints that travel over the borders of the ranks, with grains that rain on them: a car on four driven
 * wheels, with a trailer that it draws by a rod; a chain of rods that hangs from the world; a gate on a hinge with
 * limits; a driven piston between its limits, on a long rope to the gate; and two bricks, welded, with a ball on a
 * rope, that fly through all of it. steps: number, and more of the section time. */
#define MACHINES_BODIES                                                                            \
  "- {name: car, shape: brick, position_m: [0.0030, 0.006, 1.5e-3]}\n"                             \
  "- {name: car-fl, shape: small, position_m: [0.0037, 0.0049, 5.2e-4]}\n"                         \
  "- {name: car-fr, shape: small, position_m: [0.0037, 0.0071, 5.2e-4]}\n"                         \
  "- {name: car-bl, shape: small, position_m: [0.0023, 0.0049, 5.2e-4]}\n"                         \
  "- {name: car-br, shape: small, position_m: [0.0023, 0.0071, 5.2e-4]}\n"                         \
  "- {name: trailer, shape: brick, position_m: [0.0000, 0.006, 1.5e-3]}\n"                         \
  "- {name: trailer-fl, shape: small, position_m: [0.0007, 0.0049, 5.2e-4]}\n"                     \
  "- {name: trailer-fr, shape: small, position_m: [0.0007, 0.0071, 5.2e-4]}\n"                     \
  "- {name: trailer-bl, shape: small, position_m: [-0.0007, 0.0049, 5.2e-4]}\n"                    \
  "- {name: trailer-br, shape: small, position_m: [-0.0007, 0.0071, 5.2e-4]}\n"                    \
  "- {name: c1, shape: ball, position_m: [0.0054, 0.0095, 0.0085]}\n"                              \
  "- {name: c2, shape: ball, position_m: [0.0078, 0.0095, 0.0085]}\n"                              \
  "- {name: c3, shape: ball, position_m: [0.0102, 0.0095, 0.0085]}\n"                              \
  "- {name: c4, shape: ball, position_m: [0.0126, 0.0095, 0.0085]}\n"                              \
  "- {name: gate, shape: brick, position_m: [0.0095, 0.006, 0.0030]}\n"                            \
  "- {name: piston, shape: brick, position_m: [-0.002, 0.002, 0.0012]}\n"                          \
  "- {name: left, shape: brick, position_m: [0.0135, 0.002, 0.006], "                              \
  "velocity_m_s: [-0.12, 0.02, 0.15], spin_rad_s: [0, 40, 5]}\n"                                   \
  "- {name: right, shape: brick, position_m: [0.0156, 0.002, 0.006], "                             \
  "velocity_m_s: [-0.12, 0.02, 0.15]}\n"                                                           \
  "- {name: bob, shape: ball, position_m: [0.0190, 0.002, 0.006], "                                \
  "velocity_m_s: [-0.05, 0, 0.1]}\n"
#define MACHINES_JOINTS                                                                            \
  "- {kind: hinge, body: car-fl, other: car, point_m: [0.0037, 0.0049, 5.2e-4], "                  \
  "axis: [0, 1, 0], motor_rad_s: -220, motor_most_N_m: 2.0e-8}\n"                                  \
  "- {kind: hinge, body: car-fr, other: car, point_m: [0.0037, 0.0071, 5.2e-4], "                  \
  "axis: [0, 1, 0], motor_rad_s: -220, motor_most_N_m: 2.0e-8}\n"                                  \
  "- {kind: hinge, body: car-bl, other: car, point_m: [0.0023, 0.0049, 5.2e-4], "                  \
  "axis: [0, 1, 0], motor_rad_s: -220, motor_most_N_m: 2.0e-8}\n"                                  \
  "- {kind: hinge, body: car-br, other: car, point_m: [0.0023, 0.0071, 5.2e-4], "                  \
  "axis: [0, 1, 0], motor_rad_s: -220, motor_most_N_m: 2.0e-8}\n"                                  \
  "- {kind: hinge, body: trailer-fl, other: trailer, point_m: [0.0007, 0.0049, "                   \
  "5.2e-4], axis: [0, 1, 0]}\n"                                                                    \
  "- {kind: hinge, body: trailer-fr, other: trailer, point_m: [0.0007, 0.0071, "                   \
  "5.2e-4], axis: [0, 1, 0]}\n"                                                                    \
  "- {kind: hinge, body: trailer-bl, other: trailer, point_m: [-0.0007, 0.0049, "                  \
  "5.2e-4], axis: [0, 1, 0]}\n"                                                                    \
  "- {kind: hinge, body: trailer-br, other: trailer, point_m: [-0.0007, 0.0071, "                  \
  "5.2e-4], axis: [0, 1, 0]}\n"                                                                    \
  "- {kind: distance, body: car, other: trailer, point_m: [0.0020, 0.006, 0.0015], "               \
  "other_point_m: [0.0010, 0.006, 0.0015], least_m: 0.001, most_m: 0.001}\n"                       \
  "- {kind: distance, body: c1, point_m: [0.0054, 0.0095, 0.0085], "                               \
  "other_point_m: [0.0030, 0.0095, 0.0085], least_m: 0.0024, most_m: 0.0024}\n"                    \
  "- {kind: distance, body: c2, other: c1, point_m: [0.0078, 0.0095, 0.0085], "                    \
  "other_point_m: [0.0054, 0.0095, 0.0085], least_m: 0.0024, most_m: 0.0024}\n"                    \
  "- {kind: distance, body: c3, other: c2, point_m: [0.0102, 0.0095, 0.0085], "                    \
  "other_point_m: [0.0078, 0.0095, 0.0085], least_m: 0.0024, most_m: 0.0024}\n"                    \
  "- {kind: distance, body: c4, other: c3, point_m: [0.0126, 0.0095, 0.0085], "                    \
  "other_point_m: [0.0102, 0.0095, 0.0085], least_m: 0.0024, most_m: 0.0024}\n"                    \
  "- {kind: hinge, body: gate, point_m: [0.0095, 0.006, 0.0042], axis: [0, 1, 0], "                \
  "least_deg: -60, most_deg: 20}\n"                                                                \
  "- {kind: slider, body: piston, point_m: [-0.002, 0.002, 0.0012], axis: [1, 0, 0], "             \
  "motor_m_s: 0.12, motor_most_N: 2.0e-4, least_m: -0.001, most_m: 0.012}\n"                       \
  "- {kind: distance, body: gate, other: piston, point_m: [0.0095, 0.006, 0.0030], "               \
  "other_point_m: [-0.002, 0.002, 0.0012], least_m: 0.004, most_m: 0.0125}\n"                      \
  "- {kind: weld, body: right, other: left, point_m: [0.01455, 0.002, 0.006]}\n"                   \
  "- {kind: distance, body: bob, other: right, point_m: [0.0190, 0.002, 0.006], "                  \
  "other_point_m: [0.0166, 0.002, 0.006], least_m: 0.0012, most_m: 0.0028}\n"
#define MACHINES(grains, steps, nonsmooth)                                                         \
  "time: {dt_s: 2.0e-4, steps: " steps "}\n" RANKS_SHAPES "grains: {shapes: [ball, small, egg]}\n" \
  "release: {assembly: drawn, count: " grains ", low_m: [0.0005, 0.0005, 0.010], "                 \
  "high_m: [0.0135, 0.0115, 0.032], velocity_m_s: [0.1, 0, -0.3]}\n"                               \
  "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"                                            \
  "bodies:\n" MACHINES_BODIES "joints:\n" MACHINES_JOINTS                                          \
  "contact: {friction: 0.5, restitution: 0.2, rolling: 0.05}\n"                                    \
  "solver: {method: nonsmooth}\n"                                                                  \
  "nonsmooth: {young_Pa: 1.0e+6, overlap_share: 0.02, " nonsmooth "}\n"                            \
  "parallel: {balance_every_steps: 9, imbalance: 1}\n"

#endif
