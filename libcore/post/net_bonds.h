/* Bonds of nets, blankets and membranes, for pictures.
 *
 * Results do not hold who is bonded to whom: in a sheet neighbours lie a spacing apart in the first
 * frame and the next ones sqrt(3) of it, so bonds are the pairs nearer than 1.4 of the least distance
 * of its first sphere. Nor do they hold which bonds broke: one that is twice as long as in the first
 * frame is taken for broken.
 */
#ifndef TL_POST_NET_BONDS_H
#define TL_POST_NET_BONDS_H

#include "post/render_trace.h"

/* Pairs of the spheres at these places, by their numbers, bond[2 k] < bond[2 k + 1]; fresh memory. */
TlStatus tl_net_bonds(const TlVec3 *place, int64_t count, uint32_t **bond, int64_t *bonds);

/* The bonds of a run by its first frame. Zero is empty. */
typedef struct TlSheet {
  int64_t spheres, bonds;
  int64_t *id;      /* [spheres] of the bodies, rising; owned */
  uint32_t *bond;   /* [2 * bonds] owned */
  double *length_m; /* [bonds] in the first frame; owned */
} TlSheet;
TlStatus tl_sheet_open(const TlFrame *first, TlSheet *sheet);
void tl_sheet_free(TlSheet *sheet);
/* Adds the bonds of the frame to the tubes, which grow (TL_RESERVE): as thick as `fraction` of their
 * spheres, of this colour. Bonds of spheres that touch or nearly do, as in membranes, cannot be seen
 * and are left out. */
TlStatus tl_sheet_tubes(const TlSheet *sheet, const TlScene *scene, const TlFrame *frame,
                        double fraction, TlVec3 colour, TlTraceTube **tube, size_t *capacity,
                        int64_t *tubes);

#endif
