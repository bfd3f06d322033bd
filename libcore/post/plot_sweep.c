#include "post/plot_sweep.h"

#include "post/gnuplot.h"

typedef struct Sweep {
  const char *table;
  double chosen;
} Sweep;

static void put(TlPlot *plot, const void *context) {
  const Sweep *s = context;
  tl_plot_page(plot, 900, 500, 11);
  tl_plot(plot, "set datafile separator ','\nset logscale xy\nset key bottom left\nset grid lc rgb "
                "'#dddddd'\nset border 3\nset tics nomirror out\nset xlabel 'h [voxels]'\n"
                "set ylabel 'grains'\nset yrange [1:*]\n");
  tl_plot(plot, "set arrow from %g, graph 0 to %g, graph 1 nohead lc rgb '#c04000' dt 2\nplot ",
          s->chosen, s->chosen);
  tl_plot_table(plot, s->table);
  tl_plot(plot, " every ::1 using 1:2 with linespoints pt 7 ps 0.6 lw 2 lc rgb '#2060a0' title "
                "'grains found (dashed: h chosen)'\n");
}

TlStatus tl_plot_sweep(const char *table, double chosen, const char *picture, bool overwrite) {
  Sweep sweep = {table, chosen};
  return tl_gnuplot(put, &sweep, table, picture, overwrite);
}
