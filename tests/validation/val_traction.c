/* Penalty forces over surfaces: in a heap, the overlap that each contact's force is reckoned from beside
 * the true one, which the oracle of overlap finds on the same poses (post/overlap.h: separating axes, a
 * hundred points a node). Eight shapes, of which grains with hollows and uneven edges bear by the elements of their
 * surfaces; by nodes three. */
#include "judge/cases.h"
#include "judge/judge.h"
#include "judge/overlap.h"
#include "judge/study.h"

#include "base/log.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double WITHIN = 0.2; /* of the true overlap: the goal for every contact */
/* Of the radius: contacts that are judged, above the oracle's grain. Stones have creases, where
 * contacts are off by up to 0.09% of the radius; at the rounded edges of a block on six cells a radius the solver's spline
 * and the oracle's interpolation lie up to 0.4% apart. So these grains are softer and their deeper contacts are judged. */
static const double LEAST = 2e-4, CREASED = 1e-3, COARSE = 3e-3;

typedef struct Case {
  const char *shape, *sets;
  bool judged;
  double least; /* 0: LEAST */
} Case;
static const Case cases[] = {
    {"cube", "", true},
    {"grid-cube", "", true},
    {"cross", "", true},
    {"tetrahedron", "", true},
    {"pebble", "", true},
    {"block", "", true},
    {"stone", "penalty.normal_Pa_m=2e9 penalty.touching_share=0.05", true, CREASED},
    {"tetrahedron", "solver.edges=nodes", false},
    {"block", "solver.edges=nodes", false},
    {"coarse-block", "release.count=24 penalty.normal_Pa_m=2e8 penalty.touching_share=0.1", true,
     COARSE},
    {"coarse-block",
     "solver.edges=nodes release.count=24 penalty.normal_Pa_m=2e8 "
     "penalty.touching_share=0.1",
     false, COARSE}};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct Outcome {
  JudgeOverlap truth;
  int contacts, off;        /* judged; off by more than WITHIN */
  double worst, far, cpu_s; /* largest error: of the true overlap, of the radius */
} Outcome;

/* The deepest of a pair's points, 0: none. */
static double booked(const TlContactRow *rows, int64_t count, const TlOverlapRow *pair) {
  double deepest = 0;
  for (int64_t i = 0; i < count; i++)
    if (rows[i].first == pair->first && rows[i].second == pair->second)
      deepest = fmax(deepest, -rows[i].gap_m);
  return deepest;
}

static void run_case(int which, void *result, void *context) {
  const Case *c = &cases[which];
  Outcome *o = result;
  TlRun run;
  TlContactRow *rows;
  int64_t count;
  (void)context;
  double least = c->least > 0 ? c->least : LEAST;
  judge_study_open(&run, "traction", "grains.shapes=[%s] %s", c->shape, c->sets);
  double start = judge_thread_cpu_s();
  judge_study_go(&run, NULL, NULL);
  o->cpu_s = judge_thread_cpu_s() - start;
  TlOverlapRows truth = judge_overlap_rows_of_run(&run, &o->truth);
  JUDGE_OK(tl_run_refresh(&run));
  JUDGE_OK(tl_step_contacts(run.model->dem, &run.state->dem, run.work, &rows, &count));
  for (int64_t i = 0; i < truth.count; i++) {
    const TlOverlapRow *pair = &truth.row[i];
    if (!(pair->fraction > least)) continue;
    double off = fabs(booked(rows, count, pair) / pair->depth_m - 1);
    o->far = fmax(o->far, off * pair->fraction);
    o->contacts++;
    o->off += off > WITHIN;
    o->worst = fmax(o->worst, off);
  }
  tl_free(rows);
  tl_overlap_rows_free(&truth);
  tl_run_close(&run);
}

int main(int argc, char **argv) {
  judge_open("traction", argc, argv);
  tl_log_set("val_traction", TL_LOG_WARN);
  JudgeCases all = {CASES, sizeof(Outcome), run_case, NULL, NULL};
  const Outcome *o = judge_cases(&all);
  for (int k = 0; k < CASES; k++) {
    const Case *c = &cases[k];
    char name[64];
    snprintf(name, sizeof name, "traction_off_%s", c->shape);
    if (c->judged)
      judge_at_most(JUDGE_GOAL, name, 100.0 * o[k].off / fmax(o[k].contacts, 1), "% of contacts",
                    0);
    judge_note(
        "%s%s: %d contacts deeper than %g%% of the radius, %d of them booked with an overlap "
        "that is over %g%% off the true one (worst %.0f%%, or %.2f%% of the radius); true overlap "
        "of pairs %.2f%% of the "
        "radius in the median, %.2f%% at most, %.2f%% at planes. %.1f CPU-s.",
        c->shape, c->judged ? c->least > 0 ? " by elements" : "" : " by nodes", o[k].contacts,
        100 * (c->least > 0 ? c->least : LEAST), o[k].off, 100 * WITHIN, 100 * o[k].worst,
        100 * o[k].far, 100 * o[k].truth.pairs.median_fraction,
        100 * o[k].truth.pairs.largest_fraction, 100 * o[k].truth.ground.largest_fraction,
        o[k].cpu_s);
  }
  return judge_close();
}
