/* Stems of a forest, which take energy from blocks that hit them (study: terrain.stems_per_ha and the
 * like, or of a class of the ground).
 *
 * Stems stand at random places that the study's seed draws: in each square of TL_FOREST_SQUARE_M a
 * number by Poisson's law, each place as likely. They stand there for all blocks of the seed, in any
 * order, on any rank. A block hits a stem when its mass centre comes within half of the stem's and its
 * own diameter (of the sphere of its volume) in plan, below the stem's height above the ground. Its
 * mass centre then loses the energy that the stem can take, or stops; direction and spin stay, and so
 * does the stem.
 */
#ifndef TL_RUN_FOREST_H
#define TL_RUN_FOREST_H

#include "base/status.h"

#include <stdbool.h>

struct TlRun;
struct TlSetup;

enum { TL_FOREST_SQUARE_M = 5 };

/* Of a place. */
typedef struct TlForest {
  double stems_per_ha, stem_diameter_m, stem_height_m, stem_energy_kJ;
} TlForest;

/* What a stem of this diameter takes where the study says nothing: 38.7 D^2.31 J, D in cm; from
 * memory, not compared with a source. */
double tl_stem_energy_kJ(double diameter_m);
/* Does the study have stems anywhere? */
bool tl_forest_stands(const struct TlSetup *setup);
/* The owned bodies of the run, after a step; nothing without stems. */
void tl_forest_hit(struct TlRun *run);

#endif
