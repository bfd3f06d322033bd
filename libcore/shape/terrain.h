/* Terrain: a heightfield and the signed distance to it in a narrow band.
 *
 * Local frame: x east, y north, z up, metres, relative to origin (CRS coordinates kept in double;
 * local coordinates stay small, so that 1e6 m coordinates lose no digits). Height samples at cell
 * centres: sample (i, j) lies at (x0 + i*cell, y0 + j*cell), j counts to the NORTH (the raster's
 * first row, its north edge, is j = ny-1); NaN where there is no data. phi > 0 above the ground,
 * < 0 below, metres.
 * The band: a 3-D grid, spacing h = band_spacing_m, grid point (i, j, k) at
 * (x0 + i*h, y0 + j*h, z0 + k*h); column (i, j) stores k in [k_low, k_low + k_count), its values
 * start at band_phi[start]. k_count = 0: no ground there. Columns cover |phi| <= band_m.
 */
#ifndef TL_SHAPE_TERRAIN_H
#define TL_SHAPE_TERRAIN_H

#include "base/flat.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlTerrain {
  int64_t id;       /* in the catalog; 0 until stored */
  char *name;       /* owned */
  char *crs;        /* WKT, owned; "" when the source had none */
  double origin[3]; /* CRS coordinates (east, north, height) of the local origin */
  int64_t nx, ny;
  double cell_m, x0_m, y0_m;
  float *height_m;      /* [ny][nx], local z, NaN = no data, owned */
  int64_t holes_filled; /* samples filled on request */
  int64_t refined;      /* a cell of the raster is so many of these (terrain_rough.h); 0: one */
  int32_t *class_id;    /* [ny][nx] class of the ground at each sample, owned; NULL: none */
  /* [ny][nx] 1: a sample that was filled (or, below the cells, between such), owned; NULL: none, or
   * holes_filled of them that nobody stored */
  uint8_t *filled;
  /* narrow band */
  double band_m, band_spacing_m, z0_m;
  int64_t bnx, bny;
  int32_t *k_low, *k_count; /* [bny][bnx], owned */
  int64_t *start;           /* [bny][bnx], owned */
  int64_t band_count;
  float *band_phi; /* owned */
  bool borrowed;   /* arrays and names are another's, and stay when this one is freed */
} TlTerrain;

/* A place in units of cells, the first sample at x = y = 0. */
static inline TlVec3 tl_terrain_in_cells(const TlTerrain *t, TlVec3 p) {
  return tl_vec3((p.x - t->x0_m) / t->cell_m, (p.y - t->y0_m) / t->cell_m, p.z / t->cell_m);
}

void tl_terrain_free(TlTerrain *terrain);
/* The struct and its arrays as one block (base/flat.h); where it is read it borrows them. */
void tl_terrain_lay_out(TlFlat *flat, TlTerrain *terrain);

/* Checks a terrain that comes from a file; TL_EINPUT names what is wrong. First its numbers: sizes
 * whose arrays can be (*cells of height_m and class_id, *columns of the band), finite places,
 * spacings above 0. Then, with the arrays: each column lies inside band_phi, heights are finite
 * or NaN (no data), values of the band finite, as many samples marked as filled as are said to be.
 * What passes both is safe to look up anywhere. */
TlStatus tl_terrain_check_numbers(const TlTerrain *terrain, int64_t *cells, int64_t *columns);
TlStatus tl_terrain_check_arrays(const TlTerrain *terrain);

typedef enum TlTerrainSpot {
  TL_TERRAIN_BAND = 0, /* phi by trilinear interpolation in the band */
  TL_TERRAIN_ABOVE,    /* above the band: phi is a lower bound > 0 */
  TL_TERRAIN_BELOW,    /* below the band: phi < 0 from the heightfield, never "no contact" */
  TL_TERRAIN_OUTSIDE   /* no terrain under this point: phi = +infinity */
} TlTerrainSpot;

/* Signed distance at local point p; unit normal pointing out of the ground (may be NULL; set for
 * BAND and BELOW, for ABOVE the heightfield's normal). Never fails; safe from many threads. */
TlTerrainSpot tl_terrain_phi(const TlTerrain *terrain, TlVec3 p, double *phi, TlVec3 *normal);

/* Signed distance to the ground's own bilinear patches (tl_heightfield_signed) instead of the band's.
 * False: no ground at the point's (x, y). */
bool tl_terrain_surface(const TlTerrain *terrain, TlVec3 p, double reach, double *phi,
                        TlVec3 *normal);
/* The same of points next to each other, of any reach, to the bit; where there is no ground phi is INFINITY and
 * the normal 0. */
void tl_terrain_surface_many(const TlTerrain *terrain, const TlVec3 *p, size_t count, double *phi,
                             TlVec3 *normal);

/* Bilinear height of the ground at local (x, y) and its unit normal (may be NULL); false where
 * there is none. */
bool tl_terrain_height(const TlTerrain *terrain, double x, double y, double *z, TlVec3 *normal);

/* Cells of the raster that the terrain came from, whose middles are samples: those of maps. */
typedef struct TlTerrainGrid {
  int64_t nx, ny;
  double cell_m, x0_m, y0_m; /* middle of the south-west cell, local */
} TlTerrainGrid;
TlTerrainGrid tl_terrain_grid(const TlTerrain *terrain);
/* Number of the cell at local (x, y), j*nx + i; -1: none. */
int64_t tl_terrain_grid_at(const TlTerrainGrid *grid, double x, double y);

/* The CRS by the first quoted name of its WKT, "none" without one; fresh memory. */
char *tl_crs_name(const char *wkt);

/* Whether the ground at local (x, y) was filled in: one of the four samples of its patch was. */
typedef enum TlGroundFilled {
  TL_GROUND_MEASURED = 0, /* no, or there is no ground */
  TL_GROUND_FILLED,
  TL_GROUND_UNKNOWN /* samples were filled, but not stored which: a catalog of before schema 5 */
} TlGroundFilled;
TlGroundFilled tl_terrain_filled(const TlTerrain *terrain, double x, double y);
/* As a number of a table: 0, 1 or NaN. */
double tl_ground_filled_number(TlGroundFilled filled);

/* Class of the sample nearest to local (x, y), clamped to the raster; 0 without classes. */
int32_t tl_terrain_class(const TlTerrain *terrain, double x, double y);

#endif
