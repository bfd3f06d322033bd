#include "shape/avatar.h"

#include "base/lanes.h"
#include "base/mem.h"

#include <math.h>

void tl_avatar_free(TlAvatar *avatar) {
  tl_free(avatar->phi);
  tl_free(avatar->node_m);
  tl_free(avatar->node_area_m2);
  *avatar = (TlAvatar){0};
}

/* Cell index and local coordinate of 0 <= s <= n - 1 (there the cast is floor); x1 = x0 + 1 with x0
 * clamped, never ceil (PHYSICS note 15). */
static inline int32_t cell_of(double s, int32_t n, double *t) {
  int32_t i = (int32_t)s;
  i = i > n - 2 ? n - 2 : i;
  *t = s - i;
  return i;
}

/* Two plain choices, one after the other: nested ones keep gcc from making lanes. */
static inline double clamped(double s, double limit) {
  double low = s > limit ? limit : s;
  return low < 0 ? 0 : low;
}

double tl_avatar_phi(const TlAvatar *a, TlVec3 p, TlVec3 *gradient) {
  double h = a->spacing_m;
  TlVec3 s = tl_scale(1 / h, tl_sub(p, a->origin_m));
  TlVec3 c = tl_vec3(clamped(s.x, a->nx - 1), clamped(s.y, a->ny - 1), clamped(s.z, a->nz - 1));
  double u, v, w;
  int32_t i = cell_of(c.x, a->nx, &u), j = cell_of(c.y, a->ny, &v), k = cell_of(c.z, a->nz, &w);
  const float *f = a->phi + ((int64_t)k * a->ny + j) * a->nx + i;
  int64_t dy = a->nx, dz = (int64_t)a->nx * a->ny;
  double f00 = f[0] + u * (f[1] - f[0]), f10 = f[dy] + u * (f[dy + 1] - f[dy]),
         f01 = f[dz] + u * (f[dz + 1] - f[dz]),
         f11 = f[dy + dz] + u * (f[dy + dz + 1] - f[dy + dz]);
  double f0 = f00 + v * (f10 - f00), f1 = f01 + v * (f11 - f01);
  double phi = f0 + w * (f1 - f0);
  TlVec3 out = tl_sub(s, c);
  double outside = tl_norm(out) * h;
  if (gradient) {
    double d00 = f[1] - f[0], d10 = f[dy + 1] - f[dy], d01 = f[dz + 1] - f[dz],
           d11 = f[dy + dz + 1] - f[dy + dz];
    double d0 = d00 + v * (d10 - d00), d1 = d01 + v * (d11 - d01);
    *gradient =
        outside > 0
            ? tl_unit(out)
            : tl_scale(1 / h, tl_vec3(d0 + w * (d1 - d0),
                                      (f10 - f00) + w * ((f11 - f01) - (f10 - f00)), f1 - f0));
  }
  return phi + outside;
}

/* The same operations in the same order as above, so the same bits; the compiler makes lanes of
 * them where the machine has gathers. */
TL_LANES_CLONES void tl_avatar_phi_nodes(const TlAvatar *a, const TlMat3 *m, TlVec3 t,
                                         const double *x, const double *y, const double *z,
                                         int32_t count, double *phi) {
  const double h = a->spacing_m, inverse = 1 / h;
  const double nx = a->nx - 1, ny = a->ny - 1, nz = a->nz - 1;
  const int32_t cx = a->nx, cy = a->ny, cz = a->nz;
  const int64_t dy = a->nx, dz = (int64_t)a->nx * a->ny;
  const float *grid = a->phi;
  const double ox = a->origin_m.x, oy = a->origin_m.y, oz = a->origin_m.z;
  const double xx = m->m[0][0], xy = m->m[0][1], xz = m->m[0][2], yx = m->m[1][0], yy = m->m[1][1],
               yz = m->m[1][2], zx = m->m[2][0], zy = m->m[2][1], zz = m->m[2][2];
  for (int32_t n = 0; n < count; n++) { /* no structs: they keep gcc from making lanes */
    double px = x[n], py = y[n], pz = z[n];
    double sx = inverse * (((xx * px + xy * py) + xz * pz) + t.x - ox),
           sy = inverse * (((yx * px + yy * py) + yz * pz) + t.y - oy),
           sz = inverse * (((zx * px + zy * py) + zz * pz) + t.z - oz);
    double ax = clamped(sx, nx), ay = clamped(sy, ny), az = clamped(sz, nz);
    double u, v, w;
    int32_t i = cell_of(ax, cx, &u), j = cell_of(ay, cy, &v), k = cell_of(az, cz, &w);
    int64_t at = ((int64_t)k * cy + j) * cx + i;
    float g000 = grid[at], g001 = grid[at + 1], g010 = grid[at + dy], g011 = grid[at + dy + 1],
          g100 = grid[at + dz], g101 = grid[at + dz + 1], g110 = grid[at + dy + dz],
          g111 = grid[at + dy + dz + 1];
    double f00 = g000 + u * (g001 - g000), f10 = g010 + u * (g011 - g010),
           f01 = g100 + u * (g101 - g100), f11 = g110 + u * (g111 - g110);
    double f0 = f00 + v * (f10 - f00), f1 = f01 + v * (f11 - f01);
    double bx = sx - ax, by = sy - ay, bz = sz - az;
    phi[n] = (f0 + w * (f1 - f0)) + sqrt(bx * bx + by * by + bz * bz) * h;
  }
}

static TlStatus check_grid(const TlAvatar *a) {
  if (a->nx < 2 || a->ny < 2 || a->nz < 2 || !(a->spacing_m > 0))
    return tl_fail(TL_EINPUT, "the grid (%d x %d x %d, spacing %g m) is not usable", a->nx, a->ny,
                   a->nz, a->spacing_m);
  for (int32_t k = 0; k < a->nz; k++)
    for (int32_t j = 0; j < a->ny; j++)
      for (int32_t i = 0; i < a->nx; i++) {
        double f = a->phi[((int64_t)k * a->ny + j) * a->nx + i];
        bool face =
            i == 0 || j == 0 || k == 0 || i == a->nx - 1 || j == a->ny - 1 || k == a->nz - 1;
        if (!isfinite(f))
          return tl_fail(TL_EINPUT, "phi at grid point (%d, %d, %d) is not finite", i, j, k);
        if (face && f <= 0)
          return tl_fail(TL_EINPUT, "the surface is cut by the grid's face at (%d, %d, %d)", i, j,
                         k);
      }
  return TL_OK;
}

static TlStatus check_nodes(const TlAvatar *a) {
  if (a->node_count < 4) return tl_fail(TL_EINPUT, "only %d surface nodes", a->node_count);
  for (int32_t n = 0; n < a->node_count; n++) {
    TlVec3 p = tl_vec3(a->node_m[3 * n], a->node_m[3 * n + 1], a->node_m[3 * n + 2]);
    double phi = tl_avatar_phi(a, p, NULL);
    if (!(fabs(phi) <= 0.1 * a->spacing_m))
      return tl_fail(TL_EINPUT, "node %d lies %g spacings off the surface", n, phi / a->spacing_m);
    if (tl_norm(p) > a->radius_m * (1 + 1e-6))
      return tl_fail(TL_EINPUT, "node %d lies outside the bounding radius %g m", n, a->radius_m);
  }
  return TL_OK;
}

TlStatus tl_avatar_check(const TlAvatar *a) {
  TL_TRY(check_grid(a));
  TL_TRY(check_nodes(a));
  TlVec3 i = a->inertia_m5;
  if (!(a->volume_m3 > 0 && i.x > 0 && i.y > 0 && i.z > 0))
    return tl_fail(TL_EINPUT, "volume %g m3, moments %g %g %g m5: they must be positive",
                   a->volume_m3, i.x, i.y, i.z);
  if (i.x + i.y < i.z * (1 - 1e-9))
    return tl_fail(TL_EINPUT, "moments %g %g %g m5 break the triangle rule", i.x, i.y, i.z);
  return TL_OK;
}

double tl_avatar_diameter_m(const TlAvatar *a) {
  return cbrt(6 * a->volume_m3 / 3.14159265358979323846);
}
