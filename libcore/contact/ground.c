#include "contact/ground.h"

#include "contact/descent.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "model/shapes.h"

#include <math.h>
#include <string.h>

static const double TWINS = 0.6; /* node spacings: places of one patch nearer than this are one */
static const double TOLERANCE = 1e-5;      /* of the radius: what a Newton step may still gain */
static const double FLAT = 0.3, SHARP = 4; /* curvatures lie within FLAT/r and SHARP/cell */
static const double TRUST = 0.25;          /* of the radius: longest step */
static const double FACING = 0.3;          /* least slope of the grain's phi against the ground */
static const double LEVEL = 0.01; /* sine: a node's normal this near to the ground's is a place's */
static const double BESIDE =
    0.02; /* of the radius: a foot this far beside its patch counts; sine of the
                                      angle by which a normal at a crease may pass that of a patch */
static const double CREASED = 1e-3; /* change of slope that makes a line a crease */
static const double NEAR_P = 0.05,
                    NEAR_N = 0.995; /* two features this near, of the radius, are one */
static const double SAMPLED = 0.25; /* of the radius: distance of samples along a crease */
static const double REFUSED = 1e-3; /* of the radius: deeper than all else */
static const double AHEAD =
    0.25;                        /* of the radius: how far what is known to be apart is looked at */
static const double SLOW = 2e-3; /* of the radius: displacement of a step */
static const double TWISTED = 0.05; /* change of a patch's slope across it */
static const double LEANING = 0.2;  /* slope along a crease under which a flat face lies on it */
enum { ROUNDS = 10, CUTS = 5, NARROWINGS = 14, MOST_SAMPLES = 64 };

typedef enum Feature { PATCH = 1, CREASE_X, CREASE_Y, VERTEX } Feature;

typedef struct Ground {
  const TlGroundQuery *query;
  TlRelief relief;
  const TlShape *shape;
  bool sphere, smooth; /* smooth: a grid */
  TlPose pose;
  double r;       /* of the grain */
  double spacing; /* of its nodes */
  double limit;   /* gaps from here on are not wanted */
  double beside;  /* tolerances of this shape (BESIDE) */
  double area;    /* of its surface that a feature stands for; 0: a point bears by itself */
  TlPoints *points;
  TlPoint *
      refused; /* the deepest point of a crest whose normal no crest has there; gap INFINITY: none */
} Ground;

/* Samples within reach of the centre, and patches that reach there. */
typedef struct Window {
  int64_t i0, i1, j0, j1; /* samples */
  int64_t p0, p1, q0, q1; /* patches */
} Window;

static int64_t clamped(double x, int64_t most) {
  return x < 0 ? 0 : x > (double)most ? most : (int64_t)x;
}

static Window window_of(const Ground *g, TlVec3 c, double reach) {
  const TlRelief *f = &g->relief;
  double per = 1 / f->cell_m, x = (c.x - f->x0_m) * per, y = (c.y - f->y0_m) * per, d = reach * per;
  int64_t nx = f->field.nx, ny = f->field.ny;
  return (Window){(int64_t)tl_max(ceil(x - d), 0), (int64_t)tl_min(floor(x + d), (double)(nx - 1)),
                  (int64_t)tl_max(ceil(y - d), 0), (int64_t)tl_min(floor(y + d), (double)(ny - 1)),
                  clamped(floor(x - d), nx - 2),   clamped(floor(x + d), nx - 2),
                  clamped(floor(y - d), ny - 2),   clamped(floor(y + d), ny - 2)};
}

static double height(const Ground *g, int64_t i, int64_t j) {
  const TlHeightfield *f = &g->relief.field;
  if (i < 0 || j < 0 || i >= f->nx || j >= f->ny) return NAN;
  return (double)f->height[j * f->nx + i];
}

static TlVec3 sample(const Ground *g, int64_t i, int64_t j) {
  const TlRelief *f = &g->relief;
  return tl_vec3(f->x0_m + f->cell_m * (double)i, f->y0_m + f->cell_m * (double)j, height(g, i, j));
}

static int64_t key_of(Feature kind, int64_t i, int64_t j, int64_t node) {
  int64_t most = (1 << 19) - 1;
  return TL_GROUND_KEY | (int64_t)kind << 58 | (i & most) << 39 | (j & most) << 20 |
         (node & most) << 1;
}

static bool is_feature(const TlPoint *p) {
  return p->key & TL_GROUND_KEY;
}

static double grain_phi(const Ground *g, TlVec3 x, TlVec3 *gradient, TlSym3 *hessian) {
  const TlPose *pose = &g->pose;
  TlVec3 own, p = tl_scale(1 / pose->scale, tl_mat_tvec(pose->r, tl_sub(x, pose->x)));
  double phi = g->smooth ? tl_spline_phi(&g->shape->ground->spline, p, &own, hessian)
                         : tl_shape_phi(g->shape, p, &own);
  g->points->lookups++;
  *gradient = tl_mat_vec(pose->r, own);
  return phi * pose->scale;
}

/* ---- places on patches ---- */

typedef struct Square { /* a patch, carried on beyond its square */
  TlPatch patch;
  int64_t i, j;
} Square;

/* Height of x above the patch along the normal there. */
static double above(const Ground *g, const Square *s, TlVec3 x, TlVec3 *n) {
  const TlRelief *f = &g->relief;
  const TlPatch *p = &s->patch;
  double per = f->field.per_metre, u = (x.x - f->x0_m) * per - (double)s->i,
         v = (x.y - f->y0_m) * per - (double)s->j;
  double zu = p->b + p->d * v, zv = p->c + p->d * u;
  double inverse = 1 / sqrt(1 + zu * zu + zv * zv);
  *n = tl_vec3(-zu * inverse, -zv * inverse, inverse);
  return (x.z - f->cell_m * (p->a + p->b * u + zv * v)) * inverse;
}

static bool foot_inside(const Ground *g, const Square *s, TlVec3 foot) {
  const TlRelief *f = &g->relief;
  double per = f->field.per_metre, margin = g->beside * g->r * per;
  double u = (foot.x - f->x0_m) * per - (double)s->i, v = (foot.y - f->y0_m) * per - (double)s->j;
  return u >= -margin && v >= -margin && u <= 1 + margin && v <= 1 + margin;
}

typedef struct Bend { /* curvatures of F across n, along u and v */
  TlVec3 u, v;
  double of[3]; /* uu, uv, vv */
} Bend;

static Bend bend_of(const Ground *g, const Square *s, const TlSym3 *h, TlVec3 n) {
  Bend b;
  tl_tangents(n, &b.u, &b.v);
  TlVec3 u = tl_mat_tvec(g->pose.r, b.u), v = tl_mat_tvec(g->pose.r, b.v), hu = tl_sym_vec(*h, u);
  double per = 1 / g->pose.scale, twist = -n.z * s->patch.d * g->relief.field.per_metre;
  b.of[0] = per * tl_dot(u, hu) + 2 * twist * b.u.x * b.u.y;
  b.of[1] = per * tl_dot(v, hu) + twist * (b.u.x * b.v.y + b.u.y * b.v.x);
  b.of[2] = per * tl_dot(v, tl_sym_vec(*h, v)) + 2 * twist * b.v.x * b.v.y;
  tl_bound_curvatures(b.of, FLAT / g->r,
                      SHARP / (g->shape->ground->spline.spacing_m * g->pose.scale));
  return b;
}

/* From x on the grain's surface to where it is nearest to the patch. False: it does not face it there. */
static bool descend(const Ground *g, const Square *s, TlVec3 x, TlPoint *place) {
  double tolerance = TOLERANCE * g->r, best = INFINITY, fraction = 1, gain = INFINITY;
  TlVec3 at = x, move = {0, 0, 0}, n = {0, 0, 1};
  bool facing = false;
  for (int round = 0, cuts = 0; round < ROUNDS; round++) {
    TlVec3 ga, nb;
    TlSym3 h;
    double a = grain_phi(g, x, &ga, &h), f = a + above(g, s, x, &nb);
    if (f > best + tolerance) { /* too far */
      if (cuts++ == CUTS) break;
      fraction *= 0.4;
      x = tl_axpy(at, fraction, move);
      continue;
    }
    best = f;
    at = x;
    n = nb;
    facing = -tl_dot(ga, nb) > FACING;
    cuts = 0;
    fraction = 1;
    Bend b = bend_of(g, s, &h, nb);
    double gu = tl_dot(ga, b.u), gv = tl_dot(ga, b.v),
           inverse = 1 / (b.of[0] * b.of[2] - b.of[1] * b.of[1]);
    double su = (b.of[1] * gv - b.of[2] * gu) * inverse,
           sv = (b.of[1] * gu - b.of[0] * gv) * inverse;
    move = tl_add(tl_scale(su, b.u), tl_scale(sv, b.v));
    gain = -0.5 * (su * gu + sv * gv);
    double length = tl_norm(move), trust = TRUST * g->r;
    if (length > trust) move = tl_scale(trust / length, move);
    double steep = tl_norm2(ga);
    if (steep > 0.01) move = tl_axpy(move, -a / steep, ga); /* and onto the surface */
    x = tl_add(at, move);
    if (gain < tolerance) {
      at = x;
      break;
    }
  }
  place->gap = best - (gain < tolerance ? gain : 0);
  place->n = n;
  place->p = at;
  return facing;
}

/* A feature is kept unless another one says the same and lies deeper. */
static TlStatus keep(const Ground *g, size_t first, const TlPoint *point, double near) {
  TlPoint *p = g->points->point;
  bool patch = (point->key >> 58 & 7) == PATCH;
  for (size_t k = first; k < g->points->count; k++) {
    if (!is_feature(&p[k])) continue;
    double reach = patch && p[k].key >> 20 == point->key >> 20 ? near : NEAR_P * g->r;
    if (tl_norm2(tl_sub(p[k].p, point->p)) > reach * reach || !(tl_dot(p[k].n, point->n) > NEAR_N))
      continue;
    if (tl_point_deeper(point, &p[k])) p[k] = *point;
    return TL_OK;
  }
  return tl_points_add(g->points, *point);
}

/* From nodes at points->point[first] on, lower than their neighbours, to the patches about them. */
static TlStatus add_places(Ground *g, size_t first, double extra) {
  TlPoints *points = g->points;
  const TlGroundShape *own = g->shape->ground;
  size_t count = points->count - first;
  size_t nodes = (size_t)g->shape->node_count;
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, nodes + count));
  int32_t *rank = points->queue, *start = rank + nodes;
  size_t starts = 0;
  memset(rank, 0xff, nodes * sizeof *rank);
  for (size_t k = 0; k < count; k++) rank[points->point[first + k].key >> 1] = (int32_t)k;
  for (size_t k = 0; k < count; k++) { /* by key: nodes come in any order */
    size_t at = starts;
    const TlPoint *listed = &points->point[first];
    if (!tl_node_lower(listed, k, own->near[listed[k].key >> 1], TL_GROUND_NEIGHBOURS, rank))
      continue;
    for (;
         at > 0 && points->point[first + (size_t)start[at - 1]].key > points->point[first + k].key;
         at--)
      start[at] = start[at - 1];
    start[at] = (int32_t)k;
    starts++;
  }
  for (size_t m = 0; m < starts; m++) {
    size_t k = (size_t)start[m];
    TlPoint seed = points->point[first + k];
    int64_t node = seed.key >> 1;
    TlVec3 normal = tl_mat_vec(g->pose.r, own->normal[node]);
    Window w = window_of(g, seed.p, TL_NODE_COVER * g->spacing + fabs(seed.gap));
    for (int64_t j = w.q0; j <= w.q1; j++)
      for (int64_t i = w.p0; i <= w.p1; i++) {
        Square s = {.i = i, .j = j};
        TlVec3 n;
        if (!tl_heightfield_patch(&g->relief.field, i, j, &s.patch)) continue;
        double h = above(g, &s, seed.p, &n);
        if (h >= g->limit + extra || h < seed.gap - TL_NODE_COVER * g->spacing) continue;
        TlVec3 across = tl_axpy(normal, -tl_dot(normal, n), n);
        /* the node is the place */
        if (tl_norm2(across) < LEVEL * LEVEL && tl_dot(n, seed.n) > 1 - 0.5 * LEVEL * LEVEL)
          continue;
        TlPoint place = {.key = key_of(PATCH, i, j, node)};
        if (!descend(g, &s, seed.p, &place) || !(place.gap < g->limit)) continue;
        if (!foot_inside(g, &s, tl_axpy(place.p, -place.gap, place.n))) continue;
        double scale = g->pose.scale;
        const TlAvatar *avatar = g->shape->avatar;
        place.area_m2 = node < avatar->node_count
                            ? scale * scale * (double)avatar->node_area_m2[node]
                            : g->area; /* a corner that the grid has no node for */
        TL_TRY(keep(g, first + count, &place, TWINS * g->spacing));
        if (place.gap <= seed.gap)
          points->point[first + k].area_m2 = -1; /* it stands for this node */
      }
  }
  return TL_OK;
}

/* ---- closed forms on patches ---- */

/* Point k that follows the contact, sought along own, at a patch. */
static TlPoint follow(const Ground *g, const Square *s, int k, TlVec3 own) {
  TlVec3 far[TL_CLOSED_FARTHEST];
  TlPoint point = {.gap = INFINITY, .key = key_of(PATCH, s->i, s->j, k)};
  g->points->lookups++;
  if (k >= g->shape->closed->farthest(g->shape->size, own, far)) return point;
  point.p = tl_posed(&g->pose, far[k]);
  point.gap = above(g, s, point.p, &point.n);
  return point;
}

static TlStatus keep_on(const Ground *g, const Square *s, size_t first, const TlPoint *point) {
  if (!(point->gap < g->limit) || !foot_inside(g, s, tl_axpy(point->p, -point->gap, point->n)))
    return TL_OK;
  return keep(g, first, point, 0);
}

/* Over a twisted patch a rim about the z axis may be lowest at several places, none of them where one normal
 * leads: all around it. */
static TlStatus add_rims(const Ground *g, const Square *s, size_t first) {
  enum { AROUND = 48 };
  for (int k = 0; k < TL_CLOSED_FARTHEST; k++) {
    TlPoint at[AROUND];
    for (int t = 0; t < AROUND; t++) {
      double angle = 2 * M_PI * t / AROUND;
      at[t] = follow(g, s, k, tl_vec3(cos(angle), sin(angle), 0));
    }
    for (int t = 0; t < AROUND; t++) {
      double low = at[(t + AROUND - 1) % AROUND].gap, high = at[(t + 1) % AROUND].gap;
      if (!(at[t].gap <= low && at[t].gap < high)) continue;
      double part = 0.5 * (low - high) / (low - 2 * at[t].gap + high); /* of the parabola's least */
      double angle = 2 * M_PI * (t + part) / AROUND;
      TlPoint point = follow(g, s, k, tl_vec3(cos(angle), sin(angle), 0));
      point.key = key_of(PATCH, s->i, s->j, TL_CLOSED_FARTHEST * (t + 1) + k);
      TL_TRY(keep_on(g, s, first, &point));
    }
  }
  return TL_OK;
}

/* The farthest points of a shape whose points follow the contact, against each patch; its normal is that at
 * the point, which settles where the patch is far less bent than the grain. */
static TlStatus add_farthest(const Ground *g, size_t first) {
  enum { TURNS = 3 };
  Window w = window_of(g, g->pose.x, g->r + tl_max(g->limit, 0));
  for (int64_t j = w.q0; j <= w.q1; j++)
    for (int64_t i = w.p0; i <= w.p1; i++) {
      Square s = {.i = i, .j = j};
      TlVec3 n;
      if (!tl_heightfield_patch(&g->relief.field, i, j, &s.patch)) continue;
      above(g, &s, g->pose.x, &n);
      for (int k = 0; k < TL_CLOSED_FARTHEST; k++) {
        TlPoint point = {.n = n};
        for (int turn = 0; turn < TURNS; turn++)
          point = follow(g, &s, k, tl_mat_tvec(g->pose.r, point.n));
        TL_TRY(keep_on(g, &s, first, &point));
      }
      if (fabs(s.patch.d) > TWISTED) TL_TRY(add_rims(g, &s, first));
    }
  return TL_OK;
}

/* ---- creases ---- */

/* The line from a along e, and the slopes of the ground away from it on either side at its ends. */
typedef struct Crease {
  Feature kind;
  int64_t i, j;
  TlVec3 a, e; /* e: unit */
  double length;
  bool side[2];
  double slope[2][2]; /* [side][end] */
} Crease;

/* False: no convex line. */
static bool crease_at(const Ground *g, Feature kind, int64_t i, int64_t j, Crease *c) {
  int64_t x = kind == CREASE_X, y = kind == CREASE_Y;
  double per = g->relief.field.per_metre;
  double z0 = height(g, i, j), z1 = height(g, i + x, j + y);
  if (isnan(z0 + z1)) return false;
  *c = (Crease){.kind = kind, .i = i, .j = j};
  for (int s = 0; s < 2; s++) {
    int64_t sign = s ? -1 : 1;
    double w0 = height(g, i + y * sign, j + x * sign),
           w1 = height(g, i + x + y * sign, j + y + x * sign);
    c->side[s] = !isnan(w0 + w1);
    c->slope[s][0] = (w0 - z0) * per;
    c->slope[s][1] = (w1 - z1) * per;
  }
  if (!c->side[0] && !c->side[1]) return false;
  if (c->side[0] && c->side[1] && c->slope[0][0] + c->slope[1][0] > -CREASED &&
      c->slope[0][1] + c->slope[1][1] > -CREASED)
    return false;
  double cell = g->relief.cell_m;
  TlVec3 d = tl_vec3(cell * (double)x, cell * (double)y, z1 - z0);
  c->a = sample(g, i, j);
  c->length = tl_norm(d);
  c->e = tl_scale(1 / c->length, d);
  return true;
}

/* The part of the line within reach of the grain's centre. */
static bool clip(const Ground *g, const Crease *c, double reach, double *from, double *to) {
  TlVec3 d = tl_sub(g->pose.x, c->a);
  double along = tl_dot(d, c->e), beside2 = tl_norm2(tl_axpy(d, -along, c->e));
  if (!(beside2 < reach * reach)) return false;
  double half = sqrt(reach * reach - beside2);
  *from = tl_max(along - half, 0);
  *to = tl_min(along + half, c->length);
  return *from < *to;
}

/* The normal n of a point must not lead into the ground that leaves it along `out`. Where it does, what
 * does is taken from n. */
static bool leads_out(const Ground *g, TlVec3 out, TlVec3 *n) {
  TlVec3 u = tl_unit(out);
  double into = tl_dot(*n, u);
  if (into <= g->beside) return true;
  *n = tl_axpy(*n, -into, u);
  return false;
}

/* A point of the ground inside the grain, where the grain's own normal is none of the ground's: beside edges of
 * the grain. It counts if nothing else is found that lies as deep, with the nearest normal of the ground. */
static void refuse(const Ground *g, TlPoint point, TlVec3 allowed) {
  double length = tl_norm(allowed);
  if (!(point.gap < tl_min(0, g->refused->gap)) || !(length > FACING)) return;
  point.n = tl_scale(1 / length, allowed);
  *g->refused = point;
}

/* Does the normal lie between those of the two patches? Else *n becomes the nearest that does. */
static bool between(const Ground *g, const Crease *c, double at, TlVec3 *n) {
  double t = at / c->length;
  bool inside = true;
  for (int s = 0; s < 2; s++) {
    if (!c->side[s]) continue;
    double sign = s ? -1 : 1, slope = c->slope[s][0] + t * (c->slope[s][1] - c->slope[s][0]);
    TlVec3 out = c->kind == CREASE_X ? tl_vec3(0, sign, slope) : tl_vec3(sign, 0, slope);
    inside = leads_out(g, tl_axpy(out, -tl_dot(out, c->e), c->e), n) && inside;
  }
  return inside;
}

typedef struct Spot { /* of the grain's phi along a crease */
  double at, phi, slope;
  TlVec3 gradient;
} Spot;

static Spot look(const Ground *g, const Crease *c, double at) {
  Spot s = {.at = at};
  s.phi = grain_phi(g, tl_axpy(c->a, at, c->e), &s.gradient, NULL);
  s.slope = tl_dot(s.gradient, c->e);
  return s;
}

/* The slope passes `level` between low and high. Where it jumps there, an edge of the grain crosses the
 * line: the normal is across both, and the gap is measured along it. */
static TlStatus add_crossing(const Ground *g, const Crease *c, size_t first, Spot low, Spot high,
                             double level) {
  double enough = 1e-4 * g->r;
  for (int k = 0; k < NARROWINGS && high.at - low.at > enough; k++) {
    double a = low.slope - level, b = high.slope - level;
    double fraction = k % 3 == 2 ? 0.5 : tl_min(tl_max(a / (a - b), 0.1), 0.9);
    Spot s = look(g, c, low.at + fraction * (high.at - low.at));
    *(s.slope < level ? &low : &high) = s;
    if (fabs(s.slope - level) < 1e-3) {
      low = high = s;
      break;
    }
  }
  double weight = low.slope < 0 && high.slope > 0 ? high.slope / (high.slope - low.slope) : 0.5;
  TlVec3 out = tl_add(tl_scale(weight, low.gradient), tl_scale(1 - weight, high.gradient));
  double phi = tl_min(low.phi, high.phi), at = weight * low.at + (1 - weight) * high.at;
  double apart = weight * tl_norm(low.gradient) + (1 - weight) * tl_norm(high.gradient);
  out = tl_axpy(out, -tl_dot(out, c->e), c->e);
  double length = tl_norm(out);
  if (!(length > FACING * apart)) return TL_OK;
  TlPoint point = {.n = tl_scale(-1 / length, out),
                   .gap = phi * apart / length,
                   .key = key_of(c->kind, c->i, c->j, (int64_t)(at / (SAMPLED * g->r))),
                   .area_m2 = g->area};
  if (!(point.gap < g->limit)) return TL_OK;
  point.p = tl_axpy(tl_axpy(c->a, at, c->e), point.gap, point.n);
  TlVec3 allowed = point.n;
  if (between(g, c, at, &allowed)) return keep(g, first, &point, 0);
  refuse(g, point, allowed);
  return TL_OK;
}

static TlStatus add_crease(const Ground *g, const Crease *c, size_t first) {
  double from, to;
  if (!clip(g, c, g->r + tl_max(g->limit, 0), &from, &to)) return TL_OK;
  if (g->sphere) {
    double at = tl_dot(tl_sub(g->pose.x, c->a), c->e);
    if (at <= 0 || at >= c->length) return TL_OK;
    Spot s = look(g, c, at);
    return add_crossing(g, c, first, s, s, 0);
  }
  double wanted = ceil((to - from) / (SAMPLED * g->r));
  int n = wanted < 2 ? 2 : wanted < MOST_SAMPLES ? (int)wanted : MOST_SAMPLES;
  double step = (to - from) / n;
  /* a flat face of a box on a crest bears at both ends */
  bool flat = !g->smooth && g->shape->node_count > 0;
  Spot low = look(g, c, from);
  for (int k = 1; k <= n; k++) {
    Spot high = look(g, c, from + k * step);
    bool near = 0.5 * (low.phi + high.phi - step) < g->limit;
    for (int m = flat ? -1 : 0; near && m <= (flat ? 1 : 0); m++)
      if (low.slope < m * LEANING && high.slope >= m * LEANING)
        TL_TRY(add_crossing(g, c, first, low, high, m * LEANING));
    low = high;
  }
  return TL_OK;
}

/* ---- vertices ---- */

/* Slopes of the ground away from a sample along +x, -x, +y, -y; NaN where there is none. False: it is no
 * ground, or no crest. */
static bool vertex_at(const Ground *g, int64_t i, int64_t j, double slope[4]) {
  double z = height(g, i, j), per = g->relief.field.per_metre;
  TlPatch patch;
  bool there[4]; /* patches at (i, j), (i-1, j), (i, j-1), (i-1, j-1) */
  if (isnan(z)) return false;
  for (int k = 0; k < 4; k++)
    there[k] = tl_heightfield_patch(&g->relief.field, i - (k & 1), j - (k >> 1), &patch);
  bool edge[4] = {there[0] || there[2], there[1] || there[3], there[0] || there[1],
                  there[2] || there[3]};
  for (int k = 0; k < 4; k++) {
    int64_t sign = k & 1 ? -1 : 1;
    slope[k] = edge[k] ? (height(g, i + (k < 2) * sign, j + (k >= 2) * sign) - z) * per : NAN;
  }
  if (slope[0] + slope[1] > CREASED || slope[2] + slope[3] > CREASED) return false;
  return edge[0] || edge[1] || edge[2] || edge[3];
}

static TlStatus add_vertex(const Ground *g, int64_t i, int64_t j, size_t first) {
  double slope[4];
  if (!vertex_at(g, i, j, slope)) return TL_OK;
  TlVec3 at = sample(g, i, j), gradient;
  double far = g->r + g->limit;
  if (tl_norm2(tl_sub(at, g->pose.x)) >= far * far) return TL_OK;
  double phi = grain_phi(g, at, &gradient, NULL);
  if (!(phi < g->limit) || !(tl_norm2(gradient) > 0.01)) return TL_OK;
  TlVec3 n = tl_scale(-1, tl_unit(gradient)), allowed = n;
  bool out = true;
  for (int k = 0; k < 4; k++) {
    double sign = k & 1 ? -1 : 1;
    if (isnan(slope[k])) continue;
    out = leads_out(g, k < 2 ? tl_vec3(sign, 0, slope[k]) : tl_vec3(0, sign, slope[k]), &allowed) &&
          out;
  }
  TlPoint point = {.p = tl_axpy(at, phi, n),
                   .n = n,
                   .gap = phi,
                   .key = key_of(VERTEX, i, j, 0),
                   .area_m2 = g->area};
  if (out) return keep(g, first, &point, 0);
  refuse(g, point, allowed);
  return TL_OK;
}

/* ---- all features ---- */

/* Are there creases or vertices within reach of the centre? */
static bool any_crest(const Ground *g, double reach) {
  Window w = window_of(g, g->pose.x, reach);
  double from, to;
  Crease c;
  for (int64_t j = w.j0; j <= w.j1; j++)
    for (int64_t i = w.p0; i <= w.p1; i++)
      if (crease_at(g, CREASE_X, i, j, &c) && clip(g, &c, reach, &from, &to)) return true;
  for (int64_t j = w.q0; j <= w.q1; j++)
    for (int64_t i = w.i0; i <= w.i1; i++)
      if (crease_at(g, CREASE_Y, i, j, &c) && clip(g, &c, reach, &from, &to)) return true;
  return false;
}

static TlStatus add_crests(const Ground *g, size_t first) {
  Window w = window_of(g, g->pose.x, g->r + tl_max(g->limit, 0));
  Crease c;
  for (int64_t j = w.j0; j <= w.j1; j++)
    for (int64_t i = w.p0; i <= w.p1; i++)
      if (crease_at(g, CREASE_X, i, j, &c)) TL_TRY(add_crease(g, &c, first));
  for (int64_t j = w.q0; j <= w.q1; j++)
    for (int64_t i = w.i0; i <= w.i1; i++)
      if (crease_at(g, CREASE_Y, i, j, &c)) TL_TRY(add_crease(g, &c, first));
  for (int64_t j = w.j0; j <= w.j1; j++)
    for (int64_t i = w.i0; i <= w.i1; i++) TL_TRY(add_vertex(g, i, j, first));
  return TL_OK;
}

/* The nearest point of each patch, where it lies inside the patch. */
static TlStatus add_balls(const Ground *g, size_t first) {
  const TlRelief *f = &g->relief;
  double reach = g->r + tl_max(g->limit, 0), per = f->field.per_metre;
  TlVec3 c =
      tl_vec3((g->pose.x.x - f->x0_m) * per, (g->pose.x.y - f->y0_m) * per, g->pose.x.z * per);
  Window w = window_of(g, g->pose.x, reach);
  for (int64_t j = w.q0; j <= w.q1; j++)
    for (int64_t i = w.p0; i <= w.p1; i++) {
      Square s = {.i = i, .j = j};
      double u, v;
      TlVec3 n;
      if (!tl_heightfield_patch(&f->field, i, j, &s.patch)) continue;
      double d =
          f->cell_m * tl_patch_distance(&s.patch, c.x - (double)i, c.y - (double)j, c.z, &u, &v);
      g->points->lookups++;
      if (!(d < reach) || !(u > 0 && v > 0 && u < 1 && v < 1)) continue;
      TlVec3 foot =
          tl_vec3(f->x0_m + f->cell_m * ((double)i + u), f->y0_m + f->cell_m * ((double)j + v),
                  f->cell_m * (s.patch.a + s.patch.b * u + s.patch.c * v + s.patch.d * u * v));
      above(g, &s, foot, &n);
      TlPoint point = {.n = n,
                       .p = tl_axpy(g->pose.x, -g->r, n),
                       .gap = d - g->r,
                       .key = key_of(PATCH, i, j, 0)};
      if (tl_dot(tl_sub(g->pose.x, foot), n) > 0 && point.gap < g->limit)
        TL_TRY(keep(g, first, &point, 0));
    }
  return TL_OK;
}

/* Points below the limit that count; the nodes that places stand for are left out. */
static void filter(TlPoints *points, size_t first, double limit) {
  size_t kept = first;
  for (size_t k = first; k < points->count; k++)
    if (points->point[k].gap < limit && !(points->point[k].area_m2 < 0))
      points->point[kept++] = points->point[k];
  points->count = kept;
}

static double least_of(const TlPoints *points, size_t first, double least) {
  for (size_t k = first; k < points->count; k++) least = tl_min(least, points->point[k].gap);
  return least;
}

/* ---- nodes ---- */

/* phi of a patch's plane over the grain's scale is m.p + h at p of the body; less what the patch's twist may
 * take from it within the grain's reach. */
typedef struct Bound {
  float x, y, z, h;
} Bound;

enum { MOST_PATCHES = 6, MOST_BLOCKS = 512 };

/* Planes that bound the distance of the grain's points to the ground from below; -1: too many patches. */
static int bounds_of(const Ground *g, double reach, Bound *bound) {
  const TlRelief *f = &g->relief;
  Window w = window_of(g, g->pose.x, reach);
  double per = f->field.per_metre, x = (g->pose.x.x - f->x0_m) * per,
         y = (g->pose.x.y - f->y0_m) * per, d = reach * per;
  int count = 0;
  if ((w.p1 - w.p0 + 1) * (w.q1 - w.q0 + 1) > MOST_PATCHES) return -1;
  for (int64_t j = w.q0; j <= w.q1; j++)
    for (int64_t i = w.p0; i <= w.p1; i++) {
      Square s = {.i = i, .j = j};
      if (!tl_heightfield_patch(&f->field, i, j, &s.patch)) continue;
      double u = tl_min(tl_max(x, (double)i), (double)(i + 1)),
             v = tl_min(tl_max(y, (double)j), (double)(j + 1));
      const TlPatch *p = &s.patch;
      double zu = p->b + p->d * (v - (double)j), zv = p->c + p->d * (u - (double)i);
      double z = p->a + p->b * (u - (double)i) + zv * (v - (double)j);
      double inverse = 1 / sqrt(1 + zu * zu + zv * zv);
      double h = f->cell_m *
                 (g->pose.x.z * per - z - zu * (x - u) - zv * (y - v) - 0.5 * fabs(p->d) * d * d) *
                 inverse;
      TlVec3 m = tl_mat_tvec(g->pose.r, tl_vec3(-zu * inverse, -zv * inverse, inverse));
      bound[count++] = (Bound){(float)m.x, (float)m.y, (float)m.z,
                               (float)(h / g->pose.scale - 1e-5 * g->shape->radius_m)};
    }
  return count;
}

/* The least bound of each block of nodes into least, and of each node into low. */
TL_LANES_CLONES static void bound_nodes(const TlGroundShape *s, const Bound *bound, int bounds,
                                        float *low, float *least) {
  for (int32_t b = 0; b < s->count; b += TL_GROUND_BLOCK) {
    float at[TL_GROUND_BLOCK];
    for (int n = 0; n < TL_GROUND_BLOCK; n++) at[n] = INFINITY;
    for (int k = 0; k < bounds; k++)
      for (int n = 0; n < TL_GROUND_BLOCK; n++) {
        float phi = s->x[b + n] * bound[k].x + s->y[b + n] * bound[k].y + s->z[b + n] * bound[k].z +
                    bound[k].h;
        at[n] = phi < at[n] ? phi : at[n];
      }
    float lowest = INFINITY;
    for (int n = 0; n < TL_GROUND_BLOCK; n++) {
      low[b + n] = at[n];
      lowest = at[n] < lowest ? at[n] : lowest;
    }
    least[b / TL_GROUND_BLOCK] = lowest;
  }
}

/* The node in the tree's order at k. False: it has no ground. */
static bool node_point(const Ground *g, int32_t k, double reach, TlPoint *point) {
  int32_t node = g->shape->node_index[k];
  *point =
      (TlPoint){.p = tl_posed(&g->pose, tl_shape_node(g->shape, node)), .key = 2 * (int64_t)node};
  g->points->lookups++;
  g->points->node_tests++;
  return tl_boundary_within(g->query->boundary, point->p, reach, &point->gap, &point->n);
}

/* Block by block, the one with the lowest bound first, since what it says rules others out. With deepest
 * only the deepest node is kept. False: the grain covers too many patches. */
static TlStatus scan_nodes(const Ground *g, TlWanted *wanted, TlPoint *deepest, bool *done) {
  const TlGroundShape *s = g->shape->ground;
  int32_t blocks = s->count / TL_GROUND_BLOCK;
  Bound bound[MOST_PATCHES];
  float low[MOST_BLOCKS * TL_GROUND_BLOCK], least[MOST_BLOCKS];
  double scale = g->pose.scale;
  double horizon = tl_max(wanted->margin, 0); /* bounds are right that far */
  if (!deepest && g->query->list) horizon += TL_NODE_COVER * g->spacing + AHEAD * g->r;
  int bounds = blocks > MOST_BLOCKS ? -1 : bounds_of(g, g->r + horizon, bound);
  *done = bounds >= 0;
  if (bounds <= 0) return TL_OK;
  bound_nodes(s, bound, bounds, low, least);
  int32_t first = 0;
  for (int32_t b = 1; b < blocks; b++)
    if (least[b] < least[first]) first = b;
  if (!(scale * (double)least[first] < tl_wanted_limit(wanted))) {
    TlNearWall **memo = deepest ? NULL : g->query->list;
    const TlGroundQuery *q = g->query;
    if (!memo) return TL_OK;
    double known = tl_min(scale * (double)least[first], horizon);
    return tl_near_note_apart(memo, q->colliders, q->collider, q->turn, known);
  }
  for (int32_t turn = -1; turn < blocks; turn++) {
    int32_t b = turn < 0 ? first : turn;
    if (turn == first) continue;
    if (scale * (double)least[b] >= tl_wanted_limit(wanted)) continue;
    for (int32_t k = b * TL_GROUND_BLOCK; k < (b + 1) * TL_GROUND_BLOCK; k++) {
      double limit = tl_wanted_limit(wanted);
      if (scale * (double)low[k] >= limit || k >= g->shape->node_count) continue;
      TlPoint point;
      if (!node_point(g, k, limit, &point) || !(point.gap < limit)) continue;
      wanted->least = tl_min(wanted->least, point.gap);
      if (!deepest) {
        TL_TRY(tl_points_add(g->points, point));
      } else if (tl_point_deeper(&point, deepest)) {
        *deepest = point; /* an equally deep one of a lower number counts */
        wanted->margin = point.gap + 1e-12 * (g->r + fabs(point.gap));
      }
    }
  }
  return TL_OK;
}

/* Nodes, or points that follow the contact. */
static TlStatus nodes(const Ground *g, TlWanted *wanted) {
  const TlGroundQuery *q = g->query;
  bool done = false;
  bool slow = q->list && q->travel < SLOW * g->r; /* a list outlives many steps */
  if (g->shape->ground && !q->all && !slow && !q->boundary->drive)
    TL_TRY(scan_nodes(g, wanted, NULL, &done));
  if (done) return TL_OK;
  if (q->list && g->shape->node_count > 0)
    return tl_near_boundary(q->list, q->colliders, q->collider, q->turn, q->boundary, q->travel,
                            wanted, g->points);
  return (q->all ? tl_narrow_boundary_all : tl_narrow_boundary)(q->colliders, q->collider,
                                                                q->boundary, wanted, g->points);
}

static Ground ground_of(const TlGroundQuery *q, TlVec3 position, const TlMat3 *turn) {
  const TlColliders *x = q->colliders;
  const TlShape *shape = x->shape[q->collider];
  Ground g = {.query = q,
              .relief = q->boundary->kind->relief(q->boundary->data),
              .shape = shape,
              .sphere = shape->closed == &tl_closed_sphere,
              .smooth = shape->avatar && shape->ground,
              .pose = {position, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, x->scale[q->collider]},
              .r = x->radius[q->collider],
              .spacing = shape->node_spacing * x->scale[q->collider]};
  if (!g.sphere) g.pose.r = *turn; /* nobody asks how a sphere is turned */
  g.beside = g.sphere ? 1e-9 : BESIDE;
  if (shape->avatar)
    g.area = g.pose.scale * g.pose.scale * shape->avatar->area_m2 / shape->node_count;
  return g;
}

TlStatus tl_ground_points(const TlGroundQuery *q, TlWanted *wanted, TlPoints *points) {
  Ground g = ground_of(q, q->colliders->position[q->collider], q->turn);
  TlPoint refused = {.gap = INFINITY};
  g.points = points;
  g.refused = &refused;
  size_t first = points->count;
  if (q->list && g.shape->node_count > 0 &&
      tl_near_apart(*q->list, q->colliders, q->collider, q->turn, q->boundary,
                    wanted->margin + TL_NODE_COVER * g.spacing))
    return TL_OK;
  bool crest = !q->boundary->drive && any_crest(&g, g.r + tl_max(wanted->margin, 0));
  /* a place lies deeper than the nodes about it by so much at most; a crest may come between any */
  double extra = g.smooth ? g.shape->ground->deficit * g.pose.scale : 0;
  TlWanted wide = {wanted->margin + extra, wanted->band + extra, wanted->least,
                   tl_max(wanted->reach, 0) + extra};
  TL_TRY(nodes(&g, &wide));
  if (points->count == first && !crest) return TL_OK;
  wide.least = least_of(points, first, wanted->least);
  filter(points, first, tl_wanted_limit(&wide)); /* whatever else the search brought along */
  /* where features may be wanted: the least of all gaps, which the last filter takes, is not known yet */
  g.limit = tl_min(tl_wanted_limit(&wide), wanted->margin);
  if (g.smooth && !q->boundary->drive) TL_TRY(add_places(&g, first, extra));
  if (g.sphere && points->count == first) return TL_OK;
  if (g.sphere && points->point[first].gap > -g.r &&
      !q->boundary->drive) { /* its centre is above */
    TlPoint nearest = points->point[first];
    points->count = first;
    TL_TRY(add_balls(&g, first));
    if (crest) TL_TRY(add_crests(&g, first));
    if (points->count == first) TL_TRY(tl_points_add(points, nearest));
  } else {
    bool follows = g.shape->closed && g.shape->closed->farthest && !q->boundary->drive;
    if (follows) TL_TRY(add_farthest(&g, first));
    if (crest) TL_TRY(add_crests(&g, first));
  }
  double least = least_of(points, first, INFINITY);
  if (refused.gap < least - REFUSED * g.r) TL_TRY(tl_points_add(points, refused));
  wanted->least = tl_min(wanted->least, tl_min(least, refused.gap));
  filter(points, first, tl_wanted_limit(wanted));
  return TL_OK;
}

bool tl_ground_deepest(const TlColliders *b, int64_t body, TlVec3 position, TlQuat rotation,
                       const TlBoundary *boundary, double margin, TlPoint *deepest) {
  TlMat3 turn = tl_quat_matrix(rotation);
  TlGroundQuery q = {.colliders = b, .collider = body, .turn = &turn, .boundary = boundary};
  Ground g = ground_of(&q, position, &turn);
  TlPoints counters = {0};
  TlWanted wanted = {margin, 0, INFINITY, 0};
  bool done = false;
  g.points = &counters;
  *deepest = (TlPoint){.gap = INFINITY};
  TlStatus status = TL_OK;
  if (g.shape->ground && !boundary->drive) status = scan_nodes(&g, &wanted, deepest, &done);
  if (!done || status != TL_OK) /* without memory nothing was scanned */
    return tl_narrow_deepest(b, body, position, rotation, boundary, margin, deepest);
  return deepest->gap < margin;
}
