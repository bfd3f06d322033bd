#include "num/triangles.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void tl_triangles_free(TlTriangles *mesh) {
  tl_free(mesh->vertex);
  tl_free(mesh->corner);
  *mesh = (TlTriangles){0};
}

TlStatus tl_triangles_add_vertex(TlTriangles *m, TlVec3 p) {
  if (!(isfinite(p.x) && isfinite(p.y) && isfinite(p.z)))
    return tl_fail(TL_EINPUT, "vertex %lld is not finite", (long long)m->vertices + 1);
  if (m->vertices == INT32_MAX) return tl_fail(TL_EINPUT, "more than 2^31 vertices");
  TL_TRY(TL_RESERVE(m->vertex, m->vertex_capacity, (size_t)m->vertices + 1));
  m->vertex[m->vertices++] = p;
  return TL_OK;
}

TlStatus tl_triangles_add(TlTriangles *m, int64_t a, int64_t b, int64_t c) {
  int64_t v[3] = {a, b, c};
  for (int k = 0; k < 3; k++)
    if (v[k] < 0 || v[k] >= m->vertices)
      return tl_fail(TL_EINPUT, "triangle %lld names vertex %lld, and there are %lld",
                     (long long)m->triangles + 1, (long long)v[k] + 1, (long long)m->vertices);
  TL_TRY(TL_RESERVE(m->corner, m->corner_capacity, 3 * (size_t)m->triangles + 3));
  for (int k = 0; k < 3; k++) m->corner[3 * m->triangles + k] = (int32_t)v[k];
  m->triangles++;
  return TL_OK;
}

/* ---- measures ---- */

void tl_triangles_box(const TlTriangles *m, TlVec3 *low, TlVec3 *high) {
  *low = tl_vec3(INFINITY, INFINITY, INFINITY);
  *high = tl_scale(-1, *low);
  for (int64_t i = 0; i < m->vertices; i++) {
    TlVec3 p = m->vertex[i];
    *low = tl_vec3(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
    *high = tl_vec3(fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z));
  }
}

double tl_triangles_volume(const TlTriangles *m) {
  TlVec3 low, high;
  double six = 0;
  tl_triangles_box(m, &low, &high);
  TlVec3 o = tl_scale(0.5, tl_add(low, high)); /* near the body, for the rounding */
  for (int64_t t = 0; t < m->triangles; t++) {
    TlVec3 a = tl_sub(tl_triangles_corner(m, t, 0), o), b = tl_sub(tl_triangles_corner(m, t, 1), o),
           c = tl_sub(tl_triangles_corner(m, t, 2), o);
    six += tl_dot(a, tl_cross(b, c));
  }
  return six / 6;
}

double tl_triangles_area_of(const TlTriangles *m, int64_t t) {
  TlVec3 a = tl_triangles_corner(m, t, 0);
  return 0.5 * tl_norm(tl_cross(tl_sub(tl_triangles_corner(m, t, 1), a),
                                tl_sub(tl_triangles_corner(m, t, 2), a)));
}

double tl_triangles_area(const TlTriangles *m) {
  double sum = 0;
  for (int64_t t = 0; t < m->triangles; t++) sum += tl_triangles_area_of(m, t);
  return sum;
}

/* ---- welding ---- */

typedef struct Place {
  TlVec3 p;
  int32_t at;
} Place;

static int compare_places(const void *x, const void *y) {
  const Place *a = x, *b = y;
  double p[3] = {a->p.x, a->p.y, a->p.z}, q[3] = {b->p.x, b->p.y, b->p.z};
  for (int k = 0; k < 3; k++)
    if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
  return a->at < b->at ? -1 : a->at > b->at;
}

static bool same_place(TlVec3 a, TlVec3 b) { /* as ==: -0 is 0 */
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* to[i]: the first vertex in the place of vertex i. */
static TlStatus weld(TlTriangles *m, int64_t *welded) {
  Place *place;
  TL_TRY(TL_NEW(place, (size_t)m->vertices));
  int32_t *to;
  TlStatus status = TL_NEW(to, (size_t)m->vertices);
  if (status == TL_OK) {
    for (int64_t i = 0; i < m->vertices; i++) place[i] = (Place){m->vertex[i], (int32_t)i};
    qsort(place, (size_t)m->vertices, sizeof *place, compare_places);
    for (int64_t i = 0, first = 0; i < m->vertices; i++) {
      if (!same_place(place[i].p, place[first].p)) first = i;
      to[place[i].at] = place[first].at;
      *welded += i != first;
    }
    for (int64_t i = 0; i < 3 * m->triangles; i++) m->corner[i] = to[m->corner[i]];
  }
  tl_free(place);
  tl_free(to);
  return status;
}

static void drop_collapsed(TlTriangles *m, TlTrianglesReport *report) {
  int64_t kept = 0;
  for (int64_t t = 0; t < m->triangles; t++) {
    const int32_t *v = m->corner + 3 * t;
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) {
      report->collapsed++;
      continue;
    }
    for (int k = 0; k < 3; k++) m->corner[3 * kept + k] = v[k];
    report->flat += tl_triangles_area_of(m, kept) == 0;
    kept++;
  }
  m->triangles = kept;
}

static TlStatus drop_unused(TlTriangles *m) {
  int32_t *to;
  int64_t kept = 0;
  TL_TRY(TL_NEW(to, (size_t)m->vertices));
  for (int64_t i = 0; i < 3 * m->triangles; i++) to[m->corner[i]] = 1;
  for (int64_t i = 0; i < m->vertices; i++) {
    if (!to[i]) continue;
    m->vertex[kept] = m->vertex[i];
    to[i] = (int32_t)kept++;
  }
  for (int64_t i = 0; i < 3 * m->triangles; i++) m->corner[i] = to[m->corner[i]];
  m->vertices = kept;
  tl_free(to);
  return TL_OK;
}

/* ---- edges ---- */

typedef struct Edge { /* low < high; corner: where in `corner` the edge begins */
  int32_t low, high;
  int64_t corner;
  bool up; /* runs from low to high */
} Edge;

static int compare_edges(const void *x, const void *y) {
  const Edge *a = x, *b = y;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return a->corner < b->corner ? -1 : a->corner > b->corner;
}

static TlStatus edge_fails(const TlTriangles *m, const Edge *e, const char *what) {
  TlVec3 p = m->vertex[e->low], q = m->vertex[e->high];
  return tl_fail(TL_EINPUT, "%s: edge from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g)", what, p.x,
                 p.y, p.z, q.x, q.y, q.z);
}

static TlStatus check_edges(const TlTriangles *m, const Edge *edge, int64_t count) {
  int64_t open = 0;
  const Edge *hole = NULL;
  for (int64_t i = 0, n; i < count; i += n) {
    n = 1;
    while (i + n < count && edge[i + n].low == edge[i].low && edge[i + n].high == edge[i].high) n++;
    if (n == 1) {
      open++;
      if (!hole) hole = &edge[i];
    } else if (n > 2) {
      return edge_fails(m, &edge[i], "not the surface of a body: more than two triangles meet");
    } else if (edge[i].up == edge[i + 1].up) {
      return edge_fails(m, &edge[i], "its triangles do not agree which side is out");
    }
  }
  if (!open) return TL_OK;
  char text[128];
  snprintf(text, sizeof text, "the surface is open (%lld edges have one triangle only)",
           (long long)open);
  return edge_fails(m, hole, text);
}

/* ---- pieces: union-find ---- */

static int64_t root_of(int64_t *parent, int64_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}
static void join(int64_t *parent, int64_t a, int64_t b) {
  a = root_of(parent, a);
  b = root_of(parent, b);
  parent[a > b ? a : b] = a < b ? a : b;
}

/* Where corner c's edge ends: the next corner of its triangle. */
static int64_t next_corner(int64_t c) {
  return c % 3 == 2 ? c - 2 : c + 1;
}

/* One piece: all triangles hang together by edges. */
static TlStatus check_pieces(const TlTriangles *m, const Edge *edge, int64_t *parent) {
  int64_t pieces = 0;
  for (int64_t t = 0; t < m->triangles; t++) parent[t] = t;
  for (int64_t i = 0; i < 3 * m->triangles; i += 2)
    join(parent, edge[i].corner / 3, edge[i + 1].corner / 3);
  for (int64_t t = 0; t < m->triangles; t++) pieces += parent[t] == t;
  if (pieces == 1) return TL_OK;
  return tl_fail(TL_EINPUT, "%lld separate shells; give one closed surface a file",
                 (long long)pieces);
}

/* One fan a vertex: the corners at a vertex hang together by the edges there. */
static TlStatus check_fans(const TlTriangles *m, const Edge *edge, int64_t *parent) {
  int64_t fans = 0;
  for (int64_t c = 0; c < 3 * m->triangles; c++) parent[c] = c;
  for (int64_t i = 0; i < 3 * m->triangles; i += 2) { /* the two run in opposite directions */
    int64_t a = edge[i].corner, b = edge[i + 1].corner;
    join(parent, a, next_corner(b));
    join(parent, next_corner(a), b);
  }
  for (int64_t c = 0; c < 3 * m->triangles; c++) fans += parent[c] == c;
  if (fans == m->vertices) return TL_OK;
  return tl_fail(TL_EINPUT, "not the surface of a body: it touches itself in %lld vertices",
                 (long long)(fans - m->vertices));
}

static TlStatus check_topology(const TlTriangles *m) {
  int64_t count = 3 * m->triangles;
  Edge *edge;
  int64_t *parent = NULL;
  TL_TRY(TL_NEW(edge, (size_t)count));
  for (int64_t c = 0; c < count; c++) {
    int32_t a = m->corner[c], b = m->corner[next_corner(c)];
    edge[c] = (Edge){a < b ? a : b, a < b ? b : a, c, a < b};
  }
  qsort(edge, (size_t)count, sizeof *edge, compare_edges);
  TlStatus status = check_edges(m, edge, count);
  if (status == TL_OK) status = TL_NEW(parent, (size_t)count);
  if (status == TL_OK) status = check_pieces(m, edge, parent);
  if (status == TL_OK) status = check_fans(m, edge, parent);
  tl_free(edge);
  tl_free(parent);
  return status;
}

static TlStatus point_outwards(TlTriangles *m, TlTrianglesReport *report) {
  double volume = tl_triangles_volume(m), area = tl_triangles_area(m);
  if (!(fabs(volume) > 1e-12 * area * sqrt(area)))
    return tl_fail(TL_EINPUT, "the surface holds no volume");
  report->turned = volume < 0;
  for (int64_t t = 0; report->turned && t < m->triangles; t++) {
    int32_t *v = m->corner + 3 * t, keep = v[1];
    v[1] = v[2];
    v[2] = keep;
  }
  return TL_OK;
}

TlStatus tl_triangles_make_body(TlTriangles *m, TlTrianglesReport *report) {
  *report = (TlTrianglesReport){0};
  if (m->triangles == 0) return tl_fail(TL_EINPUT, "no triangles");
  TL_TRY(weld(m, &report->welded));
  drop_collapsed(m, report);
  if (m->triangles == 0) return tl_fail(TL_EINPUT, "no triangles with three different corners");
  TL_TRY(drop_unused(m));
  TL_TRY(check_topology(m));
  return point_outwards(m, report);
}
