#include "judge/study.h"

#include "judge/judge.h"

#include <stdarg.h>
#include <string.h>

typedef struct Watch {
  TlRun *run;
  JudgeEach each;
  void *context;
} Watch;

static int look(void *context) {
  Watch *w = context;
  if (w->each) w->each(w->run, w->context);
  return 0;
}

static TlComm *world(void) {
  static TlComm *comm;
  int argc = 0;
  char **argv = NULL;
  if (!comm) JUDGE_OK(tl_comm_start(&comm, &argc, &argv));
  return comm;
}

void judge_study_open(TlRun *run, const char *name, const char *sets, ...) {
  static char path[256]; /* the run's messages name it; one run at a time */
  char text[1024], *items[64];
  TlTexts list = {items, 0};
  snprintf(path, sizeof path, "config/validation/%s.yaml", name);
  va_list values;
  va_start(values, sets);
  vsnprintf(text, sizeof text, sets, values);
  va_end(values);
  for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) items[list.count++] = at;
  TlRunOptions options = {.study = path, .sets = &list, .no_output = true};
  JUDGE_OK(tl_run_open(run, world(), &options));
  run->options.sets = NULL; /* ours */
}

void judge_study_go(TlRun *run, JudgeEach each, void *context) {
  Watch watch = {run, each, context};
  run->options.stop = look;
  run->options.stop_context = &watch;
  JUDGE_OK(tl_run_go(run));
}

int64_t judge_study_body(const TlRun *run, int64_t id) {
  for (int64_t i = 0; i < run->state->dem.bodies.owned; i++)
    if (run->state->dem.bodies.id[i] == id) return i;
  judge_ok(tl_fail(TL_EINPUT, "body %lld is gone", (long long)id), "judge_study_body");
  return -1;
}
