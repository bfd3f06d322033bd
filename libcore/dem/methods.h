/* The methods: those that resolve collisions by impulses, which differ in one stage of the same
 * step, and those with a step of their own. A new one is a file with a solve function (etm.h) or a
 * step (step_impl.h) and a line here; studies then know it by its name (solver.method).
 *
 *   enumerator, name in studies, solve, works on one rank only
 *   enumerator, name in studies, step */
#ifndef TL_DEM_METHODS_H
#define TL_DEM_METHODS_H

#include <stdbool.h>

#define TL_COLLISION_METHODS(M)                                                                    \
  M(TL_ETM_LEVEL, "etm-level", tl_etm_level, false)                                                \
  M(TL_ETM_PRIORITY, "etm", tl_etm_priority, true)                                                 \
  M(TL_SQM, "sqm", tl_sqm, false)

#define TL_STEP_METHODS(M) M(TL_PENALTY, "penalty", tl_step_penalty)

typedef enum TlMethod {
#define M(id, name, solve, one_rank) id,
  TL_COLLISION_METHODS(M)
#undef M
#define M(id, name, step) id,
      TL_STEP_METHODS(M)
#undef M
          TL_METHOD_COUNT
} TlMethod;

extern const char tl_method_names[]; /* "|etm-level|etm|sqm|penalty" */
#define TL_METHOD_CHOICES (&tl_method_names[1])

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

bool tl_method_one_rank(TlMethod method);

#endif
