/* Fabric and forces inside and outside of the band over all frames, the band where the last frame
 * has it (Tan 2022 section 4.6.4 keeps it where it is at 16% axial shortening): band_frames.csv,
 * with the columns of packing_fabric.h and packing_forces.h twice, with inside_ and outside_ in
 * front. */
#ifndef TL_POST_PACKING_SIDES_H
#define TL_POST_PACKING_SIDES_H

#include "io/csv.h"
#include "post/band.h"

/* Fresh memory; NULL when it is out. */
char *tl_sides_header(void);
TlStatus tl_sides_line(TlCsv *csv, const TlFrame *frame, const TlPacking *packing,
                       const TlRegion *region, const TlBand *band);
/* folder/band_frames.png from that table: anisotropy and sliding fractions of both sides over time.
 * Nothing is drawn (a word in the log) when a side has no value in any frame. */
TlStatus tl_sides_plot(const char *folder, bool overwrite);

#endif
