/* Triangle meshes as binary STL or PLY. STL has no unit: it is written into the 80-byte header
 * (which must not begin with "solid", or readers take the file for text) and coordinates are scaled
 * to it. */
#ifndef TL_IO_MESH_H
#define TL_IO_MESH_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* vertex: x, y, z of vertex i at 3i..; triangle: three vertex numbers each, counter-clockwise seen
 * from outside. Coordinates are multiplied by scale. Normals are those of the facets. TL_EINPUT for
 * more triangles than the format's 32 bits hold. */
TlStatus tl_stl_write(const char *path, bool overwrite, const char *title, const float *vertex,
                      const int32_t *triangle, size_t triangles, double scale);

/* The same as binary little-endian PLY with shared vertices; the title becomes a comment. */
TlStatus tl_ply_write(const char *path, bool overwrite, const char *title, const float *vertex,
                      size_t vertices, const int32_t *triangle, size_t triangles, double scale);

#endif
