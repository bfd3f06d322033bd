/* The grains of a frame of an earlier run, as a start for this one (release.assembly from-run).
 *
 * Shapes of the earlier study's list are found again by name in this one's, grains of a catalog by
 * id in this one's: volume, moments and grid must be the same to 1e-9, or the run is refused with
 * the shape's name. Left out, and said, are spheres of nets, platens and what is frozen there. Rank
 * 0 reads and keeps the rows; the other ranks hold none.
 */
#ifndef TL_RUN_ASSEMBLY_START_H
#define TL_RUN_ASSEMBLY_START_H

#include "run/shapes.h"
#include "store/results.h"

typedef struct TlStart {
  int64_t count;      /* rank 0: grains */
  TlBodyRow *grain;   /* in order of the earlier ids, avatar_id as in this study; owned */
  int64_t *shape;     /* of each grain, in `shapes`; owned */
  TlGrainRow *shapes; /* owned */
  int64_t shape_count;
  double grain_scale; /* of the earlier run */
  char *provenance;   /* of the earlier run, JSON array; owned */
} TlStart;

/* For one rank. catalog: NULL when the study has none. Errors at the study's key. */
TlStatus tl_start_read(TlStart *start, const TlStudyShapes *shapes, TlCatalog *catalog,
                       const TlStudy *study);
void tl_start_free(TlStart *start);

#endif
