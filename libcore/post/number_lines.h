/* Text files of lines of numbers, as other programs' grains come in. */
#ifndef TL_POST_NUMBER_LINES_H
#define TL_POST_NUMBER_LINES_H

#include "base/status.h"

#include <stdint.h>

typedef struct TlNumberLines {
  const char *path; /* for messages */
  char *at;         /* the rest of the text, which is changed as it is read; borrowed */
  int64_t line;     /* number of the line read last, from 1 */
} TlNumberLines;

/* The next count numbers, which must fill the line. TL_EINPUT names the line. */
TlStatus tl_number_line(TlNumberLines *lines, double *values, int64_t count);

#endif
