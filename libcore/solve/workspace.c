#include "solve/workspace.h"

static TlStatus start(TlWorkspace *w) {
  const TlModel *model = w->model;
  TL_TRY(TL_NEW(w->boundary, (size_t)model->boundary_count));
  TL_TRY(TL_NEW(w->ahead, (size_t)model->boundary_count));
  for (int i = 0; i < model->boundary_count; i++) w->boundary[i] = w->ahead[i] = model->boundary[i];
  w->placed = -1;
  return tl_net_memo_new(&w->net_memo);
}

TlStatus tl_workspace_new(TlWorkspace **workspace, const TlModel *model) {
  TlWorkspace *w;
  TL_TRY(TL_NEW(w, 1));
  w->model = model;
  TlStatus status = start(w);
  if (status != TL_OK) tl_workspace_free(w);
  if (status == TL_OK) *workspace = w;
  return status;
}

/* Everything that was found of a state. */
static void forget(TlWorkspace *w) {
  tl_arena_free(&w->arena);
  tl_near_free(&w->near);
  w->near = (TlNear){0};
  tl_place_memory_free(&w->places);
  tl_manifolds_free(&w->manifolds);
  tl_force_workspace_free(&w->forces);
  w->found = (TlFound){0};
  w->half_lookups = w->solve_ns = NULL;
  w->joint_row = NULL;
  w->joint_rows = 0;
  for (size_t i = 0; i < w->known_capacity; i++) w->known[i] = (TlKnownShape){0, NULL};
  w->unchecked = 0;
  w->problem_count = 0;
  w->speed_max = 0;
  tl_free(w->asleep.contacts_of);
  w->asleep = (TlAsleep){.known = false};
}

void tl_workspace_reset(TlWorkspace *w) {
  forget(w);
  w->placed = -1;
}

void tl_workspace_free(TlWorkspace *w) {
  if (!w) return;
  forget(w);
  for (size_t i = 0; i < w->point_lists; i++) tl_points_free(&w->points[i]);
  tl_free(w->points);
  tl_materials_free(&w->laws);
  tl_net_memo_free(w->net_memo);
  tl_free(w->boundary);
  tl_free(w->ahead);
  tl_free(w->known);
  tl_free(w->problem);
  tl_free(w);
}

void tl_workspace_trace(TlWorkspace *workspace, const TlCollisionTrace *trace) {
  workspace->trace = trace;
}

void tl_workspace_problems(TlWorkspace *workspace, TlProblemSink sink) {
  workspace->problems = sink;
}

void tl_workspace_audit(TlWorkspace *workspace, TlAudit *audit) {
  workspace->audit = audit;
}

void tl_workspace_keep_bonds(TlWorkspace *workspace, bool keep) {
  tl_net_memo_keep_rows(workspace->net_memo, keep);
}

const TlProblemRow *tl_step_problem_rows(const TlWorkspace *workspace, int64_t *count) {
  *count = (int64_t)workspace->problem_count;
  return workspace->problem;
}
