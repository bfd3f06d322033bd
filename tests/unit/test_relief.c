/* Distance, hills, passes and flooding against slow twins and against ITK. */
#include "support/tltest.h"
#include "oracle/itk_oracles.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "image/label_field.h"
#include "image/filters.h"
#include "image/grains.h"

#include <float.h>
#include <stdbool.h>

enum { NX = 37, NY = 29, NZ = 31, COUNT = NX * NY * NZ };
static const double cubes[3] = {1, 1, 1};

/* Balls at random: many touch and overlap. */
static void balls(TlVolume *m, uint64_t seed, int count) {
  CK_OK(tl_volume_new(m, TL_U8, NX, NY, NZ));
  for (int k = 0; k < count; k++) {
    double c[4];
    for (int a = 0; a < 4; a++) c[a] = tl_random_uniform(seed, (uint64_t)a, (uint64_t)k);
    double r = 2 + 5 * c[3];
    for (int64_t i = 0; i < COUNT; i++) {
      double x = (double)(i % NX) - NX * c[0], y = (double)(i / NX % NY) - NY * c[1];
      double z = (double)(i / NX / NY) - NZ * c[2];
      if (x * x + y * y + z * z < r * r) m->u8[i] = 1;
    }
  }
}

/* ---- distance ---- */

static double nearest_void(const TlVolume *m, int64_t i, const double edge[3]) {
  double best = INFINITY;
  for (int64_t j = 0; j < COUNT; j++) {
    if (m->u8[j]) continue;
    double x = (double)(i % NX - j % NX) * edge[0];
    double y = (double)(i / NX % NY - j / NX % NY) * edge[1];
    double z = (double)(i / NX / NY - j / NX / NY) * edge[2];
    best = fmin(best, x * x + y * y + z * z);
  }
  return best;
}

static void check_distance(const double edge[3], double relative) {
  TlVolume m;
  balls(&m, 7, 40);
  float *d;
  CK_OK(TL_NEW(d, COUNT));
  CK_OK(tl_distance_squared(m.u8, NX, NY, NZ, edge, d));
  for (int64_t i = 0; i < COUNT; i += 3) {
    double want = nearest_void(&m, i, edge);
    CK_NEAR((double)d[i], want, relative * want);
  }
  tl_free(d);
  tl_volume_free(&m);
}

START_TEST(distance_is_exact_for_cubes) {
  check_distance(cubes, 0);
}
END_TEST

/* Each of at most three sums and products rounds by 6e-8. */
START_TEST(distance_is_physical_for_flat_voxels) {
  check_distance((const double[]){0.7, 0.9, 1.6}, 3e-7);
}
END_TEST

START_TEST(distance_is_that_of_itk) {
  TlVolume m, itk;
  float *d;
  balls(&m, 3, 60);
  CK_OK(TL_NEW(d, COUNT));
  CK_OK(tl_distance_squared(m.u8, NX, NY, NZ, cubes, d));
  CK_OK(tl_itk_distance(&m, &itk));
  for (int64_t i = 0; i < COUNT; i++)
    CK_NEAR(sqrt((double)d[i]), (double)itk.f32[i], 1e-6 * sqrt((double)d[i]));
  tl_free(d);
  tl_volume_free(&itk);
  tl_volume_free(&m);
}
END_TEST

START_TEST(distance_without_void_is_infinite) {
  uint8_t inside[24];
  float d[24];
  memset(inside, 1, sizeof inside);
  CK_OK(tl_distance_squared(inside, 4, 3, 2, cubes, d));
  for (int i = 0; i < 24; i++) ck_assert(isinf(d[i]));
  inside[0] = 0;
  CK_OK(tl_distance_squared(inside, 4, 3, 2, cubes, d));
  CK_NEAR((double)d[23], 9 + 4 + 1, 0);
}
END_TEST

/* ---- the slow twin: voxels from the highest down, one union-find over all ---- */

typedef struct Twin {
  const float *field;
  uint32_t root[COUNT], order[COUNT], grain[COUNT];
  bool marker[COUNT];
  uint32_t count;
} Twin;
static Twin twin;

static bool above(uint32_t p, uint32_t q) {
  return twin.field[p] > twin.field[q] || (twin.field[p] == twin.field[q] && p < q);
}

static int by_height(const void *a, const void *b) {
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return p == q ? 0 : above(p, q) ? -1 : 1;
}

static uint32_t top(uint32_t i) {
  while (twin.root[i] != i) i = twin.root[i] = twin.root[twin.root[i]];
  return i;
}

/* The voxel of neighbour k (0..26) of i, or -1. */
static int64_t neighbour(uint32_t i, int k, double *length) {
  int64_t dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
  int64_t x = i % NX + dx, y = i / NX % NY + dy, z = i / NX / NY + dz;
  *length = sqrt((double)(dx * dx + dy * dy + dz * dz));
  if (k == 13 || x < 0 || y < 0 || z < 0 || x >= NX || y >= NY || z >= NZ) return -1;
  int64_t j = (z * NY + y) * NX + x;
  return twin.field[j] < 0 ? -1 : j;
}

/* Peaks that rise by more than h above the voxel where they meet a higher one. */
static void twin_markers(float h) {
  for (uint32_t n = 0; n < twin.count; n++) {
    uint32_t i = twin.order[n];
    double length;
    twin.marker[i] = true; /* until it ends */
    for (int k = 0; k < 27; k++) {
      int64_t j = neighbour(i, k, &length);
      if (j < 0 || !above((uint32_t)j, i)) continue;
      uint32_t a = top(i), b = top((uint32_t)j);
      if (a == b) continue;
      uint32_t ends = above(a, b) ? b : a;
      twin.root[ends] = ends == a ? b : a;
      twin.marker[ends] = twin.field[ends] - twin.field[i] > h;
    }
  }
  for (uint32_t n = 0; n < twin.count; n++) {
    uint32_t i = twin.order[n];
    if (top(i) == i) twin.marker[i] = twin.field[i] > h;
  }
}

typedef struct Edge {
  uint32_t low, high;
} Edge;

static int highest_edge(const void *a, const void *b) {
  const Edge *p = a, *q = b;
  int first = by_height(&p->low, &q->low);
  return first ? first : p->high < q->high ? -1 : p->high > q->high;
}

/* Steepest way up voxel by voxel, then all pairs of neighbours from the highest down. */
static void twin_flood(void) {
  size_t edges = 0;
  Edge *edge;
  CK_OK(TL_NEW(edge, (size_t)COUNT * 13));
  for (uint32_t n = 0; n < twin.count; n++) {
    uint32_t i = twin.order[n];
    float best = -1;
    twin.root[i] = i;
    for (int k = 0; k < 27; k++) {
      double length;
      int64_t j = neighbour(i, k, &length);
      if (j < 0 || !above((uint32_t)j, i)) continue;
      float slope = (twin.field[j] - twin.field[i]) * (float)(1 / length);
      if (slope > best) twin.root[i] = top((uint32_t)j);
      best = fmaxf(best, slope);
      edge[edges++] = (Edge){i, (uint32_t)j};
    }
  }
  qsort(edge, edges, sizeof *edge, highest_edge);
  for (size_t e = 0; e < edges; e++) {
    uint32_t a = top(edge[e].low), b = top(edge[e].high);
    if (a != b && !(twin.marker[a] && twin.marker[b]))
      twin.root[twin.marker[a] ? b : a] = twin.marker[a] ? a : b;
  }
  tl_free(edge);
}

/* Numbers by first voxel; components without a marker stay 0. */
static uint32_t twin_run(const float *field, float h) {
  uint32_t grains = 0, number[COUNT] = {0};
  twin.field = field;
  twin.count = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    twin.root[i] = i;
    if (field[i] >= 0) twin.order[twin.count++] = i;
  }
  qsort(twin.order, twin.count, sizeof *twin.order, by_height);
  twin_markers(h);
  twin_flood();
  for (uint32_t i = 0; i < COUNT; i++) {
    twin.grain[i] = 0;
    if (field[i] < 0 || !twin.marker[top(i)]) continue;
    if (!number[top(i)]) number[top(i)] = ++grains;
    twin.grain[i] = number[top(i)];
  }
  return grains;
}

/* ---- ours ---- */

/* Slabs of `thick` planes, 0: one, that climb in planes ahead of them. */
static uint32_t ours(const float *field, double h, int64_t thick, int64_t ahead, uint32_t *labels) {
  TlRelief r;
  TlPeak *peaks;
  TlGrains g;
  uint8_t *marked;
  size_t count;
  TlGrainRule rule = {.h_voxels = h, .edge = {1, 1, 1}};
  CK_OK(tl_relief_open(&r, NX, NY, NZ, cubes));
  for (int64_t z = 0; z < NZ; z += thick ? thick : NZ) {
    int64_t end = thick && z + thick < NZ ? z + thick : NZ;
    CK_OK(tl_relief_add(&r, end, end + ahead < NZ ? end + ahead : NZ,
                        field + (z > 0 ? z - 1 : 0) * NX * NY, NULL, NULL, labels + z * NX * NY));
  }
  CK_OK(tl_relief_close(&r));
  CK_OK(tl_grains_peaks(&r, &peaks, &count));
  CK_OK(TL_NEW(marked, r.ids));
  for (size_t i = 0; i < count; i++)
    marked[peaks[i].id] = tl_grains_rise(&rule, (double)peaks[i].peak, (double)peaks[i].saddle) > 1;
  CK_OK(tl_grains_flood(&r, marked, &rule, 1, &g));
  for (int64_t i = 0; i < COUNT; i++) labels[i] = g.number[tl_relief_id(&r, labels[i])];
  uint32_t grains = g.count;
  tl_grains_free(&g);
  tl_free(marked);
  tl_free(peaks);
  tl_relief_free(&r);
  return grains;
}

/* rough: distances as they are, full of plateaus; else made smooth by noise far below them. */
static void make_field(uint64_t seed, bool rough, TlVolume *m, float *field) {
  balls(m, seed, 45);
  CK_OK(tl_distance_squared(m->u8, NX, NY, NZ, cubes, field));
  for (int64_t i = 0; i < COUNT; i++) {
    float noise = rough ? 0 : 0.02F * (float)tl_random_uniform(seed, 9, (uint64_t)i);
    field[i] = m->u8[i] ? sqrtf(field[i]) + noise : TL_RELIEF_VOID;
  }
}

START_TEST(hills_are_those_of_the_slow_twin) {
  static float field[COUNT];
  static uint32_t labels[COUNT];
  for (uint64_t seed = 1; seed <= 6; seed++) {
    TlVolume m;
    make_field(seed, seed % 2, &m, field);
    uint32_t want = twin_run(field, 0.3F), got = ours(field, (double)0.3F, 0, 0, labels);
    ck_assert_uint_eq(got, want);
    ck_assert_uint_gt(got, 8);
    ck_assert_mem_eq(labels, twin.grain, sizeof labels);
    tl_volume_free(&m);
  }
}
END_TEST

START_TEST(any_slabs_and_threads_give_the_same_labels) {
  static float field[COUNT];
  static uint32_t whole[COUNT], cut[COUNT];
  static const int64_t thick[] = {1, 2, 3, 7, 16, 30};
  for (uint64_t seed = 11; seed <= 14; seed++) {
    TlVolume m;
    make_field(seed, seed % 2, &m, field);
    tl_par_set_threads(1);
    uint32_t want = ours(field, 0.3, 0, 0, whole);
    for (size_t k = 0; k < sizeof thick / sizeof *thick; k++) {
      tl_par_set_threads(k % 2 ? 3 : 1);
      for (int64_t ahead = 0; ahead <= 5; ahead += 5) {
        ck_assert_uint_eq(ours(field, 0.3, thick[k], ahead, cut), want);
        ck_assert_mem_eq(whole, cut, sizeof cut);
      }
    }
    tl_volume_free(&m);
  }
  tl_par_set_threads(0);
}
END_TEST

/* As labelling does: hills of a few voxels go, which six and 26 neighbours give to other grains. */
static void smooth(const TlVolume *m, float *field) {
  for (int64_t i = 0; i < COUNT; i++) field[i] = m->u8[i] ? field[i] : 0;
  CK_OK(tl_gaussian_floats(field, NX, NY, NZ, cubes, TL_GAUSSIAN_DIRECT));
  for (int64_t i = 0; i < COUNT; i++) field[i] = m->u8[i] ? field[i] : TL_RELIEF_VOID;
}

/* ITK floods over faces in the order of its queue; ours climbs over edges and corners too. The
 * number of grains must be the same, and the labels but for some voxels by the borders (seen: 0.6
 * to 2.8% of all, in grains of 4 voxels radius that overlap). The slow twin holds ours exactly. */
START_TEST(itk_finds_the_same_grains_but_for_their_border_voxels) {
  static float field[COUNT];
  static uint32_t labels[COUNT], with[COUNT];
  for (uint64_t seed = 21; seed <= 24; seed++) {
    TlVolume m, f, markers, itk;
    uint32_t count;
    int64_t grain = 0, apart = 0;
    make_field(seed, false, &m, field);
    smooth(&m, field);
    CK_OK(tl_volume_like(&f, &m, TL_F32));
    for (int64_t i = 0; i < COUNT; i++) f.f32[i] = fmaxf(field[i], 0);
    CK_OK(tl_itk_markers(&f, 0.3, &markers, &count));
    CK_OK(tl_itk_watershed(&f, &markers, &m, &itk));
    ck_assert_uint_eq(ours(field, 0.3, 0, 0, labels), count);
    for (int64_t i = 0; i < COUNT; i++) /* our label of ITK's marker */
      if (markers.u32[i]) with[markers.u32[i]] = labels[i];
    for (int64_t i = 0; i < COUNT; i++) {
      ck_assert_int_eq(labels[i] > 0, itk.u32[i] > 0);
      grain += labels[i] > 0;
      if (labels[i] == 0 || with[itk.u32[i]] == labels[i]) continue;
      apart++;
    }
    ck_assert_msg((double)apart < 0.05 * (double)grain, "%lld of %lld voxels apart",
                  (long long)apart, (long long)grain);
    tl_volume_free(&m);
    tl_volume_free(&f);
    tl_volume_free(&markers);
    tl_volume_free(&itk);
  }
}
END_TEST

/* Two boxes of 4 x 4 x 4 with a wall of one lower voxel layer; a face is inner where both its
 * voxels are core. */
START_TEST(passes_share_faces) {
  float field[9 * 4 * 4];
  uint32_t ids[9 * 4 * 4];
  TlClue clue[9 * 4 * 4];
  TlRelief r;
  for (int i = 0; i < 144; i++) {
    int x = i % 9;
    field[i] = 1; /* x = 4; the ends are the peaks */
    if (x < 4) field[i] = 1.9F - 0.1F * (float)x;
    if (x > 4) field[i] = 1.1F + 0.1F * (float)x;
    clue[i] = (TlClue){.dip = 5, .core = i / 9 % 4 < (x == 4 ? 3 : 2)};
  }
  CK_OK(tl_relief_open(&r, 9, 4, 4, cubes));
  CK_OK(tl_relief_add(&r, 4, 4, field, clue, NULL, ids));
  CK_OK(tl_relief_close(&r));
  uint32_t faces = 0, inner = 0;
  uint64_t dip = 0;
  for (size_t i = 0; i < r.saddles; i++)
    if (r.basin[r.saddle[i].a].at % 9 != r.basin[r.saddle[i].b].at % 9) {
      faces += r.saddle[i].faces[0];
      inner += r.saddle[i].inner;
      dip += r.saddle[i].dip;
    }
  ck_assert_uint_eq(faces, 16);
  ck_assert_uint_eq(inner, 8);
  ck_assert_uint_eq(dip, 8 * 5);
  tl_relief_free(&r);
}
END_TEST

TL_TEST_MAIN("relief", distance_is_exact_for_cubes, distance_is_physical_for_flat_voxels,
             distance_is_that_of_itk, distance_without_void_is_infinite,
             hills_are_those_of_the_slow_twin, any_slabs_and_threads_give_the_same_labels,
             itk_finds_the_same_grains_but_for_their_border_voxels, passes_share_faces)
