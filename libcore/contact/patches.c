#include "contact/patches.h"

#include <math.h>

enum { CORNERS = 6, ROUNDS = 6, STEPS = 8, CUTS = 3 };
static const double CELLS = 1.2;          /* radius of the hexagon, */
static const double LEAST_HEXAGON = 0.07; /* and at least this of the smaller radius */
/* Over r: curvatures are taken for no less, smoothly, where they say how wide a patch is; and where they say
 * how far away the place is. */
static const double FLAT = 0.15, LEVEL = 0.03;
/* Of the force along the normal: what the change of H may turn it by, and add. Where a place is about to
 * vanish it runs away from the smallest motion, and the derivative knows no bound. */
static const double SLANT = 0.25;
static const double OFF = 0.02; /* of the hexagon: so far from its place a look will do */
/* Of the depth: what a step to the deepest point must gain. With a ten thousandth the work round closed loops is 1.7 times as much. */
static const double GAIN = 1e-10;

static const double COS[CORNERS] = {1, 0.5, -0.5, -1, -0.5, 0.5};
#define SIN60 0.86602540378443864676
static const double SIN[CORNERS] = {0, SIN60, SIN60, 0, -SIN60, -SIN60};

/* ---- the parabola through seven values ---- */

/* F at a world point, half the difference of the two gradients there (b's less a's, so that it points
 * from b to a) and their sum. */
typedef struct Look {
  double f;
  TlVec3 across, sum;
} Look;

typedef struct Field {
  bool (*at)(const void *context, TlVec3 x, Look *look); /* false: there is no field */
  const void *context;
  double hexagon;     /* its radius, m */
  double flat, level; /* bounds of the curvatures of F, 1/m: for the patch's width, for its place */
} Field;

typedef struct Frame { /* of the hexagon */
  TlVec3 x, u, v;
} Frame;

typedef struct Parabola {
  Look look[CORNERS + 1];  /* the last one in the middle */
  double slope[2];         /* of F across n, in the middle */
  double mean, half, turn; /* H = [[mean + half, turn], [turn, mean - half]] */
  double spread;           /* its eigenvalues are mean +- spread */
  double inverse[3];       /* of H, bounded; uu, uv, vv */
  double low, high;        /* the eigenvalues, bounded, that the width follows from */
  double to_least[2];      /* from the middle to the least F */
} Parabola;

/* The amount of a curvature, and no less than this, smoothly; and its slope where it is `bounded`. */
static double no_less(double curvature, double least) {
  return sqrt(hypot(curvature * curvature, least * least));
}
static double no_less_slope(double curvature, double bounded) {
  double part = curvature / bounded;
  return part * part * part;
}

/* The inverse of H with eigenvalues of their amount, and no smaller than `least`. */
static void invert(Parabola *p, double least) {
  double a = 1 / tl_max(fabs(p->mean + p->spread), least),
         b = 1 / tl_max(fabs(p->mean - p->spread), least);
  double part = p->spread > 0 ? 0.5 * (a - b) / p->spread : 0, mean = 0.5 * (a + b);
  p->inverse[0] = mean + part * p->half;
  p->inverse[1] = part * p->turn;
  p->inverse[2] = mean - part * p->half;
}

static bool look_around(const Field *field, const Frame *at, Parabola *p) {
  double h = field->hexagon;
  for (int k = 0; k <= CORNERS; k++) {
    TlVec3 x = at->x;
    if (k < CORNERS) x = tl_axpy(tl_axpy(x, h * COS[k], at->u), h * SIN[k], at->v);
    if (!field->at(field->context, x, &p->look[k])) return false;
  }
  double ring = 0, two[2] = {0, 0}, middle = p->look[CORNERS].f;
  p->slope[0] = p->slope[1] = 0;
  for (int k = 0; k < CORNERS; k++) {
    double f = p->look[k].f - middle, c = COS[k], s = SIN[k];
    ring += f / CORNERS;
    p->slope[0] += f * c / (3 * h);
    p->slope[1] += f * s / (3 * h);
    two[0] += f * (c * c - s * s) / (3 * h * h);
    two[1] += f * 2 * c * s / (3 * h * h);
  }
  p->mean = 2 * ring / (h * h);
  p->half = 2 * two[0];
  p->turn = 2 * two[1];
  p->spread = sqrt(p->half * p->half + p->turn * p->turn);
  invert(p, field->level);
  p->to_least[0] = -(p->inverse[0] * p->slope[0] + p->inverse[1] * p->slope[1]);
  p->to_least[1] = -(p->inverse[1] * p->slope[0] + p->inverse[2] * p->slope[1]);
  p->high = no_less(p->mean + p->spread, field->flat);
  p->low = no_less(p->mean - p->spread, field->flat);
  return true;
}

/* ---- its force ---- */

/* Derivatives of U/k by the seven values at a depth of d, where the middle follows the place. */
static void weigh(const Parabola *p, double d, double h, double level, const Frame *at,
                  double weight[CORNERS + 1]) {
  double det = p->low * p->high, root = 1 / sqrt(det);
  double by_det = -M_PI / 6 * d * d * d * root / det;
  double low = by_det * p->high * no_less_slope(p->mean - p->spread, p->low),
         high = by_det * p->low * no_less_slope(p->mean + p->spread, p->high);
  double part = (high - low) / tl_max(p->spread, 1e-12 * p->high);
  double by_mean = low + high, by_half = part * p->half, by_turn = part * p->turn;
  weight[CORNERS] = -by_mean * 2 / (h * h);
  for (int k = 0; k < CORNERS; k++) {
    double c = COS[k], s = SIN[k], h2 = h * h;
    weight[k] = by_mean * 2 / (CORNERS * h2) + by_half * 2 * (c * c - s * s) / (3 * h2) +
                by_turn * 4 * c * s / (3 * h2);
  }
  /* The middle x follows the place, where the slope is 0: dx = -J^-1 d(slope), J its derivative by x.
   * As x follows it, U changes by `pull` a metre. */
  double pull[2] = {0, 0}, jacobian[2][2] = {{0, 0}, {0, 0}};
  for (int k = 0; k <= CORNERS; k++) {
    double u = tl_dot(p->look[k].sum, at->u), v = tl_dot(p->look[k].sum, at->v);
    pull[0] += weight[k] * u;
    pull[1] += weight[k] * v;
    if (k == CORNERS) continue;
    jacobian[0][0] += COS[k] * u / (3 * h), jacobian[0][1] += COS[k] * v / (3 * h);
    jacobian[1][0] += SIN[k] * u / (3 * h), jacobian[1][1] += SIN[k] * v / (3 * h);
  }
  double size = jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0];
  if (!(size > level * level)) return; /* level ground: the place is anywhere */
  double qu = (jacobian[1][1] * pull[0] - jacobian[1][0] * pull[1]) / size,
         qv = (jacobian[0][0] * pull[1] - jacobian[0][1] * pull[0]) / size;
  for (int k = 0; k < CORNERS; k++) weight[k] -= (qu * COS[k] + qv * SIN[k]) / (3 * h);
}

typedef struct Deepest { /* where F is least */
  TlVec3 x;
  Look look;
  double slope[2]; /* of F along the frame's u and v */
} Deepest;

static void take_slope(Deepest *deep, const Frame *at) {
  deep->slope[0] = tl_dot(deep->look.sum, at->u);
  deep->slope[1] = tl_dot(deep->look.sum, at->v);
}

static double steepness2(const Deepest *deep) {
  return deep->slope[0] * deep->slope[0] + deep->slope[1] * deep->slope[1];
}

/* A step that lowers F, or its slope where F ends in rounding. Sets *stuck where there is none. False: there is no field. */
static bool step_down(const Field *field, const Frame *at, double u, double v, Deepest *deep,
                      bool *stuck) {
  double far = sqrt(u * u + v * v), most = 0.5 * field->hexagon, part = far > most ? most / far : 1;
  for (int cut = 0; cut <= CUTS; cut++, part *= 0.4) {
    Deepest next = {.x = tl_axpy(tl_axpy(deep->x, part * u, at->u), part * v, at->v)};
    if (!field->at(field->context, next.x, &next.look)) return false;
    take_slope(&next, at);
    if (!(next.look.f < deep->look.f || steepness2(&next) < steepness2(deep))) continue;
    *deep = next;
    return true;
  }
  *stuck = true;
  return true;
}

/* From the middle of the hexagon, by steps that the parabola's curvatures tell and F itself judges: on a flat face beside a
 * rounded edge the least F of the parabola is up to a fifth too shallow. False: there is no field. */
static bool go_deepest(const Field *field, const Frame *at, const Parabola *p, Deepest *deep) {
  bool stuck = false;
  take_slope(deep, at);
  for (int step = 0; step < STEPS && !stuck; step++) {
    const double *s = deep->slope;
    double u = -(p->inverse[0] * s[0] + p->inverse[1] * s[1]),
           v = -(p->inverse[1] * s[0] + p->inverse[2] * s[1]);
    if (-0.5 * (s[0] * u + s[1] * v) < GAIN * fabs(deep->look.f)) return true;
    if (!step_down(field, at, u, v, deep, &stuck)) return false;
  }
  return true;
}

static TlVec3 shortened(TlVec3 v, double most) {
  double length = tl_norm(v);
  return length > most ? tl_scale(most / length, v) : v;
}

/* The patch about a point between the surfaces: p, n and gap of *point in; out these and what it bears.
 * False: no overlap. */
static bool patch_at(const Field *field, TlPoint *point) {
  Parabola p;
  double h = field->hexagon, weight[CORNERS + 1];
  TlVec3 n = point->n;
  Frame at = {.x = point->p};
  for (int round = 0; round < ROUNDS; round++) {
    tl_tangents(n, &at.u, &at.v);
    if (!look_around(field, &at, &p)) return false;
    double far = sqrt(p.to_least[0] * p.to_least[0] + p.to_least[1] * p.to_least[1]),
           part = far > h ? h / far : 1;
    if (far < OFF * h || round + 1 == ROUNDS) break;
    at.x = tl_axpy(tl_axpy(at.x, part * p.to_least[0], at.u), part * p.to_least[1], at.v);
    n = tl_unit(p.look[CORNERS].across);
  }
  Deepest deep = {.x = at.x, .look = p.look[CORNERS]};
  if (!go_deepest(field, &at, &p, &deep)) return false;
  double d = -deep.look.f;
  if (!(d > 0)) return false;
  weigh(&p, d, h, field->level, &at, weight);
  double root = 1 / sqrt(p.low * p.high), plain = M_PI * d * d * root;
  TlVec3 force = tl_scale(plain, deep.look.across); /* on a, over k; about the middle */
  TlVec3 moment = tl_cross(tl_sub(deep.x, at.x), force);
  for (int k = 0; k <= CORNERS; k++) {
    TlVec3 f = tl_scale(-weight[k], p.look[k].across);
    force = tl_add(force, f);
    if (k == CORNERS) continue;
    TlVec3 arm = tl_axpy(tl_scale(h * COS[k], at.u), h * SIN[k], at.v);
    moment = tl_add(moment, tl_cross(arm, f));
  }
  TlVec3 straight = tl_scale(plain, tl_unit(deep.look.across));
  force = tl_add(straight, shortened(tl_sub(force, straight), SLANT * plain));
  moment = shortened(moment, plain * h);
  double size = tl_norm(force);
  if (!(size > 0)) return false;
  point->p = tl_add(at.x, tl_scale(1 / (size * size), tl_cross(force, moment)));
  point->n = tl_scale(1 / size, force);
  point->twist_m = tl_dot(moment, force) / (size * size);
  point->gap = -d;
  point->area_m2 = 2 * M_PI * d * root;
  point->filled = 0.5;
  point->filled2 = 1.0 / 3;
  point->steeper = size / plain - 1;
  return true;
}

/* ---- of grains ---- */

static void make_patch(const Field *field, size_t first, TlPoints *points) {
  size_t count = first;
  for (size_t i = first; i < points->count; i++) {
    TlPoint point = points->point[i];
    if (point.gap < 0 && patch_at(field, &point)) points->point[count++] = point;
  }
  points->count = count;
}

static double grain_at(const TlShape *shape, const TlPose *pose, TlVec3 x, TlVec3 *gradient) {
  TlVec3 own = tl_scale(1 / pose->scale, tl_mat_tvec(pose->r, tl_sub(x, pose->x)));
  double phi = pose->scale * tl_spline_phi(&shape->place->spline, own, gradient, NULL);
  *gradient = tl_mat_vec(pose->r, *gradient);
  return phi;
}

static Field field_of(double cell, double size) {
  return (Field){.hexagon = tl_max(CELLS * cell, LEAST_HEXAGON * size),
                 .flat = FLAT / size,
                 .level = LEVEL / size};
}

typedef struct Two {
  const TlShape *shape[2];
  TlPose pose[2];
} Two;

static bool two_at(const void *context, TlVec3 x, Look *look) {
  const Two *two = context;
  TlVec3 a, b;
  look->f =
      grain_at(two->shape[0], &two->pose[0], x, &a) + grain_at(two->shape[1], &two->pose[1], x, &b);
  look->across = tl_scale(0.5, tl_sub(b, a));
  look->sum = tl_add(a, b);
  return true;
}

void tl_patches_of_pair(const TlPlaceQuery *q, size_t first, TlPoints *points) {
  const TlColliders *c = q->colliders;
  Two two = {.shape = {c->shape[q->a], c->shape[q->b]},
             .pose = {{c->position[q->a], *q->turn_a, c->scale[q->a]},
                      {c->position[q->b], *q->turn_b, c->scale[q->b]}}};
  double cell = tl_max(two.shape[0]->place->spline.spacing_m * two.pose[0].scale,
                       two.shape[1]->place->spline.spacing_m * two.pose[1].scale);
  Field field = field_of(cell, tl_min(c->radius[q->a], c->radius[q->b]));
  field.at = two_at;
  field.context = &two;
  make_patch(&field, first, points);
}

typedef struct Wall {
  const TlShape *shape;
  TlPose pose;
  const TlBoundary *boundary;
} Wall;

static bool wall_at(const void *context, TlVec3 x, Look *look) {
  const Wall *wall = context;
  TlVec3 a, b;
  double phi;
  if (!tl_boundary_phi(wall->boundary, x, &phi, &b)) return false;
  look->f = grain_at(wall->shape, &wall->pose, x, &a) + phi;
  look->across = tl_scale(0.5, tl_sub(b, a));
  look->sum = tl_add(a, b);
  return true;
}

void tl_patches_at_wall(const TlColliders *c, int64_t i, const TlMat3 *turn,
                        const TlBoundary *boundary, size_t first, TlPoints *points) {
  Wall wall = {c->shape[i], {c->position[i], *turn, c->scale[i]}, boundary};
  Field field = field_of(wall.shape->place->spline.spacing_m * wall.pose.scale, c->radius[i]);
  field.at = wall_at;
  field.context = &wall;
  make_patch(&field, first, points);
}
