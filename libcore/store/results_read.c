#include "store/results_layout.h"

#include "base/file.h"
#include "base/h5_library.h"
#include "base/mem.h"

#include <dirent.h>
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
  tl_free(scene->planes);
  tl_free(scene->parts);
  tl_free(scene->table_time_s);
  tl_free(scene->table_way_m);
  *scene = (TlScene){0};
}

void tl_frame_free(TlFrame *frame) {
  tl_free(frame->rows);
  *frame = (TlFrame){0};
}

void tl_frame_contacts_free(TlFrameContacts *contacts) {
  tl_free(contacts->rows);
  *contacts = (TlFrameContacts){0};
}

TlPlacement tl_scene_place(const TlScene *scene, const TlWallPart *part, const TlFrame *frame) {
  return tl_drive_place(&part->drive, frame->step, frame->step, scene->step_s);
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

/* ---- run.h5 ---- */

static TlStatus read_numbers(const TlH5File *f, TlScene *scene) {
  TL_TRY(tl_h5_read_text(f, f->id, "study", &scene->study));
  TL_TRY(tl_h5_read_text(f, f->id, "title", &scene->title));
  TL_TRY(tl_h5_read_text(f, f->id, "provenance", &scene->provenance));
  TL_TRY(tl_h5_get_real(f, f->id, "grain_scale", &scene->grain_scale, 1));
  TL_TRY(tl_h5_get_real(f, f->id, "density_kg_m3", &scene->density_kg_m3, 1));
  TL_TRY(tl_h5_get_real(f, f->id, "gravity_m_s2", scene->gravity_m_s2, 3));
  TL_TRY(tl_h5_get_real(f, f->id, "step_s", &scene->step_s, 1));
  return tl_h5_get_int(f, f->id, "body_count", &scene->body_count);
}

static TlStatus read_planes(const TlH5File *f, TlScene *scene) {
  TL_TRY(tl_h5_array_rows(f, f->id, "plane_point_m", &scene->plane_count));
  TL_TRY(TL_NEW(scene->planes, (size_t)scene->plane_count));
  for (int64_t i = 0; i < scene->plane_count; i++) {
    TlPlane *plane = &scene->planes[i];
    hid_t type = H5T_NATIVE_DOUBLE;
    TL_TRY(tl_h5_array_read(f, f->id, "plane_point_m", type, 3, i, &plane->point_m, 1));
    TL_TRY(tl_h5_array_read(f, f->id, "plane_normal", type, 3, i, &plane->normal, 1));
  }
  return TL_OK;
}

static TlStatus read_tables(const TlH5File *f, hid_t g, TlScene *scene, int64_t *n) {
  hid_t type = H5T_NATIVE_DOUBLE;
  TL_TRY(tl_h5_array_rows(f, g, "table_time_s", n));
  TL_TRY(TL_NEW(scene->table_time_s, (size_t)*n));
  TL_TRY(TL_NEW(scene->table_way_m, (size_t)*n));
  TL_TRY(tl_h5_array_read(f, g, "table_time_s", type, 1, 0, scene->table_time_s, *n));
  return tl_h5_array_read(f, g, "table_way_m", type, 3, 0, scene->table_way_m, *n);
}

static TlStatus take_part(const TlH5File *f, const TlPartRow *row, int64_t table, TlScene *scene,
                          TlWallPart *part) {
  const TlDrive *d = &row->part.drive;
  if (row->part.kind < 0 || row->part.kind >= TL_PART_KINDS || d->rows < 0 ||
      (d->rows > 0 && (row->table_start < 0 || row->table_start > table - d->rows)))
    return tl_fail(TL_EINPUT, "%s: a part of wall %d has a wrong kind or table", f->name,
                   (int)row->part.wall);
  *part = row->part;
  const TlVec3 *a = row->axis;
  part->turn =
      (TlMat3){{{a[0].x, a[1].x, a[2].x}, {a[0].y, a[1].y, a[2].y}, {a[0].z, a[1].z, a[2].z}}};
  part->drive.time_s = d->rows > 0 ? scene->table_time_s + row->table_start : NULL;
  part->drive.way_m = d->rows > 0 ? scene->table_way_m + row->table_start : NULL;
  return TL_OK;
}

static TlStatus read_parts(const TlH5File *f, hid_t g, TlScene *scene) {
  int64_t n, table;
  TlPartRow *rows;
  TL_TRY(read_tables(f, g, scene, &table));
  TL_TRY(tl_h5_array_rows(f, g, "kind", &n));
  TL_TRY(TL_NEW(scene->parts, (size_t)n));
  TL_TRY(TL_NEW(rows, (size_t)n));
  TlStatus status =
      tl_h5_columns_read(f, g, tl_part_columns, TL_PART_COLUMNS, rows, sizeof *rows, n);
  for (int64_t i = 0; status == TL_OK && i < n; i++)
    status = take_part(f, &rows[i], table, scene, &scene->parts[scene->part_count++]);
  tl_free(rows);
  return status;
}

/* Runs without walls, and those of before walls were kept, have no such group. */
static TlStatus read_walls(const TlH5File *f, TlScene *scene) {
  bool there;
  TL_TRY(tl_context(tl_h5_has(f->id, "wall", &there), "%s", f->name));
  if (!there) return TL_OK;
  hid_t g = H5Gopen2(f->id, "wall", H5P_DEFAULT);
  if (g < 0) return tl_h5_fail(f, "opening the walls' group");
  TlStatus status = read_parts(f, g, scene);
  H5Gclose(g);
  return status;
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
  TL_TRY(tl_h5_get_real(f, g, "origin", t->origin, 3));
  TL_TRY(tl_h5_get_real(f, g, "cell_m", &t->cell_m, 1));
  TL_TRY(tl_h5_get_real(f, g, "x0_m", &t->x0_m, 1));
  TL_TRY(tl_h5_get_real(f, g, "y0_m", &t->y0_m, 1));
  TL_TRY(tl_h5_get_real(f, g, "band_m", &t->band_m, 1));
  TL_TRY(tl_h5_get_real(f, g, "band_spacing_m", &t->band_spacing_m, 1));
  return tl_h5_get_real(f, g, "z0_m", &t->z0_m, 1);
}

static TlStatus read_terrain_arrays(const TlH5File *f, hid_t g, TlTerrain *t) {
  int64_t cells = t->nx * t->ny, columns = t->bnx * t->bny;
  if (t->nx < 1 || t->ny < 1 || t->bnx < 0 || t->bny < 0)
    return tl_fail(TL_EINPUT, "%s: the terrain's size is wrong", f->name);
  TL_TRY(tl_h5_array_rows(f, g, "band_phi", &t->band_count));
  TL_TRY(TL_NEW(t->height_m, (size_t)cells));
  TL_TRY(TL_NEW(t->k_low, (size_t)columns));
  TL_TRY(TL_NEW(t->k_count, (size_t)columns));
  TL_TRY(TL_NEW(t->start, (size_t)columns));
  TL_TRY(TL_NEW(t->band_phi, (size_t)t->band_count));
  TL_TRY(tl_h5_array_read(f, g, "height_m", H5T_NATIVE_FLOAT, 1, 0, t->height_m, cells));
  TL_TRY(tl_h5_array_read(f, g, "k_low", H5T_NATIVE_INT32, 1, 0, t->k_low, columns));
  TL_TRY(tl_h5_array_read(f, g, "k_count", H5T_NATIVE_INT32, 1, 0, t->k_count, columns));
  TL_TRY(tl_h5_array_read(f, g, "start", H5T_NATIVE_INT64, 1, 0, t->start, columns));
  TL_TRY(tl_h5_array_read(f, g, "band_phi", H5T_NATIVE_FLOAT, 1, 0, t->band_phi, t->band_count));
  for (int64_t i = 0; i < columns; i++)
    if (t->k_count[i] < 0 ||
        (t->k_count[i] > 0 && (t->start[i] < 0 || t->start[i] > t->band_count - t->k_count[i])))
      return tl_fail(TL_EINPUT, "%s: the terrain's column %lld lies outside its band", f->name,
                     (long long)i);
  return TL_OK;
}

static TlStatus read_terrain(const TlH5File *f, TlScene *scene) {
  TL_TRY(tl_context(tl_h5_has(f->id, "terrain", &scene->has_terrain), "%s", f->name));
  if (!scene->has_terrain) return TL_OK;
  hid_t g = H5Gopen2(f->id, "terrain", H5P_DEFAULT);
  if (g < 0) return tl_h5_fail(f, "opening the terrain's group");
  TlStatus status = read_terrain_numbers(f, g, &scene->terrain);
  if (status == TL_OK) status = read_terrain_arrays(f, g, &scene->terrain);
  H5Gclose(g);
  return status;
}

static TlStatus read_avatar(const TlH5File *f, hid_t g, const TlAvatarRow *row, TlAvatar *a) {
  *a = row->avatar;
  a->phi = a->node_m = a->node_area_m2 = NULL;
  a->border = row->border != 0;
  if (a->nx < 1 || a->ny < 1 || a->nz < 1 || a->node_count < 0)
    return tl_fail(TL_EINPUT, "%s: avatar %lld: its grid size is wrong", f->name, (long long)a->id);
  int64_t points = (int64_t)a->nx * a->ny * a->nz, nodes = a->node_count;
  hid_t type = H5T_NATIVE_FLOAT;
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

static TlStatus read_avatars(const TlH5File *f, TlScene *scene) {
  hid_t g = H5Gopen2(f->id, "avatar", H5P_DEFAULT);
  if (g < 0) return tl_fail(TL_EINPUT, "%s: has no group 'avatar'", f->name);
  TlStatus status = read_avatar_rows(f, g, scene);
  H5Gclose(g);
  return status;
}

static TlStatus read_run(const TlH5File *f, TlScene *scene) {
  TL_TRY(tl_h5_check_format(f, "talus run", TL_RESULTS_FORMAT));
  TL_TRY(read_numbers(f, scene));
  TL_TRY(read_planes(f, scene));
  TL_TRY(read_walls(f, scene));
  TL_TRY(read_terrain(f, scene));
  return read_avatars(f, scene);
}

TlStatus tl_results_read_scene(const char *folder, TlScene *scene) {
  *scene = (TlScene){0};
  char *path = tl_path_join(folder, "run.h5");
  if (!path) return TL_ENOMEM;
  TlH5File file = {.id = -1, .driver = -1};
  TlStatus status = tl_results_claim(folder);
  if (status == TL_OK) status = tl_h5_open(&file, path);
  if (status == TL_OK) status = read_run(&file, scene);
  TL_CLEAN_UP(tl_h5_close(&file)); /* what was read is here */
  tl_free(path);
  if (status != TL_OK) tl_scene_free(scene);
  return status;
}

/* ---- frames ---- */

static int by_number(const void *one, const void *two) {
  int64_t a = *(const int64_t *)one, b = *(const int64_t *)two;
  return (a > b) - (a < b);
}

TlStatus tl_results_frames(const char *folder, int64_t **indices, int64_t *count) {
  *indices = NULL;
  *count = 0;
  DIR *list = opendir(folder);
  if (!list) return tl_fail_errno(folder, "cannot list the folder of results");
  size_t capacity = 0;
  TlStatus status = TL_OK;
  for (const char *name;
       status == TL_OK && (status = tl_dir_next(list, folder, &name)) == TL_OK && name;) {
    int64_t index = tl_results_frame_index(name);
    if (index < 0) continue;
    status = TL_RESERVE(*indices, capacity, (size_t)*count + 1);
    if (status == TL_OK) (*indices)[(*count)++] = index;
  }
  closedir(list);
  if (status == TL_OK && *count > 1) qsort(*indices, (size_t)*count, sizeof **indices, by_number);
  return status;
}

static int by_body_id(const void *one, const void *two) {
  int64_t a = ((const TlBodyRow *)one)->id, b = ((const TlBodyRow *)two)->id;
  return (a > b) - (a < b);
}

static TlStatus read_frame(const TlH5File *f, TlFrame *frame) {
  TL_TRY(tl_h5_check_format(f, "talus frame", TL_RESULTS_FORMAT));
  TL_TRY(tl_h5_get_int(f, f->id, "index", &frame->index));
  TL_TRY(tl_h5_get_int(f, f->id, "step", &frame->step));
  TL_TRY(tl_h5_get_real(f, f->id, "time_s", &frame->time_s, 1));
  TL_TRY(tl_h5_array_rows(f, f->id, "id", &frame->count));
  TL_TRY(TL_NEW(frame->rows, (size_t)frame->count));
  TL_TRY(tl_h5_columns_read(f, f->id, tl_body_columns, TL_BODY_COLUMNS, frame->rows,
                            sizeof *frame->rows, frame->count));
  qsort(frame->rows, (size_t)frame->count, sizeof *frame->rows, by_body_id);
  return TL_OK;
}

TlStatus tl_results_read_frame(const char *folder, int64_t index, TlFrame *frame) {
  *frame = (TlFrame){0};
  char *path = tl_results_frame_path(folder, index);
  if (!path) return TL_ENOMEM;
  TlH5File file;
  TlStatus status = tl_h5_open(&file, path);
  if (status == TL_OK) status = read_frame(&file, frame);
  TL_CLEAN_UP(tl_h5_close(&file)); /* what was read is here */
  tl_free(path);
  if (status != TL_OK) tl_frame_free(frame);
  return status;
}

/* ---- contacts ---- */

static TlStatus read_contact_rows(const TlH5File *f, hid_t g, TlFrameContacts *c) {
  int64_t n;
  TL_TRY(tl_h5_get_real(f, g, "friction", &c->friction, 1));
  TL_TRY(tl_h5_array_rows(f, g, "first", &n));
  TL_TRY(TL_NEW(c->rows, (size_t)n));
  TL_TRY(tl_h5_columns_read(f, g, tl_contact_columns, TL_CONTACT_COLUMNS, c->rows, sizeof *c->rows,
                            n));
  c->count = n;
  c->there = true;
  return TL_OK;
}

static TlStatus read_contacts(const TlH5File *f, TlFrameContacts *c) {
  TL_TRY(tl_h5_check_format(f, "talus frame", TL_RESULTS_FORMAT));
  bool there;
  TL_TRY(tl_context(tl_h5_has(f->id, "contact", &there), "%s", f->name));
  if (!there) return TL_OK;
  hid_t g = H5Gopen2(f->id, "contact", H5P_DEFAULT);
  if (g < 0) return tl_h5_fail(f, "opening the contacts' group");
  TlStatus status = read_contact_rows(f, g, c);
  H5Gclose(g);
  return status;
}

TlStatus tl_results_read_contacts(const char *folder, int64_t index, TlFrameContacts *contacts) {
  *contacts = (TlFrameContacts){0};
  char *path = tl_results_frame_path(folder, index);
  if (!path) return TL_ENOMEM;
  TlH5File file;
  TlStatus status = tl_h5_open(&file, path);
  if (status == TL_OK) status = read_contacts(&file, contacts);
  TL_CLEAN_UP(tl_h5_close(&file)); /* what was read is here */
  tl_free(path);
  if (status != TL_OK) tl_frame_contacts_free(contacts);
  return status;
}
