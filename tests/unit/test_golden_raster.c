/* Elevation rasters against GDAL's own Python: scale and offset, no data, which row is north, and
 * what counts as degrees. */
#include "io/raster.h"
#include "support/golden.h"

#include "base/file.h"

static char folder[256];

static void write_all(void) {
  char *arguments = tl_format("write %s", tl_test_folder());
  snprintf(folder, sizeof folder, "%s", tl_test_folder());
  golden("raster", arguments);
  tl_free(arguments);
}

static TlStatus read_one(TlRaster *raster, const char *name) {
  char *path = tl_path_join(folder, name);
  TlStatus status = tl_raster_read(raster, path, NULL);
  tl_free(path);
  return status;
}

/* Whole numbers in the file, metres by scale 0.25 and offset 1500; samples at cell centres. */
START_TEST(scale_and_offset_of_a_geotiff_make_metres) {
  TlRaster r;
  write_all();
  CK_OK(read_one(&r, "scaled.tif"));
  ck_assert(r.nx == 7 && r.ny == 5 && r.cell_m == 2 && r.no_data == 1);
  ck_assert(r.east_m == 600001 && r.north_m == 5200000 - 9);
  for (int64_t j = 0; j < 5; j++)
    for (int64_t i = 0; i < 7; i++) {
      double height = r.height_m[j * 7 + i], row = (double)(4 - j);
      if (j == 3 && i == 2)
        ck_assert(isnan(height));
      else
        CK_NEAR(height, 1500 + 0.25 * (100 * row + (double)i), 0);
    }
  ck_assert_ptr_nonnull(strstr(r.crs, "32632"));
  tl_raster_free(&r);
  CK_OK(read_one(&r, "south.tif"));
  ck_assert(r.east_m == 600001 && r.north_m == 5200001 && r.no_data == 0);
  for (int64_t k = 0; k < 35; k++)
    CK_NEAR(r.height_m[k], 100 * (double)(k / 7) + (double)(k % 7), 0);
  tl_raster_free(&r);
}
END_TEST

/* Both edges count, and the far one lies to the south of a raster whose first row is north. */
START_TEST(degrees_are_told_by_the_far_corner) {
  TlRaster r;
  write_all();
  CK_FAILS(read_one(&r, "tall.asc"), TL_EINPUT, "look like degrees");
  CK_OK(read_one(&r, "south_tall.tif"));
  CK_NEAR(r.north_m + 799 * r.cell_m + 0.045, 372, 1e-9);
  tl_raster_free(&r);
}
END_TEST

START_TEST(gdal_reads_what_talus_writes) {
  double height[12];
  static char crs[] = "EPSG:32632";
  TlRaster r = {.nx = 4,
                .ny = 3,
                .cell_m = 5,
                .east_m = 600000,
                .north_m = 5200000,
                .height_m = height,
                .crs = crs};
  for (int i = 0; i < 12; i++) height[i] = i == 6 ? (double)NAN : 10 * (i / 4) + i % 4;
  char *path = tl_path_join(tl_test_folder(), "written.tif");
  CK_OK(tl_raster_write(&r, path, true));
  char *arguments = tl_format("check %s", path);
  golden("raster", arguments);
  tl_free(arguments);
  tl_free(path);
}
END_TEST

TL_TEST_MAIN("golden raster", scale_and_offset_of_a_geotiff_make_metres,
             degrees_are_told_by_the_far_corner, gdal_reads_what_talus_writes)
