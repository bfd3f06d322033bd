#include "solve/detect.h"

#include "base/par.h"
#include "model/shapes.h"

#include <math.h>
#include <string.h>

/* Speculative margin (measured: 0.1 r lets impacts overlap by 0.04-0.36 r, 0.6 r by 0.01 r): what
 * impacts elsewhere may add within the step, capped, plus twice the pair's own motion. */
static const double MARGIN_CAP = 0.6;    /* of the radius, a body's half */
static const double MARGIN_FLOOR = 0.01; /* likewise */
static const double HEIR_GAP = 2e-3;     /* fraction of r: a point nearer than this touches */
static const double SPREAD = 0.05; /* manifold points nearer than this fraction of r are one */

static double base_margin(double step_s, double gravity_m_s2, double speed_max, double radius) {
  double most = (speed_max + gravity_m_s2 * step_s) * step_s;
  return tl_min(MARGIN_CAP * radius, most) + MARGIN_FLOOR * radius;
}

double tl_detect_reach(double step_s, double gravity_m_s2, double speed_max, double radius,
                       double speed) {
  return radius + base_margin(step_s, gravity_m_s2, speed_max, radius) + 2 * speed * step_s;
}

/* Work on an item, about: for tl_par_pays. */
static const double LIGHT_NS = 100, FILL_NS = 500, SEARCH_NS = 1000;

typedef struct Known { /* impulses of a slot from the last step */
  const TlImpulse *impulse;
  size_t count;
  bool kept;   /* its points are TL_INNER rows */
  double band; /* points farther above the nearest are left out */
} Known;

typedef struct Job {
  const TlDetect *detect;
  const TlBodies *bodies;
  const TlDynamics *dynamics;
  TlScan scan;
  double *spin_speed; /* of its surface about the body's centre, each collider */
  Known *known;       /* of each slot with points */
  double *clear;      /* TlFound.clear, or NULL */
  TlPairLaw *slipped; /* a law a contact, of bodies that have slid; NULL: none slips */
} Job;

/* What stands beside the nearest node: those it does not come nearer than by much, and those that
 * the pair's motion may bring to touch, which is taken twice. Once the motion would do for the
 * overlaps and saves a third of an impact's time, but piles then rest worse: 64 dropped grains kept
 * 2e-5 of their energy instead of 6e-9. A pair too far apart to meet by its own motion has contacts
 * for what impacts elsewhere may add: there the nearest nodes do. */
static double reach_of(double travel, double size) {
  return 2 * travel + 2 * MARGIN_FLOOR * size;
}

static TlMargin make_margin(const TlDetect *d, double size, double speed, double nearby) {
  double travel = speed * d->step_s;
  double base = base_margin(d->step_s, d->gravity_m_s2, nearby, size);
  return (TlMargin){.margin = 2 * base + 2 * travel,
                    .band = 2 * MARGIN_FLOOR * size,
                    .reach = reach_of(travel, size),
                    .size = size,
                    .travel = travel};
}

static TlMargin pair_margin(const void *context, int64_t a, int64_t b) {
  const Job *job = context;
  const TlDetect *d = job->detect;
  const TlColliders *x = &job->bodies->colliders;
  const TlTwist *t = job->dynamics->twist;
  double speed =
      tl_norm(tl_sub(t[x->body[a]].v, t[x->body[b]].v)) + job->spin_speed[a] + job->spin_speed[b];
  double nearby = d->nearby ? tl_max(d->nearby[x->body[a]], d->nearby[x->body[b]]) : d->speed_max;
  return make_margin(d, tl_min(x->radius[a], x->radius[b]), speed, nearby);
}

static TlMargin wall_margin(const void *context, int64_t a, const TlBoundary *wall) {
  const Job *job = context;
  const TlDetect *d = job->detect;
  const TlColliders *x = &job->bodies->colliders;
  TlVec3 v = tl_sub(job->dynamics->twist[x->body[a]].v, tl_boundary_velocity(wall, x->position[a]));
  double size = x->radius[a], turning = wall->drive ? tl_norm(wall->place.w) * size : 0;
  return make_margin(d, size, tl_norm(v) + job->spin_speed[a] + turning + tl_boundary_runs(wall),
                     d->nearby ? d->nearby[x->body[a]] : d->speed_max);
}

/* Of a slot with points. */
static Known *recall_impulses(const Job *job, const TlSlot *slot) {
  const TlColliders *b = &job->bodies->colliders;
  Known *known = &job->known[slot->number];
  int64_t high = slot->b >= 0 ? b->id[slot->b] : -1 - slot->boundary;
  const TlPairRows *memory = job->detect->memory;
  if (!memory) memory = &job->bodies->pairs.of[TL_IMPULSES];
  known->impulse = tl_pair_rows_find(memory, TL_IMPULSES, b->id[slot->a], high, &known->count);
  known->kept = false;
  return known;
}

bool tl_detect_remembers(const TlShape *a, const TlShape *b) {
  return !tl_shape_alone(a) || !tl_shape_alone(b);
}

/* How far above the nearest point others are wanted. */
static double band_of(const TlMargin *m, double least) {
  return tl_max(m->band, m->reach - tl_max(least, 0));
}

static double least_gap(const TlInnerContact *row, size_t count) {
  double least = INFINITY;
  for (size_t k = 0; k < count; k++) least = tl_min(least, row[k].gap);
  return least;
}

/* Points of two colliders of one aggregate have moved with it. */
static TlStatus recall_points(void *context, const TlSlot *slot, int thread, bool *known) {
  const Job *job = context;
  const TlColliders *x = &job->bodies->colliders;
  const int32_t *held = job->detect->held;
  int32_t one = held[x->body[slot->a]];
  TlManifolds *manifolds = job->detect->manifolds;
  TlPoint *space;
  size_t count;
  if (one < 0 || one != held[x->body[slot->b]]) return TL_OK;
  if (!tl_detect_remembers(x->shape[slot->a], x->shape[slot->b])) return TL_OK;
  const TlInnerContact *row = tl_pair_rows_find(&job->bodies->pairs.of[TL_INNER], TL_INNER,
                                                x->id[slot->a], x->id[slot->b], &count);
  if (!row || count > TL_MANIFOLD_POINTS) return TL_OK;
  if (!(least_gap(row, count) < slot->margin.margin)) {
    job->clear[slot->number] = -1;
    *known = true;
    return TL_OK;
  }
  if (row->place < 0) return TL_OK; /* it was searched less far */
  TL_TRY(tl_manifolds_reserve(manifolds, thread, &space));
  TlQuat turn = x->rotation[slot->a];
  for (size_t k = 0; k < count; k++) {
    if (row[k].place < 0 || row[k].place >= (int32_t)count) return TL_OK; /* no row of ours */
    space[row[k].place] = (TlPoint){
        .p = tl_add(x->position[slot->a], tl_quat_rotate(turn, row[k].point)),
        .n = tl_quat_rotate(turn, row[k].normal),
        .gap = row[k].gap,
        .key = row[k].number,
    };
  }
  *known = true;
  Known *memory = recall_impulses(job, slot);
  memory->kept = true;
  memory->band = row->band;
  tl_manifolds_keep(manifolds, thread, (size_t)slot->number, (int)count);
  return TL_OK;
}

static TlStatus keep_known(const Job *job, const TlSlot *slot, Known *known, TlPoints *points,
                           int thread) {
  const TlMargin *m = &slot->margin;
  TlManifolds *manifolds = job->detect->manifolds;
  TlPoint *space;
  if (points->count == 0) return TL_OK;
  TL_TRY(tl_manifolds_reserve(manifolds, thread, &space));
  double least = INFINITY;
  for (size_t i = 0; i < points->count; i++) least = tl_min(points->point[i].gap, least);
  known->band = band_of(m, least);
  int count = tl_manifold(points->point, points->count, known->band, SPREAD * m->size,
                          known->impulse, known->count, space);
  tl_manifolds_keep(manifolds, thread, (size_t)slot->number, count);
  return TL_OK;
}

static TlStatus keep_points(void *context, const TlSlot *slot, TlPoints *points, int thread) {
  const Job *job = context;
  if (points->count == 0) {
    if (job->clear && slot->b >= 0) job->clear[slot->number] = slot->margin.margin;
    return TL_OK;
  }
  return keep_known(job, slot, recall_impulses(job, slot), points, thread);
}

TlStatus tl_detect_pair(const TlSearchOptions *options, TlNear *near, const TlPairState *memory,
                        const TlColliders *b, int64_t i, int64_t j, double travel, double margin,
                        TlPoints *points) {
  double size = tl_min(b->radius[i], b->radius[j]);
  TlMargin m = {margin, 2 * MARGIN_FLOOR * size, reach_of(travel, size), size, travel};
  return tl_scan_pair(options, near, memory, b, i, j, &m, points);
}

/* ---- contacts from points ---- */

static void start_from(TlContact *c, const TlDynamics *dynamics, TlVec3 impulse) {
  tl_contact_want_tangents(c, dynamics);
  c->rest =
      tl_vec3(tl_max(0, tl_dot(impulse, c->n)), tl_dot(impulse, c->t1), tl_dot(impulse, c->t2));
  double most = c->law->friction * c->rest.x;
  double size = sqrt(c->rest.y * c->rest.y + c->rest.z * c->rest.z);
  if (size <= most) return;
  c->rest.y *= most / size;
  c->rest.z *= most / size;
}

/* A point takes the impulse of its own key. What belonged to points that are gone (a grain rolled
 * on to its next node) is shared by the new points that touch: dropped instead, each change of node
 * is a small blow, and a pile of smooth grains never quite rests. */
static void warm_start(TlContact *c, int32_t count, const TlDynamics *dynamics,
                       const TlImpulse *known, size_t known_count) {
  TlVec3 orphan = {0, 0, 0};
  bool matched[TL_MANIFOLD_POINTS] = {false};
  int32_t heirs = 0;
  for (size_t i = 0; i < known_count; i++) {
    int32_t k = 0;
    while (k < count && c[k].key != known[i].number) k++;
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

/* The law of a body that has slid: a copy of its own, with the friction of now. */
static const TlPairLaw *law_of(const Job *job, const TlPairLaw *law, int32_t body, int64_t number) {
  if (!job->slipped || !(job->bodies->slid[body] > 0)) return law;
  TlPairLaw *own = &job->slipped[number];
  *own = *law;
  own->friction = tl_slip_friction(law, job->bodies->slid[body]);
  return own;
}

static void fill_contact(const Job *job, TlContact *c, const TlPoint *p, const TlPair *pair,
                         const TlSlot *slot, int64_t number) {
  const TlColliders *x = &job->bodies->colliders;
  int32_t a = pair->a, b = pair->b, boundary = slot->boundary;
  *c = (TlContact){.n = p->n,
                   .a = a,
                   .b = b,
                   .gap = p->gap,
                   .key = p->key,
                   .part_a = slot->a,
                   .part_b = slot->b,
                   .boundary = boundary,
                   .point = p->p};
  c->ra = tl_sub(p->p, job->bodies->position[a]);
  if (b >= 0) c->rb = tl_sub(p->p, job->bodies->position[b]);
  int32_t other = b >= 0 ? x->material[slot->b] : 0;
  if (b < 0) {
    const TlBoundary *wall = &job->detect->boundary[boundary];
    other = tl_boundary_material(wall, p->p);
    c->wall = tl_boundary_surface_velocity(wall, p->p, p->n);
  }
  const TlMaterials *m = job->detect->materials;
  c->law = &m->law[tl_pair_law(m, x->material[slot->a], other)];
  if (b < 0) c->law = law_of(job, c->law, a, number);
  c->allowed_speed = tl_max(p->gap, 0) / job->detect->step_s;
  c->size = b >= 0 ? tl_min(x->radius[slot->a], x->radius[slot->b]) : x->radius[slot->a];
  tl_contact_prepare(c, job->dynamics);
  double inverse = job->dynamics->inverse_mass[a] + (b >= 0 ? job->dynamics->inverse_mass[b] : 0);
  c->weight = job->detect->weighted ? 1 / inverse : 1;
}

static void fill_slot(const Job *job, const TlPair *pair, int64_t slot, const TlFound *found,
                      int32_t first) {
  TlSlot at = tl_scan_slot(&job->scan, slot);
  const TlPoint *kept = tl_manifolds_points(job->detect->manifolds, (size_t)slot);
  int32_t count = tl_manifolds_count(job->detect->manifolds, (size_t)slot);
  TlContact *contact = &found->contact[first];
  for (int32_t k = 0; k < count; k++)
    fill_contact(job, &contact[k], &kept[k], pair, &at, first + k);
  const Known *known = &job->known[slot];
  warm_start(contact, count, job->dynamics, known->impulse, known->count);
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
      int32_t count = tl_manifolds_count(job->detect->manifolds, (size_t)slot);
      if (count > 0) fill_slot(job, pair, slot, f->found, pair->first + done);
      done += count;
    }
  }
  return TL_OK;
}

/* Of boundaries one pair a body: its colliders' slots follow each other. */
static void list_pairs(const Job *job, TlFound *found, int32_t *pair_slot) {
  const TlColliders *b = &job->bodies->colliders;
  for (int64_t i = 0; i < job->scan.slots; i++) {
    int32_t count = tl_manifolds_count(job->detect->manifolds, (size_t)i);
    if (count == 0) continue;
    TlSlot slot = tl_scan_slot(&job->scan, i);
    TlPair *last = found->pairs ? &found->pair[found->pairs - 1] : NULL;
    int32_t body = b->body[slot.a];
    if (slot.b >= 0 || !last || last->b >= 0 || last->a != body) {
      pair_slot[found->pairs] = (int32_t)i;
      last = &found->pair[found->pairs++];
      *last = (TlPair){.low = b->id[slot.a],
                       .high = slot.b >= 0 ? b->id[slot.b] : -1,
                       .a = body,
                       .b = slot.b >= 0 ? b->body[slot.b] : -1,
                       .part_a = slot.a,
                       .part_b = slot.b,
                       .first = found->contacts,
                       .elsewhere = slot.a >= b->owned,
                       .kept = slot.b >= 0 && job->known[i].kept,
                       .band = slot.b >= 0 ? job->known[i].band : 0};
    }
    last->count += count;
    found->contacts += count;
  }
}

static TlStatus make_contacts(Job *job, TlFound *found) {
  size_t slots = 0;
  for (int64_t i = 0; i < job->scan.slots; i++)
    slots += tl_manifolds_count(job->detect->manifolds, (size_t)i) > 0;
  int32_t *pair_slot = tl_arena_push(job->detect->arena, slots, sizeof *pair_slot);
  found->pair = tl_arena_push(job->detect->arena, slots, sizeof *found->pair);
  if (!pair_slot || !found->pair) return TL_ENOMEM;
  list_pairs(job, found, pair_slot);
  found->contact =
      tl_arena_push(job->detect->arena, (size_t)found->contacts, sizeof *found->contact);
  if (!found->contact) return TL_ENOMEM;
  if (job->detect->materials->slips) {
    job->slipped = tl_arena_push(job->detect->arena, (size_t)found->contacts, sizeof *job->slipped);
    if (!job->slipped) return TL_ENOMEM;
  }
  Filling filling = {job, found, pair_slot};
  return tl_par_loop(found->pairs, 64, FILL_NS, fill_pairs, &filling);
}

static TlStatus measure_spins(void *context, int64_t begin, int64_t end, int64_t block,
                              int thread) {
  const Job *job = context;
  (void)block;
  (void)thread;
  const TlColliders *c = &job->bodies->colliders;
  for (int64_t i = begin; i < end; i++) {
    double size = c->radius[i];
    if (job->detect->still && job->detect->still[i]) {
      job->spin_speed[i] = 0;
      continue;
    }
    if (c->posed) size += tl_norm(tl_collider_arm(job->bodies, i));
    job->spin_speed[i] = tl_norm(job->dynamics->twist[c->body[i]].w) * size;
  }
  return TL_OK;
}

static TlStatus start(Job *job) {
  const TlDetect *d = job->detect;
  int64_t colliders = job->bodies->colliders.total;
  job->spin_speed = tl_arena_push(d->arena, (size_t)colliders, sizeof *job->spin_speed);
  if (!job->spin_speed) return TL_ENOMEM;
  TL_TRY(tl_par_loop(colliders, 512, LIGHT_NS, measure_spins, job));
  TL_TRY(tl_scan_start(&job->scan));
  size_t slots = (size_t)job->scan.slots;
  job->known = tl_arena_push(d->arena, slots, sizeof *job->known);
  if (!job->known) return TL_ENOMEM;
  if (d->notes_clear) {
    size_t pairs = job->scan.pairs->count;
    job->clear = tl_arena_push(d->arena, pairs + 1, sizeof *job->clear);
    if (!job->clear) return TL_ENOMEM;
    memset(job->clear, 0, pairs * sizeof *job->clear);
  }
  return tl_manifolds_start(d->manifolds, tl_par_threads(), slots, d->arena);
}

/* Of all searches since tl_scan_prepare. */
static void count_work(const TlDetect *d, TlFound *found) {
  found->tested = found->lookups = found->node_tests = found->lists = 0;
  for (int t = 0; t < tl_par_threads(); t++) {
    found->tested += d->points[t].pairs;
    found->lookups += d->points[t].lookups;
    found->node_tests += d->points[t].node_tests;
    found->lists += d->points[t].lists;
  }
}

TlStatus tl_detect(const TlDetect *d, const TlBodies *bodies, const TlDynamics *dynamics,
                   TlFound *found) {
  *found = (TlFound){0};
  Job job = {.detect = d,
             .bodies = bodies,
             .dynamics = dynamics,
             .scan = {.options = d->options,
                      .step_s = d->step_s,
                      .boundary = d->boundary,
                      .boundary_count = d->boundary_count,
                      .arena = d->arena,
                      .near = d->near,
                      .points = d->points,
                      .places = d->places,
                      .bodies = bodies,
                      .still = d->still,
                      .context = &job,
                      .pair_margin = pair_margin,
                      .wall_margin = wall_margin,
                      .take = keep_points,
                      .recall = d->held ? recall_points : NULL,
                      .charged = d->half_lookups != NULL}};
  TL_TRY(start(&job));
  TL_TRY(tl_scan_run(&job.scan));
  if (d->half_lookups) tl_scan_charge(&job.scan, d->half_lookups);
  count_work(d, found);
  found->clear = job.clear;
  return make_contacts(&job, found);
}

/* ---- pairs that are searched after all ---- */

typedef struct Again {
  Job job;
  const TlFound *found;
  const int32_t *number;     /* of the pairs that are searched, among those that were found */
  const TlImpulse *impulse;  /* what their contacts bear */
  const int32_t *impulse_at; /* [pairs that are searched + 1] */
  int32_t *lookups;          /* what each search cost */
} Again;

static TlStatus search_again(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  Again *s = context;
  Job *job = &s->job;
  const TlDetect *d = job->detect;
  const TlColliders *x = &job->bodies->colliders;
  TlPoints *points = &d->points[thread];
  (void)block;
  for (int64_t i = begin; i < end; i++) {
    const TlPair *pair = &s->found->pair[s->number[i]];
    TlSlot slot = {.number = i, .a = pair->part_a, .b = pair->part_b, .boundary = -1};
    slot.margin = pair_margin(job, slot.a, slot.b);
    TlPointsBefore before = tl_points_before(points);
    points->pairs++;
    points->count = 0;
    TL_TRY(tl_scan_pair(d->options, d->near, &job->bodies->pairs, x, slot.a, slot.b, &slot.margin,
                        points));
    s->lookups[i] = tl_points_charge(points, before);
    job->known[i] = (Known){.impulse = &s->impulse[s->impulse_at[i]],
                            .count = (size_t)(s->impulse_at[i + 1] - s->impulse_at[i])};
    TL_TRY(keep_known(job, &slot, &job->known[i], points, thread));
  }
  return TL_OK;
}

/* Pairs and contacts as before, but for those that were searched. */
static TlStatus renew(const Again *s, const bool *again, TlFound *found, int32_t **from) {
  const Job *job = &s->job;
  const TlDetect *d = job->detect;
  const TlFound old = *found;
  int32_t searched = 0;
  size_t most = 0;
  for (int32_t i = 0; i < old.pairs; i++)
    most += (size_t)(again[i] ? tl_manifolds_count(d->manifolds, (size_t)searched++)
                              : old.pair[i].count);
  found->pair = tl_arena_push(d->arena, (size_t)old.pairs + 1, sizeof *found->pair);
  found->contact = tl_arena_push(d->arena, most + 1, sizeof *found->contact);
  *from = tl_arena_push(d->arena, most + 1, sizeof **from);
  if (!found->pair || !found->contact || !*from) return TL_ENOMEM;
  found->pairs = found->contacts = searched = 0;
  for (int32_t i = 0; i < old.pairs; i++) {
    TlPair pair = old.pair[i];
    int32_t slot = again[i] ? searched++ : -1, first = found->contacts;
    if (slot >= 0) pair.count = tl_manifolds_count(d->manifolds, (size_t)slot);
    if (pair.count == 0) continue;
    pair.first = first;
    found->contacts += pair.count;
    if (slot < 0) {
      memcpy(&found->contact[first], &old.contact[old.pair[i].first],
             (size_t)pair.count * sizeof *found->contact);
      for (int32_t k = 0; k < pair.count; k++) (*from)[first + k] = old.pair[i].first + k;
    } else {
      const TlPoint *kept = tl_manifolds_points(d->manifolds, (size_t)slot);
      const TlSlot at = {.a = pair.part_a, .b = pair.part_b, .boundary = -1};
      pair.kept = false;
      pair.band = job->known[slot].band;
      for (int32_t k = 0; k < pair.count; k++) {
        fill_contact(job, &found->contact[first + k], &kept[k], &pair, &at, first + k);
        (*from)[first + k] = -1;
      }
      warm_start(&found->contact[first], pair.count, job->dynamics, job->known[slot].impulse,
                 job->known[slot].count);
    }
    found->pair[found->pairs++] = pair;
  }
  count_work(d, found);
  return TL_OK;
}

/* Would a search find more of the pair than its rows have? */
static bool wants_more(const Job *job, const TlFound *found, const TlPair *pair) {
  double least = INFINITY;
  for (int32_t k = pair->first; k < pair->first + pair->count; k++)
    least = tl_min(least, found->contact[k].gap);
  TlMargin m = pair_margin(job, pair->part_a, pair->part_b);
  return band_of(&m, least) > pair->band;
}

TlStatus tl_detect_again(const TlDetect *d, const TlBodies *bodies, const TlDynamics *dynamics,
                         bool *again, TlFound *found, int32_t **from) {
  Again s = {.job = {.detect = d, .bodies = bodies, .dynamics = dynamics}, .found = found};
  const TlColliders *x = &bodies->colliders;
  int32_t count = 0, contacts = 0, borne = 0;
  *from = NULL;
  s.job.spin_speed = tl_arena_push(d->arena, (size_t)x->total + 1, sizeof *s.job.spin_speed);
  if (!s.job.spin_speed) return TL_ENOMEM;
  TL_TRY(tl_par_loop(x->total, 512, LIGHT_NS, measure_spins, &s.job));
  for (int32_t i = 0; i < found->pairs; i++) {
    again[i] = again[i] && wants_more(&s.job, found, &found->pair[i]);
    count += again[i];
    contacts += again[i] ? found->pair[i].count : 0;
  }
  if (count == 0) return TL_OK;
  size_t n = (size_t)count + 1;
  int32_t *number = tl_arena_push(d->arena, n, sizeof *number);
  int32_t *impulse_at = tl_arena_push(d->arena, n, sizeof *impulse_at);
  TlImpulse *impulse = tl_arena_push(d->arena, (size_t)contacts + 1, sizeof *impulse);
  s.lookups = tl_arena_push(d->arena, n, sizeof *s.lookups);
  s.job.known = tl_arena_push(d->arena, n, sizeof *s.job.known);
  if (!number || !impulse_at || !impulse || !s.lookups || !s.job.known) return TL_ENOMEM;
  count = 0;
  for (int32_t i = 0; i < found->pairs; i++) {
    if (!again[i]) continue;
    const TlPair *pair = &found->pair[i];
    impulse_at[count] = borne;
    number[count++] = i;
    for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
      const TlContact *c = &found->contact[k];
      if (!(tl_norm2(c->rest) > 0)) continue;
      TlVec3 force =
          tl_axpy(tl_axpy(tl_scale(c->rest.x, c->n), c->rest.y, c->t1), c->rest.z, c->t2);
      impulse[borne++] = (TlImpulse){.number = c->key, .impulse = force};
    }
  }
  impulse_at[count] = borne;
  s.number = number;
  s.impulse = impulse;
  s.impulse_at = impulse_at;
  TL_TRY(tl_manifolds_start(d->manifolds, tl_par_threads(), (size_t)count, d->arena));
  TL_TRY(tl_par_loop(count, 16, SEARCH_NS, search_again, &s));
  for (int32_t i = 0; d->half_lookups && i < count; i++) {
    d->half_lookups[found->pair[number[i]].a] += s.lookups[i];
    d->half_lookups[found->pair[number[i]].b] += s.lookups[i];
  }
  return renew(&s, again, found, from);
}
