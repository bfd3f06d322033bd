/* How good the test is: quasi-static, in balance, whole, and its energy balance closed.
 *
 * Work put in: the largest size that piston and pressure work together reach. The balance error's
 * fraction of it is the largest size of the balance error over that. */
#include "post/triaxial.h"

#include <math.h>

/* Over the rows of shear. */
static double largest(const TlTxTest *t, TlTx column, double *mean) {
  double most = NAN, sum = 0;
  int64_t n = 0;
  for (int64_t i = 0; i < t->count; i++) {
    double x = fabs(t->x[column][i]);
    if (t->kind[i] != TL_TX_SHEAR || isnan(x)) continue;
    most = fmax(most, x);
    sum += x;
    n++;
  }
  if (mean) *mean = n ? sum / (double)n : NAN;
  return most;
}

static double consolidated(const TlTxTest *t) {
  for (int64_t i = t->count - 1; i >= 0; i--)
    if (t->kind[i] == TL_TX_CONSOLIDATE) return t->x[TL_TX_UNBALANCED][i];
  return NAN;
}

static double balance(const TlTxTest *t) {
  double difference = 0, force = 0;
  for (int64_t i = 0; i < t->count; i++) {
    double platen = t->x[TL_TX_PLATEN][i], base = t->x[TL_TX_BASE][i];
    if (t->kind[i] != TL_TX_SHEAR || isnan(platen) || isnan(base)) continue;
    difference += fabs(base - platen);
    force += fabs(platen);
  }
  return force > 0 ? difference / force : NAN;
}

static double piston_ratio(const TlTxTest *t) {
  double piston = 0, platen = 0;
  for (int64_t i = 0; i < t->count; i++) {
    double here = t->x[TL_TX_PISTON][i];
    if (isnan(here) || isnan(t->x[TL_TX_PLATEN][i])) continue;
    piston += here;
    platen += t->x[TL_TX_PLATEN][i];
  }
  return platen > 0 ? piston / platen : NAN;
}

static TlStatus energy_balance(const TlTxTest *t, TlFigures *f) {
  double work = NAN, error = NAN; /* where none are told */
  for (int64_t i = 0; i < t->count; i++) {
    work = fmax(work, fabs(t->x[TL_TX_PISTON_WORK][i] + t->x[TL_TX_PRESSURE_WORK][i]));
    error = fmax(error, fabs(t->x[TL_TX_BALANCE_ERROR][i]));
  }
  TL_TRY(tl_figures_add(f, "work_put_in", work, "J",
                        "largest size of the work of piston and pressure"));
  TL_TRY(tl_figures_add(f, "largest_energy_balance_error", error, "J",
                        "largest size of the balance error"));
  return tl_figures_add(f, "energy_balance_error_share", work > 0 ? 100 * error / work : NAN,
                        "percent", "of the work put in");
}

TlStatus tl_tx_quality(const TlTxTest *t, const TlTxOptions *o, TlFigures *f) {
  (void)o;
  double mean, most = largest(t, TL_TX_INERTIA, &mean);
  TL_TRY(tl_figures_add(f, "largest_inertia_number", most, "", "Tan 2022 Eq. 4.20, in shear"));
  TL_TRY(tl_figures_add(f, "mean_inertia_number", mean, "", "Tan 2022 Eq. 4.20, in shear"));
  TL_TRY(tl_figures_add(f, "unbalanced_force_consolidated", consolidated(t), "",
                        "last row of consolidation"));
  largest(t, TL_TX_UNBALANCED, &mean);
  TL_TRY(tl_figures_add(f, "mean_unbalanced_force", mean, "", "in shear"));
  TL_TRY(tl_figures_add(f, "platen_base_difference", balance(t), "",
                        "mean abs(base - platen) over mean platen force, in shear"));
  TL_TRY(tl_figures_add(f, "piston_over_platen_force", piston_ratio(t), "",
                        "means in shear: more than 1 is what the membrane's row bears"));
  TL_TRY(tl_figures_add(f, "largest_tilt", largest(t, TL_TX_TILT, NULL), "deg",
                        "of the platen, in shear"));
  TL_TRY(tl_figures_add(f, "grains_escaped", t->x[TL_TX_ESCAPED][t->count - 1], "", "last row"));
  return energy_balance(t, f);
}
