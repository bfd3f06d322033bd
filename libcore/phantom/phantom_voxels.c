#include "phantom/phantom_voxels.h"

#include "base/mem.h"
#include "base/par.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, BLOCK = SIDE * SIDE * SIDE, SUB = 4, SUBS = SUB * SUB * SUB };
/* Farthest sub-sample from its voxel's centre, 3/8 sqrt 3. */
#define SUB_REACH 0.6496
#define OFFSET_MOST 3.0
enum { BINS_A_VOXEL = 256, BINS = (int)(2 * OFFSET_MOST) * BINS_A_VOXEL };

typedef struct Block {
  int64_t x0, y0, z0, x1, y1, z1;
} Block;

/* Scratch of one row of blocks: the pieces near, their phi at the block's voxel centres. */
typedef struct Near {
  double reach;         /* how much phi may change from a voxel's centre to its sub-samples */
  int64_t *row, *index; /* pieces near this row of blocks / this block */
  size_t row_count, row_capacity, count, index_capacity;
  float *phi; /* [count][BLOCK] */
  size_t phi_capacity;
  TlPhantomSums *sums; /* [count] */
  int *votes;          /* [count]: sub-samples of each piece in the voxel at hand */
  size_t sums_capacity, votes_capacity;
} Near;

static void near_free(Near *near) {
  tl_free(near->row);
  tl_free(near->index);
  tl_free(near->phi);
  tl_free(near->sums);
  tl_free(near->votes);
}

void tl_phantom_piece_phi(const TlPhantomPiece *piece, int count, const float *dx, const float *dy,
                          const float *dz, float *phi) {
  float m[3][3], x[TL_PHANTOM_BATCH], y[TL_PHANTOM_BATCH], z[TL_PHANTOM_BATCH];
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) m[a][b] = (float)piece->rotation.m[a][b];
  for (int i = 0; i < count; i++) {
    x[i] = m[0][0] * dx[i] + m[1][0] * dy[i] + m[2][0] * dz[i];
    y[i] = m[0][1] * dx[i] + m[1][1] * dy[i] + m[2][1] * dz[i];
    z[i] = m[0][2] * dx[i] + m[1][2] * dy[i] + m[2][2] * dz[i];
  }
  tl_phantom_shape_phi(piece->shape, count, x, y, z, phi);
}

static float piece_phi_at(const TlPhantomPiece *piece, TlVec3 p) {
  TlVec3 d = tl_sub(p, piece->centre);
  float x = (float)d.x, y = (float)d.y, z = (float)d.z, phi;
  tl_phantom_piece_phi(piece, 1, &x, &y, &z, &phi);
  return phi;
}

/* Pieces whose ball reaches this row of blocks (all x at given y, z). */
static TlStatus gather_row(const TlPhantomField *field, const Block *row, Near *near) {
  near->row_count = 0;
  for (int64_t i = 0; i < field->piece_count; i++) {
    const TlPhantomPiece *p = &field->pieces[i];
    double r = p->shape->radius + OFFSET_MOST + 1;
    if (p->centre.y + r < (double)row->y0 || p->centre.y - r > (double)row->y1 ||
        p->centre.z + r < (double)row->z0 || p->centre.z - r > (double)row->z1)
      continue;
    TL_TRY(TL_RESERVE(near->row, near->row_capacity, near->row_count + 1));
    near->row[near->row_count++] = i;
  }
  return TL_OK;
}

static TlStatus gather_block(const TlPhantomField *field, const Block *b, Near *near) {
  TlVec3 middle = tl_vec3(0.5 * (double)(b->x0 + b->x1 - 1), 0.5 * (double)(b->y0 + b->y1 - 1),
                          0.5 * (double)(b->z0 + b->z1 - 1));
  const double half = 0.5 * (SIDE - 1) * 1.7320508;
  double slope = 1;
  near->count = 0;
  for (size_t k = 0; k < near->row_count; k++) {
    const TlPhantomPiece *p = &field->pieces[near->row[k]];
    double away = tl_norm(tl_sub(p->centre, middle)) - p->shape->radius;
    if (away > half + OFFSET_MOST + 1) continue;
    if ((double)piece_phi_at(p, middle) > half + OFFSET_MOST + 1 + 2 * p->shape->bump) continue;
    TL_TRY(TL_RESERVE(near->index, near->index_capacity, near->count + 1));
    near->index[near->count++] = near->row[k];
    slope = fmax(slope, 1 + p->shape->slope);
  }
  near->reach = SUB_REACH * slope;
  TL_TRY(TL_RESERVE(near->phi, near->phi_capacity, near->count * BLOCK));
  TL_TRY(TL_RESERVE(near->votes, near->votes_capacity, near->count));
  return TL_RESERVE(near->sums, near->sums_capacity, near->count);
}

/* phi of the near pieces at the centres of the block's voxels (also those beyond the stack). */
static void block_phi(const TlPhantomField *field, const Block *b, Near *near) {
  float dx[TL_PHANTOM_BATCH], dy[TL_PHANTOM_BATCH], dz[TL_PHANTOM_BATCH];
  for (size_t k = 0; k < near->count; k++) {
    const TlPhantomPiece *p = &field->pieces[near->index[k]];
    for (int z = 0; z < SIDE; z++) {
      for (int i = 0; i < SIDE * SIDE; i++) {
        dx[i] = (float)((double)(b->x0 + i % SIDE) - p->centre.x);
        dy[i] = (float)((double)(b->y0 + i / SIDE) - p->centre.y);
        dz[i] = (float)((double)(b->z0 + z) - p->centre.z);
      }
      tl_phantom_piece_phi(p, SIDE * SIDE, dx, dy, dz,
                           near->phi + k * BLOCK + (size_t)z * SIDE * SIDE);
    }
  }
}

static bool in_cylinder(const TlPhantomField *field, double x, double y, double margin) {
  if (field->cylinder_radius <= 0) return true;
  return hypot(x - field->centre[0], y - field->centre[1]) <= field->cylinder_radius + margin;
}

/* ---- walking the blocks: one row of them after another, rows shared among the threads ---- */

typedef void (*BlockVisit)(void *context, const Block *block, Near *near);

typedef struct Walk {
  const TlPhantomField *field;
  const TlVolume *model;
  BlockVisit visit;
  void *context;
} Walk;

static TlStatus walk_row(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  (void)end, (void)block, (void)thread;
  const Walk *w = context;
  const TlVolume *v = w->model;
  int64_t rows_y = (v->ny + SIDE - 1) / SIDE;
  Block b = {0, begin % rows_y * SIDE, begin / rows_y * SIDE, 0, 0, 0};
  b.y1 = b.y0 + SIDE;
  b.z1 = b.z0 + SIDE;
  Near near = {0};
  TlStatus status = gather_row(w->field, &b, &near);
  for (b.x0 = 0; b.x0 < v->nx && status == TL_OK; b.x0 += SIDE) {
    b.x1 = b.x0 + SIDE;
    status = gather_block(w->field, &b, &near);
    if (status != TL_OK) break;
    block_phi(w->field, &b, &near);
    w->visit(w->context, &b, &near);
  }
  near_free(&near);
  return status;
}

static TlStatus walk_blocks(const TlPhantomField *field, const TlVolume *model, BlockVisit visit,
                            void *context) {
  Walk walk = {field, model, visit, context};
  int64_t rows = (model->ny + SIDE - 1) / SIDE * ((model->nz + SIDE - 1) / SIDE);
  return tl_par_blocks(rows, 1, walk_row, &walk);
}

/* ---- offset ---- */

typedef struct Histogram {
  const TlPhantomField *field;
  const TlVolume *model;
  int64_t bin[BINS], total;
} Histogram;

static void count_block(void *context, const Block *b, Near *near) {
  Histogram *h = context;
  int64_t total = 0;
  for (int i = 0; i < BLOCK; i++) {
    int64_t x = b->x0 + i % SIDE, y = b->y0 + i / SIDE % SIDE, z = b->z0 + i / (SIDE * SIDE);
    if (x >= h->model->nx || y >= h->model->ny || z >= h->model->nz) continue;
    if (!in_cylinder(h->field, (double)x, (double)y, 0)) continue;
    total++;
    float least = 1e30f;
    for (size_t k = 0; k < near->count; k++) least = fminf(least, near->phi[k * BLOCK + (size_t)i]);
    double at = ((double)least + OFFSET_MOST) * BINS_A_VOXEL;
    if (at >= BINS) continue;
#pragma omp atomic
    h->bin[at < 0 ? 0 : (int)at]++;
  }
#pragma omp atomic
  h->total += total;
}

TlStatus tl_phantom_find_offset(TlPhantomField *field, const TlVolume *model, double fraction) {
  Histogram *h;
  TL_TRY(TL_NEW(h, 1));
  h->field = field;
  h->model = model;
  TlStatus status = walk_blocks(field, model, count_block, h);
  int64_t below = 0;
  int i = 0;
  double wanted = fraction * (double)h->total;
  for (; i < BINS && (double)(below + h->bin[i]) < wanted; i++) below += h->bin[i];
  if (status == TL_OK && (i == 0 || i == BINS))
    status = tl_fail(TL_ELIMIT,
                     "the packing cannot be brought to a solid fraction of %g: it holds %g where "
                     "the grains touch; ask for a fraction nearer to that",
                     fraction, (double)below / (double)h->total);
  else if (status == TL_OK) /* within the bin: linear */
    field->offset = (i + (wanted - (double)below) / (double)h->bin[i]) / BINS_A_VOXEL - OFFSET_MOST;
  tl_free(h);
  return status;
}

/* ---- filling ---- */

typedef struct Fill {
  const TlPhantomField *field;
  TlVolume *grey, *labels;
  TlPhantomSums *sums;
} Fill;

typedef struct Voxel {
  int64_t x, y, z;
  bool border;
} Voxel;

/* weight sub-samples at (x, y, z), eighths of a voxel, relative to the origin. */
static void add_sub(TlPhantomSums *s, int64_t weight, int64_t x, int64_t y, int64_t z) {
  s->count += weight;
  s->x += weight * x;
  s->y += weight * y;
  s->z += weight * z;
  s->xx += weight * x * x;
  s->yy += weight * y * y;
  s->zz += weight * z * z;
  s->xy += weight * x * y;
  s->xz += weight * x * z;
  s->yz += weight * y * z;
}

static void add_whole(TlPhantomSums *s, const Voxel *v) {
  add_sub(s, SUBS, 8 * (v->x - s->origin[0]), 8 * (v->y - s->origin[1]), 8 * (v->z - s->origin[2]));
  /* spread of the 4^3 sub-samples about the centre: 16 (9 + 1 + 1 + 9) along each axis */
  s->xx += 320;
  s->yy += 320;
  s->zz += 320;
  if (v->border) s->border += SUBS;
}

static void sub_positions(TlVec3 from, float *dx, float *dy, float *dz) {
  for (int i = 0; i < SUBS; i++) {
    dx[i] = (float)(from.x + (2 * (i % SUB) - 3) * 0.125);
    dy[i] = (float)(from.y + (2 * (i / SUB % SUB) - 3) * 0.125);
    dz[i] = (float)(from.z + (2 * (i / (SUB * SUB)) - 3) * 0.125);
  }
}

/* Owner of each sub-sample: slot of the near piece, or -1. */
static void own_subs(const TlPhantomField *f, const Near *near, const Voxel *v, int i, float least,
                     int *owner) {
  float dx[SUBS], dy[SUBS], dz[SUBS], phi[SUBS], best[SUBS];
  for (int s = 0; s < SUBS; s++) {
    best[s] = (float)f->offset;
    owner[s] = -1;
  }
  for (size_t k = 0; k < near->count; k++) {
    double at = (double)near->phi[k * BLOCK + (size_t)i];
    if (at > f->offset + near->reach || at > (double)least + 2 * near->reach) continue;
    const TlPhantomPiece *p = &f->pieces[near->index[k]];
    TlVec3 here = tl_vec3((double)v->x, (double)v->y, (double)v->z);
    sub_positions(tl_sub(here, p->centre), dx, dy, dz);
    tl_phantom_piece_phi(p, SUBS, dx, dy, dz, phi);
    for (int s = 0; s < SUBS; s++)
      if (phi[s] < best[s]) {
        best[s] = phi[s];
        owner[s] = (int)k;
      }
  }
  if (f->cylinder_radius <= 0 || in_cylinder(f, (double)v->x, (double)v->y, -SUB_REACH)) return;
  for (int s = 0; s < SUBS; s++)
    if (!in_cylinder(f, (double)v->x + (2 * (s % SUB) - 3) * 0.125,
                     (double)v->y + (2 * (s / SUB % SUB) - 3) * 0.125, 0))
      owner[s] = -1;
}

static void mix_voxel(const Fill *fill, Near *near, const Voxel *v, const int *owner) {
  int64_t at = tl_volume_at(fill->grey, v->x, v->y, v->z);
  int solid = 0, winner = -1;
  double grey = 0;
  memset(near->votes, 0, near->count * sizeof *near->votes);
  for (int s = 0; s < SUBS; s++) {
    if (owner[s] < 0) continue;
    TlPhantomSums *sums = &near->sums[owner[s]];
    add_sub(sums, 1, 8 * (v->x - sums->origin[0]) + 2 * (s % SUB) - 3,
            8 * (v->y - sums->origin[1]) + 2 * (s / SUB % SUB) - 3,
            8 * (v->z - sums->origin[2]) + 2 * (s / (SUB * SUB)) - 3);
    if (v->border) sums->border++;
    grey += (double)fill->field->pieces[near->index[owner[s]]].grey;
    solid++;
    near->votes[owner[s]]++;
  }
  for (int k = 0; k < (int)near->count; k++) /* a tie goes to the lower piece */
    if (near->votes[k] > (winner < 0 ? 0 : near->votes[winner])) winner = k;
  double rest = (double)fill->grey->f32[at] * (SUBS - solid);
  fill->grey->f32[at] = (float)((grey + rest) / SUBS);
  if (2 * solid >= SUBS) fill->labels->u32[at] = (uint32_t)(near->index[winner] + 1);
}

static void fill_voxel(const Fill *fill, Near *near, const Voxel *v, int i) {
  const TlPhantomField *f = fill->field;
  float least = 1e30f, second = 1e30f;
  size_t first = 0;
  for (size_t k = 0; k < near->count; k++) {
    float phi = near->phi[k * BLOCK + (size_t)i];
    if (phi < least) {
      second = least;
      least = phi;
      first = k;
    } else if (phi < second)
      second = phi;
  }
  if ((double)least > f->offset + near->reach ||
      !in_cylinder(f, (double)v->x, (double)v->y, SUB_REACH))
    return;
  if ((double)least < f->offset - near->reach && (double)(second - least) > 2 * near->reach &&
      in_cylinder(f, (double)v->x, (double)v->y, -SUB_REACH)) {
    int64_t at = tl_volume_at(fill->grey, v->x, v->y, v->z);
    fill->grey->f32[at] = f->pieces[near->index[first]].grey;
    fill->labels->u32[at] = (uint32_t)(near->index[first] + 1);
    add_whole(&near->sums[first], v);
    return;
  }
  int owner[SUBS];
  own_subs(f, near, v, i, least, owner);
  mix_voxel(fill, near, v, owner);
}

static void flush_sums(TlPhantomSums *to, const TlPhantomSums *from) {
  int64_t *t = (int64_t *)to;
  const int64_t *s = (const int64_t *)from;
  for (size_t i = 0; i < offsetof(TlPhantomSums, origin) / sizeof *t; i++) {
#pragma omp atomic
    t[i] += s[i];
  }
}

static void fill_block(void *context, const Block *b, Near *near) {
  const Fill *fill = context;
  const TlVolume *g = fill->grey;
  for (size_t k = 0; k < near->count; k++) {
    memset(&near->sums[k], 0, sizeof near->sums[k]);
    memcpy(near->sums[k].origin, fill->sums[near->index[k]].origin, sizeof near->sums[k].origin);
  }
  for (int i = 0; i < BLOCK; i++) {
    Voxel v = {b->x0 + i % SIDE, b->y0 + i / SIDE % SIDE, b->z0 + i / (SIDE * SIDE), false};
    if (v.x >= g->nx || v.y >= g->ny || v.z >= g->nz) continue;
    v.border = v.x == 0 || v.y == 0 || v.z == 0 || v.x == g->nx - 1 || v.y == g->ny - 1 ||
               v.z == g->nz - 1;
    fill_voxel(fill, near, &v, i);
  }
  for (size_t k = 0; k < near->count; k++) flush_sums(&fill->sums[near->index[k]], &near->sums[k]);
}

TlStatus tl_phantom_fill(const TlPhantomField *field, TlVolume *grey, TlVolume *labels,
                         TlPhantomSums *sums) {
  Fill fill = {field, grey, labels, sums};
  return walk_blocks(field, grey, fill_block, &fill);
}
