/* The walls of a run as triangles, where they are at a frame.
 *
 * Faces and the planes of containers by their extents, boxes and cylinders as closed bodies, tubes
 * by their inner surface, pipes with both surfaces and rims; round walls have 64 sides with
 * their corners on the surface. A plane without end is a square about the box of the run's grains.
 * Walls that do not exist at the time of the frame are left out. Triangles face the grains. World
 * frame, metres.
 */
#ifndef TL_POST_EXPORT_WALLS_H
#define TL_POST_EXPORT_WALLS_H

#include "store/results.h"

typedef struct TlWallMesh {
  double *point; /* 3 a point, owned */
  int64_t *corner;
  int32_t *wall, *part; /* of each triangle: number in the study's walls (a plane of its planes:
                           -1), and number of the part, planes after them */
  int64_t points, triangles;
} TlWallMesh;

/* Does the run have walls or planes at all? */
bool tl_walls_any(const TlScene *scene);
/* low, high: the box about which planes without end are drawn. */
TlStatus tl_walls_mesh(const TlScene *scene, const TlFrame *frame, TlVec3 low, TlVec3 high,
                       TlWallMesh *mesh);
void tl_walls_mesh_free(TlWallMesh *mesh);

TlStatus tl_export_walls(const TlScene *scene, const TlFrame *frame, TlVec3 low, TlVec3 high,
                         const char *path, bool overwrite);

#endif
