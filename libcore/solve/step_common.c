#include "solve/step_common.h"

#include "base/par.h"
#include "solve/sleep.h"

#include <math.h>
#include <string.h>

TlStatus tl_step_together(const TlSync *sync, TlStatus status) {
  int failed = status != TL_OK;
  TL_TRY(tl_sync_any(sync, &failed));
  if (status != TL_OK || !failed) return status;
  return tl_fail(TL_EOTHER, "another rank failed in this step");
}

TlStatus tl_step_reserve_points(TlWorkspace *w) {
  size_t threads = (size_t)tl_par_threads(), old = w->point_lists;
  if (threads <= old) return TL_OK;
  TlPoints *grown = tl_realloc(w->points, old, threads, sizeof *grown);
  if (!grown) return TL_ENOMEM;
  memset(grown + old, 0, (threads - old) * sizeof *grown);
  w->points = grown;
  w->point_lists = threads;
  return TL_OK;
}

/* ---- driven boundaries ---- */

/* Where the state's number of steps says. */
static void place_boundaries(const TlStep *s) {
  TlWorkspace *w = s->work;
  int64_t steps = s->state->steps;
  if (w->placed == steps) return;
  for (int i = 0; i < s->model->boundary_count; i++) {
    const TlDrive *drive = w->boundary[i].drive;
    if (!drive) continue;
    w->boundary[i].place = tl_drive_place(drive, steps, steps, s->model->step_s);
    w->ahead[i].place = tl_drive_place(drive, steps + 1, steps, s->model->step_s);
  }
  w->placed = steps;
}

void tl_step_count(const TlStep *s) {
  s->state->steps++;
  place_boundaries(s);
}

/* Grains that a boundary throws meet others in the same step. */
static double driven_speed(const TlStep *s, TlVec3 position) {
  double most = 0;
  for (int i = 0; i < s->model->boundary_count; i++) {
    const TlBoundary *b = &s->work->boundary[i];
    most = fmax(most, tl_norm(tl_boundary_velocity(b, position)) + tl_boundary_runs(b));
  }
  return most;
}

/* ---- derived fields ---- */

/* Mass and moments of inertia of one collider. */
static double collider_mass(const TlModel *m, const TlColliders *c, int64_t k, TlVec3 *inertia) {
  double scale = c->scale[k], scale3 = scale * scale * scale;
  double density = m->materials.material[c->material[k]].density_kg_m3;
  *inertia = tl_scale(density * scale3 * scale * scale, c->shape[k]->inertia_m5);
  return density * c->shape[k]->volume_m3 * scale3;
}

/* The sums over its colliders; its frame must lie at their centre of mass along the principal axes
 * (tl_bodies_frame). */
static TlStatus derive_parts(const TlModel *model, TlBodies *b, int64_t i) {
  static const double ROUNDING = 1e-9; /* of the radius; of the sum of the moments of inertia */
  TlColliders *c = &b->colliders;
  TlSym3 sum = {0};
  TlVec3 moment = {0, 0, 0}, one;
  double mass = 0, radius = 0;
  for (int64_t k = b->first[i]; k < b->first[i] + b->parts[i]; k++) {
    double m = collider_mass(model, c, k, &one);
    TlSym3 part = tl_collider_inertia(c->offset[k], c->turn[k], m, one);
    c->radius[k] = c->scale[k] * c->shape[k]->radius_m;
    radius = fmax(radius, tl_norm(c->offset[k]) + c->radius[k]);
    mass += m;
    moment = tl_axpy(moment, m, c->offset[k]);
    sum = (TlSym3){sum.xx + part.xx, sum.yy + part.yy, sum.zz + part.zz,
                   sum.xy + part.xy, sum.xz + part.xz, sum.yz + part.yz};
  }
  double off = fmax(fabs(sum.xy), fmax(fabs(sum.xz), fabs(sum.yz)));
  if (!(tl_norm(moment) <= ROUNDING * mass * radius) ||
      !(off <= ROUNDING * (sum.xx + sum.yy + sum.zz)))
    return tl_fail(TL_EINPUT,
                   "body %lld: its frame does not lie at the centre of mass of its %d parts along "
                   "their principal axes",
                   (long long)b->id[i], b->parts[i]);
  b->mass[i] = mass;
  b->inertia[i] = tl_vec3(sum.xx, sum.yy, sum.zz);
  b->radius[i] = radius;
  return TL_OK;
}

static void derive_grain(const TlModel *m, TlBodies *b, int64_t i) {
  TlColliders *c = &b->colliders;
  int64_t k = b->first[i];
  b->mass[i] = collider_mass(m, c, k, &b->inertia[i]);
  b->radius[i] = c->radius[k] = c->scale[k] * c->shape[k]->radius_m;
  const TlNet *net = b->flags[i] & TL_BODY_NET ? tl_net_of(m->nets, m->net_count, b->id[i]) : NULL;
  if (net) { /* its density is its own */
    b->inertia[i] = tl_scale(net->mass_kg / b->mass[i], b->inertia[i]);
    b->mass[i] = net->mass_kg;
  }
}

static TlStatus derive(const TlModel *m, TlBodies *b, int64_t i) {
  if (b->parts[i] > 0)
    TL_TRY(derive_parts(m, b, i));
  else
    derive_grain(m, b, i);
  bool fixed = b->flags[i] & TL_BODY_FROZEN;
  TlVec3 inertia = b->inertia[i];
  b->inverse_mass[i] = fixed ? 0 : 1 / b->mass[i];
  b->inverse_inertia[i] =
      fixed ? (TlVec3){0, 0, 0} : tl_vec3(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
  return TL_OK;
}

double tl_step_speed(const TlBodies *b, int64_t i) {
  bool carried = b->flags[i] & TL_BODY_NET; /* perhaps: a net's row (membrane.h) */
  if (b->flags[i] & TL_BODY_FROZEN && !carried) return 0;
  return tl_norm(b->velocity[i]) + tl_norm(tl_bodies_spin(b, i)) * b->radius[i];
}

/* Half the longest bond allowed, so that bonded spheres see each other across ranks. */
static double half_bond(const TlModel *m, int64_t id) {
  const TlNet *net = tl_net_of(m->nets, m->net_count, id);
  if (!net) return 0;
  return 0.5 * (1 + net->stretch_most) * tl_net_longest_bond(net);
}

/* Are the derived fields of the body those of the shape and scale it has? Of a body with parts they
 * are made anew in each step. */
static bool derived(const TlStep *s, const TlBodies *b, int64_t i) {
  const TlColliders *c = &b->colliders;
  int64_t k = b->first[i];
  const TlKnownShape *known = &s->work->known[k];
  const TlShape *shape = known->shape;
  if (!shape || known->avatar_id != c->avatar_id[k] || c->shape[k] != shape) return false;
  double scale = c->scale[k], scale3 = scale * scale * scale;
  double density = s->model->materials.material[c->material[k]].density_kg_m3;
  bool fixed = b->flags[i] & TL_BODY_FROZEN;
  return !(b->flags[i] & TL_BODY_NET) && b->parts[i] == 0 &&
         c->radius[k] == scale * shape->radius_m && b->radius[i] == c->radius[k] &&
         b->mass[i] == density * shape->volume_m3 * scale3 && (b->inverse_mass[i] == 0) == fixed;
}

static TlStatus find_shapes(const TlStep *s, TlBodies *b, int64_t i) {
  TlColliders *c = &b->colliders;
  for (int64_t k = b->first[i]; k < b->first[i] + tl_bodies_parts(b, i); k++) {
    TL_TRY(tl_model_shape(s->model, c->avatar_id[k], &c->shape[k]));
    s->work->known[k] = (TlKnownShape){c->avatar_id[k], c->shape[k]};
  }
  return TL_OK;
}

TlStatus tl_step_derive(const TlStep *s) {
  TlWorkspace *w = s->work;
  TlBodies *b = &s->state->bodies;
  const TlColliders *c = &b->colliders;
  size_t had = w->known_capacity;
  TL_TRY(TL_RESERVE(w->known, w->known_capacity, (size_t)c->total));
  for (size_t i = had; i < w->known_capacity; i++) w->known[i] = (TlKnownShape){0, NULL};
  for (int64_t k = 0; k < c->total; k++)
    if (c->material[k] < 0 || c->material[k] >= s->model->materials.count)
      return tl_fail(TL_EUSAGE, "body %lld: there is no material %d", (long long)c->body_id[k],
                     c->material[k]);
  for (int64_t i = 0; i < b->total; i++) {
    if (derived(s, b, i)) continue;
    double mass = b->mass[i];
    TL_TRY(find_shapes(s, b, i));
    TL_TRY(derive(s->model, b, i));
    if (!(b->flags[i] & TL_BODY_NET) && (b->parts[i] == 0 || b->mass[i] != mass)) w->unchecked++;
  }
  tl_bodies_place_colliders(b);
  return TL_OK;
}

double tl_step_reaching_speed(const TlStep *s, int64_t i) {
  const TlBodies *b = &s->state->bodies;
  double own = b->asleep[i] && !tl_sleep_kicked(b, i) ? 0 : tl_step_speed(b, i);
  return fmax(own, driven_speed(s, b->position[i]));
}

static double least_radius(const TlColliders *c) {
  double least = INFINITY;
  for (int64_t k = 0; k < c->owned; k++) least = fmin(least, c->radius[k]);
  return least;
}

static double largest_speed(const TlStep *s) {
  const TlBodies *b = &s->state->bodies;
  double most = 0;
  for (int64_t i = 0; i < b->total; i++) most = fmax(most, tl_step_reaching_speed(s, i));
  return most;
}

/* How far bodies [first, total) look for contacts, by the largest speed of all ranks. */
static void set_reach(const TlStep *s, int64_t first) {
  const TlModel *m = s->model;
  TlBodies *b = &s->state->bodies;
  const TlMethodKind *method = tl_method(m->method);
  TlColliders *c = &b->colliders;
  for (int64_t i = first; i < b->total; i++) {
    bool still = b->asleep[i] && !tl_sleep_kicked(b, i);
    double speed = method->reach && !still ? tl_step_speed(b, i) : 0;
    b->halo[i] = 0;
    for (int64_t k = b->first[i]; k < b->first[i] + tl_bodies_parts(b, i); k++) {
      c->reach[k] = c->radius[k];
      if (method->reach) c->reach[k] = method->reach(m, s->work->speed_max, c->radius[k], speed);
      double far = c->reach[k];
      if (b->parts[i] > 0) far += tl_norm(c->offset[k]);
      b->halo[i] = fmax(b->halo[i], far);
    }
    if (b->flags[i] & TL_BODY_NET) b->halo[i] = fmax(b->halo[i], half_bond(m, b->id[i]));
  }
}

static bool any_awake(const TlBodies *b) {
  for (int64_t i = 0; i < b->owned; i++)
    if (!tl_sleep_still(b, i) || tl_sleep_kicked(b, i)) return true;
  return false;
}

static TlStatus refresh(const TlStep *s) {
  place_boundaries(s);
  TlStatus status = tl_step_derive(s);
  bool wanted = status == TL_OK && tl_method(s->model->method)->reach;
  /* One exchange for all: minus the largest speed, -1 where a rank failed, for all ranks must leave
   * together, -1 where a body is awake, and the least radius. */
  double least[4] = {wanted ? -largest_speed(s) : 0, status == TL_OK ? 0 : -1,
                     wanted && any_awake(&s->state->bodies) ? -1 : 0,
                     wanted ? least_radius(&s->state->bodies.colliders) : INFINITY};
  TL_TRY(tl_sync_least(s->sync, least, 4));
  if (status != TL_OK) return status;
  if (least[1] < 0) return tl_fail(TL_EOTHER, "another rank could not load its shapes");
  s->work->speed_max = -least[0];
  s->work->awake = least[2] < 0;
  s->work->radius_least = least[3];
  set_reach(s, 0);
  return TL_OK;
}

TlStatus tl_step_refresh(const TlModel *model, TlState *state, TlWorkspace *work,
                         const TlSync *sync) {
  const TlStep step = {.model = model, .state = state, .work = work, .sync = sync};
  return refresh(&step);
}

/* ---- before a step ---- */

/* The first row of the kind that the method does not solve; their number: all are solved. */
static size_t first_unsolved(const TlMethodKind *method, const TlPairRows *rows, TlPairKind kind) {
  if (method->solves & TL_KIND_BIT(kind)) return rows->count;
  if (!(method->solves_on_world & TL_KIND_BIT(kind))) return 0;
  size_t i = 0;
  while (i < rows->count && tl_pair_key(rows, kind, i).high < 0) i++;
  return i;
}

TlStatus tl_step_check_constraints(const TlStep *s) {
  const TlPairState *pairs = &s->state->bodies.pairs;
  for (int k = TL_FIRST_CONSTRAINT; k < TL_PAIR_KINDS; k++) {
    size_t i = first_unsolved(tl_method(s->model->method), &pairs->of[k], (TlPairKind)k);
    if (i == pairs->of[k].count) continue;
    TlPairKey key = tl_pair_key(&pairs->of[k], (TlPairKind)k, i);
    return tl_fail(TL_EUSAGE,
                   "the method %s does not solve constraints of the kind '%s' (number %lld, bodies "
                   "%lld and %lld); remove them, or choose a method that does",
                   tl_method_name(s->model->method), tl_pair_kind_name[k], (long long)key.number,
                   (long long)key.low, (long long)key.high);
  }
  return TL_OK;
}

TlStatus tl_step_check_bodies(const TlStep *s) {
  const TlMethodKind *method = tl_method(s->model->method);
  if (!method->check_bodies || s->work->unchecked == 0) return TL_OK;
  TL_TRY(method->check_bodies(s->model, &s->state->bodies));
  s->work->unchecked = 0;
  return TL_OK;
}

/* Contact memory that this step reads or hands on; another method's means nothing here. */
static bool keeps_memory(const TlStep *s, TlPairKind kind) {
  const TlMethodKind *method = tl_method(s->model->method);
  switch (tl_pair_kind_owner[kind]) {
  case TL_OF_METHOD:
    return kind == method->memory;
  case TL_OF_SEARCH:
    return s->model->search.edges == TL_EDGES_PLACES;
  case TL_OF_REDUCTION:
    return method->reduces;
  default:
    return true;
  }
}

/* What tl_step makes the bodies' `work` from. */
static TlStatus begin_work(const TlStep *s) {
  TlWorkspace *w = s->work;
  size_t n = (size_t)s->state->bodies.total;
  w->half_lookups = tl_arena_push(&w->arena, n, sizeof *w->half_lookups);
  w->solve_ns = tl_arena_push(&w->arena, n, sizeof *w->solve_ns);
  if (!w->half_lookups || !w->solve_ns) return TL_ENOMEM;
  memset(w->half_lookups, 0, n * sizeof *w->half_lookups);
  memset(w->solve_ns, 0, n * sizeof *w->solve_ns);
  return TL_OK;
}

void tl_step_charge(const TlStep *s, const TlGroups *groups) {
  TlBodies *b = &s->state->bodies;
  for (int64_t i = 0; i < b->owned; i++) b->solve_at[i] = groups->solve_at[i];
  for (int32_t i = 0; i < groups->found.count; i++) {
    const TlPair *p = &groups->found.pair[i];
    s->work->solve_ns[p->a] += groups->found_ns[i] / 2;
    s->work->solve_ns[p->b >= 0 ? p->b : p->a] += groups->found_ns[i] / 2;
  }
}

TlStatus tl_step_begin(const TlStep *s) {
  TlBodies *b = &s->state->bodies;
  TL_TRY(tl_step_check_constraints(s));
  for (int k = 0; k < TL_FIRST_CONSTRAINT; k++)
    if (!keeps_memory(s, (TlPairKind)k)) b->pairs.of[k].count = 0;
  if (s->sync) {
    place_boundaries(s);
    TL_TRY(begin_work(s));
    TL_TRY(tl_step_derive(s));
    set_reach(s, b->owned);
  } else {
    TL_TRY(refresh(s)); /* which exchanges nothing on one rank */
  }
  TL_TRY(tl_sleep_begin(s));
  return tl_step_check_bodies(s); /* grains may have come in */
}

/* ---- nets ---- */

TlDetect tl_step_detect(const TlStep *s) {
  const TlModel *m = s->model;
  TlWorkspace *w = s->work;
  return (TlDetect){.options = &m->search,
                    .step_s = m->step_s,
                    .gravity_m_s2 = tl_norm(m->gravity_m_s2),
                    .materials = s->materials,
                    .boundary = w->boundary,
                    .boundary_count = m->boundary_count,
                    .speed_max = w->speed_max,
                    .arena = &w->arena,
                    .near = &w->near,
                    .points = w->points,
                    .manifolds = &w->manifolds,
                    .places = m->search.edges == TL_EDGES_PLACES ? &w->places : NULL,
                    .half_lookups = w->half_lookups};
}

TlMembranes tl_step_membranes(const TlStep *s) {
  return (TlMembranes){.nets = s->model->nets,
                       .pressure_Pa = s->controls->pressure_Pa,
                       .count = s->model->net_count,
                       .bodies = &s->state->bodies,
                       .memo = s->work->net_memo,
                       .arena = &s->work->arena};
}

TlStatus tl_step_nets(TlStep *s, const TlVec3 *start, TlMembraneMove move, TlStepReport *r) {
  const TlModel *m = s->model;
  const TlMembranes membranes = tl_step_membranes(s);
  TlNetCount net;
  TlStatus status = move(&membranes, start, m->step_s, s->sync, &net);
  r->net_bonds = net.bonds;
  r->net_broken = net.broken;
  s->sums.net_elastic_end_J = net.elastic;
  if (m->net_count == 0) return status;
  return tl_step_together(s->sync, tl_context(status, "step %lld", (long long)s->state->steps));
}
