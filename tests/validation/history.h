/* The balance of energy of a run, from its history.csv. */
#ifndef TL_TESTS_VALIDATION_HISTORY_H
#define TL_TESTS_VALIDATION_HISTORY_H

#include "judge/judge.h"

#include "base/file.h"
#include "base/mem.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where a column stands in the header. */
static inline int history_column(const char *header, const char *name) {
  int k = 0;
  const char *at = strstr(header, name);
  if (!at) judge_ok(tl_fail(TL_EINPUT, "history.csv has no %s", name), "history");
  for (const char *c = header; c < at; c++) k += *c == ',';
  return k;
}

/* Largest rise of kinetic, potential and elastic energy together from one line to the next, over
 * the potential energy set free. */
static inline double history_rise(const TlRun *run, double *set_free_J) {
  enum { COLUMNS = 64 };
  char *path = tl_path_join(run->folder, "history.csv"), line[4096];
  FILE *in = fopen(path, "r");
  double most = 0, before = INFINITY, high = -INFINITY, low = INFINITY, v[COLUMNS] = {0};
  if (!in || !fgets(line, sizeof line, in)) judge_ok(tl_fail(TL_EIO, "%s", path), "history");
  int kinetic = history_column(line, "kinetic_energy"),
      potential = history_column(line, "potential_energy"),
      elastic = history_column(line, "net_elastic_energy");
  while (fgets(line, sizeof line, in)) {
    char *at = line;
    for (int k = 0; k < COLUMNS; k++, at += *at == ',') v[k] = strtod(at, &at);
    double energy = v[kinetic] + v[potential] + v[elastic];
    most = fmax(most, energy - before);
    before = energy;
    high = fmax(high, v[potential]);
    low = fmin(low, v[potential]);
  }
  fclose(in);
  tl_free(path);
  *set_free_J = high - low;
  return most / *set_free_J;
}

#endif
