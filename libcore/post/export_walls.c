#include "post/export_walls.h"

#include "base/mem.h"
#include "io/vtk.h"

#include <math.h>

enum { SIDES = 64 };
static const double MARGIN = 0.25; /* of the diagonal: how far an endless plane is drawn */

/* The part that is being drawn: its frame in the world, and what its triangles say. */
typedef struct Pen {
  TlWallMesh *mesh;
  TlVec3 centre;
  TlMat3 turn;
  int32_t wall, part;
} Pen;

static int64_t point(const Pen *pen, double x, double y, double z) {
  TlVec3 p = tl_add(pen->centre, tl_mat_vec(pen->turn, tl_vec3(x, y, z)));
  double *at = pen->mesh->point + 3 * pen->mesh->points;
  at[0] = p.x, at[1] = p.y, at[2] = p.z;
  return pen->mesh->points++;
}

static void triangle(const Pen *pen, int64_t a, int64_t b, int64_t c) {
  TlWallMesh *m = pen->mesh;
  int64_t *corner = m->corner + 3 * m->triangles;
  corner[0] = a, corner[1] = b, corner[2] = c;
  m->wall[m->triangles] = pen->wall;
  m->part[m->triangles++] = pen->part;
}

static void four_sided(const Pen *pen, const int64_t p[4]) {
  triangle(pen, p[0], p[1], p[2]);
  triangle(pen, p[0], p[2], p[3]);
}

/* ---- kinds, in the part's frame ---- */

static void draw_rectangle(const Pen *pen, double x, double y) {
  const int64_t p[4] = {point(pen, -0.5 * x, -0.5 * y, 0), point(pen, 0.5 * x, -0.5 * y, 0),
                        point(pen, 0.5 * x, 0.5 * y, 0), point(pen, -0.5 * x, 0.5 * y, 0)};
  four_sided(pen, p);
}

static void draw_box(const Pen *pen, const double size[3]) {
  static const int face[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                 {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}}; /* bit a: + along a */
  int64_t at[8];
  for (int i = 0; i < 8; i++)
    at[i] = point(pen, (i & 1 ? 0.5 : -0.5) * size[0], (i & 2 ? 0.5 : -0.5) * size[1],
                  (i & 4 ? 0.5 : -0.5) * size[2]);
  for (int f = 0; f < 6; f++)
    four_sided(pen,
               (const int64_t[4]){at[face[f][0]], at[face[f][1]], at[face[f][2]], at[face[f][3]]});
}

typedef struct Ring {
  double radius, z;
} Ring;

/* Bands between one ring and the next, facing to the left of the direction from ring to ring as seen in
 * the half plane of radius (right) and z (up); a radius of 0 closes the surface there. */
static void draw_round(const Pen *pen, const Ring *ring, int rings) {
  int64_t first = pen->mesh->points;
  for (int k = 0; k < rings; k++)
    for (int i = 0; i < SIDES; i++) {
      double angle = 2 * M_PI * i / SIDES;
      point(pen, ring[k].radius * cos(angle), ring[k].radius * sin(angle), ring[k].z);
    }
  for (int k = 0; k + 1 < rings; k++)
    for (int i = 0; i < SIDES; i++) {
      int64_t a = first + k * SIDES + i, b = first + k * SIDES + (i + 1) % SIDES;
      if (ring[k].radius > 0) triangle(pen, a, b + SIDES, b);
      if (ring[k + 1].radius > 0) triangle(pen, a, a + SIDES, b + SIDES);
    }
}

static void draw_cylinder(const Pen *pen, double radius, double length) {
  double h = 0.5 * length;
  draw_round(pen, (const Ring[4]){{0, h}, {radius, h}, {radius, -h}, {0, -h}}, 4);
}

static void draw_pipe(const Pen *pen, const double size[3]) {
  double in = size[0], out = size[0] + size[2], h = 0.5 * size[1];
  draw_round(pen, (const Ring[5]){{in, -h}, {in, h}, {out, h}, {out, -h}, {in, -h}}, 5);
}

static void draw_plane(Pen *pen, const double size[3], TlVec3 low, TlVec3 high) {
  if (size[2] > 0) {
    draw_round(pen, (const Ring[2]){{0, 0}, {size[2], 0}}, 2);
    return;
  }
  if (size[0] > 0 && size[1] > 0) {
    draw_rectangle(pen, size[0], size[1]);
    return;
  }
  TlVec3 middle = tl_scale(0.5, tl_add(low, high));
  TlVec3 n = tl_mat_vec(pen->turn, tl_vec3(0, 0, 1));
  pen->centre = tl_axpy(middle, -tl_dot(tl_sub(middle, pen->centre), n), n);
  double side = (1 + 2 * MARGIN) * tl_norm(tl_sub(high, low));
  draw_rectangle(pen, side, side);
}

static void draw_part(Pen *pen, const TlWallPart *part, TlVec3 low, TlVec3 high) {
  const double *size = part->size_m;
  switch ((TlPartKind)part->kind) {
  case TL_PART_PLANE:
    draw_plane(pen, size, low, high);
    break;
  case TL_PART_BOX:
    draw_box(pen, size);
    break;
  case TL_PART_CYLINDER:
    draw_cylinder(pen, size[0], size[1]);
    break;
  case TL_PART_TUBE:
    draw_round(pen, (const Ring[2]){{size[0], -0.5 * size[1]}, {size[0], 0.5 * size[1]}}, 2);
    break;
  case TL_PART_RING:
    draw_pipe(pen, size);
    break;
  case TL_PART_KINDS:
    break;
  }
}

/* ---- all of them ---- */

bool tl_walls_any(const TlScene *scene) {
  return scene->part_count > 0 || scene->plane_count > 0;
}

void tl_walls_mesh_free(TlWallMesh *m) {
  tl_free(m->point);
  tl_free(m->corner);
  tl_free(m->wall);
  tl_free(m->part);
  *m = (TlWallMesh){0};
}

/* Space for a pipe, the largest, a part. */
static TlStatus new_mesh(TlWallMesh *m, size_t parts) {
  size_t points = 5 * SIDES * parts, triangles = 8 * SIDES * parts;
  *m = (TlWallMesh){0};
  TL_TRY(TL_NEW(m->point, 3 * points));
  TL_TRY(TL_NEW(m->corner, 3 * triangles));
  TL_TRY(TL_NEW(m->wall, triangles));
  return TL_NEW(m->part, triangles);
}

/* A frame whose z is the normal. */
static TlMat3 facing(TlVec3 n) {
  TlVec3 aside = fabs(n.x) < 0.7 ? tl_vec3(1, 0, 0) : tl_vec3(0, 1, 0);
  TlVec3 x = tl_unit(tl_cross(aside, n)), y = tl_cross(n, x);
  return (TlMat3){{{x.x, y.x, n.x}, {x.y, y.y, n.y}, {x.z, y.z, n.z}}};
}

static Pen pen_at(const TlWallPart *part, const TlPlacement *place, TlWallMesh *mesh) {
  TlVec3 x = tl_part_direction_back(part, place, tl_vec3(1, 0, 0));
  TlVec3 y = tl_part_direction_back(part, place, tl_vec3(0, 1, 0));
  TlVec3 z = tl_part_direction_back(part, place, tl_vec3(0, 0, 1));
  return (Pen){.mesh = mesh,
               .centre = tl_placed(place, part->centre),
               .turn = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}},
               .wall = part->wall};
}

TlStatus tl_walls_mesh(const TlScene *scene, const TlFrame *frame, TlVec3 low, TlVec3 high,
                       TlWallMesh *mesh) {
  TlStatus status = new_mesh(mesh, (size_t)(scene->part_count + scene->plane_count));
  if (status != TL_OK) {
    tl_walls_mesh_free(mesh);
    return status;
  }
  for (int64_t i = 0; i < scene->part_count; i++) {
    TlPlacement place = tl_scene_place(scene, &scene->parts[i], frame);
    if (place.absent) continue;
    Pen pen = pen_at(&scene->parts[i], &place, mesh);
    pen.part = (int32_t)i;
    draw_part(&pen, &scene->parts[i], low, high);
  }
  for (int64_t i = 0; i < scene->plane_count; i++) {
    const TlPlane *plane = &scene->planes[i];
    Pen pen = {mesh, plane->point_m, facing(plane->normal), -1, (int32_t)(scene->part_count + i)};
    draw_plane(&pen, (const double[3]){0, 0, 0}, low, high);
  }
  return TL_OK;
}

TlStatus tl_export_walls(const TlScene *scene, const TlFrame *frame, TlVec3 low, TlVec3 high,
                         const char *path, bool overwrite) {
  TlWallMesh m;
  TL_TRY(tl_walls_mesh(scene, frame, low, high, &m));
  const TlVtkArray array[] = {{"wall", TL_VTK_I32, 1, m.wall}, {"part", TL_VTK_I32, 1, m.part}};
  const TlVtkPoly poly = {.point_count = m.points,
                          .point = m.point,
                          .triangle_count = m.triangles,
                          .triangle = m.corner,
                          .cell_arrays = 2,
                          .cell_array = array,
                          .time_s = frame->time_s};
  TlStatus status = tl_vtk_write_poly(path, overwrite, &poly);
  tl_walls_mesh_free(&m);
  return status;
}
