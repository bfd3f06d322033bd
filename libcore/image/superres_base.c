#include "image/superres_base.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/cut.h"
#include "image/filters.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LOBES = 3, CIRCLE = 128 };

/* ---- taps ---- */

static double lanczos(double x) {
  if (fabs(x) >= LOBES) return 0;
  if (x == 0) return 1;
  double t = M_PI * x;
  return LOBES * sin(t) * sin(t / LOBES) / (t * t);
}

/* weight[f][j]: of coarse voxel j - reach for fine voxel f of voxel 0; each row sums to 1. */
static void lanczos_weights(int factor, double weight[][TL_UPSAMPLE_TAPS]) {
  for (int f = 0; f < factor; f++) {
    double at = (f + 0.5) / factor - 0.5, sum = 0;
    for (int j = 0; j < TL_UPSAMPLE_TAPS; j++)
      sum += weight[f][j] = lanczos(at - (j - TL_UPSAMPLE_REACH));
    for (int j = 0; j < TL_UPSAMPLE_TAPS; j++) weight[f][j] /= sum;
  }
}

/* The inverse of the mean over f of weight, by its transfer function on a circle long enough that
 * the ends do not meet. */
static void inverse_filter(int factor, const double weight[][TL_UPSAMPLE_TAPS], double inverse[]) {
  memset(inverse, 0, TL_UPSAMPLE_TAPS * sizeof *inverse);
  for (int k = 0; k < CIRCLE; k++) {
    double transfer = 0;
    for (int f = 0; f < factor; f++)
      for (int j = 0; j < TL_UPSAMPLE_TAPS; j++)
        transfer += weight[f][j] * cos(2 * M_PI * k * (j - TL_UPSAMPLE_REACH) / CIRCLE) / factor;
    for (int j = 0; j < TL_UPSAMPLE_TAPS; j++)
      inverse[j] += cos(2 * M_PI * k * (j - TL_UPSAMPLE_REACH) / CIRCLE) / transfer / CIRCLE;
  }
}

static void store(int factor, const double weight[][TL_UPSAMPLE_TAPS], TlUpsampler *u) {
  *u = (TlUpsampler){.factor = factor};
  for (int f = 0; f < factor; f++) {
    double sum = 0;
    for (int j = 0; j < TL_UPSAMPLE_TAPS; j++) sum += weight[f][j];
    for (int j = 0; j < TL_UPSAMPLE_TAPS; j++) u->tap[f][j] = (float)(weight[f][j] / sum);
  }
}

void tl_upsampler_lanczos(int factor, TlUpsampler *u) {
  double weight[TL_UPSAMPLE_MOST][TL_UPSAMPLE_TAPS];
  assert(factor >= 1 && factor <= TL_UPSAMPLE_MOST);
  lanczos_weights(factor, weight);
  store(factor, (const double(*)[TL_UPSAMPLE_TAPS])weight, u);
}

void tl_upsampler(int factor, TlUpsampler *u) {
  double weight[TL_UPSAMPLE_MOST][TL_UPSAMPLE_TAPS], inverse[TL_UPSAMPLE_TAPS];
  double both[TL_UPSAMPLE_MOST][TL_UPSAMPLE_TAPS] = {{0}};
  assert(factor >= 1 && factor <= TL_UPSAMPLE_MOST);
  lanczos_weights(factor, weight);
  inverse_filter(factor, (const double(*)[TL_UPSAMPLE_TAPS])weight, inverse);
  for (int f = 0; f < factor; f++)
    for (int i = 0; i < TL_UPSAMPLE_TAPS; i++)
      for (int j = 0; j < TL_UPSAMPLE_TAPS; j++) {
        int at = i + j - TL_UPSAMPLE_REACH;
        if (at >= 0 && at < TL_UPSAMPLE_TAPS) both[f][at] += weight[f][i] * inverse[j];
      }
  store(factor, (const double(*)[TL_UPSAMPLE_TAPS])both, u);
}

/* ---- one axis ---- */

/* inner: floats that lie between neighbours along the axis; the n places of a line become factor
 * n. pass_lines goes over the places of all lines, pass_x over lines. */
typedef struct Pass {
  const TlUpsampler *u;
  const float *in;
  float *out;
  int64_t n, inner;
} Pass;

/* A row of inner floats for each fine position: vectors whatever the axis is. */
TL_LANES_CLONES static void mix_row(const float *const row[], const float tap[], int64_t count,
                                    float *out) {
  for (int64_t i = 0; i < count; i++) {
    float sum = 0;
    for (int j = 0; j < TL_UPSAMPLE_TAPS; j++) sum += tap[j] * row[j][i];
    out[i] = sum;
  }
}

static TlStatus pass_lines(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Pass *p = context;
  int factor = p->u->factor;
  (void)block, (void)thread;
  for (int64_t i = begin; i < end; i++) {
    int64_t line = i / p->n, c = i % p->n;
    const float *row[TL_UPSAMPLE_TAPS];
    for (int j = 0; j < TL_UPSAMPLE_TAPS; j++)
      row[j] = p->in + (line * p->n + tl_mirrored(c + j - TL_UPSAMPLE_REACH, p->n)) * p->inner;
    for (int f = 0; f < factor; f++)
      mix_row(row, p->u->tap[f], p->inner, p->out + (i * factor + f) * p->inner);
  }
  return TL_OK;
}

/* Along x neighbours are next to each other: a padded line, then vectors over the fine voxels. */
TL_LANES_CLONES static void mix_line(const float *padded, const TlUpsampler *u, int64_t n,
                                     float *out) {
  for (int f = 0; f < u->factor; f++)
    for (int64_t c = 0; c < n; c++) {
      float sum = 0;
      for (int j = 0; j < TL_UPSAMPLE_TAPS; j++) sum += u->tap[f][j] * padded[c + j];
      out[c * u->factor + f] = sum;
    }
}

static TlStatus pass_x(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Pass *p = context;
  float *padded;
  (void)block, (void)thread;
  TL_TRY(TL_NEW(padded, (size_t)p->n + TL_UPSAMPLE_TAPS));
  for (int64_t line = begin; line < end; line++) {
    for (int64_t i = 0; i < p->n + 2 * TL_UPSAMPLE_REACH; i++)
      padded[i] = p->in[line * p->n + tl_mirrored(i - TL_UPSAMPLE_REACH, p->n)];
    mix_line(padded, p->u, p->n, p->out + line * p->n * p->u->factor);
  }
  tl_free(padded);
  return TL_OK;
}

TlVolume tl_upsample_head(const TlVolume *coarse, int factor) {
  TlVolume fine = tl_volume_head(coarse);
  fine.nx *= factor;
  fine.ny *= factor;
  fine.nz *= factor;
  for (int k = 0; k < 3; k++) fine.voxel_m[k] /= factor;
  for (int k = 0; k < 2; k++) /* the origin is the first fine voxel's centre */
    fine.cylinder[k] = (fine.cylinder[k] + 0.5) * factor - 0.5;
  fine.cylinder[2] *= factor;
  return fine;
}

TlStatus tl_upsample(const TlUpsampler *u, const TlVolume *coarse, TlVolume *fine) {
  int64_t f = u->factor, nx = coarse->nx, ny = coarse->ny, nz = coarse->nz;
  TlVolume head = tl_upsample_head(coarse, u->factor);
  float *wide = NULL, *high = NULL;
  assert(coarse->type == TL_F32);
  TL_TRY(tl_volume_like(fine, &head, TL_F32));
  TlStatus status = TL_NEW(wide, (size_t)(f * nx * ny * nz));
  if (status == TL_OK) status = TL_NEW(high, (size_t)(f * f * nx * ny * nz));
  Pass x = {u, coarse->f32, wide, nx, 1}, y = {u, wide, high, ny, f * nx};
  Pass z = {u, high, fine->f32, nz, f * f * nx * ny};
  if (status == TL_OK) status = tl_par_blocks(ny * nz, 64, pass_x, &x);
  if (status == TL_OK) status = tl_par_blocks(ny * nz, 16, pass_lines, &y);
  if (status == TL_OK) status = tl_par_blocks(nz, 1, pass_lines, &z);
  tl_free(wide);
  tl_free(high);
  if (status != TL_OK) tl_volume_free(fine);
  return status;
}

/* ---- by layers ---- */

/* The fine layers made last: those of coarse layers [begin, end). */
typedef struct View {
  TlUpsampler u;
  const TlLayers *coarse;
  int64_t layers, begin, end;
  int64_t low; /* coarse layer that made's first fine layer belongs to */
  TlVolume made;
} View;

static TlStatus make_slab(View *v, int64_t c) {
  int64_t nz = v->coarse->head.nz;
  TlVolume grey;
  tl_volume_free(&v->made);
  v->begin = c / v->layers * v->layers;
  v->end = v->begin + v->layers < nz ? v->begin + v->layers : nz;
  v->low = v->begin > TL_UPSAMPLE_REACH ? v->begin - TL_UPSAMPLE_REACH : 0;
  int64_t high = v->end + TL_UPSAMPLE_REACH < nz ? v->end + TL_UPSAMPLE_REACH : nz;
  TlStatus status = tl_layers_grey(v->coarse, v->low, high - v->low, &grey);
  if (status == TL_OK) {
    status = tl_upsample(&v->u, &grey, &v->made);
    tl_volume_free(&grey);
  }
  if (status != TL_OK) v->begin = v->end = 0;
  return status;
}

static TlStatus view_read(void *self, int64_t z, int64_t count, void *voxels) {
  View *v = self;
  float *to = voxels;
  for (int64_t i = z; i < z + count; i++) {
    int64_t c = i / v->u.factor;
    if (c < v->begin || c >= v->end) TL_TRY(make_slab(v, c));
    int64_t layer = v->made.nx * v->made.ny;
    memcpy(to, v->made.f32 + (i - v->low * v->u.factor) * layer, (size_t)layer * sizeof *to);
    to += layer;
  }
  return TL_OK;
}

static void view_close(void *self) {
  View *v = self;
  tl_volume_free(&v->made);
  tl_free(v);
}

TlStatus tl_upsample_layers(const TlUpsampler *u, const TlLayers *coarse, int64_t layers,
                            TlLayers *fine) {
  View *v;
  assert(layers >= 1);
  TL_TRY(TL_NEW(v, 1));
  *v = (View){.u = *u, .coarse = coarse, .layers = layers};
  *fine = (TlLayers){.head = tl_upsample_head(&coarse->head, u->factor),
                     .self = v,
                     .read = view_read,
                     .close = view_close};
  fine->head.type = TL_F32;
  return TL_OK;
}

/* ---- means ---- */

TlStatus tl_box_means(const TlVolume *fine, int factor, TlVolume *coarse) {
  TlVolume head;
  assert(fine->type == TL_F32);
  TL_TRY(tl_cut_coarse_head(fine, factor, &head));
  TL_TRY(tl_volume_like(coarse, &head, TL_F32));
  int64_t i = 0;
  for (int64_t z = 0; z < coarse->nz; z++)
    for (int64_t y = 0; y < coarse->ny; y++)
      for (int64_t x = 0; x < coarse->nx; x++)
        coarse->f32[i++] = (float)tl_cut_cube_mean(fine, factor, x, y, z);
  return TL_OK;
}

/* The same step added to all voxels of a cube is the shortest way to its mean. */
void tl_box_project(TlVolume *fine, const TlVolume *coarse, int factor) {
  for (int64_t z = 0; z < coarse->nz; z++)
    for (int64_t y = 0; y < coarse->ny; y++)
      for (int64_t x = 0; x < coarse->nx; x++) {
        double want = (double)coarse->f32[tl_volume_at(coarse, x, y, z)];
        float step = (float)(want - tl_cut_cube_mean(fine, factor, x, y, z));
        for (int k = 0; k < factor; k++)
          for (int j = 0; j < factor; j++) {
            float *row = fine->f32 + tl_volume_at(fine, x * factor, y * factor + j, z * factor + k);
            for (int i = 0; i < factor; i++) row[i] += step;
          }
      }
}
