/* Named numbers with unit and source, as measures add them and tables and reports print them. */
#ifndef TL_POST_FIGURES_H
#define TL_POST_FIGURES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TlFigure {
  char name[64];
  double value;       /* NaN: not defined here */
  const char *unit;   /* "" when none; borrowed, as the source */
  const char *source; /* the paper's equation, or how */
} TlFigure;

typedef struct TlFigures {
  TlFigure *item; /* owned */
  int64_t count;
  size_t capacity;
} TlFigures;

TlStatus tl_figures_add(TlFigures *figures, const char *name, double value, const char *unit,
                        const char *source);
/* NaN when there is none of that name. */
double tl_figures_get(const TlFigures *figures, const char *name);
bool tl_figures_has(const TlFigures *figures, const char *name);
/* CSV: name, value, unit, source. */
TlStatus tl_figures_write(const TlFigures *figures, const char *path, bool overwrite);
void tl_figures_free(TlFigures *figures);

#endif
