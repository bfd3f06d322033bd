#include "run/inputs.h"

#include "base/file.h"
#include "base/mem.h"

#include <string.h>

#define F(...) TL_FIELD(TlShapeMark, __VA_ARGS__)
static const TlRecordField mark_fields[] = {TL_SHAPE_MARK_FIELDS(F)};
#undef F
const TlRecord tl_shape_mark_record =
    TL_RECORD("shape mark", "What a checkpoint holds of a shape in use.", TlShapeMark, mark_fields);

/* Pieces one after the other, then their digest. */
typedef struct Pieces {
  char *bytes;
  size_t size, capacity;
} Pieces;

static TlStatus add(Pieces *p, const void *bytes, size_t size) {
  if (size == 0) return TL_OK;
  TL_TRY(TL_RESERVE(p->bytes, p->capacity, p->size + size));
  memcpy(p->bytes + p->size, bytes, size);
  p->size += size;
  return TL_OK;
}

static TlStatus digest(Pieces *p, TlStatus status, char hex[65]) {
  hex[0] = 0;
  if (status == TL_OK && p->size > 0) status = tl_sha256(p->bytes, p->size, hex);
  tl_free(p->bytes);
  return status;
}

TlStatus tl_inputs_terrain(const TlRun *run, char hex[65]) {
  const TlTerrain *t = &run->model->terrain;
  size_t n = run->model->has_terrain ? (size_t)t->nx * (size_t)t->ny : 0;
  Pieces p = {0};
  TlStatus status = add(&p, t->height_m, n * sizeof *t->height_m);
  if (status == TL_OK && t->class_id) status = add(&p, t->class_id, n * sizeof *t->class_id);
  return digest(&p, status, hex);
}

TlStatus tl_inputs_tables(const TlRun *run, char hex[65]) {
  Pieces p = {0};
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < run->model->walls.walls && status == TL_OK; i++) {
    const TlDrive *d = &run->model->walls.data[i].drive;
    if (d->rows == 0) continue;
    status = add(&p, &i, sizeof i);
    if (status == TL_OK) status = add(&p, d->time_s, (size_t)d->rows * sizeof *d->time_s);
    if (status == TL_OK)
      status = add(&p, d->displacement_m, (size_t)d->rows * sizeof *d->displacement_m);
  }
  return digest(&p, status, hex);
}

TlStatus tl_inputs_shapes(TlRun *run, TlShapeMark **marks, int64_t *count) {
  int64_t *ids;
  TL_TRY(tl_avatars_used(&run->state->dem.bodies, &ids, count));
  TlStatus status = TL_NEW(*marks, (size_t)*count);
  for (int64_t i = 0; status == TL_OK && i < *count; i++) {
    const TlAvatar *a = tl_avatars_get(&run->model->avatars, ids[i]);
    if (!a) continue; /* a shape without an avatar is the study's own */
    (*marks)[i] =
        (TlShapeMark){ids[i], a->node_count, a->volume_m3, a->area_m2, a->radius_m, a->inertia_m5};
  }
  for (int64_t i = 0; status == TL_OK && i < *count; i++) (*marks)[i].id = ids[i];
  tl_free(ids);
  return status;
}
