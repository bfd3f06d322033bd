/* What the files of the step share: the solver itself and what a stage counted. */
#ifndef TL_DEM_STEP_IMPL_H
#define TL_DEM_STEP_IMPL_H

#include "base/mem.h"
#include "dem/detect.h"
#include "dem/etm.h"
#include "dem/groups.h"
#include "dem/motion.h"
#include "dem/press.h"
#include "dem/rest.h"
#include "dem/shapes.h"
#include "dem/step.h"
#include "num/exact.h"

/* A collider's shape as it was found; derived fields that agree with it need no second look. */
typedef struct TlKnownShape {
  int64_t avatar_id;
  const TlShape *shape;
} TlKnownShape;

struct TlSolver {
  TlSolverConfig config;
  TlMaterials materials; /* owned */
  TlAvatarSource source;
  TlBoundary *boundary; /* owned; where they are at time steps*dt: after the move at its end */
  TlBoundary *ahead;    /* owned; at the step's end */
  int boundary_count;
  const TlSync *sync;
  TlNet *nets; /* owned */
  int net_count;
  TlNetMemo *net_memo; /* of them, owned */
  TlGuide *guides;     /* owned */
  int guide_count;
  TlShapes shapes;
  TlArena arena; /* scratch of one step; the last step's contacts stay until the next */
  TlNear near;   /* contact lists that outlive a step; no part of state */
  TlPoints *points;
  size_t point_lists;
  double speed_max;
  TlStepSums sums; /* of the step in hand; this rank's part */
  int64_t steps;
  const TlCollisionTrace *trace;
  TlFound found;
  TlPressRoom press;   /* of the penalty method */
  TlKnownShape *known; /* of each collider when it was last looked up */
  size_t known_capacity;
  int64_t unchecked; /* grains whose derived fields were made anew since steps were last checked */
  TlPoorRow *poor;
  size_t poor_count, poor_capacity;
};

/* The step of the methods that resolve collisions by impulses, and its contacts. They differ in
 * `collide` only, and in what they can do with several ranks. */
TlStatus tl_step_by_impulses(TlSolver *solver, TlBodies *bodies, TlStepReport *report);
TlStatus tl_step_impulse_rows(const TlSolver *solver, const TlBodies *bodies, TlContactRow **rows,
                              int64_t *count);
#define TL_BY_IMPULSES(solve)                                                                      \
  .reach = tl_detect_reach, .step = tl_step_by_impulses, .contact_rows = tl_step_impulse_rows,     \
  .memory = TL_IMPULSES, .solves = TL_KIND_BIT(TL_BONDS), .collide = solve

/* Room for each thread's points. */
TlStatus tl_step_reserve_points(TlSolver *solver);
/* Move by impulses: grains that came to overlap are moved apart, and the nets kicked; collective.
 */
TlStatus tl_step_advance(TlSolver *solver, TlBodies *bodies, const TlMotion *motion,
                         TlStepReport *report);
/* After the move rows of nets are carried and bonds follow; `move` is tl_membrane_correct where the
 * nets are still to be kicked, else tl_membrane_follow. start: the positions before the move.
 * Collective. */
TlStatus tl_step_nets(TlSolver *solver, TlBodies *bodies, const TlVec3 *start, TlMembraneMove move,
                      TlStepReport *report);
/* Derived fields of the ghosts that came since tl_solver_refresh, which has filled those of the
 * owned bodies; on one rank, where that costs no exchange, of all bodies. Each rank for itself: the
 * caller makes the ranks agree on the status (tl_step_together). */
TlStatus tl_step_begin(TlSolver *solver, TlBodies *bodies);
/* Bodies' part of the report; then all of it over the ranks, by the attributes of its fields
 * (collective). */
void tl_step_report_motion(TlSolver *solver, const TlBodies *bodies, TlStepReport *report);
TlStatus tl_step_report_ranks(TlSolver *solver, TlStepReport *report);

/* Of one group. */
typedef struct TlStageCounts {
  TlEtmCount etm;
  TlRestCount rest;
} TlStageCounts;

/* Bound of a body's surface speed; 0 when frozen. */
double tl_step_speed(const TlBodies *bodies, int64_t index);

/* TL_EUSAGE unless low <= value <= high. */
TlStatus tl_step_check_value(const char *name, double value, double low, double high);

/* A failure on one rank makes all leave. */
TlStatus tl_step_together(const TlSync *sync, TlStatus status);

/* The position rule over all groups, small ones shared among the threads. */
TlStatus tl_step_positions(TlSolver *solver, const TlGroups *groups, const TlPositionLaw *law,
                           const TlDynamics *pseudo);

/* Gaps looked at again at the end poses, and grains moved apart where they came to lie inside each
 * other; uses the twists that moved them. *passes: corrections made. Collective (step_recheck.c).
 */
TlStatus tl_step_recheck(TlSolver *solver, TlBodies *bodies, const TlMotion *motion,
                         int64_t *passes);

/* Flag and list the grains that cannot be brought apart; call with fresh contacts (step_poor.c). */
TlStatus tl_step_poor(TlSolver *solver, TlBodies *bodies);

/* Flag and list the grains whose collisions ETM gave up again and again; with the step's memos. */
TlStatus tl_step_jammed(TlSolver *solver, TlBodies *bodies, const TlGroups *groups,
                        const TlStageCounts *counts, int64_t *found);

/* All impulse on body a over the step: ETM and rest. */
TlVec3 tl_step_impulse(const TlContact *contact);

/* Boundaries at the start and at the end of the step to come. */
void tl_step_place_boundaries(TlSolver *solver);

/* The resting impulses of this step become the bodies' contact memory (step_contacts.c). */
TlStatus tl_step_remember(const TlFound *found, TlBodies *bodies);

/* Fill the report from what was found and done, over all ranks; collective (step_report.c). */
TlStatus tl_step_report(TlSolver *solver, const TlBodies *bodies, const TlGroups *groups,
                        const TlStageCounts *counts, TlStepReport *report);

#endif
