#include "model/facets.h"

#include <math.h>

static const double FLAT = 0.02;     /* second difference over a cell of a node within a face */
static const double FLATTEST = 2e-3; /* of the node that a plane is taken from */
static const double PLANE = 0.03;    /* cells: a node on a plane */
static const double SAME = 1e-3;     /* 1 - cosine of two normals of one plane */
static const double ROUND = 0.5;  /* cells: a node by a rounded edge lies this far inside at most */
static const double CORNER = 0.3; /* cells: corners nearer to each other than this are one */

static TlVec3 node_of(const TlAvatar *avatar, int32_t i) {
  const float *p = &avatar->node_m[3 * (int64_t)i];
  return tl_vec3(p[0], p[1], p[2]);
}

typedef struct Found { /* a plane as its flattest node has it */
  int32_t count;
  TlVec3 n;
  double distance, bend;
} Found;

/* phi at a point with its gradient by differences over a cell to either side, and the largest second
 * difference, times a cell: 0 where phi is linear for a cell around, whatever lies beyond. */
static double flatness(const TlAvatar *a, TlVec3 p, TlVec3 *gradient, double *phi) {
  static const TlVec3 direction[] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                                     {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};
  double cell = a->spacing_m, most = 0;
  *phi = tl_avatar_phi(a, p, NULL);
  for (int k = 0; k < 9; k++) {
    double up = tl_avatar_phi(a, tl_axpy(p, cell, direction[k]), NULL),
           down = tl_avatar_phi(a, tl_axpy(p, -cell, direction[k]), NULL);
    if (k < 3) (&gradient->x)[k] = (up - down) / (2 * cell);
    most = tl_max(most, fabs(up + down - 2 * *phi) / cell);
  }
  return most;
}

/* Planes of an avatar's flat nodes; their number, 0: it is no polyhedron or has too many. The node with
 * the least second differences decides. */
static int32_t planes_of(const TlAvatar *avatar, TlFacets *f) {
  Found found[TL_FACET_PLANES];
  double cell = avatar->spacing_m;
  int32_t count = 0, kept = 0;
  for (int32_t i = 0; i < avatar->node_count; i++) {
    TlVec3 p = node_of(avatar, i), g;
    double phi, bend = flatness(avatar, p, &g, &phi);
    if (bend > FLAT || fabs(phi) > PLANE * cell) continue;
    TlVec3 n = tl_unit(g);
    Found one = {.n = n, .distance = tl_dot(n, p) - phi, .bend = bend};
    int32_t k = 0;
    while (k < count && !(tl_dot(n, found[k].n) > 1 - SAME &&
                          fabs(one.distance - found[k].distance) < ROUND * cell))
      k++;
    if (k == TL_FACET_PLANES) return 0;
    if (k == count) found[count++] = one;
    one.count = found[k].count + 1;
    if (bend < found[k].bend) found[k] = one;
    found[k].count = one.count;
  }
  for (int32_t k = 0; k < count; k++) {
    if (found[k].count < 3 || found[k].bend > FLATTEST) continue;
    f->normal[kept] = found[k].n;
    f->distance[kept++] = found[k].distance;
  }
  for (int32_t i = 0; i < avatar->node_count; i++) {
    double above = -INFINITY;
    for (int32_t k = 0; k < kept; k++)
      above = tl_max(above, tl_dot(f->normal[k], node_of(avatar, i)) - f->distance[k]);
    if (!(above < PLANE * cell && above > -ROUND * cell)) return 0;
  }
  return kept;
}

/* Where three planes meet on no outer side of any other. False: too many. */
static bool find_corners(TlFacets *f, double cell) {
  for (int32_t i = 0; i < f->plane_count; i++)
    for (int32_t j = i + 1; j < f->plane_count; j++)
      for (int32_t k = j + 1; k < f->plane_count; k++) {
        TlVec3 jk = tl_cross(f->normal[j], f->normal[k]);
        double volume = tl_dot(f->normal[i], jk);
        if (fabs(volume) < 1e-3) continue;
        TlVec3 x = tl_scale(f->distance[i], jk);
        x = tl_axpy(x, f->distance[j], tl_cross(f->normal[k], f->normal[i]));
        x = tl_axpy(x, f->distance[k], tl_cross(f->normal[i], f->normal[j]));
        x = tl_scale(1 / volume, x);
        bool wanted = true;
        for (int32_t m = 0; m < f->plane_count && wanted; m++)
          wanted = tl_dot(f->normal[m], x) < f->distance[m] + PLANE * cell;
        for (int32_t m = 0; m < f->corner_count && wanted; m++)
          wanted = tl_norm(tl_sub(f->corner[m], x)) > CORNER * cell;
        if (wanted && f->corner_count == TL_FACET_CORNERS) return false;
        if (wanted) f->corner[f->corner_count++] = x;
      }
  return true;
}

/* Where two corners lie on the same two planes. False: too many. */
static bool find_edges(TlFacets *f, double cell) {
  for (int32_t i = 0; i < f->plane_count; i++)
    for (int32_t j = i + 1; j < f->plane_count; j++) {
      TlFacetEdge edge = {.face = {i, j}};
      int count = 0;
      for (int32_t c = 0; c < f->corner_count; c++)
        if (fabs(tl_dot(f->normal[i], f->corner[c]) - f->distance[i]) < CORNER * cell &&
            fabs(tl_dot(f->normal[j], f->corner[c]) - f->distance[j]) < CORNER * cell) {
          if (count < 2) edge.corner[count] = c;
          count++;
        }
      if (count < 2) continue;
      if (count > 2 || f->edge_count == TL_FACET_EDGES) return false;
      f->edge[f->edge_count++] = edge;
    }
  return true;
}

/* Round each face from edge to edge. False: not one closed loop, or too long. */
static bool find_loops(TlFacets *f) {
  for (int32_t p = 0; p < f->plane_count; p++) {
    int32_t count = 0, first = -1, at = -1, last = -1;
    do {
      int32_t next = -1;
      for (int32_t e = 0; e < f->edge_count && next < 0; e++) {
        const TlFacetEdge *edge = &f->edge[e];
        if (e == last || (edge->face[0] != p && edge->face[1] != p)) continue;
        if (at < 0 || edge->corner[0] == at || edge->corner[1] == at) next = e;
      }
      if (next < 0 || count == TL_FACET_LOOP) return false;
      const int32_t *corner = f->edge[next].corner;
      if (at < 0) at = first = corner[0];
      f->loop[p][count] = (int16_t)at;
      f->beside[p][count++] = (int16_t)next;
      at = corner[corner[0] == at];
      last = next;
    } while (at != first);
    TlVec3 x = f->corner[f->loop[p][0]], y = f->corner[f->loop[p][1]], z = f->corner[f->loop[p][2]];
    if (count < 3) return false;
    f->loop_count[p] = (int16_t)count;
    if (tl_dot(tl_cross(tl_sub(y, x), tl_sub(z, y)), f->normal[p]) > 0) continue;
    for (int32_t i = 0, j = count - 1; i < j; i++, j--) { /* the other way round */
      int16_t c = f->loop[p][i];
      f->loop[p][i] = f->loop[p][j];
      f->loop[p][j] = c;
    }
    for (int32_t i = 0, j = count - 2; i < j; i++, j--) {
      int16_t e = f->beside[p][i];
      f->beside[p][i] = f->beside[p][j];
      f->beside[p][j] = e;
    }
  }
  return true;
}

/* Corners, edges and loops from the planes; no planes where these do not close. */
static TlFacets closed(TlFacets f, double cell) {
  if (f.plane_count < 4 || !find_corners(&f, cell) || !find_edges(&f, cell) ||
      f.plane_count + f.corner_count != f.edge_count + 2 /* Euler */ || !find_loops(&f))
    f.plane_count = 0;
  return f;
}

TlFacets tl_facets_of_box(double x, double y, double z) {
  TlFacets f = {.plane_count = 6};
  double side[3] = {x, y, z};
  for (int k = 0; k < 6; k++) {
    (&f.normal[k].x)[k / 2] = k % 2 ? -1 : 1;
    f.distance[k] = 0.5 * side[k / 2];
  }
  return closed(f, 1e-3 * tl_min(tl_min(x, y), z));
}

TlFacets tl_facets_of_grid(const TlAvatar *avatar) {
  TlFacets f = {0};
  f.plane_count = planes_of(avatar, &f);
  return closed(f, avatar->spacing_m);
}
