#include "image/relief.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/saddles.h"

#include <float.h>
#include <math.h>

/* While a slab is in hand its ids hold, before the walk, 0 in the void or 1 + the direction
 * (dz + 1) * 9 + (dy + 1) * 3 + dx + 1 of the step up; SELF is a peak. */
enum { DIRECTIONS = 27, SELF = 13 };

/* ---- life ---- */

TlStatus tl_relief_open(TlRelief *r, int64_t nx, int64_t ny, int64_t nz, const double edge[3]) {
  *r = (TlRelief){.nx = nx, .ny = ny, .nz = nz, .ids = TL_RELIEF_FIRST_ID};
  for (int d = 0; d < DIRECTIONS; d++) {
    double x = (d % 3 - 1) * edge[0], y = (d / 3 % 3 - 1) * edge[1], z = (d / 9 - 1) * edge[2];
    r->inverse[d] = d == SELF ? 0 : (float)(1 / sqrt(x * x + y * y + z * z));
  }
  TlStatus status = TL_NEW(r->below, (size_t)(nx * ny));
  if (status == TL_OK) status = TL_NEW(r->portal, (size_t)(nx * ny));
  if (status == TL_OK) status = TL_RESERVE(r->basin, r->basin_capacity, r->ids);
  if (status == TL_OK) status = TL_RESERVE(r->same, r->same_capacity, r->ids);
  if (status == TL_OK) status = tl_saddles_open(&r->table);
  for (uint32_t id = 0; status == TL_OK && id < TL_RELIEF_FIRST_ID; id++) {
    r->basin[id] = (TlBasin){.at = -1};
    r->same[id] = id;
  }
  if (status != TL_OK) tl_relief_free(r);
  return status;
}

void tl_relief_free(TlRelief *r) {
  tl_free(r->basin);
  tl_free(r->same);
  tl_free(r->saddle);
  tl_free(r->below);
  tl_free(r->portal);
  tl_free(r->by_marker);
  tl_saddles_free(r->table);
  *r = (TlRelief){0};
}

static TlStatus new_id(TlRelief *r, TlBasin basin, uint32_t *id) {
  if (r->ids == UINT32_MAX) return tl_fail(TL_ELIMIT, "more than 4e9 hills: smooth more");
  TL_TRY(TL_RESERVE(r->basin, r->basin_capacity, r->ids + 1));
  TL_TRY(TL_RESERVE(r->same, r->same_capacity, r->ids + 1));
  *id = (uint32_t)r->ids++;
  r->basin[*id] = basin;
  r->same[*id] = *id;
  return TL_OK;
}

uint32_t tl_relief_id(const TlRelief *r, uint32_t id) {
  while (r->same[id] != id) id = r->same[id];
  return id;
}

/* Halves the way as it goes: chains over many seams stay short. */
static uint32_t find(TlRelief *r, uint32_t id) {
  while (r->same[id] != id) id = r->same[id] = r->same[r->same[id]];
  return id;
}

/* ---- the step up ---- */

/* One neighbour for count voxels: where its slope is steeper than the best so far, take it. least:
 * 0 where equal height counts as higher, else the smallest number above. */
TL_LANES_CLONES
static void try_neighbour(const float *here, const float *there, int64_t count, float inverse,
                          float least, int32_t code, float *restrict best, int32_t *restrict step) {
  for (int64_t x = 0; x < count; x++) {
    float slope = (there[x] - here[x]) * inverse;
    int take = (slope > best[x]) & (slope >= least);
    best[x] = take ? slope : best[x];
    step[x] = take ? code : step[x];
  }
}

typedef struct Slab {
  TlRelief *relief;
  const float
      *field; /* of plane 0 of the slab; the planes beside it can be read where they exist */
  const TlClue *clue; /* as field, or NULL */
  const uint32_t *markers;
  uint32_t *ids;
  int64_t begin, end; /* planes */
  float *best;        /* a row for each thread */
} Slab;

static void steps_of_row(const Slab *s, int64_t y, int64_t z, float *best, int32_t *step) {
  const TlRelief *r = s->relief;
  int64_t nx = r->nx;
  const float *here = s->field + ((z - s->begin) * r->ny + y) * nx;
  for (int64_t x = 0; x < nx; x++) {
    best[x] = -1;
    step[x] = 1 + SELF;
  }
  for (int d = 0; d < DIRECTIONS; d++) {
    int64_t dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
    if (d == SELF || y + dy < 0 || y + dy >= r->ny || z + dz < 0 || z + dz >= r->nz) continue;
    int64_t from = dx < 0 ? 1 : 0, count = nx - (dx != 0);
    const float *there = here + (dz * r->ny + dy) * nx + from + dx;
    try_neighbour(here + from, there, count, r->inverse[d], d < SELF ? 0 : FLT_TRUE_MIN, 1 + d,
                  best + from, step + from);
  }
  for (int64_t x = 0; x < nx; x++) step[x] = here[x] < 0 ? 0 : step[x];
}

static TlStatus steps_of_rows(void *context, int64_t begin, int64_t end, int64_t block,
                              int thread) {
  const Slab *s = context;
  (void)block;
  float *best = s->best + thread * s->relief->nx;
  for (int64_t row = begin; row < end; row++)
    steps_of_row(s, row % s->relief->ny, s->begin + row / s->relief->ny, best,
                 (int32_t *)s->ids + row * s->relief->nx);
  return TL_OK;
}

/* ---- the walk ---- */

static TlStatus id_of_marker(TlRelief *r, uint32_t marker, uint32_t *id) {
  size_t before = r->marker_capacity;
  TL_TRY(TL_RESERVE(r->by_marker, r->marker_capacity, (size_t)marker + 1));
  for (size_t m = before; m < r->marker_capacity; m++) r->by_marker[m] = 0;
  if (r->by_marker[marker] == 0)
    TL_TRY(new_id(r, (TlBasin){.at = -1, .first = INT64_MAX, .marker = marker},
                  &r->by_marker[marker]));
  *id = r->by_marker[marker];
  return TL_OK;
}

/* Voxel i of the slab. */
static void join_voxel(Slab *s, uint32_t id, int64_t i) {
  TlBasin *b = &s->relief->basin[id];
  int64_t at = s->begin * s->relief->nx * s->relief->ny + i;
  b->voxels++;
  b->first = at < b->first ? at : b->first;
  if (!s->clue || !s->clue[i].core) return;
  b->core++;
  b->grey += s->clue[i].grey;
}

static TlStatus plant_markers(Slab *s) {
  TlRelief *r = s->relief;
  int64_t plane = r->nx * r->ny, count = (s->end - s->begin) * plane;
  for (int64_t i = 0; i < count; i++) {
    if (s->markers[i] == 0 || s->ids[i] == 0) continue;
    TL_TRY(id_of_marker(r, s->markers[i], &s->ids[i]));
    join_voxel(s, s->ids[i], i);
  }
  return TL_OK;
}

static int64_t offset(const TlRelief *r, uint32_t code) {
  int d = (int)code - 1;
  return ((d / 9 - 1) * r->ny + d / 3 % 3 - 1) * r->nx + d % 3 - 1;
}

/* Where does voxel i of the slab get to? Its id is new on a peak or beyond the upper seam. */
static TlStatus climb(Slab *s, int64_t i, int64_t count, uint32_t *id) {
  TlRelief *r = s->relief;
  int64_t plane = r->nx * r->ny;
  while (s->ids[i] < TL_RELIEF_FIRST_ID) {
    if (s->ids[i] == 1 + SELF)
      return new_id(
          r, (TlBasin){.at = s->begin * plane + i, .first = INT64_MAX, .peak = s->field[i]}, id);
    i += offset(r, s->ids[i]);
    if (i < 0) {
      *id = r->below[i + plane];
      return TL_OK;
    }
    if (i >= count) {
      uint32_t *portal = &r->portal[i - count];
      if (*portal == 0) TL_TRY(new_id(r, (TlBasin){.at = -1, .first = INT64_MAX}, portal));
      *id = *portal;
      return TL_OK;
    }
  }
  *id = s->ids[i];
  return TL_OK;
}

static TlStatus walk(Slab *s) {
  TlRelief *r = s->relief;
  int64_t plane = r->nx * r->ny, count = (s->end - s->begin) * plane;
  for (int64_t i = 0; i < count; i++) {
    if (s->ids[i] == 0 || s->ids[i] >= TL_RELIEF_FIRST_ID) continue;
    uint32_t id;
    TL_TRY(climb(s, i, count, &id));
    for (int64_t j = i; j >= 0 && j < count && s->ids[j] < TL_RELIEF_FIRST_ID;) {
      int64_t next = j + offset(r, s->ids[j]);
      s->ids[j] = id;
      join_voxel(s, id, j);
      j = next;
    }
  }
  return TL_OK;
}

/* ---- seams ---- */

/* Those who climbed over the last seam are in the basin of the voxel they came to. */
static void join_portals(Slab *s, const uint32_t *portal) {
  TlRelief *r = s->relief;
  for (int64_t i = 0; i < r->nx * r->ny; i++) {
    if (portal[i] == 0) continue;
    uint32_t from = find(r, portal[i]), to = find(r, s->ids[i]);
    TlBasin *a = &r->basin[from], *b = &r->basin[to];
    b->voxels += a->voxels;
    b->core += a->core;
    b->grey += a->grey;
    b->first = a->first < b->first ? a->first : b->first;
    r->same[from] = to;
  }
}

/* ---- passes ---- */

/* Axis of the face that a voxel shares with its neighbour in this direction; -1: no face. */
static int axis_of_face(int direction) {
  return direction == 12 ? 0 : direction == 10 ? 1 : direction == 4 ? 2 : -1;
}

/* The deeper dip of two core voxels, else -1. */
static int32_t dip_between(const TlClue *clue, int64_t p, int64_t q) {
  if (!clue || !clue[p].core || !clue[q].core) return -1;
  return clue[p].dip > clue[q].dip ? clue[p].dip : clue[q].dip;
}

/* Neighbours that come before in order: each pair is met once. */
static TlStatus passes_of_row(Slab *s, int64_t y, int64_t z) {
  TlRelief *r = s->relief;
  int64_t row = ((z - s->begin) * r->ny + y) * r->nx, plane = r->nx * r->ny;
  const uint32_t *mine = s->ids + row;
  for (int d = 0; d < SELF; d++) {
    int64_t dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
    if (y + dy < 0 || y + dy >= r->ny || z + dz < 0) continue;
    int64_t to = row + (dz * r->ny + dy) * r->nx + dx;
    int axis = axis_of_face(d);
    const uint32_t *other = z + dz < s->begin ? r->below + to + plane : s->ids + to;
    for (int64_t x = dx < 0 ? 1 : 0; x < r->nx - (dx > 0); x++)
      if (mine[x] != other[x] && mine[x] && other[x])
        TL_TRY(tl_saddles_meet(r->table, mine[x], other[x], s->begin * plane + row + x,
                               s->field[row + x], s->begin * plane + to + x, s->field[to + x], axis,
                               dip_between(s->clue, row + x, to + x)));
  }
  return TL_OK;
}

static TlStatus passes(Slab *s) {
  TlRelief *r = s->relief;
  for (int64_t z = s->begin; z < s->end; z++)
    for (int64_t y = 0; y < r->ny; y++) TL_TRY(passes_of_row(s, y, z));
  size_t count = tl_saddles_count(r->table);
  TL_TRY(TL_RESERVE(r->saddle, r->saddle_capacity, r->saddles + count));
  tl_saddles_take(r->table, r->saddle + r->saddles);
  r->saddles += count;
  return TL_OK;
}

/* Name passes by the ids that count now. */
static void compact(TlRelief *r) {
  for (size_t i = 0; i < r->saddles; i++) {
    r->saddle[i].a = find(r, r->saddle[i].a);
    r->saddle[i].b = find(r, r->saddle[i].b);
  }
  tl_saddles_merge(r->saddle, &r->saddles);
  r->compact_at = 2 * r->saddles + 1000000;
}

/* ---- slab by slab ---- */

static TlStatus add(Slab *s, const uint32_t *portal) {
  TlRelief *r = s->relief;
  TL_TRY(tl_par_blocks((s->end - s->begin) * r->ny, 64, steps_of_rows, s));
  if (s->markers) TL_TRY(plant_markers(s));
  TL_TRY(walk(s));
  join_portals(s, portal);
  TL_TRY(passes(s));
  if (r->saddles > r->compact_at && r->compact_at > 0) compact(r);
  if (r->compact_at == 0) r->compact_at = 1000000;
  return TL_OK;
}

TlStatus tl_relief_add(TlRelief *r, int64_t end, const float *field, const TlClue *clue,
                       const uint32_t *markers, uint32_t *ids) {
  int64_t plane = r->nx * r->ny;
  Slab s = {.relief = r,
            .field = field + (r->done > 0 ? plane : 0),
            .clue = clue && r->done > 0 ? clue + plane : clue,
            .markers = markers,
            .ids = ids,
            .begin = r->done,
            .end = end};
  uint32_t *portal = r->portal; /* into this slab; r->portal becomes that out of it */
  TL_TRY(TL_NEW(s.best, (size_t)(r->nx * tl_par_threads())));
  TlStatus status = TL_NEW(r->portal, (size_t)plane);
  if (status == TL_OK) status = add(&s, portal);
  if (status == TL_OK)
    for (int64_t i = 0; i < plane; i++) r->below[i] = find(r, ids[(end - s.begin - 1) * plane + i]);
  r->done = end;
  tl_free(portal);
  tl_free(s.best);
  return status;
}

TlStatus tl_relief_close(TlRelief *r) {
  compact(r);
  for (size_t id = TL_RELIEF_FIRST_ID; id < r->ids; id++) r->same[id] = find(r, (uint32_t)id);
  return TL_OK;
}
