#include "support/tltest.h"

#include "base/mem.h"
#include "base/random.h"
#include "num/hull.h"
#include "image/label.h"
#include "image/label_field.h"
#include "image/label_quality.h"
#include "num/volume.h"

#include <stdbool.h>

static const TlRoi whole = {.kind = TL_ROI_ALL};
static const TlLabelOptions usual = {
    .sigma = 0.7, .h_voxels = 0.15, .h_relative = 0.04, .neck = 0.65, .min_voxels = 30};

static void ball(TlVolume *m, double x, double y, double z, double r) {
  for (int64_t i = 0; i < tl_volume_count(m); i++) {
    double dx = (double)(i % m->nx) - x, dy = (double)(i / m->nx % m->ny) - y;
    double dz = (double)(i / m->nx / m->ny) - z;
    if (dx * dx + dy * dy + dz * dz <= r * r) m->u8[i] = 1;
  }
}

static uint32_t at(const TlVolume *labels, int64_t x, int64_t y, int64_t z) {
  return labels->u32[tl_volume_at(labels, x, y, z)];
}

START_TEST(touching_balls_of_sizes_1_to_5_are_one_label_each) {
  TlVolume m, labels;
  TlLabelResult r;
  CK_OK(tl_volume_new(&m, TL_U8, 70, 60, 56));
  ball(&m, 25, 30, 28, 20.3);
  ball(&m, 48.5, 30, 28, 4.1); /* overlaps the large one by 0.9 */
  ball(&m, 25, 30, 52.2, 4.3);
  ball(&m, 58, 34, 30, 6.7);
  CK_OK(tl_label(&m, &whole, &usual, &labels, &r));
  ck_assert_uint_eq(r.grains, 4);
  ck_assert_int_eq(r.unreached, 0);
  ck_assert(at(&labels, 25, 30, 28) != at(&labels, 48, 30, 28));
  ck_assert(at(&labels, 25, 30, 28) != at(&labels, 25, 30, 52));
  ck_assert(at(&labels, 58, 34, 30) != at(&labels, 48, 30, 28));
  ck_assert(at(&labels, 25, 30, 28) == at(&labels, 10, 30, 28));
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

/* A long ellipsoid's distance map is a ridge with false peaks of a fraction of a voxel. */
START_TEST(elongated_grain_stays_whole) {
  TlVolume m, labels;
  TlLabelResult r;
  CK_OK(tl_volume_new(&m, TL_U8, 90, 40, 40));
  for (int64_t i = 0; i < tl_volume_count(&m); i++) {
    double x = (double)(i % 90) - 44.3, y = (double)(i / 90 % 40) - 19.7;
    double z = (double)(i / 3600) - 20.2, u = 0.96 * x + 0.28 * y, v = -0.28 * x + 0.96 * y;
    m.u8[i] = u * u / 1600 + v * v / 121 + z * z / 100 <= 1;
  }
  CK_OK(tl_label(&m, &whole, &usual, &labels, &r));
  ck_assert_uint_eq(r.grains, 1);
  ck_assert_int_eq(r.border, 0);
  CK_NEAR(r.median_diameter, 2 * cbrt(40.0 * 11 * 10), 0.2);
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(every_mask_voxel_is_in_a_grain_or_counted) {
  TlVolume m, labels;
  TlLabelResult r;
  TlLabelOptions o = usual;
  o.min_voxels = 200;
  CK_OK(tl_volume_new(&m, TL_U8, 60, 50, 40));
  for (int k = 0; k < 40; k++)
    ball(&m, 60 * tl_random_uniform(1, 0, (uint64_t)k), 50 * tl_random_uniform(1, 1, (uint64_t)k),
         40 * tl_random_uniform(1, 2, (uint64_t)k), 2 + 6 * tl_random_uniform(1, 3, (uint64_t)k));
  CK_OK(tl_label(&m, &whole, &o, &labels, &r));
  int64_t mask = 0, labelled = 0;
  uint32_t next = 1;
  for (int64_t i = 0; i < tl_volume_count(&m); i++) {
    mask += m.u8[i];
    labelled += labels.u32[i] > 0;
    ck_assert(!labels.u32[i] || m.u8[i]);
    ck_assert_uint_le(labels.u32[i], next); /* canonical */
    if (labels.u32[i] == next) next++;
  }
  ck_assert_uint_eq(next, r.grains + 1);
  ck_assert_int_eq(labelled, r.grain_voxels);
  ck_assert_int_eq(mask, labelled + r.dropped_voxels + r.unreached);
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(cut_grains_are_flagged_at_stack_and_region) {
  TlVolume m, labels;
  TlLabelResult r;
  uint8_t *flags;
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 30, .y = 30, .r = 24, .nx = 60, .ny = 60};
  CK_OK(tl_volume_new(&m, TL_U8, 60, 60, 40));
  ball(&m, 30, 30, 20, 8); /* whole */
  ball(&m, 30, 12, 20, 8); /* cut by the disc at y = 6 */
  ball(&m, 30, 47, 3, 6);  /* cut by the face z = 0 */
  CK_OK(tl_label(&m, &disc, &usual, &labels, &r));
  ck_assert_uint_eq(r.grains, 3);
  ck_assert_uint_eq(r.border, 2);
  CK_OK(tl_label_border(&labels, &disc, &flags, r.grains));
  ck_assert_int_eq(flags[at(&labels, 30, 30, 20)], 0);
  ck_assert_int_eq(flags[at(&labels, 30, 12, 20)], 1);
  ck_assert_int_eq(flags[at(&labels, 30, 47, 3)], 1);
  tl_free(flags);
  CK_OK(tl_label_border(&labels, &whole, &flags, r.grains));
  ck_assert_int_eq(flags[at(&labels, 30, 12, 20)], 0); /* without the region it looks whole */
  tl_free(flags);
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(mask_of_any_type_counts_above_zero) {
  TlVolume m, f, a, b;
  TlLabelResult r;
  CK_OK(tl_volume_new(&m, TL_U8, 30, 30, 30));
  ball(&m, 14, 15, 14, 9);
  CK_OK(tl_volume_new(&f, TL_F32, 30, 30, 30));
  for (int64_t i = 0; i < tl_volume_count(&m); i++) f.f32[i] = m.u8[i] ? 0.25F : -1;
  CK_OK(tl_label(&m, &whole, &usual, &a, &r));
  CK_OK(tl_label(&f, &whole, &usual, &b, &r));
  ck_assert_mem_eq(a.u32, b.u32, (size_t)tl_volume_count(&m) * 4);
  tl_volume_free(&m);
  tl_volume_free(&f);
  tl_volume_free(&a);
  tl_volume_free(&b);
}
END_TEST

START_TEST(mask_without_grain_or_void_is_refused) {
  TlVolume m, labels;
  TlLabelResult r;
  TlLabelOptions o = usual;
  CK_OK(tl_volume_new(&m, TL_U8, 20, 20, 20));
  CK_FAILS(tl_label(&m, &whole, &o, &labels, &r), TL_EINPUT, "all void");
  ball(&m, 10, 10, 10, 4);
  o.min_voxels = 5000;
  CK_FAILS(tl_label(&m, &whole, &o, &labels, &r), TL_EINPUT, "--min-voxels");
  memset(m.u8, 1, 8000);
  CK_FAILS(tl_label(&m, &whole, &o, &labels, &r), TL_EINPUT, "all grain");
  tl_volume_free(&m);
}
END_TEST

/* ---- by slabs ---- */

static TlStatus by_slabs(const TlVolume *mask, const TlLabelOptions *o, int64_t slab, int64_t most,
                         const char *scratch, TlVolume *labels, TlLabelResult *r) {
  TlLayers layers;
  TlLabelPlan plan = {.slab_planes = slab, .most_planes = most};
  TlVolumeSink into = {.volume = labels};
  TlLayerSink sink = tl_sink_of(&into);
  CK_OK(tl_volume_like(labels, mask, TL_U32));
  tl_layers_of(mask, &layers);
  TlStatus status =
      tl_sink_end(&sink, tl_label_layers(&layers, &whole, o, &plan, scratch, &sink, r));
  if (status != TL_OK) tl_volume_free(labels);
  tl_layers_close(&layers);
  return status;
}

static void many_balls(TlVolume *m, int count, double least, double most) {
  for (int k = 0; k < count; k++) {
    double u[4];
    for (int a = 0; a < 4; a++) u[a] = tl_random_uniform(5, (uint64_t)a, (uint64_t)k);
    ball(m, (double)m->nx * u[0], (double)m->ny * u[1], (double)m->nz * u[2],
         least + (most - least) * u[3]);
  }
}

/* No grain that touches a seam differs: no voxel does. Grains are up to 28 voxels deep, more than
 * the halo begins with. */
START_TEST(slabs_give_the_labels_of_the_whole) {
  static const int64_t thick[] = {1, 5, 16, 40};
  static const double sizes[2][3] = {{0, 0, 0}, {2e-6, 2e-6, 3e-6}};
  for (int k = 0; k < 8; k++) {
    TlVolume m, all;
    TlLabelResult a, b;
    CK_OK(tl_volume_new(&m, TL_U8, 64, 60, 90));
    memcpy(m.voxel_m, sizes[k / 4], sizeof m.voxel_m);
    many_balls(&m, 60, 3, 9);
    ball(&m, 30, 30, 45, 28);
    CK_OK(tl_label(&m, &whole, &usual, &all, &a));
    TlVolume p;
    CK_OK(by_slabs(&m, &usual, thick[k % 4], 0, tl_test_folder(), &p, &b));
    ck_assert_mem_eq(all.u32, p.u32, (size_t)tl_volume_count(&m) * 4);
    ck_assert_uint_eq(a.grains, b.grains);
    ck_assert_uint_eq(a.border, b.border);
    ck_assert_int_eq(a.dropped_voxels, b.dropped_voxels);
    ck_assert_int_eq(a.grain_voxels, b.grain_voxels);
    ck_assert_int_eq(a.unreached, b.unreached);
    tl_volume_free(&m);
    tl_volume_free(&all);
    tl_volume_free(&p);
  }
}
END_TEST

/* A plane more adds its field and its labels, and the hills and passes of its voxels. */
START_TEST(plan_counts_each_plane) {
  TlVolume head = {.type = TL_U8, .nx = 300, .ny = 200, .nz = 700, .voxel_m = {1e-6, 1e-6, 1e-6}};
  TlLabelPlan one, two;
  CK_OK(tl_label_plan(&head, &usual, 0, &one));
  head.nz *= 2;
  CK_OK(tl_label_plan(&head, &usual, 0, &two));
  double voxels = 300.0 * 200 * 700, labels = sizeof(uint32_t), hills = 0.05;
  CK_NEAR((double)(two.bytes - one.bytes) / voxels, (double)TL_FIELD_BYTES + labels + hills, 1e-6);
}
END_TEST

START_TEST(slabs_too_thin_for_the_grains_are_refused) {
  TlVolume m;
  TlLabelResult r;
  TlLabelPlan plan;
  CK_OK(tl_volume_new(&m, TL_U8, 80, 80, 150));
  ball(&m, 40, 40, 75, 38);
  TlVolume p;
  CK_FAILS(by_slabs(&m, &usual, 8, 72, tl_test_folder(), &p, &r), TL_ELIMIT, "--memory");
  CK_FAILS(by_slabs(&m, &usual, 8, 150, "/nowhere/at/all", &p, &r), TL_EIO, "/nowhere/at/all");
  CK_OK(by_slabs(&m, &usual, 8, 150, tl_test_folder(), &p, &r));
  CK_OK(tl_label_plan(&m, &usual, 0, &plan));
  ck_assert_int_eq(plan.slab_planes, 150);
  CK_OK(tl_label_plan(&m, &usual, 6000000, &plan));
  ck_assert_int_lt(plan.slab_planes, 75);
  ck_assert_int_le(plan.bytes, 6000000);
  ck_assert_int_ge(plan.most_planes, plan.slab_planes + 56);
  CK_FAILS(tl_label_plan(&m, &usual, 1000000, &plan), TL_ELIMIT, "at least");
  tl_volume_free(&m);
  tl_volume_free(&p);
}
END_TEST

/* ---- physical distances, the user's markers, many grains ---- */

/* The same two touching ellipsoids seen with flat voxels are two balls. As cubes the distance along
 * z would be short by half, and each of these would be a plate. */
START_TEST(flat_voxels_are_measured_in_space) {
  TlVolume m, labels;
  TlLabelResult r;
  CK_OK(tl_volume_new(&m, TL_U8, 80, 44, 20));
  m.voxel_m[0] = m.voxel_m[1] = 1e-5;
  m.voxel_m[2] = 2.5e-5;
  for (int64_t i = 0; i < tl_volume_count(&m); i++) {
    double x = (double)(i % 80), y = (double)(i / 80 % 44) - 21.5;
    double z = 2.5 * ((double)(i / 3520) - 9.5);
    double a = fmin(fabs(x - 21.5), fabs(x - 58.5));
    m.u8[i] = a * a + y * y + z * z <= 19 * 19;
  }
  CK_OK(tl_label(&m, &whole, &usual, &labels, &r));
  ck_assert_uint_eq(r.grains, 2);
  ck_assert(at(&labels, 10, 21, 10) != at(&labels, 70, 21, 10));
  /* The pass is the mid-plane x = 40, by voxels. */
  for (int64_t i = 0; i < tl_volume_count(&m); i++)
    if (m.u8[i] && i % 80 != 39 && i % 80 != 40)
      ck_assert_uint_eq(labels.u32[i],
                        i % 80 < 40 ? at(&labels, 10, 21, 10) : at(&labels, 70, 21, 10));
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(own_markers_decide) {
  TlVolume m, markers, labels;
  TlLabelResult r;
  TlLabelOptions o = usual;
  CK_OK(tl_volume_new(&m, TL_U8, 70, 30, 30));
  CK_OK(tl_volume_new(&markers, TL_U32, 70, 30, 30));
  ball(&m, 15, 15, 15, 11);
  ball(&m, 35, 15, 15, 11);
  ball(&m, 58, 15, 15, 8);                                /* no marker: stays void */
  markers.u32[tl_volume_at(&m, 14, 14, 14)] = UINT32_MAX; /* any number */
  TlLayers layers;
  tl_layers_of(&markers, &layers);
  o.markers = &layers;
  CK_OK(tl_label(&m, &whole, &o, &labels, &r)); /* one marker: both are one grain */
  ck_assert_uint_eq(r.grains, 1);
  ck_assert(at(&labels, 15, 15, 15) == 1 && at(&labels, 35, 15, 15) == 1);
  ck_assert_uint_eq(at(&labels, 58, 15, 15), 0);
  ck_assert_int_gt(r.unreached, 1900);
  tl_volume_free(&labels);
  markers.u32[tl_volume_at(&m, 36, 14, 14)] = 3;
  markers.u32[tl_volume_at(&m, 35, 20, 15)] = 3; /* apart, and one grain */
  markers.u32[tl_volume_at(&m, 1, 1, 1)] = 9;    /* in the void */
  CK_OK(tl_label(&m, &whole, &o, &labels, &r));
  ck_assert_uint_eq(r.grains, 2);
  ck_assert_uint_eq(at(&labels, 15, 15, 15), 1);
  ck_assert_uint_eq(at(&labels, 35, 15, 15), 2);
  TlVolume p;
  CK_OK(by_slabs(&m, &o, 4, 0, tl_test_folder(), &p, &r));
  ck_assert_mem_eq(labels.u32, p.u32, (size_t)tl_volume_count(&m) * 4);
  tl_volume_free(&labels);
  tl_volume_free(&p);
  tl_volume_free(&markers);
  CK_OK(tl_volume_new(&markers, TL_U32, 70, 30, 31));
  tl_layers_close(&layers);
  tl_layers_of(&markers, &layers);
  CK_FAILS(tl_label(&m, &whole, &o, &labels, &r), TL_EINPUT, "70 x 30 x 31");
  tl_layers_close(&layers);
  tl_volume_free(&m);
  tl_volume_free(&markers);
}
END_TEST

START_TEST(thousands_of_own_markers_of_any_number) {
  enum { N = 100 };
  TlVolume m, markers, labels;
  TlLabelResult r;
  TlLabelOptions o = usual;
  TlLayers layers;
  CK_OK(tl_volume_new(&m, TL_U8, N, N, 1));
  CK_OK(tl_volume_new(&markers, TL_U32, N, N, 1));
  for (int64_t i = 0; i < N * N; i++) {
    m.u8[i] = i % N % 2 == 0 && i / N % 2 == 0; /* grains of one voxel */
    markers.u32[i] = (uint32_t)(i + 1) * 2654435761U;
  }
  tl_layers_of(&markers, &layers);
  o.markers = &layers;
  o.min_voxels = 1;
  CK_OK(tl_label(&m, &whole, &o, &labels, &r));
  ck_assert_uint_eq(r.grains, N * N / 4);
  for (int64_t i = 0; i < N * N; i++)
    ck_assert_uint_eq(labels.u32[i], m.u8[i] ? (uint32_t)(i / N / 2 * (N / 2) + i % N / 2 + 1) : 0);
  tl_layers_close(&layers);
  tl_volume_free(&m);
  tl_volume_free(&markers);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(more_than_65535_grains) {
  TlVolume m, labels;
  TlLabelResult r;
  TlLabelOptions o = {.h_voxels = 0.15, .min_voxels = 1};
  CK_OK(tl_volume_new(&m, TL_U8, 83, 83, 83));
  for (int64_t i = 0; i < tl_volume_count(&m); i++)
    m.u8[i] = i % 83 % 2 == 1 && i / 83 % 83 % 2 == 1 && i / 6889 % 2 == 1;
  CK_OK(tl_label(&m, &whole, &o, &labels, &r));
  ck_assert_uint_eq(r.grains, 41 * 41 * 41);
  ck_assert_uint_eq(at(&labels, 81, 81, 81), 41 * 41 * 41);
  tl_volume_free(&m);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(sweep_counts_what_labelling_would) {
  TlVolume m, labels;
  TlLabelResult r;
  static const double h[4] = {0.02, 0.15, 1.5, 8};
  uint32_t grains[4];
  TlLabelOptions o = usual;
  o.sweep_h = h;
  o.sweep_count = 4;
  o.sweep_grains = grains;
  CK_OK(tl_volume_new(&m, TL_U8, 64, 60, 50));
  many_balls(&m, 60, 3, 9);
  CK_OK(tl_label(&m, &whole, &o, &labels, &r));
  ck_assert_uint_eq(grains[1], r.grains);
  ck_assert_uint_gt(grains[0], grains[2]);
  ck_assert_uint_gt(grains[2], grains[3]);
  tl_volume_free(&labels);
  for (int i = 0; i < 4; i++) {
    TlLabelOptions one = usual;
    one.h_voxels = h[i];
    TlStatus status = tl_label(&m, &whole, &one, &labels, &r);
    ck_assert_uint_eq(status == TL_OK ? r.grains : 0, grains[i]);
    tl_volume_free(&labels);
  }
  tl_volume_free(&m);
}
END_TEST

/* ---- signs of wrong splits ---- */

START_TEST(hull_is_exact) {
  TlPoint3 cube[27 * 2];
  double volume;
  size_t n = 0;
  for (int pass = 0; pass < 2; pass++) /* all twice: equal points, points on edges and faces */
    for (int i = 0; i < 27; i++) cube[n++] = (TlPoint3){5 * (i % 3), 5 * (i / 3 % 3), 5 * (i / 9)};
  CK_OK(tl_lattice_hull(cube, n, &volume));
  CK_NEAR(volume, 1000, 0);
  TlPoint3 octahedron[] = {{0, 0, 0},  {3, 0, 0}, {-3, 0, 0}, {0, 3, 0},
                           {0, -3, 0}, {0, 0, 3}, {0, 0, -3}, {1, 1, 1}};
  CK_OK(tl_lattice_hull(octahedron, 8, &volume));
  CK_NEAR(volume, 36, 0);
  TlPoint3 flat[] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {4, 4, 0}, {2, 2, 0}};
  CK_OK(tl_lattice_hull(flat, 5, &volume));
  CK_NEAR(volume, 0, 0);
  CK_OK(tl_lattice_hull(flat, 1, &volume));
  CK_NEAR(volume, 0, 0);
}
END_TEST

/* A box of 10 x 6 x 4 and one of 4 x 6 x 4 that share a face of 6 x 4; an L of 3 + 2 cubes alone.
 */
START_TEST(quality_has_contacts_and_waists) {
  TlVolume v;
  TlLayers layers;
  TlLabelQuality *q;
  CK_OK(tl_volume_new(&v, TL_U32, 30, 20, 12));
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    int64_t x = i % 30, y = i / 30 % 20, z = i / 600;
    if (y >= 2 && y < 8 && z >= 3 && z < 7)
      v.u32[i] = x >= 2 && x < 12 ? 1 : x >= 12 && x < 16 ? 2 : 0;
    if (z == 9 && ((y == 15 && x >= 20 && x < 23) || (x == 20 && y > 15 && y < 18))) v.u32[i] = 3;
  }
  tl_layers_of(&v, &layers);
  CK_OK(tl_label_quality(&layers, &whole, 3, &q));
  ck_assert_int_eq(q[1].voxels, 240);
  CK_NEAR(q[1].under, 1, 1e-12);
  CK_NEAR(q[2].over, sqrt(4 * 24 / M_PI) / cbrt(6 * 96 / M_PI), 1e-12);
  ck_assert_uint_eq(q[2].neighbour, 1);
  ck_assert_uint_eq(q[1].neighbours, 1);
  ck_assert_uint_eq(q[3].neighbour, 0);
  CK_NEAR(q[3].under, 7.0 / 5, 1e-12); /* of the 3 x 3 square a triangle of 2 is not in the hull */
  CK_NEAR(q[3].over, 0, 0);
  tl_free(q);
  CK_FAILS(tl_label_quality(&layers, &whole, 2, &q), TL_EINPUT, "label 3");
  tl_layers_close(&layers);
  tl_volume_free(&v);
}
END_TEST

/* Grains 1 and 2 share 24 faces of the smaller one's cross-section; 3, which is larger than 4, is
 * cut by the border and has only that one beside it; so has 5, which is smaller than 6. */
START_TEST(widest_contacts_are_those_of_the_smaller_one_s_section) {
  static const struct {
    uint32_t label;
    int64_t low[3], high[3];
  } boxes[] = {{1, {2, 2, 3}, {12, 8, 7}},   {2, {12, 2, 3}, {16, 8, 7}},
               {3, {20, 0, 3}, {26, 6, 9}},  {4, {20, 6, 3}, {26, 8, 9}},
               {5, {2, 18, 9}, {6, 20, 12}}, {6, {6, 14, 8}, {14, 19, 11}}};
  TlVolume v;
  TlLayers layers;
  CK_OK(tl_volume_new(&v, TL_U32, 30, 20, 12));
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
      const int64_t at[3] = {i % 30, i / 30 % 20, i / 600}, *l = boxes[b].low, *h = boxes[b].high;
      bool in = true;
      for (int a = 0; a < 3; a++) in = in && at[a] >= l[a] && at[a] < h[a];
      if (in) v.u32[i] = boxes[b].label;
    }
  tl_layers_of(&v, &layers);
  double section = M_PI * pow(0.75 * 96 / M_PI, 2.0 / 3), plate = M_PI * pow(54 / M_PI, 2.0 / 3);
  for (int64_t at_once = 1; at_once < 14; at_once += 4) {
    uint8_t *border;
    double *width;
    CK_OK(tl_label_contacts(&layers, &whole, 6, at_once, &border, &width));
    CK_NEAR(width[1], 24 / section, 1e-12);
    CK_NEAR(width[2], 24 / section, 1e-12);
    CK_NEAR(width[3], 36 / plate, 1e-12);
    CK_NEAR(width[4], 36 / plate, 1e-12);
    ck_assert(width[5] == 0 && width[6] == 0);
    ck_assert(!border[1] && !border[2] && border[3] && !border[4] && border[5] && !border[6]);
    tl_free(border);
    tl_free(width);
  }
  uint8_t *border;
  double *width;
  CK_FAILS(tl_label_contacts(&layers, &whole, 5, 4, &border, &width), TL_EINPUT, "label 6");
  tl_layers_close(&layers);
  tl_volume_free(&v);
}
END_TEST

/* The same face of 24 voxel faces, each 1 x 2 of a voxel that is twice as high as wide. */
START_TEST(quality_is_physical) {
  TlVolume v;
  TlLayers layers;
  TlLabelQuality *q;
  CK_OK(tl_volume_new(&v, TL_U32, 20, 12, 12));
  v.voxel_m[0] = v.voxel_m[1] = 1e-5;
  v.voxel_m[2] = 2e-5;
  for (int64_t i = 0; i < tl_volume_count(&v); i++) {
    int64_t x = i % 20, y = i / 20 % 12, z = i / 240;
    if (y >= 2 && y < 8 && z >= 3 && z < 7)
      v.u32[i] = x >= 2 && x < 12 ? 1 : x >= 12 && x < 16 ? 2 : 0;
  }
  tl_layers_of(&v, &layers);
  CK_OK(tl_label_quality(&layers, &whole, 2, &q));
  double edge = 1 / cbrt(2), area = 24 * edge * 2 * edge;
  CK_NEAR(q[2].over, sqrt(4 * area / M_PI) / cbrt(6 * 96 / M_PI), 1e-12);
  CK_NEAR(q[2].under, 1, 1e-12);
  tl_free(q);
  tl_layers_close(&layers);
  tl_volume_free(&v);
}
END_TEST

TL_TEST_MAIN("label", quality_is_physical, touching_balls_of_sizes_1_to_5_are_one_label_each,
             elongated_grain_stays_whole, every_mask_voxel_is_in_a_grain_or_counted,
             cut_grains_are_flagged_at_stack_and_region, slabs_give_the_labels_of_the_whole,
             plan_counts_each_plane, slabs_too_thin_for_the_grains_are_refused,
             flat_voxels_are_measured_in_space, own_markers_decide,
             thousands_of_own_markers_of_any_number, more_than_65535_grains,
             sweep_counts_what_labelling_would, hull_is_exact, quality_has_contacts_and_waists,
             widest_contacts_are_those_of_the_smaller_one_s_section,
             mask_of_any_type_counts_above_zero, mask_without_grain_or_void_is_refused)
