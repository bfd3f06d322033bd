#include "shape/terrain.h"

#include "base/mem.h"
#include "shape/heightfield.h"

#include <math.h>
#include <string.h>

void tl_terrain_free(TlTerrain *terrain) {
  if (!terrain->borrowed) {
    tl_free(terrain->name);
    tl_free(terrain->crs);
    tl_free(terrain->height_m);
    tl_free(terrain->class_id);
    tl_free(terrain->filled);
    tl_free(terrain->k_low);
    tl_free(terrain->k_count);
    tl_free(terrain->start);
    tl_free(terrain->band_phi);
  }
  *terrain = (TlTerrain){0};
}

void tl_terrain_lay_out(TlFlat *flat, TlTerrain *t) {
  void *first = tl_flat_pass(flat, t, sizeof *t);
  if (flat->mode == TL_FLAT_READ) {
    memcpy(t, first, sizeof *t);
    t->borrowed = true;
  }
  size_t cells = (size_t)t->nx * (size_t)t->ny, columns = (size_t)t->bnx * (size_t)t->bny;
  size_t lengths[2] = {0}; /* of its names, which tell theirs only where they lie */
  for (int k = 0; k < 2; k++) {
    char **text = k == 0 ? &t->name : &t->crs;
    if (!*text) continue;
    if (flat->mode != TL_FLAT_READ) lengths[k] = strlen(*text) + 1;
    size_t *length = tl_flat_pass(flat, &lengths[k], sizeof lengths[k]);
    TL_FLAT_ARRAY(flat, *text, flat->mode == TL_FLAT_READ ? *length : lengths[k]);
  }
  TL_FLAT_ARRAY(flat, t->height_m, cells);
  TL_FLAT_ARRAY(flat, t->class_id, cells);
  TL_FLAT_ARRAY(flat, t->filled, cells);
  TL_FLAT_ARRAY(flat, t->k_low, columns);
  TL_FLAT_ARRAY(flat, t->k_count, columns);
  TL_FLAT_ARRAY(flat, t->start, columns);
  TL_FLAT_ARRAY(flat, t->band_phi, t->band_count);
}

/* The largest |k_low|: far above any, and k - k_low stays a 32-bit number (see in_band). */
enum { MOST_LEVEL = 100000000 };

TlStatus tl_terrain_check_numbers(const TlTerrain *t, int64_t *cells, int64_t *columns) {
  int64_t bytes;
  bool band = t->bnx >= 2 && t->bny >= 2, none = t->bnx == 0 && t->bny == 0;
  *cells = *columns = 0;
  if (t->nx < 2 || t->ny < 2 || t->refined < 0 || t->refined > INT32_MAX || !(band || none) ||
      t->band_count < 0 || __builtin_mul_overflow(t->nx, t->ny, cells) ||
      __builtin_mul_overflow(*cells, (int64_t)sizeof(double), &bytes) ||
      __builtin_mul_overflow(t->bnx, t->bny, columns) ||
      __builtin_mul_overflow(*columns, (int64_t)sizeof(double), &bytes) ||
      __builtin_mul_overflow(t->band_count, (int64_t)sizeof(double), &bytes) || !(t->cell_m > 0) ||
      !isfinite(t->cell_m) || !(t->band_spacing_m > 0) || !isfinite(t->band_spacing_m))
    return tl_fail(TL_EINPUT,
                   "size %lld x %lld samples of %g m, band %lld x %lld at %g m with %lld values: "
                   "not usable",
                   (long long)t->nx, (long long)t->ny, t->cell_m, (long long)t->bnx,
                   (long long)t->bny, t->band_spacing_m, (long long)t->band_count);
  const double finite[] = {t->origin[0], t->origin[1], t->origin[2], t->x0_m,
                           t->y0_m,      t->z0_m,      t->band_m};
  for (size_t i = 0; i < sizeof finite / sizeof *finite; i++)
    if (!isfinite(finite[i]))
      return tl_fail(TL_EINPUT, "its origin, corner or band is not a finite number");
  return TL_OK;
}

TlStatus tl_terrain_check_arrays(const TlTerrain *t) {
  for (int64_t i = 0; i < t->bnx * t->bny; i++)
    if (t->k_count[i] < 0 || t->k_low[i] < -MOST_LEVEL || t->k_low[i] > MOST_LEVEL ||
        (t->k_count[i] > 0 && (t->start[i] < 0 || t->start[i] > t->band_count - t->k_count[i])))
      return tl_fail(TL_EINPUT, "column %lld of the band lies outside its %lld values",
                     (long long)i, (long long)t->band_count);
  for (int64_t i = 0; i < t->nx * t->ny; i++)
    if (isinf(t->height_m[i]))
      return tl_fail(TL_EINPUT, "the height of sample %lld is infinite", (long long)i);
  int64_t filled = 0;
  for (int64_t i = 0; t->filled && i < t->nx * t->ny; i++) filled += t->filled[i] != 0;
  if (t->filled && t->refined <= 1 && filled != t->holes_filled)
    return tl_fail(TL_EINPUT, "%lld samples are marked as filled, %lld are said to be",
                   (long long)filled, (long long)t->holes_filled);
  for (int64_t i = 0; i < t->band_count; i++)
    if (!isfinite(t->band_phi[i]))
      return tl_fail(TL_EINPUT, "value %lld of the band is not finite", (long long)i);
  return TL_OK;
}

char *tl_crs_name(const char *wkt) {
  const char *from = strchr(wkt, '"'), *to = from ? strchr(from + 1, '"') : NULL;
  return to ? tl_format("%.*s", (int)(to - from - 1), from + 1) : tl_strdup("none");
}

static int64_t nearest(double at, int64_t count) {
  double n = floor(at + 0.5);
  return n < 0 ? 0 : n > (double)(count - 1) ? count - 1 : (int64_t)n;
}

int32_t tl_terrain_class(const TlTerrain *t, double x, double y) {
  if (!t->class_id) return 0;
  int64_t i = nearest((x - t->x0_m) / t->cell_m, t->nx),
          j = nearest((y - t->y0_m) / t->cell_m, t->ny);
  return t->class_id[j * t->nx + i];
}

TlGroundFilled tl_terrain_filled(const TlTerrain *t, double x, double y) {
  double u = (x - t->x0_m) / t->cell_m, v = (y - t->y0_m) / t->cell_m;
  if (t->holes_filled == 0 ||
      !(u >= 0 && v >= 0 && u <= (double)(t->nx - 1) && v <= (double)(t->ny - 1)))
    return TL_GROUND_MEASURED;
  if (!t->filled) return TL_GROUND_UNKNOWN;
  int64_t i = (int64_t)fmin(u, (double)(t->nx - 2)), j = (int64_t)fmin(v, (double)(t->ny - 2));
  const uint8_t *south = t->filled + j * t->nx + i, *north = south + t->nx;
  return south[0] || south[1] || north[0] || north[1] ? TL_GROUND_FILLED : TL_GROUND_MEASURED;
}

double tl_ground_filled_number(TlGroundFilled filled) {
  return filled == TL_GROUND_UNKNOWN ? NAN : (double)filled;
}

TlTerrainGrid tl_terrain_grid(const TlTerrain *t) {
  int64_t n = t->refined > 1 ? t->refined : 1;
  return (TlTerrainGrid){(t->nx - 1) / n + 1, (t->ny - 1) / n + 1, t->cell_m * (double)n, t->x0_m,
                         t->y0_m};
}

int64_t tl_terrain_grid_at(const TlTerrainGrid *g, double x, double y) {
  double u = floor((x - g->x0_m) / g->cell_m + 0.5), v = floor((y - g->y0_m) / g->cell_m + 0.5);
  if (!(u >= 0 && v >= 0 && u < (double)g->nx && v < (double)g->ny)) return -1;
  return (int64_t)v * g->nx + (int64_t)u;
}

bool tl_terrain_height(const TlTerrain *t, double x, double y, double *z, TlVec3 *normal) {
  TlHeightfield field = {t->nx, t->ny, t->height_m, 1 / t->cell_m};
  TlPatch p;
  double u, v;
  if (!tl_heightfield_locate(&field, (x - t->x0_m) / t->cell_m, (y - t->y0_m) / t->cell_m, &p, &u,
                             &v))
    return false;
  *z = t->cell_m * (p.a + p.b * u + p.c * v + p.d * u * v);
  if (normal) *normal = tl_unit(tl_vec3(-(p.b + p.d * v), -(p.c + p.d * u), 1));
  return true;
}

bool tl_terrain_surface(const TlTerrain *t, TlVec3 p, double reach, double *phi, TlVec3 *normal) {
  double per = 1 / t->cell_m;
  TlHeightfield field = {t->nx, t->ny, t->height_m, per};
  TlVec3 q = tl_vec3((p.x - t->x0_m) * per, (p.y - t->y0_m) * per, p.z * per);
  bool there = tl_heightfield_signed(&field, q, reach * per, phi, normal);
  *phi *= t->cell_m;
  return there;
}

void tl_terrain_surface_many(const TlTerrain *t, const TlVec3 *p, size_t count, double *phi,
                             TlVec3 *normal) {
  enum { MOST = 64 };
  TlVec3 q[MOST];
  double per = 1 / t->cell_m;
  TlHeightfield field = {t->nx, t->ny, t->height_m, per};
  for (size_t first = 0; first < count; first += MOST) {
    size_t n = count - first < MOST ? count - first : MOST;
    for (size_t i = 0; i < n; i++)
      q[i] = tl_vec3((p[first + i].x - t->x0_m) * per, (p[first + i].y - t->y0_m) * per,
                     p[first + i].z * per);
    tl_heightfield_signed_many(&field, q, n, phi + first, normal + first);
    for (size_t i = 0; i < n; i++) phi[first + i] *= t->cell_m;
  }
}

/* The grid cell around a point: four columns and the place between them. */
typedef struct Cell {
  int64_t column[4]; /* (i,j) (i+1,j) (i,j+1) (i+1,j+1) */
  double u, v, s;    /* s: height above z0 in spacings */
} Cell;

/* A value of each corner: bilinear in u, v. */
static inline double mix(const double f[4], double u, double v) {
  double f0 = f[0] + u * (f[1] - f[0]), f1 = f[2] + u * (f[3] - f[2]);
  return f0 + v * (f1 - f0);
}

/* False outside the grid. On the grid's last row and column the cell before is taken (u = 1): never
 * one that would lie half outside. */
static inline bool find_cell(const TlTerrain *t, TlVec3 p, Cell *cell) {
  double per = 1 / t->band_spacing_m;
  double a = (p.x - t->x0_m) * per, b = (p.y - t->y0_m) * per;
  if (!(a >= 0 && b >= 0 && a <= (double)(t->bnx - 1) && b <= (double)(t->bny - 1))) return false;
  int64_t i = (int64_t)a, j = (int64_t)b;
  i = i > t->bnx - 2 ? t->bnx - 2 : i;
  j = j > t->bny - 2 ? t->bny - 2 : j;
  cell->u = a - (double)i;
  cell->v = b - (double)j;
  cell->s = (p.z - t->z0_m) * per;
  int64_t c = j * t->bnx + i;
  cell->column[0] = c;
  cell->column[1] = c + 1;
  cell->column[2] = c + t->bnx;
  cell->column[3] = c + t->bnx + 1;
  return true;
}

/* phi grows with height, so a gradient that vanishes (on a crease) can only mean straight up. */
static inline TlVec3 unit_or_up(TlVec3 g) {
  double n2 = tl_norm2(g);
  return n2 > 0 ? tl_scale(1 / sqrt(n2), g) : tl_vec3(0, 0, 1);
}

/* Trilinear value and unit normal where all eight corners are in the band. */
static inline bool in_band(const TlTerrain *t, const Cell *cell, double *phi, TlVec3 *normal) {
  if (!(cell->s > -2e9 && cell->s < 2e9)) return false;
  int32_t k = (int32_t)floor(cell->s);
  double w = cell->s - k, f[4], d[4];
  for (int m = 0; m < 4; m++) {
    int64_t c = cell->column[m];
    int32_t n = k - t->k_low[c];
    if (n < 0 || n >= t->k_count[c] - 1) return false;
    const float *at = t->band_phi + t->start[c] + n;
    d[m] = (double)at[1] - at[0];
    f[m] = at[0] + w * d[m];
  }
  double u = cell->u, v = cell->v;
  *phi = mix(f, u, v);
  if (normal) {
    double gx = (f[1] - f[0]) + v * ((f[3] - f[2]) - (f[1] - f[0]));
    double gy = (f[2] - f[0]) + u * ((f[3] - f[1]) - (f[2] - f[0]));
    *normal = unit_or_up(tl_vec3(gx, gy, mix(d, u, v)));
  }
  return true;
}

/* Outside the stored run a column is carried on: upwards constant, for phi grows with height, so
 * that is a lower bound; downwards with the slope n_z of the ground, exact over a plane. */
static double column_phi(const TlTerrain *t, int64_t c, double s, double nz) {
  const float *phi = t->band_phi + t->start[c];
  double n = s - t->k_low[c];
  int32_t top = t->k_count[c] - 1;
  if (n >= top) return phi[top];
  if (n <= 0) return phi[0] + n * t->band_spacing_m * nz;
  int32_t k = (int32_t)n;
  return phi[k] + (n - k) * ((double)phi[k + 1] - phi[k]);
}

/* Above the band. Interpolation can exceed a distance d by at most h^2/(4 d), the bound of its
 * second derivatives being 1/d; that much is taken off to leave a lower bound. The vertical
 * distance `above` bounds it from the other side. */
static double phi_above(const TlTerrain *t, double mixed, double above) {
  double h = t->band_spacing_m;
  double bound = mixed > h ? mixed - h * h / (4 * mixed) : 0.75 * mixed;
  return fmin(fmax(bound, 1e-3 * above), above);
}

/* The columns' values at the point's height; false where a column that counts has no ground. */
static bool corner_values(const TlTerrain *t, const Cell *cell, double nz, double f[4]) {
  double weight[4] = {(1 - cell->u) * (1 - cell->v), cell->u * (1 - cell->v),
                      (1 - cell->u) * cell->v, cell->u * cell->v};
  for (int m = 0; m < 4; m++) {
    f[m] = 0;
    if (t->k_count[cell->column[m]] > 0)
      f[m] = column_phi(t, cell->column[m], cell->s, nz);
    else if (weight[m] != 0) /* else: a point on the outline itself, beside a missing patch */
      return false;
  }
  return true;
}

/* Off the band's whole cells: judged from the heightfield, which knows the sign at any depth. */
static TlTerrainSpot off_band(const TlTerrain *t, const Cell *cell, TlVec3 p, double *phi,
                              TlVec3 *normal) {
  TlVec3 up;
  double z, f[4];
  *phi = INFINITY;
  if (!tl_terrain_height(t, p.x, p.y, &z, &up)) return TL_TERRAIN_OUTSIDE;
  if (!corner_values(t, cell, up.z, f)) return TL_TERRAIN_OUTSIDE;
  double mixed = mix(f, cell->u, cell->v), above = p.z - z;
  if (normal) *normal = up;
  if (above >= 0) return *phi = phi_above(t, mixed, above), TL_TERRAIN_ABOVE;
  /* The ground straight above bounds the distance; a whisker keeps the sign where it is shallow. */
  *phi = fmax(fmin(mixed, 1e-3 * above), above);
  return TL_TERRAIN_BELOW;
}

TlTerrainSpot tl_terrain_phi(const TlTerrain *t, TlVec3 p, double *phi, TlVec3 *normal) {
  Cell cell;
  if (!find_cell(t, p, &cell)) return *phi = INFINITY, TL_TERRAIN_OUTSIDE;
  if (in_band(t, &cell, phi, normal)) return TL_TERRAIN_BAND;
  return off_band(t, &cell, p, phi, normal);
}
