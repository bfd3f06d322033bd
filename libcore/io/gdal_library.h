/* GDAL, started in one place, in the process that decodes foreign files (base/sandbox.h).
 *
 * Only the drivers listed in gdal_library.c stay registered, also for files that another one
 * names (VRT): no web services, no databases on servers, no pictures. GDAL fetches nothing over a
 * network and prints nothing; its words are asked for.
 */
#ifndef TL_IO_GDAL_LIBRARY_H
#define TL_IO_GDAL_LIBRARY_H

/* Drivers for elevation rasters, and for points and polygons, ended by NULL, for GDALOpenEx. */
extern const char *const tl_gdal_rasters[], *const tl_gdal_vectors[];

/* Where GDAL is used for the first time in a worker; may be called again. */
void tl_gdal_start(void);
/* GDAL's last words; "no reason given" without any. Borrowed until its next call. */
const char *tl_gdal_words(void);

#endif
