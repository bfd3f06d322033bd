#include "image/relief.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/saddles.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* While a slab is in hand its ids hold, before a walk, 0 in the void or 1 + the direction
 * (dz + 1) * 9 + (dy + 1) * 3 + dx + 1 of the step up; SELF is a peak. */
enum { DIRECTIONS = 27, SELF = 13 };
enum { LEAST_COMPACT = 100000 }; /* passes: about a thirtieth of a second to sort */

/* ---- life ---- */

TlStatus tl_relief_open(TlRelief *r, int64_t nx, int64_t ny, int64_t nz, const double edge[3]) {
  *r = (TlRelief){
      .nx = nx, .ny = ny, .nz = nz, .ids = TL_RELIEF_FIRST_ID, .compact_at = LEAST_COMPACT};
  for (int d = 0; d < DIRECTIONS; d++) {
    double x = (d % 3 - 1) * edge[0], y = (d / 3 % 3 - 1) * edge[1], z = (d / 9 - 1) * edge[2];
    r->inverse[d] = d == SELF ? 0 : (float)(1 / sqrt(x * x + y * y + z * z));
  }
  TlStatus status = TL_NEW(r->below, (size_t)(nx * ny));
  if (status == TL_OK) status = TL_NEW(r->portal, (size_t)(nx * ny));
  if (status == TL_OK) status = TL_RESERVE(r->basin, r->basin_capacity, r->ids);
  if (status == TL_OK) status = tl_saddles_open(&r->table);
  for (uint32_t id = 0; status == TL_OK && id < TL_RELIEF_FIRST_ID; id++)
    r->basin[id] = (TlBasin){.at = -1};
  if (status != TL_OK) tl_relief_free(r);
  return status;
}

/* What only slabs need. */
static void free_seam(TlRelief *r) {
  tl_free(r->open);
  tl_free(r->pending);
  tl_free(r->below);
  tl_free(r->portal);
  tl_saddles_free(r->table);
  r->open = NULL;
  r->pending = NULL;
  r->below = r->portal = NULL;
  r->table = NULL;
}

void tl_relief_free(TlRelief *r) {
  free_seam(r);
  tl_free(r->basin);
  tl_free(r->leads);
  tl_free(r->saddle);
  tl_free(r->by_marker);
  *r = (TlRelief){0};
}

static TlStatus new_hill(TlRelief *r, TlBasin basin, uint32_t *id) {
  if (r->ids == TL_RELIEF_PORTAL) return tl_fail(TL_ELIMIT, "more than 2e9 hills: smooth more");
  TL_TRY(TL_RESERVE(r->basin, r->basin_capacity, r->ids + 1));
  *id = (uint32_t)r->ids++;
  r->basin[*id] = basin;
  return TL_OK;
}

static TlStatus new_portal(TlRelief *r, uint32_t *id) {
  size_t opened = r->portals - r->first_open;
  if (r->portals == TL_RELIEF_PORTAL)
    return tl_fail(TL_ELIMIT, "more than 2e9 voxels climb over seams: thicker slabs are needed");
  TL_TRY(TL_RESERVE(r->leads, r->leads_capacity, r->portals + 1));
  TL_TRY(TL_RESERVE(r->open, r->open_capacity, opened + 1));
  r->open[opened] = (TlBasin){.at = -1, .first = INT64_MAX};
  *id = TL_RELIEF_PORTAL | (uint32_t)r->portals;
  r->leads[r->portals++] = *id;
  return TL_OK;
}

static bool is_portal(uint32_t id) {
  return (id & TL_RELIEF_PORTAL) != 0;
}

/* Of a hill or an open portal. */
static TlBasin *basin_of(TlRelief *r, uint32_t id) {
  return is_portal(id) ? &r->open[id - TL_RELIEF_PORTAL - r->first_open] : &r->basin[id];
}

/* Shortens the path for the next: chains over many seams stay short. */
static uint32_t find(TlRelief *r, uint32_t id) {
  uint32_t leads = tl_relief_id(r, id);
  if (is_portal(id)) r->leads[id - TL_RELIEF_PORTAL] = leads;
  return leads;
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
      *field; /* of plane 0 of the slab; the planes beside those known can be read where they exist
               */
  const TlClue *clue; /* as field, or NULL */
  const uint32_t *markers;
  uint32_t *ids;
  int64_t begin, end, known; /* planes */
  float *best;               /* a row for each thread */
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
  const TlRelief *r = s->relief;
  (void)block;
  float *best = s->best + thread * r->nx;
  for (int64_t k = begin; k < end; k++) {
    int64_t row = (r->known - s->begin) * r->ny + k;
    steps_of_row(s, row % r->ny, s->begin + row / r->ny, best, (int32_t *)s->ids + row * r->nx);
  }
  return TL_OK;
}

/* ---- the walk ---- */

/* The slot of this marker: its own or the free one where it belongs. */
static uint32_t *slot_of_marker(const TlRelief *r, uint32_t marker) {
  size_t at = (size_t)(marker * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (r->marker_slots - 1);
  while (r->by_marker[at] && r->basin[r->by_marker[at]].marker != marker)
    at = (at + 1) & (r->marker_slots - 1);
  return &r->by_marker[at];
}

static TlStatus grow_markers(TlRelief *r) {
  uint32_t *old = r->by_marker, *new;
  size_t slots = r->marker_slots;
  TL_TRY(TL_NEW(new, slots ? 2 * slots : 1024));
  r->by_marker = new;
  r->marker_slots = slots ? 2 * slots : 1024;
  for (size_t i = 0; i < slots; i++)
    if (old[i]) *slot_of_marker(r, r->basin[old[i]].marker) = old[i];
  tl_free(old);
  return TL_OK;
}

static TlStatus id_of_marker(TlRelief *r, uint32_t marker, uint32_t *id) {
  if (2 * (r->markers + 1) > r->marker_slots) TL_TRY(grow_markers(r));
  uint32_t *slot = slot_of_marker(r, marker);
  if (*slot == 0) {
    TL_TRY(new_hill(r, (TlBasin){.at = -1, .first = INT64_MAX, .marker = marker}, slot));
    r->markers++;
  }
  *id = *slot;
  return TL_OK;
}

/* Voxel i of the slab. */
static void join_voxel(Slab *s, uint32_t id, int64_t i) {
  TlBasin *b = basin_of(s->relief, id);
  int64_t at = s->begin * s->relief->nx * s->relief->ny + i;
  b->voxels++;
  b->first = at < b->first ? at : b->first;
  if (!s->clue || !s->clue[i].core) return;
  b->core++;
  b->grey += s->clue[i].grey;
}

static TlStatus plant_markers(Slab *s) {
  TlRelief *r = s->relief;
  int64_t plane = r->nx * r->ny, count = (s->known - s->begin) * plane;
  for (int64_t i = (r->known - s->begin) * plane; i < count; i++) {
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

/* Where does voxel i of the slab get to? Its id is new on a peak or beyond what is known. */
static TlStatus climb(const Slab *s, int64_t i, uint32_t *id) {
  TlRelief *r = s->relief;
  int64_t plane = r->nx * r->ny, count = (s->known - s->begin) * plane;
  while (s->ids[i] < TL_RELIEF_FIRST_ID) {
    if (s->ids[i] == 1 + SELF)
      return new_hill(
          r, (TlBasin){.at = s->begin * plane + i, .first = INT64_MAX, .peak = s->field[i]}, id);
    i += offset(r, s->ids[i]);
    if (i < 0) {
      *id = r->below[i + plane];
      return TL_OK;
    }
    if (i >= count) {
      uint32_t *portal = &r->portal[i - count];
      if (*portal == 0) TL_TRY(new_portal(r, portal));
      *id = *portal;
      return TL_OK;
    }
  }
  *id = find(r, s->ids[i]); /* ahead of the slab there may be portals that have been joined */
  return TL_OK;
}

/* Voxel i and all on its path. */
static TlStatus walk_from(Slab *s, int64_t i) {
  const TlRelief *r = s->relief;
  int64_t count = (s->known - s->begin) * r->nx * r->ny;
  uint32_t id = 0;
  if (s->ids[i] == 0 || s->ids[i] >= TL_RELIEF_FIRST_ID) return TL_OK;
  TL_TRY(climb(s, i, &id));
  for (int64_t j = i; j >= 0 && j < count && s->ids[j] < TL_RELIEF_FIRST_ID;) {
    int64_t next = j + offset(r, s->ids[j]);
    s->ids[j] = id;
    join_voxel(s, id, j);
    j = next;
  }
  return TL_OK;
}

static TlStatus walk(Slab *s) {
  int64_t count = (s->end - s->begin) * s->relief->nx * s->relief->ny;
  for (int64_t i = 0; i < count; i++) TL_TRY(walk_from(s, i));
  return TL_OK;
}

/* ---- seams ---- */

static void join_portal(TlRelief *r, uint32_t from, uint32_t to) {
  TlBasin *a = basin_of(r, from), *b = basin_of(r, to);
  b->voxels += a->voxels;
  b->core += a->core;
  b->grey += a->grey;
  b->first = a->first < b->first ? a->first : b->first;
  r->leads[from - TL_RELIEF_PORTAL] = to;
}

/* Those who came through a portal are in the basin of the voxel behind it. portal: of the plane
 * r->known; count of them are open, the ones after them of the seam to come. */
static TlStatus join_portals(Slab *s, const uint32_t *portal, size_t count) {
  TlRelief *r = s->relief;
  int64_t plane = r->nx * r->ny, behind = (r->known - s->begin) * plane;
  for (int64_t i = 0; i < plane; i++)
    if (portal[i]) TL_TRY(walk_from(s, behind + i));
  for (int64_t i = 0; i < plane; i++)
    if (portal[i]) join_portal(r, portal[i], find(r, s->ids[behind + i]));
  size_t left = r->portals - r->first_open - count;
  if (left) memmove(r->open, r->open + count, left * sizeof *r->open);
  r->first_open += count;
  return TL_OK;
}

static void settle(TlRelief *r, uint32_t *ids, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (is_portal(ids[i])) ids[i] = find(r, ids[i]);
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

/* Most that had a portal are within one hill now, or of one pair. */
static TlStatus resume_pending(TlRelief *r) {
  for (size_t i = 0; i < r->pendings; i++) {
    uint32_t a = find(r, r->pending[i].a), b = find(r, r->pending[i].b);
    if (a != b) TL_TRY(tl_saddles_add(r->table, a, b, &r->pending[i]));
  }
  r->pendings = 0;
  return TL_OK;
}

static TlStatus keep_passes(TlRelief *r) {
  size_t count = tl_saddles_count(r->table);
  const TlSaddle *all = tl_saddles_all(r->table);
  for (size_t i = 0; i < count; i++) {
    bool open = is_portal(all[i].a) || is_portal(all[i].b);
    if (open) {
      TL_TRY(TL_RESERVE(r->pending, r->pending_capacity, r->pendings + 1));
      r->pending[r->pendings++] = all[i];
    } else {
      TL_TRY(TL_RESERVE(r->saddle, r->saddle_capacity, r->saddles + 1));
      r->saddle[r->saddles++] = all[i];
    }
  }
  tl_saddles_clear(r->table);
  return TL_OK;
}

static TlStatus passes(Slab *s) {
  TlRelief *r = s->relief;
  TL_TRY(resume_pending(r));
  for (int64_t z = s->begin; z < s->end; z++)
    for (int64_t y = 0; y < r->ny; y++) TL_TRY(passes_of_row(s, y, z));
  return keep_passes(r);
}

static void compact(TlRelief *r) {
  tl_saddles_merge(r->saddle, &r->saddles);
  r->compact_at = r->saddles + r->saddles / 2 + LEAST_COMPACT;
}

/* ---- slab by slab ---- */

/* portal: of plane r->known, which is known now; NULL: no more planes are known than before. */
static TlStatus add(Slab *s, const uint32_t *portal) {
  TlRelief *r = s->relief;
  int64_t plane = r->nx * r->ny;
  size_t open = r->portals - r->first_open;
  TL_TRY(tl_par_blocks((s->known - r->known) * r->ny, 64, steps_of_rows, s));
  if (s->markers) TL_TRY(plant_markers(s));
  TL_TRY(walk(s));
  if (portal) TL_TRY(join_portals(s, portal, open));
  settle(r, r->below, plane);
  settle(r, s->ids, (s->end - s->begin) * plane);
  TL_TRY(passes(s));
  if (r->saddles > r->compact_at) compact(r);
  return TL_OK;
}

TlStatus tl_relief_add(TlRelief *r, int64_t end, int64_t known, const float *field,
                       const TlClue *clue, const uint32_t *markers, uint32_t *ids) {
  assert(end > r->done && known >= end && known >= r->known && known <= r->nz);
  int64_t plane = r->nx * r->ny;
  Slab s = {.relief = r,
            .field = field + (r->done > 0 ? plane : 0),
            .clue = clue && r->done > 0 ? clue + plane : clue,
            .markers = markers,
            .ids = ids,
            .begin = r->done,
            .end = end,
            .known = known};
  uint32_t *portal = NULL;
  TL_TRY(TL_NEW(s.best, (size_t)(r->nx * tl_par_threads())));
  TlStatus status = TL_OK;
  if (known > r->known) {
    portal = r->portal; /* r->portal becomes that of the planes known now */
    status = TL_NEW(r->portal, (size_t)plane);
  }
  if (status == TL_OK) status = add(&s, portal);
  if (status == TL_OK)
    memcpy(r->below, ids + (end - s.begin - 1) * plane, (size_t)plane * sizeof *ids);
  r->done = end;
  r->known = known;
  tl_free(portal);
  tl_free(s.best);
  return status;
}

TlStatus tl_relief_close(TlRelief *r) {
  assert(r->done == r->nz && r->pendings == 0);
  compact(r);
  for (size_t k = 0; k < r->portals; k++) find(r, TL_RELIEF_PORTAL | (uint32_t)k);
  free_seam(r);
  return TL_OK;
}
