/* A report: one complete HTML file that opens from a disk in any browser, requests nothing from the
 * network and runs no script but its own (Content-Security-Policy: default-src 'none', the
 * script and the styles by their digests).
 *
 * Runs of one kind (avalanches, rockfall and heaps; tests with one device) stand side by side; a scan is a
 * catalog with the stacks it was made from. The same input gives the same bytes. SI units.
 */
#ifndef TL_POST_REPORT_H
#define TL_POST_REPORT_H

#include "post/html.h"

#include <stdbool.h>

typedef struct TlReportOptions {
  double max_mb;        /* 1e6 bytes; the playback is thinned until the page fits */
  const char *title;    /* NULL: the runs' own */
  char *const *label;   /* of runs, in their order; borrowed */
  int64_t labels;       /* 0: by the keys in which their studies differ */
  const char *measured; /* laboratory curve for triaxial tests, NULL: none */
  char *const *stack;   /* of a scan: stages in order, the raw stack first; borrowed */
  int64_t stacks;       /* 0: those of the pipelines, where they lie beside the catalog */
} TlReportOptions;

typedef struct TlReportSize {
  double mb;           /* of the page */
  int32_t cells;       /* of the playback's finest surfaces along a grain */
  int64_t frame_every; /* every n-th frame is in the playback */
  int64_t warnings;
} TlReportSize;

/* path: a run's folder; a catalog; or a folder of a pipeline with catalog.tals in it. TL_EINPUT,
 * TL_EUSAGE: what cannot be reported, or not together. */
TlStatus tl_report_make(char *const *path, int64_t count, const TlReportOptions *options,
                        TlHtml *page, TlReportSize *size);

#endif
