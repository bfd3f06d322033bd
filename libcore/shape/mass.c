#include "shape/mass.h"

#include <math.h>

static const double epsilon = 1.5;

TlPhiJet tl_phi_jet(const TlPhiGrid *g, int64_t i, int64_t j, int64_t k) {
  const float *f = g->phi + tl_grid_at(g, i, j, k);
  int64_t y = g->nx, z = (int64_t)g->nx * g->ny;
  double f0 = f[0];
  TlPhiJet jet = {
      {0.5 * ((double)f[1] - f[-1]), 0.5 * ((double)f[y] - f[-y]), 0.5 * ((double)f[z] - f[-z])},
      {.xx = (double)f[1] + f[-1] - 2 * f0,
       .yy = (double)f[y] + f[-y] - 2 * f0,
       .zz = (double)f[z] + f[-z] - 2 * f0,
       .xy = 0.25 * ((double)f[y + 1] - f[y - 1] - f[-y + 1] + f[-y - 1]),
       .xz = 0.25 * ((double)f[z + 1] - f[z - 1] - f[-z + 1] + f[-z - 1]),
       .yz = 0.25 * ((double)f[z + y] - f[z - y] - f[-z + y] + f[-z - y])}};
  return jet;
}

double tl_phi_curvature(const TlPhiJet *jet, double *gaussian) {
  TlVec3 g = jet->gradient;
  TlSym3 h = jet->hessian;
  double g2 = tl_norm2(g);
  if (gaussian) *gaussian = 0;
  if (g2 < 1e-12) return 0;
  double size = sqrt(g2);
  if (gaussian) { /* g . adj(H) g / |g|^4 (Goldman 2005) */
    TlVec3 r1 = tl_vec3(h.xx, h.xy, h.xz), r2 = tl_vec3(h.xy, h.yy, h.yz),
           r3 = tl_vec3(h.xz, h.yz, h.zz);
    TlVec3 a = tl_vec3(tl_dot(g, tl_cross(r2, r3)), tl_dot(g, tl_cross(r3, r1)),
                       tl_dot(g, tl_cross(r1, r2)));
    *gaussian = tl_dot(g, a) / (g2 * g2);
  }
  return (g2 * (h.xx + h.yy + h.zz) - tl_dot(g, tl_sym_vec(h, g))) / (g2 * size);
}

/* int 1, x, x x^T and the area, about a reference point near the centroid. */
typedef struct Moments {
  double volume, area;
  TlVec3 first;
  TlSym3 second;
} Moments;

static void add_inside(Moments *m, TlVec3 x, double h) {
  m->volume += h;
  m->first = tl_axpy(m->first, h, x);
  m->second.xx += h * x.x * x.x;
  m->second.yy += h * x.y * x.y;
  m->second.zz += h * x.z * x.z;
  m->second.xy += h * x.x * x.y;
  m->second.xz += h * x.x * x.z;
  m->second.yz += h * x.y * x.z;
}

static void add_surface(Moments *m, TlVec3 x, const TlPhiJet *jet, double delta) {
  const double m2 = epsilon * epsilon * (1.0 / 3 - 2 / (M_PI * M_PI));
  double gauss, kappa = tl_phi_curvature(jet, &gauss), w = -0.5 * m2 * delta;
  TlVec3 n = jet->gradient;
  add_inside(m, x, w * kappa);
  m->first = tl_axpy(m->first, w, n);
  m->second.xx += w * 2 * n.x * x.x;
  m->second.yy += w * 2 * n.y * x.y;
  m->second.zz += w * 2 * n.z * x.z;
  m->second.xy += w * (n.x * x.y + n.y * x.x);
  m->second.xz += w * (n.x * x.z + n.z * x.x);
  m->second.yz += w * (n.y * x.z + n.z * x.y);
  m->area += delta * tl_norm(n) * (1 - m2 * gauss);
}

static TlStatus integrate(const TlPhiGrid *g, TlVec3 reference, Moments *m) {
  *m = (Moments){0};
  for (int64_t k = 0; k < g->nz; k++)
    for (int64_t j = 0; j < g->ny; j++)
      for (int64_t i = 0; i < g->nx; i++) {
        double phi = g->phi[tl_grid_at(g, i, j, k)];
        if (phi >= epsilon) continue;
        if (i == 0 || j == 0 || k == 0 || i == g->nx - 1 || j == g->ny - 1 || k == g->nz - 1)
          return tl_fail(TL_EINPUT,
                         "the surface comes within %g cells of the box's face at "
                         "(%d, %d, %d)",
                         epsilon, (int)i, (int)j, (int)k);
        TlVec3 x = tl_sub(tl_vec3((double)i, (double)j, (double)k), reference);
        add_inside(m, x, tl_smooth_step(-phi, epsilon));
        if (phi <= -epsilon) continue;
        TlPhiJet jet = tl_phi_jet(g, i, j, k);
        add_surface(m, x, &jet, tl_smooth_delta(phi, epsilon));
      }
  return TL_OK;
}

TlStatus tl_mass_properties(const TlPhiGrid *grid, TlMass *mass) {
  Moments m;
  TlVec3 middle = tl_vec3(0.5 * grid->nx, 0.5 * grid->ny, 0.5 * grid->nz);
  TL_TRY(integrate(grid, middle, &m));
  if (!(m.volume > 0)) return tl_fail(TL_EINPUT, "the grain has no volume");
  TlVec3 c = tl_scale(1 / m.volume, m.first);
  double v = m.volume;
  TlSym3 s = {.xx = m.second.xx - v * c.x * c.x,
              .yy = m.second.yy - v * c.y * c.y,
              .zz = m.second.zz - v * c.z * c.z,
              .xy = m.second.xy - v * c.x * c.y,
              .xz = m.second.xz - v * c.x * c.z,
              .yz = m.second.yz - v * c.y * c.z};
  mass->volume = v;
  mass->area = m.area;
  mass->centroid = tl_add(middle, c);
  mass->inertia = (TlSym3){.xx = s.yy + s.zz,
                           .yy = s.xx + s.zz,
                           .zz = s.xx + s.yy,
                           .xy = -s.xy,
                           .xz = -s.xz,
                           .yz = -s.yz};
  return TL_OK;
}
