#include "io/vector_write.h"

#include "base/file.h"
#include "io/gdal_functions.h"
#include "io/gdal_library.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct Target {
  const TlVectorLayer *from;
  const char *path; /* for messages */
  OGRLayerH layer;
} Target;

static TlStatus failed(const Target *t, const char *what) {
  return tl_fail(TL_EIO, "%s: cannot write %s: %s", t->path, what, tl_gdal_words());
}

static TlStatus add_fields(const Target *t) {
  static const OGRFieldType type[] = {OFTReal, OFTInteger64, OFTString};
  for (int k = 0; k < t->from->fields; k++) {
    OGRFieldDefnH field = OGR_Fld_Create(t->from->field[k].name, type[t->from->field[k].kind]);
    bool made = field && OGR_L_CreateField(t->layer, field, 0) == OGRERR_NONE;
    if (field) OGR_Fld_Destroy(field);
    if (!made) return failed(t, t->from->field[k].name);
  }
  return TL_OK;
}

static void set_values(const Target *t, OGRFeatureH feature, const double *value) {
  for (int k = 0; k < t->from->fields; k++) {
    if (isnan(value[k]))
      OGR_F_SetFieldNull(feature, k); /* what is not set has no field in GeoJSON */
    else if (t->from->field[k].kind == TL_FIELD_WORD)
      OGR_F_SetFieldString(feature, k, t->from->word[(int64_t)value[k]]);
    else if (t->from->field[k].kind == TL_FIELD_WHOLE)
      OGR_F_SetFieldInteger64(feature, k, (GIntBig)value[k]);
    else
      OGR_F_SetFieldDouble(feature, k, value[k]);
  }
}

static OGRGeometryH geometry_of(const TlVectorLayer *from, int64_t i) {
  OGRGeometryH geometry = OGR_G_CreateGeometry(from->lines ? wkbLineString25D : wkbPoint25D);
  int64_t first = from->lines ? from->first[i] : i, end = from->lines ? from->first[i + 1] : i + 1;
  if (!geometry) return NULL;
  for (int64_t k = first; k < end; k++)
    OGR_G_AddPoint(geometry, from->place[k].x, from->place[k].y, from->place[k].z);
  if (from->lines && end == first + 1)
    OGR_G_AddPoint(geometry, from->place[first].x, from->place[first].y, from->place[first].z);
  return geometry;
}

static TlStatus add_features(const Target *t) {
  for (int64_t i = 0; i < t->from->features; i++) {
    OGRFeatureH feature = OGR_F_Create(OGR_L_GetLayerDefn(t->layer));
    OGRGeometryH geometry = geometry_of(t->from, i);
    bool made = feature && geometry;
    if (made) {
      set_values(t, feature, t->from->value + i * t->from->fields);
      made = OGR_F_SetGeometry(feature, geometry) == OGRERR_NONE &&
             OGR_L_CreateFeature(t->layer, feature) == OGRERR_NONE;
    }
    if (geometry) OGR_G_DestroyGeometry(geometry);
    if (feature) OGR_F_Destroy(feature);
    if (!made) return failed(t, "a feature");
  }
  return TL_OK;
}

static TlStatus fill(Target *t, GDALDatasetH set) {
  OGRSpatialReferenceH crs = NULL;
  bool has_crs = t->from->crs && t->from->crs[0];
  if (has_crs) {
    crs = OSRNewSpatialReference(NULL);
    if (!crs || OSRSetFromUserInput(crs, t->from->crs) != OGRERR_NONE) {
      if (crs) OSRDestroySpatialReference(crs);
      return failed(t, "the CRS");
    }
    OSRSetAxisMappingStrategy(crs, OAMS_TRADITIONAL_GIS_ORDER);
  }
  t->layer = GDALDatasetCreateLayer(set, t->from->name, crs,
                                    t->from->lines ? wkbLineString25D : wkbPoint25D, NULL);
  if (crs) OSRDestroySpatialReference(crs);
  if (!t->layer) return failed(t, "a layer");
  TL_TRY(add_fields(t));
  bool one = GDALDatasetStartTransaction(set, FALSE) == OGRERR_NONE; /* GeoJSON has none */
  TL_TRY(add_features(t));
  if (one && GDALDatasetCommitTransaction(set) != OGRERR_NONE) return failed(t, "its features");
  return TL_OK;
}

static TlStatus write_layer(const TlVectorLayer *layer, const char *driver, const char *temp) {
  Target t = {.from = layer, .path = temp};
  TL_TRY(tl_gdal_load());
  GDALAllRegister();
  CPLPushErrorHandler(CPLQuietErrorHandler);
  CPLSetConfigOption("OGR_CURRENT_DATE", "2000-01-01T00:00:00.000Z"); /* the same bytes */
  CPLErrorReset();
  /* the drivers make new files only; the name is ours alone */
  TlStatus status = unlink(temp) == 0 ? TL_OK : tl_fail_errno(temp, "cannot make way for");
  GDALDatasetH set = NULL;
  if (status == TL_OK) {
    set = GDALCreate(GDALGetDriverByName(driver), temp, 0, 0, 0, GDT_Unknown, NULL);
    status = set ? fill(&t, set) : failed(&t, "it");
  }
  if (set) {
    CPLErrorReset(); /* closing writes what is left: a full disk shows here only */
    GDALClose(set);
    if (status == TL_OK && CPLGetLastErrorType() >= CE_Failure) status = failed(&t, "it");
  }
  CPLSetConfigOption("OGR_CURRENT_DATE", NULL);
  CPLPopErrorHandler();
  return status;
}

TlStatus tl_vector_write(const TlVectorLayer *layer, const char *path, bool overwrite) {
  char extension[16];
  tl_path_extension(path, extension);
  bool json = strcmp(extension, "geojson") == 0;
  if (!json && strcmp(extension, "gpkg") != 0)
    return tl_fail(TL_EUSAGE, "%s: points and lines are written as .gpkg or .geojson", path);
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  TlStatus status = write_layer(layer, json ? "GeoJSON" : "GPKG", out.temp);
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
