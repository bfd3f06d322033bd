/* Cuts of their own for the cells of sweeps (solve/grids.h), by the pairs in them.
 *
 * Cells stand in planes, and a cut of space puts all cells of a plane on one side: ranks with a few cells each get
 * very unequal numbers. Here the cells are cut by the same bisection as bodies (domain.h), but along each axis they
 * stand in a row: by their coordinate on this axis, then by that on the next one, then by the last one. A cut
 * lies between two cells of this row, so that it may part a plane, and a column of it. Who owns a
 * cell still follows from its place and the cuts, which all ranks know. Cuts begin with the axes of those of the bodies,
 * so that most ranks own the cells of their bodies.
 */
#ifndef TL_DIST_CELLS_H
#define TL_DIST_CELLS_H

#include "dist/domain.h"
#include "solve/sync.h"

#include <stdbool.h>

typedef struct TlCellCuts {
  TlDomain domain; /* of places in the three rows; 0 ranks: there are no cuts */
  int64_t low[3];  /* least coordinates of the cells when they were cut */
  double wide;     /* how many whole coordinates the longest side of their box had then */
} TlCellCuts;

void tl_cell_cuts_free(TlCellCuts *cuts);
/* By the cells of the pairs of all ranks. Collective. */
TlStatus tl_cell_cuts_make(TlCellCuts *cuts, TlComm *comm, const TlDomain *bodies,
                           const TlSweepCell *pair, int64_t count);
int tl_cell_cuts_owner(const TlCellCuts *cuts, const TlSweepCell *cell);
/* A box about the middles of the cells that a rank may own: least coordinates, then the most. */
void tl_cell_cuts_region(const TlCellCuts *cuts, int rank, double box[6]);

#endif
