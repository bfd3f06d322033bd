#include "run/apparatus.h"

#include "base/log.h"
#include "base/mem.h"
#include "num/exact.h"
#include "run/bodies.h"
#include "run/boundary_forces.h"
#include "run/materials.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const TlApparatus *const all[TL_APPARATUS_COUNT] = {
#define A(id, key, title, params, sections) [TL_APPARATUS_##id] = &tl_##key,
    TL_APPARATUSES(A)
#undef A
};

const TlApparatus *tl_apparatus(int id) {
  return all[id];
}

const TlApparatus *tl_setup_apparatus(const TlSetup *setup) {
  for (int k = 0; k < TL_APPARATUS_COUNT; k++)
    if (all[k]->there(setup)) return all[k];
  return NULL;
}

TlStatus tl_apparatus_check(const TlSetup *setup, const TlStudy *study) {
  const TlApparatus *one = tl_setup_apparatus(setup);
  for (int k = 0; k < TL_APPARATUS_COUNT; k++) {
    TL_TRY(all[k]->check(setup, study));
    if (all[k] != one && all[k]->there(setup))
      return tl_study_fail(study, TL_EINPUT, all[k]->key,
                           "a run has one apparatus, and this study has section %s already: leave "
                           "one of the two out",
                           one->key);
  }
  if (one && setup->time.until_rest)
    return tl_study_fail(study, TL_EINPUT, "time.until_rest",
                         "%s ends with its last stage; leave this key out", one->test);
  return TL_OK;
}

TlStatus tl_apparatus_expand(TlSetup *setup) {
  const TlApparatus *one = tl_setup_apparatus(setup);
  return one ? one->expand(setup) : TL_OK;
}

bool tl_apparatus_finished(const TlRun *run) {
  return run->model->apparatus && run->model->apparatus->finished(run);
}

/* ---- for devices ---- */

TlStatus tl_apparatus_needs_force(const TlSetup *setup, const TlStudy *study, const char *device) {
  if (tl_setup_method(setup)->bears_force) return TL_OK;
  return tl_study_fail(study, TL_EINPUT, "solver.method",
                       "%s needs penalty or nonsmooth: stress is what contacts bear between steps",
                       device);
}

const char *tl_apparatus_platen_material(const TlSetup *setup) {
  const TlApparatus *a = tl_setup_apparatus(setup);
  return a && a->platen_material ? a->platen_material(setup) : NULL;
}

void *tl_apparatus_append(TlStudyList *list, size_t size) {
  void *grown = tl_realloc(list->items, (size_t)list->count, (size_t)list->count + 1, size);
  if (!grown) return NULL;
  list->items = grown;
  void *item = (char *)grown + (size_t)list->count * size;
  memset(item, 0, size);
  list->count++;
  return item;
}

TlWallSetup *tl_apparatus_add_wall(TlSetup *setup, int kind, const double base_m[3], double low_m,
                                   double high_m, bool open_below) {
  TlWallSetup *wall = tl_apparatus_append(&setup->walls, sizeof *wall);
  if (!wall || TL_NEW(wall->open.items, 2) != TL_OK) return NULL;
  wall->kind = kind;
  wall->grains = 1;
  memcpy(wall->point_m, base_m, sizeof wall->point_m);
  wall->point_m[2] += 0.5 * (low_m + high_m);
  wall->axis[2] = wall->normal[2] = 1;
  wall->size_m[2] = wall->length_m = high_m - low_m;
  wall->own = (TlOldForm){-1, -1};
  for (wall->open.count = 0; wall->open.count < (open_below ? 2 : 1); wall->open.count++)
    if (!(wall->open.items[wall->open.count] = tl_strdup(wall->open.count ? "-z" : "+z")))
      return NULL;
  return wall;
}

TlStatus tl_apparatus_add_platen(TlSetup *setup, const TlShapeSetup *of, const char *name,
                                 const double position_m[3]) {
  TlShapeSetup *shape = tl_apparatus_append(&setup->shapes, sizeof *shape);
  TlBodySetup *body = shape ? tl_apparatus_append(&setup->bodies, sizeof *body) : NULL;
  if (!body) return TL_ENOMEM;
  *shape = *of;
  shape->scale = 1;
  shape->sharp_deg = 30;
  shape->name = tl_strdup(name);
  memcpy(body->position_m, position_m, sizeof body->position_m);
  body->scale = 1;
  body->count = 1;
  body->above_ground_m = -1;
  body->shape = tl_strdup(name);
  return shape->name && body->shape ? TL_OK : TL_ENOMEM;
}

TlStatus tl_apparatus_mark_platen(TlRun *run, int64_t first_placed, int64_t *platen) {
  TlBodies *b = &run->state->dem.bodies;
  TlStatus status = TL_OK;
  *platen = first_placed + tl_placed_count(&run->model->setup) - 1;
  for (int64_t i = 0; i < b->owned && status == TL_OK; i++) {
    if (b->id[i] != *platen) continue;
    b->flags[i] |= TL_BODY_GUIDED;
    b->colliders.material[b->first[i]] = tl_material_of_platen(&run->model->setup);
    const TlSlider piston = {.low = *platen,
                             .high = -1,
                             .number = TL_PISTON,
                             .anchor_high = b->position[i],
                             .axis_high = {0, 0, 1},
                             .turn = b->rotation[i]};
    status = tl_pair_state_add(&b->pairs, TL_SLIDERS, &piston);
  }
  tl_pair_rows_sort(&b->pairs.of[TL_SLIDERS], TL_SLIDERS);
  return tl_comm_agree(run->comm, status);
}

TlStatus tl_apparatus_look(TlRun *run, const double base_m[3], int64_t platen, double thick_m,
                           TlApparatusSpecimen *s, int64_t *escaped) {
  TlBodies *b = &run->state->dem.bodies;
  TlExact face[2] = {{{0}}, {{0}}}, /* of the platen: its height, its mass */
      sum[2] = {{{0}}, {{0}}};      /* mass by the grains' density, true mass */
  int64_t count[2] = {0, 0};        /* grains between the faces, beyond them */
  for (int64_t i = 0; i < b->owned; i++)
    if (b->id[i] == platen) {
      tl_exact_add(&face[0], b->position[i].z - 0.5 * thick_m);
      tl_exact_add(&face[1], b->mass[i]);
    }
  TL_TRY(tl_comm_sum_int(run->comm, face[0].limb, 2 * TL_EXACT_LIMBS));
  const double top = tl_exact_value(&face[0]), down = -run->model->setup.gravity_m_s2[2];
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 x = b->position[i];
    if (!tl_apparatus_is_grain(b, i)) continue;
    bool beyond = x.z <= base_m[2] || x.z >= top;
    if (!beyond) tl_exact_add(&sum[0], tl_run_plain_mass(run, i));
    if (!beyond) tl_exact_add(&sum[1], b->mass[i]);
    count[beyond]++;
    if (!beyond || !escaped) continue;
    b->flags[i] |= TL_BODY_OUTSIDE;
    tl_log_warn("step %lld: grain %lld is out of the %s, %s, at x = %g, y = %g, z = %g m",
                (long long)run->state->totals.steps, (long long)b->id[i],
                run->model->apparatus->key, x.z >= top ? "beyond the top platen" : "below the base",
                x.x, x.y, x.z);
  }
  TL_TRY(tl_comm_sum_int(run->comm, sum[0].limb, 2 * TL_EXACT_LIMBS));
  TL_TRY(tl_comm_sum_int(run->comm, count, 2));
  s->platen_N = down * tl_exact_value(&face[1]);
  s->height_m = top - base_m[2];
  s->solid_m3 = tl_exact_value(&sum[0]) / tl_setup_solver(&run->model->setup).density_kg_m3;
  s->weight_N = down * tl_exact_value(&sum[1]);
  s->grains = count[0];
  if (escaped) *escaped = count[1];
  return TL_OK;
}

TlStatus tl_apparatus_check_specimen(TlRun *run, const double base_m[3], double height_m) {
  const TlBodies *b = &run->state->dem.bodies;
  const double low = base_m[2], top = low + height_m;
  int64_t count[3] = {0, 0, 0};             /* grains, beyond the platen, below the base */
  double reach[2] = {-INFINITY, -INFINITY}; /* of the grains' middles: up, down */
  char path[64];
  for (int64_t i = 0; i < b->owned; i++) {
    double z = b->position[i].z;
    if (!tl_apparatus_is_grain(b, i)) continue;
    count[0]++;
    count[1] += z >= top;
    count[2] += z <= low;
    reach[0] = fmax(reach[0], z);
    reach[1] = fmax(reach[1], -z);
  }
  TL_TRY(tl_comm_sum_int(run->comm, count, 3));
  TL_TRY(tl_comm_most(run->comm, reach, 2));
  if (count[1] + count[2] == 0) return TL_OK;
  bool above = count[1] > 0;
  snprintf(path, sizeof path, "%s.%s", run->model->apparatus->key, above ? "height_m" : "base_m");
  return tl_study_fail(
      &run->model->study, TL_EINPUT, path,
      "%lld of %lld grains lie at or %s, z = %g m, at the start: the grains' middles reach from z "
      "= %g to %g m: %s",
      (long long)count[above ? 1 : 2], (long long)count[0],
      above ? "beyond the face of the top platen" : "below the face of the base", above ? top : low,
      -reach[1], reach[0],
      above ? "a larger height_m, or grains that lie lower" : "a lower base, or grains above it");
}

TlStatus tl_apparatus_press(TlRun *run, double load_N, double platen_weight_N,
                            double damping_per_s) {
  const TlJointControl piston = {
      .kind = TL_SLIDERS, .number = TL_PISTON, .load = platen_weight_N - load_N};
  run->controls.damping_per_s =
      damping_per_s < 0 ? run->model->setup.contact.damping_per_s : damping_per_s;
  return tl_comm_agree(run->comm, tl_controls_set_joint(&run->controls, &piston));
}

void tl_apparatus_say_weight(const TlRun *run, double platen_weight_N, double area_m2,
                             double least_Pa) {
  double stress = platen_weight_N / area_m2;
  if (platen_weight_N == 0 || tl_comm_rank(run->comm) != 0) return;
  tl_log_info(
      "%s: the top platen weighs %.4g N, %.4g Pa, which is a part of the stress that it puts "
      "on%s",
      run->model->apparatus->key, platen_weight_N, stress,
      stress > least_Pa ? "; under less than that the piston holds it as a counterweight does"
                        : "");
}

bool tl_apparatus_at_rest(const TlRun *run, double unbalanced, double most,
                          double kinetic_fraction) {
  if (!(unbalanced > 0 && unbalanced < most)) return false;
  if (!tl_setup_method(&run->model->setup)->bears_force) return true; /* it stores no energy */
  return run->state->totals.balance.kinetic_J <
         kinetic_fraction * fabs(run->state->totals.balance.elastic_J); /* adhesion: below 0 */
}

TlBoundaryForce tl_apparatus_wall_force(const TlRun *run, const TlBoundaryForce *force,
                                        int64_t wall, int first, int end) {
  TlBoundaryForce sum = {.contacts = 0};
  int boundary = run->model->boundary_count - run->model->walls.count, part = 0;
  for (int i = 0; i < run->model->walls.count; i++) {
    if (run->model->walls.part[i].wall != wall) continue;
    if (part >= first && (end < 0 || part < end)) tl_boundary_force_add(&sum, &force[boundary + i]);
    part++;
  }
  return sum;
}

bool tl_apparatus_in_turn(int64_t step, int64_t every) {
  return step % every == 0;
}

bool tl_apparatus_line_in_turn(const TlRun *run) {
  return tl_apparatus_in_turn(
      run->state->totals.steps,
      tl_setup_every(&run->model->setup, run->model->setup.time.history_every_s));
}

bool tl_apparatus_last_line(const TlRun *run, int64_t averaged) {
  int64_t every = tl_setup_every(&run->model->setup, run->model->setup.time.history_every_s);
  return 2 * averaged >= every || run->state->totals.steps < every;
}

TlStatus tl_apparatus_line(TlRun *run, const void *row) {
  if (run->options.no_output) return TL_OK;
  return tl_output_row(&run->output, run->model->apparatus->table, &run->model->apparatus->columns,
                       row);
}

bool tl_apparatus_is_grain(const TlBodies *b, int64_t i) {
  return !(b->flags[i] & (TL_BODY_NET | TL_BODY_GUIDED | TL_BODY_FROZEN));
}
