#include "post/export.h"

#include "base/mem.h"
#include "io/vtk.h"

#include <math.h>

/* ---- terrain: two triangles a cell whose four samples have data ---- */

static bool whole_cell(const TlTerrain *t, int64_t i, int64_t j) {
  const float *h = t->height_m + j * t->nx + i;
  return !isnan(h[0]) && !isnan(h[1]) && !isnan(h[t->nx]) && !isnan(h[t->nx + 1]);
}

/* Samples without data stay unused points at height 0: numbering then is that of the raster. */
static void terrain_points(const TlTerrain *t, double *point, float *height) {
  for (int64_t j = 0; j < t->ny; j++)
    for (int64_t i = 0; i < t->nx; i++) {
      int64_t n = j * t->nx + i;
      float z = t->height_m[n];
      point[3 * n] = t->x0_m + t->cell_m * (double)i;
      point[3 * n + 1] = t->y0_m + t->cell_m * (double)j;
      point[3 * n + 2] = isnan(z) ? 0 : z;
      height[n] = (float)(z + t->origin[2]);
    }
}

static int64_t terrain_triangles(const TlTerrain *t, int64_t *corner) {
  int64_t count = 0;
  for (int64_t j = 0; j + 1 < t->ny; j++)
    for (int64_t i = 0; i + 1 < t->nx; i++) {
      if (!whole_cell(t, i, j)) continue;
      int64_t n = j * t->nx + i, *c = corner + 3 * count;
      c[0] = n, c[1] = n + 1, c[2] = n + t->nx + 1;
      c[3] = n, c[4] = n + t->nx + 1, c[5] = n + t->nx;
      count += 2;
    }
  return count;
}

TlStatus tl_export_terrain(const TlTerrain *t, const char *path, bool overwrite) {
  int64_t points = t->nx * t->ny, *corner = NULL;
  double *point = NULL;
  float *height = NULL;
  TlStatus status = TL_NEW(point, 3 * (size_t)points);
  if (status == TL_OK) status = TL_NEW(corner, 6 * (size_t)points);
  if (status == TL_OK) status = TL_NEW(height, (size_t)points);
  if (status == TL_OK) {
    terrain_points(t, point, height);
    const TlVtkArray array = {"elevation_m", TL_VTK_F32, 1, height};
    const TlVtkPoly poly = {.point_count = points,
                            .point = point,
                            .triangle_count = terrain_triangles(t, corner),
                            .triangle = corner,
                            .point_arrays = 1,
                            .point_array = &array};
    status = tl_vtk_write_poly(path, overwrite, &poly);
  }
  tl_free(point);
  tl_free(corner);
  tl_free(height);
  return status;
}

/* ---- one grain ---- */

TlStatus tl_export_grain(const TlAvatar *avatar, const TlMesh *mesh, TlVec3 position,
                         TlQuat rotation, const char *path, bool overwrite) {
  TlMat3 r = tl_quat_matrix(rotation);
  size_t corners = 3 * mesh->triangle_count;
  double *point = NULL;
  int64_t *corner = NULL, *id = NULL;
  TlStatus status = TL_NEW(point, 3 * mesh->vertex_count);
  if (status == TL_OK) status = TL_NEW(corner, corners);
  if (status == TL_OK) status = TL_NEW(id, mesh->triangle_count);
  if (status == TL_OK) {
    for (size_t i = 0; i < corners; i++) corner[i] = mesh->triangle[i];
    for (size_t i = 0; i < mesh->triangle_count; i++) id[i] = avatar->id;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
      TlVec3 p = tl_add(position, tl_mat_vec(r, tl_mesh_vertex(mesh, (int32_t)i)));
      point[3 * i] = p.x, point[3 * i + 1] = p.y, point[3 * i + 2] = p.z;
    }
    const TlVtkArray array = {"id", TL_VTK_I64, 1, id};
    const TlVtkPoly poly = {.point_count = (int64_t)mesh->vertex_count,
                            .point = point,
                            .triangle_count = (int64_t)mesh->triangle_count,
                            .triangle = corner,
                            .cell_arrays = 1,
                            .cell_array = &array};
    status = tl_vtk_write_poly(path, overwrite, &poly);
  }
  tl_free(point);
  tl_free(corner);
  tl_free(id);
  return status;
}

TlStatus tl_export_field(const TlAvatar *a, const char *path, bool overwrite) {
  const TlVtkArray array = {"phi_m", TL_VTK_F32, 1, a->phi};
  const TlVtkImage image = {.size = {a->nx, a->ny, a->nz},
                            .origin = {a->origin_m.x, a->origin_m.y, a->origin_m.z},
                            .spacing = {a->spacing_m, a->spacing_m, a->spacing_m},
                            .point_arrays = 1,
                            .point_array = &array};
  return tl_vtk_write_image(path, overwrite, &image);
}
