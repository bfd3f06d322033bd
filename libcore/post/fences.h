/* Virtual fences: lines across the paths of blocks (post/blocks.h), of a GIS file in any CRS. What
 * passes, with which energy, and how high a barrier there would have to be.
 *
 * A block passes a fence where its path crosses the line in plan; it counts once a fence, with the
 * largest value of its crossings, in either direction. Of a run with cells.csv the path has a point in
 * each cell (tl_blocks_paths), and speed and energy are the largest of all steps in the cell of the
 * crossing, as the maps have them. Of others the path is straight from frame to frame and its values are
 * linear. Between two points the path is an arc of gravity, no higher than the block was in that cell.
 * The height needed is that of its mass centre above the ground and its radius.
 */
#ifndef TL_POST_FENCES_H
#define TL_POST_FENCES_H

#include "post/blocks.h"
#include "post/figures.h"

/* fences.csv, a line a fence: blocks that pass, their fraction of all, those that pass above the
 * fence's height, the releases of which a block passes, their fraction of all, and mean, median, 90, 95, 99% quantiles and maximum of energy, speed and height
 * needed; passages.csv, a line a block and fence. A run of which only frames are known is warned of. source: as tl_vector_read has it, of lines; fields
 * `name` and `height_m` of the file are used where they are. Figures: fences and their passages.
 * TL_EINPUT: no lines, a height that is no number above 0. */
TlStatus tl_fences_write(const TlBlocks *blocks, const char *const *runs, const char *source,
                         const char *folder, bool overwrite, TlFigures *figures);

#endif
