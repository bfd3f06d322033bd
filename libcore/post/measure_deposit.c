#include "post/measure.h"

#include "base/mem.h"
#include "num/quantile.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_CELLS = 1 << 26 };

/* ---- the grid over the grains ---- */

static double default_cell(const TlMeasure *m) {
  double *diameter, cell = 0;
  if (TL_NEW(diameter, (size_t)m->grain_count) != TL_OK) return -1;
  for (int64_t i = 0; i < m->grain_count; i++) diameter[i] = 2 * m->grain[i].radius_m;
  cell = 2 * tl_quantile(diameter, m->grain_count, 0.5);
  tl_free(diameter);
  return cell;
}

/* Cells at whole multiples of cell_m, so that two frames of one run share their borders. */
static TlStatus lay_grid(const TlScene *scene, const TlFrame *frame, TlDeposit *d) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    double reach = row->scale * tl_scene_avatar(scene, row->avatar_id)->radius_m;
    const double at[2] = {row->position_m.x, row->position_m.y};
    for (int c = 0; c < 2; c++) {
      low[c] = fmin(low[c], at[c] - reach);
      high[c] = fmax(high[c], at[c] + reach);
    }
  }
  double first[2], count[2];
  for (int c = 0; c < 2; c++) {
    first[c] = floor(low[c] / d->cell_m);
    count[c] = floor(high[c] / d->cell_m) - first[c] + 1;
  }
  if (!(count[0] * count[1] <= MOST_CELLS))
    return tl_fail(TL_EUSAGE,
                   "the deposit would take %.0f x %.0f cells of %g m; give --cell-m=%g or "
                   "more",
                   count[0], count[1], d->cell_m,
                   d->cell_m * sqrt(count[0] * count[1] / MOST_CELLS));
  d->nx = (int64_t)count[0];
  d->ny = (int64_t)count[1];
  d->x0_m = (first[0] + 0.5) * d->cell_m;
  d->y0_m = (first[1] + 0.5) * d->cell_m;
  return TL_OK;
}

static int64_t cell_at(const TlDeposit *d, double x, double y) {
  int64_t i = (int64_t)floor((x - d->x0_m) / d->cell_m + 0.5);
  int64_t j = (int64_t)floor((y - d->y0_m) / d->cell_m + 0.5);
  i = i < 0 ? 0 : i >= d->nx ? d->nx - 1 : i;
  j = j < 0 ? 0 : j >= d->ny ? d->ny - 1 : j;
  return j * d->nx + i;
}

/* The grain's volume goes to the cells of its nodes in proportion to their areas. */
static void add_grain(const TlScene *scene, const TlBodyRow *row, TlDeposit *d) {
  const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
  TlMat3 r = tl_quat_matrix(row->rotation);
  double s = row->scale, total = 0, volume = a->volume_m3 * s * s * s;
  for (int32_t n = 0; n < a->node_count; n++) total += a->node_area_m2[n];
  for (int32_t n = 0; n < a->node_count; n++) {
    TlVec3 node = tl_vec3(a->node_m[3 * n], a->node_m[3 * n + 1], a->node_m[3 * n + 2]);
    TlVec3 p = tl_axpy(row->position_m, s, tl_mat_vec(r, node));
    int64_t c = cell_at(d, p.x, p.y);
    if (isnan(d->top_m[c]) || p.z > d->top_m[c]) d->top_m[c] = p.z;
    if (total > 0) d->solid_m[c] += volume * a->node_area_m2[n] / total / (d->cell_m * d->cell_m);
  }
  d->volume_m3 += volume;
}

static TlStatus fill_grid(const TlScene *scene, const TlFrame *frame, TlDeposit *d) {
  int64_t cells = d->nx * d->ny;
  TL_TRY(TL_NEW(d->top_m, (size_t)cells));
  TL_TRY(TL_NEW(d->ground_m, (size_t)cells));
  TL_TRY(TL_NEW(d->solid_m, (size_t)cells));
  for (int64_t c = 0; c < cells; c++) {
    double x = d->x0_m + d->cell_m * (double)(c % d->nx);
    double y = d->y0_m + d->cell_m * (double)(c / d->nx);
    d->top_m[c] = NAN;
    if (!tl_measure_ground(scene, x, y, &d->ground_m[c])) d->ground_m[c] = NAN;
  }
  for (int64_t i = 0; i < frame->count; i++) add_grain(scene, &frame->rows[i], d);
  return TL_OK;
}

/* ---- statistics ---- */

static bool covered(const TlDeposit *d, int64_t c) {
  return !isnan(d->top_m[c]) && !isnan(d->ground_m[c]);
}

static TlVec3 cell_top(const TlDeposit *d, int64_t c) {
  return tl_vec3(d->x0_m + d->cell_m * (double)(c % d->nx),
                 d->y0_m + d->cell_m * (double)(c / d->nx), d->top_m[c]);
}

static TlStatus thickness(const TlMeasure *m, TlDeposit *d) {
  int64_t n = 0, cells = d->nx * d->ny;
  double *value, sum = 0, low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  TlVec3 e = m->travel_direction, across = tl_cross(m->up, e);
  TL_TRY(TL_NEW(value, (size_t)cells));
  for (int64_t c = 0; c < cells; c++) {
    if (!covered(d, c)) continue;
    value[n] = d->top_m[c] - d->ground_m[c];
    sum += value[n++];
    TlVec3 p = cell_top(d, c);
    const double at[2] = {tl_dot(p, e), tl_dot(p, across)};
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], at[k]);
      high[k] = fmax(high[k], at[k]);
    }
  }
  d->area_m2 = (double)n * d->cell_m * d->cell_m;
  d->length_m = n ? high[0] - low[0] + d->cell_m : 0;
  d->breadth_m = n ? high[1] - low[1] + d->cell_m : 0;
  d->mean_thickness_m = n ? sum / (double)n : NAN;
  d->median_thickness_m = tl_quantile(value, n, 0.5);
  d->p95_thickness_m = tl_quantile(value, n, 0.95);
  d->max_thickness_m = tl_quantile(value, n, 1);
  tl_free(value);
  return TL_OK;
}

typedef struct Weighted {
  double at, mass;
} Weighted;

static int by_distance(const void *one, const void *two) {
  double a = ((const Weighted *)one)->at, b = ((const Weighted *)two)->at;
  return (a > b) - (a < b);
}

static TlStatus spread(const TlScene *scene, const TlFrame *frame, const TlMeasure *m,
                       TlDeposit *d) {
  TlVec3 centre = m->deposit_centre_m;
  Weighted *grain;
  double *top, total = 0, sum = 0;
  int64_t n = 0;
  TL_TRY(TL_NEW(grain, (size_t)frame->count));
  if (TL_NEW(top, (size_t)frame->count) != TL_OK) {
    tl_free(grain);
    return TL_ENOMEM;
  }
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    TlVec3 r = tl_sub(row->position_m, centre);
    grain[i].at = hypot(r.x, r.y);
    grain[i].mass = tl_scene_avatar(scene, row->avatar_id)->volume_m3 * pow(row->scale, 3);
    total += grain[i].mass;
    if (!isnan(m->grain[i].top_m)) top[n++] = m->grain[i].top_m;
  }
  qsort(grain, (size_t)frame->count, sizeof *grain, by_distance);
  for (int64_t i = 0; i < frame->count && sum < 0.95 * total; i++) {
    sum += grain[i].mass;
    d->radius_95_m = grain[i].at;
  }
  d->height_p99_m = tl_quantile(top, n, 0.99);
  tl_free(grain);
  tl_free(top);
  return TL_OK;
}

/* ---- surface and heap ---- */

/* Total least squares plane: its normal is the covariance's least eigenvector. */
static double plane_slope_deg(const TlDeposit *d) {
  int64_t n = 0, cells = d->nx * d->ny;
  TlVec3 mean = {0, 0, 0};
  for (int64_t c = 0; c < cells; c++)
    if (covered(d, c)) mean = tl_add(mean, cell_top(d, c)), n++;
  if (n < 3) return NAN;
  mean = tl_scale(1 / (double)n, mean);
  TlSym3 s = {0};
  for (int64_t c = 0; c < cells; c++) {
    if (!covered(d, c)) continue;
    TlVec3 p = tl_sub(cell_top(d, c), mean);
    s.xx += p.x * p.x, s.yy += p.y * p.y, s.zz += p.z * p.z;
    s.xy += p.x * p.y, s.xz += p.x * p.z, s.yz += p.y * p.z;
  }
  double value[3];
  TlMat3 vector;
  tl_sym_eigen(s, value, &vector);
  if (!(value[1] > 1e-12 * value[2])) return NAN; /* cells in one line have no plane */
  return acos(fmin(1, fabs(vector.m[2][0]))) * TL_DEG;
}

/* Cone z = peak - slope*r around the mass centre, by least squares over the covered cells whose top
 * lies between 20% and 80% of the heap's greatest thickness: neither the rounded peak nor the loose
 * toe. Height above the ground, so a heap on a gentle slope is not misread. A cone that explains
 * less than half of the variance is no heap, and gives no angle. */
static void fit_cone(const TlMeasure *m, TlDeposit *d) {
  TlVec3 centre = m->deposit_centre_m;
  double n = 0, r1 = 0, z1 = 0, rr = 0, rz = 0, zz = 0;
  for (int64_t c = 0; c < d->nx * d->ny; c++) {
    if (!covered(d, c)) continue;
    TlVec3 p = cell_top(d, c);
    double z = d->top_m[c] - d->ground_m[c], r = hypot(p.x - centre.x, p.y - centre.y);
    if (z < 0.2 * d->max_thickness_m || z > 0.8 * d->max_thickness_m) continue;
    n += 1, r1 += r, z1 += z, rr += r * r, rz += r * z, zz += z * z;
  }
  d->repose_cells = (int64_t)n;
  d->repose_deg = NAN;
  if (n < 8) return;
  double var_r = rr - r1 * r1 / n, var_z = zz - z1 * z1 / n, cov = rz - r1 * z1 / n;
  if (!(var_r > 0) || cov >= 0 || cov * cov < 0.5 * var_r * var_z) return;
  d->repose_deg = atan(-cov / var_r) * TL_DEG;
}

TlStatus tl_measure_deposit(const TlScene *scene, const TlFrame *frame, const TlMeasure *m,
                            double cell_m, TlDeposit *d) {
  *d = (TlDeposit){.cell_m = cell_m > 0 ? cell_m : default_cell(m)};
  if (d->cell_m < 0) return TL_ENOMEM;
  TL_TRY(lay_grid(scene, frame, d));
  TL_TRY(fill_grid(scene, frame, d));
  TL_TRY(thickness(m, d));
  TL_TRY(spread(scene, frame, m, d));
  d->surface_deg = plane_slope_deg(d);
  fit_cone(m, d);
  return TL_OK;
}
