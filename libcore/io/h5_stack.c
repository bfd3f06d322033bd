#include "io/h5_stack.h"

#include "base/log.h"
#include "base/mem.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 64, FORMAT = 1 };

/* ---- the library's own words ---- */

static herr_t keep_deepest(unsigned n, const H5E_error2_t *error, void *user) {
  char *text = user;
  if (n == 0 && error->desc) snprintf(text, 512, "%s", error->desc);
  return 0;
}

/* A failed write comes with time, descriptor and addresses; what a reader wants is errno's text. */
static void keep_reason(char *text) {
  char *reason = strstr(text, "error message = '");
  if (!reason) return;
  reason += strlen("error message = '");
  size_t length = strcspn(reason, "'");
  memmove(text, reason, length);
  text[length] = 0;
}

/* Fail with what HDF5 says at the bottom of its error stack, which names the cause. */
static TlStatus fails(TlStatus code, const char *name, const char *what) {
  char text[512] = "";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_deepest, text);
  keep_reason(text);
  return tl_fail(code, "%s: %s%s%s", name, what, text[0] ? ": " : "", text);
}

/* HDF5 prints its error stack unless told not to. Given back afterwards: results.c may want it. */
typedef struct Quiet {
  H5E_auto2_t print;
  void *data;
} Quiet;

static Quiet be_quiet(void) {
  Quiet quiet = {0};
  /* Not at exit: after a full disk HDF5 would try the same writes again there, and again. */
  H5dont_atexit();
  H5open();
  H5Eget_auto2(H5E_DEFAULT, &quiet.print, &quiet.data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return quiet;
}

static void be_loud(Quiet quiet) {
  H5Eset_auto2(H5E_DEFAULT, quiet.print, quiet.data);
}

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
  hid_t t = H5Dget_type(dataset);
  H5T_class_t class = H5Tget_class(t);
  size_t size = H5Tget_size(t);
  bool known = false;
  if (class == H5T_INTEGER) known = integer_type(size, H5Tget_sign(t), type);
  if (class == H5T_FLOAT) {
    known = size == 4;
    *type = TL_F32;
  }
  if (class == H5T_ENUM) {
    known = size == 1;
    *type = TL_U8;
  }
  H5Tclose(t);
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
  hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT), space = H5Dget_space(dataset);
  if (H5Sget_simple_extent_ndims(space) == 3) {
    size_t used = strlen(search->names);
    snprintf(search->names + used, sizeof search->names - used, "%s/%s", used ? ", " : "", name);
    if (search->found++ == 0) snprintf(search->first, sizeof search->first, "/%s", name);
  }
  H5Sclose(space);
  H5Dclose(dataset);
  return 0;
}

static TlStatus find_dataset(const char *path, hid_t file, char name[512]) {
  Search search = {0};
  snprintf(name, 512, "/stack");
  if (H5Lexists(file, "/stack", H5P_DEFAULT) > 0) return TL_OK;
  if (H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, look, &search, H5O_INFO_BASIC) < 0)
    return fails(TL_EINPUT, path, "its groups cannot be read");
  if (search.found == 0) return tl_fail(TL_EINPUT, "%s: holds no 3-D dataset", path);
  if (search.found > 1)
    return tl_fail(TL_EINPUT, "%s: holds %d 3-D datasets (%s); give one as %s:/NAME", path,
                   search.found, search.names, path);
  memcpy(name, search.first, sizeof search.first);
  return TL_OK;
}

/* ---- attributes and text ---- */

static void read_size(hid_t object, double voxel_m[3]) {
  double um[3];
  if (H5Aexists(object, "element_size_um") <= 0) return;
  hid_t attribute = H5Aopen(object, "element_size_um", H5P_DEFAULT);
  hid_t space = H5Aget_space(attribute);
  if (H5Sget_simple_extent_npoints(space) == 3 && H5Aread(attribute, H5T_NATIVE_DOUBLE, um) >= 0 &&
      um[0] > 0 && um[1] > 0 && um[2] > 0 && isfinite(um[0] + um[1] + um[2]))
    for (int k = 0; k < 3; k++) voxel_m[k] = um[2 - k] * 1e-6;
  H5Sclose(space);
  H5Aclose(attribute);
}

static TlStatus read_history(const char *path, hid_t file, char **history) {
  if (H5Lexists(file, "/provenance", H5P_DEFAULT) <= 0) return TL_OK;
  hid_t dataset = H5Dopen2(file, "/provenance", H5P_DEFAULT);
  hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset);
  TlStatus status = TL_OK;
  /* A foreign file may use the name for something else; that is then left alone. */
  if (type >= 0 && H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type)) {
    status = TL_NEW(*history, H5Tget_size(type) + 1);
    if (status == TL_OK && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *history) < 0)
      status = fails(TL_EINPUT, path, "its provenance cannot be read");
  }
  if (type >= 0) H5Tclose(type);
  if (dataset >= 0) H5Dclose(dataset);
  return status;
}

/* ---- reading ---- */

static TlStatus read_shape(const char *path, const char *name, hid_t dataset, TlStackInfo *info) {
  hsize_t size[3] = {0, 0, 0};
  hid_t space = H5Dget_space(dataset);
  int axes = H5Sget_simple_extent_ndims(space);
  if (axes == 3) H5Sget_simple_extent_dims(space, size, NULL);
  H5Sclose(space);
  if (axes != 3)
    return tl_fail(TL_EINPUT, "%s: %s has %d axes; a stack has three (z, y, x)", path, name, axes);
  if (size[0] == 0 || size[1] == 0 || size[2] == 0)
    return tl_fail(TL_EINPUT, "%s: %s is empty", path, name);
  if (!voxel_type_of(dataset, &info->type))
    return tl_fail(TL_EINPUT,
                   "%s: %s: voxels of a type we do not read; store 8-, 16- or 32-bit integers or "
                   "32-bit floats",
                   path, name);
  info->nz = (int64_t)size[0];
  info->ny = (int64_t)size[1];
  info->nx = (int64_t)size[2];
  return TL_OK;
}

/* Move voxels slab by slab (one layer of chunks), so that the library's scratch stays small. */
static bool move_slabs(hid_t dataset, const TlVolume *volume, bool writing) {
  size_t row = (size_t)(volume->nx * volume->ny) * tl_voxel_size(volume->type);
  hid_t type = memory_type(volume->type), space = H5Dget_space(dataset);
  bool moved = true;
  TlProgress progress = tl_progress_start(writing ? "writing" : "reading", volume->nz);
  for (int64_t z = 0; z < volume->nz && moved; z += CHUNK) {
    int64_t deep = volume->nz - z < CHUNK ? volume->nz - z : CHUNK;
    hsize_t start[3] = {(hsize_t)z, 0, 0};
    hsize_t count[3] = {(hsize_t)deep, (hsize_t)volume->ny, (hsize_t)volume->nx};
    hid_t slab = H5Screate_simple(3, count, NULL);
    uint8_t *voxels = (uint8_t *)volume->data + (size_t)z * row;
    moved = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
            (writing ? H5Dwrite(dataset, type, slab, space, H5P_DEFAULT, voxels)
                     : H5Dread(dataset, type, slab, space, H5P_DEFAULT, voxels)) >= 0;
    if (moved) tl_progress(&progress, z + deep);
    H5Sclose(slab);
  }
  tl_progress_end(&progress);
  H5Sclose(space);
  return moved;
}

static TlStatus read_dataset(const char *path, const char *name, hid_t file, TlStackInfo *info,
                             TlVolume *volume) {
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  if (dataset < 0) return tl_fail(TL_EINPUT, "%s: holds no dataset %s", path, name);
  TlStatus status = read_shape(path, name, dataset, info);
  if (status == TL_OK) status = tl_stack_volume(path, info, volume);
  if (status == TL_OK && !move_slabs(dataset, volume, false))
    status = fails(TL_EINPUT, path, "its voxels cannot be read; the file is damaged");
  read_size(file, info->voxel_m);
  read_size(dataset, info->voxel_m);
  if (info->voxel_m[0] > 0) info->voxel_from = "element_size_um";
  H5Dclose(dataset);
  return status;
}

static TlStatus read_file(const char *path, const char *dataset, TlStackInfo *info,
                          TlVolume *volume) {
  char name[512];
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return fails(TL_EINPUT, path, "cannot be opened as HDF5");
  TlStatus status = TL_OK;
  if (dataset)
    snprintf(name, sizeof name, "%s", dataset);
  else
    status = find_dataset(path, file, name);
  if (status == TL_OK) status = read_dataset(path, name, file, info, volume);
  if (status == TL_OK) status = read_history(path, file, &info->history);
  H5Fclose(file);
  return status;
}

TlStatus tl_h5_stack_read(const char *path, const char *dataset, TlStackInfo *info,
                          TlVolume *volume) {
  Quiet quiet = be_quiet();
  TlStatus status = read_file(path, dataset, info, volume);
  be_loud(quiet);
  return status;
}

/* ---- writing ---- */

static bool write_attribute(hid_t object, const char *name, hid_t file_type, hid_t type,
                            hsize_t count, const void *values) {
  hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool written = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  return written;
}

/* A dataset, not an attribute: those end at 64 KiB and histories grow. */
static bool write_history(hid_t file, const char *history) {
  if (!history) return true;
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(history) + 1);
  hid_t dataset =
      H5Dcreate2(file, "/provenance", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool written =
      dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, history) >= 0;
  if (dataset >= 0) written = H5Dclose(dataset) >= 0 && written;
  H5Sclose(space);
  H5Tclose(type);
  return written;
}

static hid_t create_dataset(hid_t file, const TlVolume *volume) {
  hsize_t size[3] = {(hsize_t)volume->nz, (hsize_t)volume->ny, (hsize_t)volume->nx}, chunk[3];
  for (int k = 0; k < 3; k++) chunk[k] = size[k] < CHUNK ? size[k] : CHUNK;
  hid_t space = H5Screate_simple(3, size, NULL), plan = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(plan, 3, chunk);
  H5Pset_shuffle(plan);
  H5Pset_deflate(plan, 2); /* of a real scan, 4 is 5% smaller in 1.3 times the time, 6 8% in 3.7 */
  hid_t dataset =
      H5Dcreate2(file, "/stack", memory_type(volume->type), space, H5P_DEFAULT, plan, H5P_DEFAULT);
  H5Pclose(plan);
  H5Sclose(space);
  return dataset;
}

static bool write_dataset(hid_t file, const TlVolume *volume) {
  const double *v = volume->voxel_m;
  double um[3] = {v[2] * 1e6, v[1] * 1e6, v[0] * 1e6};
  hid_t dataset = create_dataset(file, volume);
  if (dataset < 0) return false;
  bool written = move_slabs(dataset, volume, true);
  if (v[0] > 0 && v[1] > 0 && v[2] > 0)
    written = written &&
              write_attribute(dataset, "element_size_um", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, um);
  return H5Dclose(dataset) >= 0 && written;
}

static TlStatus write_file(const char *path, const char *name, const TlVolume *volume,
                           const char *history) {
  int32_t format = FORMAT;
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return fails(TL_EIO, name, "cannot create");
  bool written =
      write_attribute(file, "talus_format", H5T_STD_I32LE, H5T_NATIVE_INT32, 0, &format) &&
      write_history(file, history) && write_dataset(file, volume) &&
      H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  TlStatus status = written ? TL_OK : fails(TL_EIO, name, "cannot write");
  if (H5Fclose(file) < 0 && status == TL_OK) status = fails(TL_EIO, name, "cannot finish the file");
  return status;
}

TlStatus tl_h5_stack_write(const char *file, const char *name, const TlVolume *volume,
                           const char *history) {
  Quiet quiet = be_quiet();
  TlStatus status = write_file(file, name, volume, history);
  be_loud(quiet);
  return status;
}
