/* Grains whose shape is a formula: one kind one file, closed_NAME.c; its row in the list of
 * formulas (shape/formula.h) says that it is solved in closed form.
 *
 * Body frame: origin at the centre of mass, axes along the principal axes, unit grain scale, SI.
 * phi is the exact signed distance (< 0 inside, 1-Lipschitz), so bounds need no measured error.
 * What a kind offers to the search as its own surface is either fixed nodes (as an avatar's: the
 * box's corners, edges and faces) or points that follow the contact (the sphere's one, the rims and
 * side of a cylinder): with fixed nodes a cylinder would roll as a polygon and lose 2/3 (1 - cos(2
 * pi/n)) of its spin at each of n corners.
 */
#ifndef TL_MODEL_CLOSED_H
#define TL_MODEL_CLOSED_H

#include "base/status.h"
#include "model/facets.h"
#include "num/vec.h"
#include "shape/formula.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  TL_CLOSED_SIZES = 3,
  TL_CLOSED_STARTS = 4, /* most places that a sphere seeks from */
  TL_CLOSED_FARTHEST = 2,
  TL_CLOSED_POINTS = 48 /* most points that follow a contact */
};

/* What the shape is held against, in the shape's body frame at unit scale: signed distance and unit
 * normal at p; false: nothing there. */
typedef struct TlField {
  bool exact;  /* the true distance however far */
  double near; /* else: how far from the surface it may be taken for one */
  bool (*at)(const struct TlField *field, TlVec3 p, double *gap, TlVec3 *n);
  /* Where a sphere whose radius is over `near` seeks from: points of the surface, the nearest to
   * its centre first, no two nearer to each other than `apart`. NULL: from where its centre is
   * pushed to. */
  const TlVec3 *start;
  int start_count;
  double apart;
  double
      limit; /* the caller has no use for points with this gap or a larger one; INFINITY: for all */
} TlField;

/* Does p lie nearer than `apart` to one of these? */
static inline bool tl_closed_beside(TlVec3 p, const TlVec3 *known, int count, double apart) {
  for (int i = 0; i < count; i++)
    if (tl_norm2(tl_sub(p, known[i])) < apart * apart) return true;
  return false;
}

typedef struct TlClosedPoint {
  TlVec3 p, n; /* body frame, unit scale */
  double gap;
  int32_t key; /* the same for the same place from step to step */
} TlClosedPoint;

typedef struct TlClosedMass { /* unit density */
  double volume_m3, area_m2;
  TlVec3 inertia_m5; /* about the body axes x, y, z */
} TlClosedMass;

typedef struct TlClosedKind {
  const char *name;
  int size_count;
  const char *size_name[TL_CLOSED_SIZES];                /* as in messages */
  void (*sizes)(const TlFormula *formula, double *size); /* from those that a study gives */
  /* gradient (unit; may be NULL) is defined everywhere, by a rule where faces tie */
  double (*phi)(const double *size, TlVec3 p, TlVec3 *gradient);
  TlClosedMass (*mass)(const double *size);
  double (*radius)(const double *size); /* of the sphere about the origin that holds it */
  /* Convex polyhedra whose union the shape is; out NULL: only their number, at most TL_FACET_PARTS.
   * NULL: its surface is curved. */
  int (*parts)(const double *size, TlFacets *out);
  /* Fixed nodes; out NULL: only their number. NULL where points follow the contact. */
  int32_t (*nodes)(const double *size, TlVec3 *out);
  /* At most TL_CLOSED_POINTS points, the deepest among them for a convex field; their number. */
  int (*points)(const double *size, const TlField *field, TlClosedPoint *out);
  /* Points of the surface that may touch a plane with this unit normal, which points to the shape: their
   * number, at most TL_CLOSED_FARTHEST. NULL: it has nodes, or one point says all. */
  int (*farthest)(const double *size, TlVec3 normal, TlVec3 *out);
  bool alone; /* its points are enough for a pair: nodes of the other side are not asked */
} TlClosedKind;

/* tl_closed_sphere: radius_m; tl_closed_box: full sides along x, y, z; tl_closed_cylinder: radius_m,
 * length_m, axis z; and so on, for each formula that is solved in closed form. */
#define TL_CLOSED_IN_CLOSED_FORM(of, name) of(name)
#define TL_CLOSED_ON_A_GRID(of, name)
#define TL_CLOSED_KIND(name) extern const TlClosedKind tl_closed_##name;
#define F(id, name, solved, ...) TL_CLOSED_##solved(TL_CLOSED_KIND, name)
TL_FORMULAS(F)
#undef F
/* Of the list of formulas: " sphere box cylinder". */
#define TL_CLOSED_SPACED(name) " " #name
#define TL_CLOSED_NAME(id, name, solved, ...) TL_CLOSED_##solved(TL_CLOSED_SPACED, name)

/* A kind by name ("sphere", "box", "cylinder"); NULL when there is none. */
const TlClosedKind *tl_closed_kind(const char *name);
/* TL_EINPUT names the size that is not positive and finite. */
TlStatus tl_closed_check(const TlClosedKind *kind, const double *size);

#endif
