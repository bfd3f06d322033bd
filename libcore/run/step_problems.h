/* Problems of single steps as files, for solvers to be tried on: problem_000100.h5 in the results' folder has what
 * the continuous stage of step 100 of the nonsmooth method solves (nonsmooth.problems_every_s;
 * docs/theory/nonsmooth.md says what the rows ask for, docs/reference/records.md what the columns mean).
 */
#ifndef TL_RUN_STEP_PROBLEMS_H
#define TL_RUN_STEP_PROBLEMS_H

#include "base/status.h"
#include "solve/nonsmooth.h"

#include <stdint.h>

struct TlRun;

/* Can this study's problems be written, where it asks for them? Else TL_EINPUT at the key. */
TlStatus tl_step_problems_check(const struct TlRun *run);
/* Before each step: its problem is written, where it is due. */
void tl_step_problems_watch(struct TlRun *run);
/* As a file of its own. TL_EUSAGE where the problem has joints. */
TlStatus tl_step_problem_write(const char *path, int64_t step, double time_s,
                               const TlNsProblem *problem);

#endif
