/* Elevation rasters: the first byte says as what kind of file. */
#include "fuzz/fuzz.h"

#include "io/raster.h"

TL_FUZZ(raster) {
  static const char *const names[] = {"a.asc", "a.tif", "N46E007.hgt", "a.dem", "a.img"},
                           *const more[] = {"a.vrt", "a.xyz", "a.grd", "a.bt", "a.nc", "a.gpkg"};
  TlRaster raster;
  TlRasterOptions options = {.metres = true};
  if (size < 1) return;
  const char *path =
      tl_fuzz_file(bytes[0] < 128 ? names[bytes[0] % 5] : more[bytes[0] % 6], bytes + 1, size - 1);
  tl_fuzz_done(tl_raster_read(&raster, path, &options));
  tl_raster_free(&raster);
}
