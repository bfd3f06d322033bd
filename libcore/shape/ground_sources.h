/* Kinds of ground (run/ground_kinds.h) whose values were compared with a published source; those of the
 * others are from memory, which help, report and docs/theory/ground.md say. Of hard ground the friction
 * was compared and the drag was not. */
#ifndef TL_SHAPE_GROUND_SOURCES_H
#define TL_SHAPE_GROUND_SOURCES_H

#include <stdbool.h>
#include <string.h>

static inline bool tl_ground_is_compared(const char *kind) {
  return strcmp(kind, "extra-soft") == 0 || strcmp(kind, "extra-hard") == 0;
}

#endif
