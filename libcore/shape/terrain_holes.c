#include "shape/terrain_holes.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

enum { DATA = 0, VOID, OUTLINE, HOLE };

typedef struct Flood {
  const float *height;
  int64_t nx, ny;
  uint8_t *mark;
  int64_t *stack;
  size_t count, capacity;
} Flood;

static TlStatus push(Flood *f, int64_t at, uint8_t mark) {
  if (f->mark[at] != VOID) return TL_OK;
  f->mark[at] = mark;
  TL_TRY(TL_RESERVE(f->stack, f->capacity, f->count + 1));
  f->stack[f->count++] = at;
  return TL_OK;
}

static TlStatus flood(Flood *f, int64_t seed, uint8_t mark) {
  TL_TRY(push(f, seed, mark));
  while (f->count > 0) {
    int64_t at = f->stack[--f->count], i = at % f->nx, j = at / f->nx;
    for (int64_t b = j - 1; b <= j + 1; b++)
      for (int64_t a = i - 1; a <= i + 1; a++)
        if (a >= 0 && b >= 0 && a < f->nx && b < f->ny) TL_TRY(push(f, b * f->nx + a, mark));
  }
  return TL_OK;
}

static TlStatus flood_border(Flood *f) {
  for (int64_t i = 0; i < f->nx; i++) {
    TL_TRY(flood(f, i, OUTLINE));
    TL_TRY(flood(f, (f->ny - 1) * f->nx + i, OUTLINE));
  }
  for (int64_t j = 0; j < f->ny; j++) {
    TL_TRY(flood(f, j * f->nx, OUTLINE));
    TL_TRY(flood(f, j * f->nx + f->nx - 1, OUTLINE));
  }
  return TL_OK;
}

static TlStatus collect(Flood *f, TlHoles *holes) {
  int64_t n = f->nx * f->ny;
  for (int64_t at = 0; at < n; at++) {
    if (f->mark[at] != VOID) continue;
    if (holes->holes++ == 0) holes->first = at;
    TL_TRY(flood(f, at, HOLE));
  }
  for (int64_t at = 0; at < n; at++) holes->samples += f->mark[at] == HOLE;
  TL_TRY(TL_NEW(holes->index, (size_t)holes->samples));
  int64_t next = 0;
  for (int64_t at = 0; at < n; at++)
    if (f->mark[at] == HOLE) holes->index[next++] = at;
  return TL_OK;
}

TlStatus tl_holes_find(TlHoles *holes, const float *height, int64_t nx, int64_t ny) {
  *holes = (TlHoles){0};
  Flood f = {.height = height, .nx = nx, .ny = ny};
  TL_TRY(TL_NEW(f.mark, (size_t)(nx * ny)));
  for (int64_t at = 0; at < nx * ny; at++) f.mark[at] = (uint8_t)(isnan(height[at]) ? VOID : DATA);
  TlStatus status = flood_border(&f);
  if (status == TL_OK) status = collect(&f, holes);
  tl_free(f.mark);
  tl_free(f.stack);
  return status;
}

/* The 5-point Laplacian on the hole samples: neighbour[4n..] are their numbers, or -1 on the rim,
 * whose heights stand in the right-hand side. Holes never touch the raster's border. */
typedef struct System {
  int64_t n;
  int64_t *neighbour;
  double *x, *r, *p, *q;
} System;

static int64_t number_of(const TlHoles *h, int64_t at) {
  int64_t low = 0, high = h->samples;
  while (low < high) {
    int64_t mid = (low + high) / 2;
    if (h->index[mid] < at)
      low = mid + 1;
    else
      high = mid;
  }
  return low < h->samples && h->index[low] == at ? low : -1;
}

/* x starts at 0 relative to `level`, so that the residual is the right-hand side. */
static void assemble(System *s, const TlHoles *h, const float *height, int64_t nx, double level) {
  const int64_t step[4] = {-1, 1, -nx, nx};
  for (int64_t n = 0; n < s->n; n++)
    for (int m = 0; m < 4; m++) {
      int64_t at = h->index[n] + step[m];
      s->neighbour[4 * n + m] = number_of(h, at);
      if (s->neighbour[4 * n + m] < 0) s->r[n] += (double)height[at] - level;
    }
}

static void apply(const System *s, const double *p, double *q) {
  for (int64_t n = 0; n < s->n; n++) {
    const int64_t *m = s->neighbour + 4 * n;
    q[n] = 4 * p[n];
    for (int k = 0; k < 4; k++)
      if (m[k] >= 0) q[n] -= p[m[k]];
  }
}

static double dot(const double *a, const double *b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static double largest(const double *a, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
  return most;
}

static TlStatus conjugate_gradients(System *s) {
  double target = 1e-6 * largest(s->r, s->n), rr = dot(s->r, s->r, s->n);
  for (int64_t i = 0; i < s->n; i++) s->p[i] = s->r[i];
  for (int64_t iteration = 0; largest(s->r, s->n) > target; iteration++) {
    if (iteration > 1000 + 4 * s->n)
      return tl_fail(TL_ELIMIT, "filling holes: no convergence over %" PRId64 " samples", s->n);
    apply(s, s->p, s->q);
    double alpha = rr / dot(s->p, s->q, s->n), before = rr;
    for (int64_t i = 0; i < s->n; i++) {
      s->x[i] += alpha * s->p[i];
      s->r[i] -= alpha * s->q[i];
    }
    rr = dot(s->r, s->r, s->n);
    for (int64_t i = 0; i < s->n; i++) s->p[i] = s->r[i] + rr / before * s->p[i];
  }
  return TL_OK;
}

TlStatus tl_holes_fill(const TlHoles *holes, float *height, int64_t nx, int64_t ny) {
  (void)ny;
  if (holes->samples == 0) return TL_OK;
  size_t n = (size_t)holes->samples;
  double level = height[holes->first - 1]; /* the sample before a first hole sample has data */
  System s = {.n = holes->samples};
  double *block = NULL;
  TlStatus status = TL_NEW(s.neighbour, 4 * n);
  if (status == TL_OK) status = TL_NEW(block, 4 * n);
  if (status == TL_OK) {
    s.x = block;
    s.r = block + n;
    s.p = block + 2 * n;
    s.q = block + 3 * n;
    assemble(&s, holes, height, nx, level);
    status = conjugate_gradients(&s);
  }
  for (size_t i = 0; i < n && status == TL_OK; i++)
    height[holes->index[i]] = (float)(level + s.x[i]);
  tl_free(s.neighbour);
  tl_free(block);
  return status;
}
