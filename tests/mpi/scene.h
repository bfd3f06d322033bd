/* A small world for runs: a catalog with a sample "sand" of eight grains of different shapes (half
 * axes about 1 mm, a row of in-situ poses with gaps) and a terrain "slope" (20 x 12 cells of 10 mm,
 * 30 degrees down along +x). */
#ifndef TL_TESTS_MPI_SCENE_H
#define TL_TESTS_MPI_SCENE_H

#include "base/mem.h"
#include "base/provenance.h"
#include "mpi/mpitest.h"
#include "shape/superellipsoid.h"
#include "shape/terrain_build.h"
#include "store/catalog.h"

#include <math.h>

/* A release of two layers on the slope, thrown down it: they run into each other, off the lower
 * edge, and from rank to rank. */
#define SCENE_SLOPE_RELEASE                                                                        \
  "grains: {sample: sand}\n"                                                                       \
  "release:\n"                                                                                     \
  "  assembly: lattice\n"                                                                          \
  "  low_m: [0.162, 0.02, 0]\n"                                                                    \
  "  high_m: [0.178, 0.03, 0]\n"                                                                   \
  "  layers: 2\n"                                                                                  \
  "  velocity_m_s: [0.5, 0, 0]\n"                                                                  \
  "terrain: {name: slope}\n"                                                                       \
  "contact: {friction: 0.3, boundary_friction: 0.2}\n"

static void scene_add_grains(TlCatalog *catalog) {
  int64_t sample, id;
  double voxel[3] = {1e-4, 1e-4, 1e-4};
  REQUIRE_OK(tl_catalog_sample(catalog, "sand", false, voxel, &sample));
  for (int i = 0; i < 8; i++) {
    TlAvatar a;
    double edge = i % 3 == 0 ? 1 : i % 3 == 1 ? 0.5 : 0.35;
    REQUIRE_OK(tl_avatar_superellipsoid(1.1e-3 - 4e-5 * i, 1e-3, 7e-4 + 3e-5 * i, edge, edge, 1e-4,
                                        160, &a));
    a.label = (uint32_t)i + 1;
    a.scan_centroid_m = tl_vec3(2.5e-3 * (i % 2), 2.5e-3 * (i / 2 % 2), 2.5e-3 * (i / 4));
    a.scan_rotation = tl_quat_from_rotation(tl_vec3(0.3 * i, 0.2, -0.1 * i));
    REQUIRE_OK(tl_catalog_add_avatar(catalog, sample, &a, &id));
    tl_avatar_free(&a);
  }
}

static void scene_add_terrain(TlCatalog *catalog) {
  enum { NX = 20, NY = 12 };
  double height[NX * NY], cell = 0.01;
  int64_t id;
  TlTerrain terrain = {0};
  for (int k = 0; k < NX * NY; k++) height[k] = 5 - (k % NX) * cell * tan(0.5235987755982988);
  TlTerrainSource source = {"slope", "", NX, NY, cell, 0, 0, height};
  TlTerrainOptions options = {.band_cells = 3, .refine = 1};
  REQUIRE_OK(tl_terrain_build(&terrain, &source, &options));
  REQUIRE_OK(tl_catalog_add_terrain(catalog, &terrain, false, &id));
  tl_terrain_free(&terrain);
}

static void scene_catalog(const char *path) {
  TlCatalog *catalog;
  TlProvenance p;
  char *argv[] = {(char *)(uintptr_t) "scene", NULL};
  tl_provenance_begin(&p, "scene", 1, argv);
  REQUIRE_OK(tl_catalog_open(&catalog, path, TL_CATALOG_CREATE));
  REQUIRE_OK(tl_catalog_begin(catalog, &p, NULL));
  scene_add_grains(catalog);
  scene_add_terrain(catalog);
  REQUIRE_OK(tl_catalog_commit(catalog));
  tl_catalog_close(catalog);
  tl_provenance_free(&p);
}

#endif
