/* What a run will need, reported before it starts: memory, disk, time, and the longest step that is
 * safe. */
#ifndef TL_RUN_PLAN_H
#define TL_RUN_PLAN_H

#include "base/report.h"
#include "run/run.h"

/* Contact points a grain: while grains fall and collide, and where they lie packed. */
enum { TL_CONTACTS_LOOSE = 1, TL_CONTACTS_PACKED = 5 };
/* Estimated memory of the largest rank, bytes, with so many contact points a grain. */
int64_t tl_run_memory(const TlRun *run, int contacts);
/* Most that the results folder will still grow: frames before compression, lines of history.csv,
 * checkpoints, the scene. */
int64_t tl_run_disk(const TlRun *run);
/* Collective. *free: bytes of the folder's disk. A warning when tl_run_disk is more than that;
 * TL_EIO when it is more than twice that (compression never saves a half). */
TlStatus tl_run_check_disk(const TlRun *run, int64_t *free_bytes);
/* The first steps: forty, and more until grains touch as many others as they will for a while, for ten seconds at
 * most. step_s: wall time of a step, the median of the last forty without the first five of all, which bring shapes
 * and lists into memory. */
typedef struct TlTrial {
  int64_t steps;
  double step_s;
  double
      left_s; /* of all steps that are to be done: a grain that is still to be poured costs what one of these does */
  bool
      settled; /* grains touch, or the run has no more steps; else left_s is what it takes at least */
} TlTrial;
/* Collective. Nothing is written; the run is of no use afterwards but to be closed. */
TlStatus tl_run_trial(TlRun *run, TlTrial *trial);

/* Collective; bodies and solver must be there. The longest step that is safe for all grains, of a
 * method that knows one (penalty); *safe_s: INFINITY without grains or by impulses. */
TlStatus tl_safe_step(TlRun *run, double *safe_s);
/* Log it, and what mass_scale makes of it. */
void tl_safe_step_say(const TlRun *run, double safe_s);

/* Materials that can touch something in this study, and the law of each pair that can: what the
 * list of pairs says and what is combined. */
TlStatus tl_run_report_materials(const TlRun *run, TlReport *report);

#endif
