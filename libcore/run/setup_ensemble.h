/* Section ensemble: releases of single blocks, or of blocks that start together, each release alone
 * (run/ensemble.h). */
#ifndef TL_RUN_SETUP_ENSEMBLE_H
#define TL_RUN_SETUP_ENSEMBLE_H

#include "conf/study.h"

typedef enum TlReleaseFrom {
  TL_FROM_AREA = 0, /* anywhere in the release area */
  TL_FROM_BODIES    /* at the places of the list of bodies, in turn */
} TlReleaseFrom;

typedef enum TlBlockTurn { TL_TURN_RANDOM = 0, TL_TURN_AS_GIVEN } TlBlockTurn;
typedef enum TlVolumeLaw { TL_VOLUME_EVEN = 0, TL_VOLUME_LOG } TlVolumeLaw;

/* A number that is drawn anew for each release. */
typedef struct TlRangeSetup {
  char *key; /* TL_RANGE_DENSITY, or the path of a number of the study */
  double low, high;
  int law; /* TlVolumeLaw */
} TlRangeSetup;
#define TL_RANGE_DENSITY "density_kg_m3"

typedef struct TlEnsembleSetup {
  int64_t count;            /* of releases; 0: the study has no ensemble */
  int64_t blocks_together;  /* blocks of a release */
  double together_within_m; /* 0: as their volume says */
  int from;                 /* TlReleaseFrom */
  TlTexts shapes;
  double least_volume_m3, most_volume_m3; /* 0: sizes as given */
  int volume_law;                         /* TlVolumeLaw */
  int orientation;                        /* TlBlockTurn */
  double velocity_spread_m_s[3];
  int64_t grounds;    /* draws of the ground's roughness and of the forest */
  TlStudyList ranges; /* of TlRangeSetup */
} TlEnsembleSetup;

enum { TL_ENSEMBLE_PARAMS = 11, TL_ENSEMBLE_SECTIONS = 1, TL_MOST_RANGES = 32 };
extern const TlParam tl_ensemble_params[];
extern const TlStudySection tl_ensemble_sections[];

struct TlSetup;
/* Before the other checks: what an ensemble cannot do is refused at its key, and what it implies for
 * other sections (a release area that follows the ground, blocks that run until they rest) is set. */
TlStatus tl_ensemble_settle(struct TlSetup *setup, const TlStudy *study);
/* The range of volumes: both ends or none, the least first. Fields of a release area may set it, too. */
TlStatus tl_ensemble_check_sizes(const TlEnsembleSetup *ensemble, const TlStudy *study);

#endif
