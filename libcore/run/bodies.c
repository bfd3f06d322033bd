#include "run/bodies.h"

#include "base/mem.h"
#include "run/apparatus.h"
#include "run/avatars.h"
#include "run/materials.h"
#include "shape/apart.h"

#include <math.h>
#include <stdio.h>

static int64_t ids_of(const TlBodySetup *b) {
  return b->parts.count > 0 ? b->parts.count : 1;
}

int64_t tl_placed_count(const TlSetup *setup) {
  const TlBodySetup *b = setup->bodies.items;
  int64_t count = 0;
  for (int64_t i = 0; i < setup->bodies.count; i++) count += b[i].count * ids_of(&b[i]);
  return count;
}

static TlStatus row_of(const TlPlace *place, int64_t i, TlGrainRow *row) {
  const TlBodySetup *b = (const TlBodySetup *)place->setup->bodies.items + i;
  char path[48], text[512];
  if (b->shape) {
    *row = tl_study_shapes_row(place->shapes, tl_shapes_index(&place->setup->shapes, b->shape));
    return TL_OK;
  }
  TlStatus status = tl_catalog_grain(place->selection->catalog, b->grain, row);
  if (status != TL_EINPUT) return status;
  snprintf(path, sizeof path, "bodies.%lld.grain", (long long)i);
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(place->study, TL_EINPUT, path, "%s", text);
}

TlVec3 tl_placed_momentum(TlQuat rotation, double scale, const TlGrainRow *row, double density,
                          TlVec3 spin) {
  double s2 = scale * scale, s5 = s2 * s2 * scale;
  TlMat3 r = tl_quat_matrix(rotation);
  TlVec3 w = tl_mat_tvec(r, spin), i = tl_scale(density * s5, row->inertia_m5);
  return tl_mat_vec(r, tl_vec3(i.x * w.x, i.y * w.y, i.z * w.z));
}

/* Of a body whose volume is this at scale 1. */
static double scale_of(const TlBodySetup *b, double volume_m3) {
  return b->volume_m3 > 0 ? cbrt(b->volume_m3 / volume_m3) : b->scale;
}

/* At scale 1, as the solver has it. */
static double volume_of(const TlPlace *place, const TlBodySetup *b, const TlGrainRow *row) {
  double volume_m3 = row->volume_m3;
  TlVec3 inertia;
  if (b->shape)
    tl_study_shapes_mass(place->shapes, tl_shapes_index(&place->setup->shapes, b->shape),
                         &volume_m3, &inertia);
  return volume_m3;
}

void tl_placed_size(const TlPlace *place, int64_t i, double *radius_m, double *volume_m3) {
  const TlBodySetup *b = (const TlBodySetup *)place->setup->bodies.items + i;
  TlGrainRow row =
      tl_study_shapes_row(place->shapes, tl_shapes_index(&place->setup->shapes, b->shape));
  double whole = volume_of(place, b, &row), scale = scale_of(b, whole);
  *radius_m = scale * row.radius_m;
  *volume_m3 = scale * scale * scale * whole;
}

static double volume_of_parts(const TlPlace *place, const TlBodySetup *b) {
  const TlPartSetup *part = b->parts.items;
  double sum = 0, volume_m3;
  TlVec3 inertia;
  for (int64_t k = 0; k < b->parts.count; k++) {
    tl_study_shapes_mass(place->shapes, tl_shapes_index(&place->setup->shapes, part[k].shape),
                         &volume_m3, &inertia);
    sum += volume_m3 * part[k].scale * part[k].scale * part[k].scale;
  }
  return sum;
}

/* ---- on the ground ---- */

/* One of the parts, with its place from the body's. */
static TlStatus placed_of(const TlPlace *place, TlAvatarCache *avatars, int64_t avatar_id,
                          double scale, TlVec3 offset, TlQuat turn, TlPlaced *part) {
  const TlAvatar *avatar = tl_avatars_get(avatars, avatar_id);
  if (!avatar) return TL_EINPUT;
  *part = (TlPlaced){.avatar = avatar,
                     .ball_m = tl_study_shapes_ball(place->shapes, avatar_id),
                     .scale = scale,
                     .position = offset,
                     .rotation = tl_quat_matrix(turn)};
  return TL_OK;
}

/* Does no surface point lie in the ground when the body is at this place? */
static bool stands_clear(const TlTerrain *terrain, const TlPlaced *part, int64_t parts, TlVec3 at) {
  for (int64_t k = 0; k < parts; k++)
    for (int32_t i = 0; i < tl_placed_points(&part[k]); i++) {
      double beyond, phi;
      TlVec3 x = tl_add(at, tl_placed_point(&part[k], i, &beyond));
      if (tl_terrain_phi(terrain, x, &phi, NULL) != TL_TERRAIN_OUTSIDE && phi < beyond)
        return false;
    }
  return true;
}

/* The height at which body i touches the ground at (x, y), plus what its key says. What stands clear
 * stands so at any height above: bisected, to a millionth of the body's reach. */
static TlStatus set_down(const TlPlace *place, int64_t i, const TlPlaced *part, int64_t parts,
                         TlVec3 *at) {
  const TlBodySetup *b = (const TlBodySetup *)place->setup->bodies.items + i;
  double ground, reach = 0, low, high;
  char path[48];
  snprintf(path, sizeof path, "bodies.%lld.position_m", (long long)i);
  if (!tl_terrain_height(place->terrain, at->x, at->y, &ground, NULL))
    return tl_study_fail(place->study, TL_EINPUT, path,
                         "there is no terrain at x = %.10g, y = %.10g m (east %.10g, north %.10g) "
                         "to set the body down on",
                         at->x, at->y, at->x + place->terrain->origin[0],
                         at->y + place->terrain->origin[1]);
  for (int64_t k = 0; k < parts; k++)
    reach = fmax(reach, tl_norm(part[k].position) + tl_placed_radius(&part[k]));
  low = ground - reach;
  high = ground + reach;
  for (int turn = 0; stands_clear(place->terrain, part, parts, tl_vec3(at->x, at->y, low));
       turn++) {
    enum { DEEP = 1000 };
    if (turn == DEEP)
      return tl_study_fail(place->study, TL_EINPUT, path,
                           "no part of the body is over the terrain");
    low -= reach;
  }
  while (!stands_clear(place->terrain, part, parts, tl_vec3(at->x, at->y, high))) high += reach;
  while (high - low > 1e-6 * reach) {
    double middle = 0.5 * (low + high);
    if (stands_clear(place->terrain, part, parts, tl_vec3(at->x, at->y, middle)))
      high = middle;
    else
      low = middle;
  }
  at->z = high + b->above_ground_m;
  return TL_OK;
}

/* ---- bodies ---- */

/* The arrays hold what the row says of body i's motion: its position and turn are those of the
 * row's own frame. */
static void take_motion(const TlBodySetup *b, TlVec3 position, TlBodies *bodies, int64_t i) {
  bodies->position[i] = position;
  bodies->rotation[i] = tl_quat_from_rotation(tl_scale(M_PI / 180, tl_vec3_of(b->turn_deg)));
  bodies->velocity[i] = tl_vec3_of(b->velocity_m_s);
  bodies->flags[i] = b->fixed ? TL_BODY_FROZEN | TL_BODY_FIXED : 0;
}

/* A body with parts; part k has the id `id` + k. */
static TlStatus make_parts(const TlPlace *place, int64_t number, TlAvatarCache *avatars,
                           TlBodies *bodies, TlVec3 position, int64_t id) {
  const TlBodySetup *b = (const TlBodySetup *)place->setup->bodies.items + number;
  const TlPartSetup *setup = b->parts.items;
  TlColliders *c = &bodies->colliders;
  size_t n = (size_t)b->parts.count;
  double whole = scale_of(b, volume_of_parts(place, b)), *mass = NULL;
  TlPlaced *placed = NULL;
  TlVec3 *inertia = NULL;
  int64_t i;
  TL_TRY(tl_bodies_add(bodies, id, (int32_t)n, &i));
  take_motion(b, position, bodies, i);
  TlStatus status = TL_NEW(placed, n);
  if (status == TL_OK) status = TL_NEW(mass, n);
  if (status == TL_OK) status = TL_NEW(inertia, n);
  for (size_t k = 0; status == TL_OK && k < n; k++) {
    int64_t at = bodies->first[i] + (int64_t)k;
    int64_t shape = tl_shapes_index(&place->setup->shapes, setup[k].shape);
    TlGrainRow row = tl_study_shapes_row(place->shapes, shape);
    TlQuat turn = tl_quat_from_rotation(tl_scale(M_PI / 180, tl_vec3_of(setup[k].turn_deg)));
    double scale = whole * setup[k].scale, scale3 = scale * scale * scale, volume;
    c->avatar_id[at] = row.id;
    c->scale[at] = scale;
    c->material[at] = tl_material_of_part(place->setup, number, (int64_t)k);
    c->offset[at] = tl_scale(whole, tl_vec3_of(setup[k].position_m));
    c->turn[at] = tl_quat_unit(tl_quat_mul(turn, row.scan_rotation));
    double density = tl_material_density(place->setup, c->material[at]);
    tl_study_shapes_mass(place->shapes, shape, &volume, &inertia[k]);
    mass[k] = density * scale3 * volume;
    inertia[k] = tl_scale(density * scale3 * scale * scale, inertia[k]);
    status =
        placed_of(place, avatars, row.id, scale, tl_quat_rotate(bodies->rotation[i], c->offset[at]),
                  tl_quat_mul(bodies->rotation[i], c->turn[at]), &placed[k]);
  }
  if (status == TL_OK && b->above_ground_m >= 0)
    status = set_down(place, number, placed, (int64_t)n, &bodies->position[i]);
  if (status == TL_OK) tl_bodies_frame(bodies, i, tl_vec3_of(b->spin_rad_s), mass, inertia);
  tl_free(placed);
  tl_free(mass);
  tl_free(inertia);
  return status;
}

/* A body of one shape, whose frame the row turns. */
static TlStatus make_grain(const TlPlace *place, int64_t number, TlAvatarCache *avatars,
                           TlBodies *bodies, TlVec3 position, int64_t id, const TlGrainRow *row) {
  const TlBodySetup *b = (const TlBodySetup *)place->setup->bodies.items + number;
  TlColliders *c = &bodies->colliders;
  TlPlaced placed;
  int64_t i, at;
  TL_TRY(tl_bodies_add(bodies, id, 0, &i));
  at = bodies->first[i];
  c->avatar_id[at] = row->id;
  c->scale[at] = scale_of(b, volume_of(place, b, row));
  c->material[at] = tl_material_of_body(place->setup, number);
  take_motion(b, position, bodies, i);
  TlQuat rotation = tl_quat_unit(tl_quat_mul(bodies->rotation[i], row->scan_rotation));
  bodies->rotation[i] = rotation;
  bodies->momentum[i] = tl_placed_momentum(rotation, c->scale[at], row,
                                           tl_material_density(place->setup, c->material[at]),
                                           tl_vec3_of(b->spin_rad_s));
  if (b->above_ground_m < 0) return TL_OK;
  TL_TRY(placed_of(place, avatars, row->id, c->scale[at], tl_vec3(0, 0, 0), rotation, &placed));
  return set_down(place, number, &placed, 1, &bodies->position[i]);
}

/* Of body i's row, those whose ids fall into [low, high) of all, its first being number `first`. */
static TlStatus make_row(const TlPlace *place, int64_t i, TlAvatarCache *avatars, int64_t first,
                         int64_t low, int64_t high, int64_t first_id, TlBodies *bodies) {
  const TlBodySetup *b = (const TlBodySetup *)place->setup->bodies.items + i;
  TlGrainRow row;
  if (b->parts.count == 0) TL_TRY(row_of(place, i, &row));
  for (int64_t k = 0; k < b->count; k++) {
    int64_t number = first + k * ids_of(b), id = first_id + number;
    if (number < low || number >= high) continue;
    TlVec3 position = tl_axpy(tl_vec3_of(b->position_m), (double)k, tl_vec3_of(b->step_m));
    if (b->parts.count > 0)
      TL_TRY(make_parts(place, i, avatars, bodies, position, id));
    else
      TL_TRY(make_grain(place, i, avatars, bodies, position, id, &row));
  }
  return TL_OK;
}

TlStatus tl_placed_make(const TlPlace *place, int64_t first_id, TlBodies *bodies) {
  int64_t n = tl_placed_count(place->setup), me = tl_comm_rank(place->comm),
          ranks = tl_comm_size(place->comm), first = 0;
  const TlBodySetup *b = place->setup->bodies.items;
  TlAvatarCache avatars = {.catalog = place->selection->catalog,
                           .shapes = place->shapes,
                           .shared = place->shapes->shared};
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < place->setup->bodies.count; i++) {
    status =
        make_row(place, i, &avatars, first, n * me / ranks, n * (me + 1) / ranks, first_id, bodies);
    first += b[i].count * ids_of(&b[i]);
  }
  tl_avatars_free(&avatars);
  return tl_comm_agree(place->comm, status);
}

/* ---- obstacles ---- */

static void take_part(const TlObstacles *o, const TlBodies *b, int64_t collider, TlPlaced *part) {
  const TlColliders *c = &b->colliders;
  int64_t body = c->body[collider];
  TlVec3 offset = tl_vec3(0, 0, 0);
  TlQuat turn = b->rotation[body];
  if (b->parts[body] > 0) {
    offset = tl_quat_rotate(turn, c->offset[collider]);
    turn = tl_quat_unit(tl_quat_mul(turn, c->turn[collider]));
  }
  part->ball_m = tl_study_shapes_ball(o->avatars.shapes, c->avatar_id[collider]);
  part->scale = c->scale[collider];
  part->position = tl_add(b->position[body], offset);
  part->rotation = tl_quat_matrix(turn);
}

static TlStatus make_obstacles(TlObstacles *o, const TlPlace *place, TlBodies *bodies) {
  size_t capacity = 0, parts = 0;
  for (int64_t i = 0; i < place->setup->bodies.count; i++) {
    TL_TRY(make_row(place, i, &o->avatars, 0, 0, INT64_MAX, 0, bodies));
    TL_TRY(TL_RESERVE(o->body, capacity, (size_t)bodies->colliders.owned));
    while (parts < (size_t)bodies->colliders.owned) o->body[parts++] = i;
  }
  TL_TRY(TL_NEW(o->part, parts));
  for (size_t k = 0; k < parts; k++) {
    o->part[k].avatar = tl_avatars_get(&o->avatars, bodies->colliders.avatar_id[k]);
    if (!o->part[k].avatar) return TL_EINPUT;
    take_part(o, bodies, (int64_t)k, &o->part[k]);
  }
  o->count = (int64_t)parts;
  return TL_OK;
}

TlStatus tl_obstacles_open(TlObstacles *o, const TlPlace *place) {
  TlBodies bodies = {0};
  *o = (TlObstacles){.avatars = {.catalog = place->selection->catalog,
                                 .shapes = place->shapes,
                                 .shared = place->shapes->shared}};
  if (tl_setup_apparatus(place->setup)) return TL_OK; /* its bodies bound the region themselves */
  TlStatus status = make_obstacles(o, place, &bodies);
  tl_bodies_free(&bodies);
  return status;
}

void tl_obstacles_close(TlObstacles *o) {
  tl_avatars_free(&o->avatars);
  tl_free(o->part);
  tl_free(o->body);
  *o = (TlObstacles){0};
}
