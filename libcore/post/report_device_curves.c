/* The curves of oedometer and direct shear tests in a report, and the table of an oedometer's stages. A
 * triaxial test has its own in report_run.c, with measures of post/triaxial.h. */
#include "post/report_run.h"

#include "base/mem.h"
#include "post/report_chart.h"

#include <math.h>

typedef struct DevicePlot {
  TlDeviceColumn x, y;
  const char *title, *x_label, *y_label, *note;
  double x_factor, y_factor;
  bool x_log, ends; /* ends: the lines with which stages end stand out as points */
} DevicePlot;

static const DevicePlot of_oedometer[] = {
    {TL_DEVICE_AXIAL, TL_DEVICE_VOID, "Compression curve", "vertical stress [kPa]", "void ratio",
     "From the end of the first stage, which seats the platen; points: ends of stages.", 1e-3, 1,
     true, true},
    {TL_DEVICE_AXIAL, TL_DEVICE_K0, "Lateral stress at rest", "vertical stress [kPa]", "K0",
     "Lateral stress over the mean of the stresses on platen and base; points: ends of stages.",
     1e-3, 1, true, true},
    {TL_DEVICE_TIME, TL_DEVICE_AXIAL, "Vertical stress", "time [s]", "vertical stress [kPa]",
     "Force on the top platen over the area of the ring.", 1, 1e-3, false, false},
    {TL_DEVICE_TIME, TL_DEVICE_UNBALANCED, "Unbalanced force", "time [s]",
     "unbalanced over contact force",
     "Mean force that accelerates a body over the mean contact force.", 1, 1, false, false},
};

static const DevicePlot of_shear[] = {
    {TL_DEVICE_DISPLACEMENT, TL_DEVICE_SHEAR, "Shear stress", "displacement [mm]",
     "shear stress [kPa]", "Shear force on the upper half over the area of the box.", 1e3, 1e-3,
     false, false},
    {TL_DEVICE_DISPLACEMENT, TL_DEVICE_HEIGHT, "Height", "displacement [mm]", "height [mm]",
     "From the base to the top platen; it rises where the specimen dilates.", 1e3, 1e3, false,
     false},
    {TL_DEVICE_DISPLACEMENT, TL_DEVICE_RATIO, "Stress ratio", "displacement [mm]",
     "shear over normal stress", NULL, 1e3, 1, false, false},
    {TL_DEVICE_TIME, TL_DEVICE_NORMAL, "Normal stress", "time [s]", "normal stress [kPa]",
     "Force on the top platen over the area of the box.", 1, 1e-3, false, false},
    {TL_DEVICE_TIME, TL_DEVICE_UNBALANCED, "Unbalanced force", "time [s]",
     "unbalanced over contact force",
     "Mean force that accelerates a body over the mean contact force.", 1, 1, false, false},
};

static bool ends_stage(const TlReportRun *run, int64_t row) {
  return run->column[TL_DEVICE_STAGE_ENDS] && run->column[TL_DEVICE_STAGE_ENDS][row] == 1;
}

/* The line from which curves begin that are not over time: the end of the stage that seats the platen, or
 * the last one before shearing. */
static int64_t first_row(const TlReportRun *run) {
  const double *moved = run->column[TL_DEVICE_DISPLACEMENT];
  int64_t row = 0;
  if (run->device == TL_DEVICE_OEDOMETER)
    while (row < run->rows && !ends_stage(run, row)) row++;
  else
    while (row + 1 < run->rows && moved && moved[row + 1] == 0) row++;
  return row;
}

/* Lines of a run's curve, all of them or those that end a stage. x, y: [rows] fresh memory. */
static TlStatus take_curve(const TlReportRun *run, const DevicePlot *plot, bool ends, double **x,
                           double **y, int64_t *count) {
  int64_t first = plot->x == TL_DEVICE_TIME ? 0 : first_row(run);
  *count = 0;
  if (!run->column[plot->x] || !run->column[plot->y]) return TL_OK;
  TL_TRY(TL_NEW(*x, (size_t)run->rows));
  TL_TRY(TL_NEW(*y, (size_t)run->rows));
  for (int64_t i = first; i < run->rows; i++) {
    if (ends && !ends_stage(run, i)) continue;
    (*x)[*count] = plot->x_factor * run->column[plot->x][i];
    (*y)[(*count)++] = plot->y_factor * run->column[plot->y][i];
  }
  return TL_OK;
}

static TlStatus put_plot(TlHtml *to, const TlReportRun *run, int64_t count,
                         const DevicePlot *plot) {
  int64_t most = plot->ends ? 2 * count : count, curves = 0;
  TlCurves own;
  TlStatus status = tl_curves_new(&own, most);
  for (int64_t i = 0; i < most && status == TL_OK; i++) {
    bool points = i >= count;
    const TlReportRun *of = &run[i % count];
    int64_t n;
    status = take_curve(of, plot, points, &own.x[i], &own.y[i], &n);
    own.curve[curves++] = (TlCurve){.label = count > 1 && !points ? of->label : NULL,
                                    .colour = (int)(i % count),
                                    .dots = points,
                                    .count = n,
                                    .x = own.x[i],
                                    .y = own.y[i]};
  }
  TlChart chart = {.title = plot->title,
                   .x_label = plot->x_label,
                   .y_label = plot->y_label,
                   .note = plot->note,
                   .x_log = plot->x_log,
                   .run = count == 1 && plot->x == TL_DEVICE_TIME ? 0 : -1,
                   .mark = NAN};
  if (status == TL_OK) tl_chart(to, &chart, own.curve, (int)curves);
  tl_curves_free(&own);
  return status;
}

TlStatus tl_report_device_plots(TlHtml *to, const TlReportRun *run, int64_t count) {
  bool oedometer = run->device == TL_DEVICE_OEDOMETER;
  const DevicePlot *plot = oedometer ? of_oedometer : of_shear;
  size_t plots = oedometer ? sizeof of_oedometer / sizeof *plot : sizeof of_shear / sizeof *plot;
  for (size_t k = 0; k < plots; k++) TL_TRY(put_plot(to, run, count, &plot[k]));
  return TL_OK;
}

static void put_value(TlHtml *to, const TlReportRun *run, TlDeviceColumn c, int64_t row,
                      double factor) {
  char text[40];
  tl_html_value(text, run->column[c] ? factor * run->column[c][row] : NAN);
  tl_html(to, "<td class=\"n\">%s</td>", text);
}

void tl_report_device_stages(TlHtml *to, const TlReportRun *run, int64_t count) {
  if (run->device != TL_DEVICE_OEDOMETER) return;
  tl_html(to,
          "<p>The lines with which the stages end. The strain counts from the end of the first "
          "stage; the constrained modulus is the change of the vertical stress over that of the "
          "strain in the stage.</p>\n<div class=\"wide\"><table><thead><tr>%s<th "
          "class=\"n\">stage</th><th class=\"n\">vertical stress [kPa]</th><th class=\"n\">axial "
          "strain [%%]</th><th class=\"n\">void ratio</th><th class=\"n\">K0</th><th "
          "class=\"n\">constrained modulus [MPa]</th><th>ended</th></tr></thead><tbody>\n",
          count > 1 ? "<th>run</th>" : "");
  for (int64_t i = 0; i < count; i++)
    for (int64_t row = 0; row < run[i].rows; row++) {
      if (!ends_stage(&run[i], row) || !run[i].column[TL_DEVICE_STAGE]) continue;
      double stage = run[i].column[TL_DEVICE_STAGE][row];
      bool known = stage >= 1 && stage <= (double)run[i].stages;
      tl_html(to, "<tr>");
      if (count > 1) {
        tl_html(to, "<td>");
        tl_html_text(to, run[i].label);
        tl_html(to, "</td>");
      }
      tl_html(to, "<td class=\"n\">%.0f</td>", stage);
      put_value(to, &run[i], TL_DEVICE_AXIAL, row, 1e-3);
      put_value(to, &run[i], TL_DEVICE_STRAIN, row, 100);
      put_value(to, &run[i], TL_DEVICE_VOID, row, 1);
      put_value(to, &run[i], TL_DEVICE_K0, row, 1);
      put_value(to, &run[i], TL_DEVICE_MODULUS, row, 1e-6);
      tl_html(to, "<td>%s</td></tr>\n",
              !known                                  ? ""
              : run[i].stage[(int64_t)stage - 1].late ? "by most_s"
                                                      : "at rest");
    }
  tl_html(to, "</tbody></table></div>\n");
}
