/* Setting a run up: what the study names, found and put in place. */
#include "run/joints.h"
#include "run/checkpoint.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/advice.h"
#include "run/bodies.h"
#include "run/densities.h"
#include "run/ensemble.h"
#include "run/gis.h"
#include "run/materials.h"
#include "run/places.h"
#include "run/pour.h"
#include "run/plan.h"
#include "run/refusal.h"
#include "run/sense.h"
#include "run/step_problems.h"
#include "shape/avatar_shared.h"
#include "shape/terrain_rough.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A path of the study, from the study's folder unless absolute. */
static char *beside_study(const TlRun *run, const char *path) {
  if (path[0] == '/' || !strchr(run->options.study, '/')) return tl_strdup(path);
  char *folder = tl_path_directory(run->options.study);
  char *full = folder ? tl_path_join(folder, path) : NULL;
  tl_free(folder);
  return full;
}

static char *file_beside(void *run, const char *file) {
  return beside_study(run, file);
}

/* In the current folder, for a study may lie where nothing should be written (an installed one). */
static char *default_folder(const char *study) {
  const char *slash = strrchr(study, '/'), *name = slash ? slash + 1 : study;
  const char *dot = strrchr(name, '.');
  return tl_format("%.*s.run", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

static TlStatus absolute(const char *path, char **full) {
  char *real = realpath(path, NULL);
  if (!real) return tl_fail_errno(path, "cannot open");
  *full = tl_strdup(real);
  free(real); /* realpath's own */
  return *full ? TL_OK : TL_ENOMEM;
}

/* From a results folder: the study that was saved there, whose paths count from where it lay. */
static TlStatus read_study_text(TlRun *run) {
  TlRunOptions *o = &run->options;
  if (!run->checkpoint) {
    if (o->text) return tl_study_parse(&run->model->study, o->study, o->text, strlen(o->text));
    TL_TRY(tl_study_read(&run->model->study, o->study));
    return absolute(o->study, &run->study_path);
  }
  TL_TRY(tl_resume_study(run));
  o->study = run->study_path;
  o->output = run->folder;
  if (!o->catalog && run->catalog_path[0]) o->catalog = run->catalog_path;
  return TL_OK;
}

/* What one key says against another is told in its place, by whoever solves. */
static TlStatus check_solver(const TlRun *run, const TlSolverConfig *config) {
  TlModel *trial = NULL;
  TlStatus status = tl_model_new(&trial, config, (TlAvatarSource){0}, NULL, 0);
  tl_model_free(trial);
  return tl_run_refuse(run, status, "solver");
}

static TlStatus read_study(TlRun *run) {
  const TlRunOptions *o = &run->options;
  TL_TRY(read_study_text(run));
  for (int64_t i = 0; o->sets && i < o->sets->count; i++)
    TL_TRY(tl_study_set(&run->model->study, &tl_setup_schema, o->sets->items[i]));
  if (o->catalog) TL_TRY(tl_yaml_put(&run->model->study.root, "catalog", o->catalog));
  run->model->setup.wants_ensemble = o->ensemble;
  TL_TRY(tl_setup_fill(&run->model->setup, &run->model->study));
  if (run->model->setup.ensemble.count > 0 && !o->ensemble)
    return tl_study_fail(&run->model->study, TL_EINPUT, "ensemble.count",
                         "this study is an ensemble: talus-ensemble runs it; "
                         "ensemble.count: 0 makes it a run of its grains together");
  int most = tl_setup_method(&run->model->setup)->most_ranks;
  if (most > 0 && tl_comm_size(run->comm) > most)
    return tl_study_fail(&run->model->study, TL_EINPUT, "solver.method",
                         "this method works on %d rank%s; use etm-level on %d", most,
                         most == 1 ? "" : "s", tl_comm_size(run->comm));
  TL_TRY(tl_step_problems_check(run));
  if (!run->folder)
    run->folder = o->output                  ? tl_strdup(o->output)
                  : run->model->setup.output ? beside_study(run, run->model->setup.output)
                                             : default_folder(o->study);
  if (!run->folder) return TL_ENOMEM;
  return tl_sense_setup(&run->model->setup, &run->model->study);
}

/* What the study says, in the local frame and with what its files hold; then the parts that an
 * apparatus adds, which the effective study leaves out. */
static TlStatus settle_study(TlRun *run) {
  TL_TRY(tl_gis_read(&run->model->setup, &run->model->study,
                     run->model->has_terrain ? &run->model->terrain : NULL, file_beside, run));
  TL_TRY(tl_places_settle(&run->model->setup, &run->model->study,
                          run->model->has_terrain ? &run->model->terrain : NULL));
  TL_TRY(tl_study_write(&tl_setup_schema, &run->model->setup, &run->model->effective));
  if (run->options.ensemble)
    TL_TRY(tl_ensemble_expand(&run->model->setup, &run->model->study, &run->model->terrain));
  run->model->apparatus = tl_setup_apparatus(&run->model->setup);
  if (run->model->apparatus)
    TL_TRY(TL_NEW(run->state->apparatus, run->model->apparatus->state.bytes));
  run->model->platens = -tl_placed_count(&run->model->setup);
  TL_TRY(tl_apparatus_expand(&run->model->setup));
  run->model->platens += tl_placed_count(&run->model->setup);
  TL_TRY(tl_setup_materials(&run->model->setup, &run->model->materials));
  TL_TRY(tl_materials_check_laws(&run->model->setup, &run->model->materials, &run->model->study));
  TlSolverConfig config = tl_setup_solver(&run->model->setup);
  config.materials = &run->model->materials;
  return check_solver(run, &config);
}

static TlStatus keep_catalog_path(TlRun *run, const char *path) {
  char *full = NULL;
  TL_TRY(absolute(path, &full));
  if (run->options.catalog == run->catalog_path) run->options.catalog = full;
  tl_free(run->catalog_path);
  run->catalog_path = full;
  return TL_OK;
}

static TlStatus open_catalog(TlRun *run) {
  char text[1024];
  if (!run->model->setup.catalog) return TL_OK;
  char *path = run->options.catalog ? tl_strdup(run->model->setup.catalog)
                                    : beside_study(run, run->model->setup.catalog);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_catalog_open(&run->model->catalog, path, TL_CATALOG_READ);
  if (status == TL_OK) status = keep_catalog_path(run, path);
  tl_free(path);
  if (status == TL_OK || run->options.catalog) return status;
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(&run->model->study, TL_EINPUT, "catalog", "%s", text);
}

/* The terrain with a draw of its roughness; 0: the study's own. */
typedef struct Ground {
  const TlRun *run;
  int64_t draw;
  TlTerrain *terrain;
} Ground;

static TlStatus make_ground(void *it) {
  const Ground *g = it;
  const TlRunModel *m = g->run->model;
  const TlTerrainSetup *setup = &m->setup.terrain;
  int64_t seed = g->draw > 0 ? tl_ensemble_ground_seed(&m->setup, g->draw) : m->setup.seed;
  TL_TRY(tl_catalog_load_terrain(m->catalog, setup->name, g->terrain));
  if (!(setup->roughness_m > 0)) return TL_OK;
  TlStatus status = tl_terrain_roughen(g->terrain, setup->roughness_m, setup->roughness_spacing_m,
                                       (uint64_t)seed);
  if (status != TL_OK) tl_terrain_free(g->terrain);
  return status;
}

static void lay_out_ground(TlFlat *flat, void *it) {
  tl_terrain_lay_out(flat, ((Ground *)it)->terrain);
}

static void free_ground(void *it) {
  tl_terrain_free(((Ground *)it)->terrain);
}

static TlStatus load_ground(const TlRun *run, int64_t draw, TlTerrain *terrain) {
  static const TlSharedForm form = {make_ground, lay_out_ground, free_ground};
  Ground ground = {run, draw, terrain};
  bool there;
  return tl_shared_get(run->model->shared, draw, TL_SHARED_TERRAIN, true, &form, &ground, &there);
}

const TlTerrain *tl_run_ground(const TlRun *run, int64_t draw) {
  const TlRunModel *m = run->model;
  return draw > 0 && draw <= m->rough_count ? &m->rough[draw - 1] : &m->terrain;
}

static TlStatus load_grounds(TlRun *run) {
  TlRunModel *m = run->model;
  int64_t grounds =
      run->options.ensemble && m->setup.terrain.roughness_m > 0 ? m->setup.ensemble.grounds : 1;
  TL_TRY(load_ground(run, 0, &m->terrain));
  m->has_terrain = true;
  TL_TRY(TL_NEW(m->rough, (size_t)(grounds - 1)));
  for (int64_t d = 1; d < grounds; d++) {
    TL_TRY(load_ground(run, d, &m->rough[d - 1]));
    m->rough_count = d;
  }
  return TL_OK;
}

static TlStatus load_terrain(TlRun *run) {
  char text[1024];
  if (!run->model->setup.terrain.name) return TL_OK;
  TlStatus status = load_grounds(run);
  if (status != TL_EINPUT) return status;
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(&run->model->study, TL_EINPUT, "terrain.name", "%s", text);
}

static TlStatus make_boundaries(TlRun *run) {
  const TlPlaneSetup *planes = run->model->setup.planes.items;
  size_t n = (size_t)run->model->setup.planes.count;
  TL_TRY(TL_NEW(run->model->planes, n));
  TL_TRY(TL_NEW(run->model->plane_data, n));
  TL_TRY(TL_NEW(run->model->plane_surface, n));
  TL_TRY(
      tl_walls_open(&run->model->walls, &run->model->setup, &run->model->study, file_beside, run));
  TL_TRY(TL_NEW(run->model->boundaries, n + 1 + (size_t)run->model->walls.count));
  if (run->model->has_terrain) {
    TL_TRY(tl_ground_open(&run->model->ground, &run->model->setup, &run->model->study,
                          &run->model->terrain));
    run->model->boundaries[run->model->boundary_count++] = (TlBoundary){
        run->model->setup.terrain.contact == TL_TERRAIN_CONTACT_BAND ? &tl_boundary_terrain_band
                                                                     : &tl_boundary_terrain,
        &run->model->terrain, &run->model->ground.surface};
  }
  for (size_t i = 0; i < n; i++) {
    TlVec3 normal = tl_unit(tl_vec3_of(planes[i].normal));
    run->model->planes[i] = (TlPlane){tl_vec3_of(planes[i].point_m), normal};
    run->model->plane_data[i] = (TlBoundaryPlane){tl_vec3_of(planes[i].point_m), normal};
    run->model->plane_surface[i].material = tl_material_of_plane(&run->model->setup, (int64_t)i);
    run->model->boundaries[run->model->boundary_count++] =
        (TlBoundary){&tl_boundary_plane, &run->model->plane_data[i], &run->model->plane_surface[i]};
  }
  for (int i = 0; i < run->model->walls.count; i++)
    run->model->boundaries[run->model->boundary_count++] = run->model->walls.boundary[i];
  return TL_OK;
}

static TlStatus read_inputs(TlRun *run) {
  TL_TRY(read_study(run));
  return open_catalog(run);
}

/* What ranks of a machine hold in common: of each shape its avatar, what the search makes of it and its elements; the
 * terrain with all draws of its roughness. */
static TlStatus share(TlRun *run) {
  const TlGrainQuery all = {.with_border = true, .with_rejected = true};
  const TlSetup *setup = &run->model->setup;
  int64_t grains = 0;
  TlStatus status = TL_OK;
  if (tl_comm_size(run->comm) == 1) return TL_OK;
  if (run->model->catalog) status = tl_catalog_count_grains(run->model->catalog, &all, &grains);
  TL_TRY(tl_comm_agree(run->comm, status));
  return tl_shared_open(&run->model->shared, run->comm,
                        3 * (grains + setup->shapes.count) + setup->ensemble.grounds + 1);
}

static TlStatus make_parts(TlRun *run) {
  TL_TRY(load_terrain(run));
  TL_TRY(settle_study(run));
  const TlShapeFiles files = {file_beside, run, tl_comm_rank(run->comm) == 0};
  TL_TRY(tl_study_shapes_open(&run->model->shapes, &run->model->setup, &run->model->study, &files,
                              run->model->shared));
  if (run->options.ensemble) TL_TRY(tl_ensemble_heap(run));
  TL_TRY(tl_nets_open(&run->model->nets, &run->model->setup, &run->model->study));
  if (run->model->apparatus && run->model->apparatus->nets_open)
    run->model->apparatus->nets_open(run);
  return make_boundaries(run);
}

/* Grains far smaller than the ground's cells meet facets, not a slope: 1/20 is where the facets'
 * kinks stay below a grain's own roughness. */
static TlStatus check_scale(TlRun *run) {
  enum { CELLS = 20 };
  const TlEnsembleSetup *e = &run->model->setup.ensemble;
  if (run->options.ensemble && e->least_volume_m3 > 0) {
    double least = run->model->terrain.cell_m / CELLS;
    if (cbrt(6 * e->least_volume_m3 / M_PI) < least)
      return tl_study_fail(&run->model->study, TL_EINPUT, "ensemble.least_volume_m3",
                           "a block of %g m3 is %.2g m across, under 1/%d of the ground's cell of "
                           "%g m; %.1e m3 would fit, or a finer raster",
                           e->least_volume_m3, cbrt(6 * e->least_volume_m3 / M_PI), CELLS,
                           run->model->terrain.cell_m, 1.05 * M_PI / 6 * pow(least, 3));
  }
  if (run->model->selection.count == 0) return TL_OK;
  double diameter = run->model->selection.median_diameter_m,
         scale = run->model->setup.grains.grain_scale;
  double cell = run->model->has_terrain ? run->model->terrain.cell_m : 0,
         fit = cell / CELLS / diameter;
  if (scale == 1)
    tl_log_info("the median grain is %.4g m across", diameter);
  else
    tl_log_info(
        "grain_scale %g: grains are made %g times their scanned size, the median one %.4g m "
        "across",
        scale, scale, scale * diameter);
  if (scale >= fit) return TL_OK;
  double round = pow(10, floor(log10(fit)) - 1);
  return tl_study_fail(&run->model->study, TL_EINPUT, "grains.grain_scale",
                       "the median grain, %.4g m across at scale %g, is under 1/%d of the "
                       "terrain's cell of %g m; grain_scale: %g would fit",
                       scale * diameter, scale, CELLS, cell, ceil(fit / round) * round);
}

TlPlace tl_run_place(const TlRun *run) {
  return (TlPlace){.comm = run->comm,
                   .setup = &run->model->setup,
                   .study = &run->model->study,
                   .selection = &run->model->selection,
                   .terrain = run->model->has_terrain ? &run->model->terrain : NULL,
                   .shapes = &run->model->shapes,
                   .boundaries = run->model->boundaries,
                   .boundary_count = run->model->boundary_count};
}

static TlStatus make_grains(TlRun *run) {
  TlPlace place = tl_run_place(run);
  TL_TRY(tl_assembly_make(&place, &run->state->dem.bodies, &run->state->lifted_m));
  run->state->grains = run->state->dem.bodies.owned;
  TL_TRY(tl_comm_sum_int(run->comm, &run->state->grains, 1));
  int64_t first = run->model->setup.release.assembly == TL_ASSEMBLY_POURED
                      ? run->model->setup.release.count
                      : run->state->grains;
  run->first_placed = first;
  TL_TRY(tl_placed_make(&place, first, &run->state->dem.bodies));
  TL_TRY(tl_comm_agree(run->comm, tl_joints_make(run, first)));
  if (run->model->apparatus && run->model->apparatus->made)
    TL_TRY(tl_comm_agree(run->comm, run->model->apparatus->made(run, first)));
  run->state->grains += tl_placed_count(&run->model->setup);
  TL_TRY(tl_pour_open(run));
  TL_TRY(tl_nets_make(&run->model->nets, run->comm, &run->state->dem.bodies));
  TL_TRY(tl_comm_agree(run->comm, tl_bodies_check(&run->state->dem.bodies, 0)));
  TL_TRY(tl_dist_cut(run->dist, &run->state->dem.bodies));
  return tl_dist_migrate(run->dist, &run->state->dem.bodies, NULL);
}

static TlStatus place_grains(TlRun *run) {
  TL_TRY(tl_comm_agree(run->comm, tl_dist_new(&run->dist, run->comm)));
  run->dist->together = run->model->setup.reduction.split != TL_SPLIT_OFF;
  run->dist->look_every = run->model->setup.parallel.balance_every_steps;
  run->dist->imbalance = run->model->setup.parallel.imbalance;
  const TlSetup *s = &run->model->setup;
  run->first_placed = s->release.assembly == TL_ASSEMBLY_POURED ? s->release.count
                      : tl_setup_draws(s)                       ? -1
                                                                : 0;
  TL_TRY(run->checkpoint ? tl_resume_state(run) : make_grains(run));
  if (run->options.ensemble) run->first_placed = -1; /* its blocks are numbered otherwise */
  if (run->model->apparatus && run->model->apparatus->ready) run->model->apparatus->ready(run);
  return TL_OK;
}

TlStatus tl_run_new_solver(TlRun *run) {
  TlSolverConfig config = tl_setup_solver(&run->model->setup);
  config.materials = &run->model->materials;
  TlModel **model = &run->model->dem;
  TL_TRY(tl_model_new(model, &config, tl_avatars_source(&run->model->avatars),
                      run->model->boundaries, run->model->boundary_count));
  (*model)->shapes->shared = run->model->shared;
  TL_TRY(tl_study_shapes_register(&run->model->shapes, *model));
  TL_TRY(tl_run_refuse(run, tl_nets_register(&run->model->nets, *model), NULL));
  TL_TRY(tl_workspace_new(&run->work, *model));
  tl_workspace_keep_bonds(run->work, run->constraints.bonds);
  tl_workspace_audit(run->work, run->audit);
  return TL_OK;
}

void tl_run_free_solver(TlRun *run) {
  tl_workspace_free(run->work);
  run->work = NULL;
  tl_model_free(run->model->dem);
  run->model->dem = NULL;
}

TlStatus tl_run_refresh(TlRun *run) {
  return tl_step_refresh(run->model->dem, &run->state->dem, run->work, tl_dist_sync(run->dist));
}

/* Of the grains that are there; of poured ones, which come later, the median. */
static TlStatus smallest_grain(TlRun *run, double *diameter) {
  const TlBodies *b = &run->state->dem.bodies;
  double least = INFINITY; /* volume */
  TL_TRY(tl_run_refresh(run));
  for (int64_t i = 0; i < b->owned; i++)
    if (!(b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED)))
      least = fmin(least, tl_run_volume(run, i));
  TL_TRY(tl_comm_least(run->comm, &least, 1));
  *diameter = isfinite(least)
                  ? cbrt(6 * least / M_PI)
                  : run->model->setup.grains.grain_scale * run->model->selection.median_diameter_m;
  return TL_OK;
}

/* On ground of a named kind, whose values are those of rock; an ensemble says it of its own blocks. */
static TlStatus warn_of_density(TlRun *run) {
  const TlMaterials *m = &run->model->materials;
  const TlBodies *b = &run->state->dem.bodies;
  int64_t *blocks;
  if (run->options.ensemble || !tl_setup_has_ground(&run->model->setup)) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(blocks, (size_t)m->count)));
  for (int64_t i = 0; i < b->owned; i++)
    if (!(b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED)))
      blocks[b->colliders.material[b->first[i]]]++;
  TlStatus status = tl_comm_sum_int(run->comm, blocks, (size_t)m->count);
  for (int32_t k = 0; status == TL_OK && k < m->count; k++)
    tl_density_warn(&m->material[k], blocks[k]);
  tl_free(blocks);
  return status;
}

static TlStatus start_solver(TlRun *run) {
  run->state->dem.steps = run->state->totals.steps;
  TL_TRY(tl_comm_agree(run->comm, tl_run_new_solver(run)));
  TL_TRY(tl_comm_agree(run->comm, tl_controls_new(&run->controls, run->model->dem)));
  TL_TRY(tl_comm_agree(run->comm, tl_avatars_load(&run->model->avatars, run->model->dem,
                                                  &run->state->dem.bodies, 0)));
  double safe_s, diameter;
  TL_TRY(smallest_grain(run, &diameter));
  TL_TRY(tl_comm_agree(run->comm, tl_sense_step(&run->model->setup, &run->model->study, diameter)));
  TL_TRY(tl_safe_step(run, &safe_s));
  tl_safe_step_say(run, safe_s);
  TL_TRY(warn_of_density(run));
  TL_TRY(tl_shared_warn(run->model->shared, run->comm, &run->model->shared_warned));
  TL_TRY(tl_run_say_advice(run));
  return TL_OK;
}

/* A results folder in place of a study, to resume in. */
static TlStatus find_folder(TlRun *run) {
  const TlRunOptions *o = &run->options;
  if (!o->text && !o->resume && tl_is_folder(o->study)) {
    char *word = tl_text_for_shell(o->study);
    const char *folder = o->ensemble ? "" : word ? word : o->study;
    TlStatus status = tl_fail(TL_EUSAGE, "%s: is a folder, and a study is a file, STUDY.yaml%s%s%s",
                              o->study, o->ensemble ? "" : "; --resume ", folder,
                              o->ensemble ? "" : " continues the run of a folder of results");
    tl_free(word);
    return status;
  }
  if (!o->resume || !tl_is_folder(o->study)) return TL_OK;
  run->folder = tl_strdup(o->study);
  return run->folder ? TL_OK : TL_ENOMEM;
}

TlStatus tl_run_open(TlRun *run, TlComm *comm, const TlRunOptions *options) {
  *run = (TlRun){.comm = comm, .options = *options};
  TL_TRY(tl_comm_agree(comm, TL_NEW(run->model, 1)));
  TL_TRY(tl_comm_agree(comm, TL_NEW(run->state, 1)));
  TL_TRY(tl_comm_agree(comm, find_folder(run)));
  if (run->folder) TL_TRY(tl_resume_find(run));
  TL_TRY(tl_comm_agree(comm, read_inputs(run)));
  TL_TRY(share(run));
  TL_TRY(tl_comm_agree(comm, make_parts(run)));
  tl_cells_open(run);
  if (options->resume && !run->checkpoint) TL_TRY(tl_resume_find(run));
  if (options->resume) TL_TRY(tl_comm_agree(comm, tl_resume_check(run)));
  TL_TRY(tl_selection_open(&run->model->selection, comm, run->model->catalog, &run->model->shapes,
                           &run->model->study));
  TL_TRY(tl_comm_agree(comm, check_scale(run)));
  run->model->avatars.catalog = run->model->catalog;
  run->model->avatars.shapes = &run->model->shapes;
  run->model->avatars.nets = &run->model->nets;
  run->model->avatars.shared = run->model->shared;
  run->model->avatars.nodes_every = tl_setup_choice(&run->model->setup).nodes_every;
  TL_TRY(place_grains(run));
  TL_TRY(start_solver(run));
  return run->checkpoint ? tl_comm_agree(comm, tl_resume_shapes(run)) : TL_OK;
}

static void free_model(TlRunModel *m) {
  if (!m) return;
  tl_model_free(m->dem);
  tl_avatars_free(&m->avatars);
  tl_selection_free(&m->selection);
  tl_study_shapes_free(&m->shapes);
  tl_shared_close(m->shared);
  tl_nets_close(&m->nets);
  if (m->has_terrain) tl_terrain_free(&m->terrain);
  for (int64_t i = 0; i < m->rough_count; i++) tl_terrain_free(&m->rough[i]);
  tl_free(m->rough);
  tl_catalog_close(m->catalog);
  tl_free(m->planes);
  tl_free(m->plane_data);
  tl_free(m->plane_surface);
  tl_materials_free(&m->materials);
  tl_free(m->boundaries);
  tl_walls_free(&m->walls);
  tl_ground_free(&m->ground);
  tl_free(m->effective);
  tl_setup_free(&m->setup);
  tl_study_free(&m->study);
  tl_free(m);
}

void tl_run_state_free(TlRunState *s) {
  if (!s) return;
  tl_state_free(&s->dem);
  tl_free(s->apparatus);
  tl_free(s);
}

TlStatus tl_run_state_copy(TlRunState **copy, const TlRunState *from, const TlRunModel *model) {
  TlRunState *s;
  TL_TRY(TL_NEW(s, 1));
  *s = *from;
  s->dem = (TlState){.steps = from->dem.steps, .sleep_key = from->dem.sleep_key};
  s->apparatus = NULL;
  TlStatus status = tl_bodies_copy(&s->dem.bodies, &from->dem.bodies);
  if (status == TL_OK && model->apparatus) {
    status = TL_NEW(s->apparatus, model->apparatus->state.bytes);
    if (status == TL_OK) memcpy(s->apparatus, from->apparatus, model->apparatus->state.bytes);
  }
  if (status != TL_OK) tl_run_state_free(s);
  if (status == TL_OK) *copy = s;
  return status;
}

void tl_run_close(TlRun *run) {
  tl_output_close(&run->output);
  tl_checkpoint_close(run->checkpoint);
  tl_workspace_free(run->work);
  tl_controls_free(&run->controls);
  tl_run_state_free(run->state);
  tl_dist_free(run->dist);
  tl_free(run->audit);
  tl_free(run->later.items);
  tl_free(run->boundary_force);
  tl_free(run->constraints.row);
  tl_contacts_free(&run->contacts);
  tl_cells_free(&run->cells);
  free_model(run->model);
  tl_free(run->study_path);
  tl_free(run->catalog_path);
  tl_free(run->folder);
  *run = (TlRun){0};
}
