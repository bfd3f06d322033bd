/* Grains on a lattice: one a cell, drawn and turned at random by (seed, id).
 *
 * Cells are cubes of the side spacing * largest bounding diameter, so no two grains can overlap
 * whatever they are. Cells without ground below, outside the polygon, or nearer to ground or a
 * plane than the largest radius stay empty.
 */
#ifndef TL_RUN_LATTICE_H
#define TL_RUN_LATTICE_H

#include "run/assembly.h"

/* Collective. */
TlStatus tl_lattice_make(const TlPlace *place, TlBodies *bodies);

#endif
