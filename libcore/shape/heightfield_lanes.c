/* Descents and signed distances side by side. One Newton step is a chain of some thirty operations that each wait
 * for the last, with a division at its end: four chains at once cost little more than one. The same
 * operations in the same order as in heightfield.c, so the same bits. */
#include "base/lanes.h"
#include "shape/heightfield.h"

#include <math.h>
#include <string.h>

enum { LANES = TL_HEIGHTFIELD_LANES };

typedef double V4 __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t M4 __attribute__((vector_size(LANES * sizeof(int64_t))));
typedef int32_t I4 __attribute__((vector_size(LANES * sizeof(int32_t))));

#pragma GCC diagnostic ignored "-Wpsabi" /* all that passes vectors is inlined */
#define INLINE static inline __attribute__((always_inline))

INLINE V4 chosen(M4 where, V4 yes, V4 no) {
  return (V4)(((M4)yes & where) | ((M4)no & ~where));
}
INLINE bool some(M4 where) {
  return (where[0] | where[1] | where[2] | where[3]) != 0;
}
INLINE V4 loaded(const double *from) {
  V4 v;
  memcpy(&v, from, sizeof v);
  return v;
}

/* The patches that the lanes are on: z = a + b u + c v + d u v; i and j as doubles. */
typedef struct Patches {
  V4 a, b, c, d, i, j;
} Patches;

/* Whole cells under the places, held to the grid. */
INLINE V4 cells_under(V4 x, double last) {
  V4 zero = {0}, top = {last, last, last, last};
  x = chosen(x < zero, zero, x);
  x = chosen(x > top, top, x);
  return __builtin_convertvector(__builtin_convertvector(x, I4), V4); /* x >= 0: floor */
}

INLINE Patches patches_at(const TlHeightfield *f, V4 i, V4 j) {
  V4 h00, h10, h01, h11;
  for (int l = 0; l < LANES; l++) {
    const float *h = f->height + (int64_t)j[l] * f->nx + (int64_t)i[l];
    h00[l] = h[0];
    h10[l] = h[1];
    h01[l] = h[f->nx];
    h11[l] = h[f->nx + 1];
  }
  double s = f->per_metre;
  return (Patches){s * h00, s * (h10 - h00), s * (h01 - h00), s * ((h11 - h01) - (h10 - h00)), i,
                   j};
}

/* newton_step of heightfield.c. */
INLINE void newton_steps(const Patches *p, V4 x, V4 y, V4 z, V4 u, V4 v, V4 *du, V4 *dv) {
  V4 zu = p->b + p->d * v, zv = p->c + p->d * u;
  V4 e = p->a + p->b * u + zv * v - z;
  V4 gu = u - x + e * zu, gv = v - y + e * zv;
  V4 huu = 1 + zu * zu, hvv = 1 + zv * zv, huv = zu * zv + e * p->d;
  V4 det = huu * hvv - huv * huv, gauss = 1 + zu * zu + zv * zv;
  M4 bent = det < 0.05 * gauss;
  huv = chosen(bent, zu * zv, huv);
  det = chosen(bent, gauss, det);
  *du = (huv * gv - hvv * gu) / det;
  *dv = (huv * gu - huu * gv) / det;
}

/* Steps are cut to one cell; few are that long. */
INLINE void cut(V4 length2, V4 *du, V4 *dv) {
  V4 one = {1, 1, 1, 1};
  if (!some(length2 > one)) return;
  for (int l = 0; l < LANES; l++) {
    double factor = length2[l] > 1 ? 1 / sqrt(length2[l]) : 1;
    (*du)[l] *= factor;
    (*dv)[l] *= factor;
  }
}

/* Lanes that settle in a patch end here, with their place and squared distance. The rest (creases,
 * corners, missing patches, those that leave the grid) are left as they were: false in `settled`.
 */
INLINE M4 settle(const TlHeightfield *f, const V4 p[3], V4 *at_x, V4 *at_y, V4 *square) {
  double last_i = (double)(f->nx - 2), last_j = (double)(f->ny - 2);
  V4 x = *at_x, y = *at_y, zero = {0}, before_i = zero - 1, before_j = before_i;
  M4 settled = {0}, hard = {0};
  Patches q = patches_at(f, cells_under(x, last_i), cells_under(y, last_j));
  for (int iteration = 0; iteration < TL_HEIGHTFIELD_STEPS && some(~(settled | hard));
       iteration++) {
    V4 du, dv, px = p[0] - q.i, py = p[1] - q.j;
    hard |= (M4)(q.d != q.d) & ~settled; /* a sample is missing */
    newton_steps(&q, px, py, p[2], x - q.i, y - q.j, &du, &dv);
    V4 length2 = du * du + dv * dv;
    cut(length2, &du, &dv);
    M4 open = ~(settled | hard);
    x = chosen(open, x + du, x);
    y = chosen(open, y + dv, y);
    V4 i = cells_under(x, last_i), j = cells_under(y, last_j);
    M4 same = (M4)(i == q.i) & (M4)(j == q.j);
    V4 u = x - q.i, v = y - q.j, e = q.a + q.b * u + q.c * v + q.d * u * v - p[2];
    M4 ends = open & same & (M4)(length2 <= 1e-4 + zero);
    *square = chosen(ends, (u - px) * (u - px) + (v - py) * (v - py) + e * e, *square);
    settled |= ends;
    hard |= open & ~same & (M4)(i == before_i) & (M4)(j == before_j);
    before_i = chosen(same, before_i, q.i);
    before_j = chosen(same, before_j, q.j);
    if (some(open & ~same)) q = patches_at(f, i, j);
  }
  V4 edge_x = last_i + 1 + zero, edge_y = last_j + 1 + zero;
  settled &= (M4)(x >= zero) & (M4)(y >= zero) & (M4)(x <= edge_x) & (M4)(y <= edge_y);
  *at_x = chosen(settled, x, *at_x);
  *at_y = chosen(settled, y, *at_y);
  return settled;
}

TL_LANES_CLONES
void tl_heightfield_descend_lanes(const TlHeightfield *field, const double p[3][LANES],
                                  double x[LANES], double y[LANES], double distance[LANES]) {
  V4 at_x = loaded(x), at_y = loaded(y), square = {0};
  const V4 point[3] = {loaded(p[0]), loaded(p[1]), loaded(p[2])};
  M4 settled = {0};
  if (field->nx > 1 && field->ny > 1) settled = settle(field, point, &at_x, &at_y, &square);
  memcpy(x, &at_x, sizeof at_x);
  memcpy(y, &at_y, sizeof at_y);
  for (int l = 0; l < LANES; l++)
    distance[l] = settled[l] ? sqrt(square[l])
                             : tl_heightfield_descend(field, tl_vec3(p[0][l], p[1][l], p[2][l]),
                                                      &x[l], &y[l]);
}

/* ---- signed distances ---- */

enum { SIDE_BY_SIDE = 8 };
typedef double Lane[SIDE_BY_SIDE];

typedef struct Points {
  Lane a, b, c, d, u, v, z; /* patch, and the point in its coordinates */
} Points;

/* What tl_heightfield_signed does first, operation by operation: the foot inside the patch at each point. Where
 * `there` is 0 the nearest point of the ground may lie elsewhere. */
TL_LANES_CLONES static void find_feet(const Points *p, Lane phi, Lane n[3], Lane there) {
  enum { ROUNDS = 4 };
  Lane x, y, e, w, border, moving;
  for (int k = 0; k < SIDE_BY_SIDE; k++) {
    double u = p->u[k], v = p->v[k], zu = p->b[k] + p->d[k] * v, zv = p->c[k] + p->d[k] * u;
    e[k] = p->z[k] - (p->a[k] + p->b[k] * u + zv * v);
    w[k] = 1 / (1 + zu * zu + zv * zv);
    border[k] = tl_min(tl_min(u, 1 - u), tl_min(v, 1 - v));
    there[k] = fabs(e[k]) * sqrt(w[k]) <= border[k] ? 1 : 0;
    there[k] = fabs(p->d[k] * e[k]) < 0.5 ? there[k] : 0;
    x[k] = u + e[k] * zu * w[k];
    y[k] = v + e[k] * zv * w[k];
    moving[k] = p->d[k] != 0 ? there[k] : 0;
  }
  for (int round = 0; round < ROUNDS; round++) {
    double any = 0;
    for (int k = 0; k < SIDE_BY_SIDE; k++) any += moving[k];
    if (!(any > 0)) break;
    for (int k = 0; k < SIDE_BY_SIDE; k++) { /* newton_step */
      double zu = p->b[k] + p->d[k] * y[k], zv = p->c[k] + p->d[k] * x[k];
      double off = p->a[k] + p->b[k] * x[k] + zv * y[k] - p->z[k];
      double gu = x[k] - p->u[k] + off * zu, gv = y[k] - p->v[k] + off * zv;
      double huu = 1 + zu * zu, hvv = 1 + zv * zv, huv = zu * zv + off * p->d[k];
      double det = huu * hvv - huv * huv, gauss = 1 + zu * zu + zv * zv;
      huv = det < 0.05 * gauss ? zu * zv : huv;
      det = det < 0.05 * gauss ? gauss : det;
      double du = (huv * gv - hvv * gu) / det, dv = (huv * gu - huu * gv) / det;
      x[k] = moving[k] > 0 ? x[k] + du : x[k];
      y[k] = moving[k] > 0 ? y[k] + dv : y[k];
      moving[k] = fabs(du) + fabs(dv) < 1e-3 ? 0 : moving[k];
    }
  }
  for (int k = 0; k < SIDE_BY_SIDE; k++) {
    double off = p->a[k] + p->b[k] * x[k] + p->c[k] * y[k] + p->d[k] * x[k] * y[k] - p->z[k];
    double far =
        sqrt((x[k] - p->u[k]) * (x[k] - p->u[k]) + (y[k] - p->v[k]) * (y[k] - p->v[k]) + off * off);
    double zu = p->b[k] + p->d[k] * y[k], zv = p->c[k] + p->d[k] * x[k],
           inverse = 1 / sqrt(1 + zu * zu + zv * zv);
    there[k] = far <= border[k] ? there[k] : 0;
    phi[k] = e[k] < 0 ? -far : far;
    n[0][k] = -zu * inverse;
    n[1][k] = -zv * inverse;
    n[2][k] = inverse;
  }
}

void tl_heightfield_signed_many(const TlHeightfield *f, const TlVec3 *p, size_t count, double *phi,
                                TlVec3 *normal) {
  for (size_t first = 0; first < count; first += SIDE_BY_SIDE) {
    Points at = {.a = {0}};
    Lane found, n[3], there;
    bool ground[SIDE_BY_SIDE];
    int many = count - first < SIDE_BY_SIDE ? (int)(count - first) : SIDE_BY_SIDE;
    for (int k = 0; k < many; k++) {
      const TlVec3 *q = &p[first + (size_t)k];
      TlPatch patch = {0};
      ground[k] = tl_heightfield_locate(f, q->x, q->y, &patch, &at.u[k], &at.v[k]);
      at.a[k] = patch.a, at.b[k] = patch.b, at.c[k] = patch.c, at.d[k] = patch.d;
      at.z[k] = q->z;
    }
    find_feet(&at, found, n, there);
    for (int k = 0; k < many; k++) {
      size_t i = first + (size_t)k;
      phi[i] = found[k];
      normal[i] = tl_vec3(n[0][k], n[1][k], n[2][k]);
      if (ground[k] && there[k] > 0) continue;
      normal[i] = tl_vec3(0, 0, 0);
      tl_heightfield_signed(f, p[i], INFINITY, &phi[i], &normal[i]);
    }
  }
}
