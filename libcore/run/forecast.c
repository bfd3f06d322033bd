#include "run/forecast.h"

#include "base/log.h"

#include <math.h>
#include <stdio.h>

enum { FIRST_STEPS = 10 };
static const double patience_s = 10; /* slow steps: a word even before FIRST_STEPS */
static const double again_s = 60; /* looked at again then, and whenever twice as much has passed */
static const double other = 0.25; /* change of the whole that is worth a line */

TlForecast tl_forecast_start(int64_t done, int64_t steps) {
  return (TlForecast){.first = done, .steps = steps, .start_s = tl_clock_s()};
}

void tl_forecast_text(char text[32], double s) {
  if (s < 100)
    snprintf(text, 32, "%.2g s", s);
  else if (s < 100 * 60)
    snprintf(text, 32, "%.0f min", s / 60);
  else if (s < 48 * 3600)
    snprintf(text, 32, "%.1f h", s / 3600);
  else
    snprintf(text, 32, "%.1f days", s / 86400);
}

void tl_forecast_step(TlForecast *f, int64_t done) {
  char left[32];
  double spent = tl_clock_s() - f->start_s;
  double share = (double)(done - f->first) / (double)(f->steps - f->first);
  double end = spent / share;
  bool early = f->end_s == 0 && done - f->first < FIRST_STEPS && spent < patience_s;
  if (early || spent < f->next_s || done >= f->steps) return;
  f->next_s = fmax(again_s, 2 * spent);
  if (f->end_s > 0 && fabs(end - f->end_s) < other * f->end_s) return;
  f->end_s = end;
  tl_forecast_text(left, end - spent);
  tl_log_info("step %lld of %lld: %.3g s a step so far, about %s to go", (long long)done,
              (long long)f->steps, spent / (double)(done - f->first), left);
}
