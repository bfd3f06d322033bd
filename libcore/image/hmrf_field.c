#include "image/hmrf_field.h"

#include "base/lanes.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROW = 512 }; /* voxels of a row worked on at a time: sums stay in the first cache */

double tl_field_unit(const double voxel_m[3]) {
  return voxel_m[0] > 0 ? cbrt(voxel_m[0] * voxel_m[1] * voxel_m[2]) : 0;
}

void tl_stencil_make(TlStencil *s, const double voxel_m[3], int neighbours, double beta,
                     double delta) {
  double unit = tl_field_unit(voxel_m), sum = 0, weight[26];
  *s = (TlStencil){.delta = (float)delta};
  for (int a = 0; a < 3; a++) s->step[a] = unit > 0 ? voxel_m[a] / unit : 1;
  for (int k = 0; k < 27; k++) {
    int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1, far = abs(dx) + abs(dy) + abs(dz);
    if (far == 0 || (neighbours == 6 && far > 1)) continue;
    double x = dx * s->step[0], y = dy * s->step[1], z = dz * s->step[2];
    s->dx[s->count] = dx;
    s->dy[s->count] = dy;
    s->dz[s->count] = dz;
    weight[s->count] = 1 / sqrt(x * x + y * y + z * z);
    sum += weight[s->count++];
  }
  for (int k = 0; k < s->count; k++) s->weight[k] = (float)(beta * 6 * weight[k] / sum);
}

TlStatus tl_field_new(TlField *f, int64_t nx, int64_t ny, int64_t nz) {
  *f = (TlField){.nx = nx, .ny = ny, .row = nx + 2, .plane = (nx + 2) * (ny + 2)};
  TL_TRY(TL_NEW(f->f, (size_t)(f->plane * (nz + 2))));
  return TL_NEW(f->grey, (size_t)(nx * ny * nz));
}

void tl_field_free(TlField *f) {
  tl_free(f->f);
  tl_free(f->grey);
  f->f = f->grey = f->u = f->data = NULL;
}

/* ---- begin ---- */

/* grey - c lap grey at x, differences to voxels outside the region left out. */
static float sharp(const TlField *f, const uint8_t *c, int64_t x, int64_t y, int64_t z,
                   const float weight[3]) {
  int64_t plane = f->nx * f->ny, i = z * plane + y * f->nx + x;
  const float *g = f->grey + i;
  float lap = 0;
  const bool has[6] = {x > 0, x + 1 < f->nx, y > 0, y + 1 < f->ny, z > 0, z + 1 < f->nz};
  const int64_t to[6] = {-1, 1, -f->nx, f->nx, -plane, plane};
  for (int k = 0; k < 6; k++)
    if (has[k] && c[i + to[k]] != 2) lap += weight[k / 2] * (g[to[k]] - g[0]);
  return g[0] - lap;
}

static void begin_row(TlField *f, const float weight[3], int64_t y, int64_t z, const float *low,
                      const uint8_t *classes, float sd) {
  int64_t first = (z * f->ny + y) * f->nx;
  float *row = tl_field_row(f, y, z);
  bool blurred = weight[0] > 0;
  for (int64_t x = 0; x < f->nx; x++) {
    int64_t i = first + x;
    float gap = f->data[i] - low[i], slack = 3 * sd / gap;
    float grey = blurred ? sharp(f, classes, x, y, z, weight) : f->grey[i];
    float u = (grey - low[i]) / gap;
    u = u < -slack ? -slack : u > 1 + slack ? 1 + slack : u;
    f->u[i] = u;
    f->data[i] = gap / sd * (gap / sd);
    row[x] = classes[i] == 2 ? -1 : u < 0 ? 0 : u > 1 ? 1 : u;
  }
}

void tl_field_begin(TlField *f, const TlStencil *s, int64_t nz, const float *low, float *high,
                    float *scratch, const uint8_t *classes, double sd, double deblur) {
  float weight[3];
  f->nz = nz;
  f->u = scratch;
  f->data = high; /* a level until its row is begun */
  for (int a = 0; a < 3; a++) weight[a] = (float)(deblur / (s->step[a] * s->step[a]));
  for (int64_t i = 0; i < f->plane * (nz + 2); i++) f->f[i] = -1;
#pragma omp parallel for
  for (int64_t z = 0; z < nz; z++)
    for (int64_t y = 0; y < f->ny; y++) begin_row(f, weight, y, z, low, classes, (float)sd);
}

/* ---- sweep ---- */

/* The parabola that touches H at f_i - f_j has slope weight / max(|f_i - f_j|, delta): the new f_i
 * is the mean of u_i and the neighbours, so weighted. Both colours of a row are worked out and the
 * one that is due is kept: half the work is lost and the other half goes by vectors. */
TL_LANES_CLONES
static void pull(const float *f, const float *other, float weight, float delta, float *top,
                 float *bottom, int64_t n) {
  for (int64_t x = 0; x < n; x++) {
    float j = other[x], d = fabsf(f[x] - j);
    float w = weight / (d > delta ? d : delta);
    w = j < 0 ? 0 : w;
    top[x] += w * j;
    bottom[x] += w;
  }
}

TL_LANES_CLONES
static void settle(float *f, const float *top, const float *bottom, const float *due, int64_t n) {
  for (int64_t x = 0; x < n; x++) {
    float next = top[x] / bottom[x];
    next = next < 0 ? 0 : next > 1 ? 1 : next;
    f[x] = due[x] > 0 && f[x] >= 0 ? next : f[x];
  }
}

TL_LANES_CLONES
static void begin_sums(const float *u, const float *data, float *top, float *bottom, int64_t n) {
  for (int64_t x = 0; x < n; x++) {
    top[x] = u[x] * data[x];
    bottom[x] = data[x];
  }
}

/* due: 1 where x has the parity that moves now. */
static void sweep_row(TlField *f, const TlStencil *s, int64_t y, int64_t z, const float *due) {
  float top[MOST_ROW], bottom[MOST_ROW];
  const float *u = f->u + (z * f->ny + y) * f->nx, *data = f->data + (z * f->ny + y) * f->nx;
  float *row = tl_field_row(f, y, z);
  for (int64_t x = 0; x < f->nx; x += MOST_ROW) {
    int64_t n = f->nx - x < MOST_ROW ? f->nx - x : MOST_ROW;
    begin_sums(u + x, data + x, top, bottom, n);
    for (int k = 0; k < s->count; k++)
      pull(row + x, row + x + s->dz[k] * f->plane + s->dy[k] * f->row + s->dx[k], s->weight[k],
           s->delta, top, bottom, n);
    settle(row + x, top, bottom, due, n);
  }
}

static void sweep_colour(TlField *f, const TlStencil *s, int64_t first, int colour) {
  float turn[2][MOST_ROW + 2];
  for (int x = 0; x < MOST_ROW + 2; x++) {
    turn[0][x] = x % 2 == 0;
    turn[1][x] = x % 2 == 1;
  }
#pragma omp parallel for
  for (int64_t z = 0; z < f->nz; z++)
    for (int64_t y = 0; y < f->ny; y++) {
      int64_t deep = first + z;
      if (s->count == 6) {
        sweep_row(f, s, y, z, turn[(deep + y + colour) & 1]);
      } else if ((deep & 1) == (colour >> 2 & 1) && (y & 1) == (colour >> 1 & 1)) {
        sweep_row(f, s, y, z, turn[colour & 1]);
      }
    }
}

void tl_field_sweep(TlField *f, const TlStencil *s, int64_t first) {
  for (int colour = 0; colour < (s->count == 6 ? 2 : 8); colour++)
    sweep_colour(f, s, first, colour);
}

/* ---- energy ---- */

/* Voxels are worked out in floats (relative error 1e-7 each, of either sign) and added in doubles.
 */
TL_LANES_CLONES
static void add_pairs(const float *f, const float *other, float weight, float delta, float *cost,
                      int64_t n) {
  for (int64_t x = 0; x < n; x++) {
    float j = other[x], d = fabsf(f[x] - j), low = d < delta ? d : delta;
    float h = weight * (low * low / (2 * delta) + (d - low));
    cost[x] += j < 0 ? 0 : h;
  }
}

TL_LANES_CLONES
static void begin_cost(const float *f, const float *u, const float *data, float *cost, int64_t n) {
  for (int64_t x = 0; x < n; x++) cost[x] = (u[x] - f[x]) * (u[x] - f[x]) * data[x];
}

static double row_energy(const TlField *f, const TlStencil *s, int64_t y, int64_t z) {
  float cost[MOST_ROW];
  const float *row = tl_field_row(f, y, z);
  const float *u = f->u + (z * f->ny + y) * f->nx, *data = f->data + (z * f->ny + y) * f->nx;
  double sum = 0;
  for (int64_t x = 0; x < f->nx; x += MOST_ROW) {
    int64_t n = f->nx - x < MOST_ROW ? f->nx - x : MOST_ROW;
    begin_cost(row + x, u + x, data + x, cost, n);
    for (int k = 0; k < s->count; k++)
      add_pairs(row + x, row + x + s->dz[k] * f->plane + s->dy[k] * f->row + s->dx[k], s->weight[k],
                s->delta, cost, n);
    for (int64_t i = 0; i < n; i++) sum += row[x + i] < 0 ? 0 : 0.5 * (double)cost[i];
  }
  return sum;
}

void tl_field_energy(const TlField *f, const TlStencil *s, const TlSlab *slab, double *by_slice) {
#pragma omp parallel for
  for (int64_t z = slab->begin; z < slab->end; z++) {
    double sum = 0;
    for (int64_t y = 0; y < f->ny; y++) sum += row_energy(f, s, y, z - slab->low);
    by_slice[z] = sum;
  }
}
