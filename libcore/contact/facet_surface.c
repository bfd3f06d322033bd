#include "contact/facet_surface.h"

#include "contact/polygon.h"

#include <math.h>

/* Names of lines: the face's own sides, cuts by the other grain's planes, and cuts half-way between one of
 * these and the nearest. */
enum { CUT = TL_FACET_LOOP, HALFWAY = CUT + TL_FACET_PLANES };

/* n . x - d, of a plane or of the difference of two */
typedef struct Linear {
  TlVec3 n;
  double d;
} Linear;

static inline double value_at(const Linear *f, TlVec3 x) {
  return tl_dot(f->n, x) - f->d;
}

static inline Linear less(const Linear *f, const Linear *g) {
  return (Linear){tl_sub(f->n, g->n), f->d - g->d};
}

static inline void cut(const TlPolygon *in, const Linear *f, int line, TlPolygon *out) {
  tl_polygon_cut(in, f->n, f->d, line, out);
}

/* Integrals of a depth over a polygon. */
typedef struct Sums {
  double area, depth, square, deepest;
  TlVec3 moment; /* depth times place */
} Sums;

/* depth = -f. Exact: triangles from the first corner. */
static Sums integrate(const TlPolygon *p, const Linear *f) {
  Sums s = {0};
  if (p->count < 3) return s;
  TlVec3 a = p->corner[0];
  double da = -value_at(f, a), db = -value_at(f, p->corner[1]);
  s.deepest = tl_max(da, db);
  for (int i = 2; i < p->count; i++) {
    TlVec3 b = p->corner[i - 1], c = p->corner[i];
    double dc = -value_at(f, c);
    double area = 0.5 * tl_norm(tl_cross(tl_sub(b, a), tl_sub(c, a))), sum = da + db + dc;
    s.area += area;
    s.depth += area * sum / 3;
    s.square += area * (sum * sum + da * da + db * db + dc * dc) / 12;
    TlVec3 weighed = tl_axpy(tl_axpy(tl_scale(sum + da, a), sum + db, b), sum + dc, c);
    s.moment = tl_axpy(s.moment, area / 12, weighed);
    s.deepest = tl_max(s.deepest, dc);
    db = dc;
  }
  return s;
}

/* What one of the triangles about the centre of pressure holds. */
static Sums triangle_of(const TlPolygon *p, const Linear *f, TlVec3 centre, int i) {
  TlPolygon t = {.count = 3,
                 .corner = {centre, p->corner[i], p->corner[i + 1 < p->count ? i + 1 : 0]}};
  return integrate(&t, f);
}

/* Depth times distance from the centre over such a triangle: along rays by hand, across them by three
 * points of Gauss. */
static double turning_of(const TlPolygon *p, const Linear *f, TlVec3 centre, int i, double area) {
  static const double at[3] = {0.11270166537925831, 0.5, 0.88729833462074169},
                      share[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  TlVec3 from = p->corner[i], to = p->corner[i + 1 < p->count ? i + 1 : 0];
  double sum = 0, middle = -value_at(f, centre);
  for (int k = 0; k < 3; k++) {
    TlVec3 x = tl_axpy(tl_scale(1 - at[k], from), at[k], to);
    sum += share[k] * tl_norm(tl_sub(x, centre)) * (middle / 12 - value_at(f, x) / 4);
  }
  return 2 * area * sum;
}

static TlStatus add_point(const Sums *s, TlVec3 x, TlVec3 n, double share, double depth,
                          int64_t key, const TlFacetFrame *frame, TlPoints *points) {
  double whole = s->area * depth;
  return tl_points_add(points, (TlPoint){.p = tl_add(frame->centre, tl_mat_vec(frame->turn, x)),
                                         .n = tl_mat_vec(frame->turn, n),
                                         .gap = -depth,
                                         .key = key,
                                         .area_m2 = share * s->area,
                                         .filled = s->depth / whole,
                                         .filled2 = s->square / (whole * depth)});
}

/* A face that turns on a face is held by friction all over it, and one point would hold nothing. So each
 * triangle about the centre of pressure is a point, moved from that so far that together they turn as
 * hard as the piece; the centre stays where it is. */
static TlStatus add_piece(const TlPolygon *p, const Linear *f, TlVec3 n, double share,
                          int32_t number, const TlFacetFrame *frame, TlPoints *points) {
  Sums all = integrate(p, f), part[TL_POLYGON_MOST];
  if (!(all.depth > 0 && all.deepest > 0)) return TL_OK;
  double depth = tl_max(all.deepest, frame->depth), whole = 0, held = 0;
  TlVec3 centre = tl_scale(1 / all.depth, all.moment);
  for (int i = 0; i < p->count; i++) {
    part[i] = triangle_of(p, f, centre, i);
    if (!(part[i].depth > 0)) continue;
    whole += turning_of(p, f, centre, i, part[i].area);
    held += tl_norm(tl_axpy(part[i].moment, -part[i].depth, centre));
  }
  double stretch = held > 0 ? whole / held : 1;
  for (int i = 0; i < p->count; i++) {
    if (!(part[i].depth > 0)) continue;
    TlVec3 arm = tl_sub(tl_scale(1 / part[i].depth, part[i].moment), centre);
    TL_TRY(add_point(&part[i], tl_axpy(centre, stretch, arm), n, share, depth,
                     frame->key - ((int64_t)number * TL_FACET_LINES + p->after[i]), frame, points));
  }
  return TL_OK;
}

/* ---- of a pair ---- */

/* One grain's faces within the other one; all in the frame of a. */
typedef struct Side {
  const TlFacets *facets; /* whose faces */
  TlVec3 corner[TL_FACET_CORNERS];
  Linear plane[TL_FACET_PLANES]; /* of the other one */
  int planes, number;
  double flip; /* of the other's normals: to point from b to a */
} Side;

static Side side_of(const TlFacetQuery *q, int number) {
  Side s = {.facets = q->facets[number], .number = number, .flip = number ? -1 : 1};
  const TlFacets *other = q->facets[1 - number];
  for (int32_t c = 0; c < s.facets->corner_count; c++) {
    TlVec3 x = tl_scale(q->scale[number], s.facets->corner[c]);
    s.corner[c] = number ? tl_mat_tvec(q->r, tl_sub(x, q->t)) : x;
  }
  s.planes = other->plane_count;
  for (int32_t j = 0; j < s.planes; j++) {
    Linear plane = {other->normal[j], q->scale[1 - number] * other->distance[j]};
    if (!number) { /* n . (r x + t) - d */
      plane.d -= tl_dot(plane.n, q->t);
      plane.n = tl_mat_tvec(q->r, plane.n);
    }
    s.plane[j] = plane;
  }
  return s;
}

/* The face within the other grain; buffers: two. */
static const TlPolygon *within(const Side *s, int32_t face, TlPolygon buffer[2]) {
  const TlFacets *f = s->facets;
  int now = 0;
  buffer[0].count = f->loop_count[face];
  for (int i = 0; i < buffer[0].count; i++) {
    buffer[0].corner[i] = s->corner[f->loop[face][i]];
    buffer[0].after[i] = (int16_t)i;
  }
  for (int j = 0; j < s->planes && buffer[now].count > 0; j++) {
    double high = -INFINITY, low = INFINITY;
    for (int i = 0; i < buffer[now].count; i++) {
      double above = value_at(&s->plane[j], buffer[now].corner[i]);
      high = tl_max(high, above);
      low = tl_min(low, above);
    }
    if (low >= 0) buffer[now].count = 0;
    if (high <= 0 || low >= 0) continue;
    cut(&buffer[now], &s->plane[j], CUT + j, &buffer[1 - now]);
    now = 1 - now;
  }
  return &buffer[now];
}

/* The planes that are nearest to a point of the polygon somewhere, or may be. */
static int nearest_planes(const Side *s, const TlPolygon *p, int plane[TL_FACET_PLANES]) {
  double high[TL_FACET_PLANES], least = -INFINITY;
  int count = 0;
  for (int j = 0; j < s->planes; j++) {
    double low = INFINITY;
    high[j] = -INFINITY;
    for (int i = 0; i < p->count; i++) {
      double above = value_at(&s->plane[j], p->corner[i]);
      high[j] = tl_max(high[j], above);
      low = tl_min(low, above);
    }
    least = tl_max(least, low);
  }
  for (int j = 0; j < s->planes; j++)
    if (high[j] >= least) plane[count++] = j;
  return count;
}

static TlStatus add_face(const Side *s, int32_t face, const TlFacetFrame *frame, TlPoints *points) {
  TlPolygon inside[2], piece[2];
  int plane[TL_FACET_PLANES];
  const TlPolygon *p = within(s, face, inside);
  if (p->count < 3) return TL_OK;
  int count = nearest_planes(s, p, plane);
  for (int k = 0; k < count; k++) {
    const Linear *mine = &s->plane[plane[k]];
    const TlPolygon *from = p;
    int now = 0;
    for (int i = 0; i < count && from->count > 0; i++) {
      if (i == k) continue;
      Linear nearer = less(&s->plane[plane[i]], mine);
      cut(from, &nearer, HALFWAY + plane[i], &piece[now]);
      from = &piece[now];
      now = 1 - now;
    }
    int32_t number = (s->number * TL_FACET_PLANES + face) * TL_FACET_PLANES + plane[k];
    TL_TRY(add_piece(from, mine, tl_scale(s->flip, mine->n), 0.5, number, frame, points));
  }
  return TL_OK;
}

TlStatus tl_facet_surface(const TlFacetQuery *q, const TlFacetFrame *frame, TlPoints *points) {
  for (int number = 0; number < 2; number++) {
    Side side = side_of(q, number);
    for (int32_t face = 0; face < side.facets->plane_count; face++)
      TL_TRY(add_face(&side, face, frame, points));
  }
  return TL_OK;
}

/* ---- at a plane ---- */

TlStatus tl_facet_surface_at_plane(const TlFacets *facets, double scale, TlVec3 n, double d,
                                   const TlFacetFrame *frame, TlPoints *points) {
  Linear plane = {tl_mat_tvec(frame->turn, n), d - tl_dot(n, frame->centre)};
  for (int32_t face = 0; face < facets->plane_count; face++) {
    TlPolygon whole = {.count = facets->loop_count[face]}, below;
    for (int i = 0; i < whole.count; i++) {
      whole.corner[i] = tl_scale(scale, facets->corner[facets->loop[face][i]]);
      whole.after[i] = (int16_t)i;
    }
    cut(&whole, &plane, CUT, &below);
    TL_TRY(add_piece(&below, &plane, plane.n, 1, face, frame, points));
  }
  return TL_OK;
}
