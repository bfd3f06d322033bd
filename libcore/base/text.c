#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

void tl_text_real(char text[40], double value) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 40, "%.*g", digits, value);
    if (strtod(text, NULL) == value) return;
  }
}
