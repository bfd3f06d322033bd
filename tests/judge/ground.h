/* Rasters of rough ground in a catalog of their own, and grains of config/validation/terrain.yaml on them. */
#ifndef TL_TESTS_JUDGE_GROUND_H
#define TL_TESTS_JUDGE_GROUND_H

#include "run/run.h"

typedef struct JudgeGround {
  const char *name;
  double cell_m, low_m, high_m; /* square from which grains are let go, local frame */
} JudgeGround;

enum { JUDGE_GROUNDS = 5 };
/* Three valleys of talus-phantom --terrain, ridges with slopes up to 70 degrees, terraces with cliffs. */
extern const JudgeGround judge_ground[JUDGE_GROUNDS];

/* judge_path("ground.tals"), made anew. */
void judge_ground_catalog(const char *program, int argc, char **argv);

/* Grains whose radius is `fraction` of a cell; sets: more, separated by spaces. */
void judge_ground_open(TlRun *run, const JudgeGround *ground, double fraction, int count,
                       const char *sets);

#endif
