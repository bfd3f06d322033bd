/* What model reduction saves: CPU of the tests of Servin and Wang 2015 in small and of a collapse of shaped grains
 * (tests/judge/servin.h), without and with it, at equal iterations. */
#include "judge/judge.h"
#include "judge/servin.h"

#include <stdio.h>

typedef struct Case {
  ServinTest test;
  const char *name;
  TlSplit split;
  double goal;
} Case;

static const Case cases[] = {{SERVIN_CONVEYOR, "conveyor", TL_SPLIT_CONTACT, 4},
                             {SERVIN_COLLAPSE, "collapse", TL_SPLIT_TRIAL, 2},
                             {SERVIN_DRUM, "drum", TL_SPLIT_TRIAL, 1.5},
                             {SERVIN_SHAPES, "shapes", TL_SPLIT_TRIAL, 1.3}};

int main(int argc, char **argv) {
  judge_open("reduction", argc, argv);
  for (int i = 0; i < 4; i++) {
    const Case *c = &cases[i];
    char figure[80];
    ServinResult both[2], *whole = &both[0], *reduced = &both[1];
    servin_run(&(ServinScene){c->test, false, true, SERVIN_SEED},
               (ServinVariant[]){{TL_SPLIT_OFF}, {c->split}}, 2, NULL, both);
    snprintf(figure, sizeof figure, "reduction_%s_speed_up", c->name);
    judge_at_least(JUDGE_GOAL, figure, whole->cpu_s / reduced->cpu_s,
                   "CPU without over with, equal iterations", c->goal);
    judge_note("%s: %.2f ms a step whole, %.2f reduced, of which %.2f to merge and split; mean "
               "reduction level %.2f, 1/(1 - level) %.1f.",
               c->name, 1e3 * whole->cpu_s / (double)whole->steps,
               1e3 * reduced->cpu_s / (double)reduced->steps,
               1e3 * reduced->reduction_s / (double)reduced->steps, reduced->level,
               1 / (1 - reduced->level));
  }
  return judge_close();
}
