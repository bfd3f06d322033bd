#include "num/dictionary.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

TlStatus tl_dictionary_alloc(TlDictionary *d) {
  d->analysis = d->low = d->high = NULL;
  TL_TRY(TL_NEW(d->analysis, (size_t)d->dims * TL_WINDOW_VOXELS));
  TL_TRY(TL_NEW(d->low, (size_t)d->atoms * (size_t)d->dims));
  return TL_NEW(d->high, (size_t)d->atoms * TL_PATCH_VOXELS);
}

void tl_dictionary_free(TlDictionary *d) {
  tl_free(d->analysis);
  tl_free(d->low);
  tl_free(d->high);
  tl_free(d->history);
  *d = (TlDictionary){0};
}

static bool all_finite(const float *values, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

static TlStatus check_atoms(const TlDictionary *d) {
  for (int64_t a = 0; a < d->atoms; a++) {
    double sum = 0;
    for (int k = 0; k < d->dims; k++)
      sum += (double)d->low[a * d->dims + k] * d->low[a * d->dims + k];
    if (!(fabs(sqrt(sum) - 1) < 1e-4))
      return tl_fail(TL_EINPUT, "atom %lld of the dictionary has length %g, not 1", (long long)a,
                     sqrt(sum));
  }
  return TL_OK;
}

TlStatus tl_dictionary_check(const TlDictionary *d) {
  if (d->factor < 2 || d->factor > 4)
    return tl_fail(TL_EINPUT, "the dictionary's factor is %d; 2 to 4 are known", d->factor);
  if (d->dims < 1 || d->dims > TL_DICTIONARY_DIMS || d->atoms < 16 || d->atoms > 65536 ||
      d->atoms % 16 || d->codes < 1 || d->codes > 8)
    return tl_fail(TL_EINPUT, "the dictionary has %lld atoms of %d features, %d to a code",
                   (long long)d->atoms, d->dims, d->codes);
  if (!(d->tolerance >= 0 && d->noise_gain > 0 && d->noise_grey >= 0) ||
      !isfinite(d->tolerance + d->noise_gain + d->noise_grey))
    return tl_fail(TL_EINPUT, "the dictionary's noise figures are no numbers of use");
  for (int k = 0; k < 3; k++)
    if (!(d->proportions[k] >= 0) || !isfinite(d->proportions[k]))
      return tl_fail(TL_EINPUT, "the dictionary's voxel proportions are no numbers of use");
  if (!all_finite(d->analysis, d->dims * TL_WINDOW_VOXELS) ||
      !all_finite(d->high, d->atoms * TL_PATCH_VOXELS))
    return tl_fail(TL_EINPUT, "the dictionary holds values that are not finite");
  return check_atoms(d);
}
