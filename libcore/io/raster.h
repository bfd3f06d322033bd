/* Elevation rasters, read and written through GDAL (io/gdal_library.h).
 *
 * Reads one band of GeoTIFF, Esri ASCII, VRT, GeoPackage, netCDF, XYZ, SRTM .hgt and the like into
 * heights in metres on a square grid of a projected CRS, or refuses with a remedy. GDAL's
 * geotransform refers to cell corners; samples here lie at cell centres: sample (i, j) has the CRS
 * coordinates (east_m + i*cell_m, north_m + j*cell_m), j counts to the NORTH (a file's first row,
 * its north edge, is j = ny-1). NaN where there is no data: the declared value, a mask, an alpha
 * band, NaN itself.
 *
 * Refused (TL_EINPUT): degrees (a geographic CRS; or no CRS, |x| and |y| <= 360 and cells under 0.1
 * unless options say metres; a geographic CRS over coordinates beyond 360 is refused as
 * contradictory unless options name the true CRS), units other than metres, a CRS whose metre is more
 * than a tenth off on the ground (Web Mercator; from a hundredth on it is warned of), rotated or non-square
 * cells, several bands, several rasters in one file, no data at all, heights that are surely
 * undeclared no-data, text that is not a number, files cut short (the row is named). GDAL never
 * prints: its words come back in the message, and it decodes a file in a process of its own
 * (base/sandbox.h). Rows are read one by one: memory is the heights and one row. Not for use from
 * several threads.
 */
#ifndef TL_IO_RASTER_H
#define TL_IO_RASTER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlRasterColour {
  unsigned char value, red, green, blue;
} TlRasterColour;

typedef struct TlRaster {
  int64_t nx, ny;
  double cell_m;
  double east_m, north_m; /* CRS coordinates of sample (0, 0), the south-west one */
  double *height_m;       /* [ny][nx], owned */
  char *crs;              /* WKT 2, owned; "" when the file has none */
  int64_t no_data;        /* samples without height */
  const char *name, *unit,
      *about; /* for writing a .tif: of its band; what it shows and what of it is not to be
                                      trusted, its image description; NULL: none */
  const TlRasterColour
      *colour; /* for writing a raster of classes, whole from 1 to 255; NULL: none */
  int colours;
} TlRaster;

typedef struct TlRasterOptions {
  bool crop; /* keep the samples whose centres lie in the closed box below, CRS coordinates */
  double xmin, ymin, xmax, ymax;
  bool metres; /* coordinates without CRS are metres, even if they look like degrees */
  const char
      *crs; /* the true CRS (EPSG:CODE, WKT, PROJ) in place of the file's; NULL: the file's */
} TlRasterOptions;

/* options may be NULL: the whole raster. Release by tl_raster_free, also after a failure. */
TlStatus tl_raster_read(TlRaster *raster, const char *path, const TlRasterOptions *options);
void tl_raster_free(TlRaster *raster);
/* Whether two CRS, as WKT, are the same one. Not for use from several threads. */
TlStatus tl_raster_same_crs(const char *one, const char *other, bool *same);

/* By extension: .asc (Esri ASCII, 17 digits, no CRS: the format has none) or .tif (GeoTIFF, 64-bit
 * float, Deflate, CRS kept, with what it is about). No data is written as -9999. A .tif of classes is of bytes with a table of
 * their colours, and 0 is no data. Whole or not there (base/file.h). */
TlStatus tl_raster_write(const TlRaster *raster, const char *path, bool overwrite);

/* A strict look at an Esri ASCII grid's text, beside GDAL's reading of it.
 *
 * GDAL reads a word that is not a number as 0, and puts a grid whose header mixes corner and centre
 * keys at the coordinate origin, both without a word; so the text is checked here first. */

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
