/* Rigid boundaries: fixed or driven bodies given by a signed distance. A table of functions a kind;
 * a new kind is one new file and one line in boundary_kinds.
 *
 * phi > 0 where the grains are, metres, world frame; the normal is unit and points to the grains.
 * A driven boundary is asked through tl_boundary_phi, which takes the point back to where the wall
 * was at rest. Its material is that of its surface, by place where it has classes.
 */
#ifndef TL_MODEL_BOUNDARY_H
#define TL_MODEL_BOUNDARY_H

#include "base/status.h"
#include "model/closed.h"
#include "model/material.h"
#include "num/vec.h"
#include "shape/drive.h"
#include "shape/heightfield.h"
#include "shape/terrain.h"

#include <stdbool.h>
#include <stdint.h>

/* Bilinear patches between samples: sample (i, j) lies at (x0 + i cell, y0 + j cell), world frame. */
typedef struct TlRelief {
  TlHeightfield field;
  double cell_m, x0_m, y0_m;
} TlRelief;

typedef struct TlBoundaryKind {
  const char *name;
  /* Signed distance (a lower bound will do where it is far) and normal at point; false: the
   * boundary does not reach below or above this point (a grain there has left it). Never fails. */
  bool (*phi)(const void *data, TlVec3 point, double *phi, TlVec3 *normal);
  /* The same near the boundary: true where it is below reach, from reach on where it is no less; normal
   * NULL: only whether it is below reach is asked. NULL: phi serves. Contact is sought with this one. */
  bool (*within)(const void *data, TlVec3 point, double reach, double *phi, TlVec3 *normal);
  /* Of points next to each other, however far: where the boundary ends phi is INFINITY and the normal 0. NULL:
   * they are asked one by one. */
  void (*many)(const void *data, const TlVec3 *point, size_t count, double *phi, TlVec3 *normal);
  /* Change over a metre of what contact is sought with never exceeds this (1 for a perfect distance):
   * pruning. */
  double lipschitz;
  /* Heights whose bilinear patches the boundary consists of (contact/ground.h); NULL: it has none. */
  TlRelief (*relief)(const void *data);
  bool exact; /* phi is the true distance however far */
  bool edged; /* it has convex edges or rims: a grain there touches no face of it */
  /* Bodies for which phi says false are flagged TL_BODY_OUTSIDE. */
  bool has_outside;
  /* Class of the surface nearest to the point; NULL: it has none. */
  int32_t (*class_at)(const void *data, TlVec3 point);
} TlBoundaryKind;

typedef struct TlSurface {
  int32_t material;
  int32_t classes;         /* 0: that material everywhere */
  const int32_t *class_id; /* ascending, borrowed; a class that is not listed: material */
  const int32_t *class_material;
} TlSurface;

typedef struct TlBoundary {
  const TlBoundaryKind *kind;
  const void *data;         /* borrowed */
  const TlSurface *surface; /* borrowed; NULL: TL_MATERIAL_BOUNDARY */
  const TlDrive *drive;     /* borrowed; NULL: at rest and there for ever */
  TlPlacement place;        /* with a drive: filled by the solver, step by step */
} TlBoundary;

/* data of a plane: a point on it and its unit normal. */
typedef struct TlBoundaryPlane {
  TlVec3 point, normal;
} TlBoundaryPlane;
/* A closed form (closed.h) with the grains outside: columns of turn are its axes. */
typedef struct TlBoundarySolid {
  const TlClosedKind *kind;
  double size[TL_CLOSED_SIZES];
  TlVec3 centre;
  TlMat3 turn;
} TlBoundarySolid;
/* An endless tube with the grains inside; axis unit. */
typedef struct TlBoundaryTube {
  TlVec3 point, axis;
  double radius_m;
} TlBoundaryTube;
/* A pipe of inner radius, length and thickness: grains inside, outside and on its rims. */
typedef struct TlBoundaryRing {
  TlVec3 centre, axis;
  double radius_m, length_m, thickness_m;
} TlBoundaryRing;

extern const TlBoundaryKind tl_boundary_plane; /* data: TlBoundaryPlane */
extern const TlBoundaryKind tl_boundary_solid; /* data: TlBoundarySolid */
extern const TlBoundaryKind tl_boundary_tube;  /* data: TlBoundaryTube */
extern const TlBoundaryKind tl_boundary_ring;  /* data: TlBoundaryRing */
/* data: TlTerrain (shape/terrain.h). Near the ground its own bilinear patches, or the band's
 * interpolated distances throughout. */
extern const TlBoundaryKind tl_boundary_terrain, tl_boundary_terrain_band;

/* A kind by name ("plane", "solid", "tube", "ring", "terrain", "terrain-band"); NULL when there is none. */
const TlBoundaryKind *tl_boundary_kind(const char *name);

bool tl_boundary_driven_phi(const TlBoundary *boundary, TlVec3 point, double *phi, TlVec3 *normal);
/* phi where the boundary is in this step; one that is not there is infinitely far. */
static inline bool tl_boundary_phi(const TlBoundary *b, TlVec3 point, double *phi, TlVec3 *normal) {
  return b->drive ? tl_boundary_driven_phi(b, point, phi, normal)
                  : b->kind->phi(b->data, point, phi, normal);
}
/* The same for contact: true where it is below reach, from reach on where it is no less. normal NULL: only
 * whether it is below reach is asked. */
bool tl_boundary_driven_within(const TlBoundary *boundary, TlVec3 point, double reach, double *phi,
                               TlVec3 *normal);
static inline bool tl_boundary_within(const TlBoundary *b, TlVec3 point, double reach, double *phi,
                                      TlVec3 *normal) {
  TlVec3 unasked;
  if (!b->kind->within) return tl_boundary_phi(b, point, phi, normal ? normal : &unasked);
  return b->drive ? tl_boundary_driven_within(b, point, reach, phi, normal)
                  : b->kind->within(b->data, point, reach, phi, normal);
}
/* Velocity of the boundary at a world point, but for what its surface runs along it. */
static inline TlVec3 tl_boundary_velocity(const TlBoundary *b, TlVec3 point) {
  return b->drive && !b->place.absent ? tl_placed_velocity(&b->place, point) : (TlVec3){0, 0, 0};
}
/* Velocity of its surface at a world point where it has the unit normal n: what a contact feels. */
static inline TlVec3 tl_boundary_surface_velocity(const TlBoundary *b, TlVec3 point, TlVec3 n) {
  return b->drive && !b->place.absent ? tl_placed_surface_velocity(&b->place, point, n)
                                      : (TlVec3){0, 0, 0};
}
/* How fast its surface runs along it, at most. */
static inline double tl_boundary_runs(const TlBoundary *b) {
  return b->drive && !b->place.absent ? tl_norm(b->place.surface) : 0;
}
/* Does it move in this step, or its surface along it? */
static inline bool tl_boundary_moves(const TlBoundary *b) {
  return b->drive && !b->place.absent &&
         tl_norm2(b->place.v) + tl_norm2(b->place.w) + tl_norm2(b->place.surface) > 0;
}
/* Its material at a world point. */
int32_t tl_boundary_material(const TlBoundary *boundary, TlVec3 point);

#endif
