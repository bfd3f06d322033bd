/* Penalty, spread traction: a grain that is led around a closed loop comes back with its energy. */
#include "support/loop.h"
#include "support/tltest.h"

#include "shape/superellipsoid.h"

enum { LOOPS = 24 };

/* Medians over the loops, and the largest, are below these; by nodes with gradients of length 1 the
 * median is many times that. */
typedef struct Bounds {
  double median, most;
} Bounds;

static void judge(TlAvatar *grain, Bounds surface, Bounds nodes) {
  double work[LOOP_HOWS][LOOPS];
  CK_OK(loop_works(grain, LOOPS, (double *[]){work[0], work[1], work[2]}));
  const Bounds bounds[] = {surface, nodes};
  for (int how = LOOP_SURFACE; how <= LOOP_NODES; how++)
    ck_assert_msg(
        work[how][LOOPS / 2] < bounds[how].median && work[how][LOOPS - 1] < bounds[how].most,
        "way %d: %g in the median, %g at most", how, work[how][LOOPS / 2], work[how][LOOPS - 1]);
  ck_assert_msg(work[LOOP_UNIT][LOOPS / 2] > 10 * nodes.median, "gradients of length 1: %g",
                work[LOOP_UNIT][LOOPS / 2]);
  tl_avatar_free(grain);
}

START_TEST(a_superellipsoid_comes_back_with_its_energy) {
  TlAvatar grain;
  CK_OK(tl_avatar_superellipsoid(0.012, 0.010, 0.008, 0.6, 0.8, 0.001, 300, &grain));
  judge(&grain, (Bounds){5e-4, 0.03}, (Bounds){2e-4, 3e-3});
}
END_TEST

START_TEST(a_box_comes_back_with_its_energy) {
  TlAvatar grain;
  CK_OK(tl_avatar_box(0.010, 0.010, 0.010, 0.001, 300, &grain));
  judge(&grain, (Bounds){1e-6, 1e-5}, (Bounds){2e-4, 0.01});
}
END_TEST

TL_TEST_MAIN("closed loop", a_superellipsoid_comes_back_with_its_energy,
             a_box_comes_back_with_its_energy)
