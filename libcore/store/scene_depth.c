#include "store/scene_depth.h"

#include "base/mem.h"
#include "shape/terrain_depth.h"

#include <math.h>

/* Of a point above planes and walls. */
static double least_gap(const TlScene *scene, const TlPlacement *place, TlVec3 p) {
  double least = INFINITY;
  for (int64_t i = 0; i < scene->plane_count; i++)
    least = fmin(least, tl_dot(tl_sub(p, scene->planes[i].point_m), scene->planes[i].normal));
  for (int64_t i = 0; i < scene->part_count; i++)
    least = fmin(least, tl_part_phi(&scene->parts[i], &place[i], p));
  return least;
}

TlGrainDepth tl_scene_grain_depth(const TlScene *scene, const TlPlacement *place, const TlAvatar *a,
                                  const TlBodyRow *row) {
  TlGrainDepth depth = {.judged = true};
  if (scene->has_terrain) {
    TlSunk sunk = tl_terrain_sunk(&scene->terrain, a, row->scale, row->position_m, row->rotation);
    depth = (TlGrainDepth){sunk.depth_m, sunk.judged > 0};
  }
  if (scene->plane_count + scene->part_count == 0) return depth;
  double radius;
  if (tl_avatar_is_ball(a, &radius)) {
    depth.depth_m =
        fmax(depth.depth_m, row->scale * radius - least_gap(scene, place, row->position_m));
    return depth;
  }
  TlMat3 turn = tl_quat_matrix(row->rotation);
  for (int32_t n = 0; n < a->node_count; n++) {
    const float *x = a->node_m + 3 * (size_t)n;
    TlVec3 p = tl_axpy(row->position_m, row->scale, tl_mat_vec(turn, tl_vec3(x[0], x[1], x[2])));
    depth.depth_m = fmax(depth.depth_m, -least_gap(scene, place, p));
  }
  return depth;
}

void tl_depths_add(TlDepths *d, int64_t grain, double radius_m, TlGrainDepth depth) {
  double fraction = depth.depth_m / radius_m;
  d->unjudged += !depth.judged;
  d->deep += fraction > tl_deep_fraction;
  d->depth_m = fmax(d->depth_m, depth.depth_m);
  if (fraction <= d->fraction) return;
  d->fraction = fraction;
  d->deepest = grain;
}

TlStatus tl_scene_depths(const TlScene *scene, const TlFrame *frame, TlDepths *d) {
  TlPlacement *place;
  TlStatus status = TL_OK;
  *d = (TlDepths){0};
  if (!scene->has_terrain && scene->plane_count + scene->part_count == 0) return TL_OK;
  TL_TRY(TL_NEW(place, (size_t)scene->part_count));
  for (int64_t i = 0; i < scene->part_count; i++)
    place[i] = tl_scene_place(scene, &scene->parts[i], frame);
  for (int64_t i = 0; status == TL_OK && i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    if (row->flags & (TL_ROW_FROZEN | TL_ROW_NO_GRAIN)) continue;
    const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
    if (!a)
      status = tl_fail(TL_EINPUT, "body %lld uses avatar %lld, which is not in run.h5",
                       (long long)row->id, (long long)row->avatar_id);
    else
      tl_depths_add(d, row->id, 0.5 * row->scale * tl_avatar_diameter_m(a),
                    tl_scene_grain_depth(scene, place, a, row));
  }
  tl_free(place);
  return status;
}
