/* What contact points bear together, for tests of forces over surfaces: force, torque and energy of two bodies
 * at a stiffness by area, and how far force and torque are off the derivative of the energy. */
#ifndef TL_TESTS_SUPPORT_BEARING_H
#define TL_TESTS_SUPPORT_BEARING_H

#include "contact/narrow.h"

#include <math.h>

static const double BEARING_PA_M = 1e9;

/* On a, about `middle`; and the energy. */
typedef struct Bearing {
  TlVec3 force, torque, middle;
  double energy, deepest;
  size_t points;
} Bearing;

static inline Bearing bearing_of(const TlPoints *points, TlVec3 middle) {
  Bearing l = {.middle = middle, .points = points->count};
  for (size_t i = 0; i < points->count; i++) {
    const TlPoint *p = &points->point[i];
    double k = BEARING_PA_M * p->area_m2;
    TlVec3 f = tl_scale(k * p->filled * -p->gap * (1 + p->steeper), p->n);
    l.force = tl_add(l.force, f);
    l.torque = tl_add(l.torque, tl_axpy(tl_cross(tl_sub(p->p, middle), f), p->twist_m, f));
    l.energy += 0.5 * k * p->filled2 * p->gap * p->gap;
    l.deepest = tl_max(l.deepest, -p->gap);
  }
  return l;
}

static inline void bearing_move(TlColliders *c, int64_t i, TlVec3 displacement, TlVec3 turn) {
  c->position[i] = tl_add(c->position[i], displacement);
  c->rotation[i] = tl_quat_unit(tl_quat_mul(tl_quat_from_rotation(turn), c->rotation[i]));
}

/* What colliders 0 and 1 bear where they are, about `middle`. */
typedef Bearing (*BearingQuery)(void *scene, TlVec3 middle);

static inline double bearing_energy_moved(BearingQuery bearing, void *scene, TlColliders *c,
                                          TlVec3 displacement, TlVec3 turn) {
  TlVec3 x = c->position[1];
  TlQuat q = c->rotation[1];
  bearing_move(c, 1, displacement, turn);
  double energy = bearing(scene, x).energy;
  c->position[1] = x;
  c->rotation[1] = q;
  return energy;
}

/* Largest difference over the six motions of collider 1, over the force (and the force times the size). */
static inline double bearing_derivative_error(BearingQuery bearing, void *scene, TlColliders *c,
                                              double size_m, double step) {
  TlVec3 none = {0, 0, 0}, x = c->position[1];
  Bearing l = bearing(scene, x); /* on 1: -force, -torque about its centre */
  double worst = 0, size = tl_norm(l.force);
  for (int k = 0; k < 3; k++) {
    TlVec3 e = tl_vec3(k == 0 ? step : 0, k == 1 ? step : 0, k == 2 ? step : 0);
    TlVec3 w = tl_scale(1 / size_m, e), back = tl_scale(-1, e), unwound = tl_scale(-1, w);
    double by_displacement = (bearing_energy_moved(bearing, scene, c, e, none) -
                              bearing_energy_moved(bearing, scene, c, back, none)) /
                             (2 * step);
    double by_turn = (bearing_energy_moved(bearing, scene, c, none, w) -
                      bearing_energy_moved(bearing, scene, c, none, unwound)) /
                     (2 * step / size_m);
    worst = tl_max(worst, fabs(by_displacement - (&l.force.x)[k]) / size);
    worst = tl_max(worst, fabs(by_turn - (&l.torque.x)[k]) / (size * size_m));
  }
  return worst;
}

#endif
