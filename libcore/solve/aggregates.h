/* Rigid aggregates: which bodies move as one, and how (Servin 2015 2.4 and Eqs. 6-13; docs/theory/reduction.md).
 *
 * The state knows merges alone (TL_MERGES, model/pair_state.h): pairs of bodies in touch, or of a body
 * and a boundary. What hangs together by merges is an aggregate. Everything else of it follows in each
 * step from its bodies, which keep their own records, so that a checkpoint, a frame and a measure
 * need not know of aggregates:
 *
 *   m_A = sum m,  x_A = sum m x/m_A,  v_A = sum m v/m_A,
 *   I_A = sum [I + m (r^2 1 - r r^T)],  w_A = I_A^-1 sum [I w + m r x v],  r = x - x_A
 *
 * (Correction 26: Eqs. 9-10 leave out the bodies' own inertia and spin.) A unit is an aggregate or a body
 * that is part of none. An aggregate that a boundary or a fixed body takes along is anchored: it has
 * their motion and no mass that an impulse could move. One with a body on joints is guided: the joints act on all of
 * it. No unit has two anchors, two bodies on joints, or one of each. Sums go by the order of ids. World frame, SI.
 */
#ifndef TL_SOLVE_AGGREGATES_H
#define TL_SOLVE_AGGREGATES_H

#include "base/mem.h"
#include "model/bodies.h"
#include "model/boundary.h"
#include "num/exact.h"
#include "solve/contact.h"

enum {
  TL_ANCHOR_NONE = -2,
  TL_ANCHOR_WORLD =
      -1 /* what does not move; from 0 on: the boundary of that number, which is driven */
};

/* In arrays over the local bodies. What is of a unit stands at the place of one of its bodies: that with the
 * lowest id, or of those that are here. */
typedef struct TlUnits {
  const TlBodies *bodies; /* borrowed, with the derived fields */
  const TlBoundary *boundary;
  const TlSync *sync; /* NULL: one rank */
  int32_t *order;     /* bodies by id (tl_bodies_order) */
  int32_t *unit;      /* of each body */
  int64_t *id; /* of each unit: the lowest of its bodies', wherever they are; else the body's own */
  int32_t *members; /* of each unit; 0 at other places */
  int32_t *anchor;  /* of each unit */
  bool *guided;     /* likewise: it has a body on joints */
  TlVec3 *lever;    /* from the unit's centre to the body's */
  TlVec3 *centre;   /* of each unit, as the rest */
  double *mass;
  TlSym3 *inertia;
  TlDynamics dynamics; /* of units; anchored ones and other places have no inverse mass */
  int64_t aggregates, merged,
      anchored; /* of this rank: their number; owned bodies in them, in anchored ones */
} TlUnits;

/* Sums of a step: what anchors gave bodies that are merged with them, beyond what contacts gave, impulse and
 * work; what merging took of the motion; and what else its impulses took, of what gravity does in half a step. */
typedef struct TlHeld {
  TlExact *x_N_s, *y_N_s, *z_N_s, *work_J, *lost_J, *fallen_J;
} TlHeld;

static inline void tl_held_impulse(const TlHeld *held, TlVec3 impulse) {
  tl_exact_add(held->x_N_s, impulse.x);
  tl_exact_add(held->y_N_s, impulse.y);
  tl_exact_add(held->z_N_s, impulse.z);
}

/* The anchor that a boundary is, as it stands, and the motion of an anchor: velocity at x, spin. */
int32_t tl_anchor_of(const TlBoundary *boundary, int32_t number);
TlTwist tl_anchor_motion(const TlUnits *units, int32_t anchor, TlVec3 x);

/* Units of the bodies' merges, on one rank each (dist/together.h). guided: the bodies on joints. Collective, and as all
 * that follows it here goes by ids. */
TlStatus tl_units_find(const TlBodies *bodies, const TlBoundary *boundary, const bool *guided,
                       const TlSync *sync, TlArena *arena, TlUnits *units);
/* Of each local body the lowest number of those that it hangs together with by merges, itself among them; -1: with
 * none, and of fixed bodies. NULL: there are no merges. Of this rank alone. */
TlStatus tl_units_held(const TlBodies *bodies, TlArena *arena, const int32_t **held);
/* Masses, centres and motion of the units, from these twists of the owned bodies. Collective. */
TlStatus tl_units_settle(TlUnits *units, const TlTwist *twist, TlArena *arena);

/* Two units that are to be one, or one with an anchor, by the ids of the two bodies that say so. */
typedef struct TlCouple {
  int64_t low, high; /* of the bodies; or -1 - the boundary */
  int32_t one, two;  /* bodies; two < 0: with the anchor */
  int32_t anchor;
  bool elsewhere; /* another rank is to say it, too */
} TlCouple;

/* Join the units of couples in the order of their ids, but for those that may not be one. The units' twists are
 * those that the solve left. *any: there were couples, on some rank. Unlike those of tl_units_find units may
 * have bodies on several ranks afterwards. Collective. */
TlStatus tl_units_join(TlUnits *units, TlCouple *couple, int32_t count, TlArena *arena, bool *any);

/* Is the contact within a unit, or of a unit with its own anchor? */
bool tl_units_inner(const TlUnits *units, const TlContact *contact);
static inline int32_t tl_unit_root(const TlUnits *u, int32_t body) {
  while (u->unit[body] != body) body = u->unit[body];
  return body;
}
static inline bool tl_unit_carries(const TlUnits *u, int32_t body) {
  int32_t unit = u->unit[body];
  return u->members[unit] > 1 || u->anchor[unit] != TL_ANCHOR_NONE;
}
/* Velocity that a body has as part of its unit. */
static inline TlTwist tl_unit_twist(const TlUnits *u, int32_t body) {
  const TlTwist *t = &u->dynamics.twist[u->unit[body]];
  return (TlTwist){.v = tl_add(t->v, tl_cross(t->w, u->lever[body])), .w = t->w};
}

/* The owned bodies take the motion of their units: what that takes and gives. fall: what gravity adds to velocities
 * from the moment in the middle of a step that they stand for to that of the change (step_nonsmooth.c). */
void tl_units_take(const TlUnits *units, TlTwist *twist, TlVec3 fall, const TlHeld *held);
/* Move the units with more than one body, and those on anchors, with their owned bodies: positions, attitudes,
 * velocities, momenta, and contact memory within them, which turns along. */
TlStatus tl_units_move(const TlUnits *units, TlBodies *bodies, TlArena *arena, double step_s,
                       TlVec3 gravity, const TlHeld *held);

#endif
