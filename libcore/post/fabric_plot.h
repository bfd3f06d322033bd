/* Pictures of fabric: for contact normals, branches and long axes (columns) the spherical histogram
 * as a rosette, whose rays are as long as the density over even, and the surface 1 + n.F'n that the
 * fabric tensor makes of it (Tan 2022 Figs. 4.21-4.24); two rows for each part of a packing. */
#ifndef TL_POST_FABRIC_PLOT_H
#define TL_POST_FABRIC_PLOT_H

#include "post/packing.h"

enum { TL_FABRIC_PLOT_PARTS = 2 };

/* folder/name, a PNG; title[parts]. Nothing is drawn (a word in the log) without any direction. */
TlStatus tl_fabric_plot(const TlPacking *packing, const TlRegion *part, const char *const *title,
                        int parts, const char *folder, const char *name, bool overwrite);

#endif
