/* The start of the HDF5 library, for every file that calls it (io/h5*, store/results*), and
 * whether something is there.
 *
 * HDF5 closes the files that are still open at the program's end. After a failed write or close it
 * cannot close the file, tries again at the end, and crashes. So that end is switched off, which
 * HDF5 accepts before its first call only: a function that opens or makes a file calls tl_h5_start
 * before. The function that opens a file also closes it. */
#ifndef TL_BASE_H5_LIBRARY_H
#define TL_BASE_H5_LIBRARY_H

#include "base/status.h"

#include <hdf5.h>
#include <stdbool.h>

/* Starts the library and keeps it from printing its errors: they go into our messages. Fine to be
 * called again and again. */
void tl_h5_start(void);
/* Whether the file or group holds something of this name (and it is a dataset). TL_EINPUT when that
 * cannot be read, which is not the same as an absent one. The message wants the file's name before
 * it (tl_context). */
TlStatus tl_h5_has(hid_t place, const char *name, bool *there);
TlStatus tl_h5_has_dataset(hid_t place, const char *name, bool *there);

#endif
