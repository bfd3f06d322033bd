#include "post/export_catalog.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/csv.h"
#include "io/mesh.h"
#include "post/export.h"
#include "post/export_levelset.h"
#include "post/export_morphology.h"
#include "post/surface.h"

#include <math.h>
#include <string.h>

double tl_grain_diameter_m(const TlGrainRow *row) {
  return cbrt(6 * row->volume_m3 / M_PI);
}

double tl_grain_sphericity(const TlGrainRow *row) {
  double d = tl_grain_diameter_m(row);
  return row->area_m2 > 0 ? M_PI * d * d / row->area_m2 : NAN;
}

typedef struct Rows {
  TlGrainRow *row;
  size_t capacity;
  int64_t count;
} Rows;

static TlStatus keep_row(void *context, const TlGrainRow *row) {
  Rows *rows = context;
  TL_TRY(TL_RESERVE(rows->row, rows->capacity, (size_t)rows->count + 1));
  rows->row[rows->count++] = *row;
  return TL_OK;
}

TlStatus tl_export_ids(TlCatalog *catalog, const TlGrainQuery *query, TlGrainRow **row,
                       int64_t *count) {
  Rows rows = {0};
  TlStatus status = tl_catalog_walk_grains(catalog, query, keep_row, &rows);
  if (status == TL_OK && rows.count == 0)
    status = tl_fail(TL_EINPUT, "no grain fits the query; talus-catalog list shows what there is");
  if (status != TL_OK) {
    tl_free(rows.row);
    return status;
  }
  *row = rows.row;
  *count = rows.count;
  return TL_OK;
}

/* ---- table ---- */

static TlStatus put_row(TlCsv *csv, const TlGrainRow *g) {
  const double row[] = {(double)g->id,
                        (double)g->sample_id,
                        g->label,
                        g->border,
                        g->volume_m3,
                        g->area_m2,
                        tl_grain_diameter_m(g),
                        g->axes_m[0],
                        g->axes_m[1],
                        g->axes_m[2],
                        g->axes_m[1] / g->axes_m[0],
                        g->axes_m[2] / g->axes_m[1],
                        tl_grain_sphericity(g),
                        g->inertia_m5.x,
                        g->inertia_m5.y,
                        g->inertia_m5.z,
                        g->radius_m,
                        g->scan_centroid_m.x,
                        g->scan_centroid_m.y,
                        g->scan_centroid_m.z,
                        g->scan_rotation.w,
                        g->scan_rotation.x,
                        g->scan_rotation.y,
                        g->scan_rotation.z,
                        g->spacing_m,
                        g->node_count};
  return tl_csv_row(csv, row, sizeof row / sizeof *row);
}

TlStatus tl_export_table(TlCatalog *catalog, const TlGrainQuery *query, const char *path,
                         bool overwrite, int64_t *count) {
  TlGrainRow *row;
  TlCsv csv;
  TL_TRY(tl_export_ids(catalog, query, &row, count));
  TlStatus status = tl_csv_begin(
      &csv, path, overwrite,
      "id,sample,label,border,volume_m3,area_m2,diameter_m,axis_a_m,axis_b_m,axis_c_m,"
      "elongation_b_a,flatness_c_b,sphericity,inertia_1_m5,inertia_2_m5,inertia_3_m5,radius_m,"
      "scan_x_m,scan_y_m,scan_z_m,scan_qw,scan_qx,scan_qy,scan_qz,spacing_m,nodes");
  if (status == TL_OK) {
    for (int64_t i = 0; i < *count && status == TL_OK; i++) status = put_row(&csv, &row[i]);
    if (status == TL_OK)
      status = tl_csv_commit(&csv);
    else
      tl_csv_abort(&csv);
  }
  tl_free(row);
  return status;
}

/* ---- shapes ---- */

static TlStatus write_mesh(const TlAvatar *a, const TlMesh *mesh, TlVec3 position, TlQuat rotation,
                           const TlGrainExport *how, const char *path) {
  char title[80];
  float *vertex;
  TlMat3 r = tl_quat_matrix(rotation);
  snprintf(title, sizeof title, "Talus grain %lld, unit %s", (long long)a->id, how->unit);
  TL_TRY(TL_NEW(vertex, 3 * mesh->vertex_count));
  for (size_t i = 0; i < mesh->vertex_count; i++) {
    TlVec3 p = tl_add(position, tl_mat_vec(r, tl_mesh_vertex(mesh, (int32_t)i)));
    vertex[3 * i] = (float)p.x, vertex[3 * i + 1] = (float)p.y, vertex[3 * i + 2] = (float)p.z;
  }
  TlStatus status = how->format == TL_GRAIN_STL
                        ? tl_stl_write(path, how->overwrite, title, vertex, mesh->triangle,
                                       mesh->triangle_count, how->per_metre)
                        : tl_ply_write(path, how->overwrite, title, vertex, mesh->vertex_count,
                                       mesh->triangle, mesh->triangle_count, how->per_metre);
  tl_free(vertex);
  return status;
}

static TlStatus write_surface(const TlAvatar *a, const TlGrainExport *how, const char *path) {
  TlMesh mesh;
  double shift;
  TlVec3 position = how->scan_frame ? a->scan_centroid_m : tl_vec3(0, 0, 0);
  TlQuat rotation = how->scan_frame ? a->scan_rotation : (TlQuat){1, 0, 0, 0};
  TL_TRY(tl_surface_make(a, how->cells, &mesh, &shift));
  tl_log_debug("grain %lld: %zu triangles, surface moved by %.3g cells to keep the volume",
               (long long)a->id, mesh.triangle_count, shift / a->spacing_m);
  TlStatus status = how->format != TL_GRAIN_VTP
                        ? write_mesh(a, &mesh, position, rotation, how, path)
                        : tl_export_grain(a, &mesh, position, rotation, path, how->overwrite);
  tl_mesh_free(&mesh);
  return status;
}

static TlStatus write_avatar(const TlAvatar *a, const TlGrainExport *how, const char *path) {
  switch (how->format) {
  case TL_GRAIN_MORPHOLOGY:
    return tl_morphology_write(path, how->overwrite, a);
  case TL_GRAIN_VTI:
    return tl_export_field(a, path, how->overwrite);
  case TL_GRAIN_LAMMPS:
    return tl_lammps_write(path, how->overwrite, a, how->per_metre);
  case TL_GRAIN_YADE:
    return tl_npy_write(path, how->overwrite, a);
  default:
    return write_surface(a, how, path);
  }
}

TlStatus tl_export_one(TlCatalog *catalog, int64_t id, const TlGrainExport *how, const char *path) {
  TlAvatar avatar;
  TL_TRY(tl_catalog_load_avatar(catalog, id, &avatar));
  TlStatus status = write_avatar(&avatar, how, path);
  tl_avatar_free(&avatar);
  return tl_context(status, "grain %lld", (long long)id);
}

/* ---- a folder of them ---- */

static TlStatus same_spacing(const TlGrainRow *row, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (row[i].spacing_m != row[0].spacing_m)
      return tl_fail(TL_EINPUT,
                     "grains %lld and %lld have grids of %g and %g m; positions in grid spacings "
                     "need one: export each sample by itself (--sample)",
                     (long long)row[0].id, (long long)row[i].id, row[0].spacing_m,
                     row[i].spacing_m);
  return TL_OK;
}

static TlStatus write_readme(const char *folder, const TlGrainRow *row, bool overwrite) {
  char *path = tl_path_join(folder, "README.txt");
  char *text = tl_format(
      "Grains for LS-DEM codes, one file a grain, 8 lines: mass; I1 I2 I3; centre of mass in the\n"
      "grid x y z; number of nodes; nodes x y z ...; bounding radius; nx ny nz; level set.\n"
      "Unit of length: the grid spacing, %.17g m. Mass and moments at unit density. Body frame on\n"
      "the principal axes, moments ascending; nodes relative to the centre of mass. Level set:\n"
      "x fastest, then y, then z; negative inside.\n"
      "positions.txt, rotations.txt: a line a grain, in order of file name; centre of mass in the\n"
      "scan, in grid spacings; quaternion w x y z, rotates body to scan. labels.txt: label in the\n"
      "scan, and 1 for a grain that the scan's border cuts.\n"
      "Back again: talus-catalog import CATALOG grain_*.txt --sample=NAME --spacing-um=%.17g\n",
      row[0].spacing_m, row[0].spacing_m * 1e6);
  TlStatus status = path && text ? tl_file_write(path, text, strlen(text), overwrite) : TL_ENOMEM;
  tl_free(path);
  tl_free(text);
  return status;
}

typedef enum Beside { POSITIONS, ROTATIONS, LABELS } Beside;

static void put_beside(FILE *file, const TlGrainRow *g, Beside what) {
  double h = g->spacing_m;
  TlVec3 x = g->scan_centroid_m;
  TlQuat q = g->scan_rotation;
  const double value[3][4] = {
      {x.x / h, x.y / h, x.z / h}, {q.w, q.x, q.y, q.z}, {g->label, g->border}};
  static const int width[3] = {3, 4, 2};
  for (int i = 0; i < width[what]; i++) {
    char text[40];
    tl_csv_real(text, value[what][i]);
    fprintf(file, "%s%c", text, i == width[what] - 1 ? '\n' : ' ');
  }
}

static TlStatus write_lines(const char *folder, const char *name, const TlGrainRow *row,
                            int64_t count, Beside what, bool overwrite) {
  char *path = tl_path_join(folder, name);
  TlOutFile out;
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_outfile_begin(&out, path, overwrite);
  tl_free(path);
  if (status != TL_OK) return status;
  FILE *file = fopen(out.temp, "w");
  for (int64_t i = 0; file && i < count; i++) put_beside(file, &row[i], what);
  bool failed = !file || ferror(file);
  if (file && fclose(file) != 0) failed = true;
  if (!failed) return tl_outfile_commit(&out);
  status = tl_fail_errno(out.path, "cannot write");
  tl_outfile_abort(&out);
  return status;
}

static TlStatus write_beside(const TlGrainRow *row, int64_t count, const TlGrainExport *how,
                             const char *folder) {
  TL_TRY(write_readme(folder, row, how->overwrite));
  TL_TRY(write_lines(folder, "positions.txt", row, count, POSITIONS, how->overwrite));
  TL_TRY(write_lines(folder, "rotations.txt", row, count, ROTATIONS, how->overwrite));
  return write_lines(folder, "labels.txt", row, count, LABELS, how->overwrite);
}

static TlStatus write_all(TlCatalog *catalog, const TlGrainRow *row, int64_t count,
                          const TlGrainExport *how, const char *folder) {
  static const char *const extension[] = {".csv", ".stl", ".vtp",  ".vti",
                                          ".txt", ".ply", ".grid", ""};
  TlProgress progress = tl_progress_start("export", count);
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < count && status == TL_OK; i++) {
    char *path =
        tl_format("%s/grain_%06lld%s", folder, (long long)row[i].id, extension[how->format]);
    status = path ? tl_export_one(catalog, row[i].id, how, path) : TL_ENOMEM;
    tl_free(path);
    tl_progress(&progress, i + 1);
  }
  tl_progress_end(&progress);
  return status;
}

TlStatus tl_export_many(TlCatalog *catalog, const TlGrainQuery *query, const TlGrainExport *how,
                        const char *folder, int64_t *count) {
  TlGrainRow *row;
  TL_TRY(tl_export_ids(catalog, query, &row, count));
  bool morphology = how->format == TL_GRAIN_MORPHOLOGY;
  TlStatus status = morphology ? same_spacing(row, *count) : TL_OK;
  if (status == TL_OK) status = tl_dir_make(folder);
  if (status == TL_OK) status = write_all(catalog, row, *count, how, folder);
  if (status == TL_OK && morphology) status = write_beside(row, *count, how, folder);
  if (status == TL_OK && how->format == TL_GRAIN_YADE)
    status = tl_yade_loader_write(folder, how->overwrite, row, *count, catalog);
  tl_free(row);
  return status;
}
