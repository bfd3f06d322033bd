#include "shape/quality.h"

#include "shape/mass.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The thresholds. A residual beyond `doubtful` wants a look, one beyond `rejected` means that what
 * is stored is not that grain. node and gradient: what tl_avatar_check and the contact search's
 * pruning stand; overlap: grains of a scan touch, they do not share volume. The limits of gradient
 * and volume were set after seeing the phantom's grains of 9 voxels across, which have up to 5% of
 * either by their resolution alone. contact: on scans with correlated noise 20 of 21 parts of cut
 * grains are above 0.7, and 1 of 108 grains that were found whole (docs/notebook/imaging.md); a
 * flat chip on a large grain may have more than 1, so none is rejected by it. */
static const struct {
  const char *name, *unit;
  size_t at;
  double scale; /* shown as value times this */
  bool small_is_bad;
  double doubtful, rejected;
} limit[] = {
    {"slope of phi off by", "%", offsetof(TlQuality, gradient), 100, false, 0.1, 0.25},
    {"node off the surface by", " cells", offsetof(TlQuality, node), 1, false, 0.01, 0.1},
    {"two volumes differ by", "%", offsetof(TlQuality, volume), 100, false, 0.05, 0.15},
    {"overlap with a neighbour of", " cells", offsetof(TlQuality, overlap_depth), 1, false, 0.25,
     1.5},
    {"volume in common", "%", offsetof(TlQuality, overlap_share), 100, false, 0.005, 0.05},
    {"agreement with the label only", "%", offsetof(TlQuality, agreement), 100, true, 0.9, 0.75},
    {"perhaps a part of its neighbour: the face they share takes", " of a cross-section",
     offsetof(TlQuality, contact), 1, false, 0.7, INFINITY}};
enum { LIMITS = sizeof limit / sizeof *limit };

const char *tl_verdict_name(TlVerdict verdict) {
  static const char *const name[] = {"good", "doubtful", "rejected"};
  return name[verdict];
}

static double value_of(const TlQuality *q, int i) {
  double value;
  memcpy(&value, (const char *)q + limit[i].at, sizeof value);
  return value;
}

static TlVerdict judge(const TlQuality *q, int i) {
  double v = value_of(q, i), sign = limit[i].small_is_bad ? -1 : 1;
  if (isnan(v)) return TL_GOOD;
  if (sign * v > sign * limit[i].rejected) return TL_REJECTED;
  return sign * v > sign * limit[i].doubtful ? TL_DOUBTFUL : TL_GOOD;
}

void tl_quality_judge(TlQuality *q) {
  q->verdict = TL_GOOD;
  q->reason[0] = 0;
  for (int i = 0; i < LIMITS; i++) {
    TlVerdict v = judge(q, i);
    if (v > q->verdict) q->verdict = v;
  }
  for (int i = 0; i < LIMITS && q->verdict != TL_GOOD; i++) { /* those that made the verdict */
    if (judge(q, i) != q->verdict) continue;
    size_t used = strlen(q->reason);
    snprintf(q->reason + used, sizeof q->reason - used, "%s%s %.3g%s", used ? "; " : "",
             limit[i].name, limit[i].scale * value_of(q, i), limit[i].unit);
  }
}

/* ---- residuals ---- */

static double gradient_rms(const TlAvatar *a) {
  TlPhiGrid g = {a->nx, a->ny, a->nz, a->phi};
  double h = a->spacing_m, sum = 0;
  int64_t count = 0;
  for (int64_t k = 1; k + 1 < g.nz; k++)
    for (int64_t j = 1; j + 1 < g.ny; j++)
      for (int64_t i = 1; i + 1 < g.nx; i++) {
        if (fabsf(a->phi[tl_grid_at(&g, i, j, k)]) > 1.5 * h) continue;
        TlPhiJet jet = tl_phi_jet(&g, i, j, k);
        double off = tl_norm(jet.gradient) / h - 1;
        sum += off * off;
        count++;
      }
  return count > 0 ? sqrt(sum / (double)count) : NAN;
}

static void measure_nodes(const TlAvatar *a, TlQuality *q) {
  double volume = 0;
  for (int32_t n = 0; n < a->node_count; n++) {
    const float *x = a->node_m + 3 * (int64_t)n;
    TlVec3 p = tl_vec3(x[0], x[1], x[2]), g;
    q->node = fmax(q->node, fabs(tl_avatar_phi(a, p, &g)) / a->spacing_m);
    volume += a->node_area_m2[n] * tl_dot(p, tl_unit(g)) / 3;
  }
  q->volume = fabs(volume / a->volume_m3 - 1);
}

void tl_quality_measure(const TlAvatar *a, double agreement, TlQuality *q) {
  *q = (TlQuality){.agreement = agreement, .contact = NAN};
  q->gradient = gradient_rms(a);
  measure_nodes(a, q);
}

/* ---- overlap ---- */

TlPlaced tl_placed_in_scan(const TlAvatar *a) {
  return (TlPlaced){.avatar = a,
                    .scale = 1,
                    .position = a->scan_centroid_m,
                    .rotation = tl_quat_matrix(a->scan_rotation)};
}

/* Nodes of a in b. */
static void add_depths(const TlPlaced *a, const TlPlaced *b, TlOverlap *o) {
  double reach = tl_placed_radius(b), s2 = a->scale * a->scale, beyond;
  for (int32_t i = 0; i < tl_placed_points(a); i++) {
    TlVec3 x = tl_placed_point(a, i, &beyond);
    if (tl_norm2(tl_sub(x, b->position)) >= reach * reach) continue;
    double depth = -tl_placed_phi(b, x);
    if (!(depth > 0)) continue;
    o->depth_m = fmax(o->depth_m, depth);
    o->volume_m3 += 0.5 * depth * s2 * a->avatar->node_area_m2[i];
  }
}

TlOverlap tl_placed_overlap(const TlPlaced *a, const TlPlaced *b) {
  TlOverlap o = {0, 0};
  double far = tl_placed_radius(a) + tl_placed_radius(b);
  if (tl_norm2(tl_sub(a->position, b->position)) >= far * far) return o;
  add_depths(a, b, &o);
  add_depths(b, a, &o);
  return o;
}

void tl_quality_add_overlap(TlQuality *q, const TlAvatar *a, TlOverlap o) {
  q->overlap_depth = fmax(q->overlap_depth, o.depth_m / a->spacing_m);
  q->overlap_share += o.volume_m3 / a->volume_m3;
}
