/* Grains on a lattice: one a cell, drawn and turned at random by (seed, id).
 *
 * With a count below the number of cells the box is filled evenly in plan, from below: each column
 * of cells gets equally many grains in its lowest free cells (or all it holds), and what is left
 * over, fewer grains than columns, is strewn evenly over the columns that have a free cell more,
 * none nearer to one edge than to another. The pattern depends on the box and the count alone.
 *
 * Cells are cubes of the side spacing * largest bounding diameter, so no two grains can overlap
 * whatever they are. Cells without ground below, outside the polygon, or nearer to ground, a plane
 * or (release.round) the cylinder inscribed in the box than the largest radius stay empty.
 */
#ifndef TL_RUN_LATTICE_H
#define TL_RUN_LATTICE_H

#include "run/assembly.h"

/* Collective. */
TlStatus tl_lattice_make(const TlPlace *place, TlBodies *bodies);

/* ---- what other assemblies take from it ---- */

typedef struct TlLattice {
  const TlPlace *place;
  double side, radius; /* of a cell; of the largest grain */
  int64_t n[3];
  int64_t *most; /* [n[1]][n[0]] cells of each column that lie below the first one that a count
                    leaves empty; NULL: all are filled. Owned by tl_lattice_make */
} TlLattice;

/* TL_EINPUT when the box holds absurdly many cells. */
TlStatus tl_lattice_plan(const TlPlace *place, TlLattice *lattice);
/* Middle of cell g = (k n_y + j) n_x + i; false when it stays empty. */
bool tl_lattice_cell(const TlLattice *lattice, int64_t g, TlVec3 *middle);
/* The grain with this id in a cell; its avatar is still to be drawn. */
TlGrainState tl_lattice_grain(const TlLattice *lattice, TlVec3 middle, int64_t id);
/* Draw the avatars of owned bodies [first, owned), by their ids. */
TlStatus tl_lattice_draw(const TlPlace *place, TlBodies *bodies, int64_t first);

/* An empty polygon holds everything. */
bool tl_inside_polygon(const TlStudyList *polygon, double x, double y);
/* Evenly spread over all turns; uses up to eight numbers of the stream from 8 index on. */
TlQuat tl_random_turn(uint64_t seed, uint64_t stream, uint64_t index);

#endif
