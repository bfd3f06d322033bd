#include "solve/islands.h"

#include "solve/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t small = TL_SMALL_ISLAND;

void tl_islands_set_small(int64_t bodies) {
  small = bodies > 0 ? bodies : TL_SMALL_ISLAND;
}

/* ---- of this rank ---- */

static int32_t root_of(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void count_pair(const TlMovers *b, const TlPair *p, TlIsland *island) {
  if (p->a >= b->owned || p->b >= b->owned) island->shared = true;
  if (p->elsewhere) return;
  island->work_ns += TL_WORK_NS_ISLANDS;
  if (tl_movable(b, p->a) && tl_movable(b, p->b))
    tl_lengths_add(&island->lengths, tl_norm(tl_sub(b->position[p->a], b->position[p->b])));
}

static const TlVec3 nowhere_low = {INFINITY, INFINITY, INFINITY};
static const TlVec3 nowhere_high = {-INFINITY, -INFINITY, -INFINITY};

static void add_place(TlIsland *island, TlVec3 low, TlVec3 high) {
  TlVec3 *l = &island->low, *h = &island->high;
  *l = tl_vec3(fmin(l->x, low.x), fmin(l->y, low.y), fmin(l->z, low.z));
  *h = tl_vec3(fmax(h->x, high.x), fmax(h->y, high.y), fmax(h->z, high.z));
}

static double within(double x, double low, double high) {
  return low <= high ? fmin(fmax(x, low), high) : x;
}

TlVec3 tl_cell_place(const TlIsland *island, const TlGrids *grids, const TlCell *cell) {
  double half = 0.5 * grids->side[cell->phase / TL_GRIDS];
  TlVec3 c = cell->centre, low = island->low, high = island->high;
  return tl_vec3(within(within(c.x, low.x, high.x), c.x - half, c.x + half),
                 within(within(c.y, low.y, high.y), c.y - half, c.y + half),
                 within(within(c.z, low.z, high.z), c.z - half, c.z + half));
}

TlCell tl_cell_of_pair(const TlMovers *m, const TlGrids *grids, const TlPair *p) {
  TlVec3 a = m->position[tl_movable(m, p->a) ? p->a : p->b];
  TlVec3 b = tl_movable(m, p->b) ? m->position[p->b] : a;
  return tl_grids_cell(grids, a, b);
}

static TlSweepCell sweep_cell(const TlIslands *is, const TlIsland *island, const TlGrids *grids,
                              const TlCell *cell) {
  TlVec3 at = tl_scale(1 / is->cell_unit_m, cell->centre);
  return (TlSweepCell){tl_cell_place(island, grids, cell),
                       {llround(at.x), llround(at.y), llround(at.z)}};
}

int32_t tl_cell_solver(const TlIslands *is, const TlSync *sync, const TlIsland *island,
                       const TlGrids *grids, const TlCell *cell) {
  if (!(is->cell_unit_m > 0)) return sync->rank_at(sync->ctx, tl_cell_place(island, grids, cell));
  TlSweepCell here = sweep_cell(is, island, grids, cell);
  return sync->rank_of_cell(sync->ctx, &here);
}

static TlStatus find_parts(const TlMovers *b, const TlPair *pairs, int32_t count, TlArena *arena,
                           TlIslands *is) {
  size_t n = (size_t)b->total;
  int32_t *parent = tl_arena_push(arena, n, sizeof *parent);
  int32_t *number = tl_arena_push(arena, n, sizeof *number);
  is->of_body = tl_arena_push(arena, n, sizeof *is->of_body);
  if (!parent || !number || !is->of_body) return TL_ENOMEM;
  for (int32_t i = 0; i < (int32_t)n; i++) {
    parent[i] = i;
    number[i] = is->of_body[i] = -1;
  }
  for (int32_t i = 0; i < count; i++) {
    const TlPair *p = &pairs[i];
    bool a = tl_movable(b, p->a), two = tl_movable(b, p->b);
    if (a) is->of_body[p->a] = 0; /* has a contact */
    if (two) is->of_body[p->b] = 0;
    if (a && two) parent[root_of(parent, p->a)] = root_of(parent, p->b);
  }
  for (int32_t i = 0; i < (int32_t)n; i++) {
    if (is->of_body[i] < 0) continue;
    int32_t root = root_of(parent, i);
    if (number[root] < 0) number[root] = is->count++;
    is->of_body[i] = number[root];
  }
  is->island = tl_arena_push(arena, (size_t)is->count + 1, sizeof *is->island);
  if (!is->island) return TL_ENOMEM;
  memset(is->island, 0, ((size_t)is->count + 1) * sizeof *is->island);
  for (int32_t i = 0; i < is->count; i++) {
    is->island[i].number = is->island[i].in_cells = -1;
    is->island[i].low = nowhere_low;
    is->island[i].high = nowhere_high;
  }
  for (int64_t i = 0; i < b->owned; i++) {
    if (is->of_body[i] < 0) continue;
    TlIsland *island = &is->island[is->of_body[i]];
    island->bodies++;
    island->work_ns += b->solve_work[i];
    add_place(island, b->position[i], b->position[i]);
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t island = tl_island_of(is, &pairs[i]);
    if (island >= 0) count_pair(b, &pairs[i], &is->island[island]);
  }
  return TL_OK;
}

/* ---- of all ranks ----
 *
 * What a rank gives to all: its head, its shared parts, the boxes of those with many bodies, and links from
 * parts to those of other ranks that hold the same body. */

enum { BOXED = TL_SMALL_ISLAND / 8 /* bodies */ };

typedef struct Head {
  int32_t parts, links, boxes, unused;
  int64_t work_ns; /* of islands that are this rank's alone */
  TlSolveCost last;
} Head;

typedef struct Part {
  int32_t bodies, work_us;
  TlLengths lengths;
} Part;

typedef struct Box {
  TlVec3 low, high;
} Box;

typedef struct Link {
  int32_t part, rank, theirs;
} Link;

typedef struct Meeting {
  const TlSync *sync;
  TlArena *arena;
  int32_t *part_of; /* [islands] number among this rank's shared parts; -1 */
  int32_t parts;
  unsigned char *mine;
  size_t bytes;
  /* of all: parts of rank r are [first[r], first[r + 1]) */
  int32_t *first, *parent, *number;
  const Part **part;
  const Box **box;
  const Head **head;
  const Link **link;
} Meeting;

static int by_link(const void *one, const void *two) {
  const Link *a = one, *b = two;
  if (a->part != b->part) return a->part < b->part ? -1 : 1;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->theirs > b->theirs) - (a->theirs < b->theirs);
}

/* Bodies that are ghosts here say which parts of other ranks belong to ours. */
static TlStatus list_links(Meeting *m, const TlMovers *b, const TlIslands *is, Link **links,
                           int32_t *count) {
  int32_t *label = tl_arena_push(m->arena, (size_t)b->total + 1, sizeof *label);
  *links = tl_arena_push(m->arena, (size_t)(b->total - b->owned) + 1, sizeof **links);
  if (!label || !*links) return TL_ENOMEM;
  for (int64_t i = 0; i < b->total; i++) {
    int32_t part = is->of_body[b->unit ? b->unit[i] : i];
    label[i] = part >= 0 ? m->part_of[part] : -1;
  }
  int32_t *theirs = tl_arena_push(m->arena, (size_t)b->total + 1, sizeof *theirs);
  if (!theirs) return TL_ENOMEM;
  memcpy(theirs, label, (size_t)b->total * sizeof *theirs);
  TL_TRY(tl_sync_forward(m->sync, theirs, sizeof *theirs));
  *count = 0;
  for (int64_t i = b->owned; i < b->total; i++)
    if (label[i] >= 0 && theirs[i] >= 0)
      (*links)[(*count)++] = (Link){label[i], m->sync->rank_of(m->sync->ctx, i), theirs[i]};
  qsort(*links, (size_t)*count, sizeof **links, by_link);
  int32_t kept = 0;
  for (int32_t i = 0; i < *count; i++)
    if (kept == 0 || by_link(&(*links)[kept - 1], &(*links)[i]) != 0)
      (*links)[kept++] = (*links)[i];
  *count = kept;
  return TL_OK;
}

static TlStatus say_mine(Meeting *m, const TlMovers *b, const TlIslands *is) {
  Link *links;
  int32_t count, at = 0;
  Head head = {.last = b->last ? *b->last : (TlSolveCost){0}};
  m->part_of = tl_arena_push(m->arena, (size_t)is->count + 1, sizeof *m->part_of);
  if (!m->part_of) return TL_ENOMEM;
  for (int32_t i = 0; i < is->count; i++) {
    m->part_of[i] = is->island[i].shared ? m->parts++ : -1;
    if (!is->island[i].shared) head.work_ns += is->island[i].work_ns;
    head.boxes += is->island[i].shared && is->island[i].bodies >= BOXED;
  }
  TL_TRY(list_links(m, b, is, &links, &count));
  head.parts = m->parts;
  head.links = count;
  m->bytes = sizeof head + (size_t)m->parts * sizeof(Part) + (size_t)head.boxes * sizeof(Box) +
             (size_t)count * sizeof(Link);
  m->mine = tl_arena_push(m->arena, m->bytes, 1);
  if (!m->mine) return TL_ENOMEM;
  memcpy(m->mine, &head, sizeof head);
  Part *part = (Part *)(m->mine + sizeof head);
  Box *box = (Box *)(part + m->parts);
  for (int32_t i = 0; i < is->count; i++) {
    const TlIsland *island = &is->island[i];
    if (m->part_of[i] < 0) continue;
    int64_t us = island->work_ns / 1000;
    part[at++] =
        (Part){(int32_t)island->bodies, us < INT32_MAX ? (int32_t)us : INT32_MAX, island->lengths};
    if (island->bodies >= BOXED) *box++ = (Box){island->low, island->high};
  }
  if (count) memcpy(box, links, (size_t)count * sizeof *links);
  return TL_OK;
}

static TlStatus hear_all(Meeting *m) {
  int ranks = m->sync->ranks;
  const unsigned char *all;
  const size_t *from, *end;
  TL_TRY(m->sync->gather(m->sync->ctx, m->mine, m->bytes, &all, &from, &end));
  m->first = tl_arena_push(m->arena, (size_t)ranks + 1, sizeof *m->first);
  m->head = tl_arena_push(m->arena, (size_t)ranks, sizeof *m->head);
  m->part = tl_arena_push(m->arena, (size_t)ranks, sizeof *m->part);
  m->link = tl_arena_push(m->arena, (size_t)ranks, sizeof *m->link);
  m->box = tl_arena_push(m->arena, (size_t)ranks, sizeof *m->box);
  if (!m->first || !m->head || !m->part || !m->link || !m->box) return TL_ENOMEM;
  m->first[0] = 0;
  for (int r = 0; r < ranks; r++) {
    unsigned char *said = tl_arena_push(m->arena, end[r] - from[r], 1); /* aligned */
    if (!said) return TL_ENOMEM;
    memcpy(said, all + from[r], end[r] - from[r]);
    m->head[r] = (const Head *)said;
    m->part[r] = (const Part *)(said + sizeof(Head));
    m->box[r] = (const Box *)(m->part[r] + m->head[r]->parts);
    m->link[r] = (const Link *)(m->box[r] + m->head[r]->boxes);
    m->first[r + 1] = m->first[r] + m->head[r]->parts;
  }
  return TL_OK;
}

/* Numbers of islands by their first part; each rank finds the same. */
static TlStatus join_parts(Meeting *m, TlIslands *is) {
  int ranks = m->sync->ranks;
  size_t n = (size_t)m->first[ranks] + 1;
  m->parent = tl_arena_push(m->arena, n, sizeof *m->parent);
  m->number = tl_arena_push(m->arena, n, sizeof *m->number);
  is->all = tl_arena_push(m->arena, n, sizeof *is->all);
  if (!m->parent || !m->number || !is->all) return TL_ENOMEM;
  for (int32_t i = 0; i < m->first[ranks]; i++) m->parent[i] = i;
  for (int r = 0; r < ranks; r++)
    for (int32_t k = 0; k < m->head[r]->links; k++) {
      const Link *l = &m->link[r][k];
      int32_t a = root_of(m->parent, m->first[r] + l->part),
              b = root_of(m->parent, m->first[l->rank] + l->theirs);
      m->parent[a > b ? a : b] = a > b ? b : a; /* the root is the first part */
    }
  for (int r = 0; r < ranks; r++) {
    const Box *box = m->box[r];
    for (int32_t k = 0; k < m->head[r]->parts; k++) {
      int32_t i = m->first[r] + k, root = root_of(m->parent, i);
      const Part *part = &m->part[r][k];
      if (root == i) {
        is->all[is->shared] = (TlIsland){.shared = true,
                                         .number = is->shared,
                                         .in_cells = -1,
                                         .low = nowhere_low,
                                         .high = nowhere_high};
        m->number[i] = is->shared++;
      }
      TlIsland *island = &is->all[m->number[i] = m->number[root]];
      island->bodies += part->bodies;
      island->work_ns += 1000 * (int64_t)part->work_us;
      tl_lengths_merge(&island->lengths, &part->lengths);
      if (part->bodies >= BOXED) {
        add_place(island, box->low, box->high);
        box++;
      }
    }
  }
  return TL_OK;
}

typedef struct Weighed {
  int64_t work_ns;
  int32_t number;
} Weighed;

static int heaviest_first(const void *one, const void *two) {
  const Weighed *a = one, *b = two;
  if (a->work_ns != b->work_ns) return a->work_ns > b->work_ns ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* Small islands go, the heaviest first, to the rank with a part that has the least to do, where work whose
 * pairs would have to be sent counts one and a half times. Of large ones each rank has its part to do, about. */
static TlStatus choose_solvers(const Meeting *m, TlIslands *is) {
  int ranks = m->sync->ranks;
  size_t n = (size_t)is->shared + 1;
  int64_t *load = tl_arena_push(m->arena, (size_t)ranks, sizeof *load);
  int64_t *held = tl_arena_push(m->arena, (size_t)ranks * n, sizeof *held);
  Weighed *order = tl_arena_push(m->arena, n, sizeof *order);
  if (!load || !held || !order) return TL_ENOMEM;
  for (int r = 0; r < ranks; r++) {
    load[r] = m->head[r]->work_ns;
    for (int32_t i = 0; i < is->shared; i++) held[(size_t)r * n + (size_t)i] = -1;
    for (int32_t k = 0; k < m->head[r]->parts; k++) {
      int64_t *h = &held[(size_t)r * n + (size_t)m->number[m->first[r] + k]];
      *h = (*h < 0 ? 0 : *h) + 1000 * (int64_t)m->part[r][k].work_us;
      if (tl_is_large(is, &is->all[m->number[m->first[r] + k]]))
        load[r] += 1000 * (int64_t)m->part[r][k].work_us;
    }
  }
  for (int32_t i = 0; i < is->shared; i++) order[i] = (Weighed){is->all[i].work_ns, i};
  qsort(order, (size_t)is->shared, sizeof *order, heaviest_first);
  for (int32_t k = 0; k < is->shared; k++) {
    int32_t i = order[k].number;
    TlIsland *island = &is->all[i];
    island->solver = TL_BY_CELLS;
    if (tl_is_large(is, island)) continue;
    int64_t least = INT64_MAX;
    for (int r = 0; r < ranks; r++) {
      int64_t have = held[(size_t)r * n + (size_t)i];
      int64_t cost = load[r] + island->work_ns + (island->work_ns - have) / 2;
      if (have < 0 || cost >= least) continue;
      least = cost;
      island->solver = r;
    }
    load[island->solver] += island->work_ns;
  }
  return TL_OK;
}

/* The rank of the first part counts an island. */
static TlStatus number_by_cells(const Meeting *m, TlIslands *is) {
  is->counts_here = tl_arena_push(m->arena, (size_t)is->shared + 1, sizeof *is->counts_here);
  if (!is->counts_here) return TL_ENOMEM;
  for (int32_t i = 0; i < is->shared; i++)
    if (is->all[i].solver == TL_BY_CELLS) {
      is->counts_here[is->by_cells] = false;
      is->all[i].in_cells = is->by_cells++;
    }
  for (int r = m->sync->ranks; r-- > 0;)
    for (int32_t k = m->head[r]->parts; k-- > 0;) {
      int32_t i = m->first[r] + k, cells = is->all[m->number[i]].in_cells;
      if (cells >= 0 && root_of(m->parent, i) == i) is->counts_here[cells] = r == m->sync->rank;
    }
  return TL_OK;
}

static TlStatus make_grids(TlArena *arena, TlIslands *is) {
  is->grids = tl_arena_push(arena, (size_t)is->count + 1, sizeof *is->grids);
  if (!is->grids) return TL_ENOMEM;
  for (int32_t i = 0; i < is->count; i++)
    if (tl_is_large(is, &is->island[i])) is->grids[i] = tl_grids(&is->island[i].lengths);
  return TL_OK;
}

/* Sweeps of collisions wait for messages most of their time: with these and with waits for the rank that has most
 * they take 3 to 20 times what the impulses of a mean rank do (docs/notebook/performance.md, cases of 8 to 64 ranks). */
static bool resting_prevails(const Meeting *m) {
  enum { COLLISIONS = 8 };
  TlSolveCost all = {0};
  for (int r = 0; r < m->sync->ranks; r++) {
    all.resting_ns += m->head[r]->last.resting_ns;
    all.collisions_ns += m->head[r]->last.collisions_ns;
  }
  return all.resting_ns > 0 && all.resting_ns >= COLLISIONS * all.collisions_ns;
}

/* Cells of the largest island lie at whole numbers of a quarter of its side. */
static double unit_of_cells(const TlIslands *is) {
  int64_t most = 0;
  double unit = 0;
  for (int32_t i = 0; i < is->shared; i++) {
    const TlIsland *island = &is->all[i];
    if (island->solver != TL_BY_CELLS || island->bodies <= most) continue;
    most = island->bodies;
    unit = tl_grids(&island->lengths).side[0] / TL_GRIDS;
  }
  return unit;
}

static TlStatus part_cells(const Meeting *m, const TlMovers *b, const TlPair *pairs, int32_t count,
                           TlIslands *is) {
  bool own;
  int64_t n = 0;
  if (!b->last || is->by_cells == 0 || !resting_prevails(m)) return TL_OK;
  TlSweepCell *cell = tl_arena_push(m->arena, (size_t)count + 1, sizeof *cell);
  if (!cell) return TL_ENOMEM;
  is->cell_unit_m = unit_of_cells(is);
  for (int32_t i = 0; i < count; i++) {
    int32_t k = tl_island_of(is, &pairs[i]);
    if (pairs[i].elsewhere || k < 0 || is->island[k].solver != TL_BY_CELLS) continue;
    TlCell of_pair = tl_cell_of_pair(b, &is->grids[k], &pairs[i]);
    cell[n++] = sweep_cell(is, &is->island[k], &is->grids[k], &of_pair);
  }
  TL_TRY(m->sync->part_cells(m->sync->ctx, is->cell_unit_m, cell, n, &own));
  if (!own) is->cell_unit_m = 0;
  return TL_OK;
}

/* A rank sends pairs of a small island to its solver; those of a large one perhaps to each rank that
 * owns places within the reach of a cell. */
static TlStatus list_partners(const Meeting *m, TlIslands *is) {
  int ranks = m->sync->ranks, me = m->sync->rank;
  double margin = 0;
  is->sends_to = tl_arena_push(m->arena, (size_t)ranks, sizeof *is->sends_to);
  is->gets_from = tl_arena_push(m->arena, (size_t)ranks, sizeof *is->gets_from);
  bool *in_cells = tl_arena_push(m->arena, (size_t)ranks, sizeof *in_cells);
  if (!is->sends_to || !is->gets_from || !in_cells) return TL_ENOMEM;
  for (int r = 0; r < ranks; r++) is->sends_to[r] = is->gets_from[r] = in_cells[r] = false;
  for (int r = 0; r < ranks; r++)
    for (int32_t k = 0; k < m->head[r]->parts; k++) {
      const TlIsland *island = &is->all[m->number[m->first[r] + k]];
      if (island->solver == TL_BY_CELLS)
        in_cells[r] = true;
      else if (r == me)
        is->sends_to[island->solver] = true;
      else if (island->solver == me)
        is->gets_from[r] = true;
    }
  for (int32_t i = 0; i < is->shared; i++) {
    if (is->all[i].solver != TL_BY_CELLS) continue;
    TlGrids g = tl_grids(&is->all[i].lengths);
    margin = tl_max(margin, g.side[g.levels - 1]);
  }
  bool own = is->cell_unit_m > 0;
  bool (*may_reach)(void *, int, int, double) = own ? m->sync->may_reach_cell : m->sync->may_reach;
  for (int r = 0; r < ranks && is->by_cells > 0; r++) {
    if (in_cells[me] && may_reach(m->sync->ctx, me, r, margin)) is->sends_to[r] = true;
    if (in_cells[r] && may_reach(m->sync->ctx, r, me, margin)) is->gets_from[r] = true;
  }
  is->sends_to[me] = is->gets_from[me] = false;
  return TL_OK;
}

static TlStatus meet(const TlMovers *b, const TlPair *pairs, int32_t count, const TlSync *sync,
                     TlArena *arena, TlIslands *is) {
  Meeting m = {.sync = sync, .arena = arena};
  TL_TRY(say_mine(&m, b, is));
  TL_TRY(hear_all(&m));
  TL_TRY(join_parts(&m, is));
  TL_TRY(choose_solvers(&m, is));
  TL_TRY(number_by_cells(&m, is));
  for (int32_t i = 0; i < is->count; i++)
    if (m.part_of[i] >= 0) is->island[i] = is->all[m.number[m.first[sync->rank] + m.part_of[i]]];
  TL_TRY(make_grids(arena, is));
  TL_TRY(part_cells(&m, b, pairs, count, is));
  return list_partners(&m, is);
}

TlStatus tl_islands_find(const TlMovers *b, const TlPair *pairs, int32_t count, const TlSync *sync,
                         TlArena *arena, TlIslands *is) {
  *is = (TlIslands){.small = small};
  TL_TRY(find_parts(b, pairs, count, arena, is));
  for (int32_t i = 0; i < is->count; i++) is->island[i].solver = sync ? sync->rank : 0;
  return sync ? meet(b, pairs, count, sync, arena, is) : make_grids(arena, is);
}
