/* The trilinear look-up, most of what a contact search does. x, y, z share a vector, and so do the
 * eight corners: half the instructions of plain code. All of a look-up's values come in the same
 * order of operations whichever function asks, so a node has one phi to the bit. */
#include "base/lanes.h"
#include "shape/avatar.h"

#include <math.h>
#include <string.h>

typedef double V4 __attribute__((vector_size(32)));
typedef double V2 __attribute__((vector_size(16)));
typedef float F4 __attribute__((vector_size(16)));
typedef int32_t I4 __attribute__((vector_size(16)));
typedef int64_t M4 __attribute__((vector_size(32)));

#pragma GCC diagnostic ignored "-Wpsabi" /* all that passes vectors is inlined */
#define INLINE static inline __attribute__((always_inline))

INLINE V4 chosen(M4 where, V4 yes, V4 no) {
  return (V4)(((M4)yes & where) | ((M4)no & ~where));
}

typedef struct Grid {
  const float *phi;
  V4 top; /* grid points less 1; a 4th of nothing */
  I4 last_cell;
  int64_t nx, ny, dz;
  double h;
} Grid;

INLINE Grid grid_of(const TlAvatar *a) {
  return (Grid){.phi = a->phi,
                .top = {a->nx - 1, a->ny - 1, a->nz - 1, 0},
                .last_cell = {a->nx - 2, a->ny - 2, a->nz - 2, 0},
                .nx = a->nx,
                .ny = a->ny,
                .dz = (int64_t)a->nx * a->ny,
                .h = a->spacing_m};
}

/* Cell of a place in the grid, 0 <= c <= top (there the cast is floor); the next grid point is one
 * on, the cell clamped, never ceil (Correction 15). */
INLINE I4 cell_of(const Grid *g, V4 c) {
  I4 i = __builtin_convertvector(c, I4), over = i > g->last_cell;
  return (g->last_cell & over) | (i & ~over);
}

/* The corners of a cell at the lower x and what they gain to the upper, order 00, 10, 01, 11 in y
 * and z. */
INLINE void corners(const Grid *g, const float *f, F4 *low, F4 *gain) {
  double row[4]; /* two floats each, on their way */
  memcpy(&row[0], f, 8);
  memcpy(&row[1], f + g->nx, 8);
  memcpy(&row[2], f + g->dz, 8);
  memcpy(&row[3], f + g->dz + g->nx, 8);
  F4 near = (F4)(V2){row[0], row[1]}, far = (F4)(V2){row[2], row[3]};
  *low = __builtin_shufflevector(near, far, 0, 2, 4, 6);
  *gain = __builtin_shufflevector(near, far, 1, 3, 5, 7) - *low;
}

/* Where a look-up goes: its cell's first corner, the place in the cell, and how far beyond the grid
 * it lies, in spacings. */
typedef struct Place {
  const float *corner;
  V4 t, out;
} Place;

/* s: place in grid spacings from the first grid point, 4th lane 0. */
INLINE Place place_of(const Grid *g, V4 s) {
  V4 zero = {0}, c = chosen(s > g->top, g->top, s);
  c = chosen(c < zero, zero, c);
  I4 i = cell_of(g, c);
  return (Place){.corner = g->phi + ((int64_t)i[2] * g->ny + i[1]) * g->nx + i[0],
                 .t = c - __builtin_convertvector(i, V4),
                 .out = s - c};
}

/* The grids of many grains lie in no cache: what a few look-ups will read is fetched at once. */
INLINE void fetch(const Grid *g, const float *corner) {
  __builtin_prefetch(corner);
  __builtin_prefetch(corner + g->nx);
  __builtin_prefetch(corner + g->dz);
  __builtin_prefetch(corner + g->dz + g->nx);
}

INLINE double look_up(const Grid *g, const Place *place, TlVec3 *gradient) {
  V4 t = place->t, out = place->out;
  F4 low, gain;
  corners(g, place->corner, &low, &gain);
  V4 d = __builtin_convertvector(gain, V4), f = __builtin_convertvector(low, V4) + t[0] * d;
  V2 f0 = {f[0], f[2]}, df = (V2){f[1], f[3]} - f0, e = f0 + t[1] * df;
  double far2 = out[0] * out[0] + out[1] * out[1] + out[2] * out[2];
  double size = far2 > 0 ? sqrt(far2) : 0;
  if (gradient && size > 0) {
    *gradient = tl_scale(1 / size, tl_vec3(out[0], out[1], out[2]));
  } else if (gradient) {
    V2 d0 = {d[0], d[2]}, x = d0 + t[1] * ((V2){d[1], d[3]} - d0);
    *gradient = tl_scale(1 / g->h, tl_vec3(x[0] + t[2] * (x[1] - x[0]),
                                           df[0] + t[2] * (df[1] - df[0]), e[1] - e[0]));
  }
  return (e[0] + t[2] * (e[1] - e[0])) + size * g->h;
}

enum { AHEAD = 8 };

TL_LANES_CLONES double tl_avatar_phi(const TlAvatar *a, TlVec3 p, TlVec3 *gradient) {
  Grid g = grid_of(a);
  V4 s =
      (1 / g.h) * ((V4){p.x, p.y, p.z, 0} - (V4){a->origin_m.x, a->origin_m.y, a->origin_m.z, 0});
  Place at = place_of(&g, s);
  return look_up(&g, &at, gradient);
}

void tl_avatar_fetch(const TlAvatar *a, TlVec3 p) {
  Grid g = grid_of(a);
  V4 s =
      (1 / g.h) * ((V4){p.x, p.y, p.z, 0} - (V4){a->origin_m.x, a->origin_m.y, a->origin_m.z, 0});
  fetch(&g, place_of(&g, s).corner);
}

TL_LANES_CLONES void tl_avatar_phi_nodes(const TlAvatar *a, const TlMat3 *m, TlVec3 t,
                                         const TlVec3 *p, int32_t count, double *phi,
                                         TlVec3 *gradient) {
  const Grid g = grid_of(a);
  const double inverse = 1 / g.h;
  const V4 mx = {m->m[0][0], m->m[1][0], m->m[2][0], 0},
           my = {m->m[0][1], m->m[1][1], m->m[2][1], 0},
           mz = {m->m[0][2], m->m[1][2], m->m[2][2], 0}, shift = {t.x, t.y, t.z, 0},
           origin = {a->origin_m.x, a->origin_m.y, a->origin_m.z, 0};
  for (int32_t first = 0; first < count; first += AHEAD) {
    int32_t few = count - first < AHEAD ? count - first : AHEAD;
    Place at[AHEAD];
    for (int32_t k = 0; k < few; k++) {
      TlVec3 q = p[first + k];
      at[k] = place_of(&g, inverse * (((mx * q.x + my * q.y) + mz * q.z) + shift - origin));
      fetch(&g, at[k].corner);
    }
    for (int32_t k = 0, n = first; k < few; k++, n++)
      phi[n] = look_up(&g, &at[k], gradient ? &gradient[n] : NULL);
  }
}
