#include "model/closed.h"

#include <math.h>
#include <string.h>

static const TlClosedKind *const kinds[] = {
#define ENTRY(name) &tl_closed_##name,
#define F(id, name, solved, ...) TL_CLOSED_##solved(ENTRY, name)
    TL_FORMULAS(F)
#undef F
#undef ENTRY
};

const TlClosedKind *tl_closed_kind(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
  return NULL;
}

TlStatus tl_closed_check(const TlClosedKind *kind, const double *size) {
  for (int i = 0; i < kind->size_count; i++)
    if (!(size[i] > 0) || !isfinite(size[i]))
      return tl_fail(TL_EINPUT, "%s: %s = %g; a positive size is wanted", kind->name,
                     kind->size_name[i], size[i]);
  return TL_OK;
}
