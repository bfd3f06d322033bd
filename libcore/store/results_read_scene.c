/* The scene of a run: run.h5. The functions that know HDF5 run in the sandbox (base/sandbox.h). */
#include "store/results_layout.h"

#include "base/file.h"
#include "base/h5_library.h"
#include "base/mem.h"
#include "base/sandbox.h"

#include <stdlib.h>
#include <string.h>

void tl_scene_free(TlScene *scene) {
  tl_free(scene->study);
  tl_free(scene->title);
  tl_free(scene->provenance);
  for (int64_t i = 0; scene->avatars && i < scene->avatar_count; i++)
    tl_avatar_free(&scene->avatars[i]);
  tl_free(scene->avatars);
  tl_terrain_free(&scene->terrain);
  tl_materials_free(&scene->materials);
  tl_free(scene->planes);
  tl_free(scene->parts);
  tl_free(scene->table_time_s);
  tl_free(scene->table_displacement_m);
  *scene = (TlScene){0};
}

TlPlacement tl_scene_place(const TlScene *scene, const TlWallPart *part, const TlFrame *frame) {
  return tl_drive_place(&part->drive, frame->step, frame->step, scene->step_s);
}

TlStatus tl_scene_density(const TlScene *scene, const TlBodyRow *row, double *density_kg_m3) {
  const TlMaterials *m = &scene->materials;
  *density_kg_m3 = scene->density_kg_m3;
  if (m->count == 0) return TL_OK;
  if (row->material < 0 || row->material >= m->count)
    return tl_fail(TL_EINPUT, "body %lld is of material %d, which is not in run.h5",
                   (long long)row->id, (int)row->material);
  *density_kg_m3 = m->material[row->material].density_kg_m3;
  return TL_OK;
}

const TlAvatar *tl_scene_avatar(const TlScene *scene, int64_t id) {
  int64_t low = 0, high = scene->avatar_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (scene->avatars[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < scene->avatar_count && scene->avatars[low].id == id ? &scene->avatars[low] : NULL;
}

/* ---- run.h5, in the sandbox ---- */

typedef struct Job {
  TlH5File file;
  TlScene scene;
  /* as they lie in the file; of the scene itself when they have been checked */
  TlPartRow *parts;
  int64_t part_rows, table_rows;
  TlMaterial *materials;
  TlPairRow *pairs;
  int64_t material_rows, pair_rows;
} Job;

static TlStatus read_numbers(const TlH5File *f, TlScene *scene) {
  TL_TRY(tl_h5_read_text(f, f->id, "study", &scene->study));
  TL_TRY(tl_h5_read_text(f, f->id, "title", &scene->title));
  TL_TRY(tl_h5_read_text(f, f->id, "provenance", &scene->provenance));
  TL_TRY(tl_h5_get_real(f, f->id, "grain_scale", &scene->grain_scale, 1));
  scene->ranks_matter = H5Aexists(f->id, "ranks_matter") > 0; /* only where they do */
  TL_TRY(tl_h5_get_real(f, f->id, "density_kg_m3", &scene->density_kg_m3, 1));
  TL_TRY(tl_h5_get_real(f, f->id, "gravity_m_s2", scene->gravity_m_s2, 3));
  TL_TRY(tl_h5_get_real(f, f->id, "step_s", &scene->step_s, 1));
  return tl_h5_get_int(f, f->id, "body_count", &scene->body_count);
}

static TlStatus read_planes(const TlH5File *f, TlScene *scene) {
  hid_t type = H5T_NATIVE_DOUBLE;
  TL_TRY(tl_h5_array_rows(f, f->id, "plane_point_m", &scene->plane_count));
  TL_TRY(TL_NEW(scene->planes, (size_t)scene->plane_count));
  for (int64_t i = 0; i < scene->plane_count; i++) {
    TlPlane *plane = &scene->planes[i];
    TL_TRY(tl_h5_array_read(f, f->id, "plane_point_m", type, 3, i, &plane->point_m, 1));
    TL_TRY(tl_h5_array_read(f, f->id, "plane_normal", type, 3, i, &plane->normal, 1));
  }
  return TL_OK;
}

static TlStatus read_tables(const TlH5File *f, hid_t g, TlScene *scene, int64_t *n) {
  hid_t type = H5T_NATIVE_DOUBLE;
  TL_TRY(tl_h5_array_rows(f, g, "table_time_s", n));
  TL_TRY(TL_NEW(scene->table_time_s, (size_t)*n));
  TL_TRY(TL_NEW(scene->table_displacement_m, (size_t)*n));
  TL_TRY(tl_h5_array_read(f, g, "table_time_s", type, 1, 0, scene->table_time_s, *n));
  return tl_h5_array_read(f, g, "table_way_m", type, 3, 0, scene->table_displacement_m, *n);
}

static TlStatus read_parts(const TlH5File *f, hid_t g, Job *j) {
  TL_TRY(read_tables(f, g, &j->scene, &j->table_rows));
  TL_TRY(tl_h5_array_rows(f, g, "kind", &j->part_rows));
  TL_TRY(TL_NEW(j->parts, (size_t)j->part_rows));
  return tl_h5_columns_read(f, g, tl_part_columns, TL_PART_COLUMNS, j->parts, sizeof *j->parts,
                            j->part_rows);
}

/* Runs without walls, and those of before walls were kept, have no such group. */
static TlStatus read_walls(const TlH5File *f, Job *j) {
  bool there;
  TL_TRY(tl_context(tl_h5_has(f->id, "wall", &there), "%s", f->name));
  if (!there) return TL_OK;
  TL_H5_OWNED hid_t g = H5Gopen2(f->id, "wall", H5P_DEFAULT);
  return g < 0 ? tl_h5_fail(f, "opening the walls' group") : read_parts(f, g, j);
}

static TlStatus read_names(const TlH5File *f, hid_t g, Job *j) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, TL_MATERIAL_NAME);
  H5Tset_cset(type, H5T_CSET_UTF8);
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < j->material_rows; i++)
    status = tl_h5_array_read(f, g, "name", type, 1, i, j->materials[i].name, 1);
  H5Tclose(type);
  for (int64_t i = 0; i < j->material_rows; i++) j->materials[i].name[TL_MATERIAL_NAME - 1] = 0;
  return status;
}

/* Runs of before materials were kept have no such groups. */
static TlStatus read_materials(const TlH5File *f, Job *j) {
  bool there;
  TL_TRY(tl_context(tl_h5_has(f->id, "material", &there), "%s", f->name));
  if (!there) return TL_OK;
  TL_H5_OWNED hid_t g = H5Gopen2(f->id, "material", H5P_DEFAULT);
  TL_H5_OWNED hid_t p = H5Gopen2(f->id, "pair", H5P_DEFAULT);
  if (g < 0 || p < 0) return tl_h5_fail(f, "opening the groups of materials and pairs");
  TL_TRY(tl_h5_array_rows(f, g, "density_kg_m3", &j->material_rows));
  TL_TRY(tl_h5_array_rows(f, p, "first", &j->pair_rows));
  TL_TRY(TL_NEW(j->materials, (size_t)j->material_rows));
  TL_TRY(TL_NEW(j->pairs, (size_t)j->pair_rows));
  TL_TRY(read_names(f, g, j));
  TL_TRY(tl_h5_columns_read(f, g, tl_material_columns, TL_MATERIAL_COLUMNS, j->materials,
                            sizeof *j->materials, j->material_rows));
  return tl_h5_columns_read(f, p, tl_pair_columns, TL_PAIR_COLUMNS, j->pairs, sizeof *j->pairs,
                            j->pair_rows);
}

static TlStatus read_terrain_numbers(const TlH5File *f, hid_t g, TlTerrain *t) {
  TL_TRY(tl_h5_read_text(f, g, "name", &t->name));
  TL_TRY(tl_h5_read_text(f, g, "crs", &t->crs));
  TL_TRY(tl_h5_get_int(f, g, "id", &t->id));
  TL_TRY(tl_h5_get_int(f, g, "nx", &t->nx));
  TL_TRY(tl_h5_get_int(f, g, "ny", &t->ny));
  TL_TRY(tl_h5_get_int(f, g, "bnx", &t->bnx));
  TL_TRY(tl_h5_get_int(f, g, "bny", &t->bny));
  TL_TRY(tl_h5_get_int(f, g, "holes_filled", &t->holes_filled));
  if (H5Aexists(g, "refined") > 0) TL_TRY(tl_h5_get_int(f, g, "refined", &t->refined));
  TL_TRY(tl_h5_get_real(f, g, "origin", t->origin, 3));
  TL_TRY(tl_h5_get_real(f, g, "cell_m", &t->cell_m, 1));
  TL_TRY(tl_h5_get_real(f, g, "x0_m", &t->x0_m, 1));
  TL_TRY(tl_h5_get_real(f, g, "y0_m", &t->y0_m, 1));
  TL_TRY(tl_h5_get_real(f, g, "band_m", &t->band_m, 1));
  TL_TRY(tl_h5_get_real(f, g, "band_spacing_m", &t->band_spacing_m, 1));
  return tl_h5_get_real(f, g, "z0_m", &t->z0_m, 1);
}

static TlStatus read_terrain_arrays(const TlH5File *f, hid_t g, TlTerrain *t) {
  int64_t cells, columns;
  TL_TRY(tl_h5_array_rows(f, g, "band_phi", &t->band_count));
  TL_TRY(tl_context(tl_terrain_check_numbers(t, &cells, &columns), "%s: the terrain", f->name));
  TL_TRY(TL_NEW(t->height_m, (size_t)cells));
  TL_TRY(TL_NEW(t->k_low, (size_t)columns));
  TL_TRY(TL_NEW(t->k_count, (size_t)columns));
  TL_TRY(TL_NEW(t->start, (size_t)columns));
  TL_TRY(TL_NEW(t->band_phi, (size_t)t->band_count));
  TL_TRY(tl_h5_array_read(f, g, "height_m", H5T_NATIVE_FLOAT, 1, 0, t->height_m, cells));
  bool filled; /* runs over whole rasters, and those of before it was kept, do not have it */
  TL_TRY(tl_context(tl_h5_has(g, "filled", &filled), "%s", f->name));
  if (filled) {
    TL_TRY(TL_NEW(t->filled, (size_t)cells));
    TL_TRY(tl_h5_array_read(f, g, "filled", H5T_NATIVE_UINT8, 1, 0, t->filled, cells));
  }
  TL_TRY(tl_h5_array_read(f, g, "k_low", H5T_NATIVE_INT32, 1, 0, t->k_low, columns));
  TL_TRY(tl_h5_array_read(f, g, "k_count", H5T_NATIVE_INT32, 1, 0, t->k_count, columns));
  TL_TRY(tl_h5_array_read(f, g, "start", H5T_NATIVE_INT64, 1, 0, t->start, columns));
  return tl_h5_array_read(f, g, "band_phi", H5T_NATIVE_FLOAT, 1, 0, t->band_phi, t->band_count);
}

static TlStatus read_terrain(const TlH5File *f, TlScene *scene) {
  TL_TRY(tl_context(tl_h5_has(f->id, "terrain", &scene->has_terrain), "%s", f->name));
  if (!scene->has_terrain) return TL_OK;
  TL_H5_OWNED hid_t g = H5Gopen2(f->id, "terrain", H5P_DEFAULT);
  if (g < 0) return tl_h5_fail(f, "opening the terrain's group");
  TL_TRY(read_terrain_numbers(f, g, &scene->terrain));
  return read_terrain_arrays(f, g, &scene->terrain);
}

static TlStatus read_avatar(const TlH5File *f, hid_t g, const TlAvatarRow *row, TlAvatar *a) {
  hid_t type = H5T_NATIVE_FLOAT;
  int64_t points, nodes = row->avatar.node_count;
  *a = row->avatar;
  a->phi = a->node_m = a->node_area_m2 = NULL;
  a->border = row->border != 0;
  TL_TRY(tl_context(tl_avatar_check_numbers(a, &points), "%s: avatar %lld", f->name,
                    (long long)a->id));
  TL_TRY(TL_NEW(a->phi, (size_t)points));
  TL_TRY(TL_NEW(a->node_m, (size_t)(3 * nodes)));
  TL_TRY(TL_NEW(a->node_area_m2, (size_t)nodes));
  TL_TRY(tl_h5_array_read(f, g, "phi_m", type, 1, row->phi_start, a->phi, points));
  TL_TRY(tl_h5_array_read(f, g, "node_m", type, 3, row->node_start, a->node_m, nodes));
  return tl_h5_array_read(f, g, "node_area_m2", type, 1, row->node_start, a->node_area_m2, nodes);
}

static int by_avatar_id(const void *one, const void *two) {
  int64_t a = ((const TlAvatarRow *)one)->avatar.id, b = ((const TlAvatarRow *)two)->avatar.id;
  return (a > b) - (a < b);
}

static TlStatus read_avatar_rows(const TlH5File *f, hid_t g, TlScene *scene) {
  int64_t n;
  TlAvatarRow *rows;
  TL_TRY(tl_h5_array_rows(f, g, "id", &n));
  TL_TRY(TL_NEW(rows, (size_t)n));
  TlStatus status =
      tl_h5_columns_read(f, g, tl_avatar_columns, TL_AVATAR_COLUMNS, rows, sizeof *rows, n);
  if (status == TL_OK) status = TL_NEW(scene->avatars, (size_t)n);
  if (status == TL_OK) {
    scene->avatar_count = n;
    qsort(rows, (size_t)n, sizeof *rows, by_avatar_id);
  }
  for (int64_t i = 0; status == TL_OK && i < n; i++)
    status = read_avatar(f, g, &rows[i], &scene->avatars[i]);
  tl_free(rows);
  return status;
}

static TlStatus read_run(const char *path, void *of) {
  Job *j = of;
  const TlH5File *f = &j->file;
  TL_TRY(tl_h5_open(&j->file, path));
  TL_TRY(tl_h5_check_format(f, "talus run", TL_RESULTS_FORMAT));
  TL_TRY(read_numbers(f, &j->scene));
  TL_TRY(read_planes(f, &j->scene));
  TL_TRY(read_walls(f, j));
  TL_TRY(read_materials(f, j));
  TL_TRY(read_terrain(f, &j->scene));
  TL_H5_OWNED hid_t g = H5Gopen2(f->id, "avatar", H5P_DEFAULT);
  if (g < 0) return tl_fail(TL_EINPUT, "%s: has no group 'avatar'", f->name);
  return read_avatar_rows(f, g, &j->scene);
}

/* ---- from there to the caller ---- */

static TlStatus tell_numbers(TlSandbox *s, TlScene *scene) {
  uint8_t terrain = scene->has_terrain, ranks_matter = scene->ranks_matter;
  TL_TRY(tl_sandbox_pass_text(s, &scene->study));
  TL_TRY(tl_sandbox_pass_text(s, &scene->title));
  TL_TRY(tl_sandbox_pass_text(s, &scene->provenance));
  TL_TRY(tl_sandbox_pass(s, &scene->grain_scale, sizeof scene->grain_scale));
  TL_TRY(tl_sandbox_pass(s, &scene->density_kg_m3, sizeof scene->density_kg_m3));
  TL_TRY(tl_sandbox_pass(s, scene->gravity_m_s2, sizeof scene->gravity_m_s2));
  TL_TRY(tl_sandbox_pass(s, &scene->step_s, sizeof scene->step_s));
  TL_TRY(tl_sandbox_pass(s, &scene->body_count, sizeof scene->body_count));
  TL_TRY(tl_sandbox_pass(s, &terrain, sizeof terrain));
  TL_TRY(tl_sandbox_pass(s, &ranks_matter, sizeof ranks_matter));
  scene->has_terrain = terrain != 0;
  scene->ranks_matter = ranks_matter != 0;
  TL_TRY(tl_sandbox_pass(s, &scene->plane_count, sizeof scene->plane_count));
  return TL_SANDBOX_PASS_ARRAY(s, scene->planes, scene->plane_count);
}

static TlStatus tell_walls(TlSandbox *s, Job *j) {
  TL_TRY(tl_sandbox_pass(s, &j->table_rows, sizeof j->table_rows));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, j->scene.table_time_s, j->table_rows));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, j->scene.table_displacement_m, j->table_rows));
  TL_TRY(tl_sandbox_pass(s, &j->part_rows, sizeof j->part_rows));
  return TL_SANDBOX_PASS_ARRAY(s, j->parts, j->part_rows);
}

static TlStatus tell_materials(TlSandbox *s, Job *j) {
  TL_TRY(tl_sandbox_pass(s, &j->material_rows, sizeof j->material_rows));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, j->materials, j->material_rows));
  TL_TRY(tl_sandbox_pass(s, &j->pair_rows, sizeof j->pair_rows));
  return TL_SANDBOX_PASS_ARRAY(s, j->pairs, j->pair_rows);
}

/* A struct goes over whole; the pointers in it mean nothing there and are those of this side. */
static TlStatus tell_terrain(TlSandbox *s, TlTerrain *t) {
  int64_t cells, columns;
  uint8_t filled = t->filled != NULL;
  TlTerrain numbers = *t;
  TL_TRY(tl_sandbox_pass(s, &numbers, sizeof numbers));
  TL_TRY(tl_sandbox_pass(s, &filled, sizeof filled));
  numbers.name = t->name;
  numbers.crs = t->crs;
  numbers.height_m = t->height_m;
  numbers.class_id = t->class_id;
  numbers.filled = t->filled;
  numbers.k_low = t->k_low;
  numbers.k_count = t->k_count;
  numbers.start = t->start;
  numbers.band_phi = t->band_phi;
  *t = numbers;
  TL_TRY(tl_terrain_check_numbers(t, &cells, &columns));
  TL_TRY(tl_sandbox_pass_text(s, &t->name));
  TL_TRY(tl_sandbox_pass_text(s, &t->crs));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, t->height_m, cells));
  if (filled) TL_TRY(TL_SANDBOX_PASS_ARRAY(s, t->filled, cells));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, t->k_low, columns));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, t->k_count, columns));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, t->start, columns));
  return TL_SANDBOX_PASS_ARRAY(s, t->band_phi, t->band_count);
}

static TlStatus tell_avatar(TlSandbox *s, TlAvatar *a) {
  int64_t points;
  uint8_t border = a->border;
  TlAvatar numbers = *a;
  TL_TRY(tl_sandbox_pass(s, &numbers, sizeof numbers));
  TL_TRY(tl_sandbox_pass(s, &border, sizeof border));
  numbers.phi = a->phi;
  numbers.node_m = a->node_m;
  numbers.node_area_m2 = a->node_area_m2;
  numbers.border = border != 0;
  *a = numbers;
  TL_TRY(tl_avatar_check_numbers(a, &points));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, a->phi, points));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, a->node_m, 3 * (int64_t)a->node_count));
  return TL_SANDBOX_PASS_ARRAY(s, a->node_area_m2, a->node_count);
}

static TlStatus tell_avatars(TlSandbox *s, TlScene *scene) {
  int64_t count = scene->avatar_count;
  TL_TRY(tl_sandbox_pass(s, &count, sizeof count));
  if (tl_sandbox_takes(s)) {
    if (count < 0) return tl_fail(TL_EINPUT, "it tells of %lld avatars", (long long)count);
    TL_TRY(TL_NEW(scene->avatars, (size_t)count));
    scene->avatar_count = count;
  }
  for (int64_t i = 0; i < count; i++) TL_TRY(tell_avatar(s, &scene->avatars[i]));
  return TL_OK;
}

static TlStatus tell_run(TlSandbox *s, void *of) {
  Job *j = of;
  TL_TRY(tell_numbers(s, &j->scene));
  TL_TRY(tell_walls(s, j));
  TL_TRY(tell_materials(s, j));
  if (j->scene.has_terrain) TL_TRY(tell_terrain(s, &j->scene.terrain));
  return tell_avatars(s, &j->scene);
}

static void release_run(void *of) {
  Job *j = of;
  TL_CLEAN_UP(tl_h5_close(&j->file)); /* what was read is here */
  tl_free(j->parts);
  tl_free(j->materials);
  tl_free(j->pairs);
  tl_scene_free(&j->scene);
}

static const TlSandboxReader run_reader = {.name = "run.h5",
                                           .job_bytes = sizeof(Job),
                                           .prepare = tl_h5_prepare,
                                           .read = read_run,
                                           .tell = tell_run,
                                           .release = release_run};
TL_SANDBOX_READER(run_reader)

/* ---- in the caller ---- */

static TlStatus take_part(const char *path, const TlPartRow *row, int64_t table, TlScene *scene,
                          TlWallPart *part) {
  const TlDrive *d = &row->part.drive;
  if (row->part.kind < 0 || row->part.kind >= TL_PART_KINDS || d->rows < 0 ||
      (d->rows > 0 && (row->table_start < 0 || row->table_start > table - d->rows)))
    return tl_fail(TL_EINPUT, "%s: a part of wall %d has a wrong kind or table", path,
                   (int)row->part.wall);
  *part = row->part;
  const TlVec3 *a = row->axis;
  part->turn =
      (TlMat3){{{a[0].x, a[1].x, a[2].x}, {a[0].y, a[1].y, a[2].y}, {a[0].z, a[1].z, a[2].z}}};
  part->drive.time_s = d->rows > 0 ? scene->table_time_s + row->table_start : NULL;
  part->drive.displacement_m = d->rows > 0 ? scene->table_displacement_m + row->table_start : NULL;
  return TL_OK;
}

static TlStatus take_parts(const char *path, const Job *j, TlScene *scene) {
  if (j->parts && (!scene->table_time_s || !scene->table_displacement_m))
    return tl_fail(TL_EINPUT, "%s: the tables of its walls are missing", path);
  if (!j->parts) return TL_OK;
  TL_TRY(TL_NEW(scene->parts, (size_t)j->part_rows));
  for (int64_t i = 0; i < j->part_rows; i++)
    TL_TRY(take_part(path, &j->parts[i], j->table_rows, scene, &scene->parts[scene->part_count++]));
  return TL_OK;
}

/* A law for each pair of materials, and a density that bodies can have. */
static TlStatus take_materials(const char *path, const Job *j, TlScene *scene) {
  int64_t n = j->material_rows;
  if (n == 0 && j->pair_rows == 0) return TL_OK;
  if (n < 1 || n > INT32_MAX / 2 || j->pair_rows != n * (n + 1) / 2 || !j->materials || !j->pairs)
    return tl_fail(TL_EINPUT, "%s: %lld materials and %lld pairs of them do not go together", path,
                   (long long)n, (long long)j->pair_rows);
  TL_TRY(tl_materials_new(&scene->materials, (int32_t)n));
  for (int64_t i = 0; i < n; i++) {
    scene->materials.material[i] = j->materials[i];
    scene->materials.material[i].name[TL_MATERIAL_NAME - 1] = 0;
    if (!(j->materials[i].density_kg_m3 > 0 && j->materials[i].density_kg_m3 < 1e30))
      return tl_fail(TL_EINPUT, "%s: material %lld has a density of %g kg/m3", path, (long long)i,
                     j->materials[i].density_kg_m3);
  }
  for (int64_t i = 0; i < j->pair_rows; i++) {
    const TlPairRow *p = &j->pairs[i];
    if (p->first < 0 || p->second < p->first || p->second >= n)
      return tl_fail(TL_EINPUT, "%s: pair %lld is of materials %d and %d of %lld", path,
                     (long long)i, (int)p->first, (int)p->second, (long long)n);
    tl_materials_set(&scene->materials, p->first, p->second, &p->law);
  }
  return TL_OK;
}

/* All that was told is there, and its numbers fit each other. */
static TlStatus check(const char *path, const TlScene *scene) {
  const TlTerrain *t = &scene->terrain;
  bool whole = scene->study && scene->title && scene->provenance && scene->planes;
  if (scene->has_terrain)
    whole = whole && t->name && t->crs && t->height_m && t->k_low && t->k_count && t->start &&
            t->band_phi;
  for (int64_t i = 0; i < scene->avatar_count; i++) {
    const TlAvatar *a = &scene->avatars[i];
    whole = whole && a->phi && a->node_m && a->node_area_m2;
  }
  if (!whole) return tl_fail(TL_EINPUT, "%s: a part of it is missing", path);
  if (scene->has_terrain) TL_TRY(tl_context(tl_terrain_check_arrays(t), "%s: the terrain", path));
  return TL_OK;
}

TlStatus tl_results_read_scene(const char *folder, TlScene *scene) {
  Job job = {0};
  char *path = tl_path_join(folder, "run.h5");
  *scene = (TlScene){0};
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_results_claim(folder);
  if (status == TL_OK) status = tl_sandbox_read(&run_reader, path, 0, &job);
  if (status == TL_OK) status = take_parts(path, &job, &job.scene);
  if (status == TL_OK) status = take_materials(path, &job, &job.scene);
  if (status == TL_OK) status = check(path, &job.scene);
  tl_free(path);
  tl_free(job.parts);
  tl_free(job.materials);
  tl_free(job.pairs);
  if (status == TL_OK)
    *scene = job.scene;
  else
    tl_scene_free(&job.scene);
  return status;
}
