/* Bodies over ranks: one object that cuts space, moves bodies to their owners, keeps the halo, and
 * answers what the solver asks of the other ranks (solve/sync.h).
 *
 * Use, collective each: tl_dist_cut (now and then), tl_dist_migrate (after bodies moved),
 * tl_step_refresh, tl_dist_halo, tl_step. Works with NULL for one rank.
 */
#ifndef TL_DIST_DIST_H
#define TL_DIST_DIST_H

#include "dist/cells.h"
#include "dist/domain.h"
#include "dist/halo.h"
#include "dist/together.h"

typedef struct TlDistCounters { /* of this rank, the largest so far */
  int64_t owned, ghosts;
  int64_t largest_array; /* elements of the longest array over bodies: bodies, lists, buffers */
  int64_t neighbours;
  int64_t moved, cuts, cell_cuts; /* totals */
  TlCommCounters comm;
} TlDistCounters;

/* Cells that are given to ranks by their pairs (TlSync.part_cells). */
typedef struct TlDistCells {
  TlCellCuts cuts;
  double unit_m, unit_now_m; /* of the cells when they were cut or first looked at; in this step */
  int64_t with;              /* how often bodies had been cut by then */
  int64_t steps;             /* since then */
} TlDistCells;

typedef struct TlDist {
  TlComm *comm; /* borrowed */
  TlDomain domain;
  TlDistCells cells;
  TlHalo halo;
  TlSync sync;   /* ctx is this object: it must not move */
  bool together; /* bodies that hang together by merges go to one rank (together.h); the caller's */
  int64_t look_every; /* steps; and cells are cut anew above this imbalance; both the caller's */
  double imbalance;
  int64_t owned; /* at the last halo */
  TlExchange moves;
  TlCommBatch batch;   /* of the solver's messages */
  unsigned char *said; /* of a gather: `said_bytes` bytes a rank, and where they begin and end */
  size_t said_bytes, said_capacity, *said_at, *said_end;
  unsigned char *saying;
  size_t saying_capacity;
  TlDistCounters counters;
} TlDist;

TlStatus tl_dist_new(TlDist **dist, TlComm *comm);
void tl_dist_free(TlDist *dist);
/* The hooks for tl_step; NULL on one rank. Valid as long as dist. */
const TlSync *tl_dist_sync(const TlDist *dist);

/* Cut space anew by what the bodies cost of late: `work` where they are, `solve_work` where that is done
 * (model/body_record.h); those that cost nothing yet weigh 1. */
TlStatus tl_dist_cut(TlDist *dist, const TlBodies *bodies);
/* Move owned bodies, with their contact memory, to the ranks that own their places, or those of what they hang
 * together with. Drops ghosts.
 * *moved: over all ranks; may be NULL. */
TlStatus tl_dist_migrate(TlDist *dist, TlBodies *bodies, int64_t *moved);
/* New ghosts. */
TlStatus tl_dist_halo(TlDist *dist, TlBodies *bodies);
/* The same weights as space is cut now: of the rank that has most over the mean. */
TlStatus tl_dist_imbalance(TlDist *dist, const TlBodies *bodies, double *ratio);

TlDistCounters tl_dist_counters(const TlDist *dist);

#endif
