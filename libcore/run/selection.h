/* The grains a study picks from the catalog and from its shapes, as rows without their grids.
 *
 * Rows are numbered 0 .. count-1 in order of id, shapes (run/shapes.h) before the catalog; each
 * rank reads its own part and sums go over the ranks, so that nothing holds all of them. With
 * release.assembly from-run there are no rows: what is selected are the grains of a frame.
 */
#ifndef TL_RUN_SELECTION_H
#define TL_RUN_SELECTION_H

#include "base/comm.h"
#include "run/assembly_start.h"
#include "run/shapes.h"
#include "store/catalog.h"

typedef struct TlSelection {
  TlCatalog *catalog;          /* borrowed; NULL: none */
  const TlStudyShapes *shapes; /* borrowed */
  int64_t *shape;              /* places in their list by rising id, without doubles; owned */
  int64_t shape_count;
  TlGrainQuery query;
  int64_t *ids;  /* sorted, without doubles; NULL: by the query; owned */
  int64_t count; /* shapes and grains of the catalog; 0: the study only places bodies */
  TlStart start; /* of from-run, on rank 0; owned; count is that of its grains */
  /* over all selected grains, as scanned; from-run: as they are there over the run's grain_scale */
  double radius_m, median_diameter_m;
  TlVec3 low_m, high_m; /* box of the bounding spheres in the scan */
  int64_t grid_bytes;   /* estimated memory of all avatars' grids and nodes */
  int64_t avatars;      /* so many */
} TlSelection;

/* Collective. TL_EINPUT at the study's key when a grain or sample is not there or none is left. */
TlStatus tl_selection_open(TlSelection *selection, TlComm *comm, TlCatalog *catalog,
                           const TlStudyShapes *shapes, const TlStudy *study);
void tl_selection_free(TlSelection *selection);

/* visit each row of [begin, end) in order. */
TlStatus tl_selection_walk(const TlSelection *selection, int64_t begin, int64_t end,
                           TlStatus (*visit)(void *context, const TlGrainRow *row), void *context);

#endif
