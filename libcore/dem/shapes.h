/* Shapes as the contact search needs them: an avatar with a tree of spheres over its nodes, or a
 * closed-form sphere. Built once per avatar id, shared by all bodies that use it; unit scale.
 */
#ifndef TL_DEM_SHAPES_H
#define TL_DEM_SHAPES_H

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
  const TlAvatar *avatar; /* borrowed; NULL: closed-form sphere */
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
TlStatus tl_shapes_add_sphere(TlShapes *shapes, int64_t id, double radius_m);

/* phi at p in the body frame at unit scale, with its gradient (may be NULL). */
double tl_shape_phi(const TlShape *shape, TlVec3 p, TlVec3 *gradient);
/* phi lies in [low, high] everywhere within radius of p (unit scale). */
typedef struct TlPhiRange {
  double low, high;
} TlPhiRange;
TlPhiRange tl_shape_phi_range(const TlShape *shape, TlVec3 p, double radius);

#endif
