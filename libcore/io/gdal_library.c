#include "io/gdal_library.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal.h>
#include <ogr_srs_api.h>
#include <stdbool.h>
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

void tl_gdal_start(void) {
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
