/* Rigid boundaries: fixed bodies given by a signed distance. A table of functions a kind; planes
 * and terrains now, a new kind is one new file and one line in boundary_kinds.
 *
 * phi > 0 where the grains are, metres, world frame; the normal is unit and points to the grains.
 */
#ifndef TL_DEM_BOUNDARY_H
#define TL_DEM_BOUNDARY_H

#include "base/status.h"
#include "num/vec.h"
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
} TlBoundaryKind;

typedef struct TlBoundary {
  const TlBoundaryKind *kind;
  const void *data; /* borrowed */
} TlBoundary;

/* data of a plane: a point on it and its unit normal. */
typedef struct TlBoundaryPlane {
  TlVec3 point, normal;
} TlBoundaryPlane;

extern const TlBoundaryKind tl_boundary_plane;   /* data: TlBoundaryPlane */
extern const TlBoundaryKind tl_boundary_terrain; /* data: TlTerrain (shape/terrain.h) */

/* A kind by name ("plane", "terrain"); NULL when there is none. */
const TlBoundaryKind *tl_boundary_kind(const char *name);

#endif
