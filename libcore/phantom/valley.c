#include "phantom/valley.h"

#include "base/mem.h"
#include "base/random.h"

#include <math.h>

#define DEGREE 0.017453292519943295

TlValleyOptions tl_valley_defaults(void) {
  return (TlValleyOptions){.nx = 120,
                           .ny = 200,
                           .cell_m = 1,
                           .west_m = 452000,
                           .south_m = 5204000,
                           .foot_m = 1100,
                           .roughness = 0.08,
                           .seed = 1};
}

static double smooth_step(double a, double b, double x) {
  double t = (x - a) / (b - a);
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return t * t * (3 - 2 * t);
}

double tl_valley_slope_deg(double t) {
  static const double at[] = {0, 0.28, 0.55, 0.66, 0.80, 0.92, 1};
  static const double slope[] = {36, 32, 27, 18, 7, 2, 1};
  int k = 0;
  while (k < 5 && t > at[k + 1]) k++;
  return slope[k] + (slope[k + 1] - slope[k]) * smooth_step(at[k], at[k + 1], t);
}

double tl_valley_thalweg(double t, uint64_t seed) {
  double phase = 6.283185307179586 * tl_random_uniform(seed, 0x7a1, 0);
  double bends = 1.0 + 0.6 * tl_random_uniform(seed, 0x7a1, 1);
  /* straight in the bowl and on the fan */
  double swing = smooth_step(0.1, 0.35, t) * (1 - smooth_step(0.6, 0.8, t));
  return 0.13 * swing * sin(6.283185307179586 * bends * t + phase);
}

/* Value noise on the integer lattice, cubic between: about -1..1. */
static double lattice(uint64_t seed, int64_t i, int64_t j) {
  return 2 * tl_random_uniform(seed, (uint64_t)i, (uint64_t)j) - 1;
}
static double value_noise(uint64_t seed, double x, double y) {
  double fx = floor(x), fy = floor(y);
  int64_t i = (int64_t)fx, j = (int64_t)fy;
  double u = smooth_step(0, 1, x - fx), v = smooth_step(0, 1, y - fy);
  double south = lattice(seed, i, j) * (1 - u) + lattice(seed, i + 1, j) * u;
  double north = lattice(seed, i, j + 1) * (1 - u) + lattice(seed, i + 1, j + 1) * u;
  return south * (1 - v) + north * v;
}

/* Bumps of 16, 8 and 4 cells, half as high each time; about 1 rms. */
static double rough_ground(uint64_t seed, double i, double j) {
  double sum = 0, weight = 1.9;
  for (int octave = 0; octave < 3; octave++, weight *= 0.5) {
    double cells = 16 >> octave;
    sum += weight * value_noise(seed + 77 + (uint64_t)octave, i / cells, j / cells);
  }
  return sum;
}

/* Height above the thalweg's profile at u half widths (-1..1) off the middle; in half widths. */
static double cross_section(double t, double u, double thalweg) {
  double off = u - thalweg;
  double bowl = 1 - smooth_step(0.15, 0.40, t), sides = 1 - smooth_step(0.62, 0.88, t);
  double channel = smooth_step(0.18, 0.34, t) * (1 - smooth_step(0.62, 0.76, t));
  double fan = smooth_step(0.60, 0.72, t) * (1 - smooth_step(0.78, 0.95, t));
  double height = 0.30 * sides * off * off + 0.12 * bowl * off * off;
  height += 0.09 * channel * (1 - exp(-off * off / (0.16 * 0.16)));
  height += 0.05 * fan * (exp(-u * u / (0.45 * 0.45)) - 1); /* higher in the middle */
  return height;
}

/* A star-shaped outline, so that nothing outside of it is enclosed. x, y: -1..1. */
static bool in_outline(uint64_t seed, double x, double y) {
  double angle = atan2(y, x) / 6.283185307179586 + 0.5;
  double wobble = 0;
  for (int k = 1; k <= 5; k++)
    wobble +=
        sin(6.283185307179586 * (k * angle + tl_random_uniform(seed, 0x0a7, (uint64_t)k))) / k;
  return pow(pow(fabs(x), 6) + pow(fabs(y), 6), 1.0 / 6) < 0.95 + 0.02 * wobble;
}

/* The thalweg's height above the foot at each row, north to south integrated by the trapezoid. */
static void integrate_profile(const TlValleyOptions *o, double *profile) {
  profile[0] = 0;
  for (int64_t j = 1; j < o->ny; j++) {
    double south = 1 - ((double)j - 0.5) / (double)o->ny,
           north = 1 - ((double)j + 0.5) / (double)o->ny;
    double slope =
        0.5 * (tan(DEGREE * tl_valley_slope_deg(south)) + tan(DEGREE * tl_valley_slope_deg(north)));
    profile[j] = profile[j - 1] + o->cell_m * slope;
  }
}

static void fill_row(const TlValleyOptions *o, int64_t j, double profile, double *row) {
  double t = 1 - ((double)j + 0.5) / (double)o->ny;
  double thalweg = tl_valley_thalweg(t, o->seed), half = 0.5 * (double)o->nx * o->cell_m;
  for (int64_t i = 0; i < o->nx; i++) {
    double u = ((double)i + 0.5) / (0.5 * (double)o->nx) - 1;
    row[i] = o->foot_m + profile + half * cross_section(t, u, thalweg) +
             o->roughness * o->cell_m * rough_ground(o->seed, (double)i, (double)j);
    if (o->outline && !in_outline(o->seed, u, 1 - 2 * t)) row[i] = NAN;
  }
}

TlStatus tl_valley_make(const TlValleyOptions *o, TlValley *valley) {
  *valley = (TlValley){0};
  if (o->nx < 16 || o->ny < 16 || o->nx > 100000 || o->ny > 100000)
    return tl_fail(TL_EUSAGE, "a valley of %lld x %lld cells; each side is 16 to 100000",
                   (long long)o->nx, (long long)o->ny);
  if (!(o->cell_m > 0)) return tl_fail(TL_EUSAGE, "a cell of %g m; it must be positive", o->cell_m);
  double *profile;
  TL_TRY(TL_NEW(profile, (size_t)o->ny));
  TlStatus status = TL_NEW(valley->height_m, (size_t)(o->nx * o->ny));
  if (status == TL_OK) {
    integrate_profile(o, profile);
    double low = INFINITY, high = -INFINITY;
    for (int64_t j = 0; j < o->ny; j++) {
      fill_row(o, j, profile[j], valley->height_m + j * o->nx);
      for (int64_t i = 0; i < o->nx; i++) {
        low = fmin(low, valley->height_m[j * o->nx + i]); /* fmin passes over NaN */
        high = fmax(high, valley->height_m[j * o->nx + i]);
      }
    }
    valley->drop_m = high - low;
    valley->steepest_deg = tl_valley_slope_deg(0.5 / (double)o->ny);
    valley->nx = o->nx;
    valley->ny = o->ny;
    valley->cell_m = o->cell_m;
    valley->east_m = o->west_m + 0.5 * o->cell_m;
    valley->north_m = o->south_m + 0.5 * o->cell_m;
  }
  tl_free(profile);
  return status;
}

void tl_valley_free(TlValley *valley) {
  tl_free(valley->height_m);
  *valley = (TlValley){0};
}
