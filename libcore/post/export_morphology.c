#include "post/export_morphology.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv.h"
#include "post/number_lines.h"
#include "shape/build.h"
#include "shape/mesh.h"
#include "shape/nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void put_reals(FILE *file, const double *values, int count) {
  for (int i = 0; i < count; i++) {
    char text[40];
    tl_csv_real(text, values[i]);
    fprintf(file, "%s%c", text, i == count - 1 ? '\n' : ' ');
  }
}

/* Nine digits are within 5e-9 of the value, a sixth of half a float's last place, so multiplying
 * by the spacing and rounding to float gives the stored bits. */
static void put_floats(FILE *file, const float *values, int64_t count, double unit) {
  for (int64_t i = 0; i < count; i++)
    fprintf(file, "%.9g%c", values[i] / unit, i == count - 1 ? '\n' : ' ');
}

static void put_avatar(FILE *file, const TlAvatar *a) {
  double h = a->spacing_m, h3 = h * h * h, h5 = h3 * h * h;
  put_reals(file, (double[]){a->volume_m3 / h3}, 1);
  put_reals(file, (double[]){a->inertia_m5.x / h5, a->inertia_m5.y / h5, a->inertia_m5.z / h5}, 3);
  put_reals(file, (double[]){-a->origin_m.x / h, -a->origin_m.y / h, -a->origin_m.z / h}, 3);
  fprintf(file, "%d\n", a->node_count);
  put_floats(file, a->node_m, 3 * (int64_t)a->node_count, h);
  put_reals(file, (double[]){a->radius_m / h}, 1);
  fprintf(file, "%d %d %d\n", a->nx, a->ny, a->nz);
  put_floats(file, a->phi, (int64_t)a->nx * a->ny * a->nz, h);
}

TlStatus tl_morphology_write(const char *path, bool overwrite, const TlAvatar *avatar) {
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  FILE *file = fopen(out.temp, "w");
  TlStatus status = TL_OK;
  if (file) put_avatar(file, avatar);
  bool failed = !file || ferror(file);
  if (file && fclose(file) != 0) failed = true;
  if (failed) status = tl_fail_errno(path, "cannot write");
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}

/* ---- reading ---- */

static TlStatus take_counts(TlNumberLines *r, int32_t *values, int count, int32_t least,
                            int32_t most) {
  double real[3];
  TL_TRY(tl_number_line(r, real, count));
  for (int i = 0; i < count; i++) {
    if (!(real[i] >= least && real[i] <= most && real[i] == floor(real[i])))
      return tl_fail(TL_EINPUT, "%s:%lld: %g is not a whole number of %d to %d", r->path,
                     (long long)r->line, real[i], least, most);
    values[i] = (int32_t)real[i];
  }
  return TL_OK;
}

static TlStatus take_floats(TlNumberLines *r, float **values, int64_t count, double unit) {
  double *real;
  TL_TRY(TL_NEW(real, (size_t)count));
  TlStatus status = tl_number_line(r, real, count);
  if (status == TL_OK) status = TL_NEW(*values, (size_t)count);
  for (int64_t i = 0; status == TL_OK && i < count; i++) (*values)[i] = (float)(real[i] * unit);
  tl_free(real);
  return status;
}

static TlStatus parse(TlNumberLines *r, double h, double density, TlAvatar *a) {
  double mass, moment[3], centre[3], radius, h3 = h * h * h;
  int32_t size[3];
  TL_TRY(tl_number_line(r, &mass, 1));
  TL_TRY(tl_number_line(r, moment, 3));
  TL_TRY(tl_number_line(r, centre, 3));
  TL_TRY(take_counts(r, &a->node_count, 1, 4, 100000000));
  TL_TRY(take_floats(r, &a->node_m, 3 * (int64_t)a->node_count, h));
  TL_TRY(tl_number_line(r, &radius, 1));
  TL_TRY(take_counts(r, size, 3, 3, 4096));
  TL_TRY(take_floats(r, &a->phi, (int64_t)size[0] * size[1] * size[2], h));
  if (*r->at) return tl_fail(TL_EINPUT, "%s: text follows the eighth line", r->path);
  a->nx = size[0], a->ny = size[1], a->nz = size[2];
  a->spacing_m = h;
  a->volume_m3 = mass / density * h3;
  double h5 = h3 * h * h / density;
  a->inertia_m5 = tl_vec3(moment[0] * h5, moment[1] * h5, moment[2] * h5);
  a->origin_m = tl_vec3(-centre[0] * h, -centre[1] * h, -centre[2] * h);
  a->radius_m = radius * h;
  return TL_OK;
}

/* Each triangle's area goes to the node nearest to its middle. */
static void share_areas(const TlMesh *mesh, TlAvatar *a) {
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *v = mesh->triangle + 3 * t;
    TlVec3 p = tl_mesh_vertex(mesh, v[0]), q = tl_mesh_vertex(mesh, v[1]),
           s = tl_mesh_vertex(mesh, v[2]);
    TlVec3 middle = tl_scale(1.0 / 3, tl_add(p, tl_add(q, s)));
    double best = INFINITY, area = 0.5 * tl_norm(tl_cross(tl_sub(q, p), tl_sub(s, p)));
    int32_t nearest = 0;
    for (int32_t n = 0; n < a->node_count; n++) {
      const float *x = a->node_m + 3 * (size_t)n;
      double d2 = tl_norm2(tl_sub(tl_vec3(x[0], x[1], x[2]), middle));
      if (d2 < best) best = d2, nearest = n;
    }
    a->node_area_m2[nearest] = (float)(a->node_area_m2[nearest] + area);
  }
}

static TlStatus work_out(TlAvatar *a) {
  TlMesh mesh = {0};
  double radius = a->radius_m;
  TL_TRY(tl_mesh_from_avatar(a, &mesh));
  a->area_m2 = tl_mesh_area(&mesh);
  TlStatus status = TL_NEW(a->node_area_m2, (size_t)a->node_count);
  if (status == TL_OK) share_areas(&mesh, a);
  if (status == TL_OK) status = tl_nodes_extents(a);
  tl_mesh_free(&mesh);
  a->radius_m = fmax(radius, a->radius_m);
  a->gradient_max = tl_avatar_measure_gradient(a);
  a->phi_error_m = 0.1 * a->spacing_m;
  a->scan_rotation = (TlQuat){1, 0, 0, 0};
  return status;
}

TlStatus tl_morphology_read(const char *path, double spacing_m, double density, TlAvatar *avatar) {
  *avatar = (TlAvatar){0};
  char *text;
  size_t size;
  TL_TRY(tl_file_read(path, &text, &size));
  TlNumberLines reader = {path, text, 0};
  TlStatus status = parse(&reader, spacing_m, density, avatar);
  tl_free(text);
  if (status == TL_OK) status = work_out(avatar);
  if (status == TL_OK) status = tl_context(tl_avatar_check(avatar), "%s", path);
  if (status != TL_OK) tl_avatar_free(avatar);
  return status;
}

/* ---- tables beside the grains ---- */

/* count lines of width numbers; *values stays NULL where there is no such file. */
static TlStatus read_table(const char *folder, const char *name, int64_t count, int width,
                           double **values) {
  char *path = tl_path_join(folder, name), *text;
  size_t size;
  *values = NULL;
  if (!path) return TL_ENOMEM;
  TlStatus status = TL_OK;
  if (!tl_file_exists(path)) {
    tl_free(path);
    return TL_OK;
  }
  status = tl_file_read(path, &text, &size);
  if (status == TL_OK) {
    TlNumberLines reader = {path, text, 0};
    status = TL_NEW(*values, (size_t)(count * width));
    for (int64_t i = 0; status == TL_OK && i < count; i++)
      status = tl_number_line(&reader, *values + i * width, width);
    if (status == TL_OK && *reader.at)
      status = tl_fail(TL_EINPUT,
                       "%s: more lines than the %lld grains; give all grains of the "
                       "folder, or --no-poses",
                       path, (long long)count);
    tl_free(text);
  }
  if (status != TL_OK) TL_FREE(*values);
  tl_free(path);
  return status;
}

static TlStatus take_labels(const double *values, int64_t count, TlMorphologyBeside *b) {
  TL_TRY(TL_NEW(b->label, (size_t)count));
  TL_TRY(TL_NEW(b->border, (size_t)count));
  for (int64_t i = 0; i < count; i++) {
    double label = values[2 * i];
    if (!(label >= 0 && label <= UINT32_MAX && label == floor(label)))
      return tl_fail(TL_EINPUT, "labels.txt:%lld: %g is no label", (long long)i + 1, label);
    b->label[i] = (uint32_t)label;
    b->border[i] = values[2 * i + 1] != 0;
  }
  return TL_OK;
}

static TlStatus take_rotations(const double *values, int64_t count, TlMorphologyBeside *b) {
  TL_TRY(TL_NEW(b->rotation, (size_t)count));
  for (int64_t i = 0; i < count; i++) {
    const double *v = values + 4 * i;
    double size = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
    if (fabs(size - 1) > 1e-6)
      return tl_fail(TL_EINPUT, "rotations.txt:%lld: no unit quaternion", (long long)i + 1);
    b->rotation[i] = (TlQuat){v[0], v[1], v[2], v[3]};
  }
  return TL_OK;
}

static TlStatus take_positions(const double *values, int64_t count, double h,
                               TlMorphologyBeside *b) {
  TL_TRY(TL_NEW(b->position_m, (size_t)count));
  for (int64_t i = 0; i < count; i++)
    b->position_m[i] = tl_vec3(values[3 * i] * h, values[3 * i + 1] * h, values[3 * i + 2] * h);
  return TL_OK;
}

TlStatus tl_morphology_beside(const char *folder, int64_t count, double spacing_m,
                              TlMorphologyBeside *b) {
  double *position = NULL, *rotation = NULL, *label = NULL;
  *b = (TlMorphologyBeside){0};
  TlStatus status = read_table(folder, "positions.txt", count, 3, &position);
  if (status == TL_OK) status = read_table(folder, "rotations.txt", count, 4, &rotation);
  if (status == TL_OK) status = read_table(folder, "labels.txt", count, 2, &label);
  if (status == TL_OK && position) status = take_positions(position, count, spacing_m, b);
  if (status == TL_OK && rotation) status = take_rotations(rotation, count, b);
  if (status == TL_OK && label) status = take_labels(label, count, b);
  tl_free(position);
  tl_free(rotation);
  tl_free(label);
  if (status != TL_OK) tl_morphology_beside_free(b);
  return status;
}

void tl_morphology_beside_free(TlMorphologyBeside *b) {
  tl_free(b->position_m);
  tl_free(b->rotation);
  tl_free(b->label);
  tl_free(b->border);
  *b = (TlMorphologyBeside){0};
}
