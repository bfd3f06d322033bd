/* Layers of points and lines for a GIS: GeoPackage (.gpkg) and GeoJSON (.geojson), coordinates in the
 * layer's CRS. The same layer gives the same bytes.
 */
#ifndef TL_IO_VECTOR_WRITE_H
#define TL_IO_VECTOR_WRITE_H

#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum TlFieldKind { TL_FIELD_REAL = 0, TL_FIELD_WHOLE, TL_FIELD_WORD } TlFieldKind;

typedef struct TlVectorField {
  const char *name;
  TlFieldKind kind;
} TlVectorField;

typedef struct TlVectorLayer {
  const char *name; /* of the layer in a GeoPackage */
  const char *crs;  /* WKT; "" or NULL: none */
  bool lines;       /* else points: one place a feature */
  int64_t features;
  const int64_t *first; /* [features + 1] of a line's places; unused with points */
  const TlVec3 *place;  /* east, north, height */
  int fields;
  const TlVectorField *field;
  const double *value;     /* [features][fields]; NaN: none; of TL_FIELD_WORD an index into word */
  const char *const *word; /* borrowed */
} TlVectorLayer;

/* TL_EUSAGE: another extension. A line of one place gets that place twice. */
TlStatus tl_vector_write(const TlVectorLayer *layer, const char *path, bool overwrite);

#endif
