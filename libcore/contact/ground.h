/* Contact of a grain with a relief: a boundary that consists of bilinear patches between samples
 * (model/boundary.h), felt as its own surface and not through an interpolated distance
 * (docs/theory/terrain.md).
 *
 * Points of a grain at the ground (gap, p on the grain's surface, n out of the ground):
 *   nodes    of its surface with their true distances to the patches, as on any boundary (near.h);
 *   places   where a smooth grain is nearest to a patch between its nodes. The patch is carried on
 *            beyond its square; F = phi of the grain + height above the patch along its normal is
 *            lowered by Newton's method from every node that lies lower than its neighbours. A place
 *            counts if its foot lies in the patch; it takes the place of the node it started from;
 *   creases  convex lines between two patches, and the outline: where phi of the grain is least along
 *            the line, if the normal there lies between those of the two patches;
 *   vertices convex samples: phi of the grain there, if no line from the sample rises along n.
 * Where one of these hands over to the next their gaps and normals agree, so a grain rolls smoothly from
 * patch to patch. A sphere has its nearest point on each patch in closed form and no nodes. A cylinder
 * keeps the points that follow its contact. Boxes have their corners among their nodes.
 *
 * No memory: what is found is a function of the pose alone. Keys are those of the node, or of the feature
 * and the node it was found from (TL_GROUND_KEY is set), stable from step to step. Metres, world frame.
 */
#ifndef TL_CONTACT_GROUND_H
#define TL_CONTACT_GROUND_H

#include "contact/near.h"

/* Set in keys of points that are no nodes. */
#define TL_GROUND_KEY ((int64_t)1 << 61)

/* A collider at a boundary whose kind has a relief; what tl_ground_points appends is what testing every node
 * (all) finds, bit for bit, whatever list or note is kept. */
typedef struct TlGroundQuery {
  const TlColliders *colliders;
  int64_t collider;
  const TlMat3 *turn;
  const TlBoundary *boundary;
  TlNearWall **list; /* NULL: none is kept */
  double travel;     /* displacement of a step, about */
  bool all;          /* with list NULL: test every node */
} TlGroundQuery;
TlStatus tl_ground_points(const TlGroundQuery *query, TlWanted *wanted, TlPoints *points);
/* As tl_narrow_deepest: the deepest node. */
bool tl_ground_deepest(const TlColliders *colliders, int64_t body, TlVec3 position, TlQuat rotation,
                       const TlBoundary *boundary, double margin, TlPoint *deepest);

#endif
