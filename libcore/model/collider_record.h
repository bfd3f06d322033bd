/* The fields of a collider, which touches: the shape, size and material of a part of a body and
 * where it lies in it; what follows from that and from the body's pose; and what frames hold of
 * both, one row a collider (model/record.h).
 *
 * A grain is a body (model/body_record.h) with one collider that has its id and its pose. A bucket
 * or an aggregate is a body with several. World pose of a collider: centre x + R offset, rotation
 * R turn, with centre x and rotation R of the body.
 */
#ifndef TL_MODEL_COLLIDER_RECORD_H
#define TL_MODEL_COLLIDER_RECORD_H

#include "model/body_record.h"

/* State that a grain's collider need not have: it is its body's. The ids come first: records are
 * ordered by them. */
#define TL_COLLIDER_POSE_LIST(F, FRAME)                                                            \
  FRAME(int64_t, body_id, "", TL_BODY_STATE | TL_HALO_ONCE | TL_LATER,                             \
        "id of its body; frames of older versions have none: there each grain is a body of its "   \
        "own",                                                                                     \
        body, "body")                                                                              \
  FRAME(int64_t, id, "", TL_BODY_STATE | TL_HALO_ONCE,                                             \
        "unique in the run, >= 0; that of the grain, of whatever body it is part", id, "id")       \
  F(TlVec3, offset, "m", TL_BODY_STATE | TL_HALO_ONCE, "its centre in the body's frame")           \
  F(TlQuat, turn, "1", TL_BODY_STATE | TL_HALO_ONCE, "its frame to the body's, a unit quaternion")
#define TL_COLLIDER_SHAPE_LIST(F, FRAME)                                                           \
  FRAME(int64_t, avatar_id, "", TL_BODY_STATE | TL_HALO_ONCE | TL_GRAIN, "key of the shape",       \
        avatar_id, "avatar_id")                                                                    \
  FRAME(double, scale, "1", TL_BODY_STATE | TL_HALO_ONCE | TL_GRAIN,                               \
        "s: lengths grow by s, mass by s^3, moments of inertia by s^5", scale, "scale")            \
  FRAME(int32_t, material, "", TL_BODY_STATE | TL_HALO_ONCE | TL_GRAIN | TL_LATER,                 \
        "number in the table of materials; 0 in frames of older versions, which have none",        \
        material, "material")
#define TL_COLLIDER_LIST(F, FRAME) TL_COLLIDER_POSE_LIST(F, FRAME) TL_COLLIDER_SHAPE_LIST(F, FRAME)
#define TL_COLLIDER_FIELDS(F) TL_COLLIDER_LIST(F, F)

/* Follows from state and shape; filled by tl_step_refresh (solve/step.h), but `body`. */
#define TL_COLLIDER_DERIVED_LIST(F, FRAME)                                                         \
  F(int32_t, body, "", 0, "place of its body")                                                     \
  F(const struct TlShape *, shape, "", 0, "")                                                      \
  F(double, reach, "m", 0, "radius and what the contact search adds in this step (solve/step.h)")  \
  FRAME(int32_t, contacts, "", 0, "contact points that bore on it in the last step", contacts,     \
        "contacts")
/* Likewise; of a grain its body's own. */
#define TL_COLLIDER_PLACE_LIST(F, FRAME)                                                           \
  FRAME(TlVec3, position, "m", 0, "of its centre of mass", position_m, "position_m")               \
  FRAME(TlQuat, rotation, "1", 0, "its frame to the world, a unit quaternion", rotation,           \
        "rotation_wxyz")                                                                           \
  F(double, radius, "m", 0, "of the sphere about its centre that holds the surface")
/* Computed for frames only. */
#define TL_COLLIDER_COMPUTED_LIST(FRAME)                                                           \
  FRAME(TlVec3, velocity, "m/s", 0, "of its centre of mass", velocity_m_s, "velocity_m_s")         \
  FRAME(TlVec3, spin, "rad/s", 0, "angular velocity, world frame", spin_rad_s, "spin_rad_s")

#define TL_NO_COLUMN(...)
/* The columns of frames: FRAME(type, name, unit, attributes, meaning, member, column). */
#define TL_FRAME_FIELDS(FRAME)                                                                     \
  TL_COLLIDER_LIST(TL_NO_COLUMN, FRAME)                                                            \
  TL_COLLIDER_PLACE_LIST(TL_NO_COLUMN, FRAME)                                                      \
  TL_COLLIDER_COMPUTED_LIST(FRAME)                                                                 \
  TL_BODY_LIST(TL_NO_COLUMN, FRAME)                                                                \
  TL_COLLIDER_DERIVED_LIST(TL_NO_COLUMN, FRAME)

#define F(type, name, ...) type name;
typedef struct TlColliderState {
  TL_COLLIDER_FIELDS(F)
} TlColliderState;

/* A body with one collider of its id and at its pose. */
typedef struct TlGrainState {
  TL_BODY_FIELDS(F)
  TL_COLLIDER_SHAPE_LIST(F, F)
} TlGrainState;
#undef F

/* A collider in a frame, as readers get it (store/results.h). */
#define FRAME(type, name, unit, attributes, meaning, member, column) type member;
typedef struct TlBodyRow {
  TL_FRAME_FIELDS(FRAME)
} TlBodyRow;
#undef FRAME

extern const TlRecord tl_collider_record; /* of a TlColliderState */
extern const TlRecord tl_body_row_record; /* of a TlBodyRow */

#endif
