#include "run/ground.h"

#include "base/mem.h"
#include "run/materials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void tl_ground_free(TlGround *g) {
  tl_free(g->class_id);
  tl_free(g->class_material);
  *g = (TlGround){0};
}

static int by_id(const void *a, const void *b) {
  const TlClassSetup *const *x = a, *const *y = b;
  return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

static bool listed(const TlGround *g, int32_t id) {
  for (int32_t i = 0; i < g->surface.classes; i++)
    if (g->class_id[i] == id) return true;
  return false;
}

static TlStatus check_terrain(const TlGround *g, const TlStudy *study, const TlTerrain *t) {
  if (!t->class_id)
    return tl_study_fail(
        study, TL_EINPUT, "terrain.classes",
        "terrain '%s' has no classes; talus-topo --classes or --class-polygons gives it some",
        t->name);
  int32_t last = -1;
  for (int64_t k = 0; k < t->nx * t->ny; k++) {
    if (isnan(t->height_m[k]) || t->class_id[k] == last) continue;
    last = t->class_id[k];
    if (!listed(g, last))
      return tl_study_fail(
          study, TL_EINPUT, "terrain.classes",
          "terrain '%s' has ground of class %d (at x = %g, y = %g m), which is not "
          "in the list",
          t->name, last, t->x0_m + t->cell_m * (double)(k % t->nx),
          t->y0_m + t->cell_m * (double)(k / t->nx));
  }
  return TL_OK;
}

static TlStatus fill(TlGround *g, const TlSetup *setup, const TlStudy *study,
                     const TlClassSetup **sorted) {
  const TlStudyList *list = &setup->terrain.classes;
  const TlClassSetup *given = list->items;
  for (int64_t i = 0; i < list->count; i++) sorted[i] = &given[i];
  qsort(sorted, (size_t)list->count, sizeof *sorted, by_id);
  for (int64_t i = 0; i < list->count; i++) {
    if (i > 0 && sorted[i]->id == sorted[i - 1]->id)
      return tl_study_fail(study, TL_EINPUT, "terrain.classes", "class %lld comes twice",
                           (long long)sorted[i]->id);
    g->class_id[i] = (int32_t)sorted[i]->id;
    g->class_material[i] = tl_material_of_class(setup, sorted[i] - given);
  }
  g->surface = (TlSurface){.material = tl_material_of_terrain(setup),
                           .classes = (int32_t)list->count,
                           .class_id = g->class_id,
                           .class_material = g->class_material};
  return TL_OK;
}

TlStatus tl_ground_open(TlGround *g, const TlSetup *setup, const TlStudy *study,
                        const TlTerrain *terrain) {
  size_t n = (size_t)setup->terrain.classes.count;
  const TlClassSetup **sorted;
  *g = (TlGround){.surface.material = tl_material_of_terrain(setup)};
  if (n == 0) return TL_OK;
  TL_TRY(TL_NEW(g->class_id, n));
  TL_TRY(TL_NEW(g->class_material, n));
  TL_TRY(TL_NEW(sorted, n));
  TlStatus status = fill(g, setup, study, sorted);
  tl_free((void *)sorted);
  return status == TL_OK ? check_terrain(g, study, terrain) : status;
}
