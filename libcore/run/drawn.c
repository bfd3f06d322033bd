
#include "base/mem.h"
#include "base/random.h"
#include "run/avatars.h"
#include "run/bodies.h"
#include "run/handout.h"
#include "run/assembly_kinds.h"
#include "shape/apart.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_PLACE = 113, NUMBERS = 16 };

/* Placed grains in cubic bins a little wider than the largest grain. */
typedef struct Bins {
  double side;
  TlVec3 low;
  int64_t n[3];
  int64_t *head, *next; /* of a bin, of a grain; -1 ends */
} Bins;

typedef struct Box {
  const TlPlace *place;
  TlAvatarCache avatars;
  TlVec3 low, high; /* with the ground's rise where the region follows it */
  TlDrawnGrain *grain;
  TlPlaced *placed;
  TlQuat *turn;
  int64_t count, done;
  Bins bins;
  TlObstacles bodies; /* of the study */
} Box;

/* ---- bins ---- */

static int64_t bin_at(const Bins *b, TlVec3 p, const int offset[3]) {
  double x[3] = {p.x - b->low.x, p.y - b->low.y, p.z - b->low.z};
  int64_t i[3];
  for (int a = 0; a < 3; a++) {
    int64_t k = (int64_t)floor(x[a] / b->side);
    i[a] = (k < 0 ? 0 : k >= b->n[a] ? b->n[a] - 1 : k) + offset[a];
    if (i[a] < 0 || i[a] >= b->n[a]) return -1;
  }
  return (i[2] * b->n[1] + i[1]) * b->n[0] + i[0];
}

static TlStatus open_bins(Box *box) {
  enum { MOST = 100 }; /* bins an axis: wider ones only cost time */
  Bins *b = &box->bins;
  double e[3] = {box->high.x - box->low.x, box->high.y - box->low.y, box->high.z - box->low.z};
  double gap = box->place->setup->release.clearance_m;
  b->low = box->low;
  b->side = 2 * box->grain[0].radius_m + gap;
  for (int a = 0; a < 3; a++) b->side = fmax(b->side, e[a] / MOST);
  for (int a = 0; a < 3; a++) b->n[a] = (int64_t)(e[a] / b->side) + 1;
  int64_t bins = b->n[0] * b->n[1] * b->n[2];
  TL_TRY(TL_NEW(b->head, (size_t)bins));
  TL_TRY(TL_NEW(b->next, (size_t)box->count));
  for (int64_t i = 0; i < bins; i++) b->head[i] = -1;
  return TL_OK;
}

static bool clear_of_grains(const Box *box, const TlPlaced *p) {
  double gap = box->place->setup->release.clearance_m;
  for (int o = 0; o < 27; o++) {
    int64_t bin = bin_at(&box->bins, p->position, (int[]){o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1});
    if (bin < 0) continue;
    for (int64_t i = box->bins.head[bin]; i >= 0; i = box->bins.next[i])
      if (!tl_placed_apart(p, &box->placed[i], gap)) return false;
  }
  return true;
}

/* ---- the region ---- */

/* On a plane the nodes say enough; elsewhere an edge may stand up between them. */
static bool clear_of_boundary(const TlBoundary *b, const TlPlaced *p, double clearance) {
  double phi, beyond, gap = clearance;
  if (b->kind != &tl_boundary_plane) gap += tl_placed_margin(p);
  TlVec3 n;
  if (!b->kind->phi(b->data, p->position, &phi, &n)) return false;
  if (phi >= tl_placed_radius(p) + gap) return true;
  if (phi < gap) return false;
  for (int32_t i = 0; i < tl_placed_points(p); i++) {
    TlVec3 x = tl_placed_point(p, i, &beyond);
    if (!b->kind->phi(b->data, x, &phi, &n) || phi < gap + beyond) return false;
  }
  return true;
}

static bool inside_round(const Box *box, const TlPlaced *p) {
  double r = 0.5 * fmin(box->high.x - box->low.x, box->high.y - box->low.y), beyond;
  double cx = 0.5 * (box->low.x + box->high.x), cy = 0.5 * (box->low.y + box->high.y);
  for (int32_t i = 0; i < tl_placed_points(p); i++) {
    TlVec3 x = tl_placed_point(p, i, &beyond);
    if (hypot(x.x - cx, x.y - cy) > r - beyond) return false;
  }
  return true;
}

/* A place for the centre with the whole grain in the box; over ground only x and y are the box's,
 * and z counts from the ground. False: no room, or no ground. */
static bool pick(const Box *box, TlPlaced *p, const double u[3]) {
  const TlReleaseSetup *r = &box->place->setup->release;
  TlVec3 low, high;
  double ground;
  tl_placed_extents(p, &low, &high);
  TlVec3 a = tl_sub(box->low, low), b = tl_sub(box->high, high);
  if (!(b.x >= a.x && b.y >= a.y)) return false;
  p->position = tl_vec3(a.x + u[0] * (b.x - a.x), a.y + u[1] * (b.y - a.y), 0);
  if (!(r->depth_m > 0)) {
    p->position.z = a.z + u[2] * (b.z - a.z);
    return b.z >= a.z;
  }
  if (!tl_terrain_height(box->place->terrain, p->position.x, p->position.y, &ground, NULL))
    return false;
  p->position.z = ground + r->above_ground_m + u[2] * r->depth_m;
  return true;
}

static bool fits(const Box *box, const TlPlaced *p) {
  const TlPlace *place = box->place;
  const TlReleaseSetup *r = &place->setup->release;
  if (!tl_inside_polygon(&r->polygon, p->position.x, p->position.y)) return false;
  if (r->round && !inside_round(box, p)) return false;
  if (!clear_of_grains(box, p)) return false;
  for (int64_t i = 0; i < box->bodies.count; i++)
    if (!tl_placed_apart(p, &box->bodies.part[i], r->clearance_m)) return false;
  for (int i = 0; i < place->boundary_count; i++)
    if (!clear_of_boundary(&place->boundaries[i], p, r->clearance_m)) return false;
  return true;
}

/* ---- one grain after the other ---- */

static bool try_place(Box *box, int64_t attempt) {
  uint64_t seed = (uint64_t)box->place->setup->seed;
  uint64_t index = NUMBERS * (uint64_t)(box->done * box->place->setup->release.tries + attempt);
  TlPlaced *p = &box->placed[box->done];
  double u[3];
  for (int k = 0; k < 3; k++) u[k] = tl_random_uniform(seed, STREAM_PLACE, index + (uint64_t)k);
  box->turn[box->done] = tl_random_turn(seed, STREAM_PLACE, index + 4);
  p->rotation = tl_quat_matrix(box->turn[box->done]);
  return pick(box, p, u) && fits(box, p);
}

static TlStatus place_one(Box *box, bool *found) {
  const TlDrawnGrain *g = &box->grain[box->done];
  TlPlaced *p = &box->placed[box->done];
  *found = false;
  const TlAvatar *avatar = tl_avatars_get(&box->avatars, g->avatar_id);
  if (!avatar) return TL_EINPUT;
  *p = (TlPlaced){.avatar = avatar,
                  .ball_m = tl_study_shapes_ball(box->place->shapes, g->avatar_id),
                  .scale = g->scale};
  for (int64_t k = 0; !*found && k < box->place->setup->release.tries; k++)
    *found = try_place(box, k);
  if (!*found) return TL_OK;
  int64_t bin = bin_at(&box->bins, p->position, (int[]){0, 0, 0});
  box->bins.next[box->done] = box->bins.head[bin];
  box->bins.head[bin] = box->done++;
  return TL_OK;
}

static double volume_of(const Box *box) {
  double v = 0;
  for (int64_t i = 0; i < box->done; i++)
    v += box->placed[i].avatar->volume_m3 * pow(box->placed[i].scale, 3);
  return v;
}

/* Of the region, for the message; by the shoelace rule where a polygon bounds it. */
static double region_volume(const Box *box) {
  const TlReleaseSetup *r = &box->place->setup->release;
  const TlCorner *c = r->polygon.items;
  double x = box->high.x - box->low.x, y = box->high.y - box->low.y, area = x * y;
  if (r->round) area = 0.25 * M_PI * fmin(x, y) * fmin(x, y);
  if (r->polygon.count > 0) area = 0;
  for (int64_t i = 0, j = r->polygon.count - 1; i < r->polygon.count; j = i++)
    area += 0.5 * (c[j].x_m * c[i].y_m - c[i].x_m * c[j].y_m);
  return fabs(area) * (r->depth_m > 0 ? r->depth_m : box->high.z - box->low.z);
}

static TlStatus full(const Box *box) {
  const TlDrawnGrain *g = &box->grain[box->done];
  return tl_study_fail(
      box->place->study, TL_EINPUT,
      box->place->setup->release.sizes.count > 0 ? "release.sizes" : "release.count",
      "%lld of %lld grains found a place and fill %.3g of the region's volume; "
      "the next, %g m across, found none in %lld tries: fewer grains, a larger "
      "region or more release.tries",
      (long long)box->done, (long long)box->count, volume_of(box) / region_volume(box),
      2 * g->radius_m, (long long)box->place->setup->release.tries);
}

/* The corners of all ground that the region covers would do; its bins only want a range. */
static void bound(Box *box) {
  const TlReleaseSetup *r = &box->place->setup->release;
  const TlTerrain *t = box->place->terrain;
  double low = INFINITY, high = -INFINITY;
  box->low = tl_vec3_of(r->low_m);
  box->high = tl_vec3_of(r->high_m);
  if (!(r->depth_m > 0)) return;
  for (int64_t i = 0; i < t->nx * t->ny; i++) {
    low = fmin(low, t->height_m[i]);
    high = fmax(high, t->height_m[i]);
  }
  box->low.z = low;
  box->high.z = high + r->above_ground_m + r->depth_m;
}

static TlStatus place_all(Box *box) {
  bool found = true;
  TL_TRY(tl_sizes_draw(box->place, &box->grain, &box->count));
  TL_TRY(TL_NEW(box->placed, (size_t)box->count));
  TL_TRY(TL_NEW(box->turn, (size_t)box->count));
  bound(box);
  TL_TRY(tl_obstacles_open(&box->bodies, box->place));
  TL_TRY(open_bins(box));
  while (found && box->done < box->count) TL_TRY(place_one(box, &found));
  return found ? TL_OK : full(box);
}

static TlStatus add_grain(void *context, int64_t number, TlBodies *bodies) {
  const Box *box = context;
  TlColliders *c = &bodies->colliders;
  int64_t i, part;
  TL_TRY(tl_bodies_add(bodies, number, 0, &i));
  part = bodies->first[i];
  c->avatar_id[part] = box->grain[number].avatar_id;
  c->scale[part] = box->grain[number].scale;
  c->material[part] = box->grain[number].material;
  bodies->position[i] = box->placed[number].position;
  bodies->rotation[i] = box->turn[number];
  bodies->velocity[i] = tl_vec3_of(box->place->setup->release.velocity_m_s);
  return TL_OK;
}

TlStatus tl_drawn_make(const TlPlace *place, TlBodies *bodies) {
  Box box = {.place = place,
             .avatars = {.catalog = place->selection->catalog,
                         .shapes = place->shapes,
                         .shared = place->shapes->shared}};
  TlStatus status = tl_comm_rank(place->comm) == 0 ? place_all(&box) : TL_OK;
  status = tl_comm_agree(place->comm, status);
  if (status == TL_OK) status = tl_hand_out(place->comm, box.count, add_grain, &box, bodies);
  tl_avatars_free(&box.avatars);
  tl_obstacles_close(&box.bodies);
  tl_free(box.grain);
  tl_free(box.placed);
  tl_free(box.turn);
  tl_free(box.bins.head);
  tl_free(box.bins.next);
  return status;
}
