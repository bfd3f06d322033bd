#include "post/render_ground.h"

#include "base/mem.h"

#include <math.h>

enum { TILE = 16 };

static float height(const TlTerrain *t, int64_t i, int64_t j) {
  return t->height_m[j * t->nx + i];
}

static void tile_top(TlGroundTracer *tracer, int64_t tile) {
  const TlTerrain *t = tracer->terrain;
  int64_t i0 = tile % tracer->tiles_x * TILE, j0 = tile / tracer->tiles_x * TILE;
  float top = -INFINITY;
  for (int64_t j = j0; j <= j0 + TILE && j < t->ny; j++)
    for (int64_t i = i0; i <= i0 + TILE && i < t->nx; i++)
      top = fmaxf(top, height(t, i, j)); /* fmaxf passes over NaN */
  tracer->tile_top[tile] = top;
}

TlStatus tl_ground_tracer_make(TlGroundTracer *tracer, const TlTerrain *terrain) {
  *tracer = (TlGroundTracer){.terrain = terrain};
  tracer->tiles_x = (terrain->nx - 1 + TILE - 1) / TILE;
  tracer->tiles_y = (terrain->ny - 1 + TILE - 1) / TILE;
  if (tracer->tiles_x < 1) tracer->tiles_x = 1;
  if (tracer->tiles_y < 1) tracer->tiles_y = 1;
  size_t tiles = (size_t)(tracer->tiles_x * tracer->tiles_y);
  TL_TRY(TL_NEW(tracer->tile_top, tiles));
  double low = INFINITY, high = -INFINITY;
  for (int64_t i = 0; i < terrain->nx * terrain->ny; i++) {
    low = fmin(low, (double)terrain->height_m[i]);
    high = fmax(high, (double)terrain->height_m[i]);
  }
  double width = terrain->cell_m * (double)(terrain->nx < terrain->ny ? terrain->nx : terrain->ny);
  tracer->base_m = low - 0.08 * width;
  tracer->top_m = high;
  for (size_t k = 0; k < tiles; k++) tile_top(tracer, (int64_t)k);
  return TL_OK;
}

void tl_ground_tracer_free(TlGroundTracer *tracer) {
  tl_free(tracer->tile_top);
  *tracer = (TlGroundTracer){0};
}

/* ---- walking a square lattice along a ray (x, y in cells) ---- */

typedef struct Ray {
  double x, y, z, dx, dy, dz; /* x, y in cells, z in metres, per metre of t */
} Ray;

typedef struct Walk {
  int64_t i, j, step_i, step_j;
  double t, t_exit;      /* of the square at hand */
  double next_x, next_y; /* t of the next border of each kind */
  double dt_x, dt_y;
  int entered; /* across which border: 0 x, 1 y, -1 none */
} Walk;

static int64_t square_of(double x, double size, int64_t n) {
  int64_t i = (int64_t)floor(x / size);
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static void axis_walk(double x, double d, double size, int64_t i, double *next, double *dt,
                      int64_t *step) {
  *step = d > 0 ? 1 : -1;
  *dt = fabs(d) > 1e-300 ? size / fabs(d) : INFINITY;
  *next = fabs(d) > 1e-300 ? ((double)(i + (d > 0)) * size - x) / d : INFINITY;
}

static Walk walk_start(const Ray *r, double t, double t_end, double size, int64_t nx, int64_t ny) {
  Walk w = {.t = t, .entered = -1};
  w.i = square_of(r->x + r->dx * t, size, nx);
  w.j = square_of(r->y + r->dy * t, size, ny);
  axis_walk(r->x, r->dx, size, w.i, &w.next_x, &w.dt_x, &w.step_i);
  axis_walk(r->y, r->dy, size, w.j, &w.next_y, &w.dt_y, &w.step_j);
  w.t_exit = fmin(t_end, fmin(w.next_x, w.next_y));
  return w;
}

/* false past t_end or the lattice's edge. */
static bool walk_on(Walk *w, double t_end, int64_t nx, int64_t ny) {
  if (w->t_exit >= t_end) return false;
  w->t = w->t_exit;
  if (w->next_x <= w->next_y) {
    w->i += w->step_i;
    w->next_x += w->dt_x;
    w->entered = 0;
  } else {
    w->j += w->step_j;
    w->next_y += w->dt_y;
    w->entered = 1;
  }
  w->t_exit = fmin(t_end, fmin(w->next_x, w->next_y));
  return w->i >= 0 && w->j >= 0 && w->i < nx && w->j < ny;
}

/* ---- a cell ---- */

typedef struct Cell {
  double f0, f1, f2; /* height above the surface: f0 + f1 s + f2 s^2, s from the cell's entry */
} Cell;

static bool cell_at(const TlTerrain *t, const Ray *r, const Walk *w, Cell *cell) {
  double a = (double)height(t, w->i, w->j), b = (double)height(t, w->i + 1, w->j),
         c = (double)height(t, w->i, w->j + 1), e = (double)height(t, w->i + 1, w->j + 1);
  double k = a - b - c + e;
  if (isnan(k)) return false;
  double u = r->x + r->dx * w->t - (double)w->i, v = r->y + r->dy * w->t - (double)w->j;
  cell->f0 = r->z + r->dz * w->t - (a + (b - a) * u + (c - a) * v + k * u * v);
  cell->f1 = r->dz - ((b - a) * r->dx + (c - a) * r->dy + k * (u * r->dy + v * r->dx));
  cell->f2 = -k * r->dx * r->dy;
  return true;
}

/* Least root in [0, length], or -1. f0 >= 0. */
static double first_root(const Cell *c, double length) {
  double roots[2] = {-1, -1};
  double discriminant = c->f1 * c->f1 - 4 * c->f2 * c->f0;
  if (discriminant < 0) return -1;
  double q = -0.5 * (c->f1 + copysign(sqrt(discriminant), c->f1));
  if (q != 0) roots[0] = c->f0 / q;
  if (c->f2 != 0) roots[1] = q / c->f2;
  double best = -1;
  for (int k = 0; k < 2; k++)
    if (roots[k] >= 0 && roots[k] <= length && (best < 0 || roots[k] < best)) best = roots[k];
  return best;
}

/* ---- normals ---- */

static double difference(const TlTerrain *t, int64_t i, int64_t j, int64_t di, int64_t dj) {
  int64_t a = i - di, b = j - dj, c = i + di, d = j + dj;
  double here = (double)height(t, i, j), low = NAN, high = NAN;
  if (a >= 0 && b >= 0) low = (double)height(t, a, b);
  if (c < t->nx && d < t->ny) high = (double)height(t, c, d);
  if (!isnan(low) && !isnan(high)) return 0.5 * (high - low);
  if (!isnan(high)) return high - here;
  return isnan(low) ? 0 : here - low;
}

static TlVec3 smooth_normal(const TlTerrain *t, int64_t i, int64_t j, double u, double v) {
  double gx = 0, gy = 0;
  for (int k = 0; k < 4; k++) {
    double w = (k % 2 ? u : 1 - u) * (k / 2 ? v : 1 - v);
    gx += w * difference(t, i + k % 2, j + k / 2, 1, 0);
    gy += w * difference(t, i + k % 2, j + k / 2, 0, 1);
  }
  return tl_unit(tl_vec3(-gx, -gy, t->cell_m));
}

/* Out of the ground, over the cells about: an irregular outline is a staircase, and its steps'
 * own faces would flicker between light and dark. */
static TlVec3 wall_normal(const TlTerrain *t, const Walk *w) {
  enum { ABOUT = 4 };
  TlVec3 n = {0, 0, 0};
  for (int64_t j = w->j - ABOUT; j <= w->j + ABOUT + 1; j++)
    for (int64_t i = w->i - ABOUT; i <= w->i + ABOUT + 1; i++) {
      bool inside = i >= 0 && j >= 0 && i < t->nx && j < t->ny && !isnan(height(t, i, j));
      if (!inside) n = tl_add(n, tl_vec3((double)(i - w->i) - 0.5, (double)(j - w->j) - 0.5, 0));
    }
  if (tl_norm(n) > 0) return tl_unit(n);
  return w->entered == 1 ? tl_vec3(0, w->step_j > 0 ? -1 : 1, 0)
                         : tl_vec3(w->step_i > 0 ? -1 : 1, 0, 0);
}

/* ---- the ray ---- */

static bool fill_hit(const TlGroundTracer *g, const Ray *r, const Walk *w, double t, bool wall,
                     TlGroundHit *hit) {
  *hit = (TlGroundHit){.t = t, .wall = wall};
  if (wall) {
    hit->normal = wall_normal(g->terrain, w);
    return true;
  }
  double u = fmin(1, fmax(0, r->x + r->dx * t - (double)w->i)),
         v = fmin(1, fmax(0, r->y + r->dy * t - (double)w->j));
  hit->normal = smooth_normal(g->terrain, w->i, w->j, u, v);
  return true;
}

/* Cells of one tile between t and t_end. below: the ray started under the ground and still is. */
static bool trace_cells(const TlGroundTracer *g, const Ray *r, double t, double t_end, int entered,
                        bool *below, TlGroundHit *hit) {
  const TlTerrain *terrain = g->terrain;
  int64_t nx = terrain->nx - 1, ny = terrain->ny - 1;
  Walk w = walk_start(r, t, t_end, 1, nx, ny);
  w.entered = entered;
  do {
    Cell cell;
    if (!cell_at(terrain, r, &w, &cell)) {
      *below = false;
      continue;
    }
    if (cell.f0 < 0) { /* rounding at the border of two cells, a wall's face, or the start */
      if (w.entered < 0) *below = true;
      if (*below) continue;
      bool wall = cell.f0 < -1e-6 * terrain->cell_m;
      return fill_hit(g, r, &w, w.t, wall, hit);
    }
    *below = false;
    double s = first_root(&cell, w.t_exit - w.t);
    if (s >= 0 && w.t + s > 0) return fill_hit(g, r, &w, w.t + s, false, hit);
  } while (walk_on(&w, t_end, nx, ny));
  return false;
}

/* Part of the ray above the raster's rectangle and between base and top. */
static bool clip(double x, double d, double low, double high, double *t0, double *t1, int *axis,
                 int which) {
  if (fabs(d) < 1e-300) return x >= low && x <= high;
  double a = (low - x) / d, b = (high - x) / d;
  if (a > b) {
    double swap = a;
    a = b;
    b = swap;
  }
  if (a > *t0) {
    *t0 = a;
    *axis = which;
  }
  *t1 = fmin(*t1, b);
  return *t0 < *t1;
}

bool tl_ground_trace(const TlGroundTracer *g, TlVec3 from, TlVec3 d, double t_max,
                     TlGroundHit *hit) {
  const TlTerrain *t = g->terrain;
  double scale = 1 / t->cell_m;
  Ray r = {(from.x - t->x0_m) * scale,
           (from.y - t->y0_m) * scale,
           from.z,
           d.x * scale,
           d.y * scale,
           d.z};
  double t0 = 0, t1 = t_max;
  int axis = -1;
  if (t->nx < 2 || t->ny < 2 || !clip(r.z, r.dz, g->base_m, g->top_m, &t0, &t1, &axis, -1) ||
      !clip(r.x, r.dx, 0, (double)(t->nx - 1), &t0, &t1, &axis, 0) ||
      !clip(r.y, r.dy, 0, (double)(t->ny - 1), &t0, &t1, &axis, 1))
    return false;
  Walk tile = walk_start(&r, t0, t1, TILE, g->tiles_x, g->tiles_y);
  tile.entered = axis;
  bool below = false;
  do {
    double low = fmin(r.z + r.dz * tile.t, r.z + r.dz * tile.t_exit);
    double top = (double)g->tile_top[tile.j * g->tiles_x + tile.i];
    if (low > top) continue;
    if (trace_cells(g, &r, tile.t, tile.t_exit, tile.entered, &below, hit)) return true;
  } while (walk_on(&tile, t1, g->tiles_x, g->tiles_y));
  return false;
}
