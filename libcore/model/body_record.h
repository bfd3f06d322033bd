/* The fields of a body, which moves: what it carries as state, and what follows from that
 * (model/record.h). What touches are its colliders (model/collider_record.h). Frames of coordinates:
 * world and SI, of the centre of mass; rotation from the body's frame to the world.
 *
 * The body's frame lies at its centre of mass along its principal axes.
 */
#ifndef TL_MODEL_BODY_RECORD_H
#define TL_MODEL_BODY_RECORD_H

#include "model/record.h"

enum { TL_BODY_STATE = TL_SAVE | TL_HASH };

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
        "16 unresolved collisions, 32 guided",                                                     \
        flags, "flags")                                                                            \
  F(double, slid, "m", TL_BODY_STATE | TL_HALO_STEP,                                               \
    "way slid on boundaries, as far as it is remembered (materials: slip_per_m)")                  \
  F(double, slid_decay, "1/s", TL_BODY_STATE | TL_HALO_STEP,                                       \
    "how fast the last boundary that it touched lets it forget")                                   \
  F(double, drag, "1/s", TL_BODY_STATE | TL_HALO_STEP,                                             \
    "of the boundaries that it touched in the last step; 0: none")                                 \
  F(double, scar_per_m, "1/m", TL_BODY_STATE | TL_HALO_STEP,                                       \
    "drag of the scar it is in, over mass and the square of its speed; 0: none")                   \
  F(int32_t, strained, "", TL_BODY_STATE | TL_HALO_STEP,                                           \
    "consecutive steps with an overlap above unresolved.overlap_share of the study")               \
  F(int32_t, unresolved, "", TL_BODY_STATE | TL_HALO_STEP,                                         \
    "consecutive steps in which the solver could not end the collisions of one of its contacts")
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

#define F(type, name, ...) type name;
typedef struct TlBodyState {
  TL_BODY_FIELDS(F)
} TlBodyState;
#undef F

extern const TlRecord tl_body_record; /* of a TlBodyState */

#endif
