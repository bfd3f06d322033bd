/* Section nonsmooth: contacts and joints as constraints with compliance (docs/theory/nonsmooth.md), of
 * solver.method nonsmooth; and the options of the method that the solver keeps of it. */
#ifndef TL_SOLVE_NONSMOOTH_SETUP_H
#define TL_SOLVE_NONSMOOTH_SETUP_H

#include "conf/study.h"
#include "model/material.h"
#include "solve/reduction_setup.h"

typedef enum TlMapping { TL_MAP_HERTZ = 0, TL_MAP_LINEAR } TlMapping;

/* How a problem is iterated: projected Gauss-Seidel with a step beyond every fourth sweep, without, or with one beyond
 * each (nonsmooth.h: tl_nonsmooth_further). */
typedef enum TlNsSolver { TL_NS_EXTRAPOLATED = 0, TL_NS_SWEEPS, TL_NS_GRADIENTS } TlNsSolver;

/* Options of the method. */
typedef struct TlNonsmooth {
  TlMapping law;
  TlNsSolver solver;
  bool rolling_of_all;         /* rolling and twisting resistance of shaped bodies, too */
  int iterations;              /* most of the continuous stage; 0: 0.1 n/overlap_share */
  int impact_iterations;       /* most of the impact stage; 0: likewise */
  double tolerance;            /* of the residual, see nonsmooth.h; 0: always all iterations */
  double overlap_share;        /* eps: overlap over the diameter that steps and iterations allow */
  double contact_damping;      /* tau_n over the step */
  double joint_damping;        /* tau of joints over the step */
  double impact_threshold_m_s; /* < 0: min(eps d/h, 2 a h) */
  bool warm;                   /* start from the forces of the last step */
  double problems_every_s;     /* the run writes the problem of a step so often; 0: never */
  TlReduction reduction;       /* of its own section */
} TlNonsmooth;

/* The section of a study. */
typedef struct TlNonsmoothSetup {
  double dt_s; /* in place of time.dt_s; 0: that */
  int law, rolling_of, solver;
  double young_Pa, boundary_young_Pa, poisson, normal_N_m, boundary_normal_N_m;
  int64_t iterations, impact_iterations;
  double tolerance, overlap_share, contact_damping, joint_damping;
  bool warm;
  double problems_every_s;
} TlNonsmoothSetup;

enum { TL_NONSMOOTH_PARAMS = 17 };
extern const TlParam tl_nonsmooth_params[];

/* What the method's row wants of its section (solve/methods.h). The stiffness that the mapping asks for
 * must be there; TL_EINPUT names the key. */
struct TlMethodChoice;
struct TlSolverConfig;
TlStatus tl_nonsmooth_check_section(const void *section, const TlStudy *study);
struct TlMethodChoice tl_nonsmooth_choose(const void *section);
void tl_nonsmooth_configure(const void *section, struct TlSolverConfig *config);

#endif
