/* Why a grain leaves a run, as the table departures.csv says it. */
#ifndef TL_STORE_LEAVING_H
#define TL_STORE_LEAVING_H

typedef enum TlLeaving {
  TL_STAYS = 0,
  TL_LEFT_TERRAIN,
  TL_LEFT_CELL,
  TL_LEFT_BY_SINK,
  TL_EMBEDDED_OUT,   /* unresolved: {embedded: drop} */
  TL_UNRESOLVED_OUT, /* unresolved: {collisions: drop} */
  TL_LEAVINGS
} TlLeaving;

/* What the column reason says; NULL for TL_STAYS. */
extern const char *const tl_leaving_reasons[TL_LEAVINGS];
TlLeaving tl_leaving_of(const char *reason); /* TL_STAYS: no such reason */

#endif
