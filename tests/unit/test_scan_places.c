/* Where things are in a scan: what the border cuts, on each of its faces and round a cylinder. */
#include "support/tltest.h"

#include "base/mem.h"
#include "image/label.h"

enum { N = 12 };
static const TlRoi whole = {.kind = TL_ROI_ALL, .nx = N, .ny = N};

static int64_t at(int64_t x, int64_t y, int64_t z) {
  return (z * N + y) * N + x;
}

/* A grain of one voxel on each face, one beside each, and one in the middle. */
START_TEST(each_face_of_the_stack_cuts) {
  TlVolume labels;
  uint8_t *flags;
  CK_OK(tl_volume_new(&labels, TL_U32, N, N, N));
  const int64_t m = N / 2;
  for (uint32_t face = 0; face < 6; face++)
    for (uint32_t inside = 0; inside < 2; inside++) {
      int64_t p[3] = {m, m, m};
      p[face / 2] = face % 2 ? N - 1 - inside : inside;
      labels.u32[at(p[0], p[1], p[2])] = 1 + 2 * face + inside;
    }
  labels.u32[at(m, m, m)] = 13;
  CK_OK(tl_label_border(&labels, &whole, &flags, 13));
  for (uint32_t g = 1; g <= 12; g++)
    ck_assert_msg(flags[g] == (g % 2 == 1), "grain %u: flag %d", g, flags[g]);
  ck_assert_int_eq(flags[13], 0);
  tl_free(flags);
  tl_volume_free(&labels);
}
END_TEST

/* The region's own edge cuts what has a voxel beside the outside, along x and along y. */
START_TEST(the_edge_of_the_region_cuts) {
  TlVolume labels;
  uint8_t *flags;
  const TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 6, .y = 6, .r = 4, .nx = N, .ny = N};
  const struct {
    int x, y, cut;
  } places[] = {{2, 6, 1}, {10, 6, 1}, {6, 2, 1}, {6, 10, 1}, {3, 6, 0}, {9, 6, 0},
                {6, 3, 0}, {6, 9, 0},  {8, 9, 1}, {9, 8, 1},  {8, 8, 0}, {6, 6, 0}};
  enum { PLACES = sizeof places / sizeof *places };
  CK_OK(tl_volume_new(&labels, TL_U32, N, N, N));
  for (uint32_t g = 0; g < PLACES; g++) labels.u32[at(places[g].x, places[g].y, 5)] = g + 1;
  CK_OK(tl_label_border(&labels, &disc, &flags, PLACES));
  for (int g = 0; g < PLACES; g++)
    ck_assert_msg(flags[g + 1] == places[g].cut, "%d, %d", places[g].x, places[g].y);
  tl_free(flags);
  tl_volume_free(&labels);
}
END_TEST

TL_TEST_MAIN("places in a scan", each_face_of_the_stack_cuts, the_edge_of_the_region_cuts)
