/* Greys, masks and labels against the truth (score.h). */
#include "score/score.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- grey ---- */

TlStatus score_grey(const TlVolume *stack, TlVolume *grey) {
  assert(stack->type == TL_U16);
  TL_TRY(tl_volume_like(grey, stack, TL_F32));
  for (int64_t i = 0; i < tl_volume_count(stack); i++) grey->f32[i] = (float)stack->u16[i] / 200.0f;
  return TL_OK;
}

double score_rms_difference(const TlVolume *a, const TlVolume *b) {
  assert(a->type == TL_F32 && b->type == TL_F32 && tl_volume_count(a) == tl_volume_count(b));
  double sum = 0;
  for (int64_t i = 0; i < tl_volume_count(a); i++) {
    double d = (double)a->f32[i] - (double)b->f32[i];
    sum += d * d;
  }
  return sqrt(sum / (double)tl_volume_count(a));
}

double score_psnr(const TlVolume *grey, const TlVolume *clean) {
  return 20 * log10(SCORE_PEAK / score_rms_difference(grey, clean));
}

/* ---- masks ---- */

double score_dice(const TlVolume *mask, const TlVolume *labels) {
  assert(mask->type == TL_U8 && labels->type == TL_U32);
  int64_t both = 0, sum = 0;
  for (int64_t i = 0; i < tl_volume_count(labels); i++) {
    bool a = mask->u8[i] > 0, b = labels->u32[i] > 0;
    both += a && b;
    sum += a + b;
  }
  return 2 * (double)both / (double)sum;
}

double score_porosity_error(const TlVolume *mask, const TlVolume *labels) {
  int64_t missing = 0;
  for (int64_t i = 0; i < tl_volume_count(labels); i++)
    missing += (labels->u32[i] > 0) - (mask->u8[i] > 0);
  return 100 * (double)missing / (double)tl_volume_count(labels);
}

TlStatus score_threshold(const TlVolume *grey, double threshold, TlVolume *mask) {
  TL_TRY(tl_volume_like(mask, grey, TL_U8));
  for (int64_t i = 0; i < tl_volume_count(grey); i++)
    mask->u8[i] = (double)grey->f32[i] > threshold;
  return TL_OK;
}

enum { BINS = 4096 };

double score_otsu(const TlVolume *grey) {
  double bin[BINS] = {0}, low = SCORE_CLIP, total = 0, all = 0, best = -1, at = 0;
  const int64_t n = tl_volume_count(grey);
  for (int64_t i = 0; i < n; i++) low = fmin(low, (double)grey->f32[i]);
  double width = (SCORE_CLIP - low) / BINS;
  for (int64_t i = 0; i < n; i++) {
    int k = (int)((fmin((double)grey->f32[i], SCORE_CLIP) - low) / width);
    bin[k < BINS ? k : BINS - 1]++;
  }
  for (int k = 0; k < BINS; k++) total += bin[k], all += k * bin[k];
  double below = 0, sum = 0;
  for (int k = 0; k + 1 < BINS; k++) {
    below += bin[k];
    sum += k * bin[k];
    if (below == 0 || below == total) continue;
    double d = sum / below - (all - sum) / (total - below);
    double between = below * (total - below) * d * d;
    if (between > best) best = between, at = k + 1;
  }
  return low + at * width;
}

double score_surface_factor(const ScorePhantom *phantom) {
  const TlVolume *c = &phantom->clean;
  int64_t edge = 0;
  for (int64_t i = 0; i < tl_volume_count(c); i++)
    edge += c->u16[i] > 105 * 200 && c->u16[i] < 145 * 200;
  return fmax(1, (double)edge / (double)tl_volume_count(c) / 0.141);
}

/* ---- labels ---- */

typedef struct Cell { /* of the table true label x found label */
  uint32_t truth, found;
  int64_t voxels;
} Cell;

static int by_truth(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Cells in order of (truth, found); void-in-both left out. *cells: owner the caller. */
static TlStatus cross_table(const TlVolume *truth, const TlVolume *found, Cell **cells,
                            int64_t *count) {
  assert(truth->type == TL_U32 && found->type == TL_U32);
  if (tl_volume_count(truth) != tl_volume_count(found))
    return tl_fail(TL_EINPUT, "labels of %lld voxels against a truth of %lld",
                   (long long)tl_volume_count(found), (long long)tl_volume_count(truth));
  uint64_t *key;
  const int64_t n = tl_volume_count(truth);
  int64_t keys = 0;
  TL_TRY(TL_NEW(key, (size_t)n));
  for (int64_t i = 0; i < n; i++)
    if (truth->u32[i] || found->u32[i]) key[keys++] = (uint64_t)truth->u32[i] << 32 | found->u32[i];
  qsort(key, (size_t)keys, sizeof *key, by_truth);
  *count = 0;
  TlStatus status = TL_NEW(*cells, (size_t)keys);
  for (int64_t i = 0; status == TL_OK && i < keys; i++) {
    if (i == 0 || key[i] != key[i - 1])
      (*cells)[(*count)++] = (Cell){(uint32_t)(key[i] >> 32), (uint32_t)key[i], 0};
    (*cells)[*count - 1].voxels++;
  }
  tl_free(key);
  return status;
}

static double pairs(int64_t n) {
  return 0.5 * (double)n * (double)(n - 1);
}

static int64_t most_found(const Cell *cells, int64_t count) {
  int64_t most = 0;
  for (int64_t i = 0; i < count; i++)
    if ((int64_t)cells[i].found > most) most = cells[i].found;
  return most;
}

/* Hubert and Arabie 1985; all in doubles: 2e6 voxels make 2e12 pairs, exact below 2^53. */
static TlStatus ari_of(const Cell *cells, int64_t count, double *ari) {
  int64_t *column, most = most_found(cells, count), row = 0, n = 0;
  TL_TRY(TL_NEW(column, (size_t)most + 1));
  double together = 0, rows = 0, columns = 0;
  for (int64_t i = 0; i < count; i++) {
    if (cells[i].truth == 0) continue;
    together += pairs(cells[i].voxels);
    column[cells[i].found] += cells[i].voxels;
    row += cells[i].voxels;
    n += cells[i].voxels;
    if (i + 1 < count && cells[i + 1].truth == cells[i].truth) continue;
    rows += pairs(row);
    row = 0;
  }
  for (int64_t k = 0; k <= most; k++) columns += pairs(column[k]);
  tl_free(column);
  double expected = n > 1 ? rows * columns / pairs(n) : 0;
  double largest = 0.5 * (rows + columns);
  *ari = largest > expected ? (together - expected) / (largest - expected) : 1;
  return TL_OK;
}

TlStatus score_ari(const TlVolume *truth, const TlVolume *found, double *ari) {
  Cell *cells;
  int64_t count;
  TL_TRY(cross_table(truth, found, &cells, &count));
  TlStatus status = ari_of(cells, count, ari);
  tl_free(cells);
  return status;
}

/* What a found grain holds of large true ones. */
typedef struct Found {
  int64_t voxels, holds;
} Found;

static void judge_cells(const ScorePhantom *p, const Cell *cells, int64_t count, Found *found,
                        ScoreLabels *s) {
  int64_t parts = 0;
  for (int64_t i = 0; i < count; i++) {
    const Cell *c = &cells[i];
    if (c->truth == 0) continue;
    const ScoreGrain *g = &p->grains[c->truth - 1];
    bool large = g->voxels >= SCORE_LEAST_VOXELS;
    if (c->found) {
      Found *f = &found[c->found];
      double overlap = (double)c->voxels / (double)(g->voxels + f->voxels - c->voxels);
      if (overlap > s->overlap[c->truth])
        s->overlap[c->truth] = overlap, s->match[c->truth] = c->found;
      f->holds += large && 2 * c->voxels >= g->voxels;
      parts += 2 * c->voxels > f->voxels && 10 * c->voxels >= g->voxels;
    }
    if (i + 1 < count && cells[i + 1].truth == c->truth) continue;
    s->splits += large && parts >= 2;
    parts = 0;
  }
}

TlStatus score_labels(const ScorePhantom *phantom, const TlVolume *found, ScoreLabels *score) {
  *score = (ScoreLabels){0};
  Cell *cells;
  int64_t count;
  TL_TRY(cross_table(&phantom->labels, found, &cells, &count));
  Found *each = NULL;
  int64_t most = most_found(cells, count);
  TlStatus status = ari_of(cells, count, &score->ari);
  if (status == TL_OK) status = TL_NEW(each, (size_t)most + 1);
  if (status == TL_OK) status = TL_NEW(score->match, (size_t)phantom->grain_count + 1);
  if (status == TL_OK) status = TL_NEW(score->overlap, (size_t)phantom->grain_count + 1);
  if (status == TL_OK) {
    for (int64_t i = 0; i < count; i++) each[cells[i].found].voxels += cells[i].voxels;
    judge_cells(phantom, cells, count, each, score);
    for (int64_t k = 1; k <= most; k++) score->merges += each[k].holds >= 2;
    for (int64_t l = 1; l <= phantom->grain_count; l++) {
      bool large = phantom->grains[l - 1].voxels >= SCORE_LEAST_VOXELS;
      if (!(score->overlap[l] > 0.5)) score->match[l] = 0;
      score->wanted += large;
      score->matched += large && score->match[l];
    }
  }
  tl_free(each);
  tl_free(cells);
  if (status != TL_OK) score_labels_free(score);
  return status;
}

void score_labels_free(ScoreLabels *score) {
  tl_free(score->match);
  tl_free(score->overlap);
  *score = (ScoreLabels){0};
}
