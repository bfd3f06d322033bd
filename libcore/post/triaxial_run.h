/* The triaxial test of a run measured, compared, written and drawn. */
#ifndef TL_POST_TRIAXIAL_RUN_H
#define TL_POST_TRIAXIAL_RUN_H

#include "post/triaxial.h"

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
 * triaxial_plot.h, into a folder that is made. figures: the summary, filled. Everything is read
 * before anything is written. TL_EUSAGE: number of labels. */
TlStatus tl_tx_run(const TlTxRun *how, const char *folder, bool overwrite, TlFigures *figures);

#endif
