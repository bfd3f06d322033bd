#include "run/bodies.h"

#include "run/materials.h"

#include <stdio.h>

int64_t tl_placed_count(const TlSetup *setup) {
  const TlBodySetup *b = setup->bodies.items;
  int64_t count = 0;
  for (int64_t i = 0; i < setup->bodies.count; i++) count += b[i].count;
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

TlVec3 tl_placed_momentum(const TlBodyState *state, const TlGrainRow *row, double density,
                          TlVec3 spin) {
  double s2 = state->scale * state->scale, s5 = s2 * s2 * state->scale;
  TlMat3 r = tl_quat_matrix(state->rotation);
  TlVec3 w = tl_mat_tvec(r, spin), i = tl_scale(density * s5, row->inertia_m5);
  return tl_mat_vec(r, tl_vec3(i.x * w.x, i.y * w.y, i.z * w.z));
}

static TlBodyState state_of(const TlBodySetup *b, const TlGrainRow *row, double density) {
  double rad = M_PI / 180;
  TlQuat turn = tl_quat_from_rotation(tl_scale(rad, tl_vec3_of(b->turn_deg)));
  TlBodyState state = {.avatar_id = row->id,
                       .scale = b->scale,
                       .rotation = tl_quat_unit(tl_quat_mul(turn, row->scan_rotation)),
                       .velocity = tl_vec3_of(b->velocity_m_s),
                       .flags = b->fixed ? TL_BODY_FROZEN : 0};
  state.momentum = tl_placed_momentum(&state, row, density, tl_vec3_of(b->spin_rad_s));
  return state;
}

/* Of body i's row, those that fall into [low, high) of all, its first being number `first`. */
static TlStatus make_row(const TlPlace *place, int64_t i, int64_t first, int64_t low, int64_t high,
                         int64_t first_id, TlBodies *bodies) {
  const TlBodySetup *b = (const TlBodySetup *)place->setup->bodies.items + i;
  TlGrainRow row;
  TL_TRY(row_of(place, i, &row));
  int32_t material = tl_material_of_body(place->setup, i);
  TlBodyState state = state_of(b, &row, tl_material_density(place->setup, material));
  state.material = material;
  for (int64_t k = 0; k < b->count; k++) {
    if (first + k < low || first + k >= high) continue;
    state.id = first_id + first + k;
    state.position = tl_axpy(tl_vec3_of(b->position_m), (double)k, tl_vec3_of(b->step_m));
    TL_TRY(tl_bodies_add(bodies, &state));
  }
  return TL_OK;
}

TlStatus tl_placed_make(const TlPlace *place, int64_t first_id, TlBodies *bodies) {
  int64_t n = tl_placed_count(place->setup), me = tl_comm_rank(place->comm),
          ranks = tl_comm_size(place->comm), first = 0;
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < place->setup->bodies.count; i++) {
    status = make_row(place, i, first, n * me / ranks, n * (me + 1) / ranks, first_id, bodies);
    first += ((const TlBodySetup *)place->setup->bodies.items)[i].count;
  }
  return tl_comm_agree(place->comm, status);
}
