#include "store/results_h5.h"

#include "base/h5_library.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <assert.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_ROWS = 4096, CHUNK_BYTES = 1 << 18 };

/* ---- errors ---- */

TlStatus tl_h5_fail(const TlH5File *file, const char *doing) {
  char text[200];
  tl_h5_words(text, sizeof text);
  TL_TRY(tl_h5_written(file)); /* a full disk is the better reason */
  return tl_fail(file->driver >= 0 ? TL_EIO : TL_EINPUT, "%s: HDF5: %s: %s", file->name, doing,
                 text[0] ? text : "no reason given");
}

TlStatus tl_h5_written(const TlH5File *file) {
  int number = file->driver >= 0 && file->id >= 0 ? tl_h5_driver_error(file->id) : 0;
  if (!number) return TL_OK;
  return tl_fail(TL_EIO, "%s: cannot write: %s; the file was not kept: free space and run again",
                 file->name, strerror(number));
}

/* ---- files ---- */

static TlStatus open_to_write(TlH5File *file, const char *path, const char *name, bool fresh) {
  tl_h5_start();
  *file = (TlH5File){.id = -1, .driver = tl_h5_driver_register(), .name = name};
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  errno = 0;
  if (file->driver >= 0 && H5Pset_driver(access, file->driver, NULL) >= 0)
    file->id = fresh ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                     : H5Fopen(path, H5F_ACC_RDWR, access);
  H5Pclose(access);
  if (file->id >= 0) return TL_OK;
  TlStatus status = errno ? tl_fail_errno(name, fresh ? "cannot create" : "cannot change")
                          : tl_h5_fail(file, fresh ? "creating it" : "opening it");
  if (file->driver >= 0) H5FDunregister(file->driver);
  file->driver = -1;
  return status;
}

TlStatus tl_h5_create(TlH5File *file, const char *path, const char *name) {
  return open_to_write(file, path, name, true);
}

TlStatus tl_h5_change(TlH5File *file, const char *path, const char *name) {
  return open_to_write(file, path, name, false);
}

TlStatus tl_h5_open(TlH5File *file, const char *path) {
  tl_h5_start();
  *file = (TlH5File){.id = -1, .driver = -1, .name = path};
  if (access(path, R_OK) != 0) return tl_fail_errno(path, "cannot open");
  hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
  file->id = H5Fopen(path, H5F_ACC_RDONLY, list);
  H5Pclose(list);
  if (file->id >= 0) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: is not a whole HDF5 file", path);
}

TlStatus tl_h5_close(TlH5File *file) {
  if (file->id <= 0) return TL_OK; /* 0: never opened */
  TlStatus status = TL_OK;
  if (file->driver >= 0 && H5Fflush(file->id, H5F_SCOPE_GLOBAL) < 0)
    status = tl_h5_fail(file, "flushing");
  if (status == TL_OK) status = tl_h5_written(file);
  if (H5Fclose(file->id) < 0 && status == TL_OK) {
    file->id = -1;
    status = tl_h5_fail(file, "closing");
  }
  if (file->driver >= 0) H5FDunregister(file->driver);
  file->id = file->driver = -1;
  return status;
}

/* ---- arrays ---- */

int64_t tl_h5_chunk_rows(int64_t rows, int64_t block) {
  return rows > 0 && rows < block ? rows : block;
}

static hid_t chunked(hid_t type, int64_t n, int width, int64_t block) {
  int64_t row_bytes = (int64_t)H5Tget_size(type) * width, most = CHUNK_BYTES / row_bytes;
  hsize_t chunk[2] = {(hsize_t)tl_h5_chunk_rows(n, block ? block : most), (hsize_t)width};
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(list, false); /* the same bytes at any time of day */
  H5Pset_chunk(list, width > 1 ? 2 : 1, chunk);
  H5Pset_shuffle(list);
  H5Pset_deflate(list, TL_H5_DEFLATE_LEVEL);
  return list;
}

static TlStatus create(const TlH5File *file, hid_t group, const char *name, const char *unit,
                       hid_t type, int64_t n, int width, int64_t block, hid_t *dataset) {
  hsize_t size[2] = {(hsize_t)n, (hsize_t)width}, most[2] = {H5S_UNLIMITED, (hsize_t)width};
  hid_t space = H5Screate_simple(width > 1 ? 2 : 1, size, most),
        list = chunked(type, n, width, block);
  *dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  H5Pclose(list);
  H5Sclose(space);
  if (*dataset < 0) return tl_h5_fail(file, name);
  return unit[0] ? tl_h5_set_text(file, *dataset, "unit", unit) : TL_OK;
}

TlStatus tl_h5_array_create(const TlH5File *file, hid_t group, const char *name, const char *unit,
                            hid_t type, int64_t n, int width, hid_t *dataset) {
  return create(file, group, name, unit, type, n, width, 0, dataset);
}

/* Rows at .. at+n-1 of the dataset, and memory that holds just them. */
static herr_t select_rows(hid_t dataset, int width, int64_t at, int64_t n, hid_t *memory,
                          hid_t *space) {
  hsize_t start[2] = {(hsize_t)at, 0}, count[2] = {(hsize_t)n, (hsize_t)width};
  *memory = H5Screate_simple(width > 1 ? 2 : 1, count, NULL);
  *space = H5Dget_space(dataset);
  return H5Sselect_hyperslab(*space, H5S_SELECT_SET, start, NULL, count, NULL);
}

static TlStatus put_rows(const TlH5File *file, hid_t dataset, hid_t type, int width, int64_t at,
                         const void *values, int64_t n) {
  hid_t memory, space;
  herr_t got = select_rows(dataset, width, at, n, &memory, &space);
  if (got >= 0) got = H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, values);
  H5Sclose(memory);
  H5Sclose(space);
  return got < 0 ? tl_h5_fail(file, "writing rows") : tl_h5_written(file);
}

TlStatus tl_h5_array_append(const TlH5File *file, hid_t dataset, hid_t type, int width, int64_t at,
                            const void *values, int64_t n) {
  hsize_t size[2] = {(hsize_t)(at + n), (hsize_t)width};
  if (n == 0) return TL_OK;
  if (H5Dset_extent(dataset, size) < 0) return tl_h5_fail(file, "growing an array");
  return put_rows(file, dataset, type, width, at, values, n);
}

/* Rows and width of an array that the file can hold. */
static TlStatus shape_of(const TlH5File *file, hid_t dataset, const char *name, int64_t *rows,
                         int64_t *width) {
  hsize_t size[2] = {0, 1};
  if (dataset < 0) return tl_fail(TL_EINPUT, "%s: has no dataset '%s'", file->name, name);
  TL_H5_OWNED hid_t space = H5Dget_space(dataset);
  int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  if (rank != 1 && rank != 2)
    return tl_fail(TL_EINPUT, "%s: dataset '%s' has rank %d", file->name, name, rank);
  H5Sget_simple_extent_dims(space, size, NULL);
  *rows = (int64_t)size[0];
  *width = (int64_t)size[1];
  if (*rows >= 0 && *width >= 0 && tl_h5_believable(dataset)) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "%s: dataset '%s' tells of %llu x %llu values, more than the file can hold; it is "
                 "damaged",
                 file->name, name, (unsigned long long)size[0], (unsigned long long)size[1]);
}

TlStatus tl_h5_array_rows(const TlH5File *file, hid_t group, const char *name, int64_t *n) {
  int64_t width;
  TL_H5_OWNED hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
  return shape_of(file, dataset, name, n, &width);
}

TlStatus tl_h5_array_read(const TlH5File *file, hid_t group, const char *name, hid_t type,
                          int width, int64_t at, void *values, int64_t n) {
  int64_t rows = 0, there = 0;
  TL_H5_OWNED hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
  TL_TRY(shape_of(file, dataset, name, &rows, &there));
  if (there != width || at < 0 || n < 0 || at > rows - n)
    return tl_fail(TL_EINPUT,
                   "%s: dataset '%s' is %lld x %lld; rows %lld to %lld of width %d wanted",
                   file->name, name, (long long)rows, (long long)there, (long long)at,
                   (long long)(at + n), width);
  if (n == 0) return TL_OK;
  hid_t memory, space;
  herr_t got = select_rows(dataset, width, at, n, &memory, &space);
  if (got >= 0) got = H5Dread(dataset, type, memory, space, H5P_DEFAULT, values);
  H5Sclose(memory);
  H5Sclose(space);
  return got < 0 ? tl_h5_fail(file, name) : TL_OK;
}

/* ---- columns ---- */

hid_t tl_h5_type_of(const TlH5Column *column) {
  switch (column->type) {
  case TL_H5_I64:
    return H5T_NATIVE_INT64;
  case TL_H5_I32:
    return H5T_NATIVE_INT32;
  case TL_H5_U32:
    return H5T_NATIVE_UINT32;
  case TL_H5_U8:
    return H5T_NATIVE_UINT8;
  default:
    return H5T_NATIVE_DOUBLE;
  }
}

size_t tl_h5_value_bytes(const TlH5Column *column) {
  switch (column->type) {
  case TL_H5_I32:
  case TL_H5_U32:
    return 4;
  case TL_H5_U8:
    return 1;
  default:
    return 8;
  }
}

size_t tl_h5_column_bytes(const TlH5Column *column) {
  return tl_h5_value_bytes(column) * (size_t)column->width;
}

int tl_h5_record_columns(const TlRecord *record, bool packed,
                         TlH5Column columns[TL_H5_RECORD_COLUMNS]) {
  size_t at = 0;
  int n = 0;
  for (int k = 0; k < record->count; k++) {
    const TlRecordField *f = &record->field[k];
    if (!f->column) continue;
    assert(n < TL_H5_RECORD_COLUMNS);
    TlH5Column *c = &columns[n++];
    *c = (TlH5Column){.name = f->column,
                      .unit = f->unit,
                      .type = f->kind == TL_FIELD_I64   ? TL_H5_I64
                              : f->kind == TL_FIELD_I32 ? TL_H5_I32
                                                        : TL_H5_F64,
                      .width = f->kind == TL_FIELD_VEC3   ? 3
                               : f->kind == TL_FIELD_QUAT ? 4
                                                          : 1,
                      .offset = packed ? at : f->offset,
                      .later = (f->attributes & TL_LATER) != 0};
    at += tl_h5_column_bytes(c);
  }
  return n;
}

TlStatus tl_h5_columns_create(const TlH5File *file, hid_t group, const TlH5Column *columns,
                              int count, int64_t rows, int64_t block, hid_t *dataset) {
  for (int c = 0; c < count; c++) dataset[c] = -1;
  for (int c = 0; c < count; c++)
    TL_TRY(create(file, group, columns[c].name, columns[c].unit, tl_h5_type_of(&columns[c]), rows,
                  columns[c].width, block, &dataset[c]));
  return TL_OK;
}

TlStatus tl_h5_chunk_write(const TlH5File *file, hid_t dataset, int64_t first, const void *bytes,
                           int64_t size, int64_t *place) {
  static const unsigned char none = 0; /* a place is not read */
  const hsize_t at[2] = {(hsize_t)first, 0};
  tl_h5_driver_leave_out(file->id, !bytes);
  herr_t got = H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, at, (size_t)size, bytes ? bytes : &none);
  tl_h5_driver_leave_out(file->id, false);
  if (got < 0) return tl_h5_fail(file, "writing a chunk");
  if (place) *place = tl_h5_driver_place(file->id);
  return tl_h5_written(file);
}

/* Values of one column, this many bytes from one to the next. */
static TlStatus write_column(const TlH5File *file, const TlH5Column *column, hid_t dataset,
                             int64_t first, const void *values, size_t stride, int64_t n) {
  size_t bytes = tl_h5_column_bytes(column);
  const char *from = values;
  char *block;
  if (stride == bytes)
    return n > 0 ? put_rows(file, dataset, tl_h5_type_of(column), column->width, first, from, n)
                 : TL_OK;
  TL_TRY(TL_NEW(block, BLOCK_ROWS * 4 * sizeof(double)));
  TlStatus status = TL_OK;
  for (int64_t at = 0; status == TL_OK && at < n; at += BLOCK_ROWS) {
    int64_t m = n - at < BLOCK_ROWS ? n - at : BLOCK_ROWS;
    for (int64_t i = 0; i < m; i++)
      memcpy(block + (size_t)i * bytes, from + (size_t)(at + i) * stride, bytes);
    status = put_rows(file, dataset, tl_h5_type_of(column), column->width, first + at, block, m);
  }
  tl_free(block);
  return status;
}

TlStatus tl_h5_columns_write(const TlH5File *file, const TlH5Column *columns, int count,
                             const hid_t *dataset, int64_t first, const void *rows, size_t row_size,
                             int64_t n) {
  for (int c = 0; c < count; c++)
    TL_TRY(write_column(file, &columns[c], dataset[c], first,
                        (const char *)rows + columns[c].offset, row_size, n));
  return TL_OK;
}

void tl_h5_columns_close(int count, hid_t *dataset) {
  for (int c = 0; c < count; c++) {
    if (dataset[c] >= 0) H5Dclose(dataset[c]);
    dataset[c] = -1;
  }
}

static TlStatus read_column(const TlH5File *file, hid_t group, const TlH5Column *column, char *rows,
                            size_t row_size, int64_t n, char *block) {
  size_t bytes = tl_h5_column_bytes(column);
  for (int64_t at = 0; at < n; at += BLOCK_ROWS) {
    int64_t m = n - at < BLOCK_ROWS ? n - at : BLOCK_ROWS;
    TL_TRY(tl_h5_array_read(file, group, column->name, tl_h5_type_of(column), column->width, at,
                            block, m));
    for (int64_t i = 0; i < m; i++)
      memcpy(rows + (size_t)(at + i) * row_size + column->offset, block + (size_t)i * bytes, bytes);
  }
  return TL_OK;
}

TlStatus tl_h5_columns_read(const TlH5File *file, hid_t group, const TlH5Column *columns, int count,
                            void *rows, size_t row_size, int64_t n) {
  char *block;
  TL_TRY(TL_NEW(block, BLOCK_ROWS * 4 * sizeof(double)));
  TlStatus status = TL_OK;
  for (int c = 0; c < count && status == TL_OK; c++) {
    int64_t there = 0;
    if (columns[c].later && H5Lexists(group, columns[c].name, H5P_DEFAULT) <= 0) continue;
    status = tl_h5_array_rows(file, group, columns[c].name, &there);
    if (status == TL_OK && there != n)
      status = tl_fail(TL_EINPUT, "%s: dataset '%s' has %lld rows, not %lld", file->name,
                       columns[c].name, (long long)there, (long long)n);
    if (status == TL_OK) status = read_column(file, group, &columns[c], rows, row_size, n, block);
  }
  tl_free(block);
  return status;
}
