#include "post/triaxial_run.h"

#include "base/log.h"
#include "base/mem.h"
#include "io/csv.h"
#include "post/study_label.h"

#include <math.h>
#include <string.h>

typedef struct Work {
  const TlTxRun *how;
  int64_t count;
  TlTxTest *test; /* [count] the run's first; owned */
  char **label;   /* [count] owned */
  TlMeasured measured;
} Work;

static void release(Work *w) {
  for (int64_t i = 0; i < w->count; i++) {
    if (w->test) tl_tx_free(&w->test[i]);
    if (w->label) tl_free(w->label[i]);
  }
  tl_free(w->test);
  tl_free(w->label);
  tl_measured_free(&w->measured);
}

/* ---- reading ---- */

static const char *folder_of(const TlTxRun *how, int64_t i) {
  return i == 0 ? how->run : how->with[i - 1];
}

static TlStatus make_labels(Work *w) {
  const TlTxRun *how = w->how;
  const char **folder;
  for (int64_t i = 0; i < how->label_count; i++)
    if (!(w->label[i] = tl_strdup(how->label[i]))) return TL_ENOMEM;
  if (how->label_count > 0) return TL_OK;
  TL_TRY(TL_NEW(folder, (size_t)w->count));
  for (int64_t i = 0; i < w->count; i++) folder[i] = folder_of(how, i);
  TlStatus status = tl_study_labels(folder, w->count, w->label);
  tl_free(folder);
  return status;
}

static TlStatus take(Work *w) {
  const TlTxRun *how = w->how;
  if (how->label_count != 0 && how->label_count != 1 + how->with_count)
    return tl_fail(TL_EUSAGE, "--label: %lld for %lld runs; give one each, the run's own first",
                   (long long)how->label_count, (long long)(1 + how->with_count));
  w->count = 1 + how->with_count;
  TL_TRY(TL_NEW(w->test, (size_t)w->count));
  TL_TRY(TL_NEW(w->label, (size_t)w->count));
  for (int64_t i = 0; i < w->count; i++)
    TL_TRY(tl_tx_read(folder_of(how, i), &how->options, &w->test[i]));
  if (how->measured) TL_TRY(tl_measured_read(how->measured, &w->measured));
  return make_labels(w);
}

/* ---- writing ---- */

static const TlTx curves[] = {
    TL_TX_TIME, TL_TX_STAGE,        TL_TX_AXIAL_STRAIN,    TL_TX_VOLUME_STRAIN,  TL_TX_Q,
    TL_TX_P,    TL_TX_STRESS_RATIO, TL_TX_PRINCIPAL_RATIO, TL_TX_FRICTION,       TL_TX_VOID,
    TL_TX_RATE, TL_TX_DILATANCY,    TL_TX_PISTON,          TL_TX_PISTON_FRICTION};
enum { CURVES = sizeof curves / sizeof *curves };

static TlStatus put_rows(TlCsv *csv, const TlTxTest *t) {
  for (int64_t i = 0; i < t->count; i++) {
    double row[CURVES];
    for (int c = 0; c < CURVES; c++) row[c] = t->x[curves[c]][i];
    TL_TRY(tl_csv_row(csv, row, CURVES));
  }
  return TL_OK;
}

static TlStatus write_curves(const char *path, const TlTxTest *t, bool overwrite) {
  TlCsv csv;
  char header[512] = "";
  size_t used = 0;
  for (int c = 0; c < CURVES; c++)
    used += (size_t)snprintf(header + used, sizeof header - used, "%s%s", c ? "," : "",
                             tl_tx_name[curves[c]]);
  TL_TRY(tl_csv_begin(&csv, path, overwrite, header));
  TlStatus status = put_rows(&csv, t);
  if (status == TL_OK) return tl_csv_commit(&csv);
  tl_csv_abort(&csv);
  return status;
}

/* ---- several runs ---- */

static const struct {
  const char *figure, *column;
} compared[] = {{"peak_friction_angle", "peak_friction_angle_deg"},
                {"peak_friction_strain", "peak_friction_strain"},
                {"peak_deviatoric_stress", "peak_deviatoric_stress_Pa"},
                {"critical_friction_angle", "critical_friction_angle_deg"},
                {"critical_friction_scatter", "critical_friction_scatter_deg"},
                {"softening", "softening_deg"},
                {"peak_dilatancy_angle", "peak_dilatancy_angle_deg"},
                {"largest_contraction", "largest_contraction"},
                {"initial_modulus", "initial_modulus_Pa"},
                {"secant_modulus_50", "secant_modulus_50_Pa"},
                {"void_ratio_before_shear", "void_ratio_before_shear"},
                {"critical_void_ratio", "critical_void_ratio"},
                {"largest_inertia_number", "largest_inertia_number"},
                {"energy_balance_error_share", "energy_balance_error_share_percent"}};
enum { COMPARED = sizeof compared / sizeof *compared };

static TlStatus put_run(FILE *to, const Work *w, int64_t i) {
  TlFigures f = {0};
  TlStatus status = tl_tx_measure(&w->test[i], &w->how->options, &f);
  tl_csv_put_text(to, w->label[i]);
  for (int k = 0; k < COMPARED; k++) {
    char value[40];
    tl_csv_real(value, tl_figures_get(&f, compared[k].figure));
    fprintf(to, ",%s", value);
  }
  fprintf(to, "\n");
  tl_figures_free(&f);
  return status;
}

/* Labels hold commas at times: quoted. */
static TlStatus write_runs(const char *path, const Work *w, bool overwrite) {
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  TlStatus status = TL_OK;
  FILE *to = fopen(out.temp, "w");
  if (to) {
    fprintf(to, "run");
    for (int k = 0; k < COMPARED; k++) fprintf(to, ",%s", compared[k].column);
    fprintf(to, "\n");
    for (int64_t i = 0; i < w->count && status == TL_OK; i++) status = put_run(to, w, i);
  }
  bool good = to && !ferror(to);
  if (to && fclose(to) != 0) good = false;
  if (!good) status = tl_fail_errno(path, "cannot write");
  if (status == TL_OK) status = tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}

/* What the pictures say about the measured curve; fresh memory. */
static char *caption_of(const Work *w, const TlFigures *f) {
  static const struct {
    TlTx column;
    const char *figure, *name, *unit;
    double scale;
  } told[] = {{TL_TX_Q, "rms_deviatoric_stress", "q", "kPa", 1e-3},
              {TL_TX_VOLUME_STRAIN, "rms_volumetric_strain", "volumetric strain", "%", 100},
              {TL_TX_FRICTION, "rms_friction_angle", "friction angle", "deg", 1},
              {TL_TX_STRESS_RATIO, "rms_stress_ratio", "q/p", "", 1},
              {TL_TX_VOID, "rms_void_ratio", "void ratio", "", 1}};
  char text[600] = "";
  const char *of = w->count > 1 ? w->label[0] : "";
  size_t used = 0;
  int any = 0;
  for (size_t k = 0; k < sizeof told / sizeof *told && used < sizeof text; k++) {
    double rms = tl_figures_get(f, told[k].figure);
    if (!w->measured.x[told[k].column] || isnan(rms)) continue;
    if (used == 0)
      used = (size_t)snprintf(text, sizeof text,
                              "rms difference%s%.200s from the measured curve:", *of ? " of " : "",
                              of);
    used +=
        (size_t)snprintf(text + used, sizeof text - used, "%s %s %.3g%s%s", any++ ? "," : "",
                         told[k].name, told[k].scale * rms, *told[k].unit ? " " : "", told[k].unit);
  }
  return tl_strdup(text);
}

static TlStatus draw(const Work *w, const TlFigures *f, const char *folder, bool overwrite) {
  char *caption = caption_of(w, f);
  if (!caption) return TL_ENOMEM;
  TlTxPlot plot = {.count = w->count,
                   .test = w->test,
                   .label = w->label,
                   .measured = w->how->measured ? &w->measured : NULL,
                   .critical_deg = tl_figures_get(f, "critical_friction_angle"),
                   .caption = caption};
  TlStatus status = tl_tx_plot(&plot, folder, overwrite);
  tl_free(caption);
  return status;
}

static TlStatus write_all(const Work *w, const TlFigures *f, const char *folder, bool overwrite) {
  TL_TRY(tl_dir_make(folder));
  char *rows = tl_path_join(folder, "triaxial_curves.csv"),
       *summary = tl_path_join(folder, "triaxial_summary.csv"),
       *runs = tl_path_join(folder, "triaxial_runs.csv");
  TlStatus status = rows && summary && runs ? write_curves(rows, w->test, overwrite) : TL_ENOMEM;
  if (status == TL_OK) status = tl_figures_write(f, summary, overwrite);
  if (status == TL_OK && w->count > 1) status = write_runs(runs, w, overwrite);
  if (status == TL_OK && w->how->plot) status = draw(w, f, folder, overwrite);
  tl_free(rows);
  tl_free(summary);
  tl_free(runs);
  return status;
}

/* Of the run itself. */
static void warn_of_slope(const Work *w, const TlFigures *f) {
  if (isnan(tl_figures_get(f, "peak_friction_angle")) ||
      !isnan(tl_figures_get(f, "critical_friction_angle")))
    return;
  tl_log_warn("%s: the curve has not come level: its peak lies in the last fifth of the strain and "
              "it still "
              "changes there, so it has no critical state and no softening; a larger until_strain",
              w->test[0].path);
}

TlStatus tl_tx_run(const TlTxRun *how, const char *folder, bool overwrite, TlFigures *figures) {
  Work w = {.how = how};
  TlStatus status = take(&w);
  if (status == TL_OK) status = tl_tx_measure(w.test, &how->options, figures);
  if (status == TL_OK) warn_of_slope(&w, figures);
  if (status == TL_OK && how->measured) status = tl_measured_figures(w.test, &w.measured, figures);
  if (status == TL_OK) status = write_all(&w, figures, folder, overwrite);
  release(&w);
  return status;
}
