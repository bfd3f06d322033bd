/* How long a run will take, from what its steps took so far: said after the first ones, and again,
 * rarely, when it turns out otherwise. Grains in free flight are cheap, grains in a heap are not,
 * so the first word is a guess. */
#ifndef TL_RUN_FORECAST_H
#define TL_RUN_FORECAST_H

#include <stdint.h>

typedef struct TlForecast {
  int64_t first, steps; /* before the first step; the last step */
  double start_s;       /* clock */
  double next_s;        /* spent time at which it is looked at again */
  double end_s;         /* what was said last: time from start to end; 0: nothing yet */
} TlForecast;

TlForecast tl_forecast_start(int64_t done, int64_t steps);
void tl_forecast_step(TlForecast *forecast, int64_t done);
/* "40 s", "12 min", "3.5 h", "2.1 days" */
void tl_forecast_text(char text[32], double seconds);

#endif
