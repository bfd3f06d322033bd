/* history.csv: a line every few steps, with sums over all grains that are exact and rounded once
 * (num/exact.h), so that neither ranks nor the order of the bodies move a bit. */
#ifndef TL_RUN_HISTORY_H
#define TL_RUN_HISTORY_H

#include "num/vec.h"
#include "run/columns.h"

#include <stdint.h>

struct TlRun;

/* Energies are those of grains, nets and platens, all else the grains'. Grains that were taken out
 * of the run count where they left in all but `grains` and the kinetic energy.
 * front: how far the farthest grain lies, horizontally, from where the centre of mass began. */
typedef struct TlMeasure {
  double mass, potential, front, kinetic, sunk; /* sunk: mass that sinks took */
  int64_t grains;
  TlVec3 centre;
} TlMeasure;

extern const TlColumns tl_history_columns;

/* Collective, both. cpu_s: of this rank's step. */
TlStatus tl_history_measure(struct TlRun *run, TlMeasure *measure);
TlStatus tl_history_write(struct TlRun *run, int64_t step, double cpu_s);

#endif
