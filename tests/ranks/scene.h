/* What tests of ranks and threads share: a run whose state is hashed every few steps, and how two
 * of them are compared. On a communicator of MPI's or of tests/ranks/comm.c. */
#ifndef TL_TESTS_RANKS_SCENE_H
#define TL_TESTS_RANKS_SCENE_H

#include "base/log.h"
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Closed forms, and grids of several kinds, about 2 mm across. */
#define RANKS_SHAPES                                                                               \
  "shapes:\n"                                                                                      \
  "- {name: ball, diameter_m: 2.0e-3}\n"                                                           \
  "- {name: small, diameter_m: 1.0e-3}\n"                                                          \
  "- {name: grid-ball, diameter_m: 2.0e-3, gridded: yes, nodes: 120}\n"                            \
  "- {name: brick, kind: box, size_m: [2.0e-3, 1.5e-3, 1.2e-3]}\n"                                 \
  "- {name: rod, kind: cylinder, diameter_m: 1.2e-3, length_m: 2.2e-3}\n"                          \
  "- {name: egg, kind: superellipsoid, size_m: [2.2e-3, 1.8e-3, 1.5e-3], exponent_e: 0.8, "        \
  "exponent_n: 0.6, spacing_m: 1.5e-4, nodes: 120}\n"                                              \
  "- {name: jack, kind: cross, length_m: 2.4e-3, width_m: 8.0e-4, nodes: 160}\n"                   \
  "- {name: post, diameter_m: 3.0e-3}\n"

enum { RANKS_MOST_LOOKS = 20000 };

typedef struct Layout {
  int ranks, threads;
} Layout;

/* What a run shows: its state after every `look` steps as a hash, and its totals. */
typedef struct Outcome {
  int64_t looks, steps, shared, migrated; /* shared: steps of ranks that held ghosts */
  int64_t across;                         /* steps of joints that lay on two ranks */
  TlStatus status;
  double sends, kilobytes, collectives; /* a rank and step, mean over the ranks */
  struct {
    int64_t grains, outside, sunk, embedded, unresolved, impulses, zero_finishes, unfinished,
        rest_unfinished;
    int64_t islands, contacts, rounds, rest_sweeps, asleep; /* of the last step */
    int64_t merges, splits, aggregates, merged, units, net_bonds;
    TlEnergyBalance balance;
    double sunk_kg, sleep_J, wall_work_J, kinetic_J, potential_J, overlap_share,
        boundary_overlap_share;
    double anchor_z_N_s, contact_N, boundary_N, guide_N;
  } totals; /* no padding: compared as bytes */
  uint64_t hash[RANKS_MOST_LOOKS];
} Outcome;

typedef struct Watch {
  TlRun *run;
  Outcome *outcome;
  int64_t look;
  double cpu_s, most_cpu_s; /* CPU time when it began, and after which it ends (0: no bound) */
  int64_t most_steps;       /* after which it ends (0: no bound) */
  TlCommCounters counters;  /* of this rank after the first step */
} Watch;

/* Joints of this rank's bodies with bodies of higher ids on other ranks. */
static inline int64_t ranks_joints_across(const TlBodies *b) {
  int64_t across = 0;
  for (int kind = TL_WELDS; kind <= TL_DISTANCES; kind++)
    for (size_t i = 0; i < b->pairs.of[kind].count; i++) {
      TlPairKey key = tl_pair_key(&b->pairs.of[kind], (TlPairKind)kind, i);
      bool low = false, high = key.high < 0;
      for (int64_t k = 0; k < b->owned; k++) {
        low |= b->id[k] == key.low;
        high |= b->id[k] == key.high;
      }
      across += low && !high;
    }
  return across;
}

/* Called after each step, before grains move to their new owners: this rank's part of the hash. */
static inline int ranks_look(void *context) {
  Watch *w = context;
  Outcome *o = w->outcome;
  int64_t steps = w->run->state->totals.steps;
  if (steps == 1) w->counters = tl_comm_counters(w->run->comm);
  o->shared += w->run->state->dem.bodies.total > w->run->state->dem.bodies.owned;
  o->across += ranks_joints_across(&w->run->state->dem.bodies);
  if (steps % w->look == 0 && o->looks < RANKS_MOST_LOOKS &&
      tl_bodies_hash(&w->run->state->dem.bodies, &o->hash[o->looks]) == TL_OK)
    o->looks++;
  if (w->most_cpu_s > 0 && tl_clock_process_cpu_s() - w->cpu_s > w->most_cpu_s) return 1;
  return w->most_steps > 0 && steps >= w->most_steps;
}

/* Collective. A study that fails is no error here: it must fail alike on all ranks. */
static inline void ranks_run(TlComm *comm, const char *study, int64_t look, double most_cpu_s,
                             int64_t most_steps, int (*stop)(void *watch), Outcome *o) {
  TlRun run;
  Watch watch = {&run, o, look, tl_clock_process_cpu_s(), most_cpu_s, most_steps, {0}};
  TlRunOptions options = {.study = study, .no_output = true, .stop = stop, .stop_context = &watch};
  memset(o, 0, sizeof *o);
  o->status = tl_run_open(&run, comm, &options);
  if (o->status == TL_OK) o->status = tl_run_go(&run);
  if (o->status != TL_OK && tl_comm_rank(comm) == 0 && getenv("TALUS_RANKS_VERBOSE"))
    fprintf(stderr, "  %s\n", tl_message());
  const TlRunTotals *t = &run.state->totals;
  o->steps = t->steps;
  TlCommCounters before = watch.counters, after = tl_comm_counters(comm);
  double traffic[3] = {(double)(after.messages - before.messages),
                       1e-3 * (double)(after.message_bytes - before.message_bytes),
                       (double)(after.collectives - before.collectives)};
  tl_comm_sum(comm, traffic, 3);
  double parts = (double)(o->steps > 1 ? o->steps - 1 : 1) * tl_comm_size(comm);
  o->sends = traffic[0] / parts;
  o->kilobytes = traffic[1] / parts;
  o->collectives = traffic[2] / parts;
  o->totals.grains = run.state->grains;
  o->totals.outside = t->outside;
  o->totals.sunk = t->sunk;
  o->totals.sunk_kg = t->sunk_kg;
  o->totals.embedded = t->embedded;
  o->totals.unresolved = t->unresolved;
  o->totals.impulses = t->impulses;
  o->totals.zero_finishes = t->zero_finishes;
  o->totals.unfinished = t->unfinished;
  o->totals.rest_unfinished = t->rest_unfinished;
  o->totals.islands = t->last.islands;
  o->totals.contacts = t->last.contacts;
  o->totals.rounds = t->last.rounds;
  o->totals.rest_sweeps = t->last.rest_sweeps;
  o->totals.asleep = t->last.asleep;
  o->totals.merges = t->merges;
  o->totals.splits = t->splits;
  o->totals.aggregates = t->last.aggregates;
  o->totals.merged = t->last.merged;
  o->totals.units = t->last.units;
  o->totals.balance = t->balance;
  o->totals.net_bonds = t->last.net_bonds;
  o->totals.contact_N = t->last.contact_N;
  o->totals.boundary_N = t->last.boundary_N;
  o->totals.guide_N = t->last.guide_N;
  o->totals.anchor_z_N_s = t->anchor_N_s[2];
  o->totals.sleep_J = t->sleep_J;
  o->totals.wall_work_J = t->wall_work_J;
  o->totals.kinetic_J = t->kinetic_J;
  o->totals.potential_J = t->potential_J;
  o->totals.overlap_share = t->overlap_share;
  o->totals.boundary_overlap_share = t->boundary_overlap_share;
  int64_t sums[3] = {o->shared, run.dist ? run.dist->counters.moved : 0, o->across};
  tl_comm_sum_int(comm, sums, 3);
  o->shared = sums[0];
  o->migrated = sums[1];
  o->across = sums[2];
  tl_comm_sum_int(comm, (int64_t *)o->hash, (int)o->looks);
  tl_run_close(&run);
}

/* The same bits? Else says where they part. */
static inline bool ranks_same(const char *name, const Layout *l, int64_t look, const Outcome *one,
                              const Outcome *many) {
  int64_t looks = one->looks < many->looks ? one->looks : many->looks, same = 0;
  while (same < looks && one->hash[same] == many->hash[same]) same++;
  bool states = same == one->looks && same == many->looks && one->steps == many->steps,
       totals = memcmp(&one->totals, &many->totals, sizeof one->totals) == 0;
  if (states && totals && one->status == many->status) return true;
  fprintf(stderr, "%s: %d ranks with %d threads differ from one rank: ", name, l->ranks,
          l->threads);
  if (!states)
    fprintf(stderr, "the state is the same at step %lld and another at step %lld (of %lld, %lld)\n",
            (long long)(same * look), (long long)((same + 1) * look), (long long)one->steps,
            (long long)many->steps);
  else if (totals)
    fprintf(stderr, "status %d, not %d\n", (int)many->status, (int)one->status);
  else
    fprintf(stderr,
            "totals differ: impulses %lld %lld, finished without restitution %lld %lld, unfinished "
            "%lld %lld, resting %lld %lld, outside %lld %lld, embedded %lld %lld, unresolved %lld "
            "%lld, "
            "wall work %.17g %.17g J, kinetic %.17g %.17g J, balance error %.17g %.17g J, bonds "
            "%lld %lld\n",
            (long long)one->totals.impulses, (long long)many->totals.impulses,
            (long long)one->totals.zero_finishes, (long long)many->totals.zero_finishes,
            (long long)one->totals.unfinished, (long long)many->totals.unfinished,
            (long long)one->totals.rest_unfinished, (long long)many->totals.rest_unfinished,
            (long long)one->totals.outside, (long long)many->totals.outside,
            (long long)one->totals.embedded, (long long)many->totals.embedded,
            (long long)one->totals.unresolved, (long long)many->totals.unresolved,
            one->totals.wall_work_J, many->totals.wall_work_J, one->totals.kinetic_J,
            many->totals.kinetic_J, one->totals.balance.error_J, many->totals.balance.error_J,
            (long long)one->totals.net_bonds, (long long)many->totals.net_bonds);
  return false;
}

static inline void ranks_say(const char *name, const Layout *l, const Outcome *o, double seconds) {
  if (!getenv("TALUS_RANKS_VERBOSE")) return;
  fprintf(stderr,
          "%s: %d ranks x %d threads: %lld grains (%lld outside, %lld embedded, %lld unresolved), "
          "%lld bonds, %lld "
          "steps, status %d, %lld islands at the end, %lld finished without restitution, %lld "
          "unfinished, ghosts on %lld steps, %lld joints across ranks, %lld migrated, %.1f sends, "
          "%.1f kB and %.1f collectives a "
          "rank and step: %.2f s\n",
          name, l->ranks, l->threads, (long long)o->totals.grains, (long long)o->totals.outside,
          (long long)o->totals.embedded, (long long)o->totals.unresolved,
          (long long)o->totals.net_bonds, (long long)o->steps, (int)o->status,
          (long long)o->totals.islands, (long long)o->totals.zero_finishes,
          (long long)o->totals.unfinished, (long long)o->shared, (long long)o->across,
          (long long)o->migrated, o->sends, o->kilobytes, o->collectives, seconds);
}

#endif
