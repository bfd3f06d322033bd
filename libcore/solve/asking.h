/* When sweeps over a group may stop, asked of all ranks that solve it.
 *
 * After a sweep the islands of a small group are looked at at once. Of a large one, which ranks may
 * share, that would cost each sweep a meeting of all of them: there it is the first sweep, and then every
 * fourth, and the answer is read two sweeps later; so it is on one rank, too, for the same bits. The last
 * sweep is always asked for.
 */
#ifndef TL_SOLVE_ASKING_H
#define TL_SOLVE_ASKING_H

#include "solve/contact.h"

typedef struct TlAsking {
  const TlGroup *group;
  double *values;  /* [islands] as they were when it was asked; when answered, of all ranks */
  int most;        /* sweeps; -1: the last one need not be asked for */
  int asked, late; /* asked starts at -1 */
} TlAsking;

/* After `sweeps` of them with these changes, [islands], <= 0: *answered, values holds the least over the
 * ranks of the sweep that was asked for. Collective when the group is shared, as the next one. */
TlStatus tl_asking_ask(TlAsking *asking, int sweeps, const double *change, bool *answered);
/* Nobody waits for the answer any more. */
TlStatus tl_asking_drop(TlAsking *asking);

#endif
