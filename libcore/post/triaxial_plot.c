#include "post/triaxial_run.h"

#include "base/log.h"
#include "base/mem.h"
#include "post/gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PANELS = 3, KEY_WIDTH = 8 }; /* pixels a letter of the key */

typedef struct Axis {
  TlTx column;
  double scale, shift; /* drawn: scale * value + shift */
  const char *label;
  bool log;
} Axis;

typedef struct Panel {
  Axis x, y;
  bool sheared; /* rows of consolidation left out */
} Panel;

#define STRAIN                                                                                     \
  { TL_TX_AXIAL_STRAIN, 100, 0, "axial strain [%]", false }

typedef struct Picture {
  const char *name, *title;
  int across, down, panels;
  int width, height; /* of a panel, pixels */
  Panel panel[MOST_PANELS];
} Picture;

static const Picture pictures[] = {
    {"triaxial_stress_strain",
     "deviatoric stress and volume",
     1,
     2,
     2,
     780,
     360,
     {{STRAIN, {TL_TX_Q, 1e-3, 0, "deviatoric stress q [kPa]", false}, true},
      {STRAIN,
       {TL_TX_VOLUME_STRAIN, 100, 0, "volumetric strain [%], contraction > 0", false},
       true}}},
    {"triaxial_friction",
     "mobilised strength",
     1,
     2,
     2,
     780,
     360,
     {{STRAIN, {TL_TX_FRICTION, 1, 0, "mobilised friction angle [deg]", false}, true},
      {STRAIN, {TL_TX_STRESS_RATIO, 1, 0, "stress ratio q/p", false}, true}}},
    {"triaxial_states",
     "states",
     3,
     1,
     3,
     520,
     440,
     {{{TL_TX_P, 1e-3, 0, "mean stress p [kPa]", false},
       {TL_TX_Q, 1e-3, 0, "deviatoric stress q [kPa]", false},
       false},
      {STRAIN, {TL_TX_VOID, 1, 0, "void ratio e", false}, true},
      {{TL_TX_P, 1e-3, 0, "mean stress p [kPa], log", true},
       {TL_TX_VOID, 1, 0, "void ratio e", false},
       false}}},
    {"triaxial_dilatancy",
     "dilatancy",
     2,
     1,
     2,
     620,
     480,
     {{STRAIN, {TL_TX_DILATANCY, 1, 0, "dilatancy angle [deg]", false}, true},
      {{TL_TX_RATE, 1, 1, "1 - d vol. strain/d axial strain", false},
       {TL_TX_PRINCIPAL_RATIO, 1, 0, "axial over radial stress", false},
       true}}},
    {"triaxial_quality",
     "quasi-static?",
     1,
     3,
     3,
     780,
     280,
     {{{TL_TX_TIME, 1, 0, "time [s]", false}, {TL_TX_INERTIA, 1, 0, "inertia number", true}, false},
      {{TL_TX_TIME, 1, 0, "time [s]", false},
       {TL_TX_UNBALANCED, 1, 0, "unbalanced force", true},
       false},
      {{TL_TX_TIME, 1, 0, "time [s]", false},
       {TL_TX_BALANCE, 1, 0, "base over platen force", false},
       true}}},
};

static const char *const colours[] = {"#1f5fa8", "#c1440e", "#2e8b57", "#8a5fbf",
                                      "#b58900", "#d0699a", "#2aa1a1", "#555555"};
enum { COLOURS = sizeof colours / sizeof *colours };

typedef struct Drawing {
  const TlTxPlot *plot;
  const Picture *picture;
} Drawing;

/* ---- what there is to draw ---- */

typedef struct Span {
  double low, high;
} Span;

static double drawn(const Axis *a, double value) {
  double x = a->scale * value + a->shift;
  return isfinite(x) && !(a->log && x <= 0) ? x : NAN;
}

static void widen(Span *s, double x) {
  s->low = fmin(s->low, x);
  s->high = fmax(s->high, x);
}

static void span_test(const TlTxTest *t, const Panel *p, Span *x, Span *y) {
  for (int64_t i = 0; i < t->count; i++) {
    double u = drawn(&p->x, t->x[p->x.column][i]), v = drawn(&p->y, t->x[p->y.column][i]);
    if ((p->sheared && t->kind[i] == TL_TX_CONSOLIDATE) || isnan(u) || isnan(v)) continue;
    widen(x, u);
    widen(y, v);
  }
}

static bool is_measured(const TlMeasured *m, const Panel *p) {
  return m && m->x[p->x.column] && m->x[p->y.column];
}

static void span_measured(const TlMeasured *m, const Panel *p, Span *x, Span *y) {
  for (int64_t i = 0; is_measured(m, p) && i < m->count; i++) {
    double u = drawn(&p->x, m->x[p->x.column][i]), v = drawn(&p->y, m->x[p->y.column][i]);
    if (isnan(u) || isnan(v)) continue;
    widen(x, u);
    widen(y, v);
  }
}

/* false: no point at all. */
static bool spans(const TlTxPlot *plot, const Panel *p, Span *x, Span *y) {
  *x = *y = (Span){INFINITY, -INFINITY};
  for (int64_t k = 0; k < plot->count; k++) span_test(&plot->test[k], p, x, y);
  span_measured(plot->measured, p, x, y);
  return x->low <= x->high;
}

/* 1, 2 and 5 times the powers of ten: gnuplot marks decades only, and there may be none. */
static void put_log_tics(TlPlot *to, char axis, Span s) {
  static const int times[] = {1, 2, 5};
  bool begun = false;
  tl_plot(to, "set %ctics (", axis);
  for (int power = (int)floor(log10(s.low)); power <= (int)ceil(log10(s.high)); power++)
    for (int k = 0; k < 3; k++) {
      double at = times[k] * pow(10, power);
      if (at < s.low || at > s.high) continue;
      if (begun) tl_plot(to, ", ");
      tl_plot(to, "'%.4g' %.17g", at, at);
      begun = true;
    }
  tl_plot(to, ")\nset logscale %c\n", axis);
}

static void put_range(TlPlot *to, char axis, const Axis *a, Span s) {
  double pad = 0.05 * (s.high - s.low);
  if (!(pad > 1e-9 * fabs(s.high))) pad = s.high != 0 ? 0.1 * fabs(s.high) : 1;
  s = a->log ? (Span){s.low / 1.5, s.high * 1.5} : (Span){s.low - pad, s.high + pad};
  tl_plot(to, "set %crange [%.17g:%.17g]\n", axis, s.low, s.high);
  if (a->log)
    put_log_tics(to, axis, s);
  else
    tl_plot(to, "unset logscale %c\nset %ctics autofreq\n", axis, axis);
}

/* ---- data ---- */

static void put_number(TlPlot *to, double x) {
  if (isnan(x))
    tl_plot(to, " NaN");
  else
    tl_plot(to, " %.10g", x);
}

static void put_test(TlPlot *to, const TlTxTest *t, const Panel *p) {
  for (int64_t i = 0; i < t->count; i++) {
    if (p->sheared && t->kind[i] == TL_TX_CONSOLIDATE) continue;
    put_number(to, drawn(&p->x, t->x[p->x.column][i]));
    put_number(to, drawn(&p->y, t->x[p->y.column][i]));
    tl_plot(to, "\n");
  }
}

static void put_measured(TlPlot *to, const TlMeasured *m, const Panel *p) {
  for (int64_t i = 0; i < m->count; i++) {
    put_number(to, drawn(&p->x, m->x[p->x.column][i]));
    put_number(to, drawn(&p->y, m->x[p->y.column][i]));
    tl_plot(to, "\n");
  }
}

/* gnuplot ends with an error at a curve without any point. */
static bool has_points(const TlTxPlot *plot, int64_t k, const Panel *p) {
  Span x = {INFINITY, -INFINITY}, y = x;
  span_test(&plot->test[k], p, &x, &y);
  return x.low <= x.high;
}

static void put_data(TlPlot *to, const TlTxPlot *plot, const Panel *p) {
  for (int64_t k = 0; k < plot->count; k++) {
    tl_plot(to, "$t%lld << EOD\n", (long long)k);
    put_test(to, &plot->test[k], p);
    tl_plot(to, "EOD\n");
  }
  if (!is_measured(plot->measured, p)) return;
  tl_plot(to, "$m << EOD\n");
  put_measured(to, plot->measured, p);
  tl_plot(to, "EOD\n");
}

/* ---- panels ---- */

static void put_head(TlPlot *to, int width, int height) {
  tl_plot_page(to, width, height, 11);
  tl_plot(to, "set border 3 lw 1 lc rgb '#606060'\n"
              "set tics nomirror out textcolor rgb '#404040'\nset grid lc rgb '#dddddd' lw 1\n"
              "unset key\n");
}

static void put_title(TlPlot *to, const TlTxPlot *plot, const char *what, bool caption) {
  char *title = plot->count > 1 ? tl_strdup(what) : tl_format("%s: %s", plot->label[0], what);
  tl_plot(to, "set label 100 %s at screen 0.5,0.97 center font ',12' front\n",
          title ? title : what);
  tl_free(title);
  if (!caption || !*plot->caption) return;
  tl_plot(to,
          "set label 101 %s at screen 0.5,0.925 center font ',9' textcolor rgb '#404040' front\n",
          plot->caption);
}

static bool has_key(const TlTxPlot *plot) {
  return plot->count > 1 || plot->measured;
}

static int key_width(const TlTxPlot *plot) {
  size_t most = plot->measured ? strlen("measured") : 0;
  if (!has_key(plot)) return 0;
  for (int64_t k = 0; k < plot->count; k++)
    if (strlen(plot->label[k]) > most) most = strlen(plot->label[k]);
  return 60 + KEY_WIDTH * (int)(most < 60 ? most : 60);
}

/* sigma_a/sigma_r = tan^2(45 + phi_c/2) (1 + D). */
static void put_rowe(TlPlot *to, const TlTxPlot *plot) {
  double slope = tan(M_PI / 4 + 0.5 * plot->critical_deg * M_PI / 180);
  if (!(slope > 0)) return;
  tl_plot(to,
          ", %.10g*x with lines lw 1 dt 2 lc rgb '#000000' title "
          "'Rowe, critical friction angle, %.1f deg'",
          slope * slope, plot->critical_deg);
}

static void put_curves(TlPlot *to, const TlTxPlot *plot, const Panel *p, bool key, bool rowe) {
  bool begun = false;
  for (int64_t k = 0; k < plot->count; k++) {
    if (!has_points(plot, k, p)) continue;
    tl_plot_next(to, &begun);
    tl_plot(to, "$t%lld using 1:2 with lines lw 2 lc rgb %s title %s", (long long)k,
            colours[k % COLOURS], key ? plot->label[k] : "");
  }
  if (is_measured(plot->measured, p)) {
    tl_plot_next(to, &begun);
    tl_plot(to, "$m using 1:2 with points pt 6 ps 0.8 lc rgb '#000000' title %s",
            key ? "measured" : "");
  }
  if (rowe) put_rowe(to, plot);
  tl_plot(to, "\n");
}

/* Panels one above the other have one range of what they share. */
static Span across_of(const Drawing *d, const Panel *p) {
  Span all = {INFINITY, -INFINITY}, x, y;
  for (int k = 0; k < d->picture->panels; k++) {
    const Panel *other = &d->picture->panel[k];
    if (other != p && (d->picture->across > 1 || other->x.column != p->x.column)) continue;
    if (!spans(d->plot, other, &x, &y)) continue;
    widen(&all, x.low);
    widen(&all, x.high);
  }
  return all;
}

static void put_panel(TlPlot *to, const Drawing *d, const Panel *p, bool key) {
  Span x, y;
  bool rowe = p->y.column == TL_TX_PRINCIPAL_RATIO;
  if (!spans(d->plot, p, &x, &y)) {
    tl_plot(to, "set multiplot next\n");
    return;
  }
  put_data(to, d->plot, p);
  tl_plot(to, "set xlabel %s\nset ylabel %s\n", p->x.label, p->y.label);
  put_range(to, 'x', &p->x, across_of(d, p));
  put_range(to, 'y', &p->y, y);
  tl_plot(to, "set format y '%%g'\n");
  if (key)
    tl_plot(to, "set key at screen 0.99,0.88 right top Left reverse samplen 2 width 0\n");
  else if (rowe)
    tl_plot(to, "set key inside bottom right samplen 2\n");
  else
    tl_plot(to, "unset key\n");
  put_curves(to, d->plot, p, key, rowe);
}

static bool shows_measured(const Drawing *d) {
  bool shows = false;
  for (int k = 0; k < d->picture->panels; k++)
    shows = shows || is_measured(d->plot->measured, &d->picture->panel[k]);
  return shows;
}

static void put_picture(TlPlot *to, const void *context) {
  const Drawing *d = context;
  const Picture *p = d->picture;
  int key = key_width(d->plot), w = p->across * p->width + key, h = p->down * p->height + 60;
  put_head(to, w, h);
  put_title(to, d->plot, p->title, shows_measured(d));
  double right = 1 - (20.0 + key) / w, left = 105.0 / w, bottom = 60.0 / h, top = 1 - 75.0 / h;
  tl_plot(to, "set multiplot layout %d,%d margins %.5f,%.5f,%.5f,%.5f spacing %.5f,%.5f\n", p->down,
          p->across, left, right, bottom, top, 90.0 / w, 75.0 / h);
  for (int k = 0; k < p->panels; k++) {
    put_panel(to, d, &p->panel[k], has_key(d->plot) && k == 0);
    tl_plot(to, "unset label 100\nunset label 101\n");
  }
  tl_plot(to, "unset multiplot\n");
}

/* ---- the energy balance ---- */

static const struct {
  TlTx column;
  const char *name;
} balance[] = {{TL_TX_PISTON_WORK, "work of the piston"},
               {TL_TX_PRESSURE_WORK, "work of the pressure"},
               {TL_TX_KINETIC, "kinetic"},
               {TL_TX_ELASTIC, "elastic, contacts"},
               {TL_TX_FRICTION_LOSS, "friction"},
               {TL_TX_VISCOUS, "contact damping"},
               {TL_TX_DRAG, "global damping"},
               {TL_TX_NET_ELASTIC, "elastic, membrane"},
               {TL_TX_NET_DAMPING, "damping, membrane"},
               {TL_TX_BALANCE_ERROR, "balance error"}};
enum { BALANCE = sizeof balance / sizeof *balance };

static Panel balance_panel(int k) {
  return (Panel){
      {TL_TX_TIME, 1, 0, "time [s]", false}, {balance[k].column, 1, 0, "", false}, false};
}

/* Numbers that are 0 throughout say nothing. */
static bool counts(const TlTxTest *t, int k, Span *x, Span *y) {
  Panel p = balance_panel(k);
  *x = *y = (Span){INFINITY, -INFINITY};
  span_test(t, &p, x, y);
  return x->low <= x->high && (y->low != 0 || y->high != 0);
}

static bool balance_spans(const TlTxTest *t, Span *x, Span *y) {
  *x = *y = (Span){INFINITY, -INFINITY};
  for (int k = 0; k < BALANCE; k++) {
    Span u, v;
    if (!counts(t, k, &u, &v)) continue;
    widen(x, u.low), widen(x, u.high);
    widen(y, v.low), widen(y, v.high);
  }
  return x->low <= x->high;
}

static void put_balance(TlPlot *to, const void *context) {
  const TlTxPlot *plot = ((const Drawing *)context)->plot;
  const TlTxTest *t = plot->test;
  Span x, y, u, v;
  bool begun = false;
  put_head(to, 1000, 560);
  put_title(to, plot, "energy balance", false);
  balance_spans(t, &x, &y);
  for (int k = 0; k < BALANCE; k++) {
    Panel p = balance_panel(k);
    if (!counts(t, k, &u, &v)) continue;
    tl_plot(to, "$e%d << EOD\n", k);
    put_test(to, t, &p);
    tl_plot(to, "EOD\n");
  }
  Axis time = {TL_TX_TIME, 1, 0, "", false};
  put_range(to, 'x', &time, x);
  put_range(to, 'y', &time, y);
  tl_plot(to, "set lmargin 12\nset tmargin 5\nset key outside right top Left reverse samplen 2\n"
              "set xlabel 'time [s]'\nset ylabel 'energy [J]'\nset format y '%%g'\n");
  for (int k = 0; k < BALANCE; k++) {
    if (!counts(t, k, &u, &v)) continue;
    tl_plot_next(to, &begun);
    tl_plot(to, "$e%d using 1:2 with lines lw 2 dt %d lc rgb %s title %s", k, k >= COLOURS ? 2 : 1,
            colours[k % COLOURS], balance[k].name);
  }
  tl_plot(to, "\n");
}

/* ---- all ---- */

static bool anything(const TlTxPlot *plot, const Picture *p) {
  Span x, y;
  bool some = false;
  for (int k = 0; k < p->panels; k++) some = some || spans(plot, &p->panel[k], &x, &y);
  return some;
}

static TlStatus draw(TlPlotScript put, const Drawing *d, const char *name, const char *folder,
                     bool overwrite) {
  char *path = tl_format("%s/%s.png", folder, name);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_gnuplot(put, d, name, path, overwrite);
  tl_free(path);
  return status;
}

TlStatus tl_tx_plot(const TlTxPlot *plot, const char *folder, bool overwrite) {
  Span x, y;
  for (size_t k = 0; k < sizeof pictures / sizeof *pictures; k++) {
    Drawing d = {plot, &pictures[k]};
    if (anything(plot, d.picture))
      TL_TRY(draw(put_picture, &d, d.picture->name, folder, overwrite));
    else
      tl_log_info("%s.png: nothing to draw yet", d.picture->name);
  }
  Drawing d = {plot, NULL};
  if (!balance_spans(plot->test, &x, &y)) return TL_OK;
  return draw(put_balance, &d, "triaxial_energy", folder, overwrite);
}
