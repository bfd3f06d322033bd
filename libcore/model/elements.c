#include "model/elements.h"

#include "base/mem.h"
#include "model/place_shape.h"
#include "model/shapes.h"

#include <math.h>
#include <stdlib.h>

/* Over the radius of the sphere of equal volume: the grid's cell, how far an element may leave the surface. */
static const double CELL = 0.066, OFF = 1e-4;
/* Of measured bounds, for what lies between the measured points; of second derivatives within a cell. */
static const double MARGIN = 1.02, RISE = 1.2, BEND_MORE = 1.1;
static const double LOST = 0.03;  /* of the area, at most */
enum { ROUNDS = 3, DEEPEST = 2 }; /* of evening out; an element is quartered so often at most */

typedef struct Making {
  const TlShape *shape;
  TlElements *out;
  TlVec3 *node_normal; /* [nodes] */
  size_t corners, elements, nodes;
  double area;
} Making;

static TlVec3 place_of(const TlElements *e, int32_t i) {
  const float *c = e->corner[i];
  return tl_vec3(c[0], c[1], c[2]);
}

static void set_corner(TlElements *e, int32_t i, TlVec3 x, TlVec3 n) {
  float *c = e->corner[i];
  c[0] = (float)x.x, c[1] = (float)x.y, c[2] = (float)x.z;
  c[3] = (float)n.x, c[4] = (float)n.y, c[5] = (float)n.z;
}

static TlStatus add_corner(Making *m, TlVec3 x, TlVec3 n, int32_t *number) {
  TL_TRY(TL_RESERVE(m->out->corner, m->corners, (size_t)m->out->corner_count + 1));
  *number = m->out->corner_count++;
  set_corner(m->out, *number, x, n);
  return TL_OK;
}

static TlCurved curved(const TlElements *e, const int32_t corner[4]) {
  TlCurved c;
  for (int k = 0; k < 4; k++) {
    const float *f = e->corner[corner[k]];
    c.v[k] = tl_vec3(f[0], f[1], f[2]);
    c.n[k] = tl_vec3(f[3], f[4], f[5]);
  }
  return c;
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

static TlStatus add_element(Making *m, const int32_t corner[4]) {
  TlElements *out = m->out;
  TlCurved c = curved(out, corner);
  TlVec3 middle = tl_curved_point(&c, 0.5, 0.5);
  double area = tl_curved_stretch(&c, 0.5, 0.5), radius = 0,
         rise = 0; /* exact where it is bilinear */
  if (!(area > 0)) return TL_OK;
  TlVec3 n = tl_unit(tl_add(tl_add(c.n[0], c.n[1]), tl_add(c.n[2], c.n[3])));
  for (int k = 0; k < 4; k++) {
    TlVec3 arm = tl_sub(c.v[k], middle);
    radius = tl_max(radius, tl_norm(arm));
    rise = tl_max(rise, tl_dot(arm, n));
  }
  TL_TRY(TL_RESERVE(out->element, m->elements, (size_t)out->count + 1));
  out->element[out->count++] = (TlElement){.corner = {corner[0], corner[1], corner[2], corner[3]},
                                           .node = nearest_node(m, middle, n),
                                           .normal = {(float)n.x, (float)n.y, (float)n.z},
                                           .area_m2 = (float)area,
                                           .radius_m = (float)(MARGIN * radius),
                                           .rise_m = (float)(RISE * rise)};
  m->area += area;
  return TL_OK;
}

/* ---- of an avatar ---- */

/* Onto the zero of the spline; where it is not found nearby x stays where it is. */
static TlVec3 onto_surface(const TlSpline *spline, TlVec3 x, TlVec3 *n) {
  TlVec3 at = x, g;
  for (int i = 0; i < 6; i++) {
    double phi = tl_spline_phi(spline, at, &g, NULL), square = tl_norm2(g);
    if (!(square > 1e-4)) break;
    double step = -phi / square, most = 0.5 * spline->spacing_m / sqrt(square);
    at = tl_axpy(at, tl_max(-most, tl_min(most, step)), g);
    if (fabs(phi) < 1e-6 * spline->spacing_m) break;
  }
  if (tl_norm(tl_sub(at, x)) > spline->spacing_m) at = x;
  tl_spline_phi(spline, at, n, NULL);
  *n = tl_unit(*n);
  return at;
}

static TlStatus divide(Making *m, const int32_t corner[4], int depth) {
  const TlSpline *spline = &m->shape->place->spline;
  TlCurved c = curved(m->out, corner);
  double off = fabs(tl_spline_phi(spline, tl_curved_point(&c, 0.5, 0.5), NULL, NULL));
  if (depth == DEEPEST || off < OFF * m->out->size_m) return add_element(m, corner);
  static const double at[5][2] = {{0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}, {0.5, 0.5}};
  int32_t middle[5];
  for (int k = 0; k < 5; k++) {
    TlVec3 n, x = onto_surface(spline, tl_curved_point(&c, at[k][0], at[k][1]), &n);
    TL_TRY(add_corner(m, x, n, &middle[k]));
  }
  for (int k = 0; k < 4; k++)
    TL_TRY(divide(m, (int32_t[]){corner[k], middle[k], middle[4], middle[(k + 3) % 4]}, depth + 1));
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
  TlVec3 sum = {0, 0, 0}, n;
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
  p = onto_surface(&m->shape->place->spline, p, &n);
  int32_t number;
  TL_TRY(add_corner(m, p, n, &number));
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
    net->phi[point_at(net, at)] = (float)tl_spline_phi(&m->shape->place->spline, p, NULL, NULL);
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
  int32_t corners = m->out->corner_count;
  for (int round = 0; round < ROUNDS; round++) {
    TL_TRY(TL_NEW(mean, (size_t)corners));
    for (size_t q = 0; q < net->quads; q++)
      for (int k = 0; k < 4; k++) {
        Mean *of = &mean[net->quad[q][k]];
        of->sum = tl_add(of->sum, place_of(m->out, net->quad[q][(k + 1) % 4]));
        of->sum = tl_add(of->sum, place_of(m->out, net->quad[q][(k + 3) % 4]));
        of->count += 2;
      }
    for (int32_t i = 0; i < corners; i++) {
      if (mean[i].count == 0) continue;
      TlVec3 n, x = tl_scale(1.0 / mean[i].count, mean[i].sum);
      x = onto_surface(&m->shape->place->spline, x, &n);
      set_corner(m->out, i, x, n);
    }
    tl_free(mean);
  }
  return TL_OK;
}

static TlStatus from_net(Making *m, double cell) {
  Net net = {.cell = cell};
  m->out->count = m->out->corner_count = 0;
  m->area = 0;
  TlStatus status = cut(m, &net);
  if (status == TL_OK) status = even_out(m, &net);
  for (size_t q = 0; status == TL_OK && q < net.quads; q++) status = divide(m, net.quad[q], 0);
  tl_free(net.phi);
  tl_free(net.corner);
  tl_free(net.quad);
  return status;
}

/* ---- how much the field bends ---- */

/* No less than the largest second derivative. */
static double bend_at(const TlSpline *spline, TlVec3 x) {
  TlVec3 g;
  TlSym3 h;
  tl_spline_phi(spline, x, &g, &h);
  return sqrt(h.xx * h.xx + h.yy * h.yy + h.zz * h.zz +
              2 * (h.xy * h.xy + h.xz * h.xz + h.yz * h.yz));
}

/* In each block as large as an element's reach, or a cell of the spline, the largest at some of its places: all
 * eight about each point of the spline's grid, between which it is smooth. */
static void measure_blocks(const TlSpline *s, const TlElements *e, float *own) {
  double h = s->spacing_m;
  for (int32_t k = 0; k < s->nz; k++)
    for (int32_t j = 0; j < s->ny; j++)
      for (int32_t i = 0; i < s->nx; i++)
        for (int corner = 0; corner < 8; corner++) {
          TlVec3 p = tl_vec3((i + 0.49 * (corner & 1 ? 1 : -1)) * h,
                             (j + 0.49 * (corner & 2 ? 1 : -1)) * h,
                             (k + 0.49 * (corner & 4 ? 1 : -1)) * h);
          int64_t block[3] = {(int64_t)(p.x / e->block_m), (int64_t)(p.y / e->block_m),
                              (int64_t)(p.z / e->block_m)};
          for (int a = 0; a < 3; a++) {
            block[a] = block[a] < 0 ? 0 : block[a];
            block[a] = block[a] > e->blocks[a] - 1 ? e->blocks[a] - 1 : block[a];
          }
          float *at = &own[(block[2] * e->blocks[1] + block[1]) * e->blocks[0] + block[0]];
          *at = fmaxf(*at, (float)(BEND_MORE * bend_at(s, tl_add(s->origin_m, p))));
        }
}

/* Each block takes the largest of its neighbours and itself. */
static void spread_blocks(const TlElements *e, const float *own) {
  const int32_t *n = e->blocks;
  for (int32_t k = 0; k < n[2]; k++)
    for (int32_t j = 0; j < n[1]; j++)
      for (int32_t i = 0; i < n[0]; i++) {
        float most = 0;
        for (int32_t z = k > 0 ? k - 1 : 0; z <= k + 1 && z < n[2]; z++)
          for (int32_t y = j > 0 ? j - 1 : 0; y <= j + 1 && y < n[1]; y++)
            for (int32_t x = i > 0 ? i - 1 : 0; x <= i + 1 && x < n[0]; x++)
              most = fmaxf(most, own[((int64_t)z * n[1] + y) * n[0] + x]);
        e->bend[((int64_t)k * n[1] + j) * n[0] + i] = most;
      }
}

static TlStatus measure_bends(TlElements *e, const TlSpline *s) {
  float *own;
  size_t count = 1;
  const int32_t points[3] = {s->nx, s->ny, s->nz};
  e->block_m = tl_max(e->reach_m, s->spacing_m);
  e->origin_m = s->origin_m;
  for (int k = 0; k < 3; k++) {
    e->blocks[k] = (int32_t)((points[k] - 1) * s->spacing_m / e->block_m) + 1;
    count *= (size_t)e->blocks[k];
  }
  TL_TRY(TL_NEW(e->bend, count));
  TL_TRY(TL_NEW(own, count));
  measure_blocks(s, e, own);
  spread_blocks(e, own);
  tl_free(own);
  for (int32_t i = 0; i < e->corner_count; i++)
    e->bend_most = tl_max(e->bend_most, tl_elements_bend(e, place_of(e, i)));
  return TL_OK;
}

/* Where a part is thinner than a cell the net loses some of it: then a finer one. */
static TlStatus of_avatar(Making *m) {
  double want = m->shape->avatar->area_m2, cell = CELL * m->out->size_m;
  for (int finer = 0; finer < 3; finer++) {
    TL_TRY(from_net(m, cell));
    if (fabs(m->area / want - 1) < LOST) break;
    cell *= 0.5;
  }
  if (!(fabs(m->area / want - 1) < LOST))
    return tl_fail(TL_EINPUT,
                   "its elements have %.3g times the area of its surface: parts of it are thinner "
                   "than a cell of its grid",
                   m->area / want);
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

/* A flat element; where only part of it is covered, the rest of it. */
static TlStatus add_flat(Making *m, int part, const TlCurved *c, int depth) {
  const TlPlaceShape *place = m->shape->place;
  bool covered = is_covered(place, part, tl_curved_point(c, 0.5, 0.5)), mixed = false;
  for (int k = 0; k < 4; k++) mixed = mixed || is_covered(place, part, c->v[k]) != covered;
  if (!mixed || depth == DEEPEST) {
    int32_t corner[4];
    if (covered) return TL_OK;
    for (int k = 0; k < 4; k++) TL_TRY(add_corner(m, c->v[k], c->n[k], &corner[k]));
    return add_element(m, corner);
  }
  for (int k = 0; k < 4; k++) {
    double u = 0.5 * (k & 1), w = 0.5 * (k >> 1);
    TlCurved quarter = *c;
    for (int i = 0; i < 4; i++)
      quarter.v[i] = tl_curved_point(c, u + 0.5 * (i == 1 || i == 2), w + 0.5 * (i > 1));
    TL_TRY(add_flat(m, part, &quarter, depth + 1));
  }
  return TL_OK;
}

/* A flat quadrilateral of a face, in as many elements as its longest side asks for. */
static TlStatus divide_flat(Making *m, int part, const TlVec3 v[4], TlVec3 n) {
  TlCurved c = {{v[0], v[1], v[2], v[3]}, {n, n, n, n}};
  double side = 0;
  for (int k = 0; k < 4; k++) side = tl_max(side, tl_norm(tl_sub(v[k], v[(k + 1) % 4])));
  int count = (int)ceil(side / (CELL * m->out->size_m));
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      TlCurved one = c;
      for (int k = 0; k < 4; k++)
        one.v[k] = tl_curved_point(&c, (double)(i + (k == 1 || k == 2)) / count,
                                   (double)(j + (k > 1)) / count);
      TL_TRY(add_flat(m, part, &one, 0));
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
    TL_TRY(divide_flat(m, part, v, f->normal[face]));
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
  for (int k = 0; k < 4; k++)
    if (a->corner[k] != b->corner[k]) return a->corner[k] < b->corner[k] ? -1 : 1;
  return 0;
}

/* Areas of an avatar to its own sum; elements in order of their nodes. */
static TlStatus finish(Making *m) {
  TlElements *out = m->out;
  TlVec3 *middle;
  float scale = m->shape->avatar ? (float)(m->shape->avatar->area_m2 / m->area) : 1;
  qsort(out->element, (size_t)out->count, sizeof *out->element, by_node);
  TL_TRY(TL_NEW(middle, (size_t)out->count));
  for (int32_t i = 0; i < out->count; i++) {
    TlCurved c = curved(out, out->element[i].corner);
    middle[i] = tl_curved_point(&c, 0.5, 0.5);
    out->element[i].area_m2 *= scale;
    out->area_m2 += (double)out->element[i].area_m2 / out->count;
    out->reach_m = tl_max(out->reach_m, (double)out->element[i].radius_m);
  }
  TL_TRY(tl_shape_of_points(&out->middles, middle, out->count));
  out->middles->radius_m = m->shape->radius_m;
  return m->shape->place->part ? TL_OK : measure_bends(out, &m->shape->place->spline);
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
  if (status == TL_OK) return TL_OK;
  tl_elements_free(*elements);
  *elements = NULL;
  return status;
}

void tl_elements_free(TlElements *e) {
  if (!e) return;
  tl_free(e->corner);
  tl_free(e->element);
  tl_free(e->bend);
  tl_shape_free(e->middles);
  tl_free(e);
}
