#include "run/assembly_kinds.h"

#include "base/mem.h"
#include "base/random.h"
#include "run/materials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STREAM_WHICH = 111, STREAM_SIZE = 112 };

typedef struct Candidate {
  int64_t id;
  double diameter, radius; /* at unit scale */
} Candidate;

typedef struct Pool {
  Candidate *grain; /* by rising diameter */
  int64_t count;
} Pool;

static TlStatus take(void *context, const TlGrainRow *row) {
  Pool *p = context;
  p->grain[p->count++] = (Candidate){row->id, cbrt(6 * row->volume_m3 / M_PI), row->radius_m};
  return TL_OK;
}

static int by_diameter(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  if (x->diameter != y->diameter) return x->diameter < y->diameter ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static TlStatus open_pool(const TlSelection *s, Pool *pool) {
  *pool = (Pool){0};
  TL_TRY(TL_NEW(pool->grain, (size_t)s->count));
  TL_TRY(tl_selection_walk(s, 0, s->count, take, pool));
  qsort(pool->grain, (size_t)pool->count, sizeof *pool->grain, by_diameter);
  return TL_OK;
}

/* Grains of the pool in a range of diameters at unit scale: [*first, *first + *count). */
static void range_of(const Pool *pool, double least, double most, int64_t *first, int64_t *count) {
  int64_t i = 0, n = 0;
  while (i < pool->count && pool->grain[i].diameter < least) i++;
  while (i + n < pool->count && (pool->grain[i + n].diameter <= most)) n++;
  *first = i;
  *count = n;
}

/* Mean of the cube of the diameter in a range. */
static double mean_cube(const TlPlace *place, const Pool *pool, const TlSizeSetup *size,
                        int64_t first, int64_t count) {
  double a = size->least_diameter_m, b = size->most_diameter_m, sum = 0;
  double scale = place->setup->grains.grain_scale;
  if (place->setup->release.resize)
    return b > a ? (b * b * b * b - a * a * a * a) / (4 * (b - a)) : a * a * a;
  for (int64_t i = first; i < first + count; i++) sum += pow(scale * pool->grain[i].diameter, 3);
  return sum / (double)count;
}

typedef struct Class {
  const TlSizeSetup *size; /* NULL: the whole pool as it is */
  int64_t first, count;    /* of the pool */
  double wanted;           /* fraction of the number, then the number */
  int64_t number;
} Class;

static TlStatus classify(const TlPlace *place, const Pool *pool, Class *c, int64_t k) {
  const TlSizeSetup *size = (const TlSizeSetup *)place->setup->release.sizes.items + k;
  double scale = place->setup->grains.grain_scale;
  char path[48];
  *c = (Class){.size = size, .count = pool->count, .number = size->count};
  if (!place->setup->release.resize)
    range_of(pool, size->least_diameter_m / scale, size->most_diameter_m / scale, &c->first,
             &c->count);
  snprintf(path, sizeof path, "release.sizes.%lld", (long long)k);
  if (c->count == 0)
    return tl_study_fail(place->study, TL_EINPUT, path,
                         "no grain of the selection is %g to %g m across at scale %g (they are %g "
                         "to %g m); resize: true makes them fit",
                         size->least_diameter_m, size->most_diameter_m, scale,
                         scale * pool->grain[0].diameter,
                         scale * pool->grain[pool->count - 1].diameter);
  if (size->mass_share > 0)
    c->wanted = size->mass_share / mean_cube(place, pool, size, c->first, c->count);
  return TL_OK;
}

/* Divides the number by largest remainder, so that the parts add up. */
static void divide_out(Class *c, int64_t classes, int64_t count) {
  double sum = 0;
  int64_t given = 0;
  for (int64_t k = 0; k < classes; k++) sum += c[k].wanted;
  if (!(sum > 0)) return;
  for (int64_t k = 0; k < classes; k++) {
    if (!(c[k].wanted > 0)) continue;
    c[k].wanted *= (double)count / sum;
    c[k].number = (int64_t)floor(c[k].wanted);
    given += c[k].number;
  }
  for (; given < count; given++) {
    int64_t best = 0;
    double most = -INFINITY;
    for (int64_t k = 0; k < classes; k++)
      if (c[k].wanted - (double)c[k].number > most)
        best = k, most = c[k].wanted - (double)c[k].number;
    c[best].number++;
  }
}

static TlStatus make_classes(const TlPlace *place, const Pool *pool, Class *c, int64_t *classes) {
  const TlReleaseSetup *r = &place->setup->release;
  if (r->sizes.count == 0) {
    *c = (Class){.count = pool->count, .number = r->count};
    *classes = 1;
    return TL_OK;
  }
  for (int64_t k = 0; k < r->sizes.count; k++) TL_TRY(classify(place, pool, &c[k], k));
  divide_out(c, r->sizes.count, r->count);
  *classes = r->sizes.count;
  return TL_OK;
}

static TlDrawnGrain draw(const TlPlace *place, const Pool *pool, const Class *c, int64_t order) {
  uint64_t seed = (uint64_t)place->setup->seed, index = (uint64_t)order;
  double u = tl_random_uniform(seed, STREAM_WHICH, index), scale = place->setup->grains.grain_scale;
  const Candidate *g = &pool->grain[c->first + (int64_t)(u * (double)c->count)];
  if (c->size && place->setup->release.resize) {
    double v = tl_random_uniform(seed, STREAM_SIZE, index), a = c->size->least_diameter_m;
    scale = (a + v * (c->size->most_diameter_m - a)) / g->diameter;
  }
  TlDrawnGrain grain = {g->id, scale, scale * g->radius, order,
                        tl_material_of_avatar(place->setup, g->id)};
  if (place->setup->grains.as_spheres && g->id != TL_BALL_ID) {
    grain.avatar_id = TL_BALL_ID;
    grain.scale = scale * g->diameter;
    grain.radius_m = 0.5 * scale * g->diameter;
  }
  return grain;
}

static int largest_first(const void *a, const void *b) {
  const TlDrawnGrain *x = a, *y = b;
  if (x->radius_m != y->radius_m) return x->radius_m > y->radius_m ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static TlStatus draw_all(const TlPlace *place, const Pool *pool, const Class *c, int64_t classes,
                         TlDrawnGrain **grains, int64_t *count) {
  int64_t n = 0, at = 0;
  for (int64_t k = 0; k < classes; k++) n += c[k].number;
  TL_TRY(TL_NEW(*grains, (size_t)n));
  for (int64_t k = 0; k < classes; k++)
    for (int64_t i = 0; i < c[k].number; i++, at++) (*grains)[at] = draw(place, pool, &c[k], at);
  qsort(*grains, (size_t)n, sizeof **grains, largest_first);
  *count = n;
  return TL_OK;
}

TlStatus tl_sizes_draw(const TlPlace *place, TlDrawnGrain **grains, int64_t *count) {
  Pool pool;
  Class *c = NULL;
  int64_t classes = 0;
  *grains = NULL;
  TlStatus status = open_pool(place->selection, &pool);
  if (status == TL_OK) status = TL_NEW(c, (size_t)place->setup->release.sizes.count + 1);
  if (status == TL_OK) status = make_classes(place, &pool, c, &classes);
  if (status == TL_OK) status = draw_all(place, &pool, c, classes, grains, count);
  tl_free(pool.grain);
  tl_free(c);
  return status;
}
