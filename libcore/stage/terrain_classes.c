#include "stage/terrain_classes.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/param.h"
#include "io/raster.h"
#include "io/vector.h"
#include "num/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NO_CLASS = -1, MOST_CLASS = 1000000000 };

/* The CRS place of a sample. */
static void place_of(const TlTerrain *t, int64_t k, double *east, double *north) {
  *east = t->origin[0] + t->x0_m + t->cell_m * (double)(k % t->nx);
  *north = t->origin[1] + t->y0_m + t->cell_m * (double)(k / t->nx);
}

/* ---- a raster ---- */

static TlStatus lay_raster(const char *path, const TlRaster *r, TlTerrain *t) {
  for (int64_t k = 0; k < t->nx * t->ny; k++) {
    double east, north, value = NAN;
    if (isnan(t->height_m[k])) continue;
    place_of(t, k, &east, &north);
    double u = floor((east - r->east_m) / r->cell_m + 0.5),
           v = floor((north - r->north_m) / r->cell_m + 0.5);
    if (u >= 0 && v >= 0 && u < (double)r->nx && v < (double)r->ny)
      value = r->height_m[(int64_t)v * r->nx + (int64_t)u];
    if (isnan(value)) continue;
    if (value != floor(value) || value < 0 || value > MOST_CLASS)
      return tl_fail(
          TL_EINPUT,
          "%s: class %.10g at east %.10g, north %.10g; whole numbers of 0 to 1e9 are wanted", path,
          value, east, north);
    t->class_id[k] = (int32_t)value;
  }
  return TL_OK;
}

static TlStatus take_raster(const TlStageCall *call, const TlTerrainStage *o, TlTerrain *t) {
  TlRaster r = {0};
  bool same = true;
  TlStatus status =
      tl_raster_read(&r, o->classes, &(TlRasterOptions){.metres = o->metres, .crs = o->crs});
  if (status == TL_OK) status = tl_provenance_input(call->provenance, o->classes);
  if (status == TL_OK && r.crs[0] && t->crs && t->crs[0])
    status = tl_raster_same_crs(r.crs, t->crs, &same);
  if (status == TL_OK && !same)
    status =
        tl_fail(TL_EINPUT,
                "%s: its CRS is not that of the elevation (%s), so its cells would lie "
                "elsewhere; bring it there: gdalwarp -t_srs EPSG:CODE -r near %s OUT.tif, CODE "
                "that of the elevation",
                o->classes, call->input[0], o->classes);
  if (status == TL_OK) status = lay_raster(o->classes, &r, t);
  tl_raster_free(&r);
  return status;
}

/* ---- polygons ---- */

/* One class a feature, in the field of this name. */
static TlStatus class_of_feature(const char *source, const char *name, const TlVector *v, int64_t i,
                                 int32_t *class_id) {
  int64_t field = 0, value;
  while (field < v->fields && strcasecmp(v->field[field], name) != 0) field++;
  if (field == v->fields) {
    TlGrowingText names = {0};
    TlStatus status = TL_OK;
    for (int64_t k = 0; k < v->fields && status == TL_OK; k++)
      status = tl_text_add(&names, ", ", v->field[k]);
    if (status == TL_OK)
      status = tl_fail(TL_EINPUT,
                       "%s: has no field '%s' with the class of each polygon; its fields are: %s "
                       "(--class-field=NAME takes another)",
                       source, name, names.text ? names.text : "none");
    tl_free(names.text);
    return status;
  }
  const char *text = v->value[i * v->fields + field];
  if (!text || tl_parse_int(text, &value) != TL_OK || value < 0 || value > MOST_CLASS)
    return tl_fail(TL_EINPUT, "%s: feature %lld: %s is '%s'; whole numbers of 0 to 1e9 are wanted",
                   source, (long long)v->id[i], name, text ? text : "");
  *class_id = (int32_t)value;
  return TL_OK;
}

/* Where the rings of a feature cut the line of this northing, from west to east; how many. A point is in the feature
 * if it lies between an odd cut and the next, for holes are rings like the others. */
static int64_t cuts_of(const TlVector *v, int64_t feature, double north, double *cut) {
  int64_t n = 0;
  for (int64_t p = 0; p < v->parts; p++) {
    const TlVectorPart *part = &v->part[p];
    const double *xy = v->east_north + 2 * part->first;
    if (part->feature != feature) continue;
    for (int64_t i = 0, k = part->count - 1; i < part->count; k = i++) {
      const double *a = xy + 2 * k, *b = xy + 2 * i;
      if ((a[1] > north) == (b[1] > north)) continue;
      cut[n++] = a[0] + (north - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
    }
  }
  qsort(cut, (size_t)n, sizeof *cut, tl_by_real);
  return n;
}

typedef struct Overlap {
  int64_t samples, first; /* the first sample; -1: none */
  int32_t was, is;        /* its classes */
} Overlap;

/* of: [samples] the class of the polygons so far; NO_CLASS: in none. */
static void lay_feature(const TlVector *v, int64_t feature, int32_t class_id, const TlTerrain *t,
                        double *cut, int32_t *of, Overlap *overlap) {
  double west = t->origin[0] + t->x0_m;
  for (int64_t j = 0; j < t->ny; j++) {
    int64_t cuts = cuts_of(v, feature, t->origin[1] + t->y0_m + t->cell_m * (double)j, cut);
    for (int64_t c = 0; c + 1 < cuts; c += 2) {
      double from = fmax(0, ceil((cut[c] - west) / t->cell_m)),
             to = fmin((double)t->nx, ceil((cut[c + 1] - west) / t->cell_m));
      for (int64_t i = (int64_t)from; i < (int64_t)to; i++) {
        int64_t k = j * t->nx + i;
        if (of[k] != NO_CLASS && of[k] != class_id && !isnan(t->height_m[k]) &&
            overlap->samples++ == 0)
          *overlap = (Overlap){1, k, of[k], class_id};
        of[k] = class_id;
      }
    }
  }
}

static TlStatus lay_polygons(const TlTerrainStage *o, const TlVector *v, int32_t *of, double *cut,
                             TlTerrain *t, TlReport *report) {
  Overlap overlap = {.first = -1};
  for (int64_t i = 0; i < v->features; i++) {
    int32_t class_id = NO_CLASS;
    TL_TRY(class_of_feature(o->class_polygons, o->class_field, v, i, &class_id));
    lay_feature(v, i, class_id, t, cut, of, &overlap);
  }
  int64_t taken = 0;
  for (int64_t k = 0; k < t->nx * t->ny; k++) {
    if (of[k] == NO_CLASS || isnan(t->height_m[k])) continue;
    t->class_id[k] = of[k];
    taken++;
  }
  if (overlap.samples > 0) {
    double east, north;
    place_of(t, overlap.first, &east, &north);
    tl_log_warn("%s: polygons of different classes overlap at %lld samples, the first at east "
                "%.10g, north %.10g (%d and %d): the one that stands last in the file counts",
                o->class_polygons, (long long)overlap.samples, east, north, overlap.was,
                overlap.is);
  }
  TL_TRY(tl_report_int(report, "class_samples_of_polygons", taken, ""));
  return tl_report_int(report, "class_samples_of_several_polygons", overlap.samples, "");
}

static TlStatus take_polygons(const TlStageCall *call, const TlTerrainStage *o, TlTerrain *t) {
  TlVector v = {0};
  int32_t *of = NULL;
  double *cut = NULL;
  char *path = tl_format("%.*s", (int)strcspn(o->class_polygons, "|"), o->class_polygons);
  TlStatus status =
      path ? tl_vector_read(o->class_polygons, TL_VECTOR_AREAS, t->crs ? t->crs : "", &v)
           : TL_ENOMEM;
  if (status == TL_OK) status = tl_provenance_input(call->provenance, path);
  if (status == TL_OK) status = TL_NEW(of, (size_t)(t->nx * t->ny));
  if (status == TL_OK) status = TL_NEW(cut, (size_t)v.points);
  for (int64_t k = 0; status == TL_OK && k < t->nx * t->ny; k++) of[k] = NO_CLASS;
  if (status == TL_OK) status = lay_polygons(o, &v, of, cut, t, call->report);
  tl_vector_free(&v);
  tl_free(path);
  tl_free(of);
  tl_free(cut);
  return status;
}

/* ---- both ---- */

static bool given(const char *text) {
  return text && text[0];
}

TlStatus tl_terrain_classes(const TlStageCall *call, const TlTerrainStage *o, TlTerrain *t) {
  int64_t count = t->nx * t->ny, gaps = 0, first = -1;
  if (!given(o->classes) && !given(o->class_polygons)) return TL_OK;
  TL_TRY(TL_NEW(t->class_id, (size_t)count));
  for (int64_t k = 0; k < count; k++) t->class_id[k] = NO_CLASS;
  if (given(o->classes)) TL_TRY(take_raster(call, o, t));
  if (given(o->class_polygons)) TL_TRY(take_polygons(call, o, t));
  for (int64_t k = 0; k < count; k++) {
    if (t->class_id[k] != NO_CLASS) continue;
    t->class_id[k] =
        o->class_default >= 0 && !isnan(t->height_m[k]) ? (int32_t)o->class_default : 0;
    if (isnan(t->height_m[k])) continue;
    if (gaps++ == 0) first = k;
  }
  if (gaps == 0 || o->class_default >= 0)
    return tl_report_int(call->report, "class_samples_of_default", gaps, "");
  double east, north;
  place_of(t, first, &east, &north);
  return tl_fail(TL_EINPUT,
                 "%s: no class at east %.10g, north %.10g, and at %lld samples in all, where there "
                 "is ground; --class-default=N fills such places",
                 given(o->class_polygons) ? o->class_polygons : o->classes, east, north,
                 (long long)gaps);
}
