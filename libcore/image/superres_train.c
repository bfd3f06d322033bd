#include "image/superres.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "image/nlm.h"
#include "image/superres_base.h"
#include "image/superres_codes.h"
#include "image/superres_pairs.h"
#include "num/linear.h"

#include <math.h>
#include <string.h>

enum { LEAST_SIDE = 24, STREAM_START = 1, STREAM_PAIRS, STREAM_FRESH, STREAM_NOISE, STREAM_GAIN };
enum { FRESH = 2000, CODE_BLOCK = 256, GAIN_SIDE = 24 };
static const double kept_variance = 0.999, ridge = 1e-3, flat = 1e-12;

/* ---- the stacks ---- */

static void add_noise(TlVolume *v, double sigma, uint64_t seed, uint64_t stream) {
  for (int64_t i = 0; i < tl_volume_count(v); i++)
    v->f32[i] += (float)(sigma * tl_random_normal(seed, stream, (uint64_t)i));
}

static TlStatus denoise(TlVolume *coarse, double sigma) {
  TlRoi whole = {.kind = TL_ROI_ALL};
  TlNlmOptions nlm = {
      .sigma = sigma, .patch = TL_SUPERRES_PATCH, .search = TL_SUPERRES_SEARCH, .quiet = true};
  TlVolume clean;
  TL_TRY(tl_nlm_choose_strength(coarse, &whole, &nlm));
  TL_TRY(tl_nlm(coarse, &whole, &nlm, &clean));
  tl_volume_free(coarse);
  *coarse = clean;
  return TL_OK;
}

/* What apply would start from, had the fine stack been scanned coarsely. */
static TlStatus coarse_twin(const TlVolume *fine, const TlTraining *t, TlVolume *base) {
  TlUpsampler up;
  TlVolume coarse;
  tl_upsampler(t->factor, &up);
  TL_TRY(tl_box_means(fine, t->factor, &coarse));
  TlStatus status = TL_OK;
  if (t->noise_grey > 0) {
    add_noise(&coarse, t->noise_grey, t->seed, STREAM_NOISE);
    status = denoise(&coarse, t->noise_grey);
  }
  if (status == TL_OK) status = tl_upsample(&up, &coarse, base);
  tl_volume_free(&coarse);
  return status;
}

/* ---- features ---- */

/* Principal components of the features, about 0: they are differences, flat is 0. */
static TlStatus components(const TlPairs *pairs, TlDictionary *d) {
  enum { N = TL_WINDOW_FEATURES };
  double *features, *covariance = NULL, value[N], sum = 0, kept = 0;
  TL_TRY(tl_pairs_features(pairs, &features));
  TlStatus status = TL_NEW(covariance, N * N);
  if (status == TL_OK) {
    tl_linear_product(true, false, N, N, pairs->count, features, features, covariance);
    status = tl_linear_eigen(N, covariance, value);
  }
  tl_free(features);
  if (status == TL_OK) {
    for (int i = 0; i < N; i++) sum += value[i];
    for (d->dims = 0; d->dims < TL_DICTIONARY_DIMS && kept < kept_variance * sum; d->dims++)
      kept += value[N - 1 - d->dims];
    status = tl_dictionary_alloc(d);
  }
  /* A component of the features of a window is one number a voxel of it. */
  for (int w = 0; w < TL_WINDOW_VOXELS && status == TL_OK; w++) {
    float unit[TL_WINDOW_VOXELS] = {0};
    double f[N];
    unit[w] = 1;
    tl_window_features(unit, TL_WINDOW, f);
    for (int k = 0; k < d->dims; k++) {
      double dot = 0;
      for (int i = 0; i < N; i++) dot += f[i] * covariance[(N - 1 - k) * N + i];
      d->analysis[k * TL_WINDOW_VOXELS + w] = (float)dot;
    }
  }
  tl_free(covariance);
  return status;
}

/* pairs -> their low part, count x dims. */
static TlStatus analyse(const TlDictionary *d, const TlPairs *pairs, float **low) {
  float *table = NULL;
  TL_TRY(TL_NEW(*low, (size_t)(pairs->count * d->dims) + 1));
  TL_TRY(TL_NEW(table, TL_WINDOW_VOXELS * TL_DICTIONARY_DIMS));
  tl_windows_table(d->analysis, d->dims, table);
  for (int64_t i = 0; i < pairs->count; i++) {
    const float *at = pairs->window + i * TL_WINDOW_VOXELS;
    tl_windows_analyse(table, d->dims, &at, 1, TL_WINDOW, *low + i * d->dims);
  }
  tl_free(table);
  return TL_OK;
}

static double mean_square(const float *values, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += (double)values[i] * (double)values[i];
  return count > 0 ? sum / (double)count : 0;
}

/* rms of a feature for white noise in the coarse stack, interpolated. */
static TlStatus noise_gain(const TlTraining *t, TlDictionary *d) {
  TlUpsampler up;
  TlVolume coarse, base;
  TlPairs pairs = {0};
  TlRoi whole = {.kind = TL_ROI_ALL};
  float *low = NULL;
  tl_upsampler(t->factor, &up);
  TL_TRY(tl_volume_new(&coarse, TL_F32, GAIN_SIDE, GAIN_SIDE, GAIN_SIDE));
  add_noise(&coarse, 1, t->seed, STREAM_GAIN);
  TlStatus status = tl_upsample(&up, &coarse, &base);
  tl_volume_free(&coarse);
  TL_TRY(status);
  status = tl_pairs_draw(&base, &base, &whole, t->factor, FRESH, t->seed, STREAM_GAIN, &pairs);
  if (status == TL_OK) status = analyse(d, &pairs, &low);
  if (status == TL_OK) d->noise_gain = sqrt(mean_square(low, pairs.count * d->dims));
  tl_free(low);
  tl_pairs_free(&pairs);
  tl_volume_free(&base);
  return status;
}

/* ---- codes of many ---- */

typedef struct Coding {
  const TlCoder *coder;
  const float *y;
  double limit;
  TlCode *codes;
} Coding;

static TlStatus code_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Coding *c = context;
  float *scratch;
  (void)block, (void)thread;
  TL_TRY(TL_NEW(scratch, (size_t)tl_coder_scratch(c->coder)));
  tl_coder_code(c->coder, c->y + begin * c->coder->dims, end - begin, c->limit, scratch,
                c->codes + begin);
  tl_free(scratch);
  return TL_OK;
}

static TlStatus code_all(int64_t atoms, int dims, int most, const float *rows, const float *y,
                         int64_t count, double limit, TlCode *codes) {
  TlCoder coder;
  TL_TRY(tl_coder_make(atoms, dims, most, rows, &coder));
  Coding coding = {&coder, y, limit, codes};
  TlStatus status = tl_par_blocks(count, CODE_BLOCK, code_block, &coding);
  tl_coder_free(&coder);
  return status;
}

/* Z Z^T and Z Y^T over the atoms with an index (index[a] >= 0), n of them. */
static void normal_sums(const TlCode *codes, const float *y, int64_t count, int dims,
                        const int64_t *index, int64_t n, double *zz, double *zy) {
  memset(zz, 0, (size_t)(n * n) * sizeof *zz);
  memset(zy, 0, (size_t)(n * dims) * sizeof *zy);
  for (int64_t i = 0; i < count; i++)
    for (int k = 0; k < codes[i].used; k++) {
      int64_t a = index[codes[i].atom[k]];
      double w = (double)codes[i].weight[k];
      for (int m = 0; m < codes[i].used; m++)
        zz[a * n + index[codes[i].atom[m]]] += w * (double)codes[i].weight[m];
      for (int r = 0; r < dims; r++) zy[a * dims + r] += w * (double)y[i * dims + r];
    }
}

/* ---- the joint dictionary ---- */

typedef struct Joint {
  const TlTraining *t;
  int64_t count, atoms;
  int rows;    /* TL_PATCH_VOXELS + dims */
  float *x;    /* count x rows */
  float *atom; /* atoms x rows, unit */
  TlCode *codes;
  double *left;   /* squared residual of each pair */
  int64_t *index; /* of each atom among the used, or -1 */
  double *zz, *zx, *multiplier, *dictionary;
  double error; /* rms of X - D Z over that of X */
  int64_t renewed;
} Joint;

static void joint_free(Joint *j) {
  tl_free(j->x);
  tl_free(j->atom);
  tl_free(j->codes);
  tl_free(j->left);
  tl_free(j->index);
  tl_free(j->zz);
  tl_free(j->zx);
  tl_free(j->multiplier);
  tl_free(j->dictionary);
}

static TlStatus joint_alloc(Joint *j) {
  size_t n = (size_t)j->atoms, rows = (size_t)j->rows, count = (size_t)j->count;
  TL_TRY(TL_NEW(j->x, count * rows));
  TL_TRY(TL_NEW(j->atom, n * rows));
  TL_TRY(TL_NEW(j->codes, count));
  TL_TRY(TL_NEW(j->left, count));
  TL_TRY(TL_NEW(j->index, n));
  TL_TRY(TL_NEW(j->zz, n * n));
  TL_TRY(TL_NEW(j->zx, n * rows));
  TL_TRY(TL_NEW(j->multiplier, n));
  return TL_NEW(j->dictionary, n * rows);
}

/* A unit vector along pair i, or along an axis where the pair is nothing. */
static void atom_from_pair(Joint *j, int64_t atom, int64_t i) {
  const float *x = j->x + i * j->rows;
  float *to = j->atom + atom * j->rows;
  double length = sqrt(mean_square(x, j->rows) * j->rows);
  for (int r = 0; r < j->rows; r++)
    to[r] = length > flat ? (float)((double)x[r] / length) : (float)(r == atom % j->rows);
}

/* Both parts at unit mean energy, then each vector's direction alone matters to the atoms. */
static void joint_start(Joint *j, const TlDictionary *d, const float *high, const float *low) {
  double h = 1 / sqrt(fmax(mean_square(high, j->count * TL_PATCH_VOXELS) * TL_PATCH_VOXELS, flat));
  double l = 1 / sqrt(fmax(mean_square(low, j->count * d->dims) * d->dims, flat));
  for (int64_t i = 0; i < j->count; i++) {
    float *x = j->x + i * j->rows;
    for (int r = 0; r < TL_PATCH_VOXELS; r++)
      x[r] = (float)(h * (double)high[i * TL_PATCH_VOXELS + r]);
    for (int r = 0; r < d->dims; r++)
      x[TL_PATCH_VOXELS + r] = (float)(l * (double)low[i * d->dims + r]);
  }
  for (int64_t a = 0; a < j->atoms; a++)
    atom_from_pair(
        j, a,
        (int64_t)(tl_random_uniform(j->t->seed, STREAM_START, (uint64_t)a) * (double)j->count));
}

static void joint_residuals(Joint *j) {
  double left = 0, whole = 0;
  for (int64_t i = 0; i < j->count; i++) {
    const TlCode *c = &j->codes[i];
    j->left[i] = 0;
    for (int r = 0; r < j->rows; r++) {
      double value = (double)j->x[i * j->rows + r];
      whole += value * value;
      for (int k = 0; k < c->used; k++)
        value -= (double)c->weight[k] * (double)j->atom[c->atom[k] * j->rows + r];
      j->left[i] += value * value;
    }
    left += j->left[i];
  }
  j->error = sqrt(left / whole);
}

static int64_t count_used(Joint *j) {
  int64_t used = 0;
  for (int64_t a = 0; a < j->atoms; a++) j->index[a] = -1;
  for (int64_t i = 0; i < j->count; i++)
    for (int k = 0; k < j->codes[i].used; k++) j->index[j->codes[i].atom[k]] = 0;
  for (int64_t a = 0; a < j->atoms; a++)
    if (j->index[a] == 0) j->index[a] = used++;
  return used;
}

static int64_t worst_pair(const Joint *j) {
  int64_t worst = 0;
  for (int64_t i = 1; i < j->count; i++)
    if (j->left[i] > j->left[worst]) worst = i;
  return worst;
}

/* Atoms by Eq. 2.19, back to length 1 (the codes are found anew); the unused from the worst pairs.
 */
static TlStatus joint_atoms(Joint *j) {
  int64_t used = count_used(j);
  normal_sums(j->codes, j->x, j->count, j->rows, j->index, used, j->zz, j->zx);
  TlDual dual = {.atoms = used,
                 .rows = j->rows,
                 .zz = j->zz,
                 .zx = j->zx,
                 .multiplier = j->multiplier,
                 .dictionary = j->dictionary};
  for (int64_t a = 0; a < used; a++) j->multiplier[a] = 0;
  TL_TRY(tl_dual_solve(&dual));
  tl_log_debug("dual: %d steps, |D|^2 within %.2g of 1", dual.steps, dual.violation);
  for (int64_t a = 0; a < j->atoms; a++) {
    double length = 0;
    const double *from = j->dictionary + j->index[a] * j->rows;
    if (j->index[a] >= 0)
      for (int r = 0; r < j->rows; r++) length += from[r] * from[r];
    if (length > flat) {
      for (int r = 0; r < j->rows; r++) j->atom[a * j->rows + r] = (float)(from[r] / sqrt(length));
      continue;
    }
    int64_t worst = worst_pair(j);
    atom_from_pair(j, a, worst);
    j->left[worst] = 0;
    j->renewed++;
  }
  return TL_OK;
}

/* The atoms' low parts, unit; where there is none an axis. */
static void joint_give(const Joint *j, TlDictionary *d) {
  for (int64_t a = 0; a < j->atoms; a++) {
    const float *from = j->atom + a * j->rows + TL_PATCH_VOXELS;
    double length = sqrt(mean_square(from, d->dims) * d->dims);
    for (int k = 0; k < d->dims; k++)
      d->low[a * d->dims + k] =
          length > 1e-6 ? (float)((double)from[k] / length) : (float)(k == a % d->dims);
  }
}

static TlStatus joint_rounds(Joint *j, TlTrained *result) {
  TlProgress progress = tl_progress_start("training", j->t->rounds);
  TlStatus status = TL_OK;
  for (int round = 0; round < j->t->rounds && status == TL_OK; round++) {
    double limit = 2 * j->t->tolerance * j->t->tolerance; /* of x, whose mean energy is 2 */
    status = code_all(j->atoms, j->rows, j->t->codes, j->atom, j->x, j->count, limit, j->codes);
    if (status != TL_OK) break;
    joint_residuals(j);
    if (round == 0) result->first = j->error;
    result->last = j->error;
    tl_log_debug("round %d: residual %.4f", round + 1, j->error);
    status = joint_atoms(j);
    tl_progress(&progress, round + 1);
  }
  tl_progress_end(&progress);
  result->renewed = j->renewed;
  return status;
}

static TlStatus learn_low(const TlTraining *t, const TlPairs *pairs, const float *low,
                          TlDictionary *d, TlTrained *result) {
  Joint j = {.t = t,
             .count = pairs->count < t->pairs ? pairs->count : t->pairs,
             .atoms = t->atoms,
             .rows = TL_PATCH_VOXELS + d->dims};
  TlStatus status = joint_alloc(&j);
  if (status == TL_OK) {
    joint_start(&j, d, pairs->high, low);
    result->pairs = j.count;
    status = joint_rounds(&j, result);
  }
  if (status == TL_OK) joint_give(&j, d);
  joint_free(&j);
  return status;
}

/* ---- coupling ---- */

static double dictionary_limit(const TlDictionary *d) {
  return d->dims * d->tolerance * d->tolerance;
}

/* rms of the pairs' high parts, before and after what their codes predict. */
static void judge(const TlDictionary *d, const TlCode *codes, const TlPairs *pairs, double *missed,
                  double *left) {
  double sum = 0;
  for (int64_t i = 0; i < pairs->count; i++)
    for (int r = 0; r < TL_PATCH_VOXELS; r++) {
      double value = (double)pairs->high[i * TL_PATCH_VOXELS + r];
      for (int k = 0; k < codes[i].used; k++)
        value -=
            (double)codes[i].weight[k] * (double)d->high[codes[i].atom[k] * TL_PATCH_VOXELS + r];
      sum += value * value;
    }
  int64_t count = pairs->count * TL_PATCH_VOXELS;
  *missed = sqrt(mean_square(pairs->high, count));
  *left = count > 0 ? sqrt(sum / (double)count) : 0;
}

static TlStatus couple_with(const TlPairs *pairs, const TlCode *codes, TlDictionary *d, double *zz,
                            double *zy, int64_t *index) {
  int64_t n = d->atoms;
  double trace = 0;
  for (int64_t a = 0; a < n; a++) index[a] = a;
  normal_sums(codes, pairs->high, pairs->count, TL_PATCH_VOXELS, index, n, zz, zy);
  for (int64_t a = 0; a < n; a++) trace += zz[a * (n + 1)];
  if (!(trace > 0)) return tl_fail(TL_EINPUT, "nothing in the stack is more than flat");
  for (int64_t a = 0; a < n; a++) zz[a * (n + 1)] += ridge * trace / (double)n;
  /* One right side a voxel of the patch: the solver wants them as rows. */
  double *sides;
  TL_TRY(TL_NEW(sides, (size_t)n * TL_PATCH_VOXELS));
  for (int64_t a = 0; a < n; a++)
    for (int r = 0; r < TL_PATCH_VOXELS; r++) sides[r * n + a] = zy[a * TL_PATCH_VOXELS + r];
  TlStatus status = tl_linear_solve(n, zz, TL_PATCH_VOXELS, sides);
  for (int64_t a = 0; a < n; a++)
    for (int r = 0; r < TL_PATCH_VOXELS; r++)
      d->high[a * TL_PATCH_VOXELS + r] = (float)sides[r * n + a];
  tl_free(sides);
  return status;
}

static TlStatus couple(const TlPairs *pairs, const float *low, TlDictionary *d, TlTrained *result) {
  size_t n = (size_t)d->atoms;
  TlCode *codes = NULL;
  double *zz = NULL, *zy = NULL;
  int64_t *index = NULL;
  TlStatus status = TL_NEW(codes, (size_t)pairs->count);
  if (status == TL_OK) status = TL_NEW(zz, n * n);
  if (status == TL_OK) status = TL_NEW(zy, n * TL_PATCH_VOXELS);
  if (status == TL_OK) status = TL_NEW(index, n);
  if (status == TL_OK)
    status = code_all(d->atoms, d->dims, d->codes, d->low, low, pairs->count, dictionary_limit(d),
                      codes);
  if (status == TL_OK) status = couple_with(pairs, codes, d, zz, zy, index);
  if (status == TL_OK) judge(d, codes, pairs, &result->missed, &result->left);
  result->coupling_pairs = pairs->count;
  tl_free(codes);
  tl_free(zz);
  tl_free(zy);
  tl_free(index);
  return status;
}

/* The same prediction where it was not learnt. */
static TlStatus try_fresh(const TlDictionary *d, const TlPairs *pairs, TlTrained *result) {
  float *low = NULL;
  TlCode *codes = NULL;
  TlStatus status = analyse(d, pairs, &low);
  if (status == TL_OK) status = TL_NEW(codes, (size_t)pairs->count);
  if (status == TL_OK)
    status = code_all(d->atoms, d->dims, d->codes, d->low, low, pairs->count, dictionary_limit(d),
                      codes);
  if (status == TL_OK) judge(d, codes, pairs, &result->fresh_missed, &result->fresh_left);
  tl_free(low);
  tl_free(codes);
  return status;
}

/* ---- all of it ---- */

static TlStatus learn(const TlTraining *t, const TlPairs *pairs, TlDictionary *d,
                      TlTrained *result) {
  float *low = NULL;
  TL_TRY(components(pairs, d));
  result->dims = d->dims;
  TlStatus status = analyse(d, pairs, &low);
  if (status == TL_OK) {
    d->tolerance = t->tolerance * sqrt(mean_square(low, pairs->count * d->dims));
    status = learn_low(t, pairs, low, d, result);
  }
  if (status == TL_OK) status = couple(pairs, low, d, result);
  tl_free(low);
  return status == TL_OK ? noise_gain(t, d) : status;
}

static TlStatus train(const TlVolume *fine, const TlVolume *base, const TlRoi *roi,
                      const TlTraining *t, TlDictionary *d, TlTrained *result) {
  TlPairs pairs, fresh;
  TL_TRY(tl_pairs_draw(fine, base, roi, t->factor, TL_TRAINING_MORE * t->pairs, t->seed,
                       STREAM_PAIRS, &pairs));
  TlStatus status = TL_OK;
  if (pairs.count < t->pairs)
    status =
        tl_fail(TL_EINPUT,
                "only %lld pairs of patches that are not flat are found, %lld are wanted: give "
                "a larger stack, or fewer --pairs",
                (long long)pairs.count, (long long)t->pairs);
  if (status == TL_OK) status = learn(t, &pairs, d, result);
  tl_pairs_free(&pairs);
  TL_TRY(status);
  TL_TRY(tl_pairs_draw(fine, base, roi, t->factor, FRESH, t->seed, STREAM_FRESH, &fresh));
  status = try_fresh(d, &fresh, result);
  tl_pairs_free(&fresh);
  return status;
}

static TlStatus whole_cubes(const TlVolume *fine, int factor, TlVolume *cut) {
  *cut = tl_volume_head(fine);
  cut->nx -= cut->nx % factor;
  cut->ny -= cut->ny % factor;
  cut->nz -= cut->nz % factor;
  TlVolume head = *cut;
  TL_TRY(tl_volume_like(cut, &head, TL_F32));
  for (int64_t z = 0; z < cut->nz; z++)
    for (int64_t y = 0; y < cut->ny; y++)
      memcpy(cut->f32 + tl_volume_at(cut, 0, y, z), fine->f32 + tl_volume_at(fine, 0, y, z),
             (size_t)cut->nx * sizeof *cut->f32);
  return TL_OK;
}

TlStatus tl_superres_train(const TlVolume *fine, const TlRoi *roi, const TlTraining *t,
                           TlDictionary *d, TlTrained *result) {
  TlVolume cut, base = {0};
  *result = (TlTrained){0};
  *d = (TlDictionary){.factor = t->factor,
                      .codes = t->codes,
                      .atoms = t->atoms,
                      .pairs = t->pairs,
                      .noise_grey = t->noise_grey};
  if (fine->nx < LEAST_SIDE || fine->ny < LEAST_SIDE || fine->nz < LEAST_SIDE)
    return tl_fail(TL_EINPUT, "%lld x %lld x %lld voxels are too few to train on; %d each way",
                   (long long)fine->nx, (long long)fine->ny, (long long)fine->nz, LEAST_SIDE);
  for (int k = 0; k < 3 && fine->voxel_m[0] > 0; k++)
    d->proportions[k] = fine->voxel_m[k] / fine->voxel_m[0];
  TL_TRY(whole_cubes(fine, t->factor, &cut));
  TlStatus status = coarse_twin(&cut, t, &base);
  if (status == TL_OK) status = train(&cut, &base, roi, t, d, result);
  tl_volume_free(&cut);
  tl_volume_free(&base);
  if (status != TL_OK) tl_dictionary_free(d);
  return status;
}
