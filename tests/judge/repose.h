/* Grains in a box whose right wall goes (config/validation/repose.yaml; Tang 2014, section 7.4): they
 * settle once a shape and seed, at friction 0.4, by impulses. Each heap begins with the settled grains,
 * at the instant the wall goes or a moment before, whatever its friction or method, and ends when what
 * is left on the floor rests, or at its study's end.
 *
 * The floor ends in a low sill where the right wall stood: what flows over it falls away, and the
 * slope that stays runs from the back wall to the sill. There is no damping.
 */
#ifndef TL_TESTS_JUDGE_REPOSE_H
#define TL_TESTS_JUDGE_REPOSE_H

#include "support/grain_state.h"

#include "judge/overlap.h"
#include "post/measure.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum ReposeShape { REPOSE_SPHERE, REPOSE_CUBE, REPOSE_CROSS, REPOSE_STONE } ReposeShape;
enum { REPOSE_SHAPES = 4 };
static const char *const repose_shape[REPOSE_SHAPES] = {"sphere", "cube", "cross", "stone"};
static const double REPOSE_DIAMETER = 0.02, REPOSE_SILL = 0.006 /* its radius, m */;
/* A heap rests when no larger fraction of its grains moves. */
static const double REPOSE_MOVING_FRACTION = 0.05;

typedef struct ReposeEdition {
  double length, width;       /* of the box */
  double settle_s, flow_s;    /* before and at most after the wall goes */
  double frictionless_s;      /* in place of flow_s: there is little that could stop such a heap */
  int grains[REPOSE_SHAPES];  /* fill it to the same height */
  double high[REPOSE_SHAPES]; /* they are drawn up to here */
  double run_out_s;           /* on a long floor, from when the wall goes */
  int strips;                 /* that the slope is measured in; 0: 8 */
} ReposeEdition;

/* 230 to 400 grains; 1250 to 2180; and 1012 to 1760 in the small one's box, made wider, whose stacks are no higher, so
 * that the nonsmooth method needs no more iterations. */
extern const ReposeEdition repose_small, repose_large, repose_wide;

typedef struct ReposeStack {
  double fill; /* its height: twice its grains' mean, m */
  double cpu_s;
  JudgeOverlap worst, truth; /* of any step, at the end */
} ReposeStack;

typedef struct ReposeHeap {
  TlRepose repose;
  double cpu_s;
  double moving;        /* fraction of the grains on the floor */
  double end_s;         /* from when the wall goes */
  double run_out_m;     /* 95% of the mass lies no farther from the back wall */
  double balance_error; /* missing energy over what friction and dashpots took */
  JudgeOverlap worst, truth;
  int64_t left, steps; /* left: grains on the floor */
} ReposeHeap;

typedef enum ReposeWayOut {
  REPOSE_OVER_SILL,
  REPOSE_BARE,      /* the floor ends there, without the sill */
  REPOSE_LONG_FLOOR /* it goes on: nothing falls away */
} ReposeWayOut;
static const double REPOSE_FLOOR = 4; /* lengths of the box that a long floor goes on for */

enum { REPOSE_SETS = 4 };
typedef struct ReposeCase {
  const char *folder; /* the results' name in the study's folder */
  ReposeShape shape;
  double friction;
  int seed;
  ReposeWayOut way_out;
  double held_s;                 /* that the wall stands on for */
  const char *sets[REPOSE_SETS]; /* more keys, "section.key=value", until the first NULL */
} ReposeCase;

/* Returns the grains' states by id; to be freed. */
TlGrainState *repose_settle(const ReposeEdition *edition, ReposeShape shape, int seed,
                            ReposeStack *stack);
void repose_flow_out(const ReposeEdition *edition, const ReposeCase *c, const TlGrainState *start,
                     ReposeHeap *heap);

#endif
