#include "dem/closed.h"

static const double PI = 3.14159265358979323846;

static double sphere_phi(const double *size, TlVec3 p, TlVec3 *gradient) {
  double far = tl_norm(p);
  if (gradient) *gradient = far > 0 ? tl_scale(1 / far, p) : tl_vec3(0, 0, 1);
  return far - size[0];
}

static TlClosedMass sphere_mass(const double *size) {
  double r = size[0], volume = 4.0 / 3 * PI * r * r * r, moment = 0.4 * volume * r * r;
  return (TlClosedMass){volume, 4 * PI * r * r, {moment, moment, moment}};
}

static double sphere_radius(const double *size) {
  return size[0];
}

/* The surface's point at p, to first order, and its normal. */
static bool project(const TlField *field, TlVec3 p, TlVec3 *q, TlVec3 *n) {
  double gap;
  if (!field->at(field, p, &gap, n)) return false;
  *q = tl_axpy(p, -gap, *n);
  return true;
}

/* A gridded field knows its distance only near its surface, and the centre may lie far out. There
 * the surface's point nearest to the centre is sought: the centre's foot on the tangent plane,
 * taken back to the surface, half as far where that overshoots (it does where the sphere's radius
 * exceeds the surface's). n: where to begin; out->gap: the centre's, whose sign says inside or out.
 */
static int sought(const double *size, const TlField *field, TlVec3 n, TlClosedPoint *out) {
  enum { TRIES = 6 };
  double side = out->gap < 0 ? -1 : 1; /* by the field: at a sharp tip normals do not tell */
  TlVec3 q, next, turned;
  if (!project(field, tl_scale(-size[0], n), &q, &n)) return 0;
  double step = 1;
  for (int i = 0; i < TRIES; i++) {
    TlVec3 foot = tl_scale(tl_dot(q, n), n), p = tl_axpy(q, step, tl_sub(foot, q));
    if (project(field, p, &next, &turned) && tl_norm2(next) < tl_norm2(q)) {
      q = next;
      n = turned;
      step = 1;
    } else {
      step *= 0.5;
    }
  }
  double far = tl_norm(q);
  out->n = far > 0 ? tl_scale(-side / far, q) : n;
  out->gap = side * far - size[0];
  out->p = tl_scale(-size[0], out->n);
  return 1;
}

/* By its centre: exact against a true distance. */
static int sphere_points(const double *size, const TlField *field, TlClosedPoint *out) {
  *out = (TlClosedPoint){.key = 0};
  if (!field->at(field, tl_vec3(0, 0, 0), &out->gap, &out->n)) return 0;
  if (!field->exact) return out->gap > 2 * size[0] ? 0 : sought(size, field, out->n, out);
  out->gap -= size[0];
  out->p = tl_scale(-size[0], out->n);
  return 1;
}

const TlClosedKind tl_closed_sphere = {.name = "sphere",
                                       .size_count = 1,
                                       .size_name = {"radius_m"},
                                       .phi = sphere_phi,
                                       .mass = sphere_mass,
                                       .radius = sphere_radius,
                                       .points = sphere_points,
                                       .alone = true};
