/* VTK's XML files for ParaView: .vtp (points, triangles), .vti (regular grids), .pvd (a series with
 * its physical times). Arrays are appended raw behind the XML, little-endian, 64-bit sizes. Each
 * file is whole or absent. */
#ifndef TL_IO_VTK_H
#define TL_IO_VTK_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TlVtkType { TL_VTK_F32, TL_VTK_F64, TL_VTK_I32, TL_VTK_I64, TL_VTK_U8 } TlVtkType;

/* Borrowed values: tuples x components, components fastest. */
typedef struct TlVtkArray {
  const char *name;
  TlVtkType type;
  int components;
  const void *values;
} TlVtkArray;

typedef struct TlVtkPoly {
  int64_t point_count;
  const double *point;     /* 3 a point */
  int64_t triangle_count;  /* 0, and no lines: each point becomes a vertex cell */
  const int64_t *triangle; /* three points each */
  int64_t line_count;      /* in place of triangles: cells are lines */
  const int64_t *line;     /* two points each */
  int point_arrays;
  const TlVtkArray *point_array; /* point_count tuples each */
  int cell_arrays;
  const TlVtkArray *cell_array; /* one tuple a triangle (a line, a vertex) */
  double time_s;                /* also kept in the file, as field data */
} TlVtkPoly;
TlStatus tl_vtk_write_poly(const char *path, bool overwrite, const TlVtkPoly *poly);

typedef struct TlVtkImage {
  int64_t size[3]; /* points along x, y, z; x fastest */
  double origin[3], spacing[3];
  int point_arrays;
  const TlVtkArray *point_array;
} TlVtkImage;
TlStatus tl_vtk_write_image(const char *path, bool overwrite, const TlVtkImage *image);

/* A collection of files (names relative to the .pvd) at their times. */
TlStatus tl_vtk_write_pvd(const char *path, bool overwrite, const char *const *file,
                          const double *time_s, int64_t count);

#endif
