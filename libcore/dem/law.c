#include "dem/law.h"

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
