/* Fewer nodes: every N-th of an avatar (Tan 2022 4.5.1).
 *
 * Nodes 0, N, 2N, ... stay, each with the areas of all nodes that it is the nearest of those to, so
 * the areas still sum to the surface's. Grid, mass and bounds stay as they are. A contact search
 * costs in proportion to the nodes; what lies between them is missed, so corners sink in deeper,
 * and a law of a force a node (not of a surface) becomes N times as soft.
 */
#ifndef TL_SHAPE_THIN_H
#define TL_SHAPE_THIN_H

#include "shape/avatar.h"

/* out: a fresh avatar, for tl_avatar_free. TL_EINPUT when fewer than 4 nodes would be left. */
TlStatus tl_avatar_thin(const TlAvatar *avatar, int64_t every, TlAvatar *out);

#endif
