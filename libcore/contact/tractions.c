#include "contact/tractions.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "model/elements.h"
#include "model/place_shape.h"
#include "model/shapes.h"

#include <math.h>
#include <string.h>

enum { ACROSS = TL_ELEMENT_ACROSS };
typedef double Weights[3][ACROSS]; /* of three values along u or w, at each place */

/* The other body, in its own frame at unit scale, or a wall in the world's. */
typedef struct Other {
  void (*many)(const struct Other *other, const TlVec3 *x, size_t count, double *phi,
               TlVec3 *gradient);
  const void *data;
  const TlPlaceShape *parts; /* a polyhedron's; the field is asked nothing. NULL: another's */
  double slope, slope_out;   /* the field changes by no more a metre; outside its grid */
  double face;               /* no less on its grid's faces */
  double off, rounding;      /* off what middles are found by; of a value */
  double nowhere;            /* phi where a wall ends */
} Other;

/* One body's surface before the other. */
typedef struct Side {
  const Other *other;
  const TlElements *elements;
  TlNodeMap map;   /* from the body's frame at unit scale to the other's */
  TlMat3 turn;     /* from the other's frame to the world's */
  TlVec3 centre;   /* of the other's frame, world */
  double scale;    /* of the other's frame */
  double fraction; /* of the surface that bears: half of each of two */
  const Weights *weights;
  double from_scale;
  int side;
} Side;

/* What elements bear: integrals over where phi is negative, d = -phi, of 1, d, d^2, d x, and of d times the gradient
 * with its moment, in a unit of area of their own. */
typedef struct Borne {
  double area, depth, square, deepest;
  TlVec3 place, force, moment;
  double least; /* phi at any of their places */
} Borne;

/* ---- one element ---- */

/* Half a row of places: vectors of eight doubles are put together on the stack where there is no AVX-512. */
enum { LANES = ACROSS / 2 };
typedef double Lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t Mask __attribute__((vector_size(8 * LANES)));
#pragma GCC diagnostic ignored "-Wpsabi" /* all that passes vectors is inlined */

#define PLACE(k) ((2 * (k) + 1) / (2.0 * ACROSS))
/* tl_element_weights as constants. */
#define LOW(k) ((1 - PLACE(k)) * (1 - 2 * PLACE(k)))
#define MIDDLE(k) (4 * PLACE(k) * (1 - PLACE(k)))
#define HIGH(k) (PLACE(k) * (2 * PLACE(k) - 1))
#define EACH(f) f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
static const double place[ACROSS] = {EACH(PLACE)};
/* Of values at 0, 1/2 and 1: the quadratic through them, and lines from each to the next. */
#define FALLS(k) (PLACE(k) < 0.5 ? 1 - 2 * PLACE(k) : 0)
#define RISES(k) (PLACE(k) > 0.5 ? 2 * PLACE(k) - 1 : 0)
#define PEAKS(k) (1 - FALLS(k) - RISES(k))
static const Weights curved = {{EACH(LOW)}, {EACH(MIDDLE)}, {EACH(HIGH)}},
                     straight = {{EACH(FALLS)}, {EACH(PEAKS)}, {EACH(RISES)}};

static inline __attribute__((always_inline)) Lanes lanes_of(const double *from) {
  Lanes lanes;
  memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

static inline __attribute__((always_inline)) Lanes where(Mask mask, Lanes v) { /* 0 elsewhere */
  return (Lanes)(mask & (Mask)v);
}

/* Of both halves of a row. */
static inline __attribute__((always_inline)) double sum(Lanes first, Lanes second) {
  typedef double Two __attribute__((vector_size(4 * LANES)));
  Lanes half = first + second;
  Two two = __builtin_shufflevector(half, half, 0, 1) + __builtin_shufflevector(half, half, 2, 3);
  return two[0] + two[1];
}

static inline __attribute__((always_inline)) Lanes least(Lanes a, Lanes b) {
  Mask lower = a < b;
  return (Lanes)((lower & (Mask)a) | (~lower & (Mask)b));
}

static inline __attribute__((always_inline)) double least_of(Lanes v) {
  double found = v[0];
  for (int k = 1; k < LANES; k++) found = tl_min(found, v[k]);
  return found;
}

/* Of a row's half the weights of three values along u. */
static inline __attribute__((always_inline)) void weights_along(const Weights weight, int first,
                                                                Lanes u[3]) {
  for (int i = 0; i < 3; i++) u[i] = lanes_of(weight[i] + first);
}

/* Area over that of u and w at places of row k from the first on; none where the element is not surface. */
static inline __attribute__((always_inline)) Lanes stretch_of(const TlListedElement *e, int k,
                                                              int first) {
  static const Mask bit = {1, 2, 4, 8};
  const float *s = e->stretch;
  double low = (double)s[0] + place[k] * ((double)s[2] - (double)s[0]),
         high = (double)s[1] + place[k] * ((double)s[3] - (double)s[1]);
  Lanes stretch = low + (high - low) * lanes_of(place + first);
  if (e->bare == UINT64_MAX) return stretch;
  int64_t row = e->bare >> (8 * k + first) & 0xf;
  return where((bit & row) != 0, stretch);
}

/* Sums over the rows' halves from the first place on. */
typedef struct ValueSums {
  Lanes area, square, lowest, c[3];
} ValueSums;

static inline __attribute__((always_inline)) ValueSums
sum_values(const double phi[TL_ELEMENT_POINTS], const TlListedElement *e, const Weights weight,
           int first) {
  const Lanes none = {0};
  Lanes u[3];
  ValueSums s = {none, none, none + INFINITY, {none, none, none}};
  weights_along(weight, first, u);
#pragma GCC unroll 8
  for (int k = 0; k < ACROSS; k++) {
    double w[3], row[3];
    for (int i = 0; i < 3; i++) w[i] = weight[i][k];
    for (int i = 0; i < 3; i++) row[i] = w[0] * phi[i] + w[1] * phi[i + 3] + w[2] * phi[i + 6];
    Lanes value = row[0] * u[0] + row[1] * u[1] + row[2] * u[2];
    Lanes stretched = stretch_of(e, k, first);
    Mask touch = value < none;
    Lanes d = where(touch, -value), some = d * stretched;
    s.lowest = least(value, s.lowest);
    s.area += where(touch, stretched);
    s.square += some * d;
    for (int i = 0; i < 3; i++) s.c[i] += w[i] * some;
  }
  return s;
}

/* Of the quadratic through nine values of phi; part: what each of these has of d. */
TL_LANES_CLONES static void bear_values(const double phi[TL_ELEMENT_POINTS],
                                        const TlListedElement *e, const Weights weight, Borne *out,
                                        double part[TL_ELEMENT_POINTS]) {
  const ValueSums a = sum_values(phi, e, weight, 0), b = sum_values(phi, e, weight, LANES);
  Lanes u[2][3];
  weights_along(weight, 0, u[0]);
  weights_along(weight, LANES, u[1]);
  *out = (Borne){.area = sum(a.area, b.area),
                 .square = sum(a.square, b.square),
                 .least = least_of(least(a.lowest, b.lowest))};
  for (int i = 0; i < TL_ELEMENT_POINTS; i++)
    part[i] = sum(a.c[i / 3] * u[0][i % 3], b.c[i / 3] * u[1][i % 3]);
}

/* Of the quadratic through nine values, anywhere. */
typedef struct Range {
  double low, high;
} Range;

static inline Range range_of(const double v[TL_ELEMENT_POINTS]) {
  double low = v[0], high = v[0];
  for (int k = 1; k < TL_ELEMENT_POINTS; k++) {
    low = v[k] < low ? v[k] : low;
    high = v[k] > high ? v[k] : high;
  }
  double middle = 0.5 * (low + high), far = TL_ELEMENT_MOST * 0.5 * (high - low);
  return (Range){middle - far, middle + far};
}

/* The element's nine points lie on the surface, too: corners of polyhedra, and of their faces, are among them and lie
 * deeper than the places about them. Those beside places that are no surface are left out. */
static double deepest_of(const double phi[TL_ELEMENT_POINTS], const TlListedElement *e,
                         double least) {
  static const int beside[3] = {0, ACROSS / 2, ACROSS - 1}; /* places */
  for (int k = 0; k < TL_ELEMENT_POINTS; k++)
    if (e->bare >> (ACROSS * beside[k / 3] + beside[k % 3]) & 1) least = tl_min(least, phi[k]);
  return tl_max(0, -least);
}

/* A plane that may be the nearest of its polyhedron somewhere on an element, in the other's frame. */
typedef struct Facing {
  double normal[3], distance;
  double height[TL_ELEMENT_POINTS]; /* of the element's points above it */
  Range range;
} Facing;

typedef struct Facings {
  Facing plane[TL_FACET_PARTS * TL_FACET_PLANES];
  int parts, end[TL_FACET_PARTS]; /* planes of part k end here */
  double low;                     /* the nearest plane is no deeper anywhere on the element */
} Facings;

/* The planes of a part that may be the highest of all somewhere on the element. */
static void add_facings(const TlFacets *f, const double x[3][TL_ELEMENT_POINTS], Facings *found) {
  int first = found->parts ? found->end[found->parts - 1] : 0, count = first, kept = first;
  double floor = -INFINITY;
  for (int32_t i = 0; i < f->plane_count; i++) {
    Facing *p = &found->plane[count];
    TlVec3 m = f->normal[i];
    *p = (Facing){.normal = {m.x, m.y, m.z}, .distance = f->distance[i]};
    for (int k = 0; k < TL_ELEMENT_POINTS; k++)
      p->height[k] = m.x * x[0][k] + m.y * x[1][k] + m.z * x[2][k] - p->distance;
    p->range = range_of(p->height);
    if (p->range.high < floor) continue;
    floor = tl_max(floor, p->range.low);
    count++;
  }
  for (int i = first; i < count; i++)
    if (found->plane[i].range.high >= floor) found->plane[kept++] = found->plane[i];
  found->end[found->parts++] = kept;
}

/* Of a union the parts, too, that may be the nearest somewhere. */
static void find_facings(const TlPlaceShape *shape, const double x[3][TL_ELEMENT_POINTS],
                         Facings *found) {
  double low[TL_FACET_PARTS], ceiling = INFINITY;
  int kept = 0, count = 0;
  found->parts = 0;
  found->low = INFINITY;
  for (int part = 0; part < shape->part_count; part++) {
    double high = -INFINITY;
    add_facings(&shape->part[part], x, found);
    low[part] = -INFINITY;
    for (int i = part ? found->end[part - 1] : 0; i < found->end[part]; i++) {
      low[part] = tl_max(low[part], found->plane[i].range.low);
      high = tl_max(high, found->plane[i].range.high);
    }
    ceiling = tl_min(ceiling, high);
    found->low = tl_min(found->low, low[part]);
  }
  for (int part = 0, first = 0; part < shape->part_count; part++) {
    int end = found->end[part];
    if (low[part] <= ceiling) {
      for (int i = first; i < end; i++) found->plane[count++] = found->plane[i];
      found->end[kept++] = count;
    }
    first = end;
  }
  found->parts = kept;
}

/* Height of the element's points above the nearest plane. */
static void point_heights(const Facings *facings, double phi[TL_ELEMENT_POINTS]) {
  for (int k = 0; k < TL_ELEMENT_POINTS; k++) {
    phi[k] = INFINITY;
    for (int part = 0, next = 0; part < facings->parts; part++) {
      double most = -INFINITY;
      for (; next < facings->end[part]; next++) most = tl_max(most, facings->plane[next].height[k]);
      phi[k] = tl_min(phi[k], most);
    }
  }
}

/* One plane is the nearest all over the element: its heights are a quadratic, as those of any field. */
static void bear_plane(const Facing *plane, const double x[3][TL_ELEMENT_POINTS],
                       const TlListedElement *e, const Weights weight, Borne *out) {
  double part[TL_ELEMENT_POINTS];
  bear_values(plane->height, e, weight, out, part);
  if (!(out->least < 0)) return;
  TlVec3 n = tl_vec3(plane->normal[0], plane->normal[1], plane->normal[2]);
  for (int k = 0; k < TL_ELEMENT_POINTS; k++) {
    out->depth += part[k];
    out->place = tl_axpy(out->place, part[k], tl_vec3(x[0][k], x[1][k], x[2][k]));
  }
  out->force = tl_scale(out->depth, n);
  out->moment = tl_cross(out->place, n);
}

/* Sums over the rows' halves from the first place on. */
typedef struct PlaneSums {
  Lanes area, depth, square, lowest, moved[3], force[3], moment[3];
} PlaneSums;

/* Height of places above the nearest plane, and its normal. */
static inline __attribute__((always_inline)) Lanes above_nearest(const Facings *facings,
                                                                 const Lanes p[3], Lanes n[3]) {
  const Lanes none = {0};
  Lanes value = none + INFINITY;
  for (int j = 0; j < 3; j++) n[j] = none;
  for (int part = 0, next = 0; part < facings->parts; part++) {
    Lanes most = none - INFINITY, g[3] = {none, none, none};
    for (; next < facings->end[part]; next++) {
      const Facing *f = &facings->plane[next];
      Lanes above = f->normal[0] * p[0] + f->normal[1] * p[1] + f->normal[2] * p[2] - f->distance;
      Mask more = above > most;
      most = (Lanes)((more & (Mask)above) | (~more & (Mask)most));
      for (int j = 0; j < 3; j++)
        g[j] = (Lanes)((more & (Mask)(none + f->normal[j])) | (~more & (Mask)g[j]));
    }
    Mask nearer = most < value;
    value = least(most, value);
    for (int j = 0; j < 3; j++) n[j] = (Lanes)((nearer & (Mask)g[j]) | (~nearer & (Mask)n[j]));
  }
  return value;
}

static inline __attribute__((always_inline)) PlaneSums
sum_planes(const Facings *facings, const double x[3][TL_ELEMENT_POINTS], const TlListedElement *e,
           const Weights weight, int first) {
  const Lanes none = {0};
  Lanes u[3];
  PlaneSums s = {.area = none, .lowest = none + INFINITY};
  weights_along(weight, first, u);
  for (int k = 0; k < ACROSS; k++) {
    Lanes p[3], n[3];
    for (int i = 0; i < 3; i++) {
      const double *v = x[i], w[3] = {weight[0][k], weight[1][k], weight[2][k]};
      p[i] = (w[0] * v[0] + w[1] * v[3] + w[2] * v[6]) * u[0] +
             (w[0] * v[1] + w[1] * v[4] + w[2] * v[7]) * u[1] +
             (w[0] * v[2] + w[1] * v[5] + w[2] * v[8]) * u[2];
    }
    Lanes value = above_nearest(facings, p, n);
    Mask touch = value < none;
    Lanes d = where(touch, -value), stretched = stretch_of(e, k, first), some = d * stretched;
    s.lowest = least(value, s.lowest);
    s.area += where(touch, stretched);
    s.depth += some;
    s.square += some * d;
    for (int i = 0; i < 3; i++) {
      int one = (i + 1) % 3, two = (i + 2) % 3;
      s.moved[i] += some * p[i];
      s.force[i] += some * n[i];
      s.moment[i] += some * (p[one] * n[two] - p[two] * n[one]);
    }
  }
  return s;
}

static inline __attribute__((always_inline)) TlVec3 sum_vector(const Lanes first[3],
                                                               const Lanes second[3]) {
  return tl_vec3(sum(first[0], second[0]), sum(first[1], second[1]), sum(first[2], second[2]));
}

/* phi is that of the nearest plane, at every place of the surface. */
TL_LANES_CLONES static void bear_planes(const Facings *facings,
                                        const double x[3][TL_ELEMENT_POINTS],
                                        const TlListedElement *e, const Weights weight,
                                        Borne *out) {
  const PlaneSums a = sum_planes(facings, x, e, weight, 0),
                  b = sum_planes(facings, x, e, weight, LANES);
  *out = (Borne){.area = sum(a.area, b.area),
                 .depth = sum(a.depth, b.depth),
                 .square = sum(a.square, b.square),
                 .place = sum_vector(a.moved, b.moved),
                 .force = sum_vector(a.force, b.force),
                 .moment = sum_vector(a.moment, b.moment),
                 .least = least_of(least(a.lowest, b.lowest))};
}

/* Inside a polyhedron, or a union of some. */
static void bear_parts(const TlPlaceShape *shape, const double x[3][TL_ELEMENT_POINTS],
                       const TlListedElement *e, const Weights weight, bool apart_too, Borne *out) {
  Facings facings;
  find_facings(shape, x, &facings);
  if (facings.low > 0 && !apart_too)
    *out = (Borne){.least = facings.low};
  else if (facings.parts == 1 && facings.end[0] == 1)
    bear_plane(&facings.plane[0], x, e, weight, out);
  else
    bear_planes(&facings, x, e, weight, out);
  if (!(out->least < 0)) return;
  double phi[TL_ELEMENT_POINTS];
  point_heights(&facings, phi);
  out->deepest = deepest_of(phi, e, out->least);
}

/* ---- points ---- */

/* What the other's field says at the points of the listed elements. */
static TlStatus ask(const Side *s, TlListedPart part, TlPoints *points) {
  TlAsked *r = &points->asked;
  size_t count = part.count > 0 ? (size_t)part.listed->element[part.count - 1].points : 0;
  TL_TRY(TL_RESERVE(r->x, r->x_capacity, count));
  TL_TRY(TL_RESERVE(r->gradient, r->gradient_capacity, count));
  TL_TRY(TL_RESERVE(r->phi, r->phi_capacity, count));
  for (size_t i = 0; i < count; i++)
    r->x[i] = tl_node_mapped(&s->map, tl_listed_point(part.listed, (int32_t)i));
  if (s->other->many) s->other->many(s->other, r->x, count, r->phi, r->gradient);
  points->lookups += (int64_t)count;
  return TL_OK;
}

/* What an element bears, its points having been asked. Of one that does not touch least is a bound, above 0, unless
 * apart_too. */
static void bear_element(const Side *s, const TlAsked *asked, const TlListedElement *e,
                         bool apart_too, Borne *out) {
  const int32_t *at = e->point;
  if (s->other->parts) {
    double x[3][TL_ELEMENT_POINTS];
    for (int k = 0; k < TL_ELEMENT_POINTS; k++) {
      x[0][k] = asked->x[at[k]].x;
      x[1][k] = asked->x[at[k]].y;
      x[2][k] = asked->x[at[k]].z;
    }
    bear_parts(s->other->parts, x, e, *s->weights, apart_too, out);
  } else {
    double phi[TL_ELEMENT_POINTS], part[TL_ELEMENT_POINTS];
    for (int k = 0; k < TL_ELEMENT_POINTS; k++) phi[k] = asked->phi[at[k]];
    Range range = range_of(phi);
    if (range.low > 0 && !apart_too) {
      *out = (Borne){.least = range.low};
      return;
    }
    bear_values(phi, e, *s->weights, out, part);
    for (int k = 0; k < TL_ELEMENT_POINTS && out->least < 0; k++) {
      TlVec3 x = asked->x[at[k]], f = tl_scale(part[k], asked->gradient[at[k]]);
      out->depth += part[k];
      out->place = tl_axpy(out->place, part[k], x);
      out->force = tl_add(out->force, f);
      out->moment = tl_add(out->moment, tl_cross(x, f));
    }
    out->deepest = deepest_of(phi, e, out->least);
  }
}

/* ---- what they bear ---- */

static void add(Borne *sum, const Borne *more) {
  sum->area += more->area;
  sum->depth += more->depth;
  sum->square += more->square;
  sum->deepest = tl_max(sum->deepest, more->deepest);
  sum->place = tl_add(sum->place, more->place);
  sum->force = tl_add(sum->force, more->force);
  sum->moment = tl_add(sum->moment, more->moment);
}

/* What the elements of a node bear, if they do, as a contact point. */
static TlStatus add_point(const Side *s, int32_t node, const Borne *cell, TlPoints *points) {
  double size = tl_norm(cell->force);
  if (!(cell->depth > 0 && size > 0)) return TL_OK;
  TlVec3 x = tl_scale(1 / cell->depth, cell->place);
  TlVec3 moment = tl_sub(cell->moment, tl_cross(x, cell->force));
  TlVec3 p = tl_axpy(x, 1 / (size * size), tl_cross(cell->force, moment));
  TlVec3 n = tl_mat_vec(s->turn, tl_scale((s->side ? -1 : 1) / size, cell->force));
  double unit = 1.0 / (ACROSS * ACROSS); /* of area */
  return tl_points_add(
      points, (TlPoint){.p = tl_axpy(s->centre, s->scale, tl_mat_vec(s->turn, p)),
                        .n = n,
                        .gap = -cell->deepest * s->scale,
                        .key = 2 * (int64_t)node + s->side,
                        .area_m2 = s->fraction * unit * cell->area * s->from_scale * s->from_scale,
                        .steeper = size / cell->depth - 1,
                        .twist_m = s->scale * tl_dot(moment, cell->force) / (size * size),
                        .filled = cell->depth / (cell->area * cell->deepest),
                        .filled2 = cell->square / (cell->area * cell->deepest * cell->deepest)});
}

/* The listed elements, into points: by number, for sums must not depend on how they were found. */
static TlStatus bear(const Side *s, TlListedPart part, TlPoints *points) {
  Borne cell = {.area = 0};
  int32_t node = -1;
  TL_TRY(ask(s, part, points));
  for (int32_t k = 0; k < part.listed->count; k++) {
    int32_t i = part.listed->by_number[k];
    const TlListedElement *e = &part.listed->element[i];
    Borne borne;
    if (i >= part.count) continue;
    bear_element(s, &points->asked, e, false, &borne);
    if (!(borne.least < 0)) continue;
    if (e->node != node) {
      TL_TRY(add_point(s, node, &cell, points));
      cell = (Borne){.area = 0};
      node = e->node;
    }
    add(&cell, &borne);
  }
  return add_point(s, node, &cell, points);
}

/* ---- elements that may touch ---- */

/* The middle of an element that may touch has a smaller gap; radius: of the element. Far below the values on the
 * grid's faces all of it lies in the grid. */
static double reach_over(const Side *s, double radius_m) {
  const Other *other = s->other;
  double far = TL_ELEMENT_MOST * radius_m * s->map.ratio;
  bool inside = other->face > 2 * other->slope_out * far;
  return s->scale * ((inside ? other->slope : other->slope_out) * far + other->off);
}

/* Those whose numbers are in points->queue, as the sums want them. */
static TlStatus list_queue(const TlElements *elements, int32_t count, TlPoints *points,
                           TlListedPart *part) {
  *part = (TlListedPart){&points->listed, count};
  TL_TRY(tl_listed_make(&points->listed, elements, points->queue, count, &points->listing));
  tl_listed_sort(&points->listed);
  return TL_OK;
}

/* TlNearElements.judge; context: both sides. A quadratic changes by TL_ELEMENT_MOST times what its points do,
 * which is what the list reckons with in the grid; a point outside of it may change by more until the list is
 * used up. */
static TlStatus judge(const void *context, int side, double cutoff, TlNodeHit *hit, size_t *count,
                      TlPoints *points) {
  const Side *s = (const Side *)context + side;
  const Other *other = s->other;
  for (size_t k = 0; k < *count;) {
    double far = reach_over(s, (double)s->elements->element[hit[k].node].radius_m);
    if (hit[k].gap - far >= cutoff)
      hit[k] = hit[--*count];
    else
      k++;
  }
  int32_t listed = (int32_t)*count;
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, *count));
  for (int32_t i = 0; i < listed; i++) points->queue[i] = hit[i].node;
  TL_TRY(tl_listed_make(&points->listed, s->elements, points->queue, listed, &points->listing));
  TL_TRY(ask(s, (TlListedPart){&points->listed, listed}, points));
  for (size_t k = 0; k < *count; k++) {
    const TlListedElement *e = &points->listed.element[k];
    Borne borne;
    bear_element(s, &points->asked, e, true, &borne);
    hit[k].gap = s->scale * (borne.least - TL_ELEMENT_MOST * other->rounding);
    if (other->parts) continue;
    double most = -INFINITY;
    bool known = true;
    for (int i = 0; i < TL_ELEMENT_POINTS; i++) {
      most = tl_max(most, points->asked.phi[e->point[i]]);
      known = known && tl_norm2(points->asked.gradient[e->point[i]]) > 0;
    }
    if (!known) hit[k].gap = -INFINITY;
    if (!(s->scale * most + cutoff < s->scale * other->face))
      hit[k].gap -= cutoff * (other->slope_out / other->slope - 1);
  }
  return TL_OK;
}

/* Every element of a surface. */
static TlStatus list_all(const TlElements *elements, TlPoints *points, TlListedPart *part) {
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, (size_t)elements->count));
  for (int32_t i = 0; i < elements->count; i++) points->queue[i] = i;
  return list_queue(elements, elements->count, points, part);
}

/* ---- fields ---- */

static void spline_at(const Other *other, const TlVec3 *x, size_t count, double *phi,
                      TlVec3 *gradient) {
  tl_spline_many(other->data, x, count, phi, gradient);
}

static void grid_at(const Other *other, const TlVec3 *x, size_t count, double *phi,
                    TlVec3 *gradient) {
  for (size_t i = 0; i < count; i++) phi[i] = tl_avatar_phi(other->data, x[i], &gradient[i]);
}

/* Where a wall ends it is nowhere near, and has no gradient. */
static void wall_at(const Other *other, const TlVec3 *x, size_t count, double *phi,
                    TlVec3 *gradient) {
  const TlBoundary *wall = other->data;
  if (wall->kind->many && !wall->drive) {
    wall->kind->many(wall->data, x, count, phi, gradient);
    for (size_t i = 0; i < count; i++)
      if (isinf(phi[i])) phi[i] = other->nowhere;
    return;
  }
  for (size_t i = 0; i < count; i++)
    if (!tl_boundary_within(wall, x[i], INFINITY, &phi[i], &gradient[i])) {
      phi[i] = other->nowhere;
      gradient[i] = (TlVec3){0, 0, 0};
    }
}

static Other other_of(const TlShape *shape) {
  const TlPlaceShape *p = shape->place;
  double slope = tl_max(p->slope, shape->lipschitz);
  Other other = {.slope = slope,
                 .slope_out = tl_max(slope, shape->lipschitz_out),
                 .face = shape->phi_min_face,
                 .off = shape->avatar ? shape->avatar->spacing_m : 0};
  if (p->part) {
    other.parts = p;
    return other;
  }
  other.rounding = 1e-6 * shape->avatar->spacing_m;
  if (p->sharp) { /* beside edges that its cells cannot hold the spline bulges by a tenth of one */
    other.many = grid_at;
    other.data = shape->avatar;
    return other;
  }
  other.many = spline_at;
  other.data = &p->spline;
  other.off = tl_min(other.off, p->spline.error_m);
  return other;
}

/* ---- pairs ---- */

bool tl_tractions_serve(const TlShape *a, const TlShape *b) {
  return a->place && b->place && a->place->elements && b->place->elements;
}

/* At edges that a grid rounds within a cell a quadratic would swing. */
static const Weights *weights_of(const TlShape *a, const TlShape *b) {
  return a->place->sharp || b->place->sharp ? &straight : &curved;
}

/* The finer of two surfaces: of one size that of a. -1: both are wanted. */
static int side_alone(const TlNearQuery *query, bool finer) {
  const TlColliders *c = query->colliders;
  const TlShape *a = c->shape[query->a], *b = c->shape[query->b];
  if (!finer || a->place->part || b->place->part) return -1;
  return a->place->elements->size_m * c->scale[query->a] >
         b->place->elements->size_m * c->scale[query->b];
}

static Side side_of(const TlColliders *c, const TlNarrowSide *nodes, const Other *other,
                    int alone) {
  return (Side){.other = other,
                .elements = c->shape[nodes->from]->place->elements,
                .map = nodes->map,
                .turn = *nodes->turn_to,
                .centre = c->position[nodes->to],
                .scale = c->scale[nodes->to],
                .fraction = alone < 0 ? 0.5 : 1,
                .weights = weights_of(c->shape[nodes->from], c->shape[nodes->to]),
                .from_scale = c->scale[nodes->from],
                .side = nodes->side};
}

TlStatus tl_tractions_of_pair(const TlNearQuery *query, bool finer, TlNearPair **lists,
                              TlPoints *points) {
  const TlColliders *c = query->colliders;
  TlListedPart found[2];
  TlMat3 a_to_b;
  TlNarrowSide nodes[2];
  Other other[2];
  Side side[2];
  int alone = side_alone(query, finer);
  tl_narrow_sides(c, query->a, query->b, query->turn_a, query->turn_b, &a_to_b, nodes);
  for (int k = 0; k < 2; k++) {
    other[k] = other_of(c->shape[nodes[k].to]);
    side[k] = side_of(c, &nodes[k], &other[k], alone);
  }
  if (lists) {
    TlNearElements elements = {.reach = tl_max(reach_over(&side[0], side[0].elements->reach_m),
                                               reach_over(&side[1], side[1].elements->reach_m)),
                               .slope = TL_ELEMENT_MOST * tl_max(other[0].slope, other[1].slope),
                               .judge = judge,
                               .context = side,
                               .only = {alone == 0, alone == 1}};
    TlNearQuery listed = *query;
    listed.elements = &elements;
    listed.band = listed.reach = 0;
    TL_TRY(tl_near_elements(lists, &listed, points, found));
  }
  for (int k = 0; k < 2; k++) {
    if (alone == 1 - k) continue;
    if (!lists) TL_TRY(list_all(side[k].elements, points, &found[k]));
    if (found[k].count > 0) TL_TRY(bear(&side[k], found[k], points));
  }
  return TL_OK;
}

/* ---- walls ---- */

/* Those whose middles are near enough, through the tree of these. */
static TlStatus list_by_tree(const TlElements *elements, const TlPose *pose,
                             const TlBoundary *boundary, double reach, TlPoints *points,
                             TlListedPart *part) {
  TlWanted wanted = {reach, reach, INFINITY, 0};
  size_t had = points->count;
  TL_TRY(tl_narrow_boundary_nodes(elements->middles, pose, boundary, &wanted, points));
  size_t count = points->count - had;
  points->count = had;
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, count));
  for (size_t i = 0; i < count; i++) points->queue[i] = (int32_t)(points->point[had + i].key >> 1);
  return list_queue(elements, (int32_t)count, points, part);
}

TlStatus tl_tractions_at_wall(const TlColliders *c, int64_t body, const TlMat3 *turn,
                              const TlBoundary *boundary, double travel, bool all,
                              TlNearWall **list, TlPoints *points) {
  static const TlMat3 unturned = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const TlElements *elements = c->shape[body]->place->elements;
  double scale = c->scale[body], slope = TL_ELEMENT_MOST * boundary->kind->lipschitz;
  Other other = {.many = wall_at,
                 .data = boundary,
                 .slope = boundary->kind->lipschitz,
                 .slope_out = boundary->kind->lipschitz,
                 .face = INFINITY};
  Side side = {.other = &other,
               .elements = elements,
               .map = {.t = c->position[body], .ratio = scale},
               .turn = unturned,
               .scale = 1,
               .fraction = 1,
               .weights = weights_of(c->shape[body], c->shape[body]),
               .from_scale = scale};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) side.map.m.m[i][j] = scale * turn->m[i][j];
  other.nowhere = reach_over(&side, elements->reach_m);
  TlNearElements near = {.reach = other.nowhere, .slope = slope, .judge = judge, .context = &side};
  TlPose pose = {c->position[body], *turn, scale};
  TlListedPart found;
  if (all)
    TL_TRY(list_all(elements, points, &found));
  else if (list)
    TL_TRY(tl_near_boundary_elements(list, c, body, turn, boundary, travel, &near, points, &found));
  else
    TL_TRY(list_by_tree(elements, &pose, boundary, near.reach, points, &found));
  return found.count > 0 ? bear(&side, found, points) : TL_OK;
}
