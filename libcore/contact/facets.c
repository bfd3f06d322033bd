#include "contact/facets.h"

#include "contact/narrow.h"

#include <math.h>

static const double FLAT = 0.02; /* cells: second derivative times cell of a node within a face */
static const double FLATTEST = 2e-3; /* cells: of the node that a plane is taken from */
static const double PLANE = 0.03;    /* cells: a node on a plane */
static const double SAME = 1e-3;     /* 1 - cosine of two normals of one plane */
static const double ROUND = 0.5;  /* cells: a node by a rounded edge lies this far inside at most */
static const double CORNER = 0.3; /* cells: corners nearer to each other than this are one */
static const double ARC = 0.35;   /* rad: slack of the arcs of normals of listed edges */
static const double TURN = 0.08;  /* rad: turn after which candidates are listed anew */
static const double PARALLEL = 1e-6;

/* ---- from a shape ---- */

typedef struct Found { /* a plane as its flattest node has it */
  int32_t count;
  TlVec3 n;
  double distance, bend;
} Found;

/* Planes of an avatar's flat nodes; their number, 0: it is no polyhedron or has too many. The grid's
 * edges shine into the field beside them, so the node with the least second derivatives decides. */
static int32_t planes_of(const TlShape *shape, const TlSpline *spline, TlFacets *f) {
  Found found[TL_FACET_PLANES];
  double cell = spline->spacing_m;
  int32_t count = 0, kept = 0;
  for (int32_t i = 0; i < shape->node_count; i++) {
    TlVec3 p = tl_shape_node(shape, i), g;
    TlSym3 h;
    double phi = tl_spline_phi(spline, p, &g, &h), bend = 0;
    for (int k = 0; k < 6; k++) bend = tl_max(bend, fabs((&h.xx)[k]));
    if (bend * cell > FLAT || fabs(phi) > PLANE * cell) continue;
    TlVec3 n = tl_unit(g);
    Found one = {.n = n, .distance = tl_dot(n, p) - phi, .bend = bend};
    int32_t k = 0;
    while (k < count && !(tl_dot(n, found[k].n) > 1 - SAME &&
                          fabs(one.distance - found[k].distance) < ROUND * cell))
      k++;
    if (k == TL_FACET_PLANES) return 0;
    if (k == count) found[count++] = one;
    one.count = found[k].count + 1;
    if (bend < found[k].bend) found[k] = one;
    found[k].count = one.count;
  }
  for (int32_t k = 0; k < count; k++) {
    if (found[k].count < 3 || found[k].bend * cell > FLATTEST) continue;
    f->normal[kept] = found[k].n;
    f->distance[kept++] = found[k].distance;
  }
  for (int32_t i = 0; i < shape->node_count; i++) {
    double above = -INFINITY;
    for (int32_t k = 0; k < kept; k++)
      above = tl_max(above, tl_dot(f->normal[k], tl_shape_node(shape, i)) - f->distance[k]);
    if (!(above < PLANE * cell && above > -ROUND * cell)) return 0;
  }
  return kept;
}

/* Where three planes meet on no outer side of any other. False: too many. */
static bool find_corners(TlFacets *f, double cell) {
  for (int32_t i = 0; i < f->plane_count; i++)
    for (int32_t j = i + 1; j < f->plane_count; j++)
      for (int32_t k = j + 1; k < f->plane_count; k++) {
        TlVec3 jk = tl_cross(f->normal[j], f->normal[k]);
        double volume = tl_dot(f->normal[i], jk);
        if (fabs(volume) < 1e-3) continue;
        TlVec3 x = tl_scale(f->distance[i], jk);
        x = tl_axpy(x, f->distance[j], tl_cross(f->normal[k], f->normal[i]));
        x = tl_axpy(x, f->distance[k], tl_cross(f->normal[i], f->normal[j]));
        x = tl_scale(1 / volume, x);
        bool wanted = true;
        for (int32_t m = 0; m < f->plane_count && wanted; m++)
          wanted = tl_dot(f->normal[m], x) < f->distance[m] + PLANE * cell;
        for (int32_t m = 0; m < f->corner_count && wanted; m++)
          wanted = tl_norm(tl_sub(f->corner[m], x)) > CORNER * cell;
        if (wanted && f->corner_count == TL_FACET_CORNERS) return false;
        if (wanted) f->corner[f->corner_count++] = x;
      }
  return true;
}

/* Where two corners lie on the same two planes. False: too many. */
static bool find_edges(TlFacets *f, double cell) {
  for (int32_t i = 0; i < f->plane_count; i++)
    for (int32_t j = i + 1; j < f->plane_count; j++) {
      TlFacetEdge edge = {.face = {i, j}};
      int count = 0;
      for (int32_t c = 0; c < f->corner_count; c++)
        if (fabs(tl_dot(f->normal[i], f->corner[c]) - f->distance[i]) < CORNER * cell &&
            fabs(tl_dot(f->normal[j], f->corner[c]) - f->distance[j]) < CORNER * cell) {
          if (count < 2) edge.corner[count] = c;
          count++;
        }
      if (count < 2) continue;
      if (count > 2 || f->edge_count == TL_FACET_EDGES) return false;
      f->edge[f->edge_count++] = edge;
    }
  return true;
}

TlFacets tl_facets_of(const TlShape *shape, const TlSpline *spline) {
  TlFacets f = {0};
  double cell = spline ? spline->spacing_m : 0;
  if (shape->closed == &tl_closed_box) {
    cell = 1e-3 * tl_min(tl_min(shape->size[0], shape->size[1]), shape->size[2]);
    for (int k = 0; k < 6; k++) {
      (&f.normal[k].x)[k / 2] = k % 2 ? -1 : 1;
      f.distance[k] = 0.5 * shape->size[k / 2];
    }
    f.plane_count = 6;
  } else if (spline) {
    f.plane_count = planes_of(shape, spline, &f);
  }
  if (f.plane_count < 4 || !find_corners(&f, cell) || !find_edges(&f, cell) ||
      f.plane_count + f.corner_count != f.edge_count + 2) /* Euler: closed */
    f.plane_count = 0;
  return f;
}

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

/* Heights of the corners of either grain over the faces of the other (side: whose face). */
typedef struct Heights {
  double over[2][TL_FACET_PLANES][TL_FACET_CORNERS], lowest[2][TL_FACET_PLANES];
} Heights;

/* Does an edge of the grain that is not `side` come nearer to that one than `far`? False only if it lies
 * beyond one of the faces as a whole. */
static bool edge_near(const Heights *h, const TlFacetQuery *q, int side, int32_t edge, double far) {
  const int32_t *corner = q->facets[1 - side]->edge[edge].corner;
  for (int32_t f = 0; f < q->facets[side]->plane_count; f++)
    if (h->over[side][f][corner[0]] > far && h->over[side][f][corner[1]] > far) return false;
  return true;
}

/* Of faces that may give the gap the corners that may be lowest over them, of edges those that may;
 * `gap` is the largest separation over the faces: no larger than the pair's. */
static void list_candidates(TlFacetPair *pair, const TlFacetQuery *q) {
  Heights h;
  double gap = -INFINITY;
  for (int side = 0; side < 2; side++)
    for (int32_t f = 0; f < q->facets[side]->plane_count; f++) {
      double low = INFINITY;
      for (int32_t c = 0; c < q->facets[1 - side]->corner_count; c++)
        low = tl_min(low, h.over[side][f][c] = above_face(q, side, f, c));
      h.lowest[side][f] = low;
      gap = tl_max(gap, low);
    }
  double more = 2 * q->skin, far = fabs(gap) + more;
  *pair = (TlFacetPair){.r0 = q->r, .t0 = q->t, .skin = q->skin};
  for (int side = 0; side < 2; side++)
    for (int32_t f = 0; f < q->facets[side]->plane_count; f++)
      for (int32_t c = 0; c < q->facets[1 - side]->corner_count; c++)
        if (h.lowest[side][f] >= gap - more && h.over[side][f][c] <= h.lowest[side][f] + more)
          add_face(pair, side, f, c);
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

/* A face's separation is that of its lowest corner: candidates of one face lie one behind the other. */
static TlFacetContact by_faces(const TlFacetPair *pair, const TlFacetQuery *q) {
  TlFacetContact best = {.gap = -INFINITY};
  for (int32_t i = 0; i < pair->face_count;) {
    int side = pair->face[i].side, face = pair->face[i].face, lowest = 0;
    double low = INFINITY;
    for (; i < pair->face_count && pair->face[i].side == side && pair->face[i].face == face; i++) {
      double above = above_face(q, side, face, pair->face[i].corner);
      if (above < low) low = above, lowest = pair->face[i].corner;
    }
    if (!(low > best.gap)) continue;
    TlVec3 out = direction_of(q, side, q->facets[side]->normal[face]);
    best.gap = low;
    best.n = tl_scale(side ? 1 : -1, out);
    best.x = tl_axpy(corner_of(q, 1 - side, lowest), -0.5 * low, out);
    best.key = (lowest * TL_FACET_PLANES + face) * 2 + side;
  }
  return best;
}

static void by_edges(const TlFacetQuery *q, int32_t a, int32_t b, TlFacetContact *best) {
  TlVec3 n, on_a, on_b;
  if (!arcs_cross(q, a, b, 0, &n)) return;
  TlVec3 from_a = corner_of(q, 0, q->facets[0]->edge[a].corner[0]),
         from_b = corner_of(q, 1, q->facets[1]->edge[b].corner[0]);
  double gap = tl_dot(n, tl_sub(from_b, from_a));
  if (!(gap > best->gap)) return;
  nearest_points(q, a, b, &on_a, &on_b);
  best->gap = gap;
  best->n = tl_scale(-1, n);
  best->x = tl_scale(0.5, tl_add(on_a, on_b));
  best->key = 2 * TL_FACET_PLANES * TL_FACET_CORNERS + a * TL_FACET_EDGES + b;
}

TlFacetContact tl_facets_gap(TlFacetPair *pair, const TlFacetQuery *q, bool *listed) {
  *listed = !pair->made || !(q->motion < pair->skin) || tl_turned_by(&q->r, &pair->r0) > TURN;
  if (*listed) list_candidates(pair, q);
  TlFacetPair every = {0}; /* too many to keep: all of them, face by face */
  TlFacetContact best = {.gap = -INFINITY};
  if (pair->made) {
    best = by_faces(pair, q);
    for (int32_t i = 0; i < pair->edge_count; i++)
      by_edges(q, pair->edge[i].a, pair->edge[i].b, &best);
    return best;
  }
  for (int side = 0; side < 2; side++)
    for (int32_t f = 0; f < q->facets[side]->plane_count; f++) {
      TlFacetContact one = {.gap = INFINITY};
      for (int32_t c = 0; c < q->facets[1 - side]->corner_count; c++) {
        every.face_count = 0;
        add_face(&every, side, f, c);
        TlFacetContact contact = by_faces(&every, q);
        if (contact.gap < one.gap) one = contact;
      }
      if (one.gap > best.gap) best = one;
    }
  for (int32_t a = 0; a < q->facets[0]->edge_count; a++)
    for (int32_t b = 0; b < q->facets[1]->edge_count; b++) by_edges(q, a, b, &best);
  return best;
}
