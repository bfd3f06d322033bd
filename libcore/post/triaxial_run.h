/* The triaxial test of a run measured, compared, written and drawn. */
#ifndef TL_POST_TRIAXIAL_RUN_H
#define TL_POST_TRIAXIAL_RUN_H

#include "post/triaxial.h"
#include "post/triaxial_compare.h"

typedef struct TlTxRun {
  const char *run; /* folder with triaxial.csv */
  TlTxOptions options;
  const char *measured; /* laboratory curve (triaxial_compare.h), NULL: none */
  char *const *with;    /* more folders, drawn over the run; borrowed */
  int64_t with_count;
  char *const *label; /* of the run and those, in this order; none: by study_label.h */
  int64_t label_count;
  bool plot;
} TlTxRun;

/* triaxial_curves.csv (a line a row of the test), triaxial_summary.csv (name, value, unit, source)
 * with several runs triaxial_runs.csv (a line a run) * and, with plot, the pictures of
 * tl_tx_plot, into a folder that is made. figures: the summary, filled. Everything is read
 * before anything is written. TL_EUSAGE: number of labels. */
TlStatus tl_tx_run(const TlTxRun *how, const char *folder, bool overwrite, TlFigures *figures);

/* Pictures of triaxial tests, by gnuplot. */

typedef struct TlTxPlot {
  int64_t count;              /* of tests, the own one first */
  const TlTxTest *test;       /* [count] */
  char *const *label;         /* [count] */
  const TlMeasured *measured; /* NULL: none */
  double critical_deg;        /* of the first, for Rowe's line; NaN: none */
  const char *caption;        /* a line under the title; "" none */
} TlTxPlot;

/* Into the folder: triaxial_stress_strain.png (q and volumetric strain over axial strain),
 * triaxial_friction.png (friction angle, q/p), triaxial_states.png (stress path, void ratio over
 * strain and over ln p), triaxial_dilatancy.png (psi over strain; sigma_a/sigma_r over 1 + D after
 * Rowe), triaxial_quality.png (inertia number, unbalanced force over time), triaxial_energy.png
 * (the first test's energy balance). What has no number in any test is left out, with a word in the
 * log. */
TlStatus tl_tx_plot(const TlTxPlot *plot, const char *folder, bool overwrite);

#endif
