#include "shape/drlse_box.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { MARGIN = 8, CORE = 2, LEAST_CORE = 30 };
static const double label_sigma = 1;  /* smoothing of label and mid-surface, voxels */
static const double scan_sigma = 0.8; /* blur of a scan's edges, voxels (ALGORITHMS) */
/* Between close grains the blur of each lifts the grey level at the other's surface, so the half
 * level lies too far out (0.8% of the volume at 0.6 solid). The neighbours' blurred labels are
 * taken off; not in full, since the same blur has made labels too large: with weight 1 the error
 * is -0.4% from perfect labels and -0.9% from thresholded ones, with 0.55 both are within 0.2%. */
static const double shade_weight = 0.55;

/* ---- small helpers ---- */

float tl_median(float *v, int64_t n) {
  int64_t low = 0, high = n - 1, want = n / 2;
  while (low < high) { /* Hoare's selection */
    float pivot = v[low + (high - low) / 2];
    int64_t i = low, j = high;
    while (i <= j) {
      while (v[i] < pivot) i++;
      while (v[j] > pivot) j--;
      if (i > j) break;
      float swap = v[i];
      v[i++] = v[j];
      v[j--] = swap;
    }
    if (want <= j)
      high = j;
    else if (want >= i)
      low = i;
    else
      break;
  }
  return v[want];
}

/* Gaussian along one axis (stride, length n), edges repeated. */
static void smooth_line(const float *in, float *out, int64_t n, int64_t stride, const double *w,
                        int radius) {
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
    for (int m = -radius; m <= radius; m++) {
      int64_t p = i + m < 0 ? 0 : i + m >= n ? n - 1 : i + m;
      sum += w[m < 0 ? -m : m] * in[p * stride];
    }
    out[i * stride] = (float)sum;
  }
}

static TlStatus smooth(float *f, const int32_t n[3], double sigma) {
  double w[8], total = 1;
  int radius = (int)ceil(3.5 * sigma);
  if (radius > 7) radius = 7;
  w[0] = 1;
  for (int m = 1; m <= radius; m++) total += 2 * (w[m] = exp(-0.5 * m * m / (sigma * sigma)));
  for (int m = 0; m <= radius; m++) w[m] /= total;
  int64_t stride[3] = {1, n[0], (int64_t)n[0] * n[1]}, count = stride[2] * n[2];
  float *other;
  TL_TRY(TL_NEW(other, (size_t)count));
  float *in = f, *out = other;
  for (int a = 0; a < 3; a++) {
    int b = (a + 1) % 3, c = (a + 2) % 3;
    for (int64_t p = 0; p < n[b]; p++)
      for (int64_t q = 0; q < n[c]; q++) {
        int64_t at = p * stride[b] + q * stride[c];
        smooth_line(in + at, out + at, n[a], stride[a], w, radius);
      }
    float *swap = in;
    in = out;
    out = swap;
  }
  memcpy(f, other, (size_t)count * sizeof *f); /* three axes: the last went into other */
  tl_free(other);
  return TL_OK;
}

/* erf^-1, Winitzki's approximation (2e-3 relative): it only scales a constraint. */
static double inverse_erf(double v) {
  double l = log(fmax(1e-12, 1 - v * v)), a = 0.147, t = 2 / (3.14159265358979323846 * a) + l / 2;
  return copysign(sqrt(fmax(0, sqrt(t * t - l / a) - t)), v);
}

/* How far from a plane edge the blurred indicator has this value; outside positive. */
static double blurred_distance(double value) {
  return -label_sigma * 1.41421356 *
         inverse_erf(2 * (value < 1e-4     ? 1e-4
                          : value > 0.9999 ? 0.9999
                                           : value) -
                     1);
}

/* ---- boxes and grey levels of the whole stack ---- */

static void grow_box(TlLabelBox *box, int64_t x, int64_t y, int64_t z) {
  int64_t p[3] = {x, y, z};
  for (int a = 0; a < 3; a++) {
    if (box->voxels == 0 || p[a] < box->low[a]) box->low[a] = p[a];
    if (box->voxels == 0 || p[a] > box->high[a]) box->high[a] = p[a];
  }
  box->voxels++;
}

TlStatus tl_label_boxes(const TlVolume *labels, TlLabelBox **boxes, uint32_t *most) {
  int64_t count = tl_volume_count(labels);
  uint32_t last = 0;
  for (int64_t i = 0; i < count; i++)
    if (labels->u32[i] > last) last = labels->u32[i];
  if (last > (1u << 30))
    return tl_fail(TL_EINPUT, "label %u is implausibly large; is this a stack of labels?", last);
  TL_TRY(TL_NEW(*boxes, (size_t)last + 1));
  int64_t at = 0;
  for (int64_t z = 0; z < labels->nz; z++)
    for (int64_t y = 0; y < labels->ny; y++)
      for (int64_t x = 0; x < labels->nx; x++, at++)
        if (labels->u32[at]) grow_box(&(*boxes)[labels->u32[at]], x, y, z);
  *most = last;
  return TL_OK;
}

/* The whole ball of radius 2 around the voxel carries value. */
static bool is_core(const TlVolume *l, int64_t x, int64_t y, int64_t z, uint32_t value) {
  if (x < CORE || y < CORE || z < CORE || x + CORE >= l->nx || y + CORE >= l->ny ||
      z + CORE >= l->nz)
    return false;
  for (int64_t c = -CORE; c <= CORE; c++)
    for (int64_t b = -CORE; b <= CORE; b++)
      for (int64_t a = -CORE; a <= CORE; a++)
        if (a * a + b * b + c * c <= CORE * CORE &&
            l->u32[tl_volume_at(l, x + a, y + b, z + c)] != value)
          return false;
  return true;
}

/* Some grain within 6 voxels along an axis: keeps the air outside the specimen out of the median.
 */
static bool near_grain(const TlVolume *l, int64_t x, int64_t y, int64_t z) {
  for (int64_t m = CORE + 1; m <= 6; m++) {
    if (x >= m && l->u32[tl_volume_at(l, x - m, y, z)]) return true;
    if (x + m < l->nx && l->u32[tl_volume_at(l, x + m, y, z)]) return true;
    if (y >= m && l->u32[tl_volume_at(l, x, y - m, z)]) return true;
    if (y + m < l->ny && l->u32[tl_volume_at(l, x, y + m, z)]) return true;
    if (z >= m && l->u32[tl_volume_at(l, x, y, z - m)]) return true;
    if (z + m < l->nz && l->u32[tl_volume_at(l, x, y, z + m)]) return true;
  }
  return false;
}

typedef struct Sampler {
  float *value[2]; /* void, grain */
  int64_t count[2];
} Sampler;

/* Every stride-th voxel, so that about 4e6 are looked at whatever the stack's size. */
static void sample_cores(const TlVolume *grey, const TlVolume *l, int64_t stride, Sampler *s) {
  int64_t count = tl_volume_count(l);
  for (int64_t i = 0; i < count; i += stride) {
    int64_t x = i % l->nx, y = i / l->nx % l->ny, z = i / l->nx / l->ny;
    uint32_t label = l->u32[i];
    if (!is_core(l, x, y, z, label) || (!label && !near_grain(l, x, y, z))) continue;
    int phase = label != 0;
    s->value[phase][s->count[phase]++] = grey->f32[i];
  }
}

TlStatus tl_grey_levels(const TlVolume *grey, const TlVolume *labels, TlGreyLevels *levels) {
  int64_t count = tl_volume_count(labels), stride = count / 4000000 + 1;
  Sampler s = {0};
  TlStatus status = TL_NEW(s.value[0], (size_t)(count / stride + 1));
  if (status == TL_OK) status = TL_NEW(s.value[1], (size_t)(count / stride + 1));
  if (status == TL_OK) {
    sample_cores(grey, labels, stride, &s);
    if (s.count[0] < 10 || s.count[1] < 10)
      status = tl_fail(TL_EINPUT,
                       "%s is nowhere 5 voxels thick, so its grey level cannot be measured; use "
                       "--method=distance",
                       s.count[0] < 10 ? "the void" : "no grain");
  }
  if (status == TL_OK) {
    levels->void_level = tl_median(s.value[0], s.count[0]);
    levels->grain_level = tl_median(s.value[1], s.count[1]);
    if (!(levels->grain_level > levels->void_level))
      status = tl_fail(TL_EINPUT,
                       "the grains' grey level (%g) is not above the void's (%g): do labels and "
                       "grey stack belong together?",
                       levels->grain_level, levels->void_level);
  }
  tl_free(s.value[0]);
  tl_free(s.value[1]);
  return status;
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

/* Indicators of the grain and of all other grains; outside the stack is void. */
static void indicators(const TlVolume *l, uint32_t label, const TlGrainField *f, float *own,
                       float *other) {
  int64_t at = 0;
  for (int64_t k = 0; k < f->nz; k++)
    for (int64_t j = 0; j < f->ny; j++)
      for (int64_t i = 0; i < f->nx; i++, at++) {
        int64_t x = i + f->corner[0], y = j + f->corner[1], z = k + f->corner[2];
        bool in = x >= 0 && y >= 0 && z >= 0 && x < l->nx && y < l->ny && z < l->nz;
        uint32_t value = in ? l->u32[tl_volume_at(l, x, y, z)] : 0;
        own[at] = value == label ? -1 : 1; /* a sign, until one piece is made of it */
        other[at] = value != 0 && value != label;
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

/* start = smoothed label's distance, middle = (distance to own - distance to other labels)/2, the
 * distances read off the blurred indicators a (own) and o (other). Two grains cannot both be inside
 * its own middle at one point: o of one is at least a of the other, so the sum of both is >= 0. */
static TlStatus label_fields(const TlVolume *labels, uint32_t label, bool shade, TlGrainField *f,
                             TlDrlseReport *report) {
  int32_t n[3] = {f->nx, f->ny, f->nz};
  int64_t count = (int64_t)n[0] * n[1] * n[2];
  TL_TRY(TL_NEW(f->start, (size_t)count));
  TL_TRY(TL_NEW(f->middle, (size_t)count));
  indicators(labels, label, f, f->start, f->middle);
  TlPhiGrid grid = {n[0], n[1], n[2], f->start};
  TL_TRY(tl_grid_one_piece(&grid, &report->dropped, &report->filled));
  for (int64_t i = 0; i < count; i++) {
    f->start[i] = f->start[i] < 0;
    f->label_volume += f->start[i];
  }
  if (shade) {
    TL_TRY(TL_NEW(f->shade, (size_t)count));
    memcpy(f->shade, f->middle, (size_t)count * sizeof *f->shade);
    TL_TRY(smooth(f->shade, n, scan_sigma));
    for (int64_t i = 0; i < count; i++) f->shade[i] *= (float)shade_weight;
  }
  TL_TRY(smooth(f->start, n, label_sigma));
  TL_TRY(smooth(f->middle, n, label_sigma));
  double level = volume_level(f->start, count, f->label_volume);
  for (int64_t i = 0; i < count; i++) {
    double own = f->start[i], other = f->middle[i];
    f->middle[i] = (float)(0.5 * (blurred_distance(own) - blurred_distance(other)));
    f->start[i] = (float)(level - own);
  }
  TL_TRY(tl_grid_one_piece(&grid, NULL, NULL));
  return tl_reinit_quick(&grid);
}

/* This grain's own grey level: the median over its core, when it has one. */
static TlStatus own_level(const TlVolume *grey, const TlVolume *labels, uint32_t label,
                          const TlLabelBox *box, double global, TlDrlseReport *report) {
  float *values;
  int64_t n = 0;
  TL_TRY(TL_NEW(values, (size_t)box->voxels));
  for (int64_t z = box->low[2]; z <= box->high[2]; z++)
    for (int64_t y = box->low[1]; y <= box->high[1]; y++)
      for (int64_t x = box->low[0]; x <= box->high[0]; x++) {
        int64_t at = tl_volume_at(labels, x, y, z);
        if (labels->u32[at] == label && is_core(labels, x, y, z, label))
          values[n++] = grey->f32[at];
      }
  report->own_level = n >= LEAST_CORE;
  report->grain_level = report->own_level ? tl_median(values, n) : global;
  tl_free(values);
  return TL_OK;
}

static void scaled_grey(const TlVolume *grey, const TlGrainField *f, double zero, double one) {
  int64_t at = 0;
  for (int64_t k = 0; k < f->nz; k++)
    for (int64_t j = 0; j < f->ny; j++)
      for (int64_t i = 0; i < f->nx; i++, at++) {
        int64_t x = i + f->corner[0], y = j + f->corner[1], z = k + f->corner[2];
        bool in = x >= 0 && y >= 0 && z >= 0 && x < grey->nx && y < grey->ny && z < grey->nz;
        double g = in ? grey->f32[tl_volume_at(grey, x, y, z)] : zero;
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
  TlStatus status = smooth(soft, n, o->edge_sigma);
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

TlStatus tl_grain_field_make(const TlVolume *grey, const TlVolume *labels, uint32_t label,
                             const TlLabelBox *box, const TlGreyLevels *levels,
                             const TlDrlseOptions *options, TlGrainField *f,
                             TlDrlseReport *report) {
  int64_t n[3];
  *f = (TlGrainField){0};
  for (int a = 0; a < 3; a++) {
    f->corner[a] = box->low[a] - MARGIN;
    n[a] = box->high[a] - box->low[a] + 1 + 2 * MARGIN;
    if (n[a] > 4000) return tl_fail(TL_EINPUT, "the label spans %lld voxels", (long long)n[a]);
  }
  f->nx = (int32_t)n[0];
  f->ny = (int32_t)n[1];
  f->nz = (int32_t)n[2];
  TL_TRY(label_fields(labels, label, options->method != TL_DRLSE_DISTANCE, f, report));
  f->radius = cbrt(f->label_volume * 0.75 / 3.14159265358979323846);
  if (options->method == TL_DRLSE_DISTANCE) return TL_OK;
  TL_TRY(own_level(grey, labels, label, box, levels->grain_level, report));
  if (!(report->grain_level > levels->void_level))
    return tl_fail(TL_EINPUT, "its grey level %g is not above the void's %g", report->grain_level,
                   levels->void_level);
  TL_TRY(TL_NEW(f->u, (size_t)(n[0] * n[1] * n[2])));
  scaled_grey(grey, f, levels->void_level, report->grain_level);
  return edge_field(f, options);
}
