#include "shape/descriptors.h"

#include "base/mem.h"
#include "shape/mass.h"
#include "shape/mesh.h"

#include <math.h>
#include <string.h>

/* Radius of the largest sphere inside: phi's depth. */
static double inscribed_radius(const TlAvatar *a) {
  int64_t count = (int64_t)a->nx * a->ny * a->nz;
  double least = 0;
  for (int64_t i = 0; i < count; i++) least = fmin(least, a->phi[i]);
  return -least;
}

/* The principal curvature that is larger in size, per cell, of the surface below or above a grid
 * point at distance phi (cells), where the level set has the curvature k/(1 + k phi). */
static double sharpest(const TlPhiJet *jet, double phi) {
  double gauss, half = 0.5 * tl_phi_curvature(jet, &gauss);
  double root = sqrt(fmax(0, half * half - gauss));
  double k = half < 0 ? half - root : half + root;
  return k / fmax(0.2, 1 - k * phi);
}

/* Fraction of the surface by how much sharper it is bent than the inscribed sphere (r in cells): sums
 * over the points near it, weighted by the smoothed delta as the area is. */
static double roundness(const TlAvatar *a, double r) {
  TlPhiGrid g = {a->nx, a->ny, a->nz, a->phi};
  double h = a->spacing_m, total = 0, round = 0;
  for (int64_t k = 1; k + 1 < g.nz; k++)
    for (int64_t j = 1; j + 1 < g.ny; j++)
      for (int64_t i = 1; i + 1 < g.nx; i++) {
        double phi = a->phi[tl_grid_at(&g, i, j, k)] / h, weight = tl_smooth_delta(phi, 1);
        if (weight == 0) continue;
        TlPhiJet jet = tl_phi_jet(&g, i, j, k); /* phi in metres, places in cells: k is per cell */
        double bent = fabs(sharpest(&jet, phi)) * r;
        weight *= tl_norm(jet.gradient) / h;
        total += weight;
        round += weight * (bent <= 1 ? 1 : 1 / bent);
      }
  return total > 0 ? round / total : 0;
}

static TlStatus convexity(const TlAvatar *a, double *value) {
  TlMesh mesh;
  double hull;
  TL_TRY(tl_mesh_from_avatar(a, &mesh));
  TlStatus status = tl_hull_volume(mesh.vertex_m, (int64_t)mesh.vertex_count, &hull);
  if (status == TL_OK) *value = hull > 0 ? fmin(1, tl_mesh_volume(&mesh) / hull) : 0;
  tl_mesh_free(&mesh);
  return status;
}

TlStatus tl_descriptors(const TlAvatar *a, TlDescriptors *d) {
  double v = a->volume_m3, r = inscribed_radius(a);
  const double *x = a->axes_m;
  *d = (TlDescriptors){.diameter_m = tl_avatar_diameter_m(a)};
  memcpy(d->axes_m, x, sizeof d->axes_m);
  d->elongation = x[1] / x[0];
  d->flatness = x[2] / x[1];
  d->sphericity = cbrt(M_PI) * pow(6 * v, 2.0 / 3) / a->area_m2;
  d->krumbein = cbrt(x[1] * x[2] / (x[0] * x[0]));
  d->inscribed = 2 * r / d->diameter_m;
  d->roundness = roundness(a, r / a->spacing_m);
  return convexity(a, &d->convexity);
}
