#include "post/render_values.h"

#include "base/mem.h"
#include "num/sort.h"
#include "post/bands.h"

#include <stdlib.h>
#include <string.h>

/* ---- two packings ---- */

typedef struct Two {
  TlPacking before, now;
} Two;

static TlStatus take(const TlScene *scene, const TlFrame *before, const TlFrame *now, Two *two) {
  const TlFrameContacts none = {0};
  *two = (Two){0};
  TL_TRY(tl_packing_make(scene, before, &none, &two->before));
  TlStatus status = tl_packing_make(scene, now, &none, &two->now);
  if (status != TL_OK) tl_packing_free(&two->before);
  two->now.first = &two->before;
  return status;
}

static void drop(Two *two) {
  tl_packing_free(&two->before);
  tl_packing_free(&two->now);
}

/* ---- values ---- */

static TlStatus rotations(const Two *two, double *angle) {
  tl_band_rotations(&two->before, &two->now, angle);
  for (int64_t i = 0; i < two->now.grain_count; i++) angle[i] *= TL_DEG;
  return TL_OK;
}

static TlStatus strains(const Two *two, double *strain) {
  TlStrains s;
  TL_TRY(tl_strains_of(&two->before, &two->now, &s));
  memcpy(strain, s.deviatoric, (size_t)two->now.grain_count * sizeof *strain);
  tl_strains_free(&s);
  return TL_OK;
}

/* From the grains, which lead the array, to the rows, in place: both are by id. */
static void spread(const TlPacking *p, const TlFrame *frame, double *value) {
  int64_t grain = p->grain_count;
  for (int64_t i = frame->count; i-- > 0;) {
    bool here = grain > 0 && p->grain[grain - 1].id == frame->rows[i].id;
    value[i] = here ? value[--grain] : NAN;
  }
}

TlStatus tl_values_since(const TlScene *scene, TlValueKind kind, const TlFrame *before,
                         const TlFrame *now, double **value) {
  Two two;
  *value = NULL;
  TL_TRY(take(scene, before, now, &two));
  TlStatus status = TL_NEW(*value, (size_t)now->count);
  if (status == TL_OK)
    status = kind == TL_VALUE_ROTATION ? rotations(&two, *value) : strains(&two, *value);
  if (status == TL_OK) spread(&two.now, now, *value);
  drop(&two);
  if (status != TL_OK) TL_FREE(*value);
  return status;
}

/* ---- the colours' end ---- */

TlStatus tl_values_end(const double *value, int64_t count, double *end) {
  double *sorted;
  int64_t n = 0;
  *end = 0;
  TL_TRY(TL_NEW(sorted, (size_t)count));
  for (int64_t i = 0; i < count; i++)
    if (!isnan(value[i])) sorted[n++] = value[i];
  if (n > 0) {
    qsort(sorted, (size_t)n, sizeof *sorted, tl_by_real);
    *end = sorted[n - 1 - n / 50];
  }
  tl_free(sorted);
  return TL_OK;
}

/* ---- the band ---- */

TlStatus tl_values_band_view(const TlScene *scene, const TlFrame *before, const TlFrame *now,
                             TlVec3 *normal) {
  Two two;
  TlBands bands;
  TL_TRY(take(scene, before, now, &two));
  TlRegion all = tl_packing_bounds(&two.now);
  TlStatus status = tl_bands_of(&two.now, &all, &bands);
  if (status == TL_OK) {
    const TlBand *band = tl_bands_best(&bands);
    TlVec3 across = band ? tl_cross(band->normal, tl_vec3(0, 0, 1)) : tl_vec3(0, 0, 0);
    *normal = tl_norm(across) > 1e-3 ? tl_unit(across) : tl_vec3(0, -1, 0); /* a level band */
    if (!band)
      status = tl_fail(TL_EINPUT, "no shear band was found between frames %lld and %lld",
                       (long long)before->index, (long long)now->index);
    tl_bands_free(&bands);
  }
  drop(&two);
  return status;
}
