#include "oracle/star.h"

#include "base/mem.h"
#include "base/random.h"
#include "shape/build.h"

#include <math.h>

enum { CANDIDATES = 24, REFINED = 3, FOOT_STEPS = 10 };

double tl_star_radius(const TlStar *s, TlVec3 u) {
  double x = fabs(u.x) / s->half.x, y = fabs(u.y) / s->half.y, z = fabs(u.z) / s->half.z;
  if (s->kind == TL_STAR_SUPERELLIPSOID) {
    double across = pow(x, 2 / s->exponent_e) + pow(y, 2 / s->exponent_e);
    return pow(pow(across, s->exponent_e / s->exponent_n) + pow(z, 2 / s->exponent_n),
               -s->exponent_n / 2);
  }
  double sum = 0;
  if (s->kind == TL_STAR_ROUGH || s->kind == TL_STAR_BUMPY) {
    for (int i = 0; i < s->terms; i++) sum += cos(tl_dot(s->term[i], u) + s->phase[i]);
    return (1 + s->height * sum) / sqrt(x * x + y * y + z * z);
  }
  if (s->kind == TL_STAR_TWIN) {
    double off = TL_STAR_TWIN_OFF, r = TL_STAR_TWIN_RADIUS;
    return off * fabs(u.x) + sqrt(r * r - off * off * (1 - u.x * u.x));
  }
  double most = 0;
  for (int i = 0; i < s->terms; i++) most = tl_max(most, tl_dot(s->term[i], u));
  for (int i = 0; i < s->terms; i++) {
    double d = tl_dot(s->term[i], u) / most;
    if (d > 0.5) sum += pow(d, s->power);
  }
  return 1 / (most * pow(sum, 1 / s->power));
}

TlStatus tl_star_make(TlStarKind kind, uint64_t seed, TlStar *s) {
  *s = (TlStar){.kind = kind, .half = {1, 0.8, 0.7}, .exponent_e = 0.6, .exponent_n = 0.8};
  s->terms = kind == TL_STAR_ROUGH ? 8 : kind == TL_STAR_BUMPY ? 10 : 14;
  s->height = kind == TL_STAR_BUMPY ? 0.0075 : 0.012;
  s->power = 30;
  for (int i = 0; i < s->terms; i++) {
    TlVec3 u;
    for (int tries = 0, far = 0; !far && tries < 1000; tries++) { /* well apart from each other */
      uint64_t k = (uint64_t)(1000 * i + tries);
      u = tl_unit(tl_vec3(tl_random_normal(seed, 0, k), tl_random_normal(seed, 1, k),
                          tl_random_normal(seed, 2, k)));
      far = 1;
      for (int j = 0; j < i && kind == TL_STAR_FACETED; j++)
        far = far && tl_dot(u, tl_unit(s->term[j])) < 0.75;
    }
    double size = tl_random_uniform(seed, 3, (uint64_t)i);
    size = kind == TL_STAR_ROUGH   ? 6 + 3 * size
           : kind == TL_STAR_BUMPY ? 10 + 5 * size
                                   : 1 / (0.7 + 0.2 * size);
    s->term[i] = tl_scale(size, u);
    s->phase[i] = 2 * M_PI * tl_random_uniform(seed, 4, (uint64_t)i);
  }
  TL_TRY(TL_NEW(s->point, TL_STAR_POINTS));
  for (int i = 0; i < TL_STAR_POINTS; i++) { /* Fibonacci's lattice on the sphere */
    double z = 1 - (2 * i + 1.0) / TL_STAR_POINTS, a = i * M_PI * (3 - sqrt(5)),
           w = sqrt(1 - z * z);
    TlVec3 u = {w * cos(a), w * sin(a), z};
    double r = tl_star_radius(s, u);
    s->point[i] = tl_scale(r, u);
    s->radius = tl_max(s->radius, r);
  }
  s->radius *= 1 + 1e-3;
  return TL_OK;
}

void tl_star_free(TlStar *star) {
  tl_free(star->point);
  star->point = NULL;
}

/* > 0 outside; along the ray. */
static double beyond(const TlStar *s, TlVec3 p) {
  double far = tl_norm(p);
  return far > s->radius ? far - s->radius + 1e-6 : far - tl_star_radius(s, tl_scale(1 / far, p));
}

static double rim(const TlStar *s, TlVec3 p, TlVec3 *gradient) {
  double far = tl_norm(p), d = 1e-5, f = far - tl_star_radius(s, tl_scale(1 / far, p));
  if (!gradient) return f;
  for (int k = 0; k < 3; k++) {
    TlVec3 e = tl_vec3(k == 0 ? d : 0, k == 1 ? d : 0, k == 2 ? d : 0);
    (&gradient->x)[k] = (rim(s, tl_add(p, e), NULL) - rim(s, tl_sub(p, e), NULL)) / (2 * d);
  }
  return f;
}

/* Distance of a point inside to the surface. */
static double inside(const TlStar *s, TlVec3 p) {
  TlVec3 q = tl_scale(tl_star_radius(s, tl_unit(p)), tl_unit(p)), g;
  double least = tl_norm(tl_sub(p, q)), part = 1;
  TlVec3 best = q;
  for (int i = 0; i < FOOT_STEPS; i++) {
    double f = rim(s, q, &g);
    q = tl_axpy(q, -f / tl_norm2(g), g);
    f = rim(s, q, &g);
    q = tl_axpy(q, -f / tl_norm2(g), g);
    TlVec3 n = tl_unit(g), d = tl_sub(p, q), t = tl_axpy(d, -tl_dot(d, n), n);
    double far = tl_norm(d);
    if (far < least) {
      least = far;
      best = q;
    } else if (i > 0) {
      part *= 0.5;
      q = best;
    }
    if (tl_norm(t) < 1e-3 * far) break;
    q = tl_axpy(q, part, t);
  }
  return least;
}

typedef struct View { /* points of `of` in the frame of `in`: turn p + shift */
  const TlStar *of, *in;
  TlMat3 turn;
  TlVec3 shift;
} View;

static TlVec3 seen(const View *v, TlVec3 p) {
  return tl_add(tl_mat_vec(v->turn, p), v->shift);
}

static double depth_at(const View *v, TlVec3 u) {
  TlVec3 p = seen(v, tl_scale(tl_star_radius(v->of, u), u));
  double out = beyond(v->in, p);
  return out >= 0 ? -out : inside(v->in, p);
}

static double refined(const View *v, TlVec3 u) {
  double best = depth_at(v, u);
  for (double step = 0.012; step > 2e-5; step *= 0.5)
    for (int i = 0, moves = 0; i < 4 && moves < 6; i++) {
      TlVec3 a = tl_unit(tl_cross(u, fabs(u.x) < 0.6 ? tl_vec3(1, 0, 0) : tl_vec3(0, 1, 0))),
             b = tl_cross(u, a), w = tl_unit(tl_axpy(u, i & 1 ? -step : step, i & 2 ? a : b));
      double d = depth_at(v, w);
      if (!(d > best)) continue;
      best = d;
      u = w;
      moves++;
      i--;
    }
  return best;
}

/* The deepest of the points along rays (no_more: of which nothing but the sign is wanted). */
static double deepest(const View *v, bool sign_only) {
  struct {
    double f;
    TlVec3 u;
  } low[CANDIDATES];
  int count = 0;
  double least = INFINITY;
  for (int i = 0; i < TL_STAR_POINTS; i++) {
    TlVec3 p = seen(v, v->of->point[i]);
    if (tl_norm2(p) > v->in->radius * v->in->radius) continue;
    double f = beyond(v->in, p);
    least = tl_min(least, f);
    if (sign_only && f < 0) return 1;
    if (f >= 0 || (count == CANDIDATES && f >= low[CANDIDATES - 1].f)) continue;
    TlVec3 u = tl_unit(v->of->point[i]);
    int k = 0; /* one a neighbourhood */
    while (k < count && tl_norm2(tl_sub(low[k].u, u)) > 0.03 * 0.03) k++;
    if (k < count && low[k].f <= f) continue;
    if (k == count && count < CANDIDATES) count++;
    if (k == count) k--;
    for (; k > 0 && low[k - 1].f > f; k--) low[k] = low[k - 1];
    low[k].f = f;
    low[k].u = u;
  }
  if (count == 0) return sign_only ? -1 : -tl_min(least, 1);
  double exact[CANDIDATES], best = -1;
  for (int k = 0; k < count; k++) exact[k] = depth_at(v, low[k].u);
  for (int n = 0; n < REFINED && n < count; n++) {
    int at = 0;
    for (int k = 1; k < count; k++)
      if (exact[k] > exact[at]) at = k;
    best = tl_max(best, refined(v, low[at].u));
    exact[at] = -INFINITY;
  }
  return best;
}

static void views(const TlStar *a, const TlStar *b, TlVec3 shift, TlMat3 turn, View v[2]) {
  TlMat3 back;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) back.m[i][j] = turn.m[j][i];
  v[0] = (View){b, a, turn, shift};
  v[1] = (View){a, b, back, tl_scale(-1, tl_mat_vec(back, shift))};
}

double tl_star_depth(const TlStar *a, const TlStar *b, TlVec3 shift, TlMat3 turn) {
  View v[2];
  views(a, b, shift, turn, v);
  return tl_max(deepest(&v[0], false), deepest(&v[1], false));
}

double tl_star_touch(const TlStar *a, const TlStar *b, TlVec3 direction, TlMat3 turn) {
  double low = 0.5, high = a->radius + b->radius;
  for (int i = 0; i < 14; i++) {
    double middle = 0.5 * (low + high);
    View v[2];
    views(a, b, tl_scale(middle, direction), turn, v);
    if (deepest(&v[0], true) > 0 || deepest(&v[1], true) > 0)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* ---- as an avatar ---- */

typedef struct Gridded {
  const TlStar *star;
  double spacing; /* of the grid, in the star's units */
  TlVec3 shift;   /* of the star's centre, grid units */
} Gridded;

static double gridded(const void *context, TlVec3 y, TlVec3 *gradient) {
  const Gridded *g = context;
  TlVec3 p = tl_scale(g->spacing, tl_add(y, g->shift));
  if (tl_norm2(p) < 1e-6) p = tl_vec3(1e-3, 0, 0);
  return rim(g->star, p, gradient) / g->spacing;
}

TlStatus tl_star_avatar(const TlStar *s, double metres, int32_t cells, int32_t nodes,
                        TlAvatar *out) {
  double spacing = 2 * s->radius / cells, volume = 0, area = 0;
  int32_t n = cells + 7;
  Gridded g = {s, spacing, tl_vec3(-0.5 * (n - 1), -0.5 * (n - 1), -0.5 * (n - 1))};
  for (int i = 0; i < TL_STAR_POINTS; i++) {
    TlVec3 p = s->point[i], gradient;
    double r = tl_norm(p), part = 4 * M_PI / TL_STAR_POINTS;
    rim(s, p, &gradient);
    volume += part * r * r * r / 3;
    area += part * r * r * tl_norm(gradient); /* the ray's gradient is 1 along the ray */
  }
  double round = 0.4 * volume * pow(volume * 3 / (4 * M_PI), 2.0 / 3);
  *out = (TlAvatar){.nx = n,
                    .ny = n,
                    .nz = n,
                    .spacing_m = metres * spacing,
                    .origin_m = tl_scale(metres * spacing, g.shift),
                    .volume_m3 = metres * metres * metres * volume,
                    .area_m2 = metres * metres * area,
                    .scan_rotation = {1, 0, 0, 0}};
  round *= pow(metres, 5);
  out->inertia_m5 = tl_vec3(round, round, round);
  TL_TRY(TL_NEW(out->phi, (size_t)n * (size_t)n * (size_t)n));
  TlPhiGrid grid = {n, n, n, out->phi};
  TL_TRY(tl_distance_fill(gridded, &g, &grid));
  for (int64_t i = 0; i < (int64_t)n * n * n; i++) out->phi[i] *= (float)out->spacing_m;
  TlNodeOptions options = {.count = nodes};
  return tl_avatar_finish(out, &options, NULL, NULL);
}
