#include "contact/crests.h"

#include "contact/ball_facets.h"
#include "model/place_shape.h"
#include "model/shapes.h"

#include <math.h>

static const double SAMPLED = 0.25; /* of the smaller radius: distance of samples along an edge */
static const double FACING = 0.3;   /* least slope of phi across an edge */
static const double FLAT = 0.98; /* cosine of the normals of a face and of a rim that it lies on */
enum { NARROWINGS = 12, MOST_SAMPLES = 64, ROUND_SAMPLES = 12 };

const double tl_crest_beside = 0.02;

TlCrestGrain tl_crest_grain(const TlColliders *c, int64_t i, double size) {
  double slope = c->shape[i]->place->slope;
  return (TlCrestGrain){.field = tl_smooth_of(c, i),
                        .radius = c->radius[i],
                        .size = size,
                        .steep = sqrt(1 + slope * slope), /* beyond the grid */
                        .limit = INFINITY};
}

TlCrestGrain tl_crest_part(const TlColliders *c, int64_t i, int k, double size) {
  return (TlCrestGrain){.facets = &c->shape[i]->place->part[k],
                        .scale = c->scale[i],
                        .radius = c->radius[i],
                        .size = size,
                        .steep = 1,
                        .limit = INFINITY};
}

static double phi_at(const TlCrestGrain *g, TlVec3 x, TlVec3 *gradient) {
  TlVec3 nearest;
  if (!g->facets) return tl_smooth_phi(&g->field, x, gradient, NULL);
  return g->scale * tl_facets_nearest(g->facets, tl_scale(1 / g->scale, x), &nearest, gradient);
}

typedef struct Spot { /* of the grain's phi along an edge */
  double at, phi, slope;
  TlVec3 x, along, gradient;
} Spot;

/* Unit, from a rim's axis to its point there. */
static TlVec3 outward(const TlCrest *c, double at) {
  double angle = at / c->radius;
  return tl_axpy(tl_scale(cos(angle), c->across), sin(angle), tl_cross(c->along, c->across));
}

static Spot look(const TlCrestGrain *g, const TlCrest *c, double at, TlPoints *points) {
  Spot s = {.at = at, .along = c->along};
  if (c->radius > 0) {
    TlVec3 out = outward(c, at);
    s.x = tl_axpy(c->from, c->radius, out);
    s.along = tl_cross(c->along, out);
  } else {
    s.x = tl_axpy(c->from, at, c->along);
  }
  s.phi = phi_at(g, s.x, &s.gradient);
  s.slope = tl_dot(s.gradient, s.along);
  points->lookups++;
  return s;
}

/* May a direction across an edge, out of what it belongs to, be a normal there? */
static bool between(const TlCrest *c, const Spot *spot, TlVec3 n) {
  TlVec3 normal[2] = {c->normal[0], c->normal[1]};
  if (c->radius > 0) normal[1] = tl_scale(c->side, outward(c, spot->at));
  for (int s = 0; s < 2; s++) { /* into the face, away from the edge: behind the other one */
    TlVec3 into = tl_cross(normal[s], spot->along);
    if (tl_dot(into, normal[1 - s]) > 0) into = tl_scale(-1, into);
    if (tl_dot(n, into) > tl_crest_beside) return false;
  }
  return true;
}

static int64_t number_of(const TlCrestGrain *g, const TlCrest *c, double at) {
  double whole = 2 * M_PI * c->radius, step = SAMPLED * g->size;
  if (c->radius > 0) at -= whole * floor(at / whole);
  return (int64_t)(at / step);
}

/* At a spot whose gradient may be the mean of two, with lengths whose mean is `apart`; 0: it is one. False: there is
 * no place. */
static bool place_at(const TlCrestGrain *g, const TlCrest *c, const Spot *s, double apart,
                     TlCrestPlace *place) {
  TlVec3 out = tl_axpy(s->gradient, -tl_dot(s->gradient, s->along), s->along);
  double length = tl_norm(out), gap = apart > 0 ? s->phi * apart / length : s->phi;
  if (!(gap < g->limit) || !(length > FACING)) return false;
  *place = (TlCrestPlace){.x = s->x,
                          .n = tl_scale(-1 / length, out),
                          .at = s->at,
                          .gap = gap,
                          .number = number_of(g, c, s->at)};
  return between(c, s, place->n);
}

/* phi is least between two samples. */
static bool crossing(const TlCrestGrain *g, const TlCrest *c, Spot low, Spot high,
                     TlCrestPlace *place, TlPoints *points) {
  Spot s = low;
  for (int i = 0; i < NARROWINGS && fabs(s.slope) > 1e-3; i++) {
    bool halve = g->facets || i % 3 == 2; /* slopes of flat faces jump */
    double zero = low.slope / (low.slope - high.slope),
           fraction = halve ? 0.5 : tl_min(tl_max(zero, 0.05), 0.95);
    s = look(g, c, low.at + fraction * (high.at - low.at), points);
    *(s.slope < 0 ? &low : &high) = s;
  }
  bool edge = g->facets && fabs(s.slope) > 1e-3; /* one of the grain's lies between the two */
  double weight = edge ? high.slope / (high.slope - low.slope) : 1;
  if (edge) s.gradient = tl_axpy(tl_scale(weight, low.gradient), 1 - weight, high.gradient);
  return place_at(g, c, &s, edge, place);
}

/* A face lies on the rim: to the places that were found, the lowest of which counts in place of this spot, others to its
 * sides are added. Their number. */
static int add_flat(const TlCrestGrain *g, const TlCrest *c, double at, TlCrestPlace *place,
                    int found, TlPoints *points) {
  double step = tl_min(0.5 * M_PI * c->radius, 0.5 * g->size), gap = INFINITY;
  int count = found;
  for (int k = 0; k < found; k++)
    if (place[k].gap < gap) gap = place[k].gap, at = place[k].at;
  for (int k = -1; k <= 2; k++) {
    Spot s = look(g, c, at + k * step, points);
    if (!place_at(g, c, &s, 0, &place[count])) continue;
    bool known = false;
    for (int i = 0; i < count; i++) known = known || place[i].number == place[count].number;
    count += !known;
  }
  return count;
}

/* The part of the edge that the grain may reach: false, none. */
static bool clip(const TlCrestGrain *g, const TlCrest *c, double *start, double *end) {
  double far = g->radius + g->limit, along = -tl_dot(c->from, c->along);
  TlVec3 beside =
      tl_scale(-1, tl_axpy(c->from, along, c->along)); /* the grain's centre from the line */
  if (c->radius > 0) {
    double off = tl_norm(beside), r = c->radius, span = 2 * off * r;
    double over = along * along + off * off + r * r - far * far; /* span cos(angle) is no less */
    if (!(over < span)) return false;
    double half = over > -span ? acos(over / span) : M_PI;
    double middle =
        off > 0 ? atan2(tl_dot(beside, tl_cross(c->along, c->across)), tl_dot(beside, c->across))
                : 0;
    *start = r * (middle - half);
    *end = r * (middle + half);
    return true;
  }
  double beside2 = tl_norm2(beside);
  if (!(beside2 < far * far)) return false;
  double half = sqrt(far * far - beside2);
  *start = tl_max(along - half, 0);
  *end = tl_min(along + half, c->length);
  return *start < *end;
}

int tl_crest_places(const TlCrestGrain *g, const TlCrest *c, TlCrestPlace place[TL_CREST_PLACES],
                    TlPoints *points) {
  double start, end;
  int count = 0;
  if (!clip(g, c, &start, &end)) return 0;
  double wanted = ceil((end - start) / (SAMPLED * g->size));
  if (c->radius > 0)
    wanted = tl_max(wanted, ceil(ROUND_SAMPLES * (end - start) / (2 * M_PI * c->radius)));
  int n = wanted < 2 ? 2 : wanted < MOST_SAMPLES ? (int)wanted : MOST_SAMPLES;
  double step = (end - start) / n;
  Spot low = look(g, c, start, points), last = look(g, c, end, points);
  if (0.5 * (low.phi + last.phi - g->steep * (end - start)) >= g->limit) return 0;
  Spot least = low.phi < last.phi ? low : last;
  for (int i = 1; i <= n; i++) {
    Spot high = i < n ? look(g, c, start + i * step, points) : last;
    bool near = 0.5 * (low.phi + high.phi - g->steep * step) < g->limit;
    if (near && low.slope < 0 && high.slope >= 0)
      count += crossing(g, c, low, high, &place[count], points);
    if (high.phi < least.phi) least = high;
    low = high;
  }
  bool flat = g->facets && c->radius > 0 && -tl_dot(least.gradient, c->normal[0]) > FLAT;
  return flat ? add_flat(g, c, least.at, place, count, points) : count;
}
