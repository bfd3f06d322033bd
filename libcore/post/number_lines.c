#include "post/number_lines.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TlStatus tl_number_line(TlNumberLines *l, double *values, int64_t count) {
  l->line++;
  char *end = strchr(l->at, '\n');
  if (end) *end = 0;
  for (int64_t i = 0; i < count; i++) {
    char *after;
    values[i] = strtod(l->at, &after);
    if (after == l->at || !isfinite(values[i]))
      return tl_fail(TL_EINPUT, "%s:%lld: number %lld of %lld is missing or not finite", l->path,
                     (long long)l->line, (long long)i + 1, (long long)count);
    l->at = after;
  }
  while (isspace((unsigned char)*l->at)) l->at++;
  if (*l->at)
    return tl_fail(TL_EINPUT, "%s:%lld: more than the %lld numbers that belong here", l->path,
                   (long long)l->line, (long long)count);
  l->at = end ? end + 1 : l->at;
  return TL_OK;
}
