#include "image/hmrf.h"

#include "base/log.h"
#include "base/mem.h"
#include "image/gaussian.h"
#include "image/select.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { OUTSIDE = 2, CORE_EROSION = 2, MOST_SWEEPS = 50, MOST_MEDIAN = 4000000 };

static const double LOCAL_SIGMA = 2;      /* voxels, of the local grain mean */
static const double DARKEST_GRAIN = 0.2;  /* of the gap, below the global grain level */
static const double ENERGY_CHANGE = 1e-5; /* relative; rounds end below */

typedef struct Field {
  const TlVolume *grey;
  int64_t nx, ny, nz;
  uint8_t *label; /* 0, 1 or OUTSIDE */
  double mean[2], variance, beta, void_weight;
  float *grain;    /* local grain mean */
  double *partial; /* a sum a slice */
} Field;

/* ---- cores ---- */

/* One erosion step: keep voxels whose 6 neighbours are in `from` or not of the other class (outside
 * the region and the stack does not erode). */
static void erode(const Field *f, const uint8_t *from, uint8_t *to) {
  int64_t row = f->nx, plane = f->nx * f->ny;
#pragma omp parallel for
  for (int64_t z = 0; z < f->nz; z++)
    for (int64_t y = 0; y < f->ny; y++)
      for (int64_t x = 0; x < f->nx; x++) {
        int64_t i = z * plane + y * row + x;
        bool keep = from[i];
        const bool has[6] = {x > 0, x + 1 < f->nx, y > 0, y + 1 < f->ny, z > 0, z + 1 < f->nz};
        const int64_t next[6] = {i - 1, i + 1, i - row, i + row, i - plane, i + plane};
        for (int k = 0; keep && k < 6; k++)
          if (has[k] && !from[next[k]] && f->label[next[k]] != OUTSIDE) keep = false;
        to[i] = keep;
      }
}

/* core[i] = 1 in the class eroded `steps` times; returns how many. scratch: one byte a voxel. */
static int64_t find_core(const Field *f, uint8_t class, int steps, uint8_t *core,
                         uint8_t *scratch) {
  int64_t count = f->nx * f->ny * f->nz, kept = 0;
  for (int64_t i = 0; i < count; i++) core[i] = f->label[i] == class;
  for (int s = 0; s < steps; s++) {
    erode(f, core, scratch);
    memcpy(core, scratch, (size_t)count);
  }
  for (int64_t i = 0; i < count; i++) kept += core[i];
  return kept;
}

/* Median grey and robust sd (1.4826 MAD) of the voxels with core = 1, about `about` when given. At
 * most MOST_MEDIAN of them are looked at, evenly spread. */
static TlStatus core_level(const Field *f, const uint8_t *core, int64_t kept, const float *about,
                           double *median, double *sd) {
  int64_t count = f->nx * f->ny * f->nz, stride = kept / MOST_MEDIAN + 1, seen = 0, n = 0;
  float *value;
  TL_TRY(TL_NEW(value, (size_t)(kept / stride) + 1));
  for (int64_t i = 0; i < count; i++)
    if (core[i] && seen++ % stride == 0) value[n++] = f->grey->f32[i];
  *median = tl_select(value, n, n / 2);
  seen = n = 0;
  for (int64_t i = 0; i < count; i++)
    if (core[i] && seen++ % stride == 0)
      value[n++] = fabsf(f->grey->f32[i] - (about ? about[i] : (float)*median));
  *sd = 1.482602218505602 * (double)tl_select(value, n, n / 2);
  tl_free(value);
  return TL_OK;
}

/* Local grain mean: core greys smoothed, with a hundredth of the global median mixed in so that
 * places far from any core have a value. */
static TlStatus local_mean(const Field *f, const uint8_t *core, double global, double least,
                           float *mean) {
  const double sigma[3] = {LOCAL_SIGMA, LOCAL_SIGMA, LOCAL_SIGMA};
  int64_t count = f->nx * f->ny * f->nz;
  float *weight, level = (float)global;
  TL_TRY(TL_NEW(weight, (size_t)count));
  for (int64_t i = 0; i < count; i++) {
    weight[i] = core[i];
    mean[i] = core[i] ? f->grey->f32[i] - level : 0;
  }
  TlStatus status = tl_gaussian_floats(mean, f->nx, f->ny, f->nz, sigma, TL_GAUSSIAN_AUTO);
  if (status == TL_OK)
    status = tl_gaussian_floats(weight, f->nx, f->ny, f->nz, sigma, TL_GAUSSIAN_AUTO);
  for (int64_t i = 0; status == TL_OK && i < count; i++)
    mean[i] = fmaxf(level + mean[i] / (weight[i] + 0.01F), (float)least);
  tl_free(weight);
  return status;
}

typedef struct Means {
  double level[2], sd;
  int erosion;
} Means;

/* Means of both classes from the cores of the present labels; grain: the local means. */
static TlStatus estimate(const Field *f, float *grain, Means *means) {
  int64_t count = f->nx * f->ny * f->nz, kept = 0;
  uint8_t *core, *scratch = NULL;
  double sd[2] = {0, 0};
  TL_TRY(TL_NEW(core, (size_t)count));
  TlStatus status = TL_NEW(scratch, (size_t)count);
  for (uint8_t class = 0; status == TL_OK && class < 2; class ++) {
    int steps = class == 0 ? CORE_EROSION : means->erosion;
    while ((kept = find_core(f, class, steps, core, scratch)) < 100 && steps > 0) steps--;
    means->erosion = class == 0 ? steps : (steps < means->erosion ? steps : means->erosion);
    if (kept == 0)
      status =
          tl_fail(TL_EINPUT, "the start of HMRF-EM holds no %s voxel", class ? "grain" : "void");
    if (status == TL_OK) status = core_level(f, core, kept, NULL, &means->level[class], &sd[class]);
    double darkest = means->level[1] - DARKEST_GRAIN * (means->level[1] - means->level[0]);
    if (status == TL_OK && class == 1)
      status = local_mean(f, core, means->level[1], darkest, grain);
    if (status == TL_OK && class == 1)
      status = core_level(f, core, kept, grain, &means->level[1], &sd[1]);
  }
  means->sd = sqrt(0.5 * (sd[0] * sd[0] + sd[1] * sd[1]));
  tl_free(core);
  tl_free(scratch);
  return status;
}

/* ---- energy and labels ---- */

/* Likelihood energy of both classes (2.39), less the ln(S)/2 they share. */
static inline void likelihood(const Field *f, int64_t i, double u[2]) {
  double low = f->mean[0], high = fmax(f->grain[i], low), y = f->grey->f32[i];
  y = y < low ? low : y > high ? high : y;
  u[0] = (y - low) * (y - low) / (2 * f->variance * f->void_weight) + 0.5 * log(f->void_weight);
  u[1] = (y - high) * (y - high) / (2 * f->variance);
}

/* How many 6-neighbours in the region are void and grain. */
static inline void neighbours(const Field *f, int64_t x, int64_t y, int64_t z, int count[3]) {
  int64_t row = f->nx, plane = f->nx * f->ny;
  const uint8_t *l = f->label + z * plane + y * row + x;
  count[0] = count[1] = count[2] = 0;
  if (x > 0) count[l[-1]]++;
  if (x + 1 < f->nx) count[l[1]]++;
  if (y > 0) count[l[-row]]++;
  if (y + 1 < f->ny) count[l[row]]++;
  if (z > 0) count[l[-plane]]++;
  if (z + 1 < f->nz) count[l[plane]]++;
}

/* Slices are summed apart and added in order: the same bits for any thread count. */
static double energy(const Field *f) {
#pragma omp parallel for
  for (int64_t z = 0; z < f->nz; z++) {
    double sum = 0;
    for (int64_t y = 0; y < f->ny; y++)
      for (int64_t x = 0; x < f->nx; x++) {
        int64_t i = (z * f->ny + y) * f->nx + x;
        if (f->label[i] == OUTSIDE) continue;
        double u[2];
        int count[3];
        likelihood(f, i, u);
        neighbours(f, x, y, z, count);
        sum += u[f->label[i]] + 0.5 * f->beta * count[1 - f->label[i]];
      }
    f->partial[z] = sum;
  }
  double total = 0;
  for (int64_t z = 0; z < f->nz; z++) total += f->partial[z];
  return total;
}

/* Voxels of one colour have no neighbour of their own colour, so they may move together. */
static int64_t sweep(const Field *f, int colour) {
  int64_t moved = 0;
#pragma omp parallel for reduction(+ : moved)
  for (int64_t z = 0; z < f->nz; z++)
    for (int64_t y = 0; y < f->ny; y++)
      for (int64_t x = (z + y + colour) % 2; x < f->nx; x += 2) {
        int64_t i = (z * f->ny + y) * f->nx + x;
        if (f->label[i] == OUTSIDE) continue;
        double u[2];
        int count[3];
        likelihood(f, i, u);
        neighbours(f, x, y, z, count);
        double change = u[1] + f->beta * count[0] - u[0] - f->beta * count[1];
        uint8_t best = change < 0 ? 1 : change > 0 ? 0 : f->label[i];
        moved += best != f->label[i];
        f->label[i] = best;
      }
  return moved;
}

static void relax(const Field *f) {
  for (int k = 0; k < MOST_SWEEPS; k++)
    if (sweep(f, 0) + sweep(f, 1) == 0) return;
}

/* M step: take the means of the new labels if they do not raise the energy. */
static TlStatus improve(Field *f, float **spare, double *now, bool *taken) {
  Means next = {0};
  double before[2] = {f->mean[0], f->mean[1]};
  float *old = f->grain;
  TL_TRY(estimate(f, *spare, &next));
  memcpy(f->mean, next.level, sizeof f->mean);
  f->grain = *spare;
  double with = energy(f);
  *taken = with <= *now;
  if (*taken) {
    *now = with;
    *spare = old;
    return TL_OK;
  }
  memcpy(f->mean, before, sizeof before);
  f->grain = old;
  return TL_OK;
}

static TlStatus iterate(Field *f, const TlHmrfOptions *o, float **spare, TlHmrfResult *r) {
  Means means = {0};
  TL_TRY(estimate(f, f->grain, &means));
  memcpy(f->mean, means.level, sizeof f->mean);
  double gap = means.level[1] - means.level[0];
  if (!(gap > 0))
    return tl_fail(TL_EINPUT,
                   "grain (%g) is not brighter than void (%g); give --invert when grains are dark",
                   means.level[1], means.level[0]);
  r->sd = fmax(means.sd, o->sd_floor * gap);
  f->variance = r->sd * r->sd;
  r->core_erosion = means.erosion;
  double now = energy(f);
  r->energy[0] = now;
  bool taken = true;
  for (r->rounds = 0; taken && r->rounds < o->most_rounds;) {
    relax(f);
    now = energy(f);
    r->energy[++r->rounds] = now;
    tl_log_info("HMRF-EM round %d: energy %.10g, void %.4g, grain %.4g", r->rounds, now, f->mean[0],
                f->mean[1]);
    if (r->energy[r->rounds - 1] - now <= ENERGY_CHANGE * fabs(now)) break;
    TL_TRY(improve(f, spare, &now, &taken));
  }
  memcpy(r->mean, f->mean, sizeof r->mean);
  return TL_OK;
}

static TlStatus field_new(Field *f, const TlVolume *grey, const TlRoi *roi, const TlVolume *mask,
                          const TlHmrfOptions *o) {
  int64_t count = tl_volume_count(grey);
  *f = (Field){.grey = grey, .nx = grey->nx, .ny = grey->ny, .nz = grey->nz};
  f->beta = o->beta;
  f->void_weight = o->void_weight;
  TL_TRY(TL_NEW(f->label, (size_t)count));
  TL_TRY(TL_NEW(f->grain, (size_t)count));
  TL_TRY(TL_NEW(f->partial, (size_t)grey->nz));
  for (int64_t i = 0; i < count; i++) {
    int64_t x = i % f->nx, y = i / f->nx % f->ny, z = i / f->nx / f->ny;
    f->label[i] = !tl_roi_inside(roi, x, y, z) ? OUTSIDE : mask->u8[i] != 0;
  }
  return TL_OK;
}

TlStatus tl_hmrf(const TlVolume *grey, const TlRoi *roi, const TlHmrfOptions *options,
                 TlVolume *mask, TlHmrfResult *result) {
  assert(grey->type == TL_F32 && mask->type == TL_U8);
  assert(options->beta > 0 && options->void_weight > 0 && options->most_rounds >= 1 &&
         options->most_rounds <= TL_HMRF_MOST_ROUNDS);
  Field field;
  float *spare = NULL;
  int64_t count = tl_volume_count(grey);
  *result = (TlHmrfResult){0};
  TlStatus status = field_new(&field, grey, roi, mask, options);
  if (status == TL_OK) status = TL_NEW(spare, (size_t)count);
  if (status == TL_OK) status = iterate(&field, options, &spare, result);
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    uint8_t label = field.label[i] == 1;
    result->moved += field.label[i] != OUTSIDE && label != mask->u8[i];
    mask->u8[i] = label;
  }
  tl_free(field.label);
  tl_free(field.grain);
  tl_free(field.partial);
  tl_free(spare);
  return status;
}
