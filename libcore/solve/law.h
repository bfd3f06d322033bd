/* Normal laws of the penalty method: one law one file law_NAME.c and one row of TL_LAWS; studies then
 * know it by its name (penalty.law). A parameter of a law is a row of TL_STIFFNESS_FIELDS
 * (model/material.h). What the method asks of a law (which values it needs, how stiff it is where the
 * safe step is reckoned) it asks through the law's own entry.
 *
 * A law gives the force of one contact point, or of the piece of surface it stands for (traction),
 * from its depth (> 0 inside).
 */
#ifndef TL_SOLVE_LAW_H
#define TL_SOLVE_LAW_H

#include "base/status.h"
#include "model/material.h"

#include <stddef.h>

typedef struct TlLawPoint {
  const TlStiffness *stiffness;
  double area_m2;  /* it stands for; 0: it is a point */
  double radius_m; /* 1/r* = 1/r_a + 1/r_b; a wall is flat */
} TlLawPoint;

/* Newton at the depth, its slope (N/m), the work to come there (J), the tangential stiffness. */
typedef struct TlLawValues {
  double force, slope, energy, shear;
} TlLawValues;

/* The same of many points at once; all arrays, of as many elements, apart from each other. */
typedef struct TlLawPoints {
  const TlStiffness *stiffness;
  const double *area_m2, *radius_m, *depth_m;
} TlLawPoints;
typedef struct TlLawArrays {
  double *force, *slope, *energy, *shear;
} TlLawArrays;

/* A value of the pair that the law cannot do without: it must be above 0. */
typedef struct TlLawNeed {
  const char *key; /* in sections penalty and pairs; NULL: no such value */
  size_t offset;   /* in TlStiffness */
} TlLawNeed;
#define TL_LAW_NEEDS(key)                                                                          \
  { #key, offsetof(TlStiffness, key) }
static inline double tl_law_value(const TlLawNeed *need, const TlStiffness *stiffness) {
  return *(const double *)((const char *)stiffness + need->offset);
}

typedef struct TlNormalLaw {
  const char *name;
  TlLawNeed point; /* where a point bears */
  TlLawNeed
      surface; /* where the surface does that a point stands for; no key: the law is right only
                        where one point stands for the whole contact */
  void (*many)(const TlLawPoints *points, int count, const TlLawArrays *out);
  /* Viscous damping of a pair of reduced mass m and slope k is 2 damping factor sqrt(m k), damping
   * from the coefficient of restitution (tl_damping_of, model/material.h): a blow then returns that
   * fraction of the speed. */
  double damping_factor;
} TlNormalLaw;

/* linear: F = k d (Tan 2022 Eq. 3.2).
 * hertz: F = 4/3 E* sqrt(r*) d^1.5, tangentially 8 G* sqrt(r* d) (Hertz; Mindlin without partial
 * slip). */
#define TL_LAWS(L)                                                                                 \
  L(linear)                                                                                        \
  L(hertz)

#define L(name) extern const TlNormalLaw tl_law_##name;
TL_LAWS(L)
#undef L

/* Of one. depth > 0. */
static inline TlLawValues tl_law_at(const TlNormalLaw *law, const TlLawPoint *p, double depth) {
  TlLawValues v;
  law->many(&(TlLawPoints){p->stiffness, &p->area_m2, &p->radius_m, &depth}, 1,
            &(TlLawArrays){&v.force, &v.slope, &v.energy, &v.shear});
  return v;
}

/* "|linear|hertz" */
#define TL_LAW_CHOICE(name) "|" #name
#define TL_LAW_CHOICES (&TL_LAWS(TL_LAW_CHOICE)[1])
/* By place in the list. */
const TlNormalLaw *tl_law(int number);
int tl_law_count(void);

#endif
