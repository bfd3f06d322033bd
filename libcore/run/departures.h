/* Grains that leave a run: off the terrain, out of the cell, into a sink, or because they could not be brought
 * out of others. Each is written into departures.csv with the place where it left
 * (docs/reference/results.md), and those that are taken out of the run keep counting there: in the
 * mass centre, the potential energy and the front of history.csv. */
#ifndef TL_RUN_DEPARTURES_H
#define TL_RUN_DEPARTURES_H

#include "base/status.h"
#include "num/exact.h"
#include "num/vec.h"
#include "run/columns.h"
#include "store/leaving.h"

#include <stdbool.h>
#include <stdint.h>

/* State, kept by a checkpoint: sums over the grains that were taken out. */
typedef struct TlDeparted {
  TlExact mass, potential, moment[3]; /* m, -m g.x, m x, m y, m z; this rank's part */
  TlExact sunk_mass;                  /* m of those that a sink took, likewise */
  double front_m;                     /* horizontal distance of the farthest from where the mass
                                         centre began; this rank's part */
} TlDeparted;

extern const TlColumns tl_departures_columns;

struct TlRun;
/* Collective. leaves: a TlLeaving for each owned body. Writes who leaves in this step, by id, and
 * takes them out, or freezes them where they are (removed: false). The energy balance begins anew. */
TlStatus tl_departures_take(struct TlRun *run, const unsigned char *leaves, bool removed,
                            int64_t step);
/* Collective; after a step, before bodies move between ranks: what the study says of embedded grains
 * and of unresolved collisions (solve/step_problems.c) is done: the run ends, or they are frozen or
 * taken out, or, of the unresolved ones, named alone. TL_EINPUT names both grains, their avatars, the
 * overlap and the step when the study says stop (problems.c). */
TlStatus tl_run_handle_problems(struct TlRun *run, int64_t step);
/* "the wall walls.2": boundary number `place` in words. */
void tl_problem_boundary(const struct TlRun *run, int64_t place, char *text, size_t size);
/* Collective: all ranks' parts into that of rank 0's record, and back (the others begin empty). */
TlStatus tl_departed_gather(const struct TlRun *run, TlDeparted *all);

#endif
