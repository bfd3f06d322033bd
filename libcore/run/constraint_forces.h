/* constraint.csv: force and moment of each constraint (joints, bonds of nets) in the steps that have a
 * line in history.csv. Rows come to rank 0 sorted by kind and key, block by block, so neither ranks
 * nor threads move a bit, and its memory does not grow with the number of bonds. */
#ifndef TL_RUN_CONSTRAINT_FORCES_H
#define TL_RUN_CONSTRAINT_FORCES_H

#include "model/constraint_row.h"
#include "run/columns.h"

#include <stdbool.h>
#include <stdint.h>

struct TlRun;

/* time.constraint_forces */
typedef enum TlConstraintForces {
  TL_FORCES_NONE = 0,
  TL_FORCES_JOINTS, /* of all constraints but bonds */
  TL_FORCES_ALL
} TlConstraintForces;
#define TL_CONSTRAINT_FORCES "none|joints|all"

typedef struct TlConstraintTable {
  bool wanted; /* alike on all ranks: the study asks for it, and the run has such constraints */
  bool bonds;  /* those of bonds, too */
  TlConstraintRow *row; /* owned; of the last step that has a line, this rank's part */
  int64_t count;
} TlConstraintTable;

extern const TlColumns tl_constraint_columns;

/* Collective, when the bodies are there: will the run write the table? */
TlStatus tl_constraint_begin(struct TlRun *run);
/* Where the table is wanted: after a step, before bodies leave or change their rank; each rank for
 * itself. */
TlStatus tl_constraint_take(struct TlRun *run);
/* Collective: the lines of what was taken. */
TlStatus tl_constraint_write(struct TlRun *run);

#endif
