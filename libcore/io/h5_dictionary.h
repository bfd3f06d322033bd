/* Dictionaries for super-resolution as HDF5 files. Layout: docs/reference/formats.md. */
#ifndef TL_IO_H5_DICTIONARY_H
#define TL_IO_H5_DICTIONARY_H

#include "base/provenance.h"
#include "num/dictionary.h"

#include <stdbool.h>

/* The file also holds its history plus this run's record (with the training stack's path and
 * SHA-256).
 * Written to a temporary name and renamed when whole. TL_EUSAGE when path is there already. */
TlStatus tl_dictionary_write(const char *path, const TlDictionary *dictionary,
                             const TlProvenance *provenance, bool overwrite);
/* Records it as an input of the run (provenance may be NULL). TL_EINPUT: no dictionary, damaged
 * (its numbers do not have the SHA-256 that it states), or of a later format. Free it after. */
TlStatus tl_dictionary_read(const char *path, TlProvenance *provenance, TlDictionary *dictionary);

#endif
