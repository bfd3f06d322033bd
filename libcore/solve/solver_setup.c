#include "solve/solver_setup.h"

#include "conf/keys.h"
#include "solve/model.h"

#include <stddef.h>
#include <string.h>

const TlParam tl_contact_params[] = {
#define F(key, member, unit, most, rule, help, preset, least, boundary)                            \
  REAL(TlContactSetup, key, unit, preset, least, most, help ", grain on grain"),                   \
      REAL(TlContactSetup, boundary_##key, unit, preset, least, most,                              \
           "the same on terrain, planes and walls"),
    TL_CONTACT_FIELDS(F)
#undef F
        REAL(TlContactSetup, damping_per_s, "1/s", "0", 0, 1e4,
             "global damping (Tan 2024 Eqs. 47-49); times dt_s at most 1"),
    REAL(TlContactSetup, impact_threshold_m_s, "m/s", "-1", -1, 1e4,
         "restitution is 0 below this approach speed; negative: 4 g dt"),
};
_Static_assert(COUNT(tl_contact_params) == TL_CONTACT_PARAMS, "rows of section contact");

const TlParam tl_solver_params[] = {
    CHOICE(TlSolverSetup, method, "etm-level", TL_METHOD_CHOICES,
           "energy tracking by rising level, or contact by contact in order (one rank only); or "
           "sequential or simultaneous impulses; or springs at contacts (section penalty); or "
           "constraints at long steps (section nonsmooth)"),
    CHOICE(TlSolverSetup, order, "weighted", "weighted|plain",
           "contacts in order of reduced mass times approach velocity, or of the velocity"),
    CHOICE(TlSolverSetup, friction_direction, "sliding", "sliding|tang",
           "friction of an impulse that slides: against the sliding velocity, or along the impulse "
           "that would stick, as in Tang 2014"),
    CHOICE(TlSolverSetup, rest, "gauss-seidel", "gauss-seidel|etm|extrapolated",
           "resting contacts: warm-started Gauss-Seidel, which comes to rest; energy tracking "
           "alone, as in Tan 2024; or, for flows, Gauss-Seidel whose every fourth sweep, and that "
           "of the position rule, is followed by a step along what the last two changed "
           "(docs/theory/step.md)"),
    CHOICE(
        TlSolverSetup, sides, "both", "both|lower",
        "nodes of both grains of a pair, or of the one with the lower id; of the penalty method's "
        "traction, the surfaces of both, or the finer one's alone for some six tenths of the "
        "price"),
    CHOICE(TlSolverSetup, edges, "places", "nodes|places|refine",
           "contacts where the surfaces come closest or overlap most, edge on edge included; at "
           "nodes only, as in the papers; or at nodes and at places sought anew between them, some "
           "ten times as dear. The penalty method's traction is of surfaces, or of nodes: places "
           "and refine are the same to it"),
    INT(TlSolverSetup, increments, "20", 1, 10000, "velocity increments of a compression"),
    INT(TlSolverSetup, max_rounds, "40", 1, 100000,
        "rounds of compression and separation before an island is finished with restitution 0"),
    REAL(TlSolverSetup, similar, "", "0.01", 0, 0.5,
         "method etm: contacts within this fraction of the first are taken together"),
    REAL(TlSolverSetup, tolerance, "", "0.05", 1e-9, 1, "velocity tolerance over g dt"),
    REAL(TlSolverSetup, rest_tolerance, "", "0.001", 1e-12, 1,
         "the resting solve ends when a sweep changes no velocity by more than this times g dt"),
    INT(TlSolverSetup, rest_sweeps, "20", 1, 100000, "most sweeps of the resting solve"),
    INT(TlSolverSetup, position_sweeps, "50", 0, 100000, "most sweeps of the position rule"),
    REAL(TlSolverSetup, position_rate, "", "0.2", 0, 1, "fraction of an overlap undone in a step"),
    REAL(TlSolverSetup, slop, "", "0.001", 0, 0.1, "overlap left alone, over the radius"),
    REAL(TlSolverSetup, sleep_speed, "", "0", 0, 1,
         "methods by impulses: grains in contact whose surfaces all move by less than this times g "
         "dt fall asleep, and cost nothing until something reaches them (docs/theory/sleep.md); 0: "
         "never; 1e-4 suits heaps that rest"),
    REAL(TlSolverSetup, sleep_after, "", "10", 0, 1e6,
         "how long grains must have been so slow before they fall asleep, over sqrt(r/g)"),
    FLAG(
        TlSolverSetup, deterministic, "yes",
        "the same bits on any number of ranks; no, of method etm-level: collisions of islands that "
        "several ranks solve together are swept once where else until quiet, for half the "
        "messages; "
        "another number of ranks has other results, whose kinetic energy in drops of 500 to 1,300 "
        "grains was within 1.1% of its largest value, in a small pile in a box within 7%"),
};
_Static_assert(COUNT(tl_solver_params) == TL_SOLVER_PARAMS, "rows of section solver");

const TlParam tl_problem_params[] = {
    RENAMED_CHOICE(
        TlProblemSetup, embedded, "action", "stop", "stop|freeze|drop",
        "a grain that cannot be brought out of another ends the run with exit status 1, is fixed "
        "where it is, or is taken out; the lesser of the two"),
    RENAMED_CHOICE(
        TlProblemSetup, collisions, "jammed", "warn", "warn|stop|freeze|drop",
        "a grain whose collisions the solver could not end in `steps` consecutive steps: it is "
        "named and left alone, or treated as above"),
    REAL(TlProblemSetup, overlap_share, "", "0.1", 0.01, 10,
         "overlap, over the smaller radius, that is looked after"),
    INT(TlProblemSetup, steps, "50", 1, 1000000000,
        "consecutive steps that deep before the grain counts as embedded (at once where the centre "
        "of one "
        "lies inside the other), or with collisions that do not end before a grain counts as "
        "unresolved"),
};
_Static_assert(COUNT(tl_problem_params) == TL_PROBLEM_PARAMS, "rows of section unresolved");

/* F(section, type in the configuration, member there, key): every row of the three sections
 * that the solver takes as it is. */
#define MEMBERS(F)                                                                                 \
  F(contact, double, damping_per_s, damping_per_s)                                                 \
  F(contact, double, impulses.impact_threshold_m_s, impact_threshold_m_s)                          \
  F(solver, TlMethod, method, method)                                                              \
  F(solver, TlEtmOrder, impulses.order, order)                                                     \
  F(solver, TlFrictionDirection, impulses.friction_direction, friction_direction)                  \
  F(solver, TlRest, impulses.rest, rest)                                                           \
  F(solver, TlSides, search.sides, sides)                                                          \
  F(solver, TlEdges, search.edges, edges)                                                          \
  F(solver, int, impulses.increments, increments)                                                  \
  F(solver, int, impulses.max_rounds, max_rounds)                                                  \
  F(solver, double, impulses.similar, similar)                                                     \
  F(solver, double, impulses.tolerance, tolerance)                                                 \
  F(solver, double, impulses.rest_tolerance, rest_tolerance)                                       \
  F(solver, int, impulses.rest_sweeps, rest_sweeps)                                                \
  F(solver, int, impulses.position_sweeps, position_sweeps)                                        \
  F(solver, double, impulses.position_rate, position_rate)                                         \
  F(solver, double, impulses.slop, slop)                                                           \
  F(solver, double, impulses.sleep_speed, sleep_speed)                                             \
  F(solver, double, impulses.sleep_after, sleep_after)                                             \
  F(solver, bool, impulses.deterministic, deterministic)                                           \
  F(problem, double, impulses.embedded_fraction, overlap_share)                                    \
  F(problem, int, impulses.problem_steps, steps)

void tl_solver_configure(const TlContactSetup *contact, const TlSolverSetup *solver,
                         const TlProblemSetup *problem, TlSolverConfig *config) {
#define F(section, type, member, key) config->member = (type)section->key;
  MEMBERS(F)
#undef F
}

void tl_contact_laws(const TlContactSetup *contact, TlPairLaw *grain, TlPairLaw *boundary) {
#define F(key, ...)                                                                                \
  grain->key = contact->key;                                                                       \
  boundary->key = contact->boundary_##key;
  TL_CONTACT_FIELDS(F)
#undef F
}

TlStatus tl_solver_check_value(const char *name, double value, double low, double high) {
  if (value >= low && value <= high) return TL_OK; /* NaN is in no range */
  return tl_fail(TL_EUSAGE, "%s = %g: must lie in [%g, %g]", name, value, low, high);
}

static TlStatus check_row(const TlParam *rows, int count, const char *key, double value) {
  const TlParam *row = rows;
  while (row < rows + count && strcmp(row->key, key) != 0) row++;
  if (row->type == TL_P_CHOICE || row->type == TL_P_FLAG) return TL_OK;
  return tl_solver_check_value(key, value, row->min, row->max);
}

TlStatus tl_solver_check_ranges(const TlSolverConfig *config) {
  enum {
    contact_count = TL_CONTACT_PARAMS,
    solver_count = TL_SOLVER_PARAMS,
    problem_count = TL_PROBLEM_PARAMS
  };
#define F(section, type, member, key)                                                              \
  TL_TRY(check_row(tl_##section##_params, section##_count, #key, (double)config->member));
  MEMBERS(F)
#undef F
  return TL_OK;
}
