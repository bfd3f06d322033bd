/* Convex hull by adding points one after the other: the faces a point sees are taken away, the rim
 * of what is left is joined to it. Points are moved by a hundred-thousandth of the size at random,
 * so that no four lie in a plane (grids are full of such) and what is seen is one piece. Quadratic,
 * so of many points only those that lie farthest out in DIRECTIONS evenly spread ones are taken. */
#include "shape/descriptors.h"

#include "base/mem.h"
#include "base/random.h"

#include <math.h>

typedef struct Face {
  int32_t v[3];
  TlVec3 n; /* unit, outward */
  double d; /* n.x = d */
} Face;

typedef struct Edge {
  int32_t from, to;
} Edge;

enum { DIRECTIONS = 1500 };

typedef struct Hull {
  TlVec3 *point;
  Face *face;
  Edge *rim;
  size_t count, capacity, rim_count, rim_capacity;
  double whisker;
} Hull;

static TlVec3 at(const Hull *h, int32_t i) {
  return h->point[i];
}

static TlStatus add_face(Hull *h, int32_t a, int32_t b, int32_t c) {
  TlVec3 p = at(h, a), n = tl_cross(tl_sub(at(h, b), p), tl_sub(at(h, c), p));
  if (!(tl_norm2(n) > 0)) return TL_OK; /* a sliver sees nothing */
  n = tl_unit(n);
  TL_TRY(TL_RESERVE(h->face, h->capacity, h->count + 1));
  h->face[h->count++] = (Face){{a, b, c}, n, tl_dot(n, p)};
  return TL_OK;
}

/* An edge that two faces taken away share is no rim. */
static TlStatus add_edge(Hull *h, int32_t from, int32_t to) {
  for (size_t e = 0; e < h->rim_count; e++)
    if (h->rim[e].from == to && h->rim[e].to == from) {
      h->rim[e] = h->rim[--h->rim_count];
      return TL_OK;
    }
  TL_TRY(TL_RESERVE(h->rim, h->rim_capacity, h->rim_count + 1));
  h->rim[h->rim_count++] = (Edge){from, to};
  return TL_OK;
}

static TlStatus add_point(Hull *h, int32_t i) {
  TlVec3 p = at(h, i);
  bool outside = false;
  for (size_t f = 0; f < h->count && !outside; f++)
    outside = tl_dot(h->face[f].n, p) > h->face[f].d + h->whisker;
  if (!outside) return TL_OK;
  size_t kept = 0;
  h->rim_count = 0;
  for (size_t f = 0; f < h->count; f++) {
    Face *face = &h->face[f];
    if (tl_dot(face->n, p) <= face->d) {
      h->face[kept++] = *face;
      continue;
    }
    for (int e = 0; e < 3; e++) TL_TRY(add_edge(h, face->v[e], face->v[(e + 1) % 3]));
  }
  h->count = kept;
  for (size_t e = 0; e < h->rim_count; e++) TL_TRY(add_face(h, h->rim[e].from, h->rim[e].to, i));
  return TL_OK;
}

/* The point farthest along a measure. */
static int32_t farthest(const Hull *h, int64_t count, double (*measure)(const TlVec3 *, TlVec3),
                        const TlVec3 *context, double *most) {
  int32_t best = 0;
  *most = -1;
  for (int64_t i = 0; i < count; i++) {
    double m = measure(context, at(h, (int32_t)i));
    if (m > *most) *most = m, best = (int32_t)i;
  }
  return best;
}

static double from_point(const TlVec3 *c, TlVec3 p) {
  return tl_norm(tl_sub(p, c[0]));
}
static double from_line(const TlVec3 *c, TlVec3 p) {
  return tl_norm(tl_cross(tl_unit(tl_sub(c[1], c[0])), tl_sub(p, c[0])));
}
static double from_plane(const TlVec3 *c, TlVec3 p) {
  return fabs(tl_dot(tl_unit(tl_cross(tl_sub(c[1], c[0]), tl_sub(c[2], c[0]))), tl_sub(p, c[0])));
}

/* A fat tetrahedron to begin with; false when all points lie in a plane. */
static TlStatus begin(Hull *h, int64_t count, bool *flat) {
  TlVec3 c[3] = {at(h, 0)};
  double size, wide, high;
  int32_t v[4];
  v[0] = farthest(h, count, from_point, c, &size);
  c[0] = at(h, v[0]);
  v[1] = farthest(h, count, from_point, c, &size);
  *flat = !(size > 0);
  if (*flat) return TL_OK;
  c[1] = at(h, v[1]);
  v[2] = farthest(h, count, from_line, c, &wide);
  *flat = !(wide > 1e-4 * size);
  if (*flat) return TL_OK;
  c[2] = at(h, v[2]);
  v[3] = farthest(h, count, from_plane, c, &high);
  *flat = !(high > 1e-4 * size);
  if (*flat) return TL_OK;
  h->whisker = 2e-5 * size;
  TlVec3 n = tl_cross(tl_sub(c[1], c[0]), tl_sub(c[2], c[0]));
  if (tl_dot(n, tl_sub(at(h, v[3]), c[0])) > 0) { /* the base must look away from the top */
    int32_t swap = v[1];
    v[1] = v[2];
    v[2] = swap;
  }
  TL_TRY(add_face(h, v[0], v[1], v[2]));
  for (int e = 0; e < 3; e++) TL_TRY(add_face(h, v[(e + 1) % 3], v[e], v[3]));
  return TL_OK;
}

/* The points farthest out along the directions of a Fibonacci lattice are marked. */
static void take_outer(const float *points, int64_t count, uint8_t *taken) {
  for (int64_t k = 0; k < DIRECTIONS; k++) {
    double z = 1 - (2 * (double)k + 1) / DIRECTIONS, turn = 2.39996322972865332 * (double)k;
    float nx = (float)(sqrt(1 - z * z) * cos(turn)), ny = (float)(sqrt(1 - z * z) * sin(turn));
    float nz = (float)z, most = -INFINITY;
    int64_t best = 0;
    for (int64_t i = 0; i < count; i++) {
      float reach = nx * points[3 * i] + ny * points[3 * i + 1] + nz * points[3 * i + 2];
      if (reach > most) most = reach, best = i;
    }
    taken[best] = 1;
  }
}

static TlStatus set_points(Hull *h, const float *points, int64_t count, int64_t *outer) {
  uint8_t *taken;
  double size = 0;
  TL_TRY(TL_NEW(taken, (size_t)count));
  TlStatus status = TL_NEW(h->point, (size_t)count);
  if (status == TL_OK) take_outer(points, count, taken);
  for (int64_t i = 0; i < 3 * count; i++) size = fmax(size, fabsf(points[i] - points[i % 3]));
  *outer = 0;
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    if (!taken[i]) continue;
    double p[3];
    for (int a = 0; a < 3; a++)
      p[a] =
          points[3 * i + a] + 1e-5 * size * (tl_random_uniform(1, (uint64_t)i, (uint64_t)a) - 0.5);
    h->point[(*outer)++] = tl_vec3(p[0], p[1], p[2]);
  }
  tl_free(taken);
  return status;
}

TlStatus tl_hull_volume(const float *points, int64_t count, double *volume) {
  Hull h = {0};
  bool flat = true;
  int64_t outer = 0;
  *volume = 0;
  if (count < 4) return TL_OK;
  TlStatus status = set_points(&h, points, count, &outer);
  if (status == TL_OK) status = begin(&h, outer, &flat);
  for (int64_t i = 0; status == TL_OK && !flat && i < outer; i++)
    status = add_point(&h, (int32_t)i);
  for (size_t f = 0; status == TL_OK && f < h.count; f++) {
    const int32_t *v = h.face[f].v;
    *volume += tl_dot(at(&h, v[0]), tl_cross(at(&h, v[1]), at(&h, v[2]))) / 6;
  }
  tl_free(h.point);
  tl_free(h.face);
  tl_free(h.rim);
  return status;
}
