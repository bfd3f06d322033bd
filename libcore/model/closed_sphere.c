#include "model/closed.h"

static double sphere_phi(const double *size, TlVec3 p, TlVec3 *gradient) {
  double far = tl_norm(p);
  if (gradient) *gradient = far > 0 ? tl_scale(1 / far, p) : tl_vec3(0, 0, 1);
  return far - size[0];
}

static TlClosedMass sphere_mass(const double *size) {
  double r = size[0], volume = 4.0 / 3 * M_PI * r * r * r, moment = 0.4 * volume * r * r;
  return (TlClosedMass){volume, 4 * M_PI * r * r, {moment, moment, moment}};
}

static double sphere_radius(const double *size) {
  return size[0];
}

/* ---- against a field that is no distance far out ----
 *
 * A gridded field is a distance only within `near` of its surface, and the centre may lie farther
 * out. So a smaller sphere about the centre, of radius l = r - near, is asked for the place x where
 * phi is least: the segment from the centre to the nearest point of the surface meets that sphere at
 * x, so the gap is phi(x) - near. That changes no faster than the bodies move, however rounded or creased
 * the field is; a first form sought the nearest point itself, from tangent plane to tangent plane,
 * and at edges of a cross or a tetrahedron told depths of up to 9% of the radius that were none. */

typedef struct Place {
  TlVec3 x, slope; /* slope: of phi along the sphere */
  double phi;
} Place;

/* At length * the direction of x. */
static bool look(const TlField *field, double length, TlVec3 x, Place *place) {
  TlVec3 n, direction = tl_unit(x);
  place->x = tl_scale(length, direction);
  if (!field->at(field, place->x, &place->phi, &n)) return false;
  place->slope = tl_axpy(n, -tl_dot(n, direction), direction);
  return true;
}

/* Steepest descent; the step is where the slope would vanish if it changed evenly, first for a
 * flat surface. */
static bool descend(const TlField *field, double length, Place *best) {
  enum { TRIES = 16 };
  static const double FLAT = 1e-3; /* slope squared: half of that times l is left to gain */
  double step = length;
  for (int i = 0; i < TRIES && tl_norm2(best->slope) > FLAT * FLAT; i++) {
    Place next;
    if (!look(field, length, tl_axpy(best->x, -step, best->slope), &next)) return false;
    TlVec3 displacement = tl_sub(next.x, best->x), change = tl_sub(next.slope, best->slope);
    double bent = tl_dot(displacement, change),
           even = bent > 0 ? tl_norm2(displacement) / bent : length;
    if (next.phi < best->phi) {
      *best = next;
      step = tl_min(even, length);
    } else {
      step = tl_min(tl_max(even, 0.1 * step), 0.5 * step);
    }
  }
  return true;
}

/* From one place; *best: the deepest so far. */
static bool seek(const TlField *field, double length, TlVec3 direction, Place *best) {
  Place place;
  if (!look(field, length, direction, &place) || !descend(field, length, &place)) return false;
  if (place.phi < best->phi) *best = place;
  return true;
}

static TlVec3 on(double length, TlVec3 x) {
  return tl_scale(length, tl_unit(x));
}

/* From each start that is not beside where another one led. */
static bool seek_from_all(const double *size, const TlField *field, double length, Place *best) {
  TlVec3 known[TL_CLOSED_STARTS];
  int count = 0;
  for (int i = 0; i < field->start_count; i++) {
    Place found = {.phi = INFINITY};
    if (tl_closed_beside(on(size[0], field->start[i]), known, count, field->apart)) continue;
    if (!seek(field, length, field->start[i], &found)) return false;
    known[count++] = on(size[0], found.x);
    if (found.phi < best->phi) *best = found;
  }
  return true;
}

/* From where the centre is pushed to. With starts it is asked only inside a body: there no point of
 * its surface says where. */
static bool seek_from_centre(const TlField *field, double length, double far, Place *best) {
  TlVec3 n;
  double gap;
  if (!field->at(field, tl_vec3(0, 0, 0), &gap, &n)) return false;
  return gap > far || seek(field, length, tl_scale(-1, n), best);
}

static int sought(const double *size, const TlField *field, TlClosedPoint *out) {
  double near = tl_min(field->near, 0.9 * size[0]), length = size[0] - near;
  Place best = {.phi = INFINITY};
  if (!seek_from_all(size, field, length, &best)) return 0;
  bool deep = field->start_count == 0 || tl_norm(field->start[0]) < 0.5 * size[0];
  if (deep && !seek_from_centre(field, length, field->start ? 0 : 2 * size[0], &best)) return 0;
  if (!(best.phi < INFINITY)) return 0;
  out->n = tl_scale(-1 / length, best.x);
  out->gap = best.phi - near;
  out->p = tl_scale(-size[0], out->n);
  return 1;
}

/* By its centre, one lookup: against a true distance, and against a field that is one as far out as
 * the centre of a sphere that touches can be. */
static int sphere_points(const double *size, const TlField *field, TlClosedPoint *out) {
  *out = (TlClosedPoint){.key = 0};
  if (!field->exact && size[0] > field->near) return sought(size, field, out);
  if (!field->at(field, tl_vec3(0, 0, 0), &out->gap, &out->n)) return 0;
  out->gap -= size[0];
  out->p = tl_scale(-size[0], out->n);
  return 1;
}

static void sphere_sizes(const TlFormula *f, double *size) {
  size[0] = f->diameter_m / 2;
}

const TlClosedKind tl_closed_sphere = {.name = "sphere",
                                       .size_count = 1,
                                       .size_name = {"radius_m"},
                                       .sizes = sphere_sizes,
                                       .phi = sphere_phi,
                                       .mass = sphere_mass,
                                       .radius = sphere_radius,
                                       .points = sphere_points,
                                       .alone = true};
