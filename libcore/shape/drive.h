/* The motion of a wall and the time in which it exists: a pure function of time, so that a restart
 * and any number of ranks see the same bits.
 *
 * A point X of the wall at rest is at c + d(t) + R(t) (X - c) at time t: c the pivot, d the
 * displacement by the velocity since from_s plus the table's displacement, R the turn by the
 * spin since from_s. Velocity and spin act from from_s to until_s. The surface may run along the wall, as a belt does,
 * which moves no point of it: where the surface has the normal n it has the part of that velocity across n. SI, world
 * frame. */
#ifndef TL_SHAPE_DRIVE_H
#define TL_SHAPE_DRIVE_H

#include "num/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlDrive {
  double from_s, until_s; /* there from <= t < until; until 0: for ever */
  TlVec3 velocity_m_s;
  TlVec3 pivot_m, spin_rad_s;
  TlVec3 surface_m_s; /* of the surface along the wall, as the wall is turned at rest */
  /* displacement against time, linear between rows, held before the first and after the last */
  int64_t rows;
  const double *time_s; /* ascending, borrowed */
  const TlVec3 *displacement_m;
} TlDrive;

typedef struct TlPlacement {
  bool absent;                /* not there in this step */
  TlVec3 pivot, displacement; /* c and d */
  TlMat3 turn;                /* R */
  TlVec3 v, w;                /* velocity of the pivot and spin over the step */
  TlVec3 surface;             /* of the surface along the wall */
} TlPlacement;

bool tl_drive_there(const TlDrive *drive, double time_s);
/* Where the wall is at the start of step `at` (of step_s each); absent, v and w are those of step
 * `during`: v the displacement in that step over step_s, so that positions and velocities agree. */
TlPlacement tl_drive_place(const TlDrive *drive, int64_t at, int64_t during, double step_s);

/* A point of the wall at rest -> world, and back. */
static inline TlVec3 tl_placed(const TlPlacement *place, TlVec3 p) {
  TlVec3 r = tl_mat_vec(place->turn, tl_sub(p, place->pivot));
  return tl_add(tl_add(place->pivot, place->displacement), r);
}
static inline TlVec3 tl_placed_back(const TlPlacement *place, TlVec3 p) {
  TlVec3 r = tl_sub(p, tl_add(place->pivot, place->displacement));
  return tl_add(place->pivot, tl_mat_tvec(place->turn, r));
}
/* Velocity of the wall's material at world point p. */
static inline TlVec3 tl_placed_velocity(const TlPlacement *place, TlVec3 p) {
  TlVec3 r = tl_sub(p, tl_add(place->pivot, place->displacement));
  return tl_add(place->v, tl_cross(place->w, r));
}
/* The same of its surface, where that has the unit normal n. */
static inline TlVec3 tl_placed_surface_velocity(const TlPlacement *place, TlVec3 p, TlVec3 n) {
  return tl_add(tl_placed_velocity(place, p),
                tl_axpy(place->surface, -tl_dot(place->surface, n), n));
}

#endif
