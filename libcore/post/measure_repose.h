/* Angle of repose of grains against a wall, as Tang 2014 section 7.4 (Fig. 14) measures it.
 *
 * The floor's rectangle is cut into `cells` along its long side and `strips` across it. In each
 * cell stands the highest surface node of any grain; in each strip a line is fitted through the
 * points (middle of the cell, height of the node) by least squares. The angle of repose is the mean
 * of the strips' slopes, its error bar the least and the largest. A cell without a node stands at
 * the floor's height. Slopes fall towards `falls`: +1 to the end of
 * the long side, -1 to its beginning. Nodes outside the rectangle do not count.
 */
#ifndef TL_POST_MEASURE_REPOSE_H
#define TL_POST_MEASURE_REPOSE_H

#include "store/results.h"

typedef struct TlReposeOptions {
  double x0_m, y0_m, x1_m, y1_m; /* corners of the floor */
  double z0_m;                   /* its height */
  int cells, strips;             /* 0: 16 and 8 */
  int falls;                     /* 0: +1 */
} TlReposeOptions;

typedef struct TlRepose {
  double mean_deg, least_deg, most_deg;
  double sd_deg;  /* standard deviation of the strips' slopes about their mean */
  int64_t filled; /* cells with a node above the floor */
} TlRepose;

/* z is up. TL_EUSAGE: a floor without area; TL_EINPUT: an avatar is missing. */
TlStatus tl_measure_repose(const TlScene *scene, const TlFrame *frame,
                           const TlReposeOptions *options, TlRepose *out);

#endif
