#include "contact/search.h"

#include "base/par.h"
#include "contact/ball_facets.h"
#include "contact/edges.h"
#include "contact/facet_surface.h"
#include "contact/patches.h"
#include "contact/smooth_facets.h"
#include "contact/tractions.h"
#include "contact/wall_crests.h"
#include "contact/wall_facets.h"
#include "contact/wall_places.h"
#include "contact/ground.h"
#include "model/shapes.h"

#include <math.h>
#include <string.h>

/* Work on an item, about: for tl_par_pays. */
static const double TURN_NS = 15, LIGHT_NS = 100, SEARCH_NS = 1000;

/* Of a place's gap: then a patch need not look for its middle again. */
static const double FOR_PATCHES = 2e-6;

/* ---- one slot ---- */

/* A pair of which one has no nodes, and no list serves it: one lookup may tell. */
static bool apart(const TlNearQuery *q, const TlWanted *wanted, TlPoints *points) {
  const TlColliders *x = q->colliders;
  const TlShape *shape_a = x->shape[q->a], *shape_b = x->shape[q->b];
  points->lookups++;
  if (tl_shape_alone(shape_a)) return tl_narrow_sphere_apart(x, q->a, q->b, q->turn_b, wanted);
  if (tl_shape_alone(shape_b)) return tl_narrow_sphere_apart(x, q->b, q->a, q->turn_a, wanted);
  if (shape_b->closed) return tl_narrow_closed_apart(x, q->a, q->b, q->turn_b, wanted);
  return tl_narrow_closed_apart(x, q->b, q->a, q->turn_a, wanted);
}

/* A sphere that seeks, from the grain's listed nodes. Its own turn is as good as the grain's: seen
 * from there only its centre moves. */
static TlStatus seek(const TlNearQuery *query, TlNearPair **list, bool first, TlWanted *wanted,
                     TlPoints *points) {
  int64_t sphere = first ? query->a : query->b, grain = first ? query->b : query->a;
  TlNearQuery q = *query;
  TlWanted starts = tl_narrow_starts(q.colliders, grain, wanted);
  size_t had = points->count;
  q.a = grain;
  q.b = sphere;
  q.turn_a = q.turn_b = first ? query->turn_b : query->turn_a;
  q.both = false;
  q.band = starts.band;
  q.reach = 0;
  q.above = starts.band;
  if (tl_narrow_holds(q.colliders, sphere, grain)) q.near = NULL; /* nodes alone do not tell */
  TL_TRY(tl_near_points(list, &q, &starts, points));
  return tl_narrow_seek(q.colliders, sphere, grain, q.turn_a, first ? 0 : 1, had, wanted, points);
}

/* Nodes of either grain, or of the lower id only; a closed-form sphere speaks for both. */
static TlStatus node_points(const TlSearchOptions *options, const TlNearQuery *query,
                            TlNearPair **lists, TlWanted *wanted, TlPoints *points) {
  const TlColliders *x = query->colliders;
  int64_t a = query->a, b = query->b;
  const TlShape *shape_a = x->shape[a], *shape_b = x->shape[b];
  bool all = options->how == TL_SEARCH_ALL;
  TlNarrowSearch nodes = all ? tl_narrow_all_nodes : tl_narrow_nodes;
  bool follows = shape_a->node_count == 0 || shape_b->node_count == 0;
  bool balls = tl_shape_alone(shape_a) && tl_shape_alone(shape_b); /* one lookup in any case */
  if (follows && lists && options->how == TL_SEARCH_NEAR) {
    if (tl_narrow_seeks(x, a, b)) return seek(query, lists, true, wanted, points);
    if (tl_narrow_seeks(x, b, a)) return seek(query, lists, false, wanted, points);
  }
  if (!all && follows && !balls && apart(query, wanted, points)) return TL_OK;
  if (tl_shape_alone(shape_a)) return nodes(x, a, b, 0, wanted, points);
  if (tl_shape_alone(shape_b)) return nodes(x, b, a, 1, wanted, points);
  bool listed = shape_a->node_count > 0 && (shape_b->node_count > 0 || !query->both);
  if (listed && lists && options->how == TL_SEARCH_NEAR)
    return tl_near_points(lists, query, wanted, points);
  TL_TRY(nodes(x, a, b, 0, wanted, points));
  return query->both ? nodes(x, b, a, 1, wanted, points) : TL_OK;
}

/* Two spheres in closed form need no search. Patches are of two convex grains of grids, or of two
 * polyhedra: those of others open and merge with each other, which the energy of a deep overlap does
 * not survive; a sphere bears at its own points. */
static bool by_places(const TlSearchOptions *options, const TlShape *a, const TlShape *b) {
  int spheres = tl_shape_alone(a) + tl_shape_alone(b);
  if (options->edges != TL_EDGES_PLACES || spheres == 2) return false;
  if (!options->surface) return tl_places_serves(a, b) || tl_ball_facets_serves(a, b);
  bool whole = tl_places_polyhedra(a, b) || (a->place->convex && b->place->convex);
  return whole && spheres == 0 && tl_places_serves(a, b);
}

bool tl_scan_between_nodes(const TlSearchOptions *options, const TlShape *a, const TlShape *b) {
  return options->edges == TL_EDGES_REFINE ||
         (options->edges == TL_EDGES_PLACES && !options->surface && !by_places(options, a, b));
}

/* What the pair knew of its places, and where to note what it knows now. */
typedef struct Known {
  const TlPairState *memory; /* NULL: nothing */
  TlPlaceTally *tally;       /* NULL: nowhere */
  int64_t slot;
} Known;

/* Smooth surfaces that bear on each other over a wide place need nodes beside it, or nothing would
 * carry a moment. */
static TlStatus place_points(const TlSearchOptions *options, const TlNearQuery *query,
                             TlNearPair **lists, const Known *known, TlWanted *wanted,
                             TlPoints *points) {
  const TlColliders *x = query->colliders;
  const TlShape *a = x->shape[query->a], *b = x->shape[query->b];
  int64_t low = x->id[query->a], high = x->id[query->b];
  bool polyhedra = tl_places_polyhedra(a, b), flat = false;
  if (tl_ball_facets_serves(a, b))
    return tl_ball_facets(x, query->a, query->b, query->turn_a, query->turn_b, wanted->margin,
                          points);
  TlPlacePair pair;
  TlPlaceCache **cache = NULL;
  TlPlaceQuery places = {.colliders = x,
                         .a = query->a,
                         .b = query->b,
                         .turn_a = query->turn_a,
                         .turn_b = query->turn_b,
                         .margin = wanted->margin,
                         .band = wanted->band,
                         .reach = wanted->reach,
                         .travel = query->travel,
                         .tolerance = options->surface ? FOR_PATCHES : 0,
                         .surface = options->surface};
  if (lists && (polyhedra || !a->place->convex || !b->place->convex))
    TL_TRY(tl_near_place_cache(lists, &cache));
  if (polyhedra) return tl_places_query(NULL, cache, &places, points, NULL);
  if (known->memory)
    tl_place_recall(known->memory, low, high, &pair);
  else
    tl_place_pair_clear(&pair);
  size_t had = points->count;
  TL_TRY(tl_places_query(&pair, cache, &places, points, &flat));
  if (known->tally) TL_TRY(tl_place_note(known->tally, known->slot, low, high, &pair));
  if (options->surface) {
    tl_patches_of_pair(&places, had, points);
    return TL_OK;
  }
  return flat ? node_points(options, query, lists, wanted, points) : TL_OK;
}

/* A smooth grain over the flat end of a cylinder, a platen as a rule, meets a plane. */
static bool over_end(const TlSearchOptions *options, const TlNearQuery *query, double margin,
                     bool *first, TlBoundaryPlane *plane) {
  const TlColliders *x = query->colliders;
  if (options->edges != TL_EDGES_PLACES || options->surface) return false;
  *first = x->shape[query->a]->avatar != NULL;
  return *first ? tl_wall_end(x, query->a, query->b, query->turn_a, query->turn_b, margin, plane)
                : tl_wall_end(x, query->b, query->a, query->turn_b, query->turn_a, margin, plane);
}

static TlStatus end_points(const TlSearchOptions *options, const TlNearQuery *query,
                           TlNearPair **lists, bool first, const TlBoundaryPlane *plane,
                           const TlWanted *wanted, TlPoints *points) {
  const TlColliders *x = query->colliders;
  const TlBoundary end = {.kind = &tl_boundary_plane, .data = plane};
  TlNearQuery q = *query;
  TlWanted seen =
      tl_wanted_beside(wanted, tl_wall_places_reach(x, first ? query->a : query->b, &end));
  size_t had = points->count;
  q.both = false;
  if (!first) {
    q.a = query->b, q.b = query->a;
    q.turn_a = query->turn_b, q.turn_b = query->turn_a;
  }
  TL_TRY(node_points(options, &q, lists, &seen, points));
  TL_TRY(tl_wall_places(x, q.a, q.turn_a, &end, wanted, false, had, points));
  for (size_t k = had; !first && k < points->count; k++)
    points->point[k].n = tl_scale(-1, points->point[k].n);
  return TL_OK;
}

/* With `edges: refine` also the places between nodes; they are sought from nodes somewhat beyond
 * the margin. */
static TlStatus any_points(const TlSearchOptions *options, const TlNearQuery *query,
                           TlNearPair **lists, const Known *known, TlWanted *wanted,
                           TlPoints *points) {
  const TlColliders *x = query->colliders;
  const TlShape *a = x->shape[query->a], *b = x->shape[query->b];
  if (by_places(options, a, b)) return place_points(options, query, lists, known, wanted, points);
  if (options->elements && query->both && tl_tractions_serve(a, b))
    return tl_tractions_of_pair(query, options->finer, options->how == TL_SEARCH_ALL ? NULL : lists,
                                points);
  TlBoundaryPlane plane;
  bool first;
  if (over_end(options, query, wanted->margin, &first, &plane))
    return end_points(options, query, lists, first, &plane, wanted, points);
  double reach = tl_scan_between_nodes(options, a, b) ? tl_edges_reach(x, query->a, query->b) : 0;
  TlWanted seen = reach > 0 ? tl_wanted_beside(wanted, reach) : *wanted;
  TL_TRY(node_points(options, query, lists, &seen, points));
  if (reach == 0 || points->count == 0) return TL_OK;
  bool features = options->edges == TL_EDGES_PLACES && tl_smooth_facets_serves(a, b);
  return (features ? tl_smooth_facets : tl_edges_refine)(
      query->colliders, query->a, query->b, query->turn_a, query->turn_b, wanted, points);
}

static TlStatus pair_points(const TlSearchOptions *options, const TlNearQuery *query,
                            TlNearPair **lists, const Known *known, TlWanted *wanted,
                            TlPoints *points) {
  TlStatus status = any_points(options, query, lists, known, wanted, points);
  if (status == TL_OK) return TL_OK;
  const TlColliders *b = query->colliders;
  return tl_context(status, "grains %lld and %lld (avatars %lld and %lld)",
                    (long long)b->id[query->a], (long long)b->id[query->b],
                    (long long)b->avatar_id[query->a], (long long)b->avatar_id[query->b]);
}

TlStatus tl_scan_pair(const TlSearchOptions *options, TlNear *near, const TlPairState *memory,
                      const TlColliders *b, int64_t i, int64_t j, const TlMargin *m,
                      TlPoints *points) {
  TlWanted wanted = {m->margin, m->margin, INFINITY, 0};
  TlMat3 turn_i = tl_quat_matrix(b->rotation[i]), turn_j = tl_quat_matrix(b->rotation[j]);
  TlNearQuery query = {.colliders = b,
                       .a = i,
                       .b = j,
                       .turn_a = &turn_i,
                       .turn_b = &turn_j,
                       .both = options->sides == TL_SIDES_BOTH,
                       .travel = m->travel,
                       .size = m->size,
                       .band = m->band,
                       .reach = m->reach};
  Known known = {.memory = memory};
  return pair_points(options, &query, tl_near_find(near, b->id[i], b->id[j]), &known, &wanted,
                     points);
}

/* The faces of a polyhedron below a plane. */
static TlStatus faces_at_plane(const TlColliders *b, int64_t i, const TlMat3 *turn,
                               const TlBoundary *boundary, TlPoints *points) {
  const TlPlaceShape *place = b->shape[i]->place;
  TlVec3 n;
  double phi;
  if (!tl_boundary_phi(boundary, b->position[i], &phi, &n)) return TL_OK;
  for (int k = 0; k < place->part_count; k++) {
    TlFacetFrame frame = {b->position[i], *turn, TL_PLACE_KEY - 1 - (int64_t)k * TL_FACET_PIECES,
                          0};
    TL_TRY(tl_facet_surface_at_plane(&place->part[k], b->scale[i], n,
                                     tl_dot(n, b->position[i]) - phi, &frame, points));
  }
  return TL_OK;
}

static TlStatus boundary_nodes(const TlSearchOptions *options, TlNear *near, const TlColliders *b,
                               int64_t i, const TlMat3 *turn, int32_t k, const TlBoundary *boundary,
                               double travel, TlWanted *wanted, TlPoints *points) {
  /* the lists' bounds are of walls that stand: driven ones are searched through the tree */
  TlStatus status;
  size_t had = points->count;
  bool lists = options->how == TL_SEARCH_NEAR && !boundary->drive;
  bool places = options->edges == TL_EDGES_PLACES && !boundary->kind->relief;
  /* a patch is that of a flat wall: one with edges is met by elements */
  bool elements = options->elements && tl_tractions_serve(b->shape[i], b->shape[i]);
  bool surface = places && options->surface && tl_wall_places_serves(b->shape[i]) &&
                 b->shape[i]->place->convex && !(elements && boundary->kind->edged);
  TlWanted final = *wanted;
  if (places && options->surface && b->shape[i]->place->part &&
      boundary->kind == &tl_boundary_plane)
    return faces_at_plane(b, i, turn, boundary, points);
  TlWallFacets facets = places && !options->surface
                            ? tl_wall_facets_of(b, i, boundary, wanted->margin)
                            : TL_WALL_FACETS_NONE;
  if (facets == TL_WALL_FACETS_INSTEAD)
    return tl_wall_facets(b, i, turn, boundary, wanted->margin, points);
  if (options->surface && !surface) places = false; /* nodes or elements stand for the surface */
  bool traction = !surface && elements && !(boundary->kind->relief && b->shape[i]->place->part);
  if (places) *wanted = tl_wanted_beside(wanted, tl_wall_places_reach(b, i, boundary));
  if (traction)
    return tl_context(tl_tractions_at_wall(b, i, turn, boundary, travel,
                                           options->how == TL_SEARCH_ALL,
                                           lists ? tl_near_wall(near, i, k) : NULL, points),
                      "grain %lld (avatar %lld) at boundary %d", (long long)b->id[i],
                      (long long)b->avatar_id[i], (int)k);
  if (boundary->kind->relief) {
    TlGroundQuery query = {.colliders = b,
                           .collider = i,
                           .turn = turn,
                           .boundary = boundary,
                           .list = lists ? tl_near_wall(near, i, k) : NULL,
                           .travel = travel,
                           .all = options->how == TL_SEARCH_ALL};
    status = tl_ground_points(&query, wanted, points);
  } else if (b->shape[i]->node_count > 0 && lists)
    status =
        tl_near_boundary(tl_near_wall(near, i, k), b, i, turn, boundary, travel, wanted, points);
  else if (options->how == TL_SEARCH_ALL)
    status = tl_narrow_boundary_all(b, i, boundary, wanted, points);
  else
    status = tl_narrow_boundary(b, i, boundary, wanted, points);
  wanted->margin = final.margin;
  wanted->band = final.band;
  if (status == TL_OK && places)
    status = tl_wall_places(b, i, turn, boundary, &final, surface, had, points);
  if (status == TL_OK && places && !surface)
    status = tl_wall_crests(b, i, turn, boundary, final.margin, had, points);
  if (status == TL_OK && facets == TL_WALL_FACETS_MORE)
    status = tl_wall_facets(b, i, turn, boundary, final.margin, points);
  if (status == TL_OK && surface) tl_patches_at_wall(b, i, turn, boundary, had, points);
  if (status == TL_OK) return TL_OK;
  return tl_context(status, "grain %lld (avatar %lld) at boundary %d", (long long)b->id[i],
                    (long long)b->avatar_id[i], (int)k);
}

TlStatus tl_scan_boundary(const TlSearchOptions *options, TlNear *near, const TlColliders *b,
                          int64_t i, int32_t k, const TlBoundary *boundary, double travel,
                          double margin, TlPoints *points) {
  if (!tl_narrow_near(b, i, boundary, margin)) return TL_OK;
  TlWanted wanted = {margin, margin, INFINITY, 0};
  TlMat3 turn = tl_quat_matrix(b->rotation[i]);
  return boundary_nodes(options, near, b, i, &turn, k, boundary, travel, &wanted, points);
}

/* ---- all of them ---- */

TlSlot tl_scan_slot(const TlScan *s, int64_t number) {
  int64_t pairs = (int64_t)s->pairs->count;
  TlSlot slot = {.number = number, .b = -1, .boundary = -1};
  if (number < pairs) {
    slot.a = s->pairs->pair[number].a;
    slot.b = s->pairs->pair[number].b;
  } else {
    slot.a = s->near_body[number - pairs];
    slot.boundary = s->near_boundary[number - pairs];
  }
  return slot;
}

/* Bonds of a net are springs, not collisions. Slots stand about in the order of the bonds; *at as of
 * tl_pair_rows_next. */
static bool bonded(const TlBodies *x, const TlSlot *p, size_t *at) {
  int32_t a = x->colliders.body[p->a], b = x->colliders.body[p->b];
  size_t count;
  if (!(x->flags[a] & x->flags[b] & TL_BODY_NET)) return false;
  int64_t one = x->id[a], two = x->id[b], low = one < two ? one : two, high = one < two ? two : one;
  return tl_pair_rows_next(&x->pairs.of[TL_BONDS], TL_BONDS, low, high, at, &count) != NULL;
}

static TlStatus find_points(const TlScan *s, const TlSlot *p, TlPoints *points) {
  TlMargin m = p->margin;
  TlWanted wanted = {m.margin, m.band, INFINITY, m.reach};
  TlNearQuery query = {.colliders = &s->bodies->colliders,
                       .a = p->a,
                       .b = p->b,
                       .turn_a = &s->turn[p->a],
                       .turn_b = &s->turn[p->b],
                       .both = s->options->sides == TL_SIDES_BOTH,
                       .travel = m.travel,
                       .size = m.size,
                       .band = m.band,
                       .reach = m.reach,
                       .near = s->near};
  Known known = {.memory = &s->bodies->pairs, .slot = p->number};
  if (s->places) known.tally = &s->places->tally[points - s->points];
  points->count = 0;
  return pair_points(s->options, &query, &s->near->pair[p->number], &known, &wanted, points);
}

TlStatus tl_scan_pair_points(const TlScan *s, TlSlot *p, TlPoints *points) {
  p->margin = s->pair_margin(s->context, p->a, p->b);
  return find_points(s, p, points);
}

/* A pair that is not searched takes what it knew of its places on. */
static TlStatus carry_places(const TlScan *s, const TlSlot *p, int thread) {
  const TlPairState *memory = &s->bodies->pairs;
  const TlColliders *x = &s->bodies->colliders;
  int64_t low = x->id[p->a], high = x->id[p->b];
  TlPlacePair pair;
  size_t count;
  if (!s->places ||
      !tl_pair_rows_find(&memory->of[TL_PLACE_SEARCHES], TL_PLACE_SEARCHES, low, high, &count))
    return TL_OK;
  tl_place_recall(memory, low, high, &pair);
  return tl_place_note(&s->places->tally[thread], p->number, low, high, &pair);
}

static TlStatus test_pairs(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const TlScan *s = context;
  const TlColliders *x = &s->bodies->colliders;
  TlPoints *points = &s->points[thread];
  size_t bond = 0;
  (void)block;
  for (int64_t i = begin; i < end; i++) {
    TlSlot p = tl_scan_slot(s, i);
    bool known = false;
    if (s->still && s->still[p.a] && s->still[p.b]) continue;
    p.margin = s->pair_margin(s->context, p.a, p.b);
    double far = x->radius[p.a] + x->radius[p.b] + p.margin.margin;
    if (bonded(s->bodies, &p, &bond)) continue;
    if (tl_norm2(tl_sub(x->position[p.a], x->position[p.b])) > far * far) continue;
    /* not before, for which pairs lie beyond depends on when they were listed */
    if (s->recall) TL_TRY(s->recall(s->context, &p, thread, &known));
    if (known) {
      TL_TRY(carry_places(s, &p, thread));
      continue;
    }
    TlPointsBefore before = tl_points_before(points);
    points->pairs++;
    TL_TRY(find_points(s, &p, points));
    TL_TRY(s->take(s->context, &p, points, thread));
    if (s->lookups) s->lookups[i] = tl_points_charge(points, before);
  }
  return TL_OK;
}

TlStatus tl_scan_wall_points(const TlScan *s, TlSlot *p, TlPoints *points) {
  const TlBoundary *wall = &s->boundary[p->boundary];
  TlMargin m = p->margin = s->wall_margin(s->context, p->a, wall);
  TlWanted wanted = {m.margin, m.band, INFINITY, m.reach};
  points->count = 0;
  return boundary_nodes(s->options, s->near, &s->bodies->colliders, p->a, &s->turn[p->a],
                        p->boundary, wall, m.travel, &wanted, points);
}

static TlStatus test_boundaries(void *context, int64_t begin, int64_t end, int64_t block,
                                int thread) {
  const TlScan *s = context;
  TlPoints *points = &s->points[thread];
  (void)block;
  for (int64_t i = begin; i < end; i++) {
    TlSlot p = tl_scan_slot(s, (int64_t)s->pairs->count + i);
    TlPointsBefore before = tl_points_before(points);
    points->pairs++;
    TL_TRY(tl_scan_wall_points(s, &p, points));
    TL_TRY(s->take(s->context, &p, points, thread));
    if (s->lookups) s->lookups[p.number] = tl_points_charge(points, before);
  }
  return TL_OK;
}

/* (collider, boundary) combinations worth testing, by collider: marked in parallel, then listed. */
typedef struct Marking {
  const TlScan *scan;
  unsigned char *mark; /* [owned * boundaries] */
} Marking;

static TlStatus mark_near(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Marking *marking = context;
  const TlScan *s = marking->scan;
  const TlColliders *b = &s->bodies->colliders;
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++) {
    bool fixed = s->bodies->flags[b->body[i]] & TL_BODY_FROZEN, rests = s->still && s->still[i];
    const TlBoundary still = {0}; /* all that do not move have one margin */
    double margin = s->wall_margin(s->context, i, &still).margin;
    for (int32_t k = 0; k < s->boundary_count; k++) {
      const TlBoundary *wall = &s->boundary[k];
      if (rests && !tl_boundary_moves(wall)) {
        marking->mark[i * s->boundary_count + k] = 0;
        continue;
      }
      double wanted = wall->drive ? s->wall_margin(s->context, i, wall).margin : margin;
      marking->mark[i * s->boundary_count + k] = !fixed && tl_narrow_near(b, i, wall, wanted);
    }
  }
  return TL_OK;
}

static TlStatus list_near(TlScan *s) {
  int64_t owned = s->bodies->colliders.owned, all = owned * s->boundary_count, n = 0, count = 0;
  Marking marking = {s, tl_arena_push(s->arena, (size_t)all, 1)};
  if (!marking.mark) return TL_ENOMEM;
  TL_TRY(tl_par_loop(owned, 256, LIGHT_NS, mark_near, &marking));
  for (int64_t i = 0; i < all; i++) n += marking.mark[i];
  int32_t *body = tl_arena_push(s->arena, (size_t)n, sizeof *body),
          *boundary = tl_arena_push(s->arena, (size_t)n, sizeof *boundary);
  if (!body || !boundary) return TL_ENOMEM;
  for (int64_t i = 0; i < owned; i++)
    for (int32_t k = 0; k < s->boundary_count; k++)
      if (marking.mark[i * s->boundary_count + k]) {
        body[count] = (int32_t)i;
        boundary[count++] = k;
      }
  s->near_body = body;
  s->near_boundary = boundary;
  s->slots = (int64_t)s->pairs->count + n;
  return TL_OK;
}

static TlStatus turn_colliders(void *context, int64_t begin, int64_t end, int64_t block,
                               int thread) {
  const TlScan *s = context;
  const TlColliders *c = &s->bodies->colliders;
  (void)block;
  (void)thread;
  bool all = s->options->edges != TL_EDGES_NODES; /* who else asks how a sphere is turned? */
  for (int64_t i = begin; i < end; i++)
    if (all || !tl_shape_alone(c->shape[i])) s->turn[i] = tl_quat_matrix(c->rotation[i]);
  return TL_OK;
}

TlStatus tl_scan_prepare(TlScan *s) {
  s->turn = tl_arena_push(s->arena, (size_t)s->bodies->colliders.total, sizeof *s->turn);
  if (!s->turn) return TL_ENOMEM;
  for (int t = 0; t < tl_par_threads(); t++) {
    TlPoints *p = &s->points[t];
    p->pairs = p->lookups = p->node_tests = p->lists = 0;
  }
  if (s->places) TL_TRY(tl_place_memory_start(s->places, tl_par_threads()));
  TL_TRY(tl_par_loop(s->bodies->colliders.total, 512, TURN_NS, turn_colliders, s));
  s->pairs = &s->near->broad.pairs;
  return tl_near_update(s->near, s->bodies, s->boundary_count, s->step_s, s->arena);
}

TlStatus tl_scan_start(TlScan *s) {
  TL_TRY(tl_scan_prepare(s));
  TL_TRY(list_near(s));
  if (!s->charged) return TL_OK;
  s->lookups = tl_arena_push(s->arena, (size_t)s->slots, sizeof *s->lookups);
  if (!s->lookups) return TL_ENOMEM;
  memset(s->lookups, 0, (size_t)s->slots * sizeof *s->lookups);
  return TL_OK;
}

void tl_scan_charge(const TlScan *s, int64_t *half_lookups) {
  const int32_t *body = s->bodies->colliders.body;
  for (int64_t i = 0; i < s->slots; i++) {
    if (s->lookups[i] == 0) continue;
    TlSlot slot = tl_scan_slot(s, i);
    half_lookups[body[slot.a]] += s->lookups[i];
    half_lookups[body[slot.b >= 0 ? slot.b : slot.a]] += s->lookups[i];
  }
}

TlStatus tl_scan_run(TlScan *s) {
  int64_t pairs = (int64_t)s->pairs->count;
  TL_TRY(tl_par_loop(pairs, 64, SEARCH_NS, test_pairs, s));
  return tl_par_loop(s->slots - pairs, 64, SEARCH_NS, test_boundaries, s);
}
