#include "image/superres_codes.h"

#include "base/mem.h"
#include "num/linear.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 60, MOST_HALVINGS = 30 };
static const double good_enough = 1e-6;

/* Scratch: square matrices of atoms, and vectors. */
typedef struct Work {
  double *inverse, *hessian, *gram, *trial_inverse; /* atoms x atoms */
  double *trial_dictionary;                         /* atoms x rows */
  double *gradient, *step, *trial;                  /* atoms */
  int64_t *chosen;
  double floor,
      value; /* least multiplier: keeps A definite where atoms' uses depend on each other */
} Work;

static void work_free(Work *w) {
  tl_free(w->inverse);
  tl_free(w->hessian);
  tl_free(w->gram);
  tl_free(w->trial_inverse);
  tl_free(w->trial_dictionary);
  tl_free(w->gradient);
  tl_free(w->step);
  tl_free(w->trial);
  tl_free(w->chosen);
}

static TlStatus work_make(const TlDual *d, Work *w) {
  size_t n = (size_t)d->atoms;
  double trace = 0;
  for (int64_t i = 0; i < d->atoms; i++) trace += d->zz[i * (d->atoms + 1)];
  *w = (Work){.floor = 1e-9 * trace / (double)d->atoms};
  TL_TRY(TL_NEW(w->inverse, n * n));
  TL_TRY(TL_NEW(w->hessian, n * n));
  TL_TRY(TL_NEW(w->gram, n * n));
  TL_TRY(TL_NEW(w->trial_inverse, n * n));
  TL_TRY(TL_NEW(w->trial_dictionary, n * (size_t)d->rows));
  TL_TRY(TL_NEW(w->gradient, n));
  TL_TRY(TL_NEW(w->step, n));
  TL_TRY(TL_NEW(w->trial, n));
  return TL_NEW(w->chosen, n);
}

/* A^-1, D^T and D(l) without tr(X X^T), which no multiplier changes. */
static TlStatus evaluate(const TlDual *d, const double *l, double *inverse, double *dictionary,
                         double *value) {
  int64_t n = d->atoms;
  memcpy(inverse, d->zz, (size_t)(n * n) * sizeof *inverse);
  for (int64_t i = 0; i < n; i++) inverse[i * (n + 1)] += l[i];
  TL_TRY(tl_linear_invert(n, inverse));
  tl_linear_product(false, false, n, d->rows, n, inverse, d->zx, dictionary);
  *value = 0;
  for (int64_t i = 0; i < n * d->rows; i++) *value -= d->zx[i] * dictionary[i];
  for (int64_t i = 0; i < n; i++) *value -= l[i];
  return TL_OK;
}

/* Gradient, the multipliers that may move (count returned), and how far from the optimum. */
static int64_t look(TlDual *d, Work *w) {
  int64_t count = 0;
  d->violation = 0;
  for (int64_t i = 0; i < d->atoms; i++) {
    double sum = -1;
    for (int64_t r = 0; r < d->rows; r++)
      sum += d->dictionary[i * d->rows + r] * d->dictionary[i * d->rows + r];
    w->gradient[i] = sum;
    if (d->multiplier[i] <= w->floor && sum <= 0) continue;
    w->chosen[count++] = i;
    d->violation = fmax(d->violation, fabs(sum));
  }
  return count;
}

/* Newton's step over the chosen ones. */
static TlStatus newton(const TlDual *d, Work *w, int64_t count) {
  int64_t n = d->atoms;
  tl_linear_product(false, true, n, n, d->rows, d->dictionary, d->dictionary, w->gram);
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b < count; b++) {
      int64_t at = w->chosen[a] * n + w->chosen[b];
      w->hessian[a * count + b] = 2 * w->gram[at] * w->inverse[at];
    }
  double trace = 0;
  for (int64_t a = 0; a < count; a++) trace += w->hessian[a * (count + 1)];
  for (int64_t a = 0; a < count; a++) {
    w->hessian[a * (count + 1)] += 1e-12 * trace;
    w->step[a] = w->gradient[w->chosen[a]];
  }
  return tl_linear_solve(count, w->hessian, 1, w->step);
}

/* A step short enough to climb; *moved: there is one. */
static TlStatus climb(TlDual *d, Work *w, int64_t count, int *moved) {
  double length = 1, value;
  *moved = 0;
  for (int k = 0; k < MOST_HALVINGS; k++, length /= 2) {
    memcpy(w->trial, d->multiplier, (size_t)d->atoms * sizeof *w->trial);
    for (int64_t a = 0; a < count; a++) {
      double *l = &w->trial[w->chosen[a]];
      *l = fmax(*l + length * w->step[a], w->floor);
    }
    TL_TRY(evaluate(d, w->trial, w->trial_inverse, w->trial_dictionary, &value));
    if (!(value > w->value)) continue;
    w->value = value;
    memcpy(d->multiplier, w->trial, (size_t)d->atoms * sizeof *w->trial);
    memcpy(w->inverse, w->trial_inverse, (size_t)(d->atoms * d->atoms) * sizeof *w->inverse);
    memcpy(d->dictionary, w->trial_dictionary,
           (size_t)(d->atoms * d->rows) * sizeof *d->dictionary);
    *moved = 1;
    break;
  }
  return TL_OK;
}

static TlStatus solve(TlDual *d, Work *w) {
  TL_TRY(work_make(d, w));
  for (int64_t i = 0; i < d->atoms; i++) d->multiplier[i] = fmax(d->multiplier[i], w->floor);
  TL_TRY(evaluate(d, d->multiplier, w->inverse, d->dictionary, &w->value));
  for (d->steps = 0; d->steps < MOST_STEPS; d->steps++) {
    int moved;
    int64_t count = look(d, w);
    if (d->violation <= good_enough) return TL_OK;
    TL_TRY(newton(d, w, count));
    TL_TRY(climb(d, w, count, &moved));
    if (!moved) return TL_OK;
  }
  (void)look(d, w);
  return TL_OK;
}

TlStatus tl_dual_solve(TlDual *dual) {
  Work work;
  TlStatus status = solve(dual, &work);
  work_free(&work);
  return tl_context(status, "the dictionary's Lagrange dual");
}
