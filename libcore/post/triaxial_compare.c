#include "post/triaxial_compare.h"

#include "base/log.h"
#include "base/mem.h"
#include "num/vec.h"
#include "io/csv_table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

typedef enum Sort { STRAIN, ENGINEERING, STRESS, ANGLE, NUMBER } Sort;

static const struct {
  const char *name;
  TlTx column;
  Sort sort;
} quantities[] = {{"axial_strain", TL_TX_AXIAL_STRAIN, STRAIN},
                  {"engineering_axial_strain", TL_TX_AXIAL_STRAIN, ENGINEERING},
                  {"volumetric_strain", TL_TX_VOLUME_STRAIN, STRAIN},
                  {"engineering_volumetric_strain", TL_TX_VOLUME_STRAIN, ENGINEERING},
                  {"deviatoric_stress", TL_TX_Q, STRESS},
                  {"mean_stress", TL_TX_P, STRESS},
                  {"axial_stress", TL_TX_AXIAL, STRESS},
                  {"radial_stress", TL_TX_RADIAL, STRESS},
                  {"friction_angle", TL_TX_FRICTION, ANGLE},
                  {"dilatancy_angle", TL_TX_DILATANCY, ANGLE},
                  {"stress_ratio", TL_TX_STRESS_RATIO, NUMBER},
                  {"principal_stress_ratio", TL_TX_PRINCIPAL_RATIO, NUMBER},
                  {"void_ratio", TL_TX_VOID, NUMBER}};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

/* As laboratories write them; small letters, with _ for blanks. */
static const struct {
  const char *symbol, *name;
} symbols[] = {{"q", "deviatoric_stress"},
               {"deviator_stress", "deviatoric_stress"},
               {"deviator", "deviatoric_stress"},
               {"p", "mean_stress"},
               {"p'", "mean_stress"},
               {"mean_effective_stress", "mean_stress"},
               {"eps_a", "axial_strain"},
               {"eps_1", "axial_strain"},
               {"epsilon_a", "axial_strain"},
               {"epsilon_1", "axial_strain"},
               {"ε_a", "axial_strain"},
               {"εa", "axial_strain"},
               {"ε_1", "axial_strain"},
               {"ε1", "axial_strain"},
               {"eps_v", "volumetric_strain"},
               {"epsilon_v", "volumetric_strain"},
               {"ε_v", "volumetric_strain"},
               {"εv", "volumetric_strain"},
               {"volume_strain", "volumetric_strain"},
               {"sigma_1", "axial_stress"},
               {"σ1", "axial_stress"},
               {"sigma_3", "radial_stress"},
               {"σ3", "radial_stress"},
               {"e", "void_ratio"},
               {"q/p", "stress_ratio"},
               {"q/p'", "stress_ratio"}};

/* In small letters, behind the name as in axial_strain_percent, or in brackets as in Axial strain [%]. */
static const struct {
  Sort sort;
  const char *text;
  double scale;
} units[] = {{STRAIN, "", 1},           {STRAIN, "-", 1},       {STRAIN, "1", 1},
             {STRAIN, "percent", 0.01}, {STRAIN, "%", 0.01},    {STRESS, "pa", 1},
             {STRESS, "kpa", 1e3},      {STRESS, "kn/m2", 1e3}, {STRESS, "kn/m²", 1e3},
             {STRESS, "mpa", 1e6},      {STRESS, "n/mm2", 1e6}, {STRESS, "n/mm²", 1e6},
             {ANGLE, "deg", 1},         {ANGLE, "°", 1},        {ANGLE, "rad", TL_DEG},
             {NUMBER, "", 1},           {NUMBER, "-", 1},       {NUMBER, "1", 1}};

static const char allowed[] =
    "allowed are [engineering_]axial_strain[_percent], [engineering_]volumetric_strain[_percent] "
    "(compression positive), deviatoric_stress, mean_stress, axial_stress, radial_stress each with "
    "_Pa, _kPa or _MPa, friction_angle, dilatancy_angle with _deg or _rad, stress_ratio, "
    "principal_stress_ratio, void_ratio; or with the unit in brackets, as in Axial strain [%] and "
    "q [kPa]";

enum { NAME = 80, UNKNOWN = -1, NO_UNIT = -2 };

/* The name in small letters with _ for blanks, cut off before a unit in brackets, which goes to unit; false: none. */
static bool part(const char *name, char base[NAME], char unit[NAME]) {
  size_t n = strlen(name), open = strcspn(name, "[(");
  bool bracket = open > 0 && open < n && strchr("])", name[n - 1]);
  size_t until = bracket ? open : n, used = 0;
  for (size_t i = 0; i < until && used + 1 < NAME; i++) {
    char c = name[i] == ' ' || name[i] == '-' ? '_' : (char)tolower((unsigned char)name[i]);
    if (c != '_' || (used > 0 && base[used - 1] != '_')) base[used++] = c;
  }
  while (used > 0 && base[used - 1] == '_') used--;
  base[used] = 0;
  used = 0;
  for (size_t i = open + 1; bracket && i + 1 < n && used + 1 < NAME; i++)
    if (name[i] != ' ') unit[used++] = (char)tolower((unsigned char)name[i]);
  unit[used] = 0;
  return bracket;
}

/* Behind which letters of the text the unit comes, if it begins with the name; 0: it does not. */
static size_t begins(const char *text, const char *name) {
  size_t n = strlen(name);
  return strncmp(text, name, n) == 0 && (!text[n] || text[n] == '_') ? n : 0;
}

/* Index of the quantity. UNKNOWN: the name says none; NO_UNIT: the unit is none of its. */
static int quantity_of(const char *name, double *scale) {
  char base[NAME], unit[NAME];
  bool bracket = part(name, base, unit);
  int found = UNKNOWN;
  size_t length = 0; /* of the longest name that fits */
  for (int k = 0; k < QUANTITIES; k++) {
    size_t n = begins(base, quantities[k].name);
    if (n > length) length = n, found = k;
    for (size_t s = 0; s < sizeof symbols / sizeof *symbols; s++) {
      n = strcmp(symbols[s].name, quantities[k].name) == 0 ? begins(base, symbols[s].symbol) : 0;
      if (n > length) length = n, found = k;
    }
  }
  if (found < 0 || (bracket && base[length])) return UNKNOWN;
  if (!bracket) snprintf(unit, sizeof unit, "%s", base + length + (base[length] == '_'));
  Sort sort = quantities[found].sort == ENGINEERING ? STRAIN : quantities[found].sort;
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    if (units[u].sort == sort && strcmp(unit, units[u].text) == 0) {
      *scale = units[u].scale;
      return found;
    }
  return NO_UNIT;
}

/* ---- reading ---- */

void tl_measured_free(TlMeasured *m) {
  for (int c = 0; c < TL_TX_COUNT; c++) tl_free(m->x[c]);
  tl_free(m->path);
  *m = (TlMeasured){0};
}

static TlStatus convert(const TlTable *t, int64_t row, int column, Sort sort, double scale,
                        double *to) {
  double x;
  TL_TRY(tl_table_number(t, row, column, &x));
  *to = scale * x;
  if (sort == STRAIN && scale == 1 &&
      fabs(x) > 1.5) /* logarithmic: compressed to less than a quarter */
    return tl_fail(
        TL_EINPUT,
        "%s:%lld: %s is %g, and its name says no unit, so a fraction; if it is in percent, "
        "name it axial_strain_percent or axial strain [%%]",
        t->path, (long long)t->line[row], t->name[column], x);
  if (sort != ENGINEERING) return TL_OK;
  if (*to >= 1)
    return tl_fail(TL_EINPUT, "%s:%lld: %s is %g: an engineering strain is below 1", t->path,
                   (long long)t->line[row], t->name[column], *to);
  *to = -log(1 - *to);
  return TL_OK;
}

static TlStatus take_column(const TlTable *t, int column, TlMeasured *m) {
  double scale;
  int k = quantity_of(t->name[column], &scale);
  if (k == NO_UNIT)
    return tl_fail(TL_EINPUT, "%s: column %s says no unit of its quantity; %s", t->path,
                   t->name[column], allowed);
  if (k == UNKNOWN) {
    tl_log_warn("%s: column %s is not compared; %s", t->path, t->name[column], allowed);
    return TL_OK;
  }
  TlTx c = quantities[k].column;
  if (m->x[c])
    return tl_fail(TL_EINPUT, "%s: column %s gives the %s a second time", t->path, t->name[column],
                   tl_tx_name[c]);
  TL_TRY(TL_NEW(m->x[c], (size_t)t->rows));
  for (int64_t i = 0; i < t->rows; i++) {
    TL_TRY(convert(t, i, column, quantities[k].sort, scale, &m->x[c][i]));
    if (c == TL_TX_AXIAL_STRAIN && isnan(m->x[c][i]))
      return tl_fail(TL_EINPUT, "%s:%lld: no %s", t->path, (long long)t->line[i], t->name[column]);
  }
  return TL_OK;
}

static TlStatus take(const TlTable *t, TlMeasured *m) {
  m->count = t->rows;
  for (int c = 0; c < t->columns; c++) TL_TRY(take_column(t, c, m));
  if (!m->x[TL_TX_AXIAL_STRAIN])
    return tl_fail(TL_EINPUT, "%s: no axial strain; %s", t->path, allowed);
  int taken = 0;
  for (int c = 0; c < TL_TX_COUNT; c++) taken += m->x[c] != NULL;
  if (taken < 2)
    return tl_fail(TL_EINPUT, "%s: nothing beside the axial strain; %s", t->path, allowed);
  if (t->rows < 2) return tl_fail(TL_EINPUT, "%s: fewer than two rows", t->path);
  return TL_OK;
}

TlStatus tl_measured_read(const char *path, TlMeasured *m) {
  TlTable table;
  *m = (TlMeasured){.path = tl_strdup(path)};
  TlStatus status = m->path ? tl_table_read(path, &table) : TL_ENOMEM;
  if (status == TL_OK) {
    status = take(&table, m);
    tl_table_free(&table);
  }
  if (status != TL_OK) tl_measured_free(m);
  return status;
}

/* ---- the difference ---- */

typedef struct Curve {
  double *x, *y; /* owned; x grows */
  int64_t count;
} Curve;

static void free_curve(Curve *c) {
  tl_free(c->x);
  tl_free(c->y);
}

static void add_point(Curve *c, double x, double y) {
  if (isnan(x) || isnan(y) || (c->count > 0 && !(x > c->x[c->count - 1]))) return;
  c->x[c->count] = x;
  c->y[c->count++] = y;
}

static TlStatus make_curve(int64_t points, Curve *c) {
  TL_TRY(TL_NEW(c->x, (size_t)points));
  return TL_NEW(c->y, (size_t)points);
}

static TlStatus ours(const TlTxTest *t, TlTx column, Curve *c) {
  int64_t *row;
  TL_TRY(make_curve(t->count, c));
  TL_TRY(TL_NEW(row, (size_t)t->count));
  int64_t n = tl_tx_backbone(t, row);
  for (int64_t k = 0; k < n; k++)
    add_point(c, t->x[TL_TX_AXIAL_STRAIN][row[k]], t->x[column][row[k]]);
  tl_free(row);
  return TL_OK;
}

static TlStatus theirs(const TlMeasured *m, TlTx column, Curve *c) {
  TL_TRY(make_curve(m->count, c));
  for (int64_t i = 0; i < m->count; i++) add_point(c, m->x[TL_TX_AXIAL_STRAIN][i], m->x[column][i]);
  return TL_OK;
}

static double at(const Curve *c, double x, int64_t *k) {
  return tl_tx_between(c->x, c->y, c->count, x, k);
}

/* The next knot of either curve above x, at most high. */
static double next_knot(const Curve *a, const Curve *b, double x, double high, int64_t *i,
                        int64_t *j) {
  while (*i < a->count && a->x[*i] <= x) ++*i;
  while (*j < b->count && b->x[*j] <= x) ++*j;
  double next = high;
  if (*i < a->count) next = fmin(next, a->x[*i]);
  if (*j < b->count) next = fmin(next, b->x[*j]);
  return next;
}

/* The difference is straight between knots: its square's integral is exact. */
static double mean_square(const Curve *a, const Curve *b, double low, double high) {
  int64_t ka = 0, kb = 0, i = 0, j = 0;
  double sum = 0, before = at(a, low, &ka) - at(b, low, &kb);
  for (double x = low; x < high;) {
    double next = next_knot(a, b, x, high, &i, &j), d = at(a, next, &ka) - at(b, next, &kb);
    sum += (next - x) * (before * before + before * d + d * d) / 3;
    before = d;
    x = next;
  }
  return sum / (high - low);
}

static TlStatus compare(const TlTxTest *t, const TlMeasured *m, TlTx column, const Curve *a,
                        const Curve *b, TlDifference *d) {
  const double *strain = m->x[TL_TX_AXIAL_STRAIN];
  if (b->count < 2 && m->count >= 2 && strain[m->count - 1] < strain[0])
    return tl_fail(TL_EINPUT,
                   "%s: the axial strain falls from the first row to the last: the rows must be in "
                   "the order of "
                   "ascending strain, compression positive",
                   m->path);
  if (a->count < 2 || b->count < 2)
    return tl_fail(TL_EINPUT, "%s: fewer than two points of %s over axial strain to compare",
                   a->count < 2 ? t->path : m->path, tl_tx_name[column]);
  d->low = fmax(a->x[0], b->x[0]);
  d->high = fmin(a->x[a->count - 1], b->x[b->count - 1]);
  if (!(d->high > d->low))
    return tl_fail(TL_EINPUT,
                   "%s: %s goes over axial strains %g to %g, the test's over %g to %g: nothing in "
                   "common",
                   m->path, tl_tx_name[column], b->x[0], b->x[b->count - 1], a->x[0],
                   a->x[a->count - 1]);
  d->rms = sqrt(mean_square(a, b, d->low, d->high));
  return TL_OK;
}

TlStatus tl_measured_difference(const TlTxTest *t, const TlMeasured *m, TlTx column,
                                TlDifference *d) {
  Curve a = {0}, b = {0};
  TlStatus status = ours(t, column, &a);
  if (status == TL_OK) status = theirs(m, column, &b);
  if (status == TL_OK) status = compare(t, m, column, &a, &b, d);
  free_curve(&a);
  free_curve(&b);
  return status;
}

static const char *unit_of(TlTx column) {
  static const struct { const char *suffix, *unit; } known[] = {{"_Pa", "Pa"}, {"_deg", "deg"}};
  const char *name = tl_tx_name[column];
  for (int k = 0; k < 2; k++) {
    size_t n = strlen(name), s = strlen(known[k].suffix);
    if (n > s && strcmp(name + n - s, known[k].suffix) == 0) return known[k].unit;
  }
  return "";
}

static TlStatus add_figures(TlTx column, const TlDifference *d, TlFigures *f) {
  const char *unit = unit_of(column), *all = tl_tx_name[column];
  int stem = (int)(strlen(all) - (*unit ? strlen(unit) + 1 : 0));
  char name[64];
  snprintf(name, sizeof name, "rms_%.*s", stem, all);
  TL_TRY(tl_figures_add(f, name, d->rms, unit, "from the measured curve, over the common strain"));
  snprintf(name, sizeof name, "rms_%.*s_from", stem, all);
  TL_TRY(tl_figures_add(f, name, d->low, "", "axial strain where that begins"));
  snprintf(name, sizeof name, "rms_%.*s_to", stem, all);
  return tl_figures_add(f, name, d->high, "", "axial strain where that ends");
}

TlStatus tl_measured_figures(const TlTxTest *t, const TlMeasured *m, TlFigures *f) {
  for (int c = 0; c < TL_TX_COUNT; c++) {
    TlDifference d;
    if (!m->x[c] || c == TL_TX_AXIAL_STRAIN) continue;
    TL_TRY(tl_measured_difference(t, m, (TlTx)c, &d));
    TL_TRY(add_figures((TlTx)c, &d, f));
  }
  return TL_OK;
}
