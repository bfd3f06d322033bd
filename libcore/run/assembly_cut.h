/* What release.cut leaves of the grains of a scan or of an earlier run. */
#ifndef TL_RUN_ASSEMBLY_CUT_H
#define TL_RUN_ASSEMBLY_CUT_H

#include "run/setup.h"

/* A grain with this centre and bounding radius, in the axes and metres it comes from. */
bool tl_cut_keeps(const TlCutSetup *cut, TlVec3 centre, double radius_m);
/* Middle of the foot of what is cut out. */
TlVec3 tl_cut_foot(const TlCutSetup *cut);
/* Say how many of all are left; TL_EINPUT at the study's key when none is. */
TlStatus tl_cut_judge(const TlCutSetup *cut, int64_t kept, int64_t all, const TlStudy *study);

#endif
