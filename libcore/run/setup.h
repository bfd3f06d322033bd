/* What a study says: one struct, filled through the schema (docs/reference/study.md is made from
 * it). SI. */
#ifndef TL_RUN_SETUP_H
#define TL_RUN_SETUP_H

#include "conf/study.h"
#include "solve/step.h"
#include "solve/solver_setup.h"
#include "run/forest.h"
#include "run/apparatus.h"
#include "run/setup_ensemble.h"
#include "run/setup_joints.h"
#include "run/setup_materials.h"
#include "run/setup_nets.h"
#include "run/setup_release.h"
#include "run/setup_shapes.h"
#include "run/setup_sinks.h"
#include "run/setup_walls.h"

typedef enum TlOutside {
  TL_OUTSIDE_REMOVE = 0, /* taken out of the run */
  TL_OUTSIDE_STOP,       /* frozen where it left */
  TL_OUTSIDE_ERROR       /* the run fails */
} TlOutside;

/* What the positions of a study are coordinates of (run/places.h). */
typedef enum TlCrs {
  TL_CRS_LOCAL = 0, /* the terrain's local frame */
  TL_CRS_TERRAIN    /* the terrain's CRS */
} TlCrs;

typedef struct TlTimeSetup {
  double dt_s, duration_s, frame_every_s, history_every_s;
  int64_t steps;
  bool until_rest, boundary_forces;
  int constraint_forces; /* TlConstraintForces */
  double rest_mass, rest_for_s;
} TlTimeSetup;

typedef struct TlFrameSetup {
  bool contacts;
} TlFrameSetup;

typedef struct TlGrainSetup {
  char *sample, *material;
  TlInts ids;
  TlTexts shapes;
  bool with_border;
  double least_diameter_m, most_diameter_m;
  double grain_scale, density_kg_m3;
  bool as_spheres;
} TlGrainSetup;

typedef struct TlPlaneSetup {
  double point_m[3], normal[3];
  char *material;
} TlPlaneSetup;

typedef struct TlClassSetup {
  int64_t id;
  char *name, *material;
  int ground;          /* TlGroundKind */
  double stems_per_ha; /* < 0: the terrain's */
  TlOldForm own;       /* < 0: contact.boundary_* */
} TlClassSetup;

typedef enum TlTerrainContact {
  TL_TERRAIN_CONTACT_RASTER = 0, /* tl_boundary_terrain */
  TL_TERRAIN_CONTACT_BAND        /* tl_boundary_terrain_band */
} TlTerrainContact;

typedef struct TlTerrainSetup {
  char *name, *material;
  int ground; /* TlGroundKind, where no class says another */
  double ground_shift;
  int contact; /* TlTerrainContact */
  double roughness_m, roughness_spacing_m;
  TlForest forest;
  bool cells;
  TlStudyList classes; /* of TlClassSetup */
} TlTerrainSetup;

typedef struct TlParallelSetup {
  int64_t balance_every_steps;
  double imbalance;
} TlParallelSetup;

typedef struct TlCheckpointSetup {
  int64_t every_steps, keep;
  double every_minutes;
} TlCheckpointSetup;

typedef struct TlSetup {
  bool wants_ensemble; /* set before it is filled: a study without an ensemble is refused */
  char *title, *catalog, *output;
  int64_t seed;
  int outside;
  int crs; /* TlCrs */
  double gravity_m_s2[3], air_kg_m3, air_drag;
  bool free_fall;
  TlTimeSetup time;
  TlFrameSetup frames;
  TlStudyList materials; /* of TlMaterialSetup */
  TlStudyList pairs;     /* of TlPairSetup */
  TlGrainSetup grains;
  TlStudyList shapes; /* of TlShapeSetup */
  TlStudyList bodies; /* of TlBodySetup */
  TlStudyList joints; /* of TlJointSetup */
  TlStudyList nets;   /* of TlNetSetup */
  TlApparatusSection apparatus[TL_APPARATUS_COUNT];
  TlReleaseSetup release;
  TlEnsembleSetup ensemble;
  TlTerrainSetup terrain;
  TlStudyList planes; /* of TlPlaneSetup */
  TlStudyList walls;  /* of TlWallSetup */
  TlStudyList sinks;  /* of TlSinkSetup */
  TlContactSetup contact;
  TlSolverSetup solver;
#define S(id, key, section, ...) section key;
  TL_METHOD_SECTIONS(S)
#undef S
  TlReductionSetup reduction;
  TlProblemSetup problems;
  TlParallelSetup parallel;
  TlCheckpointSetup checkpoint;
} TlSetup;

extern const TlStudySection tl_setup_schema;

/* Fill from the study and check what one key says against another. setup: zeroed by the caller,
 * released with tl_setup_free, also after a failure. Errors as in conf/study.h. */
TlStatus tl_setup_fill(TlSetup *setup, TlStudy *study);
void tl_setup_free(TlSetup *setup);

/* Does the assembly have grains at all, and do some of them come from the catalog? Else the study
 * has only the bodies it places. */
bool tl_setup_draws(const TlSetup *setup);
bool tl_setup_draws_catalog(const TlSetup *setup);

/* Does the terrain, or a class of it, name a kind of ground? */
bool tl_setup_has_ground(const TlSetup *setup);

/* Number of steps, and of steps between frames and history lines (at least 1). */
int64_t tl_setup_steps(const TlSetup *setup);
int64_t tl_setup_every(const TlSetup *setup, double every_s);

/* The method that runs, and what its section of the study says for the whole run. */
const TlMethodKind *tl_setup_method(const TlSetup *setup);
TlMethodChoice tl_setup_choice(const TlSetup *setup);
/* The key that gives the length of a step: dt_s of the method's section, where it is given, else
 * "time.dt_s". */
typedef struct TlStepKey {
  char path[40];
} TlStepKey;
TlStepKey tl_setup_step_key(const TlSetup *setup);
/* With density and gravity as they are moved. */
TlSolverConfig tl_setup_solver(const TlSetup *setup);

static inline TlVec3 tl_vec3_of(const double x[3]) {
  return tl_vec3(x[0], x[1], x[2]);
}

#endif
