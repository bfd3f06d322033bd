#include "image/binarize.h"

#include "base/log.h"
#include "base/mem.h"
#include "image/filters.h"

#include <math.h>

enum { SMOOTH_BINS = 16384 };

static const double FLAT = 0.06; /* of the grey gap a voxel; phases are told where it is flat */
static const double MIXTURE_FLOOR = 0.02; /* of the spread of all greys */
static const double PEAK_HEIGHT[2] = {0.02,
                                      0.002}; /* of the highest, at least; the brightest phase */
static const double GRAINS_VARY =
    0.25;                             /* of a phase's distance to void: the next one is beyond it */
static const double GRAINS_OWN = 0.8; /* of the way from void to grain: that is the grains */
static const double PEAK_SMOOTH = 0.01; /* of the gap: half width of the counts' running means */
static const double PEAK_VALLEY = 0.75; /* most of a valley over its peak */
static const double BRIGHT_PART = 0.6;  /* of the gap, above the grain mean: where greys are cut */
static const double THIRD_MARGIN =
    0.05; /* of the gap, above half-way between a third phase and grain */

static double bright_cut(const TlHistogram *h) {
  TlSplit first = tl_histogram_otsu(h, INFINITY);
  return first.mean[1] + BRIGHT_PART * (first.mean[1] - first.mean[0]);
}

/* The least distance of two grey levels that occur; 0 for continuous greys. */
static double level_step(const TlHistogram *h) {
  int64_t last = -1, least = 0;
  for (int64_t i = 0; h->width == 1 && i < h->bins; i++) {
    if (h->count[i] == 0) continue;
    if (last >= 0 && (least == 0 || i - last < least)) least = i - last;
    last = i;
  }
  return (double)least;
}

/* Limits: see the measured cases in the header; half-way on a log scale between void and soil. */
static bool one_population(const TlShape *shape, double step) {
  if (shape->sd < 0.5 * step || shape->gaussian_distance < 0.02) return true;
  return shape->gaussian_distance < 0.06 && fabs(shape->skewness) < 0.5 && shape->kurtosis > 3.2;
}

/* ---- a phase that the bright ones hide ---- */

enum { MODE_WINDOWS = 64 }; /* of the bins below the threshold: counts are smoothed over one */
static const double FEW_GRAINS = 0.25;  /* of the region: more, and the void is no hiding place */
static const double HIDDEN_PART = 0.05; /* of the void, beyond the valley */

/* Two modes with a valley of less than half the lower one between them, each with a part of the counts. */
static bool two_modes(const double *count, int64_t n) {
  double all = 0, below = 0;
  for (int64_t i = 0; i < n; i++) all += count[i];
  double first = 0;
  for (int64_t valley = 0; valley < n; valley++) {
    double second = 0;
    first = fmax(first, count[valley]);
    below += count[valley];
    double least = fmin(below, all - below);
    if (least < HIDDEN_PART * all || count[valley] > 0.5 * first) continue;
    for (int64_t i = valley + 1; i < n; i++) second = fmax(second, count[i]);
    if (count[valley] < 0.5 * second) return true;
  }
  return false;
}

typedef struct Marks {
  TlVolume *mask;
  double threshold;
} Marks;

/* ---- greys smoothed by a voxel ---- */

enum { SMOOTH_HALO = 5 }; /* 4 sigma, and one for slopes */

typedef struct Job {
  const TlSource *grey;
  const TlRoi *roi;
  const TlBinarizeOptions *o;
  int64_t slab;
  TlHistogram raw, smooth;
  TlHistogram flat; /* of smoothed greys away from edges */
  double level;     /* slopes a voxel below are flat */
} Job;

/* What to do with the slab's own slices of the smoothed greys. */
typedef void (*UseSmooth)(Job *job, const TlSlab *s, const TlVolume *smooth, void *context);

static TlStatus for_smooth(Job *job, UseSmooth use, void *context) {
  for (int64_t k = 0; k < tl_slab_count(job->grey->nz, job->slab); k++) {
    TlSlab s = tl_slab(job->grey->nz, job->slab, SMOOTH_HALO, k);
    TlVolume part, smooth;
    TlRoi roi;
    TL_TRY(tl_volume_new(&part, TL_F32, job->grey->nx, job->grey->ny, s.high - s.low));
    TlStatus status = tl_roi_part(job->roi, s.low, s.high - s.low, &roi);
    if (status == TL_OK) status = tl_source_read(job->grey, s.low, s.high - s.low, part.f32);
    if (status == TL_OK) status = tl_gaussian(&part, &roi, 1, &smooth);
    tl_volume_free(&part);
    tl_roi_free(&roi);
    TL_TRY(status);
    use(job, &s, &smooth, context);
    tl_volume_free(&smooth);
  }
  return TL_OK;
}

/* No slope along an axis, by central differences, is as steep as `level`; not at the slab's ends.
 * An axis of one voxel has no slope. */
static bool is_flat(const TlVolume *v, int64_t x, int64_t y, int64_t z, double level) {
  const int64_t at[3] = {x, y, z}, n[3] = {v->nx, v->ny, v->nz};
  const int64_t step[3] = {1, v->nx, v->nx * v->ny};
  const float *g = v->f32 + tl_volume_at(v, x, y, z);
  for (int k = 0; k < 3; k++) {
    if (n[k] == 1) continue;
    if (at[k] == 0 || at[k] + 1 == n[k]) return false;
    if (!(0.5 * (double)fabsf(g[step[k]] - g[-step[k]]) < level)) return false;
  }
  return true;
}

static void count_smooth(Job *job, const TlSlab *s, const TlVolume *smooth, void *context) {
  (void)context;
  for (int64_t z = s->begin; z < s->end; z++)
    for (int64_t y = 0; y < smooth->ny; y++)
      for (int64_t x = 0; x < smooth->nx; x++) {
        if (!tl_roi_inside(job->roi, x, y, z)) continue;
        float grey = smooth->f32[tl_volume_at(smooth, x, y, z - s->low)];
        int64_t bin = tl_histogram_bin(&job->smooth, grey);
        job->smooth.count[bin]++;
        job->smooth.total++;
        if (job->level <= 0 || !is_flat(smooth, x, y, z - s->low, job->level)) continue;
        job->flat.count[bin]++;
        job->flat.total++;
      }
}

/* The smoothed greys lie within the raw ones' range, in fine bins. */
static TlStatus count_greys(Job *job) {
  TL_TRY(tl_histogram_source(job->grey, job->roi, job->slab, &job->raw));
  job->smooth = (TlHistogram){.low = job->raw.low, .bins = SMOOTH_BINS};
  job->smooth.width = job->raw.width * (double)(job->raw.bins - 1) / (SMOOTH_BINS - 1);
  TL_TRY(TL_NEW(job->smooth.count, SMOOTH_BINS));
  TL_TRY(tl_histogram_like(&job->smooth, &job->flat));
  TlSplit split = tl_histogram_otsu(&job->raw, bright_cut(&job->raw));
  if (job->o->phases > 2) job->level = FLAT * (split.mean[1] - split.mean[0]);
  return for_smooth(job, count_smooth, NULL);
}

/* ---- where the labels start ---- */

static TlSplit automatic(const TlHistogram *h, bool kmeans) {
  double most = bright_cut(h);
  return kmeans ? tl_histogram_kmeans(h, most) : tl_histogram_otsu(h, most);
}

/* The count in the clearer valley of a peak over the peak's own count, least over all greys of
 * class l; infinite where no count is high enough for a peak. */
static double valley_of(const double *count, const TlHistogram *h, const TlMixture *m, int l) {
  int64_t first = l > 0 ? tl_histogram_bin(h, m->mean[l - 1]) : 0;
  int64_t last = l + 1 < m->classes ? tl_histogram_bin(h, m->mean[l + 1]) : h->bins - 1;
  int64_t low = l > 0 ? tl_histogram_bin(h, m->border[l - 1]) : first;
  int64_t high = l + 1 < m->classes ? tl_histogram_bin(h, m->border[l]) : last;
  double highest = 0, least = INFINITY;
  for (int64_t i = 0; i < h->bins; i++) highest = fmax(highest, count[i]);
  for (int64_t i = low; i <= high; i++) {
    if (count[i] < PEAK_HEIGHT[l + 1 == m->classes] * highest ||
        count[i] < count[i > 0 ? i - 1 : i])
      continue;
    if (count[i] < count[i + 1 < h->bins ? i + 1 : i]) continue;
    double left = l > 0 ? count[i] : 0, right = l + 1 < m->classes ? count[i] : 0;
    for (int64_t k = first; k < i; k++) left = fmin(left, count[k]);
    for (int64_t k = i + 1; k <= last; k++) right = fmin(right, count[k]);
    least = fmin(least, fmax(left, right) / count[i]);
  }
  return least;
}

static TlStatus no_phase(const TlMixture *m, int l, const char *why) {
  return tl_fail(TL_EINPUT,
                 "phase %d of %d (fitted at %.4g +- %.2g, %.1f%% of the flat voxels) %s: give "
                 "--phases=2 and look at the range of the porosity, or --method=threshold with a "
                 "level that you know from elsewhere",
                 l + 1, m->classes, m->mean[l], m->sd[l], 100 * m->fraction[l], why);
}

/* Refuses a mixture in which not every Gaussian is a phase, for three Gaussians can be fitted to
 * any two phases: among the greys that go to a phase there must be a peak with a valley on each
 * side. */
static TlStatus check_phases(const TlHistogram *flat, const TlMixture *m) {
  double *count, gap = m->mean[m->classes - 1] - m->mean[0];
  int64_t half = (int64_t)(PEAK_SMOOTH * gap / flat->width) + 1;
  TL_TRY(tl_histogram_smoothed(flat, flat->bins, half, &count));
  TlStatus status = TL_OK;
  for (int l = 0; l < m->classes && status == TL_OK; l++)
    if (!(valley_of(count, flat, m, l) < PEAK_VALLEY))
      status = no_phase(m, l, "has no clear peak of its own in the histogram");
  tl_free(count);
  for (int l = 1; l + 1 < m->classes && status == TL_OK; l++)
    if (m->mean[l + 1] - m->mean[l] < GRAINS_VARY * (m->mean[l] - m->mean[0]))
      status = no_phase(m, l + 1, "is as near to the one below as grains of one mineral differ");
  return status;
}

/* What is to be void may not be the grains themselves, with a few bright minerals as the next
 * phase. two: the split into void and grain, bright minerals aside. */
static TlStatus check_solid(const TlMixture *m, int solid_from, const TlSplit *two) {
  int below = solid_from - 2;
  double part = (m->mean[below] - m->mean[0]) / (two->mean[1] - m->mean[0]);
  if (below < 1 || part < GRAINS_OWN) return TL_OK;
  return tl_fail(
      TL_EINPUT,
      "--solid-from=%d would leave out the grains: phase %d lies at their grey (%.4g) and "
      "phase %d holds the few bright minerals; give --solid-from=%d, or one phase more",
      solid_from, below + 1, m->mean[below], below + 2, solid_from - 1);
}

/* Phases are told by the greys of voxels away from edges. */
static TlStatus check_flat(const Job *job) {
  const TlSource *g = job->grey;
  if (job->flat.total > 0) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "no voxel lies away from edges: %s to tell %d phases; give %s--phases=2",
                 g->nx == 2 || g->ny == 2 || g->nz == 2 ? "the stack is too thin"
                                                        : "the grains are too small or too noisy",
                 job->o->phases, g->nz == 2 ? "more slices, or " : "");
}

static TlStatus find_split(const Job *job, TlBinarizeResult *result) {
  const TlBinarizeOptions *o = job->o;
  bool hmrf = o->method == TL_BINARIZE_HMRF_EM;
  bool kmeans = o->method == TL_BINARIZE_KMEANS || (hmrf && o->start_kmeans);
  if (o->method == TL_BINARIZE_THRESHOLD)
    result->split =
        tl_histogram_split(&job->raw, job->grey->negated ? -o->threshold : o->threshold, INFINITY);
  else
    result->split = automatic(&job->raw, kmeans);
  if (result->split.fraction[0] == 0 || result->split.fraction[1] == 0)
    return tl_fail(TL_EINPUT, "the threshold %g leaves no %s voxel", o->threshold,
                   result->split.fraction[0] > 0 ? "grain" : "void");
  result->border = hmrf ? automatic(&job->smooth, kmeans).threshold : result->split.threshold;
  if (!hmrf || o->phases <= 2) return TL_OK;
  TL_TRY(check_flat(job));
  double weights[TL_MIXTURE_MOST] = {o->hmrf.void_weight, 1, 1, 1};
  TL_TRY(tl_mixture_fit(&job->flat, o->phases, weights, MIXTURE_FLOOR, INFINITY, &result->mixture));
  int solid_from = o->solid_from > 2 ? o->solid_from : 2;
  TL_TRY(check_phases(&job->flat, &result->mixture));
  TL_TRY(check_solid(&result->mixture, solid_from, &result->split));
  result->border = result->mixture.border[solid_from - 2];
  return TL_OK;
}

/* ---- masks ---- */

static void mark_smooth(Job *job, const TlSlab *s, const TlVolume *smooth, void *context) {
  Marks *marks = context;
#pragma omp parallel for
  for (int64_t z = s->begin; z < s->end; z++)
    for (int64_t y = 0; y < smooth->ny; y++)
      for (int64_t x = 0; x < smooth->nx; x++)
        marks->mask->u8[tl_volume_at(marks->mask, x, y, z)] =
            tl_roi_inside(job->roi, x, y, z) &&
            (double)smooth->f32[tl_volume_at(smooth, x, y, z - s->low)] > marks->threshold;
}

static TlStatus mark_raw(const Job *job, Marks *marks) {
  const TlSource *g = job->grey;
  float *grey;
  int64_t most = job->slab > 0 && job->slab < g->nz ? job->slab : g->nz;
  TlStatus status = TL_NEW(grey, (size_t)(most * g->ny * g->nx));
  for (int64_t k = 0; status == TL_OK && k < tl_slab_count(g->nz, job->slab); k++) {
    TlSlab s = tl_slab(g->nz, job->slab, 0, k);
    status = tl_source_read(g, s.begin, s.end - s.begin, grey);
    for (int64_t i = 0; status == TL_OK && i < (s.end - s.begin) * g->ny * g->nx; i++) {
      int64_t z = s.begin + i / g->nx / g->ny;
      marks->mask->u8[s.begin * g->ny * g->nx + i] =
          tl_roi_inside(job->roi, i % g->nx, i / g->nx % g->ny, z) &&
          (double)grey[i] > marks->threshold;
    }
  }
  tl_free(grey);
  return status;
}

static void count_mask(const TlVolume *mask, const TlRoi *roi, TlBinarizeResult *result) {
  for (int64_t z = 0; z < mask->nz; z++)
    for (int64_t y = 0; y < mask->ny; y++)
      for (int64_t x = 0; x < mask->nx; x++) {
        if (!tl_roi_inside(roi, x, y, z)) continue;
        result->region_voxels++;
        result->grain_voxels += mask->u8[tl_volume_at(mask, x, y, z)];
      }
  result->porosity = 1 - (double)result->grain_voxels / (double)result->region_voxels;
}

static TlStatus warn_of_hidden(const Job *job, TlBinarizeResult *result) {
  double grains = (double)result->grain_voxels / (double)result->region_voxels;
  if (job->o->method == TL_BINARIZE_THRESHOLD || job->o->phases > 2 || grains > FEW_GRAINS)
    return TL_OK;
  int64_t n = tl_histogram_bin(&job->smooth, result->border);
  double *count;
  TL_TRY(tl_histogram_smoothed(&job->smooth, n, n / MODE_WINDOWS / 2 + 1, &count));
  result->hides_grains = two_modes(count, n);
  tl_free(count);
  if (result->hides_grains)
    tl_log_warn("only %.1f%% are grain, and the greys of what was taken for void have two peaks: a "
                "few very bright grains may hide all others; --phases=3 tells them apart",
                100 * grains);
  return TL_OK;
}

static TlStatus fill_mask(Job *job, TlVolume *mask, TlBinarizeResult *result) {
  const TlBinarizeOptions *o = job->o;
  Marks marks = {.mask = mask, .threshold = result->border};
  TlHmrfOptions hmrf = o->hmrf;
  hmrf.local_void = hmrf.local_void || o->solid_from > 2;
  if (o->method == TL_BINARIZE_HMRF_EM) {
    TL_TRY(for_smooth(job, mark_smooth, &marks));
    TL_TRY(tl_hmrf(job->grey, job->roi, &hmrf, job->slab, &job->raw, mask, &result->hmrf));
  } else {
    TL_TRY(mark_raw(job, &marks));
  }
  if (o->min_island > 0)
    TL_TRY(tl_islands_remove(mask, job->roi, o->min_island, &result->islands_removed,
                             &result->holes_filled));
  count_mask(mask, job->roi, result);
  return warn_of_hidden(job, result);
}

/* ---- a third phase between void and grain ---- */

static TlStatus look_between(const Job *job, const TlVolume *mask, TlBinarizeResult *result) {
  double level[2] = {result->hmrf.mean[0], result->hmrf.mean[1]}; /* greys of void and grain */
  if (job->o->phases > 2) return TL_OK;
  if (job->o->method != TL_BINARIZE_HMRF_EM) { /* the medians of the cores of the mask */
    TlLevels levels;
    TL_TRY(tl_levels_find(job->grey, job->roi, job->slab, mask, &job->raw, &levels));
    for (int k = 0; k < 2; k++) level[k] = levels.level[k];
    tl_levels_free(&levels);
  }
  TL_TRY(tl_third_phase(job->grey, job->roi, level, &result->third));
  if (!result->third.found) return TL_OK;
  double gap = level[1] - level[0], up_to = 0.5 * (1 + result->third.place) + THIRD_MARGIN;
  result->third_grey = level[0] + result->third.place * gap;
  double used =
      job->o->method == TL_BINARIZE_HMRF_EM ? 0.5 * (level[0] + level[1]) : result->split.threshold;
  double t = level[0] + fmin(up_to, 1) * gap, *p = result->porosity_range;
  result->threshold_range[1] = fmax(result->threshold_range[1], t);
  p[1] = fmin(1, fmax(p[1], result->porosity + tl_histogram_below(&job->raw, t) -
                                tl_histogram_below(&job->raw, used)));
  return TL_OK;
}

/* Thresholds in greys as they are worked on (negated for dark grains). */
static void find_range(const Job *job, TlBinarizeResult *result) {
  bool hmrf = job->o->method == TL_BINARIZE_HMRF_EM;
  double half = 0.5 * (result->hmrf.mean[0] + result->hmrf.mean[1]);
  double used = hmrf ? half : result->split.threshold;
  double others[] = {automatic(&job->raw, false).threshold, automatic(&job->raw, true).threshold};
  double *t = result->threshold_range, *p = result->porosity_range;
  t[0] = t[1] = used;
  p[0] = p[1] = result->porosity;
  if (job->o->phases > 2) return;
  for (int k = 0; k < 2; k++) {
    t[0] = fmin(t[0], others[k]);
    t[1] = fmax(t[1], others[k]);
  }
  double here = tl_histogram_below(&job->raw, used);
  for (int k = 0; k < 2; k++)
    p[k] = fmin(1, fmax(0, p[k] + tl_histogram_below(&job->raw, t[k]) - here));
}

static TlStatus classify(Job *job, TlVolume *mask, TlBinarizeResult *result) {
  TL_TRY(count_greys(job));
  if (job->o->method != TL_BINARIZE_THRESHOLD) {
    TlShape shape = tl_histogram_shape(&job->smooth);
    result->gaussian_distance = shape.gaussian_distance;
    if (one_population(&shape, level_step(&job->raw)))
      return tl_fail(TL_EINPUT,
                     "the greys are one population (sd %.3g, distance to a Gaussian %.4f, kurtosis "
                     "%.2f): the region is all void or all grain. If you know better, give "
                     "--method=threshold",
                     shape.sd, shape.gaussian_distance, shape.kurtosis);
  }
  TL_TRY(find_split(job, result));
  TL_TRY(tl_volume_new(mask, TL_U8, job->grey->nx, job->grey->ny, job->grey->nz));
  for (int a = 0; a < 3; a++) mask->voxel_m[a] = job->grey->voxel_m[a];
  TlStatus status = fill_mask(job, mask, result);
  if (status == TL_OK) find_range(job, result);
  if (status == TL_OK) status = look_between(job, mask, result);
  if (status != TL_OK) tl_volume_free(mask);
  return status;
}

/* Dark grains: everything is done on negated greys and told in greys of the input. */
static void tell_negated(TlBinarizeResult *result) {
  result->split.threshold = -result->split.threshold;
  result->border = -result->border;
  result->third_grey = -result->third_grey;
  double low = -result->threshold_range[1];
  result->threshold_range[1] = -result->threshold_range[0];
  result->threshold_range[0] = low;
  result->hmrf.drift_z = -result->hmrf.drift_z;
  result->hmrf.drift_radial = -result->hmrf.drift_radial;
  for (int k = 0; k < 2; k++) {
    result->split.mean[k] = -result->split.mean[k];
    result->hmrf.mean[k] = -result->hmrf.mean[k];
  }
  for (int l = 0; l < result->mixture.classes; l++) {
    result->mixture.mean[l] = -result->mixture.mean[l];
    if (l + 1 < result->mixture.classes) result->mixture.border[l] = -result->mixture.border[l];
  }
}

TlStatus tl_binarize_source(const TlSource *grey, const TlRoi *roi, const TlBinarizeOptions *o,
                            TlVolume *mask, TlBinarizeResult *result) {
  TlSource source = *grey;
  source.negated = o->invert;
  Job job = {.grey = &source, .roi = roi, .o = o, .slab = o->slab > 0 ? o->slab : TL_BINARIZE_SLAB};
  *result = (TlBinarizeResult){0};
  TlStatus status = classify(&job, mask, result);
  tl_histogram_free(&job.raw);
  tl_histogram_free(&job.smooth);
  tl_histogram_free(&job.flat);
  if (status == TL_OK && o->invert) tell_negated(result);
  return status;
}

TlStatus tl_binarize(const TlVolume *grey, const TlRoi *roi, const TlBinarizeOptions *options,
                     TlVolume *mask, TlBinarizeResult *result) {
  TlSource source = tl_source_volume(grey);
  return tl_binarize_source(&source, roi, options, mask, result);
}

static int64_t kept_bytes(int64_t nx, int64_t ny, int64_t nz, const TlBinarizeOptions *o) {
  int64_t islands = o->min_island > 0 ? 5 : 0; /* components of the whole mask */
  return nx * ny * nz * (1 + islands);
}

/* The passes by slabs: greys smoothed, levels found. */
static int64_t passes_bytes(int64_t nx, int64_t ny, int64_t nz, int64_t slab) {
  return nx * ny * ((slab < nz ? slab : nz) + 2 * SMOOTH_HALO) * 16;
}

int64_t tl_binarize_bytes(int64_t nx, int64_t ny, int64_t nz, const TlBinarizeOptions *o,
                          int sweeps) {
  int64_t slab = o->slab > 0 ? o->slab : TL_BINARIZE_SLAB;
  int64_t work = passes_bytes(nx, ny, nz, slab);
  if (o->method == TL_BINARIZE_HMRF_EM) {
    int64_t most = o->hmrf.most_bytes, slices = slab;
    if (most > 0) slices = tl_hmrf_slices(nx, ny, nz, slab, sweeps, most);
    if (slices == 0) slices = TL_HMRF_LEAST_SLICES; /* what it would need */
    int64_t hmrf = tl_hmrf_bytes(nx, ny, nz, slices, sweeps);
    work = hmrf > work ? hmrf : work;
  }
  return kept_bytes(nx, ny, nz, o) + work;
}

TlStatus tl_binarize_plan(int64_t nx, int64_t ny, int64_t nz, int64_t bytes, TlBinarizeOptions *o) {
  int64_t most = bytes - kept_bytes(nx, ny, nz, o);
  o->hmrf.most_bytes = most > 0 ? most : 1;
  o->slab = TL_SLAB_STEP;
  int64_t need = tl_binarize_bytes(nx, ny, nz, o, TL_HMRF_QUIET_SWEEPS);
  if (need > bytes)
    return tl_fail(TL_EUSAGE, "the thinnest slabs need %.0f MB, %.0f are given",
                   ceil((double)need / 1e6), floor((double)bytes / 1e6));
  while (o->slab < nz && passes_bytes(nx, ny, nz, o->slab + TL_SLAB_STEP) <= most)
    o->slab += TL_SLAB_STEP;
  return TL_OK;
}
