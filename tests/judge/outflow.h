/* The outflow of Tan 2024, section 6.2: the grains of config/validation/outflow.yaml settle once a
 * seed, by impulses; their places are written as bodies into start_seedN.yaml of the study's
 * folder, a study file as well, from which every run starts, whatever its step or method.
 *
 * To be the less moved by single grains, spread and height are taken over the nodes of all grains.
 * Spread: radius about the container's axis that holds 95% of the mass, each grain's laid evenly on
 * its nodes. Height: 99th percentile of the nodes' heights.
 */
#ifndef TL_TESTS_JUDGE_OUTFLOW_H
#define TL_TESTS_JUDGE_OUTFLOW_H

#include "judge/overlap.h"

#include <stdint.h>

enum { OUTFLOW_SEEDS = 6, OUTFLOW_BINS = 16, OUTFLOW_PARTS = 4 };

typedef struct OutflowEdition {
  int seeds;
  double settled_s, out_s; /* of the container; from when the walls go */
  int set_count;
  const char *sets[24]; /* of the container's study */
} OutflowEdition;

/* 160 grains and six seeds, or, --full, 1600 with the paper's nodes and one seed. */
const OutflowEdition *outflow_edition(void);

/* Time of the ETM over islands, by number of contacts: bin i holds 2^i to 2^(i+1) - 1. */
typedef struct OutflowIslands {
  double start_s, time_s[OUTFLOW_BINS], contacts[OUTFLOW_BINS];
  int64_t count[OUTFLOW_BINS];
} OutflowIslands;

typedef struct OutflowMound {
  double spread_m, height_m, kinetic_fraction, cpu_s, cpu_step_s;
  double balance_error;         /* of the energy set free; by impulses 0 */
  double part_s[OUTFLOW_PARTS]; /* of cpu_step_s: contact search, impacts, rest, others */
  int64_t grains;
  JudgeOverlap worst; /* of any step */
  JudgeOverlap truth; /* at the end, of seed 1: the oracle takes seconds a mound */
} OutflowMound;

typedef struct OutflowMean {
  double spread_m, height_m, spread_sd, height_sd, kinetic_fraction, cpu_s, cpu_step_s;
  JudgeOverlap worst;
  double part_s[OUTFLOW_PARTS];
} OutflowMean;

/* Settles the grains of a seed and writes the start; returns the deepest overlap of any step. */
JudgeOverlap outflow_settle(const OutflowEdition *edition, int seed);
/* From there until out_s with one more key, "section.key=value". Results: NAME_seedN.run in the
 * study's folder; a full edition that was ended resumes from its checkpoints. islands: added to;
 * NULL: not asked, which a method without impulses must be. */
OutflowMound outflow_run(const OutflowEdition *edition, const char *set, const char *name, int seed,
                         OutflowIslands *islands);
/* Means over the seeds, their deviation, the deepest overlap. */
OutflowMean outflow_mean(const OutflowMound *mound, int count);

#endif
