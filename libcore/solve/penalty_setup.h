/* Section penalty: contacts by springs and dashpots (solve/penalty.h), of solver.method penalty. */
#ifndef TL_SOLVE_PENALTY_SETUP_H
#define TL_SOLVE_PENALTY_SETUP_H

#include "conf/study.h"
#include "model/material.h"

typedef struct TlPenaltySetup {
  int law, spread;
  double dt_s; /* in place of time.dt_s; 0: that */
  /* parameters of the laws, grain on grain and on boundaries */
#define OWN(key) double boundary_##key;
#define SHARED(key)
#define F(key, member, unit, most, rule, help, preset, least, boundary)                            \
  double key;                                                                                      \
  boundary(key)
  TL_STIFFNESS_FIELDS(F, F)
#undef F
#undef OWN
#undef SHARED
  double most_share, touching_share, mass_scale;
  int64_t nodes_every;
} TlPenaltySetup;

#define OWN +2
#define SHARED +1
#define F(key, member, unit, most, rule, help, preset, least, boundary) boundary
enum { TL_PENALTY_PARAMS = 7 TL_STIFFNESS_FIELDS(F, F) };
#undef F
#undef OWN
#undef SHARED
extern const TlParam tl_penalty_params[];

/* What the method's row wants of its section (solve/methods.h). The stiffness that law and spread ask
 * for must be there; TL_EINPUT names the key. */
struct TlMethodChoice;
struct TlSolverConfig;
TlStatus tl_penalty_check_section(const void *section, const TlStudy *study);
struct TlMethodChoice tl_penalty_choose(const void *section);
void tl_penalty_configure(const void *section, struct TlSolverConfig *config);

#endif
