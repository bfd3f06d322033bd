/* From heights to a terrain: local frame, holes, narrow band (docs/theory/terrain.md).
 *
 * The zero level set is the bilinear surface over the samples (shape/heightfield.h; Tan 2024,
 * topography section, marches from there). Every point with |phi| <= band_m gets the distance to a
 * closest point of its own, found from its neighbours'; beside the outline all patches are tried.
 * Below the ground phi < 0.
 * The band is computed relative to the first sample and from heights relative to the origin, so
 * that terrains that differ by whole metres in place have the same bits; any thread count gives the
 * same.
 */
#ifndef TL_SHAPE_TERRAIN_BUILD_H
#define TL_SHAPE_TERRAIN_BUILD_H

#include "shape/terrain.h"

/* The contents of the raster; all borrowed. CRS coordinates and heights, metres, in double. */
typedef struct TlTerrainSource {
  const char *name, *crs; /* crs: WKT or "" */
  int64_t nx, ny;
  double cell_m;
  double east_m, north_m; /* of sample (0, 0), the south-west one */
  const double *height_m; /* [ny][nx], j counts to the north, NaN = no data */
} TlTerrainSource;

typedef struct TlTerrainOptions {
  double band_cells; /* half width of the band in raster cells; 2 to 100, default 3 */
  int refine;        /* band grid points a cell and axis; 1 to 16, default 1 */
  bool fill_holes;   /* fill no-data enclosed by data (harmonic); otherwise it is refused */
} TlTerrainOptions;

/* Fills terrain, which must not hold anything yet. TL_EINPUT: enclosed holes and no fill_holes (the
 * first is named by its CRS coordinates), no patch of four neighbouring samples anywhere, sizes or
 * options out of range. Release by tl_terrain_free, also after a failure.
 * Cost: about 1 us a column of a 3-cell band on one core, tiles in parallel; memory on top of the
 * terrain's own: its band once more, and a few MB a thread (docs/theory/terrain.md has the
 * numbers).
 */
TlStatus tl_terrain_build(TlTerrain *terrain, const TlTerrainSource *source,
                          const TlTerrainOptions *options);

/* Figures of a terrain for a report. */
typedef struct TlTerrainSurvey {
  int64_t samples, data, outside; /* outside: no data, after filling */
  int64_t patches;
  double z_min_m, z_max_m;  /* CRS heights */
  double slope_mean_deg;    /* area-weighted, of the patches' centres */
  double slope_quantile[3]; /* 5, 50, 95% of the patches, degrees, to 0.1 degree */
  double slope_max_deg;
  double area_m2, surface_m2; /* of the patches, in plan and along the ground */
  int64_t spikes; /* samples far above or below all eight around them: faults of a raster */
  double spike_east_m, spike_north_m, spike_m; /* of the first of them: CRS coordinates, height */
  int64_t memory_bytes;
} TlTerrainSurvey;
void tl_terrain_survey(const TlTerrain *terrain, TlTerrainSurvey *survey);

/* The narrow band of a terrain whose heights are set (called by tl_terrain_build). */

/* Fills the band's fields of terrain: spacing cell/refine, half width band_cells cells. */
TlStatus tl_terrain_band(TlTerrain *terrain, double band_cells, int refine);

#endif
