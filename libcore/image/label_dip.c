#include "image/label_dip.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/gaussian.h"
#include "image/source.h"

#include <math.h>

#define SIGMA 1.2 /* voxels */
#define STEP 3.0
#define SHIFT 0.56 /* voxels: 0.4 sqrt(SIGMA^2 + 0.7^2) */
enum { DIRECTIONS = 13 };

/* ---- contrast ---- */

typedef struct Classes {
  double sum[2], count[2]; /* void, grain */
} Classes;

static void sort_plane(const TlRoi *roi, int64_t z, const TlVolume *mask, const TlVolume *grey,
                       Classes *c) {
  for (int64_t y = 0; y < mask->ny; y++) {
    int64_t row = y * mask->nx;
    Classes mine = {{0}, {0}};
    for (int64_t x = 0; x < mask->nx; x++) {
      if (!tl_roi_inside(roi, x, y, z)) continue;
      int grain = tl_volume_value(mask, row + x) > 0;
      mine.sum[grain] += (double)grey->f32[row + x];
      mine.count[grain]++;
    }
    for (int k = 0; k < 2; k++) c->sum[k] += mine.sum[k], c->count[k] += mine.count[k];
  }
}

static TlStatus find_classes(const TlLayers *grey, const TlLayers *mask, const TlRoi *roi,
                             Classes *c) {
  TlVolume plane, level;
  TL_TRY(tl_volume_new(&plane, mask->head.type, mask->head.nx, mask->head.ny, 1));
  TlStatus status = TL_OK;
  for (int64_t z = 0; z < mask->head.nz && status == TL_OK; z++) {
    status = tl_layers_read(mask, z, 1, plane.data);
    if (status == TL_OK) status = tl_layers_grey(grey, z, 1, &level);
    if (status != TL_OK) break;
    sort_plane(roi, z, &plane, &level, c);
    tl_volume_free(&level);
  }
  tl_volume_free(&plane);
  return status;
}

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
    double way = 0;
    for (int a = 0; a < 3; a++) way += d->step[k][a] != 0 ? edge[a] * edge[a] : 0;
    d->shift[k] = way > 0 ? (float)(SHIFT / sqrt(way)) : 0;
  }
  int64_t far = 0;
  for (int k = 0; k < DIRECTIONS; k++) far = d->step[k][2] > far ? d->step[k][2] : far;
  for (int a = 0; a < 3; a++) d->sigma[a] = SIGMA / edge[a];
  d->reach = far + (int64_t)ceil(4 * d->sigma[2]);
}

TlStatus tl_dips_open(const TlLayers *grey, const TlLayers *mask, const TlRoi *roi,
                      const double edge[3], double least, TlDips *d) {
  Classes c = {{0}, {0}};
  *d = (TlDips){.grey = grey, .roi = roi};
  TL_TRY(tl_label_one_stack("the grey stack is", &grey->head, &mask->head));
  TL_TRY(find_classes(grey, mask, roi, &c));
  if (c.count[1] == 0)
    return tl_fail(TL_EINPUT, "the mask is all void: there are no grains to tell apart");
  if (c.count[0] == 0)
    return tl_fail(TL_EINPUT, "the mask is all grain: there are no grains to tell apart");
  d->void_grey = c.sum[0] / c.count[0];
  d->contrast = c.sum[1] / c.count[1] - d->void_grey;
  d->least = least * d->contrast;
  if (!(d->least > 0))
    return tl_fail(TL_EINPUT,
                   "the mask's grains have a mean grey level of %g, its void %g: grains must be "
                   "the brighter ones of the grey stack",
                   c.sum[1] / c.count[1], d->void_grey);
  set_steps(edge, d);
  return TL_OK;
}

/* ---- planes ---- */

typedef struct Block {
  const TlDips *dips;
  const float *grey; /* smoothed, of planes [low, high) */
  int64_t nx, ny, low, high, from, to;
  float *row; /* for each thread */
  TlClue *clue;
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

static void dips_of_row(const Block *b, int64_t y, int64_t z, float *most, TlClue *clue) {
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
  for (int64_t x = 0; x < b->nx; x++) {
    double part = fmin((double)most[x] / b->dips->least, TL_DIP_MOST);
    clue[x].dip = (uint16_t)(part * TL_DIP_ONE);
  }
}

static TlStatus dips_of_rows(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Block *b = context;
  (void)block;
  for (int64_t r = begin; r < end; r++)
    dips_of_row(b, r % b->ny, b->from + r / b->ny, b->row + thread * b->nx, b->clue + r * b->nx);
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

static void store_grey(const TlDips *d, const float *grey, int64_t count, TlClue *clue) {
  for (int64_t i = 0; i < count; i++) {
    double part = ((double)grey[i] - d->void_grey) / d->contrast;
    clue[i].grey = (uint16_t)(fmin(fmax(part, 0), 3.999) * TL_GREY_ONE);
  }
}

TlStatus tl_dips_planes(const TlDips *d, int64_t from, int64_t to, TlClue *clue) {
  const TlVolume *head = &d->grey->head;
  TlSource source = tl_source_layers(d->grey);
  float *grey;
  Block b = {.dips = d, .nx = head->nx, .ny = head->ny, .from = from, .to = to, .clue = clue};
  b.low = from > d->reach ? from - d->reach : 0;
  b.high = to + d->reach < head->nz ? to + d->reach : head->nz;
  int64_t plane = b.nx * b.ny;
  TL_TRY(TL_NEW(grey, (size_t)((b.high - b.low) * plane)));
  TlStatus status = tl_source_read(&source, b.low, b.high - b.low, grey);
  if (status == TL_OK) {
    blank_outside(d, &b, grey);
    store_grey(d, grey + (from - b.low) * plane, (to - from) * plane, clue);
    status = tl_gaussian_floats(grey, b.nx, b.ny, b.high - b.low, d->sigma, TL_GAUSSIAN_DIRECT);
  }
  b.grey = grey;
  if (status == TL_OK) status = TL_NEW(b.row, (size_t)(b.nx * tl_par_threads()));
  if (status == TL_OK) status = tl_par_blocks((to - from) * b.ny, 64, dips_of_rows, &b);
  tl_free(b.row);
  tl_free(grey);
  return status;
}
