/* The cases of a study side by side: each in a process of one thread, as many at a time as
 * tl_par_threads() says. To be called before anything that starts threads or ranks. */
#ifndef TL_TESTS_JUDGE_CASES_H
#define TL_TESTS_JUDGE_CASES_H

#include <stddef.h>

typedef struct JudgeCases {
  int count;
  size_t size; /* bytes of a result: plain data, no pointers but to constants of the program */
  /* Runs one case; result is zeroed. Figures and notes are said after, not in here. */
  void (*run)(int which, void *result, void *context);
  void *context;
  const int *order;  /* count numbers: the longest first; NULL: 0, 1, ... */
  const char *named; /* what kept results of a study's second call begin with; NULL: nothing */
} JudgeCases;

/* count results in the order of the cases' numbers, until the program ends. A full edition keeps
 * each result as NAMEcase_NN.bin in the study's folder; a program of the same commit takes it from
 * there in place of a second run. */
void *judge_cases(const JudgeCases *cases);

#endif
