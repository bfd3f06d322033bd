/* Shapes as the contact search needs them: an avatar or a closed form (closed.h), with a tree of
 * spheres over its nodes. Built once per avatar id, shared by all bodies that use it; unit scale.
 * A closed form whose points follow the contact has no nodes (node_count 0).
 */
#ifndef TL_DEM_SHAPES_H
#define TL_DEM_SHAPES_H

#include "dem/closed.h"
#include "shape/avatar.h"

/* A sphere about nodes [first, first + count); preorder, `next` skips the subtree. A leaf is
 * followed by its own next. */
typedef struct TlNodeSphere {
  TlVec3 centre;
  double radius;
  int32_t first, count, next;
  bool leaf;
} TlNodeSphere;

typedef struct TlShape {
  int64_t id;
  const TlAvatar *avatar; /* borrowed; NULL: closed form */
  const TlClosedKind *closed;
  double size[TL_CLOSED_SIZES]; /* of the closed form */
  double radius_m, volume_m3;
  TlVec3 inertia_m5;
  double phi_min_face; /* least phi on the grid's faces */
  double lipschitz;    /* phi changes by no more than this a metre inside the grid */
  double node_spacing; /* mean distance of neighbouring nodes */
  int32_t node_count, sphere_count;
  TlVec3 *node;        /* in tree order, owned */
  int32_t *node_index; /* its number in the avatar, owned */
  TlNodeSphere *sphere;
} TlShape;

typedef struct TlShapes {
  TlShape **shape; /* sorted by id; the structs do not move */
  size_t count, capacity;
} TlShapes;

void tl_shapes_free(TlShapes *shapes);
const TlShape *tl_shapes_find(const TlShapes *shapes, int64_t id);
/* TL_EINPUT when the avatar is not usable (tl_avatar_check) or the id is taken. */
TlStatus tl_shapes_add(TlShapes *shapes, int64_t id, const TlAvatar *avatar);
/* kind->size_count sizes. */
TlStatus tl_shapes_add_closed(TlShapes *shapes, int64_t id, const TlClosedKind *kind,
                              const double *size);

/* Do this shape's points speak for a whole pair (closed.h)? */
static inline bool tl_shape_alone(const TlShape *shape) {
  return shape->closed && shape->closed->alone;
}

/* Node number `node` (as in keys), body frame at unit scale. */
TlVec3 tl_shape_node(const TlShape *shape, int64_t node);

/* phi at p in the body frame at unit scale, with its gradient (may be NULL). */
double tl_shape_phi(const TlShape *shape, TlVec3 p, TlVec3 *gradient);
/* phi lies in [low, high] everywhere within radius of p (unit scale). */
typedef struct TlPhiRange {
  double low, high;
} TlPhiRange;
TlPhiRange tl_shape_phi_range(const TlShape *shape, TlVec3 p, double radius);

#endif
