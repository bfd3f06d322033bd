/* Trajectories of the grains as lines: from each frame to the next a tube through the mass centres, in the colour
 * of the speed at its end. Bodies of nets, pistons, and what never moves have none. */
#ifndef TL_POST_RENDER_TRAJECTORIES_H
#define TL_POST_RENDER_TRAJECTORIES_H

#include "post/render_trace.h"

typedef struct TlTrajectories {
  TlTraceTube *tube; /* by frame; owned */
  int64_t count;
  int64_t *until; /* [frames] so many are there in that frame; owned */
} TlTrajectories;

/* thick_m: diameter. low, high: speeds at the ends of the colour map. */
TlStatus tl_trajectories_read(const char *run, const int64_t *frames, int64_t count, double thick_m,
                              double low, double high, TlTrajectories *trajectories);
void tl_trajectories_free(TlTrajectories *trajectories);

#endif
