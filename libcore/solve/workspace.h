/* What a step scribbles on (step.h). Only the step's own files look into it. */
#ifndef TL_SOLVE_WORKSPACE_H
#define TL_SOLVE_WORKSPACE_H

#include "base/mem.h"
#include "solve/audit.h"
#include "solve/detect.h"
#include "solve/islands.h"
#include "solve/membrane.h"
#include "solve/contact_forces.h"
#include "solve/step.h"

/* A collider's shape as it was found; derived fields that agree with it need no second look. */
typedef struct TlKnownShape {
  int64_t avatar_id;
  const TlShape *shape;
} TlKnownShape;

/* Of the sleeping bodies as they lie here (sleep.h). */
typedef struct TlAsleep {
  bool known;
  uint64_t stamp;       /* of the bodies and rows that it is of */
  int32_t *contacts_of; /* [colliders] owned */
  size_t capacity;
  int64_t bodies, contacts; /* that this rank tells of */
  double overlap_m, overlap_share, boundary_overlap_m, boundary_overlap_share;
} TlAsleep;

struct TlWorkspace {
  const TlModel *model;
  TlBoundary *boundary; /* owned; where they are when the step begins: after its move at its end */
  TlBoundary *ahead;    /* owned; at the step's end */
  int64_t placed;       /* number of steps that `boundary` stands for; < 0: none yet */
  TlMaterials laws;     /* owned; the model's pair laws with the friction that controls ask for */
  TlArena arena;        /* of one step; the last step's contacts stay until the next */
  TlNear near;          /* contact lists that outlive a step */
  TlPlaceMemory places; /* lists of threads; what pairs know is in the state */
  TlPoints *points;     /* one a thread */
  size_t point_lists;
  TlManifolds manifolds; /* of the search in hand */
  double speed_max;      /* of all bodies on all ranks, at the last refresh */
  double radius_least;   /* of all colliders on all ranks, likewise */
  bool awake;            /* some movable body is awake on some rank, at the last refresh */
  TlAsleep asleep;
  TlNetMemo *net_memo;
  TlConstraintRow *joint_row; /* [joint_rows] of the last step, in the arena; NULL: none */
  size_t joint_rows;          /* those of the kind 0 were not moved */
  TlFound found;              /* by the methods by impulses */
  TlForceWorkspace forces;    /* of the penalty method */
  TlKnownShape *known;        /* of each collider when it was last looked up */
  size_t known_capacity;
  int64_t unchecked; /* grains whose derived fields were made anew since bodies were last checked */
  TlProblemRow *problem;
  size_t problem_count, problem_capacity;
  int64_t
      *half_lookups; /* of the step, in the arena, a body: what the search cost (tl_scan_charge); */
  int64_t *solve_ns; /* and what the solve did. NULL on one rank */
  TlSolveCost solve_cost, solve_mean; /* of this rank: of the step, and of the last ones */
  const TlCollisionTrace *trace;
  TlProblemSink problems;
  TlAudit *audit; /* borrowed; NULL: none */
};

#endif
