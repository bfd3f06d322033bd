#include "contact/facets.h"

#include "contact/narrow.h"
#include "contact/polygon.h"

#include <math.h>

static const double ARC = 0.35;  /* rad: slack of the arcs of normals of listed edges */
static const double TURN = 0.08; /* rad: turn after which candidates are listed anew */
static const double PARALLEL = 1e-6;
static const double FLAT = 0.9;    /* cosine of the normals of crossing edges and a face */
enum { CORNER_KEY = 1 << 30 };     /* of a corner and a face */
static const double AMPLE = 1.5;   /* candidates are listed for a margin that grows by so much */
static const double ENOUGH = 0.99; /* of the skin, which rounding never passes */

/* ---- in place: frame of a ---- */

static TlVec3 direction_of(const TlFacetQuery *q, int side, TlVec3 n) {
  return side ? tl_mat_tvec(q->r, n) : n;
}

static TlVec3 corner_of(const TlFacetQuery *q, int side, int32_t corner) {
  TlVec3 x = tl_scale(q->scale[side], q->facets[side]->corner[corner]);
  return side ? tl_mat_tvec(q->r, tl_sub(x, q->t)) : x;
}

/* A corner of the other grain above the plane of a face of `side`, in that grain's own frame. */
static double above_face(const TlFacetQuery *q, int side, int32_t face, int32_t corner) {
  const TlFacets *f = q->facets[side];
  TlVec3 x = tl_scale(q->scale[1 - side], q->facets[1 - side]->corner[corner]);
  x = side ? tl_add(tl_mat_vec(q->r, x), q->t) : tl_mat_tvec(q->r, tl_sub(x, q->t));
  return tl_dot(f->normal[face], x) - q->scale[side] * f->distance[face];
}

static bool within_arc(TlVec3 a, TlVec3 b, TlVec3 n, double slack) {
  TlVec3 axis = tl_unit(tl_cross(a, b));
  return tl_dot(tl_cross(a, n), axis) >= -slack && tl_dot(tl_cross(n, b), axis) >= -slack &&
         tl_dot(n, tl_add(a, b)) > 0;
}

/* Do the arcs of normals of two edges cross, with so much slack? *n from a to b. Parallel edges: no
 * (faces speak for them), but with slack nearly parallel ones, whose n may turn at will, do. */
static bool arcs_cross(const TlFacetQuery *q, int32_t a, int32_t b, double slack, TlVec3 *n) {
  const TlFacets *fa = q->facets[0], *fb = q->facets[1];
  const TlFacetEdge *ea = &fa->edge[a], *eb = &fb->edge[b];
  TlVec3 a0 = fa->normal[ea->face[0]], a1 = fa->normal[ea->face[1]],
         b0 = direction_of(q, 1, fb->normal[eb->face[0]]),
         b1 = direction_of(q, 1, fb->normal[eb->face[1]]);
  TlVec3 across = tl_cross(tl_unit(tl_cross(a0, a1)), tl_unit(tl_cross(b0, b1)));
  double sine = tl_norm(across);
  if (sine < slack) /* n may turn at will: do the arcs overlap anywhere? */
    return within_arc(a0, a1, tl_scale(-1, b0), slack) ||
           within_arc(a0, a1, tl_scale(-1, b1), slack) ||
           within_arc(b0, b1, tl_scale(-1, a0), slack) ||
           within_arc(b0, b1, tl_scale(-1, a1), slack);
  if (sine < PARALLEL) return false;
  *n = tl_scale((tl_dot(across, tl_add(a0, a1)) > 0 ? 1 : -1) / sine, across);
  return within_arc(a0, a1, *n, slack) && within_arc(b0, b1, tl_scale(-1, *n), slack);
}

/* Both on one side of a plane, by more than rounding? */
static bool one_side(double a, double b) {
  static const double clear = 1e-9;
  return tl_max(a, b) < -clear || tl_min(a, b) > clear;
}

/* Does either arc lie clearly on one side of the other's great circle? Then they do not cross, which is so for most
 * edges and takes no roots. */
static bool arcs_apart(const TlFacetQuery *q, int32_t a, int32_t b) {
  const TlFacets *fa = q->facets[0], *fb = q->facets[1];
  const TlFacetEdge *ea = &fa->edge[a], *eb = &fb->edge[b];
  TlVec3 a0 = fa->normal[ea->face[0]], a1 = fa->normal[ea->face[1]], pole_a = tl_cross(a0, a1),
         b0 = direction_of(q, 1, fb->normal[eb->face[0]]),
         b1 = direction_of(q, 1, fb->normal[eb->face[1]]), pole_b = tl_cross(b0, b1);
  return one_side(tl_dot(pole_a, b0), tl_dot(pole_a, b1)) ||
         one_side(tl_dot(pole_b, a0), tl_dot(pole_b, a1));
}

/* Nearest points of two edges (Ericson 2005, section 5.1.9); their distance. */
static double nearest_points(const TlFacetQuery *q, int32_t a, int32_t b, TlVec3 *on_a,
                             TlVec3 *on_b) {
  const TlFacetEdge *ea = &q->facets[0]->edge[a], *eb = &q->facets[1]->edge[b];
  TlVec3 pa = corner_of(q, 0, ea->corner[0]), pb = corner_of(q, 1, eb->corner[0]);
  TlVec3 da = tl_sub(corner_of(q, 0, ea->corner[1]), pa),
         db = tl_sub(corner_of(q, 1, eb->corner[1]), pb), r = tl_sub(pa, pb);
  double aa = tl_norm2(da), bb = tl_norm2(db), ab = tl_dot(da, db), ar = tl_dot(da, r),
         br = tl_dot(db, r), det = aa * bb - ab * ab;
  double s = det > 1e-12 * aa * bb ? tl_min(tl_max((ab * br - ar * bb) / det, 0), 1) : 0.5;
  double u = (ab * s + br) / bb;
  if (u < 0 || u > 1) {
    u = u < 0 ? 0 : 1;
    s = tl_min(tl_max((ab * u - ar) / aa, 0), 1);
  }
  *on_a = tl_axpy(pa, s, da);
  *on_b = tl_axpy(pb, u, db);
  return tl_norm(tl_sub(*on_a, *on_b));
}

/* ---- candidates ---- */

static void add_face(TlFacetPair *pair, int side, int32_t face, int32_t corner) {
  if (pair->face_count < TL_FACET_FACES_KEPT) {
    pair->face[pair->face_count].side = (int16_t)side;
    pair->face[pair->face_count].face = (int16_t)face;
    pair->face[pair->face_count].corner = (int16_t)corner;
  }
  pair->face_count++; /* beyond the most: the list is not complete */
}

/* Heights of the corners of either grain over the faces of the other (side: whose face), and by how much they may
 * change before candidates are listed anew. */
typedef struct Heights {
  double over[2][TL_FACET_PLANES][TL_FACET_CORNERS], change[2][TL_FACET_CORNERS];
} Heights;

/* Where w is below the skin the grains have turned by less than skin / radius against each other: that takes a corner
 * which lies farther from the centre of the face's grain than its radius past the face by as many times more. */
static double most_change(const TlFacetQuery *q, int side, int32_t corner) {
  TlVec3 centre = side ? tl_scale(-1, tl_mat_tvec(q->r, q->t)) : tl_vec3(0, 0, 0);
  double far = tl_norm(tl_sub(corner_of(q, 1 - side, corner), centre));
  return q->skin * tl_max(1, far / q->radius[side]);
}

static void take_heights(const TlFacetQuery *q, Heights *h) {
  for (int side = 0; side < 2; side++)
    for (int32_t c = 0; c < q->facets[1 - side]->corner_count; c++) {
      h->change[side][c] = most_change(q, side, c);
      for (int32_t f = 0; f < q->facets[side]->plane_count; f++)
        h->over[side][f][c] = above_face(q, side, f, c);
    }
}

/* Of a face's separation: now, and the bounds of what it may become. */
typedef struct Separation {
  double now, least, most;
} Separation;

static Separation separation_of(const Heights *h, const TlFacetQuery *q, int side, int32_t face) {
  Separation s = {INFINITY, INFINITY, INFINITY};
  for (int32_t c = 0; c < q->facets[1 - side]->corner_count; c++) {
    double over = h->over[side][face][c], change = h->change[side][c];
    s.now = tl_min(s.now, over);
    s.least = tl_min(s.least, over - change);
    s.most = tl_min(s.most, over + change);
  }
  return s;
}

/* Faces that may have the largest separation of all, each with the corners that may be lowest over it. Returns the
 * largest separation now. */
static double list_faces(TlFacetPair *pair, const TlFacetQuery *q, const Heights *h) {
  Separation face[2][TL_FACET_PLANES];
  double gap = -INFINITY, least = -INFINITY;
  for (int side = 0; side < 2; side++)
    for (int32_t f = 0; f < q->facets[side]->plane_count; f++) {
      face[side][f] = separation_of(h, q, side, f);
      gap = tl_max(gap, face[side][f].now);
      least = tl_max(least, face[side][f].least);
    }
  for (int side = 0; side < 2; side++)
    for (int32_t f = 0; f < q->facets[side]->plane_count; f++)
      for (int32_t c = 0; c < q->facets[1 - side]->corner_count; c++)
        if (face[side][f].most >= least &&
            h->over[side][f][c] - h->change[side][c] <= face[side][f].most)
          add_face(pair, side, f, c);
  return gap;
}

/* Does an edge of the grain that is not `side` come nearer to that one than `far`? False only if it lies
 * beyond one of the faces as a whole. */
static bool edge_near(const Heights *h, const TlFacetQuery *q, int side, int32_t edge, double far) {
  const int32_t *corner = q->facets[1 - side]->edge[edge].corner;
  for (int32_t f = 0; f < q->facets[side]->plane_count; f++)
    if (h->over[side][f][corner[0]] > far && h->over[side][f][corner[1]] > far) return false;
  return true;
}

/* Faces and edges that may give the gap. The largest separation over the faces is no larger than the pair's gap: edges
 * farther apart than both that and the margin neither overlap nor are wanted. */
static void list_candidates(TlFacetPair *pair, const TlFacetQuery *q) {
  Heights h;
  double margin = AMPLE * tl_max(q->margin, 0);
  *pair = (TlFacetPair){.r0 = q->r, .t0 = q->t, .skin = q->skin, .margin = margin};
  take_heights(q, &h);
  double far = tl_max(fabs(list_faces(pair, q, &h)), margin) + 2 * q->skin;
  int32_t near_b[TL_FACET_EDGES], near_count = 0;
  for (int32_t b = 0; b < q->facets[1]->edge_count; b++)
    if (edge_near(&h, q, 0, b, far)) near_b[near_count++] = b;
  for (int32_t a = 0; a < q->facets[0]->edge_count; a++) {
    if (!edge_near(&h, q, 1, a, far)) continue;
    for (int32_t i = 0; i < near_count; i++) {
      TlVec3 n, on_a, on_b;
      if (!arcs_cross(q, a, near_b[i], ARC, &n)) continue;
      if (nearest_points(q, a, near_b[i], &on_a, &on_b) > far) continue;
      if (pair->edge_count < TL_FACET_EDGES_KEPT) {
        pair->edge[pair->edge_count].a = (int16_t)a;
        pair->edge[pair->edge_count].b = (int16_t)near_b[i];
      }
      pair->edge_count++;
    }
  }
  pair->made = pair->face_count <= TL_FACET_FACES_KEPT && pair->edge_count <= TL_FACET_EDGES_KEPT;
}

/* The largest separation over faces, or over edges that cross. */
typedef struct Best {
  double gap;
  int side;             /* whose face */
  int32_t face, corner; /* and the other's lowest corner over it */
  int32_t edge[2];      /* or the edges of a and b, and the normal from a to b */
  TlVec3 n;
} Best;

/* A face's separation is that of its lowest corner: candidates of one face lie one behind the other. */
static Best by_faces(const TlFacetPair *pair, const TlFacetQuery *q) {
  Best best = {.gap = -INFINITY};
  for (int32_t i = 0; i < pair->face_count;) {
    int side = pair->face[i].side, face = pair->face[i].face, lowest = 0;
    double low = INFINITY;
    for (; i < pair->face_count && pair->face[i].side == side && pair->face[i].face == face; i++) {
      double above = above_face(q, side, face, pair->face[i].corner);
      if (above < low) low = above, lowest = pair->face[i].corner;
    }
    if (low > best.gap) best = (Best){.gap = low, .side = side, .face = face, .corner = lowest};
  }
  return best;
}

/* The same over all faces and corners. */
static Best by_all_faces(const TlFacetQuery *q) {
  Best best = {.gap = -INFINITY};
  for (int side = 0; side < 2; side++)
    for (int32_t f = 0; f < q->facets[side]->plane_count; f++) {
      Best one = {.gap = INFINITY, .side = side, .face = f};
      for (int32_t c = 0; c < q->facets[1 - side]->corner_count; c++) {
        double above = above_face(q, side, f, c);
        if (above < one.gap) one.gap = above, one.corner = c;
      }
      if (one.gap > best.gap) best = one;
    }
  return best;
}

static void by_edges(const TlFacetQuery *q, int32_t a, int32_t b, Best *best) {
  TlVec3 n;
  if (arcs_apart(q, a, b) || !arcs_cross(q, a, b, 0, &n)) return;
  TlVec3 from_a = corner_of(q, 0, q->facets[0]->edge[a].corner[0]),
         from_b = corner_of(q, 1, q->facets[1]->edge[b].corner[0]);
  double gap = tl_dot(n, tl_sub(from_b, from_a));
  if (gap > best->gap) *best = (Best){.gap = gap, .edge = {a, b}, .n = n};
}

/* ---- contacts ---- */

enum {
  LINES = 2 * TL_FACET_LOOP
}; /* of the other grain's face, and of the cuts along the face's edges */

/* The other grain's face that is turned most against the face, within the prism over that: one of the
 * two buffers, for copies of polygons cost more than the cuts. */
static const TlPolygon *over_face(const TlFacetQuery *q, int side, int32_t face, TlVec3 out,
                                  int32_t *other, TlPolygon buffer[2]) {
  const TlFacets *f = q->facets[side], *g = q->facets[1 - side];
  double most = INFINITY;
  *other = 0;
  for (int32_t k = 0; k < g->plane_count; k++) {
    double facing = tl_dot(out, direction_of(q, 1 - side, g->normal[k]));
    if (facing < most) most = facing, *other = k;
  }
  int now = 0;
  buffer[now].count = g->loop_count[*other];
  for (int i = 0; i < buffer[now].count; i++) {
    buffer[now].corner[i] = corner_of(q, 1 - side, g->loop[*other][i]);
    buffer[now].after[i] = (int16_t)i;
  }
  TlVec3 from = corner_of(q, side, f->loop[face][0]);
  for (int i = 0; i < f->loop_count[face] && buffer[now].count > 0; i++) {
    TlVec3 to = corner_of(q, side, f->loop[face][i + 1 < f->loop_count[face] ? i + 1 : 0]);
    TlVec3 n = tl_cross(tl_sub(to, from), out);
    tl_polygon_cut(&buffer[now], n, tl_dot(n, from), TL_FACET_LOOP + i, &buffer[1 - now]);
    now = 1 - now;
    from = to;
  }
  return &buffer[now];
}

static int face_contacts(const TlFacetQuery *q, const Best *best, TlFacetContact *contact) {
  const TlFacets *f = q->facets[best->side];
  int side = best->side, count = 0;
  TlVec3 out = direction_of(q, side, f->normal[best->face]),
         on = corner_of(q, side, f->loop[best->face][0]), n = tl_scale(side ? 1 : -1, out);
  int32_t other, faces;
  TlPolygon buffer[2];
  const TlPolygon *p = over_face(q, side, best->face, out, &other, buffer);
  faces = (other * TL_FACET_PLANES + best->face) * 2 + side;
  for (int i = 0; i < p->count; i++) {
    double gap = tl_dot(out, tl_sub(p->corner[i], on));
    int before = p->after[i > 0 ? i - 1 : p->count - 1];
    if (gap < q->margin)
      contact[count++] = (TlFacetContact){.x = tl_axpy(p->corner[i], -0.5 * gap, out),
                                          .n = n,
                                          .gap = gap,
                                          .key = (faces * LINES + before) * LINES + p->after[i]};
  }
  return count;
}

/* Apart, and no corner over a face: the nearest points of two edges. */
static TlFacetContact nearest_edges(const TlFacetQuery *q) {
  TlFacetContact best = {.gap = INFINITY};
  for (int32_t a = 0; a < q->facets[0]->edge_count; a++)
    for (int32_t b = 0; b < q->facets[1]->edge_count; b++) {
      TlVec3 on_a, on_b;
      double far = nearest_points(q, a, b, &on_a, &on_b);
      if (far >= best.gap) continue;
      best = (TlFacetContact){.x = tl_scale(0.5, tl_add(on_a, on_b)),
                              .n = tl_sub(on_a, on_b),
                              .gap = far,
                              .key = TL_FACET_EDGES_KEY + a * TL_FACET_EDGES + b};
    }
  best.n = tl_unit(best.n);
  return best;
}

static TlFacetContact crossing_edges(const Best *best, TlVec3 on_a, TlVec3 on_b) {
  return (TlFacetContact){.x = tl_scale(0.5, tl_add(on_a, on_b)),
                          .n = tl_scale(-1, best->n),
                          .gap = best->gap,
                          .key =
                              TL_FACET_EDGES_KEY + best->edge[0] * TL_FACET_EDGES + best->edge[1]};
}

/* Is x, in the frame of a, within the grain? */
static bool is_within(const TlFacetQuery *q, int side, TlVec3 x, double tiny) {
  const TlFacets *f = q->facets[side];
  if (side) x = tl_add(tl_mat_vec(q->r, x), q->t);
  for (int32_t k = 0; k < f->plane_count; k++)
    if (tl_dot(f->normal[k], x) - q->scale[side] * f->distance[k] > tiny) return false;
  return true;
}

static Best by_all_edges(const TlFacetQuery *q) {
  Best best = {.gap = -INFINITY};
  for (int32_t a = 0; a < q->facets[0]->edge_count; a++)
    for (int32_t b = 0; b < q->facets[1]->edge_count; b++) by_edges(q, a, b, &best);
  return best;
}

/* Does the grain beneath the face hold the deepest of these corners, which are of the other one? */
static bool holds_deepest(const TlFacetQuery *q, const Best *face, const TlFacetContact *contact,
                          int count, double tiny) {
  const TlFacetContact *deepest = contact;
  for (int i = 1; i < count; i++)
    if (contact[i].gap < deepest->gap) deepest = &contact[i];
  if (count == 0) return false;
  double half = face->side ? 0.5 * deepest->gap : -0.5 * deepest->gap;
  return is_within(q, face->side, tl_axpy(deepest->x, half, deepest->n), tiny);
}

/* Beside the edges that cross, contact[0], the corners over a face whose normal is nearly theirs: with the edges alone a
 * cube that lies flat on another and is turned a little about the normal may tip as it likes until the step is over.
 * None is said to be deeper than the pair. */
static int face_beside(const TlFacetQuery *q, const Best *face, TlFacetContact *contact) {
  int count = 1 + face_contacts(q, face, contact + 1);
  if (count > 1 && !(tl_dot(contact[0].n, contact[1].n) > FLAT)) return 1;
  for (int i = 1; i < count; i++) contact[i].gap = tl_max(contact[i].gap, contact[0].gap);
  return count;
}

/* The list may lack edges that part the two and lie far from each other. So it decides only where that
 * cannot change the answer: edges that touch at their distance, an overlap that a point within both
 * grains proves, and corners over faces. All else asks every edge. */
int tl_facets_contacts(TlFacetPair *pair, const TlFacetQuery *q,
                       TlFacetContact contact[TL_FACET_CONTACTS], bool *listed) {
  *listed = !pair->made || !(q->motion < ENOUGH * pair->skin) ||
            tl_turned_by(&q->r, &pair->r0) > TURN || q->margin > pair->margin;
  if (*listed) list_candidates(pair, q);
  Best face = pair->made ? by_faces(pair, q) : by_all_faces(q), edge = {.gap = -INFINITY};
  bool all = !pair->made;
  if (all)
    edge = by_all_edges(q);
  else
    for (int32_t i = 0; i < pair->edge_count; i++)
      by_edges(q, pair->edge[i].a, pair->edge[i].b, &edge);
  double tiny = 1e-6 * fabs(q->bias);
  if (!(tl_max(face.gap, edge.gap) < q->margin)) return 0;
  bool cross = edge.gap > face.gap + q->bias;
  TlVec3 on_a, on_b;
  double far = cross ? nearest_points(q, edge.edge[0], edge.edge[1], &on_a, &on_b) : 0;
  int count = cross ? 0 : face_contacts(q, &face, contact);
  if (!all && tl_max(face.gap, edge.gap) < 0 &&
      !(cross ? is_within(q, 1, on_a, tiny) || is_within(q, 0, on_b, tiny)
              : holds_deepest(q, &face, contact, count, tiny))) {
    all = true;
    edge = by_all_edges(q);
    if (!(edge.gap < q->margin)) return 0;
    cross = edge.gap > face.gap + q->bias;
    if (cross) far = nearest_points(q, edge.edge[0], edge.edge[1], &on_a, &on_b);
  }
  if (cross) {
    contact[0] = crossing_edges(&edge, on_a, on_b);
    if (edge.gap < 0 || far <= edge.gap + tiny) return face_beside(q, &face, contact);
    count = face_contacts(q, &face, contact);
  }
  double least = INFINITY;
  for (int i = 0; i < count; i++) least = tl_min(least, contact[i].gap);
  if (least <= face.gap + q->bias + tiny) return count;
  if (!all) edge = by_all_edges(q);
  TlFacetContact near;
  if (tl_max(face.gap, edge.gap) > 0) {
    near = nearest_edges(q);
  } else { /* the lowest corner, whatever is above which face */
    TlVec3 out = direction_of(q, face.side, q->facets[face.side]->normal[face.face]);
    near = (TlFacetContact){
        .x = tl_axpy(corner_of(q, 1 - face.side, face.corner), -0.5 * face.gap, out),
        .n = tl_scale(face.side ? 1 : -1, out),
        .gap = face.gap,
        .key = CORNER_KEY + (face.corner * TL_FACET_PLANES + face.face) * 2 + face.side};
  }
  if (near.gap < q->margin) contact[count++] = near;
  return count;
}
