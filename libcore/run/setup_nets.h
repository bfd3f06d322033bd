/* Section nets: sheets of bonded spheres (solve/membrane.h). */
#ifndef TL_RUN_SETUP_NETS_H
#define TL_RUN_SETUP_NETS_H

#include "conf/study.h"
#include "run/setup_materials.h"
#include "solve/membrane.h"

typedef struct TlNetSetup {
  double corner_m[3], along_m[3], across_m[3];
  double tube_radius_m, spacing_m, radius_m, density_kg_m3, mass_kg;
  int64_t columns, rows, layers;
  double layer_gap_m, stiffness_N_m, tangential_stiffness_N_m, damping, strength_N, stretch_most;
  char *material;
  double pressure_Pa;
  TlOldForm own;
  TlTexts clamped;
} TlNetSetup;

enum { TL_NET_PARAMS = 22 };
extern const TlParam tl_net_params[];

/* Net i of the list as the solver wants it; its ids follow those of the nets before it. TL_EINPUT
 * at the study's key, also when step_s is not below the net's stable step; 0: any step is stable. */
TlStatus tl_net_setup_make(const TlStudyList *nets, int64_t i, double step_s, double mass_scale,
                           const TlStudy *study, TlNet *net);

#endif
