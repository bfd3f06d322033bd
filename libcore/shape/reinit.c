#include "shape/reinit.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

/* ---- tricubic interpolation ---- */

/* The derivatives of the weights. */
static void slopes(double t, double d[4]) {
  double t2 = t * t;
  d[0] = 0.5 * (-1 + 4 * t - 3 * t2);
  d[1] = 0.5 * (-10 * t + 9 * t2);
  d[2] = 0.5 * (1 + 8 * t - 9 * t2);
  d[3] = 0.5 * (3 * t2 - 2 * t);
}

static double clamped(double s, int32_t n) {
  return s < 0 ? 0 : s > n - 1 ? n - 1 : s;
}

double tl_grid_cubic(const TlPhiGrid *g, TlVec3 x, TlVec3 *gradient) {
  double s[3] = {clamped(x.x, g->nx), clamped(x.y, g->ny), clamped(x.z, g->nz)};
  double w[3][4], d[3][4];
  int64_t index[3][4], n[3] = {g->nx, g->ny, g->nz};
  for (int a = 0; a < 3; a++) {
    int64_t i = (int64_t)s[a];
    tl_cubic_weights(s[a] - (double)i, w[a]);
    slopes(s[a] - (double)i, d[a]);
    for (int m = 0; m < 4; m++) index[a][m] = tl_grid_clamp(i - 1 + m, n[a]);
  }
  double f = 0, fx = 0, fy = 0, fz = 0;
  for (int c = 0; c < 4; c++) {
    double p = 0, px = 0, py = 0;
    for (int b = 0; b < 4; b++) {
      const float *row = g->phi + (index[2][c] * n[1] + index[1][b]) * n[0];
      double q = 0, qx = 0;
      for (int a = 0; a < 4; a++) {
        double value = row[index[0][a]];
        q += w[0][a] * value;
        qx += d[0][a] * value;
      }
      p += w[1][b] * q;
      px += w[1][b] * qx;
      py += d[1][b] * q;
    }
    f += w[2][c] * p;
    fx += w[2][c] * px;
    fy += w[2][c] * py;
    fz += d[2][c] * p;
  }
  if (gradient) *gradient = tl_vec3(fx, fy, fz);
  return f;
}

double tl_grid_view(const void *context, TlVec3 y, TlVec3 *gradient) {
  const TlGridView *view = context;
  TlVec3 g;
  double f = tl_grid_cubic(view->grid, tl_add(view->centre, tl_mat_vec(view->rotation, y)), &g);
  *gradient = tl_mat_tvec(view->rotation, g);
  return f;
}

/* ---- closest point ---- */

/* Newton along the gradient onto f = 0; steps are cut at one cell, since f may be far from linear
 * there. n becomes the unit normal. */
static bool project(TlImplicit f, const void *context, TlVec3 *y, TlVec3 *n) {
  for (int i = 0; i < 12; i++) {
    TlVec3 g;
    double value = f(context, *y, &g), slope = tl_norm(g);
    if (!(slope > 1e-6)) return false;
    *n = tl_scale(1 / slope, g);
    double step = -value / slope;
    *y = tl_axpy(*y, step > 1 ? 1 : step < -1 ? -1 : step, *n);
    if (fabs(step) < 1e-3) return true; /* quadratic: what is left is about 1e-6 */
  }
  return false;
}

/* From y near the surface down to the closest point of x: tangential steps, their length measured
 * from the last two; only steps that come closer are taken. Ends when the tangential offset is
 * under tolerance times the distance. Returns the squared distance, or infinity when y finds no
 * surface. */
static double descend(TlImplicit f, const void *context, TlVec3 x, double tolerance, int steps,
                      TlVec3 *y, TlVec3 *n) {
  TlVec3 last = {0, 0, 0};
  if (!project(f, context, y, n)) return INFINITY;
  double alpha = 1, best = tl_norm2(tl_sub(x, *y));
  for (int i = 0; i < steps; i++) {
    TlVec3 d = tl_sub(x, *y), t = tl_axpy(d, -tl_dot(d, *n), *n);
    double small = tolerance * tolerance * best; /* costs tolerance^2/2 of the distance */
    if (tl_norm2(t) < (small > 1e-6 ? small : 1e-6)) break;
    if (i > 0) { /* t' = t (1 - alpha m): m is 1 + curvature x distance */
      double m = (1 - tl_dot(t, last) / tl_norm2(last)) / alpha;
      alpha = m > 0.25 ? (m < 20 ? 1 / m : 0.05) : 4;
    }
    last = t;
    bool better = false;
    for (int cut = 0; cut < 6 && !better; cut++, alpha *= 0.4) {
      TlVec3 trial = tl_axpy(*y, alpha, t), trial_normal;
      if (!project(f, context, &trial, &trial_normal)) continue;
      double d2 = tl_norm2(tl_sub(x, trial));
      if (!(better = d2 < best)) continue;
      *y = trial;
      *n = trial_normal;
      best = d2;
      break; /* alpha stays what it was for the next estimate */
    }
    if (!better) break;
  }
  return best;
}

bool tl_closest_point(TlImplicit f, const void *context, TlVec3 x, double reach, TlVec3 *point,
                      TlVec3 *normal) {
  *point = x;
  return descend(f, context, x, 0.02, 24, point, normal) <= reach * reach;
}

/* ---- distance over the grid ---- */

typedef struct Seed {
  float point[3];
} Seed;

typedef struct Fill {
  TlPhiGrid *out;
  int32_t *seed; /* of each grid point: index into seeds, -1 none */
  float *best2;  /* squared distance to that seed */
  uint8_t *near;
  int near_steps; /* of the search from near points; 0: their projection does */
  int32_t reach;  /* layers of cells handed on beyond the near ones; farther is cut; 0: all */
  float far_tolerance;
  Seed *seeds;
  size_t seed_count, seed_capacity;
} Fill;

/* Points of cells that the surface crosses, and their 26 neighbours. */
static void mark_near(Fill *fill) {
  const TlPhiGrid *g = fill->out;
  int64_t dy = g->nx, dz = (int64_t)g->nx * g->ny;
  for (int64_t k = 0; k + 1 < g->nz; k++)
    for (int64_t j = 0; j + 1 < g->ny; j++)
      for (int64_t i = 0; i + 1 < g->nx; i++) {
        const float *f = g->phi + tl_grid_at(g, i, j, k);
        int inside = (f[0] < 0) + (f[1] < 0) + (f[dy] < 0) + (f[dy + 1] < 0) + (f[dz] < 0) +
                     (f[dz + 1] < 0) + (f[dz + dy] < 0) + (f[dz + dy + 1] < 0);
        if (inside == 0 || inside == 8) continue;
        for (int64_t c = k > 0 ? k - 1 : 0; c <= k + 2 && c < g->nz; c++)
          for (int64_t b = j > 0 ? j - 1 : 0; b <= j + 2 && b < g->ny; b++)
            for (int64_t a = i > 0 ? i - 1 : 0; a <= i + 2 && a < g->nx; a++)
              fill->near[tl_grid_at(g, a, b, c)] = 1;
      }
}

static TlStatus add_seed(Fill *fill, int64_t at, TlVec3 x, TlVec3 p) {
  TL_TRY(TL_RESERVE(fill->seeds, fill->seed_capacity, fill->seed_count + 1));
  fill->seeds[fill->seed_count] = (Seed){{(float)p.x, (float)p.y, (float)p.z}};
  fill->seed[at] = (int32_t)fill->seed_count++;
  fill->best2[at] = (float)tl_norm2(tl_sub(x, p));
  return TL_OK;
}

static TlStatus find_seeds(Fill *fill, TlImplicit f, const void *context) {
  const TlPhiGrid *g = fill->out;
  for (int64_t k = 0; k < g->nz; k++)
    for (int64_t j = 0; j < g->ny; j++)
      for (int64_t i = 0; i < g->nx; i++) {
        int64_t at = tl_grid_at(g, i, j, k);
        if (!fill->near[at]) continue;
        TlVec3 x = tl_vec3((double)i, (double)j, (double)k), p = x, n;
        if (descend(f, context, x, 0.02, fill->near_steps, &p, &n) < 16)
          TL_TRY(add_seed(fill, at, x, p));
      }
  return TL_OK;
}

static void take_from(Fill *fill, int64_t at, int64_t other, const float x[3]) {
  int32_t s = fill->seed[other];
  if (s < 0 || s == fill->seed[at]) return;
  const float *p = fill->seeds[s].point;
  float a = x[0] - p[0], b = x[1] - p[1], c = x[2] - p[2], d2 = a * a + b * b + c * c;
  if (fill->seed[at] >= 0 && d2 >= fill->best2[at]) return;
  fill->seed[at] = s;
  fill->best2[at] = d2;
}

/* One Gauss-Seidel sweep: octant gives the direction of travel along each axis. */
static void sweep(Fill *fill, int octant) {
  const TlPhiGrid *g = fill->out;
  int64_t n[3] = {g->nx, g->ny, g->nz}, stride[3] = {1, g->nx, (int64_t)g->nx * g->ny};
  int64_t step[3];
  for (int a = 0; a < 3; a++) step[a] = octant >> a & 1 ? -1 : 1;
  for (int64_t c = 0; c < n[2]; c++)
    for (int64_t b = 0; b < n[1]; b++)
      for (int64_t a = 0; a < n[0]; a++) {
        int64_t p[3] = {step[0] > 0 ? a : n[0] - 1 - a, step[1] > 0 ? b : n[1] - 1 - b,
                        step[2] > 0 ? c : n[2] - 1 - c};
        int64_t at = p[0] + p[1] * stride[1] + p[2] * stride[2];
        float x[3] = {(float)p[0], (float)p[1], (float)p[2]};
        int64_t bx = a > 0 ? step[0] : 0, by = b > 0 ? step[1] * stride[1] : 0,
                bz = c > 0 ? step[2] * stride[2] : 0;
        if (bx) take_from(fill, at, at - bx, x);
        if (by) take_from(fill, at, at - by, x);
        if (bz) take_from(fill, at, at - bz, x);
        if (bx && by) take_from(fill, at, at - bx - by, x);
        if (by && bz) take_from(fill, at, at - by - bz, x);
        if (bx && bz) take_from(fill, at, at - bx - bz, x);
      }
}

/* Layer by layer outwards from the near points, each point looking at all 26 neighbours: cheaper
 * than sweeps when only a few layers are wanted. */
static TlStatus hand_on(Fill *fill) {
  const TlPhiGrid *g = fill->out;
  int64_t count = tl_grid_count(g), head = 0, tail = 0;
  int64_t *queue;
  uint8_t *layer; /* 0: not reached; near points are 1 */
  TL_TRY(TL_NEW(queue, (size_t)count));
  TlStatus status = TL_NEW(layer, (size_t)count);
  for (int64_t i = 0; status == TL_OK && i < count; i++)
    if (fill->near[i]) {
      layer[i] = 1;
      queue[tail++] = i;
    }
  while (status == TL_OK && head < tail) {
    int64_t at = queue[head++], p[3] = {at % g->nx, at / g->nx % g->ny, at / g->nx / g->ny};
    float x[3] = {(float)p[0], (float)p[1], (float)p[2]};
    for (int64_t c = p[2] - 1; c <= p[2] + 1; c++)
      for (int64_t b = p[1] - 1; b <= p[1] + 1; b++)
        for (int64_t a = p[0] - 1; a <= p[0] + 1; a++) {
          if (a < 0 || b < 0 || c < 0 || a >= g->nx || b >= g->ny || c >= g->nz) continue;
          int64_t next = tl_grid_at(g, a, b, c);
          if ((layer[at] > 1 || fill->seed[at] < 0) && layer[next]) take_from(fill, at, next, x);
          if (layer[next] || layer[at] > fill->reach) continue;
          layer[next] = (uint8_t)(layer[at] + 1);
          queue[tail++] = next;
        }
  }
  tl_free(queue);
  tl_free(layer);
  return status;
}

/* Near points have their distance; the others go down to the surface once more, from the seed they
 * were handed: neighbours pass on only their own closest points, which is wrong by up to 0.2. */
static void write_distance(Fill *fill, TlImplicit f, const void *context) {
  TlPhiGrid *g = fill->out;
  for (int64_t k = 0; k < g->nz; k++)
    for (int64_t j = 0; j < g->ny; j++)
      for (int64_t i = 0; i < g->nx; i++) {
        int64_t at = tl_grid_at(g, i, j, k);
        double d2 = fill->best2[at];
        if (fill->seed[at] < 0) {
          d2 = (fill->reach + 2) * (fill->reach + 2);
        } else if (!fill->near[at] && fill->far_tolerance > 0) {
          const float *p = fill->seeds[fill->seed[at]].point;
          TlVec3 x = tl_vec3((double)i, (double)j, (double)k), y = tl_vec3(p[0], p[1], p[2]), n;
          d2 = fmin(d2, descend(f, context, x, fill->far_tolerance, 4, &y, &n));
        }
        double d = sqrt(d2);
        g->phi[at] = (float)(g->phi[at] < 0 ? -d : d);
      }
}

static TlStatus fill_work(Fill *fill, TlImplicit f, const void *context) {
  TlPhiGrid *g = fill->out;
  int64_t count = tl_grid_count(g);
  TL_TRY(TL_NEW(fill->seed, (size_t)count));
  TL_TRY(TL_NEW(fill->best2, (size_t)count));
  TL_TRY(TL_NEW(fill->near, (size_t)count));
  memset(fill->seed, -1, (size_t)count * sizeof *fill->seed);
  mark_near(fill);
  TL_TRY(find_seeds(fill, f, context));
  if (fill->seed_count == 0) return tl_fail(TL_EINPUT, "no surface crosses the grid");
  if (fill->reach > 0)
    TL_TRY(hand_on(fill));
  else
    for (int octant = 0; octant < 8; octant++) sweep(fill, octant);
  write_distance(fill, f, context);
  return TL_OK;
}

static TlStatus fill_from_signs(TlImplicit f, const void *context, Fill *fill) {
  TlStatus status = fill_work(fill, f, context);
  tl_free(fill->seed);
  tl_free(fill->best2);
  tl_free(fill->near);
  tl_free(fill->seeds);
  return status;
}

TlStatus tl_distance_fill(TlImplicit f, const void *context, TlPhiGrid *out) {
  for (int64_t k = 0; k < out->nz; k++)
    for (int64_t j = 0; j < out->ny; j++)
      for (int64_t i = 0; i < out->nx; i++) {
        TlVec3 g;
        out->phi[tl_grid_at(out, i, j, k)] =
            (float)f(context, tl_vec3((double)i, (double)j, (double)k), &g);
      }
  Fill fill = {.out = out, .near_steps = 24, .far_tolerance = 0.03f};
  return fill_from_signs(f, context, &fill);
}

static TlStatus reinit(TlPhiGrid *grid, int near_steps) {
  TlPhiGrid source = *grid;
  size_t count = (size_t)tl_grid_count(grid);
  TL_TRY(TL_NEW(source.phi, count));
  memcpy(source.phi, grid->phi, count * sizeof *source.phi);
  TlGridView view = {&source, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};
  Fill fill = {.out = grid, .near_steps = near_steps, .reach = 4};
  TlStatus status = fill_from_signs(tl_grid_view, &view, &fill);
  tl_free(source.phi);
  return status;
}

TlStatus tl_reinit(TlPhiGrid *grid) {
  return reinit(grid, 24);
}

TlStatus tl_reinit_quick(TlPhiGrid *grid) {
  return reinit(grid, 0);
}

/* ---- one piece ---- */

typedef struct Flood {
  const TlPhiGrid *grid;
  int32_t *piece; /* 0 not seen, else number of the piece */
  int64_t *stack;
} Flood;

/* Number all points joined to start that have its sign; returns how many, and whether the piece
 * reaches a face of the box. */
static int64_t flood(Flood *w, int64_t start, int32_t number, bool *face) {
  const TlPhiGrid *g = w->grid;
  bool inside = g->phi[start] < 0;
  int64_t top = 0, count = 0, stride[3] = {1, g->nx, (int64_t)g->nx * g->ny};
  int32_t n[3] = {g->nx, g->ny, g->nz};
  *face = false;
  w->piece[start] = number;
  w->stack[top++] = start;
  while (top > 0) {
    int64_t at = w->stack[--top];
    count++;
    for (int a = 0; a < 3; a++) {
      int64_t p = at / stride[a] % n[a];
      for (int side = -1; side <= 1; side += 2) {
        if (p + side < 0 || p + side >= n[a]) {
          *face = true;
          continue;
        }
        int64_t next = at + side * stride[a];
        if (w->piece[next] || (g->phi[next] < 0) != inside) continue;
        w->piece[next] = number;
        w->stack[top++] = next;
      }
    }
  }
  return count;
}

static void flip_piece(TlPhiGrid *g, const int32_t *piece, int32_t number) {
  int64_t count = tl_grid_count(g);
  for (int64_t i = 0; i < count; i++)
    if (piece[i] == number) { /* at least a cell away from zero, so that no new surface arises */
      float size = fabsf(g->phi[i]) < 1 ? 1 : fabsf(g->phi[i]);
      g->phi[i] = g->phi[i] < 0 ? size : -size;
    }
}

/* Outside pieces that reach no face become inside; returns how many. */
static int32_t fill_pores(TlPhiGrid *g, Flood *w) {
  int64_t count = tl_grid_count(g);
  int32_t number = 0, pores = 0;
  for (int64_t i = 0; i < count; i++) {
    bool face;
    if (w->piece[i] || g->phi[i] < 0) continue;
    flood(w, i, ++number, &face);
    if (!face) flip_piece(g, w->piece, number), pores++;
  }
  return pores;
}

/* Inside pieces but the largest become outside; returns how many pieces there were. */
static int32_t keep_largest(TlPhiGrid *g, Flood *w) {
  int64_t count = tl_grid_count(g), most = 0;
  int32_t number = 0, largest = 0;
  for (int64_t i = 0; i < count; i++) {
    bool face;
    if (w->piece[i] || g->phi[i] >= 0) continue;
    int64_t size = flood(w, i, ++number, &face);
    if (size > most) most = size, largest = number;
  }
  for (int32_t k = 1; k <= number; k++)
    if (k != largest) flip_piece(g, w->piece, k);
  return number;
}

TlStatus tl_grid_one_piece(TlPhiGrid *g, int32_t *dropped, int32_t *filled) {
  size_t count = (size_t)tl_grid_count(g);
  Flood w = {.grid = g};
  int32_t pieces = 0, pores = 0;
  TlStatus status = TL_NEW(w.piece, count);
  if (status == TL_OK) status = TL_NEW(w.stack, count);
  if (status == TL_OK) {
    pores = fill_pores(g, &w);
    memset(w.piece, 0, count * sizeof *w.piece);
    pieces = keep_largest(g, &w);
    if (pieces == 0) status = tl_fail(TL_EINPUT, "nothing is left inside the surface");
  }
  tl_free(w.piece);
  tl_free(w.stack);
  if (dropped) *dropped = pieces > 0 ? pieces - 1 : 0;
  if (filled) *filled = pores;
  return status;
}
