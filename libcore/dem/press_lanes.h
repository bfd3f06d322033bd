/* Contacts of spheres with spheres and with walls that stand, many at once.
 *
 * The formulas are those of tl_press_one (penalty.h) and agree with it but for rounding
 * (test_penalty); a contact here is a lane of arrays, so that the compiler works on four or eight
 * at a time. A wall is a sphere of no radius and no curvature at the foot of the perpendicular.
 */
#ifndef TL_DEM_PRESS_LANES_H
#define TL_DEM_PRESS_LANES_H

#include "dem/penalty.h"

enum { TL_PRESS_LANES = 32 };
typedef double TlLane[TL_PRESS_LANES];

typedef struct TlPressLanes {
  int count;
  /* in: of a and of b; of the contact. The next unused ones up to a multiple of 8 are computed,
   * too, and must be finite: zeroed at the start */
  TlLane d[3], va[3], wa[3], vb[3], wb[3];            /* d: from b's centre to a's */
  TlLane radius_a, radius_b, curvature, inverse_mass; /* the last two: sums of both */
  TlLane cap, friction, damping;                      /* cap: a depth beyond bears as that */
  TlLane s[3], normal[3];                             /* the touch of the last step, or 0 */
  /* out, as in TlPressed and TlTouch */
  TlLane n[3], depth, force[3], torque_a[3], torque_b[3];
  TlLane s_end[3], shear, stiff, stiff_a, stiff_b;
  TlLane normal_N, elastic, slip, size, sliding; /* size: of the force */
  TlLane viscous[3], viscous_torque_a[3], viscous_torque_b[3];
  /* on the way */
  TlLane arm_b[3], bearing, radius, mass, area, normal_force, slope, energy;
} TlPressLanes;

/* stiffness: of all of them. */
void tl_press_lanes(const TlNormalLaw *law, const TlStiffness *stiffness, double step_s,
                    TlPressLanes *lanes);

#endif
