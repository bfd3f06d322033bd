/* Setting a run up: what the study names, found and put in place. */
#include "run/checkpoint.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/bodies.h"
#include "run/materials.h"
#include "run/pour.h"
#include "run/safe_step.h"
#include "run/sense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A path of the study, from the study's folder unless absolute. */
static char *beside_study(const TlRun *run, const char *path) {
  if (path[0] == '/' || !strchr(run->options.study, '/')) return tl_strdup(path);
  char *folder = tl_path_directory(run->options.study);
  char *full = folder ? tl_path_join(folder, path) : NULL;
  tl_free(folder);
  return full;
}

/* In the current folder, for a study may lie where nothing should be written (an installed one). */
static char *default_folder(const char *study) {
  const char *slash = strrchr(study, '/'), *name = slash ? slash + 1 : study;
  const char *dot = strrchr(name, '.');
  return tl_format("%.*s.run", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
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
    TL_TRY(tl_study_read(&run->study, o->study));
    return absolute(o->study, &run->study_path);
  }
  TL_TRY(tl_resume_study(run));
  o->study = run->study_path;
  o->output = run->folder;
  if (!o->catalog && run->catalog_path[0]) o->catalog = run->catalog_path;
  return TL_OK;
}

/* What one key says against another is told at the section's place, by whoever solves. */
static TlStatus check_solver(const TlRun *run, const TlSolverConfig *config) {
  TlSolver *trial = NULL;
  TlStatus status = tl_solver_new(&trial, config, (TlAvatarSource){0}, NULL, 0, NULL);
  tl_solver_free(trial);
  if (status != TL_EUSAGE) return status;
  char text[1024];
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(&run->study, TL_EINPUT, "solver", "%s", text);
}

static TlStatus read_study(TlRun *run) {
  const TlRunOptions *o = &run->options;
  TL_TRY(read_study_text(run));
  for (int64_t i = 0; o->sets && i < o->sets->count; i++)
    TL_TRY(tl_study_set(&run->study, &tl_setup_schema, o->sets->items[i]));
  if (o->catalog) TL_TRY(tl_yaml_put(&run->study.root, "catalog", o->catalog));
  TL_TRY(tl_setup_fill(&run->setup, &run->study));
  int most = tl_setup_method(&run->setup)->most_ranks;
  if (most > 0 && tl_comm_size(run->comm) > most)
    return tl_study_fail(&run->study, TL_EINPUT, "solver.method",
                         "this method works on %d rank%s; use etm-level on %d", most,
                         most == 1 ? "" : "s", tl_comm_size(run->comm));
  if (!run->folder)
    run->folder = o->output           ? tl_strdup(o->output)
                  : run->setup.output ? beside_study(run, run->setup.output)
                                      : default_folder(o->study);
  if (!run->folder) return TL_ENOMEM;
  TL_TRY(tl_sense_setup(&run->setup, &run->study));
  TL_TRY(tl_study_write(&tl_setup_schema, &run->setup, &run->effective));
  run->apparatus = tl_setup_apparatus(&run->setup);
  if (run->apparatus) TL_TRY(TL_NEW(run->apparatus_state, run->apparatus->state_bytes));
  TL_TRY(tl_apparatus_expand(&run->setup));
  TlSolverConfig config = tl_setup_solver(&run->setup);
  TL_TRY(tl_setup_materials(&run->setup, &config, &run->materials));
  config.materials = &run->materials;
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
  if (!run->setup.catalog) return TL_OK;
  char *path =
      run->options.catalog ? tl_strdup(run->setup.catalog) : beside_study(run, run->setup.catalog);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_catalog_open(&run->catalog, path, TL_CATALOG_READ);
  if (status == TL_OK) status = keep_catalog_path(run, path);
  tl_free(path);
  if (status == TL_OK || run->options.catalog) return status;
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(&run->study, TL_EINPUT, "catalog", "%s", text);
}

static TlStatus load_terrain(TlRun *run) {
  char text[1024];
  if (!run->setup.terrain.name) return TL_OK;
  TlStatus status = tl_catalog_load_terrain(run->catalog, run->setup.terrain.name, &run->terrain);
  run->has_terrain = status == TL_OK;
  if (status != TL_EINPUT) return status;
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(&run->study, TL_EINPUT, "terrain.name", "%s", text);
}

static char *file_beside(void *run, const char *file) {
  return beside_study(run, file);
}

static TlStatus make_boundaries(TlRun *run) {
  const TlPlaneSetup *planes = run->setup.planes.items;
  size_t n = (size_t)run->setup.planes.count;
  TL_TRY(TL_NEW(run->planes, n));
  TL_TRY(TL_NEW(run->plane_data, n));
  TL_TRY(TL_NEW(run->plane_surface, n));
  TL_TRY(tl_walls_open(&run->walls, &run->setup, &run->study, file_beside, run));
  TL_TRY(TL_NEW(run->boundaries, n + 1 + (size_t)run->walls.count));
  if (run->has_terrain) {
    TL_TRY(tl_ground_open(&run->ground, &run->setup, &run->study, &run->terrain));
    run->boundaries[run->boundary_count++] =
        (TlBoundary){&tl_boundary_terrain, &run->terrain, &run->ground.surface};
  }
  for (size_t i = 0; i < n; i++) {
    TlVec3 normal = tl_unit(tl_vec3_of(planes[i].normal));
    run->planes[i] = (TlPlane){tl_vec3_of(planes[i].point_m), normal};
    run->plane_data[i] = (TlBoundaryPlane){tl_vec3_of(planes[i].point_m), normal};
    run->plane_surface[i].material = tl_material_of_plane(&run->setup, (int64_t)i);
    run->boundaries[run->boundary_count++] =
        (TlBoundary){&tl_boundary_plane, &run->plane_data[i], &run->plane_surface[i]};
  }
  for (int i = 0; i < run->walls.count; i++)
    run->boundaries[run->boundary_count++] = run->walls.boundary[i];
  return TL_OK;
}

static TlStatus read_inputs(TlRun *run) {
  TL_TRY(read_study(run));
  TL_TRY(open_catalog(run));
  const TlShapeFiles files = {file_beside, run, tl_comm_rank(run->comm) == 0};
  TL_TRY(tl_study_shapes_open(&run->shapes, &run->setup, &run->study, &files));
  TL_TRY(tl_nets_open(&run->nets, &run->setup, &run->study));
  if (run->apparatus && run->apparatus->nets_open) run->apparatus->nets_open(run);
  TL_TRY(load_terrain(run));
  if (run->has_terrain) TL_TRY(tl_sense_places(&run->setup, &run->study, &run->terrain));
  return make_boundaries(run);
}

/* Grains far smaller than the ground's cells meet facets, not a slope: 1/20 is where the facets'
 * kinks stay below a grain's own roughness. */
static TlStatus check_scale(TlRun *run) {
  enum { CELLS = 20 };
  if (run->selection.count == 0) return TL_OK;
  double diameter = run->selection.median_diameter_m, scale = run->setup.grains.grain_scale;
  double cell = run->has_terrain ? run->terrain.cell_m : 0, fit = cell / CELLS / diameter;
  tl_log_info("grain_scale %g: grains are made %g times their scanned size, median diameter %.4g m",
              scale, scale, scale * diameter);
  if (scale >= fit) return TL_OK;
  double round = pow(10, floor(log10(fit)) - 1);
  return tl_study_fail(&run->study, TL_EINPUT, "grains.grain_scale",
                       "the median grain, %.4g m across at scale %g, is under 1/%d of the "
                       "terrain's cell of %g m; grain_scale: %g would fit",
                       scale * diameter, scale, CELLS, cell, ceil(fit / round) * round);
}

TlPlace tl_run_place(const TlRun *run) {
  return (TlPlace){.comm = run->comm,
                   .setup = &run->setup,
                   .study = &run->study,
                   .selection = &run->selection,
                   .terrain = run->has_terrain ? &run->terrain : NULL,
                   .shapes = &run->shapes,
                   .boundaries = run->boundaries,
                   .boundary_count = run->boundary_count};
}

static TlStatus make_grains(TlRun *run) {
  TlPlace place = tl_run_place(run);
  TL_TRY(tl_assembly_make(&place, &run->bodies, &run->lifted_m));
  run->grains = run->bodies.owned;
  TL_TRY(tl_comm_sum_int(run->comm, &run->grains, 1));
  int64_t first =
      run->setup.release.assembly == TL_ASSEMBLY_POURED ? run->setup.release.count : run->grains;
  TL_TRY(tl_placed_make(&place, first, &run->bodies));
  if (run->apparatus && run->apparatus->made) run->apparatus->made(run, first);
  run->grains += tl_placed_count(&run->setup);
  TL_TRY(tl_pour_open(run));
  TL_TRY(tl_nets_make(&run->nets, run->comm, &run->bodies));
  TL_TRY(tl_dist_cut(run->dist, &run->bodies));
  return tl_dist_migrate(run->dist, &run->bodies, NULL);
}

static TlStatus place_grains(TlRun *run) {
  TL_TRY(tl_comm_agree(run->comm, tl_dist_new(&run->dist, run->comm)));
  TL_TRY(run->checkpoint ? tl_resume_state(run) : make_grains(run));
  if (run->apparatus && run->apparatus->ready) run->apparatus->ready(run);
  return TL_OK;
}

TlStatus tl_run_new_solver(TlRun *run) {
  TlSolverConfig config = tl_setup_solver(&run->setup);
  config.materials = &run->materials;
  TL_TRY(tl_solver_new(&run->solver, &config, tl_avatars_source(&run->avatars), run->boundaries,
                       run->boundary_count, tl_dist_sync(run->dist)));
  tl_solver_set_steps(run->solver, run->totals.steps);
  TL_TRY(tl_study_shapes_register(&run->shapes, run->solver));
  return tl_nets_register(&run->nets, run->solver);
}

/* Of the grains that are there; of poured ones, which come later, the median. */
static TlStatus smallest_grain(TlRun *run, double *diameter) {
  const TlBodies *b = &run->bodies;
  double least = INFINITY; /* volume */
  TL_TRY(tl_solver_refresh(run->solver, &run->bodies));
  for (int64_t i = 0; i < b->owned; i++)
    if (!(b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED)))
      least = fmin(least, tl_run_volume(run, i));
  TL_TRY(tl_comm_least(run->comm, &least, 1));
  *diameter = isfinite(least) ? cbrt(6 * least / M_PI)
                              : run->setup.grains.grain_scale * run->selection.median_diameter_m;
  return TL_OK;
}

static TlStatus start_solver(TlRun *run) {
  TL_TRY(tl_comm_agree(run->comm, tl_run_new_solver(run)));
  TL_TRY(tl_comm_agree(run->comm, tl_avatars_load(&run->avatars, &run->bodies, 0)));
  double safe_s, diameter;
  TL_TRY(smallest_grain(run, &diameter));
  TL_TRY(tl_comm_agree(run->comm, tl_sense_step(&run->setup, &run->study, diameter)));
  TL_TRY(tl_safe_step(run, &safe_s));
  tl_safe_step_say(run, safe_s);
  return TL_OK;
}

/* A results folder in place of a study, to resume in. */
static TlStatus find_folder(TlRun *run) {
  const TlRunOptions *o = &run->options;
  if (!o->resume || !is_folder(o->study)) return TL_OK;
  run->folder = tl_strdup(o->study);
  return run->folder ? TL_OK : TL_ENOMEM;
}

TlStatus tl_run_open(TlRun *run, TlComm *comm, const TlRunOptions *options) {
  *run = (TlRun){.comm = comm, .options = *options};
  TL_TRY(tl_comm_agree(comm, find_folder(run)));
  if (run->folder) TL_TRY(tl_resume_find(run));
  TL_TRY(tl_comm_agree(comm, read_inputs(run)));
  if (options->resume && !run->checkpoint) TL_TRY(tl_resume_find(run));
  if (options->resume) TL_TRY(tl_comm_agree(comm, tl_resume_check(run)));
  TL_TRY(tl_selection_open(&run->selection, comm, run->catalog, &run->shapes, &run->study));
  TL_TRY(tl_comm_agree(comm, check_scale(run)));
  run->avatars.catalog = run->catalog;
  run->avatars.shapes = &run->shapes;
  run->avatars.nets = &run->nets;
  run->avatars.nodes_every = tl_setup_choice(&run->setup).nodes_every;
  TL_TRY(place_grains(run));
  TL_TRY(start_solver(run));
  return run->checkpoint ? tl_comm_agree(comm, tl_resume_shapes(run)) : TL_OK;
}

void tl_run_close(TlRun *run) {
  tl_output_close(&run->output);
  tl_checkpoint_close(run->checkpoint);
  tl_solver_free(run->solver);
  tl_bodies_free(&run->bodies);
  tl_dist_free(run->dist);
  tl_avatars_free(&run->avatars);
  tl_selection_free(&run->selection);
  tl_study_shapes_free(&run->shapes);
  tl_nets_close(&run->nets);
  if (run->has_terrain) tl_terrain_free(&run->terrain);
  tl_catalog_close(run->catalog);
  tl_free(run->apparatus_state);
  tl_free(run->later.items);
  tl_free(run->planes);
  tl_free(run->plane_data);
  tl_free(run->plane_surface);
  tl_materials_free(&run->materials);
  tl_free(run->boundaries);
  tl_free(run->boundary_force);
  tl_contacts_free(&run->contacts);
  tl_walls_free(&run->walls);
  tl_ground_free(&run->ground);
  tl_free(run->effective);
  tl_free(run->study_path);
  tl_free(run->catalog_path);
  tl_free(run->folder);
  tl_setup_free(&run->setup);
  tl_study_free(&run->study);
  *run = (TlRun){0};
}
