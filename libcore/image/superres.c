#include "image/superres.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/slabs.h"
#include "image/superres_base.h"
#include "image/superres_codes.h"
#include "image/superres_planes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { BATCH = 64, PLANES_AT_ONCE = 8 };

/* Fine voxels that a voxel's value depends on, to each side: its patches, and the features' rim. */
enum { LOOKS = TL_PATCH - 1 + TL_PATCH_RIM };

/* ---- plan ---- */

static int64_t halo_of(int factor, bool denoise) {
  return TL_UPSAMPLE_REACH + (LOOKS + factor - 1) / factor +
         (denoise ? TL_SUPERRES_PATCH / 2 + TL_SUPERRES_SEARCH / 2 : 0);
}

/* Interpolating holds two of its passes, then the fine slab stays with the sums and the product. */
static double slab_bytes(const TlVolume *head, int factor, bool denoise, int64_t layers) {
  int64_t with_halo = layers + 2 * halo_of(factor, denoise);
  double f = factor, area = (double)head->nx * (double)head->ny;
  double deep = (double)(with_halo < head->nz ? with_halo : head->nz);
  double coarse = area * deep * ((denoise ? 8 : 4) + (double)tl_voxel_size(head->type));
  double passes = area * deep * 4 * (f + f * f), fine = area * deep * 4 * f * f * f;
  double product = area * (double)layers * f * f * f * (4 + (double)tl_voxel_size(head->type));
  return coarse + fine + (passes > product ? passes : product);
}

static double fixed_bytes(const TlVolume *head, const TlDictionary *d, bool denoise) {
  TlNlmOptions nlm = {
      .sigma = 1, .h_factor = 1, .patch = TL_SUPERRES_PATCH, .search = TL_SUPERRES_SEARCH};
  int64_t side = d->factor * (head->nx > head->ny ? head->nx : head->ny) + 2 * TL_PLANE_MARGIN;
  int64_t other = d->factor * (head->nz > head->ny ? head->nz : head->ny) + 2 * TL_PLANE_MARGIN;
  double planes = 8.0 * (double)side * (double)other;
  double own = 4.0 * (double)d->atoms * (double)(d->atoms + d->dims + TL_CODE_AT_ONCE + 1);
  double scratch = denoise ? (double)tl_nlm_scratch_bytes(head, &nlm, tl_par_threads()) : 0;
  return 32e6 + planes * tl_par_threads() + own + scratch;
}

TlStatus tl_superres_plan(const TlVolume *head, const TlDictionary *d, bool denoise, int64_t memory,
                          TlSuperresPlan *plan) {
  int64_t layers = head->nz, halo = halo_of(d->factor, denoise);
  double fixed = fixed_bytes(head, d, denoise);
  while (memory > 0 && layers >= 1 &&
         fixed + slab_bytes(head, d->factor, denoise, layers) > (double)memory)
    layers = layers > 64 ? layers - layers / 64 : layers - 1;
  if (layers < 1)
    return tl_fail(TL_EUSAGE,
                   "%.0f MB of memory are too few: one layer of %lld x %lld voxels with %lld more "
                   "on both sides takes %.0f",
                   (double)memory / 1e6, (long long)head->nx, (long long)head->ny, (long long)halo,
                   (fixed + slab_bytes(head, d->factor, denoise, 1)) / 1e6 + 1);
  int64_t slabs = (head->nz + layers - 1) / layers;
  layers = (head->nz + slabs - 1) / slabs;
  *plan =
      (TlSuperresPlan){.slabs = (head->nz + layers - 1) / layers, .layers = layers, .halo = halo};
  plan->bytes = (int64_t)(fixed + slab_bytes(head, d->factor, denoise, layers));
  return TL_OK;
}

TlStatus tl_superres_fits(const TlVolume *head, const TlDictionary *d) {
  const double *v = head->voxel_m;
  if (!(v[0] > 0) || !(d->proportions[0] > 0)) return TL_OK;
  for (int k = 1; k < 3; k++)
    if (fabs(v[k] / v[0] / d->proportions[k] - 1) > 0.01)
      return tl_fail(TL_EINPUT,
                     "the stack's voxels are as 1 : %.3g : %.3g (x, y, z), the dictionary's as 1 : "
                     "%.3g : %.3g; train one on a stack of these proportions",
                     v[1] / v[0], v[2] / v[0], d->proportions[1], d->proportions[2]);
  return TL_OK;
}

/* ---- noise ---- */

/* Less would not be coded, and it adds next to nothing to what interpolation misses. */
static const double least_noise = 0.2;

#define NOISE_LEFT 0.25

bool tl_superres_noisy(const TlDictionary *d, double sigma) {
  return d->noise_gain * sigma > least_noise * d->tolerance;
}

TlStatus tl_superres_settle(const TlLayers *stack, const TlRoi *roi, double sigma, bool denoise,
                            TlSuperresOptions *options) {
  options->sigma = sigma;
  options->nlm =
      (TlNlmOptions){.patch = TL_SUPERRES_PATCH, .search = TL_SUPERRES_SEARCH, .quiet = true};
  if (!denoise || !(sigma > 0)) return TL_OK;
  /* Non-local means leaves 0.15 to 0.2 of the noise (docs/notebook/imaging.md, Denoise): coding
   * need not come closer than what is left, with some room. Any part from 0 to a quarter gives the
   * same to three figures, a half loses up to 0.5%, all of it up to 3%. */
  options->sigma = NOISE_LEFT * sigma;
  options->nlm.sigma = sigma;
  return tl_nlm_choose_strength_layers(stack, roi, &options->nlm);
}

/* grey -> in its place denoised; outside the region what was there. */
static TlStatus denoise(const TlNlmOptions *nlm, const TlRoi *roi, TlVolume *grey) {
  TlVolume clean;
  if (!(nlm->sigma > 0)) return TL_OK;
  TL_TRY(tl_nlm(grey, roi, nlm, &clean));
  int64_t layer = grey->nx * grey->ny;
  for (int64_t i = 0; i < tl_volume_count(grey); i++)
    if (tl_roi_inside(roi, i % grey->nx, i % layer / grey->nx, i / layer))
      grey->f32[i] = clean.f32[i];
  tl_volume_free(&clean);
  return TL_OK;
}

/* ---- a slab ---- */

typedef struct Refiner {
  const TlDictionary *d;
  TlSuperresOptions options;
  TlUpsampler upsampler;
  TlCoder coder;
  float *table;                     /* of the analysis */
  double limit;                     /* squared residual at which coding stops */
  float fraction[TL_UPSAMPLE_MOST]; /* 1 / patches over a voxel along one axis */
  int planes;                       /* directions */
} Refiner;

static void refiner_free(Refiner *r) {
  tl_coder_free(&r->coder);
  tl_free(r->table);
}

static TlStatus refiner_make(const TlDictionary *d, const TlSuperresOptions *options, Refiner *r) {
  *r = (Refiner){.d = d, .options = *options};
  if (r->options.planes == 0) r->options.planes = 7;
  for (int k = 0; k < 3; k++) r->planes += r->options.planes >> k & 1;
  double error = fmax(d->tolerance, d->noise_gain * options->sigma);
  r->limit = d->dims * error * error;
  tl_upsampler(d->factor, &r->upsampler);
  for (int p = 0; p < d->factor; p++) {
    int over = 0;
    for (int back = 0; back < TL_PATCH; back++) over += (p - back) % d->factor == 0;
    r->fraction[p] = 1.0F / (float)over;
  }
  TlStatus status = TL_NEW(r->table, TL_WINDOW_VOXELS * TL_DICTIONARY_DIMS);
  if (status == TL_OK) {
    tl_windows_table(d->analysis, d->dims, r->table);
    status = tl_coder_make(d->atoms, d->dims, d->codes, d->low, &r->coder);
  }
  if (status != TL_OK) refiner_free(r);
  return status;
}

/* The slab at work: base, its interpolation; sums over the core's layers [low, high) of it. */
typedef struct Slab {
  const Refiner *r;
  TlPlane plane;
  const float *base;
  float *sum;
  int64_t low, high, layer;
  int64_t *seen, *coded; /* patches; a block each */
} Slab;

typedef struct Scratch {
  float *padded, *sum, *coder;
  float y[BATCH * TL_DICTIONARY_DIMS];
  const float *at[BATCH];
  float *to[BATCH];
  TlCode codes[BATCH];
} Scratch;

static void add_patch(const TlDictionary *d, const TlCode *code, int64_t row, float *to) {
  float patch[TL_PATCH_VOXELS] = {0};
  for (int k = 0; k < code->used; k++) {
    const float *atom = d->high + (int64_t)code->atom[k] * TL_PATCH_VOXELS;
    for (int i = 0; i < TL_PATCH_VOXELS; i++) patch[i] += code->weight[k] * atom[i];
  }
  for (int j = 0; j < TL_PATCH; j++)
    for (int i = 0; i < TL_PATCH; i++) to[j * row + i] += patch[j * TL_PATCH + i];
}

/* Flat ones are left out: their code is empty. Returns how many were not. */
static int64_t code_batch(const Slab *s, Scratch *w, int64_t count, int64_t row) {
  const Refiner *r = s->r;
  int dims = r->d->dims;
  int64_t kept = 0;
  tl_windows_analyse(r->table, dims, w->at, count, row, w->y);
  for (int64_t i = 0; i < count; i++) {
    double energy = 0;
    for (int k = 0; k < dims; k++)
      energy += (double)w->y[i * dims + k] * (double)w->y[i * dims + k];
    if (!(energy > r->limit)) continue;
    memmove(w->y + kept * dims, w->y + i * dims, (size_t)dims * sizeof *w->y);
    w->to[kept++] = w->to[i];
  }
  if (kept == 0) return 0;
  tl_coder_code(&r->coder, w->y, kept, r->limit, w->coder, w->codes);
  for (int64_t i = 0; i < kept; i++) add_patch(r->d, &w->codes[i], row, w->to[i]);
  return kept;
}

/* The first multiple of step that is not below low. */
static int64_t align_up(int64_t low, int64_t step) {
  int64_t rest = low % step;
  return rest == 0 ? low : rest > 0 ? low - rest + step : low - rest;
}

/* All patches that touch rows [low, high) of the padded plane. */
static void code_plane(const Slab *s, Scratch *w, int64_t low, int64_t high, int64_t block) {
  int64_t row = tl_plane_row(&s->plane), step = s->r->d->factor, count = 0;
  memset(w->sum, 0, (size_t)tl_plane_padded(&s->plane) * sizeof *w->sum);
  for (int64_t b = align_up(low - TL_PATCH + 1, step); b < high; b += step)
    for (int64_t a = align_up(1 - TL_PATCH, step); a < s->plane.na; a += step) {
      int64_t at = (b + TL_PLANE_MARGIN) * row + a + TL_PLANE_MARGIN;
      w->at[count] = w->padded + at - TL_PATCH_RIM * (row + 1);
      w->to[count++] = w->sum + at;
      s->seen[block]++;
      if (count < BATCH) continue;
      s->coded[block] += code_batch(s, w, count, row);
      count = 0;
    }
  if (count > 0) s->coded[block] += code_batch(s, w, count, row);
}

/* The plane's sums over its patches, as means, into the slab's. */
static void give_plane(const Slab *s, const Scratch *w, int64_t k, int64_t low, int64_t high) {
  const TlPlane *p = &s->plane;
  int64_t row = tl_plane_row(p), factor = s->r->d->factor;
  float each = 1.0F / (float)s->r->planes;
  float *to = s->sum + k * p->stride - s->low * s->layer;
  for (int64_t b = low; b < high; b++) {
    const float *from = w->sum + (b + TL_PLANE_MARGIN) * row + TL_PLANE_MARGIN;
    float fraction = s->r->fraction[b % factor] * each;
    for (int64_t a = 0; a < p->na; a++)
      to[b * p->stride_b + a * p->stride_a] += from[a] * (s->r->fraction[a % factor] * fraction);
  }
}

static TlStatus refine_planes(void *context, int64_t begin, int64_t end, int64_t block,
                              int thread) {
  const Slab *s = context;
  Scratch *w;
  (void)thread;
  TL_TRY(TL_NEW(w, 1));
  TlStatus status = TL_NEW(w->padded, (size_t)tl_plane_padded(&s->plane));
  if (status == TL_OK) status = TL_NEW(w->sum, (size_t)tl_plane_padded(&s->plane));
  if (status == TL_OK) status = TL_NEW(w->coder, (size_t)tl_coder_scratch(&s->r->coder));
  /* Planes normal to z are the core's layers; the others reach over all of them. */
  bool layers = s->plane.axis == 2;
  int64_t low = layers ? 0 : s->low, high = layers ? s->plane.nb : s->high;
  for (int64_t i = begin; i < end && status == TL_OK; i++) {
    int64_t k = layers ? s->low + i : i;
    tl_plane_read(&s->plane, s->base, k, low, high, w->padded);
    code_plane(s, w, low, high, block);
    give_plane(s, w, k, low, high);
  }
  tl_free(w->padded);
  tl_free(w->sum);
  tl_free(w->coder);
  tl_free(w);
  return status;
}

static TlStatus refine_axis(Slab *s, const TlVolume *base, int axis, int64_t patches[2]) {
  s->plane = tl_plane_of(base, axis);
  int64_t n = axis == 2 ? s->high - s->low : s->plane.planes;
  int64_t blocks = (n + PLANES_AT_ONCE - 1) / PLANES_AT_ONCE;
  TL_TRY(TL_NEW(s->seen, (size_t)(2 * blocks)));
  s->coded = s->seen + blocks;
  TlStatus status = tl_par_blocks(n, PLANES_AT_ONCE, refine_planes, s);
  for (int64_t i = 0; i < blocks; i++) {
    patches[0] += s->seen[i];
    patches[1] += s->coded[i];
  }
  tl_free(s->seen);
  return status;
}

/* What the squared change of voxels inside a region is added to: the region of the coarse stack,
 * and its layer that is the slab's first without halo. */
typedef struct Change {
  const TlRoi *roi;
  int64_t first;
  double sum;
} Change;

static void add_change(Change *c, const TlVolume *fine, const float *from, int64_t f) {
  for (int64_t z = 0; z < fine->nz; z++)
    for (int64_t y = 0; y < fine->ny; y++) {
      int64_t row = tl_volume_at(fine, 0, y, z);
      for (int64_t x = 0; x < fine->nx; x++) {
        double d = (double)fine->f32[row + x] - (double)from[row + x];
        if (tl_roi_inside(c->roi, x / f, y / f, c->first + z / f)) c->sum += d * d;
      }
    }
}

/* Coarse layers with their halo -> fine, a new volume of the core's layers [low, high) of them.
 * change: may be NULL. */
static TlStatus refine(const Refiner *r, const TlVolume *coarse, int64_t low, int64_t high,
                       TlVolume *fine, Change *change, int64_t patches[2]) {
  int64_t f = r->d->factor;
  TlVolume base, core = *coarse;
  core.nz = high - low;
  core.f32 = coarse->f32 + low * coarse->nx * coarse->ny;
  TlVolume head = tl_upsample_head(&core, r->d->factor);
  TL_TRY(tl_upsample(&r->upsampler, coarse, &base));
  Slab s = {.r = r, .base = base.f32, .low = f * low, .high = f * high, .layer = base.nx * base.ny};
  TlStatus status = tl_volume_like(fine, &head, TL_F32);
  s.sum = fine->f32;
  for (int axis = 0; axis < 3 && status == TL_OK; axis++)
    if (r->options.planes >> axis & 1) status = refine_axis(&s, &base, axis, patches);
  if (status == TL_OK) {
    const float *from = base.f32 + s.low * s.layer;
    for (int64_t i = 0; i < tl_volume_count(fine); i++) fine->f32[i] += from[i];
    tl_box_project(fine, &core, r->d->factor);
    if (change) add_change(change, fine, from, f);
  }
  tl_volume_free(&base);
  if (status != TL_OK) tl_volume_free(fine);
  return status;
}

TlStatus tl_superres(const TlDictionary *dictionary, const TlSuperresOptions *options,
                     const TlVolume *coarse, TlVolume *fine) {
  Refiner r;
  int64_t patches[2] = {0, 0};
  const TlRoi whole = {.kind = TL_ROI_ALL};
  TlVolume grey;
  assert(coarse->type == TL_F32);
  TL_TRY(tl_volume_like(&grey, coarse, TL_F32));
  memcpy(grey.f32, coarse->f32, (size_t)tl_volume_count(coarse) * sizeof *grey.f32);
  TlStatus status = denoise(&options->nlm, &whole, &grey);
  if (status == TL_OK) status = refiner_make(dictionary, options, &r);
  if (status == TL_OK) {
    status = refine(&r, &grey, 0, grey.nz, fine, NULL, patches);
    refiner_free(&r);
  }
  tl_volume_free(&grey);
  return status;
}

/* ---- a stack ---- */

typedef struct Job {
  Refiner r;
  const TlSuperresPlan *plan;
  const TlLayers *stack;
  const TlRoi *roi;
  TlVoxelType type;
  const TlLayerSink *sink;
  TlSuperresResult *result;
  double sum[2], count[2];
  Change change;
  int64_t patches[2];
} Job;

static void take(double value, double *sum, double *count, double *min, double *max) {
  *sum += value;
  *count += 1;
  *min = fmin(*min, value);
  *max = fmax(*max, value);
}

/* Of coarse layers [low, high) of the slab, as they were read; first: the stack's layer of low. */
static void tell_coarse(Job *job, const TlVolume *grey, int64_t low, int64_t high, int64_t first) {
  for (int64_t z = low; z < high; z++)
    for (int64_t y = 0; y < grey->ny; y++)
      for (int64_t x = 0; x < grey->nx; x++)
        if (tl_roi_inside(job->roi, x, y, first + z - low))
          take((double)grey->f32[tl_volume_at(grey, x, y, z)], &job->sum[0], &job->count[0],
               &job->result->coarse_min, &job->result->coarse_max);
}

/* 0 outside the region; the figures of the inside are added to result. first: the slab's first
 * coarse layer of the core. */
static void cut_and_tell(Job *job, TlVolume *fine, int64_t first) {
  int64_t f = job->r.d->factor;
  TlSuperresResult *t = job->result;
  for (int64_t z = 0; z < fine->nz; z++)
    for (int64_t y = 0; y < fine->ny; y++)
      for (int64_t x = 0; x < fine->nx; x++) {
        float *value = &fine->f32[tl_volume_at(fine, x, y, z)];
        if (tl_roi_inside(job->roi, x / f, y / f, first + z / f))
          take((double)*value, &job->sum[1], &job->count[1], &t->min, &t->max);
        else
          *value = 0;
      }
}

/* Coarse layers [z, z + layers) and their halo -> fine. */
static TlStatus refine_slab(Job *job, int64_t z, int64_t layers, TlVolume *fine) {
  int64_t nz = job->stack->head.nz, halo = job->plan->halo;
  int64_t begin = z > halo ? z - halo : 0;
  int64_t end = z + layers + halo < nz ? z + layers + halo : nz;
  TlRoi here = *job->roi;
  TlVolume grey;
  here.first_z += begin;
  job->change.first = z;
  TL_TRY(tl_layers_grey(job->stack, begin, end - begin, &grey));
  tell_coarse(job, &grey, z - begin, z - begin + layers, z);
  TlStatus status = denoise(&job->r.options.nlm, &here, &grey);
  if (status == TL_OK)
    status =
        refine(&job->r, &grey, z - begin, z - begin + layers, fine, &job->change, job->patches);
  tl_volume_free(&grey);
  return status;
}

static TlStatus run_slab(Job *job, int64_t z) {
  int64_t rest = job->stack->head.nz - z;
  TlVolume fine, stored;
  TL_TRY(refine_slab(job, z, job->plan->layers < rest ? job->plan->layers : rest, &fine));
  cut_and_tell(job, &fine, z);
  TlStatus status = tl_grey_store(&fine, job->type, &stored);
  tl_volume_free(&fine);
  if (status != TL_OK) return status;
  status = tl_sink_append(job->sink, stored.nz, stored.data);
  tl_volume_free(&stored);
  return status;
}

static void sum_up(Job *job) {
  TlSuperresResult *t = job->result;
  if (job->count[1] > 0) {
    t->coarse_mean = job->sum[0] / job->count[0];
    t->mean = job->sum[1] / job->count[1];
    t->change_rms = sqrt(job->change.sum / job->count[1]);
  }
  if (job->patches[0] > 0) t->coded = (double)job->patches[1] / (double)job->patches[0];
}

TlStatus tl_superres_run(const TlDictionary *dictionary, const TlSuperresOptions *options,
                         const TlSuperresPlan *plan, const TlLayers *stack, const TlRoi *roi,
                         TlVoxelType type, const TlLayerSink *sink, TlSuperresResult *result) {
  Job job = {.plan = plan,
             .stack = stack,
             .roi = roi,
             .type = type,
             .sink = sink,
             .result = result,
             .change = {.roi = roi}};
  *result = (TlSuperresResult){
      .coarse_min = INFINITY, .coarse_max = -INFINITY, .min = INFINITY, .max = -INFINITY};
  TL_TRY(refiner_make(dictionary, options, &job.r));
  TlProgress progress = {0};
  if (!options->quiet) progress = tl_progress_start("refining", stack->head.nz);
  TlStatus status = TL_OK;
  for (int64_t z = 0; z < stack->head.nz && status == TL_OK; z += plan->layers) {
    status = run_slab(&job, z);
    if (!options->quiet) tl_progress(&progress, z + plan->layers);
  }
  if (!options->quiet) tl_progress_end(&progress);
  refiner_free(&job.r);
  sum_up(&job);
  return status;
}
