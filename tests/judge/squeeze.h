/* Grains squeezed between the six walls of a box until they rest, without gravity: the stress that their contact forces
 * give (Love, sum of f l over the volume) beside the moments of what the walls bear.
 *
 * In equilibrium the two are the same for any shape and friction: the sum over a grain's contacts of f x does not depend
 * on where x is counted from, and between grains all but f (x_a - x_b) goes out, so that f x of the walls is left. Of a
 * rough wall the whole traction counts, for the shear on a wall bears a part of what the wall across from it is pressed
 * with. Grains that are not quite at rest add their resultants at their places. And the stress is symmetric, unless contacts bear couples (rolling and twisting resistance).
 */
#ifndef TL_TESTS_SQUEEZE_H
#define TL_TESTS_SQUEEZE_H

#include "judge/scene.h"

/* All are sums, N m, forces on the grains; sides in m. Walls stand at -half_m and half_m of each axis. */
typedef struct SqueezeStress {
  double love[3][3];  /* of contacts: force i, branch j */
  double walls[3][3]; /* force i at place j, on the walls' faces */
  double moving
      [3]
      [3]; /* resultant i on each grain at its place j: what accelerates those that do not rest yet */
  double pressed[3]; /* normal forces alone, mean of two walls times their distance */
  double twist; /* torque that contact forces leave on a grain, mean, over the sum of |f| |arm| */
  double unbalanced; /* resultant force on a grain, mean, over the mean contact force */
} SqueezeStress;
/* Of the contacts of the last step. middle: of the box. */
void squeeze_stress(const JudgeScene *scene, TlVec3 middle, double half_m, SqueezeStress *stress);

/* Largest difference of love and walls, those of grains that still move counted, and largest asymmetry of love, over the mean pressure. */
double squeeze_error(const SqueezeStress *stress);
double squeeze_still_error(const SqueezeStress *stress); /* without those */
double squeeze_asymmetry(const SqueezeStress *stress);

typedef struct Squeeze {
  int wide;           /* grains along a side */
  double pitch_m;     /* of the lattice that they start on, turned at random */
  double pressure_Pa; /* walls move until they bear this in the mean */
  double speed_m_s;   /* at which they close at first */
  double friction, wall_friction;
  int close_steps, hold_steps; /* hold: with walls at rest, at most, until grains rest, too */
} Squeeze;
/* Friction and walls of a scene that is open, before it starts. */
void squeeze_walls(JudgeScene *scene, const Squeeze *squeeze);
/* Then the grains, of this avatar, are put and squeezed. Takes the stress in the end. */
void squeeze_run(JudgeScene *scene, int64_t avatar, const Squeeze *squeeze, SqueezeStress *stress);

#endif
