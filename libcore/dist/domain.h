/* Who owns which part of space: recursive coordinate bisection over any number of ranks.
 *
 * The set of ranks [0, P) is halved again and again, and with it space, by a plane across the
 * longest side of the bodies' box, so that the weights on both sides stand as the rank counts do
 * (Berger and Bokhari 1987). Cuts are found by histograms that are summed over the ranks and
 * refined: no rank sees the others' bodies. The regions cover all of space.
 */
#ifndef TL_DIST_DOMAIN_H
#define TL_DIST_DOMAIN_H

#include "base/comm.h"
#include "num/vec.h"

typedef struct TlCut {
  int axis;  /* 0, 1, 2 */
  double at; /* coordinate < at: the lower half of the ranks */
} TlCut;

typedef struct TlDomain {
  int ranks;
  TlCut *cut; /* cut[mid] splits ranks [low, mid) from [mid, high), owned */
} TlDomain;

/* Collective. Cut space by these bodies of all ranks (weight NULL: 1 each; weights >= 0). Cuts are
 * exact to the box's side / 64^4. Collectives carry 64 counts a cut of a level. */
TlStatus tl_domain_cut(TlDomain *domain, TlComm *comm, const TlVec3 *position,
                       const int64_t *weight, int64_t count);
void tl_domain_free(TlDomain *domain);

/* The rank that owns this point. */
int tl_domain_owner(const TlDomain *domain, TlVec3 point);
/* What a rank owns: least x, y, z, then the most; at the borders of space infinite. */
void tl_domain_region(const TlDomain *domain, int rank, double box[6]);

#endif
