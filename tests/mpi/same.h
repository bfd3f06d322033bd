/* Are the results of two runs the same bit by bit? What differs is printed. */
#ifndef TL_TESTS_MPI_SAME_H
#define TL_TESTS_MPI_SAME_H

#include "base/mem.h"
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int differ(const char *what, int64_t where) {
  printf("%s differs (%lld)\n", what, (long long)where);
  return 1;
}

/* ---- frames ---- */

static inline int compare_rows(const char *a, const char *b, int64_t index) {
  TlFrame x, y;
  if (tl_results_read_frame(a, index, &x) != TL_OK || tl_results_read_frame(b, index, &y) != TL_OK)
    return printf("%s\n", tl_message()), 1;
  int bad = x.step != y.step || x.count != y.count || memcmp(&x.time_s, &y.time_s, 8) != 0;
  for (int64_t i = 0; !bad && i < x.count; i++)
    bad = memcmp(&x.rows[i], &y.rows[i], sizeof x.rows[i]) != 0;
  tl_frame_free(&x);
  tl_frame_free(&y);
  return bad ? differ("frame", index) : 0;
}

static inline int compare_contacts(const char *a, const char *b, int64_t index) {
  TlFrameContacts x, y;
  if (tl_results_read_contacts(a, index, &x) != TL_OK ||
      tl_results_read_contacts(b, index, &y) != TL_OK)
    return printf("%s\n", tl_message()), 1;
  int bad = x.there != y.there || x.count != y.count;
  for (int64_t i = 0; !bad && i < x.count; i++)
    bad = memcmp(&x.rows[i], &y.rows[i], sizeof x.rows[i]) != 0;
  tl_frame_contacts_free(&x);
  tl_frame_contacts_free(&y);
  return bad ? differ("contacts of frame", index) : 0;
}

static inline int compare_frames(const char *a, const char *b) {
  int64_t *in_a, *in_b, count, other;
  if (tl_results_frames(a, &in_a, &count) != TL_OK || tl_results_frames(b, &in_b, &other) != TL_OK)
    return printf("%s\n", tl_message()), 1;
  int bad = count != other ? differ("number of frames", other) : 0;
  for (int64_t i = 0; !bad && i < count; i++)
    bad = in_a[i] != in_b[i] ? differ("list of frames", i)
                             : compare_rows(a, b, in_a[i]) || compare_contacts(a, b, in_a[i]);
  tl_free(in_a);
  tl_free(in_b);
  return bad;
}

/* ---- tables ---- */

enum { ALL = -1, ALL_BUT_THE_LAST = 0 }; /* columns of a table; > 0: the first so many */

static inline void cut_line(char *line, int columns) {
  if (columns == ALL) return;
  char *end = columns > 0 ? line : strrchr(line, ',');
  for (int c = 0; columns > 0 && end && c < columns; c++) end = strchr(end + (c > 0), ',');
  if (end) *end = 0;
}

/* Of history.csv the last column is cpu_s, of triaxial.csv the kind of the stage. */
static inline int compare_table(const char *a, const char *b, const char *name, int columns) {
  char path[1024], x[4096], y[4096];
  snprintf(path, sizeof path, "%s/%s", a, name);
  FILE *one = fopen(path, "r");
  snprintf(path, sizeof path, "%s/%s", b, name);
  FILE *two = fopen(path, "r");
  if (!one || !two) return differ("a table is missing: it", 0);
  for (int64_t line = 1;; line++) {
    char *p = fgets(x, sizeof x, one), *q = fgets(y, sizeof y, two);
    if (!p && !q) return fclose(one), fclose(two), 0;
    if (!p || !q) return differ("length of a table", line);
    cut_line(x, columns);
    cut_line(y, columns);
    if (strcmp(x, y) != 0) return printf("%s\n%s\n", x, y), differ(name, line);
  }
}

static inline int compare_history(const char *a, const char *b, int columns) {
  return compare_table(a, b, "history.csv", columns) || compare_table(a, b, "departures.csv", ALL);
}

/* ---- what a run counts beside its bodies ---- */

#define COUNTED(F)                                                                                 \
  F(grains)                                                                                        \
  F(poured)                                                                                        \
  F(lifted_m)                                                                                      \
  F(start_centre.x)                                                                                \
  F(start_centre.y)                                                                                \
  F(start_centre.z)                                                                                \
  F(totals.steps)                                                                                  \
  F(totals.frames)                                                                                 \
  F(totals.outside)                                                                                \
  F(totals.sunk)                                                                                   \
  F(totals.embedded)                                                                               \
  F(totals.unresolved)                                                                             \
  F(totals.overlap_share)                                                                          \
  F(totals.overlap_m)                                                                              \
  F(totals.boundary_overlap_share)                                                                 \
  F(totals.boundary_overlap_m)                                                                     \
  F(totals.kinetic_start_J)                                                                        \
  F(totals.potential_start_J)                                                                      \
  F(totals.kinetic_J)                                                                              \
  F(totals.potential_J)                                                                            \
  F(totals.wall_work_J)                                                                            \
  F(totals.balance.friction_J)                                                                     \
  F(totals.balance.viscous_J)                                                                      \
  F(totals.balance.drag_J)                                                                         \
  F(totals.balance.wall_J)                                                                         \
  F(totals.balance.start_J)                                                                        \
  F(totals.balance.error_J)                                                                        \
  F(totals.balance.net_J)                                                                          \
  F(totals.balance.net_damping_J)                                                                  \
  F(totals.balance.pressure_J)                                                                     \
  F(totals.balance.kinetic_J)                                                                      \
  F(totals.balance.potential_J)                                                                    \
  F(totals.balance.elastic_J)                                                                      \
  F(totals.balance.most_kinetic_J)                                                                 \
  F(totals.balance.moving)                                                                         \
  F(totals.zero_finishes)                                                                          \
  F(totals.unfinished)                                                                             \
  F(totals.rest_unfinished)                                                                        \
  F(totals.unconverged_steps)                                                                      \
  F(totals.inaccurate_steps)                                                                       \
  F(totals.unconverged_m_s)                                                                        \
  F(totals.impulses)
enum {
#define F(name) +1
  COUNTS = 0 COUNTED(F)
#undef F
};
#define F(name) #name,
static const char *const count_name[] = {COUNTED(F)};
#undef F

typedef struct Counts {
  double value[COUNTS];
} Counts;

static inline Counts counts_of(const TlRun *run) {
#define F(name) (double)run->state->name,
  return (Counts){{COUNTED(F)}};
#undef F
}

static inline double count_of(const Counts *c, const char *name) {
  for (int i = 0; i < COUNTS; i++)
    if (strcmp(count_name[i], name) == 0) return c->value[i];
  printf("nothing is counted as %s\n", name);
  exit(1);
}

static inline int compare_counts(const Counts *a, const Counts *b) {
  int bad = 0;
  for (int i = 0; i < COUNTS; i++)
    if (memcmp(&a->value[i], &b->value[i], sizeof(double)) != 0)
      bad = printf("%s: %.17g and %.17g\n", count_name[i], a->value[i], b->value[i]);
  return bad != 0;
}

#endif
