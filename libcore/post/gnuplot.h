/* Pictures drawn by gnuplot. No text from outside can become a command of gnuplot.
 *
 * A script is written by tl_plot alone: its formats are constants of the program, and every %s in
 * them becomes a quoted text of gnuplot's, quotation marks and all, with control characters shown
 * as escapes (base/text.h). No name of a file reaches gnuplot at all (in 'plot', "<cmd" would be
 * run and "|cmd" as an output, too): tables are handed over open, and the picture is gnuplot's
 * standard output.
 */
#ifndef TL_POST_GNUPLOT_H
#define TL_POST_GNUPLOT_H

#include "base/status.h"

#include <stdbool.h>

typedef struct TlPlot TlPlot;
typedef void (*TlPlotScript)(TlPlot *plot, const void *context);

/* Runs the script. path: the picture, a PNG that is whole or, after a failure, as it was before.
 * what: is plotted, for messages. TL_EIO: gnuplot is missing or failed, or the disk is full. */
TlStatus tl_gnuplot(TlPlotScript script, const void *context, const char *what, const char *path,
                    bool overwrite);

/* First of a script: the picture's size in pixels and that of its letters. */
void tl_plot_page(TlPlot *plot, int width, int height, int letters);
/* More of the script, as printf has it: %d, %lld, %g, %f, %e with widths, %c for a letter, %% and
 * %s for a text that is quoted here. The format must be a literal. */
#define tl_plot(plot, ...) tl_plot_put((plot), "" __VA_ARGS__)
void tl_plot_put(TlPlot *plot, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "plot " before the first curve, ", " before others. */
void tl_plot_next(TlPlot *plot, bool *begun);
/* A file as what a curve is drawn from. */
void tl_plot_table(TlPlot *plot, const char *path);

#endif
