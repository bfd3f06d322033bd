/* Where the results of a run are no longer to be trusted: the rules of the warnings at the end of a
 * run and in reports.
 *
 * Solves (method nonsmooth). A step is unconverged when one of its solves ends at its limit of
 * iterations with a residual (the largest change of a velocity in the last iteration) above its
 * tolerance. Many runs limit the iterations on purpose, and small residuals do no harm; so a step is
 * called inaccurate only when the residual is
 *   - above a tenth of the velocity that the forces give in a step (gravity times the step, or what the
 *     contacts bear where that is more; in the impact stage of the fastest impact's speed): contact
 *     forces are wrong by about as much; and
 *   - above a hundredth of the fastest surface's speed: less of it is not seen in the motion.
 * A warning is due when more than a fiftieth of the steps are inaccurate: the next solve starts from the
 * forces of the last one and mends what a single step left over.
 */
#ifndef TL_STORE_TRUST_H
#define TL_STORE_TRUST_H

#include <stdbool.h>
#include <stdint.h>

static inline bool tl_solve_inaccurate(double fraction, double residual_m_s, double speed_m_s) {
  return fraction > 0.1 && residual_m_s > 0.01 * speed_m_s;
}

static inline bool tl_solves_distrusted(double inaccurate_steps, double steps) {
  return inaccurate_steps > 0.02 * steps;
}

#endif
