/* Runs whose bodies never meet: the blocks of an ensemble (section ensemble of the study), of which
 * a frame shows many at one place at the same time after their own release. */
#ifndef TL_POST_SINGLE_BLOCKS_H
#define TL_POST_SINGLE_BLOCKS_H

#include "store/results.h"

/* By the study in run.h5; false where it cannot be read. */
bool tl_scene_single_blocks(const TlScene *scene);
/* A number of a section of the study in run.h5; 0 where it cannot be read. */
double tl_scene_number(const TlScene *scene, const char *section, const char *key);

#endif
