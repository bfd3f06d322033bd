/* One time step of impulse-based LS-DEM.
 *
 * Sources: Tan 2024 sections 2-4, Tang 2014, with the corrections of docs/theory/step.md. The order
 * was picked because it comes to rest at large steps: detect at start poses; energy tracking (ETM)
 * on the velocities before gravity; gravity and global damping; resting contacts by warm-started
 * projected Gauss-Seidel; rigid boundaries by the hybrid scheme; overlap that is already there by
 * pseudo-velocities that move positions only; move; gaps looked at again where the grains ended.
 *
 * Ranks: bodies hold this rank's owned bodies and, as ghosts, at least every body b of other ranks
 * for which an owned a has |x_a - x_b| <= halo_a + halo_b (halo, filled by tl_solver_refresh, covers
 * the reach of all colliders of a body).
 * Ghosts hold their owner's state of this moment. A pair with a ghost is computed on both ranks
 * from the same bits; the result does not depend, in any bit of state, on the number of ranks or
 * threads nor on the order of the bodies.
 */
#ifndef TL_DEM_STEP_H
#define TL_DEM_STEP_H

#include "dem/bodies.h"
#include "dem/boundary.h"
#include "dem/methods.h"
#include "dem/closed.h"
#include "dem/guide.h"
#include "dem/membrane.h"
#include "dem/penalty.h"
#include "dem/sync.h"
#include "shape/avatar.h"

typedef enum TlEtmOrder {
  TL_ORDER_WEIGHTED = 0, /* key m1 m2/(m1+m2) u_n (Tan 2024 4.3) */
  TL_ORDER_PLAIN         /* key u_n */
} TlEtmOrder;
typedef enum TlRest {
  TL_REST_GAUSS_SEIDEL = 0, /* departs from Tan 2024; comes to rest */
  TL_REST_ETM               /* ETM alone, after gravity; rattles */
} TlRest;
typedef enum TlSides {
  TL_SIDES_BOTH = 0, /* nodes of either grain against the other's phi */
  TL_SIDES_LOWER     /* nodes of the lower id only, as in Tan 2024 */
} TlSides;

typedef enum TlEdges {
  TL_EDGES_NODES = 0, /* contact points are nodes */
  TL_EDGES_REFINE     /* and the closest places between them (edges.h) */
} TlEdges;

typedef enum TlSearch {
  TL_SEARCH_NEAR = 0, /* node lists kept over steps */
  TL_SEARCH_TREE,     /* each step through the tree of spheres */
  TL_SEARCH_ALL       /* every node: the oracle; the same state, bit for bit */
} TlSearch;

/* Start from tl_solver_defaults(). 0 < step_s; angles none; everything SI. */
typedef struct TlSolverConfig {
  double step_s;
  TlVec3 gravity_m_s2;
  double density_kg_m3; /* of materials that have none of their own */
  /* Pair laws of all materials, borrowed until the solver is made, which checks and copies them.
   * NULL: grains and boundaries by the short form that follows, and penalty.grain, boundary. */
  const TlMaterials *materials;
  double friction, restitution, tangential_restitution; /* grain on grain */
  double boundary_friction, boundary_restitution, boundary_tangential_restitution;
  double damping_per_s;        /* xi of Tan 2024 Eqs. 47-49; 0 <= xi dt <= 1 */
  double impact_threshold_m_s; /* restitution is 0 below this approach speed; < 0: 4 g dt */
  TlMethod method;
  TlEtmOrder order;
  TlRest rest;
  TlSides sides;
  TlEdges edges;
  TlSearch search;
  int increments;        /* K: steps of the start velocity, 20-30 */
  int max_rounds;        /* compression-separation rounds before e = 0, 40 */
  double similar;        /* beta of Tan 2024 Alg. 1, for TL_ETM_PRIORITY, 0.01-0.05 */
  double tolerance;      /* ETM: approach speed taken as none, as a share of g dt, 5e-2 */
  double rest_tolerance; /* resting solve: change of velocity in the last sweep, share of g dt,
                            1e-3: at 1e-2 a sliding block keeps 2.5% too little friction */
  int rest_sweeps;       /* most Gauss-Seidel sweeps a step, 20 */
  int position_sweeps;   /* most sweeps of the position rule, 50 */
  double position_rate;  /* share of the overlap undone in a step, 0.2 */
  double poor_share;     /* overlap over the smaller radius that a sound pair does not keep, 0.1 */
  int poor_steps;        /* consecutive steps that deep before the pair is poor, or unresolved
                            before it is named (step_poor.c), 50 */
  double slop;           /* overlap left alone, as a share of the radius, 1e-3 */
  TlPenalty penalty;     /* of TL_PENALTY */
} TlSolverConfig;

TlSolverConfig tl_solver_defaults(void);

/* Loads avatars on demand; the avatar stays valid as long as the solver. NULL: a message is set. */
typedef struct TlAvatarSource {
  void *ctx;
  const TlAvatar *(*get)(void *ctx, int64_t avatar_id);
} TlAvatarSource;

/* What a step tells, over all ranks: type, name, unit, how the ranks' values become one
 * (model/record.h), meaning. Reals that are summed stand under EXACT: methods add to their exact
 * sums (TlStepSums), so that neither ranks nor threads change a bit of them. */
#define TL_STEP_REPORT_LIST(F, EXACT)                                                              \
  F(int64_t, step, "", TL_ALIKE, "number of the step, from 1")                                     \
  F(int64_t, pairs, "", TL_SUM, "pairs tested node by node")                                       \
  F(int64_t, contacts, "", TL_SUM, "contact points kept")                                          \
  F(int64_t, islands, "", TL_SUM, "islands of bodies in contact")                                  \
  F(int64_t, largest_island, "", TL_MOST, "bodies in the largest island's part on one rank")       \
  F(int64_t, impulses, "", TL_SUM, "impulses of energy tracking (ETM)")                            \
  F(int64_t, rounds, "", TL_MOST, "most ETM rounds of an island")                                  \
  F(int64_t, zero_finishes, "", TL_SUM, "islands finished with restitution 0 after max_rounds")    \
  F(int64_t, unfinished, "", TL_SUM, "islands whose compression reached the limit of sweeps")      \
  F(int64_t, rest_sweeps, "", TL_MOST, "most sweeps of the resting solve of an island")            \
  F(int64_t, rest_unfinished, "", TL_SUM, "islands stopped by rest_sweeps above the tolerance")    \
  F(int64_t, rechecks, "", TL_ALIKE, "corrections after the move")                                 \
  F(double, rest_residual_m_s, "m/s", TL_MOST, "largest correction of a velocity, last sweep")     \
  F(double, overlap_m, "m", TL_MOST, "deepest overlap of two grains")                              \
  F(double, overlap_share, "1", TL_MOST, "deepest overlap of two grains over the smaller radius")  \
  F(double, boundary_overlap_m, "m", TL_MOST, "deepest overlap of a grain and a boundary")         \
  F(double, boundary_overlap_share, "1", TL_MOST, "the same over the grain's radius")              \
  EXACT(double, kinetic_J, "J", TL_EXACT_SUM,                                                      \
        "kinetic energy at the end of the step; by penalty at its start, between the half steps")  \
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
  F(int64_t, poor, "", TL_SUM, "owned bodies flagged TL_BODY_POOR")                                \
  F(int64_t, jammed, "", TL_SUM, "flagged TL_BODY_JAMMED in this step")                            \
  F(int64_t, node_tests, "", TL_SUM, "nodes tested by the contact search")                         \
  F(int64_t, lookups, "", TL_SUM, "distances looked up by the contact search")                     \
  F(int64_t, node_lists, "", TL_SUM, "node lists made anew by the contact search")                 \
  F(int64_t, touching, "", TL_SUM, "penalty: points in touch")                                     \
  F(int64_t, sliding, "", TL_SUM, "penalty: points at Coulomb's limit")                            \
  F(int64_t, capped, "", TL_SUM, "penalty: points deeper than the cap")                            \
  EXACT(double, elastic_J, "J", TL_EXACT_SUM, "penalty: held by the contacts, start of the step")  \
  EXACT(double, slip_J, "J", TL_EXACT_SUM, "penalty: taken by friction in the step")               \
  EXACT(double, viscous_J, "J", TL_EXACT_SUM, "penalty: taken by contact damping in the step")     \
  F(double, drag_J, "J", TL_ALIKE, "penalty: taken by global damping in the step")                 \
  F(double, stable_step_s, "s", TL_LEAST, "penalty: 2/omega of the stiffest body as it stands")    \
  EXACT(double, resultant_N, "N", TL_EXACT_SUM,                                                    \
        "penalty: sum over moving bodies of the force that accelerates them")                      \
  EXACT(double, contact_N, "N", TL_EXACT_SUM, "penalty: sum over `contacts` of their forces")      \
  F(int64_t, moving, "", TL_SUM, "penalty: bodies neither frozen nor guided")                      \
  EXACT(double, potential_J, "J", TL_EXACT_SUM,                                                    \
        "penalty: -m g.x of all that moves freely or under a load, start of the step")             \
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

typedef struct TlSolver TlSolver;

/* TL_EUSAGE when a value of config or of a surface is out of range. boundaries are copied; what
 * they point to, and sync (NULL: one rank), is borrowed for the solver's life. A driven boundary
 * stands where its drive says at the number of steps done. */
TlStatus tl_solver_new(TlSolver **solver, const TlSolverConfig *config, TlAvatarSource source,
                       const TlBoundary *boundaries, int boundary_count, const TlSync *sync);
void tl_solver_free(TlSolver *solver);

/* A closed form (closed.h: sphere, box, cylinder) with kind->size_count sizes as the shape of this
 * avatar id, in place of a loaded avatar. TL_EINPUT: a size that makes no sense, an id that is
 * taken. */
TlStatus tl_solver_add_closed(TlSolver *solver, int64_t avatar_id, const TlClosedKind *kind,
                              const double *size);
static inline TlStatus tl_solver_add_sphere(TlSolver *solver, int64_t avatar_id, double radius_m) {
  return tl_solver_add_closed(solver, avatar_id, &tl_closed_sphere, &radius_m);
}

/* Nets among the bodies (membrane.h); copied. Before bodies are refreshed. TL_EUSAGE when a net
 * makes no sense or the step is not below its stable one. */
TlStatus tl_solver_set_nets(TlSolver *solver, const TlNet *nets, int count);

/* Guided bodies (guide.h), for the steps to come; copied. Alike on all ranks. TL_EUSAGE when a
 * guide makes no sense, or the method is by impulses. */
TlStatus tl_solver_set_guides(TlSolver *solver, const TlGuide *guides, int count);

/* Other values for the steps to come, alike on all ranks: friction and global damping between
 * grains; the pressure on net `net`. TL_EUSAGE when one makes no sense. */
TlStatus tl_solver_set_friction(TlSolver *solver, double friction);
double tl_solver_friction(const TlSolver *solver); /* between grains, as it is now */
TlStatus tl_solver_set_damping(TlSolver *solver, double damping_per_s);
TlStatus tl_solver_set_pressure(TlSolver *solver, int net, double pressure_Pa);

/* Fill the derived fields of all local bodies (owned and ghosts), loading shapes as needed.
 * Collective, with one exchange: the largest speed of all ranks enters the reach. On several ranks
 * call it once before each step, before ghosts are chosen, and change no body from then until the
 * step; the step fills in the ghosts' fields without a further exchange. On one rank the step does
 * all of this itself. */
TlStatus tl_solver_refresh(TlSolver *solver, TlBodies *bodies);

/* Would the method refuse to step these owned bodies? Then the failure that the step would give, so
 * that it can be had before anything is written. Fills their derived fields. Each rank for itself.
 */
TlStatus tl_solver_check(TlSolver *solver, TlBodies *bodies);

/* The longest step that the penalty method takes for the owned bodies (after a refresh); INFINITY:
 * none of them moves. */
double tl_solver_safe_step(const TlSolver *solver, const TlBodies *bodies);

/* One step of the owned bodies; afterwards the ghosts are stale. TL_ELIMIT names body and step when
 * a velocity is not finite. report may be NULL. */
TlStatus tl_solver_step(TlSolver *solver, TlBodies *bodies, TlStepReport *report);

/* Watch the impulses of the steps to come (NULL: no more); borrowed. For studies on one thread. */
void tl_solver_trace(TlSolver *solver, const TlCollisionTrace *trace);

/* Number of steps done; settable for a restart. */
int64_t tl_solver_steps(const TlSolver *solver);
void tl_solver_set_steps(TlSolver *solver, int64_t steps);

/* A grain flagged TL_BODY_POOR or (unresolved) TL_BODY_JAMMED in the last step, and what it lies in
 * or is held by. */
typedef struct TlPoorRow {
  int64_t grain, avatar;
  TlVec3 position_m;           /* at the start of the step */
  int64_t other, other_avatar; /* other < 0: boundary -1 - other */
  double overlap_m, share;     /* share of the smaller radius */
  int32_t steps;               /* on end */
  bool inside;                 /* the centre of one lies inside the other */
  bool jammed;
} TlPoorRow;
/* Those of this rank's bodies; borrowed, valid until the next step. */
const TlPoorRow *tl_solver_poor(const TlSolver *solver, int64_t *count);

/* A contact point of the last step, for measures. */
typedef struct TlContactRow {
  int64_t low, high;    /* ids; high < 0: boundary -1 - high */
  TlVec3 point, normal; /* normal points to the low id's body */
  double gap_m, friction;
  TlVec3 impulse_N_s; /* on the low id's body over the step */
} TlContactRow;
/* Contacts with an impulse whose lower id (grain pairs) or grain (boundaries) this rank owns, in
 * fresh memory (tl_free). Valid until bodies move between ranks. */
TlStatus tl_solver_contacts(const TlSolver *solver, const TlBodies *bodies, TlContactRow **rows,
                            int64_t *count);

#endif
