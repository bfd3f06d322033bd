#include "run/gis.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/keys.h"
#include "io/vector.h"
#include "run/densities.h"
#include "run/materials.h"
#include "run/places.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct Gis {
  TlSetup *setup;
  const TlStudy *study;
  const TlTerrain *terrain;
  char *(*beside)(void *context, const char *file);
  void *context;
} Gis;

static TlStatus at_key(const Gis *g, const char *key, TlStatus status) {
  char text[1024];
  if (status != TL_EINPUT) return status;
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(g->study, TL_EINPUT, key, "%s", text);
}

static TlStatus read_file(const Gis *g, const char *source, TlVectorKind kind, TlVector *vector) {
  char *path = g->beside(g->context, source);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_vector_read(path, kind, g->terrain->crs ? g->terrain->crs : "", vector);
  tl_free(path);
  return status;
}

/* ---- fields ---- */

static bool names(const char *field, const char *key) {
  enum { SHAPEFILE = 10 }; /* letters of its names */
  return strcasecmp(field, key) == 0 ||
         (strlen(field) == SHAPEFILE && strncasecmp(field, key, SHAPEFILE) == 0);
}

/* Places come from the geometry. */
static const TlParam *param_of(const TlParam *params, size_t count, const char *field) {
  static const char *const places[] = {"position_m", "points_file", "polygon_file", "low_m",
                                       "high_m"};
  const TlParam *found = NULL;
  for (size_t i = 0; i < count && !found; i++)
    if (names(field, params[i].key)) found = &params[i];
  for (size_t i = 0; found && i < COUNT(places); i++)
    if (strcmp(found->key, places[i]) == 0) return NULL;
  return found;
}

/* The field of a density, which is no key of bodies and areas; NULL: there is none. */
static const char density_field[] = "density_kg_m3";
static const TlParam density_param = {density_field, TL_P_REAL, 0,    "kg/m3", "0",
                                      1e-3,          1e5,       NULL, "",      NULL};

static TlStatus take_density(const TlVector *v, int64_t feature, double *density) {
  *density = 0;
  for (int64_t k = 0; k < v->fields; k++) {
    const char *value = v->value[feature * v->fields + k];
    if (names(v->field[k], density_field) && value)
      TL_TRY(tl_context(tl_param_parse(&density_param, density, value), "feature %lld, field %s",
                        (long long)v->id[feature], v->field[k]));
  }
  return TL_OK;
}

static TlStatus take_fields(const TlVector *v, int64_t feature, const TlParam *params, size_t count,
                            void *base) {
  for (int64_t k = 0; k < v->fields; k++) {
    const TlParam *param = param_of(params, count, v->field[k]);
    const char *value = v->value[feature * v->fields + k];
    if (param && value)
      TL_TRY(tl_context(tl_param_parse(param, base, value), "feature %lld, field %s",
                        (long long)v->id[feature], v->field[k]));
  }
  return TL_OK;
}

/* Fields of the release area of an ensemble: the volume of its blocks, or the ends of its range. */
enum { VOLUME = 0, LEAST, MOST, VOLUMES };
static const TlParam volume_params[VOLUMES] = {
    {"volume_m3", TL_P_REAL, VOLUME * sizeof(double), "m3", "0", 1e-9, 1e9, NULL, "", NULL},
    {"least_volume_m3", TL_P_REAL, LEAST * sizeof(double), "m3", "0", 1e-9, 1e9, NULL, "", NULL},
    {"most_volume_m3", TL_P_REAL, MOST * sizeof(double), "m3", "0", 1e-9, 1e9, NULL, "", NULL}};

static TlStatus take_volumes(const Gis *g, const TlVector *v) {
  TlEnsembleSetup *e = &g->setup->ensemble;
  double volume[VOLUMES] = {0};
  TL_TRY(take_fields(v, 0, volume_params, VOLUMES, volume));
  if (volume[VOLUME] > 0) e->least_volume_m3 = e->most_volume_m3 = volume[VOLUME];
  if (volume[LEAST] > 0) e->least_volume_m3 = volume[LEAST];
  if (volume[MOST] > 0) e->most_volume_m3 = volume[MOST];
  return TL_OK;
}

/* drawn: of an area from which an ensemble draws its blocks, as many as ensemble.count says. */
static bool is_used(const char *field, const TlParam *params, size_t count, bool drawn) {
  const TlParam *param = param_of(params, count, field);
  if (names(field, density_field)) return true;
  if (drawn && param_of(volume_params, VOLUMES, field)) return true;
  return param && !(drawn && strcmp(param->key, "count") == 0);
}

static TlStatus say_fields(const char *source, const char *what, const TlVector *v,
                           const TlParam *params, size_t count, bool drawn) {
  TlGrowingText used = {0}, other = {0};
  TlStatus status = TL_OK;
  for (int64_t k = 0; status == TL_OK && k < v->fields; k++)
    status =
        tl_text_add(is_used(v->field[k], params, count, drawn) ? &used : &other, ", ", v->field[k]);
  if (status == TL_OK)
    tl_log_info("%s: %lld %s%s; fields used: %s; not used: %s", source, (long long)v->parts, what,
                v->parts == 1 ? "" : "s", used.text ? used.text : "none",
                other.text ? other.text : "none");
  tl_free(used.text);
  tl_free(other.text);
  return status;
}

/* ---- release areas ---- */

static TlStatus check_on_terrain(const Gis *g, const double low[2], const double high[2]) {
  const TlTerrain *t = g->terrain;
  double west = t->origin[0] + t->x0_m, south = t->origin[1] + t->y0_m;
  double east = west + (double)(t->nx - 1) * t->cell_m;
  double north = south + (double)(t->ny - 1) * t->cell_m;
  if (low[0] <= east && high[0] >= west && low[1] <= north && high[1] >= south) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "lies at east %.10g to %.10g, north %.10g to %.10g, and the terrain covers east "
                 "%.10g to %.10g, north %.10g to %.10g",
                 low[0], high[0], low[1], high[1], west, east, south, north);
}

static void bounds_of(const TlVector *v, double low[2], double high[2]) {
  for (int a = 0; a < 2; a++) low[a] = high[a] = v->east_north[a];
  for (int64_t i = 0; i < v->points; i++)
    for (int a = 0; a < 2; a++) {
      low[a] = fmin(low[a], v->east_north[2 * i + a]);
      high[a] = fmax(high[a], v->east_north[2 * i + a]);
    }
}

/* From the CRS into the frame of the study's positions. */
static double shift(const Gis *g, int axis) {
  return g->setup->crs == TL_CRS_TERRAIN ? 0 : g->terrain->origin[axis];
}

static void add_corner(const Gis *g, TlStudyList *polygon, const double *xy) {
  ((TlCorner *)polygon->items)[polygon->count++] =
      (TlCorner){xy[0] - shift(g, 0), xy[1] - shift(g, 1)};
}

static TlStatus take_rings(const Gis *g, const TlVector *v, TlStudyList *polygon) {
  TlCorner *corner;
  TL_TRY(TL_NEW(corner, (size_t)(v->points + 2 * v->parts)));
  *polygon = (TlStudyList){corner, 0};
  for (int64_t r = 0; r < v->parts; r++) {
    const double *xy = v->east_north + 2 * v->part[r].first;
    for (int64_t i = 0; i < v->part[r].count; i++) add_corner(g, polygon, xy + 2 * i);
    if (v->parts > 1) add_corner(g, polygon, xy);
    if (r > 0) add_corner(g, polygon, v->east_north + 2 * v->part[0].first);
  }
  return TL_OK;
}

/* Nothing starts beyond the terrain, and how often blocks come is said of the whole area. */
static void warn_of_area(const Gis *g, const char *file, const double low[2],
                         const double high[2]) {
  const TlTerrain *t = g->terrain;
  double first[2] = {t->origin[0] + t->x0_m, t->origin[1] + t->y0_m};
  double last[2] = {first[0] + (double)(t->nx - 1) * t->cell_m,
                    first[1] + (double)(t->ny - 1) * t->cell_m};
  for (int a = 0; a < 2; a++) {
    if (low[a] >= first[a] - t->cell_m && high[a] <= last[a] + t->cell_m) continue;
    tl_log_warn(
        "%s: the release area reaches beyond the terrain, from %s %.10g to %.10g, where that "
        "covers %.10g to %.10g: all blocks start on the terrain, so how often they come is "
        "to be said of that part",
        file, a ? "north" : "east", low[a], high[a], first[a], last[a]);
    return;
  }
}

static TlStatus take_release(const Gis *g, const TlVector *v) {
  TlReleaseSetup *r = &g->setup->release;
  char place[512];
  double low[2], high[2];
  bool drawn = g->setup->ensemble.count > 0;
  bounds_of(v, low, high);
  TL_TRY(check_on_terrain(g, low, high));
  warn_of_area(g, r->polygon_file, low, high);
  TL_TRY(take_rings(g, v, &r->polygon));
  if (v->features == 1) {
    double density;
    TL_TRY(take_fields(v, 0, tl_release_params, TL_RELEASE_PARAMS, r));
    TL_TRY(take_density(v, 0, &density));
    if (density > 0) g->setup->grains.density_kg_m3 = density;
    if (drawn) TL_TRY(take_volumes(g, v));
    TL_TRY(say_fields(r->polygon_file, "ring", v, tl_release_params, TL_RELEASE_PARAMS, drawn));
  } else {
    tl_log_info("%s: %lld areas; their fields are not used, for they would be those of one: "
                "'|subset=CONDITION' takes one",
                r->polygon_file, (long long)v->features);
  }
  bool boxed = tl_study_says(g->study, "release.low_m", place, sizeof place) ||
               tl_study_says(g->study, "release.high_m", place, sizeof place);
  for (int a = 0; a < 2 && !boxed; a++) {
    r->low_m[a] = low[a] - shift(g, a);
    r->high_m[a] = high[a] - shift(g, a);
  }
  tl_free(r->polygon_file);
  r->polygon_file = NULL;
  return TL_OK;
}

static TlStatus read_release(const Gis *g) {
  TlVector v = {0};
  if (!g->setup->release.polygon_file) return TL_OK;
  TlStatus status = read_file(g, g->setup->release.polygon_file, TL_VECTOR_POLYGONS, &v);
  if (status == TL_OK) status = take_release(g, &v);
  tl_vector_free(&v);
  TL_TRY(at_key(g, "release.polygon_file", status));
  TL_TRY(tl_release_check(&g->setup->release, true, g->study)); /* what the fields say */
  return tl_ensemble_check_sizes(&g->setup->ensemble, g->study);
}

/* ---- places of bodies ---- */

static TlStatus check_body(const Gis *g, const TlBodySetup *b, double height) {
  if ((b->shape != NULL) + (b->grain > 0) + (b->parts.count > 0) != 1)
    return tl_fail(TL_EINPUT, "a body wants either a shape, a grain of the catalog or parts");
  if (b->shape && tl_shapes_index(&g->setup->shapes, b->shape) < 0)
    return tl_fail(TL_EINPUT, "there is no '%s' in the list of shapes", b->shape);
  if (b->above_ground_m < 0 && isnan(height))
    return tl_fail(TL_EINPUT, "is to be set down on the ground: above_ground_m says how far above "
                              "it, in the row or as a field, or its geometry has a height");
  if (b->volume_m3 > 0 && b->scale != 1)
    return tl_fail(TL_EINPUT, "scale and volume_m3 both say how large");
  if (b->material && tl_material_named(g->setup, b->material) < 0)
    return tl_fail(TL_EINPUT, "there is no material '%s' in the list of materials", b->material);
  return TL_OK;
}

static TlStatus make_body(const Gis *g, const TlVector *v, int64_t point, const TlBodySetup *row,
                          TlBodySetup *body) {
  const double *at = v->east_north + 2 * v->part[point].first, *origin = g->terrain->origin;
  int64_t feature = v->part[point].feature;
  double height = v->height[v->part[point].first], ground, density;
  TL_TRY(tl_study_values_copy(&tl_body_row, row, body));
  TL_TRY(take_fields(v, feature, tl_body_params, TL_BODY_PARAMS, body));
  tl_free(body->points_file);
  body->points_file = NULL;
  for (int a = 0; a < 2; a++) body->position_m[a] = at[a] - shift(g, a);
  bool flat = body->above_ground_m >= 0 || isnan(height); /* above_ground_m takes its place */
  body->position_m[2] = (flat ? origin[2] : height) - shift(g, 2);
  TL_TRY(tl_context(check_on_terrain(g, at, at), "feature %lld", (long long)v->id[feature]));
  TL_TRY(tl_context(check_body(g, body, height), "feature %lld", (long long)v->id[feature]));
  if (!flat && tl_terrain_height(g->terrain, at[0] - origin[0], at[1] - origin[1], &ground, NULL) &&
      height < ground + origin[2])
    return tl_fail(
        TL_EINPUT,
        "feature %lld: its height of %.10g m is %.6g m below the ground (%.10g m); heights "
        "are metres of the terrain's; above_ground_m, in the row or as a field, "
        "sets a body down on the ground whatever its height",
        (long long)v->id[feature], height, ground + origin[2] - height, ground + origin[2]);
  TL_TRY(take_density(v, feature, &density));
  if (density > 0)
    TL_TRY(tl_context(tl_body_set_density(g->setup, body, density), "feature %lld",
                      (long long)v->id[feature]));
  return TL_OK;
}

/* Puts `more` in place of row i. */
static TlStatus replace_row(TlStudyList *rows, int64_t i, TlStudyList *more) {
  TlBodySetup *row = rows->items, *all;
  size_t left = (size_t)(rows->count - i - 1);
  TL_TRY(TL_NEW(all, (size_t)(rows->count - 1 + more->count)));
  memcpy(all, row, (size_t)i * sizeof *all);
  memcpy(all + i, more->items, (size_t)more->count * sizeof *all);
  memcpy(all + i + more->count, row + i + 1, left * sizeof *all);
  tl_study_values_free(&tl_body_row, &row[i]);
  tl_free(rows->items);
  tl_free(more->items);
  rows->items = all;
  rows->count += more->count - 1;
  *more = (TlStudyList){0};
  return TL_OK;
}

static TlStatus take_points(const Gis *g, const TlVector *v, int64_t i) {
  const TlBodySetup *row = (const TlBodySetup *)g->setup->bodies.items + i;
  TlBodySetup *body;
  TL_TRY(TL_NEW(body, (size_t)v->parts));
  TlStudyList bodies = {body, 0};
  TlStatus status = say_fields(row->points_file, "point", v, tl_body_params, TL_BODY_PARAMS, false);
  while (status == TL_OK && bodies.count < v->parts) {
    int64_t point = bodies.count++;
    status = make_body(g, v, point, row, &body[point]);
  }
  if (status == TL_OK) status = replace_row(&g->setup->bodies, i, &bodies);
  for (int64_t k = 0; k < bodies.count; k++) tl_study_values_free(&tl_body_row, &body[k]);
  tl_free(bodies.items);
  return status;
}

/* number: of the row in the study. */
static TlStatus read_points(const Gis *g, int64_t i, int64_t number) {
  const TlBodySetup *row = (const TlBodySetup *)g->setup->bodies.items + i;
  TlVector v = {0};
  char key[64];
  snprintf(key, sizeof key, "bodies.%lld.points_file", (long long)number);
  TlStatus status = read_file(g, row->points_file, TL_VECTOR_POINTS, &v);
  if (status == TL_OK) status = tl_context(take_points(g, &v, i), "%s", row->points_file);
  tl_vector_free(&v);
  return at_key(g, key, status);
}

TlStatus tl_gis_read(TlSetup *setup, const TlStudy *study, const TlTerrain *terrain,
                     char *(*beside)(void *context, const char *file), void *context) {
  const Gis g = {setup, study, terrain, beside, context};
  TL_TRY(read_release(&g));
  int64_t rows = setup->bodies.count;
  for (int64_t number = 0, i = 0; number < rows; number++) {
    int64_t after = setup->bodies.count - i - 1;
    if (((const TlBodySetup *)setup->bodies.items)[i].points_file)
      TL_TRY(read_points(&g, i, number));
    i = setup->bodies.count - after;
  }
  return TL_OK;
}
