#include "contact/places.h"

#include "base/mem.h"
#include "contact/facet_surface.h"
#include "contact/near.h"

#include <math.h>
#include <string.h>

static const double NARROW =
    2; /* of that: how far away by its curvature a node's own place may be */
static const double ROUGH =
    0.25;                        /* slope that a surface may have between nodes beside its nodes' */
static const double TWINS = 0.6; /* node spacings: two places nearer than this are one */
static const double TOLERANCE = 1e-4; /* of the smaller radius: what a Newton step may still gain */
static const double SMALL = 0.3; /* of that: second-order change that gaps may follow without */
static const double UNEXPLAINED = 2e-3; /* of the smaller radius: below every place's parabola */
static const double AHEAD = 2;          /* skins (near.h) that a search looks ahead */
static const double BIAS =
    2e-4; /* of the smaller radius: what crossing edges must gain over faces */
static const double FLAT_RISE = 0.02,
                    FLAT_WIDTH = 0.25; /* of that: where surfaces bear beside a place */
enum { AUDITS = 8 };

/* ---- shapes ---- */

static bool is_smooth(const TlShape *s) {
  return !s->place->part && !s->place->sharp && (s->avatar || s->closed == &tl_closed_sphere);
}

bool tl_places_polyhedra(const TlShape *a, const TlShape *b) {
  return a->place->part && b->place->part;
}

bool tl_places_serves(const TlShape *a, const TlShape *b) {
  return (is_smooth(a) && is_smooth(b)) || tl_places_polyhedra(a, b);
}

void tl_place_cache_free(TlPlaceCache *cache) {
  if (!cache) return;
  tl_free(cache->facets);
  tl_free(cache);
}

/* Of these shapes, so of those that had the pair's ids before. */
static TlStatus want_cache(const TlShape *const shape[2], TlPlaceCache **cache) {
  if (!*cache) TL_TRY(TL_NEW(*cache, 1));
  TlPlaceCache *c = *cache;
  if (c->shape[0] == shape[0] && c->shape[1] == shape[1]) return TL_OK;
  tl_free(c->facets);
  *c = (TlPlaceCache){.shape = {shape[0], shape[1]}};
  return TL_OK;
}

/* ---- the pair ---- */

/* Frame of a, metres; b's point of x is r x + t. */
typedef struct Both {
  const TlPlaceQuery *query;
  const TlShape *shape[2];
  double scale[2];
  TlSmoothPair f;
  double spacing;          /* the smaller one of nodes */
  int side;                /* whose nodes have it, and are searched */
  double slope, out, face; /* of phi in the grids and beyond; least phi on the grids' faces */
} Both;

static bool is_twin(const TlPlacePair *pair, int32_t except, TlVec3 x, double near) {
  return tl_places_beside(pair->place, pair->count, except, x, near);
}

static void drop(TlPlacePair *pair, int32_t i) {
  pair->count--;
  memmove(&pair->place[i], &pair->place[i + 1], (size_t)(pair->count - i) * sizeof *pair->place);
}

/* From x; a place that is new and closer than `below` is kept, of too many the deepest. */
static void try_start(Both *p, TlPlacePair *pair, TlVec3 x, double below) {
  TlKeptPlace place = {.x = x};
  TlBeside known = {pair->place, pair->count, TWINS * p->spacing};
  if (!tl_descend(&p->f, &place, true, &known) || !(place.gap < below)) return;
  if (pair->count == TL_PLACES_MOST) {
    int32_t high = 0;
    for (int32_t i = 1; i < pair->count; i++)
      if (pair->place[i].gap > pair->place[high].gap) high = i;
    if (place.gap >= pair->place[high].gap) return;
    drop(pair, high);
  }
  place.key = pair->next_key++;
  pair->place[pair->count++] = place;
}

/* Does no place's parabola explain a gap at x? */
static bool unexplained(const Both *p, const TlPlacePair *pair, TlVec3 x, double gap) {
  for (int32_t i = 0; i < pair->count; i++) {
    const TlKeptPlace *k = &pair->place[i];
    TlVec3 d = tl_sub(x, k->x);
    double u = tl_dot(d, k->u), v = tl_dot(d, k->v);
    double model = k->gap + 0.5 * (u * u * k->bend[0] + v * v * k->bend[2]) + u * v * k->bend[1];
    if (gap >= model - UNEXPLAINED * p->f.size) return false;
  }
  return true;
}

/* ---- the search ---- */

static TlVec3 node_of(const Both *p, int32_t node) {
  TlVec3 own = tl_scale(p->scale[p->side], tl_shape_node(p->shape[p->side], node));
  return p->side ? tl_mat_tvec(p->f.r, tl_sub(own, p->f.t)) : own;
}

/* May a place below the limit lie beside this node? Surfaces come closer there by TL_NODE_COVER spacings times the slope
 * between them at most. Of a node that others beside it are lower than, only a place that its own curvatures show
 * NARROW times as far away counts: others have nodes of their own. */
static bool may_lead(Both *p, const TlPoint *point, TlVec3 x, bool lowest, double limit) {
  TlSym3 h;
  double cover = TL_NODE_COVER * p->spacing;
  TlPlaceLook look = tl_look_at(&p->f, x, lowest ? NULL : &h);
  TlVec3 across = tl_axpy(look.sum, -tl_dot(look.sum, look.n), look.n);
  if (point->gap - cover * (tl_norm(across) + ROUGH) >= limit) return false;
  if (lowest) return true;
  return tl_norm(tl_first_step(&p->f, &look, &h)) < NARROW * cover;
}

/* Marks listed nodes that are lower than their listed neighbours. rank: [node_count] scratch. */
static void mark_lower(const TlShape *s, TlPoint *point, size_t count, int32_t *rank) {
  for (int32_t i = 0; i < s->node_count; i++) rank[i] = -1;
  for (size_t i = 0; i < count; i++) rank[point[i].key >> 1] = (int32_t)i;
  for (size_t i = 0; i < count; i++) {
    const int32_t *near = s->place->near[point[i].key >> 1];
    bool lower = tl_node_lower(point, i, near, TL_PLACE_NEIGHBOURS, rank);
    point[i].n.x = lower; /* its normal is not needed */
  }
}

/* Nodes of the side searched that had a gap below the limit at a relative pose, appended; what matters of
 * them is gap and key. The same whenever it is asked. */
static TlStatus list_nodes(const Both *p, const TlMat3 *r, TlVec3 t, double limit,
                           TlPoints *points) {
  const TlPlaceQuery *q = p->query;
  int side = p->side;
  TlWanted wanted = {.margin = limit, .band = INFINITY, .least = INFINITY};
  double from = p->scale[side], to = p->scale[1 - side];
  TlNarrowSide nodes = {.colliders = q->colliders,
                        .from = side ? q->b : q->a,
                        .to = side ? q->a : q->b,
                        .turn_from = side ? q->turn_b : q->turn_a,
                        .turn_to = side ? q->turn_a : q->turn_b,
                        .side = side,
                        .map = {.ratio = from / to}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) nodes.map.m.m[i][j] = (side ? r->m[j][i] : r->m[i][j]) * from / to;
  nodes.map.t = tl_scale((side ? -1 : 1) / to, side ? tl_mat_tvec(*r, t) : t);
  return tl_narrow_tree(&nodes, &wanted, points);
}

/* How far beyond the margin a search looks, so that it need not be made again soon: not at all where the pair moves
 * so fast that it must be all the same. */
static double ahead_of(const Both *p) {
  double ahead = AHEAD * tl_near_skin(p->query->travel, p->f.size);
  return p->slope * p->query->travel < ahead ? ahead : 0;
}

static void note_audit(TlPlaceCache *cache, const TlPlacePair *pair, const TlPoint *point,
                       size_t count) {
  size_t every = count > 0 ? 1 + (count - 1) / TL_PLACE_AUDIT : 1;
  cache->listed = true;
  cache->r0 = pair->r0;
  cache->t0 = pair->t0;
  cache->audit_count = 0;
  for (size_t i = 0; i < count; i += every)
    cache->audit[cache->audit_count++] = (int32_t)(point[i].key >> 1);
}

/* The nodes of the pair's last search, listed again if they are not known. */
static TlStatus want_audit(const Both *p, const TlPlacePair *pair, TlPlaceCache **cache,
                           TlPoints *points) {
  TL_TRY(want_cache(p->shape, cache));
  TlPlaceCache *c = *cache;
  if (c->listed && memcmp(&c->r0, &pair->r0, sizeof c->r0) == 0 &&
      memcmp(&c->t0, &pair->t0, sizeof c->t0) == 0)
    return TL_OK;
  size_t had = points->count;
  TL_TRY(list_nodes(p, &pair->r0, pair->t0, pair->cutoff + TL_NODE_COVER * p->spacing, points));
  note_audit(c, pair, points->point + had, points->count - had);
  points->count = had;
  return TL_OK;
}

/* Nodes lower than their neighbours come first, by depth; their number. */
static size_t lowest_first(TlPoint *point, size_t count) {
  size_t lowest = 0;
  for (size_t i = 0; i < count; i++) {
    if (!(point[i].n.x > 0)) continue;
    TlPoint p = point[i];
    point[i] = point[lowest];
    size_t k = lowest++;
    for (; k > 0 && tl_point_deeper(&p, &point[k - 1]); k--) point[k] = point[k - 1];
    point[k] = p;
  }
  return lowest;
}

/* All places anew: known ones first, then from nodes lower than their neighbours, then from nodes that
 * none of these explains. */
static TlStatus search(Both *p, TlPlacePair *pair, TlPlaceCache **cache, TlPoints *points) {
  const TlPlaceQuery *q = p->query;
  size_t had = points->count;
  pair->made = false;
  pair->cutoff = q->margin + ahead_of(p);
  pair->r0 = p->f.r;
  pair->t0 = p->f.t;
  pair->audit_next = 0;
  TL_TRY(want_cache(p->shape, cache));
  TL_TRY(list_nodes(p, &p->f.r, p->f.t, pair->cutoff + TL_NODE_COVER * p->spacing, points));
  TlPoint *point = points->point + had;
  size_t count = points->count - had;
  points->lists++;
  const TlShape *asks = p->shape[p->side];
  TL_TRY(TL_RESERVE(points->queue, points->queue_capacity, (size_t)asks->node_count));
  mark_lower(asks, point, count, points->queue);
  note_audit(*cache, pair, point, count);
  for (int32_t i = pair->count - 1; i >= 0; i--)
    if (!tl_descend(&p->f, &pair->place[i], false, NULL) || !(pair->place[i].gap < pair->cutoff) ||
        is_twin(pair, i, pair->place[i].x, TWINS * p->spacing))
      drop(pair, i);
  size_t lowest = lowest_first(point, count);
  for (size_t i = 0; i < count; i++) {
    TlVec3 x = node_of(p, (int32_t)(point[i].key >> 1));
    if (i >= lowest && !unexplained(p, pair, x, point[i].gap)) continue;
    if (is_twin(pair, -1, x, TWINS * p->spacing)) continue;
    if (may_lead(p, &point[i], x, i < lowest, pair->cutoff)) try_start(p, pair, x, pair->cutoff);
  }
  points->count = had;
  for (int32_t i = 0; i < pair->count; i++) {
    pair->place[i].motion = 0;
    pair->place[i].last = true;
  }
  pair->made = true;
  return TL_OK;
}

/* On the line of centres, as far from each as its radius has of the sum. */
static TlVec3 between_centres(const Both *p) {
  const TlColliders *c = p->query->colliders;
  double a = c->radius[p->query->a], b = c->radius[p->query->b];
  return tl_scale(a / (a + b), tl_scale(-1, tl_mat_tvec(p->f.r, p->f.t)));
}

/* Where each centre lies deep inside the other grain no surface faces the other one, and no descent ends at a place. A
 * negative F anywhere proves the overlap: the place is then the point on the line of centres, and the normal that line. */
static void add_embedded(Both *p, TlPlacePair *pair) {
  TlVec3 x = between_centres(p), n = tl_vec3(0, 0, 1), u, v;
  double f = tl_look_at(&p->f, x, NULL).f, curved = 1 / p->f.size;
  if (!(f < 0)) return;
  if (tl_norm2(x) > 0) n = tl_unit(tl_scale(-1, x));
  tl_tangents(n, &u, &v);
  pair->place[pair->count++] = (TlKeptPlace){.x = x,
                                             .n = n,
                                             .u = u,
                                             .v = v,
                                             .bend = {curved, 0, curved},
                                             .gap = f,
                                             .last = true,
                                             .key = pair->next_key++};
  pair->made = false; /* it is sought anew each time */
}

/* Two convex shapes: from the place known, or from the line of centres. One that is thin may be a long way off. */
static void search_convex(Both *p, TlPlacePair *pair) {
  enum { DESCENTS = 4 };
  TlKeptPlace *place = &pair->place[0];
  bool fresh = !pair->made;
  if (fresh) *place = (TlKeptPlace){.x = between_centres(p), .key = pair->next_key++};
  pair->count = tl_descend(&p->f, place, fresh, NULL);
  for (int k = 1; k < DESCENTS && pair->count > 0 && !p->f.settled; k++)
    pair->count = tl_descend(&p->f, place, false, NULL);
  if (!p->f.settled) pair->count = 0;
  place->motion = 0;
  place->last = true;
  pair->r0 = p->f.r;
  pair->t0 = p->f.t;
  pair->made = pair->count == 1; /* else it starts from the line of centres again */
}

/* Between thin discs or needles the line of centres may begin where no surface faces the other, and its descent ends
 * nowhere: their one place is the deepest of those that their nodes lead to. */
static TlStatus search_convex_by_nodes(Both *p, TlPlacePair *pair, TlPlaceCache **cache,
                                       TlPoints *points) {
  TL_TRY(search(p, pair, cache, points));
  for (int32_t i = 1; i < pair->count; i++)
    if (pair->place[i].gap < pair->place[0].gap) pair->place[0] = pair->place[i];
  pair->count = pair->count > 0;
  pair->made = pair->count == 1;
  return TL_OK;
}

/* ---- from step to step ---- */

/* No point of the one has moved by more than this since the last search, seen from the other; from
 * either side, since a large grain's turn moves its own frame's points far. */
static double motion_since(const Both *p, const TlMat3 *r0, TlVec3 t0) {
  const TlColliders *c = p->query->colliders;
  double turn = tl_turned_by(&p->f.r, r0);
  TlVec3 b = tl_mat_tvec(p->f.r, p->f.t), b0 = tl_mat_tvec(*r0, t0);
  return tl_min(turn * c->radius[p->query->a] + tl_norm(tl_sub(p->f.t, t0)),
                turn * c->radius[p->query->b] + tl_norm(tl_sub(b, b0)));
}

static bool far_enough(const Both *p, double gap, double motion, double margin) {
  return tl_min(gap, p->face) - p->slope * motion >= margin || gap - p->out * motion >= margin;
}

/* Gaps that follow the displacement since the places were last evaluated: only where what that leaves
 * out, ½ (slip sqrt(k/4) + turn sqrt(r))² with the largest curvature k and radius r of F, is small. */
static bool follow(const Both *p, const TlPlacePair *pair, double motion, double *gap) {
  double turn = tl_turned_by(&p->f.r, &pair->r1), most = 2 * SMALL * p->f.tolerance;
  double sharpest = 0, flattest = 0;
  for (int32_t i = 0; i < pair->count; i++) {
    const double *h = pair->place[i].bend;
    double trace = h[0] + h[2], det = h[0] * h[2] - h[1] * h[1];
    sharpest = tl_max(sharpest, trace);
    flattest = tl_max(flattest, trace / det);
  }
  double bent = turn * sqrt(flattest), steep = 0.5 * sqrt(sharpest);
  if (bent * bent > most) return false;
  for (int32_t i = 0; i < pair->count; i++) {
    const TlKeptPlace *k = &pair->place[i];
    gap[i] = k->gap;
    if (!k->last) {
      if (!far_enough(p, k->gap, motion + k->motion, p->query->margin)) return false;
      continue;
    }
    TlVec3 displacement = tl_sub(tl_add(tl_mat_vec(p->f.r, k->x), p->f.t),
                                 tl_add(tl_mat_vec(pair->r1, k->x), pair->t1));
    TlVec3 n = tl_mat_vec(pair->r1, k->n);
    double along = tl_dot(displacement, n),
           slip = sqrt(tl_max(tl_norm2(displacement) - along * along, 0));
    if ((slip * steep + bent) * (slip * steep + bent) > most) return false;
    gap[i] += along;
  }
  return true;
}

/* Evaluates the places that may be wanted; a few nodes of the last search on the way. */
static void refresh(Both *p, TlPlacePair *pair, const TlPlaceCache *cache, double motion) {
  double near = TWINS * p->spacing;
  for (int32_t i = pair->count - 1; i >= 0; i--) {
    TlKeptPlace *k = &pair->place[i];
    k->last = false;
    if (far_enough(p, k->gap, motion + k->motion, p->query->margin)) continue;
    if (!tl_descend(&p->f, k, false, NULL) || is_twin(pair, i, k->x, 0.5 * near)) {
      drop(pair, i);
      continue;
    }
    k->motion = motion;
    k->last = true;
  }
  for (int n = 0; n < AUDITS && n < cache->audit_count; n++) {
    TlVec3 x = node_of(p, cache->audit[(pair->audit_next + n) % cache->audit_count]), g;
    TlVec3 y = p->side ? x : tl_add(tl_mat_vec(p->f.r, x), p->f.t);
    double gap = tl_smooth_phi(&p->f.field[1 - p->side], y, &g, NULL);
    p->f.lookups++;
    if (!(gap < p->query->margin + ROUGH * TL_NODE_COVER * p->spacing)) continue;
    if (!unexplained(p, pair, x, gap) || is_twin(pair, -1, x, near)) continue;
    int32_t next = pair->next_key;
    try_start(p, pair, x, pair->cutoff);
    for (int32_t i = 0; i < pair->count; i++)
      if (pair->place[i].key >= next) pair->place[i].motion = motion, pair->place[i].last = true;
  }
  pair->audit_next = (pair->audit_next + AUDITS) % (1 << 20);
}

static Both both_of(const TlPlaceQuery *q) {
  const TlColliders *c = q->colliders;
  Both p = {.query = q,
            .shape = {c->shape[q->a], c->shape[q->b]},
            .scale = {c->scale[q->a], c->scale[q->b]},
            .f = {.field = {tl_smooth_of(c, q->a), tl_smooth_of(c, q->b)},
                  .r = tl_mat_tmul(*q->turn_b, *q->turn_a),
                  .t = tl_mat_tvec(*q->turn_b, tl_sub(c->position[q->a], c->position[q->b])),
                  .size = tl_min(c->radius[q->a], c->radius[q->b])},
            .face = INFINITY};
  for (int s = 0; s < 2; s++) {
    const TlPlaceShape *place = p.shape[s]->place;
    double cell = place->spline.spacing_m * p.scale[s], spacing = place->spacing * p.scale[s];
    p.f.cell = tl_max(p.f.cell, cell);
    if (spacing > 0 && !(p.spacing > 0 && p.spacing <= spacing)) p.spacing = spacing, p.side = s;
    p.slope = tl_max(p.slope, place->slope);
    p.face = tl_min(p.face, p.shape[s]->phi_min_face * p.scale[s]);
  }
  if (!(p.f.cell > 0)) p.f.cell = 0.05 * p.f.size;
  p.out = sqrt(1 + p.slope * p.slope);
  p.f.tolerance = (q->tolerance > 0 ? q->tolerance : TOLERANCE) * p.f.size;
  return p;
}

static TlStatus append(const Both *p, const TlPlacePair *pair, const double *gap,
                       TlPoints *points) {
  const TlPlaceQuery *q = p->query;
  TlVec3 centre = q->colliders->position[q->a];
  for (int32_t i = 0; i < pair->count; i++) {
    const TlKeptPlace *k = &pair->place[i];
    if (!(gap[i] >= q->margin))
      TL_TRY(tl_points_add(points, (TlPoint){.p = tl_add(centre, tl_mat_vec(*q->turn_a, k->x)),
                                             .n = tl_mat_vec(*q->turn_a, k->n),
                                             .gap = gap[i],
                                             .key = TL_PLACE_KEY - 1 - (int64_t)k->key}));
  }
  return TL_OK;
}

/* Every part of the one against every part of the other. */
static TlStatus query_polyhedra(const Both *p, TlPlaceCache **cache, TlPoints *points) {
  const TlPlaceQuery *q = p->query;
  const TlPlaceShape *a = p->shape[0]->place, *b = p->shape[1]->place;
  int parts = a->part_count * b->part_count;
  TlFacetPair none[TL_FACET_PARTS * TL_FACET_PARTS], *kept = none;
  if (cache) {
    TL_TRY(want_cache(p->shape, cache));
    if (!(*cache)->facets) TL_TRY(TL_NEW((*cache)->facets, (size_t)parts));
    kept = (*cache)->facets;
  } else {
    for (int k = 0; k < parts; k++) none[k].made = false;
  }
  TlVec3 centre = q->colliders->position[q->a];
  for (int k = 0; k < parts; k++) {
    TlFacetQuery exact = {.facets = {&a->part[k / b->part_count], &b->part[k % b->part_count]},
                          .scale = {p->scale[0], p->scale[1]},
                          .r = p->f.r,
                          .t = p->f.t,
                          .radius = {q->colliders->radius[q->a], q->colliders->radius[q->b]},
                          .motion = kept[k].made ? motion_since(p, &kept[k].r0, kept[k].t0) : 0,
                          .skin = tl_near_skin(q->travel, p->f.size),
                          .bias = BIAS * p->f.size,
                          .margin = q->margin};
    TlFacetContact found[TL_FACET_CONTACTS];
    bool listed;
    int count = tl_facets_contacts(&kept[k], &exact, found, &listed);
    points->lists += listed;
    if (q->surface) {
      TlFacetFrame frame = {centre, *q->turn_a, TL_PLACE_KEY - 1 - (int64_t)k * TL_FACET_PIECES, 0};
      for (int i = 0; i < count; i++) frame.depth = tl_max(frame.depth, -found[i].gap);
      if (frame.depth > 0) TL_TRY(tl_facet_surface(&exact, &frame, points));
      continue;
    }
    for (int i = 0; i < count; i++)
      TL_TRY(tl_points_add(points,
                           (TlPoint){.p = tl_add(centre, tl_mat_vec(*q->turn_a, found[i].x)),
                                     .n = tl_mat_vec(*q->turn_a, found[i].n),
                                     .gap = found[i].gap,
                                     .key = TL_PLACE_KEY - 1 - (int64_t)found[i].key * parts - k}));
  }
  return TL_OK;
}

/* Is a place so flat that the surfaces come no farther apart than FLAT_RISE within FLAT_WIDTH of it? */
static bool any_flat(const Both *p, const TlPlacePair *pair, const double *gap) {
  double least = 2 * FLAT_RISE / (FLAT_WIDTH * FLAT_WIDTH * p->f.size);
  for (int32_t i = 0; i < pair->count; i++) {
    const double *h = pair->place[i].bend;
    double mean = 0.5 * (h[0] + h[2]), half = 0.5 * (h[0] - h[2]);
    if (gap[i] < p->query->margin && mean - sqrt(half * half + h[1] * h[1]) < least) return true;
  }
  return false;
}

/* The gap below which places are wanted: from the least F that is known, for F anywhere is no less than the
 * nearest place's. On the line of centres one look tells, and kept places have moved by no more than the
 * pair. */
static double margin_of(Both *p, const TlPlacePair *pair) {
  const TlPlaceQuery *q = p->query;
  double least = tl_look_at(&p->f, between_centres(p), NULL).f;
  double motion = pair->made ? motion_since(p, &pair->r1, pair->t1) : 0;
  for (int32_t i = 0; pair->made && i < pair->count; i++)
    if (pair->place[i].last) least = tl_min(least, pair->place[i].gap + p->out * motion);
  return tl_min(q->margin, tl_max(tl_max(least, 0) + q->band, q->reach));
}

TlStatus tl_places_query(TlPlacePair *pair, TlPlaceCache **cache, const TlPlaceQuery *query,
                         TlPoints *points, bool *flat) {
  Both p = both_of(query);
  TlPlaceCache *own = NULL;
  if (tl_places_polyhedra(p.shape[0], p.shape[1])) return query_polyhedra(&p, cache, points);
  bool convex = p.shape[0]->place->convex && p.shape[1]->place->convex;
  double gap[TL_PLACES_MOST], motion = 0;
  TlStatus status = TL_OK;
  bool kept = convex && pair->made && pair->place[0].last; /* needs no certificate to be followed */
  if (pair->made && !kept) motion = motion_since(&p, &pair->r0, pair->t0);
  bool complete = pair->made && (convex || far_enough(&p, pair->cutoff, motion, query->margin));
  if (complete && follow(&p, pair, motion, gap)) {
    if (flat) *flat = any_flat(&p, pair, gap);
    return append(&p, pair, gap, points);
  }
  TlPlaceQuery nearer = *query;
  if (!convex && query->band > 0 && !query->surface) {
    nearer.margin = margin_of(&p, pair);
    p.query = &nearer;
    complete = pair->made && far_enough(&p, pair->cutoff, motion, nearer.margin);
    if (complete && follow(&p, pair, motion, gap)) {
      points->lookups += p.f.lookups;
      if (flat) *flat = any_flat(&p, pair, gap);
      return append(&p, pair, gap, points);
    }
  }
  if (kept) motion = motion_since(&p, &pair->r0, pair->t0);
  if (!convex && !complete) {
    status = search(&p, pair, cache ? cache : &own, points);
  } else if (!convex) {
    TlPlaceCache **audit = cache ? cache : &own;
    status = want_audit(&p, pair, audit, points);
    if (status == TL_OK) refresh(&p, pair, *audit, motion);
  } else if (complete && far_enough(&p, pair->place[0].gap, motion, query->margin)) {
    pair->place[0].last = false;
  } else {
    search_convex(&p, pair);
    if (pair->count == 0) status = search_convex_by_nodes(&p, pair, cache ? cache : &own, points);
  }
  tl_place_cache_free(own);
  if (p.f.broken) return tl_fail(TL_EINPUT, "the distance of a grain is not a number");
  if (pair->count == 0 && status == TL_OK) add_embedded(&p, pair);
  pair->r1 = p.f.r;
  pair->t1 = p.f.t;
  points->lookups += p.f.lookups;
  for (int32_t i = 0; i < pair->count; i++) gap[i] = pair->place[i].gap;
  if (flat) *flat = any_flat(&p, pair, gap);
  return status == TL_OK ? append(&p, pair, gap, points) : status;
}
