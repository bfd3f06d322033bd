#include "phantom/phantom_shape.h"

#include <math.h>
#include <string.h>

const char *tl_grain_kind_name(TlGrainKind kind) {
  static const char *const names[] = {"rounded", "angular", "elongated", "concave", "faceted"};
  return names[kind];
}

/* Planes outside, points inside: the inner loops vectorise. */
static void lobe_phi(const TlPhantomLobe *lobe, int count, const float *x, const float *y,
                     const float *z, float *phi) {
  const float edge = lobe->edge, quarter = 0.25f / edge;
  for (int i = 0; i < count; i++)
    phi[i] = lobe->nx[0] * x[i] + lobe->ny[0] * y[i] + lobe->nz[0] * z[i] - lobe->d[0];
  for (int k = 1; k < lobe->planes; k++) {
    const float a = lobe->nx[k], b = lobe->ny[k], c = lobe->nz[k], d = lobe->d[k];
    for (int i = 0; i < count; i++) {
      float f = a * x[i] + b * y[i] + c * z[i] - d, g = phi[i];
      float h = edge - fabsf(f - g);
      h = h > 0 ? h : 0;
      phi[i] = (f > g ? f : g) + h * h * quarter;
    }
  }
}

/* Smooth minimum (sign = 1) of a and b into a, or smooth maximum (sign = -1). */
static void blend(float sign, float width, int count, float *a, const float *b) {
  const float quarter = 0.25f / width;
  for (int i = 0; i < count; i++) {
    float f = sign * a[i], g = sign * b[i], h = width - fabsf(f - g);
    h = h > 0 ? h : 0;
    a[i] = sign * ((f < g ? f : g) - h * h * quarter);
  }
}

/* Waves of parabolas, 4 u (1 - |u|) on u = -1..1: they vectorise, and their bits are no libm's. */
static void add_waves(const TlPhantomShape *s, int count, const float *x, const float *y,
                      const float *z, float *phi) {
  for (int k = 0; k < TL_PHANTOM_WAVES; k++) {
    const float a = s->wave_x[k], b = s->wave_y[k], c = s->wave_z[k], d = s->wave_phase[k];
    for (int i = 0; i < count; i++) {
      float t = a * x[i] + b * y[i] + c * z[i] + d; /* periods, kept positive by d */
      float u = 2 * (t - (float)(int)t) - 1;
      phi[i] += s->wave_height * 4 * u * (1 - fabsf(u));
    }
  }
}

static void smooth_phi(const TlPhantomShape *shape, int count, const float *x, const float *y,
                       const float *z, float *phi) {
  float other[TL_PHANTOM_BATCH];
  lobe_phi(&shape->lobe[0], count, x, y, z, phi);
  for (int k = 1; k < shape->lobes; k++) {
    lobe_phi(&shape->lobe[k], count, x, y, z, other);
    blend(1, shape->blend, count, phi, other);
  }
  if (!shape->dented) return;
  for (int i = 0; i < count; i++) {
    float dx = x[i] - shape->dent[0], dy = y[i] - shape->dent[1], dz = z[i] - shape->dent[2];
    other[i] = shape->dent_radius - sqrtf(dx * dx + dy * dy + dz * dz);
  }
  blend(-1, shape->blend, count, phi, other);
}

void tl_phantom_shape_phi(const TlPhantomShape *shape, int count, const float *x, const float *y,
                          const float *z, float *phi) {
  smooth_phi(shape, count, x, y, z, phi);
  if (shape->rough) add_waves(shape, count, x, y, z, phi);
}

TlVec3 tl_phantom_shape_normal(const TlPhantomShape *shape, TlVec3 p) {
  const float h = (float)(0.02 * shape->diameter);
  float x[6], y[6], z[6], phi[6];
  for (int i = 0; i < 6; i++) {
    x[i] = (float)p.x + (i == 0 ? h : i == 1 ? -h : 0);
    y[i] = (float)p.y + (i == 2 ? h : i == 3 ? -h : 0);
    z[i] = (float)p.z + (i == 4 ? h : i == 5 ? -h : 0);
  }
  tl_phantom_shape_phi(shape, 6, x, y, z, phi);
  return tl_unit(
      tl_vec3((double)(phi[0] - phi[1]), (double)(phi[2] - phi[3]), (double)(phi[4] - phi[5])));
}

/* ---- making one ---- */

static double between(TlRandom *random, double low, double high) {
  return low + (high - low) * tl_random_next(random);
}

static TlVec3 random_direction(TlRandom *random) {
  double z = between(random, -1, 1), a = between(random, 0, 6.283185307179586);
  double s = sqrt(1 - z * z);
  return tl_vec3(s * cos(a), s * sin(a), z);
}

/* Direction i of n spread evenly over the sphere (golden spiral). */
static TlVec3 spiral_direction(int i, int n) {
  double z = 1 - (2 * i + 1.0) / n, s = sqrt(1 - z * z), a = 2.399963229728653 * i;
  return tl_vec3(s * cos(a), s * sin(a), z);
}

typedef struct LobeRecipe {
  TlVec3 centre, axes; /* of the ellipsoid that the planes follow */
  int planes;
  double scatter; /* of the planes' distances, relative */
  double edge;    /* relative to the mean radius */
} LobeRecipe;

static void make_lobe(TlPhantomLobe *lobe, const LobeRecipe *r, TlRandom *random) {
  TlQuat turn = tl_quat_from_rotation(tl_scale(between(random, 0, 3.1), random_direction(random)));
  lobe->planes = r->planes;
  lobe->edge = (float)r->edge;
  for (int k = 0; k < r->planes; k++) {
    TlVec3 m = tl_quat_rotate(turn, spiral_direction(k, r->planes));
    m = tl_unit(tl_axpy(m, 0.3, random_direction(random)));
    /* the plane m.u = 1 of a unit ball, stretched with the ball to the ellipsoid */
    TlVec3 n = tl_vec3(m.x / r->axes.x, m.y / r->axes.y, m.z / r->axes.z);
    double d = (1 + r->scatter * between(random, -1, 1)) / tl_norm(n);
    n = tl_unit(n);
    lobe->nx[k] = (float)n.x;
    lobe->ny[k] = (float)n.y;
    lobe->nz[k] = (float)n.z;
    lobe->d[k] = (float)(d + tl_dot(n, r->centre));
  }
}

static LobeRecipe recipe_of(TlGrainKind kind, TlRandom *random) {
  LobeRecipe r = {{0, 0, 0}, {1, 1, 1}, TL_PHANTOM_PLANES, 0.06, 0.45};
  r.axes = tl_vec3(between(random, 1.0, 1.35), 1, between(random, 0.75, 1.0));
  if (kind == TL_GRAIN_ANGULAR) {
    r.planes = 12 + (int)(5 * tl_random_next(random));
    r.scatter = 0.13;
    r.edge = 0.14;
  } else if (kind == TL_GRAIN_ELONGATED) {
    r.axes.x = between(random, 1.7, 2.5);
    r.scatter = 0.08;
    r.edge = 0.25;
  } else if (kind == TL_GRAIN_FACETED) {
    r.planes = 9 + (int)(4 * tl_random_next(random));
    r.scatter = 0.10;
    r.edge = 0.03;
  } else if (kind == TL_GRAIN_CONCAVE) {
    r.axes.x = between(random, 1.0, 1.15);
    r.edge = 0.3;
  }
  return r;
}

/* Lobes far enough apart to be seen, near enough that the waist stays wider than a contact. */
static void add_lobes(TlPhantomShape *shape, LobeRecipe r, TlRandom *random) {
  TlVec3 first = random_direction(random);
  shape->lobes = 2 + (tl_random_next(random) < 0.4);
  for (int k = 1; k < shape->lobes; k++) {
    TlVec3 away =
        k == 1
            ? first
            : tl_unit(tl_axpy(tl_scale(0.2, first), 1, tl_cross(first, random_direction(random))));
    LobeRecipe extra = r;
    double size = between(random, 0.7, 0.9);
    extra.axes = tl_scale(size, r.axes);
    extra.centre = tl_scale(between(random, 0.85, 1.0), away);
    make_lobe(&shape->lobe[k], &extra, random);
  }
}

static void add_dent(TlPhantomShape *shape, TlRandom *random) {
  double radius = between(random, 0.7, 1.0), depth = between(random, 0.3, 0.42);
  TlVec3 c = tl_scale(1 + radius - depth, random_direction(random));
  shape->dented = true;
  shape->dent_radius = (float)radius;
  shape->dent[0] = (float)c.x;
  shape->dent[1] = (float)c.y;
  shape->dent[2] = (float)c.z;
}

/* Volume, centroid and reach of the unscaled shape by sampling a cube of half side 3.6. */
static double measure(const TlPhantomShape *shape, TlVec3 *centroid) {
  enum { N = 40 };
  const double h = 7.2 / N;
  double volume = 0;
  TlVec3 moment = {0, 0, 0};
  float x[N], y[N], z[N], phi[N];
  for (int k = 0; k < N; k++)
    for (int j = 0; j < N; j++) {
      for (int i = 0; i < N; i++) {
        x[i] = (float)(-3.6 + h * (i + 0.5));
        y[i] = (float)(-3.6 + h * (j + 0.5));
        z[i] = (float)(-3.6 + h * (k + 0.5));
      }
      tl_phantom_shape_phi(shape, N, x, y, z, phi);
      for (int i = 0; i < N; i++) {
        double part = fmin(1, fmax(0, 0.5 - (double)phi[i] / h));
        volume += part;
        moment = tl_axpy(moment, part, tl_vec3((double)x[i], (double)y[i], (double)z[i]));
      }
    }
  *centroid = tl_scale(1 / volume, moment);
  return volume * h * h * h;
}

/* p -> scale (p - centre), for every part of the shape. */
static void move_and_scale(TlPhantomShape *shape, TlVec3 centre, double scale) {
  for (int l = 0; l < shape->lobes; l++) {
    TlPhantomLobe *lobe = &shape->lobe[l];
    for (int k = 0; k < lobe->planes; k++) {
      double shift = (double)lobe->nx[k] * centre.x + (double)lobe->ny[k] * centre.y +
                     (double)lobe->nz[k] * centre.z;
      lobe->d[k] = (float)(scale * ((double)lobe->d[k] - shift));
    }
    lobe->edge = (float)(scale * (double)lobe->edge);
  }
  shape->blend = (float)(scale * (double)shape->blend);
  shape->dent[0] = (float)(scale * ((double)shape->dent[0] - centre.x));
  shape->dent[1] = (float)(scale * ((double)shape->dent[1] - centre.y));
  shape->dent[2] = (float)(scale * ((double)shape->dent[2] - centre.z));
  shape->dent_radius = (float)(scale * (double)shape->dent_radius);
}

/* Distance from the origin to the outermost surface point along a direction: marching inwards by
 * phi never crosses the surface, since phi is 1-Lipschitz. */
static double outermost(const TlPhantomShape *shape, TlVec3 direction) {
  double t = 2.5 * shape->diameter;
  for (int i = 0; i < 200; i++) {
    float x = (float)(t * direction.x), y = (float)(t * direction.y), z = (float)(t * direction.z);
    float phi;
    tl_phantom_shape_phi(shape, 1, &x, &y, &z, &phi);
    if ((double)phi < 1e-3 || t <= 0) break;
    t -= (double)phi;
  }
  return t > 0 ? t : 0;
}

static void place_nodes(TlPhantomShape *shape) {
  shape->node_count = TL_PHANTOM_NODES;
  for (int i = 0; i < TL_PHANTOM_NODES; i++) {
    TlVec3 u = spiral_direction(i, TL_PHANTOM_NODES);
    TlVec3 p = tl_scale(outermost(shape, u), u);
    shape->node_x[i] = (float)p.x;
    shape->node_y[i] = (float)p.y;
    shape->node_z[i] = (float)p.z;
  }
}

/* A safe bound: farthest of many directions, plus what lies between two of them at a slope of 1. */
static double reach(const TlPhantomShape *shape) {
  enum { N = 600 };
  double farthest = 0;
  for (int i = 0; i < N; i++) {
    double r = outermost(shape, spiral_direction(i, N));
    if (r > farthest) farthest = r;
  }
  return farthest * 1.04 + 0.1;
}

void tl_phantom_shape_make(TlPhantomShape *shape, TlGrainKind kind, double diameter,
                           TlRandom *random) {
  memset(shape, 0, sizeof *shape);
  shape->kind = kind;
  shape->lobes = 1;
  shape->blend = 0.12f;
  LobeRecipe recipe = recipe_of(kind, random);
  make_lobe(&shape->lobe[0], &recipe, random);
  if (kind == TL_GRAIN_CONCAVE) {
    if (tl_random_next(random) < 0.6)
      add_lobes(shape, recipe, random);
    else
      add_dent(shape, random);
  }
  TlVec3 centroid;
  double volume = measure(shape, &centroid);
  double scale = 0.5 * diameter / cbrt(volume * 0.238732414637843); /* 3/(4 pi) */
  move_and_scale(shape, centroid, scale);
  shape->diameter = diameter;
  place_nodes(shape);
  shape->radius = reach(shape);
}

void tl_phantom_shape_roughen(TlPhantomShape *shape, double rms, double length, TlRandom *random) {
  shape->rough = rms > 0;
  if (!shape->rough) return;
  const double periods = ceil(10 * (shape->radius + 10) / length); /* t > 0 wherever phi is asked */
  for (int i = 0; i < TL_PHANTOM_WAVES; i++) {
    TlVec3 n = random_direction(random);
    shape->wave_x[i] = (float)(n.x / length);
    shape->wave_y[i] = (float)(n.y / length);
    shape->wave_z[i] = (float)(n.z / length);
    shape->wave_phase[i] = (float)(periods + tl_random_next(random));
  }
  const double wave_rms = 0.7302967433402214; /* sqrt(8/15), of height 1 */
  shape->wave_height = (float)(rms / (wave_rms * sqrt(TL_PHANTOM_WAVES)));
  shape->bump = TL_PHANTOM_WAVES * (double)shape->wave_height;
  shape->slope = 8 / length * shape->bump;
  shape->radius += shape->bump;
}
