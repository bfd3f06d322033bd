#include "dem/detect.h"

#include "base/par.h"
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
  return fmin(MARGIN_CAP * radius, most) + MARGIN_FLOOR * radius;
}

double tl_detect_reach(const TlSolverConfig *c, double speed_max, double radius, double speed) {
  return radius + base_margin(c, speed_max, radius) + 2 * speed * c->step_s;
}

typedef struct Job {
  const TlDetect *detect;
  const TlBodies *bodies;
  const TlDynamics *dynamics;
  TlPoint *kept;                            /* TL_MANIFOLD_POINTS a slot */
  int32_t *kept_count;                      /* of each slot */
  const int32_t *near_body, *near_boundary; /* slots of boundaries */
} Job;

typedef struct Margin {
  double margin, band, size;
} Margin;

static double spin_speed(const Job *job, int64_t i) {
  return tl_norm(job->dynamics->twist[i].w) * job->bodies->radius[i];
}

static Margin pair_margin(const Job *job, int64_t a, int64_t b) {
  const TlDetect *d = job->detect;
  const TlBodies *x = job->bodies;
  const TlTwist *t = job->dynamics->twist;
  Margin m = {.size = fmin(x->radius[a], x->radius[b])};
  double speed = tl_norm(tl_sub(t[a].v, t[b].v)) + spin_speed(job, a) + spin_speed(job, b);
  double motion = 2 * speed * d->config->step_s;
  m.margin = 2 * base_margin(d->config, d->speed_max, m.size) + motion;
  m.band = motion + 2 * MARGIN_FLOOR * m.size;
  return m;
}

static Margin boundary_margin(const Job *job, int64_t a) {
  const TlDetect *d = job->detect;
  Margin m = {.size = job->bodies->radius[a]};
  double speed = tl_norm(job->dynamics->twist[a].v) + spin_speed(job, a);
  double motion = 2 * speed * d->config->step_s;
  m.margin = 2 * base_margin(d->config, d->speed_max, m.size) + motion;
  m.band = motion + 2 * MARGIN_FLOOR * m.size;
  return m;
}

static void keep_points(const Job *job, TlPoints *points, int64_t low, int64_t high, Margin m,
                        int64_t slot) {
  size_t known_count;
  const TlTouch *known = tl_history_find(&job->bodies->history, low, high, &known_count);
  job->kept_count[slot] = tl_manifold(points->point, points->count, m.band, SPREAD * m.size, known,
                                      known_count, job->kept + slot * TL_MANIFOLD_POINTS);
}

/* Nodes of either grain, or of the lower id only; a closed-form sphere speaks for both. */
static TlStatus pair_points(const TlSolverConfig *config, const TlBodies *x, int64_t a, int64_t b,
                            TlWanted *wanted, TlPoints *points) {
  bool both = config->sides == TL_SIDES_BOTH;
  bool alone_a = tl_shape_alone(x->shape[a]), alone_b = tl_shape_alone(x->shape[b]);
  if (alone_b && !alone_a) return tl_narrow_nodes(x, b, a, 1, wanted, points);
  TL_TRY(tl_narrow_nodes(x, a, b, 0, wanted, points));
  return both && !alone_a ? tl_narrow_nodes(x, b, a, 1, wanted, points) : TL_OK;
}

TlStatus tl_detect_pair(const TlSolverConfig *config, const TlBodies *bodies, int64_t a, int64_t b,
                        double margin, TlPoints *points) {
  TlWanted wanted = {margin, margin, INFINITY};
  return pair_points(config, bodies, a, b, &wanted, points);
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
    TlBodyPair p = job->detect->body_pairs->pair[i];
    Margin m = pair_margin(job, p.a, p.b);
    double far = job->bodies->radius[p.a] + job->bodies->radius[p.b] + m.margin;
    job->kept_count[i] = 0;
    if (bonded(job, p)) continue;
    if (tl_norm2(tl_sub(job->bodies->position[p.a], job->bodies->position[p.b])) > far * far)
      continue;
    points->count = 0;
    TlWanted wanted = {m.margin, m.band, INFINITY};
    TL_TRY(pair_points(job->detect->config, job->bodies, p.a, p.b, &wanted, points));
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
    int64_t slot = (int64_t)job->detect->body_pairs->count + i;
    int32_t body = job->near_body[i], boundary = job->near_boundary[i];
    Margin m = boundary_margin(job, body);
    points->count = 0;
    TlWanted wanted = {m.margin, m.band, INFINITY};
    TL_TRY(
        tl_narrow_boundary(job->bodies, body, &job->detect->boundary[boundary], &wanted, points));
    keep_points(job, points, job->bodies->id[body], -1 - boundary, m, slot);
  }
  return TL_OK;
}

/* (body, boundary) combinations worth testing, by body. */
static TlStatus list_near(Job *job, int64_t *count) {
  const TlDetect *d = job->detect;
  const TlBodies *b = job->bodies;
  int32_t *body = NULL, *boundary = NULL;
  for (int pass = 0; pass < 2; pass++) {
    int64_t n = 0;
    for (int64_t i = 0; i < b->owned; i++) {
      if (b->flags[i] & TL_BODY_FROZEN) continue;
      double margin = boundary_margin(job, i).margin;
      for (int32_t k = 0; k < d->boundary_count; k++) {
        if (!tl_narrow_near(b, i, &d->boundary[k], margin)) continue;
        if (pass) {
          body[n] = (int32_t)i;
          boundary[n] = k;
        }
        n++;
      }
    }
    *count = n;
    if (pass) break;
    body = tl_arena_push(d->arena, (size_t)n, sizeof *body);
    boundary = tl_arena_push(d->arena, (size_t)n, sizeof *boundary);
    if (!body || !boundary) return TL_ENOMEM;
  }
  job->near_body = body;
  job->near_boundary = boundary;
  return TL_OK;
}

/* ---- contacts from points ---- */

static void start_from(TlContact *c, TlVec3 impulse) {
  c->rest = tl_vec3(fmax(0, tl_dot(impulse, c->n)), tl_dot(impulse, c->t1), tl_dot(impulse, c->t2));
  double most = c->friction * c->rest.x;
  double size = sqrt(c->rest.y * c->rest.y + c->rest.z * c->rest.z);
  if (size <= most) return;
  c->rest.y *= most / size;
  c->rest.z *= most / size;
}

/* A point takes the impulse of its own key. What belonged to points that are gone (a grain rolled
 * on to its next node) is shared by the new points that touch: dropped instead, each change of node
 * is a small blow, and a pile of smooth grains never quite rests. */
static void warm_start(TlContact *c, int32_t count, const TlTouch *known, size_t known_count) {
  TlVec3 orphan = {0, 0, 0};
  bool matched[TL_MANIFOLD_POINTS] = {false};
  int32_t heirs = 0;
  for (size_t i = 0; i < known_count; i++) {
    int32_t k = 0;
    while (k < count && c[k].key != known[i].key) k++;
    if (k < count) {
      start_from(&c[k], known[i].impulse);
      matched[k] = true;
    } else {
      orphan = tl_add(orphan, known[i].impulse);
    }
  }
  for (int32_t k = 0; k < count; k++) heirs += !matched[k] && c[k].gap < HEIR_GAP * c[k].size;
  for (int32_t k = 0; heirs > 0 && k < count; k++)
    if (!matched[k] && c[k].gap < HEIR_GAP * c[k].size)
      start_from(&c[k], tl_scale(1.0 / heirs, orphan));
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
  c->friction = b >= 0 ? config->friction : config->boundary_friction;
  c->restitution = b >= 0 ? config->restitution : config->boundary_restitution;
  c->rebound = b >= 0 ? config->tangential_restitution : config->boundary_tangential_restitution;
  const TlNet *net = net_at(job, a, b);
  if (net) {
    c->friction = net->friction;
    c->restitution = net->restitution;
  }
  c->allowed_speed = fmax(p->gap, 0) / config->step_s;
  c->size = b >= 0 ? fmin(x->radius[a], x->radius[b]) : x->radius[a];
  tl_contact_prepare(c, job->dynamics);
  double inverse = job->dynamics->inverse_mass[a] + (b >= 0 ? job->dynamics->inverse_mass[b] : 0);
  c->weight = config->order == TL_ORDER_WEIGHTED ? 1 / inverse : 1;
}

static void fill_slot(const Job *job, const TlPair *pair, int64_t slot, TlContact *contact) {
  int64_t body_pairs = (int64_t)job->detect->body_pairs->count;
  int32_t boundary = slot < body_pairs ? -1 : job->near_boundary[slot - body_pairs];
  const TlPoint *kept = job->kept + slot * TL_MANIFOLD_POINTS;
  for (int32_t k = 0; k < job->kept_count[slot]; k++)
    fill_contact(job, &contact[k], &kept[k], pair->a, pair->b, boundary);
  size_t known_count;
  const TlTouch *known = tl_history_find(&job->bodies->history, pair->low,
                                         boundary < 0 ? pair->high : -1 - boundary, &known_count);
  warm_start(contact, job->kept_count[slot], known, known_count);
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
  int64_t body_pairs = (int64_t)job->detect->body_pairs->count;
  for (int64_t i = 0; i < body_pairs + near; i++) {
    if (job->kept_count[i] == 0) continue;
    bool grains = i < body_pairs;
    int32_t a = grains ? job->detect->body_pairs->pair[i].a : job->near_body[i - body_pairs];
    int32_t other = grains ? job->detect->body_pairs->pair[i].b : -1;
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
  size_t slots = job->detect->body_pairs->count + (size_t)near;
  int32_t *pair_slot = tl_arena_push(job->detect->arena, slots, sizeof *pair_slot);
  found->pair = tl_arena_push(job->detect->arena, slots, sizeof *found->pair);
  if (!pair_slot || !found->pair) return TL_ENOMEM;
  list_pairs(job, near, found, pair_slot);
  found->contact =
      tl_arena_push(job->detect->arena, (size_t)found->contacts, sizeof *found->contact);
  if (!found->contact) return TL_ENOMEM;
  Filling filling = {job, found, pair_slot};
  return tl_par_blocks(found->pairs, 64, fill_pairs, &filling);
}

TlStatus tl_detect(const TlDetect *d, const TlBodies *bodies, const TlDynamics *dynamics,
                   TlFound *found) {
  *found = (TlFound){0};
  Job job = {.detect = d, .bodies = bodies, .dynamics = dynamics};
  int64_t near;
  TL_TRY(tl_broad_pairs(bodies, d->arena, d->body_pairs));
  TL_TRY(list_near(&job, &near));
  size_t slots = d->body_pairs->count + (size_t)near;
  job.kept = tl_arena_push(d->arena, slots * TL_MANIFOLD_POINTS, sizeof *job.kept);
  job.kept_count = tl_arena_push(d->arena, slots, sizeof *job.kept_count);
  if (!job.kept || !job.kept_count) return TL_ENOMEM;
  for (int t = 0; t < tl_par_threads(); t++) d->points[t].lookups = d->points[t].node_tests = 0;
  TL_TRY(tl_par_blocks((int64_t)d->body_pairs->count, 16, test_pairs, &job));
  TL_TRY(tl_par_blocks(near, 16, test_boundaries, &job));
  found->tested = (int64_t)slots;
  for (int t = 0; t < tl_par_threads(); t++) {
    found->lookups += d->points[t].lookups;
    found->node_tests += d->points[t].node_tests;
  }
  return make_contacts(&job, near, found);
}
