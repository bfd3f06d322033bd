/* Penalty, spread traction: a grain that is led around a closed loop comes back with its energy. */
#include "support/loop.h"
#include "support/tltest.h"

#include "shape/superellipsoid.h"

enum { LOOPS = 24 };

/* The median over the loops, and the largest, are below these; with gradients of length 1 the median
 * is many times that. */
static void judge(TlAvatar *grain, double median, double most) {
  double raw[LOOPS], unit[LOOPS];
  CK_OK(loop_works(grain, LOOPS, raw, unit));
  ck_assert_msg(raw[LOOPS / 2] < median && raw[LOOPS - 1] < most, "%g in the median, %g at most",
                raw[LOOPS / 2], raw[LOOPS - 1]);
  ck_assert_msg(unit[LOOPS / 2] > 10 * median, "gradients of length 1: %g", unit[LOOPS / 2]);
  tl_avatar_free(grain);
}

START_TEST(a_superellipsoid_comes_back_with_its_energy) {
  TlAvatar grain;
  CK_OK(tl_avatar_superellipsoid(0.012, 0.010, 0.008, 0.6, 0.8, 0.001, 300, &grain));
  judge(&grain, 2e-4, 3e-3);
}
END_TEST

START_TEST(a_box_comes_back_with_its_energy) {
  TlAvatar grain;
  CK_OK(tl_avatar_box(0.010, 0.010, 0.010, 0.001, 300, &grain));
  judge(&grain, 2e-4, 0.01);
}
END_TEST

TL_TEST_MAIN("closed loop", a_superellipsoid_comes_back_with_its_energy,
             a_box_comes_back_with_its_energy)
