/* How deep a clamped rectangular membrane without tension at the start sags under a pressure: the
 * reference for nets of springs under pressure (val_net), found with nothing of theirs.
 *
 * A sheet of modulus times thickness Eh and Poisson's ratio nu, in plane stress, of triangles of
 * constant strain: F the gradient of the deformation, E = (F^T F - 1)/2 (Green), S = Eh/(1 - nu^2)
 * ((1 - nu) E + nu tr(E) 1), force on the corners -A F S grad(N); the pressure stands on the
 * deformed triangles, a third a corner. No small slopes are assumed. Equilibrium by dynamic
 * relaxation: masses that suit the stiffness, velocities put to 0 whenever the kinetic energy
 * falls, until no node is pulled by more than 1e-4 of its load. Two meshes, n and 2n, and the
 * extrapolation of their error h^2.
 *
 * Its own check is a long strip, which has a formula (membrane_strip_sag): test_membrane. */
#ifndef TL_TESTS_VALIDATION_MEMBRANE_ORACLE_H
#define TL_TESTS_VALIDATION_MEMBRANE_ORACLE_H

#include "base/mem.h"
#include "num/vec.h"

#include <stdbool.h>

typedef struct Sheet {
  double width_m, length_m; /* of the rectangle */
  double modulus_N_m, poisson;
  double pressure_Pa;
} Sheet;

/* An endless strip of this width: the tension T of a parabola, q a^2/(2 w) = T = Eh/(1 - nu^2) 2/3
 * (w/a)^2, a half of the width, for w much less than a. */
static inline double membrane_strip_sag(const Sheet *s) {
  double a = 0.5 * s->width_m;
  return a * cbrt(0.75 * (1 - s->poisson * s->poisson) * s->pressure_Pa * a / s->modulus_N_m);
}

typedef struct SheetMesh {
  const Sheet *sheet;
  int nx, ny; /* cells */
  TlVec3 *x, *v, *force;
  double mass, mass_z; /* of the relaxation: in the plane, across it */
} SheetMesh;

static inline int sheet_node(const SheetMesh *m, int i, int j) {
  return j * (m->nx + 1) + i;
}

static inline bool sheet_held(const SheetMesh *m, int node) {
  int i = node % (m->nx + 1), j = node / (m->nx + 1);
  return i == 0 || j == 0 || i == m->nx || j == m->ny;
}

/* Corner 0 is the right angle; its sides lie sx hx along x and sy hy along y. */
static inline void sheet_triangle(const SheetMesh *m, int n0, int nx, int ny, double sx,
                                  double sy) {
  const Sheet *s = m->sheet;
  double hx = sx * s->width_m / m->nx, hy = sy * s->length_m / m->ny, area = 0.5 * fabs(hx * hy);
  TlVec3 ex = tl_sub(m->x[nx], m->x[n0]), ey = tl_sub(m->x[ny], m->x[n0]);
  TlVec3 fx = tl_scale(1 / hx, ex), fy = tl_scale(1 / hy, ey); /* columns of F */
  double exx = 0.5 * (tl_dot(fx, fx) - 1), eyy = 0.5 * (tl_dot(fy, fy) - 1),
         exy = 0.5 * tl_dot(fx, fy), c = s->modulus_N_m / (1 - s->poisson * s->poisson);
  double sxx = c * (exx + s->poisson * eyy), syy = c * (eyy + s->poisson * exx),
         sxy = c * (1 - s->poisson) * exy;
  TlVec3 px = tl_scale(area / hx, tl_axpy(tl_scale(sxx, fx), sxy, fy)),
         py = tl_scale(area / hy, tl_axpy(tl_scale(sxy, fx), syy, fy));
  TlVec3 load = tl_scale((hx * hy > 0 ? -1 : 1) * s->pressure_Pa / 6, tl_cross(ex, ey));
  m->force[n0] = tl_add(m->force[n0], tl_add(load, tl_add(px, py)));
  m->force[nx] = tl_add(m->force[nx], tl_sub(load, px));
  m->force[ny] = tl_add(m->force[ny], tl_sub(load, py));
}

/* Diagonals turn from cell to cell, so that no direction is preferred. */
static inline void sheet_forces(const SheetMesh *m) {
  int nodes = (m->nx + 1) * (m->ny + 1);
  for (int k = 0; k < nodes; k++) m->force[k] = (TlVec3){0, 0, 0};
  for (int j = 0; j < m->ny; j++)
    for (int i = 0; i < m->nx; i++) {
      int a = sheet_node(m, i, j), b = sheet_node(m, i + 1, j), c = sheet_node(m, i + 1, j + 1),
          d = sheet_node(m, i, j + 1);
      if ((i + j) % 2 == 0) {
        sheet_triangle(m, b, a, c, -1, 1);
        sheet_triangle(m, d, c, a, 1, -1);
      } else {
        sheet_triangle(m, a, b, d, 1, 1);
        sheet_triangle(m, c, d, b, -1, -1);
      }
    }
}

/* One step of the relaxation; returns the largest pull, and the kinetic energy. */
static inline double sheet_step(const SheetMesh *m, double *kinetic) {
  double most = 0;
  *kinetic = 0;
  sheet_forces(m);
  for (int k = 0; k < (m->nx + 1) * (m->ny + 1); k++) {
    if (sheet_held(m, k)) continue;
    TlVec3 f = m->force[k], *v = &m->v[k];
    *v = tl_add(*v, tl_vec3(f.x / m->mass, f.y / m->mass, f.z / m->mass_z));
    m->x[k] = tl_add(m->x[k], *v);
    *kinetic += m->mass * (v->x * v->x + v->y * v->y) + m->mass_z * v->z * v->z;
    most = tl_norm(f) <= most ? most : tl_norm(f); /* a NaN stays one */
  }
  return most;
}

static inline bool sheet_relax(const SheetMesh *m, double load) {
  enum { STEPS = 400000 };
  double before = 0, kinetic;
  for (int step = 0; step < STEPS; step++) {
    double most = sheet_step(m, &kinetic);
    if (most < 1e-4 * load && step > 100) return true;
    if (isnan(most)) return false;
    if (kinetic < before) {
      for (int k = 0; k < (m->nx + 1) * (m->ny + 1); k++) m->v[k] = (TlVec3){0, 0, 0};
      kinetic = 0;
    }
    before = kinetic;
  }
  return false;
}

/* Sag in the middle; NAN when it comes to no rest or memory ends. nx, ny even. */
static inline double sheet_sag(const Sheet *s, int nx, int ny) {
  size_t nodes = (size_t)(nx + 1) * (size_t)(ny + 1);
  SheetMesh m = {.sheet = s, .nx = nx, .ny = ny};
  double guess = 0.8 * membrane_strip_sag(s), hx = s->width_m / nx, hy = s->length_m / ny,
         c = s->modulus_N_m / (1 - s->poisson * s->poisson), sag = NAN,
         wide = fmax(hx / hy, hy / hx);
  if (TL_NEW(m.x, nodes) == TL_OK && TL_NEW(m.v, nodes) == TL_OK &&
      TL_NEW(m.force, nodes) == TL_OK) {
    for (int k = 0; k < (int)nodes; k++) {
      double x = (double)(k % (nx + 1)) / nx, y = (double)(k / (nx + 1)) / ny;
      m.x[k] = tl_vec3(x * s->width_m, y * s->length_m,
                       -guess * (sheet_held(&m, k) ? 0 : 16 * x * (1 - x) * y * (1 - y)));
    }
    /* stiffness of a node: some c in the plane; across it the tension and what the slope brings of
     * c. Two thirds of that already run away, since every stop of all nodes may throw a stiff one
     * further than it was */
    double slope = 4 * guess / fmin(s->width_m, s->length_m);
    m.mass = 16 * c * wide;
    m.mass_z = m.mass * fmin(1, 16 * slope * slope);
    if (sheet_relax(&m, s->pressure_Pa * hx * hy)) sag = -m.x[sheet_node(&m, nx / 2, ny / 2)].z;
  }
  tl_free(m.x);
  tl_free(m.v);
  tl_free(m.force);
  return sag;
}

/* Extrapolated from two meshes; *error: by how much that moves it. */
static inline double membrane_oracle_sag(const Sheet *s, int nx, int ny, double *error) {
  double coarse = sheet_sag(s, nx, ny), fine = sheet_sag(s, 2 * nx, 2 * ny);
  *error = fabs(fine - coarse) / 3;
  return fine + (fine - coarse) / 3;
}

#endif
