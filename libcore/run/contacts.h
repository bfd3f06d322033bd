/* The contacts of a frame: taken from the solver before grains are removed or move between ranks,
 * in an order that depends on neither ranks nor threads.
 *
 * Forces are those of the step the frame ends: the impulse over the step divided by the step (N, on
 * the first grain). Order: by the ids, in a pair by place, normal, force and gap.
 */
#ifndef TL_RUN_CONTACTS_H
#define TL_RUN_CONTACTS_H

#include "model/contact_record.h"
#include "solve/step.h"

typedef struct TlContacts {
  int64_t count;      /* of this rank */
  TlContactRow *rows; /* owned, in order */
  int64_t *in_pair;   /* number of each in its pair, owned */
} TlContacts;

/* Those of the last step; what was there before is released. Not collective. */
TlStatus tl_contacts_take(TlContacts *contacts, const TlModel *model, const TlState *state,
                          const TlWorkspace *work);
/* For a frame (tl_frame_contacts). Valid until the next take. */
TlRows tl_contacts_rows(const TlContacts *contacts);
void tl_contacts_free(TlContacts *contacts);

#endif
