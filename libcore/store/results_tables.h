/* A file of tables as they lie in memory: HDF5, a group a record, in it a dataset a field that has a column, with
 * its unit as an attribute. For what is written whole, such as the problem of a step; frames have writers of their
 * own (results.h).
 */
#ifndef TL_STORE_RESULTS_TABLES_H
#define TL_STORE_RESULTS_TABLES_H

#include "model/record.h"

#include <stdint.h>

typedef struct TlTable {
  const TlRecord *record; /* of structs */
  const void *rows;       /* [count] */
  int64_t count;
} TlTable;

/* Replaces what lies at path. format: what the file says that it is; step, time_s: attributes. */
TlStatus tl_results_write_tables(const char *path, const char *format, int64_t step, double time_s,
                                 const TlTable *tables, int count);

/* Of a problem of a step (run/step_problems.h): its file in a folder of results, in fresh memory (NULL: none), and the
 * step of a file's name; < 0: it is none. */
char *tl_results_problem_path(const char *folder, int64_t step);
int64_t tl_results_problem_step(const char *name);

#endif
