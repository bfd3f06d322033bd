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
 * their motion and no mass that an impulse could move. Sums go by the order of ids. World frame, SI.
 */
#ifndef TL_SOLVE_AGGREGATES_H
#define TL_SOLVE_AGGREGATES_H

#include "base/mem.h"
#include "model/bodies.h"
#include "model/boundary.h"
#include "solve/contact.h"

enum {
  TL_ANCHOR_NONE = -2,
  TL_ANCHOR_WORLD =
      -1 /* what does not move; from 0 on: the boundary of that number, which is driven */
};

/* In arrays over the bodies. What is of a unit stands at the place of its body with the lowest id. */
typedef struct TlUnits {
  const TlBodies *bodies; /* borrowed, with the derived fields */
  const TlBoundary *boundary;
  int32_t *order;   /* bodies by id (tl_bodies_order) */
  int32_t *unit;    /* of each body */
  int32_t *members; /* of each unit; 0 at other places */
  int32_t *anchor;  /* of each unit */
  TlVec3 *lever;    /* from the unit's centre to the body's */
  TlVec3 *centre;   /* of each unit, as the rest */
  double *mass;
  TlSym3 *inertia;
  TlDynamics dynamics; /* of units; anchored ones and other places have no inverse mass */
  int64_t aggregates, merged, anchored; /* their number; bodies in them; bodies in anchored ones */
} TlUnits;

/* What anchors gave bodies that are merged with them, beyond what contacts gave: impulse (about the
 * origin, too), and work. lost: what merging took of the motion. */
typedef struct TlHeld {
  TlVec3 impulse;
  double work, lost;
} TlHeld;

/* The anchor that a boundary is, as it stands, and the motion of an anchor: velocity at x, spin. */
int32_t tl_anchor_of(const TlBoundary *boundary, int32_t number);
TlTwist tl_anchor_motion(const TlUnits *units, int32_t anchor, TlVec3 x);

/* Units of the bodies' merges. */
TlStatus tl_units_find(const TlBodies *bodies, const TlBoundary *boundary, TlArena *arena,
                       TlUnits *units);
/* Join two bodies' units, or a body's with an anchor; false: they have two anchors already. Until
 * tl_units_settle all but `unit` and `anchor` of the units is of before. */
bool tl_units_join(TlUnits *units, int32_t one, int32_t two);
bool tl_units_anchor(TlUnits *units, int32_t body, int32_t anchor);
/* Masses, centres and motion of the units, from these twists of the bodies. */
void tl_units_settle(TlUnits *units, const TlTwist *twist);

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

/* Bodies take the motion of their units: what that takes and gives. */
void tl_units_take(const TlUnits *units, TlTwist *twist, TlHeld *held);
/* Move the units with more than one body, and those on anchors, with their bodies: positions, attitudes,
 * velocities, momenta, and contact memory within them, which turns along. */
TlStatus tl_units_move(const TlUnits *units, TlBodies *bodies, TlArena *arena, double step_s,
                       TlHeld *held);

#endif
