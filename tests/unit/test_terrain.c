#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "shape/heightfield.h"
#include "shape/terrain_build.h"
#include "shape/terrain_rough.h"

typedef double (*Ground)(double x, double y);

typedef struct Place {
  double east, north, up; /* where sample (0, 0) lies, and what is added to the heights */
} Place;

static double *sample(Ground ground, int64_t nx, int64_t ny, double cell, double up) {
  double *z;
  CK_OK(TL_NEW(z, (size_t)(nx * ny)));
  for (int64_t j = 0; j < ny; j++)
    for (int64_t i = 0; i < nx; i++)
      z[j * nx + i] = up + ground((double)i * cell, (double)j * cell);
  return z;
}

static TlTerrainSource source_of(const double *z, int64_t nx, int64_t ny, double cell, Place at) {
  return (TlTerrainSource){"test", "", nx, ny, cell, at.east, at.north, z};
}

static const TlTerrainOptions usual = {.band_cells = 3, .refine = 1};
static const Place here = {0, 0, 0};

static TlTerrain build(Ground ground, int64_t nx, int64_t ny, double cell, Place at,
                       const TlTerrainOptions *options) {
  double *z = sample(ground, nx, ny, cell, at.up);
  TlTerrainSource s = source_of(z, nx, ny, cell, at);
  TlTerrain t;
  CK_OK(tl_terrain_build(&t, &s, options));
  tl_free(z);
  return t;
}

/* Every grid point of the band: visit(x, y, z local, phi). */
static void walk(const TlTerrain *t, void (*visit)(void *, double, double, double, double),
                 void *context) {
  double h = t->band_spacing_m;
  for (int64_t c = 0; c < t->bnx * t->bny; c++)
    for (int32_t n = 0; n < t->k_count[c]; n++)
      visit(context, t->x0_m + h * (double)(c % t->bnx), t->y0_m + h * (double)(c / t->bnx),
            t->z0_m + h * (t->k_low[c] + n), t->band_phi[t->start[c] + n]);
}

/* ---- a plane at 30 degrees ---- */

static const double tan30 = 0.57735026918962576;
static double plane30(double x, double y) {
  (void)y;
  return tan30 * x;
}

typedef struct Worst {
  double error, sum, margin_low, margin_high;
  int64_t count;
} Worst;

static void plane_error(void *context, double x, double y, double z, double phi) {
  Worst *w = context;
  (void)y;
  if (x < w->margin_low || x > w->margin_high) return;
  w->error = fmax(w->error, fabs(phi - (z - tan30 * x) * cos(asin(0.5))));
  w->count++;
}

/* Away from the sides that its normal crosses. Heights are floats: 5 significant bits before the
 * point of 2^-24, 115 m / 2^24 = 7e-6 m; phi adds 15 m / 2^24 and its own marching rounding. */
START_TEST(plane_is_exact_to_float_rounding) {
  for (int refine = 1; refine <= 3; refine++) {
    TlTerrainOptions o = {.band_cells = 3, .refine = refine};
    TlTerrain t = build(plane30, 41, 23, 5, here, &o);
    Worst w = {.margin_low = 10, .margin_high = 190};
    walk(&t, plane_error, &w);
    CK_NEAR(w.error, 0, 2e-5);
    ck_assert(w.count > 31 * 23 * 6);
    tl_terrain_free(&t);
  }
}
END_TEST

/* Whole cells reach to 15 m less the cell's diagonal, 6.3 m; beyond, BELOW carries the plane on
 * exactly and ABOVE is a bound. */
START_TEST(plane_lookup_gives_distance_and_normal_at_any_depth) {
  TlTerrain t = build(plane30, 41, 23, 5, here, &usual);
  TlRandom r = {1, 1, 0};
  for (int n = 0; n < 20000; n++) {
    double x = 40 + 120 * tl_random_next(&r), y = 110 * tl_random_next(&r);
    double d = -60 + 75 * tl_random_next(&r), phi;
    TlVec3 normal, p = tl_vec3(x, y, tan30 * x + d / cos(asin(0.5)));
    TlTerrainSpot spot = tl_terrain_phi(&t, p, &phi, &normal);
    if (spot == TL_TERRAIN_ABOVE) {
      ck_assert_msg(phi > 5 && phi <= d + 1e-4 && d > 6.3, "at %g m it says %g m", d, phi);
    } else {
      CK_NEAR(phi, d, 5e-5);
      ck_assert(spot == TL_TERRAIN_BAND || d < -6.3);
    }
    CK_NEAR(normal.x, -0.5, 1e-5);
    CK_NEAR(normal.y, 0, 1e-5);
    CK_NEAR(tl_norm(normal), 1, 1e-12);
  }
  tl_terrain_free(&t);
}
END_TEST

/* ---- a sphere's cap: closed form ---- */

enum { CAP_N = 81 };
static const double cap_radius = 400, cap_x = 200, cap_y = 200;

static double cap(double x, double y) {
  double r2 = (x - cap_x) * (x - cap_x) + (y - cap_y) * (y - cap_y);
  return sqrt(cap_radius * cap_radius - r2) - 300;
}

static void cap_error(void *context, double x, double y, double z, double phi) {
  Worst *w = context;
  double d = sqrt((x - cap_x) * (x - cap_x) + (y - cap_y) * (y - cap_y) +
                  (z + w->margin_high) * (z + w->margin_high)) -
             cap_radius;
  double from_side = fmin(fmin(x, 400 - x), fmin(y, 400 - y));
  if (from_side < w->margin_low) return;
  double error = fabs(phi - d);
  w->error = fmax(w->error, error);
  w->sum += error;
  w->count++;
}

/* Bilinear chords lie under the sphere by up to cell^2/(4 R) = 0.0156 m at the patches' centres,
 * mean 2/3 of that. Goals: mean 0.01, worst 0.05 cell. */
START_TEST(hill_meets_the_closed_form) {
  TlTerrain t = build(cap, CAP_N, CAP_N, 5, here, &usual);
  Worst w = {.margin_low = 15, .margin_high = t.origin[2] + 300};
  walk(&t, cap_error, &w);
  ck_assert_msg(w.sum / (double)w.count < 0.01 * 5 && w.error < 0.05 * 5,
                "mean %g cells, worst %g cells", w.sum / (double)w.count / 5, w.error / 5);
  tl_terrain_free(&t);
}
END_TEST

/* ---- the band against the exact distance, and lookups anywhere, on bumpy ground ---- */

static double bumps(double x, double y) {
  return 30 + 0.35 * x + 6 * sin(x / 17) * cos(y / 23) + 2 * sin(x / 5.1 + 1) * sin(y / 6.3);
}

static double exact(const TlTerrain *t, TlVec3 p) {
  TlHeightfield f = {t->nx, t->ny, t->height_m, 1 / t->cell_m};
  TlVec3 q = tl_scale(1 / t->cell_m, tl_sub(p, tl_vec3(t->x0_m, t->y0_m, 0)));
  double z, d = t->cell_m * tl_heightfield_distance(&f, q, 60);
  return tl_terrain_height(t, p.x, p.y, &z, NULL) && p.z < z ? -d : d;
}

typedef struct Bumpy {
  const TlTerrain *terrain;
  double worst, sum;
  int64_t count;
} Bumpy;

static void bumpy_error(void *context, double x, double y, double z, double phi) {
  Bumpy *b = context;
  if (b->count++ % 7 != 0) return; /* the oracle is slow */
  double error = fabs(phi - exact(b->terrain, tl_vec3(x, y, z)));
  b->worst = fmax(b->worst, error);
  b->sum += error;
}

/* 2 m cells, bends of 5 m: half a cell of kink a cell, far from smooth. A point in a wrong basin
 * that no neighbour corrects would be off by more than a tenth of a cell. */
START_TEST(band_is_the_exact_distance_up_to_the_outline) {
  for (int refine = 1; refine <= 2; refine++) {
    TlTerrainOptions o = {.band_cells = 3, .refine = refine};
    TlTerrain t = build(bumps, 40, 34, 2, here, &o);
    Bumpy b = {.terrain = &t};
    walk(&t, bumpy_error, &b);
    double mean = 7 * b.sum / (double)b.count;
    ck_assert_msg(b.worst < 0.1 * 2 && mean < 0.001 * 2, "refine %d: mean %g, worst %g cells",
                  refine, mean / 2, b.worst / 2);
    tl_terrain_free(&t);
  }
}
END_TEST

static double waves(double x, double y) {
  return 40 + 6 * sin(x / 17) * cos(y / 23) + 2 * sin(x / 5.1 + 1) * sin(y / 6.3);
}

/* The band is made in tiles of 128 columns with a halo. The same ground cut 40 samples farther east
 * has its seams elsewhere; away from the cut nothing may change by more than 1e-4 cells. */
START_TEST(seams_between_tiles_leave_no_trace) {
  enum { NX = 300, NY = 140, CUT = 40 };
  double *z = sample(waves, NX, NY, 2, 0);
  TlTerrainSource s = source_of(z, NX, NY, 2, here);
  TlTerrain a, b;
  CK_OK(tl_terrain_build(&a, &s, &usual));
  for (int64_t j = 0; j < NY; j++)
    for (int64_t i = 0; i < NX - CUT; i++) z[j * (NX - CUT) + i] = z[j * NX + i + CUT];
  s.nx = NX - CUT;
  CK_OK(tl_terrain_build(&b, &s, &usual));
  ck_assert(a.origin[2] == b.origin[2]);
  double worst = 0;
  for (int64_t j = 0; j < NY; j++)
    for (int64_t i = 12; i < NX - CUT; i++) {
      int64_t ca = j * NX + i + CUT, cb = j * (NX - CUT) + i;
      ck_assert(a.k_low[ca] == b.k_low[cb] && a.k_count[ca] == b.k_count[cb]);
      for (int32_t k = 0; k < a.k_count[ca]; k++)
        worst = fmax(worst, fabsf(a.band_phi[a.start[ca] + k] - b.band_phi[b.start[cb] + k]));
    }
  CK_NEAR(worst / 2, 0, 1e-4);
  tl_free(z);
  tl_terrain_free(&a);
  tl_terrain_free(&b);
}
END_TEST

START_TEST(no_depth_is_without_contact_and_the_sign_is_right) {
  TlTerrain t = build(bumps, 40, 34, 2, here, &usual);
  TlRandom r = {2, 1, 0};
  for (int n = 0; n < 50000; n++) {
    double x = t.x0_m + 78 * tl_random_next(&r), y = t.y0_m + 66 * tl_random_next(&r), z, phi;
    ck_assert(tl_terrain_height(&t, x, y, &z, NULL));
    double off = 3 * tan(3.1 * (tl_random_next(&r) - 0.5)); /* mostly near, some 100 m off */
    TlVec3 normal;
    TlTerrainSpot spot = tl_terrain_phi(&t, tl_vec3(x, y, z + off), &phi, &normal);
    ck_assert(spot != TL_TERRAIN_OUTSIDE && isfinite(phi));
    CK_NEAR(tl_norm(normal), 1, 1e-12);
    ck_assert(normal.z > 0);
    if (fabs(off) > 0.3) ck_assert_msg((phi > 0) == (off > 0), "off %g: phi %g", off, phi);
    ck_assert_msg(fabs(phi) <= fabs(off) + 0.2, "off %g: phi %g", off, phi);
    if (spot == TL_TERRAIN_BELOW) ck_assert(phi < -2 && phi < 0.3 * off);
  }
  tl_terrain_free(&t);
}
END_TEST

/* ABOVE is a lower bound of the true distance (0.05 cell for interpolation), and worth having. */
START_TEST(above_the_band_phi_is_a_lower_bound) {
  TlTerrain t = build(bumps, 40, 34, 2, here, &usual);
  TlRandom r = {3, 1, 0};
  int above = 0;
  for (int n = 0; n < 1500; n++) {
    TlVec3 p = tl_vec3(15 + 48 * tl_random_next(&r), 12 + 40 * tl_random_next(&r), 0);
    double phi;
    ck_assert(tl_terrain_height(&t, p.x, p.y, &p.z, NULL));
    p.z += 3 + 12 * tl_random_next(&r);
    if (tl_terrain_phi(&t, p, &phi, NULL) != TL_TERRAIN_ABOVE) continue;
    double d = exact(&t, p);
    ck_assert_msg(phi > 2 && phi <= d + 0.1, "phi %g, true %g", phi, d);
    above++;
  }
  ck_assert(above > 300);
  tl_terrain_free(&t);
}
END_TEST

/* Straight down through the band's borders: phi may not jump by more than the path's length times 2
 * plus a quarter of a cell (the interpolation margin h^2/(4 phi)). */
START_TEST(phi_has_no_big_jump_at_the_borders_of_the_band) {
  TlTerrain t = build(bumps, 40, 34, 2, here, &usual);
  TlRandom r = {4, 1, 0};
  double worst = 0;
  for (int n = 0; n < 2000; n++) {
    double x = t.x0_m + 78 * tl_random_next(&r), y = t.y0_m + 66 * tl_random_next(&r), z;
    ck_assert(tl_terrain_height(&t, x, y, &z, NULL));
    double before = 0;
    for (int m = 0; m < 300; m++) {
      double phi;
      tl_terrain_phi(&t, tl_vec3(x, y, z + 15 - 0.1 * m), &phi, NULL);
      if (m > 0) worst = fmax(worst, fabs(phi - before));
      before = phi;
    }
  }
  CK_NEAR(worst, 0, 0.2 + 0.25 * 2);
  tl_terrain_free(&t);
}
END_TEST

/* 60 m/s straight at a 5 m band with steps of 2e-3 s is 0.12 m a step; a free grain of 0.5 m radius
 * that has been let through for 1, 10, 100 and 1000 steps is still found, below, with the way out.
 */
START_TEST(fast_grain_is_caught_on_a_five_metre_band) {
  TlTerrainOptions o = {.band_cells = 2, .refine = 1};
  TlTerrain t = build(plane30, 81, 41, 2.5, here, &o); /* band of 5 m */
  TlVec3 n = tl_vec3(-0.5, 0, cos(asin(0.5))), from = tl_vec3(100, 50, tan30 * 100);
  double phi, before = 1;
  int hits = 0;
  for (int step = -50; step <= 1000; step++) {
    TlVec3 p = tl_axpy(from, -60 * 2e-3 * (step + 0.5), n), normal;
    if (p.x > 199) break; /* the path has left the ground */
    TlTerrainSpot spot = tl_terrain_phi(&t, p, &phi, &normal);
    ck_assert((phi < 0) == (step >= 0));
    if (phi >= 0) continue;
    ck_assert(spot != TL_TERRAIN_OUTSIDE && phi < before);
    CK_NEAR(tl_dot(normal, n), 1, 1e-9);
    before = phi;
    hits++;
  }
  ck_assert(hits > 800);
  tl_terrain_free(&t);
}
END_TEST

/* ---- place ---- */

static TlTerrain build_at(double east, double north, double up, int threads) {
  tl_par_set_threads(threads);
  Place at = {east, north, up};
  return build(bumps, 40, 34, 2, at, &usual);
}

static void expect_same(const TlTerrain *a, const TlTerrain *b) {
  size_t columns = (size_t)(a->bnx * a->bny);
  ck_assert(a->band_count == b->band_count && a->x0_m == b->x0_m && a->y0_m == b->y0_m);
  ck_assert(memcmp(a->height_m, b->height_m, (size_t)(a->nx * a->ny) * sizeof(float)) == 0);
  ck_assert(memcmp(a->k_low, b->k_low, columns * 4) == 0);
  ck_assert(memcmp(a->start, b->start, columns * 8) == 0);
  ck_assert(memcmp(a->band_phi, b->band_phi, (size_t)a->band_count * 4) == 0);
}

/* Heights on a grid of 2^-20 m, so that adding 3000 m loses nothing before we see them. */
static double coarse_bumps(double x, double y) {
  return round(bumps(x, y) * 0x1p20) * 0x1p-20;
}

START_TEST(coordinates_of_a_million_metres_lose_no_digits) {
  Place near = {0.25, 0.75, 0}, far = {1000000.25, 5200000.75, 3000};
  TlTerrain a = build(coarse_bumps, 40, 34, 2, near, &usual);
  TlTerrain b = build(coarse_bumps, 40, 34, 2, far, &usual);
  expect_same(&a, &b);
  ck_assert(b.origin[0] == 1000000 && b.origin[1] == 5200000 && b.x0_m == 0.25);
  ck_assert(b.origin[2] == a.origin[2] + 3000);
  tl_terrain_free(&a);
  tl_terrain_free(&b);
}
END_TEST

START_TEST(same_bits_for_any_thread_count) {
  TlTerrain a = build_at(7, 8, 9, 1), b = build_at(7, 8, 9, 2), c = build_at(7, 8, 9, 5);
  expect_same(&a, &b);
  expect_same(&a, &c);
  tl_terrain_free(&a);
  tl_terrain_free(&b);
  tl_terrain_free(&c);
}
END_TEST

/* ---- holes and the outline ---- */

START_TEST(enclosed_hole_is_refused_or_filled_and_counted) {
  double *z = sample(plane30, 20, 15, 5, 0);
  z[7 * 20 + 9] = z[7 * 20 + 10] = z[8 * 20 + 11] = NAN; /* joined at a corner: one hole */
  z[3 * 20 + 3] = NAN;
  TlTerrainSource s = source_of(z, 20, 15, 5, (Place){1000, 2000, 0});
  TlTerrainOptions o = usual;
  TlTerrain t;
  CK_FAILS(tl_terrain_build(&t, &s, &o), TL_EINPUT, "2 holes of no-data (4 samples)");
  CK_FAILS(tl_terrain_build(&t, &s, &o), TL_EINPUT, "(1015, 2015)");
  o.fill_holes = true;
  CK_OK(tl_terrain_build(&t, &s, &o));
  ck_assert(t.holes_filled == 4);
  for (int i = 0; i < 300; i++)
    ck_assert_int_eq(t.filled[i], i == 149 || i == 150 || i == 171 || i == 63);
  for (int i = 0; i < 20; i++) /* linear heights are harmonic: filled as if never lost */
    CK_NEAR(t.height_m[7 * 20 + i] + t.origin[2], tan30 * 5 * i, 1e-4);
  tl_terrain_free(&t);
  tl_free(z);
}
END_TEST

/* A point lies on filled ground when one of the four samples about it was filled: 5 cells of 8 about
 * two such samples that touch at a corner, and those of a hole by itself. Roughness below the cells
 * changes nothing of it, and without the samples all that can be said is where there is no ground. */
START_TEST(ground_on_filled_samples_is_known_also_below_the_cells) {
  double *z = sample(plane30, 20, 15, 5, 0);
  z[7 * 20 + 9] = z[8 * 20 + 10] = z[3 * 20 + 3] = NAN;
  TlTerrainSource s = source_of(z, 20, 15, 5, (Place){1000.5, 2000.25, 0});
  TlTerrainOptions o = usual;
  TlTerrain t;
  o.fill_holes = true;
  CK_OK(tl_terrain_build(&t, &s, &o));
  TlTerrain rough = t;
  rough.name = tl_strdup("rough");
  rough.crs = tl_strdup("");
  CK_OK(TL_NEW(rough.height_m, 300));
  CK_OK(TL_NEW(rough.filled, 300));
  memcpy(rough.height_m, t.height_m, 300 * sizeof(float));
  memcpy(rough.filled, t.filled, 300);
  rough.class_id = NULL;
  rough.k_low = rough.k_count = NULL;
  rough.start = NULL;
  rough.band_phi = NULL;
  CK_OK(tl_terrain_roughen(&rough, 0.1, 1.7, 5)); /* three to a cell */
  int64_t filled = 0;
  for (int j = 0; j < 14 * 7; j++)
    for (int i = 0; i < 19 * 7; i++) {
      double x = t.x0_m + 5 * (i + 0.5) / 7, y = t.y0_m + 5 * (j + 0.5) / 7;
      int a = i / 7, b = j / 7;
      bool want = (a >= 8 && a <= 9 && b >= 6 && b <= 7) ||
                  (a >= 9 && a <= 10 && b >= 7 && b <= 8) || (a >= 2 && a <= 3 && b >= 2 && b <= 3);
      ck_assert_int_eq(tl_terrain_filled(&t, x, y), want ? TL_GROUND_FILLED : TL_GROUND_MEASURED);
      ck_assert_int_eq(tl_terrain_filled(&rough, x, y), tl_terrain_filled(&t, x, y));
      filled += want;
    }
  ck_assert_int_eq(filled, 11 * 49);
  double east = t.x0_m + 19 * 5, north = t.y0_m + 14 * 5;
  ck_assert_int_eq(tl_terrain_filled(&t, east, north), TL_GROUND_MEASURED); /* the last sample */
  ck_assert_int_eq(tl_terrain_filled(&t, east + 0.01, north), TL_GROUND_MEASURED);
  ck_assert_int_eq(tl_terrain_filled(&t, NAN, north), TL_GROUND_MEASURED);
  TL_FREE(t.filled);
  ck_assert_int_eq(tl_terrain_filled(&t, east, north), TL_GROUND_UNKNOWN);
  ck_assert_int_eq(tl_terrain_filled(&t, east + 0.01, north), TL_GROUND_MEASURED);
  ck_assert(isnan(tl_ground_filled_number(TL_GROUND_UNKNOWN)));
  ck_assert(tl_ground_filled_number(TL_GROUND_FILLED) == 1);
  tl_terrain_free(&t);
  tl_terrain_free(&rough);
  tl_free(z);
}
END_TEST

static double island(double x, double y) {
  return hypot(x - 60, y - 60) > 52 ? NAN : 10 + 0.2 * x;
}

START_TEST(no_data_outside_the_outline_is_where_the_terrain_ends) {
  TlTerrain t = build(island, 49, 49, 2.5, here, &usual);
  double phi, z;
  TlVec3 n;
  ck_assert(t.holes_filled == 0);
  ck_assert(tl_terrain_phi(&t, tl_vec3(3, 3, 0), &phi, NULL) == TL_TERRAIN_OUTSIDE && isinf(phi));
  ck_assert(tl_terrain_phi(&t, tl_vec3(-1, 60, 0), &phi, NULL) == TL_TERRAIN_OUTSIDE);
  ck_assert(tl_terrain_phi(&t, tl_vec3(60, 1e9, 0), &phi, NULL) == TL_TERRAIN_OUTSIDE);
  ck_assert(tl_terrain_phi(&t, tl_vec3(NAN, 60, 0), &phi, NULL) == TL_TERRAIN_OUTSIDE);
  int inside = 0;
  for (int j = 0; j < 400; j++)
    for (int i = 0; i < 400; i++) {
      double x = 0.3 * i, y = 0.3 * j;
      bool ground = tl_terrain_height(&t, x, y, &z, NULL);
      for (int m = 0; m < 3; m++) { /* in the band, deep, and in the air */
        const double off[3] = {-0.5, -40, 40};
        TlTerrainSpot spot =
            tl_terrain_phi(&t, tl_vec3(x, y, (ground ? z : 10) + off[m]), &phi, &n);
        ck_assert(ground == (spot != TL_TERRAIN_OUTSIDE));
        if (ground) ck_assert((phi < 0) == (off[m] < 0));
      }
      inside += ground;
    }
  ck_assert(inside > 80000 * 3.1416 * 50 * 50 / (120 * 120 * 2) && inside < 400 * 400);
  tl_terrain_free(&t);
}
END_TEST

/* Beside the outline distances are exact: the closest point may be on the rim. */
START_TEST(points_beside_the_outline_hold_exact_distances) {
  TlTerrain t = build(plane30, 9, 9, 5, here, &usual);
  Bumpy b = {.terrain = &t};
  walk(&t, bumpy_error, &b);
  CK_NEAR(b.worst, 0, 5e-6); /* every point of 9 x 9 is within 3 cells of it but one column */
  tl_terrain_free(&t);
}
END_TEST

START_TEST(points_exactly_on_the_outline_have_ground) {
  TlTerrain t = build(plane30, 9, 9, 5, here, &usual);
  double phi, z;
  for (int i = 0; i <= 40; i++) {
    ck_assert(tl_terrain_height(&t, i, 40, &z, NULL) && tl_terrain_height(&t, 40, i, &z, NULL));
    ck_assert(tl_terrain_phi(&t, tl_vec3(40, i, tan30 * 40 - 1), &phi, NULL) == TL_TERRAIN_BAND);
    /* The way out is along the normal; phi bends at the rim from slope cos 30 to 1, which costs
     * interpolation up to 0.25 * 5 * (1 - 0.866) = 0.17 m. */
    CK_NEAR(phi, -cos(asin(0.5)), 0.17);
  }
  tl_terrain_free(&t);
}
END_TEST

START_TEST(what_is_no_terrain_is_refused) {
  double z[9] = {1, NAN, 1, NAN, 1, NAN, 1, NAN, 1};
  TlTerrainSource s = source_of(z, 3, 3, 1, here);
  TlTerrainOptions o = usual;
  TlTerrain t;
  CK_FAILS(tl_terrain_build(&t, &s, &o), TL_EINPUT, "no four neighbouring samples");
  for (int i = 0; i < 9; i++) z[i] = NAN;
  CK_FAILS(tl_terrain_build(&t, &s, &o), TL_EINPUT, "no-data");
  o.band_cells = 1;
  CK_FAILS(tl_terrain_build(&t, &s, &o), TL_EINPUT, "2 to 100");
  o = (TlTerrainOptions){.band_cells = 3, .refine = 0};
  CK_FAILS(tl_terrain_build(&t, &s, &o), TL_EINPUT, "refinement");
  s.nx = 1;
  CK_FAILS(tl_terrain_build(&t, &s, &usual), TL_EINPUT, "make no terrain");
}
END_TEST

START_TEST(every_failed_allocation_is_reported_and_nothing_leaks) {
  double *z = sample(plane30, 20, 15, 5, 0);
  z[7 * 20 + 9] = NAN;
  TlTerrainSource s = source_of(z, 20, 15, 5, here);
  TlTerrainOptions o = {.band_cells = 3, .refine = 1, .fill_holes = true};
  TlTerrain t;
  TlStatus status = TL_ENOMEM;
  int k;
  tl_par_set_threads(1);
  for (k = 1; status == TL_ENOMEM && k < 1000; k++) {
    tl_mem_fail_at(k);
    status = tl_terrain_build(&t, &s, &o);
    tl_mem_fail_at(0);
  }
  ck_assert(status == TL_OK && k > 20);
  tl_terrain_free(&t);
  tl_free(z);
}
END_TEST

START_TEST(survey_counts_and_measures) {
  TlTerrain t = build(plane30, 41, 23, 5, (Place){0, 0, 1000}, &usual);
  TlTerrainSurvey s;
  tl_terrain_survey(&t, &s);
  ck_assert(s.samples == 41 * 23 && s.data == s.samples && s.outside == 0);
  ck_assert(s.patches == 40 * 22 && s.area_m2 == 200 * 110);
  CK_NEAR(s.slope_mean_deg, 30, 1e-4);
  CK_NEAR(s.slope_quantile[1], 30, 0.06);
  CK_NEAR(s.surface_m2, 200 * 110 / cos(asin(0.5)), 0.1);
  CK_NEAR(s.z_max_m, 1000 + tan30 * 200, 1e-5);
  ck_assert_int_eq(s.spikes, 0);
  t.height_m[7 * t.nx + 30] += 90; /* a tower */
  tl_terrain_survey(&t, &s);
  ck_assert_int_eq(s.spikes, 0);
  t.height_m[7 * t.nx + 30] += 40; /* a fault, and a pit beside it */
  t.height_m[11 * t.nx + 12] = -300;
  tl_terrain_survey(&t, &s);
  ck_assert_int_eq(s.spikes, 2);
  CK_NEAR(s.spike_east_m, t.origin[0] + t.x0_m + 30 * 5, 1e-9);
  CK_NEAR(s.spike_north_m, t.origin[1] + t.y0_m + 7 * 5, 1e-9);
  CK_NEAR(s.spike_m, 1000 + tan30 * 150 + 130, 1e-3);
  tl_terrain_free(&t);
}
END_TEST

TL_TEST_MAIN("terrain", plane_is_exact_to_float_rounding,
             plane_lookup_gives_distance_and_normal_at_any_depth, hill_meets_the_closed_form,
             band_is_the_exact_distance_up_to_the_outline, seams_between_tiles_leave_no_trace,
             no_depth_is_without_contact_and_the_sign_is_right, above_the_band_phi_is_a_lower_bound,
             phi_has_no_big_jump_at_the_borders_of_the_band,
             fast_grain_is_caught_on_a_five_metre_band,
             coordinates_of_a_million_metres_lose_no_digits, same_bits_for_any_thread_count,
             enclosed_hole_is_refused_or_filled_and_counted,
             ground_on_filled_samples_is_known_also_below_the_cells,
             no_data_outside_the_outline_is_where_the_terrain_ends,
             points_beside_the_outline_hold_exact_distances,
             points_exactly_on_the_outline_have_ground, what_is_no_terrain_is_refused,
             every_failed_allocation_is_reported_and_nothing_leaks, survey_counts_and_measures)
