#include "post/overlap_ground.h"

#include "post/overlap_terrain.h"
#include "shape/terrain_depth.h"

#include <math.h>

const char *const tl_overlap_test_name[] = {"closed form", "separating axes", "samples"};

int64_t tl_overlap_boundaries(const TlScene *scene) {
  return scene->has_terrain + scene->plane_count + scene->part_count;
}

/* A plane of the scene (part NULL), or a part of a wall where it is. */
typedef struct Solid {
  const TlPlane *plane;
  const TlWallPart *part;
  const TlPlacement *place;
} Solid;

static double solid_phi(const Solid *s, TlVec3 p) {
  if (s->plane) return tl_dot(tl_sub(p, s->plane->point_m), s->plane->normal);
  return tl_part_phi(s->part, s->place, p);
}

static TlVec3 solid_normal(const Solid *s, TlVec3 p, double step) {
  if (s->plane) return s->plane->normal;
  double g[3];
  for (int k = 0; k < 3; k++) {
    TlVec3 e = tl_vec3(k == 0 ? step : 0, k == 1 ? step : 0, k == 2 ? step : 0);
    g[k] = solid_phi(s, tl_add(p, e)) - solid_phi(s, tl_sub(p, e));
  }
  return tl_unit(tl_vec3(g[0], g[1], g[2]));
}

static double phi_of_solid(const void *context, TlVec3 p, double reach, TlVec3 *normal) {
  const Solid *s = context;
  (void)reach;
  double phi = solid_phi(s, p);
  if (normal) *normal = solid_normal(s, p, 1e-6 * fabs(phi) + 1e-12);
  return phi;
}

/* The box of a wall relative to a world point. */
static TlConvex box_of(const Solid *s, TlVec3 from) {
  TlMat3 turn;
  const double *size = s->part->size_m;
  TlConvex box = tl_convex_box(tl_scale(0.5, tl_vec3(size[0], size[1], size[2])));
  for (int k = 0; k < 3; k++) {
    TlVec3 e = tl_part_direction_back(s->part, s->place, tl_vec3(k == 0, k == 1, k == 2));
    turn.m[0][k] = e.x, turn.m[1][k] = e.y, turn.m[2][k] = e.z;
  }
  return tl_convex_placed(&box, 1, turn, tl_sub(tl_placed(s->place, s->part->centre), from));
}

static TlStatus in_solid(const Solid *s, const TlOverlapBody *body, TlOverlapDepth *deepest,
                         TlOverlapTest *test) {
  const TlVec3 centre = body->row->position_m;
  const double r = body->row->scale * body->shape->radius_m, far = solid_phi(s, centre);
  const bool box = s->part && s->part->kind == TL_PART_BOX;
  if (!(far < body->radius_m)) return TL_OK;
  if (body->shape->form == TL_OVERLAP_BALL) {
    *test = TL_OVERLAP_CLOSED;
    TlVec3 n = solid_normal(s, centre, 1e-6 * r);
    tl_overlap_take(deepest, r - far, tl_axpy(centre, -0.5 * (r + far), n), n);
    return TL_OK;
  }
  /* The depth below a plane, or outside a tube, is largest at a vertex. */
  const bool vertices = !s->part || s->part->kind == TL_PART_PLANE || s->part->kind == TL_PART_TUBE;
  if (body->shape->form == TL_OVERLAP_CONVEX && (vertices || box)) {
    *test = TL_OVERLAP_AXES;
    for (int k = 0; k < body->shape->parts; k++) {
      TlConvex part = tl_overlap_part(body, k, centre);
      for (int i = 0; vertices && i < part.vertices; i++) {
        TlVec3 p = tl_add(centre, part.vertex[i]);
        double phi = solid_phi(s, p);
        if (-phi > deepest->depth_m)
          tl_overlap_take(deepest, -phi, p, solid_normal(s, p, 1e-6 * body->radius_m));
      }
      if (vertices) continue;
      TlVec3 n, p;
      TlConvex wall = box_of(s, centre);
      double depth = tl_convex_depth(&part, &wall, &n, &p);
      if (depth > 0) tl_overlap_take(deepest, depth, tl_add(centre, p), n);
    }
    return TL_OK;
  }
  *test = TL_OVERLAP_SAMPLES;
  const TlOverlapAgainst against = {s, phi_of_solid};
  TL_TRY(tl_overlap_deepest(body, &against, deepest));
  if (!box) return TL_OK;
  TlConvex wall = box_of(s, centre);
  for (int e = 0; e < wall.edges; e++)
    tl_overlap_line(body, tl_add(centre, wall.vertex[wall.edge[e][0]]),
                    tl_add(centre, wall.vertex[wall.edge[e][1]]), deepest);
  return TL_OK;
}

static TlStatus in_terrain(const TlTerrain *t, const TlOverlapBody *body, TlOverlapDepth *deepest,
                           TlOverlapTest *test) {
  const TlVec3 c = body->row->position_m;
  double z;
  if (body->shape->form == TL_OVERLAP_BALL) {
    *test = TL_OVERLAP_CLOSED;
    if (!tl_overlap_ground_height(t, c.x, c.y, &z)) return TL_OK;
    double r = body->row->scale * body->shape->radius_m, above = c.z - z;
    TlVec3 nearest = tl_vec3(c.x, c.y, z), n = {0, 0, 1};
    double reach = above > 0 ? fmin(above, r) : -above, far = fabs(above), d;
    d = tl_overlap_ground_distance(t, c, reach, &nearest);
    if (d < far) far = d;
    if (far > 0) n = tl_scale((above > 0 ? 1 : -1) / far, tl_sub(c, nearest));
    double signed_far = above > 0 ? far : -far;
    tl_overlap_take(deepest, r - signed_far, tl_axpy(c, -0.5 * (r + signed_far), n), n);
    return TL_OK;
  }
  *test = TL_OVERLAP_SAMPLES;
  const TlOverlapAgainst against = tl_overlap_against_terrain(t);
  TL_TRY(tl_overlap_deepest(body, &against, deepest));
  tl_overlap_creases(t, body, deepest);
  return TL_OK;
}

/* Boundary b of the scene; false: the terrain. */
static bool solid_of(const TlScene *scene, const TlPlacement *place, int64_t b, Solid *s) {
  int64_t plane = b - scene->has_terrain, part = plane - scene->plane_count;
  if (plane < 0) return false;
  *s = part < 0 ? (Solid){.plane = &scene->planes[plane]}
                : (Solid){.part = &scene->parts[part], .place = &place[part]};
  return true;
}

TlStatus tl_overlap_boundary(const TlScene *scene, const TlPlacement *place, int64_t b,
                             const TlOverlapBody *body, TlOverlapDepth *deepest,
                             TlOverlapTest *test) {
  Solid solid;
  return solid_of(scene, place, b, &solid) ? in_solid(&solid, body, deepest, test)
                                           : in_terrain(&scene->terrain, body, deepest, test);
}

double tl_overlap_boundary_nodes(const TlScene *scene, const TlPlacement *place, int64_t b,
                                 const TlOverlapBody *body) {
  const TlBodyRow *row = body->row;
  const TlAvatar *a = body->shape->avatar;
  Solid solid;
  double deepest = 0;
  if (!solid_of(scene, place, b, &solid))
    return tl_terrain_sunk(&scene->terrain, a, row->scale, row->position_m, row->rotation).depth_m;
  for (int32_t n = 0; n < a->node_count; n++) {
    const float *x = a->node_m + 3 * (size_t)n;
    TlVec3 p =
        tl_axpy(row->position_m, row->scale, tl_mat_vec(body->turn, tl_vec3(x[0], x[1], x[2])));
    deepest = fmax(deepest, -solid_phi(&solid, p));
  }
  return deepest;
}
