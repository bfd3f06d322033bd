/* Materials and what happens where two of them touch.
 *
 * Every body and every boundary has a material, a number from 0. A pair of materials has one pair
 * law, the same in either order; a contact carries the number of its law. No other place holds a
 * coefficient of friction.
 *
 * Plain tables, of one kind of grain and its boundaries, have the two materials below.
 */
#ifndef TL_MODEL_MATERIAL_H
#define TL_MODEL_MATERIAL_H

#include "base/status.h"

#include <stdint.h>

enum { TL_MATERIAL_GRAIN = 0, TL_MATERIAL_BOUNDARY = 1, TL_MATERIAL_FIRST_OWN = 2 };

/* Of a contact of the penalty method; SI. */
typedef struct TlStiffness {
  double normal_N_m;        /* linear law, of a point */
  double normal_Pa_m;       /* linear law with traction: of a surface */
  double young_Pa, poisson; /* Hertz: of either grain */
  double ratio;             /* linear law: tangential over normal stiffness */
} TlStiffness;

typedef struct TlPairLaw {
  double friction;               /* Coulomb's coefficient, in [0, 100] */
  double restitution;            /* in [0, 1] */
  double tangential_restitution; /* in [0, 1]; 0: friction stops what it can */
  TlStiffness stiffness;
  /* Filled by tl_materials_finish. */
  double damping;         /* fraction of the critical damping that gives this restitution */
  int32_t stiffness_kind; /* the same number for pairs of the same stiffness */
} TlPairLaw;

typedef struct TlMaterials {
  int32_t count;
  TlPairLaw *law; /* [count * count], owned */
} TlMaterials;

/* Number of the law of two materials. */
static inline int32_t tl_pair_law(const TlMaterials *m, int32_t one, int32_t two) {
  return one * m->count + two;
}

/* A table of `count` materials whose laws are all zero. Release with tl_materials_free. */
TlStatus tl_materials_new(TlMaterials *materials, int32_t count);
TlStatus tl_materials_copy(TlMaterials *to, const TlMaterials *from);
void tl_materials_free(TlMaterials *materials);

/* The law of a pair, in both orders. */
void tl_materials_set(TlMaterials *materials, int32_t one, int32_t two, const TlPairLaw *law);
void tl_materials_set_friction(TlMaterials *materials, int32_t one, int32_t two, double friction);

/* Check the table and fill what is derived; afterwards only friction may change. TL_EUSAGE names
 * the pair and the value that is out of its range; stiffness is the method's to check. */
TlStatus tl_materials_finish(TlMaterials *materials);

/* Fraction of the critical damping with which a contact of the linear law returns this fraction of
 * the approach velocity, tension cut off; by bisection. Critical damping returns exp(-2): a smaller
 * restitution is taken for that. */
#define TL_LEAST_RESTITUTION 0.1353352832366127
double tl_damping_of(double restitution);

#endif
