#include "shape/from_mesh.h"

#include "shape/nodes.h"
#include "shape/solid.h"

#include <math.h>

/* ---- mass ---- */

static void add_outer(TlSym3 *s, double weight, TlVec3 a) {
  s->xx += weight * a.x * a.x;
  s->yy += weight * a.y * a.y;
  s->zz += weight * a.z * a.z;
  s->xy += weight * a.x * a.y;
  s->xz += weight * a.x * a.z;
  s->yz += weight * a.y * a.z;
}

/* Tetrahedron (0, a, b, c): volume det/6, first moment det/24 (a+b+c), second moments det/120
 * ((a+b+c)(a+b+c)^T + aa^T + bb^T + cc^T). */
TlPolyhedron tl_polyhedron(const TlTriangles *m) {
  TlVec3 low, high, first = tl_vec3(0, 0, 0);
  TlSym3 second = {0};
  double six = 0;
  tl_triangles_box(m, &low, &high);
  TlVec3 o = tl_scale(0.5, tl_add(low, high));
  for (int64_t t = 0; t < m->triangles; t++) {
    TlVec3 v[3], sum = tl_vec3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
      v[k] = tl_sub(tl_triangles_corner(m, t, k), o);
      sum = tl_add(sum, v[k]);
    }
    double det = tl_dot(v[0], tl_cross(v[1], v[2]));
    six += det;
    first = tl_axpy(first, det / 24, sum);
    add_outer(&second, det / 120, sum);
    for (int k = 0; k < 3; k++) add_outer(&second, det / 120, v[k]);
  }
  TlPolyhedron p = {.volume = six / 6};
  TlVec3 c = tl_scale(1 / p.volume, first);
  add_outer(&second, -p.volume, c);
  p.centroid = tl_add(o, c);
  p.inertia = (TlSym3){.xx = second.yy + second.zz,
                       .yy = second.xx + second.zz,
                       .zz = second.xx + second.yy,
                       .xy = -second.xy,
                       .xz = -second.xz,
                       .yz = -second.yz};
  return p;
}

/* ---- frame ---- */

/* Rounding must not turn a cube: what is zero but for it is zero. */
static TlSym3 without_noise(TlSym3 s) {
  double noise = 1e-10 * (s.xx + s.yy + s.zz);
  if (fabs(s.xy) < noise) s.xy = 0;
  if (fabs(s.xz) < noise) s.xz = 0;
  if (fabs(s.yz) < noise) s.yz = 0;
  return s;
}

static void note_body(const TlPolyhedron *p, TlMat3 *rotation, TlAvatar *out) {
  double moments[3];
  tl_sym_eigen(without_noise(p->inertia), moments, rotation);
  out->volume_m3 = p->volume;
  out->inertia_m5 = tl_vec3(moments[0], moments[1], moments[2]);
  out->scan_centroid_m = p->centroid;
  out->scan_rotation = tl_quat_from_matrix(*rotation);
}

static void move_to_body(TlTriangles *m, TlVec3 centre, TlMat3 rotation) {
  for (int64_t i = 0; i < m->vertices; i++)
    m->vertex[i] = tl_mat_tvec(rotation, tl_sub(m->vertex[i], centre));
}

/* ---- distance ---- */

static double distance(const void *tree, TlVec3 p) {
  return tl_triangle_tree_distance(tree, p, NULL);
}

/* Winding numbers are integers, and say the same side as the distance, unless the surface passes
 * through itself or overlaps. About 200 grid points near the surface. */
static TlStatus check_winding(const TlTriangles *m, const TlAvatar *a) {
  enum { LOOKS = 200 };
  double h = a->spacing_m;
  int64_t count = (int64_t)a->nx * a->ny * a->nz, near = 0;
  for (int64_t i = 0; i < count; i++) near += fabsf(a->phi[i]) < 3 * h;
  int64_t stride = near / LOOKS + 1, seen = 0;
  for (int64_t i = 0; i < count; i++) {
    double phi = a->phi[i];
    if (!(fabs(phi) < 3 * h) || seen++ % stride || fabs(phi) < 0.05 * h) continue;
    TlVec3 p = tl_axpy(
        a->origin_m, h,
        tl_vec3((double)(i % a->nx), (double)(i / a->nx % a->ny), (double)(i / a->nx / a->ny)));
    double turns = tl_triangles_winding(m, p), wanted = phi < 0 ? 1 : 0;
    if (fabs(turns - wanted) > 1e-3)
      return tl_fail(TL_EINPUT,
                     "the surface passes through itself: it goes round (%.4g, %.4g, %.4g) m of its "
                     "principal frame %.3g times, and %g would be right",
                     p.x, p.y, p.z, turns, wanted);
  }
  return TL_OK;
}

static TlStatus build(TlTriangles *mesh, const TlTriangleTree *tree, const TlFromMesh *o,
                      TlAvatar *out) {
  TlVec3 low, high;
  tl_triangles_box(mesh, &low, &high);
  double spacing = o->spacing_m > 0 ? o->spacing_m : tl_avatar_diameter_m(out) / 30;
  TlVec3 e = tl_scale(0.5, tl_sub(high, low));
  TL_TRY(tl_solid_check(fmin(e.x, fmin(e.y, e.z)), fmax(e.x, fmax(e.y, e.z)), spacing, o->nodes));
  TL_TRY(tl_solid_grid(low, high, spacing, out));
  TL_TRY(tl_solid_fill(distance, tree, out));
  TL_TRY(check_winding(mesh, out));
  return tl_mesh_nodes_place(tree, o->nodes, o->sharp_deg > 0 ? o->sharp_deg : 30, out);
}

TlStatus tl_avatar_from_mesh(TlTriangles *mesh, const TlFromMesh *options, TlAvatar *out) {
  TlMat3 rotation;
  TlTriangleTree tree;
  TlPolyhedron body = tl_polyhedron(mesh);
  *out = (TlAvatar){0};
  note_body(&body, &rotation, out);
  out->area_m2 = tl_triangles_area(mesh);
  move_to_body(mesh, body.centroid, rotation);
  TL_TRY(tl_triangle_tree_make(&tree, mesh));
  TlStatus status = build(mesh, &tree, options, out);
  if (status == TL_OK) status = tl_avatar_check(out);
  tl_triangle_tree_free(&tree);
  if (status != TL_OK) tl_avatar_free(out);
  return status;
}
