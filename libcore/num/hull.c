#include "num/hull.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct Face {
  TlPoint3 a, b, c;   /* counter-clockwise seen from outside */
  int64_t nx, ny, nz; /* outward, not unit */
} Face;

typedef struct Rim {
  TlPoint3 from, to;
} Rim;

typedef struct Hull {
  Face *face;
  Rim *rim;
  size_t faces, face_capacity, rims, rim_capacity;
} Hull;

static Face face_of(TlPoint3 a, TlPoint3 b, TlPoint3 c) {
  int64_t ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z;
  int64_t vx = c.x - a.x, vy = c.y - a.y, vz = c.z - a.z;
  return (Face){a, b, c, uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx};
}

/* > 0: p lies outside; six times the volume of the tetrahedron. */
static int64_t outside(const Face *f, TlPoint3 p) {
  return f->nx * (p.x - f->a.x) + f->ny * (p.y - f->a.y) + f->nz * (p.z - f->a.z);
}

static bool same(TlPoint3 a, TlPoint3 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

static TlStatus add_face(Hull *h, TlPoint3 a, TlPoint3 b, TlPoint3 c) {
  TL_TRY(TL_RESERVE(h->face, h->face_capacity, h->faces + 1));
  h->face[h->faces++] = face_of(a, b, c);
  return TL_OK;
}

/* An edge that two faces to be removed share is no rim: it comes once in each direction. */
static TlStatus add_rim(Hull *h, TlPoint3 from, TlPoint3 to) {
  for (size_t i = 0; i < h->rims; i++) {
    if (!same(h->rim[i].from, to) || !same(h->rim[i].to, from)) continue;
    h->rim[i] = h->rim[--h->rims];
    return TL_OK;
  }
  TL_TRY(TL_RESERVE(h->rim, h->rim_capacity, h->rims + 1));
  h->rim[h->rims++] = (Rim){from, to};
  return TL_OK;
}

static TlStatus add_point(Hull *h, TlPoint3 p) {
  h->rims = 0;
  for (size_t i = 0; i < h->faces;) {
    Face f = h->face[i];
    if (outside(&f, p) <= 0) {
      i++;
      continue;
    }
    TL_TRY(add_rim(h, f.a, f.b));
    TL_TRY(add_rim(h, f.b, f.c));
    TL_TRY(add_rim(h, f.c, f.a));
    h->face[i] = h->face[--h->faces];
  }
  for (size_t i = 0; i < h->rims; i++) TL_TRY(add_face(h, h->rim[i].from, h->rim[i].to, p));
  return TL_OK;
}

static void swap(TlPoint3 *a, TlPoint3 *b) {
  TlPoint3 was = *a;
  *a = *b;
  *b = was;
}

/* Brings four points that span a tetrahedron to the front; false when there are none. */
static bool find_start(TlPoint3 *p, size_t count) {
  size_t i = 1;
  while (i < count && same(p[0], p[i])) i++;
  if (i >= count) return false;
  swap(&p[1], &p[i]);
  for (i = 2; i < count; i++) {
    Face f = face_of(p[0], p[1], p[i]);
    if (f.nx || f.ny || f.nz) break;
  }
  if (i >= count) return false;
  swap(&p[2], &p[i]);
  Face f = face_of(p[0], p[1], p[2]);
  for (i = 3; i < count; i++)
    if (outside(&f, p[i]) != 0) break;
  if (i >= count) return false;
  swap(&p[3], &p[i]);
  if (outside(&f, p[3]) > 0) swap(&p[1], &p[2]);
  return true;
}

static TlStatus build(Hull *h, TlPoint3 *p, size_t count) {
  TL_TRY(add_face(h, p[0], p[1], p[2]));
  TL_TRY(add_face(h, p[0], p[3], p[1]));
  TL_TRY(add_face(h, p[1], p[3], p[2]));
  TL_TRY(add_face(h, p[2], p[3], p[0]));
  for (size_t i = 4; i < count; i++) TL_TRY(add_point(h, p[i]));
  return TL_OK;
}

TlStatus tl_lattice_hull(TlPoint3 *points, size_t count, double *volume) {
  Hull h = {0};
  *volume = 0;
  if (!find_start(points, count)) return TL_OK;
  TlStatus status = build(&h, points, count);
  int64_t six = 0;
  for (size_t i = 0; i < h.faces; i++) six -= outside(&h.face[i], points[0]);
  *volume = (double)six / 6;
  tl_free(h.face);
  tl_free(h.rim);
  return status;
}
