/* What steps of a study cost on many ranks, from counters that no machine changes (solve/audit.h):
 *   cost STUDY FROM STEPS RANKS[,RANKS...] [SECTION.KEY=VALUE...]
 * runs STUDY on each number of ranks, which are coroutines of one thread (tests/ranks/ranks.h), and prints
 * what STEPS steps after the first FROM cost: a table of phases, and what a cost model makes of it.
 *
 * The model, no measurement: work costs a rank the time that TL_AUDIT_PHASES says of its unit, a message
 * 1.5 us, a byte 0.1 ns (10 GB/s), and a collective 20 us on 64 ranks, in proportion to log2 of their number.
 * Ranks wait for each other at the end of each phase of each step, so the time of a phase is that of the rank
 * that has most. Efficiency, of a phase and of all, is the time on one rank over ranks times that on so many;
 * it is said where one rank was asked for before. The serial fraction
 * is that of Karp and Flatt (1990): (1/S - 1/P) / (1 - 1/P), S being the speed-up on P ranks.
 */
#include "ranks/cost.h"

#include "base/par.h"

static const double MESSAGE_S = 1.5e-6, BYTE_S = 1e-10, COLLECTIVE_S = 20e-6;

/* Of all ranks, over the steps that count. */
typedef struct Sums {
  double work, most_of_step; /* of all ranks; of the rank that has most in each step */
  double all_messages;       /* of all ranks */
  double messages, bytes;    /* of the rank that has most in each step */
  double collectives;        /* of one rank */
  double supersteps;         /* of the rank that has most in each step */
  double model_s;            /* by the model, of the rank that has most in each step */
} Sums;

static Sums sums[TL_AUDIT_COUNT];

static void add_step(Cost *c, CostOfPhases *step) {
  for (int p = 0; p < TL_AUDIT_COUNT; p++) {
    double work = 0, messages = 0, bytes = 0, supersteps = 0, worst_s = 0;
    for (int r = 0; r < c->ranks; r++) {
      const TlAuditCost *x = &step[r][p];
      double w = (double)x->work, m = (double)x->messages, y = (double)x->message_bytes;
      work = fmax(work, w);
      messages = fmax(messages, m);
      bytes = fmax(bytes, y);
      supersteps = fmax(supersteps, (double)x->supersteps);
      worst_s = fmax(worst_s, 1e-9 * cost_phase[p].ns * w + MESSAGE_S * m + BYTE_S * y);
      sums[p].work += w;
      sums[p].all_messages += m;
    }
    double collectives = (double)step[0][p].collectives;
    sums[p].most_of_step += work;
    sums[p].messages += messages;
    sums[p].bytes += bytes;
    sums[p].collectives += collectives;
    sums[p].supersteps += supersteps;
    sums[p].model_s += worst_s + collectives * COLLECTIVE_S * log2(c->ranks) / log2(64);
  }
}

/* The model's time of steps on one rank, of a phase and of all; 0: not known. */
static double one_s[TL_AUDIT_COUNT], all_one_s;

static void say_phase(int p, double steps, double ranks) {
  const Sums *x = &sums[p];
  double mean = x->work / ranks;
  printf("| %s | %s | %.4g | %.2f | %.3g, %.3g | %.3g | %.3g | %.3g | %.4g |", cost_phase[p].name,
         cost_phase[p].unit, mean / steps, mean > 0 ? x->most_of_step / mean : 1,
         x->all_messages / ranks / steps, x->messages / steps, 1e-3 * x->bytes / steps,
         x->collectives / steps, x->supersteps / steps, 1e6 * x->model_s / steps);
  if (one_s[p] > 0)
    printf(" %.2f |\n", one_s[p] / (ranks * x->model_s));
  else
    printf(" |\n");
}

static void say(Cost *c) {
  double n = (double)c->steps, all_s = 0, ranks = c->ranks;
  size_t places;
  printf("\n%d ranks, %lld grains, steps %lld to %lld, %lld cuts, %lld of cells alone, %lld grains "
         "changed their rank, "
         "%.1f%% of "
         "the bytes for it\n\n",
         c->ranks, (long long)c->grains, (long long)c->from + 1, (long long)(c->from + c->steps),
         (long long)c->cuts, (long long)c->cell_cuts, (long long)c->moved,
         c->messages_bytes ? 100 * (double)c->moving_bytes / (double)c->messages_bytes : 0);
  printf("| phase | unit | mean work | worst over mean | messages: mean, most | kB | collectives | "
         "supersteps | model, us | "
         "efficiency |\n"
         "|---|---|---|---|---|---|---|---|---|---|\n");
  for (int p = 0; p < TL_AUDIT_COUNT; p++) {
    if (c->ranks == 1) one_s[p] = sums[p].model_s;
    say_phase(p, n, ranks);
    all_s += sums[p].model_s;
  }
  if (c->ranks == 1) all_one_s = all_s;
  printf("\nwork of all phases: worst rank %.2f of the mean over these steps; waiting at each "
         "phase of each "
         "step %.2f\nmodelled: %.4g us a step",
         cost_worst(c), cost_waiting(c), 1e6 * all_s / n);
  if (all_one_s > 0 && c->ranks > 1) {
    double speedup = all_one_s / all_s;
    printf(", efficiency %.2f, serial fraction %.3f", speedup / ranks,
           (1 / speedup - 1 / ranks) / (1 - 1 / ranks));
  }
  double dealt = cost_dealt(c, &places);
  if (places > 0 && c->ranks > 1)
    printf("\nsolves lie at %zu places; dealt out one by one the worst rank would have %.2f of the "
           "mean",
           places, dealt);
  printf("\n");
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: cost STUDY FROM STEPS RANKS[,RANKS...] [SECTION.KEY=VALUE...]\n");
    return 2;
  }
  tl_log_set("cost", TL_LOG_WARN);
  tl_par_set_threads(1);
  for (char *at = argv[4]; *at;) {
    Cost c = {.path = argv[1],
              .from = strtoll(argv[2], NULL, 10),
              .steps = strtoll(argv[3], NULL, 10),
              .sets = {.items = argv + 5, .count = argc - 5},
              .ranks = (int)strtol(at, &at, 10),
              .take = add_step};
    if (c.ranks < 1 || c.from < 1 || c.steps < 1 || (*at && *at != ',')) {
      fprintf(stderr, "cost: numbers of steps, and of ranks separated by commas\n");
      return 2;
    }
    if (*at) at++;
    memset(sums, 0, sizeof sums);
    if (!cost_run(&c)) return 1;
    say(&c);
    cost_free(&c);
  }
  return 0;
}
