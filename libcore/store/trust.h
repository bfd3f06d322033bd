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
 * A warning is due when more than a twentieth of the steps are inaccurate: the next solve starts from the
 * forces of the last one and mends what a single step left over.
 *
 * Energy (methods with an energy balance). What was turned over is what was lost, the work of moving
 * boundaries and the largest kinetic energy; what contacts hold is not counted, since a run that makes
 * up energy makes it up there first. Contact damping can only take energy, so a loss below
 * -5% of what was turned over is made up, and a balance error of more than 5% of it is too large
 * (usual: below 1%). What rounding of the potential energy may do is never warned of.
 *
 * Inlets (release.assembly poured). A warning is due when at the end more than a hundredth of the grains that
 * were due had found no free place, or when more than that of all, and more than one, waited at once during the run.
 *
 * Overlaps deeper than TL_OVERLAP_LIMIT of the smaller radius: contacts are so soft, or the step so long,
 * that grains have another shape than was meant.
 */
#ifndef TL_STORE_TRUST_H
#define TL_STORE_TRUST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define TL_OVERLAP_LIMIT 0.05
#define TL_ENERGY_LIMIT 0.05
#define TL_INACCURATE_LIMIT 0.05
#define TL_WAITING_LIMIT 0.01

static inline bool tl_solve_inaccurate(double fraction, double residual_m_s, double speed_m_s) {
  return fraction > 0.1 && residual_m_s > 0.01 * speed_m_s;
}

static inline bool tl_solves_distrusted(double inaccurate_steps, double steps) {
  return inaccurate_steps > TL_INACCURATE_LIMIT * steps;
}

/* Of `count` grains to be poured those due after so many steps; without a rate all at once. */
static inline int64_t tl_grains_due(double rate_per_s, double step_s, int64_t steps,
                                    int64_t count) {
  double due = rate_per_s * (double)steps * step_s;
  return !(rate_per_s > 0) || due >= (double)count ? count : (int64_t)floor(due + 1e-9);
}

/* waiting: of so many grains due. */
static inline bool tl_inlet_distrusted(int64_t waiting, int64_t due) {
  return (double)waiting > TL_WAITING_LIMIT * (double)due;
}

typedef struct TlTurnover {
  double damping_J, other_J;     /* losses so far: by contact damping; all others */
  double wall_J, most_kinetic_J; /* work of moving boundaries, either sign; largest so far */
  double potential_J, balance_error_J;
} TlTurnover;

static inline double tl_turned_over_J(const TlTurnover *t) {
  double sum = fmax(0, t->damping_J) + fmax(0, t->other_J) + fabs(t->wall_J) + t->most_kinetic_J;
  return fmax(sum, 1e-9 * fabs(t->potential_J));
}

/* Energy that contact damping gave, where it can only take some, over what was turned over. */
static inline double tl_made_up_share(const TlTurnover *t) {
  return t->damping_J < 0 ? -t->damping_J / tl_turned_over_J(t) : 0;
}

/* What is missing from the energy balance, of either sign, over what was turned over. */
static inline double tl_missing_share(const TlTurnover *t) {
  return t->balance_error_J != 0 ? fabs(t->balance_error_J) / tl_turned_over_J(t) : 0;
}

static inline bool tl_damping_distrusted(const TlTurnover *t) {
  return tl_made_up_share(t) > TL_ENERGY_LIMIT;
}

static inline bool tl_balance_distrusted(const TlTurnover *t) {
  return tl_missing_share(t) > TL_ENERGY_LIMIT;
}

#endif
