/* Peak and critical strength (Tan 2022 Eqs. 4.1-4.3).
 *
 * Peak: the row of the largest mobilised friction angle on a loading leg. Critical: mean over the
 * rows of the last fifth of the strain of the last loading leg, with the standard deviation of
 * those rows about it. Where the curve has not come level there is none: where its peak lies in that
 * fifth, and the mean of the fifth differs by more than 2% from that of the fifth before. A level curve that
 * scatters may have its peak anywhere; its means stay. */
#include "post/triaxial.h"

#include <math.h>

static const double LAST = 0.2, LEVEL = 0.02;

typedef struct Mean {
  double mean, sd;
} Mean;

static Mean mean_of(const double *x, int64_t n) {
  int64_t there = 0;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; i++)
    if (!isnan(x[i])) sum += x[i], there++;
  double mean = there ? sum / (double)there : NAN;
  for (int64_t i = 0; i < n; i++)
    if (!isnan(x[i])) squares += (x[i] - mean) * (x[i] - mean);
  return (Mean){mean, there ? sqrt(squares / (double)there) : NAN};
}

/* The same of the piston's force, which a laboratory's cell knows (Eq. 4.2). */
static TlStatus by_piston(const TlTxTest *t, int64_t first, int64_t n, TlFigures *f) {
  static const char how[] =
      "by the piston's work over its travel; it also carries a row of the membrane";
  int64_t at = tl_tx_largest(t, TL_TX_PISTON_FRICTION);
  TL_TRY(tl_figures_add(f, "peak_friction_angle_by_piston",
                        at >= 0 ? t->x[TL_TX_PISTON_FRICTION][at] : NAN, "deg", how));
  return tl_figures_add(f, "critical_friction_angle_by_piston",
                        mean_of(t->x[TL_TX_PISTON_FRICTION] + first, n).mean, "deg", how);
}

static TlStatus peak(const TlTxTest *t, TlFigures *f) {
  static const char how[] = "Tan 2022 Eq. 4.2: largest on a loading leg";
  int64_t at = tl_tx_largest(t, TL_TX_FRICTION), q = tl_tx_largest(t, TL_TX_Q);
  double angle = at >= 0 ? t->x[TL_TX_FRICTION][at] : NAN;
  TL_TRY(tl_figures_add(f, "peak_friction_angle", angle, "deg", how));
  TL_TRY(tl_figures_add(f, "peak_friction_strain", at >= 0 ? t->x[TL_TX_AXIAL_STRAIN][at] : NAN, "",
                        how));
  TL_TRY(tl_figures_add(f, "peak_deviatoric_stress", q >= 0 ? t->x[TL_TX_Q][q] : NAN, "Pa",
                        "largest on a loading leg"));
  TL_TRY(tl_figures_add(f, "peak_deviatoric_strain", q >= 0 ? t->x[TL_TX_AXIAL_STRAIN][q] : NAN, "",
                        "largest on a loading leg"));
  return tl_figures_add(f, "peak_stress_ratio", q >= 0 ? t->x[TL_TX_STRESS_RATIO][q] : NAN, "",
                        "q/p at the peak deviatoric stress");
}

/* First row of the last loading leg in the last `fraction` of its strain. */
static int64_t last_rows(const TlTxTest *t, const TlTxLeg *leg, double fraction) {
  const double *e = t->x[TL_TX_AXIAL_STRAIN];
  double from = e[leg->last] - fraction * (e[leg->last] - e[leg->first]);
  int64_t first = leg->last;
  while (first > leg->first && e[first - 1] >= from) first--;
  return first;
}

static bool is_level(const TlTxTest *t, const TlTxLeg *leg, int64_t first) {
  const double *angle = t->x[TL_TX_FRICTION];
  int64_t before = last_rows(t, leg, 2 * LAST);
  double mean = mean_of(angle + first, leg->last - first + 1).mean;
  double change = mean - mean_of(angle + before, first - before).mean;
  return tl_tx_largest(t, TL_TX_FRICTION) < first || !(fabs(change) > LEVEL * fabs(mean));
}

static TlStatus critical(const TlTxTest *t, TlFigures *f) {
  static const char how[] = "Tan 2022 Eq. 4.3: mean over the last fifth of the last loading leg";
  const TlTxLeg *leg = tl_tx_last_leg(t, 1);
  int64_t first = leg ? last_rows(t, leg, LAST) : 0;
  int64_t n = leg && is_level(t, leg, first) ? leg->last - first + 1 : 0;
  Mean angle = mean_of(t->x[TL_TX_FRICTION] + first, n);
  double from = n ? t->x[TL_TX_AXIAL_STRAIN][first] : NAN;
  TL_TRY(tl_figures_add(f, "critical_friction_angle", angle.mean, "deg", how));
  TL_TRY(tl_figures_add(f, "critical_friction_scatter", angle.sd, "deg",
                        "standard deviation of those rows"));
  TL_TRY(tl_figures_add(f, "critical_from_strain", from, "", how));
  TL_TRY(tl_figures_add(f, "critical_deviatoric_stress", mean_of(t->x[TL_TX_Q] + first, n).mean,
                        "Pa", how));
  TL_TRY(tl_figures_add(f, "critical_stress_ratio",
                        mean_of(t->x[TL_TX_STRESS_RATIO] + first, n).mean, "", how));
  TL_TRY(
      tl_figures_add(f, "critical_void_ratio", mean_of(t->x[TL_TX_VOID] + first, n).mean, "", how));
  TL_TRY(tl_figures_add(f, "softening", tl_figures_get(f, "peak_friction_angle") - angle.mean,
                        "deg", "peak less critical friction angle"));
  return by_piston(t, first, n, f);
}

TlStatus tl_tx_strength(const TlTxTest *t, const TlTxOptions *o, TlFigures *f) {
  (void)o;
  TL_TRY(peak(t, f));
  return critical(t, f);
}
