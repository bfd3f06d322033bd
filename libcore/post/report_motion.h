/* The motion of a run's bodies, gathered from its frames and packed for the report's playback.
 *
 * A body is there or not in each frame; poured grains come, grains that leave go. Order of bodies:
 * those whose turn can be seen first, then spheres (of grains and of nets), each by shape and id.
 *
 * Packed (all arrays body by body, frames fastest; 16 and 32 bit numbers as planes of their low
 * bytes, then the next bytes):
 *   place   3 axes; whole steps from `low`, coded as what the 1, 2 or 3 frames before do not
 * foretell (zigzag, 32 bits); while a body is not there its place holds order   how many frames
 * foretell: a byte a body and axis turn    three components of the unit quaternion, the largest one
 * left out and made positive, in TL_TURN_STEPS steps over +-1/sqrt(2), 16 bits; of a body whose
 * `slow` is 1 the change since the frame before, modulo the steps (zigzag); only of bodies that are
 * not round left    number of the component left out slow    a byte a body that is not round speed
 * a byte: 0 not there, else 1 + 254 sqrt(speed/largest) force   the same of the sum of the sizes of
 * the contact forces, only where frames hold contacts
 */
#ifndef TL_POST_REPORT_MOTION_H
#define TL_POST_REPORT_MOTION_H

#include "post/report_data.h"
#include "store/results.h"

enum { TL_TURN_STEPS = 3000 };

typedef struct TlReportMotion {
  int64_t frames, bodies;
  int64_t turning;   /* bodies 0 .. turning - 1 are not round */
  int64_t *index;    /* [frames] their numbers in the run */
  double *time_s;    /* [frames] */
  int64_t *id;       /* [bodies] */
  int32_t *shape;    /* [bodies] index into the scene's avatars */
  int32_t *flags;    /* [bodies] of the last frame in which it is */
  int32_t *material; /* [bodies] */
  double *scale;     /* [bodies] */
  double *energy_J;  /* [bodies] largest kinetic energy in a frame, of translation and rotation */
  /* [bodies * frames] */
  bool *there;
  TlVec3 *place_m;
  TlQuat *turn;
  double *speed_m_s;
  double *force_N; /* NULL: the run's frames hold no contacts */
  double largest_speed_m_s, largest_force_N;
} TlReportMotion;

/* Every `stride`-th frame and the last one. TL_EINPUT: no frames, or a body without its avatar. */
TlStatus tl_report_motion_read(const char *run, const TlScene *scene, int64_t stride,
                               TlReportMotion *motion);
void tl_report_motion_free(TlReportMotion *motion);
static inline int64_t tl_report_motion_at(const TlReportMotion *m, int64_t body, int64_t frame) {
  return body * m->frames + frame;
}
static inline bool tl_report_motion_grain(const TlReportMotion *m, int64_t body) {
  return !(m->flags[body] & TL_ROW_NO_GRAIN);
}
/* Not in the last frame any more, or there marked as outside. */
static inline bool tl_report_motion_gone(const TlReportMotion *m, int64_t body) {
  return !m->there[tl_report_motion_at(m, body, m->frames - 1)] ||
         (m->flags[body] & TL_ROW_OUTSIDE);
}

/* What places are rounded to: a 128th of the median grain's radius. */
typedef struct TlReportMotionSteps {
  double step_m;
  TlVec3 low_m;
} TlReportMotionSteps;
TlReportMotionSteps tl_report_motion_steps(const TlReportMotion *motion, const TlScene *scene);
/* Sections place, order, turn, left, slow, speed, force. */
TlStatus tl_report_motion_pack(const TlReportMotion *motion, const TlReportMotionSteps *steps,
                               TlReportData *data);

#endif
