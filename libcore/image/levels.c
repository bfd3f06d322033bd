#include "image/levels.h"

#include "base/lanes.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { STEPS = TL_CORE_EROSION + 1, LEAST_CORE = 100, SMOOTHINGS = 2 };

static const double SHRINK = 20; /* voxels a block; fewer core voxels than that tell little */

/* ---- cores ---- */

void tl_classes_of(const TlVolume *mask, const TlRoi *roi, int64_t low, int64_t high,
                   uint8_t *classes) {
  int64_t nx = mask->nx, ny = mask->ny;
#pragma omp parallel for
  for (int64_t r = 0; r < (high - low) * ny; r++) {
    int64_t z = low + r / ny, y = r % ny;
    const uint8_t *from = mask->u8 + tl_volume_at(mask, 0, y, z);
    uint8_t *to = classes + r * nx;
    for (int64_t x = 0; x < nx; x++) to[x] = from[x] & 1;
    for (int64_t x = 0; roi->kind != TL_ROI_ALL && x < nx; x++)
      if (!tl_roi_inside(roi, x, y, z)) to[x] = TL_CLASS_OUTSIDE;
  }
}

/* All but the row's ends look at both neighbours along x. */
TL_LANES_CLONES
static void erode_row(const uint8_t *c, const uint8_t *up, const uint8_t *down,
                      const uint8_t *below, const uint8_t *above, uint8_t *t, int64_t nx) {
  t[0] = up[0] && down[0] && below[0] && above[0] ? c[0] : c[0] & TL_CLASS_OUTSIDE;
  for (int64_t x = 1; x < nx - 1; x++) {
    int keep = (up[x] != 0) & (down[x] != 0) & (below[x] != 0) & (above[x] != 0) & (c[x - 1] != 0) &
               (c[x + 1] != 0);
    t[x] = keep ? c[x] : c[x] & TL_CLASS_OUTSIDE;
  }
  int64_t e = nx - 1;
  t[e] = up[e] && down[e] && below[e] && above[e] ? c[e] : c[e] & TL_CLASS_OUTSIDE;
}

/* 1 core, 0 not, OUTSIDE stays: at the slices' ends a row stands in for the one that is missing. */
static void erode(const uint8_t *from, uint8_t *to, int64_t nx, int64_t ny, int64_t nz) {
  int64_t plane = nx * ny;
#pragma omp parallel for
  for (int64_t r = 0; r < nz * ny; r++) {
    int64_t z = r / ny, y = r % ny;
    const uint8_t *c = from + r * nx;
    const uint8_t *up = y > 0 ? c - nx : c, *down = y + 1 < ny ? c + nx : c;
    const uint8_t *below = z > 0 ? c - plane : c, *above = z + 1 < nz ? c + plane : c;
    uint8_t *t = to + r * nx;
    erode_row(c, up, down, below, above, t, nx);
    if (!c[1 < nx ? 1 : 0]) t[0] &= TL_CLASS_OUTSIDE;
    if (!c[nx > 1 ? nx - 2 : 0]) t[nx - 1] &= TL_CLASS_OUTSIDE;
  }
}

static void core_begin(const uint8_t *classes, int64_t n, uint8_t which, uint8_t *core) {
  for (int64_t i = 0; i < n; i++)
    core[i] = classes[i] == TL_CLASS_OUTSIDE ? TL_CLASS_OUTSIDE : classes[i] == which;
}

void tl_core_find(const uint8_t *classes, int64_t nx, int64_t ny, int64_t nz, uint8_t which,
                  int steps, uint8_t *core, uint8_t *scratch) {
  int64_t n = nx * ny * nz;
  core_begin(classes, n, which, core);
  for (int s = 0; s < steps; s++) {
    erode(core, scratch, nx, ny, nz);
    memcpy(core, scratch, (size_t)n);
  }
  for (int64_t i = 0; i < n; i++) core[i] &= 1;
}

/* ---- sums ---- */

typedef struct Sums {
  TlHistogram h[2][STEPS];
  double *sum[2][STEPS]; /* of grey - h.low, a value a block */
  int64_t *count[2][STEPS];
} Sums;

static void sums_free(Sums *s) {
  for (int c = 0; c < 2; c++)
    for (int e = 0; e < STEPS; e++) {
      tl_histogram_free(&s->h[c][e]);
      tl_free(s->sum[c][e]);
      tl_free(s->count[c][e]);
    }
}

static TlStatus sums_new(Sums *s, const TlHistogram *bins, int64_t blocks) {
  *s = (Sums){0};
  for (int c = 0; c < 2; c++)
    for (int e = 0; e < STEPS; e++) {
      TL_TRY(tl_histogram_like(bins, &s->h[c][e]));
      TL_TRY(TL_NEW(s->sum[c][e], (size_t)blocks));
      TL_TRY(TL_NEW(s->count[c][e], (size_t)blocks));
    }
  return TL_OK;
}

typedef struct Slices {
  float *grey;
  uint8_t *classes, *core, *scratch;
} Slices;

static void slices_free(Slices *w) {
  tl_free(w->grey);
  tl_free(w->classes);
  tl_free(w->core);
  tl_free(w->scratch);
}

static TlStatus slices_new(Slices *w, int64_t n) {
  *w = (Slices){0};
  TL_TRY(TL_NEW(w->grey, (size_t)n));
  TL_TRY(TL_NEW(w->classes, (size_t)n));
  TL_TRY(TL_NEW(w->core, (size_t)n));
  return TL_NEW(w->scratch, (size_t)n);
}

/* The slab's own core voxels into counts and block sums. One thread: a few per cent of a round. */
static void add_core(Sums *s, const TlLevels *l, const TlSource *g, const TlSlab *slab,
                     const Slices *w, int c, int e) {
  TlHistogram *h = &s->h[c][e];
  for (int64_t z = slab->begin; z < slab->end; z++)
    for (int64_t y = 0; y < g->ny; y++) {
      int64_t row = ((z - slab->low) * g->ny + y) * g->nx;
      int64_t block = (z / TL_SLAB_STEP * l->gy + y / TL_SLAB_STEP) * l->gx;
      for (int64_t x = 0; x < g->nx; x++) {
        if (w->core[row + x] != 1) continue;
        float grey = w->grey[row + x];
        h->count[tl_histogram_bin(h, grey)]++;
        h->total++;
        s->sum[c][e][block + x / TL_SLAB_STEP] += (double)grey - h->low;
        s->count[c][e][block + x / TL_SLAB_STEP]++;
      }
    }
}

static TlStatus add_slab(Sums *s, const TlLevels *l, const TlSource *g, const TlRoi *roi,
                         const TlVolume *mask, const TlSlab *slab, Slices *w) {
  int64_t depth = slab->high - slab->low, n = depth * g->ny * g->nx;
  TL_TRY(tl_source_read(g, slab->low, depth, w->grey));
  tl_classes_of(mask, roi, slab->low, slab->high, w->classes);
  for (uint8_t c = 0; c < 2; c++) {
    core_begin(w->classes, n, c, w->core);
    for (int e = 0; e < STEPS; e++) {
      add_core(s, l, g, slab, w, c, e);
      if (e + 1 == STEPS) break;
      erode(w->core, w->scratch, g->nx, g->ny, depth);
      memcpy(w->core, w->scratch, (size_t)n);
    }
  }
  return TL_OK;
}

/* ---- drift ---- */

/* [1 2 1] / 4 along an axis of stride `step`, ends repeated; sums stay sums. */
static void smooth_axis(double *a, int64_t n, int64_t step, int64_t lines, int64_t line_step) {
  for (int64_t k = 0; k < lines; k++) {
    double *line = a + k * line_step, before = line[0];
    for (int64_t i = 0; i < n; i++) {
      double here = line[i * step], after = i + 1 < n ? line[(i + 1) * step] : here;
      line[i * step] = 0.25 * before + 0.5 * here + 0.25 * after;
      before = here;
    }
  }
}

static void smooth_grid(const TlLevels *l, double *a) {
  int64_t plane = l->gx * l->gy;
  for (int k = 0; k < SMOOTHINGS; k++) {
    smooth_axis(a, l->gx, 1, l->gy * l->gz, l->gx);
    for (int64_t z = 0; z < l->gz; z++) smooth_axis(a + z * plane, l->gy, l->gx, l->gx, 1);
    smooth_axis(a, l->gz, plane, plane, 1);
  }
}

/* Mean difference of the blocks' levels between two groups, weighted by their cores. */
typedef struct Part {
  double sum, weight;
} Part;

static double difference(Part a, Part b) {
  return a.weight > 0 && b.weight > 0 ? a.sum / a.weight - b.sum / b.weight : 0;
}

static void tell_drift(TlLevels *l, const double *sum, const double *count) {
  Part z[3] = {{0}}, r[3] = {{0}};
  double cx = 0.5 * (double)(l->gx - 1), cy = 0.5 * (double)(l->gy - 1);
  double most = fmax(hypot(cx, cy) / M_SQRT2, 1e-9);
  for (int64_t i = 0; i < l->gx * l->gy * l->gz; i++) {
    int64_t bz = i / (l->gx * l->gy);
    double radius = hypot((double)(i % l->gx) - cx, (double)(i / l->gx % l->gy) - cy) / most;
    int ring = radius < 1.0 / 3 ? 0 : radius < 2.0 / 3 ? 1 : 2;
    z[3 * bz / l->gz].sum += sum[i];
    z[3 * bz / l->gz].weight += count[i];
    r[ring].sum += sum[i];
    r[ring].weight += count[i];
  }
  l->drift_z = l->gz >= 3 ? difference(z[2], z[0]) : 0;
  l->drift_radial = l->gx >= 3 && l->gy >= 3 ? difference(r[2], r[0]) : 0;
}

static TlStatus find_drift(TlLevels *l, const Sums *s, int c) {
  int e = l->erosion[c];
  int64_t blocks = l->gx * l->gy * l->gz;
  double *sum, *count = NULL;
  TL_TRY(TL_NEW(sum, (size_t)blocks));
  TlStatus status = TL_NEW(count, (size_t)blocks);
  if (status == TL_OK) status = TL_NEW(l->drift[c], (size_t)blocks);
  if (status == TL_OK) {
    for (int64_t i = 0; i < blocks; i++) {
      count[i] = (double)s->count[c][e][i];
      sum[i] = s->sum[c][e][i] - count[i] * (l->level[c] - s->h[c][e].low);
    }
    if (c == 0) tell_drift(l, sum, count);
    smooth_grid(l, sum);
    smooth_grid(l, count);
    for (int64_t i = 0; i < blocks; i++) l->drift[c][i] = (float)(sum[i] / (count[i] + SHRINK));
  }
  tl_free(sum);
  tl_free(count);
  return status;
}

static TlStatus find_class(TlLevels *l, const Sums *s, int c) {
  int e = TL_CORE_EROSION;
  while (e > 0 && s->h[c][e].total < LEAST_CORE) e--;
  if (s->h[c][e].total == 0)
    return tl_fail(TL_EINPUT, "the start of HMRF-EM holds no %s voxel", c ? "grain" : "void");
  l->erosion[c] = e;
  l->core[c] = s->h[c][e].total;
  l->level[c] = tl_histogram_median(&s->h[c][e]);
  return find_drift(l, s, c);
}

TlStatus tl_levels_find(const TlSource *grey, const TlRoi *roi, int64_t slab, const TlVolume *mask,
                        const TlHistogram *bins, TlLevels *l) {
  Sums sums;
  Slices w = {0};
  *l = (TlLevels){.gx = (grey->nx + TL_SLAB_STEP - 1) / TL_SLAB_STEP,
                  .gy = (grey->ny + TL_SLAB_STEP - 1) / TL_SLAB_STEP,
                  .gz = (grey->nz + TL_SLAB_STEP - 1) / TL_SLAB_STEP};
  int64_t halo = TL_CORE_EROSION, deepest = 0;
  for (int64_t k = 0; k < tl_slab_count(grey->nz, slab); k++) {
    TlSlab s = tl_slab(grey->nz, slab, halo, k);
    deepest = s.high - s.low > deepest ? s.high - s.low : deepest;
  }
  TlStatus status = sums_new(&sums, bins, l->gx * l->gy * l->gz);
  if (status == TL_OK) status = slices_new(&w, deepest * grey->ny * grey->nx);
  for (int64_t k = 0; status == TL_OK && k < tl_slab_count(grey->nz, slab); k++) {
    TlSlab s = tl_slab(grey->nz, slab, halo, k);
    status = add_slab(&sums, l, grey, roi, mask, &s, &w);
  }
  for (int c = 0; status == TL_OK && c < 2; c++) status = find_class(l, &sums, c);
  slices_free(&w);
  sums_free(&sums);
  if (status != TL_OK) tl_levels_free(l);
  return status;
}

void tl_levels_free(TlLevels *l) {
  tl_free(l->drift[0]);
  tl_free(l->drift[1]);
  l->drift[0] = l->drift[1] = NULL;
}

/* Blocks below and above a voxel and the weight of the upper one. */
static void between(int64_t at, int64_t blocks, int64_t pair[2], float *part) {
  double t = ((double)at + 0.5) / TL_SLAB_STEP - 0.5;
  t = t < 0 ? 0 : t > (double)(blocks - 1) ? (double)(blocks - 1) : t;
  pair[0] = (int64_t)t;
  pair[1] = pair[0] + 1 < blocks ? pair[0] + 1 : pair[0];
  *part = (float)(t - (double)pair[0]);
}

void tl_levels_row(const TlLevels *l, int which, int64_t nx, int64_t y, int64_t z, float *row) {
  int64_t by[2], bz[2], bx[2], last = -1;
  float py, pz, px, level = (float)l->level[which], side[2] = {0, 0};
  between(y, l->gy, by, &py);
  between(z, l->gz, bz, &pz);
  const float *d = l->drift[which];
  for (int64_t x = 0; x < nx; x++) {
    between(x, l->gx, bx, &px);
    for (int k = 0; bx[0] != last && k < 2; k++) {
      const float *low = d + bz[0] * l->gy * l->gx + bx[k];
      const float *high = d + bz[1] * l->gy * l->gx + bx[k];
      side[k] = (1 - pz) * ((1 - py) * low[by[0] * l->gx] + py * low[by[1] * l->gx]) +
                pz * ((1 - py) * high[by[0] * l->gx] + py * high[by[1] * l->gx]);
    }
    last = bx[0];
    row[x] = level + (1 - px) * side[0] + px * side[1];
  }
}
