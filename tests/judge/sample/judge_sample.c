/* A judging program for the test of the harness: JUDGE_SAMPLE says how it should turn out. */
#include "judge/calibrate.h"
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void plot(void) {
  FILE *data = judge_data("line.dat");
  for (int i = 0; i < 5; i++) fprintf(data, "%d %d\n", i, i * i);
  fclose(data);
  judge_gnuplot("sample-line", "plot 'line.dat' with lines title 'x^2'");
}

int main(int argc, char **argv) {
  const char *how = getenv("JUDGE_SAMPLE");
  judge_open("sample", argc, argv);
  judge_at_most(JUDGE_CORRECT, "sample_error", 1e-12, "1", 1e-9);
  if (!strcmp(how, "crash")) abort();
  judge_at_least(JUDGE_GOAL, "sample_gain", !strcmp(how, "out") ? 3 : 6, "1", 5);
  judge_at_most(JUDGE_CORRECT, "sample_overlap", !strcmp(how, "wrong") ? 0.05 : 0.01, "1", 0.02);
  judge_between(JUDGE_GOAL, "sample_ratio", !strcmp(how, "nan") ? NAN : 1.5, "1", 1, 2);
  judge_at_most(JUDGE_GOAL, "sample_size", judge_full() ? 2 : 1, "1", 2);
  if (!strcmp(how, "given")) judge_at_least(JUDGE_GOAL, "sample_ari_given", 0.9, "1", 0.8);
  judge_paper("sample_ratio", 1.5, 1.2, "1", "Someone 2024, Table 1");
  judge_paper("sample_speed", 3, 2, "s, a step", "Someone 2024, Table 3");
  judge_both("sample_height", &(JudgeBoth){2, 2.5, 3, 12, 8}, "m", "Someone 2024, Table 2");
  judge_note("%s", "a note");
  if (!strcmp(how, "recorded") && judge_recorded(100, "us", "a peer") < 1) return 3;
  plot();
  return judge_close();
}
