/* Ghosts and how they learn their owners' values.
 *
 * Rank r's reach is the box around the spheres (position, halo) of its owned bodies. A body goes
 * as ghost to every other rank whose reach its own sphere touches: that holds every body b for
 * which an owned a has |x_a - x_b| <= halo_a + halo_b (the contact search's reach, or more where
 * bonds ask for it). Ghosts lie behind the owned bodies, by rank, in the order of the owner's list.
 * Boxes go to all ranks (7 numbers a rank), bodies to neighbours only.
 *
 * A constraint (model/pair_state.h) makes its other body a ghost, too, however far away it lies, on
 * every rank that owns one of the two. Who owns the other one is not known, so the ids that are
 * missing go to all ranks; both owners hold the constraint, so each finds the other. Bonds of nets
 * need none of this: their bodies' halo reaches over them (solve/step.h). Without other constraints
 * across ranks nothing more is exchanged.
 */
#ifndef TL_DIST_HALO_H
#define TL_DIST_HALO_H

#include "dist/exchange.h"
#include "model/bodies.h"
#include "solve/sync.h"

enum { TL_HALO_BOX = 7 };

typedef struct TlHalo {
  TlExchange exchange; /* its peers are the neighbours, its items owned bodies */
  int64_t ghosts;
  double *boxes;   /* TL_HALO_BOX a rank: low and high corner, number of ids in `wanted` */
  int64_t *wanted; /* ids at the other end of a rank's constraints, ascending; wanted_most a rank */
  size_t wanted_most, wanted_capacity;
} TlHalo;

TlStatus tl_halo_new(TlHalo *halo, TlComm *comm);
void tl_halo_free(TlHalo *halo);

/* Collective. Drop the ghosts, choose new ones by position and reach (filled by tl_step_refresh),
 * and exchange their states: the fields with a halo attribute (model/record.h); ghosts are made anew
 * in each step, so those of either attribute travel in each. A body brings all its colliders along.
 * Ranks agree on failure. */
TlStatus tl_halo_build(TlHalo *halo, TlBodies *bodies);
/* The box of a rank's bodies and their halos, as the last tl_halo_build found it: least x, y, z, then
 * the most; of a rank without any the least is infinite. */
void tl_halo_box(const TlHalo *halo, int rank, double box[6]);

/* Owner's values over the ghosts' in an array over the local bodies, split-phase: between begin and
 * end the owned part may be read, the ghost part is undefined. Neighbours only. */
TlStatus tl_halo_forward_begin(TlHalo *halo, const void *field, size_t element_size);
TlStatus tl_halo_forward_end(TlHalo *halo, int64_t owned, void *field, size_t element_size);

#endif
