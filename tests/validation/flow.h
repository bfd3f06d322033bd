/* Runs of a study whose walls go at a time: container and heap (val_repose, val_outflow). */
#ifndef TL_TESTS_VALIDATION_FLOW_H
#define TL_TESTS_VALIDATION_FLOW_H

#include "judge/judge.h"

#include "base/mem.h"
#include "run/run.h"

#include <string.h>

typedef struct Flow {
  TlRun run;
  int64_t open_step;                       /* after this step the walls go; 0: they stay */
  int first_wall, walls;                   /* of the study's planes */
  double detect_s, etm_s, rest_s, other_s; /* wall clock of all steps */
} Flow;

/* Asked after each step: the walls that go are put where no grain comes. */
static int flow_watch(void *context) {
  Flow *f = context;
  const TlStepReport *r = &f->run.totals.last;
  f->detect_s += r->detect_s;
  f->etm_s += r->etm_s;
  f->rest_s += r->rest_s;
  f->other_s += r->other_s;
  if (f->run.totals.steps != f->open_step) return 0;
  for (int i = f->first_wall; i < f->first_wall + f->walls; i++) {
    TlBoundaryPlane *p = &f->run.plane_data[i];
    p->point = tl_axpy(p->point, -1e3, p->normal);
  }
  return 0;
}

/* Runs study (of config/validation) with these settings into folder. walls: how many of the study's
 * last planes go after open_s. The run is left open for looks at its totals. */
static void flow_run(Flow *f, const char *study, const char *const *sets, int64_t count,
                     const char *folder, double open_s, int walls) {
  char *path = tl_format("config/validation/%s.yaml", study);
  TlTexts texts = {(char **)(uintptr_t)sets, count};
  TlRunOptions options = {.study = path,
                          .sets = &texts,
                          .output = folder,
                          .overwrite = true,
                          .stop = flow_watch,
                          .stop_context = f};
  memset(f, 0, sizeof *f);
  JUDGE_OK(tl_run_open(&f->run, NULL, &options));
  f->walls = walls;
  f->first_wall = (int)f->run.setup.planes.count - walls;
  f->open_step = (int64_t)(open_s / f->run.setup.time.dt_s + 0.5);
  JUDGE_OK(tl_run_go(&f->run));
  tl_free(path);
}

static double flow_overlap(const Flow *f) {
  const TlRunTotals *t = &f->run.totals;
  return t->overlap_share > t->boundary_overlap_share ? t->overlap_share
                                                      : t->boundary_overlap_share;
}

#endif
