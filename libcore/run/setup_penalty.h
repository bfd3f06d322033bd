/* Section penalty: contacts by springs and dashpots (dem/penalty.h), of solver.method penalty. */
#ifndef TL_RUN_SETUP_PENALTY_H
#define TL_RUN_SETUP_PENALTY_H

#include "conf/study.h"
#include "dem/penalty.h"

typedef struct TlPenaltySetup {
  int law, spread;
  double dt_s; /* in place of time.dt_s; 0: that */
  double normal_N_m, boundary_normal_N_m;
  double normal_Pa_m, boundary_normal_Pa_m;
  double young_Pa, boundary_young_Pa;
  double poisson, tangential_ratio, most_share, touching_share, mass_scale;
  int64_t nodes_every;
} TlPenaltySetup;

enum { TL_PENALTY_PARAMS = 15 };
extern const TlParam tl_penalty_params[];

/* The stiffness that law and spread ask for must be there; TL_EINPUT names the key. */
TlStatus tl_penalty_check(const TlPenaltySetup *setup, const TlStudy *study);
TlPenalty tl_penalty_of(const TlPenaltySetup *setup);

#endif
