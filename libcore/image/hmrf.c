#include "image/hmrf.h"

#include "base/log.h"
#include "base/mem.h"
#include "image/hmrf_field.h"
#include "image/hmrf_slab.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { NEXT = 2, START = 4 }; /* bits of the mask: labels of the round that runs, of the start */
enum { LEAST_SWEEPS = 2, NOISY_SWEEPS = 8 };

static const double ENERGY_CHANGE = 1e-4; /* relative; rounds end below */
static const double AUTO_BETA = 0.2;      /* over sd / gap */
/* Noise over gap up to which blur is undone in full, and from which on not at all. */
static const double QUIET = 0.04, LOUD = 0.06;
static const double USUAL_BLUR = 0.25; /* half its variance, voxel^2: 0.7 voxel; also the most */
/* An unblurred edge of a phantom shows a variance of 0.23 voxel^2 by central differences and the
 * threshold of steepness below; blurs of 0.7 to 1.4 voxels add 1 / 1.39 of theirs. */
static const double OWN_VARIANCE = 0.23, BLUR_FRACTION = 1.39;
static const double STEEP =
    0.1; /* of the gap a voxel; an edge where the slope is above: noise is not */

typedef struct Run {
  TlHmrfModel model;
  const TlHmrfOptions *o;
  int64_t slab;   /* of the passes that find levels */
  int64_t slices; /* begun at a time */
  const TlHistogram *bins;
  TlVolume *mask; /* the model's: bit 0 labels */
  double sd, cut;
  bool quiet; /* a start may be sharpened */
  int sweeps;
  TlStencil stencil;
  TlHmrfSlab work;
  TlField field;
  double *by_slice[2];
} Run;

/* ---- memory ---- */

/* The field's parts follow each other through the stack; how far each is behind the slices that
 * have come in: a sharpened start looks one slice ahead, an energy one slice to each side. */
enum { LAG_START = 1, LAG_ENERGY = 1 };

static int64_t lag_of_sweeps(int sweeps) {
  return LAG_START + TL_FIELD_LAG * sweeps;
}

/* Slices that are still looked at when `slices` more have come. */
static int64_t window(int64_t slices, int sweeps) {
  return slices + lag_of_sweeps(sweeps) + 2 * LAG_ENERGY;
}

int64_t tl_hmrf_bytes(int64_t nx, int64_t ny, int64_t nz, int64_t slices, int sweeps) {
  return tl_hmrf_slab_bytes(nx, ny, nz, slices) +
         tl_field_bytes(nx, ny, nz, window(slices, sweeps));
}

int64_t tl_hmrf_slices(int64_t nx, int64_t ny, int64_t nz, int64_t most, int sweeps,
                       int64_t bytes) {
  int64_t slices = most < nz ? most : nz;
  while (slices > 0 && tl_hmrf_bytes(nx, ny, nz, slices, sweeps) > bytes) slices--;
  return slices >= TL_HMRF_LEAST_SLICES || slices == nz ? slices : 0;
}

/* As many slices at a time as asked, or as memory lets. */
static TlStatus fit(Run *r) {
  const TlSource *g = r->model.grey;
  int64_t most = r->o->most_bytes;
  r->slices = r->slab > 0 && r->slab < g->nz ? r->slab : g->nz;
  if (most == 0) return TL_OK;
  r->slices = tl_hmrf_slices(g->nx, g->ny, g->nz, r->slices, r->sweeps, most);
  tl_log_debug("HMRF-EM: %d sweeps, %lld slices at a time", r->sweeps, (long long)r->slices);
  if (r->slices > 0) return TL_OK;
  int64_t need = tl_hmrf_bytes(g->nx, g->ny, g->nz, TL_HMRF_LEAST_SLICES, r->sweeps);
  return tl_fail(TL_EUSAGE,
                 "at this noise (%d sweeps) the fewest slices at a time need %lld MB of work "
                 "memory, %lld are left: give more, or denoise first",
                 r->sweeps, (long long)(need / 1000000) + 1, (long long)(most / 1000000));
}

static TlStatus load(Run *r, int64_t begin, int64_t end) {
  return tl_hmrf_slab_load(&r->work, &r->model, begin, end);
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
static void add_spread(const Run *r, int which, Spread *spread) {
  const TlHmrfSlab *w = &r->work;
  const TlSlab *s = &w->at;
  int64_t nx = r->model.grey->nx, ny = r->model.grey->ny, nz = r->model.grey->nz, plane = nx * ny;
  int64_t first = s->begin > 0 || nz < 3 ? s->begin : 1;
  int64_t last = s->end < nz || nz < 3 ? s->end : s->end - 1;
  int64_t up = nz < 3 ? 0 : plane; /* a stack too thin has its own slice beside it */
  tl_core_find(w->classes, nx, ny, s->high - s->low, (uint8_t)which, r->model.levels.erosion[which],
               w->core, w->scratch);
  for (int64_t z = first; z < last; z++)
    for (int64_t y = 1; y + 1 < ny; y++)
      for (int64_t x = 1; x + 1 < nx; x++) {
        int64_t i = (z - s->low) * plane + y * nx + x;
        const float *g = w->grey + i;
        if (!w->core[i] || !surrounded(w->classes + i, nx, up)) continue;
        double mean = (double)(g[1] + g[-1] + g[nx] + g[-nx] + g[up] + g[-up]) / 6;
        double at = fabs((double)g[0] - mean) / sqrt(7.0 / 6) / spread->width;
        spread->count[at < (double)spread->bins - 1 ? (int64_t)at : spread->bins - 1]++;
        spread->total++;
      }
}

/* The sd of Gaussian noise whose size is below this in 95% of the voxels: where denoising found few
 * like patches it left the noise, and the median does not see that. */
static double noise_of(const Spread *s) {
  const double fraction = 0.95, size = 1.959963984540054;
  double below = 0, wanted = fraction * (double)s->total;
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
static void add_slopes(Run *r) {
  const TlHmrfSlab *w = &r->work;
  const TlSlab *s = &w->at;
  int64_t nx = r->model.grey->nx, ny = r->model.grey->ny, nz = r->model.grey->nz, plane = nx * ny;
  double gap = r->model.levels.level[1] - r->model.levels.level[0];
  const double *m = r->model.grey->voxel_m;
  double unit = tl_field_unit(m), step[3] = {1, 1, 1};
  for (int a = 0; a < 3 && unit > 0; a++) step[a] = m[a] / unit;
#pragma omp parallel for
  for (int64_t z = s->begin; z < s->end; z++) {
    double once = 0, twice = 0;
    for (int64_t y = 1; z > 0 && z + 1 < nz && y + 1 < ny; y++)
      for (int64_t x = 1; x + 1 < nx; x++) {
        int64_t i = (z - s->low) * plane + y * nx + x;
        const float *g = w->grey + i;
        if (!surrounded(w->classes + i, nx, plane)) continue;
        double dx = (double)(g[1] - g[-1]) / step[0], dy = (double)(g[nx] - g[-nx]) / step[1];
        double dz = (double)(g[plane] - g[-plane]) / step[2];
        double q = 0.25 * (dx * dx + dy * dy + dz * dz) / (gap * gap);
        float high = w->high[i - (s->begin - s->low) * plane];
        if (q < STEEP * STEEP || g[0] > high + 0.3 * gap) continue;
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
  double once = sum_slices(r->by_slice[0], r->model.grey->nz);
  double twice = sum_slices(r->by_slice[1], r->model.grey->nz);
  double fade = fmin(fmax((LOUD - result->noise / gap) / (LOUD - QUIET), 0), 1);
  if (fade > 0 && twice > 0) result->edge = once / (2 * sqrt(M_PI) * twice);
  double told = 0.5 * BLUR_FRACTION * (result->edge * result->edge - OWN_VARIANCE);
  told = result->edge > 0 ? fmax(0, fmin(told, USUAL_BLUR)) : USUAL_BLUR;
  r->quiet = fade >= 0.5;
  result->deblur = r->o->deblur >= 0 ? r->o->deblur : fade * told + (1 - fade) * USUAL_BLUR;
}

/* Sweeps until the slowest change has shrunk to 1e-3, without blur: Gauss-Seidel's rate is the
 * square of the part that the neighbours have in a voxel's new value. Undoing blur has no such end
 * (what the scan hardly shows comes back ever more slowly), but a sharpened start (quiet) has most
 * of it, and from noise 8 to 10 sweeps bring what can be had (docs/notebook/imaging.md). */
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
  double gap = r->model.levels.level[1] - r->model.levels.level[0], variance = 0;
  int64_t nz = r->model.grey->nz;
  TlStatus status = TL_OK;
  for (int c = 0; c < 2 && status == TL_OK; c++) {
    spread[c] = (Spread){.width = gap / 8192, .bins = 16384};
    status = TL_NEW(spread[c].count, (size_t)spread[c].bins);
  }
  for (int64_t z = 0; status == TL_OK && z < nz; z += r->slices) {
    status = load(r, z, z + r->slices < nz ? z + r->slices : nz);
    if (status != TL_OK) break;
    add_slopes(r);
    for (int c = 0; c < 2; c++) add_spread(r, c, &spread[c]);
  }
  for (int c = 0; c < 2; c++) {
    double sd = status == TL_OK ? noise_of(&spread[c]) : 0;
    variance += 0.5 * sd * sd;
    tl_free(spread[c].count);
  }
  if (status != TL_OK) return status;
  result->noise = sqrt(variance);
  r->sd = result->sd = fmax(result->noise, r->o->sd_floor * gap);
  choose_blur(r, gap, result);
  r->cut = result->cut = cut_of(r->o->void_weight, r->sd * r->sd / (gap * gap));
  result->beta = r->o->beta > 0 ? r->o->beta : AUTO_BETA * gap / r->sd;
  r->sweeps = result->sweeps = enough_sweeps(r, result->beta, r->sd / gap, result->deblur);
  tl_stencil_make(&r->stencil, r->model.grey->voxel_m, r->o->neighbours, result->beta, r->o->delta,
                  result->deblur);
  return TL_OK;
}

/* ---- rounds ---- */

static void store_labels(Run *r, int64_t begin, int64_t end) {
  int64_t nx = r->mask->nx, ny = r->mask->ny;
  float cut = (float)r->cut;
#pragma omp parallel for
  for (int64_t k = 0; k < (end - begin) * ny; k++) {
    const float *f = tl_field_row(&r->field, k % ny, begin + k / ny);
    uint8_t *m = r->mask->u8 + tl_volume_at(r->mask, 0, k % ny, begin + k / ny);
    for (int64_t x = 0; x < nx; x++) m[x] = (uint8_t)((m[x] & ~NEXT) | (f[x] > cut ? NEXT : 0));
  }
}

/* What a part of the work has done when the slices below `come` are in and it is `lag` behind.
 * Past the stack's end slices come on, though there are none, until the last part is through. */
static int64_t done(const Run *r, int64_t come, int64_t lag) {
  int64_t at = come - lag, nz = r->model.grey->nz;
  return at < 0 ? 0 : at < nz ? at : nz;
}

static TlReach reach_of(const Run *r, int64_t come, int sweep) {
  int64_t lag = lag_of_sweeps(sweep);
  return (TlReach){.aim = done(r, come, lag + TL_FIELD_LAG_AIM),
                   .half = done(r, come, lag + TL_FIELD_LAG_HALF),
                   .whole = done(r, come, lag + TL_FIELD_LAG)};
}

/* The next slices, levels and all, into the field; those that nobody looks at any more leave. */
static TlStatus take_in(Run *r, int64_t was, int64_t come) {
  int64_t begin = done(r, was, 0), end = done(r, come, 0), plane = r->mask->nx * r->mask->ny;
  tl_field_forget(&r->field, done(r, was, lag_of_sweeps(r->sweeps) + 2 * LAG_ENERGY));
  if (begin == end) return TL_OK;
  TL_TRY(load(r, begin, end));
  int64_t halo = (begin - r->work.at.low) * plane;
  tl_field_add(&r->field, end - begin, r->work.grey + halo, r->work.low, r->work.high,
               r->work.classes + halo, r->sd);
  return TL_OK;
}

/* Slices below `come` in place of `was`: each part continues as far as that lets it. */
static void advance(Run *r, int64_t was, int64_t come, bool first) {
  TlField *f = &r->field;
  int64_t start = LAG_START + LAG_ENERGY, end = lag_of_sweeps(r->sweeps);
  if (r->quiet) tl_field_sharpen(f, &r->stencil, done(r, was, LAG_START), done(r, come, LAG_START));
  if (first)
    tl_field_energy(f, &r->stencil, done(r, was, start), done(r, come, start), r->by_slice[0]);
  for (int n = 0; n < r->sweeps; n++) {
    TlReach from = reach_of(r, was, n), to = reach_of(r, come, n);
    tl_field_sweep(f, &r->stencil, &from, &to);
  }
  store_labels(r, done(r, was, end), done(r, come, end));
  tl_field_energy(f, &r->stencil, done(r, was, end + LAG_ENERGY), done(r, come, end + LAG_ENERGY),
                  r->by_slice[1]);
}

/* One E step with the present levels: labels to bit 1, energies before (first round) and after.
 * One pass: all sweeps move through the stack together, each behind the one before. */
static TlStatus relax(Run *r, bool first, double energy[2]) {
  const TlSource *g = r->model.grey;
  int64_t last = g->nz + lag_of_sweeps(r->sweeps) + LAG_ENERGY;
  int64_t deep = window(r->slices, r->sweeps);
  TL_TRY(tl_field_new(&r->field, g->nx, g->ny, g->nz, deep < g->nz ? deep : g->nz));
  for (int k = 0; k < 2; k++) r->field.work[k] = r->work.work[k];
  for (int64_t was = 0; was < last; was += r->slices) {
    TL_TRY(take_in(r, was, was + r->slices));
    advance(r, was, was + r->slices, first);
  }
  tl_field_free(&r->field);
  for (int k = 0; k < 2; k++) energy[k] = sum_slices(r->by_slice[k], g->nz);
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
  TlHmrfModel *m = &r->model;
  tl_levels_free(&m->levels);
  TL_TRY(tl_levels_find(m->grey, m->roi, r->slab, r->mask, r->bins, &m->levels));
  return check_levels(&m->levels, m->grey->negated);
}

static void told(TlHmrfResult *result, const TlLevels *l) {
  memcpy(result->mean, l->level, sizeof result->mean);
  result->core_erosion = l->erosion[0] < l->erosion[1] ? l->erosion[0] : l->erosion[1];
  result->drift_z = l->drift_z;
  result->drift_radial = l->drift_radial;
}

static TlStatus iterate(Run *r, TlHmrfResult *result) {
  const TlSource *g = r->model.grey;
  double sign = g->negated ? -1 : 1;
  TL_TRY(new_levels(r));
  TL_TRY(fit(r));
  TL_TRY(tl_hmrf_slab_new(&r->work, g->nx, g->ny, g->nz, r->slices));
  TL_TRY(measure(r, result));
  tl_hmrf_slab_free(&r->work);
  TL_TRY(fit(r));
  TL_TRY(tl_hmrf_slab_new(&r->work, g->nx, g->ny, g->nz, r->slices));
  while (result->rounds < r->o->most_rounds) {
    double energy[2], last = result->energy[result->rounds];
    if (result->rounds > 0) TL_TRY(new_levels(r));
    TL_TRY(relax(r, result->rounds == 0, energy));
    if (result->rounds == 0) result->energy[0] = last = energy[0];
    if (energy[1] > last) {
      tl_log_info("HMRF-EM: new levels (void %.4g, grain %.4g) would raise the energy to %.10g: "
                  "not taken",
                  sign * r->model.levels.level[0], sign * r->model.levels.level[1], energy[1]);
      settle_round(r, false);
      return TL_OK;
    }
    settle_round(r, true);
    told(result, &r->model.levels);
    result->energy[++result->rounds] = energy[1];
    tl_log_info("HMRF-EM round %d: energy %.10g, void %.4g, grain %.4g", result->rounds, energy[1],
                sign * r->model.levels.level[0], sign * r->model.levels.level[1]);
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
  TlHmrfModel model = {.grey = grey, .roi = roi, .mask = mask, .local_void = options->local_void};
  Run r = {.model = model, .o = options, .slab = slab, .bins = bins, .mask = mask};
  *result = (TlHmrfResult){0};
  TlStatus status = TL_NEW(r.by_slice[0], (size_t)grey->nz);
  if (status == TL_OK) status = TL_NEW(r.by_slice[1], (size_t)grey->nz);
  for (int64_t i = 0; i < tl_volume_count(mask); i++) mask->u8[i] = mask->u8[i] ? 1 | START : 0;
  if (status == TL_OK) status = iterate(&r, result);
  finish_mask(&r, result);
  tl_levels_free(&r.model.levels);
  tl_hmrf_slab_free(&r.work);
  tl_field_free(&r.field);
  tl_free(r.by_slice[0]);
  tl_free(r.by_slice[1]);
  return status;
}
