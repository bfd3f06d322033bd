#include "post/report_map.h"

#include "base/mem.h"
#include "io/image.h"
#include "post/ink.h"
#include "post/render_colour.h"

#include <math.h>
#include <string.h>

enum { EDGE = 46, CLASSES = 8, PATH_POINTS = 60000, RELIEF_QUALITY = 82 };

/* ---- what the frames saw ---- */

void tl_map_grid_free(TlMapGrid *grid) {
  tl_free(grid->speed_m_s);
  tl_free(grid->passed);
  tl_free(grid->energy_kJ);
  tl_free(grid->jump_m);
  *grid = (TlMapGrid){0};
}

static void find_largest(TlMapGrid *g) { /* fmax passes over NaN */
  for (int64_t i = 0; i < g->nx * g->ny; i++) {
    g->largest_speed_m_s = fmax(g->largest_speed_m_s, g->speed_m_s[i]);
    g->most_passed = fmax(g->most_passed, g->passed[i]);
    if (!g->every_step) continue;
    g->largest_energy_kJ = fmax(g->largest_energy_kJ, g->energy_kJ[i]);
    g->largest_jump_m = fmax(g->largest_jump_m, g->jump_m[i]);
  }
}

static void raise(double *to, double value) {
  *to = fmax(*to, value);
}

TlStatus tl_map_grid_of_steps(const TlTerrain *terrain, const TlBlockCell *cell, int64_t count,
                              TlMapGrid *g) {
  enum { LONGER_SIDE = 120 };
  TlTerrainGrid t = tl_terrain_grid(terrain);
  int64_t low[2] = {INT64_MAX, INT64_MAX}, high[2] = {-1, -1};
  *g = (TlMapGrid){.every_step = true};
  for (int64_t k = 0; k < count; k++) {
    int64_t at[2] = {cell[k].cell % t.nx, cell[k].cell / t.nx};
    for (int a = 0; a < 2; a++) {
      if (at[a] < low[a]) low[a] = at[a];
      if (at[a] > high[a]) high[a] = at[a];
    }
  }
  if (count == 0) return TL_OK;
  int64_t wide = high[0] - low[0] + 1, tall = high[1] - low[1] + 1,
          together = ((wide > tall ? wide : tall) + LONGER_SIDE - 1) / LONGER_SIDE;
  g->cell_m = (double)together * t.cell_m;
  g->x0_m = t.x0_m + ((double)low[0] - 0.5) * t.cell_m;
  g->y0_m = t.y0_m + ((double)low[1] - 0.5) * t.cell_m;
  g->nx = (wide + together - 1) / together;
  g->ny = (tall + together - 1) / together;
  size_t n = (size_t)(g->nx * g->ny);
  int64_t *last;
  TL_TRY(TL_NEW(g->speed_m_s, n));
  TL_TRY(TL_NEW(g->passed, n));
  TL_TRY(TL_NEW(g->energy_kJ, n));
  TL_TRY(TL_NEW(g->jump_m, n));
  TL_TRY(TL_NEW(last, n));
  for (size_t i = 0; i < n; i++) {
    g->speed_m_s[i] = g->energy_kJ[i] = g->jump_m[i] = NAN;
    last[i] = -1;
  }
  for (int64_t k = 0; k < count; k++) {
    int64_t i = (cell[k].cell % t.nx - low[0]) / together,
            at = (cell[k].cell / t.nx - low[1]) / together * g->nx + i;
    raise(&g->speed_m_s[at], cell[k].value[TL_CELL_SPEED]);
    raise(&g->energy_kJ[at], cell[k].value[TL_CELL_ENERGY]);
    raise(&g->jump_m[at], cell[k].value[TL_CELL_JUMP]);
    g->passed[at] += last[at] != cell[k].block;
    last[at] = cell[k].block;
  }
  tl_free(last);
  find_largest(g);
  return TL_OK;
}

/* Bounds of the grains' centres in all frames; false: no grain. */
static bool bounds_of(const TlReportMotion *m, TlMapRegion *r) {
  *r = (TlMapRegion){INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (int64_t b = 0; b < m->bodies; b++) {
    if (!tl_report_motion_grain(m, b)) continue;
    for (int64_t f = 0; f < m->frames; f++) {
      TlVec3 p = m->place_m[tl_report_motion_at(m, b, f)];
      r->x0 = fmin(r->x0, p.x), r->x1 = fmax(r->x1, p.x);
      r->y0 = fmin(r->y0, p.y), r->y1 = fmax(r->y1, p.y);
    }
  }
  return r->x1 >= r->x0;
}

static void pass_over(TlMapGrid *g, TlVec3 p, double speed, int64_t body, int64_t *last) {
  int64_t i = (int64_t)floor((p.x - g->x0_m) / g->cell_m),
          j = (int64_t)floor((p.y - g->y0_m) / g->cell_m);
  if (i < 0 || j < 0 || i >= g->nx || j >= g->ny) return;
  int64_t at = j * g->nx + i;
  if (!(g->speed_m_s[at] >= speed)) g->speed_m_s[at] = speed;
  if (last[at] != body) g->passed[at]++;
  last[at] = body;
}

TlStatus tl_map_grid(const TlScene *scene, const TlReportMotion *m, double cell_m, TlMapGrid *g) {
  TlMapRegion r;
  double size = 0, grains = 0;
  *g = (TlMapGrid){0};
  if (!bounds_of(m, &r)) return TL_OK;
  for (int64_t b = 0; b < m->bodies; b++)
    if (tl_report_motion_grain(m, b))
      size += 0.5 * m->scale[b] * tl_avatar_diameter_m(&scene->avatars[m->shape[b]]), grains++;
  g->cell_m = cell_m > 0 ? cell_m : fmax(size / grains, fmax(r.x1 - r.x0, r.y1 - r.y0) / 120);
  if (!(g->cell_m > 0)) g->cell_m = 1;
  g->x0_m = g->cell_m * floor(r.x0 / g->cell_m);
  g->y0_m = g->cell_m * floor(r.y0 / g->cell_m);
  g->nx = (int64_t)floor((r.x1 - g->x0_m) / g->cell_m) + 1;
  g->ny = (int64_t)floor((r.y1 - g->y0_m) / g->cell_m) + 1;
  size_t n = (size_t)(g->nx * g->ny);
  int64_t *last;
  TL_TRY(TL_NEW(g->speed_m_s, n));
  TL_TRY(TL_NEW(g->passed, n));
  TL_TRY(TL_NEW(last, n));
  for (size_t i = 0; i < n; i++) g->speed_m_s[i] = NAN, last[i] = -1;
  for (int64_t b = 0; b < m->bodies; b++) {
    if (!tl_report_motion_grain(m, b)) continue;
    for (int64_t f = 0; f < m->frames; f++) {
      int64_t at = tl_report_motion_at(m, b, f);
      if (!m->there[at]) continue;
      bool from = f > 0 && m->there[at - 1];
      TlVec3 a = m->place_m[from ? at - 1 : at], d = tl_sub(m->place_m[at], a);
      double v = m->speed_m_s[from ? at - 1 : at];
      int steps = 1 + (int)(2 * hypot(d.x, d.y) / g->cell_m);
      for (int k = from ? 1 : steps; k <= steps; k++) {
        double t = (double)k / steps;
        pass_over(g, tl_axpy(a, t, d), v + t * (m->speed_m_s[at] - v), b, last);
      }
    }
  }
  tl_free(last);
  find_largest(g);
  return TL_OK;
}

TlMapRegion tl_map_region(const TlScene *scene, const TlReportMotion *m) {
  const TlTerrain *t = &scene->terrain;
  TlMapRegion all = {t->x0_m, t->x0_m + t->cell_m * (double)(t->nx - 1), t->y0_m,
                     t->y0_m + t->cell_m * (double)(t->ny - 1)},
              r;
  if (!bounds_of(m, &r)) return all;
  double margin = fmax(0.3 * fmax(r.x1 - r.x0, r.y1 - r.y0), 10 * t->cell_m);
  r = (TlMapRegion){fmax(all.x0, r.x0 - margin), fmin(all.x1, r.x1 + margin),
                    fmax(all.y0, r.y0 - margin), fmin(all.y1, r.y1 + margin)};
  if (!(r.x1 > r.x0) || !(r.y1 > r.y0)) return all;
  bool most = (r.x1 - r.x0) * (r.y1 - r.y0) > 0.5 * (all.x1 - all.x0) * (all.y1 - all.y0);
  return most ? all : r;
}

/* ---- drawing ---- */

typedef struct Map {
  TlHtml *to;
  const TlScene *scene;
  TlMapRegion r;
  double pixel_m;
  int width, height; /* of the map's picture, pixels; the SVG has an edge round it */
  int id;
} Map;

static double px(const Map *m, double x) {
  return EDGE + (x - m->r.x0) / m->pixel_m;
}
static double py(const Map *m, double y) {
  return EDGE + (m->r.y1 - y) / m->pixel_m;
}

static double contour_of(const TlTerrain *t) {
  double low = INFINITY, high = -INFINITY;
  for (int64_t i = 0; i < t->nx * t->ny; i++) {
    low = fmin(low, (double)t->height_m[i]);
    high = fmax(high, (double)t->height_m[i]);
  }
  return tl_ink_nice(fmax(1e-9, (high - low) / 30));
}

/* Part of a pixel that a line covers which runs where the value is a whole multiple of step. */
static double line_cover(double value, double step, double per_pixel, double width) {
  double off = fabs(value / step - floor(value / step + 0.5)) * step;
  double cover = fmin(1, fmax(0, (0.5 * width * per_pixel - off) / per_pixel + 0.5));
  return cover * fmin(1, fmax(0, 0.25 * step / per_pixel - 1));
}

/* Light from the north-west, 45 degrees high, as maps have it. */
static void relief_pixel(const TlTerrain *t, double x, double y, double pixel_m, double contour,
                         uint8_t rgb[3]) {
  double z;
  TlVec3 n;
  if (!tl_terrain_height(t, x, y, &z, &n)) {
    memset(rgb, 255, 3);
    return;
  }
  TlVec3 sun = tl_vec3(-0.5, 0.5, M_SQRT1_2);
  double slope = acos(fmin(1, n.z)), light = 0.66 + 0.56 * fmax(0, tl_dot(n, sun));
  TlVec3 c = tl_colour_of_ground(slope * TL_DEG, 0.6);
  double level = z + t->origin[2], steep = fmax(tan(slope), 0.02) * pixel_m;
  double line = fmax(0.25 * line_cover(level, contour, steep, 1.0),
                     0.5 * line_cover(level, 5 * contour, steep, 1.5));
  tl_colour_to_bytes(tl_scale(light * (1 - line) * 1.1, c), rgb);
}

static TlStatus put_relief(const Map *m, double contour) {
  TlImage image;
  uint8_t *jpeg = NULL;
  size_t size;
  TL_TRY(tl_image_new(&image, m->width, m->height));
  for (int y = 0; y < m->height; y++)
    for (int x = 0; x < m->width; x++)
      relief_pixel(&m->scene->terrain, m->r.x0 + (x + 0.5) * m->pixel_m,
                   m->r.y1 - (y + 0.5) * m->pixel_m, m->pixel_m, contour,
                   image.rgb + 3 * ((size_t)y * (size_t)m->width + (size_t)x));
  TlStatus status = tl_image_jpeg(&image, RELIEF_QUALITY, &jpeg, &size);
  tl_image_free(&image);
  TL_TRY(status);
  tl_html(m->to,
          "<image id=\"relief-%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
          "href=\"data:image/jpeg;base64,",
          m->id, EDGE, EDGE, m->width, m->height);
  tl_html_base64(m->to, jpeg, size);
  tl_html(m->to, "\"/>");
  tl_free(jpeg);
  return TL_OK;
}

/* Coordinates along the frame: those of the CRS where the terrain has one. */
static void put_frame(const Map *m) {
  const TlTerrain *t = &m->scene->terrain;
  TlHtml *to = m->to;
  double step = tl_ink_nice(fmax(m->r.x1 - m->r.x0, m->r.y1 - m->r.y0) / 4);
  int digits = step >= 1 ? 0 : (int)ceil(-log10(step));
  tl_html(to, "<rect class=\"axis\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", EDGE, EDGE,
          m->width, m->height);
  for (double k = ceil((m->r.x0 + t->origin[0]) / step); k * step <= m->r.x1 + t->origin[0]; k++) {
    double x = px(m, k * step - t->origin[0]);
    tl_html(to,
            "<path class=\"axis\" d=\"M%.1f %dv5\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\">%.*f</text>",
            x, EDGE + m->height, x, EDGE + m->height + 17, digits, k * step);
  }
  for (double k = ceil((m->r.y0 + t->origin[1]) / step); k * step <= m->r.y1 + t->origin[1]; k++) {
    double y = py(m, k * step - t->origin[1]);
    tl_html(to,
            "<path class=\"axis\" d=\"M%d %.1fh-5\"/><text class=\"tick\" "
            "transform=\"translate(%d %.1f) rotate(-90)\" text-anchor=\"middle\">%.*f</text>",
            EDGE, y, EDGE - 9, y, digits, k * step);
  }
  tl_html(to, "<text class=\"tick\" x=\"%d\" y=\"%d\">east, m</text>", EDGE, EDGE + m->height + 34);
  tl_html(to, "<text class=\"tick\" transform=\"translate(14 %d) rotate(-90)\">north, m</text>",
          EDGE + m->height);
  double length = tl_ink_nice((m->r.x1 - m->r.x0) / 4), pixels = length / m->pixel_m;
  char text[32];
  tl_ink_length(length, text);
  tl_html(to,
          "<g transform=\"translate(%.1f %d)\"><path class=\"halo axis\" d=\"M0-6V0H%.1fV-6\" "
          "stroke=\"#222\" stroke-width=\"2\"/><text class=\"halo\" x=\"%.1f\" y=\"-5\" "
          "text-anchor=\"middle\">%s</text></g>",
          EDGE + m->width - pixels - 12, EDGE + m->height - 12, pixels, 0.5 * pixels, text);
  tl_html(to,
          "<g transform=\"translate(%d %d)\"><circle r=\"19\" fill=\"#fff\" fill-opacity=\".8\"/>"
          "<path d=\"M0-16 5 6 0 2-5 6Z\" fill=\"#b3261e\"/><text y=\"16\" "
          "text-anchor=\"middle\" font-weight=\"700\">N</text></g>",
          EDGE + m->width - 26, EDGE + 26);
}

static void begin(const Map *m, const char *title) {
  tl_html(m->to, "<figure><svg class=\"map\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
          m->width + 2 * EDGE, m->height + 2 * EDGE);
  tl_html_text(m->to, title);
  tl_html(m->to, "\"><text class=\"head\" x=\"%d\" y=\"26\">", EDGE);
  tl_html_text(m->to, title);
  tl_html(m->to, "</text>");
}

/* Patches of the ground that hang on a filled sample, rows of them as one rectangle; false: none in
 * the picture. */
static bool put_filled(const Map *m) {
  const TlTerrain *t = &m->scene->terrain;
  bool any = false;
  for (int64_t j = 0; t->filled && j < t->ny - 1; j++)
    for (int64_t i = 0; i < t->nx - 1; i++) {
      int64_t first = i;
      double y = t->y0_m + t->cell_m * ((double)j + 0.5);
      while (i < t->nx - 1 &&
             tl_terrain_filled(t, t->x0_m + t->cell_m * ((double)i + 0.5), y) == TL_GROUND_FILLED)
        i++;
      double left = fmax(m->r.x0, t->x0_m + t->cell_m * (double)first),
             right = fmin(m->r.x1, t->x0_m + t->cell_m * (double)i),
             foot = fmax(m->r.y0, y - 0.5 * t->cell_m), top = fmin(m->r.y1, y + 0.5 * t->cell_m);
      if (i == first || right <= left || top <= foot) continue;
      if (!any) tl_html(m->to, "<path class=\"filled\" d=\"");
      any = true;
      tl_html(m->to, "M%.1f %.1fH%.1fV%.1fH%.1f", px(m, left), py(m, top), px(m, right),
              py(m, foot), px(m, left));
    }
  if (any) tl_html(m->to, "\"/>");
  return any;
}

/* ---- paths ---- */

static TlVec3 last_place(const TlReportMotion *m, int64_t b) {
  return m->place_m[tl_report_motion_at(m, b, m->frames - 1)];
}

/* Every k-th grain, so that the page stays small; points a pixel apart at least. Returns k. */
static int64_t put_paths(const Map *map, const TlReportMotion *m) {
  int64_t grains = 0, every;
  for (int64_t b = 0; b < m->bodies; b++) grains += tl_report_motion_grain(m, b);
  every = grains * m->frames / PATH_POINTS + 1;
  tl_html(map->to, "<path class=\"path\" d=\"");
  for (int64_t b = 0, n = 0; b < m->bodies; b++) {
    if (!tl_report_motion_grain(m, b) || n++ % every != 0) continue;
    double x0 = 0, y0 = 0;
    bool pen = false;
    for (int64_t f = 0; f < m->frames; f++) {
      int64_t at = tl_report_motion_at(m, b, f);
      if (!m->there[at]) {
        pen = false;
        continue;
      }
      double x = px(map, m->place_m[at].x), y = py(map, m->place_m[at].y);
      if (pen && f + 1 < m->frames && hypot(x - x0, y - y0) < 1) continue;
      tl_html(map->to, "%c%.1f %.1f", pen ? 'L' : 'M', x, y);
      pen = true;
      x0 = x, y0 = y;
    }
  }
  tl_html(map->to, "\"/>");
  return every;
}

double tl_report_on_filled(const TlScene *scene, const TlReportMotion *m, const bool *moving) {
  double count = 0;
  for (int64_t b = 0; b < m->bodies; b++) {
    TlVec3 x = last_place(m, b);
    if (tl_report_motion_grain(m, b) && !moving[b] && !tl_report_motion_gone(m, b))
      count += tl_ground_filled_number(tl_terrain_filled(&scene->terrain, x.x, x.y));
  }
  return count;
}

typedef struct Places {
  int64_t stopped, moving, gone;
} Places;

static Places put_places(const Map *map, const TlReportMotion *m, const bool *moving) {
  Places p = {0, 0, 0};
  tl_html(map->to, "<path class=\"start\" d=\"");
  for (int64_t b = 0; b < m->bodies; b++)
    if (tl_report_motion_grain(m, b)) {
      TlVec3 x = m->place_m[tl_report_motion_at(m, b, 0)];
      tl_html(map->to, "M%.1f %.1fm-1.6 0a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0-3.2 0", px(map, x.x),
              py(map, x.y));
    }
  tl_html(map->to, "\"/>");
  for (int64_t b = 0; b < m->bodies; b++) {
    if (!tl_report_motion_grain(m, b)) continue;
    TlVec3 x = last_place(m, b);
    double u = px(map, x.x), v = py(map, x.y);
    bool out = tl_report_motion_gone(m, b);
    p.gone += out;
    p.moving += !out && moving[b];
    p.stopped += !out && !moving[b];
    if (out)
      tl_html(map->to, "<path class=\"gone\" d=\"M%.1f %.1fl8 8m0-8l-8 8\"/>", u - 4, v - 4);
    else
      tl_html(map->to, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>",
              moving[b] ? "moving" : "stop", u, v, moving[b] ? "3" : "2.4");
  }
  return p;
}

/* ---- cells in classes of colour ---- */

typedef struct Cells {
  const char *title, *unit, *what;
  const double *value;
  int64_t nx, ny;
  double x0, y0, cell, high;
  bool whole; /* values are numbers of things */
} Cells;

/* Of the classes from 0 to the largest value: a round number, whole for numbers of things. */
static double class_width(const Cells *c) {
  static const double round[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
  double width = c->high / CLASSES, power = pow(10, floor(log10(width)));
  if (c->whole) return fmax(1, ceil(width));
  for (size_t k = 0; k < sizeof round / sizeof *round; k++)
    if (round[k] * power >= width * (1 - 1e-9)) return round[k] * power;
  return 10 * power;
}

/* Rows of cells of one class as one path each; above 0 only. A whole number counts to the class that ends with it. */
static void put_cells(const Map *m, const Cells *c) {
  const double *value = c->value;
  int64_t nx = c->nx, ny = c->ny;
  double x0 = c->x0, y0 = c->y0, cell = c->cell, width = class_width(c);
  for (int k = 0; k < CLASSES; k++) {
    tl_html(m->to, "<path class=\"p%d\" fill-opacity=\".78\" d=\"", k);
    for (int64_t j = 0; j < ny; j++)
      for (int64_t i = 0; i < nx; i++) {
        int64_t first = i;
        for (; i < nx; i++) {
          double v = value[j * nx + i];
          if (!(v > 0)) break;
          int of = (int)((c->whole ? v - 0.5 : v) / width);
          if ((of >= CLASSES ? CLASSES - 1 : of) != k) break;
        }
        if (i == first) continue;
        double left = fmin(m->r.x1, fmax(m->r.x0, x0 + (double)first * cell)),
               right = fmin(m->r.x1, fmax(m->r.x0, x0 + (double)i * cell)),
               top = fmin(m->r.y1, fmax(m->r.y0, y0 + (double)(j + 1) * cell)),
               foot = fmin(m->r.y1, fmax(m->r.y0, y0 + (double)j * cell));
        if (right > left && top > foot)
          tl_html(m->to, "M%.1f %.1fH%.1fV%.1fH%.1f", px(m, left), py(m, top), px(m, right),
                  py(m, foot), px(m, left));
        i--;
      }
    tl_html(m->to, "\"/>");
  }
}

static void put_classes(const Map *m, const Cells *c) {
  double width = class_width(c);
  tl_html(m->to, "<span class=\"key\">");
  for (int k = 0; k < CLASSES && k * width < c->high; k++) {
    char low[40], top[40];
    tl_html_value(low, k * width + c->whole);
    tl_html_value(top, (k + 1) * width);
    tl_html(m->to,
            "<span><svg width=\"14\" height=\"12\"><rect class=\"p%d\" width=\"14\" "
            "height=\"12\"/></svg> ",
            k);
    if (c->whole && width == 1)
      tl_html(m->to, "%s</span>", top);
    else
      tl_html(m->to, "%s to %s</span>", low, top);
  }
  tl_html(m->to, "<span>%s</span></span>", c->unit);
}

static void put_cell_map(const Map *m, const Cells *c) {
  char text[32];
  if (!(c->high > 0)) return;
  begin(m, c->title);
  tl_html(m->to, "<use href=\"#relief-%d\"/>", m->id);
  put_cells(m, c);
  put_frame(m);
  tl_ink_length(c->cell, text);
  tl_html(m->to, "</svg><figcaption>");
  put_classes(m, c);
  tl_html(m->to, "%s Cells of %s.</figcaption></figure>\n", c->what, text);
}

TlStatus tl_report_maps(TlHtml *to, const TlScene *scene, const TlReportMotion *motion,
                        const TlMeasure *measure, const TlMapGrid *grid, const bool *moving,
                        int id) {
  const TlTerrain *t = &scene->terrain;
  Map m = {.to = to, .scene = scene, .r = tl_map_region(scene, motion), .id = id};
  double wide = m.r.x1 - m.r.x0, tall = m.r.y1 - m.r.y0, contour = contour_of(t);
  m.pixel_m = fmax(wide / 900, tall / 720);
  m.width = (int)fmax(16, wide / m.pixel_m);
  m.height = (int)fmax(16, tall / m.pixel_m);
  begin(&m, "Map: paths of the grains, and where they came to lie");
  TL_TRY(put_relief(&m, contour));
  bool filled = put_filled(&m);
  int64_t every = put_paths(&m, motion);
  Places p = put_places(&m, motion, moving);
  put_frame(&m);
  char text[32];
  tl_ink_length(contour, text);
  tl_html(to,
          "</svg><figcaption>○ start, <span class=\"stopmark\">●</span> at rest in the last "
          "frame (%lld), ",
          (long long)p.stopped);
  tl_html(to,
          "yellow: still moving (%lld), <span class=\"gonemark\">✕</span> left the terrain or "
          "was taken out, where it left (%lld). ",
          (long long)p.moving, (long long)p.gone);
  if (filled)
    tl_html(to,
            "<svg width=\"14\" height=\"12\"><rect class=\"filled\" width=\"14\" "
            "height=\"12\"/></svg> ground without data that was filled in (%.0f at rest on it). ",
            tl_report_on_filled(scene, motion, moving));
  tl_html(to,
          "Lines join the grains' centres from frame to frame%s, straight; what lies between "
          "two frames is not known. Contour lines every %s, light from the north-west. ",
          every > 1 ? " (not all grains are drawn)" : "", text);
  if (t->crs && t->crs[0])
    tl_html(to, "Coordinates are those of the terrain's coordinate reference system. ");
  else
    tl_html(to, "The terrain names no coordinate reference system; coordinates are those of its "
                "raster. ");
  tl_html(to,
          "The run's own origin lies at %.2f east, %.2f north, %.2f m high.</figcaption>"
          "</figure>\n",
          t->origin[0], t->origin[1], t->origin[2]);
  const TlDeposit *d = &measure->deposit;
  double thick = 0;
  for (int64_t i = 0; d->solid_m && i < d->nx * d->ny; i++) thick = fmax(thick, d->solid_m[i]);
  tl_html(to, "<div class=\"charts\">");
  Cells cells = {
      .nx = grid->nx, .ny = grid->ny, .x0 = grid->x0_m, .y0 = grid->y0_m, .cell = grid->cell_m};
  const struct {
    const char *title, *unit, *of_steps, *of_frames;
    const double *value;
    double high;
    bool whole;
  } map[] = {
      {"Largest speed seen", "m/s",
       "Largest speed of a grain's centre in the cell, over all steps.",
       "Largest speed of a grain over the cell, from the frames; peaks between two frames are "
       "missed.",
       grid->speed_m_s, grid->largest_speed_m_s, false},
      {"Largest kinetic energy", "kJ",
       "Of the translation and rotation of a grain in the cell, over all steps.", NULL,
       grid->energy_kJ, grid->largest_energy_kJ, false},
      {"Largest jump height", "m",
       "Height of a grain's centre above the ground, upright, over all steps.", NULL, grid->jump_m,
       grid->largest_jump_m, false},
      {"Grains that passed", "grains", "How many grains' centres were in the cell after some step.",
       "How many grains' centres came over the cell, along straight lines from frame to frame.",
       grid->passed, grid->most_passed, true}};
  for (size_t k = 0; k < sizeof map / sizeof *map; k++) {
    if (!map[k].value) continue;
    cells.title = map[k].title;
    cells.unit = map[k].unit;
    cells.what = grid->every_step ? map[k].of_steps : map[k].of_frames;
    cells.value = map[k].value;
    cells.high = map[k].high;
    cells.whole = map[k].whole;
    put_cell_map(&m, &cells);
  }
  put_cell_map(&m, &(Cells){"Deposit", "m",
                            "Solid thickness in the last frame: volume of the grains over the "
                            "cell's area, without the voids between them.",
                            d->solid_m, d->nx, d->ny, d->x0_m - 0.5 * d->cell_m,
                            d->y0_m - 0.5 * d->cell_m, d->cell_m, thick});
  tl_html(to, "</div>\n");
  return TL_OK;
}
