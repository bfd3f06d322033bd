#include "base/text.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tl_text_real(char text[40], double value) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 40, "%.*g", digits, value);
    if (strtod(text, NULL) == value) return;
  }
}

TlStatus tl_text_add(TlGrowingText *to, const char *separator, const char *more) {
  size_t gap = to->text ? strlen(separator) : 0, length = strlen(more);
  TL_TRY(TL_RESERVE(to->text, to->capacity, to->length + gap + length + 1));
  memcpy(to->text + to->length, separator, gap);
  memcpy(to->text + to->length + gap, more, length + 1);
  to->length += gap + length;
  return TL_OK;
}
