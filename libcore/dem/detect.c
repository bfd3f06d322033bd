#include "dem/detect.h"

#include "base/par.h"
#include "dem/edges.h"
#include "dem/shapes.h"

#include <math.h>
#include <string.h>

/* Speculative margin (measured: 0.1 r lets impacts overlap by 0.04-0.36 r, 0.6 r by 0.01 r): what
 * impacts elsewhere may add within the step, capped, plus twice the pair's own motion. */
static const double MARGIN_CAP = 0.6;    /* of the radius, a body's half */
static const double MARGIN_FLOOR = 0.01; /* likewise */
static const double HEIR_GAP = 2e-3;     /* share of r: a point nearer than this touches */
static const double SPREAD = 0.05;       /* manifold points nearer than this share of r are one */

static double base_margin(const TlSolverConfig *c, double speed_max, double radius) {
  double most = (speed_max + tl_norm(c->gravity_m_s2) * c->step_s) * c->step_s;
  return tl_min(MARGIN_CAP * radius, most) + MARGIN_FLOOR * radius;
}

double tl_detect_reach(const TlSolverConfig *c, double speed_max, double radius, double speed) {
  return radius + base_margin(c, speed_max, radius) + 2 * speed * c->step_s;
}

/* Work on an item, about: for tl_par_pays. */
static const double LIGHT_NS = 100, FILL_NS = 500, SEARCH_NS = 1000;

typedef struct Known { /* touches of a slot from the last step */
  const TlTouch *touch;
  size_t count;
} Known;

/* A slot is a pair of bodies, or a body and a boundary: first all pairs, then those. */
typedef struct Job {
  const TlDetect *detect;
  const TlBodies *bodies;
  const TlDynamics *dynamics;
  const TlBodyPairs *pairs;
  TlMat3 *turn;                             /* rotation matrix of each body */
  double *spin_speed;                       /* of its surface, each body */
  TlPoint *kept;                            /* TL_MANIFOLD_POINTS a slot */
  int32_t *kept_count;                      /* of each slot */
  Known *known;                             /* of each slot with points */
  const int32_t *near_body, *near_boundary; /* slots of boundaries */
} Job;

typedef struct Margin {
  double margin, band, reach, size, way; /* way: relative motion of a step */
} Margin;

/* What stands beside the nearest node: those it does not come nearer than by much, and those that
 * the pair's motion may bring to touch, which is taken twice. Once the motion would do for the
 * overlaps and saves a third of an impact's time, but piles then rest worse: 64 dropped grains kept
 * 2e-5 of their energy instead of 6e-9. A pair too far apart to meet by its own motion has contacts
 * for what impacts elsewhere may add: there the nearest nodes do. */
static double reach_of(double way, double size) {
  return 2 * way + 2 * MARGIN_FLOOR * size;
}

static Margin make_margin(const TlDetect *d, double size, double speed) {
  double way = speed * d->config->step_s;
  return (Margin){.margin = 2 * base_margin(d->config, d->speed_max, size) + 2 * way,
                  .band = 2 * MARGIN_FLOOR * size,
                  .reach = reach_of(way, size),
                  .size = size,
                  .way = way};
}

static Margin pair_margin(const Job *job, int64_t a, int64_t b) {
  const TlDetect *d = job->detect;
  const TlBodies *x = job->bodies;
  const TlTwist *t = job->dynamics->twist;
  double speed = tl_norm(tl_sub(t[a].v, t[b].v)) + job->spin_speed[a] + job->spin_speed[b];
  return make_margin(d, tl_min(x->radius[a], x->radius[b]), speed);
}

static Margin boundary_margin(const Job *job, int64_t a, const TlBoundary *wall) {
  const TlDetect *d = job->detect;
  TlVec3 v =
      tl_sub(job->dynamics->twist[a].v, tl_boundary_velocity(wall, job->bodies->position[a]));
  double size = job->bodies->radius[a], turning = wall->drive ? tl_norm(wall->place.w) * size : 0;
  return make_margin(d, size, tl_norm(v) + job->spin_speed[a] + turning);
}

static void keep_points(const Job *job, TlPoints *points, int64_t low, int64_t high, Margin m,
                        int64_t slot) {
  job->kept_count[slot] = 0;
  job->known[slot] = (Known){NULL, 0};
  if (points->count == 0) return;
  Known *known = &job->known[slot];
  known->touch = tl_history_find(&job->bodies->history, low, high, &known->count);
  double least = INFINITY;
  for (size_t i = 0; i < points->count; i++) least = tl_min(points->point[i].gap, least);
  double band = tl_max(m.band, m.reach - tl_max(least, 0));
  job->kept_count[slot] =
      tl_manifold(points->point, points->count, band, SPREAD * m.size, known->touch, known->count,
                  job->kept + slot * TL_MANIFOLD_POINTS);
}

/* Nodes of either grain, or of the lower id only; a closed-form sphere speaks for both. */
static TlStatus node_points(const TlSolverConfig *config, const TlNearQuery *query,
                            TlNearPair **lists, TlWanted *wanted, TlPoints *points) {
  const TlBodies *x = query->bodies;
  int64_t a = query->a, b = query->b;
  const TlShape *shape_a = x->shape[a], *shape_b = x->shape[b];
  bool all = config->search == TL_SEARCH_ALL;
  TlStatus (*nodes)(const TlBodies *, int64_t, int64_t, int, TlWanted *, TlPoints *) =
      all ? tl_narrow_all_nodes : tl_narrow_nodes;
  if (tl_shape_alone(shape_a)) return nodes(x, a, b, 0, wanted, points);
  if (tl_shape_alone(shape_b)) return nodes(x, b, a, 1, wanted, points);
  bool listed = shape_a->node_count > 0 && (shape_b->node_count > 0 || !query->both);
  if (listed && lists && config->search == TL_SEARCH_NEAR)
    return tl_near_points(lists, query, wanted, points);
  TL_TRY(nodes(x, a, b, 0, wanted, points));
  return query->both ? nodes(x, b, a, 1, wanted, points) : TL_OK;
}

/* With `edges: refine` also the places between nodes; they are sought from nodes somewhat beyond
 * the margin. */
static TlStatus any_points(const TlSolverConfig *config, const TlNearQuery *query,
                           TlNearPair **lists, const TlWanted *wanted, TlPoints *points) {
  TlWanted seen = *wanted;
  double reach =
      config->edges == TL_EDGES_REFINE ? tl_edges_reach(query->bodies, query->a, query->b) : 0;
  seen.margin += reach;
  TL_TRY(node_points(config, query, lists, &seen, points));
  if (reach == 0 || points->count == 0) return TL_OK;
  return tl_edges_refine(query->bodies, query->a, query->b, query->turn_a, query->turn_b, wanted,
                         points);
}

static TlStatus pair_points(const TlSolverConfig *config, const TlNearQuery *query,
                            TlNearPair **lists, TlWanted *wanted, TlPoints *points) {
  TlStatus status = any_points(config, query, lists, wanted, points);
  if (status == TL_OK) return TL_OK;
  const TlBodies *b = query->bodies;
  return tl_context(status, "grains %lld and %lld (avatars %lld and %lld)",
                    (long long)b->id[query->a], (long long)b->id[query->b],
                    (long long)b->avatar_id[query->a], (long long)b->avatar_id[query->b]);
}

TlStatus tl_detect_pair(const TlSolverConfig *config, TlNear *near, const TlBodies *b, int64_t i,
                        int64_t j, double way, double margin, TlPoints *points) {
  TlWanted wanted = {margin, margin, INFINITY};
  TlMat3 turn_i = tl_quat_matrix(b->rotation[i]), turn_j = tl_quat_matrix(b->rotation[j]);
  TlNearQuery query = {.bodies = b,
                       .a = i,
                       .b = j,
                       .turn_a = &turn_i,
                       .turn_b = &turn_j,
                       .both = config->sides == TL_SIDES_BOTH,
                       .way = way,
                       .size = tl_min(b->radius[i], b->radius[j])};
  query.band = 2 * MARGIN_FLOOR * query.size;
  query.reach = reach_of(way, query.size);
  return pair_points(config, &query, tl_near_find(near, b->id[i], b->id[j]), &wanted, points);
}

static TlStatus boundary_nodes(const TlSolverConfig *config, TlNear *near, const TlBodies *b,
                               int64_t i, const TlMat3 *turn, int32_t k, const TlBoundary *boundary,
                               double way, TlWanted *wanted, TlPoints *points) {
  /* the lists' bounds are of walls that stand: driven ones are searched through the tree */
  TlStatus status;
  if (b->shape[i]->node_count > 0 && config->search == TL_SEARCH_NEAR && !boundary->drive)
    status = tl_near_boundary(tl_near_wall(near, i, k), b, i, turn, boundary, way, wanted, points);
  else if (config->search == TL_SEARCH_ALL)
    status = tl_narrow_boundary_all(b, i, boundary, wanted, points);
  else
    status = tl_narrow_boundary(b, i, boundary, wanted, points);
  if (status == TL_OK) return TL_OK;
  return tl_context(status, "grain %lld (avatar %lld) at boundary %d", (long long)b->id[i],
                    (long long)b->avatar_id[i], (int)k);
}

TlStatus tl_detect_boundary(const TlSolverConfig *config, TlNear *near, const TlBodies *b,
                            int64_t i, int32_t k, const TlBoundary *boundary, double way,
                            double margin, TlPoints *points) {
  if (!tl_narrow_near(b, i, boundary, margin)) return TL_OK;
  TlWanted wanted = {margin, margin, INFINITY};
  TlMat3 turn = tl_quat_matrix(b->rotation[i]);
  return boundary_nodes(config, near, b, i, &turn, k, boundary, way, &wanted, points);
}

/* Bonds of a net are springs, not collisions. */
static bool bonded(const Job *job, TlBodyPair p) {
  const TlBodies *x = job->bodies;
  if (!(x->flags[p.a] & x->flags[p.b] & TL_BODY_NET)) return false;
  return tl_net_bonded(&x->history, x->id[p.a], x->id[p.b]);
}

static TlStatus test_pairs(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Job *job = context;
  TlPoints *points = &job->detect->points[thread];
  (void)block;
  for (int64_t i = begin; i < end; i++) {
    TlBodyPair p = job->pairs->pair[i];
    Margin m = pair_margin(job, p.a, p.b);
    double far = job->bodies->radius[p.a] + job->bodies->radius[p.b] + m.margin;
    job->kept_count[i] = 0;
    if (bonded(job, p)) continue;
    if (tl_norm2(tl_sub(job->bodies->position[p.a], job->bodies->position[p.b])) > far * far)
      continue;
    points->count = 0;
    points->pairs++;
    TlWanted wanted = {m.margin, m.band, INFINITY, m.reach};
    TlNearQuery query = {.bodies = job->bodies,
                         .a = p.a,
                         .b = p.b,
                         .turn_a = &job->turn[p.a],
                         .turn_b = &job->turn[p.b],
                         .both = job->detect->config->sides == TL_SIDES_BOTH,
                         .way = m.way,
                         .size = m.size,
                         .band = m.band,
                         .reach = m.reach};
    TL_TRY(pair_points(job->detect->config, &query, &job->detect->near->pair[i], &wanted, points));
    keep_points(job, points, job->bodies->id[p.a], job->bodies->id[p.b], m, i);
  }
  return TL_OK;
}

static TlStatus test_boundaries(void *context, int64_t begin, int64_t end, int64_t block,
                                int thread) {
  const Job *job = context;
  TlPoints *points = &job->detect->points[thread];
  (void)block;
  for (int64_t i = begin; i < end; i++) {
    int64_t slot = (int64_t)job->pairs->count + i;
    int32_t body = job->near_body[i], boundary = job->near_boundary[i];
    Margin m = boundary_margin(job, body, &job->detect->boundary[boundary]);
    points->count = 0;
    points->pairs++;
    TlWanted wanted = {m.margin, m.band, INFINITY, m.reach};
    TL_TRY(boundary_nodes(job->detect->config, job->detect->near, job->bodies, body,
                          &job->turn[body], boundary, &job->detect->boundary[boundary], m.way,
                          &wanted, points));
    keep_points(job, points, job->bodies->id[body], -1 - boundary, m, slot);
  }
  return TL_OK;
}

/* (body, boundary) combinations worth testing, by body: marked in parallel, then listed. */
typedef struct Marking {
  const Job *job;
  unsigned char *mark; /* [owned * boundaries] */
} Marking;

static TlStatus mark_near(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Marking *marking = context;
  const Job *job = marking->job;
  const TlDetect *d = job->detect;
  const TlBodies *b = job->bodies;
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++) {
    bool fixed = b->flags[i] & TL_BODY_FROZEN;
    const TlBoundary still = {0}; /* all that do not move have one margin */
    double margin = boundary_margin(job, i, &still).margin;
    for (int32_t k = 0; k < d->boundary_count; k++) {
      const TlBoundary *wall = &d->boundary[k];
      marking->mark[i * d->boundary_count + k] =
          !fixed &&
          tl_narrow_near(b, i, wall, wall->drive ? boundary_margin(job, i, wall).margin : margin);
    }
  }
  return TL_OK;
}

static TlStatus list_near(Job *job, int64_t *count) {
  const TlDetect *d = job->detect;
  int64_t owned = job->bodies->owned, all = owned * d->boundary_count, n = 0;
  *count = 0;
  Marking marking = {job, tl_arena_push(d->arena, (size_t)all, 1)};
  if (!marking.mark) return TL_ENOMEM;
  TL_TRY(tl_par_loop(owned, 256, LIGHT_NS, mark_near, &marking));
  for (int64_t i = 0; i < all; i++) n += marking.mark[i];
  int32_t *body = tl_arena_push(d->arena, (size_t)n, sizeof *body),
          *boundary = tl_arena_push(d->arena, (size_t)n, sizeof *boundary);
  if (!body || !boundary) return TL_ENOMEM;
  for (int64_t i = 0; i < owned; i++)
    for (int32_t k = 0; k < d->boundary_count; k++)
      if (marking.mark[i * d->boundary_count + k]) {
        body[*count] = (int32_t)i;
        boundary[(*count)++] = k;
      }
  job->near_body = body;
  job->near_boundary = boundary;
  return TL_OK;
}

/* ---- contacts from points ---- */

static void start_from(TlContact *c, const TlDynamics *dynamics, TlVec3 impulse) {
  tl_contact_want_tangents(c, dynamics);
  c->rest =
      tl_vec3(tl_max(0, tl_dot(impulse, c->n)), tl_dot(impulse, c->t1), tl_dot(impulse, c->t2));
  double most = c->friction * c->rest.x;
  double size = sqrt(c->rest.y * c->rest.y + c->rest.z * c->rest.z);
  if (size <= most) return;
  c->rest.y *= most / size;
  c->rest.z *= most / size;
}

/* A point takes the impulse of its own key. What belonged to points that are gone (a grain rolled
 * on to its next node) is shared by the new points that touch: dropped instead, each change of node
 * is a small blow, and a pile of smooth grains never quite rests. */
static void warm_start(TlContact *c, int32_t count, const TlDynamics *dynamics,
                       const TlTouch *known, size_t known_count) {
  TlVec3 orphan = {0, 0, 0};
  bool matched[TL_MANIFOLD_POINTS] = {false};
  int32_t heirs = 0;
  for (size_t i = 0; i < known_count; i++) {
    int32_t k = 0;
    while (k < count && c[k].key != known[i].key) k++;
    if (k < count) {
      start_from(&c[k], dynamics, known[i].impulse);
      matched[k] = true;
    } else {
      orphan = tl_add(orphan, known[i].impulse);
    }
  }
  for (int32_t k = 0; k < count; k++) heirs += !matched[k] && c[k].gap < HEIR_GAP * c[k].size;
  for (int32_t k = 0; heirs > 0 && k < count; k++)
    if (!matched[k] && c[k].gap < HEIR_GAP * c[k].size)
      start_from(&c[k], dynamics, tl_scale(1.0 / heirs, orphan));
}

/* What touches a net's sphere has the net's friction and restitution; of two nets the first's. */
static const TlNet *net_at(const Job *job, int32_t a, int32_t b) {
  const TlBodies *x = job->bodies;
  if (x->flags[a] & TL_BODY_NET)
    return tl_net_of(job->detect->nets, job->detect->net_count, x->id[a]);
  if (b >= 0 && x->flags[b] & TL_BODY_NET)
    return tl_net_of(job->detect->nets, job->detect->net_count, x->id[b]);
  return NULL;
}

static void fill_contact(const Job *job, TlContact *c, const TlPoint *p, int32_t a, int32_t b,
                         int32_t boundary) {
  const TlSolverConfig *config = job->detect->config;
  const TlBodies *x = job->bodies;
  *c = (TlContact){
      .n = p->n, .a = a, .b = b, .gap = p->gap, .key = p->key, .boundary = boundary, .point = p->p};
  c->ra = tl_sub(p->p, x->position[a]);
  if (b >= 0) c->rb = tl_sub(p->p, x->position[b]);
  TlRub rub = {config->friction, config->restitution};
  if (b < 0) {
    const TlBoundary *wall = &job->detect->boundary[boundary];
    rub = tl_boundary_rub(wall, p->p,
                          (TlRub){config->boundary_friction, config->boundary_restitution});
    c->wall = tl_boundary_velocity(wall, p->p);
  }
  c->friction = rub.friction;
  c->restitution = rub.restitution;
  c->rebound = b >= 0 ? config->tangential_restitution : config->boundary_tangential_restitution;
  const TlNet *net = net_at(job, a, b);
  if (net) {
    c->friction = net->friction;
    c->restitution = net->restitution;
    c->rebound = 0; /* the law of nets has none */
  }
  c->allowed_speed = tl_max(p->gap, 0) / config->step_s;
  c->size = b >= 0 ? tl_min(x->radius[a], x->radius[b]) : x->radius[a];
  tl_contact_prepare(c, job->dynamics);
  double inverse = job->dynamics->inverse_mass[a] + (b >= 0 ? job->dynamics->inverse_mass[b] : 0);
  c->weight = config->order == TL_ORDER_WEIGHTED ? 1 / inverse : 1;
}

static void fill_slot(const Job *job, const TlPair *pair, int64_t slot, TlContact *contact) {
  int64_t body_pairs = (int64_t)job->pairs->count;
  int32_t boundary = slot < body_pairs ? -1 : job->near_boundary[slot - body_pairs];
  const TlPoint *kept = job->kept + slot * TL_MANIFOLD_POINTS;
  for (int32_t k = 0; k < job->kept_count[slot]; k++)
    fill_contact(job, &contact[k], &kept[k], pair->a, pair->b, boundary);
  const Known *known = &job->known[slot];
  warm_start(contact, job->kept_count[slot], job->dynamics, known->touch, known->count);
}

typedef struct Filling {
  const Job *job;
  TlFound *found;
  const int32_t *pair_slot; /* first slot of each pair */
} Filling;

static TlStatus fill_pairs(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Filling *f = context;
  const Job *job = f->job;
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++) {
    const TlPair *pair = &f->found->pair[i];
    int64_t slot = f->pair_slot[i];
    for (int32_t done = 0; done < pair->count; slot++) { /* a body's boundaries: several slots */
      fill_slot(job, pair, slot, &f->found->contact[pair->first + done]);
      done += job->kept_count[slot];
    }
  }
  return TL_OK;
}

static void list_pairs(const Job *job, int64_t near, TlFound *found, int32_t *pair_slot) {
  const TlBodies *b = job->bodies;
  int64_t body_pairs = (int64_t)job->pairs->count;
  for (int64_t i = 0; i < body_pairs + near; i++) {
    if (job->kept_count[i] == 0) continue;
    bool grains = i < body_pairs;
    int32_t a = grains ? job->pairs->pair[i].a : job->near_body[i - body_pairs];
    int32_t other = grains ? job->pairs->pair[i].b : -1;
    TlPair *last = found->pairs ? &found->pair[found->pairs - 1] : NULL;
    if (grains || !last || last->b >= 0 || last->a != a) {
      pair_slot[found->pairs] = (int32_t)i;
      last = &found->pair[found->pairs++];
      *last = (TlPair){.low = b->id[a],
                       .high = grains ? b->id[other] : -1,
                       .a = a,
                       .b = other,
                       .first = found->contacts};
    }
    last->count += job->kept_count[i];
    found->contacts += job->kept_count[i];
  }
}

static TlStatus make_contacts(const Job *job, int64_t near, TlFound *found) {
  size_t slots = job->pairs->count + (size_t)near;
  int32_t *pair_slot = tl_arena_push(job->detect->arena, slots, sizeof *pair_slot);
  found->pair = tl_arena_push(job->detect->arena, slots, sizeof *found->pair);
  if (!pair_slot || !found->pair) return TL_ENOMEM;
  list_pairs(job, near, found, pair_slot);
  found->contact =
      tl_arena_push(job->detect->arena, (size_t)found->contacts, sizeof *found->contact);
  if (!found->contact) return TL_ENOMEM;
  Filling filling = {job, found, pair_slot};
  return tl_par_loop(found->pairs, 64, FILL_NS, fill_pairs, &filling);
}

static TlStatus turn_bodies(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Job *job = context;
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++) {
    job->turn[i] = tl_quat_matrix(job->bodies->rotation[i]);
    job->spin_speed[i] = tl_norm(job->dynamics->twist[i].w) * job->bodies->radius[i];
  }
  return TL_OK;
}

static TlStatus prepare(Job *job) {
  const TlDetect *d = job->detect;
  const TlBodies *b = job->bodies;
  job->turn = tl_arena_push(d->arena, (size_t)b->total, sizeof *job->turn);
  job->spin_speed = tl_arena_push(d->arena, (size_t)b->total, sizeof *job->spin_speed);
  if (!job->turn || !job->spin_speed) return TL_ENOMEM;
  for (int t = 0; t < tl_par_threads(); t++) {
    TlPoints *p = &d->points[t];
    p->pairs = p->lookups = p->node_tests = p->lists = 0;
  }
  TL_TRY(tl_par_loop(b->total, 512, LIGHT_NS, turn_bodies, job));
  job->pairs = &d->near->broad.pairs;
  return tl_near_update(d->near, b, d->boundary_count, d->config->step_s, d->arena);
}

TlStatus tl_detect(const TlDetect *d, const TlBodies *bodies, const TlDynamics *dynamics,
                   TlFound *found) {
  *found = (TlFound){0};
  Job job = {.detect = d, .bodies = bodies, .dynamics = dynamics};
  int64_t near;
  TL_TRY(prepare(&job));
  TL_TRY(list_near(&job, &near));
  size_t slots = job.pairs->count + (size_t)near;
  job.kept = tl_arena_push(d->arena, slots * TL_MANIFOLD_POINTS, sizeof *job.kept);
  job.kept_count = tl_arena_push(d->arena, slots, sizeof *job.kept_count);
  job.known = tl_arena_push(d->arena, slots, sizeof *job.known);
  if (!job.kept || !job.kept_count || !job.known) return TL_ENOMEM;
  TL_TRY(tl_par_loop((int64_t)job.pairs->count, 64, SEARCH_NS, test_pairs, &job));
  TL_TRY(tl_par_loop(near, 64, SEARCH_NS, test_boundaries, &job));
  for (int t = 0; t < tl_par_threads(); t++) {
    found->tested += d->points[t].pairs;
    found->lookups += d->points[t].lookups;
    found->node_tests += d->points[t].node_tests;
    found->lists += d->points[t].lists;
  }
  return make_contacts(&job, near, found);
}
