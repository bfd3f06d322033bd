#include "io/gdal_functions.h"
#include "io/gdal_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const char *const tl_gdal_rasters[] = {
    "AAIGrid", "GTiff", "SRTMHGT", "GRASSASCIIGrid", "EHdr",   "ENVI", "HFA",  "USGSDEM",
    "DTED",    "SAGA",  "VRT",     "GPKG",           "netCDF", "XYZ",  "GSAG", "GSBG",
    "GS7BG",   "BT",    NULL};
const char *const tl_gdal_vectors[] = {"GeoJSON", "GPKG", "ESRI Shapefile", "FlatGeobuf", NULL};
/* What those need: tiles of a GeoPackage, a raster in memory. */
static const char *const helpers[] = {"MEM", "PNG", "JPEG", "WEBP", NULL};

static bool listed(const char *const *names, const char *name) {
  for (; *names; names++)
    if (strcmp(*names, name) == 0) return true;
  return false;
}

#ifndef TL_GDAL_LIBRARY /* the Makefile asks the linker */
#define TL_GDAL_LIBRARY "libgdal.so"
#endif

TlGdal tl_gdal;
static bool loaded;

/* Each name of the table and its place in it. */
static const struct Entry {
  const char *name;
  size_t offset;
} entries[] = {
#define F(name) {#name, offsetof(TlGdal, name##_)},
    TL_GDAL_FUNCTIONS(F)
#undef F
};

TlStatus tl_gdal_load(void) {
  if (loaded) return TL_OK;
  void *library = dlopen(TL_GDAL_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  for (size_t i = 0; library && i < sizeof entries / sizeof *entries; i++) {
    void *function = dlsym(library, entries[i].name);
    if (!function) library = NULL;
    memcpy((char *)&tl_gdal + entries[i].offset, &function, sizeof function);
  }
  if (!library)
    return tl_fail(TL_ELIB, "GDAL cannot be loaded, which reads and writes rasters: %s; install it",
                   dlerror());
  loaded = true;
  return TL_OK;
}

void tl_gdal_start(void) {
  if (tl_gdal_load() != TL_OK) return; /* who reads asks again */
  GDALAllRegister();
  for (int i = GDALGetDriverCount() - 1; i >= 0; i--) {
    GDALDriverH driver = GDALGetDriver(i);
    const char *name = GDALGetDriverShortName(driver);
    if (!listed(tl_gdal_rasters, name) && !listed(tl_gdal_vectors, name) && !listed(helpers, name))
      GDALDeregisterDriver(driver);
  }
  CPLSetConfigOption("CPL_VSIL_CURL_ALLOWED_FILENAME", "none"); /* no file behind a URL */
  OSRSetPROJEnableNetwork(0);
  CPLSetErrorHandler(CPLQuietErrorHandler);
}

const char *tl_gdal_words(void) {
  const char *text = CPLGetLastErrorMsg();
  return text && text[0] ? text : "no reason given";
}
