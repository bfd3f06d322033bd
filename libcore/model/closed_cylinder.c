/* A cylinder about z with flat ends. Its points are rings about the axis: on each the deepest
 * place, and on the rims also a fan of others, so that it can stand.
 */
#include "model/closed.h"

#include <math.h>

/* Below this sine of the angle between axis and normal the deepest place of a rim is no longer well
 * set: the fan stays fixed in the body. A rim point that a fixed fan misses lies at most
 * r FLAT (1 - cos(pi/FAN_FLAT)) = 6e-4 r lower, under the slop. */
static const double FLAT = 0.03;
enum { FAN = 8, FAN_FLAT = 16, MOST_RINGS = 9, REFINE = 2, RING_KEYS = FAN + FAN_FLAT };

static double cylinder_phi(const double *size, TlVec3 p, TlVec3 *gradient) {
  double rho = hypot(p.x, p.y), side = rho - size[0], end = fabs(p.z) - 0.5 * size[1];
  double out_side = fmax(side, 0), out_end = fmax(end, 0), far = hypot(out_side, out_end);
  if (gradient) {
    double gr = far > 0 ? out_side / far : side > end, gz = far > 0 ? out_end / far : !(side > end);
    TlVec3 radial = rho > 0 ? tl_vec3(p.x / rho, p.y / rho, 0) : tl_vec3(1, 0, 0);
    *gradient = tl_vec3(gr * radial.x, gr * radial.y, copysign(gz, p.z));
  }
  return far > 0 ? far : fmax(side, end);
}

static TlClosedMass cylinder_mass(const double *size) {
  double r = size[0], l = size[1], volume = M_PI * r * r * l, across = (3 * r * r + l * l) / 12;
  return (TlClosedMass){volume, 2 * M_PI * r * (r + l),
                        tl_scale(volume, tl_vec3(across, across, 0.5 * r * r))};
}

static double cylinder_radius(const double *size) {
  return hypot(size[0], 0.5 * size[1]);
}

typedef struct Ring {
  const double *size;
  const TlField *field;
  double z;
  int32_t key; /* of its first point */
} Ring;

static bool ring_point(const Ring *ring, double x, double y, int32_t place, TlClosedPoint *out) {
  *out = (TlClosedPoint){.p = {ring->size[0] * x, ring->size[0] * y, ring->z},
                         .key = ring->key + place};
  return ring->field->at(ring->field, out->p, &out->gap, &out->n);
}

/* Where the ring is deepest: against the normal n, at first that of its centre, then where that led, as long as
 * it gets deeper. false: the ring lies flat in the field. */
static bool deepest_on(const Ring *ring, TlVec3 n, TlClosedPoint *best) {
  bool found = false;
  for (int i = 0; i <= REFINE; i++) {
    double across = hypot(n.x, n.y);
    TlClosedPoint p;
    if (across < FLAT || !ring_point(ring, -n.x / across, -n.y / across, 0, &p)) break;
    if (found && !(p.gap < best->gap)) break;
    *best = p;
    n = p.n;
    found = true;
  }
  return found;
}

/* Of `count` points around the ring, (x, y) being number 0, those from number `first` on whose gap is below the field's
 * limit. Between two points a distance changes by no more than their separation, so that a point far above the limit
 * rules out its neighbours. The point opposite to (x, y) is usually the farthest: it is asked first. */
static int fan(const Ring *ring, double x, double y, int first, int count, int32_t key,
               TlClosedPoint *out) {
  bool left_out[FAN_FLAT] = {false};
  TlClosedPoint point[FAN_FLAT];
  for (int k = 0; k < count; k++) {
    int i = (k + count / 2) % count;
    if (i < first || left_out[i]) continue;
    double c = cos(2 * M_PI * i / count), s = sin(2 * M_PI * i / count);
    bool there = ring_point(ring, c * x - s * y, s * x + c * y, key + i, &point[i]);
    double clear = there ? point[i].gap - ring->field->limit : 0;
    left_out[i] = !there || clear >= 0;
    for (int away = 1; away <= count / 2; away++) {
      if (2 * ring->size[0] * sin(M_PI * away / count) > clear) break;
      left_out[(i + away) % count] = left_out[(i + count - away) % count] = true;
    }
  }
  int kept = 0;
  for (int i = first; i < count; i++)
    if (!left_out[i]) out[kept++] = point[i];
  return kept;
}

static int ring_points(const Ring *ring, bool rim, TlClosedPoint *out) {
  double gap, r = ring->size[0];
  TlVec3 n;
  bool there = ring->field->at(ring->field, tl_vec3(0, 0, ring->z), &gap, &n);
  if (there && gap - r >= ring->field->limit) return 0; /* no point of it is nearer than this */
  if (!there || !deepest_on(ring, n, out)) return fan(ring, 1, 0, 0, rim ? FAN_FLAT : 1, FAN, out);
  return 1 + (rim ? fan(ring, out->p.x / r, out->p.y / r, 1, FAN, 0, out + 1) : 0);
}

/* Height at which the axis is nearest to a convex field, by bisection on the slope along it; false
 * when that is an end. Crossed cylinders meet there. */
static bool nearest_on_axis(const double *size, const TlField *field, double *z) {
  enum { HALVINGS = 24 };
  double gap, low = -0.5 * size[1], high = -low;
  TlVec3 n;
  if (!field->at(field, tl_vec3(0, 0, low), &gap, &n) || !(n.z < 0)) return false;
  if (!field->at(field, tl_vec3(0, 0, high), &gap, &n) || !(n.z > 0)) return false;
  for (int i = 0; i < HALVINGS; i++) {
    *z = 0.5 * (low + high);
    if (!field->at(field, tl_vec3(0, 0, *z), &gap, &n)) return false;
    *(n.z < 0 ? &low : &high) = *z;
  }
  return true;
}

static int cylinder_points(const double *size, const TlField *field, TlClosedPoint *out) {
  double wanted = ceil(size[1] / size[0]), z;
  int spans = wanted < MOST_RINGS - 1 ? (int)wanted : MOST_RINGS - 1, count = 0;
  if (spans < 2) spans = 2;
  for (int i = 0; i <= spans; i++) {
    Ring ring = {size, field, size[1] * ((double)i / spans - 0.5), RING_KEYS * i};
    count += ring_points(&ring, i == 0 || i == spans, out + count);
  }
  if (!nearest_on_axis(size, field, &z)) return count;
  Ring ring = {size, field, z, RING_KEYS * MOST_RINGS};
  return count + ring_points(&ring, false, out + count);
}

/* One on each rim. */
static int cylinder_farthest(const double *size, TlVec3 n, TlVec3 *out) {
  double across = hypot(n.x, n.y);
  for (int k = 0; k < 2; k++)
    out[k] = tl_vec3(across > 0 ? -size[0] * n.x / across : size[0],
                     across > 0 ? -size[0] * n.y / across : 0, (k ? 0.5 : -0.5) * size[1]);
  return 2;
}

static void cylinder_sizes(const TlFormula *f, double *size) {
  size[0] = f->diameter_m / 2;
  size[1] = f->length_m;
}

const TlClosedKind tl_closed_cylinder = {.name = "cylinder",
                                         .size_count = 2,
                                         .size_name = {"radius_m", "length_m"},
                                         .sizes = cylinder_sizes,
                                         .phi = cylinder_phi,
                                         .mass = cylinder_mass,
                                         .radius = cylinder_radius,
                                         .points = cylinder_points,
                                         .farthest = cylinder_farthest};
