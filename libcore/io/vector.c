#include "io/vector.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "io/gdal_functions.h"
#include "io/gdal_library.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST = 10000000 }; /* points, features, values: far more than a study has blocks */

static void free_texts(char **text, int64_t count) {
  for (int64_t i = 0; text && i < count; i++) tl_free(text[i]);
  tl_free(text);
}

void tl_vector_free(TlVector *v) {
  free_texts(v->field, v->fields);
  free_texts(v->value, v->features * v->fields);
  tl_free(v->id);
  tl_free(v->part);
  tl_free(v->east_north);
  tl_free(v->height);
  *v = (TlVector){0};
}

typedef struct Job {
  int32_t kind;
  char *crs, *layer_name, *subset; /* owned; the last two NULL: not given */
  TlVector vector;
  /* of the worker */
  const char *path;
  GDALDatasetH set;
  OGRLayerH layer;
  OGRSpatialReferenceH wanted;
  OGRCoordinateTransformationH transformation; /* NULL: none is needed */
  OGRGeometryH united;
} Job;

/* ---- in the worker ---- */

/* Reserves space for one more; full at each power of two. */
static TlStatus grow(void **items, int64_t count, size_t size) {
  if (count >= MOST) return tl_fail(TL_EINPUT, "more than %d points or features", MOST);
  if ((count & (count - 1)) != 0) return TL_OK;
  void *more = tl_realloc(*items, (size_t)count, count ? 2 * (size_t)count : 1, size);
  if (!more) return TL_ENOMEM;
  *items = more;
  return TL_OK;
}

static TlStatus add_point(TlVector *v, double x, double y, double z) {
  void *items = v->east_north, *heights = v->height;
  TL_TRY(grow(&heights, v->points, sizeof *v->height));
  v->height = heights;
  TL_TRY(grow(&items, v->points, 2 * sizeof *v->east_north));
  v->east_north = items;
  v->east_north[2 * v->points] = x;
  v->east_north[2 * v->points + 1] = y;
  v->height[v->points] = z;
  v->points++;
  return TL_OK;
}

static TlStatus add_part(TlVector *v, int64_t feature) {
  void *items = v->part;
  TL_TRY(grow(&items, v->parts, sizeof *v->part));
  v->part = items;
  v->part[v->parts++] = (TlVectorPart){feature, v->points, 0};
  return TL_OK;
}

static TlStatus list_layers(const Job *j, const char *problem) {
  TlGrowingText names = {0};
  TlStatus status = TL_OK;
  for (int i = 0; status == TL_OK && i < GDALDatasetGetLayerCount(j->set); i++)
    status = tl_text_add(&names, ", ", OGR_L_GetName(GDALDatasetGetLayer(j->set, i)));
  if (status == TL_OK)
    status = tl_fail(TL_EINPUT, "%s: %s; write '%s|layername=NAME', NAME one of: %s", j->path,
                     problem, j->path, names.text ? names.text : "(none)");
  tl_free(names.text);
  return status;
}

static TlStatus open_layer(Job *j) {
  CPLErrorReset();
  j->set = GDALOpenEx(j->path, GDAL_OF_VECTOR | GDAL_OF_READONLY, tl_gdal_vectors, NULL, NULL);
  if (!j->set)
    return tl_fail(TL_EINPUT,
                   "%s: no GIS file of points or polygons that can be read (GeoPackage, GeoJSON, "
                   "shapefile, FlatGeobuf): %s; other formats: ogr2ogr OUT.gpkg %s",
                   j->path, tl_gdal_words(), j->path);
  int layers = GDALDatasetGetLayerCount(j->set);
  if (j->layer_name) {
    j->layer = GDALDatasetGetLayerByName(j->set, j->layer_name);
    if (!j->layer) return list_layers(j, "there is no such layer");
  } else {
    if (layers != 1) return list_layers(j, "holds several layers, or none");
    j->layer = GDALDatasetGetLayer(j->set, 0);
  }
  CPLErrorReset();
  if (j->subset && OGR_L_SetAttributeFilter(j->layer, j->subset) != OGRERR_NONE)
    return tl_fail(TL_EINPUT, "%s: subset '%s' is no condition on the fields: %s", j->path,
                   j->subset, tl_gdal_words());
  return TL_OK;
}

/* From the file's CRS to the wanted one. */
static TlStatus prepare_crs(Job *j) {
  OGRSpatialReferenceH own = OGR_L_GetSpatialRef(j->layer);
  const char *name = own ? OSRGetName(own) : NULL;
  if (name && strncmp(name, "Undefined ", 10) == 0) own = NULL; /* a GeoPackage's way to say so */
  if (!own && !j->crs[0]) return TL_OK;
  if (!own)
    return tl_fail(TL_EINPUT,
                   "%s: says no CRS; give it the one its coordinates are in: ogr2ogr -a_srs "
                   "EPSG:CODE OUT.gpkg %s",
                   j->path, j->path);
  if (!j->crs[0])
    return tl_fail(TL_EINPUT,
                   "%s: has the CRS '%s', and the terrain has none: give it one by talus-topo "
                   "--crs=EPSG:CODE",
                   j->path, name);
  j->wanted = OSRNewSpatialReference(NULL);
  if (!j->wanted || OSRSetFromUserInput(j->wanted, j->crs) != OGRERR_NONE ||
      OSRDemoteTo2D(j->wanted, NULL) != OGRERR_NONE)
    return tl_fail(TL_EINPUT, "%s: the terrain's CRS cannot be read: %s", j->path, tl_gdal_words());
  OSRSetAxisMappingStrategy(j->wanted, OAMS_TRADITIONAL_GIS_ORDER);
  OGRSpatialReferenceH from = OSRClone(own);
  OSRDemoteTo2D(from, NULL);
  OSRSetAxisMappingStrategy(from, OAMS_TRADITIONAL_GIS_ORDER);
  bool same = OSRIsSame(from, j->wanted);
  if (!same) j->transformation = OCTNewCoordinateTransformation(from, j->wanted);
  OSRDestroySpatialReference(from);
  if (!same && !j->transformation)
    return tl_fail(TL_EINPUT, "%s: its CRS '%s' cannot be converted to the terrain's: %s", j->path,
                   name, tl_gdal_words());
  return TL_OK;
}

static TlStatus read_fields(Job *j) {
  TlVector *v = &j->vector;
  OGRFeatureDefnH table = OGR_L_GetLayerDefn(j->layer);
  int64_t fields = OGR_FD_GetFieldCount(table);
  TL_TRY(TL_NEW(v->field, (size_t)fields));
  for (v->fields = 0; v->fields < fields; v->fields++) {
    const char *name = OGR_Fld_GetNameRef(OGR_FD_GetFieldDefn(table, (int)v->fields));
    v->field[v->fields] = tl_strdup(name);
    if (!v->field[v->fields]) return TL_ENOMEM;
  }
  return TL_OK;
}

static TlStatus take_value(Job *j, OGRFeatureH feature, int k, char **value) {
  *value = NULL;
  if (!OGR_F_IsFieldSetAndNotNull(feature, k)) return TL_OK;
  OGRFieldDefnH field = OGR_FD_GetFieldDefn(OGR_L_GetLayerDefn(j->layer), k);
  const char *text = OGR_F_GetFieldAsString(feature, k);
  if (OGR_Fld_GetSubType(field) == OFSTBoolean)
    text = OGR_F_GetFieldAsInteger(feature, k) ? "true" : "false";
  if (!text[0]) return TL_OK;
  *value = tl_strdup(text);
  return *value ? TL_OK : TL_ENOMEM;
}

static TlStatus take_values(Job *j, OGRFeatureH feature) {
  TlVector *v = &j->vector;
  void *ids = v->id, *values = v->value;
  TL_TRY(grow(&ids, v->features, sizeof *v->id));
  v->id = ids;
  if (v->fields > 0) {
    TL_TRY(grow(&values, v->features, (size_t)v->fields * sizeof *v->value));
    v->value = values;
  }
  v->id[v->features] = OGR_F_GetFID(feature);
  char **value = v->value + v->features * v->fields;
  for (int64_t k = 0; k < v->fields; k++) value[k] = NULL;
  v->features++;
  for (int64_t k = 0; k < v->fields; k++) TL_TRY(take_value(j, feature, (int)k, &value[k]));
  return TL_OK;
}

static const char *const kind_names[] = {"points", "polygons", "lines", "polygons"};

static TlStatus wrong_geometry(const Job *j, int64_t id, const char *what) {
  return tl_fail(TL_EINPUT, "%s: feature %lld %s; %s are wanted", j->path, (long long)id, what,
                 kind_names[j->kind]);
}

static bool right_kind(const Job *j, OGRGeometryH geometry) {
  OGRwkbGeometryType type = wkbFlatten(OGR_G_GetGeometryType(geometry));
  if (j->kind == TL_VECTOR_POINTS) return type == wkbPoint || type == wkbMultiPoint;
  if (j->kind == TL_VECTOR_LINES)
    return type == wkbLineString || type == wkbMultiLineString || type == wkbCompoundCurve ||
           type == wkbCircularString || type == wkbMultiCurve;
  return type == wkbPolygon || type == wkbMultiPolygon || type == wkbCurvePolygon ||
         type == wkbMultiSurface;
}

/* The geometry in the wanted CRS as one of several, flat but for points; the caller's. */
static TlStatus take_geometry(const Job *j, OGRFeatureH feature, OGRGeometryH *geometry) {
  static const OGRwkbGeometryType several[] = {wkbMultiPoint, wkbMultiPolygon, wkbMultiLineString,
                                               wkbMultiPolygon};
  int64_t id = OGR_F_GetFID(feature);
  OGRGeometryH own = OGR_F_GetGeometryRef(feature);
  char text[128];
  if (!own || OGR_G_IsEmpty(own)) return wrong_geometry(j, id, "has no geometry");
  if (!right_kind(j, own)) {
    snprintf(text, sizeof text, "is a %s", OGR_G_GetGeometryName(own));
    return wrong_geometry(j, id, text);
  }
  CPLErrorReset();
  bool heights = j->kind == TL_VECTOR_POINTS && OGR_G_Is3D(own);
  *geometry = OGR_G_ForceTo(OGR_G_Clone(own),
                            heights ? OGR_GT_SetZ(several[j->kind]) : several[j->kind], NULL);
  if (!*geometry)
    return tl_fail(TL_ELIB, "%s: feature %lld: %s", j->path, (long long)id, tl_gdal_words());
  if (!heights) OGR_G_FlattenTo2D(*geometry);
  if (j->transformation && OGR_G_Transform(*geometry, j->transformation) != OGRERR_NONE)
    return tl_fail(TL_EINPUT, "%s: feature %lld cannot be brought to the terrain's CRS: %s",
                   j->path, (long long)id, tl_gdal_words());
  bool polygons = j->kind == TL_VECTOR_POLYGONS || j->kind == TL_VECTOR_AREAS;
  if (polygons && !OGR_G_IsValid(*geometry))
    return tl_fail(TL_EINPUT,
                   "%s: feature %lld is no valid polygon (%s); mend it, e.g. ogr2ogr -makevalid "
                   "OUT.gpkg %s",
                   j->path, (long long)id, tl_gdal_words(), j->path);
  return TL_OK;
}

static TlStatus add_points(Job *j, OGRGeometryH points) {
  TlVector *v = &j->vector;
  for (int i = 0; i < OGR_G_GetGeometryCount(points); i++) {
    OGRGeometryH point = OGR_G_GetGeometryRef(points, i);
    TL_TRY(add_part(v, v->features - 1));
    TL_TRY(add_point(v, OGR_G_GetX(point, 0), OGR_G_GetY(point, 0),
                     OGR_G_Is3D(point) ? OGR_G_GetZ(point, 0) : NAN));
    v->part[v->parts - 1].count = 1;
  }
  return TL_OK;
}

static TlStatus add_lines(Job *j, OGRGeometryH lines) {
  TlVector *v = &j->vector;
  for (int i = 0; i < OGR_G_GetGeometryCount(lines); i++) {
    OGRGeometryH line = OGR_G_GetGeometryRef(lines, i);
    int n = OGR_G_GetPointCount(line);
    TL_TRY(add_part(v, v->features - 1));
    for (int k = 0; k < n; k++) TL_TRY(add_point(v, OGR_G_GetX(line, k), OGR_G_GetY(line, k), NAN));
    v->part[v->parts - 1].count = n;
  }
  return TL_OK;
}

/* Twice the area, positive counterclockwise. */
static double turn_of(const double *xy, int64_t count) {
  double sum = 0;
  for (int64_t i = 0, k = count - 1; i < count; k = i++)
    sum += (xy[2 * k] - xy[0]) * (xy[2 * i + 1] - xy[1]) -
           (xy[2 * i] - xy[0]) * (xy[2 * k + 1] - xy[1]);
  return sum;
}

static void reverse(double *xy, int64_t count) {
  for (int64_t i = 0, k = count - 1; i < k; i++, k--)
    for (int a = 0; a < 2; a++) {
      double was = xy[2 * i + a];
      xy[2 * i + a] = xy[2 * k + a];
      xy[2 * k + a] = was;
    }
}

static TlStatus add_ring(TlVector *v, int64_t feature, OGRGeometryH ring, bool hole) {
  int n = OGR_G_GetPointCount(ring) - 1; /* the last corner is the first once more */
  TL_TRY(add_part(v, feature));
  TlVectorPart *part = &v->part[v->parts - 1];
  for (int i = 0; i < n; i++) TL_TRY(add_point(v, OGR_G_GetX(ring, i), OGR_G_GetY(ring, i), NAN));
  part->count = n;
  double *xy = v->east_north + 2 * part->first;
  if ((turn_of(xy, n) > 0) == hole) reverse(xy, n);
  return TL_OK;
}

static TlStatus add_polygons(Job *j, int64_t feature, OGRGeometryH polygons) {
  for (int i = 0; i < OGR_G_GetGeometryCount(polygons); i++) {
    OGRGeometryH polygon = OGR_G_GetGeometryRef(polygons, i);
    for (int k = 0; k < OGR_G_GetGeometryCount(polygon); k++)
      TL_TRY(add_ring(&j->vector, feature, OGR_G_GetGeometryRef(polygon, k), k > 0));
  }
  return TL_OK;
}

static TlStatus add_area(Job *j, OGRGeometryH polygons) {
  return add_polygons(j, j->vector.features - 1, polygons);
}

static TlStatus unite(Job *j, OGRGeometryH polygons) {
  for (int i = 0; i < OGR_G_GetGeometryCount(polygons); i++)
    if (OGR_G_AddGeometry(j->united, OGR_G_GetGeometryRef(polygons, i)) != OGRERR_NONE)
      return tl_fail(TL_ELIB, "%s: cannot collect its polygons: %s", j->path, tl_gdal_words());
  return TL_OK;
}

static TlStatus read_features(Job *j) {
  static TlStatus (*const add[])(Job *, OGRGeometryH) = {add_points, unite, add_lines, add_area};
  OGRFeatureH feature;
  TlStatus status = TL_OK;
  CPLErrorReset();
  while (status == TL_OK && (feature = OGR_L_GetNextFeature(j->layer))) {
    OGRGeometryH geometry = NULL;
    status = take_geometry(j, feature, &geometry);
    if (status == TL_OK) status = take_values(j, feature);
    if (status == TL_OK) status = add[j->kind](j, geometry);
    if (geometry) OGR_G_DestroyGeometry(geometry);
    OGR_F_Destroy(feature);
    CPLErrorReset();
  }
  if (status == TL_OK && j->vector.features == 0)
    return tl_fail(TL_EINPUT, "%s: holds no feature%s%s", j->path, j->subset ? " for which " : "",
                   j->subset ? j->subset : "");
  return status;
}

static TlStatus add_rings(Job *j) {
  OGRGeometryH all = OGR_G_UnionCascaded(j->united);
  if (!all) return tl_fail(TL_ELIB, "%s: cannot unite its polygons: %s", j->path, tl_gdal_words());
  OGR_G_DestroyGeometry(j->united);
  j->united = OGR_G_ForceToMultiPolygon(all);
  return add_polygons(j, 0, j->united);
}

static TlStatus read_layer(const char *path, void *of) {
  Job *j = of;
  j->path = path;
  if (j->kind < TL_VECTOR_POINTS || j->kind > TL_VECTOR_AREAS)
    return tl_fail(TL_EINPUT, "a kind of geometry that does not exist");
  TL_TRY(tl_gdal_load());
  TL_TRY(open_layer(j));
  TL_TRY(prepare_crs(j));
  TL_TRY(read_fields(j));
  if (j->kind == TL_VECTOR_POLYGONS) j->united = OGR_G_CreateGeometry(wkbMultiPolygon);
  TL_TRY(read_features(j));
  return j->kind == TL_VECTOR_POLYGONS ? add_rings(j) : TL_OK;
}

static void release(void *of) {
  Job *j = of;
  if (j->united) OGR_G_DestroyGeometry(j->united);
  if (j->transformation) OCTDestroyCoordinateTransformation(j->transformation);
  if (j->wanted) OSRDestroySpatialReference(j->wanted);
  if (j->set) GDALClose(j->set);
  tl_free(j->crs);
  tl_free(j->layer_name);
  tl_free(j->subset);
  tl_vector_free(&j->vector);
}

/* ---- between the two ---- */

static TlStatus ask(TlSandbox *s, void *of) {
  Job *j = of;
  TL_TRY(tl_sandbox_pass(s, &j->kind, sizeof j->kind));
  TL_TRY(tl_sandbox_pass_text(s, &j->crs));
  TL_TRY(tl_sandbox_pass_text(s, &j->layer_name));
  return tl_sandbox_pass_text(s, &j->subset);
}

static TlStatus pass_texts(TlSandbox *s, char ***text, int64_t count) {
  if (tl_sandbox_takes(s)) TL_TRY(TL_NEW(*text, (size_t)count));
  for (int64_t i = 0; i < count; i++) TL_TRY(tl_sandbox_pass_text(s, &(*text)[i]));
  return TL_OK;
}

static bool in_range(int64_t count) {
  return count >= 0 && count <= MOST;
}

static TlStatus tell(TlSandbox *s, void *of) {
  TlVector *v = &((Job *)of)->vector;
  int64_t n[4] = {v->features, v->fields, v->parts, v->points};
  TL_TRY(tl_sandbox_pass(s, n, sizeof n));
  if (!in_range(n[0]) || !in_range(n[1]) || !in_range(n[2]) || !in_range(n[3]) ||
      !in_range(n[0] * n[1]))
    return tl_fail(TL_EINPUT, "more than %d features, points or values", MOST);
  v->features = n[0];
  v->fields = n[1];
  v->parts = n[2];
  v->points = n[3];
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, v->id, v->features));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, v->part, v->parts));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, v->east_north, 2 * v->points));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, v->height, v->points));
  TL_TRY(pass_texts(s, &v->field, v->fields));
  return pass_texts(s, &v->value, v->features * v->fields);
}

static const TlSandboxReader vector_reader = {.name = "vector",
                                              .job_bytes = sizeof(Job),
                                              .prepare = tl_gdal_start,
                                              .ask = ask,
                                              .read = read_layer,
                                              .tell = tell,
                                              .release = release};
TL_SANDBOX_READER(vector_reader)

/* ---- in the caller ---- */

/* "FILE|layername=NAME|subset=CONDITION", the condition to the end. */
static TlStatus split(const char *source, char **path, Job *j) {
  char *bar = strchr(source, '|');
  *path = tl_format("%.*s", bar ? (int)(bar - source) : (int)strlen(source), source);
  if (!*path) return TL_ENOMEM;
  while (bar) {
    char *part = bar + 1;
    bool subset = strncasecmp(part, "subset=", 7) == 0;
    bar = subset ? NULL : strchr(part, '|');
    int length = bar ? (int)(bar - part) : (int)strlen(part);
    if (subset)
      j->subset = tl_strdup(part + 7);
    else if (strncasecmp(part, "layername=", 10) == 0 && !j->layer_name)
      j->layer_name = tl_format("%.*s", length - 10, part + 10);
    else
      return tl_fail(TL_EINPUT, "%s: '%.*s' is neither layername=NAME nor subset=CONDITION", source,
                     length, part);
  }
  return TL_OK;
}

static TlStatus check(const char *path, const TlVector *v) {
  bool good = v->parts > 0;
  for (int64_t i = 0; good && i < v->parts; i++) {
    const TlVectorPart *p = &v->part[i];
    good = p->feature >= 0 && p->feature < v->features && p->first >= 0 && p->count > 0 &&
           p->first <= v->points - p->count;
  }
  for (int64_t i = 0; good && i < 2 * v->points; i++) good = isfinite(v->east_north[i]);
  for (int64_t i = 0; good && i < v->points; i++) good = !isinf(v->height[i]);
  return good
             ? TL_OK
             : tl_fail(
                   TL_EINPUT,
                   "%s: its coordinates are damaged, or lie where the terrain's CRS does not reach",
                   path);
}

TlStatus tl_vector_read(const char *source, TlVectorKind kind, const char *crs, TlVector *vector) {
  Job job = {.kind = (int32_t)kind};
  char *path = NULL;
  int64_t bytes;
  job.crs = tl_strdup(crs);
  TlStatus status = job.crs ? split(source, &path, &job) : TL_ENOMEM;
  if (status == TL_OK) status = tl_file_size(path, &bytes);
  if (status == TL_OK) status = tl_sandbox_read(&vector_reader, path, 0, &job);
  *vector = job.vector;
  if (status == TL_OK) status = check(path, vector);
  tl_free(path);
  tl_free(job.crs);
  tl_free(job.layer_name);
  tl_free(job.subset);
  return status;
}
