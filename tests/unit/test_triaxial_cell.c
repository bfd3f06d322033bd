/* The triaxial cell as it runs, against closed forms: cell pressure, strains, stresses, the speed
 * of the platen, what a stage sets in the solver and when it ends. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "solve/step.h"
#include "io/csv_table.h"
#include "run/materials.h"
#include "run/run.h"
#include "run/triaxial.h"

#include <stdio.h>

/* 45 balls in columns between the platens, without gravity, in a membrane of one layer. */
static const double RADIUS = 0.016, HEIGHT = 0.041, SKIN = 0.004, DT = 2.5e-5, BALL = 8e-3,
                    DENSITY = 2600;
enum { LINE_STEPS = 20, LOOK_STEPS = 10, BALLS = 45 };

#define COLUMN(x, y)                                                                               \
  "- {shape: ball, position_m: [" x ", " y ", 0.0041], count: 5, step_m: [0, 0, 0.0081]}\n"
#define CELL                                                                                       \
  "time: {dt_s: 2.5e-5, duration_s: 1, frame_every_s: 0, history_every_s: 5.0e-4}\n"               \
  "gravity_m_s2: [0, 0, 0]\n"                                                                      \
  "shapes: [{name: ball, kind: sphere, diameter_m: 8.0e-3}]\n"                                     \
  "grains: {density_kg_m3: 2600}\n"                                                                \
  "solver: {method: penalty}\n"                                                                    \
  "penalty: {spread: deepest, normal_N_m: 1.0e+4}\n"                                               \
  "contact: {friction: 0.5, restitution: 0.1, boundary_friction: 0.2, boundary_restitution: 0.3, " \
  "damping_per_s: 50}\n"                                                                           \
  "bodies:\n" COLUMN("-0.0081", "-0.0081") COLUMN("-0.0081", "0") COLUMN("-0.0081", "0.0081")      \
      COLUMN("0", "-0.0081") COLUMN("0", "0") COLUMN("0", "0.0081") COLUMN("0.0081", "-0.0081")    \
          COLUMN("0.0081", "0") COLUMN("0.0081", "0.0081")
#define DEVICE                                                                                     \
  "triaxial:\n"                                                                                    \
  "  radius_m: 0.016\n"                                                                            \
  "  height_m: 0.041\n"                                                                            \
  "  tilts: yes\n"                                                                                 \
  "  look_every_steps: 10\n"                                                                       \
  "  membrane: {radius_m: 0.004, stiffness_N_m: 400, tangential_stiffness_N_m: 50, damping: 0.3, " \
  "layers: 1}\n"                                                                                   \
  "  stages:\n"

/* Squeezed for 200 steps, the pressure ramped up in the first 100; sheared to a strain; unloaded to
 * a smaller one under half of the pressure, ramped in 40 steps; held for 80 steps. */
static const char sheared_study[] = CELL DEVICE
    "  - {kind: consolidate, pressure_Pa: 2.0e+4, ramp_s: 2.5e-3, damping_per_s: 400, "
    "friction: 0.2, until_unbalanced: 0, most_s: 5.0e-3}\n"
    "  - {kind: shear, rate_per_s: 8, until_strain: 0.08}\n"
    "  - {kind: shear, rate_per_s: -4, until_strain: 0.06, pressure_Pa: 1.0e+4, ramp_s: "
    "1.0e-3}\n"
    "  - {kind: hold, least_s: 2.0e-3}\n";
enum { SHEAR_BEGINS = 200 };
static const double PRESSURE = 2e4, HALF_PRESSURE = 1e4;

/* ---- running with a look at the solver after each step ---- */

typedef struct Watched {
  TlRun run;
  int64_t step;
  int64_t pairs[4]; /* of balls, of a stage, summed over its steps */
  int64_t begun[5]; /* step in which a stage began; 0: not yet, and the first */
  void (*watch)(struct Watched *w);
  char *set; /* a key of the study anew; NULL: none */
} Watched;

static int look_on(void *context) {
  Watched *w = context;
  int64_t stage = tl_triaxial_state(&w->run)->stage;
  w->step = w->run.state->totals.steps;
  ck_assert_int_lt(stage, 5);
  if (stage > 0 && w->begun[stage] == 0) w->begun[stage] = tl_triaxial_state(&w->run)->begun;
  if (w->watch) w->watch(w);
  return 0;
}

/* Runs a study to its end; the run stays open, its tables lie in the folder. */
static char *run_cell(Watched *w, const char *name, const char *text) {
  char *study = tl_format("%s/%s.yaml", tl_test_folder(), name),
       *results = tl_format("%s/%s.run", tl_test_folder(), name);
  CK_OK(tl_file_write(study, text, strlen(text), true));
  TlRunOptions options = {.study = study,
                          .sets = &(TlTexts){&w->set, w->set ? 1 : 0},
                          .output = results,
                          .overwrite = true,
                          .stop = look_on,
                          .stop_context = w};
  tl_par_set_threads(1);
  tl_log_set("test", TL_LOG_ERROR);
  CK_OK(tl_run_open(&w->run, NULL, &options));
  CK_OK(tl_run_go(&w->run));
  tl_free(study);
  return results;
}

typedef struct Table {
  TlTable csv;
} Table;

static void open_table(Table *t, const char *results) {
  char *path = tl_path_join(results, "triaxial.csv");
  CK_OK(tl_table_read(path, &t->csv));
  tl_free(path);
}

static double cell(const Table *t, int64_t row, const char *name) {
  int column;
  double value;
  CK_OK(tl_table_need(&t->csv, name, &column));
  CK_OK(tl_table_number(&t->csv, row, column, &value));
  return value;
}

/* ---- tests ---- */

/* The membrane's first and last row stand this far from the platens' faces, all the time: the last
 * row goes with the top platen. */
static double rows_short_of_height(const TlRun *run) {
  const TlNet *net = &run->model->nets.net[run->model->nets.count - 1];
  double first = tl_net_point(net, 0).z,
         last = tl_net_point(net, (int64_t)net->rows * net->columns - 1).z;
  return HEIGHT - (last - first);
}

static double pressure_at(const Watched *w, int64_t step) {
  const int64_t *b = w->begun;
  if (step < SHEAR_BEGINS) return PRESSURE * fmin(1, (double)step * DT / 2.5e-3);
  if (b[2] == 0 || step < b[2]) return PRESSURE;
  double part = fmin(1, (double)(step - b[2]) * DT / 1e-3);
  return PRESSURE + part * (HALF_PRESSURE - PRESSURE);
}

/* What the step that has just ended was made with: its stage's friction, damping, pressure, and the
 * platen's speed, all as the study says them. */
static void stages_set_the_solver(Watched *w) {
  static const double friction[4] = {0.2, 0.5, 0.5, 0.5}, damping[4] = {400, 50, 50, 50};
  const TlTriaxial *t = tl_triaxial_state(&w->run);
  const TlModel *model = w->run.model->dem;
  const TlControls *controls = &w->run.controls;
  const TlMaterials *materials = &model->materials;
  const TlJointControl *g = &controls->joint[0];
  double rate = t->stage == 1 ? 8 : t->stage == 2 ? -4 : 0;
  if (t->stage > 3) return;
  CK_NEAR(tl_controls_friction(controls, materials, TL_MATERIAL_GRAIN, TL_MATERIAL_GRAIN),
          friction[t->stage], 0);
  CK_NEAR(controls->damping_per_s, damping[t->stage], 0);
  CK_NEAR(t->pressure_Pa, pressure_at(w, w->step - 1), 1e-9 * PRESSURE);
  /* the pressure acts on the spheres' centres, outside of the specimen: the same force on a unit of
   * angle, so less by the ratio of the radii */
  CK_NEAR(controls->pressure_Pa[0], t->pressure_Pa * RADIUS / (RADIUS + SKIN), 1e-9 * PRESSURE);
  ck_assert_uint_eq(controls->joint_count, 1);
  ck_assert_int_eq(g->driven, t->stage != 0);
  ck_assert_int_eq(g->tilts, t->stage != 0); /* from the first shear stage on */
  CK_NEAR(g->speed, -rate * t->start_height_m, 1e-12);
  CK_NEAR(g->load, -t->pressure_Pa * t->volume_m3 / t->height_m, 1e-9);
  /* the platen's own contacts: those of a boundary */
  int32_t platen = tl_material_of_platen(&w->run.model->setup);
  const TlPairLaw *law = &materials->law[tl_pair_law(materials, TL_MATERIAL_GRAIN, platen)];
  CK_NEAR(law->friction, 0.2, 0);
  CK_NEAR(law->restitution, 0.3, 0);
  /* and what is written of a contact is the friction that it had in that step */
  TlContactRow *rows;
  int64_t count, pairs = 0;
  CK_OK(tl_step_contacts(model, &w->run.state->dem, w->run.work, &rows, &count));
  for (int64_t i = 0; i < count; i++) {
    bool balls = rows[i].second >= 0 && rows[i].second < BALLS;
    if (balls) CK_NEAR(rows[i].friction, friction[t->stage], 0);
    if (rows[i].second < 0 && rows[i].first < BALLS) CK_NEAR(rows[i].friction, 0.2, 0);
    pairs += balls;
  }
  w->pairs[t->stage] += pairs;
  tl_free(rows);
}

/* Where the platen is at the start of a step of a driven stage. */
static double driven_height(const Watched *w, int64_t step, double start) {
  double travel = 8 * (double)((step < w->begun[2] ? step : w->begun[2]) - w->begun[1]);
  int64_t back = step < w->begun[3] ? step : w->begun[3];
  if (step > w->begun[2]) travel -= 4 * (double)(back - w->begun[2]);
  return start * (1 - travel * DT);
}

static void figures_have_their_closed_forms(char *method) {
  Watched w = {.watch = stages_set_the_solver, .set = method};
  char *results = run_cell(&w, "sheared", sheared_study);
  Table t;
  open_table(&t, results);
  double rows_short = rows_short_of_height(&w.run), start = 0, start_volume = 0;
  double solid = BALLS * M_PI * BALL * BALL * BALL / 6;
  int64_t sheared = 0;
  ck_assert_int_eq(w.begun[1], SHEAR_BEGINS);
  ck_assert(w.pairs[0] > 0 && w.pairs[1] > 0);
  ck_assert_int_gt(t.csv.rows, 20);
  for (int64_t i = 0; i < t.csv.rows; i++) {
    int64_t step = (int64_t)cell(&t, i, "step");
    double stage = cell(&t, i, "stage"), height = cell(&t, i, "height_m"),
           volume = cell(&t, i, "volume_m3"), membrane = cell(&t, i, "membrane_volume_m3"),
           axial = cell(&t, i, "axial_stress_Pa"), radial = cell(&t, i, "radial_stress_Pa"),
           deviatoric = axial - radial, mean = (axial + radial + radial) / 3;
    bool last = i + 1 == t.csv.rows;
    ck_assert(last || step == i * LINE_STEPS);
    CK_NEAR(cell(&t, i, "time_s"), (double)step * DT, 1e-15);
    /* a cylinder that encloses what the membrane encloses, less the spheres' radius */
    double tube = sqrt(membrane / (M_PI * (height - rows_short))), inner = tube - SKIN;
    CK_NEAR(volume / (M_PI * inner * inner * height), 1, 1e-9);
    /* the pressure of the step before the line (of the last line: of the step to come) */
    double pressure = pressure_at(&w, step > 0 && !last ? step - 1 : 0);
    if (i > 0 && !last)
      CK_NEAR(radial / (pressure * RADIUS / (RADIUS + SKIN) * tube / inner), 1, 1e-9);
    CK_NEAR(axial, cell(&t, i, "platen_force_N") / (volume / height), 1e-9 * PRESSURE);
    CK_NEAR(cell(&t, i, "deviatoric_stress_Pa"), deviatoric, 1e-9 * PRESSURE);
    CK_NEAR(cell(&t, i, "mean_stress_Pa"), mean, 1e-9 * PRESSURE);
    if (axial + radial > 0)
      CK_NEAR(sin(cell(&t, i, "friction_angle_deg") * M_PI / 180), deviatoric / (axial + radial),
              1e-9);
    CK_NEAR(cell(&t, i, "solid_volume_m3") / solid, 1, 1e-12);
    CK_NEAR(cell(&t, i, "void_ratio"), volume / solid - 1, 1e-9);
    CK_NEAR(cell(&t, i, "grains"), BALLS, 0);
    CK_NEAR(cell(&t, i, "escaped"), 0, 0);
    /* strains are logarithmic, compression positive, from the start of the first shear stage */
    if (step == SHEAR_BEGINS) start = height, start_volume = volume;
    double strain = start > 0 ? log(start / height) : 0,
           swelling = start > 0 ? log(start_volume / volume) : 0;
    CK_NEAR(cell(&t, i, "axial_strain"), strain, 1e-12);
    CK_NEAR(cell(&t, i, "volumetric_strain"), swelling, 1e-12);
    /* the platen goes at rate times the height at the start of shear, not at the present one */
    if (start > 0 && stage < 4) {
      CK_NEAR(height / driven_height(&w, step, start), 1, 1e-11);
      double rate = stage < 3 ? 8 : 4, d = BALL;
      if (mean > 0 && step > SHEAR_BEGINS && !last)
        CK_NEAR(cell(&t, i, "inertia_number") / (rate * start / height * d * sqrt(DENSITY / mean)),
                1, 1e-9);
      sheared++;
    }
    if (start <= 0) CK_NEAR(cell(&t, i, "inertia_number"), 0, 0);
  }
  ck_assert_int_gt(sheared, 15);
  CK_NEAR(cell(&t, t.csv.rows - 1, "stage"), 5, 0);
  tl_table_free(&t.csv);
  tl_run_close(&w.run);
  tl_free(results);
}

START_TEST(figures_of_a_sheared_cell_have_their_closed_forms) {
  figures_have_their_closed_forms(NULL);
  figures_have_their_closed_forms("solver.method=etm-level");
}
END_TEST

/* By strain at the first look past it, upwards and downwards; a hold after its time. */
START_TEST(stages_end_where_the_study_says) {
  Watched w = {.watch = NULL};
  char *results = run_cell(&w, "stages", sheared_study);
  double per_look = LOOK_STEPS * DT, up = 1 - exp(-0.08), down = 1 - exp(-0.06);
  int64_t first = (int64_t)ceil(up / (8 * per_look)) * LOOK_STEPS;
  ck_assert_int_eq(w.begun[2] - w.begun[1], first);
  double reached = 8 * (double)first * DT;
  int64_t second = (int64_t)ceil((reached - down) / (4 * per_look)) * LOOK_STEPS;
  ck_assert_int_eq(w.begun[3] - w.begun[2], second);
  ck_assert_int_eq(w.run.state->totals.steps,
                   w.begun[3] + 80 + 1); /* known at the next step's start */
  ck_assert(tl_apparatus_finished(&w.run));
  /* forces of few steps are no line of their own */
  ck_assert(!tl_apparatus_last_line(&w.run, LINE_STEPS / 2 - 1));
  ck_assert(tl_apparatus_last_line(&w.run, LINE_STEPS / 2));
  tl_run_close(&w.run);
  tl_free(results);
}
END_TEST

/* While the platen stands still the membrane's work is the pressure times the volume it gives up.
 */
START_TEST(the_pressure_s_work_is_pressure_times_volume) {
  Watched w = {.watch = NULL};
  char *results = run_cell(&w, "work", sheared_study);
  Table t;
  open_table(&t, results);
  int64_t from = (w.begun[3] + LINE_STEPS - 1) / LINE_STEPS, to = (w.begun[3] + 80) / LINE_STEPS;
  double volume = cell(&t, from, "membrane_volume_m3") - cell(&t, to, "membrane_volume_m3"),
         work = cell(&t, to, "pressure_work_J") - cell(&t, from, "pressure_work_J");
  CK_NEAR(cell(&t, from, "height_m"), cell(&t, to, "height_m"), 1e-15);
  ck_assert_double_gt(fabs(volume), 2e-4 * cell(&t, to, "membrane_volume_m3"));
  CK_NEAR(work / (HALF_PRESSURE * RADIUS / (RADIUS + SKIN) * volume), 1, 0.01);
  tl_table_free(&t.csv);
  tl_run_close(&w.run);
  tl_free(results);
}
END_TEST

/* Until forces balance; up to a deviatoric stress, down to another. */
static const char judged_study[] =
    CELL DEVICE "  - {kind: consolidate, pressure_Pa: 2.0e+4, ramp_s: 1.0e-3, damping_per_s: 400, "
                "until_unbalanced: 5.0e-2, until_kinetic_share: 4.0e-3, least_s: 2.0e-3}\n"
                "  - {kind: shear, rate_per_s: 2, until_deviatoric_Pa: 1.2e+4}\n"
                "  - {kind: shear, rate_per_s: -2, until_deviatoric_Pa: 2.0e+3}\n"
                "  - {kind: hold, least_s: 1.0e-4}\n";

typedef struct Judged {
  Watched watched;
  bool over;        /* by the rule, at the look after the last step */
  int64_t too_soon; /* looks at which one condition was met alone */
  double deviatoric[5];
} Judged;

/* After a step before a look: what the next step's start will find. */
static void rest_ends_the_stage(Watched *w) {
  Judged *j = (Judged *)w;
  const TlRun *run = &w->run;
  const TlTriaxial *t = tl_triaxial_state(run);
  if (t->stage == 0 && w->step > 1)
    ck_assert_msg(!j->over, "step %d: the stage goes on at rest", (int)w->step);
  bool balanced = t->unbalanced > 0 && t->unbalanced < 5e-2,
       slow = run->state->totals.balance.kinetic_J < 4e-3 * run->state->totals.balance.elastic_J,
       look = w->step % LOOK_STEPS == 0, due = (double)w->step * DT >= 2e-3 - 1e-12;
  if (t->stage == 0) {
    j->over = look && due && balanced && slow;
    j->too_soon += look && due && balanced != slow;
  } else if (t->stage == 1 && w->step == t->begun + 1) {
    ck_assert_msg(j->over, "step %d: the stage ended before rest", (int)w->step);
  }
  if (look && t->look_steps == LOOK_STEPS && t->stage < 4)
    j->deviatoric[t->stage] = t->look_N / LOOK_STEPS / (t->volume_m3 / t->height_m);
}

START_TEST(a_stage_ends_by_rest_or_by_stress) {
  Judged j = {.watched = {.watch = rest_ends_the_stage}};
  char *results = run_cell(&j.watched, "judged", judged_study);
  const int64_t *b = j.watched.begun;
  Table t;
  open_table(&t, results);
  ck_assert_int_gt(j.too_soon, 0);
  ck_assert_int_gt(b[1], 80); /* least_s */
  for (int stage = 1; stage <= 2; stage++) {
    /* the mean of the last ten steps' axial stress passed the goal beside the cell pressure, the
     * ten before had not: a look's change at most */
    double goal = stage == 1 ? 1.2e4 : 2e3, lines[2] = {0, 0};
    int64_t end = b[stage + 1];
    for (int64_t i = 0; i < t.csv.rows; i++) {
      double q = cell(&t, i, "deviatoric_stress_Pa"), step = cell(&t, i, "step");
      if (step <= (double)end - LINE_STEPS && step > (double)b[stage]) lines[0] = q;
      if (step <= (double)end && step > (double)b[stage]) lines[1] = q;
    }
    double sign = stage == 1 ? 1 : -1;
    ck_assert_msg(sign * (goal - lines[0]) > 0, "stage %d: %g", stage, lines[0]);
    ck_assert_msg(sign * (goal - lines[1]) < 2e3, "stage %d: %g", stage, lines[1]);
    CK_NEAR(j.deviatoric[stage] - 2e4 - goal, 0, 4e3);
  }
  tl_table_free(&t.csv);
  tl_run_close(&j.watched.run);
  tl_free(results);
}
END_TEST

/* Balls that start beyond the membrane, below the bottom and above the top platen are out of the
 * cell: counted, taken out, no part of the solid volume; the others stay. */
START_TEST(what_left_the_cell_is_counted_and_taken_out) {
  static const char escape_study[] =
      CELL "- {shape: ball, position_m: [0.04, 0, 0.02]}\n"
           "- {shape: ball, position_m: [0, -0.05, 0.02]}\n"
           "- {shape: ball, position_m: [0.001, 0, 0.06]}\n"
           "outside: remove\n" DEVICE
           "  - {kind: consolidate, pressure_Pa: 2.0e+4, ramp_s: 1.0e-3, most_s: 1.5e-3}\n";
  Watched w = {.watch = NULL};
  char *results = run_cell(&w, "escape", escape_study);
  Table t;
  open_table(&t, results);
  ck_assert_int_eq(w.run.state->totals.outside, 3);
  for (int64_t i = 1; i < t.csv.rows; i++) {
    CK_NEAR(cell(&t, i, "grains"), BALLS, 0);
    CK_NEAR(cell(&t, i, "escaped"), 3, 0);
    CK_NEAR(cell(&t, i, "solid_volume_m3") / (BALLS * M_PI * BALL * BALL * BALL / 6), 1, 1e-12);
  }
  for (int64_t i = 0; i < w.run.state->dem.bodies.owned; i++) {
    TlVec3 x = w.run.state->dem.bodies.position[i];
    bool grain = !(w.run.state->dem.bodies.flags[i] & (TL_BODY_NET | TL_BODY_GUIDED));
    ck_assert(!grain || (hypot(x.x, x.y) < RADIUS + BALL && x.z < HEIGHT && x.z > 0));
  }
  tl_table_free(&t.csv);
  tl_run_close(&w.run);
  tl_free(results);
}
END_TEST

/* The same cell by springs in small steps and by constraints in steps of four times their length. In
 * the columns of balls nothing slides, so that stress and volume do not hang on the order of contacts:
 * one answer. */
static const char compared_study[] =
    CELL "nonsmooth: {dt_s: 1.0e-4, law: linear, normal_N_m: 1.0e+4}\n" DEVICE
         "  - {kind: consolidate, pressure_Pa: 2.0e+4, ramp_s: 2.5e-3, damping_per_s: 400, "
         "until_unbalanced: 0, most_s: 2.0e-2}\n"
         "  - {kind: shear, rate_per_s: 2, until_strain: 0.03}\n";

START_TEST(springs_and_constraints_agree_on_a_cell) {
  static const struct {
    const char *name;
    double within;
  } figure[] = {{"axial_stress_Pa", 0.02},     {"volumetric_strain", 0.02}, {"void_ratio", 0.01},
                {"membrane_volume_m3", 0.001}, {"elastic_J", 0.05},         {"net_elastic_J", 0.02},
                {"piston_work_J", 0.1}};
  double at[2][sizeof figure / sizeof *figure], error = 0, spent = 0;
  for (int k = 0; k < 2; k++) {
    Watched w = {.set = k ? "solver.method=nonsmooth" : "solver.method=penalty"};
    char *results = run_cell(&w, k ? "constraints" : "springs", compared_study);
    Table t;
    open_table(&t, results);
    int64_t last = t.csv.rows - 2; /* both at the first look past the strain */
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
      at[k][i] = cell(&t, last, figure[i].name);
    CK_NEAR(cell(&t, last, "axial_strain"), 0.03, 2e-3);
    error = fabs(cell(&t, last, "balance_error_J"));
    spent = cell(&t, last, "piston_work_J") + cell(&t, last, "pressure_work_J");
    tl_table_free(&t.csv);
    tl_run_close(&w.run);
    tl_free(results);
  }
  for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
    ck_assert_msg(fabs(at[1][i] / at[0][i] - 1) <= figure[i].within, "%s: %g and %g",
                  figure[i].name, at[0][i], at[1][i]);
  ck_assert_msg(error < 0.02 * spent, "balance error %g J of %g J", error, spent);
}
END_TEST

/* Squeezed until the pressure has stood for a while: the platen on its piston gives what loads it, and
 * so do the contacts of the specimen, whose mean stress is the pressure (Love). */
START_TEST(by_impulses_a_cell_bears_its_pressure) {
  static const char squeezed_study[] = CELL DEVICE
      "  - {kind: consolidate, pressure_Pa: 2.0e+4, ramp_s: 2.5e-3, damping_per_s: 400, "
      "until_unbalanced: 0, most_s: 1.2e-2}\n";
  Watched w = {.set = "solver.method=etm-level"};
  char *results = run_cell(&w, "squeezed", squeezed_study);
  Table t;
  open_table(&t, results);
  int64_t last = t.csv.rows - 2;
  CK_NEAR(cell(&t, last, "axial_stress_Pa") / PRESSURE, 1, 0.02);
  ck_assert_double_lt(cell(&t, last, "unbalanced_force"), 0.05);
  ck_assert(isnan(cell(&t, last, "balance_error_J"))); /* not told where it is not kept */
  /* the piston's force is the other side of the contacts' */
  const TlRun *run = &w.run;
  TlConstraintRow *rows;
  int64_t count, pistons = 0;
  CK_OK(tl_step_constraints(run->work, &rows, &count));
  for (int64_t i = 0; i < count; i++) {
    if (rows[i].kind != TL_SLIDERS) continue;
    double force = rows[i].force_N.z,
           area = cell(&t, last, "volume_m3") / cell(&t, last, "height_m");
    CK_NEAR(-force / (PRESSURE * area), 1, 0.02);
    pistons++;
  }
  ck_assert_int_eq(pistons, 1);
  tl_free(rows);
  /* no other rank knows what guides it */
  CK_FAILS(tl_step_check(run->model->dem, &run->state->dem, run->work, 2), TL_EUSAGE, "one rank");
  tl_table_free(&t.csv);
  tl_run_close(&w.run);
  tl_free(results);
}
END_TEST

TL_TEST_MAIN("triaxial cell", by_impulses_a_cell_bears_its_pressure,
             figures_of_a_sheared_cell_have_their_closed_forms, stages_end_where_the_study_says,
             the_pressure_s_work_is_pressure_times_volume, a_stage_ends_by_rest_or_by_stress,
             springs_and_constraints_agree_on_a_cell, what_left_the_cell_is_counted_and_taken_out)
