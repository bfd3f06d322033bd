/* Numbers as text, and texts that grow. */
#ifndef TL_BASE_TEXT_H
#define TL_BASE_TEXT_H

#include "base/status.h"

#include <stddef.h>

/* With the fewest of 15 to 17 digits that read back as the same number. */
void tl_text_real(char text[40], double value);

/* A text that grows at its end, in time proportional to its length. Starts zeroed; text is fresh
 * memory, NULL while nothing was added. */
typedef struct TlGrowingText {
  char *text;
  size_t length, capacity;
} TlGrowingText;
/* Adds more, behind a separator unless it is the first. TL_ENOMEM leaves it as it was. */
TlStatus tl_text_add(TlGrowingText *to, const char *separator, const char *more);

#endif
