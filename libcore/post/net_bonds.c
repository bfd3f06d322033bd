#include "post/net_bonds.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* ---- who is bonded to whom ---- */

typedef struct Cell {
  int64_t key;
  int64_t sphere;
} Cell;

static int by_key(const void *one, const void *two) {
  const Cell *a = one, *b = two;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->sphere > b->sphere) - (a->sphere < b->sphere);
}

static int64_t key_of(TlVec3 p, TlVec3 low, double cell, int64_t dx, int64_t dy, int64_t dz) {
  int64_t x = (int64_t)floor((p.x - low.x) / cell) + dx,
          y = (int64_t)floor((p.y - low.y) / cell) + dy,
          z = (int64_t)floor((p.z - low.z) / cell) + dz;
  return ((z + 1) * 2000003 + y + 1) * 2000003 + x + 1;
}

/* The first of the sorted cells with this key or a greater one. */
static int64_t find_cell(const Cell *cell, int64_t count, int64_t key) {
  int64_t from = 0, to = count;
  while (from < to) {
    int64_t middle = from + (to - from) / 2;
    if (cell[middle].key < key)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

TlStatus tl_net_bonds(const TlVec3 *place, int64_t count, uint32_t **bond, int64_t *bonds) {
  double spacing = INFINITY;
  size_t capacity = 0;
  Cell *cell;
  TlVec3 low = {INFINITY, INFINITY, INFINITY};
  *bond = NULL;
  *bonds = 0;
  for (int64_t i = 0; i < count; i++) {
    low = tl_vec3(fmin(low.x, place[i].x), fmin(low.y, place[i].y), fmin(low.z, place[i].z));
    if (i > 0) spacing = fmin(spacing, tl_norm(tl_sub(place[i], place[0])));
  }
  if (count < 2 || !(spacing > 0)) return TL_OK;
  double reach = 1.4 * spacing;
  TL_TRY(TL_NEW(cell, (size_t)count));
  for (int64_t i = 0; i < count; i++) cell[i] = (Cell){key_of(place[i], low, reach, 0, 0, 0), i};
  qsort(cell, (size_t)count, sizeof *cell, by_key);
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < count && status == TL_OK; i++)
    for (int k = 0; k < 27 && status == TL_OK; k++) {
      int64_t key = key_of(place[i], low, reach, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      for (int64_t c = find_cell(cell, count, key);
           c < count && cell[c].key == key && status == TL_OK; c++) {
        int64_t j = cell[c].sphere;
        if (j <= i || tl_norm(tl_sub(place[j], place[i])) > reach) continue;
        status = TL_RESERVE(*bond, capacity, 2 * ((size_t)*bonds + 1));
        if (status != TL_OK) break;
        (*bond)[2 * *bonds] = (uint32_t)i;
        (*bond)[2 * (*bonds)++ + 1] = (uint32_t)j;
      }
    }
  tl_free(cell);
  return status;
}

/* ---- in a frame ---- */

TlStatus tl_sheet_open(const TlFrame *first, TlSheet *s) {
  TlVec3 *place;
  *s = (TlSheet){0};
  TL_TRY(TL_NEW(place, (size_t)first->count));
  TlStatus status = TL_NEW(s->id, (size_t)first->count);
  for (int64_t i = 0; status == TL_OK && i < first->count; i++) {
    if (!(first->rows[i].flags & TL_ROW_NET)) continue;
    place[s->spheres] = first->rows[i].position_m;
    s->id[s->spheres++] = first->rows[i].id;
  }
  if (status == TL_OK) status = tl_net_bonds(place, s->spheres, &s->bond, &s->bonds);
  if (status == TL_OK) status = TL_NEW(s->length_m, (size_t)s->bonds);
  for (int64_t k = 0; status == TL_OK && k < s->bonds; k++)
    s->length_m[k] = tl_norm(tl_sub(place[s->bond[2 * k]], place[s->bond[2 * k + 1]]));
  tl_free(place);
  return status;
}

void tl_sheet_free(TlSheet *s) {
  tl_free(s->id);
  tl_free(s->bond);
  tl_free(s->length_m);
  *s = (TlSheet){0};
}

TlStatus tl_sheet_tubes(const TlSheet *s, const TlScene *scene, const TlFrame *frame,
                        double fraction, TlVec3 colour, TlTraceTube **tube, size_t *capacity,
                        int64_t *tubes) {
  static const double BROKEN = 2, TOUCH = 1.2; /* first lengths; diameters of the spheres */
  const TlBodyRow **row;                       /* of each sphere; NULL: it is not in the frame */
  if (s->bonds == 0) return TL_OK;
  TL_TRY(TL_NEW(row, (size_t)s->spheres));
  for (int64_t i = 0, k = 0; k < s->spheres; k++) { /* both rise by id */
    while (i < frame->count && frame->rows[i].id < s->id[k]) i++;
    if (i < frame->count && frame->rows[i].id == s->id[k]) row[k] = &frame->rows[i];
  }
  TlStatus status = TL_RESERVE(*tube, *capacity, (size_t)(*tubes + s->bonds));
  for (int64_t k = 0; status == TL_OK && k < s->bonds; k++) {
    const TlBodyRow *a = row[s->bond[2 * k]], *b = row[s->bond[2 * k + 1]];
    const TlAvatar *sphere = a && b ? tl_scene_avatar(scene, a->avatar_id) : NULL;
    if (!sphere) continue;
    double length = tl_norm(tl_sub(a->position_m, b->position_m)),
           diameter = a->scale * tl_avatar_diameter_m(sphere);
    if (length < TOUCH * diameter || length > BROKEN * s->length_m[k]) continue;
    (*tube)[(*tubes)++] = (TlTraceTube){.from = a->position_m,
                                        .to = b->position_m,
                                        .radius_m = 0.5 * fraction * diameter,
                                        .colour = colour};
  }
  tl_free((void *)row);
  return status;
}
