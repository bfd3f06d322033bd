/* Shapes by name and sizes: one table over superellipsoid.h and solids.h.
 *
 * A new shape is a line in the table of formula.c. SI units; sizes are whole extents, not halves.
 */
#ifndef TL_SHAPE_FORMULA_H
#define TL_SHAPE_FORMULA_H

#include "shape/avatar.h"

#define TL_FORMULA_KINDS "sphere|box|cylinder|superellipsoid|tetrahedron|cross"
typedef enum TlFormulaKind {                            /* in the order of TL_FORMULA_KINDS */
                             TL_FORMULA_SPHERE = 0,     /* diameter_m */
                             TL_FORMULA_BOX,            /* size_m */
                             TL_FORMULA_CYLINDER,       /* diameter_m, length_m; along z */
                             TL_FORMULA_SUPERELLIPSOID, /* size_m, exponent_e, exponent_n */
                             TL_FORMULA_TETRAHEDRON,    /* length_m: its edge */
                             TL_FORMULA_CROSS, /* length_m tip to tip, width_m of the bars */
                             TL_FORMULA_COUNT
} TlFormulaKind;

typedef struct TlFormula {
  TlFormulaKind kind;
  double diameter_m, size_m[3], length_m, width_m; /* 0: not given */
  double exponent_e, exponent_n;
  double spacing_m; /* of the grid; 0: a tenth of the least extent; a cross: a sixth of its width,
                         a tetrahedron: a 24th of its edge */
  int32_t nodes;    /* 0: spaced a tenth of the diameter */
} TlFormula;

/* The avatar in its principal axes; scan_rotation takes them to the axes the sizes are given in.
 * TL_EUSAGE names a size that is missing, does not belong or makes no sense. */
TlStatus tl_formula_avatar(const TlFormula *formula, TlAvatar *out);
/* The same in the axes that the sizes are given in (a permutation: phi keeps its bits); moments
 * need not ascend and scan_rotation is the identity. For what is known in closed form in those
 * axes. */
TlStatus tl_formula_avatar_as_given(const TlFormula *formula, TlAvatar *out);

#endif
