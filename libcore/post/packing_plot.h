/* Pictures of a packing by gnuplot: directions and forces, fabric, and the shear band. */
#ifndef TL_POST_PACKING_PLOT_H
#define TL_POST_PACKING_PLOT_H

#include "post/bands.h"
#include "post/packing.h"
#include "post/packing_fabric.h"
#include "post/packing_forces.h"

/* The picture of a packing: directions against the vertical, and the spread of normal forces. */

typedef struct TlPackingPlot {
  const char *fabric, *forces;        /* tables: fabric.csv, forces.csv */
  double anisotropy[TL_FABRIC_KINDS]; /* NaN: no such directions, no curve */
  double time_s;
  TlForces spread;
} TlPackingPlot;

/* picture: PNG, by gnuplot. */
TlStatus tl_packing_plot(const TlPackingPlot *plot, const char *picture, bool overwrite);

/* Pictures of fabric: for contact normals, branches and long axes (columns) the spherical histogram
 * as a rosette, whose rays are as long as the density over even, and the surface 1 + n.F'n that the
 * fabric tensor makes of it (Tan 2022 Figs. 4.21-4.24); two rows for each part of a packing. */

enum { TL_FABRIC_PLOT_PARTS = 2 };

/* folder/name, a PNG; title[parts]. Nothing is drawn (a word in the log) without any direction. */
TlStatus tl_fabric_plot(const TlPacking *packing, const TlRegion *part, const char *const *title,
                        int parts, const char *folder, const char *name, bool overwrite);

/* The picture of a shear band: grains from the side, along the band's strike. */

/* folder/band.png: centres by rotation and by local deviatoric strain, small values first, and the
 * faces of the best band. Across: the horizontal direction in which it falls (x without a band); up
 * is against gravity. Nothing is drawn (a word in the log) when no grain has either. */
TlStatus tl_band_plot(const TlPacking *packing, const TlBands *bands, const char *folder,
                      bool overwrite);

#endif
