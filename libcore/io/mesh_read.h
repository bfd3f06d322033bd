/* Meshes from files: STL (text and binary), PLY (text, binary of both byte orders), OBJ.
 *
 * The format is found from the content: PLY by its first line; STL is binary when its length agrees
 * with its count of facets, whatever its header begins with (some begin with "solid"), else text;
 * OBJ by the extension. Polygons become fans of triangles. Coordinates are as in the file: none of
 * the formats has a unit. Nothing is welded or checked here but that numbers are finite and
 * vertices exist (num/triangles.h does the rest). */
#ifndef TL_IO_MESH_READ_H
#define TL_IO_MESH_READ_H

#include "num/triangles.h"

/* TL_EINPUT names file, line or facet, and what is wrong. mesh: to be released, also on failure. */
TlStatus tl_mesh_read(const char *path, TlTriangles *mesh);

/* The formats, from a whole file in memory (text is NUL-terminated at bytes[size]). */
TlStatus tl_mesh_read_stl(const char *bytes, size_t size, TlTriangles *mesh);
TlStatus tl_mesh_read_ply(const char *bytes, size_t size, TlTriangles *mesh);
TlStatus tl_mesh_read_obj(const char *bytes, size_t size, TlTriangles *mesh);

#endif
