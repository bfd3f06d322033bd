/* Walls of a frame against rays: analytic, some dozen operations a part.
 *
 * Obstacles are solid. Containers are seen from within only, as planes are: the far sides carry the
 * grid, those between the eye and the grains are a veil with a darker rim. Walls that do not exist
 * at the time of the frame are not drawn. World frame, metres; safe from many threads once made.
 */
#ifndef TL_POST_RENDER_WALLS_H
#define TL_POST_RENDER_WALLS_H

#include "store/results.h"

typedef struct TlWallTracer {
  const TlScene *scene; /* borrowed */
  TlPlacement *place;   /* of each part of the scene's walls, owned */
  TlVec3 low, high;     /* a plane without end is drawn near this box only */
} TlWallTracer;

typedef struct TlWallHit {
  double t;
  TlVec3 normal; /* world, unit, to the grains */
  double u, v;   /* metres along the surface, moving with it: for the grid */
  int64_t part;
} TlWallHit;

TlStatus tl_wall_tracer_make(TlWallTracer *tracer, const TlScene *scene, const TlFrame *frame,
                             TlVec3 low, TlVec3 high);
void tl_wall_tracer_free(TlWallTracer *tracer);

/* First wall met at 0 < t < t_max along a unit direction; false: none. */
bool tl_wall_trace(const TlWallTracer *tracer, TlVec3 from, TlVec3 direction, double t_max,
                   TlWallHit *hit);
/* True if an obstacle lies along the ray. */
bool tl_wall_shades(const TlWallTracer *tracer, TlVec3 from, TlVec3 direction);
/* Fraction of the light from t_max that passes the sides of containers seen from outside;
 * pixel: angle between two rays, rad. */
double tl_wall_veil(const TlWallTracer *tracer, TlVec3 from, TlVec3 direction, double t_max,
                    double pixel);

#endif
