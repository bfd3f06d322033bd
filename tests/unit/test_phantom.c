#include "support/tltest.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "phantom/phantom.h"
#include "phantom/phantom_grey.h"
#include "phantom/phantom_shape.h"
#include "phantom/phantom_voxels.h"
#include "phantom/valley.h"

static TlPhantomOptions small_options(void) {
  tl_progress_mode(TL_PROGRESS_OFF);
  TlPhantomOptions o = tl_phantom_defaults();
  o.nx = 64;
  o.ny = 58;
  o.nz = 55;
  o.d50_voxels = 15;
  o.keep_clean = true;
  o.seed = 7;
  return o;
}

START_TEST(same_bytes_for_any_thread_count) {
  TL_NOT_SANITIZED();
  TlPhantomOptions o = small_options();
  o.faults = (TlPhantomFaults){0.8, 3, 5, -4};
  o.specks = 0.01;
  o.roughness_voxels = 0.2;
  o.nx = 44, o.ny = 40, o.nz = 37; /* made three times */
  o.keep_surface = true;
  TlPhantom a, b;
  tl_par_set_threads(1);
  CK_OK(tl_phantom_make(&o, &a));
  tl_par_set_threads(3);
  CK_OK(tl_phantom_make(&o, &b));
  tl_par_set_threads(0);
  size_t n = (size_t)tl_volume_count(&a.stack);
  ck_assert(memcmp(a.stack.u16, b.stack.u16, n * 2) == 0);
  ck_assert(memcmp(a.labels.u32, b.labels.u32, n * 4) == 0);
  ck_assert(a.surface_count > 0 && a.surface_count == b.surface_count);
  ck_assert(memcmp(a.surface, b.surface, a.surface_count * sizeof *a.surface) == 0);
  ck_assert(a.grain_count == b.grain_count);
  for (int64_t i = 0; i < a.grain_count; i++) {
    ck_assert(a.grains[i].volume == b.grains[i].volume);
    ck_assert(a.grains[i].inertia.xy == b.grains[i].inertia.xy);
  }
  tl_phantom_free(&b);
  o.seed = 8;
  CK_OK(tl_phantom_make(&o, &b));
  ck_assert(memcmp(a.stack.u16, b.stack.u16, n * 2) != 0);
  tl_phantom_free(&a);
  tl_phantom_free(&b);
}
END_TEST

typedef struct Counted {
  double voxels, x, y, z, xy, xz, yz, contacts, surface;
} Counted;

/* Label voxels of each grain and the faces it shares with other grains and with the void. */
static Counted *count_labels(const TlPhantom *p) {
  Counted *c;
  CK_OK(TL_NEW(c, (size_t)p->grain_count + 1));
  const TlVolume *v = &p->labels;
  const int64_t step[3] = {1, v->nx, v->nx * v->ny};
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    int64_t at[3] = {i % v->nx, i / v->nx % v->ny, i / (v->nx * v->ny)};
    const int64_t size[3] = {v->nx, v->ny, v->nz};
    uint32_t l = v->u32[i];
    ck_assert(l <= p->grain_count);
    c[l].voxels++;
    c[l].x += (double)at[0];
    c[l].y += (double)at[1];
    c[l].z += (double)at[2];
    c[l].xy += (double)(at[0] * at[1]);
    c[l].xz += (double)(at[0] * at[2]);
    c[l].yz += (double)(at[1] * at[2]);
    for (int a = 0; a < 3; a++) {
      if (at[a] + 1 >= size[a]) continue;
      uint32_t m = v->u32[i + step[a]];
      if (m == l) continue;
      c[l].contacts += m > 0;
      c[m].contacts += l > 0;
      c[l].surface++;
      c[m].surface++;
    }
  }
  return c;
}

/* A product of inertia over volume, by labels: sum of p q, their means from x and y. */
static void check_product(const Counted *k, double pq, double p, double q, const TlPhantomGrain *g,
                          double inertia, double *largest) {
  double size = pow(g->volume, 2.0 / 3), truth = -inertia / g->volume;
  CK_NEAR(pq / k->voxels - p * q / (k->voxels * k->voxels), truth, 0.008 * size);
  *largest = fmax(*largest, fabs(truth) / size);
}

static void check_truth_against_labels(const TlPhantom *phantom) {
  const TlPhantom p = *phantom;
  Counted *c = count_labels(&p);
  int whole = 0;
  double largest[3] = {0};
  for (int64_t i = 0; i < p.grain_count; i++) {
    const TlPhantomGrain *g = &p.grains[i];
    ck_assert(g->label == (uint32_t)i + 1);
    if (g->border || g->volume < 300) continue;
    whole++;
    /* Each surface voxel is counted or not where its part is uniform in 0..1: sd 0.29 of a voxel,
     * about half of them independent of their neighbours; five sd. */
    const Counted *k = &c[i + 1];
    CK_NEAR(k->voxels, g->volume, 5 * 0.29 * sqrt(k->surface) + 0.01 * g->volume);
    CK_NEAR(k->x / k->voxels, g->centroid.x, 0.15);
    CK_NEAR(k->y / k->voxels, g->centroid.y, 0.15);
    CK_NEAR(k->z / k->voxels, g->centroid.z, 0.15);
    check_product(k, k->xy, k->x, k->y, g, g->inertia.xy, &largest[0]);
    check_product(k, k->xz, k->x, k->z, g, g->inertia.xz, &largest[1]);
    check_product(k, k->yz, k->y, k->z, g, g->inertia.yz, &largest[2]);
  }
  for (int a = 0; a < 3; a++) ck_assert_msg(largest[a] > 0.02, "all upright: %g", largest[a]);
  ck_assert_msg(whole >= 30, "%d whole grains", whole);
  double labelled = (double)tl_volume_count(&p.labels) - c[0].voxels;
  CK_NEAR(labelled / (double)tl_volume_count(&p.labels), p.solid_fraction, 0.006);
  tl_free(c);
}

static void check_touching(const TlPhantom *phantom) {
  const TlPhantom p = *phantom;
  CK_NEAR(p.solid_fraction, 0.60, 0.004); /* sub-samples against voxel centres */
  ck_assert_msg(fabs(p.offset) < 0.5, "offset %g", p.offset);
  Counted *c = count_labels(&p);
  int whole = 0, touching = 0;
  double shared = 0, surface = 0;
  for (int64_t i = 0; i < p.grain_count; i++) {
    if (p.grains[i].border || p.grains[i].volume < 300) continue;
    whole++;
    touching += c[i + 1].contacts > 0;
    shared += c[i + 1].contacts;
    surface += c[i + 1].surface;
  }
  ck_assert_msg(touching > 0.9 * whole, "%d of %d grains touch another", touching, whole);
  ck_assert_msg(shared < 0.25 * surface, "%g of the surface is contact", shared / surface);
  ck_assert_msg(p.contacts > p.grain_count, "%ld contacts of %ld grains", (long)p.contacts,
                (long)p.grain_count);
  tl_free(c);
}

static void check_sizes(const TlPhantom *phantom) {
  const TlPhantom p = *phantom;
  double least = 1e9, most = 0;
  int kinds[4] = {0}, opaque = 0;
  for (int64_t i = 0; i < p.grain_count; i++) {
    const TlPhantomGrain *g = &p.grains[i];
    least = fmin(least, g->whole_diameter);
    most = fmax(most, g->whole_diameter);
    kinds[g->kind]++;
    opaque += g->opaque;
    CK_NEAR(g->grey, g->opaque ? 225 : 160, 6 * 4.5);
  }
  ck_assert_msg(most / least > 4.6 && most / least < 5.1, "%g to %g", least, most);
  CK_NEAR(most, 15 * sqrt(5), 1e-6);
  ck_assert(kinds[0] > 0 && kinds[1] > 0 && kinds[2] > 0 && kinds[3] > 0);
  CK_NEAR((double)opaque / (double)p.grain_count, 0.1, 0.06);
}

/* Ratio of the longest to the middle axis of the ellipsoid of equal inertia. */
static double elongation(const TlPhantomGrain *g) {
  const double *i = g->principal;
  return sqrt((i[1] + i[2] - i[0]) / (i[0] + i[2] - i[1]));
}

static void check_elongation(const TlPhantom *phantom) {
  const TlPhantom p = *phantom;
  int seen = 0;
  for (int64_t i = 0; i < p.grain_count; i++) {
    if (p.grains[i].kind != TL_GRAIN_ELONGATED || p.grains[i].border) continue;
    double e = elongation(&p.grains[i]);
    ck_assert_msg(e > 1.25 && e < 3.2, "elongation %g", e);
    seen++;
  }
  ck_assert(seen > 3);
}

/* Noise of the voxels whose clean grey lies within 2 of level. */
static double noise_near(const TlPhantom *p, double level, int64_t *count) {
  double sum = 0, sum2 = 0;
  *count = 0;
  for (int64_t i = 0; i < tl_volume_count(&p->stack); i++) {
    if (fabs(p->clean.u16[i] / 200.0 - level) > 2) continue;
    double d = (p->stack.u16[i] - p->clean.u16[i]) / 200.0;
    sum += d;
    sum2 += d * d;
    ++*count;
  }
  double n = (double)*count, mean = sum / n;
  CK_NEAR(mean, 0, 0.1 + 5 * sqrt(sum2 / n / n));
  return sqrt(sum2 / n - mean * mean);
}

/* Poisson-Gaussian, of the sd asked for at the grain's level. */
static void check_noise(const TlPhantom *p, double asked) {
  int64_t n;
  double sd = noise_near(p, TL_PHANTOM_SOLID, &n);
  CK_NEAR(sd, asked, 5 * asked / sqrt(2.0 * (double)n)); /* five standard errors */
  sd = noise_near(p, TL_PHANTOM_VOID, &n);
  double expected = asked * sqrt(0.5 * (TL_PHANTOM_VOID / TL_PHANTOM_SOLID + 1));
  CK_NEAR(sd, expected, 5 * expected / sqrt(2.0 * (double)n));
}

/* The same scan has the same noise, another one has its own. */
static void check_other_scan(const TlPhantom *p, const TlPhantomOptions *o) {
  TlVolume again, other;
  CK_OK(tl_phantom_scan(p, o, o->noise_sd, 0, &again));
  CK_OK(tl_phantom_scan(p, o, o->noise_sd, 1, &other));
  const int64_t n = tl_volume_count(&p->stack);
  ck_assert(memcmp(again.u16, p->stack.u16, (size_t)n * 2) == 0);
  double a2 = 0, b2 = 0, ab = 0;
  for (int64_t i = 0; i < n; i++) {
    double a = (double)p->stack.u16[i] - p->clean.u16[i];
    double b = (double)other.u16[i] - p->clean.u16[i];
    a2 += a * a, b2 += b * b, ab += a * b;
  }
  CK_NEAR(ab / sqrt(a2 * b2), 0, 5 / sqrt((double)n));
  tl_volume_free(&again);
  tl_volume_free(&other);
}

START_TEST(poisson_numbers_have_their_mean_variance_and_skewness) {
  const double means[] = {0.7, 6, 11, 64, 1400};
  for (int m = 0; m < 5; m++) {
    TlRandom random = {3, (uint64_t)m, 0};
    enum { N = 100000 };
    double sum = 0, sum2 = 0, sum3 = 0, mean = means[m];
    for (int i = 0; i < N; i++) {
      double d = tl_phantom_poisson(&random, mean) - mean;
      sum += d;
      sum2 += d * d;
      sum3 += d * d * d;
    }
    CK_NEAR(sum / N, 0, 5 * sqrt(mean / N));
    CK_NEAR(sum2 / N / mean, 1, 5 * sqrt((2 + 1 / mean) / N));
    /* third central moment of a Poisson number is its mean; variance of d^3 is 15 mean^3 + ... */
    CK_NEAR(sum3 / N, mean, 5 * sqrt((15 * mean * mean * mean + 100 * mean * mean + mean) / N));
  }
}
END_TEST

/* ---- the shapes ---- */

START_TEST(shapes_have_their_diameter_bound_and_slope) {
  for (int k = 0; k < TL_SIZE(40, 8); k++) {
    TlRandom random = {11, (uint64_t)k, 0};
    TlPhantomShape s;
    tl_phantom_shape_make(&s, (TlGrainKind)(k % 4), 20, &random);
    float x[2], y[2], z[2], phi[2];
    double inside = 0;
    enum { N = 20000 };
    double side = 2 * s.radius;
    for (int i = 0; i < N; i++) {
      TlVec3 p =
          tl_vec3(side * (tl_random_next(&random) - 0.5), side * (tl_random_next(&random) - 0.5),
                  side * (tl_random_next(&random) - 0.5));
      x[0] = (float)p.x, y[0] = (float)p.y, z[0] = (float)p.z;
      x[1] = x[0] + 0.3f, y[1] = y[0] - 0.2f, z[1] = z[0] + 0.1f;
      tl_phantom_shape_phi(&s, 2, x, y, z, phi);
      ck_assert_msg(fabsf(phi[0] - phi[1]) <= 0.3742f + 1e-4f, "slope above 1");
      ck_assert(phi[0] > 0 || tl_norm(p) <= s.radius);
      inside += phi[0] <= 0;
    }
    /* Monte Carlo: sd sqrt(q (1 - q) / N) of the fraction q */
    double q = 0.5235987755982988 * 8000 / (side * side * side);
    CK_NEAR(inside / N, q, 5 * sqrt(q * (1 - q) / N) + 0.01 * q);
  }
}
END_TEST

static TlVec3 node_of(const TlPhantomShape *s, int k) {
  return tl_vec3((double)s->node_x[k], (double)s->node_y[k], (double)s->node_z[k]);
}

static bool has_hollow(const TlPhantomShape *s) {
  for (int i = 0; i < s->node_count; i++)
    for (int j = 0; j < i; j++) {
      TlVec3 m = tl_scale(0.5, tl_add(node_of(s, i), node_of(s, j)));
      float x = (float)m.x, y = (float)m.y, z = (float)m.z, phi;
      tl_phantom_shape_phi(s, 1, &x, &y, &z, &phi);
      if (phi > 0.02f * (float)s->diameter) return true;
    }
  return false;
}

START_TEST(concave_grains_are_concave_and_the_others_are_not) {
  for (int k = 0; k < 40; k++) {
    TlRandom random = {12, (uint64_t)k, 0};
    TlPhantomShape s;
    tl_phantom_shape_make(&s, (TlGrainKind)(k % 4), 20, &random);
    ck_assert_msg(has_hollow(&s) == (s.kind == TL_GRAIN_CONCAVE), "shape %d, %s", k,
                  tl_grain_kind_name(s.kind));
  }
}
END_TEST

/* ---- truth against a body whose moments are known ---- */

static void make_cuboid(TlPhantomShape *s, float a, float b, float c) {
  memset(s, 0, sizeof *s);
  s->lobes = 1;
  s->lobe[0].planes = 6;
  s->lobe[0].edge = 1e-4f;
  for (int k = 0; k < 6; k++) {
    float sign = k % 2 ? 1 : -1;
    s->lobe[0].nx[k] = k / 2 == 0 ? sign : 0;
    s->lobe[0].ny[k] = k / 2 == 1 ? sign : 0;
    s->lobe[0].nz[k] = k / 2 == 2 ? sign : 0;
    s->lobe[0].d[k] = 0.5f * (k / 2 == 0 ? a : k / 2 == 1 ? b : c);
  }
  s->diameter = a;
  s->radius = 0.5 * sqrt((double)(a * a + b * b + c * c));
}

START_TEST(moments_of_a_turned_cuboid_are_right) {
  TlPhantomShape s;
  make_cuboid(&s, 17, 13, 9);
  TlMat3 turn = tl_quat_matrix(tl_quat_from_rotation(tl_vec3(0.4, -0.7, 0.3)));
  TlPhantomPiece piece = {&s, {20.3, 19.8, 20.45}, turn, 160};
  TlPhantomSums sums = {.origin = {20, 20, 20}};
  TlPhantomField field = {&piece, 1, 0, {0, 0}, 0};
  TlVolume grey, labels;
  CK_OK(tl_volume_new(&grey, TL_F32, 41, 40, 42));
  CK_OK(tl_volume_new(&labels, TL_U32, 41, 40, 42));
  CK_OK(tl_phantom_fill(&field, &grey, &labels, &sums));
  double n = (double)sums.count, volume = 17.0 * 13 * 9;
  /* 1.5e5 sub-samples, 2.6e4 of them at the surface: sd 0.29 sqrt(2.6e4) / 1.3e5 = 0.04% */
  CK_NEAR(n / 64, volume, 0.002 * volume);
  CK_NEAR(20 + (double)sums.x / n / 8, 20.3, 0.01);
  CK_NEAR(20 + (double)sums.y / n / 8, 19.8, 0.01);
  CK_NEAR(20 + (double)sums.z / n / 8, 20.45, 0.01);
  TlSym3 second =
      tl_sym_rotated_diagonal(turn, tl_vec3(17 * 17 / 12.0, 13 * 13 / 12.0, 9 * 9 / 12.0));
  double cx = (double)sums.x / n, cy = (double)sums.y / n;
  CK_NEAR(((double)sums.xx / n - cx * cx) / 64, second.xx, 0.003 * 24);
  CK_NEAR(((double)sums.xy / n - cx * cy) / 64, second.xy, 0.003 * 24);
  double grey_sum = 0;
  for (int64_t i = 0; i < tl_volume_count(&grey); i++) grey_sum += (double)grey.f32[i];
  CK_NEAR(grey_sum / 160, n / 64, 1e-3); /* every sub-sample of a grain has its grey */
  ck_assert(sums.border == 0);
  tl_volume_free(&grey);
  tl_volume_free(&labels);
}
END_TEST

/* ---- what a scan does to it ---- */

/* A flat stack, and what tl_phantom_noise made of it less its grey, in grey levels. */
static double *disturbed(int64_t nx, int64_t ny, int64_t nz, const TlPhantomFaults *f, double sd) {
  TlVolume flat, out;
  double *d;
  CK_OK(tl_volume_new(&flat, TL_F32, nx, ny, nz));
  for (int64_t i = 0; i < tl_volume_count(&flat); i++) flat.f32[i] = 160;
  CK_OK(tl_phantom_noise(&flat, f, sd, 5, &out));
  CK_OK(TL_NEW(d, (size_t)tl_volume_count(&flat)));
  for (int64_t i = 0; i < tl_volume_count(&flat); i++) d[i] = out.u16[i] / 200.0 - 160;
  tl_volume_free(&flat);
  tl_volume_free(&out);
  return d;
}

/* Smoothing by a Gaussian of sigma s leaves neighbours correlated by about exp(-1/(4 s^2)). */
START_TEST(correlated_noise_keeps_its_sd) {
  enum { N = 64 };
  TlPhantomFaults f = {.noise_correlation_voxels = 1};
  double *d = disturbed(N, N, N, &f, 8), square = 0, across = 0;
  for (int64_t i = 0; i < N * N * N; i++) {
    square += d[i] * d[i];
    if (i % N) across += d[i] * d[i - 1];
  }
  double sd = sqrt(square / (N * N * N));
  CK_NEAR(sd, 8, 0.25); /* one free number in about 22 voxels: sd 0.05; five of them */
  double face = 0;
  for (int64_t i = 0; i < N * N; i++) face += d[i] * d[i];
  CK_NEAR(sqrt(face) / N, 8, 0.6); /* also at the stack's side */
  CK_NEAR(across / square, exp(-0.25), 0.04);
  tl_free(d);
}
END_TEST

START_TEST(rings_are_rings_with_half_their_variance_common) {
  enum { N = 61, Z = 200 };
  TlPhantomFaults f = {.rings_grey = 5};
  double *d = disturbed(N, N, Z, &f, 0), square = 0, common = 0;
  int n = 0;
  for (int z = 0; z < Z; z++) {
    const double *s = d + (size_t)z * N * N;
    for (int r = 1; r <= 30; r++) { /* whole radii: right, left, below and above are the same */
      double right = s[30 * N + 30 + r];
      CK_NEAR(s[30 * N + 30 - r], right, 0.0051);
      CK_NEAR(s[(30 + r) * N + 30], right, 0.0051);
      square += right * right;
      if (z > 0) common += right * s[30 * N + 30 + r - (ptrdiff_t)N * N], n++;
    }
  }
  double variance = square / (30.0 * Z), shared = common / n; /* 30 common numbers: sd of 26% */
  ck_assert_msg(variance > 14 && variance < 40, "variance %g of 25", variance);
  ck_assert_msg(shared > 4 && shared < 26, "common %g of 12.5", shared);
  ck_assert_msg(variance - shared > 11 && variance - shared < 14, "own %g", variance - shared);
  tl_free(d);
}
END_TEST

START_TEST(drifts_have_the_asked_size) {
  TlPhantomFaults f = {.cupping_grey = 12, .bias_z_grey = 8};
  enum { N = 41, Z = 5 };
  double *d = disturbed(N, N, Z, &f, 0);
  size_t middle = 20 * N + 20;
  CK_NEAR(d[middle + (size_t)2 * N * N], -12, 0.01);
  CK_NEAR(d[middle + 20 + (size_t)2 * N * N], -12 * (1 - 400 / (20.5 * 20.5)), 0.01);
  CK_NEAR(d[middle + (size_t)4 * N * N] - d[middle], 8, 0.01);
  tl_free(d);
}
END_TEST

START_TEST(specks_fill_the_asked_part_of_the_grains_only) {
  TlVolume grey, labels;
  CK_OK(tl_volume_new(&grey, TL_F32, 60, 60, 60));
  CK_OK(tl_volume_new(&labels, TL_U32, 60, 60, 60));
  for (int64_t i = 0; i < 216000; i++) {
    grey.f32[i] = 100;
    labels.u32[i] = i % 60 < 40;
  }
  tl_phantom_specks(&grey, &labels, 0.02, 200, 3);
  double part = 0;
  for (int64_t i = 0; i < 216000; i++) {
    double p = (double)(grey.f32[i] - 100) / 100;
    if (!labels.u32[i]) ck_assert(p == 0);
    part += p / 144000;
  }
  /* 203 balls; a few of them cut by the grain's side, a few overlapping: 3 / 40 of a radius */
  CK_NEAR(part, 0.02, 0.002);
  tl_volume_free(&grey);
  tl_volume_free(&labels);
}
END_TEST

/* ---- sizes, kinds, roughness, surface ---- */

/* rms of the phi that roughness adds, its bound, and the slope that culling relies on. */
START_TEST(roughness_has_its_height_and_bounds) {
  double mean = 0;
  for (int k = 0; k < 10; k++) {
    TlRandom random = {21, (uint64_t)k, 0};
    TlPhantomShape smooth, rough;
    tl_phantom_shape_make(&smooth, (TlGrainKind)(k % TL_GRAIN_KINDS), 20, &random);
    rough = smooth;
    tl_phantom_shape_roughen(&rough, 0.4, 6, &random);
    double square = 0, steepest = 0;
    enum { N = 20000 };
    for (int i = 0; i < N; i++) {
      float x[2], y[2], z[2], a[2], b[2];
      x[0] = (float)(30 * tl_random_next(&random) - 15), x[1] = x[0] + 0.02f;
      y[0] = (float)(30 * tl_random_next(&random) - 15), y[1] = y[0] - 0.03f;
      z[0] = (float)(30 * tl_random_next(&random) - 15), z[1] = z[0] + 0.01f;
      tl_phantom_shape_phi(&smooth, 2, x, y, z, a);
      tl_phantom_shape_phi(&rough, 2, x, y, z, b);
      double wave = (double)(b[0] - a[0]);
      ck_assert_msg(fabs(wave) <= rough.bump + 1e-5, "%g over %g", wave, rough.bump);
      square += wave * wave;
      steepest = fmax(steepest, fabs((double)(b[1] - b[0])) / 0.0374165738);
    }
    CK_NEAR(sqrt(square / N), 0.4, 0.1); /* waves of like directions beat over the box */
    mean += sqrt(square / N) / 10;
    ck_assert_msg(steepest <= 1 + rough.slope + 0.01, "slope %g over 1 + %g", steepest,
                  rough.slope);
    ck_assert_msg(steepest > 1.2, "slope %g: no waves", steepest);
  }
  CK_NEAR(mean, 0.4, 0.02);
}
END_TEST

/* Volume and area from the points by the divergence theorem: each stands for area / count. */
static void check_surface(const TlPhantom *p, double volume_tolerance) {
  size_t at = 0;
  int seen = 0;
  for (int64_t g = 0; g < p->grain_count; g++) {
    const TlPhantomGrain *grain = &p->grains[g];
    size_t n = 0;
    double flux = 0;
    for (; at < p->surface_count && p->surface[at].label == grain->label; at++, n++) {
      const TlPhantomPoint *s = &p->surface[at];
      TlVec3 d = tl_sub(tl_vec3((double)s->x, (double)s->y, (double)s->z), grain->centroid);
      TlVec3 normal = tl_vec3((double)s->nx, (double)s->ny, (double)s->nz);
      CK_NEAR(tl_norm(normal), 1, 1e-5);
      flux += tl_dot(d, normal) / 3;
    }
    ck_assert_msg((n > 0) == !grain->border, "grain %u has %zu points", grain->label, n);
    if (n < 250) continue;
    CK_NEAR(flux / 0.5 / grain->volume, 1, volume_tolerance); /* 0.5 points a square voxel */
    seen++;
  }
  ck_assert(at == p->surface_count && seen > 5);
}

/* Making one takes a second, more under sanitizers: all is asked of the same two. */
START_TEST(truth_sizes_kinds_surface_and_noise_are_as_promised) {
  TL_NOT_SANITIZED();
  TlPhantomOptions o = small_options();
  o.opaque = 0.1;
  o.noise_sd = 12;
  o.keep_surface = true;
  TlPhantom p;
  CK_OK(tl_phantom_make(&o, &p));
  check_truth_against_labels(&p);
  check_touching(&p);
  check_sizes(&p);
  check_elongation(&p);
  check_noise(&p, 12);
  check_other_scan(&p, &o);
  /* n points in strata: the flux scatters by about 1/n^0.75, 2% at n = 250; the mesh that spreads
   * them lies inside by a few parts in a thousand, more where it cuts sharp edges */
  check_surface(&p, 0.05);
  tl_phantom_free(&p);
}
END_TEST

START_TEST(rough_faceted_grains_of_a_size_ratio_are_as_asked_for) {
  TL_NOT_SANITIZED();
  TlPhantomOptions o = small_options();
  o.size_ratio = 1.8;
  o.shapes = TL_SHAPES_FACETED;
  o.roughness_voxels = 0.3;
  o.keep_surface = true;
  TlPhantom p;
  CK_OK(tl_phantom_make(&o, &p));
  double least = 1e9, most = 0;
  for (int64_t i = 0; i < p.grain_count; i++) {
    ck_assert(p.grains[i].kind == TL_GRAIN_FACETED);
    least = fmin(least, p.grains[i].whole_diameter);
    most = fmax(most, p.grains[i].whole_diameter);
  }
  CK_NEAR(most, 15 * sqrt(1.8), 1e-6);
  ck_assert_msg(least >= 15 / sqrt(1.8) && least < 13, "finest %g", least);
  CK_NEAR(p.solid_fraction, 0.60, 0.004);
  check_surface(&p, 0.08);
  tl_phantom_free(&p);
}
END_TEST

/* Two boxes that overlap by 1: half-way into it lies the contact. Left out: the wedge along the
 * contact's rim where both boxes' phi are that of the same side, so that all of it is a tie. */
START_TEST(contact_faces_belong_to_the_surface) {
  TlPhantomShape s;
  make_cuboid(&s, 12, 12, 12);
  const TlMat3 straight = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  TlPhantomPiece pieces[2] = {{&s, {20, 20, 20}, straight, 160}, {&s, {31, 20, 20}, straight, 160}};
  TlPhantomField field = {pieces, 2, 0, {0, 0}, 0};
  TlPhantomPoint *point = NULL;
  size_t count = 0, capacity = 0;
  double inner = 0, outer = 0;
  CK_OK(tl_phantom_surface(&field, 0, 1, 4, 1, &point, &count, &capacity));
  for (size_t i = 0; i < count; i++) {
    double x = (double)point[i].x - 20, y = fabs((double)point[i].y - 20),
           z = fabs((double)point[i].z - 20), side = fmax(y, z);
    if (x > 4.5 && side > 4.5) continue;
    CK_NEAR(fmax(fmax(-x, side) - 6, x - 5.5), 0, 2e-3);
    if (side < 4) {
      inner += x > 0;
      outer += x < 0;
      CK_NEAR((double)point[i].nx, x > 0 ? 1 : -1, 1e-3);
    }
  }
  CK_NEAR(inner, 4 * 64, 20); /* in strata: about 1 for each strip of cells */
  CK_NEAR(outer, 4 * 64, 20);
  tl_free(point);
}
END_TEST

START_TEST(packing_leaves_only_shallow_overlaps) {
  enum { N = 60 };
  tl_progress_mode(TL_PROGRESS_OFF);
  TlPhantomShape *shapes;
  TlPhantomPose poses[N];
  CK_OK(TL_NEW(shapes, N));
  for (int i = 0; i < N; i++) {
    TlRandom random = {5, (uint64_t)i, 0};
    tl_phantom_shape_make(&shapes[i], (TlGrainKind)(i % 4), 10, &random);
  }
  double side = cbrt(N * 523.6 / 0.55), deepest;
  TlPhantomBox box = {{side, side, side}, 0};
  CK_OK(tl_phantom_pack(&box, shapes, N, 3, poses, &deepest));
  ck_assert_msg(deepest < 0.5, "%g voxels", deepest); /* 5% of the diameter */
  tl_free(shapes);
}
END_TEST

START_TEST(disc_has_a_wall_and_nothing_outside_the_scan) {
  TlPhantomOptions o = small_options();
  const int64_t side = TL_SIZE(80, 56);
  const double middle = (double)(side - 1) / 2;
  o.nx = o.ny = side;
  o.nz = TL_SIZE(40, 20);
  o.d50_voxels = 11;
  o.disc = true;
  TlPhantom p;
  CK_OK(tl_phantom_make(&o, &p));
  double wall = 0;
  int64_t walls = 0;
  for (int64_t i = 0; i < tl_volume_count(&p.stack); i++) {
    double r = hypot((double)(i % side) - middle, (double)(i / side % side) - middle);
    if (r > middle) ck_assert(p.stack.u16[i] == 0);
    if (r > p.cylinder_radius + 0.71) ck_assert(p.labels.u32[i] == 0);
    if (fabs(r - 0.915 * middle) > 0.3) continue;
    wall += p.clean.u16[i] / 200.0;
    walls++;
  }
  /* The wall is 2 voxels wide and blurred by 0.7: its middle keeps most of its height. */
  ck_assert_msg(wall / (double)walls > 110, "wall %g", wall / (double)walls);
  CK_NEAR(p.solid_fraction, 0.60, 0.01);
  tl_phantom_free(&p);
}
END_TEST

START_TEST(a_thin_stack_is_cut_from_a_larger_packing) {
  TlPhantomOptions o = small_options();
  o.nx = 32;
  o.nz = 8;
  TlPhantom p;
  CK_OK(tl_phantom_make(&o, &p));
  ck_assert(p.stack.nx == 32 && p.stack.ny == 58 && p.stack.nz == 8);
  CK_NEAR(p.solid_fraction, 0.60, 0.02);
  ck_assert(p.grain_count > 10);
  tl_phantom_free(&p);
}
END_TEST

/* ---- the valley ---- */

/* The demo's results depend on these. */
START_TEST(valley_has_the_slopes_of_every_version) {
  static const double at[] = {0, 0.28, 0.55, 0.66, 0.80, 0.92, 1},
                      slope[] = {36, 32, 27, 18, 7, 2, 1};
  for (int k = 0; k < 7; k++) CK_NEAR(tl_valley_slope_deg(at[k]), slope[k], 1e-12);
  CK_NEAR(tl_valley_slope_deg(0.5 * (0.28 + 0.55)), 29.5, 1e-12);
}
END_TEST

START_TEST(valley_falls_along_its_profile) {
  TlValleyOptions o = tl_valley_defaults();
  o.roughness = 0;
  TlValley v;
  CK_OK(tl_valley_make(&o, &v));
  double drop = 0;
  for (int64_t j = 1; j < v.ny; j++) {
    double north = 1 - ((double)j + 0.5) / 200, south = 1 - ((double)j - 0.5) / 200;
    double east = 60 * (1 + tl_valley_thalweg(0.5 * (north + south), o.seed));
    int64_t i = (int64_t)floor(east);
    double rise = v.height_m[j * v.nx + i] - v.height_m[(j - 1) * v.nx + i];
    double slope = tl_valley_slope_deg(0.5 * (north + south)), t = 0.5 * (north + south);
    drop += rise;
    /* where the channel winds or the fan bulges, the cross-section adds to the profile's slope */
    double margin = t < 0.12 ? 0.6 : 8;
    CK_NEAR(atan(rise / o.cell_m) * 57.29577951308232, slope, margin);
    if (t < 0.5) ck_assert(slope > 25 && slope < 37);
    if (t > 0.93) ck_assert(slope < 2.1);
  }
  ck_assert_msg(drop > 60 && drop < 110, "the thalweg falls by %g m", drop);
  double low = INFINITY, high = -INFINITY;
  for (int64_t i = 0; i < v.nx * v.ny; i++) {
    low = fmin(low, v.height_m[i]);
    high = fmax(high, v.height_m[i]);
  }
  ck_assert(v.drop_m >= drop && low > 0);
  CK_NEAR(v.drop_m, high - low, 0);
  CK_NEAR(v.east_m, 452000.5, 0);
  CK_NEAR(v.north_m, 5204000.5, 0);
  tl_valley_free(&v);
}
END_TEST

START_TEST(channel_lies_below_its_banks) {
  TlValleyOptions o = tl_valley_defaults();
  TlValley v;
  CK_OK(tl_valley_make(&o, &v));
  for (int64_t j = 90; j < 120; j++) { /* t 0.40 to 0.55 */
    double t = 1 - ((double)j + 0.5) / 200;
    int64_t bed = (int64_t)floor(60 * (1 + tl_valley_thalweg(t, o.seed)));
    const double *row = v.height_m + j * v.nx;
    ck_assert(row[bed] + 3 < row[bed - 20] && row[bed] + 3 < row[bed + 20]);
  }
  tl_valley_free(&v);
}
END_TEST

START_TEST(outline_is_irregular_and_encloses_no_hole) {
  TlValleyOptions o = tl_valley_defaults();
  o.outline = true;
  TlValley v;
  CK_OK(tl_valley_make(&o, &v));
  int64_t missing = 0, widths[2] = {v.nx, 0};
  for (int64_t j = 0; j < v.ny; j++) {
    int64_t width = 0, runs = 0;
    for (int64_t i = 0; i < v.nx; i++) {
      bool here = !isnan(v.height_m[j * v.nx + i]);
      width += here;
      missing += !here;
      runs += here && (i == 0 || isnan(v.height_m[j * v.nx + i - 1]));
    }
    ck_assert_msg(runs <= 1, "row %ld has %ld runs of data", (long)j, (long)runs);
    if (j < 40 || j >= 160) continue;
    if (width < widths[0]) widths[0] = width;
    if (width > widths[1]) widths[1] = width;
  }
  ck_assert_msg(missing > 1000 && missing < 6000, "%ld cells without data", (long)missing);
  ck_assert_msg(widths[1] - widths[0] >= 3, "straight sides");
  tl_valley_free(&v);
}
END_TEST

START_TEST(valley_repeats_with_its_seed_only) {
  TlValleyOptions o = tl_valley_defaults();
  TlValley a, b, c;
  CK_OK(tl_valley_make(&o, &a));
  CK_OK(tl_valley_make(&o, &b));
  o.seed = 2;
  CK_OK(tl_valley_make(&o, &c));
  size_t bytes = (size_t)(a.nx * a.ny) * sizeof(double);
  ck_assert(memcmp(a.height_m, b.height_m, bytes) == 0);
  ck_assert(memcmp(a.height_m, c.height_m, bytes) != 0);
  tl_valley_free(&a);
  tl_valley_free(&b);
  tl_valley_free(&c);
  o.nx = 8;
  CK_FAILS(tl_valley_make(&o, &a), TL_EUSAGE, "16");
}
END_TEST

START_TEST(impossible_options_are_refused) {
  TlPhantom p;
  TlPhantomOptions o = small_options();
  o.disc = true;
  o.nx = 50;
  CK_FAILS(tl_phantom_make(&o, &p), TL_EUSAGE, "too narrow");
  o = small_options();
  o.solid_fraction = 0.9;
  CK_FAILS(tl_phantom_make(&o, &p), TL_EUSAGE, "solid fraction");
  o = small_options();
  o.noise_sd = -1;
  CK_FAILS(tl_phantom_make(&o, &p), TL_EUSAGE, "noise");
  o = small_options();
  o.roughness_voxels = 0.9;
  CK_FAILS(tl_phantom_make(&o, &p), TL_EUSAGE, "9 times the roughness");
  o = small_options();
  o.size_ratio = 6;
  CK_FAILS(tl_phantom_make(&o, &p), TL_EUSAGE, "1:6");
  o = small_options();
  o.faults.noise_correlation_voxels = 5;
  CK_FAILS(tl_phantom_make(&o, &p), TL_EUSAGE, "0 to 4 voxels");
  o = small_options();
  o.specks = 0.5;
  CK_FAILS(tl_phantom_make(&o, &p), TL_EUSAGE, "specks");
}
END_TEST

/* Mean step of the grey between neighbours along x, at x and x + 1. */
static double step_at(const uint16_t *stack, int64_t nx, int64_t ny, int64_t nz, int64_t x) {
  double sum = 0;
  for (int64_t i = 0; i < ny * nz; i++) sum += abs(stack[i * nx + x + 1] - stack[i * nx + x]);
  return sum / (double)(ny * nz);
}

START_TEST(copies_side_by_side_have_no_seam) {
  TL_NOT_SANITIZED();
  TlPhantomOptions o = small_options();
  o.noise_sd = 0;
  o.periodic = true;
  TlPhantom p;
  CK_OK(tl_phantom_make(&o, &p));
  const int64_t tiles[3] = {2, 1, 3}, nx = 2 * o.nx, layer = nx * o.ny, nz = 3 * o.nz;
  uint16_t *all, *part;
  CK_OK(TL_NEW(all, (size_t)(layer * nz)));
  CK_OK(TL_NEW(part, (size_t)(layer * 7)));
  tl_phantom_tile(&p, &o, tiles, 0, nz, all);
  int64_t unlike = 0;
  for (int64_t i = 0; i < layer * nz; i++) {
    int64_t x = i % nx % o.nx, y = i / nx % o.ny, z = i / layer % o.nz;
    unlike += all[i] != p.stack.u16[tl_volume_at(&p.stack, x, y, z)];
  }
  ck_assert_int_eq(unlike, 0);
  double seam = step_at(all, nx, o.ny, nz, o.nx - 1), inner = 0;
  for (int64_t x = 0; x + 1 < o.nx; x++)
    inner += step_at(all, nx, o.ny, nz, x) / (double)(o.nx - 1);
  ck_assert_msg(seam < 1.3 * inner, "seam %g, inside %g", seam, inner);
  o.noise_sd = 6; /* its own at every voxel, the same for any parts */
  tl_phantom_tile(&p, &o, tiles, 0, nz, all);
  tl_phantom_tile(&p, &o, tiles, 50, 7, part);
  ck_assert(memcmp(part, all + 50 * layer, (size_t)(7 * layer) * 2) == 0);
  ck_assert(memcmp(all, all + o.nz * layer, (size_t)layer * 2) != 0);
  const int64_t one[3] = {1, 1, 1}, two[3] = {1, 1, 2};
  int64_t grains, more, both = 0;
  CK_OK(tl_phantom_tile_grains(&p, one, &grains));
  CK_OK(tl_phantom_tile_grains(&p, two, &more));
  ck_assert_int_eq(grains, p.grain_count);
  for (int64_t i = 0; i < grains; i++) /* in both copies: what goes through the face between them */
    for (int64_t j = 0; j < grains; j++) {
      const TlPhantomGrain *a = &p.grains[i], *b = &p.grains[j];
      both += a->body == b->body && a->cell[0] == b->cell[0] && a->cell[1] == b->cell[1] &&
              a->cell[2] == b->cell[2] + 1;
    }
  ck_assert(both > 0);
  ck_assert_int_eq(more, 2 * grains - both);
  tl_free(all);
  tl_free(part);
  tl_phantom_free(&p);
  o.d50_voxels = 20;
  CK_FAILS(tl_phantom_make(&o, &p), TL_EUSAGE, "side by side");
}
END_TEST

TL_TEST_MAIN("phantom", copies_side_by_side_have_no_seam, same_bytes_for_any_thread_count,
             truth_sizes_kinds_surface_and_noise_are_as_promised,
             poisson_numbers_have_their_mean_variance_and_skewness,
             shapes_have_their_diameter_bound_and_slope,
             concave_grains_are_concave_and_the_others_are_not,
             moments_of_a_turned_cuboid_are_right, correlated_noise_keeps_its_sd,
             rings_are_rings_with_half_their_variance_common, drifts_have_the_asked_size,
             specks_fill_the_asked_part_of_the_grains_only, roughness_has_its_height_and_bounds,
             rough_faceted_grains_of_a_size_ratio_are_as_asked_for,
             contact_faces_belong_to_the_surface, packing_leaves_only_shallow_overlaps,
             disc_has_a_wall_and_nothing_outside_the_scan,
             a_thin_stack_is_cut_from_a_larger_packing, valley_has_the_slopes_of_every_version,
             valley_falls_along_its_profile, channel_lies_below_its_banks,
             outline_is_irregular_and_encloses_no_hole, valley_repeats_with_its_seed_only,
             impossible_options_are_refused)
