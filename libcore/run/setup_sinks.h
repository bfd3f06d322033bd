/* Section sinks: regions in which grains are taken out of the run. */
#ifndef TL_RUN_SETUP_SINKS_H
#define TL_RUN_SETUP_SINKS_H

#include "conf/study.h"

typedef enum TlSinkShape { TL_SINK_PLANE = 0, TL_SINK_BOX } TlSinkShape;

typedef struct TlSinkSetup {
  int kind; /* TlSinkShape */
  double point_m[3], normal[3], size_m[3], rotation_deg[3];
} TlSinkSetup;

enum { TL_SINK_PARAMS = 5 };
extern const TlParam tl_sink_params[];

/* What one key says against another. */
TlStatus tl_sinks_check(const TlStudyList *sinks, const TlStudy *study);

#endif
