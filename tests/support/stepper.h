/* Everything that one scene of bodies is stepped with, in one place: a model, controls, a workspace,
 * the number of steps. Bodies are the test's own; a stepper borrows them for the length of a call.
 */
#ifndef TL_TESTS_STEPPER_H
#define TL_TESTS_STEPPER_H

#include "base/mem.h"
#include "solve/step.h"

typedef struct Stepper {
  TlModel *model;
  TlControls controls;
  TlWorkspace *work;
  const TlSync *sync;
  int64_t steps;
  int64_t sleep_key;
} Stepper;

static inline void stepper_free(Stepper *stepper) {
  if (!stepper) return;
  tl_workspace_free(stepper->work);
  tl_controls_free(&stepper->controls);
  tl_model_free(stepper->model);
  tl_free(stepper);
}

/* As tl_model_new; sync: NULL, one rank. */
static inline TlStatus stepper_new(Stepper **stepper, const TlSolverConfig *config,
                                   TlAvatarSource source, const TlBoundary *boundaries, int count,
                                   const TlSync *sync) {
  Stepper *r;
  TL_TRY(TL_NEW(r, 1));
  r->sync = sync;
  TlStatus status = tl_model_new(&r->model, config, source, boundaries, count);
  if (status == TL_OK) status = tl_controls_new(&r->controls, r->model);
  if (status == TL_OK) status = tl_workspace_new(&r->work, r->model);
  if (status != TL_OK) stepper_free(r);
  if (status == TL_OK) *stepper = r;
  return status;
}

static inline TlStatus stepper_add_closed(Stepper *stepper, int64_t avatar_id,
                                          const TlClosedKind *kind, const double *size) {
  return tl_model_add_closed(stepper->model, avatar_id, kind, size);
}
static inline TlStatus stepper_add_sphere(Stepper *stepper, int64_t avatar_id, double radius_m) {
  return tl_model_add_sphere(stepper->model, avatar_id, radius_m);
}
/* Other controls stay as they are. */
static inline TlStatus stepper_set_nets(Stepper *stepper, const TlNet *nets, int count) {
  TlControls fresh;
  TL_TRY(tl_model_set_nets(stepper->model, nets, count));
  TL_TRY(tl_controls_new(&fresh, stepper->model));
  tl_free(stepper->controls.pressure_Pa);
  stepper->controls.pressure_Pa = fresh.pressure_Pa;
  stepper->controls.net_count = fresh.net_count;
  return TL_OK;
}
static inline TlStatus stepper_refresh(Stepper *stepper, TlBodies *bodies) {
  TlState state = {*bodies, stepper->steps, stepper->sleep_key};
  TlStatus status = tl_step_refresh(stepper->model, &state, stepper->work, stepper->sync);
  *bodies = state.bodies;
  return status;
}
static inline TlStatus stepper_check(Stepper *stepper, TlBodies *bodies) {
  TlState state = {*bodies, stepper->steps, stepper->sleep_key};
  TlStatus status = tl_step_check(stepper->model, &state, stepper->work, 1);
  *bodies = state.bodies;
  return status;
}
static inline TlStatus stepper_step(Stepper *stepper, TlBodies *bodies, TlStepReport *report) {
  TlState state = {*bodies, stepper->steps, stepper->sleep_key};
  TlStatus status =
      tl_step(stepper->model, &state, &stepper->controls, stepper->work, stepper->sync, report);
  *bodies = state.bodies;
  stepper->steps = state.steps;
  stepper->sleep_key = state.sleep_key;
  return status;
}
static inline TlStatus stepper_contacts(const Stepper *stepper, const TlBodies *bodies,
                                        TlContactRow **rows, int64_t *count) {
  const TlState state = {*bodies, stepper->steps, stepper->sleep_key};
  return tl_step_contacts(stepper->model, &state, stepper->work, rows, count);
}
static inline const TlProblemRow *stepper_problems(const Stepper *stepper, int64_t *count) {
  return tl_step_problem_rows(stepper->work, count);
}
static inline void stepper_trace(Stepper *stepper, const TlCollisionTrace *trace) {
  tl_workspace_trace(stepper->work, trace);
}

#endif
