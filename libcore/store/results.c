#include "store/checkpoint.h"
#include "store/results_layout.h"
#include "store/results_tables.h"
#include "store/linefile.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct TlResultsWriter {
  char *folder;
  int lock; /* the folder, open and locked */
  /* run.h5 until tl_results_scene_done */
  TlOutFile run_out;
  TlH5File run;
  hid_t avatar_group, phi, node, node_area;
  TlAvatarRow *avatars;
  size_t avatar_count, avatar_capacity;
  int64_t phi_count, node_total;
  /* the frame being written */
  TlOutFile frame_out;
  TlH5File frame;
  const TlRecord *record; /* of the table being written */
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  hid_t group, dataset[TL_H5_RECORD_COLUMNS];
  int columns;
  int64_t rows, announced; /* come so far; in all */
  TlFrameChunks chunks;
  size_t row_bytes;
  unsigned char *pending; /* rows of a block that is not full yet */
  int64_t pending_rows;
  TlLineFile table[TL_TABLES];
  char *study; /* to be written beside run.h5 */
  bool hurry;  /* frames are not synced */
};

/* ---- the folder ---- */

/* Ours: run.h5, study.yaml, whole frames, checkpoints, tables, and what a killed run left of them.
 */
static bool is_ours(const char *name) {
  char bare[64];
  size_t length = strlen(name);
  tl_outfile_is_temp(name, &length);
  if (length >= sizeof bare) return false;
  memcpy(bare, name, length);
  bare[length] = 0;
  return strcmp(bare, "run.h5") == 0 || strcmp(bare, TL_PARAVIEW_FILE) == 0 ||
         tl_linefile_is(bare) || strcmp(bare, "study.yaml") == 0 ||
         tl_results_frame_index(bare) >= 0 || tl_results_problem_step(bare) >= 0 ||
         tl_checkpoint_step(bare) >= 0;
}

/* Goes through what is ours in the folder. */
static TlStatus walk_folder(const char *folder, TlStatus (*visit)(const char *path)) {
  DIR *list = opendir(folder);
  if (!list) return tl_fail_errno(folder, "cannot list the folder");
  TlStatus status = TL_OK;
  for (const char *name;
       status == TL_OK && (status = tl_dir_next(list, folder, &name)) == TL_OK && name;) {
    if (!is_ours(name)) continue;
    char *path = tl_path_join(folder, name);
    status = path ? visit(path) : TL_ENOMEM;
    tl_free(path);
  }
  closedir(list);
  return status;
}

static TlStatus remove_entry(const char *folder, const char *name) {
  char *path = tl_path_join(folder, name);
  if (!path) return TL_ENOMEM;
  TlStatus status = unlink(path) == 0 ? TL_OK : tl_fail_errno(path, "cannot remove");
  tl_free(path);
  return status;
}

/* Names of what is ours, in the order in which they may go: checkpoints first, so that nobody
 * resumes a run that is being removed, then tables and the rest, frames from the last to the first,
 * run.h5.
 */
typedef struct Old {
  char name[256];
  int64_t turn;
} Old;

static int64_t turn_of(const char *name) {
  int64_t frame = tl_results_frame_index(name);
  if (tl_checkpoint_step(name) >= 0) return 0;
  if (strcmp(name, "run.h5") == 0) return INT64_MAX;
  return frame >= 0 ? INT64_MAX - 1 - frame : 1;
}

static int compare_turns(const void *a, const void *b) {
  int64_t x = ((const Old *)a)->turn, y = ((const Old *)b)->turn;
  return x < y ? -1 : x > y;
}

static TlStatus list_old(const char *folder, Old **old, size_t *count) {
  size_t capacity = 0;
  TlStatus status = TL_OK;
  *old = NULL;
  *count = 0;
  DIR *list = opendir(folder);
  if (!list) return tl_fail_errno(folder, "cannot list the folder");
  for (const char *name;
       status == TL_OK && (status = tl_dir_next(list, folder, &name)) == TL_OK && name;) {
    if (!is_ours(name)) continue;
    status = TL_RESERVE(*old, capacity, *count + 1);
    if (status != TL_OK) break;
    Old *last = &(*old)[(*count)++];
    snprintf(last->name, sizeof last->name, "%s", name);
    last->turn = turn_of(last->name);
  }
  closedir(list);
  if (*count > 1) qsort(*old, *count, sizeof **old, compare_turns);
  return status;
}

/* May the folder take a new run? Nothing is changed. */
static TlStatus check_folder(const char *folder, bool overwrite) {
  Old *old;
  size_t count;
  struct stat info;
  TlStatus status = list_old(folder, &old, &count);
  if (status == TL_OK && count > 0 && !overwrite)
    status = tl_fail(TL_EUSAGE, "%s: already holds results (%s); give --overwrite to replace them",
                     folder, old[0].name);
  for (size_t i = 0; status == TL_OK && i < count; i++) {
    char *path = tl_path_join(folder, old[i].name);
    status = path ? TL_OK : TL_ENOMEM;
    if (path && lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
      status = tl_fail(TL_EUSAGE,
                       "%s: is a folder, and the run would write a file of that name; move it, or "
                       "give another -o",
                       path);
    if (status == TL_OK) status = tl_claim_replace(path); /* an input of this run? */
    tl_free(path);
  }
  tl_free(old);
  return status;
}

/* All but run.h5, which the new one replaces, and the new one's own temporary. */
static TlStatus remove_old(const TlResultsWriter *w) {
  const char *temp = strrchr(w->run_out.temp, '/') + 1;
  Old *old;
  size_t count;
  TlStatus status = list_old(w->folder, &old, &count);
  for (size_t i = 0; status == TL_OK && i < count; i++)
    if (strcmp(old[i].name, temp) != 0 && strcmp(old[i].name, "run.h5") != 0)
      status = remove_entry(w->folder, old[i].name);
  tl_free(old);
  return status;
}

TlStatus tl_results_claim(const char *folder) {
  if (!tl_file_exists(folder)) return TL_OK; /* whoever reads from it says so better */
  return walk_folder(folder, tl_claim_read);
}

/* ---- run.h5 ---- */

static TlStatus write_texts(const TlH5File *f, const TlScene *scene) {
  TL_TRY(tl_h5_set_format(f, "talus run", TL_RESULTS_FORMAT));
  TL_TRY(tl_h5_set_text(f, f->id, "units", "SI: m, kg, s, rad; world frame of the study"));
  TL_TRY(tl_h5_write_text(f, f->id, "study", scene->study ? scene->study : ""));
  TL_TRY(tl_h5_write_text(f, f->id, "title", scene->title ? scene->title : ""));
  return tl_h5_write_text(f, f->id, "provenance", scene->provenance ? scene->provenance : "[]");
}

static TlStatus write_numbers(const TlH5File *f, const TlScene *scene) {
  TL_TRY(tl_h5_set_real(f, f->id, "grain_scale", &scene->grain_scale, 1));
  if (scene->ranks_matter) TL_TRY(tl_h5_set_int(f, f->id, "ranks_matter", 1));
  TL_TRY(tl_h5_set_real(f, f->id, "density_kg_m3", &scene->density_kg_m3, 1));
  TL_TRY(tl_h5_set_real(f, f->id, "gravity_m_s2", scene->gravity_m_s2, 3));
  TL_TRY(tl_h5_set_real(f, f->id, "step_s", &scene->step_s, 1));
  return tl_h5_set_int(f, f->id, "body_count", scene->body_count);
}

/* Formats of the tables beside the frames: attributes named after their files. */
static TlStatus write_tables(const TlH5File *f, const TlScene *scene) {
  int any = 0;
  for (int t = 0; t < TL_TABLES; t++) any |= scene->table_format[t];
  if (any == 0) return TL_OK;
  hid_t g = H5Gcreate2(f->id, "table", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (g < 0) return tl_h5_fail(f, "making the tables' group");
  TlStatus status = TL_OK;
  for (int t = 0; status == TL_OK && t < TL_TABLES; t++)
    if (scene->table_format[t] > 0)
      status = tl_h5_set_int(f, g, tl_linefile(t).name, scene->table_format[t]);
  H5Gclose(g);
  return status;
}

/* A whole array as a dataset. */
static TlStatus write_array(const TlH5File *f, hid_t group, const char *name, const char *unit,
                            hid_t type, int width, const void *values, int64_t n) {
  hid_t dataset;
  TlStatus status = tl_h5_array_create(f, group, name, unit, type, n, width, &dataset);
  if (status == TL_OK) status = tl_h5_array_append(f, dataset, type, width, 0, values, n);
  if (dataset >= 0) H5Dclose(dataset);
  return status;
}

static TlStatus write_planes(const TlH5File *f, const TlScene *scene) {
  TlVec3 *point = NULL, *normal = NULL;
  size_t n = (size_t)scene->plane_count;
  TlStatus status = TL_NEW(point, n);
  if (status == TL_OK) status = TL_NEW(normal, n);
  for (size_t i = 0; status == TL_OK && i < n; i++) {
    point[i] = scene->planes[i].point_m;
    normal[i] = scene->planes[i].normal;
  }
  if (status == TL_OK)
    status = write_array(f, f->id, "plane_point_m", "m", H5T_NATIVE_DOUBLE, 3, point, (int64_t)n);
  if (status == TL_OK)
    status = write_array(f, f->id, "plane_normal", "1", H5T_NATIVE_DOUBLE, 3, normal, (int64_t)n);
  tl_free(point);
  tl_free(normal);
  return status;
}

/* ---- walls ---- */

static void fill_part_rows(const TlScene *scene, TlPartRow *rows, double *time_s,
                           TlVec3 *displacement_m) {
  int64_t at = 0;
  for (int64_t i = 0; i < scene->part_count; i++) {
    const TlWallPart *p = &scene->parts[i];
    rows[i].part = *p;
    rows[i].table_start = at;
    for (int a = 0; a < 3; a++)
      rows[i].axis[a] = tl_vec3(p->turn.m[0][a], p->turn.m[1][a], p->turn.m[2][a]);
    for (int64_t k = 0; k < p->drive.rows; k++, at++) {
      time_s[at] = p->drive.time_s[k];
      displacement_m[at] = p->drive.displacement_m[k];
    }
  }
}

static TlStatus write_part_rows(const TlH5File *f, hid_t g, const TlPartRow *rows, int64_t n) {
  hid_t dataset[TL_PART_COLUMNS];
  TlStatus status = tl_h5_columns_create(f, g, tl_part_columns, TL_PART_COLUMNS, n, 0, dataset);
  if (status == TL_OK)
    status =
        tl_h5_columns_write(f, tl_part_columns, TL_PART_COLUMNS, dataset, 0, rows, sizeof *rows, n);
  tl_h5_columns_close(TL_PART_COLUMNS, dataset);
  return status;
}

static TlStatus write_parts(const TlH5File *f, hid_t g, const TlScene *scene) {
  size_t n = (size_t)scene->part_count, table = 0;
  TlPartRow *rows = NULL;
  double *time_s = NULL;
  TlVec3 *displacement_m = NULL;
  for (size_t i = 0; i < n; i++) table += (size_t)scene->parts[i].drive.rows;
  TlStatus status = TL_NEW(rows, n);
  if (status == TL_OK) status = TL_NEW(time_s, table);
  if (status == TL_OK) status = TL_NEW(displacement_m, table);
  if (status == TL_OK) {
    fill_part_rows(scene, rows, time_s, displacement_m);
    status = write_part_rows(f, g, rows, (int64_t)n);
  }
  hid_t type = H5T_NATIVE_DOUBLE;
  if (status == TL_OK)
    status = write_array(f, g, "table_time_s", "s", type, 1, time_s, (int64_t)table);
  if (status == TL_OK)
    status = write_array(f, g, "table_way_m", "m", type, 3, displacement_m, (int64_t)table);
  tl_free(rows);
  tl_free(time_s);
  tl_free(displacement_m);
  return status;
}

static TlStatus write_walls(const TlH5File *f, const TlScene *scene) {
  if (scene->part_count == 0) return TL_OK;
  hid_t g = H5Gcreate2(f->id, "wall", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (g < 0) return tl_h5_fail(f, "making the walls' group");
  TlStatus status = write_parts(f, g, scene);
  H5Gclose(g);
  return status;
}

/* ---- materials ---- */

static TlStatus write_columns(const TlH5File *f, hid_t g, const TlH5Column *columns, int count,
                              const void *rows, size_t row_size, int64_t n) {
  hid_t dataset[TL_PAIR_COLUMNS];
  TlStatus status = tl_h5_columns_create(f, g, columns, count, n, 0, dataset);
  if (status == TL_OK)
    status = tl_h5_columns_write(f, columns, count, dataset, 0, rows, row_size, n);
  tl_h5_columns_close(count, dataset);
  return status;
}

static TlStatus write_names(const TlH5File *f, hid_t g, const TlMaterials *m) {
  char(*name)[TL_MATERIAL_NAME];
  TL_TRY(TL_NEW(name, (size_t)m->count));
  for (int32_t i = 0; i < m->count; i++) memcpy(name[i], m->material[i].name, sizeof name[i]);
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, TL_MATERIAL_NAME);
  H5Tset_cset(type, H5T_CSET_UTF8);
  TlStatus status = write_array(f, g, "name", "", type, 1, name, m->count);
  H5Tclose(type);
  tl_free(name);
  return status;
}

static TlStatus write_material_rows(const TlH5File *f, hid_t g, const TlMaterials *m) {
  TL_TRY(write_names(f, g, m));
  return write_columns(f, g, tl_material_columns, TL_MATERIAL_COLUMNS, m->material,
                       sizeof *m->material, m->count);
}

static TlStatus write_pair_rows(const TlH5File *f, hid_t g, const TlMaterials *m) {
  TlPairRow *rows;
  int64_t n = 0;
  TL_TRY(TL_NEW(rows, (size_t)m->count * (size_t)(m->count + 1) / 2));
  for (int32_t i = 0; i < m->count; i++)
    for (int32_t j = i; j < m->count; j++)
      rows[n++] = (TlPairRow){i, j, m->law[tl_pair_law(m, i, j)]};
  TlStatus status = write_columns(f, g, tl_pair_columns, TL_PAIR_COLUMNS, rows, sizeof *rows, n);
  tl_free(rows);
  return status;
}

static TlStatus write_materials(const TlH5File *f, const TlMaterials *m) {
  static const char *const names[] = {"material", "pair"};
  for (int k = 0; k < 2 && m->count > 0; k++) {
    hid_t g = H5Gcreate2(f->id, names[k], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (g < 0) return tl_h5_fail(f, "making the groups of materials and pairs");
    TlStatus status = k == 0 ? write_material_rows(f, g, m) : write_pair_rows(f, g, m);
    H5Gclose(g);
    TL_TRY(status);
  }
  return TL_OK;
}

static TlStatus write_terrain_numbers(const TlH5File *f, hid_t g, const TlTerrain *t) {
  TL_TRY(tl_h5_write_text(f, g, "name", t->name ? t->name : ""));
  TL_TRY(tl_h5_write_text(f, g, "crs", t->crs ? t->crs : ""));
  TL_TRY(tl_h5_set_int(f, g, "id", t->id));
  TL_TRY(tl_h5_set_int(f, g, "nx", t->nx));
  TL_TRY(tl_h5_set_int(f, g, "ny", t->ny));
  TL_TRY(tl_h5_set_int(f, g, "bnx", t->bnx));
  TL_TRY(tl_h5_set_int(f, g, "bny", t->bny));
  TL_TRY(tl_h5_set_int(f, g, "holes_filled", t->holes_filled));
  if (t->refined > 1) TL_TRY(tl_h5_set_int(f, g, "refined", t->refined));
  TL_TRY(tl_h5_set_real(f, g, "origin", t->origin, 3));
  TL_TRY(tl_h5_set_real(f, g, "cell_m", &t->cell_m, 1));
  TL_TRY(tl_h5_set_real(f, g, "x0_m", &t->x0_m, 1));
  TL_TRY(tl_h5_set_real(f, g, "y0_m", &t->y0_m, 1));
  TL_TRY(tl_h5_set_real(f, g, "band_m", &t->band_m, 1));
  TL_TRY(tl_h5_set_real(f, g, "band_spacing_m", &t->band_spacing_m, 1));
  return tl_h5_set_real(f, g, "z0_m", &t->z0_m, 1);
}

static TlStatus write_terrain(const TlH5File *f, const TlTerrain *t) {
  hid_t g = H5Gcreate2(f->id, "terrain", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (g < 0) return tl_h5_fail(f, "making the terrain's group");
  int64_t cells = t->nx * t->ny, columns = t->bnx * t->bny;
  TlStatus status = write_terrain_numbers(f, g, t);
  if (status == TL_OK)
    status = write_array(f, g, "height_m", "m", H5T_NATIVE_FLOAT, 1, t->height_m, cells);
  if (status == TL_OK && t->filled)
    status = write_array(f, g, "filled", "", H5T_NATIVE_UINT8, 1, t->filled, cells);
  if (status == TL_OK)
    status = write_array(f, g, "k_low", "", H5T_NATIVE_INT32, 1, t->k_low, columns);
  if (status == TL_OK)
    status = write_array(f, g, "k_count", "", H5T_NATIVE_INT32, 1, t->k_count, columns);
  if (status == TL_OK)
    status = write_array(f, g, "start", "", H5T_NATIVE_INT64, 1, t->start, columns);
  if (status == TL_OK)
    status = write_array(f, g, "band_phi", "m", H5T_NATIVE_FLOAT, 1, t->band_phi, t->band_count);
  H5Gclose(g);
  return status;
}

static TlStatus start_avatars(TlResultsWriter *w) {
  const TlH5File *f = &w->run;
  w->avatar_group = H5Gcreate2(f->id, "avatar", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (w->avatar_group < 0) return tl_h5_fail(f, "making the avatars' group");
  hid_t g = w->avatar_group, type = H5T_NATIVE_FLOAT;
  TL_TRY(tl_h5_array_create(f, g, "phi_m", "m", type, 0, 1, &w->phi));
  TL_TRY(tl_h5_array_create(f, g, "node_m", "m", type, 0, 3, &w->node));
  return tl_h5_array_create(f, g, "node_area_m2", "m2", type, 0, 1, &w->node_area);
}

static TlStatus start_run(TlResultsWriter *w, const TlScene *scene) {
  char *path = tl_path_join(w->folder, "run.h5");
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_outfile_begin(&w->run_out, path, true);
  tl_free(path);
  if (status != TL_OK) return status;
  if (scene->study && !(w->study = tl_strdup(scene->study))) return TL_ENOMEM;
  const TlH5File *f = &w->run;
  TL_TRY(tl_h5_create(&w->run, w->run_out.temp, w->run_out.path));
  TL_TRY(write_texts(f, scene));
  TL_TRY(write_numbers(f, scene));
  TL_TRY(write_tables(f, scene));
  TL_TRY(write_planes(f, scene));
  TL_TRY(write_walls(f, scene));
  TL_TRY(write_materials(f, &scene->materials));
  if (scene->has_terrain) TL_TRY(write_terrain(f, &scene->terrain));
  return start_avatars(w);
}

/* The effective study as a file of its own, for people; run.h5 holds the same text. */
static TlStatus write_study(const char *folder, const char *study) {
  if (!study || !study[0]) return TL_OK;
  char *path = tl_path_join(folder, "study.yaml");
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_file_write(path, study, strlen(study), true);
  tl_free(path);
  return status;
}

/* Two runs at once would write each other's files. The lock goes with the process, however it
 * ends; a file system without locks has none. */
static TlStatus lock_folder(TlResultsWriter *w) {
  w->lock = open(w->folder, O_RDONLY | O_DIRECTORY);
  if (w->lock < 0) return tl_fail_errno(w->folder, "cannot open the folder");
  if (flock(w->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return TL_OK;
  return tl_fail(TL_EUSAGE, "%s: another run is writing there; wait for it, or give another -o",
                 w->folder);
}

/* *writer: to be closed, also after a failure. */
static TlStatus new_writer(TlResultsWriter **writer, const char *folder) {
  TlResultsWriter *w;
  TL_TRY(TL_NEW(*writer, 1));
  w = *writer;
  w->run.id = w->run.driver = w->frame.id = w->frame.driver = -1;
  w->avatar_group = w->phi = w->node = w->node_area = -1;
  w->group = -1;
  for (int t = 0; t < TL_TABLES; t++) w->table[t] = tl_linefile(t);
  w->lock = -1;
  w->folder = tl_strdup(folder);
  return w->folder ? lock_folder(w) : TL_ENOMEM;
}

TlStatus tl_results_check(const char *folder, bool overwrite) {
  return tl_file_exists(folder) ? check_folder(folder, overwrite) : TL_OK;
}

TlStatus tl_results_create(TlResultsWriter **writer, const char *folder, const TlScene *scene,
                           bool overwrite) {
  TlResultsWriter *w = NULL;
  *writer = NULL;
  TL_TRY(tl_dir_make(folder));
  TlStatus status = new_writer(&w, folder);
  if (status == TL_OK) status = check_folder(folder, overwrite);
  if (status == TL_OK) status = start_run(w, scene);
  if (status == TL_OK)
    *writer = w;
  else
    tl_results_close(w);
  return status;
}

TlStatus tl_results_add_avatar(TlResultsWriter *w, const TlAvatar *a) {
  if (w->run.id < 0) return tl_fail(TL_EUSAGE, "%s: run.h5 is closed already", w->folder);
  int64_t points = (int64_t)a->nx * a->ny * a->nz;
  hid_t type = H5T_NATIVE_FLOAT;
  TL_TRY(TL_RESERVE(w->avatars, w->avatar_capacity, w->avatar_count + 1));
  w->avatars[w->avatar_count++] = (TlAvatarRow){
      .avatar = *a, .phi_start = w->phi_count, .node_start = w->node_total, .border = a->border};
  TL_TRY(tl_h5_array_append(&w->run, w->phi, type, 1, w->phi_count, a->phi, points));
  TL_TRY(tl_h5_array_append(&w->run, w->node, type, 3, w->node_total, a->node_m, a->node_count));
  TL_TRY(tl_h5_array_append(&w->run, w->node_area, type, 1, w->node_total, a->node_area_m2,
                            a->node_count));
  w->phi_count += points;
  w->node_total += a->node_count;
  return TL_OK;
}

static void drop(hid_t *id) {
  if (*id >= 0) H5Idec_ref(*id);
  *id = -1;
}

static TlStatus close_run(TlResultsWriter *w) {
  drop(&w->phi);
  drop(&w->node);
  drop(&w->node_area);
  drop(&w->avatar_group);
  return tl_h5_close(&w->run);
}

TlStatus tl_results_scene_done(TlResultsWriter *w) {
  if (w->run.id < 0) return tl_fail(TL_EUSAGE, "%s: run.h5 is closed already", w->folder);
  hid_t dataset[TL_AVATAR_COLUMNS];
  int64_t n = (int64_t)w->avatar_count;
  TlStatus status = tl_h5_columns_create(&w->run, w->avatar_group, tl_avatar_columns,
                                         TL_AVATAR_COLUMNS, n, 0, dataset);
  if (status == TL_OK)
    status = tl_h5_columns_write(&w->run, tl_avatar_columns, TL_AVATAR_COLUMNS, dataset, 0,
                                 w->avatars, sizeof *w->avatars, n);
  tl_h5_columns_close(TL_AVATAR_COLUMNS, dataset);
  TlStatus closed = close_run(w);
  if (status == TL_OK) status = closed;
  if (status == TL_OK) status = tl_file_sync(w->run_out.temp);
  if (status == TL_OK) status = remove_old(w);
  if (status == TL_OK) status = tl_outfile_commit(&w->run_out);
  if (status == TL_OK) return write_study(w->folder, w->study);
  tl_outfile_abort(&w->run_out);
  return status;
}

void tl_results_hurry(TlResultsWriter *w) {
  w->hurry = true;
}

/* ---- frames ---- */

const TlFrameTable tl_frame_bodies = {NULL, "body_count"}, tl_frame_contacts = {"contact", NULL};

static TlStatus start_frame(TlResultsWriter *w, int64_t index, int64_t step, double time_s) {
  const TlH5File *f = &w->frame;
  TL_TRY(tl_h5_create(&w->frame, w->frame_out.temp, w->frame_out.path));
  TL_TRY(tl_h5_set_format(f, "talus frame", TL_RESULTS_FORMAT));
  TL_TRY(tl_h5_set_int(f, f->id, "index", index));
  TL_TRY(tl_h5_set_int(f, f->id, "step", step));
  return tl_h5_set_real(f, f->id, "time_s", &time_s, 1);
}

static void close_table(TlResultsWriter *w) {
  tl_h5_columns_close(w->columns, w->dataset);
  tl_frame_chunks_free(&w->chunks);
  TL_FREE(w->pending);
  w->pending_rows = 0;
  w->columns = 0;
  drop(&w->group);
}

static TlStatus give_up_frame(TlResultsWriter *w, TlStatus status) {
  close_table(w);
  TL_CLEAN_UP(tl_h5_close(&w->frame));
  tl_outfile_abort(&w->frame_out);
  return status;
}

TlStatus tl_results_frame_begin(TlResultsWriter *w, int64_t index, int64_t step, double time_s) {
  if (w->frame.id >= 0) return tl_fail(TL_EUSAGE, "%s: a frame is open already", w->folder);
  char *path = tl_results_frame_path(w->folder, index);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_outfile_begin(&w->frame_out, path, true);
  tl_free(path);
  if (status != TL_OK) return status;
  w->rows = w->announced = 0;
  status = start_frame(w, index, step, time_s);
  return status == TL_OK ? TL_OK : give_up_frame(w, status);
}

/* Chunks of the blocks from row `first` on, from memory or (bytes NULL) to be written by others. */
static TlStatus place_chunks(TlResultsWriter *w, int64_t first, const int64_t *size, int64_t count,
                             const unsigned char *bytes, int64_t *place) {
  for (int64_t k = 0; k < count; k++) {
    TL_TRY(tl_h5_chunk_write(&w->frame, w->dataset[k % w->columns],
                             first + k / w->columns * TL_FRAME_BLOCK, bytes, size[k],
                             place ? &place[k] : NULL));
    if (bytes) bytes += size[k];
  }
  return TL_OK;
}

static TlStatus write_pending(TlResultsWriter *w) {
  TlFrameChunks *c = &w->chunks;
  if (w->pending_rows == 0) return TL_OK;
  TL_TRY(tl_frame_chunks_add(c, w->pending, w->row_bytes, w->pending_rows));
  TL_TRY(place_chunks(w, w->rows - w->pending_rows, c->size, c->count, c->byte, NULL));
  tl_frame_chunks_clear(c);
  w->pending_rows = 0;
  return TL_OK;
}

/* The table at hand has all its rows. */
static TlStatus finish_table(TlResultsWriter *w) {
  TlStatus status = write_pending(w);
  close_table(w);
  if (status != TL_OK || w->rows == w->announced) return status;
  return tl_fail(TL_EUSAGE, "%s: %lld rows of the %lld in '%s' that were announced",
                 w->frame_out.path, (long long)w->rows, (long long)w->announced, w->record->name);
}

static TlStatus start_table(TlResultsWriter *w, const TlFrameTable *table, const TlRecord *record,
                            int64_t count) {
  const TlH5File *f = &w->frame;
  TL_TRY(finish_table(w));
  w->record = record;
  w->rows = 0;
  w->announced = count;
  if (table->count_as) TL_TRY(tl_h5_set_int(f, f->id, table->count_as, count));
  if (table->group) {
    w->group = H5Gcreate2(f->id, table->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (w->group < 0) return tl_h5_fail(f, "making the group of a table");
  }
  w->row_bytes = tl_record_packed_bytes(record, TL_FRAME);
  TL_TRY(TL_NEW(w->pending, (size_t)tl_h5_chunk_rows(count, TL_FRAME_BLOCK) * w->row_bytes));
  TL_TRY(tl_frame_chunks_begin(&w->chunks, record, count));
  w->columns = tl_h5_record_columns(record, true, w->column);
  return tl_h5_columns_create(f, table->group ? w->group : f->id, w->column, w->columns, count,
                              TL_FRAME_BLOCK, w->dataset);
}

TlStatus tl_results_frame_table(TlResultsWriter *w, const TlFrameTable *table,
                                const TlRecord *record, int64_t count) {
  if (w->frame.id < 0) return tl_fail(TL_EUSAGE, "%s: no frame is open", w->folder);
  TlStatus status = start_table(w, table, record, count);
  return status == TL_OK ? TL_OK : give_up_frame(w, status);
}

static TlStatus check_rows(TlResultsWriter *w, int64_t count) {
  if (w->frame.id < 0 || w->columns == 0)
    return tl_fail(TL_EUSAGE, "%s: no frame with a table is open", w->folder);
  if (w->rows + count <= w->announced) return TL_OK;
  return give_up_frame(w,
                       tl_fail(TL_EUSAGE, "%s: more than the %lld rows in '%s' that were announced",
                               w->frame_out.path, (long long)w->announced, w->record->name));
}

TlStatus tl_results_frame_rows(TlResultsWriter *w, const unsigned char *rows, size_t stride,
                               int64_t count) {
  TL_TRY(check_rows(w, count));
  for (int64_t i = 0; i < count; i++) {
    memcpy(w->pending + (size_t)w->pending_rows++ * w->row_bytes, rows + (size_t)i * stride,
           w->row_bytes);
    w->rows++;
    if (w->pending_rows < TL_FRAME_BLOCK) continue;
    TlStatus status = write_pending(w);
    if (status != TL_OK) return give_up_frame(w, status);
  }
  return TL_OK;
}

TlStatus tl_results_frame_reserve(TlResultsWriter *w, int64_t rows, const int64_t *size,
                                  int64_t chunks, int64_t *place) {
  TL_TRY(check_rows(w, rows));
  TlStatus status = write_pending(w);
  if (status == TL_OK) status = place_chunks(w, w->rows, size, chunks, NULL, place);
  if (status != TL_OK) return give_up_frame(w, status);
  w->rows += rows;
  return TL_OK;
}

const TlOutFile *tl_results_frame_file(const TlResultsWriter *w, bool *hurry) {
  *hurry = w->hurry;
  return &w->frame_out;
}

TlStatus tl_results_frame_end(TlResultsWriter *w) {
  if (w->frame.id < 0) return tl_fail(TL_EUSAGE, "%s: no frame is open", w->folder);
  TlStatus status = finish_table(w);
  if (status != TL_OK) return give_up_frame(w, status);
  status = tl_h5_close(&w->frame);
  if (status == TL_OK)
    return w->hurry ? tl_outfile_rename(&w->frame_out) : tl_outfile_commit(&w->frame_out);
  tl_outfile_abort(&w->frame_out);
  return status;
}

/* ---- tables ---- */

TlStatus tl_results_table_header(TlResultsWriter *w, TlResultsTable table, const char *header) {
  return tl_linefile_begin(&w->table[table], w->folder, header);
}

TlStatus tl_results_table_line(TlResultsWriter *w, TlResultsTable table, const double *values,
                               int count, const char *text) {
  return tl_linefile_line(&w->table[table], values, count, text);
}

TlStatus tl_results_table_bytes(TlResultsWriter *w, TlResultsTable table, bool sync,
                                int64_t *bytes) {
  return tl_linefile_bytes(&w->table[table], sync, bytes);
}

TlOutFile tl_results_table_file(const TlResultsWriter *w, TlResultsTable table) {
  char *path = w->table[table].path;
  return (TlOutFile){.path = path, .temp = path};
}

TlStatus tl_results_table_pass(TlResultsWriter *w, TlResultsTable table, int64_t bytes) {
  return tl_linefile_pass(&w->table[table], bytes);
}

TlStatus tl_results_table_cut(TlResultsWriter *w, TlResultsTable table) {
  return tl_linefile_cut(&w->table[table]);
}

/* ---- resuming in a folder ---- */

/* Frames from `frames` on, half files and the view of frames for ParaView go; *held: whole frames that stay. */
static TlStatus cut_frames(const char *folder, int64_t frames, int64_t *held) {
  DIR *list = opendir(folder);
  if (!list) return tl_fail_errno(folder, "cannot list the folder");
  TlStatus status = TL_OK;
  *held = 0;
  for (const char *name;
       status == TL_OK && (status = tl_dir_next(list, folder, &name)) == TL_OK && name;) {
    size_t length;
    int64_t index = tl_results_frame_index(name);
    bool half = tl_outfile_is_temp(name, &length) && is_ours(name);
    bool view = strcmp(name, TL_PARAVIEW_FILE) == 0;
    *held += index >= 0 && index < frames;
    if (index >= frames || half || view) status = remove_entry(folder, name);
  }
  closedir(list);
  return status;
}

static TlStatus resume_in(TlResultsWriter *w, const char *study, const TlTableKept *kept,
                          int64_t step, int64_t frames) {
  int64_t held = 0;
  char *path = tl_path_join(w->folder, "run.h5");
  if (!path) return TL_ENOMEM;
  bool there = tl_file_exists(path);
  tl_free(path);
  if (!there)
    return tl_fail(TL_EINPUT,
                   "%s: run.h5 is missing; these are no results of a run that could be resumed",
                   w->folder);
  /* first the checkpoints: they speak of frames and lines that are about to go */
  TL_TRY(tl_checkpoint_prune(w->folder, step, INT64_MAX));
  for (int t = 0; t < TL_TABLES; t++)
    if (kept[t].header)
      TL_TRY(tl_linefile_resume(&w->table[t], w->folder, kept[t].header, kept[t].bytes));
  TL_TRY(cut_frames(w->folder, frames, &held));
  if (held < frames)
    tl_log_warn("%s: only %lld of the %lld frames before the checkpoint are there", w->folder,
                (long long)held, (long long)frames);
  return write_study(w->folder, study);
}

TlStatus tl_results_resume(TlResultsWriter **writer, const char *folder, const char *study,
                           const TlTableKept kept[TL_TABLES], int64_t step, int64_t frames) {
  TlResultsWriter *w = NULL;
  TlStatus status = new_writer(&w, folder);
  if (status == TL_OK) status = resume_in(w, study, kept, step, frames);
  *writer = w;
  if (status == TL_OK) return TL_OK;
  tl_results_close(w);
  *writer = NULL;
  return status;
}

void tl_results_close(TlResultsWriter *w) {
  if (!w) return;
  if (w->frame.id >= 0) TL_CLEAN_UP(give_up_frame(w, TL_OK));
  TL_CLEAN_UP(close_run(w));
  tl_outfile_abort(&w->run_out);
  tl_outfile_abort(&w->frame_out);
  for (int t = 0; t < TL_TABLES; t++) tl_linefile_close(&w->table[t]);
  if (w->lock >= 0) close(w->lock);
  tl_free(w->avatars);
  tl_free(w->study);
  tl_free(w->folder);
  tl_free(w);
}
