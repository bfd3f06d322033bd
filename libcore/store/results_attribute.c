#include "store/results_h5.h"

#include "base/mem.h"

#include <string.h>

static TlStatus set(const TlH5File *file, hid_t object, const char *name, hid_t type, int count,
                    const void *value) {
  hsize_t size = (hsize_t)count;
  hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  herr_t got = attribute < 0 ? -1 : H5Awrite(attribute, type, value);
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  return got < 0 ? tl_h5_fail(file, name) : TL_OK;
}

TlStatus tl_h5_set_real(const TlH5File *file, hid_t object, const char *name, const double *value,
                        int count) {
  return set(file, object, name, H5T_NATIVE_DOUBLE, count, value);
}

TlStatus tl_h5_set_int(const TlH5File *file, hid_t object, const char *name, int64_t value) {
  return set(file, object, name, H5T_NATIVE_INT64, 1, &value);
}

static hid_t text_type(size_t length) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, length + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

TlStatus tl_h5_set_text(const TlH5File *file, hid_t object, const char *name, const char *text) {
  hid_t type = text_type(strlen(text));
  TlStatus status = set(file, object, name, type, 1, text);
  H5Tclose(type);
  return status;
}

static TlStatus get(const TlH5File *file, hid_t object, const char *name, hid_t type, int count,
                    void *value) {
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return tl_fail(TL_EINPUT, "%s: has no attribute '%s'", file->name, name);
  hid_t space = H5Aget_space(attribute);
  hssize_t there = H5Sget_simple_extent_npoints(space);
  herr_t got = there == count ? H5Aread(attribute, type, value) : -1;
  H5Sclose(space);
  H5Aclose(attribute);
  if (got >= 0) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: attribute '%s' is not %d number%s", file->name, name, count,
                 count == 1 ? "" : "s");
}

TlStatus tl_h5_get_real(const TlH5File *file, hid_t object, const char *name, double *value,
                        int count) {
  return get(file, object, name, H5T_NATIVE_DOUBLE, count, value);
}

TlStatus tl_h5_get_int(const TlH5File *file, hid_t object, const char *name, int64_t *value) {
  return get(file, object, name, H5T_NATIVE_INT64, 1, value);
}

TlStatus tl_h5_write_text(const TlH5File *file, hid_t group, const char *name, const char *text) {
  hid_t type = text_type(strlen(text)), space = H5Screate(H5S_SCALAR);
  hid_t dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  herr_t got = dataset < 0 ? -1 : H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
  if (dataset >= 0) H5Dclose(dataset);
  H5Sclose(space);
  H5Tclose(type);
  return got < 0 ? tl_h5_fail(file, name) : tl_h5_written(file);
}

TlStatus tl_h5_replace_text(const TlH5File *file, hid_t group, const char *name, const char *text) {
  if (H5Ldelete(group, name, H5P_DEFAULT) < 0) return tl_h5_fail(file, name);
  return tl_h5_write_text(file, group, name, text);
}

TlStatus tl_h5_read_text(const TlH5File *file, hid_t group, const char *name, char **text) {
  *text = NULL;
  hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
  if (dataset < 0) return tl_fail(TL_EINPUT, "%s: has no text '%s'", file->name, name);
  hid_t there = H5Dget_type(dataset);
  size_t size = H5Tget_class(there) == H5T_STRING ? H5Tget_size(there) : 0;
  H5Tclose(there);
  TlStatus status = size ? TL_NEW(*text, size + 1)
                         : tl_fail(TL_EINPUT, "%s: '%s' is not a text", file->name, name);
  if (status == TL_OK) {
    hid_t type = text_type(size);
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *text) < 0)
      status = tl_h5_fail(file, name);
    H5Tclose(type);
  }
  H5Dclose(dataset);
  if (status != TL_OK) TL_FREE(*text);
  return status;
}

TlStatus tl_h5_set_format(const TlH5File *file, const char *format, int64_t version) {
  TL_TRY(tl_h5_set_text(file, file->id, "format", format));
  return tl_h5_set_int(file, file->id, "format_version", version);
}

TlStatus tl_h5_check_format(const TlH5File *file, const char *format, int64_t version) {
  char said[64] = "";
  int64_t number = 0;
  hid_t type = text_type(sizeof said - 1);
  TlStatus status = get(file, file->id, "format", type, 1, said);
  H5Tclose(type);
  if (status != TL_OK || strcmp(said, format) != 0)
    return tl_fail(TL_EINPUT, "%s: is not a %s file", file->name, format);
  TL_TRY(tl_h5_get_int(file, file->id, "format_version", &number));
  if (number == version) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: is of format version %lld, this Talus reads %lld; %s", file->name,
                 (long long)number, (long long)version,
                 number > version ? "use the newer Talus that wrote it" : "run the study again");
}
