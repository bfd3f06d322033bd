/* Pairs that several ranks solve together (islands.h says who solves what).
 *
 * A pair is found by the ranks that own its two bodies, and solved by one. Where that is neither of
 * them, the owner of the lower id sends it there with what is to be known of its bodies, which are
 * guests there: they stand behind the local bodies in all arrays over bodies. In the end what a pair
 * bore goes to those who have found it. A joint or bond is a pair without contacts, with a load of bytes for
 * its solver and a result of bytes for its finders (TlLink).
 *
 * Within a sweep a body is used by one rank in each phase, and its velocity goes from the one that
 * wrote it last straight to the one that uses it next. Its owner finds the others pairs' solvers
 * among the pairs of its own body, so it alone knows the whole tour; it tells each user whom to
 * expect the velocity from, and whom to hand it on to. Messages go to ranks that need a body from
 * this one, and to no others.
 */
#ifndef TL_SOLVE_SHARE_H
#define TL_SOLVE_SHARE_H

#include "base/mem.h"
#include "model/bodies.h"
#include "solve/contact.h"
#include "solve/islands.h"

/* Where a pair stands in the sweeps, and who visits it. */
typedef struct TlPlacing {
  int32_t island; /* number among the shared ones; -1: of this rank alone */
  int32_t phase, solver;
  uint64_t key; /* of its cell */
} TlPlacing;

/* Pairs that came from other ranks to be solved here. */
typedef struct TlGuests {
  TlPair *pair; /* their links are numbered behind those that were found here */
  TlContact *contact;
  TlPlacing *plan;
  int32_t (*owners)[2]; /* ranks that own its bodies; -1: it has no body b */
  TlLink *link;         /* of the links found here, and then of the guests */
  int32_t pairs, contacts, links;
} TlGuests;

/* A pair that this rank solves. */
typedef struct TlSolved {
  TlPair *pair;         /* where it lies while it is solved */
  int32_t found, guest; /* number among those found here, or among the guests; else -1 */
  int32_t phase;
  bool by_cells;
} TlSolved;

typedef struct TlShare TlShare;

/* The local bodies, before any guest has come. Memory, of what follows too, from the arena. */
TlStatus tl_share_open(const TlMovers *movers, const TlSync *sync, TlArena *arena, TlShare **share);
/* Pairs go to their solvers. `found` and the plan of its pairs stay with the share. Collective. */
TlStatus tl_share_pairs(TlShare *share, const TlIslands *islands, const TlPairList *found,
                        const TlPlacing *plan, TlGuests *guests);
/* Who hands what to whom; `solved` is borrowed. Collective. */
TlStatus tl_share_routes(TlShare *share, const TlIslands *islands, const TlGuests *guests,
                         const TlSolved *solved, int32_t solved_count, int32_t phases);

const TlSync *tl_share_sync(const TlShare *share);
int64_t tl_share_bodies(const TlShare *share); /* local ones and guests */
/* Arrays over these, for the bodies' velocities as they are now, and a second array of velocities. */
const TlDynamics *tl_share_dynamics(const TlShare *share);
TlTwist *tl_share_twists(const TlShare *share);
/* Of guests that nothing moves: how they are carried along (TlMovers.carried), from total on. */
const TlVec3 *tl_share_carried(const TlShare *share);

/* The owners' values to all ranks that use them, and back; over local bodies and guests, of at most
 * TL_SHARE_BYTES bytes each. */
enum { TL_SHARE_BYTES = 128 };
TlStatus tl_share_scatter(const TlShare *share, void *values, size_t size);
TlStatus tl_share_collect(const TlShare *share, void *values, size_t size);
/* Of the islands that are solved by cells: from where they are valid to all that use them. */
TlStatus tl_share_spread(const TlShare *share, void *values, size_t size);
/* After a phase; arrived (may be NULL) is called for each body whose value came. */
TlStatus tl_share_hand_on(const TlShare *share, int32_t phase, void *values, size_t size,
                          void (*arrived)(const void *walk, int32_t body), const void *walk);
/* What the pairs bore (ETM and resting impulses, `touched`, `stuck`; the results of links) to those that have
 * found them: into the pairs, contacts and links that tl_share_pairs was given; and from solved_ns, one a solved pair, what
 * its solve took, into found_ns, one a found pair. Collective. */
TlStatus tl_share_home(const TlShare *share, const TlContact *solved_contacts,
                       const int32_t *solved_ns, int32_t *found_ns, const TlDynamics *dynamics);

#endif
