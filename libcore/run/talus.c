/* The public library (include/talus.h): a thin layer over a run. A model is a run that was opened
 * and brought to where its first step begins; a state is a copy of that run's state; a workspace is
 * what a run steps with, to which states are lent. */
#include "../../include/talus.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/provenance.h"
#include "run/history.h"
#include "run/run.h"

#include <math.h>
#include <string.h>

struct TalusModel {
  TlRun run;    /* as it stands before the first step; never stepped */
  int64_t made; /* states so far */
};

struct TalusState {
  TalusModel *model;
  TlRunState *run;
  int64_t number; /* among the model's */
  double *spins;  /* owned; NULL until it is asked for */
  size_t spins_capacity;
};

struct TalusWorkspace {
  TalusModel *model;
  TlRun run;      /* with the model's model; its state is that of the call in hand */
  int64_t served; /* number of the state that it stepped last; 0: none yet */
  TlStepReport last;
};

_Static_assert((int)TALUS_OK == (int)TL_OK && (int)TALUS_USAGE == (int)TL_EUSAGE &&
                   (int)TALUS_INPUT == (int)TL_EINPUT && (int)TALUS_IO == (int)TL_EIO &&
                   (int)TALUS_MEMORY == (int)TL_ENOMEM && (int)TALUS_LIBRARY == (int)TL_ELIB &&
                   (int)TALUS_LIMIT == (int)TL_ELIMIT,
               "the library's codes are ours");
_Static_assert(sizeof(TlVec3) == 3 * sizeof(double) && sizeof(TlQuat) == 4 * sizeof(double),
               "views of vectors and quaternions are views of doubles");

static TalusStatus code(TlStatus status) {
  return (TalusStatus)status;
}

const char *talus_version(void) {
  return tl_version();
}

const char *talus_message(void) {
  return tl_message();
}

void talus_set_threads(int threads) {
  tl_par_set_threads(threads);
}

void talus_set_quiet(int quiet) {
  tl_log_set("talus", quiet ? TL_LOG_ERROR : TL_LOG_WARN);
}

/* ---- model ---- */

static TlStatus open_model(TalusModel *m, const TlRunOptions *options) {
  TL_TRY(tl_run_open(&m->run, NULL, options));
  TL_TRY(tl_run_begin(&m->run));
  m->run.options = (TlRunOptions){.no_output = true}; /* what the caller lent is the caller's */
  m->run.options.study = m->run.model->study.path;
  return TL_OK;
}

TalusStatus talus_model_open_text(TalusModel **model, const char *name, const char *text,
                                  const char *const *overrides, int count) {
  TalusModel *m;
  char **items;
  if (count < 0) return code(tl_fail(TL_EUSAGE, "%d overrides of a study", count));
  if (TL_NEW(items, (size_t)count + 1) != TL_OK) return TALUS_MEMORY;
  TlStatus status = TL_NEW(m, 1);
  for (int k = 0; k < count; k++) items[k] = (char *)(uintptr_t)overrides[k];
  const TlTexts sets = {.items = items, .count = count};
  const TlRunOptions options = {.study = name, .text = text, .sets = &sets, .no_output = true};
  if (status == TL_OK) status = open_model(m, &options);
  tl_free(items);
  if (status != TL_OK) talus_model_free(m);
  if (status == TL_OK) *model = m;
  return code(status);
}

TalusStatus talus_model_open(TalusModel **model, const char *study_file,
                             const char *const *overrides, int count) {
  return talus_model_open_text(model, study_file, NULL, overrides, count);
}

void talus_model_free(TalusModel *m) {
  if (!m) return;
  tl_run_close(&m->run);
  tl_free(m);
}

double talus_model_step_s(const TalusModel *m) {
  return m->run.model->setup.time.dt_s;
}

/* ---- state ---- */

static TlStatus copy_state(TalusState **state, TalusModel *model, const TlRunState *from) {
  TalusState *s;
  TL_TRY(TL_NEW(s, 1));
  s->model = model;
  s->number = ++model->made;
  TlStatus status = tl_run_state_copy(&s->run, from, model->run.model);
  if (status != TL_OK) talus_state_free(s);
  if (status == TL_OK) *state = s;
  return status;
}

TalusStatus talus_state_new(TalusState **state, TalusModel *model) {
  return code(copy_state(state, model, model->run.state));
}

TalusStatus talus_state_clone(TalusState **copy, const TalusState *state) {
  return code(copy_state(copy, state->model, state->run));
}

void talus_state_free(TalusState *s) {
  if (!s) return;
  tl_run_state_free(s->run);
  tl_free(s->spins);
  tl_free(s);
}

int64_t talus_state_steps(const TalusState *s) {
  return s->run->dem.steps;
}

double talus_state_time_s(const TalusState *s) {
  return (double)s->run->dem.steps * talus_model_step_s(s->model);
}

int64_t talus_state_count(const TalusState *s) {
  return s->run->dem.bodies.owned;
}

const int64_t *talus_state_ids(const TalusState *s) {
  return s->run->dem.bodies.id;
}

const double *talus_state_positions_m(const TalusState *s) {
  return (const double *)s->run->dem.bodies.position;
}

const double *talus_state_rotations(const TalusState *s) {
  return (const double *)s->run->dem.bodies.rotation;
}

const double *talus_state_velocities_m_s(const TalusState *s) {
  return (const double *)s->run->dem.bodies.velocity;
}

const double *talus_state_spins_rad_s(TalusState *s) {
  const TlBodies *b = &s->run->dem.bodies;
  if (TL_RESERVE(s->spins, s->spins_capacity, 3 * (size_t)b->owned + 1) != TL_OK) return NULL;
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 w = tl_bodies_spin(b, i);
    memcpy(&s->spins[3 * i], &w, sizeof w);
  }
  return s->spins;
}

static bool has_id(const void *id, const TlPairKey *key) {
  int64_t own = *(const int64_t *)id;
  return key->low != own && key->high != own;
}

static TlVec3 vec_of(const double v[3]) {
  return tl_vec3(v[0], v[1], v[2]);
}

static bool all_finite(const double *v, int count) {
  for (int k = 0; v && k < count; k++)
    if (!isfinite(v[k])) return false;
  return true;
}

TalusStatus talus_state_set_body(TalusState *s, int64_t id, const double position_m[3],
                                 const double rotation[4], const double velocity_m_s[3],
                                 const double spin_rad_s[3]) {
  TlBodies *b = &s->run->dem.bodies;
  int64_t i = 0;
  while (i < b->owned && b->id[i] != id) i++;
  if (i == b->owned)
    return code(tl_fail(TL_EUSAGE, "the state has no body with the id %lld", (long long)id));
  TlQuat q =
      rotation ? (TlQuat){rotation[0], rotation[1], rotation[2], rotation[3]} : b->rotation[i];
  if (!all_finite(position_m, 3) || !all_finite(rotation, 4) || !all_finite(velocity_m_s, 3) ||
      !all_finite(spin_rad_s, 3) || !(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z > 0))
    return code(tl_fail(TL_EUSAGE,
                        "body %lld: position, rotation, velocity and spin must be finite "
                        "and the rotation other than 0",
                        (long long)id));
  TlVec3 spin = spin_rad_s ? vec_of(spin_rad_s) : tl_bodies_spin(b, i);
  if (position_m) b->position[i] = vec_of(position_m);
  if (rotation) b->rotation[i] = tl_quat_unit(q);
  if (velocity_m_s) b->velocity[i] = vec_of(velocity_m_s);
  if (rotation || spin_rad_s) tl_bodies_set_spin(b, i, spin);
  for (int k = 0; k < TL_FIRST_CONSTRAINT; k++)
    tl_pair_rows_keep(&b->pairs.of[k], (TlPairKind)k, has_id, &id);
  return TALUS_OK;
}

TalusStatus talus_state_energy(TalusState *s, double *kinetic_J, double *potential_J) {
  TlRun run = s->model->run;
  TlMeasure m;
  run.state = s->run;
  TlStatus status = tl_history_measure(&run, &m);
  if (status != TL_OK) return code(status);
  *kinetic_J = m.kinetic;
  *potential_J = m.potential;
  return TALUS_OK;
}

TalusStatus talus_state_hash(const TalusState *s, uint64_t *hash) {
  return code(tl_bodies_hash(&s->run->dem.bodies, hash));
}

/* ---- steps ---- */

static TlStatus open_workspace(TalusWorkspace *w) {
  const TlRun *from = &w->model->run;
  w->run = (TlRun){.options = from->options, .model = from->model};
  TL_TRY(tl_dist_new(&w->run.dist, NULL));
  TL_TRY(tl_controls_new(&w->run.controls, from->model->dem));
  return tl_workspace_new(&w->run.work, from->model->dem);
}

TalusStatus talus_workspace_new(TalusWorkspace **workspace, TalusModel *model) {
  TalusWorkspace *w;
  if (TL_NEW(w, 1) != TL_OK) return TALUS_MEMORY;
  w->model = model;
  TlStatus status = open_workspace(w);
  if (status != TL_OK) talus_workspace_free(w);
  if (status == TL_OK) *workspace = w;
  return code(status);
}

void talus_workspace_free(TalusWorkspace *w) {
  if (!w) return;
  w->run.model = NULL; /* the model's */
  w->run.state = NULL; /* the caller's */
  tl_run_close(&w->run);
  tl_free(w);
}

/* Lists of near nodes are of the bodies of one state; controls that an apparatus set, too. */
static TlStatus serve(TalusWorkspace *w, TalusState *s) {
  if (s->model != w->model)
    return tl_fail(TL_EUSAGE, "talus_step: the state and the workspace are of different models");
  w->run.state = s->run;
  if (w->served == s->number) return TL_OK;
  if (w->served != 0) {
    tl_workspace_reset(w->run.work);
    tl_controls_free(&w->run.controls);
    TL_TRY(tl_controls_new(&w->run.controls, w->model->run.model->dem));
  }
  w->served = s->number;
  return TL_OK;
}

TalusStatus talus_step(TalusState *s, TalusWorkspace *w, int64_t steps) {
  TlStatus status = serve(w, s);
  for (int64_t k = 0; status == TL_OK && k < steps; k++) {
    if (tl_apparatus_finished(&w->run))
      status =
          tl_fail(TL_EUSAGE, "%s: %s has done all its stages in step %lld", w->run.options.study,
                  w->run.model->apparatus->test, (long long)s->run->totals.steps);
    else
      status = tl_run_step(&w->run);
    w->last = s->run->totals.last;
  }
  w->run.state = NULL; /* the caller may free it */
  return code(status);
}

void talus_last_report(const TalusWorkspace *w, TalusReport *report) {
  const TlStepReport *r = &w->last;
  *report = (TalusReport){.contacts = r->contacts,
                          .islands = r->islands,
                          .overlap_m = r->overlap_m,
                          .boundary_overlap_m = r->boundary_overlap_m,
                          .kinetic_J = r->kinetic_J,
                          .speed_max_m_s = r->speed_max_m_s};
}
