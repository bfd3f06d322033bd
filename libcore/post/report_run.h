/* The part of a report about runs: figures, warnings, plots, quantiles, provenance. Several runs
 * stand side by side in one table and in each plot. */
#ifndef TL_POST_REPORT_RUN_H
#define TL_POST_REPORT_RUN_H

#include "io/csv_table.h"
#include "post/measure.h"
#include "post/report_map.h"
#include "post/report_motion.h"
#include "post/triaxial_compare.h"

typedef struct TlReportRun {
  const char *folder; /* borrowed */
  char *label;        /* owned */
  TlScene scene;
  TlReportMotion motion; /* all frames */
  TlFrame last;          /* with the bodies of nets and pistons */
  bool *moving;          /* [motion.bodies] in the last frame; owned */
  TlMeasure measure;
  TlMapGrid grid; /* empty without a terrain */
  double *step_speed_m_s, *step_energy_J,
      *step_jump_m; /* [motion.bodies] largest over all steps, energy of
                                             translation and rotation; owned; NULL: the run has no cells.csv */
  TlTable history;  /* rows = 0: none that can be read; history_fault is the reason */
  char *history_fault;
  bool triaxial;
  TlTxTest test; /* of a triaxial test, with its figures */
  TlFigures figures;
} TlReportRun;

/* label: fresh memory, taken over in any case. TL_EINPUT: no run there, or no frame. */
TlStatus tl_report_run_open(const char *folder, char *label, TlReportRun *run);
void tl_report_run_close(TlReportRun *run);

/* By the rule of shape/moving.h, from the sphere of the row's volume; of a grain or any other body. */
bool tl_report_row_moves(const TlScene *scene, const TlBodyRow *row);

/* What should not be trusted, as items of a list; *count of them are added to. The one place that
 * reads warnings from a run's files: history.csv, the frames, the measures, the provenance. */
TlStatus tl_report_run_warnings(const TlReportRun *run, TlHtml *items, int64_t *count);

/* A table: figure, meaning, unit, a column a run. All runs are of one kind. */
void tl_report_run_figures(TlHtml *to, const TlReportRun *run, int64_t count);
/* Plots, a curve a run. measured: a laboratory's curve, NULL: none. */
TlStatus tl_report_run_plots(TlHtml *to, const TlReportRun *run, int64_t count,
                             const TlMeasured *measured);
/* Quantiles over the grains of avalanches and rockfall, with their uncertainty. */
TlStatus tl_report_run_quantiles(TlHtml *to, const TlReportRun *run, int64_t count);
/* Of an ensemble whose study draws numbers: how runout and energy depend on each (report_ranges.c);
 * nothing of other runs. label: in the heading; NULL: the page is of one run. */
TlStatus tl_report_run_ranges(TlHtml *to, const TlReportRun *run, const char *label);
/* What ran: programs, versions, commits, machines, inputs; the effective study. */
TlStatus tl_report_run_provenance(TlHtml *to, const char *provenance, const char *study);

#endif
