#include "dem/law.h"

#include <math.h>

#define LAWS(L)                                                                                    \
  L(tl_law_linear, "linear")                                                                       \
  L(tl_law_hertz, "hertz")

static const TlNormalLaw *const laws[] = {
#define L(law, name) &law,
    LAWS(L)
#undef L
};

const char tl_law_names[] =
#define L(law, name) "|" name
    LAWS(L);
#undef L

const TlNormalLaw *tl_law(int number) {
  return laws[number];
}
int tl_law_count(void) {
  return (int)(sizeof laws / sizeof *laws);
}

/* Velocity kept by a linear contact of damping share z < 1 that ends when its force is zero, not
 * when its depth is (Schwager, Poeschel 2007, Eq. 21). */
static double kept(double z) {
  double root = sqrt(1 - z * z);
  return exp(-z / root * (M_PI - atan2(2 * z * root, 1 - 2 * z * z)));
}

double tl_law_damping(double restitution) {
  double low = 0, high = 1;
  if (restitution >= 1) return 0;
  if (restitution <= TL_LAW_LEAST_RESTITUTION) return 1;
  for (int i = 0; i < 50; i++) {
    double middle = 0.5 * (low + high);
    if (kept(middle) > restitution)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}
