/* The model of a simulation: what stays the same while a run lasts. Time step, gravity, materials
 * and the laws of their pairs, the method and its options, options of the contact search, shapes,
 * boundaries and how they are driven, nets.
 *
 * One model serves many states (state.h), one after another. Shapes are loaded into it when a state
 * first asks for them, so that two threads must not step with one model at the same time; apart from
 * that no step changes it.
 */
#ifndef TL_SOLVE_MODEL_H
#define TL_SOLVE_MODEL_H

#include "model/boundary.h"
#include "model/closed.h"
#include "solve/methods.h"
#include "model/net.h"
#include "contact/search.h"
#include "model/shapes.h"
#include "shape/avatar.h"

typedef enum TlEtmOrder {
  TL_ORDER_WEIGHTED = 0, /* key m1 m2/(m1+m2) u_n (Tan 2024 4.3) */
  TL_ORDER_PLAIN         /* key u_n */
} TlEtmOrder;
typedef enum TlRest {
  TL_REST_GAUSS_SEIDEL = 0, /* departs from Tan 2024; comes to rest */
  TL_REST_ETM,              /* ETM alone, after gravity; rattles */
  TL_REST_EXTRAPOLATED      /* Gauss-Seidel with steps beyond sweeps, of the position rule, too */
} TlRest;

typedef enum TlFrictionDirection {
  TL_FRICTION_SLIDING = 0, /* against the sliding velocity (push.h) */
  TL_FRICTION_TANG         /* along the trial impulse (Tang 2014 Eqs. 51-55) */
} TlFrictionDirection;

/* Of the methods by impulses. */
typedef struct TlImpulseOptions {
  double impact_threshold_m_s; /* restitution is 0 below this approach speed; < 0: 4 g dt */
  TlEtmOrder order;
  TlRest rest;
  TlFrictionDirection friction_direction;
  int increments;        /* K: steps of the start velocity, 20-30 */
  int max_rounds;        /* compression-separation rounds before e = 0, 40 */
  double similar;        /* beta of Tan 2024 Alg. 1, for TL_ETM_PRIORITY, 0.01-0.05 */
  double tolerance;      /* ETM: approach speed taken as none, as a fraction of g dt, 5e-2 */
  double rest_tolerance; /* resting solve: change of velocity in the last sweep, fraction of g dt,
                            1e-3: at 1e-2 a sliding block keeps 2.5% too little friction */
  int rest_sweeps;       /* most Gauss-Seidel sweeps a step, 20 */
  int position_sweeps;   /* most sweeps of the position rule, 50 */
  double position_rate;  /* fraction of the overlap undone in a step, 0.2 */
  double
      embedded_fraction; /* overlap over the smaller radius above which a pair is looked at, 0.1 */
  int problem_steps;     /* consecutive steps that deep before a grain is embedded, or unresolved
                            before it is named (step_problems.c), 50 */
  double slop;           /* overlap left alone, as a fraction of the radius, 1e-3 */
  double sleep_speed; /* bodies at rest are slower than this times g dt (sleep.h); 0: none sleeps */
  double sleep_after; /* and were for this times sqrt(r/g) before they fall asleep */
  bool deterministic; /* no: fewer messages between ranks, whose number then decides (etm.h) */
} TlImpulseOptions;

/* What a model is made from. Start from tl_solver_defaults(). 0 < step_s; everything SI. */
typedef struct TlSolverConfig {
  double step_s;
  TlVec3 gravity_m_s2;
  double density_kg_m3;         /* of materials that have none of their own */
  const TlMaterials *materials; /* with their pair laws; borrowed until the model is made, which
                                   checks and copies them */
  double damping_per_s; /* xi of Tan 2024 Eqs. 47-49, where nobody controls it; 0 <= xi dt <= 1 */
  TlMethod method;
  TlSearchOptions search;
  TlImpulseOptions impulses;
/* The options that belong to one method. */
#define S(id, key, section, type, ...) type key;
  TL_METHOD_SECTIONS(S)
#undef S
} TlSolverConfig;

TlSolverConfig tl_solver_defaults(void);

/* Loads avatars on demand; the avatar stays valid as long as the model. NULL: a message is set. */
typedef struct TlAvatarSource {
  void *ctx;
  const TlAvatar *(*get)(void *ctx, int64_t avatar_id);
} TlAvatarSource;

typedef struct TlModel {
  double step_s;
  TlVec3 gravity_m_s2;
  double damping_per_s;  /* what controls start with (controls.h) */
  TlMaterials materials; /* owned */
  TlMethod method;
  TlSearchOptions search;
  TlImpulseOptions impulses;
#define S(id, key, section, type, ...) type key;
  TL_METHOD_SECTIONS(S)
#undef S
  TlBoundary *boundary; /* owned; `place` of a driven one is the workspace's to fill */
  int boundary_count;
  TlNet *nets; /* owned; the pressure on them is a control */
  int net_count;
  TlShapes *shapes; /* owned; grows on demand */
  TlAvatarSource source;
} TlModel;

/* TL_EUSAGE when a value of config or of a surface is out of range. boundaries are copied; what
 * they point to is borrowed for the model's life. Release with tl_model_free. */
TlStatus tl_model_new(TlModel **model, const TlSolverConfig *config, TlAvatarSource source,
                      const TlBoundary *boundaries, int boundary_count);
void tl_model_free(TlModel *model); /* NULL: nothing */

/* A model that differs from another in its materials and in what its boundaries are made of, and
 * borrows shapes and nets from it; the other one must outlive it and know all shapes already. Release with
 * tl_model_variant_free. */
TlStatus tl_model_variant(TlModel **variant, const TlModel *of);
/* The materials of config in place of those the variant has, checked as tl_model_new does; between
 * two states. */
TlStatus tl_model_variant_materials(TlModel *variant, const TlSolverConfig *config);
/* What a boundary of the variant is made of, in place of what that of the other model is: of the same
 * kind. Before there is a workspace for the variant. */
void tl_model_variant_boundary(TlModel *variant, int boundary, const void *data);
void tl_model_variant_free(TlModel *variant); /* NULL: nothing */

/* The parts that follow belong to setting up: before anything steps with the model. */

/* A closed form (closed.h: sphere, box, cylinder) with kind->size_count sizes as the shape of this
 * avatar id, in place of a loaded avatar. TL_EINPUT: a size that makes no sense, an id that is
 * taken. */
TlStatus tl_model_add_closed(TlModel *model, int64_t avatar_id, const TlClosedKind *kind,
                             const double *size);
static inline TlStatus tl_model_add_sphere(TlModel *model, int64_t avatar_id, double radius_m) {
  return tl_model_add_closed(model, avatar_id, &tl_closed_sphere, &radius_m);
}

/* Nets among the bodies (membrane.h); copied. Once. TL_EUSAGE when a net makes no sense or, of a
 * method that steps bonds by their springs, the step is not below its stable one. */
TlStatus tl_model_set_nets(TlModel *model, const TlNet *nets, int count);

/* The shape of this avatar id, loaded if need be. */
TlStatus tl_model_shape(const TlModel *model, int64_t avatar_id, const TlShape **shape);

#endif
