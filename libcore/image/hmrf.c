#include "image/hmrf.h"

#include "base/log.h"
#include "base/mem.h"
#include "image/gaussian.h"
#include "image/hmrf_field.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { NEXT = 2, START = 4 }; /* bits of the mask: labels of the round that runs, of the start */
enum { LOCAL_REACH = 8, LEAST_SWEEPS = 2, NOISY_SWEEPS = 8 };

static const double LOCAL_SIGMA = 2;      /* voxels, of the local levels; 4 sigma = LOCAL_REACH */
static const double DARKEST_GRAIN = 0.2;  /* of the gap, below the global grain level */
static const double ENERGY_CHANGE = 1e-4; /* relative; rounds end below */
static const double AUTO_BETA = 0.2;      /* over sd / gap */
/* Noise over gap up to which blur is undone in full, and from which on not at all. */
static const double QUIET = 0.04, LOUD = 0.06;
static const double USUAL_BLUR = 0.25; /* half its variance, voxel^2: 0.7 voxel; also the most */
/* An unblurred edge of a phantom shows a variance of 0.23 voxel^2 by central differences and the
 * threshold of steepness below; blurs of 0.7 to 1.4 voxels add 1 / 1.39 of theirs. */
static const double OWN_VARIANCE = 0.23, BLUR_SHARE = 1.39;
static const double STEEP =
    0.1; /* of the gap a voxel; an edge where the slope is above: noise is not */

typedef struct Run {
  const TlSource *grey;
  const TlRoi *roi;
  const TlHmrfOptions *o;
  int64_t slab;
  const TlHistogram *bins;
  TlVolume *mask; /* bit 0: labels */
  TlLevels levels;
  double sd, cut;
  bool quiet; /* a start may be sharpened */
  int sweeps;
  TlStencil stencil;
  TlField field; /* work of one slab */
  float *low, *high, *weight;
  uint8_t *classes, *core, *scratch;
  double *by_slice[2];
} Run;

/* ---- slabs ---- */

static int64_t halo_of(int sweeps) {
  int64_t field = 4 * sweeps + 2, local = LOCAL_REACH + TL_CORE_EROSION;
  return field + local; /* the field's halo needs right levels too */
}

static int64_t deepest(int64_t nz, int64_t slab, int64_t halo) {
  int64_t most = 0;
  for (int64_t k = 0; k < tl_slab_count(nz, slab); k++) {
    TlSlab s = tl_slab(nz, slab, halo, k);
    most = s.high - s.low > most ? s.high - s.low : most;
  }
  return most;
}

int64_t tl_hmrf_bytes(int64_t nx, int64_t ny, int64_t nz, int64_t slab, int sweeps) {
  int64_t depth = deepest(nz, slab, halo_of(sweeps));
  return depth * nx * ny * 19 + (depth + 2) * (nx + 2) * (ny + 2) * 4;
}

/* The thickest slabs, at most as thick as asked, that keep within the memory. */
static TlStatus fit_slab(Run *r, int sweeps) {
  const TlSource *g = r->grey;
  int64_t most = r->o->most_bytes, thick = r->slab > 0 ? r->slab : g->nz;
  thick = (thick + TL_SLAB_STEP - 1) / TL_SLAB_STEP * TL_SLAB_STEP;
  while (thick > TL_SLAB_STEP && tl_hmrf_bytes(g->nx, g->ny, g->nz, thick, sweeps) > most)
    thick -= TL_SLAB_STEP;
  int64_t need = tl_hmrf_bytes(g->nx, g->ny, g->nz, thick, sweeps);
  if (most == 0) return TL_OK;
  if (need > most)
    return tl_fail(TL_EUSAGE,
                   "at this noise (%d sweeps) the thinnest slabs need %lld MiB of work memory, "
                   "%lld are left: give more, or denoise first",
                   sweeps, (long long)(need >> 20), (long long)(most >> 20));
  r->slab = thick;
  tl_log_debug("HMRF-EM: %d sweeps, slabs of %lld slices", sweeps, (long long)thick);
  return TL_OK;
}

static void run_free(Run *r) {
  tl_field_free(&r->field);
  tl_free(r->low);
  tl_free(r->high);
  tl_free(r->weight);
  tl_free(r->classes);
  tl_free(r->core);
  tl_free(r->scratch);
  r->low = r->high = r->weight = NULL;
  r->classes = r->core = r->scratch = NULL;
}

/* Work for slabs with this halo. */
static TlStatus run_make(Run *r, int64_t halo) {
  int64_t depth = deepest(r->grey->nz, r->slab, halo), n = depth * r->grey->ny * r->grey->nx;
  run_free(r);
  TL_TRY(tl_field_new(&r->field, r->grey->nx, r->grey->ny, depth));
  TL_TRY(TL_NEW(r->low, (size_t)n));
  TL_TRY(TL_NEW(r->high, (size_t)n));
  TL_TRY(TL_NEW(r->weight, (size_t)n));
  TL_TRY(TL_NEW(r->classes, (size_t)n));
  TL_TRY(TL_NEW(r->core, (size_t)n));
  return TL_NEW(r->scratch, (size_t)n);
}

/* ---- levels of a slab ---- */

static void drift_levels(const Run *r, const TlSlab *s, int which, float *level) {
  int64_t nx = r->grey->nx, ny = r->grey->ny;
#pragma omp parallel for
  for (int64_t k = 0; k < (s->high - s->low) * ny; k++)
    tl_levels_row(&r->levels, which, nx, k % ny, s->low + k / ny, level + k * nx);
}

/* level (the drift's in): core greys less level, smoothed, with a hundredth of nothing mixed in so
 * that places far from any core keep the drift's level. */
static TlStatus local_level(Run *r, const TlSlab *s, int which, float *level) {
  int64_t nx = r->grey->nx, ny = r->grey->ny, nz = s->high - s->low, n = nx * ny * nz;
  double sigma[3], unit = tl_field_unit(r->grey->voxel_m);
  for (int a = 0; a < 3; a++)
    sigma[a] = unit > 0 ? fmin(LOCAL_SIGMA * unit / r->grey->voxel_m[a], LOCAL_SIGMA) : LOCAL_SIGMA;
  tl_core_find(r->classes, nx, ny, nz, (uint8_t)which, r->levels.erosion[which], r->core,
               r->scratch);
  float *sum = r->field.f; /* the field is begun later */
  for (int64_t i = 0; i < n; i++) {
    r->weight[i] = r->core[i];
    sum[i] = r->core[i] ? r->field.grey[i] - level[i] : 0;
  }
  TL_TRY(tl_gaussian_floats(sum, nx, ny, nz, sigma, TL_GAUSSIAN_DIRECT));
  TL_TRY(tl_gaussian_floats(r->weight, nx, ny, nz, sigma, TL_GAUSSIAN_DIRECT));
  for (int64_t i = 0; i < n; i++) level[i] += sum[i] / (r->weight[i] + 0.01F);
  return TL_OK;
}

/* Greys, classes, void and grain levels of a slab with its halo. */
static TlStatus load(Run *r, const TlSlab *s) {
  int64_t n = (s->high - s->low) * r->grey->ny * r->grey->nx;
  TL_TRY(tl_source_read(r->grey, s->low, s->high - s->low, r->field.grey));
  tl_classes_of(r->mask, r->roi, s->low, s->high, r->classes);
  drift_levels(r, s, 0, r->low);
  drift_levels(r, s, 1, r->high);
  if (r->o->local_void) TL_TRY(local_level(r, s, 0, r->low));
  TL_TRY(local_level(r, s, 1, r->high));
  double gap = r->levels.level[1] - r->levels.level[0];
  float least = (float)((1 - DARKEST_GRAIN) * gap);
  float void_most = (float)(r->levels.level[0] + 0.5 * gap);
  for (int64_t i = 0; i < n; i++) {
    if (r->low[i] > void_most) r->low[i] = void_most;
    if (!r->o->local_void) {
      if (r->high[i] < r->low[i] + least) r->high[i] = r->low[i] + least;
    } else if (r->high[i] < r->low[i] + 0.5F * least) {
      r->high[i] = r->low[i] + 0.5F * least;
    }
  }
  return TL_OK;
}

/* ---- what is measured once: noise and blur ---- */

typedef struct Spread {
  double low, width;
  int64_t *count, bins, total;
} Spread;

/* Are a voxel of the slab and its 6 neighbours in the region? */
static inline bool surrounded(const uint8_t *c, int64_t row, int64_t plane) {
  return !((c[0] | c[-1] | c[1] | c[-row] | c[row] | c[-plane] | c[plane]) & TL_CLASS_OUTSIDE);
}

/* Core voxels less the mean of their 6 neighbours (sd sqrt(7/6) of white noise's): what varies
 * slowly, a third phase or the minerals' own grey, is none of the noise. */
static void add_spread(const Run *r, const TlSlab *s, int which, Spread *spread) {
  int64_t nx = r->grey->nx, ny = r->grey->ny, plane = nx * ny;
  int64_t first = s->begin > 0 || r->grey->nz < 3 ? s->begin : 1;
  int64_t last = s->end < r->grey->nz || r->grey->nz < 3 ? s->end : s->end - 1;
  int64_t up = r->grey->nz < 3 ? 0 : plane; /* a stack too thin has its own slice beside it */
  tl_core_find(r->classes, nx, ny, s->high - s->low, (uint8_t)which, r->levels.erosion[which],
               r->core, r->scratch);
  for (int64_t z = first; z < last; z++)
    for (int64_t y = 1; y + 1 < ny; y++)
      for (int64_t x = 1; x + 1 < nx; x++) {
        int64_t i = (z - s->low) * plane + y * nx + x;
        const float *g = r->field.grey + i;
        if (!r->core[i] || !surrounded(r->classes + i, nx, up)) continue;
        double mean = (double)(g[1] + g[-1] + g[nx] + g[-nx] + g[up] + g[-up]) / 6;
        double at = fabs((double)g[0] - mean) / sqrt(7.0 / 6) / spread->width;
        spread->count[at < (double)spread->bins - 1 ? (int64_t)at : spread->bins - 1]++;
        spread->total++;
      }
}

/* The sd of Gaussian noise whose size is below this in 95% of the voxels: where denoising found few
 * like patches it left the noise, and the median does not see that. */
static double noise_of(const Spread *s) {
  const double share = 0.95, size = 1.959963984540054;
  double below = 0, wanted = share * (double)s->total;
  for (int64_t i = 0; i < s->bins; i++) {
    double here = (double)s->count[i];
    if (here > 0 && below + here >= wanted) /* where in the bin, taken as evenly filled */
      return s->width * ((double)i + (wanted - below) / here) / size;
    below += here;
  }
  return 0;
}

/* Sums of |grad u| and |grad u|^2 over the slices' steep voxels: an edge of Gaussian profile has 1
 * and 1 / (2 sigma sqrt(pi)) of them a unit of area. Opaque minerals (u > 1.3) are left out. */
static void add_slopes(Run *r, const TlSlab *s) {
  int64_t nx = r->grey->nx, ny = r->grey->ny, plane = nx * ny;
  double gap = r->levels.level[1] - r->levels.level[0];
  const double *m = r->grey->voxel_m;
  double unit = tl_field_unit(m), step[3] = {1, 1, 1};
  for (int a = 0; a < 3 && unit > 0; a++) step[a] = m[a] / unit;
#pragma omp parallel for
  for (int64_t z = s->begin; z < s->end; z++) {
    double once = 0, twice = 0;
    for (int64_t y = 1; z > 0 && z + 1 < r->grey->nz && y + 1 < ny; y++)
      for (int64_t x = 1; x + 1 < nx; x++) {
        int64_t i = (z - s->low) * plane + y * nx + x;
        const float *g = r->field.grey + i;
        if (!surrounded(r->classes + i, nx, plane)) continue;
        double dx = (double)(g[1] - g[-1]) / step[0], dy = (double)(g[nx] - g[-nx]) / step[1];
        double dz = (double)(g[plane] - g[-plane]) / step[2];
        double q = 0.25 * (dx * dx + dy * dy + dz * dz) / (gap * gap);
        if (q < STEEP * STEEP || g[0] > r->high[i] + 0.3 * gap) continue;
        once += sqrt(q);
        twice += q;
      }
    r->by_slice[0][z] = once;
    r->by_slice[1][z] = twice;
  }
}

static double sum_slices(const double *value, int64_t n) {
  double sum = 0;
  for (int64_t z = 0; z < n; z++) sum += value[z];
  return sum;
}

/* Above QUIET noise hides the slope of edges: there the usual blur takes the measure's place. */
static void choose_blur(Run *r, double gap, TlHmrfResult *result) {
  double once = sum_slices(r->by_slice[0], r->grey->nz);
  double twice = sum_slices(r->by_slice[1], r->grey->nz);
  double fade = fmin(fmax((LOUD - result->noise / gap) / (LOUD - QUIET), 0), 1);
  if (fade > 0 && twice > 0) result->edge = once / (2 * sqrt(M_PI) * twice);
  double told = 0.5 * BLUR_SHARE * (result->edge * result->edge - OWN_VARIANCE);
  told = result->edge > 0 ? fmax(0, fmin(told, USUAL_BLUR)) : USUAL_BLUR;
  r->quiet = fade >= 0.5;
  result->deblur = r->o->deblur >= 0 ? r->o->deblur : fade * told + (1 - fade) * USUAL_BLUR;
}

/* Sweeps until the slowest change has shrunk to 1e-3, without blur: Gauss-Seidel's rate is the
 * square of the share that the neighbours have in a voxel's new value. Undoing blur has no such end
 * (what the scan hardly shows comes back ever more slowly), but a sharpened start (quiet) has most
 * of it, and from noise 8 to 10 sweeps bring what can be had (docs/imaging.md). */
static int enough_sweeps(const Run *r, double beta, double relative_sd, double blur) {
  if (r->o->sweeps > 0) return r->o->sweeps;
  double pull = 6 * beta / r->o->delta, data = 1 / (relative_sd * relative_sd);
  double rounds = ceil(log(1e-3) / (2 * log(pull / (pull + data))));
  int least = !(blur > 0) ? LEAST_SWEEPS : r->quiet ? TL_HMRF_QUIET_SWEEPS : NOISY_SWEEPS;
  return (int)fmin(fmax(rounds, least), TL_HMRF_LOUD_SWEEPS);
}

/* f^2 / w + s2 ln w = (1 - f)^2, the root in [0, 1]. */
static double cut_of(double w, double s2) {
  if (fabs(w - 1) < 1e-9) return 0.5;
  double a = 1 - 1 / w, c = 1 - s2 * log(w);
  double root = sqrt(fmax(1 - a * c, 0));
  return fmin(fmax(c / (1 + root), 0.02), 0.98);
}

static TlStatus measure(Run *r, TlHmrfResult *result) {
  Spread spread[2] = {{0}};
  double gap = r->levels.level[1] - r->levels.level[0], variance = 0;
  TlStatus status = TL_OK;
  for (int c = 0; c < 2 && status == TL_OK; c++) {
    spread[c] = (Spread){.width = gap / 8192, .bins = 16384};
    status = TL_NEW(spread[c].count, (size_t)spread[c].bins);
  }
  for (int64_t k = 0; status == TL_OK && k < tl_slab_count(r->grey->nz, r->slab); k++) {
    TlSlab s = tl_slab(r->grey->nz, r->slab, halo_of(0), k);
    status = load(r, &s);
    if (status != TL_OK) break;
    add_slopes(r, &s);
    for (int c = 0; c < 2; c++) add_spread(r, &s, c, &spread[c]);
  }
  for (int c = 0; c < 2; c++) {
    double sd = noise_of(&spread[c]);
    variance += 0.5 * sd * sd;
    tl_free(spread[c].count);
  }
  result->noise = sqrt(variance);
  r->sd = result->sd = fmax(result->noise, r->o->sd_floor * gap);
  choose_blur(r, gap, result);
  r->cut = result->cut = cut_of(r->o->void_weight, r->sd * r->sd / (gap * gap));
  result->beta = r->o->beta > 0 ? r->o->beta : AUTO_BETA * gap / r->sd;
  r->sweeps = result->sweeps = enough_sweeps(r, result->beta, r->sd / gap, result->deblur);
  tl_stencil_make(&r->stencil, r->grey->voxel_m, r->o->neighbours, result->beta, r->o->delta,
                  result->deblur);
  return status;
}

/* ---- rounds ---- */

static void store_labels(Run *r, const TlSlab *s) {
  int64_t nx = r->grey->nx, ny = r->grey->ny;
  float cut = (float)r->cut;
#pragma omp parallel for
  for (int64_t z = s->begin; z < s->end; z++)
    for (int64_t y = 0; y < ny; y++) {
      const float *f = tl_field_row(&r->field, y, z - s->low);
      uint8_t *m = r->mask->u8 + tl_volume_at(r->mask, 0, y, z);
      for (int64_t x = 0; x < nx; x++) m[x] = (uint8_t)((m[x] & ~NEXT) | (f[x] > cut ? NEXT : 0));
    }
}

/* One E step with the present levels: labels to bit 1, energies before (first round) and after. */
static TlStatus relax(Run *r, bool first, double energy[2]) {
  for (int64_t k = 0; k < tl_slab_count(r->grey->nz, r->slab); k++) {
    TlSlab s = tl_slab(r->grey->nz, r->slab, halo_of(r->sweeps), k);
    TL_TRY(load(r, &s));
    tl_field_begin(&r->field, &r->stencil, s.high - s.low, r->low, r->high, r->weight, r->classes,
                   r->sd, r->quiet);
    if (first) tl_field_energy(&r->field, &r->stencil, &s, r->by_slice[0]);
    for (int n = 0; n < r->sweeps; n++) tl_field_sweep(&r->field, &r->stencil, s.low);
    tl_field_energy(&r->field, &r->stencil, &s, r->by_slice[1]);
    store_labels(r, &s);
  }
  for (int k = 0; k < 2; k++) energy[k] = sum_slices(r->by_slice[k], r->grey->nz);
  return TL_OK;
}

/* Take the labels of the round that ran (bit 1), or not. */
static void settle_round(Run *r, bool taken) {
  int64_t n = tl_volume_count(r->mask);
  uint8_t *m = r->mask->u8;
  for (int64_t i = 0; i < n; i++)
    m[i] = (uint8_t)((m[i] & START) | (taken ? m[i] >> 1 & 1 : m[i] & 1));
}

static TlStatus check_levels(const TlLevels *l, bool negated) {
  double sign = negated ? -1 : 1;
  if (l->level[1] > l->level[0]) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "grain (%g) is not brighter than void (%g); give --invert when grains are dark",
                 sign * l->level[1], sign * l->level[0]);
}

static TlStatus new_levels(Run *r) {
  tl_levels_free(&r->levels);
  TL_TRY(tl_levels_find(r->grey, r->roi, r->slab, r->mask, r->bins, &r->levels));
  return check_levels(&r->levels, r->grey->negated);
}

static void told(TlHmrfResult *result, const TlLevels *l) {
  memcpy(result->mean, l->level, sizeof result->mean);
  result->core_erosion = l->erosion[0] < l->erosion[1] ? l->erosion[0] : l->erosion[1];
  result->drift_z = l->drift_z;
  result->drift_radial = l->drift_radial;
}

static TlStatus iterate(Run *r, TlHmrfResult *result) {
  double sign = r->grey->negated ? -1 : 1;
  TL_TRY(new_levels(r));
  int64_t asked = r->slab;
  TL_TRY(fit_slab(r, 0));
  TL_TRY(run_make(r, halo_of(0)));
  TL_TRY(measure(r, result));
  r->slab = asked;
  TL_TRY(fit_slab(r, r->sweeps));
  TL_TRY(run_make(r, halo_of(r->sweeps)));
  while (result->rounds < r->o->most_rounds) {
    double energy[2], last = result->energy[result->rounds];
    if (result->rounds > 0) TL_TRY(new_levels(r));
    TL_TRY(relax(r, result->rounds == 0, energy));
    if (result->rounds == 0) result->energy[0] = last = energy[0];
    if (energy[1] > last) {
      tl_log_info("HMRF-EM: new levels (void %.4g, grain %.4g) would raise the energy to %.10g: "
                  "not taken",
                  sign * r->levels.level[0], sign * r->levels.level[1], energy[1]);
      settle_round(r, false);
      return TL_OK;
    }
    settle_round(r, true);
    told(result, &r->levels);
    result->energy[++result->rounds] = energy[1];
    tl_log_info("HMRF-EM round %d: energy %.10g, void %.4g, grain %.4g", result->rounds, energy[1],
                sign * r->levels.level[0], sign * r->levels.level[1]);
    if (result->rounds > 1 && last - energy[1] <= ENERGY_CHANGE * fabs(energy[1])) break;
  }
  return TL_OK;
}

/* The mask of 0 and 1 again. */
static void finish_mask(Run *r, TlHmrfResult *result) {
  int64_t n = tl_volume_count(r->mask);
  uint8_t *m = r->mask->u8;
  for (int64_t i = 0; i < n; i++) {
    result->moved += (m[i] & 1) != (m[i] & START ? 1 : 0);
    m[i] &= 1;
  }
}

TlStatus tl_hmrf(const TlSource *grey, const TlRoi *roi, const TlHmrfOptions *options, int64_t slab,
                 const TlHistogram *bins, TlVolume *mask, TlHmrfResult *result) {
  assert(mask->type == TL_U8 && (options->neighbours == 6 || options->neighbours == 26));
  assert(options->beta >= 0 && options->delta > 0 && options->void_weight > 0 &&
         options->deblur <= 0.25 && options->sd_floor > 0 && options->most_rounds >= 1 &&
         options->most_rounds <= TL_HMRF_MOST_ROUNDS && options->sweeps <= TL_HMRF_MOST_SWEEPS);
  Run r = {.grey = grey, .roi = roi, .o = options, .slab = slab, .bins = bins, .mask = mask};
  *result = (TlHmrfResult){0};
  TlStatus status = TL_NEW(r.by_slice[0], (size_t)grey->nz);
  if (status == TL_OK) status = TL_NEW(r.by_slice[1], (size_t)grey->nz);
  for (int64_t i = 0; i < tl_volume_count(mask); i++) mask->u8[i] = mask->u8[i] ? 1 | START : 0;
  if (status == TL_OK) status = iterate(&r, result);
  finish_mask(&r, result);
  tl_levels_free(&r.levels);
  run_free(&r);
  tl_free(r.by_slice[0]);
  tl_free(r.by_slice[1]);
  return status;
}
