/* Section release: where the grains of an assembly are at the start, or come from. */
#ifndef TL_RUN_SETUP_RELEASE_H
#define TL_RUN_SETUP_RELEASE_H

#include "conf/study.h"

typedef enum TlAssembly {
  TL_ASSEMBLY_AS_SCANNED = 0, /* the sample's in-situ poses */
  TL_ASSEMBLY_LATTICE,        /* grains drawn from the selection on a lattice */
  TL_ASSEMBLY_DRAWN,          /* drawn into a region without overlap */
  TL_ASSEMBLY_POURED          /* let in through an inlet during the run */
} TlAssembly;

typedef struct TlCorner {
  double x_m, y_m;
} TlCorner;

typedef struct TlSizeSetup {
  double least_diameter_m, most_diameter_m, mass_share;
  int64_t count;
} TlSizeSetup;

typedef struct TlReleaseSetup {
  int assembly;
  double position_m[3], rotation_deg[3];
  bool along_ground;
  double clearance_m;
  double low_m[3], high_m[3];
  double spacing;
  int64_t layers, count;
  double velocity_m_s[3];
  double depth_m, rate_per_s;
  bool round, resize;
  int64_t tries;
  TlStudyList polygon; /* of TlCorner */
  TlStudyList sizes;   /* of TlSizeSetup */
} TlReleaseSetup;

enum { TL_RELEASE_PARAMS = 16, TL_RELEASE_SECTIONS = 2 };
extern const TlParam tl_release_params[];
extern const TlStudySection tl_release_sections[];

/* What one key says against another. */
TlStatus tl_release_check(const TlReleaseSetup *release, bool terrain, const TlStudy *study);

#endif
