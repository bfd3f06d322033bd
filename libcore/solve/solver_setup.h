/* Sections contact, solver and unresolved of a study: the solver's own parameters with their defaults and
 * ranges. tl_solver_defaults and the solver's checks read the same rows, and a study refuses what
 * the solver would refuse. */
#ifndef TL_SOLVE_SOLVER_SETUP_H
#define TL_SOLVE_SOLVER_SETUP_H

#include "conf/study.h"
#include "model/material.h"

/* Of grains and gravity; studies have them in sections grains and at the top level. */
#define TL_DEFAULT_DENSITY "2650"
#define TL_DEFAULT_GRAVITY "0,0,-9.81"

typedef struct TlContactSetup {
  /* of pair laws, grain on grain and on boundaries */
#define F(key, ...) double key, boundary_##key;
  TL_CONTACT_FIELDS(F)
#undef F
  double damping_per_s, impact_threshold_m_s;
} TlContactSetup;

typedef struct TlSolverSetup {
  int method, order, friction_direction, rest, sides, edges;
  int64_t increments, max_rounds, rest_sweeps, position_sweeps;
  double similar, tolerance, rest_tolerance, position_rate, slop, sleep_speed, sleep_after;
  bool deterministic;
} TlSolverSetup;

/* Section unresolved: what becomes of grains that cannot be brought apart (solve/step_problems.c). */
typedef enum TlEmbeddedAction {
  TL_EMBEDDED_STOP = 0, /* the run ends with exit status 1 */
  TL_EMBEDDED_FREEZE,   /* fixed where it is */
  TL_EMBEDDED_DROP      /* taken out of the run */
} TlEmbeddedAction;

/* What becomes of an unresolved grain: nothing, or one of the above. */
typedef enum TlUnresolvedAction {
  TL_UNRESOLVED_WARN = 0,
  TL_UNRESOLVED_STOP,
  TL_UNRESOLVED_FREEZE,
  TL_UNRESOLVED_DROP
} TlUnresolvedAction;

typedef struct TlProblemSetup {
  int embedded, collisions; /* TlEmbeddedAction, TlUnresolvedAction */
  double overlap_share;
  int64_t steps;
} TlProblemSetup;

enum {
  TL_CONTACT_PARAMS = 2 * TL_CONTACT_FIELD_COUNT + 2,
  TL_SOLVER_PARAMS = 18,
  TL_PROBLEM_PARAMS = 4
};
extern const TlParam tl_contact_params[], tl_solver_params[], tl_problem_params[];

struct TlSolverConfig;
/* Into the members of the configuration that these sections speak of. */
void tl_solver_configure(const TlContactSetup *contact, const TlSolverSetup *solver,
                         const TlProblemSetup *problem, struct TlSolverConfig *config);
/* The pair laws, but for stiffness, that hold where nothing else is said. */
void tl_contact_laws(const TlContactSetup *contact, TlPairLaw *grain, TlPairLaw *boundary);
/* Are those members in the ranges of their rows? TL_EUSAGE names the key. */
TlStatus tl_solver_check_ranges(const struct TlSolverConfig *config);

/* TL_EUSAGE unless low <= value <= high. */
TlStatus tl_solver_check_value(const char *name, double value, double low, double high);

#endif
