#include "post/report_chart.h"

#include "base/mem.h"

#include "post/ink.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 480, HEIGHT = 300, LEFT = 66, RIGHT = 14, TOP = 30, BOTTOM = 46 };

/* The plot's plane: values to pixels. */
typedef struct Plane {
  double x0, x1, y0, y1;
  bool x_log;
} Plane;

static double across(const Plane *p, double x) {
  double part =
      p->x_log ? (log(x) - log(p->x0)) / (log(p->x1) - log(p->x0)) : (x - p->x0) / (p->x1 - p->x0);
  return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double down(const Plane *p, double y) {
  return HEIGHT - BOTTOM - (y - p->y0) / (p->y1 - p->y0) * (HEIGHT - TOP - BOTTOM);
}

static bool usable(const TlChart *c, double x, double y) {
  return isfinite(x) && isfinite(y) && (!c->x_log || x > 0);
}

/* False: nothing to draw. */
static bool plane_of(const TlChart *c, const TlCurve *curve, int curves, Plane *p) {
  *p = (Plane){INFINITY, -INFINITY, INFINITY, -INFINITY, c->x_log};
  for (int k = 0; k < curves; k++)
    for (int64_t i = 0; i < curve[k].count; i++) {
      double x = curve[k].x[i], y = curve[k].y[i];
      if (!usable(c, x, y)) continue;
      p->x0 = fmin(p->x0, x), p->x1 = fmax(p->x1, x);
      p->y0 = fmin(p->y0, y), p->y1 = fmax(p->y1, y);
    }
  if (!(p->x1 >= p->x0)) return false;
  if (c->y_high > c->y_low) p->y0 = c->y_low, p->y1 = c->y_high;
  if (c->from_zero) p->y0 = fmin(0, p->y0), p->y1 = fmax(0, p->y1);
  if (!(p->y1 > p->y0)) {
    double half = p->y0 != 0 ? 0.1 * fabs(p->y0) : 1;
    p->y0 -= half, p->y1 += half;
  } else if (!(c->y_high > c->y_low)) {
    double margin = 0.04 * (p->y1 - p->y0);
    if (!(c->from_zero && p->y0 == 0)) p->y0 -= margin;
    p->y1 += margin;
  }
  if (!(p->x1 > p->x0)) {
    double half = p->x0 != 0 ? 0.1 * fabs(p->x0) : 1;
    p->x0 -= half, p->x1 += half;
  }
  return true;
}

/* ---- axes ---- */

/* A common power of ten for the marks of an axis, so that they stay short; 0 for none. */
static int power_of(double low, double high) {
  double most = fmax(fabs(low), fabs(high));
  int power = most > 0 ? (int)floor(log10(most)) : 0;
  return power >= 5 || power <= -3 ? power / 3 * 3 - (power < 0 && power % 3 ? 3 : 0) : 0;
}

static void tick(TlHtml *to, double x, double y, const char *anchor, double value, int power) {
  char text[40];
  snprintf(text, sizeof text, "%.6g", value == 0 ? 0.0 : value / pow(10, power));
  tl_html(to, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y,
          anchor, text);
}

static void x_mark(TlHtml *to, const Plane *p, double x, int power) {
  double at = across(p, x);
  tl_html(to, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", at, TOP, HEIGHT - BOTTOM);
  tick(to, at, HEIGHT - BOTTOM + 16, "middle", x, power);
}

static void x_axis(TlHtml *to, const Plane *p, int power) {
  double range = p->x1 / p->x0;
  if (p->x_log && range > 8) { /* over less than a decade even steps say more */
    static const double part[] = {1, 2, 5};
    for (double ten = pow(10, floor(log10(p->x0))); ten <= p->x1; ten *= 10)
      for (int k = 0; k < (range > 50 ? 1 : 3); k++)
        if (part[k] * ten >= p->x0 * 0.999 && part[k] * ten <= p->x1 * 1.001)
          x_mark(to, p, part[k] * ten, power);
    return;
  }
  double step = tl_ink_nice((p->x1 - p->x0) / 4);
  for (double k = ceil(p->x0 / step - 1e-9); k * step <= p->x1 + 1e-9 * step; k++)
    x_mark(to, p, k * step, power);
}

static void y_axis(TlHtml *to, const Plane *p, int power) {
  double step = tl_ink_nice((p->y1 - p->y0) / 3.5);
  for (double k = ceil(p->y0 / step - 1e-9); k * step <= p->y1 + 1e-9 * step; k++) {
    double at = down(p, k * step);
    tl_html(to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
    tick(to, LEFT - 6, at + 4, "end", k * step, power);
  }
}

/* "energy [J]" with a power: "energy [10^6 J]"; without a unit "energy x 10^6". */
static void axis_name(TlHtml *to, const char *label, int power) {
  size_t stem = strcspn(label, "[");
  char head[160];
  snprintf(head, sizeof head, "%.*s", (int)(stem < 150 ? stem : 150), label);
  if (power == 0) {
    tl_html_text(to, label);
  } else if (label[stem]) {
    tl_html_text(to, head);
    tl_html(to, "[10<tspan dy=\"-4\" font-size=\"9\">%d</tspan><tspan dy=\"4\"> </tspan>", power);
    tl_html_text(to, label + stem + 1);
  } else {
    tl_html_text(to, head);
    tl_html(to, " × 10<tspan dy=\"-4\" font-size=\"9\">%d</tspan>", power);
  }
}

static void begin(TlHtml *to, const TlChart *c, const Plane *p) {
  int px = p->x_log ? 0 : power_of(p->x0, p->x1), py = power_of(p->y0, p->y1);
  tl_html(to, "<figure><svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
          WIDTH, HEIGHT);
  tl_html_text(to, c->title);
  tl_html(to, "\"><text class=\"head\" x=\"%d\" y=\"16\">", LEFT);
  tl_html_text(to, c->title);
  tl_html(to, "</text>");
  x_axis(to, p, px);
  y_axis(to, p, py);
  tl_html(to, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>", LEFT, TOP, HEIGHT - BOTTOM,
          WIDTH - RIGHT);
  tl_html(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
          HEIGHT - 10);
  axis_name(to, c->x_label, px);
  tl_html(to, "</text><text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">",
          (TOP + HEIGHT - BOTTOM) / 2);
  axis_name(to, c->y_label, py);
  tl_html(to, "</text>");
}

static void end(TlHtml *to, const TlChart *c, const Plane *p) {
  if (isfinite(c->mark) && c->mark_label && c->mark >= p->x0 && c->mark <= p->x1) {
    double at = across(p, c->mark);
    tl_html(to, "<path class=\"now\" d=\"M%.1f %dV%d\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\"",
            at, TOP, HEIGHT - BOTTOM, at > WIDTH - 120 ? at - 4 : at + 4, TOP + 10);
    tl_html(to, " text-anchor=\"%s\">", at > WIDTH - 120 ? "end" : "start");
    tl_html_text(to, c->mark_label);
    tl_html(to, "</text>");
  }
  if (c->run >= 0)
    tl_html(to,
            "<line class=\"now\" data-run=\"%d\" data-x0=\"%d\" data-x1=\"%d\" data-t0=\"%.9g\" "
            "data-t1=\"%.9g\" x1=\"0\" x2=\"0\" y1=\"%d\" y2=\"%d\" visibility=\"hidden\"/>",
            c->run, LEFT, WIDTH - RIGHT, p->x0, p->x1, TOP, HEIGHT - BOTTOM);
  tl_html(to, "</svg>");
}

static void caption(TlHtml *to, const TlChart *c, const TlCurve *curve, int curves) {
  bool keys = false;
  for (int k = 0; k < curves; k++) keys = keys || curve[k].label;
  tl_html(to, "<figcaption>");
  if (keys) {
    tl_html(to, "<span class=\"key\">");
    for (int k = 0; k < curves; k++) {
      if (!curve[k].label) continue;
      tl_html(to, "<span><span class=\"swatch %s%d\">%s</span> ",
              curve[k].measured ? "measured k" : "k", curve[k].colour & 7,
              curve[k].measured ? "┅"
              : curve[k].dots   ? "●"
                                : "━");
      tl_html_text(to, curve[k].label);
      tl_html(to, "</span>");
    }
    tl_html(to, "</span>");
  }
  if (c->note) tl_html_text(to, c->note);
  tl_html(to, "</figcaption></figure>\n");
}

/* ---- curves ---- */

/* Where a curve has more points than the plot has columns, each column keeps its first, least,
 * largest and last point: what is drawn looks the same. Columns are told apart while x grows. */
static void put_curve(TlHtml *to, const TlChart *c, const Plane *p, const TlCurve *curve) {
  bool thin = curve->count > 4 * WIDTH, pen = false;
  double column = NAN, low = 0, high = 0, last = 0;
  tl_html(to, "<path class=\"curve k%d%s\" d=\"", curve->colour & 7,
          curve->measured ? " measured" : "");
  for (int64_t i = 0; i < curve->count; i++) {
    if (!usable(c, curve->x[i], curve->y[i])) {
      pen = false;
      continue;
    }
    double x = across(p, curve->x[i]), y = down(p, curve->y[i]);
    if (thin && pen && floor(x) == column) {
      low = fmin(low, y), high = fmax(high, y), last = y;
      bool over = i + 1 == curve->count || !usable(c, curve->x[i + 1], curve->y[i + 1]) ||
                  floor(across(p, curve->x[i + 1])) != column;
      if (over) tl_html(to, "V%.1fV%.1fV%.1f", low, high, last);
      continue;
    }
    tl_html(to, "%c%.1f %.1f", pen ? 'L' : 'M', x, y);
    pen = true;
    column = floor(x), low = high = last = y;
  }
  tl_html(to, "\"/>");
}

static void put_dots(TlHtml *to, const TlChart *c, const Plane *p, const TlCurve *curve) {
  tl_html(to, "<g class=\"k%d\">", curve->colour & 7);
  for (int64_t i = 0; i < curve->count; i++)
    if (usable(c, curve->x[i], curve->y[i]))
      tl_html(to, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>", across(p, curve->x[i]),
              down(p, curve->y[i]));
  tl_html(to, "</g>");
}

TlStatus tl_curves_new(TlCurves *c, int64_t most) {
  *c = (TlCurves){.most = most};
  TL_TRY(TL_NEW(c->curve, (size_t)most));
  TL_TRY(TL_NEW(c->x, (size_t)most));
  return TL_NEW(c->y, (size_t)most);
}

void tl_curves_free(TlCurves *c) {
  for (int64_t i = 0; i < c->most && c->x && c->y; i++) {
    tl_free(c->x[i]);
    tl_free(c->y[i]);
  }
  tl_free(c->curve);
  tl_free(c->x);
  tl_free(c->y);
  *c = (TlCurves){0};
}

void tl_chart(TlHtml *to, const TlChart *c, const TlCurve *curve, int curves) {
  Plane p;
  if (!plane_of(c, curve, curves, &p)) return;
  begin(to, c, &p);
  for (int k = 0; k < curves; k++)
    if (curve[k].dots)
      put_dots(to, c, &p, &curve[k]);
    else
      put_curve(to, c, &p, &curve[k]);
  end(to, c, &p);
  caption(to, c, curve, curves);
}

/* ---- histograms ---- */

void tl_chart_count(const double *value, int64_t n, double low, double high, int bins,
                    double *count) {
  for (int b = 0; b < bins; b++) count[b] = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!(value[i] >= low && value[i] <= high)) continue;
    int b = (int)((value[i] - low) / (high - low) * bins);
    count[b < bins ? b : bins - 1]++;
  }
}

void tl_chart_bars(TlHtml *to, const TlChart *c, const double *count, int bins, double low,
                   double width) {
  double most = 0;
  for (int b = 0; b < bins; b++) most = fmax(most, count[b]);
  if (!(most > 0)) return;
  Plane p = {low, low + bins * width, 0, 1.05 * most, false};
  begin(to, c, &p);
  for (int b = 0; b < bins; b++) {
    if (!(count[b] > 0)) continue;
    double x = across(&p, low + b * width), y = down(&p, count[b]);
    tl_html(to, "<path class=\"bar\" d=\"M%.1f %dV%.1fH%.1fV%d\"/>", x, HEIGHT - BOTTOM, y,
            across(&p, low + (b + 1) * width), HEIGHT - BOTTOM);
  }
  end(to, c, &p);
  caption(to, c, NULL, 0);
}
