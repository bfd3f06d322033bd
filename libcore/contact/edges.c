#include "contact/edges.h"

#include "base/mem.h"
#include "model/shapes.h"

#include <math.h>

static const double GAIN = 1e-4; /* of the smaller radius: a place no deeper than a node by this is
                                     none, a tenth of the slop */
static const double HOPE = 1e-3; /* likewise: not sought where the angle promises less */
static const double AGREE = 0.9; /* cosine: normals of one cluster, as in the manifold */
static const double APART = 1.5; /* node spacings: two places nearer than this are one */
static const double STRAY = 4;   /* node spacings: a search that ends farther off found another */
static const double CLEARANCE =
    3; /* grid cells between the surfaces while searching: nearer, an edge's
                                 fan of normals is lost in a cell */
static const double STEEP = 1.42, FLAT = 0.2; /* of phi along a line into the grain: most, least */
static const double FIRST = 0.2;              /* node spacings: first look about */
enum {
  ROUNDS = 2,
  TURNS = 3,
  STEPS = 8,
  SEEDS = 4,
  ROOTS = 8,
  ROUGHLY = 3,
  HALVINGS = 7,
  MOVES = 4
};

static double spacing(const TlColliders *b, int64_t i) {
  return b->shape[i]->node_spacing * b->scale[i];
}

/* Shapes whose points follow the contact have no spacing. */
double tl_edges_reach(const TlColliders *b, int64_t i, int64_t j) {
  if (tl_shape_alone(b->shape[i]) || tl_shape_alone(b->shape[j])) return 0;
  double x = spacing(b, i), y = spacing(b, j);
  return TL_NODE_COVER * (x > 0 && y > 0 ? tl_min(x, y) : tl_max(x, y));
}

/* World frame, relative to body a's centre; lengths in metres. */
typedef struct Duel {
  const TlShape *shape[2];
  double scale[2];
  const TlMat3 *turn[2];
  TlVec3 centre[2]; /* 0 and b's centre from a's */
  double cell[2];   /* gradients are taken across this, either way */
  double step, size, clearance;
  TlPoints *points;
} Duel;

/* Distance of grain s at x. */
static double phi_of(const Duel *d, int s, TlVec3 x) {
  TlVec3 p = tl_mat_tvec(*d->turn[s], tl_sub(x, d->centre[s]));
  d->points->lookups++;
  return d->scale[s] * tl_shape_phi(d->shape[s], tl_scale(1 / d->scale[s], p), NULL);
}

/* With the gradient across a cell either way (within one cell of a grid an edge has no fan of
 * normals); that of a closed form is exact. */
static double slope_of(const Duel *d, int s, TlVec3 x, TlVec3 *gradient) {
  const TlShape *shape = d->shape[s];
  double inverse = 1 / d->scale[s], g[3], h = d->cell[s] * inverse;
  TlVec3 p = tl_scale(inverse, tl_mat_tvec(*d->turn[s], tl_sub(x, d->centre[s])));
  if (h == 0) {
    TlVec3 exact;
    double phi = d->scale[s] * tl_shape_phi(shape, p, &exact);
    *gradient = tl_mat_vec(*d->turn[s], exact);
    d->points->lookups++;
    return phi;
  }
  for (int k = 0; k < 3; k++) {
    TlVec3 e = {k == 0 ? h : 0, k == 1 ? h : 0, k == 2 ? h : 0};
    g[k] = (tl_shape_phi(shape, tl_add(p, e), NULL) - tl_shape_phi(shape, tl_sub(p, e), NULL)) /
           (2 * h);
  }
  *gradient = tl_mat_vec(*d->turn[s], tl_vec3(g[0], g[1], g[2]));
  d->points->lookups += 7;
  return d->scale[s] * tl_shape_phi(shape, p, NULL);
}

/* Both surfaces seen from x while a stands s n away. */
typedef struct View {
  TlVec3 x, sum, n; /* sum of the gradients; n: the direction between them, from b to a */
  double f, a, b;   /* a + b, phi_a, phi_b */
} View;

static View view_at(const Duel *d, TlVec3 x, TlVec3 away) {
  TlVec3 ga, gb;
  View v = {.x = x};
  v.a = slope_of(d, 0, tl_sub(x, away), &ga);
  v.b = slope_of(d, 1, x, &gb);
  v.f = v.a + v.b;
  v.sum = tl_add(ga, gb);
  v.n = tl_unit(tl_sub(gb, ga));
  return v;
}

/* Lowers F at a fixed separation: steepest descent with the step of Barzilai and Borwein, x kept
 * half-way. The lowest view is returned. */
static View descend(const Duel *d, View v, TlVec3 away) {
  View low = v;
  double step = d->step;
  for (int k = 0; k < STEPS; k++) {
    TlVec3 half = tl_scale(0.5 * (v.a - v.b), v.n), move = tl_axpy(half, -step, v.sum);
    if (tl_norm2(move) < 1e-12 * d->step * d->step) break;
    View w = view_at(d, tl_add(v.x, move), away);
    TlVec3 change = tl_sub(w.sum, v.sum), displacement = tl_sub(w.x, v.x);
    double bend = tl_dot(displacement, change);
    step = bend > 0 ? tl_norm2(displacement) / bend : 2 * step;
    step = tl_min(tl_max(step, 0.1 * d->step), d->size);
    v = w;
    if (v.f < low.f) low = v;
  }
  return low;
}

/* A place on the two surfaces as they are. */
typedef struct Place {
  TlVec3 p, n;
  double gap;
} Place;

/* Normal and rough place of the least translation, from a point near it that lies half-way: a is
 * moved away until the clearance between the surfaces is as wanted, as often as n changes. */
static Place aim(const Duel *d, Place from, double clearance) {
  double s = tl_max(clearance - from.gap, 0);
  TlVec3 x = tl_axpy(from.p, 0.5 * s, from.n);
  Place to = from;
  for (int k = 0; k < TURNS; k++) {
    TlVec3 away = tl_scale(s, to.n);
    View v = descend(d, view_at(d, x, away), away);
    if (!(tl_norm2(v.n) > 0.5)) break; /* opposite gradients: no direction */
    double turned = tl_norm(tl_sub(v.n, to.n));
    to.gap = v.f - s * tl_dot(to.n, v.n);
    /* a's surface at x + phi_a n less the separation, b's at x - phi_b n */
    to.p = tl_add(v.x, tl_scale(0.5, tl_sub(tl_scale(v.a - v.b, v.n), away)));
    to.n = v.n;
    if (turned * s < 1e-4 * d->size) break;
    s = tl_max(s + d->clearance - v.f, 0);
    x = tl_axpy(to.p, 0.5 * s, to.n);
  }
  return to;
}

/* Where the line x + t n meets the surface of grain s; n leads into a and out of b. From outside by
 * secants, an overstep is halved: values inside are not used, for within a cell of an edge phi of a
 * grid falls with the square of the distance there. */
static double meet(const Duel *d, int s, TlVec3 x, TlVec3 n) {
  double start = -0.5 * d->clearance - FIRST * d->step, sign = s ? -1 : 1; /* inward along n */
  double out = start, in = INFINITY, f_out = phi_of(d, s, tl_axpy(x, sign * out, n)), slope = STEEP;
  for (int k = 0; k < ROOTS && f_out > 0; k++) {
    double t = out + f_out / slope;
    if (t >= in) t = 0.5 * (out + in);
    double f = phi_of(d, s, tl_axpy(x, sign * t, n));
    if (f <= 0) {
      in = t;
      continue;
    }
    slope = tl_max((f_out - f) / (t - out), FLAT);
    out = t;
    f_out = f;
  }
  return sign * tl_min(out + f_out / slope, in);
}

/* The gap along n at x, and the point half-way. */
static Place across(const Duel *d, TlVec3 x, TlVec3 n) {
  double a = meet(d, 0, x, n), b = meet(d, 1, x, n);
  return (Place){tl_axpy(x, 0.5 * (a + b), n), n, a - b};
}

/* On the surfaces as they are, where edges are as sharp as the grid has them: the least gap along n
 * over the directions across it, by looking about in eight directions, ever nearer. */
static Place polish(const Duel *d, Place least, int halvings) {
  static const double H = 0.70710678118654752;
  const double direction[8][2] = {{1, 0},  {H, H},   {0, 1},  {-H, H},
                                  {-1, 0}, {-H, -H}, {0, -1}, {H, -H}};
  TlVec3 n = least.n, u, v;
  tl_tangents(n, &u, &v);
  least = across(d, least.p, n);
  double reach = FIRST * d->step;
  for (int k = 0; k < halvings; k++, reach *= 0.5)
    for (int i = 0, moves = 0; i < 8 && moves < MOVES; i++) {
      TlVec3 x = tl_axpy(tl_axpy(least.p, reach * direction[i][0], u), reach * direction[i][1], v);
      Place next = across(d, x, n);
      if (!(next.gap < least.gap)) continue;
      least = next;
      moves++;
      i--; /* on in this direction */
    }
  return least;
}

/* From a node point. Direction and place in turn: each is better known with the other. */
static bool search(const Duel *d, const TlPoint *seed, TlVec3 origin, Place *out) {
  TlVec3 p = tl_sub(seed->p, origin);
  Place place = {tl_axpy(p, (seed->key & 1 ? 0.5 : -0.5) * seed->gap, seed->n), seed->n, seed->gap};
  double clearance =
      d->clearance + 0.5 * d->step; /* the node may lie that far above the pair's gap */
  for (int k = 0; k < ROUNDS; k++, clearance = d->clearance)
    place = polish(d, aim(d, place, clearance), k + 1 < ROUNDS ? ROUGHLY : HALVINGS);
  *out = place;
  return isfinite(place.gap) && tl_norm2(tl_sub(place.p, p)) < STRAY * STRAY * d->step * d->step;
}

/* Inside both grains, or in the gap no farther than half of it from either. */
static bool believed(const Duel *d, const Place *place) {
  double most = 0.5 * tl_max(place->gap, 0) + 0.5 * GAIN * d->size;
  return phi_of(d, 0, place->p) <= most && phi_of(d, 1, place->p) <= most;
}

/* Node points in order: the deepest of each cluster of normals are where searches begin. */
static int seeds_of(const TlPoints *points, double limit, TlPoint *seed) {
  int count = 0;
  while (count < SEEDS) {
    const TlPoint *next = NULL;
    for (size_t i = 0; i < points->count; i++) {
      const TlPoint *p = &points->point[i];
      bool taken = p->gap >= limit;
      for (int k = 0; k < count && !taken; k++) taken = tl_dot(p->n, seed[k].n) >= AGREE;
      if (!taken && (!next || tl_point_deeper(p, next))) next = p;
    }
    if (!next) break;
    seed[count++] = *next;
  }
  return count;
}

/* 0..5: x, -x, y, ... in a's frame; where it is taken already the next free one. */
static int64_t key_of(const TlMat3 *turn_a, TlVec3 n, const TlPoint *other, int others) {
  TlVec3 m = tl_mat_tvec(*turn_a, n);
  double x = fabs(m.x), y = fabs(m.y), z = fabs(m.z);
  int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  double along = axis == 0 ? m.x : axis == 1 ? m.y : m.z;
  int64_t key = -2 - (2 * axis + (along < 0));
  for (int k = 0; k < others; k++)
    if (other[k].key == key) key -= 6;
  return key;
}

static bool found_before(const TlPoint *found, int count, TlVec3 p, double near) {
  for (int k = 0; k < count; k++)
    if (tl_norm2(tl_sub(found[k].p, p)) < near * near) return true;
  return false;
}

/* How much a search from this node could gain: by the angle between the two surfaces there times
 * the distance to the next node. Faces that lie flat on each other gain nothing. */
static bool worth_it(const Duel *d, const TlPoint *seed, TlVec3 origin, double margin) {
  bool of_b = seed->key & 1;
  TlVec3 g, own = tl_sub(seed->p, origin);
  slope_of(d, of_b, own, &g);
  TlVec3 facing = of_b ? tl_scale(-1, tl_unit(g)) : tl_unit(g);
  double gain = d->step * tl_norm(tl_add(facing, seed->n));
  return gain > HOPE * d->size && seed->gap - gain < margin;
}

/* At most TL_EDGE_POINTS places, deeper than the least node by more than GAIN. */
static int refine(const Duel *d, const TlMat3 *turn_a, TlVec3 origin, const TlPoint *seed,
                  int seeds, double margin, TlPoint *found) {
  int count = 0;
  for (int k = 0; k < seeds && count < TL_EDGE_POINTS; k++) {
    Place place;
    if (seed[k].gap < -d->step) break; /* so deep that nodes are there in number */
    if (found_before(found, count, seed[k].p, APART * d->step)) continue;
    if (!worth_it(d, &seed[k], origin, margin)) continue;
    if (!search(d, &seed[k], origin, &place)) continue;
    if (!(place.gap < margin) || !(place.gap < seed[k].gap - GAIN * d->size)) continue;
    TlVec3 p = tl_add(origin, place.p);
    if (found_before(found, count, p, APART * d->step) || !believed(d, &place)) continue;
    found[count] = (TlPoint){p, place.n, place.gap, key_of(turn_a, place.n, found, count)};
    count++;
  }
  return count;
}

static double cell(const TlColliders *b, int64_t i) {
  const TlAvatar *avatar = b->shape[i]->avatar;
  return avatar ? avatar->spacing_m * b->scale[i] : 0;
}

static Duel duel_of(const TlColliders *b, int64_t i, int64_t j, const TlMat3 *turn_i,
                    const TlMat3 *turn_j, TlPoints *points) {
  double step = tl_edges_reach(b, i, j) / TL_NODE_COVER, x = cell(b, i), y = cell(b, j);
  return (Duel){.shape = {b->shape[i], b->shape[j]},
                .scale = {b->scale[i], b->scale[j]},
                .turn = {turn_i, turn_j},
                .centre = {{0, 0, 0}, tl_sub(b->position[j], b->position[i])},
                .cell = {x, y},
                .step = step,
                .clearance = tl_max(CLEARANCE * tl_max(x, y), 0.25 * step),
                .size = tl_min(b->radius[i], b->radius[j]),
                .points = points};
}

TlStatus tl_edges_refine(const TlColliders *b, int64_t i, int64_t j, const TlMat3 *turn_i,
                         const TlMat3 *turn_j, const TlWanted *wanted, TlPoints *points) {
  TlPoint seed[SEEDS], found[TL_EDGE_POINTS];
  double least = INFINITY;
  for (size_t k = 0; k < points->count; k++) least = tl_min(least, points->point[k].gap);
  Duel d = duel_of(b, i, j, turn_i, turn_j, points);
  TlWanted seen = tl_wanted_beside(wanted, tl_edges_reach(b, i, j));
  seen.least = least;
  seen.reach = 0; /* the nearest nodes are seeds enough */
  int seeds = seeds_of(points, tl_wanted_limit(&seen), seed);
  int count = refine(&d, turn_i, b->position[i], seed, seeds, wanted->margin, found);
  size_t kept = 0;
  for (size_t k = 0; k < points->count; k++)
    if (points->point[k].gap < wanted->margin) points->point[kept++] = points->point[k];
  points->count = kept;
  TL_TRY(TL_RESERVE(points->point, points->capacity, kept + TL_EDGE_POINTS));
  for (int k = 0; k < count; k++) points->point[points->count++] = found[k];
  return TL_OK;
}
