/* The walls of a study as boundaries of the solver. A container is several: one a face. */
#ifndef TL_RUN_WALLS_H
#define TL_RUN_WALLS_H

#include "model/boundary.h"
#include "run/setup.h"
#include "shape/wall.h"

/* What the boundaries of one wall borrow. */
typedef struct TlWallData {
  TlBoundaryPlane plane[6];
  TlBoundarySolid solid[6];
  TlBoundaryTube tube;
  TlBoundaryRing ring;
  TlSurface surface;
  TlDrive drive;
  double *time_s; /* of the table, owned */
  TlVec3 *displacement_m;
} TlWallData;

typedef struct TlWalls {
  TlBoundary *boundary; /* owned */
  TlWallPart *part;     /* the same for readers of the results, one a boundary, owned */
  int count;
  TlWallData *data; /* one a wall, owned */
  int64_t walls;
} TlWalls;

/* table_path: where the study's word for a table lies, fresh memory; context goes with it. Errors
 * name study and key, or table file and line. To be freed also after a failure. */
typedef char *(*TlTablePath)(void *context, const char *table);
TlStatus tl_walls_open(TlWalls *walls, const TlSetup *setup, const TlStudy *study,
                       TlTablePath table_path, void *context);
void tl_walls_free(TlWalls *walls);

/* The frame of a box that is turned about x, then y, then z (rotation_deg). */
TlMat3 tl_wall_turn(const double deg[3]);

#endif
