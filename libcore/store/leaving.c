#include "store/leaving.h"

#include <string.h>

const char *const tl_leaving_reasons[TL_LEAVINGS] = {[TL_LEFT_TERRAIN] = "left the terrain",
                                                     [TL_LEFT_CELL] = "left the cell",
                                                     [TL_LEFT_BY_SINK] = "entered a sink",
                                                     [TL_EMBEDDED_OUT] = "lay in another grain",
                                                     [TL_UNRESOLVED_OUT] = "unresolved collisions"};

TlLeaving tl_leaving_of(const char *reason) {
  for (int k = TL_STAYS + 1; k < TL_LEAVINGS; k++)
    if (strcmp(tl_leaving_reasons[k], reason) == 0) return (TlLeaving)k;
  return TL_STAYS;
}
