/* The three tests of Servin and Wang 2015 (section 4, Table 3), in small and at the paper's sizes: a pile on a belt, a
 * collapse, a drum; and a collapse of shaped grains.
 *
 * Parameters of the paper: spheres of 3,700 kg/m3, linear contacts of 3 kN/m, restitution 0.18, friction
 * 0.91, rolling and twisting resistance 0.32, steps of 5 ms, damping time of 2 steps, 150 iterations of
 * either stage and no other stop. It leaves the radius of rolling open: ours is that of the sphere for
 * equal spheres (reading R: twice the coefficient on the reduced radius), or the reduced one (r*).
 * Reduction: the thresholds of its Table 2, but for the balance of forces of the trial in collapses, 0.06: at its
 * 0.15 columns stay standing in some draws of the grains' places.
 */
#ifndef TL_TESTS_SERVIN_H
#define TL_TESTS_SERVIN_H

#include "solve/reduction_setup.h"

#include <stdio.h>

typedef enum ServinTest {
  /* 800 spheres of 10 mm rain on a belt, in its frame, at 1,000/s over 15 d by 4 d, 0.1 m above; planes
   * without friction 15 d apart stand for what lies before and behind. The paper's belt is 50 d long, so
   * that what it carries, 1,500 on 15 d, rides for 5 s: ours for 2.7 s. Angle of both flanks.
   * Large: 5,000 spheres; the rain moves over 50 d in 5 s, as the belt sees it, and the flanks are those of the
   * 35 d that it left behind. Nothing falls off the belt's end. */
  SERVIN_CONVEYOR = 0,
  /* 700 spheres of 13 and 10 mm in a box of 9 by 9 of the larger, without friction but for its floor; one
   * wall goes. Angle of the surface at the end. Large: 4,000 in 15 by 15. */
  SERVIN_COLLAPSE,
  /* 640 spheres of 13 and 10 mm in a drum of 15 of the larger across and 5.2 long, ends without friction, at
   * 0.5 rad/s. Angle of the surface within half a radius, mean over the last second and a half.
   * Large: 4,864 in 40 by 7, mean over the last four seconds. */
  SERVIN_DRUM,
  /* Not of the paper: 240 grains, half of them cubes of 11 mm, half angular grains and such with hollows of 13 mm, in
   * a box of 91 mm, without friction but for its floor; friction 0.5, steps of 2 ms. One wall goes. There is no
   * larger one. */
  SERVIN_SHAPES
} ServinTest;

typedef struct ServinScene {
  ServinTest test;
  bool large;         /* as in the paper */
  bool double_radius; /* reading R of the radius of rolling */
  uint64_t seed;      /* of the grains' places */
} ServinScene;
enum { SERVIN_SEED = 2015 };

typedef struct ServinVariant {
  TlSplit split; /* off: without reduction */
  bool velocity; /* the trial's velocities split, too */
  bool sensor;   /* of the drum: the six grain diameters below the height that it lifts grains to */
  int iterations; /* 0: 150 */
} ServinVariant;

typedef struct ServinResult {
  double angle_deg, level; /* level: mean reduction while it was on */
  double cpu_s;            /* of the steps while it was on, or would have been */
  double reduction_s;      /* of which in merging and splitting, with the trial */
  double overlap_share;    /* deepest over the radius, while it was on */
  double merge_J;          /* energy lost in merging */
  double error_J;          /* change of the balance error while it was on */
  double losses_J;         /* all energy that was dissipated meanwhile */
  double
      front_m;   /* distance run by the front, which all but a twentieth of the grains lie behind */
  double fall_J; /* potential energy given up */
  double settled_level; /* when the wall goes */
  int64_t merges, splits, steps;
  int grains;
} ServinResult;

/* Variants from one settled start, a result each. series: time in s, reduction level and angle in degrees of every
 * fourth step, one block a variant for gnuplot; NULL: none. */
void servin_run(const ServinScene *scene, const ServinVariant *variant, int variants, FILE *series,
                ServinResult *result);

#endif
