#include "judge/surface_load.h"

#include "base/mem.h"
#include "judge/judge.h"

#include <math.h>

enum {
  WANTED = 800,    /* cubes of a grid's surface in a contact */
  MOST_HALVES = 7, /* of a grid's cell */
  CORNERS = 32     /* of a polygon: each cut adds one at most */
};
static const double STEEPEST = 1.25,
                    HALF_DIAGONAL = 0.8660254037844386; /* as of the oracle's search */
static const double FLUSH_M = 1e-12; /* faces of parts of a cross lie in one plane */

/* A convex piece of a surface: a face, a triangle, or what cuts leave of them. */
typedef struct JudgePiece {
  TlVec3 x[4];
  int corners, part; /* of a polyhedron's, whose face it is */
} Piece;

typedef struct Polygon {
  TlVec3 x[CORNERS];
  int count;
} Polygon;

typedef struct Linear { /* n . x - d */
  TlVec3 n;
  double d;
} Linear;

typedef struct Planes { /* all below 0: inside */
  Linear f[TL_CONVEX_FACES];
  int count;
} Planes;

typedef struct Other {
  Planes part[TL_OVERLAP_PARTS];
  int parts;                 /* 0: a grid */
  const TlOverlapBody *body; /* of a grid */
  TlVec3 shift;              /* of the surface that is held against it */
  Planes
      own[TL_OVERLAP_PARTS]; /* the surface's body: what lies in another part of it is no surface */
  int owns;
} Other;

static double value_at(const Linear *f, TlVec3 x) {
  return tl_dot(f->n, x) - f->d;
}

static Linear less(const Linear *f, const Linear *g) {
  return (Linear){tl_sub(f->n, g->n), f->d - g->d};
}

static Planes planes_of(const TlOverlapBody *body, int part) {
  TlConvex c = tl_overlap_part(body, part, tl_vec3(0, 0, 0));
  Planes p = {.count = c.faces};
  for (int i = 0; i < c.faces; i++)
    p.f[i] = (Linear){c.normal[i], tl_dot(c.normal[i], c.vertex[c.face[i][0]])};
  return p;
}

static bool is_convex(const TlOverlapBody *b) {
  return b->shape->form == TL_OVERLAP_CONVEX;
}

/* ---- polyhedra: cut where the depth has a kink ---- */

/* Where sign * f <= 0. */
static Polygon cut(const Polygon *p, const Linear *f, double sign) {
  Polygon out = {.count = 0};
  for (int i = 0; i < p->count && out.count + 2 <= CORNERS; i++) {
    TlVec3 a = p->x[i], b = p->x[(i + 1) % p->count];
    double fa = sign * value_at(f, a), fb = sign * value_at(f, b);
    if (fa <= 0) out.x[out.count++] = a;
    if ((fa < 0 && fb > 0) || (fa > 0 && fb < 0))
      out.x[out.count++] = tl_axpy(a, fa / (fa - fb), tl_sub(b, a));
  }
  return out;
}

/* The integral of -f over a polygon. */
static double depth_over(const Polygon *p, const Linear *f) {
  double sum = 0;
  for (int i = 2; i < p->count; i++) {
    TlVec3 a = p->x[0], b = p->x[i - 1], c = p->x[i];
    double area = 0.5 * tl_norm(tl_cross(tl_sub(b, a), tl_sub(c, a)));
    sum -= area * (value_at(f, a) + value_at(f, b) + value_at(f, c)) / 3;
  }
  return sum;
}

/* The integral of -f over a polygon without these regions, from the first on. */
static double depth_without(const Polygon *p, const Linear *f, const Planes *region, int regions) {
  if (p->count < 3) return 0;
  if (regions == 0) return depth_over(p, f);
  double sum = 0;
  Polygon rest = *p;
  for (int i = 0; i < region->count && rest.count >= 3; i++) {
    double least = INFINITY;
    for (int k = 0; k < rest.count; k++) least = fmin(least, value_at(&region->f[i], rest.x[k]));
    if (least > -FLUSH_M) return sum + depth_without(&rest, f, region + 1, regions - 1);
    Polygon out = cut(&rest, &region->f[i], -1);
    sum += depth_without(&out, f, region + 1, regions - 1);
    rest = cut(&rest, &region->f[i], 1);
  }
  return sum;
}

/* The integral of depth times normal over a piece of surface before a polyhedron or a plane. */
static TlVec3 over_piece(const Other *o, const Piece *piece) {
  TlVec3 sum = {0, 0, 0};
  Polygon whole = {.count = piece->corners};
  for (int k = 0; k < piece->corners; k++) whole.x[k] = tl_add(piece->x[k], o->shift);
  for (int j = 0; j < o->parts; j++) {
    Polygon inside = whole;
    for (int i = 0; i < o->part[j].count && inside.count >= 3; i++)
      inside = cut(&inside, &o->part[j].f[i], 1);
    for (int i = 0; i < o->part[j].count && inside.count >= 3; i++) {
      const Linear *mine = &o->part[j].f[i];
      Polygon near = inside;
      for (int k = 0; k < o->part[j].count && near.count >= 3; k++) {
        Linear more = less(&o->part[j].f[k], mine);
        if (k != i) near = cut(&near, &more, 1);
      }
      Planes out[2 * TL_OVERLAP_PARTS]; /* where another part is deeper; what is no surface */
      int outs = 0;
      for (int q = 0; q < o->parts; q++) {
        if (q == j) continue;
        Planes *deeper = &out[outs++];
        deeper->count = o->part[q].count;
        for (int k = 0; k < deeper->count; k++) deeper->f[k] = less(&o->part[q].f[k], mine);
      }
      for (int q = 0; q < o->owns; q++)
        if (q != piece->part) out[outs++] = o->own[q];
      sum = tl_axpy(sum, depth_without(&near, mine, out, outs), mine->n);
    }
  }
  return sum;
}

/* ---- grids: the middle of each triangle ---- */

static TlVec3 over_triangle(const Other *o, const Piece *piece) {
  const TlVec3 none = {0, 0, 0}, *x = piece->x;
  TlOverlapAgainst in = tl_overlap_against_body(o->body);
  TlVec3 n, p = tl_axpy(o->shift, 1.0 / 3, tl_add(x[0], tl_add(x[1], x[2])));
  if (!(in.phi(in.context, p, 0, NULL) < 0)) return none;
  double phi = in.phi(in.context, p, 0, &n);
  return tl_scale(-0.5 * phi * tl_norm(tl_cross(tl_sub(x[1], x[0]), tl_sub(x[2], x[0]))), n);
}

/* Of body `side` of the load before the other one; own parts are moved with the surface. */
static Other other_of(const JudgeLoad *l, int side, TlVec3 shift) {
  const TlOverlapBody *own = side ? &l->b : &l->a, *to = side ? &l->a : &l->b;
  Other o = {.body = to, .shift = side ? tl_scale(-1, shift) : shift};
  if (!to->shape) {
    o.parts = 1;
    o.part[0] = (Planes){.f = {{l->normal, tl_dot(l->normal, l->point)}}, .count = 1};
  } else if (is_convex(to)) {
    o.parts = to->shape->parts;
    for (int j = 0; j < o.parts; j++) o.part[j] = planes_of(to, j);
  }
  if (!is_convex(own)) return o;
  o.owns = own->shape->parts;
  for (int j = 0; j < o.owns; j++) {
    o.own[j] = planes_of(own, j);
    for (int i = 0; i < o.own[j].count; i++) o.own[j].f[i].d += tl_dot(o.own[j].f[i].n, o.shift);
  }
  return o;
}

TlVec3 judge_load_force(const JudgeLoad *l, TlVec3 shift) {
  TlVec3 sum = {0, 0, 0};
  int sides = l->b.shape ? 2 : 1;
  for (int side = 0; side < sides; side++) {
    Other o = other_of(l, side, shift);
    for (int64_t i = 0; i < l->count[side]; i++) {
      const Piece *piece = &l->piece[side][i];
      TlVec3 f = o.parts ? over_piece(&o, piece) : over_triangle(&o, piece);
      sum = tl_axpy(sum, (side ? -1.0 : 1.0) / sides, f);
    }
  }
  return sum;
}

double judge_load_shift(const JudgeLoad *l, TlVec3 n, double depth_m, TlVec3 m, double wanted) {
  enum { STEPS = 11 };
  double low = -depth_m, high = depth_m; /* the force falls with the shift */
  for (int k = 0; k < STEPS; k++) {
    double shift = 0.5 * (low + high);
    if (tl_dot(judge_load_force(l, tl_scale(shift, n)), m) > wanted)
      low = shift;
    else
      high = shift;
  }
  return 0.5 * (low + high);
}

/* ---- surfaces ---- */

static void add(JudgeLoad *l, int side, Piece piece) {
  JUDGE_OK(TL_RESERVE(l->piece[side], l->capacity[side], (size_t)l->count[side] + 1));
  l->piece[side][l->count[side]++] = piece;
}

static void add_faces(JudgeLoad *l, int side) {
  const TlOverlapBody *body = side ? &l->b : &l->a;
  for (int part = 0; part < body->shape->parts; part++) {
    TlConvex c = tl_overlap_part(body, part, tl_vec3(0, 0, 0));
    for (int face = 0; face < c.faces; face++) {
      Piece piece = {.corners = c.corners, .part = part};
      for (int k = 0; k < c.corners; k++) piece.x[k] = c.vertex[c.face[face][k]];
      add(l, side, piece);
    }
  }
}

/* Cubes of one edge that tile what may be surface within the other body; body frame, unit scale. */
typedef struct Cubes {
  TlVec3 *middle; /* owned */
  int64_t count;
  size_t capacity;
  double edge;
} Cubes;

static void add_cube(Cubes *c, TlVec3 middle) {
  JUDGE_OK(TL_RESERVE(c->middle, c->capacity, (size_t)c->count + 1));
  c->middle[c->count++] = middle;
}

static TlVec3 to_world(const TlOverlapBody *b, TlVec3 p) {
  return tl_axpy(b->row->position_m, b->row->scale, tl_mat_vec(b->turn, p));
}

static double phi_of_other(const JudgeLoad *l, int side, TlVec3 p, double reach) {
  if (!side && !l->b.shape) return tl_dot(l->normal, tl_sub(p, l->point));
  TlOverlapAgainst in = tl_overlap_against_body(side ? &l->a : &l->b);
  return in.phi(in.context, p, reach, NULL);
}

/* deeper: how much deeper the surfaces may come to lie. */
static bool may_bear(const JudgeLoad *l, int side, TlVec3 middle, double edge, double deeper) {
  const TlOverlapBody *body = side ? &l->b : &l->a;
  double near = STEEPEST * HALF_DIAGONAL * edge, reach = body->row->scale * near + deeper;
  if (fabs(tl_overlap_shape_phi(body->shape, middle, NULL)) > near) return false;
  return phi_of_other(l, side, to_world(body, middle), reach) < reach;
}

static void first_cubes(const JudgeLoad *l, int side, double deeper, Cubes *c) {
  const TlOverlapShape *shape = (side ? &l->b : &l->a)->shape;
  const TlAvatar *a = shape->avatar;
  c->edge = a->spacing_m;
  for (int64_t i = 0; i < shape->cell_count; i++) {
    int64_t cell = shape->cell[i], row = cell / a->nx;
    TlVec3 at = tl_vec3((double)(cell % a->nx), (double)(row % a->ny), (double)(row / a->ny));
    TlVec3 middle = tl_axpy(a->origin_m, c->edge, tl_add(at, tl_vec3(0.5, 0.5, 0.5)));
    if (may_bear(l, side, middle, c->edge, deeper)) add_cube(c, middle);
  }
}

/* The triangles of the field's zero in a tetrahedron, by straight lines between its corners. */
static void cut_tetrahedron(JudgeLoad *l, int side, const TlVec3 x[4], const double f[4]) {
  const TlOverlapBody *body = side ? &l->b : &l->a;
  int in[4], out[4], ins = 0, outs = 0;
  for (int k = 0; k < 4; k++) {
    if (f[k] < 0)
      in[ins++] = k;
    else
      out[outs++] = k;
  }
  TlVec3 corner[4];
  int corners = 0;
  /* of two and two the four crossings lie in a ring: 00, 01, 11, 10 */
  for (int i = 0; i < ins; i++)
    for (int j = 0; j < outs; j++) {
      int from = in[i], to = out[ins == 2 && i == 1 ? outs - 1 - j : j];
      double part = f[from] / (f[from] - f[to]);
      corner[corners++] = to_world(body, tl_axpy(x[from], part, tl_sub(x[to], x[from])));
    }
  for (int k = 2; k < corners; k++) {
    Piece piece = {{corner[0], corner[k - 1], corner[k]}, 3, 0};
    add(l, side, piece);
  }
}

static void cut_cube(JudgeLoad *l, int side, TlVec3 middle, double edge) {
  static const int six[6][2] = {{1, 3}, {1, 5}, {2, 3},
                                {2, 6}, {4, 5}, {4, 6}}; /* between 0 and 7 */
  const TlOverlapShape *shape = (side ? &l->b : &l->a)->shape;
  TlVec3 x[8];
  double f[8];
  for (int k = 0; k < 8; k++) {
    x[k] = tl_axpy(middle, 0.5 * edge, tl_vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1));
    f[k] = tl_overlap_shape_phi(shape, x[k], NULL);
  }
  for (int t = 0; t < 6; t++) {
    const int c[4] = {0, six[t][0], six[t][1], 7};
    TlVec3 corner[4];
    double value[4];
    for (int k = 0; k < 4; k++) corner[k] = x[c[k]], value[k] = f[c[k]];
    cut_tetrahedron(l, side, corner, value);
  }
}

static void add_grid(JudgeLoad *l, int side, double deeper) {
  Cubes now = {.count = 0}, next;
  first_cubes(l, side, deeper, &now);
  for (int k = 0; k < MOST_HALVES && now.count > 0 && now.count < WANTED; k++) {
    next = (Cubes){.edge = 0.5 * now.edge};
    for (int64_t i = 0; i < now.count; i++)
      for (int part = 0; part < 8; part++) {
        TlVec3 at = tl_axpy(now.middle[i], 0.5 * next.edge,
                            tl_vec3(part & 1 ? 1 : -1, part & 2 ? 1 : -1, part & 4 ? 1 : -1));
        if (may_bear(l, side, at, next.edge, deeper)) add_cube(&next, at);
      }
    tl_free(now.middle);
    now = next;
  }
  for (int64_t i = 0; i < now.count; i++) cut_cube(l, side, now.middle[i], now.edge);
  tl_free(now.middle);
}

void judge_load_open(JudgeLoad *l, const TlOverlapBody *a, const TlOverlapBody *b, TlVec3 point,
                     TlVec3 normal, double depth_m) {
  *l = (JudgeLoad){.a = *a, .point = point, .normal = normal};
  if (b) l->b = *b;
  for (int side = 0; side < (b ? 2 : 1); side++) {
    if (is_convex(side ? b : a))
      add_faces(l, side);
    else
      add_grid(l, side, depth_m);
  }
}

void judge_load_close(JudgeLoad *l) {
  for (int side = 0; side < 2; side++) tl_free(l->piece[side]);
  *l = (JudgeLoad){.count = {0}};
}
