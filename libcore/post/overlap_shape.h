/* A grain's surface as the oracle of overlap sees it (post/overlap.h): nothing here is shared with
 * the contact search of the solver, which looks through a grain's nodes at a trilinear field.
 *
 * Body frame, unit scale, SI, as the avatar (shape/avatar.h). Where the exact form is known, phi is
 * its signed distance:
 *   ball    an avatar whose moments are those of the ball of its volume. Of all bodies of one volume
 *           the ball alone has the least moments, so that no study has to say it.
 *   convex  boxes, tetrahedra, and crosses as three boxes, by the list of shapes in the study that
 *           run.h5 holds; volume and moments must agree with the avatar's. Inside a cross phi is the
 *           deepest of the three boxes, so that it never exceeds the depth in their union.
 * Every other grain is the zero of a tricubic interpolation of the stored grid: Catmull-Rom's (Keys
 * 1981; third order, continuous gradient), with weights that keep it from bulging beside edges.
 */
#ifndef TL_POST_OVERLAP_SHAPE_H
#define TL_POST_OVERLAP_SHAPE_H

#include "post/overlap_convex.h"
#include "store/results.h"

enum { TL_OVERLAP_PARTS = 3, TL_OVERLAP_DENSER = 100 /* samples a node */ };

typedef enum TlOverlapForm {
  TL_OVERLAP_GRID = 0,
  TL_OVERLAP_BALL,
  TL_OVERLAP_CONVEX
} TlOverlapForm;

typedef struct TlOverlapShape {
  const TlAvatar *avatar; /* borrowed */
  TlOverlapForm form;
  double radius_m; /* ball */
  double bend_m;   /* grid: second differences that count as equal */
  int parts;       /* convex; the body is their union */
  TlConvex part[TL_OVERLAP_PARTS];
  double sample_m;    /* distance of the lattice that samples come from */
  int64_t cell_count; /* cells of the avatar's grid that the surface may cross */
  int64_t *cell;      /* owned */
} TlOverlapShape;

/* A body of a frame. */
typedef struct TlOverlapBody {
  const TlBodyRow *row;
  const TlOverlapShape *shape;
  TlMat3 turn;
  double radius_m; /* of the sphere about its centre that holds it */
} TlOverlapBody;

/* One a avatar of the scene, in its order; borrows the scene's avatars. TL_EINPUT: the study in
 * run.h5 cannot be read. Free each with tl_overlap_shapes_free. */
TlStatus tl_overlap_shapes(const TlScene *scene, TlOverlapShape **shapes);
void tl_overlap_shapes_free(TlOverlapShape *shapes, int64_t count);
/* The avatar by its grid, whatever its form: for tests of this way. */
TlStatus tl_overlap_shape_of_grid(const TlAvatar *avatar, TlOverlapShape *shape);

/* Signed distance and its gradient (may be NULL) at body point p. */
double tl_overlap_shape_phi(const TlOverlapShape *shape, TlVec3 p, TlVec3 *gradient);

/* Radius of the sphere of equal volume. */
double tl_overlap_radius(const TlOverlapBody *body);

/* The exact parts of a convex body, relative to a world point `from`. */
TlConvex tl_overlap_part(const TlOverlapBody *body, int part, TlVec3 from);

#endif
