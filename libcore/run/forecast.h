/* How long a run will still take, from what its steps took so far.
 *
 * Steps do not cost the same: the first ones bring shapes and lists into memory (nine times the
 * cost of the next ones in the demo), grains in flight are cheap, grains that run into each other
 * dear, grains at rest cheap again. So nothing is said before a tenth of the steps is done (or ten
 * minutes have passed), and then a range: the steps that are left at the least (less a quarter) and
 * at the largest cost of a block of steps in the later half of those done. While blocks become
 * dearer, or few grains touch yet, there is no upper bound; while they become cheaper, the lower
 * bound has them continue to do so. Recorded series of runs hold the rule to what came
 * (tests/unit/test_forecast.c).
 */
#ifndef TL_RUN_FORECAST_H
#define TL_RUN_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

enum { TL_FORECAST_MARKS = 17 };

typedef struct TlForecast {
  int64_t first, steps; /* before the first step; the last step */
  double start_s;
  /* blocks of steps without the first few: their ends. When there are too many, two become one. */
  int64_t every, step[TL_FORECAST_MARKS];
  double at_s[TL_FORECAST_MARKS];
  int marks;
  double next_s; /* spent time at which it is said again */
  bool may_end;  /* the run may end before its last step */
  char left[64]; /* for the progress bar: "20 to 40 s left"; "" while it is too early */
} TlForecast;

typedef struct TlOutlook {
  bool known;           /* false: too early */
  bool rising, falling; /* what a step costs */
  bool few;             /* grains touch */
  double step_s;        /* of the last blocks */
  double low_s, high_s; /* to go; high is INFINITY when nothing bounds it */
} TlOutlook;

TlForecast tl_forecast_start(int64_t done, int64_t steps, double now_s);
/* After each step. settled: enough grains touch for their steps to cost what they will. */
void tl_forecast_mark(TlForecast *forecast, int64_t done, double now_s);
TlOutlook tl_forecast_outlook(const TlForecast *forecast, int64_t done, double now_s, bool settled);
/* The same by the clock, with a line in the log: the first word, and again when half as much time
 * more has passed. */
void tl_forecast_step(TlForecast *forecast, int64_t done, bool settled);
/* "40 s", "12 min", "3.5 h", "2.1 days" */
void tl_forecast_text(char text[32], double seconds);

#endif
