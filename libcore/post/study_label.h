/* Labels that distinguish runs: the keys in which their studies differ. */
#ifndef TL_POST_STUDY_LABEL_H
#define TL_POST_STUDY_LABEL_H

#include "base/status.h"

#include <stdint.h>

/* Of the effective studies (folder/study.yaml) of runs: label[i], fresh memory each (tl_free), the
 * keys that are not the same in all, with run i's values: "contact.friction = 0.5, seed = 2".
 * Title, frames, checkpoint and parallel, which change no result, are left out. Without difference,
 * or without a study in one of the folders, the folder's own name. */
TlStatus tl_study_labels(const char *const *folder, int64_t count, char **label);

/* That name: the last part of the folder's path; fresh memory. */
TlStatus tl_study_folder(const char *folder, char **name);

#endif
