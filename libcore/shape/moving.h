/* The rule by which a grain counts as moving and a heap as at rest, for the solver's
 * summary, the end of a run (time.until_rest), captions of pictures and measures.
 *
 * The pace of a grain is (|v| + |w| d/2)/sqrt(g d): a bound of its surface speed, v and w its
 * velocity and spin, d the diameter of the sphere of its volume, over the speed of a fall through
 * half a diameter (g: size of gravity). A grain moves when its pace exceeds 0.01: it then takes
 * less than a hundred times sqrt(d/g), the time of that fall, to move by its own diameter. Grains
 * are at rest when those that move are at most 5% of the mass (a fraction that a study may set) and
 * none has a pace above 0.1: a single block that still rolls can double the runout. A few rounded
 * grains that rock on one or two nodes at a pace of 0.01 to 0.03 do so for a long time and get
 * nowhere.
 */
#ifndef TL_SHAPE_MOVING_H
#define TL_SHAPE_MOVING_H

#include "num/vec.h"

#include <stdbool.h>

static const double tl_moving_pace = 0.01, tl_resting_pace = 0.1; /* of a grain; of the fastest */
static const double tl_resting_fraction = 0.05;                   /* of the mass */

/* Infinite without gravity for a grain that moves at all. */
static inline double tl_pace(TlVec3 velocity, TlVec3 spin, double diameter_m, double gravity_m_s2) {
  double speed = tl_norm(velocity) + 0.5 * diameter_m * tl_norm(spin);
  return speed > 0 ? speed / sqrt(gravity_m_s2 * diameter_m) : 0;
}

static inline bool tl_at_rest(double moving_fraction, double largest_pace, double most_fraction) {
  return moving_fraction <= most_fraction && largest_pace <= tl_resting_pace;
}

#endif
