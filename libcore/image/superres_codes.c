#include "image/superres_codes.h"

#include "base/lanes.h"
#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Two vectors of eight for each of four: eight sums, which stay in the registers that AVX2 has. */
enum { LANES = 8, WIDE = 2 * LANES, NOW = TL_CODE_AT_ONCE };

typedef float Lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t Bits __attribute__((vector_size(LANES * sizeof(int32_t))));

TlStatus tl_coder_make(int64_t atoms, int dims, int most, const float *low, TlCoder *coder) {
  assert(atoms % WIDE == 0 && most >= 1 && most <= TL_CODE_MOST);
  *coder = (TlCoder){.atoms = atoms, .dims = dims, .most = most};
  TlStatus status = TL_NEW(coder->table, (size_t)atoms * (size_t)dims);
  if (status == TL_OK) status = TL_NEW(coder->gram, (size_t)atoms * (size_t)atoms);
  if (status != TL_OK) {
    tl_coder_free(coder);
    return status;
  }
  for (int64_t a = 0; a < atoms; a++)
    for (int k = 0; k < dims; k++)
      coder->table[(a / WIDE * dims + k) * WIDE + a % WIDE] = low[a * dims + k];
  for (int64_t a = 0; a < atoms; a++)
    for (int64_t b = 0; b <= a; b++) {
      double sum = 0;
      for (int k = 0; k < dims; k++) sum += (double)low[a * dims + k] * (double)low[b * dims + k];
      coder->gram[a * atoms + b] = coder->gram[b * atoms + a] = (float)sum;
    }
  return TL_OK;
}

void tl_coder_free(TlCoder *coder) {
  tl_free(coder->table);
  tl_free(coder->gram);
  *coder = (TlCoder){0};
}

/* c[p][a] = y[p] . atom a, four y at a time so that an atom's row is loaded once for them. */
TL_LANES_CLONES static void correlate(const TlCoder *coder, const float *const y[NOW], float *c) {
  int dims = coder->dims;
  for (int64_t b = 0; b < coder->atoms / WIDE; b++) {
    const Lanes *row = (const Lanes *)(const void *)(coder->table + b * dims * WIDE);
    Lanes a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0}, c0 = {0}, c1 = {0}, d0 = {0}, d1 = {0};
    for (int k = 0; k < dims; k++) {
      Lanes r0 = row[2 * k], r1 = row[2 * k + 1];
      a0 += r0 * y[0][k], a1 += r1 * y[0][k];
      b0 += r0 * y[1][k], b1 += r1 * y[1][k];
      c0 += r0 * y[2][k], c1 += r1 * y[2][k];
      d0 += r0 * y[3][k], d1 += r1 * y[3][k];
    }
    Lanes *to = (Lanes *)(void *)(c + b * WIDE);
    int64_t next = coder->atoms / LANES;
    to[0] = a0, to[1] = a1;
    to[next] = b0, to[next + 1] = b1;
    to[2 * next] = c0, to[2 * next + 1] = c1;
    to[3 * next] = d0, to[3 * next + 1] = d1;
  }
}

static inline Bits choose(Bits where, Bits yes, Bits no) {
  return (yes & where) | (no & ~where);
}

/* The first of the greatest in size. Floats without sign order as integers do. Each lane keeps its
 * first greatest and the block that it was in. */
TL_LANES_CLONES static int32_t greatest(const float *c, int64_t atoms) {
  const Bits *bits = (const Bits *)(const void *)c;
  Bits most0 = {0}, most1 = {0}, block0 = {0}, block1 = {0}, now = {0};
  for (int64_t b = 0; b < atoms / WIDE; b++, now += 1) {
    Bits size0 = bits[2 * b] & 0x7fffffff, size1 = bits[2 * b + 1] & 0x7fffffff;
    Bits more0 = size0 > most0, more1 = size1 > most1;
    most0 = choose(more0, size0, most0), block0 = choose(more0, now, block0);
    most1 = choose(more1, size1, most1), block1 = choose(more1, now, block1);
  }
  int32_t size[WIDE], block[WIDE], top = 0;
  memcpy(size, &most0, sizeof most0), memcpy(size + LANES, &most1, sizeof most1);
  memcpy(block, &block0, sizeof block0), memcpy(block + LANES, &block1, sizeof block1);
  for (int i = 1; i < WIDE; i++)
    if (size[i] > size[top] || (size[i] == size[top] && block[i] < block[top])) top = i;
  return block[top] * WIDE + top;
}

/* c = c0 - G a */
TL_LANES_CLONES static void update(const TlCoder *coder, const TlCode *code, const float *c0,
                                   float *c) {
  memcpy(c, c0, (size_t)coder->atoms * sizeof *c);
  for (int k = 0; k < code->used; k++) {
    const float *g = coder->gram + code->atom[k] * coder->atoms;
    float w = code->weight[k];
    for (int64_t a = 0; a < coder->atoms; a++) c[a] -= w * g[a];
  }
}

/* The Cholesky factor of the Gram matrix of the atoms taken, row by row. */
typedef struct Factor {
  double row[TL_CODE_MOST][TL_CODE_MOST];
} Factor;

/* One more atom; false when it lies in the span of the others. */
static bool extend(const TlCoder *coder, TlCode *code, int32_t atom, Factor *f) {
  int n = code->used;
  double left = (double)coder->gram[atom * (coder->atoms + 1)];
  for (int i = 0; i < n; i++) {
    double sum = (double)coder->gram[code->atom[i] * coder->atoms + atom];
    for (int j = 0; j < i; j++) sum -= f->row[i][j] * f->row[n][j];
    f->row[n][i] = sum / f->row[i][i];
    left -= f->row[n][i] * f->row[n][i];
  }
  if (!(left > 1e-6)) return false;
  f->row[n][n] = sqrt(left);
  code->atom[code->used++] = atom;
  return true;
}

/* Weights of all atoms taken; returns how much of |y|^2 they explain. */
static double fit(TlCode *code, const Factor *f, const float *c0) {
  double w[TL_CODE_MOST], explained = 0;
  int n = code->used;
  for (int i = 0; i < n; i++) {
    w[i] = (double)c0[code->atom[i]];
    for (int j = 0; j < i; j++) w[i] -= f->row[i][j] * w[j];
    w[i] /= f->row[i][i];
    explained += w[i] * w[i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) w[i] -= f->row[j][i] * w[j];
    w[i] /= f->row[i][i];
    code->weight[i] = (float)w[i];
  }
  return explained;
}

static void pursue(const TlCoder *coder, const float *y, double limit, const float *c0, float *c,
                   TlCode *code) {
  Factor factor;
  double whole = 0, left;
  const float *now = c0;
  for (int k = 0; k < coder->dims; k++) whole += (double)y[k] * (double)y[k];
  code->used = 0;
  for (left = whole; code->used < coder->most && left > limit;) {
    int32_t atom = greatest(now, coder->atoms);
    if (!(fabs((double)now[atom]) > 1e-6 * sqrt(whole))) break;
    if (!extend(coder, code, atom, &factor)) break;
    left = whole - fit(code, &factor, c0);
    if (code->used == coder->most || left <= limit) break;
    update(coder, code, c0, c);
    now = c;
  }
}

void tl_coder_code(const TlCoder *coder, const float *y, int64_t count, double limit,
                   float *scratch, TlCode *codes) {
  float *c0 = scratch, *c = scratch + NOW * coder->atoms;
  for (int64_t i = 0; i < count; i += NOW) {
    const float *four[NOW];
    for (int p = 0; p < NOW; p++) four[p] = y + (i + p < count ? i + p : count - 1) * coder->dims;
    correlate(coder, four, c0);
    for (int p = 0; p < NOW && i + p < count; p++)
      pursue(coder, four[p], limit, c0 + p * coder->atoms, c, codes + i + p);
  }
}
