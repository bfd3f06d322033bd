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

static inline const TlStiffness *stiffness(const TlPress *p) {
  return p->b >= 0 ? &p->penalty->grain : &p->penalty->boundary;
}

static inline Pair pair_of(const TlPress *p) {
  const TlPressBody *a = &p->body[p->a], *b = p->b >= 0 ? &p->body[p->b] : NULL;
  double inverse = a->inverse_mass, sum = 1, product = a->radius;
  if (b) {
    inverse += b->inverse_mass;
    sum = a->radius + b->radius;
    product *= b->radius;
  }
  double both = 1 / (inverse * sum); /* one division for two */
  return (Pair){.press = p,
                .law = tl_law(p->penalty->law),
                .point = {.stiffness = stiffness(p), .radius_m = product * inverse * both},
                .mass = sum * both};
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

/* The depth at which a contact bears. */
static inline double capped(const TlPress *p, double depth) {
  double share = p->penalty->most_share;
  if (share <= 0) return depth;
  double size = p->body[p->a].radius;
  if (p->b >= 0) size = tl_min(size, p->body[p->b].radius);
  return tl_min(depth, share * size);
}

static inline TlVec3 relative_velocity(const TlPress *p, TlVec3 at, TlVec3 ra, TlVec3 rb) {
  const TlPressBody *a = &p->body[p->a];
  TlVec3 u = tl_add(a->v, tl_cross(a->w, ra));
  if (p->b < 0) return p->wall ? tl_sub(u, p->wall_velocity(p->wall, at)) : u;
  const TlPressBody *b = &p->body[p->b];
  return tl_sub(u, tl_add(b->v, tl_cross(b->w, rb)));
}

/* The spring of a point: s as the last step left it, turned to where the contact is now, with the
 * stiffness of now. A stiffness that grows keeps the force, one that falls the way: either takes
 * energy and neither makes any (Thornton 2013). A new spring is not stretched. */
typedef struct Spring {
  TlVec3 s;
  double stiffness, lost_J;
} Spring;

static inline Spring spring_of(const TlPress *p, int64_t key, TlVec3 n, double shear) {
  Spring spring = {.stiffness = shear};
  size_t i = 0;
  while (i < p->known_count && p->known[i].key != key) i++;
  if (i == p->known_count || shear == 0) return spring;
  double before = tl_norm(p->known[i].normal);
  if (before == 0) return spring;
  TlVec3 w = tl_scale(0.5, p->body[p->a].w); /* a wall does not turn about its own normal */
  if (p->b >= 0) w = tl_axpy(w, 0.5, p->body[p->b].w);
  TlVec3 s = tl_spring_turned(p->known[i].impulse, tl_scale(1 / before, p->known[i].normal), n,
                              0.5 * p->step_s * tl_dot(w, n));
  double square = tl_norm2(s), share = before < shear ? before / shear : 1;
  spring.s = tl_scale(share, s);
  spring.lost_J = 0.5 * square * (before - shear * share * share);
  return spring;
}

/* Largest share of the dashpot's force g that stays in the cone with the spring's f in it. */
static inline double share_in_cone(TlVec3 f, TlVec3 g, double most) {
  double a = tl_norm2(g), b = tl_dot(f, g), c = tl_norm2(f) - most * most;
  if (a + 2 * b + c <= 0) return 1;
  return tl_max(0, tl_min(1, (-b + sqrt(tl_max(0, b * b - a * c))) / a));
}

/* Tangential force on a. The spring grows by the way of the step; where it is more than friction
 * bears it slips, and there is no dashpot. Slip takes the mean force of the step's two ends times
 * the way. */
typedef struct Rubbed {
  TlVec3 force, s, dashpot; /* the dashpot's part of the force */
  double slip_J;
  int sliding;
} Rubbed;

static inline Rubbed rub(const Spring *spring, TlVec3 ut, double damping, double most, double dt) {
  double k = spring->stiffness;
  TlVec3 start = spring->s, s = tl_axpy(start, dt, ut), force = tl_scale(-k, s);
  double square = tl_norm2(force);
  Rubbed r = {.s = s, .force = force, .slip_J = spring->lost_J};
  if (square > most * most) {
    double share = most / sqrt(square);
    r.s = tl_scale(share, s);
    r.force = tl_scale(share, force);
    r.slip_J += 0.5 * k * tl_dot(tl_add(start, r.s), tl_sub(s, r.s));
    r.sliding = 1;
    return r;
  }
  TlVec3 dashpot = tl_scale(-damping, ut);
  double share = share_in_cone(force, dashpot, most);
  r.dashpot = tl_scale(share, dashpot);
  r.force = tl_axpy(force, share, dashpot);
  return r;
}

/* Of the force at a point: all of it, the normal part, the dashpots'. */
typedef struct Borne {
  TlVec3 force, viscous;
  double normal_N;
} Borne;

static inline void add_viscous(const TlPress *p, TlVec3 at, TlVec3 ra, TlVec3 force,
                               TlPressed *out) {
  out->viscous = tl_add(out->viscous, force);
  out->viscous_torque_a = tl_add(out->viscous_torque_a, tl_cross(ra, force));
  if (p->wall) out->wall_viscous_J += p->step_s * tl_dot(p->wall_velocity(p->wall, at), force);
  if (p->b < 0) return;
  TlVec3 rb = tl_sub(at, p->body[p->b].x);
  out->viscous_torque_b = tl_add(out->viscous_torque_b, tl_cross(force, rb));
}

/* Where tension is cut, what the spring would give goes with the dashpot. */
static inline TlVec3 viscous_of(const Rubbed *rubbed, double normal_N, TlVec3 n) {
  return tl_axpy(rubbed->dashpot, normal_N, n);
}

static inline void add_point(const Pair *pair, const TlPoint *point, const Borne *borne,
                             const TlLawValues *law, TlPressed *out) {
  double fn = borne->normal_N;
  TlVec3 force = borne->force;
  const TlPress *p = pair->press;
  out->normal_N += fn;
  out->point = tl_axpy(out->point, fn, point->p); /* over the sum when all are there */
  out->normal = tl_axpy(out->normal, fn, point->n);
  TlVec3 ra = tl_sub(point->p, p->body[p->a].x);
  double stiff = tl_max(law->slope, law->shear);
  out->force = tl_add(out->force, force);
  out->torque_a = tl_add(out->torque_a, tl_cross(ra, force));
  out->stiffness_a[0] += stiff;
  out->stiffness_a[1] += stiff * tl_norm2(ra);
  if (p->wall) out->wall_work_J += p->step_s * tl_dot(p->wall_velocity(p->wall, point->p), force);
  if (p->b >= 0) {
    TlVec3 rb = tl_sub(point->p, p->body[p->b].x);
    out->torque_b = tl_sub(out->torque_b, tl_cross(rb, force));
    out->stiffness_b[0] += stiff;
    out->stiffness_b[1] += stiff * tl_norm2(rb);
  }
  add_viscous(p, point->p, ra, borne->viscous, out);
  out->points++;
  if (capped(p, -point->gap) < -point->gap) out->capped++;
  out->depth_m = tl_max(out->depth_m, -point->gap);
}

static inline TlLawValues law_at(const Pair *pair, const TlPoint *point) {
  TlLawPoint law = pair->point;
  law.area_m2 = area_of(pair->press, point);
  double depth = -point->gap, bearing = capped(pair->press, depth);
  TlLawValues v = tl_law_at(pair->law, &law, bearing);
  v.energy += v.force * (depth - bearing); /* past the cap the force stays, its work grows */
  return v;
}

static inline void press_point(const Pair *pair, const TlPoint *point, int64_t key,
                               const TlLawValues *law, TlHistory *touches, TlPressed *out) {
  const TlPress *p = pair->press;
  TlVec3 n = point->n, rb = {0, 0, 0}, ra = tl_sub(point->p, p->body[p->a].x);
  if (p->b >= 0) rb = tl_sub(point->p, p->body[p->b].x);
  TlVec3 u = relative_velocity(p, point->p, ra, rb);
  double un = tl_dot(u, n), damping = pair->damping * law->slope;
  double fn = tl_max(law->force - damping * un, 0);
  Spring spring = spring_of(p, key, n, law->shear);
  Rubbed rubbed = rub(&spring, tl_axpy(u, -un, n), pair->shear_damping * law->slope,
                      p->friction * fn, p->step_s);
  out->slip_J += rubbed.slip_J;
  out->sliding += rubbed.sliding;
  Borne borne = {.force = tl_axpy(rubbed.force, fn, n),
                 .viscous = viscous_of(&rubbed, fn - law->force, n),
                 .normal_N = fn};
  add_point(pair, point, &borne, law, out);
  out->elastic_J += law->energy + 0.5 * law->shear * tl_norm2(rubbed.s);
  if (p->friction == 0) return;
  int64_t high = p->b >= 0 ? p->bodies->id[p->b] : -1 - p->boundary;
  touches->touch[touches->count++] = (TlTouch){.low = p->bodies->id[p->a],
                                               .high = high,
                                               .key = key,
                                               .impulse = rubbed.s,
                                               .normal = tl_scale(law->shear, n)};
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

/* From the sums over the points of their slopes and tangential stiffnesses. */
static inline void set_damping(Pair *pair, double slopes, double shears) {
  if (!(slopes > 0)) return;
  double factor = 2 * pair->press->damping * pair->law->damping_factor;
  pair->damping = factor * sqrt(pair->mass / slopes);
  pair->shear_damping = factor * sqrt(pair->mass * shears) / slopes;
}

static TlStatus reserve(TlHistory *touches, size_t count) {
  return TL_RESERVE(touches->touch, touches->capacity, touches->count + count);
}

static inline void finish(const TlPoint *first, TlPressed *out) {
  bool bears = out->normal_N > 0; /* else all of them are about to open */
  out->point = bears ? tl_scale(1 / out->normal_N, out->point) : first->p;
  out->normal = bears ? tl_unit(out->normal) : first->n;
}

/* Most contacts are of one point: the same as below, written once and kept in registers. */
TlStatus tl_press_one(const TlPress *p, const TlPoint *point, TlHistory *touches, TlPressed *out) {
  TL_TRY(reserve(touches, 1));
  Pair pair = pair_of(p);
  const TlPressBody *a = &p->body[p->a], *b = p->b >= 0 ? &p->body[p->b] : NULL;
  TlLawValues law = law_at(&pair, point);
  double factor = 2 * p->damping * pair.law->damping_factor, dt = p->step_s;
  double normal_damping = factor * sqrt(pair.mass * law.slope);
  double shear_damping = factor * sqrt(pair.mass * law.shear);
  TlVec3 n = point->n, at = point->p, ra = tl_sub(at, a->x), rb = {0, 0, 0}, wall = {0, 0, 0};
  TlVec3 u = tl_add(a->v, tl_cross(a->w, ra));
  if (b) {
    rb = tl_sub(at, b->x);
    u = tl_sub(u, tl_add(b->v, tl_cross(b->w, rb)));
  } else if (p->wall) {
    wall = p->wall_velocity(p->wall, at);
    u = tl_sub(u, wall);
  }
  double un = tl_dot(u, n), fn = tl_max(law.force - normal_damping * un, 0);
  int64_t key = p->penalty->spread == TL_SPREAD_DEEPEST ? 0 : point->key;
  TlVec3 ut = tl_axpy(u, -un, n);
  Spring spring = spring_of(p, key, n, law.shear);
  Rubbed rubbed = rub(&spring, ut, shear_damping, p->friction * fn, dt);
  TlVec3 force = tl_axpy(rubbed.force, fn, n), moment = tl_cross(ra, force);
  TlVec3 viscous = viscous_of(&rubbed, fn - law.force, n);
  double stiff = tl_max(law.slope, law.shear);
  *out = (TlPressed){.force = force,
                     .torque_a = moment,
                     .torque_b = tl_cross(force, rb),
                     .points = 1,
                     .sliding = rubbed.sliding,
                     .capped = capped(p, -point->gap) < -point->gap,
                     .depth_m = -point->gap,
                     .normal_N = fn,
                     .point = at,
                     .normal = n,
                     .elastic_J = law.energy + 0.5 * law.shear * tl_norm2(rubbed.s),
                     .slip_J = rubbed.slip_J,
                     .wall_work_J = dt * tl_dot(wall, force),
                     .viscous = viscous,
                     .viscous_torque_a = tl_cross(ra, viscous),
                     .viscous_torque_b = tl_cross(viscous, rb),
                     .wall_viscous_J = dt * tl_dot(wall, viscous),
                     .stiffness_a = {stiff, stiff * tl_norm2(ra)},
                     .stiffness_b = {b ? stiff : 0, stiff * tl_norm2(rb)}};
  if (p->friction == 0) return TL_OK;
  touches->touch[touches->count++] = (TlTouch){.low = p->bodies->id[p->a],
                                               .high = b ? p->bodies->id[p->b] : -1 - p->boundary,
                                               .key = key,
                                               .impulse = rubbed.s,
                                               .normal = tl_scale(law.shear, n)};
  return TL_OK;
}

TlStatus tl_press(const TlPress *p, TlPoints *points, TlHistory *touches, TlPressed *out) {
  size_t count = touching(p, points);
  if (count == 1) return tl_press_one(p, points->point, touches, out);
  *out = (TlPressed){0};
  if (count == 0) return TL_OK;
  TL_TRY(reserve(touches, count));
  Pair pair = pair_of(p);
  double slopes = 0, shears = 0;
  for (size_t i = 0; i < count; i++) {
    TlLawValues law = law_at(&pair, &points->point[i]);
    slopes += law.slope;
    shears += law.shear;
  }
  set_damping(&pair, slopes, shears);
  for (size_t i = 0; i < count; i++) {
    const TlPoint *point = &points->point[i];
    TlLawValues law = law_at(&pair, point);
    press_point(&pair, point, point->key, &law, touches, out);
  }
  finish(points->point, out);
  return TL_OK;
}
