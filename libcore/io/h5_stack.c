#include "io/h5_stack.h"

#include "base/h5_library.h"
#include "base/h5_read.h"
#include "base/mem.h"
#include "io/h5_parts.h"
#include "io/stack_sandbox.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Chunks are flat, for what is larger than memory is written a few layers at a time. */
enum { DEEP = 16, WIDE = 128, FORMAT = 1 };

/* ---- types ---- */

static hid_t memory_type(TlVoxelType type) {
  switch (type) {
  case TL_U8:
    return H5T_NATIVE_UINT8;
  case TL_I8:
    return H5T_NATIVE_INT8;
  case TL_U16:
    return H5T_NATIVE_UINT16;
  case TL_I16:
    return H5T_NATIVE_INT16;
  case TL_U32:
    return H5T_NATIVE_UINT32;
  case TL_I32:
    return H5T_NATIVE_INT32;
  case TL_F32:
    return H5T_NATIVE_FLOAT;
  }
  return -1;
}

static bool integer_type(size_t size, H5T_sign_t sign, TlVoxelType *type) {
  bool is_signed = sign == H5T_SGN_2;
  if (size == 1) *type = is_signed ? TL_I8 : TL_U8;
  if (size == 2) *type = is_signed ? TL_I16 : TL_U16;
  if (size == 4) *type = is_signed ? TL_I32 : TL_U32;
  return size == 1 || size == 2 || size == 4;
}

/* h5py keeps booleans as an enumeration of one signed byte. */
static bool voxel_type_of(hid_t dataset, TlVoxelType *type) {
  TL_H5_OWNED hid_t t = H5Dget_type(dataset);
  H5T_class_t class = H5Tget_class(t);
  size_t size = H5Tget_size(t);
  bool known = false;
  if (class == H5T_INTEGER) known = integer_type(size, H5Tget_sign(t), type);
  if (class == H5T_FLOAT) { /* HDF5 turns halves and doubles into floats */
    known = size == 2 || size == 4 || size == 8;
    *type = TL_F32;
  }
  if (class == H5T_ENUM) {
    known = size == 1;
    *type = TL_U8;
  }
  return known;
}

/* ---- finding the dataset ---- */

typedef struct Search {
  int found;
  char first[512], names[1024];
} Search;

static herr_t look(hid_t root, const char *name, const H5O_info_t *object, void *user) {
  Search *search = user;
  if (object->type != H5O_TYPE_DATASET) return 0;
  TL_H5_OWNED hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
  TL_H5_OWNED hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
  if (space >= 0 && H5Sget_simple_extent_ndims(space) == 3) {
    size_t used = strlen(search->names);
    snprintf(search->names + used, sizeof search->names - used, "%s/%s", used ? ", " : "", name);
    if (search->found++ == 0) snprintf(search->first, sizeof search->first, "/%s", name);
  }
  return 0;
}

static TlStatus find_dataset(const char *path, hid_t file, char name[512]) {
  Search search = {0};
  snprintf(name, 512, "/stack");
  bool there;
  TL_TRY(tl_context(tl_h5_has(file, "/stack", &there), "%s", path));
  if (there) return TL_OK;
  if (H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, look, &search, H5O_INFO_BASIC) < 0)
    return tl_h5_fails(TL_EINPUT, path, "its groups cannot be read");
  if (search.found == 0) return tl_fail(TL_EINPUT, "%s: holds no 3-D dataset", path);
  if (search.found > 1)
    return tl_fail(TL_EINPUT, "%s: holds %d 3-D datasets (%s); give one as %s:/NAME", path,
                   search.found, search.names, path);
  memcpy(name, search.first, sizeof search.first);
  return TL_OK;
}

/* ---- attributes ---- */

static void read_size(hid_t object, double voxel_m[3]) {
  double um[3];
  if (tl_h5_numbers(object, "element_size_um", H5T_NATIVE_DOUBLE, 3, um) &&
      isfinite(um[0] + um[1] + um[2]) && um[0] > 0 && um[1] > 0 && um[2] > 0)
    for (int k = 0; k < 3; k++) voxel_m[k] = um[2 - k] * 1e-6;
}

static void read_cylinder(hid_t dataset, double cylinder[3]) {
  double c[3];
  if (tl_h5_numbers(dataset, "talus_cylinder", H5T_NATIVE_DOUBLE, 3, c) &&
      isfinite(c[0] + c[1] + c[2]) && c[2] > 0)
    memcpy(cylinder, c, sizeof c);
}

/* ---- reading, in the sandbox ---- */

typedef struct Job {
  TlStackJob stack;
  const char *path; /* borrowed; NULL: nothing was opened */
  hid_t file, dataset;
} Job;

static TlStatus read_shape(const char *path, const char *name, hid_t dataset, TlStackInfo *info) {
  hsize_t size[3] = {0, 0, 0};
  TL_H5_OWNED hid_t space = H5Dget_space(dataset);
  int axes = H5Sget_simple_extent_ndims(space);
  if (axes == 3) H5Sget_simple_extent_dims(space, size, NULL);
  if (axes != 3)
    return tl_fail(TL_EINPUT, "%s: %s has %d axes; a stack has three (z, y, x)", path, name, axes);
  if (size[0] == 0 || size[1] == 0 || size[2] == 0)
    return tl_fail(TL_EINPUT, "%s: %s is empty", path, name);
  if (!voxel_type_of(dataset, &info->type))
    return tl_fail(TL_EINPUT,
                   "%s: %s: voxels of a type we do not read; store 8-, 16- or 32-bit integers or "
                   "32-bit floats",
                   path, name);
  if (!tl_h5_believable(dataset))
    return tl_fail(TL_EINPUT,
                   "%s: %s tells of %llu x %llu x %llu voxels (z, y, x), more than the file can "
                   "hold; it is damaged",
                   path, name, (unsigned long long)size[0], (unsigned long long)size[1],
                   (unsigned long long)size[2]);
  info->nz = (int64_t)size[0];
  info->ny = (int64_t)size[1];
  info->nx = (int64_t)size[2];
  return TL_OK;
}

/* As many layers as a chunk has, so that each is unpacked once, while they are no more than this.
 */
enum { MOST_AT_ONCE = 256 << 20 };

static int64_t layers_at_once(hid_t dataset, const TlStackInfo *info) {
  hsize_t chunk[3] = {DEEP, 0, 0};
  TL_H5_OWNED hid_t plan = H5Dget_create_plist(dataset);
  if (H5Pget_layout(plan) == H5D_CHUNKED) H5Pget_chunk(plan, 3, chunk);
  int64_t layer = info->nx * info->ny * (int64_t)tl_voxel_size(info->type);
  int64_t deep = chunk[0] > DEEP && chunk[0] < INT32_MAX ? (int64_t)chunk[0] : DEEP;
  while (deep > 1 && deep > MOST_AT_ONCE / layer) deep /= 2;
  return deep;
}

static TlStatus open_file(const char *path, void *of) {
  Job *j = of;
  char name[512];
  TlStackInfo *info = &j->stack.info;
  j->path = path;
  j->dataset = -1;
  j->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (j->file < 0) return tl_h5_fails(TL_EINPUT, path, "cannot be opened as HDF5");
  if (j->stack.asked)
    snprintf(name, sizeof name, "%s", j->stack.asked);
  else
    TL_TRY(find_dataset(path, j->file, name));
  j->dataset = H5Dopen2(j->file, name, H5P_DEFAULT);
  if (j->dataset < 0) return tl_fail(TL_EINPUT, "%s: holds no dataset %s", path, name);
  TL_TRY(read_shape(path, name, j->dataset, info));
  read_size(j->file, info->voxel_m);
  read_size(j->dataset, info->voxel_m);
  read_cylinder(j->dataset, info->cylinder);
  j->stack.deep = layers_at_once(j->dataset, info);
  return tl_context(tl_h5_long_text(j->file, "/provenance", &info->history), "%s", path);
}

typedef struct Slab {
  hid_t dataset;
  TlVoxelType type;
  int64_t nx, ny, z, count;
} Slab;

/* Read into `in`, or write from `out` where that is given. */
static bool move_slab(const Slab *s, void *in, const void *out) {
  hsize_t start[3] = {(hsize_t)s->z, 0, 0};
  hsize_t count[3] = {(hsize_t)s->count, (hsize_t)s->ny, (hsize_t)s->nx};
  hid_t type = memory_type(s->type);
  TL_H5_OWNED hid_t space = H5Dget_space(s->dataset), slab = H5Screate_simple(3, count, NULL);
  return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
         (out ? H5Dwrite(s->dataset, type, slab, space, H5P_DEFAULT, out)
              : H5Dread(s->dataset, type, slab, space, H5P_DEFAULT, in)) >= 0;
}

static TlStatus read_piece(const void *of, int64_t z, int64_t count, uint8_t *voxels) {
  const Job *j = of;
  const TlStackInfo *i = &j->stack.info;
  Slab slab = {j->dataset, i->type, i->nx, i->ny, z, count};
  if (move_slab(&slab, voxels, NULL)) return TL_OK;
  return tl_h5_fails(TL_EINPUT, j->path, "its voxels cannot be read; the file is damaged");
}

static TlStatus serve(TlSandbox *s, void *of) {
  return tl_stack_job_serve(s, of, read_piece);
}

static void release(void *of) {
  Job *j = of;
  if (j->path && j->dataset >= 0) H5Dclose(j->dataset);
  if (j->path && j->file >= 0) H5Fclose(j->file);
  tl_stack_job_release(&j->stack);
}

static const TlSandboxReader stack_reader = {.name = "HDF5 stack",
                                             .job_bytes = sizeof(Job),
                                             .prepare = tl_h5_prepare,
                                             .ask = tl_stack_job_ask,
                                             .read = open_file,
                                             .tell = tl_stack_job_tell,
                                             .serve = serve,
                                             .release = release};
TL_SANDBOX_READER(stack_reader)

TlStatus tl_h5_layers(const char *path, const char *dataset, TlStackInfo *info, TlLayers *layers) {
  TL_TRY(tl_stack_sandbox_layers(&stack_reader, path, dataset, 2 * MOST_AT_ONCE, info, layers));
  if (info->voxel_m[0] > 0) info->voxel_from = "element_size_um";
  return TL_OK;
}

/* ---- writing ---- */

static hid_t create_dataset(hid_t file, const TlVolume *head) {
  static const hsize_t most[3] = {DEEP, WIDE, WIDE};
  hsize_t size[3] = {(hsize_t)head->nz, (hsize_t)head->ny, (hsize_t)head->nx}, chunk[3];
  for (int k = 0; k < 3; k++) chunk[k] = size[k] < most[k] ? size[k] : most[k];
  hid_t space = H5Screate_simple(3, size, NULL), plan = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(plan, 3, chunk);
  H5Pset_shuffle(plan);
  H5Pset_deflate(plan, 2); /* of a real scan, 4 is 5% smaller in 1.3 times the time, 6 8% in 3.7 */
  hid_t dataset =
      H5Dcreate2(file, "/stack", memory_type(head->type), space, H5P_DEFAULT, plan, H5P_DEFAULT);
  H5Pclose(plan);
  H5Sclose(space);
  return dataset;
}

typedef struct Writer {
  hid_t file, dataset;
  const char *name;
  TlVoxelType type;
  int64_t nx, ny, z; /* z: layers in the file */
  int64_t waiting;   /* layers in row, always fewer than DEEP */
  uint8_t *row;      /* DEEP layers: a chunk that is written in parts is packed again each time */
} Writer;

static TlStatus begin(Writer *w, const char *file, const TlVolume *head, const char *history) {
  int32_t format = FORMAT;
  const double *v = head->voxel_m;
  double um[3] = {v[2] * 1e6, v[1] * 1e6, v[0] * 1e6};
  int64_t deep = head->nz < DEEP ? head->nz : DEEP;
  TL_TRY(TL_NEW(w->row, (size_t)(head->nx * head->ny * deep) * tl_voxel_size(head->type)));
  w->file = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (w->file < 0) return tl_h5_fails(TL_EIO, w->name, "cannot create");
  bool written =
      tl_h5_write_attribute(w->file, "talus_format", H5T_STD_I32LE, H5T_NATIVE_INT32, 0, &format) &&
      tl_h5_write_history(w->file, history) && (w->dataset = create_dataset(w->file, head)) >= 0;
  if (written && v[0] > 0 && v[1] > 0 && v[2] > 0)
    written = tl_h5_write_attribute(w->dataset, "element_size_um", H5T_IEEE_F64LE,
                                    H5T_NATIVE_DOUBLE, 3, um);
  if (written && head->cylinder[2] > 0)
    written = tl_h5_write_attribute(w->dataset, "talus_cylinder", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                                    3, head->cylinder);
  return written ? TL_OK : tl_h5_fails(TL_EIO, w->name, "cannot write");
}

static bool write_layers(Writer *w, int64_t count, const void *voxels) {
  Slab slab = {w->dataset, w->type, w->nx, w->ny, w->z, count};
  w->z += count;
  return count == 0 || move_slab(&slab, NULL, voxels);
}

/* Whole rows of chunks go to the file; what is less waits. */
static bool take_layers(Writer *w, int64_t count, const uint8_t *voxels) {
  size_t layer = (size_t)(w->nx * w->ny) * tl_voxel_size(w->type);
  while (count > 0) {
    int64_t take = DEEP - w->waiting < count ? DEEP - w->waiting : count;
    bool straight = w->waiting == 0 && take == DEEP;
    if (!straight) memcpy(w->row + (size_t)w->waiting * layer, voxels, (size_t)take * layer);
    w->waiting += take;
    voxels += (size_t)take * layer;
    count -= take;
    if (w->waiting < DEEP) continue;
    if (!write_layers(w, DEEP, straight ? voxels - DEEP * layer : w->row)) return false;
    w->waiting = 0;
  }
  return true;
}

static TlStatus append(void *self, int64_t count, const void *voxels) {
  Writer *w = self;
  TlH5Quiet quiet = tl_h5_quiet();
  TlStatus status = TL_OK;
  if (!take_layers(w, count, voxels)) status = tl_h5_fails(TL_EIO, w->name, "cannot write");
  tl_h5_loud(quiet);
  return status;
}

static TlStatus close_file(Writer *w, bool wanted) {
  bool good = !wanted || write_layers(w, w->waiting, w->row);
  if (w->dataset >= 0) good = H5Dclose(w->dataset) >= 0 && good;
  if (good && wanted) good = H5Fflush(w->file, H5F_SCOPE_GLOBAL) >= 0;
  TlStatus status = good || !wanted ? TL_OK : tl_h5_fails(TL_EIO, w->name, "cannot write");
  if (w->file >= 0 && H5Fclose(w->file) < 0 && wanted && status == TL_OK)
    status = tl_h5_fails(TL_EIO, w->name, "cannot finish the file");
  return status;
}

static TlStatus end(Writer *w, bool wanted) {
  TlH5Quiet quiet = tl_h5_quiet();
  TlStatus status = close_file(w, wanted);
  tl_h5_loud(quiet);
  tl_free(w->row);
  tl_free(w);
  return status;
}

static TlStatus finish(void *self) {
  return end(self, true);
}

static void drop(void *self) {
  TL_CLEAN_UP(end(self, false));
}

TlStatus tl_h5_begin(const char *file, const char *name, const TlVolume *head, const char *history,
                     TlLayerSink *sink) {
  Writer *w;
  TL_TRY(TL_NEW(w, 1));
  *w = (Writer){
      .file = -1, .dataset = -1, .name = name, .type = head->type, .nx = head->nx, .ny = head->ny};
  TlH5Quiet quiet = tl_h5_quiet();
  TlStatus status = begin(w, file, head, history);
  tl_h5_loud(quiet);
  if (status == TL_OK)
    *sink = (TlLayerSink){w, append, finish, drop};
  else
    drop(w);
  return status;
}
