/* What programs do with a catalog: verify, list, load, write. */
#ifndef TL_TESTS_FUZZ_CATALOG_USE_H
#define TL_TESTS_FUZZ_CATALOG_USE_H

void tl_catalog_use(const char *path);

#endif
