/* The peers' drop scene: side^3 equal superellipsoids (half extents 10, 8, 7 mm, 800 nodes) let go
 * from a lattice of 24.5 mm into an open box of its width, friction 0.5. */
#ifndef TL_TESTS_LSDROP_H
#define TL_TESTS_LSDROP_H

#include "judge/overlap.h"
#include "judge/scene.h"

typedef struct LsDrop {
  JudgeScene scene;
  double drop_J; /* potential energy over the floor at the start */
  double deepest_m, cpu_s, time_s;
  JudgeDeepest
      worst; /* the deepest step so far as the solver sees it, planes included, and its poses */
} LsDrop;

/* How the scene is run. */
typedef struct LsMethod {
  double step_s;
  double normal_Pa_m; /* by penalty, traction of so stiff a surface; 0: by impulses */
  /* no more of a grain's surface touches, the safe step is reckoned with it; 0: 0.02 */
  double touching_share;
  /* by the nonsmooth method, without rebound, so stiff and with so many iterations at most */
  double young_Pa;
  int iterations;
  int turn; /* of lsdrop_open: 0, or other random poses at the start */
} LsMethod;

void lsdrop_open(LsDrop *drop, int side, LsMethod method);
/* The poses of data/settled_*.csv, come to rest in another program; drop_J: of the lattice that
 * they fell from. */
void lsdrop_open_settled(LsDrop *drop, int side, LsMethod method);
/* Grains like those of scans in its place: the four kinds of judge_grain, two shapes of each, 800
 * nodes, equal-volume diameters of 10 to 14 mm, at most count, let go from a lattice side by side
 * wide in which none can touch. About two seconds. */
void lsdrop_open_scanned(LsDrop *drop, int side, int count, LsMethod method);
/* Steps for so long. */
void lsdrop_run(LsDrop *drop, double seconds);
typedef struct LsRest {
  double kinetic; /* most of any step, of drop_J */
  double creep;   /* most change of the mean height, of that at the start */
} LsRest;
/* Steps for so long and watches. */
LsRest lsdrop_watch(LsDrop *drop, double seconds);
/* Runs until a second goes by with no more than this, or for most_s: false. */
bool lsdrop_settle(LsDrop *drop, LsRest bound, double most_s);
double lsdrop_mean_height(const LsDrop *drop);
/* Vertical impulses of the floor and walls in the last step over the weight's. */
double lsdrop_carried(const LsDrop *drop);
void lsdrop_close(LsDrop *drop);

#endif
