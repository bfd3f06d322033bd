/* Sections shapes and bodies: shapes by formula or mesh file, and bodies placed one by one. */
#ifndef TL_RUN_SETUP_SHAPES_H
#define TL_RUN_SETUP_SHAPES_H

#include "conf/study.h"
#include "shape/formula.h"

enum { TL_SHAPE_MESH = TL_FORMULA_COUNT }; /* the kind after the formulas */

typedef struct TlShapeSetup {
  char *name;
  int kind; /* TlFormulaKind, or TL_SHAPE_MESH */
  char *file, *unit, *material;
  double scale, sharp_deg;
  double diameter_m, size_m[3], length_m, width_m, exponent_e, exponent_n, spacing_m;
  int64_t nodes;
  bool gridded;
} TlShapeSetup;

typedef struct TlBodySetup {
  char *name; /* NULL: none */
  char *shape, *material;
  int64_t grain;
  double position_m[3], turn_deg[3], velocity_m_s[3], spin_rad_s[3];
  double scale, volume_m3; /* volume_m3 > 0: in place of scale */
  bool fixed;
  int64_t count;
  double step_m[3];
  double above_ground_m; /* < 0: position_m holds */
  char *points_file;     /* a row for each of its points (run/gis.h); NULL afterwards */
  TlStudyList parts;     /* of TlPartSetup */
} TlBodySetup;

typedef struct TlPartSetup {
  char *shape, *material;
  double position_m[3], turn_deg[3];
  double scale;
} TlPartSetup;

enum { TL_SHAPE_PARAMS = 16, TL_BODY_PARAMS = 15, TL_BODY_SECTIONS = 1, TL_BODY_PARTS = 100000 };
extern const TlParam tl_shape_params[], tl_body_params[];
extern const TlStudySection tl_body_sections[];
extern const TlStudySection tl_body_row; /* one entry of the list of bodies */

/* Place of the shape of this name in the list of shapes, or -1. */
int64_t tl_shapes_index(const TlStudyList *shapes, const char *name);
/* Names are there and different, bodies name what there is. */
TlStatus tl_shapes_check(const TlStudyList *shapes, const TlStudyList *bodies, bool terrain,
                         const TlStudy *study);
/* Names that a list at this key draws from. */
TlStatus tl_shapes_check_names(const TlStudyList *shapes, const TlTexts *names, const char *key,
                               const TlStudy *study);
/* Not of a mesh. */
TlFormula tl_shape_formula(const TlShapeSetup *shape);

#endif
