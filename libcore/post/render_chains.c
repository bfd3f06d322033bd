#include "post/render_chains.h"

#include "base/mem.h"
#include "post/packing_chains.h"
#include "post/render_colour.h"
#include "post/render_values.h"

static const double THICK = 0.4, LEAST = 0.04; /* of a grain; of the thickest */

void tl_chain_drawing_free(TlChainDrawing *d) {
  tl_free(d->tube);
  *d = (TlChainDrawing){0};
}

static TlStatus find(const TlPacking *p, TlChains *chains) {
  TlRegion all = tl_packing_bounds(p);
  return tl_chains_find(p, &all, chains);
}

TlStatus tl_chain_force(const TlPacking *p, double *force_N) {
  TlChains c;
  TL_TRY(find(p, &c));
  int64_t n = 0; /* ends of chains have no link: 0 */
  for (int64_t i = 0; i < c.member_count; i++)
    if (c.link_N[i] > 0) c.link_N[n++] = c.link_N[i];
  TlStatus status = tl_values_end(c.link_N, n, force_N);
  tl_chains_free(&c);
  return status;
}

double tl_chain_thickness(const TlPacking *p) {
  double sum = 0;
  for (int64_t i = 0; i < p->grain_count; i++) sum += p->grain[i].diameter_m;
  return p->grain_count ? THICK * sum / (double)p->grain_count : 0;
}

/* ---- the tubes ---- */

typedef struct Style {
  double full_N, thick_m;
} Style;

static double fraction_of(const Style *s, double force_N) {
  return s->full_N > 0 ? fmin(1, force_N / s->full_N) : 1;
}

static void put(const Style *s, TlChainDrawing *d, TlVec3 from, TlVec3 to, double force_N,
                bool link) {
  double fraction = fraction_of(s, force_N);
  TlVec3 grey = tl_colour_from_srgb(226, 230, 235);
  d->tube[d->count++] = (TlTraceTube){.from = from,
                                      .to = to,
                                      .radius_m = 0.5 * s->thick_m * fmax(LEAST, fraction),
                                      .colour = link ? tl_colour_map(fraction) : grey};
}

/* next[grain]: the grain that follows in its chain; -1: none. */
static TlStatus follow(const TlPacking *p, const TlChains *c, int64_t **next) {
  TL_TRY(TL_NEW(*next, (size_t)p->grain_count));
  for (int64_t i = 0; i < p->grain_count; i++) (*next)[i] = -1;
  for (int64_t k = 0; k < c->count; k++)
    for (int64_t i = c->chain[k].first; i + 1 < c->chain[k].first + c->chain[k].count; i++)
      (*next)[c->member[i]] = c->member[i + 1];
  return TL_OK;
}

/* Among the pair's points, which start at *at, that of the largest normal force. */
static TlVec3 strongest(const TlPacking *p, const TlPackPair *pair, int64_t *at) {
  TlVec3 point = p->contact[*at].point_m;
  double most = -INFINITY;
  for (; *at < p->contact_count; ++*at) {
    const TlPackContact *c = &p->contact[*at];
    if (c->a != pair->a || c->b != pair->b) break;
    double force = tl_dot(c->force_N, c->normal);
    if (force > most) point = c->point_m;
    most = fmax(most, force);
  }
  return point;
}

static void put_all(const TlPacking *p, const int64_t *next, const Style *s, TlChainDrawing *d) {
  int64_t at = 0;
  for (int64_t k = 0; k < p->pair_count; k++) {
    const TlPackPair *pair = &p->pair[k];
    TlVec3 to = strongest(p, pair, &at);
    bool grains = pair->b >= 0, link = false;
    if (grains) {
      to = p->grain[pair->b].centre_m;
      link = next[pair->a] == pair->b || next[pair->b] == pair->a;
    }
    if (!(pair->normal_N > 0)) continue;
    d->pairs += grains;
    put(s, d, p->grain[pair->a].centre_m, to, pair->normal_N, link);
  }
}

TlStatus tl_chain_drawing(const TlPacking *p, double full_N, double thick_m, TlChainDrawing *d) {
  const Style style = {full_N, thick_m};
  TlChains c;
  int64_t *next = NULL;
  *d = (TlChainDrawing){0};
  TL_TRY(find(p, &c));
  TlStatus status = follow(p, &c, &next);
  if (status == TL_OK) status = TL_NEW(d->tube, (size_t)p->pair_count);
  if (status == TL_OK) put_all(p, next, &style, d);
  d->chains = c.count;
  tl_free(next);
  tl_chains_free(&c);
  return status;
}
