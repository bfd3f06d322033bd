/* What a constraint (model/pair_state.h) did to its bodies in a step: force and moment, which measures
 * ask the solver for (solve/step.h). World frame, SI.
 *
 * Sign: on the low body. The high body, or the world, gets the opposite of both, about the same
 * point. What a constraint's drive or load does is part of its force.
 */
#ifndef TL_MODEL_CONSTRAINT_ROW_H
#define TL_MODEL_CONSTRAINT_ROW_H

#include "model/pair_state.h"

typedef struct TlConstraintRow {
  TlPairKind kind;
  TlPairKey key;
  TlVec3 point_m; /* its anchor on the low body, where that was when the force acted: by penalty at
                        the start of the step, by impulses at its end. Of a bond the body's centre */
  TlVec3 force_N; /* mean over the step */
  TlVec3 moment_N_m; /* about that point */
} TlConstraintRow;

#endif
