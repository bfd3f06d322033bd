/* Grains whose surface is a formula r(u) over the directions u, and the exact depth of two of them by
 * dense points of either surface: shares no grid, no node and no field with the library.
 *
 * Depth: the largest distance that a point of one surface, inside the other grain, has to the other
 * grain's surface. The points come from TL_STAR_POINTS directions a grain; about the deepest the
 * direction is refined until nothing is gained. For smooth surfaces that is the length of the least
 * translation that parts the two where they are deepest.
 */
#ifndef TL_TESTS_ORACLE_STAR_H
#define TL_TESTS_ORACLE_STAR_H

#include "shape/avatar.h"

enum { TL_STAR_POINTS = 40000, TL_STAR_TERMS = 16 };

typedef enum TlStarKind {
  TL_STAR_SUPERELLIPSOID = 0, /* half axes and exponents */
  TL_STAR_ROUGH,              /* an ellipsoid with waves, of which few make hollows */
  TL_STAR_BUMPY,              /* with shorter waves: touching pairs meet in several places */
  TL_STAR_FACETED,            /* planes, edges rounded by a p-norm */
  TL_STAR_TWIN                /* two balls that run into each other, at either side along x */
} TlStarKind;

/* The balls of a twin: their radius, and how far from the middle their centres lie. */
static const double TL_STAR_TWIN_RADIUS = 0.65, TL_STAR_TWIN_OFF = 0.5;

typedef struct TlStar {
  TlStarKind kind;
  TlVec3 half;
  double exponent_e, exponent_n;
  int terms;
  TlVec3 term[TL_STAR_TERMS]; /* wave vectors, or normals over the planes' distances */
  double phase[TL_STAR_TERMS], height, power;
  double radius; /* largest r(u) */
  TlVec3 *point; /* [TL_STAR_POINTS] of the surface, owned */
} TlStar;

/* Sizes about 1; seed: of waves or planes. */
TlStatus tl_star_make(TlStarKind kind, uint64_t seed, TlStar *star);
void tl_star_free(TlStar *star);
double tl_star_radius(const TlStar *star, TlVec3 direction); /* direction: unit */
/* The star times metres as an avatar in the star's own frame: so many cells across the largest
 * diameter, so many nodes. Moments are those of a ball: no inertia is right. */
TlStatus tl_star_avatar(const TlStar *star, double metres, int32_t cells, int32_t nodes,
                        TlAvatar *out);
/* b lies at shift and turn in a's frame. < 0: about their distance along a ray. */
double tl_star_depth(const TlStar *a, const TlStar *b, TlVec3 shift, TlMat3 turn);
/* Distance of the centres along `direction` (of a's frame, unit) at which the two begin to touch. */
double tl_star_touch(const TlStar *a, const TlStar *b, TlVec3 direction, TlMat3 turn);

#endif
