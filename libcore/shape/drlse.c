#include "shape/drlse.h"

#include "base/mem.h"
#include "shape/curvature.h"
#include "shape/drlse_box.h"
#include "shape/mass.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static const double band = 3;    /* only |phi| < band evolves */
static const double leash = 3.5; /* farthest from the label, voxels */

TlDrlseOptions tl_drlse_defaults(void) {
  return (TlDrlseOptions){.mu = 0.1,
                          .lambda = 0.5,
                          .dt = 1,
                          .nu_balance = true,
                          .epsilon = 1.5,
                          .edge_steps = 60,
                          .region_steps = 40,
                          .edge_scale = 20,
                          .edge_sigma = 0.5};
}

TlStatus tl_drlse_check(const TlDrlseOptions *o) {
  if (!(o->dt > 0 && o->mu >= 0 && o->dt * o->mu < 1.0 / 6))
    return tl_fail(TL_EUSAGE,
                   "dt x mu = %g: the regulariser is stable below 1/6 in three dimensions; make "
                   "--dt or --mu smaller",
                   o->dt * o->mu);
  if (!(o->epsilon >= 0.5 && o->epsilon <= band))
    return tl_fail(TL_EUSAGE, "epsilon %g: half a voxel to %g make sense", o->epsilon, band);
  if (!(o->lambda >= 0) || o->edge_steps < 0 || o->region_steps < 0 || o->curvature_steps < 0)
    return tl_fail(TL_EUSAGE, "lambda and the numbers of steps must not be negative");
  return TL_OK;
}

/* ---- one step ---- */

typedef struct Evolution {
  const TlGrainField *field;
  const TlDrlseOptions *options;
  TlPhiGrid grid;
  float *normal; /* 3 a point */
  float *excess; /* (d_p - 1) |grad phi| */
  float *rate;
  int64_t *active;
  int64_t active_count, stride[3];
} Evolution;

/* d_p(s) - 1 of Li's double well. */
static double excess_diffusion(double s) {
  if (s >= 1) return -1 / s;
  double x = 2 * pi * s;
  return x > 1e-4 ? sin(x) / x - 1 : 0;
}

/* Points that evolve; those a cell farther only need their normals. */
static void find_active(Evolution *e) {
  const TlPhiGrid *g = &e->grid;
  e->active_count = 0;
  for (int64_t k = 2; k + 2 < g->nz; k++)
    for (int64_t j = 2; j + 2 < g->ny; j++)
      for (int64_t i = 2; i + 2 < g->nx; i++) {
        int64_t at = tl_grid_at(g, i, j, k);
        if (fabsf(g->phi[at]) < band) e->active[e->active_count++] = at;
      }
}

static void normal_at(Evolution *e, int64_t at) {
  const float *f = e->grid.phi + at;
  double d[3], s2 = 0;
  for (int a = 0; a < 3; a++) {
    d[a] = 0.5 * ((double)f[e->stride[a]] - f[-e->stride[a]]);
    s2 += d[a] * d[a];
  }
  double s = sqrt(s2), inverse = s > 1e-9 ? 1 / s : 0;
  for (int a = 0; a < 3; a++) e->normal[3 * at + a] = (float)(d[a] * inverse);
  e->excess[at] = (float)(excess_diffusion(s) * s);
}

static void normals(Evolution *e) {
  for (int64_t m = 0; m < e->active_count; m++) {
    normal_at(e, e->active[m]);
    for (int a = 0; a < 3; a++)
      for (int side = -1; side <= 1; side += 2) {
        int64_t at = e->active[m] + side * e->stride[a];
        if (fabsf(e->grid.phi[at]) >= band) normal_at(e, at);
      }
  }
}

/* Li's discretisation: the compact Laplacian damps what the central differences of the excess do
 * not see (mu part); curvature by central differences of the normals. */
static void divergences(const Evolution *e, int64_t at, double *regular, double *kappa) {
  const float *f = e->grid.phi + at;
  double lap = -6.0 * f[0], div = 0, k = 0;
  for (int a = 0; a < 3; a++) {
    int64_t s = e->stride[a], p = at + s, q = at - s;
    double np = e->normal[3 * p + a], nq = e->normal[3 * q + a];
    lap += (double)f[s] + f[-s];
    div += 0.5 * (e->excess[p] * np - e->excess[q] * nq);
    k += 0.5 * (np - nq);
  }
  *regular = lap + div;
  *kappa = k;
}

/* lambda delta (grad g . n + g kappa) + nu g delta: Tan 2022 Eqs. 2.53, 2.54, descent. */
static double edge_force(const Evolution *e, int64_t at, double kappa, double nu) {
  const float *g = e->field->edge + at;
  double delta = tl_smooth_delta(e->grid.phi[at], e->options->epsilon), slope = 0;
  if (delta == 0) return 0;
  for (int a = 0; a < 3; a++)
    slope += 0.5 * ((double)g[e->stride[a]] - g[-e->stride[a]]) * e->normal[3 * at + a];
  return delta * (e->options->lambda * (slope + g[0] * kappa) + nu * g[0]);
}

static double region_force(const Evolution *e, int64_t at, double level) {
  double delta = tl_smooth_delta(e->grid.phi[at], e->options->epsilon);
  double pull = 2 * (e->field->u[at] - e->field->shade[at] - level);
  return -0.5 * delta * (pull > 1 ? 1 : pull < -1 ? -1 : pull);
}

/* Mid-surface and leash. */
static float bounded(const TlGrainField *f, int64_t at, double phi) {
  double low = fmax(f->middle[at], f->start[at] - leash), high = f->start[at] + leash;
  return (float)fmax(low, fmin(phi, fmax(low, high)));
}

typedef enum Stage { EDGE, REGION } Stage;

static void step(Evolution *e, Stage stage, double weight) {
  find_active(e);
  normals(e);
  for (int64_t m = 0; m < e->active_count; m++) {
    int64_t at = e->active[m];
    double regular, kappa;
    divergences(e, at, &regular, &kappa);
    double force = stage == EDGE ? edge_force(e, at, kappa, weight) : region_force(e, at, weight);
    e->rate[m] = (float)(e->options->mu * regular + force);
  }
  for (int64_t m = 0; m < e->active_count; m++) {
    int64_t at = e->active[m];
    e->grid.phi[at] = bounded(e->field, at, e->grid.phi[at] + e->options->dt * e->rate[m]);
  }
}

static void evolve(Evolution *e) {
  const TlDrlseOptions *o = e->options;
  double r = e->field->radius, nu = o->nu_balance ? -2 * o->lambda / r : o->nu;
  double level = 0.5 - 0.8 / (r * sqrt(2 * pi));
  for (int32_t s = 0; s < o->edge_steps; s++) step(e, EDGE, nu);
  if (o->method != TL_DRLSE_TWO_STAGE) return;
  for (int32_t s = 0; s < o->region_steps; s++) step(e, REGION, level);
}

static TlStatus evolve_field(const TlGrainField *f, const TlDrlseOptions *o, TlPhiGrid *grid) {
  int64_t count = tl_grid_count(grid);
  Evolution e = {
      .field = f, .options = o, .grid = *grid, .stride = {1, f->nx, (int64_t)f->nx * f->ny}};
  TlStatus status = TL_NEW(e.normal, 3 * (size_t)count);
  if (status == TL_OK) status = TL_NEW(e.excess, (size_t)count);
  if (status == TL_OK) status = TL_NEW(e.rate, (size_t)count);
  if (status == TL_OK) status = TL_NEW(e.active, (size_t)count);
  if (status == TL_OK) evolve(&e);
  tl_free(e.normal);
  tl_free(e.excess);
  tl_free(e.rate);
  tl_free(e.active);
  return status;
}

/* ---- the whole grain ---- */

static TlStatus clean_up(TlPhiGrid *grid, int32_t steps, TlDrlseReport *report) {
  TlMass before, after;
  TL_TRY(tl_mass_properties(grid, &before));
  TL_TRY(tl_curvature_flow(grid, steps, 0.1));
  TL_TRY(tl_grid_one_piece(grid, NULL, NULL));
  TL_TRY(tl_mass_properties(grid, &after));
  report->curvature_volume = 1 - after.volume / before.volume;
  return tl_restore_volume(grid, before.volume, NULL);
}

static TlStatus finish(const TlGrainField *f, const TlDrlseOptions *o, TlPhiGrid *grid,
                       TlDrlseReport *report) {
  int32_t dropped, filled;
  TL_TRY(tl_grid_one_piece(grid, &dropped, &filled));
  report->dropped += dropped;
  report->filled += filled;
  TL_TRY(tl_reinit(grid));
  if (o->curvature_steps > 0) TL_TRY(clean_up(grid, o->curvature_steps, report));
  TlMass mass;
  TL_TRY(tl_mass_properties(grid, &mass));
  report->moved = mass.volume / f->label_volume - 1;
  return TL_OK;
}

static TlStatus run(const TlGrainField *f, const TlDrlseOptions *o, TlPhiGrid *grid,
                    TlDrlseReport *report) {
  *grid = (TlPhiGrid){f->nx, f->ny, f->nz, NULL};
  size_t count = (size_t)tl_grid_count(grid);
  TL_TRY(TL_NEW(grid->phi, count));
  for (size_t i = 0; i < count; i++) grid->phi[i] = bounded(f, (int64_t)i, f->start[i]);
  if (o->method != TL_DRLSE_DISTANCE) TL_TRY(evolve_field(f, o, grid));
  return finish(f, o, grid, report);
}

TlStatus tl_drlse_grain(const TlVolume *grey, const TlVolume *labels, uint32_t label,
                        const TlLabelBox *box, const TlGreyLevels *levels,
                        const TlDrlseOptions *options, TlPhiGrid *grid, int64_t corner[3],
                        TlDrlseReport *report) {
  TlGrainField field = {0};
  *grid = (TlPhiGrid){0};
  *report = (TlDrlseReport){0};
  TlStatus status = tl_grain_field_make(grey, labels, label, box, levels, options, &field, report);
  if (status == TL_OK) status = run(&field, options, grid, report);
  for (int a = 0; a < 3; a++) corner[a] = field.corner[a];
  tl_grain_field_free(&field);
  if (status != TL_OK) {
    tl_free(grid->phi);
    grid->phi = NULL;
  }
  return status;
}
