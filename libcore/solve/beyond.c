#include "solve/beyond.h"

#include "num/exact.h"
#include "solve/share.h"

#include <string.h>

/* After the sweeps 3, 7, 11 ..., so that those which large groups still make while they wait for an answer about the
 * residual (asking.c: of 5, at 7) are plain ones; of conjugate gradients after each from the second on. */
enum { EVERY = 4, EACH_FROM = 2, LEFT = 2 };
static const double MOST_BETA = 100;

TlBeyond tl_beyond_start(const TlGroup *group, bool each) {
  double *value = group->beyond;
  int32_t n = group->islands;
  memset(value, 0, (size_t)n * TL_BEYOND_VALUES * sizeof *value);
  return (TlBeyond){.group = group,
                    .each = each,
                    .beta = value,
                    .went = value + n,
                    .sum = value + 2 * n,
                    .exact = group->beyond_exact};
}

bool tl_beyond_compares(const TlBeyond *b, int k) {
  return b->each || k % EVERY >= EVERY - 2;
}

bool tl_beyond_moves_on(const TlBeyond *b, int k) {
  return b->each ? k >= EACH_FROM : k % EVERY == EVERY - 1;
}

bool tl_beyond_settles(int k, double most) {
  return k + LEFT > most;
}

void tl_beyond_clear(TlBeyond *b) {
  size_t sums = TL_PRODUCTS * (size_t)b->group->islands;
  if (b->exact)
    memset(b->exact, 0, sums * sizeof *b->exact);
  else
    memset(b->sum, 0, sums * sizeof *b->sum);
}

void tl_beyond_add(TlBeyond *b, int32_t island, const double *product) {
  int32_t first = TL_PRODUCTS * island;
  for (int k = 0; k < TL_PRODUCTS; k++)
    if (!b->exact)
      b->sum[first + k] += product[k];
    else if (product[k] != 0)
      tl_exact_add(&b->exact[first + k], product[k]);
}

TlStatus tl_beyond_choose(TlBeyond *b, int k) {
  const TlGroup *g = b->group;
  int32_t sums = TL_PRODUCTS * g->islands;
  if (b->exact && g->share)
    TL_TRY(tl_sync_sum_int(tl_share_sync(g->share), b->exact->limb, sums * TL_EXACT_LIMBS));
  for (int32_t i = 0; b->exact && i < sums; i++) b->sum[i] = tl_exact_value(&b->exact[i]);
  for (int32_t i = 0; i < g->islands; i++) {
    const double *s = &b->sum[TL_PRODUCTS * i];
    double turn = s[TL_SQUARE_BEFORE] - 2 * s[TL_BOTH] + s[TL_SQUARE];
    double distance = s[TL_BOTH] - s[TL_SQUARE];
    b->went[i] = b->each && k > EACH_FROM && b->beta[i] > 0;
    b->beta[i] = distance > 0 && turn > 0 ? tl_min(MOST_BETA, distance / turn) : 0;
  }
  return TL_OK;
}
