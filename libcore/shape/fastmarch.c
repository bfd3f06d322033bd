#include "shape/fastmarch.h"

#include "base/mem.h"
#include "base/par.h"

#include <math.h>
#include <stdbool.h>

typedef struct Entry {
  float key;
  int32_t k;
  uint32_t column;
} Entry;

/* One side of the surface: T = sign * phi grows outwards. */
typedef struct Side {
  const TlColumns *grid;
  float *phi;
  uint8_t *state;
  double limit;
  float sign;
  uint8_t mine; /* TL_MARCH_ABOVE or _BELOW */
  Entry *heap;  /* 4-ary: shallower than binary, and four children share a cache line */
  size_t count, capacity;
} Side;

static TlStatus heap_push(Side *s, Entry e) {
  TL_TRY(TL_RESERVE(s->heap, s->capacity, s->count + 1));
  size_t n = s->count++;
  while (n > 0 && s->heap[(n - 1) / 4].key > e.key) {
    s->heap[n] = s->heap[(n - 1) / 4];
    n = (n - 1) / 4;
  }
  s->heap[n] = e;
  return TL_OK;
}

static Entry heap_pop(Side *s) {
  Entry top = s->heap[0], last = s->heap[--s->count];
  size_t n = 0;
  for (;;) {
    size_t first = 4 * n + 1, least = first;
    if (first >= s->count) break;
    size_t end = first + 4 < s->count ? first + 4 : s->count;
    for (size_t c = first + 1; c < end; c++)
      if (s->heap[c].key < s->heap[least].key) least = c;
    if (s->heap[least].key >= last.key) break;
    s->heap[n] = s->heap[least];
    n = least;
  }
  s->heap[n] = last;
  return top;
}

/* States are bytes that the other side's thread may write while we look: relaxed atomics, whose
 * value never matters then, since neither FAR nor its own mark lets us use the point. */
static inline uint8_t state_of(const Side *s, int64_t at) {
  return __atomic_load_n(&s->state[at], __ATOMIC_RELAXED);
}

static inline int64_t index_of(const Side *s, int64_t c, int32_t k) {
  const TlColumn *column = &s->grid->column[c];
  int32_t n = k - column->k_low;
  return n >= 0 && n < column->k_count ? column->start + n : -1;
}

/* T of a point that may be used upwind; INFINITY else. */
static inline double known(const Side *s, int64_t c, int32_t k) {
  int64_t at = index_of(s, c, k);
  if (at < 0) return INFINITY;
  uint8_t state = state_of(s, at);
  return state == TL_MARCH_GIVEN || state == s->mine ? (double)(s->sign * s->phi[at]) : INFINITY;
}

/* An axis' upwind term: (rate (T - base))^2. */
typedef struct Term {
  double near; /* the upwind neighbour's T */
  double base, rate;
} Term;

/* The neighbours along an axis lie dc columns and dk levels away. */
static bool upwind(const Side *s, int64_t c, int32_t k, int64_t dc, int32_t dk, Term *term) {
  double a = known(s, c - dc, k - dk), b = known(s, c + dc, k + dk);
  double near = a < b ? a : b;
  if (!(near < INFINITY)) return false;
  double far = a < b ? known(s, c - 2 * dc, k - 2 * dk) : known(s, c + 2 * dc, k + 2 * dk);
  *term = far <= near ? (Term){near, (4 * near - far) / 3, 1.5} : (Term){near, near, 1};
  return true;
}

/* T from the terms, nearest first, an axis joining only while it lies upwind of the result. */
static double solve(const Term *terms, int count) {
  double T = terms[0].base + 1 / terms[0].rate;
  for (int n = 2; n <= count && T > terms[n - 1].near; n++) {
    double a = 0, b = 0, c = -1;
    for (int m = 0; m < n; m++) {
      double r2 = terms[m].rate * terms[m].rate, x = terms[m].base - terms[0].base;
      a += r2;
      b += r2 * x;
      c += r2 * x * x;
    }
    double disc = b * b - a * c;
    if (disc < 0) break;
    T = terms[0].base + (b + sqrt(disc)) / a;
  }
  return T;
}

static void sort_terms(Term *t, int count) {
  for (int a = 1; a < count; a++)
    for (int b = a; b > 0 && t[b].near < t[b - 1].near; b--) {
      Term swap = t[b];
      t[b] = t[b - 1];
      t[b - 1] = swap;
    }
}

static double update(const Side *s, int64_t c, int32_t k) {
  Term terms[3];
  int count = 0;
  count += upwind(s, c, k, 0, 1, &terms[count]);
  count += upwind(s, c, k, 1, 0, &terms[count]);
  count += upwind(s, c, k, s->grid->nx, 0, &terms[count]);
  if (count == 0) return INFINITY;
  sort_terms(terms, count);
  double T = solve(terms, count);
  if (T >= terms[0].near) return T;
  for (int m = 0; m < count; m++) terms[m] = (Term){terms[m].near, terms[m].near, 1};
  return solve(terms, count); /* second order overshot: near a crease */
}

static bool on_my_side(const Side *s, int64_t c, int32_t k) {
  return (k >= s->grid->column[c].k_zero) == (s->mine == TL_MARCH_ABOVE);
}

/* A FAR point of ours beside a newly known one. */
static TlStatus relax(Side *s, int64_t c, int32_t k) {
  int64_t at = index_of(s, c, k);
  if (at < 0 || !on_my_side(s, c, k) || state_of(s, at) != TL_MARCH_FAR) return TL_OK;
  float T = (float)update(s, c, k);
  if (!(T <= s->limit) || T >= s->sign * s->phi[at]) return TL_OK;
  s->phi[at] = s->sign * T;
  return heap_push(s, (Entry){T, k, (uint32_t)c});
}

static TlStatus relax_around(Side *s, int64_t c, int32_t k) {
  const int64_t nx = s->grid->nx;
  TL_TRY(relax(s, c, k + 1));
  TL_TRY(relax(s, c, k - 1));
  TL_TRY(relax(s, c - 1, k));
  TL_TRY(relax(s, c + 1, k));
  TL_TRY(relax(s, c - nx, k));
  return relax(s, c + nx, k);
}

static void clear(Side *s) {
  for (int64_t c = 0; c < s->grid->nx * s->grid->ny; c++) {
    const TlColumn *column = &s->grid->column[c];
    for (int32_t n = 0; n < column->k_count; n++)
      if (on_my_side(s, c, column->k_low + n) && state_of(s, column->start + n) == TL_MARCH_FAR)
        s->phi[column->start + n] = s->sign * INFINITY;
  }
}

static TlStatus start(Side *s) {
  for (int64_t c = 0; c < s->grid->nx * s->grid->ny; c++) {
    const TlColumn *column = &s->grid->column[c];
    for (int32_t n = 0; n < column->k_count; n++)
      if (state_of(s, column->start + n) == TL_MARCH_GIVEN)
        TL_TRY(relax_around(s, c, column->k_low + n));
  }
  return TL_OK;
}

static TlStatus march(Side *s) {
  clear(s);
  TL_TRY(start(s));
  while (s->count > 0) {
    Entry e = heap_pop(s);
    int64_t at = index_of(s, e.column, e.k);
    if (state_of(s, at) != TL_MARCH_FAR) continue; /* an older, larger entry of the same point */
    __atomic_store_n(&s->state[at], s->mine, __ATOMIC_RELAXED);
    TL_TRY(relax_around(s, e.column, e.k));
  }
  return TL_OK;
}

typedef struct Job {
  const TlColumns *grid;
  float *phi;
  uint8_t *state;
  double limit;
} Job;

static TlStatus march_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  (void)end, (void)block, (void)thread;
  const Job *job = context;
  Side side = {.grid = job->grid,
               .phi = job->phi,
               .state = job->state,
               .limit = job->limit,
               .sign = begin == 0 ? 1.0f : -1.0f,
               .mine = begin == 0 ? TL_MARCH_ABOVE : TL_MARCH_BELOW};
  TlStatus status = march(&side);
  tl_free(side.heap);
  return status;
}

TlStatus tl_fastmarch(const TlColumns *columns, float *phi, uint8_t *state, double limit) {
  if (columns->nx * columns->ny > UINT32_MAX)
    return tl_fail(TL_EINPUT, "fast marching: more than 2^32 - 1 columns; crop the terrain");
  Job job = {columns, phi, state, limit};
  return tl_par_blocks(2, 1, march_block, &job);
}
