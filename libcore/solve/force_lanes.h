/* Contact points, many at once: spheres with spheres and with walls that stand, and the points of
 * one pair (penalty.c).
 *
 * The forces are those of force_point.h; a point here is a lane of arrays, so that the compiler works
 * on four or eight at a time. A wall is a sphere of no radius and no curvature at the foot of the perpendicular.
 */
#ifndef TL_SOLVE_FORCE_LANES_H
#define TL_SOLVE_FORCE_LANES_H

#include "solve/penalty.h"
#include "solve/force_point.h"

enum { TL_FORCE_LANES = 32 };
typedef double TlLane[TL_FORCE_LANES];

typedef struct TlForceLanes {
  int count;
  /* The next unused lanes up to a multiple of 4 are computed, too, and must be finite. */
  /* of spheres; d: from b's centre to a's; curvature, inverse_mass: sums of both; cap: a depth
   * beyond bears as that */
  TlLane d[3], radius_a, radius_b, curvature, inverse_mass, cap;
  /* of every point; in: */
  const TlPairLaw *law[TL_FORCE_LANES];
  TlLane va[3], wa[3], vb[3], wb[3];
  TlLane s[3], stiff_n[3]; /* the spring of the last step: displacement, and its normal times its
                              stiffness; 0 without */
  /* in, of spheres from the above: */
  TlLane n[3], arm_a[3], arm_b[3], depth, bearing; /* arms: from the centres to the point */
  TlLane beyond, twist;                            /* as in TlForceInput */
  TlLane normal_force, slope, energy, shear;       /* of the law */
  TlLane normal_damping, tangential_damping;       /* N s/m */
  /* out, as in TlPenaltyForce and TlSpring */
  TlLane force[3], torque_a[3], torque_b[3], s_end[3], stiff, stiff_b;
  TlLane normal_N, elastic, slip, size, sliding; /* size: of the force */
  TlLane viscous[3], viscous_torque_a[3], viscous_torque_b[3];
  TlLane stiff_a; /* of spheres */
  /* on the way */
  TlLane radius, mass, area;
  struct { /* of the laws */
#define F(value) TlLane value;
    TL_FORCE_VALUES(F)
#undef F
  } pair;
} TlForceLanes;

/* Spheres; stiffness: of all of them. */
void tl_force_lanes(const TlNormalLaw *law, const TlStiffness *stiffness, double step_s,
                    TlForceLanes *lanes);
/* The law at area, radius and bearing, and what follows from it, of lanes->count points. */
void tl_force_lanes_law(const TlNormalLaw *law, const TlStiffness *stiffness, TlForceLanes *lanes);
void tl_force_lanes_bear(TlForceLanes *lanes, double step_s);

#endif
