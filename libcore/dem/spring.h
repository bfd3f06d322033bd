/* The tangential spring of a contact or a bond, which must turn with it. */
#ifndef TL_DEM_SPRING_H
#define TL_DEM_SPRING_H

#include "num/vec.h"

/* The displacement s, across n0, after the normal has become n1 and the pair has turned about it by
 * the angle 2 atan(half): first by the rotation that takes n0 to n1 (Correction 14; Tan 2022 Eq.
 * 3.9 prints its first term wrongly), then about n1 with (1 - h^2, 2 h)/(1 + h^2) for cosine and
 * sine: no length is lost. n0 = -n1 has no such rotation: s is only laid across. */
static inline TlVec3 tl_spring_turned(TlVec3 s, TlVec3 n0, TlVec3 n1, double half) {
  TlVec3 a = tl_cross(n0, n1);
  double c = tl_dot(n0, n1);
  if (c > -0.999)
    s = tl_add(tl_axpy(tl_scale(c, s), 1, tl_cross(a, s)), tl_scale(tl_dot(a, s) / (1 + c), a));
  s = tl_axpy(s, -tl_dot(s, n1), n1);
  double inverse = 1 / (1 + half * half);
  double cosine = (1 - half * half) * inverse, sine = 2 * half * inverse;
  return tl_axpy(tl_scale(cosine, s), sine, tl_cross(n1, s));
}

#endif
