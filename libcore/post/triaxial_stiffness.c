/* Moduli of loading and unloading, and what a hold relaxes.
 *
 * Initial tangent modulus: d q/d eps_a by least squares over the first strain of the first loading
 * leg (d sigma_a/d eps_a, as the radial stress is constant); Poisson's ratio (1 - d eps_v/d
 * eps_a)/2 over the same. E50: secant from the start to half of the peak deviatoric stress, on the
 * curve without cycles. Unloading: secant of each leg from its turn to its end, and tangent by
 * least squares over its first strain. Hold: deviatoric stress of the row before it less that of
 * its last row, and the time to half of that. */
#include "post/triaxial.h"

#include "base/log.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>

static const double ROUND = 1e-9;

/* How many rows from the leg's first lie within the strain. */
static int64_t rows_within(const TlTxTest *t, const TlTxLeg *leg, double strain) {
  const double *e = t->x[TL_TX_AXIAL_STRAIN];
  int64_t n = 0;
  while (leg->first + n <= leg->last &&
         fabs(e[leg->first + n] - e[leg->first]) <= strain * (1 + ROUND))
    n++;
  return n;
}

static double slope(const TlTxTest *t, const TlTxLeg *leg, double strain, TlTx of) {
  int64_t n = rows_within(t, leg, strain);
  return tl_tx_slope(t->x[TL_TX_AXIAL_STRAIN] + leg->first, t->x[of] + leg->first, n);
}

static TlStatus initial(const TlTxTest *t, double strain, TlFigures *f) {
  static const char how[] = "d q/d eps_a by least squares over the first strain";
  const TlTxLeg *leg = t->leg_count && t->leg[0].direction > 0 ? &t->leg[0] : NULL;
  double modulus = leg ? slope(t, leg, strain, TL_TX_Q) : NAN;
  double volume = leg ? slope(t, leg, strain, TL_TX_VOLUME_STRAIN) : NAN;
  if (leg && isnan(modulus))
    tl_log_warn("%s: fewer than three rows within a strain of %g: no initial modulus (a larger "
                "--modulus-strain takes more)",
                t->path, strain);
  TL_TRY(tl_figures_add(f, "initial_modulus", modulus, "Pa", how));
  return tl_figures_add(f, "initial_poisson_ratio", 0.5 * (1 - volume), "",
                        "(1 - d eps_v/d eps_a)/2 over the same");
}

static double secant_to_half(const TlTxTest *t, const int64_t *row, int64_t n) {
  const double *e = t->x[TL_TX_AXIAL_STRAIN], *q = t->x[TL_TX_Q];
  int64_t peak = tl_tx_largest(t, TL_TX_Q);
  if (peak < 0 || n < 2) return NAN;
  double half = 0.5 * (q[row[0]] + q[peak]);
  for (int64_t k = 1; k < n; k++) {
    double a = q[row[k - 1]], b = q[row[k]];
    if (!(b >= half && a < half)) continue;
    double at = e[row[k - 1]] + (half - a) / (b - a) * (e[row[k]] - e[row[k - 1]]);
    return (half - q[row[0]]) / (at - e[row[0]]);
  }
  return NAN;
}

static TlStatus half(const TlTxTest *t, TlFigures *f) {
  int64_t *row;
  TL_TRY(TL_NEW(row, (size_t)t->count));
  double e50 = secant_to_half(t, row, tl_tx_backbone(t, row));
  tl_free(row);
  return tl_figures_add(f, "secant_modulus_50", e50, "Pa",
                        "secant to half of the peak deviatoric stress");
}

static TlStatus numbered(TlFigures *f, const char *what, int number, const char *name, double value,
                         const char *unit, const char *source) {
  char text[64];
  snprintf(text, sizeof text, "%s_%d_%s", what, number, name);
  return tl_figures_add(f, text, value, unit, source);
}

static TlStatus unloading(const TlTxTest *t, double strain, TlFigures *f) {
  const double *e = t->x[TL_TX_AXIAL_STRAIN], *q = t->x[TL_TX_Q];
  int number = 0;
  for (int64_t k = 0; k < t->leg_count; k++) {
    const TlTxLeg *leg = &t->leg[k];
    if (leg->direction > 0) continue;
    number++;
    double secant = (q[leg->first] - q[leg->last]) / (e[leg->first] - e[leg->last]);
    TL_TRY(
        numbered(f, "unloading", number, "strain", e[leg->first], "", "axial strain of its turn"));
    TL_TRY(numbered(f, "unloading", number, "modulus", secant, "Pa", "secant from turn to end"));
    TL_TRY(numbered(f, "unloading", number, "tangent_modulus", slope(t, leg, strain, TL_TX_Q), "Pa",
                    "d q/d eps_a by least squares over its first strain"));
  }
  return TL_OK;
}

/* Time from row `first`, whose stress is q0, until the stress has come half way to that of `last`.
 */
static double half_time(const TlTxTest *t, int64_t first, int64_t last, double q0) {
  const double *q = t->x[TL_TX_Q], *time = t->x[TL_TX_TIME];
  double goal = 0.5 * (q0 + q[last]), before = q0, then = time[first];
  for (int64_t i = first; i <= last; i++) {
    if ((before - goal) * (q[i] - goal) <= 0 && before != q[i])
      return then + (goal - before) / (q[i] - before) * (time[i] - then) - time[first];
    before = q[i];
    then = time[i];
  }
  return NAN;
}

static TlStatus hold(const TlTxTest *t, int number, int64_t first, int64_t last, TlFigures *f) {
  const double *q = t->x[TL_TX_Q], *time = t->x[TL_TX_TIME];
  int64_t from = first > 0 && t->kind[first - 1] == TL_TX_SHEAR ? first - 1 : first;
  double drop = q[from] - q[last];
  TL_TRY(
      numbered(f, "hold", number, "strain", t->x[TL_TX_AXIAL_STRAIN][first], "", "axial strain"));
  TL_TRY(numbered(f, "hold", number, "stress_drop", drop, "Pa",
                  "deviatoric stress before it less that of its last row"));
  TL_TRY(numbered(f, "hold", number, "drop_share", q[from] > 0 ? drop / q[from] : NAN, "",
                  "of the deviatoric stress before it"));
  TL_TRY(numbered(f, "hold", number, "time", time[last] - time[from], "s", "its length"));
  return numbered(f, "hold", number, "half_time",
                  drop != 0 ? half_time(t, from, last, q[from]) : NAN, "s", "to half of the drop");
}

static TlStatus holds(const TlTxTest *t, TlFigures *f) {
  int number = 0;
  for (int64_t i = 0, next; i < t->count; i = next) {
    next = i + 1;
    if (t->kind[i] != TL_TX_HOLD) continue;
    while (next < t->count && t->kind[next] == TL_TX_HOLD) next++;
    TL_TRY(hold(t, ++number, i, next - 1, f));
  }
  return TL_OK;
}

TlStatus tl_tx_stiffness(const TlTxTest *t, const TlTxOptions *o, TlFigures *f) {
  TL_TRY(initial(t, o->modulus_strain, f));
  TL_TRY(half(t, f));
  TL_TRY(unloading(t, o->modulus_strain, f));
  return holds(t, f);
}
