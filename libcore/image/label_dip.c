#include "image/label_dip.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/label_field.h"
#include "image/filters.h"
#include "image/source.h"

#include <math.h>

#define SIGMA 1.2 /* voxels */
#define STEP 3.0
#define SHIFT 0.56 /* voxels: 0.4 sqrt(SIGMA^2 + 0.7^2) */
enum { DIRECTIONS = 13 };

TlStatus tl_label_one_stack(const char *what, const TlVolume *one, const TlVolume *mask) {
  if (one->nx == mask->nx && one->ny == mask->ny && one->nz == mask->nz) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "%s %lld x %lld x %lld voxels, the mask %lld x %lld x %lld: both must be of one "
                 "stack",
                 what, (long long)one->nx, (long long)one->ny, (long long)one->nz,
                 (long long)mask->nx, (long long)mask->ny, (long long)mask->nz);
}

/* ---- set-up ---- */

static void set_steps(const double edge[3], TlDips *d) {
  for (int k = 0; k < DIRECTIONS; k++) {
    int code = k + 14; /* of 27: those after the voxel itself */
    double u[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
    double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int a = 0; a < 3; a++) d->step[k][a] = (int64_t)lround(STEP * u[a] / (length * edge[a]));
    double length2 = 0;
    for (int a = 0; a < 3; a++) length2 += d->step[k][a] != 0 ? edge[a] * edge[a] : 0;
    d->shift[k] = length2 > 0 ? (float)(SHIFT / sqrt(length2)) : 0;
  }
  int64_t far = 0;
  for (int k = 0; k < DIRECTIONS; k++) far = d->step[k][2] > far ? d->step[k][2] : far;
  for (int a = 0; a < 3; a++) d->sigma[a] = SIGMA / edge[a];
  d->reach = far + (int64_t)ceil(4 * d->sigma[2]);
}

/* ---- planes ---- */

typedef struct Block {
  const TlDips *dips;
  float *grey; /* of planes [low, high), smoothed later */
  int64_t nx, ny, low, high, from, to;
  /* Where dips of planes [from, to) go: in grey levels, or in parts of the least. */
  float *dip;
  TlClue *clue; /* NULL: into dip */
  float *row;   /* for each thread, with clue */
} Block;

/* See the header: shift is that of a step as large as the depth, in parts of the way to the
 * neighbour. */
TL_LANES_CLONES
static void deepen(const float *here, int64_t far, int64_t near, int64_t count, float shift,
                   float *restrict most) {
  const float *left = here - far, *right = here + far, *before = here - near, *after = here + near;
  for (int64_t x = 0; x < count; x++) {
    float step = right[x] - left[x], size = step < 0 ? -step : step;
    float low = step < 0 ? right[x] : left[x], beside = step < 0 ? after[x] : before[x];
    float depth = low + 0.5F * size - here[x];
    float part = shift * size, w = part < depth ? part / depth : 1;
    float dip = low - here[x] - w * (beside - here[x]);
    dip = depth > 0 ? dip : 0;
    most[x] = most[x] > dip ? most[x] : dip;
  }
}

static int64_t sign(int64_t v) {
  return (v > 0) - (v < 0);
}

static void dips_of_row(const Block *b, int64_t y, int64_t z, float *most) {
  const float *here = b->grey + ((z - b->low) * b->ny + y) * b->nx;
  for (int64_t x = 0; x < b->nx; x++) most[x] = 0;
  for (int k = 0; k < DIRECTIONS; k++) {
    const int64_t *s = b->dips->step[k];
    int64_t wide = s[0] < 0 ? -s[0] : s[0], deep = s[1] < 0 ? -s[1] : s[1];
    if (y - deep < 0 || y + deep >= b->ny || z - s[2] < b->low || z + s[2] >= b->high) continue;
    int64_t offset = (s[2] * b->ny + s[1]) * b->nx + s[0];
    if (offset == 0 || 2 * wide >= b->nx) continue;
    const int64_t u[3] = {sign(s[0]), sign(s[1]), sign(s[2])};
    int64_t near = (u[2] * b->ny + u[1]) * b->nx + u[0];
    deepen(here + wide, offset, near, b->nx - 2 * wide, b->dips->shift[k], most + wide);
  }
}

static void store_dips(const TlDips *d, const float *dip, int64_t count, TlClue *clue) {
  const float scale = (float)(TL_DIP_ONE / d->least), most = TL_DIP_MOST * TL_DIP_ONE;
  for (int64_t i = 0; i < count; i++) {
    float part = dip[i] * scale;
    clue[i].dip = (uint16_t)(part < most ? part : most);
  }
}

static TlStatus dips_of_rows(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Block *b = context;
  (void)block;
  for (int64_t r = begin; r < end; r++) {
    float *row = b->clue ? b->row + thread * b->nx : b->dip + r * b->nx;
    dips_of_row(b, r % b->ny, b->from + r / b->ny, row);
    if (b->clue) store_dips(b->dips, row, b->nx, b->clue + r * b->nx);
  }
  return TL_OK;
}

/* What lies outside the region is no sample: it counts as void. */
static void blank_outside(const TlDips *d, const Block *b, float *grey) {
  if (d->roi->kind == TL_ROI_ALL) return;
  for (int64_t z = b->low; z < b->high; z++)
    for (int64_t y = 0; y < b->ny; y++)
      for (int64_t x = 0; x < b->nx; x++, grey++)
        if (!tl_roi_inside(d->roi, x, y, z)) *grey = (float)d->void_grey;
}

/* The raw greys of planes [from, to) and of those that their dips depend on; owner: the caller. */
static TlStatus read_block(const TlDips *d, int64_t from, int64_t to, Block *b) {
  const TlVolume *head = &d->grey->head;
  TlSource source = tl_source_layers(d->grey);
  *b = (Block){.dips = d, .nx = head->nx, .ny = head->ny, .from = from, .to = to};
  b->low = from > d->reach ? from - d->reach : 0;
  b->high = to + d->reach < head->nz ? to + d->reach : head->nz;
  TL_TRY(TL_NEW(b->grey, (size_t)((b->high - b->low) * b->nx * b->ny)));
  return tl_source_read(&source, b->low, b->high - b->low, b->grey);
}

static TlStatus dips_of_block(const TlDips *d, Block *b) {
  blank_outside(d, b, b->grey);
  TL_TRY(tl_gaussian_floats(b->grey, b->nx, b->ny, b->high - b->low, d->sigma, TL_GAUSSIAN_DIRECT));
  TL_TRY(b->clue ? TL_NEW(b->row, (size_t)(b->nx * tl_par_threads()))
                 : TL_NEW(b->dip, (size_t)((b->to - b->from) * b->ny * b->nx)));
  return tl_par_blocks((b->to - b->from) * b->ny, 64, dips_of_rows, b);
}

static void block_free(Block *b) {
  tl_free(b->grey);
  tl_free(b->dip);
  tl_free(b->row);
}

/* As floats: doubles would take as long as the dips themselves. */
static void store_grey(const TlDips *d, const float *grey, int64_t count, TlClue *clue) {
  const float void_grey = (float)d->void_grey, scale = (float)(TL_GREY_ONE / d->contrast);
  for (int64_t i = 0; i < count; i++) {
    float part = (grey[i] - void_grey) * scale;
    part = part > 0 ? part : 0;
    clue[i].grey = (uint16_t)(part < 3.999F * TL_GREY_ONE ? part : 3.999F * TL_GREY_ONE);
  }
}

TlStatus tl_dips_planes(const TlDips *d, int64_t from, int64_t to, TlClue *clue) {
  Block b;
  int64_t plane = d->grey->head.nx * d->grey->head.ny, count = (to - from) * plane;
  TlStatus status = read_block(d, from, to, &b);
  if (status == TL_OK) {
    store_grey(d, b.grey + (from - b.low) * plane, count, clue);
    b.clue = clue;
    status = dips_of_block(d, &b);
  }
  block_free(&b);
  return status;
}

/* ---- contrast and noise, by bands of planes ---- */

enum { BAND = 16, LEAST_BANDS = 3, ENOUGH_CORES = 20000, BINS = 1 << 14 };
#define CORE_DEPTH 5.0 /* voxels */
#define QUANTILE 0.9

typedef struct Survey {
  const TlLayers *mask;
  const double *edge;
  double sum[2], count[2]; /* raw greys: void, grain */
  int64_t *bin;            /* of the dips in cores; 0 to BINS - 1 */
  double width;            /* grey levels a bin */
} Survey;

/* The whole stack in bands, so laid that a band and what it depends on lies in two chunks of 16
 * planes of our files. */
static int64_t band_count(int64_t nz) {
  return nz < 3 * BAND ? 1 : nz / BAND - 1;
}
static void band_planes(int64_t nz, int64_t k, int64_t *from, int64_t *to) {
  *from = k == 0 ? 0 : k * BAND + BAND / 2;
  *to = k + 1 == band_count(nz) ? nz : (k + 1) * BAND + BAND / 2;
}

/* An order in which the first few bands are spread over the stack: steps of about 0.62 of them. */
static int64_t spread_step(int64_t bands) {
  int64_t step = (int64_t)(0.618 * (double)bands) + 1;
  for (;; step++) {
    int64_t a = step, b = bands;
    while (b) {
      int64_t rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1) return step;
  }
}

/* The mask of the block's planes; 1 inside the region and grain. */
static TlStatus read_mask(const TlDips *d, const Block *b, const TlLayers *mask, uint8_t *inside) {
  TlVolume plane;
  int64_t area = b->nx * b->ny;
  TL_TRY(tl_volume_new(&plane, mask->head.type, b->nx, b->ny, 1));
  TlStatus status = TL_OK;
  for (int64_t z = b->low; z < b->high && status == TL_OK; z++, inside += area) {
    status = tl_layers_read(mask, z, 1, plane.data);
    for (int64_t i = 0; i < area && status == TL_OK; i++)
      inside[i] = tl_volume_value(&plane, i) > 0 && tl_roi_inside(d->roi, i % b->nx, i / b->nx, z);
  }
  tl_volume_free(&plane);
  return status;
}

static void add_greys(const TlDips *d, const Block *b, const uint8_t *inside, Survey *s) {
  int64_t area = b->nx * b->ny;
  for (int64_t z = b->from; z < b->to; z++) {
    const float *grey = b->grey + (z - b->low) * area;
    const uint8_t *grain = inside + (z - b->low) * area;
    for (int64_t i = 0; i < area; i++) {
      if (!tl_roi_inside(d->roi, i % b->nx, i / b->nx, z)) continue;
      s->sum[grain[i]] += (double)grey[i];
      s->count[grain[i]]++;
    }
  }
}

/* depth: squared distance to the void of the block's planes. */
static void add_cores(TlDips *d, const Block *b, const float *depth, Survey *s) {
  int64_t area = b->nx * b->ny;
  for (int64_t z = b->from; z < b->to; z++)
    for (int64_t i = 0; i < area; i++) {
      if (!(depth[(z - b->low) * area + i] > (float)(CORE_DEPTH * CORE_DEPTH))) continue;
      double bin = (double)b->dip[(z - b->from) * area + i] / s->width;
      s->bin[bin < BINS - 1 ? (int64_t)bin : BINS - 1]++;
      d->cores++;
    }
}

/* Dips are looked at once grains and void have been seen, to know their scale. */
static TlStatus survey_band(TlDips *d, int64_t from, int64_t to, Survey *s) {
  Block b;
  uint8_t *inside = NULL;
  float *depth = NULL;
  TlStatus status = read_block(d, from, to, &b);
  size_t count = (size_t)((b.high - b.low) * b.nx * b.ny);
  if (status == TL_OK) status = TL_NEW(inside, count);
  if (status == TL_OK) status = read_mask(d, &b, s->mask, inside);
  if (status == TL_OK) add_greys(d, &b, inside, s);
  if (status == TL_OK && s->count[0] > 0 && s->count[1] > 0) {
    d->void_grey = s->sum[0] / s->count[0];
    double contrast = s->sum[1] / s->count[1] - d->void_grey;
    if (s->width == 0 && contrast > 0) s->width = contrast / (BINS / 2);
  }
  if (status == TL_OK && s->width > 0) {
    status = dips_of_block(d, &b);
    if (status == TL_OK) status = TL_NEW(depth, count);
    if (status == TL_OK)
      status = tl_distance_squared(inside, b.nx, b.ny, b.high - b.low, s->edge, depth);
    if (status == TL_OK) add_cores(d, &b, depth, s);
  }
  tl_free(inside);
  tl_free(depth);
  block_free(&b);
  return status;
}

static TlStatus survey(TlDips *d, Survey *s) {
  int64_t nz = d->grey->head.nz, bands = band_count(nz), step = spread_step(bands), from, to;
  for (int64_t i = 0; i < bands; i++) {
    if (i >= LEAST_BANDS && d->cores >= ENOUGH_CORES) break;
    band_planes(nz, i * step % bands, &from, &to);
    TL_TRY(survey_band(d, from, to, s));
  }
  if (s->count[1] == 0)
    return tl_fail(TL_EINPUT, "the mask is all void: there are no grains to tell apart");
  if (s->count[0] == 0)
    return tl_fail(TL_EINPUT, "the mask is all grain: there are no grains to tell apart");
  d->void_grey = s->sum[0] / s->count[0];
  d->contrast = s->sum[1] / s->count[1] - d->void_grey;
  if (!(d->contrast > 0))
    return tl_fail(TL_EINPUT,
                   "the mask's grains have a mean grey level of %g, its void %g: grains must be "
                   "the brighter ones of the grey stack",
                   s->sum[1] / s->count[1], d->void_grey);
  int64_t below = 0, k = 0;
  while (k < BINS - 1 && (double)(below += s->bin[k]) < QUANTILE * (double)d->cores) k++;
  d->noise = ((double)k + 0.5) * s->width / d->contrast;
  return TL_OK;
}

TlStatus tl_dips_open(const TlLayers *grey, const TlLayers *mask, const TlRoi *roi,
                      const double edge[3], double least, TlDips *d) {
  Survey s = {.mask = mask, .edge = edge};
  *d = (TlDips){.grey = grey, .roi = roi};
  TL_TRY(tl_label_one_stack("the grey stack is", &grey->head, &mask->head));
  set_steps(edge, d);
  TL_TRY(TL_NEW(s.bin, BINS));
  TlStatus status = survey(d, &s);
  tl_free(s.bin);
  d->least = (least > 0 ? least : TL_DIP_LEAST) * d->contrast;
  d->usable = least > 0 || (d->cores >= TL_DIP_LEAST_CORES && d->noise <= TL_DIP_NOISE);
  return status;
}
