/* A body from a mesh file: read, checked to bound a body, in metres.
 *
 * One implementation for talus-avatars --mesh and the shapes of a study. No mesh file states its
 * unit, and it is never guessed. Facets that all point inwards are turned, with a warning. */
#ifndef TL_IO_MESH_BODY_H
#define TL_IO_MESH_BODY_H

#include "num/triangles.h"

#define TL_MESH_UNITS "m|cm|mm|um|inch"

/* Metres of one of TL_MESH_UNITS. TL_EUSAGE says what is wanted, and why when name is empty. */
TlStatus tl_mesh_unit(const char *name, double *metres);

/* unit_m: metres of a unit of the file's coordinates, times the scale wanted. TL_EINPUT names the
 * file and what keeps it from being a body (num/triangles.h). speak: a line about it and warnings
 * in the log. mesh: to be released, also on failure. */
TlStatus tl_mesh_read_body(const char *path, double unit_m, bool speak, TlTriangles *mesh);

#endif
