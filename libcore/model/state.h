/* The state of a simulation: everything that changes from step to step and that the next step starts
 * from. A copy of it, stepped with the same model and the same controls, gives the same results, bit
 * for bit. Zeroed at the start: no body, no step.
 */
#ifndef TL_MODEL_STATE_H
#define TL_MODEL_STATE_H

#include "model/bodies.h"

typedef struct TlState {
  TlBodies bodies; /* with their contact memory and constraints */
  int64_t steps;   /* done so far; driven boundaries stand where their drives say at this number */
  int64_t sleep_key; /* what sleeping bodies rely on (solve/sleep.h); 0: nobody may sleep */
} TlState;

static inline void tl_state_free(TlState *state) {
  tl_bodies_free(&state->bodies);
  state->steps = 0;
  state->sleep_key = 0;
}

#endif
