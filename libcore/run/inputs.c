#include "run/inputs.h"

#include "base/file.h"
#include "base/mem.h"

void tl_inputs_terrain(const TlRun *run, char hex[65]) {
  const TlTerrain *t = &run->terrain;
  hex[0] = 0;
  if (run->has_terrain)
    tl_sha256(t->height_m, (size_t)t->nx * (size_t)t->ny * sizeof *t->height_m, hex);
}

TlStatus tl_inputs_shapes(TlRun *run, TlShapeMark **marks, int64_t *count) {
  int64_t *ids;
  TL_TRY(tl_avatars_used(&run->bodies, &ids, count));
  TlStatus status = TL_NEW(*marks, (size_t)*count);
  for (int64_t i = 0; status == TL_OK && i < *count; i++) {
    const TlAvatar *a = tl_avatars_get(&run->avatars, ids[i]);
    if (!a) continue; /* a shape without an avatar is the study's own */
    (*marks)[i] =
        (TlShapeMark){ids[i], a->node_count, a->volume_m3, a->area_m2, a->radius_m, a->inertia_m5};
  }
  for (int64_t i = 0; status == TL_OK && i < *count; i++) (*marks)[i].id = ids[i];
  tl_free(ids);
  return status;
}
