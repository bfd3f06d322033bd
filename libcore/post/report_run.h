/* The part of a report about runs: figures, warnings, plots, quantiles, provenance. Several runs
 * stand side by side in one table and in each plot. */
#ifndef TL_POST_REPORT_RUN_H
#define TL_POST_REPORT_RUN_H

#include "io/csv_table.h"
#include "post/measure.h"
#include "post/report_map.h"
#include "post/report_motion.h"
#include "post/triaxial_compare.h"

/* Laboratory devices, whose runs are tests: their pages have the device's curves and figures. */
typedef enum TlReportDevice {
  TL_DEVICE_NONE = 0,
  TL_DEVICE_TRIAXIAL,
  TL_DEVICE_OEDOMETER,
  TL_DEVICE_DIRECT_SHEAR,
  TL_DEVICES
} TlReportDevice;

typedef enum TlDeviceColumn {
  TL_DEVICE_TIME,
  TL_DEVICE_STAGE,
  TL_DEVICE_STAGE_ENDS,
  TL_DEVICE_STRAIN,
  TL_DEVICE_VOID,
  TL_DEVICE_AXIAL,
  TL_DEVICE_K0,
  TL_DEVICE_MODULUS,
  TL_DEVICE_DEVIATORIC,
  TL_DEVICE_DISPLACEMENT,
  TL_DEVICE_SHEAR,
  TL_DEVICE_NORMAL,
  TL_DEVICE_RATIO,
  TL_DEVICE_DILATION,
  TL_DEVICE_HEIGHT,
  TL_DEVICE_UNBALANCED,
  TL_DEVICE_KINETIC,
  TL_DEVICE_ELASTIC,
  TL_DEVICE_COLUMNS
} TlDeviceColumn;

/* How a stage of a test ended, by the lines of the table, each of which stands for the time up to the
 * next: a stage has ended when the table goes beyond it, or when the last line has what its end asks
 * for, or would have it with one more step like that from the line before. */
typedef struct TlDeviceStage {
  bool ended, late;  /* late: most_s ended it before the specimen was at rest or sheared so far */
  int64_t row;       /* its last line; -1: none */
  char kind[24];     /* "shear"; "" where the device has no kinds */
  char reached[200]; /* what its end asks for, and what its last line has */
} TlDeviceStage;

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
  double *runout_m,
      *drop_m; /* [motion.bodies] of an ensemble's blocks by blocks.csv; NaN: it has no
                                runout (shape/fate.h); owned; NULL: not an ensemble, or no such table */
  int64_t blocks, not_started, unresolved; /* lines of that table, and those without a runout */
  TlTable history; /* rows = 0: none that can be read; history_fault is the reason */
  char *history_fault;
  TlReportDevice device;
  double *column[TL_DEVICE_COLUMNS]; /* [rows] of the device's table; NULL: it has none; owned */
  int64_t rows;                      /* 0: the table cannot be read; table_fault is the reason */
  char *table_fault;
  TlDeviceStage *stage; /* [stages] owned */
  int64_t stages;       /* of the study; a direct shear test has one; 0: not known */
  TlTxTest test;        /* of a triaxial test */
  TlFigures figures;    /* of a test */
} TlReportRun;

/* label: fresh memory, taken over in any case. TL_EINPUT: no run there, or no frame. */
TlStatus tl_report_run_open(const char *folder, char *label, TlReportRun *run);
void tl_report_run_close(TlReportRun *run);

/* By the rule of shape/moving.h, from the sphere of the row's volume; of a grain or any other body. */
bool tl_report_row_moves(const TlScene *scene, const TlBodyRow *row);

/* What should not be trusted, as items of a list; *count of them are added to. The one place that
 * reads warnings from a run's files: history.csv, the frames, the measures, the provenance. */
TlStatus tl_report_run_warnings(const TlReportRun *run, TlHtml *items, int64_t *count);

/* ---- of a device (report_device.c) ---- */

/* By the table in the run's folder: the device, its table, its stages, and the figures of an oedometer
 * or direct shear test. A table that cannot be read leaves the device without all but the reason. */
TlStatus tl_report_device_read(TlReportRun *run);
void tl_report_device_free(TlReportRun *run);
/* "Oedometer test", of several "Oedometer tests"; "an oedometer test", for messages. */
const char *tl_report_device_title(TlReportDevice device, bool several);
const char *tl_report_device_test(TlReportDevice device);
/* Of oedometer and direct shear tests (report_device_curves.c): plots, a curve a run; of an oedometer
 * a table of the ends of its stages. */
TlStatus tl_report_device_plots(TlHtml *to, const TlReportRun *run, int64_t count);
void tl_report_device_stages(TlHtml *to, const TlReportRun *run, int64_t count);

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
