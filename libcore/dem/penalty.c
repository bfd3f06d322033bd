#include "dem/penalty.h"

#include "base/mem.h"
#include "dem/contact.h"
#include "dem/shapes.h"
#include "dem/spring.h"

#include <math.h>
#include <stdlib.h>

/* What the points of a contact share. */
typedef struct Pair {
  const TlPress *press;
  const TlNormalLaw *law;
  TlLawPoint point; /* area filled point by point */
  double mass;      /* reduced */
  double slopes;    /* sum over the points */
  double damping;   /* c of the pair over its slopes: c_k = damping * slope_k */
  double shear_damping;
} Pair;

static const TlStiffness *stiffness(const TlPress *p) {
  return p->b >= 0 ? &p->penalty->grain : &p->penalty->boundary;
}

static Pair pair_of(const TlPress *p) {
  const TlBodies *x = p->bodies;
  double inverse = x->inverse_mass[p->a], curvature = 1 / x->radius[p->a];
  if (p->b >= 0) {
    inverse += x->inverse_mass[p->b];
    curvature += 1 / x->radius[p->b];
  }
  return (Pair){.press = p,
                .law = tl_law(p->penalty->law),
                .point = {.stiffness = *stiffness(p), .radius_m = 1 / curvature},
                .mass = 1 / inverse};
}

/* Of the surface that a point stands for; 0: a point. Both grains' nodes bear half each. */
static double area_of(const TlPress *p, const TlPoint *point) {
  if (p->penalty->spread != TL_SPREAD_TRACTION) return 0;
  int32_t body = point->key & 1 ? p->b : p->a;
  const TlShape *shape = p->bodies->shape[body];
  if (!shape->avatar) return 0;
  double scale = p->bodies->scale[body], share = p->b >= 0 ? 0.5 : 1;
  return share * scale * scale * (double)shape->avatar->node_area_m2[point->key >> 1];
}

static double capped(const TlPress *p, double depth, TlPressed *out) {
  double share = p->penalty->most_share;
  if (share <= 0) return depth;
  double size = p->bodies->radius[p->a];
  if (p->b >= 0) size = tl_min(size, p->bodies->radius[p->b]);
  if (depth <= share * size) return depth;
  out->capped++;
  return share * size;
}

static TlVec3 relative_velocity(const TlPress *p, TlVec3 at, TlVec3 ra, TlVec3 rb) {
  const TlTwist *a = &p->twist[p->a];
  TlVec3 u = tl_add(a->v, tl_cross(a->w, ra));
  if (p->b < 0) return p->wall ? tl_sub(u, p->wall_velocity(p->wall, at)) : u;
  const TlTwist *b = &p->twist[p->b];
  return tl_sub(u, tl_add(b->v, tl_cross(b->w, rb)));
}

/* The spring of a point: s as the last step left it, turned to where the contact is now, with the
 * stiffness of now. A stiffness that grows keeps the force, one that falls the way: either takes
 * energy and neither makes any (Thornton 2013). A new spring is not stretched. */
typedef struct Spring {
  TlVec3 s;
  double stiffness, lost_J;
} Spring;

static Spring spring_of(const TlPress *p, int64_t key, TlVec3 n, double shear) {
  Spring spring = {.stiffness = shear};
  size_t i = 0;
  while (i < p->known_count && p->known[i].key != key) i++;
  if (i == p->known_count || shear == 0) return spring;
  double before = tl_norm(p->known[i].normal);
  if (before == 0) return spring;
  TlVec3 w = tl_scale(0.5, p->twist[p->a].w); /* a wall does not turn about its own normal */
  if (p->b >= 0) w = tl_axpy(w, 0.5, p->twist[p->b].w);
  spring.s = tl_spring_turned(p->known[i].impulse, tl_scale(1 / before, p->known[i].normal), n,
                              0.5 * p->step_s * tl_dot(w, n));
  double square = tl_norm2(spring.s), share = tl_min(1, before / shear);
  spring.s = tl_scale(share, spring.s);
  spring.lost_J = 0.5 * square * (before - shear * share * share);
  return spring;
}

/* Largest share of the dashpot's force g that stays in the cone with the spring's f in it. */
static double share_in_cone(TlVec3 f, TlVec3 g, double most) {
  double a = tl_norm2(g), b = tl_dot(f, g), c = tl_norm2(f) - most * most;
  if (a + 2 * b + c <= 0) return 1;
  return tl_max(0, tl_min(1, (-b + sqrt(tl_max(0, b * b - a * c))) / a));
}

/* Tangential force on a. The spring grows by the way of the step; where it is more than friction
 * bears it slips, and there is no dashpot. Slip takes the mean force of the step's two ends times
 * the way. */
static TlVec3 tangential(const Pair *pair, TlVec3 ut, double fn, double slope, Spring *spring,
                         TlPressed *out) {
  const TlPress *p = pair->press;
  double k = spring->stiffness, most = p->friction * fn;
  TlVec3 start = spring->s, trial = tl_axpy(start, p->step_s, ut);
  double size = k * tl_norm(trial);
  out->slip_J += spring->lost_J;
  spring->s = trial;
  if (size > most) {
    out->sliding++;
    spring->s = tl_scale(most / size, trial);
    out->slip_J += 0.5 * k * tl_dot(tl_add(start, spring->s), tl_sub(trial, spring->s));
    return tl_scale(-k, spring->s);
  }
  TlVec3 force = tl_scale(-k, trial), dashpot = tl_scale(-pair->shear_damping * slope, ut);
  double share = share_in_cone(force, dashpot, most);
  out->viscous_J -= share * p->step_s * tl_dot(dashpot, ut);
  return tl_axpy(force, share, dashpot);
}

static void add_point(const Pair *pair, const TlPoint *point, double fn, TlVec3 force, double slope,
                      double shear, TlPressed *out) {
  const TlPress *p = pair->press;
  out->normal_N += fn;
  out->point = tl_axpy(out->point, fn, point->p); /* over the sum when all are there */
  out->normal = tl_axpy(out->normal, fn, point->n);
  TlVec3 ra = tl_sub(point->p, p->bodies->position[p->a]);
  double stiff = tl_max(slope, shear);
  out->force = tl_add(out->force, force);
  out->torque_a = tl_add(out->torque_a, tl_cross(ra, force));
  out->stiffness_a[0] += stiff;
  out->stiffness_a[1] += stiff * tl_norm2(ra);
  if (p->b < 0 && p->wall)
    out->wall_work_J += p->step_s * tl_dot(p->wall_velocity(p->wall, point->p), force);
  if (p->b >= 0) {
    TlVec3 rb = tl_sub(point->p, p->bodies->position[p->b]);
    out->torque_b = tl_sub(out->torque_b, tl_cross(rb, force));
    out->stiffness_b[0] += stiff;
    out->stiffness_b[1] += stiff * tl_norm2(rb);
  }
  out->points++;
  out->depth_m = tl_max(out->depth_m, -point->gap);
}

static TlStatus press_point(const Pair *pair, const TlPoint *point, int64_t key, TlHistory *touches,
                            TlPressed *out) {
  const TlPress *p = pair->press;
  TlLawPoint law = pair->point;
  law.area_m2 = area_of(p, point);
  double depth = capped(p, -point->gap, out);
  double slope = pair->law->slope(&law, depth), shear = pair->law->shear(&law, depth);
  TlVec3 n = point->n, rb = {0, 0, 0}, ra = tl_sub(point->p, p->bodies->position[p->a]);
  if (p->b >= 0) rb = tl_sub(point->p, p->bodies->position[p->b]);
  TlVec3 u = relative_velocity(p, point->p, ra, rb);
  double un = tl_dot(u, n), damping = pair->damping * slope;
  double elastic = pair->law->force(&law, depth), fn = tl_max(elastic - damping * un, 0);
  out->viscous_J += (elastic - fn) * un * p->step_s; /* where tension is cut the spring's is lost */
  Spring spring = spring_of(p, key, n, shear);
  TlVec3 ft = tangential(pair, tl_axpy(u, -un, n), fn, slope, &spring, out);
  add_point(pair, point, fn, tl_axpy(ft, fn, n), slope, shear, out);
  out->elastic_J += pair->law->energy(&law, depth) + 0.5 * shear * tl_norm2(spring.s);
  if (p->friction == 0) return TL_OK;
  TL_TRY(TL_RESERVE(touches->touch, touches->capacity, touches->count + 1));
  int64_t high = p->b >= 0 ? p->bodies->id[p->b] : -1 - p->boundary;
  touches->touch[touches->count++] = (TlTouch){.low = p->bodies->id[p->a],
                                               .high = high,
                                               .key = key,
                                               .impulse = spring.s,
                                               .normal = tl_scale(shear, n)};
  return TL_OK;
}

/* Touching points to the front, in order of key: sums must not depend on how they were found. */
static int by_key(const void *one, const void *two) {
  const TlPoint *a = one, *b = two;
  return a->key < b->key ? -1 : a->key > b->key;
}

static size_t touching(const TlPress *p, TlPoints *points) {
  size_t count = 0;
  for (size_t i = 0; i < points->count; i++)
    if (points->point[i].gap < 0) points->point[count++] = points->point[i];
  if (p->penalty->spread == TL_SPREAD_DEEPEST && count > 1) {
    for (size_t i = 1; i < count; i++)
      if (tl_point_deeper(&points->point[i], &points->point[0]))
        points->point[0] = points->point[i];
    return 1;
  }
  if (count > 1) qsort(points->point, count, sizeof *points->point, by_key);
  return count;
}

TlStatus tl_press(const TlPress *p, TlPoints *points, TlHistory *touches, TlPressed *out) {
  *out = (TlPressed){0};
  size_t count = touching(p, points);
  if (count == 0) return TL_OK;
  Pair pair = pair_of(p);
  double slopes = 0, shears = 0;
  for (size_t i = 0; i < count; i++) {
    TlLawPoint law = pair.point;
    law.area_m2 = area_of(p, &points->point[i]);
    double depth = -points->point[i].gap;
    slopes += pair.law->slope(&law, depth);
    shears += pair.law->shear(&law, depth);
  }
  double factor = 2 * p->damping * pair.law->damping_factor;
  if (slopes > 0) pair.damping = factor * sqrt(pair.mass / slopes);
  if (slopes > 0) pair.shear_damping = factor * sqrt(pair.mass * shears) / slopes;
  bool one = p->penalty->spread == TL_SPREAD_DEEPEST;
  for (size_t i = 0; i < count; i++) {
    const TlPoint *point = &points->point[i];
    TL_TRY(press_point(&pair, point, one ? 0 : point->key, touches, out));
  }
  bool bears = out->normal_N > 0; /* else all of them are about to open */
  out->point = bears ? tl_scale(1 / out->normal_N, out->point) : points->point[0].p;
  out->normal = bears ? tl_unit(out->normal) : points->point[0].n;
  return TL_OK;
}
