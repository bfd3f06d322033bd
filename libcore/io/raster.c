#include "io/raster.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/provenance.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "io/gdal_functions.h"
#include "io/gdal_library.h"

#include <cpl_string.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void tl_raster_free(TlRaster *raster) {
  tl_free(raster->height_m);
  tl_free(raster->crs);
  *raster = (TlRaster){0};
}

/* What is known of the file before its heights are read. */
typedef struct Source {
  const char *path;
  GDALDatasetH set;
  GDALRasterBandH band, mask;
  int columns, rows;
  double transform[6]; /* GDAL's: from columns and rows to the CRS */
  double west, edge_y; /* CRS coordinates of the corner of the first sample of the first row */
  double cell;
  bool south_up; /* the first row is the southern one */
  bool ascii;
  double scale, offset;
  double
      metre_m; /* of the CRS, on the ground at the raster's middle, where it is least right; 0: not known */
} Source;

static TlStatus open_source(Source *s) {
  int64_t bytes;
  TL_TRY(tl_file_size(s->path, &bytes));
  if (bytes == 0) return tl_fail(TL_EINPUT, "%s: the file is empty", s->path);
  const char *const options[] = {"DATATYPE=Float64", NULL}; /* AAIGrid alone: else 7 digits */
  CPLErrorReset();
  s->set = GDALOpenEx(s->path, GDAL_OF_RASTER | GDAL_OF_READONLY, tl_gdal_rasters, options, NULL);
  if (!s->set)
    return tl_fail(
        TL_EINPUT,
        "%s: no elevation raster that can be read (GeoTIFF, Esri ASCII, VRT, GeoPackage, "
        "netCDF, XYZ, SRTM .hgt, ...): %s; other formats that GDAL knows: gdal_translate "
        "%s OUT.tif",
        s->path, tl_gdal_words(), s->path);
  s->columns = GDALGetRasterXSize(s->set);
  s->rows = GDALGetRasterYSize(s->set);
  s->ascii = strcmp(GDALGetDriverShortName(GDALGetDatasetDriver(s->set)), "AAIGrid") == 0;
  return TL_OK;
}

/* A netCDF file of several variables, a GeoPackage of several rasters. */
static TlStatus several_rasters(const Source *s) {
  char **list = GDALGetMetadata(s->set, "SUBDATASETS");
  TlGrowingText names = {0};
  TlStatus status = TL_OK;
  for (int i = 0; status == TL_OK && list && list[i]; i++) {
    const char *name = strchr(list[i], '=');
    if (name && strstr(list[i], "_NAME=")) status = tl_text_add(&names, ", ", name + 1);
  }
  if (status == TL_OK && names.text)
    status =
        tl_fail(TL_EINPUT,
                "%s: holds several rasters; take out the one with heights, e.g. gdal_translate "
                "'NAME' OUT.tif, NAME one of: %s",
                s->path, names.text);
  else if (status == TL_OK)
    status = tl_fail(TL_EINPUT, "%s: holds no raster band", s->path);
  tl_free(names.text);
  return status;
}

/* metres: of one unit; NaN: not known. A CRS with heights of its own goes along with a raster, so it is taken off. */
static TlStatus refuse_heights(const Source *s, const char *unit, double metres) {
  OGRSpatialReferenceH crs = GDALGetSpatialRef(s->set);
  bool flat = !crs || !OSRIsCompound(crs);
  char factor[32] = "METRES_OF_ONE";
  if (!isnan(metres)) snprintf(factor, sizeof factor, "%.9g", metres);
  return tl_fail(TL_EINPUT,
                 "%s: heights are in '%s', not metres; convert them first: %s%s%s"
                 "gdal_calc.py -A %s --calc='A*%s' --outfile=OUT.tif",
                 s->path, unit, flat ? "" : "gdal_translate -a_srs EPSG:CODE ", flat ? "" : s->path,
                 flat ? "" : " FLAT.tif (CODE that of the CRS without heights), then ",
                 flat ? s->path : "FLAT.tif", factor);
}

static TlStatus check_bands(Source *s) {
  int count = GDALGetRasterCount(s->set);
  if (count < 1) return several_rasters(s);
  s->band = GDALGetRasterBand(s->set, 1);
  bool alpha =
      count == 2 && GDALGetRasterColorInterpretation(GDALGetRasterBand(s->set, 2)) == GCI_AlphaBand;
  if (count > 1 && !alpha)
    return tl_fail(TL_EINPUT,
                   "%s: has %d bands: not an elevation raster; pick the one with heights "
                   "(gdal_translate -b N)",
                   s->path, count);
  if (GDALGetRasterColorInterpretation(s->band) == GCI_PaletteIndex ||
      GDALDataTypeIsComplex(GDALGetRasterDataType(s->band)))
    return tl_fail(TL_EINPUT, "%s: holds colours or complex numbers, not heights", s->path);
  int has_scale = 0, has_offset = 0;
  s->scale = GDALGetRasterScale(s->band, &has_scale);
  s->offset = GDALGetRasterOffset(s->band, &has_offset);
  if (!has_scale) s->scale = 1;
  if (!has_offset) s->offset = 0;
  s->mask = GDALGetMaskBand(s->band);
  const char *unit = GDALGetRasterUnitType(s->band);
  if (unit && unit[0] && strcasecmp(unit, "m") != 0 && strncasecmp(unit, "metre", 5) != 0 &&
      strncasecmp(unit, "meter", 5) != 0) {
    bool feet = strcasecmp(unit, "ft") == 0 || strncasecmp(unit, "foot", 4) == 0 ||
                strncasecmp(unit, "feet", 4) == 0;
    return refuse_heights(s, unit, feet ? 0.3048 : NAN);
  }
  return TL_OK;
}

static TlStatus read_transform(Source *s) {
  double *g = s->transform;
  if (GDALGetGeoTransform(s->set, g) != CE_None)
    return tl_fail(TL_EINPUT,
                   "%s: has no georeference (origin and cell size); give it one "
                   "(gdal_translate -a_ullr XMIN YMAX XMAX YMIN)",
                   s->path);
  if (s->ascii) {
    TlAsciiHeader h;
    TL_TRY(tl_raster_check_ascii(s->path, &h));
    if (h.columns != s->columns || h.rows != s->rows)
      return tl_fail(TL_EINPUT, "%s: header and size disagree", s->path);
    g[0] = h.corner_x;
    g[1] = h.cell_x;
    g[3] = h.corner_y + (double)h.rows * h.cell_y;
    g[5] = -h.cell_y;
  }
  for (int i = 0; i < 6; i++)
    if (!isfinite(g[i])) return tl_fail(TL_EINPUT, "%s: the georeference is not finite", s->path);
  s->cell = g[1];
  s->west = g[0];
  s->edge_y = g[3];
  s->south_up = g[5] > 0;
  return TL_OK;
}

/* Square cells along the axes; after the CRS, for which the raster may have to be warped anyway.
 * What gdalwarp has no data for it fills with heights of 0, unless it is told otherwise. */
#define NO_ZEROS "-r bilinear -dstnodata -9999"

static TlStatus check_cells(const Source *s) {
  const double *g = s->transform;
  if (g[2] != 0 || g[4] != 0)
    return tl_fail(TL_EINPUT,
                   "%s: the raster is rotated or sheared (geotransform terms %g, %g); "
                   "straighten it: gdalwarp " NO_ZEROS " %s OUT.tif",
                   s->path, g[2], g[4], s->path);
  if (!(g[1] > 0) || g[5] == 0)
    return tl_fail(TL_EINPUT, "%s: cell size %g x %g makes no raster", s->path, g[1], g[5]);
  /* 1e-6 of a cell adds up to 1% of a cell over 10,000 rows. */
  if (fabs(fabs(g[5]) - g[1]) > 1e-6 * g[1])
    return tl_fail(TL_EINPUT,
                   "%s: cells are not square (%.12g x %.12g); resample the raster: gdalwarp "
                   "-tr %.6g %.6g " NO_ZEROS " %s OUT.tif",
                   s->path, g[1], fabs(g[5]), g[1], g[1], s->path);
  return TL_OK;
}

typedef struct Degrees {
  double lon, lat;
} Degrees;

/* Points of this CRS in degrees, in place. */
static bool to_degrees(OGRSpatialReferenceH crs, Degrees *point, int count) {
  OGRSpatialReferenceH from = OSRClone(crs), degrees = OSRNewSpatialReference(NULL);
  OGRCoordinateTransformationH to = NULL;
  bool done = OSRSetFromUserInput(degrees, "EPSG:4326") == OGRERR_NONE;
  OSRSetAxisMappingStrategy(from, OAMS_TRADITIONAL_GIS_ORDER);
  OSRSetAxisMappingStrategy(degrees, OAMS_TRADITIONAL_GIS_ORDER);
  if (done) to = OCTNewCoordinateTransformation(from, degrees);
  done = to != NULL;
  for (int i = 0; done && i < count; i++) {
    OGRGeometryH g = OGR_G_CreateGeometry(wkbPoint);
    OGR_G_AddPoint(g, point[i].lon, point[i].lat, 0);
    done = OGR_G_Transform(g, to) == OGRERR_NONE;
    if (done) point[i] = (Degrees){OGR_G_GetX(g, 0), OGR_G_GetY(g, 0)};
    OGR_G_DestroyGeometry(g);
  }
  if (to) OCTDestroyCoordinateTransformation(to);
  OSRDestroySpatialReference(degrees);
  OSRDestroySpatialReference(from);
  return done;
}

/* Longitude and latitude of the raster's middle; crs: NULL where coordinates are degrees without one. */
static bool middle_degrees(const Source *s, OGRSpatialReferenceH crs, double *lon, double *lat) {
  const double *g = s->transform;
  double u = 0.5 * s->columns, v = 0.5 * s->rows;
  Degrees at = {g[0] + u * g[1] + v * g[2], g[3] + u * g[4] + v * g[5]};
  if (crs && !OSRIsGeographic(crs) && !to_degrees(crs, &at, 1)) return false;
  *lon = at.lon;
  *lat = at.lat;
  return true;
}

/* Metres on the ground (of the ellipsoid WGS 84) between two near points. */
static double apart_m(Degrees a, Degrees b) {
  static const double EQUATOR_M = 6378137, SQUARED_ECCENTRICITY = 6.69437999014e-3;
  const double radian = M_PI / 180;
  double lat = 0.5 * (a.lat + b.lat) * radian, w2 = 1 - SQUARED_ECCENTRICITY * sin(lat) * sin(lat);
  double north =
      EQUATOR_M * (1 - SQUARED_ECCENTRICITY) / (w2 * sqrt(w2)) * (b.lat - a.lat) * radian;
  double east = EQUATOR_M / sqrt(w2) * cos(lat) * remainder(b.lon - a.lon, 360) * radian;
  return hypot(north, east);
}

/* Metres on the ground in one of the CRS at the raster's middle, to the east or to the north, whichever
 * is farther from one. */
static bool find_metre(const Source *s, OGRSpatialReferenceH crs, double *metre) {
  static const double BASE_M = 1000;
  const double *g = s->transform;
  double x = g[0] + 0.5 * s->columns * g[1], y = g[3] + 0.5 * s->rows * g[5], h = 0.5 * BASE_M;
  Degrees p[4] = {{x - h, y}, {x + h, y}, {x, y - h}, {x, y + h}};
  if (!to_degrees(crs, p, 4)) return false;
  double east = apart_m(p[0], p[1]) / BASE_M, north = apart_m(p[2], p[3]) / BASE_M;
  *metre = fabs(east - 1) > fabs(north - 1) ? east : north;
  return true;
}

/* The gdalwarp line that makes metres of it, in the UTM zone of its middle; metres: of one unit. */
static TlStatus refuse_unit(const Source *s, OGRSpatialReferenceH crs, const char *why,
                            double metres, const char *heights) {
  double lon, lat, cell = metres * fabs(s->transform[5]);
  char code[16] = "CODE", zone[64] = "the national grid or a UTM zone";
  if (middle_degrees(s, crs, &lon, &lat) && fabs(lat) < 84 && fabs(lon) <= 360) {
    int number = (int)floor(fmod(lon + 540, 360) / 6) + 1;
    snprintf(code, sizeof code, "%d", (lat < 0 ? 32700 : 32600) + number);
    snprintf(zone, sizeof zone, "UTM zone %d%c; the national grid is as good", number,
             lat < 0 ? 'S' : 'N');
  }
  return tl_fail(TL_EINPUT,
                 "%s: coordinates %s; reproject to metres first: gdalwarp %s-t_srs EPSG:%s "
                 "-tr %.3g %.3g " NO_ZEROS " %s OUT.tif (%s%s)",
                 s->path, why, crs ? "" : "-s_srs EPSG:4326 ", code, cell, cell, s->path, zone,
                 heights);
}

#define METRES_A_DEGREE 111200 /* of latitude */

/* The largest coordinate of the raster's corners, by size. */
static double farthest(const Source *s) {
  double east = s->west + s->columns * s->transform[1], far = s->edge_y + s->rows * s->transform[5];
  return fmax(fmax(fabs(s->west), fabs(east)), fmax(fabs(s->edge_y), fabs(far)));
}

/* Maps for browsers (Web Mercator) stretch the ground, by 1.4 in the Alps: slopes come out flatter and
 * runouts longer. National grids and UTM zones are within 0.4% where they are meant for. Below a tenth
 * tl_raster_read warns. */
static TlStatus check_scale(Source *s, OGRSpatialReferenceH crs) {
  static const double REFUSE = 0.1;
  char why[160];
  if (!find_metre(s, crs, &s->metre_m) || fabs(s->metre_m - 1) <= REFUSE) return TL_OK;
  snprintf(why, sizeof why,
           "are in a CRS (%.60s) whose metre is %.3g m on the ground at the raster's middle",
           OSRGetName(crs), s->metre_m);
  return refuse_unit(s, crs, why, s->metre_m, "; or the coordinates are not of this CRS");
}

static TlStatus check_crs(Source *s, OGRSpatialReferenceH crs) {
  double most = farthest(s);
  if (OSRIsGeographic(crs) && most > 360)
    return tl_fail(
        TL_EINPUT,
        "%s: its CRS (%s) counts degrees, but coordinates reach %.10g: the CRS is wrong; "
        "name the true one (--crs=EPSG:CODE)",
        s->path, OSRGetName(crs), most);
  if (OSRIsGeographic(crs))
    return refuse_unit(s, crs, "are degrees (a geographic CRS)", METRES_A_DEGREE, "");
  char *unit = NULL;
  double factor = OSRGetLinearUnits(crs, &unit);
  if (fabs(factor - 1) > 1e-9) {
    char why[120], heights[160];
    snprintf(why, sizeof why, "are in '%.60s' (%.9g m), not metres", unit ? unit : "?", factor);
    snprintf(heights, sizeof heights,
             "; if heights are in it, too, then gdal_calc.py -A OUT.tif --calc='A*%.9g' "
             "--outfile=METRES.tif",
             factor);
    return refuse_unit(s, crs, why, factor, heights);
  }
  factor = OSRIsCompound(crs) ? OSRGetTargetLinearUnits(crs, "VERT_CS", &unit) : 1;
  if (fabs(factor - 1) > 1e-9) return refuse_heights(s, unit ? unit : "?", factor);
  return check_scale(s, crs);
}

static TlStatus export_crs(const Source *s, OGRSpatialReferenceH crs, char **wkt) {
  const char *const options[] = {"FORMAT=WKT2_2019", "MULTILINE=NO", NULL};
  char *text = NULL;
  if (OSRExportToWktEx(crs, &text, options) != OGRERR_NONE)
    return tl_fail(TL_ELIB, "%s: GDAL cannot write down the CRS: %s", s->path, tl_gdal_words());
  *wkt = tl_strdup(text);
  CPLFree(text);
  return *wkt ? TL_OK : TL_ENOMEM;
}

static TlStatus take_file_crs(Source *s, bool metres, char **wkt) {
  OGRSpatialReferenceH crs = GDALGetSpatialRef(s->set);
  if (crs) {
    TL_TRY(check_crs(s, crs));
    return export_crs(s, crs, wkt);
  }
  if (!metres && farthest(s) <= 360 && s->cell < 0.1)
    return tl_context(refuse_unit(s, NULL,
                                  "look like degrees (no CRS, all within 360, cells under 0.1)",
                                  METRES_A_DEGREE, ""),
                      "if they are metres, say --metres");
  *wkt = tl_strdup("");
  return *wkt ? TL_OK : TL_ENOMEM;
}

static TlStatus take_crs(Source *s, const TlRasterOptions *options, char **wkt) {
  if (!options->crs || !options->crs[0]) return take_file_crs(s, options->metres, wkt);
  OGRSpatialReferenceH crs = OSRNewSpatialReference(NULL);
  CPLErrorReset();
  TlStatus status = OSRSetFromUserInput(crs, options->crs) == OGRERR_NONE
                        ? check_crs(s, crs)
                        : tl_fail(TL_EUSAGE, "CRS '%s' is not known: %s (EPSG:CODE, WKT or PROJ)",
                                  options->crs, tl_gdal_words());
  if (status == TL_OK) status = export_crs(s, crs, wkt);
  OSRDestroySpatialReference(crs);
  return status;
}

typedef struct Window {
  int column, row, columns, rows; /* in the file's own order */
} Window;

/* First index with centre >= low and last with centre <= high, centres at origin + (i + 0.5) cell.
 * A ten-thousandth of a cell of slack lets a crop at the printed centres keep them. */
static void index_range(double origin, double cell, int n, double low, double high, int *first,
                        int *count) {
  double a = ceil((low - origin) / cell - 0.5 - 1e-4);
  double b = floor((high - origin) / cell - 0.5 + 1e-4);
  if (a < 0) a = 0;
  if (b > n - 1) b = n - 1;
  *first = b >= a ? (int)a : 0;
  *count = b >= a ? (int)(b - a) + 1 : 0;
}

static TlStatus find_window(const Source *s, const TlRasterOptions *o, Window *w) {
  *w = (Window){0, 0, s->columns, s->rows};
  if (o->crop) {
    index_range(s->west, s->cell, s->columns, o->xmin, o->xmax, &w->column, &w->columns);
    if (s->south_up)
      index_range(s->edge_y, s->cell, s->rows, o->ymin, o->ymax, &w->row, &w->rows);
    else
      index_range(-s->edge_y, s->cell, s->rows, -o->ymax, -o->ymin, &w->row, &w->rows);
  }
  if (w->columns >= 2 && w->rows >= 2) return TL_OK;
  double far = s->edge_y + (s->south_up ? 1 : -1) * s->rows * s->cell;
  return tl_fail(TL_EINPUT,
                 "%s: %d x %d samples%s: a surface needs at least 2 x 2; the raster covers x "
                 "%.10g to %.10g, y %.10g to %.10g",
                 s->path, w->columns, w->rows, o->crop ? " inside the crop" : "", s->west,
                 s->west + s->columns * s->cell, fmin(s->edge_y, far), fmax(s->edge_y, far));
}

/* Values that only ever mean "no data", in a file that declares none. The deepest sea floor is at
 * -10,935 m, so the round numbers alone are suspected above that. */
static bool surely_void(double height) {
  return height == -9999 || height == -32768 || height == -32767 || height < -12000 || height > 1e5;
}

static TlStatus take_row(const Source *s, const Window *w, int row, double *heights,
                         const unsigned char *mask, int64_t *no_data) {
  for (int i = 0; i < w->columns; i++) {
    if (mask[i] == 0 || isnan(heights[i])) {
      heights[i] = NAN;
      (*no_data)++;
      continue;
    }
    double raw = heights[i];
    heights[i] = s->offset + s->scale * raw;
    if (surely_void(raw) || !isfinite(raw) || fabs(heights[i]) > 1e5)
      return tl_fail(TL_EINPUT,
                     "%s: row %d, column %d: %g is no height in metres; if it stands for no data, "
                     "declare it (gdal_translate -a_nodata %g, or NODATA_value in the header)",
                     s->path, row + 1, w->column + i + 1, raw, raw);
  }
  return TL_OK;
}

static TlStatus read_row(const Source *s, const Window *w, int row, double *heights,
                         unsigned char *mask, int64_t *no_data) {
  CPLErrorReset();
  if (GDALRasterIO(s->band, GF_Read, w->column, row, w->columns, 1, heights, w->columns, 1,
                   GDT_Float64, 0, 0) == CE_None &&
      GDALRasterIO(s->mask, GF_Read, w->column, row, w->columns, 1, mask, w->columns, 1, GDT_Byte,
                   0, 0) == CE_None)
    return take_row(s, w, row, heights, mask, no_data);
  return tl_fail(TL_EINPUT, "%s: row %d of %d cannot be read; the file is cut short or damaged: %s",
                 s->path, row + 1, s->rows, tl_gdal_words());
}

/* ---- reading, in the sandbox: all that GDAL does with a foreign file ---- */

typedef struct Job {
  TlRasterOptions options; /* crs: see crs */
  char *crs;               /* wanted, owned; NULL: the file's */
  bool south_up;           /* the file's first row is the southern one */
  TlRaster raster;
  /* of the worker */
  Source source;
  Window window;
} Job;

static TlStatus ask(TlSandbox *s, void *of) {
  Job *j = of;
  TlRasterOptions *o = &j->options;
  uint8_t flags[2] = {o->crop, o->metres};
  double box[4] = {o->xmin, o->ymin, o->xmax, o->ymax};
  TL_TRY(tl_sandbox_pass(s, flags, sizeof flags));
  TL_TRY(tl_sandbox_pass(s, box, sizeof box));
  TL_TRY(tl_sandbox_pass_text(s, &j->crs));
  *o = (TlRasterOptions){.crop = flags[0],
                         .metres = flags[1],
                         .xmin = box[0],
                         .ymin = box[1],
                         .xmax = box[2],
                         .ymax = box[3],
                         .crs = j->crs};
  return TL_OK;
}

static TlStatus read_head(const char *path, void *of) {
  Job *j = of;
  Source *s = &j->source;
  Window *w = &j->window;
  TlRaster *raster = &j->raster;
  s->path = path;
  TL_TRY(tl_gdal_load());
  TL_TRY(open_source(s));
  TL_TRY(check_bands(s));
  TL_TRY(read_transform(s));
  TL_TRY(take_crs(s, &j->options, &raster->crs));
  TL_TRY(check_cells(s));
  TL_TRY(find_window(s, &j->options, w));
  j->south_up = s->south_up;
  raster->nx = w->columns;
  raster->ny = w->rows;
  raster->cell_m = s->cell;
  raster->east_m = s->west + (w->column + 0.5) * s->cell;
  raster->north_m = s->south_up ? s->edge_y + (w->row + 0.5) * s->cell
                                : s->edge_y - (w->row + w->rows - 0.5) * s->cell;
  return TL_OK;
}

static TlStatus tell_head(TlSandbox *s, void *of) {
  Job *j = of;
  TlRaster *r = &j->raster;
  uint8_t south_up = j->south_up;
  TL_TRY(tl_sandbox_pass(s, &south_up, sizeof south_up));
  TL_TRY(tl_sandbox_pass(s, &j->source.metre_m, sizeof j->source.metre_m));
  j->south_up = south_up != 0;
  TL_TRY(tl_sandbox_pass(s, &r->nx, sizeof r->nx));
  TL_TRY(tl_sandbox_pass(s, &r->ny, sizeof r->ny));
  TL_TRY(tl_sandbox_pass(s, &r->cell_m, sizeof r->cell_m));
  TL_TRY(tl_sandbox_pass(s, &r->east_m, sizeof r->east_m));
  TL_TRY(tl_sandbox_pass(s, &r->north_m, sizeof r->north_m));
  return tl_sandbox_pass_text(s, &r->crs);
}

/* Requests: rows of the window, in the file's order. Each comes back with the number of its samples
 * without height; before it, whether it could be read. */
typedef struct Rows {
  int32_t first, count;
} Rows;

static TlStatus serve_rows(TlSandbox *sandbox, void *of) {
  Job *j = of;
  const Window *w = &j->window;
  double *heights = NULL;
  unsigned char *mask = NULL;
  TlStatus status = TL_NEW(heights, (size_t)w->columns);
  if (status == TL_OK) status = TL_NEW(mask, (size_t)w->columns);
  for (Rows r; status == TL_OK && tl_sandbox_next(sandbox, &r, sizeof r);)
    for (int32_t i = 0; status == TL_OK && i < r.count; i++) {
      int64_t no_data = 0;
      status = read_row(&j->source, w, w->row + r.first + i, heights, mask, &no_data);
      status = tl_sandbox_reply(sandbox, status);
      if (status == TL_OK) status = tl_sandbox_pass(sandbox, &no_data, sizeof no_data);
      if (status == TL_OK)
        status = tl_sandbox_pass(sandbox, heights, (size_t)w->columns * sizeof *heights);
    }
  tl_free(heights);
  tl_free(mask);
  return status;
}

static void release(void *of) {
  Job *j = of;
  if (j->source.set) GDALClose(j->source.set);
  tl_free(j->crs);
  tl_raster_free(&j->raster);
}

static const TlSandboxReader raster_reader = {.name = "raster",
                                              .job_bytes = sizeof(Job),
                                              .prepare = tl_gdal_start,
                                              .ask = ask,
                                              .read = read_head,
                                              .tell = tell_head,
                                              .serve = serve_rows,
                                              .release = release};
TL_SANDBOX_READER(raster_reader)

/* ---- reading, in the caller ---- */

/* Before memory is asked for: the kernel would kill the tool without a word. */
static TlStatus check_head(const char *path, const TlRaster *r) {
  double bytes = (double)r->nx * (double)r->ny * (double)sizeof *r->height_m;
  double memory = (double)tl_mem_machine_bytes();
  if (r->nx < 2 || r->ny < 2 || r->nx > INT32_MAX || r->ny > INT32_MAX || !r->crs ||
      !isfinite(r->cell_m + r->east_m + r->north_m) || !(r->cell_m > 0))
    return tl_fail(TL_EINPUT, "%s: its size or place makes no raster; it is damaged", path);
  if (memory <= 0 || bytes <= memory) return TL_OK;
  return tl_fail(TL_ENOMEM,
                 "%s: the heights of %" PRId64 " x %" PRId64
                 " samples need %.1f GB, this machine has %.1f GB; read a part of it (--crop)",
                 path, r->nx, r->ny, bytes / 1e9, memory / 1e9);
}

/* The rows of the file go north from its first, or south. */
static TlStatus take_rows(TlSandbox *sandbox, bool south_up, TlRaster *raster) {
  enum { AT_ONCE = 4 << 20 };
  int64_t bytes = raster->nx * (int64_t)sizeof *raster->height_m;
  int64_t most = bytes < AT_ONCE ? AT_ONCE / bytes : 1;
  for (int64_t row = 0; row < raster->ny; row++) {
    int64_t j = south_up ? row : raster->ny - 1 - row, left = raster->ny - row, no_data;
    Rows rows = {(int32_t)row, (int32_t)(left < most ? left : most)};
    if (row % most == 0)
      TL_TRY(tl_sandbox_request(sandbox, &rows, sizeof rows, rows.count * bytes));
    TL_TRY(tl_sandbox_answer(sandbox));
    TL_TRY(tl_sandbox_take(sandbox, &no_data, sizeof no_data));
    TL_TRY(tl_sandbox_take(sandbox, raster->height_m + j * raster->nx, (size_t)bytes));
    raster->no_data += no_data;
  }
  return TL_OK;
}

static void warn_of_scale(const char *path, double metre_m) {
  static const double WARN = 0.01;
  if (metre_m > 0 && fabs(metre_m - 1) > WARN)
    tl_log_warn("%s: a metre of its CRS is %.4g m on the ground at the raster's middle: distances, "
                "slopes and "
                "runouts are off by as much; the national grid or a UTM zone is right",
                path, metre_m);
}

TlStatus tl_raster_read(TlRaster *raster, const char *path, const TlRasterOptions *options) {
  Job job = {.options = options ? *options : (TlRasterOptions){0}};
  TlSandbox *sandbox = NULL;
  TlRaster *r = &job.raster;
  bool wants_crs = job.options.crs && job.options.crs[0];
  *raster = (TlRaster){0};
  if (wants_crs && !(job.crs = tl_strdup(job.options.crs))) return TL_ENOMEM;
  TlStatus status = tl_sandbox_open(&sandbox, &raster_reader, path, 0, &job);
  if (status == TL_OK) status = check_head(path, r);
  if (status == TL_OK) status = TL_NEW(r->height_m, (size_t)r->nx * (size_t)r->ny);
  if (status == TL_OK) status = take_rows(sandbox, job.south_up, r);
  if (status == TL_OK && r->no_data == r->nx * r->ny)
    status = tl_fail(TL_EINPUT, "%s: all %" PRId64 " samples%s are no-data", path, r->no_data,
                     job.options.crop ? " inside the crop" : "");
  tl_sandbox_close(&sandbox);
  tl_free(job.crs);
  if (status == TL_OK) warn_of_scale(path, job.source.metre_m);
  if (status == TL_OK)
    *raster = *r;
  else
    tl_raster_free(r);
  return status;
}

TlStatus tl_raster_same_crs(const char *one, const char *other, bool *same) {
  *same = strcmp(one, other) == 0;
  if (*same) return TL_OK;
  TL_TRY(tl_gdal_load());
  CPLPushErrorHandler(CPLQuietErrorHandler);
  OGRSpatialReferenceH a = OSRNewSpatialReference(NULL), b = OSRNewSpatialReference(NULL);
  bool known = OSRSetFromUserInput(a, one) == OGRERR_NONE &&
               OSRSetFromUserInput(b, other) == OGRERR_NONE &&
               OSRDemoteTo2D(a, NULL) == OGRERR_NONE && OSRDemoteTo2D(b, NULL) == OGRERR_NONE;
  if (known) *same = OSRIsSame(a, b);
  OSRDestroySpatialReference(a);
  OSRDestroySpatialReference(b);
  CPLPopErrorHandler();
  return known ? TL_OK : tl_fail(TL_EINPUT, "a CRS cannot be read: %s", tl_gdal_words());
}

/* ---- writing ---- */

enum { VOID_HEIGHT = -9999 };

static TlStatus write_ascii(const TlRaster *r, const char *temp) {
  FILE *file = fopen(temp, "w");
  if (!file) return tl_fail_errno(temp, "cannot create");
  fprintf(file,
          "ncols %" PRId64 "\nnrows %" PRId64 "\nxllcenter %.17g\nyllcenter %.17g\n"
          "cellsize %.17g\nNODATA_value %d\n",
          r->nx, r->ny, r->east_m, r->north_m, r->cell_m, VOID_HEIGHT);
  for (int64_t j = r->ny - 1; j >= 0; j--) {
    for (int64_t i = 0; i < r->nx; i++) {
      double z = r->height_m[j * r->nx + i];
      fprintf(file, "%s%.17g", i ? " " : "", isnan(z) ? VOID_HEIGHT : z);
    }
    fputc('\n', file);
  }
  bool failed = ferror(file) != 0;
  if (fclose(file) != 0 || failed) return tl_fail_errno(temp, "cannot write");
  return TL_OK;
}

/* In a GeoTIFF. */
static double no_data(const TlRaster *r) {
  return r->colour ? 0 : VOID_HEIGHT;
}

static bool set_colours(const TlRaster *r, GDALRasterBandH band) {
  if (!r->colour) return true;
  GDALColorTableH table = GDALCreateColorTable(GPI_RGB);
  for (int i = 0; i < r->colours; i++) {
    const TlRasterColour *c = &r->colour[i];
    GDALSetColorEntry(table, c->value, &(GDALColorEntry){c->red, c->green, c->blue, 255});
  }
  bool done = GDALSetRasterColorTable(band, table) == CE_None;
  GDALDestroyColorTable(table);
  return done;
}

static TlStatus write_tiff_rows(const TlRaster *r, GDALRasterBandH band, const char *temp) {
  double *row;
  TL_TRY(TL_NEW(row, (size_t)r->nx));
  TlStatus status = TL_OK;
  for (int64_t j = 0; j < r->ny && status == TL_OK; j++) {
    const double *z = r->height_m + (r->ny - 1 - j) * r->nx;
    for (int64_t i = 0; i < r->nx; i++) row[i] = isnan(z[i]) ? no_data(r) : z[i];
    if (GDALRasterIO(band, GF_Write, 0, (int)j, (int)r->nx, 1, row, (int)r->nx, 1, GDT_Float64, 0,
                     0) != CE_None)
      status =
          tl_fail(TL_EIO, "%s: cannot write row %" PRId64 ": %s", temp, j + 1, tl_gdal_words());
  }
  tl_free(row);
  return status;
}

/* QGIS shows all of it under the layer's information, and the band's name in its legend. */
static bool set_words(const TlRaster *r, GDALDatasetH set, GDALRasterBandH band) {
  char *program = tl_format("Talus %s", tl_version());
  bool done = program && GDALSetMetadataItem(set, "TIFFTAG_SOFTWARE", program, NULL) == CE_None;
  if (r->about)
    done = done && GDALSetMetadataItem(set, "TIFFTAG_IMAGEDESCRIPTION", r->about, NULL) == CE_None;
  if (r->name) GDALSetDescription(band, r->name);
  if (r->unit && r->unit[0]) done = done && GDALSetRasterUnitType(band, r->unit) == CE_None;
  tl_free(program);
  return done;
}

static TlStatus write_tiff_set(const TlRaster *r, GDALDatasetH set, const char *temp) {
  double g[6] = {r->east_m - 0.5 * r->cell_m,
                 r->cell_m,
                 0,
                 r->north_m + ((double)r->ny - 0.5) * r->cell_m,
                 0,
                 -r->cell_m};
  GDALRasterBandH band = GDALGetRasterBand(set, 1);
  if (GDALSetGeoTransform(set, g) != CE_None ||
      (r->crs && r->crs[0] && GDALSetProjection(set, r->crs) != CE_None) || !set_colours(r, band) ||
      !set_words(r, set, band) || GDALSetRasterNoDataValue(band, no_data(r)) != CE_None)
    return tl_fail(TL_EIO, "%s: cannot write the georeference: %s", temp, tl_gdal_words());
  return write_tiff_rows(r, band, temp);
}

static TlStatus write_tiff(const TlRaster *r, const char *temp) {
  const char *const options[] = {"COMPRESS=DEFLATE", "BIGTIFF=IF_SAFER", NULL};
  TL_TRY(tl_gdal_load());
  GDALAllRegister();
  CPLPushErrorHandler(CPLQuietErrorHandler);
  CPLErrorReset();
  GDALDatasetH set = GDALCreate(GDALGetDriverByName("GTiff"), temp, (int)r->nx, (int)r->ny, 1,
                                r->colour ? GDT_Byte : GDT_Float64, (CSLConstList)options);
  TlStatus status = set ? write_tiff_set(r, set, temp)
                        : tl_fail(TL_EIO, "%s: cannot create: %s", temp, tl_gdal_words());
  if (set) {
    CPLErrorReset(); /* closing writes what is left: a full disk shows here only */
    GDALClose(set);
    if (status == TL_OK && CPLGetLastErrorType() >= CE_Failure)
      status = tl_fail(TL_EIO, "%s: cannot write: %s", temp, tl_gdal_words());
  }
  CPLPopErrorHandler();
  return status;
}

TlStatus tl_raster_write(const TlRaster *raster, const char *path, bool overwrite) {
  char extension[16];
  tl_path_extension(path, extension);
  bool ascii = strcmp(extension, "asc") == 0;
  if (!ascii && strcmp(extension, "tif") != 0 && strcmp(extension, "tiff") != 0)
    return tl_fail(TL_EUSAGE, "%s: a raster is written as .asc or .tif", path);
  if (raster->nx > INT32_MAX || raster->ny > INT32_MAX)
    return tl_fail(TL_EINPUT, "%s: too many rows or columns", path);
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  TlStatus status = ascii ? write_ascii(raster, out.temp) : write_tiff(raster, out.temp);
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
