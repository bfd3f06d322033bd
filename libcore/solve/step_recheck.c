/* Gaps looked at again where the grains ended.
 *
 * The step's contacts are those of its start. A grain that turns by a tenth of a radian brings
 * nodes to the front that the manifold did not keep, and normals that were not there: measured, 1
 * cm grains thrown together at 2 m/s ended 3-11% of their radius inside each other at 1 ms, while
 * the contacts that were known kept to the slop. So pairs that may have come to overlap (least gap
 * less than their motion) are glanced at, for their deepest point, at the end poses. Where one lies
 * deeper than RECHECK_BOUND, all pairs of its two bodies get fresh contacts and the position rule
 * moves the grains apart; what moved is looked at again, and where that opened another such pair
 * its bodies join in, up to RECHECK_PASSES times. Velocities stay. Only a few pairs in a hundred
 * lie so deep even in an impact, so the rest of the pile is not made anew; a pair that hardly moves
 * is never tested: a heap at rest pays nothing.
 */
#include "base/par.h"
#include "solve/step_impulses.h"

#include <math.h>
#include <string.h>

enum { RECHECK_PASSES = 8, PAIR_NS = 200 /* of a look, many being passed over */ };
static const double RECHECK_BOUND = 5; /* slops: overlap that is looked after */
static const double NEAR = 0.05;   /* fraction of r: pairs that a correction may bring together */
static const double SPREAD = 0.05; /* as in the detection */

/* What is known of a pair at the present poses. */
typedef enum Seen {
  SEEN_NOT = 0,
  SEEN_CLEAR, /* glanced at, or its motion leaves it no way to be deep */
  SEEN_WHOLE  /* its manifold is kept */
} Seen;

typedef struct Recheck {
  const TlStep *step;
  const TlBodies *bodies;
  const TlMotion *motion;
  double *
      clearance; /* of each pair: least gap at the start less the motion, over the smaller radius */
  TlManifolds *kept;   /* a boundary pair has a slot a boundary */
  int32_t *slot;       /* [pairs + 1] first slot of each pair */
  unsigned char *seen; /* [pairs] Seen */
  /* of each local body, ghosts as their owners say */
  unsigned char *active; /* belongs to a pair that was too deep in this step */
  unsigned char *moved;  /* by the last correction */
} Recheck;

static double body_motion(const Recheck *r, int64_t i) {
  const TlTwist *t = &r->motion->real.twist[i], *p = &r->motion->pseudo.twist[i];
  return tl_norm(tl_add(t->w, p->w)) * r->bodies->radius[i];
}

static double pair_motion(const Recheck *r, const TlPair *pair) {
  const TlTwist *t = r->motion->real.twist, *p = r->motion->pseudo.twist;
  TlVec3 v = tl_add(t[pair->a].v, p[pair->a].v);
  double turning = body_motion(r, pair->a);
  if (pair->b >= 0) {
    v = tl_sub(v, tl_add(t[pair->b].v, p[pair->b].v));
    turning += body_motion(r, pair->b);
  }
  for (int32_t k = 0; pair->b < 0 && k < pair->count; k++) /* and the walls come to meet it */
    turning = fmax(turning, body_motion(r, pair->a) +
                                tl_norm(r->step->work->found.contact[pair->first + k].wall));
  return (tl_norm(v) + turning) * r->step->model->step_s;
}

/* At boundaries: of the first collider that touches one. */
static double pair_size(const TlBodies *b, const TlPair *pair) {
  const double *radius = b->colliders.radius;
  return pair->b < 0 ? radius[pair->part_a] : fmin(radius[pair->part_a], radius[pair->part_b]);
}

/* A slot a pair of colliders; at boundaries one a collider of the body and boundary. */
static size_t slots_of(const Recheck *r, const TlPair *pair) {
  if (pair->b >= 0) return 1;
  return (size_t)(tl_bodies_parts(r->bodies, pair->a) * r->step->model->boundary_count);
}

static double clearance_of(const Recheck *r, const TlPair *pair) {
  double least = INFINITY;
  for (int32_t k = 0; k < pair->count; k++)
    least = fmin(least, r->step->work->found.contact[pair->first + k].gap);
  return (least - pair_motion(r, pair)) / pair_size(r->bodies, pair);
}

static int deepest_of(const TlPoints *points, TlPoint *deepest) {
  for (size_t i = 0; i < points->count; i++)
    if (i == 0 || tl_point_deeper(&points->point[i], deepest)) *deepest = points->point[i];
  return points->count > 0;
}

static TlStatus keep(const Recheck *r, TlPoints *points, double size, bool whole, int32_t slot,
                     int thread) {
  TlPoint *space;
  TL_TRY(tl_manifolds_reserve(r->kept, thread, &space));
  int count =
      whole ? tl_manifold(points->point, points->count, NEAR * size, SPREAD * size, NULL, 0, space)
            : deepest_of(points, space);
  tl_manifolds_keep(r->kept, thread, (size_t)slot, count);
  return TL_OK;
}

/* Whole: the manifold of what is near; else the deepest overlap only, without the gradients of what
 * is not needed. */
static TlStatus test_pair(const Recheck *r, const TlPair *pair, bool whole, int32_t slot,
                          int thread) {
  const TlBodies *b = r->bodies;
  const TlColliders *c = &b->colliders;
  const TlModel *model = r->step->model;
  TlWorkspace *work = r->step->work;
  TlPoints *points = &work->points[thread];
  double size = pair_size(b, pair), travel = pair_motion(r, pair), margin = whole ? NEAR * size : 0;
  if (pair->b >= 0) {
    /* edges overlap while every node lies outside: the search between nodes starts from those */
    if (tl_scan_between_nodes(&model->search, c->shape[pair->part_a], c->shape[pair->part_b]))
      margin = NEAR * size;
    points->count = 0;
    TL_TRY(tl_detect_pair(&model->search, &work->near, &b->pairs, c, pair->part_a, pair->part_b,
                          travel, margin, points));
    return keep(r, points, size, whole, slot, thread);
  }
  int64_t first = b->first[pair->a], parts = tl_bodies_parts(b, pair->a);
  for (int64_t i = first; i < first + parts; i++)
    for (int k = 0; k < model->boundary_count; k++) {
      points->count = 0;
      TL_TRY(tl_scan_boundary(&model->search, &work->near, c, i, k, &work->boundary[k], travel,
                              margin, points));
      TL_TRY(keep(r, points, size, whole, slot++, thread));
    }
  return TL_OK;
}

static bool any_of(const unsigned char *flag, const TlPair *pair) {
  return flag[pair->a] || (pair->b >= 0 && flag[pair->b]);
}

static TlStatus test_pairs(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Recheck *r = context;
  (void)block;
  for (int64_t i = begin; i < end; i++) {
    const TlPair *pair = &r->step->work->found.pair[i];
    bool whole = r->clearance[i] < NEAR && any_of(r->active, pair);
    if (r->seen[i] >= (whole ? SEEN_WHOLE : SEEN_CLEAR)) continue;
    TL_TRY(test_pair(r, pair, whole, r->slot[i], thread));
    r->seen[i] = whole ? SEEN_WHOLE : SEEN_CLEAR;
  }
  return TL_OK;
}

/* Every pair is known at the present poses, those of active bodies wholly. Collective. */
static TlStatus look(Recheck *r) {
  return tl_step_together(r->step->sync,
                          tl_par_loop(r->step->work->found.pairs, 64, PAIR_NS, test_pairs, r));
}

static bool is_deep(const Recheck *r, int32_t i) {
  const TlPair *pair = &r->step->work->found.pair[i];
  double bound = RECHECK_BOUND * r->step->model->impulses.slop * pair_size(r->bodies, pair);
  for (int32_t s = r->slot[i]; s < r->slot[i + 1]; s++)
    for (int32_t k = 0; k < tl_manifolds_count(r->kept, (size_t)s); k++)
      if (tl_manifolds_points(r->kept, (size_t)s)[k].gap < -bound) return true;
  return false;
}

/* The bodies of pairs that are too deep become active. Collective: *deep: there is one. */
static TlStatus find_deep(Recheck *r, int *deep) {
  const TlFound *found = &r->step->work->found;
  const TlSync *sync = r->step->sync;
  *deep = 0;
  for (int32_t i = 0; i < found->pairs; i++) {
    if (!is_deep(r, i)) continue;
    *deep = r->active[found->pair[i].a] = 1;
    if (found->pair[i].b >= 0) r->active[found->pair[i].b] = 1;
  }
  TL_TRY(tl_sync_any(sync, deep));
  return *deep ? tl_sync_forward(sync, r->active, sizeof *r->active) : TL_OK;
}

static TlStatus begin(Recheck *r) {
  const TlModel *model = r->step->model;
  TlWorkspace *s = r->step->work;
  size_t pairs = (size_t)s->found.pairs, bodies = (size_t)r->bodies->total, slots = 0;
  double bound = -RECHECK_BOUND * model->impulses.slop;
  r->clearance = tl_arena_push(&s->arena, pairs, sizeof *r->clearance);
  r->slot = tl_arena_push(&s->arena, pairs + 1, sizeof *r->slot);
  r->seen = tl_arena_push(&s->arena, pairs, sizeof *r->seen);
  r->active = tl_arena_push(&s->arena, bodies, sizeof *r->active);
  r->moved = tl_arena_push(&s->arena, bodies, sizeof *r->moved);
  if (!r->clearance || !r->slot || !r->seen || !r->active || !r->moved) return TL_ENOMEM;
  memset(r->active, 0, bodies);
  for (size_t i = 0; i < pairs; i++) {
    const TlPair *pair = &s->found.pair[i];
    r->clearance[i] = clearance_of(r, pair);
    r->seen[i] = r->clearance[i] < bound ? SEEN_NOT : SEEN_CLEAR;
    r->slot[i] = (int32_t)slots;
    if (r->clearance[i] < NEAR) slots += slots_of(r, pair);
  }
  r->slot[pairs] = (int32_t)slots;
  r->kept = &s->manifolds; /* those of the search are contacts by now */
  return tl_manifolds_start(r->kept, tl_par_threads(), slots, &s->arena);
}

static void fill_contact(const Recheck *r, TlContact *c, const TlPair *pair, const TlPoint *p) {
  const TlBodies *b = r->bodies;
  *c = (TlContact){.n = p->n, .a = pair->a, .b = pair->b, .gap = p->gap, .key = p->key};
  c->ra = tl_sub(p->p, b->position[pair->a]);
  if (pair->b >= 0) c->rb = tl_sub(p->p, b->position[pair->b]);
  c->size = pair_size(b, pair);
  tl_contact_prepare(c, &r->motion->pseudo);
}

/* Of the pairs that are wholly known: those of active bodies. */
static TlStatus make_contacts(const Recheck *r, TlFound *fresh) {
  TlWorkspace *s = r->step->work;
  const TlFound *found = &s->found;
  size_t most = 0;
  for (int32_t k = 0; k < r->slot[found->pairs]; k++)
    most += (size_t)tl_manifolds_count(r->kept, (size_t)k);
  *fresh = (TlFound){0};
  fresh->contact = tl_arena_push(&s->arena, most, sizeof *fresh->contact);
  fresh->pair = tl_arena_push(&s->arena, (size_t)found->pairs, sizeof *fresh->pair);
  if (!fresh->contact || !fresh->pair) return TL_ENOMEM;
  for (int32_t i = 0; i < found->pairs; i++) {
    TlPair pair = found->pair[i];
    if (r->seen[i] != SEEN_WHOLE) continue;
    pair.first = fresh->contacts;
    for (int32_t slot = r->slot[i]; slot < r->slot[i + 1]; slot++)
      for (int32_t k = 0; k < tl_manifolds_count(r->kept, (size_t)slot); k++)
        fill_contact(r, &fresh->contact[fresh->contacts++], &pair,
                     &tl_manifolds_points(r->kept, (size_t)slot)[k]);
    pair.count = fresh->contacts - pair.first;
    if (pair.count > 0) fresh->pair[fresh->pairs++] = pair;
  }
  return TL_OK;
}

static TlStatus forward_poses(const TlSync *sync, TlBodies *b) {
  TL_TRY(tl_sync_forward(sync, b->position, sizeof *b->position));
  TL_TRY(tl_sync_forward(sync, b->rotation, sizeof *b->rotation));
  tl_bodies_place_colliders(b);
  return TL_OK;
}

/* Pairs whose bodies moved are known no more. */
static TlStatus note_moved(const Recheck *r) {
  const TlFound *found = &r->step->work->found;
  const TlBodies *b = r->bodies;
  for (int64_t i = 0; i < b->owned; i++) r->moved[i] = r->motion->pseudo.twist[i].hit != 0;
  TL_TRY(tl_sync_forward(r->step->sync, r->moved, sizeof *r->moved));
  for (int32_t i = 0; i < found->pairs; i++)
    if (r->clearance[i] < NEAR && any_of(r->moved, &found->pair[i])) r->seen[i] = SEEN_NOT;
  return TL_OK;
}

static TlStatus move_apart(const Recheck *r) {
  const TlStep *s = r->step;
  const TlImpulseOptions *c = &s->model->impulses;
  TlBodies *b = &s->state->bodies;
  double step_s = s->model->step_s;
  TlFound fresh;
  TlGroups groups;
  TL_TRY(tl_step_together(s->sync, make_contacts(r, &fresh)));
  const TlPairList found = {.pair = fresh.pair, .count = fresh.pairs, .contact = fresh.contact};
  TL_TRY(tl_groups_make(b, &r->motion->pseudo, &found, NULL, s->sync, &s->work->arena, &groups));
  memset(r->motion->pseudo.twist, 0, (size_t)b->total * sizeof *r->motion->pseudo.twist);
  TlPositionLaw law = {.rate = 1,
                       .slop = c->slop,
                       .step_s = step_s,
                       .sweeps = c->position_sweeps,
                       .extrapolates = c->rest == TL_REST_EXTRAPOLATED,
                       .opens_at = RECHECK_BOUND - 1};
  TL_TRY(tl_stage_positions(&groups, &law, &r->motion->pseudo));
  tl_motion_nudge(b, &r->motion->pseudo, s->model->gravity_m_s2, step_s);
  TL_TRY(forward_poses(s->sync, b));
  return note_moved(r);
}

TlStatus tl_step_recheck(const TlStep *s, const TlMotion *m, int64_t *passes) {
  TlBodies *b = &s->state->bodies;
  Recheck r = {.step = s, .bodies = b, .motion = m};
  int deep;
  *passes = 0;
  TL_TRY(forward_poses(s->sync, b));
  TL_TRY(tl_step_together(s->sync, begin(&r)));
  for (;;) {
    TL_TRY(look(&r));
    TL_TRY(find_deep(&r, &deep));
    if (!deep || *passes == RECHECK_PASSES) return TL_OK;
    TL_TRY(look(&r)); /* at the pairs of bodies that became active */
    TL_TRY(move_apart(&r));
    (*passes)++;
  }
}
