#include "judge/calibrate.h"

#include "base/mem.h"
#include "judge/judge.h"

#include <math.h>
#include <stdint.h>

enum { WORDS = 1 << 22, ROUNDS = 9, TURNS = 1000000 };

/* CPU seconds of one round on the reference machine. */
static const double REFERENCE_S = 0.135;

static double arithmetic(void) {
  double a = 1.1, b = 0.7, c = 0.3, s = 0;
  for (int i = 0; i < TURNS; i++) {
    a = a * 0.999999 + 1e-6;
    b = b * 0.999998 + a * 1e-6;
    c = sqrt(c * 0.5 + a * b);
    s += a * b + c;
  }
  return s;
}

/* A full-period walk (odd step of an LCG) through 32 MB: the next address waits for the last. */
static uint64_t memory(const uint64_t *word) {
  uint64_t at = 1, s = 0;
  for (int i = 0; i < TURNS; i++) {
    at = (at * 1664525u + 1013904223u + (word[at] & 1)) % WORDS;
    s += word[at];
  }
  return s;
}

static double one_round(const uint64_t *word) {
  double start = judge_thread_cpu_s();
  volatile double keep = arithmetic() + (double)memory(word);
  (void)keep;
  return judge_thread_cpu_s() - start;
}

double judge_machine_factor(void) {
  static double factor;
  if (factor > 0) return factor;
  uint64_t *word;
  JUDGE_OK(TL_NEW(word, WORDS));
  for (int i = 0; i < WORDS; i++) word[i] = 2 * (uint64_t)i;
  double best = HUGE_VAL;
  for (int i = 0; i < ROUNDS; i++) best = fmin(best, one_round(word));
  tl_free(word);
  return factor = best / REFERENCE_S;
}

double judge_recorded(double value, const char *unit, const char *what) {
  double here = value * judge_machine_factor();
  judge_note("recorded: %s, %.4g %s there, %.4g %s here by the calibration loop (factor %.3f).",
             what, value, unit, here, unit, judge_machine_factor());
  return here;
}
