/* The plain text that the LS-DEM codes of Andrade's group read (Kawamoto et al. 2016): one file a
 * grain, 8 lines, single spaces:
 *   1 mass            2 I1 I2 I3            3 centre of mass in the grid x y z
 *   4 number of nodes 5 all nodes, x y z each, relative to the centre of mass
 *   6 bounding radius 7 nx ny nz            8 all level-set values, x fastest, then y, then z
 * The originals state neither units nor order. Here the unit of length is the grid spacing (so the
 * grid has spacing 1 and grid point (0,0,0) is the origin of line 3), mass and moments at unit
 * density, everything in the body frame (principal axes, moments ascending), level set negative
 * inside. Numbers are printed so that the stored floats come back bit for bit.
 */
#ifndef TL_POST_EXPORT_MORPHOLOGY_H
#define TL_POST_EXPORT_MORPHOLOGY_H

#include "shape/avatar.h"

TlStatus tl_morphology_write(const char *path, bool overwrite, const TlAvatar *avatar);

/* spacing_m: what one unit of length is. density: that of the file's mass and moments (1: ours).
 * What the format does not hold is worked out: area and node areas from the triangles of phi = 0,
 * principal lengths from the nodes, gradient_max from the grid; phi_error_m becomes a tenth of the
 * spacing. Pose: identity at the origin. TL_EINPUT names the line that is wrong. */
TlStatus tl_morphology_read(const char *path, double spacing_m, double density, TlAvatar *avatar);

/* The tables beside a folder's grains (export_catalog.h): pose, label and border flag of count
 * grains, line n for the n-th. Files that are not there leave the avatars as they are; one with
 * another number of lines, or a line that is wrong, is TL_EINPUT. spacing_m: of the positions. */
typedef struct TlMorphologyBeside {
  TlVec3 *position_m;
  TlQuat *rotation;
  uint32_t *label;
  bool *border; /* each NULL where its file is not there; owned */
} TlMorphologyBeside;
TlStatus tl_morphology_beside(const char *folder, int64_t count, double spacing_m,
                              TlMorphologyBeside *beside);
void tl_morphology_beside_free(TlMorphologyBeside *beside);

#endif
