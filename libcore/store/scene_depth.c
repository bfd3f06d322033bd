#include "store/scene_depth.h"

#include "shape/terrain_depth.h"

#include <math.h>

TlGrainDepth tl_scene_grain_depth(const TlScene *scene, const TlPlacement *place, const TlAvatar *a,
                                  const TlBodyRow *row) {
  TlGrainDepth depth = {.judged = true};
  if (scene->has_terrain) {
    TlSunk sunk = tl_terrain_sunk(&scene->terrain, a, row->scale, row->position_m, row->rotation);
    depth = (TlGrainDepth){sunk.depth_m, sunk.judged > 0};
  }
  if (scene->plane_count + scene->part_count == 0) return depth;
  TlMat3 turn = tl_quat_matrix(row->rotation);
  for (int32_t n = 0; n < a->node_count; n++) {
    const float *x = a->node_m + 3 * (size_t)n;
    TlVec3 p = tl_axpy(row->position_m, row->scale, tl_mat_vec(turn, tl_vec3(x[0], x[1], x[2])));
    for (int64_t i = 0; i < scene->plane_count; i++)
      depth.depth_m = fmax(depth.depth_m,
                           -tl_dot(tl_sub(p, scene->planes[i].point_m), scene->planes[i].normal));
    for (int64_t i = 0; i < scene->part_count; i++)
      depth.depth_m = fmax(depth.depth_m, -tl_part_phi(&scene->parts[i], &place[i], p));
  }
  return depth;
}
