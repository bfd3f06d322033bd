/* Model reduction of the nonsmooth method: bodies in touch that move together become one rigid aggregate, and
 * are parted again (Servin 2015, with Corrections 26 and 27c; docs/theory/reduction.md).
 *
 * In a step, after the contact search: merges are dropped whose reason is gone, bodies are marked that
 * shall move for themselves (sensors, contacts that impact or slide, a solve of all bodies in the
 * background), and what hangs together without the marked ones makes the units of the step
 * (aggregates.h). The step solves these. Then units that move together merge, and all move.
 *
 * Bodies with parts merge as grains do, and with one body on joints: these act on the whole. Fixed bodies are part of no
 * aggregate; on them aggregates are anchored.
 */
#ifndef TL_SOLVE_REDUCTION_H
#define TL_SOLVE_REDUCTION_H

#include "solve/aggregates.h"
#include "solve/nonsmooth_rows.h"
#include "solve/step_common.h"

/* What the contacts of a body leave over: the change of its velocity and spin in the step, and the sum of the sizes of
 * what changes the velocity. */
typedef struct TlLeftOver {
  TlVec3 v, w;
  double sizes;
} TlLeftOver;

/* Of one step. */
typedef struct TlReduce {
  const TlModel *model;
  TlBodies *bodies;
  const TlFound *found;
  const TlSync *sync; /* NULL: one rank */
  TlArena *arena;
  TlTwist *start; /* of the bodies, at the start of the step: a copy */
  double damping_per_s;
  bool *apart;          /* bodies that merge with nothing in this step */
  bool *guided;         /* bodies on joints */
  int32_t *marked;      /* bodies that are split off: how deep it goes from there; 0: not */
  TlLeftOver *trial;    /* of the owned bodies, where that is not small; else its sizes are 0 */
  TlVec3 *inner_moment; /* of each contact: remembered of contacts within units, N m s */
  TlUnits units;
  TlHeld held;
  int64_t merges, splits;
} TlReduce;

/* Whatever the state holds of a reduction. */
void tl_reduce_forget(TlBodies *bodies);
/* Units as the last step left them, without merges whose reason is gone. */
TlStatus tl_reduce_open(TlReduce *reduce, const TlBoundary *boundary, const TlTwist *start);
void tl_reduce_by_sensors(TlReduce *reduce);
/* What is carried against something that stands, with any rule of splitting. */
void tl_reduce_by_anchors(TlReduce *reduce);
void tl_reduce_by_contacts(TlReduce *reduce);
/* Before the rows of a trial are made: contacts between units start from what the last trial had there. The step's
 * own forces are of rigid units, which share a load otherwise than their bodies do. */
void tl_reduce_recall_trial(const TlReduce *reduce, const TlDynamics *dynamics);
/* trial: rows of all bodies, solved. What it has of contacts within units becomes their memory; of others it is kept
 * for the next trial. known: `rest` of the contacts before. */
TlStatus tl_reduce_by_trial(TlReduce *reduce, const TlNsRows *trial, const TlVec3 *known);
/* The units of this step, without the bodies that are marked. */
TlStatus tl_reduce_split(TlReduce *reduce, const TlBoundary *boundary);
/* Of each pair that was found: its contacts moved with an aggregate, and now it is of two units. */
TlStatus tl_reduce_parted(const TlReduce *reduce, bool **parted, bool *any);
/* After contacts were searched again (detect.h): the memory of contacts follows. */
TlStatus tl_reduce_found_again(TlReduce *reduce, const int32_t *from);
/* When the forces are written back: what anchors had to give against these and gravity. */
void tl_reduce_hold(TlReduce *reduce);
/* after: of the owned bodies, as the solve left their units. */
void tl_reduce_spread(TlReduce *reduce, const TlNsRows *rows, TlTwist *after);
/* Units that move together merge, and their owned bodies take the motion of the whole. after: of all bodies.
 * Contact memory is to be written before. */
TlStatus tl_reduce_merge(TlReduce *reduce, TlTwist *after);
/* Contacts within the units, which move with them, become TL_INNER rows, and that a pair has none. near: what
 * contacts were searched of. Before the bodies move. */
TlStatus tl_reduce_keep_contacts(TlReduce *reduce, const TlBodyPairs *near);

#endif
