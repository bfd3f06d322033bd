/* Equality in every bit, for what goes through a file. */
#ifndef TL_TESTS_SUPPORT_SAME_H
#define TL_TESTS_SUPPORT_SAME_H

#include "shape/avatar.h"
#include "shape/terrain.h"
#include "support/tltest.h"

#include <string.h>

#define SAME(a, b) ck_assert_msg(memcmp(&(a), &(b), sizeof(a)) == 0, "%s", #a)

/* But for the ids. */
static inline void same_avatar(const TlAvatar *is, const TlAvatar *want) {
  size_t points = (size_t)want->nx * (size_t)want->ny * (size_t)want->nz,
         nodes = (size_t)want->node_count;
  ck_assert(is->label == want->label && is->border == want->border);
  ck_assert(is->nx == want->nx && is->ny == want->ny && is->nz == want->nz);
  ck_assert_int_eq(is->node_count, want->node_count);
  SAME(is->spacing_m, want->spacing_m);
  SAME(is->origin_m, want->origin_m);
  SAME(is->phi_error_m, want->phi_error_m);
  SAME(is->gradient_max, want->gradient_max);
  SAME(is->volume_m3, want->volume_m3);
  SAME(is->area_m2, want->area_m2);
  SAME(is->inertia_m5, want->inertia_m5);
  SAME(is->radius_m, want->radius_m);
  SAME(is->scan_centroid_m, want->scan_centroid_m);
  SAME(is->scan_rotation, want->scan_rotation);
  SAME(is->axes_m, want->axes_m);
  ck_assert_int_eq(memcmp(is->phi, want->phi, 4 * points), 0);
  ck_assert_int_eq(memcmp(is->node_m, want->node_m, 12 * nodes), 0);
  ck_assert_int_eq(memcmp(is->node_area_m2, want->node_area_m2, 4 * nodes), 0);
}

static inline void same_terrain(const TlTerrain *is, const TlTerrain *want) {
  size_t samples = (size_t)want->nx * (size_t)want->ny,
         columns = (size_t)want->bnx * (size_t)want->bny;
  ck_assert_str_eq(is->name, want->name);
  ck_assert_str_eq(is->crs, want->crs);
  ck_assert(is->nx == want->nx && is->ny == want->ny && is->bnx == want->bnx);
  ck_assert(is->bny == want->bny && is->band_count == want->band_count);
  ck_assert_int_eq(is->holes_filled, want->holes_filled);
  SAME(is->origin, want->origin);
  SAME(is->cell_m, want->cell_m);
  SAME(is->x0_m, want->x0_m);
  SAME(is->y0_m, want->y0_m);
  SAME(is->z0_m, want->z0_m);
  SAME(is->band_m, want->band_m);
  SAME(is->band_spacing_m, want->band_spacing_m);
  ck_assert_int_eq(memcmp(is->height_m, want->height_m, sizeof(float) * samples), 0);
  ck_assert_int_eq(memcmp(is->filled, want->filled, samples), 0);
  ck_assert_int_eq(memcmp(is->k_low, want->k_low, sizeof(int32_t) * columns), 0);
  ck_assert_int_eq(memcmp(is->k_count, want->k_count, sizeof(int32_t) * columns), 0);
  ck_assert_int_eq(memcmp(is->start, want->start, sizeof(int64_t) * columns), 0);
  ck_assert_int_eq(memcmp(is->band_phi, want->band_phi, sizeof(float) * (size_t)want->band_count),
                   0);
}

#endif
