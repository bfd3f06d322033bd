#include "num/hull.h"

#include "base/mem.h"

#include <libqhull_r/libqhull_r.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

static const double FLAT = 1e-9; /* six times a cell's volume over its longest edge cubed */

/* Qhull's numbers are best near 1. */
static TlStatus scaled(const TlVec3 *point, int64_t count, coordT **to) {
  TlVec3 mean = {0, 0, 0};
  double far = 0;
  TL_TRY(TL_NEW(*to, (size_t)(3 * count)));
  for (int64_t i = 0; i < count; i++) mean = tl_axpy(mean, 1 / (double)count, point[i]);
  for (int64_t i = 0; i < count; i++) far = fmax(far, tl_norm(tl_sub(point[i], mean)));
  for (int64_t i = 0; i < count; i++) {
    TlVec3 x = tl_scale(far > 0 ? 1 / far : 1, tl_sub(point[i], mean));
    (*to)[3 * i] = x.x, (*to)[3 * i + 1] = x.y, (*to)[3 * i + 2] = x.z;
  }
  return TL_OK;
}

/* Turned the right way round; false: flat. */
static bool orient(const TlVec3 *point, TlCell *c) {
  TlVec3 a = point[c->corner[0]];
  double longest = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++)
      longest = fmax(longest, tl_norm(tl_sub(point[c->corner[i]], point[c->corner[j]])));
  double six = tl_dot(tl_cross(tl_sub(point[c->corner[1]], a), tl_sub(point[c->corner[2]], a)),
                      tl_sub(point[c->corner[3]], a));
  if (!(fabs(six) > FLAT * longest * longest * longest)) return false;
  if (six < 0) {
    int64_t swap = c->corner[2];
    c->corner[2] = c->corner[3];
    c->corner[3] = swap;
  }
  return true;
}

/* false: a corner is none of the points (the one at infinity that option Qz adds). */
static bool corners_of(qhT *qh, const facetT *facet, int64_t count, TlCell *c) {
  vertexT *vertex, **vertexp;
  int n = 0;
  FOREACHvertex_(facet->vertices) {
    int id = qh_pointid(qh, vertex->point);
    if (id < 0 || id >= count || n == 4) return false;
    c->corner[n++] = id;
  }
  return n == 4;
}

static TlStatus take(qhT *qh, const TlVec3 *point, int64_t count, TlCell **cell, int64_t *cells) {
  facetT *facet;
  *cells = 0;
  TL_TRY(TL_NEW(*cell, (size_t)qh->num_facets));
  FORALLfacets {
    TlCell c;
    if (facet->upperdelaunay || !corners_of(qh, facet, count, &c)) continue;
    if (orient(point, &c)) (*cell)[(*cells)++] = c;
  }
  return TL_OK;
}

static TlStatus complain(int code) {
  if (code == qh_ERRsingular || code == qh_ERRinput)
    return tl_fail(TL_EINPUT, "Delaunay cells: the points lie in a plane or are too few");
  return tl_fail(TL_ELIB, "Delaunay cells: qhull failed (code %d)", code);
}

static TlStatus run(coordT *x, const TlVec3 *point, int64_t count, TlCell **cell, int64_t *cells) {
  char command[] = "qhull d Qbb Qc Qz Qt"; /* Qt: non-simplicial facets are cut into cells */
  qhT qhull, *qh = &qhull;
  int kept, total;
  FILE *talk = fopen("/dev/null", "w");
  if (!talk) return tl_fail_errno("/dev/null", "cannot open");
  qh_zero(qh, talk);
  int code = qh_new_qhull(qh, 3, (int)count, x, False, command, NULL, talk);
  TlStatus status = code ? complain(code) : take(qh, point, count, cell, cells);
  qh_freeqhull(qh, !qh_ALL);
  qh_memfreeshort(qh, &kept, &total);
  fclose(talk);
  return status;
}

TlStatus tl_delaunay(const TlVec3 *point, int64_t count, TlCell **cell, int64_t *cells) {
  coordT *x = NULL;
  *cell = NULL;
  *cells = 0;
  if (count < 5) return complain(qh_ERRinput);
  if (count > INT_MAX / 4) return tl_fail(TL_EINPUT, "Delaunay cells: too many points");
  TlStatus status = scaled(point, count, &x);
  if (status == TL_OK) status = run(x, point, count, cell, cells);
  tl_free(x);
  return status;
}
