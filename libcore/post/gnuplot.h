/* Pictures drawn by gnuplot through a pipe. */
#ifndef TL_POST_GNUPLOT_H
#define TL_POST_GNUPLOT_H

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the script, which sets the output to `picture`. */
typedef void (*TlGnuplotScript)(FILE *to, const void *context, const char *picture);

/* path: the picture, written under a temporary name and renamed. what: is plotted, for messages.
 * TL_EIO: gnuplot missing or failed, or no picture came. */
TlStatus tl_gnuplot(TlGnuplotScript put, const void *context, const char *what, const char *path,
                    bool overwrite);

/* 'text' in gnuplot's single quotes, where '' is a quote. */
void tl_gnuplot_quoted(FILE *to, const char *text);

#endif
