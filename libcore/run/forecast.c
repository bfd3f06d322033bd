#include "run/forecast.h"

#include "base/log.h"

#include <math.h>
#include <stdio.h>

enum { COLD_STEPS = 5, LEAST_BLOCKS = 8 };
static const double early_fraction = 0.1, late_fraction = 0.5; /* of the steps */
static const double patience_s = 5, long_s = 600;
static const double dearer = 1.25, cheaper = 0.8;
static const double again_s = 30, again = 1.5;

TlForecast tl_forecast_start(int64_t done, int64_t steps, double now_s) {
  return (TlForecast){.first = done, .steps = steps, .start_s = now_s, .every = 1};
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

void tl_forecast_mark(TlForecast *f, int64_t done, double now_s) {
  int64_t warm = done - f->first - COLD_STEPS;
  if (warm < 0 || warm % f->every != 0) return;
  f->step[f->marks] = done;
  f->at_s[f->marks++] = now_s;
  if (f->marks < TL_FORECAST_MARKS) return;
  f->marks = (TL_FORECAST_MARKS + 1) / 2;
  f->every *= 2;
  for (int i = 1; i < f->marks; i++) {
    f->step[i] = f->step[2 * i];
    f->at_s[i] = f->at_s[2 * i];
  }
}

/* Mean cost of a step from mark a to mark b. */
static double cost(const TlForecast *f, int a, int b) {
  return (f->at_s[b] - f->at_s[a]) / (double)(f->step[b] - f->step[a]);
}

TlOutlook tl_forecast_outlook(const TlForecast *f, int64_t done, double now_s, bool settled) {
  TlOutlook o = {.known = false};
  int last = f->marks - 1, from = last / 2, middle = from + (last - from) / 2;
  double fraction = (double)(done - f->first) / (double)(f->steps - f->first);
  double spent = now_s - f->start_s, left = (double)(f->steps - done);
  if (last < LEAST_BLOCKS || spent < patience_s || (fraction < early_fraction && spent < long_s))
    return o;
  double least = INFINITY, most = 0, before = cost(f, from, middle);
  for (int i = from; i < last; i++) {
    least = fmin(least, cost(f, i, i + 1));
    most = fmax(most, cost(f, i, i + 1));
  }
  o.known = true;
  o.step_s = cost(f, middle, last);
  o.few = !settled && fraction < late_fraction;
  o.rising = o.step_s > dearer * before;
  o.falling = o.step_s < cheaper * before;
  o.low_s = left * least * (o.rising ? 1 : 0.75);
  if (o.step_s < before) { /* as if it continued to fall by the same factor in as many steps */
    double fold = 0.5 * (double)(f->step[last] - f->step[from]) / log(before / o.step_s);
    double since = (double)(done - f->step[last]) + 0.5 * (double)f->every;
    o.low_s = fmin(o.low_s, least * exp(-since / fold) * fold * (1 - exp(-left / fold)));
  }
  o.high_s = o.rising || o.few ? INFINITY : left * most;
  return o;
}

/* "20 to 40 s", "more than 2 min" */
static void say_range(const TlOutlook *o, char text[64]) {
  char low[32], high[32];
  tl_forecast_text(low, o->low_s);
  tl_forecast_text(high, o->high_s);
  if (isfinite(o->high_s))
    snprintf(text, 64, "%s to %s", low, high);
  else
    snprintf(text, 64, "more than %s", low);
}

void tl_forecast_step(TlForecast *f, int64_t done, bool settled) {
  double now = tl_clock_s(), spent = now - f->start_s;
  int marks = f->marks;
  tl_forecast_mark(f, done, now);
  if ((f->marks == marks && spent < f->next_s) || done >= f->steps) return;
  TlOutlook o = tl_forecast_outlook(f, done, now, settled);
  if (!o.known) return;
  char range[64];
  say_range(&o, range);
  snprintf(f->left, sizeof f->left, "%.50s left", range);
  if (spent < f->next_s) return;
  f->next_s = fmax(again_s, again * spent);
  tl_log_info("step %lld of %lld: %.3g s a step%s, %s to go%s", (long long)done,
              (long long)f->steps, o.step_s,
              o.few       ? " while few grains touch"
              : o.rising  ? ", rising"
              : o.falling ? ", falling"
                          : "",
              range, f->may_end ? " if it does not come to rest before" : "");
}
