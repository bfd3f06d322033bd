#include "shape/terrain_depth.h"

#include "shape/heightfield.h"

#include <math.h>

static TlHeightfield field_of(const TlTerrain *t) {
  return (TlHeightfield){t->nx, t->ny, t->height_m, 1 / t->cell_m};
}

double tl_terrain_depth(const TlTerrain *t, TlVec3 point, double least) {
  TlHeightfield field = field_of(t);
  TlVec3 p = tl_terrain_in_cells(t, point);
  TlPatch patch;
  double u, v;
  if (!tl_heightfield_locate(&field, p.x, p.y, &patch, &u, &v)) return NAN;
  /* The ground straight above is a point of the surface: no distance is larger. */
  double below = patch.a + patch.b * u + patch.c * v + patch.d * u * v - p.z;
  if (!(below > 0) || below * t->cell_m <= least) return 0;
  double depth = t->cell_m * fmin(below, tl_heightfield_distance(&field, p, below));
  return depth > least ? depth : 0;
}

/* True if every patch within `reach` of (x, y) is there and lies below z; all in cells. */
static bool clear_above(const TlHeightfield *f, TlVec3 p, double reach) {
  double x0 = floor(p.x - reach), x1 = floor(p.x + reach);
  double y0 = floor(p.y - reach), y1 = floor(p.y + reach);
  if (!(x0 >= 0 && y0 >= 0 && x1 <= (double)(f->nx - 2) && y1 <= (double)(f->ny - 2))) return false;
  for (int64_t j = (int64_t)y0; j <= (int64_t)y1 + 1; j++)
    for (int64_t i = (int64_t)x0; i <= (int64_t)x1 + 1; i++)
      if (!(f->per_metre * (double)f->height[j * f->nx + i] <= p.z - reach)) return false;
  return true;
}

/* Of a ball, in cells; false: it reaches beyond the ground. */
static bool ball_depth(const TlHeightfield *f, TlVec3 centre, double radius, double *depth) {
  TlPatch patch;
  double u, v;
  for (int k = -1; k <= 1; k += 2)
    if (!tl_heightfield_locate(f, centre.x + k * radius, centre.y, &patch, &u, &v) ||
        !tl_heightfield_locate(f, centre.x, centre.y + k * radius, &patch, &u, &v))
      return false;
  if (!tl_heightfield_locate(f, centre.x, centre.y, &patch, &u, &v)) return false;
  double above = centre.z - (patch.a + patch.b * u + patch.c * v + patch.d * u * v);
  double distance = tl_heightfield_distance(f, centre, fabs(above));
  *depth = fmax(0, radius - copysign(fmin(fabs(above), distance), above));
  return true;
}

TlSunk tl_terrain_sunk(const TlTerrain *t, const TlAvatar *a, double scale, TlVec3 centre,
                       TlQuat rotation) {
  TlHeightfield field = field_of(t);
  TlSunk sunk = {.nodes = a->node_count};
  if (clear_above(&field, tl_terrain_in_cells(t, centre), scale * a->radius_m / t->cell_m)) {
    sunk.judged = sunk.nodes;
    return sunk;
  }
  double radius, deep;
  if (tl_avatar_is_ball(a, &radius) &&
      ball_depth(&field, tl_terrain_in_cells(t, centre), scale * radius / t->cell_m, &deep)) {
    sunk.judged = sunk.nodes;
    sunk.depth_m = t->cell_m * deep;
    return sunk;
  }
  TlMat3 turn = tl_quat_matrix(rotation);
  for (int32_t n = 0; n < a->node_count; n++) {
    const float *x = a->node_m + 3 * (size_t)n;
    TlVec3 p = tl_axpy(centre, scale, tl_mat_vec(turn, tl_vec3(x[0], x[1], x[2])));
    double depth = tl_terrain_depth(t, p, sunk.depth_m);
    if (isnan(depth)) continue;
    sunk.judged++;
    sunk.depth_m = fmax(sunk.depth_m, depth);
  }
  return sunk;
}
