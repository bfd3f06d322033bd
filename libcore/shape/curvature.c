#include "shape/curvature.h"

#include "base/mem.h"
#include "shape/mass.h"

#include <math.h>

static const double band = 3;
enum { REDISTANCE_EVERY = 10 };

static void flow_step(TlPhiGrid *g, float *rate, double dt) {
  for (int64_t k = 1; k + 1 < g->nz; k++)
    for (int64_t j = 1; j + 1 < g->ny; j++)
      for (int64_t i = 1; i + 1 < g->nx; i++) {
        int64_t at = tl_grid_at(g, i, j, k);
        rate[at] = 0;
        if (fabs(g->phi[at]) >= band) continue;
        TlPhiJet jet = tl_phi_jet(g, i, j, k);
        /* a curvature beyond 1/cell is not resolved, and would blow up at a kink */
        double kappa = fmax(-2, fmin(2, tl_phi_curvature(&jet, NULL)));
        rate[at] = (float)(kappa * tl_norm(jet.gradient));
      }
  int64_t count = tl_grid_count(g);
  for (int64_t i = 0; i < count; i++) g->phi[i] += (float)(dt * rate[i]);
}

TlStatus tl_curvature_flow(TlPhiGrid *grid, int32_t steps, double dt) {
  if (!(dt > 0 && dt < 1.0 / 6))
    return tl_fail(TL_EUSAGE,
                   "a curvature step of %g is not in (0, 1/6): explicit diffusion is "
                   "unstable beyond",
                   dt);
  float *rate;
  TL_TRY(TL_NEW(rate, (size_t)tl_grid_count(grid)));
  TlStatus status = TL_OK;
  for (int32_t s = 0; status == TL_OK && s < steps; s++) {
    flow_step(grid, rate, dt);
    if ((s + 1) % REDISTANCE_EVERY == 0 || s + 1 == steps)
      status = tl_context(tl_reinit(grid), "curvature flow, step %d", s + 1);
  }
  tl_free(rate);
  return status;
}

TlStatus tl_restore_volume(TlPhiGrid *grid, double volume, double *shift) {
  int64_t count = tl_grid_count(grid);
  double moved = 0;
  for (int i = 0; i < 8; i++) { /* Newton: dV/dshift is the area */
    TlMass mass;
    TL_TRY(tl_mass_properties(grid, &mass));
    double step = (volume - mass.volume) / mass.area;
    if (fabs(volume - mass.volume) <= 1e-4 * volume) break;
    step = fmax(-1, fmin(1, step));
    for (int64_t k = 0; k < count; k++) grid->phi[k] -= (float)step;
    moved += step;
  }
  TL_TRY(tl_reinit(grid)); /* parallel surfaces form kinks on concave parts */
  if (shift) *shift = moved;
  return TL_OK;
}
