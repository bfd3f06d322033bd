/* Catalogs as files: verified, listed, loaded, and opened for writing. */
#include "fuzz/fuzz.h"

#include "fuzz/catalog_use.h"

TL_FUZZ(catalog) {
  tl_catalog_use(tl_fuzz_file("c.tals", bytes, size));
}
