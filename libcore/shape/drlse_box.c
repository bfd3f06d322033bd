#include "shape/drlse_box.h"

#include "base/mem.h"
#include "num/quantile.h"

#include <math.h>
#include <string.h>

enum { MARGIN = 8, LEAST_CORE = 30 };
static const double label_sigma = 1; /* smoothing of the label, voxels */
/* Of the mid-surface: watersheds part touching grains along a rugged face, real contacts are
 * smooth. Smoothing by 2 takes a tenth off the surface error at contacts of grains of radius 14
 * (0.32 to 0.29 voxel), but bends the face towards the smaller grain by sigma^2/R: it goes with the
 * smaller. */
enum { MIDDLES = 3 };
static const double middle_sigma[MIDDLES] = {1, 1.5, 2}, middle_radius[MIDDLES] = {0, 8, 12};
/* Between close grains the blur of each lifts the grey level at the other's surface, so the half
 * level lies too far out (0.8% of the volume at 0.6 solid). The neighbours' blurred labels are
 * taken off; not in full, since the same blur has made labels too large: with weight 1 the error
 * is -0.4% from perfect labels and -0.9% from thresholded ones, with 0.55 both are within 0.2%. */
static const double shade_weight = 0.55;

/* ---- small helpers ---- */

enum { MOST_RADIUS = 7 };

typedef struct Kernel {
  int radius;
  double w[MOST_RADIUS + 1];
} Kernel;

static Kernel gaussian(double sigma) {
  Kernel k = {.radius = (int)ceil(3.5 * sigma), .w = {1}};
  double total = 1;
  if (k.radius > MOST_RADIUS) k.radius = MOST_RADIUS;
  for (int m = 1; m <= k.radius; m++) total += 2 * (k.w[m] = exp(-0.5 * m * m / (sigma * sigma)));
  for (int m = 0; m <= k.radius; m++) k.w[m] /= total;
  return k;
}

/* Along x: row between its repeated ends, then one weight after the other over the whole row. */
static void smooth_along(const Kernel *k, const float *in, float *out, int64_t n, float *padded,
                         double *sum) {
  int r = k->radius;
  for (int64_t i = -r; i < n + r; i++) padded[i + r] = in[tl_grid_clamp(i, n)];
  memset(sum, 0, (size_t)n * sizeof *sum);
  for (int m = 0; m <= 2 * r; m++) {
    double w = k->w[m < r ? r - m : m - r];
    for (int64_t i = 0; i < n; i++) sum[i] += w * padded[i + m];
  }
  for (int64_t i = 0; i < n; i++) out[i] = (float)sum[i];
}

/* Across: row p of n rows that lie stride apart, each of length points. */
static void smooth_across(const Kernel *k, const float *in, float *out, int64_t p, int64_t n,
                          int64_t stride, int64_t length, double *sum) {
  memset(sum, 0, (size_t)length * sizeof *sum);
  for (int m = -k->radius; m <= k->radius; m++) {
    const float *row = in + tl_grid_clamp(p + m, n) * stride;
    double w = k->w[m < 0 ? -m : m];
    for (int64_t i = 0; i < length; i++) sum[i] += w * row[i];
  }
  for (int64_t i = 0; i < length; i++) out[p * stride + i] = (float)sum[i];
}

TlStatus tl_box_smooth(float *f, const int32_t n[3], double sigma) {
  const Kernel k = gaussian(sigma);
  int64_t nx = n[0], ny = n[1], nz = n[2], layer = nx * ny;
  float *other, *padded = NULL;
  double *sum = NULL;
  TL_TRY(TL_NEW(other, (size_t)(layer * nz)));
  TlStatus status = TL_NEW(padded, (size_t)(nx + 2 * MOST_RADIUS));
  if (status == TL_OK) status = TL_NEW(sum, (size_t)layer);
  if (status == TL_OK) {
    for (int64_t r = 0; r < ny * nz; r++) smooth_along(&k, f + r * nx, f + r * nx, nx, padded, sum);
    for (int64_t z = 0; z < nz; z++)
      for (int64_t y = 0; y < ny; y++)
        smooth_across(&k, f + z * layer, other + z * layer, y, ny, nx, nx, sum);
    for (int64_t z = 0; z < nz; z++) smooth_across(&k, other, f, z, nz, layer, layer, sum);
  }
  tl_free(other);
  tl_free(padded);
  tl_free(sum);
  return status;
}

/* erf^-1, Winitzki's approximation (2e-3 relative): it only scales a constraint. */
static double inverse_erf(double v) {
  double l = log(fmax(1e-12, 1 - v * v)), a = 0.147, t = 2 / (M_PI * a) + l / 2;
  return copysign(sqrt(fmax(0, sqrt(t * t - l / a) - t)), v);
}

/* How far from a plane edge the blurred indicator has this value; outside positive. */
static double blurred_distance(double value, double sigma) {
  return -sigma * 1.41421356 *
         inverse_erf(2 * (value < 1e-4     ? 1e-4
                          : value > 0.9999 ? 0.9999
                                           : value) -
                     1);
}

/* ---- one grain ---- */

void tl_grain_field_free(TlGrainField *f) {
  tl_free(f->u);
  tl_free(f->edge);
  tl_free(f->start);
  tl_free(f->shade);
  tl_free(f->middle);
  *f = (TlGrainField){0};
}

/* A cell is at most a voxel: floor and ceil take one, interpolation two more. */
_Static_assert(MARGIN + 4 <= TL_GRAIN_REACH, "a grain's grid leaves what is cut out for it");

bool tl_grain_part_core(const TlGrainPart *p, int64_t x, int64_t y, int64_t z) {
  const int64_t r = TL_GRAIN_CORE;
  if (x < r || y < r || z < r || x + r >= p->whole[0] || y + r >= p->whole[1] ||
      z + r >= p->whole[2])
    return false;
  uint32_t label = p->labels->u32[tl_grain_part_at(p, x, y, z)];
  for (int64_t c = -r; c <= r; c++)
    for (int64_t b = -r; b <= r; b++)
      for (int64_t a = -r; a <= r; a++)
        if (a * a + b * b + c * c <= r * r &&
            p->labels->u32[tl_grain_part_at(p, x + a, y + b, z + c)] != label)
          return false;
  return true;
}

/* Voxel of the stack nearest to a grid point; false: outside the stack. */
static bool voxel_of(const TlGrainPart *part, const TlGrainField *f, int64_t i, int64_t j,
                     int64_t k, int64_t *at) {
  const int64_t p[3] = {i, j, k};
  int64_t q[3];
  for (int a = 0; a < 3; a++) {
    q[a] = (int64_t)floor((double)(p[a] + f->corner[a]) * f->step[a] + 0.5);
    if (q[a] < 0 || q[a] >= part->whole[a]) return false;
  }
  *at = tl_grain_part_at(part, q[0], q[1], q[2]);
  return true;
}

static uint32_t label_at(const TlGrainPart *part, const TlGrainField *f, int64_t i, int64_t j,
                         int64_t k) {
  int64_t at;
  return voxel_of(part, f, i, j, k, &at) ? part->labels->u32[at] : 0;
}

/* Indicators of the grain and of all other grains; outside the stack is void. */
static void indicators(const TlGrainSource *source, const TlGrainField *f, float *own,
                       float *other) {
  int64_t at = 0;
  for (int64_t k = 0; k < f->nz; k++)
    for (int64_t j = 0; j < f->ny; j++)
      for (int64_t i = 0; i < f->nx; i++, at++) {
        uint32_t value = label_at(source->part, f, i, j, k);
        own[at] = value == source->label ? -1 : 1; /* a sign, until one piece is made of it */
        other[at] = value != 0 && value != source->label;
      }
}

/* The level of the smoothed indicator above which as many voxels lie as the label has. */
static double volume_level(const float *a, int64_t count, double want) {
  double low = 0.05, high = 0.95;
  for (int it = 0; it < 24; it++) {
    double middle = 0.5 * (low + high);
    int64_t above = 0;
    for (int64_t i = 0; i < count; i++) above += a[i] > middle;
    if ((double)above > want)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

/* By its radius in cells, in which the smoothing is done. */
static int middle_class(const TlGrainField *f, const TlLabelBox *box) {
  double cells = (double)box->voxels / (f->step[0] * f->step[1] * f->step[2]),
         radius = cbrt(cells * 0.75 / M_PI);
  int m = MIDDLES - 1;
  while (m > 0 && radius < middle_radius[m]) m--;
  return m;
}

/* Indicator of the neighbours that share this class of smoothing with the grain, which is that of
 * the smaller of both; how many voxels. */
static int64_t class_indicator(const TlGrainSource *source, const TlGrainField *f, int class,
                               float *other) {
  const TlLabelBox *boxes = source->boxes;
  int64_t at = 0, found = 0;
  int own = middle_class(f, &boxes[source->label]);
  for (int64_t k = 0; k < f->nz; k++)
    for (int64_t j = 0; j < f->ny; j++)
      for (int64_t i = 0; i < f->nx; i++, at++) {
        uint32_t value = label_at(source->part, f, i, j, k);
        other[at] = 0;
        if (value == 0 || value == source->label) continue;
        int theirs = middle_class(f, &boxes[value]);
        if ((theirs < own ? theirs : own) == class) other[at] = 1, found++;
      }
  return found;
}

/* middle = (distance to own - distance to other labels)/2, the distances read off the blurred
 * indicators; start holds the own one's. The surface to each neighbour is smoothed alike seen from
 * either grain. */
static TlStatus mid_surface(const TlGrainSource *source, TlGrainField *f, const int32_t n[3]) {
  int64_t count = (int64_t)n[0] * n[1] * n[2];
  float *own, *other = NULL;
  TL_TRY(TL_NEW(own, (size_t)count));
  TlStatus status = TL_NEW(other, (size_t)count);
  for (int64_t i = 0; i < count; i++) f->middle[i] = -1e3f;
  for (int m = 0; status == TL_OK && m < MIDDLES; m++) {
    double sigma = middle_sigma[m];
    if (class_indicator(source, f, m, other) == 0) continue;
    memcpy(own, f->start, (size_t)count * sizeof *own);
    status = tl_box_smooth(own, n, sigma);
    if (status == TL_OK) status = tl_box_smooth(other, n, sigma);
    for (int64_t i = 0; status == TL_OK && i < count; i++) {
      double gap = 0.5 * (blurred_distance(own[i], sigma) - blurred_distance(other[i], sigma));
      if (gap > f->middle[i]) f->middle[i] = (float)gap;
    }
  }
  tl_free(own);
  tl_free(other);
  return status;
}

/* start = smoothed label's distance, middle, shade. Two grains cannot both be inside their own
 * middle at one point: o of one is at least a of the other, so the sum of both is >= 0. */
static TlStatus label_fields(const TlGrainSource *source, double blur, TlGrainField *f,
                             TlDrlseReport *report) {
  int32_t n[3] = {f->nx, f->ny, f->nz};
  int64_t count = (int64_t)n[0] * n[1] * n[2];
  TL_TRY(TL_NEW(f->start, (size_t)count));
  TL_TRY(TL_NEW(f->middle, (size_t)count));
  TL_TRY(TL_NEW(f->shade, (size_t)count));
  indicators(source, f, f->start, f->shade);
  TlPhiGrid grid = {n[0], n[1], n[2], f->start};
  TL_TRY(tl_grid_one_piece(&grid, &report->dropped, &report->filled));
  for (int64_t i = 0; i < count; i++) {
    f->start[i] = f->start[i] < 0;
    f->label_volume += f->start[i];
  }
  TL_TRY(tl_box_smooth(f->shade, n, blur));
  for (int64_t i = 0; i < count; i++) f->shade[i] *= (float)shade_weight;
  TL_TRY(mid_surface(source, f, n));
  TL_TRY(tl_box_smooth(f->start, n, label_sigma));
  double level = volume_level(f->start, count, f->label_volume);
  for (int64_t i = 0; i < count; i++) f->start[i] = (float)(level - f->start[i]);
  TL_TRY(tl_grid_one_piece(&grid, NULL, NULL));
  return tl_reinit_quick(&grid);
}

/* Level and noise of the grain's own grey: median and scaled median deviation over its core, when
 * it has one. */
static TlStatus own_level(const TlGrainSource *source, const TlGreyLevels *levels,
                          TlDrlseReport *report) {
  const TlLabelBox *box = &source->boxes[source->label];
  const TlGrainPart *part = source->part;
  float *values;
  int64_t n = 0;
  TL_TRY(TL_NEW(values, (size_t)box->voxels));
  for (int64_t z = box->low[2]; z <= box->high[2]; z++)
    for (int64_t y = box->low[1]; y <= box->high[1]; y++)
      for (int64_t x = box->low[0]; x <= box->high[0]; x++) {
        int64_t at = tl_grain_part_at(part, x, y, z);
        if (part->labels->u32[at] == source->label && tl_grain_part_core(part, x, y, z))
          values[n++] = part->grey->f32[at];
      }
  report->own_level = n >= LEAST_CORE;
  report->grain_level = report->own_level ? tl_select(values, n, n / 2) : levels->grain_level;
  report->noise = levels->noise;
  if (report->own_level) {
    for (int64_t i = 0; i < n; i++) values[i] = fabsf(values[i] - (float)report->grain_level);
    report->noise = 1.4826 * tl_select(values, n, n / 2);
  }
  report->noise /= report->grain_level - levels->void_level;
  tl_free(values);
  return TL_OK;
}

/* The stack's grey at a grid point between voxels (only where voxels are no cubes). */
static double grey_between(const TlGrainPart *part, const double x[3]) {
  int64_t index[3][4];
  double w[3][4], sum = 0;
  for (int a = 0; a < 3; a++) {
    double base = floor(x[a]);
    tl_cubic_weights(x[a] - base, w[a]); /* one weight 1 on a voxel */
    for (int m = 0; m < 4; m++) index[a][m] = tl_grid_clamp((int64_t)base - 1 + m, part->whole[a]);
  }
  for (int c = 0; c < 4; c++)
    for (int b = 0; b < 4; b++)
      for (int a = 0; a < 4; a++) {
        double weight = w[0][a] * w[1][b] * w[2][c];
        if (weight != 0)
          sum += weight *
                 part->grey->f32[tl_grain_part_at(part, index[0][a], index[1][b], index[2][c])];
      }
  return sum;
}

static void scaled_grey(const TlGrainPart *part, const TlGrainField *f, double zero, double one) {
  int64_t at = 0, voxel;
  bool cubes = f->step[0] == 1 && f->step[1] == 1 && f->step[2] == 1;
  for (int64_t k = 0; k < f->nz; k++)
    for (int64_t j = 0; j < f->ny; j++)
      for (int64_t i = 0; i < f->nx; i++, at++) {
        const double x[3] = {(double)(i + f->corner[0]) * f->step[0],
                             (double)(j + f->corner[1]) * f->step[1],
                             (double)(k + f->corner[2]) * f->step[2]};
        double g = zero;
        if (voxel_of(part, f, i, j, k, &voxel))
          g = cubes ? part->grey->f32[voxel] : grey_between(part, x);
        f->u[at] = (float)((g - zero) / (one - zero));
      }
}

/* g = 1/(1 + (s |grad G u|)^2), Tan 2022 Eq. 2.44 on the scaled grey level. */
static TlStatus edge_field(TlGrainField *f, const TlDrlseOptions *o) {
  int32_t n[3] = {f->nx, f->ny, f->nz};
  int64_t stride[3] = {1, n[0], (int64_t)n[0] * n[1]}, count = stride[2] * n[2];
  float *soft;
  TL_TRY(TL_NEW(f->edge, (size_t)count));
  TL_TRY(TL_NEW(soft, (size_t)count));
  memcpy(soft, f->u, (size_t)count * sizeof *soft);
  TlStatus status = tl_box_smooth(soft, n, o->edge_sigma);
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    double g2 = 0;
    for (int a = 0; a < 3; a++) {
      int64_t p = i / stride[a] % n[a];
      double d = soft[p + 1 < n[a] ? i + stride[a] : i] - soft[p > 0 ? i - stride[a] : i];
      g2 += 0.25 * d * d;
    }
    f->edge[i] = (float)(1 / (1 + o->edge_scale * o->edge_scale * g2));
  }
  tl_free(soft);
  return status;
}

/* The grid: cubes of the least voxel edge over the label's box and a margin. */
static TlStatus lay_out(const TlGrainSource *source, TlGrainField *f) {
  const TlLabelBox *box = &source->boxes[source->label];
  int64_t n[3];
  const TlVolume *labels = source->part->labels;
  double edge = tl_grain_cell_m(labels);
  for (int a = 0; a < 3; a++) {
    f->step[a] = edge > 0 ? edge / labels->voxel_m[a] : 1;
    if (fabs(f->step[a] - 1) < 1e-3) f->step[a] = 1;
    int64_t low = (int64_t)floor((double)box->low[a] / f->step[a]);
    f->corner[a] = low - MARGIN;
    n[a] = (int64_t)ceil((double)box->high[a] / f->step[a]) - low + 1 + 2 * MARGIN;
    if (n[a] > 4000) return tl_fail(TL_EINPUT, "the label spans %lld voxels", (long long)n[a]);
  }
  f->nx = (int32_t)n[0];
  f->ny = (int32_t)n[1];
  f->nz = (int32_t)n[2];
  return TL_OK;
}

double tl_grain_cell_m(const TlVolume *stack) {
  const double *d = stack->voxel_m;
  return fmin(d[0], fmin(d[1], d[2]));
}

TlStatus tl_grain_field_make(const TlGrainSource *source, const TlGreyLevels *levels,
                             const TlDrlseOptions *options, TlGrainField *f,
                             TlDrlseReport *report) {
  *f = (TlGrainField){0};
  TL_TRY(lay_out(source, f));
  TL_TRY(label_fields(source, options->blur_sigma, f, report));
  f->radius = cbrt(f->label_volume * 0.75 / M_PI);
  if (options->method == TL_DRLSE_DISTANCE) return TL_OK;
  TL_TRY(own_level(source, levels, report));
  if (!(report->grain_level > levels->void_level))
    return tl_fail(TL_EINPUT, "its grey level %g is not above the void's %g", report->grain_level,
                   levels->void_level);
  TL_TRY(TL_NEW(f->u, (size_t)f->nx * (size_t)f->ny * (size_t)f->nz));
  scaled_grey(source->part, f, levels->void_level, report->grain_level);
  return edge_field(f, options);
}
