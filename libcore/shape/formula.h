/* Shapes by name and sizes. A new shape is a row of TL_FORMULAS and a file with its
 * tl_formula_NAME, which makes its avatar; one that is solved in closed form has a file
 * model/closed_NAME.c, too (model/closed.h). Keys and help of the study follow from the row.
 *
 * SI units; sizes are whole extents, not halves.
 */
#ifndef TL_SHAPE_FORMULA_H
#define TL_SHAPE_FORMULA_H

#include "shape/avatar.h"

/* F(enumerator, name, how it is solved, cells across its least size where no spacing is given,
 *   what diameter_m, size_m, length_m and width_m are of it; "": it has no such size) */
#define TL_FORMULAS(F)                                                                             \
  F(SPHERE, sphere, IN_CLOSED_FORM, 10, "sphere: diameter; ", "", "", "")                          \
  F(BOX, box, IN_CLOSED_FORM, 10, "", "box: extents along x, y, z; ", "", "")                      \
  F(CYLINDER, cylinder, IN_CLOSED_FORM, 10, "cylinder: diameter; ", "",                            \
    "cylinder: length along z; ", "")                                                              \
  F(SUPERELLIPSOID, superellipsoid, ON_A_GRID, 10, "", "superellipsoid: extents along x, y, z; ",  \
    "", "")                                                                                        \
  F(TETRAHEDRON, tetrahedron, ON_A_GRID, 24, "", "", "tetrahedron: edge; ", "")                    \
  F(CROSS, cross, IN_CLOSED_FORM, 6, "", "", "cross: bars tip to tip; ",                           \
    "cross: thickness of its three square bars; ")

/* Texts of the list: names with a bar behind each, and what each size is of which shapes. */
#define TL_FORMULA_NAME(id, name, solved, cells, diameter, size, length, width) #name "|"
#define TL_FORMULA_DIAMETER(id, name, solved, cells, diameter, size, length, width) diameter
#define TL_FORMULA_SIZE(id, name, solved, cells, diameter, size, length, width) size
#define TL_FORMULA_LENGTH(id, name, solved, cells, diameter, size, length, width) length
#define TL_FORMULA_WIDTH(id, name, solved, cells, diameter, size, length, width) width

typedef enum TlFormulaKind {
#define F(id, ...) TL_FORMULA_##id,
  TL_FORMULAS(F)
#undef F
      TL_FORMULA_COUNT
} TlFormulaKind;

typedef struct TlFormula {
  TlFormulaKind kind;
  double diameter_m, size_m[3], length_m, width_m; /* 0: not given */
  double exponent_e, exponent_n;                   /* of a superellipsoid */
  double spacing_m; /* of the grid; 0: by the number of cells of the list */
  int32_t nodes;    /* 0: spaced a tenth of the diameter */
} TlFormula;

const char *tl_formula_name(TlFormulaKind kind); /* "sphere" */

/* The avatar in its principal axes; scan_rotation takes them to the axes the sizes are given in.
 * TL_EUSAGE names a size that is missing, does not belong or makes no sense. */
TlStatus tl_formula_avatar(const TlFormula *formula, TlAvatar *out);
/* The same in the axes that the sizes are given in (a permutation: phi keeps its bits); moments
 * need not ascend and scan_rotation is the identity. For what is known in closed form in those
 * axes. */
TlStatus tl_formula_avatar_as_given(const TlFormula *formula, TlAvatar *out);

/* tl_formula_sphere, ...: the avatar of each shape of the list, from sizes that are above 0, on a
 * grid of this spacing. For tl_formula_avatar, which checks and chooses them. */
#define F(id, name, ...)                                                                           \
  TlStatus tl_formula_##name(const TlFormula *formula, double spacing_m, TlAvatar *out);
TL_FORMULAS(F)
#undef F

#endif
