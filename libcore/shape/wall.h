/* Rigid walls as results store them for the readers of a run: a container is several parts, one for
 * each face. The solver has its own (model/boundary.h); a test holds the two to the same distance.
 *
 * A part lies in a frame of its own: centre, and turn whose columns are its axes in the world, both
 * of the wall at rest; its drive gives its place at a time. SI, world frame.
 */
#ifndef TL_SHAPE_WALL_H
#define TL_SHAPE_WALL_H

#include "shape/drive.h"

typedef enum TlPartKind {
  TL_PART_PLANE = 0, /* z = 0, grains at z > 0; the solver's has no end. size: x, y and radius of
                        the face it stands for, 0: none */
  TL_PART_BOX,       /* grains outside; size: x, y, z */
  TL_PART_CYLINDER,  /* grains outside, axis z; size: radius, length */
  TL_PART_TUBE,      /* grains inside, axis z, no end for the solver; size: radius, length */
  TL_PART_RING,      /* a pipe, axis z; size: inner radius, length, thickness */
  TL_PART_KINDS
} TlPartKind;

typedef struct TlWallPart {
  int32_t wall;   /* number in the study's list */
  int32_t kind;   /* TlPartKind */
  int32_t inside; /* of a container; z of its planes, boxes and cylinders points into it */
  TlVec3 centre;
  TlMat3 turn;
  double size_m[3];
  TlDrive drive; /* all zero: at rest and there for ever */
} TlWallPart;

/* Signed distance of world point p, > 0 where grains may be; infinite for a wall that is absent. */
double tl_part_phi(const TlWallPart *part, const TlPlacement *place, TlVec3 p);

/* World -> the part's frame and back: points, and directions. */
static inline TlVec3 tl_part_point(const TlWallPart *part, const TlPlacement *place, TlVec3 p) {
  return tl_mat_tvec(part->turn, tl_sub(tl_placed_back(place, p), part->centre));
}
static inline TlVec3 tl_part_direction(const TlWallPart *part, const TlPlacement *place, TlVec3 d) {
  return tl_mat_tvec(part->turn, tl_mat_tvec(place->turn, d));
}
static inline TlVec3 tl_part_direction_back(const TlWallPart *part, const TlPlacement *place,
                                            TlVec3 d) {
  return tl_mat_vec(place->turn, tl_mat_vec(part->turn, d));
}

#endif
