#include "image/nlm.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/filters.h"
#include "image/nlm_rows.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = TL_NLM_LANES };

/* A weight of 2^-30 is as good as none (1331 of them move a voxel by 1e-6 of the grey range): from
 * there on patch distances need not be told apart. */
static const double LEAST_WEIGHT_LOG2 = 30;

typedef struct Plan {
  const TlVolume *grey;
  const TlRoi *roi;
  int patch_radius, search_radius, margin; /* margin = both radii */
  int64_t tile[3], tiles[3], extent[3];    /* extent = tile + 2 margin, x rounded up */
  int64_t row;                             /* of the rows of one x offset, elements */
  const TlNlmKernels *kernels;
  TlNlmWeight weight;
  int32_t free; /* patch sums up to (patch width) free weigh 1 */
  double fall;  /* of the weights with the square of the distance */
  float scale;  /* compared greys = scale grey */
  int32_t most_square;
  float *out;
  char *scratch;
  size_t scratch_each;
  TlProgress *progress;
  int64_t done;
} Plan;

/* Which x of a row of the box are candidates: [first, end), or a mask of 1 and 0. */
typedef struct Reach {
  int32_t first, end;
  bool ragged; /* not one run: ask the mask */
} Reach;

/* One tile with its margins; local voxel (x, y, z) is element z plane + y row + x from `grey`,
 * `scaled` and `mask`, and of sum and total, which have no margins. */
typedef struct Tile {
  float *grey, *scaled, *mask; /* element 0 is the tile's first voxel */
  float *sum, *total;
  float *weights, *factors;           /* weights: a row for each x offset */
  int32_t *columns;                   /* rows (y, x offset) */
  int32_t *sums;                      /* ring of 2 patch radius + 1 rows y of an x offset each */
  int32_t *running, *totals, *nought; /* rows of an x offset; nought: 0 */
  Reach *reach;                       /* of row (z, y), from the first margin row */
  int64_t first[3], size[3];
  int64_t row, plane, own_row; /* strides */
  bool cut;                    /* greys so far apart that squares must be cut */
} Tile;

static int64_t whole_lanes(int64_t n) {
  return (n + LANES - 1) / LANES * LANES;
}

/* ---- scratch ---- */

typedef struct Layout {
  size_t box, own, weights, columns, sums, running, reach, all; /* bytes */
} Layout;

static size_t part(size_t count, size_t size) {
  return (count * size + 63) / 64 * 64;
}

static Layout layout_of(const Plan *plan) {
  size_t offsets = 2 * (size_t)plan->search_radius + 1, row = (size_t)plan->row;
  size_t deep = (size_t)(plan->tile[1] + plan->search_radius + 2 * plan->patch_radius);
  Layout l = {
      .box = part((size_t)(plan->extent[0] * plan->extent[1] * plan->extent[2]), sizeof(float)),
      .own =
          part((size_t)(whole_lanes(plan->tile[0]) * plan->tile[1] * plan->tile[2]), sizeof(float)),
      .weights = part(offsets * (row + 1), sizeof(float)),
      .columns = part(deep * offsets * row, sizeof(int32_t)),
      .sums = part((2 * (size_t)plan->patch_radius + 1) * offsets * row, sizeof(int32_t)),
      .running = part((2 * offsets + 1) * row, sizeof(int32_t)),
      .reach = part((size_t)(plan->extent[1] * plan->extent[2]), sizeof(Reach))};
  l.all = 3 * l.box + 2 * l.own + l.weights + l.columns + l.sums + l.running + l.reach;
  return l;
}

static void tile_place(const Plan *plan, char *scratch, int64_t index, Tile *tile) {
  const TlVolume *v = plan->grey;
  int64_t n[3] = {v->nx, v->ny, v->nz};
  int64_t at[3] = {index % plan->tiles[0], index / plan->tiles[0] % plan->tiles[1],
                   index / plan->tiles[0] / plan->tiles[1]};
  for (int a = 0; a < 3; a++) {
    tile->first[a] = at[a] * plan->tile[a];
    tile->size[a] = n[a] - tile->first[a] < plan->tile[a] ? n[a] - tile->first[a] : plan->tile[a];
  }
  tile->row = plan->extent[0];
  tile->plane = plan->extent[0] * plan->extent[1];
  tile->own_row = whole_lanes(plan->tile[0]);
  Layout l = layout_of(plan);
  int64_t origin = plan->margin * (tile->plane + tile->row + 1);
  tile->grey = (float *)scratch + origin, scratch += l.box;
  tile->scaled = (float *)scratch + origin, scratch += l.box;
  tile->mask = (float *)scratch + origin, scratch += l.box;
  tile->sum = (float *)scratch, scratch += l.own;
  tile->total = (float *)scratch, scratch += l.own;
  tile->weights = (float *)scratch, scratch += l.weights;
  tile->factors = tile->weights + (2 * plan->search_radius + 1) * plan->row;
  tile->columns = (int32_t *)scratch, scratch += l.columns;
  tile->sums = (int32_t *)scratch, scratch += l.sums;
  tile->running = (int32_t *)scratch;
  tile->totals = tile->running + (2 * plan->search_radius + 1) * plan->row;
  tile->nought = tile->totals + (2 * plan->search_radius + 1) * plan->row, scratch += l.running;
  tile->reach = (Reach *)scratch;
}

/* ---- loading ---- */

static Reach *reach_of(const Plan *plan, const Tile *tile, int64_t y, int64_t z) {
  return tile->reach + (z + plan->margin) * plan->extent[1] + y + plan->margin;
}

/* 1 / 0 for candidates of a row, and their reach. */
static void load_mask(const Plan *plan, Tile *tile, int64_t y, int64_t z) {
  const TlVolume *v = plan->grey;
  int64_t m = plan->margin, gy = tile->first[1] + y, gz = tile->first[2] + z, runs = 0;
  float *mask = tile->mask + z * tile->plane + y * tile->row;
  bool row_in = gz >= 0 && gz < v->nz && gy >= 0 && gy < v->ny, before = false;
  Reach reach = {0};
  for (int64_t x = -m; x < tile->size[0] + m; x++) {
    int64_t gx = tile->first[0] + x;
    bool in = row_in && gx >= 0 && gx < v->nx && tl_roi_inside(plan->roi, gx, gy, gz);
    mask[x] = in ? 1 : 0;
    if (in && !before && runs++ == 0) reach.first = (int32_t)x;
    if (in) reach.end = (int32_t)x + 1;
    before = in;
  }
  reach.ragged = runs > 1;
  *reach_of(plan, tile, y, z) = reach;
}

/* Grey levels mirrored over the stack's border. */
static void load_grey(const Plan *plan, Tile *tile, int64_t y, int64_t z, float *low, float *high) {
  const TlVolume *v = plan->grey;
  int64_t m = plan->margin, gy = tile->first[1] + y, gz = tile->first[2] + z;
  const float *from = v->f32 + tl_volume_at(v, 0, tl_mirrored(gy, v->ny), tl_mirrored(gz, v->nz));
  float *grey = tile->grey + z * tile->plane + y * tile->row;
  float *scaled = tile->scaled + z * tile->plane + y * tile->row;
  for (int64_t x = -m; x < tile->size[0] + m; x++) {
    float g = from[tl_mirrored(tile->first[0] + x, v->nx)];
    grey[x] = g;
    scaled[x] = g * plan->scale;
    *low = scaled[x] < *low ? scaled[x] : *low;
    *high = scaled[x] > *high ? scaled[x] : *high;
  }
}

/* Returns whether the tile proper holds any voxel of the region. */
static bool tile_load(const Plan *plan, Tile *tile) {
  int64_t m = plan->margin;
  float low = INFINITY, high = -INFINITY;
  bool any = false;
  for (int64_t z = -m; z < tile->size[2] + m; z++)
    for (int64_t y = -m; y < tile->size[1] + m; y++) {
      load_mask(plan, tile, y, z);
      load_grey(plan, tile, y, z, &low, &high);
      Reach *r = reach_of(plan, tile, y, z);
      bool own = y >= 0 && y < tile->size[1] && z >= 0 && z < tile->size[2];
      any = any || (own && r->end > 0 && r->first < tile->size[0]);
    }
  tile->cut = !((high - low) * (high - low) <= (float)plan->most_square);
  size_t own = layout_of(plan).own;
  memset(tile->sum, 0, own);
  memset(tile->total, 0, own);
  memset(tile->nought, 0, (size_t)plan->row * sizeof(int32_t));
  return any;
}

/* ---- weighing ---- */

typedef struct Span {
  int64_t begin, end;
} Span;

/* Of the pairs (p, p + offset), those p of which one voxel lies in [0, size). */
static Span span_of(int64_t size, int64_t offset) {
  return (Span){offset > 0 ? -offset : 0, offset < 0 ? size - offset : size};
}

/* One (y, z) offset with its x offsets first..search_radius, over the whole tile. */
typedef struct Sweep {
  const Plan *plan;
  Tile *tile;
  int64_t oy, oz, apart; /* apart: elements from p to q without the x offset */
  int first, count;      /* x offsets */
  float *factors;        /* of each x offset: weight of the pair's distance */
} Sweep;

/* Weights of pairs with a voxel that is no candidate become 0. row: weights of x from x.begin; p,
 * q: which voxels of the two rows are. */
static void mask_weights(const Sweep *s, const Reach *p, const Reach *q, int64_t p_row, int ox,
                         Span x, float *row) {
  const Tile *tile = s->tile;
  if (!p->ragged && !q->ragged && p->first <= x.begin && p->end >= x.end &&
      q->first <= x.begin + ox && q->end >= x.end + ox)
    return;
  int64_t begin = p->first > q->first - ox ? p->first : q->first - ox;
  int64_t end = p->end < q->end - ox ? p->end : q->end - ox, n = x.end - x.begin;
  if (p->ragged || q->ragged) {
    const float *mask = tile->mask + p_row + x.begin;
    tl_nlm_mask(mask, mask + s->apart + ox, n, row);
  }
  begin = begin > x.begin ? begin - x.begin : 0;
  end = end < x.end ? end - x.begin : n;
  if (end <= begin) begin = end = n;
  memset(row, 0, (size_t)begin * sizeof *row);
  if (begin == n) return;
  memset(row + end, 0, (size_t)(n - end) * sizeof *row);
}

/* Bring the windows of all x offsets to row y + patch radius of plane z. */
static void window_step(const Sweep *s, int64_t row_y, int64_t z, Span ys, bool first_plane) {
  const Plan *plan = s->plan;
  Tile *tile = s->tile;
  int r = plan->patch_radius, all = 2 * plan->search_radius + 1, width = 2 * r + 1;
  int64_t depth = row_y - (ys.begin - r);
  TlNlmWindow window = {r, plan->most_square, tile->cut, tile->plane};
  for (int k = 0; k < s->count; k++) {
    int ox = s->first + k;
    Span x = span_of(tile->size[0], ox);
    int64_t n = whole_lanes(x.end - x.begin + 2 * r), out = -2 * r * tile->plane;
    const float *p = tile->scaled + (z + r) * tile->plane + row_y * tile->row + x.begin - r;
    const float *q = p + s->apart + ox;
    TlNlmPair pair = {p, q, p + out, q + out};
    TlNlmSums sums = {.column = tile->columns + (depth * all + k) * plan->row,
                      .sum = tile->sums + (depth % width * all + k) * plan->row,
                      .left = tile->sums + ((depth + 1) % width * all + k) * plan->row,
                      .running = tile->running + k * plan->row,
                      .total = tile->totals + k * plan->row};
    if (depth < 2 * r) sums.left = tile->nought;
    if (first_plane || r == 0)
      plan->kernels->column_start(&window, &pair, n, &sums);
    else
      plan->kernels->column_step(&window, &pair, n, &sums);
  }
}

/* Weigh all pairs with p in row (y, z) and give each voxel of the tile the other's grey. */
static void weigh_row(const Sweep *s, int64_t y, int64_t z) {
  const Plan *plan = s->plan;
  Tile *tile = s->tile;
  int64_t pad = plan->search_radius; /* x = 0 of every row of weights is element pad */
  const Reach *p = reach_of(plan, tile, y, z);
  const Reach *q = reach_of(plan, tile, y + s->oy, z + s->oz);
  if (p->end == p->first || q->end == q->first) return;
  for (int k = 0; k < s->count; k++) {
    Span x = span_of(tile->size[0], s->first + k);
    float *row = tile->weights + k * plan->row + pad + x.begin;
    plan->kernels->weights(&plan->weight, s->factors[k], tile->totals + k * plan->row,
                           whole_lanes(x.end - x.begin), row);
    mask_weights(s, p, q, z * tile->plane + y * tile->row, s->first + k, x, row);
  }
  int64_t n = whole_lanes(tile->size[0]), yq = y + s->oy, zq = z + s->oz;
  const float *grey_p = tile->grey + z * tile->plane + y * tile->row;
  if (y >= 0 && y < tile->size[1] && z >= 0) {
    int64_t own = (z * plan->tile[1] + y) * tile->own_row;
    plan->kernels->gather_ahead(tile->weights + pad, plan->row, s->count,
                                grey_p + s->apart + s->first, n, tile->sum + own,
                                tile->total + own);
  }
  if (yq >= 0 && yq < tile->size[1] && zq < tile->size[2]) {
    int64_t own = (zq * plan->tile[1] + yq) * tile->own_row;
    plan->kernels->gather_back(tile->weights + pad - s->first, plan->row, s->count,
                               grey_p - s->first, n, tile->sum + own, tile->total + own);
  }
}

static void sweep_tile(const Sweep *s) {
  const Plan *plan = s->plan;
  Tile *tile = s->tile;
  int r = plan->patch_radius;
  Span ys = span_of(tile->size[1], s->oy);
  int64_t running = s->count * plan->row;
  for (int64_t z = -s->oz; z < tile->size[2]; z++) {
    for (int64_t i = 0; i < running; i++) tile->running[i] = -plan->free;
    for (int64_t y = ys.begin - r; y < ys.end + r; y++) {
      window_step(s, y, z, ys, z == -s->oz);
      if (y >= ys.begin + r) weigh_row(s, y - r, z);
    }
  }
}

static void tile_weigh(const Plan *plan, Tile *tile) {
  int r = plan->search_radius;
  for (int64_t oz = 0; oz <= r; oz++)
    for (int64_t oy = oz ? -r : 0; oy <= r; oy++) {
      int first = oy == 0 && oz == 0 ? 1 : -r;
      Sweep s = {.plan = plan,
                 .tile = tile,
                 .oy = oy,
                 .oz = oz,
                 .apart = oz * tile->plane + oy * tile->row,
                 .first = first,
                 .count = r - first + 1,
                 .factors = tile->factors};
      for (int k = 0; k < s.count; k++) {
        int64_t ox = first + k;
        tile->factors[k] = (float)exp(-plan->fall * (double)(ox * ox + oy * oy + oz * oz));
      }
      sweep_tile(&s);
    }
}

static void tile_store(const Plan *plan, const Tile *tile) {
  const TlVolume *v = plan->grey;
  for (int64_t z = 0; z < tile->size[2]; z++)
    for (int64_t y = 0; y < tile->size[1]; y++) {
      int64_t local = z * tile->plane + y * tile->row;
      const float *sums = tile->sum + (z * plan->tile[1] + y) * tile->own_row;
      const float *totals = tile->total + (z * plan->tile[1] + y) * tile->own_row;
      float *to =
          plan->out + tl_volume_at(v, tile->first[0], tile->first[1] + y, tile->first[2] + z);
      for (int64_t x = 0; x < tile->size[0]; x++)
        to[x] = tile->mask[local + x] > 0 ? (sums[x] + tile->grey[local + x]) / (totals[x] + 1) : 0;
    }
}

static TlStatus run_tile(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  Plan *plan = context;
  (void)end;
  (void)block;
  Tile tile;
  tile_place(plan, plan->scratch + (size_t)thread * plan->scratch_each, begin, &tile);
  if (tile_load(plan, &tile)) {
    tile_weigh(plan, &tile);
    tile_store(plan, &tile);
  }
  int64_t done;
#pragma omp atomic capture
  done = ++plan->done;
  if (thread == 0 && plan->progress) tl_progress(plan->progress, done);
  return TL_OK;
}

/* ---- plan ---- */

static void choose_tiles(Plan *plan, const TlNlmOptions *options) {
  static const int64_t chosen[3] = {128, 32, 64};
  int64_t n[3] = {plan->grey->nx, plan->grey->ny, plan->grey->nz};
  for (int a = 0; a < 3; a++) {
    int64_t want = options->tile[a] > 0 ? options->tile[a] : chosen[a];
    int64_t count = (n[a] + want - 1) / want;
    plan->tile[a] = options->tile[a] > 0 ? want : (n[a] + count - 1) / count;
    plan->tiles[a] = (n[a] + plan->tile[a] - 1) / plan->tile[a];
    plan->extent[a] = plan->tile[a] + 2 * plan->margin;
  }
  plan->extent[0] = whole_lanes(plan->extent[0]) + 2 * LANES;
  plan->row = plan->extent[0] + LANES;
}

/* Greys are scaled so that a patch in which a single square is cut has a distance that leaves no
 * weight: cutting changes nothing, and squares keep as many bits as fit. A scale above 1 is made
 * whole, so that the sums of whole greys are exact. */
static void choose_scale(Plan *plan, const TlNlmOptions *o) {
  double side = o->patch > 1 ? 2 * o->patch - 2 : 1, n = side * side * side; /* sums of weights */
  double h = o->h_factor * o->sigma, noise = 2 * o->sigma * o->sigma;
  double none = noise + 2 * h * h * LEAST_WEIGHT_LOG2 * M_LN2; /* d2 there */
  double most = fmin(TL_NLM_MOST_SQUARE, floor((double)INT32_MAX / n));
  double scale = sqrt(most / (n * none));
  if (scale > 1) scale = floor(scale);
  plan->scale = (float)scale;
  plan->most_square = (int32_t)most;
  double per_grey = n * (double)plan->scale * (double)plan->scale;
  plan->free = (int32_t)(noise * per_grey / (2 * side));
  plan->weight = (TlNlmWeight){.radius = plan->patch_radius,
                               .most = (int32_t)((none - noise) * per_grey),
                               .slope = (float)(M_LOG2E / (2 * h * h * per_grey))};
}

static void make_plan(Plan *plan, const TlVolume *grey, const TlNlmOptions *o) {
  int pr = o->patch / 2, sr = o->search / 2;
  *plan = (Plan){.grey = grey, .patch_radius = pr, .search_radius = sr, .margin = pr + sr};
  choose_tiles(plan, o);
  plan->fall = o->reach > 0 ? 0.5 / (o->reach * o->reach) : 0;
  choose_scale(plan, o);
  plan->kernels = tl_nlm_kernels();
  plan->scratch_each = layout_of(plan).all;
}

int64_t tl_nlm_scratch_bytes(const TlVolume *grey, const TlNlmOptions *options, int threads) {
  Plan plan;
  make_plan(&plan, grey, options);
  return (int64_t)plan.scratch_each * threads;
}

TlStatus tl_nlm(const TlVolume *grey, const TlRoi *roi, const TlNlmOptions *options,
                TlVolume *out) {
  assert(grey->type == TL_F32 && options->sigma > 0 && options->h_factor > 0);
  assert(options->reach == 0 || options->reach >= 1);
  assert(options->patch % 2 == 1 && options->patch <= TL_NLM_MOST_PATCH &&
         options->search % 2 == 1);
  Plan plan;
  make_plan(&plan, grey, options);
  plan.roi = roi;
  TL_TRY(tl_volume_like(out, grey, TL_F32));
  plan.out = out->f32;
  int64_t tiles = plan.tiles[0] * plan.tiles[1] * plan.tiles[2];
  TlProgress progress = {0};
  if (!options->quiet) {
    progress = tl_progress_start("non-local means", tiles);
    plan.progress = &progress;
  }
  TlStatus status = TL_NEW(plan.scratch, plan.scratch_each * (size_t)tl_par_threads());
  if (status == TL_OK) status = tl_par_blocks(tiles, 1, run_tile, &plan);
  if (plan.progress) tl_progress_end(&progress);
  tl_free(plan.scratch);
  if (status != TL_OK) tl_volume_free(out);
  return status;
}
