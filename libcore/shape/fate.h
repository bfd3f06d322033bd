/* What became of a block of rockfall, as blocks.csv, trajectories, maps and reports name it. */
#ifndef TL_SHAPE_FATE_H
#define TL_SHAPE_FATE_H

#include "num/vec.h"

#include <stdbool.h>

typedef enum TlFate {
  TL_FATE_STOPPED = 0, /* at rest, or no faster than what counts as moving when time was over */
  TL_FATE_MOVING,      /* when time was over */
  TL_FATE_LEFT,        /* the terrain */
  TL_FATE_NOT_STARTED, /* at rest within its diameter of where it was released, in plan */
  TL_FATE_UNRESOLVED,  /* frozen or taken out, as the study's section unresolved says */
  TL_FATES
} TlFate;
extern const char *const tl_fate_names[TL_FATES];
TlFate tl_fate_of(const char *name); /* TL_FATES: no such name */

/* Where a block went tells how far blocks go: it started, and the program did not end its motion. */
static inline bool tl_fate_has_runout(TlFate fate) {
  return fate != TL_FATE_NOT_STARTED && fate != TL_FATE_UNRESOLVED;
}

/* Is a block that is at rest still within its diameter, that of a sphere of its volume, of its start? */
static inline bool tl_never_started(TlVec3 start, TlVec3 end, double volume_m3) {
  return hypot(end.x - start.x, end.y - start.y) < cbrt(6 * volume_m3 / M_PI);
}

#endif
