#include "post/packing_plot.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "post/gnuplot.h"
#include "post/render_values.h"

#include <stdlib.h>

typedef struct Dot {
  double value, across, up;
} Dot;

typedef struct View {
  const TlPacking *packing;
  const TlBands *bands;
  const TlBand *band; /* NULL: none */
  TlVec3 across, up;
  double angle_end_rad, strain_end; /* of the palettes */
  Dot *dot;                         /* [grain_count] of the panel in hand */
} View;

static void look(View *v) {
  TlVec3 g = v->packing->gravity_m_s2;
  v->up = tl_norm2(g) > 0 ? tl_scale(-1, tl_unit(g)) : tl_vec3(0, 0, 1);
  TlVec3 n = v->band ? v->band->normal : tl_vec3(1, 0, 0);
  TlVec3 flat = tl_axpy(n, -tl_dot(n, v->up), v->up);
  if (tl_norm2(flat) < 1e-6) flat = tl_cross(v->up, tl_vec3(0, 1, 0));
  v->across = tl_unit(flat);
}

static int by_value(const void *a, const void *b) {
  const Dot *x = a, *y = b;
  return (x->value > y->value) - (x->value < y->value);
}

static int64_t dots_of(const View *v, const double *value, double scale) {
  int64_t n = 0;
  for (int64_t i = 0; i < v->packing->grain_count; i++) {
    TlVec3 x = v->packing->grain[i].centre_m;
    if (isnan(value[i])) continue;
    v->dot[n++] = (Dot){scale * value[i], 1e3 * tl_dot(x, v->across), 1e3 * tl_dot(x, v->up)};
  }
  qsort(v->dot, (size_t)n, sizeof *v->dot, by_value);
  return n;
}

/* The palette's end in the panel's unit: end, or the most where 98 of a hundred are none. */
static double end_of(const View *v, int64_t n, double end) {
  if (!(end > 0)) end = v->dot[n - 1].value;
  return end > 0 ? end : 1;
}

/* Its two faces, as lines that the panel cuts off. */
static void put_band(TlPlot *plot, const View *v) {
  const TlBand *b = v->band;
  if (!b) return;
  TlVec3 n = b->normal, run = tl_unit(tl_cross(tl_cross(v->across, v->up), n));
  double reach = 0;
  for (int64_t i = 0; i < v->packing->grain_count; i++)
    reach = fmax(reach, tl_norm(tl_sub(v->packing->grain[i].centre_m, b->point_m)));
  tl_plot(plot, "$b << EOD\n");
  for (int side = -1; side <= 1; side += 2) {
    for (int end = -1; end <= 1; end += 2) {
      TlVec3 at = tl_axpy(b->point_m, 0.5 * side * b->thickness_m, n);
      TlVec3 x = tl_axpy(at, end * reach, run);
      tl_plot(plot, "%.6g %.6g\n", 1e3 * tl_dot(x, v->across), 1e3 * tl_dot(x, v->up));
    }
    tl_plot(plot, "\n");
  }
  tl_plot(plot, "EOD\n");
}

/* The largest of 1, 2 and 5 times a power of ten that parts x into three or more. */
static double step_of(double x) {
  static const double times[] = {5, 2};
  double ten = pow(10, floor(log10(x / 3)));
  for (int k = 0; k < 2; k++)
    if (times[k] * ten <= x / 3) return times[k] * ten;
  return ten;
}

static void put_frame(TlPlot *plot, const View *v) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int64_t i = 0; i < v->packing->grain_count; i++) {
    const TlPackGrain *g = &v->packing->grain[i];
    const double x[2] = {tl_dot(g->centre_m, v->across), tl_dot(g->centre_m, v->up)};
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], x[k] - g->diameter_m);
      high[k] = fmax(high[k], x[k] + g->diameter_m);
    }
  }
  tl_plot(plot, "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\nset xtics %.6g\n", 1e3 * low[0],
          1e3 * high[0], 1e3 * low[1], 1e3 * high[1], step_of(1e3 * (high[0] - low[0])));
}

static void put_panel(TlPlot *plot, const View *v, const double *value, double scale, double most,
                      const char *title) {
  int64_t n = dots_of(v, value, scale);
  if (n == 0) {
    tl_plot(plot, "set multiplot next\n");
    return;
  }
  double end = end_of(v, n, scale * most);
  tl_plot(plot, "$d << EOD\n");
  for (int64_t i = 0; i < n; i++)
    tl_plot(plot, "%.6g %.6g %.6g\n", v->dot[i].across, v->dot[i].up, fmin(end, v->dot[i].value));
  tl_plot(plot, "EOD\nset title %s\nset cbrange [0:%.6g]\n", title, end);
  tl_plot(plot, "plot $d using 1:2:3 with points pt 7 ps %.2f lc palette notitle",
          n > 5000   ? 0.5
          : n > 1000 ? 0.8
          : n > 300  ? 1.2
                     : 2.0);
  if (v->band) tl_plot(plot, ", $b using 1:2 with lines lw 1.5 dt 2 lc rgb '#000000' notitle");
  tl_plot(plot, "\n");
}

static void put(TlPlot *plot, const void *context) {
  const View *v = context;
  const TlBand *b = v->band;
  tl_plot_page(plot, 1100, 700, 11);
  tl_plot(plot, "set border 3 lw 1 lc rgb '#606060'\nset tics nomirror out\nset size ratio -1\nset "
                "clip two\n"
                "set palette defined (0 '#d8dde6', 0.4 '#7fa8d0', 0.7 '#e0a13a', 1 '#a3211f')\n"
                "set xlabel 'across [mm]'\nset ylabel 'height [mm]'\n");
  if (b)
    tl_plot(plot,
            "set multiplot layout 1,2 title 'band at %.1f deg to the horizontal, %.2g mm = %.1f "
            "D50 thick'\n",
            b->inclination_deg, 1e3 * b->thickness_m, b->thickness_d50);
  else
    tl_plot(plot, "set multiplot layout 1,2 title 'no band found'\n");
  put_frame(plot, v);
  put_band(plot, v);
  put_panel(plot, v, v->bands->angle_rad, TL_DEG, v->angle_end_rad, "rotation [deg]");
  put_panel(plot, v, v->bands->strain.deviatoric, 1, v->strain_end, "local deviatoric strain");
  tl_plot(plot, "unset multiplot\n");
}

static bool anything(const TlPacking *p, const TlBands *b) {
  for (int64_t i = 0; i < p->grain_count; i++)
    if (!isnan(b->angle_rad[i]) || !isnan(b->strain.deviatoric[i])) return true;
  return false;
}

static TlStatus ends(View *v) {
  int64_t n = v->packing->grain_count;
  TL_TRY(tl_values_end(v->bands->angle_rad, n, &v->angle_end_rad));
  return tl_values_end(v->bands->strain.deviatoric, n, &v->strain_end);
}

TlStatus tl_band_plot(const TlPacking *p, const TlBands *bands, const char *folder,
                      bool overwrite) {
  View v = {.packing = p, .bands = bands, .band = tl_bands_best(bands)};
  if (!anything(p, bands)) {
    tl_log_info("%s/band.png: no grain has a rotation or a strain", folder);
    return TL_OK;
  }
  char *path = tl_path_join(folder, "band.png");
  TlStatus status = path ? TL_NEW(v.dot, (size_t)p->grain_count) : TL_ENOMEM;
  look(&v);
  if (status == TL_OK) status = ends(&v);
  if (status == TL_OK) status = tl_gnuplot(put, &v, "band", path, overwrite);
  tl_free(v.dot);
  tl_free(path);
  return status;
}
