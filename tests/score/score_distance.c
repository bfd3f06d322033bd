/* The signed distance that every avatar is built on, against closed forms: spheres, an ellipsoid, a
 * torus and a turned box with rounded edges, from grids that hold anything but a distance (slopes
 * of 0.7 to 1.3 that change from place to place, flattened away from the surface). Two ways in use:
 * tl_reinit on the scan's grid (within 2 cells, where it is exact), tl_distance_fill of the turned
 * body grid (within 3). Curvature: central differences of that grid, as masses and descriptors take
 * it, where the surface is smooth.
 *
 * Peers on such grids (goals' source): scikit-fmm and ITK's re-initialisation L1 0.04 to 0.06, Linf
 * 0.36 voxel; the distance transform of a mask 0.2.
 */
#include "judge/judge.h"

#include "base/mem.h"
#include "shape/mass.h"

#include <math.h>
#include <string.h>

enum { N = 52 };

typedef double (*Distance)(TlVec3 p);

static double ball(TlVec3 p, double r) {
  return tl_norm(p) - r;
}
static double sphere_6(TlVec3 p) {
  return ball(p, 6);
}
static double sphere_10(TlVec3 p) {
  return ball(p, 10);
}
static double sphere_18(TlVec3 p) {
  return ball(p, 18);
}
static double torus(TlVec3 p) {
  return hypot(hypot(p.x, p.y) - 12, p.z) - 5;
}
static double rounded_box(TlVec3 p) { /* half edges 13, 10, 8 with edges rounded by 4 */
  TlVec3 q = tl_vec3(fabs(p.x) - 9, fabs(p.y) - 6, fabs(p.z) - 4);
  TlVec3 out = tl_vec3(fmax(q.x, 0), fmax(q.y, 0), fmax(q.z, 0));
  return tl_norm(out) + fmin(fmax(q.x, fmax(q.y, q.z)), 0) - 4;
}

/* Half axes 18, 14, 10: the foot solves sum (a x/(t + a^2))^2 = 1 by bisection (Eberly). */
static double ellipsoid(TlVec3 p) {
  const double a[3] = {18, 14, 10}, x[3] = {fabs(p.x), fabs(p.y), fabs(p.z)};
  double low = -100, high = 4000, d2 = 0;
  for (int it = 0; it < 80; it++) {
    double t = 0.5 * (low + high), g = -1;
    for (int k = 0; k < 3; k++)
      g += a[k] * x[k] / (t + a[k] * a[k]) * a[k] * x[k] / (t + a[k] * a[k]);
    if (g > 0)
      low = t;
    else
      high = t;
  }
  for (int k = 0; k < 3; k++) {
    double foot = a[k] * a[k] * x[k] / (low + a[k] * a[k]);
    d2 += (foot - x[k]) * (foot - x[k]);
  }
  return low < 0 ? -sqrt(d2) : sqrt(d2);
}

static const struct {
  const char *name;
  Distance distance;
  bool smooth; /* curvature is continuous */
} shape[] = {{"sphere_6", sphere_6, true},   {"sphere_10", sphere_10, true},
             {"sphere_18", sphere_18, true}, {"ellipsoid", ellipsoid, true},
             {"torus", torus, true},         {"rounded_box", rounded_box, false}};

/* The shapes stand askew between the grid points. */
static TlVec3 own_frame(TlVec3 x) {
  TlMat3 r = tl_quat_matrix(tl_quat_unit((TlQuat){0.9, 0.2, -0.35, 0.25}));
  return tl_mat_tvec(r, tl_sub(x, tl_vec3(25.3, 25.7, 25.6)));
}

static TlVec3 at(int64_t i) {
  return tl_vec3((double)(i % N), (double)(i / N % N), (double)(i / N / N));
}

/* Anything but a distance, with the same zero. */
static double spoiled(TlVec3 x, double d) {
  return 4 * tanh(d / 4) * (1 + 0.3 * sin(x.x / 5) * cos(x.y / 6 + 1));
}

static TlPhiGrid make_grid(Distance f) {
  TlPhiGrid g = {N, N, N, NULL};
  JUDGE_OK(TL_NEW(g.phi, (size_t)tl_grid_count(&g)));
  for (int64_t i = 0; i < tl_grid_count(&g); i++) {
    TlVec3 x = at(i);
    g.phi[i] = (float)spoiled(x, f(own_frame(x)));
  }
  return g;
}

typedef struct Error {
  double sum, worst, square;
  int64_t count;
} Error;

static void add(Error *e, double off) {
  e->sum += fabs(off);
  e->worst = fmax(e->worst, fabs(off));
  e->square += off * off;
  e->count++;
}

static Error distance_error(const TlPhiGrid *g, Distance f, TlMat3 turn, TlVec3 centre,
                            double band) {
  Error e = {0};
  for (int64_t i = 0; i < tl_grid_count(g); i++) {
    TlVec3 x = tl_add(centre, tl_mat_vec(turn, at(i)));
    double d = f(own_frame(x));
    if (fabs(d) <= band) add(&e, g->phi[i] - d);
  }
  return e;
}

/* div grad d of the closed form by central differences over 1e-3 cells. */
static double true_curvature(Distance f, TlVec3 x) {
  const double h = 1e-3;
  double sum = -6 * f(own_frame(x));
  for (int k = 0; k < 6; k++) {
    double s = k % 2 ? h : -h;
    sum += f(
        own_frame(tl_add(x, tl_vec3(k / 2 == 0 ? s : 0, k / 2 == 1 ? s : 0, k / 2 == 2 ? s : 0))));
  }
  return sum / (h * h);
}

/* Within one cell of the surface, over the root mean square of the true one. */
static double curvature_error(const TlPhiGrid *g, Distance f) {
  Error e = {0}, size = {0};
  for (int64_t k = 2; k < N - 2; k++)
    for (int64_t j = 2; j < N - 2; j++)
      for (int64_t i = 2; i < N - 2; i++) {
        int64_t p = tl_grid_at(g, i, j, k);
        if (fabsf(g->phi[p]) > 1) continue;
        TlPhiJet jet = tl_phi_jet(g, i, j, k);
        double truth = true_curvature(f, at(p));
        add(&e, tl_phi_curvature(&jet, NULL) - truth);
        add(&size, truth);
      }
  return sqrt(e.square / size.square);
}

static void score(int n, Error total[2], double *curvature) {
  Distance f = shape[n].distance;
  TlPhiGrid source = make_grid(f), body = {N, N, N, NULL};
  TlGridView view = {
      &source, tl_quat_matrix(tl_quat_unit((TlQuat){0.8, -0.1, 0.3, 0.5})), {0, 0, 0}};
  TlVec3 middle = tl_vec3(25, 25, 25);
  view.centre = tl_sub(middle, tl_mat_vec(view.rotation, middle));
  JUDGE_OK(TL_NEW(body.phi, (size_t)tl_grid_count(&body)));
  JUDGE_OK(tl_distance_fill(tl_grid_view, &view, &body));
  JUDGE_OK(tl_reinit(&source));
  TlMat3 still = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  Error e[2] = {distance_error(&source, f, still, tl_vec3(0, 0, 0), 2),
                distance_error(&body, f, view.rotation, view.centre, 3)};
  double bent = shape[n].smooth ? curvature_error(&source, f) : 0;
  judge_note(
      "%s: L1 %.4f, Linf %.3f on the scan's grid, %.4f and %.3f on the body's; curvature off "
      "by %.1f%% (rms).",
      shape[n].name, e[0].sum / (double)e[0].count, e[0].worst, e[1].sum / (double)e[1].count,
      e[1].worst, 100 * bent);
  for (int k = 0; k < 2; k++) {
    total[k].sum = fmax(total[k].sum, e[k].sum / (double)e[k].count);
    total[k].worst = fmax(total[k].worst, e[k].worst);
  }
  *curvature = fmax(*curvature, bent);
  tl_free(source.phi);
  tl_free(body.phi);
}

int main(int argc, char **argv) {
  judge_open("distance", argc, argv);
  Error worst[2] = {{0}, {0}};
  double curvature = 0;
  for (int n = 0; n < (int)(sizeof shape / sizeof *shape); n++) score(n, worst, &curvature);
  judge_at_most(JUDGE_GOAL, "distance_l1", worst[0].sum, "voxel", 0.01);
  judge_at_most(JUDGE_GOAL, "distance_linf", worst[0].worst, "voxel", 0.05);
  judge_at_most(JUDGE_GOAL, "distance_body_l1", worst[1].sum, "voxel", 0.01);
  judge_at_most(JUDGE_GOAL, "distance_body_linf", worst[1].worst, "voxel", 0.05);
  judge_at_most(JUDGE_GOAL, "distance_curvature", 100 * curvature, "%", 10);
  return judge_close();
}
