/* A solver's life: defaults, checks, memory. */
#include "dem/penalty_setup.h"
#include "dem/solver_setup.h"
#include "dem/step_impl.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* Of the rows that studies are read by. That a default can be parsed is for us to see to. */
TlSolverConfig tl_solver_defaults(void) {
  TlSolverConfig c = {.step_s = 1e-3};
  TlContactSetup contact;
  TlSolverSetup solver;
  TlPoorSetup poor;
  TlPenaltySetup penalty;
  const TlParam density = {"density", TL_P_REAL, offsetof(TlSolverConfig, density_kg_m3), "",
                           TL_DEFAULT_DENSITY},
                gravity = {"gravity", TL_P_VEC3, 0, "", TL_DEFAULT_GRAVITY};
  double g[3];
  bool whole = tl_params_defaults(tl_contact_params, TL_CONTACT_PARAMS, &contact) == TL_OK &&
               tl_params_defaults(tl_solver_params, TL_SOLVER_PARAMS, &solver) == TL_OK &&
               tl_params_defaults(tl_poor_params, TL_POOR_PARAMS, &poor) == TL_OK &&
               tl_params_defaults(tl_penalty_params, TL_PENALTY_PARAMS, &penalty) == TL_OK &&
               tl_params_defaults(&density, 1, &c) == TL_OK &&
               tl_params_defaults(&gravity, 1, g) == TL_OK;
  assert(whole);
  (void)whole;
  c.gravity_m_s2 = tl_vec3(g[0], g[1], g[2]);
  tl_solver_configure(&contact, &solver, &poor, &c);
  c.penalty.grain.tangential_ratio = c.penalty.boundary.tangential_ratio = penalty.tangential_ratio;
  c.penalty.grain.poisson = c.penalty.boundary.poisson = penalty.poisson;
  return c;
}

TlStatus tl_step_check_value(const char *name, double value, double low, double high) {
  if (value >= low && value <= high) return TL_OK; /* NaN is in no range */
  return tl_fail(TL_EUSAGE, "%s = %g: must lie in [%g, %g]", name, value, low, high);
}

static TlStatus check_config(const TlSolverConfig *c) {
  TL_TRY(tl_step_check_value("time step", c->step_s, 1e-9, 1));
  TL_TRY(tl_step_check_value("gravity", tl_norm(c->gravity_m_s2), 0, 1e4));
  TL_TRY(tl_step_check_value("density", c->density_kg_m3, 1e-12, 1e18));
  TL_TRY(tl_step_check_value("method", c->method, 0, TL_METHOD_COUNT - 1));
  TL_TRY(tl_step_check_value("damping times the step", c->damping_per_s * c->step_s, 0, 1));
  return tl_solver_check_ranges(c);
}

/* Grains on grains, and on boundaries, by the short form. */
static TlStatus plain_materials(const TlSolverConfig *c, TlMaterials *m) {
  TlPairLaw grain = {
      c->friction, c->restitution, c->tangential_restitution, c->penalty.grain, 0, 0};
  TlPairLaw boundary = {c->boundary_friction,
                        c->boundary_restitution,
                        c->boundary_tangential_restitution,
                        c->penalty.boundary,
                        0,
                        0};
  TL_TRY(tl_materials_new(m, TL_MATERIAL_FIRST_OWN));
  tl_materials_set(m, TL_MATERIAL_GRAIN, TL_MATERIAL_GRAIN, &grain);
  tl_materials_set(m, TL_MATERIAL_GRAIN, TL_MATERIAL_BOUNDARY, &boundary);
  tl_materials_set(m, TL_MATERIAL_BOUNDARY, TL_MATERIAL_BOUNDARY, &boundary);
  return TL_OK;
}

static TlStatus own_materials(TlSolver *s, const TlSolverConfig *c) {
  TL_TRY(c->materials ? tl_materials_copy(&s->materials, c->materials)
                      : plain_materials(c, &s->materials));
  s->config.materials = &s->materials;
  for (int32_t i = 0; i < s->materials.count; i++)
    if (!(s->materials.material[i].density_kg_m3 > 0))
      s->materials.material[i].density_kg_m3 = c->density_kg_m3;
  TL_TRY(tl_materials_finish(&s->materials));
  const TlMethodKind *method = tl_method(c->method);
  return method->check ? method->check(c, &s->materials) : TL_OK;
}

static TlStatus check_surface(const TlSolver *s, const TlSurface *surface) {
  for (int32_t i = -1; i < surface->classes; i++) {
    int32_t material = i < 0 ? surface->material : surface->class_material[i];
    if (material < 0 || material >= s->materials.count)
      return tl_fail(TL_EUSAGE, "boundary: there is no material %d", material);
  }
  return TL_OK;
}

static TlStatus own_boundaries(TlSolver *s, const TlBoundary *boundaries) {
  size_t n = (size_t)s->boundary_count;
  TL_TRY(TL_NEW(s->boundary, n));
  TL_TRY(TL_NEW(s->ahead, n));
  for (size_t i = 0; i < n; i++) {
    if (boundaries[i].surface) TL_TRY(check_surface(s, boundaries[i].surface));
    s->boundary[i] = s->ahead[i] = boundaries[i];
  }
  tl_step_place_boundaries(s);
  return TL_OK;
}

TlStatus tl_solver_new(TlSolver **solver, const TlSolverConfig *config, TlAvatarSource source,
                       const TlBoundary *boundaries, int boundary_count, const TlSync *sync) {
  TL_TRY(check_config(config));
  TlSolver *s;
  TL_TRY(TL_NEW(s, 1));
  s->config = *config;
  if (config->impact_threshold_m_s < 0)
    s->config.impact_threshold_m_s = 4 * tl_norm(config->gravity_m_s2) * config->step_s;
  s->source = source;
  s->boundary_count = boundary_count;
  s->sync = sync;
  TlStatus status = own_materials(s, config);
  if (status == TL_OK) status = own_boundaries(s, boundaries);
  if (status != TL_OK) tl_solver_free(s);
  if (status == TL_OK) *solver = s;
  return status;
}

void tl_solver_free(TlSolver *s) {
  if (!s) return;
  tl_materials_free(&s->materials);
  tl_shapes_free(&s->shapes);
  tl_free(s->nets);
  tl_net_memo_free(s->net_memo);
  tl_free(s->guides);
  tl_arena_free(&s->arena);
  tl_free(s->boundary);
  tl_free(s->ahead);
  tl_near_free(&s->near);
  for (size_t i = 0; i < s->point_lists; i++) tl_points_free(&s->points[i]);
  tl_free(s->points);
  tl_press_room_free(&s->press);
  tl_free(s->known);
  tl_free(s->poor);
  tl_free(s);
}

TlStatus tl_solver_add_closed(TlSolver *solver, int64_t avatar_id, const TlClosedKind *kind,
                              const double *size) {
  return tl_shapes_add_closed(&solver->shapes, avatar_id, kind, size);
}

TlStatus tl_solver_set_guides(TlSolver *s, const TlGuide *guides, int count) {
  if (count > 0 && !tl_method(s->config.method)->bears_force)
    return tl_fail(TL_EUSAGE, "guided bodies need a method whose contacts bear forces: penalty");
  for (int k = 0; k < count; k++) TL_TRY(tl_guide_check(&guides[k]));
  tl_free(s->guides);
  s->guide_count = 0;
  TL_TRY(TL_NEW(s->guides, (size_t)count));
  for (int k = 0; k < count; k++) s->guides[k] = guides[k];
  s->guide_count = count;
  return TL_OK;
}

TlStatus tl_solver_set_friction(TlSolver *s, double friction) {
  if (!(friction >= 0)) return tl_fail(TL_EUSAGE, "friction = %g makes no sense", friction);
  tl_materials_set_friction(&s->materials, TL_MATERIAL_GRAIN, TL_MATERIAL_GRAIN, friction);
  return TL_OK;
}

double tl_solver_friction(const TlSolver *s) {
  return s->materials.law[tl_pair_law(&s->materials, TL_MATERIAL_GRAIN, TL_MATERIAL_GRAIN)]
      .friction;
}

TlStatus tl_solver_set_damping(TlSolver *s, double damping_per_s) {
  if (!(damping_per_s >= 0 && damping_per_s * s->config.step_s <= 1))
    return tl_fail(TL_EUSAGE, "damping of %g 1/s makes no sense with steps of %g s", damping_per_s,
                   s->config.step_s);
  s->config.damping_per_s = damping_per_s;
  return TL_OK;
}

TlStatus tl_solver_set_pressure(TlSolver *s, int net, double pressure_Pa) {
  if (net < 0 || net >= s->net_count || !isfinite(pressure_Pa))
    return tl_fail(TL_EUSAGE, "a pressure of %g Pa on net %d of %d makes no sense", pressure_Pa,
                   net, s->net_count);
  s->nets[net].pressure_Pa = pressure_Pa;
  return TL_OK;
}

TlStatus tl_solver_set_nets(TlSolver *s, const TlNet *nets, int count) {
  tl_free(s->nets);
  tl_net_memo_free(s->net_memo);
  s->net_memo = NULL;
  s->net_count = 0;
  TL_TRY(tl_net_memo_new(&s->net_memo));
  TL_TRY(TL_NEW(s->nets, (size_t)count));
  for (int k = 0; k < count; k++) {
    TL_TRY(tl_net_check(&nets[k]));
    if (!(s->config.step_s < tl_net_stable_step(&nets[k])))
      return tl_fail(TL_EUSAGE, "net: a time step of %g s is not below the stable %g s",
                     s->config.step_s, tl_net_stable_step(&nets[k]));
    TL_TRY(tl_solver_add_sphere(s, nets[k].shape_id, nets[k].radius_m));
    s->nets[k] = nets[k];
  }
  s->net_count = count;
  return TL_OK;
}

void tl_solver_trace(TlSolver *solver, const TlCollisionTrace *trace) {
  solver->trace = trace;
}

int64_t tl_solver_steps(const TlSolver *solver) {
  return solver->steps;
}
void tl_solver_set_steps(TlSolver *solver, int64_t steps) {
  solver->steps = steps;
  tl_step_place_boundaries(solver);
}
