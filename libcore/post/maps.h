/* Maps of where blocks pass and stop: rasters on the cells and CRS of the raster that the terrain came
 * from, of one run or of many runs over it.
 *
 * Of runs that have cells.csv (run/cells.h) the maps hold every step: a block passes a cell when its
 * mass centre was in it after some step. Of others a block's path is the polyline through its mass
 * centres of successive frames (post/blocks.h), from the first frame that has it to the last, or to
 * the place where it left, and it passes a cell when its path does; along a leg speed, energies and
 * the height of the mass centre are linear, so a frame's values are met exactly and what happened
 * between frames is not seen (a flight's arc is up to g dt^2/8 higher). Each block gives each cell
 * that it passes its largest value there; mean and quantiles of a cell are over these blocks.
 */
#ifndef TL_POST_MAPS_H
#define TL_POST_MAPS_H

#include "io/raster.h"
#include "post/blocks.h"
#include "post/figures.h"

/* Rasters into the folder, named by quantity and statistic, ending in extension ("tif", "asc"):
 * passages (of blocks), reach_probability (of releases, of which a block passes), deposit_count, deposit_volume_m3, deposit_thickness_m, and for speed_m_s, energy_kJ,
 * translational_kJ, rotational_kJ, jump_height_m each _max, _mean, _p50, _p90, _p95, _p99 (no value
 * where nothing passed); where samples of the terrain were filled, filled_ground (1 there, no value
 * elsewhere). Each .tif says what it shows, in which unit, and how the runs ended (tl_maps_caption); beside them
 * maps.txt says the latter, too. Figures: blocks, how many stopped on filled ground, cells passed, runs without cells.csv
 * and their largest leg in cells.
 *
 * With a frequency (release_per_year above 0) energy_kJ_T and intensity_T (1 weak, up to 30 kJ; 2 medium, up to 300 kJ;
 * 3 strong) for return periods T of 30y, 100y and 300y; with a matrix also danger: 1 residual (blocks come more rarely
 * than once in 300 years), 2 low (yellow), 3 medium (blue), 4 high (red), the highest of the three periods, as .tif with
 * these colours; figures danger_cells_*. */
typedef struct TlMapOptions {
  const char *folder, *extension;
  bool overwrite;
  double
      release_per_year; /* releases in a year, of which those of the runs are a sample; 0: not known */
  const char *
      danger; /* the matrix, "rrr/bby/byy": letters r, b, y of strong, medium and weak intensity, each
                              for events of up to 30, 100 and 300 years; NULL: none */
} TlMapOptions;

/* TL_EUSAGE: a matrix that is none. TL_EINPUT: a matrix without a frequency. */
TlStatus tl_maps_write(const TlBlocks *blocks, const char *const *runs, const TlMapOptions *options,
                       TlFigures *figures);

/* What each block did in each cell: of cells.csv where the run has one, else of its path from frame to frame. One entry
 * a cell and block, by cell, then block. Fresh memory. largest_leg: of a path from frame to frame, in cells. */
TlStatus tl_maps_cells(const TlBlocks *blocks, const char *const *runs, TlBlockCell **entry,
                       int64_t *entries, double *largest_leg);
/* What the runs say of themselves, a line a run (post/run_caption.h), for the image description of their rasters; fresh
 * memory. */
TlStatus tl_maps_caption(const TlBlocks *blocks, const char *const *runs, char **text);

/* A raster over the terrain's cells, NAME.EXTENSION in the folder; values [ny][nx] of tl_terrain_grid. */
typedef struct TlMapFile {
  const char *folder, *extension;
  bool overwrite;
  const char *name, *unit;
  const char *meaning, *caption; /* one after the other, its image description; NULL: none */
  const TlRasterColour *colour;
  int colours;
} TlMapFile;
TlStatus tl_maps_raster(const TlBlocks *blocks, const TlMapFile *file, double *value);

#endif
