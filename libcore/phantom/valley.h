/* A seeded valley as an elevation raster: a steep bowl in the north (about 35 degrees), a winding
 * channel (31 to 25), a fan (to 8) and a flat run-out in the south, with side slopes and a rough
 * ground. The demo's avalanche runs down it, and its slopes are known to the tests.
 * Heights in metres at cell centres, sample (i, j) at (east_m + i*cell_m, north_m + j*cell_m), j
 * counts to the north (as io/raster.h); [ny][nx], NaN outside the outline.
 * All lengths follow the raster's own size: the profile is a function of the fraction of the
 * length. Same options, same bits. Cost: a few microseconds a cell. */
#ifndef TL_PHANTOM_VALLEY_H
#define TL_PHANTOM_VALLEY_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlValleyOptions {
  int64_t nx, ny;
  double cell_m;
  double west_m, south_m; /* CRS coordinates of the raster's lower left corner */
  double foot_m;          /* height of the run-out's lower end, about */
  double roughness;       /* rms height of the ground's bumps over the cell size */
  bool outline;           /* no data outside an irregular outline */
  uint64_t seed;
} TlValleyOptions;

/* 120 x 200 cells of 1 m at (452000, 5204000), foot at 1100 m, roughness 0.08, full rectangle. */
TlValleyOptions tl_valley_defaults(void);

typedef struct TlValley {
  int64_t nx, ny;
  double cell_m, east_m, north_m; /* sample (0, 0), the south-west one */
  double *height_m;               /* owned */
  double drop_m;                  /* highest minus lowest */
  double steepest_deg;            /* of the thalweg, from row to row of its smooth profile */
} TlValley;

/* TL_EUSAGE below 16 x 16 cells or with a size that is not positive. */
TlStatus tl_valley_make(const TlValleyOptions *options, TlValley *valley);
void tl_valley_free(TlValley *valley);

/* Slope angle of the thalweg's smooth profile, degrees, at part t of the way down (0 north edge,
 * 1 south edge), and its east offset from the middle in half widths. */
double tl_valley_slope_deg(double t);
double tl_valley_thalweg(double t, uint64_t seed);

#endif
