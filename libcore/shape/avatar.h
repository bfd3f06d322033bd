/* An avatar: one grain's shape as a signed-distance grid with surface nodes, in its body frame.
 *
 * Body frame: origin at the centre of mass, axes along the principal axes of inertia (ascending
 * moments), SI metres. phi < 0 inside, > 0 outside, metres, on a regular grid with one spacing:
 * grid point (i, j, k) lies at origin + spacing*(i, j, k), i fastest: phi[(k*ny + j)*nx + i].
 * Mass properties are those of the phi = 0 surface at unit density (Correction 30).
 * Immutable once built, shared by all bodies that use it; a body scales it by its own grain scale
 * s: nodes and phi by s, volume s^3, inertia s^5.
 */
#ifndef TL_SHAPE_AVATAR_H
#define TL_SHAPE_AVATAR_H

#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TlAvatar {
  int64_t id;         /* in the catalog; 0 until stored */
  uint32_t label;     /* of the labelled stack it came from; 0: none */
  bool border;        /* the grain is cut by the scan's border or the region of interest */
  int32_t nx, ny, nz; /* grid points */
  double spacing_m;
  TlVec3 origin_m;     /* body position of grid point (0,0,0) */
  float *phi;          /* nx*ny*nz, owned */
  double phi_error_m;  /* largest measured |trilinear phi - true distance| near the surface */
  double gradient_max; /* largest |grad phi| of cells reaching phi >= 0 (about 1) */
  int32_t node_count;
  float *node_m;       /* x,y,z of node i at 3i.., body frame, on phi = 0, owned */
  float *node_area_m2; /* surface area each node stands for; sums to area_m2, owned */
  double volume_m3, area_m2;
  TlVec3 inertia_m5;      /* principal moments at unit density, ascending */
  double radius_m;        /* no point of the surface or node is farther from the origin */
  TlVec3 scan_centroid_m; /* in-situ centre of mass, scan frame (num/volume.h) */
  TlQuat scan_rotation;   /* in-situ orientation, body -> scan */
  double axes_m[3]; /* principal lengths a >= b >= c: extents of the nodes along the body axes */
  bool borrowed;    /* the arrays are another's, and stay when this one is freed */
} TlAvatar;

void tl_avatar_free(TlAvatar *avatar);

/* Trilinear phi at body point p, metres, with its gradient (not normalised; may be NULL). Outside
 * the grid: the distance to the grid's box plus phi at the box's nearest point (a lower bound of
 * the distance up to phi_error_m), gradient pointing away from that point. Never fails. */
double tl_avatar_phi(const TlAvatar *avatar, TlVec3 p, TlVec3 *gradient);

/* Brings what phi at p will read into the cache; changes nothing. */
void tl_avatar_fetch(const TlAvatar *avatar, TlVec3 p);

/* The same phi and gradient (may be NULL), bit for bit, at m p + t of count points p. */
void tl_avatar_phi_nodes(const TlAvatar *avatar, const TlMat3 *m, TlVec3 t, const TlVec3 *p,
                         int32_t count, double *phi, TlVec3 *gradient);

/* For an avatar that comes from a file, before its arrays: a grid of at least 2 x 2 x 2 points
 * whose number (*points) is one, a finite spacing above 0, no negative number of nodes. TL_EINPUT.
 */
TlStatus tl_avatar_check_numbers(const TlAvatar *avatar, int64_t *points);
/* Checks what the solver relies on (finite phi, closed: positive on all six faces, nodes on the
 * surface within 0.1 spacing, positive mass properties); TL_EINPUT names the property and the
 * place. */
TlStatus tl_avatar_check(const TlAvatar *avatar);

/* Diameter of the sphere of equal volume. */
double tl_avatar_diameter_m(const TlAvatar *avatar);
/* Is it a ball by its moments? radius: of the sphere of its volume, in any case. */
bool tl_avatar_is_ball(const TlAvatar *avatar, double *radius);

#endif
