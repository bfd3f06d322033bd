#include "post/overlap_deepest.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

static const double HALF_DIAGONAL = 0.8660254037844386; /* of a cube of edge 1 */
static const double STEEPEST = 1.25; /* slope of a field that is a distance but for its grid */

typedef struct Search {
  const TlOverlapBody *body;
  const TlOverlapAgainst *against;
  TlOverlapDepth *deepest;
  TlVec3 at; /* the deepest sample in the body's frame, unit scale */
  bool found;
} Search;

static TlVec3 world(const TlOverlapBody *b, TlVec3 p) {
  return tl_axpy(b->row->position_m, b->row->scale, tl_mat_vec(b->turn, p));
}

static TlVec3 inward(const TlOverlapBody *b, TlVec3 p) {
  return tl_scale(1 / b->row->scale, tl_mat_tvec(b->turn, tl_sub(p, b->row->position_m)));
}

static double phi_of_body(const void *context, TlVec3 p, double reach, TlVec3 *normal) {
  const TlOverlapBody *b = context;
  double s = b->row->scale;
  TlVec3 g, d = tl_sub(p, b->row->position_m);
  double outside = tl_norm(d) - b->radius_m;
  if (outside > 0 && outside >= reach) return outside;
  double phi = s * tl_overlap_shape_phi(b->shape, inward(b, p), normal ? &g : NULL);
  if (normal) *normal = tl_unit(tl_mat_vec(b->turn, g));
  return phi;
}

TlOverlapAgainst tl_overlap_against_body(const TlOverlapBody *body) {
  return (TlOverlapAgainst){body, phi_of_body};
}

/* A seed, no farther than `near` from the surface, goes onto it along the field's gradient. */
static void try_seed(Search *s, TlVec3 p, double near) {
  enum { STEPS = 4 };
  const TlOverlapShape *shape = s->body->shape;
  const double h = shape->avatar->spacing_m, close = 1e-7 * h;
  TlVec3 g, start = p;
  double f = tl_overlap_shape_phi(shape, p, &g);
  if (!(fabs(f) <= near)) return;
  for (int k = 0; k < STEPS && fabs(f) > close; k++) {
    double steep = tl_norm2(g);
    if (!(steep > 0.01)) return; /* on a ridge of the field no direction leads to the surface */
    p = tl_axpy(p, -f / steep, g);
    f = tl_overlap_shape_phi(shape, p, &g);
  }
  if (fabs(f) > 1e-5 * h || tl_norm2(tl_sub(p, start)) > 9 * near * near) return;
  TlVec3 at = world(s->body, p), normal;
  double phi = s->against->phi(s->against->context, at, -s->deepest->depth_m, NULL);
  if (!(phi < -s->deepest->depth_m)) return;
  phi = s->against->phi(s->against->context, at, -s->deepest->depth_m, &normal);
  *s->deepest = (TlOverlapDepth){-phi, at, normal};
  s->at = p;
  s->found = true;
}

/* A cube of this edge about a point of the body's frame, cut in eight as long as it may hold a
 * deeper point of the surface, down to the samples' distance. */
static void search_cube(Search *s, TlVec3 middle, double edge) {
  const TlOverlapShape *shape = s->body->shape;
  const double near = STEEPEST * HALF_DIAGONAL * edge;
  if (fabs(tl_overlap_shape_phi(shape, middle, NULL)) > near) return;
  const double reach = s->body->row->scale * near - s->deepest->depth_m;
  if (s->against->phi(s->against->context, world(s->body, middle), reach, NULL) >= reach) return;
  if (edge <= shape->sample_m) {
    try_seed(s, middle, near);
    return;
  }
  for (int k = 0; k < 8; k++)
    search_cube(
        s, tl_axpy(middle, 0.25 * edge, tl_vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)),
        0.5 * edge);
}

/* The deepest of 3 x 3 x 3 seeds about the deepest sample, again as long as that finds deeper ones,
 * then with half the distance. */
static void refine(Search *s) {
  enum { LEVELS = 6, MOST = 4 };
  double step = 0.5 * s->body->shape->sample_m;
  for (int level = 0; level < LEVELS; level++, step *= 0.5) {
    double before = -1;
    for (int n = 0; n < MOST && s->deepest->depth_m > before; n++) {
      TlVec3 middle = s->at;
      before = s->deepest->depth_m;
      for (int i = 0; i < 27; i++)
        try_seed(s, tl_axpy(middle, step, tl_vec3(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1)),
                 STEEPEST * HALF_DIAGONAL * step);
    }
  }
}

typedef struct Cell {
  double phi; /* of its middle in what the body is held against */
  int64_t index;
  TlVec3 middle; /* in the body's frame, unit scale */
} Cell;

static int by_phi(const void *one, const void *two) {
  const Cell *a = one, *b = two;
  if (a->phi != b->phi) return a->phi < b->phi ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

TlStatus tl_overlap_deepest(const TlOverlapBody *body, const TlOverlapAgainst *against,
                            TlOverlapDepth *deepest) {
  const TlOverlapShape *shape = body->shape;
  const TlAvatar *a = shape->avatar;
  const double h = a->spacing_m;
  /* No point of the surface in a cell lies deeper than the cell's middle by more than this. */
  const double slack = STEEPEST * HALF_DIAGONAL * h * body->row->scale;
  Search s = {.body = body, .against = against, .deepest = deepest};
  Cell *cell;
  int64_t count = 0;
  TL_TRY(TL_NEW(cell, (size_t)shape->cell_count));
  for (int64_t i = 0; i < shape->cell_count; i++) {
    int64_t c = shape->cell[i], row = c / a->nx;
    TlVec3 at = tl_vec3((double)(c % a->nx), (double)(row % a->ny), (double)(row / a->ny));
    TlVec3 middle = tl_axpy(a->origin_m, h, tl_add(at, tl_vec3(0.5, 0.5, 0.5)));
    double reach = slack - deepest->depth_m;
    double phi = against->phi(against->context, world(body, middle), reach, NULL);
    if (phi < reach) cell[count++] = (Cell){phi, c, middle};
  }
  qsort(cell, (size_t)count, sizeof *cell, by_phi);
  for (int64_t i = 0; i < count && cell[i].phi < slack - deepest->depth_m; i++)
    search_cube(&s, cell[i].middle, h);
  if (s.found) refine(&s);
  tl_free(cell);
  return TL_OK;
}

/* ---- a line inside the body ---- */

static double depth_at(const TlOverlapBody *b, TlVec3 a, TlVec3 d, double t) {
  return -b->row->scale * tl_overlap_shape_phi(b->shape, inward(b, tl_axpy(a, t, d)), NULL);
}

void tl_overlap_line(const TlOverlapBody *body, TlVec3 a, TlVec3 b, TlOverlapDepth *deepest) {
  enum { MOST = 10000, STEPS = 40 };
  const double golden = 0.6180339887498949;
  TlVec3 d = tl_sub(b, a), to = tl_sub(body->row->position_m, a);
  double length2 = tl_norm2(d), along = tl_dot(to, d) / length2;
  double beside2 = tl_norm2(tl_axpy(to, -along, d)), r2 = body->radius_m * body->radius_m;
  if (!(beside2 < r2)) return;
  double half = sqrt((r2 - beside2) / length2); /* the part inside the body's sphere */
  double from = fmax(0, along - half), end = fmin(1, along + half);
  if (!(from < end)) return;
  double wanted =
      ceil((end - from) * sqrt(length2) / (body->row->scale * body->shape->sample_m)) + 1;
  int n = wanted < MOST ? (int)wanted : MOST, best = -1;
  double step = (end - from) / n, depth = deepest->depth_m;
  for (int i = 0; i <= n; i++) {
    double x = depth_at(body, a, d, from + i * step);
    if (x > depth) depth = x, best = i;
  }
  if (best < 0) return;
  double low = fmax(from, from + (best - 1) * step), high = fmin(end, from + (best + 1) * step);
  for (int k = 0; k < STEPS; k++) {
    double left = high - golden * (high - low), right = low + golden * (high - low);
    if (depth_at(body, a, d, left) > depth_at(body, a, d, right))
      high = right;
    else
      low = left;
  }
  double t = 0.5 * (low + high), fine = depth_at(body, a, d, t);
  if (fine < depth) t = from + best * step, fine = depth;
  TlVec3 g, p = tl_axpy(a, t, d);
  tl_overlap_shape_phi(body->shape, inward(body, p), &g);
  *deepest = (TlOverlapDepth){fine, p, tl_scale(-1, tl_unit(tl_mat_vec(body->turn, g)))};
}
