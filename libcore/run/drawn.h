/* Grains drawn into a region without overlap: one after the other, the largest first, each at a
 * random place and turn until it keeps clear of all that are there (random sequential placement).
 *
 * The region is the box low_m to high_m, the upright cylinder inscribed in it (round), or, over a
 * terrain with depth_m, what lies up to that depth above the ground; a polygon bounds all of them.
 * Grains lie in it with their whole surface (over ground and in a polygon: with their centres) and
 * keep clear of boundaries. Rank 0 places, and hands each rank its part: the outcome depends on the
 * seed alone.
 */
#ifndef TL_RUN_DRAWN_H
#define TL_RUN_DRAWN_H

#include "run/assembly.h"

/* Collective. Errors at the study's key; when a grain finds no place after release.tries tries, how
 * many did and how much of the region's volume they fill. */
TlStatus tl_drawn_make(const TlPlace *place, TlBodies *bodies);

#endif
