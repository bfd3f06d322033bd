/* One time step of LS-DEM: tl_step takes a state through it by the method of its model.
 *
 * Sources of the methods by impulses: Tan 2024 sections 2-4, Tang 2014, with the corrections of
 * docs/theory/step.md. The order was picked because it comes to rest at large steps: detect at start
 * poses; energy tracking (ETM) on the velocities before gravity; gravity and global damping; resting
 * contacts by warm-started projected Gauss-Seidel; rigid boundaries by the hybrid scheme; overlap
 * that is already there by pseudo-velocities that move positions only; move; gaps looked at again
 * where the grains ended. The penalty method: step_penalty.c.
 *
 * A step reads a model (model.h), which is constant, and controls (controls.h), which its caller
 * has filled; it changes a state (state.h) and scribbles on a workspace. Nothing else is kept
 * between steps, and nothing is global: any number of models and states may be in use in one
 * process. A workspace is of one model; what it keeps from step to step (lists of near nodes, the
 * last step's contacts) changes no bit of the state.
 *
 * Ranks: bodies hold this rank's owned bodies and, as ghosts, at least every body b of other ranks
 * for which an owned a has |x_a - x_b| <= halo_a + halo_b (halo, filled by tl_step_refresh, covers
 * the reach of all colliders of a body).
 * Ghosts hold their owner's state of this moment. A pair with a ghost is computed on both ranks
 * from the same bits; the result does not depend, in any bit of state, on the number of ranks or
 * threads nor on the order of the bodies.
 *
 * The step's own files call each other in one direction: step.c (this interface) knows the table of
 * methods; step_impulses.c and step_penalty.c are steps of methods; nearby.c, step_recheck.c,
 * step_problems.c, step_contacts.c and step_report.c are parts of them; sleep.c and step_common.c, which
 * know each other, are below all.
 */
#ifndef TL_SOLVE_STEP_H
#define TL_SOLVE_STEP_H

#include "solve/controls.h"
#include "solve/model.h"
#include "model/state.h"
#include "solve/sync.h"
#include "model/constraint_row.h"
#include "model/contact_record.h"
#include "num/exact.h"

/* How a step tells what it lost: `whole` of its report. */
enum { TL_LOSSES_HALVES, TL_LOSSES_WHOLE, TL_LOSSES_UNKNOWN };

/* What a step tells, over all ranks: type, name, unit, how the ranks' values become one
 * (model/record.h), meaning. Reals that are summed stand under EXACT: methods add to their exact
 * sums (TlStepSums), so that neither ranks nor threads change a bit of them. */
#define TL_STEP_REPORT_LIST(F, EXACT)                                                              \
  F(int64_t, step, "", TL_ALIKE, "number of the step, from 1")                                     \
  F(int64_t, pairs, "", TL_SUM, "pairs tested node by node")                                       \
  F(int64_t, contacts, "", TL_SUM, "contact points kept")                                          \
  F(int64_t, islands, "", TL_SUM, "islands of bodies in contact")                                  \
  F(int64_t, largest_island, "", TL_MOST, "bodies in the largest island")                          \
  F(int64_t, impulses, "", TL_SUM, "impulses of energy tracking (ETM)")                            \
  F(int64_t, rounds, "", TL_MOST, "most ETM rounds of an island")                                  \
  F(int64_t, zero_finishes, "", TL_SUM, "islands finished with restitution 0 after max_rounds")    \
  F(int64_t, unfinished, "", TL_SUM, "islands whose compression reached the limit of sweeps")      \
  F(int64_t, rest_sweeps, "", TL_MOST, "most sweeps of the resting solve of an island")            \
  F(int64_t, rest_unfinished, "", TL_SUM, "islands stopped by rest_sweeps above the tolerance")    \
  F(int64_t, rechecks, "", TL_ALIKE, "corrections after the move")                                 \
  F(double, rest_residual_m_s, "m/s", TL_MOST, "largest correction of a velocity, last sweep")     \
  F(double, overlap_m, "m", TL_MOST, "deepest overlap of two grains")                              \
  F(double, overlap_share, "1", TL_MOST,                                                           \
    "deepest overlap of two grains over the smaller bounding radius")                              \
  F(double, boundary_overlap_m, "m", TL_MOST, "deepest overlap of a grain and a boundary")         \
  F(double, boundary_overlap_share, "1", TL_MOST, "the same over the grain's radius")              \
  EXACT(double, kinetic_J, "J", TL_EXACT_SUM,                                                      \
        "kinetic energy at the end of the step; by penalty at its start, between the half steps; " \
        "by "                                                                                      \
        "nonsmooth at its start")                                                                  \
  F(double, speed_max_m_s, "m/s", TL_MOST, "bound of the surfaces' speed: |v| + r |omega|")        \
  EXACT(double, work_stored_J, "J", TL_EXACT_SUM, "ETM: normal work stored in the step")           \
  EXACT(double, work_released_J, "J", TL_EXACT_SUM, "ETM: normal work released in the step")       \
  EXACT(double, wall_work_J, "J", TL_EXACT_SUM, "done by moving boundaries on grains in the step") \
  F(int64_t, outside, "", TL_SUM, "owned bodies flagged TL_BODY_OUTSIDE")                          \
  F(int64_t, net_bonds, "", TL_SUM, "bonds of nets that hold")                                     \
  F(int64_t, net_broken, "", TL_SUM, "bonds of nets that broke in this step")                      \
  EXACT(double, net_elastic_J, "J", TL_EXACT_SUM,                                                  \
        "held by bonds at the end of the step; by penalty, as its other energies, at the start")   \
  EXACT(double, net_elastic_end_J, "J", TL_EXACT_SUM, "held by bonds at the end of the step")      \
  EXACT(double, net_damping_J, "J", TL_EXACT_SUM, "taken by the bonds' dampers in the step")       \
  EXACT(double, net_pressure_J, "J", TL_EXACT_SUM, "done by the nets' pressure in the step")       \
  EXACT(double, net_held_J, "J", TL_EXACT_SUM, "done by holders on rows of nets that they carry")  \
  EXACT(double, guide_N, "N", TL_EXACT_SUM,                                                        \
        "contact force on guided bodies along their axes, at the start of the step")               \
  EXACT(double, boundary_N, "N", TL_EXACT_SUM, "sum of the normal forces on boundaries, likewise") \
  F(int64_t, asleep, "", TL_SUM, "bodies that sleep")                                              \
  EXACT(double, sleep_J, "J", TL_EXACT_SUM, "kinetic energy of bodies that fell asleep")           \
  F(int64_t, embedded, "", TL_SUM, "owned bodies flagged TL_BODY_EMBEDDED")                        \
  F(int64_t, unresolved, "", TL_SUM, "flagged TL_BODY_UNRESOLVED in this step")                    \
  F(int64_t, node_tests, "", TL_SUM, "nodes tested by the contact search")                         \
  F(int64_t, lookups, "", TL_SUM, "distances looked up by the contact search")                     \
  F(int64_t, node_lists, "", TL_SUM, "node lists made anew by the contact search")                 \
  F(int64_t, touching, "", TL_SUM, "penalty: points in touch")                                     \
  F(int64_t, sliding, "", TL_SUM, "penalty: points at Coulomb's limit")                            \
  F(int64_t, capped, "", TL_SUM, "penalty: points deeper than the cap")                            \
  EXACT(double, elastic_J, "J", TL_EXACT_SUM, "penalty: held by the contacts, start of the step")  \
  EXACT(double, slip_J, "J", TL_EXACT_SUM, "penalty: taken by friction in the step")               \
  EXACT(double, viscous_J, "J", TL_EXACT_SUM, "penalty: taken by contact damping in the step")     \
  F(int64_t, whole, "", TL_ALIKE,                                                                  \
    "1: losses and works of the step follow the energies of its start, and viscous_J has what "    \
    "contacts store; 0: they lie half before and half after; 2: they are not known, as by "        \
    "impulses")                                                                                    \
  EXACT(double, impact_J, "J", TL_EXACT_SUM, "nonsmooth: taken by impacts along their normals")    \
  F(int64_t, impact_sweeps, "", TL_MOST, "nonsmooth: most iterations of an island's impact stage") \
  F(int64_t, unconverged, "", TL_SUM,                                                              \
    "nonsmooth: stages of islands that ended at their limit of iterations above the tolerance")    \
  F(double, unconverged_m_s, "m/s", TL_MOST, "nonsmooth: largest residual of these")               \
  F(double, unconverged_fraction, "1", TL_MOST,                                                    \
    "nonsmooth: the same over the velocity that the forces give in a step, in the impact stage "   \
    "over that of the fastest impact")                                                             \
  EXACT(double, merge_J, "J", TL_EXACT_SUM,                                                        \
        "reduction: motion lost where bodies merged in the step")                                  \
  EXACT(double, anchor_x_N_s, "N s", TL_EXACT_SUM,                                                 \
        "reduction: impulse of boundaries and fixed bodies on what they take along, beyond the "   \
        "contacts that are solved, x")                                                             \
  EXACT(double, anchor_y_N_s, "N s", TL_EXACT_SUM, "the same, y")                                  \
  EXACT(double, anchor_z_N_s, "N s", TL_EXACT_SUM, "the same, z")                                  \
  F(int64_t, aggregates, "", TL_SUM, "reduction: aggregates at the end of the step")               \
  F(int64_t, merged, "", TL_SUM, "reduction: bodies in them")                                      \
  F(int64_t, units, "", TL_SUM, "reduction: bodies and aggregates that move for themselves")       \
  F(int64_t, visits, "", TL_SUM, "nonsmooth: contacts times iterations, of both stages")           \
  F(int64_t, trial_visits, "", TL_SUM, "reduction: the same of the solve in the background")       \
  F(int64_t, merges, "", TL_SUM, "reduction: bodies that became part of an aggregate")             \
  F(int64_t, splits, "", TL_SUM, "reduction: bodies that were split off")                          \
  F(double, reduction_s, "s", TL_OWN,                                                              \
    "wall clock: merging, splitting, the solve in the background")                                 \
  EXACT(double, drag_J, "J", TL_EXACT_SUM, "taken by global damping in the step")                  \
  F(double, stable_step_s, "s", TL_LEAST, "penalty: 2/omega of the stiffest body as it stands")    \
  EXACT(double, resultant_N, "N", TL_EXACT_SUM,                                                    \
        "penalty: sum over moving bodies of the force that accelerates them")                      \
  EXACT(double, contact_N, "N", TL_EXACT_SUM, "penalty: sum over `contacts` of their forces")      \
  F(int64_t, moving, "", TL_SUM, "bodies neither frozen nor guided")                               \
  F(int64_t, guided, "", TL_SUM, "bodies on joints or in a guide that are not frozen")             \
  EXACT(double, potential_J, "J", TL_EXACT_SUM,                                                    \
        "-m g.x of all that is not frozen, start of the step")                                     \
  EXACT(double, half_step_J, "J", TL_EXACT_SUM,                                                    \
        "nonsmooth: potential energy half a step before that, where velocities stand, less "       \
        "potential_J")                                                                             \
  F(double, detect_cpu_s, "s", TL_OWN, "CPU time of all threads in the contact search")            \
  F(double, detect_s, "s", TL_OWN, "wall clock: contact search")                                   \
  F(double, etm_s, "s", TL_OWN, "wall clock: collisions")                                          \
  F(double, rest_s, "s", TL_OWN, "wall clock: resting contacts and overlap")                       \
  F(double, other_s, "s", TL_OWN, "wall clock: the rest of the step")

#define F(type, name, ...) type name;
typedef struct TlStepReport {
  TL_STEP_REPORT_LIST(F, F)
} TlStepReport;
#undef F
extern const TlRecord tl_step_report_record;

/* This rank's (or thread's) part of the report's exact sums, in the list's order. */
#define NONE(...)
#define EXACT(type, name, ...) TlExact name;
typedef struct TlStepSums {
  TL_STEP_REPORT_LIST(NONE, EXACT)
} TlStepSums;
#undef NONE
#undef EXACT

/* What steps of one model work with; never part of state. */
typedef struct TlWorkspace TlWorkspace;
/* The model must outlive it. Release with tl_workspace_free. */
TlStatus tl_workspace_new(TlWorkspace **workspace, const TlModel *model);
void tl_workspace_free(TlWorkspace *workspace); /* NULL: nothing */
/* As it was when it was made: before it serves another state than the one it served last. */
void tl_workspace_reset(TlWorkspace *workspace);
/* Watch the impulses of the steps to come (NULL: no more); borrowed. For studies on one thread. */
void tl_workspace_trace(TlWorkspace *workspace, const TlCollisionTrace *trace);

/* Where the problem of the continuous stage of each step of the nonsmooth method goes before it is solved, from the
 * next step on; take NULL: nowhere. Its failure is the step's. */
struct TlNsProblem;
typedef struct TlProblemSink {
  TlStatus (*take)(void *context, const struct TlNsProblem *problem);
  void *context;
} TlProblemSink;
void tl_workspace_problems(TlWorkspace *workspace, TlProblemSink sink);

/* What phases cost from the next step on (solve/audit.h); borrowed; NULL: no more. */
struct TlAudit;
void tl_workspace_audit(TlWorkspace *workspace, struct TlAudit *audit);

/* From the next step on: note the forces of bonds, too, for tl_step_constraints (or do not, as when it
 * is new): there may be many. */
void tl_workspace_keep_bonds(TlWorkspace *workspace, bool keep);

/* Fill the derived fields of all local bodies (owned and ghosts), loading shapes as needed.
 * Collective, with one exchange: the largest speed of all ranks enters the reach. On several ranks
 * call it once before each step, before ghosts are chosen, and change no body from then until the
 * step; the step fills in the ghosts' fields without a further exchange. On one rank (sync NULL)
 * the step does all of this itself. */
TlStatus tl_step_refresh(const TlModel *model, TlState *state, TlWorkspace *workspace,
                         const TlSync *sync);

/* Would the method refuse to step these owned bodies on so many ranks? Then the failure that the step would give, so
 * that it can be had before anything is written. Fills their derived fields. Each rank for itself.
 */
TlStatus tl_step_check(const TlModel *model, TlState *state, TlWorkspace *workspace, int ranks);

/* The longest step that is safe for the owned bodies (after a refresh); INFINITY: any. */
double tl_step_longest(const TlModel *model, const TlState *state);

/* One step of the owned bodies; afterwards the ghosts are stale. TL_ELIMIT names body and step when
 * a velocity is not finite; TL_EUSAGE: controls that make no sense. After a failure the state is
 * valid memory and no more. sync (NULL: one rank) and report may be NULL. Collective. */
TlStatus tl_step(const TlModel *model, TlState *state, const TlControls *controls,
                 TlWorkspace *workspace, const TlSync *sync, TlStepReport *report);

/* A grain flagged TL_BODY_EMBEDDED or (unresolved) TL_BODY_UNRESOLVED in the last step, and what it
 * lies in or is held by. */
typedef struct TlProblemRow {
  int64_t grain, avatar;
  TlVec3 position_m;           /* at the start of the step */
  int64_t other, other_avatar; /* other < 0: boundary -1 - other */
  double overlap_m, fraction;  /* fraction of the smaller radius */
  int32_t steps;               /* on end */
  bool inside;                 /* the centre of one lies inside the other */
  bool unresolved;
} TlProblemRow;
/* Those of this rank's bodies; borrowed, valid until the workspace's next step. */
const TlProblemRow *tl_step_problem_rows(const TlWorkspace *workspace, int64_t *count);

/* Contact points of the last step, those with an impulse whose lower id (grain pairs) or grain
 * (boundaries) this rank owns, in fresh memory (tl_free). Valid until bodies move between ranks. */
TlStatus tl_step_contacts(const TlModel *model, const TlState *state, const TlWorkspace *workspace,
                          TlContactRow **rows, int64_t *count);

/* Force and moment of each constraint in the last step whose low body this rank owned, in fresh memory
 * (tl_free), by kind and key: joints, and bonds where the workspace keeps them. None of a body that
 * is frozen, and none of a bond that broke. */
TlStatus tl_step_constraints(const TlWorkspace *workspace, TlConstraintRow **rows, int64_t *count);

#endif
