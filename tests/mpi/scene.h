/* A small world for runs: a catalog with a sample "sand" of eight grains of different shapes (half
 * axes about 1 mm, a row of in-situ poses with gaps) and a terrain "slope" (20 x 12 cells of 10 mm,
 * 30 degrees down along +x). */
#ifndef TL_TESTS_MPI_SCENE_H
#define TL_TESTS_MPI_SCENE_H

#include "base/mem.h"
#include "shape/terrain_build.h"
#include "support/grains.h"

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

static TlStatus scene_grain(int i, TlAvatar *a) {
  double edge = i % 3 == 0 ? 1 : i % 3 == 1 ? 0.5 : 0.35;
  TL_TRY(
      tl_avatar_superellipsoid(1.1e-3 - 4e-5 * i, 1e-3, 7e-4 + 3e-5 * i, edge, edge, 1e-4, 160, a));
  a->label = (uint32_t)i + 1;
  a->scan_centroid_m = tl_vec3(2.5e-3 * (i % 2), 2.5e-3 * (i / 2 % 2), 2.5e-3 * (i / 4));
  a->scan_rotation = tl_quat_from_rotation(tl_vec3(0.3 * i, 0.2, -0.1 * i));
  return TL_OK;
}

static TlStatus scene_terrain(TlTerrain *terrain) {
  enum { NX = 20, NY = 12 };
  double height[NX * NY], cell = 0.01;
  for (int k = 0; k < NX * NY; k++) height[k] = 5 - (k % NX) * cell * tan(0.5235987755982988);
  TlTerrainSource source = {"slope", "", NX, NY, cell, 0, 0, height};
  TlTerrainOptions options = {.band_cells = 3, .refine = 1};
  return tl_terrain_build(terrain, &source, &options);
}

static TlStatus scene_catalog(const char *path) {
  TlTerrain terrain = {0};
  TlStatus status = scene_terrain(&terrain);
  if (status == TL_OK) status = tl_test_catalog(path, 8, scene_grain, &terrain);
  tl_terrain_free(&terrain);
  return status;
}

#endif
