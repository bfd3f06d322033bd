#include "shape/mesh.h"

#include "base/mem.h"

#include <string.h>

void tl_mesh_free(TlMesh *mesh) {
  tl_free(mesh->vertex_m);
  tl_free(mesh->triangle);
  *mesh = (TlMesh){0};
}

/* Vertex on the edge from grid point p in direction d (1..7, bits x y z): its number, kept for two
 * layers of grid points only would save memory; a grain's grid is small, so all are kept. */
typedef struct March {
  const TlAvatar *a;
  TlMesh *mesh;
  int32_t *edge; /* [points][7], 0 = none yet, else vertex + 1 */
  int64_t offset[8];
} March;

/* Corners of a cell are numbered by bits x=1, y=2, z=4. The six tetrahedra go from corner 0 to 7
 * along the edges; each pair of their corners is ordered (one's bits contain the other's), so every
 * edge has a lower end and one of seven directions. Orientation: even / odd permutation. */
static const int tetrahedra[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                     {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

static TlStatus edge_vertex(March *m, int64_t cell, int c, int d, int32_t *vertex) {
  int low = c < d ? c : d, high = c < d ? d : c;
  int64_t p = cell + m->offset[low], q = cell + m->offset[high];
  int32_t *slot = &m->edge[p * 7 + (high - low) - 1];
  if (*slot == 0) {
    TlMesh *mesh = m->mesh;
    TL_TRY(TL_RESERVE(mesh->vertex_m, mesh->vertex_capacity, 3 * (mesh->vertex_count + 1)));
    const TlAvatar *a = m->a;
    double f = a->phi[p], g = a->phi[q], t = f / (f - g), bit[3];
    for (int k = 0; k < 3; k++) bit[k] = ((high - low) >> k & 1) ? t : 0;
    double x[3] = {(double)(p % a->nx) + bit[0], (double)(p / a->nx % a->ny) + bit[1],
                   (double)(p / a->nx / a->ny) + bit[2]};
    double origin[3] = {a->origin_m.x, a->origin_m.y, a->origin_m.z};
    for (int k = 0; k < 3; k++)
      mesh->vertex_m[3 * mesh->vertex_count + (size_t)k] = (float)(origin[k] + a->spacing_m * x[k]);
    *slot = (int32_t)++mesh->vertex_count;
  }
  *vertex = *slot - 1;
  return TL_OK;
}

static TlStatus add_triangle(March *m, int32_t a, int32_t b, int32_t c) {
  TlMesh *mesh = m->mesh;
  TL_TRY(TL_RESERVE(mesh->triangle, mesh->triangle_capacity, 3 * (mesh->triangle_count + 1)));
  int32_t *t = mesh->triangle + 3 * mesh->triangle_count++;
  t[0] = a;
  t[1] = b;
  t[2] = c;
  return TL_OK;
}

/* Triangles of one tetrahedron: one when a single corner is on its own side, two when two are. */
static TlStatus march_tetrahedron(March *m, int64_t cell, const int t[4]) {
  int in[4], out[4], n_in = 0, n_out = 0, order[4];
  for (int k = 0; k < 4; k++) {
    if (m->a->phi[cell + m->offset[t[k]]] < 0)
      order[n_in] = k, in[n_in++] = t[k];
    else
      out[n_out++] = t[k];
  }
  if (n_in == 0 || n_out == 0) return TL_OK;
  for (int k = 0, at = n_in; k < 4; k++)
    if (m->a->phi[cell + m->offset[t[k]]] >= 0) order[at++] = k;
  bool odd = false; /* parity of (in..., out...) against the tetrahedron's own order */
  for (int i = 0; i < 4; i++)
    for (int j = i + 1; j < 4; j++) odd ^= order[i] > order[j];
  int32_t v[4];
  if (n_in == 2) {
    TL_TRY(edge_vertex(m, cell, in[0], out[0], &v[0]));
    TL_TRY(edge_vertex(m, cell, in[0], out[1], &v[1]));
    TL_TRY(edge_vertex(m, cell, in[1], out[1], &v[2]));
    TL_TRY(edge_vertex(m, cell, in[1], out[0], &v[3]));
    if (odd) {
      TL_TRY(add_triangle(m, v[0], v[2], v[1]));
      return add_triangle(m, v[0], v[3], v[2]);
    }
    TL_TRY(add_triangle(m, v[0], v[1], v[2]));
    return add_triangle(m, v[0], v[2], v[3]);
  }
  bool one_in = n_in == 1;
  for (int k = 0; k < 3; k++)
    TL_TRY(one_in ? edge_vertex(m, cell, in[0], out[k], &v[k])
                  : edge_vertex(m, cell, in[k], out[0], &v[k]));
  return odd ? add_triangle(m, v[0], v[2], v[1]) : add_triangle(m, v[0], v[1], v[2]);
}

static TlStatus march(March *m) {
  const TlAvatar *a = m->a;
  int64_t dy = a->nx, dz = (int64_t)a->nx * a->ny;
  for (int c = 0; c < 8; c++) m->offset[c] = (c & 1) + (c >> 1 & 1) * dy + (c >> 2) * dz;
  for (int64_t k = 0; k + 1 < a->nz; k++)
    for (int64_t j = 0; j + 1 < a->ny; j++)
      for (int64_t i = 0; i + 1 < a->nx; i++) {
        int64_t cell = k * dz + j * dy + i;
        int inside = 0;
        for (int c = 0; c < 8; c++) inside += a->phi[cell + m->offset[c]] < 0;
        if (inside == 0 || inside == 8) continue;
        for (int t = 0; t < 6; t++) TL_TRY(march_tetrahedron(m, cell, tetrahedra[t]));
      }
  return TL_OK;
}

TlStatus tl_mesh_from_avatar(const TlAvatar *avatar, TlMesh *mesh) {
  *mesh = (TlMesh){0};
  March m = {.a = avatar, .mesh = mesh};
  size_t points = (size_t)avatar->nx * (size_t)avatar->ny * (size_t)avatar->nz;
  TL_TRY(TL_NEW(m.edge, points * 7));
  TlStatus status = march(&m);
  tl_free(m.edge);
  if (status == TL_OK && mesh->triangle_count == 0)
    status = tl_fail(TL_EINPUT, "phi has no zero surface");
  if (status != TL_OK) tl_mesh_free(mesh);
  return status;
}

double tl_mesh_area(const TlMesh *m) {
  double area = 0;
  for (size_t t = 0; t < m->triangle_count; t++) {
    const int32_t *v = m->triangle + 3 * t;
    TlVec3 a = tl_mesh_vertex(m, v[0]);
    area += 0.5 * tl_norm(tl_cross(tl_sub(tl_mesh_vertex(m, v[1]), a),
                                   tl_sub(tl_mesh_vertex(m, v[2]), a)));
  }
  return area;
}

double tl_mesh_volume(const TlMesh *m) {
  double six = 0;
  for (size_t t = 0; t < m->triangle_count; t++) {
    const int32_t *v = m->triangle + 3 * t;
    six +=
        tl_dot(tl_mesh_vertex(m, v[0]), tl_cross(tl_mesh_vertex(m, v[1]), tl_mesh_vertex(m, v[2])));
  }
  return six / 6;
}
