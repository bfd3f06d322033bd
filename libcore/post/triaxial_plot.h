/* Pictures of triaxial tests, by gnuplot. */
#ifndef TL_POST_TRIAXIAL_PLOT_H
#define TL_POST_TRIAXIAL_PLOT_H

#include "post/triaxial.h"
#include "post/triaxial_compare.h"

typedef struct TlTxPlot {
  int64_t count;              /* of tests, the own one first */
  const TlTxTest *test;       /* [count] */
  char *const *label;         /* [count] */
  const TlMeasured *measured; /* NULL: none */
  double critical_deg;        /* of the first, for Rowe's line; NaN: none */
  const char *caption;        /* a line under the title; "" none */
} TlTxPlot;

/* Into the folder: triaxial_stress_strain.png (q and volumetric strain over axial strain),
 * triaxial_friction.png (friction angle, q/p), triaxial_states.png (stress path, void ratio over
 * strain and over ln p), triaxial_dilatancy.png (psi over strain; sigma_a/sigma_r over 1 + D after
 * Rowe), triaxial_quality.png (inertia number, unbalanced force over time), triaxial_energy.png
 * (the first test's energy balance). What has no number in any test is left out, with a word in the
 * log. */
TlStatus tl_tx_plot(const TlTxPlot *plot, const char *folder, bool overwrite);

#endif
