/* A packing's contacts as tubes: the network of normal forces, its force chains in colour.
 *
 * A pair of grains is a tube from centre to centre; a contact of a grain with a boundary, a net
 * or a platen is a tube from its centre to the point of contact. Diameter: thick_m at full_N, in
 * proportion to F_n (packing.h) down to a least one that can still be seen, no larger beyond
 * full_N. Links of the chains of packing_chains.h have the colour of their force, 0 to full_N; the
 * others are grey. Pairs without a normal force have none. */
#ifndef TL_POST_RENDER_CHAINS_H
#define TL_POST_RENDER_CHAINS_H

#include "post/packing.h"
#include "post/render_trace.h"

typedef struct TlChainDrawing {
  TlTraceTube *tube; /* owned */
  int64_t count;
  int64_t chains, pairs; /* force chains; pairs of grains drawn */
} TlChainDrawing;

TlStatus tl_chain_drawing(const TlPacking *packing, double full_N, double thick_m,
                          TlChainDrawing *drawing);
void tl_chain_drawing_free(TlChainDrawing *drawing);

/* What 98 of a hundred links of chains stay below; 0: there are none. */
TlStatus tl_chain_force(const TlPacking *packing, double *force_N);
/* A thickness that suits: 2/5 of the mean diameter of the grains. */
double tl_chain_thickness(const TlPacking *packing);

#endif
