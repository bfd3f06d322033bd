#include "shape/wall.h"

#include <math.h>

/* Exact distance to a box whose sides end at q = 0, from the overhang along each. */
static double corner(double x, double y, double z) {
  double inside = fmax(x, fmax(y, z));
  return inside <= 0 ? inside : tl_norm(tl_vec3(fmax(x, 0), fmax(y, 0), fmax(z, 0)));
}

double tl_part_phi(const TlWallPart *part, const TlPlacement *place, TlVec3 p) {
  const double *s = part->size_m;
  if (place->absent) return INFINITY;
  TlVec3 q = tl_part_point(part, place, p);
  double rho = hypot(q.x, q.y);
  switch ((TlPartKind)part->kind) {
  case TL_PART_PLANE:
    return q.z;
  case TL_PART_BOX:
    return corner(fabs(q.x) - 0.5 * s[0], fabs(q.y) - 0.5 * s[1], fabs(q.z) - 0.5 * s[2]);
  case TL_PART_CYLINDER:
    return corner(rho - s[0], -INFINITY, fabs(q.z) - 0.5 * s[1]);
  case TL_PART_TUBE:
    return s[0] - rho;
  case TL_PART_RING:
    return corner(fabs(rho - s[0] - 0.5 * s[2]) - 0.5 * s[2], -INFINITY, fabs(q.z) - 0.5 * s[1]);
  case TL_PART_KINDS:
    break;
  }
  return INFINITY;
}
