/* The methods: how velocities change in a step. Each is one TlMethodKind, facts about the method
 * and its functions, in the method's own file, and one line of TL_METHODS. Nobody outside those
 * files asks which method runs: they ask for the fact that they need.
 *
 *   enumerator, name in studies (solver.method), kind
 *
 * A method with a section of the study of its own has a line in TL_METHOD_SECTIONS, too:
 *
 *   enumerator, key of the section, struct that the section fills, struct of the options that the
 *   solver keeps (may be the same), header of the reference, rows, count
 *
 * The study gets the section from that line, and the solver's configuration and model a member of
 * that name with the options (model.h). */
#ifndef TL_SOLVE_METHODS_H
#define TL_SOLVE_METHODS_H

#include "conf/study.h"
#include "contact/search.h"
#include "solve/nonsmooth_setup.h"
#include "solve/penalty_setup.h"
#include "model/contact_record.h"
#include "model/material.h"
#include "model/pair_state.h"

#include <stdbool.h>

#define TL_METHODS(M)                                                                              \
  M(TL_ETM_LEVEL, "etm-level", tl_method_etm_level)                                                \
  M(TL_ETM_PRIORITY, "etm", tl_method_etm_priority)                                                \
  M(TL_SQM, "sqm", tl_method_sqm)                                                                  \
  M(TL_SMM, "smm", tl_method_smm)                                                                  \
  M(TL_PENALTY, "penalty", tl_method_penalty)                                                      \
  M(TL_NONSMOOTH, "nonsmooth", tl_method_nonsmooth)

#define TL_METHOD_SECTIONS(S)                                                                      \
  S(TL_PENALTY, penalty, TlPenaltySetup, TlPenalty, "Stiffness of contacts, of method penalty",    \
    tl_penalty_params, TL_PENALTY_PARAMS)                                                          \
  S(TL_NONSMOOTH, nonsmooth, TlNonsmoothSetup, TlNonsmooth,                                        \
    "Contacts and joints as constraints, of method nonsmooth", tl_nonsmooth_params,                \
    TL_NONSMOOTH_PARAMS)

typedef enum TlMethod {
#define M(id, name, kind) id,
  TL_METHODS(M)
#undef M
      TL_METHOD_COUNT
} TlMethod;

const char *tl_method_name(TlMethod method); /* "etm-level" */
extern const char tl_method_names[];         /* "|etm-level|etm|sqm|smm|penalty|nonsmooth" */
#define TL_METHOD_CHOICES (&tl_method_names[1])

/* Somebody who watches the impulses of a group: called before the first, after each and after the
 * last. One thread only; the group's contacts hold W (contact.h). */
typedef enum TlTracePhase {
  TL_TRACE_START = 0,
  TL_TRACE_COMPRESS,
  TL_TRACE_RELEASE,
  TL_TRACE_END
} TlTracePhase;
struct TlGroup;
struct TlDynamics;
typedef struct TlCollisionTrace {
  void *context;
  void (*note)(void *context, TlTracePhase phase, const struct TlGroup *group,
               const struct TlDynamics *dynamics);
  bool ends_only; /* START and END: to show each impulse, an island's state is copied each time */
} TlCollisionTrace;

struct TlBodies;
struct TlEtmCount;
struct TlEtmLaw;
struct TlModel;
struct TlSolverConfig;
struct TlStep;
struct TlStepReport;
struct TlWorkspace;

/* How a method's section of the study changes what the whole run shares. */
typedef struct TlMethodChoice {
  double step_s;       /* in place of time.dt_s; 0: that */
  double mass_scale;   /* all bodies are moved with this many times their mass */
  int64_t nodes_every; /* use every n-th node of an avatar */
  /* of pairs that nothing else is said of, grain on grain and on boundaries */
  TlStiffness grain, boundary;
} TlMethodChoice;

/* The energy tracking and sequential methods differ in this one stage of the step by impulses. */
typedef TlStatus (*TlCollisionSolve)(const struct TlEtmLaw *law, const struct TlGroup *group,
                                     const struct TlDynamics *dynamics, struct TlEtmCount *count);

/* What a method's rules are computed from: of the bodies of all ranks that are neither fixed nor on a joint. */
typedef struct TlMethodScene {
  double speed_m_s;   /* of the fastest, of walls and of what motors move */
  double least_m;     /* diameter of the smallest bounding sphere; INFINITY: there are no bodies */
  double height_m;    /* from the lowest to the highest point along gravity */
  double diameters_m; /* sum over the bodies */
  int64_t count;
} TlMethodScene;
/* What they say. */
typedef struct TlMethodAdvice {
  double step_s;      /* longest step for the accuracy that its section asks for; INFINITY: any */
  double on_end;      /* grains on end along gravity */
  int64_t iterations; /* that those take */
  int64_t fixed;      /* iterations that the study says; 0: the rule's */
} TlMethodAdvice;

/* Functions may be NULL where it says what that means. */
typedef struct TlMethodKind {
  /* Facts. */
  int most_ranks; /* that it works on; 0: any number */
  bool
      bears_force; /* its contacts bear a force between steps: what stress and guided bodies need */
  bool resists;    /* its contacts resist rolling and twisting, and adhere (TlPairLaw) */
  bool implicit_bonds;      /* it steps the bonds of nets at any step: their springs set none */
  bool embeds;              /* its steps look for embedded grains (step_problems.c) */
  bool sleeps;              /* islands of bodies at rest may sleep (solve/sleep.h) */
  bool joints_on_one_rank;  /* bodies on joints with the world, that is; else on any number */
  bool reduces;             /* moves bodies as aggregates where section reduction asks for it */
  bool converges;           /* it says of its solves whether they did (`unconverged` of a step) */
  TlPairKind memory;        /* the kind of contact memory that it keeps (model/pair_state.h) */
  unsigned solves;          /* the kinds of constraints that it solves: bits TL_KIND_BIT(kind) */
  unsigned solves_on_world; /* and those that it solves where they hold a body to the world */

  /* Of its section of the study. NULL without a section. */
  TlStatus (*check_section)(const void *section, const TlStudy *study);
  TlMethodChoice (*choose)(const void *section);
  void (*configure)(const void *section, struct TlSolverConfig *config);

  /* What the method makes of the options of the contact search, its own options being known. NULL: they
   * are taken as they are. */
  TlSearchOptions (*search)(const struct TlModel *model);
  /* Are its options and the pair laws of the model sound for it? NULL: the checks that all methods
   * share suffice. */
  TlStatus (*check)(const struct TlModel *model);
  /* How far about its centre a body looks for contacts, at most, with the largest speed of all
   * bodies on all ranks and its own. NULL: no further than its radius, and speeds do not matter. */
  double (*reach)(const struct TlModel *model, double speed_max, double radius, double speed);
  /* Which values of a pair's stiffness its contacts are computed from: not 0. NULL: none. */
  TlStiffness (*reads)(const struct TlModel *model);
  /* The longest step that is safe for the owned bodies; INFINITY: any. NULL: any always. */
  double (*safe_step)(const struct TlModel *model, const struct TlBodies *bodies);
  /* Rules for step and iterations; NULL: it has none. */
  TlMethodAdvice (*advise)(const struct TlModel *model, const TlMethodScene *scene);
  /* May the owned bodies be stepped, with the step of the model? NULL: always. */
  TlStatus (*check_bodies)(const struct TlModel *model, const struct TlBodies *bodies);
  /* Everything between the reset of the workspace and the filled report. */
  TlStatus (*step)(struct TlStep *step, struct TlStepReport *report);
  /* The last step's contacts (tl_step_contacts). */
  TlStatus (*contact_rows)(const struct TlModel *model, const struct TlBodies *bodies,
                           const struct TlWorkspace *workspace, TlContactRow **rows,
                           int64_t *count);
  TlCollisionSolve collide; /* of tl_step_by_impulses; NULL: it has a step of its own */
} TlMethodKind;

#define M(id, name, kind) extern const TlMethodKind kind;
TL_METHODS(M)
#undef M

const TlMethodKind *tl_method(TlMethod method);

#endif
