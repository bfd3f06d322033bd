#include "solve/nonsmooth_setup.h"

#include "conf/keys.h"
#include "solve/model.h"

#include <stddef.h>

const TlParam tl_nonsmooth_params[] = {
    REAL(TlNonsmoothSetup, dt_s, "s", "0", 0, 1,
         "time step of method nonsmooth, so that a study goes by any method; 0: time.dt_s"),
    CHOICE(TlNonsmoothSetup, law, "hertz", "hertz|linear",
           "compliance of a contact: Hertz's from young_Pa and poisson, or that of a spring "
           "normal_N_m"),
    REAL(TlNonsmoothSetup, young_Pa, "Pa", "0", 0, 1e15,
         "law hertz: Young's modulus of the grains"),
    REAL(TlNonsmoothSetup, boundary_young_Pa, "Pa", "0", 0, 1e15,
         "law hertz: of the boundaries; 0: as of the grains"),
    REAL(TlNonsmoothSetup, poisson, "", "0.25", -0.99, 0.5, "law hertz: Poisson's ratio"),
    REAL(TlNonsmoothSetup, normal_N_m, "N/m", "0", 0, 1e20,
         "law linear: stiffness of a contact, grain on grain"),
    REAL(TlNonsmoothSetup, boundary_normal_N_m, "N/m", "0", 0, 1e20,
         "law linear: the same on boundaries; 0: as between grains"),
    CHOICE(TlNonsmoothSetup, rolling_of, "spheres", "spheres|all",
           "contacts that resist rolling and twisting (contact.rolling, contact.twisting): those "
           "of spheres, or of all bodies: the shape of others resists by itself"),
    CHOICE(TlNonsmoothSetup, solver, "extrapolated", "extrapolated|gauss-seidel|nncg",
           "projected Gauss-Seidel that continues, after every fourth sweep, to where the last two "
           "sweeps point (2 to 8 times fewer iterations); without that; or so after each sweep, in "
           "the manner of conjugate gradients: fewer iterations still, each twice as dear"),
    INT_OR(TlNonsmoothSetup, iterations, "auto", "auto", 0, 1000000,
           "most iterations of the continuous stage; auto (or 0): 0.1 n/overlap_share, n the "
           "grains of an island on end along gravity"),
    INT_OR(TlNonsmoothSetup, impact_iterations, "auto", "auto", 0, 1000000,
           "most iterations of the impact stage; auto (or 0): likewise"),
    REAL(TlNonsmoothSetup, tolerance, "", "0.0001", 0, 1,
         "a solve ends when an iteration changes no velocity by more than this times the velocity "
         "that the forces give in a step; 0: all iterations"),
    REAL(TlNonsmoothSetup, overlap_share, "", "0.01", 1e-9, 1,
         "overlap over the diameter that is tolerated: the rules for step, iterations and impacts "
         "follow from it"),
    REAL(TlNonsmoothSetup, contact_damping, "", "4.5", 0, 1e6,
         "damping time of a contact over the step"),
    REAL(TlNonsmoothSetup, joint_damping, "", "0.25", 0.01, 1e6,
         "damping time of a joint over the step"),
    FLAG(TlNonsmoothSetup, warm, "true", "start each solve from the forces of the step before"),
    REAL(TlNonsmoothSetup, problems_every_s, "s", "0", 0, 1e9,
         "writes what a step solves to problem_000100.h5 (the number of the step) in the results' "
         "folder so often, for solvers to be tried on: by one rank, without joints; 0: never"),
};
_Static_assert(COUNT(tl_nonsmooth_params) == TL_NONSMOOTH_PARAMS, "rows of section nonsmooth");

TlStatus tl_nonsmooth_check_section(const void *section, const TlStudy *study) {
  const TlNonsmoothSetup *p = section;
  if (p->law == TL_MAP_HERTZ && !(p->young_Pa > 0))
    return tl_study_fail(study, TL_EINPUT, "nonsmooth.young_Pa", "is needed for law hertz%s",
                         p->normal_N_m > 0 ? "; normal_N_m is of law: linear" : "");
  if (p->law == TL_MAP_LINEAR && !(p->normal_N_m > 0))
    return tl_study_fail(study, TL_EINPUT, "nonsmooth.normal_N_m", "is needed for law linear%s",
                         p->young_Pa > 0 ? "; young_Pa is of law: hertz" : "");
  return TL_OK;
}

TlMethodChoice tl_nonsmooth_choose(const void *section) {
  const TlNonsmoothSetup *p = section;
  TlMethodChoice choice = {.step_s = p->dt_s, .mass_scale = 1, .nodes_every = 1};
  choice.grain =
      (TlStiffness){.normal_N_m = p->normal_N_m, .young_Pa = p->young_Pa, .poisson = p->poisson};
  choice.boundary = choice.grain;
  if (p->boundary_normal_N_m > 0) choice.boundary.normal_N_m = p->boundary_normal_N_m;
  if (p->boundary_young_Pa > 0) choice.boundary.young_Pa = p->boundary_young_Pa;
  return choice;
}

void tl_nonsmooth_configure(const void *section, TlSolverConfig *config) {
  const TlNonsmoothSetup *p = section;
  config->nonsmooth = (TlNonsmooth){.law = (TlMapping)p->law,
                                    .solver = (TlNsSolver)p->solver,
                                    .rolling_of_all = p->rolling_of == 1,
                                    .iterations = (int)p->iterations,
                                    .impact_iterations = (int)p->impact_iterations,
                                    .tolerance = p->tolerance,
                                    .overlap_share = p->overlap_share,
                                    .contact_damping = p->contact_damping,
                                    .joint_damping = p->joint_damping,
                                    .impact_threshold_m_s = config->impulses.impact_threshold_m_s,
                                    .warm = p->warm,
                                    .problems_every_s = p->problems_every_s};
}
