/* Section poor: what becomes of grains that cannot be brought apart (solve/step_poor.c). */
#ifndef TL_SOLVE_POOR_SETUP_H
#define TL_SOLVE_POOR_SETUP_H

#include "conf/study.h"

typedef enum TlPoorAction {
  TL_POOR_STOP = 0, /* the run ends with exit status 1 */
  TL_POOR_FREEZE,   /* fixed where it is */
  TL_POOR_DROP      /* taken out of the run */
} TlPoorAction;

/* What becomes of an unresolved grain: nothing, or one of the above. */
typedef enum TlJamAction { TL_JAM_WARN = 0, TL_JAM_STOP, TL_JAM_FREEZE, TL_JAM_DROP } TlJamAction;

typedef struct TlPoorSetup {
  int action, jammed; /* TlPoorAction, TlJamAction */
  double overlap_share;
  int64_t steps;
} TlPoorSetup;

enum { TL_POOR_PARAMS = 4 };
extern const TlParam tl_poor_params[];

#endif
