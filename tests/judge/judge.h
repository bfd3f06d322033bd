/* What a judging program (tests/validation/val_NAME.c, tests/bench/bench_NAME.c,
 * tests/score/score_NAME.c) is made of.
 *
 * A program opens its study, says one figure after the other and closes. Each figure becomes one
 * line on stdout, `figure,value,unit,goal,within`; all that it says (figures, the paper's numbers,
 * notes) also goes to records.txt in the study's folder, from which tests/judge/report.c writes the
 * study's block in docs/. Names of figures begin with the study's name. A second open without
 * close, a wrong name or a full disk end the program with exit status 2: a mistake of ours, not a
 * figure.
 *
 * within is yes or no; a JUDGE_GOAL figure out of its goal is a miss when a heading of exactly the
 * figure's name stands in docs/performance.md, docs/validation.md or docs/imaging.md with a number
 * and at least twenty words about the cause and what was tried. A value that is not finite is never
 * within.
 */
#ifndef TL_TESTS_JUDGE_H
#define TL_TESTS_JUDGE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* CORRECT (conservation, oracles, overlap): can never be a documented miss. */
typedef enum { JUDGE_GOAL, JUDGE_CORRECT } JudgeKind;

/* Reads --full (the papers' sizes) and --out DIR (default build/validation/STUDY; made). */
void judge_open(const char *study, int argc, char **argv);
bool judge_full(void);
const char *judge_dir(void);              /* the study's folder, exists; borrowed */
const char *judge_path(const char *name); /* DIR/name; borrowed until the fourth call after */

void judge_at_most(JudgeKind kind, const char *figure, double value, const char *unit, double goal);
void judge_at_least(JudgeKind kind, const char *figure, double value, const char *unit,
                    double goal);
void judge_between(JudgeKind kind, const char *figure, double value, const char *unit, double low,
                   double high);
/* Ours beside the paper's, without verdict. source: "Tan 2024, Table 2". */
void judge_paper(const char *figure, double ours, double paper, const char *unit,
                 const char *source);
/* The same study file by both methods, without verdict. cpu_s: of either; paper: penalty's CPU over
 * the impulses' as printed there, 0: none. */
typedef struct JudgeBoth {
  double impulse, penalty, impulse_cpu_s, penalty_cpu_s, paper;
} JudgeBoth;
void judge_both(const char *figure, const JudgeBoth *both, const char *unit, const char *source);
/* One sentence for the study's section of the docs. */
void judge_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int judge_close(void); /* exit status of main: 1 if any row says no */

/* For set-up that cannot fail when all is well: prints the message and exits with 2, which the
 * harness takes for a crash (a `no`). */
void judge_ok(TlStatus status, const char *what);
#define JUDGE_OK(call) judge_ok((call), #call)

/* Is the miss of this figure written down in the folder of docs (default docs)? */
bool judge_documented(const char *figure);

/* Clocks in seconds: of the wall, of this thread's CPU, of all threads' CPU; memory in bytes. */
double judge_wall_s(void);
double judge_thread_cpu_s(void);
double judge_cpu_s(void);
int64_t judge_held_bytes(void); /* allocated now; the peak is tl_mem_peak_bytes (base/mem.h) */

/* Plots: data into files of the study's folder, then a gnuplot script that runs there and finds
 * them by bare name; terminal (PNG, 900 x 600) and output NAME.png are set before it. A picture
 * whose name begins with the study's is copied to docs/pictures/ by the harness. */
FILE *judge_data(const char *name);
void judge_gnuplot(const char *name, const char *script);

#endif
