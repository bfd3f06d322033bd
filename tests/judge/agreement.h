/* The same settled grains by several contact methods, the study's keys of the methods alone being
 * different (config/validation/repose.yaml), and whether the methods agree.
 *
 * Grains settle in a box, at friction 0.4; then its right wall goes. Over a low sill: angle of
 * repose and the grains left. On a long floor: run-out after half a second, two seeds. Overlaps are
 * those of the oracle (judge/overlap.h).
 *
 * Two methods agree when the means over their seeds lie no farther apart than the seeds of the two
 * scatter: the larger of the two ranges.
 */
#ifndef TL_TESTS_JUDGE_AGREEMENT_H
#define TL_TESTS_JUDGE_AGREEMENT_H

#include "judge/repose.h"

typedef enum AgreementMethod {
  AGREE_IMPULSES, /* the others are held against it */
  AGREE_PENALTY,  /* tangential stiffness 2/7 of the normal one */
  AGREE_RIGID,    /* penalty, the tangential stiffness as large as the normal one */
  AGREE_NONSMOOTH
} AgreementMethod;
enum { AGREE_METHODS = 4, AGREE_SEEDS = 4 };

typedef struct Agreement {
  const char *study; /* what names of its rows begin with */
  const ReposeEdition *edition;
  /* Seeds over the sill, at most AGREE_SEEDS; 0: the method is not run with this shape. */
  int seeds[REPOSE_SHAPES][AGREE_METHODS];
  /* That the wall stands on for by penalty: springs take over a stack without any load, so it sinks until they bear it.
   */
  double held_s;
} Agreement;

/* Runs all of it and prints its rows. */
void agreement_judge(const Agreement *agreement);

#endif
