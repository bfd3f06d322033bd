/* Ensembles (section ensemble of the study): a frame shows many blocks at one place at the same time
 * after their own release, and only those of one release ever meet. */
#ifndef TL_POST_ENSEMBLE_SCENE_H
#define TL_POST_ENSEMBLE_SCENE_H

#include "store/results.h"

/* By the study in run.h5; false where it cannot be read. */
bool tl_scene_is_ensemble(const TlScene *scene);
/* Blocks of a release of an ensemble: block i is of release i over this. 1: each is one of its own; of
 * other runs, too. */
int64_t tl_scene_blocks_together(const TlScene *scene);
/* Did its blocks lie on grounds of other roughness than the scene's? Depths in it say nothing then. */
bool tl_scene_other_grounds(const TlScene *scene);
/* Has its study joints? Rows that are guided are then on them, and else on pistons of an apparatus. */
bool tl_scene_has_joints(const TlScene *scene);
/* A number of a section of the study in run.h5; 0 where it cannot be read. */
double tl_scene_number(const TlScene *scene, const char *section, const char *key);

#endif
