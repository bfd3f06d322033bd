/* Section penalty: contacts by springs and dashpots (dem/penalty.h), of solver.method penalty. */
#ifndef TL_DEM_PENALTY_SETUP_H
#define TL_DEM_PENALTY_SETUP_H

#include "conf/study.h"

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

/* What the method's row wants of its section (dem/methods.h). The stiffness that law and spread ask
 * for must be there; TL_EINPUT names the key. */
struct TlMethodChoice;
struct TlSolverConfig;
TlStatus tl_penalty_check_section(const void *section, const TlStudy *study);
struct TlMethodChoice tl_penalty_choose(const void *section);
void tl_penalty_configure(const void *section, struct TlSolverConfig *config);

#endif
