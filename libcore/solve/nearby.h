/* The speed that collisions elsewhere may bring to a body within a step.
 *
 * A contact is sought farther out than a pair's own motion needs, for a blow may travel through bodies
 * that touch and reach the pair within the step (detect.h). It can come only through a chain of movable
 * bodies of which each lies within the contact search's reach of the next: what is fast beyond such a
 * chain, a stone that flies by, does not matter, however fast it is. Of each such neighbourhood the
 * largest speed counts, spin and moving boundaries included.
 *
 * Neighbourhoods are the islands (islands.h) of the pairs whose spheres of reach overlap; reaches are of
 * the largest speed of all, so that a pair that is sought at all lies in one neighbourhood.
 */
#ifndef TL_SOLVE_NEARBY_H
#define TL_SOLVE_NEARBY_H

#include "solve/step_common.h"

/* Of each local body, in the arena; NULL: the largest speed of all holds for all, since it is too slow
 * to widen any margin by much, or makes it as wide as it may be anyway.
 * Brings the pairs of the broad phase up to date. Collective. */
TlStatus tl_nearby_speeds(const TlStep *step, const double **speed);

#endif
