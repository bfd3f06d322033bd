/* Bodies on joints with the world (joints.h) in the step by impulses: a platen on its piston.
 *
 * A driven body has no inverse mass: contacts find it moving as it is driven. A body under a load has
 * its own, and neither has inverse inertia unless it tilts. What the solve moves a loaded body beside its
 * axis is taken away again at its end, so within a step its guide yields to friction.
 */
#ifndef TL_SOLVE_STEP_GUIDES_H
#define TL_SOLVE_STEP_GUIDES_H

#include "solve/joints.h"
#include "solve/motion.h"
#include "solve/step_common.h"

typedef struct TlGuide {
  int64_t body;
  TlJoint joint;
  TlVec3 before; /* velocity at the step's start */
} TlGuide;

typedef struct TlGuides {
  TlGuide *guide; /* [count] of the local bodies, ghosts too, in the step's arena */
  int64_t count;
} TlGuides;

/* After tl_motion_start, which set the motion of all bodies: that of the guided ones. */
TlStatus tl_guides_start(const TlStep *step, TlMotion *motion, TlGuides *guides);
/* What their loads do in the step. */
void tl_guides_kick(const TlStep *step, const TlGuides *guides, const TlDynamics *dynamics);
/* As their joints let them move. */
void tl_guides_hold(const TlGuides *guides, const TlDynamics *dynamics);
void tl_guides_hold_push(const TlGuides *guides, const TlDynamics *pseudo);
/* Forces on guided bodies and boundaries and those that accelerate grains, for the report, and what the
 * joints do; after the solve and before the move. Nothing where no body is guided. */
void tl_guides_note(TlStep *step, const TlGuides *guides, const TlMotion *motion,
                    TlStepReport *report);

#endif
