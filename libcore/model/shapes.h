/* Shapes as the contact search needs them: an avatar or a closed form (closed.h), with a tree of
 * spheres over its nodes. Built once per avatar id, shared by all bodies that use it; unit scale.
 * A closed form whose points follow the contact has no nodes (node_count 0).
 */
#ifndef TL_MODEL_SHAPES_H
#define TL_MODEL_SHAPES_H

#include "model/closed.h"
#include "model/ground_shape.h"
#include "shape/avatar.h"

/* A sphere about nodes [first, first + count); preorder, `next` skips the subtree. A leaf is
 * followed by its own next. */
typedef struct TlNodeSphere {
  float x, y, z, radius;
  int32_t first, count, next;
  bool leaf;
} TlNodeSphere;
static inline TlVec3 tl_sphere_centre(const TlNodeSphere *s) {
  return tl_vec3(s->x, s->y, s->z);
}

typedef struct TlShape {
  int64_t id;
  const TlAvatar *avatar; /* borrowed; NULL: closed form */
  const TlClosedKind *closed;
  double size[TL_CLOSED_SIZES]; /* of the closed form */
  double radius_m, volume_m3;
  TlVec3 inertia_m5;
  double phi_min_face;  /* least phi on the grid's faces; INFINITY: no grid */
  double lipschitz;     /* phi >= 0 changes by no more than this a metre inside the grid */
  double lipschitz_out; /* and outside: sqrt(1 + lipschitz^2), distance to the box and phi there
                           change at right angles */
  double node_spacing;  /* mean distance of neighbouring nodes */
  double node_deficit;  /* of a ball of two cells or more that touches the surface the nearest node
                           is no farther than this: measured when balls are there, else 0 */
  int32_t node_count, sphere_count;
  int32_t *node_index;   /* numbers of the nodes in the tree's order, owned */
  TlGroundShape *ground; /* with nodes, owned; NULL: there is no relief */
  /* Owned: nodes of a closed form, by number; an avatar has its own, and behind these stand the corners
   * of a polyhedron that is searched by places, which no grid reaches. */
  TlVec3 *node;
  TlNodeSphere *sphere;
  struct TlPlaceShape *place; /* owned; NULL: nobody searches by places (model/place_shape.h) */
  bool
      borrowed; /* all arrays are another's, those of ground and place too (model/shape_shared.h) */
} TlShape;

typedef struct TlShapes {
  TlShape **shape; /* sorted by id; the structs do not move */
  size_t count, capacity;
  bool places; /* each shape that is added gets its TlPlaceShape: set before the first */
  /* With `places`: shapes get elements (model/elements.h) when a pair of them, or one at a wall, needs some. edged:
   * some wall has edges (boundary.h). Set both before the first. */
  bool surface, edged;
  bool elements; /* they do */
  bool ground;   /* shapes that are added get their TlGroundShape: set before the first */
  bool balls;    /* shapes that seek their points from others' nodes are among them (narrow.h) */
  struct TlShared
      *shared; /* borrowed; who holds arrays of avatars' shapes in common with other ranks of this
                              machine (base/shared.h): set before the first; NULL: nobody */
} TlShapes;

void tl_shapes_free(TlShapes *shapes);
const TlShape *tl_shapes_find(const TlShapes *shapes, int64_t id);
/* TL_EINPUT when the avatar is not usable (tl_avatar_check) or the id is taken. */
TlStatus tl_shapes_add(TlShapes *shapes, int64_t id, const TlAvatar *avatar);
/* The same, but not where another rank of this machine makes it now. */
TlStatus tl_shapes_try_add(TlShapes *shapes, int64_t id, const TlAvatar *avatar);
/* kind->size_count sizes. */
TlStatus tl_shapes_add_closed(TlShapes *shapes, int64_t id, const TlClosedKind *kind,
                              const double *size);

/* Points alone, with the tree over them, for searches that ask for nothing else; takes `node`, owned. */
TlStatus tl_shape_of_points(TlShape **shape, TlVec3 *node, int32_t count);
void tl_shape_free(TlShape *shape); /* NULL: nothing; not one of TlShapes */

/* Do this shape's points speak for a whole pair (closed.h)? */
static inline bool tl_shape_alone(const TlShape *shape) {
  return shape->closed && shape->closed->alone;
}

/* Node number `node` (the avatar's, or the closed form's; as in keys), body frame at unit scale. */
static inline TlVec3 tl_shape_node(const TlShape *shape, int64_t node) {
  int64_t own = shape->avatar ? shape->avatar->node_count : 0;
  if (node >= own) return shape->node[node - own];
  const float *p = &shape->avatar->node_m[3 * node];
  return tl_vec3(p[0], p[1], p[2]);
}

/* phi at p in the body frame at unit scale, with its gradient (may be NULL). */
double tl_shape_phi(const TlShape *shape, TlVec3 p, TlVec3 *gradient);
/* Within radius of p phi never falls under low where low >= 0, nor passes high (unit scale). */
typedef struct TlPhiRange {
  double low, high;
} TlPhiRange;
TlPhiRange tl_shape_phi_range(const TlShape *shape, TlVec3 p, double radius);
/* The same where phi at p is known already. */
TlPhiRange tl_shape_range_of(const TlShape *shape, TlVec3 p, double phi, double radius);

#endif
