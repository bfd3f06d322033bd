/* A run as files for ParaView: grains_NNNNNN.vtp a frame, grains.pvd with the physical times,
 * terrain.vtp for the ground and other bodies at rest, walls_NNNNNN.vtp with walls.pvd for a run
 * with walls or planes (export_walls.h). World frame of the run, metres. Grains are points with
 * their attributes, or their surfaces placed by their poses. */
#ifndef TL_POST_EXPORT_H
#define TL_POST_EXPORT_H

#include "shape/mesh.h"
#include "store/results.h"

typedef struct TlExportOptions {
  bool surfaces;
  int32_t cells; /* of a grain's surface along its longest axis, 0: its grid's own */
} TlExportOptions;

/* files: how many were written. Frames are handled one at a time. */
TlStatus tl_export_run(const char *folder, const TlScene *scene, const TlExportOptions *options,
                       const char *output, bool overwrite, int64_t *files);

TlStatus tl_export_terrain(const TlTerrain *terrain, const char *path, bool overwrite);
/* One grain's surface, x = position + R(rotation) v; values in metres. */
TlStatus tl_export_grain(const TlAvatar *avatar, const TlMesh *mesh, TlVec3 position,
                         TlQuat rotation, const char *path, bool overwrite);
/* The grain's level set as a regular grid in the body frame (.vti). */
TlStatus tl_export_field(const TlAvatar *avatar, const char *path, bool overwrite);

#endif
