/* Dictionaries of talus-superres. */
#include "fuzz/fuzz.h"

#include "io/h5_dictionary.h"

TL_FUZZ(h5_dictionary) {
  TlDictionary d;
  TlStatus status = tl_dictionary_read(tl_fuzz_file("d.h5", bytes, size), NULL, &d);
  tl_fuzz_done(status);
  if (status == TL_OK) tl_dictionary_free(&d);
}
