#include "model/elements.h"

#include "base/mem.h"
#include "model/place_shape.h"
#include "model/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Over the radius of the sphere of equal volume: the grid's cell, how far an element may leave the surface. */
static const double CELL = 0.12, OFF = 3e-4;
static const double LOST = 0.03; /* of the area, at most */
/* Of evening out; an element is quartered so often at most; elements along a quadrilateral of a face. */
enum { ROUNDS = 3, DEEPEST = 2, FLAT = 5 };

/* The middle of the side between two points; elements share it. */
typedef struct Side {
  int32_t low, high, middle;
} Side;

typedef struct Making {
  const TlShape *shape;
  TlElements *out;
  TlVec3 *node_normal; /* [nodes] */
  Side *side;          /* by a hash of its ends; middle < 0: no entry. Owned */
  size_t sides, places;
  size_t points, elements, nodes;
} Making;

static void set_point(TlElements *e, int32_t i, TlVec3 x) {
  float *p = e->point[i];
  p[0] = (float)x.x, p[1] = (float)x.y, p[2] = (float)x.z;
}

static TlStatus add_point(Making *m, TlVec3 x, int32_t *number) {
  TL_TRY(TL_RESERVE(m->out->point, m->points, (size_t)m->out->point_count + 1));
  *number = m->out->point_count++;
  set_point(m->out, *number, x);
  return TL_OK;
}

/* The field of an avatar that others feel (contact/tractions.h). */
static double field(const TlShape *shape, TlVec3 x, TlVec3 *gradient) {
  return shape->place->sharp ? tl_avatar_phi(shape->avatar, x, gradient)
                             : tl_spline_phi(&shape->place->spline, x, gradient, NULL);
}

/* Onto its zero; where that is not found nearby x stays where it is. */
static TlVec3 onto_surface(const TlShape *shape, TlVec3 x) {
  TlVec3 at = x, g;
  double cell = shape->avatar->spacing_m;
  for (int i = 0; i < 12; i++) {
    double phi = field(shape, at, &g), square = tl_norm2(g);
    if (!(square > 1e-4)) break;
    double step = -phi / square, most = 0.5 * cell / sqrt(square);
    at = tl_axpy(at, tl_max(-most, tl_min(most, step)), g);
    if (fabs(phi) < 1e-6 * cell) break;
  }
  return tl_norm(tl_sub(at, x)) > cell ? x : at;
}

/* ---- middles of sides ---- */

static Side *find_side(const Making *m, int32_t low, int32_t high) {
  uint64_t hash = ((uint64_t)(uint32_t)low << 32 | (uint32_t)high) * 0x9E3779B97F4A7C15U;
  size_t at = (size_t)(hash >> 20) & (m->places - 1);
  while (m->side[at].middle >= 0 && (m->side[at].low != low || m->side[at].high != high))
    at = (at + 1) & (m->places - 1);
  return &m->side[at];
}

/* Reserves space for one more: a power of two, half empty. */
static TlStatus reserve_side(Making *m) {
  if (2 * (m->sides + 1) <= m->places) return TL_OK;
  Side *old = m->side;
  size_t had = m->places;
  m->places = had > 0 ? 2 * had : 4096;
  TlStatus status = TL_NEW(m->side, m->places);
  if (status != TL_OK) {
    m->side = old;
    m->places = had;
    return status;
  }
  for (size_t i = 0; i < m->places; i++) m->side[i].middle = -1;
  for (size_t i = 0; i < had; i++)
    if (old[i].middle >= 0) *find_side(m, old[i].low, old[i].high) = old[i];
  tl_free(old);
  return TL_OK;
}

static TlStatus middle_of_side(Making *m, int32_t a, int32_t b, int32_t *number) {
  TL_TRY(reserve_side(m));
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  Side *side = find_side(m, low, high);
  if (side->middle < 0) {
    TlVec3 x = tl_scale(0.5, tl_add(tl_element_point(m->out, a), tl_element_point(m->out, b)));
    if (!m->shape->place->part) x = onto_surface(m->shape, x);
    *side = (Side){low, high, 0};
    TL_TRY(add_point(m, x, &side->middle));
    m->sides++;
  }
  *number = side->middle;
  return TL_OK;
}

/* ---- one element ---- */

/* The nearest; one that faces the other way, across a thin part, counts as twice as far. */
static int32_t nearest_node(const Making *m, TlVec3 x, TlVec3 n) {
  double least = INFINITY;
  int32_t found = 0;
  for (size_t i = 0; i < m->nodes; i++) {
    double d2 = tl_norm2(tl_sub(tl_shape_node(m->shape, (int64_t)i), x));
    if (d2 >= least) continue;
    if (tl_dot(n, m->node_normal[i]) < 0) d2 *= 4;
    if (d2 >= least) continue;
    least = d2;
    found = (int32_t)i;
  }
  return found;
}

/* The sum of an element's points with weights a along u and b along w. */
static TlVec3 between(const TlElements *e, const int32_t point[TL_ELEMENT_POINTS],
                      const double a[3], const double b[3]) {
  TlVec3 x = {0, 0, 0};
  for (int k = 0; k < TL_ELEMENT_POINTS; k++)
    x = tl_axpy(x, a[k % 3] * b[k / 3], tl_element_point(e, point[k]));
  return x;
}

/* Normal of the quadratic, as long as its area over that of u and w. */
static TlVec3 normal_at(const TlElements *e, const int32_t point[TL_ELEMENT_POINTS], double u,
                        double w) {
  double a[3], b[3], da[3], db[3];
  tl_element_weights(u, a);
  tl_element_weights(w, b);
  tl_element_slopes(u, da);
  tl_element_slopes(w, db);
  return tl_cross(between(e, point, da, b), between(e, point, a, db));
}

/* Of the places of an element that are surface. */
static double area_of(const TlElement *e) {
  double sum = 0;
  for (int k = 0; k < TL_ELEMENT_ACROSS * TL_ELEMENT_ACROSS; k++) {
    double u = tl_element_place(k % TL_ELEMENT_ACROSS), w = tl_element_place(k / TL_ELEMENT_ACROSS);
    if (!(e->bare >> k & 1)) continue;
    sum += (1 - w) * ((1 - u) * (double)e->stretch[0] + u * (double)e->stretch[1]) +
           w * ((1 - u) * (double)e->stretch[2] + u * (double)e->stretch[3]);
  }
  return sum / (TL_ELEMENT_ACROSS * TL_ELEMENT_ACROSS);
}

static TlStatus add_element(Making *m, const int32_t point[TL_ELEMENT_POINTS], uint64_t bare) {
  TlElements *out = m->out;
  TlElement e = {.bare = bare};
  double at[4]; /* a quarter of the way from each corner */
  for (int k = 0; k < 4; k++)
    at[k] = tl_norm(normal_at(out, point, k & 1 ? 0.75 : 0.25, k & 2 ? 0.75 : 0.25));
  for (int k = 0; k < 4; k++) {
    double corner = 2.25 * at[k] - 0.75 * (at[k ^ 1] + at[k ^ 2]) + 0.25 * at[k ^ 3];
    e.stretch[k] = (float)tl_max(corner, 0);
  }
  double area = area_of(&e);
  if (!(area > 0)) return TL_OK;
  TlVec3 middle = tl_element_point(out, point[TL_ELEMENT_MIDDLE]);
  e.node = nearest_node(m, middle, tl_unit(normal_at(out, point, 0.5, 0.5)));
  memcpy(e.point, point, sizeof e.point);
  TL_TRY(TL_RESERVE(out->element, m->elements, (size_t)out->count + 1));
  out->element[out->count++] = e;
  out->area_m2 += area;
  return TL_OK;
}

/* Corners in turn; the points of an element between them. */
static TlStatus points_between(Making *m, const int32_t corner[4], int32_t point[]) {
  int32_t side[4];
  for (int k = 0; k < 4; k++) TL_TRY(middle_of_side(m, corner[k], corner[(k + 1) % 4], &side[k]));
  TlVec3 x = {0, 0, 0};
  for (int k = 0; k < 4; k++)
    x = tl_axpy(tl_axpy(x, 0.5, tl_element_point(m->out, side[k])), -0.25,
                tl_element_point(m->out, corner[k]));
  if (!m->shape->place->part) x = onto_surface(m->shape, x);
  const int32_t in_turn[] = {corner[0], side[0],   corner[1], side[3],  0,
                             side[1],   corner[3], side[2],   corner[2]};
  memcpy(point, in_turn, sizeof in_turn);
  return add_point(m, x, &point[TL_ELEMENT_MIDDLE]);
}

/* The corners, in turn, of a quarter. */
static void corners_of_quarter(const int32_t point[TL_ELEMENT_POINTS], int quarter,
                               int32_t corner[4]) {
  int low = (quarter & 1) + 3 * (quarter >> 1);
  const int at[4] = {low, low + 1, low + 4, low + 3};
  for (int k = 0; k < 4; k++) corner[k] = point[at[k]];
}

/* ---- of an avatar ---- */

/* How far the quadratic leaves the surface in the middles of its quarters. */
static double leaves(const Making *m, const int32_t point[TL_ELEMENT_POINTS]) {
  double most = 0;
  for (int k = 0; k < 4; k++) {
    double a[3], b[3];
    tl_element_weights(k & 1 ? 0.75 : 0.25, a);
    tl_element_weights(k & 2 ? 0.75 : 0.25, b);
    TlVec3 x = between(m->out, point, a, b);
    most = tl_max(most, fabs(field(m->shape, x, NULL)));
  }
  return most;
}

static TlStatus divide(Making *m, const int32_t corner[4], int depth) {
  int32_t point[TL_ELEMENT_POINTS], quarter[4];
  TL_TRY(points_between(m, corner, point));
  if (depth == DEEPEST || leaves(m, point) < OFF * m->out->size_m)
    return add_element(m, point, UINT64_MAX);
  for (int k = 0; k < 4; k++) {
    corners_of_quarter(point, k, quarter);
    TL_TRY(divide(m, quarter, depth + 1));
  }
  return TL_OK;
}

typedef struct Net {
  int32_t n[3];
  double cell;
  TlVec3 origin;
  float *phi;
  int32_t *corner;    /* of each cell: its corner's number + 1 */
  int32_t (*quad)[4]; /* owned */
  size_t quads, capacity;
} Net;

static int64_t point_at(const Net *net, const int32_t at[3]) {
  return ((int64_t)at[2] * net->n[1] + at[1]) * net->n[0] + at[0];
}

/* The corner of a cell: where its edges are cut, in the mean. */
static TlStatus corner_of_cell(Making *m, Net *net, const int32_t cell[3]) {
  TlVec3 sum = {0, 0, 0};
  int cuts = 0;
  for (int axis = 0; axis < 3; axis++)
    for (int k = 0; k < 4; k++) {
      int one = (axis + 1) % 3, two = (axis + 2) % 3;
      int32_t low[3] = {cell[0], cell[1], cell[2]}, high[3];
      low[one] += k & 1, low[two] += k >> 1;
      for (int i = 0; i < 3; i++) high[i] = low[i] + (i == axis);
      double f = (double)net->phi[point_at(net, low)], g = (double)net->phi[point_at(net, high)];
      if ((f < 0) == (g < 0)) continue;
      double x[3] = {low[0], low[1], low[2]};
      x[axis] += f / (f - g);
      sum = tl_add(sum, tl_vec3(x[0], x[1], x[2]));
      cuts++;
    }
  if (cuts == 0) return TL_OK;
  TlVec3 p = tl_axpy(net->origin, net->cell / cuts, sum);
  p = onto_surface(m->shape, p);
  int32_t number;
  TL_TRY(add_point(m, p, &number));
  net->corner[point_at(net, cell)] = number + 1;
  return TL_OK;
}

/* The element about the grid's edge from `low` along an axis, if the surface cuts it; seen from outside its
 * corners go round anticlockwise. */
static TlStatus quad_of_edge(Net *net, const int32_t low[3], int axis) {
  int32_t high[3] = {low[0], low[1], low[2]}, quad[4];
  high[axis]++;
  bool in = net->phi[point_at(net, low)] < 0;
  if (in == (net->phi[point_at(net, high)] < 0)) return TL_OK;
  int one = (axis + 1) % 3, two = (axis + 2) % 3;
  for (int k = 0; k < 4; k++) {
    int32_t cell[3] = {low[0], low[1], low[2]};
    cell[one] -= k == 0 || k == 3, cell[two] -= k < 2;
    if (cell[one] < 0 || cell[two] < 0) return TL_OK;
    int32_t corner = net->corner[point_at(net, cell)];
    if (corner == 0) return TL_OK;
    quad[in ? k : 3 - k] = corner - 1;
  }
  TL_TRY(TL_RESERVE(net->quad, net->capacity, net->quads + 1));
  for (int k = 0; k < 4; k++) net->quad[net->quads][k] = quad[k];
  net->quads++;
  return TL_OK;
}

static TlStatus cut(Making *m, Net *net) {
  const TlAvatar *a = m->shape->avatar;
  const int32_t from[3] = {a->nx, a->ny, a->nz};
  size_t points = 1;
  net->origin = a->origin_m;
  for (int k = 0; k < 3; k++) {
    net->n[k] = (int32_t)ceil((from[k] - 1) * a->spacing_m / net->cell) + 1;
    points *= (size_t)net->n[k];
  }
  TL_TRY(TL_NEW(net->phi, points));
  TL_TRY(TL_NEW(net->corner, points));
  int32_t at[3];
#define EACH(less)                                                                                 \
  for (at[2] = 0; at[2] < net->n[2] - (less); at[2]++)                                             \
    for (at[1] = 0; at[1] < net->n[1] - (less); at[1]++)                                           \
      for (at[0] = 0; at[0] < net->n[0] - (less); at[0]++)
  EACH(0) {
    TlVec3 p = tl_axpy(net->origin, net->cell, tl_vec3(at[0], at[1], at[2]));
    net->phi[point_at(net, at)] = (float)field(m->shape, p, NULL);
  }
  EACH(1) TL_TRY(corner_of_cell(m, net, at));
  EACH(1) for (int axis = 0; axis < 3; axis++) TL_TRY(quad_of_edge(net, at, axis));
#undef EACH
  return TL_OK;
}

/* Each corner to the middle of those it shares a side with, and back onto the surface. */
static TlStatus even_out(Making *m, const Net *net) {
  typedef struct Mean {
    TlVec3 sum;
    int32_t count;
  } Mean;
  Mean *mean;
  int32_t corners = m->out->point_count;
  for (int round = 0; round < ROUNDS; round++) {
    TL_TRY(TL_NEW(mean, (size_t)corners));
    for (size_t q = 0; q < net->quads; q++)
      for (int k = 0; k < 4; k++) {
        Mean *of = &mean[net->quad[q][k]];
        of->sum = tl_add(of->sum, tl_element_point(m->out, net->quad[q][(k + 1) % 4]));
        of->sum = tl_add(of->sum, tl_element_point(m->out, net->quad[q][(k + 3) % 4]));
        of->count += 2;
      }
    for (int32_t i = 0; i < corners; i++) {
      if (mean[i].count == 0) continue;
      TlVec3 x = tl_scale(1.0 / mean[i].count, mean[i].sum);
      x = onto_surface(m->shape, x);
      set_point(m->out, i, x);
    }
    tl_free(mean);
  }
  return TL_OK;
}

static TlStatus from_net(Making *m, double cell) {
  Net net = {.cell = cell};
  m->out->count = m->out->point_count = 0;
  m->out->area_m2 = 0;
  for (size_t i = 0; i < m->places; i++) m->side[i].middle = -1;
  m->sides = 0;
  TlStatus status = cut(m, &net);
  if (status == TL_OK) status = even_out(m, &net);
  for (size_t q = 0; status == TL_OK && q < net.quads; q++) status = divide(m, net.quad[q], 0);
  tl_free(net.phi);
  tl_free(net.corner);
  tl_free(net.quad);
  return status;
}

/* Where a part is thinner than a cell the net loses some of it: then a finer one. */
static TlStatus of_avatar(Making *m) {
  double want = m->shape->avatar->area_m2, cell = CELL * m->out->size_m;
  for (int finer = 0; finer < 3; finer++) {
    TL_TRY(from_net(m, cell));
    if (fabs(m->out->area_m2 / want - 1) < LOST) break;
    cell *= 0.5;
  }
  if (!(fabs(m->out->area_m2 / want - 1) < LOST))
    return tl_fail(TL_EINPUT,
                   "its elements have %.3g times the area of its surface: parts of it are thinner "
                   "than a cell of its grid; build the avatar with a finer one, or let grains bear "
                   "on their nodes (solver.edges: nodes)",
                   m->out->area_m2 / want);
  return TL_OK;
}

/* ---- of polyhedra ---- */

static bool is_covered(const TlPlaceShape *place, int part, TlVec3 x) {
  for (int k = 0; k < place->part_count; k++) {
    double above = -INFINITY;
    for (int32_t i = 0; i < place->part[k].plane_count; i++)
      above = tl_max(above, tl_dot(place->part[k].normal[i], x) - place->part[k].distance[i]);
    if (k != part && above < 0) return true;
  }
  return false;
}

/* A flat element, where no other part covers it; its places do not see a border finer than a quarter of one. */
static TlStatus add_flat(Making *m, int part, const int32_t corner[4], int depth) {
  int32_t point[TL_ELEMENT_POINTS], quarter[4];
  uint64_t bare = 0;
  TL_TRY(points_between(m, corner, point));
  for (int k = 0; k < TL_ELEMENT_ACROSS * TL_ELEMENT_ACROSS; k++) {
    double a[3], b[3];
    tl_element_weights(tl_element_place(k % TL_ELEMENT_ACROSS), a);
    tl_element_weights(tl_element_place(k / TL_ELEMENT_ACROSS), b);
    TlVec3 x = between(m->out, point, a, b);
    if (!is_covered(m->shape->place, part, x)) bare |= (uint64_t)1 << k;
  }
  if (bare == 0) return TL_OK;
  if (bare == UINT64_MAX || depth == DEEPEST) return add_element(m, point, bare);
  for (int k = 0; k < 4; k++) {
    corners_of_quarter(point, k, quarter);
    TL_TRY(add_flat(m, part, quarter, depth + 1));
  }
  return TL_OK;
}

/* From the middle of a face to one of its corners: elements become small towards the edges. */
static double towards_edge(int32_t i) {
  double left = 1 - (double)i / FLAT;
  return 1 - left * left * left;
}

/* A quadrilateral of a face between its middle and a corner of it, v[2]. */
static TlStatus divide_flat(Making *m, int part, const TlVec3 v[4]) {
  int32_t first = m->out->point_count;
  for (int32_t j = 0; j <= FLAT; j++)
    for (int32_t i = 0; i <= FLAT; i++) {
      double u = towards_edge(i), w = towards_edge(j);
      TlVec3 low = tl_axpy(tl_scale(1 - u, v[0]), u, v[1]),
             high = tl_axpy(tl_scale(1 - u, v[3]), u, v[2]);
      int32_t number;
      TL_TRY(add_point(m, tl_axpy(tl_scale(1 - w, low), w, high), &number));
    }
  for (int32_t j = 0; j < FLAT; j++)
    for (int32_t i = 0; i < FLAT; i++) {
      int32_t low = first + j * (FLAT + 1) + i;
      TL_TRY(add_flat(m, part, (int32_t[]){low, low + 1, low + FLAT + 2, low + FLAT + 1}, 0));
    }
  return TL_OK;
}

/* A face between its middle, the middles of two sides and the corner between them, for each corner. */
static TlStatus of_face(Making *m, int part, const TlFacets *f, int32_t face) {
  int count = f->loop_count[face];
  TlVec3 middle = {0, 0, 0};
  for (int k = 0; k < count; k++)
    middle = tl_axpy(middle, 1.0 / count, f->corner[f->loop[face][k]]);
  for (int k = 0; k < count; k++) {
    TlVec3 before = f->corner[f->loop[face][(k + count - 1) % count]],
           at = f->corner[f->loop[face][k]], after = f->corner[f->loop[face][(k + 1) % count]];
    TlVec3 v[4] = {middle, tl_scale(0.5, tl_add(before, at)), at, tl_scale(0.5, tl_add(at, after))};
    TL_TRY(divide_flat(m, part, v));
  }
  return TL_OK;
}

static TlStatus of_parts(Making *m) {
  const TlPlaceShape *place = m->shape->place;
  for (int k = 0; k < place->part_count; k++)
    for (int32_t face = 0; face < place->part[k].plane_count; face++)
      TL_TRY(of_face(m, k, &place->part[k], face));
  return TL_OK;
}

/* ---- all of it ---- */

static int by_node(const void *one, const void *two) {
  const TlElement *a = one, *b = two;
  if (a->node != b->node) return a->node < b->node ? -1 : 1;
  int32_t i = a->point[TL_ELEMENT_MIDDLE], j = b->point[TL_ELEMENT_MIDDLE];
  return i < j ? -1 : i > j;
}

/* Points in the order in which elements use them, so that those of an element lie together in memory. */
static TlStatus put_in_order(TlElements *e) {
  int32_t *number, count = 0;
  float(*point)[3];
  TL_TRY(TL_NEW(number, (size_t)e->point_count)); /* the new one, + 1 */
  TlStatus status = TL_NEW(point, (size_t)e->point_count);
  for (int32_t i = 0; i < e->count && status == TL_OK; i++)
    for (int k = 0; k < TL_ELEMENT_POINTS; k++) {
      int32_t *at = &e->element[i].point[k];
      if (number[*at] == 0) {
        memcpy(point[count], e->point[*at], sizeof *point);
        number[*at] = ++count;
      }
      *at = number[*at] - 1;
    }
  tl_free(number);
  if (status != TL_OK) return status;
  tl_free(e->point);
  e->point = point;
  e->point_count = count;
  return TL_OK;
}

/* Areas of an avatar to its own sum; elements in order of their nodes. */
static TlStatus finish(Making *m) {
  TlElements *out = m->out;
  TlVec3 *middle;
  float scale = m->shape->avatar ? (float)(m->shape->avatar->area_m2 / m->out->area_m2) : 1;
  qsort(out->element, (size_t)out->count, sizeof *out->element, by_node);
  TL_TRY(put_in_order(out));
  TL_TRY(TL_NEW(middle, (size_t)out->count));
  for (int32_t i = 0; i < out->count; i++) {
    TlElement *e = &out->element[i];
    middle[i] = tl_element_point(out, e->point[TL_ELEMENT_MIDDLE]);
    for (int k = 0; k < 4; k++) e->stretch[k] *= scale;
    for (int k = 0; k < TL_ELEMENT_POINTS; k++) {
      double far = tl_norm(tl_sub(tl_element_point(out, e->point[k]), middle[i]));
      e->radius_m = fmaxf(e->radius_m, nextafterf((float)far, INFINITY));
    }
    out->reach_m = tl_max(out->reach_m, (double)e->radius_m);
  }
  out->area_m2 *= (double)scale;
  TL_TRY(tl_shape_of_points(&out->middles, middle, out->count));
  out->middles->radius_m = m->shape->radius_m;
  return TL_OK;
}

static TlStatus make(Making *m) {
  const TlShape *shape = m->shape;
  TL_TRY(TL_NEW(m->node_normal, m->nodes));
  for (size_t i = 0; i < m->nodes; i++) {
    TlVec3 p = tl_shape_node(shape, (int64_t)i);
    if (shape->avatar)
      tl_spline_phi(&shape->place->spline, p, &m->node_normal[i], NULL);
    else
      tl_shape_phi(shape, p, &m->node_normal[i]);
  }
  TL_TRY(shape->place->part ? of_parts(m) : of_avatar(m));
  return finish(m);
}

TlStatus tl_elements_new(TlElements **elements, const TlShape *shape) {
  int32_t nodes = shape->avatar ? shape->avatar->node_count : shape->node_count;
  TL_TRY(TL_NEW(*elements, 1));
  Making m = {.shape = shape, .out = *elements, .nodes = (size_t)nodes};
  m.out->size_m = cbrt(shape->volume_m3 * 3 / (4 * M_PI));
  TlStatus status = make(&m);
  tl_free(m.node_normal);
  tl_free(m.side);
  if (status == TL_OK) return TL_OK;
  tl_elements_free(*elements);
  *elements = NULL;
  return status;
}

void tl_elements_free(TlElements *e) {
  if (!e) return;
  if (!e->borrowed) {
    tl_free(e->point);
    tl_free(e->element);
  }
  tl_shape_free(e->middles);
  tl_free(e);
}
