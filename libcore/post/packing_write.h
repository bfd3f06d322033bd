/* Functions for the writers of a packing's tables. */
#ifndef TL_POST_PACKING_WRITE_H
#define TL_POST_PACKING_WRITE_H

#include "io/csv.h"
#include "num/vec.h"

typedef struct TlPackWriting {
  const char *folder;
  bool overwrite;
} TlPackWriting;

TlStatus tl_pack_begin(const TlPackWriting *to, const char *name, const char *header, TlCsv *csv);
/* Commit, or with a failure abort; gives status back. */
TlStatus tl_pack_finish(TlCsv *csv, TlStatus status);

/* Columns of a spherical histogram's table (packing_fabric.h), and its rows for one set of
 * directions, with `lead` values in front of each. */
#define TL_PACK_CELL_COLUMNS "kind,cos_low,cos_high,azimuth_low_deg,azimuth_high_deg,count,density"
TlStatus tl_pack_put_cells(TlCsv *csv, const double *lead, int leads, int kind,
                           const TlVec3 *direction, int64_t count);

#endif
