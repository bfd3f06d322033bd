#include "post/band.h"

#include "base/mem.h"
#include "num/quantile.h"

static const double ROUNDING = 1e-12;
static const double LINE = 1e-3; /* second over first eigenvalue: less is a line */

/* ---- rotations ---- */

static double angle_of(TlQuat a, TlQuat b) {
  TlQuat d = tl_quat_mul(b, tl_quat_conj(a));
  double s = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
  double angle = 2 * atan2(s, fabs(d.w));
  return angle > ROUNDING ? angle : 0;
}

void tl_band_rotations(const TlPacking *before, const TlPacking *now, double *angle_rad) {
  int64_t b = 0;
  for (int64_t i = 0; i < now->grain_count; i++) {
    while (b < before->grain_count && before->grain[b].id < now->grain[i].id) b++;
    bool there = b < before->grain_count && before->grain[b].id == now->grain[i].id;
    angle_rad[i] = there ? angle_of(before->grain[b].rotation, now->grain[i].rotation) : NAN;
  }
}

static void spread(const double *value, int64_t n, TlBand *band) {
  int64_t there = 0;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; i++)
    if (!isnan(value[i])) sum += value[i], there++;
  band->mean = there ? sum / (double)there : NAN;
  for (int64_t i = 0; i < n; i++)
    if (!isnan(value[i])) squares += (value[i] - band->mean) * (value[i] - band->mean);
  band->sd = there ? sqrt(squares / (double)there) : NAN;
}

void tl_band_choose(const double *value, int64_t count, double sigmas, unsigned char *in,
                    TlBand *band) {
  spread(value, count, band);
  for (int64_t i = 0; i < count; i++)
    in[i] = value[i] > band->mean + (sigmas > 0 ? sigmas : 2) * band->sd;
}

static TlStatus median_diameter(const TlPacking *p, double *d50) {
  double *d;
  TL_TRY(TL_NEW(d, (size_t)p->grain_count));
  for (int64_t i = 0; i < p->grain_count; i++) d[i] = p->grain[i].diameter_m;
  *d50 = tl_quantile(d, p->grain_count, 0.5);
  tl_free(d);
  return TL_OK;
}

/* ---- the plane ---- */

/* Through the grains marked; false: they lie along a line. */
static bool fit(const TlPacking *p, const unsigned char *in, TlBand *band) {
  TlSym3 c = {0};
  TlVec3 mean = {0, 0, 0};
  double value[3], n = (double)band->kept;
  TlMat3 v;
  for (int64_t i = 0; i < p->grain_count; i++)
    if (in[i]) mean = tl_axpy(mean, 1 / n, p->grain[i].centre_m);
  for (int64_t i = 0; i < p->grain_count; i++) {
    if (!in[i]) continue;
    TlVec3 d = tl_sub(p->grain[i].centre_m, mean);
    c.xx += d.x * d.x, c.yy += d.y * d.y, c.zz += d.z * d.z;
    c.xy += d.x * d.y, c.xz += d.x * d.z, c.yz += d.y * d.z;
  }
  tl_sym_eigen(c, value, &v);
  TlVec3 normal = tl_vec3(v.m[0][0], v.m[1][0], v.m[2][0]);
  band->point_m = mean;
  band->normal = normal.z < 0 ? tl_scale(-1, normal) : normal;
  band->thickness_m = 2 * sqrt(3 * fmax(0, value[0]) / n);
  return value[1] > LINE * value[2];
}

static int64_t worst(const TlPacking *p, const unsigned char *in, const TlBand *band,
                     double *farthest) {
  int64_t at = -1;
  *farthest = -1;
  for (int64_t i = 0; i < p->grain_count; i++) {
    if (!in[i]) continue;
    double d = fabs(tl_dot(band->normal, tl_sub(p->grain[i].centre_m, band->point_m)));
    if (d > *farthest) *farthest = d, at = i;
  }
  return at;
}

static void match(const TlPacking *p, double tolerance_m, unsigned char *in, TlBand *band) {
  while (band->kept >= TL_BAND_LEAST) {
    double farthest;
    bool plane = fit(p, in, band);
    int64_t at = worst(p, in, band, &farthest);
    if (farthest <= tolerance_m) {
      band->found = plane;
      return;
    }
    in[at] = 0;
    band->kept--;
  }
}

static void describe(const TlPacking *p, const TlBandOptions *o, TlBand *band) {
  TlVec3 up = tl_norm2(p->gravity_m_s2) > 0 ? tl_unit(p->gravity_m_s2) : tl_vec3(0, 0, 1);
  band->inclination_deg = acos(fmin(1, fabs(tl_dot(band->normal, up)))) * TL_DEG;
  band->thickness_d50 = band->thickness_m / band->d50_m;
  band->roscoe_deg = 45 + 0.5 * o->dilatancy_deg;
}

TlStatus tl_band_match(const TlPacking *p, const TlBandOptions *o, TlBand *band,
                       unsigned char *in) {
  band->found = false;
  band->chosen = 0;
  TL_TRY(median_diameter(p, &band->d50_m));
  for (int64_t i = 0; i < p->grain_count; i++) band->chosen += in[i];
  band->kept = band->chosen;
  match(p, o->tolerance_m > 0 ? o->tolerance_m : 7.5 * band->d50_m, in, band);
  describe(p, o, band);
  return TL_OK;
}

TlStatus tl_band_find(const TlPacking *p, const double *value, const TlBandOptions *options,
                      TlBand *band, unsigned char *in) {
  unsigned char *own = NULL;
  *band = (TlBand){.found = false};
  if (!in) TL_TRY(TL_NEW(own, (size_t)p->grain_count));
  unsigned char *to = in ? in : own;
  tl_band_choose(value, p->grain_count, options->sigmas, to, band);
  TlStatus status = tl_band_match(p, options, band, to);
  tl_free(own);
  return status;
}

/* ---- the table: Roscoe's angle is no column, psi is the test's and not the packing's ---- */

typedef struct Row {
  bool there; /* there is a first frame to compare with */
  TlBand band;
} Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *of) {
  double *angle;
  Row *row = of;
  if (!p->first) return TL_OK;
  row->there = true;
  TL_TRY(TL_NEW(angle, (size_t)p->grain_count));
  tl_band_rotations(p->first, p, angle);
  for (int64_t i = 0; i < p->grain_count; i++)
    if (!tl_packing_in(p, region, i)) angle[i] = NAN;
  TlBandOptions o = {.dilatancy_deg = NAN};
  TlStatus status = tl_band_find(p, angle, &o, &row->band, NULL);
  tl_free(angle);
  return status;
}

#define COLUMNS(C)                                                                                 \
  C(rotation_mean_deg, "deg", "mean rotation of the grains since the first frame",                 \
    row->there ? row->band.mean *TL_DEG : NAN)                                                     \
  C(rotation_sd_deg, "deg", "standard deviation of these rotations",                               \
    row->there ? row->band.sd *TL_DEG : NAN)                                                       \
  C(rotated_grains, "", "grains that turned more than the mean and two standard deviations",       \
    row->there ? (double)row->band.chosen : NAN)                                                   \
  C(band_grains, "", "those of them in the shear band's plane",                                    \
    row->band.found ? (double)row->band.kept : NAN)                                                \
  C(band_inclination_deg, "deg", "angle of that plane to the horizontal",                          \
    row->band.found ? row->band.inclination_deg : NAN)                                             \
  C(band_thickness_m, "m", "thickness of the band", row->band.found ? row->band.thickness_m : NAN) \
  C(band_thickness_d50, "", "the same over the median diameter",                                   \
    row->band.found ? row->band.thickness_d50 : NAN)
TL_PACK_MEASURE(band, COLUMNS);
