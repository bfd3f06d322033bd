/* What the files of the step by impulses share (step.h says who calls whom). */
#ifndef TL_SOLVE_STEP_IMPULSES_H
#define TL_SOLVE_STEP_IMPULSES_H

#include "solve/joints.h"
#include "solve/motion.h"
#include "solve/stages.h"
#include "solve/step_common.h"

/* The step of the methods that resolve collisions by impulses, and its contacts. They differ in
 * `collide` only, and in what they can do with several ranks. */
TlStatus tl_step_by_impulses(TlStep *step, TlStepReport *report);
double tl_step_impulse_reach(const TlModel *model, double speed_max, double radius, double speed);
TlStatus tl_step_impulse_rows(const TlModel *model, const TlBodies *bodies,
                              const TlWorkspace *workspace, TlContactRow **rows, int64_t *count);
/* The same with impulses that come to those of the points: [contacts]; NULL: none. */
TlStatus tl_step_rows_with(const TlModel *model, const TlBodies *bodies,
                           const TlWorkspace *workspace, const TlVec3 *beside, TlContactRow **rows,
                           int64_t *count);
#define TL_BY_IMPULSES(solve)                                                                      \
  .embeds = true, .sleeps = true, .reach = tl_step_impulse_reach, .step = tl_step_by_impulses,     \
  .contact_rows = tl_step_impulse_rows, .memory = TL_IMPULSES, .solves = TL_KIND_BIT(TL_BONDS),    \
  .solves_on_world = TL_JOINT_KINDS, .joints_on_one_rank = true, .collide = solve

/* Gaps looked at again at the end poses, and grains moved apart where they came to lie inside each
 * other; uses the twists that moved them. *passes: corrections made. Collective (step_recheck.c).
 */
TlStatus tl_step_recheck(const TlStep *step, const TlMotion *motion, int64_t *passes);

/* Flag and list the grains that cannot be brought apart; call with fresh contacts (step_problems.c). */
TlStatus tl_step_embedded(const TlStep *step);
/* Flag and list the grains whose collisions ETM gave up again and again; *number: how many now. */
TlStatus tl_step_unresolved(const TlStep *step, int64_t *number);

/* All impulse on body a over the step: ETM and rest (step_contacts.c). */
TlVec3 tl_step_impulse(const TlContact *contact);
/* The resting impulses of this step become the bodies' contact memory. */
TlStatus tl_step_remember(const TlFound *found, TlBodies *bodies);
/* The distance slid and the drag of the owned bodies, from the boundaries that they touched in the step:
 * ds/dt = |v| while one touches, otherwise -decay s (Leine and others 2014, Eq. 47). */
TlStatus tl_step_slip(TlStep *step);

#endif
