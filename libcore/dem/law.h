/* Normal laws of the penalty method: one law one file, one line in law.c; studies then know it by
 * its name (penalty.law).
 *
 * A law gives the force of one contact point, or of the piece of surface it stands for (traction),
 * from its depth (> 0 inside).
 */
#ifndef TL_DEM_LAW_H
#define TL_DEM_LAW_H

#include "base/status.h"
#include "model/material.h"

#include <stdbool.h>

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

typedef struct TlNormalLaw {
  const char *name;
  bool one_point; /* right only where one point stands for the whole contact */
  void (*many)(const TlLawPoints *points, int count, const TlLawArrays *out);
  /* Viscous damping of a pair of reduced mass m and slope k is 2 damping factor sqrt(m k), damping
   * from the coefficient of restitution (tl_damping_of, model/material.h): a blow then returns that
   * share. */
  double damping_factor;
} TlNormalLaw;

/* F = k d (Tan 2022 Eq. 3.2). */
extern const TlNormalLaw tl_law_linear;
/* F = 4/3 E* sqrt(r*) d^1.5, tangentially 8 G* sqrt(r* d) (Hertz; Mindlin without partial slip). */
extern const TlNormalLaw tl_law_hertz;

/* Of one. depth > 0. */
static inline TlLawValues tl_law_at(const TlNormalLaw *law, const TlLawPoint *p, double depth) {
  TlLawValues v;
  law->many(&(TlLawPoints){p->stiffness, &p->area_m2, &p->radius_m, &depth}, 1,
            &(TlLawArrays){&v.force, &v.slope, &v.energy, &v.shear});
  return v;
}

extern const char tl_law_names[]; /* "|linear|hertz" */
#define TL_LAW_CHOICES (&tl_law_names[1])
/* By place in the list. */
const TlNormalLaw *tl_law(int number);
int tl_law_count(void);

#endif
