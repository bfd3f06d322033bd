#include "run/plan.h"

#include "run/materials.h"
#include "run/pour.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

#include <stdio.h>

/* Of a grain. */
static int64_t state_bytes(void) {
  return (int64_t)(tl_record_packed_bytes(&tl_body_record, TL_SAVE) +
                   tl_record_packed_bytes(&tl_collider_record, TL_SAVE));
}

/* Measured in layers of 9,000 to a million grains of 290 nodes that fall on each other (docs/notebook/performance.md,
 * A million grains): state, derived fields and scratch of a body with the ten pairs that the broad phase
 * lists for it; a contact point with its copies, its memory and the places of its pair, by any method.
 * Ghosts as many again at worst. */
enum { BODY_BYTES = 3000, CONTACT_BYTES = 4000, BASE_BYTES = 40 << 20 };
/* Of the elements of a scanned grain's surface (model/elements.h): 1,900 of them and 8,000 points in the mean. */
enum { ELEMENTS_BYTES = 400000 };

/* Of avatars, with their splines and elements where contacts are sought by these. */
static int64_t avatar_bytes(const TlRun *run) {
  const TlSearchOptions *search = &run->model->dem->search;
  const TlSelection *s = &run->model->selection;
  return s->grid_bytes * (search->edges == TL_EDGES_PLACES ? 2 : 1) +
         (search->elements ? s->avatars * ELEMENTS_BYTES : 0);
}

/* Of what ranks of a machine hold in common this rank's part. */
int64_t tl_run_memory(const TlRun *run, int contacts) {
  int64_t ranks = tl_comm_size(run->comm),
          grains = (run->state->grains + tl_pour_left(run) + tl_nets_spheres(&run->model->nets)) /
                       ranks +
                   1;
  int64_t ghosts = ranks > 1 ? grains : 0;
  int64_t terrain = run->model->has_terrain
                        ? run->model->terrain.nx * run->model->terrain.ny * 4 +
                              run->model->terrain.bnx * run->model->terrain.bny * 16 +
                              run->model->terrain.band_count * 4
                        : 0;
  int64_t common = (avatar_bytes(run) + terrain) / tl_shared_ranks(run->model->shared);
  return (grains + ghosts) * BODY_BYTES + grains * contacts * CONTACT_BYTES + common + BASE_BYTES;
}

/* Does contact memory hold places (contact/places.h)? */
static bool keeps_places(const TlRun *run) {
  if (tl_setup_solver(&run->model->setup).search.edges != TL_EDGES_PLACES) return false;
  bool keeps = run->model->catalog != NULL;
  for (int64_t i = 0; i < run->model->shapes.count; i++)
    keeps = keeps || tl_study_shapes_gridded(&run->model->shapes, tl_study_shape_id(i));
  return keeps;
}

/* HDF5 keeps about 25 kB of its own a frame; a row has 144 bytes; a checkpoint has a body's record
 * and about a dozen touches, or the places of the pairs next to each other, 1.5 kB where grains lie
 * packed; one more than is kept exists while it is written. */
int64_t tl_run_disk(const TlRun *run) {
  const TlTimeSetup *t = &run->model->setup.time;
  const TlCheckpointSetup *c = &run->model->setup.checkpoint;
  int64_t steps = tl_setup_steps(&run->model->setup) - run->state->totals.steps;
  int64_t frames =
      2 + (t->frame_every_s > 0 ? steps / tl_setup_every(&run->model->setup, t->frame_every_s) : 0);
  int64_t lines = 2 + steps / tl_setup_every(&run->model->setup, t->history_every_s);
  int64_t grains =
      run->state->grains + tl_pour_left(run) - run->state->totals.outside - run->state->totals.sunk;
  int64_t body = state_bytes() + 12 * 48 + (keeps_places(run) ? 1500 : 0);
  int64_t saved = c->keep + 1;
  if (c->every_steps == 0 && c->every_minutes == 0) saved = 1;
  int64_t scene = run->checkpoint ? 0 : run->model->selection.grid_bytes;
  if (run->model->has_terrain && !run->checkpoint)
    scene += run->model->terrain.nx * run->model->terrain.ny * 4 +
             run->model->terrain.bnx * run->model->terrain.bny * 16 +
             run->model->terrain.band_count * 4;
  double rows = t->boundary_forces ? run->model->boundary_count : 0; /* of boundaries and bonds */
  if (t->constraint_forces == TL_FORCES_ALL)
    rows += 0.5 * TL_NET_NEIGHBOURS * (double)tl_nets_spheres(&run->model->nets);
  /* in doubles: a mistyped number of steps may ask for more than 2^63 bytes */
  double bytes = (double)frames * (double)(25000 + 144 * grains) +
                 (350.0 + 220.0 * rows) * (double)lines +
                 (double)(saved * (8000 + grains * body) + scene);
  return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

TlStatus tl_run_check_disk(const TlRun *run, int64_t *free_bytes) {
  int64_t need = tl_run_disk(run);
  TlStatus status = TL_OK;
  *free_bytes = 0;
  if (tl_comm_rank(run->comm) == 0) status = tl_disk_free(run->folder, free_bytes);
  if (status == TL_OK && *free_bytes > 0 && need / 2 > *free_bytes)
    status = tl_fail(TL_EIO,
                     "%s: the run will write up to %.3g GB, and the disk has %.3g GB free; make "
                     "room, or raise time.frame_every_s",
                     run->folder, 1e-9 * (double)need, 1e-9 * (double)*free_bytes);
  else if (status == TL_OK && *free_bytes > 0 && need > *free_bytes)
    tl_log_warn("%s: the run may write up to %.3g GB before compression, and the disk has %.3g GB "
                "free",
                run->folder, 1e-9 * (double)need, 1e-9 * (double)*free_bytes);
  return tl_comm_agree(run->comm, status);
}

/* Does the law with this method depend on the value, beyond what 0 says? */
static bool said(const TlMethodKind *method, const TlPairLaw *law, const double *value) {
  if (value == &law->friction || value == &law->restitution) return true;
  if (value == &law->tangential_restitution) return !method->bears_force;
  if (value == &law->restitution_power) return law->restitution_half_m_s > 0;
  if (value == &law->scar_density_kg_m3 || value == &law->scar_coefficient)
    return law->scar_modulus_Pa > 0;
  return *value > 0;
}

static TlStatus report_pair(const TlRun *run, int32_t one, int32_t two, int64_t number,
                            TlReport *report) {
  const TlMaterials *m = &run->model->materials;
  const TlPairLaw *law = &m->law[tl_pair_law(m, one, two)];
  const TlMethodKind *method = tl_setup_method(&run->model->setup);
  const TlStiffness read = method->reads ? method->reads(run->model->dem) : (TlStiffness){0};
  char name[32], text[960], value[40];
  size_t length = (size_t)snprintf(text, sizeof text, "%s on %s: ", m->material[one].name,
                                   m->material[two].name);
  const char *separator = "";
#define SAY(key, member, unit, yes)                                                                \
  if (yes) {                                                                                       \
    tl_text_real(value, law->member);                                                              \
    length += (size_t)snprintf(text + length, sizeof text - length, "%s" #key " %s%s" unit,        \
                               separator, value, unit[0] ? " " : "");                              \
    separator = ", ";                                                                              \
  }
#define F(key, member, unit, ...) SAY(key, member, unit, said(method, law, &law->member))
  TL_CONTACT_FIELDS(F)
#undef F
#define PAIR(key, member, unit, ...) SAY(key, member, unit, read.key != 0 && law->member > 0)
#define MATERIAL(key, member, unit, ...) SAY(key, member, unit, read.key != 0)
  TL_STIFFNESS_FIELDS(PAIR, MATERIAL)
#undef MATERIAL
#undef PAIR
#undef SAY
  snprintf(name, sizeof name, "pair_%lld", (long long)number);
  return tl_report_text(report, name, text);
}

TlStatus tl_run_report_materials(const TlRun *run, TlReport *report) {
  const TlMaterials *m = &run->model->materials;
  int64_t number = 0;
  for (int32_t i = 0; i < m->count; i++) {
    char name[32], text[160];
    bool met = false;
    for (int32_t j = 0; j < m->count; j++) met = met || tl_materials_meet(&run->model->setup, i, j);
    if (!met) continue;
    snprintf(name, sizeof name, "material_%d", i);
    snprintf(text, sizeof text, "%s", m->material[i].name);
    if (tl_materials_meet(&run->model->setup, i, i)) /* bodies are of it */
      snprintf(text, sizeof text, "%s, %g kg/m3", m->material[i].name,
               m->material[i].density_kg_m3);
    TL_TRY(tl_report_text(report, name, text));
  }
  for (int32_t i = 0; i < m->count; i++)
    for (int32_t j = i; j < m->count; j++)
      if (tl_materials_meet(&run->model->setup, i, j))
        TL_TRY(report_pair(run, i, j, ++number, report));
  return TL_OK;
}

/* ---- the step ---- */

TlStatus tl_safe_step(TlRun *run, double *safe_s) {
  *safe_s = INFINITY;
  if (!tl_setup_method(&run->model->setup)->safe_step) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, tl_run_refresh(run)));
  *safe_s = tl_step_longest(run->model->dem, &run->state->dem);
  return tl_comm_least(run->comm, safe_s, 1);
}

void tl_safe_step_say(const TlRun *run, double safe_s) {
  double k = tl_setup_choice(&run->model->setup).mass_scale,
         density = run->model->materials.material[TL_MATERIAL_GRAIN].density_kg_m3;
  if (!isfinite(safe_s)) return;
  tl_log_info("penalty: steps up to %.4g s are safe for all grains, time.dt_s is %g", safe_s,
              run->model->setup.time.dt_s);
  if (k != 1)
    tl_log_info("mass_scale %g: all moves with %g times its mass (grains as if of %g kg/m3) and "
                "gravity/%g, so weights stay; without it the safe step would be %.4g s; inertia "
                "numbers are %.4g times those without",
                k, k, density, k, safe_s / sqrt(k), sqrt(k));
}
