/* The true overlap of a judged run or scene, by the oracle that users have as
 * `talus-measure --overlap` (post/overlap.h): grains with each other, and with planes, walls and
 * terrain. Rows `..._true_overlap` are of the end. Rows `..._worst_overlap` are of the step in which the
 * solver itself saw the deepest contact: the solver chooses the moment, the oracle measures. */
#ifndef TL_TESTS_OVERLAP_H
#define TL_TESTS_OVERLAP_H

#include "judge/scene.h"
#include "post/overlap.h"
#include "run/run.h"

typedef struct JudgeOverlap {
  TlOverlapSums pairs, ground;
  double largest_fraction; /* of both */
  double largest_m;
  double mean_fraction; /* over all that touches, grains and ground; 0: nothing does */
} JudgeOverlap;

JudgeOverlap judge_overlap_of_run(TlRun *run);

/* The poses at which a step with the deepest contact so far began: contacts are found there. Zero: none yet. */
typedef struct JudgePoses {
  TlBodyRow *row; /* [count] owned */
  int64_t count, step;
  size_t capacity;
} JudgePoses;
typedef struct JudgeDeepest {
  double fraction; /* as the solver saw it */
  JudgePoses poses, now;
} JudgeDeepest;
/* After each step; for a run also as a TlRunOptions.stop that never stops, the context a JudgeDeepestOfRun. */
void judge_deepest_look(JudgeDeepest *deepest, const TlBodies *bodies, int64_t step,
                        double fraction);
typedef struct JudgeDeepestOfRun {
  TlRun *run;
  JudgeDeepest deepest;
} JudgeDeepestOfRun;
int judge_deepest_stop(void *of_run);
void judge_deepest_look_at_run(JudgeDeepest *deepest, const TlRun *run);
void judge_deepest_free(JudgeDeepest *deepest);
/* What the oracle says of these poses, which are freed then. No step was looked at: of the poses now. Walls and
 * planes must be where they were. */
JudgeOverlap judge_deepest_of_run(JudgeDeepest *deepest, TlRun *run);
JudgeOverlap judge_deepest_of_scene(JudgeDeepest *deepest, const JudgeScene *scene);

/* The oracle of a run's poses now, for more than the sums. */
typedef struct JudgeOracle {
  TlScene scene;          /* borrows the run's study, planes and walls */
  TlOverlapShape *shapes; /* owned, one an avatar of the scene */
  JudgePoses poses;
} JudgeOracle;
void judge_oracle_of_run(JudgeOracle *oracle, TlRun *run);
void judge_oracle_close(JudgeOracle *oracle);
/* Each overlap; the caller frees the rows. */
TlOverlapRows judge_oracle_rows(const JudgeOracle *oracle, JudgeOverlap *sums);
/* Borrows from the oracle. */
TlOverlapBody judge_oracle_body(const JudgeOracle *oracle, int64_t id);

JudgeOverlap judge_overlap_of_scene(const JudgeScene *scene);
/* The one of the two with the larger fraction. */
JudgeOverlap judge_overlap_worse(JudgeOverlap a, JudgeOverlap b);
/* A row that must hold, 2% of the radius. */
void judge_worst_overlap(const char *figure, const JudgeOverlap *overlap);
/* A row with the goal of 1% of the radius, and a note with quantiles and what nodes say. */
void judge_true_overlap(const char *figure, const JudgeOverlap *overlap);

#endif
