#include "run/triaxial.h"

#include "base/log.h"
#include "run/materials.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>

static const TlTriaxialSetup *setup_of(const TlRun *run) {
  return tl_triaxial_section(&run->model->setup);
}

TlTriaxial *tl_triaxial_state(const TlRun *run) {
  return (TlTriaxial *)(void *)run->state->apparatus;
}

static bool is_done(const TlRun *run) {
  return tl_triaxial_state(run)->stage >= setup_of(run)->stages.count;
}

static TlNet *membrane_of(const TlRun *run) {
  return &run->model->nets.net[run->model->nets.count - 1];
}

/* The one in hand; when all are done the last. */
static const TlStageSetup *stage_of(const TlRun *run) {
  const TlTriaxialSetup *t = setup_of(run);
  int64_t i = tl_triaxial_state(run)->stage < t->stages.count ? tl_triaxial_state(run)->stage
                                                              : t->stages.count - 1;
  return (const TlStageSetup *)t->stages.items + i;
}

static double in_stage_s(const TlRun *run) {
  return (double)(run->state->totals.steps - tl_triaxial_state(run)->begun) *
         run->model->setup.time.dt_s;
}

/* ---- the start ---- */

/* The platen is the last body of the study, and its shape the last (setup_triaxial.c). */
static TlVec3 platen_start(const TlSetup *s) {
  const TlBodySetup *body = (const TlBodySetup *)s->bodies.items + s->bodies.count - 1;
  return tl_vec3_of(body->position_m);
}

static double thickness(const TlSetup *s) {
  return ((const TlShapeSetup *)s->shapes.items)[s->shapes.count - 1].length_m;
}

/* The membrane's last row will go with a platen. */
static void hold_membrane(TlRun *run) {
  TlNet *net = membrane_of(run);
  net->held = true;
  net->hold = (TlNetHold){.position = platen_start(&run->model->setup), .rotation = {1, 0, 0, 0}};
}

static TlStatus find_platen(TlRun *run, int64_t first_placed) {
  return tl_apparatus_mark_platen(run, first_placed, &tl_triaxial_state(run)->platen);
}

static void tell_membrane(TlRun *run) {
  membrane_of(run)->hold.body = tl_triaxial_state(run)->platen;
}

/* ---- a look ---- */

typedef struct Look {
  TlNetVolume volume;
  TlExact mass, height, tilt;
} Look;

static void look_at_platen(const TlRun *run, int64_t i, Look *look) {
  TlVec3 up = tl_quat_rotate(run->state->dem.bodies.rotation[i], tl_vec3(0, 0, 1));
  double face = run->state->dem.bodies.position[i].z - 0.5 * thickness(&run->model->setup);
  tl_exact_add(&look->height, face - setup_of(run)->base_m[2]);
  tl_exact_add(&look->tilt, atan2(hypot(up.x, up.y), up.z));
}

static TlStatus gather(TlRun *run, Look *look, int64_t *grains) {
  const TlBodies *b = &run->state->dem.bodies;
  TlArena arena = {0};
  TlStatus status = tl_net_volume_add(membrane_of(run), b, &arena, &look->volume);
  tl_arena_free(&arena);
  *grains = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->id[i] == tl_triaxial_state(run)->platen) look_at_platen(run, i, look);
    if (!tl_apparatus_is_grain(b, i)) continue;
    tl_exact_add(&look->mass, tl_run_plain_mass(run, i));
    ++*grains;
  }
  TL_TRY(tl_comm_agree(run->comm, status));
  TL_TRY(tl_comm_sum_int(run->comm, look->volume.sum[0].limb, sizeof *look / sizeof(int64_t)));
  return tl_comm_sum_int(run->comm, grains, 1);
}

/* Of the cylinder that encloses as much between the membrane's first and last row. */
static double tube_radius(const TlRun *run) {
  const TlTriaxialSetup *t = setup_of(run);
  const TlNet *net = membrane_of(run);
  double rows = (net->rows - 1) * tl_net_row_gap(net->spacing_m); /* at the start */
  double height = tl_triaxial_state(run)->height_m - (t->height_m - rows);
  return sqrt(tl_triaxial_state(run)->membrane_m3 / (M_PI * height));
}

static double area_of(const TlRun *run) {
  return tl_triaxial_state(run)->volume_m3 / tl_triaxial_state(run)->height_m;
}

static TlStatus look(TlRun *run) {
  TlTriaxial *t = tl_triaxial_state(run);
  Look seen = {0};
  TL_TRY(gather(run, &seen, &t->grains));
  t->membrane_m3 = tl_net_volume(membrane_of(run), &seen.volume);
  t->height_m = tl_exact_value(&seen.height);
  t->tilt_rad = tl_exact_value(&seen.tilt);
  t->solid_m3 = tl_exact_value(&seen.mass) / tl_setup_solver(&run->model->setup).density_kg_m3;
  double r = tube_radius(run) - membrane_of(run)->radius_m;
  if (!(t->height_m > 0) || !(r > 0))
    return tl_fail(TL_ELIMIT, "step %lld: the cell has lost its volume: %g m high, %g m3",
                   (long long)run->state->totals.steps, t->height_m, t->membrane_m3);
  t->volume_m3 = M_PI * r * r * t->height_m;
  return TL_OK;
}

/* ---- stresses ---- */

typedef struct Stress {
  double axial, radial, deviatoric, mean;
} Stress;

/* On the triangles of the membrane's centres, so that the specimen's side bears p at the start. */
static double on_triangles(const TlRun *run) {
  const TlTriaxialSetup *t = setup_of(run);
  return tl_triaxial_state(run)->pressure_Pa * t->radius_m / (t->radius_m + t->membrane.radius_m);
}

static Stress stress_of(const TlRun *run, double platen_N) {
  double tube = tube_radius(run), inner = tube - membrane_of(run)->radius_m;
  Stress s = {.axial = platen_N / area_of(run), .radial = on_triangles(run) * tube / inner};
  s.deviatoric = s.axial - s.radial;
  s.mean = (s.axial + 2 * s.radial) / 3;
  return s;
}

static double mean_of(double sum, int64_t count) {
  return count > 0 ? sum / (double)count : 0;
}

/* Where the platen is driven. */
static double speed_of(const TlRun *run) {
  const TlStageSetup *s = stage_of(run);
  return s->kind == TL_STAGE_SHEAR ? -s->rate_per_s * tl_triaxial_state(run)->start_height_m : 0;
}

static double inertia_number(const TlRun *run, double mean_Pa) {
  const TlTriaxial *t = tl_triaxial_state(run);
  if (!(mean_Pa > 0) || t->grains == 0) return 0;
  double d = cbrt(6 / M_PI * t->solid_m3 / (double)t->grains);
  double rate = fabs(speed_of(run)) / t->height_m;
  return rate * d * sqrt(tl_setup_solver(&run->model->setup).density_kg_m3 / mean_Pa);
}

static double void_ratio(const TlRun *run) {
  return tl_triaxial_state(run)->volume_m3 / tl_triaxial_state(run)->solid_m3 - 1;
}

static double strain(double start, double now) {
  return start > 0 ? log(start / now) : 0;
}

/* ---- a line ---- */

typedef struct Row {
  const TlRun *run;
  const TlTriaxial *t;
  const TlEnergyBalance *l;
  Stress stress;
  double platen_N, base_N;
} Row;

static double friction_angle(const Stress *s) {
  double sum = s->axial + s->radial;
  return sum > 0 ? 180 / M_PI * asin(s->deviatoric / sum) : 0;
}

static const char *column_kind(const void *row) {
  return tl_stage_kinds[stage_of(((const Row *)row)->run)->kind];
}

/* Impulses book no losses: energies that are not known are not told. */
static double told(const Row *row, double energy_J) {
  return tl_setup_method(&row->run->model->setup)->bears_force ? energy_J : NAN;
}

#define COLUMNS(C)                                                                                 \
  C(time_s, "s", "time", (double)row->run->state->totals.steps * row->run->model->setup.time.dt_s) \
  C(step, "", "number of the step", row->run->state->totals.steps)                                 \
  C(stage, "", "stage in progress, from 1; one more than there are: all are done",                 \
    (double)row->t->stage + 1)                                                                     \
  C(height_m, "m", "height of the specimen, between the platens' faces", row->t->height_m)         \
  C(volume_m3, "m3", "volume of the specimen, to the membrane's inner side", row->t->volume_m3)    \
  C(axial_strain, "", "ln(L0/L) since the first shear stage began, compression positive",          \
    strain(row->t->start_height_m, row->t->height_m))                                              \
  C(volumetric_strain, "", "ln(V0/V) since then, compression positive",                            \
    strain(row->t->start_volume_m3, row->t->volume_m3))                                            \
  C(axial_stress_Pa, "Pa", "platen_force_N over the specimen's area", row->stress.axial)           \
  C(radial_stress_Pa, "Pa", "cell pressure on the specimen's side", row->stress.radial)            \
  C(deviatoric_stress_Pa, "Pa", "axial less radial stress", row->stress.deviatoric)                \
  C(mean_stress_Pa, "Pa", "(axial + 2 radial stress)/3", row->stress.mean)                         \
  C(friction_angle_deg, "deg", "mobilized: asin of deviatoric stress over axial + radial stress",  \
    friction_angle(&row->stress))                                                                  \
  C(void_ratio, "", "volume of the voids over that of the grains", void_ratio(row->run))           \
  C(inertia_number, "", "strain rate times d sqrt(density/mean stress)",                           \
    inertia_number(row->run, row->stress.mean))                                                    \
  C(unbalanced_force, "", "mean force that accelerates a body over that of a contact",             \
    row->t->unbalanced)                                                                            \
  C(kinetic_energy_J, "J",                                                                         \
    "kinetic energy of all bodies; by impulses empty, as all energies here",                       \
    told(row, row->l->kinetic_J))                                                                  \
  C(platen_force_N, "N", "contact force on the top platen, mean since the last line",              \
    row->platen_N)                                                                                 \
  C(base_force_N, "N", "normal force on the bottom platen, mean since the last line", row->base_N) \
  C(tilt_deg, "deg", "tilt of the top platen", 180 / M_PI * row->t->tilt_rad)                      \
  C(grains, "", "grains in the cell", row->t->grains)                                              \
  C(escaped, "", "grains that have left the cell so far", row->run->state->totals.outside)         \
  C(solid_volume_m3, "m3", "volume of the grains", row->t->solid_m3)                               \
  C(membrane_volume_m3, "m3", "volume within the membrane's centres", row->t->membrane_m3)         \
  C(piston_work_J, "J", "work of the piston on the top platen so far", told(row, row->l->wall_J))  \
  C(pressure_work_J, "J", "work of the cell pressure so far", told(row, row->l->pressure_J))       \
  C(elastic_J, "J", "energy held by the contacts' springs", told(row, row->l->elastic_J))          \
  C(friction_J, "J", "taken by friction so far", told(row, row->l->friction_J))                    \
  C(viscous_J, "J", "taken by contact damping so far", told(row, row->l->viscous_J))               \
  C(drag_J, "J", "taken by global damping so far", told(row, row->l->drag_J))                      \
  C(net_elastic_J, "J", "energy held by the membrane's bonds", told(row, row->l->net_J))           \
  C(net_damping_J, "J", "taken by the membrane's dampers so far",                                  \
    told(row, row->l->net_damping_J))                                                              \
  C(balance_error_J, "J", "energy balance error", told(row, row->l->error_J))

COLUMNS(TL_COLUMN_GET)
static const TlColumn columns[] = {
    COLUMNS(TL_COLUMN_ROW){"kind", "", "kind of the stage", NULL, column_kind}};

static TlStatus write_line(TlRun *run) {
  TlTriaxial *t = tl_triaxial_state(run);
  double platen = mean_of(t->line_N, t->line_steps), base = mean_of(t->line_base_N, t->line_steps);
  const Row row = {run, t, &run->state->totals.balance, stress_of(run, platen), platen, base};
  t->line_N = t->line_base_N = 0;
  t->line_steps = 0;
  return tl_apparatus_line(run, &row);
}

/* ---- stages ---- */

/* How far the deviatoric stress is from where the stage wants it. */
static double lacks(const TlRun *run, double deviatoric) {
  return stage_of(run)->until_deviatoric_Pa - deviatoric;
}

static bool at_strain(const TlRun *run) {
  const TlStageSetup *s = stage_of(run);
  const TlTriaxial *t = tl_triaxial_state(run);
  if (s->until_strain == 0) return false;
  double left = s->until_strain - strain(t->start_height_m, t->height_m);
  return s->rate_per_s > 0 ? left <= 0 : left >= 0;
}

static bool at_rest(const TlRun *run) {
  const TlStageSetup *s = stage_of(run);
  return tl_apparatus_at_rest(run, tl_triaxial_state(run)->unbalanced, s->until_unbalanced,
                              s->until_kinetic_share);
}

static bool is_over(const TlRun *run, double deviatoric) {
  const TlStageSetup *s = stage_of(run);
  const TlTriaxial *t = tl_triaxial_state(run);
  double lasted = in_stage_s(run);
  if (lasted < s->least_s || lasted < s->ramp_s) return false;
  /* not before forces were balanced with the grains' own friction */
  if (s->void_ratio > 0 && (t->relaxed == 0 || t->relaxed == run->state->totals.steps))
    return false;
  switch (s->kind) {
  case TL_STAGE_CONSOLIDATE:
    return at_rest(run);
  case TL_STAGE_SHEAR:
    return at_strain(run) ||
           (s->until_deviatoric_Pa > -1e15 && lacks(run, deviatoric) * (double)t->sign <= 0);
  default:
    return true; /* least_s has passed */
  }
}

/* ---- to a void ratio ---- */

/* Grain on grain at this moment. */
static double friction_now(const TlRun *run) {
  const TlStageSetup *s = stage_of(run);
  double own = tl_grain_friction(&run->model->setup), low = s->friction < 0 ? own : s->friction;
  if (s->void_ratio == 0) return low;
  double falls = in_stage_s(run) - s->ramp_s;
  if (tl_triaxial_state(run)->relaxed > 0 || falls < 0) return own;
  return falls < s->ramp_s ? own + falls / s->ramp_s * (low - own) : low;
}

/* At a look: is it there? A specimen that is too dense before friction falls, or that comes to rest
 * too loose when it has fallen, is another than was asked for. */
static TlStatus relax(TlRun *run) {
  TlTriaxial *t = tl_triaxial_state(run);
  const TlStageSetup *s = stage_of(run);
  double falls = in_stage_s(run) - s->ramp_s, e = void_ratio(run);
  double since = (double)setup_of(run)->look_every_steps * run->model->setup.time.dt_s;
  if (s->void_ratio == 0 || t->relaxed > 0 || falls < 0) return TL_OK;
  if (falls < since && e < s->void_ratio * (1 - 1e-3))
    return tl_fail(
        TL_EINPUT,
        "step %lld: under the cell pressure the specimen has a void ratio of %.4f, below "
        "the %.4f of triaxial.stages.%lld.void_ratio: settle it with more friction",
        (long long)run->state->totals.steps, e, s->void_ratio, (long long)t->stage);
  bool late = s->most_s > 0 && in_stage_s(run) >= s->most_s;
  if (e > s->void_ratio && (late || (falls > 2 * s->ramp_s && at_rest(run))))
    return tl_fail(TL_EINPUT,
                   "step %lld: the specimen has %s a void ratio of %.4f, above the %.4f of "
                   "triaxial.stages.%lld.void_ratio: a lower friction there, or more most_s",
                   (long long)run->state->totals.steps, late ? "by most_s" : "come to rest at", e,
                   s->void_ratio, (long long)t->stage);
  if (e > s->void_ratio) return TL_OK;
  if (tl_comm_rank(run->comm) == 0)
    tl_log_info("step %lld: void ratio %.4f, with friction %.3g: from here on it is %g again",
                (long long)run->state->totals.steps, e, friction_now(run),
                tl_grain_friction(&run->model->setup));
  t->relaxed = run->state->totals.steps;
  return TL_OK;
}

/* ---- from one to the next ---- */

static void say_stage(const TlRun *run, double deviatoric) {
  const TlTriaxial *t = tl_triaxial_state(run);
  char number[48] = "";
  if (tl_comm_rank(run->comm) != 0) return;
  if (stage_of(run)->kind == TL_STAGE_SHEAR)
    snprintf(number, sizeof number, ", inertia number %.3g",
             inertia_number(run, t->pressure_Pa + deviatoric / 3));
  tl_log_info("step %lld, %.4g s: stage %lld of %lld, %s, begins: height %.5g m, void ratio %.4f, "
              "deviatoric stress %.4g Pa%s",
              (long long)run->state->totals.steps,
              (double)run->state->totals.steps * run->model->setup.time.dt_s,
              (long long)t->stage + 1, (long long)setup_of(run)->stages.count,
              tl_stage_kinds[stage_of(run)->kind], t->height_m, void_ratio(run), deviatoric,
              number);
}

static void begin_stage(TlRun *run, double deviatoric) {
  TlTriaxial *t = tl_triaxial_state(run);
  t->begun = run->state->totals.steps;
  t->from_Pa = t->pressure_Pa;
  t->sign = lacks(run, deviatoric) > 0 ? 1 : -1;
  t->warned = 0;
  t->relaxed = 0;
  if (stage_of(run)->kind == TL_STAGE_SHEAR && t->start_height_m == 0) {
    t->start_height_m = t->height_m;
    t->start_volume_m3 = t->volume_m3;
  }
  say_stage(run, deviatoric);
}

/* Shear is quasi-static below an inertia number of about 1e-3. */
static void watch_speed(TlRun *run, double mean_Pa) {
  double number = inertia_number(run, mean_Pa);
  bool shears = stage_of(run)->kind == TL_STAGE_SHEAR;
  if (!shears || tl_triaxial_state(run)->warned || in_stage_s(run) == 0 || number < 1e-3) return;
  tl_triaxial_state(run)->warned = 1;
  if (tl_comm_rank(run->comm) == 0)
    tl_log_warn("step %lld: inertia number %.3g: above 1e-3 shear is no longer quasi-static; a "
                "smaller triaxial.stages.%lld.rate_per_s",
                (long long)run->state->totals.steps, number,
                (long long)tl_triaxial_state(run)->stage);
}

static TlStatus next_stage(TlRun *run) {
  TlTriaxial *t = tl_triaxial_state(run);
  const TlStageSetup *s = stage_of(run);
  Stress stress = stress_of(run, mean_of(t->look_N, t->look_steps));
  watch_speed(run, stress.mean);
  TL_TRY(relax(run));
  bool late = s->most_s > 0 && in_stage_s(run) >= s->most_s, over = is_over(run, stress.deviatoric);
  if (!over && !late) return TL_OK;
  if (!over && tl_comm_rank(run->comm) == 0)
    tl_log_warn("step %lld: stage %lld has not come to its end in %g s (unbalanced force %.3g, "
                "kinetic over elastic energy %.3g): most_s ends it",
                (long long)run->state->totals.steps, (long long)t->stage + 1, s->most_s,
                t->unbalanced,
                run->state->totals.balance.kinetic_J / run->state->totals.balance.elastic_J);
  t->stage++;
  if (!is_done(run)) begin_stage(run, stress.deviatoric);
  return TL_OK;
}

/* ---- who got out ---- */

static TlStatus widest(const TlRun *run, double *radius) {
  const TlBodies *b = &run->state->dem.bodies;
  const double *base = setup_of(run)->base_m;
  *radius = 0;
  for (int64_t i = 0; i < b->owned; i++)
    if (b->flags[i] & TL_BODY_NET)
      *radius = fmax(*radius, hypot(b->position[i].x - base[0], b->position[i].y - base[1]));
  return tl_comm_most(run->comm, radius, 1);
}

/* Wholly beyond the widest place of the membrane, or beyond a platen's face: from there none comes
 * back. */
static TlStatus find_escaped(TlRun *run, int64_t *escaped) {
  TlBodies *b = &run->state->dem.bodies;
  const double *base = setup_of(run)->base_m;
  double wide, top = base[2] + tl_triaxial_state(run)->height_m;
  *escaped = 0;
  TL_TRY(widest(run, &wide));
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 x = b->position[i];
    double r = b->radius[i];
    if (!tl_apparatus_is_grain(b, i)) continue;
    if (hypot(x.x - base[0], x.y - base[1]) < wide + r && x.z > base[2] - r && x.z < top + r)
      continue;
    b->flags[i] |= TL_BODY_OUTSIDE;
    ++*escaped;
    tl_log_warn("step %lld: grain %lld is out of the cell, at x = %g, y = %g, z = %g m",
                (long long)run->state->totals.steps, (long long)b->id[i], x.x, x.y, x.z);
  }
  return tl_comm_sum_int(run->comm, escaped, 1);
}

/* ---- before and after a step ---- */

static void set_pressure(TlRun *run) {
  TlTriaxial *t = tl_triaxial_state(run);
  const TlStageSetup *s = stage_of(run);
  double to = s->pressure_Pa < 0 ? t->from_Pa : s->pressure_Pa;
  double fraction = s->ramp_s > 0 ? fmin(1, in_stage_s(run) / s->ramp_s) : 1;
  t->pressure_Pa = t->from_Pa + fraction * (to - t->from_Pa);
}

static TlStatus tune(TlRun *run) {
  const TlStageSetup *s = stage_of(run);
  const TlContactSetup *c = &run->model->setup.contact;
  set_pressure(run);
  TlJointControl piston = {.kind = TL_SLIDERS,
                           .number = TL_PISTON,
                           .driven = s->kind != TL_STAGE_CONSOLIDATE,
                           .speed = speed_of(run),
                           .load = -tl_triaxial_state(run)->pressure_Pa * area_of(run),
                           .tilts =
                               setup_of(run)->tilts && tl_triaxial_state(run)->start_height_m > 0};
  TlControls *controls = &run->controls;
  controls->damping_per_s = s->damping_per_s < 0 ? c->damping_per_s : s->damping_per_s;
  controls->pressure_Pa[run->model->nets.count - 1] = on_triangles(run);
  TL_TRY(tl_controls_set_joint(controls, &piston));
  return tl_controls_set_friction(controls, TL_MATERIAL_GRAIN, TL_MATERIAL_GRAIN,
                                  friction_now(run));
}

static TlStatus before_step(TlRun *run, int64_t *escaped) {
  TlTriaxial *t = tl_triaxial_state(run);
  int64_t step = run->state->totals.steps;
  *escaped = 0;
  bool line = tl_apparatus_line_in_turn(run);
  bool looks = tl_apparatus_in_turn(step, setup_of(run)->look_every_steps);
  if (line || looks) TL_TRY(tl_comm_agree(run->comm, look(run)));
  if (step == 0) begin_stage(run, 0);
  if (line) TL_TRY(write_line(run));
  if (looks) {
    if (step > 0 && !is_done(run)) TL_TRY(next_stage(run));
    t->look_N = 0;
    t->look_steps = 0;
    TL_TRY(find_escaped(run, escaped));
  }
  return tl_comm_agree(run->comm, tune(run));
}

static TlStatus after_step(TlRun *run, const TlStepReport *r) {
  TlTriaxial *t = tl_triaxial_state(run);
  t->look_N += r->guide_N;
  t->line_N += r->guide_N;
  t->line_base_N += r->boundary_N;
  t->look_steps++;
  t->line_steps++;
  t->unbalanced = tl_unbalanced_force(r);
  return TL_OK;
}

static TlStatus end(TlRun *run) {
  TL_TRY(tl_comm_agree(run->comm, look(run)));
  if (!is_done(run) && tl_comm_rank(run->comm) == 0)
    tl_log_warn(
        "the run ends in stage %lld of %lld: a longer time.duration_s and --resume continue it",
        (long long)tl_triaxial_state(run)->stage + 1, (long long)setup_of(run)->stages.count);
  if (!tl_apparatus_last_line(run, tl_triaxial_state(run)->line_steps)) return TL_OK;
  return write_line(run);
}

/* ---- the device ---- */

static bool state_is_sound(const TlRun *run) {
  const TlTriaxial *t = tl_triaxial_state(run);
  return t->stage >= 0 && t->stage <= setup_of(run)->stages.count && t->begun >= 0 &&
         t->relaxed >= 0 && t->grains >= 0 && t->look_steps >= 0 && t->line_steps >= 0;
}

static const char *platen_material(const TlSetup *setup) {
  return tl_triaxial_section(setup)->platen_material;
}

#define F(...) TL_FIELD(TlTriaxial, __VA_ARGS__)
static const TlRecordField fields[] = {TL_TRIAXIAL_FIELDS(F)};
#undef F
const TlApparatus tl_triaxial = {
    .key = "triaxial",
    .test = "a triaxial test",
    .table = TL_TABLE_TRIAXIAL,
    .columns = {"a triaxial test at one moment", 2, columns, sizeof columns / sizeof *columns},
    .state = TL_RECORD("triaxial", "The triaxial test of a run, where its study has one.",
                       TlTriaxial, fields),
    .there = tl_triaxial_there,
    .check = tl_triaxial_check,
    .expand = tl_triaxial_expand,
    .platen_material = platen_material,
    .state_is_sound = state_is_sound,
    .nets_open = hold_membrane,
    .made = find_platen,
    .ready = tell_membrane,
    .before_step = before_step,
    .after_step = after_step,
    .finished = is_done,
    .end = end};
