#include "base/h5_read.h"

#include "base/h5_library.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* Writes and reads a little file in memory: what the library and the linker do at first use is done
 * before workers are forked, else each of them would do it again (1.1 ms of 1.5 for a frame). */
static void warm_up(void) {
  hsize_t size[2] = {8, 2}, chunk[2] = {4, 2};
  double values[16] = {0};
  TL_H5_OWNED hid_t access = H5Pcreate(H5P_FILE_ACCESS), plan = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_fapl_core(access, 1 << 16, false);
  H5Pset_chunk(plan, 2, chunk);
  H5Pset_shuffle(plan);
  H5Pset_deflate(plan, 1);
  TL_H5_OWNED hid_t file = H5Fcreate("warm_up", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  TL_H5_OWNED hid_t space = H5Screate_simple(2, size, NULL), one = H5Screate(H5S_SCALAR);
  TL_H5_OWNED hid_t dataset =
      H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  TL_H5_OWNED hid_t attribute =
      H5Acreate2(file, "number", H5T_NATIVE_DOUBLE, one, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_DOUBLE, values);
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  (void)tl_h5_numbers(file, "number", H5T_NATIVE_DOUBLE, 1, values);
  (void)tl_h5_believable(dataset);
}

void tl_h5_prepare(void) {
  tl_h5_start();
  warm_up();
}

typedef struct Words {
  char *text;
  size_t size;
} Words;

static herr_t keep_innermost(unsigned n, const H5E_error2_t *error, void *user) {
  const Words *words = user;
  if (n == 0 && error->desc) snprintf(words->text, words->size, "%s", error->desc);
  return 0;
}

void tl_h5_words(char *text, size_t size) {
  Words words = {text, size};
  text[0] = 0;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &words);
}

/* ---- attributes ---- */

static bool is_number(hid_t type) {
  H5T_class_t class = H5Tget_class(type);
  return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM;
}

bool tl_h5_numbers(hid_t object, const char *name, hid_t type, int64_t count, void *values) {
  if (H5Aexists(object, name) <= 0) return false;
  TL_H5_OWNED hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  TL_H5_OWNED hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
  TL_H5_OWNED hid_t there = attribute < 0 ? -1 : H5Aget_type(attribute);
  return space >= 0 && there >= 0 && is_number(there) &&
         H5Sget_simple_extent_npoints(space) == count && H5Aread(attribute, type, values) >= 0;
}

/* One text of fixed length; its bytes without the end, or 0. */
static size_t text_bytes(hid_t type, hid_t space) {
  if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
      H5Sget_simple_extent_npoints(space) != 1)
    return 0;
  return H5Tget_size(type);
}

bool tl_h5_short_text(hid_t object, const char *name, char *text, size_t size) {
  text[0] = 0;
  if (H5Aexists(object, name) <= 0) return false;
  TL_H5_OWNED hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  TL_H5_OWNED hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
  TL_H5_OWNED hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
  size_t bytes = text_bytes(type, space);
  if (bytes == 0 || bytes >= size || H5Aread(attribute, type, text) < 0) {
    text[0] = 0;
    return false;
  }
  text[bytes] = 0;
  return true;
}

/* ---- data sets ---- */

bool tl_h5_believable(hid_t dataset) {
  TL_H5_OWNED hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset),
                    plan = H5Dget_create_plist(dataset), file = H5Iget_file_id(dataset);
  hsize_t file_bytes = 0, bytes;
  if (type < 0 || space < 0 || plan < 0 || file < 0) return false;
  hssize_t count = H5Sget_simple_extent_npoints(space);
  H5D_layout_t layout = H5Pget_layout(plan);
  if (layout == H5D_VIRTUAL || H5Pget_external_count(plan) > 0) return true;
  if (count < 0 || H5Fget_filesize(file, &file_bytes) < 0 ||
      __builtin_mul_overflow((hsize_t)count, (hsize_t)H5Tget_size(type), &bytes))
    return false;
  return layout == H5D_CHUNKED ? bytes / TL_H5_MOST_EXPANSION <= file_bytes : bytes <= file_bytes;
}

TlStatus tl_h5_long_text(hid_t file, const char *name, char **text) {
  bool there;
  *text = NULL;
  TL_TRY(tl_h5_has_dataset(file, name, &there)); /* a foreign file may have a group of that name */
  if (!there) return TL_OK;
  TL_H5_OWNED hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  if (dataset < 0)
    return tl_fail(TL_EINPUT, "its text '%s' cannot be opened; the file is damaged", name);
  TL_H5_OWNED hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  size_t bytes = text_bytes(type, space);
  if (bytes == 0) return TL_OK;
  if (!tl_h5_believable(dataset))
    return tl_fail(TL_EINPUT, "its text '%s' tells of %zu bytes, more than the file can hold", name,
                   bytes);
  TL_TRY(TL_NEW(*text, bytes + 1));
  if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *text) >= 0) return TL_OK;
  tl_free(*text);
  *text = NULL;
  return tl_fail(TL_EINPUT, "its text '%s' cannot be read; the file is damaged", name);
}

int64_t tl_h5_handles(void) {
  static const H5I_type_t kinds[] = {H5I_FILE,    H5I_GROUP, H5I_DATATYPE,    H5I_DATASPACE,
                                     H5I_DATASET, H5I_ATTR,  H5I_GENPROP_LST, H5I_VFL};
  int64_t sum = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    hsize_t count = 0;
    if (H5Inmembers(kinds[i], &count) >= 0) sum += (int64_t)count;
  }
  return sum;
}
