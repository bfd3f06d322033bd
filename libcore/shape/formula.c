#include "shape/formula.h"

#include "shape/solids.h"
#include "shape/superellipsoid.h"

#include <math.h>

static TlStatus make_sphere(const TlFormula *f, double h, TlAvatar *out) {
  return tl_avatar_sphere(f->diameter_m / 2, h, f->nodes, out);
}
static TlStatus make_box(const TlFormula *f, double h, TlAvatar *out) {
  return tl_avatar_box(f->size_m[0] / 2, f->size_m[1] / 2, f->size_m[2] / 2, h, f->nodes, out);
}
static TlStatus make_cylinder(const TlFormula *f, double h, TlAvatar *out) {
  return tl_avatar_cylinder(f->diameter_m / 2, f->length_m, h, f->nodes, out);
}
static TlStatus make_superellipsoid(const TlFormula *f, double h, TlAvatar *out) {
  return tl_avatar_superellipsoid(f->size_m[0] / 2, f->size_m[1] / 2, f->size_m[2] / 2,
                                  f->exponent_e, f->exponent_n, h, f->nodes, out);
}
static TlStatus make_tetrahedron(const TlFormula *f, double h, TlAvatar *out) {
  return tl_avatar_tetrahedron(f->length_m, h, f->nodes, out);
}
static TlStatus make_cross(const TlFormula *f, double h, TlAvatar *out) {
  return tl_avatar_cross(f->length_m, f->width_m, h, f->nodes, out);
}

enum { DIAMETER, SIZE, LENGTH, WIDTH, SIZES };
static const char *const size_name[SIZES] = {"diameter_m", "size_m", "length_m", "width_m"};

static const struct {
  const char *name;
  bool takes[SIZES];
  double cells; /* across the least extent, where no spacing is given */
  TlStatus (*make)(const TlFormula *f, double spacing, TlAvatar *out);
} kinds[TL_FORMULA_COUNT] = {
    {"sphere", {true, false, false, false}, 10, make_sphere},
    {"box", {false, true, false, false}, 10, make_box},
    {"cylinder", {true, false, true, false}, 10, make_cylinder},
    {"superellipsoid", {false, true, false, false}, 10, make_superellipsoid},
    {"tetrahedron", {false, false, true, false}, 24, make_tetrahedron},
    {"cross", {false, false, true, true}, 6, make_cross},
};

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
    if (given[s] && !kinds[f->kind].takes[s])
      return tl_fail(TL_EUSAGE, "a %s has no %s", kinds[f->kind].name, size_name[s]);
    if (!kinds[f->kind].takes[s]) continue;
    if (!(value[s] > 0))
      return tl_fail(TL_EUSAGE, "a %s wants %s above 0", kinds[f->kind].name, size_name[s]);
    least = fmin(least, value[s]);
  }
  return kinds[f->kind].make(f, f->spacing_m > 0 ? f->spacing_m : least / kinds[f->kind].cells,
                             out);
}
