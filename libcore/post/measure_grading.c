#include "post/measure_grading.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

typedef struct Grain {
  double size, volume;
} Grain;

static int by_size(const void *one, const void *two) {
  const Grain *a = one, *b = two;
  if (a->size != b->size) return a->size < b->size ? -1 : 1;
  return (a->volume > b->volume) - (a->volume < b->volume);
}

TlStatus tl_grading_make(const double *size_m, const double *volume_m3, int64_t count,
                         TlGrading *g) {
  *g = (TlGrading){.count = count};
  if (count < 1) return tl_fail(TL_EINPUT, "there are no grains to make a grading curve of");
  Grain *grain = NULL;
  TlStatus status = TL_NEW(grain, (size_t)count);
  if (status == TL_OK) status = TL_NEW(g->size_m, (size_t)count);
  if (status == TL_OK) status = TL_NEW(g->finer, (size_t)count);
  if (status == TL_OK) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) grain[i] = (Grain){size_m[i], volume_m3[i]};
    qsort(grain, (size_t)count, sizeof *grain, by_size);
    for (int64_t i = 0; i < count; i++) {
      g->size_m[i] = grain[i].size;
      g->finer[i] = sum += grain[i].volume;
    }
    for (int64_t i = 0; i < count; i++) g->finer[i] /= sum;
  }
  tl_free(grain);
  if (status != TL_OK) tl_grading_free(g);
  return status;
}

void tl_grading_free(TlGrading *g) {
  tl_free(g->size_m);
  tl_free(g->finer);
  *g = (TlGrading){0};
}

double tl_grading_size(const TlGrading *g, double fraction) {
  if (fraction <= g->finer[0]) return g->size_m[0];
  for (int64_t i = 1; i < g->count; i++) {
    if (fraction > g->finer[i]) continue;
    double t = (fraction - g->finer[i - 1]) / (g->finer[i] - g->finer[i - 1]);
    return exp((1 - t) * log(g->size_m[i - 1]) + t * log(g->size_m[i]));
  }
  return g->size_m[g->count - 1];
}
