#include "post/packing_measures.h"

#include "post/packing_stress.h"

typedef struct Sums {
  int64_t n;
  TlVec3 x, v;
  double diameter;
} Sums;

static Sums sums_of(const TlPacking *p, const TlRegion *region) {
  Sums s = {0};
  for (int64_t i = 0; i < p->grain_count; i++) {
    if (!tl_packing_in(p, region, i)) continue;
    s.n++;
    s.x = tl_add(s.x, p->grain[i].centre_m);
    s.v = tl_add(s.v, p->grain[i].velocity_m_s);
    s.diameter += p->grain[i].diameter_m;
  }
  if (s.n == 0) return s;
  s.x = tl_scale(1 / (double)s.n, s.x);
  s.v = tl_scale(1 / (double)s.n, s.v);
  s.diameter /= (double)s.n;
  return s;
}

/* Rows of L; false when the centres do not span space. */
static bool gradient(const TlPacking *p, const TlRegion *region, const Sums *s, TlVec3 row[3]) {
  TlSym3 m = {0};
  TlVec3 c[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int64_t i = 0; i < p->grain_count; i++) {
    if (!tl_packing_in(p, region, i)) continue;
    TlVec3 x = tl_sub(p->grain[i].centre_m, s->x), v = tl_sub(p->grain[i].velocity_m_s, s->v);
    m.xx += x.x * x.x, m.yy += x.y * x.y, m.zz += x.z * x.z;
    m.xy += x.x * x.y, m.xz += x.x * x.z, m.yz += x.y * x.z;
    c[0] = tl_axpy(c[0], v.x, x);
    c[1] = tl_axpy(c[1], v.y, x);
    c[2] = tl_axpy(c[2], v.z, x);
  }
  double value[3];
  TlMat3 axes;
  tl_sym_eigen(m, value, &axes);
  if (!(value[0] > 1e-9 * value[2])) return false;
  TlSym3 inverse = tl_sym_inverse(m);
  for (int k = 0; k < 3; k++) row[k] = tl_sym_vec(inverse, c[k]);
  return true;
}

TlFlow tl_flow_of(const TlPacking *p, const TlRegion *region) {
  TlVec3 l[3];
  Sums s = sums_of(p, region);
  TlFlow f = {NAN, NAN, NAN};
  if (s.n < 4 || !gradient(p, region, &s, l)) return f;
  double trace = l[0].x + l[1].y + l[2].z;
  double x = l[0].x - trace / 3, y = l[1].y - trace / 3, z = l[2].z - trace / 3;
  double xy = 0.5 * (l[0].y + l[1].x), xz = 0.5 * (l[0].z + l[2].x), yz = 0.5 * (l[1].z + l[2].y);
  double mean = tl_stress_of(tl_stress_region(p, region)).mean_Pa;
  f.rate_per_s = sqrt(2.0 / 3 * (x * x + y * y + z * z + 2 * (xy * xy + xz * xz + yz * yz)));
  f.volume_rate_per_s = trace;
  if (mean > 0) f.inertia = f.rate_per_s * s.diameter * sqrt(p->density_kg_m3 / mean);
  return f;
}

typedef TlFlow Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *row) {
  *(Row *)row = tl_flow_of(p, region);
  return TL_OK;
}

#define COLUMNS(C)                                                                                 \
  C(strain_rate_per_s, "1/s", "rate of shape change: the axial rate where volume stays",           \
    row->rate_per_s)                                                                               \
  C(volume_rate_per_s, "1/s", "rate of the volume, growing positive", row->volume_rate_per_s)      \
  C(inertia_number, "", "strain rate times mean diameter times sqrt(density/mean stress)",         \
    row->inertia)
TL_PACK_MEASURE(flow, COLUMNS);
