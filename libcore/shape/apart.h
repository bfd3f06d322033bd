/* The test that two placed avatars keep clear of each other, for placing grains, not for contacts.
 *
 * Nodes of either against phi of the other, with a margin of half the mean node distance, so that
 * sharp edges that cross between nodes are found as well (two straight edges of 90 degrees that
 * cross at right angles half way between their nodes reach that deep before a node does). True
 * means clear by `gap_m` wherever a node is.
 */
#ifndef TL_SHAPE_APART_H
#define TL_SHAPE_APART_H

#include "shape/avatar.h"

typedef struct TlPlaced {
  const TlAvatar *avatar; /* borrowed */
  double ball_m;          /* > 0: it is a sphere of this radius at unit scale, exactly */
  double scale;
  TlVec3 position;
  TlMat3 rotation; /* body -> world */
} TlPlaced;

/* Half the mean distance of its nodes; 0 for a ball. */
double tl_placed_margin(const TlPlaced *p);
/* Distance of world point x from its surface, < 0 inside. */
double tl_placed_phi(const TlPlaced *p, TlVec3 x);
/* Radius of the sphere about the centre that holds it. */
double tl_placed_radius(const TlPlaced *p);
bool tl_placed_apart(const TlPlaced *a, const TlPlaced *b, double gap_m);
/* Extents of the surface about the centre, world axes. */
void tl_placed_extents(const TlPlaced *p, TlVec3 *low, TlVec3 *high);
/* World point of surface point i of tl_placed_points(p): nodes, or of a ball its centre, from which
 * the surface is *beyond m away. */
int32_t tl_placed_points(const TlPlaced *p);
TlVec3 tl_placed_point(const TlPlaced *p, int32_t i, double *beyond);

#endif
