/* Is there a phase between void and grain: water in the pores, fines, a coat on the grains?
 *
 * Across a blurred face between two phases the grey is g = void + gap Phi(x/s), so where it is u of
 * the way from void to grain its slope is gap phi(Phi^-1(u))/s, whatever the blur s. The profile is
 * the median slope over all voxels at u = 0.1, 0.2 ... 0.9, over phi(Phi^-1(u)): much the same at
 * all u where there are two phases. A third one that lies at u between them, be it a plateau or a
 * film of a voxel, makes the slope small there. So
 *   least = least of the profile at 0.3 to 0.6 over the largest at 0.1, 0.2, 0.7 and 0.8,
 * and below TL_THIRD_PHASE there is a third phase. Slopes are central differences of the greys
 * smoothed by half a voxel, of bands of 16 slices, twelve at most, spread over the stack. The
 * fraction of flat voxels with greys between was tried instead: contacts, noise that neighbours
 * share and coarse voxels make as many of them as films do. Not seen: a film thinner than the blur,
 * and anything in noise of a tenth of the gap (denoise first). docs/notebook/imaging.md has the
 * numbers.
 */
#ifndef TL_IMAGE_THIRD_PHASE_H
#define TL_IMAGE_THIRD_PHASE_H

#include "image/source.h"

#include <stdbool.h>

enum { TL_PROFILE = 9 };
#define TL_THIRD_PHASE 0.82
#define TL_PROFILE_NOISE 0.11 /* gaps a voxel */

typedef struct TlThirdPhase {
  bool looked; /* were there voxels enough at each u, and little noise? */
  bool found;
  double profile[TL_PROFILE]; /* largest 1 */
  double least, noise;
  double width; /* s of the steepest part, voxels */
  double place; /* u where the profile is least between 0.3 and 0.6 */
} TlThirdPhase;

/* level: greys of void and grain. The same bits for any thread count. */
TlStatus tl_third_phase(const TlSource *grey, const TlRoi *roi, const double level[2],
                        TlThirdPhase *third);

#endif
