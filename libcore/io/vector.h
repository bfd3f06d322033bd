/* Points, lines and polygons of GIS files: GeoPackage, GeoJSON, shapefile, FlatGeobuf (io/gdal_library.h).
 *
 * A source is written as QGIS writes it: FILE, FILE|layername=NAME, FILE|subset=EXPRESSION (an SQL
 * condition on the fields), or both. Coordinates come in the CRS that is wanted, whatever that of
 * the file. Heights are read of points only, and never converted. Polygons are united, so that those that overlap count
 * once, or kept apart as areas. Files are decoded in a process of their own (base/sandbox.h).
 */
#ifndef TL_IO_VECTOR_H
#define TL_IO_VECTOR_H

#include "base/status.h"

#include <stdint.h>

typedef enum TlVectorKind {
  TL_VECTOR_POINTS = 0,
  TL_VECTOR_POLYGONS, /* united over all features */
  TL_VECTOR_LINES,
  TL_VECTOR_AREAS /* polygons, each feature with its own rings */
} TlVectorKind;

/* A point, a line, or a ring: counterclockwise about a polygon, clockwise about a hole; its first corner is
 * not repeated at its end. */
typedef struct TlVectorPart {
  int64_t feature; /* of a point, a line or a ring of an area; 0 for rings of united polygons */
  int64_t first, count;
} TlVectorPart;

typedef struct TlVector {
  int64_t features, fields, parts, points;
  int64_t *id;        /* [features] the feature's number in the file */
  TlVectorPart *part; /* [parts] */
  double *east_north; /* [points][2] */
  double *height;     /* [points]; NaN: the geometry has none */
  char **field;       /* [fields] names */
  char **value;       /* [features][fields] as text; NULL: none */
} TlVector;

void tl_vector_free(TlVector *vector);

/* All features of a layer (the only one, when none is named) that the subset leaves. crs: WKT of
 * the wanted CRS; "" when there is none, and then the file may have none either. TL_EINPUT, with
 * what to do: no such layer, other geometries, no features, invalid polygons, no CRS. *vector is to
 * be released in any case. */
TlStatus tl_vector_read(const char *source, TlVectorKind kind, const char *crs, TlVector *vector);

#endif
