/* The kinds of assemblies that run/assembly.h chooses from, and what they share: grains on a lattice,
 * grains drawn into a region, their sizes, and what a cut leaves. */
#ifndef TL_RUN_ASSEMBLY_KINDS_H
#define TL_RUN_ASSEMBLY_KINDS_H

#include "run/assembly.h"

/* ---- lattice (lattice.c) ---- */

/* Grains on a lattice: one a cell, drawn and turned at random by (seed, id).
 *
 * With a count below the number of cells the box is filled evenly in plan, from below: each column
 * of cells gets equally many grains in its lowest free cells (or all it holds), and what is left
 * over, fewer grains than columns, is strewn evenly over the columns that have a free cell more,
 * none nearer to one edge than to another. The pattern depends on the box and the count alone.
 *
 * Cells are cubes of the side spacing * largest bounding diameter, so no two grains can overlap
 * whatever they are. Cells without ground below, outside the polygon, or nearer to ground, a plane
 * or (release.round) the cylinder inscribed in the box than the largest radius stay empty. A grain in
 * one of the study's bodies is an error at that body's key.
 */

/* Collective. */
TlStatus tl_lattice_make(const TlPlace *place, TlBodies *bodies);

/* ---- what other assemblies take from it ---- */

typedef struct TlLattice {
  const TlPlace *place;
  double side, radius; /* of a cell; of the largest grain */
  int64_t n[3];
  double shift_m[3]; /* of its first cell from the low corner; 0 but in an inlet */
  double jitter_m;   /* each middle is moved by up to so much along each axis; 0 but in an inlet */
  uint64_t jitter_stream; /* of the random numbers for that, three a cell */
  int64_t *most; /* [n[1]][n[0]] cells of each column that lie below the first one that a count
                    leaves empty; NULL: all are filled. Owned by tl_lattice_make */
} TlLattice;

/* TL_EINPUT when the box holds absurdly many cells. */
TlStatus tl_lattice_plan(const TlPlace *place, TlLattice *lattice);
/* Middle of cell g = (k n_y + j) n_x + i; false when it stays empty. */
bool tl_lattice_cell(const TlLattice *lattice, int64_t g, TlVec3 *middle);
/* Append the grain with this id in a cell; its avatar is still to be drawn. */
TlStatus tl_lattice_add(const TlLattice *lattice, TlVec3 middle, int64_t id, TlBodies *bodies);
/* Draw the avatars of owned bodies [first, owned), by their ids. radius_m: their bounding radii; NULL: not wanted. */
TlStatus tl_lattice_draw(const TlPlace *place, TlBodies *bodies, int64_t first, double *radius_m);

/* An empty polygon holds everything. */
bool tl_inside_polygon(const TlStudyList *polygon, double x, double y);
/* Evenly spread over all turns; uses up to eight numbers of the stream from 8 index on. */
TlQuat tl_random_turn(uint64_t seed, uint64_t stream, uint64_t index);

/* ---- drawn (drawn.c) ---- */

/* Grains drawn into a region without overlap: one after the other, the largest first, each at a
 * random place and turn until it keeps clear of all that are there (random sequential placement).
 *
 * The region is the box low_m to high_m, the upright cylinder inscribed in it (round), or, over a
 * terrain with depth_m, what lies up to that depth above the ground; a polygon bounds all of them.
 * Grains lie in it with their whole surface (over ground and in a polygon: with their centres) and
 * keep clear of boundaries and of the study's bodies. Rank 0 places, and hands each rank its part: the outcome depends on the
 * seed alone.
 */

/* Collective. Errors at the study's key; when a grain finds no place after release.tries tries, how
 * many did and how much of the region's volume they fill. */
TlStatus tl_drawn_make(const TlPlace *place, TlBodies *bodies);

/* ---- sizes (sizes.c) ---- */

/* How many grains of which size: the list release.sizes made into single grains.
 *
 * A row of the list is a range of volume-equivalent diameters with a number of grains, or with its
 * fraction of the mass of release.count grains (so a grading is such a list). Grains come from those
 * of the selection that fall in the range, or, with release.resize, from all of them, made to a
 * diameter drawn evenly from the range. Without a list: release.count grains as they are.
 */

typedef struct TlDrawnGrain {
  int64_t avatar_id;
  double scale, radius_m; /* bounding radius at that scale */
  int64_t order;          /* in which it was drawn */
  int32_t material;
} TlDrawnGrain;

/* Fresh memory, the largest first. Draws are a function of seed and number. Reads the whole
 * selection: for one rank. Errors at the study's key: a range without grains, no number. */
TlStatus tl_sizes_draw(const TlPlace *place, TlDrawnGrain **grains, int64_t *count);

/* ---- cut (assembly_cut.c) ---- */

/* What release.cut leaves of the grains of a scan or of an earlier run. */

/* A grain with this centre and bounding radius, in the axes and metres it comes from. */
bool tl_cut_keeps(const TlCutSetup *cut, TlVec3 centre, double radius_m);
/* Middle of the foot of what is cut out. */
TlVec3 tl_cut_foot(const TlCutSetup *cut);
/* Say how many of all are left; TL_EINPUT at the study's key when none is. */
TlStatus tl_cut_judge(const TlCutSetup *cut, int64_t kept, int64_t all, const TlStudy *study);

#endif
