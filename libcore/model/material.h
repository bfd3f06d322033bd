/* Materials, and the pair law that holds where two of them touch.
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

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { TL_MATERIAL_GRAIN = 0, TL_MATERIAL_BOUNDARY = 1, TL_MATERIAL_FIRST_OWN = 2 };

enum { TL_MATERIAL_NAME = 64 };

typedef struct TlMaterial {
  char name[TL_MATERIAL_NAME];
  double density_kg_m3;     /* of bodies; 0: that of the solver's configuration */
  double young_Pa, poisson; /* what the Hertz values of its pairs were made from; 0: not known */
} TlMaterial;

/* The parameters of a pair law, one row each:
 *
 *   key, member of TlPairLaw, unit, largest value, rule that combines the values of two materials,
 *   help, default, smallest value, whether boundaries may have a value of their OWN in the section
 *   (key boundary_KEY) or what is SHARED
 *
 * Keys of the study's sections contact or penalty and pairs, ranges, combination and the results'
 * table follow from these lists; a new value is a row and the kernel that reads it. */
#define TL_CONTACT_FIELDS(F)                                                                       \
  F(friction, friction, "", 10, lesser, "Coulomb's coefficient", "0.5", 0, OWN)                    \
  F(restitution, restitution, "", 1, lesser, "coefficient of restitution", "0.2", 0, OWN)          \
  F(tangential_restitution, tangential_restitution, "", 1, lesser,                                 \
    "fraction of the sliding velocity that a contact which sticks gives back", "0", 0, OWN)        \
  F(slip_friction, slip_friction, "", 10, lesser,                                                  \
    "Coulomb's coefficient after long sliding on a boundary; below friction: friction stays", "0", \
    0, OWN)                                                                                        \
  F(slip_per_m, slip_per_m, "1/m", 1e4, lesser,                                                    \
    "how fast friction rises with the distance slid: friction + 2/pi (slip_friction - friction) "  \
    "atan(slip_per_m s)",                                                                          \
    "0", 0, OWN)                                                                                   \
  F(slip_decay_per_s, slip_decay_per_s, "1/s", 1e6, lesser,                                        \
    "how fast the distance slid is forgotten while nothing touches a boundary", "0", 0, OWN)       \
  F(drag_per_s, drag_per_s, "1/s", 1e4, lesser,                                                    \
    "fraction of its velocity that a body loses in a second while it touches a boundary", "0", 0,  \
    OWN)                                                                                           \
  F(restitution_half_m_s, restitution_half_m_s, "m/s", 1e6, lesser,                                \
    "approach speed at which restitution is half: restitution/(1 + (v/restitution_half_m_s)^"      \
    "restitution_power); 0: the same at any speed",                                                \
    "0", 0, OWN)                                                                                   \
  F(restitution_power, restitution_power, "", 4, lesser,                                           \
    "1 as Bourrier has it, 2 as Pfeiffer and Bowen (with 9.144 m/s)", "1", 0, OWN)                 \
  F(scar_modulus_Pa, scar_modulus_Pa, "Pa", 1e12, lesser,                                          \
    "modulus M_E of ground in which blocks leave scars (Lu 2019: 1e7 to 2.5e7), in place of "      \
    "drag_per_s; 0: none",                                                                         \
    "0", 0, OWN)                                                                                   \
  F(scar_density_kg_m3, scar_density_kg_m3, "kg/m3", 1e5, lesser, "density of that ground",        \
    "1700", 0, OWN)                                                                                \
  F(scar_coefficient, scar_coefficient, "", 100, lesser,                                           \
    "its coefficient C: the force is (1 + C) density A v^2/2 (Lu 2019: 0.1 to 4)", "1", 0, OWN)    \
  F(rolling, rolling, "", 10, lesser,                                                              \
    "nonsmooth: largest moment against rolling over normal force times reduced radius", "0", 0,    \
    OWN)                                                                                           \
  F(twisting, twisting, "", 10, lesser, "nonsmooth: largest moment against twisting, likewise",    \
    "0", 0, OWN)                                                                                   \
  F(adhesion_N, adhesion_N, "N", 1e12, lesser, "nonsmooth: largest pull of a contact", "0", 0,     \
    OWN)                                                                                           \
  F(adhesive_overlap_m, adhesive_overlap_m, "m", 1, lesser,                                        \
    "nonsmooth: overlap below which a contact with adhesion pulls", "0", 0, OWN)

/* Those of the normal laws of the penalty method (solve/law.h), in section penalty: PAIR values that a
 * pair of materials has, and MATERIAL values that follow from both (tl_hertz_combined). */
#define TL_STIFFNESS_FIELDS(PAIR, MATERIAL)                                                        \
  PAIR(normal_N_m, stiffness.normal_N_m, "N/m", 1e20, series,                                      \
       "linear law: normal stiffness of a point", "0", 0, OWN)                                     \
  PAIR(normal_Pa_m, stiffness.normal_Pa_m, "Pa/m", 1e20, series,                                   \
       "penalty, linear law with traction: normal stiffness of the surface", "0", 0, OWN)          \
  MATERIAL(young_Pa, stiffness.young_Pa, "Pa", 1e15, none,                                         \
           "penalty, law hertz: Young's modulus of the grains", "0", 0, OWN)                       \
  MATERIAL(poisson, stiffness.poisson, "", 0.5, none, "penalty, law hertz: Poisson's ratio",       \
           "0.25", -0.99, SHARED)                                                                  \
  PAIR(tangential_ratio, stiffness.tangential_ratio, "", 10, lesser,                               \
       "penalty, linear law: tangential over normal stiffness; 2/7: both vibrate in step on "      \
       "spheres",                                                                                  \
       "0.2857142857142857", 0, SHARED)

/* Of a contact of the penalty method; SI. */
typedef struct TlStiffness {
#define F(key, ...) double key;
  TL_STIFFNESS_FIELDS(F, F)
#undef F
} TlStiffness;

typedef struct TlPairLaw {
#define F(key, ...) double key;
  TL_CONTACT_FIELDS(F)
#undef F
  TlStiffness stiffness;
  /* Filled by tl_materials_finish. */
  double damping;         /* fraction of the critical damping that gives this restitution */
  int32_t stiffness_kind; /* the same number for pairs of the same stiffness */
} TlPairLaw;

/* All that a pair has. */
#define TL_PAIR_FIELDS(F)                                                                          \
  TL_CONTACT_FIELDS(F)                                                                             \
  TL_STIFFNESS_FIELDS(F, TL_NO_FIELD)
#define TL_NO_FIELD(...)
#define TL_ONE_FIELD(...) +1
enum {
  TL_CONTACT_FIELD_COUNT = TL_CONTACT_FIELDS(TL_ONE_FIELD),
  TL_PAIR_FIELD_COUNT = TL_PAIR_FIELDS(TL_ONE_FIELD)
};

typedef struct TlMaterials {
  int32_t count;
  bool slips;     /* some law depends on the distance slid, drags or scars (tl_materials_finish) */
  TlPairLaw *law; /* [count * count], owned */
  TlMaterial *material; /* [count], owned; NULL: nothing is known but the laws */
} TlMaterials;

/* Number of the law of two materials. */
static inline int32_t tl_pair_law(const TlMaterials *m, int32_t one, int32_t two) {
  return one * m->count + two;
}

/* Friction of a body that has slid this far on boundaries (Leine and others 2014, Eq. 46). */
static inline double tl_slip_friction(const TlPairLaw *law, double slid_m) {
  double more = law->slip_friction - law->friction;
  if (!(more > 0 && slid_m > 0)) return law->friction;
  return law->friction + 2 / M_PI * more * atan(law->slip_per_m * slid_m);
}

/* A table of `count` materials that is all zero. Release with tl_materials_free. */
TlStatus tl_materials_new(TlMaterials *materials, int32_t count);
TlStatus tl_materials_copy(TlMaterials *to, const TlMaterials *from);
void tl_materials_free(TlMaterials *materials);

/* The law of a pair, in both orders. */
void tl_materials_set(TlMaterials *materials, int32_t one, int32_t two, const TlPairLaw *law);
void tl_materials_set_friction(TlMaterials *materials, int32_t one, int32_t two, double friction);

/* The law of two materials that nobody has measured together, from the laws of each with itself:
 * the lesser of their frictions, restitutions and tangential ratios (as YADE, PFC and Chrono do:
 * the weaker surface gives way first), and normal stiffnesses in series, 2 k1 k2/(k1 + k2). Two
 * equal laws give that law, bit for bit. Hertz's values are not touched. */
TlPairLaw tl_pair_combined(const TlPairLaw *one, const TlPairLaw *two);
/* Hertz's values of two materials: Young's modulus and Poisson's ratio that give, taken for both
 * sides, 1/E* = (1 - nu1^2)/E1 + (1 - nu2^2)/E2 and 1/G* = (2 - nu1)/G1 + (2 - nu2)/G2. Two equal
 * materials give their own values; a modulus of 0 (not known) gives 0. */
void tl_hertz_combined(const TlMaterial *one, const TlMaterial *two, TlStiffness *stiffness);

/* For messages: "materials 'sand' and 'steel'", or their numbers where they have no names. */
enum { TL_PAIR_TEXT = 2 * TL_MATERIAL_NAME + 32 };
const char *tl_pair_text(char text[TL_PAIR_TEXT], const TlMaterials *materials, int32_t one,
                         int32_t two);

/* Are the values of this pair's stiffness in their ranges? TL_EUSAGE names the value and the two
 * materials. */
TlStatus tl_stiffness_check(const TlMaterials *materials, int32_t one, int32_t two);

/* Check the table and fill what is derived; afterwards only friction may change. TL_EUSAGE names
 * the pair and the value that is out of its range; stiffness is the method's to check. */
TlStatus tl_materials_finish(TlMaterials *materials);

/* Fraction of the critical damping with which a contact of the linear law returns this fraction of
 * the approach velocity, tension cut off; by bisection. Critical damping returns exp(-2): a smaller
 * restitution is taken for that. */
#define TL_LEAST_RESTITUTION 0.1353352832366127
double tl_damping_of(double restitution);

#endif
