#include "solve/share.h"

#include "base/comm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Bodies that go to one rank or come from it, at list[first .. first + count). */
typedef struct Parcel {
  int32_t rank, first, count;
} Parcel;

/* One exchange: what goes out and what comes in, by rank and then by the bodies' ids. */
typedef struct Exchange {
  Parcel *out, *in;
  int32_t outs, ins;
  int32_t *out_body, *in_body;
} Exchange;

/* A pair whose result goes to a rank or comes from it. */
typedef struct Result {
  int32_t rank, pair; /* of the solved ones, or of those found */
  int64_t low, high, tag;
} Result;

struct TlShare {
  const TlSync *sync;
  TlArena *arena;
  int64_t owned, total, bodies; /* bodies: owned, with ghosts, with guests too */
  int64_t *id;                  /* of each */
  int32_t *owner;               /* rank that owns it */
  bool *movable;
  double *inverse_mass;
  TlSym3 *inverse_inertia;
  TlDynamics dynamics;
  TlTwist *twists;
  TlVec3 *carried; /* of guests */
  TlPairList found;
  const TlPlacing *plan;                /* of these */
  const TlLink *link;                   /* found here, and guests */
  Exchange scatter, collect;            /* of all bodies */
  Exchange spread_first, spread_second; /* of those in cells: to their owners, and from there */
  Exchange *after;                      /* [phases] */
  unsigned char *out, *in;              /* as large as the largest exchange */
  const TlSolved *solved;
  int32_t solved_count;
  Result *away, *home;
  int32_t aways, homes;
};

_Static_assert(sizeof(TlTwist) <= TL_SHARE_BYTES, "a velocity fits into an exchange");

const TlSync *tl_share_sync(const TlShare *share) {
  return share->sync;
}
int64_t tl_share_bodies(const TlShare *share) {
  return share->bodies;
}
const TlDynamics *tl_share_dynamics(const TlShare *share) {
  return &share->dynamics;
}
TlTwist *tl_share_twists(const TlShare *share) {
  return share->twists;
}
const TlVec3 *tl_share_carried(const TlShare *share) {
  return share->carried;
}

/* ---- pairs on their way ---- */

typedef struct CargoBody {
  int64_t id; /* -1: none */
  int32_t owner, movable;
  double inverse_mass;
  TlSym3 inverse_inertia;
  TlVec3 carried;
} CargoBody;

typedef struct CargoPair {
  int64_t low, high, tag;
  uint64_t key;
  int32_t island, phase, count, load_bytes, result_bytes, unused;
  CargoBody a, b;
} CargoPair; /* then its contacts, or the load of a link */

/* Values of a pair law that are read where a pair is solved. */
#define TL_CARGO_LAW(F)                                                                            \
  F(friction)                                                                                      \
  F(restitution)                                                                                   \
  F(restitution_half_m_s)                                                                          \
  F(restitution_power)                                                                             \
  F(tangential_restitution)                                                                        \
  F(rolling)                                                                                       \
  F(twisting)                                                                                      \
  F(adhesion_N)                                                                                    \
  F(adhesive_overlap_m)                                                                            \
  F(stiffness.normal_N_m)                                                                          \
  F(stiffness.young_Pa)                                                                            \
  F(stiffness.poisson)
#define TL_CARGO_ONE(...) +1
enum { LAW_VALUES = TL_CARGO_LAW(TL_CARGO_ONE) };

typedef struct CargoContact {
  TlVec3 n, ra, rb, wall, wall_w, rest, moment, point;
  double allowed_speed, gap, weight, size, reduced_radius, pull;
  double law[LAW_VALUES];
  int64_t key;
  int32_t part_a, part_b, boundary;
  int16_t resists, keeps_force;
} CargoContact;

static CargoBody cargo_body(const TlShare *s, int32_t body) {
  if (body < 0) return (CargoBody){.id = -1, .owner = -1};
  return (CargoBody){s->id[body],           s->owner[body],           s->movable[body],
                     s->inverse_mass[body], s->inverse_inertia[body], s->carried[body]};
}

static CargoContact cargo_contact(const TlContact *c) {
  CargoContact cargo = {.n = c->n,
                        .ra = c->ra,
                        .rb = c->rb,
                        .wall = c->wall,
                        .wall_w = c->wall_w,
                        .rest = c->rest,
                        .moment = c->moment,
                        .point = c->point,
                        .allowed_speed = c->allowed_speed,
                        .gap = c->gap,
                        .weight = c->weight,
                        .size = c->size,
                        .reduced_radius = c->reduced_radius,
                        .pull = c->pull,
                        .key = c->key,
                        .part_a = c->part_a,
                        .part_b = c->part_b,
                        .boundary = c->boundary,
                        .resists = c->resists,
                        .keeps_force = c->keeps_force};
  if (!c->law) return cargo; /* the position rule asks for none */
#define F(value) c->law->value,
  const double law[LAW_VALUES] = {TL_CARGO_LAW(F)};
#undef F
  memcpy(cargo.law, law, sizeof law);
  return cargo;
}

/* The owner of the lower id sends it, unless the solver has found it itself. */
static bool is_sent(const TlShare *s, const TlPair *p, const TlPlacing *plan) {
  int32_t b = p->b < 0 ? -1 : s->owner[p->b];
  return !p->elsewhere && plan->solver != s->owner[p->a] && plan->solver != b;
}

static unsigned char *put(unsigned char *at, const void *bytes, size_t size) {
  if (size > 0) memcpy(at, bytes, size);
  return at + size;
}

static TlLink link_of(const TlLink *link, const TlPair *p) {
  return p->link > 0 ? link[p->link - 1] : (TlLink){0};
}

static TlStatus send_pairs(const TlShare *s, const TlIslands *is) {
  const TlPair *pairs = s->found.pair;
  const TlPlacing *plan = s->plan;
  const int32_t count = s->found.count;
  for (int r = 0; r < s->sync->ranks; r++) {
    if (!is->sends_to[r]) continue;
    size_t size = sizeof(int64_t); /* never empty: then it would not be sent at all */
    for (int32_t i = 0; i < count; i++)
      if (plan[i].solver == r && is_sent(s, &pairs[i], &plan[i]))
        size += sizeof(CargoPair) + (size_t)pairs[i].count * sizeof(CargoContact) +
                (size_t)link_of(s->link, &pairs[i]).load_bytes;
    if (size > TL_COMM_ANY_BYTES)
      return tl_fail(TL_ELIMIT,
                     "the contacts that rank %d is to solve for rank %d take %lld bytes, more than "
                     "a message holds: more ranks have fewer each",
                     r, s->sync->rank, (long long)size);
    unsigned char *bytes = tl_arena_push(s->arena, size, 1), *at = bytes;
    if (!bytes) return TL_ENOMEM;
    at = put(at, &(int64_t){0}, sizeof(int64_t));
    for (int32_t i = 0; i < count; i++) {
      const TlPair *p = &pairs[i];
      if (plan[i].solver != r || !is_sent(s, p, &plan[i])) continue;
      TlLink link = link_of(s->link, p);
      CargoPair cargo = {.low = p->low,
                         .high = p->high,
                         .tag = p->tag,
                         .key = plan[i].key,
                         .island = plan[i].island,
                         .phase = plan[i].phase,
                         .count = p->count,
                         .load_bytes = link.load_bytes,
                         .result_bytes = link.result_bytes,
                         .a = cargo_body(s, p->a),
                         .b = cargo_body(s, p->b)};
      at = put(at, &cargo, sizeof cargo);
      for (int32_t k = 0; k < p->count; k++) {
        CargoContact contact = cargo_contact(&s->found.contact[p->first + k]);
        at = put(at, &contact, sizeof contact);
      }
      at = put(at, link.load, (size_t)link.load_bytes);
    }
    TL_TRY(s->sync->send(s->sync->ctx, r, bytes, size));
  }
  return TL_OK;
}

/* What came from a rank: its pairs begin after the first eight bytes. */
typedef struct Arrival {
  unsigned char *bytes;
  size_t size; /* 0: nothing */
} Arrival;
enum { FIRST_PAIR = sizeof(int64_t) };

static size_t size_of(const CargoPair *p) {
  return sizeof *p + (size_t)p->count * sizeof(CargoContact) + (size_t)p->load_bytes;
}

static TlStatus receive_pairs(const TlShare *s, const TlIslands *is, Arrival *arrival,
                              TlGuests *guests) {
  unsigned char *bytes = NULL;
  size_t capacity = 0, size;
  TlStatus status = TL_OK;
  for (int r = 0; r < s->sync->ranks && status == TL_OK; r++) {
    arrival[r] = (Arrival){0};
    if (!is->gets_from[r]) continue;
    TL_TRY_GOTO(status, s->sync->receive_any(s->sync->ctx, r, &bytes, &capacity, &size), done);
    arrival[r] = (Arrival){tl_arena_push(s->arena, size + 1, 1), size};
    if (!arrival[r].bytes) {
      status = TL_ENOMEM;
      break;
    }
    if (size) memcpy(arrival[r].bytes, bytes, size);
    for (size_t at = FIRST_PAIR; at < size;) {
      const CargoPair *p = (const CargoPair *)(arrival[r].bytes + at);
      guests->pairs++;
      guests->contacts += p->count;
      at += size_of(p);
    }
  }
done:
  tl_free(bytes);
  return status;
}

/* ---- guests among the bodies ---- */

typedef struct Known {
  int64_t id;
  int32_t body;
} Known;

static int by_id(const void *one, const void *two) {
  int64_t a = ((const Known *)one)->id, b = ((const Known *)two)->id;
  return (a > b) - (a < b);
}

static TlStatus reserve(TlShare *s, size_t guests) {
  size_t n = (size_t)s->total + guests + 1;
  s->id = tl_arena_push(s->arena, n, sizeof *s->id);
  s->owner = tl_arena_push(s->arena, n, sizeof *s->owner);
  s->movable = tl_arena_push(s->arena, n, sizeof *s->movable);
  s->inverse_mass = tl_arena_push(s->arena, n, sizeof *s->inverse_mass);
  s->inverse_inertia = tl_arena_push(s->arena, n, sizeof *s->inverse_inertia);
  s->carried = tl_arena_push(s->arena, n, sizeof *s->carried);
  if (!s->id || !s->owner || !s->movable || !s->inverse_mass || !s->inverse_inertia || !s->carried)
    return TL_ENOMEM;
  return TL_OK;
}

static TlStatus list_local(TlShare *s, const TlMovers *b) {
  TL_TRY(reserve(s, 0));
  for (int64_t i = 0; i < b->total; i++) {
    s->id[i] = b->id[i];
    s->owner[i] = i < b->owned ? s->sync->rank : s->sync->rank_of(s->sync->ctx, i);
    s->movable[i] = tl_movable(b, (int32_t)i);
    s->inverse_mass[i] = b->dynamics->inverse_mass[i];
    s->inverse_inertia[i] = b->dynamics->inverse_inertia[i];
    s->carried[i] = b->carried && !s->movable[i] ? b->carried[i] : (TlVec3){0, 0, 0};
  }
  return TL_OK;
}

static TlStatus grow(TlShare *s, size_t guests) {
  TlShare old = *s;
  size_t n = (size_t)s->total;
  TL_TRY(reserve(s, guests));
  if (n == 0) return TL_OK;
  memcpy(s->id, old.id, n * sizeof *s->id);
  memcpy(s->owner, old.owner, n * sizeof *s->owner);
  memcpy(s->movable, old.movable, n * sizeof *s->movable);
  memcpy(s->inverse_mass, old.inverse_mass, n * sizeof *s->inverse_mass);
  memcpy(s->inverse_inertia, old.inverse_inertia, n * sizeof *s->inverse_inertia);
  memcpy(s->carried, old.carried, n * sizeof *s->carried);
  return TL_OK;
}

static int32_t find_body(const Known *known, size_t count, int64_t id) {
  const Known wanted = {.id = id}, *at = bsearch(&wanted, known, count, sizeof wanted, by_id);
  return at ? at->body : -1;
}

static void admit(TlShare *s, Known *stranger, const CargoBody *body) {
  if (stranger->body >= 0) return;
  int32_t i = stranger->body = (int32_t)s->bodies++;
  s->id[i] = body->id;
  s->owner[i] = body->owner;
  s->movable[i] = body->movable;
  s->inverse_mass[i] = body->inverse_mass;
  s->inverse_inertia[i] = body->inverse_inertia;
  s->carried[i] = body->carried;
}

/* Bodies of the pairs that came: known ones by their ids, others as guests. */
typedef struct Register {
  Known *local, *stranger;
  size_t locals, strangers;
} Register;

static TlStatus open_register(TlShare *s, const TlGuests *guests, const Arrival *arrival,
                              Register *reg) {
  reg->local = tl_arena_push(s->arena, (size_t)s->total + 1, sizeof *reg->local);
  reg->stranger = tl_arena_push(s->arena, 2 * (size_t)guests->pairs + 1, sizeof *reg->stranger);
  if (!reg->local || !reg->stranger) return TL_ENOMEM;
  reg->locals = (size_t)s->total;
  for (size_t i = 0; i < reg->locals; i++) reg->local[i] = (Known){s->id[i], (int32_t)i};
  qsort(reg->local, reg->locals, sizeof *reg->local, by_id);
  size_t n = 0;
  for (int r = 0; r < s->sync->ranks; r++)
    for (size_t at = FIRST_PAIR; at < arrival[r].size;) {
      const CargoPair *p = (const CargoPair *)(arrival[r].bytes + at);
      const CargoBody *end[2] = {&p->a, &p->b};
      for (int k = 0; k < 2; k++)
        if (end[k]->id >= 0 && find_body(reg->local, reg->locals, end[k]->id) < 0)
          reg->stranger[n++] = (Known){end[k]->id, -1};
      at += size_of(p);
    }
  qsort(reg->stranger, n, sizeof *reg->stranger, by_id);
  for (size_t i = 0; i < n; i++)
    if (reg->strangers == 0 || reg->stranger[reg->strangers - 1].id != reg->stranger[i].id)
      reg->stranger[reg->strangers++] = reg->stranger[i];
  return grow(s, reg->strangers);
}

static int32_t body_of(TlShare *s, const Register *reg, const CargoBody *body) {
  if (body->id < 0) return -1;
  int32_t local = find_body(reg->local, reg->locals, body->id);
  if (local >= 0) return local;
  const Known wanted = {.id = body->id};
  Known *at = bsearch(&wanted, reg->stranger, reg->strangers, sizeof wanted, by_id);
  admit(s, at, body);
  return at->body;
}

static void take_contact(TlShare *s, const TlPair *p, const CargoContact *cargo, TlContact *c,
                         TlPairLaw *law) {
  const TlDynamics d = {NULL, s->inverse_mass, s->inverse_inertia};
  const double *value = cargo->law;
  *law = (TlPairLaw){.friction = 0};
#define F(member) law->member = *value++;
  TL_CARGO_LAW(F)
#undef F
  *c = (TlContact){.n = cargo->n,
                   .a = p->a,
                   .b = p->b,
                   .ra = cargo->ra,
                   .rb = cargo->rb,
                   .wall = cargo->wall,
                   .wall_w = cargo->wall_w,
                   .law = law,
                   .allowed_speed = cargo->allowed_speed,
                   .gap = cargo->gap,
                   .weight = cargo->weight,
                   .size = cargo->size,
                   .point = cargo->point,
                   .moment = cargo->moment,
                   .reduced_radius = cargo->reduced_radius,
                   .pull = cargo->pull,
                   .key = cargo->key,
                   .part_a = cargo->part_a, /* told apart, not looked up: they are the sender's */
                   .part_b = cargo->part_b,
                   .boundary = cargo->boundary,
                   .resists = cargo->resists,
                   .keeps_force = cargo->keeps_force};
  tl_contact_prepare(c, &d);
  c->rest = cargo->rest;
  if (c->rest.x != 0 || c->rest.y != 0 || c->rest.z != 0) tl_contact_want_tangents(c, &d);
}

/* Its load stays where it arrived. */
static TlStatus take_link(const TlShare *s, const CargoPair *p, void *load, TlGuests *guests,
                          TlPair *pair) {
  if (p->tag == 0) return TL_OK;
  TlLink *link = &guests->link[guests->links++];
  *link = (TlLink){.load = load,
                   .result = tl_arena_push(s->arena, (size_t)p->result_bytes + 1, 1),
                   .load_bytes = p->load_bytes,
                   .result_bytes = p->result_bytes};
  pair->link = guests->links;
  return link->result ? TL_OK : TL_ENOMEM;
}

static TlStatus take_pairs(TlShare *s, const Arrival *arrival, const Register *reg,
                           TlGuests *guests) {
  size_t pairs = (size_t)guests->pairs + 1, contacts = (size_t)guests->contacts + 1;
  guests->pair = tl_arena_push(s->arena, pairs, sizeof *guests->pair);
  guests->plan = tl_arena_push(s->arena, pairs, sizeof *guests->plan);
  guests->owners = tl_arena_push(s->arena, pairs, sizeof *guests->owners);
  guests->contact = tl_arena_push(s->arena, contacts, sizeof *guests->contact);
  TlPairLaw *law = tl_arena_push(s->arena, contacts, sizeof *law);
  if (!guests->pair || !guests->plan || !guests->owners || !guests->contact || !law)
    return TL_ENOMEM;
  int32_t i = 0, first = 0;
  for (int r = 0; r < s->sync->ranks; r++)
    for (size_t at = FIRST_PAIR; at < arrival[r].size; i++) {
      const CargoPair *p = (const CargoPair *)(arrival[r].bytes + at);
      const CargoContact *contact = (const CargoContact *)(p + 1);
      TlPair *pair = &guests->pair[i];
      *pair = (TlPair){.low = p->low,
                       .high = p->high,
                       .a = body_of(s, reg, &p->a),
                       .b = body_of(s, reg, &p->b),
                       .part_a = -1,
                       .part_b = -1,
                       .first = first,
                       .count = p->count,
                       .tag = p->tag};
      TL_TRY(take_link(s, p, arrival[r].bytes + at + sizeof *p, guests, pair));
      guests->plan[i] = (TlPlacing){p->island, p->phase, s->sync->rank, p->key};
      guests->owners[i][0] = p->a.owner;
      guests->owners[i][1] = p->b.owner;
      for (int32_t k = 0; k < p->count; k++, first++)
        take_contact(s, pair, &contact[k], &guests->contact[first], &law[first]);
      at += size_of(p);
    }
  return TL_OK;
}

TlStatus tl_share_open(const TlMovers *b, const TlSync *sync, TlArena *arena, TlShare **share) {
  TlShare *s = *share = tl_arena_push(arena, 1, sizeof *s);
  if (!s) return TL_ENOMEM;
  *s = (TlShare){
      .sync = sync, .arena = arena, .owned = b->owned, .total = b->total, .bodies = b->total};
  return list_local(s, b);
}

TlStatus tl_share_pairs(TlShare *s, const TlIslands *is, const TlPairList *found,
                        const TlPlacing *plan, TlGuests *guests) {
  const size_t links = (size_t)found->links;
  Arrival *arrival = tl_arena_push(s->arena, (size_t)s->sync->ranks, sizeof *arrival);
  Register reg = {0};
  *guests = (TlGuests){.links = found->links};
  if (!arrival) return TL_ENOMEM;
  s->found = *found;
  s->plan = plan;
  s->link = found->link;
  TL_TRY(send_pairs(s, is));
  TL_TRY(receive_pairs(s, is, arrival, guests));
  TL_TRY(s->sync->wait(s->sync->ctx));
  guests->link = tl_arena_push(s->arena, links + (size_t)guests->pairs + 1, sizeof *guests->link);
  if (!guests->link) return TL_ENOMEM;
  if (links > 0) memcpy(guests->link, found->link, links * sizeof *guests->link);
  s->link = guests->link;
  if (guests->pairs > 0) {
    TL_TRY(open_register(s, guests, arrival, &reg));
    TL_TRY(take_pairs(s, arrival, &reg, guests));
  }
  TlTwist *twist = tl_arena_push(s->arena, (size_t)s->bodies + 1, sizeof *twist);
  s->twists = tl_arena_push(s->arena, (size_t)s->bodies + 1, sizeof *s->twists);
  if (!twist || !s->twists) return TL_ENOMEM;
  s->dynamics = (TlDynamics){twist, s->inverse_mass, s->inverse_inertia};
  return TL_OK;
}

/* ---- exchanges ---- */

/* A body that goes to a rank or comes from it after a phase. */
typedef struct Move {
  int32_t phase, rank, body;
  int64_t id;
} Move;

typedef struct Moves {
  Move *move;
  int32_t count;
} Moves;

static int by_phase_and_rank(const void *one, const void *two) {
  const Move *a = one, *b = two;
  if (a->phase != b->phase) return a->phase < b->phase ? -1 : 1;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

static void add_move(Moves *m, int32_t phase, int32_t rank, int32_t body, int64_t id) {
  m->move[m->count++] = (Move){phase, rank, body, id};
}

/* Sorted, each once. */
static void sort_moves(Moves *m) {
  int32_t kept = 0;
  qsort(m->move, (size_t)m->count, sizeof *m->move, by_phase_and_rank);
  for (int32_t i = 0; i < m->count; i++)
    if (kept == 0 || by_phase_and_rank(&m->move[kept - 1], &m->move[i]) != 0)
      m->move[kept++] = m->move[i];
  m->count = kept;
}

/* The bodies, and a parcel a rank. */
static TlStatus pack_list(TlArena *arena, Moves m, Parcel **parcel, int32_t *parcels,
                          int32_t **body) {
  const Move *move = m.move;
  *parcel = tl_arena_push(arena, (size_t)m.count + 1, sizeof **parcel);
  *body = tl_arena_push(arena, (size_t)m.count + 1, sizeof **body);
  if (!*parcel || !*body) return TL_ENOMEM;
  *parcels = 0;
  for (int32_t i = 0; i < m.count; i++) {
    if (i == 0 || move[i].rank != move[i - 1].rank)
      (*parcel)[(*parcels)++] = (Parcel){move[i].rank, i, 0};
    (*parcel)[*parcels - 1].count++;
    (*body)[i] = move[i].body;
  }
  return TL_OK;
}

static TlStatus make_exchange(TlArena *arena, Moves out, Moves in, Exchange *e) {
  TL_TRY(pack_list(arena, out, &e->out, &e->outs, &e->out_body));
  return pack_list(arena, in, &e->in, &e->ins, &e->in_body);
}

static TlStatus run(const TlShare *s, const Exchange *e, void *values, size_t size) {
  unsigned char *array = values, *out = s->out, *in = s->in;
  assert(size <= TL_SHARE_BYTES);
  if (e->outs == 0 && e->ins == 0) return TL_OK;
  for (int32_t k = 0; k < e->ins; k++) {
    const Parcel *p = &e->in[k];
    TL_TRY(s->sync->receive(s->sync->ctx, p->rank, in + (size_t)p->first * size,
                            (size_t)p->count * size));
  }
  for (int32_t k = 0; k < e->outs; k++) {
    const Parcel *p = &e->out[k];
    for (int32_t i = p->first; i < p->first + p->count; i++)
      memcpy(out + (size_t)i * size, array + (size_t)e->out_body[i] * size, size);
    TL_TRY(s->sync->send(s->sync->ctx, p->rank, out + (size_t)p->first * size,
                         (size_t)p->count * size));
  }
  TL_TRY(s->sync->wait(s->sync->ctx));
  for (int32_t k = 0; k < e->ins; k++)
    for (int32_t i = e->in[k].first; i < e->in[k].first + e->in[k].count; i++)
      memcpy(array + (size_t)e->in_body[i] * size, in + (size_t)i * size, size);
  return TL_OK;
}

/* ---- who uses which body ---- */

/* A body in a phase: of an owned one the rank that uses it, of a used one the rank that owns it. */
typedef struct Use {
  int64_t id;
  int32_t body, phase, rank;
  bool by_cells;
} Use;

static int by_rank_and_body(const void *one, const void *two) {
  const Use *a = one, *b = two;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return (a->phase > b->phase) - (a->phase < b->phase);
}

static int by_body_and_phase(const void *one, const void *two) {
  const Use *a = one, *b = two;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  if (a->phase != b->phase) return a->phase < b->phase ? -1 : 1;
  return (a->rank > b->rank) - (a->rank < b->rank);
}

static int32_t once_each(Use *use, int32_t count, int (*order)(const void *, const void *)) {
  int32_t kept = 0;
  qsort(use, (size_t)count, sizeof *use, order);
  for (int32_t i = 0; i < count; i++)
    if (kept == 0 || order(&use[kept - 1], &use[i]) != 0) use[kept++] = use[i];
  return kept;
}

typedef struct Users {
  Use *of_mine, *by_me; /* of bodies owned here; of bodies used here, by this rank */
  int32_t of_mines, by_mes;
} Users;

static TlStatus list_users(const TlShare *s, const TlIslands *is, Users *u) {
  const TlPair *pairs = s->found.pair;
  const TlPlacing *plan = s->plan;
  const TlSolved *solved = s->solved;
  const int32_t count = s->found.count;
  u->of_mine = tl_arena_push(s->arena, 2 * (size_t)count + 1, sizeof *u->of_mine);
  u->by_me = tl_arena_push(s->arena, 2 * (size_t)s->solved_count + 1, sizeof *u->by_me);
  if (!u->of_mine || !u->by_me) return TL_ENOMEM;
  for (int32_t i = 0; i < count; i++) {
    int32_t end[2] = {pairs[i].a, pairs[i].b};
    if (plan[i].island < 0) continue;
    bool cells = is->all[plan[i].island].solver == TL_BY_CELLS;
    for (int k = 0; k < 2; k++)
      if (end[k] >= 0 && end[k] < s->owned && s->movable[end[k]])
        u->of_mine[u->of_mines++] =
            (Use){s->id[end[k]], end[k], plan[i].phase, plan[i].solver, cells};
  }
  for (int32_t i = 0; i < s->solved_count; i++) {
    int32_t end[2] = {solved[i].pair->a, solved[i].pair->b};
    for (int k = 0; k < 2; k++)
      if (end[k] >= 0 && s->movable[end[k]] &&
          (solved[i].by_cells || s->owner[end[k]] != s->sync->rank))
        u->by_me[u->by_mes++] =
            (Use){s->id[end[k]], end[k], solved[i].phase, s->owner[end[k]], solved[i].by_cells};
  }
  u->of_mines = once_each(u->of_mine, u->of_mines, by_body_and_phase);
  u->by_mes = once_each(u->by_me, u->by_mes, by_rank_and_body);
  return TL_OK;
}

/* ---- tours ---- */

/* What the owner tells a user of a body in a phase. */
typedef struct Stop {
  int32_t from, from_phase; /* who hands it over, after which phase */
  int32_t to;               /* who has it next */
  int32_t first;            /* no: another one is the first in a sweep */
} Stop;

static Stop stop_of(const Use *use, int32_t uses, int32_t k) {
  const Use *before = &use[(k + uses - 1) % uses];
  return (Stop){before->rank, before->phase, use[(k + 1) % uses].rank, k == 0};
}

typedef struct Note {
  int32_t rank;
  int64_t id;
  int32_t phase;
  Stop stop;
} Note;

static int by_reader(const void *one, const void *two) {
  const Note *a = one, *b = two;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return (a->phase > b->phase) - (a->phase < b->phase);
}

/* The stops of the bodies owned here, by reader. */
static TlStatus write_notes(const TlShare *s, const Users *u, Note **notes, int32_t *count) {
  *notes = tl_arena_push(s->arena, (size_t)u->of_mines + 1, sizeof **notes);
  if (!*notes) return TL_ENOMEM;
  *count = 0;
  for (int32_t i = 0, end; i < u->of_mines; i = end) {
    for (end = i; end < u->of_mines && u->of_mine[end].id == u->of_mine[i].id; end++) continue;
    if (!u->of_mine[i].by_cells) continue;
    for (int32_t k = i; k < end; k++)
      (*notes)[(*count)++] = (Note){u->of_mine[k].rank, u->of_mine[k].id, u->of_mine[k].phase,
                                    stop_of(&u->of_mine[i], end - i, k - i)};
  }
  qsort(*notes, (size_t)*count, sizeof **notes, by_reader);
  return TL_OK;
}

/* Stops of the bodies that this rank uses in cells, in the order of u->by_me (others left out). */
static TlStatus tell_tours(const TlShare *s, const Users *u, Stop **stops) {
  Note *notes;
  int32_t count, n = 0;
  TL_TRY(write_notes(s, u, &notes, &count));
  Stop *out = tl_arena_push(s->arena, (size_t)count + 1, sizeof *out);
  *stops = tl_arena_push(s->arena, (size_t)u->by_mes + 1, sizeof **stops);
  if (!out || !*stops) return TL_ENOMEM;
  for (int32_t i = 0; i < count; i++) out[i] = notes[i].stop;
  const Stop *own = NULL;
  for (int32_t i = 0, end; i < count; i = end) {
    for (end = i; end < count && notes[end].rank == notes[i].rank; end++) continue;
    if (notes[i].rank == s->sync->rank)
      own = &out[i];
    else
      TL_TRY(s->sync->send(s->sync->ctx, notes[i].rank, &out[i], (size_t)(end - i) * sizeof *out));
  }
  for (int32_t i = 0, end; i < u->by_mes; i = end) {
    int32_t start = n;
    for (end = i; end < u->by_mes && u->by_me[end].rank == u->by_me[i].rank; end++)
      n += u->by_me[end].by_cells;
    size_t size = (size_t)(n - start) * sizeof **stops;
    if (size == 0) continue;
    if (u->by_me[i].rank == s->sync->rank)
      memcpy(*stops + start, own, size);
    else
      TL_TRY(s->sync->receive(s->sync->ctx, u->by_me[i].rank, *stops + start, size));
  }
  return s->sync->wait(s->sync->ctx);
}

/* ---- all lists ---- */

static TlStatus moves_for(const TlShare *s, int32_t count, Moves *m) {
  m->count = 0;
  m->move = tl_arena_push(s->arena, (size_t)count + 1, sizeof *m->move);
  return m->move ? TL_OK : TL_ENOMEM;
}

/* From owners to users, or home: from the one user, or from the first one in a sweep, to the owner.
 * only_cells: of bodies in cells alone. stops: as tell_tours has them. */
static TlStatus list_exchange(const TlShare *s, const Users *u, const Stop *stops, bool home,
                              bool only_cells, Exchange *e) {
  Moves mine, used;
  TL_TRY(moves_for(s, u->of_mines, &mine));
  TL_TRY(moves_for(s, u->by_mes, &used));
  for (int32_t i = 0; i < u->of_mines; i++) {
    const Use *use = &u->of_mine[i];
    bool first = i == 0 || u->of_mine[i - 1].id != use->id;
    bool listed = use->by_cells ? first || !home : !only_cells;
    if (listed && use->rank != s->sync->rank) add_move(&mine, 0, use->rank, use->body, use->id);
  }
  for (int32_t i = 0, n = 0; i < u->by_mes; i++) {
    const Use *use = &u->by_me[i];
    bool first = use->by_cells && stops[n++].first;
    bool listed = use->by_cells ? first || !home : !only_cells;
    if (listed && use->rank != s->sync->rank) add_move(&used, 0, use->rank, use->body, use->id);
  }
  sort_moves(&mine);
  sort_moves(&used);
  return home ? make_exchange(s->arena, used, mine, e) : make_exchange(s->arena, mine, used, e);
}

static TlStatus list_after(TlShare *s, const Users *u, const Stop *stops, int32_t phases) {
  Moves out, in;
  int32_t n = 0, o = 0, i = 0;
  s->after = tl_arena_push(s->arena, (size_t)phases + 1, sizeof *s->after);
  if (!s->after) return TL_ENOMEM;
  TL_TRY(moves_for(s, u->by_mes, &out));
  TL_TRY(moves_for(s, u->by_mes, &in));
  for (int32_t k = 0; k < u->by_mes; k++) {
    const Use *use = &u->by_me[k];
    if (!use->by_cells) continue;
    const Stop *stop = &stops[n++];
    if (stop->to != s->sync->rank) add_move(&out, use->phase, stop->to, use->body, use->id);
    if (stop->from != s->sync->rank)
      add_move(&in, stop->from_phase, stop->from, use->body, use->id);
  }
  sort_moves(&out);
  sort_moves(&in);
  for (int32_t p = 0; p < phases; p++) {
    int32_t o_end = o, i_end = i;
    while (o_end < out.count && out.move[o_end].phase == p) o_end++;
    while (i_end < in.count && in.move[i_end].phase == p) i_end++;
    TL_TRY(make_exchange(s->arena, (Moves){out.move + o, o_end - o},
                         (Moves){in.move + i, i_end - i}, &s->after[p]));
    o = o_end;
    i = i_end;
  }
  return TL_OK;
}

/* ---- results ---- */

static int by_rank_and_pair(const void *one, const void *two) {
  const Result *a = one, *b = two;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return (a->tag > b->tag) - (a->tag < b->tag);
}

static Result result_of(int32_t rank, int32_t number, const TlPair *pair) {
  return (Result){rank, number, pair->low, pair->high, pair->tag};
}

/* away: to those that have found what is solved here; home: from the solvers of what was found. */
static TlStatus list_results(TlShare *s, const TlGuests *guests) {
  const TlPlacing *plan = s->plan;
  const int32_t count = s->found.count;
  s->away = tl_arena_push(s->arena, 2 * (size_t)s->solved_count + 1, sizeof *s->away);
  s->home = tl_arena_push(s->arena, (size_t)count + 1, sizeof *s->home);
  if (!s->away || !s->home) return TL_ENOMEM;
  for (int32_t i = 0; i < s->solved_count; i++) {
    const TlSolved *x = &s->solved[i];
    int32_t a = x->guest >= 0 ? guests->owners[x->guest][0] : s->owner[x->pair->a];
    int32_t b = x->guest >= 0    ? guests->owners[x->guest][1]
                : x->pair->b < 0 ? -1
                                 : s->owner[x->pair->b];
    if (a != s->sync->rank) s->away[s->aways++] = result_of(a, i, x->pair);
    if (b >= 0 && b != a && b != s->sync->rank) s->away[s->aways++] = result_of(b, i, x->pair);
  }
  for (int32_t i = 0; i < count; i++)
    if (plan[i].solver != s->sync->rank && plan[i].island >= 0)
      s->home[s->homes++] = result_of(plan[i].solver, i, &s->found.pair[i]);
  qsort(s->away, (size_t)s->aways, sizeof *s->away, by_rank_and_pair);
  qsort(s->home, (size_t)s->homes, sizeof *s->home, by_rank_and_pair);
  return TL_OK;
}

TlStatus tl_share_routes(TlShare *s, const TlIslands *is, const TlGuests *guests,
                         const TlSolved *solved, int32_t solved_count, int32_t phases) {
  Users u = {0};
  Stop *stops;
  s->solved = solved;
  s->solved_count = solved_count;
  TL_TRY(list_users(s, is, &u));
  TL_TRY(tell_tours(s, &u, &stops));
  TL_TRY(list_exchange(s, &u, stops, false, false, &s->scatter));
  TL_TRY(list_exchange(s, &u, stops, true, false, &s->collect));
  TL_TRY(list_exchange(s, &u, stops, true, true, &s->spread_first));
  TL_TRY(list_exchange(s, &u, stops, false, true, &s->spread_second));
  TL_TRY(list_after(s, &u, stops, phases));
  TL_TRY(list_results(s, guests));
  size_t most = (size_t)(u.of_mines > u.by_mes ? u.of_mines : u.by_mes) + 1;
  s->out = tl_arena_push(s->arena, most, TL_SHARE_BYTES);
  s->in = tl_arena_push(s->arena, most, TL_SHARE_BYTES);
  return s->out && s->in ? TL_OK : TL_ENOMEM;
}

TlStatus tl_share_scatter(const TlShare *s, void *values, size_t size) {
  return run(s, &s->scatter, values, size);
}
TlStatus tl_share_collect(const TlShare *s, void *values, size_t size) {
  return run(s, &s->collect, values, size);
}
TlStatus tl_share_spread(const TlShare *s, void *values, size_t size) {
  TL_TRY(run(s, &s->spread_first, values, size));
  return run(s, &s->spread_second, values, size);
}

TlStatus tl_share_hand_on(const TlShare *s, int32_t phase, void *values, size_t size,
                          void (*arrived)(const void *walk, int32_t body), const void *walk) {
  const Exchange *e = &s->after[phase];
  TL_TRY(run(s, e, values, size));
  for (int32_t k = 0; arrived && k < e->ins; k++)
    for (int32_t i = e->in[k].first; i < e->in[k].first + e->in[k].count; i++)
      arrived(walk, e->in_body[i]);
  return TL_OK;
}

/* ---- home ---- */

enum { OF_PAIR = 2, OF_CONTACT = 10 }; /* reals of a pair's and of a contact's result */

static double *put_result(double *at, const TlPair *pair, int32_t ns, const TlContact *contacts,
                          TlLink link) {
  *at++ = pair->stuck;
  *at++ = ns;
  for (int32_t k = pair->first; k < pair->first + pair->count; k++) {
    const TlContact *c = &contacts[k];
    const double values[OF_CONTACT] = {c->impulse.x, c->impulse.y, c->impulse.z, c->rest.x,
                                       c->rest.y,    c->rest.z,    c->touched,   c->moment.x,
                                       c->moment.y,  c->moment.z};
    memcpy(at, values, sizeof values);
    at += OF_CONTACT;
  }
  if (link.result_bytes > 0) memcpy(at, link.result, (size_t)link.result_bytes);
  return at + (size_t)link.result_bytes / sizeof *at;
}

static const double *take_result(const double *at, TlPair *pair, int32_t *ns, TlContact *contacts,
                                 TlLink link, const TlDynamics *d) {
  pair->stuck = *at++ != 0;
  *ns = (int32_t)*at++;
  for (int32_t k = pair->first; k < pair->first + pair->count; k++, at += OF_CONTACT) {
    TlContact *c = &contacts[k];
    c->impulse = tl_vec3(at[0], at[1], at[2]);
    c->rest = tl_vec3(at[3], at[4], at[5]);
    c->touched = at[6] != 0;
    c->moment = tl_vec3(at[7], at[8], at[9]);
    if (c->rest.x != 0 || c->rest.y != 0 || c->rest.z != 0) tl_contact_want_tangents(c, d);
  }
  if (link.result_bytes > 0) memcpy(link.result, at, (size_t)link.result_bytes);
  return at + (size_t)link.result_bytes / sizeof *at;
}

static size_t reals_of(const TlShare *s, const TlPair *pair) {
  return OF_PAIR + OF_CONTACT * (size_t)pair->count +
         (size_t)link_of(s->link, pair).result_bytes / sizeof(double);
}

/* What was found and solved here. */
static void copy_back(const TlShare *s, const TlContact *solved_contacts, const int32_t *solved_ns,
                      int32_t *found_ns) {
  for (int32_t i = 0; i < s->solved_count; i++) {
    const TlSolved *x = &s->solved[i];
    if (x->found < 0) continue;
    TlPair *to = &s->found.pair[x->found];
    to->stuck = x->pair->stuck;
    found_ns[x->found] = solved_ns[i];
    memcpy(&s->found.contact[to->first], &solved_contacts[x->pair->first],
           (size_t)to->count * sizeof *solved_contacts);
  }
}

TlStatus tl_share_home(const TlShare *s, const TlContact *solved_contacts, const int32_t *solved_ns,
                       int32_t *found_ns, const TlDynamics *dynamics) {
  TlPair *pairs = s->found.pair;
  size_t out = 0, in = 0;
  for (int32_t i = 0; i < s->aways; i++) out += reals_of(s, s->solved[s->away[i].pair].pair);
  for (int32_t i = 0; i < s->homes; i++) in += reals_of(s, &pairs[s->home[i].pair]);
  double *give = tl_arena_push(s->arena, out + 1, sizeof *give), *to = give;
  double *take = tl_arena_push(s->arena, in + 1, sizeof *take), *from = take;
  if (!give || !take) return TL_ENOMEM;
  for (int32_t i = 0, end; i < s->homes; i = end) {
    double *start = from;
    for (end = i; end < s->homes && s->home[end].rank == s->home[i].rank; end++)
      from += reals_of(s, &pairs[s->home[end].pair]);
    TL_TRY(s->sync->receive(s->sync->ctx, s->home[i].rank, start,
                            (size_t)(from - start) * sizeof *start));
  }
  for (int32_t i = 0, end; i < s->aways; i = end) {
    double *start = to;
    for (end = i; end < s->aways && s->away[end].rank == s->away[i].rank; end++) {
      const TlPair *pair = s->solved[s->away[end].pair].pair;
      to = put_result(to, pair, solved_ns[s->away[end].pair], solved_contacts,
                      link_of(s->link, pair));
    }
    TL_TRY(
        s->sync->send(s->sync->ctx, s->away[i].rank, start, (size_t)(to - start) * sizeof *start));
  }
  TL_TRY(s->sync->wait(s->sync->ctx));
  copy_back(s, solved_contacts, solved_ns, found_ns);
  const double *at = take;
  for (int32_t i = 0; i < s->homes; i++) {
    TlPair *pair = &pairs[s->home[i].pair];
    at = take_result(at, pair, &found_ns[s->home[i].pair], s->found.contact, link_of(s->link, pair),
                     dynamics);
  }
  return TL_OK;
}
