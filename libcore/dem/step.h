/* One time step of impulse-based LS-DEM.
 *
 * Sources: Tan 2024 sections 2-4, Tang 2014, with the corrections of docs/theory/step.md. The order
 * was picked because it comes to rest at large steps: detect at start poses; energy tracking (ETM)
 * on the velocities before gravity; gravity and global damping; resting contacts by warm-started
 * projected Gauss-Seidel; rigid boundaries by the hybrid scheme; overlap that is already there by
 * pseudo-velocities that move positions only; move; gaps looked at again where the grains ended.
 *
 * Ranks: bodies hold this rank's owned bodies and, as ghosts, at least every body b of other ranks
 * for which an owned a has |x_a - x_b| <= reach_a + reach_b (reach is filled by tl_solver_refresh).
 * Ghosts hold their owner's state of this moment. A pair with a ghost is computed on both ranks
 * from the same bits; the result does not depend, in any bit of state, on the number of ranks or
 * threads nor on the order of the bodies. Sums in the report are in rank order.
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
  double density_kg_m3;
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

typedef struct TlStepReport { /* over all ranks */
  int64_t step;
  int64_t pairs, contacts;         /* pairs tested node by node; contact points kept */
  int64_t islands, largest_island; /* bodies in the largest island's part on one rank */
  int64_t impulses;                /* ETM impulses */
  int64_t rounds;                  /* most ETM rounds of an island */
  int64_t zero_finishes;           /* islands finished with e = 0 after max_rounds */
  int64_t unfinished;              /* islands whose compression hit the sweep cap */
  int64_t rest_sweeps;             /* most resting sweeps of an island */
  int64_t rest_unfinished;         /* islands stopped by rest_sweeps above the tolerance */
  int64_t rechecks;                /* corrections after the move (step_recheck.c) */
  double rest_residual_m_s;        /* largest velocity correction of the last sweep */
  double overlap_m, overlap_share; /* deepest grain-grain overlap, and over the smaller radius */
  double boundary_overlap_m, boundary_overlap_share;
  double kinetic_J;                      /* at the end of the step */
  double speed_max_m_s;                  /* bound of the surface speed: |v| + r |omega| */
  double work_stored_J, work_released_J; /* ETM normal work of the step */
  double wall_work_J; /* what moving boundaries did on the grains in the step: impulse times their
                         velocity; kinetic and potential energy are no balance without it */
  int64_t outside;    /* owned bodies flagged TL_BODY_OUTSIDE */
  int64_t net_bonds, net_broken; /* bonds of nets that hold; that broke in this step */
  double net_elastic_J;          /* held by the bonds at the end of the step; by penalty, as all its
                                    energies, at the start */
  TlExact net_elastic;           /* this rank's part of it, for a sum without order */
  double net_damping_J, net_pressure_J,
      net_held_J;    /* in the step: taken by the bonds' dampers; done
            by nets' pressure, and by holders on rows they carry */
  double guide_N;    /* contact force on guided bodies along their axes, at the start of the step */
  double boundary_N; /* sum of the normal forces on boundaries, likewise */
  int64_t poor;      /* owned bodies flagged TL_BODY_POOR */
  int64_t jammed;    /* flagged TL_BODY_JAMMED in this step */
  int64_t node_tests, lookups, node_lists; /* counters of the contact search; lists made anew */
  /* of the penalty method (step_penalty.c); kinetic_J is then that of the step's start, between
   * the half steps, where elastic_J is taken too */
  int64_t touching, sliding, capped; /* points; beyond Coulomb's cone; deeper than the cap */
  double elastic_J;                  /* held by the contacts' springs at the start of the step */
  double slip_J, viscous_J, drag_J;  /* taken in the step by friction, contact and global damping */
  double stable_step_s;              /* 2/omega of the stiffest body as it stands */
  double resultant_N, contact_N;     /* sums over moving bodies of the force that accelerates them,
                                        and over `contacts` of theirs */
  int64_t moving;                    /* bodies neither frozen nor guided */
  double potential_J;                /* -m g.x of all that moves freely or under a load, at the
                                        start of the step */
  double detect_cpu_s;               /* CPU of all threads in the contact search, this rank */
  double detect_s, etm_s, rest_s, other_s; /* wall clock of this rank */
} TlStepReport;

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
 * Collective: the largest speed of all ranks enters the reach. Call it after the set-up and after
 * bodies moved between ranks, before ghosts are chosen; the step calls it again. */
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
