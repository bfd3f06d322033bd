/* Section release: where the grains of an assembly are at the start, or come from. */
#ifndef TL_RUN_SETUP_RELEASE_H
#define TL_RUN_SETUP_RELEASE_H

#include "conf/study.h"

typedef enum TlAssembly {
  TL_ASSEMBLY_AS_SCANNED = 0, /* the sample's in-situ poses */
  TL_ASSEMBLY_LATTICE,        /* grains drawn from the selection on a lattice */
  TL_ASSEMBLY_DRAWN,          /* drawn into a region without overlap */
  TL_ASSEMBLY_POURED,         /* let in through an inlet during the run */
  TL_ASSEMBLY_FROM_RUN        /* the grains of a frame of an earlier run */
} TlAssembly;

typedef struct TlCorner {
  double x_m, y_m;
} TlCorner;

typedef struct TlSizeSetup {
  double least_diameter_m, most_diameter_m, mass_share;
  int64_t count;
} TlSizeSetup;

typedef enum TlCutKind { TL_CUT_NONE = 0, TL_CUT_BOX, TL_CUT_CYLINDER } TlCutKind;

/* In the axes that the grains come from: the scan's, or the earlier run's. */
typedef struct TlCutSetup {
  int kind;
  bool whole;
  double low_m[3], high_m[3];                    /* box */
  double foot_m[3], axis[3], radius_m, height_m; /* cylinder */
} TlCutSetup;

typedef struct TlReleaseSetup {
  int assembly;
  char *run;     /* folder of the earlier run */
  int64_t frame; /* < 0: its last */
  bool keep_velocities;
  double position_m[3], rotation_deg[3];
  bool along_ground;
  double clearance_m, above_ground_m;
  double blocks_per_year,
      releases_per_year; /* for what is made of the results; the run uses neither */
  double low_m[3], high_m[3];
  double spacing;
  int64_t layers, count;
  double velocity_m_s[3];
  double depth_m, rate_per_s;
  bool round, resize;
  int64_t tries;
  char *polygon_file;  /* the polygon, from a GIS file (run/gis.h); NULL afterwards */
  TlStudyList polygon; /* of TlCorner */
  TlStudyList sizes;   /* of TlSizeSetup */
  TlCutSetup cut;
} TlReleaseSetup;

enum { TL_RELEASE_PARAMS = 23, TL_RELEASE_SECTIONS = 3 };
extern const TlParam tl_release_params[];
extern const TlStudySection tl_release_sections[];

/* What one key says against another. */
TlStatus tl_release_check(const TlReleaseSetup *release, bool terrain, const TlStudy *study);

#endif
