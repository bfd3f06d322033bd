/* Whether a run is at rest, and the end of one by time.until_rest.
 *
 * A run ends when its grains were at rest (shape/moving.h, with time.rest_mass as the fraction of the
 * mass that may move) at every look over a window of time: grains that are just let go are slow,
 * too, and so is one at the top of its flight. There are ten looks in a window, at whole multiples
 * of its tenth in steps, so that ranks, threads and stops change nothing.
 *
 * Bodies on joints count as grains do, whether a motor turns them or not: a pendulum that swings is not
 * at rest. */
#ifndef TL_RUN_STANDSTILL_H
#define TL_RUN_STANDSTILL_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* State, kept by a checkpoint. */
typedef struct TlStandstill {
  double window_s; /* 0: the study does not end at rest */
  int64_t since;   /* step of the first of the looks on end that found rest; -1: the last did not */
  int64_t reached; /* 1: over the whole window */
} TlStandstill;

/* Of the grains and bodies on joints that can move: not frozen, of no net, on no piston. */
typedef struct TlLook {
  int64_t bodies;
  double moving_fraction; /* of their mass: what moves (shape/moving.h) */
  double largest_pace;
  double mean_speed_m_s, largest_speed_m_s; /* of their centres, mean over the grains */
} TlLook;

struct TlRun;
/* Collective. The derived fields of the bodies must be filled. begin says in the log when the run
 * will end, start does not. */
TlStatus tl_standstill_begin(struct TlRun *run);
TlStatus tl_standstill_start(struct TlRun *run);
TlStatus tl_standstill_look(const struct TlRun *run, TlLook *look);
/* Collective, after a step: looks when it is time. */
TlStatus tl_standstill_after(struct TlRun *run, int64_t step);
/* Pace of a body of this rank (shape/moving.h); 0 of one that cannot move. */
double tl_standstill_pace(const struct TlRun *run, int64_t body);
/* What tl_standstill_after does with `since`, for one body by itself; of this rank, after that call. */
void tl_standstill_body(const struct TlRun *run, int64_t step, int64_t body, int64_t *since);

#endif
