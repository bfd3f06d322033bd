/* The order of a sweep over a large island: four shifted grids.
 *
 * Space is cut into cubic cells four times over: grids of the same cell side L, shifted along the
 * diagonal by 0, L/2, L/4 and 3L/4. A contact belongs to the first grid in which both its movable
 * bodies lie in one cell; where only one of them can move, to the first grid. Their planes stand L/4
 * apart along each axis, and L is four times the longest distance between the centres of two bodies
 * in contact: so a contact crosses at most one plane an axis, which takes at most three of the four
 * grids away. Cells of one grid share no movable body: they may be swept at the same time, by
 * threads and by ranks, in any order. Inside a cell the sweep is a plain Gauss-Seidel one, in the
 * order of a hash of the pairs' ids. All of this follows from positions and ids alone.
 *
 * Where a few contacts are much longer than the others (a boulder among pebbles), L would leave one
 * cell for all. Then the longer contacts form levels of their own, each with four grids for
 * distances up to four times those of the level before. Grid g of level k is phase 4k + g of a sweep.
 */
#ifndef TL_SOLVE_GRIDS_H
#define TL_SOLVE_GRIDS_H

#include "num/vec.h"

#include <stdint.h>

enum { TL_LENGTH_CLASSES = 8, TL_GRIDS = 4, TL_GRID_LEVELS = 5 };

/* Distances of contacts: the longest, and how many lie in its power of two and those under it
 * (class[k]: [2^(top-k-1), 2^(top-k)) m; the last one has all that are shorter, too). */
typedef struct TlLengths {
  double longest;
  int32_t top;
  int32_t class[TL_LENGTH_CLASSES];
} TlLengths;

void tl_lengths_add(TlLengths *lengths, double length);
/* The same as adding all that the other one was given: in any order. */
void tl_lengths_merge(TlLengths *lengths, const TlLengths *other);

typedef struct TlGrids {
  int levels;
  double length[TL_GRID_LEVELS]; /* longest distance of the level */
  double side[TL_GRID_LEVELS];   /* L */
} TlGrids;

TlGrids tl_grids(const TlLengths *lengths);

typedef struct TlCell {
  int32_t phase;
  uint64_t key;  /* of the cell: a hash of its place */
  TlVec3 centre; /* of the cell */
} TlCell;

/* Of a contact of movable bodies at a and b; b = a where only one of them can move. */
TlCell tl_grids_cell(const TlGrids *grids, TlVec3 a, TlVec3 b);

#endif
