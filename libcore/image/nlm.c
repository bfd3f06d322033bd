#include "image/nlm.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "image/nlm_rows.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = 16 }; /* floats of the widest vector */

typedef struct Plan {
  const TlVolume *grey;
  const TlRoi *roi;
  int patch_radius, search_radius, margin; /* margin = both radii */
  int64_t tile[3], tiles[3], extent[3];    /* extent = tile + 2 margin, x rounded up */
  TlNlmWeight weight;
  float *out;
  float *scratch;
  size_t scratch_each;
  TlProgress *progress;
  int64_t done;
} Plan;

/* One tile with its margins; local voxel (x, y, z) is element (z ey + y) ex + x from `origin`. */
typedef struct Tile {
  float *grey, *sum, *total, *mask; /* origin pointers: element 0 is the tile's first voxel */
  float *ring, *columns, *weights;
  int64_t first[3], size[3];
  int64_t row, plane; /* strides */
  bool masked;        /* some voxel with its margin lies outside stack or region */
} Tile;

static int64_t mirrored(int64_t i, int64_t n) {
  int64_t period = 2 * n;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - 1 - i;
}

static size_t box_floats(const Plan *plan) {
  return (size_t)(plan->extent[0] * plan->extent[1] * plan->extent[2]);
}

static void tile_place(const Plan *plan, float *scratch, int64_t index, Tile *tile) {
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
  size_t box = box_floats(plan), origin = (size_t)(plan->margin * (tile->plane + tile->row + 1));
  tile->grey = scratch + origin;
  tile->sum = scratch + box + origin;
  tile->total = scratch + 2 * box + origin;
  tile->mask = scratch + 3 * box + origin;
  tile->columns = scratch + 4 * box;
  tile->weights = tile->columns + plan->extent[0];
  tile->ring = tile->weights + plan->extent[0];
}

/* Grey levels mirrored over the stack's border, and 1 / 0 for candidates. Returns whether the tile
 * proper holds any voxel of the region. */
static bool tile_load(const Plan *plan, Tile *tile) {
  const TlVolume *v = plan->grey;
  int64_t m = plan->margin, inside = 0, box = 0, own = 0;
  memset(tile->sum - m * (tile->plane + tile->row + 1), 0, 2 * box_floats(plan) * sizeof(float));
  for (int64_t z = -m; z < tile->size[2] + m; z++)
    for (int64_t y = -m; y < tile->size[1] + m; y++) {
      int64_t gz = tile->first[2] + z, gy = tile->first[1] + y;
      bool row_in = gz >= 0 && gz < v->nz && gy >= 0 && gy < v->ny;
      const float *from = v->f32 + tl_volume_at(v, 0, mirrored(gy, v->ny), mirrored(gz, v->nz));
      float *to = tile->grey + z * tile->plane + y * tile->row;
      float *mask = tile->mask + z * tile->plane + y * tile->row;
      for (int64_t x = -m; x < tile->size[0] + m; x++) {
        int64_t gx = tile->first[0] + x;
        to[x] = from[mirrored(gx, v->nx)];
        bool in = row_in && gx >= 0 && gx < v->nx && tl_roi_inside(plan->roi, gx, gy, gz);
        mask[x] = in ? 1 : 0;
        inside += in;
        box++;
        own += in && x >= 0 && x < tile->size[0] && y >= 0 && y < tile->size[1] && z >= 0 &&
               z < tile->size[2];
      }
    }
  tile->masked = inside < box;
  return own > 0;
}

static void range(int64_t size, int64_t offset, int64_t *begin, int64_t *end) {
  *begin = offset > 0 ? -offset : 0;
  *end = offset < 0 ? size - offset : size;
}

/* Whole vectors only: what the last lanes beyond a row add goes to voxels outside the tile, whose
 * sums nobody reads. Tails voxel by voxel took half of the time. */
static int64_t whole_vectors(int64_t n) {
  return (n + LANES - 1) / LANES * LANES;
}

/* Weigh all pairs (p, p + offset), p in one row, and give each voxel of the pair the other's grey.
 * ring: the column distances of the 2 radius + 1 rows around p's, for this x offset. */
static void weigh_row(const Plan *plan, Tile *tile, const float *const *rows, int64_t row_start,
                      int64_t offset, int64_t ox) {
  int64_t x0, x1;
  range(tile->size[0], ox, &x0, &x1);
  int64_t p = row_start + x0, q = p + offset, n = whole_vectors(x1 - x0);
  int64_t columns = whole_vectors(x1 - x0 + 2 * plan->patch_radius);
  tl_nlm_weights(&plan->weight, rows, columns, n, tile->columns, tile->weights);
  if (tile->masked) tl_nlm_mask(tile->mask + p, tile->mask + q, n, tile->weights);
  tl_nlm_accumulate(tile->weights, tile->grey + q, n, tile->sum + p, tile->total + p);
  tl_nlm_accumulate(tile->weights, tile->grey + p, n, tile->sum + q, tile->total + q);
}

/* All x offsets of one (y, z) offset, row by row: the rows of grey levels and sums they share stay
 * in the first cache. The ring keeps the last 2 radius + 1 rows of column distances an x offset. */
static void weigh_plane(const Plan *plan, Tile *tile, int64_t z, int64_t oy, int64_t oz) {
  int radius = plan->patch_radius, width = 2 * radius + 1, search = plan->search_radius;
  int first_ox = oy == 0 && oz == 0 ? 1 : -search;
  int64_t y0, y1, offset = oz * tile->plane + oy * tile->row;
  range(tile->size[1], oy, &y0, &y1);
  for (int64_t y = y0 - radius; y < y1 + radius; y++) {
    int64_t start = z * tile->plane + y * tile->row, slot = (y - y0 + radius) % width;
    for (int64_t ox = first_ox; ox <= search; ox++) {
      float *ring = tile->ring + (ox + search) * width * plan->extent[0];
      int64_t x0, x1;
      range(tile->size[0], ox, &x0, &x1);
      const float *p = tile->grey + start + x0 - radius;
      tl_nlm_column_distance(p, p + offset + ox, tile->plane, radius,
                             whole_vectors(x1 - x0 + 2 * radius), ring + slot * plan->extent[0]);
      if (y < y0 + radius) continue;
      const float *rows[TL_NLM_MOST_PATCH];
      for (int j = 0; j < width; j++) rows[j] = ring + (slot + 1 + j) % width * plan->extent[0];
      weigh_row(plan, tile, rows, start - radius * tile->row, offset + ox, ox);
    }
  }
}

static void tile_weigh(const Plan *plan, Tile *tile) {
  int s = plan->search_radius;
  for (int64_t oz = 0; oz <= s; oz++)
    for (int64_t oy = oz ? -s : 0; oy <= s; oy++)
      for (int64_t z = -oz; z < tile->size[2]; z++) weigh_plane(plan, tile, z, oy, oz);
}

static void tile_store(const Plan *plan, const Tile *tile) {
  const TlVolume *v = plan->grey;
  for (int64_t z = 0; z < tile->size[2]; z++)
    for (int64_t y = 0; y < tile->size[1]; y++) {
      int64_t local = z * tile->plane + y * tile->row;
      float *to =
          plan->out + tl_volume_at(v, tile->first[0], tile->first[1] + y, tile->first[2] + z);
      for (int64_t x = 0; x < tile->size[0]; x++) {
        float own = tile->grey[local + x], sum = tile->sum[local + x] + own;
        to[x] = tile->mask[local + x] > 0 ? sum / (tile->total[local + x] + 1) : 0;
      }
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

/* Tiles of 135 + search radius 5 + patch width 4 fill whole vectors; a tile with its margins takes
 * about 4 MB, streamed once for each (y, z) offset. */
static void choose_tiles(Plan *plan, const TlNlmOptions *options) {
  static const int64_t chosen[3] = {135, 32, 32};
  int64_t n[3] = {plan->grey->nx, plan->grey->ny, plan->grey->nz};
  for (int a = 0; a < 3; a++) {
    int64_t want = options->tile[a] > 0 ? options->tile[a] : chosen[a];
    int64_t count = (n[a] + want - 1) / want;
    plan->tile[a] = options->tile[a] > 0 ? want : (n[a] + count - 1) / count;
    plan->tiles[a] = (n[a] + plan->tile[a] - 1) / plan->tile[a];
    plan->extent[a] = plan->tile[a] + 2 * plan->margin;
  }
  plan->extent[0] = (plan->extent[0] + 2 * LANES - 1) / LANES * LANES;
}

static void make_plan(Plan *plan, const TlVolume *grey, const TlNlmOptions *o) {
  int pr = o->patch / 2, sr = o->search / 2;
  *plan = (Plan){.grey = grey, .patch_radius = pr, .search_radius = sr, .margin = pr + sr};
  choose_tiles(plan, o);
  double width = 2 * pr + 1, h = o->h_factor * o->sigma;
  double to_base_2 = M_LOG2E / (2 * h * h);
  plan->weight = (TlNlmWeight){.radius = pr,
                               .slope = (float)(to_base_2 / (width * width * width)),
                               .bias = (float)(to_base_2 * 2 * o->sigma * o->sigma)};
  size_t rows = (size_t)(2 * sr + 1) * (size_t)(2 * pr + 1) + 2;
  plan->scratch_each = 4 * box_floats(plan) + rows * (size_t)plan->extent[0] + 4 * LANES;
}

int64_t tl_nlm_scratch_bytes(const TlVolume *grey, const TlNlmOptions *options, int threads) {
  Plan plan;
  make_plan(&plan, grey, options);
  return (int64_t)(plan.scratch_each * sizeof(float)) * threads;
}

TlStatus tl_nlm(const TlVolume *grey, const TlRoi *roi, const TlNlmOptions *options,
                TlVolume *out) {
  assert(grey->type == TL_F32 && options->sigma > 0 && options->h_factor > 0);
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
