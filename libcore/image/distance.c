#include "image/label_field.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "base/par.h"

#include <math.h>
#include <string.h>

/* Lines side by side: a strip's working set (two floats a line and position) stays in the cache,
 * and one deep grain makes no wide stretch of others wait. */
enum { STRIP = 64 };

static void along_x(const uint8_t *inside, int64_t n, float square, float *out) {
  int64_t since = INT32_MAX; /* steps since the last void; no void: stays huge */
  for (int64_t x = 0; x < n; x++) {
    since = inside[x] ? since + (since < INT32_MAX) : 0;
    out[x] = (float)since;
  }
  since = INT32_MAX;
  for (int64_t x = n - 1; x >= 0; x--) {
    since = inside[x] ? since + (since < INT32_MAX) : 0;
    float steps = fminf(out[x], (float)since);
    out[x] = steps < (float)INT32_MAX ? steps * steps * square : INFINITY;
  }
}

/* to[l] = min(to[l], from[l] + add) -> the largest of to. */
TL_LANES_CLONES
static float lower(float *restrict to, const float *restrict from, float add, int count) {
  float most = 0;
  for (int l = 0; l < count; l++) {
    float other = from[l] + add, mine = to[l] < other ? to[l] : other;
    to[l] = mine;
    most = most > mine ? most : mine;
  }
  return most;
}

TL_LANES_CLONES
static float lower_both(float *restrict to, const float *restrict left, const float *restrict right,
                        float add, int count) {
  float most = 0;
  for (int l = 0; l < count; l++) {
    float other = (left[l] < right[l] ? left[l] : right[l]) + add;
    float mine = to[l] < other ? to[l] : other;
    to[l] = mine;
    most = most > mine ? most : mine;
  }
  return most;
}

static float greatest(const float *values, int count) {
  float most = 0;
  for (int l = 0; l < count; l++) most = most > values[l] ? most : values[l];
  return most;
}

/* count lines of n positions, stride apart, in place; copy: n * count. */
static void along(float *data, int64_t n, int64_t stride, int count, float square, float *copy) {
  for (int64_t i = 0; i < n; i++)
    memcpy(copy + i * count, data + i * stride, (size_t)count * sizeof *copy);
  for (int64_t i = 0; i < n; i++) {
    float *to = data + i * stride, most = greatest(to, count);
    int64_t both = i < n - 1 - i ? i : n - 1 - i;
    for (int64_t k = 1; k < n; k++) {
      float add = (float)(k * k) * square;
      if (add >= most) break;
      if (k <= both)
        most = lower_both(to, copy + (i - k) * count, copy + (i + k) * count, add, count);
      else if (k <= i)
        most = lower(to, copy + (i - k) * count, add, count);
      else if (i + k < n)
        most = lower(to, copy + (i + k) * count, add, count);
      else
        break;
    }
  }
}

typedef struct Sweep {
  const uint8_t *inside;
  float *out, *scratch; /* scratch: a part of length * STRIP for each thread */
  int64_t nx, ny, nz, length;
  float square[3];
} Sweep;

/* Strips [begin, end) along x of each plane: y. Block items are planes. */
static TlStatus planes(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Sweep *s = context;
  (void)block;
  float *copy = s->scratch + thread * s->length * STRIP;
  for (int64_t z = begin; z < end; z++) {
    float *plane = s->out + z * s->nx * s->ny;
    for (int64_t y = 0; y < s->ny; y++)
      along_x(s->inside + (z * s->ny + y) * s->nx, s->nx, s->square[0], plane + y * s->nx);
    for (int64_t x = 0; x < s->nx; x += STRIP)
      along(plane + x, s->ny, s->nx, (int)(s->nx - x < STRIP ? s->nx - x : STRIP), s->square[1],
            copy);
  }
  return TL_OK;
}

/* Items are rows y: the lines along z above them. */
static TlStatus columns(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Sweep *s = context;
  (void)block;
  float *copy = s->scratch + thread * s->length * STRIP;
  for (int64_t y = begin; y < end; y++)
    for (int64_t x = 0; x < s->nx; x += STRIP)
      along(s->out + y * s->nx + x, s->nz, s->nx * s->ny,
            (int)(s->nx - x < STRIP ? s->nx - x : STRIP), s->square[2], copy);
  return TL_OK;
}

TlStatus tl_distance_squared(const uint8_t *inside, int64_t nx, int64_t ny, int64_t nz,
                             const double edge[3], float *out) {
  Sweep s = {.inside = inside, .out = out, .nx = nx, .ny = ny, .nz = nz};
  s.length = ny > nz ? ny : nz;
  for (int a = 0; a < 3; a++) s.square[a] = (float)(edge[a] * edge[a]);
  TL_TRY(TL_NEW(s.scratch, (size_t)(s.length * STRIP * tl_par_threads())));
  TlStatus status = tl_par_blocks(nz, 1, planes, &s);
  if (status == TL_OK) status = tl_par_blocks(ny, 1, columns, &s);
  tl_free(s.scratch);
  return status;
}
