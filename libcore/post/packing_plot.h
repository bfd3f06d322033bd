/* The picture of a packing: directions against the vertical, and the spread of normal forces. */
#ifndef TL_POST_PACKING_PLOT_H
#define TL_POST_PACKING_PLOT_H

#include "post/packing_fabric.h"
#include "post/packing_forces.h"

typedef struct TlPackingPlot {
  const char *fabric, *forces;        /* tables: fabric.csv, forces.csv */
  double anisotropy[TL_FABRIC_KINDS]; /* NaN: no such directions, no curve */
  double time_s;
  TlForces spread;
} TlPackingPlot;

/* picture: PNG, by gnuplot. */
TlStatus tl_packing_plot(const TlPackingPlot *plot, const char *picture, bool overwrite);

#endif
