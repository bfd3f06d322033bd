/* An oedometer: uniaxial strain of the grains in a rigid ring, under a top platen that is loaded to
 * one vertical stress after the other (an apparatus, run/apparatus.h). Table oedometer.csv.
 *
 * The ring, round or square, stands upright on base_m and is closed below; the top platen is a
 * body on a slider that does not tilt. Measures, compression positive; h is the height between base and
 * platen, A the ring's area:
 *   axial stress          mean force on the platen since the last line, over A
 *   base, lateral stress  mean normal forces on the base over A, and on the ring over its surface
 *                         of height h
 *   axial strain          1 - h/h0; h0 is the height at the end of the first stage, which seats
 *                         the platen; 0 in that stage
 *   constrained modulus   change of the axial stress over that of the axial strain since the stage
 *                         began
 *   K0                    lateral stress over the mean of axial and base stress: friction on the
 *                         ring makes these two differ */
#include "base/log.h"
#include "base/mem.h"
#include "conf/keys.h"
#include "run/apparatus.h"
#include "run/boundary_forces.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>

/* ---- the section ---- */

typedef struct Stage {
  double vertical_stress_Pa, ramp_s, until_unbalanced, until_kinetic_fraction,
      until_stress_fraction, least_s, most_s, damping_per_s;
} Stage;

typedef struct Setup {
  double radius_m, side_m, height_m, base_m[3], platen_m, ring_friction;
  int64_t look_every_steps;
  TlStudyList stages; /* of Stage */
} Setup;

static const TlParam stage_params[] = {
    REAL(Stage, vertical_stress_Pa, "Pa", NULL, 0, 1e12,
         "stress that the top platen puts on the specimen, its own weight included; less than in "
         "the stage before unloads"),
    REAL(Stage, ramp_s, "s", "0", 0, 1e9,
         "time in which the stress changes to this value, linearly"),
    REAL(Stage, until_unbalanced, "", "0.01", 0, 1e3,
         "the stage ends when the stress is there (until_stress_fraction), the mean force that "
         "accelerates a body is below this fraction of a contact's, and until_kinetic_fraction "
         "holds"),
    REAL(Stage, until_kinetic_fraction, "", "0.01", 0, 1e3,
         "largest kinetic energy over the elastic energy of the contacts at the stage's end"),
    REAL(Stage, until_stress_fraction, "", "0.1", 0, 1e3,
         "the stress is there when what the platen bears, and what base and ring bear vertically "
         "less the grains' weight, differ from vertical_stress_Pa by at most this fraction of it, "
         "or of the stress before if it is 0"),
    REAL(Stage, least_s, "s", "0", 0, 1e9, "the stage lasts at least this long"),
    REAL(Stage, most_s, "s", "0", 0, 1e9,
         "the next stage begins by then in any case, with a warning; 0: no bound but "
         "time.duration_s"),
    REAL(Stage, damping_per_s, "1/s", "-1", -1, 1e4,
         "global damping in this stage; negative: contact.damping_per_s"),
};

const TlParam tl_oedometer_params[] = {
    REAL(Setup, radius_m, "m", "0", 0, 1e3, "inner radius of a round ring; 0: no round ring"),
    REAL(Setup, side_m, "m", "0", 0, 1e3,
         "inner side of a square ring, its sides along x and y; 0: no square ring"),
    REAL(Setup, height_m, "m", "0", 0, 1e3, "from the base to the top platen's face at the start"),
    VEC3(Setup, base_m, "m", "0,0,0", -1e7, 1e7, "middle of the base's face; the ring is upright"),
    REAL(Setup, platen_m, "m", "0", 0, 1e3,
         "thickness of the top platen, which has the grains' density; 0: a tenth of the ring's "
         "width"),
    REAL(Setup, ring_friction, "", "0", -1, 10,
         "friction of grains on ring and base; negative: contact.boundary_friction, which the top "
         "platen has"),
    INT(Setup, look_every_steps, "20", 1, 1e9,
        "check every so many steps whether the stage has come to its end"),
};
const TlStudySection tl_oedometer_sections[] = {
    {"stages", offsetof(Setup, stages), sizeof(Stage), true,
     "Vertical stresses, one after the other; the first seats the platen", stage_params,
     COUNT(stage_params), NULL, 0},
};
TL_APPARATUS_ROWS(OEDOMETER, Setup, tl_oedometer_params, tl_oedometer_sections);

static const Setup *section(const TlSetup *setup) {
  return (const Setup *)(const void *)&setup->apparatus[TL_APPARATUS_OEDOMETER];
}

static bool there(const TlSetup *setup) {
  return section(setup)->radius_m > 0 || section(setup)->side_m > 0;
}

static double width(const Setup *s) {
  return s->side_m > 0 ? s->side_m : 2 * s->radius_m;
}

static double area(const Setup *s) {
  return s->side_m > 0 ? s->side_m * s->side_m : M_PI * s->radius_m * s->radius_m;
}

static double thickness(const Setup *s) {
  return s->platen_m > 0 ? s->platen_m : 0.1 * width(s);
}

static TlStatus check(const TlSetup *setup, const TlStudy *study) {
  const Setup *s = section(setup);
  const Stage *stage = s->stages.items;
  if (!there(setup) && s->stages.count == 0) return TL_OK;
  if ((s->radius_m > 0) == (s->side_m > 0))
    return tl_study_fail(study, TL_EINPUT, "oedometer.radius_m",
                         "give either radius_m of a round ring or side_m of a square one");
  TL_TRY(tl_apparatus_needs_force(setup, study, "an oedometer"));
  if (!(s->height_m > 0))
    return tl_study_fail(study, TL_EINPUT, "oedometer.height_m",
                         "is missing: the height of the top platen's face at the start");
  if (s->stages.count == 0)
    return tl_study_fail(study, TL_EINPUT, "oedometer.stages",
                         "are missing: give the vertical stresses of the test");
  for (int64_t i = 0; i < s->stages.count; i++) {
    char path[64];
    if (stage[i].most_s == 0 || stage[i].most_s >= fmax(stage[i].least_s, stage[i].ramp_s))
      continue;
    snprintf(path, sizeof path, "oedometer.stages.%lld.most_s", (long long)i);
    return tl_study_fail(study, TL_EINPUT, path, "is less than least_s or ramp_s of this stage");
  }
  return TL_OK;
}

/* The ring with its base is the last wall, the platen the last shape and body. A gap of a
 * thousandth keeps the platen off the ring. */
static TlStatus expand(TlSetup *setup) {
  const Setup *s = section(setup);
  const double clear = 0.999, thick = thickness(s);
  TlWallSetup *ring = tl_apparatus_add_wall(setup, s->side_m > 0 ? TL_WALL_BOX : TL_WALL_CYLINDER,
                                            s->base_m, 0, s->height_m, false);
  if (!ring) return TL_ENOMEM;
  ring->size_m[0] = ring->size_m[1] = s->side_m;
  ring->radius_m = s->radius_m;
  ring->own.friction = s->ring_friction;
  TlShapeSetup shape = {
      .kind = TL_FORMULA_CYLINDER, .diameter_m = 2 * clear * s->radius_m, .length_m = thick};
  if (s->side_m > 0)
    shape = (TlShapeSetup){.kind = TL_FORMULA_BOX,
                           .size_m = {clear * s->side_m, clear * s->side_m, thick}};
  const double middle[3] = {s->base_m[0], s->base_m[1], s->base_m[2] + s->height_m + 0.5 * thick};
  return tl_apparatus_add_platen(setup, &shape, "top platen of the oedometer", middle);
}

/* ---- the state ---- */

#define FIELDS(F)                                                                                  \
  F(int64_t, platen, "", TL_SAVE, "id of the top platen's body")                                   \
  F(int64_t, stage, "", TL_SAVE, "stage in progress, from 0; their number: all are done")          \
  F(int64_t, begun, "", TL_SAVE, "step in which it began")                                         \
  F(double, from_Pa, "Pa", TL_SAVE, "stress put on when the stage began")                          \
  F(double, load_Pa, "Pa", TL_SAVE, "stress put on now")                                           \
  F(double, stage_Pa, "Pa", TL_SAVE, "axial stress measured when the stage began")                 \
  F(double, stage_height_m, "m", TL_SAVE, "height when the stage began")                           \
  F(double, start_height_m, "m", TL_SAVE,                                                          \
    "height from which strains count; 0: the platen is being seated")                              \
  F(double, height_m, "m", TL_SAVE, "height of the specimen")                                      \
  F(double, unbalanced, "1", TL_SAVE, "unbalanced force of the last step")                         \
  F(double, solid_m3, "m3", TL_SAVE, "volume of the grains")                                       \
  F(int64_t, grains, "", TL_SAVE, "grains in the ring")                                            \
  F(double, platen_N, "N", TL_SAVE,                                                                \
    "sum of the platen's force over the steps since the last line of the table")                   \
  F(double, base_N, "N", TL_SAVE, "the same of the base")                                          \
  F(double, ring_N, "N", TL_SAVE, "the same of the ring")                                          \
  F(int64_t, steps, "", TL_SAVE, "their number")                                                   \
  F(double, last_N, "N", TL_SAVE, "force on the platen in the last step")                          \
  F(double, platen_weight_N, "N", TL_SAVE, "weight of the platen")                                 \
  F(double, weight_N, "N", TL_SAVE, "weight of the grains")                                        \
  F(double, look_platen_N, "N", TL_SAVE,                                                           \
    "sum of the platen's force over the steps since the last look at the stage's end")             \
  F(double, look_bears_N, "N", TL_SAVE, "the same of what base and ring bear vertically")          \
  F(int64_t, look_steps, "", TL_SAVE, "their number")

typedef struct State {
#define F(type, name, ...) type name;
  FIELDS(F)
#undef F
} State;

static State *state(const TlRun *run) {
  return (State *)(void *)run->state->apparatus;
}

static bool finished(const TlRun *run) {
  return state(run)->stage >= section(&run->model->setup)->stages.count;
}

/* The one in progress; when all are done the last. */
static const Stage *stage_of(const TlRun *run) {
  const Setup *s = section(&run->model->setup);
  int64_t i = finished(run) ? s->stages.count - 1 : state(run)->stage;
  return (const Stage *)s->stages.items + i;
}

static double in_stage_s(const TlRun *run) {
  return (double)(run->state->totals.steps - state(run)->begun) * run->model->setup.time.dt_s;
}

static bool state_is_sound(const TlRun *run) {
  const State *t = state(run);
  return t->stage >= 0 && t->stage <= section(&run->model->setup)->stages.count && t->begun >= 0 &&
         t->grains >= 0 && t->steps >= 0 && t->look_steps >= 0;
}

/* ---- a line ---- */

typedef struct Row {
  const TlRun *run;
  const State *t;
  bool ends;
  double axial_Pa, base_Pa, lateral_Pa, strain, void_ratio, modulus_Pa, K0;
} Row;

#define COLUMNS(C)                                                                                 \
  C(time_s, "s", "time", (double)row->run->state->totals.steps * row->run->model->setup.time.dt_s) \
  C(step, "", "number of the step", row->run->state->totals.steps)                                 \
  C(stage, "", "stage in progress, from 1; one more than there are: all are done",                 \
    (double)row->t->stage + 1)                                                                     \
  C(stage_ends, "", "1: the line is its stage's last; these lines are the test's summary",         \
    row->ends)                                                                                     \
  C(load_Pa, "Pa", "vertical stress that the study puts on", row->t->load_Pa)                      \
  C(height_m, "m", "height of the specimen, from the base to the platen", row->t->height_m)        \
  C(axial_strain, "", "1 - height/height at the end of the first stage", row->strain)              \
  C(void_ratio, "", "volume of the voids over that of the grains", row->void_ratio)                \
  C(axial_stress_Pa, "Pa", "force on the top platen over the area, mean since the last line",      \
    row->axial_Pa)                                                                                 \
  C(base_stress_Pa, "Pa", "normal force on the base over the area, mean since the last line",      \
    row->base_Pa)                                                                                  \
  C(lateral_stress_Pa, "Pa",                                                                       \
    "normal force on the ring over its surface, mean since the last line", row->lateral_Pa)        \
  C(K0, "", "lateral stress over the mean of axial and base stress", row->K0)                      \
  C(constrained_modulus_Pa, "Pa",                                                                  \
    "change of axial stress over change of axial strain since the stage began", row->modulus_Pa)   \
  C(grains, "", "grains in the ring", row->t->grains)                                              \
  C(escaped, "", "grains that have left the ring so far", row->run->state->totals.outside)         \
  C(solid_volume_m3, "m3", "volume of the grains", row->t->solid_m3)                               \
  C(unbalanced_force, "", "mean force that accelerates a body over that of a contact",             \
    row->t->unbalanced)                                                                            \
  C(kinetic_energy_J, "J", "kinetic energy of all bodies",                                         \
    row->run->state->totals.balance.kinetic_J)                                                     \
  C(elastic_J, "J", "energy held by the contacts' springs",                                        \
    row->run->state->totals.balance.elastic_J)

COLUMNS(TL_COLUMN_GET)
static const TlColumn columns[] = {COLUMNS(TL_COLUMN_ROW)};

static Row row_of(const TlRun *run, bool ends) {
  const Setup *s = section(&run->model->setup);
  const State *t = state(run);
  double steps = t->steps > 0 ? (double)t->steps : 1;
  double around = s->side_m > 0 ? 4 * s->side_m : 2 * M_PI * s->radius_m;
  Row row = {.run = run, .t = t, .ends = ends};
  row.axial_Pa = t->platen_N / steps / area(s);
  row.base_Pa = t->base_N / steps / area(s);
  row.lateral_Pa = t->ring_N / steps / (around * t->height_m);
  row.K0 = 2 * row.lateral_Pa / (row.axial_Pa + row.base_Pa);
  row.strain = t->start_height_m > 0 ? 1 - t->height_m / t->start_height_m : 0;
  row.void_ratio = area(s) * t->height_m / t->solid_m3 - 1;
  double change = (t->stage_height_m - t->height_m) / t->start_height_m; /* of the strain */
  row.modulus_Pa = (row.axial_Pa - t->stage_Pa) / change;
  if (!isfinite(row.K0)) row.K0 = NAN; /* empty: nothing bears yet */
  if (!isfinite(row.modulus_Pa) || t->start_height_m == 0 || finished(run)) row.modulus_Pa = NAN;
  return row;
}

/* ---- stages ---- */

static void begin_stage(TlRun *run) {
  State *t = state(run);
  t->begun = run->state->totals.steps;
  t->from_Pa = t->load_Pa;
  t->stage_Pa = t->last_N / area(section(&run->model->setup));
  t->stage_height_m = t->height_m;
  if (t->stage == 1) t->start_height_m = t->height_m;
}

static bool is_late(const TlRun *run) {
  const Stage *s = stage_of(run);
  return s->most_s > 0 && in_stage_s(run) >= s->most_s;
}

/* Means since the last look: of the platen's force over the area, and of what base and ring bear
 * vertically, less the grains' weight. In equilibrium both are the stress that is put on. */
typedef struct Borne {
  double platen_Pa, below_Pa;
} Borne;

static Borne borne(const TlRun *run) {
  const State *t = state(run);
  double steps = t->look_steps > 0 ? (double)t->look_steps : 1;
  double A = area(section(&run->model->setup));
  return (Borne){t->look_platen_N / steps / A, (t->look_bears_N / steps - t->weight_N) / A};
}

/* Grains at rest far from the platen, or a platen that falls freely, satisfy the conditions of rest: only the
 * stress tells that the stage is done. */
static bool bears_stress(const TlRun *run) {
  const Stage *s = stage_of(run);
  const State *t = state(run);
  Borne is = borne(run);
  double wanted = s->vertical_stress_Pa;
  double within = s->until_stress_fraction * (wanted > 0 ? wanted : t->from_Pa);
  double of_weight =
      s->until_stress_fraction * fabs(t->weight_N) / area(section(&run->model->setup));
  return fabs(is.platen_Pa - wanted) <= within && fabs(is.below_Pa - wanted) <= within + of_weight;
}

static bool has_settled(const TlRun *run) {
  const Stage *s = stage_of(run);
  return in_stage_s(run) >= fmax(s->least_s, s->ramp_s) && bears_stress(run) &&
         tl_apparatus_at_rest(run, state(run)->unbalanced, s->until_unbalanced,
                              s->until_kinetic_fraction);
}

static void end_stage(TlRun *run, const Row *row) {
  State *t = state(run);
  long long number = (long long)t->stage + 1;
  char modulus[64] = "";
  if (tl_comm_rank(run->comm) == 0) {
    if (!has_settled(run)) {
      Borne is = borne(run);
      tl_log_warn("step %lld: stage %lld has not settled in %g s: of %.5g Pa the platen bears %.5g "
                  "Pa, base and ring %.5g Pa without the grains' weight; unbalanced force %.3g; "
                  "most_s ends it",
                  (long long)run->state->totals.steps, number, stage_of(run)->most_s,
                  stage_of(run)->vertical_stress_Pa, is.platen_Pa, is.below_Pa, t->unbalanced);
    }
    if (!isnan(row->modulus_Pa))
      snprintf(modulus, sizeof modulus, ", constrained modulus %.4g Pa", row->modulus_Pa);
    tl_log_info("step %lld: stage %lld of %lld ends: vertical stress %.5g Pa, axial strain %.5f, "
                "void ratio %.4f, K0 %.3f%s",
                (long long)run->state->totals.steps, number,
                (long long)section(&run->model->setup)->stages.count, row->axial_Pa, row->strain,
                row->void_ratio, row->K0, modulus);
  }
  t->stage++;
  begin_stage(run);
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
  t->weight_N = now.weight_N;
  t->grains = now.grains;
  if (t->height_m > 0) return TL_OK;
  return tl_fail(TL_ELIMIT,
                 "step %lld: the top platen is through the base: stiffer contacts, or "
                 "smaller oedometer.stages.%lld.vertical_stress_Pa",
                 (long long)run->state->totals.steps, (long long)t->stage);
}

static TlStatus write_line(TlRun *run, const Row *row) {
  State *t = state(run);
  TL_TRY(tl_apparatus_line(run, row));
  t->platen_N = t->base_N = t->ring_N = 0;
  t->steps = 0;
  return TL_OK;
}

static TlStatus before_step(TlRun *run, int64_t *escaped) {
  const Setup *s = section(&run->model->setup);
  State *t = state(run);
  int64_t step = run->state->totals.steps;
  bool line = tl_apparatus_line_in_turn(run),
       looks = tl_apparatus_in_turn(step, s->look_every_steps);
  *escaped = 0;
  if (line || looks) TL_TRY(look(run, escaped));
  if (step == 0) {
    double least = INFINITY;
    for (int64_t i = 0; i < s->stages.count; i++)
      least = fmin(least, ((const Stage *)s->stages.items)[i].vertical_stress_Pa);
    tl_apparatus_say_weight(run, t->platen_weight_N, area(s), least);
    begin_stage(run);
  }
  bool ends = looks && step > 0 && !finished(run) && (has_settled(run) || is_late(run));
  if (line || ends) {
    Row row = row_of(run, ends);
    TL_TRY(write_line(run, &row));
    if (ends) end_stage(run, &row);
  }
  if (looks) {
    t->look_platen_N = t->look_bears_N = 0;
    t->look_steps = 0;
  }
  const Stage *stage = stage_of(run);
  double part = stage->ramp_s > 0 ? fmin(1, in_stage_s(run) / stage->ramp_s) : 1;
  if (!finished(run)) t->load_Pa = t->from_Pa + part * (stage->vertical_stress_Pa - t->from_Pa);
  return tl_apparatus_press(run, t->load_Pa * area(s), t->platen_weight_N, stage->damping_per_s);
}

static TlStatus after_step(TlRun *run, const TlStepReport *report) {
  State *t = state(run);
  TlBoundaryForce *force;
  int64_t ring = run->model->setup.walls.count - 1;
  int sides =
      section(&run->model->setup)->side_m > 0 ? 4 : 1; /* parts of the ring; then its base */
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(force, (size_t)run->model->boundary_count + 1)));
  TlStatus status = tl_boundary_forces(run, -1, force);
  t->ring_N += tl_apparatus_wall_force(run, force, ring, 0, sides).normal_N;
  t->base_N += tl_apparatus_wall_force(run, force, ring, sides, -1).normal_N;
  t->platen_N += report->guide_N;
  t->look_platen_N += report->guide_N;
  t->look_bears_N -= tl_apparatus_wall_force(run, force, ring, 0, -1).force_N.z;
  t->look_steps++;
  t->unbalanced = tl_unbalanced_force(report);
  t->last_N = report->guide_N;
  t->steps++;
  tl_free(force);
  return status;
}

static TlStatus end(TlRun *run) {
  TL_TRY(look(run, NULL));
  if (!finished(run) && tl_comm_rank(run->comm) == 0)
    tl_log_warn("the run ends in stage %lld of %lld: continue it with --resume and a longer "
                "time.duration_s",
                (long long)state(run)->stage + 1,
                (long long)section(&run->model->setup)->stages.count);
  if (!tl_apparatus_last_line(run, state(run)->steps)) return TL_OK;
  Row row = row_of(run, false);
  return write_line(run, &row);
}

#define F(...) TL_FIELD(State, __VA_ARGS__)
static const TlRecordField fields[] = {FIELDS(F)};
#undef F
const TlApparatus tl_oedometer = {
    .key = "oedometer",
    .test = "an oedometer test",
    .table = TL_TABLE_OEDOMETER,
    .columns = {"an oedometer test at one moment", 1, columns, COUNT(columns)},
    .state = TL_RECORD("oedometer", "The oedometer test of a run, where its study has one.", State,
                       fields),
    .there = there,
    .check = check,
    .expand = expand,
    .state_is_sound = state_is_sound,
    .made = made,
    .before_step = before_step,
    .after_step = after_step,
    .finished = finished,
    .end = end};
