/* Pictures of the outflow's runs (judge/outflow.h), from one camera. */
#ifndef TL_TESTS_VALIDATION_OUTFLOW_PICTURES_H
#define TL_TESTS_VALIDATION_OUTFLOW_PICTURES_H

#include "validation/pictures.h"

/* Of seed 1's run of this name; fractions and names as pictures() has them. */
static inline void outflow_pictures(const char *run, int count, const double *fraction,
                                    const char *const *names) {
  char folder[32];
  double wide = judge_full() ? 2.15 : 1; /* ten times the grains */
  snprintf(folder, sizeof folder, "%s_seed1.run", run);
  Gallery g = {.folder = judge_path(folder),
               .from = {0, -0.23 * wide, 0.12 * wide},
               .at = {0, 0, 0.015 * wide},
               .colour = TL_COLOUR_ID,
               .width = 600,
               .height = 400};
  pictures(&g, count, fraction, names);
}

#endif
