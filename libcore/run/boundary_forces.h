/* Forces of the grains on each boundary (terrain, planes, parts of walls), from the contacts of the
 * last step: sums that are exact and rounded once, so neither ranks nor threads move a bit. */
#ifndef TL_RUN_BOUNDARY_FORCES_H
#define TL_RUN_BOUNDARY_FORCES_H

#include "base/status.h"
#include "num/vec.h"
#include "run/columns.h"

#include <stdint.h>

struct TlRun;

typedef struct TlBoundaryForce {
  TlVec3 force_N;    /* on the boundary: impulse over the step divided by the step */
  TlVec3 moment_N_m; /* of it about the origin of the coordinates */
  double normal_N;   /* sum of the contacts' normal forces, compression positive */
  int64_t contacts;
} TlBoundaryForce;

void tl_boundary_force_add(TlBoundaryForce *to, const TlBoundaryForce *more);

/* Collective; after a step, before bodies leave or change their rank. force: of each boundary of
 * the run, in its order, and behind them of the contacts on the body of this id (-1: none); it has
 * space for one more than there are boundaries. */
TlStatus tl_boundary_forces(struct TlRun *run, int64_t body, TlBoundaryForce *force);

/* boundary.csv: the forces of a step are taken right after it (collective), and written, a line a
 * boundary, when the step's other lines are. No lines where none were taken. */
extern const TlColumns tl_boundary_columns;
TlStatus tl_boundary_take(struct TlRun *run);
TlStatus tl_boundary_write(struct TlRun *run, int64_t step);

#endif
