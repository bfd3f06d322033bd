/* Sections materials and pairs: what grains and boundaries are made of, and what happens where two
 * materials touch. Numbers and laws follow in run/materials.h. */
#ifndef TL_RUN_SETUP_MATERIALS_H
#define TL_RUN_SETUP_MATERIALS_H

#include "conf/study.h"
#include "model/material.h"

/* What grains and what boundaries are of that name no material. */
#define TL_GRAIN_MATERIAL "grain"
#define TL_BOUNDARY_MATERIAL "boundary"

typedef struct TlMaterialSetup {
  char *name;
  double density_kg_m3, young_Pa; /* 0: grains.density_kg_m3, that of section penalty */
  double poisson;                 /* -1: that of section penalty */
} TlMaterialSetup;

typedef struct TlPairSetup {
  TlTexts between;
#define F(key, ...) double key; /* < 0: by the rule */
  TL_PAIR_FIELDS(F)
#undef F
} TlPairSetup;

enum { TL_MATERIAL_PARAMS = 4, TL_PAIR_PARAMS = 1 + TL_PAIR_FIELD_COUNT };
extern const TlParam tl_material_params[], tl_pair_params[];
extern const TlStudySection tl_material_row, tl_pair_row; /* one entry of these lists */

/* Friction and restitution of a thing's own, in the form from before materials came; < 0: none. */
typedef struct TlOldForm {
  double friction, restitution;
} TlOldForm;
/* Its rows, for a member `own` of the struct. */
#define TL_OLD_FORM_ROWS(s, friction_preset, restitution_preset, least, what)                      \
  {"friction",                                                                                     \
   TL_P_REAL,                                                                                      \
   offsetof(s, own.friction),                                                                      \
   "",                                                                                             \
   friction_preset,                                                                                \
   least,                                                                                          \
   10,                                                                                             \
   NULL,                                                                                           \
   "old form, without a material: friction " what,                                                 \
   NULL,                                                                                           \
   .old_form = true},                                                                              \
  {                                                                                                \
    "restitution", TL_P_REAL, offsetof(s, own.restitution), "", restitution_preset, least, 1,      \
        NULL, "old form, without a material: restitution " what, NULL, .old_form = true            \
  }

struct TlSetup;

/* Names are there and different, and whatever names a material names one that exists; a pair comes
 * once; nothing has both a material and a friction or restitution of its own. Friction and
 * restitution of their own at walls, classes, nets and membranes work as before materials came, and
 * are warned about once. */
TlStatus tl_materials_check(const struct TlSetup *setup, const TlStudy *study);
struct TlMaterials;
/* And what the laws that follow make useless: an overlap of adhesion without adhesion. */
TlStatus tl_materials_check_laws(const struct TlSetup *setup, const struct TlMaterials *materials,
                                 const TlStudy *study);

#endif
