/* Rays against the ground: the terrain's bilinear heightfield, exactly.
 *
 * A ray walks the cells under it; in a cell its height above the bilinear surface is a quadratic
 * in the ray's length and its first root the hit. Tiles of 16 x 16 cells know their highest sample
 * and are stepped over when the ray passes above. Cells with a missing corner have no ground; at
 * their edge the ground shows a side wall down to a base, like a block model.
 */
#ifndef TL_POST_RENDER_GROUND_H
#define TL_POST_RENDER_GROUND_H

#include "shape/terrain.h"

typedef struct TlGroundTracer {
  const TlTerrain *terrain; /* borrowed */
  int64_t tiles_x, tiles_y;
  float *tile_top; /* highest sample of each tile, -inf without ground; owned */
  double base_m, top_m;
} TlGroundTracer;

typedef struct TlGroundHit {
  double t; /* metres along the unit direction */
  bool wall;
  TlVec3 normal; /* of the wall; of the ground smoothed over neighbouring cells */
} TlGroundHit;

TlStatus tl_ground_tracer_make(TlGroundTracer *tracer, const TlTerrain *terrain);
void tl_ground_tracer_free(TlGroundTracer *tracer);
/* First hit with 0 < t < t_max; direction unit. Safe from many threads. */
bool tl_ground_trace(const TlGroundTracer *tracer, TlVec3 from, TlVec3 direction, double t_max,
                     TlGroundHit *hit);

#endif
