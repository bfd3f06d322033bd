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

TlStatus tl_field_new(TlField *f, int64_t nx, int64_t ny, int64_t nz, int64_t deep) {
  int64_t n = deep * ny * nx, padded = (deep + 2) * (ny + 2) * (nx + 2);
  *f = (TlField){.nx = nx, .ny = ny, .nz = nz, .row = nx + 2, .plane = (nx + 2) * (ny + 2)};
  TL_TRY(TL_NEW(f->f, (size_t)padded));
  TL_TRY(TL_NEW(f->u, (size_t)n));
  TL_TRY(TL_NEW(f->data, (size_t)n));
  TL_TRY(TL_NEW(f->aim, (size_t)n));
  for (int64_t i = 0; i < padded; i++) f->f[i] = -1;
  return TL_OK;
}

void tl_field_free(TlField *f) {
  tl_free(f->f);
  tl_free(f->u);
  tl_free(f->data);
  tl_free(f->aim);
  *f = (TlField){0};
}

int64_t tl_field_bytes(int64_t nx, int64_t ny, int64_t nz, int64_t deep) {
  deep = deep < nz ? deep : nz;
  return 12 * deep * ny * nx + 4 * (deep + 2) * (ny + 2) * (nx + 2);
}

/* Slices in an array of their own, the first of them slice `first` of the stack. */
typedef struct Part {
  float *voxels;
  int64_t first;
} Part;

static inline float *part_row(const TlField *f, Part part, int64_t y, int64_t z) {
  return part.voxels + ((z - part.first) * f->ny + y) * f->nx;
}

/* Row r of slices [begin, ...). */
typedef struct Row {
  int64_t y, z;
} Row;

static inline Row row_of(const TlField *f, int64_t begin, int64_t r) {
  return (Row){.y = r % f->ny, .z = begin + r / f->ny};
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

/* Slices [begin, end): from -> to (another array) along an axis; voxels of the padded f tell the
 * region. Along z, from has a slice more at each end that is not the stack's. */
static void mix(const TlField *f, const TlStencil *s, int axis, int64_t begin, int64_t end,
                Part from, Part to) {
#pragma omp parallel for
  for (int64_t r = 0; r < (end - begin) * f->ny; r++) {
    Row w = row_of(f, begin, r);
    const float *in = tl_field_row(f, w.y, w.z), *here = part_row(f, from, w.y, w.z);
    float *out = part_row(f, to, w.y, w.z);
    int64_t step = axis == 1 ? f->nx : f->ny * f->nx, padded = axis == 1 ? f->row : f->plane;
    int64_t at = axis == 1 ? w.y : w.z, last = axis == 1 ? f->ny - 1 : f->nz - 1;
    if (axis == 0)
      mix_along_x(in, here, s->blur[0], out, f->nx);
    else
      mix_row(here, at > 0 ? here - step : here, at < last ? here + step : here, in - padded,
              in + padded, s->blur[axis], out, f->nx);
  }
}

static bool blurred(const TlStencil *s) {
  return s->blur[0] > 0 || s->blur[1] > 0 || s->blur[2] > 0;
}

static int64_t before(int64_t z) {
  return z > 0 ? z - 1 : 0;
}

static int64_t after(const TlField *f, int64_t z) {
  return z < f->nz ? z + 1 : f->nz;
}

/* K (g f) of slices [begin, end), g = sqrt(data): greys over the noise's sd above the void, as f
 * has the scan show them. The part that holds it is work[1]; work[0] is scratch. */
static Part blur_field(TlField *f, const TlStencil *s, int64_t begin, int64_t end) {
  int64_t low = before(begin), high = after(f, end);
  Part one = {f->work[0], low}, two = {f->work[1], low}, data = {f->data, f->low};
#pragma omp parallel for
  for (int64_t r = 0; r < (high - low) * f->ny; r++) {
    Row w = row_of(f, low, r);
    const float *row = tl_field_row(f, w.y, w.z), *d = part_row(f, data, w.y, w.z);
    float *to = part_row(f, one, w.y, w.z);
    for (int64_t x = 0; x < f->nx; x++) to[x] = sqrtf(d[x]) * row[x];
  }
  mix(f, s, 0, low, high, one, two);
  mix(f, s, 1, low, high, two, one);
  mix(f, s, 2, begin, end, one, two);
  return two;
}

/* The data term |g u - K (g f)|^2 / 2 lies below parabolas that touch it at the present f, one a
 * voxel, of curvature g^2: K's weights are positive and sum to 1, so |K| is at most 1. Their
 * vertices are aim. */
static void set_aim(TlField *f, const TlStencil *s, int64_t begin, int64_t end) {
  int64_t low = before(begin), high = after(f, end);
  Part seen = blur_field(f, s, low, high), left = {f->work[0], seen.first};
  Part u = {f->u, f->low}, data = {f->data, f->low}, aims = {f->aim, f->low};
#pragma omp parallel for
  for (int64_t r = 0; r < (high - low) * f->ny; r++) {
    Row w = row_of(f, low, r);
    const float *from = part_row(f, u, w.y, w.z), *d = part_row(f, data, w.y, w.z);
    const float *is = part_row(f, seen, w.y, w.z);
    float *to = part_row(f, left, w.y, w.z);
    for (int64_t x = 0; x < f->nx; x++) to[x] = sqrtf(d[x]) * from[x] - is[x];
  }
  mix(f, s, 2, begin, end, left, seen); /* the transpose: axes the other way round */
  mix(f, s, 1, begin, end, seen, left);
  mix(f, s, 0, begin, end, left, seen);
#pragma omp parallel for
  for (int64_t r = 0; r < (end - begin) * f->ny; r++) {
    Row w = row_of(f, begin, r);
    const float *row = tl_field_row(f, w.y, w.z), *d = part_row(f, data, w.y, w.z);
    const float *push = part_row(f, seen, w.y, w.z);
    float *aim = part_row(f, aims, w.y, w.z);
    for (int64_t x = 0; x < f->nx; x++) aim[x] = row[x] + push[x] / sqrtf(d[x]);
  }
}

/* ---- the window ---- */

void tl_field_forget(TlField *f, int64_t from) {
  from = from < f->high ? from : f->high;
  int64_t gone = from - f->low, left = f->high - from, n = f->ny * f->nx;
  if (gone <= 0) return;
  float *own[] = {f->u, f->data, f->aim};
  for (int k = 0; k < 3; k++) memmove(own[k], own[k] + gone * n, (size_t)(left * n) * sizeof **own);
  memmove(f->f, f->f + gone * f->plane, (size_t)((left + 2) * f->plane) * sizeof *f->f);
  f->low = from;
}

static inline float within(float u) {
  return u < 0 ? 0 : u > 1 ? 1 : u;
}

void tl_field_add(TlField *f, int64_t count, const float *grey, const float *low, const float *high,
                  const uint8_t *classes, double sd_of_grey) {
  int64_t begin = f->high;
  float sd = (float)sd_of_grey;
  Part us = {f->u, f->low}, data = {f->data, f->low};
  f->high += count;
#pragma omp parallel for
  for (int64_t r = 0; r < count * f->ny; r++) {
    Row w = row_of(f, begin, r);
    float *row = tl_field_row(f, w.y, w.z), *to = part_row(f, us, w.y, w.z);
    float *d = part_row(f, data, w.y, w.z);
    for (int64_t x = 0; x < f->nx; x++) {
      int64_t i = r * f->nx + x;
      float gap = high[i] - low[i], slack = 3 * sd / gap, u = (grey[i] - low[i]) / gap;
      to[x] = u = u < -slack ? -slack : u > 1 + slack ? 1 + slack : u;
      d[x] = gap / sd * (gap / sd);
      row[x] = classes[i] == 2 ? -1 : within(u);
    }
  }
  float *pad = f->f + (f->high - f->low + 1) * f->plane; /* of the slice that is not here yet */
  for (int64_t i = 0; i < f->plane; i++) pad[i] = -1;
}

/* f = 2 u - K u: what lies inside the region stays inside. */
void tl_field_sharpen(TlField *f, const TlStencil *s, int64_t begin, int64_t end) {
  if (!blurred(s) || begin >= end) return;
  int64_t low = before(begin), high = after(f, end);
  Part us = {f->u, f->low}, one = {f->work[0], low}, two = {f->work[1], low};
  mix(f, s, 0, low, high, us, one);
  mix(f, s, 1, low, high, one, two);
  mix(f, s, 2, begin, end, two, one);
#pragma omp parallel for
  for (int64_t r = 0; r < (end - begin) * f->ny; r++) {
    Row w = row_of(f, begin, r);
    const float *u = part_row(f, us, w.y, w.z), *seen = part_row(f, one, w.y, w.z);
    float *row = tl_field_row(f, w.y, w.z);
    for (int64_t x = 0; x < f->nx; x++) row[x] = row[x] < 0 ? -1 : within(2 * u[x] - seen[x]);
  }
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
  int64_t first = ((z - f->low) * f->ny + y) * f->nx;
  const float *aim = (blurred(s) ? f->aim : f->u) + first, *data = f->data + first;
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

/* A colour of slices [begin, end). 6 neighbours: colours are the parity of x + y + z; 26: x, y and
 * z are of one parity each, z's the same in each half of the colours. */
static void sweep_colour(TlField *f, const TlStencil *s, int colour, int64_t begin, int64_t end) {
  float turn[2][MOST_ROW + 2];
  for (int x = 0; x < MOST_ROW + 2; x++) {
    turn[0][x] = x % 2 == 0;
    turn[1][x] = x % 2 == 1;
  }
#pragma omp parallel for
  for (int64_t r = 0; r < (end - begin) * f->ny; r++) {
    Row w = row_of(f, begin, r);
    if (s->count == 6) {
      sweep_row(f, s, w.y, w.z, turn[(w.z + w.y + colour) & 1]);
    } else if ((w.z & 1) == (colour >> 2 & 1) && (w.y & 1) == (colour >> 1 & 1)) {
      sweep_row(f, s, w.y, w.z, turn[colour & 1]);
    }
  }
}

void tl_field_sweep(TlField *f, const TlStencil *s, const TlReach *from, const TlReach *to) {
  int half = s->count == 6 ? 1 : 4;
  if (blurred(s) && to->aim > from->aim) set_aim(f, s, from->aim, to->aim);
  for (int c = 0; c < half; c++) sweep_colour(f, s, c, from->half, to->half);
  for (int c = half; c < 2 * half; c++) sweep_colour(f, s, c, from->whole, to->whole);
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

/* seen: K (g f) of the row, with blur. */
static double row_energy(const TlField *f, const TlStencil *s, int64_t y, int64_t z,
                         const float *seen) {
  float cost[MOST_ROW];
  const float *row = tl_field_row(f, y, z);
  int64_t first = ((z - f->low) * f->ny + y) * f->nx;
  const float *u = f->u + first, *data = f->data + first;
  double sum = 0;
  for (int64_t x = 0; x < f->nx; x += MOST_ROW) {
    int64_t n = f->nx - x < MOST_ROW ? f->nx - x : MOST_ROW;
    if (blurred(s))
      begin_cost_blurred(seen + x, u + x, data + x, cost, n);
    else
      begin_cost(row + x, u + x, data + x, cost, n);
    for (int k = 0; k < s->count; k++)
      add_pairs(row + x, row + x + s->dz[k] * f->plane + s->dy[k] * f->row + s->dx[k], s->weight[k],
                s->delta, cost, n);
    for (int64_t i = 0; i < n; i++) sum += row[x + i] < 0 ? 0 : 0.5 * (double)cost[i];
  }
  return sum;
}

void tl_field_energy(TlField *f, const TlStencil *s, int64_t begin, int64_t end, double *by_slice) {
  Part seen = {f->work[1], begin};
  if (blurred(s) && begin < end) seen = blur_field(f, s, begin, end);
#pragma omp parallel for
  for (int64_t z = begin; z < end; z++) {
    double sum = 0;
    for (int64_t y = 0; y < f->ny; y++)
      sum += row_energy(f, s, y, z, blurred(s) ? part_row(f, seen, y, z) : NULL);
    by_slice[z] = sum;
  }
}
