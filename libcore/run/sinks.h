/* The sinks of a study: regions in which grains are taken out of the run, after the step in which
 * their centres of mass have come there. They leave as those that leave the terrain do
 * (run/departures.h). Bodies that are fixed, on a joint, or part of a net stay. */
#ifndef TL_RUN_SINKS_H
#define TL_RUN_SINKS_H

#include "base/status.h"
#include "num/vec.h"

#include <stdint.h>

struct TlRun;
struct TlSetup;

/* The number of the first sink that the point lies in; -1: none. */
int64_t tl_sink_at(const struct TlSetup *setup, TlVec3 point);
/* What may be wrong with this sink when it takes all that there is, for messages. */
const char *tl_sink_hint(const struct TlSetup *setup, int64_t sink);
/* Warns of grains that lie in sinks before the first step. Collective. */
TlStatus tl_sinks_warn(const struct TlRun *run);
/* Collective; after a step, before bodies move between ranks. */
TlStatus tl_sinks_take(struct TlRun *run, int64_t step);

#endif
