/* Pairs that lie deep in each other in a run whose method does not look for embedded grains itself (TlMethodKind:
 * embeds), which is penalty: its springs hold whatever lies on them, however deep.
 *
 * Such a pair is deeper than unresolved.overlap_share of the smaller radius, and at rest: at its speed along the normal
 * it would not be free within DEEP_S. A hard blow passes in less, and a step is far shorter, so that steps are not
 * counted. The run does not stop: the first such pair is named in a warning, and the summary has their number at the
 * end. Spheres of nets and membranes are left out.
 */
#ifndef TL_RUN_DEEP_H
#define TL_RUN_DEEP_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlRunDeep {
  int64_t steps; /* consecutive steps, the last one included, in which some pair was that deep */
  bool warned;
  bool known;    /* the run has ended, and its method does not look for embedded grains */
  int64_t pairs; /* then: of all ranks */
} TlRunDeep;

struct TlRun;
/* After a step, before bodies move between ranks. last: the run ends with it. Collective. */
TlStatus tl_run_watch_depth(struct TlRun *run, bool last);

#endif
