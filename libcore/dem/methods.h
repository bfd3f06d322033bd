/* The methods that resolve collisions. A new one is a file with a solve function (etm.h) and a line
 * here; studies then know it by its name (solver.method).
 *
 *   enumerator, name in studies, solve, works on one rank only */
#ifndef TL_DEM_METHODS_H
#define TL_DEM_METHODS_H

#include <stdbool.h>

#define TL_COLLISION_METHODS(M)                                                                    \
  M(TL_ETM_LEVEL, "etm-level", tl_etm_level, false)                                                \
  M(TL_ETM_PRIORITY, "etm", tl_etm_priority, true)                                                 \
  M(TL_SQM, "sqm", tl_sqm, false)

typedef enum TlCollisionMethod {
#define M(id, name, solve, one_rank) id,
  TL_COLLISION_METHODS(M)
#undef M
      TL_COLLISION_METHOD_COUNT
} TlCollisionMethod;

extern const char tl_collision_names[]; /* "|etm-level|etm|sqm" */
#define TL_COLLISION_CHOICES (&tl_collision_names[1])

/* Somebody who watches the impulses of a group: called before the first, after each and after the
 * last. One thread only; the group's contacts hold W (contact.h). */
typedef enum TlTracePhase {
  TL_TRACE_START = 0,
  TL_TRACE_COMPRESS,
  TL_TRACE_RELEASE,
  TL_TRACE_END
} TlTracePhase;
struct TlGroup;
struct TlDynamics;
typedef struct TlCollisionTrace {
  void *context;
  void (*note)(void *context, TlTracePhase phase, const struct TlGroup *group,
               const struct TlDynamics *dynamics);
  bool ends_only; /* START and END: to show each impulse, an island's state is copied each time */
} TlCollisionTrace;

bool tl_collision_one_rank(TlCollisionMethod method);

#endif
