/* Tests with a laboratory device in a report: which device, the lines of its table, how its stages ended,
 * the figures of oedometer and direct shear tests. */
#include "post/report_run.h"

#include "base/file.h"
#include "base/mem.h"
#include "conf/param.h"
#include "conf/yaml_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *section, *table, *title, *several, *test;
  const char *kinetic_key; /* of a stage: most kinetic energy at rest; NULL: it has none */
} devices[TL_DEVICES] = {
    [TL_DEVICE_NONE] = {"", "", "", "", "no test with a device", NULL},
    [TL_DEVICE_TRIAXIAL] = {"triaxial", "triaxial.csv", "Triaxial test", "Triaxial tests",
                            "a triaxial test", "until_kinetic_share"},
    [TL_DEVICE_OEDOMETER] = {"oedometer", "oedometer.csv", "Oedometer test", "Oedometer tests",
                             "an oedometer test", "until_kinetic_fraction"},
    [TL_DEVICE_DIRECT_SHEAR] = {"direct_shear", "direct_shear.csv", "Direct shear test",
                                "Direct shear tests", "a direct shear test", NULL},
};

static const char *const column_names[TL_DEVICE_COLUMNS] = {
    [TL_DEVICE_TIME] = "time_s",
    [TL_DEVICE_STAGE] = "stage",
    [TL_DEVICE_STAGE_ENDS] = "stage_ends",
    [TL_DEVICE_STRAIN] = "axial_strain",
    [TL_DEVICE_VOID] = "void_ratio",
    [TL_DEVICE_AXIAL] = "axial_stress_Pa",
    [TL_DEVICE_K0] = "K0",
    [TL_DEVICE_MODULUS] = "constrained_modulus_Pa",
    [TL_DEVICE_DEVIATORIC] = "deviatoric_stress_Pa",
    [TL_DEVICE_DISPLACEMENT] = "displacement_m",
    [TL_DEVICE_SHEAR] = "shear_stress_Pa",
    [TL_DEVICE_NORMAL] = "normal_stress_Pa",
    [TL_DEVICE_RATIO] = "stress_ratio",
    [TL_DEVICE_DILATION] = "dilation_m",
    [TL_DEVICE_HEIGHT] = "height_m",
    [TL_DEVICE_UNBALANCED] = "unbalanced_force",
    [TL_DEVICE_KINETIC] = "kinetic_energy_J",
    [TL_DEVICE_ELASTIC] = "elastic_J",
};

const char *tl_report_device_title(TlReportDevice device, bool several) {
  return several ? devices[device].several : devices[device].title;
}

const char *tl_report_device_test(TlReportDevice device) {
  return devices[device].test;
}

/* ---- the table ---- */

static TlStatus take_columns(TlReportRun *run, const TlTable *t) {
  int time;
  TL_TRY(tl_table_need(t, column_names[TL_DEVICE_TIME], &time));
  for (int c = 0; c < TL_DEVICE_COLUMNS; c++) {
    int at = tl_table_column(t, column_names[c]);
    if (at < 0 || t->rows == 0) continue;
    TL_TRY(TL_NEW(run->column[c], (size_t)t->rows));
    for (int64_t i = 0; i < t->rows; i++) TL_TRY(tl_table_number(t, i, at, &run->column[c][i]));
  }
  run->rows = t->rows;
  return TL_OK;
}

static void free_columns(TlReportRun *run) {
  for (int c = 0; c < TL_DEVICE_COLUMNS; c++) tl_free(run->column[c]);
  memset(run->column, 0, sizeof run->column);
  run->rows = 0;
}

/* NaN: the table has no such column, or an empty cell. */
static double cell(const TlReportRun *run, TlDeviceColumn c, int64_t row) {
  return run->column[c] && row >= 0 ? run->column[c][row] : NAN;
}

/* From the line before. */
static double change(const TlReportRun *run, TlDeviceColumn c, int64_t row) {
  double by = row > 0 ? fabs(cell(run, c, row) - cell(run, c, row - 1)) : 0;
  return isfinite(by) ? by : 0;
}

/* ---- the stages ---- */

/* Of a stage; NaN: not there. */
static double number_of(const TlYamlNode *map, const char *key) {
  const TlYamlNode *node = map && map->kind == TL_YAML_MAP ? tl_yaml_find(map, key) : NULL;
  double value;
  return node && node->text && tl_parse_real(node->text, &value) == TL_OK ? value : NAN;
}

/* Is the specimen at rest, as the stage asks? step: or would be with one more change like the line's. */
static bool at_rest(const TlReportRun *run, const TlYamlNode *study, int64_t row, bool step) {
  double unbalanced = cell(run, TL_DEVICE_UNBALANCED, row),
         kinetic = cell(run, TL_DEVICE_KINETIC, row) / cell(run, TL_DEVICE_ELASTIC, row),
         before = cell(run, TL_DEVICE_KINETIC, row - 1) / cell(run, TL_DEVICE_ELASTIC, row - 1),
         by = step && isfinite(before) ? fabs(kinetic - before) : 0,
         force_by = step ? change(run, TL_DEVICE_UNBALANCED, row) : 0;
  if (!(unbalanced > 0 && unbalanced - force_by < number_of(study, "until_unbalanced")))
    return false;
  /* impulses tell no energies */
  return isnan(kinetic) || kinetic - by < number_of(study, devices[run->device].kinetic_key);
}

static bool sheared_far(const TlReportRun *run, const TlYamlNode *study, int64_t begins,
                        int64_t row) {
  double strain = number_of(study, "until_strain"), q = number_of(study, "until_deviatoric_Pa"),
         sign = number_of(study, "rate_per_s") > 0 ? 1 : -1;
  double left = sign * (strain - cell(run, TL_DEVICE_STRAIN, row)),
         start = cell(run, TL_DEVICE_DEVIATORIC, begins), lacks = q > start ? 1 : -1;
  if (strain != 0 && left <= change(run, TL_DEVICE_STRAIN, row)) return true;
  return q > -1e15 && lacks * (q - cell(run, TL_DEVICE_DEVIATORIC, row)) <=
                          change(run, TL_DEVICE_DEVIATORIC, row);
}

static void say_rest(const TlReportRun *run, const TlYamlNode *study, int64_t row, char text[200]) {
  double kinetic = cell(run, TL_DEVICE_KINETIC, row) / cell(run, TL_DEVICE_ELASTIC, row);
  int used = snprintf(text, 200, "unbalanced force %.3g, wanted below %.3g",
                      cell(run, TL_DEVICE_UNBALANCED, row), number_of(study, "until_unbalanced"));
  if (isfinite(kinetic))
    snprintf(text + used, 200 - (size_t)used,
             "; kinetic over elastic energy %.3g, wanted below %.3g", kinetic,
             number_of(study, devices[run->device].kinetic_key));
}

static void say_shear(const TlReportRun *run, const TlYamlNode *study, int64_t row,
                      char text[200]) {
  double strain = number_of(study, "until_strain");
  if (strain != 0)
    snprintf(text, 200, "axial strain %.4g, wanted %.4g", cell(run, TL_DEVICE_STRAIN, row), strain);
  else
    snprintf(text, 200, "deviatoric stress %.4g Pa, wanted %.4g Pa",
             cell(run, TL_DEVICE_DEVIATORIC, row), number_of(study, "until_deviatoric_Pa"));
}

/* Stage k from 0 of a triaxial or oedometer test. line_s: from a line to the next. */
static void judge_stage(const TlReportRun *run, const TlYamlNode *study, int64_t k, double line_s,
                        TlDeviceStage *stage) {
  const TlYamlNode *kind = tl_yaml_find(study, "kind");
  const double number = (double)k + 1, most = number_of(study, "most_s"),
               least = fmax(number_of(study, "least_s"), number_of(study, "ramp_s"));
  int64_t before = -1, row = -1;
  bool beyond = false;
  for (int64_t i = 0; i < run->rows; i++) {
    double of = cell(run, TL_DEVICE_STAGE, i);
    if (of < number) before = i;
    if (of == number) row = i;
    beyond |= of > number;
  }
  bool said = cell(run, TL_DEVICE_STAGE_ENDS, row) == 1; /* the line is that of its end */
  if (kind && kind->text) snprintf(stage->kind, sizeof stage->kind, "%s", kind->text);
  stage->row = row;
  stage->ended = beyond;
  snprintf(stage->reached, sizeof stage->reached, "it has not begun");
  if (row < 0) return;
  double begun = before >= 0 ? cell(run, TL_DEVICE_TIME, before) : 0,
         lasted = cell(run, TL_DEVICE_TIME, row) - begun,
         error = said ? 0.01 * line_s : 1.01 * line_s;
  bool reached, strictly;
  if (strcmp(stage->kind, "shear") == 0) {
    reached = strictly = sheared_far(run, study, before >= 0 ? before : row, row);
    say_shear(run, study, row, stage->reached);
  } else if (strcmp(stage->kind, "hold") == 0) {
    reached = strictly = lasted >= least - error;
    snprintf(stage->reached, sizeof stage->reached, "held for %.4g s, wanted %.4g s", lasted,
             least);
  } else {
    double wanted = number_of(study, "void_ratio"), least_void = INFINITY;
    for (int64_t i = before + 1; i <= row; i++)
      least_void = fmin(least_void, cell(run, TL_DEVICE_VOID, i) - change(run, TL_DEVICE_VOID, i));
    bool dense = !(wanted > 0) || least_void <= wanted, long_enough = lasted >= least - error;
    strictly = dense && long_enough && at_rest(run, study, row, false);
    reached = dense && long_enough && at_rest(run, study, row, true);
    if (!dense)
      snprintf(stage->reached, sizeof stage->reached, "void ratio %.4g, wanted %.4g",
               cell(run, TL_DEVICE_VOID, row), wanted);
    else if (!long_enough)
      snprintf(stage->reached, sizeof stage->reached,
               "it has lasted %.4g s, wanted at least %.4g s", lasted, least);
    else
      say_rest(run, study, row, stage->reached);
  }
  bool last = k + 1 == run->stages, over = most > 0 && lasted >= most - error;
  stage->ended |= said || (last && !run->column[TL_DEVICE_STAGE_ENDS] && (reached || over));
  stage->late = stage->ended && over && !strictly;
}

static void judge_shear_box(const TlReportRun *run, const TlYamlNode *study, TlDeviceStage *stage) {
  int64_t row = run->rows - 1;
  double far = fabs(cell(run, TL_DEVICE_DISPLACEMENT, row)),
         until = number_of(study, "until_displacement_m");
  stage->row = row;
  stage->ended = far + change(run, TL_DEVICE_DISPLACEMENT, row) >= until * (1 - 1e-9);
  snprintf(stage->kind, sizeof stage->kind, far > 0 ? "shear" : "consolidation");
  snprintf(stage->reached, sizeof stage->reached, "displacement %.4g m, wanted %.4g m", far, until);
}

static TlStatus judge_stages(TlReportRun *run, const TlYamlNode *study) {
  const TlYamlNode *time = tl_yaml_find(study, "time"),
                   *section = tl_yaml_find(study, devices[run->device].section);
  if (!section || section->kind != TL_YAML_MAP || run->rows == 0) return TL_OK;
  if (run->device == TL_DEVICE_DIRECT_SHEAR) {
    if (!(number_of(section, "until_displacement_m") > 0)) return TL_OK;
    TL_TRY(TL_NEW(run->stage, 1));
    run->stages = 1;
    judge_shear_box(run, section, run->stage);
    return TL_OK;
  }
  const TlYamlNode *stages = tl_yaml_find(section, "stages");
  if (!stages || stages->kind != TL_YAML_LIST || stages->count == 0) return TL_OK;
  if (!run->column[TL_DEVICE_STAGE]) return TL_OK;
  TL_TRY(TL_NEW(run->stage, stages->count));
  run->stages = (int64_t)stages->count;
  double line_s = fmax(number_of(time, "history_every_s"), run->scene.step_s);
  for (int64_t k = 0; k < run->stages; k++)
    judge_stage(run, &stages->children[k], k, line_s, &run->stage[k]);
  return TL_OK;
}

/* ---- figures ---- */

static TlStatus take_oedometer(TlReportRun *run) {
  TlFigures *f = &run->figures;
  int64_t first = -1, last = -1, most = -1;
  for (int64_t i = 0; i < run->rows; i++) {
    if (cell(run, TL_DEVICE_STAGE_ENDS, i) != 1) continue;
    if (first < 0) first = i;
    last = i;
    if (most < 0 || cell(run, TL_DEVICE_AXIAL, i) > cell(run, TL_DEVICE_AXIAL, most)) most = i;
  }
  TL_TRY(tl_figures_add(f, "largest_vertical_stress", cell(run, TL_DEVICE_AXIAL, most), "Pa", ""));
  TL_TRY(tl_figures_add(f, "K0_there", cell(run, TL_DEVICE_K0, most), "", ""));
  TL_TRY(tl_figures_add(f, "void_ratio_there", cell(run, TL_DEVICE_VOID, most), "", ""));
  TL_TRY(tl_figures_add(f, "void_ratio_seated", cell(run, TL_DEVICE_VOID, first), "", ""));
  return tl_figures_add(f, "void_ratio_at_end", cell(run, TL_DEVICE_VOID, last), "", "");
}

static TlStatus take_direct_shear(TlReportRun *run) {
  TlFigures *f = &run->figures;
  int64_t peak = -1, rests = -1, end = -1; /* rests: the last line before shearing */
  for (int64_t i = 0; i < run->rows; i++) {
    double moved = fabs(cell(run, TL_DEVICE_DISPLACEMENT, i)),
           stress = fabs(cell(run, TL_DEVICE_SHEAR, i));
    if (moved == 0) rests = i;
    if (!(moved > 0)) continue;
    end = i;
    if (peak < 0 || stress > fabs(cell(run, TL_DEVICE_SHEAR, peak))) peak = i;
  }
  TL_TRY(tl_figures_add(f, "peak_shear_stress", fabs(cell(run, TL_DEVICE_SHEAR, peak)), "Pa", ""));
  TL_TRY(tl_figures_add(f, "peak_stress_ratio", fabs(cell(run, TL_DEVICE_RATIO, peak)), "", ""));
  TL_TRY(tl_figures_add(f, "peak_displacement", fabs(cell(run, TL_DEVICE_DISPLACEMENT, peak)), "m",
                        ""));
  TL_TRY(tl_figures_add(f, "displacement", fabs(cell(run, TL_DEVICE_DISPLACEMENT, end)), "m", ""));
  TL_TRY(tl_figures_add(f, "dilation_at_end", cell(run, TL_DEVICE_DILATION, end), "m", ""));
  TL_TRY(tl_figures_add(f, "void_ratio_before_shear", cell(run, TL_DEVICE_VOID, rests), "", ""));
  return tl_figures_add(f, "void_ratio_at_end", cell(run, TL_DEVICE_VOID, end), "", "");
}

/* ---- opening ---- */

static TlStatus read_table(TlReportRun *run, const char *path) {
  TlTable table = {0};
  TlStatus status = tl_table_read_growing(path, &table);
  if (status == TL_OK) status = take_columns(run, &table);
  tl_table_free(&table);
  if (status != TL_EINPUT) return status;
  free_columns(run);
  run->table_fault = tl_strdup(tl_message());
  return run->table_fault ? TL_OK : TL_ENOMEM;
}

static TlStatus read_stages(TlReportRun *run) {
  const char *text = run->scene.study ? run->scene.study : "";
  TlYamlNode study = {0};
  TlStatus status = TL_OK;
  if (tl_yaml_parse("study", text, strlen(text), &study) == TL_OK && study.kind == TL_YAML_MAP)
    status = judge_stages(run, &study);
  tl_yaml_free(&study);
  return status;
}

TlStatus tl_report_device_read(TlReportRun *run) {
  for (int d = TL_DEVICE_NONE + 1; d < TL_DEVICES; d++) {
    char *path = tl_path_join(run->folder, devices[d].table);
    if (!path) return TL_ENOMEM;
    TlStatus status = TL_OK;
    if (tl_file_exists(path)) {
      run->device = (TlReportDevice)d;
      status = read_table(run, path);
    }
    tl_free(path);
    TL_TRY(status);
    if (run->device) break;
  }
  if (run->device) TL_TRY(read_stages(run));
  if (run->device == TL_DEVICE_OEDOMETER) return take_oedometer(run);
  if (run->device == TL_DEVICE_DIRECT_SHEAR) return take_direct_shear(run);
  return TL_OK;
}

void tl_report_device_free(TlReportRun *run) {
  free_columns(run);
  tl_free(run->stage);
  tl_free(run->table_fault);
}
