/* Runs of study files for judging programs: config/validation/NAME.yaml through tl_run, as
 * talus-solve does it, on one rank, results not kept. Whatever fails ends the program. */
#ifndef TL_TESTS_STUDY_H
#define TL_TESTS_STUDY_H

#include "run/run.h"

/* After each step; bodies, solver and totals are to be read. */
typedef void (*JudgeEach)(TlRun *run, void *context);

/* sets: "section.key=value" separated by spaces, "": none. */
void judge_study_open(TlRun *run, const char *name, const char *sets, ...)
    __attribute__((format(printf, 3, 4)));
void judge_study_go(TlRun *run, JudgeEach each, void *context);
/* Index of the body with this id. */
int64_t judge_study_body(const TlRun *run, int64_t id);

#endif
