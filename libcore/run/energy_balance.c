#include "run/energy_balance.h"

#include <math.h>

static void settle(TlEnergyBalance *e, double now, int64_t moving) {
  if (moving == e->moving)
    e->error_J = now - e->start_J;
  else
    e->start_J = now - e->error_J;
  e->moving = moving;
}

/* Energies are those of the step's start; what was spent up to there is in the sums. What the normal
 * rows took so far is what contacts hold now, beyond what they held at first, and what they lost. */
static void add_whole(TlEnergyBalance *e, const TlStepReport *r) {
  if (e->moving == 0) e->stored_J = r->elastic_J;
  e->viscous_J = e->stored_J - r->elastic_J;
  double spent = e->friction_J + e->viscous_J + e->impact_J + e->merge_J + e->drag_J +
                 e->net_damping_J - e->pressure_J - e->wall_J;
  e->net_J = r->net_elastic_J;
  settle(e, r->kinetic_J + r->potential_J + r->half_step_J + r->elastic_J + e->net_J + spent,
         r->moving + r->guided);
  e->kinetic_J = r->kinetic_J;
  e->potential_J = r->potential_J;
  e->elastic_J = r->elastic_J;
  e->friction_J += r->slip_J;
  e->stored_J += r->viscous_J;
  e->impact_J += r->impact_J;
  e->merge_J += r->merge_J;
  e->drag_J += r->drag_J;
  e->wall_J += r->wall_work_J + r->net_held_J;
  e->net_damping_J += r->net_damping_J;
  e->pressure_J += r->net_pressure_J;
}

void tl_energy_balance_add(TlEnergyBalance *e, const TlStepReport *r) {
  if (r->moving + r->guided == 0 || r->whole == TL_LOSSES_UNKNOWN) return;
  e->most_kinetic_J = fmax(e->most_kinetic_J, r->kinetic_J);
  if (r->whole == TL_LOSSES_WHOLE) {
    add_whole(e, r);
    return;
  }
  /* Friction's loss lies between the last step and this one; the other forces act half a step
   * before and half a step after. */
  e->friction_J += r->slip_J;
  double wall = r->wall_work_J + r->net_held_J;
  double spent = e->friction_J + e->viscous_J + e->drag_J + e->net_damping_J - e->wall_J -
                 e->pressure_J +
                 0.5 * (r->viscous_J + r->drag_J + r->net_damping_J - wall - r->net_pressure_J);
  e->net_J = r->net_elastic_J;
  settle(e, r->kinetic_J + r->potential_J + r->elastic_J + e->net_J + spent, r->moving + r->guided);
  e->viscous_J += r->viscous_J;
  e->drag_J += r->drag_J;
  e->wall_J += wall;
  e->net_damping_J += r->net_damping_J;
  e->pressure_J += r->net_pressure_J;
  e->kinetic_J = r->kinetic_J;
  e->potential_J = r->potential_J;
  e->elastic_J = r->elastic_J;
}

void tl_energy_balance_restart(TlEnergyBalance *e) {
  if (e->moving > 0) e->moving = -1; /* as no step has it */
}

TlTurnover tl_energy_turnover(const TlEnergyBalance *e) {
  return (TlTurnover){.damping_J = e->viscous_J,
                      .other_J =
                          e->friction_J + e->impact_J + e->merge_J + e->drag_J + e->net_damping_J,
                      .wall_J = fabs(e->wall_J) + fabs(e->pressure_J),
                      .most_kinetic_J = e->most_kinetic_J,
                      .potential_J = e->potential_J,
                      .balance_error_J = e->error_J};
}

double tl_unbalanced_force(const TlStepReport *r) {
  if (r->contacts == 0 || r->moving == 0 || !(r->contact_N > 0)) return 0;
  return r->resultant_N / (double)r->moving / (r->contact_N / (double)r->contacts);
}
