/* Grains that left a run, from its departures.csv (docs/reference/results.md). Measures count them
 * at the place where they left. */
#ifndef TL_POST_DEPARTURES_H
#define TL_POST_DEPARTURES_H

#include "base/report.h"
#include "base/status.h"
#include "num/vec.h"
#include "store/leaving.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlDeparture {
  int64_t step, id, avatar_id;
  int32_t material; /* 0 in a table of an older version */
  double scale;
  TlVec3 position_m;
  TlLeaving reason;
  bool removed; /* in no frame from that step on; else frozen where it left */
} TlDeparture;

typedef struct TlDepartures {
  bool there; /* false: the run is of a program that kept no departures.csv */
  int64_t count;
  TlDeparture *row; /* by step, then id; owned */
} TlDepartures;

/* A last line without an end, of a run that was killed or still runs, does not count. */
TlStatus tl_departures_read(const char *folder, TlDepartures *departures);
void tl_departures_free(TlDepartures *departures);

/* It left the terrain or the cell. */
static inline bool tl_departure_outside(const TlDeparture *d) {
  return d->reason == TL_LEFT_TERRAIN || d->reason == TL_LEFT_CELL;
}

/* It could not be brought out of another, or its collisions did not end. */
static inline bool tl_departure_unresolved(const TlDeparture *d) {
  return d->reason == TL_EMBEDDED_OUT || d->reason == TL_UNRESOLVED_OUT;
}

/* Those of the run up to and with this step. */
int64_t tl_departures_until(const TlDepartures *departures, int64_t step);

/* Ids of the first `count` rows into a summary, rising, at most twenty: grains_outside_ids ("3, 17,
 * 20 and 5 more (RUN/departures.csv)"), grains_in_sinks_ids and grains_dropped_ids (of those that
 * could not be brought out of others, or whose collisions did not end); none where there are none. */
TlStatus tl_departures_report(const TlDepartures *departures, int64_t count, const char *folder,
                              TlReport *report);

#endif
