#include "solve/stages.h"

#include "base/random.h"
#include "solve/islands.h"
#include "solve/share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pair on its way into the order of the sweeps. */
typedef struct Entry {
  int32_t group, phase;
  uint64_t cell, hash;
  int64_t low, high, tag;
  int32_t from; /* number among those found here; -1 - number among the guests */
} Entry;

typedef struct Making {
  TlMovers movers;
  TlPairList found;
  const TlSync *sync;
  TlArena *arena;
  bool on_place; /* contacts stay where they are */
  TlIslands islands;
  TlPlacing *plan; /* [found.count] */
  TlGuests guests;
  int32_t phases;  /* of the group that is solved by cells */
  int32_t *group;  /* [islands] of this rank's islands; -1 */
  int32_t *shared; /* [shared islands] likewise */
  Entry *entry;
  int32_t entries;
} Making;

static uint64_t hash_of(const TlPair *p) {
  uint64_t h = tl_random_mix((uint64_t)p->low + 0x9e3779b97f4a7c15u);
  return tl_random_mix(h ^ ((uint64_t)p->high * 0xc2b2ae3d27d4eb4fu));
}

/* ---- plans ---- */

/* Of bodies of large islands that of their cell in the first grid, by which most pairs are solved; others, and all
 * where cells have cuts of their own, weigh where they are. */
static TlStatus place_solves(const Making *m, TlVec3 **solve_at) {
  const TlMovers *b = &m->movers;
  const TlGrids *grids = m->islands.grids;
  *solve_at = tl_arena_push(m->arena, (size_t)b->owned + 1, sizeof **solve_at);
  if (!*solve_at) return TL_ENOMEM;
  for (int64_t i = 0; i < b->owned; i++) {
    int32_t k = m->islands.of_body[i];
    (*solve_at)[i] = b->position[i];
    if (k < 0 || m->islands.cell_unit_m > 0) continue;
    if (!tl_is_large(&m->islands, &m->islands.island[k])) continue;
    TlCell cell = tl_grids_cell(&grids[k], b->position[i], b->position[i]);
    (*solve_at)[i] = tl_cell_place(&m->islands.island[k], &grids[k], &cell);
  }
  return TL_OK;
}

static TlPlacing plan_pair(const Making *m, const TlPair *p) {
  int32_t i = tl_island_of(&m->islands, p);
  if (i < 0) return (TlPlacing){.island = -1, .solver = -1};
  const TlIsland *island = &m->islands.island[i];
  TlPlacing plan = {.island = island->number, .solver = island->solver};
  if (!tl_is_large(&m->islands, island)) return plan;
  const TlGrids *grids = &m->islands.grids[i];
  TlCell cell = tl_cell_of_pair(&m->movers, grids, p);
  plan.phase = cell.phase;
  plan.key = cell.key;
  if (plan.solver == TL_BY_CELLS)
    plan.solver = tl_cell_solver(&m->islands, m->sync, island, grids, &cell);
  return plan;
}

static TlStatus make_plans(Making *m, TlGroups *groups) {
  m->plan = tl_arena_push(m->arena, (size_t)m->found.count + 1, sizeof *m->plan);
  if (!m->plan) return TL_ENOMEM;
  for (int32_t i = 0; i < m->found.count; i++) m->plan[i] = plan_pair(m, &m->found.pair[i]);
  if (m->sync) TL_TRY(place_solves(m, &groups->solve_at));
  for (int32_t i = 0; i < m->islands.shared; i++)
    if (m->islands.all[i].solver == TL_BY_CELLS) {
      int32_t phases = TL_GRIDS * tl_grids(&m->islands.all[i].lengths).levels;
      if (phases > m->phases) m->phases = phases;
    }
  return TL_OK;
}

/* ---- groups ---- */

/* Group 0 is the one that is solved by cells together with other ranks, where there is one; then
 * each island that this rank solves has its own. */
static TlStatus number_groups(Making *m, TlGroups *groups) {
  const TlIslands *is = &m->islands;
  int32_t me = m->sync ? m->sync->rank : 0;
  m->group = tl_arena_push(m->arena, (size_t)is->count + 1, sizeof *m->group);
  m->shared = tl_arena_push(m->arena, (size_t)is->shared + 1, sizeof *m->shared);
  if (!m->group || !m->shared) return TL_ENOMEM;
  groups->shared = is->by_cells > 0;
  groups->count = groups->shared ? 1 : 0;
  for (int32_t i = 0; i < is->shared; i++) {
    const TlIsland *island = &is->all[i];
    m->shared[i] = island->in_cells >= 0 ? 0 : island->solver == me ? groups->count++ : -1;
    if (island->bodies > groups->largest) groups->largest = island->bodies;
    if (island->solver == me) groups->islands++;
  }
  for (int32_t i = 0; i < is->count; i++) {
    const TlIsland *island = &is->island[i];
    m->group[i] = island->number >= 0 ? m->shared[island->number] : groups->count++;
    if (island->number < 0) groups->islands++;
    if (island->bodies > groups->largest) groups->largest = island->bodies;
  }
  for (int32_t i = 0; i < is->by_cells; i++) groups->islands += is->counts_here[i];
  groups->group = tl_arena_push(m->arena, (size_t)groups->count + 1, sizeof *groups->group);
  if (!groups->group) return TL_ENOMEM;
  memset(groups->group, 0, ((size_t)groups->count + 1) * sizeof *groups->group);
  for (int32_t i = 0; i < is->count; i++)
    if (m->group[i] >= 0) groups->group[m->group[i]].large = tl_is_large(is, &is->island[i]);
  for (int32_t g = 0; g < groups->count; g++) groups->group[g].islands = 1;
  if (groups->shared) {
    groups->group[0].islands = is->by_cells;
    groups->group[0].large = true;
    groups->group[0].phases = m->phases;
  }
  return TL_OK;
}

static void enter(Making *m, const TlPair *p, const TlPlacing *plan, int32_t group, int32_t from) {
  m->entry[m->entries++] = (Entry){.group = group,
                                   .phase = plan->phase,
                                   .cell = plan->key,
                                   .hash = hash_of(p),
                                   .low = p->low,
                                   .high = p->high,
                                   .tag = p->tag,
                                   .from = from};
}

static int by_order(const void *one, const void *two) {
  const Entry *a = one, *b = two;
  if (a->phase != b->phase) return a->phase < b->phase ? -1 : 1;
  if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
  if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return (a->tag > b->tag) - (a->tag < b->tag);
}

/* Into groups by counting, then each group into its order. start: [groups + 1]. */
static TlStatus sort_entries(Making *m, int32_t groups, int32_t **start) {
  Entry *sorted = tl_arena_push(m->arena, (size_t)m->entries + 1, sizeof *sorted);
  *start = tl_arena_push(m->arena, (size_t)groups + 2, sizeof **start);
  if (!sorted || !*start) return TL_ENOMEM;
  memset(*start, 0, ((size_t)groups + 2) * sizeof **start);
  for (int32_t i = 0; i < m->entries; i++) (*start)[m->entry[i].group + 2]++;
  for (int32_t g = 0; g < groups; g++) (*start)[g + 2] += (*start)[g + 1];
  for (int32_t i = 0; i < m->entries; i++) sorted[(*start)[m->entry[i].group + 1]++] = m->entry[i];
  for (int32_t g = 0; g < groups; g++)
    qsort(sorted + (*start)[g], (size_t)((*start)[g + 1] - (*start)[g]), sizeof *sorted, by_order);
  m->entry = sorted;
  return TL_OK;
}

static TlStatus enter_all(Making *m, int32_t groups, int32_t **start) {
  int32_t me = m->sync ? m->sync->rank : 0;
  m->entry =
      tl_arena_push(m->arena, (size_t)(m->found.count + m->guests.pairs) + 1, sizeof *m->entry);
  if (!m->entry) return TL_ENOMEM;
  for (int32_t i = 0; i < m->found.count; i++) {
    const TlPair *p = &m->found.pair[i];
    if (m->plan[i].solver == me)
      enter(m, p, &m->plan[i], m->group[tl_island_of(&m->islands, p)], i);
  }
  for (int32_t i = 0; i < m->guests.pairs; i++)
    enter(m, &m->guests.pair[i], &m->guests.plan[i], m->shared[m->guests.plan[i].island], -1 - i);
  return sort_entries(m, groups, start);
}

/* Phases and cells of a group from its entries [first, last). The one of several ranks keeps phases
 * that are empty here, for the lockstep. */
static TlStatus fill_cells(const Making *m, TlGroup *g, int32_t first, int32_t last) {
  const Entry *e = m->entry;
  int32_t cells = 0, phases = 0;
  for (int32_t i = first; i < last; i++)
    cells += i == first || e[i].phase != e[i - 1].phase || e[i].cell != e[i - 1].cell;
  if (g->phases == 0)
    for (int32_t i = first; i < last; i++) phases = e[i].phase + 1;
  else
    phases = g->phases;
  int32_t *cell = tl_arena_push(m->arena, (size_t)cells + 1, sizeof *cell);
  int32_t *phase = tl_arena_push(m->arena, (size_t)phases + 1, sizeof *phase);
  g->scratch = tl_arena_push(m->arena, 3 * (size_t)g->islands, sizeof *g->scratch);
  g->memo = tl_arena_push(m->arena, (size_t)(last - first) + 1, sizeof *g->memo);
  g->beyond = tl_arena_push(m->arena, TL_BEYOND_VALUES * (size_t)g->islands, sizeof *g->beyond);
  if (!cell || !phase || !g->scratch || !g->memo || !g->beyond) return TL_ENOMEM;
  if (g->large) {
    g->beyond_exact = tl_arena_push(m->arena, 3 * (size_t)g->islands, sizeof *g->beyond_exact);
    if (!g->beyond_exact) return TL_ENOMEM;
  }
  g->pairs = last - first;
  g->phases = phases;
  g->cell_start = cell;
  g->phase_start = phase;
  int32_t n = 0, i = first;
  for (int32_t p = 0; p < phases; p++) {
    phase[p] = n;
    for (; i < last && e[i].phase == p; i++)
      if (i == first || e[i].phase != e[i - 1].phase || e[i].cell != e[i - 1].cell)
        cell[n++] = i - first;
  }
  phase[phases] = n;
  cell[n] = last - first;
  return TL_OK;
}

/* Of the contacts and pairs of all groups (contact.h). */
typedef struct SweepScratch {
  void *sweep, *compare;
  double *product;
} SweepScratch;

static bool make_scratch(TlArena *arena, int32_t contacts, int32_t pairs, SweepScratch *r) {
  size_t points = (size_t)contacts + 1;
  r->sweep = tl_arena_push(arena, points, TL_SWEEP_BYTES);
  r->compare = tl_arena_push(arena, points, TL_COMPARE_BYTES);
  r->product = tl_arena_push(arena, 3 * ((size_t)pairs + 1), sizeof *r->product);
  return r->sweep && r->compare && r->product;
}

/* scratch: NULL: none. */
static void hand_out(TlGroups *groups, const SweepScratch *scratch) {
  for (int32_t g = 0, first = 0; g < groups->count; g++) {
    groups->group[g].pair = groups->pair + first;
    groups->group[g].contact = groups->contact;
    if (scratch) {
      groups->group[g].sweep_scratch = scratch->sweep;
      groups->group[g].compare_scratch = scratch->compare;
      groups->group[g].product = scratch->product + 3 * first;
    }
    if (groups->pair_ns) groups->group[g].impulses = groups->pair_ns + first;
    first += groups->group[g].pairs;
  }
}

/* Pairs and contacts into the order of the sweeps: left as the search found them, a sweep of a large
 * island waits for memory three quarters of its time. On one rank they change places; on several, what
 * was found stays as it is. */
static TlStatus lay_out(Making *m, TlGroups *groups) {
  int32_t points = 0, here = 0;
  for (int32_t i = 0; i < m->found.count; i++) here += m->found.pair[i].count;
  points = here + m->guests.contacts;
  TlPair *pair =
      tl_arena_push(m->arena, (size_t)(m->found.count + m->guests.pairs) + 1, sizeof *pair);
  TlContact *contact = tl_arena_push(m->arena, (size_t)points + 1, sizeof *contact);
  SweepScratch scratch;
  if (!pair || !contact || !make_scratch(m->arena, points, m->entries, &scratch)) return TL_ENOMEM;
  if (m->sync) {
    groups->pair_ns = tl_arena_push(m->arena, (size_t)m->entries + 1, sizeof *groups->pair_ns);
    groups->found_ns =
        tl_arena_push(m->arena, (size_t)m->found.count + 1, sizeof *groups->found_ns);
    if (!groups->pair_ns || !groups->found_ns) return TL_ENOMEM;
    memset(groups->pair_ns, 0, ((size_t)m->entries + 1) * sizeof *groups->pair_ns);
    memset(groups->found_ns, 0, ((size_t)m->found.count + 1) * sizeof *groups->found_ns);
  }
  const TlPair *from_pair = m->found.pair;
  const TlContact *from = m->found.contact;
  if (!m->sync) {
    memcpy(pair, m->found.pair, (size_t)m->found.count * sizeof *pair);
    memcpy(contact, m->found.contact, (size_t)here * sizeof *contact);
    from_pair = pair;
    from = contact;
    pair = m->found.pair;
    contact = m->found.contact;
  }
  groups->pair = pair;
  groups->contact = contact;
  int32_t at = 0;
  for (int32_t i = 0; i < m->entries; i++) {
    int32_t k = m->entry[i].from;
    const TlPair *p = k >= 0 ? &from_pair[k] : &m->guests.pair[-1 - k];
    memcpy(contact + at, (k >= 0 ? from : m->guests.contact) + p->first,
           (size_t)p->count * sizeof *contact);
    pair[i] = *p;
    pair[i].first = at;
    pair[i].island = 0;
    pair[i].stuck = false;
    at += p->count;
  }
  for (int32_t i = 0, last = m->entries; !m->sync && i < m->found.count;
       i++) { /* of bodies that are fixed */
    if (m->plan[i].solver >= 0) continue;
    memcpy(contact + at, from + from_pair[i].first, (size_t)from_pair[i].count * sizeof *contact);
    pair[last] = from_pair[i];
    pair[last++].first = at;
    at += from_pair[i].count;
  }
  groups->contacts = at;
  hand_out(groups, &scratch);
  return TL_OK;
}

/* The pairs alone are put in order. */
static TlStatus list_pairs(const Making *m, TlGroups *groups) {
  TlPair *pair = tl_arena_push(m->arena, (size_t)m->entries + 1, sizeof *pair);
  if (!pair) return TL_ENOMEM;
  for (int32_t i = 0; i < m->entries; i++) pair[i] = m->found.pair[m->entry[i].from];
  for (int32_t i = 0; i < m->found.count; i++) groups->contacts += m->found.pair[i].count;
  groups->pair = pair;
  groups->contact = m->found.contact;
  hand_out(groups, NULL);
  return TL_OK;
}

/* ---- with other ranks ---- */

/* Islands of the pairs and bodies of the group that is solved by cells. */
static TlStatus mark_islands(const Making *m, TlGroups *groups) {
  if (!groups->shared) return TL_OK;
  TlGroup *g = &groups->group[0];
  size_t n = (size_t)tl_share_bodies(groups->share);
  int32_t *body_island = tl_arena_push(m->arena, n + 1, sizeof *body_island);
  if (!body_island) return TL_ENOMEM;
  for (size_t i = 0; i < n; i++) body_island[i] = -1;
  for (int32_t i = 0; i < g->pairs; i++) {
    int32_t from = m->entry[i].from;
    const TlPlacing *plan = from >= 0 ? &m->plan[from] : &m->guests.plan[-1 - from];
    TlPair *p = &g->pair[i];
    p->island = m->islands.all[plan->island].in_cells;
    body_island[p->a] = p->island;
    if (p->b >= 0) body_island[p->b] = p->island;
  }
  g->body_island = body_island;
  g->counts_here = m->islands.counts_here;
  g->share = groups->share;
  return TL_OK;
}

static TlStatus make_routes(const Making *m, TlGroups *groups) {
  TlSolved *solved = tl_arena_push(m->arena, (size_t)m->entries + 1, sizeof *solved);
  if (!solved) return TL_ENOMEM;
  for (int32_t i = 0; i < m->entries; i++) {
    int32_t from = m->entry[i].from;
    solved[i] = (TlSolved){.pair = &groups->pair[i],
                           .found = from >= 0 ? from : -1,
                           .guest = from >= 0 ? -1 : -1 - from,
                           .phase = m->entry[i].phase,
                           .by_cells = groups->shared && m->entry[i].group == 0};
  }
  return tl_share_routes(groups->share, &m->islands, &m->guests, solved, m->entries, m->phases);
}

/* on_place: on one rank, pairs and contacts stay as they were found. */
static TlStatus make(const TlMovers *movers, const TlPairList *found, bool on_place,
                     const TlSync *sync, TlArena *arena, TlGroups *groups) {
  *groups = (TlGroups){.bodies = movers->total, .found = *found, .link = found->link};
  Making m = {.movers = *movers,
              .on_place = on_place && !sync,
              .found = *found,
              .sync = sync,
              .arena = arena};
  int32_t *start;
  TL_TRY(tl_islands_find(movers, found->pair, found->count, sync, arena, &m.islands));
  groups->islands_found = m.islands;
  TL_TRY(make_plans(&m, groups));
  if (sync) {
    TL_TRY(tl_share_open(movers, sync, arena, &groups->share));
    TL_TRY(tl_share_pairs(groups->share, &m.islands, found, m.plan, &m.guests));
    groups->link = m.guests.link;
  }
  TL_TRY(number_groups(&m, groups));
  TL_TRY(enter_all(&m, groups->count, &start));
  for (int32_t g = 0; g < groups->count; g++)
    TL_TRY(fill_cells(&m, &groups->group[g], start[g], start[g + 1]));
  TL_TRY(m.on_place ? list_pairs(&m, groups) : lay_out(&m, groups));
  if (!sync) return TL_OK;
  TL_TRY(mark_islands(&m, groups));
  return make_routes(&m, groups);
}

TlStatus tl_groups_make(const TlBodies *b, const TlDynamics *dynamics, const TlPairList *found,
                        const TlSolveCost *last, const TlSync *sync, TlArena *arena,
                        TlGroups *groups) {
  TlMovers movers = tl_movers(b, dynamics);
  movers.last = last;
  return make(&movers, found, false, sync, arena, groups);
}

TlStatus tl_groups_list(const TlMovers *movers, const TlPairList *found, const TlSync *sync,
                        TlArena *arena, TlGroups *groups) {
  return make(movers, found, true, sync, arena, groups);
}

TlStatus tl_groups_home(const TlGroups *groups, const TlDynamics *dynamics) {
  if (!groups->share) return TL_OK;
  return tl_share_home(groups->share, groups->contact, groups->pair_ns, groups->found_ns, dynamics);
}
