/* A direct shear test: grains in two half boxes, pressed by a top platen under a constant normal
 * stress, are sheared along the plane between the halves (an apparatus, run/apparatus.h). Table
 * direct_shear.csv.
 *
 * As in most laboratory devices the lower half is driven, along x, and the upper half is held: only
 * the movement of one against the other matters. The platen is a body on a slider that does not tilt.
 * Measures:
 *   displacement   of the lower half, a function of time alone
 *   shear force    of the grains along x on the upper half and the platen, what the load cell of the
 *                  device bears, mean since the last line; shear stress: that over the area
 *                  length_m width_m, which the displacement does not change in the figure
 *   drive force    what moves the lower half: the shear force and what global damping and inertia
 *                  take from the grains that move with it
 *   normal stress  mean force on the platen since the last line, over that area
 *   dilation       height of the specimen less that when shearing began, 0 before */
#include "base/log.h"
#include "base/mem.h"
#include "conf/keys.h"
#include "run/apparatus.h"
#include "run/boundary_forces.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>

/* ---- the section ---- */

typedef struct Setup {
  double length_m, width_m, height_m, plane_m, gap_m, base_m[3], platen_m, wall_m;
  double normal_stress_Pa, ramp_s, consolidate_s, rate_m_s, until_displacement_m, damping_per_s;
} Setup;

const TlParam tl_direct_shear_params[] = {
    REAL(Setup, length_m, "m", "0", 0, 1e3, "inner length of the box, along x; 0: no shear box"),
    REAL(Setup, width_m, "m", "0", 0, 1e3, "inner width of the box, along y; 0: as its length"),
    REAL(Setup, height_m, "m", "0", 0, 1e3, "from the base to the top platen's face at the start"),
    REAL(Setup, plane_m, "m", "0", 0, 1e3,
         "height of the shear plane above the base; 0: half of height_m"),
    REAL(Setup, gap_m, "m", "0", 0, 1e3, "gap between the halves, about the shear plane"),
    VEC3(Setup, base_m, "m", "0,0,0", -1e7, 1e7, "middle of the base's face; the box is upright"),
    REAL(Setup, platen_m, "m", "0", 0, 1e3,
         "thickness of the top platen, which has the grains' density; 0: a tenth of length_m"),
    REAL(Setup, wall_m, "m", "0", 0, 1e3,
         "thickness of the halves' walls, wide enough to cover the other half when it has moved; "
         "0: until_displacement_m and a tenth of length_m"),
    REAL(Setup, normal_stress_Pa, "Pa", "0", 0, 1e12,
         "stress that the top platen puts on, its own weight included"),
    REAL(Setup, ramp_s, "s", "0", 0, 1e9, "time in which the normal stress gets there, linearly"),
    REAL(Setup, consolidate_s, "s", "0", 0, 1e9,
         "time for which the normal stress acts alone, its ramp included; then shearing begins"),
    REAL(Setup, rate_m_s, "m/s", "0", -1e3, 1e3,
         "speed of the lower half along x against the upper one"),
    REAL(Setup, until_displacement_m, "m", "0", 0, 1e3,
         "the test ends when the lower half has moved this far"),
    REAL(Setup, damping_per_s, "1/s", "-1", -1, 1e4,
         "global damping until shearing begins; negative: contact.damping_per_s"),
};
const TlStudySection tl_direct_shear_sections[1] = {{.key = NULL}};
_Static_assert(sizeof(Setup) <= TL_APPARATUS_BYTES, "TL_APPARATUS_BYTES holds the section");
_Static_assert(COUNT(tl_direct_shear_params) == TL_DIRECT_SHEAR_PARAMS, "store/apparatuses.h");

static const Setup *section(const TlSetup *setup) {
  return (const Setup *)(const void *)&setup->apparatus[TL_APPARATUS_DIRECT_SHEAR];
}

static bool there(const TlSetup *setup) {
  return section(setup)->length_m > 0;
}

static double width(const Setup *s) {
  return s->width_m > 0 ? s->width_m : s->length_m;
}

static double area(const Setup *s) {
  return s->length_m * width(s);
}

static double thickness(const Setup *s) {
  return s->platen_m > 0 ? s->platen_m : 0.1 * s->length_m;
}

static double plane(const Setup *s) {
  return s->plane_m > 0 ? s->plane_m : 0.5 * s->height_m;
}

static double shear_s(const Setup *s) {
  return s->until_displacement_m / fabs(s->rate_m_s);
}

static TlStatus check(const TlSetup *setup, const TlStudy *study) {
  const Setup *s = section(setup);
  const struct {
    double value;
    const char *key, *what;
  } needed[] = {
      {s->length_m, "length_m", "the length of the box"},
      {s->height_m, "height_m", "the height of the top platen's face at the start"},
      {s->normal_stress_Pa, "normal_stress_Pa", "the stress that the top platen puts on"},
      {fabs(s->rate_m_s), "rate_m_s", "the speed of the lower half"},
      {s->until_displacement_m, "until_displacement_m", "how far the lower half moves"},
  };
  const size_t count = sizeof needed / sizeof *needed;
  bool any = false;
  for (size_t i = 0; i < count; i++) any |= needed[i].value > 0;
  if (!any) return TL_OK;
  for (size_t i = 0; i < count; i++) {
    char path[64];
    if (needed[i].value > 0) continue;
    snprintf(path, sizeof path, "direct_shear.%s", needed[i].key);
    return tl_study_fail(study, TL_EINPUT, path, "is missing: %s", needed[i].what);
  }
  TL_TRY(tl_apparatus_needs_force(setup, study, "a direct shear box"));
  if (plane(s) >= s->height_m)
    return tl_study_fail(study, TL_EINPUT, "direct_shear.plane_m", "is no less than height_m");
  if (s->gap_m >= plane(s) || s->gap_m >= s->height_m - plane(s))
    return tl_study_fail(study, TL_EINPUT, "direct_shear.gap_m", "leaves nothing of a half");
  if (!(s->consolidate_s > 0) || s->consolidate_s < s->ramp_s)
    return tl_study_fail(study, TL_EINPUT, "direct_shear.consolidate_s",
                         "must be above 0 and no less than ramp_s: the normal stress acts first");
  if (s->wall_m > 0 && s->wall_m < s->until_displacement_m)
    return tl_study_fail(study, TL_EINPUT, "direct_shear.wall_m",
                         "is less than until_displacement_m: grains would get out between the "
                         "halves");
  return TL_OK;
}

/* A half box: open above, and below if it is the upper one, from low to high over the base. */
static TlStatus add_half(TlSetup *setup, bool upper, double low, double high) {
  const Setup *s = section(setup);
  TlWallSetup *half = tl_apparatus_add_wall(setup, TL_WALL_BOX, s->base_m, low, high, upper);
  if (!half) return TL_ENOMEM;
  half->size_m[0] = s->length_m;
  half->size_m[1] = width(s);
  half->thickness_m = s->wall_m > 0 ? s->wall_m : s->until_displacement_m + 0.1 * s->length_m;
  if (upper) return TL_OK;
  half->moves = 2;
  half->move_time_s[0] = s->consolidate_s;
  half->move_time_s[1] = s->consolidate_s + shear_s(s);
  half->move_m[1][0] = copysign(s->until_displacement_m, s->rate_m_s);
  return TL_OK;
}

/* The lower half is the last wall but one, the upper the last; the platen is the last shape and
 * body. A gap of a thousandth keeps it off the walls. */
static TlStatus expand(TlSetup *setup) {
  const Setup *s = section(setup);
  const double clear = 0.999, thick = thickness(s);
  TL_TRY(add_half(setup, false, 0, plane(s) - 0.5 * s->gap_m));
  TL_TRY(add_half(setup, true, plane(s) + 0.5 * s->gap_m, s->height_m + thick));
  const TlShapeSetup shape = {.kind = TL_FORMULA_BOX,
                              .size_m = {clear * s->length_m, clear * width(s), thick}};
  const double at[3] = {s->base_m[0], s->base_m[1], s->base_m[2] + s->height_m + 0.5 * thick};
  return tl_apparatus_add_platen(setup, &shape, "top platen of the direct shear box", at);
}

/* ---- the state ---- */

#define FIELDS(F)                                                                                  \
  F(int64_t, platen, "", TL_SAVE, "id of the top platen's body")                                   \
  F(double, start_height_m, "m", TL_SAVE, "height when shearing began; 0: it has not")             \
  F(double, height_m, "m", TL_SAVE, "height of the specimen")                                      \
  F(double, unbalanced, "1", TL_SAVE, "unbalanced force of the last step")                         \
  F(double, platen_weight_N, "N", TL_SAVE, "weight of the platen")                                 \
  F(double, solid_m3, "m3", TL_SAVE, "volume of the grains")                                       \
  F(int64_t, grains, "", TL_SAVE, "grains in the box")                                             \
  F(double, platen_N, "N", TL_SAVE,                                                                \
    "sum of the platen's force over the steps since the last line of the table")                   \
  F(double, drive_N, "N", TL_SAVE, "the same of the force that drives the lower half")             \
  F(double, held_N, "N", TL_SAVE, "the same of the force that holds the upper half")               \
  F(int64_t, steps, "", TL_SAVE, "their number")                                                   \
  F(double, peak_Pa, "Pa", TL_SAVE, "largest shear stress of a line")                              \
  F(double, peak_m, "m", TL_SAVE, "displacement there")

typedef struct State {
#define F(type, name, ...) type name;
  FIELDS(F)
#undef F
} State;

static State *state(const TlRun *run) {
  return (State *)(void *)run->state->apparatus;
}

static double time_now(const TlRun *run) {
  return (double)run->state->totals.steps * run->model->setup.time.dt_s;
}

static double displacement(const TlRun *run) {
  const Setup *s = section(&run->model->setup);
  double shears = fmin(shear_s(s), fmax(0, time_now(run) - s->consolidate_s));
  return shears * s->rate_m_s;
}

static bool finished(const TlRun *run) {
  const Setup *s = section(&run->model->setup);
  return time_now(run) > s->consolidate_s + shear_s(s) - 0.5 * run->model->setup.time.dt_s;
}

static bool state_is_sound(const TlRun *run) {
  const State *t = state(run);
  return t->grains >= 0 && t->steps >= 0;
}

/* ---- a line ---- */

typedef struct Row {
  const TlRun *run;
  const State *t;
  double displacement_m, shear_N, drive_N, shear_Pa, normal_Pa, dilation_m, void_ratio;
} Row;

#define COLUMNS(C)                                                                                 \
  C(time_s, "s", "time", time_now(row->run))                                                       \
  C(step, "", "number of the step", row->run->state->totals.steps)                                 \
  C(displacement_m, "m", "displacement of the lower half along x", row->displacement_m)            \
  C(shear_strain, "", "displacement over the height when shearing began",                          \
    row->t->start_height_m > 0 ? row->displacement_m / row->t->start_height_m : 0)                 \
  C(shear_stress_Pa, "Pa", "shear force over the area of the shear plane", row->shear_Pa)          \
  C(normal_stress_Pa, "Pa", "force on the top platen over that area, mean since the last line",    \
    row->normal_Pa)                                                                                \
  C(stress_ratio, "", "shear over normal stress",                                                  \
    row->normal_Pa > 0 ? row->shear_Pa / row->normal_Pa : NAN)                                     \
  C(dilation_m, "m", "height less that when shearing began", row->dilation_m)                      \
  C(height_m, "m", "height of the specimen, from the base to the platen", row->t->height_m)        \
  C(void_ratio, "", "volume of the voids over that of the grains", row->void_ratio)                \
  C(shear_force_N, "N",                                                                            \
    "force of the grains on upper half and platen along x, mean since the "                        \
    "last line",                                                                                   \
    row->shear_N)                                                                                  \
  C(drive_force_N, "N", "force that moves the lower half along x, mean since the last line",       \
    row->drive_N)                                                                                  \
  C(grains, "", "grains in the box", row->t->grains)                                               \
  C(escaped, "", "grains that have left the box so far", row->run->state->totals.outside)          \
  C(solid_volume_m3, "m3", "volume of the grains", row->t->solid_m3)                               \
  C(unbalanced_force, "", "mean force that accelerates a body over that of a contact",             \
    row->t->unbalanced)                                                                            \
  C(kinetic_energy_J, "J", "kinetic energy of all bodies",                                         \
    row->run->state->totals.balance.kinetic_J)

COLUMNS(TL_COLUMN_GET)
static const TlColumn columns[] = {COLUMNS(TL_COLUMN_ROW)};

static TlStatus write_line(TlRun *run) {
  const Setup *s = section(&run->model->setup);
  State *t = state(run);
  double steps = t->steps > 0 ? (double)t->steps : 1;
  Row row = {.run = run, .t = t, .displacement_m = displacement(run)};
  row.shear_N = t->held_N / steps;
  row.drive_N = t->drive_N / steps;
  row.shear_Pa = row.shear_N / area(s);
  row.normal_Pa = t->platen_N / steps / area(s);
  row.dilation_m = t->start_height_m > 0 ? t->height_m - t->start_height_m : 0;
  row.void_ratio = area(s) * t->height_m / t->solid_m3 - 1;
  if (t->start_height_m > 0 && fabs(row.shear_Pa) > fabs(t->peak_Pa)) {
    t->peak_Pa = row.shear_Pa;
    t->peak_m = row.displacement_m;
  }
  TL_TRY(tl_apparatus_line(run, &row));
  t->platen_N = t->drive_N = t->held_N = 0;
  t->steps = 0;
  return TL_OK;
}

/* ---- hooks ---- */

static TlStatus made(TlRun *run, int64_t first_placed) {
  const Setup *s = section(&run->model->setup);
  TL_TRY(tl_apparatus_mark_platen(run, first_placed, &state(run)->platen));
  return tl_apparatus_check_specimen(run, s->base_m, s->height_m);
}

static TlStatus look(TlRun *run, int64_t *escaped) {
  const Setup *s = section(&run->model->setup);
  State *t = state(run);
  TlApparatusSpecimen now;
  TL_TRY(tl_apparatus_look(run, s->base_m, t->platen, thickness(s), &now, escaped));
  t->height_m = now.height_m;
  t->solid_m3 = now.solid_m3;
  t->platen_weight_N = now.platen_N;
  t->grains = now.grains;
  if (t->height_m > plane(s)) return TL_OK;
  return tl_fail(TL_ELIMIT,
                 "step %lld: the top platen has come down to the shear plane, %g m above the base: "
                 "more grains, or a lower direct_shear.plane_m",
                 (long long)run->state->totals.steps, t->height_m);
}

static TlStatus before_step(TlRun *run, int64_t *escaped) {
  const Setup *s = section(&run->model->setup);
  State *t = state(run);
  bool shears = time_now(run) >= s->consolidate_s, line = tl_apparatus_line_in_turn(run);
  bool begins = shears && t->start_height_m == 0;
  *escaped = 0;
  if (line || begins) TL_TRY(look(run, escaped));
  if (run->state->totals.steps == 0)
    tl_apparatus_say_weight(run, t->platen_weight_N, area(s), s->normal_stress_Pa);
  if (begins) {
    t->start_height_m = t->height_m;
    if (tl_comm_rank(run->comm) == 0)
      tl_log_info("step %lld, %.4g s: shearing begins: height %.5g m, void ratio %.4f",
                  (long long)run->state->totals.steps, time_now(run), t->height_m,
                  area(s) * t->height_m / t->solid_m3 - 1);
  }
  if (line) TL_TRY(write_line(run));
  double part = s->ramp_s > 0 ? fmin(1, time_now(run) / s->ramp_s) : 1;
  return tl_apparatus_press(run, part * s->normal_stress_Pa * area(s), t->platen_weight_N,
                            shears ? -1 : s->damping_per_s);
}

static TlStatus after_step(TlRun *run, const TlStepReport *report) {
  State *t = state(run);
  TlBoundaryForce *force;
  int64_t upper = run->model->setup.walls.count - 1;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(force, (size_t)run->model->boundary_count + 1)));
  TlStatus status = tl_boundary_forces(run, t->platen, force);
  t->drive_N -= tl_apparatus_wall_force(run, force, upper - 1, 0, -1).force_N.x;
  t->held_N += tl_apparatus_wall_force(run, force, upper, 0, -1).force_N.x +
               force[run->model->boundary_count].force_N.x;
  t->platen_N += report->guide_N;
  t->unbalanced = tl_unbalanced_force(report);
  t->steps++;
  tl_free(force);
  return status;
}

static TlStatus end(TlRun *run) {
  const Setup *s = section(&run->model->setup);
  const State *t = state(run);
  TL_TRY(look(run, NULL));
  if (tl_apparatus_last_line(run, t->steps)) TL_TRY(write_line(run));
  if (tl_comm_rank(run->comm) != 0) return TL_OK;
  if (!finished(run))
    tl_log_warn("the run ends at a displacement of %.4g m of %.4g m: continue it with --resume and "
                "a longer time.duration_s",
                fabs(displacement(run)), s->until_displacement_m);
  tl_log_info("largest shear stress %.4g Pa (%.4f of the normal stress) at a displacement of %.4g "
              "m; dilation at the end %.4g m",
              t->peak_Pa, t->peak_Pa / s->normal_stress_Pa, t->peak_m,
              t->start_height_m > 0 ? t->height_m - t->start_height_m : 0);
  return TL_OK;
}

#define F(...) TL_FIELD(State, __VA_ARGS__)
static const TlRecordField fields[] = {FIELDS(F)};
#undef F
const TlApparatus tl_direct_shear = {
    .key = "direct_shear",
    .test = "a direct shear test",
    .table = TL_TABLE_DIRECT_SHEAR,
    .columns = {"a direct shear test at one moment", 1, columns, COUNT(columns)},
    .state = TL_RECORD("direct_shear", "The direct shear test of a run, where its study has one.",
                       State, fields),
    .there = there,
    .check = check,
    .expand = expand,
    .state_is_sound = state_is_sound,
    .made = made,
    .before_step = before_step,
    .after_step = after_step,
    .finished = finished,
    .end = end};
