/* A strict look at an Esri ASCII grid's text, beside GDAL's reading of it.
 *
 * GDAL reads a word that is not a number as 0, and puts a grid whose header mixes corner and centre
 * keys at the coordinate origin, both without a word; so the text is checked here first. */
#ifndef TL_IO_RASTER_ASCII_H
#define TL_IO_RASTER_ASCII_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlAsciiHeader {
  int64_t columns, rows;
  double cell_x, cell_y;
  double corner_x, corner_y; /* lower left corner of the lower left cell */
  bool has_no_data;
} TlAsciiHeader;

/* Header keys in any order and case. TL_EINPUT names the key, or the row and column of the first
 * word that is no number, or how many values are missing or too many. Reads the file once. */
TlStatus tl_raster_check_ascii(const char *path, TlAsciiHeader *header);

#endif
