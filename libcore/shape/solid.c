#include "shape/solid.h"

#include "base/mem.h"
#include "base/par.h"
#include "shape/build.h"

#include <math.h>

enum { PADDING = 3 };

TlStatus tl_solid_check(double least, double most, double spacing, int32_t nodes) {
  if (!(least > 0) || !isfinite(most) || !(spacing > 0))
    return tl_fail(TL_EUSAGE, "half axes and spacing must be positive");
  if (least < 2 * spacing)
    return tl_fail(TL_EUSAGE, "a half axis of %g m spans less than two cells of %g m", least,
                   spacing);
  if (most > 1000 * spacing)
    return tl_fail(TL_EUSAGE, "a half axis of %g m spans more than 1000 cells of %g m", most,
                   spacing);
  if (nodes < 0) return tl_fail(TL_EUSAGE, "%d nodes make no sense", nodes);
  return TL_OK;
}

TlStatus tl_solid_grid(TlVec3 low, TlVec3 high, double spacing, TlAvatar *out) {
  double e[3] = {high.x - low.x, high.y - low.y, high.z - low.z};
  int32_t n[3];
  for (int k = 0; k < 3; k++) n[k] = (int32_t)ceil(e[k] / spacing - 1e-6) + 1 + 2 * PADDING;
  out->nx = n[0];
  out->ny = n[1];
  out->nz = n[2];
  out->spacing_m = spacing;
  out->origin_m = tl_axpy(low, -PADDING * spacing, tl_vec3(1, 1, 1));
  return TL_NEW(out->phi, (size_t)n[0] * (size_t)n[1] * (size_t)n[2]);
}

typedef struct Fill {
  TlSolidDistance f;
  const void *solid;
  TlAvatar *avatar;
  double *error; /* one a layer */
} Fill;

static TlVec3 grid_point(const TlAvatar *a, double i, double j, double k) {
  return tl_axpy(a->origin_m, a->spacing_m, tl_vec3(i, j, k));
}

static TlStatus fill_layers(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Fill *w = context;
  TlAvatar *a = w->avatar;
  (void)block, (void)thread;
  for (int64_t k = begin; k < end; k++)
    for (int64_t j = 0; j < a->ny; j++)
      for (int64_t i = 0; i < a->nx; i++) {
        double d = w->f(w->solid, grid_point(a, (double)i, (double)j, (double)k));
        /* faces on grid planes to rounding are meant to be zero there */
        a->phi[(k * a->ny + j) * a->nx + i] = fabs(d) < 1e-7 * a->spacing_m ? 0 : (float)d;
      }
  return TL_OK;
}

/* Largest difference to the true distance at the middles of cells near the surface. */
static TlStatus measure_layers(void *context, int64_t begin, int64_t end, int64_t block,
                               int thread) {
  const Fill *w = context;
  const TlAvatar *a = w->avatar;
  (void)block, (void)thread;
  for (int64_t k = begin; k < end; k++)
    for (int64_t j = 0; j + 1 < a->ny; j++)
      for (int64_t i = 0; i + 1 < a->nx; i++) {
        TlVec3 p = grid_point(a, (double)i + 0.5, (double)j + 0.5, (double)k + 0.5);
        double phi = tl_avatar_phi(a, p, NULL);
        if (fabs(phi) > 3 * a->spacing_m) continue; /* far enough to be spared the exact one */
        double d = w->f(w->solid, p);
        if (fabs(d) < 1.5 * a->spacing_m) w->error[k] = fmax(w->error[k], fabs(d - phi));
      }
  return TL_OK;
}

TlStatus tl_solid_fill(TlSolidDistance f, const void *solid, TlAvatar *a) {
  Fill w = {.f = f, .solid = solid, .avatar = a};
  TL_TRY(TL_NEW(w.error, (size_t)a->nz));
  TlStatus status = tl_par_blocks(a->nz, 1, fill_layers, &w);
  if (status == TL_OK) status = tl_par_blocks(a->nz - 1, 1, measure_layers, &w);
  a->gradient_max = tl_avatar_measure_gradient(a);
  for (int32_t k = 0; k < a->nz; k++) a->phi_error_m = fmax(a->phi_error_m, w.error[k]);
  tl_free(w.error);
  return status;
}

TlStatus tl_solid_reserve_nodes(TlAvatar *a, int64_t capacity) {
  TL_TRY(TL_NEW(a->node_m, 3 * (size_t)capacity));
  return TL_NEW(a->node_area_m2, (size_t)capacity);
}

/* At a sharp vertex the gradient leads nowhere; the way to the origin meets the surface. */
static bool project_inwards(const TlAvatar *a, TlVec3 *p) {
  double inside = 0, outside = 1.1;
  if (!(tl_avatar_phi(a, tl_scale(outside, *p), NULL) > 0)) return false;
  for (int i = 0; i < 40; i++) {
    double middle = 0.5 * (inside + outside);
    if (tl_avatar_phi(a, tl_scale(middle, *p), NULL) < 0)
      inside = middle;
    else
      outside = middle;
  }
  *p = tl_scale(inside, *p);
  return true;
}

TlStatus tl_solid_node(TlAvatar *a, TlVec3 x, double area) {
  if (!tl_nodes_project(a, &x) && !project_inwards(a, &x))
    return tl_fail(TL_EINPUT, "a node at (%g, %g, %g) m finds no surface", x.x, x.y, x.z);
  float *node = a->node_m + 3 * (int64_t)a->node_count;
  node[0] = (float)x.x;
  node[1] = (float)x.y;
  node[2] = (float)x.z;
  a->node_area_m2[a->node_count++] = (float)area;
  return TL_OK;
}

double tl_solid_node_step(const TlAvatar *a, int32_t nodes) {
  return nodes > 0 ? sqrt(a->area_m2 / nodes) : 0.1 * tl_avatar_diameter_m(a);
}
