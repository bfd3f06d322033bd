/* The rule of `auto`. Sand differs from everything else in a scan by changing along z: padding is
 * constant, air is noise, a container's wall is the same at every height. So each (x, y) column is
 * judged by its autocovariance at a lag of one slice, to which white noise does not contribute.
 *   1. Level L = the 80th percentile over all columns. Corners whose median is above L/20: the
 *      specimen fills the stack.
 *   2. Columns above L/4 (3 x 3 mean) are specimen; a circle is fitted to where rows and columns
 *      of the image first meet them, outliers trimmed.
 *   3. The radius is where the mean over the circle falls through L/2.
 *   4. The disc must hold specimen (90% of its columns) and leave none outside (5%); otherwise the
 *      whole stack is taken and said: a wrong guess may never swallow grains.
 * Constant padding (image/roi.h) is known for what it is. Where there is some and no disc
 * fits, or a disc with padding in it, the region is all that is not padding.
 */
#include "image/roi.h"

#include "base/log.h"
#include "base/mem.h"
#include "num/quantile.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SLICES = 8, MOST_PAIRS = 160, LEAST_WIDTH = 24 };
static const double DISC_PADDING = 0.005; /* of its voxels */

/* ---- step 1: the map of columns ---- */

/* Sums over pairs of neighbouring slices, about a column's first value. */
typedef struct Column {
  double origin, a, b, ab;
} Column;

static TlStatus sum_pairs(const TlLayers *stack, TlVolume *pair, Column *column, int64_t *count) {
  int64_t pairs = stack->head.nz - 1, step = (pairs + MOST_PAIRS - 1) / MOST_PAIRS;
  *count = 0;
  for (int64_t z = 0; z < pairs; z += step, (*count)++) {
    TL_TRY(tl_layers_read(stack, z, 2, pair->data));
    for (int64_t i = 0; z == 0 && i < pair->nx * pair->ny; i++)
      column[i].origin = tl_volume_value(pair, i);
    int64_t n = pair->nx * pair->ny;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
      Column *c = &column[i];
      double p = tl_volume_value(pair, i) - c->origin, q = tl_volume_value(pair, n + i) - c->origin;
      c->a += p;
      c->b += q;
      c->ab += p * q;
    }
  }
  return TL_OK;
}

static TlStatus covariance_map(const TlLayers *stack, float **map) {
  const TlVolume *head = &stack->head;
  TlVolume pair;
  Column *column = NULL;
  float *out = NULL;
  int64_t slice = head->nx * head->ny, n = 0;
  TL_TRY(tl_volume_new(&pair, head->type, head->nx, head->ny, 2));
  TlStatus status = TL_NEW(column, (size_t)slice);
  if (status == TL_OK) status = TL_NEW(out, (size_t)slice);
  if (status == TL_OK) status = sum_pairs(stack, &pair, column, &n);
  for (int64_t i = 0; status == TL_OK && i < slice; i++) {
    const Column *c = &column[i];
    double covariance = c->ab / (double)n - c->a / (double)n * (c->b / (double)n);
    out[i] = isfinite(covariance) ? (float)covariance : 0;
  }
  tl_volume_free(&pair);
  tl_free(column);
  if (status != TL_OK) tl_free(out);
  *map = status == TL_OK ? out : NULL;
  return status;
}

static TlStatus percentile(const float *map, int64_t count, double part, float *value) {
  float *copy;
  TL_TRY(TL_NEW(copy, (size_t)count));
  memcpy(copy, map, (size_t)count * sizeof *copy);
  *value = tl_select(copy, count, (int64_t)(part * (double)(count - 1)));
  tl_free(copy);
  return TL_OK;
}

static TlStatus corner_medians(const float *map, int64_t nx, int64_t ny, float median[4]) {
  int64_t size = (nx < ny ? nx : ny) / 24 + 2, count = 0;
  float *block;
  TL_TRY(TL_NEW(block, (size_t)(size * size)));
  for (int c = 0; c < 4; c++) {
    int64_t x0 = c & 1 ? nx - size : 0, y0 = c & 2 ? ny - size : 0;
    count = 0;
    for (int64_t y = y0; y < y0 + size; y++)
      for (int64_t x = x0; x < x0 + size; x++) block[count++] = map[y * nx + x];
    median[c] = tl_select(block, count, count / 2);
  }
  tl_free(block);
  return TL_OK;
}

/* ---- step 2: circle ---- */

typedef struct Point {
  double x, y;
} Point;

static void specimen_columns(const float *map, int64_t nx, int64_t ny, float threshold,
                             uint8_t *in) {
  for (int64_t y = 0; y < ny; y++)
    for (int64_t x = 0; x < nx; x++) {
      float sum = 0;
      int n = 0;
      for (int64_t j = y > 0 ? y - 1 : 0; j <= y + 1 && j < ny; j++)
        for (int64_t i = x > 0 ? x - 1 : 0; i <= x + 1 && i < nx; i++, n++) sum += map[j * nx + i];
      in[y * nx + x] = sum > threshold * (float)n;
    }
}

/* First and last position of three specimen columns in a row along a line of the image. Those on
 * the stack's border are cuts, not the specimen's own edge. */
static int line_ends(const uint8_t *in, int64_t stride, int64_t n, double ends[2]) {
  int count = 0;
  for (int64_t i = 0; i + 2 < n; i++)
    if (in[i * stride] && in[(i + 1) * stride] && in[(i + 2) * stride]) {
      if (i > 0) ends[count++] = (double)i;
      break;
    }
  for (int64_t i = n - 1; i >= 2; i--)
    if (in[i * stride] && in[(i - 1) * stride] && in[(i - 2) * stride]) {
      if (i < n - 1) ends[count++] = (double)i;
      break;
    }
  return count;
}

static int64_t edge_points(const uint8_t *in, int64_t nx, int64_t ny, Point *points) {
  int64_t count = 0;
  double ends[2];
  for (int64_t y = 0; y < ny; y++)
    for (int k = line_ends(in + y * nx, 1, nx, ends); k > 0; k--)
      points[count++] = (Point){ends[k - 1], (double)y};
  for (int64_t x = 0; x < nx; x++)
    for (int k = line_ends(in + x, nx, ny, ends); k > 0; k--)
      points[count++] = (Point){(double)x, ends[k - 1]};
  return count;
}

/* Least squares x^2 + y^2 = 2 a x + 2 b y + c (Kasa 1976) over points with keep[i]; coordinates
 * about (ox, oy) for conditioning. */
static bool fit_circle(const Point *points, const bool *keep, int64_t count, Point o, TlRoi *roi) {
  double s[3][4] = {{0}};
  for (int64_t i = 0; i < count; i++) {
    if (!keep[i]) continue;
    double x = points[i].x - o.x, y = points[i].y - o.y, row[4] = {2 * x, 2 * y, 1, x * x + y * y};
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 4; b++) s[a][b] += row[a] * row[b];
  }
  for (int a = 0; a < 3; a++) {
    if (!(fabs(s[a][a]) > 1e-9)) return false;
    for (int r = 0; r < 3; r++) {
      double factor = r == a ? 0 : s[r][a] / s[a][a];
      for (int b = 0; b < 4; b++) s[r][b] -= factor * s[a][b];
    }
  }
  double a = s[0][3] / s[0][0], b = s[1][3] / s[1][1], c = s[2][3] / s[2][2];
  roi->x = o.x + a;
  roi->y = o.y + b;
  roi->r = sqrt(c + a * a + b * b);
  return isfinite(roi->r);
}

/* Fit, drop what lies further off than 1 + 2.5 median residuals, again. */
static TlStatus fit_trimmed(const Point *points, int64_t count, Point origin, TlRoi *roi,
                            bool *found) {
  bool *keep;
  float *residual = NULL;
  *found = false;
  TL_TRY(TL_NEW(keep, (size_t)count));
  TlStatus status = TL_NEW(residual, (size_t)count);
  for (int64_t i = 0; i < count; i++) keep[i] = true;
  for (int round = 0; status == TL_OK && round < 12; round++) {
    if (!(*found = fit_circle(points, keep, count, origin, roi))) break;
    for (int64_t i = 0; i < count; i++)
      residual[i] = (float)fabs(hypot(points[i].x - roi->x, points[i].y - roi->y) - roi->r);
    float limit = 1 + 2.5F * tl_select(residual, count, count / 2);
    for (int64_t i = 0; i < count; i++)
      keep[i] = fabs(hypot(points[i].x - roi->x, points[i].y - roi->y) - roi->r) <= limit;
  }
  tl_free(keep);
  tl_free(residual);
  return status;
}

/* ---- steps 3 and 4 ---- */

/* Outermost radius where the mean over the ring is above half, between bins by linear
 * interpolation; 0 when there is none. */
static TlStatus edge_radius(const float *map, int64_t nx, int64_t ny, float half, TlRoi *roi) {
  int64_t bins = (int64_t)(roi->r * 1.25) + 4;
  double *sum, *count = NULL;
  TL_TRY(TL_NEW(sum, (size_t)bins));
  TlStatus status = TL_NEW(count, (size_t)bins);
  for (int64_t i = 0; status == TL_OK && i < nx * ny; i++) {
    int64_t bin = (int64_t)hypot((double)(i % nx) - roi->x, (double)(i / nx) - roi->y);
    if (bin >= bins) continue;
    sum[bin] += map[i];
    count[bin] += 1;
  }
  double radius = 0;
  for (int64_t b = bins - 2; status == TL_OK && b >= 0 && radius <= 0; b--) {
    double here = count[b] > 0 ? sum[b] / count[b] : 0;
    double next = count[b + 1] > 0 ? sum[b + 1] / count[b + 1] : 0;
    if (here >= half) radius = (double)b + 0.5 + (here - half) / fmax(here - next, 1e-30);
  }
  roi->r = radius;
  tl_free(sum);
  tl_free(count);
  return status;
}

static bool disc_holds(const uint8_t *in, int64_t nx, int64_t ny, const TlRoi *roi) {
  double inside = 0, full = 0, outside = 0, stray = 0;
  for (int64_t i = 0; i < nx * ny; i++) {
    double d = hypot((double)(i % nx) - roi->x, (double)(i / nx) - roi->y);
    if (d < roi->r - 2) {
      inside++;
      full += in[i];
    } else if (d > roi->r + 2) {
      outside++;
      stray += in[i];
    }
  }
  return inside > 0 && full >= 0.9 * inside && stray <= 0.05 * outside && inside + outside > 0;
}

static TlStatus find_disc(const float *map, int64_t nx, int64_t ny, float level, TlRoi *roi,
                          bool *found) {
  uint8_t *in;
  Point *points = NULL;
  TL_TRY(TL_NEW(in, (size_t)(nx * ny)));
  TlStatus status = TL_NEW(points, (size_t)(2 * (nx + ny)));
  *found = false;
  if (status == TL_OK) {
    specimen_columns(map, nx, ny, level / 4, in);
    int64_t count = edge_points(in, nx, ny, points);
    Point origin = {0.5 * (double)(nx - 1), 0.5 * (double)(ny - 1)};
    if (count >= 16) status = fit_trimmed(points, count, origin, roi, found);
  }
  if (status == TL_OK && *found) status = edge_radius(map, nx, ny, level / 2, roi);
  *found = status == TL_OK && *found && roi->r >= LEAST_WIDTH / 3 && disc_holds(in, nx, ny, roi);
  tl_free(in);
  tl_free(points);
  return status;
}

/* Is so much of the disc padding that it is no disc? */
static bool has_padding(const TlRoi *disc, const TlVolume *v, const TlRoiPadding *padding) {
  double inside = 0, in_padding = 0;
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    if (!tl_roi_inside(disc, i % v->nx, i / v->nx % v->ny, 0)) continue;
    inside++;
    in_padding += !(padding->inside[i >> 3] >> (i & 7) & 1);
  }
  return in_padding > DISC_PADDING * inside;
}

static TlStatus settle(const TlLayers *stack, const float *map, TlRoi *roi) {
  const TlVolume *v = &stack->head;
  TlRoi disc = *roi;
  TlRoiPadding padding;
  bool found = false;
  float level, corner[4];
  TL_TRY(percentile(map, v->nx * v->ny, 0.8, &level));
  TL_TRY(corner_medians(map, v->nx, v->ny, corner));
  bool quiet = true; /* all corners hold no specimen */
  for (int c = 0; c < 4; c++) quiet = quiet && corner[c] < level / 20;
  if (quiet) TL_TRY(find_disc(map, v->nx, v->ny, level, &disc, &found));
  disc.kind = TL_ROI_CYLINDER;
  TL_TRY(tl_roi_find_padding(stack, &padding));
  if (padding.inside && !(found && !has_padding(&disc, v, &padding))) {
    roi->kind = TL_ROI_MASK;
    roi->bits = padding.inside; /* handed over */
    roi->padding = padding.voxels;
    roi->grey = padding.grey;
    return TL_OK;
  }
  tl_free(padding.inside);
  if (found) *roi = disc;
  if (quiet && !found)
    tl_log_warn("the corners of the slices hold no specimen, but no disc fits it and they are not "
                "constant padding: the whole stack is used; give --roi=cylinder:X,Y,R or a mask if "
                "that is wrong");
  return TL_OK;
}

/* False: it misses every voxel, so that the product would be empty. */
static bool take_cylinder(const double cylinder[3], const TlVolume *v, TlRoi *roi) {
  roi->kind = TL_ROI_CYLINDER;
  roi->x = cylinder[0];
  roi->y = cylinder[1];
  roi->r = cylinder[2];
  double x = fmin(fmax(rint(roi->x), 0), (double)(v->nx - 1));
  double y = fmin(fmax(rint(roi->y), 0), (double)(v->ny - 1));
  return tl_roi_inside(roi, (int64_t)x, (int64_t)y, 0);
}

static TlStatus find_roi(const TlLayers *stack, TlRoi *roi) {
  const TlVolume *v = &stack->head;
  if (v->cylinder[2] > 0) {
    if (take_cylinder(v->cylinder, v, roi)) return TL_OK;
    return tl_fail(TL_EINPUT,
                   "the cylinder that the stack records (x %.1f y %.1f r %.1f voxels) lies outside "
                   "its slices of %lld x %lld voxels, as after a crop beside the specimen; give "
                   "--roi, none for the whole stack",
                   roi->x, roi->y, roi->r, (long long)v->nx, (long long)v->ny);
  }
  if (v->nz < LEAST_SLICES || v->nx < LEAST_WIDTH || v->ny < LEAST_WIDTH) {
    tl_log_info("too small a stack to look for a specimen's outline: the whole stack is used");
    return TL_OK;
  }
  float *map;
  TL_TRY(covariance_map(stack, &map));
  TlStatus status = settle(stack, map, roi);
  tl_free(map);
  return status;
}

/* ---- the door ---- */

static TlStatus parse_cylinder(const char *text, double value[3]) {
  const char *at = text;
  for (int k = 0; k < 3; k++) {
    char *end;
    value[k] = strtod(at, &end);
    if (end == at || !isfinite(value[k]) || *end != (k < 2 ? ',' : 0))
      return tl_fail(TL_EUSAGE, "--roi: 'cylinder:%s' is not cylinder:X,Y,R in voxels", text);
    at = end + 1;
  }
  if (value[2] > 0) return TL_OK;
  return tl_fail(TL_EUSAGE, "--roi: the cylinder's radius must be above 0");
}

TlStatus tl_roi_parse(const char *text, const TlLayers *stack, TlRoi *roi, int *is_file) {
  *roi = (TlRoi){.nx = stack->head.nx, .ny = stack->head.ny};
  *is_file = 0;
  if (strcmp(text, "none") == 0) return TL_OK;
  if (strcmp(text, "auto") == 0) return find_roi(stack, roi);
  if (strncmp(text, "cylinder:", 9) == 0) {
    const TlVolume *v = &stack->head;
    double cylinder[3];
    TL_TRY(parse_cylinder(text + 9, cylinder));
    if (take_cylinder(cylinder, v, roi)) return TL_OK;
    return tl_fail(TL_EUSAGE, "--roi: the cylinder lies outside the slices of %lld x %lld voxels",
                   (long long)v->nx, (long long)v->ny);
  }
  *is_file = 1;
  return TL_OK;
}

static TlStatus read_bits(const TlLayers *mask, uint8_t *bits, int64_t *inside) {
  enum { AT_ONCE = 16 };
  const TlVolume *head = &mask->head;
  TlVolume part;
  TlStatus status = TL_OK;
  TL_TRY(tl_volume_new(&part, head->type, head->nx, head->ny, AT_ONCE));
  *inside = 0;
  for (int64_t z = 0; z < head->nz && status == TL_OK; z += AT_ONCE) {
    part.nz = head->nz - z < AT_ONCE ? head->nz - z : AT_ONCE;
    status = tl_layers_read(mask, z, part.nz, part.data);
    for (int64_t k = 0; status == TL_OK && k < tl_volume_count(&part); k++) {
      int64_t i = z * head->nx * head->ny + k, in = tl_volume_value(&part, k) > 0;
      bits[i >> 3] |= (uint8_t)(in << (i & 7));
      *inside += in;
    }
  }
  tl_volume_free(&part);
  return status;
}

TlStatus tl_roi_from_mask(const TlLayers *layers, const TlVolume *volume, TlRoi *roi) {
  const TlVolume *mask = &layers->head;
  int64_t inside = 0;
  *roi = (TlRoi){.nx = volume->nx, .ny = volume->ny};
  if (mask->nx != volume->nx || mask->ny != volume->ny || mask->nz != volume->nz)
    return tl_fail(TL_EINPUT,
                   "the region's mask has %lld x %lld x %lld voxels (x, y, z), the stack %lld x "
                   "%lld x %lld: they must be equal",
                   (long long)mask->nx, (long long)mask->ny, (long long)mask->nz,
                   (long long)volume->nx, (long long)volume->ny, (long long)volume->nz);
  TL_TRY(TL_NEW(roi->bits, (size_t)(tl_volume_count(mask) / 8 + 1)));
  TlStatus status = read_bits(layers, roi->bits, &inside);
  if (status == TL_OK && inside == 0)
    status = tl_fail(TL_EINPUT, "the region's mask is 0 everywhere: nothing to work on");
  if (status == TL_OK)
    roi->kind = TL_ROI_MASK;
  else
    tl_roi_free(roi);
  return status;
}

void tl_roi_free(TlRoi *roi) {
  tl_free(roi->bits);
  *roi = (TlRoi){0};
}

void tl_roi_describe(const TlRoi *roi, char *text, size_t size) {
  if (roi->kind == TL_ROI_ALL)
    snprintf(text, size, "whole stack");
  else if (roi->kind == TL_ROI_MASK && roi->padding > 0)
    snprintf(text, size, "all but %lld constant voxels of grey %g at the border",
             (long long)roi->padding, roi->grey);
  else if (roi->kind == TL_ROI_MASK)
    snprintf(text, size, "mask stack");
  else
    snprintf(text, size, "cylinder x %.1f y %.1f r %.1f voxels", roi->x, roi->y, roi->r);
}
