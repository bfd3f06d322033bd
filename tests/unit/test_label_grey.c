/* Labels with a grey stack: what dips and steps decide, a slow twin of the dips, slabs, threads. */
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "image/filters.h"
#include "image/label.h"
#include "image/label_dip.h"

#include <stdbool.h>

static const TlRoi whole = {.kind = TL_ROI_ALL};
static const double cubes[3] = {1, 1, 1};

/* grey NULL: by the mask alone. */
static TlLabelOptions usual(const TlLayers *grey) {
  return (TlLabelOptions){.sigma = 0.7,
                          .h_voxels = 0.15,
                          .h_relative = 0.04,
                          .neck = 0.65,
                          .min_voxels = 30,
                          .grey = grey,
                          .dip = 0.02};
}

static uint32_t grains(const TlVolume *mask, const TlVolume *grey, TlVolume *labels) {
  TlLayers layers = {0};
  TlLabelOptions o = usual(grey ? &layers : NULL);
  TlLabelResult r;
  if (grey) tl_layers_of(grey, &layers);
  CK_OK(tl_label(mask, &whole, &o, labels, &r));
  tl_layers_close(&layers);
  return r.grains;
}

static bool in_box(int64_t x, int64_t y, int64_t z, int64_t low, int64_t high, int64_t half) {
  return x >= low && x < high && llabs(y - 20) <= half && llabs(z - 20) <= half;
}

/* A bar of 44 x 19 x 19 voxels: one grain, or two that touch with flat faces. */
static void bar(TlVolume *m, TlVolume *g, double gap, double second) {
  CK_OK(tl_volume_new(m, TL_U8, 60, 40, 40));
  CK_OK(tl_volume_like(g, m, TL_F32));
  for (int64_t i = 0; i < tl_volume_count(m); i++) {
    int64_t x = i % 60, y = i / 60 % 40, z = i / 2400;
    m->u8[i] = in_box(x, y, z, 8, 52, 9);
    double level = x == 30 ? 160 - gap : x > 30 ? second : 160;
    g->f32[i] = m->u8[i] ? (float)level : 90;
  }
}

START_TEST(a_dip_parts_what_the_mask_cannot) {
  TlVolume m, g, l;
  bar(&m, &g, 20, 160);
  ck_assert_uint_eq(grains(&m, NULL, &l), 1);
  tl_volume_free(&l);
  ck_assert_uint_eq(grains(&m, &g, &l), 2);
  for (int64_t i = 0; i < tl_volume_count(&m); i++)
    if (m.u8[i] && i % 60 != 30) ck_assert_uint_eq(l.u32[i], i % 60 < 30 ? 1 : 2);
  tl_volume_free(&l);
  tl_volume_free(&m);
  tl_volume_free(&g);
  bar(&m, &g, 0, 160);
  ck_assert_uint_eq(grains(&m, &g, &l), 1);
  tl_volume_free(&l);
  tl_volume_free(&m);
  tl_volume_free(&g);
}
END_TEST

/* Two boxes joined by a thick bridge: two grains to the mask; one where the grey goes on, two where
 * one is brighter. */
START_TEST(a_neck_without_dip_or_step_is_no_contact) {
  static const double second[3] = {160, 162, 175};
  for (int k = 0; k < 3; k++) {
    TlVolume m, g, l;
    CK_OK(tl_volume_new(&m, TL_U8, 60, 40, 40));
    CK_OK(tl_volume_like(&g, &m, TL_F32));
    for (int64_t i = 0; i < tl_volume_count(&m); i++) {
      int64_t x = i % 60, y = i / 60 % 40, z = i / 2400;
      m.u8[i] =
          in_box(x, y, z, 6, 26, 10) || in_box(x, y, z, 34, 54, 10) || in_box(x, y, z, 26, 34, 7);
      g.f32[i] = m.u8[i] ? (float)(x < 30 ? 160 : second[k]) : 90;
    }
    ck_assert_uint_eq(grains(&m, NULL, &l), 2);
    tl_volume_free(&l);
    ck_assert_uint_eq(grains(&m, &g, &l), k < 2 ? 1 : 2);
    tl_volume_free(&l);
    tl_volume_free(&m);
    tl_volume_free(&g);
  }
}
END_TEST

/* ---- dips ---- */

/* Grains of several greys, noise on all. */
static void balls(TlVolume *m, TlVolume *g, TlVoxelType type) {
  CK_OK(tl_volume_new(m, TL_U8, 52, 46, 48));
  CK_OK(tl_volume_like(g, m, type));
  for (int64_t i = 0; i < tl_volume_count(m); i++) {
    double level = 90 + 4 * tl_random_uniform(3, 9, (uint64_t)i);
    for (int k = 0; k < 24; k++) {
      double u[4];
      for (int a = 0; a < 4; a++) u[a] = tl_random_uniform(11, (uint64_t)a, (uint64_t)k);
      double x = (double)(i % 52) - 52 * u[0], y = (double)(i / 52 % 46) - 46 * u[1];
      double z = (double)(i / 2392) - 48 * u[2], r = sqrt(x * x + y * y + z * z) - 5 - 6 * u[3];
      if (r < 0) m->u8[i] = 1;
      if (r < 0) level += (level < 120) * (60 + 15 * u[3]) + (r > -1.2 ? -6 : 0);
    }
    if (type == TL_F32) g->f32[i] = (float)level;
    if (type == TL_U16) g->u16[i] = (uint16_t)(200 * level);
  }
}

static double at(const float *v, const TlVolume *of, const int64_t p[3]) {
  return (double)v[tl_volume_at(of, p[0], p[1], p[2])];
}

/* The header's formula for one voxel, in doubles. */
static double dip_of(const float *v, const TlVolume *of, const int64_t p[3], const double edge[3]) {
  const int64_t n[3] = {of->nx, of->ny, of->nz};
  double most = 0;
  for (int code = 14; code < 27; code++) {
    const int64_t u[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
    int64_t left[3], right[3], beside[3];
    double length = sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])), length2 = 0;
    bool there = true, some = false;
    for (int a = 0; a < 3; a++) {
      int64_t far = lround(3 * (double)u[a] / (length * edge[a]));
      left[a] = p[a] - far;
      right[a] = p[a] + far;
      there = there && left[a] >= 0 && left[a] < n[a] && right[a] >= 0 && right[a] < n[a];
      some = some || far != 0;
      beside[a] = (far > 0) - (far < 0);
      length2 += far != 0 ? edge[a] * edge[a] : 0;
    }
    if (!there || !some) continue;
    double l = at(v, of, left), r = at(v, of, right), here = at(v, of, p);
    double low = fmin(l, r), step = fabs(r - l), depth = low + 0.5 * step - here;
    if (depth <= 0) continue;
    for (int a = 0; a < 3; a++) beside[a] = p[a] + (r < l ? beside[a] : -beside[a]);
    double w = fmin(1, 0.56 / sqrt(length2) * step / depth);
    most = fmax(most, low - here - w * (at(v, of, beside) - here));
  }
  return most;
}

static void check_dips(const double edge[3]) {
  TlVolume m, g, smooth;
  TlLayers grey, mask;
  TlDips d;
  TlClue *clue;
  balls(&m, &g, TL_F32);
  tl_layers_of(&g, &grey);
  tl_layers_of(&m, &mask);
  CK_OK(tl_dips_open(&grey, &mask, &whole, edge, 0.02, &d));
  CK_OK(TL_NEW(clue, (size_t)tl_volume_count(&m)));
  CK_OK(tl_dips_planes(&d, 0, m.nz, clue));
  CK_OK(tl_volume_like(&smooth, &g, TL_F32));
  memcpy(smooth.f32, g.f32, (size_t)tl_volume_count(&g) * sizeof(float));
  double sigma[3];
  for (int a = 0; a < 3; a++) sigma[a] = 1.2 / edge[a];
  CK_OK(tl_gaussian_floats(smooth.f32, m.nx, m.ny, m.nz, sigma, TL_GAUSSIAN_DIRECT));
  int64_t dips = 0;
  for (int64_t i = 0; i < tl_volume_count(&m); i += 7) {
    const int64_t p[3] = {i % m.nx, i / m.nx % m.ny, i / (m.nx * m.ny)};
    double want = fmin(dip_of(smooth.f32, &smooth, p, edge) / d.least, TL_DIP_MOST);
    CK_NEAR((double)clue[i].dip / TL_DIP_ONE, want, 1e-3);
    double level = fmax(0, ((double)g.f32[i] - d.void_grey) / d.contrast);
    CK_NEAR((double)clue[i].grey / TL_GREY_ONE, level, 1.1 / TL_GREY_ONE);
    dips += want > 1;
  }
  ck_assert_int_gt(dips, 100);
  tl_free(clue);
  tl_layers_close(&grey);
  tl_layers_close(&mask);
  tl_volume_free(&m);
  tl_volume_free(&g);
  tl_volume_free(&smooth);
}

START_TEST(dips_are_those_of_the_slow_twin) {
  static const double flat[3] = {0.8, 0.8, 1.5625};
  check_dips(cubes);
  check_dips(flat);
}
END_TEST

/* ---- slabs and threads ---- */

START_TEST(slabs_and_threads_give_the_labels_of_the_whole) {
  static const int64_t thick[] = {1, 7, 20};
  TlVolume m, g;
  TlLayers grey, mask;
  balls(&m, &g, TL_U16);
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 26, .y = 23, .r = 21, .nx = 52, .ny = 46};
  tl_layers_of(&g, &grey);
  tl_layers_of(&m, &mask);
  TlLabelOptions o = usual(&grey);
  for (int k = 0; k < 6; k++) {
    TlVolume all, cut;
    TlLabelResult a, b;
    const TlRoi *roi = k < 3 ? &whole : &disc;
    tl_par_set_threads(1);
    CK_OK(tl_label(&m, roi, &o, &all, &a));
    tl_par_set_threads(1 + k % 3);
    CK_OK(tl_volume_like(&cut, &m, TL_U32));
    TlVolumeSink into = {.volume = &cut};
    TlLayerSink sink = tl_sink_of(&into);
    TlLabelPlan plan = {.slab_planes = thick[k % 3]};
    CK_OK(tl_sink_end(&sink, tl_label_layers(&mask, roi, &o, &plan, tl_test_folder(), &sink, &b)));
    ck_assert_uint_eq(a.grains, b.grains);
    ck_assert_mem_eq(all.u32, cut.u32, (size_t)tl_volume_count(&m) * 4);
    tl_volume_free(&all);
    tl_volume_free(&cut);
  }
  tl_par_set_threads(0);
  tl_layers_close(&grey);
  tl_layers_close(&mask);
  tl_volume_free(&m);
  tl_volume_free(&g);
}
END_TEST

/* What lies outside the region has no say, in the mask or in the grey. */
START_TEST(outside_of_the_region_is_ignored) {
  TlVolume m, g, here, there;
  TlLayers grey;
  TlLabelResult r;
  TlRoi disc = {.kind = TL_ROI_CYLINDER, .x = 26, .y = 23, .r = 19, .nx = 52, .ny = 46};
  TlLabelOptions o = usual(&grey);
  balls(&m, &g, TL_U16);
  tl_layers_of(&g, &grey);
  CK_OK(tl_label(&m, &disc, &o, &here, &r));
  int64_t outside = 0;
  for (int64_t i = 0; i < tl_volume_count(&m); i++) {
    if (tl_roi_inside(&disc, i % m.nx, i / m.nx % m.ny, i / (m.nx * m.ny))) continue;
    ck_assert_uint_eq(here.u32[i], 0);
    m.u8[i] = i % 3 == 0;
    g.u16[i] = (uint16_t)(i % 60000);
    outside++;
  }
  ck_assert_int_gt(outside, 10000);
  CK_OK(tl_label(&m, &disc, &o, &there, &r));
  ck_assert_mem_eq(here.u32, there.u32, (size_t)tl_volume_count(&m) * 4);
  tl_layers_close(&grey);
  tl_volume_free(&m);
  tl_volume_free(&g);
  tl_volume_free(&here);
  tl_volume_free(&there);
}
END_TEST

START_TEST(grey_of_another_stack_is_refused) {
  TlVolume m, g, small;
  TlLayers grey, mask, other;
  TlDips d;
  bar(&m, &g, 0, 160);
  tl_layers_of(&g, &grey);
  tl_layers_of(&m, &mask);
  CK_OK(tl_volume_new(&small, TL_F32, 60, 40, 39));
  tl_layers_of(&small, &other);
  CK_FAILS(tl_dips_open(&other, &mask, &whole, cubes, 0.02, &d), TL_EINPUT, "60 x 40 x 39");
  for (int64_t i = 0; i < tl_volume_count(&g); i++) g.f32[i] = -g.f32[i];
  CK_FAILS(tl_dips_open(&grey, &mask, &whole, cubes, 0.02, &d), TL_EINPUT, "brighter");
  memset(m.u8, 1, (size_t)tl_volume_count(&m));
  CK_FAILS(tl_dips_open(&grey, &mask, &whole, cubes, 0.02, &d), TL_EINPUT, "all grain");
  memset(m.u8, 0, (size_t)tl_volume_count(&m));
  CK_FAILS(tl_dips_open(&grey, &mask, &whole, cubes, 0.02, &d), TL_EINPUT, "all void");
  g.f32[5000] = NAN;
  CK_FAILS(tl_dips_open(&grey, &mask, &whole, cubes, 0.02, &d), TL_EINPUT, "");
  tl_layers_close(&grey);
  tl_layers_close(&mask);
  tl_layers_close(&other);
  tl_volume_free(&m);
  tl_volume_free(&g);
  tl_volume_free(&small);
}
END_TEST

TL_TEST_MAIN("label_grey", a_dip_parts_what_the_mask_cannot,
             a_neck_without_dip_or_step_is_no_contact, dips_are_those_of_the_slow_twin,
             slabs_and_threads_give_the_labels_of_the_whole, outside_of_the_region_is_ignored,
             grey_of_another_stack_is_refused)
