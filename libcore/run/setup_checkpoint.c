#include "run/setup_checkpoint.h"

#include "conf/keys.h"

const TlParam tl_checkpoint_params[TL_CHECKPOINT_PARAMS] = {
    REAL(TlCheckpointSetup, every_minutes, "min", "10", 0, 1e6,
         "save the state when so much wall time has passed; 0 here and in every_steps: on a signal "
         "only"),
    INT(TlCheckpointSetup, every_steps, "0", 0, 1e15,
        "save the state every so many steps; 0: by time only"),
    INT(TlCheckpointSetup, keep, "2", 1, 1000, "keep this many, the newest"),
};
