/* Volume change, dilatancy, and the inclinations of a shear band that theories draw from them.
 *
 * sin psi = D/(2 + D), D = -d eps_v/d eps_a (Tan 2022 Eq. 4.4, mended), the slope by least squares
 * over a window of axial strain about each row. psi of the test is its largest value.
 * Band to the horizontal: Roscoe 45 + psi/2 (Eq. 4.24), Coulomb 45 + phi/2, Arthur 45 +
 * (phi + psi)/4, phi the peak friction angle. */
#include "post/triaxial.h"

#include <math.h>

static TlStatus dilatancy(const TlTxTest *t, TlFigures *f) {
  static const char how[] = "Tan 2022 Eq. 4.4 mended: largest over the window's slopes";
  int64_t at = tl_tx_largest(t, TL_TX_DILATANCY), q = tl_tx_largest(t, TL_TX_FRICTION);
  double psi = at >= 0 ? t->x[TL_TX_DILATANCY][at] : NAN,
         phi = q >= 0 ? t->x[TL_TX_FRICTION][q] : NAN;
  TL_TRY(tl_figures_add(f, "peak_dilatancy_angle", psi, "deg", how));
  TL_TRY(tl_figures_add(f, "peak_dilatancy_strain", at >= 0 ? t->x[TL_TX_AXIAL_STRAIN][at] : NAN,
                        "", how));
  TL_TRY(tl_figures_add(f, "dilatancy_angle_at_peak", q >= 0 ? t->x[TL_TX_DILATANCY][q] : NAN,
                        "deg", "at the peak friction angle"));
  TL_TRY(tl_figures_add(f, "roscoe_inclination", 45 + 0.5 * psi, "deg",
                        "Tan 2022 Eq. 4.24: 45 + psi/2"));
  TL_TRY(tl_figures_add(f, "coulomb_inclination", 45 + 0.5 * phi, "deg", "45 + phi/2"));
  return tl_figures_add(f, "arthur_inclination", 45 + 0.25 * (phi + psi), "deg",
                        "45 + (phi + psi)/4");
}

static TlStatus contraction(const TlTxTest *t, TlFigures *f) {
  int64_t at = tl_tx_largest(t, TL_TX_VOLUME_STRAIN);
  double strain = at >= 0 ? t->x[TL_TX_AXIAL_STRAIN][at] : NAN;
  TL_TRY(tl_figures_add(f, "largest_contraction", at >= 0 ? t->x[TL_TX_VOLUME_STRAIN][at] : NAN, "",
                        "largest volumetric strain, the least volume"));
  return tl_figures_add(f, "largest_contraction_strain", strain, "",
                        "axial strain of the least volume");
}

static int64_t first_sheared(const TlTxTest *t) {
  for (int64_t i = 0; i < t->count; i++)
    if (t->kind[i] == TL_TX_SHEAR) return i;
  return -1;
}

TlStatus tl_tx_volume(const TlTxTest *t, const TlTxOptions *o, TlFigures *f) {
  (void)o;
  int64_t first = first_sheared(t);
  TL_TRY(tl_figures_add(f, "shear_begins", first >= 0 ? t->x[TL_TX_TIME][first] : NAN, "s",
                        "first row of shear"));
  TL_TRY(dilatancy(t, f));
  TL_TRY(contraction(t, f));
  TL_TRY(tl_figures_add(f, "void_ratio_before_shear", first >= 0 ? t->x[TL_TX_VOID][first] : NAN,
                        "", "first row of shear"));
  return tl_figures_add(f, "void_ratio_at_end", t->x[TL_TX_VOID][t->count - 1], "", "last row");
}
