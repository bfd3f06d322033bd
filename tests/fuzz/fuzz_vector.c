/* GIS files: the first byte says as what kind of file, and which kind of geometry is wanted. */
#include "fuzz/fuzz.h"

#include "io/vector.h"

static const char utm32[] =
    "PROJCS[\"u\",GEOGCS[\"w\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563]],"
    "PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433]],PROJECTION[\"Transverse_"
    "Mercator\"],"
    "PARAMETER[\"latitude_of_origin\",0],PARAMETER[\"central_meridian\",9],PARAMETER[\"scale_"
    "factor\","
    "0.9996],PARAMETER[\"false_easting\",500000],PARAMETER[\"false_northing\",0],UNIT[\"metre\",1]"
    "]";

TL_FUZZ(vector) {
  static const char *const names[] = {"a.geojson", "a.gpkg", "a.fgb"};
  TlVector vector;
  if (size < 1) return;
  const char *path = tl_fuzz_file(names[bytes[0] % 3], bytes + 1, size - 1);
  tl_fuzz_done(tl_vector_read(path, (TlVectorKind)((bytes[0] >> 2) % 4), utm32, &vector));
  tl_vector_free(&vector);
}
