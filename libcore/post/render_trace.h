/* Rays against a frame of a run: grains (their level sets), ground and planes.
 *
 * Grains: trilinear phi of the avatar, sphere-traced in the body frame inside the bounding ball
 * (steps shortened by the avatar's largest gradient) and bisected at the sign change, so that what
 * is seen is the phi = 0 surface the solver uses. A tree of boxes over the balls finds them.
 * Ground: render_ground.h. Planes are seen from their front only, so they never hide the grains;
 * walls: render_walls.h.
 * World frame, metres. Building: O(n log n); safe to use from many threads afterwards.
 */
#ifndef TL_POST_RENDER_TRACE_H
#define TL_POST_RENDER_TRACE_H

#include "post/render_ground.h"
#include "post/render_walls.h"
#include "store/results.h"

typedef struct TlTraceBody {
  const TlAvatar *avatar; /* borrowed */
  TlVec3 centre;
  TlMat3 rotation; /* body -> world */
  double scale, radius_m, step;
  int64_t row; /* of the frame */
} TlTraceBody;

typedef struct TlTraceNode {
  float low[3], high[3];
  int32_t left, right; /* children; left < 0: body -left - 1 */
} TlTraceNode;

typedef struct TlTracer {
  const TlScene *scene; /* borrowed */
  TlTraceBody *bodies;
  int64_t body_count;
  TlTraceNode *nodes; /* nodes[0] is the root */
  int64_t node_count;
  bool has_ground;
  TlGroundTracer ground;
  TlWallTracer walls;
  TlVec3 low, high; /* box of the bodies */
} TlTracer;

typedef enum TlHitKind {
  TL_HIT_NONE = 0,
  TL_HIT_GRAIN,
  TL_HIT_GROUND,
  TL_HIT_WALL,
  TL_HIT_PLANE,
  TL_HIT_PART /* of a wall of the study */
} TlHitKind;

typedef struct TlHit {
  TlHitKind kind;
  double t;
  TlVec3 point, normal; /* unit, out of the body or ground */
  int64_t body;         /* of tracer->bodies */
  int64_t plane, part;
  double u, v; /* on a wall: place along its surface */
} TlHit;

/* TL_EINPUT when the frame names an avatar that the scene lacks. */
/* hidden: bodies with any of these flags (TL_ROW_...) are left out. */
TlStatus tl_tracer_make(TlTracer *tracer, const TlScene *scene, const TlFrame *frame, int hidden);
void tl_tracer_free(TlTracer *tracer);

/* First thing met at 0 < t < t_max along a unit direction. */
TlHit tl_trace(const TlTracer *tracer, TlVec3 from, TlVec3 direction, double t_max);
/* Light that comes along a unit direction to the sun: 0 (in shadow) to 1; grains cast penumbras
 * that widen with distance (softness: half the sun's angle, about; rad), ground casts hard ones. */
double tl_trace_light(const TlTracer *tracer, TlVec3 from, TlVec3 to_sun, double softness);
/* Least phi of any grain at a point, but not above range. */
double tl_trace_grain_distance(const TlTracer *tracer, TlVec3 point, double range);

#endif
