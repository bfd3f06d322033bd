/* The start of the HDF5 library, for every file that calls it (io/h5*, store/results*), and
 * whether something is there.
 *
 * HDF5 closes at the program's end what is still open. After a write or a close that failed it
 * cannot get rid of the file, tries the same again there, and crashes. So that end is switched off,
 * which HDF5 takes before its first call only: whoever opens or makes a file calls tl_h5_start
 * before. Each file is closed by whom it was opened.
 */
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
