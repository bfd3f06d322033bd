/* The fields of a body: what it carries as state, what follows from that, and what frames hold of
 * both (model/record.h). Frames of coordinates: world and SI, of the centre of mass; rotation body
 * to world.
 */
#ifndef TL_MODEL_BODY_RECORD_H
#define TL_MODEL_BODY_RECORD_H

#include "model/record.h"

enum { TL_BODY_STATE = TL_SAVE | TL_HASH };

/* State. The id comes first: records are ordered by it. */
#define TL_BODY_LIST(F, FRAME)                                                                     \
  FRAME(int64_t, id, "", TL_BODY_STATE | TL_HALO_ONCE, "unique in the run, >= 0", id, "id")        \
  FRAME(int64_t, avatar_id, "", TL_BODY_STATE | TL_HALO_ONCE, "key of the shape", avatar_id,       \
        "avatar_id")                                                                               \
  FRAME(double, scale, "1", TL_BODY_STATE | TL_HALO_ONCE,                                          \
        "s: lengths grow by s, mass by s^3, moments of inertia by s^5", scale, "scale")            \
  FRAME(TlVec3, position, "m", TL_BODY_STATE | TL_HALO_STEP, "of the centre of mass", position_m,  \
        "position_m")                                                                              \
  FRAME(TlQuat, rotation, "1", TL_BODY_STATE | TL_HALO_STEP, "body to world, a unit quaternion",   \
        rotation, "rotation_wxyz")                                                                 \
  FRAME(TlVec3, velocity, "m/s", TL_BODY_STATE | TL_HALO_STEP, "of the centre of mass",            \
        velocity_m_s, "velocity_m_s")                                                              \
  F(TlVec3, momentum, "kg m2/s", TL_BODY_STATE | TL_HALO_STEP,                                     \
    "angular momentum about the centre of mass, world frame")                                      \
  FRAME(int32_t, flags, "", TL_BODY_STATE | TL_HALO_STEP,                                          \
        "bits: 1 outside the terrain, 2 frozen, 4 of a net, 8 cannot be brought out of another, "  \
        "16 had collisions without an end, 32 guided",                                             \
        flags, "flags")                                                                            \
  F(int32_t, strained, "", TL_BODY_STATE | TL_HALO_STEP,                                           \
    "steps in a row with an overlap above the solver's poor_share")                                \
  F(int32_t, jammed, "", TL_BODY_STATE | TL_HALO_STEP,                                             \
    "steps in a row in which the collisions of a contact of it found no end")                      \
  FRAME(int32_t, material, "", TL_BODY_STATE | TL_HALO_ONCE | TL_LATER,                            \
        "number in the table of materials; 0 in frames of older versions, which have none",        \
        material, "material")
#define TL_BODY_FIELDS(F) TL_BODY_LIST(F, F)

/* Follows from state and shape; filled by tl_step_refresh (dem/step.h). */
#define TL_BODY_DERIVED_LIST(F, FRAME)                                                             \
  F(const struct TlShape *, shape, "", 0, "")                                                      \
  F(double, mass, "kg", 0, "")                                                                     \
  F(double, inverse_mass, "1/kg", 0, "0 when frozen")                                              \
  F(TlVec3, inertia, "kg m2", 0, "principal moments")                                              \
  F(TlVec3, inverse_inertia, "1/(kg m2)", 0, "0 when frozen")                                      \
  F(double, radius, "m", 0, "of the sphere about the centre that holds the surface")               \
  F(double, reach, "m", 0, "radius and what the contact search adds in this step (dem/step.h)")    \
  F(double, halo, "m", 0, "ghosts are chosen this far out: reach, or half the longest bond")       \
  FRAME(int32_t, contacts, "", 0, "contact points that bore on it in the last step", contacts,     \
        "contacts")
#define TL_BODY_DERIVED(F) TL_BODY_DERIVED_LIST(F, F)

/* Computed for frames only. */
#define TL_BODY_COMPUTED_LIST(FRAME)                                                               \
  FRAME(TlVec3, spin, "rad/s", 0, "angular velocity, world frame", spin_rad_s, "spin_rad_s")

#define TL_BODY_NO_COLUMN(...)
/* The columns of frames: FRAME(type, name, unit, attributes, meaning, member, column). */
#define TL_BODY_FRAME_FIELDS(FRAME)                                                                \
  TL_BODY_LIST(TL_BODY_NO_COLUMN, FRAME)                                                           \
  TL_BODY_DERIVED_LIST(TL_BODY_NO_COLUMN, FRAME)                                                   \
  TL_BODY_COMPUTED_LIST(FRAME)

#define F(type, name, ...) type name;
typedef struct TlBodyState {
  TL_BODY_FIELDS(F)
} TlBodyState;
#undef F

/* A body in a frame (store/results.h). */
#define FRAME(type, name, unit, attributes, meaning, member, column) type member;
typedef struct TlBodyRow {
  TL_BODY_FRAME_FIELDS(FRAME)
} TlBodyRow;
#undef FRAME

extern const TlRecord tl_body_record;     /* of a TlBodyState */
extern const TlRecord tl_body_row_record; /* of a TlBodyRow */

#endif
