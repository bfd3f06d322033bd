/* A scene for judging programs that drive the solver themselves, without files: avatars, planes,
 * bodies, steps. Cases that are runs go through tl_run and a study file of config/validation.
 * Whatever fails ends the program (judge_ok). One rank.
 */
#ifndef TL_TESTS_SCENE_H
#define TL_TESTS_SCENE_H

#include "solve/step.h"
#include "support/stepper.h"
#include "phantom/phantom_shape.h"

enum { JUDGE_PLANES = 8 };

typedef struct JudgeScene {
  TlSolverConfig config; /* defaults at open; what is set before start counts */
  TlAvatar **avatar;     /* number i has id i + 1; owned */
  int avatars;
  TlBoundaryPlane plane[JUDGE_PLANES]; /* a plane moved far away is a wall taken away */
  TlBoundary boundary[JUDGE_PLANES];
  int planes;
  Stepper *solver;
  TlBodies bodies;
  TlStepReport report; /* of the last step */
} JudgeScene;

void judge_scene_open(JudgeScene *scene);
/* Takes the avatar over (*avatar is emptied); gives its id. */
int64_t judge_scene_avatar(JudgeScene *scene, TlAvatar *avatar);
void judge_scene_plane(JudgeScene *scene, TlVec3 point, TlVec3 normal);
/* Floor z = 0 (plane 0) and four walls (planes 1 to 4) of a box, its inside [0, x] x [0, y]. */
void judge_scene_box(JudgeScene *scene, double x, double y);
void judge_scene_start(JudgeScene *scene); /* after avatars and planes, before bodies */
/* Index of the new body; ids count from 0. */
int64_t judge_scene_put(JudgeScene *scene, int64_t avatar, double scale, TlVec3 x, TlQuat q,
                        TlVec3 v);
/* The settled poses of data/settled_*.csv, shifted by corner, as bodies of this avatar; axes:
 * its scan_rotation (body axes go with ascending moments). */
void judge_scene_heap(JudgeScene *scene, int64_t avatar, TlQuat axes, int count, TlVec3 corner);
void judge_scene_steps(JudgeScene *scene, int steps);
uint64_t judge_scene_hash(const JudgeScene *scene);
void judge_scene_close(JudgeScene *scene);

/* Exponent of y over x: the slope of log y over log x, least squares. */
double judge_exponent(int n, const double *x, const double *y);

/* A uniformly random rotation from the stream's next numbers. */
TlQuat judge_turned(TlRandom *random);

/* An irregular grain (phantom_shape.h), the equal-volume diameter diameter_m, cells grid cells
 * across it, nodes surface nodes. Kind and seed make the shape at any resolution; its in-situ pose
 * is relative to the shape's own origin. About a second for 40 cells and 2560 nodes. */
void judge_grain(TlGrainKind kind, double diameter_m, double cells, int32_t nodes, uint64_t seed,
                 TlAvatar *out);
/* The pose that puts avatar `to` where avatar `from`, the same shape at another resolution, lies.
 */
void judge_same_pose(const TlAvatar *from, const TlAvatar *to, double scale, TlVec3 *position,
                     TlQuat *rotation);
/* A copy with memory of its own. */
void judge_avatar_copy(const TlAvatar *from, TlAvatar *to);

#endif
