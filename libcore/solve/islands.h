/* Islands of bodies in contact, and which rank solves what.
 *
 * Islands by union-find over movable bodies (fixed ones join nothing: Correction 10). An island that
 * lies on several ranks is put together from the ranks' parts: each tells its neighbours the numbers
 * of its parts, and all ranks the links it found, in one gather; then all know the same islands.
 * One of at most TL_SMALL_ISLAND bodies goes whole to one of the ranks that hold a part, such that
 * the work is balanced, and costs no exchange while it is solved. A larger one is solved by all of
 * them, cell by cell (grids.h): a cell by the rank that owns the place of it that is nearest to its middle and
 * in the box of the island, for cells reach far beyond the grains of a sheet.
 *
 * Where the last steps spent much more on resting contacts than on collisions, cells may have cuts of their own
 * (TlSync.part_cells), which share the pairs among the ranks. A sweep of resting contacts visits all pairs, so that
 * an equal number of pairs is equal work. Collisions run through a front, whose place the number of pairs does not
 * tell, and gain nothing from it.
 */
#ifndef TL_SOLVE_ISLANDS_H
#define TL_SOLVE_ISLANDS_H

#include "base/mem.h"
#include "model/bodies.h"
#include "solve/contact.h"
#include "solve/grids.h"

enum { TL_SMALL_ISLAND = 256, TL_BY_CELLS = -1 };

typedef struct TlIsland {
  int64_t bodies;    /* movable ones */
  int64_t work_ns;   /* by which islands are given to ranks: what its bodies' solve cost of late
                            (TlBodies.solve_work), and something a pair */
  TlLengths lengths; /* between centres of two movable bodies in contact */
  TlVec3 low, high;  /* about the box of its bodies' centres; low > high: not known */
  bool shared;       /* some pair of it has a ghost */
  int32_t number;    /* among the shared islands of all ranks; -1: this rank's alone */
  int32_t solver;    /* the rank that solves it, or TL_BY_CELLS */
  int32_t in_cells;  /* number among those that are solved by cells; -1: it is none */
} TlIsland;

/* What the solves of the last steps cost this rank: means. */
typedef struct TlSolveCost {
  int64_t resting_ns, collisions_ns;
} TlSolveCost;

/* What moves: bodies, or units that take their place (aggregates.h). Arrays over the local bodies. */
typedef struct TlMovers {
  int64_t owned, total;
  const int64_t *id, *solve_work; /* solve_work: of the body record */
  const TlVec3 *position;
  const TlDynamics *dynamics;
  const TlVec3
      *carried; /* velocities of those without mass, which nothing moves; NULL: they stand still */
  const int32_t
      *unit; /* of each body, the place of what it moves with; NULL: each stands for itself */
  const TlSolveCost *last; /* NULL: cells are solved by the owners of their places */
} TlMovers;

typedef struct TlIslands {
  int32_t *of_body; /* of each local body: into `island`; -1: none */
  TlIsland *island; /* [count] those with a body or a pair here; totals are over all ranks */
  TlGrids *grids;   /* [count] of the large ones */
  int32_t count;
  TlIsland *all; /* [shared] the shared islands of all ranks by their number */
  int32_t shared, by_cells;
  double cell_unit_m; /* of TlSweepCell.at; 0: cells are solved by the owners of their places */
  int64_t small;      /* bodies of the largest island that is solved whole */
  bool *counts_here;  /* [by_cells] this rank counts it in sums over the ranks */
  bool *sends_to, *gets_from; /* [ranks] may pairs be sent there to be solved, come from there? */
} TlIslands;

static inline TlMovers tl_movers(const TlBodies *b, const TlDynamics *dynamics) {
  return (TlMovers){b->owned, b->total, b->id, b->solve_work, b->position,
                    dynamics, NULL,     NULL,  NULL};
}
static inline bool tl_movable(const TlMovers *m, int32_t body) {
  return body >= 0 && m->dynamics->inverse_mass[body] > 0;
}
static inline bool tl_is_large(const TlIslands *is, const TlIsland *island) {
  return island->bodies > is->small;
}
/* Island of a pair; -1: neither body can move. */
static inline int32_t tl_island_of(const TlIslands *is, const TlPair *p) {
  return is->of_body[p->a] >= 0 || p->b < 0 ? is->of_body[p->a] : is->of_body[p->b];
}

/* The cell of a pair of a large island. */
TlCell tl_cell_of_pair(const TlMovers *movers, const TlGrids *grids, const TlPair *pair);
/* The place nearest to its middle in the box of the island's bodies. */
TlVec3 tl_cell_place(const TlIsland *island, const TlGrids *grids, const TlCell *cell);
/* The rank that solves a cell of an island that is solved by cells. */
int32_t tl_cell_solver(const TlIslands *islands, const TlSync *sync, const TlIsland *island,
                       const TlGrids *grids, const TlCell *cell);

/* Test hook: from now on islands of more bodies than this are large; 0: of more than TL_SMALL_ISLAND.
 * The same on all ranks. */
void tl_islands_set_small(int64_t bodies);

/* Memory from the arena. Collective when sync is set. */
TlStatus tl_islands_find(const TlMovers *movers, const TlPair *pairs, int32_t count,
                         const TlSync *sync, TlArena *arena, TlIslands *islands);

#endif
