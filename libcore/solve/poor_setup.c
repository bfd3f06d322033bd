#include "solve/poor_setup.h"

#include "conf/keys.h"

#include <stddef.h>

const TlParam tl_poor_params[] = {
    CHOICE(
        TlPoorSetup, action, "stop", "stop|freeze|drop",
        "a grain that cannot be brought out of another ends the run with exit status 1, is fixed "
        "where it is, or is taken out; the lesser of the two"),
    CHOICE(TlPoorSetup, jammed, "warn", "warn|stop|freeze|drop",
           "a grain whose collisions the solver could not end in `steps` consecutive steps: it is "
           "named and left alone, or treated as above"),
    REAL(TlPoorSetup, overlap_share, "", "0.1", 0.01, 10,
         "overlap, over the smaller radius, that is looked after"),
    INT(TlPoorSetup, steps, "50", 1, 1000000000,
        "consecutive steps that deep before a pair counts as poor (at once where the centre of one "
        "lies inside the other), or with collisions that do not end before a grain counts as "
        "unresolved"),
};
_Static_assert(COUNT(tl_poor_params) == TL_POOR_PARAMS, "rows of section poor");
