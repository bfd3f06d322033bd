#include "solve/penalty_setup.h"

#include "conf/keys.h"
#include "solve/law.h"
#include "solve/model.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const TlParam tl_penalty_params[] = {
    REAL(TlPenaltySetup, dt_s, "s", "0", 0, 1,
         "time step of method penalty, so that a study goes by either method; 0: time.dt_s"),
    CHOICE(TlPenaltySetup, law, "linear", TL_LAW_CHOICES,
           "normal force over depth: k d, or Hertz's, which is of one point a contact"),
    CHOICE(
        TlPenaltySetup, spread, "traction", "nodes|traction|deepest",
        "what bears: each touching node of the lower id (Tan 2022; stiffer the finer the nodes), "
        "the surfaces where they overlap, between the nodes, too (solver.edges nodes: what the "
        "nodes of both stand for), or the deepest point"),
#define OWN(key, unit, preset, least, most, help)                                                  \
  REAL(TlPenaltySetup, key, unit, preset, least, most, help ", grain on grain"),                   \
      REAL(TlPenaltySetup, boundary_##key, unit, "0", 0, most,                                     \
           "the same on boundaries; 0: as between grains"),
#define SHARED(key, unit, preset, least, most, help)                                               \
  REAL(TlPenaltySetup, key, unit, preset, least, most, help),
#define F(key, member, unit, most, rule, help, preset, least, boundary)                            \
  boundary(key, unit, preset, least, most, help)
    TL_STIFFNESS_FIELDS(F, F)
#undef F
#undef OWN
#undef SHARED
        REAL(TlPenaltySetup, touching_share, "", "0.2", 1e-4, 1,
             "traction: no more of a grain's surface touches; the safe step is reckoned with it. "
             "Stiff "
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

/* Parameters of the laws, grain on grain and on boundaries. */
static void take_stiffness(const TlPenaltySetup *p, TlStiffness *grain, TlStiffness *other) {
#define OWN(key) p->boundary_##key > 0 ? p->boundary_##key : p->key
#define SHARED(key) p->key
#define F(key, member, unit, most, rule, help, preset, least, boundary)                            \
  grain->key = p->key;                                                                             \
  other->key = boundary(key);
  TL_STIFFNESS_FIELDS(F, F)
#undef F
#undef OWN
#undef SHARED
}

TlStatus tl_penalty_check_section(const void *section, const TlStudy *study) {
  static const char *const spread[] = {"nodes", "traction", "deepest"};
  const TlPenaltySetup *p = section;
  const TlNormalLaw *law = tl_law(p->law);
  TlStiffness grain, boundary;
  char key[64];
  if (!law->surface.key && p->spread != TL_SPREAD_DEEPEST)
    return tl_study_fail(study, TL_EINPUT, "penalty.spread",
                         "law %s is of one point a contact: deepest", law->name);
  const TlLawNeed *need = p->spread == TL_SPREAD_TRACTION ? &law->surface : &law->point;
  take_stiffness(p, &grain, &boundary);
  if (tl_law_value(need, &grain) > 0) return TL_OK;
  snprintf(key, sizeof key, "penalty.%s", need->key);
  const char *instead = strcmp(need->key, "young_Pa") != 0 && grain.young_Pa > 0
                            ? "; young_Pa is of law: hertz"
                        : strcmp(need->key, "normal_N_m") != 0 && grain.normal_N_m > 0
                            ? "; normal_N_m is of law: linear with spread: deepest or nodes"
                        : strcmp(need->key, "normal_Pa_m") != 0 && grain.normal_Pa_m > 0
                            ? "; normal_Pa_m is of law: linear with spread: traction"
                            : "";
  return tl_study_fail(study, TL_EINPUT, key, "is needed for law %s with spread %s%s", law->name,
                       spread[p->spread], instead);
}

TlMethodChoice tl_penalty_choose(const void *section) {
  const TlPenaltySetup *p = section;
  TlMethodChoice choice = {
      .step_s = p->dt_s, .mass_scale = p->mass_scale, .nodes_every = p->nodes_every};
  take_stiffness(p, &choice.grain, &choice.boundary);
  return choice;
}

void tl_penalty_configure(const void *section, TlSolverConfig *config) {
  const TlPenaltySetup *p = section;
  config->penalty = (TlPenalty){.law = p->law,
                                .spread = (TlSpread)p->spread,
                                .most_share = p->most_share,
                                .touching_share = p->touching_share};
  /* The spread says whose nodes bear. */
  config->search.finer = p->spread == TL_SPREAD_TRACTION && config->search.sides == TL_SIDES_LOWER;
  config->search.sides = p->spread == TL_SPREAD_NODES ? TL_SIDES_LOWER : TL_SIDES_BOTH;
}
