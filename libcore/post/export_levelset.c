#include "post/export_levelset.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv.h"
#include "post/number_lines.h"
#include "shape/build.h"
#include "shape/mass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- any file: whole or absent ---- */

typedef TlStatus (*Put)(FILE *file, const void *context);

static TlStatus write_whole(const char *path, bool overwrite, Put put, const void *context) {
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  FILE *file = fopen(out.temp, "wb");
  TlStatus status = file ? put(file, context) : TL_OK;
  bool failed = !file || ferror(file);
  if (file && fclose(file) != 0) failed = true;
  if (failed && status == TL_OK) status = tl_fail_errno(path, "cannot write");
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}

/* ---- LAMMPS ---- */

typedef struct Scaled {
  const TlAvatar *avatar;
  double per_metre;
} Scaled;

static TlStatus put_lammps(FILE *file, const void *context) {
  const Scaled *s = context;
  const TlAvatar *a = s->avatar;
  const double real[] = {a->spacing_m * s->per_metre, a->origin_m.x * s->per_metre,
                         a->origin_m.y * s->per_metre, a->origin_m.z * s->per_metre};
  char text[4][40];
  for (int i = 0; i < 4; i++) tl_csv_real(text[i], real[i]);
  fprintf(file, "# Talus grain %lld: signed distance, positive outside, x fastest\n",
          (long long)a->id);
  fprintf(file, "%d %d %d\n%s\n%s %s %s\n", a->nx, a->ny, a->nz, text[0], text[1], text[2],
          text[3]);
  int64_t count = (int64_t)a->nx * a->ny * a->nz;
  for (int64_t i = 0; i < count; i++) fprintf(file, "%.9g\n", a->phi[i] * s->per_metre);
  return TL_OK;
}

TlStatus tl_lammps_write(const char *path, bool overwrite, const TlAvatar *avatar,
                         double per_metre) {
  return write_whole(path, overwrite, put_lammps, &(Scaled){avatar, per_metre});
}

static TlStatus parse(TlNumberLines *r, double metre, TlAvatar *a) {
  double n[3], h, low[3], value;
  char *end = strchr(r->at, '\n');
  r->line = 1;
  r->at = end ? end + 1 : r->at + strlen(r->at);
  TL_TRY(tl_number_line(r, n, 3));
  for (int i = 0; i < 3; i++)
    if (!(n[i] >= 5 && n[i] <= 4096 && n[i] == floor(n[i])))
      return tl_fail(TL_EINPUT, "%s:2: %g is not a whole number of 5 to 4096", r->path, n[i]);
  TL_TRY(tl_number_line(r, &h, 1));
  if (!(h > 0)) return tl_fail(TL_EINPUT, "%s:3: a stride of %g", r->path, h);
  TL_TRY(tl_number_line(r, low, 3));
  a->nx = (int32_t)n[0], a->ny = (int32_t)n[1], a->nz = (int32_t)n[2];
  a->spacing_m = h * metre;
  a->origin_m = tl_vec3(low[0] * metre, low[1] * metre, low[2] * metre);
  int64_t count = (int64_t)a->nx * a->ny * a->nz;
  TL_TRY(TL_NEW(a->phi, (size_t)count));
  for (int64_t i = 0; i < count; i++) {
    TL_TRY(tl_number_line(r, &value, 1));
    a->phi[i] = (float)(value * metre);
  }
  while (*r->at == '\n' || *r->at == '\r' || *r->at == ' ') r->at++;
  return *r->at ? tl_fail(TL_EINPUT, "%s:%lld: text follows the last value", r->path,
                          (long long)r->line + 1)
                : TL_OK;
}

/* Does the grid stand on the principal axes at the centre of mass? */
static bool stands(const TlAvatar *a, const TlMass *m) {
  TlVec3 off = tl_add(m->centroid, tl_scale(1 / a->spacing_m, a->origin_m));
  TlSym3 i = m->inertia;
  double size = 0.01 * (i.xx + i.yy + i.zz) / 3;
  return tl_norm(off) < 0.1 && fabs(i.xy) < size && fabs(i.xz) < size && fabs(i.yz) < size &&
         i.xx <= i.yy * 1.001 && i.yy <= i.zz * 1.001;
}

static TlStatus complete(TlAvatar *a, int32_t nodes) {
  TlPhiGrid grid = {a->nx, a->ny, a->nz, NULL};
  size_t count = (size_t)tl_grid_count(&grid);
  double h = a->spacing_m;
  TlMass mass;
  TL_TRY(TL_NEW(grid.phi, count));
  for (size_t i = 0; i < count; i++) grid.phi[i] = (float)(a->phi[i] / h);
  TlBuildOptions build = {.nodes = {.count = nodes}};
  TlStatus status = tl_mass_properties(&grid, &mass);
  if (status == TL_OK && !stands(a, &mass)) {
    TlVec3 low = a->origin_m;
    tl_avatar_free(a);
    status = tl_avatar_build_from_phi(&grid, (int64_t[]){0, 0, 0}, h, 0, false, &build, a);
    a->scan_centroid_m = tl_add(a->scan_centroid_m, low);
  } else if (status == TL_OK) {
    double h3 = h * h * h;
    TlGridView view = {&grid, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, tl_scale(-1 / h, a->origin_m)};
    a->volume_m3 = mass.volume * h3;
    a->area_m2 = mass.area * h * h;
    a->inertia_m5 =
        tl_scale(h3 * h * h, tl_vec3(mass.inertia.xx, mass.inertia.yy, mass.inertia.zz));
    a->scan_rotation = (TlQuat){1, 0, 0, 0};
    status = tl_avatar_finish(a, &build.nodes, tl_grid_view, &view);
  }
  tl_free(grid.phi);
  return status;
}

TlStatus tl_lammps_read(const char *path, double per_metre, int32_t nodes, TlAvatar *avatar) {
  *avatar = (TlAvatar){0};
  char *text;
  size_t size;
  TL_TRY(tl_file_read(path, &text, &size));
  TlNumberLines reader = {path, text, 0};
  TlStatus status = parse(&reader, 1 / per_metre, avatar);
  tl_free(text);
  if (status == TL_OK) status = tl_context(complete(avatar, nodes), "%s", path);
  if (status == TL_OK) status = tl_context(tl_avatar_check(avatar), "%s", path);
  if (status != TL_OK) tl_avatar_free(avatar);
  return status;
}

/* ---- NumPy ---- */

typedef struct Array {
  const float *values;
  int64_t count;
  char shape[80]; /* and the order */
} Array;

/* NumPy's format 1.0: magic, version, length of the header, header padded to 64 bytes. */
static TlStatus put_npy(FILE *file, const void *context) {
  const Array *a = context;
  char head[128];
  int n = snprintf(head, sizeof head, "{'descr': '<f4', %s, }", a->shape);
  memset(head + n, ' ', sizeof head - (size_t)n);
  head[117] = '\n';
  fwrite("\x93NUMPY\x01\x00\x76\x00", 10, 1, file); /* 118 bytes of header: 128 in all */
  fwrite(head, 118, 1, file);
  fwrite(a->values, sizeof *a->values, (size_t)a->count, file);
  return TL_OK;
}

static TlStatus write_npy(const char *stem, const char *name, bool overwrite, const Array *array) {
  char *path = tl_format("%s_%s.npy", stem, name);
  TlStatus status = path ? write_whole(path, overwrite, put_npy, array) : TL_ENOMEM;
  tl_free(path);
  return status;
}

TlStatus tl_npy_write(const char *stem, bool overwrite, const TlAvatar *a) {
  Array phi = {a->phi, (int64_t)a->nx * a->ny * a->nz, ""};
  Array nodes = {a->node_m, 3 * (int64_t)a->node_count, ""};
  snprintf(phi.shape, sizeof phi.shape, "'fortran_order': True, 'shape': (%d, %d, %d)", a->nx,
           a->ny, a->nz);
  snprintf(nodes.shape, sizeof nodes.shape, "'fortran_order': False, 'shape': (%d, 3)",
           a->node_count);
  TL_TRY(write_npy(stem, "phi", overwrite, &phi));
  return write_npy(stem, "nodes", overwrite, &nodes);
}

/* ---- the loader ---- */

static const char loader_head[] =
    "# Grains for YADE (LevelSet shapes), written by talus-catalog export --format=yade.\n"
    "# In a YADE script:  from yade_grains import load;  load(O, 'this/folder')\n"
    "# Metres; distField[i][j][k] at minimum + spacing (i, j, k), negative inside; body frame on "
    "the\n"
    "# principal axes at the centre of mass; quaternions w x y z turn body to scan.\n"
    "# name, spacing, minimum, volume, inertia at unit density, position, quaternion, border\n"
    "GRAINS = [\n";
static const char loader_tail[] =
    "]\n"
    "\n"
    "\n"
    "def load(scene, folder, density=2650.0, material=-1, with_border=False):\n"
    "    import numpy\n"
    "    from yade import Vector3, Quaternion, RegularGrid, utils\n"
    "    ids = []\n"
    "    for name, h, low, volume, inertia, x, q, border in GRAINS:\n"
    "        if border and not with_border:\n"
    "            continue\n"
    "        phi = numpy.load('%s/%s_phi.npy' % (folder, name))\n"
    "        nodes = numpy.load('%s/%s_nodes.npy' % (folder, name))\n"
    "        grid = RegularGrid(min=Vector3(*low), nGP=phi.shape, spacing=h)\n"
    "        body = utils.levelSetBody(grid=grid, distField=phi.tolist(), center=Vector3(*x),\n"
    "                                  orientation=Quaternion(*q), material=material)\n"
    "        body.shape.updateAttrs({'surfNodes': [Vector3(*map(float, p)) for p in nodes]})\n"
    "        body.state.mass = density * volume\n"
    "        body.state.inertia = density * Vector3(*inertia)\n"
    "        ids.append(scene.bodies.append(body))\n"
    "    return ids\n";

typedef struct Loader {
  TlCatalog *catalog;
  const TlGrainRow *row;
  int64_t count;
} Loader;

static void put_tuple(FILE *file, const double *values, int count) {
  for (int i = 0; i < count; i++) {
    char text[40];
    tl_csv_real(text, values[i]);
    fprintf(file, "%s%s", i ? ", " : "(", text);
  }
  fputs("), ", file);
}

static TlStatus put_loader(FILE *file, const void *context) {
  const Loader *l = context;
  fputs(loader_head, file);
  for (int64_t i = 0; i < l->count; i++) {
    const TlGrainRow *g = &l->row[i];
    TlAvatar a;
    char h[40], v[40];
    TL_TRY(tl_catalog_load_avatar(l->catalog, g->id, &a));
    tl_csv_real(h, a.spacing_m);
    tl_csv_real(v, a.volume_m3);
    fprintf(file, "    ('grain_%06lld', %s, ", (long long)g->id, h);
    put_tuple(file, (double[]){a.origin_m.x, a.origin_m.y, a.origin_m.z}, 3);
    fprintf(file, "%s, ", v);
    put_tuple(file, (double[]){a.inertia_m5.x, a.inertia_m5.y, a.inertia_m5.z}, 3);
    put_tuple(file, (double[]){a.scan_centroid_m.x, a.scan_centroid_m.y, a.scan_centroid_m.z}, 3);
    put_tuple(
        file,
        (double[]){a.scan_rotation.w, a.scan_rotation.x, a.scan_rotation.y, a.scan_rotation.z}, 4);
    fprintf(file, "%s),\n", a.border ? "True" : "False");
    tl_avatar_free(&a);
  }
  fputs(loader_tail, file);
  return TL_OK;
}

TlStatus tl_yade_loader_write(const char *folder, bool overwrite, const TlGrainRow *row,
                              int64_t count, TlCatalog *catalog) {
  char *path = tl_path_join(folder, "yade_grains.py");
  Loader loader = {catalog, row, count};
  TlStatus status = path ? write_whole(path, overwrite, put_loader, &loader) : TL_ENOMEM;
  tl_free(path);
  return status;
}
