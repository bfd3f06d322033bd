/* The picture of a shear band: grains from the side, along the band's strike. */
#ifndef TL_POST_BAND_PLOT_H
#define TL_POST_BAND_PLOT_H

#include "post/bands.h"

/* folder/band.png: centres by rotation and by local deviatoric strain, small values first, and the
 * faces of the best band. Across: the horizontal direction in which it falls (x without a band); up
 * is against gravity. Nothing is drawn (a word in the log) when no grain has either. */
TlStatus tl_band_plot(const TlPacking *packing, const TlBands *bands, const char *folder,
                      bool overwrite);

#endif
