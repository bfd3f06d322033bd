#include "post/packing_chains.h"

#include "base/mem.h"
#include "post/packing_forces.h"
#include "post/packing_stress.h"

static const double COS_BEND = 0.70710678118654752440; /* 45 degrees */
enum { LEAST = 3 };

typedef struct Search {
  const TlPacking *p;
  const TlRegion *region;
  TlVec3 *major;      /* [grains] */
  int64_t (*take)[2]; /* [grains] pair taken behind and ahead along major; -1: none */
  unsigned char *done;
  TlChains *out;
} Search;

static int64_t other(const TlPackPair *pair, int64_t grain) {
  return pair->a == grain ? pair->b : pair->a;
}

/* From the grain to its neighbour in the pair, unit. */
static TlVec3 direction(const Search *s, int64_t pair, int64_t grain) {
  int64_t to = other(&s->p->pair[pair], grain);
  return tl_unit(tl_sub(s->p->grain[to].centre_m, s->p->grain[grain].centre_m));
}

static bool stronger(const Search *s, int64_t pair, int64_t than, int64_t grain) {
  const TlPackPair *x = &s->p->pair[pair], *y = &s->p->pair[than];
  if (x->normal_N != y->normal_N) return x->normal_N > y->normal_N;
  return other(x, grain) < other(y, grain);
}

static void offer(Search *s, int64_t pair, int64_t grain) {
  double along = tl_dot(direction(s, pair, grain), s->major[grain]);
  if (fabs(along) < COS_BEND) return;
  int64_t *at = &s->take[grain][along > 0];
  if (*at < 0 || stronger(s, pair, *at, grain)) *at = pair;
}

static TlStatus find_major(Search *s) {
  TlSym3 *sigma;
  TL_TRY(TL_NEW(sigma, (size_t)s->p->grain_count));
  tl_stress_grains(s->p, sigma);
  for (int64_t i = 0; i < s->p->grain_count; i++) s->major[i] = tl_stress_of(sigma[i]).major;
  tl_free(sigma);
  return TL_OK;
}

static bool takes(const Search *s, int64_t grain, int64_t pair) {
  return s->take[grain][0] == pair || s->take[grain][1] == pair;
}

static void offer_strong(Search *s) {
  TlForces f = tl_forces_of(s->p, s->region);
  s->out->strong = f.strong;
  for (int64_t k = 0; k < s->p->pair_count; k++) {
    const TlPackPair *pair = &s->p->pair[k];
    if (!tl_pair_in(s->p, s->region, pair) || !(pair->normal_N > f.mean_N)) continue;
    offer(s, k, pair->a);
    offer(s, k, pair->b);
  }
}

/* Leaves what both ends take. */
static void keep_mutual(Search *s) {
  for (int64_t k = 0; k < s->p->pair_count; k++) {
    const TlPackPair *pair = &s->p->pair[k];
    if (pair->b < 0 || (takes(s, pair->a, k) && takes(s, pair->b, k))) continue;
    for (int side = 0; side < 2; side++) {
      if (s->take[pair->a][side] == k) s->take[pair->a][side] = -1;
      if (s->take[pair->b][side] == k) s->take[pair->b][side] = -1;
    }
  }
}

/* The link of a grain that is not `from`; -1: none. */
static int64_t next_link(const Search *s, int64_t grain, int64_t from) {
  for (int side = 0; side < 2; side++)
    if (s->take[grain][side] >= 0 && s->take[grain][side] != from) return s->take[grain][side];
  return -1;
}

static void end_chain(Search *s, TlChain chain) {
  TlChains *o = s->out;
  double links = (double)(chain.count - 1);
  if (chain.count < LEAST) {
    o->member_count = chain.first;
    return;
  }
  chain.force_N /= links;
  chain.steep_deg /= links;
  o->chain[o->count++] = chain;
}

/* Along the links from a grain that has one, or from any of a ring. */
static void follow(Search *s, int64_t grain) {
  TlChains *o = s->out;
  TlChain chain = {.first = o->member_count};
  TlVec3 g = s->p->gravity_m_s2, up = tl_norm2(g) > 0 ? tl_unit(g) : tl_vec3(0, 0, 1);
  for (int64_t link = -1; grain >= 0 && !s->done[grain];) {
    s->done[grain] = 1;
    o->member[o->member_count] = grain;
    chain.count++;
    link = next_link(s, grain, link);
    int64_t to = link >= 0 ? other(&s->p->pair[link], grain) : -1;
    bool open = to >= 0 && !s->done[to];
    o->link_N[o->member_count++] = open ? s->p->pair[link].normal_N : 0;
    if (open) {
      chain.length_m += tl_norm(tl_sub(s->p->grain[to].centre_m, s->p->grain[grain].centre_m));
      chain.force_N += s->p->pair[link].normal_N;
      chain.steep_deg += acos(fmin(1, fabs(tl_dot(direction(s, link, grain), up)))) * TL_DEG;
    }
    grain = open ? to : -1;
  }
  end_chain(s, chain);
}

static void follow_all(Search *s) {
  for (int rings = 0; rings < 2; rings++)
    for (int64_t i = 0; i < s->p->grain_count; i++) {
      int links = (s->take[i][0] >= 0) + (s->take[i][1] >= 0);
      if (!s->done[i] && links == 1 + rings) follow(s, i);
    }
}

static TlStatus search(Search *s) {
  size_t n = (size_t)s->p->grain_count;
  TL_TRY(TL_NEW(s->major, n));
  TL_TRY(TL_NEW(s->take, n));
  TL_TRY(TL_NEW(s->done, n));
  TL_TRY(TL_NEW(s->out->chain, n));
  TL_TRY(TL_NEW(s->out->member, n));
  TL_TRY(TL_NEW(s->out->link_N, n));
  TL_TRY(find_major(s));
  for (size_t i = 0; i < n; i++) s->take[i][0] = s->take[i][1] = -1;
  offer_strong(s);
  keep_mutual(s);
  follow_all(s);
  return TL_OK;
}

TlStatus tl_chains_find(const TlPacking *p, const TlRegion *region, TlChains *chains) {
  Search s = {.p = p, .region = region, .out = chains};
  *chains = (TlChains){0};
  TlStatus status = search(&s);
  tl_free(s.major);
  tl_free(s.take);
  tl_free(s.done);
  if (status != TL_OK) tl_chains_free(chains);
  return status;
}

void tl_chains_free(TlChains *c) {
  tl_free(c->chain);
  tl_free(c->member);
  tl_free(c->link_N);
  *c = (TlChains){0};
}

/* ---- the table ---- */

typedef struct Row {
  int64_t chains, grains, longest, links, strong, grains_in_region;
  double length_m, steep_deg; /* sums over the chains, over the links */
} Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *of) {
  TlChains c;
  Row *row = of;
  TL_TRY(tl_chains_find(p, region, &c));
  *row = (Row){.chains = c.count, .grains = c.member_count, .strong = c.strong};
  for (int64_t i = 0; i < p->grain_count; i++) row->grains_in_region += tl_packing_in(p, region, i);
  for (int64_t i = 0; i < c.count; i++) {
    row->longest = c.chain[i].count > row->longest ? c.chain[i].count : row->longest;
    row->links += c.chain[i].count - 1;
    row->length_m += c.chain[i].length_m;
    row->steep_deg += c.chain[i].steep_deg * (double)(c.chain[i].count - 1);
  }
  tl_chains_free(&c);
  return TL_OK;
}

/* NaN: 0 of none. */
static double over(double part, int64_t all) {
  return all ? part / (double)all : NAN;
}

#define COLUMNS(C)                                                                                 \
  C(chains, "", "force chains of three grains or more", row->chains)                               \
  C(chain_mean_grains, "", "grains a chain", over((double)row->grains, row->chains))               \
  C(chain_most_grains, "", "grains of the longest chain", row->longest)                            \
  C(chain_mean_length_m, "m", "mean length of a chain", over(row->length_m, row->chains))          \
  C(chain_mean_from_vertical_deg, "deg", "mean angle of the links to gravity",                     \
    over(row->steep_deg, row->links))                                                              \
  C(chain_grain_share, "", "fraction of the grains that are in chains",                            \
    over((double)row->grains, row->grains_in_region))                                              \
  C(chain_strong_share, "", "fraction of the strong pairs that are links",                         \
    over((double)row->links, row->strong))
TL_PACK_MEASURE(chains, COLUMNS);
