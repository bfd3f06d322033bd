/* The scores against what is computed the plain way on tiny cases. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "io/stack.h"
#include "score/score.h"
#include "shape/build.h"

#include <stdio.h>

/* ---- labels ---- */

static TlVolume labels_of(const char *text) {
  TlVolume v;
  CK_OK(tl_volume_new(&v, TL_U32, (int64_t)strlen(text), 1, 1));
  for (size_t i = 0; text[i]; i++) v.u32[i] = (uint32_t)(text[i] == '.' ? 0 : text[i] - '0');
  return v;
}

static TlVolume random_labels(int most, uint64_t stream) {
  TlVolume v;
  CK_OK(tl_volume_new(&v, TL_U32, 6, 5, 4));
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    v.u32[i] = (uint32_t)((most + 1) * tl_random_uniform(3, stream, (uint64_t)i));
  return v;
}

/* By the definition over pairs of voxels: agreements against what chance gives (Hubert and Arabie
 * 1985), voxels of true grains only. */
static double slow_ari(const TlVolume *a, const TlVolume *b) {
  double both = 0, in_a = 0, in_b = 0, all = 0;
  for (int64_t i = 0; i < tl_volume_count(a); i++)
    for (int64_t j = 0; j < i; j++) {
      if (!a->u32[i] || !a->u32[j]) continue;
      bool same_a = a->u32[i] == a->u32[j], same_b = b->u32[i] == b->u32[j];
      both += same_a && same_b;
      in_a += same_a;
      in_b += same_b;
      all++;
    }
  double chance = in_a * in_b / all;
  return (both - chance) / (0.5 * (in_a + in_b) - chance);
}

START_TEST(ari_is_that_of_all_pairs) {
  for (int k = 0; k < 20; k++) {
    TlVolume a = random_labels(1 + k % 5, (uint64_t)(2 * k)),
             b = random_labels(k % 7 + 1, (uint64_t)(2 * k + 1));
    for (int64_t i = 0; k % 2 && i < 80; i++) b.u32[i] = 9 + a.u32[i]; /* also near agreement */
    double ari;
    CK_OK(score_ari(&a, &b, &ari));
    CK_NEAR(ari, slow_ari(&a, &b), 1e-12);
    CK_OK(score_ari(&a, &a, &ari));
    CK_NEAR(ari, 1, 1e-12);
    tl_volume_free(&a);
    tl_volume_free(&b);
  }
}
END_TEST

START_TEST(labels_of_another_size_are_refused) {
  TlVolume a = labels_of("112"), b = labels_of("1122");
  double ari;
  CK_FAILS(score_ari(&a, &b, &ari), TL_EINPUT, "4 voxels against a truth of 3");
  tl_volume_free(&a);
  tl_volume_free(&b);
}
END_TEST

/* Three grains of 600 voxels (and a fourth of 100) in a row; each character is 100 voxels. */
static ScoreLabels judged(const char *truth, const char *found) {
  ScorePhantom p = {.suffix = ""};
  TlVolume t = labels_of(truth), f = labels_of(found), wide;
  const int64_t n = tl_volume_count(&t);
  CK_OK(tl_volume_new(&p.labels, TL_U32, n, 10, 10));
  CK_OK(tl_volume_new(&wide, TL_U32, n, 10, 10));
  CK_OK(TL_NEW(p.grains, 9));
  for (int64_t i = 0; i < 100 * n; i++) {
    p.labels.u32[i] = t.u32[i % n];
    wide.u32[i] = f.u32[i % n];
    if (t.u32[i % n]) p.grains[t.u32[i % n] - 1].voxels++;
    if (p.labels.u32[i] > p.grain_count) p.grain_count = p.labels.u32[i];
  }
  ScoreLabels s;
  CK_OK(score_labels(&p, &wide, &s));
  tl_volume_free(&t);
  tl_volume_free(&f);
  tl_volume_free(&wide);
  score_phantom_free(&p);
  return s;
}

static void check_labels(const char *truth, const char *found, int matched, int splits,
                         int merges) {
  ScoreLabels s = judged(truth, found);
  ck_assert_msg(s.matched == matched && s.splits == splits && s.merges == merges,
                "%s found as %s: %ld matched, %ld splits, %ld merges", truth, found,
                (long)s.matched, (long)s.splits, (long)s.merges);
  score_labels_free(&s);
}

START_TEST(matches_splits_and_merges_are_counted) {
  const char *truth = "111111..222222.3333334";
  check_labels(truth, truth, 3, 0, 0);
  check_labels(truth, "777777..555555.1111112", 3, 0, 0); /* other numbers */
  check_labels(truth, "77777...55555..111111.", 3, 0, 0); /* thinner; the fourth is too small */
  check_labels(truth, "771111..222222.3333334", 3, 1, 0); /* a third of the first apart */
  check_labels(truth, "777111..222222.3333334", 2, 1, 0); /* an IoU of one half is no match */
  check_labels(truth, "111111..222222.2222224", 1, 0, 1); /* one of two: no match for either */
  check_labels(truth, "111111..22222222222224", 1, 0, 1);
  check_labels(truth, "111111..222222.3333333", 3, 0, 0); /* a small one swallowed */
  check_labels(truth, "111111...............4", 1, 0, 0); /* lost */
  check_labels(truth, "1111111222222223333334", 3, 0, 0); /* too fat */
  ScoreLabels s = judged(truth, "77777...55555..111111.");
  ck_assert(s.wanted == 3 && s.match[1] == 7 && s.match[2] == 5 && s.match[4] == 0);
  CK_NEAR(s.overlap[1], 5.0 / 6, 1e-12);
  score_labels_free(&s);
}
END_TEST

/* ---- masks and greys ---- */

START_TEST(dice_and_porosity_of_a_small_mask) {
  TlVolume truth = labels_of("1122..33.."), mask;
  CK_OK(tl_volume_like(&mask, &truth, TL_U8));
  const char *found = "1110.1110.";
  for (int i = 0; i < 10; i++) mask.u8[i] = found[i] == '1';
  CK_NEAR(score_dice(&mask, &truth), 2.0 * 5 / (6 + 6), 1e-15);
  CK_NEAR(score_porosity_error(&mask, &truth), 0, 1e-12);
  mask.u8[0] = 0;
  CK_NEAR(score_porosity_error(&mask, &truth), 10, 1e-12); /* one voxel of ten more of void */
  tl_volume_free(&truth);
  tl_volume_free(&mask);
}
END_TEST

START_TEST(psnr_of_a_known_difference) {
  TlVolume a, b;
  CK_OK(tl_volume_new(&a, TL_F32, 7, 5, 3));
  CK_OK(tl_volume_new(&b, TL_F32, 7, 5, 3));
  for (int64_t i = 0; i < 105; i++) a.f32[i] = 100, b.f32[i] = i % 2 ? 103 : 97;
  CK_NEAR(score_psnr(&a, &b), 20 * log10(255.0 / 3), 1e-9);
  tl_volume_free(&a);
  tl_volume_free(&b);
}
END_TEST

/* The threshold of least within-class variance, all of them tried. */
START_TEST(otsu_is_the_best_of_all_thresholds) {
  TlVolume g;
  CK_OK(tl_volume_new(&g, TL_F32, 400, 1, 1));
  for (int64_t i = 0; i < 400; i++)
    g.f32[i] = (float)((i % 3 ? 150 : 92) + 9 * tl_random_normal(1, 2, (uint64_t)i));
  g.f32[5] = 240; /* counts as 200 */
  double best = INFINITY, at = 0;
  for (double t = 60; t < 200; t += 0.02) {
    double n[2] = {0, 0}, sum[2] = {0, 0}, square[2] = {0, 0};
    for (int64_t i = 0; i < 400; i++) {
      double v = fmin((double)g.f32[i], 200);
      int k = v > t;
      n[k]++, sum[k] += v, square[k] += v * v;
    }
    if (n[0] == 0 || n[1] == 0) continue;
    double within = square[0] - sum[0] * sum[0] / n[0] + square[1] - sum[1] * sum[1] / n[1];
    if (within < best - 1e-9) best = within, at = t;
  }
  /* every threshold between the same two greys is as good: at is the lowest of them */
  double ours = score_otsu(&g), next = INFINITY;
  for (int64_t i = 0; i < 400; i++)
    if ((double)g.f32[i] > at) next = fmin(next, (double)g.f32[i]);
  ck_assert_msg(ours > at - 0.07 && ours < next + 0.07, "%g, not %g to %g", ours, at, next);
  tl_volume_free(&g);
}
END_TEST

/* ---- bodies: two spheres with a known offset ---- */

enum { POINTS = 900 };

typedef struct Ball {
  TlVec3 centre;
  double radius;
} Ball;

static double ball_phi(const void *context, TlVec3 x) {
  const Ball *b = context;
  return tl_norm(tl_sub(x, b->centre)) - b->radius;
}

static TlVec3 spiral(int i) {
  double z = 1 - (2 * i + 1.0) / POINTS, s = sqrt(1 - z * z), a = 2.399963229728653 * i;
  return tl_vec3(s * cos(a), s * sin(a), z);
}

static ScoreBody body_of(const Ball *b) {
  double v = 4.1887902047863905 * b->radius * b->radius * b->radius,
         i = 0.4 * v * b->radius * b->radius;
  ScoreBody body = {v, b->centre, {i, i, i}, ball_phi, b, NULL, POINTS};
  CK_OK(TL_NEW(body.points, POINTS));
  for (int k = 0; k < POINTS; k++) body.points[k] = tl_axpy(b->centre, b->radius, spiral(k));
  return body;
}

static ScorePhantom phantom_of(const Ball *b) {
  ScorePhantom p = {.suffix = "", .grain_count = 1};
  ScoreBody body = body_of(b);
  CK_OK(TL_NEW(p.grains, 1));
  CK_OK(TL_NEW(p.points, POINTS));
  CK_OK(TL_NEW(p.first, 3));
  p.grains[0] =
      (ScoreGrain){.label = 1,
                   .volume = body.volume,
                   .centroid = b->centre,
                   .principal = {body.principal[0], body.principal[1], body.principal[2]}};
  p.first[2] = POINTS;
  for (int k = 0; k < POINTS; k++) p.points[k] = (ScorePoint){body.points[k], spiral(k)};
  score_body_free(&body);
  return p;
}

START_TEST(errors_of_a_grown_ball) {
  Ball truth = {{20, 21, 22}, 10}, grown = {{20, 21, 22}, 10.3};
  ScorePhantom p = phantom_of(&truth);
  ScoreBody b = body_of(&grown);
  ScoreErrors e = score_body(&p, 1, &b);
  CK_NEAR(e.volume, pow(1.03, 3) - 1, 1e-9);
  CK_NEAR(e.inertia, pow(1.03, 5) - 1, 1e-9);
  CK_NEAR(e.centroid, 0, 1e-12);
  CK_NEAR(e.surface, 0.3, 1e-6); /* along the normals: exactly the growth, both ways */
  CK_NEAR(e.hausdorff, 0.3, 1e-6);
  score_body_free(&b);
  score_phantom_free(&p);
}
END_TEST

START_TEST(errors_of_a_shifted_ball) {
  Ball truth = {{20, 21, 22}, 10}, moved = {{20.2, 21, 22}, 10};
  ScorePhantom p = phantom_of(&truth);
  ScoreBody b = body_of(&moved);
  ScoreErrors e = score_body(&p, 1, &b);
  CK_NEAR(e.volume, 0, 1e-12);
  CK_NEAR(e.centroid, 0.2, 1e-12);
  /* |d cos| over a sphere: half of the shift; second order of it 0.2^2/20 */
  CK_NEAR(e.surface, 0.1, 0.003);
  CK_NEAR(e.hausdorff, 0.2, 0.003);
  score_body_free(&b);
  score_phantom_free(&p);
}
END_TEST

START_TEST(a_surface_out_of_reach_counts_as_the_reach) {
  Ball truth = {{20, 21, 22}, 10}, tiny = {{20, 21, 22}, 2};
  ScorePhantom p = phantom_of(&truth);
  ScoreBody b = body_of(&tiny);
  ScoreErrors e = score_body(&p, 1, &b);
  CK_NEAR(e.hausdorff, 8, 0.2); /* back: to the nearest tangent plane */
  CK_NEAR(e.surface, 0.5 * (SCORE_REACH + 8), 0.1);
  score_body_free(&b);
  score_phantom_free(&p);
}
END_TEST

/* A cube a fifth of a voxel too small on all sides: beside an edge the true normal runs along the
 * next face and meets nothing, yet the surface is no farther than sqrt(0.2^2 + 0.15^2) away. */
static double small_cube(const void *context, TlVec3 x) {
  (void)context;
  return fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) - 7.8;
}

START_TEST(beside_an_edge_the_nearest_point_counts) {
  enum { SIDE = 79 };
  ScoreGrain grain = {.label = 1, .volume = 4096, .principal = {1, 1, 1}};
  ScorePoint edge = {{8, 7.95, 0.03}, {1, 0, 0}};
  int64_t first[3] = {0, 0, 1};
  ScorePhantom p = {.grains = &grain, .grain_count = 1, .points = &edge, .first = first};
  ScoreBody b = {.volume = 4096, .principal = {1, 1, 1}, .phi = small_cube, .point_count = 1};
  TlVec3 top[SIDE]; /* along the cube's edge: the surface points nearest to it */
  for (int k = 0; k < SIDE; k++) top[k] = tl_vec3(7.8, 7.8, 0.2 * (k - SIDE / 2));
  b.points = top;
  b.point_count = SIDE;
  ScoreErrors e = score_body(&p, 1, &b);
  /* the way out: 0.2519 with the point's own 0.03; the way back is to the plane x = 8 */
  CK_NEAR(e.surface, 0.5 * (sqrt(0.04 + 0.0225 + 0.0009) + 0.2), 1e-9);
  b.points = NULL;
  b.point_count = 0;
  e = score_body(&p, 1, &b); /* no surface at all near it: the reach */
  CK_NEAR(e.hausdorff, SCORE_REACH, 1e-12);
}
END_TEST

/* The peers' body of a blurred ball that another label cuts in two: half the ball, its face half
 * way between the last voxel of its own and the first of the other. Blur moves the half level of a
 * ball by b^2/R = 0.06 voxel, 1.6% of the volume; trilinear triangles take another 1%. */
START_TEST(the_peers_surface_is_the_half_level_in_its_own_cell) {
  enum { N = 32 };
  TlVolume grey, labels;
  CK_OK(tl_volume_new(&grey, TL_F32, N, N, N));
  CK_OK(tl_volume_like(&labels, &grey, TL_U32));
  for (int64_t i = 0; i < N * N * N; i++) {
    int64_t x = i % N;
    double d =
        tl_norm(tl_vec3((double)x - 15.5, (double)(i / N % N) - 15.5, (double)(i / N / N) - 15.5)) -
        10;
    grey.f32[i] = (float)(90 + 35 * erfc(d / (0.75 * sqrt(2))));
    labels.u32[i] = d >= 0 ? 0 : x < 16 ? 1 : 2;
  }
  ScoreIso iso;
  CK_OK(score_iso_open(&grey, &labels, &iso));
  ScoreBody b;
  CK_OK(score_body_of_iso(&iso, 1, &b));
  double half = 2 * 3.14159265358979323846 / 3 * 1000;
  CK_NEAR(b.volume / half, 1, 0.03);
  CK_NEAR(b.centroid.x, 15.5 - 3.75, 0.05); /* 3/8 R off the plane */
  CK_NEAR(b.centroid.y, 15.5, 0.02);        /* the diagonals of the tetrahedra lean one way */
  ck_assert(b.phi(b.context, tl_vec3(10, 15, 15)) < 0 && b.phi(b.context, tl_vec3(20, 15, 15)) > 0);
  score_body_free(&b);
  score_iso_close(&iso);
  tl_volume_free(&grey);
  tl_volume_free(&labels);
}
END_TEST

START_TEST(means_and_the_median_of_hausdorff) {
  ScoreErrors e[4] = {
      {.01, 1, .1, .2, 9}, {.03, 2, .1, .2, 1}, {.02, 3, .4, .2, 2}, {0, 2, 0, .2, 3}};
  ScoreErrors m = score_mean(e, 4);
  CK_NEAR(m.volume, 0.015, 1e-15);
  CK_NEAR(m.centroid, 2, 1e-15);
  CK_NEAR(m.inertia, 0.15, 1e-15);
  CK_NEAR(m.surface, 0.2, 1e-15);
  CK_NEAR(m.hausdorff, 2.5, 1e-15);
  m = score_mean(e, 0);
  ck_assert(isnan(m.volume) && isnan(m.hausdorff));
}
END_TEST

/* An avatar of a ball off the grid's middle, in a corner of a stack of 20 um voxels: it must be
 * found where the ball is, as good as avatars are: a trilinear surface sags by h^2/(8 R) along an
 * edge, 3 h^2 2/(8 R) at most along a cell's diagonal (0.014, 0.083 voxel). */
START_TEST(an_avatar_is_placed_in_the_stack) {
  const int64_t corner[3] = {5, -3, 40};
  Ball local = {{13.2, 12.9, 13.4}, 9}, truth = {{18.2, 9.9, 53.4}, 9};
  TlPhiGrid grid = {28, 28, 28, NULL};
  CK_OK(TL_NEW(grid.phi, 28 * 28 * 28));
  for (int64_t i = 0; i < tl_grid_count(&grid); i++)
    grid.phi[i] = (float)ball_phi(
        &local, tl_vec3((double)(i % 28), (double)(i / 28 % 28), (double)(i / 784)));
  TlBuildOptions options = {{0, 0}, 0};
  TlAvatar avatar;
  CK_OK(tl_avatar_build_from_phi(&grid, corner, 20e-6, 1, false, &options, &avatar));
  ScorePhantom p = phantom_of(&truth);
  ScoreBody b;
  CK_OK(score_body_of_avatar(&avatar, 20e-6, &b));
  ScoreErrors e = score_body(&p, 1, &b);
  ck_assert_msg(e.volume < 0.002 && e.centroid < 0.01 && e.inertia < 0.005 && e.surface < 0.02 &&
                    e.hausdorff < 0.08,
                "%g %g %g %g %g", e.volume, e.centroid, e.inertia, e.surface, e.hausdorff);
  CK_NEAR(b.phi(b.context, tl_vec3(18.2 + 11, 9.9, 53.4)), 2, 0.05);
  score_body_free(&b);
  score_phantom_free(&p);
  tl_avatar_free(&avatar);
  tl_free(grid.phi);
}
END_TEST

/* ---- folders ---- */

static void stack_file(const char *folder, const char *name, const char *text, int scale) {
  TlVolume v;
  char *path = tl_path_join(folder, name);
  CK_OK(tl_volume_new(&v, TL_U16, 4, 2, 1));
  for (int i = 0; i < 8; i++) v.u16[i] = (uint16_t)(scale * (text[i] - '0'));
  CK_OK(tl_stack_write(path, &v, NULL, true));
  tl_volume_free(&v);
  tl_free(path);
}

static void text_file(const char *folder, const char *name, const void *bytes, size_t size) {
  char *path = tl_path_join(folder, name);
  CK_OK(tl_file_write(path, bytes, size, true));
  tl_free(path);
}

static void write_folder(const char *folder, const char *table) {
  const float points[14] = {2, 0, 1, 2.5, 0, 0, 1, 1, 0, .5, 1, 0, 2, 0};
  tl_log_set("test", TL_LOG_ERROR);
  CK_OK(tl_dir_make(folder));
  stack_file(folder, "p_clean_u16.tif", "33331111", 20000);
  stack_file(folder, "p_low_u16.tif", "33331111", 20001);
  stack_file(folder, "p_high_u16.tif", "33331111", 20002);
  stack_file(folder, "p_labels_u16.tif", "01120022", 1);
  text_file(folder, "p_grains.csv", table, strlen(table));
  text_file(folder, "p_surface_f32.raw", points, sizeof points);
}

START_TEST(a_folder_is_read_whatever_the_order_of_its_columns) {
  char folder[1024];
  snprintf(folder, sizeof folder, "%s/whole", tl_test_folder());
  write_folder(folder, "I1,I2,I3,label,border,grey,volume,cz,cy,cx\n"
                       "1,2,3,1,1,160,2.5,0,0,1.5\n4,5,6,2,0,225,3.25,0,.5,2.5\n");
  ScorePhantom p;
  CK_OK(score_phantom_read(folder, &p));
  ck_assert(p.grain_count == 2 && p.grains[0].border && !p.grains[1].border);
  ck_assert(p.grains[0].voxels == 2 && p.grains[1].voxels == 3);
  CK_NEAR(p.grains[1].volume, 3.25, 0);
  CK_NEAR(p.grains[1].centroid.x, 2.5, 0);
  CK_NEAR(p.grains[1].principal[2], 6, 0);
  ck_assert(p.first[1] == 0 && p.first[2] == 1 && p.first[3] == 2); /* sorted by label */
  CK_NEAR(p.points[1].at.x, 2.5, 0);
  CK_NEAR(p.points[1].normal.x, 1, 0);
  CK_NEAR(p.points[0].at.y, .5, 0);
  CK_NEAR(p.points[0].normal.y, 1, 1e-7); /* made a unit vector */
  ck_assert(p.high.u16[0] == 60006 && p.labels.u32[3] == 2);
  score_phantom_free(&p);
}
END_TEST

START_TEST(folders_that_do_not_fit_are_refused) {
  char folder[1024];
  ScorePhantom p;
  snprintf(folder, sizeof folder, "%s/bad", tl_test_folder());
  CK_FAILS(score_phantom_read(folder, &p), TL_EINPUT, "_clean_u16.tif");
  write_folder(folder, "label,border,grey,volume,cz,cy,cx,I1,I2,I3\n1,1,160,2.5,0,0,1,1,2,3\n");
  CK_FAILS(score_phantom_read(folder, &p), TL_EINPUT, "label 2 is not in the table");
  write_folder(folder, "label,border,grey,volume,cz,cy,cx,I1,I2\n1,1,160,2.5,0,0,1,1,2\n");
  CK_FAILS(score_phantom_read(folder, &p), TL_EINPUT, "no column 'I3'");
  write_folder(folder, "label,border,grey,volume,cz,cy,cx,I1,I2,I3\n2,1,160,2.5,0,0,1,1,2,3\n");
  CK_FAILS(score_phantom_read(folder, &p), TL_EINPUT, "row 1 is not the grain 1");
  text_file(folder, "q_labels_u16.tif", "x", 1);
  CK_FAILS(score_phantom_read(folder, &p), TL_EINPUT, "2 files end in _labels_u16.tif");
}
END_TEST

TL_TEST_MAIN("score", ari_is_that_of_all_pairs, labels_of_another_size_are_refused,
             matches_splits_and_merges_are_counted, dice_and_porosity_of_a_small_mask,
             psnr_of_a_known_difference, otsu_is_the_best_of_all_thresholds, errors_of_a_grown_ball,
             errors_of_a_shifted_ball, a_surface_out_of_reach_counts_as_the_reach,
             beside_an_edge_the_nearest_point_counts,
             the_peers_surface_is_the_half_level_in_its_own_cell, an_avatar_is_placed_in_the_stack,
             means_and_the_median_of_hausdorff, a_folder_is_read_whatever_the_order_of_its_columns,
             folders_that_do_not_fit_are_refused)
