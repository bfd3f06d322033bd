/* From poses to prepared contacts: broad phase, narrow phase, manifold, warm-start impulses. */
#ifndef TL_SOLVE_DETECT_H
#define TL_SOLVE_DETECT_H

#include "solve/contact.h"
#include "contact/manifolds.h"
#include "contact/search.h"

typedef struct TlDetect {
  const TlSearchOptions *options;
  double step_s, gravity_m_s2;
  bool weighted; /* TlContact.weight: the reduced mass; else 1 */
  const TlBoundary *boundary;
  int boundary_count;
  const TlMaterials *materials;
  double speed_max; /* of all bodies on all ranks, spin included */
  const double
      *nearby;    /* of each local body, what it may meet in the step (nearby.h); NULL: speed_max */
  TlArena *arena; /* everything found lives here */
  TlNear *near;   /* lists that outlive the step */
  TlPoints *points;           /* scratch, one a thread */
  TlManifolds *manifolds;     /* scratch */
  TlPlaceMemory *places;      /* takes what pairs know of their places (place_memory.h) */
  const unsigned char *still; /* of TlScan */
  const TlPairRows *memory;   /* impulses of the last step, sorted; NULL: the bodies' own */
  bool notes_clear;           /* TlFound.clear is wanted */
  /* Of each local body: those with one number from 0 on have moved as one since their TL_INNER rows were
   * written, which stand for a search of their pairs where there are any; with notes_clear. NULL: all pairs are
   * searched. */
  const int32_t *held;
  int64_t *
      half_lookups; /* [bodies] takes what the search of each cost (tl_scan_charge), 0 before; NULL: none */
} TlDetect;

typedef struct TlFound {
  TlPair *pair;
  TlContact *contact;
  int32_t pairs, contacts;
  int64_t tested, lookups, node_tests, lists;
  /* Of each pair of the broad phase: > 0: it was searched and has no point nearer than this; -1: its TL_INNER rows
   * say that it has none within the margin; 0: it is among those above, or too far to be looked at, and which of
   * those are listed depends on when that was. */
  double *clear;
} TlFound;

/* Are contacts of a pair within an aggregate worth a memory? Two spheres are searched with fewer steps than it takes
 * to look up their row. */
bool tl_detect_remembers(const TlShape *a, const TlShape *b);

/* What the contact search adds to a body's radius: half the pair's speculative margin at least, so
 * that reach_a + reach_b covers every pair margin. */
double tl_detect_reach(double step_s, double gravity_m_s2, double speed_max, double radius,
                       double speed);

/* Contacts of the start-of-step poses; twists give relative speeds. */
TlStatus tl_detect(const TlDetect *detect, const TlBodies *bodies, const TlDynamics *dynamics,
                   TlFound *found);

/* Pairs whose contacts are TL_INNER rows, `again` of each that was found, are for a solve: those of them are searched
 * of which a search would find more now than it did then, since their bodies spin faster. Contacts start from what
 * the old ones have as `rest`. *from: of each contact that is found now which it was before, -1: it is new. What
 * the search learns of places is not kept. */
TlStatus tl_detect_again(const TlDetect *detect, const TlBodies *bodies, const TlDynamics *dynamics,
                         bool *again, TlFound *found, int32_t **from);

/* Points of one pair of colliders at the present poses, closer than margin: appended. The lists of
 * tl_detect serve again, and what memory has of the pair's places (NULL: nothing). travel: relative motion of
 * a step, about. */
TlStatus tl_detect_pair(const TlSearchOptions *options, TlNear *near, const TlPairState *memory,
                        const TlColliders *colliders, int64_t a, int64_t b, double travel,
                        double margin, TlPoints *points);

#endif
