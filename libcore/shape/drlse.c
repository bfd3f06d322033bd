#include "shape/drlse.h"

#include "base/mem.h"
#include "shape/curvature.h"
#include "shape/drlse_box.h"
#include "shape/mass.h"

#include <math.h>
#include <string.h>

static const double band = 3;    /* only |phi| < band evolves */
static const double leash = 3.5; /* farthest from the label, voxels */
static const double bend_sigma = 1.5;
enum { BEND_EVERY = 10 };

TlDrlseOptions tl_drlse_defaults(void) {
  return (TlDrlseOptions){.mu = 0.1,
                          .lambda = 0.5,
                          .dt = 1,
                          .nu_balance = true,
                          .epsilon = 1.5,
                          .edge_steps = 60,
                          .region_steps = 40,
                          .edge_scale = 20,
                          .edge_sigma = 0.5,
                          .blur_sigma = 0.8,
                          .surface_sigma = -1};
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
  if (!(o->blur_sigma > 0 && o->blur_sigma <= 2 && o->surface_sigma <= 2))
    return tl_fail(TL_EUSAGE, "blur of %g and low pass of %g voxels: up to 2 make sense",
                   o->blur_sigma, o->surface_sigma);
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
  float *bend; /* what the blur takes off the grey level at a surface of this curvature */
  int64_t *active;
  int64_t active_count, stride[3];
} Evolution;

/* d_p(s) - 1 of Li's double well. */
static double excess_diffusion(double s) {
  if (s >= 1) return -1 / s;
  double x = 2 * M_PI * s;
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

/* The grey level of a plane edge is 0.5 where it lies, that of a ball 0.5 - b/(R sqrt(2 pi)). */
static TlStatus find_bend(Evolution *e) {
  TlPhiGrid soft = e->grid;
  int32_t n[3] = {soft.nx, soft.ny, soft.nz};
  size_t count = (size_t)tl_grid_count(&soft);
  TL_TRY(TL_NEW(soft.phi, count));
  memcpy(soft.phi, e->grid.phi, count * sizeof *soft.phi);
  TlStatus status = tl_box_smooth(soft.phi, n, bend_sigma);
  find_active(e);
  for (int64_t m = 0; status == TL_OK && m < e->active_count; m++) {
    int64_t at = e->active[m], i = at % n[0], j = at / n[0] % n[1], k = at / n[0] / n[1];
    TlPhiJet jet = tl_phi_jet(&soft, i, j, k);
    double kappa = fmax(-0.8, fmin(0.8, tl_phi_curvature(&jet, NULL)));
    e->bend[at] = (float)(e->options->blur_sigma * kappa / (2 * sqrt(2 * M_PI)));
  }
  tl_free(soft.phi);
  return status;
}

static double region_force(const Evolution *e, int64_t at) {
  double delta = tl_smooth_delta(e->grid.phi[at], e->options->epsilon);
  double pull = 2 * (e->field->u[at] - e->field->shade[at] - 0.5 + e->bend[at]);
  return -0.5 * delta * (pull > 1 ? 1 : pull < -1 ? -1 : pull);
}

/* Mid-surface and leash. */
static float bounded(const TlGrainField *f, int64_t at, double phi) {
  double low = fmax(f->middle[at], f->start[at] - leash), high = f->start[at] + leash;
  return (float)fmax(low, fmin(phi, fmax(low, high)));
}

typedef enum Stage { EDGE, REGION } Stage;

static void step(Evolution *e, Stage stage, double nu) {
  find_active(e);
  normals(e);
  for (int64_t m = 0; m < e->active_count; m++) {
    int64_t at = e->active[m];
    double regular, kappa;
    divergences(e, at, &regular, &kappa);
    double force = stage == EDGE ? edge_force(e, at, kappa, nu) : region_force(e, at);
    e->rate[m] = (float)(e->options->mu * regular + force);
  }
  for (int64_t m = 0; m < e->active_count; m++) {
    int64_t at = e->active[m];
    e->grid.phi[at] = bounded(e->field, at, e->grid.phi[at] + e->options->dt * e->rate[m]);
  }
}

static TlStatus evolve(Evolution *e) {
  const TlDrlseOptions *o = e->options;
  double nu = o->nu_balance ? -2 * o->lambda / e->field->radius : o->nu;
  for (int32_t s = 0; s < o->edge_steps; s++) step(e, EDGE, nu);
  if (o->method != TL_DRLSE_TWO_STAGE) return TL_OK;
  for (int32_t s = 0; s < o->region_steps; s++) {
    if (s % BEND_EVERY == 0) TL_TRY(find_bend(e));
    step(e, REGION, 0);
  }
  return TL_OK;
}

static TlStatus evolve_field(const TlGrainField *f, const TlDrlseOptions *o, TlPhiGrid *grid) {
  int64_t count = tl_grid_count(grid);
  Evolution e = {
      .field = f, .options = o, .grid = *grid, .stride = {1, f->nx, (int64_t)f->nx * f->ny}};
  TlStatus status = TL_NEW(e.normal, 3 * (size_t)count);
  if (status == TL_OK) status = TL_NEW(e.excess, (size_t)count);
  if (status == TL_OK) status = TL_NEW(e.rate, (size_t)count);
  if (status == TL_OK) status = TL_NEW(e.bend, (size_t)count);
  if (status == TL_OK) status = TL_NEW(e.active, (size_t)count);
  if (status == TL_OK) status = evolve(&e);
  tl_free(e.normal);
  tl_free(e.excess);
  tl_free(e.rate);
  tl_free(e.bend);
  tl_free(e.active);
  return status;
}

/* ---- the whole grain ---- */

/* 2 G - G G on the distance, kept within the bounds. */
static TlStatus low_pass(const TlGrainField *f, TlPhiGrid *grid, double sigma) {
  int32_t n[3] = {grid->nx, grid->ny, grid->nz};
  size_t count = (size_t)tl_grid_count(grid);
  float *once, *twice = NULL;
  TL_TRY(tl_reinit(grid));
  TL_TRY(TL_NEW(once, count));
  TlStatus status = TL_NEW(twice, count);
  memcpy(once, grid->phi, count * sizeof *once);
  if (status == TL_OK) status = tl_box_smooth(once, n, sigma);
  if (status == TL_OK) memcpy(twice, once, count * sizeof *twice);
  if (status == TL_OK) status = tl_box_smooth(twice, n, sigma);
  for (size_t i = 0; status == TL_OK && i < count; i++)
    grid->phi[i] = bounded(f, (int64_t)i, 2.0 * once[i] - twice[i]);
  tl_free(once);
  tl_free(twice);
  return status;
}

static double surface_sigma(const TlGrainField *f, const TlDrlseOptions *o,
                            const TlDrlseReport *report) {
  if (o->surface_sigma >= 0) return o->surface_sigma;
  double sigma = fmin(1.5 * fmin(1, report->noise / 0.1), f->radius / 8);
  return sigma < 0.4 ? 0 : sigma; /* less changes nothing */
}

static TlStatus clean_up(TlPhiGrid *grid, int32_t steps, TlDrlseReport *report) {
  TlMass before, after;
  TL_TRY(tl_mass_properties(grid, &before));
  TL_TRY(tl_curvature_flow(grid, steps, 0.1));
  TL_TRY(tl_grid_one_piece(grid, NULL, NULL));
  TL_TRY(tl_mass_properties(grid, &after));
  report->curvature_volume = 1 - after.volume / before.volume;
  return tl_restore_volume(grid, before.volume, NULL);
}

/* Dice of the grid points inside the surface and inside the smoothed label. */
static double agreement(const TlGrainField *f, const TlPhiGrid *grid) {
  int64_t count = tl_grid_count(grid), both = 0, sum = 0;
  for (int64_t i = 0; i < count; i++) {
    bool in = grid->phi[i] < 0, seed = f->start[i] < 0;
    both += in && seed;
    sum += in + seed;
  }
  return sum > 0 ? 2.0 * (double)both / (double)sum : 0;
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
  report->agreement = agreement(f, grid);
  return TL_OK;
}

static TlStatus run(const TlGrainField *f, const TlDrlseOptions *o, TlPhiGrid *grid,
                    TlDrlseReport *report) {
  *grid = (TlPhiGrid){f->nx, f->ny, f->nz, NULL};
  size_t count = (size_t)tl_grid_count(grid);
  TL_TRY(TL_NEW(grid->phi, count));
  for (size_t i = 0; i < count; i++) grid->phi[i] = bounded(f, (int64_t)i, f->start[i]);
  if (o->method != TL_DRLSE_DISTANCE) TL_TRY(evolve_field(f, o, grid));
  double sigma = surface_sigma(f, o, report);
  if (o->method == TL_DRLSE_TWO_STAGE && sigma > 0) TL_TRY(low_pass(f, grid, sigma));
  return finish(f, o, grid, report);
}

TlStatus tl_drlse_grain(const TlGrainPart *part, uint32_t label, const TlLabelBox *boxes,
                        const TlGreyLevels *levels, const TlDrlseOptions *options, TlPhiGrid *grid,
                        int64_t corner[3], TlDrlseReport *report) {
  TlGrainField field = {0};
  const TlGrainSource source = {part, boxes, label};
  *grid = (TlPhiGrid){0};
  *report = (TlDrlseReport){0};
  TlStatus status = tl_grain_field_make(&source, levels, options, &field, report);
  if (status == TL_OK) status = run(&field, options, grid, report);
  for (int a = 0; a < 3; a++) corner[a] = field.corner[a];
  tl_grain_field_free(&field);
  if (status != TL_OK) {
    tl_free(grid->phi);
    grid->phi = NULL;
  }
  return status;
}
