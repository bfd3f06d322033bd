/* Sections contact and solver of a study: the solver's own parameters with their defaults and
 * ranges. tl_solver_defaults and the solver's checks read the same rows, and a study refuses what
 * the solver would refuse. */
#ifndef TL_DEM_SOLVER_SETUP_H
#define TL_DEM_SOLVER_SETUP_H

#include "conf/study.h"
#include "dem/poor_setup.h"

/* Of grains and gravity; studies have them in sections grains and at the top level. */
#define TL_DEFAULT_DENSITY "2650"
#define TL_DEFAULT_GRAVITY "0,0,-9.81"

typedef struct TlContactSetup {
  double friction, restitution, boundary_friction, boundary_restitution;
  double tangential_restitution, boundary_tangential_restitution;
  double damping_per_s, impact_threshold_m_s;
} TlContactSetup;

typedef struct TlSolverSetup {
  int method, order, rest, sides, edges;
  int64_t increments, max_rounds, rest_sweeps, position_sweeps;
  double similar, tolerance, rest_tolerance, position_rate, slop;
} TlSolverSetup;

enum { TL_CONTACT_PARAMS = 8, TL_SOLVER_PARAMS = 14 };
extern const TlParam tl_contact_params[], tl_solver_params[];

struct TlSolverConfig;
/* Into the members of the configuration that these sections speak of. */
void tl_solver_configure(const TlContactSetup *contact, const TlSolverSetup *solver,
                         const TlPoorSetup *poor, struct TlSolverConfig *config);
/* Are those members in the ranges of their rows? TL_EUSAGE names the key. */
TlStatus tl_solver_check_ranges(const struct TlSolverConfig *config);

/* TL_EUSAGE unless low <= value <= high. */
TlStatus tl_solver_check_value(const char *name, double value, double low, double high);

#endif
