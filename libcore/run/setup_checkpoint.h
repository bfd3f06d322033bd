/* Study section `checkpoint`: how often a run's state is saved. */
#ifndef TL_RUN_SETUP_CHECKPOINT_H
#define TL_RUN_SETUP_CHECKPOINT_H

#include "conf/study.h"

typedef struct TlCheckpointSetup {
  int64_t every_steps, keep;
  double every_minutes;
} TlCheckpointSetup;

enum { TL_CHECKPOINT_PARAMS = 3 };
extern const TlParam tl_checkpoint_params[TL_CHECKPOINT_PARAMS];

#endif
