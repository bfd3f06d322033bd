/* Overlaps of a sample's grains as they lay in the scan, and the verdicts on them. A plane goes up
 * along z; only grains that it cuts are in memory. */
#include "store/catalog_impl.h"

#include "base/log.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Grain {
  TlAvatar avatar;
  TlQuality quality;
  TlDescriptors descriptors;
  double high; /* its sphere's top */
} Grain;

typedef struct Sweep {
  TlCatalog *catalog;
  TlGrainRow *row;
  size_t rows, row_capacity;
  Grain *grain; /* cut by the plane */
  size_t grains, grain_capacity;
  TlJudged *judged;
} Sweep;

static TlStatus keep_row(void *context, const TlGrainRow *row) {
  Sweep *w = context;
  TL_TRY(TL_RESERVE(w->row, w->row_capacity, w->rows + 1));
  w->row[w->rows++] = *row;
  return TL_OK;
}

static double low_of(const TlGrainRow *r) {
  return r->scan_centroid_m.z - r->radius_m;
}

static int by_low(const void *a, const void *b) {
  const TlGrainRow *p = a, *q = b;
  double x = low_of(p), y = low_of(q);
  return x != y ? (x > y) - (x < y) : (p->id > q->id) - (p->id < q->id);
}

static TlStatus settle(Sweep *w, Grain *g) {
  TlJudged *t = w->judged;
  tl_quality_judge(&g->quality);
  t->count[g->quality.verdict]++;
  t->deepest_cells = fmax(t->deepest_cells, g->quality.overlap_depth);
  t->volume_m3 += g->avatar.volume_m3;
  t->common_m3 += 0.5 * g->quality.overlap_share * g->avatar.volume_m3; /* counted from both */
  if (g->quality.verdict == TL_REJECTED)
    tl_log_warn("grain %lld (label %u) is rejected: %s", (long long)g->avatar.id, g->avatar.label,
                g->quality.reason);
  else if (g->quality.verdict == TL_DOUBTFUL)
    tl_log_debug("grain %lld (label %u) is doubtful: %s", (long long)g->avatar.id, g->avatar.label,
                 g->quality.reason);
  TlStatus status = tl_catalog_put_check(w->catalog, g->avatar.id, &g->quality, &g->descriptors);
  tl_avatar_free(&g->avatar);
  return status;
}

/* Grains that the plane has left. */
static TlStatus leave(Sweep *w, double z) {
  size_t kept = 0;
  TlStatus status = TL_OK;
  for (size_t i = 0; i < w->grains; i++) {
    if (w->grain[i].high >= z)
      w->grain[kept++] = w->grain[i];
    else if (status == TL_OK)
      status = settle(w, &w->grain[i]);
    else
      tl_avatar_free(&w->grain[i].avatar);
  }
  w->grains = kept;
  return status;
}

static TlStatus enter(Sweep *w, const TlGrainRow *row) {
  bool there;
  TL_TRY(TL_RESERVE(w->grain, w->grain_capacity, w->grains + 1));
  Grain *g = &w->grain[w->grains];
  memset(g, 0, sizeof *g);
  TL_TRY(tl_catalog_get_check(w->catalog, row->id, &g->quality, &g->descriptors, &there));
  if (!there) return TL_OK; /* was never measured: not of this kind */
  TL_TRY(tl_catalog_load_avatar(w->catalog, row->id, &g->avatar));
  w->grains++;
  g->high = row->scan_centroid_m.z + row->radius_m;
  g->quality.overlap_depth = g->quality.overlap_share = 0;
  TlPlaced mine = tl_placed_in_scan(&g->avatar);
  for (size_t i = 0; i + 1 < w->grains; i++) {
    Grain *other = &w->grain[i];
    TlPlaced theirs = tl_placed_in_scan(&other->avatar);
    TlOverlap o = tl_placed_overlap(&mine, &theirs);
    tl_quality_add_overlap(&g->quality, &g->avatar, o);
    tl_quality_add_overlap(&other->quality, &other->avatar, o);
  }
  return TL_OK;
}

static TlStatus sweep(Sweep *w) {
  if (w->rows) qsort(w->row, w->rows, sizeof *w->row, by_low);
  for (size_t i = 0; i < w->rows; i++) {
    TL_TRY(leave(w, low_of(&w->row[i])));
    TL_TRY(enter(w, &w->row[i]));
  }
  return leave(w, INFINITY);
}

TlStatus tl_catalog_judge(TlCatalog *c, const char *sample, TlJudged *judged) {
  Sweep w = {.catalog = c, .judged = judged};
  TlGrainQuery all = {.sample = sample, .with_border = true, .with_rejected = true};
  *judged = (TlJudged){0};
  TlStatus status = tl_catalog_walk_grains(c, &all, keep_row, &w);
  if (status == TL_OK) status = sweep(&w);
  for (size_t i = 0; i < w.grains; i++) tl_avatar_free(&w.grain[i].avatar);
  tl_free(w.row);
  tl_free(w.grain);
  return status;
}
