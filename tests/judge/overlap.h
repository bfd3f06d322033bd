/* The true overlap at the end of a judged run or scene, by the oracle that users have as
 * `talus-measure --overlap` (post/overlap.h): grains with each other, and with planes, walls and
 * terrain. The rows `..._overlap` without "true" are the solver's own, which sees nodes alone. */
#ifndef TL_TESTS_OVERLAP_H
#define TL_TESTS_OVERLAP_H

#include "judge/scene.h"
#include "post/overlap.h"
#include "run/run.h"

typedef struct JudgeOverlap {
  TlOverlapSums pairs, ground;
  double largest_share; /* of both */
  double mean_share;    /* over all that touches, grains and ground; 0: nothing does */
} JudgeOverlap;

JudgeOverlap judge_overlap_of_run(TlRun *run);
/* And each of them; the caller frees the rows. */
TlOverlapRows judge_overlap_rows_of_run(TlRun *run, JudgeOverlap *sums);
JudgeOverlap judge_overlap_of_scene(const JudgeScene *scene);
/* The one of the two with the larger share. */
JudgeOverlap judge_overlap_worse(JudgeOverlap a, JudgeOverlap b);
/* A row with the goal of 1% of the radius, and a note with quantiles and what nodes say. */
void judge_true_overlap(const char *figure, const JudgeOverlap *overlap);

#endif
