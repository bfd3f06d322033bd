/* Iterations over the islands of a group (nonsmooth_rows.h), by threads and ranks: the cells of a phase
 * share no body that moves, so they are swept at once, and a body's velocity goes from the rank that
 * wrote it last to the one that uses it next (sweep.h). The same bits for any number of either.
 */
#ifndef TL_SOLVE_NONSMOOTH_SOLVE_H
#define TL_SOLVE_NONSMOOTH_SOLVE_H

#include "solve/nonsmooth_rows.h"

typedef struct TlNsStage {
  bool
      impact; /* of islands that are hit alone, from nothing and without bonds (nonsmooth_bonds.h) */
  int iterations; /* at most; 0: by the rule of each island */
  double
      tolerance; /* of the island's force_m_s: an iteration that changes no velocity by more is the last, or in the
                  * impact stage by a hundredth of the lowest threshold; < 0: none is */
} TlNsStage;

typedef struct TlNsCount {
  int64_t iterations;
  double residual_m_s; /* largest change of the last iteration that was asked for */
  bool unfinished; /* it ended at its limit of iterations, with a residual above the tolerance */
  double fraction; /* then the residual over the island's force_m_s; 0 where that is 0 */
} TlNsCount;

/* Of a group, from the impulses that its rows have; count: of its islands. The last sweep is a plain one, so all rows
 * are within their bounds. Collective when the group is shared. */
TlStatus tl_nonsmooth_solve(const TlNsRows *rows, int32_t group, const TlNsStage *stage,
                            TlNsCount *count);
/* Of all groups; count: [islands] of the rows. */
TlStatus tl_nonsmooth_solve_all(const TlNsRows *rows, const TlNsStage *stage, TlNsCount *count);

#endif
