/* Who owns which part of space: recursive coordinate bisection over any number of ranks.
 *
 * The set of ranks [0, P) is halved again and again, and with it space, by a plane across an axis, so that
 * the weights on both sides stand as the rank counts do (Berger and Bokhari 1987). Weights are of kinds, which
 * are worked off one after the other, and ranks wait for each other in between. So the axis is the one whose
 * plane shares each kind best; of those that do so nearly alike, the one of the last cut, so that
 * few bodies change their rank, or else the one along which the weights' box is longest.
 * Where a layer of grains is hit from below, planes across the layer would leave the collisions to half of the
 * ranks; planes that stand upright share them. Cuts are found by histograms that are summed over the ranks and
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

typedef enum TlWeightKind { TL_WEIGHT_BODY = 0, TL_WEIGHT_SOLVE, TL_WEIGHT_KINDS } TlWeightKind;
typedef struct TlWeight {
  TlVec3 at;
  int64_t weight; /* > 0 */
  TlWeightKind kind;
} TlWeight;

/* Collective. Cut space by these weights of all ranks. Cuts are exact to the box's side / 64^4. Collectives
 * carry 3 * 64 counts a cut of a level. */
TlStatus tl_domain_cut(TlDomain *domain, TlComm *comm, const TlWeight *weight, int64_t count);
void tl_domain_free(TlDomain *domain);

/* The rank that owns this point. */
int tl_domain_owner(const TlDomain *domain, TlVec3 point);
/* What a rank owns: least x, y, z, then the most; at the borders of space infinite. */
void tl_domain_region(const TlDomain *domain, int rank, double box[6]);

#endif
