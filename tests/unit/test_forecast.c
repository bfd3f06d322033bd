/* What a run says of the time it will still take, held to what came: on series made by hand and on
 * recorded ones (CPU time of each step), never by the wall clock. */
#include "support/tltest.h"

#include "run/forecast.h"

enum { BLOCKS = 70, COLD = 10, MOST_STEPS = 20000 };

/* Milliseconds: the first ten steps one by one, the others as means of 60 blocks of equal length;
 * from which step on a contact is there for each fifth grain. One thread. */
typedef struct Recorded {
  const char *name;
  int steps, touch;
  double ms[BLOCKS];
} Recorded;

static const Recorded recorded[] = {
    {"155 scanned grains down a slope (config/avalanche.yaml, 20 s)",
     5000,
     0,
     {8.92, 3.18, 1.5,  0.986, 0.994, 1.45, 1.17, 1.37, 1.32, 1.14, 2.19, 7.71, 9.82, 10.4,
      9.79, 8.78, 8.01, 7.07,  7.66,  7.21, 7.15, 7.35, 7.67, 7.67, 7.2,  7.6,  7.88, 8.06,
      7.9,  7.78, 7.34, 7.59,  7.42,  7.84, 7.94, 6.85, 7.64, 7.69, 8.02, 7.73, 6.95, 6.65,
      6.77, 6.68, 6.94, 7.04,  7.48,  7.22, 6.82, 6.46, 6.34, 6.54, 6.77, 6.74, 6.66, 6.4,
      6.03, 6.14, 6.24, 6.26,  5.83,  6.05, 5.87, 5.95, 5.77, 5.95, 6.22, 5.98, 5.77, 5.44}},
    {"600 scanned grains fall into a box (config/drop.yaml)",
     3000,
     309,
     {0.922, 0.64,  0.372, 0.36, 0.348, 0.344, 0.35, 0.348, 0.342, 0.348, 0.424, 0.405,
      0.431, 0.451, 0.483, 0.52, 1.1,   2.28,  4.15, 6.73,  10.4,  16.6,  25.8,  34.1,
      45.5,  41.2,  32.2,  31.9, 27.9,  24,    23.2, 23.5,  22.9,  20.9,  17.9,  16.8,
      15.7,  15.4,  14.6,  13.9, 13,    13,    12.4, 12.6,  11.9,  11.7,  11.1,  11,
      10.4,  9.71,  9.48,  8.86, 8.68,  9.22,  9.34, 9.06,  8.33,  8.5,   8.29,  7.78,
      8.67,  8.68,  8.52,  7.87, 8.54,  8.14,  8.06, 8.07,  8.57,  7.78}},
    {"100 grains out of a hopper (config/hopper.yaml)",
     3000,
     170,
     {0.284, 0.0867, 0.082, 0.083, 0.0812, 0.0808, 0.0813, 0.0831, 0.0832, 0.0834, 0.0955, 0.0949,
      0.104, 0.174,  0.343, 1.31,  3.66,   3.47,   2.67,   2.53,   2.14,   1.91,   1.74,   1.68,
      1.48,  1.38,   1.32,  1.26,  1.1,    0.9,    1.75,   1.87,   1.46,   1.02,   0.88,   2.06,
      3.99,  2.9,    2.35,  2.02,  1.77,   1.6,    1.49,   1.39,   1.25,   1.21,   1.17,   1.1,
      0.989, 0.967,  0.932, 0.989, 0.956,  0.98,   0.937,  0.946,  0.934,  0.917,  0.889,  0.885,
      0.882, 0.862,  0.853, 0.782, 0.812,  0.811,  0.797,  0.569,  0.519,  0.565}}};

static double step_ms(const Recorded *r, int step) { /* from 0 */
  if (step < COLD) return r->ms[step];
  return r->ms[COLD + (int64_t)(step - COLD) * (BLOCKS - COLD) / (r->steps - COLD)];
}

/* Follows a series of steps of so many seconds through the rule. */
typedef struct Follow {
  int said, missed;      /* outlooks; those whose range, a quarter wider, does not hold what came */
  double first_fraction; /* of the steps, when the first was said */
  double worst;          /* by how much the nearer end of the range was off; 1: nothing missed */
} Follow;

static Follow follow(const double *step_s, int steps, int touch) {
  double total = 0, now = 0;
  Follow f = {.first_fraction = 1, .worst = 1};
  TlForecast forecast = tl_forecast_start(0, steps, 0);
  for (int i = 0; i < steps; i++) total += step_s[i];
  for (int done = 1; done < steps; done++) {
    now += step_s[done - 1];
    tl_forecast_mark(&forecast, done, now);
    TlOutlook o = tl_forecast_outlook(&forecast, done, now, done >= touch);
    if (!o.known || done % (steps / 40) != 0) continue;
    double left = total - now, off = fmax(o.low_s / left, left / o.high_s);
    f.first_fraction = f.said++ ? f.first_fraction : (double)done / steps;
    f.missed += off > 1.25;
    f.worst = fmax(f.worst, off);
    ck_assert(o.low_s > 0 && o.high_s > o.low_s);
  }
  return f;
}

static double series[MOST_STEPS];

/* Ten to ten thousand times as dear, so that a tenth of the steps takes from a second to hours. */
START_TEST(recorded_runs_end_within_the_range_that_was_said) {
  int said = 0, missed = 0;
  for (size_t k = 0; k < sizeof recorded / sizeof *recorded; k++)
    for (double scale = 10; scale < 2e4; scale *= 10) {
      const Recorded *r = &recorded[k];
      for (int i = 0; i < r->steps; i++) series[i] = 1e-3 * scale * step_ms(r, i);
      Follow f = follow(series, r->steps, r->touch);
      ck_assert_msg(f.worst < 2, "%s: off by a factor of %g", r->name, f.worst);
      ck_assert_msg(f.said >= 20, "%s: only %d words", r->name, f.said);
      said += f.said;
      missed += f.missed;
    }
  ck_assert_msg(missed * 20 <= said, "%d of %d ranges missed what came", missed, said);
}
END_TEST

/* The first ten steps of these runs stood for the whole once; they are no measure of it. */
START_TEST(the_first_steps_say_nothing) {
  for (size_t k = 0; k < sizeof recorded / sizeof *recorded; k++) {
    const Recorded *r = &recorded[k];
    double first = 0, total = 0;
    for (int i = 0; i < r->steps; i++) total += series[i] = 1e-3 * step_ms(r, i);
    for (int i = 0; i < 10; i++) first += series[i];
    double guess = first / 10 * r->steps;
    ck_assert_msg(guess < total / 3, "%s: %g s of %g", r->name, guess, total);
    Follow f = follow(series, r->steps, r->touch);
    ck_assert_msg(f.first_fraction >= 0.1, "%s: said at %g", r->name, f.first_fraction);
  }
}
END_TEST

START_TEST(a_cold_start_is_not_in_the_estimate) {
  for (int i = 0; i < 1000; i++) series[i] = i < 3 ? 20 : 0.06; /* 120 s in all, 60 s of it cold */
  Follow f = follow(series, 1000, 0);
  ck_assert_int_ge(f.said, 30);
  ck_assert_msg(f.worst < 1.01, "off by %g", f.worst);
}
END_TEST

/* Even steps: said at the first tenth, within a quarter, and never "rising". */
START_TEST(even_steps_are_told_exactly) {
  TlForecast f = tl_forecast_start(500, 1500, 100);
  for (int i = 1; i <= 100; i++) {
    tl_forecast_mark(&f, 500 + i, 100 + 0.1 * i);
    TlOutlook o = tl_forecast_outlook(&f, 500 + i, 100 + 0.1 * i, true);
    ck_assert_int_eq(o.known, i == 100);
    if (!o.known) continue;
    CK_NEAR(o.step_s, 0.1, 1e-9);
    CK_NEAR(o.high_s, 90, 1e-6);
    CK_NEAR(o.low_s, 0.75 * 90, 1e-6);
    ck_assert(!o.rising && !o.falling && !o.few);
  }
}
END_TEST

/* Slow steps: after ten minutes something is said, however few they are. */
START_TEST(after_ten_minutes_something_is_said) {
  TlForecast f = tl_forecast_start(0, 1000000, 0);
  TlOutlook o = {.known = false};
  int i = 0;
  for (; !o.known && i < 100; i++) {
    tl_forecast_mark(&f, i + 1, 50.0 * (i + 1));
    o = tl_forecast_outlook(&f, i + 1, 50.0 * (i + 1), true);
  }
  ck_assert_msg(i == 13, "after %d steps", i); /* five cold ones and eight blocks: 650 s */
}
END_TEST

/* Poured grains: each step dearer than the last, so there is no upper bound; and what is left of a
 * heap that comes to rest is less than at the present pace. */
START_TEST(what_grows_has_no_upper_bound) {
  for (int i = 0; i < 2000; i++) series[i] = 1e-3 * (1 + i);
  Follow f = follow(series, 2000, 0);
  ck_assert_msg(f.missed == 0, "%d of %d", f.missed, f.said);
  TlForecast rising = tl_forecast_start(0, 2000, 0);
  double now = 0;
  for (int i = 0; i < 400; i++) tl_forecast_mark(&rising, i + 1, now += series[i]);
  TlOutlook o = tl_forecast_outlook(&rising, 400, now, true);
  ck_assert(o.known && o.rising && isinf(o.high_s));
  for (int i = 0; i < 2000; i++) series[i] = 0.1 * exp(-i / 500.0);
  f = follow(series, 2000, 0);
  ck_assert_msg(f.missed == 0, "%d of %d, off by %g", f.missed, f.said, f.worst);
}
END_TEST

START_TEST(grains_in_flight_bound_nothing) {
  TlForecast f = tl_forecast_start(0, 1000, 0);
  for (int i = 0; i < 200; i++) tl_forecast_mark(&f, i + 1, 0.1 * (i + 1));
  TlOutlook flight = tl_forecast_outlook(&f, 200, 20, false),
            heap = tl_forecast_outlook(&f, 200, 20, true);
  ck_assert(flight.few && isinf(flight.high_s));
  ck_assert(!heap.few && isfinite(heap.high_s));
}
END_TEST

TL_TEST_MAIN("forecast", recorded_runs_end_within_the_range_that_was_said,
             the_first_steps_say_nothing, a_cold_start_is_not_in_the_estimate,
             even_steps_are_told_exactly, after_ten_minutes_something_is_said,
             what_grows_has_no_upper_bound, grains_in_flight_bound_nothing)
