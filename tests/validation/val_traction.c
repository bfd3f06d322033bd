/* Heaps of 40 grains of one shape. By impulses: the true overlap at rest, by the oracle (post/overlap.h). By penalty
 * forces over surfaces: the overlap that each contact's force is reckoned from beside the true one, which
 * the oracle finds on the same poses (separating axes, a hundred points a node), and the overlap that follows from the
 * force which the contact reports and the law of the stiffness, by integrals over the oracle's own surfaces
 * (judge/surface_load.h). Nine kinds of grains, one of them from a scan; by nodes three. */
#include "judge/cases.h"
#include "judge/judge.h"
#include "judge/overlap.h"
#include "judge/scan.h"
#include "judge/study.h"
#include "judge/surface_load.h"

#include "base/log.h"
#include "base/mem.h"
#include "num/quantile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double WITHIN = 0.2; /* of the true overlap: the goal for every contact */
/* Of the radius: contacts that are judged, above the oracle's grain. Stones have creases, where
 * contacts are off by up to 0.09% of the radius; at the rounded edges of a block on six cells a radius the solver's spline
 * and the oracle's interpolation lie up to 0.4% apart, and grains of a scan lie on as few. So these grains are softer and
 * their deeper contacts are judged. */
static const double LEAST = 2e-4, CREASED = 1e-3, COARSE = 3e-3;

/* By penalty, so that a heap is settled when it is judged: global damping from this time on, and the end of a run when
 * no grain is faster. */
static const double CALM_FROM_S = 0.5, CALM_PER_S = 40, SETTLED_M_S = 2e-4;

#define SCANNED "scan" /* grains of the catalog in place of a shape of the study */
#define BY_IMPULSES "solver.method=etm-level time.dt_s=5e-4 time.duration_s=1"

typedef enum Use { FORCES, NODES, IMPULSES } Use;
typedef struct Case {
  const char *shape, *sets;
  Use use;
  double least; /* 0: LEAST */
} Case;
static const Case cases[] = {
    {"cube", "", FORCES},
    {"grid-cube", "", FORCES},
    {"cross", "", FORCES},
    {"tetrahedron", "", FORCES},
    {"pebble", "", FORCES},
    {"block", "", FORCES},
    {"stone", "penalty.normal_Pa_m=2e9 penalty.touching_share=0.05", FORCES, CREASED},
    {"tetrahedron", "solver.edges=nodes", NODES},
    {"block", "solver.edges=nodes", NODES},
    {"coarse-block", "release.count=24 penalty.normal_Pa_m=2e8 penalty.touching_share=0.1", FORCES,
     COARSE},
    {"coarse-block",
     "solver.edges=nodes release.count=24 penalty.normal_Pa_m=2e8 "
     "penalty.touching_share=0.1",
     NODES, COARSE},
    {SCANNED, "penalty.normal_Pa_m=2e8 penalty.touching_share=0.1", FORCES, COARSE},
    {"cube", BY_IMPULSES, IMPULSES},
    {"grid-cube", BY_IMPULSES, IMPULSES},
    {"cross", BY_IMPULSES, IMPULSES},
    {"tetrahedron", BY_IMPULSES, IMPULSES},
    {"stone", BY_IMPULSES, IMPULSES},
    {SCANNED, BY_IMPULSES, IMPULSES}};
enum {
  CASES = sizeof cases / sizeof *cases,
  MOST_CONTACTS = 400,
  FEW = 10 /* contacts: a heap that has no more shows nothing */
};

typedef struct Outcome {
  JudgeOverlap truth;
  int contacts, off;        /* judged; off by more than WITHIN */
  double worst, far, cpu_s; /* largest error: of the true overlap, of the radius */
  /* in the settled heap: judged; whose force implies an overlap that is off by more than WITHIN; whose booked one is */
  int settled, beyond, settled_off;
  double implied[MOST_CONTACTS];    /* of each over the true one */
  double at_planes;                 /* of those at planes the largest error, of the true overlap */
  double fastest_m_s, end_s, law_s; /* speed and time at the end; CPU time of the integrals */
} Outcome;

/* The deepest of a pair's points, 0: none. */
static double booked(const TlContactRow *rows, int64_t count, const TlOverlapRow *pair) {
  double deepest = 0;
  for (int64_t i = 0; i < count; i++)
    if (rows[i].first == pair->first && rows[i].second == pair->second)
      deepest = fmax(deepest, -rows[i].gap_m);
  return deepest;
}

/* The force on the first of the pair as the contacts report it. */
static TlVec3 reported(const TlContactRow *rows, int64_t count, const TlOverlapRow *pair) {
  TlVec3 force = {0, 0, 0};
  for (int64_t i = 0; i < count; i++)
    if (rows[i].first == pair->first && rows[i].second == pair->second)
      force = tl_add(force, rows[i].force_N);
  return force;
}

/* The true overlap of a pair whose first body is moved by `shift`. */
static double depth_moved(const JudgeOracle *oracle, const TlOverlapRow *pair, TlVec3 shift) {
  TlOverlapBody a = judge_oracle_body(oracle, pair->first);
  TlBodyRow moved = *a.row;
  moved.position_m = tl_add(moved.position_m, shift);
  TlOverlapBody there = tl_overlap_body(a.shape, &moved);
  TlOverlapDepth deepest = {0};
  TlOverlapTest test;
  if (pair->second < 0) {
    JUDGE_OK(tl_overlap_boundary(&oracle->scene, NULL, -1 - pair->second, &there, &deepest, &test));
  } else {
    TlOverlapBody b = judge_oracle_body(oracle, pair->second);
    JUDGE_OK(tl_overlap_pair(&there, &b, &deepest, &test));
  }
  return deepest.depth_m;
}

/* The overlap at which the surfaces would bear the reported force, over the true one: the first body is led along the
 * direction that parts the two. Friction acts across the direction of what the surfaces bear and is left out. */
static double implied(const JudgeOracle *oracle, const TlOverlapRow *pair, TlVec3 force_N,
                      double stiffness_Pa_m) {
  TlOverlapBody a = judge_oracle_body(oracle, pair->first), b;
  JudgeLoad load;
  if (pair->second < 0) {
    const TlPlane *plane = &oracle->scene.planes[-1 - pair->second - oracle->scene.has_terrain];
    judge_load_open(&load, &a, NULL, plane->point_m, plane->normal, pair->depth_m);
  } else {
    b = judge_oracle_body(oracle, pair->second);
    judge_load_open(&load, &a, &b, pair->point_m, pair->normal, pair->depth_m);
  }
  TlVec3 along = tl_unit(judge_load_force(&load, tl_vec3(0, 0, 0)));
  double wanted = tl_dot(force_N, along) / stiffness_Pa_m;
  double shift = judge_load_shift(&load, pair->normal, pair->depth_m, along, wanted);
  judge_load_close(&load);
  return depth_moved(oracle, pair, tl_scale(shift, pair->normal)) / pair->depth_m;
}

/* Of every contact of a run that is judged. */
typedef void (*JudgeContact)(const JudgeOracle *oracle, const TlOverlapRow *pair,
                             const TlContactRow *rows, int64_t count, double stiffness_Pa_m,
                             Outcome *o);

static void judge_contacts(const Case *c, TlRun *run, JudgeContact judge, Outcome *o) {
  JudgeOracle oracle;
  TlContactRow *rows;
  int64_t count;
  double least = c->least > 0 ? c->least : LEAST;
  judge_oracle_of_run(&oracle, run);
  TlOverlapRows truth = judge_oracle_rows(&oracle, &o->truth);
  JUDGE_OK(tl_run_refresh(run));
  JUDGE_OK(tl_step_contacts(run->model->dem, &run->state->dem, run->work, &rows, &count));
  for (int64_t i = 0; i < truth.count && c->use != IMPULSES; i++)
    if (truth.row[i].fraction > least)
      judge(&oracle, &truth.row[i], rows, count,
            run->model->dem->materials.law[0].stiffness.normal_Pa_m, o);
  tl_free(rows);
  tl_overlap_rows_free(&truth);
  judge_oracle_close(&oracle);
}

static void judge_gap(const JudgeOracle *oracle, const TlOverlapRow *pair, const TlContactRow *rows,
                      int64_t count, double stiffness_Pa_m, Outcome *o) {
  (void)oracle, (void)stiffness_Pa_m;
  double off = fabs(booked(rows, count, pair) / pair->depth_m - 1);
  o->far = fmax(o->far, off * pair->fraction);
  o->contacts++;
  o->off += off > WITHIN;
  o->worst = fmax(o->worst, off);
}

static void judge_force(const JudgeOracle *oracle, const TlOverlapRow *pair,
                        const TlContactRow *rows, int64_t count, double stiffness_Pa_m,
                        Outcome *o) {
  double start = judge_thread_cpu_s(),
         part = implied(oracle, pair, reported(rows, count, pair), stiffness_Pa_m);
  JUDGE_OK(o->settled < MOST_CONTACTS ? TL_OK : TL_ELIMIT);
  o->implied[o->settled++] = part;
  o->beyond += fabs(part - 1) > WITHIN;
  if (pair->second < 0) o->at_planes = fmax(o->at_planes, fabs(part - 1));
  o->settled_off += fabs(booked(rows, count, pair) / pair->depth_m - 1) > WITHIN;
  o->law_s += judge_thread_cpu_s() - start;
}

static double fastest(const TlRun *run) {
  const TlBodies *b = &run->state->dem.bodies;
  double most = 0;
  for (int64_t i = 0; i < b->owned; i++) most = fmax(most, tl_norm(b->velocity[i]));
  return most;
}

typedef struct Watch {
  const Case *of;
  Outcome *out;
} Watch;

/* Forces are judged in a settled heap, when what moves in it has been drawn to rest: a pebble that rolls, a cube that
 * rocks. Dashpots bear as much as springs at some mm/s. */
static void calm(TlRun *run, void *context) {
  const Watch *w = context;
  int64_t calm_from = llround(CALM_FROM_S / run->model->setup.time.dt_s);
  if (run->state->totals.steps < calm_from) return;
  if (run->state->totals.steps == calm_from) judge_contacts(w->of, run, judge_gap, w->out);
  if (w->of->use == NODES) run->state->still.reached = 1; /* the last step */
  run->controls.damping_per_s = CALM_PER_S;
  if (fastest(run) < SETTLED_M_S) run->state->still.reached = 1;
}

static void run_case(int which, void *result, void *context) {
  const Case *c = &cases[which];
  const char *catalog = context;
  Outcome *o = result;
  Watch watch = {c, o};
  TlRun run;
  if (strcmp(c->shape, SCANNED) == 0)
    judge_study_open(&run, "traction",
                     "catalog=%s grains.shapes= grains.sample=scan grains.grain_scale=45 %s",
                     catalog, c->sets);
  else
    judge_study_open(&run, "traction", "grains.shapes=[%s] %s", c->shape, c->sets);
  double start = judge_thread_cpu_s();
  judge_study_go(&run, c->use == IMPULSES ? NULL : calm, &watch);
  o->cpu_s = judge_thread_cpu_s() - start;
  o->fastest_m_s = fastest(&run);
  o->end_s = (double)run.state->totals.steps * run.model->setup.time.dt_s;
  if (c->use == FORCES) {
    JudgeOverlap before = o->truth; /* the rows of overlaps are of the time before */
    judge_contacts(c, &run, judge_force, o);
    o->truth = before;
  } else if (c->use == IMPULSES) {
    judge_contacts(c, &run, judge_gap, o);
  }
  tl_run_close(&run);
}

static void make_scan(int which, void *result, void *catalog) {
  (void)which;
  double start = judge_thread_cpu_s();
  judge_scan(catalog);
  *(double *)result = judge_thread_cpu_s() - start;
}

static double percent(int off, int of) {
  return of > FEW ? 100.0 * off / of : NAN;
}

static void say_impulses(const Case *c, const Outcome *o) {
  char name[64];
  snprintf(name, sizeof name, "traction_impulses_%s_true_overlap", c->shape);
  JudgeOverlap truth = o->truth;
  if (truth.pairs.touching <= FEW) truth.largest_fraction = NAN;
  judge_true_overlap(name, &truth);
  judge_note("%s by impulses: fastest grain at the end %.1g m/s. %.1f CPU-s.", c->shape,
             o->fastest_m_s, o->cpu_s);
}

static void say_law(const Case *c, const Outcome *o) {
  char name[64];
  snprintf(name, sizeof name, "traction_force_%s", c->shape);
  judge_at_most(JUDGE_GOAL, name, percent(o->beyond, o->settled), "% of contacts", 0);
  double sorted[MOST_CONTACTS];
  memcpy(sorted, o->implied, sizeof sorted);
  judge_note("%s: overlap that the force implies over the true one %.3f in the median, 5%% of the "
             "contacts below %.3f, 5%% "
             "above %.3f; %d of %d off by more than %g%%, at planes by %.0f%% at most. Of these "
             "contacts %d are booked with "
             "an overlap that is over %g%% off. Fastest grain %.1g m/s at %.2f s. %.1f CPU-s for "
             "the integrals.",
             c->shape, tl_quantile(sorted, o->settled, 0.5), tl_quantile(sorted, o->settled, 0.05),
             tl_quantile(sorted, o->settled, 0.95), o->beyond, o->settled, 100 * WITHIN,
             100 * o->at_planes, o->settled_off, 100 * WITHIN, o->fastest_m_s, o->end_s, o->law_s);
}

int main(int argc, char **argv) {
  judge_open("traction", argc, argv);
  tl_log_set("val_traction", TL_LOG_WARN);
  char catalog[1024];
  snprintf(catalog, sizeof catalog, "%s", judge_path("scan.tals"));
  /* in a process of its own: what it starts is not there when the others are made */
  JudgeCases scan = {1, sizeof(double), make_scan, catalog, NULL, "scan_"};
  double scan_s = *(double *)judge_cases(&scan);
  JudgeCases all = {CASES, sizeof(Outcome), run_case, catalog, NULL};
  const Outcome *o = judge_cases(&all);
  judge_note(
      "The grains of a scan: a noisy phantom of 80 voxels a side with grains 26 voxels across, "
      "denoised, "
      "binarized, labelled and made into avatars; those that its border does not cut. %.0f CPU-s.",
      scan_s);
  for (int k = 0; k < CASES; k++) {
    const Case *c = &cases[k];
    char name[64];
    if (c->use == IMPULSES) {
      say_impulses(c, &o[k]);
      continue;
    }
    snprintf(name, sizeof name, "traction_off_%s", c->shape);
    if (c->use == FORCES)
      judge_at_most(JUDGE_GOAL, name, percent(o[k].off, o[k].contacts), "% of contacts", 0);
    judge_note(
        "%s%s: %d contacts deeper than %g%% of the radius, %d of them booked with an overlap "
        "that is over %g%% off the true one (worst %.0f%%, or %.2f%% of the radius); true overlap "
        "of pairs %.2f%% of the "
        "radius in the median, %.2f%% at most, %.2f%% at planes. %.1f CPU-s.",
        c->shape, c->use == FORCES ? c->least > 0 ? " by elements" : "" : " by nodes",
        o[k].contacts, 100 * (c->least > 0 ? c->least : LEAST), o[k].off, 100 * WITHIN,
        100 * o[k].worst, 100 * o[k].far, 100 * o[k].truth.pairs.median_fraction,
        100 * o[k].truth.pairs.largest_fraction, 100 * o[k].truth.ground.largest_fraction,
        o[k].cpu_s);
    if (c->use == FORCES) say_law(c, &o[k]);
  }
  return judge_close();
}
