/* What a study says that cannot be meant: each value is in its range and would run, but the run
 * would be nonsense. Refused with what was probably meant, or warned of where it may be meant after
 * all. */
#ifndef TL_RUN_SENSE_H
#define TL_RUN_SENSE_H

#include "run/setup.h"

/* Grains that nothing can stop (no ground, or gravity that points away from it) unless the study
 * says free_fall; a warning for a density that looks like g/cm3. */
TlStatus tl_sense_setup(const TlSetup *setup, const TlStudy *study);

/* A step in which a grain that has fallen through its own diameter moves by more than that; a
 * warning beyond a tenth of it. diameter_m: of the smallest grain that moves. */
TlStatus tl_sense_step(const TlSetup *setup, const TlStudy *study, double diameter_m);

/* Fraction of its radius (of the sphere of its volume) that a grain may travel in a step
 * before contacts are no longer found where they happen. */
static const double tl_long_travel = 0.5;

/* The longest step that keeps so much of a travel, a round number. */
double tl_sense_shorter(double dt_s, double travel);

#endif
