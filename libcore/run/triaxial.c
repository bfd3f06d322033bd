#include "run/triaxial.h"

#include "base/log.h"
#include "run/bodies.h"
#include "run/materials.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>

const char tl_triaxial_header[] =
    "time_s,step,stage,height_m,volume_m3,axial_strain,volumetric_strain,axial_stress_Pa,"
    "radial_stress_Pa,deviatoric_stress_Pa,mean_stress_Pa,friction_angle_deg,void_ratio,inertia_"
    "number,unbalanced_force,kinetic_energy_J,platen_force_N,base_force_N,tilt_deg,grains,escaped,"
    "solid_volume_m3,membrane_volume_m3,ram_work_J,pressure_work_J,elastic_J,friction_J,viscous_J,"
    "drag_J,net_elastic_J,net_damping_J,defect_J,kind";
enum { COLUMNS = 32 }; /* and the kind's name */

static const TlTriaxialSetup *setup_of(const TlRun *run) {
  return &run->setup.triaxial;
}

bool tl_triaxial_there(const TlRun *run) {
  return setup_of(run)->radius_m > 0;
}

bool tl_triaxial_done(const TlRun *run) {
  return tl_triaxial_there(run) && run->triaxial.stage >= setup_of(run)->stages.count;
}

static TlNet *membrane_of(const TlRun *run) {
  return &run->nets.net[run->nets.count - 1];
}

/* The one in hand; when all are done the last. */
static const TlStageSetup *stage_of(const TlRun *run) {
  const TlTriaxialSetup *t = setup_of(run);
  int64_t i = run->triaxial.stage < t->stages.count ? run->triaxial.stage : t->stages.count - 1;
  return (const TlStageSetup *)t->stages.items + i;
}

static double in_stage_s(const TlRun *run) {
  return (double)(run->totals.steps - run->triaxial.begun) * run->setup.time.dt_s;
}

/* ---- the start ---- */

/* The platen is the last body of the study, and its shape the last (setup_triaxial.h). */
static TlVec3 platen_start(const TlSetup *s) {
  const TlBodySetup *body = (const TlBodySetup *)s->bodies.items + s->bodies.count - 1;
  return tl_vec3_of(body->position_m);
}

static double thickness(const TlSetup *s) {
  return ((const TlShapeSetup *)s->shapes.items)[s->shapes.count - 1].length_m;
}

void tl_triaxial_hold(TlRun *run) {
  if (!tl_triaxial_there(run)) return;
  TlNet *net = membrane_of(run);
  net->held = true;
  net->hold = (TlNetHold){.position = platen_start(&run->setup), .rotation = {1, 0, 0, 0}};
}

void tl_triaxial_made(TlRun *run, int64_t first_placed) {
  if (!tl_triaxial_there(run)) return;
  int64_t platen = first_placed + tl_placed_count(&run->setup) - 1;
  run->triaxial.platen = platen;
  for (int64_t i = 0; i < run->bodies.owned; i++)
    if (run->bodies.id[i] == platen) {
      run->bodies.flags[i] |= TL_BODY_GUIDED;
      run->bodies.material[i] = tl_material_of_platen(&run->setup);
    }
}

void tl_triaxial_place(TlRun *run) {
  if (tl_triaxial_there(run)) membrane_of(run)->hold.body = run->triaxial.platen;
}

/* ---- a look ---- */

typedef struct Look {
  TlNetVolume volume;
  TlExact mass, height, tilt;
} Look;

static bool is_grain(const TlBodies *b, int64_t i) {
  return !(b->flags[i] & (TL_BODY_NET | TL_BODY_GUIDED | TL_BODY_FROZEN));
}

static void look_at_platen(const TlRun *run, int64_t i, Look *look) {
  TlVec3 up = tl_quat_rotate(run->bodies.rotation[i], tl_vec3(0, 0, 1));
  double face = run->bodies.position[i].z - 0.5 * thickness(&run->setup);
  tl_exact_add(&look->height, face - setup_of(run)->base_m[2]);
  tl_exact_add(&look->tilt, atan2(hypot(up.x, up.y), up.z));
}

static TlStatus gather(TlRun *run, Look *look, int64_t *grains) {
  const TlBodies *b = &run->bodies;
  TlArena arena = {0};
  TlStatus status = tl_net_volume_add(membrane_of(run), b, &arena, &look->volume);
  tl_arena_free(&arena);
  *grains = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->id[i] == run->triaxial.platen) look_at_platen(run, i, look);
    if (!is_grain(b, i)) continue;
    tl_exact_add(&look->mass, b->mass[i]);
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
  double height = run->triaxial.height_m - (t->height_m - rows);
  return sqrt(run->triaxial.membrane_m3 / (M_PI * height));
}

static double area_of(const TlRun *run) {
  return run->triaxial.volume_m3 / run->triaxial.height_m;
}

static TlStatus look(TlRun *run) {
  TlTriaxial *t = &run->triaxial;
  Look seen = {0};
  TL_TRY(gather(run, &seen, &t->grains));
  t->membrane_m3 = tl_net_volume(membrane_of(run), &seen.volume);
  t->height_m = tl_exact_value(&seen.height);
  t->tilt_rad = tl_exact_value(&seen.tilt);
  t->solid_m3 = tl_exact_value(&seen.mass) / tl_setup_solver(&run->setup).density_kg_m3;
  double r = tube_radius(run) - membrane_of(run)->radius_m;
  if (!(t->height_m > 0) || !(r > 0))
    return tl_fail(TL_ELIMIT, "step %lld: the cell has lost its volume: %g m high, %g m3",
                   (long long)run->totals.steps, t->height_m, t->membrane_m3);
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
  return run->triaxial.pressure_Pa * t->radius_m / (t->radius_m + t->membrane.radius_m);
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
  return s->kind == TL_STAGE_SHEAR ? -s->rate_per_s * run->triaxial.start_height_m : 0;
}

static double inertia_number(const TlRun *run, double mean_Pa) {
  const TlTriaxial *t = &run->triaxial;
  if (!(mean_Pa > 0) || t->grains == 0) return 0;
  double d = cbrt(6 / M_PI * t->solid_m3 / (double)t->grains);
  double rate = fabs(speed_of(run)) / t->height_m;
  return rate * d * sqrt(tl_setup_solver(&run->setup).density_kg_m3 / mean_Pa);
}

static double void_ratio(const TlRun *run) {
  return run->triaxial.volume_m3 / run->triaxial.solid_m3 - 1;
}

static double strain(double start, double now) {
  return start > 0 ? log(start / now) : 0;
}

/* ---- a line ---- */

static TlStatus write_line(TlRun *run) {
  TlTriaxial *t = &run->triaxial;
  const TlLedger *l = &run->totals.ledger;
  double platen = mean_of(t->line_N, t->line_steps), base = mean_of(t->line_base_N, t->line_steps);
  Stress s = stress_of(run, platen);
  double sum = s.axial + s.radial;
  const double value[COLUMNS] = {(double)run->totals.steps * run->setup.time.dt_s,
                                 (double)run->totals.steps,
                                 (double)t->stage + 1,
                                 t->height_m,
                                 t->volume_m3,
                                 strain(t->start_height_m, t->height_m),
                                 strain(t->start_volume_m3, t->volume_m3),
                                 s.axial,
                                 s.radial,
                                 s.deviatoric,
                                 s.mean,
                                 sum > 0 ? 180 / M_PI * asin(s.deviatoric / sum) : 0,
                                 void_ratio(run),
                                 inertia_number(run, s.mean),
                                 t->unbalanced,
                                 l->kinetic_J,
                                 platen,
                                 base,
                                 180 / M_PI * t->tilt_rad,
                                 (double)t->grains,
                                 (double)run->totals.outside,
                                 t->solid_m3,
                                 t->membrane_m3,
                                 l->wall_J,
                                 l->pressure_J,
                                 l->elastic_J,
                                 l->friction_J,
                                 l->viscous_J,
                                 l->drag_J,
                                 l->net_J,
                                 l->net_damping_J,
                                 l->defect_J};
  t->line_N = t->line_base_N = 0;
  t->line_steps = 0;
  if (run->options.no_output) return TL_OK;
  return tl_output_line(&run->output, TL_TABLE_TRIAXIAL, value, COLUMNS,
                        tl_stage_kinds[stage_of(run)->kind]);
}

/* ---- stages ---- */

/* How far the deviatoric stress is from where the stage wants it. */
static double lacks(const TlRun *run, double deviatoric) {
  return stage_of(run)->until_deviatoric_Pa - deviatoric;
}

static bool at_strain(const TlRun *run) {
  const TlStageSetup *s = stage_of(run);
  const TlTriaxial *t = &run->triaxial;
  if (s->until_strain == 0) return false;
  double left = s->until_strain - strain(t->start_height_m, t->height_m);
  return s->rate_per_s > 0 ? left <= 0 : left >= 0;
}

static bool at_rest(const TlRun *run) {
  const TlStageSetup *s = stage_of(run);
  double unbalanced = run->triaxial.unbalanced;
  return unbalanced > 0 && unbalanced < s->until_unbalanced &&
         run->totals.ledger.kinetic_J < s->until_kinetic_share * run->totals.ledger.elastic_J;
}

static bool is_over(const TlRun *run, double deviatoric) {
  const TlStageSetup *s = stage_of(run);
  const TlTriaxial *t = &run->triaxial;
  double lasted = in_stage_s(run);
  if (lasted < s->least_s || lasted < s->ramp_s) return false;
  /* not before forces were balanced with the grains' own friction */
  if (s->void_ratio > 0 && (t->relaxed == 0 || t->relaxed == run->totals.steps)) return false;
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
  double own = run->setup.contact.friction, low = s->friction < 0 ? own : s->friction;
  if (s->void_ratio == 0) return low;
  double falls = in_stage_s(run) - s->ramp_s;
  if (run->triaxial.relaxed > 0 || falls < 0) return own;
  return falls < s->ramp_s ? own + falls / s->ramp_s * (low - own) : low;
}

/* At a look: is it there? A specimen that is too dense before friction falls, or that comes to rest
 * too loose when it has fallen, is another than was asked for. */
static TlStatus relax(TlRun *run) {
  TlTriaxial *t = &run->triaxial;
  const TlStageSetup *s = stage_of(run);
  double falls = in_stage_s(run) - s->ramp_s, e = void_ratio(run);
  double since = (double)setup_of(run)->look_every_steps * run->setup.time.dt_s;
  if (s->void_ratio == 0 || t->relaxed > 0 || falls < 0) return TL_OK;
  if (falls < since && e < s->void_ratio * (1 - 1e-3))
    return tl_fail(
        TL_EINPUT,
        "step %lld: under the cell pressure the specimen has a void ratio of %.4f, below "
        "the %.4f of triaxial.stages.%lld.void_ratio: settle it with more friction",
        (long long)run->totals.steps, e, s->void_ratio, (long long)t->stage);
  bool late = s->most_s > 0 && in_stage_s(run) >= s->most_s;
  if (e > s->void_ratio && (late || (falls > 2 * s->ramp_s && at_rest(run))))
    return tl_fail(TL_EINPUT,
                   "step %lld: the specimen has %s a void ratio of %.4f, above the %.4f of "
                   "triaxial.stages.%lld.void_ratio: a lower friction there, or more most_s",
                   (long long)run->totals.steps, late ? "by most_s" : "come to rest at", e,
                   s->void_ratio, (long long)t->stage);
  if (e > s->void_ratio) return TL_OK;
  if (tl_comm_rank(run->comm) == 0)
    tl_log_info("step %lld: void ratio %.4f, with friction %.3g: from here on it is %g again",
                (long long)run->totals.steps, e, friction_now(run), run->setup.contact.friction);
  t->relaxed = run->totals.steps;
  return TL_OK;
}

/* ---- from one to the next ---- */

static void say_stage(const TlRun *run, double deviatoric) {
  const TlTriaxial *t = &run->triaxial;
  char number[48] = "";
  if (tl_comm_rank(run->comm) != 0) return;
  if (stage_of(run)->kind == TL_STAGE_SHEAR)
    snprintf(number, sizeof number, ", inertia number %.3g",
             inertia_number(run, t->pressure_Pa + deviatoric / 3));
  tl_log_info("step %lld, %.4g s: stage %lld of %lld, %s, begins: height %.5g m, void ratio %.4f, "
              "deviatoric stress %.4g Pa%s",
              (long long)run->totals.steps, (double)run->totals.steps * run->setup.time.dt_s,
              (long long)t->stage + 1, (long long)setup_of(run)->stages.count,
              tl_stage_kinds[stage_of(run)->kind], t->height_m, void_ratio(run), deviatoric,
              number);
}

static void begin_stage(TlRun *run, double deviatoric) {
  TlTriaxial *t = &run->triaxial;
  t->begun = run->totals.steps;
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
  if (!shears || run->triaxial.warned || in_stage_s(run) == 0 || number < 1e-3) return;
  run->triaxial.warned = 1;
  if (tl_comm_rank(run->comm) == 0)
    tl_log_warn("step %lld: inertia number %.3g: above 1e-3 shear is no longer quasi-static; a "
                "smaller triaxial.stages.%lld.rate_per_s",
                (long long)run->totals.steps, number, (long long)run->triaxial.stage);
}

static TlStatus next_stage(TlRun *run) {
  TlTriaxial *t = &run->triaxial;
  const TlStageSetup *s = stage_of(run);
  Stress stress = stress_of(run, mean_of(t->look_N, t->look_steps));
  watch_speed(run, stress.mean);
  TL_TRY(relax(run));
  bool late = s->most_s > 0 && in_stage_s(run) >= s->most_s, over = is_over(run, stress.deviatoric);
  if (!over && !late) return TL_OK;
  if (!over && tl_comm_rank(run->comm) == 0)
    tl_log_warn("step %lld: stage %lld has not come to its end in %g s (unbalanced force %.3g, "
                "kinetic over elastic energy %.3g): most_s ends it",
                (long long)run->totals.steps, (long long)t->stage + 1, s->most_s, t->unbalanced,
                run->totals.ledger.kinetic_J / run->totals.ledger.elastic_J);
  t->stage++;
  if (!tl_triaxial_done(run)) begin_stage(run, stress.deviatoric);
  return TL_OK;
}

/* ---- who got out ---- */

static TlStatus widest(const TlRun *run, double *radius) {
  const TlBodies *b = &run->bodies;
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
  TlBodies *b = &run->bodies;
  const double *base = setup_of(run)->base_m;
  double wide, top = base[2] + run->triaxial.height_m;
  *escaped = 0;
  TL_TRY(widest(run, &wide));
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 x = b->position[i];
    double r = b->radius[i];
    if (!is_grain(b, i)) continue;
    if (hypot(x.x - base[0], x.y - base[1]) < wide + r && x.z > base[2] - r && x.z < top + r)
      continue;
    b->flags[i] |= TL_BODY_OUTSIDE;
    ++*escaped;
    tl_log_warn("step %lld: grain %lld is out of the cell, at x = %g, y = %g, z = %g m",
                (long long)run->totals.steps, (long long)b->id[i], x.x, x.y, x.z);
  }
  return tl_comm_sum_int(run->comm, escaped, 1);
}

/* ---- before and after a step ---- */

static bool in_turn(int64_t step, int64_t every) {
  return step % every == 0;
}

static void set_pressure(TlRun *run) {
  TlTriaxial *t = &run->triaxial;
  const TlStageSetup *s = stage_of(run);
  double to = s->pressure_Pa < 0 ? t->from_Pa : s->pressure_Pa;
  double share = s->ramp_s > 0 ? fmin(1, in_stage_s(run) / s->ramp_s) : 1;
  t->pressure_Pa = t->from_Pa + share * (to - t->from_Pa);
}

static TlStatus tune(TlRun *run) {
  const TlStageSetup *s = stage_of(run);
  const TlContactSetup *c = &run->setup.contact;
  set_pressure(run);
  TlGuide guide = {.body = run->triaxial.platen,
                   .axis = {0, 0, 1},
                   .driven = s->kind != TL_STAGE_CONSOLIDATE,
                   .speed_m_s = speed_of(run),
                   .load_N = -run->triaxial.pressure_Pa * area_of(run),
                   .tilts = setup_of(run)->tilts && run->triaxial.start_height_m > 0};
  TL_TRY(tl_solver_set_guides(run->solver, &guide, 1));
  TL_TRY(tl_solver_set_pressure(run->solver, (int)run->nets.count - 1, on_triangles(run)));
  TL_TRY(tl_solver_set_friction(run->solver, friction_now(run)));
  return tl_solver_set_damping(run->solver,
                               s->damping_per_s < 0 ? c->damping_per_s : s->damping_per_s);
}

TlStatus tl_triaxial_before(TlRun *run, int64_t *escaped) {
  TlTriaxial *t = &run->triaxial;
  int64_t step = run->totals.steps;
  *escaped = 0;
  if (!tl_triaxial_there(run)) return TL_OK;
  bool line = in_turn(step, tl_setup_every(&run->setup, run->setup.time.history_every_s));
  bool looks = in_turn(step, setup_of(run)->look_every_steps);
  if (line || looks) TL_TRY(tl_comm_agree(run->comm, look(run)));
  if (step == 0) begin_stage(run, 0);
  if (line) TL_TRY(write_line(run));
  if (looks) {
    if (step > 0 && !tl_triaxial_done(run)) TL_TRY(next_stage(run));
    t->look_N = 0;
    t->look_steps = 0;
    TL_TRY(find_escaped(run, escaped));
  }
  return tl_comm_agree(run->comm, tune(run));
}

void tl_triaxial_after(TlRun *run, const TlStepReport *r) {
  TlTriaxial *t = &run->triaxial;
  if (!tl_triaxial_there(run)) return;
  t->look_N += r->guide_N;
  t->line_N += r->guide_N;
  t->line_base_N += r->boundary_N;
  t->look_steps++;
  t->line_steps++;
  t->unbalanced = tl_ledger_unbalanced(r);
}

TlStatus tl_triaxial_end(TlRun *run) {
  const TlTriaxialSetup *t = setup_of(run);
  if (!tl_triaxial_there(run)) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, look(run)));
  if (!tl_triaxial_done(run) && tl_comm_rank(run->comm) == 0)
    tl_log_warn(
        "the run ends in stage %lld of %lld: a longer time.duration_s and --resume continue it",
        (long long)run->triaxial.stage + 1, (long long)t->stages.count);
  return write_line(run);
}
