/* Functions for our HDF5 files (io/h5_stack.h, io/h5_dictionary.h): HDF5's own words in messages,
 * attributes, the history. Only those files include this; it knows hdf5.h.
 */
#ifndef TL_IO_H5_PARTS_H
#define TL_IO_H5_PARTS_H

#include "base/status.h"

#include <hdf5.h>
#include <stdbool.h>

/* Fail with what HDF5 says at the bottom of its error stack, which names the cause. */
TlStatus tl_h5_fails(TlStatus code, const char *name, const char *what);

/* Keeps HDF5 from printing its error stack; the former setting is restored afterwards. */
typedef struct TlH5Quiet {
  H5E_auto2_t print;
  void *data;
} TlH5Quiet;
TlH5Quiet tl_h5_quiet(void);
void tl_h5_loud(TlH5Quiet quiet);

/* count 0: a scalar. False: HDF5 could not. */
bool tl_h5_write_attribute(hid_t object, const char *name, hid_t file_type, hid_t type,
                           hsize_t count, const void *values);
/* /provenance: a dataset, not an attribute: those end at 64 KiB and histories grow. */
bool tl_h5_write_history(hid_t file, const char *history);

#endif
