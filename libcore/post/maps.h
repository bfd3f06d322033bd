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

#include "post/blocks.h"
#include "post/figures.h"

/* Rasters into the folder, named by quantity and statistic, ending in extension ("tif", "asc"):
 * passages, reach_probability, deposit_count, deposit_volume_m3, deposit_thickness_m, and for speed_m_s, energy_kJ,
 * translational_kJ, rotational_kJ, jump_height_m each _max, _mean, _p50, _p90, _p95, _p99 (no value
 * where nothing passed). Figures: blocks, cells passed, runs without
 * cells.csv and their largest leg in cells.
 * release_per_year: blocks that are released in a year, of which those of the runs are a sample; 0:
 * not known. With it energy_kJ_T and intensity_T (1 weak, up to 30 kJ; 2 medium, up to 300 kJ; 3
 * strong) for return periods T of 30y, 100y and 300y. */
TlStatus tl_maps_write(const TlBlocks *blocks, const char *const *runs, const char *folder,
                       const char *extension, bool overwrite, double release_per_year,
                       TlFigures *figures);

#endif
