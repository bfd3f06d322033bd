#include "shape/nodes.h"

#include "base/mem.h"

#include <string.h>

static TlVec3 node_of(const TlAvatar *a, int64_t i) {
  return tl_vec3(a->node_m[3 * i], a->node_m[3 * i + 1], a->node_m[3 * i + 2]);
}

/* The first of the nearest. */
static int32_t nearest(const TlAvatar *kept, TlVec3 p) {
  int32_t best = 0;
  double least = tl_norm2(tl_sub(node_of(kept, 0), p));
  for (int32_t k = 1; k < kept->node_count; k++) {
    double d = tl_norm2(tl_sub(node_of(kept, k), p));
    if (d < least) least = d, best = k;
  }
  return best;
}

static TlStatus fill(const TlAvatar *a, int64_t every, TlAvatar *out) {
  size_t points = (size_t)a->nx * (size_t)a->ny * (size_t)a->nz;
  double *area;
  TL_TRY(TL_NEW(out->phi, points));
  TL_TRY(TL_NEW(out->node_m, 3 * (size_t)out->node_count));
  TL_TRY(TL_NEW(out->node_area_m2, (size_t)out->node_count));
  TL_TRY(TL_NEW(area, (size_t)out->node_count));
  memcpy(out->phi, a->phi, points * sizeof *a->phi);
  for (int64_t k = 0; k < out->node_count; k++)
    memcpy(&out->node_m[3 * k], &a->node_m[3 * every * k], 3 * sizeof *a->node_m);
  for (int32_t i = 0; i < a->node_count; i++)
    area[i % every == 0 ? i / every : nearest(out, node_of(a, i))] += a->node_area_m2[i];
  for (int32_t k = 0; k < out->node_count; k++) out->node_area_m2[k] = (float)area[k];
  tl_free(area);
  return TL_OK;
}

TlStatus tl_avatar_thin(const TlAvatar *a, int64_t every, TlAvatar *out) {
  enum { LEAST = 4 };
  int64_t count = (a->node_count + every - 1) / every;
  *out = (TlAvatar){0};
  if (count < LEAST)
    return tl_fail(TL_EINPUT, "every %lld-th of avatar %lld's %d nodes are %lld, fewer than %d",
                   (long long)every, (long long)a->id, a->node_count, (long long)count, LEAST);
  *out = *a;
  out->phi = out->node_m = out->node_area_m2 = NULL;
  out->borrowed = false; /* its arrays are its own */
  out->node_count = (int32_t)count;
  TlStatus status = fill(a, every, out);
  if (status != TL_OK) tl_avatar_free(out);
  return status;
}
