#include "post/overlap_convex.h"

#include <math.h>
#include <stdbool.h>

/* Normals, edges and directions from vertices and faces; the origin lies inside. */
static void complete(TlConvex *c) {
  for (int f = 0; f < c->faces; f++) {
    int *face = c->face[f];
    TlVec3 *v = c->vertex;
    TlVec3 n = tl_unit(tl_cross(tl_sub(v[face[1]], v[face[0]]), tl_sub(v[face[2]], v[face[0]])));
    if (tl_dot(n, v[face[0]]) < 0) {
      n = tl_scale(-1, n);
      for (int i = 0, j = c->corners - 1; i < j; i++, j--) {
        int swap = face[i];
        face[i] = face[j];
        face[j] = swap;
      }
    }
    c->normal[f] = n;
    for (int i = 0; i < c->corners; i++) {
      int from = face[i], to = face[(i + 1) % c->corners];
      bool known = false;
      for (int e = 0; e < c->edges && !known; e++)
        known = c->edge[e][0] == to && c->edge[e][1] == from;
      if (known) continue;
      c->edge[c->edges][0] = from;
      c->edge[c->edges++][1] = to;
      TlVec3 d = tl_unit(tl_sub(v[to], v[from]));
      for (int k = 0; k < c->directions && !known; k++)
        known = tl_norm2(tl_cross(d, c->direction[k])) < 1e-12;
      if (!known) c->direction[c->directions++] = d;
    }
  }
}

TlConvex tl_convex_box(TlVec3 half) {
  static const int face[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3},
                                 {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
  TlConvex c = {.vertices = 8, .faces = 6, .corners = 4};
  for (int i = 0; i < 8; i++)
    c.vertex[i] =
        tl_vec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
  for (int f = 0; f < 6; f++)
    for (int k = 0; k < 4; k++) c.face[f][k] = face[f][k];
  complete(&c);
  return c;
}

TlConvex tl_convex_tetrahedron(double edge) {
  static const TlVec3 corner[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  TlConvex c = {.vertices = 4, .faces = 4, .corners = 3};
  for (int f = 0; f < 4; f++) { /* face f lies opposite vertex f */
    c.vertex[f] = tl_scale(edge / sqrt(8), corner[f]);
    for (int i = 0, k = 0; i < 4; i++)
      if (i != f) c.face[f][k++] = i;
  }
  complete(&c);
  return c;
}

TlConvex tl_convex_placed(const TlConvex *convex, double scale, TlMat3 turn, TlVec3 shift) {
  TlConvex c = *convex;
  for (int i = 0; i < c.vertices; i++)
    c.vertex[i] = tl_axpy(shift, scale, tl_mat_vec(turn, convex->vertex[i]));
  for (int i = 0; i < c.faces; i++) c.normal[i] = tl_mat_vec(turn, convex->normal[i]);
  for (int i = 0; i < c.directions; i++) c.direction[i] = tl_mat_vec(turn, convex->direction[i]);
  return c;
}

/* ---- separating axes ---- */

static void project(const TlConvex *c, TlVec3 axis, double *low, double *high) {
  *low = INFINITY, *high = -INFINITY;
  for (int i = 0; i < c->vertices; i++) {
    double x = tl_dot(c->vertex[i], axis);
    *low = fmin(*low, x);
    *high = fmax(*high, x);
  }
}

/* Takes the axis if the projections on it overlap by less than *least; false: they do not. */
static bool overlap_on(const TlConvex *a, const TlConvex *b, TlVec3 axis, double *least,
                       TlVec3 *normal) {
  double a_low, a_high, b_low, b_high;
  project(a, axis, &a_low, &a_high);
  project(b, axis, &b_low, &b_high);
  double forward = b_high - a_low, backward = a_high - b_low; /* to move a out along the axis */
  if (forward < *least) *least = forward, *normal = axis;
  if (backward < *least) *least = backward, *normal = tl_scale(-1, axis);
  return forward > 0 && backward > 0;
}

/* Adds the ends of the edges of a that lie in b. */
static void add_ends(const TlConvex *a, const TlConvex *b, TlVec3 *sum, int *count) {
  for (int e = 0; e < a->edges; e++) {
    TlVec3 p = a->vertex[a->edge[e][0]], d = tl_sub(a->vertex[a->edge[e][1]], p);
    double from = 0, to = 1;
    for (int f = 0; f < b->faces; f++) {
      double out = tl_dot(b->normal[f], tl_sub(p, b->vertex[b->face[f][0]])),
             gain = tl_dot(b->normal[f], d);
      if (gain > 0) to = fmin(to, -out / gain);
      if (gain < 0) from = fmax(from, -out / gain);
      if (gain == 0 && out > 0) to = -1;
    }
    if (from > to) continue;
    *sum = tl_add(*sum, tl_add(tl_axpy(p, from, d), tl_axpy(p, to, d)));
    *count += 2;
  }
}

double tl_convex_depth(const TlConvex *a, const TlConvex *b, TlVec3 *normal, TlVec3 *point) {
  double least = INFINITY;
  TlVec3 n = {0, 0, 0}, sum = {0, 0, 0};
  int count = 0;
  for (int f = 0; f < a->faces; f++)
    if (!overlap_on(a, b, a->normal[f], &least, &n)) return 0;
  for (int f = 0; f < b->faces; f++)
    if (!overlap_on(a, b, b->normal[f], &least, &n)) return 0;
  for (int i = 0; i < a->directions; i++)
    for (int j = 0; j < b->directions; j++) {
      TlVec3 axis = tl_cross(a->direction[i], b->direction[j]);
      if (tl_norm2(axis) < 1e-20) continue; /* parallel: the face normals hold this case */
      if (!overlap_on(a, b, tl_unit(axis), &least, &n)) return 0;
    }
  add_ends(a, b, &sum, &count);
  add_ends(b, a, &sum, &count);
  *normal = n;
  *point = count ? tl_scale(1.0 / count, sum) : tl_scale(0.5, tl_add(a->vertex[0], b->vertex[0]));
  return least;
}

/* ---- a point ---- */

static bool over_face(const TlConvex *c, int f, TlVec3 p) {
  for (int i = 0; i < c->corners; i++) {
    TlVec3 from = c->vertex[c->face[f][i]], to = c->vertex[c->face[f][(i + 1) % c->corners]];
    if (tl_dot(tl_cross(tl_sub(to, from), tl_sub(p, from)), c->normal[f]) < 0) return false;
  }
  return true;
}

double tl_convex_distance(const TlConvex *c, TlVec3 p, TlVec3 *gradient) {
  double deepest = -INFINITY, nearest = INFINITY;
  TlVec3 g = {0, 0, 0};
  for (int f = 0; f < c->faces; f++) {
    double d = tl_dot(c->normal[f], tl_sub(p, c->vertex[c->face[f][0]]));
    if (d > deepest) deepest = d, g = c->normal[f];
  }
  if (gradient) *gradient = g;
  if (deepest <= 0) return deepest;
  for (int f = 0; f < c->faces; f++) {
    double d = tl_dot(c->normal[f], tl_sub(p, c->vertex[c->face[f][0]]));
    if (d > 0 && d < nearest && over_face(c, f, p)) nearest = d, g = c->normal[f];
  }
  for (int e = 0; e < c->edges; e++) {
    TlVec3 from = c->vertex[c->edge[e][0]], d = tl_sub(c->vertex[c->edge[e][1]], from);
    double t = fmin(fmax(tl_dot(tl_sub(p, from), d) / tl_norm2(d), 0), 1);
    TlVec3 offset = tl_sub(p, tl_axpy(from, t, d));
    double distance = tl_norm(offset);
    if (distance < nearest) nearest = distance, g = tl_scale(1 / distance, offset);
  }
  if (gradient) *gradient = g;
  return nearest;
}
