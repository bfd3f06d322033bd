#include "store/results_h5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A plain file whose writes never fail for HDF5; see results_h5.h for why. What could not be
 * written is lost and read back as zeros, which only a file that is about to be removed does. */
typedef struct Driver {
  H5FD_t public_part; /* must be first */
  int descriptor, first_error;
  bool leaves_out; /* values of datasets: only their place counts */
  haddr_t end_of_space, end_of_file, place;
  dev_t device;
  ino_t inode;
} Driver;

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t fapl, haddr_t most) {
  (void)fapl;
  (void)most;
  Driver *d = calloc(1, sizeof *d); /* released by driver_close, as HDF5 wants it */
  if (!d) return NULL;
  int mode = O_RDWR | (flags & H5F_ACC_CREAT ? O_CREAT : 0) | (flags & H5F_ACC_TRUNC ? O_TRUNC : 0);
  struct stat info;
  d->descriptor = open(name, mode, 0666);
  if (d->descriptor < 0 || fstat(d->descriptor, &info) != 0) {
    if (d->descriptor >= 0) close(d->descriptor);
    free(d);
    return NULL;
  }
  d->end_of_file = (haddr_t)info.st_size;
  d->device = info.st_dev;
  d->inode = info.st_ino;
  return &d->public_part;
}

static herr_t driver_close(H5FD_t *file) {
  Driver *d = (Driver *)file;
  close(
      d->descriptor); /* the commit of the product syncs it, and that is where a late error shows */
  free(d);
  return 0;
}

static int driver_compare(const H5FD_t *one, const H5FD_t *two) {
  const Driver *a = (const Driver *)one, *b = (const Driver *)two;
  if (a->device != b->device) return a->device < b->device ? -1 : 1;
  return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags) {
  (void)file;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

static haddr_t driver_eoa(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const Driver *)file)->end_of_space;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address) {
  (void)type;
  ((Driver *)file)->end_of_space = address;
  return 0;
}

static haddr_t driver_eof(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const Driver *)file)->end_of_file;
}

static herr_t driver_handle(H5FD_t *file, hid_t fapl, void **handle) {
  (void)fapl;
  *handle = file;
  return 0;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size,
                          void *buffer) {
  (void)type;
  (void)dxpl;
  char *to = buffer;
  while (size > 0) {
    ssize_t got = pread(((Driver *)file)->descriptor, to, size, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) { /* behind the end */
      memset(to, 0, size);
      break;
    }
    to += got;
    at += (haddr_t)got;
    size -= (size_t)got;
  }
  return 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size,
                           const void *buffer) {
  (void)dxpl;
  Driver *d = (Driver *)file;
  const char *from = buffer;
  haddr_t end = at + size;
  bool values = type == H5FD_MEM_DRAW;
  if (values) d->place = at;
  while (size > 0 && !d->first_error && !(values && d->leaves_out)) {
    ssize_t put = pwrite(d->descriptor, from, size, (off_t)at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      d->first_error = put < 0 ? errno : ENOSPC;
      break;
    }
    from += put;
    at += (haddr_t)put;
    size -= (size_t)put;
  }
  if (end > d->end_of_file) d->end_of_file = end;
  return 0;
}

static herr_t driver_truncate(H5FD_t *file, hid_t dxpl, hbool_t closing) {
  (void)dxpl;
  (void)closing;
  Driver *d = (Driver *)file;
  if (d->end_of_space == d->end_of_file) return 0;
  if (!d->first_error && ftruncate(d->descriptor, (off_t)d->end_of_space) != 0)
    d->first_error = errno;
  d->end_of_file = d->end_of_space;
  return 0;
}

hid_t tl_h5_driver_register(void) {
  static const H5FD_class_t driver = {.name = "talus",
                                      .maxaddr = (haddr_t)INT64_MAX,
                                      .fc_degree = H5F_CLOSE_STRONG,
                                      .open = driver_open,
                                      .close = driver_close,
                                      .cmp = driver_compare,
                                      .query = driver_query,
                                      .get_eoa = driver_eoa,
                                      .set_eoa = driver_set_eoa,
                                      .get_eof = driver_eof,
                                      .get_handle = driver_handle,
                                      .read = driver_read,
                                      .write = driver_write,
                                      .truncate = driver_truncate,
                                      .fl_map = H5FD_FLMAP_DICHOTOMY};
  return H5FDregister(&driver);
}

static Driver *driver_of(hid_t file) {
  void *handle = NULL;
  return H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 ? NULL : handle;
}

int tl_h5_driver_error(hid_t file) {
  const Driver *d = driver_of(file);
  return d ? d->first_error : 0;
}

void tl_h5_driver_leave_out(hid_t file, bool leave) {
  Driver *d = driver_of(file);
  if (d) d->leaves_out = leave;
}

int64_t tl_h5_driver_place(hid_t file) {
  const Driver *d = driver_of(file);
  return d ? (int64_t)d->place : -1;
}
