/* Triangles of a grain for other programs: closed, outward, of the grain's own volume.
 *
 * The triangles of shape/mesh.h lie on the piecewise linear phi = 0, which is inside the smooth
 * surface on convex parts (0.5% of the volume at ten cells a radius). Their vertices are moved
 * along their normals by one common distance until the volume is avatar->volume_m3; it is returned
 * in *shift_m and stays within some hundredths of a cell. Body frame, metres, unscaled.
 */
#ifndef TL_POST_SURFACE_H
#define TL_POST_SURFACE_H

#include "shape/mesh.h"

/* cells: grid cells along the grain's longest axis for a coarser surface, 0: the grid's own. A
 * surface too coarse to be closed gives TL_EINPUT. mesh: new, owned by the caller. */
TlStatus tl_surface_make(const TlAvatar *avatar, int32_t cells, TlMesh *mesh, double *shift_m);

/* Moves the vertices of a closed mesh along its normals by one common distance, returned in
 * *shift_m, so that it encloses the volume; `rounds` of Newton's method. */
TlStatus tl_surface_match_volume(TlMesh *mesh, double volume, int rounds, double *shift_m);

/* Each edge is used by exactly two triangles, once in each direction; TL_EINPUT names one that is
 * not. n log n. */
TlStatus tl_surface_check_closed(const TlMesh *mesh);

#endif
