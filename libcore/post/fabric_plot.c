#include "post/packing_plot.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "post/gnuplot.h"
#include "post/packing_fabric.h"

enum { CELLS = TL_FABRIC_BANDS * TL_FABRIC_SECTORS, WIDTH = 400, HEIGHT = 420 };

typedef struct Rose {
  int64_t count, cell[CELLS];
  TlFabric fabric;
  double most, surface_most; /* longest ray, and that of the surface */
} Rose;

typedef struct Roses {
  int parts;
  const char *const *title;
  Rose rose[TL_FABRIC_PLOT_PARTS][TL_FABRIC_KINDS];
} Roses;

/* ---- shapes ---- */

static TlVec3 direction(double cosine, double azimuth) {
  double sine = sqrt(fmax(0, 1 - cosine * cosine));
  return tl_vec3(sine * cos(azimuth), sine * sin(azimuth), cosine);
}

static double surface_at(const Rose *r, TlVec3 n) {
  return fmax(0, 1 + tl_dot(n, tl_sym_vec(r->fabric.deviatoric, n)));
}

static void put_point(TlPlot *plot, TlVec3 x, double colour) {
  tl_plot(plot, "%.5g %.5g %.5g %.5g\n", x.x, x.y, x.z, colour);
}

/* A surface of its own: two scans of two points. */
static void put_patch(TlPlot *plot, TlVec3 a, TlVec3 b, TlVec3 c, TlVec3 d, double colour) {
  put_point(plot, a, colour);
  put_point(plot, b, colour);
  tl_plot(plot, "\n");
  put_point(plot, c, colour);
  put_point(plot, d, colour);
  tl_plot(plot, "\n\n");
}

/* A ray: its cap and four walls to the middle; and that on the other side. */
static void put_ray(TlPlot *plot, int band, int sector, double length) {
  const TlVec3 o = {0, 0, 0};
  for (int side = -1; side <= 1; side += 2) {
    TlVec3 x[2][2];
    for (int i = 0; i < 2; i++)
      for (int k = 0; k < 2; k++)
        x[i][k] = tl_scale(side * length, direction((double)(band + i) / TL_FABRIC_BANDS,
                                                    2 * M_PI * (sector + k) / TL_FABRIC_SECTORS));
    put_patch(plot, x[0][0], x[0][1], x[1][0], x[1][1], length);
    put_patch(plot, o, o, x[0][0], x[0][1], length);
    put_patch(plot, o, o, x[1][0], x[1][1], length);
    put_patch(plot, o, o, x[0][0], x[1][0], length);
    put_patch(plot, o, o, x[0][1], x[1][1], length);
  }
}

static double density(const Rose *r, int cell) {
  return (double)r->cell[cell] * CELLS / (double)r->count;
}

static void put_rays(TlPlot *plot, const Rose *r) {
  for (int k = 0; k < CELLS; k++)
    if (r->cell[k] > 0) put_ray(plot, k / TL_FABRIC_SECTORS, k % TL_FABRIC_SECTORS, density(r, k));
}

static void put_surface(TlPlot *plot, const Rose *r) {
  enum { UP = 36, ROUND = 72 };
  for (int i = 0; i <= UP; i++) {
    for (int k = 0; k <= ROUND; k++) {
      TlVec3 n = direction(cos(M_PI * i / UP), 2 * M_PI * k / ROUND);
      double s = surface_at(r, n);
      put_point(plot, tl_scale(s, n), s);
    }
    tl_plot(plot, "\n");
  }
}

/* ---- the picture ---- */

/* Of a kind in all parts, which are to be compared. */
static double longest(const Roses *all, int kind, bool surface) {
  double most = 1;
  for (int p = 0; p < all->parts; p++) {
    const Rose *r = &all->rose[p][kind];
    if (r->count > 0) most = fmax(most, surface ? r->surface_most : r->most);
  }
  return most;
}

static void put_panel(TlPlot *plot, const Roses *all, int part, int kind, bool surface) {
  static const char *const what[TL_FABRIC_KINDS] = {"contact normals", "branches", "long axes"};
  const Rose *r = &all->rose[part][kind];
  double most = longest(all, kind, surface);
  if (r->count == 0) {
    tl_plot(plot, "set multiplot next\n");
    return;
  }
  tl_plot(plot, "$d << EOD\n");
  if (surface)
    put_surface(plot, r);
  else
    put_rays(plot, r);
  tl_plot(plot, "EOD\n");
  if (surface)
    tl_plot(plot, "set title %s.', '.%s.\"\\n1 + n.F'n, a = %.3f\"\n", what[kind], all->title[part],
            r->fabric.anisotropy);
  else
    tl_plot(plot, "set title %s.', '.%s.\"\\n%lld, densest %.1f times even\"\n", what[kind],
            all->title[part], (long long)r->count, r->most);
  tl_plot(plot,
          "set xrange [-%.5g:%.5g]\nset yrange [-%.5g:%.5g]\nset zrange [-%.5g:%.5g]\n"
          "set cbrange [0:%.5g]\nset arrow 1 from 0,0,0 to 0,0,%.5g lc rgb '#000000' lw 1 back\n"
          "set label 1 'z' at 0,0,%.5g center\n",
          most, most, most, most, most, most, most, most, 1.12 * most);
  tl_plot(plot, "splot $d using 1:2:3:4 with pm3d notitle\n");
}

static void put(TlPlot *plot, const void *context) {
  const Roses *all = context;
  int rows = 2 * all->parts;
  tl_plot_page(plot, TL_FABRIC_KINDS * WIDTH, rows * HEIGHT, 10);
  tl_plot(
      plot,
      "set multiplot layout %d,%d\nset view 70,35,1.4\nset view equal xyz\nunset border\n"
      "unset tics\nset xyplane relative 0\nset pm3d depthorder border lc rgb '#707070' lw 0.3\n"
      "set palette defined (0 '#2c4a9a', 0.5 '#7fb6d6', 1 '#f6e8b1', 1.5 '#e0813a', 2 '#a3211f')\n"
      "unset colorbox\n",
      rows, TL_FABRIC_KINDS);
  for (int row = 0; row < rows; row++)
    for (int kind = 0; kind < TL_FABRIC_KINDS; kind++)
      put_panel(plot, all, row / 2, kind, row % 2 == 1);
  tl_plot(plot, "unset multiplot\n");
}

/* ---- filling ---- */

static TlStatus fill_rose(const TlPacking *p, const TlRegion *part, TlFabricKind kind, Rose *r) {
  TlVec3 *n;
  TL_TRY(tl_fabric_directions(p, part, kind, &n, &r->count));
  r->fabric = tl_fabric_of(n, r->count);
  tl_fabric_histogram(n, r->count, r->cell);
  tl_free(n);
  for (int k = 0; k < CELLS && r->count > 0; k++) r->most = fmax(r->most, density(r, k));
  r->surface_most = r->count > 0 ? surface_at(r, r->fabric.major) : 0;
  return TL_OK;
}

static TlStatus draw(const TlPacking *p, const TlRegion *part, Roses *all, const char *path,
                     bool overwrite) {
  int64_t count = 0;
  for (int i = 0; i < all->parts; i++)
    for (int k = 0; k < TL_FABRIC_KINDS; k++) {
      TL_TRY(fill_rose(p, &part[i], (TlFabricKind)k, &all->rose[i][k]));
      count += all->rose[i][k].count;
    }
  if (count > 0) return tl_gnuplot(put, all, "fabric", path, overwrite);
  tl_log_info("%s: no directions to draw", path);
  return TL_OK;
}

TlStatus tl_fabric_plot(const TlPacking *p, const TlRegion *part, const char *const *title,
                        int parts, const char *folder, const char *name, bool overwrite) {
  Roses *all = NULL;
  char *path = tl_path_join(folder, name);
  TlStatus status = path ? TL_NEW(all, 1) : TL_ENOMEM;
  if (status == TL_OK) {
    *all = (Roses){.parts = parts, .title = title};
    status = draw(p, part, all, path, overwrite);
  }
  tl_free(all);
  tl_free(path);
  return status;
}
