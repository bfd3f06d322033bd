#include "contact/wall_places.h"

#include "base/mem.h"
#include "model/place_shape.h"
#include "model/shapes.h"

#include <math.h>

enum { ROUNDS = 8 };
static const double TOLERANCE = 1e-4; /* of the radius: what a round may still gain */
static const double FLAT = 0.3;       /* least curvature over 1/radius */
static const double COVER = 0.2; /* node spacings: a surface comes no farther below its nodes */
static const double BENT = 1e-3; /* of the radius: differences that tell how a boundary bends */
/* What a surface comes farther below its nodes at a wall that bends away, of a node spacing squared over its radius. */
static const double ROUND = 0.25;
static const double LONGEST = 0.7; /* node spacings: longest step of a search */

/* What a look at one point of the body frame, at unit scale, says. */
typedef struct Look {
  TlVec3 x, n, wall; /* n: the boundary's normal, there and in the world */
  TlVec3 step;       /* to the least value of F's parabola, half-way between the surfaces */
  double f, gain;    /* F, and what it falls by on that step */
} Look;

/* Second derivatives of the boundary's phi in directions u and v of the body frame, by differences of its normal. */
static bool bends_of(const TlShape *shape, const TlPose *pose, const TlBoundary *boundary, TlVec3 x,
                     TlVec3 u, TlVec3 v, double bend[3]) {
  double step = BENT * shape->radius_m, phi;
  TlVec3 along[2] = {u, v}, change[2];
  for (int k = 0; k < 2; k++) {
    TlVec3 up, down;
    if (!tl_boundary_phi(boundary, tl_posed(pose, tl_axpy(x, step, along[k])), &phi, &up) ||
        !tl_boundary_phi(boundary, tl_posed(pose, tl_axpy(x, -step, along[k])), &phi, &down))
      return false;
    change[k] = tl_mat_tvec(pose->r, tl_scale(0.5 / step, tl_sub(up, down)));
  }
  bend[0] = tl_dot(u, change[0]);
  bend[1] = tl_dot(v, change[0]);
  bend[2] = tl_dot(v, change[1]);
  return true;
}

/* Curvatures of both across n, by their amount and not below FLAT/radius: the step leads down. */
static bool look_at(const TlShape *shape, const TlPose *pose, const TlBoundary *boundary, TlVec3 x,
                    Look *look) {
  TlVec3 g;
  TlSym3 h;
  double wall_phi, phi = tl_spline_phi(&shape->place->spline, x, &g, &h);
  if (!tl_boundary_phi(boundary, tl_posed(pose, x), &wall_phi, &look->wall)) return false;
  wall_phi /= pose->scale;
  TlVec3 n = tl_mat_tvec(pose->r, look->wall), u, v;
  tl_tangents(n, &u, &v);
  double bend[3] = {0}, least = FLAT / shape->radius_m;
  if (boundary->kind->exact && boundary->kind != &tl_boundary_plane &&
      !bends_of(shape, pose, boundary, x, u, v, bend))
    return false;
  double uu = bend[0] + tl_dot(u, tl_sym_vec(h, u)), uv = bend[1] + tl_dot(u, tl_sym_vec(h, v)),
         vv = bend[2] + tl_dot(v, tl_sym_vec(h, v));
  double mean = 0.5 * (uu + vv), half = 0.5 * (uu - vv), spread = sqrt(half * half + uv * uv);
  double low = tl_max(fabs(mean - spread), least), high = tl_max(fabs(mean + spread), least);
  double turn = spread > 0 ? 0.5 * (high - low) / spread : 0, middle = 0.5 * (high + low);
  uu = middle + turn * half, vv = middle - turn * half, uv *= turn;
  double gu = tl_dot(g, u), gv = tl_dot(g, v), inverse = 1 / (uu * vv - uv * uv);
  double su = (uv * gv - vv * gu) * inverse, sv = (uv * gu - uu * gv) * inverse;
  double length = sqrt(su * su + sv * sv), most = LONGEST * shape->node_spacing;
  double part = length > most ? most / length : 1;
  look->x = x;
  look->n = n;
  look->f = phi + wall_phi;
  look->gain = -(part - 0.5 * part * part) * (su * gu + sv * gv);
  look->step =
      tl_axpy(tl_add(tl_scale(part * su, u), tl_scale(part * sv, v)), 0.5 * (phi - wall_phi), n);
  return true;
}

/* Down from *x to the least F nearby. False: the boundary ends there. */
static bool descend(const TlShape *shape, const TlPose *pose, const TlBoundary *boundary, TlVec3 *x,
                    double *gap, TlVec3 *normal) {
  Look best, look;
  double part = 1, tolerance = TOLERANCE * shape->radius_m;
  if (!look_at(shape, pose, boundary, *x, &best)) return false;
  for (int round = 1; round < ROUNDS && best.gain > tolerance; round++) {
    if (!look_at(shape, pose, boundary, tl_axpy(best.x, part, best.step), &look)) return false;
    if (look.f <= best.f + tolerance)
      best = look, part = 1;
    else
      part *= 0.4;
  }
  *x = tl_axpy(best.x, part, best.step);
  *gap = best.f - (best.gain <= tolerance ? best.gain : 0);
  *normal = best.wall;
  return true;
}

bool tl_wall_places_serves(const TlShape *shape) {
  return shape->avatar && shape->place && shape->place->near && !shape->place->sharp;
}

/* Radius of a wall that is round outside; 0: another. */
static double round_outside(const TlBoundary *boundary) {
  if (boundary->kind == &tl_boundary_ring) {
    const TlBoundaryRing *g = boundary->data;
    return g->radius_m + g->thickness_m;
  }
  const TlBoundarySolid *solid = boundary->data;
  return boundary->kind == &tl_boundary_solid && solid->kind == &tl_closed_cylinder ? solid->size[0]
                                                                                    : 0;
}

double tl_wall_places_reach(const TlColliders *c, int64_t i, const TlBoundary *boundary) {
  if (!tl_wall_places_serves(c->shape[i])) return 0;
  double spacing = c->shape[i]->node_spacing * c->scale[i], radius = round_outside(boundary);
  return spacing * (radius > 0 ? tl_min(TL_NODE_COVER, COVER + ROUND * spacing / radius) : COVER);
}

/* The nodes that show where the surface is near the end's plane all lie over the end, and so does what is between
 * them. x: the grain's centre in the cylinder's frame; side: 1 or -1, of the end. */
static bool nodes_over_end(const TlShape *shape, double scale, const TlMat3 *turn, TlVec3 x,
                           double side, double radius, double half, double margin) {
  double beside = TL_NODE_COVER * shape->node_spacing * scale, within = radius - beside - margin;
  for (int32_t k = 0; k < shape->node_count; k++) {
    TlVec3 p = tl_axpy(x, scale, tl_mat_vec(*turn, tl_shape_node(shape, k)));
    bool near = side * p.z - half < margin + beside;
    if (near && !(within > 0 && p.x * p.x + p.y * p.y < within * within)) return false;
  }
  return true;
}

bool tl_wall_end(const TlColliders *c, int64_t i, int64_t cylinder, const TlMat3 *turn,
                 const TlMat3 *turn_cylinder, double margin, TlBoundaryPlane *plane) {
  const TlShape *shape = c->shape[cylinder], *grain = c->shape[i];
  if (shape->closed != &tl_closed_cylinder || !tl_wall_places_serves(grain)) return false;
  double radius = shape->size[0] * c->scale[cylinder],
         half = 0.5 * shape->size[1] * c->scale[cylinder];
  TlVec3 x = tl_mat_tvec(*turn_cylinder, tl_sub(c->position[i], c->position[cylinder]));
  double side = x.z > 0 ? 1 : -1, within = radius - c->radius[i] - margin;
  if (!(side * x.z > half)) return false;
  TlMat3 to_cylinder = tl_mat_tmul(*turn_cylinder, *turn);
  if (!(within > 0 && x.x * x.x + x.y * x.y < within * within) &&
      !nodes_over_end(grain, c->scale[i], &to_cylinder, x, side, radius, half, margin))
    return false;
  plane->normal = tl_mat_vec(*turn_cylinder, tl_vec3(0, 0, side));
  plane->point = tl_axpy(c->position[cylinder], half, plane->normal);
  return true;
}

/* A convex grain has one place at most: of what the searches from several nodes found, the deepest. */
static void keep_deepest(size_t first, TlPoints *points) {
  if (points->count == first) return;
  TlPoint *deepest = &points->point[first];
  for (size_t k = first + 1; k < points->count; k++)
    if (tl_point_deeper(&points->point[k], deepest)) *deepest = points->point[k];
  deepest->key = 1;
  points->count = first + 1;
}

TlStatus tl_wall_places(const TlColliders *c, int64_t i, const TlMat3 *turn,
                        const TlBoundary *boundary, const TlWanted *wanted, bool alone, size_t had,
                        TlPoints *points) {
  const TlShape *shape = c->shape[i];
  const TlPlaceShape *place = shape->place;
  size_t count = points->count;
  if (!tl_wall_places_serves(shape) || count == had) return TL_OK;
  TlPose pose = {c->position[i], *turn, c->scale[i]};
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, (size_t)shape->node_count));
  int32_t *found = points->queue;
  for (int32_t k = 0; k < shape->node_count; k++) found[k] = -1;
  for (size_t k = had; k < count; k++) found[points->point[k].key >> 1] = (int32_t)k;
  for (size_t k = had; k < count; k++) {
    int64_t node = points->point[k].key >> 1;
    bool lower = true;
    for (int j = 0; j < TL_PLACE_NEIGHBOURS && lower; j++) {
      int32_t other = place->near[node][j];
      if (other >= 0 && found[other] >= 0)
        lower = !tl_point_deeper(&points->point[found[other]], &points->point[k]);
    }
    TlVec3 x = tl_shape_node(shape, node), n;
    double gap;
    if (!lower || !descend(shape, &pose, boundary, &x, &gap, &n)) continue;
    points->lookups += 2;
    gap *= pose.scale;
    if (!((alone || gap < points->point[k].gap) && gap < wanted->margin)) continue;
    TL_TRY(tl_points_add(
        points,
        (TlPoint){.p = tl_posed(&pose, x), .n = n, .gap = gap, .key = points->point[k].key | 1}));
  }
  size_t kept = had;
  for (size_t k = alone ? count : had; k < points->count; k++)
    if (!(points->point[k].gap >= wanted->margin)) points->point[kept++] = points->point[k];
  points->count = kept;
  if (alone) keep_deepest(had, points);
  return TL_OK;
}
