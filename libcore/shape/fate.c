#include "shape/fate.h"

#include <string.h>

const char *const tl_fate_names[TL_FATES] = {"stopped", "moving", "left", "not started",
                                             "unresolved"};

TlFate tl_fate_of(const char *name) {
  int fate = 0;
  while (fate < TL_FATES && strcmp(tl_fate_names[fate], name) != 0) fate++;
  return (TlFate)fate;
}
