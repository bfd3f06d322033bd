/* HDF5 as the results use it: files whose write errors are kept by us, columns of a table of rows,
 * attributes, texts. Shared by store/results*.c only.
 *
 * The reason for our own file driver: when a write fails (full disk), HDF5 1.10 can no longer close
 * the file, keeps it open, and crashes at exit. This driver accepts every write, remembers the
 * first error and writes nothing after it; HDF5 closes in peace, we report the error and remove the
 * file. */
#ifndef TL_STORE_RESULTS_H5_H
#define TL_STORE_RESULTS_H5_H

#include "base/h5_read.h"
#include "model/record.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TlH5File {
  hid_t id;
  hid_t driver;     /* < 0 when reading */
  const char *name; /* for messages: the product's name, borrowed */
} TlH5File;

/* name: what messages call it; path: what is opened (a temporary). */
TlStatus tl_h5_create(TlH5File *file, const char *path, const char *name);
TlStatus tl_h5_open(TlH5File *file, const char *path);
/* To change: a copy that will be renamed, as tl_h5_create has it. */
TlStatus tl_h5_change(TlH5File *file, const char *path, const char *name);
/* Closes in any case; the first write error of the file's life when there was one. */
TlStatus tl_h5_close(TlH5File *file);
/* TL_OK while every write has arrived. */
TlStatus tl_h5_written(const TlH5File *file);
/* Failure of an HDF5 call, with HDF5's own innermost text. */
TlStatus tl_h5_fail(const TlH5File *file, const char *doing);

/* One member of a row as a dataset of its own: [rows] or [rows][width]. */
typedef struct TlH5Column {
  const char *name, *unit;
  enum { TL_H5_I64, TL_H5_I32, TL_H5_U32, TL_H5_F64, TL_H5_U8 } type;
  int width;
  size_t offset; /* in the row */
  bool later;    /* files of older versions lack it: what the row has there stays */
} TlH5Column;

/* The fields of a record that are columns of frames, as they lie in its struct, or packed one after
 * the other. */
enum { TL_H5_RECORD_COLUMNS = 32 };
int tl_h5_record_columns(const TlRecord *record, bool packed,
                         TlH5Column columns[TL_H5_RECORD_COLUMNS]);
hid_t tl_h5_type_of(const TlH5Column *column);
/* Bytes of one number, and of all that a row has; neither calls HDF5, so any thread may. */
size_t tl_h5_value_bytes(const TlH5Column *column);
size_t tl_h5_column_bytes(const TlH5Column *column);

enum { TL_H5_DEFLATE_LEVEL = 1 };
/* Makes the datasets of rows rows, chunked, shuffled and deflated. block: most rows of a chunk, of all
 * columns; 0: as many as suit each column. dataset[columns] is filled; close them by
 * tl_h5_columns_close. */
TlStatus tl_h5_columns_create(const TlH5File *file, hid_t group, const TlH5Column *columns,
                              int count, int64_t rows, int64_t block, hid_t *dataset);
int64_t tl_h5_chunk_rows(int64_t rows, int64_t block);
/* A chunk that is packed already (store/results_chunks.h), of the rows from `first` on; bytes NULL:
 * another process writes it, and *place says where. */
TlStatus tl_h5_chunk_write(const TlH5File *file, hid_t dataset, int64_t first, const void *bytes,
                           int64_t size, int64_t *place);
/* Rows first .. first+n-1; the extra memory is one block of one column. */
TlStatus tl_h5_columns_write(const TlH5File *file, const TlH5Column *columns, int count,
                             const hid_t *dataset, int64_t first, const void *rows, size_t row_size,
                             int64_t n);
void tl_h5_columns_close(int count, hid_t *dataset);
/* All rows (whose number the caller knows); TL_EINPUT when a dataset has another shape. */
TlStatus tl_h5_columns_read(const TlH5File *file, hid_t group, const TlH5Column *columns, int count,
                            void *rows, size_t row_size, int64_t n);

/* An extendible or fixed array [n] or [n][width] of floats or integers. */
TlStatus tl_h5_array_create(const TlH5File *file, hid_t group, const char *name, const char *unit,
                            hid_t type, int64_t n, int width, hid_t *dataset);
TlStatus tl_h5_array_append(const TlH5File *file, hid_t dataset, hid_t type, int width, int64_t at,
                            const void *values, int64_t n);
TlStatus tl_h5_array_read(const TlH5File *file, hid_t group, const char *name, hid_t type,
                          int width, int64_t at, void *values, int64_t n);
TlStatus tl_h5_array_rows(const TlH5File *file, hid_t group, const char *name, int64_t *n);

TlStatus tl_h5_set_real(const TlH5File *file, hid_t object, const char *name, const double *value,
                        int count);
TlStatus tl_h5_set_int(const TlH5File *file, hid_t object, const char *name, int64_t value);
TlStatus tl_h5_set_text(const TlH5File *file, hid_t object, const char *name, const char *text);
TlStatus tl_h5_get_real(const TlH5File *file, hid_t object, const char *name, double *value,
                        int count);
TlStatus tl_h5_get_int(const TlH5File *file, hid_t object, const char *name, int64_t *value);
/* Text datasets (attributes hold no more than 64 kB). */
TlStatus tl_h5_write_text(const TlH5File *file, hid_t group, const char *name, const char *text);
TlStatus tl_h5_read_text(const TlH5File *file, hid_t group, const char *name, char **text);
/* In place of one that is there. */
TlStatus tl_h5_replace_text(const TlH5File *file, hid_t group, const char *name, const char *text);
/* "format" and "format_version" attributes of the root. */
TlStatus tl_h5_set_format(const TlH5File *file, const char *format, int64_t version);
TlStatus tl_h5_check_format(const TlH5File *file, const char *format, int64_t version);

/* The driver (results_driver.c). */
hid_t tl_h5_driver_register(void);
/* errno of the first failed write of an open file; 0: none. */
int tl_h5_driver_error(hid_t file);
/* From here on values of datasets keep their places in the file and are not written: others do. */
void tl_h5_driver_leave_out(hid_t file, bool leave);
/* Where the last values had their place, bytes from the file's start. */
int64_t tl_h5_driver_place(hid_t file);

#endif
