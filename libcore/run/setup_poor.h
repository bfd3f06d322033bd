/* Section poor: what becomes of grains that cannot be brought apart (dem/step_poor.c). */
#ifndef TL_RUN_SETUP_POOR_H
#define TL_RUN_SETUP_POOR_H

#include "conf/study.h"

typedef enum TlPoorAction {
  TL_POOR_STOP = 0, /* the run ends with exit status 1 */
  TL_POOR_FREEZE,   /* fixed where it is */
  TL_POOR_DROP      /* taken out of the run */
} TlPoorAction;

typedef struct TlPoorSetup {
  int action;
  double overlap_share;
  int64_t steps;
} TlPoorSetup;

enum { TL_POOR_PARAMS = 3 };
extern const TlParam tl_poor_params[];

#endif
