#include "num/triangles.h"
#include "shape/formula.h"
#include "shape/nodes.h"
#include "shape/solid.h"
#include "shape/solids.h"

#include <math.h>

static const TlVec3 corner[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

/* The face opposite a corner has that corner, reversed, as its outward normal and lies size/sqrt 3
 * from the origin. */
static double distance(const void *solid, TlVec3 p) {
  double size = *(const double *)solid, deepest = -INFINITY, nearest = INFINITY;
  for (int f = 0; f < 4; f++) {
    TlVec3 v[3];
    for (int i = 0, k = 0; i < 4; i++)
      if (i != f) v[k++] = tl_scale(size, corner[i]);
    deepest = fmax(deepest, -tl_dot(p, corner[f]) / sqrt(3) - size / sqrt(3));
    nearest = fmin(nearest, tl_norm2(tl_triangle_nearest(p, v[0], v[1], v[2]).from));
  }
  return deepest <= 0 ? deepest : sqrt(nearest);
}

/* Nodes of a face's lattice of n cells an edge that this face is the first to have. The barycentric
 * coordinates (i, j, k) belong to the face's corners in ascending order. */
static TlStatus face_nodes(TlAvatar *a, int face, int n, double size) {
  double cell = a->area_m2 / (4.0 * n * n); /* area of a small triangle */
  int v[3];
  for (int i = 0, k = 0; i < 4; i++)
    if (i != face) v[k++] = i;
  for (int i = 0; i <= n; i++)
    for (int j = 0; i + j <= n; j++) {
      int w[4] = {0}, zeros = 0, first = -1;
      w[v[0]] = i, w[v[1]] = j, w[v[2]] = n - i - j;
      for (int c = 3; c >= 0; c--)
        if (w[c] == 0) zeros++, first = c; /* faces that hold it are those of absent corners */
      if (first != face) continue;
      /* small triangles about it: 6 inside a face, 3 on each side of an edge, 1 on each of three
       * faces at a vertex; each gives a third */
      double parts = zeros == 3 ? 3 : 6;
      TlVec3 p = tl_vec3(0, 0, 0);
      for (int c = 0; c < 4; c++) p = tl_axpy(p, size * w[c] / n, corner[c]);
      TL_TRY(tl_solid_node(a, p, parts * cell / 3));
    }
  return TL_OK;
}

static TlStatus build(double size, double spacing, int32_t nodes, TlAvatar *out) {
  double edge = size * sqrt(8), moment;
  out->volume_m3 = edge * edge * edge / (6 * sqrt(2));
  out->area_m2 = sqrt(3) * edge * edge;
  moment = out->volume_m3 * edge * edge / 20;
  out->inertia_m5 = tl_vec3(moment, moment, moment);
  out->scan_rotation = (TlQuat){1, 0, 0, 0};
  TlVec3 half = tl_vec3(size, size, size);
  TL_TRY(tl_solid_grid(tl_scale(-1, half), half, spacing, out));
  TL_TRY(tl_solid_fill(distance, &size, out));
  double step = tl_solid_node_step(out, nodes); /* 2 n^2 + 2 nodes stand for the area */
  double cells = rint(sqrt(fmax(out->area_m2 / (step * step) - 2, 2) / 2));
  int n = cells > 1 ? (int)cells : 1;
  TL_TRY(tl_solid_reserve_nodes(out, 2 * (int64_t)n * n + 2));
  for (int f = 0; f < 4; f++) TL_TRY(face_nodes(out, f, n, size));
  return tl_nodes_extents(out);
}

TlStatus tl_avatar_tetrahedron(double edge, double spacing, int32_t nodes, TlAvatar *out) {
  *out = (TlAvatar){0};
  double size = edge / sqrt(8);
  TL_TRY(tl_solid_check(size, size, spacing, nodes));
  TlStatus status = build(size, spacing, nodes, out);
  if (status != TL_OK) tl_avatar_free(out);
  return status;
}

TlStatus tl_formula_tetrahedron(const TlFormula *f, double spacing, TlAvatar *out) {
  return tl_avatar_tetrahedron(f->length_m, spacing, f->nodes, out);
}
