/* GDAL, started in one place, in the process that decodes foreign files (base/sandbox.h).
 *
 * Only the drivers listed in gdal_library.c stay registered, also for files that another one
 * names (VRT): no web services, no databases on servers, no pictures. GDAL fetches nothing over a
 * network and prints nothing; its words are asked for.
 */
#ifndef TL_IO_GDAL_LIBRARY_H
#define TL_IO_GDAL_LIBRARY_H

#include "base/status.h"

/* Drivers for elevation rasters, and for points and polygons, ended by NULL, for GDALOpenEx. */
extern const char *const tl_gdal_rasters[], *const tl_gdal_vectors[];

/* Before GDAL's functions are called: loads the library, once. From one thread at a time. */
TlStatus tl_gdal_load(void);
/* Where GDAL is used for the first time in a worker; may be called again. Readers ask tl_gdal_load
 * whether it was there. */
void tl_gdal_start(void);
/* GDAL's last words; "no reason given" without any. Borrowed until its next call. */
const char *tl_gdal_words(void);

#endif
