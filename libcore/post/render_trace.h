/* Rays against a frame of a run: grains (their level sets), tubes, ground and planes.
 *
 * Grains: trilinear phi of the avatar, sphere-traced in the body frame inside the bounding ball
 * (steps shortened by the avatar's largest gradient) and bisected at the sign change, so that what
 * is seen is the phi = 0 surface the solver uses. A tree of boxes over the balls finds them.
 * Tubes: round bars with round ends, by their distance, as if they were grains. A cut takes away
 * what of the bodies lies before a plane: phi becomes the larger of phi and the distance to the
 * plane, so that what is cut shows a flat face. Tubes are not cut: those whose middle lies before
 * the plane are left out.
 * Ground: render_ground.h. Planes are seen from their front only, so they never hide the grains;
 * walls: render_walls.h.
 * World frame, metres. Building: O(n log n); safe to use from many threads afterwards.
 */
#ifndef TL_POST_RENDER_TRACE_H
#define TL_POST_RENDER_TRACE_H

#include "post/render_ground.h"
#include "post/render_walls.h"
#include "store/results.h"

typedef struct TlTraceTube {
  TlVec3 from, to; /* ends of its axis */
  double radius_m;
  TlVec3 colour; /* linear RGB */
} TlTraceTube;

/* What of a frame is there to be seen. */
typedef struct TlTraceChoice {
  int hidden;     /* bodies with any of these flags (TL_ROW_...) are left out */
  bool no_grains; /* and those with none of TL_ROW_NO_GRAIN */
  bool cut;       /* what lies before the plane (where its normal points) is left out */
  TlVec3 cut_point_m, cut_normal; /* unit */
  double cut_depth_m; /* > 0: nor is what has its middle deeper than that behind the plane (platens
                         stay) */
  const TlTraceTube *tubes; /* borrowed */
  int64_t tube_count;
} TlTraceChoice;

/* A grain, or a tube along its own z axis. */
typedef struct TlTraceBody {
  const TlAvatar *avatar; /* borrowed; NULL: a tube */
  TlVec3 centre;
  TlMat3 rotation; /* body -> world */
  double scale, radius_m, step;
  double detail_m;        /* of the surface, unscaled: the grid's spacing */
  double half_m, thick_m; /* tube: half of its axis, radius */
  bool cut;               /* by the plane cut_normal . q = cut_m of the unscaled body frame */
  TlVec3 cut_normal;
  double cut_m;
  int64_t row; /* of the frame; of the tubes */
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
  double u, v;     /* on a wall: place along its surface */
  double within_m; /* on the face of a cut: depth below the grain's own surface; else 0 */
} TlHit;

/* choice: NULL: all grains, no tubes. TL_EINPUT when the frame names an avatar that the scene
 * lacks. */
TlStatus tl_tracer_make(TlTracer *tracer, const TlScene *scene, const TlFrame *frame,
                        const TlTraceChoice *choice);
void tl_tracer_free(TlTracer *tracer);

/* First thing met at 0 < t < t_max along a unit direction. */
TlHit tl_trace(const TlTracer *tracer, TlVec3 from, TlVec3 direction, double t_max);
/* Light that comes along a unit direction to the sun: 0 (in shadow) to 1; grains cast penumbras
 * that widen with distance (softness: half the sun's angle, about; rad), ground casts hard ones. */
double tl_trace_light(const TlTracer *tracer, TlVec3 from, TlVec3 to_sun, double softness);
/* Least phi of any grain or tube at a point, but not above range. */
double tl_trace_grain_distance(const TlTracer *tracer, TlVec3 point, double range);

#endif
