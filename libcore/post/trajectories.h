/* Where blocks went and where they stopped, for a GIS and for tables: files trajectories.X and stops.X
 * in the terrain's CRS, of one run or of several over the same terrain (post/blocks.h).
 */
#ifndef TL_POST_TRAJECTORIES_H
#define TL_POST_TRAJECTORIES_H

#include "post/blocks.h"
#include "post/figures.h"

/* extension: gpkg, geojson, csv. As vectors a block is a line (with heights) and a point with its
 * run, id, end (stopped, moving, left), whether it ended on filled ground (0, 1, none: not known), mass,
 * volume, when it stopped, horizontal distance from where it was first, largest speed, energy and jump
 * height. Lines have a point for each frame and each cell that the block came into (tl_blocks_paths). As
 * CSV trajectories have a line a block and frame. runs: names. Figures: blocks, how many stopped, move
 * and left, and how many stopped on filled ground. */
TlStatus tl_trajectories_write(const TlBlocks *blocks, const char *const *runs, const char *folder,
                               const char *extension, bool overwrite, TlFigures *figures);

#endif
