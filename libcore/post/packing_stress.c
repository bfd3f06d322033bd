#include "post/packing_stress.h"

/* s += w sym(f (x) r) */
static void add_dyad(TlSym3 *s, double w, TlVec3 f, TlVec3 r) {
  s->xx += w * f.x * r.x;
  s->yy += w * f.y * r.y;
  s->zz += w * f.z * r.z;
  s->xy += 0.5 * w * (f.x * r.y + f.y * r.x);
  s->xz += 0.5 * w * (f.x * r.z + f.z * r.x);
  s->yz += 0.5 * w * (f.y * r.z + f.z * r.y);
}

static void add_leg(TlSym3 *s, const TlRegion *region, TlVec3 centre, TlVec3 point, TlVec3 force) {
  double fraction = tl_region_fraction(region, centre, point);
  if (fraction > 0) add_dyad(s, -fraction, force, tl_sub(point, centre));
}

static TlSym3 times(double f, TlSym3 s) {
  return (TlSym3){f * s.xx, f * s.yy, f * s.zz, f * s.xy, f * s.xz, f * s.yz};
}

TlSym3 tl_stress_region(const TlPacking *p, const TlRegion *region) {
  TlSym3 s = {0};
  for (int64_t i = 0; i < p->contact_count; i++) {
    const TlPackContact *c = &p->contact[i];
    add_leg(&s, region, tl_pack_body_centre(&p->grain[c->a]), c->point_m, c->force_N);
    if (c->b >= 0)
      add_leg(&s, region, tl_pack_body_centre(&p->grain[c->b]), c->point_m,
              tl_scale(-1, c->force_N));
  }
  return times(1 / tl_region_volume(region), s);
}

static void add_end(const TlPacking *p, TlSym3 *sigma, int64_t i, double sign,
                    const TlPackContact *c) {
  const TlPackGrain *g = &p->grain[i];
  double volume = g->part_of ? g->whole_m3 : g->volume_m3;
  add_dyad(&sigma[tl_pack_body(p->grain, i)], sign / volume, c->force_N,
           tl_sub(c->point_m, tl_pack_body_centre(g)));
}

void tl_stress_grains(const TlPacking *p, TlSym3 *sigma) {
  for (int64_t i = 0; i < p->grain_count; i++) sigma[i] = (TlSym3){0};
  for (int64_t i = 0; i < p->contact_count; i++) {
    const TlPackContact *c = &p->contact[i];
    add_end(p, sigma, c->a, -1, c);
    if (c->b >= 0) add_end(p, sigma, c->b, 1, c);
  }
  for (int64_t i = 0; i < p->grain_count; i++) sigma[i] = sigma[tl_pack_body(p->grain, i)];
}

TlStress tl_stress_of(TlSym3 s) {
  TlStress t;
  TlMat3 v;
  double value[3];
  tl_sym_eigen(s, value, &v);
  for (int k = 0; k < 3; k++) t.principal_Pa[k] = value[2 - k];
  t.major = tl_vec3(v.m[0][2], v.m[1][2], v.m[2][2]);
  t.mean_Pa = (s.xx + s.yy + s.zz) / 3;
  double x = s.xx - t.mean_Pa, y = s.yy - t.mean_Pa, z = s.zz - t.mean_Pa;
  t.deviatoric_Pa =
      sqrt(1.5 * (x * x + y * y + z * z + 2 * (s.xy * s.xy + s.xz * s.xz + s.yz * s.yz)));
  double s1 = value[2], s3 = value[0];
  t.friction_deg = s1 + s3 > 0 && s3 >= 0 ? asin((s1 - s3) / (s1 + s3)) * TL_DEG : NAN;
  return t;
}

typedef struct Row {
  TlSym3 s;
  TlStress t;
} Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *of) {
  static const Row none = {{NAN, NAN, NAN, NAN, NAN, NAN},
                           {{NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, NAN, NAN}};
  Row *row = of;
  *row = none;
  if (p->contact_count == 0) return TL_OK;
  row->s = tl_stress_region(p, region);
  row->t = tl_stress_of(row->s);
  return TL_OK;
}

#define COLUMNS(C)                                                                                 \
  C(stress_xx_Pa, "Pa", "stress in the region, compression positive, xx", row->s.xx)               \
  C(stress_yy_Pa, "Pa", "the same, yy", row->s.yy)                                                 \
  C(stress_zz_Pa, "Pa", "the same, zz", row->s.zz)                                                 \
  C(stress_xy_Pa, "Pa", "the same, xy", row->s.xy)                                                 \
  C(stress_xz_Pa, "Pa", "the same, xz", row->s.xz)                                                 \
  C(stress_yz_Pa, "Pa", "the same, yz", row->s.yz)                                                 \
  C(mean_stress_Pa, "Pa", "p = trace/3", row->t.mean_Pa)                                           \
  C(deviatoric_stress_Pa, "Pa", "q = sqrt(3/2 s:s), s the stress less p", row->t.deviatoric_Pa)    \
  C(stress_1_Pa, "Pa", "largest principal stress", row->t.principal_Pa[0])                         \
  C(stress_2_Pa, "Pa", "middle principal stress", row->t.principal_Pa[1])                          \
  C(stress_3_Pa, "Pa", "least principal stress", row->t.principal_Pa[2])                           \
  C(friction_angle_deg, "deg", "asin((s1 - s3)/(s1 + s3)) of these; empty where s3 < 0",           \
    row->t.friction_deg)
TL_PACK_MEASURE(stress, COLUMNS);
