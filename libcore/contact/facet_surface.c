#include "contact/facet_surface.h"

#include "contact/polygon.h"

#include <math.h>
#include <string.h>

/* A piece with no more of its contact's load is one point: what friction at its sides would hold against a turn is
 * next to nothing. */
static const double SMALL = 0.01;

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

/* Integrals of depth times the distance from the centre, and times its square. */
typedef struct Arms {
  double first, second;
} Arms;

/* Over such a triangle: along rays by hand, across them by three points of Gauss. */
static Arms arms_of(const TlPolygon *p, const Linear *f, TlVec3 centre, int i, double area) {
  static const double at[3] = {0.11270166537925831, 0.5, 0.88729833462074169},
                      weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  TlVec3 from = p->corner[i], to = p->corner[i + 1 < p->count ? i + 1 : 0];
  double middle = -value_at(f, centre);
  Arms arms = {0, 0};
  for (int k = 0; k < 3; k++) {
    TlVec3 x = tl_axpy(tl_scale(1 - at[k], from), at[k], to);
    double rim = -value_at(f, x), r2 = tl_norm2(tl_sub(x, centre)), part = 2 * area * weight[k];
    arms.first += part * sqrt(r2) * (middle / 12 + rim / 4);
    arms.second += part * r2 * (middle / 20 + rim / 5);
  }
  return arms;
}

/* What lies below one plane, f < 0, and of it is nearest to this. */
typedef struct Piece {
  TlPolygon polygon;
  Linear f;
  TlVec3 n; /* of the plane, from b to a */
  double fraction;
  int32_t number; /* by which its points have their keys */
  Sums all;
} Piece;

enum { MOST_PIECES = 24 };
typedef struct Contact {
  const TlFacetFrame *frame;
  TlPoints *points;
  double load; /* of all its pieces */
  int count;   /* that wait */
  Piece piece[MOST_PIECES];
} Contact;

static TlStatus add_point(const Contact *c, const Piece *piece, const Sums *s, TlVec3 x,
                          double fraction, int line) {
  const TlFacetFrame *frame = c->frame;
  double depth = tl_max(piece->all.deepest, frame->depth), whole = s->area * depth;
  return tl_points_add(c->points,
                       (TlPoint){.p = tl_add(frame->centre, tl_mat_vec(frame->turn, x)),
                                 .n = tl_mat_vec(frame->turn, piece->n),
                                 .gap = -depth,
                                 .key = frame->key - (int64_t)piece->number * TL_FACET_LINES - line,
                                 .area_m2 = fraction * piece->fraction * s->area,
                                 .filled = s->depth / whole,
                                 .filled2 = s->square / (whole * depth)});
}

/* At the centre of pressure; the piece's own plane names no side of it. */
static TlStatus add_centre(const Contact *c, const Piece *piece, TlVec3 centre, double fraction) {
  return add_point(c, piece, &piece->all, centre, fraction,
                   HALFWAY + piece->number % TL_FACET_PLANES);
}

/* A face that turns on a face is held by friction all over it, and one point would hold nothing. So each
 * triangle about the centre of pressure is a point, moved from that along its arm, and the centre keeps some
 * of the load: so far and so much that distances from the centre, and their squares, have the same mean over
 * the load as in the piece. The first makes it turn as hard as the piece, the second slide as hard while it
 * turns. Where the centre would have to pull it keeps nothing, and the first mean alone is right. */
static TlStatus divide(const Contact *c, const Piece *piece, TlVec3 centre) {
  const TlPolygon *p = &piece->polygon;
  Sums part[TL_POLYGON_MOST];
  Arms arms = {0, 0}, held = {0, 0};
  for (int i = 0; i < p->count; i++) {
    part[i] = triangle_of(p, &piece->f, centre, i);
    if (!(part[i].depth > 0)) continue;
    Arms more = arms_of(p, &piece->f, centre, i, part[i].area);
    TlVec3 moved = tl_axpy(part[i].moment, -part[i].depth, centre);
    arms.first += more.first;
    arms.second += more.second;
    held.first += tl_norm(moved);
    held.second += tl_norm2(moved) / part[i].depth;
  }
  double stretch = held.first > 0 ? arms.first / held.first : 1, sides = 1;
  if (stretch * held.second * arms.first < arms.second * held.first)
    sides = stretch * held.second * arms.first / (arms.second * held.first);
  for (int i = 0; i < p->count; i++) {
    if (!(part[i].depth > 0)) continue;
    TlVec3 arm = tl_sub(tl_scale(1 / part[i].depth, part[i].moment), centre);
    TL_TRY(
        add_point(c, piece, &part[i], tl_axpy(centre, stretch / sides, arm), sides, p->after[i]));
  }
  return sides < 1 ? add_centre(c, piece, centre, 1 - sides) : TL_OK;
}

static TlStatus add_points(const Contact *c, const Piece *piece) {
  TlVec3 centre = tl_scale(1 / piece->all.depth, piece->all.moment);
  if (piece->fraction * piece->all.depth <= SMALL * c->load) return add_centre(c, piece, centre, 1);
  return divide(c, piece, centre);
}

/* Pieces wait until the contact's load is known; those that no longer fit are divided at once, as if they were not small. */
static TlStatus add_piece(Contact *c, Linear f, TlVec3 n, double fraction, int32_t number,
                          const TlPolygon *polygon) {
  Sums all = integrate(polygon, &f);
  if (!(all.depth > 0 && all.deepest > 0)) return TL_OK;
  c->load += fraction * all.depth;
  bool fits = c->count < MOST_PIECES;
  Piece last, *piece = fits ? &c->piece[c->count++] : &last;
  piece->polygon.count = polygon->count; /* of a polygon what is beyond has no values */
  memcpy(piece->polygon.corner, polygon->corner, (size_t)polygon->count * sizeof *polygon->corner);
  memcpy(piece->polygon.after, polygon->after, (size_t)polygon->count * sizeof *polygon->after);
  piece->f = f;
  piece->n = n;
  piece->fraction = fraction;
  piece->number = number;
  piece->all = all;
  return fits ? TL_OK : divide(c, piece, tl_scale(1 / all.depth, all.moment));
}

static TlStatus close_contact(const Contact *c) {
  for (int k = 0; k < c->count; k++) TL_TRY(add_points(c, &c->piece[k]));
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

static TlStatus add_face(Contact *c, const Side *s, int32_t face) {
  TlPolygon inside[2], nearest[2];
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
      cut(from, &nearer, HALFWAY + plane[i], &nearest[now]);
      from = &nearest[now];
      now = 1 - now;
    }
    int32_t number = (s->number * TL_FACET_PLANES + face) * TL_FACET_PLANES + plane[k];
    TL_TRY(add_piece(c, *mine, tl_scale(s->flip, mine->n), 0.5, number, from));
  }
  return TL_OK;
}

static void open_contact(Contact *c, const TlFacetFrame *frame, TlPoints *points) {
  c->frame = frame;
  c->points = points;
  c->load = 0;
  c->count = 0;
}

TlStatus tl_facet_surface(const TlFacetQuery *q, const TlFacetFrame *frame, TlPoints *points) {
  Contact c;
  open_contact(&c, frame, points);
  for (int number = 0; number < 2; number++) {
    Side side = side_of(q, number);
    for (int32_t face = 0; face < side.facets->plane_count; face++)
      TL_TRY(add_face(&c, &side, face));
  }
  return close_contact(&c);
}

/* ---- at a plane ---- */

TlStatus tl_facet_surface_at_plane(const TlFacets *facets, double scale, TlVec3 n, double d,
                                   const TlFacetFrame *frame, TlPoints *points) {
  Linear plane = {tl_mat_tvec(frame->turn, n), d - tl_dot(n, frame->centre)};
  Contact c;
  open_contact(&c, frame, points);
  for (int32_t face = 0; face < facets->plane_count; face++) {
    TlPolygon whole = {.count = facets->loop_count[face]}, below;
    for (int i = 0; i < whole.count; i++) {
      whole.corner[i] = tl_scale(scale, facets->corner[facets->loop[face][i]]);
      whole.after[i] = (int16_t)i;
    }
    cut(&whole, &plane, CUT, &below);
    TL_TRY(add_piece(&c, plane, plane.n, 1, face, &below));
  }
  return close_contact(&c);
}
