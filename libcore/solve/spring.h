/* The tangential spring of a contact or a bond, which must turn with it. */
#ifndef TL_SOLVE_SPRING_H
#define TL_SOLVE_SPRING_H

#include "num/vec.h"

/* The displacement s, across n0, after the normal has become n1 and the pair has turned about it by
 * the angle 2 atan(half): first by the rotation that takes n0 to n1 (Correction 14; Tan 2022 Eq.
 * 3.9 prints its first term wrongly), then about n1 with (1 - h^2, 2 h)/(1 + h^2) for cosine and
 * sine: no length is lost. n0 = -n1 has no such rotation: s is only laid across. Without branches:
 * force_point.h. */
static inline TlVec3 tl_spring_turned(TlVec3 s, TlVec3 n0, TlVec3 n1, double half) {
  TlVec3 a = tl_cross(n0, n1);
  double c = tl_dot(n0, n1);
  double factor = tl_dot(a, s) / (c > -0.999 ? 1 + c : 1);
  TlVec3 t = tl_axpy(tl_add(tl_scale(c, s), tl_cross(a, s)), factor, a);
  t.x = c > -0.999 ? t.x : s.x;
  t.y = c > -0.999 ? t.y : s.y;
  t.z = c > -0.999 ? t.z : s.z;
  t = tl_axpy(t, -tl_dot(t, n1), n1);
  double inverse = 1 / (1 + half * half);
  return tl_axpy(tl_scale((1 - half * half) * inverse, t), 2 * half * inverse, tl_cross(n1, t));
}

#endif
