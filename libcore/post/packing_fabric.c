#include "post/packing_fabric.h"

#include "base/mem.h"

const char *const tl_fabric_names[TL_FABRIC_KINDS] = {"normal", "branch", "long_axis"};

/* ---- directions ---- */

static int64_t normals(const TlPacking *p, const TlRegion *region, TlVec3 *to) {
  int64_t n = 0;
  for (int64_t i = 0; i < p->contact_count; i++) {
    const TlPackContact *c = &p->contact[i];
    if (c->b >= 0 && tl_region_depth(region, c->point_m) >= 0) to[n++] = c->normal;
  }
  return n;
}

static int64_t branches(const TlPacking *p, const TlRegion *region, TlVec3 *to) {
  int64_t n = 0;
  for (int64_t k = 0; k < p->pair_count; k++) {
    const TlPackPair *pair = &p->pair[k];
    if (pair->b < 0) continue;
    TlVec3 a = p->grain[pair->a].centre_m, b = p->grain[pair->b].centre_m;
    if (tl_region_depth(region, tl_scale(0.5, tl_add(a, b))) >= 0) to[n++] = tl_unit(tl_sub(a, b));
  }
  return n;
}

static int64_t long_axes(const TlPacking *p, const TlRegion *region, TlVec3 *to) {
  int64_t n = 0;
  for (int64_t i = 0; i < p->grain_count; i++)
    if (tl_norm2(p->grain[i].long_axis) > 0 && tl_packing_in(p, region, i))
      to[n++] = p->grain[i].long_axis;
  return n;
}

TlStatus tl_fabric_directions(const TlPacking *p, const TlRegion *region, TlFabricKind kind,
                              TlVec3 **direction, int64_t *count) {
  static int64_t (*const take[])(const TlPacking *, const TlRegion *,
                                 TlVec3 *) = {normals, branches, long_axes};
  int64_t most = kind == TL_FABRIC_LONG_AXES ? p->grain_count : p->contact_count;
  TL_TRY(TL_NEW(*direction, (size_t)most));
  *count = take[kind](p, region, *direction);
  return TL_OK;
}

/* ---- tensors ---- */

TlFabric tl_fabric_of(const TlVec3 *direction, int64_t count) {
  TlFabric f = {.count = count};
  TlSym3 *g = &f.tensor;
  double value[3], w = 1 / (double)count;
  TlMat3 v;
  if (count == 0)
    return (TlFabric){
        .tensor = {NAN, NAN, NAN, NAN, NAN, NAN}, .anisotropy = NAN, .major = {NAN, NAN, NAN}};
  for (int64_t i = 0; i < count; i++) {
    TlVec3 n = direction[i];
    g->xx += w * n.x * n.x;
    g->yy += w * n.y * n.y;
    g->zz += w * n.z * n.z;
    g->xy += w * n.x * n.y;
    g->xz += w * n.x * n.z;
    g->yz += w * n.y * n.z;
  }
  TlSym3 d = {7.5 * (g->xx - 1.0 / 3),
              7.5 * (g->yy - 1.0 / 3),
              7.5 * (g->zz - 1.0 / 3),
              7.5 * g->xy,
              7.5 * g->xz,
              7.5 * g->yz};
  f.deviatoric = d;
  f.anisotropy = sqrt(1.5 * (d.xx * d.xx + d.yy * d.yy + d.zz * d.zz +
                             2 * (d.xy * d.xy + d.xz * d.xz + d.yz * d.yz)));
  tl_sym_eigen(*g, value, &v);
  f.major = tl_vec3(v.m[0][2], v.m[1][2], v.m[2][2]);
  return f;
}

static int bin(double x, int bins) {
  int i = (int)floor(x * bins);
  return i < 0 ? 0 : i >= bins ? bins - 1 : i;
}

void tl_fabric_histogram(const TlVec3 *direction, int64_t count,
                         int64_t cell[TL_FABRIC_BANDS * TL_FABRIC_SECTORS]) {
  for (int k = 0; k < TL_FABRIC_BANDS * TL_FABRIC_SECTORS; k++) cell[k] = 0;
  for (int64_t i = 0; i < count; i++) {
    TlVec3 n = direction[i].z < 0 ? tl_scale(-1, direction[i]) : direction[i];
    double turn = atan2(n.y, n.x) / (2 * M_PI);
    if (turn < 0) turn += 1;
    cell[bin(n.z, TL_FABRIC_BANDS) * TL_FABRIC_SECTORS + bin(turn, TL_FABRIC_SECTORS)]++;
  }
}

/* ---- the table ---- */

typedef struct Row {
  TlFabric fabric[TL_FABRIC_KINDS];
  double steep_deg[TL_FABRIC_KINDS];
} Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *of) {
  TlVec3 up = tl_norm2(p->gravity_m_s2) > 0 ? tl_unit(p->gravity_m_s2) : tl_vec3(0, 0, 1);
  Row *row = of;
  for (int kind = 0; kind < TL_FABRIC_KINDS; kind++) {
    TlVec3 *direction;
    int64_t n;
    TL_TRY(tl_fabric_directions(p, region, (TlFabricKind)kind, &direction, &n));
    row->fabric[kind] = tl_fabric_of(direction, n);
    tl_free(direction);
    double steep = fmin(1, fabs(tl_dot(row->fabric[kind].major, up)));
    row->steep_deg[kind] = n ? acos(steep) * TL_DEG : NAN;
  }
  return TL_OK;
}

#define OF(C, name, what, kind)                                                                    \
  C(name##_count, "", "number of " what, row->fabric[kind].count)                                  \
  C(name##_fabric_xx, "", "mean of n_x n_x of " what, row->fabric[kind].tensor.xx)                 \
  C(name##_fabric_yy, "", "mean of n_y n_y of " what, row->fabric[kind].tensor.yy)                 \
  C(name##_fabric_zz, "", "mean of n_z n_z of " what, row->fabric[kind].tensor.zz)                 \
  C(name##_fabric_xy, "", "mean of n_x n_y of " what, row->fabric[kind].tensor.xy)                 \
  C(name##_fabric_xz, "", "mean of n_x n_z of " what, row->fabric[kind].tensor.xz)                 \
  C(name##_fabric_yz, "", "mean of n_y n_z of " what, row->fabric[kind].tensor.yz)                 \
  C(name##_anisotropy, "", "0: spread evenly, 7.5: all in one direction; of " what,                \
    row->fabric[kind].anisotropy)                                                                  \
  C(name##_major_from_vertical_deg, "deg", "angle to gravity of the main direction of " what,      \
    row->steep_deg[kind])
#define COLUMNS(C)                                                                                 \
  OF(C, normal, "contact normals between grains", TL_FABRIC_NORMALS)                               \
  OF(C, branch, "lines from centre to centre of touching grains", TL_FABRIC_BRANCHES)              \
  OF(C, long_axis, "the grains' long axes", TL_FABRIC_LONG_AXES)
TL_PACK_MEASURE(fabric, COLUMNS);
