/* Functions that every reader of HDF5 files uses; they work inside the sandbox (base/sandbox.h).
 *
 * TL_H5_OWNED closes a handle when its variable leaves its scope, on every return:
 *   TL_H5_OWNED hid_t space = H5Dget_space(dataset);
 * The sizes that a file states are checked here before memory is allocated or written: attributes
 * and texts hold exactly what the caller's buffer holds, data sets no more than the file can.
 * Only io/h5*.c and store/results*.c include this.
 */
#ifndef TL_BASE_H5_READ_H
#define TL_BASE_H5_READ_H

#include "base/status.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Deflate gives at most 1,032 bytes for one. A data set that states more than this is not in the
 * file. */
enum { TL_H5_MOST_EXPANSION = 2000 };

static inline void tl_h5_give_back(hid_t *handle) {
  if (*handle >= 0) H5Idec_ref(*handle);
}
#define TL_H5_OWNED __attribute__((cleanup(tl_h5_give_back)))

/* Starts the library and keeps it from printing: the prepare of a TlSandboxReader. */
void tl_h5_prepare(void);
/* HDF5's own innermost words about what just failed; "" when it has none. */
void tl_h5_words(char *text, size_t size);

/* The attribute is exactly count numbers, taken as type (H5T_NATIVE_DOUBLE ...). False: it is not
 * there, or is something else. */
bool tl_h5_numbers(hid_t object, const char *name, hid_t type, int64_t count, void *values);
/* The attribute is one text of fixed length that fits into size with its end. */
bool tl_h5_short_text(hid_t object, const char *name, char *text, size_t size);
/* The data set is one text of fixed length: fresh memory. *text stays NULL, with TL_OK, when there
 * is no such data set or it is something else; TL_EINPUT: it cannot be read. */
TlStatus tl_h5_long_text(hid_t file, const char *name, char **text);
/* True if the file can hold the data set as it is described: its type and extent against the file's
 * size. Data that lie in other files (virtual, external) are believed. */
bool tl_h5_believable(hid_t dataset);
/* Handles that are open, of all kinds: a reader leaves as many as it found. */
int64_t tl_h5_handles(void);

#endif
