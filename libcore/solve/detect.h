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
  int64_t *
      half_lookups; /* [bodies] takes what the search of each cost (tl_scan_charge), 0 before; NULL: none */
} TlDetect;

typedef struct TlFound {
  TlPair *pair;
  TlContact *contact;
  int32_t pairs, contacts;
  int64_t tested, lookups, node_tests, lists;
} TlFound;

/* What the contact search adds to a body's radius: half the pair's speculative margin at least, so
 * that reach_a + reach_b covers every pair margin. */
double tl_detect_reach(double step_s, double gravity_m_s2, double speed_max, double radius,
                       double speed);

/* Contacts of the start-of-step poses; twists give relative speeds. */
TlStatus tl_detect(const TlDetect *detect, const TlBodies *bodies, const TlDynamics *dynamics,
                   TlFound *found);

/* Points of one pair of colliders at the present poses, closer than margin: appended. The lists of
 * tl_detect serve again, and what memory has of the pair's places (NULL: nothing). way: relative motion of
 * a step, about. */
TlStatus tl_detect_pair(const TlSearchOptions *options, TlNear *near, const TlPairState *memory,
                        const TlColliders *colliders, int64_t a, int64_t b, double way,
                        double margin, TlPoints *points);

#endif
