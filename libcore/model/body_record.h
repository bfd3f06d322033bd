/* The fields of a body, which moves, and of its colliders, which touch: what they carry as state,
 * what follows from that, and what frames hold of both, one row a collider (model/record.h). This is
 * the one place that says what a pose is: the arrays (model/bodies.h), the bytes of messages and
 * checkpoints, and the columns of frames follow from these lists.
 *
 * Frames of coordinates: world and SI, of the centre of mass; rotation from the body's frame to the
 * world. The body's frame lies at its centre of mass along its principal axes.
 *
 * A grain is a body with one collider that has its id and its pose. A bucket or an aggregate is a
 * body with several. World pose of a collider: centre x + R offset, rotation R turn, with centre x
 * and rotation R of the body.
 */
#ifndef TL_MODEL_BODY_RECORD_H
#define TL_MODEL_BODY_RECORD_H

#include "model/record.h"

enum { TL_BODY_STATE = TL_SAVE | TL_HASH };

/* ---- bodies ---- */

/* State. The id comes first: records are ordered by it. */
#define TL_BODY_LIST(F, FRAME)                                                                     \
  F(int64_t, id, "", TL_BODY_STATE | TL_HALO_ONCE,                                                 \
    "unique in the run, >= 0: the lowest of its colliders' ids when it was made")                  \
  F(int32_t, parts, "", TL_BODY_STATE | TL_HALO_ONCE,                                              \
    "number of its colliders; 0: a grain, with one collider that has its id and its pose")         \
  F(TlVec3, position, "m", TL_BODY_STATE | TL_HALO_STEP, "of the centre of mass")                  \
  F(TlQuat, rotation, "1", TL_BODY_STATE | TL_HALO_STEP, "body to world, a unit quaternion")       \
  F(TlVec3, velocity, "m/s", TL_BODY_STATE | TL_HALO_STEP, "of the centre of mass")                \
  F(TlVec3, momentum, "kg m2/s", TL_BODY_STATE | TL_HALO_STEP,                                     \
    "angular momentum about the centre of mass, world frame")                                      \
  FRAME(int32_t, flags, "", TL_BODY_STATE | TL_HALO_STEP,                                          \
        "bits: 1 outside the terrain, 2 frozen, 4 of a net, 8 cannot be brought out of another, "  \
        "16 unresolved collisions, 32 guided, 64 placed as fixed",                                 \
        flags, "flags")                                                                            \
  F(double, slid, "m", TL_BODY_STATE | TL_HALO_STEP,                                               \
    "distance slid on boundaries, as far as it is remembered (materials: slip_per_m)")             \
  F(double, slid_decay, "1/s", TL_BODY_STATE | TL_HALO_STEP,                                       \
    "how fast the last boundary that it touched lets it forget")                                   \
  F(double, drag, "1/s", TL_BODY_STATE | TL_HALO_STEP,                                             \
    "of the boundaries that it touched in the last step; 0: none")                                 \
  F(double, scar_per_m, "1/m", TL_BODY_STATE | TL_HALO_STEP,                                       \
    "drag of the scar it is in, over mass and the square of its speed; 0: none")                   \
  F(int32_t, strained, "", TL_BODY_STATE | TL_HALO_STEP,                                           \
    "consecutive steps with an overlap above unresolved.overlap_share of the study")               \
  F(int32_t, unresolved, "", TL_BODY_STATE | TL_HALO_STEP,                                         \
    "consecutive steps in which the solver could not end the collisions of one of its contacts")   \
  F(int64_t, asleep, "", TL_BODY_STATE | TL_HALO_STEP,                                             \
    "1 + the lowest id of the bodies that fell asleep together (solve/sleep.h); 0: it is awake")   \
  F(int32_t, quiet, "", TL_BODY_STATE, "consecutive steps in which it was at rest")                \
  F(int64_t, work, "ns", TL_SAVE,                                                                  \
    "what the search about it and its motion cost a step, by counts (solve/audit.h), mean of "     \
    "about the last 16: what ranks are balanced by, and no result depends on; 0 on one rank")      \
  F(int64_t, solve_work, "ns", TL_SAVE, "likewise: its part of the solve of its contacts")         \
  F(TlVec3, solve_at, "m", TL_SAVE,                                                                \
    "where the solve of its contacts weighs when space is cut (solve/islands.h); not where "       \
    "solve_work is 0")
#define TL_BODY_FIELDS(F) TL_BODY_LIST(F, F)

/* Follows from state and shapes; filled by tl_step_refresh (solve/step.h), but `first`. */
#define TL_BODY_DERIVED(F)                                                                         \
  F(int64_t, first, "", 0, "place of its first collider; the others follow by id")                 \
  F(double, mass, "kg", 0, "")                                                                     \
  F(double, inverse_mass, "1/kg", 0, "0 when frozen")                                              \
  F(TlVec3, inertia, "kg m2", 0, "principal moments")                                              \
  F(TlVec3, inverse_inertia, "1/(kg m2)", 0, "0 when frozen")                                      \
  F(double, radius, "m", 0, "of the sphere about the centre that holds all its colliders")         \
  F(double, halo, "m", 0,                                                                          \
    "ghosts are chosen this far out: its colliders' reach, or half the longest bond")

/* ---- colliders ---- */

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
  FRAME(TlVec3, spin, "rad/s", 0, "angular velocity, world frame", spin_rad_s, "spin_rad_s")       \
  FRAME(int64_t, aggregate, "", TL_LATER,                                                          \
        "lowest id of the bodies of its aggregate (model reduction); -1: it moves for itself",     \
        aggregate, "aggregate")

#define TL_NO_COLUMN(...)
/* The columns of frames: FRAME(type, name, unit, attributes, meaning, member, column). */
#define TL_FRAME_FIELDS(FRAME)                                                                     \
  TL_COLLIDER_LIST(TL_NO_COLUMN, FRAME)                                                            \
  TL_COLLIDER_PLACE_LIST(TL_NO_COLUMN, FRAME)                                                      \
  TL_COLLIDER_COMPUTED_LIST(FRAME)                                                                 \
  TL_BODY_LIST(TL_NO_COLUMN, FRAME)                                                                \
  TL_COLLIDER_DERIVED_LIST(TL_NO_COLUMN, FRAME)

/* A collider in a frame, as readers get it (store/results.h). */
#define FRAME(type, name, unit, attributes, meaning, member, column) type member;
typedef struct TlBodyRow {
  TL_FRAME_FIELDS(FRAME)
} TlBodyRow;
#undef FRAME

extern const TlRecord tl_body_row_record; /* of a TlBodyRow */

#endif
