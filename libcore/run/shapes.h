/* The shapes a study describes by formula or mesh file (setup_shapes.h), made once on each machine, whose ranks
 * divide them among each other and hold their arrays in common (base/shared.h).
 *
 * Shape i of the list has the avatar id -1 - i: a catalog's ids start at 1, so the two can never
 * meet. -1 - TL_SHAPES_MOST is the ball that stands for any sphere by its scale
 * (grains.as_spheres), ids below are free for what is not in the list (nets, ...). Every shape has
 * a gridded avatar, which pictures and measures use; those that the solver knows in closed form are
 * handed to it as such, and their avatars stand in the closed form's axes.
 */
#ifndef TL_RUN_SHAPES_H
#define TL_RUN_SHAPES_H

#include "base/shared.h"
#include "solve/step.h"
#include "run/setup.h"
#include "store/catalog.h"

enum {
  TL_SHAPES_MOST = 1000000,
  TL_BALL_ID = -1 - TL_SHAPES_MOST /* a sphere 1 m across: its body's scale is its diameter in m */
};

/* beside: where a file that the study names lies, in fresh memory; context goes with it. speak: say
 * what meshes hold. */
typedef struct TlShapeFiles {
  char *(*beside)(void *context, const char *file);
  void *context;
  bool speak;
} TlShapeFiles;

typedef struct TlStudyShapes {
  const TlSetup *setup; /* borrowed */
  TlShapeFiles files;   /* its context is borrowed; all NULL: none */
  TlShared *shared;     /* borrowed; NULL: none */
  TlAvatar *avatar;     /* owned; one a shape of the list */
  int64_t count;
  TlAvatar ball; /* owned; no nodes: not wanted */
} TlStudyShapes;

static inline int64_t tl_study_shape_id(int64_t index) {
  return -1 - index;
}

/* files: NULL when no file is wanted; copied. shared: borrowed; may be NULL. TL_EINPUT at the study's key when the sizes, or the
 * mesh, make no shape. */
TlStatus tl_study_shapes_open(TlStudyShapes *shapes, const TlSetup *setup, const TlStudy *study,
                              const TlShapeFiles *files, TlShared *shared);
void tl_study_shapes_free(TlStudyShapes *shapes);
/* NULL: not the id of a shape of the list. */
const TlAvatar *tl_study_shapes_get(const TlStudyShapes *shapes, int64_t avatar_id);
/* Radius of a shape that is solved as a sphere; 0: it is none. */
double tl_study_shapes_ball(const TlStudyShapes *shapes, int64_t avatar_id);
/* A shape of the list that is solved on its grid and nodes. */
bool tl_study_shapes_gridded(const TlStudyShapes *shapes, int64_t avatar_id);
/* What a selection says of it; sample_id 0. The ball's index is -1 - TL_BALL_ID. */
TlGrainRow tl_study_shapes_row(const TlStudyShapes *shapes, int64_t index);
/* At scale 1, as the solver has it: of a closed form without the grid's rounding. */
void tl_study_shapes_mass(const TlStudyShapes *shapes, int64_t index, double *volume_m3,
                          TlVec3 *inertia_m5);
/* What the study takes in place of a grain of this row at *scale: itself, or with grains.as_spheres
 * the ball at the scale that gives it the grain's volume. */
TlGrainRow tl_study_shapes_stand_in(const TlStudyShapes *shapes, const TlGrainRow *row,
                                    double *scale);
/* Hand the closed forms to a solver that is new. */
TlStatus tl_study_shapes_register(const TlStudyShapes *shapes, TlModel *model);

#endif
