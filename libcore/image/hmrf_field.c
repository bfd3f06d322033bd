#include "image/hmrf_field.h"

#include "base/lanes.h"
#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_BLUR = 0.25;

enum { MOST_ROW = 512 }; /* voxels of a row worked on at a time: sums stay in the first cache */

double tl_field_unit(const double voxel_m[3]) {
  return voxel_m[0] > 0 ? cbrt(voxel_m[0] * voxel_m[1] * voxel_m[2]) : 0;
}

void tl_stencil_make(TlStencil *s, const double voxel_m[3], int neighbours, double beta,
                     double delta, double blur) {
  double unit = tl_field_unit(voxel_m), sum = 0, weight[26];
  *s = (TlStencil){.delta = (float)delta};
  for (int a = 0; a < 3; a++) {
    s->step[a] = unit > 0 ? voxel_m[a] / unit : 1;
    s->blur[a] = (float)fmin(blur / (s->step[a] * s->step[a]), MOST_BLUR);
  }
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
  f->f = f->grey = f->u = f->data = f->aim = NULL;
}

/* ---- blur ---- */

/* One axis of the blur K on a row: each neighbour in the region takes part w of the difference.
 * Where one lies outside (f below 0) nothing is exchanged, so each axis is symmetric and keeps
 * sums; outside voxels hold what nobody reads. */
TL_LANES_CLONES
static void mix_row(const float *here, const float *before, const float *after,
                    const float *in_before, const float *in_after, float w, float *to, int64_t n) {
  for (int64_t x = 0; x < n; x++) {
    float low = in_before[x] < 0 ? 0 : before[x] - here[x];
    float high = in_after[x] < 0 ? 0 : after[x] - here[x];
    to[x] = here[x] + w * (low + high);
  }
}

/* The rows' ends along x have no neighbour: padded here. */
static void mix_along_x(const float *in, const float *from, float w, float *to, int64_t n) {
  for (int64_t x = 0; x < n; x += MOST_ROW) {
    int64_t most = n - x < MOST_ROW ? n - x : MOST_ROW;
    float line[MOST_ROW + 2];
    line[0] = x > 0 ? from[x - 1] : from[0];
    for (int64_t k = 0; k <= most; k++) line[k + 1] = from[x + k < n ? x + k : n - 1];
    mix_row(line + 1, line, line + 2, in + x - 1, in + x + 1, w, to + x, most);
  }
}

/* from -> to (another array) along an axis; voxels of the padded f tell the region. */
static void mix(const TlField *f, const TlStencil *s, int axis, const float *from, float *to) {
#pragma omp parallel for
  for (int64_t z = 0; z < f->nz; z++)
    for (int64_t y = 0; y < f->ny; y++) {
      const float *in = tl_field_row(f, y, z);
      int64_t first = (z * f->ny + y) * f->nx, step = axis == 1 ? f->nx : f->ny * f->nx;
      int64_t at = axis == 1 ? y : z, last = axis == 1 ? f->ny - 1 : f->nz - 1;
      int64_t padded = axis == 1 ? f->row : f->plane;
      const float *here = from + first;
      if (axis == 0)
        mix_along_x(in, here, s->blur[0], to + first, f->nx);
      else
        mix_row(here, at > 0 ? here - step : here, at < last ? here + step : here, in - padded,
                in + padded, s->blur[axis], to + first, f->nx);
    }
}

static bool blurred(const TlStencil *s) {
  return s->blur[0] > 0 || s->blur[1] > 0 || s->blur[2] > 0;
}

/* grey = K (g f), g = sqrt(data): greys over the noise's sd above the void, as f has the scan show
 * them. aim is scratch. */
static void blur_field(TlField *f, const TlStencil *s) {
#pragma omp parallel for
  for (int64_t r = 0; r < f->nz * f->ny; r++) {
    const float *row = tl_field_row(f, r % f->ny, r / f->ny), *data = f->data + r * f->nx;
    float *to = f->aim + r * f->nx;
    for (int64_t x = 0; x < f->nx; x++) to[x] = sqrtf(data[x]) * row[x];
  }
  mix(f, s, 0, f->aim, f->grey);
  mix(f, s, 1, f->grey, f->aim);
  mix(f, s, 2, f->aim, f->grey);
}

/* The data term |g u - K (g f)|^2 / 2 lies below parabolas that touch it at the present f, one a
 * voxel, of curvature g^2: K's weights are positive and sum to 1, so |K| is at most 1. Their
 * vertices are aim. */
static void set_aim(TlField *f, const TlStencil *s) {
  int64_t n = f->nz * f->ny * f->nx;
  blur_field(f, s);
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) f->grey[i] = sqrtf(f->data[i]) * f->u[i] - f->grey[i];
  mix(f, s, 2, f->grey, f->aim); /* the transpose: axes the other way round */
  mix(f, s, 1, f->aim, f->grey);
  mix(f, s, 0, f->grey, f->aim);
#pragma omp parallel for
  for (int64_t r = 0; r < f->nz * f->ny; r++) {
    const float *row = tl_field_row(f, r % f->ny, r / f->ny), *data = f->data + r * f->nx;
    float *aim = f->aim + r * f->nx;
    for (int64_t x = 0; x < f->nx; x++) aim[x] = row[x] + aim[x] / sqrtf(data[x]);
  }
}

/* ---- begin ---- */

static inline float within(float u) {
  return u < 0 ? 0 : u > 1 ? 1 : u;
}

static void begin_row(TlField *f, int64_t y, int64_t z, const float *low, const uint8_t *classes,
                      float sd) {
  int64_t first = (z * f->ny + y) * f->nx;
  float *row = tl_field_row(f, y, z);
  for (int64_t x = 0; x < f->nx; x++) {
    int64_t i = first + x;
    float gap = f->data[i] - low[i], slack = 3 * sd / gap, u = (f->grey[i] - low[i]) / gap;
    u = u < -slack ? -slack : u > 1 + slack ? 1 + slack : u;
    f->u[i] = u;
    f->data[i] = gap / sd * (gap / sd);
    row[x] = classes[i] == 2 ? -1 : within(u);
  }
}

/* f = 2 u - K u: what lies inside the region stays inside. */
static void sharpen(TlField *f, const TlStencil *s) {
  mix(f, s, 0, f->u, f->grey);
  mix(f, s, 1, f->grey, f->aim);
  mix(f, s, 2, f->aim, f->grey);
#pragma omp parallel for
  for (int64_t r = 0; r < f->nz * f->ny; r++) {
    const float *u = f->u + r * f->nx, *seen = f->grey + r * f->nx;
    float *row = tl_field_row(f, r % f->ny, r / f->ny);
    for (int64_t x = 0; x < f->nx; x++) row[x] = row[x] < 0 ? -1 : within(2 * u[x] - seen[x]);
  }
}

void tl_field_begin(TlField *f, const TlStencil *s, int64_t nz, float *low, float *high,
                    float *scratch, const uint8_t *classes, double sd, bool sharp) {
  f->nz = nz;
  f->u = scratch;
  f->data = high; /* a level until its row is begun */
  f->aim = low;   /* after the last row */
  for (int64_t i = 0; i < f->plane * (nz + 2); i++) f->f[i] = -1;
#pragma omp parallel for
  for (int64_t z = 0; z < nz; z++)
    for (int64_t y = 0; y < f->ny; y++) begin_row(f, y, z, low, classes, (float)sd);
  if (!blurred(s))
    memcpy(f->aim, f->u, (size_t)(nz * f->ny * f->nx) * sizeof *f->aim);
  else if (sharp)
    sharpen(f, s);
}

/* ---- sweep ---- */

/* The parabola that touches H at f_i - f_j has slope weight / max(|f_i - f_j|, delta): the new f_i
 * is the mean of aim_i and the neighbours, so weighted. Both colours of a row are worked out and
 * the one that is due is kept: half the work is lost and the other half goes by vectors. */
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
static void begin_sums(const float *aim, const float *data, float *top, float *bottom, int64_t n) {
  for (int64_t x = 0; x < n; x++) {
    top[x] = aim[x] * data[x];
    bottom[x] = data[x];
  }
}

/* due: 1 where x has the parity that moves now. */
static void sweep_row(TlField *f, const TlStencil *s, int64_t y, int64_t z, const float *due) {
  float top[MOST_ROW], bottom[MOST_ROW];
  const float *aim = f->aim + (z * f->ny + y) * f->nx, *data = f->data + (z * f->ny + y) * f->nx;
  float *row = tl_field_row(f, y, z);
  for (int64_t x = 0; x < f->nx; x += MOST_ROW) {
    int64_t n = f->nx - x < MOST_ROW ? f->nx - x : MOST_ROW;
    begin_sums(aim + x, data + x, top, bottom, n);
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
  if (blurred(s)) set_aim(f, s);
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

/* With blur: seen is K (g f). */
TL_LANES_CLONES
static void begin_cost_blurred(const float *seen, const float *u, const float *data, float *cost,
                               int64_t n) {
  for (int64_t x = 0; x < n; x++) {
    float d = sqrtf(data[x]) * u[x] - seen[x];
    cost[x] = d * d;
  }
}

static double row_energy(const TlField *f, const TlStencil *s, int64_t y, int64_t z) {
  float cost[MOST_ROW];
  const float *row = tl_field_row(f, y, z);
  int64_t first = (z * f->ny + y) * f->nx;
  const float *u = f->u + first, *data = f->data + first;
  double sum = 0;
  for (int64_t x = 0; x < f->nx; x += MOST_ROW) {
    int64_t n = f->nx - x < MOST_ROW ? f->nx - x : MOST_ROW;
    if (blurred(s))
      begin_cost_blurred(f->grey + first + x, u + x, data + x, cost, n);
    else
      begin_cost(row + x, u + x, data + x, cost, n);
    for (int k = 0; k < s->count; k++)
      add_pairs(row + x, row + x + s->dz[k] * f->plane + s->dy[k] * f->row + s->dx[k], s->weight[k],
                s->delta, cost, n);
    for (int64_t i = 0; i < n; i++) sum += row[x + i] < 0 ? 0 : 0.5 * (double)cost[i];
  }
  return sum;
}

void tl_field_energy(TlField *f, const TlStencil *s, const TlSlab *slab, double *by_slice) {
  if (blurred(s)) blur_field(f, s);
#pragma omp parallel for
  for (int64_t z = slab->begin; z < slab->end; z++) {
    double sum = 0;
    for (int64_t y = 0; y < f->ny; y++) sum += row_energy(f, s, y, z - slab->low);
    by_slice[z] = sum;
  }
}
