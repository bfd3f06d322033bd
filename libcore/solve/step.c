#include "solve/step.h"

#include "solve/joints.h"
#include "solve/step_common.h"

#include <math.h>
#include <stdlib.h>

TlStatus tl_step_check(const TlModel *model, TlState *state, TlWorkspace *work, int ranks) {
  const TlStep step = {.model = model, .state = state, .work = work};
  const TlMethodKind *method = tl_method(model->method);
  if (ranks > 1 && method->joints_on_one_rank && tl_joints_count(&state->bodies.pairs) > 0)
    return tl_fail(
        TL_EUSAGE,
        "the method %s moves bodies on joints, such as the platen of a cell, on one rank, with "
        "any number of threads; this run has %d ranks",
        tl_method_name(model->method), ranks);
  TL_TRY(tl_step_derive(&step));
  TL_TRY(tl_step_check_constraints(&step));
  return tl_step_check_bodies(&step);
}

double tl_step_longest(const TlModel *model, const TlState *state) {
  const TlMethodKind *method = tl_method(model->method);
  return method->safe_step ? method->safe_step(model, &state->bodies) : INFINITY;
}

/* The pair laws with the friction that controls ask for: the model's own where they ask for none. */
static TlStatus laws_of(TlStep *step) {
  const TlControls *c = step->controls;
  const TlMaterials *own = &step->model->materials;
  TlMaterials *laws = &step->work->laws;
  step->materials = own;
  if (c->friction_count == 0) return TL_OK;
  if (!laws->law) TL_TRY(tl_materials_copy(laws, own));
  for (int32_t k = 0; k < own->count * own->count; k++)
    laws->law[k].friction = own->law[k].friction;
  for (size_t k = 0; k < c->friction_count; k++)
    tl_materials_set_friction(laws, c->friction[k].one, c->friction[k].two,
                              c->friction[k].friction);
  step->materials = laws;
  return TL_OK;
}

/* The fresh steps count more, for a front moves on. */
static int64_t mean_of(int64_t before, int64_t now) {
  enum { STEPS = 16 };
  return before == 0 ? now : before + (now - before) / STEPS;
}

static void note_work(const TlStep *s) {
  TlBodies *b = &s->state->bodies;
  TlWorkspace *w = s->work;
  for (int64_t i = 0; i < b->owned; i++) {
    int64_t search = w->half_lookups[i] * (TL_WORK_NS_SEARCH / 2);
    b->work[i] = mean_of(b->work[i], TL_WORK_NS_MOVE + search);
    b->solve_work[i] = mean_of(b->solve_work[i], w->solve_ns[i]);
  }
  TlSolveCost *mean = &w->solve_mean;
  mean->resting_ns = mean_of(mean->resting_ns, w->solve_cost.resting_ns);
  mean->collisions_ns = mean_of(mean->collisions_ns, w->solve_cost.collisions_ns);
}

TlStatus tl_step(const TlModel *model, TlState *state, const TlControls *controls,
                 TlWorkspace *work, const TlSync *sync, TlStepReport *report) {
  TlStepReport r = {0};
  TlStep step = {.model = model, .state = state, .controls = controls, .work = work, .sync = sync};
  TL_TRY(tl_controls_check(controls, model));
  TL_TRY(laws_of(&step));
  tl_audit_enter(work->audit, TL_AUDIT_SEARCH);
  tl_arena_reset(&work->arena);
  work->half_lookups = work->solve_ns = NULL;
  work->solve_cost = (TlSolveCost){0};
  work->joint_row = NULL;
  work->joint_rows = 0;
  tl_net_memo_drop_rows(work->net_memo);
  TL_TRY(tl_method(model->method)->step(&step, &r));
  if (work->half_lookups) note_work(&step);
  tl_bodies_place_colliders(&state->bodies);
  if (report) *report = r;
  return TL_OK;
}

TlStatus tl_step_contacts(const TlModel *model, const TlState *state, const TlWorkspace *work,
                          TlContactRow **rows, int64_t *count) {
  return tl_method(model->method)->contact_rows(model, &state->bodies, work, rows, count);
}

static int by_key(const void *one, const void *two) {
  const TlConstraintRow *a = one, *b = two;
  return a->kind != b->kind ? (int)a->kind - (int)b->kind : tl_pair_order(&a->key, &b->key);
}

TlStatus tl_step_constraints(const TlWorkspace *work, TlConstraintRow **rows, int64_t *count) {
  size_t bonds, n = 0;
  const TlConstraintRow *bond = tl_net_memo_rows(work->net_memo, &bonds);
  TL_TRY(TL_NEW(*rows, bonds + work->joint_rows));
  for (size_t k = 0; k < bonds; k++) (*rows)[n++] = bond[k];
  for (size_t k = 0; k < work->joint_rows; k++)
    if (work->joint_row[k].kind >= TL_FIRST_CONSTRAINT) (*rows)[n++] = work->joint_row[k];
  if (n > 1) qsort(*rows, n, sizeof **rows, by_key);
  *count = (int64_t)n;
  return TL_OK;
}
