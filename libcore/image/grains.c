#include "image/grains.h"

#include "base/mem.h"
#include "image/label_dip.h"
#include "image/saddles.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static TlStatus own_roots(const TlRelief *r, uint32_t **root) {
  TL_TRY(TL_NEW(*root, r->ids));
  for (size_t id = 0; id < r->ids; id++) (*root)[id] = (uint32_t)id;
  return TL_OK;
}

static uint32_t find(uint32_t *root, uint32_t id) {
  while (root[id] != id) id = root[id] = root[root[id]];
  return id;
}

/* ---- persistence ---- */

static bool higher(const TlBasin *a, const TlBasin *b) {
  return a->peak > b->peak || (a->peak == b->peak && a->at < b->at);
}

/* A single hill has no pass, and no array of them. */
static void sort_passes(TlRelief *r) {
  if (r->saddles > 1) qsort(r->saddle, r->saddles, sizeof *r->saddle, tl_saddle_order);
}

/* The root of a set of joined hills is the hill of its highest peak. */
static void end_peaks(TlRelief *r, uint32_t *root, TlPeak *peaks, size_t *count) {
  sort_passes(r);
  for (size_t i = 0; i < r->saddles; i++) {
    uint32_t a = find(root, r->saddle[i].a), b = find(root, r->saddle[i].b);
    if (a == b) continue;
    uint32_t stays = higher(&r->basin[a], &r->basin[b]) ? a : b, ends = stays == a ? b : a;
    root[ends] = stays;
    peaks[(*count)++] =
        (TlPeak){.peak = r->basin[ends].peak, .saddle = r->saddle[i].level, .id = ends};
  }
  for (size_t id = TL_RELIEF_FIRST_ID; id < r->ids; id++)
    if (root[id] == id) peaks[(*count)++] = (TlPeak){.peak = r->basin[id].peak, .id = (uint32_t)id};
}

TlStatus tl_grains_peaks(TlRelief *r, TlPeak **peaks, size_t *count) {
  uint32_t *root;
  *count = 0;
  TL_TRY(TL_NEW(*peaks, r->ids));
  TlStatus status = own_roots(r, &root);
  if (status == TL_OK) end_peaks(r, root, *peaks, count);
  if (status != TL_OK) TL_FREE(*peaks);
  tl_free(root);
  return status;
}

double tl_grains_least_rise(const TlGrainRule *rule) {
  return rule->neck > 0 ? TL_NECK_LEAST_RISE : 1;
}

double tl_grains_rise(const TlGrainRule *rule, double peak, double saddle) {
  double h = rule->h_voxels, relative = rule->h_relative;
  if (relative > 0) return log((h + relative * peak) / (h + relative * saddle)) / relative;
  return (peak - saddle) / h;
}

/* ---- flooding ---- */

/* The root of a set of joined hills is its marker, where it has one. */
static void join_hills(const TlRelief *r, uint8_t const *marked, uint32_t *root) {
  for (size_t i = 0; i < r->saddles; i++) {
    uint32_t a = find(root, r->saddle[i].a), b = find(root, r->saddle[i].b);
    if (a == b || (marked[a] && marked[b])) continue;
    root[marked[a] ? b : a] = marked[a] ? a : b;
  }
}

/* ---- necks ---- */

typedef struct Region { /* by root */
  double voxels;
  double core, grey; /* core voxels, the sum of their greys */
  TlBasin top;
  bool taken;
} Region;

typedef struct Neck {
  double rise;
  TlSaddle saddle;
} Neck;

static int weakest_first(const void *left, const void *right) {
  const Neck *a = left, *b = right;
  if (a->rise != b->rise) return a->rise < b->rise ? -1 : 1;
  return tl_saddle_order(&a->saddle, &b->saddle);
}

/* Contact area over the cross-section that the smaller of the two would have as a ball. */
static double width(const TlGrainRule *rule, const TlSaddle *s, const Region *a, const Region *b) {
  const double *e = rule->edge;
  double x = s->faces[0] * e[1] * e[2], y = s->faces[1] * e[2] * e[0],
         z = s->faces[2] * e[0] * e[1];
  double least = a->voxels < b->voxels ? a->voxels : b->voxels;
  return sqrt(x * x + y * y + z * z) / (M_PI * pow(0.75 * least / M_PI, 2.0 / 3));
}

/* What the grey says (image/label.h): > 0 two grains, < 0 one, 0 too little is seen of them. */
static int grey_verdict(double width, const TlSaddle *s, const Region *a, const Region *b) {
  bool inner = s->inner >= TL_GREY_LEAST_SEEN;
  bool cores = a->core >= TL_GREY_LEAST_SEEN && b->core >= TL_GREY_LEAST_SEEN;
  double dip = inner ? (double)s->dip / (TL_DIP_ONE * (double)s->inner) : 0;
  double step = cores ? fabs(a->grey / a->core - b->grey / b->core) / TL_GREY_ONE : 0;
  if (dip > TL_GREY_DIP + TL_GREY_DIP_A_WIDTH * width) return 1;
  if (step > TL_GREY_STEP + TL_GREY_STEP_A_WIDTH * width) return 1;
  return inner && cores && width > TL_GREY_ONE_WIDTH ? -1 : 0;
}

static bool neckless(const TlGrainRule *rule, double rise, const TlSaddle *s, const Region *a,
                     const Region *b) {
  double across = width(rule, s, a, b);
  int grey = rule->grey ? grey_verdict(across, s, a, b) : 0;
  return grey ? grey < 0 : across > rule->neck + TL_NECK_A_RISE * rise;
}

/* Pairs without a neck. */
static size_t find_neckless(const TlGrainRule *rule, const TlSaddle *saddle, size_t count,
                            const Region *region, Neck *neck) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    const Region *a = &region[saddle[i].a], *b = &region[saddle[i].b];
    double peak = (double)(a->top.peak < b->top.peak ? a->top.peak : b->top.peak);
    double rise = tl_grains_rise(rule, peak, (double)saddle[i].level);
    if (neckless(rule, rise, &saddle[i], a, b)) neck[n++] = (Neck){rise, saddle[i]};
  }
  qsort(neck, n, sizeof *neck, weakest_first);
  return n;
}

static void join_regions(Region *region, uint32_t *root, uint32_t a, uint32_t b) {
  uint32_t stays = higher(&region[a].top, &region[b].top) ? a : b, goes = stays == a ? b : a;
  root[goes] = stays;
  region[stays].voxels += region[goes].voxels;
  region[stays].core += region[goes].core;
  region[stays].grey += region[goes].grey;
  region[stays].taken = region[goes].taken = true;
}

/* One round: of the pairs without a neck the weakest first, each region once. */
static size_t join_round(const TlRelief *r, const TlGrainRule *rule, Region *region,
                         TlSaddle *saddle, size_t *count, Neck *neck, uint32_t *root) {
  size_t joined = 0;
  for (size_t i = 0; i < *count; i++) {
    saddle[i].a = find(root, saddle[i].a);
    saddle[i].b = find(root, saddle[i].b);
  }
  tl_saddles_merge(saddle, count);
  for (size_t id = 0; id < r->ids; id++) region[id].taken = false;
  size_t n = find_neckless(rule, saddle, *count, region, neck);
  for (size_t i = 0; i < n; i++) {
    uint32_t a = neck[i].saddle.a, b = neck[i].saddle.b;
    if (region[a].taken || region[b].taken) continue;
    join_regions(region, root, a, b);
    joined++;
  }
  return joined;
}

static TlStatus join_without_neck(const TlRelief *r, const TlGrainRule *rule, uint32_t *root) {
  Region *region;
  TlSaddle *saddle = NULL;
  Neck *neck = NULL;
  size_t count = r->saddles;
  TL_TRY(TL_NEW(region, r->ids));
  TlStatus status = TL_NEW(saddle, r->saddles);
  if (status == TL_OK) status = TL_NEW(neck, r->saddles);
  for (size_t id = TL_RELIEF_FIRST_ID; status == TL_OK && id < r->ids; id++) {
    Region *mine = &region[find(root, (uint32_t)id)];
    if (mine->voxels == 0 || higher(&r->basin[id], &mine->top)) mine->top = r->basin[id];
    mine->voxels += (double)r->basin[id].voxels;
    mine->core += (double)r->basin[id].core;
    mine->grey += (double)r->basin[id].grey;
  }
  if (status == TL_OK) {
    if (r->saddles) memcpy(saddle, r->saddle, r->saddles * sizeof *saddle);
    while (join_round(r, rule, region, saddle, &count, neck, root)) continue;
  }
  tl_free(neck);
  tl_free(saddle);
  tl_free(region);
  return status;
}

/* ---- numbers ---- */

typedef struct Found {
  int64_t first, voxels;
  uint32_t root;
} Found;

static int by_first(const void *left, const void *right) {
  const Found *a = left, *b = right;
  return a->first < b->first ? -1 : a->first > b->first;
}

/* Sums of the hills by root, then the grains that are large enough in order of first voxel. */
static size_t gather(const TlRelief *r, const uint8_t *marked, uint32_t *root, int64_t min_voxels,
                     Found *sum, TlGrains *g) {
  size_t kept = 0;
  for (size_t id = 0; id < r->ids; id++)
    sum[id] = (Found){.first = INT64_MAX, .root = (uint32_t)id};
  for (size_t id = TL_RELIEF_FIRST_ID; id < r->ids; id++) {
    const TlBasin *b = &r->basin[id];
    Found *f = &sum[find(root, (uint32_t)id)];
    f->voxels += b->voxels;
    f->first = b->first < f->first ? b->first : f->first;
  }
  for (size_t id = TL_RELIEF_FIRST_ID; id < r->ids; id++) {
    if (root[id] != id || sum[id].voxels == 0) continue;
    if (!marked[id]) {
      g->unreached += sum[id].voxels;
    } else if (sum[id].voxels < min_voxels) {
      g->dropped++;
      g->dropped_voxels += sum[id].voxels;
    } else {
      sum[kept++] = sum[id];
    }
  }
  qsort(sum, kept, sizeof *sum, by_first);
  return kept;
}

static TlStatus number_grains(const TlRelief *r, uint32_t *root, const Found *found, TlGrains *g) {
  TL_TRY(TL_NEW(g->number, r->ids));
  TL_TRY(TL_NEW(g->voxels, (size_t)g->count + 1));
  TL_TRY(TL_NEW(g->first, (size_t)g->count + 1));
  for (uint32_t n = 1; n <= g->count; n++) {
    g->number[found[n - 1].root] = n;
    g->voxels[n] = found[n - 1].voxels;
    g->first[n] = found[n - 1].first;
  }
  for (size_t id = TL_RELIEF_FIRST_ID; id < r->ids; id++)
    g->number[id] = g->number[find(root, (uint32_t)id)];
  return TL_OK;
}

TlStatus tl_grains_flood(TlRelief *r, const uint8_t *marked, const TlGrainRule *rule,
                         int64_t min_voxels, TlGrains *g) {
  uint32_t *root;
  Found *found = NULL;
  *g = (TlGrains){0};
  TL_TRY(own_roots(r, &root));
  TlStatus status = TL_NEW(found, r->ids);
  if (status == TL_OK) {
    sort_passes(r);
    join_hills(r, marked, root);
    if (rule && rule->neck > 0) status = join_without_neck(r, rule, root);
  }
  if (status == TL_OK) {
    g->count = (uint32_t)gather(r, marked, root, min_voxels, found, g);
    status = number_grains(r, root, found, g);
  }
  tl_free(found);
  tl_free(root);
  if (status != TL_OK) tl_grains_free(g);
  return status;
}

void tl_grains_free(TlGrains *g) {
  tl_free(g->number);
  tl_free(g->voxels);
  tl_free(g->first);
  *g = (TlGrains){0};
}
