#include "shape/drive.h"

#include <math.h>

static double until(const TlDrive *d) {
  return d->until_s > 0 ? d->until_s : INFINITY;
}

bool tl_drive_there(const TlDrive *d, double t) {
  return t >= d->from_s && t < until(d);
}

static TlVec3 table_displacement(const TlDrive *d, double t) {
  int64_t low = 0, high = d->rows - 1;
  if (d->rows == 0) return (TlVec3){0, 0, 0};
  if (t <= d->time_s[low]) return d->displacement_m[low];
  if (t >= d->time_s[high]) return d->displacement_m[high];
  while (high - low > 1) {
    int64_t mid = low + (high - low) / 2;
    *(d->time_s[mid] <= t ? &low : &high) = mid;
  }
  double fraction = (t - d->time_s[low]) / (d->time_s[high] - d->time_s[low]);
  return tl_axpy(d->displacement_m[low], fraction,
                 tl_sub(d->displacement_m[high], d->displacement_m[low]));
}

/* Time for which velocity and spin have acted. */
static double acted(const TlDrive *d, double t) {
  return fmax(0, fmin(t, until(d)) - d->from_s);
}

static TlVec3 displacement(const TlDrive *d, double t) {
  return tl_axpy(table_displacement(d, t), acted(d, t), d->velocity_m_s);
}

TlPlacement tl_drive_place(const TlDrive *d, int64_t at, int64_t during, double step_s) {
  double t = (double)at * step_s, t0 = (double)during * step_s, t1 = (double)(during + 1) * step_s;
  TlPlacement p = {.absent = !tl_drive_there(d, t0 + 1e-6 * step_s), /* a step's start, rounded */
                   .pivot = d->pivot_m,
                   .displacement = displacement(d, t)};
  p.turn = tl_quat_matrix(tl_quat_from_rotation(tl_scale(acted(d, t), d->spin_rad_s)));
  p.v = tl_scale(1 / step_s, tl_sub(displacement(d, t1), displacement(d, t0)));
  p.w = tl_scale((acted(d, t1) - acted(d, t0)) / step_s, d->spin_rad_s);
  p.surface = tl_mat_vec(p.turn, d->surface_m_s);
  return p;
}
