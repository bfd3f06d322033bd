#include "run/ledger.h"

void tl_ledger_add(TlLedger *l, const TlStepReport *r) {
  if (r->moving == 0) return;
  /* slip lies between the last step and this; the others' forces act half a step before and after
   */
  l->friction_J += r->slip_J;
  double wall = r->wall_work_J + r->net_held_J;
  double spent = l->friction_J + l->viscous_J + l->drag_J + l->net_damping_J - l->wall_J -
                 l->pressure_J +
                 0.5 * (r->viscous_J + r->drag_J + r->net_damping_J - wall - r->net_pressure_J);
  l->net_J = r->net_elastic_J;
  double now = r->kinetic_J + r->potential_J + r->elastic_J + l->net_J + spent;
  if (r->moving == l->moving)
    l->defect_J = now - l->start_J;
  else
    l->start_J = now - l->defect_J;
  l->moving = r->moving;
  l->viscous_J += r->viscous_J;
  l->drag_J += r->drag_J;
  l->wall_J += wall;
  l->net_damping_J += r->net_damping_J;
  l->pressure_J += r->net_pressure_J;
  l->kinetic_J = r->kinetic_J;
  l->potential_J = r->potential_J;
  l->elastic_J = r->elastic_J;
}

double tl_ledger_unbalanced(const TlStepReport *r) {
  if (r->contacts == 0 || r->moving == 0 || !(r->contact_N > 0)) return 0;
  return r->resultant_N / (double)r->moving / (r->contact_N / (double)r->contacts);
}
