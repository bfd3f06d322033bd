#include "post/export.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/vtk.h"
#include "post/export_walls.h"
#include "post/surface.h"

#include <math.h>
#include <stdlib.h>

/* ---- grains as points ---- */

enum { POINT_ARRAYS = 11 };

/* Columns of the rows, since VTK wants one array an attribute. */
typedef struct Columns {
  double *position, *velocity, *spin, *rotation, *speed, *radius, *scale;
  int64_t *id, *avatar;
  int32_t *contacts, *outside, *frozen;
} Columns;

static void free_columns(Columns *c) {
  void *const all[] = {c->position, c->velocity, c->spin,   c->rotation, c->speed,   c->radius,
                       c->scale,    c->id,       c->avatar, c->contacts, c->outside, c->frozen};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tl_free(all[i]);
}

static TlStatus new_columns(Columns *c, size_t n) {
  *c = (Columns){0};
  TL_TRY(TL_NEW(c->position, 3 * n));
  TL_TRY(TL_NEW(c->velocity, 3 * n));
  TL_TRY(TL_NEW(c->spin, 3 * n));
  TL_TRY(TL_NEW(c->rotation, 4 * n));
  TL_TRY(TL_NEW(c->speed, n));
  TL_TRY(TL_NEW(c->radius, n));
  TL_TRY(TL_NEW(c->scale, n));
  TL_TRY(TL_NEW(c->id, n));
  TL_TRY(TL_NEW(c->avatar, n));
  TL_TRY(TL_NEW(c->contacts, n));
  TL_TRY(TL_NEW(c->outside, n));
  return TL_NEW(c->frozen, n);
}

static void put3(double *at, TlVec3 v) {
  at[0] = v.x, at[1] = v.y, at[2] = v.z;
}

static void fill_columns(Columns *c, const TlScene *scene, const TlFrame *frame) {
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
    put3(c->position + 3 * i, row->position_m);
    put3(c->velocity + 3 * i, row->velocity_m_s);
    put3(c->spin + 3 * i, row->spin_rad_s);
    c->rotation[4 * i] = row->rotation.w;
    put3(c->rotation + 4 * i + 1, tl_vec3(row->rotation.x, row->rotation.y, row->rotation.z));
    c->speed[i] = tl_norm(row->velocity_m_s);
    c->radius[i] = a ? 0.5 * row->scale * tl_avatar_diameter_m(a) : 0;
    c->scale[i] = row->scale;
    c->id[i] = row->id;
    c->avatar[i] = row->avatar_id;
    c->contacts[i] = row->contacts;
    c->outside[i] = row->flags & 1;
    c->frozen[i] = row->flags >> 1 & 1;
  }
}

static TlStatus write_points(const TlScene *scene, const TlFrame *frame, const char *path,
                             bool overwrite) {
  Columns c;
  TlStatus status = new_columns(&c, (size_t)frame->count);
  if (status == TL_OK) {
    fill_columns(&c, scene, frame);
    const TlVtkArray array[POINT_ARRAYS] = {{"id", TL_VTK_I64, 1, c.id},
                                            {"avatar", TL_VTK_I64, 1, c.avatar},
                                            {"velocity_m_s", TL_VTK_F64, 3, c.velocity},
                                            {"speed_m_s", TL_VTK_F64, 1, c.speed},
                                            {"spin_rad_s", TL_VTK_F64, 3, c.spin},
                                            {"rotation_wxyz", TL_VTK_F64, 4, c.rotation},
                                            {"radius_m", TL_VTK_F64, 1, c.radius},
                                            {"scale", TL_VTK_F64, 1, c.scale},
                                            {"contacts", TL_VTK_I32, 1, c.contacts},
                                            {"outside", TL_VTK_I32, 1, c.outside},
                                            {"frozen", TL_VTK_I32, 1, c.frozen}};
    const TlVtkPoly poly = {.point_count = frame->count,
                            .point = c.position,
                            .point_arrays = POINT_ARRAYS,
                            .point_array = array,
                            .time_s = frame->time_s};
    status = tl_vtk_write_poly(path, overwrite, &poly);
  }
  free_columns(&c);
  return status;
}

/* ---- grains as surfaces ---- */

/* One mesh an avatar, made once: mesh[i] belongs to scene->avatars[i]. */
static TlStatus make_meshes(const TlScene *scene, int32_t cells, TlMesh **mesh) {
  TL_TRY(TL_NEW(*mesh, (size_t)scene->avatar_count));
  for (int64_t i = 0; i < scene->avatar_count; i++) {
    double shift;
    TL_TRY(tl_surface_make(&scene->avatars[i], cells, &(*mesh)[i], &shift));
  }
  return TL_OK;
}

typedef struct Triangles {
  double *point, *speed;
  int64_t *corner, *id;
  int32_t *contacts;
  int64_t points, triangles;
} Triangles;

static void place(const TlMesh *mesh, const TlBodyRow *row, Triangles *t) {
  TlMat3 r = tl_quat_matrix(row->rotation);
  for (size_t i = 0; i < 3 * mesh->triangle_count; i++)
    t->corner[3 * t->triangles + (int64_t)i] = t->points + mesh->triangle[i];
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    int64_t at = t->triangles + (int64_t)i;
    t->speed[at] = tl_norm(row->velocity_m_s);
    t->id[at] = row->id;
    t->contacts[at] = row->contacts;
  }
  for (size_t i = 0; i < mesh->vertex_count; i++) {
    TlVec3 v = tl_mat_vec(r, tl_mesh_vertex(mesh, (int32_t)i));
    put3(t->point + 3 * (t->points + (int64_t)i), tl_axpy(row->position_m, row->scale, v));
  }
  t->points += (int64_t)mesh->vertex_count;
  t->triangles += (int64_t)mesh->triangle_count;
}

static TlStatus mesh_of(const TlScene *scene, const TlMesh *mesh, const TlBodyRow *row,
                        const TlMesh **found) {
  const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
  if (!a)
    return tl_fail(TL_EINPUT, "body %lld uses avatar %lld, which is not in run.h5",
                   (long long)row->id, (long long)row->avatar_id);
  *found = &mesh[a - scene->avatars];
  return TL_OK;
}

static TlStatus new_triangles(Triangles *t, size_t points, size_t triangles) {
  TL_TRY(TL_NEW(t->point, 3 * points));
  TL_TRY(TL_NEW(t->corner, 3 * triangles));
  TL_TRY(TL_NEW(t->speed, triangles));
  TL_TRY(TL_NEW(t->id, triangles));
  return TL_NEW(t->contacts, triangles);
}

static TlStatus gather(const TlScene *scene, const TlMesh *mesh, const TlFrame *frame,
                       Triangles *t) {
  size_t points = 0, triangles = 0;
  const TlMesh *one = NULL;
  for (int64_t i = 0; i < frame->count; i++) {
    TL_TRY(mesh_of(scene, mesh, &frame->rows[i], &one));
    points += one->vertex_count;
    triangles += one->triangle_count;
  }
  TL_TRY(new_triangles(t, points, triangles));
  for (int64_t i = 0; i < frame->count; i++) {
    TL_TRY(mesh_of(scene, mesh, &frame->rows[i], &one));
    place(one, &frame->rows[i], t);
  }
  return TL_OK;
}

static TlStatus write_surfaces(const TlScene *scene, const TlMesh *mesh, const TlFrame *frame,
                               const char *path, bool overwrite) {
  Triangles t = {0};
  TlStatus status = gather(scene, mesh, frame, &t);
  if (status == TL_OK) {
    const TlVtkArray array[] = {{"id", TL_VTK_I64, 1, t.id},
                                {"speed_m_s", TL_VTK_F64, 1, t.speed},
                                {"contacts", TL_VTK_I32, 1, t.contacts}};
    const TlVtkPoly poly = {.point_count = t.points,
                            .point = t.point,
                            .triangle_count = t.triangles,
                            .triangle = t.corner,
                            .cell_arrays = 3,
                            .cell_array = array,
                            .time_s = frame->time_s};
    status = tl_vtk_write_poly(path, overwrite, &poly);
  }
  tl_free(t.point);
  tl_free(t.corner);
  tl_free(t.speed);
  tl_free(t.id);
  tl_free(t.contacts);
  return status;
}

/* ---- the series ---- */

enum { GRAINS, WALLS, LISTS };
static const char *const LIST[LISTS] = {"grains", "walls"};

typedef struct Series {
  const char *folder, *output;
  const TlScene *scene;
  const TlMesh *mesh; /* NULL: points */
  bool overwrite;
  int lists;        /* GRAINS alone, or WALLS too */
  TlVec3 low, high; /* box of the grains at the start and the end */
  char **name[LISTS];
  double *time_s;
} Series;

static TlStatus write_list_item(const Series *s, int list, const TlFrame *frame, const char *path) {
  if (list == WALLS) return tl_export_walls(s->scene, frame, s->low, s->high, path, s->overwrite);
  return s->mesh ? write_surfaces(s->scene, s->mesh, frame, path, s->overwrite)
                 : write_points(s->scene, frame, path, s->overwrite);
}

static TlStatus write_frame(Series *s, int64_t index, int64_t at) {
  TlFrame frame;
  TL_TRY(tl_results_read_frame(s->folder, index, &frame));
  TlStatus status = TL_OK;
  s->time_s[at] = frame.time_s;
  for (int list = 0; list < s->lists && status == TL_OK; list++) {
    char *name = tl_format("%s_%06lld.vtp", LIST[list], (long long)index), *path = NULL;
    s->name[list][at] = name;
    if (name) path = tl_path_join(s->output, name);
    status = path ? write_list_item(s, list, &frame, path) : TL_ENOMEM;
    tl_free(path);
  }
  tl_frame_free(&frame);
  return status;
}

static TlStatus write_list(const Series *s, int list, int64_t count) {
  char *path = NULL, *name = tl_format("%s.pvd", LIST[list]);
  if (name) path = tl_path_join(s->output, name);
  TlStatus status = path ? tl_vtk_write_pvd(path, s->overwrite, (const char *const *)s->name[list],
                                            s->time_s, count)
                         : TL_ENOMEM;
  tl_free(name);
  tl_free(path);
  return status;
}

static TlStatus widen(Series *s, int64_t index) {
  TlFrame frame;
  TL_TRY(tl_results_read_frame(s->folder, index, &frame));
  for (int64_t i = 0; i < frame.count; i++) {
    TlVec3 x = frame.rows[i].position_m;
    s->low = tl_vec3(fmin(s->low.x, x.x), fmin(s->low.y, x.y), fmin(s->low.z, x.z));
    s->high = tl_vec3(fmax(s->high.x, x.x), fmax(s->high.y, x.y), fmax(s->high.z, x.z));
  }
  tl_frame_free(&frame);
  return TL_OK;
}

static TlStatus find_box(Series *s, int64_t first, int64_t last) {
  s->low = tl_vec3(INFINITY, INFINITY, INFINITY);
  s->high = tl_scale(-1, s->low);
  TL_TRY(widen(s, first));
  TL_TRY(widen(s, last));
  if (!(s->low.x <= s->high.x)) s->low = s->high = tl_vec3(0, 0, 0); /* poured: none yet */
  return TL_OK;
}

static TlStatus write_series(Series *s, const int64_t *index, int64_t count) {
  TlStatus status = TL_NEW(s->time_s, (size_t)count);
  s->lists = tl_walls_any(s->scene) ? LISTS : GRAINS + 1;
  for (int list = 0; list < s->lists && status == TL_OK; list++)
    status = TL_NEW(s->name[list], (size_t)count);
  if (status == TL_OK && s->lists > WALLS) status = find_box(s, index[0], index[count - 1]);
  TlProgress progress = tl_progress_start("export", count);
  for (int64_t i = 0; i < count && status == TL_OK; i++) {
    status = write_frame(s, index[i], i);
    tl_progress(&progress, i + 1);
  }
  tl_progress_end(&progress);
  for (int list = 0; list < s->lists; list++) {
    if (status == TL_OK) status = write_list(s, list, count);
    for (int64_t i = 0; s->name[list] && i < count; i++) tl_free(s->name[list][i]);
    tl_free(s->name[list]);
  }
  tl_free(s->time_s);
  return status;
}

static TlStatus write_still(const TlScene *scene, const char *output, bool overwrite,
                            int64_t *files) {
  if (!scene->has_terrain) return TL_OK;
  char *path = tl_path_join(output, "terrain.vtp");
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_export_terrain(&scene->terrain, path, overwrite);
  tl_free(path);
  ++*files;
  return status;
}

TlStatus tl_export_run(const char *folder, const TlScene *scene, const TlExportOptions *options,
                       const char *output, bool overwrite, int64_t *files) {
  int64_t *index, count;
  TlMesh *mesh = NULL;
  TL_TRY(tl_results_frames(folder, &index, &count));
  TlStatus status = TL_OK;
  if (count == 0) status = tl_fail(TL_EINPUT, "%s: holds no frames; was the study run?", folder);
  if (status == TL_OK) status = tl_dir_make(output);
  if (status == TL_OK && options->surfaces) status = make_meshes(scene, options->cells, &mesh);
  *files = (count + 1) * (tl_walls_any(scene) ? LISTS : 1);
  Series series = {folder, output, scene, mesh, overwrite};
  if (status == TL_OK) status = write_still(scene, output, overwrite, files);
  if (status == TL_OK) status = write_series(&series, index, count);
  for (int64_t i = 0; mesh && i < scene->avatar_count; i++) tl_mesh_free(&mesh[i]);
  tl_free(mesh);
  tl_free(index);
  return status;
}
