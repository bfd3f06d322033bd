/* The layout of run.h5 and the frames (docs/reference/results.md); shared by writer and
 * reader. */
#ifndef TL_STORE_RESULTS_LAYOUT_H
#define TL_STORE_RESULTS_LAYOUT_H

#include "store/results.h"
#include "store/results_h5.h"

enum {
  TL_RESULTS_FORMAT = 1,
  TL_AVATAR_COLUMNS = 20,
  TL_PART_COLUMNS = 15,
  TL_MATERIAL_COLUMNS = 3, /* and the names */
  TL_PAIR_COLUMNS = 2 + TL_PAIR_FIELD_COUNT TL_STIFFNESS_FIELDS(TL_NO_FIELD, TL_ONE_FIELD)
};

/* A row of /avatar: the numbers of an avatar and where its arrays begin. */
typedef struct TlAvatarRow {
  TlAvatar avatar; /* arrays unused */
  int64_t phi_start, node_start;
  uint8_t border;
} TlAvatarRow;

/* A row of /wall: a part, the axes as vectors, and where its table begins. */
typedef struct TlPartRow {
  TlWallPart part;
  TlVec3 axis[3];
  int64_t table_start;
} TlPartRow;

/* A row of /pair: two materials, the first not above the second. */
typedef struct TlPairRow {
  int32_t first, second;
  TlPairLaw law;
} TlPairRow;

extern const TlH5Column tl_material_columns[TL_MATERIAL_COLUMNS]; /* of TlMaterial */
extern const TlH5Column tl_pair_columns[TL_PAIR_COLUMNS];
extern const TlH5Column tl_avatar_columns[TL_AVATAR_COLUMNS];
extern const TlH5Column tl_part_columns[TL_PART_COLUMNS];

/* "frame_NNNNNN.h5" in the folder, fresh memory. */
char *tl_results_frame_path(const char *folder, int64_t index);
/* The frame's number when name is that of a whole frame, else -1. */
int64_t tl_results_frame_index(const char *name);

#endif
