/* What a study says otherwise than it did when a run began, as far as that moves a bit of what the
 * run did so far. */
#ifndef TL_RUN_STUDY_CHANGE_H
#define TL_RUN_STUDY_CHANGE_H

#include "conf/yaml_tree.h"

typedef struct TlStudyChange {
  bool found;
  char path[256], was[128], is[128]; /* the first key that changed, "planes.2.normal", its values */
} TlStudyChange;

/* Both are effective studies (tl_study_write). */
void tl_study_change(const TlYamlNode *was, const TlYamlNode *is, TlStudyChange *change);

#endif
