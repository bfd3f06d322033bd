#include "dem/penalty_setup.h"

#include "conf/keys.h"
#include "dem/model.h"

#include <stddef.h>

const TlParam tl_penalty_params[] = {
    REAL(TlPenaltySetup, dt_s, "s", "0", 0, 1,
         "time step of method penalty, so that a study goes by either method; 0: time.dt_s"),
    CHOICE(TlPenaltySetup, law, "linear", TL_LAW_CHOICES,
           "normal force over depth: k d, or Hertz's, which is of one point a contact"),
    CHOICE(
        TlPenaltySetup, spread, "traction", "nodes|traction|deepest",
        "what bears: each touching node of the lower id (Tan 2022; stiffer the finer the nodes), "
        "the surface that nodes of both stand for, or the deepest point"),
    REAL(TlPenaltySetup, normal_N_m, "N/m", "0", 0, 1e20,
         "linear law: normal stiffness of a point, grain on grain"),
    REAL(TlPenaltySetup, boundary_normal_N_m, "N/m", "0", 0, 1e20,
         "the same on boundaries; 0: as between grains"),
    REAL(TlPenaltySetup, normal_Pa_m, "Pa/m", "0", 0, 1e20,
         "linear law with traction: normal stiffness of the surface, grain on grain"),
    REAL(TlPenaltySetup, boundary_normal_Pa_m, "Pa/m", "0", 0, 1e20,
         "the same on boundaries; 0: as between grains"),
    REAL(TlPenaltySetup, young_Pa, "Pa", "0", 0, 1e15,
         "Hertz: Young's modulus of the grains, grain on grain"),
    REAL(TlPenaltySetup, boundary_young_Pa, "Pa", "0", 0, 1e15,
         "the same on boundaries; 0: as between grains"),
    REAL(TlPenaltySetup, poisson, "", "0.25", -0.99, 0.5, "Hertz: Poisson's ratio"),
    REAL(TlPenaltySetup, tangential_ratio, "", "0.2857142857142857", 0, 10,
         "linear law: tangential over normal stiffness; 2/7: both vibrate in step on spheres"),
    REAL(TlPenaltySetup, touching_share, "", "0.2", 1e-4, 1,
         "traction: no more of a grain's surface touches; the safe step is reckoned with it. Stiff "
         "grains touch by a hundredth, and take steps four times as long; history.csv's "
         "stable_step_s says how far one may go"),
    REAL(TlPenaltySetup, most_share, "", "0", 0, 10,
         "depth over the smaller radius from which on a contact bears no more (Tan 2022 4.4.3 caps "
         "what severe overlap gives); 0: no cap"),
    INT(TlPenaltySetup, nodes_every, "1", 1, 1e6,
        "use every n-th node of an avatar only (Tan 2022 4.5.1), each with the area that falls to "
        "it: faster and coarser"),
    REAL(TlPenaltySetup, mass_scale, "", "1", 1e-9, 1e12,
         "masses are made this many times as large, and gravity this many times smaller: weights "
         "stay, the stable step grows by its root, the inertia number, too"),
};
_Static_assert(COUNT(tl_penalty_params) == TL_PENALTY_PARAMS, "rows of section penalty");

static double or_else(double value, double other) {
  return value > 0 ? value : other;
}

TlStatus tl_penalty_check_section(const void *section, const TlStudy *study) {
  const TlPenaltySetup *p = section;
  bool hertz = tl_law(p->law)->one_point;
  if (hertz && p->spread != TL_SPREAD_DEEPEST)
    return tl_study_fail(study, TL_EINPUT, "penalty.spread",
                         "law %s is of one point a contact: deepest", tl_law(p->law)->name);
  if (hertz && !(p->young_Pa > 0))
    return tl_study_fail(study, TL_EINPUT, "penalty.young_Pa", "is needed for law hertz");
  if (!hertz && p->spread == TL_SPREAD_TRACTION && !(p->normal_Pa_m > 0))
    return tl_study_fail(study, TL_EINPUT, "penalty.normal_Pa_m", "is needed for spread traction");
  if (!hertz && p->spread != TL_SPREAD_TRACTION && !(p->normal_N_m > 0))
    return tl_study_fail(study, TL_EINPUT, "penalty.normal_N_m",
                         "is needed for law linear with spread nodes or deepest");
  return TL_OK;
}

TlMethodChoice tl_penalty_choose(const void *section) {
  const TlPenaltySetup *p = section;
  return (TlMethodChoice){p->dt_s, p->mass_scale, p->nodes_every};
}

void tl_penalty_configure(const void *section, TlSolverConfig *config) {
  const TlPenaltySetup *p = section;
  TlStiffness grain = {.normal_N_m = p->normal_N_m,
                       .normal_Pa_m = p->normal_Pa_m,
                       .young_Pa = p->young_Pa,
                       .poisson = p->poisson,
                       .ratio = p->tangential_ratio};
  TlStiffness boundary = grain;
  boundary.normal_N_m = or_else(p->boundary_normal_N_m, grain.normal_N_m);
  boundary.normal_Pa_m = or_else(p->boundary_normal_Pa_m, grain.normal_Pa_m);
  boundary.young_Pa = or_else(p->boundary_young_Pa, grain.young_Pa);
  config->penalty = (TlPenalty){.law = p->law,
                                .spread = (TlSpread)p->spread,
                                .grain = grain,
                                .boundary = boundary,
                                .most_share = p->most_share,
                                .touching_share = p->touching_share};
  /* The spread says whose nodes bear. */
  config->search.sides = p->spread == TL_SPREAD_NODES ? TL_SIDES_LOWER : TL_SIDES_BOTH;
}
