#include "solve/membrane.h"

#include "base/par.h"
#include "solve/spring.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 };
static const double NOTE_NS = 40, BOND_NS = 100, LOAD_NS = 100; /* work on one, about */

/* ---- the correction ---- */

typedef struct Moved { /* what a bond asks of its ends; travels from owner to ghosts */
  TlVec3 x, v, w;
} Moved;

typedef struct Held { /* a holder's pose; travels from owner to ghosts */
  TlVec3 x, v, w;
  TlQuat turn;
} Held;

typedef struct Local {
  int64_t id, index;
} Local;

/* The six triangles about a sphere by local indices of their corners; the first -1: none there (an
 * owned sphere's neighbours are all here). */
typedef struct Ring {
  const TlNet *net;
  int32_t corner[6][3];
} Ring;

/* A bond's ends, by id and local index. */
typedef struct KnownBond {
  int64_t low, high, a, b;
} KnownBond;

struct TlNetMemo {
  TlArena arena; /* emptied when other bodies are here */
  const TlNet *nets;
  int64_t total, locals;
  int64_t *id;        /* [total] */
  const Local *local; /* the net spheres here, by id */
  Ring *ring;         /* [locals] */
  KnownBond *bond;    /* in the order of the constraints */
  size_t bonds, bond_capacity;
  size_t *first; /* [total + 1] by body: its first in `end` */
  size_t *end;   /* twice the bond's number, and 1 at its higher end; ascending */
  size_t end_capacity;
  bool keeps_rows;
  TlConstraintRow *row; /* owned */
  size_t rows, row_capacity;
};

/* What a bond does to its lower sphere; to the higher one the torque is the same. */
typedef struct Pull {
  TlVec3 force, torque, drag, drag_torque;
  double energy;
  bool broken;
} Pull;

typedef struct Membrane {
  const TlNet *nets;
  const double *pressure_Pa; /* [count] */
  int count;
  TlBondLaw *law; /* [count] of the nets' bonds */
  TlBodies *bodies;
  const TlVec3 *start;
  double step_s;
  Moved *now;
  const Local *local; /* the net spheres here, by id */
  int64_t locals;
  TlNetMemo *memo;
  Pull *pull;          /* [bonds] */
  TlExact *elastic;    /* one a thread */
  bool follows, pulls; /* the bonds' springs go with their ends; bonds pull */
  TlNetBond *listed;   /* [bonds] for a caller who pulls himself; NULL: not wanted */
  TlNetLoad load;
} Membrane;

static int by_id(const void *one, const void *two) {
  const Local *a = one, *b = two;
  return a->id < b->id ? -1 : a->id > b->id;
}

/* -1: not on this rank. */
static int64_t index_of(const Membrane *m, int64_t id) {
  int64_t guess = m->locals ? id - m->local[0].id : -1; /* right where a whole net is here */
  if (guess >= 0 && guess < m->locals && m->local[guess].id == id) return m->local[guess].index;
  Local key = {.id = id};
  const Local *found = bsearch(&key, m->local, (size_t)m->locals, sizeof key, by_id);
  return found ? found->index : -1;
}

static TlStatus list_local(Membrane *m, TlArena *arena) {
  const TlBodies *b = m->bodies;
  bool sorted = true;
  Local *local = tl_arena_push(arena, (size_t)b->total, sizeof *local);
  m->local = local;
  m->locals = 0;
  if (!local) return TL_ENOMEM;
  for (int64_t i = 0; i < b->total; i++) {
    if (!(b->flags[i] & TL_BODY_NET)) continue;
    if (m->locals && local[m->locals - 1].id > b->id[i]) sorted = false;
    local[m->locals++] = (Local){b->id[i], i};
  }
  if (!sorted) qsort(local, (size_t)m->locals, sizeof *local, by_id);
  return TL_OK;
}

/* ---- what is kept over steps ---- */

TlStatus tl_net_memo_new(TlNetMemo **memo) {
  return TL_NEW(*memo, 1);
}

void tl_net_memo_free(TlNetMemo *memo) {
  if (!memo) return;
  tl_arena_free(&memo->arena);
  tl_free(memo->bond);
  tl_free(memo->end);
  tl_free(memo->row);
  tl_free(memo);
}

void tl_net_memo_keep_rows(TlNetMemo *memo, bool keep) {
  memo->keeps_rows = keep;
}

bool tl_net_memo_keeps_rows(const TlNetMemo *memo) {
  return memo->keeps_rows;
}

void tl_net_memo_drop_rows(TlNetMemo *memo) {
  memo->rows = 0;
}

const TlConstraintRow *tl_net_memo_rows(const TlNetMemo *memo, size_t *count) {
  *count = memo->rows;
  return memo->row;
}

static void fill_ring(const Membrane *m, const Local *l, Ring *ring) {
  int64_t round[7], corner[3];
  ring->net = tl_net_of(m->nets, m->count, l->id);
  if (!ring->net) return;
  tl_net_round(ring->net, l->id - ring->net->first_id, round);
  for (int t = 0; t < 6; t++) {
    tl_net_corners(l->id - ring->net->first_id, round, t, corner);
    bool there = corner[0] >= 0 && corner[1] >= 0 && corner[2] >= 0;
    for (int k = 0; k < 3; k++) {
      ring->corner[t][k] = there ? (int32_t)index_of(m, ring->net->first_id + corner[k]) : -1;
      there = there && ring->corner[t][k] >= 0;
    }
    if (!there) ring->corner[t][0] = -1;
  }
}

/* As long as the same bodies lie at the same indices all of it holds. */
static TlStatus recollect(Membrane *m) {
  TlNetMemo *memo = m->memo;
  const TlBodies *b = m->bodies;
  size_t n = (size_t)b->total, bytes = n * sizeof *memo->id;
  bool same = memo->id && memo->nets == m->nets && memo->total == b->total &&
              (n == 0 || memcmp(memo->id, b->id, bytes) == 0);
  if (!same) {
    tl_arena_reset(&memo->arena);
    memo->bonds = 0;
    memo->id = NULL; /* of a half-made one */
    int64_t *id = tl_arena_push(&memo->arena, n, sizeof *id);
    memo->first = tl_arena_push(&memo->arena, n + 1, sizeof *memo->first);
    TL_TRY(list_local(m, &memo->arena));
    memo->ring = tl_arena_push(&memo->arena, (size_t)m->locals, sizeof *memo->ring);
    if (!id || !memo->first || !memo->ring) return TL_ENOMEM;
    for (int64_t k = 0; k < m->locals; k++) fill_ring(m, &m->local[k], &memo->ring[k]);
    if (n) memcpy(id, b->id, bytes);
    memo->id = id;
    memo->nets = m->nets;
    memo->total = b->total;
    memo->local = m->local;
    memo->locals = m->locals;
  }
  m->local = memo->local;
  m->locals = memo->locals;
  return TL_OK;
}

static TlStatus look_up_bond(const Membrane *m, const TlBond *t, KnownBond *bond) {
  *bond = (KnownBond){t->low, t->high, index_of(m, t->low), index_of(m, t->high)};
  if (bond->a < 0 || bond->b < 0)
    return tl_fail(TL_ELIMIT,
                   "net spheres %lld and %lld are bonded, and one of them is missing here",
                   (long long)t->low, (long long)t->high);
  if (t->law < 0 || t->law >= m->count)
    return tl_fail(TL_EINPUT, "the bond of net spheres %lld and %lld has law %d, and there are %d",
                   (long long)t->low, (long long)t->high, t->law, m->count);
  return TL_OK;
}

/* The k-th bond; *fresh: it was another one. */
static TlStatus know_bond(TlNetMemo *memo, const Membrane *m, size_t k, bool *fresh) {
  const TlBond *t = &tl_bonds(&m->bodies->pairs)[k];
  if (k >= memo->bonds || memo->bond[k].low != t->low || memo->bond[k].high != t->high) {
    TL_TRY(TL_RESERVE(memo->bond, memo->bond_capacity, k + 1));
    if (k >= memo->bonds) memo->bonds = k + 1;
    memo->bond[k].low = -1; /* of a failure nothing stays */
    KnownBond found;
    TL_TRY(look_up_bond(m, t, &found));
    memo->bond[k] = found;
    *fresh = true;
  }
  return TL_OK;
}

/* Which bonds a body has, in the order of the pairs. */
static TlStatus sort_ends(TlNetMemo *memo) {
  size_t *first = memo->first, n = (size_t)memo->total;
  TL_TRY(TL_RESERVE(memo->end, memo->end_capacity, 2 * memo->bonds));
  memset(first, 0, (n + 1) * sizeof *first);
  for (size_t k = 0; k < memo->bonds; k++) {
    first[memo->bond[k].a]++;
    first[memo->bond[k].b]++;
  }
  for (size_t i = 0; i < n; i++) first[i + 1] += first[i];
  for (size_t k = memo->bonds; k > 0; k--) { /* each body's last one first */
    memo->end[--first[memo->bond[k - 1].b]] = 2 * k - 1;
    memo->end[--first[memo->bond[k - 1].a]] = 2 * k - 2;
  }
  return TL_OK;
}

static TlStatus list_bonds(const Membrane *m) {
  TlNetMemo *memo = m->memo;
  size_t k, count = m->bodies->pairs.of[TL_BONDS].count;
  bool fresh = memo->bonds == 0; /* `first` may never have been filled */
  for (k = 0; k < count; k++) TL_TRY(know_bond(memo, m, k, &fresh));
  if (!fresh && k == memo->bonds) return TL_OK;
  memo->bonds = k;
  TlStatus status = sort_ends(memo);
  if (status != TL_OK) memo->bonds = 0;
  return status;
}

static TlStatus make_forces(Membrane *m, TlArena *arena) {
  size_t n = (size_t)m->bodies->total;
  TlVec3 **const array[] = {&m->load.force, &m->load.torque, &m->load.drag, &m->load.drag_torque,
                            &m->load.pressure_force};
  for (size_t k = 0; k < sizeof array / sizeof *array; k++) {
    *array[k] = tl_arena_push(arena, n, sizeof **array[k]);
    if (!*array[k]) return TL_ENOMEM;
  }
  return TL_OK;
}

static TlStatus note_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Membrane *m = context;
  const TlBodies *b = m->bodies;
  (void)block;
  (void)thread;
  for (int64_t i = begin; i < end; i++)
    m->now[i] = b->flags[i] & TL_BODY_NET
                    ? (Moved){b->position[i], b->velocity[i], tl_bodies_spin(b, i)}
                    : (Moved){.x = b->position[i]};
  return TL_OK;
}

static TlStatus note_now(Membrane *m, int64_t count) {
  return tl_par_loop(count, BLOCK, NOTE_NS, note_block, m);
}

/* Where all local net spheres are now. The array stands even when pushing failed on another rank.
 */
static TlStatus look(Membrane *m, const TlSync *sync) {
  const TlBodies *b = m->bodies;
  TlStatus status = note_now(m, b->owned);
  assert(status == TL_OK); /* its blocks cannot fail */
  (void)status;
  return tl_sync_forward(sync, m->now, sizeof *m->now);
}

/* ---- rows that are carried ---- */

static int64_t index_among(const TlBodies *b, int64_t id) {
  for (int64_t i = 0; i < b->total; i++)
    if (b->id[i] == id) return i;
  return -1;
}

/* As the rigid body it is a part of. */
static void carry_sphere(const TlNet *net, int64_t number, const Held *by, TlBodies *b, int64_t i) {
  TlVec3 arm = tl_sub(tl_net_point(net, number), net->hold.position);
  arm = tl_quat_rotate(by->turn, tl_quat_rotate(tl_quat_conj(net->hold.rotation), arm));
  b->position[i] = tl_add(by->x, arm);
  b->velocity[i] = tl_add(by->v, tl_cross(by->w, arm));
}

static TlStatus missing(const TlNet *net) {
  return tl_fail(TL_ELIMIT,
                 "body %lld holds the last row of the net from id %lld on and is missing here",
                 (long long)net->hold.body, (long long)net->first_id);
}

static bool holds(const Membrane *m, int64_t id) {
  for (int k = 0; k < m->count; k++)
    if (m->nets[k].held && m->nets[k].hold.body == id) return true;
  return false;
}

/* Each net whose last row has a holder; collective. */
static TlStatus carry(const Membrane *m, const TlSync *sync, TlArena *arena) {
  TlBodies *b = m->bodies;
  bool any = false;
  for (int k = 0; k < m->count; k++) any = any || m->nets[k].held;
  if (!any) return TL_OK;
  Held *pose = tl_arena_push(arena, (size_t)b->total, sizeof *pose);
  int failed = !pose;
  TL_TRY(tl_sync_any(sync, &failed));
  if (failed) return TL_ENOMEM;
  memset(pose, 0, (size_t)b->total * sizeof *pose);
  for (int64_t i = 0; i < b->owned; i++)
    if (holds(m, b->id[i]))
      pose[i] = (Held){b->position[i], b->velocity[i], tl_bodies_spin(b, i), b->rotation[i]};
  TL_TRY(tl_sync_forward(sync, pose, sizeof *pose));
  const TlNet *last = NULL; /* spheres come net by net: a holder is looked for once */
  int64_t by = -1;
  for (int64_t n = 0; n < m->locals; n++) {
    const TlNet *net = tl_net_of(m->nets, m->count, m->local[n].id);
    int64_t number = net ? m->local[n].id - net->first_id : 0, i = m->local[n].index;
    if (!net || i >= b->owned || !tl_net_carried(net, tl_net_place(net, number))) continue;
    if (net != last) by = index_among(b, net->hold.body);
    if (by < 0) return missing(net);
    carry_sphere(net, number, &pose[by], b, i);
    last = net;
  }
  return TL_OK;
}

typedef struct Bond {
  const TlBondLaw *law;
  int64_t a, b; /* local indices */
  TlVec3 n;
  double length, stretch;
} Bond;

/* The displacement of the step across the bond: what the centres did less what the spins did at the middle
 * length, so that a turn of the whole leaves the cube of its angle. */
static TlVec3 follow(const Membrane *m, const Bond *bond, TlVec3 s) {
  TlVec3 d0 = tl_sub(m->start[bond->a], m->start[bond->b]);
  TlVec3 d1 = tl_scale(bond->length, bond->n), mid = tl_scale(0.5, tl_add(d0, d1));
  TlVec3 spin = tl_scale(0.5 * m->step_s, tl_add(m->now[bond->a].w, m->now[bond->b].w));
  TlVec3 displacement = tl_sub(tl_sub(d1, d0), tl_cross(spin, mid));
  s = tl_spring_turned(s, tl_unit(d0), bond->n, 0.5 * tl_dot(spin, bond->n));
  return tl_add(s, tl_axpy(displacement, -tl_dot(displacement, bond->n), bond->n));
}

static TlVec3 spring_on_a(const Bond *bond, TlVec3 s) {
  TlVec3 f = tl_scale(-bond->law->normal_N_m * bond->stretch, bond->n);
  return tl_axpy(f, -bond->law->tangential_N_m, s);
}

static TlVec3 damper_on_a(const Membrane *m, const Bond *bond) {
  const Moved *a = &m->now[bond->a], *b = &m->now[bond->b];
  double cn = bond->law->normal_N_s_m, ct = bond->law->tangential_N_s_m;
  TlVec3 u =
      tl_axpy(tl_sub(a->v, b->v), -0.5 * bond->length, tl_cross(tl_add(a->w, b->w), bond->n));
  double un = tl_dot(u, bond->n);
  return tl_axpy(tl_scale(-cn * un, bond->n), -ct, tl_axpy(u, -un, bond->n));
}

static TlVec3 turn_of(const Bond *bond, TlVec3 f) {
  return tl_scale(-0.5 * bond->length, tl_cross(bond->n, f)); /* the same on both */
}

static void bond_forces(const Membrane *m, const Bond *bond, TlVec3 s, Pull *pull) {
  TlVec3 f = spring_on_a(bond, s);
  pull->drag = pull->drag_torque = tl_vec3(0, 0, 0);
  if (bond->law->normal_N_s_m > 0) {
    pull->drag = damper_on_a(m, bond);
    pull->drag_torque = turn_of(bond, pull->drag);
    f = tl_add(f, pull->drag);
  }
  pull->force = f;
  pull->torque = turn_of(bond, f);
}

static Bond bond_now(const Membrane *m, const KnownBond *known, const TlBond *t) {
  TlVec3 d = tl_sub(m->now[known->a].x, m->now[known->b].x);
  double length = tl_norm(d);
  return (Bond){&m->law[t->law], known->a, known->b, tl_unit(d), length, length - t->length};
}

static TlStatus too_long(const Bond *bond, const TlBond *t) {
  double most = 1 + bond->law->stretch_most, rest = bond->length - bond->stretch;
  if (bond->length <= most * rest && bond->length > 0.01 * rest) return TL_OK;
  return tl_fail(TL_ELIMIT,
                 "the bond of net spheres %lld and %lld is %g times its length (%g m), more than "
                 "the %g allowed; a stiffer net, a strength at which bonds break, or a larger "
                 "stretch_most",
                 (long long)t->low, (long long)t->high, bond->length / rest, rest, most);
}

static TlStatus pull_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Membrane *m = context;
  (void)block;
  for (int64_t k = begin; k < end; k++) {
    TlBond *t = &tl_bonds(&m->bodies->pairs)[k];
    Bond bond = bond_now(m, &m->memo->bond[k], t);
    const TlBondLaw *law = bond.law;
    Pull *pull = &m->pull[k];
    pull->broken = law->strength_N > 0 && law->normal_N_m * bond.stretch > law->strength_N;
    if (pull->broken) continue;
    TL_TRY(too_long(&bond, t));
    if (m->follows) t->displacement = follow(m, &bond, t->displacement);
    if (m->pulls) bond_forces(m, &bond, t->displacement, pull);
    if (m->listed)
      m->listed[k] = (TlNetBond){.key = {t->low, t->high, t->number},
                                 .a = (int32_t)bond.a,
                                 .b = (int32_t)bond.b,
                                 .law = bond.law,
                                 .n = bond.n,
                                 .length = bond.length,
                                 .stretch = bond.stretch,
                                 .displacement = t->displacement};
    pull->energy = 0.5 * law->normal_N_m * bond.stretch * bond.stretch +
                   0.5 * law->tangential_N_m * tl_norm2(t->displacement);
    if (bond.a < m->bodies->owned) tl_exact_add(&m->elastic[thread], pull->energy);
  }
  return TL_OK;
}

static void drop_broken(const Membrane *m) {
  TlPairRows *rows = &m->bodies->pairs.of[TL_BONDS];
  TlBond *bond = rows->row;
  size_t kept = 0;
  for (size_t k = 0; k < rows->count; k++)
    if (!m->pull[k].broken) bond[kept++] = bond[k];
  rows->count = kept;
}

static void count_bonds(const Membrane *m, TlNetCount *out) {
  bool any = false;
  for (size_t k = 0; k < m->memo->bonds; k++) {
    bool mine = m->memo->bond[k].a < m->bodies->owned, broken = m->pull[k].broken;
    any = any || broken;
    if (!mine) continue;
    out->broken += broken;
    out->bonds += !broken;
  }
  for (int t = 0; t < tl_par_threads(); t++)
    for (int i = 0; i < TL_EXACT_LIMBS; i++) out->elastic.limb[i] += m->elastic[t].limb[i];
  if (any) drop_broken(m);
}

/* What each bond does to its lower sphere, about that one's centre. */
static TlStatus keep_rows(const Membrane *m) {
  TlNetMemo *memo = m->memo;
  const TlPairRows *bonds = &m->bodies->pairs.of[TL_BONDS];
  TL_TRY(TL_RESERVE(memo->row, memo->row_capacity, memo->bonds));
  memo->rows = 0;
  for (size_t k = 0; k < memo->bonds; k++) {
    int64_t a = memo->bond[k].a;
    if (m->pull[k].broken || a >= m->bodies->owned) continue;
    memo->row[memo->rows++] = (TlConstraintRow){.kind = TL_BONDS,
                                                .key = tl_pair_key(bonds, TL_BONDS, k),
                                                .point_m = m->now[a].x,
                                                .force_N = m->pull[k].force,
                                                .moment_N_m = m->pull[k].torque};
  }
  return TL_OK;
}

/* All bonds; broken ones are dropped. */
static TlStatus go_through_bonds(Membrane *m, TlArena *arena, TlNetCount *out) {
  size_t threads = (size_t)tl_par_threads();
  TL_TRY(list_bonds(m));
  m->pull = tl_arena_push(arena, m->memo->bonds, sizeof *m->pull);
  m->elastic = tl_arena_push(arena, threads, sizeof *m->elastic);
  if (!m->pull || !m->elastic) return TL_ENOMEM;
  memset(m->elastic, 0, threads * sizeof *m->elastic);
  TL_TRY(tl_par_loop((int64_t)m->memo->bonds, BLOCK, BOND_NS, pull_block, m));
  if (m->pulls && m->memo->keeps_rows) TL_TRY(keep_rows(m));
  count_bonds(m, out);
  return TL_OK;
}

/* What its bonds do to a sphere, in the order of ids. */
static void sum_bonds(const Membrane *m, int64_t i) {
  const TlNetMemo *memo = m->memo;
  TlVec3 force = {0, 0, 0}, torque = force, drag = force, drag_torque = force;
  for (size_t e = memo->first[i]; e < memo->first[i + 1]; e++) {
    const Pull *p = &m->pull[memo->end[e] / 2];
    bool high = memo->end[e] & 1;
    if (p->broken) continue;
    force = high ? tl_sub(force, p->force) : tl_add(force, p->force);
    drag = high ? tl_sub(drag, p->drag) : tl_add(drag, p->drag);
    torque = tl_add(torque, p->torque);
    drag_torque = tl_add(drag_torque, p->drag_torque);
  }
  m->load.force[i] = force;
  m->load.torque[i] = torque;
  m->load.drag[i] = drag;
  m->load.drag_torque[i] = drag_torque;
}

/* ---- pressure ---- */

/* A sphere bears its third of a triangle while its own two bonds there hold: what the rank that
 * owns it can know. */
static bool whole(const Membrane *m, const TlNet *net, int64_t me, const int32_t corner[3]) {
  const TlBodies *b = m->bodies;
  if (net->strength_N == 0) return true; /* nothing breaks */
  for (int k = 0; k < 3; k++)
    if (corner[k] != me && !tl_net_bonded(&b->pairs, b->id[me], b->id[corner[k]])) return false;
  return true;
}

/* -p S_T/3 of one triangle, corners in the sense of along x across. */
static TlVec3 third(const Membrane *m, const TlNet *net, int64_t me, double pressure,
                    const int32_t corner[3]) {
  if (corner[0] < 0 || !whole(m, net, me, corner)) return (TlVec3){0, 0, 0};
  TlVec3 x = m->now[corner[0]].x, y = m->now[corner[1]].x, z = m->now[corner[2]].x;
  return tl_scale(-pressure / 6, tl_cross(tl_sub(y, x), tl_sub(z, x)));
}

/* Of two layers the inner bears 80%, the outer 20% (Tan 2022 4.4.2). */
static void pressure_on_sphere(const Membrane *m, const Ring *ring, const Local *me) {
  const TlNet *net = ring->net;
  int64_t layer = tl_net_place(net, me->id - net->first_id).layer, i = me->index;
  double pressure = m->pressure_Pa[net - m->nets] * (net->layers == 1 ? 1 : layer == 0 ? 0.8 : 0.2);
  for (int t = 0; t < 6; t++)
    m->load.pressure_force[i] =
        tl_add(m->load.pressure_force[i], third(m, net, i, pressure, ring->corner[t]));
  m->load.force[i] = tl_add(m->load.force[i], m->load.pressure_force[i]);
}

static TlStatus load_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Membrane *m = context;
  (void)block;
  (void)thread;
  for (int64_t n = begin; n < end; n++) {
    const Ring *ring = &m->memo->ring[n];
    int64_t i = m->local[n].index;
    m->load.pressure_force[i] = m->load.force[i] = tl_vec3(0, 0, 0);
    if (m->pulls) sum_bonds(m, i);
    if (ring->net && m->pressure_Pa[ring->net - m->nets] != 0 && i < m->bodies->owned)
      pressure_on_sphere(m, ring, &m->local[n]);
  }
  return TL_OK;
}

/* Bonds and pressure. */
static TlStatus load_spheres(Membrane *m) {
  return tl_par_loop(m->locals, BLOCK, LOAD_NS, load_block, m);
}

static void kick(const Membrane *m) {
  TlBodies *b = m->bodies;
  for (int64_t n = 0; n < m->locals; n++) {
    int64_t i = m->local[n].index;
    if (i >= b->owned || b->flags[i] & TL_BODY_FROZEN) continue;
    b->velocity[i] = tl_axpy(b->velocity[i], m->step_s * b->inverse_mass[i], m->load.force[i]);
    b->momentum[i] = tl_axpy(b->momentum[i], m->step_s, m->load.torque[i]);
  }
}

static TlStatus start(Membrane *m, const TlSync *sync, TlArena *arena) {
  m->now = tl_arena_push(arena, (size_t)m->bodies->total, sizeof *m->now);
  m->law = tl_arena_push(arena, (size_t)m->count, sizeof *m->law);
  int failed = !m->now || !m->law || recollect(m) != TL_OK;
  for (int k = 0; !failed && k < m->count; k++) m->law[k] = tl_net_bond_law(&m->nets[k]);
  if (m->pulls || m->listed) failed = failed || make_forces(m, arena) != TL_OK;
  TL_TRY(tl_sync_any(sync, &failed));
  return failed ? TL_ENOMEM : TL_OK;
}

/* Rows that are carried take their places; bonds follow, and pull if they are to. Collective. */
static TlStatus settle(Membrane *m, const TlSync *sync, TlArena *arena, TlNetCount *out) {
  *out = (TlNetCount){0};
  if (m->count == 0) return TL_OK;
  TL_TRY(start(m, sync, arena));
  TlStatus held = carry(m, sync, arena);
  TL_TRY(look(m, sync)); /* collective: whoever lost a holder leaves after it */
  TL_TRY(held);
  return go_through_bonds(m, arena, out);
}

static Membrane opened(const TlMembranes *of) {
  return (Membrane){.nets = of->nets,
                    .pressure_Pa = of->pressure_Pa,
                    .count = of->count,
                    .bodies = of->bodies,
                    .memo = of->memo};
}

TlStatus tl_membrane_correct(const TlMembranes *of, const TlVec3 *began, double step_s,
                             const TlSync *sync, TlNetCount *out) {
  Membrane m = opened(of);
  m.start = began;
  m.step_s = step_s;
  m.follows = m.pulls = true;
  TL_TRY(settle(&m, sync, of->arena, out));
  if (m.count == 0) return TL_OK;
  TL_TRY(load_spheres(&m));
  kick(&m);
  return TL_OK;
}

TlStatus tl_membrane_follow(const TlMembranes *of, const TlVec3 *began, double step_s,
                            const TlSync *sync, TlNetCount *out) {
  Membrane m = opened(of);
  m.start = began;
  m.step_s = step_s;
  m.follows = true;
  return settle(&m, sync, of->arena, out);
}

/* As the bodies stand. */
static TlStatus load_now(Membrane *m, TlArena *arena, TlNetLoad *load) {
  TlNetCount held = {0};
  TL_TRY(start(m, NULL, arena));
  TL_TRY(note_now(m, m->bodies->total));
  TL_TRY(go_through_bonds(m, arena, &held));
  TL_TRY(load_spheres(m));
  *load = m->load;
  load->elastic = held.elastic;
  return TL_OK;
}

TlStatus tl_membrane_load(const TlMembranes *of, TlNetLoad *load) {
  Membrane m = opened(of);
  m.pulls = true;
  *load = (TlNetLoad){0};
  return m.count == 0 ? TL_OK : load_now(&m, of->arena, load);
}

TlStatus tl_membrane_bonds(const TlMembranes *of, TlNetLoad *load, TlNetBond **bond,
                           int32_t *bonds) {
  Membrane m = opened(of);
  *load = (TlNetLoad){0};
  *bond = NULL;
  *bonds = 0;
  if (m.count == 0) return TL_OK;
  m.listed = tl_arena_push(of->arena, m.bodies->pairs.of[TL_BONDS].count + 1, sizeof *m.listed);
  if (!m.listed) return TL_ENOMEM;
  TL_TRY(load_now(&m, of->arena, load));
  for (size_t k = 0; k < m.memo->bonds; k++)
    if (!m.pull[k].broken) m.listed[(*bonds)++] = m.listed[k];
  *bond = m.listed;
  return TL_OK;
}

/* ---- volume ---- */

static void add_vec(TlExact *sum, TlVec3 v) {
  tl_exact_add(&sum[0], v.x);
  tl_exact_add(&sum[1], v.y);
  tl_exact_add(&sum[2], v.z);
}

static TlVec3 vec_of(const TlExact *sum) {
  return tl_vec3(tl_exact_value(&sum[0]), tl_exact_value(&sum[1]), tl_exact_value(&sum[2]));
}

/* From the axis' first point. */
static TlVec3 from_corner(const Membrane *m, const TlNet *net, int64_t number) {
  return tl_sub(m->bodies->position[index_of(m, net->first_id + number)], net->corner);
}

/* The share of the triangles whose lowest corner this is, and of the end it belongs to. */
static void add_share(const Membrane *m, const TlNet *net, int64_t number, TlNetVolume *share) {
  int64_t round[7], corner[3], row = tl_net_place(net, number).row;
  TlVec3 here = from_corner(m, net, number);
  tl_net_round(net, number, round);
  for (int t = 0; t < 6; t++) {
    tl_net_corners(number, round, t, corner);
    if (corner[0] != number || corner[1] < 0 || corner[2] < 0) continue;
    TlVec3 normal = tl_cross(from_corner(m, net, corner[1]), from_corner(m, net, corner[2]));
    tl_exact_add(&share->sum[0], tl_dot(here, normal) / 6);
  }
  if (row > 0 && row < net->rows - 1) return;
  TlExact *end = &share->sum[row == 0 ? 1 : 7]; /* places; areas about the axis */
  add_vec(end, here);
  add_vec(end + 3, tl_scale(0.5, tl_cross(here, from_corner(m, net, round[0]))));
}

TlStatus tl_net_volume_add(const TlNet *net, const TlBodies *bodies, TlArena *arena,
                           TlNetVolume *share) {
  Membrane m = {.nets = net, .count = 1, .bodies = (TlBodies *)(uintptr_t)bodies};
  TL_TRY(list_local(&m, arena));
  for (int64_t n = 0; n < m.locals; n++) {
    int64_t number = m.local[n].id - net->first_id;
    bool inner = number >= 0 && number < (int64_t)net->rows * net->columns;
    if (inner && m.local[n].index < bodies->owned) add_share(&m, net, number, share);
  }
  return TL_OK;
}

double tl_net_volume(const TlNet *net, const TlNetVolume *whole) {
  double volume = tl_exact_value(&whole->sum[0]);
  for (int end = 0; end < 2; end++) { /* a cone on the middle: outwards is up at the last row */
    const TlExact *sum = &whole->sum[1 + 6 * end];
    TlVec3 middle = tl_scale(1.0 / net->columns, vec_of(sum));
    volume += (end ? 1 : -1) * tl_dot(middle, vec_of(sum + 3)) / 3;
  }
  return volume;
}
