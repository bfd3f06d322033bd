#include "base/mem.h"
#include "base/par.h"
#include "image/noise.h"
#include "num/quantile.h"

#include <math.h>

enum { MOST_LAYERS = 96, NEAR = 4, LEAST_WIDTH = 32, SECTORS = 16, SHIFT = 6, LEAST_RADIUS = 4 };
enum { TREND = 4 }; /* the running mean over the radius reaches so far to both sides */

static const double CUT_SIGMA = 3, CUT_SCORE = 6;
static const double FARTHEST = 4; /* of width plus height: rings of an axis further off are lines */

typedef struct Map {
  int64_t nx, ny, layers;
  float *sum, *count; /* of the cut residuals in each column of the stack */
} Map;

/* ---- the map ---- */

/* prefix[(y (nx + 1)) + x] = sum over rows < y and columns < x of grey times inside. */
static void prefix_sums(const float *layer, const uint8_t *inside, int64_t nx, int64_t ny,
                        double *grey, double *count) {
  for (int64_t x = 0; x <= nx; x++) grey[x] = count[x] = 0;
  for (int64_t y = 0; y < ny; y++) {
    double *g = grey + (y + 1) * (nx + 1), *c = count + (y + 1) * (nx + 1), row_g = 0, row_c = 0;
    g[0] = c[0] = 0;
    for (int64_t x = 0; x < nx; x++) {
      bool in = inside[y * nx + x];
      row_g += in ? (double)layer[y * nx + x] : 0;
      row_c += in;
      g[x + 1] = g[x + 1 - (nx + 1)] + row_g;
      c[x + 1] = c[x + 1 - (nx + 1)] + row_c;
    }
  }
}

static double box_of(const double *prefix, int64_t nx, int64_t x0, int64_t x1, int64_t y0,
                     int64_t y1) {
  int64_t w = nx + 1;
  return prefix[y1 * w + x1] - prefix[y0 * w + x1] - prefix[y1 * w + x0] + prefix[y0 * w + x0];
}

static void add_layer(Map *map, const float *layer, const uint8_t *inside, const double *grey,
                      const double *count, double cut) {
  int64_t nx = map->nx, ny = map->ny;
  for (int64_t y = 0; y < ny; y++)
    for (int64_t x = 0; x < nx; x++) {
      if (!inside[y * nx + x]) continue;
      int64_t x0 = x > NEAR ? x - NEAR : 0, x1 = x + NEAR + 1 < nx ? x + NEAR + 1 : nx;
      int64_t y0 = y > NEAR ? y - NEAR : 0, y1 = y + NEAR + 1 < ny ? y + NEAR + 1 : ny;
      double mean = box_of(grey, nx, x0, x1, y0, y1) / box_of(count, nx, x0, x1, y0, y1);
      double d = (double)layer[y * nx + x] - mean;
      map->sum[y * nx + x] += (float)(d > cut ? cut : d < -cut ? -cut : d);
      map->count[y * nx + x] += 1;
    }
}

typedef struct Scratch {
  double *grey, *count;
  uint8_t *inside;
} Scratch;

static TlStatus fill_map(const TlLayers *stack, const TlRoi *roi, double sigma, Map *map,
                         Scratch *s) {
  int64_t nx = map->nx, ny = map->ny, nz = stack->head.nz;
  size_t corners = (size_t)((nx + 1) * (ny + 1));
  map->layers = nz < MOST_LAYERS ? nz : MOST_LAYERS;
  TL_TRY(TL_NEW(map->sum, (size_t)(nx * ny)));
  TL_TRY(TL_NEW(map->count, (size_t)(nx * ny)));
  TL_TRY(TL_NEW(s->grey, corners));
  TL_TRY(TL_NEW(s->count, corners));
  TL_TRY(TL_NEW(s->inside, (size_t)(nx * ny)));
  for (int64_t k = 0; k < map->layers; k++) {
    int64_t z = nz * k / map->layers;
    TlVolume layer;
    TL_TRY(tl_layers_grey(stack, z, 1, &layer));
    for (int64_t i = 0; i < nx * ny; i++) s->inside[i] = tl_roi_inside(roi, i % nx, i / nx, z) != 0;
    prefix_sums(layer.f32, s->inside, nx, ny, s->grey, s->count);
    add_layer(map, layer.f32, s->inside, s->grey, s->count, CUT_SIGMA * sigma);
    tl_volume_free(&layer);
  }
  return TL_OK;
}

/* ---- profiles ---- */

typedef struct Cell {
  double sum, count;
} Cell;

typedef struct Profile {
  int64_t radii;
  Cell *cells;           /* radii x SECTORS */
  double *mean[2], *all; /* of the two sets of sectors; all: scratch */
  double *count[2];
} Profile;

/* Sector of a direction without a call of atan2: octants, each halved at slope tan(22.5 deg). */
static int sector_of(double dx, double dy) {
  double ax = fabs(dx), ay = fabs(dy);
  int fold = ax >= ay ? (ay >= 0.41421356237 * ax) : 3 - (ax >= 0.41421356237 * ay);
  int quadrant = (dx < 0) + 2 * (dy < 0);
  static const int turned[4] = {0, 1, 3, 2}; /* so that neighbours alternate */
  return 4 * turned[quadrant] + (turned[quadrant] & 1 ? 3 - fold : fold);
}

static void fill_cells(const Map *map, double cx, double cy, Profile *p) {
  for (int64_t i = 0; i < p->radii * SECTORS; i++) p->cells[i] = (Cell){0, 0};
  for (int64_t y = 0; y < map->ny; y++)
    for (int64_t x = 0; x < map->nx; x++) {
      int64_t i = y * map->nx + x;
      if (!(map->count[i] > 0)) continue;
      double dx = (double)x - cx, dy = (double)y - cy;
      int64_t r = (int64_t)(sqrt(dx * dx + dy * dy) + 0.5);
      if (r >= p->radii) continue;
      Cell *cell = &p->cells[r * SECTORS + sector_of(dx, dy)];
      cell->sum += (double)map->sum[i];
      cell->count += (double)map->count[i];
    }
}

/* Means of the even and odd sectors, less the running mean over the radius. */
static void make_profiles(Profile *p) {
  for (int set = 0; set < 2; set++) {
    for (int64_t r = 0; r < p->radii; r++) {
      Cell all = {0, 0};
      for (int k = set; k < SECTORS; k += 2) {
        all.sum += p->cells[r * SECTORS + k].sum;
        all.count += p->cells[r * SECTORS + k].count;
      }
      p->count[set][r] = all.count;
      p->all[r] = all.count > 0 ? all.sum / all.count : 0;
    }
    for (int64_t r = 0; r < p->radii; r++) {
      double sum = 0, n = 0;
      for (int64_t k = r - TREND; k <= r + TREND; k++)
        if (k >= 0 && k < p->radii && p->count[set][k] > 0) sum += p->all[k], n++;
      p->mean[set][r] = n > 0 ? p->all[r] - sum / n : 0;
    }
  }
}

/* Variance of a voxel's part in a sector's mean, from how sectors of one circle and of one set
 * differ: rings are alike in all sectors and do not count. The median over the radii: a wall does
 * not count either. */
static double voxel_variance(Profile *p, float *values) {
  int64_t n = 0;
  for (int64_t r = LEAST_RADIUS; r < p->radii; r++) {
    double square = 0, used = 0, all = 0, count = 0;
    for (int k = 0; k < SECTORS; k++) {
      const Cell *c = &p->cells[r * SECTORS + k];
      all += c->sum;
      count += c->count;
    }
    for (int k = 0; k < SECTORS && count > 0; k++) {
      const Cell *c = &p->cells[r * SECTORS + k];
      if (!(c->count > 0)) continue;
      double d = c->sum / c->count - all / count;
      square += d * d * c->count;
      used++;
    }
    if (used > SECTORS / 2) values[n++] = (float)(square / (used - 1));
  }
  return n > 0 ? (double)tl_select(values, n, n / 2) : 0;
}

static double cut_score(double u) {
  return u > CUT_SCORE ? CUT_SCORE : u < -CUT_SCORE ? -CUT_SCORE : u;
}

/* score and amplitude at one axis. */
static void judge_axis(const Map *map, double cx, double cy, Profile *p, float *values,
                       TlRings *rings) {
  fill_cells(map, cx, cy, p);
  make_profiles(p);
  double variance = voxel_variance(p, values), sum = 0, product = 0, n = 0;
  *rings = (TlRings){.x = cx, .y = cy};
  if (!(variance > 0)) return;
  for (int64_t r = LEAST_RADIUS; r < p->radii; r++) {
    double na = p->count[0][r], nb = p->count[1][r];
    if (!(na > 0 && nb > 0)) continue;
    double u = p->mean[0][r] * sqrt(na / variance), v = p->mean[1][r] * sqrt(nb / variance);
    sum += cut_score(u) * cut_score(v);
    product += p->mean[0][r] * p->mean[1][r];
    n++;
  }
  if (n < 8) return;
  rings->score = sum / sqrt(n);
  rings->amplitude = product > 0 ? sqrt(product / n) : 0;
}

static TlStatus profile_new(Profile *p, int64_t radii) {
  *p = (Profile){.radii = radii};
  TL_TRY(TL_NEW(p->cells, (size_t)(radii * SECTORS)));
  TL_TRY(TL_NEW(p->all, (size_t)radii));
  for (int set = 0; set < 2; set++) {
    TL_TRY(TL_NEW(p->mean[set], (size_t)radii));
    TL_TRY(TL_NEW(p->count[set], (size_t)radii));
  }
  return TL_OK;
}

static void profile_free(Profile *p) {
  tl_free(p->cells);
  tl_free(p->all);
  for (int set = 0; set < 2; set++) {
    tl_free(p->mean[set]);
    tl_free(p->count[set]);
  }
}

/* Whole voxels within SHIFT of the centre, then halves about the best. */
static TlStatus find_axis(const Map *map, double cx, double cy, int64_t radii, TlRings *best) {
  Profile p;
  float *values;
  TL_TRY(TL_NEW(values, (size_t)radii));
  TlStatus status = profile_new(&p, radii);
  *best = (TlRings){.x = cx, .y = cy, .score = -INFINITY};
  for (int round = 0; round < 2 && status == TL_OK; round++) {
    double x0 = round ? best->x : cx, y0 = round ? best->y : cy, step = round ? 0.5 : 1;
    int reach = round ? 1 : SHIFT;
    for (int j = -reach; j <= reach; j++)
      for (int i = -reach; i <= reach; i++) {
        TlRings here;
        judge_axis(map, x0 + i * step, y0 + j * step, &p, values, &here);
        if (here.score > best->score) *best = here;
      }
  }
  profile_free(&p);
  tl_free(values);
  return status;
}

TlStatus tl_noise_rings(const TlLayers *stack, const TlRoi *roi, double sigma, TlRings *rings) {
  Map map = {.nx = stack->head.nx, .ny = stack->head.ny};
  Scratch s = {0};
  *rings = (TlRings){0};
  if (map.nx < LEAST_WIDTH || map.ny < LEAST_WIDTH) return TL_OK;
  double cx = (double)(map.nx - 1) / 2, cy = (double)(map.ny - 1) / 2;
  int64_t radii = (map.nx < map.ny ? map.nx : map.ny) / 2;
  if (roi->kind == TL_ROI_CYLINDER) {
    cx = roi->x, cy = roi->y;
    double x = fmax(fabs(cx), fabs((double)(map.nx - 1) - cx));
    double y = fmax(fabs(cy), fabs((double)(map.ny - 1) - cy));
    double corner = hypot(x, y); /* the farthest one */
    if (corner > FARTHEST * (double)(map.nx + map.ny)) return TL_OK;
    radii = (int64_t)fmin(roi->r, corner + SHIFT + 2);
  }
  TlStatus status = fill_map(stack, roi, sigma, &map, &s);
  if (status == TL_OK && radii > LEAST_RADIUS) status = find_axis(&map, cx, cy, radii, rings);
  rings->found = rings->score > TL_RINGS_SCORE;
  if (!rings->found) rings->amplitude = 0;
  tl_free(map.sum);
  tl_free(map.count);
  tl_free(s.grey);
  tl_free(s.count);
  tl_free(s.inside);
  return status;
}
