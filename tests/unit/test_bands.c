/* Delaunay cells, local strains, and bands found by them. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "io/csv_table.h"
#include "num/hull.h"
#include "post/bands.h"
#include "post/packing_write.h"
#include "post/packing_sides.h"

static const double PI = 3.14159265358979323846;

static double even(uint64_t stream, int64_t i) {
  return tl_random_uniform(7, stream, (uint64_t)i);
}

/* ---- cells ---- */

static double six_volumes(const TlVec3 *x, const TlCell *c) {
  TlVec3 a = x[c->corner[0]];
  return tl_dot(tl_cross(tl_sub(x[c->corner[1]], a), tl_sub(x[c->corner[2]], a)),
                tl_sub(x[c->corner[3]], a));
}

/* Centre of the sphere through the corners, from the cell's first. */
static TlVec3 centre_of(const TlVec3 *x, const TlCell *c) {
  TlVec3 e[3], sum = {0, 0, 0};
  for (int k = 0; k < 3; k++) e[k] = tl_sub(x[c->corner[k + 1]], x[c->corner[0]]);
  for (int k = 0; k < 3; k++)
    sum = tl_axpy(sum, tl_norm2(e[k]), tl_cross(e[(k + 1) % 3], e[(k + 2) % 3]));
  return tl_scale(1 / (2 * tl_dot(e[0], tl_cross(e[1], e[2]))), sum);
}

START_TEST(cells_fill_the_hull_and_their_spheres_are_empty) {
  enum { N = 8 + 120 };
  TlVec3 x[N];
  TlCell *cell;
  int64_t cells;
  for (int i = 0; i < 8; i++) x[i] = tl_vec3(i & 1, i >> 1 & 1, i >> 2);
  for (int i = 8; i < N; i++) x[i] = tl_vec3(even(1, i), even(2, i), even(3, i));
  CK_OK(tl_delaunay(x, N, &cell, &cells));
  double sum = 0;
  for (int64_t k = 0; k < cells; k++) {
    double six = six_volumes(x, &cell[k]);
    ck_assert(six > 0);
    sum += six / 6;
    TlVec3 centre = centre_of(x, &cell[k]);
    double radius = tl_norm(centre);
    centre = tl_add(centre, x[cell[k].corner[0]]);
    for (int i = 0; i < N; i++)
      ck_assert(tl_norm(tl_sub(x[i], centre)) > radius * (1 - 1e-9) - 1e-9);
  }
  CK_NEAR(sum, 1, 1e-12);
  ck_assert_int_gt(cells, 4 * N); /* about 6.8 a point deep inside */
  tl_free(cell);
}
END_TEST

START_TEST(cells_of_a_lattice_fill_it_too_and_a_plane_has_none) {
  enum { N = 5 * 5 * 5 };
  TlVec3 x[N];
  TlCell *cell;
  int64_t cells;
  double sum = 0;
  for (int i = 0; i < N; i++) x[i] = tl_vec3(1e-3 * (i % 5), 1e-3 * (i / 5 % 5), 1e-3 * (i / 25));
  CK_OK(tl_delaunay(x, N, &cell, &cells));
  for (int64_t k = 0; k < cells; k++) sum += six_volumes(x, &cell[k]) / 6;
  CK_NEAR(sum, 64e-9, 1e-20);
  tl_free(cell);
  CK_FAILS(tl_delaunay(x, 25, &cell, &cells), TL_EINPUT, "plane");
  CK_FAILS(tl_delaunay(x, 4, &cell, &cells), TL_EINPUT, "too few");
}
END_TEST

/* ---- strains ---- */

static const double D = 1e-3;

static TlPacking packing(int64_t n) {
  TlPacking p = {.density_kg_m3 = 2650};
  CK_OK(TL_NEW(p.grain, (size_t)n));
  return p;
}

static void put(TlPacking *p, int64_t id, TlVec3 x) {
  p->grain[p->grain_count++] =
      (TlPackGrain){.id = id, .centre_m = x, .diameter_m = D, .scale = 1, .rotation = {1, 0, 0, 0}};
}

static TlVec3 place(int i, double side, double height) {
  return tl_vec3(side * even(4, i), side * even(5, i), height * even(6, i));
}

static TlVec3 times(const double f[3][3], TlVec3 x) {
  return tl_vec3(f[0][0] * x.x + f[0][1] * x.y + f[0][2] * x.z,
                 f[1][0] * x.x + f[1][1] * x.y + f[1][2] * x.z,
                 f[2][0] * x.x + f[2][1] * x.y + f[2][2] * x.z);
}

/* Stretched by 0.7, 1.1, 1.2 along turned axes and turned by 100 degrees: large, and exact. */
START_TEST(strain_of_an_affine_motion_is_exact_and_of_a_rigid_one_none) {
  enum { N = 400 };
  const double stretch[3] = {0.7, 1.1, 1.2};
  TlPacking before = packing(N), affine = packing(N), rigid = packing(N);
  TlQuat axes = tl_quat_from_rotation(tl_vec3(0.4, -0.8, 0.3));
  TlQuat turn = tl_quat_from_rotation(tl_scale(100 * PI / 180, tl_unit(tl_vec3(1, 2, -1))));
  double f[3][3] = {{0}};
  for (int k = 0; k < 3; k++) {
    TlVec3 e = tl_quat_rotate(axes, tl_vec3(k == 0, k == 1, k == 2)), to = tl_quat_rotate(turn, e);
    const double a[3] = {e.x, e.y, e.z}, b[3] = {to.x, to.y, to.z};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) f[i][j] += stretch[k] * b[i] * a[j];
  }
  for (int i = 0; i < N; i++) {
    TlVec3 x = place(i, 7 * D, 7 * D);
    put(&before, i, x);
    if (i % 50 == 7) continue; /* grains that left */
    put(&affine, i, tl_add(times(f, x), tl_vec3(1, 2, 3)));
    put(&rigid, i, tl_add(tl_quat_rotate(turn, x), tl_vec3(0.1, 0, 0)));
  }
  TlStrains s;
  double h[3], mean = 0, square = 0;
  for (int k = 0; k < 3; k++) h[k] = log(stretch[k]), mean += h[k] / 3;
  for (int k = 0; k < 3; k++) square += (h[k] - mean) * (h[k] - mean);
  CK_OK(tl_strains_of(&before, &affine, &s));
  ck_assert_int_gt(s.cells, 3 * N);
  for (int64_t i = 0; i < affine.grain_count; i++) {
    CK_NEAR(s.deviatoric[i], sqrt(2.0 / 3 * square), 1e-10);
    CK_NEAR(s.volumetric[i], -log(0.7 * 1.1 * 1.2), 1e-10);
  }
  tl_strains_free(&s);
  CK_OK(tl_strains_of(&before, &rigid, &s));
  for (int64_t i = 0; i < rigid.grain_count; i++) {
    CK_NEAR(s.deviatoric[i], 0, 1e-12);
    CK_NEAR(s.volumetric[i], 0, 1e-12);
  }
  tl_strains_free(&s);
  /* triaxial compression at constant volume: the deviatoric strain is the axial one */
  for (int64_t i = 0; i < rigid.grain_count; i++) {
    TlVec3 x = before.grain[rigid.grain[i].id].centre_m;
    rigid.grain[i].centre_m = tl_vec3(x.x * exp(0.05), x.y * exp(0.05), x.z * exp(-0.1));
  }
  CK_OK(tl_strains_of(&before, &rigid, &s));
  for (int64_t i = 0; i < rigid.grain_count; i++) CK_NEAR(s.deviatoric[i], 0.1, 1e-11);
  tl_strains_free(&s);
  tl_packing_free(&before);
  tl_packing_free(&affine);
  tl_packing_free(&rigid);
}
END_TEST

/* A grain out of reach of the others joins no cell with them. */
START_TEST(far_grains_and_few_grains_have_no_strain) {
  TlPacking before = packing(28), now = packing(28);
  for (int i = 0; i < 27; i++) {
    TlVec3 x = tl_scale(D, tl_vec3(i % 3, i / 3 % 3, i / 9));
    put(&before, i, x);
    put(&now, i, tl_scale(1.1, x));
  }
  put(&before, 27, tl_vec3(20 * D, 0, 0));
  put(&now, 27, tl_vec3(50 * D, 0, 0));
  TlStrains s;
  CK_OK(tl_strains_of(&before, &now, &s));
  for (int i = 0; i < 27; i++) CK_NEAR(s.volumetric[i], -3 * log(1.1), 1e-12);
  ck_assert(isnan(s.deviatoric[27]));
  tl_strains_free(&s);
  before.grain_count = now.grain_count = 4;
  CK_OK(tl_strains_of(&before, &now, &s));
  ck_assert_int_eq(s.cells, 0);
  ck_assert(isnan(s.deviatoric[0]));
  tl_strains_free(&s);
  tl_packing_free(&before);
  tl_packing_free(&now);
}
END_TEST

/* ---- bands ---- */

enum { SLIP_N = 9000 };

/* Two blocks slide past each other across a slab 6 D thick, inclined 50 degrees: simple shear of
 * 0.5 there. No grain turns but some at the top. The slab is a seventh of the whole: of more than a
 * fifth nothing lies two standard deviations above the mean. */
static void slip(TlPacking *before, TlPacking *now, TlVec3 *n, TlVec3 *middle) {
  const double tilt = 50 * PI / 180, half = 3 * D, gamma = 0.5;
  const TlVec3 direction = {cos(tilt), 0, -sin(tilt)};
  *n = tl_vec3(sin(tilt), 0, cos(tilt));
  *middle = tl_vec3(8 * D, 8 * D, 33 * D);
  *before = packing(SLIP_N), *now = packing(SLIP_N);
  for (int i = 0; i < SLIP_N; i++) {
    TlVec3 x = place(i, 16 * D, 66 * D);
    double off = tl_dot(*n, tl_sub(x, *middle));
    put(before, i, x);
    put(now, i, tl_axpy(x, gamma * fmin(half, fmax(-half, off)), direction));
    if (x.z > 65 * D) now->grain[i].rotation = tl_quat_from_rotation(tl_vec3(0.5, 0, 0));
  }
  now->first = before;
}

START_TEST(a_planted_slip_is_found_by_strain_and_jointly) {
  enum { N = SLIP_N };
  const double half = 3 * D, gamma = 0.5;
  TlPacking before, now;
  TlVec3 n, middle;
  slip(&before, &now, &n, &middle);
  TlRegion region = {.low = {-1, -1, -1}, .high = {1, 1, 1}};
  TlBands b;
  CK_OK(tl_bands_of(&now, &region, &b));
  double most = 0, sure = 0, number = 0;
  for (int i = 0; i < N; i++) {
    TlVec3 x = before.grain[i].centre_m;
    /* no cell of these reaches out of the slab */
    if (fabs(tl_dot(n, tl_sub(x, middle))) > half - 2.5 * D) continue;
    most = fmax(most, fabs(b.strain.volumetric[i]));
    sure += b.strain.deviatoric[i], number++;
  }
  /* principal stretches of a simple shear: l - 1/l = gamma */
  double l = 0.5 * gamma + sqrt(1 + 0.25 * gamma * gamma), dev = 2 / sqrt(3) * log(l);
  CK_NEAR(sure / number, dev, 1e-9);
  CK_NEAR(most, 0, 1e-9);
  const TlBand *s = &b.band[TL_BAND_STRAIN], *j = &b.band[TL_BAND_JOINT];
  ck_assert(s->found && j->found);
  CK_NEAR(s->inclination_deg, 50, 1.5);
  CK_NEAR(j->inclination_deg, 50, 1.5);
  CK_NEAR(fabs(tl_dot(s->normal, n)), 1, 5e-4);
  /* grains at its faces have part of the strain: those with too little are left out */
  ck_assert(s->thickness_d50 > 4.5 && s->thickness_d50 <= 6);
  ck_assert(tl_bands_best(&b) == j);
  /* inside and outside part the region */
  TlRegion in = tl_band_region(j, &region, 1), out = tl_band_region(j, &region, -1);
  int64_t within = 0, without = 0;
  for (int64_t i = 0; i < N; i++) {
    bool a = tl_packing_in(&now, &in, i), c = tl_packing_in(&now, &out, i);
    ck_assert(a != c);
    within += a, without += c;
    double off = fabs(tl_dot(j->normal, tl_sub(now.grain[i].centre_m, j->point_m)));
    ck_assert(a == (off <= 0.5 * j->thickness_m));
  }
  ck_assert(within > N / 20 && without > N / 2);
  /* the table's mean is that of the grains that have a strain */
  double value[12], sum = 0, there = 0;
  for (int64_t i = 0; i < N; i++)
    if (!isnan(b.strain.volumetric[i])) sum += b.strain.volumetric[i], there++;
  ck_assert_int_eq(tl_pack_strain.count, 12);
  CK_OK(tl_pack_values(&tl_pack_strain, &now, &region, value));
  CK_NEAR(value[2], sum / there, 1e-9 * fabs(sum / there));
  tl_bands_free(&b);
  tl_packing_free(&before);
  tl_packing_free(&now);
}
END_TEST

/* ---- what is written ---- */

static bool is_there(const char *name) {
  char *path = tl_path_join(tl_test_folder(), name);
  int64_t size = 0;
  bool there = tl_file_exists(path) && tl_file_size(path, &size) == TL_OK && size > 0;
  tl_free(path);
  return there;
}

/* One contact a grain with the next: inside the slab along z, sliding; outside spread evenly, at
 * rest. */
static void add_contacts(TlPacking *p, TlVec3 n, TlVec3 middle) {
  CK_OK(TL_NEW(p->contact, (size_t)p->grain_count));
  for (int64_t i = 0; i + 1 < p->grain_count; i++) {
    TlVec3 x = p->grain[i].centre_m;
    bool in = fabs(tl_dot(n, tl_sub(x, middle))) < 3 * D;
    double c = 2 * even(8, i) - 1, s = sqrt(1 - c * c), t = 2 * PI * even(9, i);
    TlVec3 to = in ? tl_vec3(0, 0, 1) : tl_vec3(s * cos(t), s * sin(t), c);
    double size = 1 + even(10, i);
    TlVec3 across = tl_unit(tl_cross(to, tl_vec3(0.3, 0.5, 0.7)));
    TlVec3 force = tl_axpy(tl_scale(size, to), in ? 0.5 * size : 0.1 * size, across);
    p->contact[p->contact_count++] = (TlPackContact){i, i + 1, x, to, force, 0.5};
  }
  CK_OK(tl_packing_pairs(p));
}

START_TEST(inside_and_outside_of_the_band_are_told_apart) {
  TlPacking before, now;
  TlVec3 n, middle;
  slip(&before, &now, &n, &middle);
  add_contacts(&now, n, middle);
  /* the neighbour by number is anywhere: let the pair lie where its contact is */
  TlRegion region = {.low = {-1, -1, -1}, .high = {1, 1, 1}};
  TlPackingOptions o = {.region = &region, .plot = true, .friction_deg = 40, .dilatancy_deg = 12};
  TlPackWriting to = {tl_test_folder(), true};
  TlFigures f = {0};
  TlBand best;
  CK_OK(tl_packing_bands(&to, &now, &region, &o, &f, &best));
  ck_assert(best.found);
  CK_NEAR(tl_figures_get(&f, "roscoe_inclination"), 51, 1e-12);
  CK_NEAR(tl_figures_get(&f, "coulomb_inclination"), 65, 1e-12);
  CK_NEAR(tl_figures_get(&f, "arthur_inclination"), 58, 1e-12);
  CK_NEAR(tl_figures_get(&f, "band_inclination"), 50, 1.5);
  CK_NEAR(tl_figures_get(&f, "inside_grains") + tl_figures_get(&f, "outside_grains"), SLIP_N, 0);
  /* normals all along z: a = 7.5; evenly spread but for the slab's thin faces: next to none */
  CK_NEAR(tl_figures_get(&f, "inside_normal_anisotropy"), 7.5, 1e-9);
  CK_NEAR(tl_figures_get(&f, "inside_normal_major_from_vertical"), 0, 1e-5);
  ck_assert(tl_figures_get(&f, "outside_normal_anisotropy") < 0.4);
  ck_assert(tl_figures_get(&f, "inside_mean_deviatoric_strain") >
            10 * tl_figures_get(&f, "outside_mean_deviatoric_strain"));
  CK_NEAR(tl_figures_get(&f, "inside_pairs") + tl_figures_get(&f, "outside_pairs"), SLIP_N - 1, 0);
  /* the same of both sides, frame by frame */
  char *table = tl_path_join(tl_test_folder(), "band_frames.csv"), *header = tl_sides_header();
  TlCsv csv;
  CK_OK(tl_csv_begin(&csv, table, true, header));
  for (int i = 0; i < 2; i++)
    CK_OK(tl_sides_line(&csv, &(TlFrame){.index = i, .time_s = i}, &now, &region, &best));
  CK_OK(tl_csv_commit(&csv));
  CK_OK(tl_sides_plot(tl_test_folder(), true));
  const char *const same[] = {"inside_normal_anisotropy", "outside_normal_anisotropy",
                              "inside_sliding_share", "outside_sliding_share_weak"};
  TlTable t;
  CK_OK(tl_table_read(table, &t));
  for (int k = 0; k < 4; k++) {
    double x;
    CK_OK(tl_table_number(&t, 1, tl_table_column(&t, same[k]), &x));
    CK_NEAR(x, tl_figures_get(&f, same[k]), 1e-12);
  }
  tl_table_free(&t);
  tl_free(table);
  tl_free(header);
  const char *const files[] = {"rotations.csv",   "local_strain.vtp", "band.csv",
                               "fabric_band.csv", "forces_band.csv",  "band.png",
                               "fabric_band.png", "band_frames.png"};
  for (int i = 0; i < 8; i++) ck_assert_msg(is_there(files[i]), "no %s", files[i]);
  if (getenv("TALUS_SHOW")) {
    char *copy = tl_format("cp %s/*.png %s", tl_test_folder(), getenv("TALUS_SHOW"));
    ck_assert_int_eq(system(copy), 0);
    tl_free(copy);
  }
  tl_figures_free(&f);
  tl_packing_free(&before);
  tl_packing_free(&now);
}
END_TEST

TL_TEST_MAIN("bands", cells_fill_the_hull_and_their_spheres_are_empty,
             cells_of_a_lattice_fill_it_too_and_a_plane_has_none,
             strain_of_an_affine_motion_is_exact_and_of_a_rigid_one_none,
             far_grains_and_few_grains_have_no_strain,
             a_planted_slip_is_found_by_strain_and_jointly,
             inside_and_outside_of_the_band_are_told_apart)
