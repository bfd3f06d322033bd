#include "shape/terrain.h"

#include "base/mem.h"

void tl_terrain_free(TlTerrain *terrain) {
  tl_free(terrain->name);
  tl_free(terrain->crs);
  tl_free(terrain->height_m);
  tl_free(terrain->k_low);
  tl_free(terrain->k_count);
  tl_free(terrain->start);
  tl_free(terrain->band_phi);
  *terrain = (TlTerrain){0};
}
