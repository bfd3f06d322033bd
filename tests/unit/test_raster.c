#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/raster.h"

#include <gdal.h>
#include <ogr_srs_api.h>
#include <stdio.h>
#include <unistd.h>

static const char *in_folder(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", tl_test_folder(), name);
  return path;
}

static const char *text_file(const char *name, const char *text) {
  const char *path = in_folder(name);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  return path;
}

static const char corner_grid[] = "ncols 3\nnrows 2\nxllcorner 1000\nyllcorner 2000\ncellsize 10\n"
                                  "NODATA_value -9999\n1 2 3\n4 -9999 6\n";

static TlStatus read_text(const char *text, TlRaster *raster) {
  return tl_raster_read(raster, text_file("grid.asc", text), NULL);
}

START_TEST(first_row_is_north_and_samples_are_cell_centres) {
  TlRaster r;
  CK_OK(read_text(corner_grid, &r));
  ck_assert(r.nx == 3 && r.ny == 2 && r.cell_m == 10);
  ck_assert(r.east_m == 1005 && r.north_m == 2005);
  ck_assert(r.height_m[0] == 4 && r.height_m[2] == 6 && r.height_m[3] == 1 && r.height_m[5] == 3);
  ck_assert(isnan(r.height_m[1]) && r.no_data == 1);
  ck_assert_str_eq(r.crs, "");
  tl_raster_free(&r);
}
END_TEST

/* xllcenter names the first sample's centre, half a cell from xllcorner; either key of either axis,
 * any order, any case. */
START_TEST(esri_header_keys_in_any_order_and_case) {
  static const char *const heads[] = {
      "NCOLS 3\nNROWS 2\nXLLCENTER 1005\nYLLCENTER 2005\nCELLSIZE 10\nnodata_VALUE -9999\n",
      "nrows 2\r\nncols 3\r\ncellsize 10\r\nYllCorner 2000\r\nXllCorner 1000\r\nNODATA_value "
      "-9999\r\n",
      "ncols 3\nnrows 2\nxllcenter 1005\nyllcorner 2000\ncellsize 10\nNODATA_value -9999\n",
      "ncols 3\nnrows 2\nxllcorner 1000\nyllcorner 2000\ndx 10\ndy 10\nNODATA_value -9999\n",
      "cellsize 10\nxllcorner 1000\nyllcorner 2000\nNODATA_value -9999\nncols 3\nnrows 2\n"};
  for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
    char text[512];
    TlRaster r;
    snprintf(text, sizeof text, "%s1 2 3\n4 -9999 6\n", heads[k]);
    TlStatus status = read_text(text, &r);
    ck_assert_msg(status == TL_OK, "header %zu: %s", k, tl_message());
    CK_NEAR(r.east_m, 1005, 0);
    CK_NEAR(r.north_m, 2005, 0);
    ck_assert(r.height_m[0] == 4 && isnan(r.height_m[1]) && r.height_m[5] == 3);
    tl_raster_free(&r);
  }
}
END_TEST

START_TEST(heights_keep_more_than_seven_digits) {
  TlRaster r;
  CK_OK(read_text("ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n"
                  "3456.123456789 2 3 4\n",
                  &r));
  CK_NEAR(r.height_m[2], 3456.123456789, 0);
  tl_raster_free(&r);
}
END_TEST

#define GRID(ncols, rest) "ncols " ncols "\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n" rest

START_TEST(damaged_esri_text_names_the_place) {
  TlRaster r;
  CK_FAILS(read_text(GRID("3", "1 2 3\n4 5\n"), &r), TL_EINPUT, "row 2 of 2");
  CK_FAILS(read_text(GRID("3", "1 2 3\n4 x5 6\n"), &r), TL_EINPUT, "row 2, column 2: 'x5'");
  CK_FAILS(read_text(GRID("3", "1 2 3\n4 5,5 6\n"), &r), TL_EINPUT, "'5,5'");
  CK_FAILS(read_text(GRID("3", "1 2 3\n4 5 6 7\n"), &r), TL_EINPUT, "more values");
  CK_FAILS(read_text(GRID("3", "1 2 3\n4 inf 6\n"), &r), TL_EINPUT, "row 2, column 2");
  CK_FAILS(read_text("ncols 2\nnrows 2\nxllcorner 0\ncellsize 1\n1 2\n3 4\n", &r), TL_EINPUT,
           "yllcorner");
  CK_FAILS(read_text("", &r), TL_EINPUT, "empty");
  CK_FAILS(read_text("once upon a time\n", &r), TL_EINPUT, "no elevation raster");
  CK_FAILS(tl_raster_read(&r, in_folder("absent.asc"), NULL), TL_EIO, "absent.asc");
}
END_TEST

START_TEST(no_data_is_never_taken_for_a_height) {
  TlRaster r;
  CK_FAILS(read_text(GRID("2", "1 2\n3 -9999\n"), &r), TL_EINPUT, "row 2, column 2: -9999");
  CK_FAILS(read_text(GRID("2", "1 -32768\n3 4\n"), &r), TL_EINPUT, "declare it");
  CK_FAILS(read_text(GRID("2", "NODATA_value 7\n7 7\n7 7\n"), &r), TL_EINPUT, "all 4 samples");
  CK_FAILS(read_text(GRID("1", "1\n2\n"), &r), TL_EINPUT, "at least 2 x 2");
}
END_TEST

START_TEST(what_looks_like_degrees_is_refused_unless_said_to_be_metres) {
  const char *text = "ncols 2\nnrows 2\nxllcorner 11\nyllcorner 47\ncellsize 0.01\n1 2 3 4\n";
  TlRaster r;
  CK_FAILS(read_text(text, &r), TL_EINPUT, "gdalwarp");
  TlRasterOptions options = {.metres = true};
  CK_OK(tl_raster_read(&r, text_file("lab.asc", text), &options));
  CK_NEAR(r.east_m, 11.005, 1e-14);
  tl_raster_free(&r);
  /* Degrees end at 360: of the columns' two edges the farther one counts, whichever it is. */
  CK_FAILS(
      read_text("ncols 2\nnrows 2\nxllcorner -359.99\nyllcorner 47\ncellsize 0.05\n1 2 3 4\n", &r),
      TL_EINPUT, "look like degrees");
  CK_OK(
      read_text("ncols 2\nnrows 2\nxllcorner 359.99\nyllcorner 47\ncellsize 0.05\n1 2 3 4\n", &r));
  tl_raster_free(&r);
}
END_TEST

START_TEST(cells_that_are_not_square_are_refused) {
  TlRaster r;
  CK_FAILS(read_text("ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ndx 5\ndy 6\n1 2 3 4\n", &r),
           TL_EINPUT, "not square");
}
END_TEST

/* A GeoTIFF by GDAL itself, 4 x 3, heights 10 row + column. */
static const char *geotiff(const char *name, const double g[6], int epsg, const char *unit,
                           int bands) {
  const char *path = in_folder(name);
  unlink(path);
  GDALAllRegister();
  GDALDatasetH set = GDALCreate(GDALGetDriverByName("GTiff"), path, 4, 3, bands, GDT_Float32, NULL);
  ck_assert_ptr_nonnull(set);
  if (g) GDALSetGeoTransform(set, (double *)(uintptr_t)g);
  if (epsg) {
    OGRSpatialReferenceH crs = OSRNewSpatialReference(NULL);
    OSRImportFromEPSG(crs, epsg);
    GDALSetSpatialRef(set, crs);
    OSRDestroySpatialReference(crs);
  }
  float z[12];
  for (int i = 0; i < 12; i++) z[i] = (float)(10 * (i / 4) + i % 4);
  GDALRasterBandH band = GDALGetRasterBand(set, 1);
  if (unit) GDALSetRasterUnitType(band, unit);
  ck_assert(GDALRasterIO(band, GF_Write, 0, 0, 4, 3, z, 4, 3, GDT_Float32, 0, 0) == CE_None);
  GDALClose(set);
  return path;
}

static const double north_up[6] = {500000, 5, 0, 5200000, 0, -5};

START_TEST(geotiff_keeps_crs_and_place) {
  TlRaster r;
  CK_OK(tl_raster_read(&r, geotiff("utm.tif", north_up, 32632, "metre", 1), NULL));
  ck_assert(r.nx == 4 && r.ny == 3 && r.cell_m == 5 && r.no_data == 0);
  ck_assert(r.east_m == 500002.5 && r.north_m == 5200000 - 12.5);
  ck_assert(r.height_m[0] == 20 && r.height_m[11] == 3);
  ck_assert_ptr_nonnull(strstr(r.crs, "32632"));
  tl_raster_free(&r);
}
END_TEST

START_TEST(south_up_geotiff_is_not_flipped) {
  const double g[6] = {500000, 5, 0, 5200000, 0, 5};
  TlRaster r;
  CK_OK(tl_raster_read(&r, geotiff("south.tif", g, 32632, NULL, 1), NULL));
  ck_assert(r.north_m == 5200002.5 && r.height_m[0] == 0 && r.height_m[11] == 23);
  tl_raster_free(&r);
}
END_TEST

START_TEST(geotiff_that_cannot_be_terrain_is_refused_with_what_to_do) {
  const double turned[6] = {0, 5, 1, 0, 1, -5}, degrees[6] = {11, 1e-3, 0, 47, 0, -1e-3};
  TlRaster r;
  CK_FAILS(tl_raster_read(&r, geotiff("a.tif", turned, 32632, NULL, 1), NULL), TL_EINPUT,
           "rotated");
  CK_FAILS(tl_raster_read(&r, geotiff("b.tif", degrees, 4326, NULL, 1), NULL), TL_EINPUT,
           "degrees");
  CK_FAILS(tl_raster_read(&r, geotiff("c.tif", north_up, 2263, NULL, 1), NULL), TL_EINPUT, "foot");
  CK_FAILS(tl_raster_read(&r, geotiff("d.tif", north_up, 32632, "ft", 1), NULL), TL_EINPUT, "'ft'");
  CK_FAILS(tl_raster_read(&r, geotiff("e.tif", NULL, 32632, NULL, 1), NULL), TL_EINPUT,
           "no georeference");
  CK_FAILS(tl_raster_read(&r, geotiff("f.tif", north_up, 32632, NULL, 3), NULL), TL_EINPUT,
           "3 bands");
}
END_TEST

/* As the wild has it: WGS 84 degrees declared over metric coordinates. */
START_TEST(a_crs_that_cannot_be_is_refused_until_the_true_one_is_named) {
  const double g[6] = {-10805, 10, 0, 195595, 0, -10};
  const char *path = geotiff("liar.tif", g, 4326, NULL, 1);
  TlRasterOptions options = {.metres = true};
  TlRaster r;
  CK_FAILS(tl_raster_read(&r, path, &options), TL_EINPUT, "the CRS is wrong");
  options.crs = "EPSG:31254";
  CK_OK(tl_raster_read(&r, path, &options));
  ck_assert(r.east_m == -10800 && strstr(r.crs, "31254"));
  tl_raster_free(&r);
  options.crs = "EPSG:nonsense";
  CK_FAILS(tl_raster_read(&r, path, &options), TL_EUSAGE, "not known");
}
END_TEST

START_TEST(crop_keeps_the_samples_with_centres_inside) {
  TlRasterOptions o = {
      .crop = true, .xmin = 500007, .ymin = 5199987.5, .xmax = 500013, .ymax = 5199996};
  const char *path = geotiff("crop.tif", north_up, 32632, NULL, 1);
  TlRaster r;
  CK_OK(tl_raster_read(&r, path, &o)); /* columns 1, 2; rows 1, 2 (y 5199992.5, 5199987.5) */
  ck_assert(r.nx == 2 && r.ny == 2 && r.east_m == 500007.5 && r.north_m == 5199987.5);
  ck_assert(r.height_m[0] == 21 && r.height_m[3] == 12);
  tl_raster_free(&r);
  o.xmin = o.xmax = 0;
  CK_FAILS(tl_raster_read(&r, path, &o), TL_EINPUT, "inside the crop");
}
END_TEST

static TlRaster example(void) {
  enum { NX = 70, NY = 50 };
  TlRaster r = {.nx = NX, .ny = NY, .cell_m = 4.997688906601, .east_m = 176975.9, .north_m = 3e5};
  CK_OK(TL_NEW(r.height_m, NX * NY));
  for (int i = 0; i < NX * NY; i++) r.height_m[i] = i % 37 == 0 ? NAN : 1000 + sin(0.37 * i);
  r.crs = tl_strdup("");
  return r;
}

/* 17 digits or 64 bits: heights come back bit for bit; the place to rounding of 1e5 m. */
START_TEST(written_rasters_come_back) {
  static const char *const names[] = {"back.asc", "back.tif"};
  TlRaster r = example(), back;
  for (int k = 0; k < 2; k++) {
    const char *path = in_folder(names[k]);
    CK_OK(tl_raster_write(&r, path, true));
    CK_OK(tl_raster_read(&back, path, NULL));
    ck_assert(back.nx == r.nx && back.ny == r.ny && back.cell_m == r.cell_m);
    CK_NEAR(back.east_m, r.east_m, 1e-9);
    CK_NEAR(back.north_m, r.north_m, 1e-9);
    for (int64_t i = 0; i < r.nx * r.ny; i++)
      ck_assert(back.height_m[i] == r.height_m[i] ||
                (isnan(back.height_m[i]) && isnan(r.height_m[i])));
    ck_assert(back.no_data == (70 * 50 + 36) / 37);
    tl_raster_free(&back);
    CK_FAILS(tl_raster_write(&r, path, false), TL_EUSAGE, "back");
  }
  CK_FAILS(tl_raster_write(&r, in_folder("back.jpg"), true), TL_EUSAGE, ".asc or .tif");
  tl_raster_free(&r);
}
END_TEST

START_TEST(truncated_geotiff_fails_and_names_a_row) {
  TlRaster r = example(), back;
  const char *path = in_folder("short.tif");
  double noise = 0;
  for (int64_t i = 0; i < r.nx * r.ny; i++)
    r.height_m[i] = 1000 + (noise = fmod(noise * 7 + 3.7, 1));
  CK_OK(tl_raster_write(&r, path, true));
  int64_t size;
  CK_OK(tl_file_size(path, &size));
  for (int tenth = 1; tenth < 10; tenth++) {
    CK_OK(tl_raster_write(&r, path, true));
    ck_assert(truncate(path, size * tenth / 10) == 0);
    TlStatus status = tl_raster_read(&back, path, NULL);
    ck_assert_msg(status == TL_EINPUT && strstr(tl_message(), "short.tif"), "%d0%%: %d %s", tenth,
                  (int)status, tl_message());
  }
  ck_assert_msg(strstr(tl_message(), "row ") != NULL, "%s", tl_message());
  tl_raster_free(&r);
}
END_TEST

TL_TEST_MAIN("raster", first_row_is_north_and_samples_are_cell_centres,
             esri_header_keys_in_any_order_and_case, heights_keep_more_than_seven_digits,
             damaged_esri_text_names_the_place, no_data_is_never_taken_for_a_height,
             what_looks_like_degrees_is_refused_unless_said_to_be_metres,
             cells_that_are_not_square_are_refused, geotiff_keeps_crs_and_place,
             south_up_geotiff_is_not_flipped,
             geotiff_that_cannot_be_terrain_is_refused_with_what_to_do,
             a_crs_that_cannot_be_is_refused_until_the_true_one_is_named,
             crop_keeps_the_samples_with_centres_inside, written_rasters_come_back,
             truncated_geotiff_fails_and_names_a_row)
