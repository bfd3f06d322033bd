#include "shape/terrain_build.h"

#include "base/mem.h"
#include "shape/heightfield.h"
#include "shape/terrain_holes.h"

#include <inttypes.h>
#include <math.h>

static TlStatus check(const TlTerrainSource *s, const TlTerrainOptions *o) {
  if (!s->name || !s->name[0]) return tl_fail(TL_EINPUT, "a terrain needs a name");
  if (s->nx < 2 || s->ny < 2 || s->nx > INT32_MAX / 64 || s->ny > INT32_MAX / 64)
    return tl_fail(TL_EINPUT, "%" PRId64 " x %" PRId64 " samples make no terrain", s->nx, s->ny);
  if (!(s->cell_m > 0) || !isfinite(s->cell_m) || !isfinite(s->east_m) || !isfinite(s->north_m))
    return tl_fail(TL_EINPUT, "cell size %g m at (%g, %g) makes no terrain", s->cell_m, s->east_m,
                   s->north_m);
  /* Under 2 cells the trilinear cells around the surface are not whole. */
  if (!(o->band_cells >= 2 && o->band_cells <= 100))
    return tl_fail(TL_EINPUT, "band of %g cells: 2 to 100 are possible", o->band_cells);
  if (o->refine < 1 || o->refine > 16)
    return tl_fail(TL_EINPUT, "refinement %d: 1 to 16 are possible", o->refine);
  return TL_OK;
}

/* The origin: whole metres just below and south-west of everything. */
static TlStatus set_frame(TlTerrain *t, const TlTerrainSource *s) {
  double low = INFINITY, high = -INFINITY;
  for (int64_t at = 0; at < s->nx * s->ny; at++) {
    low = s->height_m[at] < low ? s->height_m[at] : low;
    high = s->height_m[at] > high ? s->height_m[at] : high;
  }
  if (!(low <= high)) return tl_fail(TL_EINPUT, "all samples are no-data: there is no ground");
  if (!isfinite(low) || !isfinite(high) || (high - low) / s->cell_m > 1e7)
    return tl_fail(TL_EINPUT, "heights from %g to %g m make no terrain", low, high);
  t->origin[0] = floor(s->east_m);
  t->origin[1] = floor(s->north_m);
  t->origin[2] = floor(low);
  t->nx = s->nx;
  t->ny = s->ny;
  t->cell_m = s->cell_m;
  t->x0_m = s->east_m - t->origin[0];
  t->y0_m = s->north_m - t->origin[1];
  return TL_OK;
}

static TlStatus set_heights(TlTerrain *t, const TlTerrainSource *s) {
  TL_TRY(TL_NEW(t->height_m, (size_t)(s->nx * s->ny)));
  for (int64_t at = 0; at < s->nx * s->ny; at++)
    t->height_m[at] = (float)(s->height_m[at] - t->origin[2]);
  t->name = tl_strdup(s->name);
  t->crs = t->name ? tl_strdup(s->crs ? s->crs : "") : NULL;
  return t->crs ? TL_OK : TL_ENOMEM;
}

static TlStatus treat_holes(TlTerrain *t, bool fill) {
  TlHoles holes;
  TlStatus status = tl_holes_find(&holes, t->height_m, t->nx, t->ny);
  if (status == TL_OK && holes.holes > 0 && !fill) {
    double x = t->origin[0] + t->x0_m + (double)(holes.first % t->nx) * t->cell_m;
    double y = t->origin[1] + t->y0_m + (double)(holes.first / t->nx) * t->cell_m;
    status = tl_fail(TL_EINPUT,
                     "%" PRId64 " hole%s of no-data (%" PRId64 " samples) enclosed by data, the "
                     "first at (%.10g, %.10g); mend the raster, crop it, or say --fill-holes",
                     holes.holes, holes.holes > 1 ? "s" : "", holes.samples, x, y);
  } else if (status == TL_OK) {
    status = tl_holes_fill(&holes, t->height_m, t->nx, t->ny);
    t->holes_filled = holes.samples;
    if (status == TL_OK && holes.samples > 0) status = TL_NEW(t->filled, (size_t)(t->nx * t->ny));
    for (int64_t k = 0; status == TL_OK && k < holes.samples; k++) t->filled[holes.index[k]] = 1;
  }
  tl_free(holes.index);
  return status;
}

TlStatus tl_terrain_build(TlTerrain *terrain, const TlTerrainSource *source,
                          const TlTerrainOptions *options) {
  *terrain = (TlTerrain){0};
  TlStatus status = check(source, options);
  if (status == TL_OK) status = set_frame(terrain, source);
  if (status == TL_OK) status = set_heights(terrain, source);
  if (status == TL_OK) status = treat_holes(terrain, options->fill_holes);
  if (status == TL_OK) status = tl_terrain_band(terrain, options->band_cells, options->refine);
  if (status != TL_OK) tl_terrain_free(terrain);
  return status;
}

/* ---- survey ---- */

enum { BINS = 900 }; /* of 0.1 degree */

static double quantile(const int64_t bins[BINS], int64_t total, double part) {
  int64_t seen = 0;
  for (int b = 0; b < BINS; b++) {
    seen += bins[b];
    if ((double)seen >= part * (double)total) return 0.1 * (b + 0.5);
  }
  return 0;
}

static void survey_heights(const TlTerrain *t, TlTerrainSurvey *s) {
  float low = INFINITY, high = -INFINITY;
  s->samples = t->nx * t->ny;
  for (int64_t at = 0; at < s->samples; at++) {
    float z = t->height_m[at];
    s->data += !isnan(z);
    low = z < low ? z : low;
    high = z > high ? z : high;
  }
  s->outside = s->samples - s->data;
  s->z_min_m = t->origin[2] + low;
  s->z_max_m = t->origin[2] + high;
}

static void survey_slopes(const TlTerrain *t, TlTerrainSurvey *s) {
  TlHeightfield field = {t->nx, t->ny, t->height_m, 1 / t->cell_m};
  int64_t bins[BINS] = {0};
  TlPatch p;
  for (int64_t j = 0; j < t->ny - 1; j++)
    for (int64_t i = 0; i < t->nx - 1; i++) {
      if (!tl_heightfield_patch(&field, i, j, &p)) continue;
      double rise = hypot(p.b + 0.5 * p.d, p.c + 0.5 * p.d);
      double slope = atan(rise) * TL_DEG;
      bins[slope >= 90 ? BINS - 1 : (int)(slope * 10)]++;
      s->patches++;
      s->slope_mean_deg += slope;
      s->slope_max_deg = fmax(s->slope_max_deg, slope);
      s->surface_m2 += sqrt(1 + rise * rise);
    }
  double cell2 = t->cell_m * t->cell_m;
  s->slope_mean_deg /= (double)s->patches;
  s->area_m2 = cell2 * (double)s->patches;
  s->surface_m2 *= cell2;
  s->slope_quantile[0] = quantile(bins, s->patches, 0.05);
  s->slope_quantile[1] = quantile(bins, s->patches, 0.5);
  s->slope_quantile[2] = quantile(bins, s->patches, 0.95);
}

/* How far a sample lies above the highest of those around it, or below the lowest. */
static double stands_out(const TlTerrain *t, int64_t i, int64_t j) {
  double low = INFINITY, high = -INFINITY, z = t->height_m[j * t->nx + i];
  for (int64_t v = j - 1; v <= j + 1; v++)
    for (int64_t u = i - 1; u <= i + 1; u++) {
      double other = t->height_m[v * t->nx + u];
      if ((u == i && v == j) || isnan(other)) continue;
      low = fmin(low, other);
      high = fmax(high, other);
    }
  return fmax(z - high, low - z);
}

/* No rock needle is as thin as a cell and stands 100 m, and five cells, out. */
static void survey_spikes(const TlTerrain *t, TlTerrainSurvey *s) {
  double least = fmax(100, 5 * t->cell_m);
  for (int64_t j = 1; j < t->ny - 1; j++)
    for (int64_t i = 1; i < t->nx - 1; i++) {
      if (!(stands_out(t, i, j) > least)) continue; /* nor where there is no height */
      if (s->spikes++ > 0) continue;
      s->spike_east_m = t->origin[0] + t->x0_m + (double)i * t->cell_m;
      s->spike_north_m = t->origin[1] + t->y0_m + (double)j * t->cell_m;
      s->spike_m = t->origin[2] + t->height_m[j * t->nx + i];
    }
}

void tl_terrain_survey(const TlTerrain *terrain, TlTerrainSurvey *survey) {
  *survey = (TlTerrainSurvey){0};
  survey_heights(terrain, survey);
  survey_slopes(terrain, survey);
  survey_spikes(terrain, survey);
  survey->memory_bytes =
      4 * survey->samples + 16 * terrain->bnx * terrain->bny + 4 * terrain->band_count;
}
