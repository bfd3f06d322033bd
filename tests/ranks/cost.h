/* What steps of a study cost on many ranks, from counters that no machine changes (solve/audit.h). The ranks
 * are coroutines of one thread (ranks.h), so that one of them sees what all of them did. */
#ifndef TL_TESTS_RANKS_COST_H
#define TL_TESTS_RANKS_COST_H

#include "base/log.h"
#include "base/mem.h"
#include "ranks/ranks.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *unit;
  double ns; /* that a unit takes */
} cost_phase[] = {
#define P(id, name, unit, ns, ...) {#name, unit, ns},
    TL_AUDIT_PHASES(P)
#undef P
};

typedef TlAuditCost CostOfPhases[TL_AUDIT_COUNT];

/* Work of solves whose place is one: of a cell, or of a body alone. */
typedef struct CostPlace {
  TlVec3 at;
  double ns;
} CostPlace;

typedef struct Cost {
  /* what is asked for */
  const char *path;
  TlTexts sets;        /* of tl_run_open */
  int64_t from, steps; /* cost of so many steps, after the first `from` */
  int ranks;
  /* called once a step that counts: what it cost each rank; NULL: nobody wants to know */
  void (*take)(struct Cost *cost, CostOfPhases *step);
  /* what came of it */
  TlStatus status;
  uint64_t hash;          /* of the state in the end */
  double *rank_ns;        /* [ranks] work of all phases of these steps */
  double waiting_ns;      /* work of the rank that has most, added up over phases and steps */
  int64_t *most_grains;   /* [ranks] that it ever owned in these steps */
  int64_t grains, cuts;   /* in all; cuts of space since the run was opened */
  int64_t cell_cuts;      /* of the cells of sweeps alone, likewise */
  int64_t moved;          /* grains that changed their rank, since then */
  int64_t messages_bytes; /* of all ranks and phases in these steps; */
  int64_t moving_bytes;   /* and of bodies that changed their rank */
  CostPlace *place;       /* [places] of the solves, as bodies weigh after the last step */
  size_t places, place_capacity;
  /* of the run in hand */
  CostOfPhases *before, *now; /* [ranks] */
  int told;                   /* ranks that have told what they did in this step */
} Cost;

typedef struct CostRank {
  Cost *cost;
  TlRun run;
  int rank;
} CostRank;

static inline int64_t cost_most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static inline void cost_of_step(Cost *c) {
  for (int r = 0; r < c->ranks; r++)
    for (int p = 0; p < TL_AUDIT_COUNT; p++) {
      TlAuditCost *step = &c->before[r][p], now = c->now[r][p];
      step->work = now.work - step->work;
      step->messages = now.messages - step->messages;
      step->message_bytes = now.message_bytes - step->message_bytes;
      step->collectives = now.collectives - step->collectives;
      step->supersteps = now.supersteps - step->supersteps;
      c->messages_bytes += step->message_bytes;
      if (p == TL_AUDIT_MIGRATION) c->moving_bytes += step->message_bytes;
      c->rank_ns[r] += cost_phase[p].ns * (double)step->work;
    }
  for (int p = 0; p < TL_AUDIT_COUNT; p++) {
    int64_t most = 0;
    for (int r = 0; r < c->ranks; r++) most = cost_most(most, c->before[r][p].work);
    c->waiting_ns += cost_phase[p].ns * (double)most;
  }
  if (c->take) c->take(c, c->before);
}

static inline void cost_add_places(Cost *c, const TlBodies *b) {
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->solve_work[i] == 0) continue;
    if (TL_RESERVE(c->place, c->place_capacity, c->places + 1) != TL_OK) abort();
    c->place[c->places++] = (CostPlace){b->solve_at[i], (double)b->solve_work[i]};
  }
}

/* Called after each step on each rank. */
static inline int cost_look(void *context) {
  CostRank *r = context;
  Cost *c = r->cost;
  int64_t step = r->run.state->totals.steps;
  if (step < c->from) return 0;
  memcpy(c->now[r->rank], r->run.audit->phase, sizeof *c->now);
  if (step > c->from)
    c->most_grains[r->rank] = cost_most(c->most_grains[r->rank], r->run.state->dem.bodies.owned);
  if (step == c->from + c->steps) cost_add_places(c, &r->run.state->dem.bodies);
  if (++c->told == c->ranks) {
    c->told = 0;
    if (step > c->from) cost_of_step(c);
    memcpy(c->before, c->now, (size_t)c->ranks * sizeof *c->now);
  }
  return step >= c->from + c->steps ? TL_WISH_STOP : 0;
}

static inline void cost_run_rank(TlComm *comm, void *context) {
  Cost *c = context;
  CostRank *r = tl_calloc(1, sizeof *r);
  *r = (CostRank){.cost = c, .rank = tl_comm_rank(comm)};
  TlRunOptions options = {.study = c->path,
                          .sets = &c->sets,
                          .no_output = true,
                          .audit = "counted here and never written",
                          .stop = cost_look,
                          .stop_context = r};
  TlStatus status = tl_run_open(&r->run, comm, &options);
  if (status == TL_OK) status = tl_run_go(&r->run);
  if (status == TL_ELIMIT && r->run.state->totals.steps == c->from + c->steps) status = TL_OK;
  uint64_t hash = 0;
  if (status == TL_OK) status = tl_run_hash(&r->run, &hash);
  if (r->rank == 0) c->status = status;
  if (r->rank == 0) c->hash = hash;
  if (r->rank == 0 && status != TL_OK) fprintf(stderr, "%s\n", tl_message());
  if (status == TL_OK) {
    c->grains = r->run.state->grains;
    c->cuts = r->run.dist->counters.cuts;
    c->cell_cuts = r->run.dist->counters.cell_cuts;
    c->moved += r->run.dist->counters.moved;
  }
  tl_run_close(&r->run);
  tl_free(r);
}

/* False: it failed, and has said why. To be freed with cost_free. */
static inline bool cost_run(Cost *c) {
  size_t n = (size_t)c->ranks;
  c->before = tl_calloc(n, sizeof *c->before);
  c->now = tl_calloc(n, sizeof *c->now);
  c->rank_ns = tl_calloc(n, sizeof *c->rank_ns);
  c->most_grains = tl_calloc(n, sizeof *c->most_grains);
  if (!c->before || !c->now || !c->rank_ns || !c->most_grains) return false;
  tl_ranks_run(c->ranks, cost_run_rank, c);
  return c->status == TL_OK;
}

static inline void cost_free(Cost *c) {
  tl_free(c->before);
  tl_free(c->now);
  tl_free(c->rank_ns);
  tl_free(c->most_grains);
  tl_free(c->place);
}

static inline double cost_mean_ns(const Cost *c) {
  double sum = 0;
  for (int r = 0; r < c->ranks; r++) sum += c->rank_ns[r];
  return sum / c->ranks;
}

/* Work of the rank that has most over the mean. */
static inline double cost_worst(const Cost *c) {
  double most = 0, mean = cost_mean_ns(c);
  for (int r = 0; r < c->ranks; r++) most = fmax(most, c->rank_ns[r]);
  return mean > 0 ? most / mean : 1;
}
static inline int cost_by_place(const void *a, const void *b) {
  const TlVec3 *x = &((const CostPlace *)a)->at, *y = &((const CostPlace *)b)->at;
  if (x->z != y->z) return x->z < y->z ? -1 : 1;
  if (x->y != y->y) return x->y < y->y ? -1 : 1;
  return (x->x > y->x) - (x->x < y->x);
}
static inline int cost_by_work(const void *a, const void *b) {
  double x = ((const CostPlace *)a)->ns, y = ((const CostPlace *)b)->ns;
  return (x < y) - (x > y);
}

/* How evenly solves could be shared if each place may go to any rank: the rank with most over the mean, when the
 * places are dealt out by falling work, each to the rank that has least. *places: how many they are. */
static inline double cost_dealt(Cost *c, size_t *places) {
  size_t n = 0;
  double *load = tl_calloc((size_t)c->ranks, sizeof *load), sum = 0, most = 0;
  if (c->places > 0) qsort(c->place, c->places, sizeof *c->place, cost_by_place);
  for (size_t i = 0; i < c->places; i++)
    if (n > 0 && cost_by_place(&c->place[n - 1], &c->place[i]) == 0)
      c->place[n - 1].ns += c->place[i].ns;
    else
      c->place[n++] = c->place[i];
  if (n > 0) qsort(c->place, n, sizeof *c->place, cost_by_work);
  for (size_t i = 0; load && i < n; i++) {
    int least = 0;
    for (int r = 1; r < c->ranks; r++)
      if (load[r] < load[least]) least = r;
    load[least] += c->place[i].ns;
    sum += c->place[i].ns;
    most = fmax(most, load[least]);
  }
  *places = c->places = n;
  tl_free(load);
  return sum > 0 ? most * c->ranks / sum : 1;
}

/* The same if all wait for each other at the end of each phase of each step. */
static inline double cost_waiting(const Cost *c) {
  double mean = cost_mean_ns(c);
  return mean > 0 ? c->waiting_ns / mean : 1;
}

#endif
