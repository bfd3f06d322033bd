/* What the steps of all methods share: the step in hand, derived fields, boundaries that move, nets.
 */
#ifndef TL_SOLVE_STEP_COMMON_H
#define TL_SOLVE_STEP_COMMON_H

#include "solve/stages.h"
#include "solve/workspace.h"

/* The step in hand: what tl_step was given, and this rank's part of the report's exact sums. */
typedef struct TlStep {
  const TlModel *model;
  TlState *state;
  const TlControls *controls; /* NULL outside of tl_step */
  TlWorkspace *work;
  const TlSync *sync;
  const TlMaterials *materials; /* pair laws as they hold in this step */
  TlStepSums sums;
} TlStep;

/* A failure on one rank makes all leave. */
TlStatus tl_step_together(const TlSync *sync, TlStatus status);

/* Makes the point lists of all threads, where they are not there yet. */
TlStatus tl_step_reserve_points(TlWorkspace *work);

/* Bound of a body's surface speed; 0 when frozen. */
double tl_step_speed(const TlBodies *bodies, int64_t index);
/* The same, or the speed of a boundary where the body is: what a collision there may hand on. */
double tl_step_reaching_speed(const TlStep *step, int64_t index);

/* Derived fields of all local bodies; each rank for itself. */
TlStatus tl_step_derive(const TlStep *step);
/* Are constraints of kinds that the method solves, and bodies such that it may step them? */
TlStatus tl_step_check_constraints(const TlStep *step);
TlStatus tl_step_check_bodies(const TlStep *step);

/* Checks, and derived fields of the ghosts that came since tl_step_refresh, which has filled those
 * of the owned bodies; on one rank, where that costs no exchange, of all bodies. Each rank for
 * itself: the caller makes the ranks agree on the status (tl_step_together). */
TlStatus tl_step_begin(const TlStep *step);
/* On several ranks, after tl_groups_home: what the solve of the groups' pairs took is charged to the bodies,
 * half of a pair's to each. */
void tl_step_charge(const TlStep *step, const TlGroups *groups);
/* The number of steps grows by one, and driven boundaries stand where they are then. */
void tl_step_count(const TlStep *step);

/* What each method asks of the contact search, to be completed with what it asks alone. */
TlDetect tl_step_detect(const TlStep *step);

/* The nets of the model with the step's pressures, bodies and memory. */
TlMembranes tl_step_membranes(const TlStep *step);
/* After the move rows of nets are carried and bonds follow; `move` is tl_membrane_correct where the
 * nets are still to be kicked, else tl_membrane_follow. start: the positions before the move.
 * Collective. */
TlStatus tl_step_nets(TlStep *step, const TlVec3 *start, TlMembraneMove move, TlStepReport *report);

#endif
