#include "post/packing_plot.h"

#include "post/gnuplot.h"

/* Over the azimuths of a band: its mean density, against the angle of the band's middle. */
static void put_fabric(TlPlot *plot, const TlPackingPlot *p) {
  static const char *const colour[TL_FABRIC_KINDS] = {"#2060a0", "#c04000", "#208040"};
  static const char *const title[TL_FABRIC_KINDS] = {"contact normals", "branches", "long axes"};
  tl_plot(plot, "set xlabel 'angle to z [deg]'\nset ylabel 'density of directions / isotropic'\n"
                "set xrange [0:90]\nset yrange [0:*]\nset key top right\nset offsets 0, 0, graph "
                "0.3, 0\nplot 1 lc rgb '#999999' dt 2 "
                "title 'isotropic'");
  for (int k = 0; k < TL_FABRIC_KINDS; k++) {
    if (!(p->anisotropy[k] >= 0)) continue;
    tl_plot(plot, ", ");
    tl_plot_table(plot, p->fabric);
    /* one point a band: frequency smoothing adds its sectors up */
    tl_plot(plot,
            " every ::1 using (column(1) == %d ? acos((column(2) + column(3))/2)*180/pi : "
            "1/0):(column(7)/%d.0) smooth frequency with linespoints lw 2 pt 7 ps 0.8 lc rgb %s "
            "title %s.', a = %.3f'",
            k, TL_FABRIC_SECTORS, colour[k], title[k], p->anisotropy[k]);
  }
  tl_plot(plot, "\n");
}

static void put_forces(TlPlot *plot, const TlPackingPlot *p) {
  const TlForces *f = &p->spread;
  double weak = 1 - f->strong_fraction;
  tl_plot(plot,
          "set xlabel 'normal force / mean'\nset ylabel 'density'\nunset offsets\nset logscale y\n"
          "set xrange [0:*]\nset yrange [*:*]\nplot ");
  tl_plot_table(plot, p->forces);
  tl_plot(plot, " every ::1 using (column(1) + column(2))/2:(column(4) > 0 ? column(4) : 1/0) with "
                "points pt 7 ps 0.8 lc rgb '#2060a0' title 'pairs'");
  if (f->beta > 0)
    tl_plot(plot,
            ", [1:6] %.17g*exp(-%.17g*(x - 1)) lw 2 lc rgb '#c04000' title 'strong: exp(-%.2f f)'",
            f->strong_fraction * f->beta, f->beta, f->beta);
  if (f->alpha > -1)
    tl_plot(plot,
            ", [0.02:1] %.17g*x**(%.17g) lw 2 lc rgb '#208040' title 'weak: f^{%.2f}' enhanced",
            weak * (f->alpha + 1), f->alpha, f->alpha);
  tl_plot(plot, "\n");
}

static void put(TlPlot *plot, const void *context) {
  const TlPackingPlot *p = context;
  tl_plot_page(plot, 1200, 500, 11);
  tl_plot(plot,
          "set datafile separator ','\nset samples 400\nset grid lc rgb '#dddddd'\nset border 3\n"
          "set tics nomirror out\nset multiplot layout 1,2 title 'at %.6g s'\n",
          p->time_s);
  put_fabric(plot, p);
  if (p->spread.pairs > 0) put_forces(plot, p);
  tl_plot(plot, "unset multiplot\n");
}

TlStatus tl_packing_plot(const TlPackingPlot *plot, const char *picture, bool overwrite) {
  return tl_gnuplot(put, plot, plot->forces, picture, overwrite);
}
