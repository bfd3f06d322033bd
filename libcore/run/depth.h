/* How deep the grains of a run lie in terrain, planes and walls, the terrain judged by its raster
 * and not by the solver's own interpolation (store/scene_depth.h). */
#ifndef TL_RUN_DEPTH_H
#define TL_RUN_DEPTH_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Of the grains that are not frozen. */
typedef struct TlRunDepth {
  bool there;       /* the run has something to lie on */
  int64_t deep;     /* deeper than 2% of their radius */
  int64_t unjudged; /* with no node over the terrain */
  double fraction;  /* largest depth over the grain's radius */
} TlRunDepth;

struct TlRun;
/* Collective; shapes of the owned bodies must be loaded. */
TlStatus tl_run_depth(struct TlRun *run, TlRunDepth *depth);
/* Collective. Grains that are smaller across than the terrain's cell; derived fields must be
 * filled. */
TlStatus tl_run_small(const struct TlRun *run, int64_t *small);

#endif
