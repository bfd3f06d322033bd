/* Catalogs of grains of a closed form, for runs in tests. */
#ifndef TL_TESTS_SUPPORT_GRAINS_H
#define TL_TESTS_SUPPORT_GRAINS_H

#include "base/provenance.h"
#include "shape/superellipsoid.h"
#include "store/catalog.h"

/* Grain i, with its pose in the scan. */
typedef TlStatus (*TlTestGrain)(int i, TlAvatar *avatar);

/* A new catalog with these grains as a sample "sand", and a terrain when there is one. */
static inline TlStatus tl_test_catalog(const char *path, int grains, TlTestGrain grain,
                                       const TlTerrain *terrain) {
  TlCatalog *catalog;
  TlProvenance p;
  int64_t sample, id;
  char *argv[] = {(char *)(uintptr_t) "test", NULL};
  tl_provenance_begin(&p, "test", 1, argv);
  TL_TRY(tl_catalog_open(&catalog, path, TL_CATALOG_CREATE));
  TL_TRY(tl_catalog_begin(catalog, &p, NULL));
  TL_TRY(tl_catalog_sample(catalog, "sand", false, (double[]){1e-4, 1e-4, 1e-4}, &sample));
  for (int i = 0; i < grains; i++) {
    TlAvatar a;
    TL_TRY(grain(i, &a));
    TL_TRY(tl_catalog_add_avatar(catalog, sample, &a, &id));
    tl_avatar_free(&a);
  }
  if (terrain) TL_TRY(tl_catalog_add_terrain(catalog, terrain, false, &id));
  TL_TRY(tl_catalog_commit(catalog));
  tl_catalog_close(catalog);
  tl_provenance_free(&p);
  return TL_OK;
}

#endif
