#include "post/surface.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* A coarser grid over the same grain; its lattice passes through the body's origin and one more
 * layer than phi needs lies around it. */
static TlStatus coarsen(const TlAvatar *fine, int32_t cells, TlAvatar *out) {
  double h = fine->axes_m[0] / cells;
  const double low[3] = {fine->origin_m.x, fine->origin_m.y, fine->origin_m.z};
  const int32_t n[3] = {fine->nx, fine->ny, fine->nz};
  double first[3];
  int32_t size[3];
  for (int c = 0; c < 3; c++) {
    first[c] = floor(low[c] / h);
    size[c] = (int32_t)(ceil((low[c] + fine->spacing_m * (n[c] - 1)) / h) - first[c]) + 1;
  }
  *out = (TlAvatar){.nx = size[0],
                    .ny = size[1],
                    .nz = size[2],
                    .spacing_m = h,
                    .origin_m = {h * first[0], h * first[1], h * first[2]},
                    .volume_m3 = fine->volume_m3};
  TL_TRY(TL_NEW(out->phi, (size_t)size[0] * (size_t)size[1] * (size_t)size[2]));
  float *phi = out->phi;
  for (int32_t k = 0; k < size[2]; k++)
    for (int32_t j = 0; j < size[1]; j++)
      for (int32_t i = 0; i < size[0]; i++) {
        TlVec3 p = tl_add(out->origin_m, tl_vec3(h * i, h * j, h * k));
        *phi++ = (float)tl_avatar_phi(fine, p, NULL);
      }
  return TL_OK;
}

/* Unit normals of the vertices: the sum of their triangles' area vectors. */
static TlStatus vertex_normals(const TlMesh *mesh, TlVec3 **normal) {
  TL_TRY(TL_NEW(*normal, mesh->vertex_count));
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *v = mesh->triangle + 3 * t;
    TlVec3 a = tl_mesh_vertex(mesh, v[0]);
    TlVec3 area =
        tl_cross(tl_sub(tl_mesh_vertex(mesh, v[1]), a), tl_sub(tl_mesh_vertex(mesh, v[2]), a));
    for (int c = 0; c < 3; c++) (*normal)[v[c]] = tl_add((*normal)[v[c]], area);
  }
  for (size_t i = 0; i < mesh->vertex_count; i++) (*normal)[i] = tl_unit((*normal)[i]);
  return TL_OK;
}

static void move(TlMesh *mesh, const TlVec3 *normal, double distance) {
  for (size_t i = 0; i < mesh->vertex_count; i++) {
    float *v = mesh->vertex_m + 3 * i;
    v[0] = (float)(v[0] + distance * normal[i].x);
    v[1] = (float)(v[1] + distance * normal[i].y);
    v[2] = (float)(v[2] + distance * normal[i].z);
  }
}

/* dV = A times the distance, to first order; each round squares what is left. */
TlStatus tl_surface_match_volume(TlMesh *mesh, double volume, int rounds, double *shift) {
  *shift = 0;
  for (int round = 0; round < rounds; round++) {
    TlVec3 *normal;
    double step = (volume - tl_mesh_volume(mesh)) / tl_mesh_area(mesh);
    TL_TRY(vertex_normals(mesh, &normal));
    move(mesh, normal, step);
    tl_free(normal);
    *shift += step;
  }
  return TL_OK;
}

TlStatus tl_surface_make(const TlAvatar *avatar, int32_t cells, TlMesh *mesh, double *shift_m) {
  TlAvatar coarse = {0};
  const TlAvatar *from = avatar;
  TlStatus status = TL_OK;
  *mesh = (TlMesh){0};
  if (cells > 0 && avatar->axes_m[0] > cells * avatar->spacing_m) {
    status = coarsen(avatar, cells, &coarse);
    from = &coarse;
  }
  if (status == TL_OK) status = tl_mesh_from_avatar(from, mesh);
  if (status == TL_OK && mesh->triangle_count == 0)
    status =
        tl_fail(TL_EINPUT, "grain %lld has no surface on %d cells", (long long)avatar->id, cells);
  if (status == TL_OK) status = tl_surface_match_volume(mesh, avatar->volume_m3, 2, shift_m);
  tl_avatar_free(&coarse);
  if (status != TL_OK) tl_mesh_free(mesh);
  return status;
}

typedef struct Edge {
  int32_t low, high, turn; /* +1 low to high, -1 the other way */
} Edge;

static int by_ends(const void *one, const void *two) {
  const Edge *a = one, *b = two;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  return (a->high > b->high) - (a->high < b->high);
}

TlStatus tl_surface_check_closed(const TlMesh *mesh) {
  size_t n = 3 * mesh->triangle_count;
  Edge *edge;
  TL_TRY(TL_NEW(edge, n));
  for (size_t t = 0; t < mesh->triangle_count; t++)
    for (size_t c = 0; c < 3; c++) {
      int32_t a = mesh->triangle[3 * t + c], b = mesh->triangle[3 * t + (c + 1) % 3];
      edge[3 * t + c] = a < b ? (Edge){a, b, 1} : (Edge){b, a, -1};
    }
  qsort(edge, n, sizeof *edge, by_ends);
  TlStatus status = TL_OK;
  for (size_t i = 0; i < n && status == TL_OK; i += 2) {
    bool pair = i + 1 < n && by_ends(&edge[i], &edge[i + 1]) == 0 &&
                edge[i].turn + edge[i + 1].turn == 0 &&
                (i + 2 >= n || by_ends(&edge[i], &edge[i + 2]) != 0);
    if (!pair)
      status =
          tl_fail(TL_EINPUT, "the edge of vertices %d and %d has not one triangle on each side",
                  edge[i].low, edge[i].high);
  }
  tl_free(edge);
  return status;
}
