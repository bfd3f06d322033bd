#include "post/triaxial.h"

#include "base/mem.h"
#include "num/vec.h"
#include "io/csv_table.h"
#include "store/results.h"

#include <math.h>
#include <string.h>

static const double TURN = 1e-4;  /* of the strains' range: less is no turn */
static const double ROUND = 1e-9; /* of the window: strains at its edge belong to it */

const char *const tl_tx_name[TL_TX_COUNT] = {"time_s",
                                             "stage",
                                             "axial_strain",
                                             "volumetric_strain",
                                             "axial_stress_Pa",
                                             "radial_stress_Pa",
                                             "deviatoric_stress_Pa",
                                             "mean_stress_Pa",
                                             "friction_angle_deg",
                                             "void_ratio",
                                             "inertia_number",
                                             "unbalanced_force",
                                             "platen_force_N",
                                             "base_force_N",
                                             "tilt_deg",
                                             "escaped",
                                             "kinetic_energy_J",
                                             "piston_work_J",
                                             "pressure_work_J",
                                             "elastic_J",
                                             "friction_J",
                                             "viscous_J",
                                             "drag_J",
                                             "net_elastic_J",
                                             "net_damping_J",
                                             "balance_error_J",
                                             "height_m",
                                             "volume_m3",
                                             "stress_ratio",
                                             "principal_stress_ratio",
                                             "dilatancy_rate",
                                             "dilatancy_angle_deg",
                                             "base_over_platen_force",
                                             "piston_force_N",
                                             "piston_friction_angle_deg"};

static TlStatus (*const measures[])(const TlTxTest *, const TlTxOptions *, TlFigures *) = {
    tl_tx_strength, tl_tx_volume, tl_tx_stiffness, tl_tx_quality};

TlStatus tl_tx_measure(const TlTxTest *test, const TlTxOptions *options, TlFigures *figures) {
  TlTxOptions o = *options;
  if (!(o.window > 0)) o.window = 0.01;
  if (!(o.modulus_strain > 0)) o.modulus_strain = 1e-3;
  for (size_t k = 0; k < sizeof measures / sizeof *measures; k++)
    TL_TRY(measures[k](test, &o, figures));
  return TL_OK;
}

void tl_tx_free(TlTxTest *t) {
  for (int c = 0; c < TL_TX_COUNT; c++) tl_free(t->x[c]);
  tl_free(t->path);
  tl_free(t->kind);
  tl_free(t->leg);
  *t = (TlTxTest){0};
}

/* ---- reading ---- */

static TlStatus take_kind(const TlTable *table, int64_t row, int column, TlTxKind *kind) {
  static const char *const names[] = {"consolidate", "shear", "hold"};
  const char *text = tl_table_text(table, row, column);
  for (int k = 0; k < 3; k++)
    if (strcmp(text, names[k]) == 0) {
      *kind = (TlTxKind)k;
      return TL_OK;
    }
  return tl_fail(TL_EINPUT, "%s:%lld: kind is '%s'; it is one of consolidate, shear, hold",
                 table->path, (long long)table->line[row], text);
}

static TlStatus take_column(const TlTable *table, TlTx c, TlTxTest *t) {
  int column;
  TL_TRY(tl_table_need(table, tl_tx_name[c], &column));
  for (int64_t i = 0; i < t->count; i++) {
    TL_TRY(tl_table_number(table, i, column, &t->x[c][i]));
    if (c <= TL_TX_VOLUME_STRAIN && isnan(t->x[c][i]))
      return tl_fail(TL_EINPUT, "%s:%lld: no %s", table->path, (long long)table->line[i],
                     tl_tx_name[c]);
  }
  return TL_OK;
}

static TlStatus take(const TlTable *table, TlTxTest *t) {
  int kind;
  t->path = tl_strdup(table->path);
  t->count = table->rows;
  if (!t->path) return TL_ENOMEM;
  TL_TRY(TL_NEW(t->kind, (size_t)t->count));
  for (int c = 0; c < TL_TX_COUNT; c++) TL_TRY(TL_NEW(t->x[c], (size_t)t->count));
  TL_TRY(tl_table_need(table, "kind", &kind));
  for (int64_t i = 0; i < t->count; i++) TL_TRY(take_kind(table, i, kind, &t->kind[i]));
  for (int c = 0; c < TL_TX_READ; c++) TL_TRY(take_column(table, (TlTx)c, t));
  if (t->count > 0) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: has no rows yet", t->path);
}

/* ---- legs ---- */

static double range_of_shear(const TlTxTest *t) {
  double low = INFINITY, high = -INFINITY;
  for (int64_t i = 0; i < t->count; i++) {
    if (t->kind[i] != TL_TX_SHEAR) continue;
    low = fmin(low, t->x[TL_TX_AXIAL_STRAIN][i]);
    high = fmax(high, t->x[TL_TX_AXIAL_STRAIN][i]);
  }
  return high > low ? high - low : 0;
}

static void add_leg(TlTxTest *t, int64_t first, int64_t last, int direction) {
  if (direction != 0) t->leg[t->leg_count++] = (TlTxLeg){first, last, direction};
}

/* Of the rows first to last, all of shear, in a row. */
static void cut_legs(TlTxTest *t, int64_t first, int64_t last, double turn) {
  const double *e = t->x[TL_TX_AXIAL_STRAIN];
  int64_t extreme = first;
  int direction = 0;
  for (int64_t i = first + 1; i <= last; i++) {
    double on = e[i] - e[extreme];
    if (direction == 0 && fabs(on) > turn) direction = on > 0 ? 1 : -1;
    if (direction * on < -turn) {
      add_leg(t, first, extreme, direction);
      first = extreme;
      direction = -direction;
    }
    if (direction * (e[i] - e[extreme]) >= 0) extreme = i;
  }
  add_leg(t, first, extreme, direction);
}

static TlStatus find_legs(TlTxTest *t) {
  double turn = TURN * range_of_shear(t);
  TL_TRY(TL_NEW(t->leg, (size_t)t->count));
  for (int64_t i = 0, next; i < t->count; i = next) {
    next = i + 1;
    if (t->kind[i] != TL_TX_SHEAR) continue;
    while (next < t->count && t->kind[next] == TL_TX_SHEAR) next++;
    cut_legs(t, i, next - 1, turn);
  }
  return TL_OK;
}

const TlTxLeg *tl_tx_last_leg(const TlTxTest *t, int direction) {
  const TlTxLeg *last = NULL;
  for (int64_t k = 0; k < t->leg_count; k++)
    if (t->leg[k].direction == direction) last = &t->leg[k];
  return last;
}

int64_t tl_tx_largest(const TlTxTest *t, TlTx column) {
  int64_t at = -1;
  for (int64_t k = 0; k < t->leg_count; k++) {
    if (t->leg[k].direction < 0) continue;
    for (int64_t i = t->leg[k].first; i <= t->leg[k].last; i++) {
      double x = t->x[column][i];
      if (!isnan(x) && (at < 0 || x > t->x[column][at])) at = i;
    }
  }
  return at;
}

double tl_tx_between(const double *x, const double *y, int64_t count, double at, int64_t *k) {
  while (*k + 2 < count && x[*k + 1] < at) ++*k;
  if (count < 2 || !(x[*k + 1] > x[*k])) return y[*k];
  return y[*k] + (at - x[*k]) / (x[*k + 1] - x[*k]) * (y[*k + 1] - y[*k]);
}

int64_t tl_tx_backbone(const TlTxTest *t, int64_t *row) {
  double most = -INFINITY;
  int64_t n = 0;
  for (int64_t k = 0; k < t->leg_count; k++) {
    if (t->leg[k].direction < 0) continue;
    for (int64_t i = t->leg[k].first; i <= t->leg[k].last; i++) {
      if (!(t->x[TL_TX_AXIAL_STRAIN][i] > most)) continue;
      most = t->x[TL_TX_AXIAL_STRAIN][i];
      row[n++] = i;
    }
  }
  return n;
}

/* ---- made columns ---- */

double tl_tx_slope(const double *x, const double *y, int64_t n) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  int64_t there = 0;
  for (int64_t i = 0; i < n; i++)
    if (!isnan(x[i]) && !isnan(y[i])) mx += x[i], my += y[i], there++;
  if (there < 3) return NAN;
  mx /= (double)there;
  my /= (double)there;
  for (int64_t i = 0; i < n; i++) {
    if (isnan(x[i]) || isnan(y[i])) continue;
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
  }
  return xx > 0 ? xy / xx : NAN;
}

/* Over the rows first to last. Only where the whole window lies in them: at the ends a slope would
 * be that of another strain. */
static void dilate(TlTxTest *t, int64_t first, int64_t last, double window) {
  const double *e = t->x[TL_TX_AXIAL_STRAIN], *v = t->x[TL_TX_VOLUME_STRAIN];
  double most = 0.5 * window * (1 + ROUND), least = 0.5 * window * (1 - ROUND);
  int64_t low = first, high = first;
  for (int64_t i = first; i <= last; i++) {
    if (e[i] - least < e[first]) continue;
    if (e[i] + least > e[last]) break;
    while (e[low] < e[i] - most) low++;
    while (high < last && e[high + 1] <= e[i] + most) high++;
    double d = -tl_tx_slope(e + low, v + low, high - low + 1);
    t->x[TL_TX_RATE][i] = d;
    if (d > -1) t->x[TL_TX_DILATANCY][i] = asin(d / (2 + d)) * TL_DEG;
  }
}

/* Each loading leg from where it comes to strains that were not reached before: reloading is no
 * shearing of the kind meant. */
static void dilate_legs(TlTxTest *t, double window) {
  const double *e = t->x[TL_TX_AXIAL_STRAIN];
  double reached = -INFINITY;
  for (int64_t k = 0; k < t->leg_count; k++) {
    const TlTxLeg *leg = &t->leg[k];
    int64_t first = leg->first;
    if (leg->direction < 0) continue;
    while (first < leg->last && e[first] < reached) first++;
    dilate(t, first, leg->last, window);
    reached = fmax(reached, e[leg->last]);
  }
}

/* Of the row and the one before, both of shear. */
static void load_piston(TlTxTest *t, int64_t i) {
  t->x[TL_TX_PISTON][i] = t->x[TL_TX_PISTON_FRICTION][i] = NAN;
  if (i == 0 || t->kind[i] != TL_TX_SHEAR || t->kind[i - 1] != TL_TX_SHEAR) return;
  double down = t->x[TL_TX_HEIGHT][i - 1] - t->x[TL_TX_HEIGHT][i];
  if (!(fabs(down) > ROUND * t->x[TL_TX_HEIGHT][i])) return;
  double force = (t->x[TL_TX_PISTON_WORK][i] - t->x[TL_TX_PISTON_WORK][i - 1]) / down;
  double axial = force * t->x[TL_TX_HEIGHT][i] / t->x[TL_TX_VOLUME][i];
  double radial = t->x[TL_TX_RADIAL][i];
  t->x[TL_TX_PISTON][i] = force;
  if (axial + radial > 0)
    t->x[TL_TX_PISTON_FRICTION][i] = asin((axial - radial) / (axial + radial)) * TL_DEG;
}

static void make_columns(TlTxTest *t, double window) {
  for (int64_t i = 0; i < t->count; i++) {
    double p = t->x[TL_TX_P][i], radial = t->x[TL_TX_RADIAL][i];
    double platen = t->x[TL_TX_PLATEN][i];
    t->x[TL_TX_BALANCE][i] = platen > 0 ? t->x[TL_TX_BASE][i] / platen : NAN;
    t->x[TL_TX_STRESS_RATIO][i] = p > 0 ? t->x[TL_TX_Q][i] / p : NAN;
    t->x[TL_TX_PRINCIPAL_RATIO][i] = radial > 0 ? t->x[TL_TX_AXIAL][i] / radial : NAN;
    t->x[TL_TX_RATE][i] = t->x[TL_TX_DILATANCY][i] = NAN;
    load_piston(t, i);
  }
  dilate_legs(t, window > 0 ? window : 0.01);
}

TlStatus tl_tx_read(const char *folder, const TlTxOptions *options, TlTxTest *t) {
  TlTable table = {0};
  *t = (TlTxTest){0};
  char *path = tl_format("%s/triaxial.csv", folder);
  TlStatus status = path ? tl_results_claim(folder) : TL_ENOMEM;
  if (status == TL_OK) status = tl_table_read(path, &table);
  if (status == TL_OK) status = take(&table, t);
  if (status == TL_OK) status = find_legs(t);
  if (status == TL_OK) make_columns(t, options->window);
  tl_table_free(&table);
  tl_free(path);
  if (status != TL_OK) tl_tx_free(t);
  return status;
}
