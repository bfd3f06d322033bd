/* Plots of a report, as SVG: curves, points, histograms. Axes have a name and a unit; colours
 * differ also for colour-blind readers, and curves are named below the plot. */
#ifndef TL_POST_REPORT_CHART_H
#define TL_POST_REPORT_CHART_H

#include "base/status.h"
#include "post/html.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlCurve {
  const char *label; /* borrowed, plain text; NULL: the plot has one curve only */
  int colour;        /* 0 to 7 */
  bool dots;         /* points instead of a line */
  bool measured;     /* a laboratory's: black, dashed */
  int64_t count;
  const double *x, *y; /* borrowed; a NaN parts the line */
} TlCurve;

/* Space for the curves of a plot and for their values, owned. */
typedef struct TlCurves {
  TlCurve *curve;  /* [most] */
  double **x, **y; /* [most] each fresh memory, or NULL */
  int64_t most;
} TlCurves;
TlStatus tl_curves_new(TlCurves *curves, int64_t most); /* to be freed also after a failure */
void tl_curves_free(TlCurves *curves);

typedef struct TlChart {
  const char *title, *x_label, *y_label; /* plain text; "" for none */
  const char *note;                      /* what the plot means; NULL: none */
  bool x_log;
  bool from_zero;       /* the y axis includes 0 */
  double y_low, y_high; /* equal: as the curves need */
  int run;              /* the x axis is the time of this run of the playback; -1: it is not */
  double mark;          /* an upright line at this x (a threshold); NaN: none */
  const char *mark_label;
} TlChart;

/* A figure of its own. Curves without a finite point are left out; without any nothing is drawn. */
void tl_chart(TlHtml *to, const TlChart *chart, const TlCurve *curve, int curves);
/* count[bins] values, bin i from low + i width. */
void tl_chart_bars(TlHtml *to, const TlChart *chart, const double *count, int bins, double low,
                   double width);
/* How many of n values lie in each of `bins` equal bins over [low, high]; values outside and NaN
 * are passed over. */
void tl_chart_count(const double *value, int64_t n, double low, double high, int bins,
                    double *count);

#endif
