#include "shape/formula.h"

#include "base/mem.h"

#include <math.h>

enum { DIAMETER, SIZE, LENGTH, WIDTH, SIZES };
static const char *const size_name[SIZES] = {"diameter_m", "size_m", "length_m", "width_m"};

static const struct {
  const char *name, *takes[SIZES]; /* what the size is; "": it has no such size */
  double cells;                    /* across the least extent, where no spacing is given */
  TlStatus (*make)(const TlFormula *f, double spacing, TlAvatar *out);
} kinds[TL_FORMULA_COUNT] = {
#define F(id, name, solved, cells, ...) {#name, {__VA_ARGS__}, cells, tl_formula_##name},
    TL_FORMULAS(F)
#undef F
};

const char *tl_formula_name(TlFormulaKind kind) {
  return kinds[kind].name;
}

static double least_of(const double size[3]) {
  return fmin(size[0], fmin(size[1], size[2]));
}

TlStatus tl_formula_avatar(const TlFormula *f, TlAvatar *out) {
  bool given[SIZES] = {f->diameter_m != 0,
                       f->size_m[0] != 0 || f->size_m[1] != 0 || f->size_m[2] != 0,
                       f->length_m != 0, f->width_m != 0};
  double value[SIZES] = {f->diameter_m, least_of(f->size_m), f->length_m, f->width_m};
  double least = INFINITY;
  *out = (TlAvatar){0};
  for (int s = 0; s < SIZES; s++) {
    bool takes = kinds[f->kind].takes[s][0];
    if (given[s] && !takes)
      return tl_fail(TL_EUSAGE, "a %s has no %s", kinds[f->kind].name, size_name[s]);
    if (!takes) continue;
    if (!(value[s] > 0))
      return tl_fail(TL_EUSAGE, "a %s wants %s above 0", kinds[f->kind].name, size_name[s]);
    least = fmin(least, value[s]);
  }
  return kinds[f->kind].make(f, f->spacing_m > 0 ? f->spacing_m : least / kinds[f->kind].cells,
                             out);
}

/* ---- the given axes ---- */

/* Given axis k is body axis from[k], reversed where flip[k]. */
typedef struct Axes {
  int from[3];
  bool flip[3];
} Axes;

static Axes axes_of(TlQuat to_given) {
  TlMat3 m = tl_quat_matrix(to_given);
  Axes axes = {{0}, {false}};
  for (int k = 0; k < 3; k++)
    for (int b = 0; b < 3; b++)
      if (fabs(m.m[k][b]) > 0.5) axes.from[k] = b, axes.flip[k] = m.m[k][b] < 0;
  return axes;
}

static TlStatus turn_grid(const Axes *axes, TlAvatar *a) {
  int64_t n[3] = {a->nx, a->ny, a->nz}, step[3] = {1, n[0], n[0] * n[1]}, m[3], stride[3],
          start = 0;
  double origin[3] = {a->origin_m.x, a->origin_m.y, a->origin_m.z}, first[3];
  for (int k = 0; k < 3; k++) {
    int b = axes->from[k];
    m[k] = n[b];
    stride[k] = axes->flip[k] ? -step[b] : step[b];
    if (axes->flip[k]) start += (n[b] - 1) * step[b];
    first[k] = axes->flip[k] ? -origin[b] - (double)(n[b] - 1) * a->spacing_m : origin[b];
  }
  float *phi, *to;
  TL_TRY(TL_NEW(phi, (size_t)(n[0] * n[1] * n[2])));
  to = phi;
  for (int64_t k = 0; k < m[2]; k++)
    for (int64_t j = 0; j < m[1]; j++)
      for (int64_t i = 0; i < m[0]; i++)
        *to++ = a->phi[start + i * stride[0] + j * stride[1] + k * stride[2]];
  tl_free(a->phi);
  a->phi = phi;
  a->nx = (int32_t)m[0], a->ny = (int32_t)m[1], a->nz = (int32_t)m[2];
  a->origin_m = tl_vec3(first[0], first[1], first[2]);
  return TL_OK;
}

static void turn_nodes(const Axes *axes, TlAvatar *a) {
  for (int32_t i = 0; i < a->node_count; i++) {
    float *p = a->node_m + 3 * (int64_t)i, q[3];
    for (int k = 0; k < 3; k++) q[k] = axes->flip[k] ? -p[axes->from[k]] : p[axes->from[k]];
    for (int k = 0; k < 3; k++) p[k] = q[k];
  }
}

TlStatus tl_formula_avatar_as_given(const TlFormula *f, TlAvatar *a) {
  TL_TRY(tl_formula_avatar(f, a));
  Axes axes = axes_of(a->scan_rotation);
  double moment[3] = {a->inertia_m5.x, a->inertia_m5.y, a->inertia_m5.z};
  TlStatus status = turn_grid(&axes, a);
  if (status != TL_OK) return tl_avatar_free(a), status;
  turn_nodes(&axes, a);
  a->inertia_m5 = tl_vec3(moment[axes.from[0]], moment[axes.from[1]], moment[axes.from[2]]);
  a->scan_rotation = (TlQuat){1, 0, 0, 0};
  return TL_OK;
}
