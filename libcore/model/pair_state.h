/* What is remembered of pairs: contact memory of colliders and constraints of bodies, one dense
 * array a kind.
 *
 * Each row begins with its key (low id, high id, number): the lower id, the higher one or what
 * stands in its place, and a number that tells rows of one pair apart. Rows are sorted by the key;
 * no two are alike.
 *
 * Contact memory starts the next step's solve. Its keys name colliders, which keep their ids whatever
 * body they are part of. A method keeps one kind of it, and one only
 * (solve/methods.h): impulses in N s, springs in m and N/m, or forces in N. Places and their searches
 * belong to the contact search and serve every method. What pairs of sleeping bodies remember stands in
 * kinds of its own, which no step reads before they wake (solve/sleep.h). Pairs within an aggregate keep the
 * geometry of their contacts, too (inner contacts). A body that stood although the trial would have parted it from its
 * aggregate keeps what the trial left over of it, under the id of its first collider. High is the other collider or
 * -1 - the boundary's number, number names the point by node and side (solve/contact.h).
 *
 * Constraints join two bodies, or a body and the world (high -1), until they break. Number is the
 * constraint's id, unique among those of its kind. Anchors are fixed points of each body, from its
 * centre of mass, in the body's frame; the world's are in the world frame. A method names the kinds
 * that it solves, and refuses the others by name (tl_step_check). Bonds, those of nets, are solved by all
 * methods (solve/membrane.h, solve/nonsmooth_bonds.h), sliders of a body and the world by the penalty
 * method (solve/joints.h), and all kinds by the nonsmooth method (solve/nonsmooth_joints.h, merges:
 * solve/reduction.h); all kinds are stored, saved, hashed,
 * and known to all ranks that need them.
 *
 * Ranks: each holds every row with a body that it owns, so a row of bodies of two ranks is on both.
 * The owner of the low id counts it, in sums, hash and checkpoint. The body at a constraint's other
 * end is a ghost, however far away it is (dist/halo.h).
 */
#ifndef TL_MODEL_PAIR_STATE_H
#define TL_MODEL_PAIR_STATE_H

#include "model/record.h"

#include <stdbool.h>

/* A field of a row is F(S, type, name, unit, attributes, meaning), S being the struct of its kind. */
enum { TL_PAIR_STATE = TL_SAVE | TL_HASH };

#define TL_PAIR_KEY_FIELDS(F, S, other, what)                                                      \
  F(S, int64_t, low, "", TL_PAIR_STATE, "lower id of the pair")                                    \
  F(S, int64_t, high, "", TL_PAIR_STATE, other)                                                    \
  F(S, int64_t, number, "", TL_PAIR_STATE, what)
#define TL_CONTACT_KEY_FIELDS(F, S)                                                                \
  TL_PAIR_KEY_FIELDS(F, S, "higher id, or -1 - number of the boundary",                            \
                     "node and side of the point")
#define TL_CONSTRAINT_KEY_FIELDS(F, S)                                                             \
  TL_PAIR_KEY_FIELDS(F, S, "higher id, or -1: the world", "id of the constraint")
#define TL_ANCHOR_FIELDS(F, S)                                                                     \
  F(S, TlVec3, anchor_low, "m", TL_PAIR_STATE, "fixed in the low body's frame, from its centre")   \
  F(S, TlVec3, anchor_high, "m", TL_PAIR_STATE, "fixed in the high body's frame, or in the world")

/* What the nonsmooth method starts its next solve from. */
#define TL_REACTION_FIELDS(F, S)                                                                   \
  F(S, TlVec3, force, "N", TL_PAIR_STATE,                                                          \
    "nonsmooth: on the low body in the last step, world frame")                                    \
  F(S, TlVec3, moment, "N m", TL_PAIR_STATE, "nonsmooth: about the low anchor, likewise")

#define TL_IMPULSE_FIELDS(F, S)                                                                    \
  TL_CONTACT_KEY_FIELDS(F, S)                                                                      \
  F(S, TlVec3, impulse, "N s", TL_PAIR_STATE, "of the resting solve on the low body, world frame")
#define TL_SPRING_FIELDS(F, S)                                                                     \
  TL_CONTACT_KEY_FIELDS(F, S)                                                                      \
  F(S, TlVec3, displacement, "m", TL_PAIR_STATE, "tangential, of the low body, world frame")       \
  F(S, TlVec3, normal, "1", TL_PAIR_STATE,                                                         \
    "unit, to the low body: the displacement lies across it")                                      \
  F(S, double, stiffness, "N/m", TL_PAIR_STATE, "tangential, of the step that wrote this")
/* Of contact/places.h, in the low collider's frame: what follows a place to the next step. */
#define TL_PLACE_FIELDS(F, S)                                                                      \
  TL_PAIR_KEY_FIELDS(F, S, "higher id", "of the place among those of its pair")                    \
  F(S, TlVec3, x, "m", TL_PAIR_STATE, "half-way between the surfaces")                             \
  F(S, TlVec3, n, "1", TL_PAIR_STATE, "unit normal there, from the high collider")                 \
  F(S, TlVec3, u, "1", TL_PAIR_STATE, "unit, across the normal when curvatures were taken")        \
  F(S, TlVec3, v, "1", TL_PAIR_STATE, "unit, across both")                                         \
  F(S, double, bend_uu, "1/m", TL_PAIR_STATE, "curvature of the gap along u")                      \
  F(S, double, bend_uv, "1/m", TL_PAIR_STATE, "mixed curvature")                                   \
  F(S, double, bend_vv, "1/m", TL_PAIR_STATE, "curvature along v")                                 \
  F(S, double, travel, "m", TL_PAIR_STATE, "path of the place since curvatures were taken")        \
  F(S, double, gap, "m", TL_PAIR_STATE, "when it was last evaluated")                              \
  F(S, double, motion, "m", TL_PAIR_STATE, "of the pair since its search, then")                   \
  F(S, int32_t, last, "", TL_PAIR_STATE, "1: evaluated at the last poses of the pair")
#define TL_PLACE_SEARCH_FIELDS(F, S)                                                               \
  TL_PAIR_KEY_FIELDS(F, S, "higher id", "0")                                                       \
  F(S, double, cutoff, "m", TL_PAIR_STATE, "gap below which the last search found all places")     \
  F(S, TlVec3, search_x, "1", TL_PAIR_STATE, "rows of the rotation from low to high, then")        \
  F(S, TlVec3, search_y, "1", TL_PAIR_STATE, "second row")                                         \
  F(S, TlVec3, search_z, "1", TL_PAIR_STATE, "third row")                                          \
  F(S, TlVec3, search_t, "m", TL_PAIR_STATE, "centre of low in the frame of high, then")           \
  F(S, TlVec3, last_x, "1", TL_PAIR_STATE, "the same when places were last evaluated")             \
  F(S, TlVec3, last_y, "1", TL_PAIR_STATE, "second row")                                           \
  F(S, TlVec3, last_z, "1", TL_PAIR_STATE, "third row")                                            \
  F(S, TlVec3, last_t, "m", TL_PAIR_STATE, "centre")                                               \
  F(S, int32_t, next_key, "", TL_PAIR_STATE, "number of the next new place")                       \
  F(S, int32_t, audit_next, "", TL_PAIR_STATE, "node that is audited next")                        \
  F(S, int32_t, made, "", TL_PAIR_STATE, "1: the search is complete to the cutoff")
/* Of pairs that sleep (solve/sleep.h): the impulse of the last step that was solved, and what frames
 * tell of the point. */
#define TL_SLEEPING_FIELDS(F, S)                                                                   \
  TL_CONTACT_KEY_FIELDS(F, S)                                                                      \
  F(S, TlVec3, impulse, "N s", TL_PAIR_STATE, "of the resting solve on the low body, world frame") \
  F(S, TlVec3, point, "m", TL_PAIR_STATE, "world frame")                                           \
  F(S, TlVec3, normal, "1", TL_PAIR_STATE, "unit, to the low body")                                \
  F(S, double, gap, "m", TL_PAIR_STATE, "below 0: overlap")                                        \
  F(S, double, size, "m", TL_PAIR_STATE, "smaller radius of the two")                              \
  F(S, double, friction, "1", TL_PAIR_STATE, "Coulomb's coefficient then")
#define TL_FORCE_FIELDS(F, S)                                                                      \
  TL_CONTACT_KEY_FIELDS(F, S)                                                                      \
  F(S, TlVec3, force, "N", TL_PAIR_STATE, "of the continuous stage on the low body, world frame")  \
  F(S, TlVec3, moment, "N m", TL_PAIR_STATE,                                                       \
    "of the patch against rolling and twisting, likewise; at its first loaded point")
/* Of pairs within an aggregate (solve/reduction.h): what the search found before they were one, in the frame of
 * the low collider, with which the point moves. */
#define TL_INNER_FIELDS(F, S)                                                                      \
  TL_PAIR_KEY_FIELDS(F, S, "higher id", "node and side of the point")                              \
  F(S, TlVec3, point, "m", TL_PAIR_STATE, "in the low collider's frame, from its position")        \
  F(S, TlVec3, normal, "1", TL_PAIR_STATE, "unit, to the low collider, in its frame")              \
  F(S, double, gap, "m", TL_PAIR_STATE, "below 0: overlap; without a point: there is none nearer") \
  F(S, double, band, "m", TL_PAIR_STATE, "points farther above the nearest were left out")         \
  F(S, int32_t, place, "", TL_PAIR_STATE,                                                          \
    "of the point among those of its pair, from 0; -1: the pair has no point")
/* Of a body that a trial of the reduction would part from its aggregate: it was parted, stood, and merged again. */
#define TL_STANDING_FIELDS(F, S)                                                                   \
  TL_PAIR_KEY_FIELDS(F, S, "-1", "0")                                                              \
  F(S, TlVec3, force, "N", TL_PAIR_STATE,                                                          \
    "that the trial left over of the body then, world frame")                                      \
  F(S, TlVec3, moment, "N m", TL_PAIR_STATE, "likewise, about its centre")
#define TL_BOND_FIELDS(F, S)                                                                       \
  TL_CONSTRAINT_KEY_FIELDS(F, S)                                                                   \
  F(S, TlVec3, displacement, "m", TL_PAIR_STATE,                                                   \
    "tangential, of the low body, world frame; anchors are the centres")                           \
  F(S, double, length, "m", TL_PAIR_STATE, "at rest")                                              \
  F(S, int32_t, law, "", TL_PAIR_STATE, "number in the table of bond laws: that of its net")
/* Two bodies in touch that are moved as one, or a body that a boundary takes along. */
#define TL_MERGE_FIELDS(F, S)                                                                      \
  TL_PAIR_KEY_FIELDS(F, S, "higher id, or -1 - number of the boundary", "0")
#define TL_WELD_FIELDS(F, S)                                                                       \
  TL_CONSTRAINT_KEY_FIELDS(F, S)                                                                   \
  TL_ANCHOR_FIELDS(F, S)                                                                           \
  F(S, TlQuat, turn, "1", TL_PAIR_STATE, "from the high body's frame to the low body's, held")     \
  TL_REACTION_FIELDS(F, S)
#define TL_HINGE_FIELDS(F, S)                                                                      \
  TL_CONSTRAINT_KEY_FIELDS(F, S)                                                                   \
  TL_ANCHOR_FIELDS(F, S)                                                                           \
  F(S, TlVec3, axis_low, "1", TL_PAIR_STATE, "unit, in the low body's frame")                      \
  F(S, TlVec3, axis_high, "1", TL_PAIR_STATE, "unit, in the high body's frame, or in the world")   \
  TL_REACTION_FIELDS(F, S)
#define TL_SLIDER_FIELDS(F, S)                                                                     \
  TL_CONSTRAINT_KEY_FIELDS(F, S)                                                                   \
  TL_ANCHOR_FIELDS(F, S)                                                                           \
  F(S, TlVec3, axis_high, "1", TL_PAIR_STATE, "unit, in the high body's frame, or in the world")   \
  F(S, TlQuat, turn, "1", TL_PAIR_STATE, "from the high body's frame to the low body's")           \
  F(S, int32_t, tilts, "", TL_PAIR_STATE,                                                          \
    "1: the low body may tilt across the axis; 0: it does not turn; a control may say otherwise")  \
  TL_REACTION_FIELDS(F, S)
#define TL_DISTANCE_FIELDS(F, S)                                                                   \
  TL_CONSTRAINT_KEY_FIELDS(F, S)                                                                   \
  TL_ANCHOR_FIELDS(F, S)                                                                           \
  F(S, double, least, "m", TL_PAIR_STATE, "the anchors come no nearer")                            \
  F(S, double, most, "m", TL_PAIR_STATE, "nor farther apart")                                      \
  TL_REACTION_FIELDS(F, S)
#define TL_MOTOR_FIELDS(F, S)                                                                      \
  TL_CONSTRAINT_KEY_FIELDS(F, S)                                                                   \
  F(S, int64_t, joint, "", TL_PAIR_STATE,                                                          \
    "id of the hinge or slider of the same pair that it drives")                                   \
  F(S, int32_t, turns, "", TL_PAIR_STATE, "1: a hinge, its speed in rad/s; 0: a slider, in m/s")   \
  F(S, double, speed, "m/s or rad/s", TL_PAIR_STATE, "of the low body along or about the axis")    \
  F(S, double, most, "N or N m", TL_PAIR_STATE, "largest force or moment")                         \
  F(S, double, effort, "N or N m", TL_PAIR_STATE,                                                  \
    "nonsmooth: on the low body in the last step, along or about the axis")
#define TL_LIMIT_FIELDS(F, S)                                                                      \
  TL_CONSTRAINT_KEY_FIELDS(F, S)                                                                   \
  F(S, int64_t, joint, "", TL_PAIR_STATE,                                                          \
    "id of the hinge or slider of the same pair that it limits")                                   \
  F(S, int32_t, turns, "", TL_PAIR_STATE, "1: a hinge, its angle; 0: a slider, its displacement")  \
  F(S, TlVec3, mark_low, "1", TL_PAIR_STATE,                                                       \
    "hinge: unit, across the axis, in the low body's frame: along mark_high at angle 0")           \
  F(S, TlVec3, mark_high, "1", TL_PAIR_STATE, "in the high body's frame, or in the world")         \
  F(S, double, least, "m or rad", TL_PAIR_STATE, "of the low body along or about the axis")        \
  F(S, double, most, "m or rad", TL_PAIR_STATE, "likewise; an angle lies between -pi and pi")      \
  F(S, double, effort, "N or N m", TL_PAIR_STATE, "as a motor's")

/* Each kind: its number in TlPairKind, its struct, the list of its fields, whose it is (TlPairOwner), one of it in a
 * message, the record's name, which is what checkpoints call its section, and the record's meaning. Contact
 * memory comes first, constraints after it. */
#define TL_PAIR_STATES(R)                                                                          \
  R(IMPULSES, TlImpulse, TL_IMPULSE_FIELDS, METHOD, "impulse", "impulses",                         \
    "Contact memory of the methods by impulses.")                                                  \
  R(SPRINGS, TlSpring, TL_SPRING_FIELDS, METHOD, "spring", "springs",                              \
    "Contact memory of the penalty method.")                                                       \
  R(FORCES, TlContactForce, TL_FORCE_FIELDS, METHOD, "contact force", "forces",                    \
    "Contact memory of the nonsmooth method.")                                                     \
  R(PLACES, TlPlaceRow, TL_PLACE_FIELDS, SEARCH, "place", "places",                                \
    "Contact memory of the search by places: where two grains are nearest.")                       \
  R(PLACE_SEARCHES, TlPlaceSearchRow, TL_PLACE_SEARCH_FIELDS, SEARCH, "search of places",          \
    "place_searches", "Contact memory of the search by places: each pair's last search.")          \
  R(SLEEPING, TlSleepingContact, TL_SLEEPING_FIELDS, SLEEP, "sleeping contact",                    \
    "sleeping_contacts",                                                                           \
    "Contact memory of the methods by impulses: loaded points of bodies that sleep.")              \
  R(SLEEPING_PLACES, TlSleepingPlace, TL_PLACE_FIELDS, SLEEP, "sleeping place", "sleeping_places", \
    "As places, of pairs that sleep.")                                                             \
  R(SLEEPING_SEARCHES, TlSleepingSearch, TL_PLACE_SEARCH_FIELDS, SLEEP,                            \
    "sleeping search of places", "sleeping_searches", "As place_searches, of pairs that sleep.")   \
  R(INNER, TlInnerContact, TL_INNER_FIELDS, REDUCTION, "inner contact", "inner_contacts",          \
    "Contact memory of the model reduction: points of pairs within an aggregate.")                 \
  R(TRIALS, TlTrialForce, TL_FORCE_FIELDS, REDUCTION, "trial force", "trial_forces",               \
    "Contact memory of the model reduction: what its trial had at contacts between units.")        \
  R(STANDING, TlStanding, TL_STANDING_FIELDS, REDUCTION, "standing body", "standing_bodies",       \
    "Memory of the model reduction: what its trial leaves over of bodies that stand nonetheless.") \
  R(BONDS, TlBond, TL_BOND_FIELDS, SCENE, "bond", "bonds",                                         \
    "Constraints: bonds of nets that hold.")                                                       \
  R(WELDS, TlWeld, TL_WELD_FIELDS, SCENE, "weld", "welds", "Constraints: no relative motion.")     \
  R(HINGES, TlHinge, TL_HINGE_FIELDS, SCENE, "hinge", "hinges",                                    \
    "Constraints: the anchors stay together, and the axes.")                                       \
  R(SLIDERS, TlSlider, TL_SLIDER_FIELDS, SCENE, "slider", "sliders",                               \
    "Constraints: the low body moves along the axis only.")                                        \
  R(DISTANCES, TlDistance, TL_DISTANCE_FIELDS, SCENE, "distance", "distances",                     \
    "Constraints: the distance of the anchors has limits.")                                        \
  R(MOTORS, TlMotor, TL_MOTOR_FIELDS, SCENE, "motor", "motors", "Constraints: a joint is driven.") \
  R(LIMITS, TlLimit, TL_LIMIT_FIELDS, SCENE, "limit", "limits",                                    \
    "Constraints: a joint's displacement has limits.")                                             \
  R(MERGES, TlMerge, TL_MERGE_FIELDS, REDUCTION, "merge", "merges",                                \
    "Constraints: two bodies of one aggregate of the model reduction that touch.")

/* Joints among them: what a study calls it, and what it leaves free. */
#define TL_JOINT_STATES(J)                                                                         \
  J(WELDS, "weld", "no relative motion")                                                           \
  J(HINGES, "hinge", "turning about an axis")                                                      \
  J(SLIDERS, "slider", "moving along an axis")                                                     \
  J(DISTANCES, "distance", "two points that stay within least_m and most_m of each other")

typedef enum TlPairKind {
#define R(kind, ...) TL_##kind,
  TL_PAIR_STATES(R)
#undef R
      TL_PAIR_KINDS,
  TL_FIRST_CONSTRAINT = TL_BONDS /* kinds before it are contact memory */
} TlPairKind;
/* A set of kinds. */
#define TL_KIND_BIT(kind) (1u << (kind))

#define TL_PAIR_MEMBER(S, type, name, ...) type name;
typedef struct TlPairKey {
  TL_CONTACT_KEY_FIELDS(TL_PAIR_MEMBER, TlPairKey)
} TlPairKey; /* what every row begins with */
#define R(kind, Struct, FIELDS, ...)                                                               \
  typedef struct Struct {                                                                          \
    FIELDS(TL_PAIR_MEMBER, Struct)                                                                 \
  } Struct;
TL_PAIR_STATES(R)
#undef R

/* Of each kind. */
extern const TlRecord tl_pair_record[TL_PAIR_KINDS];
/* Whose a kind is: who makes its rows and reads them, and without whom they mean nothing. */
typedef enum TlPairOwner {
  TL_OF_METHOD,    /* contact memory of one method of contact */
  TL_OF_SEARCH,    /* of the search by places */
  TL_OF_SLEEP,     /* of bodies that sleep */
  TL_OF_REDUCTION, /* of the model reduction */
  TL_OF_SCENE      /* what the study or its nets join */
} TlPairOwner;
extern const TlPairOwner tl_pair_kind_owner[TL_PAIR_KINDS];
/* One of a kind, for messages: "hinge". */
extern const char *const tl_pair_kind_name[TL_PAIR_KINDS];

/* Rows of one kind. */
typedef struct TlPairRows {
  void *row; /* structs of the kind, owned */
  size_t count, capacity;
} TlPairRows;
/* Starts zeroed; all kinds. */
typedef struct TlPairState {
  TlPairRows of[TL_PAIR_KINDS];
} TlPairState;

static inline TlImpulse *tl_impulses(const TlPairState *pairs) {
  return pairs->of[TL_IMPULSES].row;
}
static inline TlSpring *tl_springs(const TlPairState *pairs) {
  return pairs->of[TL_SPRINGS].row;
}
static inline TlContactForce *tl_forces(const TlPairState *pairs) {
  return pairs->of[TL_FORCES].row;
}
static inline TlSleepingContact *tl_sleeping(const TlPairState *pairs) {
  return pairs->of[TL_SLEEPING].row;
}
static inline TlBond *tl_bonds(const TlPairState *pairs) {
  return pairs->of[TL_BONDS].row;
}

void tl_pair_state_free(TlPairState *pairs);
/* Into an empty one. */
TlStatus tl_pair_state_copy(TlPairState *to, const TlPairState *from);
/* Reserves space for count rows in all; keeps what is there. */
TlStatus tl_pair_rows_reserve(TlPairRows *rows, TlPairKind kind, size_t count);
/* At the end: tl_pair_state_sort is to follow. row: a struct of the kind. */
TlStatus tl_pair_state_add(TlPairState *pairs, TlPairKind kind, const void *row);
/* The key of a row. */
TlPairKey tl_pair_key(const TlPairRows *rows, TlPairKind kind, size_t index);
/* < 0, 0, > 0 by low, high, number. */
int tl_pair_order(const TlPairKey *one, const TlPairKey *two);
/* Into order; of rows with one key the first stays. */
void tl_pair_rows_sort(TlPairRows *rows, TlPairKind kind);
void tl_pair_state_sort(TlPairState *pairs);
/* The first row whose low id is not below this. */
size_t tl_pair_rows_first(const TlPairRows *rows, TlPairKind kind, int64_t low);
/* The rows of pair (low, high): *count of them starting at the returned one; NULL: none. */
const void *tl_pair_rows_find(const TlPairRows *rows, TlPairKind kind, int64_t low, int64_t high,
                              size_t *count);
/* The same for who asks for pairs about in the order of the rows: *at, 0 at first, is where the last answer ended. */
const void *tl_pair_rows_next(const TlPairRows *rows, TlPairKind kind, int64_t low, int64_t high,
                              size_t *at, size_t *count);
/* Keep the rows for which wanted says so, in their order. */
void tl_pair_rows_keep(TlPairRows *rows, TlPairKind kind,
                       bool (*wanted)(const void *context, const TlPairKey *key),
                       const void *context);

/* The rows of some bodies, found by one look at all rows. Of list i and kind k they are
 * row[first[i * TL_PAIR_KINDS + k]] up to the next `first`, in their order. */
typedef struct TlPairLists {
  size_t *first, *row; /* owned */
} TlPairLists;
/* Into which list the rows with this id go; by rising id. */
typedef struct TlPairOf {
  int64_t id, list;
} TlPairOf;
typedef struct TlPairsOf {
  const TlPairOf *of;
  int64_t count;
} TlPairsOf;
/* Constraints by bodies, contact memory by colliders. A row whose ends have two lists stands in both. To
 * be freed on failure, too; valid while the rows stay as they are. */
TlStatus tl_pair_lists_make(TlPairLists *lists, const TlPairState *pairs, int64_t count,
                            const TlPairsOf *body, const TlPairsOf *collider);
void tl_pair_lists_free(TlPairLists *lists);

/* The rows of a list as bytes; unpack appends them (tl_pair_state_sort is to follow). *used: bytes
 * taken. TL_EINPUT when `from` does not hold them. */
size_t tl_pair_state_packed_bytes(const TlPairLists *lists, int64_t list);
unsigned char *tl_pair_state_pack(const TlPairState *pairs, const TlPairLists *lists, int64_t list,
                                  unsigned char *to);
TlStatus tl_pair_state_unpack(TlPairState *pairs, const unsigned char *from, size_t size,
                              size_t *used);

#endif
