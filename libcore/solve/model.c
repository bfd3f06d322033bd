#include "solve/model.h"

#include "base/mem.h"
#include "solve/solver_setup.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* Of the rows that studies are read by. That a default can be parsed is for us to see to. */
TlSolverConfig tl_solver_defaults(void) {
  TlSolverConfig c = {.step_s = 1e-3};
  TlContactSetup contact;
  TlSolverSetup solver;
  TlProblemSetup problem;
  const TlParam density = {"density", TL_P_REAL, offsetof(TlSolverConfig, density_kg_m3), "",
                           TL_DEFAULT_DENSITY},
                gravity = {"gravity", TL_P_VEC3, 0, "", TL_DEFAULT_GRAVITY};
  double g[3];
  bool whole = tl_params_defaults(tl_contact_params, TL_CONTACT_PARAMS, &contact) == TL_OK &&
               tl_params_defaults(tl_solver_params, TL_SOLVER_PARAMS, &solver) == TL_OK &&
               tl_params_defaults(tl_problem_params, TL_PROBLEM_PARAMS, &problem) == TL_OK &&
               tl_params_defaults(&density, 1, &c) == TL_OK &&
               tl_params_defaults(&gravity, 1, g) == TL_OK;
  assert(whole);
  (void)whole;
  c.gravity_m_s2 = tl_vec3(g[0], g[1], g[2]);
  tl_solver_configure(&contact, &solver, &problem, &c);
  return c;
}

static TlStatus check_config(const TlSolverConfig *c) {
  TL_TRY(tl_solver_check_value("time step", c->step_s, 1e-9, 1));
  TL_TRY(tl_solver_check_value("gravity", tl_norm(c->gravity_m_s2), 0, 1e4));
  TL_TRY(tl_solver_check_value("density", c->density_kg_m3, 1e-12, 1e18));
  TL_TRY(tl_solver_check_value("method", c->method, 0, TL_METHOD_COUNT - 1));
  TL_TRY(tl_solver_check_value("damping times the step", c->damping_per_s * c->step_s, 0, 1));
  return tl_solver_check_ranges(c);
}

/* Values of pairs that not every method can give. */
static TlStatus check_resistance(const TlMaterials *m, TlMethod method) {
  char pair[TL_PAIR_TEXT];
  for (int32_t i = 0; i < m->count && !tl_method(method)->resists; i++)
    for (int32_t j = 0; j <= i; j++) {
      const TlPairLaw *law = &m->law[tl_pair_law(m, i, j)];
      const char *value = law->rolling > 0      ? "rolling"
                          : law->twisting > 0   ? "twisting"
                          : law->adhesion_N > 0 ? "adhesion_N"
                                                : NULL;
      if (value)
        return tl_fail(
            TL_EUSAGE,
            "%s of %s: method %s has none; leave it out, or take solver.method: nonsmooth", value,
            tl_pair_text(pair, m, i, j), tl_method_name(method));
    }
  return TL_OK;
}

static TlStatus own_materials(TlModel *model, const TlSolverConfig *c) {
  TlMaterials *m = &model->materials;
  if (!c->materials)
    return tl_fail(TL_EUSAGE, "a model wants materials: the configuration has none");
  TL_TRY(tl_materials_copy(m, c->materials));
  for (int32_t i = 0; i < m->count; i++)
    if (!(m->material[i].density_kg_m3 > 0)) m->material[i].density_kg_m3 = c->density_kg_m3;
  TL_TRY(tl_materials_finish(m));
  TL_TRY(check_resistance(m, c->method));
  const TlMethodKind *method = tl_method(c->method);
  return method->check ? method->check(model) : TL_OK;
}

static TlStatus check_surface(const TlMaterials *m, const TlSurface *surface) {
  for (int32_t i = -1; i < surface->classes; i++) {
    int32_t material = i < 0 ? surface->material : surface->class_material[i];
    if (material < 0 || material >= m->count)
      return tl_fail(TL_EUSAGE, "boundary: there is no material %d", material);
  }
  return TL_OK;
}

static TlStatus own_boundaries(TlModel *model, const TlBoundary *boundaries) {
  TL_TRY(TL_NEW(model->boundary, (size_t)model->boundary_count));
  for (int i = 0; i < model->boundary_count; i++) {
    if (boundaries[i].surface) TL_TRY(check_surface(&model->materials, boundaries[i].surface));
    model->boundary[i] = boundaries[i];
    if (boundaries[i].kind->relief) model->shapes->ground = true;
  }
  return TL_OK;
}

TlStatus tl_model_new(TlModel **model, const TlSolverConfig *config, TlAvatarSource source,
                      const TlBoundary *boundaries, int boundary_count) {
  TL_TRY(check_config(config));
  TlModel *m;
  TL_TRY(TL_NEW(m, 1));
  *m = (TlModel){.step_s = config->step_s,
                 .gravity_m_s2 = config->gravity_m_s2,
                 .damping_per_s = config->damping_per_s,
                 .method = config->method,
                 .search = config->search,
                 .impulses = config->impulses,
                 .boundary_count = boundary_count,
                 .source = source};
#define S(id, key, ...) m->key = config->key;
  TL_METHOD_SECTIONS(S)
#undef S
  if (config->impulses.impact_threshold_m_s < 0)
    m->impulses.impact_threshold_m_s = 4 * tl_norm(config->gravity_m_s2) * config->step_s;
  if (tl_method(m->method)->search) m->search = tl_method(m->method)->search(m);
  TlStatus status = TL_NEW(m->shapes, 1);
  if (status == TL_OK) m->shapes->places = m->search.edges == TL_EDGES_PLACES;
  if (status == TL_OK) m->shapes->surface = m->search.elements;
  for (int k = 0; k < boundary_count && status == TL_OK; k++)
    m->shapes->edged = m->shapes->edged || boundaries[k].kind->edged;
  if (status == TL_OK) status = own_materials(m, config);
  if (status == TL_OK) status = own_boundaries(m, boundaries);
  if (status != TL_OK) tl_model_free(m);
  if (status == TL_OK) *model = m;
  return status;
}

void tl_model_free(TlModel *m) {
  if (!m) return;
  tl_materials_free(&m->materials);
  if (m->shapes) tl_shapes_free(m->shapes);
  tl_free(m->shapes);
  tl_free(m->boundary);
  tl_free(m->nets);
  tl_free(m);
}

TlStatus tl_model_variant(TlModel **variant, const TlModel *of) {
  TlModel *m;
  TL_TRY(TL_NEW(m, 1));
  *m = *of;
  m->materials = (TlMaterials){0};
  m->boundary = NULL;
  TlStatus status = tl_materials_copy(&m->materials, &of->materials);
  if (status == TL_OK) status = TL_NEW(m->boundary, (size_t)of->boundary_count);
  if (status == TL_OK)
    memcpy(m->boundary, of->boundary, (size_t)of->boundary_count * sizeof *m->boundary);
  if (status != TL_OK) tl_model_variant_free(m);
  if (status == TL_OK) *variant = m;
  return status;
}

TlStatus tl_model_variant_materials(TlModel *variant, const TlSolverConfig *config) {
  tl_materials_free(&variant->materials);
  return own_materials(variant, config);
}

void tl_model_variant_boundary(TlModel *variant, int boundary, const void *data) {
  variant->boundary[boundary].data = data;
}

void tl_model_variant_free(TlModel *variant) {
  if (!variant) return;
  tl_materials_free(&variant->materials);
  tl_free(variant->boundary);
  tl_free(variant);
}

TlStatus tl_model_add_closed(TlModel *model, int64_t avatar_id, const TlClosedKind *kind,
                             const double *size) {
  return tl_shapes_add_closed(model->shapes, avatar_id, kind, size);
}

TlStatus tl_model_set_nets(TlModel *m, const TlNet *nets, int count) {
  TL_TRY(TL_NEW(m->nets, (size_t)count));
  for (int k = 0; k < count; k++) {
    TL_TRY(tl_net_check(&nets[k]));
    if (nets[k].bond_law != k)
      return tl_fail(TL_EUSAGE, "net %d: its bonds name law %d, not that of their net", k,
                     nets[k].bond_law);
    if (!tl_method(m->method)->implicit_bonds && !(m->step_s < tl_net_stable_step(&nets[k])))
      return tl_fail(TL_EUSAGE, "net: a time step of %g s is not below the stable %g s", m->step_s,
                     tl_net_stable_step(&nets[k]));
    TL_TRY(tl_model_add_sphere(m, nets[k].shape_id, nets[k].radius_m));
    m->nets[k] = nets[k];
  }
  m->net_count = count;
  return tl_method(m->method)->check ? tl_method(m->method)->check(m) : TL_OK;
}

TlStatus tl_model_shape(const TlModel *m, int64_t id, const TlShape **shape) {
  *shape = tl_shapes_find(m->shapes, id);
  if (*shape) return TL_OK;
  if (!m->source.get) return tl_fail(TL_EINPUT, "avatar %lld is not known", (long long)id);
  const TlAvatar *avatar = m->source.get(m->source.ctx, id);
  if (!avatar) return TL_EINPUT;
  TL_TRY(tl_shapes_add(m->shapes, id, avatar));
  *shape = tl_shapes_find(m->shapes, id);
  return TL_OK;
}
