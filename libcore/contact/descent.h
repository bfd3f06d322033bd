/* Two smooth fields, and from a point near to where their sum is least (docs/theory/places.md): there the
 * two surfaces face each other, and the sum is the gap along their common normal.
 *
 * A field is the spline of an avatar's grid, a sphere, or the space above a plane. Points are in the frame of
 * the first field, metres; that of the second sees x at r x + t. A step is Newton's across the normal, with
 * curvatures that are bounded, and brings the point half-way between the surfaces along it.
 */
#ifndef TL_CONTACT_DESCENT_H
#define TL_CONTACT_DESCENT_H

#include "model/bodies.h"
#include "shape/spline.h"

#include <math.h>

typedef enum TlSmoothKind { TL_SMOOTH_SPLINE, TL_SMOOTH_SPHERE, TL_SMOOTH_PLANE } TlSmoothKind;

typedef struct TlSmooth {
  TlSmoothKind kind;
  const TlSpline *spline;
  double scale;    /* of the spline */
  double radius_m; /* of the sphere about the origin, scaled */
  TlVec3 normal;   /* of the plane normal . x = distance_m, unit, out of what lies below it */
  double distance_m;
} TlSmooth;

/* Of a collider in its own frame: an avatar's, or a sphere's. */
TlSmooth tl_smooth_of(const TlColliders *colliders, int64_t i);
/* phi at x with gradient and, unless NULL, second derivatives. */
double tl_smooth_phi(const TlSmooth *field, TlVec3 x, TlVec3 *gradient, TlSym3 *hessian);

typedef struct TlSmoothPair {
  TlSmooth field[2];
  TlMat3 r;
  TlVec3 t;
  double size, cell; /* smaller radius, larger cell: bounds of curvatures and steps */
  double tolerance;  /* m: what a step may still gain at the end */
  int64_t lookups;
  bool broken;  /* a field said something that is no number */
  bool settled; /* the last search ended where no step gains more than the tolerance */
} TlSmoothPair;

/* A place; frame of the first field. */
typedef struct TlKeptPlace {
  TlVec3 x, n;        /* half-way between the surfaces; unit, from b to a */
  TlVec3 u, v;        /* across n when the curvature was taken */
  double bend[3];     /* uu, uv, vv of the second derivatives of F, 1/m, bounded */
  double travel;      /* since they were taken, m */
  double gap, motion; /* when it was last evaluated; of the pair then */
  bool last;          /* evaluated at the pair's last pose (places.h) */
  int32_t key;
} TlKeptPlace;

/* Both fields from one point. */
typedef struct TlPlaceLook {
  TlVec3 x, n, sum; /* n: unit, from b to a; sum of the gradients */
  double f, centre; /* sum of the fields; distance along n to where both are equal */
  double facing;    /* the smaller of the two slopes along n: 1 where the gradients oppose */
} TlPlaceLook;
TlPlaceLook tl_look_at(TlSmoothPair *fields, TlVec3 x, TlSym3 *hessian);
/* Newton's step from there across the normal, by the bounded curvatures. */
TlVec3 tl_first_step(const TlSmoothPair *fields, const TlPlaceLook *look, const TlSym3 *hessian);

/* Both principal values of a symmetric 2 by 2 matrix (uu, uv, vv) by their amount, within bounds: a saddle's, too, so
 * that a step by it leads down. */
static inline void tl_bound_curvatures(double bend[3], double least, double most) {
  double mean = 0.5 * (bend[0] + bend[2]), half = 0.5 * (bend[0] - bend[2]), uv = bend[1];
  double spread = sqrt(half * half + uv * uv);
  double high = tl_min(tl_max(fabs(mean + spread), least), most),
         low = tl_min(tl_max(fabs(mean - spread), least), most);
  double turn = spread > 0 ? 0.5 * (high - low) / spread : 0, middle = 0.5 * (high + low);
  bend[0] = middle + turn * half;
  bend[1] = turn * uv;
  bend[2] = middle - turn * half;
}

static inline bool tl_places_beside(const TlKeptPlace *place, int32_t count, int32_t except,
                                    TlVec3 x, double near) {
  for (int32_t i = 0; i < count; i++)
    if (i != except && tl_norm2(tl_sub(place[i].x, x)) < near * near) return true;
  return false;
}

/* Known places: nearer to one than `near` a search ends. */
typedef struct TlBeside {
  const TlKeptPlace *place;
  int32_t count;
  double near;
} TlBeside;
/* Follows the sum down from place->x to its least value. fresh: the place's curvatures are of no use. known
 * may be NULL. False: there is no place, the surfaces do not face each other where the search ends; or it is
 * a known one. */
bool tl_descend(TlSmoothPair *fields, TlKeptPlace *place, bool fresh, const TlBeside *known);

#endif
