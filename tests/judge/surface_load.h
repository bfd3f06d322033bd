/* What two overlapping surfaces bear by the law of the penalty method's traction, and from which overlap a reported
 * force follows: by integrals over the oracle's own surfaces (post/overlap_shape.h), with nothing of the solver's
 * (contact/patches.h, facet_surface.h, tractions.h).
 *
 * The law: a surface that lies d deep in the other body has the traction k d along that body's normal; of two
 * grains each surface counts for half, at a plane the grain's in full (docs/theory/penalty.md).
 *   polyhedra  faces are cut along the lines where another plane of the other body becomes the nearest; between
 *              these d is linear, and the integral exact. Of a union what lies in another part of its own is left
 *              out, and d is the deepest of the other's parts.
 *   grids      triangles of the zero of the oracle's tricubic field (marching tetrahedra), some thousand in
 *              a contact, d at the middle of each.
 * World frame, SI. Whatever fails ends the program.
 */
#ifndef TL_TESTS_SURFACE_LOAD_H
#define TL_TESTS_SURFACE_LOAD_H

#include "post/overlap.h"

/* The surfaces of a contact that are, or may be when it is twice as deep, within the other body. */
typedef struct JudgeLoad {
  TlOverlapBody a, b; /* b.shape NULL: a plane */
  TlVec3 point, normal;
  struct JudgePiece *piece[2]; /* of a and of b; owned */
  int64_t count[2];
  size_t capacity[2];
} JudgeLoad;

/* b NULL: the plane through `point` with this normal. depth_m: of the contact now. */
void judge_load_open(JudgeLoad *load, const TlOverlapBody *a, const TlOverlapBody *b, TlVec3 point,
                     TlVec3 normal, double depth_m);
/* The force on a over the stiffness when a is moved by `shift`, m^3. */
TlVec3 judge_load_force(const JudgeLoad *load, TlVec3 shift);
/* How far a must go along n, which points away from the other body, until the part of its force along m is
 * `wanted` (over the stiffness, m^3). Between -depth_m and depth_m, the nearer of the two where it is beyond. */
double judge_load_shift(const JudgeLoad *load, TlVec3 n, double depth_m, TlVec3 m, double wanted);
void judge_load_close(JudgeLoad *load);

#endif
