/* Section penalty: contacts by springs and dashpots (solve/penalty.h), of solver.method penalty; and
 * the options of the method that the solver keeps of it. */
#ifndef TL_SOLVE_PENALTY_SETUP_H
#define TL_SOLVE_PENALTY_SETUP_H

#include "conf/study.h"
#include "model/material.h"

typedef enum TlSpread { TL_SPREAD_NODES = 0, TL_SPREAD_TRACTION, TL_SPREAD_DEEPEST } TlSpread;

/* Options of the method. */
typedef struct TlPenalty {
  int law; /* number in law.h */
  TlSpread spread;
  double most_share; /* a pair deeper than this fraction of the smaller radius bears no more than
                        at that depth (Tan 2022 4.4.3 caps what severe overlap gives); 0: no cap */
  double touching_share; /* traction: at most this fraction of a grain's surface touches; the safe
                            step is computed with it; 0: a fifth */
} TlPenalty;

/* The section of a study. */
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
