/* The energy balance of the methods whose contacts bear a force: kinetic, potential and elastic energy at the start
 * of a step, the energy that friction, the contacts' dashpots and global damping have dissipated up to
 * there, and the work that moving walls, pistons and the pressure on nets have done. Their sum should
 * stay constant; what is missing from it is the balance error. It comes from the time step (second
 * order; first order where the force jumps, as with the deepest point from node to node) and from
 * broken bonds, whose energy is not counted. By the nonsmooth method losses are of whole steps, impacts are
 * one of them, what merging bodies lose another, what contacts store is part of what their normal rows take, and
 * potential energy is that of half a step earlier, which belongs to the velocities (docs/theory/nonsmooth.md).
 * Where grains come or leave the balance starts anew and keeps the balance error that it had.
 */
#ifndef TL_RUN_ENERGY_BALANCE_H
#define TL_RUN_ENERGY_BALANCE_H

#include "solve/step.h"
#include "store/trust.h"

typedef struct TlEnergyBalance {
  double friction_J, viscous_J, drag_J, wall_J; /* so far */
  double impact_J,
      stored_J;            /* nonsmooth, so far: by impacts; by normal rows, with what they store */
  double merge_J;          /* nonsmooth, so far: motion lost where bodies merged */
  double start_J, error_J; /* energy at the start; what is missing of it now */
  double net_J;            /* held by nets at the start of the last step */
  double net_damping_J, pressure_J; /* so far: taken by nets' dampers, done by their pressure */
  double kinetic_J, potential_J, elastic_J; /* at the start of the last step */
  double most_kinetic_J;                    /* so far */
  int64_t moving;
} TlEnergyBalance;

/* Add the report of a step. The methods by impulses report no moving bodies, and nothing is added. */
void tl_energy_balance_add(TlEnergyBalance *balance, const TlStepReport *report);

/* Grains have left between two steps: the balance starts anew with the next one, even if as many came. */
void tl_energy_balance_restart(TlEnergyBalance *balance);

/* What the rules of trust ask for. */
TlTurnover tl_energy_turnover(const TlEnergyBalance *balance);

/* Unbalanced force: the mean force that accelerates a body over the mean force of a contact; 0
 * without contacts. */
double tl_unbalanced_force(const TlStepReport *report);

#endif
