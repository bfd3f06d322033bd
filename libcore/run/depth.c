#include "run/depth.h"

#include "base/mem.h"
#include "run/run.h"
#include "store/scene_depth.h"

#include <math.h>

static bool counts(const TlBodies *b, int64_t i) {
  return !(b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED));
}

static TlStatus judge(TlRun *run, const TlScene *scene, const TlPlacement *place,
                      TlDepths *depths) {
  const TlColliders *c = &run->state->dem.bodies.colliders;
  for (int64_t i = 0; i < c->owned; i++) {
    if (!counts(&run->state->dem.bodies, c->body[i])) continue;
    const TlAvatar *a = tl_avatars_get(&run->model->avatars, c->avatar_id[i]);
    if (!a) return TL_EINPUT;
    const TlBodyRow row = {
        .scale = c->scale[i], .position_m = c->position[i], .rotation = c->rotation[i]};
    tl_depths_add(depths, c->body_id[i], 0.5 * row.scale * tl_avatar_diameter_m(a),
                  tl_scene_grain_depth(scene, place, a, &row));
  }
  return TL_OK;
}

TlStatus tl_run_depth(TlRun *run, TlRunDepth *depth) {
  const TlScene scene = {.step_s = run->model->setup.time.dt_s,
                         .has_terrain = run->model->has_terrain,
                         .terrain = run->model->terrain,
                         .plane_count = run->model->setup.planes.count,
                         .planes = run->model->planes,
                         .part_count = run->model->walls.count,
                         .parts = run->model->walls.part};
  const TlFrame now = {.step = run->state->totals.steps};
  TlPlacement *place;
  *depth = (TlRunDepth){.there = scene.has_terrain || scene.plane_count + scene.part_count > 0};
  if (!depth->there) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(place, (size_t)scene.part_count)));
  for (int64_t i = 0; i < scene.part_count; i++)
    place[i] = tl_scene_place(&scene, &scene.parts[i], &now);
  TlDepths mine = {0};
  TlStatus status = tl_comm_agree(run->comm, judge(run, &scene, place, &mine));
  tl_free(place);
  TL_TRY(status);
  depth->fraction = mine.fraction;
  int64_t count[2] = {mine.deep, mine.unjudged};
  TL_TRY(tl_comm_sum_int(run->comm, count, 2));
  depth->deep = count[0];
  depth->unjudged = count[1];
  return tl_comm_most(run->comm, &depth->fraction, 1);
}

TlStatus tl_run_small(const TlRun *run, int64_t *small) {
  const TlBodies *b = &run->state->dem.bodies;
  double cell = run->model->has_terrain ? run->model->terrain.cell_m : 0,
         least = M_PI / 6 * pow(cell, 3) * tl_setup_solver(&run->model->setup).density_kg_m3;
  *small = 0;
  for (int64_t i = 0; i < b->owned; i++)
    *small += counts(b, i) && tl_run_plain_mass(run, i) < least;
  return tl_comm_sum_int(run->comm, small, 1);
}
