/* Force chains: paths of grains through the strong network (after Peters et al. 2005).
 *
 * A strong pair (F_n above the mean, packing_forces.h) can link two grains when the line between
 * their centres lies within 45 degrees of the major principal stress (packing_stress.h) of both.
 * Each grain takes, on either side along its major stress, the pair of the largest F_n (of equal
 * ones the lower neighbour); a link stands where both take each other. So a grain has at most two
 * links, chains do not branch, and of those with three grains or more each is counted. Length: sum
 * of the distances of centres.
 */
#ifndef TL_POST_PACKING_CHAINS_H
#define TL_POST_PACKING_CHAINS_H

#include "post/packing.h"

typedef struct TlChain {
  int64_t first, count; /* grains: member[first .. first+count-1], along the chain */
  double length_m;
  double force_N;   /* mean F_n of its links */
  double steep_deg; /* mean over its links of the angle to the vertical, 0 to 90 */
} TlChain;

typedef struct TlChains {
  int64_t count, member_count;
  TlChain *chain;  /* owned */
  int64_t *member; /* indices of grains, owned */
  double *link_N;  /* [member_count] F_n of the link to the next; 0 for a chain's last; owned */
  int64_t strong;  /* pairs of the strong network */
} TlChains;

TlStatus tl_chains_find(const TlPacking *packing, const TlRegion *region, TlChains *chains);
void tl_chains_free(TlChains *chains);

#endif
