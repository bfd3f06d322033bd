#include "solve/stages.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MASK_WORDS = 8, MOST_COLOURS = 64 * MASK_WORDS };

/* What colouring knows of a body; it travels from owner to ghosts. */
typedef struct Palette {
  uint64_t used[MASK_WORDS];
  uint64_t top; /* largest priority among its uncoloured pairs */
} Palette;

typedef struct Ranked {
  uint64_t priority;
  int32_t pair;
} Ranked;

static bool movable(const TlBodies *b, int32_t body) {
  return body >= 0 && !(b->flags[body] & TL_BODY_FROZEN);
}

static uint64_t priority_of(const TlPair *p) {
  uint64_t h = tl_random_mix((uint64_t)p->low + 0x9e3779b97f4a7c15u);
  h = tl_random_mix(h ^ ((uint64_t)p->high * 0xc2b2ae3d27d4eb4fu));
  return h ? h : 1;
}

static int by_priority(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  if (x->priority != y->priority) return x->priority > y->priority ? -1 : 1;
  return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* Least colour free at both ends, marked as used there; -1 when all are taken. */
static int32_t take_colour(const TlBodies *b, const TlPair *p, Palette *palette) {
  for (int32_t w = 0; w < MASK_WORDS; w++) {
    uint64_t used = (movable(b, p->a) ? palette[p->a].used[w] : 0) |
                    (movable(b, p->b) ? palette[p->b].used[w] : 0);
    if (used == UINT64_MAX) continue;
    uint64_t bit = ~used & (used + 1);
    if (movable(b, p->a)) palette[p->a].used[w] |= bit;
    if (movable(b, p->b)) palette[p->b].used[w] |= bit;
    return 64 * w + __builtin_ctzll(bit);
  }
  return -1;
}

static TlStatus colour_one(const TlBodies *b, TlPair *p, Palette *palette) {
  p->colour = take_colour(b, p, palette);
  if (p->colour >= 0) return TL_OK;
  return tl_fail(TL_ELIMIT,
                 "grains %lld and %lld: one of them has so many neighbours that %d colours do not "
                 "do; narrow the range of grain sizes",
                 (long long)p->low, (long long)p->high, MOST_COLOURS);
}

static void raise_tops(const TlBodies *b, const TlPair *pairs, const Ranked *rank, int32_t count,
                       Palette *palette) {
  for (int64_t i = 0; i < b->total; i++) palette[i].top = 0;
  for (int32_t i = count - 1; i >= 0; i--) { /* ascending: the last write is the largest */
    const TlPair *p = &pairs[rank[i].pair];
    if (p->colour >= 0) continue;
    palette[p->a].top = palette[p->b].top = rank[i].priority;
  }
}

static bool is_first(const TlBodies *b, const TlPair *p, uint64_t priority,
                     const Palette *palette) {
  return (!movable(b, p->a) || palette[p->a].top == priority) &&
         (!movable(b, p->b) || palette[p->b].top == priority);
}

static TlStatus colour_in_rounds(const TlBodies *b, TlPair *pairs, const Ranked *rank,
                                 int32_t count, Palette *palette, const TlSync *sync) {
  for (int open = 1; open;) {
    raise_tops(b, pairs, rank, count, palette);
    TL_TRY(tl_sync_forward(sync, palette, sizeof *palette));
    open = 0;
    for (int32_t i = 0; i < count; i++) {
      TlPair *p = &pairs[rank[i].pair];
      if (p->colour >= 0) continue;
      if (is_first(b, p, rank[i].priority, palette))
        TL_TRY(colour_one(b, p, palette));
      else
        open = 1;
    }
    TL_TRY(tl_sync_any(sync, &open));
  }
  return TL_OK;
}

/* Colours of the grain pairs; *colours: how many, over all ranks; the boundaries' one comes last.
 */
static TlStatus colour_pairs(const TlBodies *b, TlPair *pairs, int32_t count, const TlSync *sync,
                             TlArena *arena, int32_t *colours) {
  Palette *palette = tl_arena_push(arena, (size_t)b->total, sizeof *palette);
  Ranked *rank = tl_arena_push(arena, (size_t)count, sizeof *rank);
  if (!palette || !rank) return TL_ENOMEM;
  memset(palette, 0, (size_t)b->total * sizeof *palette);
  int32_t ranked = 0;
  for (int32_t i = 0; i < count; i++) {
    pairs[i].colour = -1;
    if (pairs[i].b >= 0) rank[ranked++] = (Ranked){priority_of(&pairs[i]), i};
  }
  qsort(rank, (size_t)ranked, sizeof *rank, by_priority);
  if (sync)
    TL_TRY(colour_in_rounds(b, pairs, rank, ranked, palette, sync));
  else
    for (int32_t i = 0; i < ranked; i++) TL_TRY(colour_one(b, &pairs[rank[i].pair], palette));
  double most = 0;
  for (int32_t i = 0; i < count; i++) most = fmin(most, -1 - pairs[i].colour);
  TL_TRY(tl_sync_least(sync, &most, 1));
  *colours = (int32_t)-most + 1;
  for (int32_t i = 0; i < count; i++)
    if (pairs[i].b < 0) pairs[i].colour = *colours - 1;
  return TL_OK;
}

/* ---- islands ---- */

static int32_t root_of(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

typedef struct Islands {
  int32_t *of_body; /* island of each body, -1: none */
  int32_t count;
  bool *shared; /* [count] another rank has a pair of it, too */
  int64_t largest;
} Islands;

static int32_t island_of(const Islands *is, const TlPair *p) {
  return is->of_body[p->a] >= 0 ? is->of_body[p->a] : is->of_body[p->b];
}

static TlStatus find_islands(const TlBodies *b, const TlPair *pairs, int32_t count, TlArena *arena,
                             Islands *is) {
  size_t n = (size_t)b->total;
  int32_t *parent = tl_arena_push(arena, n, sizeof *parent);
  int32_t *number = tl_arena_push(arena, n, sizeof *number);
  int64_t *size = tl_arena_push(arena, n, sizeof *size);
  is->of_body = tl_arena_push(arena, n, sizeof *is->of_body);
  is->shared = tl_arena_push(arena, n, sizeof *is->shared);
  if (!parent || !number || !size || !is->of_body || !is->shared) return TL_ENOMEM;
  for (int32_t i = 0; i < (int32_t)n; i++) {
    parent[i] = i;
    number[i] = is->of_body[i] = -1;
    is->shared[i] = false;
    size[i] = 0;
  }
  for (int32_t i = 0; i < count; i++) {
    const TlPair *p = &pairs[i];
    if (movable(b, p->a)) is->of_body[p->a] = 0; /* has a contact */
    if (movable(b, p->b)) is->of_body[p->b] = 0;
    if (movable(b, p->a) && movable(b, p->b)) parent[root_of(parent, p->a)] = root_of(parent, p->b);
  }
  for (int32_t i = 0; i < (int32_t)n; i++) {
    if (is->of_body[i] < 0) continue;
    int32_t root = root_of(parent, i);
    if (number[root] < 0) number[root] = is->count++;
    int32_t me = is->of_body[i] = number[root];
    if (++size[me] > is->largest) is->largest = size[me];
  }
  /* A fixed body joins no island, but its rank has the pairs with it: as a ghost it shares, too. */
  for (int32_t i = 0; i < count; i++)
    if (pairs[i].a >= b->owned || pairs[i].b >= b->owned)
      is->shared[island_of(is, &pairs[i])] = true;
  return TL_OK;
}

/* ---- groups ---- */

/* Sort pairs by (group, colour): a counting sort over group*colours + colour would waste memory on
 * thousands of small islands, so by colour first and then, stably, by group. */
static TlStatus sort_pairs(const TlPair *pairs, int32_t count, const int32_t *group_of_pair,
                           int32_t colours, int32_t groups, TlArena *arena, int32_t **order,
                           int32_t **start) {
  int32_t *by_colour = tl_arena_push(arena, (size_t)count, sizeof *by_colour);
  int32_t *at = tl_arena_push(arena, (size_t)colours + 1, sizeof *at);
  *order = tl_arena_push(arena, (size_t)count, sizeof **order);
  *start = tl_arena_push(arena, (size_t)groups + 2, sizeof **start);
  if (!by_colour || !at || !*order || !*start) return TL_ENOMEM;
  memset(at, 0, ((size_t)colours + 1) * sizeof *at);
  memset(*start, 0, ((size_t)groups + 2) * sizeof **start);
  for (int32_t i = 0; i < count; i++) at[pairs[i].colour + 1]++;
  for (int32_t c = 0; c < colours; c++) at[c + 1] += at[c];
  for (int32_t i = 0; i < count; i++) by_colour[at[pairs[i].colour]++] = i;
  for (int32_t i = 0; i < count; i++) (*start)[group_of_pair[i] + 2]++;
  for (int32_t g = 0; g <= groups; g++) (*start)[g + 1] += (*start)[g];
  for (int32_t i = 0; i < count; i++)
    (*order)[(*start)[group_of_pair[by_colour[i]] + 1]++] = by_colour[i];
  return TL_OK;
}

/* A local group skips the colours it has no pair of; the shared one keeps all, for the lockstep. */
static TlStatus fill_colours(TlGroup *g, const TlPair *pairs, int32_t first, int32_t last,
                             const int32_t *order, int32_t colours, TlArena *arena) {
  int32_t room = g->sync ? colours : last - first < colours ? last - first : colours;
  int32_t *start = tl_arena_push(arena, (size_t)room + 1, sizeof *start);
  g->scratch = tl_arena_push(arena, 2 * (size_t)g->islands + 2, sizeof *g->scratch);
  g->memo = tl_arena_push(arena, (size_t)(last - first) + 1, sizeof *g->memo);
  if (!start || !g->scratch || !g->memo) return TL_ENOMEM;
  g->order = order + first;
  g->colour_start = start;
  int32_t i = first;
  for (int32_t c = 0; c < colours; c++) {
    if (!g->sync && (i == last || pairs[order[i]].colour != c)) continue;
    start[g->colours++] = i - first;
    while (i < last && pairs[order[i]].colour == c) i++;
  }
  start[g->colours] = last - first;
  return TL_OK;
}

/* Islands that other ranks share are counted by the owner of their least id. */
static TlStatus count_shared(const TlBodies *b, const TlGroup *g, int64_t *islands) {
  for (int32_t i = 0; i < g->islands; i++) {
    g->scratch[i] = INFINITY;
    g->counts_here[i] = false;
  }
  for (int64_t i = 0; i < b->total; i++)
    if (g->body_island[i] >= 0)
      g->scratch[g->body_island[i]] = fmin(g->scratch[g->body_island[i]], (double)b->id[i]);
  TL_TRY(tl_group_least(g, g->scratch));
  for (int64_t i = 0; i < b->owned; i++) {
    int32_t island = g->body_island[i];
    if (island < 0 || (double)b->id[i] != g->scratch[island]) continue;
    g->counts_here[island] = true;
    (*islands)++;
  }
  return TL_OK;
}

static TlStatus number_groups(const TlBodies *b, TlPair *pairs, int32_t count, const Islands *is,
                              const TlSync *sync, TlArena *arena, TlGroups *groups,
                              int32_t *group_of_pair) {
  int32_t *group = tl_arena_push(arena, (size_t)is->count + 1, sizeof *group);
  int32_t *within = tl_arena_push(arena, (size_t)is->count + 1, sizeof *within);
  if (!group || !within) return TL_ENOMEM;
  int any = 0;
  int32_t shared = 0;
  for (int32_t i = 0; i < is->count; i++) any |= is->shared[i];
  TL_TRY(tl_sync_any(sync, &any));
  groups->shared = sync && any;
  groups->count = groups->shared ? 1 : 0;
  for (int32_t i = 0; i < is->count; i++) {
    bool in_shared = groups->shared && is->shared[i];
    group[i] = in_shared ? 0 : groups->count++;
    within[i] = in_shared ? shared++ : 0;
  }
  groups->group = tl_arena_push(arena, (size_t)groups->count + 1, sizeof *groups->group);
  if (!groups->group) return TL_ENOMEM;
  memset(groups->group, 0, ((size_t)groups->count + 1) * sizeof *groups->group);
  for (int32_t g = 0; g < groups->count; g++) groups->group[g].islands = 1;
  groups->islands = groups->count;
  for (int32_t i = 0; i < count; i++) {
    int32_t island = island_of(is, &pairs[i]);
    group_of_pair[i] = group[island];
    pairs[i].island = within[island];
  }
  if (!groups->shared) return TL_OK;
  groups->islands--;
  TlGroup *g = &groups->group[0];
  int32_t *body_island = tl_arena_push(arena, (size_t)b->total, sizeof *body_island);
  g->body_value = tl_arena_push(arena, (size_t)b->total, sizeof *g->body_value);
  g->counts_here = tl_arena_push(arena, (size_t)shared + 1, sizeof *g->counts_here);
  if (!body_island || !g->body_value || !g->counts_here) return TL_ENOMEM;
  for (int64_t i = 0; i < b->total; i++) {
    int32_t island = is->of_body[i];
    body_island[i] = island >= 0 && is->shared[island] ? within[island] : -1;
  }
  g->body_island = body_island;
  g->body_count = b->total;
  g->islands = shared;
  g->sync = sync;
  return TL_OK;
}

/* Pairs and contacts into the order of the sweeps: left as the search found them, a sweep of a
 * large island waits for memory three quarters of its time. */
static TlStatus lay_out(TlPair *pairs, int32_t count, TlContact *contacts, int32_t *order,
                        TlArena *arena) {
  int32_t points = 0;
  for (int32_t i = 0; i < count; i++) points += pairs[i].count;
  TlPair *pair = tl_arena_push(arena, (size_t)count, sizeof *pair);
  TlContact *contact = tl_arena_push(arena, (size_t)points, sizeof *contact);
  if (!pair || !contact) return TL_ENOMEM;
  memcpy(pair, pairs, (size_t)count * sizeof *pair);
  memcpy(contact, contacts, (size_t)points * sizeof *contact);
  for (int32_t i = 0, at = 0; i < count; i++) {
    pairs[i] = pair[order[i]];
    memcpy(contacts + at, contact + pairs[i].first, (size_t)pairs[i].count * sizeof *contact);
    pairs[i].first = at;
    at += pairs[i].count;
    order[i] = i;
  }
  return TL_OK;
}

TlStatus tl_groups_make(const TlBodies *b, TlPair *pairs, int32_t count, TlContact *contacts,
                        const TlSync *sync, TlArena *arena, TlGroups *groups) {
  *groups = (TlGroups){0};
  Islands is = {0};
  int32_t colours, *order, *start;
  int32_t *group_of_pair = tl_arena_push(arena, (size_t)count, sizeof *group_of_pair);
  if (!group_of_pair) return TL_ENOMEM;
  TL_TRY(colour_pairs(b, pairs, count, sync, arena, &colours));
  TL_TRY(find_islands(b, pairs, count, arena, &is));
  TL_TRY(number_groups(b, pairs, count, &is, sync, arena, groups, group_of_pair));
  TL_TRY(sort_pairs(pairs, count, group_of_pair, colours, groups->count, arena, &order, &start));
  TL_TRY(lay_out(pairs, count, contacts, order, arena));
  int32_t points = 0;
  for (int32_t i = 0; i < count; i++) points += pairs[i].count;
  void *room = tl_arena_push(arena, (size_t)points + 1, TL_SWEEP_ROOM);
  if (!room) return TL_ENOMEM;
  groups->largest = is.largest;
  for (int32_t i = 0; i < groups->count; i++) {
    TlGroup *g = &groups->group[i];
    g->contact = contacts;
    g->pair = pairs;
    g->sweep_room = room;
    TL_TRY(fill_colours(g, pairs, start[i], start[i + 1], order, colours, arena));
  }
  return groups->shared ? count_shared(b, &groups->group[0], &groups->islands) : TL_OK;
}
