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
#include "shape/terrain.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlBoundaryKind {
  const char *name;
  /* Signed distance (a lower bound will do where it is far) and normal at point; false: the
   * boundary does not reach below or above this point (a grain there has left it). Never fails. */
  bool (*phi)(const void *data, TlVec3 point, double *phi, TlVec3 *normal);
  /* Change of phi over a metre never exceeds this (1 for a perfect distance): pruning. */
  double lipschitz;
  bool exact; /* phi is the true distance however far */
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

extern const TlBoundaryKind tl_boundary_plane;   /* data: TlBoundaryPlane */
extern const TlBoundaryKind tl_boundary_solid;   /* data: TlBoundarySolid */
extern const TlBoundaryKind tl_boundary_tube;    /* data: TlBoundaryTube */
extern const TlBoundaryKind tl_boundary_ring;    /* data: TlBoundaryRing */
extern const TlBoundaryKind tl_boundary_terrain; /* data: TlTerrain (shape/terrain.h) */

/* A kind by name ("plane", "solid", "tube", "ring", "terrain"); NULL when there is none. */
const TlBoundaryKind *tl_boundary_kind(const char *name);

bool tl_boundary_driven_phi(const TlBoundary *boundary, TlVec3 point, double *phi, TlVec3 *normal);
/* phi where the boundary is in this step; one that is not there is infinitely far. */
static inline bool tl_boundary_phi(const TlBoundary *b, TlVec3 point, double *phi, TlVec3 *normal) {
  return b->drive ? tl_boundary_driven_phi(b, point, phi, normal)
                  : b->kind->phi(b->data, point, phi, normal);
}
/* Velocity of the boundary's material at a world point. */
static inline TlVec3 tl_boundary_velocity(const TlBoundary *b, TlVec3 point) {
  return b->drive && !b->place.absent ? tl_placed_velocity(&b->place, point) : (TlVec3){0, 0, 0};
}
/* Its material at a world point. */
int32_t tl_boundary_material(const TlBoundary *boundary, TlVec3 point);

#endif
