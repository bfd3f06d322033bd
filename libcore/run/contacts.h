/* The contacts of a frame: taken from the solver before grains are removed or move between ranks,
 * written in an order that depends on neither ranks nor threads.
 *
 * Forces are those of the step the frame ends: the impulse over the step divided by the step (N, on
 * the first grain). Order: by the ids, in a pair by place, normal, force and gap.
 */
#ifndef TL_RUN_CONTACTS_H
#define TL_RUN_CONTACTS_H

#include "base/comm.h"
#include "solve/step.h"
#include "store/results.h"

typedef struct TlContacts {
  int64_t count;      /* of this rank */
  TlContactRow *rows; /* owned */
} TlContacts;

/* Those of the last step; what was there before is released. Not collective. */
TlStatus tl_contacts_take(TlContacts *contacts, const TlModel *model, const TlState *state,
                          const TlWorkspace *work);
/* Collective. Into the frame that rank 0 has open; written: how that went there so far, after a
 * failure the others' rows are only taken from them. Not agreed upon.
 */
TlStatus tl_contacts_write(const TlContacts *contacts, TlComm *comm, TlResultsWriter *writer,
                           TlStatus written);
void tl_contacts_free(TlContacts *contacts);

#endif
