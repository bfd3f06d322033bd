/* How far a packing is from equilibrium: unbalanced force.
 *
 * Mean over the moving grains in the region of |sum of contact forces + weight|, over the mean size
 * of the forces at contact points of those grains. 0 at rest; about 1 in free flight with touches.
 */
#ifndef TL_POST_PACKING_BALANCE_H
#define TL_POST_PACKING_BALANCE_H

#include "post/packing.h"

/* NaN without contacts. */
TlStatus tl_balance(const TlPacking *packing, const TlRegion *region, double *unbalanced);

#endif
