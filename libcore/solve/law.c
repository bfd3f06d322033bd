#include "solve/law.h"

static const TlNormalLaw *const laws[] = {
#define L(name) &tl_law_##name,
    TL_LAWS(L)
#undef L
};

const TlNormalLaw *tl_law(int number) {
  return laws[number];
}
int tl_law_count(void) {
  return (int)(sizeof laws / sizeof *laws);
}
