/* What a run that resumes compares with the run that was saved. Its study: which key has another
 * value. Its catalog: digests of the ground and of the walls' tables, and of each shape in use the
 * number of nodes and the measures. */
#ifndef TL_RUN_INPUTS_H
#define TL_RUN_INPUTS_H

#include "conf/yaml_tree.h"
#include "run/run.h"

#define TL_SHAPE_MARK_FIELDS(F)                                                                    \
  F(int64_t, id, "", TL_SAVE, "key of the shape")                                                  \
  F(int64_t, nodes, "", TL_SAVE, "number of its surface nodes")                                    \
  F(double, volume_m3, "", TL_SAVE, "")                                                            \
  F(double, area_m2, "", TL_SAVE, "")                                                              \
  F(double, radius_m, "", TL_SAVE, "of the sphere about its centre")                               \
  F(TlVec3, inertia_m5, "", TL_SAVE, "principal moments for density 1")

#define F(type, name, ...) type name;
typedef struct TlShapeMark {
  TL_SHAPE_MARK_FIELDS(F)
} TlShapeMark;
#undef F

extern const TlRecord tl_shape_mark_record; /* of a TlShapeMark */

/* Lower-case SHA-256 of the terrain's heights, with its classes when it has them; "" without a
 * terrain. */
TlStatus tl_inputs_terrain(const TlRun *run, char hex[65]);
/* SHA-256 of the rows of all walls' tables; "" when no wall follows one. */
TlStatus tl_inputs_tables(const TlRun *run, char hex[65]);
/* Marks of the shapes that this rank's bodies use, sorted by id, fresh memory. */
TlStatus tl_inputs_shapes(TlRun *run, TlShapeMark **marks, int64_t *count);

typedef struct TlStudyChange {
  bool found;
  char path[256], was[128], is[128]; /* the first key that changed, "planes.2.normal", its values */
} TlStudyChange;

/* Between two effective studies (tl_study_write), as far as a key moves a bit of what the run did
 * before it was saved (study_change.c). */
void tl_study_change(const TlYamlNode *was, const TlYamlNode *is, TlStudyChange *change);

#endif
