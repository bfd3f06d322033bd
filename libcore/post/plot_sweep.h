/* The plot of a sweep of labelling: grains found against h, the chosen h marked. */
#ifndef TL_POST_PLOT_SWEEP_H
#define TL_POST_PLOT_SWEEP_H

#include "base/status.h"

#include <stdbool.h>

/* table: CSV with the columns h_voxels, grains; picture: PNG. */
TlStatus tl_plot_sweep(const char *table, double chosen, const char *picture, bool overwrite);

#endif
