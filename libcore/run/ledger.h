/* Where the energy goes in the penalty method: kinetic, potential and elastic energy at the start
 * of a step, what friction, the contacts' dashpots and global damping took up to there, and what
 * moving walls, pistons and nets' pressure put in. What is missing from their balance is the
 * balance error: of the time step (second order; first order where the force jumps, as with the
 * deepest point from node to node), of broken bonds, which are not booked. Where grains come or go
 * the balance starts anew with the balance error kept.
 */
#ifndef TL_RUN_LEDGER_H
#define TL_RUN_LEDGER_H

#include "solve/step.h"

typedef struct TlLedger {
  double friction_J, viscous_J, drag_J, wall_J; /* so far */
  double start_J, defect_J;                     /* energy at the start; what is missing of it now */
  double net_J;                                 /* held by nets at the start of the last step */
  double net_damping_J, pressure_J; /* so far: taken by nets' dampers, done by their pressure */
  double kinetic_J, potential_J, elastic_J; /* at the start of the last step */
  int64_t moving;
} TlLedger;

/* After each step; nothing by impulses. */
void tl_ledger_add(TlLedger *ledger, const TlStepReport *report);

/* Mean force that accelerates a body over the mean force of a contact; 0 without contacts. */
double tl_ledger_unbalanced(const TlStepReport *report);

#endif
